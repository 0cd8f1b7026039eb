/* SPDX-License-Identifier: MIT */
#include "linalg/least.h"

#include <math.h>
#include <string.h>

/* LAPACK: by columns */
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dgels_(const char *trans, const int *m, const int *n, const int *nrhs, double *a,
            const int *lda, double *b, const int *ldb, double *work, const int *lwork, int *info,
            size_t trans_len);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info, size_t jobu_len, size_t jobvt_len);

static double *by_columns(cst_arena *a, int m, int n, const double *A, int extra)
{
    double *c = cst_new(a, double, (size_t)m *(n + extra) + 1);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            c[(size_t)j * (size_t)m + (size_t)i] = A[(size_t)i * (size_t)n + (size_t)j];
    return c;
}

int cst_least_reduce(cst_arena *outer, int m, int n, const double *A, const double *b, double *R,
                     double *c)
{
    cst_arena *a = cst_arena_child(outer);
    int cols = n + 1, lwork = 64 * cols, info = 0;
    double *work = cst_new(a, double, lwork), *tau = cst_new(a, double, cols + 1),
           *M = by_columns(a, m, n, A, 1);
    memcpy(M + (size_t)m * (size_t)n, b, sizeof *b * (size_t)m);
    dgeqrf_(&m, &cols, M, &m, tau, work, &lwork, &info);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) R[i * n + j] = j < i ? 0 : M[(size_t)j * (size_t)m + (size_t)i];
        c[i] = M[(size_t)n * (size_t)m + (size_t)i];
    }
    cst_arena_free(a);
    return info == 0;
}

int cst_least_solve(cst_arena *outer, int m, int n, double *A, double *b, double *x)
{
    cst_arena *a = cst_arena_child(outer);
    int one = 1, lwork = 64 * (n + 1), info = 0;
    double *M = by_columns(a, m, n, A, 0), *work = cst_new(a, double, lwork);
    dgels_("N", &m, &n, &one, M, &m, b, &m, work, &lwork, &info, 1);
    for (int j = 0; j < n; j++) x[j] = -b[j];
    int ok = info == 0;
    for (int j = 0; j < n; j++) ok &= isfinite(x[j]) != 0;
    cst_arena_free(a);
    return ok;
}

int cst_svd(cst_arena *outer, int n, const double *A, double *s, double *Vt)
{
    cst_arena *a = cst_arena_child(outer);
    int lwork = 64 * (n + 1), info = 0, one = 1;
    double *M = by_columns(a, n, n, A, 0), *work = cst_new(a, double, lwork),
           *V = cst_new(a, double, (size_t)n *n + 1);
    double unused;
    dgesvd_("N", "A", &n, &n, M, &n, s, &unused, &one, V, &n, work, &lwork, &info, 1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) Vt[i * n + j] = V[j * n + i];
    cst_arena_free(a);
    return info == 0;
}
