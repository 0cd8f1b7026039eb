/* SPDX-License-Identifier: MIT */
#include "linalg/krylov.h"

#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

cst_krylov cst_krylov_new(cst_arena *a, int n, int first)
{
    cst_krylov k = {.n = n, .first = first};
    double **own[] = {&k.x, &k.z};
    for (int i = 0; i < 2; i++) *own[i] = cst_new(a, double, n + 1);
    double **many[] = {&k.p, &k.ap};
    for (int i = 0; i < 2; i++) *many[i] = cst_new(a, double, (size_t)CST_KRYLOV_KEPT *n + 1);
    return k;
}

void cst_krylov_begin(cst_krylov *k, double unit) { k->kept = -1, k->unit = unit > 0 ? unit : 1; }

/* |B A| and its inverse. A correction that changes by more of a move than the one, or by less than
 * the other allows, is rounding: a move below the rounding of x changes nothing, and the step along
 * it would be what rounding says divided by nothing. */
#define LARGEST 1e6

#define CONTRACTION 0.2

static void weigh(cst_krylov *k, const double *z)
{
    double size =
        fmax(cst_largest(k->first, z), cst_largest(k->n - k->first, z + k->first) / k->unit);
    k->weight[0] = size > 0 && isfinite(size) ? 1 / size : 1;
    k->weight[1] = k->weight[0] / k->unit;
}

static double dot(const cst_krylov *k, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < k->n; i++) {
        double w = k->weight[i >= k->first];
        sum += w * a[i] * (w * b[i]);
    }
    return sum;
}

static void axpy(int n, double c, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += c * x[i];
}

/* z: the correction behind the last direction, a full p. x and z move along what is new in p. 0:
 * nothing is; noise: z is rounding */
static int minimise(cst_krylov *k, const double *z, int *noise)
{
    size_t n = (size_t)k->n;
    double *p = k->p + (size_t)k->kept * n, *ap = k->ap + (size_t)k->kept * n;
    for (size_t i = 0; i < n; i++) ap[i] = k->z[i] - z[i];
    double before = dot(k, ap, ap), move = dot(k, p, p);
    *noise = before > LARGEST * LARGEST * move || before * LARGEST * LARGEST < move;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < k->kept; j++) {
            double c = -dot(k, ap, k->ap + (size_t)j * n);
            axpy(k->n, c, k->ap + (size_t)j * n, ap), axpy(k->n, c, k->p + (size_t)j * n, p);
        }
    double left = dot(k, ap, ap);
    if (!(left > 1e-24 * before) || left * LARGEST * LARGEST < dot(k, p, p)) return 0;
    double scale = 1 / sqrt(left);
    for (size_t i = 0; i < n; i++) ap[i] *= scale, p[i] *= scale;
    double c = dot(k, k->z, ap);
    axpy(k->n, c, p, k->x), axpy(k->n, -c, ap, k->z);
    k->kept++;
    return 1;
}

#define ROUNDING 1e-14 /* of one kind, in units of the other: less of that is rounding */

/* Do plain corrections do: each kind has fallen well, or to rounding? Then nothing is gained by
 * directions, whose rounding is that of the other kind */
static int contracts(const cst_krylov *k, const double *x, const double *z)
{
    int rest = k->n - k->first;
    double first_floor = ROUNDING * cst_largest(rest, x + k->first) / k->unit,
           rest_floor = ROUNDING * cst_largest(k->first, x) * k->unit;
    return cst_largest(k->first, z) <=
               fmax(first_floor, CONTRACTION * cst_largest(k->first, k->z)) &&
           cst_largest(rest, z + k->first) <=
               fmax(rest_floor, CONTRACTION * cst_largest(rest, k->z + k->first));
}

int cst_krylov_next(cst_krylov *k, double *x, double *z)
{
    size_t n = (size_t)k->n, bytes = sizeof *x * n;
    int noise = 0;
    if (k->kept < 0) weigh(k, z);
    if (k->kept < 0 || k->kept == CST_KRYLOV_KEPT - 1 || contracts(k, x, z) ||
        !minimise(k, z, &noise)) {
        memcpy(k->x, x, bytes), memcpy(k->z, z, bytes);
        k->kept = 0;
    }
    memcpy(k->p + (size_t)k->kept * n, k->z, bytes);
    for (size_t i = 0; i < n; i++) x[i] = k->x[i] + (z[i] = k->z[i]);
    return noise;
}
