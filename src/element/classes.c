/* SPDX-License-Identifier: MIT
 *
 * The tables of element classes. */
#include "element/element.h"
#include "element/tire.h"

#include <stddef.h>

const cst_force_class *const CST_K(cst_force_classes)[] = {
#define CST_FORCE(name) &CST_K(cst_force_##name),
#include "element/forces.def"
#undef CST_FORCE
    NULL,
};

const cst_constraint_class *const CST_K(cst_constraint_classes)[] = {
#define CST_CONSTRAINT(name) &CST_K(cst_##name),
#include "element/constraints.def"
#undef CST_CONSTRAINT
    NULL,
};
