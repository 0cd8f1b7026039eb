/* SPDX-License-Identifier: MIT */
#include "formulation/loops.h"

#include <math.h>
#include <string.h>

#define SHORT 1e-6 /* of the model: a shorter rod is none */

/* Bodies that joint j touches, each once; their number */
static int touched(const cst_model *m, int j, int *stamp, int *body)
{
    const cst_joint *joint = &m->joint.at[j];
    int n = 0;
    for (int c = joint->first; c < joint->first + joint->n; c++)
        for (int k = 0;
             k < m->constraint.at[c].nslot && m->constraint.at[c].phases & CST_ROW_MOTION; k++) {
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

/* `left` counts the joints of a body that are left, and `sum` adds their numbers: of a single one
 * it is the number. */
int cst_loops_find(cst_arena *a, const cst_model *m, unsigned char *in_loop, unsigned char *joint)
{
    cst_arena *scratch = cst_arena_child(a);
    const int nb = m->body.n, nj = m->joint.n;
    int *ptr = cst_new(scratch, int, nj + 1), *left = cst_new(scratch, int, nb + 1),
        *sum = cst_new(scratch, int, nb + 1);
    int *stamp = cst_new(scratch, int, nb + 1), *some = cst_new(scratch, int, nb + 1),
        *hangs = cst_new(scratch, int, nb + 1);
    int n = 0, count = 0;
    for (int j = 0; j < nj; j++) ptr[j + 1] = ptr[j] + touched(m, j, stamp, some);
    int *body = cst_new(scratch, int, ptr[nj] + 1);
    memset(stamp, 0, sizeof *stamp * (size_t)nb);
    for (int j = 0; j < nj; j++) {
        joint[j] = touched(m, j, stamp, body + ptr[j]) > 0;
        for (int i = ptr[j]; i < ptr[j + 1]; i++) left[body[i]]++, sum[body[i]] += j;
    }
    for (int b = 0; b < nb; b++)
        if (left[b] == 1) hangs[n++] = b;
    while (n > 0) {
        const int b = hangs[--n], j = sum[b];
        if (left[b] != 1 || has_law(m, &m->joint.at[j])) continue;
        joint[j] = 0;
        for (int i = ptr[j]; i < ptr[j + 1]; i++) {
            left[body[i]]--, sum[body[i]] -= j;
            if (left[body[i]] == 1) hangs[n++] = body[i];
        }
    }
    for (int b = 0; b < nb; b++) in_loop[b] = left[b] > 0;
    for (int j = 0; j < nj; j++) count += joint[j];
    cst_arena_free(scratch);
    return count;
}

static int root(int *up, int b)
{
    while (up[b] != b) b = up[b] = up[up[b]];
    return b;
}

typedef struct box {
    double least[3], most[3];
} box;

static void widen(box *to, const double *x)
{
    for (int i = 0; i < 3; i++) {
        to->least[i] = fmin(to->least[i], x[i]);
        to->most[i] = fmax(to->most[i], x[i]);
    }
}

static double side(const box *of)
{
    double most = 0;
    for (int i = 0; i < 3; i++) most = fmax(most, of->most[i] - of->least[i]);
    return most;
}

/* l->part: the root of bodies that joints connect */
static void find_parts(cst_arena *a, const cst_model *m, const unsigned char *joint, cst_loops *l)
{
    int *stamp = cst_new(a, int, m->body.n + 1), *body = cst_new(a, int, m->body.n + 1);
    for (int b = 0; b < m->body.n; b++) l->part[b] = b;
    for (int j = 0; j < m->joint.n; j++) {
        const int n = joint[j] ? touched(m, j, stamp, body) : 0;
        for (int i = 1; i < n; i++) l->part[root(l->part, body[i])] = root(l->part, body[0]);
    }
    for (int b = 0; b < m->body.n; b++) l->part[b] = root(l->part, b);
}

/* A constraint in a loop: to which part its rows belong, and how long a rod between its points is.
 * around: boxes of the parts */
static void measure(const cst_system *s, const cst_constraint *c, cst_loops *l, box *around)
{
    const cst_model *m = s->m;
    const double *from = NULL;
    double rod = 0;
    int part = -1, ground = 0;
    for (int k = 0; k < c->nslot; k++) {
        const int body = m->slot.at[c->slot[k]].body;
        ground |= body == CST_GROUND;
        if (body != CST_GROUND) part = l->part[body];
    }
    for (int i = 0; i < c->cls->nphi; i++) l->row[c->row0 + i] = part;
    if (part < 0) return;
    l->on_ground[part] |= (unsigned char)ground;
    for (int k = 0; k < c->nslot; k++) {
        const cst_slot *slot = &m->slot.at[c->slot[k]];
        const double *x = s->x + slot->x0;
        if (!slot->point || slot->dim != 3) continue;
        widen(&around[part], x);
        if (from) rod = hypot(hypot(x[0] - from[0], x[1] - from[1]), x[2] - from[2]);
        if (rod > SHORT * s->length) l->rod[part] = fmin(l->rod[part], rod);
        from = x;
    }
}

cst_loops cst_loops_measure(cst_arena *a, const cst_system *s, const double *q)
{
    const cst_model *m = s->m;
    const int nb = m->body.n;
    cst_loops l = {.body = cst_new(a, unsigned char, nb + 1)};
    unsigned char *joint = cst_new(a, unsigned char, m->joint.n + 1);
    if (!(l.joints = cst_loops_find(a, m, l.body, joint))) return l;
    box *around = cst_new(a, box, nb + 1);
    l.on_ground = cst_new(a, unsigned char, nb + 1);
    l.part = cst_new(a, int, nb + 1), l.row = cst_new(a, int, m->nrow + 1);
    l.length = cst_new(a, double, nb + 1), l.rod = cst_new(a, double, nb + 1);
    find_parts(a, m, joint, &l);
    for (int i = 0; i < m->nrow; i++) l.row[i] = -1;
    for (int b = 0; b < nb; b++) {
        around[b] = (box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        l.rod[b] = INFINITY;
    }
    for (int j = 0; j < m->joint.n; j++)
        for (int c = m->joint.at[j].first; joint[j] && c < m->joint.at[j].first + m->joint.at[j].n;
             c++)
            if (m->constraint.at[c].phases & CST_ROW_MOTION)
                measure(s, &m->constraint.at[c], &l, around);
    for (int b = 0; b < nb; b++)
        if (l.body[b] && m->body.at[b].cls->nvec) widen(&around[l.part[b]], q + m->body.at[b].q0);
    for (int b = 0; b < nb; b++) {
        const double length = l.body[b] ? side(&around[l.part[b]]) : s->length;
        l.length[b] = length > 0 ? length : s->size[b];
    }
    for (int b = 0; b < nb; b++) l.rod[b] = fmin(l.rod[b], l.length[b]);
    return l;
}
