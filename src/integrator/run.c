/* SPDX-License-Identifier: MIT
 *
 * A run is opened, and taken from its start through its steps (steps.c) to its objectives. */
#include "integrator/run.h"
#include "base/hash.h"
#include "integrator/auto.h"
#include "integrator/observe.h"
#include "integrator/switching.h"
#include "integrator/traj.h"
#include "integrator/undefined.h"
#include "model/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BRIEF 0.02   /* part of a step: what is shorter follows the rule of brief steps */
#define SLOW 1e-3    /* sizes of a body by which a model at rest may move in a run */
#define LONGEST 0.02 /* of the run: the longest step that is chosen */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cst_options cst_options_default(void)
{
    return (cst_options){.start = NAN, .end = NAN, .step = NAN, .output = NAN};
}

static double pick(double asked, double written) { return isnan(asked) ? written : asked; }

/* The option if it is positive, else the value of the file if that is; NAN: neither was given */
static double asked(double now, double written)
{
    return now > 0 ? now : written > 0 ? written : NAN;
}

static cst_status check_options(cst_run *r, cst_diag *d)
{
    cst_options *o = &r->options;
    const cst_sim *sim = &r->m->sim;
    cst_where nowhere = {.file = r->m->file};
    o->start = pick(o->start, sim->start), o->end = pick(o->end, sim->end);
    o->step = pick(o->step, sim->step), o->output = pick(o->output, sim->output);
    if (!(o->step > 0) || !isfinite(o->step))
        return cst_error(d, CST_USAGE, nowhere, "step must be positive (in s), not %g", o->step);
    if (!(o->end >= o->start) || !isfinite(o->end))
        return cst_error(d, CST_USAGE, nowhere, "end must be at least start = %g s, not %g",
                         o->start, o->end);
    if ((o->end - o->start) / o->step > 1e9)
        return cst_error(d, CST_USAGE, nowhere,
                         "(end - start)/step is %.3g steps; more than 1e9 are not run",
                         (o->end - o->start) / o->step);
    const char *events = o->events ? o->events : sim->events;
    r->events_mode = events && strcmp(events, "frozen") == 0 ? CST_EVENTS_FROZEN
                     : events && strcmp(events, "none") == 0 ? CST_EVENTS_NONE
                                                             : CST_EVENTS_EXACT;
    return CST_OK;
}

/* The equations and the rule that are asked for; whether they go together. */
static cst_status choose(cst_run *r, cst_diag *d, const cst_formulation **formulation,
                         const cst_rule **rule)
{
    const cst_options *o = &r->options;
    const cst_sim *sim = &r->m->sim;
    cst_where here = {.file = r->m->file};
    const char *name = o->formulation ? o->formulation : sim->formulation,
               *by = o->integrator ? o->integrator : sim->integrator;
    const cst_formulation *f =
        cst_formulation_find(strcmp(name, "auto") == 0 ? "index3" : name); /* auto: decided later */
    if (strcmp(name, "auto") == 0 && strcmp(by, "default") != 0)
        return cst_error(d, CST_USAGE, here,
                         "formulation 'auto' chooses the integrator too: leave it out, not '%s'",
                         by);
    if (!f) return cst_error(d, CST_USAGE, here, "there is no formulation '%s'", name);
    if ((f->traits & CST_JOINTS) && !r->m->has_joint_coordinates)
        return cst_error(
            d, CST_USAGE, here,
            "the model has no joint coordinates: load it with simulation.formulation=%s", name);
    char first[32] = "";
    if (strcmp(by, "default") == 0)
        by = strncat(first, f->integrators, strcspn(f->integrators, "|"));
    *formulation = f, *rule = cst_rule_find(by);
    if (!*rule) return cst_error(d, CST_USAGE, here, "there is no integrator '%s'", by);
    if (r->m->held.n && ((*rule)->begin || (*rule)->carries))
        return cst_error(
            d, CST_USAGE, r->m->held.at[0].where,
            "force '%s' reads reactions, which integrator '%s' cannot hold from step to step",
            r->m->held.at[0].name, by);
    if (!cst_formulation_takes(f, by))
        return cst_error(d, CST_USAGE, here,
                         "integrator '%s' does not apply to formulation '%s', which goes with %s",
                         by, f->name, f->integrators);
    return CST_OK;
}

static void objectives_new(cst_arena *a, cst_run *r)
{
    const cst_model *m = r->m;
    r->objective = m->judge;
    r->objective_reg = cst_new(a, double, r->objective->nreg + 1);
    r->objective_bar = cst_new(a, double, r->objective->nreg + 1);
    r->result = cst_new(a, double, m->objective.n + 1);
    r->component = cst_new(a, double, m->component.n + 1);
    r->functional = cst_new(a, cst_functional_state, m->functional.n + 1);
    r->watch = cst_watch_new(a, m);
    r->undefined = cst_undefined_new(a, m);
    r->norm = cst_new(a, cst_norm_state, m->norm.n + 1);
    r->functional_bar = cst_new(a, double, m->functional.n + 1);
    r->value_bar = cst_new(a, double, cst_graph_values(m->graph) + 1);
}

static void release(void *arena) { cst_arena_free(arena); }

/* What depends on the structure, at the system's numbers. Everything that was made for other
 * numbers goes. */
static cst_status analyse(cst_run *r, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena *a = &r->analysis;
    cst_arena_free(a);
    r->st = NULL, r->aside = NULL, r->along = NULL, r->inside.t = NULL;
    memcpy(r->analysed, r->s->leaf, sizeof *r->analysed * (size_t)m->leaf.n);
    cst_structure *st = cst_structure_new(a, r->s, d);
    if (!st) return CST_NUMERIC;
    if (st->drawn_rank < st->rank)
        cst_warn(d, (cst_where){.file = m->file},
                 "the mechanism is drawn in a singular position, where it may branch, and rounding "
                 "decides which way it takes: draw it elsewhere, or prescribe all its rates");
    r->start = cst_start_new(a, r->s, st);
    r->statics = m->statics.wanted ? cst_statics_new(a, r->s, st) : NULL;
    if (m->statics.wanted && !r->statics)
        return cst_error(d, CST_NUMERIC, m->statics.where,
                         "the matrix of the static equilibrium cannot be ordered");
    r->w = cst_motion_new(a, r->s, st, r->out);
    const char *asked_for = r->options.formulation ? r->options.formulation : m->sim.formulation;
    double accuracy = asked(r->options.tolerance, m->sim.tolerance);
    if (strcmp(asked_for, "auto") == 0) {
        cst_auto by = cst_auto_choose(a, r->w, r->options.step, !isnan(accuracy));
        r->formulation = cst_formulation_find(by.formulation),
        r->rule = cst_rule_find(by.integrator);
        snprintf(r->reason, sizeof r->reason, "%s", by.why);
        r->why = r->reason;
    }
    r->options.formulation = r->formulation->name,
    r->options.integrator = r->rule->name; /* what runs */
    r->charts = r->formulation->traits & CST_CHARTED ? cst_new(a, cst_charts, 1) : NULL;
    if (r->formulation->traits & CST_JOINTS) r->charts->joints = 1;
    cst_motion_choose(a, r->w, r->rule,
                      cst_formulation_equations(r->formulation,
                                                asked(r->options.alpha, m->sim.alpha),
                                                asked(r->options.xi, m->sim.xi),
                                                asked(r->options.omega, m->sim.omega)),
                      r->charts);
    r->choices = cst_choices_new(a, r->s, st, r->w->eq);
    cst_rows_open(a, r->w, r->choices);
    r->w->increments = &r->increments;
    r->w->accuracy = isnan(accuracy) ? 1e-6 : accuracy;
    r->w->slow = SLOW / (r->options.end - r->options.start);
    r->w->given = r->options.step,
    r->w->longest = fmax(r->options.step, LONGEST * (r->options.end - r->options.start));
    r->w->controls = r->rule->adaptive == 1 || (r->rule->adaptive == 2 && !isnan(accuracy));
    r->w->brief = r->rule->brief && !r->w->controls ? BRIEF * r->options.step : 0;
    r->w->full = r->options.full_newton;
    r->st = st;
    return CST_OK;
}

#define OTHER 0.01 /* of a number: a change that asks for a new analysis */

/* Which rows are redundant and which spins are held may be another choice at these numbers. */
static int is_stale(const cst_run *r, double by)
{
    int other = 0;
    for (int i = 0; i < r->m->leaf.n && !other; i++)
        other = fabs(r->s->leaf[i] - r->analysed[i]) > by * fabs(r->analysed[i]);
    return other;
}

cst_run *cst_run_new(const cst_model *m, const cst_options *o, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
        return NULL;
    }
    cst_run *r = cst_new(&a, cst_run, 1);
    r->m = m;
    r->options = o ? *o : cst_options_default();
    r->analysis.guard = a.guard;
    cst_arena_defer(&a, release, &r->analysis);
    cst_status ok = check_options(r, d);
    if (ok == CST_OK) ok = choose(r, d, &r->formulation, &r->rule);
    if (ok == CST_OK) {
        r->s = cst_system_new(&a, m, NULL);
        r->out = cst_output_new(&a, m);
        r->analysed = cst_new(&a, double, m->leaf.n + 1);
        ok = analyse(r, d);
    }
    if (ok != CST_OK) {
        cst_arena_free(&a);
        return NULL;
    }
    if (!isnan(asked(r->options.tolerance, m->sim.tolerance)) && !r->rule->adaptive &&
        !r->rule->begin)
        cst_warn(
            d, (cst_where){.file = m->file},
            "integrator '%s' has steps of a given length: the tolerance is not used (rk45 would)",
            r->rule->name);
    r->events = cst_events_new(&a, m);
    r->mem_try = cst_new(&a, double, m->memory.n + 1);
    r->sum_try = cst_new(&a, double, 2 * (m->nu + m->quad.n) + 1);
    for (int i = 0; i < 2; i++) r->state_block[i] = cst_new(&a, double, cst_state_size(m));
    r->assembly_lambda = cst_new(&a, double, m->nrow + 1);
    r->rates_eta = cst_new(&a, double, m->nrow + 1);
    r->mem_drawn = cst_new(&a, double, m->memory.n + 1);
    objectives_new(&a, r);
    r->arena = a;
    r->analysis.guard = &r->arena.guard_storage;
    return r;
}

void cst_run_free(cst_run *r)
{
    if (!r) return;
    cst_arena a = r->arena;
    cst_arena_free(&a);
}

/* ---- a run from its start to its end ---- */

static cst_status begin(cst_run *r, cst_state *y, cst_diag *d)
{
    const cst_model *m = r->m;
    *y->t = r->options.start, *y->h = 0, *y->tag = 0;
    cst_rows_at(r->w, *y->t);
    memset(y->mem, 0, sizeof *y->mem * (size_t)m->memory.n);
    for (int i = 0; i < m->norm.n; i++)
        y->mem[m->norm.at[i].memory] =
            m->norm.at[i].p > 0 ? ldexp(1, -r->norm[i].exponent) : r->norm[i].shift;
    memset(y->quad, 0, sizeof *y->quad * (size_t)m->quad.n);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        memcpy(y->q + b->q0, r->s->P + b->drawn,
               sizeof *y->q * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
    }
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        if (f->nz) memcpy(y->z + f->z0, r->s->P + f->z_start, sizeof *y->z * (size_t)f->nz);
    }
    cst_system_place(r->s, *y->t, y->q);
    cst_system_rest(r->s);
    cst_modes_place(r->s, y->z, 1, y->mem); /* of drives */
    memcpy(r->mem_drawn, y->mem, sizeof *y->mem * (size_t)m->memory.n);
    cst_status ok = cst_assemble(r->start, *y->t, y->mem, y->q, r->assembly_lambda, d);
    if (ok != CST_OK) return ok;
    cst_system_place(r->s, *y->t, y->q);
    cst_memory_update(r->out, r->s, y->mem);
    memset(y->u, 0, sizeof *y->u * (size_t)m->nu);
    cst_events_modes(r->events, r->s, CST_ALL_MODES, *y->t, y->q, y->u, y->z, y->mem);
    if (r->statics) { /* it keeps the remembered values and modes up to date on its way */
        ok = cst_statics_solve(r->statics, *y->t, y->mem, y->q, y->z, d);
        if (ok != CST_OK) return ok;
    }
    if (r->events->drives) {
        cst_system_place(r->s, *y->t, y->q);
        cst_system_rest(r->s);
        cst_modes_place(r->s, y->z, 1, y->mem);
    }
    ok = cst_rates(r->start, *y->t, y->mem, y->q, y->u, r->rates_eta, d);
    if (ok != CST_OK) return ok;
    cst_events_modes(r->events, r->s, CST_ALL_MODES, *y->t, y->q, y->u, y->z, y->mem);
    memset(y->newton, 0, sizeof *y->newton * (size_t)m->nrow);
    memset(y->eta, 0, sizeof *y->eta * (size_t)m->nrow);
    ok = cst_motion_derive(r->w, y, d);
    return ok == CST_OK ? cst_run_switch_start(r, y, d) : ok;
}

static void find_violation(cst_run *r, const cst_state *y)
{
    const cst_model *m = r->m;
    r->violation = 0;
    cst_system_place(r->s, *y->t, y->q);
    cst_constraints(r->s, y->mem, CST_ROW_MOTION, r->s->row);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        for (int j = c->row0; (c->phases & CST_ROW_MOTION) && j < c->row0 + c->cls->nphi; j++)
            r->violation = fmax(r->violation, fabs(r->s->row[j]));
    }
}

void cst_run_control(cst_run *r, cst_control control, void *ctx)
{
    r->control = control;
    r->control_ctx = ctx;
}

int cst_run_goes_on(cst_run *r, const char *phase, double share)
{
    if (r->control && r->control(r->control_ctx, phase, share)) r->stop = 1;
    return !r->stop;
}

static cst_status loop(cst_run *r, cst_diag *d)
{
    cst_state y0 = cst_state_view(r->m, r->state_block[0]),
              y1 = cst_state_view(r->m, r->state_block[1]);
    cst_status ok = begin(r, &y0, d);
    if (ok == CST_OK && r->charts && !r->frozen) ok = cst_charts_review(r->charts, r->w, &y0, d);
    if (ok != CST_OK) return ok;
    ok = cst_run_steps(r, &y0, &y1, d);
    if (r->w->rule->warn && !r->advised)
        r->advised = r->w->rule->warn(r->w, r->options.step, &y0, d);
    if (ok != CST_OK) return ok;
    cst_objectives_eval(r);
    find_violation(r, &y0);
    return r->stop ? CST_STOPPED : CST_OK;
}

static cst_status forward(cst_run *r, const double *numbers, int keep, cst_observer observe,
                          void *ctx, cst_diag *d)
{
    if (CST_ARENA_GUARD(&r->arena))
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    double from = seconds();
    cst_system_bind(r->s, numbers);
    if (numbers && !r->frozen) { /* differences may step a little beyond a bound */
        cst_status fits = cst_numbers_check(r->m, numbers, r->s->val, d);
        if (fits != CST_OK) return fits;
    }
    if (!r->frozen && (!r->st || ((r->st->dep.ndep || r->st->nhold) && is_stale(r, OTHER)))) {
        cst_status ok = analyse(r, d);
        if (ok != CST_OK) return ok;
    }
    cst_structure_bind(r->st, r->s);
    cst_output_bind(r->out, r->s);
    cst_events_bind(r->events, r->s);
    cst_run_switch_begin(r);
    r->pattern = CST_HASH_START, r->instant = 0;
    r->w->n = (cst_counts){0};
    cst_motion_forget(r->w);
    r->w->habits = (cst_habits){.clean = 1, .noise = r->w->tolerance};
    r->w->regular_of = NULL;
    if (r->charts && !r->frozen) r->charts->regular = 0;
    r->drift = 0, r->rejected = 0, r->h_next = r->options.step;
    r->traj = NULL;
    if (keep) {
        cst_status room = cst_traj_begin(r, d);
        if (room != CST_OK) return room;
        r->traj = r->kept;
        r->increments.t.n = r->increments.D.n = 0;
    }
    if (r->charts && !r->frozen) r->charts->list.n = 0, r->charts->arena = &r->analysis;
    if (r->choices && !r->frozen) cst_choices_begin(r->choices, &r->analysis);
    if (!r->frozen) r->grid.n = 0;
    r->begin = (cst_begin){r->options.end, keep, r->options.memory,
                           r->events_mode == CST_EVENTS_NONE ? NULL : r->events, &r->analysis};
    if (r->w->rule->begin) r->w->rule->begin(r->w, &r->begin);
    r->w->forward = 1;
    cst_observe_begin(r, observe, ctx);
    cst_status ok = loop(r, d);
    for (int i = 0; i < r->m->functional.n;
         i++) /* a peak that moves to another step is another function too */
        if (r->m->functional.at[i].kind == CST_PEAK)
            r->pattern = cst_hash(r->pattern, (uint64_t)r->functional[i].state);
    if (!keep) cst_run_switch_warn(r, d);
    r->w->forward = 0;
    r->forward_s = seconds() - from;
    return ok;
}

/* Rows that were chosen for other numbers may not determine the start: then they are chosen again.
 */
static cst_status analysed_forward(cst_run *r, const double *numbers, int keep,
                                   cst_observer observe, void *ctx, cst_diag *d)
{
    cst_system_bind(r->s, numbers);
    if (r->frozen || !r->st || !is_stale(r, 0)) return forward(r, numbers, keep, observe, ctx, d);
    cst_diag first = {0};
    cst_status ok = forward(r, numbers, keep, observe, ctx, &first);
    if (ok == CST_NUMERIC && r->st && is_stale(r, 0) && r->w->n.steps == 0) {
        r->st = NULL;
        return forward(r, numbers, keep, observe, ctx, d);
    }
    if (d) cst_diag_append(d, &first);
    return ok;
}

/* A smoothed peak that leaves the range of numbers needs its scale first: the run is made once
 * more, from its start, so that results do not depend on runs before. Its rows are the same. */
cst_status cst_run_forward(cst_run *r, const double *numbers, int keep, cst_observer observe,
                           void *ctx, cst_diag *d)
{
    for (int i = 0; i < r->m->norm.n && !r->frozen; i++) r->norm[i] = (cst_norm_state){0};
    cst_status ok = analysed_forward(r, numbers, keep, observe, ctx, d);
    if (ok != CST_OK) return ok;
    if (!cst_norms_review(r)) {
        if (!r->frozen) cst_undefined_tell(r, d);
        return ok;
    }
    double first = r->forward_s;
    cst_diag quiet = {0};
    ok = forward(r, numbers, keep, NULL, NULL, &quiet); /* its warnings have been given */
    r->forward_s += first;
    if (quiet.errors)
        cst_error(d, ok, (cst_where){.file = r->m->file},
                  "when the run was repeated with scaled peaks: %s", quiet.text);
    if (ok == CST_OK && !r->frozen) cst_undefined_tell(r, d);
    return ok;
}

void cst_run_forget(cst_run *r) { r->st = NULL; }

cst_status cst_run_simulate(cst_run *r, const double *numbers, cst_observer observe, void *ctx,
                            cst_diag *d)
{
    return cst_run_forward(r, numbers, 0, observe, ctx, d);
}

double cst_run_objective(const cst_run *r, int i) { return r->result[i]; }
double cst_run_measure(const cst_run *r, int i) { return r->component[i]; }

static const char *kink_name(const cst_run *r, int k)
{
    int n = r->events->nkink;
    return k < n ? r->m->kink.at[k].name : r->m->force.at[r->events->piece[k - n]].name;
}

const char *cst_run_kinks(const cst_run *r, int i, long *n)
{
    const cst_events *e = r->events;
    int all = e->nkink + e->npiece;
    for (int k = 0; k < all; k++) {
        int first = 1;
        *n = 0;
        for (int j = 0; j < all && first; j++) {
            if (!e->crossed[j] || strcmp(kink_name(r, j), kink_name(r, k)) != 0) continue;
            first = j >= k, *n += e->crossed[j];
        }
        if (first && *n && i-- == 0) return kink_name(r, k);
    }
    return NULL;
}

cst_stats cst_run_stats(const cst_run *r)
{
    if (!r->st) return (cst_stats){0};
    const cst_counts *n = &r->w->n;
    long again = r->kept ? r->kept->again : 0;
    return (cst_stats){.steps = n->steps - again,
                       .iterations = n->iterations,
                       .factorizations = n->factorizations,
                       .shortened = n->shortened,
                       .time = r->t,
                       .forward_s = r->forward_s,
                       .drift = r->drift,
                       .violation = r->violation,
                       .again = again,
                       .events = r->events->located,
                       .coinciding = r->events->coinciding,
                       .either = cst_incident_count(&r->events->incidents, CST_INCIDENT_ORDERED),
                       .grazing = cst_incident_count(&r->events->incidents, CST_INCIDENT_GRAZED) +
                                  cst_incident_count(&r->events->incidents, CST_INCIDENT_TOUCHED),
                       .chattering =
                           cst_incident_count(&r->events->incidents, CST_INCIDENT_CHATTERS),
                       .kinks = r->events->kinks,
                       .state_bytes = sizeof(double) * cst_state_size(r->m)};
}
