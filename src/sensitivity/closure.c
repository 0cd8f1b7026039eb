/* SPDX-License-Identifier: MIT
 *
 * Closed loops, to first order. Let n be a left null vector of phi_u at a position that fulfils the
 * constraints: a row that depends on others, n^T phi_u = 0. With phi = 0 kept,
 *
 *     phi_u du + phi_p dp = 0     implies     n^T phi_p dp = 0
 *
 * A number with n^T phi_p != 0 opens a loop: no motion makes up for its change. n^T phi_p for all
 * numbers is one adjoint pass with weights n. What counts as zero is measured: the same pass with
 * the entries of n scaled at random, so that nothing cancels.
 *
 * Rows that depend on others in all positions are redundant. Rows that depend on others for an
 * instant are those of a singular position, as of bars in line: the mechanism may go on in one of
 * two ways, and what is read behind it has no derivative by the numbers that open the loop there.
 * It is where the gap of a loop (gaps.h) falls to zero on the motion.
 *
 * At the start the same holds of the prescribed positions with phi, and of the prescribed rates
 * with J u + phi_t = 0, where the position, too, changes with p: numbers that would contradict what
 * else is prescribed. */
#include "sensitivity/closure.h"

#include <math.h>
#include <string.h>

#include "sensitivity/asked.h"
#include "sensitivity/direction.h"
#include "sensitivity/gaps.h"

#define DRIFT 1e-10  /* open loops, of the bodies' sizes: such a position is closed first */
#define NEIGHBOUR .1 /* rad, or sizes of bodies: from a singular position to one that is none */
#define DEPENDS                                                                                    \
    1e-7           /* of a row: its distance to the span of the others, where these are closed     \
                    */
#define ZERO 1e-7  /* n^T phi_p, of its size without cancelling */
#define SMALL 1e-5 /* of the largest such size: smaller ones count as this */
/* gaps, of rows of norm 1 */
#define TOUCHES 1e-3 /* a smaller gap is that of a singular position, */
#define BENDS 3      /* and so is one below this, times the root of how far loops are open there */
#define FALLS 0.5    /* of a gap: to be followed it must fall by this */
#define FOUND 1e-6   /* a gap that need not be known better */
#define WITHIN 30    /* gaps: rows with up to so many are dependent there */
#define OPENS 1e-4   /* n^T phi_p, of its size without cancelling, beside 10 gaps */
/* between two looks, rad or lengths of the loops' shortest rods */
#define LEAST 0.05
#define RATE 4 /* of the gap: it falls more slowly than this */
/* null vectors; looks at one singular position, and at all beside the number of states */
enum { FEW = 3, STEPS = 40, GUESSES = 500 };

/* ---- numbers that change n . rows ---- */

typedef struct position {
    double t;
    const double *q, *mem;
} position;

typedef struct problem { /* rows at a state, and what their weighted sum asks of P */
    cst_run *r;
    cst_pass *ps;
    cst_pass_at at;              /* of positions: weights on phi */
    cst_start_derivative *rates; /* not NULL: weights on the rates' conditions instead */
    cst_start_at start;
    double *x, *q, *z; /* scratch: slots twice, positions, states */
    double *P, *val;
} problem;

static problem problem_new(cst_run *r, cst_arena *a, position y, int phases)
{
    const cst_model *m = r->m;
    problem p = {.r = r, .ps = cst_pass_new(a, r->s)};
    p.x = cst_new(a, double, 2 * m->nx + 1);
    p.q = cst_new(a, double, m->nq + 1);
    p.z = cst_new(a, double, m->nz + 1);
    p.P = cst_new(a, double, m->bound.n + 1);
    p.val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    p.at = (cst_pass_at){.q = y.q, .v = p.q, .mem = y.mem, .phases = phases};
    return p;
}

/* p->val: derivatives of weight . rows by the numbers */
static cst_status numbers_of(const problem *p, const double *weight)
{
    const cst_model *m = p->r->m;
    cst_status ok = CST_OK;
    memset(p->P, 0, sizeof *p->P * (size_t)m->bound.n);
    memset(p->val, 0, sizeof *p->val * (size_t)cst_graph_values(m->graph));
    if (p->rates) {
        ok = cst_start_rate_rows(p->rates, &p->start, weight, p->q, p->z, p->P);
    } else {
        const cst_adjoint_in in = {.nrhs = 1, .k0 = weight};
        const cst_adjoint_out out = {.x = p->x, .xd = p->x + m->nx, .P = p->P};
        cst_adjoint_pass(p->ps, &p->at, &in, &out);
    }
    for (int i = 0; i < m->bound.n; i++) p->val[m->bound.at[i]] += p->P[i];
    cst_graph_reverse(m->graph, p->r->s->val, p->val);
    return ok;
}

/* most (leaves) = max(most, |derivatives of n . rows|) */
static cst_status raise_to(const problem *p, const double *n, double *most)
{
    const cst_graph *g = p->r->m->graph;
    cst_status ok = numbers_of(p, n);
    for (int i = 0; i < cst_graph_leaves(g); i++)
        most[i] = fmax(most[i], fabs(p->val[cst_leaf_id(g, i)]));
    return ok;
}

/* effect = found: of the numbers without an effect those that change n . rows for some n of the
 * space by more than the part `zero` of size (leaves). size NULL: what the change would be without
 * cancelling. All vectors count before they are compared: a single one may leave rounding in both.
 */
static cst_status compare(const problem *p, cst_arena *a, cst_null_space space, const double *size,
                          double zero, unsigned char found, unsigned char *effect)
{
    const int nrow = p->r->m->nrow, nleaf = cst_graph_leaves(p->r->m->graph);
    double *opens = cst_new(a, double, nleaf + 1), *loose = cst_new(a, double, nleaf + 1);
    double *n = cst_new(a, double, nrow + 1), largest = 0;
    cst_status ok = CST_OK;
    for (int k = 0; k < space.n && ok == CST_OK; k++) {
        const double *exact = space.at + (size_t)k * (size_t)nrow;
        ok = raise_to(p, exact, opens);
        for (int i = 0; i < nrow; i++) n[i] = exact[i] * cst_spread(i);
        if (ok == CST_OK && !size) ok = raise_to(p, n, loose);
    }
    for (int i = 0; i < nleaf; i++) {
        if (!isfinite(loose[i])) loose[i] = 0; /* asin(s) at s = 1 is no measure for others */
        largest = fmax(largest, loose[i]);
    }
    for (int i = 0; i < nleaf; i++)
        if (!effect[i] && opens[i] > zero * (size ? size[i] : fmax(loose[i], SMALL * largest)))
            effect[i] = found;
    return ok;
}

/* ---- null vectors ---- */

static int prescribed(const cst_model *m, const cst_jacobian *j, const cst_rank *rank, int k)
{
    for (int i = rank->term_ptr[k] - 1; i < rank->term_ptr[k + 1]; i++) {
        const int row = j->all_of[i < rank->term_ptr[k] ? rank->dep[k] : rank->term_row[i]];
        int c = 0;
        while (c + 1 < m->constraint.n && m->constraint.at[c + 1].row0 <= row) c++;
        if (!(m->constraint.at[c].phases & CST_ROW_MOTION)) return 1;
    }
    return 0;
}

/* n (all rows) += c (the dependent row k minus what it is made of) */
static void add_null_vector(const cst_jacobian *j, const cst_rank *rank, int k, double c, double *n)
{
    n[j->all_of[rank->dep[k]]] += c;
    for (int i = rank->term_ptr[k]; i < rank->term_ptr[k + 1]; i++)
        n[j->all_of[rank->term_row[i]]] -= c * rank->term_coef[i];
}

/* A row that vanishes, as that of a law that is flat in a position, depends on the others as well;
 * the rank test looks at directions only. */
static void drop_flat_rows(cst_arena *a, cst_jacobian *j, const double *norm, double tolerance)
{
    const int n = j->rows.ptr[j->rows.nrow];
    double *val = cst_new(a, double, n + 1);
    memcpy(val, j->rows.val, sizeof *val * (size_t)n);
    for (int i = 0; i < j->rows.nrow; i++)
        if (cst_row_norm(&j->rows, i) < tolerance * norm[j->all_of[i]])
            memset(val + j->rows.ptr[i], 0,
                   sizeof *val * (size_t)(j->rows.ptr[i + 1] - j->rows.ptr[i]));
    j->rows.val = val;
}

/* Left null vectors of the rows of `phases`, or FEW sums of them with random factors: these vanish
 * for a number only if all do. Of the start's problems those that have a prescribed row, because
 * joints alone are redundant in all positions. For rates the system must have its own. norm: of
 * rows elsewhere, or NULL. *rank: of the matrix */
static cst_null_space null_of(cst_run *r, cst_arena *a, position y, int phases,
                              const double *column, const double *norm, double tolerance, int *rank)
{
    const size_t nrow = (size_t)r->m->nrow;
    cst_null_space space = {0};
    cst_rank found;
    *rank = r->m->nrow; /* out of memory */
    cst_system_place(r->s, y.t, y.q);
    cst_slots_blocks(r->s, y.q);
    cst_jacobian j = cst_jacobian_rows(a, r->s, y.mem, phases, column);
    if (norm) drop_flat_rows(a, &j, norm, tolerance);
    if (!cst_rank_rows(a, &j.rows, tolerance, &found)) return space;
    *rank = found.rank;
    space.at = cst_new(a, double, FEW *nrow + 1);
    for (int k = 0; k < found.ndep; k++) {
        if (phases != CST_ROW_MOTION && !prescribed(r->m, &j, &found, k)) continue;
        if (found.ndep <= FEW) {
            add_null_vector(&j, &found, k, 1, space.at + nrow * (size_t)space.n++);
            continue;
        }
        for (space.n = 0; space.n < FEW; space.n++) {
            const double f = cst_spread(space.n * found.ndep + k);
            add_null_vector(&j, &found, k, f < 1.5 ? f : f - 3, space.at + nrow * (size_t)space.n);
        }
    }
    return space;
}

cst_null_space cst_null_at(cst_run *r, cst_arena *a, const cst_state *y)
{
    int rank;
    const position at = {*y->t, y->q, y->mem};
    return null_of(r, a, at, CST_ROW_MOTION, r->st->column, NULL, DEPENDS, &rank);
}

/* ---- in all positions ---- */

/* How far loops are open at the place of the system, of the bodies' sizes */
static double open_by(cst_run *r, cst_arena *a, const double *mem)
{
    int worst;
    double *phi = cst_new(a, double, r->m->nrow + 1);
    cst_constraints(r->s, mem, CST_ROW_MOTION, phi);
    return cst_structure_open(r->st, r->s, CST_ROW_MOTION, phi, &worst);
}

/* State k of CST_EXAMINED: those in between are such as no period of the motion meets */
static cst_state state_of(cst_run *r, int k)
{
    static const double part[CST_EXAMINED] = {0, 0.6180339887498949, 1};
    return cst_run_state(r, (long)(part[k] * (double)(r->traj->n - 1)));
}

int cst_closed_state(cst_run *r, cst_arena *a, int k, cst_state *y)
{
    double *q = cst_new(a, double, r->m->nq + 1);
    *y = state_of(r, k);
    cst_system_rest(r->s);
    cst_system_place(r->s, *y->t, y->q);
    if (open_by(r, a, y->mem) <= DRIFT) return 1;
    if (!cst_structure_close(a, r->s, r->st, y->mem, *y->t, 0, y->q, q)) return 0;
    y->q = q;
    return 1;
}

/* At a position that is singular beside one that is not: its null vectors would say more */
static cst_status look_in_general(cst_run *r, cst_arena *a, const cst_state *y,
                                  unsigned char *effect)
{
    position at = {*y->t, y->q, y->mem};
    double *q = cst_new(a, double, r->m->nq + 1);
    int rank;
    cst_null_space space = null_of(r, a, at, CST_ROW_MOTION, r->st->column, NULL, DEPENDS, &rank);
    if (rank < r->st->rank) {
        if (!cst_structure_close(a, r->s, r->st, at.mem, at.t, NEIGHBOUR, at.q, q)) return CST_OK;
        at.q = q;
        space = null_of(r, a, at, CST_ROW_MOTION, r->st->column, NULL, DEPENDS, &rank);
        if (rank < r->st->rank) return CST_OK;
    }
    const problem p = problem_new(r, a, at, CST_ROW_MOTION);
    return compare(&p, a, space, NULL, ZERO, CST_BREAKS_LOOP, effect);
}

static int prescribes(const cst_model *m)
{
    for (int i = 0; i < m->constraint.n; i++)
        if (m->constraint.at[i].phases & (CST_ROW_ASSEMBLY | CST_ROW_RATE)) return 1;
    return 0;
}

/* Each problem of the start has its own rows: positions and joints, then rates and the joints'
 * rates */
static cst_status look_at_start(cst_run *r, cst_arena *a, unsigned char *effect)
{
    cst_system *s = r->s;
    const cst_state y = cst_run_state(r, 0);
    const int positions = CST_ROW_MOTION | CST_ROW_ASSEMBLY, rates = CST_ROW_MOTION | CST_ROW_RATE;
    const position drawn = {*y.t, r->statics ? r->statics->assembled : y.q, r->mem_drawn};
    const position start = {*y.t, y.q, y.mem};
    int rank;
    cst_system_rest(s);
    problem p = problem_new(r, a, drawn, positions);
    cst_null_space space = null_of(r, a, drawn, positions, r->st->column, NULL, DEPENDS, &rank);
    cst_status ok = compare(&p, a, space, NULL, ZERO, CST_CONTRADICTS, effect);

    p.rates = cst_start_derivative_new(a, r->start, p.ps);
    p.start = cst_run_start_at(r, &y);
    cst_system_place(s, *y.t, y.q);
    cst_T(s, y.q, y.u, p.q);
    cst_system_rates(s, p.q);
    space = null_of(r, a, start, rates, r->st->column, NULL, DEPENDS, &rank);
    return ok == CST_OK ? compare(&p, a, space, NULL, ZERO, CST_CONTRADICTS, effect) : ok;
}

static cst_status look_everywhere(cst_run *r, cst_arena *a, unsigned char *effect)
{
    cst_status ok = CST_OK;
    for (int k = 0; k < CST_EXAMINED && r->st->dep.ndep && ok == CST_OK; k++) {
        cst_state y;
        if (cst_closed_state(r, a, k, &y)) ok = look_in_general(r, a, &y, effect);
    }
    return ok == CST_OK && prescribes(r->m) ? look_at_start(r, a, effect) : ok;
}

cst_status cst_find_breaking(cst_run *r, unsigned char *effect, cst_diag *d)
{
    const cst_where here = {.file = r->m->file};
    cst_arena a = {0};
    memset(effect, 0, (size_t)cst_graph_leaves(r->m->graph));
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    const cst_status ok = look_everywhere(r, &a, effect);
    cst_arena_free(&a);
    if (ok == CST_OK) return ok;
    return cst_error(d, ok, here, "the derivative of the start has a singular matrix");
}

/* ---- singular positions ---- */

typedef struct search {
    cst_run *r;
    cst_arena *a, *scratch;
    cst_singular *found;
    const unsigned char *fixed; /* (leaves) */
    cst_gaps *gaps;
    double *q, *v0, *v1; /* (nq) a position between two states; their velocities */
    double t, moves;     /* its time; how far loops move in a step around it */
    double *mem;
    double *acts; /* (leaves) what numbers change in rows; NULL: not known yet */
    long left;    /* looks, for singular positions */
} search;

/* The gaps at s->q */
static void look(search *s)
{
    s->found->looks++;
    cst_gaps_at(s->gaps, s->t, s->q, s->mem);
}

/* s->q, s->t: the motion at `at`, in states from the first one on, on a cubic through positions and
 * velocities of two neighbours */
static void place_between(search *s, double at)
{
    cst_state y0, y1;
    const long last = s->r->traj->n - 1, i = (long)fmin(floor(at), (double)(last - 1));
    cst_run_pair(s->r, i + 1, &y0, &y1);
    const double h = *y1.t - *y0.t, x = at - (double)i, x2 = x * x, x3 = x2 * x;
    cst_T(s->r->s, y0.q, y0.u, s->v0);
    cst_T(s->r->s, y1.q, y1.u, s->v1);
    for (int k = 0; k < s->r->m->nq; k++)
        s->q[k] = (1 - 3 * x2 + 2 * x3) * y0.q[k] + (3 * x2 - 2 * x3) * y1.q[k] +
                  h * ((x - 2 * x2 + x3) * s->v0[k] + (x3 - x2) * s->v1[k]);
    s->t = *y0.t + x * h;
    memcpy(s->mem, y0.mem, sizeof *s->mem * (size_t)s->r->m->memory.n);
    s->moves = fmax(cst_gaps_speed(s->gaps, y0.u), cst_gaps_speed(s->gaps, y1.u)) * h;
}

/* s->acts: what numbers change in the rows of loops elsewhere on the motion. In the singular
 * position it may be nothing, as what the height of a hinge changes in the length of a rod in line
 * with it.
 */
static void measure_numbers(search *s)
{
    const cst_model *m = s->r->m;
    double *n = cst_new(s->scratch, double, m->nrow + 1);
    s->acts = cst_new(s->a, double, cst_graph_leaves(m->graph) + 1);
    for (int i = 0; i < m->nrow; i++)
        n[i] = s->gaps->loops.row[i] >= 0 && s->gaps->norm[i] > 0 ? cst_spread(i) / s->gaps->norm[i]
                                                                  : 0;
    for (int k = 0; k < CST_EXAMINED; k++) {
        const cst_state y = state_of(s->r, k);
        const problem p =
            problem_new(s->r, s->scratch, (position){*y.t, y.q, y.mem}, CST_ROW_MOTION);
        cst_system_place(s->r->s, *y.t, y.q);
        raise_to(&p, n, s->acts);
    }
    for (int i = 0; i < cst_graph_leaves(m->graph); i++)
        if (!isfinite(s->acts[i])) s->acts[i] = 0;
}

/* The vectors of the space with largest entries of 1, for rows of norm 1 */
static void scale_vectors(const search *s, cst_null_space space)
{
    const int nrow = s->r->m->nrow;
    for (int k = 0; k < space.n; k++) {
        double *n = space.at + (size_t)k * (size_t)nrow, most = 0;
        for (int i = 0; i < nrow; i++) most = fmax(most, fabs(n[i]) * s->gaps->norm[i]);
        for (int i = 0; i < nrow; i++) n[i] /= most;
    }
}

/* Is the position singular, with this gap? Then numbers that open a loop in it do so first at s->t,
 * unless they did before. */
static int is_singular(search *s, double gap)
{
    const cst_run *r = s->r;
    const int nleaf = cst_graph_leaves(r->m->graph);
    const position at = {s->t, s->q, s->mem};
    unsigned char *opens = cst_new(s->scratch, unsigned char, nleaf + 1);
    int rank;
    if (!(gap <= TOUCHES + BENDS * sqrt(open_by(s->r, s->scratch, s->mem)))) return 0;
    if (!s->acts) measure_numbers(s);
    const cst_null_space space = null_of(s->r, s->scratch, at, CST_ROW_MOTION, s->gaps->size,
                                         s->gaps->norm, WITHIN * fmax(gap, FOUND), &rank);
    if (rank >= r->st->rank) return 0;
    scale_vectors(s, space);
    const problem p = problem_new(s->r, s->scratch, at, CST_ROW_MOTION);
    compare(&p, s->scratch, space, s->acts, OPENS + 10 * gap, 1, opens);
    for (int i = 0; i < nleaf; i++)
        if (opens[i] && !s->fixed[i]) s->found->when[i] = fmin(s->found->when[i], s->t);
    s->found->first = fmin(s->found->first, s->t);
    return 1;
}

typedef struct dip { /* three places on the motion, in states, and the gaps of a part there */
    double at[3], gap[3];
} dip;

static double gap_at(search *s, int part, double at)
{
    place_between(s, at);
    look(s);
    return s->gaps->gap[part];
}

/* The next place: the vertex of the parabola through the squares of the gaps, but not a place that
 * is known; now and then one that shortens the longer side */
static double next_place(const dip *w, int round)
{
    const double a = w->at[1] - w->at[0], b = w->at[1] - w->at[2], least = 1e-3 * fmin(a, -b);
    const double mid = w->gap[1] * w->gap[1];
    const double u = a * (mid - w->gap[2] * w->gap[2]), v = b * (mid - w->gap[0] * w->gap[0]);
    const double x = w->at[1] - 0.5 * (a * u - b * v) / (u - v);
    if (round % 3 == 2) return w->at[1] - 0.4 * (a > -b ? a : b);
    if (!(fabs(x - w->at[1]) >= least)) return w->at[1] + (a > -b ? -least : least);
    return x;
}

/* Follows the gap of a part down to its least value and examines the position there. It does not
 * fall to zero if a look no longer makes it much smaller than it is around. */
static void follow(search *s, int part, dip w)
{
    double before = INFINITY;
    for (int i = 0; i < STEPS && w.gap[1] > FOUND && s->left > 0; i++, s->left--) {
        const double most = fmax(w.gap[0], w.gap[2]);
        if (!(w.gap[1] <= fmin(w.gap[0], w.gap[2]))) break;
        if (w.gap[1] > FALLS * before && w.gap[1] > FALLS * most) break;
        before = w.gap[1];
        const double x = next_place(&w, i), y = gap_at(s, part, x);
        const int better = y < w.gap[1], end = (x < w.at[1]) == better ? 2 : 0;
        w.at[end] = better ? w.at[1] : x, w.gap[end] = better ? w.gap[1] : y;
        if (better) w.at[1] = x, w.gap[1] = y;
    }
    if (s->left <= 0) s->found->until = fmin(s->found->until, s->t);
    const double gap = gap_at(s, part, w.at[1]);
    if (is_singular(s, gap)) {
        const double far = fabs(w.at[1] - round(w.at[1])) * s->moves;
        if (far < s->found->near) s->found->near = far, s->found->near_at = s->t;
    }
    cst_arena_free(s->scratch);
}

/* The gaps of a part at three looks that follow each other; the first of them may be missing, or
 * the last one: then the least gap is guessed to lie where lines from both others meet in zero. */
static void follow_dip(search *s, int part, dip w)
{
    const double most = fmax(w.gap[0], w.gap[2]);
    const int starts = !isfinite(w.gap[0]) && w.gap[1] <= TOUCHES;
    if (!isfinite(w.gap[1]) || !(starts || w.gap[1] <= fmin(w.gap[0], w.gap[2]))) return;
    if (isfinite(most)) {
        if (w.gap[1] > fmax(FALLS * most, TOUCHES)) return;
    } else if (w.gap[1] > FOUND) {
        const int there = isfinite(w.gap[0]) ? 0 : 2;
        const double share = w.gap[1] / fmax(w.gap[1] + w.gap[there], FOUND);
        const double end = w.at[1];
        w.at[2 - there] = end, w.gap[2 - there] = w.gap[1];
        w.at[1] = end + fmax(share, FOUND) * (w.at[there] - end);
        w.gap[1] = gap_at(s, part, w.at[1]);
        if (!(w.gap[1] < w.gap[2 - there])) w.at[1] = end;
    }
    follow(s, part, w);
}

/* Looks at the motion as often as a loop may have come into line since the last look */
static void walk(search *s)
{
    const cst_run *r = s->r;
    const int nb = r->m->body.n;
    const long last = r->traj->n - 1;
    double *gap[3], at[3] = {0}, moved = INFINITY, stride = 0;
    for (int k = 0; k < 3; k++) {
        gap[k] = cst_new(s->a, double, nb + 1);
        for (int p = 0; p < nb; p++) gap[k][p] = INFINITY;
    }
    for (long i = 0; i <= last + 1 && s->left > 0; i++) {
        double *oldest = gap[0], least = INFINITY;
        if (i <= last) {
            const cst_state y = cst_run_state(s->r, i);
            moved += *y.h * cst_gaps_speed(s->gaps, y.u);
            if (moved < stride && i < last) continue;
            memcpy(s->q, y.q, sizeof *s->q * (size_t)r->m->nq);
            memcpy(s->mem, y.mem, sizeof *s->mem * (size_t)r->m->memory.n);
            s->t = *y.t;
            look(s);
        }
        gap[0] = gap[1], gap[1] = gap[2], gap[2] = oldest;
        at[0] = at[1], at[1] = at[2], at[2] = (double)i;
        for (int p = 0; p < nb; p++) {
            gap[2][p] = i <= last ? s->gaps->gap[p] : INFINITY;
            least = fmin(least, gap[2][p]);
        }
        for (int p = 0; p < nb; p++)
            follow_dip(s, p, (dip){{at[0], at[1], at[2]}, {gap[0][p], gap[1][p], gap[2][p]}});
        stride = fmax(LEAST, least / RATE), moved = 0;
    }
}

/* 0: there are no loops */
static int search_open(search *s)
{
    const cst_model *m = s->r->m;
    const cst_state first = cst_run_state(s->r, 0);
    cst_system_rest(s->r->s);
    cst_system_place(s->r->s, *first.t, first.q);
    s->gaps = cst_gaps_new(s->a, s->r->s, s->r->st, s->r->choices, first.q);
    if (!s->gaps) return 0;
    for (int k = 0; k < CST_EXAMINED; k++) {
        const cst_state y = state_of(s->r, k);
        cst_gaps_norms(s->gaps, *y.t, y.q, y.mem);
    }
    s->scratch = cst_arena_child(s->a);
    s->left = GUESSES + s->r->traj->n;
    s->q = cst_new(s->a, double, m->nq + 1);
    s->mem = cst_new(s->a, double, m->memory.n + 1);
    s->v0 = cst_new(s->a, double, m->nq + 1);
    s->v1 = cst_new(s->a, double, m->nq + 1);
    return 1;
}

cst_status cst_find_singular(cst_run *r, const unsigned char *fixed, cst_singular *to, cst_diag *d)
{
    cst_arena a = {0};
    to->first = to->near = to->near_at = to->until = INFINITY, to->looks = 0;
    for (int i = 0; i < cst_graph_leaves(r->m->graph); i++) to->when[i] = INFINITY;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    search s = {.r = r, .a = &a, .found = to, .fixed = fixed};
    if (r->traj->n > 1 && search_open(&s)) walk(&s);
    cst_arena_free(&a);
    return CST_OK;
}
