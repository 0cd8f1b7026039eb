/* SPDX-License-Identifier: MIT
 *
 * Elimination of one front that has been put together: D := -D^-1;  U := D U;  S := S + L U.  A
 * symmetric front has L = U^T, and the upper half of S and of D. dq, nq: quads in a row of D and of
 * U, constants for the common shapes. */
#ifndef CST_LINALG_FRONTS_ELIMINATE_H
#define CST_LINALG_FRONTS_ELIMINATE_H

#include <math.h>

#include "linalg/fronts.h"
#include "linalg/fronts_quads.h"

#define EXCHANGE                                                                                   \
    0.1 /* a pivot is exchanged when it is smaller than this times the largest of its column */

/* Exchanges row k with the row at or below it that has the largest entry in column k, and records
 * which one. Returns the end of the records. */
static __attribute__((noinline)) int *exchange_rows(int w, int quads, double *D, int k, int *note)
{
    size_t ld = 4 * (size_t)quads;
    double *pivot = D + (size_t)k * ld, *other = pivot, most = fabs(pivot[k]);
    for (double *row = pivot + ld, *end = D + (size_t)w * ld; row < end; row += ld)
        if (fabs(row[k]) > most) most = fabs(row[k]), other = row;
    if (other == pivot) return note;
    for (int j = 0; j < 4 * quads; j += 4) {
        quad t = AT(pivot + j);
        AT(pivot + j) = AT(other + j), AT(other + j) = t;
    }
    note[0] = k, note[1] = (int)((size_t)(other - D) / ld);
    return note + 2;
}

/* The same exchanges applied to columns, in reverse order */
static inline void exchange_columns(int w, size_t ld, double *D, const int *note, const int *end)
{
    while (end > note) {
        end -= 2;
        double *row = D;
        for (int i = 0; i < w; i++, row += ld) {
            double t = row[end[0]];
            row[end[0]] = row[end[1]], row[end[1]] = t;
        }
    }
}

static inline double larger(double most, double x) { return fabs(x) > most ? fabs(x) : most; }

/* One lane of a quad is masked out instead of being stored separately: a single number that is
 * written would have to reach memory before the quad that contains it could be read again. */
static const long long one_lane[7] = {0, 0, 0, -1, 0, 0, 0};

/* Rows := rows without lane k, of quad q, + row[k] minus. Returns the largest of them in the column
 * behind k. */
CST_INLINE double sweep_rows(int quads, int q, int k, double *row, const double *end,
                             const quad *minus, const lanes *at_k)
{
    double most = 0;
    for (; row < end; row += 4L * quads) {
        quad l = ALL(row[k]);
        for (int j = 0; j < quads; j++)
            AT(row + 4L * j) =
                l * minus[j] + (j == q ? EXCEPT(READ(row + 4L * j), *at_k) : READ(row + 4L * j));
        most = larger(most, row[k + 1]);
    }
    return most;
}

/* D := -D^-1 by sweeps (Goodnight, The American Statistician 33, 1979):
 *     d_kj / d_kk,   d_ij - d_ik d_kj / d_kk,   d_ik / d_kk,   -1 / d_kk   in row k, elsewhere, in
 * column k, at k, for each k. With row exchanges P the sweeps give -(P D)^-1 = -D^-1 P^-1;
 * exchanging columns by P then gives -D^-1. The next pivot is computed before the rest of its row,
 * with the same rounding, because everything waits for its inverse. Returns the end of the records
 * of P; NULL: no pivot. */
CST_INLINE int *sweep(int quads, int w, double *D, int *note, double *inverse)
{
    size_t ld = 4 * (size_t)quads;
    double *end = D + (size_t)w * ld, most = 0, p = D[0];
    for (const double *row = D; row < end; row += ld) most = larger(most, row[0]);
    UNROLL_ALL
    for (int q = 0; q < quads; q++)
        for (int k = 4 * q; k < 4 * q + 4 && k < w; k++) {
            double *pivot = D + (size_t)k * ld;
            const lanes at_k = *(const lanes *)(one_lane + 3 - (k - 4 * q));
            quad minus[FEW];
            if (!(fabs(p) >= EXCHANGE * most))
                note = exchange_rows(w, quads, D, k, note), p = pivot[k];
            double v = inverse[k] = 1 / p;
            if (!isfinite(v)) return NULL;
            p = pivot[ld + k] * (pivot[k + 1] * -v) + pivot[ld + k + 1];
            for (int j = 0; j < quads; j++) {
                quad own = READ(pivot + 4L * j);
                if (j == q) own = (quad)((lanes)EXCEPT(own, at_k) | (lanes)ONLY(ALL(-1.0), at_k));
                minus[j] = own * ALL(-v);
                AT(pivot + 4L * j) = own * ALL(v);
            }
            most = sweep_rows(quads, q, k, pivot + ld, end, minus, &at_k);
            sweep_rows(quads, q, k, D, pivot, minus, &at_k);
        }
    return note;
}

#define SWEEP(quads)                                                                               \
    static                                                                                         \
        __attribute__((noinline)) int *sweep_##quads(int w, double *D, int *note, double *inverse) \
    {                                                                                              \
        return sweep(quads, w, D, note, inverse);                                                  \
    }
SWEEP(1)
SWEEP(2)
SWEEP(3)
SWEEP(4)

/* The same for rows of any length */
static int *sweep_long(int quads, int w, double *D, int *note, double *inverse)
{
    size_t ld = 4 * (size_t)quads;
    for (int k = 0; k < w; k++) {
        double *pivot = D + (size_t)k * ld, *row = D, most = 0;
        for (int i = k; i < w; i++) most = larger(most, D[(size_t)i * ld + (size_t)k]);
        if (!(fabs(pivot[k]) >= EXCHANGE * most)) note = exchange_rows(w, quads, D, k, note);
        double v = inverse[k] = 1 / pivot[k];
        if (!isfinite(v)) return NULL;
        for (int j = 0; j < quads; j++) AT(pivot + 4L * j) *= ALL(v);
        pivot[k] = -v;
        for (int i = 0; i < w; i++, row += ld) {
            double l = row[k];
            if (l == 0 || i == k) continue;
            for (int j = 0; j < quads; j++) AT(row + 4L * j) -= ALL(l) * READ(pivot + 4L * j);
            row[k] = l * v;
        }
    }
    return note;
}

CST_INLINE int invert(int dq, int w, double *D, int *note, double *inverse)
{
    const int *end = dq == 1   ? sweep_1(w, D, note, inverse)
                     : dq == 2 ? sweep_2(w, D, note, inverse)
                     : dq == 3 ? sweep_3(w, D, note, inverse)
                     : dq == 4 ? sweep_4(w, D, note, inverse)
                               : sweep_long(dq, w, D, note, inverse);
    if (end) exchange_columns(w, 4 * (size_t)dq, D, note, end);
    return end != NULL;
}

/* The lower half of D, in blocks of four rows and columns */
CST_INLINE void mirror(int dq, int w, double *D)
{
    size_t d = 4 * (size_t)dq;
    for (int b = 0; b < dq; b++)
        for (int c = 0; c <= b; c++) {
            const double *from = D + 4L * (size_t)c * d + 4L * b;
            double *to = D + 4L * (size_t)b * d + 4L * c;
            quad r0 = READ(from), r1 = READ(from + d), r2 = READ(from + 2 * d),
                 r3 = READ(from + 3 * d);
            quad a = __builtin_shufflevector(r0, r1, 0, 4, 2, 6),
                 e = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
            quad g = __builtin_shufflevector(r2, r3, 0, 4, 2, 6),
                 h = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
            quad t[4] = {__builtin_shufflevector(a, g, 0, 1, 4, 5),
                         __builtin_shufflevector(e, h, 0, 1, 4, 5),
                         __builtin_shufflevector(a, g, 2, 3, 6, 7),
                         __builtin_shufflevector(e, h, 2, 3, 6, 7)};
            for (int i = 0; i < 4 && 4 * b + i < w; i++) {
                const lanes lower = *(const lanes *)(first_lanes + 4 - i);
                quad old = READ(to + i * d);
                AT(to + i * d) =
                    b == c ? (quad)((lanes)ONLY(t[i], lower) | (lanes)EXCEPT(old, lower)) : t[i];
            }
        }
}

CST_INLINE void copy(int quads, const double *x, double *y)
{
    for (int j = 0; j < quads; j++) AT(y + 4L * j) = READ(x + 4L * j);
}

/* y = sum_k v_k A_k, or y +=; v_k are lv apart */
CST_INLINE void product_tile(int quads, int at, int rows, int fresh, int w, const double *A,
                             size_t n, const double *v, size_t lv, double *y)
{
    quad sum[FEW];
    for (int j = 0; j < quads && !fresh; j++) sum[j] = READ(y + 4L * (at + j));
    combine(rows, fresh, w, quads, A + 4L * at, n, v, lv, sum, sum);
    for (int j = 0; j < quads; j++) AT(y + 4L * (at + j)) = sum[j];
}

/* S_i += sum_k L_ik V_k for rows i to end, from quad b of their n entries on */
CST_INLINE void update(int rows, int w, int nq, int b, int i, int end, const double *Lt,
                       const double *V, double *S)
{
    size_t n = 4 * (size_t)nq;
    ONCE for (; i < end; i++) TILES(nq - b, product_tile, rows, 0, w, V + 4L * b, n, Lt + i, n,
                                    S + (size_t)i * n + 4L * b);
}

/* The front in W, its factors to E; rows: as for combine. 0: it has no pivot */
CST_INLINE int eliminate(int rows, int symmetric, int dq, int nq, const cst_front *f,
                         cst_fronts *fronts)
{
    int w = f->w;
    size_t d = 4 * (size_t)dq, n = 4 * (size_t)nq;
    double *D = fronts->W, *U = D + (size_t)w * d, *Lt = symmetric ? U : U + (size_t)w * n;
    double *E = fronts->F + f->at[symmetric], *V = E + (size_t)w * d, *S = fronts->stack + f->S;
    if (symmetric) mirror(dq, w, D);
    if (!invert(dq, w, D, fronts->exchange, fronts->inverse + f->first)) return 0;
    for (int i = 0; i < w; i++) {
        const double *row = D + i * d;
        copy(dq, row, E + i * d);
        if (!symmetric) copy(nq, Lt + i * n, V + (w + i) * n);
        TILES(nq, product_tile, rows, 1, w, U, n, row, 1, V + i * n);
    }
    if (!symmetric) update(rows, w, nq, 0, 0, f->m, Lt, V, S);
    UNROLL_ALL
    for (int b = 0; symmetric && b < nq; b++)
        update(rows, w, nq, b, 4 * b, b + 1 < nq ? 4 * b + 4 : f->m, Lt, V, S);
    return 1;
}

#endif
