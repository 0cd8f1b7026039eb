/* SPDX-License-Identifier: MIT
 *
 * A model in a given state of motion, without the system layer: slots, constraints, forces and
 * measures are evaluated one by one from what the model says of them. Slow and obvious. */
#ifndef CST_TESTS_MODEL_SCENE_H
#define CST_TESTS_MODEL_SCENE_H

#include "expect.h"
#include "linalg/dense.h"
#include "model/build.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCENE_MAX = 4096 };

typedef struct scene {
    cst_model *m;
    double t;
    double *val;            /* nominal values of all ids */
    double *P;              /* gathered numbers */
    double q[3][256];       /* coordinates, rates, accelerations of all bodies */
    double x[3][SCENE_MAX]; /* the same of all slots */
    double force[SCENE_MAX], react[SCENE_MAX], z[64], mem[64];
} scene;

static inline void scene_slots(scene *s)
{
    for (int i = 0; i < s->m->slot.n; i++) {
        const cst_slot *k = &s->m->slot.at[i];
        for (int order = 0; order < 3; order++)
            for (int c = 0; c < k->dim; c++) {
                double v = 0;
                if (k->body == CST_GROUND) {
                    v = order == 0 ? s->P[k->o + c] : 0;
                } else {
                    const cst_body *b = &s->m->body.at[k->body];
                    const double *q = s->q[order] + b->q0;
                    if (k->dim == 1) v = q[3 * b->cls->nvec];
                    for (int j = 0; k->dim == 3 && j < k->n; j++)
                        v += s->P[k->w + j] * q[3 * (k->vec + j) + c];
                }
                s->x[order][k->x0 + c] = v;
            }
    }
}

static inline scene *scene_new(const char *text)
{
    cst_diag d = {0};
    char whole[8192];
    snprintf(whole, sizeof whole, "costate: 1\n%s", text);
    cst_model *m = cst_model_parse("test.yaml", whole, strlen(whole), 0, NULL, &d);
    if (m == NULL) fail_msg("%s\n%s", d.text, whole);
    scene *s = calloc(1, sizeof *s);
    s->m = m;
    cst_graph *g = s->m->graph;
    double *leaf = calloc((size_t)cst_graph_leaves(g) + 1, sizeof *leaf);
    for (int i = 0; i < cst_graph_leaves(g); i++) leaf[i] = cst_leaf_nominal(g, i);
    s->val = calloc((size_t)cst_graph_values(g) + 1, sizeof *s->val);
    cst_graph_eval(g, leaf, s->val);
    free(leaf);
    s->P = calloc((size_t)s->m->bound.n + 1, sizeof *s->P);
    for (int i = 0; i < s->m->bound.n; i++) s->P[i] = s->val[s->m->bound.at[i]];
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nq = 3 * b->cls->nvec + b->cls->nscalar;
        memcpy(s->q[0] + b->q0, s->P + b->drawn, (size_t)nq * sizeof(double));
        b->cls->T(s->q[0] + b->q0, s->P + b->rate, s->q[1] + b->q0);
    }
    scene_slots(s);
    return s;
}

static inline void scene_free(scene *s)
{
    cst_model_free(s->m);
    free(s->val);
    free(s->P);
    free(s);
}

/* body <- turned by the rotation R (3 x 3 by rows) about the point c, then shifted by d */
static inline void scene_move(scene *s, int body, const double R[9], const double c[3],
                              const double d[3])
{
    const cst_body *b = &s->m->body.at[body];
    double *q = s->q[0] + b->q0;
    for (int k = 0; k < b->cls->nvec; k++) {
        double v[3], y[3];
        for (int i = 0; i < 3; i++) v[i] = q[3 * k + i] - (k == 0 ? c[i] : 0);
        for (int i = 0; i < 3; i++) y[i] = v3_dot(R + 3 * i, v) + (k == 0 ? c[i] + d[i] : 0);
        memcpy(q + 3 * k, y, sizeof y);
    }
    scene_slots(s);
}

/* motion of a rigid body: velocity v of its origin, w, acceleration a of its origin, alpha */
static inline void scene_motion(scene *s, int body, const double v[3], const double w[3],
                                const double a[3], const double alpha[3])
{
    const cst_body *b = &s->m->body.at[body];
    memcpy(s->q[1] + b->q0, v, 3 * sizeof *v);
    memcpy(s->q[2] + b->q0, a, 3 * sizeof *a);
    for (int k = 1; k < b->cls->nvec; k++) {
        const double *e = s->q[0] + b->q0 + 3 * k;
        double *ed = s->q[1] + b->q0 + 3 * k, *edd = s->q[2] + b->q0 + 3 * k, c[3];
        v3_cross(w, e, ed);
        v3_cross(w, ed, edd);
        v3_cross(alpha, e, c);
        for (int i = 0; i < 3; i++) edd[i] += c[i];
    }
    scene_slots(s);
}

static inline void scene_local(const scene *s, int nslot, const int *slot, double *x, double *xd)
{
    int n = 0;
    for (int k = 0; k < nslot; k++) {
        const cst_slot *a = &s->m->slot.at[slot[k]];
        for (int c = 0; c < a->dim; c++, n++) x[n] = s->x[0][a->x0 + c], xd[n] = s->x[1][a->x0 + c];
    }
}

typedef struct scene_element {
    cst_local e;
    double x[CST_MAX_NX], xd[CST_MAX_NX], p[512], reg[4096];
} scene_element;

static inline void scene_constraint(const scene *s, int i, scene_element *w)
{
    const cst_constraint *c = &s->m->constraint.at[i];
    scene_local(s, c->nslot, c->slot, w->x, w->xd);
    w->e = (cst_local){
        .nx = c->nx, .t = s->t, .x = w->x, .xd = w->xd, .mem = s->mem, .p = w->p, .reg = w->reg};
    if (c->drive != NULL) {
        const cst_tape *t = c->drive;
        w->reg[0] = s->t;
        for (int k = 0; k < t->nnumber; k++) w->reg[t->nchannel + k] = s->P[c->p + k];
        cst_tape_eval(t, w->reg);
        for (int k = 0; k < 3; k++) w->p[k] = w->reg[t->out[k]];
        w->e.np = 3;
    } else {
        for (int k = 0; k < c->np; k++) w->p[k] = s->P[c->p + k];
        w->e.np = c->np;
    }
    w->e.tape = c->tape;
}

/* phi of all rows of a joint, the largest; f = -phi_x^T lambda goes to the reactions */
static inline double scene_phi(scene *s, int joint, const double *lambda)
{
    const cst_joint *j = &s->m->joint.at[joint];
    scene_element w;
    double worst = 0;
    for (int i = j->first; i < j->first + j->n; i++) {
        const cst_constraint *c = &s->m->constraint.at[i];
        double phi[CST_MAX_PHI], J[CST_MAX_PHI * CST_MAX_NX];
        scene_constraint(s, i, &w);
        c->cls->phi(&w.e, phi);
        c->cls->phi_x(&w.e, J);
        for (int k = 0; k < c->cls->nphi; k++) worst = fmax(worst, fabs(phi[k]));
        for (int x = 0; lambda != NULL && x < c->nx; x++) {
            s->react[c->f0 + x] = 0;
            for (int k = 0; k < c->cls->nphi; k++)
                s->react[c->f0 + x] -= J[k * c->nx + x] * lambda[c->row0 + k];
        }
    }
    return worst;
}

static inline double scene_channel(const scene *s, const cst_channel *c)
{
    switch (c->kind) {
    case CST_CH_TIME:
        return s->t;
    case CST_CH_X:
        return s->x[c->order][c->index];
    case CST_CH_FORCE:
        return s->force[c->index];
    case CST_CH_REACT:
        return s->react[c->index];
    case CST_CH_MEM:
        return s->mem[c->index];
    case CST_CH_Z:
        return s->z[c->index];
    default:
        fail_msg("channel of kind %d", c->kind);
        return 0;
    }
}

static inline double scene_value(const scene *s, cst_id id)
{
    if (!cst_num_timed(s->m->graph, id)) return s->val[id];
    cst_arena a = {0};
    cst_tape *t = cst_tape_new(&a, s->m->graph, 1, &id);
    double *reg = cst_new(&a, double, t->nreg);
    for (int i = 0; i < t->nchannel; i++) reg[i] = scene_channel(s, &t->channel[i]);
    for (int i = 0; i < t->nnumber; i++) reg[t->nchannel + i] = s->val[t->number[i]];
    cst_tape_eval(t, reg);
    double v = reg[t->out[0]];
    cst_arena_free(&a);
    return v;
}

static inline void scene_forces(scene *s)
{
    for (int k = 0; k < s->m->event.n; k++) /* laws that switch are where their events say */
        s->mem[s->m->event.at[k].memory] = scene_value(s, s->m->event.at[k].value) > 0;
    for (int i = 0; i < s->m->force.n; i++) {
        const cst_force *f = &s->m->force.at[i];
        scene_element w;
        double zd[8];
        scene_local(s, f->nslot, f->slot, w.x, w.xd);
        for (int k = 0; k < f->np; k++) w.p[k] = s->P[f->p + k];
        w.e = (cst_local){.nx = f->nx,
                          .np = f->np,
                          .nz = f->nz,
                          .t = s->t,
                          .x = w.x,
                          .xd = w.xd,
                          .z = s->z + f->z0,
                          .mem = s->mem,
                          .p = w.p,
                          .tape = f->tape,
                          .reg = w.reg};
        f->cls->force(&w.e, s->force + f->f0, zd);
    }
}

/* component of a measure by its whole name */
static inline double scene_measure(const scene *s, const char *name)
{
    for (int i = 0; i < s->m->component.n; i++)
        if (strcmp(s->m->component.at[i].name, name) == 0)
            return scene_value(s, s->m->component.at[i].value);
    fail_msg("no component %s", name);
    return 0;
}

static inline void scene_measure3(const scene *s, const char *name, double v[3])
{
    for (int i = 0; i < 3; i++) {
        char full[100];
        snprintf(full, sizeof full, "%s.%c", name, "xyz"[i]);
        v[i] = scene_measure(s, full);
    }
}

#endif
