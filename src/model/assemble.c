/* SPDX-License-Identifier: MIT
 *
 * Bodies and the numbers that a run gathers: P. */
#include "model/geometry.h"
#include "model/loader.h"

#include <math.h>
#include <string.h>

int cst_bind(cst_loader *L, int n, const cst_id *id)
{
    int first = L->m->bound.n;
    for (int i = 0; i < n; i++) *cst_push(L->arena, &L->m->bound) = id[i];
    return first;
}

cst_body *cst_body_new(cst_loader *L, const char *name, const char *type, cst_where w,
                       const cst_body_class *c)
{
    cst_model *m = L->m;
    int e = cst_map_get(&L->names[CST_SEC_BODY], name);
    if (e >= 0) L->entity.at[e]->index = m->body.n;
    cst_body *b = cst_push(L->arena, &m->body);
    *b = (cst_body){.name = cst_arena_strdup(L->arena, name),
                    .type = type,
                    .where = cst_loader_place(L, w),
                    .cls = c};
    b->q0 = m->nq;
    b->u0 = m->nu;
    b->m = CST_NONE;
    b->owner = m->body.n - 1;
    for (int i = 0; i < 3; i++) b->com[i] = CST_NONE;
    for (int i = 0; i < 12; i++) b->frame[i] = CST_NONE;
    m->nq += 3 * c->nvec + c->nscalar;
    m->nu += c->nu;
    return b;
}

int cst_add_rigid(cst_loader *L, const char *name, const char *type, cst_where w,
                  const cst_rigid_def *d)
{
    cst_body *b = cst_body_new(L, name, type, w, &cst_body_rigid);
    cst_id in[10] = {d->mass}, mass[10], rate[6];
    for (int i = 0; i < 3; i++) in[1 + i] = d->com[i];
    for (int i = 0; i < 6; i++) in[4 + i] = d->inertia[i];
    cst_id first = cst_num_vector(L->g, &cst_vop_pseudo_inertia, 10, in, 10);
    for (int i = 0; i < 10; i++) mass[i] = first + i;
    for (int i = 0; i < 3; i++) rate[i] = d->velocity[i], rate[3 + i] = d->spin[i];
    b->mass = cst_bind(L, 10, mass);
    b->drawn = cst_bind(L, 12, d->frame);
    b->rate = cst_bind(L, 6, rate);
    b->written = d->written;
    b->m = d->mass;
    memcpy(b->com, d->com, sizeof b->com);
    memcpy(b->frame, d->frame, sizeof b->frame);
    int index = L->m->body.n - 1;
    cst_inertia_check *c = cst_push(L->scratch, &L->inertia);
    c->body = index;
    memcpy(c->inertia, d->inertia, sizeof c->inertia);
    return index;
}

int cst_add_point_mass(cst_loader *L, const char *name, cst_where w, const cst_id r[3], cst_id mass,
                       const cst_id velocity[3], int written)
{
    cst_body *b = cst_body_new(L, name, "point", w, &cst_body_point);
    b->mass = cst_bind(L, 1, &mass);
    b->drawn = cst_bind(L, 3, r);
    b->rate = cst_bind(L, 3, velocity);
    b->written = written;
    b->m = mass;
    memcpy(b->frame, r, 3 * sizeof *r);
    return L->m->body.n - 1;
}

int cst_add_scalar(cst_loader *L, const char *name, cst_where w, cst_id inertia, cst_id drawn,
                   cst_id rate, int written)
{
    cst_body *b = cst_body_new(L, name, "scalar", w, &cst_body_scalar);
    b->mass = cst_bind(L, 1, &inertia);
    b->drawn = cst_bind(L, 1, &drawn);
    b->rate = cst_bind(L, 1, &rate);
    b->written = written;
    return L->m->body.n - 1;
}

/* ---- physics ---- */

/* Eigenvalues of a symmetric matrix, xx yy zz xy xz yz, in increasing order, by Jacobi rotations:
 * slender bodies have double eigenvalues, which a closed formula gives to half the digits only. */
static void eigenvalues(const double *A, double *l)
{
    double a[3][3] = {{A[0], A[3], A[4]}, {A[3], A[1], A[5]}, {A[4], A[5], A[2]}};
    for (int turn = 0; turn < 24; turn++) {
        int p = turn % 3 == 2, q = turn % 3 == 0 ? 1 : 2, r = 3 - p - q;
        if (a[p][q] == 0) continue;
        double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
        double c = 1 / hypot(t, 1), s = t * c, arp = a[r][p], arq = a[r][q];
        a[p][p] -= t * a[p][q];
        a[q][q] += t * a[p][q];
        a[p][q] = a[q][p] = 0;
        a[r][p] = a[p][r] = c * arp - s * arq;
        a[r][q] = a[q][r] = s * arp + c * arq;
    }
    for (int i = 0; i < 3; i++) l[i] = a[i][i];
    for (int i = 0; i < 3; i++) { /* two passes sort three */
        int k = i % 2;
        if (l[k] <= l[k + 1]) continue;
        double swap = l[k];
        l[k] = l[k + 1];
        l[k + 1] = swap;
    }
}

/* A distribution of mass has  I1 + I2 >= I3  (the integrals of x^2, y^2, z^2 are not negative). */
static void check_inertia(cst_loader *L, const cst_inertia_check *c)
{
    const cst_body *b = &L->m->body.at[c->body];
    double A[6], l[3], m = cst_loader_value(L, b->m);
    for (int i = 0; i < 6; i++) A[i] = cst_loader_value(L, c->inertia[i]);
    for (int i = 0; i < 6; i++)
        if (!isfinite(A[i]) || !isfinite(m)) return; /* reported with the number itself */
    if (m < 0)
        cst_loader_error(L, b->where, "body '%s': the mass must be at least 0 kg, not %g", b->name,
                         m);
    eigenvalues(A, l);
    double scale = fabs(l[0]) > fabs(l[2]) ? fabs(l[0]) : fabs(l[2]);
    if (l[0] + l[1] - l[2] < -1e-9 * scale ||
        l[0] < -1e-9 * scale) /* 1e-9: moments are written with some digits */
        cst_loader_error(L, b->where,
                         "body '%s': no distribution of mass has the principal moments of inertia "
                         "%.6g, %.6g, %.6g kg m^2 (the sum of two must not be below the third)",
                         b->name, l[0], l[1], l[2]);
}

static void check_frame(cst_loader *L, const cst_body *b)
{
    double E[9], worst = 0;
    for (int i = 0; i < 9; i++) E[i] = cst_loader_value(L, b->frame[3 + i]);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double dot =
                E[3 * i] * E[3 * j] + E[3 * i + 1] * E[3 * j + 1] + E[3 * i + 2] * E[3 * j + 2];
            double error = fabs(dot - (i == j));
            if (!(error <= worst)) worst = error;
        }
    double det = E[0] * (E[4] * E[8] - E[5] * E[7]) - E[1] * (E[3] * E[8] - E[5] * E[6]) +
                 E[2] * (E[3] * E[7] - E[4] * E[6]);
    if (!isfinite(det)) return; /* reported with the number itself */
    if (!(worst < 1e-9) || det < 0)
        cst_loader_error(L, b->where, "body '%s': its axes are not a right-handed orthogonal frame",
                         b->name);
}

void cst_bodies_check(cst_loader *L)
{
    for (int i = 0; i < L->inertia.n; i++) {
        check_inertia(L, &L->inertia.at[i]);
        check_frame(L, &L->m->body.at[L->inertia.at[i].body]);
    }
}
