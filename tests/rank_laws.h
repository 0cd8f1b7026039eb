/* SPDX-License-Identifier: MIT
 *
 * What cst_rank_rows must say of any rows, by dense methods that share nothing with it: the rank by
 * singular values (LAPACK), the rows left out by orthogonalising each against those before it.
 * Where a singular value or a distance is neither clearly zero nor clearly not, nothing is
 * expected. And the law of rescaling. */
#ifndef CST_TESTS_RANK_LAWS_H
#define CST_TESTS_RANK_LAWS_H

#include "linalg/least.h"
#include "random_rows.h"

#define RANK_TOL 1e-8
#define RANK_CLEAR                                                                                 \
    100.0 /* a distance is clear if it is so many times above or below the tolerance */

typedef struct rank_tally {
    long matrices, clear, dependent;
} rank_tally;

/* Rows of unit length, dense (nrow x ncol) */
static inline double *dense_units(cst_arena *a, const cst_rows *m)
{
    double *A = cst_new(a, double, m->nrow * m->ncol + 1);
    for (int i = 0; i < m->nrow; i++) {
        double *x = A + i * m->ncol, size = 0;
        for (int k = m->ptr[i]; k < m->ptr[i + 1]; k++) x[m->col[k]] += m->val[k];
        for (int j = 0; j < m->ncol; j++) size += x[j] * x[j];
        for (int j = 0; j < m->ncol && size > 0; j++) x[j] /= sqrt(size);
    }
    return A;
}

/* The number of singular values above the tolerance; -1: one of them is near it */
static inline int rank_by_values(cst_arena *a, const cst_rows *m, const double *A)
{
    int n = m->nrow > m->ncol ? m->nrow : m->ncol, rank = 0, clear = 1;
    double *M = cst_new(a, double, n *n + 1), *s = cst_new(a, double, n + 1),
           *Vt = cst_new(a, double, n *n + 1);
    for (int i = 0; i < m->nrow; i++)
        memcpy(M + i * n, A + i * m->ncol, sizeof *M * (size_t)m->ncol);
    expect_int(cst_svd(a, n, M, s, Vt), 1);
    for (int i = 0; i < n; i++) {
        rank += s[i] > RANK_TOL;
        clear &= s[i] > RANK_CLEAR * RANK_TOL || s[i] < RANK_TOL / RANK_CLEAR;
    }
    return clear ? rank : -1;
}

/* dependent (nrow): rows in the span of those before them, by Gram-Schmidt, three times over. 0:
 * one of them is near it */
static inline int dependent_in_turn(cst_arena *a, const cst_rows *m, const double *A,
                                    unsigned char *dependent)
{
    double *Q = cst_new(a, double, m->ncol * m->ncol + 1), *x = cst_new(a, double, m->ncol + 1);
    int nq = 0, clear = 1;
    for (int i = 0; i < m->nrow; i++) {
        double rest = 0;
        memcpy(x, A + i * m->ncol, sizeof *x * (size_t)m->ncol);
        for (int again = 0; again < 3; again++)
            for (int k = 0; k < nq; k++) {
                double c = 0;
                for (int j = 0; j < m->ncol; j++) c += Q[k * m->ncol + j] * x[j];
                for (int j = 0; j < m->ncol; j++) x[j] -= c * Q[k * m->ncol + j];
            }
        for (int j = 0; j < m->ncol; j++) rest += x[j] * x[j];
        rest = sqrt(rest);
        dependent[i] = rest <= RANK_TOL;
        clear &= rest > RANK_CLEAR * RANK_TOL || rest < RANK_TOL / RANK_CLEAR;
        if (dependent[i]) continue;
        for (int j = 0; j < m->ncol; j++) Q[nq * m->ncol + j] = x[j] / rest;
        nq++;
    }
    return clear;
}

/* A dependent row is the sum that it is said to be, of rows that are kept. */
static inline void sums_hold(cst_arena *a, const cst_rows *m, const cst_rank *k)
{
    double *x = cst_new(a, double, m->ncol + 1);
    unsigned char *out = cst_new(a, unsigned char, m->nrow + 1);
    for (int d = 0; d < k->ndep; d++) out[k->dep[d]] = 1;
    for (int d = 0; d < k->ndep; d++) {
        double size = 0, rest = 0;
        memset(x, 0, sizeof *x * (size_t)m->ncol);
        for (int t = m->ptr[k->dep[d]]; t < m->ptr[k->dep[d] + 1]; t++) x[m->col[t]] += m->val[t];
        for (int j = 0; j < m->ncol; j++) size += x[j] * x[j];
        for (int t = k->term_ptr[d]; t < k->term_ptr[d + 1]; t++) {
            int i = k->term_row[t];
            expect_false(out[i]);
            for (int s = m->ptr[i]; s < m->ptr[i + 1]; s++)
                x[m->col[s]] -= k->term_coef[t] * m->val[s];
        }
        for (int j = 0; j < m->ncol; j++) rest += x[j] * x[j];
        expect_true(sqrt(rest) <=
                    4 * RANK_TOL * sqrt(size) * (1 + k->term_ptr[d + 1] - k->term_ptr[d]));
    }
}

/* Rows times powers of two, and all columns times one: the same rows, and coefficients to the last
 * bit. */
static inline void rescaling_law(expect_random *g, cst_arena *a, const cst_rows *m,
                                 const cst_rank *k)
{
    cst_rows other = *m;
    cst_rank rank;
    double *val = cst_new(a, double, m->ptr[m->nrow] + 1), *row = cst_new(a, double, m->nrow + 1),
           all = ldexp(1, expect_below(g, 60) - 30);
    for (int i = 0; i < m->nrow; i++) {
        row[i] = ldexp(1, expect_below(g, 80) - 40);
        for (int t = m->ptr[i]; t < m->ptr[i + 1]; t++) val[t] = m->val[t] * row[i] * all;
    }
    other.val = val;
    expect_int(cst_rank_rows(a, &other, RANK_TOL, &rank), 1);
    expect_int(rank.ndep, k->ndep);
    for (int d = 0; d < k->ndep; d++) {
        expect_int(rank.dep[d], k->dep[d]);
        expect_int(rank.term_ptr[d + 1], k->term_ptr[d + 1]);
        for (int t = k->term_ptr[d]; t < k->term_ptr[d + 1]; t++) {
            expect_int(rank.term_row[t], k->term_row[t]);
            expect_true(rank.term_coef[t] * row[k->term_row[t]] / row[k->dep[d]] ==
                        k->term_coef[t]);
        }
    }
}

/* Units of the columns, translations in mm and rotations in rad: sums of rows do not depend on
 * them. */
static inline void unit_law(cst_arena *a, const cst_rows *m, const cst_rank *k)
{
    cst_rows other = *m;
    cst_rank rank;
    double *val = cst_new(a, double, m->ptr[m->nrow] + 1), *x = cst_new(a, double, m->nrow + 1);
    for (int t = 0; t < m->ptr[m->nrow]; t++) val[t] = m->val[t] * (m->col[t] % 6 < 3 ? 4 : 0.5);
    other.val = val;
    expect_int(cst_rank_rows(a, &other, RANK_TOL, &rank), 1);
    expect_int(rank.ndep, k->ndep);
    for (int d = 0; d < k->ndep; d++) {
        double largest = 1;
        expect_int(rank.dep[d], k->dep[d]);
        memset(x, 0, sizeof *x * (size_t)m->nrow);
        for (int t = k->term_ptr[d]; t < k->term_ptr[d + 1]; t++)
            x[k->term_row[t]] = k->term_coef[t], largest = fmax(largest, fabs(k->term_coef[t]));
        for (int t = rank.term_ptr[d]; t < rank.term_ptr[d + 1]; t++)
            x[rank.term_row[t]] -= rank.term_coef[t];
        for (int i = 0; i < m->nrow; i++)
            expect_true(fabs(x[i]) <= 1e-7 * largest); /* left out below 1e-8 in unit rows */
    }
}

static inline void rank_laws(expect_random *g, const cst_rows *m, cst_arena *a, rank_tally *tally)
{
    cst_rank k;
    unsigned char *dependent = cst_new(a, unsigned char, m->nrow + 1);
    double *A = dense_units(a, m);
    expect_int(cst_rank_rows(a, m, RANK_TOL, &k), 1);
    expect_int(k.rank + k.ndep, m->nrow);
    sums_hold(a, m, &k);
    rescaling_law(g, a, m, &k);
    tally->matrices++, tally->dependent += k.ndep;
    int rank = rank_by_values(a, m, A), clear = dependent_in_turn(a, m, A, dependent);
    if (rank < 0 || !clear) return;
    tally->clear++;
    expect_int(k.rank, rank);
    for (int i = 0, d = 0; i < m->nrow; i++) {
        int out = d < k.ndep && k.dep[d] == i;
        expect_int(out, dependent[i]);
        d += out;
    }
    unit_law(a, m, &k);
}

/* Mechanisms and sparse rows in turn */
static inline void rank_laws_of_seed(uint64_t seed, int largest, rank_tally *tally)
{
    expect_random g = {seed};
    random_rows r;
    cst_arena a = {0};
    int size = 1 + expect_below(&g, largest);
    if (seed % 2)
        random_mechanism(&g, &a, size, &r);
    else
        random_sparse(&g, &a, 5 * size, 6 * size, 2 + expect_below(&g, 4), &r);
    rank_laws(&g, &r.m, &a, tally);
    cst_arena_free(&a);
}

#endif
