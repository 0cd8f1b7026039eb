/* SPDX-License-Identifier: MIT
 *
 * Numbers that open a loop in a singular position, in first or second order. Rows phi_d depend
 * there on the others, phi_i. On the positions that satisfy the others, phi_i(q, t, p) = 0, the
 * function
 *
 *     c = r . phi_d,     stationary where     J^T mu = 0,  mu . phi_t = 0        mu = r on the rows
 * d
 *
 * is a saddle, and c = 0 are the two ways that cross in it. The time is an unknown as well: drives
 * may move. With other numbers the saddle lies elsewhere; as long as c = 0 in it, the ways cross
 * there and the mechanism passes as before. Otherwise they are apart, and it turns off or stops,
 * however small the change is. The saddle's value changes by
 *
 *     mu . phi_p dp  +  d2(mu . phi)/2  along  (u_p, t_p, 1) dp
 *
 *     [G + eps W  J_i^T  g] [u_p ]     [d(J^T mu)/dp ]          G = d(J^T mu)/du,  g = d(J^T mu)/dt
 *     [J_i        0      f] [mu_p] = - [phi_i,p      ]          f = phi_i,t,  e = mu . phi_tt
 *     [g^T        f^T    e] [t_p ]     [mu . phi_t,p ]
 *
 * (the second-order change of the position takes no part, because J^T mu = 0). eps W, the start's
 * metric, keeps freedoms still that have nothing to do with the saddle. Several rows that depend at
 * once are taken together, with random r: an opening of one of them remains. Derivatives by a
 * number and by the time are central differences.
 *
 * Rows of a loop that is closed more than once depend on others in all positions. There c = 0 is no
 * saddle, but all of them; G and the time take no part. A number that keeps c = 0 to second order
 * in some positions keeps it closed.
 *
 * The first order of all numbers is one adjoint pass. For the second, all others change together,
 * at random; only if that parts the ways they are tried one by one. */
#include <math.h>
#include <string.h>

#include "sensitivity/breaking.h"
#include "sensitivity/crossing.h"
#include "sensitivity/direction.h"

#define STILL 1e-6 /* eps, of the largest entry of G */
#define FAR 0.2    /* rad, or lengths of the loops: a saddle further away is another one */
#define SETTLED 1e-9
#define BY                                                                                         \
    3e-3 /* rad, about: two ways that pass each other at this distance do not cross. c goes with   \
            its square */
#define WIDTH 1e-4 /* likewise: how far a number is changed */
#define FIRST                                                                                      \
    1e-4 /* of the size without cancelling: a larger change of c is an opening of first order, */
#define NONE 1e-6   /* and of what c changes by on the way: a smaller one is none */
#define SECOND 1e-3 /* the same for second order, */
#define FOURTH                                                                                     \
    1e-4 /* and for the square of the way: changes of fourth order have less, and so has rounding  \
          */
#define SMALL 1e-5 /* sizes below this part of the largest are rounding */
#define SHIFT 1e-3 /* of numbers, to see those that have no slope just here */
enum { STEPS = 12 };

typedef struct crossing {
    cst_run *r;
    const double *mem, *size;
    int always;       /* 1: the rows depend on others in all positions */
    const cst_kkt *k; /* rows i */
    cst_lu *lu;
    double t, *q;
    double *mu; /* (all rows) */
    double *val;
    int moves;                  /* 1: the time takes part */
    double *g, e;               /* (k->n) the border g, f; e */
    double *ginv, gap;          /* its solution, and e - (g, f) . ginv */
    double *phi, *row, *second; /* (all rows) */
    double *ambient;
    double *F[2], *x;       /* (k->n) */
    double *xi, *q1;        /* a move, and where it leads */
    double *leaf, *changed; /* the run's numbers, and others */
} crossing;

static double dot(int n, const double *a, const double *b)
{
    double y = 0;
    for (int i = 0; i < n; i++) y += a[i] * b[i];
    return y;
}

/* F = (J^T mu, phi_i) at t, q with the system's numbers. Returns mu . phi_t */
static double residual(crossing *c, double t, const double *q, double *F)
{
    cst_system *s = c->r->s;
    const cst_model *m = c->r->m;
    cst_system_place(s, t, q);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    memset(c->ambient, 0, sizeof *c->ambient * (size_t)m->nq);
    memset(c->phi, 0, sizeof *c->phi * (size_t)m->nrow);
    memset(c->row, 0, sizeof *c->row * (size_t)m->nrow);
    cst_reactions_add(s, c->mem, c->mu, CST_ROW_MOTION, s->fx, NULL);
    cst_slots_transpose(s, s->fx, c->ambient);
    cst_T_transpose(s, q, c->ambient, F);
    cst_constraints(s, c->mem, CST_ROW_MOTION, c->phi);
    cst_constraints_rate(s, c->mem, CST_ROW_MOTION, c->row);
    cst_kkt_gather(c->k, c->phi, F + c->k->nu);
    return dot(m->nrow, c->mu, c->row);
}

/* g, f and e, by differences over the step h */
static void border(crossing *c, double h)
{
    const double after = residual(c, c->t + h, c->q, c->F[1]),
                 before = residual(c, c->t - h, c->q, c->F[0]);
    c->e = (after - before) / (2 * h);
    for (int i = 0; i < c->k->n; i++) c->g[i] = (c->F[1][i] - c->F[0][i]) / (2 * h);
    c->moves = cst_largest(c->k->n, c->g) > 0 || c->e != 0;
}

/* x, t: the solution for the right-hand side x, b. */
static double solve(crossing *c, double *x, double b)
{
    cst_lu_solve(c->lu, 1, x);
    if (!c->moves) return 0;
    const double t = (b - dot(c->k->n, c->g, x)) / c->gap;
    for (int i = 0; i < c->k->n; i++) x[i] -= t * c->ginv[i];
    return t;
}

/* The largest entry of G, for columns of one size */
static double stiffness(const crossing *c)
{
    const cst_pattern *p = c->k->pattern;
    const double *column = c->size;
    double most = 0;
    for (int j = 0; j < c->k->nu; j++)
        for (int i = p->ptr[j]; i < p->ptr[j + 1]; i++)
            if (p->row[i] < c->k->nu)
                most = fmax(most, fabs(c->val[i]) * column[j] * column[p->row[i]]);
    return most;
}

/* The matrix at c->t, c->q, factored. 0: it is singular */
static int factor(crossing *c, cst_arena *a)
{
    cst_run *r = c->r;
    const cst_kkt *k = c->k;
    const double L = r->s->length;
    cst_kkt_coef coef = {.stiff = !c->always, .mass = c->always ? 1 / (L * L) : 0};
    if (!c->always) border(c, fmax(1e-6 * fmax(fabs(c->t), r->m->sim.end - r->m->sim.start), 1e-9));
    residual(c, c->t, c->q, c->x); /* places the system; c->ambient */
    cst_slots_blocks(r->s, c->q);
    for (int pass = c->always; pass < 2; pass++) {
        cst_kkt_assemble(k, r->s, c->q, NULL, c->mem, c->ambient, c->mu, r->st->weight, coef, 0, 0,
                         c->val);
        coef.mass = STILL * stiffness(c) / (L * L);
    }
    if (!c->lu) {
        unsigned char *kind = cst_new(a, unsigned char, k->n + 1);
        for (int i = k->nu; i < k->n; i++) kind[i] = 1;
        c->lu = cst_lu_new(a, k->pattern, c->val, kind, "multiplier-after");
    }
    if (!c->lu || cst_lu_factor(c->lu, c->val) >= 0) return 0;
    if (!c->moves) return 1;
    memcpy(c->ginv, c->g, sizeof *c->g * (size_t)k->n);
    cst_lu_solve(c->lu, 1, c->ginv);
    c->gap = c->e - dot(k->n, c->g, c->ginv);
    return c->gap != 0 && isfinite(c->gap);
}

/* The largest rotation, or translation in lengths of the loops; NAN if any is */
static double far(const crossing *c, const double *u)
{
    double most = 0;
    for (int i = 0; i < c->k->nu; i++) {
        if (isnan(u[i])) return NAN;
        most = fmax(most, fabs(u[i]) / c->size[i]);
    }
    return most;
}

/* Newton's method. 0: there is no saddle near */
static int find(crossing *c, cst_arena *a)
{
    const cst_kkt *k = c->k;
    double way = 0;
    if (c->always) return factor(c, a);
    for (int it = 0; it < STEPS; it++) {
        if (!factor(c, a)) return 0;
        const double b = residual(c, c->t, c->q, c->x);
        for (int i = 0; i < k->n; i++) c->x[i] = -c->x[i];
        c->t += solve(c, c->x, -b);
        const double step = far(c, c->x);
        if (!((way += step) < FAR)) return 0;
        cst_move(c->r->s, c->q, c->x, c->q);
        for (int i = 0; i < k->nrow; i++) c->mu[k->all_of[i]] += c->x[k->nu + i];
        if (step < SETTLED) return factor(c, a);
    }
    return 0;
}

/* The numbers at f times dp (leaves) from where they are */
static void bind(crossing *c, double f, const double *dp)
{
    for (int i = 0; i < cst_graph_leaves(c->r->m->graph); i++)
        c->changed[i] = c->leaf[i] + f * dp[i];
    cst_system_bind(c->r->s, c->changed);
}

/* c->x, *t: how the saddle moves with a change dp (leaves) of the numbers; how far. If that is much
 * more than WIDTH, dp is made smaller */
static double move_saddle(crossing *c, double *dp, double *t)
{
    double b[2], moved = 0;
    for (int tries = 0; tries < 3; tries++) {
        for (int side = 0; side < 2; side++)
            bind(c, side ? 1 : -1, dp), b[side] = residual(c, c->t, c->q, c->F[side]);
        for (int i = 0; i < c->k->n; i++) c->x[i] = -(c->F[1][i] - c->F[0][i]) / 2;
        *t = solve(c, c->x, -(b[1] - b[0]) / 2), moved = far(c, c->x);
        if (!(moved > 10 * WIDTH)) break;
        for (int i = 0; i < cst_graph_leaves(c->r->m->graph); i++) dp[i] *= WIDTH / moved;
    }
    return moved;
}

/* Does a change dp (leaves) of the numbers, which moves the saddle by about WIDTH, part the ways?
 * unit: what c changes by on a way of 1 where nothing cancels */
static int parts(crossing *c, double *dp, double unit)
{
    const cst_kkt *k = c->k;
    const cst_model *m = c->r->m;
    double t, value[3], *second = c->second, size = 0;
    const double moved = move_saddle(c, dp, &t), way = fmax(moved, WIDTH);
    if (!(moved < FAR)) return 1; /* there is no saddle near any more */
    memset(second, 0, sizeof *second * (size_t)m->nrow);
    for (int side = -1; side <= 1; side++) {
        for (int i = 0; i < k->nu; i++) c->xi[i] = side * c->x[i];
        cst_move(c->r->s, c->q, c->xi, c->q1);
        bind(c, side, dp);
        residual(c, c->t + side * t, c->q1, c->F[0]);
        value[side + 1] = dot(m->nrow, c->mu, c->phi);
        for (int i = 0; i < m->nrow; i++) second[i] += (side ? 0.5 : -1) * c->phi[i];
    }
    for (int i = 0; i < m->nrow; i++) size += fabs(c->mu[i] * second[i]);
    const double first = fabs(value[2] - value[0]) / 2, bend = fabs(dot(m->nrow, c->mu, second));
    return !(first <= FIRST * WIDTH * unit &&
             bend <= fmax(SECOND * size, FOURTH * way * way * unit));
}

/* The length of the smallest loops that weight . phi moves with */
static double length_of(crossing *c, const double *weight)
{
    cst_run *r = c->r;
    const cst_model *m = r->m;
    double length = r->s->length;
    memset(r->s->fx, 0, sizeof *r->s->fx * (size_t)m->nx);
    memset(c->ambient, 0, sizeof *c->ambient * (size_t)m->nq);
    cst_reactions_add(r->s, c->mem, weight, CST_ROW_MOTION, r->s->fx, NULL);
    cst_slots_transpose(r->s, r->s->fx, c->ambient);
    cst_T_transpose(r->s, c->q, c->ambient, c->x);
    for (int b = 0; b < m->body.n; b++)
        for (int i = m->body.at[b].u0; m->body.at[b].cls->nvec && i < m->body.at[b].u0 + 3; i++)
            if (c->x[i] != 0) length = fmin(length, c->size[i]);
    return length;
}

static crossing *crossing_new(cst_run *r, cst_arena *a, const cst_meeting *at)
{
    const cst_model *m = r->m;
    const size_t n = (size_t)(m->nu + m->nrow);
    crossing *c = cst_new(a, crossing, 1);
    unsigned char *keep = cst_new(a, unsigned char, m->nrow + 1);
    for (int i = 0; i < m->nrow; i++) keep[i] = !at->apart[i];
    c->r = r, c->t = at->t, c->mem = at->mem, c->size = at->size, c->always = at->always;
    c->k = cst_kkt_new(a, r->s, CST_ROW_MOTION, keep, 0, NULL);
    c->val = cst_new(a, double, c->k->pattern->nnz + 1);
    c->q = cst_new(a, double, m->nq + 1), c->q1 = cst_new(a, double, m->nq + 1),
    c->ambient = cst_new(a, double, m->nq + 1);
    c->mu = cst_new(a, double, m->nrow + 1), c->phi = cst_new(a, double, m->nrow + 1),
    c->row = cst_new(a, double, m->nrow + 1);
    c->second = cst_new(a, double, m->nrow + 1), c->xi = cst_new(a, double, m->nu + 1);
    c->g = cst_new(a, double, n + 1), c->ginv = cst_new(a, double, n + 1),
    c->x = cst_new(a, double, n + 1);
    c->F[0] = cst_new(a, double, n + 1), c->F[1] = cst_new(a, double, n + 1);
    c->leaf = cst_new(a, double, cst_graph_leaves(m->graph) + 1),
    c->changed = cst_new(a, double, cst_graph_leaves(m->graph) + 1);
    memcpy(c->q, at->q, sizeof *c->q * (size_t)m->nq);
    memcpy(c->leaf, r->s->leaf, sizeof *c->leaf * (size_t)cst_graph_leaves(m->graph));
    for (int k = 0; k < at->space.n; k++)
        for (int i = 0; i < m->nrow; i++)
            c->mu[i] += cst_spread(k) * at->space.at[(size_t)k * (size_t)m->nrow + (size_t)i];
    return c;
}

static double largest_finite(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) most = fmax(most, fabs(x[i]));
    return most;
}

/* dp (leaves): changes that move the saddle by about WIDTH; 0: the number takes no part. Slopes of
 * weight . phi tell, where weight has all rows of the loops, each scaled to 1 on a way of 1: a
 * number may move the saddle by rows that have no share in mu. It may also have no slope just here,
 * as that of a length sqrt(x^2 + y^2) by x where x = 0: then those beside, where all numbers are
 * shifted, tell the second. */
static void widths(crossing *c, cst_arena *a, const double *weight, double *dp)
{
    cst_run *r = c->r;
    const int n = cst_graph_leaves(r->m->graph);
    double *here = cst_new(a, double, n + 1), *beside = cst_new(a, double, n + 1),
           *shift = cst_new(a, double, n + 1);
    const double length = length_of(c, weight);
    for (int i = 0; i < n; i++)
        shift[i] = SHIFT * cst_spread(i) * fmax(fabs(c->leaf[i]), fmin(length, 1));
    cst_rows_slopes(r, a, c->q, c->mem, weight, here);
    bind(c, 1, shift);
    cst_system_place(r->s, c->t, c->q);
    cst_rows_slopes(r, a, c->q, c->mem, weight, beside);
    bind(c, 0, shift);
    const double zero = SMALL * largest_finite(n, here),
                 zero_beside = SMALL * SHIFT * largest_finite(n, beside);
    for (int i = 0; i < n; i++) {
        if (fabs(here[i]) > zero)
            dp[i] = WIDTH / fabs(here[i]);
        else if (fabs(beside[i]) > zero_beside)
            dp[i] = WIDTH * sqrt(shift[i] / fabs(beside[i]));
        if (!isfinite(dp[i])) dp[i] = 0;
    }
}

/* opens: the numbers that part the ways in first order. left (leaves): changes of the others, 0 of
 * those that are not asked for */
static void first_order(crossing *c, cst_arena *a, const double *weight, double unit,
                        const double *dp, const unsigned char *wanted, unsigned char *opens,
                        double *left)
{
    const int n = cst_graph_leaves(c->r->m->graph);
    double *slope = cst_new(a, double, n + 1), *size = cst_new(a, double, n + 1);
    cst_system_place(c->r->s, c->t, c->q);
    cst_rows_slopes(c->r, a, c->q, c->mem, c->mu, slope);
    cst_rows_slopes(c->r, a, c->q, c->mem, weight, size);
    for (int i = 0; i < n; i++) {
        const int none = fabs(slope[i]) <= FIRST * fabs(size[i]) ||
                         fabs(slope[i]) * dp[i] <= NONE * WIDTH * unit;
        left[i] = wanted[i] && none ? dp[i] : 0;
        opens[i] |= wanted[i] && !none;
    }
}

/* The same in second order */
static void second_order(crossing *c, cst_arena *a, double unit, const double *left,
                         unsigned char *opens)
{
    const int n = cst_graph_leaves(c->r->m->graph);
    double *dp = cst_new(a, double, n + 1), many = 0;
    for (int i = 0; i < n; i++) many += left[i] != 0;
    for (int i = 0; i < n; i++)
        dp[i] = left[i] / sqrt(fmax(many, 1)) * (cst_spread(i) < 1.5 ? 1 : -1);
    if (many == 0 || !parts(c, dp, unit)) return;
    memset(dp, 0, sizeof *dp * (size_t)n);
    for (int i = 0; i < n; i++) {
        if (left[i] == 0) continue;
        dp[i] = left[i];
        opens[i] |= (unsigned char)parts(c, dp, unit);
        dp[i] = 0;
    }
}

int cst_numbers_parting(cst_run *r, cst_arena *a, cst_meeting *at, const unsigned char *wanted,
                        unsigned char *opens)
{
    const cst_model *m = r->m;
    const int nleaf = cst_graph_leaves(m->graph);
    crossing *c = crossing_new(r, a, at);
    double *weight = cst_new(a, double, m->nrow + 1), *dp = cst_new(a, double, nleaf + 1),
           *left = cst_new(a, double, nleaf + 1);
    cst_system_rest(r->s);
    if (!find(c, a)) return CST_NOT_FOUND;
    residual(c, c->t, c->q, c->x); /* places the system */
    for (int i = 0; i < m->nrow; i++) weight[i] = c->mu[i] * cst_spread(i);
    double unit = 0; /* what c changes by on a way of 1 where nothing cancels */
    for (int i = 0; i < m->nrow; i++) unit = fmax(unit, fabs(c->mu[i]) * at->typical[i]);
    at->gap = sqrt(fabs(dot(m->nrow, c->mu, c->phi)) / unit);
    if (at->gap > BY) return CST_PASSES_BY;
    for (int i = 0; i < m->nrow; i++)
        c->second[i] = at->row[i] && at->typical[i] > 0 ? cst_spread(i) / at->typical[i] : 0;
    widths(c, a, c->second, dp);
    first_order(c, a, weight, unit, dp, wanted, opens, left);
    second_order(c, a, unit, left, opens);
    bind(c, 0, dp);
    return CST_CROSSES;
}
