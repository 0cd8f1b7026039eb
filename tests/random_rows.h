/* SPDX-License-Identifier: MIT
 *
 * Rows of random mechanisms, mostly overconstrained: trees of bodies whose loops are closed by
 * further joints, with axes that are parallel (planar mechanisms), meet in one point (spherical
 * ones), lie along x, y, z, or have no relation; some joints twice. And random sparse rows of which
 * some are combinations of others. */
#ifndef CST_TESTS_RANDOM_ROWS_H
#define CST_TESTS_RANDOM_ROWS_H

#include "base/arena.h"
#include "expect.h"
#include "linalg/rank.h"

typedef struct random_rows {
    cst_arena *a;
    cst_rows m;
    CST_LIST(int) ptr, col;
    CST_LIST(double) val;
} random_rows;

static inline void rows_begin(random_rows *r, cst_arena *a, int ncol)
{
    *r = (random_rows){.a = a, .m.ncol = ncol};
    *cst_push(a, &r->ptr) = 0;
}

static inline void rows_entry(random_rows *r, int col, double value)
{
    if (value == 0) return;
    *cst_push(r->a, &r->col) = col;
    *cst_push(r->a, &r->val) = value;
}

static inline void rows_next(random_rows *r)
{
    *cst_push(r->a, &r->ptr) = r->col.n;
    r->m.nrow++;
    r->m.ptr = r->ptr.at, r->m.col = r->col.at, r->m.val = r->val.at;
}

/* direction . velocity of a point (or of the rotation, turn) between two bodies; -1 is the ground
 */
static inline void rows_relative(random_rows *r, int a, int b, int turn, const double *e,
                                 const double *p)
{
    const double moment[3] = {p[1] * e[2] - p[2] * e[1], p[2] * e[0] - p[0] * e[2],
                              p[0] * e[1] - p[1] * e[0]};
    for (int side = 0; side < 2; side++) {
        int body = side ? b : a;
        double sign = side ? -1 : 1;
        for (int i = 0; i < 6 && body >= 0; i++)
            rows_entry(r, 6 * body + i,
                       sign * (i < 3  ? (turn ? 0 : e[i])
                               : turn ? e[i - 3]
                                      : moment[i - 3]));
    }
    rows_next(r);
}

static inline void unit_vector(expect_random *g, double *e)
{
    double size;
    do {
        size = 0;
        for (int i = 0; i < 3; i++) e[i] = expect_uniform(g, -1, 1), size += e[i] * e[i];
    } while (size > 1 || size < 0.01);
    for (int i = 0; i < 3; i++) e[i] /= sqrt(size);
}

/* e, f, axis: a right-handed frame */
static inline void frame_about(const double *axis, double *e, double *f)
{
    int least = fabs(axis[0]) < fabs(axis[1]) ? 0 : 1;
    if (fabs(axis[2]) < fabs(axis[least])) least = 2;
    double size = 0;
    for (int i = 0; i < 3; i++) e[i] = (i == least) - axis[least] * axis[i], size += e[i] * e[i];
    for (int i = 0; i < 3; i++) e[i] /= sqrt(size);
    for (int i = 0; i < 3; i++)
        f[i] = axis[(i + 1) % 3] * e[(i + 2) % 3] - axis[(i + 2) % 3] * e[(i + 1) % 3];
}

/* kind 0: revolute, 1: spherical, 2: prismatic, 3: cylindrical, 4: fixed */
static inline void rows_joint(random_rows *r, int a, int b, int kind, const double *axis,
                              const double *p)
{
    double e[3], f[3];
    frame_about(axis, e, f);
    if (kind != 3) rows_relative(r, a, b, kind == 2, e, p), rows_relative(r, a, b, kind == 2, f, p);
    if (kind != 3) rows_relative(r, a, b, kind == 2, axis, p);
    if (kind != 1) rows_relative(r, a, b, kind != 2, e, p), rows_relative(r, a, b, kind != 2, f, p);
    if (kind == 3) rows_relative(r, a, b, 0, e, p), rows_relative(r, a, b, 0, f, p);
    if (kind == 4) rows_relative(r, a, b, 1, axis, p);
}

static inline void random_mechanism(expect_random *g, cst_arena *a, int nbody, random_rows *r)
{
    enum { PARALLEL, MEETING, ALONG, FREE };
    int how = expect_below(g, 4), loops = 1 + expect_below(g, 2 + nbody / 4);
    double common[3], size = pow(10, expect_uniform(g, -1, 1));
    unit_vector(g, common);
    rows_begin(r, a, 6 * nbody);
    for (int j = 0; j < nbody + loops; j++) {
        int b = j < nbody ? j : expect_below(g, nbody),
            with =
                j < nbody ? j - 1 - expect_below(g, j < 3 ? 1 : 3) : expect_below(g, nbody + 1) - 1;
        double axis[3], p[3];
        if (with == b) with = -1;
        unit_vector(g, axis);
        for (int i = 0; i < 3; i++)
            p[i] = size * (how == MEETING ? axis[i] : expect_uniform(g, -1, 1));
        for (int i = 0, along = expect_below(g, 3); i < 3; i++)
            axis[i] = how == PARALLEL ? common[i] : how == ALONG ? i == along : axis[i];
        int kind = how == MEETING ? 0 : expect_below(g, 10);
        kind = kind > 5 ? 0 : kind > 4 ? 1 : kind;
        for (int twice = expect_below(g, 12) == 0; twice >= 0; twice--)
            rows_joint(r, with, b, kind, axis, p);
    }
}

/* Unit vectors by rows; every third is a sum of earlier rows, or one of them again. A row of
 * `nonzero` entries at random. */
static inline void random_sparse(expect_random *g, cst_arena *a, int nrow, int ncol, int nonzero,
                                 random_rows *r)
{
    rows_begin(r, a, ncol);
    double *x = cst_new(a, double, ncol + 1);
    for (int i = 0; i < nrow; i++) {
        memset(x, 0, sizeof *x * (size_t)ncol);
        int of = i > 2 && expect_below(g, 3) == 0 ? 1 + expect_below(g, 3) : 0;
        for (int t = 0; t < of; t++) {
            int k = expect_below(g, i);
            double factor = expect_uniform(g, 0.5, 2);
            for (int s = r->ptr.at[k]; s < r->ptr.at[k + 1]; s++)
                x[r->col.at[s]] += factor * r->val.at[s];
        }
        for (int t = 0; t < nonzero && !of; t++)
            x[expect_below(g, ncol)] += expect_uniform(g, -1, 1);
        for (int j = 0; j < ncol; j++) rows_entry(r, j, x[j]);
        rows_next(r);
    }
}

#endif
