/* SPDX-License-Identifier: MIT
 *
 * The equations of static equilibrium and their matrix. */
#include "formulation/statics.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

#define REDUNDANT 1e-7 /* as for the joints: structure.c */
#define ORDER "multiplier-after"
/* The weight h/2 of implicit states at which their own inertia is below rounding: z + hz g = z_old
 * becomes g = 0. */
#define AT_REST 0x1p200

/* ---- forces that are left out ---- */

static void silent_force(const cst_local *e, double *f, double *zd)
{
    memset(f, 0, sizeof *f * (size_t)e->nx);
    for (int i = 0; i < e->nz; i++) zd[i] = 0;
}

static void silent_partials(const cst_local *e, double *f_x, double *f_xd, double *f_z, double *f_p)
{
    size_t rows = (size_t)(e->nx + e->nz);
    if (f_x) memset(f_x, 0, sizeof *f_x * rows * (size_t)e->nx);
    if (f_xd) memset(f_xd, 0, sizeof *f_xd * rows * (size_t)e->nx);
    if (f_z) memset(f_z, 0, sizeof *f_z * rows * (size_t)e->nz);
    if (f_p) memset(f_p, 0, sizeof *f_p * rows * (size_t)e->np);
}

static const cst_force_class silent = {
    .name = "silent", .nslot = -1, .nz = -1, .force = silent_force, .partials = silent_partials};

/* Copies of other elements' states settle like their originals, whether or not the force that reads
 * them takes part. */
static void muted_force(const cst_local *e, double *f, double *zd)
{
    cst_force_expression.force(e, f, zd);
    memset(f, 0, sizeof *f * (size_t)e->nx);
}

static void muted_partials(const cst_local *e, double *f_x, double *f_xd, double *f_z, double *f_p)
{
    size_t nx = (size_t)e->nx;
    cst_force_expression.partials(e, f_x, f_xd, f_z, f_p);
    if (f_x) memset(f_x, 0, sizeof *f_x * nx * nx);
    if (f_xd) memset(f_xd, 0, sizeof *f_xd * nx * nx);
    if (f_z) memset(f_z, 0, sizeof *f_z * nx * (size_t)e->nz);
    if (f_p) memset(f_p, 0, sizeof *f_p * nx * (size_t)e->np);
}

static const cst_force_class muted = {
    .name = "muted", .nslot = -1, .nz = -1, .force = muted_force, .partials = muted_partials};

static const cst_model *model_of_statics(cst_arena *a, const cst_model *m)
{
    cst_model *own = cst_new(a, cst_model, 1);
    *own = *m;
    own->force.at = cst_new(a, cst_force, m->force.n + 1);
    for (int i = 0; i < m->force.n; i++) {
        own->force.at[i] = m->force.at[i];
        if (!m->force.at[i].statics)
            own->force.at[i].cls = m->force.at[i].copies ? &muted : &silent;
    }
    return own;
}

/* ---- the object ---- */

static void z_initial(const cst_system *s, double *z)
{
    for (int i = 0; i < s->m->force.n; i++) {
        const cst_force *f = &s->m->force.at[i];
        if (f->nz) memcpy(z + f->z0, s->P + f->z_start, sizeof *z * (size_t)f->nz);
    }
}

/* Rows of the equations. A held measure that joints or other held measures already fix adds no row.
 */
static unsigned char *rows_to_keep(cst_arena *a, cst_system *s, const cst_structure *st,
                                   const double *mem)
{
    const cst_model *m = s->m;
    unsigned char *keep = cst_new(a, unsigned char, m->nrow + 1);
    memcpy(keep, st->keep, (size_t)m->nrow);
    cst_jacobian j = cst_jacobian_rows(a, s, mem, CST_ROW_MOTION | CST_ROW_STATICS, st->column);
    cst_rank rank;
    if (!cst_rank_rows(a, &j.rows, REDUNDANT, &rank)) return NULL;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        for (int k = 0; k < rank.ndep && c->phases == CST_ROW_STATICS; k++)
            if (j.all_of[rank.dep[k]] == c->row0) keep[c->row0] = 0;
    }
    return keep;
}

cst_statics *cst_statics_new(cst_arena *a, cst_system *s, const cst_structure *st)
{
    const cst_model *m = s->m;
    cst_statics *w = cst_new(a, cst_statics, 1);
    w->s = *s;
    w->s.m = model_of_statics(a, m);
    w->st = st;
    w->mem = cst_new(a, double, m->memory.n + 1);
    cst_system_rest(s);
    cst_system_place(&w->s, m->sim.start, st->q);
    cst_slots_blocks(&w->s, st->q);
    unsigned char *keep = rows_to_keep(a, &w->s, st, w->mem);
    if (!keep) return NULL;
    cst_kkt *k = cst_kkt_new(a, &w->s, CST_ROW_MOTION | CST_ROW_STATICS, keep, 0, NULL);
    cst_structure_units(st, k);
    w->k = k;
    w->pass = cst_pass_new(a, &w->s);
    w->reg = cst_new(a, double, m->remember->nreg + 1);
    struct {
        double **at;
        int size;
    } part[] = {
        {&w->assembled, m->nq},
        {&w->held, m->nrow},
        {&w->q, m->nq},
        {&w->z, m->nz},
        {&w->lambda, m->nrow},
        {&w->val, k->pattern->nnz},
        {&w->rhs, k->n},
        {&w->sol, k->n},
        {&w->fix, k->n},
        {&w->scratch, 2 * k->n + m->nq},
        {&w->r, m->nq},
        {&w->d, m->nq},
        {&w->phi, m->nrow},
        {&w->back_q, m->nq},
        {&w->back_lambda, m->nrow},
        {&w->first, m->nq},
        {&w->unit, m->nu},
        {&w->part_q, m->nq},
        {&w->part_lambda, m->nrow},
        {&w->probe, m->nu},
        {&w->metric, m->nu},
        {&w->xi, m->nu},
        {&w->x, m->nx},
        {&w->xd, m->nx},
        {&w->wx, m->nx},
        {&w->gz, m->nz},
        {&w->dz, m->nz},
        {&w->rest, m->nq},
        {&w->rows, m->nrow},
        {&w->extra, m->nrow},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);

    unsigned char *kind = cst_new(a, unsigned char, k->n + 1);
    for (int i = k->nu; i < k->n; i++) kind[i] = 1;
    const cst_kkt_coef c = {.mass = 1, .stiff = 1, .eps = st->start_eps};
    z_initial(&w->s, w->z);
    cst_kkt_assemble(k, &w->s, st->q, w->z, w->mem, NULL, NULL, st->weight, c, 1, 0, w->val);
    w->lu = cst_lu_new(a, k->pattern, w->val, kind, ORDER);
    if (!w->lu) w->lu = cst_lu_new(a, k->pattern, w->val, kind, NULL);
    return w->lu ? w : NULL;
}

/* ---- states ---- */

void cst_rest_partials(cst_statics *w, int force, const double *z, cst_rest *e)
{
    const cst_force *f = &w->s.m->force.at[force];
    double x[CST_MAX_NX], xd[CST_MAX_NX];
    cst_local l;
    cst_local_force(&w->s, force, z, w->mem, &l, x, xd);
    f->cls->partials(&l, e->f_x, NULL, e->f_z, NULL);
    e->nx = f->nx, e->nz = f->nz, e->n = 0;
    for (int i = 0; i < f->nz; i++) {
        int any = 0;
        for (int j = 0; j < f->nz; j++) any |= e->f_z[(f->nx + i) * f->nz + j] != 0;
        if (any) e->act[e->n++] = i;
    }
}

int cst_rest_solve(const cst_rest *e, int transposed, double *y)
{
    double A[CST_MAX_NX * CST_MAX_NX];
    for (int i = 0; i < e->n; i++)
        for (int j = 0; j < e->n; j++)
            A[transposed ? j * e->n + i : i * e->n + j] =
                e->f_z[(e->nx + e->act[i]) * e->nz + e->act[j]];
    return cst_dense_solve(e->n, A, y);
}

/* A state that keeps its initial value although its rate depends on the positions would keep moving
 * whatever it acts on. */
static int integrates(const cst_rest *e)
{
    for (int i = 0; i < e->nz; i++) {
        int settles = 0, reads = 0, acts = 0;
        for (int k = 0; k < e->n; k++) settles |= e->act[k] == i;
        for (int j = 0; j < e->nx; j++) reads |= e->f_x[(e->nx + i) * e->nx + j] != 0;
        for (int j = 0; j < e->nx + e->nz; j++) acts |= e->f_z[j * e->nz + i] != 0;
        if (!settles && reads && acts) return 1;
    }
    return 0;
}

/* g(x, 0, z) = 0 by Newton, force by force */
static cst_status states_settle(cst_statics *w, double *z, cst_diag *d)
{
    const cst_model *m = w->s.m;
    double x[CST_MAX_NX], xd[CST_MAX_NX], f[CST_MAX_NX], g[CST_MAX_NX], y[CST_MAX_NX];
    cst_rest e;
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *c = &m->force.at[i];
        int done = c->nz == 0;
        for (int it = 0; it < 50 && !done; it++) {
            cst_local l;
            double change = 0, size = 0;
            cst_local_force(&w->s, i, z, w->mem, &l, x, xd);
            c->cls->force(&l, f, g);
            cst_rest_partials(w, i, z, &e);
            if (integrates(&e)) break;
            for (int j = 0; j < e.n; j++) y[j] = -g[e.act[j]];
            if (!cst_rest_solve(&e, 0, y)) break;
            for (int j = 0; j < e.n; j++) {
                double *zj = &z[c->z0 + e.act[j]];
                *zj += y[j];
                change = fmax(change, fabs(y[j])), size = fmax(size, fabs(*zj));
            }
            if (!isfinite(change)) break;
            done = change <= 1e-14 * (1 + size) || (it > 5 && change <= 1e-11 * (1 + size));
        }
        if (done) continue;
        return d ? cst_error(d, CST_NUMERIC, c->where,
                             "t = %g s: the states of '%s' have no rest value, which the static "
                             "equilibrium needs; leave the force out (equilibrium: {without: "
                             "[..]}) or hold what it reads",
                             w->t, c->name)
                 : CST_NUMERIC;
    }
    return CST_OK;
}

/* ---- residual and matrix ---- */

static void tape_at(const cst_statics *w, const cst_tape *t, const double *z, double *reg)
{
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *c = &t->channel[i];
        reg[i] = c->kind == CST_CH_X     ? (c->order ? w->s.xd : w->s.x)[c->index]
                 : c->kind == CST_CH_MEM ? w->mem[c->index]
                 : c->kind == CST_CH_Z   ? z[c->index]
                                         : w->t;
    }
    for (int i = 0; i < t->nnumber; i++) reg[t->nchannel + i] = w->s.val[t->number[i]];
    cst_tape_eval(t, reg);
}

/* Turns are counted on the way, and laws switch as the position says: there is no motion that could
 * cross an event. */
static void remember(cst_statics *w, const double *z)
{
    const cst_model *m = w->s.m;
    if (m->memory.n) {
        tape_at(w, m->remember, z, w->reg);
        for (int i = 0; i < m->memory.n; i++) w->mem[i] = w->reg[m->remember->out[i]];
    }
    cst_modes_place(&w->s, z, 0, w->mem);
}

cst_status cst_statics_residual(cst_statics *w, const double *q, const double *lambda, double *z,
                                double *R, cst_diag *d)
{
    cst_system *s = &w->s;
    const cst_model *m = s->m;
    cst_system_rest(s);
    cst_system_place(s, w->t, q);
    cst_slots_blocks(s, q);
    remember(w, z);
    cst_status ok = states_settle(w, z, d);
    if (ok != CST_OK) return ok;
    cst_constraints(s, w->mem, w->k->phases, w->phi);
    for (int i = 0; i < m->nrow; i++) w->phi[i] -= w->held[i];
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    if (!m->statics.weightless) cst_gravity_add(s, -1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_reactions_add(s, w->mem, lambda, w->k->phases, s->fx, NULL);
    cst_forces_add(s, z, w->mem, s->fx, NULL, NULL);
    cst_slots_transpose(s, s->fx, w->r);
    for (int i = 0; w->left > 0 && i < m->nq; i++) w->r[i] -= w->left * w->first[i];
    cst_T_transpose(s, q, w->r, R);
    cst_kkt_gather(w->k, w->phi, R + w->k->nu);
    return CST_OK;
}

void cst_statics_metric(cst_statics *w, const double *q, const double *u, double *out)
{
    const cst_model *m = w->s.m;
    double *force = w->scratch;
    cst_T(&w->s, q, u, w->d);
    memset(force, 0, sizeof *force * (size_t)m->nq);
    cst_mass_add(&w->s, w->st->weight, w->d, 1, force);
    cst_T_transpose(&w->s, q, force, out);
}

/* The spin of a slender body that nothing sees: its row and column are zero, its right-hand side
 * too. */
static void hold_spins(cst_statics *w, const double *q)
{
    double size = w->stiff * w->extent * w->extent;
    for (int h = 0; h < w->st->nhold; h++) {
        const cst_body *b = &w->s.m->body.at[w->st->hold[h].body];
        const double *axis = w->st->hold[h].axis, *e = q + b->q0 + 3;
        double a[3];
        for (int i = 0; i < 3; i++) a[i] = axis[0] * e[i] + axis[1] * e[3 + i] + axis[2] * e[6 + i];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                w->val[w->k->body_at[b->u0 + 3 + j] + 3 + i] += size * a[i] * a[j];
    }
}

/* Heaviest mass by the square of the run's duration, or of a second for short runs: N/m. Where all
 * forces vanish, what is left of them is rounding, and must not be the scale that stiffnesses are
 * compared with. */
static double least_scale(const cst_system *s)
{
    const cst_model *m = s->m;
    double mass = 0, T = fmax(1, m->sim.end - m->sim.start), L2 = s->length * s->length;
    for (int i = 0; i < m->body.n; i++)
        mass = fmax(mass, s->P[m->body.at[i].mass] / (m->body.at[i].cls->nvec ? 1 : L2));
    return (mass > 0 ? mass : 1) / (T * T);
}

int cst_statics_matrix(cst_statics *w, const double *q, const double *z, const double *lambda,
                       double c)
{
    const cst_kkt *k = w->k;
    const cst_pattern *p = k->pattern;
    const double *unit = w->unit, L2 = w->extent * w->extent;
    const cst_kkt_coef coef = {.mass = c, .stiff = 1};
    cst_kkt_assemble(k, &w->s, q, z, w->mem, w->r, lambda, w->st->weight, coef, 1, AT_REST, w->val);
    w->stiff = least_scale(&w->s);
    for (int j = 0; j < k->nu; j++)
        for (int i = p->ptr[j]; i < p->ptr[j + 1] && p->row[i] < k->nu; i++)
            w->stiff = fmax(w->stiff, fabs(w->val[i]) * unit[j] * unit[p->row[i]] / L2);
    if (!isfinite(w->stiff)) w->stiff = 1;
    w->eps = 1e-13 / w->stiff; /* for singular positions: far below what a spring yields */
    hold_spins(w, q);
    for (int i = 0; i < k->nrow; i++) w->val[k->diag_at[i]] -= w->eps * k->unit[i];
    return cst_lu_factor(w->lu, w->val);
}
