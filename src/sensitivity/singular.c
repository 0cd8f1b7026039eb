/* SPDX-License-Identifier: MIT
 *
 * Singular positions that the motion passes, as of bars in line: there a row depends on others for
 * an instant, n^T phi_u = 0, and the mechanism may go on in one of two ways. A number with n^T
 * phi_p != 0 opens the loop there, or bends its way by the root of its change: what is read later
 * has no derivative by it.
 *
 * phi_u of the rows in use, with as many columns D as there are rows, is a square matrix. Where
 * rows depend on others it is singular whatever D is, and the pivots of its elimination change
 * their signs (linalg/pivots.h). They do so at dead points of the coordinates that are not in D,
 * too. Between two states whose signs are not the same the instant is found, on a cubic through
 * their positions and velocities, and the rank of all rows decides there.
 *
 * Only loops can come into line (formulation/loops.h). Their positions are looked at as often as
 * they move, and where they turn back: the singular position may have been passed twice. A state
 * may also lie in it: there is no sign then, but a pivot that is nothing. */
#include <math.h>
#include <string.h>

#include "formulation/loops.h"
#include "linalg/pivots.h"
#include "sensitivity/breaking.h"
#include "sensitivity/crossing.h"
#include "sensitivity/singular.h"

#define CHOICE 1e-7 /* of the columns: those that are left out depend on the others, to this */
#define TOUCHES                                                                                    \
    1e-3 /* of a row: its distance to the span of the others. The cubic leaves the motion by the   \
            fourth power of the step. */
#define NEARLY 0.03 /* likewise: whether two ways cross near decides */
#define OPENS 1e-2  /* of the size that n^T phi_p has without cancelling: n is known to TOUCHES */
#define MOVES 0.05  /* rad, or lengths of the loops: between two positions that are looked at */
#define GOLDEN 0.6180339887498949 /* states that no period of the motion meets */
#define DIP 0.2      /* of the smallest pivots before and after: a dip that may go down to zero */
#define NOTHING 1e-6 /* of the scaled matrix: a pivot of a state in a singular position */
#define CLOSE                                                                                      \
    3 /* steps: a singular position that is passed at a smaller distance is not resolved */
#define SAME 1e-3        /* rad, or lengths of the loops: a position that was examined before */
enum { CROSSINGS = 40 }; /* singular positions that are examined in second order */
enum { LOOKS = 3000 };   /* changes of sign that are examined */
enum { HALVINGS = 24, CHANGES = 8, TRIES = 8 }; /* in a step; states at which columns are chosen */

typedef struct search {
    cst_run *r;
    cst_arena *a;
    cst_singular *found;
    unsigned char *loop;  /* (bodies) */
    unsigned char *row;   /* (all rows) in use, and in a loop */
    int *part, *row_part; /* (bodies), (all rows) loops that hang together */
    cst_rows square;
    int *column; /* (nu) in the square matrix; -1: not in D */
    double *val; /* its values */
    cst_pivots *pivots;
    double *size;          /* (nu) the length of the loops for translations, 1 for rotations */
    double *typical;       /* (all rows) their sizes where D was chosen */
    double *q, *v0, *v1;   /* (nq) a position between two states; their velocities */
    unsigned char *wanted; /* (leaves) numbers that are asked for */
    unsigned char *opens, *other, *left; /* (leaves) scratch */
    int looks, crossings;
    double t, stride; /* of the last look; how far loops move in the step around it: rad, or lengths
                         of the loops */
    double *met;      /* (CROSSINGS x nq) those that were examined, */
    int *met_part;    /* and of which loops */
    cst_arena *scratch;
} search;

/* s->loop, s->row, s->size. 1: there are loops */
static int find_loops(search *s)
{
    const cst_model *m = s->r->m;
    unsigned char *joint = cst_new(s->a, unsigned char, m->joint.n + 1);
    int any = 0;
    const cst_state y = cst_run_state(s->r, 0);
    cst_loops_find(s->a, m, s->loop, joint);
    cst_loop_columns(s->r, s->a, joint, &y, s->part, s->size);
    for (int c = 0; c < m->constraint.n; c++)
        for (int k = 0; k < m->constraint.at[c].nslot; k++) {
            const int body = m->slot.at[m->constraint.at[c].slot[k]].body;
            if (body == CST_GROUND) continue;
            for (int i = 0; i < m->constraint.at[c].cls->nphi; i++)
                s->row_part[m->constraint.at[c].row0 + i] = s->part[body];
        }
    for (int j = 0; j < m->joint.n; j++)
        for (int c = m->joint.at[j].first; joint[j] && c < m->joint.at[j].first + m->joint.at[j].n;
             c++)
            for (int i = m->constraint.at[c].row0;
                 i < m->constraint.at[c].row0 + m->constraint.at[c].cls->nphi; i++)
                any |= s->row[i] = s->r->st->keep[i];
    return any;
}

/* How far what is in loops moves in a second: rad, or lengths of the loops against the mean of all
 */
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
            most = fmax(most,
                        fabs(u[k] - (i < 3 && m->body.at[b].cls->nvec ? mean[i] : 0)) / s->size[k]);
        }
    return most;
}

static cst_jacobian rows_at(const search *s, cst_arena *a, double t, const double *q,
                            const double *mem)
{
    cst_system_place(s->r->s, t, q);
    cst_slots_blocks(s->r->s, q);
    return cst_jacobian_rows(a, s->r->s, mem, CST_ROW_MOTION, s->size);
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
        for (int p = j->rows.ptr[i]; p < j->rows.ptr[i + 1]; p++)
            ptr[j->rows.col[p] + 2] += keep[j->all_of[i]] != 0;
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

static double size_of(const cst_rows *m, int row)
{
    double sum = 0;
    for (int p = m->ptr[row]; p < m->ptr[row + 1]; p++) sum += m->val[p] * m->val[p];
    return sqrt(sum);
}

/* Is a row nothing beside what it was? The law of a coupling may be flat in a position. */
static int vanishes(const search *s, const cst_jacobian *j, int row)
{
    return size_of(&j->rows, row) < TOUCHES * s->typical[j->all_of[row]];
}

/* Chooses D at y. 0: the position is singular, or out of memory */
static int choose(search *s, const cst_state *y)
{
    cst_arena *scratch = cst_arena_child(s->a);
    const cst_jacobian j = rows_at(s, scratch, *y->t, y->q, y->mem);
    const cst_rows columns = transpose(scratch, &j, s->row);
    const int n = columns.ncol;
    cst_rank rank;
    if (n == 0 || !cst_rank_rows(scratch, &columns, CHOICE, &rank) || rank.rank != n) return 0;
    memset(s->column, 0, sizeof *s->column * (size_t)columns.nrow);
    for (int k = 0; k < rank.ndep; k++) s->column[rank.dep[k]] = -1;
    for (int i = 0, c = 0; i < columns.nrow; i++)
        if (s->column[i] == 0) s->column[i] = c++;
    for (int i = 0; i < j.rows.nrow; i++) s->typical[j.all_of[i]] = size_of(&j.rows, i);
    const int nnz = gather(s, &j, NULL, NULL, NULL);
    int *ptr = cst_new(s->a, int, n + 1), *col = cst_new(s->a, int, nnz + 1);
    s->val = cst_new(s->a, double, nnz + 1);
    gather(s, &j, s->val, col, ptr);
    s->square = (cst_rows){.nrow = n, .ncol = n, .ptr = ptr, .col = col, .val = s->val};
    s->pivots = cst_pivots_new(s->a, &s->square);
    cst_arena_free(scratch);
    return s->pivots != NULL;
}

/* Returns the size of the smallest pivot */
static double signs_at(search *s, double t, const double *q, const double *mem,
                       unsigned char *negative)
{
    const cst_jacobian j = rows_at(s, s->scratch, t, q, mem);
    gather(s, &j, s->val, NULL, NULL);
    const double least = cst_pivots_signs(s->pivots, s->val, negative);
    cst_arena_free(s->scratch);
    return least;
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

/* Has s->q been examined before, as far as these loops go? A mechanism that goes round comes back.
 */
static int met_before(const search *s, int part)
{
    const cst_model *m = s->r->m;
    int same = 0;
    for (int k = 0; k < s->crossings && !same; k++) {
        same = s->met_part[k] == part;
        for (int b = 0; b < m->body.n && same; b++) {
            const cst_body *body = &m->body.at[b];
            for (int i = 0; s->loop[b] && s->part[b] == part &&
                            i < 3 * body->cls->nvec + body->cls->nscalar && same;
                 i++) {
                const double length = i < 3 && body->cls->nvec ? s->size[body->u0] : 1;
                same = fabs(s->q[body->q0 + i] -
                            s->met[(size_t)k * (size_t)m->nq + (size_t)(body->q0 + i)]) <=
                       SAME * length;
            }
        }
    }
    return same;
}

/* The crossing at s->q is examined: s->opens, the numbers that open a loop there, of those that did
 * not before. surely: the position is singular to TOUCHES, else to NEARLY. 0: it is not singular
 * after all */
static int opening(search *s, cst_meeting *at, int part, int surely)
{
    const cst_model *m = s->r->m;
    const int nleaf = cst_graph_leaves(m->graph), full = s->crossings == CROSSINGS;
    int way = CST_NOT_FOUND;
    memset(s->opens, 0, (size_t)nleaf);
    if (met_before(s, part)) return 1;
    if (full && !surely) return 0;
    if (full) s->found->cut = fmin(s->found->cut, at->t);
    for (int i = 0; i < nleaf; i++) s->left[i] = s->wanted[i] && !(s->found->when[i] <= at->t);
    if (!full) way = cst_numbers_parting(s->r, s->scratch, at, s->left, s->opens);
    if (way == CST_NOT_FOUND && !surely) return 0;
    if (way == CST_PASSES_BY) {
        const double steps = s->stride > 0 ? at->gap / s->stride : INFINITY;
        if (steps < fmin(CLOSE, s->found->by)) s->found->by = steps, s->found->by_at = at->t;
        return 0;
    }
    if (!full) {
        memcpy(s->met + (size_t)s->crossings * (size_t)m->nq, s->q, sizeof *s->q * (size_t)m->nq);
        s->met_part[s->crossings++] = part;
    }
    /* numbers that are not asked for, or all: in first order */
    for (int i = 0; i < nleaf; i++) s->other[i] = 0;
    cst_system_place(s->r->s, at->t, s->q);
    cst_numbers_opening(s->r, s->scratch, s->q, at->mem, at->space, OPENS, 1, s->other);
    for (int i = 0; i < nleaf; i++)
        s->opens[i] |= s->other[i] && (way == CST_NOT_FOUND || !s->wanted[i]);
    return 1;
}

/* ---- at a position ---- */

typedef struct dependence { /* of rows on others */
    cst_jacobian j;
    cst_rank rank;
    int n, *row; /* (n) rows that depend there only, or vanish: of rank.dep first, of j from
                    `vanish` on; -1: done */
    int vanish;
    unsigned char *apart; /* (all rows) they, and those that always depend */
    double *typical;      /* (all rows) sizes */
} dependence;

/* At s->q, in s->scratch; to: how near rows are to the span of others */
static dependence dependence_at(search *s, double t, const double *mem, double to)
{
    const cst_model *m = s->r->m;
    const unsigned char *keep = s->r->st->keep;
    dependence d = {.j = rows_at(s, s->scratch, t, s->q, mem)};
    d.row = cst_new(s->scratch, int, d.j.rows.nrow + 1),
    d.apart = cst_new(s->scratch, unsigned char, m->nrow + 1);
    d.typical = cst_new(s->scratch, double, m->nrow + 1);
    if (!cst_rank_rows(s->scratch, &d.j.rows, to, &d.rank)) return d;
    const int lost = d.rank.rank < s->r->st->rank;
    for (int k = 0; k < d.rank.ndep; k++) {
        d.apart[d.j.all_of[d.rank.dep[k]]] = 1;
        if (lost && keep[d.j.all_of[d.rank.dep[k]]]) d.row[d.n++] = k; /* else it is redundant */
    }
    d.vanish = d.n;
    for (int i = 0; i < d.j.rows.nrow; i++) {
        d.typical[d.j.all_of[i]] = fmax(s->typical[d.j.all_of[i]], size_of(&d.j.rows, i));
        if (vanishes(s, &d.j, i) && !d.apart[d.j.all_of[i]])
            d.apart[d.j.all_of[i]] = 1, d.row[d.n++] = i;
    }
    return d;
}

/* Takes the null vectors of loops that hang together from d; returns their number, -1: all are done
 */
static int next_part(const search *s, dependence *d, cst_null_space *space)
{
    const size_t nrow = (size_t)s->r->m->nrow;
    int part = -1;
    memset(space->at, 0, sizeof *space->at * nrow * (size_t)d->n);
    space->n = 0;
    for (int k = 0; k < d->n; k++) {
        if (d->row[k] < 0) continue;
        const int all = d->j.all_of[k < d->vanish ? d->rank.dep[d->row[k]] : d->row[k]];
        if (part < 0) part = s->row_part[all];
        if (s->row_part[all] != part) continue;
        double *to = space->at + (size_t)space->n++ * nrow;
        if (k < d->vanish)
            cst_null_vector(&d->j, &d->rank, d->row[k], to);
        else
            to[all] = 1;
        d->row[k] = -1;
    }
    return part;
}

/* Is s->q singular? Then the numbers that open a loop in it do so first at time t, unless they did
 * before. near: how far the nearest state is */
static void examine(search *s, double t, const double *mem, double near)
{
    dependence d = dependence_at(s, t, mem, TOUCHES);
    const int surely = d.n > 0;
    if (!surely) d = dependence_at(s, t, mem, NEARLY);
    cst_meeting at = {.t = t,
                      .q = s->q,
                      .mem = mem,
                      .size = s->size,
                      .row = s->row,
                      .typical = d.typical,
                      .apart = d.apart};
    cst_singular *f = s->found;
    s->looks++, s->t = t;
    at.space.at = cst_new(s->scratch, double, (size_t)d.n * s->r->m->nrow + 1);
    for (int part; d.n > 0 && (part = next_part(s, &d, &at.space)) >= 0;) {
        if (!opening(s, &at, part, surely)) continue;
        f->groups++;
        for (int i = 0; i < cst_graph_leaves(s->r->m->graph); i++)
            if (s->opens[i] && !(f->when[i] <= t)) f->when[i] = t, f->group[i] = f->groups;
        if (near < f->near) f->near = near, f->near_at = t;
    }
    cst_arena_free(s->scratch);
}

/* The signs are those of `from` at y0, and others at y1: where they change on the way, one after
 * the other */
static void look_between(search *s, const cst_state *y0, const cst_state *y1,
                         const unsigned char *from)
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
            if (memcmp(mid, at, n) == 0)
                lo = x;
            else
                hi = x;
        }
        const double t = between(s, y0, y1, hi);
        s->stride = fmax(speed(s, y0->u), speed(s, y1->u)) * *y1->h;
        examine(s, t, y0->mem, fmin(hi * speed(s, y0->u), (1 - hi) * speed(s, y1->u)) * *y1->h);
        signs_at(s, t, s->q, y0->mem, at);
        lo = hi;
    }
}

/* States from .. to, at which the signs are not the same */
static void walk(search *s, long from, long to, const unsigned char *first)
{
    const size_t n = (size_t)s->square.nrow;
    unsigned char *before = cst_new(s->a, unsigned char, 2 * n + 1), *now = before + n;
    memcpy(before, first, n);
    for (long i = from + 1; i <= to && s->looks < LOOKS; i++) {
        cst_state y0, y1;
        cst_run_pair(s->r, i, &y0, &y1);
        if (*y1.h == 0) continue;
        signs_at(s, *y1.t, y1.q, y1.mem, now);
        if (memcmp(before, now, n)) look_between(s, &y0, &y1, before);
        memcpy(before, now, n);
    }
}

static void look_at_state(search *s, const cst_state *y)
{
    memcpy(s->q, y->q, sizeof *s->q * (size_t)s->r->m->nq);
    examine(s, *y->t, y->mem, 0);
}

/* Does what is in loops move back, against its velocities `way` at the last look? */
static int turns_back(const search *s, const double *u, const double *way)
{
    const cst_model *m = s->r->m;
    double along = 0;
    for (int b = 0; b < m->body.n; b++)
        for (int i = m->body.at[b].u0; s->loop[b] && i < m->body.at[b].u0 + m->body.at[b].cls->nu;
             i++)
            along += u[i] * way[i] / (s->size[i] * s->size[i]);
    return along < 0;
}

/* The part x of the way from y0 to y1 at which the smallest pivot is least; it is returned */
static double least_between(search *s, const cst_state *y0, const cst_state *y1,
                            unsigned char *signs, double *x)
{
    double lo = 0, hi = 1, least = INFINITY;
    cst_T(s->r->s, y0->q, y0->u, s->v0);
    cst_T(s->r->s, y1->q, y1->u, s->v1);
    for (int k = 0; k < HALVINGS; k++) {
        double at[2] = {lo + (1 - GOLDEN) * (hi - lo), lo + GOLDEN * (hi - lo)}, size[2];
        for (int i = 0; i < 2; i++) {
            const double t = between(s, y0, y1, at[i]);
            size[i] = signs_at(s, t, s->q, y0->mem, signs);
        }
        const int left = size[0] < size[1];
        *x = at[!left], least = size[!left];
        if (left)
            hi = at[1];
        else
            lo = at[0];
    }
    return least;
}

/* The smallest pivot has a dip between states from and to, and keeps its sign: in a singular
 * position the motion may have turned onto another branch. */
static void look_at_dip(search *s, long from, long to, unsigned char *signs)
{
    for (long i = from + 1; i <= to; i++) {
        cst_state y0, y1;
        double x;
        cst_run_pair(s->r, i, &y0, &y1);
        if (*y1.h == 0 || least_between(s, &y0, &y1, signs, &x) > TOUCHES) continue;
        const double t = between(s, &y0, &y1, x);
        examine(s, t, y0.mem, INFINITY);
    }
}

static void find(search *s)
{
    cst_run *r = s->r;
    const long last = r->traj->n - 1;
    cst_state y = cst_run_state(r, 0);
    int chosen = choose(s, &y);
    if (!chosen) look_at_state(s, &y);
    for (int k = 1; k < TRIES && !chosen; k++) {
        y = cst_run_state(r, (long)((double)last * fmod(GOLDEN * k, 1)));
        chosen = choose(s, &y);
    }
    if (!chosen) return;
    const size_t n = (size_t)s->square.nrow;
    unsigned char *before = cst_new(s->a, unsigned char, 3 * n + 1), *now = before + n,
                  *inside = now + n;
    double moved = INFINITY, least_before = 0, last_least = INFINITY,
           *way = cst_new(s->a, double, r->m->nu + 1);
    for (long i = 0, at = 0, at_before = 0; i <= last && s->looks < LOOKS; i++) {
        y = cst_run_state(r, i);
        moved += *y.h * speed(s, y.u);
        if (moved < MOVES && i < last && !turns_back(s, y.u, way)) continue;
        const double least = signs_at(s, *y.t, y.q, y.mem, now);
        if (least < NOTHING) look_at_state(s, &y);
        if (i > 0 && memcmp(before, now, n))
            walk(s, at, i, before);
        else if (last_least < DIP * fmin(least, least_before))
            look_at_dip(s, at_before, i, inside);
        least_before = last_least, last_least = least, at_before = at;
        memcpy(before, now, n);
        y = cst_run_state(r, i);
        memcpy(way, y.u, sizeof *way * (size_t)r->m->nu);
        at = i, moved = 0;
    }
}

cst_status cst_find_singular(cst_run *r, const unsigned char *fixed, int n, const int *number,
                             cst_singular *to, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    const int nleaf = cst_graph_leaves(m->graph);
    to->near = to->cut = to->by = INFINITY, to->groups = 0;
    for (int i = 0; i < nleaf; i++) to->when[i] = INFINITY;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    search s = {.r = r, .a = &a, .scratch = cst_arena_child(&a), .found = to};
    s.column = cst_new(&a, int, m->nu + 1), s.opens = cst_new(&a, unsigned char, nleaf + 1);
    s.other = cst_new(&a, unsigned char, nleaf + 1), s.part = cst_new(&a, int, m->body.n + 1),
    s.row_part = cst_new(&a, int, m->nrow + 1);
    s.wanted = cst_new(&a, unsigned char, nleaf + 1),
    s.left = cst_new(&a, unsigned char, nleaf + 1);
    for (int i = 0; i < n; i++) s.wanted[number[i]] = !fixed[number[i]];
    s.met = cst_new(&a, double, (size_t)CROSSINGS * m->nq + 1),
    s.met_part = cst_new(&a, int, CROSSINGS);
    s.size = cst_new(&a, double, m->nu + 1), s.typical = cst_new(&a, double, m->nrow + 1);
    s.q = cst_new(&a, double, m->nq + 1), s.v0 = cst_new(&a, double, m->nq + 1),
    s.v1 = cst_new(&a, double, m->nq + 1);
    s.loop = cst_new(&a, unsigned char, m->body.n + 1),
    s.row = cst_new(&a, unsigned char, m->nrow + 1);
    if (find_loops(&s)) find(&s);
    if (s.looks >= LOOKS) to->cut = fmin(to->cut, s.t);
    cst_arena_free(&a);
    return CST_OK;
}
