/* SPDX-License-Identifier: MIT */
#include "integrator/chart.h"

#include <math.h>
#include <string.h>

#define LARGEST                                                                                    \
    4000 /* limit for the unknowns: the coordinates are chosen with a dense factorisation */
#define WORN                                                                                       \
    2 /* a chart is replaced when its dependent velocities have grown by this factor since it was  \
         made */

/* LAPACK: A P = Q R with column pivoting */
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);

const cst_chart *cst_chart_at(const cst_charts *cs, double t)
{
    if (!cs || !cs->list.n) return NULL;
    int i = cs->list.n - 1;
    while (i > 0 && cs->list.at[i]->from > t) i--;
    return cs->list.at[i];
}

cst_chart_work *cst_chart_work_new(cst_arena *a, cst_motion *w)
{
    const cst_model *m = w->s->m;
    cst_chart_work *o = cst_new(a, cst_chart_work, 1);
    int n = w->k->n;
    w->chart_lu = cst_lu_twin(a, w->st->motion_lu, 0);
    o->val = cst_new(a, double, w->st->entries + 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->b, n},      {&o->x, n},        {&o->sigma, m->nu},
                {&o->s, m->nu},  {&o->want, m->nu}, {&o->rows, m->nrow},
                {&o->xi, m->nu}, {&o->v, m->nq},    {&o->phi, m->nrow}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);
    return o;
}

/* ---- coordinates ---- */

/* sigma = T(q)^T e_k within the body of coordinate k */
static const cst_body *row_of(const cst_system *s, const cst_chart *ch, const double *q, int k,
                              double *sigma)
{
    const cst_body *b = &s->m->body.at[ch->body[k]];
    double unit[3 * CST_MAX_NU] = {0};
    unit[ch->q[k] - b->q0] = 1;
    b->cls->Tt(q + b->q0, unit, sigma);
    return b;
}

static void read_ambient(const cst_chart *ch, const double *x, double *s)
{
    for (int k = 0; k < ch->n; k++) s[k] = x[ch->q[k]];
}

/* b (nu) = T^T S^T f */
static void pull(const cst_system *s, const cst_chart *ch, const double *q, const double *f,
                 double *b)
{
    double sigma[CST_MAX_NU];
    memset(b, 0, sizeof *b * (size_t)s->m->nu);
    for (int k = 0; k < ch->n; k++) {
        const cst_body *body = row_of(s, ch, q, k, sigma);
        for (int i = 0; i < body->cls->nu; i++) b[body->u0 + i] += f[k] * sigma[i];
    }
}

/* f = S T x */
static void push(const cst_system *s, const cst_chart *ch, const double *q, const double *x,
                 double *f)
{
    double sigma[CST_MAX_NU];
    for (int k = 0; k < ch->n; k++) {
        const cst_body *body = row_of(s, ch, q, k, sigma);
        f[k] = 0;
        for (int i = 0; i < body->cls->nu; i++) f[k] += sigma[i] * x[body->u0 + i];
    }
}

/* [T^T S^T S T, J^T; J, -eps]; the system is placed at q */
static void assemble(cst_motion *w, const cst_chart *ch, const double *q, const double *mem)
{
    cst_system *s = w->s;
    const cst_kkt *k = w->k;
    cst_chart_work *o = w->chart;
    const cst_kkt_coef c = {.eps = w->st->eps};
    double sigma[CST_MAX_NU];
    cst_slots_blocks(s, q);
    cst_kkt_assemble(k, s, q, NULL, mem, NULL, NULL, NULL, c, 0, 0, o->val);
    for (int i = 0; i < ch->n; i++) {
        const cst_body *body = row_of(s, ch, q, i, sigma);
        int nu = body->cls->nu;
        for (int col = 0; col < nu; col++)
            for (int row = 0; row < nu; row++)
                o->val[k->body_at[body->u0 + col] + row] += sigma[row] * sigma[col];
    }
}

/* ---- the choice ---- */

/* A = J by columns, scaled as for the rank; A P = Q R */
static cst_status factor_jacobian(cst_arena *scratch, cst_motion *w, const cst_state *y, double *A,
                                  int *pivot, double *ratio)
{
    const cst_kkt *k = w->k;
    int nrow = k->nrow, nu = k->nu, info = 0, lwork = 68 * (nu + 1);
    double *tau = cst_new(scratch, double, nu + 1), *work = cst_new(scratch, double, lwork);
    cst_jacobian J = cst_jacobian_rows(scratch, w->s, y->mem, CST_ROW_MOTION, w->st->column);
    for (int i = 0; i < J.rows.nrow; i++) {
        int row = k->row_of[J.all_of[i]];
        for (int p = J.rows.ptr[i]; row >= 0 && p < J.rows.ptr[i + 1]; p++)
            A[(size_t)J.rows.col[p] * (size_t)nrow + (size_t)row] = J.rows.val[p];
    }
    dgeqp3_(&nrow, &nu, A, &nrow, pivot, tau, work, &lwork, &info);
    double first = fabs(A[0]),
           last = fabs(A[(size_t)(nrow - 1) * (size_t)nrow + (size_t)(nrow - 1)]);
    *ratio = last / first;
    return info == 0 && last > 1e-10 * first ? CST_OK : CST_NUMERIC;
}

/* Tangent vector j of the null space of J: u = P [-R1^-1 r_j; e_j], r_j the columns of R after R1.
 * Unscaled. */
static void null_vector(const cst_motion *w, const double *R, const int *pivot, int j, double *u)
{
    int nrow = w->k->nrow, nu = w->k->nu;
    memset(u, 0, sizeof *u * (size_t)nu);
    for (int i = nrow - 1; i >= 0; i--) {
        double x = -R[(size_t)(nrow + j) * (size_t)nrow + (size_t)i];
        for (int c = i + 1; c < nrow; c++)
            x -= R[(size_t)c * (size_t)nrow + (size_t)i] * u[pivot[c] - 1];
        u[pivot[i] - 1] = x / R[(size_t)i * (size_t)nrow + (size_t)i];
    }
    u[pivot[nrow + j] - 1] = 1;
    for (int i = 0; i < nu; i++) u[i] *= w->st->column[i]; /* J was scaled by columns */
}

/* Of the natural coordinates, or of the joints', those that move most with the free motions, by a
 * pivoted QR of (T N)^T, N the null space of J; lengths are measured in the size of the largest
 * body. */
static cst_status choose(cst_arena *scratch, cst_motion *w, const cst_state *y, int n, int *chosen,
                         double *ratio)
{
    const cst_model *m = w->s->m;
    int nrow = w->k->nrow, nu = w->k->nu, nq = m->nq, info = 0, lwork = 68 * (nq + 1);
    double *A = cst_new(scratch, double, (size_t)nrow *nu + 1),
           *u = cst_new(scratch, double, nu + 1);
    double *B = cst_new(scratch, double, (size_t)n *nq + 1), *v = cst_new(scratch, double, nq + 1);
    double *tau = cst_new(scratch, double, nq + 1), *work = cst_new(scratch, double, lwork);
    int *pivot = cst_new(scratch, int, nu + 1), *order = cst_new(scratch, int, nq + 1);
    if (nrow && factor_jacobian(scratch, w, y, A, pivot, ratio) != CST_OK) return CST_NUMERIC;
    for (int i = 0; !nrow && i < nu; i++) pivot[i] = i + 1;
    for (int j = 0; j < n; j++) {
        null_vector(w, A, pivot, j, u);
        cst_T(w->s, y->q, u, v);
        for (int k = 0; k < m->body.n; k++) {
            const cst_body *b = &m->body.at[k];
            if (w->charts->joints ? !b->bound && !b->loose : b->bound) continue;
            for (int i = b->q0; i < b->q0 + 3 * b->cls->nvec + b->cls->nscalar; i++)
                B[(size_t)i * (size_t)n + (size_t)j] = v[i] / w->st->ambient[i];
        }
    }
    if (n) dgeqp3_(&n, &nq, B, &n, order, tau, work, &lwork, &info);
    if (n && !(fabs(B[(size_t)n * (size_t)n - 1]) > 1e-8 * fabs(B[0]))) return CST_NUMERIC;
    for (int i = 0; i < n; i++) chosen[i] = order[i] - 1;
    return info == 0 ? CST_OK : CST_NUMERIC;
}

static int body_of(const cst_model *m, int q)
{
    int i = 0;
    while (i + 1 < m->body.n && m->body.at[i + 1].q0 <= q) i++;
    return i;
}

/* x = A^-1 b with the multipliers' -eps block taken out by one refinement */
static void solve(cst_motion *w, const double *b, double *x)
{
    cst_kkt_solve(w->k, w->chart_lu, w->chart->val, w->st->eps, b, x, w->scratch);
}

static int singular(const cst_motion *w, const cst_chart *ch)
{
    return w->forward && w->k == ch->k &&
           !(cst_lu_get(w->chart_lu)->rcond > CST_SINGULAR * ch->rcond);
}

/* How large velocities are whose independent ones are +-1: |R s'|, [J; S T] R = [0; I]; in units of
 * the rank test. The matrix is factored at q. */
static double growth(cst_motion *w, const cst_chart *ch, const double *q)
{
    const cst_kkt *k = w->k;
    cst_chart_work *o = w->chart;
    double largest = 0;
    for (int pattern = 0; pattern < 3; pattern++) {
        for (int i = 0; i < ch->n; i++) {
            double unit = w->st->ambient[ch->q[i]];
            o->s[i] = pattern == 0 || (pattern == 1 && i % 2) || (pattern == 2 && i % 4 < 2)
                          ? unit
                          : -unit;
        }
        pull(w->s, ch, q, o->s, o->b);
        memset(o->b + k->nu, 0, sizeof *o->b * (size_t)k->nrow);
        solve(w, o->b, o->x);
        for (int i = 0; i < k->nu; i++) largest = fmax(largest, fabs(o->x[i]) / w->st->column[i]);
    }
    return largest;
}

int cst_chart_worn(cst_motion *w, const cst_chart *ch, const double *q)
{
    return !(growth(w, ch, q) <= WORN * ch->growth);
}

static cst_chart *make(cst_charts *cs, cst_motion *w, const cst_state *y, cst_diag *d)
{
    const cst_model *m = w->s->m;
    cst_where here = {.file = m->file};
    cst_arena *a = cs->arena;
    if (m->nu > LARGEST) {
        cst_error(d, CST_USAGE, here,
                  "independent coordinates are chosen for at most %d unknowns, not %d", LARGEST,
                  m->nu);
        return NULL;
    }
    cst_arena scratch = {.guard = a->guard};
    cst_chart *ch = cst_new(a, cst_chart, 1);
    ch->n = w->k->nu - w->k->nrow, ch->from = *y->t;
    ch->q = cst_new(a, int, ch->n + 1), ch->body = cst_new(a, int, ch->n + 1);
    cst_system_place(w->s, *y->t, y->q);
    cst_slots_blocks(w->s, y->q);
    double ratio = 1;
    cst_status ok = choose(&scratch, w, y, ch->n, ch->q, &ratio);
    cst_arena_free(&scratch);
    cs->regular = fmax(cs->regular, ratio);
    if (ratio < CST_SINGULAR * cs->regular) ok = CST_NUMERIC;
    for (int k = 0; k < ch->n && ok == CST_OK; k++) ch->body[k] = body_of(m, ch->q[k]);
    if (ok == CST_OK) {
        assemble(w, ch, y->q, y->mem);
        ok = cst_lu_factor(w->chart_lu, w->chart->val) < 0 ? CST_OK : CST_NUMERIC;
        if (ok == CST_OK)
            ch->k = w->k, ch->rcond = cst_lu_get(w->chart_lu)->rcond,
            ch->growth = growth(w, ch, y->q);
    }
    if (ok == CST_OK) return ch;
    cst_error(d, CST_NUMERIC, here,
              "t = %.6g s: no independent coordinates: the constraints lose rank at this position; "
              "formulation index3 can pass it",
              *y->t);
    return NULL;
}

cst_status cst_charts_review(cst_charts *cs, cst_motion *w, const cst_state *y, cst_diag *d)
{
    const cst_chart *now = cst_chart_at(cs, *y->t);
    if (now) {
        cst_system_place(w->s, *y->t, y->q);
        assemble(w, now, y->q, y->mem);
        if (cst_lu_factor(w->chart_lu, w->chart->val) < 0 && !singular(w, now) &&
            !cst_chart_worn(w, now, y->q))
            return CST_OK;
    }
    cst_chart *next = make(cs, w, y, d);
    if (!next) return CST_NUMERIC;
    *cst_push(cs->arena, &cs->list) = next;
    return CST_OK;
}

/* ---- positions and velocities of the coordinates ---- */

cst_status cst_chart_project(cst_motion *w, const cst_chart *ch, double t, const double *mem,
                             const double *q_sum, const double *v_sum, double *q, double *u)
{
    cst_system *s = w->s;
    const cst_kkt *k = w->k;
    cst_chart_work *o = w->chart;
    double before = INFINITY;
    read_ambient(ch, q_sum, o->want);
    for (int it = 0;; it++) {
        double change = 0;
        cst_system_place(s, t, q);
        assemble(w, ch, q, mem);
        if (cst_lu_refactor(w->chart_lu, o->val) >= 0) return CST_NUMERIC;
        read_ambient(ch, q, o->s);
        for (int i = 0; i < ch->n; i++) o->s[i] = o->want[i] - o->s[i];
        pull(s, ch, q, o->s, o->b);
        cst_constraints(s, mem, CST_ROW_MOTION, o->phi);
        for (int i = 0; i < k->nrow; i++) o->b[k->nu + i] = -o->phi[k->all_of[i]];
        solve(w, o->b, o->x);
        cst_move(s, q, o->x, q);
        for (int i = 0; i < k->nu; i++) change = fmax(change, fabs(o->x[i]) / w->st->column[i]);
        if (!isfinite(change) || it > 20) return CST_NUMERIC;
        if (change <= 1e-16 || (change <= 1e-11 && change > 0.1 * before) || (change <= 1e-8 && it))
            break;
        before = change;
    }
    w->n.factorizations++;
    cst_system_place(s, t, q);
    assemble(w, ch, q, mem);
    if (cst_lu_refactor(w->chart_lu, o->val) >= 0) return CST_NUMERIC;
    read_ambient(ch, v_sum, o->want);
    pull(s, ch, q, o->want, o->b);
    cst_constraints_rate(s, mem, CST_ROW_MOTION, o->phi);
    for (int i = 0; i < k->nrow; i++) o->b[k->nu + i] = -o->phi[k->all_of[i]];
    solve(w, o->b, o->x);
    memcpy(u, o->x, sizeof *u * (size_t)k->nu);
    return CST_OK;
}

const double *cst_chart_follow(cst_motion *w, const cst_chart *ch, const double *q, const double *e)
{
    cst_chart_work *o = w->chart;
    read_ambient(ch, e, o->want);
    pull(w->s, ch, q, o->want, o->b);
    memset(o->b + w->k->nu, 0, sizeof *o->b * (size_t)w->k->nrow);
    solve(w, o->b, o->x);
    return o->x;
}

cst_status cst_chart_prepare(cst_motion *w, const cst_chart *ch, const cst_state *y)
{
    cst_system_place(w->s, *y->t, y->q);
    assemble(w, ch, y->q, y->mem);
    return cst_lu_refactor(w->chart_lu, w->chart->val) < 0 ? CST_OK : CST_NUMERIC;
}

/* J xi = -(phi_p dp + phi_t dt), S T xi = S dq^;     J du = -d(phi_x T u + phi_t), S T du = S (dv^
 * - L(dq, u)) */
void cst_chart_tangent(cst_tangent *t, cst_motion *f, const cst_chart *ch, const cst_state *y,
                       const double *dq_sum, const double *dv_sum)
{
    cst_system *s = t->w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = t->w->k;
    cst_chart_work *o = f->chart;
    double *v = t->v1, *dv = t->base;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, v);
    cst_system_rates(s, v);
    const cst_pass_at at = {.q = y->q, .v = v, .mem = y->mem, .phases = CST_ROW_MOTION};
    const cst_tangent_in fixed = {.P = t->P, .t = t->t};
    const cst_tangent_out phi = {.phi = t->rows, .x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &fixed, &phi);
    read_ambient(ch, dq_sum, o->s);
    pull(s, ch, y->q, o->s, o->b);
    for (int i = 0; i < k->nrow; i++) o->b[k->nu + i] = -t->rows[k->all_of[i]];
    solve(f, o->b, o->x);
    cst_T(s, y->q, o->x, t->q);

    memset(dv, 0, sizeof *dv * (size_t)m->nq);
    cst_L_add(s, t->q, y->u, dv);
    const cst_tangent_in moved = {.q = t->q, .v = dv, .P = t->P, .t = t->t};
    const cst_tangent_out phi1 = {.phi1 = t->rows, .x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &moved, &phi1);
    for (int i = 0; i < m->nq; i++) dv[i] = dv_sum[i] - dv[i];
    read_ambient(ch, dv, o->s);
    pull(s, ch, y->q, o->s, o->b);
    for (int i = 0; i < k->nrow; i++) o->b[k->nu + i] = -t->rows[k->all_of[i]];
    solve(f, o->b, o->x);
    memcpy(t->u, o->x, sizeof *t->u * (size_t)k->nu);
}

#define SECTION(array, size) ((array) + (size_t)r * (size_t)(size))

/* m = A^-T (top, 0): what asks for the coordinates, S T mu, as an ambient bar; the rows' weights
 * -nu in ad->rows */
static void weigh(cst_adjoint *ad, cst_motion *f, const cst_chart *ch, const double *q, int r,
                  const double *top, double *sum)
{
    const cst_kkt *k = f->k;
    const cst_model *m = f->s->m;
    cst_chart_work *o = f->chart;
    double *rows = SECTION(ad->rows, m->nrow);
    memset(o->b, 0, sizeof *o->b * (size_t)k->n);
    memcpy(o->b, top, sizeof *top * (size_t)k->nu);
    cst_kkt_tsolve(f->k, f->chart_lu, f->chart->val, f->st->eps, o->b, o->x, f->scratch);
    push(f->s, ch, q, o->x, o->s);
    memset(sum, 0, sizeof *sum * (size_t)m->nq);
    for (int i = 0; i < ch->n; i++) sum[ch->q[i]] = o->s[i];
    memset(rows, 0, sizeof *rows * (size_t)m->nrow);
    for (int i = 0; i < k->nrow; i++) rows[k->all_of[i]] = -o->x[k->nu + i];
}

void cst_chart_adjoint(cst_adjoint *ad, cst_motion *f, const cst_chart *ch, const cst_state *y,
                       double *q_sum, double *v_sum)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    double *v = ad->V, *t = ad->timed ? ad->t : NULL;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, v);
    cst_system_rates(s, v);
    const cst_pass_at at = {.q = y->q, .v = v, .mem = y->mem, .phases = CST_ROW_MOTION};
    for (int r = 0; r < ad->n; r++) {
        double *minus = ad->r, *sum = SECTION(v_sum, m->nq), *q = SECTION(ad->q, m->nq);
        weigh(ad, f, ch, y->q, r, SECTION(ad->u, m->nu), sum);
        for (int i = 0; i < m->nq; i++) minus[i] = -sum[i];
        for (int i = 0; i < m->body.n; i++) { /* -S L(dq, u) */
            const cst_body *b = &m->body.at[i];
            b->cls->Lt(y->u + b->u0, minus + b->q0, q + b->q0);
        }
    }
    memset(ad->v, 0, sizeof *ad->v * (size_t)ad->n * (size_t)m->nq);
    const cst_adjoint_in rate = {.nrhs = ad->n, .k1 = ad->rows};
    const cst_adjoint_out bars = {
        .x = ad->x, .xd = ad->xd, .q = ad->q, .v = ad->v, .P = ad->P, .t = t};
    cst_adjoint_pass(ad->pass, &at, &rate, &bars);
    for (int r = 0; r < ad->n; r++) {
        double *q = SECTION(ad->q, m->nq);
        for (int i = 0; i < m->body.n; i++) {
            const cst_body *b = &m->body.at[i];
            b->cls->Lt(y->u + b->u0, SECTION(ad->v, m->nq) + b->q0, q + b->q0);
        }
        cst_T_transpose(s, y->q, q, ad->solve);
        weigh(ad, f, ch, y->q, r, ad->solve, SECTION(q_sum, m->nq));
    }
    const cst_adjoint_in position = {.nrhs = ad->n, .k0 = ad->rows};
    const cst_adjoint_out numbers = {.x = ad->x, .xd = ad->xd, .P = ad->P, .t = t};
    cst_adjoint_pass(ad->pass, &at, &position, &numbers);
}
