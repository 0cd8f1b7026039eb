/* SPDX-License-Identifier: MIT
 *
 * Pattern and values of the matrix over (u, lambda). */
#include "system/kkt.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "linalg/pair.h"

static int *unknowns(const cst_reach *r, int *out)
{
    int n = 0;
    for (int i = 0; i < r->n; i++)
        for (int u = r->u0[i]; n < r->t0[i + 1]; u++) out[n++] = u;
    return out;
}

/* position of (first row of each range of r, each tangent column of r): n x nt */
static int *stiff_starts(cst_arena *a, const cst_pattern *p, const cst_reach *r, int *cols)
{
    int *at = cst_new(a, int, r->n * r->nt);
    unknowns(r, cols);
    for (int i = 0; i < r->n; i++) cst_pattern_slots(p, 1, &r->u0[i], r->nt, cols, at + i * r->nt);
    return at;
}

/* The unknowns of one body, or of the two bodies of a link, as one range. */
typedef struct own_range {
    cst_reach r;
    int u0, t0[2];
} own_range;

static const cst_reach *range_of(const cst_body *b, int bodies, own_range *o)
{
    o->u0 = b->u0;
    o->t0[0] = 0, o->t0[1] = b->cls->nu + (bodies > 1 ? b[1].cls->nu : 0);
    o->r = (cst_reach){.n = 1, .u0 = &o->u0, .nt = o->t0[1], .t0 = o->t0};
    return &o->r;
}

static int chosen_rows(const cst_kkt *k, const cst_constraint *c, int *first)
{
    int n = 0;
    *first = -1;
    for (int i = 0; i < c->cls->nphi; i++) {
        int r = k->row_of[c->row0 + i];
        if (r < 0) continue;
        if (*first < 0) *first = r;
        n++;
    }
    return n;
}

static int touches(const cst_constraint *c, int phases) { return (c->phases & phases) != 0; }

/* Quadratic and tape constraints have Hessians; linear ones have none. */
static int has_hessian(const cst_constraint *c) { return !c->cls->linear; }

static const cst_pattern *pattern_of(const cst_kkt *k, cst_arena *a, const cst_system *s, int *cols)
{
    const cst_model *m = s->m;
    own_range own;
    cst_pattern_builder *b = cst_pattern_begin(a, k->n);
    for (int i = 0; i < m->body.n + m->link.n; i++) {
        int link = i - m->body.n;
        const cst_reach *r = link < 0 ? range_of(&m->body.at[i], 1, &own)
                                      : range_of(&m->body.at[m->link.at[link].body], 2, &own);
        unknowns(r, cols);
        cst_pattern_block(b, r->nt, cols, r->nt, cols);
    }
    for (int i = 0; i < m->force.n; i++) {
        const cst_reach *r = &s->force_reach[i];
        unknowns(r, cols);
        cst_pattern_block(b, r->nt, cols, r->nt, cols);
    }
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const cst_reach *r = &s->constraint_reach[i];
        if (!touches(c, k->phases)) continue;
        int rows[CST_MAX_PHI], first, n = chosen_rows(k, c, &first);
        for (int j = 0; j < n; j++) rows[j] = k->nu + first + j;
        unknowns(r, cols);
        if (has_hessian(c)) cst_pattern_block(b, r->nt, cols, r->nt, cols);
        if (n)
            cst_pattern_block(b, n, rows, r->nt, cols), cst_pattern_block(b, r->nt, cols, n, rows);
    }
    for (int i = 0; i < k->nrow; i++) {
        int row = k->nu + i;
        cst_pattern_block(b, 1, &row, 1, &row);
    }
    return cst_pattern_finish(b, a);
}

static int widest(const cst_system *s)
{
    int n = 2 * CST_MAX_NU;
    for (int i = 0; i < s->m->force.n; i++)
        if (s->force_reach[i].nt > n) n = s->force_reach[i].nt;
    for (int i = 0; i < s->m->constraint.n; i++)
        if (s->constraint_reach[i].nt > n) n = s->constraint_reach[i].nt;
    return n;
}

static void runs_new(cst_arena *a, cst_kkt *k, const cst_system *s)
{
    const cst_model *m = s->m;
    int most = m->nu;
    for (int i = 0; i < m->link.n; i++) most += m->body.at[m->link.at[i].body + 1].cls->nu;
    for (int i = 0; i < m->constraint.n; i++)
        most += m->constraint.at[i].cls->nphi * s->constraint_reach[i].n;
    cst_kkt_run *run = k->run = cst_new(a, cst_kkt_run, most + CST_AHEAD);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = b->u0; j < b->u0 + b->cls->nu; j++)
            *run++ = (cst_kkt_run){k->body_at[j], j, b->u0, b->cls->nu};
    }
    k->nblock = (int)(run - k->run);
    for (int i = 0; i < m->link.n; i++) {
        const cst_body *first = &m->body.at[m->link.at[i].body], *second = first + 1;
        int n = first->cls->nu;
        for (int j = 0; j < second->cls->nu; j++)
            *run++ = (cst_kkt_run){k->link_at[i][n + j], second->u0 + j, first->u0, n};
    }
    k->jac = run;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_reach *r = &s->constraint_reach[i];
        int first, n = k->jac_at[i] ? chosen_rows(k, &m->constraint.at[i], &first) : 0;
        for (int j = 0; j < n; j++)
            for (int l = 0; l < r->n; l++)
                *run++ = (cst_kkt_run){k->jac_at[i][r->nt + j * r->n + l], k->nu + first + j,
                                       r->u0[l], r->t0[l + 1] - r->t0[l]};
    }
    k->nrun = (int)(run - k->run);
}

/* Neighbours in the columns of u, without rows of constraints */
static void stiff_new(cst_arena *a, cst_kkt *k)
{
    const cst_pattern *p = k->pattern;
    for (int pass = 0; pass < 2; pass++) { /* count, list */
        if (pass) k->stiff = cst_new(a, cst_kkt_run, k->nstiff + CST_AHEAD), k->nstiff = 0;
        for (int j = 0; j < k->nu; j++)
            for (int i = p->ptr[j], end; i < p->ptr[j + 1] && p->row[i] < k->nu; i = end) {
                for (end = i + 1; end < p->ptr[j + 1] && p->row[end] == p->row[end - 1] + 1 &&
                                  p->row[end] < k->nu;
                     end++)
                    continue;
                if (pass) k->stiff[k->nstiff] = (cst_kkt_run){i, j, p->row[i], end - i};
                k->nstiff++;
            }
    }
}

cst_kkt *cst_kkt_new(cst_arena *a, const cst_system *s, int phases, const unsigned char *keep,
                     int nhold, const cst_hold *hold)
{
    const cst_model *m = s->m;
    cst_kkt *k = cst_new(a, cst_kkt, 1);
    int *cols = cst_new(a, int, widest(s));
    own_range own;
    k->nu = m->nu, k->phases = phases;
    k->row_of = cst_new(a, int, m->nrow + 1);
    k->all_of = cst_new(a, int, m->nrow + 1);
    for (int i = 0; i < m->nrow; i++) k->row_of[i] = -1;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        for (int j = c->row0; touches(c, phases) && j < c->row0 + c->cls->nphi; j++)
            if (!keep || keep[j]) k->row_of[j] = k->nrow, k->all_of[k->nrow++] = j;
    }
    k->n = k->nu + k->nrow;
    k->pattern = pattern_of(k, a, s, cols);
    k->body_at = cst_new(a, int, m->nu + 1);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        cst_pattern_slots(k->pattern, 1, &b->u0, b->cls->nu, unknowns(range_of(b, 1, &own), cols),
                          k->body_at + b->u0);
    }
    k->link_at = cst_new(a, int *, m->link.n + 1);
    for (int i = 0; i < m->link.n; i++)
        k->link_at[i] =
            stiff_starts(a, k->pattern, range_of(&m->body.at[m->link.at[i].body], 2, &own), cols);
    k->force_at = cst_new(a, int *, m->force.n + 1);
    for (int i = 0; i < m->force.n; i++)
        k->force_at[i] = stiff_starts(a, k->pattern, &s->force_reach[i], cols);
    k->stiff_at = cst_new(a, int *, m->constraint.n + 1);
    k->jac_at = cst_new(a, int *, m->constraint.n + 1);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const cst_reach *r = &s->constraint_reach[i];
        int first, n;
        if (!touches(c, phases)) continue;
        if (has_hessian(c)) k->stiff_at[i] = stiff_starts(a, k->pattern, r, cols);
        if (!(n = chosen_rows(k, c, &first))) continue;
        k->jac_at[i] = cst_new(a, int, r->nt + n * r->n);
        int row = k->nu + first;
        cst_pattern_slots(k->pattern, 1, &row, r->nt, unknowns(r, cols), k->jac_at[i]);
        for (int j = 0; j < n; j++)
            for (int l = 0; l < r->n; l++) {
                int col = k->nu + first + j;
                cst_pattern_slots(k->pattern, 1, &r->u0[l], 1, &col,
                                  k->jac_at[i] + r->nt + j * r->n + l);
            }
    }
    k->unit = cst_new(a, double, k->nrow + 1);
    for (int i = 0; i < k->nrow; i++) k->unit[i] = 1;
    k->diag_at = cst_new(a, int, k->nrow + 1);
    for (int i = 0; i < k->nrow; i++) {
        int row = k->nu + i;
        cst_pattern_slots(k->pattern, 1, &row, 1, &row, k->diag_at + i);
    }
    runs_new(a, k, s);
    stiff_new(a, k);
    k->nhold = nhold;
    k->hold = cst_new(a, cst_hold, nhold + 1);
    if (nhold) memcpy(k->hold, hold, sizeof *hold * (size_t)nhold);
    return k;
}

/* y -= a v;  v.u */
static inline double subtract_run(int n, const double *v, double a, const double *u, double *y)
{
    cst_pair both = CST_BOTH(a), sum = CST_BOTH(0);
    int i = 0;
    for (; i + 2 <= n; i += 2)
        sum += CST_READ_PAIR(v + i) * CST_READ_PAIR(u + i),
            CST_PAIR(y + i) -= both * CST_READ_PAIR(v + i);
    double dot = sum[0] + sum[1];
    if (i < n) dot += v[i] * u[i], y[i] -= a * v[i];
    return dot;
}

/* Entries beside the diagonal that are the same on its other side. Bodies have 6 unknowns, or 3
 * that a direction moves with. */
static void subtract_both(const cst_kkt_run *run, const cst_kkt_run *end, const double *val,
                          const double *x, double *y)
{
    for (; run < end; run++) {
        const double *v = val + run->at, *u = x + run->row;
        __builtin_prefetch(val + run[CST_AHEAD].at);
        double *yu = y + run->row, a = x[run->col];
        y[run->col] -= run->len == 6   ? subtract_run(6, v, a, u, yu)
                       : run->len == 3 ? subtract_run(3, v, a, u, yu)
                                       : subtract_run(run->len, v, a, u, yu);
    }
}

void cst_kkt_subtract(const cst_kkt *k, const double *val, const double *x, double *y)
{
    const cst_kkt_run *run = k->run, *beside = run + k->nblock, *end = run + k->nrun;
    for (; run < beside; run++) {
        const double *v = val + run->at;
        __builtin_prefetch(val + run[CST_AHEAD].at);
        if (run->len == 6)
            subtract_run(6, v, x[run->col], v, y + run->row);
        else
            subtract_run(run->len, v, x[run->col], v, y + run->row);
    }
    subtract_both(beside, end, val, x, y);
}

void cst_kkt_gather(const cst_kkt *k, const double *all, double *chosen)
{
    for (int i = 0; i < k->nrow; i++) chosen[i] = all[k->all_of[i]];
}

void cst_kkt_spread(const cst_kkt *k, const double *chosen, double *all)
{
    for (int i = 0; i < k->nrow; i++) all[k->all_of[i]] = chosen[i];
}

/* x += y; the largest of y in units of the largest of x, or of `size` */
static double correct(int n, const double *y, double *x, double size)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double change = fabs(y[i]), now = fabs(x[i] += y[i]);
        most = change > most ? change : most, size = now > size ? now : size;
    }
    return size > 0 ? most / size : 0;
}

double cst_kkt_correct(const cst_kkt *k, const double *y, double least, double *x)
{
    return fmax(correct(k->nu, y, x, 0), correct(k->nrow, y + k->nu, x + k->nu, least));
}

/* v.u */
static inline double run_dot(int n, const double *v, const double *u)
{
    cst_pair sum = CST_BOTH(0);
    int i = 0;
    for (; i + 2 <= n; i += 2) sum += CST_READ_PAIR(v + i) * CST_READ_PAIR(u + i);
    return i < n ? sum[0] + sum[1] + v[i] * u[i] : sum[0] + sum[1];
}

/* y -= A x or A^T x, A with its -eps U block taken out */
static void subtract(const cst_kkt *k, int transposed, const double *val, double eps,
                     const double *x, double *y)
{
    for (const cst_kkt_run *run = k->stiff, *end = run + k->nstiff; run < end; run++) {
        const double *v = val + run->at, *u = x + run->row;
        __builtin_prefetch(val + run[CST_AHEAD].at);
        if (!transposed)
            subtract_run(run->len, v, x[run->col], v, y + run->row);
        else
            y[run->col] -= run->len == 6   ? run_dot(6, v, u)
                           : run->len == 3 ? run_dot(3, v, u)
                                           : run_dot(run->len, v, u);
    }
    subtract_both(k->jac, k->run + k->nrun, val, x, y);
    for (int i = 0; i < k->nrow; i++)
        y[k->nu + i] -= (val[k->diag_at[i]] + eps * k->unit[i]) * x[k->nu + i];
}

void cst_kkt_left(const cst_kkt *k, int transposed, const double *val, double eps, const double *b,
                  const double *x, double *y)
{
    memcpy(y, b, sizeof *y * (size_t)k->n);
    subtract(k, transposed, val, eps, x, y);
}

static void solve(const cst_kkt *k, cst_lu *lu, int transposed, const double *val, double eps,
                  const double *b, double *x, double *y)
{
    double force = cst_largest(k->nu, b), before = 1;
    memcpy(x, b, sizeof *x * (size_t)k->n);
    transposed ? cst_lu_tsolve(lu, 1, x) : cst_lu_solve(lu, 1, x);
    for (int pass = 0; pass < 14; pass++) {
        cst_kkt_left(k, transposed, val, eps, b, x, y);
        transposed ? cst_lu_tsolve(lu, 1, y) : cst_lu_solve(lu, 1, y);
        double gain = cst_kkt_correct(k, y, force, x), theta = gain / before;
        if (!(gain * theta > 1e-16) || theta >= 1 || (theta > 0.3 && gain < 1e-8))
            return; /* the last: rounding */
        before = gain;
    }
}

void cst_kkt_solve(const cst_kkt *k, cst_lu *lu, const double *val, double eps, const double *b,
                   double *x, double *scratch)
{
    solve(k, lu, 0, val, eps, b, x, scratch);
}

void cst_kkt_tsolve(const cst_kkt *k, cst_lu *lu, const double *val, double eps, const double *b,
                    double *x, double *scratch)
{
    solve(k, lu, 1, val, eps, b, x, scratch);
}
