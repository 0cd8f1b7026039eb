/* SPDX-License-Identifier: MIT
 *
 * Costate: multibody dynamics with exact gradients.
 *
 *     M q'' + phi_q^T lambda = Q(q, q', z, t),   phi(q, t) = 0,   psi = w(end) + integral g dt,
 * dpsi/dp
 *
 * The library never prints, exits or keeps globals. Functions return a status and append messages
 * to a cst_diag that the caller owns. A model is immutable and may be shared by threads; a run
 * belongs to one thread. */
#ifndef COSTATE_H
#define COSTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CST_API __attribute__((visibility("default")))

/* ---- status and messages ---- */

#define CST_STATUS_LIST(X)                                                                         \
    X(CST_OK, "done")                                                                              \
    X(CST_NUMERIC, "the computation failed")                                                       \
    X(CST_MODEL, "the model is wrong")                                                             \
    X(CST_USAGE, "the request is wrong")                                                           \
    X(CST_MEMORY, "out of memory")                                                                 \
    X(CST_IO, "a file could not be read")                                                          \
    X(CST_STOPPED, "stopped on request")                                                           \
    X(CST_OUTPUT, "a file could not be written")

typedef enum cst_status {
#define X(name, text) name,
    CST_STATUS_LIST(X)
#undef X
} cst_status;

CST_API const char *cst_status_text(cst_status s);
CST_API const char *cst_version(void);

typedef struct cst_diag { /* {0} is empty */
    int errors, warnings;
    int left_out;      /* messages that did not fit */
    int repeated;      /* messages left out because their words, but for values, are there */
    cst_status status; /* of the last error */
    size_t used;
    char text[32768]; /* lines "file:line:col: error: ..." */
    int keys;
    unsigned long long key[512]; /* (keys) the words of each message */
} cst_diag;

/* ---- model ---- */

typedef struct cst_model cst_model; /* immutable; may be shared by threads */

/* Returns NULL if and only if at least one error was appended to d. set: nset texts "NAME=VALUE"
 * that replace numbers of the file. */
CST_API cst_model *cst_model_load(const char *path, int nset, const char *const *set, cst_diag *d);
CST_API cst_model *cst_model_parse(const char *file_name, const char *text, size_t n, int nset,
                                   const char *const *set, cst_diag *d);
/* For models from elsewhere: the model, its includes, parts and tables are read only where their
 * real paths (links followed) are below this directory. NULL: anywhere, as in cst_model_load. */
CST_API cst_model *cst_model_load_below(const char *below, const char *path, int nset,
                                        const char *const *set, cst_diag *d);
CST_API void cst_model_free(cst_model *m); /* NULL is fine */

/* The numbers of the file, which are its design variables, in SI units. cst_model_number_find
 * returns -1 if there is no number of that name. */
CST_API int cst_model_number_count(const cst_model *m);
CST_API const char *cst_model_number_name(const cst_model *m, int i);
CST_API double cst_model_number_value(const cst_model *m, int i);
CST_API const char *cst_model_number_unit(const cst_model *m, int i);
CST_API int cst_model_number_find(const cst_model *m, const char *name);
/* The range the number must stay in, as given by the file or by the field it belongs to; an
 * infinite limit means no bound. Every evaluation checks it. */
CST_API void cst_model_number_range(const cst_model *m, int i, double *lower, double *upper);
/* What a change of each number is compared with, size (numbers): an influence is slope times size.
 * |p| or, for a component of a vector, the length of the vector. For a coordinate of a point the
 * extent of the drawing: the largest distance of two origins or ends of bodies, or points of joints
 * and forces. For a component of a direction or an orientation the change that turns it by 1 rad.
 * For a number that is 0, or rounding of 0, the median size of its dimension in the file (an angle
 * or a pure number: 1; a length without others: the extent), else 1 SI unit. Shifting, turning or
 * rescaling the model does not change the order of influences. CST_OK or CST_MEMORY. */
CST_API cst_status cst_number_size(const cst_model *m, double *size);
/* Where the number is written. Returns the file; line is 0 if the number came from `set`. */
CST_API const char *cst_model_number_place(const cst_model *m, int i, int *line, int *column);

/* Components of measures ("tip.x") and objectives, in the order of the file. */
CST_API int cst_model_measure_count(const cst_model *m);
CST_API const char *cst_model_measure_name(const cst_model *m, int i);
CST_API const char *cst_model_measure_unit(const cst_model *m, int i);
CST_API int cst_model_objective_count(const cst_model *m);
CST_API const char *cst_model_objective_name(const cst_model *m, int i);
/* The expression as written and what the file says about it (`doc`); NULL: nothing */
CST_API const char *cst_model_objective_definition(const cst_model *m, int i);
CST_API const char *cst_model_objective_doc(const cst_model *m, int i);
/* The objective's unit in SI, for example "N*m"; "" if it has none or none can be inferred from the
 * file. to: buffer of n bytes. */
CST_API void cst_model_objective_unit(const cst_model *m, int i, char *to, size_t n);

/* ---- running a model ---- */

typedef struct cst_options { /* NAN, 0 or NULL: as the model file says, unless noted */
    double start, end, step,
        output;    /* s; output: interval between rows given to the observer, 0: every step */
    double memory; /* bytes for the trajectory that a gradient needs; 0: no limit. If too small:
                      checkpoints */
    const char *events; /* "exact", "frozen" (located, times not differentiated) or "none"; NULL: as
                           the file says */
    /* "index3", "penalty", ...; NULL: as the file says. "joint" affects how the model is built, so
     * it must be chosen when the model is loaded: in the file, or with the set text
     * "simulation.formulation=joint". cst_run_new refuses it for any other model. A model loaded
     * with "joint" can also be run with every other formulation. */
    const char *formulation;
    const char *integrator; /* "newmark", "rk4", ..., "default": the formulation's own; NULL: as the
                               file says */
    double alpha, xi,
        omega; /* penalty factor; damping ratio and frequency (1/s) of stabilised constraints */
    double tolerance;        /* relative tolerance of adaptive steps */
    const char *coupling;    /* continuous-direct with bdf and adams: "simultaneous" (default) or
                                "staggered" */
    const char *sensitivity; /* mixed: integrator of the sensitivities, "euler", "heun", "rk4";
                                NULL: as the file says */
    double sensitivity_step; /* mixed: step of the sensitivities, s; 0: as the file says, or else
                                the step of the run */
    const char *terms;       /* mixed: "perturbed" or "analytic" */
    double perturbation;     /* mixed: relative size of the perturbation */
    const char
        *difference;   /* method difference: "extrapolated" (default), "central" or "forward" */
    double width;      /* central, forward: relative to the number; 0: the one that a narrower one
                          changes least */
    int threads;       /* threads for the backward sweep; 0 or 1: one thread */
    const char *below; /* cst_problem_load, cst_fit_new: the directory of cst_model_load_below, for
                          all that they read */
    int full_newton; /* 1: a new matrix in every Newton iteration; 0: only when convergence becomes
                        slow */
} cst_options;

CST_API cst_options cst_options_default(void);

typedef struct cst_stats {
    long steps, iterations, factorizations, shortened; /* shortened: steps cut because Newton's
                                                          method failed or a body turned too far */
    double time;                                       /* time reached, s */
    double forward_s;                                  /* seconds of the last simulation */
    long again;                                        /* steps recomputed from checkpoints */
    size_t state_bytes;                                /* memory of one stored state */
    double violation; /* largest residual of a constraint at the end, m or rad */
    double
        drift; /* largest residual of the redundant rows, which are monitored but not integrated */
    long events,
        coinciding; /* events that were located; how many of them coincide with the one before */
    long either; /* coinciding events whose order matters: the derivative is that of the order that
                    the run has taken */
    long grazing, chattering; /* events that were only grazed or touched; events that chatter and
                                 are no longer located */
    long kinks; /* kinks of laws (abs, min, max, clamp, linear tables, saturated tires) that steps
                   have crossed */
} cst_stats;

typedef struct cst_run cst_run; /* workspace of one thread */

/* Called at the start, at each output and at the end with all measure components; non-zero stops
 * the run. */
typedef int (*cst_observer)(void *ctx, double t, const double *measures, int n);

CST_API cst_run *cst_run_new(const cst_model *m, const cst_options *o, cst_diag *d);
CST_API void cst_run_free(cst_run *r);
/* Called in each step of a simulation and of a sweep: the phase, and which share of it is done.
 * Non-zero stops: the status is then CST_STOPPED. NULL: nobody is called. */
typedef int (*cst_control)(void *ctx, const char *phase, double share);
CST_API void cst_run_control(cst_run *r, cst_control control, void *ctx);

/* numbers: values of all numbers of the model; NULL: those of the file. If a value is not finite or
 * is outside its range (its own, or that of a field that is computed from it), the result is
 * CST_USAGE and a message names the number. The same holds for every function below that takes
 * values. */
CST_API cst_status cst_run_simulate(cst_run *r, const double *numbers, cst_observer observe,
                                    void *ctx, cst_diag *d);
CST_API double cst_run_objective(const cst_run *r, int i);
CST_API double cst_run_measure(const cst_run *r, int i); /* at the last output */
CST_API cst_stats cst_run_stats(const cst_run *r);
/* Name of the i-th force, in the order of the model, whose kinks were crossed, and in n how often;
 * NULL: there are no more. */
CST_API const char *cst_run_kinks(const cst_run *r, int i, long *n);

/* ---- gradients ----
 *
 * adjoint and direct differentiate the discrete solution itself, so they agree to rounding.
 * difference is meant for checking: central differences extrapolated twice (Romberg), with an
 * estimate of their error. The continuous methods discretise the sensitivity and adjoint equations
 * along the states of the run: they converge to the derivative as the step tends to 0. mixed
 * perturbs residuals and integrates the sensitivities with its own integrator and step. */

#define CST_METHOD_LIST(X)                                                                         \
    X(CST_ADJOINT, "adjoint")                                                                      \
    X(CST_DIRECT, "direct")                                                                        \
    X(CST_DIFFERENCE, "difference")                                                                \
    X(CST_CONTINUOUS_DIRECT, "continuous-direct")                                                  \
    X(CST_CONTINUOUS_ADJOINT, "continuous-adjoint")                                                \
    X(CST_MIXED, "mixed")

typedef enum cst_method {
#define X(name, text) name,
    CST_METHOD_LIST(X)
#undef X
} cst_method;

CST_API const char *cst_method_text(cst_method m);

#define CST_EFFECT_LIST(X)                                                                         \
    X(CST_EXACT, "")                                                                               \
    X(CST_NO_EFFECT, "has no effect on the objective")                                             \
    X(CST_BREAKS_LOOP,                                                                             \
      "cannot change by itself: a loop that is closed more than once would no longer close")       \
    X(CST_CONTRADICTS,                                                                             \
      "cannot change by itself: it would contradict what else is prescribed at the start")         \
    X(CST_NOT_UNIQUE, "the objective reads a reaction that is not unique (redundant constraints)") \
    X(CST_NOT_SMOOTH, "the objective is not differentiable here")                                  \
    X(CST_NO_DIFFERENCE, "the simulation fails when it is changed")                                \
    X(CST_NOT_FINITE, "the objective, or its slope, is not finite")                                \
    X(CST_ONE_SIDED, "the slope is that of the side that the run has taken")

typedef enum cst_effect {
#define X(name, text) name,
    CST_EFFECT_LIST(X)
#undef X
} cst_effect;

CST_API const char *cst_effect_text(cst_effect e);

typedef struct cst_gradient { /* result of cst_run_gradient: owned by the run, valid until its next
                                 call */
    int objectives, numbers;  /* numbers: how many derivatives were requested */
    const int *number;        /* (numbers) indices of the numbers */
    const double *value;      /* (objectives) */
    const double *slope; /* (objectives x numbers) d(objective)/d(number); NAN where effect says
                            that there is none */
    const double
        *error; /* (objectives x numbers) error estimate; NULL unless the method is difference */
    const cst_effect *effect; /* (objectives x numbers) */
    long simulations;         /* the run itself, and those of the method difference */
    double gradient_s;        /* computing time in s, without the simulation */
} cst_gradient;

/* values: of all numbers; NULL: those of the file. which: indices of n numbers; NULL: all numbers.
 * Returns NULL on failure. */
CST_API const cst_gradient *cst_run_gradient(cst_run *r, const double *values, cst_method method,
                                             int n, const int *which, cst_diag *d);

/* ---- slopes to the two sides ----
 *
 * The slopes of the objectives below and above a number: the adjoint at p - e and p + e, for widths
 * e from 1e-3 of the number's size to 1e-10, inside its range, each number by itself. A width
 * counts where the next wider one has the same steps and events in the same order, and where the
 * values of the objective change between the two as their slopes say. Both are extrapolated
 * linearly to p. If events coincide at p, widths that part them come first. */

#define CST_SIDES_LIST(X)                                                                          \
    X(CST_SIDES_OPEN, "not settled")                                                               \
    X(CST_SIDES_ONE, "one slope")                                                                  \
    X(CST_SIDES_TWO, "two slopes")                                                                 \
    X(CST_SIDES_JUMP, "jump")                                                                      \
    X(CST_SIDES_BELOW, "below only")                                                               \
    X(CST_SIDES_ABOVE, "above only")

typedef enum cst_sides_answer { /* BELOW, ABOVE: the other side fails or is out of range */
#define X(name, text) name,
                                CST_SIDES_LIST(X)
#undef X
} cst_sides_answer;

CST_API const char *cst_sides_text(cst_sides_answer a);

/* Called after each number; non-zero stops: the result is then NULL, and d says CST_STOPPED */
typedef int (*cst_progress_observer)(void *ctx, int done, int numbers);

typedef struct cst_check_options { /* NULL or {0}: all numbers, no reports */
    int most; /* cst_run_check: differences for at most so many numbers, half of them the most
                 influential, the others spread over the rest; 0: for all */
    cst_progress_observer progress;
    void *ctx;
} cst_check_options;

typedef struct cst_sides { /* owned by the run, valid until its next call of this or of
                              cst_run_check */
    int objectives, numbers;
    const int *number;           /* (numbers) indices of the numbers */
    const double *value;         /* (objectives) */
    const double *below, *above; /* (objectives x numbers) NAN: not settled, or not to be had */
    const double *error;         /* (objectives x numbers) of the less accurate of the two */
    const double
        *jump; /* (objectives x numbers) value just above minus value just below; 0: none */
    const cst_sides_answer *answer; /* (objectives x numbers) */
    const int *simulations;         /* (numbers) at most 24 */
} cst_sides;

/* values, n, which: as in cst_run_gradient. NULL on failure. */
CST_API const cst_sides *cst_run_sides(cst_run *r, const double *values, int n, const int *which,
                                       const cst_check_options *o, cst_diag *d);

/* ---- checking a gradient ----
 *
 * Compares the adjoint with the direct method and with differences, number by number: first central
 * differences of at most four widths (8 simulations), then, where these suggest a kink or a jump or
 * the gradient itself says that it is one-sided or not smooth, the slopes to both sides (24 in
 * all). Where a tolerance chooses the steps, a slope must also agree with differences that choose
 * theirs anew. What is said of a number does not depend on which others are checked. */

#define CST_VERDICT_LIST(X)                                                                        \
    X(CST_AGREE, "agree")                                                                          \
    X(CST_DIFFER, "DIFFER")                                                                        \
    X(CST_TWO_SLOPES, "two slopes")                                                                \
    X(CST_STEP_KINK, "kink of the steps")                                                          \
    X(CST_JUMP, "jump")                                                                            \
    X(CST_NOT_SETTLED, "not settled")                                                              \
    X(CST_REFUSED, "refused")                                                                      \
    X(CST_UNTRIED, "adjoint = direct")

/* STEP_KINK: two slopes that come together with half the step, and the gradient is one of them or
 * between them; REFUSED: the gradient gives no slope; UNTRIED: beyond `most` */
typedef enum cst_verdict {
#define X(name, text) name,
    CST_VERDICT_LIST(X)
#undef X
} cst_verdict;

CST_API const char *cst_verdict_text(cst_verdict v);

/* The identities of section 10 of docs/theory-gradients.md, for mass and for length:
 * sum_i a_i p_i dpsi/dp_i = a psi over all numbers of the model */
typedef enum cst_scaling_verdict {
    CST_SCALING_HOLDS,
    CST_SCALING_FAILS,
    CST_SCALING_OPEN
} cst_scaling_verdict;

typedef struct cst_scaling {
    cst_scaling_verdict verdict;
    double sum;      /* sum_i a_i p_i dpsi/dp_i */
    double exponent; /* a: of the objective's dimension or, guessed = 1, the half-integer nearest to
                        sum/psi */
    double off;      /* |sum - a psi| over the largest of |psi|, |p_i dpsi/dp_i|, sum_i |a_i p_i
                        dpsi/dp_i| */
    int guessed;
    const char *why;     /* OPEN: the reason, else NULL */
    int ignored;         /* how many numbers are of unknown unit (taken as pure numbers), or without
                            a gradient */
    const int *ignoring; /* (ignored) */
} cst_scaling;

#define CST_CHECK_LIST(X)                                                                          \
    X(CST_CHECK_CONFIRMED, "confirmed")                                                            \
    X(CST_CHECK_IN_DOUBT, "in doubt") /* something differs, or an identity fails */                \
    X(CST_CHECK_KINK, "kink")         /* it gives a slope where there are two, or a jump */        \
    X(CST_CHECK_NOTHING, "nothing compared")                                                       \
    X(CST_CHECK_NOT_SETTLED, "not settled") /* of an objective, no slope that matters */           \
    X(CST_CHECK_INCOMPLETE, "incomplete")   /* it is known to leave something out: left_out */

typedef enum cst_check_verdict {
#define X(name, text) name,
    CST_CHECK_LIST(X)
#undef X
} cst_check_verdict;

CST_API const char *cst_check_verdict_text(cst_check_verdict c);

/* What a gradient is known to leave out */
enum {
    CST_MISSES_INSTANTS = 1, /* how instants move that are not located */
    CST_MISSES_SIDE = 2      /* the other side: it gives one of two slopes */
};

typedef struct cst_checked { /* owned by the run, as cst_sides is; arrays of slopes: (objectives x
                              numbers), NAN: not computed */
    int objectives, numbers;
    const int *number;                /* (numbers) */
    const double *value;              /* (objectives) */
    const double *adjoint, *direct;   /* NAN: refused */
    const double *difference, *error; /* of central differences, with their error */
    const double *below, *above;      /* where the sides were looked at */
    const cst_effect *effect;         /* (objectives x numbers) of the gradient */
    const cst_verdict *verdict;       /* (objectives x numbers) */
    const int *simulations;           /* (numbers) for each of them */
    int all_simulations;   /* of the check: with the gradients themselves and what all numbers share
                            */
    const double *largest; /* (objectives) influence |slope| size, of all numbers of the model, or
                              1e-5 of the largest values of the run if that is more */
    const int *unsettled;  /* (objectives) 1: no slope that matters is settled */
    const cst_scaling *scaling; /* (objectives x 2) mass, length */
    int excused;  /* identities that fail although differences confirm all numbers: the
                     model has a mass or a length that is no number */
    int left_out; /* CST_MISSES_ */
    cst_check_verdict verdict_of_all;
} cst_checked;

CST_API const cst_checked *cst_run_check(cst_run *r, const double *values, int n, const int *which,
                                         const cst_check_options *o, cst_diag *d);

/* ---- optimisation ----
 *
 *     minimise f(x)   subject to   c_lower <= c(x) <= c_upper,   lower <= x <= upper
 *
 * An optimiser knows nothing of mechanics: the caller may fill in a cst_nlp directly or obtain one
 * from a cst_problem (below). */

typedef struct cst_nlp {
    int n, m;                            /* variables, constraints */
    const double *start, *lower, *upper; /* (n); bounds may be infinite */
    const double *scale;                 /* (n) typical changes of the variables */
    const double *c_lower, *c_upper;     /* (m) equal: an equality; one of them may be infinite */
    /* f, c (m), df (n) and dc (m x n) at x. CST_NUMERIC: there is no value at x, and the optimiser
     * steps back; any other failure ends the search. */
    cst_status (*eval)(void *ctx, const double *x, double *f, double *c, double *df, double *dc,
                       cst_diag *d);
    void *ctx;
    int stages; /* stages of a continuation: easier problems, solved roughly, each from the optimum
                   of the one before; 0: none */
    void (*stage)(
        void *ctx,
        int k); /* from now on eval is that of stage k, or of the problem itself (k = stages) */
} cst_nlp;

typedef struct cst_iterate { /* what an optimiser reports, with the best point so far */
    int iteration, evaluations, failures;
    double f, violation; /* at the best point; violation: the largest one, relative to the size of
                          * its constraint, which is the change that its gradient predicts for
                          * changes of all variables by their scales */
    double step;         /* distance to the last reported point: largest scaled component */
    const double *x, *c; /* (n), (m) of the best point */
    int improved;        /* 1: the best point has changed since the last report */
    int stage;           /* stage of the continuation, from 0 */
} cst_iterate;

typedef int (*cst_iterate_observer)(void *ctx, const cst_iterate *it); /* non-zero stops */

typedef struct cst_search_options { /* 0 or NULL: default, or no limit */
    const char
        *method;       /* see cst_optimiser_name; NULL: lbfgsb, or slsqp if there are constraints */
    const char *inner; /* local method used by auglag and multistart */
    int iterations, evaluations; /* at most */
    double seconds;              /* at most */
    double target;               /* stop when f is below and the constraints hold; NAN: none */
    double gradient; /* stop when the projected gradient in scaled variables is below this, relative
                        to the size of f */
    double change;   /* stop when f changes by less than this, relative */
    double step;     /* stop when scaled variables change by less than this */
    double feasible; /* a constraint holds when its relative violation is below this */
    int starts;      /* number of starting points of multistart */
    unsigned long seed;
    cst_iterate_observer observe;
    void *ctx;
    const char *journal; /* file that records every evaluation; NULL: none */
    int resume; /* 1: evaluations found in the journal are reused; the search continues after its
                   end */
    unsigned long long key; /* identifies the problem the journal was written for; a journal with
                               another key is refused */
    int (*stop)(void *ctx); /* looked at some ten times a second, also while the optimiser computes;
                               non-zero stops; NULL: none */
} cst_search_options;

#define CST_OUTCOME_LIST(X)                                                                        \
    X(CST_CONVERGED, "converged")                                                                  \
    X(CST_TARGET, "target reached")                                                                \
    X(CST_LIMIT, "limit reached")                                                                  \
    X(CST_STALLED, "no further progress")                                                          \
    X(CST_INTERRUPTED, "stopped on request")                                                       \
    X(CST_INFEASIBLE, "no feasible point found")                                                   \
    X(CST_BROKEN, "failed")                                                                        \
    X(CST_UNBOUNDED, "unbounded")

typedef enum cst_outcome {
#define X(name, text) name,
    CST_OUTCOME_LIST(X)
#undef X
} cst_outcome;

CST_API const char *cst_outcome_text(cst_outcome o);

#define CST_LIMIT_LIST(X)                                                                          \
    X(CST_LIMIT_INACTIVE, "")                                                                      \
    X(CST_LIMIT_ACTIVE, "active")                                                                  \
    X(CST_LIMIT_EQUALITY, "equality")                                                              \
    X(CST_LIMIT_REDUNDANT, "redundant") /* left out: follows from others */                        \
    X(CST_LIMIT_VIOLATED, "VIOLATED")

typedef enum cst_limit_state {
#define X(name, text) name,
    CST_LIMIT_LIST(X)
#undef X
} cst_limit_state;

CST_API const char *cst_limit_state_text(cst_limit_state h);

typedef struct cst_optimum {
    cst_outcome outcome;
    char reason[160]; /* one line about the end */
    int iterations, evaluations, failures,
        replayed;      /* evaluations include those replayed from the journal */
    char failure[200]; /* why the first trial point that failed has no value; empty: not known, none
                          did */
    double f, violation;
    double stationarity; /* of the Lagrangian in scaled variables, relative to the size of the
                            objective at the best point */
    double *x, *c;       /* (n), (m): memory provided by the caller */
    double *multiplier;  /* (m) d(f at the optimum)/d(limit) for active constraints, else 0; memory
                            of the caller, or NULL */
    cst_limit_state *state; /* (m) what is true of each constraint; memory of the caller, or NULL */
} cst_optimum;

CST_API cst_search_options cst_search_default(void);
CST_API int cst_optimiser_count(void);
CST_API const char *cst_optimiser_name(int i);
CST_API const char *cst_optimiser_summary(int i);
/* Returns CST_OK whenever there is a best point, whatever ended the search. eval, observe and stop
 * are called in the thread of the caller; the optimiser runs in another. If it does not return when
 * the search must stop, or computes for 60 s without asking for a point, that thread is left
 * behind, with its memory, until the process ends. */
CST_API cst_status cst_optimise(const cst_nlp *p, const cst_search_options *o, cst_optimum *best,
                                cst_diag *d);

/* The design section of a model file as an optimisation problem: variables, weighted objectives,
 * constraints, scenarios. All gradients are adjoint: one backward sweep per scenario and point.
 * Scenarios run in parallel (options.threads). */
typedef struct cst_problem cst_problem;

CST_API cst_problem *cst_problem_load(const char *path, int nset, const char *const *set,
                                      const cst_options *o, cst_diag *d);
CST_API void cst_problem_free(cst_problem *p);
CST_API const cst_nlp *cst_problem_nlp(const cst_problem *p);
CST_API cst_search_options
cst_problem_search(const cst_problem *p); /* method and stopping rules of the section; key */
CST_API const char *cst_problem_variable(const cst_problem *p, int i);
CST_API const char *cst_problem_constraint(const cst_problem *p, int i);
/* Writes the model file with the numbers at x in their places and everything else unchanged. */
CST_API cst_status cst_problem_save(cst_problem *p, const double *x, const char *path, cst_diag *d);
/* ---- measures at instants ----
 *
 * Interpolated linearly between the two steps around each instant, with the exact derivatives of
 * that interpolant. If a tolerance chooses the steps, a step ends at each instant instead. */

typedef struct cst_sample {
    int measure; /* component, numbered as in cst_model_measure_name */
    double time; /* s, within the run */
} cst_sample;

/* Writes y (n) and, unless it is NULL, jacobian (n x nwhich) by the direct method. Samples must be
 * in order of increasing time. A number that cannot change by itself, one that would open a loop in
 * a singular position before the last sample, or a reaction that is not unique is an error, so that
 * no wrong derivative is returned silently. */
CST_API cst_status cst_run_samples(cst_run *r, const double *values, int n,
                                   const cst_sample *sample, int nwhich, const int *which,
                                   double *y, double *jacobian, cst_diag *d);

/* ---- identification ----
 *
 * Estimates numbers of the model from measured signals: the section `identify` of the file.
 * Minimises sum r_i^2 with r_i = (measure(t_i) - measured_i)/sigma_i over all experiments, and
 * reports how well the numbers are determined. */

typedef struct cst_fit cst_fit; /* belongs to one thread, but starts worker threads */

#define CST_KNOWN_LIST(X)                                                                          \
    X(CST_ESTIMATED, "estimated")                                                                  \
    X(CST_WEAK, "its standard error is larger than itself")                                        \
    X(CST_AT_BOUND, "at a bound of its range")                                                     \
    X(CST_CONFOUNDED, "cannot be told from others: see the combinations")                          \
    X(CST_WITHOUT_EFFECT, "has no effect on any channel")

typedef enum cst_known {
#define X(name, text) name,
    CST_KNOWN_LIST(X)
#undef X
} cst_known;

CST_API const char *cst_known_text(cst_known k);

typedef struct cst_estimate {
    const char *name, *unit;
    double value, start, lower, upper; /* lower, upper: bounds */
    double error;     /* standard error; NAN: there is none, and `known` says why */
    double low, high; /* confidence interval */
    cst_known known;
} cst_estimate;

typedef struct cst_fitted { /* one measured value */
    const char *experiment, *channel;
    double time, measured, model, sigma;
} cst_fitted;

typedef struct cst_fit_channel { /* a channel of an experiment after the fit */
    const char *experiment, *channel;
    int values, missing;        /* compared; empty cells within the window */
    double sigma, rms, largest; /* noise or weight; residuals model - measured, in SI */
    double correlation;         /* of model and measurement; NAN: one of them is constant */
    const char *advice;         /* what seems to be wrong with the signal; NULL: nothing */
} cst_fit_channel;

typedef struct cst_fit_result { /* owned by the fit, valid until its next run */
    const char *status;         /* "converged", "limit reached", "no further progress", "stopped on
                                   request", "failed" */
    const char *why;
    int converged;
    int iterations, evaluations, failures; /* failures: trial points that could not be simulated */
    double sum;                            /* of r_i^2 */
    double variance; /* sum/(samples - free numbers): about 1 when model and noise are right */
    int noise_known; /* 0: errors are scaled by the variance */
    double confidence;
    int parameters, samples, free;
    const cst_estimate *estimate; /* (parameters) */
    const double *correlation;    /* (parameters x parameters) NAN where there is none */
    int singulars, lost;     /* directions in the space of the free numbers; the last `lost` of them
                                have no effect */
    const double *singular;  /* (singulars) singular values of the Jacobian by relative changes of
                                the numbers, decreasing */
    const double *direction; /* (singulars x parameters) relative changes */
    const cst_fitted *fitted; /* (samples) */
    int channels;
    const cst_fit_channel *channel; /* (channels) */
} cst_fit_result;

typedef struct cst_fit_step { /* after each iteration */
    int iteration, evaluations;
    double sum, step, damping; /* step: largest relative change */
    const double *x;           /* (parameters) */
} cst_fit_step;

/* set: as in cst_model_load. o: options of the runs, NULL: those of the file; o->threads:
 * experiments run in parallel. NULL on failure: see d. */
CST_API cst_fit *cst_fit_new(const char *path, int nset, const char *const *set,
                             const cst_options *o, cst_diag *d);
CST_API void cst_fit_free(cst_fit *f);
CST_API int cst_fit_parameter_count(const cst_fit *f);
CST_API const char *cst_fit_parameter_name(const cst_fit *f, int i);
/* method: "lm", "minpack", "lbfgsb", "ipopt", or NULL for the default. report may be NULL; a
 * non-zero return value stops the fit. */
CST_API cst_status cst_fit_run(cst_fit *f, const char *method,
                               int (*report)(void *ctx, const cst_fit_step *s), void *ctx,
                               cst_diag *d);
CST_API const cst_fit_result *cst_fit_answer(const cst_fit *f);

#ifdef __cplusplus
}
#endif
#endif
