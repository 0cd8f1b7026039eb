/* SPDX-License-Identifier: MIT */
#include "integrator/incidents.h"

const cst_incident_class cst_incident_table[] = {
#define CST_INCIDENT(name, of, effect, words) {CST_OF_##of, effect, words},
#include "integrator/incidents.def"
#undef CST_INCIDENT
};

int cst_incident_add(cst_arena *a, cst_incidents *to, cst_incident x)
{
    for (int i = to->list.n; i-- > 0;) {
        cst_incident *old = &to->list.at[i];
        if (old->kind != x.kind || old->k != x.k || old->other != x.other) continue;
        if (old->last < x.first - 1) break;
        if (x.last > old->last) old->last = x.last;
        return i;
    }
    *cst_push(a, &to->list) = x;
    return to->list.n - 1;
}

const cst_incident *cst_incident_first(const cst_incidents *in, cst_incident_kind kind)
{
    for (int i = 0; i < in->list.n; i++)
        if (in->list.at[i].kind == kind) return &in->list.at[i];
    return NULL;
}

int cst_incident_count(const cst_incidents *in, cst_incident_kind kind)
{
    int n = 0;
    for (int i = 0; i < in->list.n; i++) n += in->list.at[i].kind == kind;
    return n;
}
