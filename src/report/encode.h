/* SPDX-License-Identifier: MIT
 *
 * Numbers in a page: 32-bit floats, little endian, base64. */
#ifndef CST_REPORT_ENCODE_H
#define CST_REPORT_ENCODE_H

#include <stddef.h>
#include <stdio.h>

void cst_base64_write(FILE *f, const unsigned char *byte, size_t n);
void cst_float_put(unsigned char to[4], float x); /* little endian on every machine */

/* Reduces a history of n values to at most `rows` rows; if there are no more than that, all are
 * kept. Otherwise each pair of rows holds the smallest and the largest value of a group, in their
 * order in time, so that peaks survive. Returns the number of rows; cst_thin_time gives their
 * times. */
size_t cst_thin(size_t n, size_t rows, const double *x, double *out);
size_t cst_thin_time(size_t n, size_t rows, const double *t, double *out);

#endif
