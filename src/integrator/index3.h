/* SPDX-License-Identifier: MIT
 *
 * The default: index 3 with Newmark's rule (trapezoidal, beta = 1/4, gamma = 1/2), velocity projection and recomputed
 * accelerations. One step from state 0 to state 1, length h:
 *
 *     A  = (q1 - q0 - h v0 - h^2 (1/2 - beta) a0) / (beta h^2)          v0 = T u0, a0 = T u0' + L(v0, u0)
 *     V  = v0 + h ((1 - gamma) a0 + gamma A)
 *     T(q1)^T (M A + phi_q^T Lambda - Q(q1, V, z1, t1)) = 0,  phi(q1, t1) = 0          unknowns q1, Lambda
 *     z1 = z0 + h/2 (g0 + g(q1, V, z1, t1))                                            element by element
 *     [T^T M T  J^T; J  0] [u1; eta]     = [T^T M V; -phi_t]                           projection of the velocity
 *     [T^T M T  J^T; J  0] [u1'; lambda] = [T^T (Q - M L(v1, u1)); -(phi_x L + gamma)] accelerations, multipliers
 *
 * Natural coordinates make q1 - q0 meaningful as it stands; the bodies' own constraints are kept by moving q1 along
 * T (Betsch and Leyendecker's null space method). Newton's rows are scaled by beta h^2, so that its matrix tends to the
 * projection's as h tends to 0: the projection is solved with the factors at hand and a few refinements.
 *
 * `augmented` solves the same equations with -e in the lower right block of every matrix that is factored (Bayo and
 * Ledesma, Nonlinear Dynamics 9 (1996) 113-130: ALI3-P). Eliminating the multipliers leaves
 *
 *     (K + J^T J / e) xi = -(T^T r + J^T phi / e),    Lambda += (phi + J xi) / (beta h^2 e),    e = 1/(alpha beta h^2)
 *
 * the penalty's matrix with Lambda as the estimate that each iteration improves. Where it ends phi = 0 holds as before:
 * the state, its tangent and its adjoint are those of index3. */
#ifndef CST_INTEGRATOR_INDEX3_H
#define CST_INTEGRATOR_INDEX3_H

#include "formulation/formulation.h"
#include "formulation/start.h"
#include "integrator/state.h"
#include "system/output.h"

#define CST_BETA 0.25
#define CST_GAMMA 0.5

typedef struct cst_counts { long steps, iterations, factorizations, shortened, refinements; } cst_counts;

struct cst_rule;
struct cst_choices;

typedef struct cst_row_factors { cst_lu *newton, *project, *chart; } cst_row_factors;

typedef struct cst_index3 {
    const struct cst_rule *rule; /* the integrator in use: rule.h */
    void *own;                   /* its workspace */
    cst_equations eq;
    const struct cst_charts *charts; /* independent coordinates of the run; NULL: this formulation has none */
    struct cst_chart_work *chart;
    cst_lu *chart_lu;
    double end;                  /* share of h of the rates at the end of a step in its integrals */
    int controls;                /* 1: steps are chosen by w->error */
    double error, accuracy;      /* of the last step in units of the accuracy asked for */
    cst_system *s;
    const cst_structure *st;
    const cst_kkt *k;
    const int *left_out;       /* (st->dep.ndep) redundant rows that do not take part */
    const struct cst_choices *choices; /* of these rows; NULL: there is just one */
    int choice;                /* in use */
    CST_LIST(cst_row_factors) factors; /* per choice */
    int nstage;
    struct cst_index3 **stage; /* of the rule */
    cst_output *out;
    cst_lu *newton, *project;  /* factors of the step's matrix, and of the projection's when refinement is too slow */
    double factored_h;         /* step length of Newton's factors; 0: none */
    double spent;              /* instructions in iterations that newer factors would have saved */
    double soft;               /* augmented: e of the matrices; else 0 */
    int forward;               /* 1: this one computes the run, and stops where rank is lost; others follow what was accepted */
    double regular;            /* index1, penalty: largest rcond of the matrices with the rows in use so far */
    const cst_kkt *regular_of; /* these rows */
    int full;                  /* 1: a new matrix in each iteration */
    int direct_projection;     /* > 0: refinement did not pay, factor the projection's matrix in so many steps, */
    int direct_next;           /* and in so many the next time */
    double tolerance, noise;   /* noise: size of a correction by Newton that did not become smaller any more */
    double *newton_val, *project_val; /* matrix values */
    double *b, *x, *scratch;   /* (n), (n), (2n) */
    double *v0, *a0, *base, *D, *A, *V, *r, *c; /* ambient; base: of D = q1 - q0 */
    double *phi, *xi, *slot;   /* all rows; tangent; slots */
    /* Only for the guess, of the last accepted step: its length, values at its start, and by how much its guesses missed:
     * these errors change slowly too. */
    double h_before, *ud_before, *lambda_before, *xi_missed, *u_missed, *ud_missed, *lambda_missed, *newton_missed;
    double *u_guess, *ud_guess, *lambda_guess, *newton_guess, *guess;
    /* Redundant rows: measures read the multipliers of least norm, each row in its own unit (N for points, N m for
     * directions). null (ndep x all rows) are the left null vectors at the present place. */
    int ambiguous;             /* 1: a measure reads rows that are not unique; 0: none does */
    double *react, *null, *gram, *share;
    const double *react_at, *react_is; /* the state they belong to; NULL: none. What was returned for it */
    double react_time;
    cst_counts n;
} cst_index3;

/* Steps with factors of the projection's own before Newton's are tried again: more each time they did not pay. */
static inline int cst_direct_steps(int *next)
{
    *next = *next < 4 ? 4 : *next < 256 ? 2 * *next : 256;
    return *next;
}

cst_index3 *cst_index3_new(cst_arena *a, cst_system *s, const cst_structure *st, cst_output *out);

/* What was learned from earlier steps: factors, guesses, costs. The same state then gives the same bits. */
void cst_index3_forget(cst_index3 *w);

/* u', lambda, zd and the rates of the integrals at a state whose t, q, u, z, mem, quad are set; what the rule carries begins
 * anew. */
cst_status cst_index3_derive(cst_index3 *w, cst_state *y, cst_diag *d);

/* The constraints have all but lost a rank where the smallest pivot has fallen by so much. Formulations that need J to have full
 * rank stop there: rounding would decide how the motion goes on. */
#define CST_SINGULAR 1e-5

/* The same from a guess of u' and lambda in y; CST_NUMERIC without a message. */
cst_status cst_index3_derive_from(cst_index3 *w, cst_state *y);
/* The same without the integrals' rates; these, and the integrals over a step by the trapezoidal rule */
cst_status cst_index3_derive_rates(cst_index3 *w, cst_state *y);
/* r (n) = b - W (u', lambda) at y with the u' and lambda that it has; z' is set. The projection's factors and values stay. */
void cst_index3_residual(cst_index3 *w, cst_state *y, double *r);
void cst_index3_integrand(cst_index3 *w, cst_state *y);
/* [T^T M T J^T; J 0] x = b at y, from the guess in x; the system is placed there */
cst_status cst_index3_project(cst_index3 *w, const cst_state *y, const double *b, double *x);
void cst_index3_integrals(cst_index3 *w, const cst_state *y0, double h, cst_state *y1);

/* Local error of the trapezoidal rules, in units of the accuracy asked for: q'' is linear in time over a step when it is
 * h^2 (1/4 - 1/6) (u1' - u0'), as far as positions are concerned (Zienkiewicz and Xie, Earthquake Eng. Struct. Dyn. 20 (1991)
 * 871-887). */
double cst_index3_error(const cst_index3 *w, const cst_state *y0, double h, const cst_state *y1);

/* One step of length h from y0 to y1. CST_NUMERIC with no message: Newton failed (w->x has the last correction, worst is
 * reported by cst_index3_blame). */
cst_status cst_index3_step(cst_index3 *w, const cst_state *y0, double h, cst_state *y1);

/* A of the step y0 -> y1, from its states; v0 and a0 are set. For the step's derivatives */
void cst_index3_step_acceleration(cst_index3 *w, const cst_state *y0, const cst_state *y1, double *A);

/* zd and the rates of the integrals at a state whose u' and lambda are given */
void cst_index3_refresh(cst_index3 *w, cst_state *y);

/* Newton's method on the equations of a step, with factors kept over steps, to the rounding floor of positions. 0: failed */
typedef struct cst_newton {
    void (*residual)(cst_index3 *w, const cst_state *y0, double h, cst_state *y1);    /* w->b: scaled forces, rows */
    int (*matrix)(cst_index3 *w, const cst_state *y0, double h, const cst_state *y1); /* factors of it; 0: singular */
    void (*correct)(cst_index3 *w, const cst_state *y0, double h, cst_state *y1);     /* y1 by w->x: (tangent, scaled lambda) */
} cst_newton;
int cst_index3_newton(cst_index3 *w, const cst_newton *of, const cst_state *y0, double h, cst_state *y1);
double cst_index3_soften(cst_index3 *w, double s2);       /* augmented: e for rows of forces scaled by s2; else 0 */
void cst_index3_review(cst_index3 *w, long iterations);   /* after a step: are its factors worth keeping? */

/* The multipliers that measures read at y: those of the state, or of least norm. Valid until the next call. */
const double *cst_index3_reactions(cst_index3 *w, const cst_state *y);

/* The message for a step that failed for good. */
cst_status cst_index3_blame(cst_index3 *w, double t, double h, cst_diag *d);

#endif
