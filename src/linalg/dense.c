/* SPDX-License-Identifier: MIT */
#include "linalg/dense.h"

/* P A = L U, largest pivot of each column */
int CST_K(cst_dense_solve)(int n, real *A, real *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(sc_val(A[i * n + k])) > fabs(sc_val(A[p * n + k]))) p = i;
        if (!(fabs(sc_val(A[p * n + k])) > 0)) return 0;
        if (p != k) {
            for (int j = k; j < n; j++) {
                real t = A[k * n + j];
                A[k * n + j] = A[p * n + j];
                A[p * n + j] = t;
            }
            real t = b[k];
            b[k] = b[p];
            b[p] = t;
        }
        for (int i = k + 1; i < n; i++) {
            real l = A[i * n + k] / A[k * n + k];
            for (int j = k + 1; j < n; j++) A[i * n + j] -= l * A[k * n + j];
            b[i] -= l * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
    return 1;
}
