/* SPDX-License-Identifier: MIT
 *
 * Solves, front by front. E and V denote what D and U hold after factorisation: E = -D^-1, V =
 * -D^-1 U.
 *
 *     general     [D U; L S] [x; y] = [b; c]        x := E b,  c += L x  on the way up,  x := V y -
 * x  on the way down symmetric   the same where L = U^T            c += V^T b, x := [E V] [-b; y]
 *     transposed  [D^T L^T; U^T S^T] [x; y] = [b; c]    c += V^T b,                      x := E^T
 * (L^T y - b)
 *
 * A front has dq quads in a row of D and nq in one of U, compile-time constants for the common
 * shapes. Four rows make one quad of results, even where the last of them lie beyond D, U or L^T:
 * those results are discarded. Entries of x beyond those of a front are multiplied by zeros in the
 * padding of D. */
#ifndef CST_LINALG_FRONTS_SOLVE_H
#define CST_LINALG_FRONTS_SOLVE_H

#include "linalg/fronts.h"
#include "linalg/fronts_quads.h"

/* x = z, w entries of it */
CST_INLINE void put(int dq, int w, const quad *z, double *x)
{
    const lanes own = *(const lanes *)(first_lanes + (4L * dq - w));
    double *last = x + 4L * (dq - 1);
    for (int j = 0; j < dq - 1; j++) AT(x + 4L * j) = z[j];
    AT(last) = (quad)((lanes)ONLY(z[dq - 1], own) | (lanes)EXCEPT(READ(last), own));
}

/* y: x of later unknowns */
CST_INLINE void pull(int nq, const int *row, const double *x, quad *y)
{
    for (int j = 0; j < nq; j++, row += 4)
        y[j] = (quad){x[row[0]], x[row[1]], x[row[2]], x[row[3]]};
}

/* x of later unknowns += A^T v, A with w rows of n entries */
CST_INLINE void push_tile(int quads, int at, int rows, size_t n, const cst_front *f,
                          const double *A, const double *v, double *x)
{
    quad even[FEW], odd[FEW];
    const int *row = f->row + 4L * at;
    combine(rows, 2, f->w, quads, A + 4L * at, n, v, 1, even, odd);
    for (int j = 0; j < quads; j++, row += 4) {
        quad s = even[j] + odd[j];
        x[row[0]] += s[0], x[row[1]] += s[1], x[row[2]] += s[2], x[row[3]] += s[3];
    }
}
CST_INLINE void push(int rows, int nq, const cst_front *f, const double *A, const double *v,
                     double *x)
{
    TILES(nq, push_tile, rows, 4 * (size_t)nq, f, A, v, x);
}

/* y = A^T v, A with w rows of d entries */
CST_INLINE void multiply_tile(int quads, int at, int rows, size_t d, int w, const double *A,
                              const double *v, quad *y)
{
    quad even[FEW], odd[FEW];
    combine(rows, 2, w, quads, A + 4L * at, d, v, 1, even, odd);
    for (int j = 0; j < quads; j++) y[at + j] = even[j] + odd[j];
}

/* z = A y - x, A with rows of n entries; two of the three ways down */
CST_INLINE void multiply_less(int dq, int nq, const double *A, const quad *y, const double *x,
                              quad *z)
{
    size_t n = 4 * (size_t)nq;
    for (int j = 0; j < dq; j++) {
        quad s[4] = {0};
        dot_four(nq > 0, nq, A + 4L * j * n, y, s);
        across(s, &z[j]);
        z[j] -= READ(x + 4L * j);
    }
}

/* Scratch of a front: quads of b, y, z, in registers where their numbers are constants */
typedef struct quads_of {
    quad *b, *y, *z;
} quads_of;

CST_INLINE void up_general(int rows, int dq, int nq, const cst_front *f, const double *E, double *x,
                           quads_of q)
{
    size_t d = 4 * (size_t)dq, n = 4 * (size_t)nq, w = (size_t)f->w;
    double *xs = x + f->first;
    for (int j = 0; j < dq; j++) q.b[j] = READ(xs + 4L * j);
    for (int j = 0; j < dq; j++) {
        quad s[4];
        dot_four(1, dq, E + 4L * j * d, q.b, s);
        across(s, &q.z[j]);
    }
    put(dq, f->w, q.z, xs);
    push(rows, nq, f, E + w * (d + n), xs, x);
}

CST_INLINE void down_general(int rows, int dq, int nq, const cst_front *f, const double *E,
                             double *x, quads_of q)
{
    const double *V = E + (size_t)f->w * 4 * (size_t)dq;
    double *xs = x + f->first;
    (void)rows;
    pull(nq, f->row, x, q.y);
    multiply_less(dq, nq, V, q.y, xs, q.z);
    put(dq, f->w, q.z, xs);
}

/* of symmetric and transposed matrices */
CST_INLINE void up(int rows, int dq, int nq, const cst_front *f, const double *E, double *x,
                   quads_of q)
{
    (void)q;
    push(rows, nq, f, E + (size_t)f->w * 4 * (size_t)dq, x + f->first, x);
}

CST_INLINE void down_symmetric(int rows, int dq, int nq, const cst_front *f, const double *E,
                               double *x, quads_of q)
{
    size_t d = 4 * (size_t)dq, n = 4 * (size_t)nq;
    const double *V = E + (size_t)f->w * d;
    double *xs = x + f->first;
    (void)rows;
    for (int j = 0; j < dq; j++) q.b[j] = -READ(xs + 4L * j);
    pull(nq, f->row, x, q.y);
    for (int j = 0; j < dq; j++) {
        quad s[4];
        dot_four(1, dq, E + 4L * j * d, q.b, s);
        dot_four(0, nq, V + 4L * j * n, q.y, s);
        across(s, &q.z[j]);
    }
    put(dq, f->w, q.z, xs);
}

CST_INLINE void down_transposed(int rows, int dq, int nq, const cst_front *f, const double *E,
                                double *x, quads_of q)
{
    size_t d = 4 * (size_t)dq, n = 4 * (size_t)nq;
    const double *Lt = E + (size_t)f->w * (d + n);
    double *xs = x + f->first;
    pull(nq, f->row, x, q.y);
    multiply_less(dq, nq, Lt, q.y, xs, q.z);
    TILES(dq, multiply_tile, rows, d, f->w, E, (const double *)q.z, q.b);
    put(dq, f->w, q.b, xs);
}

#endif
