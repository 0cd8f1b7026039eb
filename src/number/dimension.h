/* SPDX-License-Identifier: MIT
 *
 * Dimensions of units. */
#ifndef CST_NUMBER_DIMENSION_H
#define CST_NUMBER_DIMENSION_H

#include <stddef.h>

typedef enum cst_dimension_state {
    CST_DIMENSION_UNKNOWN,
    CST_DIMENSION_KNOWN,
    CST_DIMENSION_MIXED /* incompatible dimensions are added somewhere, for example metres to
                           seconds */
} cst_dimension_state;

enum { CST_MASS, CST_LENGTH, CST_TIME, CST_BASES };
extern const char *const cst_base_word[CST_BASES]; /* mass, length, time */

typedef struct cst_dimension { /* kg^x[0] m^x[1] s^x[2]; angles have none */
    cst_dimension_state state;
    float x[CST_BASES];
} cst_dimension;

static inline int cst_dimension_known(const cst_dimension *d)
{
    return d->state == CST_DIMENSION_KNOWN;
}
/* "N*m/rad", "kg*m^2", "1/s^2": UNKNOWN when it is not a unit */
cst_dimension cst_dimension_parse(const char *unit);
/* "kg*m^2", "N*m"; "" for a pure number and for what is not known; to: n bytes */
void cst_dimension_text(const cst_dimension *d, char *to, size_t n);
/* Both are known and differ */
int cst_dimension_differs(const char *unit, const char *other);

#endif
