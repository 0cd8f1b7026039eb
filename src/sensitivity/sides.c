/* SPDX-License-Identifier: MIT
 *
 * Slopes to the two sides of a number: the adjoint at p - e and p + e for narrower and narrower
 * widths e. Of two neighbours e1 > e0 on one side, with slopes g1 and g0,
 *
 *     s = g0 + (g0 - g1) e0/(e1 - e0)          extrapolated to p; the whole change |s - g0| is
 * taken as its error |f1 - f0 -+ (e1 - e0) (g1 + g0)/2|       must be small: the values have these
 * slopes
 *
 * and both must have the same steps and events. Where events coincide at p, a narrow width only
 * keeps them within the rounding of an instant, where they are taken as one: widths that have
 * parted them, so that another number of events coincides, come first. */
#include "sensitivity/check.h"

#include <math.h>
#include <string.h>

#include "model/range.h"
#include "sensitivity/methods.h"

typedef struct side {
    double slope, error, value; /* slope NAN: none yet; value: extrapolated to p */
    double width;
    int wide;          /* number of the wider width */
    int parted;        /* events that coincide at p */
    int joins;         /* its value is that at p */
    int tried, failed; /* simulations */
    double most;       /* the larger of the two slopes */
} side;

static int within_range(cst_prober *p, int leaf, double change)
{
    const double x = p->x[leaf];
    memset(p->quiet, 0, sizeof *p->quiet);
    p->x[leaf] = x + change;
    cst_system_bind(p->r->s, p->x);
    const cst_status ok = cst_numbers_check(p->r->m, p->x, p->r->s->val, p->quiet);
    p->x[leaf] = x;
    return ok == CST_OK;
}

/* What the pair of neighbours at widths k - 1 and k says; 0: nothing */
static int read_pair(const cst_prober *p, int o, int which, int k, side *to)
{
    const cst_probe *wide = &p->side[k - 1][which], *narrow = &p->side[k][which];
    if (!wide->ok || !narrow->ok || wide->pattern != narrow->pattern) return 0;
    const double sign = which == CST_ABOVE ? 1 : -1, e0 = narrow->width, e1 = wide->width;
    const double g0 = narrow->slope[o], g1 = wide->slope[o], change = fabs(g1 - g0);
    if (!isfinite(g0) || !isfinite(g1)) return 0;

    const double mean = sign * (wide->value[o] - narrow->value[o]) / (e1 - e0),
                 off = fabs(mean - (g0 + g1) / 2), rounding = p->rounding[o] / (e1 - e0);
    if (off > fmax(change, CST_JUDGE_SAME * fabs(g0)) + rounding) return 0;

    const long together = p->middle.coinciding;
    to->wide = k - 1;
    to->width = e0;
    to->slope = g0 + (g0 - g1) * e0 / (e1 - e0);
    to->error = fabs(to->slope - g0);
    to->most = fmax(fabs(g0), fabs(g1));
    to->value = narrow->value[o] - sign * e0 * (g0 + to->slope) / 2;
    to->parted = together > 0 && wide->coinciding != together && narrow->coinciding != together;
    const double room = e0 * (to->error + CST_JUDGE_SPREAD * CST_JUDGE_SAME * fabs(to->slope));
    to->joins = fabs(to->value - p->middle.value[o]) <= room + p->rounding[o];
    return 1;
}

static int rank(const side *s) { return isnan(s->slope) ? -1 : 2 * s->parted + s->joins; }

/* The better one of what is known and a narrower pair. One that contradicts a wider one is nearer
 * to p, but no more certain. */
static void take_pair(const cst_prober *p, int o, int which, int k, side *to)
{
    side now = *to;
    if (!read_pair(p, o, which, k, &now) || rank(&now) < rank(to)) return;
    if (rank(&now) == rank(to)) {
        const double apart = fabs(now.slope - to->slope);
        const int again = apart <= CST_JUDGE_SPREAD * to->error;
        if (again && now.error >= to->error) return;
        if (!again) now.error = fmax(now.error, apart);
    }
    *to = now;
}

/* A slope, or part of one, that is rounding: of the largest influence, or of the slopes about p */
static double nothing(const cst_prober *p, int leaf, int o, const side *s)
{
    return fmax(p->nothing[o] / p->size[leaf], CST_JUDGE_ROUNDING * s->most);
}

static double tight(const cst_prober *p, int leaf, int o, const side *s)
{
    return fmax(CST_JUDGE_SAME * fabs(s->slope), nothing(p, leaf, o, s));
}

static int settled(const cst_prober *p, int leaf, int o, const side *s)
{
    return s->error <= tight(p, leaf, o, s) && (s->joins || s->parted);
}

static int known(const cst_prober *p, int leaf, int o, const side *s)
{
    return s->error <= fmax(CST_JUDGE_KNOWN * fabs(s->slope), nothing(p, leaf, o, s));
}

/* Values extrapolated to p from both sides are apart by more than the errors of the slopes. */
static int jumps(const cst_prober *p, int o, const side *below, const side *above)
{
    const double room = below->width * (below->error + CST_JUDGE_KNOWN * fabs(below->slope)) +
                        above->width * (above->error + CST_JUDGE_KNOWN * fabs(above->slope));
    return fabs(above->value - below->value) > CST_JUDGE_SPREAD * (room + p->rounding[o]);
}

static cst_sided answer(const cst_prober *p, int leaf, int o, const side s[CST_SIDES])
{
    const side *below = &s[CST_BELOW], *above = &s[CST_ABOVE];
    cst_sided to = {.answer = CST_SIDES_OPEN};
    to.wide = below->wide < above->wide ? below->wide : above->wide;
    const int both = known(p, leaf, o, below) && known(p, leaf, o, above),
              jump = both && jumps(p, o, below, above);
    int has[CST_SIDES];
    for (int k = 0; k < CST_SIDES; k++) {
        /* a slope that does not lead to p belongs to what lies beside it, unless there is a jump */
        has[k] = known(p, leaf, o, &s[k]) && (s[k].joins || s[k].parted || jump);
        to.slope[k] = has[k] ? s[k].slope : NAN;
        to.error[k] = has[k] ? s[k].error : NAN;
    }
    if (has[CST_BELOW] && has[CST_ABOVE]) {
        const double room =
            below->error + above->error + fmax(tight(p, leaf, o, below), tight(p, leaf, o, above));
        const int one = fabs(above->slope - below->slope) <= room;
        to.answer = jump ? CST_SIDES_JUMP : one ? CST_SIDES_ONE : CST_SIDES_TWO;
        to.jump = jump ? above->value - below->value : 0;
    } else if (has[CST_BELOW] && above->failed == above->tried) {
        to.answer = CST_SIDES_BELOW;
    } else if (has[CST_ABOVE] && below->failed == below->tried) {
        to.answer = CST_SIDES_ABOVE;
    }
    return to;
}

/* Width number k, of which `first` is the widest; 1: each side of each objective is settled, or
 * cannot be had */
static int look_at(cst_prober *p, int leaf, int first, int k, side *s)
{
    const double e = cst_probe_width(p, leaf, k);
    int done = k > first;
    for (int which = 0; which < CST_SIDES; which++) {
        cst_probe *at = &p->side[k][which];
        const double change = which == CST_ABOVE ? e : -e;
        at->ok = 0;
        if (within_range(p, leaf, change)) cst_probe_at(p, leaf, change, 1, at);
        for (int o = 0; o < p->nobj; o++) {
            side *to = &s[CST_SIDES * o + which];
            to->tried++;
            to->failed += !at->ok;
            if (k > first) take_pair(p, o, which, k, to);
            done &= settled(p, leaf, o, to) || (to->failed == to->tried && k > first + 1);
        }
    }
    return done;
}

void cst_sides_look(cst_prober *p, int leaf, int first, int most, cst_sided *to)
{
    cst_arena *scratch = cst_arena_child(p->a);
    side *s = cst_new(scratch, side, CST_SIDES * p->nobj + 1);
    for (int i = 0; i < CST_SIDES * p->nobj; i++) s[i].slope = s[i].error = NAN;
    int done = 0;
    for (int k = first; k < first + most && k < CST_SIDES_WIDTHS && !done; k++)
        done = look_at(p, leaf, first, k, s);
    for (int o = 0; o < p->nobj; o++) to[o] = answer(p, leaf, o, &s[CST_SIDES * o]);
    cst_arena_free(scratch);
}

/* ---- the public face ---- */

const char *cst_sides_text(cst_sides_answer a)
{
    static const char *const text[] = {
#define X(name, text) text,
        CST_SIDES_LIST(X)
#undef X
    };
    return text[a];
}

static cst_status look_at_all(cst_prober *p, int n, const int *which, const cst_check_options *o,
                              cst_sides *to)
{
    const size_t all = (size_t)p->nobj * (size_t)n + 1;
    double *const below = cst_new(p->a, double, all), *const above = cst_new(p->a, double, all);
    double *const error = cst_new(p->a, double, all), *const jump = cst_new(p->a, double, all);
    cst_sides_answer *said = cst_new(p->a, cst_sides_answer, all);
    int *simulations = cst_new(p->a, int, n + 1);
    cst_sided *s = cst_new(p->a, cst_sided, p->nobj + 1);
    *to = (cst_sides){p->nobj, n,    which, p->middle.value, below, above,
                      error,   jump, said,  simulations};
    for (int i = 0; i < n; i++) {
        const long before = p->simulations;
        cst_sides_look(p, which[i], 0, CST_SIDES_WIDTHS, s);
        simulations[i] = (int)(p->simulations - before);
        for (int k = 0; k < p->nobj; k++) {
            const int at = k * n + i;
            below[at] = s[k].slope[CST_BELOW];
            above[at] = s[k].slope[CST_ABOVE];
            error[at] = fmax(s[k].error[CST_BELOW], s[k].error[CST_ABOVE]);
            jump[at] = s[k].jump;
            said[at] = s[k].answer;
        }
        if (o && o->progress && o->progress(o->ctx, i + 1, n)) return CST_STOPPED;
    }
    return CST_OK;
}

/* The gradient by all numbers has been made. */
static cst_status sides(cst_run *r, cst_arena *a, const double *values, const cst_gradient *g,
                        int n, const int *which, const cst_check_options *o, cst_sides *to,
                        cst_diag *d)
{
    int *number = cst_new(a, int, n + 1);
    for (int i = 0; i < n; i++) number[i] = which ? which[i] : i;
    cst_prober *p = cst_prober_new(a, r, values, g->slope, d);
    if (!p) return d->status;
    r->frozen = 1;
    const cst_status ok = look_at_all(p, n, number, o, to);
    r->frozen = 0;
    if (ok != CST_OK)
        return cst_error(d, ok, (cst_where){.file = r->m->file}, "stopped on request");
    return cst_run_forward(r, values, 1, NULL, NULL, d); /* leave the run as it was */
}

const cst_sides *cst_run_sides(cst_run *r, const double *values, int n, const int *which,
                               const cst_check_options *o, cst_diag *d)
{
    cst_status ok = cst_which_check(r, n, which, d);
    if (ok == CST_OK) ok = cst_discrete_applies(r, d);
    const cst_gradient *g =
        ok == CST_OK ? cst_run_gradient(r, values, CST_ADJOINT, 0, NULL, d) : NULL;
    cst_check_store *s = g ? cst_check_store_of(r, d) : NULL;
    if (!s) return NULL;
    if (CST_ARENA_GUARD(&s->arena)) {
        r->frozen = 0;
        cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
        return NULL;
    }
    ok = sides(r, &s->arena, values, g, which ? n : g->numbers, which, o, &s->sides, d);
    return ok == CST_OK ? &s->sides : NULL;
}
