/* SPDX-License-Identifier: MIT */
#include "sensitivity/gaps.h"

#include <math.h>
#include <string.h>

#include "sensitivity/direction.h"

#define LIGHT 1e-3 /* lengths of bodies that hang on loops, of the model's */
#define FRESH 1e-3 /* of a null vector: what may grow to another one */
enum { ROUNDS = 2 };

double cst_row_norm(const cst_rows *rows, int row)
{
    double sum = 0;
    for (int p = rows->ptr[row]; p < rows->ptr[row + 1]; p++) sum += rows->val[p] * rows->val[p];
    return sqrt(sum);
}

/* Entries of both signs, for rows whose null vectors are not known */
static void shake(const cst_gaps *g, double by)
{
    for (int row = 0; row < g->s->m->nrow; row++) g->n[row] += by * (cst_spread(row) - 1.5);
}

cst_gaps *cst_gaps_new(cst_arena *a, cst_system *s, const cst_structure *st, const cst_choices *c,
                       const double *q)
{
    const cst_model *m = s->m;
    cst_gaps *g = cst_new(a, cst_gaps, 1);
    *g = (cst_gaps){.a = a, .s = s, .st = st, .choices = c, .choice = -1};
    g->loops = cst_loops_measure(a, s, q);
    if (!g->loops.joints) return NULL;
    g->lu = cst_new(a, cst_lu *, c ? c->made.n : 1);
    g->val = cst_new(a, double, st->entries + 1);
    g->b = cst_new(a, double, m->nu + m->nrow + st->nhold + 1);
    g->size = cst_new(a, double, m->nu + 1);
    g->weight = cst_new(a, double, m->nq + 1);
    g->norm = cst_new(a, double, m->nrow + 1);
    g->n = cst_new(a, double, m->nrow + 1);
    g->gap = cst_new(a, double, 2 * m->body.n + 1);
    for (int b = 0; b < m->body.n; b++) {
        const cst_body *body = &m->body.at[b];
        const int n = 3 * body->cls->nvec;
        const double light = g->loops.body[b] ? 1 : LIGHT, L = g->loops.length[b];
        for (int i = 0; i < body->cls->nu; i++)
            g->size[body->u0 + i] = (!n ? st->column[body->u0] : i < 3 ? L : 1) / light;
        for (int i = 0; i < n + body->cls->nscalar; i++) {
            const int scalar = i >= n, point = !scalar && body->cls->translation[i / 3] != 0;
            const double w = scalar ? st->weight[body->q0 + i] : point ? 1 : L * L / 2;
            g->weight[body->q0 + i] = light * light * w;
        }
    }
    return g;
}

void cst_gaps_norms(cst_gaps *g, double t, const double *q, const double *mem)
{
    cst_arena *scratch = cst_arena_child(g->a);
    cst_system_place(g->s, t, q);
    cst_slots_blocks(g->s, q);
    const cst_jacobian j = cst_jacobian_rows(scratch, g->s, mem, CST_ROW_MOTION, g->size);
    for (int i = 0; i < j.rows.nrow; i++) {
        double *norm = &g->norm[j.all_of[i]];
        *norm = fmax(*norm, cst_row_norm(&j.rows, i));
    }
    cst_arena_free(scratch);
}

/* The rows that are in use at t */
static void take_rows(cst_gaps *g, double t)
{
    const cst_choices *c = g->choices;
    int i = c ? c->turn.n - 1 : 0;
    while (i > 0 && c->turn.at[i].from > t) i--;
    const int choice = c ? c->turn.at[i].choice : 0;
    if (choice == g->choice) return;
    if (!g->lu[choice])
        g->lu[choice] = cst_lu_twin(g->a, c ? c->made.at[choice].order : g->st->motion_lu, 1);
    g->choice = choice;
    g->k = c ? c->made.at[choice].k : g->st->motion;
    shake(g, 1);
}

/* One iteration, with the factors of [W J^T; J -eps U] (x, y) = (0, b):
 *
 *     -y = (J W^-1 J^T + eps U)^-1 b,    -y . b = |W^-1/2 J^T y|^2 + eps y . U y
 *
 * Rows are scaled to norm 1. Gives the gap and n of each part. 0: it is not finite */
static int iterate(cst_gaps *g, double eps)
{
    const cst_kkt *k = g->k;
    const int nb = g->s->m->body.n;
    double *most = g->gap + nb;
    memset(g->gap, 0, sizeof *g->gap * 2 * (size_t)nb);
    memset(g->b, 0, sizeof *g->b * (size_t)k->n);
    for (int i = 0; i < k->nrow; i++) {
        const int row = k->all_of[i], part = g->loops.row[row];
        if (part >= 0) g->b[k->nu + i] = g->norm[row] / g->loops.length[part] * g->n[row];
    }
    cst_lu_solve(g->lu[g->choice], 1, g->b);
    if (!isfinite(cst_largest(k->n, g->b))) return 0;
    for (int i = 0; i < k->nrow; i++) {
        const int row = k->all_of[i], part = g->loops.row[row];
        if (part < 0) continue;
        const double y = -g->b[k->nu + i], norm = g->norm[row] / g->loops.length[part];
        g->gap[part] += y * (norm * g->n[row] - eps * k->unit[i] * y);
        g->n[row] = y * norm;
        most[part] = fmax(most[part], fabs(g->n[row]));
    }
    for (int i = 0; i < nb; i++)
        g->gap[i] = most[i] > 0 ? sqrt(fmax(g->gap[i], 0)) / most[i] : INFINITY;
    for (int i = 0; i < k->nrow; i++) {
        const int row = k->all_of[i], part = g->loops.row[row];
        if (part >= 0 && most[part] > 0) g->n[row] /= most[part];
    }
    return 1;
}

int cst_gaps_at(cst_gaps *g, double t, const double *q, const double *mem)
{
    const cst_kkt_coef c = {.mass = 1, .eps = g->st->start_eps};
    take_rows(g, t);
    cst_lu *lu = g->lu[g->choice];
    cst_system_place(g->s, t, q);
    cst_slots_blocks(g->s, q);
    cst_kkt_assemble(g->k, g->s, q, NULL, mem, NULL, NULL, g->weight, c, 0, 0, g->val);
    int known = cst_lu_refactor(lu, g->val) < 0 || cst_lu_factor(lu, g->val) < 0;
    for (int round = 0; round < ROUNDS && known; round++) {
        shake(g, FRESH);
        known = iterate(g, c.eps);
    }
    if (known) return 1;
    for (int i = 0; i < g->s->m->body.n; i++) g->gap[i] = INFINITY;
    memset(g->n, 0, sizeof *g->n * (size_t)g->s->m->nrow);
    shake(g, 1);
    return 0;
}

double cst_gaps_speed(const cst_gaps *g, const double *u)
{
    const cst_model *m = g->s->m;
    double most = 0;
    for (int b = 0; b < m->body.n; b++) {
        const int part = g->loops.part[b];
        const cst_body *body = &m->body.at[b], *with = &m->body.at[part];
        const int translates = body->cls->nvec ? 3 : 0;
        const int moves = translates && with->cls->nvec && !g->loops.on_ground[part];
        for (int i = 0; g->loops.body[b] && i < body->cls->nu; i++) {
            const double by = moves && i < 3 ? u[with->u0 + i] : 0;
            const double size = i < translates ? g->loops.rod[part] : g->size[body->u0 + i];
            most = fmax(most, fabs(u[body->u0 + i] - by) / size);
        }
    }
    return most;
}
