/* SPDX-License-Identifier: MIT
 *
 * Events: laws that switch. A mode is constant during a step; where its event's value g changes
 * sign, the step is shortened so that it ends there (g = 0 to rounding), the mode is changed, and
 * what follows from the state is derived anew. In a trajectory the state at an event stands twice:
 * as the end of its step (tag k + 1, k the event) and after the change (tag -(i + 1), i the number
 * of the set of events that changed), with h = 0. Events at the same instant follow each other with
 * steps of length zero. */
#ifndef CST_INTEGRATOR_EVENTS_H
#define CST_INTEGRATOR_EVENTS_H

#include "integrator/event_sets.h"
#include "integrator/incidents.h"
#include "integrator/state.h"
#include "system/pass.h"

#define CST_TAG_FREE                                                                               \
    0.5 /* tag of a step whose length is given: its end moves with its start. 0: its end is given  \
         */
#define CST_TAG_HOLD 0.25 /* tag of a state that differs from the one before by its held values */

#define CST_MODE_RESTS                                                                             \
    0.5 /* the mode of an event whose value rests at zero from the start on, until it leaves */

static inline double cst_tag_of_set(int set) { return -(double)(set + 1); }
static inline int cst_set_of_tag(double tag)
{
    return tag < 0 ? (int)-tag - 1 : -1;
} /* -1: nothing has changed there */

typedef struct cst_events {
    const cst_tape *tape;
    int n, nkink, npiece,
        all;    /* events, kinks of tapes, forces with pieces of their own; values of all of them */
    int *piece; /* (npiece) forces */
    int nested; /* values may jump where modes change */
    int drives; /* constraints read modes: velocities may jump with them */
    unsigned char *of_drive; /* (n) modes that constraints read */
    double *reg, *bar;
    double *value;         /* (all) of the last eval */
    double *at;            /* what it was at: t, q, u, z, mem; t is NAN before the first */
    double *before, *full; /* (all) at the start and at the end of the whole step */
    double *older,
        h_older; /* at the start of the step before, which had length h_older; 0: there is none */
    cst_event_sets sets;      /* of the last run */
    uint64_t *made;           /* (sets.words) scratch */
    unsigned char *companion; /* (n) comes at the same instant as the event that was located */
    unsigned char *chatters;  /* (n) chatters: it is no longer located */
    int *with;                /* (n) number of the set with which it changed last ... */
    double *since;            /* (n) ... and when each mode did; NAN: never */
    int *burst;               /* (n) how often it was located ... */
    double *burst_from;       /* ... within one step from this time on */
    double *v, *a, *xdd;      /* ambient, ambient, slots */
    long located, coinciding, kinks;
    long *crossed; /* (nkink + npiece) how often each kink was */
    long settled;  /* modes changed at the ends of steps because their instants are not located */
    cst_incidents incidents; /* of the last run that was kept */
    unsigned char
        *judged; /* (kinks) has been near its zero for a step, and was looked at: 1, and rests: 2 */
    double *err, *bar_of_law; /* scratch: registers of any law */
    unsigned char *on, *seen;
} cst_events;

cst_events *cst_events_new(cst_arena *a, const cst_model *m);
void cst_events_bind(cst_events *e, const cst_system *s);
/* value (n) at (t, q, u, z) with the modes in mem; places the system there */
void cst_events_eval(cst_events *e, cst_system *s, double t, const double *q, const double *u,
                     const double *z, const double *mem);
/* The same, unless the last eval was at this point already; the system may then be placed elsewhere
 */
void cst_events_again(cst_events *e, cst_system *s, double t, const double *q, const double *u,
                      const double *z, const double *mem);
typedef enum cst_which { CST_CHATTERING_MODES, CST_MODES_OF_FORCES, CST_ALL_MODES } cst_which;
/* Sets mem to the modes that the values imply and returns the number of changes. Events that
 * chatter are always included. An event reads modes of earlier ones only */
int cst_events_modes(cst_events *e, cst_system *s, cst_which which, double t, const double *q,
                     const double *u, const double *z, double *mem);
/* dg_k/dt along the motion with rates u' and z', at the last eval, which was at q, u */
double cst_event_rate(cst_events *e, cst_system *s, int k, const double *q, const double *u,
                      const double *ud, const double *zd);
/* Does anything switch where the value of event k passes zero? */
static inline int cst_event_switches(const cst_model *m, int k, const double *mem)
{
    return !m->event.at[k].rests || mem[m->event.at[k].memory] == CST_MODE_RESTS;
}
/* Is event k's value on the other side of its mode, and does that matter? */
int cst_event_crossed(const cst_events *e, const cst_model *m, int k, const double *mem);
void cst_events_change(const cst_model *m, const uint64_t *set,
                       double *mem); /* the modes of its events */

/* How near value k of the events and kinks is to the point where it matters: zero or, for a table,
 * one of its points, relative to the interval */
double cst_event_distance(const cst_events *e, const cst_model *m, int k, double value);

/* Bars of x, x' (slots), z, t and graph values of g_k, at the last eval: += seed d(g_k) */
void cst_event_reverse(cst_events *e, int k, double seed, double *x, double *xd, double *z,
                       double *t, double *val);
/* The same for what vanishes with g_k, whose rounding is returned; touched: it has no slope
 * (cst_tape_zeros). e->err is at hand */
double cst_event_zeros(cst_events *e, int k, int touched, double *x, double *xd, double *z,
                       double *t, double *val);
/* Change of g_k at the last eval from changes of slots, z, t and graph values */
double cst_event_forward(cst_events *e, int k, const double *x, const double *xd, const double *z,
                         double t, const double *val);

#endif
