/* SPDX-License-Identifier: MIT
 *
 * Four adjacent doubles as one value, and sums over rows of such quads. For fronts of a common
 * shape the lengths in quads are compile-time constants, so that rows stay in registers; other
 * fronts process a row FEW quads at a time. */
#ifndef CST_LINALG_FRONTS_QUADS_H
#define CST_LINALG_FRONTS_QUADS_H

#include <stddef.h>

#include "linalg/pair.h"

typedef double quad
    __attribute__((vector_size(32), aligned(8), may_alias)); /* four doubles anywhere */
typedef long long lanes __attribute__((vector_size(32), aligned(8), may_alias));

#define AT(p) (*(quad *)(p))
#define READ(p) (*(const quad *)(p))
#define ALL(x) ((quad){x, x, x, x})
#define ONLY(x, which) ((quad)((lanes)(x) & (which)))
#define EXCEPT(x, which) ((quad)((lanes)(x) & ~(which)))

static const long long first_lanes[8] = {-1, -1, -1, -1,
                                         0,  0,  0,  0}; /* from 4 - w on: lanes 0 .. w - 1 */

#define UNROLL _Pragma("GCC unroll 4")
#define ONCE _Pragma("GCC unroll 1")
#define UNROLL_ALL _Pragma("GCC unroll 16")

enum { FEW = 4 }; /* quads of a row that stay in registers */

/* tile(quads, at, ...) for all quads of a row, from the quad `at` on: as many at a time as stay in
 * registers, a constant */
#define TILES(nquad, tile, ...)                                                                    \
    do {                                                                                           \
        int at = 0;                                                                                \
        for (; at + FEW <= (nquad); at += FEW) tile(FEW, at, __VA_ARGS__);                         \
        if ((nquad)-at == 3)                                                                       \
            tile(3, at, __VA_ARGS__);                                                              \
        else if ((nquad)-at == 2)                                                                  \
            tile(2, at, __VA_ARGS__);                                                              \
        else if ((nquad)-at == 1)                                                                  \
            tile(1, at, __VA_ARGS__);                                                              \
    } while (0)

/* sum = c A, sum += c A */
CST_INLINE void set_row(int quads, quad *sum, double c, const double *A)
{
    for (int j = 0; j < quads; j++) sum[j] = ALL(c) * READ(A + 4L * j);
}
CST_INLINE void add_row(int quads, quad *sum, double c, const double *A)
{
    for (int j = 0; j < quads; j++) sum[j] += ALL(c) * READ(A + 4L * j);
}

/* sum_k v_k A_k over w rows: even rows are added to `even`, odd ones to `odd`, which may be the
 * same. The first `fresh` rows (one per sum, or none) initialise their sums. lv, ld: strides of v_k
 * and A_k. rows: 0, or a constant with rows - 4 < w <= rows, for which the loop is unrolled
 * completely. */
CST_INLINE void combine(int rows, int fresh, int w, int quads, const double *A, size_t ld,
                        const double *v, size_t lv, quad *even, quad *odd)
{
    int k = 0;
    for (int j = 0; j < quads && fresh > 1; j++) odd[j] = ALL(0);
    if (fresh) set_row(quads, even, v[0], A), k = 1;
    if (rows) {
        UNROLL_ALL
        for (; k < rows - 3; k++) {
            if (k < fresh)
                set_row(quads, odd, v[k * lv], A + k * ld);
            else
                add_row(quads, k & 1 ? odd : even, v[k * lv], A + k * ld);
        }
        if (w < rows - 2) return;
        add_row(quads, odd, v[k * lv], A + k * ld), k++;
        if (w < rows - 1) return;
        add_row(quads, even, v[k * lv], A + k * ld), k++;
        if (w < rows) return;
        add_row(quads, odd, v[k * lv], A + k * ld);
        return;
    }
    A += (size_t)k * ld, v += (size_t)k * lv;
    if (k & 1 && k < w) add_row(quads, odd, *v, A), A += ld, v += lv, k++;
    for (; k + 2 <= w; k += 2, A += 2 * ld, v += 2 * lv) {
        add_row(quads, even, v[0], A);
        add_row(quads, odd, v[lv], A + ld);
    }
    if (k < w) add_row(quads, even, *v, A);
}

/* s_i += A_i . x for four rows of so many quads; fresh: s_i = */
CST_INLINE void dot_four(int fresh, int quads, const double *A, const quad *x, quad s[4])
{
    size_t ld = 4 * (size_t)quads;
    for (int j = 0; j < quads; j++)
        for (int i = 0; i < 4; i++) {
            quad t = READ(A + i * ld + 4L * j) * x[j];
            if (fresh && j == 0)
                s[i] = t;
            else
                s[i] += t;
        }
}

/* sum = (sum of s_0, sum of s_1, ...) */
CST_INLINE void across(const quad s[4], quad *sum)
{
    quad ab = __builtin_shufflevector(s[0], s[1], 0, 4, 2, 6) +
              __builtin_shufflevector(s[0], s[1], 1, 5, 3, 7);
    quad cd = __builtin_shufflevector(s[2], s[3], 0, 4, 2, 6) +
              __builtin_shufflevector(s[2], s[3], 1, 5, 3, 7);
    *sum =
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

#endif
