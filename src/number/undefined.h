/* SPDX-License-Identifier: MIT
 *
 * Values that are not finite (1/0, log(-1), 1e200*1e200), and slopes that are not: which operation
 * they come from. */
#ifndef CST_NUMBER_UNDEFINED_H
#define CST_NUMBER_UNDEFINED_H

#include "number/tape.h"

/* Traces register `at`, which is not finite, back to the register whose operation produced a
 * non-finite value from finite arguments, or to an input that is not finite */
int cst_tape_undefined(const cst_tape *t, const double *reg, int at);
/* The same among values that are not timed */
cst_id cst_num_undefined(const cst_graph *g, const double *val, cst_id at);
/* The argument of instruction i by which its partial is not finite; -1: there is none */
int cst_tape_steep(const cst_tape *t, const double *reg, int i);
int cst_num_steep(const cst_graph *g, const double *val, cst_id id);

/* With the values of its arguments, as it would be written: "1/0", "(-0.1)^3", "log(-2)"; "" for
 * what is no operation */
void cst_op_words(int op, const double *a, char *to, size_t n);
void cst_code_words(const cst_tape *t, const double *reg, int i, char *to, size_t n);
void cst_num_words(const cst_graph *g, const double *val, cst_id id, char *to, size_t n);

#endif
