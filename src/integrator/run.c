/* SPDX-License-Identifier: MIT
 *
 * The start, the time loop, functionals and objectives. */
#include "integrator/run.h"
#include "integrator/auto.h"
#include "integrator/newton.h"
#include "integrator/observe.h"
#include "integrator/switching.h"
#include "integrator/traj.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define BEHIND 24     /* steps that are counted from an event before the grid is taken up again */
#define NEAR 1e-3     /* part of a step in which a point of the grid counts as reached */
#define SHORTEST 1e-6 /* of the step asked for: below that a failing step ends the run */
#define TURN 2.0      /* rad by which a body may turn in a step: beyond half a turn nothing tells forwards from backwards, */
#define TURN_CHART 0.3 /* and beyond a quarter an entry of its directions no longer tells its position: charts have a third left (chart.c) */
#define FAILURES 1000 /* so many, and ten per step asked for, end it too: a motion that blows up would go on for hours */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cst_options cst_options_default(void) { return (cst_options){.start = NAN, .end = NAN, .step = NAN, .output = NAN}; }

static double pick(double asked, double written) { return isnan(asked) ? written : asked; }

/* 0 and NAN: not given; NAN: nobody has said it */
static double asked(double now, double written) { return now > 0 ? now : written > 0 ? written : NAN; }

static cst_status check_options(cst_run *r, cst_diag *d)
{
    cst_options *o = &r->options;
    const cst_sim *sim = &r->m->sim;
    cst_where nowhere = {.file = r->m->file};
    o->start = pick(o->start, sim->start), o->end = pick(o->end, sim->end);
    o->step = pick(o->step, sim->step), o->output = pick(o->output, sim->output);
    if (!(o->step > 0) || !isfinite(o->step)) return cst_error(d, CST_USAGE, nowhere, "step must be positive s, not %g", o->step);
    if (!(o->end >= o->start) || !isfinite(o->end))
        return cst_error(d, CST_USAGE, nowhere, "end must be at least start = %g s, not %g", o->start, o->end);
    if ((o->end - o->start) / o->step > 1e9)
        return cst_error(d, CST_USAGE, nowhere, "(end - start)/step is %.3g steps; more than 1e9 are not run", (o->end - o->start) / o->step);
    const char *events = o->events ? o->events : sim->events;
    r->events_mode = events && strcmp(events, "frozen") == 0 ? CST_EVENTS_FROZEN
                     : events && strcmp(events, "none") == 0 ? CST_EVENTS_NONE : CST_EVENTS_EXACT;
    return CST_OK;
}

/* The equations and the rule that are asked for; whether they go together. */
static cst_status choose(cst_run *r, cst_diag *d, const cst_formulation **formulation, const cst_rule **rule)
{
    const cst_options *o = &r->options;
    const cst_sim *sim = &r->m->sim;
    cst_where here = {.file = r->m->file};
    const char *name = o->formulation ? o->formulation : sim->formulation, *by = o->integrator ? o->integrator : sim->integrator;
    const cst_formulation *f = cst_formulation_find(strcmp(name, "auto") == 0 ? "index3" : name); /* auto: decided later */
    if (strcmp(name, "auto") == 0 && strcmp(by, "default") != 0)
        return cst_error(d, CST_USAGE, here, "formulation 'auto' chooses the integrator too: leave it out, not '%s'", by);
    if (!f) return cst_error(d, CST_USAGE, here, "there is no formulation '%s'", name);
    if ((f->traits & CST_JOINTS) && !r->m->has_joint_coordinates)
        return cst_error(d, CST_USAGE, here, "the model has no joint coordinates: load it with simulation.formulation=%s", name);
    char first[32] = "";
    if (strcmp(by, "default") == 0) by = strncat(first, f->integrators, strcspn(f->integrators, "|"));
    *formulation = f, *rule = cst_rule_find(by);
    if (!*rule) return cst_error(d, CST_USAGE, here, "there is no integrator '%s'", by);
    if (r->m->held.n && ((*rule)->begin || (*rule)->carries))
        return cst_error(d, CST_USAGE, r->m->held.at[0].where, "force '%s' reads reactions, which integrator '%s' cannot hold from step to step",
                         r->m->held.at[0].name, by);
    const char *found = strstr(f->integrators, by);
    size_t n = strlen(by);
    while (found && !((found == f->integrators || found[-1] == '|') && (found[n] == '|' || !found[n]))) found = strstr(found + 1, by);
    if (!found)
        return cst_error(d, CST_USAGE, here, "integrator '%s' does not apply to formulation '%s', which goes with %s", by, f->name,
                         f->integrators);
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
    r->functional_bar = cst_new(a, double, m->functional.n + 1);
    r->value_bar = cst_new(a, double, cst_graph_values(m->graph) + 1);
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
    const cst_formulation *formulation = NULL;
    const cst_rule *rule = NULL;
    cst_status ok = check_options(r, d);
    if (ok == CST_OK) ok = choose(r, d, &formulation, &rule);
    if (ok == CST_OK) {
        r->s = cst_system_new(&a, m, NULL);
        r->st = cst_structure_new(&a, r->s, d);
        if (!r->st) ok = CST_NUMERIC;
    }
    if (ok != CST_OK) {
        cst_arena_free(&a);
        return NULL;
    }
    r->out = cst_output_new(&a, m);
    r->start = cst_start_new(&a, r->s, r->st);
    if (m->statics.wanted) {
        r->statics = cst_statics_new(&a, r->s, r->st);
        if (!r->statics) {
            cst_error(d, CST_NUMERIC, m->statics.where, "the matrix of the static equilibrium cannot be ordered");
            cst_arena_free(&a);
            return NULL;
        }
    }
    r->w = cst_motion_new(&a, r->s, r->st, r->out);
    const char *asked_for = r->options.formulation ? r->options.formulation : m->sim.formulation, *by;
    if (strcmp(asked_for, "auto") == 0) {
        formulation = cst_formulation_find(cst_auto_formulation(&a, r->w, r->options.step, &by));
        rule = cst_rule_find(by);
    }
    r->options.formulation = formulation->name, r->options.integrator = rule->name; /* what runs */
    if (formulation->traits & CST_CHARTED) r->charts = cst_new(&a, cst_charts, 1);
    if (formulation->traits & CST_JOINTS) r->charts->joints = 1;
    cst_motion_choose(&a, r->w, rule, cst_formulation_equations(formulation, asked(r->options.alpha, m->sim.alpha),
                                                                asked(r->options.xi, m->sim.xi),
                                                                asked(r->options.omega, m->sim.omega)),
                      r->charts);
    r->choices = cst_choices_new(&a, r->s, r->st, r->w->eq);
    cst_rows_open(&a, r->w, r->choices);
    r->w->increments = &r->increments;
    double accuracy = asked(r->options.tolerance, m->sim.tolerance);
    r->w->accuracy = isnan(accuracy) ? 1e-6 : accuracy;
    r->w->controls = rule->adaptive == 1 || (rule->adaptive == 2 && !isnan(accuracy));
    r->w->full = r->options.full_newton;
    r->events = cst_events_new(&a, m);
    r->mem_try = cst_new(&a, double, m->memory.n + 1);
    r->sum_try = cst_new(&a, double, 2 * (m->nu + m->quad.n) + 1);
    r->event_done = cst_new(&a, unsigned char, m->event.n + 1);
    for (int i = 0; i < 2; i++) r->state_block[i] = cst_new(&a, double, cst_state_size(m));
    r->assembly_lambda = cst_new(&a, double, m->nrow + 1);
    r->rates_eta = cst_new(&a, double, m->nrow + 1);
    r->mem_drawn = cst_new(&a, double, m->memory.n + 1);
    objectives_new(&a, r);
    r->arena = a;
    return r;
}

void cst_run_free(cst_run *r)
{
    if (!r) return;
    cst_arena a = r->arena;
    cst_arena_free(&a);
}

/* ---- the loop ---- */

static void evaluate(cst_run *r, const cst_state *y, const cst_state *before, long index)
{
    cst_observe_outputs(r, y);
    if (r->along) cst_asked_slopes(r, y);
    cst_functionals_at(r, y, before, index);
    if (r->samples) cst_samples_state(r->samples, r->out, *y->t, before ? *before->t : *y->t, r->along != NULL, index);
}

static cst_status begin(cst_run *r, cst_state *y, cst_diag *d)
{
    const cst_model *m = r->m;
    *y->t = r->options.start, *y->h = 0, *y->tag = 0;
    cst_rows_at(r->w, *y->t);
    memset(y->mem, 0, sizeof *y->mem * (size_t)m->memory.n);
    memset(y->quad, 0, sizeof *y->quad * (size_t)m->quad.n);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        memcpy(y->q + b->q0, r->s->P + b->drawn, sizeof *y->q * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
    }
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        if (f->nz) memcpy(y->z + f->z0, r->s->P + f->z_start, sizeof *y->z * (size_t)f->nz);
    }
    cst_status ok = cst_assemble(r->start, *y->t, y->mem, y->q, r->assembly_lambda, d);
    if (ok != CST_OK) return ok;
    cst_system_place(r->s, *y->t, y->q);
    cst_memory_update(r->out, r->s, y->mem);
    memset(y->u, 0, sizeof *y->u * (size_t)m->nu);
    cst_events_eval(r->events, r->s, *y->t, y->q, y->u, y->z, y->mem);
    cst_events_modes(r->events, m, 1, y->mem);
    if (r->statics) { /* it keeps the remembered values and modes up to date on its way */
        ok = cst_statics_solve(r->statics, *y->t, y->mem, y->q, y->z, d);
        if (ok != CST_OK) return ok;
    }
    ok = cst_rates(r->start, *y->t, y->mem, y->q, y->u, r->rates_eta, d);
    if (ok != CST_OK) return ok;
    cst_events_eval(r->events, r->s, *y->t, y->q, y->u, y->z, y->mem);
    cst_events_modes(r->events, m, 1, y->mem);
    memset(y->newton, 0, sizeof *y->newton * (size_t)m->nrow);
    memset(y->eta, 0, sizeof *y->eta * (size_t)m->nrow);
    ok = cst_motion_derive(r->w, y, d);
    return ok == CST_OK ? cst_run_switch_start(r, y, d) : ok;
}

/* What coincides comes in an order that rounding decides: the tags of an instant are added up. */
static void note_pattern(cst_run *r, const cst_state *y1)
{
    unsigned long long tag = (unsigned long long)(long long)(4 * *y1->tag) * 0x9e3779b97f4a7c15u;
    if (*y1->h > 0) r->pattern = (r->pattern ^ r->instant) * 1099511628211u, r->instant = 0; /* FNV-1a */
    r->instant += tag ^ tag >> 29;
}

/* Steps that end at events or, on a grid, that were shortened or lead back to it */
static int is_short(const cst_run *r, const cst_state *y1)
{
    if (!r->w->rule->keep || *y1->h == 0) return 0;
    return *y1->tag >= 1 || (!r->w->controls && *y1->h < 0.5 * r->options.step);
}

void cst_run_accept(cst_run *r, cst_state *y0, cst_state *y1, long *index)
{
    evaluate(r, y1, y0, ++*index);
    if (r->traj) cst_traj_add(&r->arena, r->traj, y1->t);
    if (r->traj && is_short(r, y1)) r->w->rule->keep(&r->arena, r->w, *y1->t, &r->increments);
    note_pattern(r, y1);
    cst_state swap = *y0;
    *y0 = *y1, *y1 = swap;
    r->t = *y0->t;
}

cst_status cst_run_hold(cst_run *r, const cst_state *y0, cst_state *y1, cst_diag *d)
{
    cst_observe_outputs(r, y0);
    memcpy(y1->t, y0->t, sizeof(double) * cst_state_size(r->m));
    for (int i = 0; i < r->m->held.n; i++) y1->z[r->m->held.at[i].z] = cst_output_value(r->out, r->out->held + i);
    *y1->h = 0, *y1->tag = CST_TAG_HOLD;
    cst_rows_at(r->w, *y0->t);
    return cst_motion_derive(r->w, y1, d);
}

static cst_status hold(cst_run *r, cst_state *y0, cst_state *y1, long *index, cst_diag *d)
{
    if (!r->m->held.n) return CST_OK;
    cst_status ok = cst_run_hold(r, y0, y1, d);
    if (ok == CST_OK) cst_run_accept(r, y0, y1, index);
    return ok;
}

/* Adaptive rules: the length of the next try after one of length h. A rule that factors a matrix for each length keeps it
 * until another is worth that. */
static double suggest(const cst_run *r, double h)
{
    double f = fmin(5, fmax(0.2, 0.9 * pow(fmax(r->w->error, 1e-10), -1.0 / r->w->rule->order)));
    return r->w->rule->adaptive == 2 && r->w->error <= 1 && f < 1.4 ? h : h * f;
}

static double most_turn(const cst_run *r) { return r->charts && !r->charts->joints ? TURN_CHART : TURN; }

/* The fastest rotation of all bodies at y, rad/s; 0 where it does not matter: multistep rules have steps of their own, and steps that
 * are taken again have been judged */
static double spin(const cst_run *r, const cst_state *y, int *body)
{
    const cst_model *m = r->m;
    double most = 0;
    if (r->w->rule->begin || (r->frozen && r->w->controls)) return 0;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        const double *w = y->u + b->u0 + b->cls->first_of_direction;
        if (!b->cls->settle) continue;
        double w2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        if (w2 > most) most = w2, *body = i;
    }
    return sqrt(most);
}

/* The longest step from y, as a whole part of `left`, in which no body turns too far */
static double unhurried(cst_run *r, const cst_state *y, double left, cst_diag *d)
{
    int body = 0;
    double turn = left * spin(r, y, &body);
    if (!(turn > most_turn(r))) return left;
    const cst_body *b = &r->m->body.at[body];
    if (!r->hurried && !r->w->controls)
        cst_warn(d, b->where, "t = %.6g s: body '%s' turns by %.3g rad in a step of %.3g s: it is cut into parts of at most %g rad", *y->t,
                 b->name, turn, left, most_turn(r));
    r->hurried = 1;
    return left / ceil(turn / most_turn(r));
}

static cst_status turns_too_fast(const cst_run *r, const cst_state *y, double h, cst_diag *d)
{
    int body = 0;
    double turn = h * spin(r, y, &body);
    const cst_body *b = &r->m->body.at[body];
    return cst_error(d, CST_NUMERIC, b->where, "t = %.6g s: body '%s' turns by %.3g rad even in a step of %.2g s", *y->t, b->name, turn, h);
}

/* From y0 to time t1, in one step or, when Newton fails, in shorter ones; not beyond an event, unless the rule is adaptive: that
 * stops after its first step. y0 and y1 are swapped as steps are accepted. free: the length is given and t1 moves with the start. */
static cst_status advance(cst_run *r, cst_state *y0, cst_state *y1, double t1, int free, cst_diag *d, long *index, int *met)
{
    int said = d->errors, adaptive = r->w->controls && !r->frozen, body = 0;
    *met = 0;
    double h = adaptive ? fmin(r->h_next, t1 - *y0->t) : t1 - *y0->t;
    while (*y0->t < t1) {
        double left = t1 - *y0->t;
        double most = unhurried(r, y0, left, d);
        if (most < left && most < SHORTEST * r->options.step) return turns_too_fast(r, y0, SHORTEST * r->options.step, d);
        h = fmin(h, most);
        int last = h >= left * (1 - 1e-9);
        if (last) h = left;
        cst_rows_at(r->w, *y0->t);
        cst_status ok = r->w->rule->step(r->w, y0, h, y1);
        if (ok == CST_OK && adaptive && r->w->error > 1) {
            r->rejected++;
            h = suggest(r, h);
            if (h < SHORTEST * r->options.step) return cst_newton_blame(r->w, *y0->t, h, d);
            continue;
        }
        if (ok == CST_OK && h * spin(r, y1, &body) > 1.5 * most_turn(r)) { /* it has come to that in this very step */
            r->w->n.shortened++;
            h /= 2;
            if (h < SHORTEST * r->options.step) return turns_too_fast(r, y1, h, d);
            continue;
        }
        if (ok == CST_OK) {
            if (*y1->h < h) last = 0, h = *y1->h;
            if (last) *y1->t = t1;
            if (free) *y1->tag = CST_TAG_FREE;
            ok = cst_run_switch(r, y0, y1, h, index, d, met);
            if (ok == CST_OK && *met) ok = hold(r, y0, y1, index, d);
            if (ok == CST_OK && *met && !r->w->controls) return CST_OK;
            if (ok == CST_OK && *met) h = adaptive ? fmin(r->h_next, t1 - *y0->t) : t1 - *y0->t;
            if (ok == CST_OK && *met) continue;
            if (d->errors > said) return ok;
        }
        if (ok != CST_OK) {
            r->w->n.shortened++;
            h /= 2;
            if (r->w->rule->blame) return r->w->rule->blame(r->w, *y0->t, d); /* it has tried shorter ones itself */
            if (h < SHORTEST * r->options.step || (double)r->w->n.shortened > FAILURES + 10 * (*y0->t - r->options.start) / r->options.step)
                return cst_newton_blame(r->w, *y0->t, h, d);
            continue;
        }
        if ((ok = cst_observe_step(r, y0, y1, d)) != CST_OK) return ok;
        cst_run_accept(r, y0, y1, index);
        if ((ok = hold(r, y0, y1, index, d)) != CST_OK) return ok;
        if (!r->frozen) cst_rows_review(r->choices, r->w, y0);
        if (r->charts && !r->frozen && (ok = cst_charts_review(r->charts, r->w, y0, d)) != CST_OK) return ok;
        if (adaptive) {
            *cst_push(&r->arena, &r->grid) = *y0->t;
            if (!last || r->w->error > 0.5) r->h_next = suggest(r, h);
            return CST_OK;
        }
        h *= 2; /* after a failure: back to the step asked for */
    }
    return CST_OK;
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

/* Where the next step ends: on the grid. But what an event sets off is fast, and the error of the first steps behind it depends on
 * their lengths: these are counted from the event, so that they do not change with its instant. Then the next point of the grid,
 * however near: as its step shrinks to nothing it becomes the point before, so that results do not jump where the number of steps
 * changes. Only below NEAR of a step, where rounding would be divided by its length, it is made longer by one. */
static double next_end(const cst_run *r, double t, long steps, int *behind, int *free)
{
    const cst_options *o = &r->options;
    double h = o->step;
    *free = *behind > 0 && t + (1 + NEAR) * h < o->end;
    *behind = *free ? *behind - 1 : 0;
    if (*free) return t + h;
    long i = (long)floor((t - o->start) / h + NEAR) + 1;
    return i >= steps ? o->end : o->start + (double)i * h;
}

/* Steps of one length, up to the end; rows of results at each, or at the first step that is not before each output. */
static cst_status even_steps(cst_run *r, cst_state *y0, cst_state *y1, long *index, cst_diag *d)
{
    const cst_options *o = &r->options;
    long steps = lround(ceil((o->end - o->start) / o->step - 1e-9)), row = 1;
    double every = o->output > 0 ? o->step * (double)lround(fmax(1, o->output / o->step)) : 0, slack = 1e-6 * o->step;
    int behind = 0, free, met;
    cst_status ok = CST_OK;
    while (*y0->t < o->end && !r->stop) {
        double t1 = next_end(r, *y0->t, steps, &behind, &free);
        if ((ok = advance(r, y0, y1, t1, free, d, index, &met)) != CST_OK || (ok = cst_rows_watch(r->w, y0, &r->drift, d)) != CST_OK) return ok;
        if (met) behind = BEHIND;
        int last = *y0->t >= o->end;
        if (!last && met) continue;
        cst_observe_state(r, y0, last || every == 0 || *y0->t >= o->start + (double)row * every - slack);
        while (every > 0 && o->start + (double)row * every <= *y0->t + slack) row++;
    }
    return CST_OK;
}

/* Steps chosen by their error, or those of the run before */
static cst_status chosen_steps(cst_run *r, cst_state *y0, cst_state *y1, long *index, cst_diag *d)
{
    cst_status ok = CST_OK;
    for (int i = 0, met; *y0->t < r->options.end && !r->stop; i++) {
        double t1 = r->frozen && i < r->grid.n ? r->grid.at[i] : cst_asked_next(r);
        if ((ok = advance(r, y0, y1, t1, 0, d, index, &met)) != CST_OK || (ok = cst_rows_watch(r->w, y0, &r->drift, d)) != CST_OK) return ok;
        if (!r->stop) cst_observe_state(r, y0, cst_observe_row(r, y0));
    }
    return CST_OK;
}

static cst_status loop(cst_run *r, cst_diag *d)
{
    cst_state y0 = cst_state_view(r->m, r->state_block[0]), y1 = cst_state_view(r->m, r->state_block[1]);
    long index = 0;
    cst_status ok = begin(r, &y0, d);
    if (ok == CST_OK && r->charts && !r->frozen) ok = cst_charts_review(r->charts, r->w, &y0, d);
    if (ok != CST_OK) return ok;
    cst_functionals_begin(r);
    if (r->samples) cst_samples_begin(r->samples);
    evaluate(r, &y0, NULL, 0);
    if (r->traj) cst_traj_add(&r->arena, r->traj, y0.t);
    r->t = r->options.start;
    if ((ok = hold(r, &y0, &y1, &index, d)) != CST_OK) return ok;
    cst_observe_state(r, &y0, 1);
    ok = r->w->controls ? chosen_steps(r, &y0, &y1, &index, d) : even_steps(r, &y0, &y1, &index, d);
    if (r->w->rule->warn && !r->advised) r->advised = r->w->rule->warn(r->w, r->options.step, &y0, d);
    if (ok != CST_OK) return ok;
    cst_objectives_eval(r);
    find_violation(r, &y0);
    return r->stop ? CST_STOPPED : CST_OK;
}

cst_status cst_run_forward(cst_run *r, const double *numbers, int keep, cst_observer observe, void *ctx, cst_diag *d)
{
    if (CST_ARENA_GUARD(&r->arena)) return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    double from = seconds();
    cst_system_bind(r->s, numbers);
    cst_output_bind(r->out, r->s);
    cst_events_bind(r->events, r->s);
    cst_run_switch_begin(r);
    r->pattern = 14695981039346656037u, r->instant = 0;
    r->w->n = (cst_counts){0};
    cst_motion_forget(r->w);
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
    if (r->charts && !r->frozen) r->charts->list.n = 0, r->charts->arena = &r->arena;
    if (r->choices && !r->frozen) cst_choices_begin(r->choices, &r->arena);
    if (!r->frozen) r->grid.n = 0;
    r->begin = (cst_begin){r->options.end, keep, r->options.memory, r->events_mode == CST_EVENTS_NONE ? NULL : r->events, &r->arena};
    if (r->w->rule->begin) r->w->rule->begin(r->w, &r->begin);
    r->w->forward = 1;
    cst_observe_begin(r, observe, ctx);
    cst_status ok = loop(r, d);
    if (!keep) cst_run_switch_warn(r, d);
    r->w->forward = 0;
    r->forward_s = seconds() - from;
    return ok;
}

cst_status cst_run_simulate(cst_run *r, const double *numbers, cst_observer observe, void *ctx, cst_diag *d)
{
    return cst_run_forward(r, numbers, 0, observe, ctx, d);
}

double cst_run_objective(const cst_run *r, int i) { return r->result[i]; }
double cst_run_measure(const cst_run *r, int i) { return r->component[i]; }

cst_stats cst_run_stats(const cst_run *r)
{
    const cst_counts *n = &r->w->n;
    long again = r->kept ? r->kept->again : 0;
    return (cst_stats){.steps = n->steps - again, .iterations = n->iterations, .factorizations = n->factorizations,
                       .shortened = n->shortened, .time = r->t, .forward_s = r->forward_s, .drift = r->drift, .violation = r->violation,
                       .again = again, .events = r->events->located, .coinciding = r->events->coinciding, .either = r->events->either,
                       .grazing = r->events->grazing.n + r->events->touching.n, .chattering = r->events->chattering.n,
                       .kinks = r->events->kinks,
                       .state_bytes = sizeof(double) * cst_state_size(r->m)};
}
