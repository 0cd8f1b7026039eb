/* SPDX-License-Identifier: MIT
 *
 * Events and kinks at the start of a run: edges.c. What is read at an event or on a kink later:
 * corners.c */
#ifndef CST_SENSITIVITY_EDGES_H
#define CST_SENSITIVITY_EDGES_H

#include "formulation/start_derivative.h"
#include "integrator/adjoint.h"
#include "sensitivity/brink.h"

int cst_edge_any(const cst_run *r); /* is an event on its switch at the start? */
/* brink (objectives x leaves): numbers that move them. ad: bars of the first state; fbar: of what
 * its columns read */
void cst_edges_at_start(cst_run *r, cst_arena *a, const cst_adjoint *ad, cst_start_derivative *sd,
                        const cst_start_at *at, const double *fbar, cst_brink *brink);

/* ev: bars of the state, the time and the numbers for the value of event k at y1, with the modes of
 * y0 (kinks are numbered after events) */
void cst_event_bars(cst_run *r, cst_adjoint *ev, int k, const cst_state *y0, const cst_state *y1);

/* other: y with the mode `side` of event k, derived anew; 0: y has that mode, or has no
 * accelerations with it */
int cst_edge_mode(cst_run *r, const cst_state *y, int k, double side, cst_state *other);
/* to: y extrapolated by dt along its rates, derived anew; 0: it has no accelerations there. xi
 * (nu): scratch */
int cst_edge_later(cst_run *r, const cst_state *y, double dt, double *xi, cst_state *to);
/* Does a functional that an objective reads (bars fbar) at state n jump between y and other, which
 * have different modes? value (functionals): scratch */
int cst_edge_jumps(cst_run *r, long n, const double *fbar, const cst_state *y,
                   const cst_state *other, double *value);

/* Warns of all the cases below, for objectives that are not rough. bars (objectives x functionals)
 */
void cst_corners_tell(cst_run *r, cst_arena *a, const double *bars, const unsigned char *rough,
                      cst_diag *d);
/* Does what an `at` reads continue at another rate after an event, or a kink, at its instant? */
int cst_edge_bends(cst_run *r, cst_arena *a, int functional);
/* Is a peak at a corner that is no event, as of a law that sets in? (A peak at an event moves with
 * it.) t: its time */
int cst_edge_corner(cst_run *r, cst_arena *a, int functional, double *t);
/* Is there an event at the last state that no longer takes effect, or a kink, after which what is
 * read would jump or continue at another rate? name: of the element whose event it is, or NULL */
typedef enum cst_edge_at_end { CST_EDGE_NONE, CST_EDGE_JUMPS, CST_EDGE_BENDS } cst_edge_at_end;
cst_edge_at_end cst_edge_ends(cst_run *r, cst_arena *a, const double *fbar, const char **name);

#endif
