/* SPDX-License-Identifier: MIT
 *
 * Objectives at a kink: abs(x) at 0, max(x, y) at x = y, a norm or a square root of zero. Their
 * partials are 0 there by the rule of op.h, and a gradient would be a silent zero. An objective has
 * no derivative where
 *
 *     an operation is on its kink to rounding,  the objective sees it,  and what it reads can leave
 * the kink
 *
 * at a state where a functional is read; in an integrand, at both ends of a step (a kink at a
 * single state does not matter to the integral, but does to its sum over states: lone.c); or in the
 * objective itself. Whether an operand can leave the kink is found by one tangent sweep along a
 * random direction of all numbers. It is made only for runs that came near a kink
 * (integrator/watch.c), and only over the first step where integrands were near one at the start
 * alone. */
#include <math.h>
#include <string.h>

#include "integrator/observe.h"
#include "integrator/traj.h"
#include "number/op.h"
#include "sensitivity/asked.h"
#include "sensitivity/direction.h"
#include "sensitivity/edges.h"
#include "sensitivity/lone.h"
#include "sensitivity/rough.h"
#include "sensitivity/rounding.h"

#define ALIKE 1e-7                              /* changes of equal peaks: beyond their rounding */
enum { KINDS = CST_CH_RESULT + 1, ORDERS = 3 }; /* of channels */
#define DECAYED 1e-4 /* of the largest change of a channel so far: a smaller one counts as rest */
#define STILL                                                                                      \
    1e-10 /* of the largest coordinate, rate or force: what changes less does not move             \
           */

/* ---- what moves at a state ---- */

/* The largest changes that rounding can make in a channel of each kind: those of what rests are no
 * motion. */
static void rounded_changes(const cst_study *s, double of[KINDS][ORDERS])
{
    const double x = fmax(cst_largest(s->r->m->nq, s->t->q), s->known.size[0]),
                 h = s->r->options.step;
    memset(of, 0, sizeof(double) * KINDS * ORDERS);
    for (int order = 0; order < ORDERS; order++) of[CST_CH_X][order] = STILL * x / pow(h, order);
    of[CST_CH_SYSTEM][0] = STILL * s->r->st->heaviest * x / h * s->known.size[1]; /* m v dv */
    of[CST_CH_FORCE][0] = STILL * s->known.size[CST_SIZE_FORCE];
    of[CST_CH_REACT][0] =
        STILL * fmax(s->known.size[CST_SIZE_REACT], s->known.size[CST_SIZE_FORCE]);
}

static void input_moves(cst_study *s)
{
    const cst_output *o = s->r->out;
    const cst_tape *t = o->tape;
    double rounding[KINDS][ORDERS];
    rounded_changes(s, rounding);
    const double speed = cst_largest(s->r->m->nu, s->t->u);
    s->fastest = fmax(s->fastest, speed);
    const int fast = speed > fmax(rounding[CST_CH_X][1], DECAYED * s->fastest);
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *c = &t->channel[i];
        s->most[i] =
            fmax(s->most[i], fabs(o->bar[i])); /* what has come to rest moves less and less */
        double least =
            fmax(rounding[c->kind][c->kind == CST_CH_X ? c->order : 0], DECAYED * s->most[i]);
        if (c->kind == CST_CH_QUAD) least = fmax(least, s->known.quad_err[c->index]);
        s->move[i] = fabs(o->bar[i]) > least ? CST_MOVES_FIRST : 0;
        if (cst_is_kinetic(c) && fast)
            s->move[i] |= CST_MOVES_HIGHER; /* from rest with the square of the rates */
        if (c->kind == CST_CH_QUAD && s->quad_moves[c->index]) s->move[i] |= CST_MOVES_HIGHER;
    }
    for (int i = t->nchannel; i < t->nchannel + t->nnumber; i++)
        s->move[i] = o->bar[i] != 0 ? CST_MOVES_FIRST : 0;
}

static void found(cst_study *s, int o, int code, int in_objective, double t)
{
    s->rough[o] = 1;
    s->at[o] = (cst_rough_place){.code = code, .in_objective = in_objective, .t = t, .n = -1};
    s->at[o].pole = !in_objective && s->r->out->tape->code[code].op ==
                                         CST_OP_mul; /* x . v times 1/0: no number alone tells */
}

static void clear_bars(cst_study *s)
{
    memset(s->bar, 0, sizeof *s->bar * (size_t)s->r->out->tape->nreg);
}

/* Is state n among those that share the peak of a functional? */
static int shares_peak(const cst_functional_state *f, long n)
{
    int among = f->ties && n == f->state;
    for (int k = 0; k < f->ties && k < CST_TIES; k++) among |= n == f->tie[k];
    return among;
}

/* What objective o reads at state n */
static void look_at_functionals(cst_study *s, int o, long n)
{
    cst_run *r = s->r;
    const cst_tape *t = r->out->tape;
    int any = 0;
    clear_bars(s);
    for (int i = 0; i < r->m->functional.n; i++) {
        double bar = s->fbar[o * r->m->functional.n + i],
               share = cst_functional_share(r, i, n, r->traj->n - 1);
        if (share == 0 && shares_peak(&r->functional[i], n)) share = 1;
        if (bar != 0 && share != 0) s->bar[t->out[r->out->functional + i]] += bar * share, any = 1;
    }
    int code = any ? cst_tape_rough(t, r->out->reg, s->known.err, s->on, s->bar) : -1;
    if (code >= 0) found(s, o, code, 0, r->s->t);
}

/* The operation among `on` that the integrands of objective o see; -1: none */
static int look_at_integrands(cst_study *s, int o, const unsigned char *on)
{
    cst_run *r = s->r;
    const cst_tape *t = r->out->tape;
    clear_bars(s);
    for (int q = 0; q < r->m->quad.n; q++)
        if (s->quad_seen[o * r->m->quad.n + q]) s->bar[t->out[r->out->quad + q]] = 1;
    return cst_tape_rough(t, r->out->reg, s->known.err, on, s->bar);
}

/* Objective o at state n, which ends a step of length h; stays: something has been on a kink since
 * its start. 1: integrands are on one */
static int judge(cst_study *s, int o, long n, double h, int stays)
{
    double t = s->r->s->t;
    if (!s->rough[o]) look_at_functionals(s, o, n);
    int code = !s->rough[o] && stays ? look_at_integrands(s, o, s->stays) : -1;
    if (code >= 0) found(s, o, code, 0, t - h);
    if (s->rough[o]) return 0;
    code = look_at_integrands(s, o, s->on);
    if (code >= 0 && s->lone[o].code < 0)
        s->lone[o] = (cst_rough_place){.code = code, .t = t, .n = n};
    return code >= 0;
}

/* States that share a peak: it has a derivative where they change alike, as in a steady motion. */
static void look_at_tie(cst_study *s, int i, long n)
{
    const cst_run *r = s->r;
    if (!shares_peak(&r->functional[i], n)) return;
    double change = s->moves ? cst_output_change(r->out, r->out->functional + i) : 0,
           *first = &s->tie_change[i];
    if (isnan(*first))
        *first = change, s->tie_time[i] = r->s->t;
    else if (!s->moves || fabs(change - *first) > fmax(ALIKE * (fabs(change) + fabs(*first)),
                                                       STILL * r->functional[i].largest))
        s->unequal[i] = r->s->t;
}

/* All states share the peak of a quantity that is zero to rounding: it has no derivative if the
 * quantity moves at one of them. */
static void look_at_nothing(cst_study *s, int i)
{
    const cst_run *r = s->r;
    const int reg = r->out->tape->out[r->out->functional + i];
    const int moves = s->move[reg] & CST_MOVES_FIRST;
    if (r->m->functional.at[i].kind != CST_PEAK || r->functional[i].largest > s->known.err[reg] ||
        !moves)
        return;
    if (isnan(s->unequal[i])) s->tie_time[i] = r->functional[i].time, s->unequal[i] = r->s->t;
}

/* Outputs, and their changes unless there are none, are those of state n. */
static void visit(void *ctx, long n)
{
    cst_study *s = ctx;
    cst_run *r = s->r;
    const cst_output *out = r->out;
    const cst_tape *t = out->tape;
    double h;
    cst_traj_tag(r->traj, n, &h);
    cst_rounding_state(&s->known);
    if (s->moves) input_moves(s), cst_tape_moves(t, out->reg, s->known.err, out->bar, s->move);
    int any =
            cst_tape_on_kink(t, out->reg, s->known.err, out->bar, s->moves ? s->move : NULL, s->on),
        stays = 0;
    for (int i = 0; i < t->ncode; i++)
        s->stays[i] = s->on[i] && s->was[i] && n > 0 && h > 0, stays |= s->stays[i];
    int lone = 0;
    for (int o = 0; any && o < r->m->objective.n; o++) lone |= judge(s, o, n, h, stays);
    if (s->moves && !s->asking) {
        cst_lone_end(r, n - 1, h, s->dot_before);
        if (lone && (n == 0 || !s->first_only))
            cst_lone_add(r, n, n > 0 ? s->before : NULL, h, out->bar);
        memcpy(s->before, out->reg, sizeof *s->before * (size_t)t->nreg);
        memcpy(s->dot_before, out->bar, sizeof *s->before * (size_t)t->nreg);
    }
    cst_rounding_add(&s->known, n, h);
    for (int q = 0; q < r->m->quad.n; q++) s->quad_moves[q] |= s->move[t->out[out->quad + q]];
    for (int i = 0; i < r->m->functional.n; i++) {
        if (r->functional[i].ties) look_at_tie(s, i, n);
        look_at_nothing(s, i);
        if (cst_functional_share(r, i, n, r->traj->n - 1) != 0)
            s->functional_moves[i] |= s->move[t->out[out->functional + i]];
    }
    memcpy(s->was, s->on, (size_t)t->ncode);
}

/* ---- the objectives themselves ---- */

static void look_at_objectives(cst_study *s, cst_arena *a, const cst_direction *dir)
{
    const cst_run *r = s->r;
    const cst_tape *t = r->objective;
    double *err = cst_rounding_objectives(&s->known, a), *dot = cst_new(a, double, t->nreg + 1),
           *bar = r->objective_bar;
    unsigned char *move = cst_new(a, unsigned char, t->nreg + 1),
                  *on = cst_new(a, unsigned char, t->ncode + 1);
    for (int i = 0; i < t->nchannel; i++) {
        int f = t->channel[i].index;
        move[i] = s->functional_moves[f], dot[i] = s->moves ? dir->functional[f] : 0;
    }
    for (int i = t->nchannel; i < t->nchannel + t->nnumber; i++) {
        dot[i] = s->moves ? dir->val[t->number[i - t->nchannel]] : 0,
        move[i] = dot[i] != 0 ? CST_MOVES_FIRST : 0;
    }
    cst_tape_forward(t, r->objective_reg, dot);
    cst_tape_moves(t, r->objective_reg, err, dot, move);
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

static void see_integrals(cst_study *s, cst_arena *a)
{
    const cst_run *r = s->r;
    const cst_model *m = r->m;
    unsigned char *reach = cst_new(a, unsigned char, r->out->tape->nreg + 1);
    for (int o = 0; o < m->objective.n && m->quad.n; o++) {
        unsigned char *row = s->quad_seen + (size_t)o * (size_t)m->quad.n;
        for (int i = 0; i < m->functional.n; i++)
            if (s->fbar[o * m->functional.n + i] != 0)
                integrals_of(r->out, r->out->functional + i, reach, row);
        for (int pass = 0; pass <= r->out->nested; pass++)
            for (int q = 0; q < m->quad.n; q++)
                if (row[q] && m->quad.at[q].nested)
                    integrals_of(r->out, r->out->quad + q, reach, row);
    }
}

/* ---- all of it ---- */

static int near_any(const cst_run *r)
{
    int near = r->watch->rested || r->watch->touched ||
               cst_tape_kink(r->objective, r->objective_reg) <= CST_NEAR_KINK;
    for (int i = 0; i < r->m->functional.n; i++)
        near |= r->functional[i].near || r->functional[i].ties;
    return near;
}

static cst_study *study_new(cst_arena *a, cst_run *r, unsigned char *rough)
{
    const cst_model *m = r->m;
    const cst_tape *t = r->out->tape;
    size_t nobj = (size_t)m->objective.n;
    cst_study *s = cst_new(a, cst_study, 1);
    *s = (cst_study){.r = r, .moves = r->w->rule->adjoint != NULL, .rough = rough};
    s->most = cst_new(a, double, r->out->tape->nchannel + 1);
    s->known = cst_rounding_new(a, r), s->bar = cst_new(a, double, t->nreg + 1);
    s->fbar = cst_new(a, double, 1 + nobj * (size_t)m->functional.n);
    s->move = cst_new(a, unsigned char, t->nreg + 1),
    s->on = cst_new(a, unsigned char, t->ncode + 1);
    s->was = cst_new(a, unsigned char, t->ncode + 1),
    s->stays = cst_new(a, unsigned char, t->ncode + 1);
    s->quad_seen = cst_new(a, unsigned char, 1 + nobj * (size_t)m->quad.n);
    s->quad_moves = cst_new(a, unsigned char, m->quad.n + 1);
    s->functional_moves = cst_new(a, unsigned char, m->functional.n + 1);
    s->at = cst_new(a, cst_rough_place, nobj + 1), s->lone = cst_new(a, cst_rough_place, nobj + 1);
    s->before = cst_new(a, double, t->nreg + 1), s->dot_before = cst_new(a, double, t->nreg + 1);
    s->tie_change = cst_new(a, double, m->functional.n + 1),
    s->tie_time = cst_new(a, double, m->functional.n + 1);
    s->unequal = cst_new(a, double, m->functional.n + 1);
    for (int i = 0; i < m->functional.n; i++) s->tie_change[i] = s->unequal[i] = NAN;
    if (!s->moves) memset(s->move, CST_MOVES_FIRST, (size_t)t->nreg);
    for (int o = 0; o < m->objective.n; o++) {
        rough[o] = (unsigned char)(isfinite(r->result[o]) ? 0 : 1);
        cst_objective_reverse(r, o, s->fbar + (size_t)o * (size_t)m->functional.n, r->value_bar);
        s->at[o].code = s->lone[o].code = -1;
    }
    see_integrals(s, a);
    return s;
}

/* Objectives with peaks that several instants share, which change differently */
static void find_tied(cst_study *s)
{
    const cst_model *m = s->r->m;
    for (int o = 0; o < m->objective.n; o++)
        for (int i = 0; i < m->functional.n && !s->rough[o]; i++) {
            if (s->fbar[o * m->functional.n + i] == 0 || isnan(s->unequal[i])) continue;
            s->rough[o] = 1;
            s->at[o] = (cst_rough_place){
                .code = -1, .tie = 1, .t = s->tie_time[i], .other = s->unequal[i], .n = -1};
        }
}

static long states_of(const cst_study *s)
{
    const long all = s->r->traj->n;
    return s->first_only && all > 2 ? 2 : all;
}

static void conclude(cst_study *s, cst_arena *a, const cst_direction *dir)
{
    if (!s->first_only) look_at_objectives(s, a, dir);
    find_tied(s);
}

/* All numbers at once */
static cst_status look_along(cst_study *s, cst_arena *a, const unsigned char *fixed)
{
    cst_run *r = s->r;
    cst_direction *dir = cst_directions_new(a, r, r->w, 1);
    cst_status ok = CST_OK;
    dir->visit = visit, dir->ctx = s, dir->states = states_of(s), s->t = dir->t;
    if (s->moves) ok = cst_directions_along(r, a, 1, cst_random_weights(r, a, fixed), dir);
    for (long k = 0; k < states_of(s) && !s->moves; k++) {
        cst_state y = cst_run_state(r, k);
        cst_observe_outputs(r, &y);
        visit(s, k);
    }
    cst_lone_end(r, r->traj->n - 1, 0, s->dot_before);
    if (ok == CST_OK) conclude(s, a, dir);
    return ok;
}

/* Tests each of n numbers, side by side. by: cleared where an objective that `all` has found rough
 * has a slope by this number */
static cst_status look_at_each(const cst_study *all, cst_arena *a, const unsigned char *fixed,
                               int n, const int *number, unsigned char *by)
{
    cst_run *r = all->r;
    const size_t nleaf = (size_t)cst_graph_leaves(r->m->graph), nobj = (size_t)r->m->objective.n;
    const int together = n < CST_TOGETHER ? n : CST_TOGETHER;
    cst_status ok = CST_OK;
    double *size = cst_random_weights(r, a, fixed);
    for (int first = 0; first < n && ok == CST_OK; first += together) {
        cst_arena *b = cst_arena_child(a);
        const int ndir = n - first < together ? n - first : together;
        cst_direction *dir = cst_directions_new(b, r, r->w, ndir);
        cst_study **s = cst_new(b, cst_study *, ndir + 1);
        double *weight = cst_new(b, double, (size_t)ndir *nleaf + 1);
        for (int k = 0; k < ndir; k++) {
            s[k] = study_new(b, r, cst_new(b, unsigned char, nobj + 1));
            s[k]->asking = 1, s[k]->t = dir[k].t;
            dir[k].visit = visit, dir[k].ctx = s[k], dir[k].states = states_of(all);
            weight[(size_t)k * nleaf + (size_t)number[first + k]] = size[number[first + k]];
        }
        ok = cst_directions_along(r, b, ndir, weight, dir);
        for (int k = 0; k < ndir && ok == CST_OK; k++) {
            conclude(s[k], b, &dir[k]);
            for (size_t o = 0; o < nobj; o++)
                if (!all->at[o].pole) by[o * nleaf + (size_t)number[first + k]] &= s[k]->rough[o];
        }
        cst_arena_free(b);
    }
    return ok;
}

/* by: all numbers of objectives at a kink. Unless too many numbers are asked for, each of them is
 * then tested. An objective for which none is left has a derivative with respect to all numbers
 * asked for. */
static cst_status ask_numbers(cst_study *s, cst_arena *a, const unsigned char *fixed, int n,
                              const int *number, unsigned char *by)
{
    const cst_model *m = s->r->m;
    const size_t nleaf = (size_t)cst_graph_leaves(m->graph);
    int any = 0;
    for (int o = 0; o < m->objective.n; o++) {
        memset(by + (size_t)o * nleaf, s->rough[o], nleaf);
        any |= s->rough[o] && isfinite(s->r->result[o]);
    }
    if (!any || !s->moves || n > CST_MOST_ASKED) return CST_OK;
    cst_status ok = look_at_each(s, a, fixed, n, number, by);
    for (int o = 0; o < m->objective.n; o++) {
        int left = !isfinite(s->r->result[o]);
        for (int i = 0; i < n; i++) left |= by[(size_t)o * nleaf + (size_t)number[i]];
        s->rough[o] &= (unsigned char)left;
    }
    return ok;
}

static cst_status out_of_memory(cst_arena *a, const cst_model *m, cst_diag *d)
{
    cst_arena_free(a);
    return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
}

cst_status cst_find_rough(cst_run *r, const unsigned char *fixed, int n, const int *number,
                          unsigned char *rough, unsigned char *by, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) return out_of_memory(&a, m, d);
    if (CST_ARENA_GUARD(&r->arena)) return out_of_memory(&a, m, d);
    cst_study *s = study_new(&a, r, rough);
    cst_lone_begin(r);
    s->first_only = !near_any(r);
    cst_status ok = !s->first_only || r->watch->begins ? look_along(s, &a, fixed) : CST_OK;
    if (ok == CST_OK) ok = ask_numbers(s, &a, fixed, n, number, by);
    if (ok == CST_OK && !r->doubted)
        cst_corners_tell(r, &a, s->fbar, rough, d), cst_rough_tell(s, n, number, by, &a, d);
    r->doubted = 1;
    cst_arena_free(&a);
    if (ok == CST_OK) return CST_OK;
    return cst_error(
        d, ok, (cst_where){.file = m->file},
        "a step has no tangent: its matrix is singular, or it is too long for the rule");
}
