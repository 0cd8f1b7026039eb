/* SPDX-License-Identifier: MIT
 *
 * Objectives at a kink: abs(x) at 0, max(x, y) at x = y, a norm or a square root of zero. Their partials are 0 there by the rule of
 * op.h, and a gradient would be a silent zero. An objective has no derivative where
 *
 *     an operation is on its kink to rounding,  the objective sees it,  and what it reads can leave the kink
 *
 * at a state where a functional is read; in an integrand, at both ends of a step: one instant of a kink is nothing to an integral, but
 * something to its sum over states (lone.c); or in the objective itself. What can move is asked of one direction of all numbers with
 * random weights: one tangent sweep, only for runs that came near a kink at all (integrator/watch.c), or one step of it, for integrands
 * that were near one at the start alone. */
#include <math.h>
#include <string.h>

#include "integrator/observe.h"
#include "integrator/traj.h"
#include "number/op.h"
#include "sensitivity/edges.h"

#define ROUNDING 1e-12 /* of the size of what is read */
#define ALIKE 1e-7     /* changes of equal peaks: beyond their rounding */
#define STILL 1e-10    /* of the largest change of its kind: what changes less does not move */

#define LONE "has two slopes, apart by the order of the step, and the gradient is that from inside the steps"

typedef struct place { int code, in_objective; double t; long n; } place;

enum { FORCE = 3, REACT, SIZES }; /* behind coordinates, rates and accelerations */

typedef struct study {
    cst_run *r;
    double size[SIZES];          /* the largest of each so far: rounding stays when they vanish */
    const cst_tangent *t;        /* changes of the state */
    int first_only;              /* the first state, and its neighbour */
    int moves;                   /* 0: there are no tangents; everything may move */
    double *err, *bar, *fbar;    /* (registers), (registers), (objectives x functionals) */
    unsigned char *move, *on, *was, *stays; /* (registers), (codes) now, at the state before, both */
    unsigned char *quad_seen;    /* (objectives x integrals) */
    unsigned char *quad_moves, *functional_moves;
    double *quad_err, *functional_err;
    unsigned char *rough;        /* (objectives) */
    place *at, *lone;            /* (objectives) where it is so; where an integrand is on a kink at one state alone */
    double *before, *dot_before; /* (registers) of the state before, and their changes */
    double *tie_change, *tie_time; /* (functionals) of the first state that shares a peak; NAN: none yet */
    double *unequal;             /* (functionals) when another one changes otherwise; NAN: none does */
} study;

/* ---- what the outputs read at a state ---- */

static void input_errors(study *s)
{
    const cst_run *r = s->r;
    const cst_output *o = r->out;
    const cst_tape *t = o->tape;
    const double now[SIZES] = {cst_largest(r->m->nx, r->s->x), cst_largest(r->m->nx, r->s->xd),
                               o->needs_xdd ? cst_largest(r->m->nx, o->xdd) : 0,
                               o->needs_force ? cst_largest(r->m->nforce, o->force) : 0,
                               o->needs_react ? cst_largest(r->m->nreact, o->react) : 0};
    for (int i = 0; i < SIZES; i++) s->size[i] = fmax(s->size[i], now[i]);
    for (int i = 0; i < t->nchannel + t->nnumber; i++) {
        const cst_channel *c = &t->channel[i];
        s->err[i] = ROUNDING * fabs(o->reg[i]);
        if (i < t->nchannel && c->kind == CST_CH_X) s->err[i] = cst_run_rounding(r, c->order, s->size[c->order]);
        if (i < t->nchannel && c->kind == CST_CH_FORCE) s->err[i] = ROUNDING * s->size[FORCE];
        if (i < t->nchannel && c->kind == CST_CH_REACT) s->err[i] = ROUNDING * fmax(s->size[REACT], s->size[FORCE]);
        if (i < t->nchannel && c->kind == CST_CH_MEM) s->err[i] = 0;
        if (i < t->nchannel && c->kind == CST_CH_QUAD) s->err[i] = s->quad_err[c->index];
    }
}

static void input_moves(study *s)
{
    const cst_output *o = s->r->out;
    const cst_tape *t = o->tape;
    const double coordinates = cst_largest(s->r->m->nq, s->t->q);
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *c = &t->channel[i];
        double most = 0;
        for (int k = 0; k < t->nchannel; k++)
            if (t->channel[k].kind == c->kind && t->channel[k].order == c->order) most = fmax(most, fabs(o->bar[k]));
        if (c->kind == CST_CH_X) most = fmax(most, coordinates / pow(s->r->options.step, c->order)); /* rounding of what rests */
        s->move[i] = fabs(o->bar[i]) > STILL * most ? CST_MOVES_FIRST : 0;
        if (c->kind == CST_CH_QUAD && s->quad_moves[c->index]) s->move[i] |= CST_MOVES_HIGHER;
    }
    for (int i = t->nchannel; i < t->nchannel + t->nnumber; i++) s->move[i] = o->bar[i] != 0 ? CST_MOVES_FIRST : 0;
}

static void found(study *s, int o, int code, int in_objective, double t)
{
    s->rough[o] = 1;
    s->at[o] = (place){code, in_objective, t, -1};
}

static void clear_bars(study *s) { memset(s->bar, 0, sizeof *s->bar * (size_t)s->r->out->tape->nreg); }

/* Is state n among those that share the peak of a functional? */
static int shares_peak(const cst_functional_state *f, long n)
{
    int among = f->ties && n == f->state;
    for (int k = 0; k < f->ties && k < CST_TIES; k++) among |= n == f->tie[k];
    return among;
}

/* What objective o reads at state n */
static void look_at_functionals(study *s, int o, long n)
{
    cst_run *r = s->r;
    const cst_tape *t = r->out->tape;
    int any = 0;
    clear_bars(s);
    for (int i = 0; i < r->m->functional.n; i++) {
        double bar = s->fbar[o * r->m->functional.n + i], share = cst_functional_share(r, i, n, r->traj->n - 1);
        if (share == 0 && shares_peak(&r->functional[i], n)) share = 1;
        if (bar != 0 && share != 0) s->bar[t->out[r->out->functional + i]] += bar * share, any = 1;
    }
    int code = any ? cst_tape_rough(t, r->out->reg, s->err, s->on, s->bar) : -1;
    if (code >= 0) found(s, o, code, 0, r->s->t);
}

/* The operation among `on` that the integrands of objective o see; -1: none */
static int look_at_integrands(study *s, int o, const unsigned char *on)
{
    cst_run *r = s->r;
    const cst_tape *t = r->out->tape;
    clear_bars(s);
    for (int q = 0; q < r->m->quad.n; q++)
        if (s->quad_seen[o * r->m->quad.n + q]) s->bar[t->out[r->out->quad + q]] = 1;
    return cst_tape_rough(t, r->out->reg, s->err, on, s->bar);
}

/* Objective o at state n, which ends a step of length h; stays: something has been on a kink since its start. 1: integrands are on one */
static int look(study *s, int o, long n, double h, int stays)
{
    double t = s->r->s->t;
    if (!s->rough[o]) look_at_functionals(s, o, n);
    int code = !s->rough[o] && stays ? look_at_integrands(s, o, s->stays) : -1;
    if (code >= 0) found(s, o, code, 0, t - h);
    if (s->rough[o]) return 0;
    code = look_at_integrands(s, o, s->on);
    if (code >= 0 && s->lone[o].code < 0) s->lone[o] = (place){code, 0, t, n};
    return code >= 0;
}

/* States that share a peak: it has a derivative where they change alike, as in a steady motion. */
static void look_at_tie(study *s, int i, long n)
{
    const cst_run *r = s->r;
    if (!shares_peak(&r->functional[i], n)) return;
    double change = s->moves ? cst_output_change(r->out, r->out->functional + i) : 0, *first = &s->tie_change[i];
    if (isnan(*first)) *first = change, s->tie_time[i] = r->s->t;
    else if (!s->moves || fabs(change - *first) > ALIKE * (fabs(change) + fabs(*first))) s->unequal[i] = r->s->t;
}

/* Outputs, and their changes unless there are none, are those of state n. */
static void visit(void *ctx, long n)
{
    study *s = ctx;
    cst_run *r = s->r;
    const cst_output *out = r->out;
    const cst_tape *t = out->tape;
    double h;
    cst_traj_tag(r->traj, n, &h);
    input_errors(s);
    cst_tape_errors(t, out->reg, s->err);
    if (s->moves) input_moves(s), cst_tape_moves(t, out->reg, out->bar, s->move);
    int any = cst_tape_on_kink(t, out->reg, s->err, out->bar, s->moves ? s->move : NULL, s->on), stays = 0;
    for (int i = 0; i < t->ncode; i++) s->stays[i] = s->on[i] && s->was[i] && n > 0 && h > 0, stays |= s->stays[i];
    int lone = 0;
    for (int o = 0; any && o < r->m->objective.n; o++) lone |= look(s, o, n, h, stays);
    if (s->moves) {
        cst_lone_end(r, n - 1, h, s->dot_before);
        if (lone && (n == 0 || !s->first_only)) cst_lone_add(r, n, n > 0 ? s->before : NULL, h, out->bar);
        memcpy(s->before, out->reg, sizeof *s->before * (size_t)t->nreg);
        memcpy(s->dot_before, out->bar, sizeof *s->before * (size_t)t->nreg);
    }
    for (int q = 0; q < r->m->quad.n; q++) {
        s->quad_err[q] += h * s->err[t->out[out->quad + q]];
        s->quad_moves[q] |= s->move[t->out[out->quad + q]];
    }
    for (int i = 0; i < r->m->functional.n; i++) {
        if (r->functional[i].ties) look_at_tie(s, i, n);
        if (cst_functional_share(r, i, n, r->traj->n - 1) == 0) continue;
        s->functional_err[i] = fmax(s->functional_err[i], s->err[t->out[out->functional + i]]);
        s->functional_moves[i] |= s->move[t->out[out->functional + i]];
    }
    memcpy(s->was, s->on, (size_t)t->ncode);
}

/* ---- the objectives themselves ---- */

static void look_at_objectives(study *s, cst_arena *a, const cst_direction *dir)
{
    const cst_run *r = s->r;
    const cst_tape *t = r->objective;
    double *err = cst_new(a, double, t->nreg + 1), *dot = cst_new(a, double, t->nreg + 1), *bar = r->objective_bar;
    unsigned char *move = cst_new(a, unsigned char, t->nreg + 1), *on = cst_new(a, unsigned char, t->ncode + 1);
    for (int i = 0; i < t->nchannel; i++) {
        int f = t->channel[i].index;
        err[i] = s->functional_err[f], move[i] = s->functional_moves[f], dot[i] = s->moves ? dir->functional[f] : 0;
    }
    for (int i = t->nchannel; i < t->nchannel + t->nnumber; i++) {
        err[i] = ROUNDING * fabs(r->objective_reg[i]);
        dot[i] = s->moves ? dir->val[t->number[i - t->nchannel]] : 0, move[i] = dot[i] != 0 ? CST_MOVES_FIRST : 0;
    }
    cst_tape_errors(t, r->objective_reg, err);
    cst_tape_forward(t, r->objective_reg, dot);
    cst_tape_moves(t, r->objective_reg, dot, move);
    if (!cst_tape_on_kink(t, r->objective_reg, err, dot, s->moves ? move : NULL, on)) return;
    for (int o = 0; o < r->m->objective.n; o++) {
        if (s->rough[o]) continue;
        memset(bar, 0, sizeof *bar * (size_t)t->nreg);
        bar[t->out[o]] = 1;
        int code = cst_tape_rough(t, r->objective_reg, err, on, bar);
        if (code >= 0) found(s, o, code, 1, 0);
    }
}

/* ---- what is seen of integrals ---- */

/* row (integrals) = 1: those whose running value output `out` reads, at any depth */
static void integrals_of(const cst_output *o, int out, unsigned char *reach, unsigned char *row)
{
    const cst_tape *t = o->tape;
    cst_tape_reach(t, out, reach);
    for (int i = 0; i < t->nchannel; i++)
        if (t->channel[i].kind == CST_CH_QUAD && reach[i]) row[t->channel[i].index] |= 1;
}

static void see_integrals(study *s, cst_arena *a)
{
    const cst_run *r = s->r;
    const cst_model *m = r->m;
    unsigned char *reach = cst_new(a, unsigned char, r->out->tape->nreg + 1);
    for (int o = 0; o < m->objective.n && m->quad.n; o++) {
        unsigned char *row = s->quad_seen + (size_t)o * (size_t)m->quad.n;
        for (int i = 0; i < m->functional.n; i++)
            if (s->fbar[o * m->functional.n + i] != 0) integrals_of(r->out, r->out->functional + i, reach, row);
        for (int pass = 0; pass <= r->out->nested; pass++)
            for (int q = 0; q < m->quad.n; q++)
                if (row[q] && m->quad.at[q].nested) integrals_of(r->out, r->out->quad + q, reach, row);
    }
}

/* ---- in words ---- */

/* The component of a measure that a register of the outputs holds, or NULL */
static const char *measured(const cst_run *r, int reg)
{
    for (int i = 0; i < r->m->component.n; i++)
        if (r->out->tape->out[i] == reg) return r->m->component.at[i].name;
    return NULL;
}

/* "t = 0.3 s: objective 'o' has no derivative: it is on the kink of abs by 'p.z'" */
static void tell(const study *s, int o, const place *p, const char *what, cst_arena *a, cst_diag *d)
{
    const cst_run *r = s->r;
    const cst_objective *psi = &r->m->objective.at[o];
    const cst_tape *t = p->in_objective ? r->objective : r->out->tape;
    const cst_code *c = &t->code[p->code];
    const char *op = c->op == CST_OP_mul ? "1/" : cst_op_table[c->op]->name; /* has_pole() of tape_kink.c */
    const char *when = p->in_objective ? "" : cst_arena_printf(a, "t = %.6g s: ", p->t), *who = "it", *by = "";
    const char *whole = p->in_objective ? NULL : measured(r, t->nchannel + t->nnumber + p->code);
    const char *x = p->in_objective || whole ? NULL : measured(r, c->a[0]);
    if (whole) who = cst_arena_printf(a, "'%s'", whole);
    if (x) by = cst_arena_printf(a, " by '%s'", x);
    cst_warn(d, psi->where, "%sobjective '%s' %s: %s is on the kink of %s%s", when, psi->name, what, who, op, by);
}

/* Objectives that are read at the instant of an event with which what is read jumps: by most numbers both stay where they are. */
static void tell_torn(const study *s, cst_arena *a, cst_diag *d)
{
    cst_run *r = s->r;
    const cst_model *m = r->m;
    for (int o = 0; o < m->objective.n && (r->events->n || r->events->nkink) && !r->doubted; o++) {
        const double *fbar = s->fbar + (size_t)o * (size_t)m->functional.n;
        const char *name = NULL;
        cst_edge_at_end end = s->rough[o] ? CST_EDGE_NONE : cst_edge_ends(r, a, fbar, &name);
        int torn = end == CST_EDGE_JUMPS;
        int bends = 0;
        for (int i = 0; i < m->functional.n; i++) torn |= fbar[i] != 0 && r->functional[i].torn;
        for (int i = 0; i < m->functional.n && !torn && !s->rough[o]; i++) bends |= fbar[i] != 0 && cst_edge_bends(r, a, i);
        for (int i = 0; i < m->functional.n && !s->rough[o]; i++) {
            double t;
            if (fbar[i] == 0 || !cst_edge_corner(r, a, i, &t)) continue;
            cst_warn(d, m->objective.at[o].where,
                     "t = %.6g s: the peak of '%s' is at a corner: by numbers that move it against the steps its slope is one of two sides",
                     t, m->objective.at[o].name);
            break;
        }
        if (torn && !s->rough[o])
            cst_warn(d, m->objective.at[o].where,
                     "objective '%s' is read at the instant of an event, with which it jumps: it has no derivative by numbers that move "
                     "one of these against the other", m->objective.at[o].name);
        if (bends)
            cst_warn(d, m->objective.at[o].where,
                     "objective '%s' is read at an instant at which its rate jumps: by numbers that move one of these against the "
                     "other its slope is the mean or one of two sides", m->objective.at[o].name);
        if (!torn && end == CST_EDGE_BENDS)
            cst_warn(d, m->objective.at[o].where,
                     "'%s' switches at the very end of the run: slopes of '%s' by numbers that move this are those of what was before",
                     name, m->objective.at[o].name);
    }
}

/* Objectives with peaks that several instants share, which change differently */
static void find_tied(study *s, cst_diag *d)
{
    const cst_run *r = s->r;
    const cst_model *m = r->m;
    for (int o = 0; o < m->objective.n; o++)
        for (int i = 0; i < m->functional.n && !s->rough[o]; i++) {
            if (s->fbar[o * m->functional.n + i] == 0 || isnan(s->unequal[i])) continue;
            s->rough[o] = 1;
            if (r->doubted) continue;
            cst_warn(d, m->objective.at[o].where, "objective '%s' has no derivative: t = %.6g s and t = %.6g s share its peak",
                     m->objective.at[o].name, s->tie_time[i], s->unequal[i]);
        }
}

/* ---- all of it ---- */

static int near_any(const cst_run *r)
{
    int near = r->watch->rested || r->watch->touched || cst_tape_kink(r->objective, r->objective_reg) <= CST_NEAR_KINK;
    for (int i = 0; i < r->m->functional.n; i++) near |= r->functional[i].near || r->functional[i].ties;
    return near;
}

static study *study_new(cst_arena *a, cst_run *r, unsigned char *rough)
{
    const cst_model *m = r->m;
    const cst_tape *t = r->out->tape;
    size_t nobj = (size_t)m->objective.n;
    study *s = cst_new(a, study, 1);
    *s = (study){.r = r, .moves = r->w->rule->adjoint != NULL, .rough = rough};
    s->err = cst_new(a, double, t->nreg + 1), s->bar = cst_new(a, double, t->nreg + 1);
    s->fbar = cst_new(a, double, nobj *(size_t)m->functional.n + 1);
    s->move = cst_new(a, unsigned char, t->nreg + 1), s->on = cst_new(a, unsigned char, t->ncode + 1);
    s->was = cst_new(a, unsigned char, t->ncode + 1), s->stays = cst_new(a, unsigned char, t->ncode + 1);
    s->quad_seen = cst_new(a, unsigned char, nobj *(size_t)m->quad.n + 1);
    s->quad_moves = cst_new(a, unsigned char, m->quad.n + 1), s->quad_err = cst_new(a, double, m->quad.n + 1);
    s->functional_moves = cst_new(a, unsigned char, m->functional.n + 1);
    s->functional_err = cst_new(a, double, m->functional.n + 1);
    s->at = cst_new(a, place, nobj + 1), s->lone = cst_new(a, place, nobj + 1);
    s->before = cst_new(a, double, t->nreg + 1), s->dot_before = cst_new(a, double, t->nreg + 1);
    s->tie_change = cst_new(a, double, m->functional.n + 1), s->tie_time = cst_new(a, double, m->functional.n + 1);
    s->unequal = cst_new(a, double, m->functional.n + 1);
    for (int i = 0; i < m->functional.n; i++) s->tie_change[i] = s->unequal[i] = NAN;
    if (!s->moves) memset(s->move, CST_MOVES_FIRST, (size_t)t->nreg);
    return s;
}

static cst_status look_along(study *s, cst_arena *a, const unsigned char *fixed)
{
    cst_run *r = s->r;
    const long states = s->first_only && r->traj->n > 2 ? 2 : r->traj->n;
    cst_direction *dir = cst_directions_new(a, r, r->w, 1);
    cst_status ok = CST_OK;
    dir->visit = visit, dir->ctx = s, dir->states = states, s->t = dir->t;
    if (s->moves) ok = cst_direction_along(r, a, cst_random_weights(r, a, fixed), dir);
    for (long k = 0; k < states && !s->moves; k++) {
        cst_state y = cst_run_state(r, k);
        cst_observe_outputs(r, &y);
        visit(s, k);
    }
    cst_lone_end(r, r->traj->n - 1, 0, s->dot_before);
    if (ok == CST_OK && !s->first_only) look_at_objectives(s, a, dir);
    return ok;
}

cst_status cst_find_rough(cst_run *r, const unsigned char *fixed, unsigned char *rough, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    int full = CST_ARENA_GUARD(&a);
    if (!full) full = CST_ARENA_GUARD(&r->arena);
    if (full) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    study *s = study_new(&a, r, rough);
    for (int o = 0; o < m->objective.n; o++) {
        double *bar = s->fbar + (size_t)o * (size_t)m->functional.n;
        rough[o] = (unsigned char)(isfinite(r->result[o]) ? 0 : 1);
        cst_objective_reverse(r, o, bar, r->value_bar);
    }
    see_integrals(s, &a);
    for (int o = 0; o < m->objective.n; o++) s->at[o].code = s->lone[o].code = -1;
    cst_lone_begin(r);
    s->first_only = !near_any(r);
    cst_status ok = !s->first_only || r->watch->begins ? look_along(s, &a, fixed) : CST_OK;
    if (ok == CST_OK) find_tied(s, d), tell_torn(s, &a, d);
    for (int o = 0; ok == CST_OK && o < m->objective.n && !r->doubted; o++) {
        if (rough[o] && s->at[o].code >= 0) tell(s, o, &s->at[o], "has no derivative", &a, d);
        if (!rough[o] && s->lone[o].code >= 0 && (!s->moves || cst_lone_at(r, s->lone[o].n))) tell(s, o, &s->lone[o], LONE, &a, d);
    }
    r->doubted = 1;
    cst_arena_free(&a);
    if (ok == CST_OK) return CST_OK;
    return cst_error(d, ok, (cst_where){.file = m->file}, "a step has no tangent: its matrix is singular, or it is too long for the rule");
}
