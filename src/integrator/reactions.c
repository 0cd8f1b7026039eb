/* SPDX-License-Identifier: MIT
 *
 * Multipliers of least norm. A row r that is left out of the equations depends on the others: J_r =
 * c^T J. Its left null vector n = e_r - c comes from the projection's matrix, W (x, c) = (J_r^T, 0)
 * with x = 0. Among all multipliers with the same force, the smallest is
 *
 *     lambda - N (N^T N)^-1 N^T lambda */
#include <math.h>
#include <string.h>

#include "integrator/motion.h"
#include "linalg/dense.h"

/* Does a measure read rows that a null vector touches? */
static int reads_ambiguous(const cst_motion *w)
{
    const cst_model *m = w->s->m;
    const cst_tape *t = w->out->tape;
    int ndep = w->st->dep.ndep, c = 0;
    for (int i = 0; i < t->nchannel; i++) {
        if (t->channel[i].kind != CST_CH_REACT) continue;
        for (c = 0; c < m->constraint.n; c++)
            if (t->channel[i].index >= m->constraint.at[c].f0 &&
                t->channel[i].index < m->constraint.at[c].f0 + m->constraint.at[c].nx)
                break;
        for (int k = 0; c < m->constraint.n && k < ndep; k++)
            for (int j = 0; j < m->constraint.at[c].cls->nphi; j++)
                if (fabs(w->null[k * m->nrow + m->constraint.at[c].row0 + j]) > 1e-9) return 1;
    }
    return 0;
}

static int null_vectors(cst_motion *w, const cst_state *y)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    const cst_kkt_coef mass = {.mass = 1, .eps = w->st->eps};
    double *unit = w->react;
    cst_system_place(s, *y->t, y->q);
    cst_slots_blocks(s, y->q);
    cst_lu *lu =
        cst_motion_rows_lu(w); /* those of the projection are in use, and may be compliant */
    cst_kkt_assemble(k, s, y->q, y->z, y->mem, NULL, NULL, NULL, mass, 0, 0, w->rows_val);
    if (cst_lu_refactor(lu, w->rows_val) >= 0) return 0;
    for (int i = 0; i < w->st->dep.ndep; i++) {
        int row = w->left_out[i];
        double *n = w->null + (size_t)i * (size_t)m->nrow;
        memset(unit, 0, sizeof *unit * (size_t)m->nrow);
        unit[row] = 1;
        memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
        memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
        cst_reactions_add(s, y->mem, unit, CST_ROW_MOTION, s->fx, NULL);
        cst_slots_transpose(s, s->fx, w->r);
        memset(w->b, 0, sizeof *w->b * (size_t)k->n);
        cst_T_transpose(s, y->q, w->r, w->b);
        cst_kkt_solve(k, lu, w->rows_val, w->st->eps, w->b, w->x, w->scratch);
        memset(n, 0, sizeof *n * (size_t)m->nrow);
        for (int j = 0; j < k->nrow; j++) n[k->all_of[j]] = -w->x[k->nu + j];
        n[row] = 1;
    }
    return 1;
}

const double *cst_motion_reactions(cst_motion *w, const cst_state *y)
{
    const cst_model *m = w->s->m;
    int ndep = w->st->dep.ndep, nrow = m->nrow;
    if (!w->ambiguous) return y->lambda;
    if (w->react_at == y->q && w->react_time == *y->t) return w->react_is; /* asked for again */
    w->react_at = y->q, w->react_time = *y->t, w->react_is = y->lambda;
    if (!null_vectors(w, y)) return y->lambda;
    if (!reads_ambiguous(w)) {
        w->ambiguous = 0; /* the structure of a mechanism does not change: never look again */
        return y->lambda;
    }
    for (int i = 0; i < ndep; i++) {
        const double *ni = w->null + (size_t)i * (size_t)nrow;
        w->share[i] = 0;
        for (int r = 0; r < nrow; r++) w->share[i] += ni[r] * y->lambda[r];
        for (int j = 0; j < ndep; j++) {
            const double *nj = w->null + (size_t)j * (size_t)nrow;
            double g = 0;
            for (int r = 0; r < nrow; r++) g += ni[r] * nj[r];
            w->gram[i * ndep + j] = g;
        }
    }
    if (!cst_dense_solve(ndep, w->gram, w->share)) return y->lambda;
    memcpy(w->react, y->lambda, sizeof *w->react * (size_t)nrow);
    for (int i = 0; i < ndep; i++)
        for (int r = 0; r < nrow; r++)
            w->react[r] -= w->share[i] * w->null[(size_t)i * (size_t)nrow + (size_t)r];
    return w->react_is = w->react;
}
