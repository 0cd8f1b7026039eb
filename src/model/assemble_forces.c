/* SPDX-License-Identifier: MIT
 *
 * Forces. */
#include "model/loader.h"

#include <assert.h>
#include <string.h>

static cst_force *force_new(cst_loader *L, const char *name, const char *type, cst_where w,
                            const cst_force_class *c, int nslot, const int *slot)
{
    cst_model *m = L->m;
    int e = cst_map_get(&L->names[CST_SEC_FORCE], name);
    if (e >= 0) L->entity.at[e]->index = m->force.n;
    cst_force *f = cst_push(L->arena, &m->force);
    *f = (cst_force){.name = cst_arena_strdup(L->arena, name),
                     .type = type,
                     .where = cst_loader_place(L, w),
                     .cls = c};
    f->statics = 1;
    f->nslot = nslot;
    f->slot = cst_new(L->arena, int, nslot);
    memcpy(f->slot, slot, (size_t)nslot * sizeof *slot);
    for (int i = 0; i < nslot; i++) f->nx += m->slot.at[slot[i]].dim;
    f->f0 = m->nforce;
    f->z0 = m->nz;
    m->nforce += f->nx;
    return f;
}

/* ---- events ---- */

/* An event is located between states, so it may read only quantities that a state contains. */
static void check_event(cst_loader *L, const char *name, cst_where w, cst_id value)
{
    const char *bad = cst_reads_beyond(L, value);
    if (bad)
        cst_loader_error(L, w, "'%s' switches by %s, which the equations of motion cannot use",
                         name, bad);
}

/* The mode of an existing event with this value; CST_NONE: there is none. a > b and b > a are the
 * same event. */
static cst_id find_event(cst_loader *L, cst_id value, int rests)
{
    const cst_model *m = L->m;
    for (int i = m->event.n - 1; i >= 0; i--) { /* mostly of the same force */
        cst_event *e = &m->event.at[i];
        if (e->value != value && !cst_num_opposite(L->g, e->value, value)) continue;
        e->rests &= rests;
        cst_id mode = cst_num_channel(L->g, CST_CH_MEM, e->memory, 0);
        return e->value == value ? mode : cst_num_sub(L->g, cst_num_const(L->g, 1), mode);
    }
    return CST_NONE;
}

cst_id cst_add_event(cst_loader *L, const char *name, cst_where w, cst_id value, int rests)
{
    cst_model *m = L->m;
    cst_id found = find_event(L, value, rests);
    if (found != CST_NONE) return found;
    check_event(L, name, w, value);
    cst_id mode = cst_num_channel(L->g, CST_CH_MEM, m->memory.n, 0);
    *cst_push(L->arena, &m->event) =
        (cst_event){value, m->memory.n, cst_arena_strdup(L->arena, name), cst_loader_place(L, w),
                    rests};
    cst_push(L->arena, &m->memory)->value = mode; /* it changes at events only */
    return mode;
}

typedef struct switching {
    cst_loader *L;
    const char *name;
    cst_where where;
    cst_id s, v; /* what s and v of the law stand for; CST_NONE: it is not a law */
} switching;

static cst_id argument_of(void *ctx, const cst_channel *c)
{
    const switching *a = ctx;
    return c->kind != CST_CH_ARG ? CST_NONE : c->index == 0 ? a->s : a->v;
}

static cst_id make_event(void *ctx, cst_id difference, int rests)
{
    switching *a = ctx;
    cst_graph *g = a->L->g;
    if (!cst_num_timed(g, difference))
        return cst_num_call(g, ">", difference, cst_num_const(g, 0), CST_NONE);
    if (a->s != CST_NONE) difference = cst_num_substitute(g, difference, argument_of, a);
    return cst_add_event(a->L, a->name, a->where, difference, rests);
}

static cst_id known_event(void *ctx, cst_id difference, int rests)
{
    switching *a = ctx;
    if (a->s != CST_NONE) difference = cst_num_substitute(a->L->g, difference, argument_of, a);
    return find_event(a->L, difference, rests);
}

/* Records a switch that cannot be located. */
static cst_id loose(switching *a, const char *text, cst_id difference)
{
    cst_graph *g = a->L->g;
    cst_model *m = a->L->m;
    if (cst_num_timed(g, difference))
        *cst_push(a->L->arena, &m->loose) = (cst_loose){cst_loader_place(a->L, a->where), text};
    return cst_num_call(g, ">", difference, cst_num_const(g, 0), CST_NONE);
}

static cst_id integrand_event(void *ctx, cst_id difference, int rests)
{
    switching *a = ctx;
    const char *beyond = cst_reads_beyond(a->L, difference);
    if (cst_num_timed(a->L->g, difference) && !beyond) return make_event(ctx, difference, rests);
    return loose(a,
                 beyond ? cst_arena_printf(a->L->arena, "an integral switches by %s", beyond)
                        : "an integral switches",
                 difference);
}

static void note_jumps(switching *a, cst_id value)
{
    if (cst_num_jumps(a->L->g, value)) loose(a, "the slope of a table of many points jumps", value);
}

cst_id cst_switched_integrand(cst_loader *L, cst_where w, cst_id rate)
{
    switching a = {L, "integral", w, CST_NONE, CST_NONE};
    if (!cst_num_timed(L->g, rate)) return rate;
    rate = cst_num_events(L->g, rate, integrand_event, &a);
    note_jumps(&a, rate);
    return rate;
}

/* A kink needs no event, but it is counted if its value can be evaluated between steps. */
static void note_kink(void *ctx, cst_id value, const cst_table *table, int touched)
{
    switching *a = ctx;
    cst_graph *g = a->L->g;
    cst_model *m = a->L->m;
    if (!cst_num_timed(g, value)) return;
    if (a->s != CST_NONE) value = cst_num_substitute(g, value, argument_of, a);
    int skip = cst_reads_beyond(a->L, value) != NULL;
    for (int i = 0; i < m->kink.n && !skip; i++)
        skip = m->kink.at[i].value == value && m->kink.at[i].table == table;
    if (!skip)
        *cst_push(a->L->arena, &m->kink) =
            (cst_kink){value, table, cst_arena_strdup(a->L->arena, a->name), touched};
}

/* All jumps are replaced before the kinks: the slope of one value may have turned the kink of
 * another into an event. */
static void switch_all(switching *a, int n, cst_id *value)
{
    cst_graph *g = a->L->g;
    for (int i = 0; i < n; i++) value[i] = cst_num_events(g, value[i], make_event, a);
    for (int i = 0; i < n; i++) {
        note_jumps(a, value[i]);
        value[i] = cst_num_kinks_of_events(g, value[i], known_event, a);
        cst_num_kinks(g, value[i], note_kink, a);
    }
}

static cst_id switched_law(cst_loader *L, const char *name, cst_where w, cst_id law, cst_id s,
                           cst_id v)
{
    switching a = {L, name, w, s, v};
    switch_all(&a, 1, &law);
    return law;
}

void cst_switched(cst_loader *L, const char *name, cst_where w, int n, cst_id *value)
{
    switching a = {L, name, w, CST_NONE, CST_NONE};
    switch_all(&a, n, value);
}

/* s = |b - a| of two point slots and its rate */
static void line_arguments(cst_loader *L, const int *slot, cst_id *s, cst_id *v)
{
    cst_id a[3], b[3], d[3];
    cst_x(L, slot[0], 0, a), cst_x(L, slot[1], 0, b);
    for (int i = 0; i < 3; i++) d[i] = cst_num_sub(L->g, b[i], a[i]);
    *s = cst_num_sqrt(L->g, cst_num_dot3(L->g, d, d));
    *v = cst_num_rate(L->g, *s);
}

/* The law of a force may read s, v and the time; anything else belongs in an expression force. */
static const cst_tape *law_tape(cst_loader *L, cst_where w, const char *name, cst_id law)
{
    const cst_tape *t = cst_tape_new(L->arena, L->g, 1, &law);
    for (int i = 0; i < t->nchannel; i++) {
        cst_channel_kind k = t->channel[i].kind;
        if (k == CST_CH_ARG || k == CST_CH_TIME || k == CST_CH_MEM) continue;
        cst_loader_error(L, w, "the law of '%s' may depend on s, v, t and numbers only", name);
        return NULL;
    }
    return t;
}

int cst_add_force(cst_loader *L, const char *name, const char *type, cst_where w,
                  const cst_force_class *c, int nslot, const int *slot, int np, const cst_id *p,
                  cst_id law)
{
    cst_id s = CST_NONE, v = CST_NONE;
    if (law != CST_NONE && c == &cst_force_line) {
        line_arguments(L, slot, &s, &v);
        *cst_push(L->arena, &L->m->conjugate) = (cst_conjugate){s, cst_law_at(L, law, s, v)};
    }
    if (law != CST_NONE) law = switched_law(L, name, w, law, s, v);
    const cst_tape *t = law == CST_NONE ? NULL : law_tape(L, w, name, law);
    cst_force *f = force_new(L, name, type, w, c, nslot, slot);
    f->np = np + (t ? t->nnumber : 0);
    f->p = cst_bind(L, np, p);
    if (t) cst_bind(L, t->nnumber, t->number);
    f->tape = t;
    return L->m->force.n - 1;
}

cst_id cst_state_channel(cst_loader *L, int k)
{
    return cst_num_channel(L->g, CST_CH_Z, L->m->nz + k, 0);
}

cst_id cst_hold(cst_loader *L, const char *name, cst_where w, cst_id value, int k)
{
    if (!cst_num_depends(L->g, value, CST_CH_REACT, -1)) return value;
    *cst_push(L->arena, &L->m->held) =
        (cst_held){value, L->m->nz + k, cst_arena_strdup(L->arena, name), cst_loader_place(L, w)};
    return cst_state_channel(L, k);
}

int cst_add_expression_force(cst_loader *L, const char *name, const char *type, cst_where w,
                             int nslot, const int *slot, const cst_id *f, int nz, const cst_id *zd,
                             const cst_id *z0)
{
    int all[CST_MAX_NX], nf = 0;
    for (int i = 0; i < nslot; i++) all[i] = slot[i], nf += L->m->slot.at[slot[i]].dim;
    assert(nf <= CST_MAX_NX && nz <= CST_MAX_NX);
    cst_id out[2 * CST_MAX_NX], rate[CST_MAX_NX], start[CST_MAX_NX];
    for (int i = 0; i < nf + nz; i++) out[i] = i < nf ? f[i] : zd[i - nf];
    cst_switched(L, name, w, nf + nz, out);
    for (int i = 0; i < nz; i++) rate[i] = out[nf + i];
    for (int i = 0; i < nz; i++) start[i] = z0[i];
    cst_states_define(L, nz, rate,
                      start); /* as written, before copies replace the states of others */
    int copies = cst_states_copy(L, w, name, nf + nz, out, nz, rate + nz, start + nz);
    if (copies < 0) return -1;
    for (int i = 0; i < nz; i++) rate[i] = out[nf + i];
    for (int i = 0; i < copies; i++) out[nf + nz + i] = rate[nz + i];
    nz += copies;
    int n = cst_slots_of(L, w, nf + nz, out, nslot, all), nx = nf;
    if (n < 0) return -1;
    for (int i = nslot; i < n; i++) /* slots that are only read receive no force */
        for (int c = 0; c < L->m->slot.at[all[i]].dim; c++) out[nx++] = cst_num_const(L->g, 0);
    for (int i = 0; i < nz; i++) out[nx + i] = rate[i];
    int block = strcmp(type, "state") == 0; /* its name is "state NAME" */
    const char *what =
        cst_arena_printf(L->scratch, block ? "'%s'" : "force '%s'", block ? name + 6 : name);
    const cst_tape *t = cst_local_tape(L, w, what, nx + nz, out, n, all, L->m->nz, nz);
    if (!t) return -1;
    cst_force *e = force_new(L, name, type, w, &cst_force_expression, n, all);
    e->tape = t;
    e->np = t->nnumber;
    e->p = cst_bind(L, t->nnumber, t->number);
    e->nz = nz;
    e->copies = copies;
    e->z_start = cst_bind(L, nz, start);
    L->m->nz += nz;
    return L->m->force.n - 1;
}

cst_id cst_law_at(cst_loader *L, cst_id law, cst_id x, cst_id y)
{
    switching a = {L, NULL, {0}, x, y};
    return cst_num_timed(L->g, law) ? cst_num_substitute(L->g, law, argument_of, &a) : law;
}

int cst_add_taped_force(cst_loader *L, const char *name, const char *type, cst_where w,
                        const cst_force_class *c, int nslot, const int *slot, int np,
                        const cst_id *p, int nout, const cst_id *out, int nz, const cst_id *z0)
{
    const char *what = cst_arena_printf(L->scratch, "%s '%s'", type, name);
    const cst_tape *t = cst_local_tape(L, w, what, nout, out, nslot, slot, L->m->nz, nz);
    if (!t) return -1;
    cst_force *e = force_new(L, name, type, w, c, nslot, slot);
    e->tape = t;
    e->np = np + t->nnumber;
    e->p = cst_bind(L, np, p);
    cst_bind(L, t->nnumber, t->number);
    e->nz = nz;
    e->z_start = cst_bind(L, nz, z0);
    L->m->nz += nz;
    return L->m->force.n - 1;
}

/* The power of F on g:  F g' = sum_i f_i x_i'  with  f_i = F dg/dx_i */
int cst_add_generalised_force_of(cst_loader *L, const char *name, const char *type, cst_where w,
                                 cst_id g, cst_id F, int nz, const cst_id *zd, const cst_id *z0)
{
    int slot[CST_MAX_NX], nslot = cst_slots_of(L, w, 1, &g, 0, slot), n = 0;
    if (nslot < 0) return -1;
    if (nslot == 0 || cst_num_depends(L->g, g, CST_CH_X, 1) ||
        cst_num_depends(L->g, g, CST_CH_X, 2)) {
        cst_loader_error(L, w,
                         "force '%s': it must act on an expression of positions, which this is not",
                         name);
        return -1;
    }
    cst_id f[CST_MAX_NX];
    *cst_push(L->arena, &L->m->conjugate) = (cst_conjugate){g, F};
    for (int k = 0; k < nslot; k++)
        for (int c = 0; c < L->m->slot.at[slot[k]].dim; c++)
            f[n++] = cst_num_mul(L->g, F, cst_num_diff(L->g, g, cst_x1(L, slot[k], c, 0)));
    return cst_add_expression_force(L, name, type, w, nslot, slot, f, nz, zd, z0);
}

int cst_add_generalised_force(cst_loader *L, const char *name, const char *type, cst_where w,
                              cst_id g, cst_id F)
{
    return cst_add_generalised_force_of(L, name, type, w, g, F, 0, NULL, NULL);
}

void cst_add_potential(cst_loader *L, int force, cst_id V)
{
    if (force >= 0) *cst_push(L->arena, &L->m->stored) = (cst_stored){force, V};
}

typedef struct law_arguments {
    cst_id s, v;
} law_arguments;

static cst_id argument(void *ctx, const cst_channel *c)
{
    const law_arguments *a = ctx;
    return c->kind != CST_CH_ARG ? CST_NONE : c->index == 0 ? a->s : a->v;
}

cst_id cst_law_of(cst_loader *L, cst_id law, cst_id g)
{
    law_arguments a = {g, cst_num_rate(L->g, g)};
    if (a.v == CST_NONE) {
        cst_loader_error(L, L->where, "the coordinate of the law has no time derivative");
        a.v = cst_num_const(L->g, 0);
    }
    return cst_num_substitute(L->g, law, argument, &a);
}

/* ---- forces and reactions as channels ---- */

static int component(const cst_loader *L, const int *slot, int k, int c)
{
    int at = c;
    for (int i = 0; i < k; i++) at += L->m->slot.at[slot[i]].dim;
    return at;
}

cst_id cst_force_channel(cst_loader *L, int force, int k, int c)
{
    const cst_force *f = &L->m->force.at[force];
    return cst_num_channel(L->g, CST_CH_FORCE, f->f0 + component(L, f->slot, k, c), 0);
}

cst_id cst_react_channel(cst_loader *L, int constraint, int k, int c)
{
    const cst_constraint *r = &L->m->constraint.at[constraint];
    return cst_num_channel(L->g, CST_CH_REACT, r->f0 + component(L, r->slot, k, c), 0);
}

/* ---- roads and tires ---- */

int cst_road_fits(cst_loader *L, cst_where w, cst_id height)
{
    cst_arena *scratch = cst_arena_child(L->scratch);
    const cst_tape *t = cst_tape_new(scratch, L->g, 1, &height);
    const char *wrong = NULL;
    for (int i = 0; i < t->nchannel && !wrong; i++) {
        const cst_channel *c = &t->channel[i];
        if (c->kind == CST_CH_ARG && c->index == 1)
            wrong = "v";
        else if (c->kind != CST_CH_ARG && c->kind != CST_CH_TIME)
            wrong = "measures";
    }
    cst_arena_free(scratch);
    if (wrong)
        cst_loader_error(
            L, w, "the height of a road may depend on s (that is x), t and numbers, not on %s",
            wrong);
    return !wrong;
}

void cst_add_road(cst_loader *L, const char *name, cst_id height)
{
    int e = cst_map_get(&L->names[CST_SEC_ROAD], name);
    if (e >= 0) L->entity.at[e]->index = L->road.n;
    *cst_push(L->scratch, &L->road) = height;
}

void cst_tire_remember(cst_loader *L, const cst_tire_seen *s)
{
    *cst_push(L->scratch, &L->tire) = *s;
}

const cst_tire_seen *cst_tire_find(const cst_loader *L, int force)
{
    for (int i = 0; i < L->tire.n; i++)
        if (L->tire.at[i].force == force) return &L->tire.at[i];
    return NULL;
}
