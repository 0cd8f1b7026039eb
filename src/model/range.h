/* SPDX-License-Identifier: MIT
 *
 * Ranges of numbers. The loader checks what is written; a run checks the values that it is given.
 */
#ifndef CST_MODEL_RANGE_H
#define CST_MODEL_RANGE_H

#include "model/model.h"

/* "mass must be at least 0 kg, not -1"; to: n bytes */
void cst_range_message(char *to, size_t n, const char *what, double lo, double hi, const char *unit,
                       double value);

/* Values of all numbers, and of the graph made of them: CST_USAGE and an error at its place for
 * each that leaves its range */
cst_status cst_numbers_check(const cst_model *m, const double *number, const double *val,
                             cst_diag *d);

#endif
