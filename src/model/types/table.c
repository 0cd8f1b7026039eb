/* SPDX-License-Identifier: MIT
 *
 * The table of types. */
#include "model/build.h"

#include <string.h>

#define CST_TYPE(name) extern const cst_type cst_type_##name;
#include "model/types/types.def"
#undef CST_TYPE

static const cst_type *const table[] = {
#define CST_TYPE(name) &cst_type_##name,
#include "model/types/types.def"
#undef CST_TYPE
    NULL,
};

const cst_type *cst_type_at(int index) { return table[index]; }

const cst_type *cst_type_find(const char *section, const char *keyword)
{
    for (int i = 0; table[i] != NULL; i++)
        if (strcmp(table[i]->section, section) == 0 && strcmp(table[i]->keyword, keyword) == 0)
            return table[i];
    return NULL;
}
