/* SPDX-License-Identifier: MIT
 *
 * Redundant rows by rank at the assembled and at a moved position, held spins, patterns and orders.
 */
#include "formulation/structure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "formulation/start.h"

#define RANK_TOLERANCE 1e-7
#define EPS                                                                                        \
    1e-10 /* of the start's matrices: all that is left of a redundant row, far above rounding.     \
             Iterations take it out */
#define NEARLY 1e-10      /* closed enough for a rank */
#define EXCHANGE 4        /* coefficients up to this are accepted */
#define LARGEST_TABLE 4e6 /* of exchange_rows; above that the rank test decides */
#define SPIN_TOLERANCE 1e-10
#define START_ORDER                                                                                \
    "multiplier-after" /* the start is solved once: only the motion's order is worth a search */

void cst_structure_bind(cst_structure *st, const cst_system *s)
{
    const cst_model *m = s->m;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        const double size = s->size[i];
        for (int k = 0; k < b->cls->nvec; k++)
            for (int j = 0; j < 3; j++) {
                int way = b->cls->translation[k] != 0;
                st->weight[b->q0 + 3 * k + j] = way ? 1 : size * size;
                st->ambient[b->q0 + 3 * k + j] = way ? s->length : 1;
            }
        for (int k = 0; k < b->cls->nscalar; k++) {
            st->weight[b->q0 + 3 * b->cls->nvec + k] = b->bound ? 0 : size * size;
            st->ambient[b->q0 + 3 * b->cls->nvec + k] = b->bound == CST_TURNS ? 1
                                                        : b->bound            ? s->length
                                                                              : s->length / size;
        }
        for (int k = 0; k < b->cls->nu; k++) {
            st->column[b->u0 + k] = !b->cls->nvec ? st->ambient[b->q0] : k < 3 ? size : 1;
            st->extent[b->u0 + k] = b->cls->nvec ? size : s->length;
        }
    }
    double heaviest = s->heaviest < 0 ? 0 : s->P[s->heaviest];
    st->heaviest = heaviest > 0 ? heaviest : 1, st->eps = 1e-13 / st->heaviest;
}

static void scales(cst_arena *a, cst_structure *st, const cst_system *s)
{
    const cst_model *m = s->m;
    st->weight = cst_new(a, double, m->nq + 1);
    st->ambient = cst_new(a, double, m->nq + 1);
    st->column = cst_new(a, double, m->nu + 1);
    st->extent = cst_new(a, double, m->nu + 1);
    st->unit = cst_new(a, double, m->nrow + 1);
    st->reach = cst_new(a, double, m->nrow + 1);
    for (int i = 0; i < m->nrow; i++) st->unit[i] = st->reach[i] = 1;
    cst_structure_bind(st, s);
}

/* reach_i = |J_i D|, D = column: what phi_i changes if its bodies move by their size or by 1 rad;
 * unit_i = (reach_i/l_i)^2 with the largest size l_i of its bodies: reactions times their moves are
 * phi's, whatever its unit is. The system is placed. */
static void measure_rows(cst_arena *a, cst_structure *st, cst_system *s, const double *mem)
{
    cst_arena *scratch = cst_arena_child(a);
    const cst_jacobian j =
        cst_jacobian_rows(scratch, s, mem, CST_ROW_MOTION | CST_ROW_ASSEMBLY | CST_ROW_RATE,
                          st->column);
    for (int i = 0; i < j.rows.nrow; i++) {
        double sum = 0, size = 0;
        for (int k = j.rows.ptr[i]; k < j.rows.ptr[i + 1]; k++) {
            sum += j.rows.val[k] * j.rows.val[k];
            if (j.rows.val[k] != 0) size = fmax(size, st->extent[j.rows.col[k]]);
        }
        if (!(sum > 0) || !isfinite(sum)) continue; /* in a singular position: as before */
        st->reach[j.all_of[i]] = sqrt(sum), st->unit[j.all_of[i]] = sum / (size * size);
    }
    cst_arena_free(scratch);
}

void cst_structure_units(const cst_structure *st, cst_kkt *k)
{
    for (int i = 0; i < k->nrow; i++) k->unit[i] = st->unit[k->all_of[i]];
}

static cst_kkt *kkt_of(cst_arena *a, cst_system *s, const cst_structure *st, int phases,
                       const unsigned char *keep, int nhold, const cst_hold *hold)
{
    cst_kkt *k = cst_kkt_new(a, s, phases, keep, nhold, hold);
    cst_structure_units(st, k);
    return k;
}

/* Rounding of phi_i is that of the points and directions it is made of. */
#define ROUNDING 4e-15

double cst_structure_open(const cst_structure *st, const cst_system *s, int phases,
                          const double *phi, int *worst)
{
    const cst_model *m = s->m;
    double most = 0;
    *worst = -1;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        double far = 0;
        if (!(c->phases & phases)) continue;
        for (int k = 0; k < c->nslot; k++) {
            const cst_slot *slot = &m->slot.at[c->slot[k]];
            if (slot->dim == 3 && slot->point) far = fmax(far, cst_largest(3, s->x + slot->x0));
        }
        for (int j = c->row0; j < c->row0 + c->cls->nphi; j++) {
            double e = (fabs(phi[j]) - ROUNDING * far * sqrt(st->unit[j])) / st->reach[j];
            if (isnan(phi[j])) return *worst = i, NAN;
            if (e > most) most = e, *worst = i;
        }
    }
    return most;
}

/* Do the rows of dependency k, its own included, belong to one of n constraints from `first` on? */
static int takes_part(const cst_structure *st, int k, int first, int n)
{
    const cst_constraint *c = &st->m->constraint.at[first], *last = c + n - 1;
    for (int l = st->dep.term_ptr[k] - 1; l < st->dep.term_ptr[k + 1]; l++) {
        int row = st->dep_all[l < st->dep.term_ptr[k] ? st->dep.dep[k] : st->dep.term_row[l]];
        if (row >= c->row0 && row < last->row0 + last->cls->nphi) return 1;
    }
    return 0;
}

int cst_structure_drives(const cst_structure *st, int constraint, size_t n, char *text)
{
    size_t used = 0;
    int found = 0;
    text[0] = 0;
    for (int i = 0; i < st->m->joint.n; i++) {
        const cst_joint *j = &st->m->joint.at[i];
        int meets = 0;
        for (int k = 0; j->drives && j->n && k < st->dep.ndep; k++)
            meets |= takes_part(st, k, constraint, 1) && takes_part(st, k, j->first, j->n);
        if (!meets || used + 60 > n) continue;
        used += (size_t)snprintf(text + used, n - used, "%s'%.50s'", used ? ", " : "", j->name);
        found++;
    }
    return found;
}

static cst_lu *order_of(cst_arena *a, cst_system *s, const cst_kkt *k, const double *q,
                        const double *mem, const double *weight, cst_kkt_coef c, int forces,
                        const char *order)
{
    unsigned char *kind = cst_new(a, unsigned char, k->n + 1);
    double *val = cst_new(a, double, k->pattern->nnz + 1), *z = cst_new(a, double, s->m->nz + 1);
    for (int i = k->nu; i < k->n; i++) kind[i] = 1;
    cst_kkt_assemble(k, s, q, z, mem, NULL, NULL, weight, c, forces, 0, val);
    cst_lu *lu = cst_lu_new(a, k->pattern, val, kind, order);
    if (lu && forces) cst_lu_plan(a, lu, val); /* the matrix of the steps */
    return lu || !order ? lu : cst_lu_new(a, k->pattern, val, kind, NULL);
}

static uint64_t
mix(uint64_t *x) /* splitmix64: a fixed sequence, so that a model is always analysed alike */
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Moves q along a random admissible velocity (amplitude 0: not at all) and closes the loops; 0 when
 * that fails. Near a singular position each step gains a factor of four at best; where four steps
 * do not gain ten, no 25 will close it. */
static int moved(cst_arena *a, cst_system *s, const cst_structure *st, const cst_kkt *k, cst_lu *lu,
                 const double *mem, double t, double amplitude, const double *q, double *q1)
{
    int worst;
    const cst_model *m = s->m;
    double *val = cst_new(a, double, k->pattern->nnz + 1), *b = cst_new(a, double, k->n + 1);
    double *dq = cst_new(a, double, m->nq + 1), *r = cst_new(a, double, m->nq + 1),
           *phi = cst_new(a, double, m->nrow + 1);
    const cst_kkt_coef c = {.mass = 1, .eps = EPS};
    uint64_t seed = 1;
    double before[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < m->nu; i++)
        b[i] = ((double)(mix(&seed) >> 11) * 0x1p-53 - 0.5) * st->column[i] * 2 * amplitude;
    cst_T(s, q, b, dq);
    cst_mass_add(s, st->weight, dq, 1, r);
    memset(b, 0, sizeof *b * (size_t)k->n);
    cst_T_transpose(s, q, r, b);
    memcpy(q1, q, sizeof *q * (size_t)m->nq);
    for (int it = 0; it < 25;
         it++) { /* first a tangent step, then steps of least change back to phi = 0 */
        cst_system_place(s, t, q1);
        cst_slots_blocks(s, q1);
        if (it > 0) {
            cst_constraints(s, mem, k->phases, phi);
            memset(b, 0, sizeof *b * (size_t)k->n);
            for (int i = 0; i < k->nrow; i++) b[k->nu + i] = -phi[k->all_of[i]];
            double open = cst_structure_open(st, s, k->phases, phi, &worst);
            if (!isfinite(open)) return 0;
            if (it > 2 && open <= (amplitude > 0 ? NEARLY : CST_CLOSED)) return 1;
            if (it > 6 && open > 0.1 * before[it % 4]) return 0;
            before[it % 4] = open;
        }
        cst_kkt_assemble(k, s, q1, NULL, mem, NULL, NULL, st->weight, c, 0, 0, val);
        if (cst_lu_factor(lu, val) >= 0) return 0;
        cst_lu_solve(lu, 1, b);
        cst_move(s, q1, b, q1);
    }
    return 0;
}

int cst_structure_close(cst_arena *a, cst_system *s, const cst_structure *st, const double *mem,
                        double t, double amplitude, const double *q, double *q1)
{
    const cst_kkt_coef c = {.mass = 1, .eps = EPS};
    cst_system_rest(s);
    cst_system_place(s, t, q);
    cst_slots_blocks(s, q);
    cst_kkt *all = kkt_of(a, s, st, CST_ROW_MOTION, NULL, 0, NULL);
    cst_lu *lu = order_of(a, s, all, q, mem, st->weight, c, 0, START_ORDER);
    return lu && moved(a, s, st, all, lu, mem, t, amplitude, q, q1);
}

static int rank_at(cst_arena *a, cst_system *s, const cst_structure *st, const double *mem,
                   double t, const double *q, cst_rank *rank, int **all_of)
{
    cst_system_rest(s);
    cst_system_place(s, t, q);
    cst_slots_blocks(s, q);
    cst_jacobian j = cst_jacobian_rows(a, s, mem, CST_ROW_MOTION, st->column);
    *all_of = j.all_of;
    return cst_rank_rows(a, &j.rows, RANK_TOLERANCE, rank);
}

/* The rank test names the later of dependent rows, which may leave a poor set: row = sum C coef *
 * kept rows with large coefficients. Exchanging the row of the largest |C| > EXCHANGE for the
 * dependent one multiplies the volume of the kept rows by |C|; the table is updated as in the
 * simplex method. out (ndep): the rows to leave out. */
static void exchange_rows(cst_arena *a, const cst_rank *r, int nrow, int *out)
{
    cst_arena *scratch = cst_arena_child(a);
    memcpy(out, r->dep, sizeof *out * (size_t)r->ndep);
    if ((double)r->ndep * nrow > LARGEST_TABLE) return;
    double *C = cst_new(scratch, double, 1 + (size_t)r->ndep * (size_t)nrow);
    for (int k = 0; k < r->ndep; k++)
        for (int i = r->term_ptr[k]; i < r->term_ptr[k + 1]; i++)
            C[k * nrow + r->term_row[i]] = r->term_coef[i];
    for (int pass = 0; pass < 20 * r->ndep; pass++) {
        int at = -1, n = r->ndep * nrow;
        double most = EXCHANGE;
        for (int i = 0; i < n; i++)
            if (fabs(C[i]) > most) most = fabs(C[i]), at = i;
        if (at < 0) break;
        double *row = C + at / nrow * nrow, p = C[at];
        int j = at % nrow, *leaves = &out[at / nrow];
        for (int i = 0; i < nrow; i++) row[i] /= -p;
        row[j] = 0, row[*leaves] = 1 / p;
        *leaves = j;
        for (int k = 0; k < r->ndep; k++) {
            double *other = C + k * nrow, f = other[j];
            if (other == row || f == 0) continue;
            for (int i = 0; i < nrow; i++) other[i] += f * row[i];
            other[j] = 0;
        }
    }
    cst_arena_free(scratch);
}

static void choose_rows(cst_arena *a, cst_structure *st, const cst_rank *r, int *all_of)
{
    st->keep = cst_new(a, unsigned char, st->m->nrow + 1);
    st->left_out = cst_new(a, int, r->ndep + 1);
    memset(st->keep, 1, (size_t)st->m->nrow);
    exchange_rows(a, r, r->rank + r->ndep, st->left_out);
    for (int i = 0; i < r->ndep; i++) {
        st->left_out[i] = all_of[st->left_out[i]];
        st->keep[st->left_out[i]] = 0;
    }
    st->dep = *r;
    st->dep_all = all_of;
    st->rank = r->rank;
}

int cst_structure_choose(cst_arena *a, cst_system *s, const cst_structure *st, const double *mem,
                         double t, const double *q, int *left_out)
{
    cst_rank r;
    int *all_of;
    if (!rank_at(a, s, st, mem, t, q, &r, &all_of) || r.rank != st->rank) return 0;
    exchange_rows(a, &r, r.rank + r.ndep, left_out);
    for (int i = 0; i < r.ndep; i++) left_out[i] = all_of[left_out[i]];
    return 1;
}

cst_lu *cst_structure_order(cst_arena *a, cst_system *s, const cst_structure *st, const cst_kkt *k,
                            const double *q, const double *mem)
{
    double h = s->m->sim.step;
    const cst_kkt_coef newton = {.mass = 1, .stiff = h * h / 4, .damp = h / 2, .eps = st->eps};
    return order_of(a, s, k, q, mem, NULL, newton, 1, NULL);
}

/* ---- freedoms on which nothing acts ---- */

/* What acts on u: inertia and constraints, stiffness and damping of a step. Each entry of u is
 * measured by its own inertia, stiffness or damping, each row of J by its norm, so that neither
 * units nor the masses of other bodies matter: the parts stand below each other, and a motion is
 * free if its columns vanish in all of them. */
enum { INERT, STIFF, DAMPED, PARTS };

#define SLIGHT                                                                                     \
    1e-8 /* of a body's mass and size: inertia, or stiffness by the step, that counts as none */

typedef struct acting {
    const cst_kkt *k;
    double *val[PARTS]; /* NULL: nothing */
    double *by[PARTS];  /* (n) scale of each row */
    double *scale;      /* (nu) of the columns */
} acting;

static int finite(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += 0 * x[i];
    return sum == 0;
}

static double *part_of(cst_arena *a, const acting *w, cst_system *s, const double *q,
                       const double *mem, cst_kkt_coef c)
{
    const int forces = c.mass == 0;
    double *val = cst_new(a, double, w->k->pattern->nnz + 1), *z = cst_new(a, double, s->m->nz + 1);
    cst_kkt_assemble(w->k, s, q, z, mem, NULL, NULL, NULL, c, forces, 0, val);
    return finite(w->k->pattern->nnz, val) ? val : NULL;
}

/* 1/sqrt of what acts on each unknown by itself, at least SLIGHT of the body's inertia; of J:
 * 1/norm of its rows in these units */
static double *scales_of(cst_arena *a, const acting *w, const cst_structure *st,
                         const cst_system *s, const double *val)
{
    const cst_kkt *k = w->k;
    const cst_pattern *p = k->pattern;
    double *by = cst_new(a, double, k->n + 1);
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        double mass = s->P[b->mass] > 0 ? s->P[b->mass] : st->heaviest;
        for (int j = b->u0; j < b->u0 + b->cls->nu; j++) {
            double own = fabs(val[k->body_at[j] + j - b->u0]),
                   size = b->cls->nvec && j >= b->u0 + 3 ? s->size[i] : 1;
            by[j] = 1 / sqrt(fmax(own, SLIGHT * mass * size * size));
        }
    }
    for (int j = 0; j < k->nu; j++)
        for (int i = p->ptr[j]; i < p->ptr[j + 1]; i++)
            if (p->row[i] >= k->nu) by[p->row[i]] += val[i] * val[i] * by[j] * by[j];
    for (int i = k->nu; i < k->n; i++) by[i] = by[i] > 0 ? 1 / sqrt(by[i]) : 0;
    return by;
}

/* Dependent columns of the parts. 0: memory */
static int unseen(cst_arena *a, const acting *w, cst_rank *rank)
{
    const cst_kkt *k = w->k;
    const cst_pattern *p = k->pattern;
    int at = 0, *ptr = cst_new(a, int, k->nu + 1),
        *col = cst_new(a, int, (size_t)p->nnz *PARTS + 1);
    double *val = cst_new(a, double, (size_t)p->nnz *PARTS + 1);
    for (int j = 0; j < k->nu; j++) {
        for (int part = 0; part < PARTS; part++)
            for (int i = p->ptr[j]; w->val[part] && i < p->ptr[j + 1]; i++) {
                if (part != INERT && p->row[i] >= k->nu) break;
                col[at] = part * k->n + p->row[i];
                val[at++] = w->val[part][i] * w->by[part][p->row[i]] * w->scale[j];
            }
        ptr[j + 1] = at;
    }
    cst_rows columns = {.nrow = k->nu, .ncol = PARTS * k->n, .ptr = ptr, .col = col, .val = val};
    return cst_rank_rows(a, &columns, SPIN_TOLERANCE, rank);
}

static cst_status report_unseen(const cst_body *b, cst_diag *d)
{
    return cst_error(
        d, CST_NUMERIC, b->where,
        "body '%s' can move without inertia, stiffness or constraint: give it mass or a joint",
        b->name);
}

/* The free motion `of`: w = its rotation of body b, returned: its largest other entry, in sizes of
 * the bodies */
static double free_motion(const cst_structure *st, const acting *act, const cst_rank *rank, int of,
                          const cst_body *b, double w[3])
{
    double other = 0;
    int rigid = b->cls->first_of_direction > 0;
    for (int l = rank->term_ptr[of] - 1; l < rank->term_ptr[of + 1]; l++) {
        int u = l < rank->term_ptr[of] ? rank->dep[of] : rank->term_row[l];
        double y = (l < rank->term_ptr[of] ? 1 : -rank->term_coef[l]) * act->scale[u];
        if (rigid && u >= b->u0 + 3 && u < b->u0 + 6)
            w[u - b->u0 - 3] = y;
        else
            other = fmax(other, fabs(y) / st->column[u]);
    }
    return rigid ? other : INFINITY;
}

/* A stiffness so large that any inertia is lost in rounding is that of a force between points at
 * almost no distance. A freedom on which neither inertia, constraints nor forces act is held if it
 * is the spin of one body; otherwise it is an error. If a force or its slope is not finite
 * (atan2(v.y, v.x) at rest), inertia and constraints alone may still be sufficient. */
static cst_status find_spins(cst_arena *a, cst_structure *st, cst_system *s, const double *q,
                             const double *mem, cst_diag *d)
{
    const cst_model *m = s->m;
    const double dt = m->sim.step;
    double stiffness;
    int stiffest = cst_forces_stiffest(s, mem, &stiffness);
    if (stiffest >= 0 && isfinite(stiffness) && stiffness * dt * dt / 4 > 1e10 * st->heaviest)
        return cst_error(d, CST_NUMERIC, m->force.at[stiffest].where,
                         "the stiffness of '%s' is %.1e N/m in the drawn position: its points are "
                         "too close to have a direction",
                         m->force.at[stiffest].name, stiffness);
    cst_kkt *k = cst_kkt_new(a, s, CST_ROW_MOTION, st->keep, 0, NULL);
    acting act = {.k = k};
    cst_rank rank;
    act.val[INERT] = part_of(a, &act, s, q, mem, (cst_kkt_coef){.mass = 1});
    if (!act.val[INERT])
        return cst_error(d, CST_NUMERIC, (cst_where){.file = m->file},
                         "a mass or a joint is not finite");
    act.scale = act.by[INERT] = scales_of(a, &act, st, s, act.val[INERT]);
    int ok = unseen(a, &act, &rank);
    if (ok && rank.ndep) {
        int force = cst_forces_infinite(s, NULL, mem);
        if (force >= 0)
            return cst_error(d, CST_NUMERIC, m->force.at[force].where,
                             "the force '%s' is not finite in the drawn position",
                             m->force.at[force].name);
        act.val[STIFF] = part_of(a, &act, s, q, mem, (cst_kkt_coef){.stiff = dt * dt / 4});
        act.val[DAMPED] = part_of(a, &act, s, q, mem, (cst_kkt_coef){.damp = dt / 2});
        for (int part = STIFF; part < PARTS; part++)
            if (act.val[part]) act.by[part] = scales_of(a, &act, st, s, act.val[part]);
        ok = unseen(a, &act, &rank);
    }
    if (!ok) return cst_error(d, CST_MEMORY, (cst_where){0}, "out of memory");
    st->hold = cst_new(a, cst_hold, rank.ndep + 1);
    for (int i = 0; i < m->body.n; i++) { /* in the order of bodies, as the matrix wants them */
        const cst_body *b = &m->body.at[i];
        for (int j = 0; j < rank.ndep; j++) {
            double w[3] = {0};
            if (rank.dep[j] < b->u0 || rank.dep[j] >= b->u0 + b->cls->nu) continue;
            double other = free_motion(st, &act, &rank, j, b, w),
                   size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
            if (!(other <= 1e-6 * size)) return report_unseen(b, d);
            const double *e = q + b->q0 + 3;
            cst_hold *h = &st->hold[st->nhold++];
            h->body = i;
            for (int l = 0; l < 3; l++)
                h->axis[l] = (w[0] * e[3 * l] + w[1] * e[3 * l + 1] + w[2] * e[3 * l + 2]) / size;
        }
    }
    return CST_OK;
}

cst_structure *cst_structure_new(cst_arena *a, cst_system *s, cst_diag *d)
{
    const cst_model *m = s->m;
    cst_structure *st = cst_new(a, cst_structure, 1);
    double *mem = cst_new(a, double, m->memory.n + 1), *q1 = cst_new(a, double, m->nq + 1);
    double t = m->sim.start;
    st->m = m;
    scales(a, st, s);
    st->q = cst_new(a, double, m->nq + 1);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        memcpy(st->q + b->q0, s->P + b->drawn,
               sizeof *q1 * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
    }
    cst_system_place(s, t, st->q);
    cst_system_rest(s);
    cst_modes_place(s, NULL, 1, mem);
    cst_slots_blocks(s, st->q);
    cst_kkt_coef c = {.mass = 1, .eps = st->start_eps = EPS};

    /* all rows, to assemble before the rank is known */
    measure_rows(a, st, s, mem);
    cst_kkt *all = kkt_of(a, s, st, CST_ROW_MOTION, NULL, 0, NULL);
    cst_lu *all_lu = order_of(a, s, all, st->q, mem, st->weight, c, 0, START_ORDER);
    st->assembly = kkt_of(a, s, st, CST_ROW_MOTION | CST_ROW_ASSEMBLY, NULL, 0, NULL);
    st->assembly_lu = order_of(a, s, st->assembly, st->q, mem, st->weight, c, 0, START_ORDER);
    st->rates = st->assembly;
    if (!all_lu || !st->assembly_lu) {
        cst_error(d, CST_NUMERIC, (cst_where){.file = m->file},
                  "the constraints' matrix cannot be factored");
        return NULL;
    }
    cst_start *w = cst_start_new(a, s, st);
    /* By steps of least change: multipliers of redundant rows, not known yet, grow without bound
     * while the loops are open, and the exact matrix of the closest position must not see them. */
    if (moved(a, s, st, st->assembly, st->assembly_lu, mem, t, 0, st->q, q1))
        memcpy(st->q, q1, sizeof *q1 * (size_t)m->nq);
    else if (cst_assemble(w, t, mem, st->q, NULL, d) != CST_OK)
        return NULL;

    cst_rank drawn, generic;
    int *drawn_all, *generic_all, ok = rank_at(a, s, st, mem, t, st->q, &drawn, &drawn_all);
    st->drawn_rank = drawn.rank;
    choose_rows(a, st, &drawn, drawn_all);
    for (double amplitude = 0.1; ok && drawn.ndep && amplitude > 1e-3; amplitude /= 4) {
        if (!moved(a, s, st, all, all_lu, mem, t, amplitude, st->q, q1)) continue;
        ok = rank_at(a, s, st, mem, t, q1, &generic, &generic_all);
        if (ok && generic.rank > drawn.rank) choose_rows(a, st, &generic, generic_all);
        break;
    }
    if (!ok) {
        cst_error(d, CST_MEMORY, (cst_where){0}, "out of memory in the rank test");
        return NULL;
    }
    cst_system_place(s, t, st->q);
    cst_slots_blocks(s, st->q);
    if (find_spins(a, st, s, st->q, mem, d) != CST_OK) return NULL;
    st->dof = m->nu - st->rank - st->nhold;

    c.eps = st->start_eps;
    measure_rows(a, st, s, mem);
    st->motion = kkt_of(a, s, st, CST_ROW_MOTION, st->keep, st->nhold, st->hold);
    st->assembly = kkt_of(a, s, st, CST_ROW_MOTION | CST_ROW_ASSEMBLY, st->keep, 0, NULL);
    st->rates = kkt_of(a, s, st, CST_ROW_MOTION | CST_ROW_RATE, st->keep, 0, NULL);
    st->entries = all->pattern->nnz;
    st->motion_lu = cst_structure_order(a, s, st, st->motion, st->q, mem);
    st->assembly_lu = order_of(a, s, st->assembly, st->q, mem, st->weight, c, 0, START_ORDER);
    st->rates_lu = order_of(a, s, st->rates, st->q, mem, st->weight, c, 0,
                            START_ORDER); /* any metric serves for the order */
    if (!st->motion_lu || !st->assembly_lu || !st->rates_lu) {
        cst_error(d, CST_NUMERIC, (cst_where){.file = m->file},
                  "the matrix of the motion cannot be factored");
        return NULL;
    }
    return st;
}
