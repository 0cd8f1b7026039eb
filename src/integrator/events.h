/* SPDX-License-Identifier: MIT
 *
 * Events: laws that switch. A mode is constant during a step; where its event's value g changes sign, the step is shortened
 * so that it ends there (g = 0 to rounding), the mode is changed, and what follows from the state is derived anew. In a
 * trajectory the state at an event stands twice: as the end of its step (tag k + 1, k the event) and after the change
 * (tag -mask, bit j for event j), with h = 0. Events at the same instant follow each other with steps of length zero. */
#ifndef CST_INTEGRATOR_EVENTS_H
#define CST_INTEGRATOR_EVENTS_H

#include "integrator/state.h"
#include "system/pass.h"

#define CST_TAG_FREE 0.5 /* tag of a step whose length is given: its end moves with its start. 0: its end is given */
#define CST_MASKED 50 /* events that may change together: bits of a mask that a double holds; 2^50 + k is event k alone */

typedef struct cst_events {
    const cst_tape *tape;
    int n;
    double *reg, *bar;
    double *value;       /* (n) of the last eval */
    double *before, *full; /* (n) at the start and at the end of the whole step */
    unsigned char *companion; /* (n) comes at the same instant as the event that was located */
    double *v;           /* ambient */
    long located, coinciding;
} cst_events;

cst_events *cst_events_new(cst_arena *a, const cst_model *m);
void cst_events_bind(cst_events *e, const cst_system *s);
/* value (n) at (t, q, u, z) with the modes in mem; places the system there */
void cst_events_eval(cst_events *e, cst_system *s, double t, const double *q, const double *u, const double *z, const double *mem);
/* mem: modes as the values say; number of changes */
int cst_events_modes(const cst_events *e, const cst_model *m, double *mem);
/* Is event k's value on the other side of its mode? */
int cst_event_crossed(const cst_events *e, const cst_model *m, int k, const double *mem);
void cst_events_change(const cst_model *m, double mask, double *mem);

/* Bars of x, x' (slots), z, t and graph values of g_k, at the last eval: += seed d(g_k) */
void cst_event_reverse(cst_events *e, int k, double seed, double *x, double *xd, double *z, double *t, double *val);
/* Change of g_k at the last eval from changes of slots, z, t and graph values */
double cst_event_forward(cst_events *e, int k, const double *x, const double *xd, const double *z, double t, const double *val);

#endif
