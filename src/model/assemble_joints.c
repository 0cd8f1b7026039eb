/* SPDX-License-Identifier: MIT
 *
 * Joints and their constraints. */
#include "model/loader.h"

#include <assert.h>
#include <string.h>

int cst_joint_begin(cst_loader *L, const char *name, const char *type, cst_where w, int a, int b)
{
    cst_model *m = L->m;
    int e = cst_map_get(&L->names[CST_SEC_JOINT], name);
    if (e >= 0) L->entity.at[e]->index = m->joint.n;
    *cst_push(L->arena, &m->joint) = (cst_joint){.name = cst_arena_strdup(L->arena, name),
                                                 .type = type,
                                                 .where = cst_loader_place(L, w),
                                                 .body = {a, b},
                                                 .first = m->constraint.n,
                                                 .at = {-1, -1},
                                                 .axis = -1,
                                                 .angle = CST_NONE,
                                                 .travel = CST_NONE};
    return m->joint.n - 1;
}

void cst_joint_place(cst_loader *L, int joint, int at_a, int at_b, int axis)
{
    cst_joint *j = &L->m->joint.at[joint];
    j->at[0] = at_a;
    j->at[1] = at_b;
    j->axis = axis;
}

void cst_joint_end(cst_loader *L, int joint)
{
    cst_joint *j = &L->m->joint.at[joint];
    j->n = L->m->constraint.n - j->first;
}

/* A constraint of the joint on these slots; its rows and its place in the flat reactions are
 * numbered here. */
static cst_constraint *constraint_new(cst_loader *L, int joint, const char *row_name,
                                      const cst_constraint_class *c, int nslot, const int *slot)
{
    cst_model *m = L->m;
    assert(joint == m->joint.n - 1 && "constraints of one joint follow each other");
    const cst_joint *j = &m->joint.at[joint];
    cst_constraint *k = cst_push(L->arena, &m->constraint);
    *k = (cst_constraint){.name = j->name,
                          .row_name = row_name,
                          .where = j->where,
                          .cls = c,
                          .phases = CST_ROW_MOTION};
    k->nslot = nslot;
    k->slot = cst_new(L->arena, int, nslot);
    memcpy(k->slot, slot, (size_t)nslot * sizeof *slot);
    for (int i = 0; i < nslot; i++) k->nx += m->slot.at[slot[i]].dim;
    k->f0 = m->nreact;
    k->row0 = m->nrow;
    m->nreact += k->nx;
    m->nrow += c->nphi;
    return k;
}

/* A driven right-hand side: time -> (s, s', s''). Where s has a kink its rates jump. */
static const cst_tape *drive_tape(cst_loader *L, int joint, cst_id s, const char *row_name)
{
    const cst_joint *j = &L->m->joint.at[joint];
    cst_id out[3] = {s, CST_NONE, CST_NONE};
    for (int i = 1; i < 3; i++) {
        out[i] = cst_num_rate(L->g, out[i - 1]);
        if (out[i] == CST_NONE) break;
    }
    if (out[2] != CST_NONE) cst_switched(L, j->name, j->where, 3, out);
    const cst_tape *t = out[2] == CST_NONE ? NULL : cst_tape_new(L->arena, L->g, 3, out);
    for (int i = 0; t && i < t->nchannel; i++)
        if (t->channel[i].kind != CST_CH_TIME && t->channel[i].kind != CST_CH_MEM) t = NULL;
    if (!t) cst_loader_error(L, L->where, "%s may depend on numbers and the time only", row_name);
    return t;
}

void cst_add_constraint(cst_loader *L, int joint, const char *row_name,
                        const cst_constraint_class *c, const int *slot, cst_id s)
{
    cst_constraint *k = constraint_new(L, joint, row_name, c, c->nslot, slot);
    if (c->np == 0) return;
    if (!cst_num_timed(L->g, s)) {
        cst_id zero = cst_num_const(L->g, 0);
        k->np = 3;
        k->p = cst_bind(L, 3, (cst_id[3]){s, zero, zero});
        return;
    }
    k->drive = drive_tape(L, joint, s, row_name);
    if (!k->drive) return;
    k->np = k->drive->nnumber;
    k->p = cst_bind(L, k->np, k->drive->number);
    L->m->joint.at[joint].drives = 1;
}

static cst_id drop_accelerations(void *ctx, const cst_channel *c)
{
    cst_loader *L = ctx;
    return c->kind == CST_CH_X && c->order == 2 ? cst_num_const(L->g, 0) : CST_NONE;
}

/* Outputs of the code of phi(x, t) = 0:  phi, phi_x, phi_t, gamma = phi'' at x'' = 0.
 * A prescribed rate is phi(x, x', t) = 0, solved for x':  phi, phi_x', 0, 0. */
static int outputs(cst_loader *L, cst_id phi, int nslot, const int *slot, int rate, cst_id *out)
{
    cst_graph *g = L->g;
    int n = 0;
    out[n++] = phi;
    for (int k = 0; k < nslot; k++)
        for (int c = 0; c < L->m->slot.at[slot[k]].dim; c++)
            out[n++] = cst_num_diff(g, phi, cst_x1(L, slot[k], c, rate));
    out[n] = out[n + 1] = cst_num_const(g, 0);
    if (rate) return n + 2;
    out[n++] = cst_num_diff(g, phi, cst_time(L));
    cst_id phi_dot = cst_num_rate(g, phi);
    cst_id phi_ddot = phi_dot == CST_NONE ? CST_NONE : cst_num_rate(g, phi_dot);
    if (phi_ddot == CST_NONE) return 0;
    out[n++] = cst_num_substitute(g, phi_ddot, drop_accelerations, L);
    return n;
}

void cst_add_coordinate(cst_loader *L, int joint, const char *row_name, cst_id phi, int phases)
{
    int rate = phases == CST_ROW_RATE, slot[CST_MAX_NX];
    cst_where w = L->m->joint.at[joint].where;
    if (!rate && cst_num_depends(L->g, phi, CST_CH_X, 1)) {
        cst_loader_error(L, w, "%s: depends on velocities; a coordinate is made of positions",
                         row_name);
        return;
    }
    int nslot = cst_slots_of(L, w, 1, &phi, 0, slot);
    if (nslot < 0) return;
    cst_id out[CST_MAX_NX + 3];
    int nout = outputs(L, phi, nslot, slot, rate, out);
    if (phases & CST_ROW_MOTION)
        cst_switched(L, L->m->joint.at[joint].name, w, nout, out); /* derivatives of a kink jump */
    if (nout == 0) { /* phi has no rate: the tape of phi alone reports the reason */
        if (cst_local_tape(L, w, row_name, 1, &phi, nslot, slot, 0, 0))
            cst_loader_error(L, w, "%s: has no time derivative", row_name);
        return;
    }
    const cst_tape *t = cst_local_tape(L, w, row_name, nout, out, nslot, slot, 0, 0);
    if (!t) return;
    if (nslot == 0 || (rate && !cst_num_depends(L->g, phi, CST_CH_X, 1))) {
        cst_loader_error(L, w, "%s: does not depend on any %s", row_name,
                         rate ? "velocity" : "position");
        return;
    }
    cst_constraint *k = constraint_new(L, joint, row_name, &cst_expression, nslot, slot);
    k->phases = phases;
    k->tape = t;
    k->np = t->nnumber;
    k->p = cst_bind(L, k->np, t->number);
    if ((phases & CST_ROW_MOTION) && cst_num_depends(L->g, phi, CST_CH_TIME, 0))
        L->m->joint.at[joint].drives = 1;
}
