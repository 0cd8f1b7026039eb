/* SPDX-License-Identifier: MIT
 *
 * Values read at the start itself (an acceleration, a force) while a law is on its kink or switch
 * there: a stop just in contact, a drive that sets in; and the start itself, where it is an
 * equilibrium of such laws. Numbers that move the law have two one-sided slopes,
 *
 *     D(e) = (f(p + e) - 2 f(p) + f(p - e))/e  ->  f'(p+) - f'(p-),
 *
 * and D(e) tends to 0 with e where f is smooth. A start is cheap, so f is computed by starting a
 * second run: first with all numbers moved at once and, if that shows a kink, with each number
 * alone. */
#include "sensitivity/asked.h"
#include "sensitivity/brink.h"
#include "sensitivity/direction.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-12 /* of f */
#define SOLVED 1e-11   /* ... at an equilibrium */
#define KINK 1e-6      /* of the slopes to both sides */
#define SEEN                                                                                       \
    1e-5 /* of the objective: a smaller effect of rates at the start is an error of the first      \
            step, as drives leave it */

/* e relative to the numbers. Where f is smooth D falls by 4 from the first width to the second; the
 * last does not reach a kink beside p. */
enum { WIDTHS = 3 };
static const double width[WIDTHS] = {0x1p-12, 0x1p-14, 0x1p-24};

typedef struct starts {
    cst_run *r, *twin;
    const double *from;
    double *at, *direction; /* (leaves) */
    int swept;
    double *scale; /* (objectives) */
    int n;         /* functionals, and what the start finds: coordinates, rates, states of forces */
    double *middle, *side[2]; /* (n, and D of the width before), (n) */
    unsigned char *bends;     /* (n) along the last direction */
} starts;

static int stop_at_once(void *ctx, double t, const double *measures, int n)
{
    (void)ctx, (void)t, (void)measures, (void)n;
    return 1;
}

/* f (n) with the numbers moved along the direction, functionals as far as they are known at the
 * start; 0: there is no start */
static int start_at(starts *s, double e, double *f)
{
    const cst_model *m = s->r->m;
    const cst_state y = cst_state_view(m, s->twin->state_block[0]);
    cst_diag quiet = {0};
    int n = cst_graph_leaves(m->graph);
    for (int i = 0; i < n; i++) s->at[i] = s->from[i] + e * s->direction[i];
    cst_status ok = cst_run_forward(s->twin, s->at, 0, stop_at_once, NULL, &quiet);
    for (int i = 0; i < m->functional.n; i++) *f++ = s->twin->functional[i].value;
    memcpy(f, y.q, sizeof *f * (size_t)m->nq), memcpy(f + m->nq, y.u, sizeof *f * (size_t)m->nu);
    memcpy(f + m->nq + m->nu, y.z, sizeof *f * (size_t)m->nz);
    return ok == CST_OK || ok == CST_STOPPED;
}

/* The magnitude against which f_i is measured: the largest value of its kind */
static double size_of(const starts *s, int i)
{
    const cst_model *m = s->r->m;
    const double *f = s->middle + m->functional.n;
    if (i < m->functional.n) return fmax(fabs(s->middle[i]), s->r->functional[i].largest);
    i -= m->functional.n;
    if (i < m->nq) return cst_largest(m->nq, f);
    return fmax(cst_largest(m->nq, f), i < m->nq + m->nu ? cst_largest(m->nu, f + m->nq)
                                                         : cst_largest(m->nz, f + m->nq + m->nu));
}

/* d and wide are D over the width e and over a wider one. At a kink D stays the same, at a jump D
 * times the width does; rounding does neither. */
static int stays(double d, double wide, double e, double width_of_wide)
{
    int kink = fabs(d) > fabs(wide) / 2 && fabs(d) < 2 * fabs(wide),
        jump = fabs(d * e - wide * width_of_wide) < 0.1 * fabs(d * e);
    return kink || jump;
}

/* Sets s->bends for the direction. 1: something bends; 0: nothing does; -1: a start failed */
static int sides_differ(starts *s)
{
    const int n = s->n;
    int any = 0;
    double *f = s->middle, *above = s->side[0], *below = s->side[1];
    memset(s->bends, 1, (size_t)n);
    for (int w = 0; w < WIDTHS; w++) {
        const double e = width[w];
        if (!start_at(s, e, above) || !start_at(s, -e, below)) return -1;
        for (int i = 0; i < n; i++) {
            double slopes = (fabs(above[i] - f[i]) + fabs(f[i] - below[i])) / e,
                   d = (above[i] - 2 * f[i] + below[i]) / e;
            double rounding = s->r->statics || i >= s->r->m->functional.n ? SOLVED : ROUNDING,
                   *wider = &s->middle[n + i];
            s->bends[i] &= fabs(d) > fmax(KINK * slopes, rounding * size_of(s, i) / e) &&
                           (w == 0 || stays(d, *wider, e, width[w - 1]));
            *wider = d;
        }
    }
    for (int i = 0; i < n; i++) any |= s->bends[i];
    return any;
}

int cst_stands_on_kink(cst_run *r)
{
    cst_events *e = r->events;
    const cst_state y = cst_run_state(r, 0);
    int any = 0;
    cst_events_eval(e, r->s, *y.t, y.q, y.u, y.z, y.mem);
    for (int k = 0; k < e->n + e->nkink; k++)
        any |= cst_event_distance(e, r->m, k, e->value[k]) <= CST_NEAR_KINK;
    return any;
}

/* fbar (objectives x functionals): does objective o read functional i at the start? */
static int reads(const cst_run *r, const double *fbar, int o, int i)
{
    return fbar[o * r->m->functional.n + i] != 0 &&
           cst_functional_share(r, i, 0, r->traj->n - 1) != 0;
}

static int any_reads(const cst_run *r, const double *fbar)
{
    int any = 0;
    for (int o = 0; o < r->m->objective.n; o++)
        for (int i = 0; i < r->m->functional.n; i++) any |= reads(r, fbar, o, i);
    return any;
}

/* Does objective o see that the start bends? D of the last width is at hand. */
static int sees_start(const starts *s, int o)
{
    const int nf = s->r->m->functional.n, n = s->n - nf;
    const double *bar = s->r->first_bar + (size_t)o * (size_t)n, *D = s->middle + s->n + nf;
    double sum = 0;
    for (int i = 0; i < n && s->swept; i++)
        if (s->bends[nf + i]) sum += bar[i] * D[i];
    return fabs(sum) > SEEN * s->scale[o];
}

static void look_at_each(starts *s, const unsigned char *fixed, int n, const int *number,
                         const double *fbar, cst_brink *brink)
{
    const cst_model *m = s->r->m;
    const int nleaf = cst_graph_leaves(m->graph);
    for (int k = 0; k < n; k++) {
        const int i = number[k];
        if (fixed[i]) continue;
        memset(s->direction, 0, sizeof *s->direction * (size_t)nleaf);
        s->direction[i] = fmax(fabs(s->from[i]), 0.1);
        if (sides_differ(s) <= 0) continue;
        for (int o = 0; o < m->objective.n; o++) {
            int bends = sees_start(s, o);
            for (int f = 0; f < m->functional.n; f++)
                bends |= s->bends[f] && reads(s->r, fbar, o, f);
            brink[(size_t)o * (size_t)nleaf + (size_t)i].bends |= bends;
        }
    }
}

cst_status cst_find_bends(cst_run *r, const unsigned char *fixed, int n, const int *number,
                          int swept, cst_brink *brink, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    cst_diag quiet = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    const int nleaf = cst_graph_leaves(m->graph), nf = m->functional.n;
    double *fbar = cst_new(&a, double, m->objective.n *nf + 1);
    double *scale = cst_new(&a, double, m->objective.n + 1);
    for (int o = 0; o < m->objective.n; o++) {
        scale[o] = cst_objective_scale(r, o);
        cst_objective_reverse(r, o, fbar + o * nf, r->value_bar);
    }
    starts s = {.r = r,
                .from = r->s->leaf,
                .at = cst_new(&a, double, nleaf + 1),
                .swept = swept,
                .scale = scale};
    s.n = nf + m->nq + m->nu + m->nz;
    s.direction = cst_random_weights(r, &a, fixed);
    s.middle = cst_new(&a, double, 2 * s.n + 1), s.bends = cst_new(&a, unsigned char, s.n + 1);
    for (int i = 0; i < 2; i++) s.side[i] = cst_new(&a, double, s.n + 1);
    if (cst_stands_on_kink(r) ||
        any_reads(r, fbar)) { /* tires and cubic tables do not say where their pieces meet */
        s.twin =
            cst_run_new(m, &r->options,
                        &quiet); /* the last allocation: nothing frees it when another one fails */
        if (!s.twin) {
            cst_arena_free(&a);
            return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
        }
        int ok = start_at(&s, 0, s.middle);
        s.twin->frozen = 1;              /* rows stay those of the middle */
        if (ok && sides_differ(&s) != 0) /* after a failure, too: one number may have caused it */
            look_at_each(&s, fixed, n, number, fbar, brink);
    }
    cst_run_free(s.twin);
    cst_arena_free(&a);
    return CST_OK;
}
