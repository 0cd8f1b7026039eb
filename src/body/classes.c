/* SPDX-License-Identifier: MIT
 *
 * The table of body classes. */
#include "body/body.h"

#include <stddef.h>

const cst_body_class *const CST_K(cst_body_classes)[] = {
#define CST_BODY(name) &CST_K(cst_body_##name),
#include "body/bodies.def"
#undef CST_BODY
    NULL,
};
