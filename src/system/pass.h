/* SPDX-License-Identifier: MIT
 *
 * Passes over all elements with derivatives, the two ways. For a virtual displacement wx (slots)
 * and weights k0, k1, k2 of the constraints' position, velocity and acceleration level, the scalar
 *
 *     S = wx . (phi_x^T lambda - f) + gz . g + k0 . phi + k1 . (phi_x x' + phi_t) + k2 . (phi_x xa
 * + gamma)
 *
 * has derivatives with respect to x, x', xa, wx, z and all numbers: the adjoint pass gives them
 * (several right-hand sides at once), the tangent pass gives the change of (phi_x^T lambda - f, g,
 * phi, phi', phi'') for given changes of x, x', xa, z and numbers. Slots are read through marker
 * weights; these are numbers too. */
#ifndef CST_SYSTEM_PASS_H
#define CST_SYSTEM_PASS_H

#include "system/system.h"

typedef struct cst_pass_at { /* where: the system must be placed at q with rates v */
    const double *q, *v, *a; /* ambient; a: read by xa, NULL with no k2 */
    const double *xa;        /* slots(a) */
    const double *z, *mem;
    const double *lambda; /* all rows; NULL: none */
    int phases;           /* constraints */
    int forces;           /* 1: f and g take part */
    double hz;            /* > 0: z are implicit with this weight, z = .. + hz g: eliminated */
} cst_pass_at;

/* Arrays have one section of the stated size per right-hand side. NULL: none. */
typedef struct cst_adjoint_in {
    int nrhs;
    int more;             /* 1: x, xd, xa of the output hold bars already, which are added to */
    const double *w, *wx; /* ambient and slots */
    const double
        *fx; /* slots: phi_x^T lambda - f at this place where it is known; NULL: it goes to s->fx */
    const double *zbar, *gz;     /* (nz) with hz: bars of z; otherwise weights of g */
    const double *force, *react; /* flat: bars of the elements' forces and reactions */
    const double *k0, *k1, *k2;  /* all rows */
} cst_adjoint_in;

typedef struct cst_adjoint_out { /* all += ; NULL: not wanted */
    double *x, *xd, *xa;         /* slots: cleared first, unless there is more */
    double *q, *v, *a;           /* ambient: slots^T of these */
    double *z; /* (nz) without hz: derivative; with hz: zeta, the weight that falls on the old z */
    double *P; /* numbers */
    double *t; /* (nrhs) the time itself; NULL: not wanted */
} cst_adjoint_out;

typedef struct cst_pass { /* scratch */
    cst_system *s;
    double *f_p; /* largest (nx + nz) x np of an element */
    double *dfx; /* slots */
    int nP;
} cst_pass;

cst_pass *cst_pass_new(cst_arena *a, cst_system *s);
void cst_adjoint_pass(cst_pass *ps, const cst_pass_at *at, const cst_adjoint_in *in,
                      const cst_adjoint_out *out);

/* Bars of slots (given in out->x, xd, xa) to ambient bars and marker weights; w, fx: a virtual
 * displacement (ambient) and the force on the slots it works on, NULL: none. What measures and
 * prescribed rates read. */
void cst_adjoint_slots(cst_pass *ps, const cst_pass_at *at, int nrhs, const double *w,
                       const double *fx, const cst_adjoint_out *out);

/* lbar += -J rb: bars of the multipliers due to the bars of the flat reactions */
void cst_adjoint_react(cst_pass *ps, const cst_pass_at *at, int nrhs, const double *react,
                       double *lbar);

/* numbers of the bodies: S = c w . M a, and S = -c w . Q_gravity (added to P of each right-hand
 * side) */
void cst_mass_bar(const cst_system *s, const double *w, const double *a, double c, double *P);
void cst_gravity_bar(const cst_system *s, const double *w, double c, double *P);
/* both for S = w . (M a - Q_gravity), and a_bar += M w. scratch: 2 nq */
void cst_inertia_bar(const cst_system *s, const double *w, const double *a, double *scratch,
                     double *abar, double *P);

typedef struct cst_tangent_in { /* changes; one direction */
    const double *q, *v, *a;    /* ambient */
    const double *z; /* with hz: change of the old z plus hz times that of the old rates */
    const double *P;
    double t; /* of the time itself */
} cst_tangent_in;

typedef struct cst_tangent_out { /* set; NULL: not wanted */
    double *r; /* ambient, += : slots^T d(phi_x^T lambda - f), with the change of the weights */
    double *z; /* with hz: change of z; else of the rates g */
    double *force, *react;     /* flat changes of forces and of -phi_x^T lambda (lambda fixed) */
    double *phi, *phi1, *phi2; /* all rows: changes of phi, phi', phi'' */
    double *x, *xd, *xa;       /* slots: changes; x and xd always, xa with at->a */
} cst_tangent_out;

void cst_tangent_pass(cst_pass *ps, const cst_pass_at *at, const cst_tangent_in *in,
                      const cst_tangent_out *out);

/* r += slots^T df + (d slots)^T fx, the weights changing with the numbers */
void cst_slots_transpose_change(const cst_system *s, const double *df, const double *fx,
                                const double *Pdot, double *r);

/* r += c (dM) a and r -= c d(Q_gravity), from the change of the numbers */
void cst_mass_dot(const cst_system *s, const double *Pdot, const double *a, double c, double *r);
void cst_gravity_dot(const cst_system *s, const double *Pdot, double c, double *r);

#endif
