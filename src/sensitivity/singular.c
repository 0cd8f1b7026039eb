/* SPDX-License-Identifier: MIT
 *
 * Singular positions that the motion passes, as of bars in line: there a row depends on others for an instant, n^T phi_u = 0, and the
 * mechanism may go on in one of two ways. A number with n^T phi_p != 0 opens the loop there, or bends its way by the root of its
 * change: what is read later has no derivative by it.
 *
 * phi_u of the rows in use, with as many columns D as there are rows, is a square matrix. Where rows depend on others it is singular
 * whatever D is, and the pivots of its elimination change their signs (linalg/pivots.h). They do so at dead points of the coordinates that
 * are not in D, too. Between two states whose signs are not the same the instant is found, on a cubic through their positions and
 * velocities, and the rank of all rows decides there.
 *
 * Only loops can come into line: a body that hangs on others by one joint satisfies the rows of this joint whatever the others do. Such
 * bodies are taken off with their joints, again and again, until loops are left (`loops`). States are looked at as often as these move. */
#include <math.h>
#include <string.h>

#include "linalg/pivots.h"
#include "sensitivity/breaking.h"

#define CHOICE 1e-7  /* of the columns: those that are left out depend on the others, to this */
#define TOUCHES 1e-3 /* of a row: its distance to the span of the others. The cubic leaves the motion by the fourth power of the step. */
#define OPENS 1e-2   /* of the size that n^T phi_p has without cancelling: n is known to TOUCHES */
#define MOVES 0.05   /* rad, or lengths of the model: between two positions that are looked at */
enum { LOOKS = 200 };  /* changes of sign that are examined: more are the same positions, passed again */
enum { HALVINGS = 40, CHANGES = 8 }; /* in a step */

typedef struct search {
    cst_run *r;
    cst_arena *a;
    unsigned char *loop; /* (bodies) */
    unsigned char *row;  /* (all rows) in use, and in a loop */
    cst_rows square;
    int *column;         /* (nu) in the square matrix; -1: not in D */
    double *val;         /* its values */
    cst_pivots *pivots;
    double *q, *v0, *v1; /* (nq) a position between two states; their velocities */
    unsigned char *opens; /* (leaves) scratch */
    int looks;
} search;

/* Bodies that joint j touches, each once; their number */
static int touched(const cst_model *m, int j, int *stamp, int *body)
{
    const cst_joint *joint = &m->joint.at[j];
    int n = 0;
    for (int c = joint->first; c < joint->first + joint->n; c++)
        for (int k = 0; k < m->constraint.at[c].nslot && m->constraint.at[c].phases & CST_ROW_MOTION; k++) {
            const cst_slot *slot = &m->slot.at[m->constraint.at[c].slot[k]];
            for (int b = slot->body; slot->body != CST_GROUND && b < slot->body + slot->span; b++)
                if (stamp[b] != j + 1) stamp[b] = j + 1, body[n++] = b;
        }
    return n;
}

/* A law may be flat in the coordinate of a body that hangs on it */
static int has_law(const cst_model *m, const cst_joint *j)
{
    for (int c = j->first; c < j->first + j->n; c++)
        if (m->constraint.at[c].tape) return 1;
    return 0;
}

/* s->loop, s->row: what is left when all bodies that hang on a single joint are taken off with it. `left` counts the joints of a body, and
 * `sum` is that of their numbers: the number of the last one. 1: there are loops */
static int loops(search *s)
{
    const cst_model *m = s->r->m;
    cst_arena *scratch = cst_arena_child(s->a);
    const int nb = m->body.n, nj = m->joint.n;
    int *ptr = cst_new(scratch, int, nj + 1), *left = cst_new(scratch, int, nb + 1), *sum = cst_new(scratch, int, nb + 1), n = 0;
    int *stamp = cst_new(scratch, int, nb + 1), *some = cst_new(scratch, int, nb + 1), *hangs = cst_new(scratch, int, nb + 1), any = 0;
    unsigned char *gone = cst_new(scratch, unsigned char, nj + 1);
    for (int j = 0; j < nj; j++) ptr[j + 1] = ptr[j] + touched(m, j, stamp, some);
    int *body = cst_new(scratch, int, ptr[nj] + 1);
    memset(stamp, 0, sizeof *stamp * (size_t)nb);
    for (int j = 0; j < nj; j++) touched(m, j, stamp, body + ptr[j]);
    for (int j = 0; j < nj; j++)
        for (int i = ptr[j]; i < ptr[j + 1]; i++) left[body[i]]++, sum[body[i]] += j;
    for (int b = 0; b < nb; b++)
        if (left[b] == 1) hangs[n++] = b;
    while (n > 0) {
        const int b = hangs[--n], j = sum[b];
        if (left[b] != 1 || has_law(m, &m->joint.at[j])) continue;
        gone[j] = 1;
        for (int i = ptr[j]; i < ptr[j + 1]; i++) {
            left[body[i]]--, sum[body[i]] -= j;
            if (left[body[i]] == 1) hangs[n++] = body[i];
        }
    }
    for (int b = 0; b < nb; b++) s->loop[b] = left[b] > 0;
    for (int j = 0; j < nj; j++)
        for (int c = m->joint.at[j].first; !gone[j] && c < m->joint.at[j].first + m->joint.at[j].n; c++)
            for (int i = m->constraint.at[c].row0; i < m->constraint.at[c].row0 + m->constraint.at[c].cls->nphi; i++)
                any |= s->row[i] = s->r->st->keep[i];
    cst_arena_free(scratch);
    return any;
}

/* How far what is in loops moves in a second: rad, or lengths of the model against the mean of all */
static double speed(const search *s, const double *u)
{
    const cst_model *m = s->r->m;
    double mean[3] = {0}, most = 0;
    int n = 0;
    for (int b = 0; b < m->body.n; b++) {
        if (!s->loop[b] || !m->body.at[b].cls->nvec) continue;
        n++;
        for (int i = 0; i < 3; i++) mean[i] += (u[m->body.at[b].u0 + i] - mean[i]) / n;
    }
    for (int b = 0; b < m->body.n; b++)
        for (int i = 0; s->loop[b] && i < m->body.at[b].cls->nu; i++) {
            const int k = m->body.at[b].u0 + i;
            most = fmax(most, fabs(u[k] - (i < 3 && m->body.at[b].cls->nvec ? mean[i] : 0)) / s->r->st->column[k]);
        }
    return most;
}

static cst_jacobian rows_at(cst_run *r, cst_arena *a, double t, const double *q, const double *mem)
{
    cst_system_place(r->s, t, q);
    cst_slots_blocks(r->s, q);
    return cst_jacobian_rows(a, r->s, mem, CST_ROW_MOTION, r->st->column);
}

/* Entries of the rows in use in the columns D, by rows; their number */
static int gather(const search *s, const cst_jacobian *j, double *val, int *col, int *ptr)
{
    int n = 0, row = 0;
    for (int i = 0; i < j->rows.nrow; i++) {
        if (!s->row[j->all_of[i]]) continue;
        for (int p = j->rows.ptr[i]; p < j->rows.ptr[i + 1]; p++) {
            const int c = s->column[j->rows.col[p]];
            if (c < 0) continue;
            if (val) val[n] = j->rows.val[p];
            if (col) col[n] = c;
            n++;
        }
        if (ptr) ptr[++row] = n;
    }
    return n;
}

/* The columns as rows, of the rows in use */
static cst_rows transpose(cst_arena *a, const cst_jacobian *j, const unsigned char *keep)
{
    const int ncol = j->rows.ncol, nnz = j->rows.ptr[j->rows.nrow];
    int *ptr = cst_new(a, int, ncol + 2), *row = cst_new(a, int, nnz + 1), used = 0;
    double *val = cst_new(a, double, nnz + 1);
    for (int i = 0; i < j->rows.nrow; i++)
        for (int p = j->rows.ptr[i]; p < j->rows.ptr[i + 1]; p++) ptr[j->rows.col[p] + 2] += keep[j->all_of[i]] != 0;
    for (int c = 0; c < ncol; c++) ptr[c + 2] += ptr[c + 1];
    for (int i = 0; i < j->rows.nrow; i++) {
        if (!keep[j->all_of[i]]) continue;
        for (int p = j->rows.ptr[i]; p < j->rows.ptr[i + 1]; p++) {
            const int to = ptr[j->rows.col[p] + 1]++;
            row[to] = used, val[to] = j->rows.val[p];
        }
        used++;
    }
    return (cst_rows){.nrow = ncol, .ncol = used, .ptr = ptr, .col = row, .val = val};
}

/* Chooses D at y. 0: the position is singular, or out of memory */
static int choose(search *s, const cst_state *y)
{
    cst_arena *scratch = cst_arena_child(s->a);
    const cst_jacobian j = rows_at(s->r, scratch, *y->t, y->q, y->mem);
    const cst_rows columns = transpose(scratch, &j, s->row);
    const int n = columns.ncol;
    cst_rank rank;
    if (n == 0 || !cst_rank_rows(scratch, &columns, CHOICE, &rank) || rank.rank != n) return 0;
    memset(s->column, 0, sizeof *s->column * (size_t)columns.nrow);
    for (int k = 0; k < rank.ndep; k++) s->column[rank.dep[k]] = -1;
    for (int i = 0, c = 0; i < columns.nrow; i++)
        if (s->column[i] == 0) s->column[i] = c++;
    const int nnz = gather(s, &j, NULL, NULL, NULL);
    int *ptr = cst_new(s->a, int, n + 1), *col = cst_new(s->a, int, nnz + 1);
    s->val = cst_new(s->a, double, nnz + 1);
    gather(s, &j, s->val, col, ptr);
    s->square = (cst_rows){.nrow = n, .ncol = n, .ptr = ptr, .col = col, .val = s->val};
    s->pivots = cst_pivots_new(s->a, &s->square);
    cst_arena_free(scratch);
    return s->pivots != NULL;
}

static void signs_at(search *s, double t, const double *q, const double *mem, unsigned char *negative)
{
    cst_arena *scratch = cst_arena_child(s->a);
    const cst_jacobian j = rows_at(s->r, scratch, t, q, mem);
    gather(s, &j, s->val, NULL, NULL);
    cst_pivots_signs(s->pivots, s->val, negative);
    cst_arena_free(scratch);
}

/* s->q: the part x of the way from y0 to y1; its time */
static double between(search *s, const cst_state *y0, const cst_state *y1, double x)
{
    const double h = *y1->t - *y0->t, x2 = x * x, x3 = x2 * x;
    for (int i = 0; i < s->r->m->nq; i++)
        s->q[i] = (1 - 3 * x2 + 2 * x3) * y0->q[i] + (3 * x2 - 2 * x3) * y1->q[i] +
                  h * ((x - 2 * x2 + x3) * s->v0[i] + (x3 - x2) * s->v1[i]);
    return *y0->t + x * h;
}

/* Is s->q singular? Then the numbers that open a loop in it do so first at time t, unless they did before. */
static void look(search *s, double t, const double *mem, double *when)
{
    cst_run *r = s->r;
    const cst_model *m = r->m;
    cst_arena *scratch = cst_arena_child(s->a);
    const cst_jacobian j = rows_at(r, scratch, t, s->q, mem);
    cst_rank rank;
    s->looks++;
    if (cst_rank_rows(scratch, &j.rows, TOUCHES, &rank) && rank.rank < r->st->rank) {
        cst_null_space space = {0, cst_new(scratch, double, (size_t)rank.ndep *(size_t)m->nrow + 1)};
        for (int k = 0; k < rank.ndep; k++) {
            if (!r->st->keep[j.all_of[rank.dep[k]]]) continue; /* a redundancy, not a position */
            cst_null_vector(&j, &rank, k, space.at + (size_t)space.n++ * (size_t)m->nrow);
        }
        memset(s->opens, 0, (size_t)cst_graph_leaves(m->graph));
        cst_numbers_opening(r, scratch, s->q, mem, space, OPENS, 1, s->opens);
        for (int i = 0; i < cst_graph_leaves(m->graph); i++)
            if (s->opens[i] && !(when[i] <= t)) when[i] = t;
    }
    cst_arena_free(scratch);
}

/* The signs are those of `from` at y0, and others at y1: where they change on the way, one after the other */
static void look_between(search *s, const cst_state *y0, const cst_state *y1, const unsigned char *from, double *when)
{
    const size_t n = (size_t)s->square.nrow;
    unsigned char *at = cst_new(s->a, unsigned char, 2 * n + 1), *mid = at + n;
    cst_T(s->r->s, y0->q, y0->u, s->v0);
    cst_T(s->r->s, y1->q, y1->u, s->v1);
    memcpy(at, from, n);
    double lo = 0;
    for (int k = 0; k < CHANGES && s->looks < LOOKS; k++) {
        double hi = 1;
        signs_at(s, *y1->t, y1->q, y0->mem, mid);
        if (memcmp(mid, at, n) == 0) return;
        for (int i = 0; i < HALVINGS; i++) {
            const double x = (lo + hi) / 2, t = between(s, y0, y1, x);
            signs_at(s, t, s->q, y0->mem, mid);
            if (memcmp(mid, at, n) == 0) lo = x;
            else hi = x;
        }
        const double t = between(s, y0, y1, hi);
        look(s, t, y0->mem, when);
        signs_at(s, t, s->q, y0->mem, at);
        lo = hi;
    }
}

/* States from .. to, at which the signs are not the same */
static void walk(search *s, long from, long to, const unsigned char *first, double *when)
{
    const size_t n = (size_t)s->square.nrow;
    unsigned char *before = cst_new(s->a, unsigned char, 2 * n + 1), *now = before + n;
    memcpy(before, first, n);
    for (long i = from + 1; i <= to && s->looks < LOOKS; i++) {
        cst_state y0, y1;
        cst_run_pair(s->r, i, &y0, &y1);
        if (*y1.h == 0) continue;
        signs_at(s, *y1.t, y1.q, y1.mem, now);
        if (memcmp(before, now, n)) look_between(s, &y0, &y1, before, when);
        memcpy(before, now, n);
    }
}

static void find(search *s, double *when)
{
    cst_run *r = s->r;
    const long last = r->traj->n - 1;
    cst_state y = cst_run_state(r, 0);
    if (!choose(s, &y)) {
        y = cst_run_state(r, last / 2);
        if (!choose(s, &y)) return;
    }
    const size_t n = (size_t)s->square.nrow;
    unsigned char *before = cst_new(s->a, unsigned char, 2 * n + 1), *now = before + n;
    double moved = INFINITY;
    for (long i = 0, at = 0; i <= last && s->looks < LOOKS; i++) {
        y = cst_run_state(r, i);
        moved += *y.h * speed(s, y.u);
        if (moved < MOVES && i < last) continue;
        signs_at(s, *y.t, y.q, y.mem, now);
        if (i > 0 && memcmp(before, now, n)) walk(s, at, i, before, when);
        memcpy(before, now, n);
        at = i, moved = 0;
    }
}

cst_status cst_find_singular(cst_run *r, double *when, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    const int nleaf = cst_graph_leaves(m->graph);
    for (int i = 0; i < nleaf; i++) when[i] = INFINITY;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    search s = {.r = r, .a = &a, .column = cst_new(&a, int, m->nu + 1), .opens = cst_new(&a, unsigned char, nleaf + 1)};
    s.q = cst_new(&a, double, m->nq + 1), s.v0 = cst_new(&a, double, m->nq + 1), s.v1 = cst_new(&a, double, m->nq + 1);
    s.loop = cst_new(&a, unsigned char, m->body.n + 1), s.row = cst_new(&a, unsigned char, m->nrow + 1);
    if (loops(&s)) find(&s, when);
    cst_arena_free(&a);
    return CST_OK;
}
