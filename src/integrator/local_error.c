/* SPDX-License-Identifier: MIT
 *
 * The error of one step of the rules of order 2, whatever the rule: how far its positions are from
 * those whose accelerations are linear in time between the two that follow from the states at the
 * ends,
 *
 *     e = q1 - q0 - h q0' - h^2/6 (2 q0'' + q1''),     q' = T u,  q'' = T u' + L(q', u)
 *
 * That is of third order in h, and the comparison is exact to fourth (Zienkiewicz and Xie,
 * Earthquake Eng. Struct. Dyn. 20 (1991) 871-887, who write it for Newmark's rule: h^2 (beta - 1/6)
 * (q1'' - q0'')). In natural coordinates a body that only spins has accelerations that change, too:
 * they turn. */
#include "integrator/motion.h"

#include <math.h>

/* q' and q'' at y */
static void rates(const cst_motion *w, const cst_state *y, double *v, double *a)
{
    cst_T(w->s, y->q, y->u, v);
    cst_T(w->s, y->q, y->ud, a);
    cst_L_add(w->s, v, y->u, a);
}

double cst_motion_error(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    double worst = 0;
    rates(w, y1, w->V, w->c);
    rates(w, y0, w->v0, w->a0);
    for (int i = 0; i < w->s->m->nq; i++) {
        double e = y1->q[i] - y0->q[i] - h * (w->v0[i] + h / 6 * (2 * w->a0[i] + w->c[i]));
        worst = fmax(worst, fabs(e) / w->st->ambient[i]);
    }
    return worst / w->accuracy;
}

/* At rest: slow, or below the tolerance over the longest step, and so at the end of the step asked
 * for */
double cst_motion_longest(const cst_motion *w, const cst_state *y)
{
    double rest = fmax(w->slow, w->accuracy / w->longest);
    for (int i = 0; i < w->s->m->nu; i++)
        if (fabs(y->u[i]) + w->given * fabs(y->ud[i]) > rest * w->st->column[i]) return w->longest;
    return w->given;
}
