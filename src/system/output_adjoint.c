/* SPDX-License-Identifier: MIT
 *
 * Bars of what the measures read, from seeds of the outputs. */
#include <string.h>

#include "linalg/dense.h"
#include "system/output.h"
#include "system/pass.h"

/* Potential: x_bar -= f at rest; numbers through the class. Dissipation: -(f(x, x') - f(x, 0)) . x'
 */
static void energies_reverse(cst_pass *ps, const cst_pass_at *at, double potential,
                             double dissipation, double *x, double *xd, double *P)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    enum { NX = CST_MAX_NX };
    double lx[NX], lxd[NX], f[NX], f0[NX], g[NX], e, f_x[2 * NX * NX], f0_x[2 * NX * NX],
        f_xd[2 * NX * NX];
    const double rest[NX] = {0};
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *c = &m->force.at[i];
        cst_local l, l0;
        if (!c->cls->energy) continue;
        cst_local_force(s, i, at->z, at->mem, &l, lx, lxd);
        if (!c->cls->energy(&l, &e)) continue;
        l0 = l, l0.xd = rest;
        c->cls->force(&l, f, g), c->cls->force(&l0, f0, g);
        c->cls->partials(&l, f_x, f_xd, NULL, NULL), c->cls->partials(&l0, f0_x, NULL, NULL, NULL);
        double bx[NX] = {0}, bxd[NX] = {0};
        for (int j = 0; j < c->nx; j++) {
            bx[j] -= potential * f0[j];
            bxd[j] -= dissipation * (f[j] - f0[j]);
            for (int k = 0; k < c->nx; k++) {
                bx[j] -= dissipation * (f_x[k * c->nx + j] - f0_x[k * c->nx + j]) * lxd[k];
                bxd[j] -= dissipation * f_xd[k * c->nx + j] * lxd[k];
            }
        }
        double *p = P + c->p;
        c->cls->energy_p(&l, ps->f_p);
        for (int j = 0; j < c->np; j++) p[j] += potential * ps->f_p[j];
        for (int sign = 1; dissipation != 0 && sign >= -1; sign -= 2) {
            c->cls->partials(sign > 0 ? &l : &l0, NULL, NULL, NULL, ps->f_p);
            for (int k = 0; k < c->nx; k++)
                for (int j = 0; j < c->np; j++)
                    p[j] -= sign * dissipation * ps->f_p[k * c->np + j] * lxd[k];
        }
        int n = 0;
        for (int k = 0; k < c->nslot; k++) {
            const cst_slot *sl = &m->slot.at[c->slot[k]];
            for (int d = 0; d < sl->dim; d++, n++) x[sl->x0 + d] += bx[n], xd[sl->x0 + d] += bxd[n];
        }
    }
}

void cst_energies_change(cst_pass *ps, const cst_pass_at *at, const double *dx, const double *dxd,
                         const double *dP, double *potential, double *dissipation)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    enum { NX = CST_MAX_NX };
    double lx[NX], lxd[NX], f[NX], f0[NX], g[NX], e, f_x[2 * NX * NX], f0_x[2 * NX * NX],
        f_xd[2 * NX * NX];
    const double rest[NX] = {0};
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *c = &m->force.at[i];
        cst_local l, l0;
        double d[NX], dd[NX];
        if (!c->cls->energy) continue;
        cst_local_force(s, i, at->z, at->mem, &l, lx, lxd);
        if (!c->cls->energy(&l, &e)) continue;
        int n = 0;
        for (int k = 0; k < c->nslot; k++) {
            const cst_slot *sl = &m->slot.at[c->slot[k]];
            for (int j = 0; j < sl->dim; j++, n++) d[n] = dx[sl->x0 + j], dd[n] = dxd[sl->x0 + j];
        }
        l0 = l, l0.xd = rest;
        c->cls->force(&l, f, g), c->cls->force(&l0, f0, g);
        c->cls->partials(&l, f_x, f_xd, NULL, NULL), c->cls->partials(&l0, f0_x, NULL, NULL, NULL);
        for (int j = 0; j < c->nx; j++) {
            *potential -= f0[j] * d[j];
            *dissipation -= (f[j] - f0[j]) * dd[j];
            for (int k = 0; k < c->nx; k++)
                *dissipation -= lxd[j] * ((f_x[j * c->nx + k] - f0_x[j * c->nx + k]) * d[k] +
                                          f_xd[j * c->nx + k] * dd[k]);
        }
        c->cls->energy_p(&l, ps->f_p);
        for (int j = 0; j < c->np; j++) *potential += ps->f_p[j] * dP[c->p + j];
        for (int sign = 1; sign >= -1; sign -= 2) {
            c->cls->partials(sign > 0 ? &l : &l0, NULL, NULL, NULL, ps->f_p);
            for (int k = 0; k < c->nx; k++)
                for (int j = 0; j < c->np; j++)
                    *dissipation -= sign * ps->f_p[k * c->np + j] * dP[c->p + j] * lxd[k];
        }
    }
}

/* Bars of registers beside the seeds; 1: there are some */
static int add_operands(const cst_output *o, int column, double *bar)
{
    const size_t nreg = (size_t)o->tape->nreg;
    int any = 0;
    for (size_t i = 0; o->operands && i < nreg; i++) {
        const double own = o->operand[(size_t)column * nreg + i];
        any |= own != 0;
        bar[i] += own;
    }
    return any;
}

void cst_output_reverse(cst_output *o, cst_pass *ps, const cst_pass_at *at, int nrhs,
                        const double *seed, const cst_output_bars *b)
{
    const cst_model *m = ps->s->m;
    const cst_tape *t = o->tape;
    for (int r = 0; r < nrhs; r++) {
        const double *sd = seed + (size_t)r * (size_t)t->nout;
        double *bar = o->bar, sys[CST_SYS_COUNT] = {0};
        int any = 0;
        memset(bar, 0, sizeof *bar * (size_t)t->nreg);
        for (int i = 0; i < t->nout; i++)
            if (sd[i] != 0) bar[t->out[i]] += sd[i], any = 1;
        any |= add_operands(o, r, bar);
        if (!any) continue;
        cst_tape_reverse(t, o->reg, bar);
        size_t nx = (size_t)r * (size_t)m->nx;
        double *x[3] = {b->x + nx, b->xd + nx, b->xa + nx};
        for (int i = 0; i < t->nchannel; i++) {
            const cst_channel *c = &t->channel[i];
            size_t k = (size_t)c->index;
            switch (c->kind) {
            case CST_CH_X:
                x[c->order][k] += bar[i];
                break;
            case CST_CH_Z:
                b->z[(size_t)r * (size_t)m->nz + k] += bar[i];
                break;
            case CST_CH_FORCE:
                b->force[(size_t)r * (size_t)m->nforce + k] += bar[i];
                break;
            case CST_CH_REACT:
                b->react[(size_t)r * (size_t)m->nreact + k] += bar[i];
                break;
            case CST_CH_SYSTEM:
                sys[k] += bar[i];
                break;
            case CST_CH_TIME:
                if (b->t) b->t[r] += bar[i];
                break;
            case CST_CH_QUAD: /* cst_output_quad_bars */
            case CST_CH_MEM:
            case CST_CH_ARG:
            case CST_CH_RESULT:
                break;
            }
        }
        double *val = b->val + (size_t)r * (size_t)cst_graph_values(m->graph);
        for (int i = 0; i < t->nnumber; i++) val[t->number[i]] += bar[t->nchannel + i];
        double *P = b->P + (size_t)r * (size_t)m->bound.n, *q = b->q + (size_t)r * (size_t)m->nq;
        double *v = b->v + (size_t)r * (size_t)m->nq;
        if (sys[CST_SYS_KINETIC] != 0) {
            cst_mass_add(ps->s, NULL, at->v, sys[CST_SYS_KINETIC], v);
            cst_mass_bar(ps->s, at->v, at->v, sys[CST_SYS_KINETIC] / 2, P);
        }
        if (sys[CST_SYS_POTENTIAL] != 0) {
            cst_gravity_add(ps->s, -sys[CST_SYS_POTENTIAL], q);
            cst_gravity_bar(ps->s, at->q, sys[CST_SYS_POTENTIAL], P);
        }
        if (sys[CST_SYS_POTENTIAL] != 0 || sys[CST_SYS_DISSIPATION] != 0)
            energies_reverse(ps, at, sys[CST_SYS_POTENTIAL], sys[CST_SYS_DISSIPATION], x[0], x[1],
                             P);
    }
    if (o->operands) memset(o->operand, 0, sizeof *o->operand * (size_t)nrhs * (size_t)t->nreg);
    o->operands = 0;
}

void cst_output_quad_bars(cst_output *o, int nrhs, const double *seed, double *quad)
{
    const cst_tape *t = o->tape;
    int nquad = o->functional - o->quad;
    for (int r = 0; r < nrhs; r++) {
        const double *sd = seed + (size_t)r * (size_t)t->nout;
        double *bar = o->bar;
        int any = 0;
        memset(bar, 0, sizeof *bar * (size_t)t->nreg);
        for (int i = 0; i < t->nout; i++)
            if (sd[i] != 0) bar[t->out[i]] += sd[i], any = 1;
        any |= add_operands(o, r, bar);
        if (!any) continue;
        cst_tape_reverse(t, o->reg, bar);
        for (int i = 0; i < t->nchannel; i++)
            if (t->channel[i].kind == CST_CH_QUAD)
                quad[(size_t)r * (size_t)nquad + (size_t)t->channel[i].index] += bar[i];
    }
}
