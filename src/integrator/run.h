/* SPDX-License-Identifier: MIT
 *
 * A run: the time loop over one model at given numbers. Owns everything it needs in one arena; belongs to one thread. */
#ifndef CST_INTEGRATOR_RUN_H
#define CST_INTEGRATOR_RUN_H

#include "integrator/index3.h"

typedef struct cst_functional_state { /* of one functional during a run */
    double value;
    double time;      /* CST_PEAK: when; CST_AT: asked for */
    double weight;    /* CST_AT: share of the later of the two states */
    double slope;     /* CST_AT: derivative in the time asked for */
    long state;       /* CST_PEAK: at which state; CST_AT: the later state */
} cst_functional_state;

typedef struct cst_traj { /* accepted states, in blocks */
    size_t size;          /* doubles of one state */
    long n;
    int per_block, nblock, cap;
    double **block;
} cst_traj;

struct cst_run {
    cst_arena arena;
    const cst_model *m;
    cst_options options;
    cst_system *s;
    cst_structure *st;
    cst_output *out;
    cst_start *start;
    cst_index3 *w;
    const cst_tape *objective;  /* RESULT channels and numbers -> objectives */
    double *objective_reg, *objective_bar;
    double *result;             /* (nobjective) */
    double *component;          /* (ncomponent) at the last state observed */
    cst_functional_state *functional;
    double *state_block[2];
    cst_traj *traj;             /* NULL: not kept */
    double *assembly_lambda, *rates_eta; /* multipliers of the start's problems */
    double *mem_drawn;          /* remembered values during assembly: zero */
    struct cst_gradient_store *gradient; /* sensitivity/gradient.c */
    double t;                   /* reached */
    double forward_s;
    double drift;               /* largest residual of rows that are not integrated */
};

double *cst_traj_push(cst_arena *a, cst_traj *t);
double *cst_traj_at(const cst_traj *t, long i);

cst_status cst_run_forward(cst_run *r, const double *numbers, int keep, cst_observer observe, void *ctx, cst_diag *d);

#endif
