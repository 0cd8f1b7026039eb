/* SPDX-License-Identifier: MIT
 *
 * From the assembled position to a stable equilibrium. Each step solves
 *
 *     [K + c W  J^T] [delta ]     [T^T r]
 *     [J        0  ] [dlambda] = -[phi  ]        K: stiffness, W: the start's metric
 *
 * With large c this is steepest descent, with c = 0 Newton's method. How far the equations are from
 * linear is measured by the size of the correction that the same matrix asks for after the step,
 * theta = |correction|/|step|: a measure that does not mind how stiff the springs are. Good steps
 * lower c, bad ones are taken back and raise it. Where the position is not a minimum, K + c W must
 * stay positive along the step and along a probe, the direction of least stiffness that inverse
 * iteration finds on the way; an equilibrium that is unstable along the probe is left in that
 * direction. */
#include "formulation/statics.h"

#include <math.h>
#include <string.h>

#include "formulation/start.h"

#define LONGEST 0.2 /* longest step: rad, or relative to the extent of the bodies */
#define LINEAR                                                                                     \
    1e-4 /* if theta is below, the next step may be longer: the length is a poor limit if the      \
            points are close together */
#define ITERATIONS 300
#define KICKS 8
#define KICK                                                                                       \
    0.03 /* displacement that leaves an unstable equilibrium: rad, or relative to the length */
#define FIRST_PART 0.05 /* of the load, where it is applied in parts */
#define LEAST_PART 1e-4
#define PART_ITERATIONS 15
#define PARTS 200
#define UNSTABLE 1e-9 /* of the largest stiffness: what counts as negative */

typedef struct search {
    double *q, *z, *lambda;
    double c, last_c; /* last_c: the last one that was not 0 */
    double step, before;
    double longest;
    double stiffness; /* smallest along step and probe, by W */
    int kicks, any;   /* any: an unstable equilibrium will do */
} search;

/* Steps and stiffnesses of a mechanism are compared by its extent, that of the bodies' origins as
 * they are assembled. */
static void measure(cst_statics *w)
{
    const cst_model *m = w->s.m;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    w->extent = w->s.length;
    for (int i = 0; i < m->body.n; i++)
        for (int k = 0; m->body.at[i].cls->nvec && k < 3; k++) {
            low[k] = fmin(low[k], w->assembled[m->body.at[i].q0 + k]),
            high[k] = fmax(high[k], w->assembled[m->body.at[i].q0 + k]);
            w->extent = fmax(w->extent, high[k] - low[k]);
        }
    memcpy(w->unit, w->st->column, sizeof *w->unit * (size_t)w->k->nu);
    for (int i = 0; i < m->body.n; i++)
        for (int k = 0; m->body.at[i].cls->nvec && k < 3; k++)
            w->unit[m->body.at[i].u0 + k] = w->extent;
}

static double size_of(const cst_statics *w,
                      const double *u) /* largest rotation or share of the extent */
{
    double y = 0;
    for (int i = 0; i < w->k->nu; i++)
        if (!(fabs(u[i]) / w->unit[i] <= y)) y = fabs(u[i]) / w->unit[i];
    return y;
}

static double dot(int n, const double *a, const double *b)
{
    double y = 0;
    for (int i = 0; i < n; i++) y += a[i] * b[i];
    return y;
}

static void move(cst_statics *w, search *a, double cut, const double *sol)
{
    const cst_kkt *k = w->k;
    for (int i = 0; i < k->nu; i++) w->xi[i] = cut * sol[i];
    cst_move(&w->s, a->q, w->xi, a->q);
    for (int i = 0; i < k->nrow; i++) a->lambda[k->all_of[i]] += cut * sol[k->nu + i];
}

static void solve(cst_statics *w, const double *b, double *x)
{
    cst_kkt_solve(w->k, w->lu, w->val, w->eps, b, x, w->scratch);
}

/* Multipliers that leave the least imbalance in the metric W, and the c at which the first step has
 * a good length. */
static int first_multipliers(cst_statics *w, search *a)
{
    const cst_kkt *k = w->k;
    const cst_kkt_coef c = {.mass = 1, .eps = w->st->start_eps};
    cst_kkt_assemble(k, &w->s, a->q, a->z, w->mem, NULL, NULL, w->st->weight, c, 0, 0, w->val);
    if (cst_lu_factor(w->lu, w->val) >= 0) return 0;
    for (int i = 0; i < k->n; i++) w->rhs[i] = -w->rhs[i];
    cst_kkt_solve(k, w->lu, w->val, w->st->start_eps, w->rhs, w->sol, w->scratch);
    for (int i = 0; i < k->nrow; i++) a->lambda[k->all_of[i]] = w->sol[k->nu + i];
    a->c = a->last_c = size_of(w, w->sol) / LONGEST;
    return 1;
}

/* probe <- (K + c W)^-1 W probe among the motions that the joints allow; returns its stiffness v.K
 * v / v.W v */
static double probe_again(cst_statics *w, const search *a)
{
    const cst_kkt *k = w->k;
    memset(w->fix, 0, sizeof *w->fix * (size_t)k->n);
    cst_statics_metric(w, a->q, w->probe, w->fix);
    const double *v = w->sol;
    solve(w, w->fix, w->sol);
    double vWp = dot(k->nu, v, w->fix), scale = size_of(w, v);
    if (!(scale * (a->c + w->stiff) > 1e-8) || !isfinite(scale))
        return 0; /* rounding: nothing can move */
    for (int i = 0; i < k->nu; i++) w->probe[i] = v[i] / scale;
    cst_statics_metric(w, a->q, w->probe, w->metric);
    double vWv = dot(k->nu, w->probe, w->metric) * scale * scale;
    return vWv > 0 ? vWp / vWv - a->c : 0;
}

/* delta.K delta / delta.W delta, from the equation that delta solves; metric: W delta */
static double stiffness_along(const cst_statics *w, double c, const double *R, const double *sol)
{
    const cst_kkt *k = w->k;
    double dWd = dot(k->nu, sol, w->metric);
    return dWd > 0 ? (dot(k->nrow, R + k->nu, sol + k->nu) - dot(k->nu, sol, R)) / dWd - c : 0;
}

static void kick(cst_statics *w, search *a)
{
    for (int i = 0; i < w->k->nu; i++) w->xi[i] = KICK * w->probe[i];
    cst_move(&w->s, a->q, w->xi, a->q);
    a->kicks++;
}

/* Takes the step in w->sol, shortened to a->longest, and its correction; returns theta. R: the
 * residual before, metric: W delta. */
static double take(cst_statics *w, search *a, double *R)
{
    const cst_kkt *k = w->k;
    double cut = a->step > a->longest ? a->longest / a->step : 1;
    memcpy(w->back_q, a->q, sizeof *a->q * (size_t)w->s.m->nq);
    memcpy(w->back_lambda, a->lambda, sizeof *a->lambda * (size_t)w->s.m->nrow);
    for (int i = 0; i < k->n; i++)
        R[i] = (1 - cut) * R[i] - (i < k->nu ? cut * a->c * w->metric[i] : 0);
    move(w, a, cut, w->sol);
    if (cst_statics_residual(w, a->q, a->lambda, a->z, w->fix, NULL) != CST_OK) return INFINITY;
    for (int i = 0; i < k->n; i++)
        w->fix[i] = R[i] - w->fix[i]; /* what was expected less what is there */
    solve(w, w->fix, R);
    double theta = size_of(w, R) / (cut * a->step);
    if (theta < 0.9) move(w, a, 1, R);
    if (cut < 1) a->longest = theta < LINEAR ? 2 * a->longest : LONGEST;
    return theta;
}

static void take_back(cst_statics *w, search *a)
{
    memcpy(a->q, w->back_q, sizeof *a->q * (size_t)w->s.m->nq);
    memcpy(a->lambda, w->back_lambda, sizeof *a->lambda * (size_t)w->s.m->nrow);
}

static void set_c(search *a, double c)
{
    a->c = c;
    if (c > 0) a->last_c = c;
}

/* The smallest stiffness that probing finds at an equilibrium; the probe is left in that motion.
 * Inverse iteration with a shift -c finds the motion whose stiffness is nearest to it: shifts of
 * all sizes up to the largest stiffness are tried. */
static double softest_motion(cst_statics *w, search *a)
{
    enum { SHIFTS = 12, PASSES = 3 };
    double least = 0, c = a->c;
    memcpy(w->xi, w->probe, sizeof *w->xi * (size_t)w->k->nu);
    for (int i = 0; i < SHIFTS; i++) {
        a->c = w->stiff * ldexp(1, 4 - 2 * i);
        if (cst_statics_matrix(w, a->q, a->z, a->lambda, a->c) >= 0) continue;
        for (int pass = 0; pass < PASSES; pass++) {
            double y = probe_again(w, a);
            if (y < least) least = y, memcpy(w->xi, w->probe, sizeof *w->xi * (size_t)w->k->nu);
        }
    }
    a->c = c;
    memcpy(w->probe, w->xi, sizeof *w->xi * (size_t)w->k->nu);
    return least;
}

/* One step; 1: converged, 0: to be continued, -1: no further step is possible, -2: an error was
 * reported */
static int advance(cst_statics *w, search *a, cst_diag *d)
{
    const cst_kkt *k = w->k;
    double *R = w->rhs;
    if (cst_statics_residual(w, a->q, a->lambda, a->z, R, d) != CST_OK) return -2;
    if (cst_statics_matrix(w, a->q, a->z, a->lambda, a->c) >=
        0) { /* no pivot: a neutral freedom, or by chance */
        if (a->c > 1e6 * w->stiff) return -1;
        set_c(a, a->c > 0 ? 4 * a->c : fmax(a->last_c, 1e-6 * w->stiff));
        return 0;
    }
    double probe = a->any ? 0 : probe_again(w, a);
    for (int i = 0; i < k->n; i++) w->fix[i] = -R[i];
    solve(w, w->fix, w->sol);
    a->step = size_of(w, w->sol);
    if (!isfinite(a->step)) return -1;
    cst_statics_metric(w, a->q, w->sol, w->metric);
    double along = a->step > 1e-7 ? stiffness_along(w, a->c, R, w->sol) : fmax(probe, 0);
    a->stiffness = a->any ? along : fmin(probe, along);
    if (!a->any && a->stiffness < -UNSTABLE * w->stiff) {
        if (a->step < 1e-4 && probe < -UNSTABLE * w->stiff) {
            if (a->kicks == KICKS) return -1;
            kick(w, a);
            set_c(a, fmax(a->c, -2 * probe));
            return 0;
        }
        if (a->c < -1.5 * a->stiffness) {
            set_c(a, -2 * a->stiffness);
            return 0;
        }
    }
    int floor = a->step < 1e-12 || (a->step < 1e-7 && a->step > 0.5 * a->before);
    a->before = a->c == 0 ? a->step : INFINITY;
    if (a->c == 0 && floor) {
        move(w, a, 1, w->sol);
        double softest = a->any ? 0 : softest_motion(w, a);
        if (softest >= -UNSTABLE * w->stiff) return 1;
        if (a->kicks == KICKS) return -1;
        kick(w, a);
        set_c(a, -2 * softest);
        return 0;
    }
    double theta = take(w, a, R);
    if (!(theta < 1) && a->step > 1e-9) { /* near rounding the measure means nothing */
        take_back(w, a);
        set_c(a, a->c > 0 ? 5 * a->c : fmax(a->last_c, 1e-9 * w->stiff));
        return 0;
    }
    /* Newton's method once c is small against the stiffness that it adds to: the step hardly
     * changes then */
    if (a->step < 1e-9 || (a->step < 0.05 && theta < 0.1 && a->c < 0.2 * a->stiffness))
        set_c(a, 0);
    else
        set_c(a, a->c * (theta < 0.01  ? 0.03
                         : theta < 0.1 ? 0.1
                         : theta < 0.3 ? 0.3
                         : theta > 0.6 ? 2
                                       : 1));
    return 0;
}

static int repeat(cst_statics *w, search *a, int most, int *iterations, cst_diag *d)
{
    for (int it = 0; it < most; it++) {
        ++*iterations;
        int end = advance(w, a, d);
        if (end) return end;
    }
    return -1;
}

static void begin_at_assembly(cst_statics *w, search *a)
{
    const cst_model *m = w->s.m;
    memcpy(a->q, w->assembled, sizeof *a->q * (size_t)m->nq);
    memset(a->lambda, 0, sizeof *a->lambda * (size_t)m->nrow);
    a->before = INFINITY, a->longest = LONGEST;
}

static int search_from(cst_statics *w, search *a, int *iterations, cst_diag *d)
{
    begin_at_assembly(w, a);
    for (int i = 0; i < w->k->nu; i++) { /* a fixed sequence without symmetry */
        unsigned x = (unsigned)(i + 1) * 2654435761u;
        w->probe[i] = w->st->column[i] * ((double)(x >> 8) * 0x1p-24 - 0.3);
    }
    *iterations = 0;
    if (cst_statics_residual(w, a->q, a->lambda, a->z, w->rhs, d) != CST_OK) return -2;
    if (!first_multipliers(w, a)) return -1;
    return repeat(w, a, ITERATIONS, iterations, d);
}

/* Newton's method from where it is. Its first steps may raise the imbalance: a slender beam that
 * bends is stretched by the square of the bend. 1: converged */
static int newton(cst_statics *w, search *a, int *iterations)
{
    const cst_kkt *k = w->k;
    double before = INFINITY;
    for (int it = 0; it < PART_ITERATIONS; it++) {
        ++*iterations;
        if (cst_statics_residual(w, a->q, a->lambda, a->z, w->rhs, NULL) != CST_OK) return 0;
        if (cst_statics_matrix(w, a->q, a->z, a->lambda, 0) >= 0) return 0;
        for (int i = 0; i < k->n; i++) w->fix[i] = -w->rhs[i];
        solve(w, w->fix, w->sol);
        double step = size_of(w, w->sol);
        if (!(step < LONGEST)) return 0;
        move(w, a, 1, w->sol);
        if (step < 1e-12 || (step < 1e-7 && step > 0.5 * before)) return 1;
        before = step;
    }
    return 0;
}

/* The same by parts of the load, each from where the last one ended: r(q) = (1 - part) r(q_k). At
 * its end the search goes on, which sees whether the equilibrium is stable. */
static int search_by_load(cst_statics *w, search *a, int *iterations, cst_diag *d)
{
    const cst_model *m = w->s.m;
    double part = FIRST_PART;
    int done = 0;
    begin_at_assembly(w, a);
    for (int k = 0; k < PARTS && !done && part > LEAST_PART; k++) {
        w->left = 0;
        if (cst_statics_residual(w, a->q, a->lambda, a->z, w->rhs, d) != CST_OK) return -2;
        memcpy(w->first, w->r, sizeof *w->r * (size_t)m->nq);
        memcpy(w->part_q, a->q, sizeof *a->q * (size_t)m->nq),
            memcpy(w->part_lambda, a->lambda, sizeof *a->lambda * (size_t)m->nrow);
        w->left = 1 - part;
        if (newton(w, a, iterations)) {
            done = part == 1, part = fmin(1, 2 * part);
            continue;
        }
        memcpy(a->q, w->part_q, sizeof *a->q * (size_t)m->nq),
            memcpy(a->lambda, w->part_lambda, sizeof *a->lambda * (size_t)m->nrow);
        part /= 4;
    }
    w->left = 0;
    if (!done) return -1;
    a->before = INFINITY, a->longest = LONGEST;
    set_c(a, 0);
    return repeat(w, a, ITERATIONS, iterations, d);
}

/* E(q_a) */
static void remember_held(cst_statics *w)
{
    const cst_model *m = w->s.m;
    memset(w->s.xd, 0, sizeof *w->s.xd * (size_t)m->nx);
    cst_system_place(&w->s, w->t, w->assembled);
    memset(w->phi, 0, sizeof *w->phi * (size_t)m->nrow);
    memset(w->held, 0, sizeof *w->held * (size_t)m->nrow);
    cst_constraints(&w->s, w->mem, CST_ROW_STATICS, w->held);
}

cst_status cst_statics_solve(cst_statics *w, double t, double *mem, double *q, double *z,
                             cst_diag *d)
{
    const cst_model *m = w->s.m;
    int iterations = 0;
    w->t = t;
    memcpy(w->assembled, q, sizeof *q * (size_t)m->nq);
    memcpy(w->mem, mem, sizeof *mem * (size_t)m->memory.n);
    memcpy(w->z, z, sizeof *z * (size_t)m->nz);
    remember_held(w), measure(w);
    search a = {.q = w->q, .z = w->z, .lambda = w->lambda};
    int end = search_from(w, &a, &iterations, d);
    if (end == -1 && a.kicks == KICKS) { /* whatever there is */
        memcpy(w->z, z, sizeof *z * (size_t)m->nz);
        memcpy(w->mem, mem, sizeof *mem * (size_t)m->memory.n);
        a.any = 1;
        end = search_from(w, &a, &iterations, d);
        if (end > 0)
            cst_warn(d, m->statics.where,
                     "t = %g s: no stable static equilibrium was found; the run starts from an "
                     "unstable one",
                     t);
    }
    if (end == -1) {
        memcpy(w->z, z, sizeof *z * (size_t)m->nz);
        memcpy(w->mem, mem, sizeof *mem * (size_t)m->memory.n);
        end = search_by_load(w, &a, &iterations, d);
    }
    if (end < 0) return end == -2 ? CST_NUMERIC : cst_statics_blame(w, iterations, d);
    if (!w->checked) {
        cst_status ok = cst_statics_neutral(w, d);
        if (ok != CST_OK) return ok;
        w->checked = 1;
    }
    /* the states of this position, and the residual's place for what follows */
    cst_status ok = cst_statics_residual(w, w->q, w->lambda, w->z, w->rhs, d);
    if (ok != CST_OK) return ok;
    memcpy(q, w->q, sizeof *q * (size_t)m->nq);
    memcpy(z, w->z, sizeof *z * (size_t)m->nz);
    memcpy(mem, w->mem, sizeof *mem * (size_t)m->memory.n);
    return CST_OK;
}
