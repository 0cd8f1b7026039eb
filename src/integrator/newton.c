/* SPDX-License-Identifier: MIT */
#include "integrator/newton.h"
#include "integrator/rule.h"

#include <math.h>
#include <string.h>

#define MAX_ITERATIONS 25
#define REFACTOR_AT 0.1 /* measured contraction that asks for a new matrix */
#define SLOW                                                                                       \
    0.3 /* contraction with a matrix of this very step, beyond which only rounding or a bend of a  \
           law is left */
#define STALLED                                                                                    \
    3 /* iterations of that: it is rounding. A law that bends within the step is passed before */
#define LIMITED 12  /* limited moves after which larger ones are still asked for: it is rounding */
#define UNSEEN 1e-6 /* of the error of the rule: an error that Newton's method may leave */
#define LIGHT                                                                                      \
    1e-6 /* of the largest inertia: where forces are judged, lighter bodies count with this much   \
          */
#define REACTIONS                                                                                  \
    1e-9 /* of the largest force of a joint: an error that Newton's method may leave in reactions  \
          */
#define DOUBT 1e-6 /* of the sizes of bodies: a first correction below this does not matter */
#define IDLE                                                                                       \
    2 /* iterations with a matrix of this very step that leave the forces as they are: it is       \
         rounding */

double cst_newton_size(const cst_motion *w, const double *xi)
{
    double y = 0;
    for (int i = 0; i < w->k->nu; i++) {
        double e = fabs(xi[i]) / w->st->column[i];
        if (isnan(e)) return e;
        if (e > y) y = e;
    }
    return y;
}

static double move_of(const cst_motion *w, const double *force)
{
    double y = 0;
    for (int i = 0; i < w->k->nu; i++) y = fmax(y, fabs(force[i]) * w->per_force[i]);
    return y;
}

/* |f_i|/(W_ii l_i), l_i = column: the move that a force f h^2 gives an unknown by itself, in sizes
 * of the bodies */
void cst_newton_weigh(cst_motion *w)
{
    const cst_model *m = w->s->m;
    const double *l = w->st->column;
    double most = 0;
    for (int i = 0; i < m->body.n; i++)
        for (int j = 0, u0 = m->body.at[i].u0; j < m->body.at[i].cls->nu; j++) {
            w->per_force[u0 + j] =
                fabs(w->newton_val[w->k->body_at[u0 + j] + j]) * l[u0 + j] * l[u0 + j];
            most = fmax(most, w->per_force[u0 + j]);
        }
    for (int i = 0; i < w->k->nu; i++)
        w->per_force[i] = most > 0 ? l[i] / fmax(w->per_force[i], LIGHT * most) : 0;
}

/* The same of h^2 J^T lambda, J of the matrix */
static double reactions_size(cst_motion *w, double h, const double *lambda)
{
    const cst_kkt *k = w->k;
    const cst_pattern *P = k->pattern;
    double *f = w->scratch;
    memset(f, 0, sizeof *f * (size_t)k->nu);
    for (int i = 0; i < k->nrow; i++)
        for (int p = P->ptr[k->nu + i]; p < P->ptr[k->nu + i + 1] && P->row[p] < k->nu; p++)
            f[P->row[p]] += h * h * lambda[k->all_of[i]] * w->newton_val[p];
    return move_of(w, f);
}

void cst_newton_watch(const cst_motion *w, const double *b, cst_newton_forces *f)
{
    double before = f->size;
    f->size = move_of(w, b);
    f->theta = f->passes ? f->size / before : 0;
    f->passes++;
}

int cst_newton_balanced(cst_motion *w, double h, const double *lambda, int fresh, double floor,
                        cst_newton_forces *f)
{
    double left = f->passes == 1 ? f->size
                  : f->theta < 1 ? f->theta / (1 - f->theta) * f->size
                                 : INFINITY;
    if (!w->k->nrow || left <= floor || left <= REACTIONS * reactions_size(w, h, lambda)) return 1;
    f->idle += fresh && f->theta > SLOW;
    return f->idle >= IDLE;
}

/* h^3/12 of the third derivative, as the accelerations of the step before say: about the rule's
 * error in one step. What Newton's method leaves has one sign for many steps, and must be small
 * against it whatever the step. */
static double local_error(const cst_motion *w, const cst_state *y0, double h)
{
    if (!(w->h_before > 0)) return 0;
    for (int i = 0; i < w->k->nu; i++) w->c[i] = y0->ud[i] - w->ud_before[i];
    return h * h * h / (12 * w->h_before) * cst_newton_size(w, w->c);
}

/* A law with a sharp bend within the step (friction near rest) can send the corrections back and
 * forth between its two sides without end. The solution then lies between the two places: from
 * there on each move is at most half of the last one, as long as Newton's method asks for more. d,
 * before: sizes of this correction and of the last one, which is in w->c. 1: it was limited */
static int limit(cst_motion *w, double d, double before, double *most)
{
    const cst_kkt *k = w->k;
    if (*most == 0) {
        double dot = 0, a = 0, b = 0;
        for (int i = 0; i < k->nu; i++)
            dot += w->x[i] * w->c[i], a += w->x[i] * w->x[i], b += w->c[i] * w->c[i];
        memcpy(w->c, w->x, sizeof *w->c * (size_t)k->nu);
        if (dot < -0.9 * sqrt(a * b) && d > 0.8 * before && d < 1.25 * before) *most = before / 2;
    }
    if (*most == 0 || d <= *most) return *most = 0, 0;
    for (int i = 0; i < k->n; i++) w->x[i] *= *most / d;
    *most /= 2;
    return 1;
}

/* Rounding of positions, in sizes of the bodies */
static double rounding(const cst_motion *w, const cst_state *y)
{
    const cst_model *m = w->s->m;
    double most = 1;
    for (int i = 0; i < m->body.n; i++)
        if (m->body.at[i].cls->nvec)
            most = fmax(most, cst_largest(3, y->q + m->body.at[i].q0) / w->s->size[i]);
    return 1e-16 * most;
}

/* The largest residual of a row, in sizes of its bodies; the row, among all rows */
static double open_rows(const cst_motion *w, int *row)
{
    double most = -1;
    for (int i = 0; i < w->k->nrow; i++) {
        int all = w->k->all_of[i];
        double e = fabs(w->b[w->k->nu + i]) / w->st->reach[all];
        if (e <= most) continue;
        most = e;
        if (row) *row = all;
    }
    return most;
}

/* Accelerations of modes much faster than the step are (omega h)^2 times too large for it: a stiff
 * beam would be stretched, and Newton's method begin at forces that it takes many iterations to get
 * rid of. A first correction larger than what accelerations gave tells. */
void cst_newton_doubt(cst_motion *w, const double *xi)
{
    w->doubt = w->habits.coast > 0 ? INFINITY : fmax(cst_newton_size(w, xi), DOUBT);
}

static int iterate(cst_motion *w, const cst_newton *of, const cst_state *y0, double h,
                   cst_state *y1)
{
    const cst_kkt *k = w->k;
    double before = 0, theta = 1;
    double floor = rounding(w, y0);
    double local = local_error(w, y0, h), enough = fmin(fmax(w->tolerance, floor), UNSEEN * local);
    int fresh = 0, stalled = 0, limited = 0; /* the matrix belongs to this step; slow iterations
                                                with it; moves that were limited */
    int placed = 0;                          /* positions are as good as they get */
    double most = 0;
    cst_newton_forces forces = {0};
    if (fabs(w->factored_h - h) > 1e-6 * h)
        w->factored_h = 0; /* t1 - t0 is rounded: nearly the same length will do */
    for (int it = 0; it < MAX_ITERATIONS; it++) {
        of->residual(w, y0, h, y1);
        if (w->full || w->factored_h == 0) {
            w->factored_h = h, w->spent = 0, w->n.factorizations++;
            if (!of->matrix(w, y0, h, y1)) return 0;
            cst_newton_weigh(w);
            fresh = 1;
        }
        cst_newton_watch(w, w->b, &forces);
        w->n.iterations++;
        for (int i = 0; i < k->n; i++) w->x[i] = -w->b[i];
        cst_lu_solve(w->newton, 1, w->x);
        double d = cst_newton_size(w, w->x);
        if (!isfinite(d) || d > 1e3 || (it == 0 && d > w->doubt)) return 0;
        if (it > 0) {
            theta = fmax(d / before, it == 1 ? 0 : theta * 0.1);
            if (d < w->habits.noise) w->habits.noise = fmax(d, w->habits.noise / 2);
            if (theta > 1 && d > 1e-6 && fresh > 1 && it > 4 && most == 0)
                return 0; /* diverging with a fresh matrix */
        }
        stalled = fresh && !placed && it > 0 && theta > SLOW ? stalled + 1 : 0;
        int short_of = limit(w, d, it > 0 && fresh && !placed && d > floor ? before : 0, &most);
        limited += short_of;
        int still = placed && d <= fmax(before, floor); /* only reactions are wanted */
        if (still)
            memset(w->x, 0, sizeof *w->x * (size_t)k->nu);
        else
            before = d;
        of->correct(w, y0, h, y1);
        if (short_of && limited < LIMITED) {
            w->factored_h = 0, placed = 0;
            continue;
        }
        /* The first correction says nothing of the contraction, and old factors may have any:
         * guesses are so good that the first correction alone would often do, and leave an error of
         * one sign. */
        double left = it == 0 ? d : theta < 1 ? theta / (1 - theta) * d : INFINITY;
        placed = still || left <= enough ||
                 (it > 0 &&
                  (d <= 2 * w->habits.noise || left <= fmin(w->habits.noise / 30, UNSEEN * local)));
        if (!placed && it > 0 && d <= 1e-12 && theta > SLOW) {
            w->habits.noise = fmin(d, 1e-13);
            placed = 1;
        }
        if (placed && cst_newton_balanced(w, h, of->lambda(y1), fresh, floor, &forces)) return 1;
        /* In a long chain far from the origin rounding is more: a matrix of this very step does not
         * make it smaller. */
        if (stalled >= STALLED && d <= 1e-9) return 1;
        /* Near a singular position rounding of phi, divided by the smallest singular value, is all
         * that a fresh matrix still moves. A shorter step would not help. */
        if (stalled >= STALLED && k->nrow && theta > 0.5 && d <= 1e-7 &&
            open_rows(w, NULL) <= 16 * floor)
            return 1;
        if (!w->full && it > 0 && (placed ? forces.theta > SLOW : theta > REFACTOR_AT)) {
            w->factored_h = 0;
            fresh++;
        }
    }
    return placed; /* at a singular position reactions may not converge */
}

static int attempt(cst_motion *w, const void *of, const cst_state *y0, double h, cst_state *y1)
{
    const cst_newton *e = of;
    memcpy(y1->z, y0->z, sizeof *y1->z * (size_t)w->s->m->nz);
    e->guess(w, y0, h, y1);
    int ok = iterate(w, e, y0, h, y1);
    if (!ok) w->factored_h = 0;
    return ok;
}

int cst_newton_attempts(cst_motion *w, cst_attempt *attempts, const void *of, const cst_state *y0,
                        double h, cst_state *y1)
{
    int coasted = w->habits.coast > 0, full = w->full;
    int ok = attempts(w, of, y0, h, y1);
    if (!ok && !coasted) {
        w->habits.coast = cst_direct_steps(&w->habits.coast_next);
        ok = attempts(w, of, y0, h, y1);
    }
    if (!ok && !full) {
        w->full = 1;
        ok = attempts(w, of, y0, h, y1);
        w->full = 0;
    }
    if (ok && coasted) w->habits.coast--; /* accelerations are tried again later */
    return ok;
}

int cst_newton_solve(cst_motion *w, const cst_newton *of, const cst_state *y0, double h,
                     cst_state *y1)
{
    return cst_newton_attempts(w, attempt, of, y0, h, y1);
}

/* Old factors cost passes. Throw them away when the passes beyond those that fresh ones need, of
 * all steps together, have been dearer than a new matrix. An iteration of Newton is about three
 * passes. */
void cst_newton_review(cst_motion *w, long iterations)
{
    const cst_lu_info *f = cst_lu_get(w->newton);
    double entries = (double)w->k->pattern->nnz;
    double matrix = f->factor_cost + 45 * entries, pass = f->solve_cost + 8 * entries;
    w->spent += (double)(3 * (iterations - 2)) * pass;
    if (w->spent > matrix) w->factored_h = 0;
}

cst_status cst_newton_blame(cst_motion *w, double t, double h, cst_diag *d)
{
    const cst_model *m = w->s->m;
    const cst_kkt *k = w->k;
    double force = 0;
    int row = -1, unknown = -1;
    if (w->eq.b0 != 0 || w->charts) /* phi = 0 is not an equation of the step: it was not Newton's
                                       method that failed */
        return cst_error(
            d, CST_NUMERIC, (cst_where){.file = m->file},
            "t = %.6g s: the rule %s fails with steps down to %.3g s: the constraints lose rank "
            "here, or the motion is too fast for it; formulation index3 passes singular positions",
            t, w->rule->name, h);
    double most = open_rows(w, &row);
    for (int i = 0; i < k->nu; i++)
        if (!(fabs(w->b[i]) <= force)) force = fabs(w->b[i]), unknown = i;
    for (int i = 0; most > 1e-9 && i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        if (row < c->row0 || row >= c->row0 + c->cls->nphi) continue;
        return cst_error(d, CST_NUMERIC, c->where,
                         "t = %.6g s: Newton stopped after %d iterations with the step at %.3g s, "
                         "residual %.3g; largest in '%s' (%s)",
                         t, MAX_ITERATIONS, h, fabs(w->b[k->nu + k->row_of[row]]), c->name,
                         c->row_name);
    }
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        if (unknown < b->u0 || unknown >= b->u0 + b->cls->nu) continue;
        return cst_error(d, CST_NUMERIC, b->where,
                         "t = %.6g s: Newton stopped after %d iterations with the step at %.3g s; "
                         "largest change in body '%s'",
                         t, MAX_ITERATIONS, h, b->name);
    }
    return cst_error(d, CST_NUMERIC, (cst_where){.file = m->file},
                     "t = %.6g s: Newton stopped with the step at %.3g s", t, h);
}
