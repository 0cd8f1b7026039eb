/* SPDX-License-Identifier: MIT
 *
 * Element kernels. An element sees slots, not bodies: a slot is a marker (a point or a direction, 3
 * coordinates in ground axes) or a scalar of q (1 coordinate). Local coordinates x (nx) are the
 * slots one after the other. An element gives its local value and its local partials, nothing else;
 * the chain rule is in system/. All functions write (=) their outputs. Matrices are row-major. */
#ifndef CST_ELEMENT_ELEMENT_H
#define CST_ELEMENT_ELEMENT_H

#include "base/scalar.h"
#include "number/tape.h"

#define CST_MAX_NX 48 /* local coordinates of one element */
#define CST_MAX_PHI 3 /* rows of one constraint */

typedef struct cst_local { /* what an element sees */
    int nx, np, nz;
    real t;
    const real *x, *xd; /* (nx) */
    const real *z;      /* (nz) own states */
    const real *mem;    /* remembered values of the tape's CST_CH_MEM channels, by index */
    const real *p;      /* (np) own numbers */
    const cst_tape
        *tape; /* law or expression or NULL; its numbers are the last tape->nnumber of p */
    real *reg; /* (2 tape->nreg) scratch for the tape */
} cst_local;

/* A force: f conjugate to x, and the rates of its states. */
#define CST_ON_KINK (1 << 20) /* of a piece */

typedef struct cst_force_class {
    const char *name;
    int nslot;    /* -1: any */
    int np, nz;   /* own numbers before those of the tape; -1: any nz */
    int ntape;    /* outputs of a tape that the class always has; 0: a law is optional */
    int external; /* 1: acts against the ground, which does not turn with the scene */
    void (*force)(const cst_local *e, real *f, real *zd);
    /* partials of (f, zd), nx + nz rows each: by x, xd (nx columns), z (nz), p (np). Any may be
     * NULL. */
    void (*partials)(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p);
    /* w (nx + nz): derivatives of w.(f, zd) by x, xd (nx), z (nz), set, and by p, added. NULL:
     * products with the partials */
    void (*transposed)(const cst_local *e, const real *w, real *x, real *xd, real *z, real *p);
    /* (nx + nz) partial derivative of (f, zd) with respect to time; returns 0 if it is zero. NULL:
     * the class does not read time */
    int (*partial_t)(const cst_local *e, real *f_t);
    int (*energy)(const cst_local *e, real *V);      /* potential; 0: there is none (V = 0) */
    void (*energy_p)(const cst_local *e, real *V_p); /* (np) its derivative; set where energy is */
    /* A letter per slot: 'p' point, 'd' direction, 's' scalar; NULL when nslot is -1. A class with
     * letters knows no ground axes: its forces turn with the scene and have no resultant. */
    const char *slots;
    /* Which smooth piece of its law the force is on: a change means a kink. Kinks of its tape do
     * not count here. NULL: one piece only. With CST_ON_KINK: it is on a kink itself, to rounding
     */
    int (*piece)(const cst_local *e);
    int (*singular)(const cst_local *e); /* 1: the force has no direction here, and no derivative.
                                            NULL: it always has */
} cst_force_class;

/* A constraint: nphi rows phi(x, p, t) = 0. Time enters through p, whose own numbers come in
 * triples (s, s', s''), or through the tape. phi' = phi_x x' + phi_t,    phi'' = phi_x x'' +
 * gamma(x, x') The contracted forms take weights w (nphi) and give derivatives of w.(...); any of
 * their outputs may be NULL. */
typedef struct cst_constraint_class {
    const char *name;
    int nslot, nphi, np; /* nslot -1: any; np without the tape's numbers */
    int linear;          /* 1: phi_x is constant: no Hessian, no numbers, no time, no gamma */
    int scalar;          /* 1: the 3 x 3 blocks of the Hessian are multiples of 1 */
    void (*phi)(const cst_local *e, real *phi);
    void (*phi_x)(const cst_local *e, real *J); /* (nphi x nx) */
    void (*react)(const cst_local *e, const real *w, real *phi,
                  real *f); /* phi, and f = phi_x^T w; NULL: products with phi_x */
    void (*phi_t)(const cst_local *e, real *r);                  /* (nphi) */
    void (*gamma)(const cst_local *e, real *g);                  /* (nphi), uses xd */
    void (*hess)(const cst_local *e, const real *w, real *H);    /* (nx x nx): sum w_k phi_k,xx */
    void (*phi_p)(const cst_local *e, real *P);                  /* (nphi x np) */
    void (*force_p)(const cst_local *e, const real *w, real *P); /* (nx x np): d(phi_x^T w)/dp */
    void (*phi_t_lin)(const cst_local *e, const real *w, real *g_x, real *g_p); /* of w.phi_t */
    void (*gamma_lin)(const cst_local *e, const real *w, real *g_x, real *g_xd,
                      real *g_p); /* of w.gamma */
    /* One row with a phi_x that is linear in x and knows no numbers (NULL: others): phi_x in J, and
     * the bars that d.phi_x + k[0] phi + k[1] (phi_x.x' + phi_t) + k[2] (phi_x.xa + gamma) has of
     * x, of x' (unless k[1], k[2] are 0), and of p, += */
    void (*bars)(const cst_local *e, const real *k, const real *d, const real *xa, real *J, real *x,
                 real *xd, real *p);
    /* tapes only: (nx + 3) derivatives in the explicit time of phi, phi_x, phi_t, gamma; 0: none.
     * NULL: time is in p */
    int (*outputs_t)(const cst_local *e, real *d);
    const char
        *slots; /* as above; phi turns with the scene: 1 row is invariant, 3 rows are a vector */
} cst_constraint_class;

/* forces; slots in brackets */

/* [a b] tension F along the line a-b, s = |b-a|: F = F0 + k (s - s0) + c s', p = (k, c, s0, F0).
 * With a tape F = tape(ARG 0 = s, ARG 1 = s', TIME, MEM, numbers) instead; numbers before the
 * tape's then have no effect. s = 0 has no direction: f = 0 there. */
extern const cst_force_class CST_K(cst_force_line);
/* [a b a1 a2 a3 b1 b2 b3], p = (k 6, c 6): V = 1/2 sum k_i d_i^2 + 1/2 sum k_{3+i} th_i^2, d_i =
 * a_i.(b-a), th = rotation vector of the relative rotation, th_1 = theta/sin(theta) 1/2 (a3.b2 -
 * a2.b3) and cyclic (bushing.c); damping likewise on the rates */
extern const cst_force_class CST_K(cst_force_bushing);
/* [r0 r0' r1 r1'], p = (l, EA, EI): an element of a beam, with the mean of Green's strain, or the
 * strain itself */
extern const cst_force_class CST_K(cst_force_beam), CST_K(cst_force_beam_green);
/* [any] f and z' are outputs of the tape: channels X (orders 0 and 1), Z, MEM, TIME */
extern const cst_force_class CST_K(cst_force_expression);

/* tires: tire.h */
/* constraints; p = (s, s', s'') unless said otherwise; the quadratic ones are in quadric.h */

extern const cst_constraint_class
    CST_K(cst_coincident);                        /* a - b = 0           [a b]; 3 rows, np = 0 */
extern const cst_constraint_class CST_K(cst_dot); /* u.v = s             [u v] */
extern const cst_constraint_class CST_K(cst_in_plane); /* (a - b).v = s       [a b v] */
extern const cst_constraint_class
    CST_K(cst_distance); /* |a-b|^2 = s^2       [a b]; tension = 2 lambda s */
extern const cst_constraint_class CST_K(cst_rotation); /* u.(cos s v2 - sin s v1) = 0   [u v1 v2] */
/* [any] tape outputs: phi, phi_x (nx), phi_t, gamma; 1 row; channels X (orders 0 and 1), TIME, MEM
 */
extern const cst_constraint_class CST_K(cst_expression);

extern const cst_force_class *const CST_K(cst_force_classes)[]; /* NULL at the end: for tests */
extern const cst_constraint_class *const CST_K(cst_constraint_classes)[];

#endif
