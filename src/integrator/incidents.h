/* SPDX-License-Identifier: MIT
 *
 * Incidents: states of a run at which a guard, that is a quantity at whose zero a law or an
 * objective has a kink or a jump, is zero to rounding. The slopes of the run are those of the
 * branch that it took; numbers that move the guard there have others to the other side
 * (sensitivity/concern.c). */
#ifndef CST_INTEGRATOR_INCIDENTS_H
#define CST_INTEGRATOR_INCIDENTS_H

#include "base/arena.h"
#include "costate.h"

typedef enum cst_incident_kind {
#define CST_INCIDENT(name, of, effect, words) CST_INCIDENT_##name,
#include "integrator/incidents.def"
#undef CST_INCIDENT
    CST_INCIDENT_KINDS
} cst_incident_kind;

typedef enum cst_incident_of { CST_OF_EVENT, CST_OF_FORCE, CST_OF_OBJECTIVE } cst_incident_of;

typedef struct cst_incident_class {
    cst_incident_of of;
    cst_effect effect;
    const char *words;
} cst_incident_class;

extern const cst_incident_class cst_incident_table[];

typedef struct cst_incident {
    cst_incident_kind kind;
    int k, other;     /* event, force or objective; what else belongs to it */
    long first, last; /* states at which the guard is zero */
    double t;         /* of the first */
} cst_incident;

typedef struct cst_incidents {
    CST_LIST(cst_incident) list;
} cst_incidents;

/* One that has lasted until the state before `first` goes on; else a new one begins. Its index */
int cst_incident_add(cst_arena *a, cst_incidents *to, cst_incident x);
/* The first of its kind, NULL: there is none */
const cst_incident *cst_incident_first(const cst_incidents *in, cst_incident_kind kind);
int cst_incident_count(const cst_incidents *in, cst_incident_kind kind);

#endif
