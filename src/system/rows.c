/* SPDX-License-Identifier: MIT
 *
 * The constraint Jacobian by rows, J = phi_x B. */
#include <string.h>

#include "system/kkt.h"

cst_jacobian cst_jacobian_rows(cst_arena *a, cst_system *s, const double *mem, int phases,
                               const double *column)
{
    const cst_model *m = s->m;
    int nrow = 0, nnz = 0;
    for (int i = 0; i < m->constraint.n; i++)
        if (m->constraint.at[i].phases & phases) {
            nrow += m->constraint.at[i].cls->nphi;
            nnz += m->constraint.at[i].cls->nphi * s->constraint_reach[i].nt;
        }
    int *ptr = cst_new(a, int, nrow + 1), *col = cst_new(a, int, nnz + 1),
        *all_of = cst_new(a, int, nrow + 1);
    double *val = cst_new(a, double, nnz + 1);
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_PHI * CST_MAX_NX];
    int row = 0, at = 0;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const cst_reach *r = &s->constraint_reach[i];
        cst_local l;
        if (!(c->phases & phases)) continue;
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        c->cls->phi_x(&l, J);
        for (int k = 0; k < c->cls->nphi; k++) {
            double *v = val + at;
            for (int b = 0; b < r->n; b++)
                for (int t = r->t0[b]; t < r->t0[b + 1]; t++) col[at + t] = r->u0[b] + t - r->t0[b];
            int xa = 0;
            for (int j = 0; j < c->nslot; j++) {
                const cst_slot *sl = &m->slot.at[c->slot[j]];
                const double *B = s->B + s->b0[c->slot[j]] + r->skip[j];
                double *vj = r->at[j] < 0 ? v : v + r->t0[r->at[j]] + r->off[j];
                for (int t = 0; t < r->nu[j]; t++)
                    for (int d = 0; d < sl->dim; d++)
                        vj[t] += J[k * c->nx + xa + d] * B[d * r->stride[j] + t];
                xa += sl->dim;
            }
            for (int t = 0; t < r->nt; t++) v[t] *= column[col[at + t]];
            all_of[row] = c->row0 + k;
            at += r->nt;
            ptr[++row] = at;
        }
    }
    return (cst_jacobian){.rows = {.nrow = nrow, .ncol = m->nu, .ptr = ptr, .col = col, .val = val},
                          .all_of = all_of};
}
