/* SPDX-License-Identifier: MIT
 *
 * The motion at a state: what follows from (t, q, u, z) alone, the same for all integrators, and
 * the workspace of one thread.
 *
 *     W [u'; lambda] = [T^T (Q - M L(v, u)); -(phi_x L + gamma) - b1 phi' - b0 phi],   W = [T^T M T
 * J^T; J  -compliance],  v = T u
 *
 * (formulation/formulation.h). Where a step has factors of its own matrix at hand, which tends to W
 * as h tends to 0, W is solved with these and a few refinements (newmark.h). */
#ifndef CST_INTEGRATOR_MOTION_H
#define CST_INTEGRATOR_MOTION_H

#include "formulation/formulation.h"
#include "formulation/start.h"
#include "integrator/state.h"
#include "system/output.h"

typedef struct cst_counts {
    long steps, iterations, factorizations, shortened, refinements;
} cst_counts;

struct cst_rule;
struct cst_choices;

/* D = q1 - q0 of short steps, by the times of their ends. The difference of two states has the
 * rounding of q, which 1/h^2 makes large; D was carried along with q1 and has that of its own size.
 */
typedef struct cst_increments {
    CST_LIST(double) t; /* ascending */
    CST_LIST(double) D; /* (nq) for each */
} cst_increments;

typedef struct cst_row_factors {
    cst_lu *newton, *project, *chart, *review;
} cst_row_factors;

/* What outlives cst_motion_forget. */
typedef struct cst_habits {
    int clean;               /* 1: nothing else is remembered */
    int direct, direct_next; /* > 0: refinement did not pay: for this many steps factor the
                                projection's matrix; how many the next time */
    int coast, coast_next;   /* > 0: accelerations misled the guess: for this many steps it goes
                                without them; how many the next time */
    double noise;            /* size of a Newton correction that no longer decreased */
} cst_habits;

typedef struct cst_motion {
    const struct cst_rule *rule; /* the integrator in use: rule.h */
    void *own;                   /* its workspace */
    cst_equations eq;
    const struct cst_charts
        *charts; /* independent coordinates of the run; NULL: this formulation has none */
    struct cst_chart_work *chart;
    cst_lu *chart_lu;
    double end;             /* share of h of the rates at the end of a step in its integrals */
    int controls;           /* 1: steps are chosen by w->error */
    double error, accuracy; /* of the last step in units of the accuracy asked for */
    double slow;           /* rates below this, in lengths of the model per second, count as rest */
    double given, longest; /* the step asked for; what a chosen one may have at most */
    cst_system *s;
    const cst_structure *st;
    const cst_kkt *k;
    const int *left_out;               /* (st->dep.ndep) redundant rows that do not take part */
    const struct cst_choices *choices; /* of these rows; NULL: there is just one */
    int choice;                        /* in use */
    const cst_increments *increments;  /* of the run; NULL: none are kept */
    double brief; /* steps below this length follow rule->brief; 0: there are none */
    CST_LIST(cst_row_factors) factors; /* per choice */
    int nstage;
    struct cst_motion **stage; /* of the rule */
    cst_output *out;
    cst_lu *newton, *project; /* factors of the step's matrix, and of the projection's when
                                 refinement is too slow */
    double factored_h;        /* step length of Newton's factors; 0: none */
    double tried;             /* length of the last step that was tried */
    cst_habits habits, began; /* now, and when the last step began */
    int since; /* steps from one that began clean, 0: this one did. Guesses are good from the third
                  on */
    double spent; /* instructions in iterations that newer factors would have saved */
    double soft;  /* augmented: e of the matrices; else 0 */
    int forward;  /* 1: this one computes the run, and stops where rank is lost; others follow what
                     was accepted */
    double regular, rows_regular; /* index1, penalty: largest rcond so far of the matrices with the
                                     rows in use, and of these rows alone */
    const cst_kkt *regular_of;    /* these rows */
    cst_lu *rows_lu; /* of matrices that are not those of the motion: cst_motion_rows_lu */
    double *rows_val;
    int full; /* 1: a new matrix in each iteration */
    double tolerance;
    double doubt; /* a first correction of Newton's method beyond this says that the guess misleads;
                     INFINITY: none does */
    double *newton_val, *project_val; /* matrix values */
    double *b, *x, *scratch;          /* (n), (n), (2n) */
    double
        *per_force; /* (nu) move in sizes of the body per force of the step's equations: newton.h */
    double *v0, *a0, *base, *D, *A, *V, *r, *c; /* ambient; base: of D = q1 - q0 */
    double *phi, *xi, *slot;                    /* all rows; tangent; slots */
    /* Only for the guess, of the last accepted step: its length, values at its start, and by how
     * much its guesses missed: these errors change slowly too. */
    double h_before, *ud_before, *lambda_before, *xi_missed, *u_missed, *ud_missed, *lambda_missed,
        *newton_missed;
    double *u_guess, *ud_guess, *lambda_guess, *newton_guess, *guess;
    /* Redundant rows: measures read the multipliers of least norm, each row in its own unit (N for
     * points, N m for directions). null (ndep x all rows) are the left null vectors at the present
     * place. */
    int ambiguous; /* 1: a measure reads rows that are not unique; 0: none does */
    double *react, *null, *gram, *share;
    const double *react_at,
        *react_is; /* the state they belong to; NULL: none. What was returned for it */
    double react_time;
    cst_counts n;
} cst_motion;

/* For how many steps the projection uses its own factors before Newton's are tried again: more each
 * time that did not pay. */
static inline int cst_direct_steps(int *next)
{
    *next = *next < 4 ? 4 : *next < 256 ? 2 * *next : 256;
    return *next;
}

cst_motion *cst_motion_new(cst_arena *a, cst_system *s, const cst_structure *st, cst_output *out);

/* Discards what was learned from earlier steps (factors and predictions), except habits. The same
 * state and habits then give the same bits. */
void cst_motion_forget(cst_motion *w);
/* A run forgets after so many states, so that it can be taken up there again */
#define CST_FORGET 64

/* u', lambda, zd and the rates of the integrals at a state whose t, q, u, z, mem, quad are set;
 * what the rule carries begins anew. */
cst_status cst_motion_derive(cst_motion *w, cst_state *y, cst_diag *d);

/* The constraints have all but lost a rank where the smallest pivot has fallen by so much.
 * Formulations that need J to have full rank stop there: rounding would decide how the motion goes
 * on. */
#define CST_SINGULAR 1e-5

/* The same from a guess of u' and lambda in y; CST_NUMERIC without a message. */
cst_status cst_motion_derive_from(cst_motion *w, cst_state *y);
/* The same without the integrals' rates; these, and the integrals over a step by the trapezoidal
 * rule */
cst_status cst_motion_derive_rates(cst_motion *w, cst_state *y);
/* r (n) = b - W (u', lambda) at y with the u' and lambda that it has; z' is set. The projection's
 * factors and values stay. */
void cst_motion_residual(cst_motion *w, cst_state *y, double *r);
void cst_motion_integrand(cst_motion *w, cst_state *y);
/* W = [T^T M T  J^T; J  0] at y, where the system is placed: its values; W x = b from the guess in
 * x, with Newton's factors or with its own, which are made once (*fresh is cleared); both in one;
 * u', lambda from W with rates V = T u in w->V and the guess in y. CST_NUMERIC: singular */
void cst_motion_matrix(cst_motion *w, const cst_state *y);
double cst_motion_soften(cst_motion *w,
                         double s2); /* augmented: e for rows of forces scaled by s2; else 0 */
cst_status cst_motion_solve(cst_motion *w, int *fresh, const double *b, double *x);
/* Factors for a matrix in w->rows_val with the pattern of the rows in use, beside those of the
 * motion */
static inline cst_lu *cst_motion_rows_lu(const cst_motion *w)
{
    return w->factors.n ? w->factors.at[w->choice].review : w->rows_lu;
}
/* y = b - W x, W without its -eps block, at the values in w->project_val */
void cst_motion_left(const cst_motion *w, const double *b, const double *x, double *y);
cst_status cst_motion_project(cst_motion *w, const cst_state *y, const double *b, double *x);
cst_status cst_motion_accelerations(cst_motion *w, cst_state *y, int *fresh);
/* u and eta from V in w->V, likewise */
cst_status cst_motion_rates(cst_motion *w, const double *guess, cst_state *y, int *fresh);
/* After a drive has changed its rate: the velocities that satisfy it with the least impulse, and
 * eta. V: velocities before. */
cst_status cst_motion_impact(cst_motion *w, cst_state *y);
void cst_motion_integrals(cst_motion *w, const cst_state *y0, double h, cst_state *y1);

/* local_error.c: of the step y0 -> y1, in units of the accuracy asked for; positions against the
 * size of the body, directions against 1. w->V = T u1 */
double cst_motion_error(cst_motion *w, const cst_state *y0, double h, const cst_state *y1);

/* The longest step from y that its error may choose. What rests has no error, however soon and
 * however briefly it is set in motion: only the step asked for says how short that may be. */
double cst_motion_longest(const cst_motion *w, const cst_state *y);

/* zd and the rates of the integrals at a state whose u' and lambda are given */
void cst_motion_refresh(cst_motion *w, cst_state *y);

/* The multipliers that measures read at y: those of the state, or of least norm. Valid until the
 * next call. */
const double *cst_motion_reactions(cst_motion *w, const cst_state *y);

#endif
