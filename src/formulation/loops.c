/* SPDX-License-Identifier: MIT */
#include "formulation/loops.h"

#include <math.h>
#include <string.h>

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

void cst_loops_sizes(cst_arena *a, const cst_model *m, const unsigned char *joint, const double *x,
                     const double *q, int *part, double *size)
{
    cst_arena *scratch = cst_arena_child(a);
    typedef struct box {
        double least[3], most[3];
    } box;
    const int nb = m->body.n;
    int *up = cst_new(scratch, int, nb + 1), *stamp = cst_new(scratch, int, nb + 1),
        *body = cst_new(scratch, int, nb + 1);
    int *first = cst_new(scratch, int, m->joint.n + 1);
    unsigned char *joined = cst_new(scratch, unsigned char, nb + 1);
    box *around = cst_new(scratch, box, nb + 1);
    for (int b = 0; b < nb; b++) {
        up[b] = b;
        for (int i = 0; i < 3; i++) around[b].least[i] = INFINITY, around[b].most[i] = -INFINITY;
    }
    for (int j = 0; j < m->joint.n; j++) {
        const int n = joint[j] ? touched(m, j, stamp, body) : 0;
        for (int i = 0; i < n; i++) joined[body[i]] = 1;
        for (int i = 1; i < n; i++) up[root(up, body[i])] = root(up, body[0]);
        first[j] = n > 0 ? body[0] : -1;
    }
    for (int j = 0; j < m->joint.n; j++)
        for (int c = m->joint.at[j].first;
             first[j] >= 0 && c < m->joint.at[j].first + m->joint.at[j].n; c++)
            for (int k = 0; k < m->constraint.at[c].nslot; k++) {
                const cst_slot *slot = &m->slot.at[m->constraint.at[c].slot[k]];
                box *to = &around[root(up, first[j])];
                for (int i = 0; slot->point && slot->dim == 3 && i < 3; i++) {
                    to->least[i] = fmin(to->least[i], x[slot->x0 + i]);
                    to->most[i] = fmax(to->most[i], x[slot->x0 + i]);
                }
            }
    for (int b = 0; b < nb; b++)
        for (int i = 0; joined[b] && m->body.at[b].cls->nvec && i < 3; i++) {
            box *to = &around[root(up, b)];
            to->least[i] = fmin(to->least[i], q[m->body.at[b].q0 + i]);
            to->most[i] = fmax(to->most[i], q[m->body.at[b].q0 + i]);
        }
    for (int b = 0; b < nb; b++) {
        const box *of = &around[part[b] = root(up, b)];
        size[b] = fmax(0, fmax(of->most[0] - of->least[0],
                               fmax(of->most[1] - of->least[1], of->most[2] - of->least[2])));
    }
    cst_arena_free(scratch);
}
