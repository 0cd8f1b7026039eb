/* SPDX-License-Identifier: MIT
 *
 * Numbers in a page: 32-bit floats, little endian, base64. */
#ifndef CST_REPORT_ENCODE_H
#define CST_REPORT_ENCODE_H

#include <stddef.h>
#include <stdio.h>

void cst_base64_write(FILE *f, const unsigned char *byte, size_t n);
void cst_float_put(unsigned char to[4], float x); /* little endian on every machine */

/* What is kept of a history of n values in at most `rows` rows. Few enough: all of them. Else the rows are
 * pairs, the least and the largest value of a group in the order in which they came: peaks survive.
 * Returns the number of rows; rows of the time are those of group_time. */
size_t cst_thin(size_t n, size_t rows, const double *x, double *out);
size_t cst_thin_time(size_t n, size_t rows, const double *t, double *out);

#endif
