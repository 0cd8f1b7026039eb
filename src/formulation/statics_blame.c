/* SPDX-License-Identifier: MIT
 *
 * Why there is no equilibrium, or none that is isolated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formulation/statics.h"

#define NOTHING 1e-12 /* relative to the largest stiffness: a smaller entry is rounding */
#define NEUTRAL 1e-9  /* distance of a column, scaled to 1, from the span of the others */
#define NAMED 3       /* bodies for a freedom in a message */
#define MOST 12       /* bodies in a message */

/* The matrix with c = 0 in units of the stiffness: translations by the length, rows of joints to
 * the size of K. */
static cst_rows scaled(cst_arena *a, cst_statics *w)
{
    const cst_kkt *k = w->k;
    const cst_pattern *p = k->pattern;
    double *val = cst_new(a, double, p->nnz + 1), *scale = cst_new(a, double, k->n + 1),
           L2 = w->extent * w->extent;
    for (int j = 0; j < k->nu; j++) scale[j] = w->unit[j] / sqrt(w->stiff * L2);
    for (int j = k->nu; j < k->n; j++) {
        double most = 0;
        for (int i = p->ptr[j]; i < p->ptr[j + 1] && p->row[i] < k->nu; i++)
            most = fmax(most, fabs(w->val[i]) * scale[p->row[i]]);
        scale[j] = most > 0 ? 1 / most : 1;
    }
    for (int j = 0; j < k->n; j++)
        for (int i = p->ptr[j]; i < p->ptr[j + 1]; i++) {
            val[i] = w->val[i] * scale[j] * scale[p->row[i]];
            if (fabs(val[i]) < NOTHING || (j >= k->nu && p->row[i] == j)) val[i] = 0;
        }
    return (cst_rows){.nrow = k->n, .ncol = k->n, .ptr = p->ptr, .col = p->row, .val = val};
}

typedef struct freedom {
    int body;
    double much;
    int turns;
} freedom;

/* Up to named bodies that move most in the motion u, by rotation or by share of the length; most
 * first */
static int find_movers(const cst_statics *w, const double *u, int named, freedom *out)
{
    const cst_model *m = w->s.m;
    double most = 0;
    int n = 0;
    for (int i = 0; i < w->k->nu; i++) most = fmax(most, fabs(u[i]));
    if (most == 0) return 0;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        double part[2] = {0};
        for (int j = 0; j < b->cls->nu; j++) {
            int turns = b->cls->first_of_direction > 0 && j >= b->cls->first_of_direction;
            part[turns] = fmax(part[turns], fabs(u[b->u0 + j]));
        }
        freedom f = {i, fmax(part[0], part[1]), part[1] > 0.5 * part[0]};
        if (f.much < 0.3 * most) continue;
        int at = n < named ? n++ : named;
        for (; at > 0 && out[at - 1].much < f.much * (1 - 1e-6); at--)
            if (at < named) out[at] = out[at - 1];
        if (at < named) out[at] = f;
    }
    return n;
}

/* "'a' can turn, 'b' can move" */
static void name_movers(const cst_statics *w, const double *u, int named, size_t size, char *text)
{
    freedom f[MOST];
    size_t used = 0;
    int n = find_movers(w, u, named < MOST ? named : MOST, f);
    *text = 0;
    for (int i = 0; i < n && used < size; i++) {
        const cst_body *b = &w->s.m->body.at[f[i].body];
        char one[120];
        snprintf(one, sizeof one, "'%.80s' can %s", b->name,
                 !b->cls->nvec ? "change"
                 : f[i].turns  ? "turn"
                               : "move");
        if (!strstr(text, one))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     one); /* nodes of one beam */
    }
}

/* u: the largest motion of each coordinate over all neutral freedoms */
static cst_status report(cst_statics *w, const double *u, int freedoms, cst_diag *d)
{
    const cst_model *m = w->s.m;
    char text[900], count[40] = "";
    int beams = 0;
    name_movers(w, u, NAMED * freedoms, sizeof text, text);
    for (int i = 0; i < m->body.n; i++) /* slopes, but no axes */
        beams |= m->body.at[i].cls->nvec > 1 && m->body.at[i].cls->first_of_direction == 0;
    if (freedoms > 1) snprintf(count, sizeof count, " (%d freedoms)", freedoms);
    return cst_error(d, CST_NUMERIC, m->statics.where,
                     "t = %g s: the static equilibrium is not unique: %s without a restoring "
                     "force%s%s; hold an angle or a position of %s where it is assembled "
                     "(equilibrium: {hold: [MEASURE]}) or give it a spring",
                     w->t, text, count, beams ? " (beams carry no torsion)" : "",
                     freedoms > 1 ? "each" : "it");
}

/* The null vector of dependent column i, by unknowns, its largest motion 1; 0: nothing moves, a row
 * is held twice */
static int null_motion(const cst_statics *w, const cst_rank *r, int i, double *u)
{
    double motion = 0, all = 0;
    memset(u, 0, sizeof *u * (size_t)w->k->n);
    u[r->dep[i]] = 1;
    for (int j = r->term_ptr[i]; j < r->term_ptr[i + 1]; j++) u[r->term_row[j]] = -r->term_coef[j];
    for (int j = 0; j < w->k->n; j++) {
        all = fmax(all, fabs(u[j]));
        if (j < w->k->nu) motion = fmax(motion, fabs(u[j]));
    }
    for (int j = 0; j < w->k->nu && motion > 0; j++) u[j] /= motion;
    return motion > 1e-6 * all;
}

cst_status cst_statics_neutral(cst_statics *w, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = w->s.m->file}, "out of memory");
    }
    cst_status ok = cst_statics_residual(w, w->q, w->lambda, w->z, w->rhs, NULL);
    cst_rank rank = {0};
    if (ok == CST_OK) {
        cst_statics_matrix(w, w->q, w->z, w->lambda, 0);
        cst_rows rows = scaled(&a, w);
        if (!cst_rank_rows(&a, &rows, NEUTRAL, &rank))
            ok = cst_error(d, CST_MEMORY, (cst_where){0}, "out of memory");
    }
    double *u = cst_new(&a, double, w->k->n + 1), *most = cst_new(&a, double, w->k->n + 1);
    int freedoms = 0;
    for (int i = 0; i < rank.ndep; i++) {
        if (!null_motion(w, &rank, i, u)) continue;
        freedoms++;
        for (int j = 0; j < w->k->nu; j++) most[j] = fmax(most[j], fabs(u[j]));
    }
    if (freedoms) ok = report(w, most, freedoms, d);
    cst_arena_free(&a);
    return ok;
}

cst_status cst_statics_blame(cst_statics *w, int iterations, cst_diag *d)
{
    const cst_model *m = w->s.m;
    char text[400];
    for (int i = 0; i < w->k->nu; i++) w->xi[i] = w->sol[i] / w->unit[i]; /* the last step */
    name_movers(w, w->xi, NAMED, sizeof text, text);
    cst_status ok = cst_statics_neutral(w, d);
    if (ok != CST_OK) return ok;
    double most = -1;
    const cst_body *worst = NULL;
    for (int i = 0; i < m->body.n; i++)
        for (int j = 0; j < m->body.at[i].cls->nu; j++) {
            double y =
                fabs(w->rhs[m->body.at[i].u0 + j]) * w->unit[m->body.at[i].u0 + j] / w->extent;
            if (!(y <= most)) most = y, worst = &m->body.at[i];
        }
    return cst_error(d, CST_NUMERIC, m->statics.where,
                     "t = %g s: no static equilibrium was found from the assembled position in %d "
                     "steps: %s ever further; largest imbalance %.3g N on '%s'",
                     w->t, iterations, text, most, worst ? worst->name : "");
}
