/* SPDX-License-Identifier: MIT
 *
 * The mixed method (Lee and Park): the differentiated equations of motion are written down, their
 * terms are computed by perturbing the residual, and the sensitivities have an integrator and a
 * step of their own, whatever made the motion. With x' = f(x, p) and the residual R(x, p; u',
 * lambda) = b - W (u', lambda) of accelerations and multipliers that are held,
 *
 *     s' = f_x s + f_p:    W (du', dlambda) = R(x + e s, p + e p'; u', lambda)/e,    q' and element
 * states likewise
 *
 * One residual along each number's own sensitivity serves instead of one per coordinate; W is the
 * matrix of the motion, factored once for all numbers. `terms: analytic` takes the exact terms.
 * What objectives read is differentiated analytically, as in the paper. Between stored states the
 * motion is interpolated by Hermite's cubic. */
#include <math.h>
#include <string.h>

#include "integrator/flow.h"
#include "integrator/rows.h"
#include "sensitivity/direction.h"
#include "sensitivity/methods.h"

enum { STAGES = 4 };

typedef struct scheme {
    const char *name;
    int stages;
    double c[STAGES], b[STAGES];
} scheme; /* stage j starts from stage j - 1 alone */

static const scheme schemes[] = {
    {"euler", 1, {0}, {1}},
    {"heun", 2, {0, 1}, {0.5, 0.5}},
    {"rk4", 4, {0, 0.5, 0.5, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}},
};

typedef struct mixed {
    cst_run *r;
    const scheme *scheme;
    int analytic;
    double step, delta;  /* s; perturbation, relative */
    cst_flow *at, *near; /* the motion; a perturbed place beside it */
    const int *leaf;
    int ndir;
    cst_direction *dir;
    double *P, *val;                                 /* numbers as they are */
    double *s, *k[STAGES], *try_s;                   /* (ndir x N), (ndir x N) per stage, (N) */
    double *x, *xd, *x1, *x1d, *size, *rate, *other; /* (N) */
    double *res, *sol;                               /* (n) of the matrix */
    long n;                                          /* the interval in hand: states n, n + 1 */
} mixed;

static void axpy(int n, double c, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += c * x[i];
}

/* ---- the motion ---- */

/* x and x' of a stored state */
static void node(mixed *w, long n, double *x, double *xd)
{
    cst_state y = cst_run_state(w->r, n);
    cst_flow_take(w->at, &y);
    cst_flow_read(w->at, &y, x);
    cst_flow_rates(w->at, xd);
}

/* The flow at time t of the leg, whose interval is looked for from the one in hand on */
static cst_status stand(mixed *w, double t, long end)
{
    while (w->n + 1 < end && *cst_run_state(w->r, w->n + 1).t <= t) w->n++;
    double t0 = *cst_run_state(w->r, w->n).t, t1 = *cst_run_state(w->r, w->n + 1).t, h = t1 - t0;
    double a = h > 0 ? (t - t0) / h : 0, b = 1 - a;
    node(w, w->n + 1, w->x1, w->x1d);
    node(w, w->n, w->x, w->xd); /* its remembered values hold up to the next one */
    for (int i = 0; i < w->at->n; i++)
        w->x[i] = b * b * (1 + 2 * a) * w->x[i] + a * a * (1 + 2 * b) * w->x1[i] +
                  a * b * h * (b * w->xd[i] - a * w->x1d[i]);
    cst_rows_at(w->at->w, t);
    return cst_flow_place(w->at, t, w->x);
}

/* ---- rates of the sensitivities ---- */

static void sizes(mixed *w)
{
    const cst_flow *f = w->at;
    const cst_motion *work = f->w;
    double fastest = 1e-3;
    int quads = f->n - work->s->m->quad.n;
    for (int i = 0; i < f->nq; i++) w->size[i] = work->st->ambient[f->ch ? f->ch->q[i] : i];
    for (int i = 0; i < f->nu; i++) {
        w->size[f->nq + i] = f->ch ? w->size[i] : work->st->column[i];
        fastest = fmax(fastest, fabs(f->x[f->nq + i]) / w->size[f->nq + i]);
    }
    for (int i = f->nq; i < f->nq + f->nu; i++) w->size[i] *= fastest;
    for (int i = f->nq + f->nu; i < quads; i++) w->size[i] = f->x[i] != 0 ? fabs(f->x[i]) : 1;
    for (int i = quads; i < f->n; i++)
        w->size[i] = INFINITY; /* integrals do not act on the motion */
}

static void perturb(mixed *w, const cst_direction *dir, double e)
{
    cst_system *s = w->r->s;
    const cst_model *m = s->m;
    for (int i = 0; i < m->bound.n; i++) s->P[i] = w->P[i] + (e != 0 ? e * dir->P[i] : 0);
    for (int i = 0; i < cst_graph_values(m->graph); i++)
        s->val[i] = w->val[i] + (e != 0 ? e * dir->val[i] : 0);
    s->placed = s->rated = 0;
    cst_gravity_bind(s);
    cst_output_bind(w->r->out, s);
}

/* x' at the perturbed place, where u' and lambda are those of the motion plus e times the solution
 * of the differentiated equation */
static cst_status perturbed_rates(mixed *w, double e, double *rate)
{
    cst_flow *f = w->at, *g = w->near;
    cst_motion *work = f->w;
    const cst_kkt *k = work->k;
    const cst_model *m = work->s->m;
    if (cst_flow_position(g, *f->y.t, w->other) != CST_OK) return CST_NUMERIC;
    memcpy(g->y.ud, f->y.ud, sizeof(double) * (size_t)m->nu),
        memcpy(g->y.lambda, f->y.lambda, sizeof(double) * (size_t)m->nrow);
    cst_motion_residual(work, &g->y, w->res);
    for (int i = 0; i < k->n; i++) w->res[i] /= e;
    cst_kkt_solve(k, work->project, work->project_val, work->st->eps, w->res, w->sol,
                  work->scratch);
    axpy(m->nu, e, w->sol, g->y.ud);
    for (int i = 0; i < k->nrow; i++) g->y.lambda[k->all_of[i]] += e * w->sol[k->nu + i];
    work->react_at = NULL;
    cst_motion_integrand(work, &g->y);
    cst_flow_turn(g);
    cst_flow_rates(g, rate);
    return CST_OK;
}

/* sd = change of x' with s and the number, at the flow's place */
static cst_status rates_change(mixed *w, int d, const double *s, double *sd)
{
    cst_flow *f = w->at;
    cst_direction *dir = &w->dir[d];
    int N = f->n;
    if (w->analytic) {
        cst_flow_place_change(f, dir->t, s);
        cst_status ok = cst_tangent_derive(dir->t, &f->y, d == 0 && f->w->ambiguous);
        if (ok == CST_OK) cst_flow_rates_change(f, dir->t, sd);
        return ok;
    }
    double p = fabs(w->r->s->leaf[w->leaf[d]]), most = 1 / (p > 0 ? p : 1);
    for (int i = 0; i < N; i++) most = fmax(most, fabs(s[i]) / w->size[i]);
    double e = w->delta / most;
    for (int i = 0; i < N; i++) w->other[i] = f->x[i] + e * s[i];
    cst_flow_begin(w->near, f->ch, &f->y);
    perturb(w, dir, e);
    cst_status ok = perturbed_rates(w, e, sd);
    perturb(w, dir, 0);
    for (int i = 0; i < N; i++) sd[i] = (sd[i] - w->rate[i]) / e;
    if (ok == CST_OK && f->w->ambiguous)
        ok = cst_flow_place(f, *f->y.t, f->x); /* reading reactions has taken the factors */
    return ok;
}

/* ---- steps ---- */

static cst_status step(mixed *w, double t, double h, long end)
{
    const scheme *c = w->scheme;
    int N = w->at->n;
    for (int j = 0; j < c->stages; j++) {
        cst_status ok = stand(w, t + c->c[j] * h, end);
        if (ok != CST_OK) return ok;
        sizes(w);
        cst_flow_rates(w->at, w->rate);
        for (int d = 0; d < w->ndir; d++) {
            size_t o = (size_t)d * (size_t)N;
            memcpy(w->try_s, w->s + o, sizeof *w->s * (size_t)N);
            if (j) axpy(N, h * c->c[j], w->k[j - 1] + o, w->try_s);
            if ((ok = rates_change(w, d, w->try_s, w->k[j] + o)) != CST_OK) return ok;
        }
    }
    for (int j = 0; j < c->stages; j++) axpy(w->ndir * N, h * c->b[j], w->k[j], w->s);
    return CST_OK;
}

/* From stored state `from` to `to`, in steps of the same length; nothing happens between them */
static cst_status leg(mixed *w, long from, long to)
{
    cst_state a = cst_run_state(w->r, from);
    double t0 = *a.t, t1 = *cst_run_state(w->r, to).t;
    long steps = lround(ceil((t1 - t0) / w->step - 1e-9));
    w->n = from;
    cst_status ok = CST_OK;
    for (long i = 0; i < steps && ok == CST_OK; i++)
        ok = step(w, t0 + (double)i * (t1 - t0) / (double)steps, (t1 - t0) / (double)steps, to);
    return ok;
}

/* Does a functional read state n? */
static int asked(const cst_run *r, long n)
{
    for (int i = 0; i < r->m->functional.n; i++) {
        const cst_functional_state *f = &r->functional[i];
        int kind = r->m->functional.at[i].kind;
        if (kind == CST_START && n == 0) return 1;
        if (kind == CST_PEAK && n == f->state) return 1;
        if (kind == CST_AT && (n == f->state || n == f->state - 1)) return 1;
    }
    return n == r->traj->n - 1;
}

/* The changes of state n, from s, derived and observed; they stay in the tangents */
static cst_status observe(mixed *w, long n)
{
    cst_state y = cst_run_state(w->r, n);
    cst_flow *f = w->at;
    cst_flow_remember(f, y.mem);
    cst_flow_read(f, &y, w->x);
    cst_rows_at(f->w, *y.t);
    cst_status ok = cst_flow_place(f, *y.t, w->x);
    for (int d = 0; d < w->ndir && ok == CST_OK; d++) {
        cst_flow_place_change(f, w->dir[d].t, w->s + (size_t)d * (size_t)f->n);
        ok = cst_tangent_derive(w->dir[d].t, &f->y, d == 0 && f->w->ambiguous);
        if (ok == CST_OK && asked(w->r, n)) cst_direction_observe(w->r, &w->dir[d], d, n);
    }
    return ok;
}

/* x belongs to the chart of state n from here on */
static void begin(mixed *w, long n)
{
    cst_state y = cst_run_state(w->r, n);
    cst_flow_begin(w->at, cst_chart_at(w->at->w->charts, *y.t), &y);
    for (int d = 0; d < w->ndir; d++)
        cst_flow_read_change(w->at, &y, w->dir[d].t, w->s + (size_t)d * (size_t)w->at->n);
}

static cst_status sweep(cst_run *r, void *ctx, int ndir, cst_direction *dir)
{
    mixed *w = ctx;
    w->ndir = ndir, w->dir = dir;
    const cst_chart *ch = cst_chart_at(w->at->w->charts, *cst_run_state(r, 0).t);
    begin(w, 0);
    cst_status ok = observe(w, 0);
    for (long n = 1, from = 0; n < r->traj->n && ok == CST_OK; n++) {
        cst_state y = cst_run_state(r, n);
        const cst_chart *now = cst_chart_at(w->at->w->charts, *y.t);
        int changes = *y.tag != 0 || now != ch;
        if (!changes && !asked(r, n)) continue;
        ok = leg(w, from, n);
        if (ok == CST_OK) ok = observe(w, n);
        if (ok == CST_OK && changes) begin(w, n);
        from = n, ch = now;
    }
    w->leaf += ndir;
    return ok;
}

static mixed *mixed_new(cst_arena *a, cst_run *r, int ndir)
{
    const cst_model *m = r->m;
    mixed *w = cst_new(a, mixed, 1);
    size_t N = (size_t)cst_flow_most(r->w) + 1;
    w->r = r;
    w->at = cst_flow_new(a, r->w, 0), w->near = cst_flow_new(a, r->w, 0);
    w->P = cst_new(a, double, m->bound.n + 1),
    w->val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    memcpy(w->P, r->s->P, sizeof *w->P * (size_t)m->bound.n);
    memcpy(w->val, r->s->val, sizeof *w->val * (size_t)cst_graph_values(m->graph));
    w->s = cst_new(a, double, (size_t)ndir *N);
    for (int j = 0; j < STAGES; j++) w->k[j] = cst_new(a, double, (size_t)ndir *N);
    double **part[] = {&w->try_s, &w->x, &w->xd, &w->x1, &w->x1d, &w->size, &w->rate, &w->other};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) *part[i] = cst_new(a, double, N);
    w->res = cst_new(a, double, r->w->k->n + 1), w->sol = cst_new(a, double, r->w->k->n + 1);
    return w;
}

cst_status cst_gradient_mixed(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d)
{
    cst_arena a = {0};
    cst_where here = {.file = r->m->file};
    const cst_options *o = &r->options;
    const cst_sim *sim = &r->m->sim;
    cst_status ok = cst_continuous_applies(r, d);
    if (ok != CST_OK) return ok;
    const char *name = o->sensitivity ? o->sensitivity : sim->sensitivity,
               *terms = o->terms ? o->terms : sim->terms;
    const scheme *found = NULL;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strcmp(schemes[i].name, name) == 0) found = &schemes[i];
    if (!found)
        return cst_error(d, CST_USAGE, here,
                         "sensitivities are integrated by euler, heun or rk4, not by '%s'", name);
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    mixed *w = mixed_new(&a, r, nleaf < CST_TOGETHER ? nleaf : CST_TOGETHER);
    w->scheme = found, w->leaf = leaf;
    w->analytic = strcmp(terms, "analytic") == 0;
    w->step = o->sensitivity_step > 0     ? o->sensitivity_step
              : sim->sensitivity_step > 0 ? sim->sensitivity_step
                                          : o->step;
    w->delta = o->perturbation > 0     ? o->perturbation
               : sim->perturbation > 0 ? sim->perturbation
                                       : 1e-7;
    const cst_sweep_of steps = {sweep, w};
    ok = cst_gradient_forward(r, &a, r->w, &steps, nleaf, leaf, grad);
    cst_arena_free(&a);
    return ok == CST_OK
               ? CST_OK
               : cst_error(d, ok, here,
                           "the mixed method failed: a perturbed state has no accelerations");
}
