/* SPDX-License-Identifier: MIT
 *
 * The equations of motion of a model at given numbers: residuals, Jacobians and their exact
 * partials. A cst_system holds the numbers of one run and scratch; it belongs to one thread.
 * "Ambient" arrays have one entry per coordinate of q, "tangent" arrays one per entry of u
 * (body/body.h), "slot" arrays one per slot coordinate (model.h, CST_CH_X), "flat" force arrays
 * follow the elements' f0.
 *
 *     x = slots(q),  x' = slots(v),  v = T(q) u,  a = T(q) u' + L(v, u)
 *     r = M a - gravity + slots^T (phi_x^T lambda - f)          (ambient)
 *     T^T r = 0,  phi = 0 */
#ifndef CST_SYSTEM_SYSTEM_H
#define CST_SYSTEM_SYSTEM_H

#include "linalg/pair.h"
#include "model/model.h"

/* A slot on moving bodies, ready to be read: x = sum_j P[w + j] v_j, v_j = ambient[q + 3 j ..]; n =
 * 0: x = ambient[q]. On ground: x = P[w ..]. */
typedef struct cst_marker {
    int x, q, w, n;
} cst_marker;

typedef struct cst_mover {
    const cst_body_class *cls;
    int q0, u0, mass;
} cst_mover; /* what passes over the bodies read of each */

/* Numbers are in the order of the file, which hardware prefetchers cannot predict: passes prefetch
 * those of the element or marker that comes this many places later. Lists are longer by as much. */
enum { CST_AHEAD = 8 };

typedef struct cst_seat { /* what passes over the constraints read of each */
    const cst_constraint_class *cls;
    const cst_tape *tape;
    int phases, row0, nx, np;
    int p; /* its numbers are in P, or among the drives: */
    enum {
        CST_FREE,
        CST_DRIVEN,
        CST_SWITCHED
    } driven;         /* by time; also by modes, which are known only at evaluation */
    int nslot, x0[3]; /* its slots; 0: more than three, or scalars, ask its reach */
} cst_seat;

typedef struct cst_touch { /* a slot of an element: its coordinates there, and its tangent */
    int x, dim;            /* among the element's coordinates */
    int range, off, t, nu; /* range of the reach, -1 on ground; where it begins there, and among the
                              local tangents */
    int b, stride;         /* its block of cst_system.B, and the row stride of that */
} cst_touch;

typedef struct cst_reach { /* the unknowns that an element touches: ranges of u, each of one body or
                              of bodies in a row */
    int n,
        *u0; /* (n) first unknown of each; they do not overlap. Directions leave translations out */
    int nt, *t0;   /* tangent size of the element, (n + 1) first local tangent index of each */
    int *at;       /* (nslot) range of each slot, -1 on ground */
    int *off, *nu; /* (nslot) where its unknowns begin in the range, and how many */
    int *skip,
        *stride; /* (nslot) columns of its B that are left out in front, and all columns of it */
    int nslot, *x0, *dim; /* (nslot) where its coordinates are among all slots' */
    cst_touch *place;     /* (nslot) */
} cst_reach;

/* An element's own coordinates from those of all slots; and slots += c times an element's. */
static inline void cst_reach_get(const cst_reach *r, const double *slots, double *x)
{
    for (int k = 0; k < r->nslot; k++) {
        const double *from = slots + r->x0[k];
        *x++ = from[0];
        if (r->dim[k] == 3) x[0] = from[1], x[1] = from[2], x += 2;
    }
}

static inline void cst_reach_add(const cst_reach *r, double c, const double *x, double *slots)
{
    for (int k = 0; k < r->nslot; k++) {
        double *to = slots + r->x0[k];
        to[0] += c * *x++;
        if (r->dim[k] == 3) to[1] += c * x[0], to[2] += c * x[1], x += 2;
    }
}

typedef struct cst_span {
    int from, to;
    double square;
} cst_span; /* P: two points of a body and the square of their distance */

typedef struct cst_system {
    const cst_model *m;
    cst_mover *mover;       /* all bodies */
    cst_seat *seat;         /* all constraints */
    int ndriven, *driven;   /* constraints with a drive of the time alone */
    double *leaf, *val, *P; /* numbers: leaves, all values, bound */
    double length;          /* size of the largest body */
    double *size;   /* (bodies) sizes.c: a length; for a scalar the square root of its weight */
    int heaviest;   /* P: the largest mass; -1: there is none */
    cst_span *span; /* (bodies) */
    int *held, *held_ptr; /* P: places of the points that joints hold, by bodies */
    cst_reach *force_reach, *constraint_reach;
    int nmarker, nground;
    int nread, nrated; /* the first nread markers are read by elements, the first nrated with their
                          rates */
    cst_marker *marker, *ground; /* all slots */
    unsigned char *read;         /* (nslot) 0: by outputs alone */
    int *b0;                     /* (nslot) offset of each slot's 3 x nu block in B */
    int max_np, max_nreg;
    /* state of the last cst_system_place / _rates */
    double t;
    double *x, *xd; /* slots */
    double *B;      /* (nB) slots: how they move with u */
    int nB;
    double *gravity;   /* ambient: Q */
    double *drive;     /* (nconstraint x 3) s, s', s'' of the driven ones at t */
    int placed, rated; /* 1: x belongs to q_at, xd to v_at, so that placing the system there again
                          costs only a comparison */
    double *q_at, *v_at;
    /* scratch */
    double *fx;      /* slots */
    double *row;     /* all rows */
    double *reg, *p; /* registers of one tape, numbers of one driven element */
    double *HB;      /* largest nx x nt of a force */
} cst_system;

/* leaf: values of all numbers, NULL for the nominal ones. */
cst_system *cst_system_new(cst_arena *a, const cst_model *m, const double *leaf);
void cst_system_bind(cst_system *s, const double *leaf); /* other numbers */

/* Sizes of bodies, renewed with the numbers; the square of one and its changes */
void cst_sizes_new(cst_arena *a, cst_system *s);
void cst_sizes_bind(cst_system *s);
double cst_size_square_dot(const cst_system *s, int body, const double *Pdot);
void cst_size_square_bar(const cst_system *s, int body, double bar, double *Pbar);

/* ---- kinematics ---- */
void cst_system_place(cst_system *s, double t, const double *q); /* slots x, drives */
void cst_system_rates(cst_system *s, const double *v);           /* slots xd */
/* Both, but only for what elements read: without the slots of outputs, and without x' of
 * constraints that have no tape. For trial positions. */
void cst_system_try(cst_system *s, double t, const double *q, const double *v);
void cst_system_try_rates(cst_system *s, const double *v); /* the rates alone */
void cst_system_rest(cst_system *s);                       /* xd = 0 */
void cst_slots_apply(const cst_system *s, const double *ambient, int offset, double *x);
void cst_markers_apply(const cst_system *s, int n, const cst_marker *marker, const double *ambient,
                       double *x); /* these alone */
/* The same for the slots of the forces, into column j of their blocks in an array like B. Slots of
 * one body each. */
void cst_slots_column(const cst_system *s, const double *ambient, int j, double *B);
void cst_slots_transpose(const cst_system *s, const double *x,
                         double *ambient); /* ambient += slots^T x */
void cst_forces_transpose(const cst_system *s, const double *fx,
                          double *ambient); /* the same for x of elements: others have 0 */
void cst_slots_blocks(cst_system *s, const double *q); /* B of what elements read */

void cst_T(const cst_system *s, const double *q, const double *u, double *dq); /* dq = T(q) u */
void cst_T_transpose(const cst_system *s, const double *q, const double *r, double *rho);
void cst_L_add(const cst_system *s, const double *dq, const double *u,
               double *ddq); /* ddq += L(dq, u) */
/* v = T(q) u: from the bars of v, qbar += and ubar += */
void cst_rates_bar(const cst_system *s, const double *q, const double *u, const double *vbar,
                   double *qbar, double *ubar);
/* a = T(q) u' + L(v, u), v = T(q) u: from bars of a and v to those of q, u and u' (NULL: not asked
 * for), all += ; vbar is changed */
void cst_accelerations_bar(const cst_system *s, const double *q, const double *u, const double *ud,
                           const double *v, const double *abar, double *vbar, double *qbar,
                           double *ubar, double *udbar);
void cst_move(const cst_system *s, const double *q, const double *xi, double *q1);
/* its change with dq (along the manifold) and dxi; its transpose, qbar += and xibar += */
void cst_move_change(const cst_system *s, const double *q, const double *xi, const double *dq,
                     const double *dxi, double *dq1);
void cst_move_bar(const cst_system *s, const double *q, const double *xi, const double *bar,
                  double *qbar, double *xibar);
void cst_move_back(const cst_system *s, const double *xi, const double *w,
                   double *dxi); /* dxi moves q1 by T(q1) w */
void cst_carry(const cst_system *s, const double *q, const double *xi, double *q1,
               double *D); /* and D += q1 - q, unrounded */

/* ---- mass ---- (mass.c) weight NULL: the model's masses; else per-vector weights (ambient/3),
 * diagonal: the start's metric */
void cst_mass_add(const cst_system *s, const double *weight, const double *a, double c,
                  double *r);                                   /* r += c M a */
void cst_gravity_add(const cst_system *s, double c, double *r); /* r += c Q_gravity */
void cst_gravity_bind(cst_system *s);                           /* Q_gravity */

/* ---- elements ---- at the place and rates of the system */
void cst_local_force(cst_system *s, int i, const double *z, const double *mem, cst_local *e,
                     double *x, double *xd);
/* modes.c: registers of constraint i's drive, which give (s, s', s'') at the time of the system
 * with the modes in mem; and these three in s->drive */
double *cst_drive_eval(cst_system *s, int i, const double *mem);
void cst_drive_place(cst_system *s, int i, const double *mem);
/* mem: modes of the laws that switch, as the values of their events say at the place and rates of
 * the system. z NULL: all are 0. ahead: where a value is zero, those of the time to come */
void cst_modes_place(cst_system *s, const double *z, int ahead, double *mem);
/* Constraint i: reads its own coordinates from those of all slots; adds its own, or c times its
 * own, to the slots. nslot: that of its seat, as a compile-time constant */
CST_INLINE void cst_seat_get_of(int nslot, const cst_system *s, int i, const double *slots,
                                double *x)
{
    const int *x0 = s->seat[i].x0;
    if (!nslot) cst_reach_get(&s->constraint_reach[i], slots, x);
    for (int k = 0; k < nslot; k++)
        CST_PAIR(x + 3 * k) = CST_READ_PAIR(slots + x0[k]), x[3 * k + 2] = slots[x0[k] + 2];
}
CST_INLINE void cst_seat_add_of(int nslot, const cst_system *s, int i, const double *x,
                                double *slots)
{
    const int *x0 = s->seat[i].x0;
    if (!nslot) cst_reach_add(&s->constraint_reach[i], 1, x, slots);
    for (int k = 0; k < nslot; k++)
        CST_PAIR(slots + x0[k]) += CST_READ_PAIR(x + 3 * k), slots[x0[k] + 2] += x[3 * k + 2];
}
CST_INLINE void cst_seat_add_times(int nslot, const cst_system *s, int i, double c, const double *x,
                                   double *slots)
{
    const int *x0 = s->seat[i].x0;
    if (!nslot) cst_reach_add(&s->constraint_reach[i], c, x, slots);
    for (int k = 0; k < nslot; k++)
        CST_PAIR(slots + x0[k]) += CST_BOTH(c) * CST_READ_PAIR(x + 3 * k),
            slots[x0[k] + 2] += c * x[3 * k + 2];
}
static inline void cst_seat_get(const cst_system *s, int i, const double *slots, double *x)
{
    cst_seat_get_of(s->seat[i].nslot, s, i, slots, x);
}
static inline void cst_seat_add(const cst_system *s, int i, double c, const double *x,
                                double *slots)
{
    cst_seat_add_times(s->seat[i].nslot, s, i, c, x, slots);
}
/* rates 0: x' is set only if a tape reads it */
CST_INLINE void cst_local_constraint_of(int nslot, cst_system *s, int i, const double *mem,
                                        int rates, cst_local *e, double *x, double *xd)
{
    const cst_seat *c = &s->seat[i];
    __builtin_prefetch(s->P + c[CST_AHEAD].p);
    cst_seat_get_of(nslot, s, i, s->x, x);
    if (rates || c->tape || !nslot) cst_seat_get_of(nslot, s, i, s->xd, xd);
    if (c->driven == CST_SWITCHED) cst_drive_place(s, i, mem);
    *e = (cst_local){.nx = c->nx,
                     .np = c->np,
                     .t = s->t,
                     .x = x,
                     .xd = xd,
                     .mem = mem,
                     .p = (c->driven ? s->drive : s->P) + c->p,
                     .tape = c->tape,
                     .reg = s->reg};
}
static inline void cst_local_constraint(cst_system *s, int i, const double *mem, int rates,
                                        cst_local *e, double *x, double *xd)
{
    cst_local_constraint_of(s->seat[i].nslot, s, i, mem, rates, e, x, xd);
}
/* The first force that is not finite, or -1; z NULL: without those that have states */
int cst_forces_infinite(cst_system *s, const double *z, const double *mem);
/* The stiffest of those without states, by the largest |f_x|; -1: none is stiff */
int cst_forces_stiffest(cst_system *s, const double *mem, double *stiffness);
/* fx -= f ; zd: rates of the states; flat: forces per element (may be NULL) */
void cst_forces_add(cst_system *s, const double *z, const double *mem, double *fx, double *zd,
                    double *flat);
/* fx += phi_x^T lambda (all rows) ; flat: -phi_x^T lambda per element (may be NULL) */
void cst_reactions_add(cst_system *s, const double *mem, const double *lambda, int phases,
                       double *fx, double *flat);
void cst_constraints(cst_system *s, const double *mem, int phases, double *phi); /* all rows */
/* both at once: fx += phi_x^T lambda, and phi */
void cst_constraints_react(cst_system *s, const double *mem, const double *lambda, int phases,
                           double *fx, double *phi);
void cst_constraints_rate(cst_system *s, const double *mem, int phases, double *phi_t); /* phi_t */
void cst_constraints_gamma(cst_system *s, const double *mem, int phases,
                           double *gamma); /* gamma(x, xd) */
void cst_constraints_apply(cst_system *s, const double *mem, int phases, const double *xa,
                           double *y); /* y += phi_x xa */
void cst_constraints_second(cst_system *s, const double *mem, int phases, const double *xa,
                            double *y); /* y = gamma + phi_x xa */

double cst_energy_kinetic(const cst_system *s, const double *v);
double cst_energy_gravity(const cst_system *s, const double *q);
double cst_energy_potential(cst_system *s, const double *q, const double *mem);
double cst_power_dissipated(cst_system *s, const double *z, const double *mem);

/* Implicit states: z1 = z0 + h/2 (g0 + g(x, x', z1)), element by element. g0 (nz) */
void cst_states_solve(cst_system *s, double h, const double *z0, const double *g0,
                      const double *mem, double *z1);

#endif
