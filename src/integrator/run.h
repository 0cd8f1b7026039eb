/* SPDX-License-Identifier: MIT
 *
 * A run: the time loop over one model at given numbers. Owns everything it needs in one arena;
 * belongs to one thread. */
#ifndef CST_INTEGRATOR_RUN_H
#define CST_INTEGRATOR_RUN_H

#include "formulation/statics.h"
#include "integrator/events.h"
#include "integrator/rule.h"
#include "integrator/samples.h"

enum { CST_TIES = 8 };

typedef struct cst_functional_state { /* of one functional during a run */
    double value;
    double time;   /* CST_PEAK: when; CST_AT: asked for */
    double met;    /* CST_AT, steps chosen by their error: end of the step at which it was, also for
                      runs with the same steps */
    double weight; /* CST_AT: share of the later of the two states */
    double slope;  /* CST_AT: derivative in the time asked for */
    long state;    /* CST_PEAK: at which state; CST_AT: the later state */
    double last;   /* CST_AT: value at the state before; at its own state while `open` */
    int open;      /* CST_AT: the slope behind its state is still to come */
    int ties;      /* CST_PEAK: number of other states with the same value, to rounding */
    int event;  /* CST_PEAK: 1: at the end of a step that an event ended, not at a point of the grid
                 */
    int raised; /* CST_PEAK: 1: just behind a change of modes, which has raised it */
    long tie[CST_TIES]; /* CST_PEAK: the first of these states */
    int near;           /* something that it reads was near a kink where it was read */
    double largest;     /* magnitude so far */
    long switched;      /* CST_AT: the state behind an event of its instant; 0: there was none */
    int torn;           /* it was read at the instant of an event at which it jumps */
} cst_functional_state;

#define CST_NEAR_KINK                                                                              \
    1e-8 /* far above rounding: what comes nearer is examined for being on the kink itself */

/* Operations with a kink in what objectives read. Most runs come near none of them, and a gradient
 * then need not look for kinks. */
typedef struct cst_watch {
    int n, *code;         /* (n) instructions of the output tape */
    unsigned char *reads; /* ((integrals, then functionals) x n) 1: it reads the operation */
    unsigned char *near, *before; /* (n) at the last state, and at the one before */
    int any, rested; /* near at the last state; an integrand stayed near for a whole step */
} cst_watch;

/* The first time of a value that is not finite, NAN: it always is; register of the operation it
 * comes from, and what that one read */
typedef struct cst_undefined {
    double t;
    int reg;
    double a[3];
} cst_undefined;

typedef struct cst_norm_state {
    int exponent;
    double shift, peak;
} cst_norm_state; /* s = 2^exponent; c; the largest size at a state */

/* Accepted states, in blocks. With `every` > 1 only every `every`-th state is kept, together with
 * the times of all; the states of one window between two kept ones are recomputed when needed,
 * which is possible because steps depend on the state alone. */
typedef struct cst_traj {
    size_t size; /* doubles of one state */
    long n;      /* states of the run */
    long every, window;
    int per_block, nblock, cap;
    double **block;               /* kept states */
    CST_LIST(double) time;        /* of all states, with every > 1 */
    CST_LIST(double) length, tag; /* likewise */
    CST_LIST(cst_habits) began;   /* likewise: of the step that ended there, if one did */
    double *computed;             /* (window + 1) states from `from` on; from = -1: none */
    long from, again;             /* again: steps that were computed again */
} cst_traj;

struct cst_run {
    cst_arena arena;
    cst_arena analysis; /* what depends on the structure: st, start, statics, w, choices, charts,
                           aside, along */
    double *analysed;   /* (leaves) the numbers at which it was made */
    const cst_model *m;
    cst_options options;
    const cst_formulation *formulation;
    const cst_rule *rule;
    char reason[200];
    const char *why; /* why `auto` chose formulation and integrator; NULL: they were given */
    cst_system *s;
    cst_structure *st; /* NULL: the analysis at other numbers has failed */
    cst_output *out;
    cst_start *start;
    cst_statics *statics; /* NULL: the run does not start from equilibrium */
    cst_motion *w;
    cst_choices *choices; /* NULL: no row is redundant */
    cst_increments increments;
    uint64_t pattern; /* of the tags of its states: the same steps and events in the same order have
                         the same */
    uint64_t instant; /* of the last states */
    cst_charts *charts; /* NULL: the formulation has none */
    cst_events *events;
    double *mem_try;           /* scratch */
    double *sum_try;           /* (2 (nu + integrals)) scratch of changing.c */
    int warned;                /* 1: events have been warned of */
    int advised;               /* 1: the rule has given its warning */
    int hurried;               /* 1: bodies that turn too far in a step have been warned of */
    int events_mode;           /* CST_EVENTS_EXACT, _FROZEN, _NONE */
    const cst_tape *objective; /* RESULT channels and numbers -> objectives */
    double *objective_reg, *objective_bar;
    double *result;       /* (nobjective) */
    double *component;    /* (ncomponent) at the last state observed */
    cst_observer observe; /* observe.h */
    void *observe_ctx;
    cst_control control; /* cst_run_control */
    void *control_ctx;
    int every_step; /* 1: the observer sees each step; `row` says which are rows of results */
    int row, stop;
    long rows;          /* so far */
    const double *q;    /* of the state that is being observed */
    cst_state inside;   /* a step: for rows; inside.t NULL: there are none */
    cst_motion *aside;  /* who computes it */
    cst_tangent *along; /* the motion itself, for slopes at instants that are asked for; NULL: there
                           are none */
    cst_functional_state *functional;
    cst_norm_state *norm;
    cst_watch *watch;
    cst_undefined *undefined; /* (components, integrals, functionals): undefined.c */
    int undefined_told;       /* of values that are not finite: once */
    cst_samples *samples;     /* measures at instants that someone has asked for; NULL: none */
    double *state_block[2];
    cst_traj *traj;                      /* of the last run; NULL: not kept */
    cst_traj *kept;                      /* its memory, used again */
    double *assembly_lambda, *rates_eta; /* multipliers of the start's problems */
    double *mem_drawn; /* remembered values during assembly: turns zero, modes of the drawing */
    struct cst_gradient_store *gradient; /* sensitivity/gradient.c */
    struct cst_check_store *check;       /* sensitivity/check.c */
    double *functional_bar, *value_bar;  /* scratch of the gradient */
    cst_begin begin;
    int frozen; /* 1: rows, charts and adaptive steps are those of the run before: what derivatives
                   assume */
    CST_LIST(double) grid; /* ends of the steps that an adaptive rule chose */
    double h_next;         /* adaptive rules */
    long rejected;
    double t; /* reached */
    double forward_s;
    double violation; /* largest residual of a constraint at the end */
    double drift;     /* largest residual of rows that are not integrated */
};

/* 0: someone asks to stop, in this phase, of which this share is done */
int cst_run_goes_on(cst_run *r, const char *phase, double share);

/* The next run is analysed at its own numbers and gives the bits of a new one. */
void cst_run_forget(cst_run *r);

/* State n of the kept trajectory; a pair of neighbours (n-1, n) stays valid together. */
cst_state cst_run_state(cst_run *r, long n);
void cst_run_pair(cst_run *r, long n, cst_state *y0, cst_state *y1);

enum { CST_EVENTS_EXACT, CST_EVENTS_FROZEN, CST_EVENTS_NONE };

/* steps.c. From the state y0 at the start to the end; y0 becomes the last state, y1 is scratch. */
cst_status cst_run_steps(cst_run *r, cst_state *y0, cst_state *y1, cst_diag *d);

/* y1 follows y0: it is evaluated and kept, and both are swapped. */
void cst_run_accept(cst_run *r, cst_state *y0, cst_state *y1, long *index);

/* y1 is y0 with the held values that belong to y0, and what follows from it. */
cst_status cst_run_hold(cst_run *r, const cst_state *y0, cst_state *y1, cst_diag *d);

/* functionals.c. before: the state before, NULL at the start */
cst_status cst_functionals_begin(cst_run *r, cst_diag *d);
/* Steps chosen by their error: is the instant of functional i, an `at`, reached first at time t? */
int cst_functional_met(const cst_run *r, int i, double t);
/* Do its values x and y, before and after an event, differ by more than rounding? */
int cst_functional_jumps(const cst_functional_state *f, double x, double y);
void cst_functionals_at(cst_run *r, const cst_state *y, const cst_state *before, long index);
void cst_objectives_eval(cst_run *r);

/* Smoothed peaks that left the range of numbers in the last run are set for the next; their number
 */
int cst_norms_review(cst_run *r);

/* watch.c. The rounding error of coordinates, rates or accelerations (order 0, 1, 2), the largest
 * of which is `size`: their own, and that of the coordinates in differences over a step, which is
 * what the rates of a body at rest consist of. */
double cst_run_rounding(const cst_run *r, int order, double size);
cst_watch *cst_watch_new(cst_arena *a, const cst_model *m);
void cst_watch_state(cst_watch *w, const cst_output *out,
                     double h); /* outputs at a state that a step of length h led to; -1: none */
int cst_watch_near(const cst_watch *w, const cst_model *m, int functional); /* at the last state */

cst_status cst_run_forward(cst_run *r, const double *numbers, int keep, cst_observer observe,
                           void *ctx, cst_diag *d);

#endif
