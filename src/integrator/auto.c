/* SPDX-License-Identifier: MIT
 *
 * formulation: auto. What docs/performance.md has measured, as a rule:
 *
 *     index1 with rk4 (rk45 where a tolerance is given)
 *                       when the mechanism is a tree, so that no position is singular, nothing
 * switches, and the step resolves the fastest motion of its forces at the start, h max(omega, c) <=
 * 0.3: then order 4 is the cheaper one index3            otherwise
 *
 * omega^2 and c are the largest eigenvalues of W^-1 K and W^-1 C on the motions that the
 * constraints leave, by iteration. */
#include "integrator/auto.h"

#include <math.h>
#include <string.h>

#define RESOLVED 0.3
#define ITERATIONS 40

static int root_of(int *up, int i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* Does a chain of joints lead back to where it started? */
static int has_loop(cst_arena *scratch, const cst_model *m)
{
    int *up = cst_new(scratch, int, m->body.n + 2), loop = 0;
    for (int i = 0; i <= m->body.n; i++) up[i] = i; /* the ground comes last */
    for (int i = 0; i < m->joint.n; i++) {
        int end[2];
        if (m->joint.at[i].body[0] == m->joint.at[i].body[1]) continue;
        for (int k = 0; k < 2; k++) {
            int b = m->joint.at[i].body[k];
            end[k] = root_of(up, b == CST_GROUND ? m->body.n : m->body.at[b].owner);
        }
        loop |= end[0] == end[1];
        up[end[0]] = end[1];
    }
    return loop;
}

/* Largest |eigenvalue| of W^-1 A, A = K or C of the forces at the assembled position, at rest; -1:
 * W cannot be factored */
static double largest(cst_arena *scratch, cst_motion *w, cst_kkt_coef of)
{
    const cst_kkt *k = w->k;
    const cst_model *m = w->s->m;
    const double *q = w->st->q;
    double *z = cst_new(scratch, double, m->nz + 1),
           *mem = cst_new(scratch, double, m->memory.n + 1);
    double *v = cst_new(scratch, double, m->nq + 1),
           *val = cst_new(scratch, double, k->pattern->nnz + 1);
    double *x = cst_new(scratch, double, k->n + 1), *y = cst_new(scratch, double, k->n + 1),
           grown = 0;
    for (int i = 0; i < m->force.n; i++)
        if (m->force.at[i].nz)
            memcpy(z + m->force.at[i].z0, w->s->P + m->force.at[i].z_start,
                   sizeof *z * (size_t)m->force.at[i].nz);
    cst_system_place(w->s, 0, q);
    cst_system_rates(w->s, v);
    cst_slots_blocks(w->s, q);
    cst_kkt_assemble(k, w->s, q, z, mem, NULL, NULL, NULL,
                     (cst_kkt_coef){.mass = 1, .eps = w->st->eps}, 0, 0, w->project_val);
    if (cst_lu_factor(w->project, w->project_val) >= 0) return -1;
    cst_kkt_assemble(k, w->s, q, z, mem, NULL, NULL, NULL, of, 1, 0, val);
    for (int i = 0; i < k->nu; i++) x[i] = sin(1 + 2.4 * i) * w->st->column[i]; /* any direction */
    for (int it = 0; it < ITERATIONS; it++) {
        double size = 0;
        memset(x + k->nu, 0, sizeof *x * (size_t)k->nrow), memset(y, 0, sizeof *y * (size_t)k->n);
        for (int i = 0; i < k->nu; i++) size = fmax(size, fabs(x[i]) / w->st->column[i]);
        if (!(size > 0) || !isfinite(size)) return isfinite(size) ? 0 : -1;
        if (it) grown = size;
        for (int i = 0; i < k->nu; i++) x[i] /= size;
        cst_sparse_mul(k->pattern, val, x, y);
        memset(y + k->nu, 0, sizeof *y * (size_t)k->nrow);
        cst_lu_solve(w->project, 1, y);
        memcpy(x, y, sizeof *x * (size_t)k->n);
    }
    return grown;
}

double cst_auto_fastest(cst_arena *a, cst_motion *w)
{
    cst_arena *scratch = cst_arena_child(a);
    double k = largest(scratch, w, (cst_kkt_coef){.stiff = 1}),
           c = largest(scratch, w, (cst_kkt_coef){.damp = 1});
    cst_arena_free(scratch);
    return k >= 0 && c >= 0 ? fmax(sqrt(k), c) : -1;
}

/* NULL: nothing speaks against an explicit rule */
static const char *objection(cst_arena *a, cst_arena *scratch, cst_motion *w, double h)
{
    const cst_model *m = w->s->m;
    if (m->event.n) return "something switches";
    if (has_loop(scratch, m)) return "loops of joints may come to singular positions";
    if (w->st->drawn_rank < w->st->rank) return "it is drawn in a singular position";
    double fast = h * cst_auto_fastest(a, w);
    if (!(fast >= 0)) return "its masses are not regular";
    return fast <= RESOLVED
               ? NULL
               : cst_arena_printf(a, "the step does not resolve its forces: h omega = %.2g", fast);
}

cst_auto cst_auto_choose(cst_arena *a, cst_motion *w, double h, int tolerant)
{
    cst_arena *scratch = cst_arena_child(a);
    const char *against = objection(a, scratch, w, h);
    cst_arena_free(scratch);
    if (against) return (cst_auto){"index3", "newmark", against};
    return (cst_auto){"index1", tolerant ? "rk45" : "rk4",
                      "joints form a tree, and the step resolves its forces"};
}
