/* SPDX-License-Identifier: MIT
 *
 * States that expressions read though another element has them: outputs of blocks. An element is
 * solved for its own states only, so a force that reads the state y, y' = g(x, x', y, w), takes a
 * copy of the equation, and of those of all states that g reads in turn:
 *
 *     f(x, x', y)      becomes      f(x, x', Y)  with own states  Y' = g(x, x', Y, W),  Y(0) =
 * y(0),  ...
 *
 * Copies have the same initial value and the same integration rule as their originals, so they stay
 * equal to them. Eliminating y from the equations of motion would couple the same unknowns, but
 * Newton's matrix, tangent and adjoint would have to know of it. Comparisons inside g are events of
 * the original: the mode is shared, so that it switches only once. */
#include "model/loader.h"

#include <assert.h>

typedef struct copies {
    cst_loader *L;
    int first;             /* index of the first copy among the model's states */
    int n, of[CST_MAX_NX]; /* the originals */
} copies;

static const cst_state_def *definition(const cst_loader *L, int z)
{
    for (int i = 0; i < L->state.n; i++)
        if (L->state.at[i].z == z) return &L->state.at[i];
    return NULL;
}

static int position(const copies *c, int z)
{
    int i = 0;
    while (i < c->n && c->of[i] != z) i++;
    return i;
}

/* The states in these expressions that are neither own (z0 .. z0+own-1) nor known yet. 0: there are
 * too many */
static int collect(copies *c, int nout, const cst_id *out, int own)
{
    cst_arena *scratch = cst_arena_child(c->L->scratch);
    const cst_tape *t = cst_tape_new(scratch, c->L->g, nout, out);
    int ok = 1, z0 = c->first - own;
    for (int i = 0; i < t->nchannel && ok; i++) {
        int z = t->channel[i].index;
        if (t->channel[i].kind != CST_CH_Z || (z >= z0 && z < c->first) || !definition(c->L, z))
            continue;
        if (position(c, z) < c->n) continue;
        ok = c->n + own < CST_MAX_NX;
        if (ok) c->of[c->n++] = z;
    }
    cst_arena_free(scratch);
    return ok;
}

static cst_id to_copy(void *ctx, const cst_channel *c)
{
    const copies *k = ctx;
    int i = c->kind == CST_CH_Z ? position(k, c->index) : k->n;
    return i < k->n ? cst_num_channel(k->L->g, CST_CH_Z, k->first + i, 0) : CST_NONE;
}

int cst_states_copy(cst_loader *L, cst_where w, const char *name, int nout, cst_id *out, int own,
                    cst_id *rate, cst_id *start)
{
    copies c = {.L = L, .first = L->m->nz + own};
    int ok = collect(&c, nout, out, own);
    for (int i = 0; i < c.n && ok; i++) ok = collect(&c, 1, &definition(L, c.of[i])->rate, own);
    if (!ok) {
        cst_loader_error(L, w, "'%s' reads more than %d states of blocks", name, CST_MAX_NX - own);
        return -1;
    }
    for (int i = 0; i < nout && c.n; i++) out[i] = cst_num_substitute(L->g, out[i], to_copy, &c);
    for (int i = 0; i < c.n; i++) {
        const cst_state_def *d = definition(L, c.of[i]);
        rate[i] = cst_num_substitute(L->g, d->rate, to_copy, &c);
        start[i] = d->start;
    }
    return c.n;
}

void cst_states_define(cst_loader *L, int n, const cst_id *rate, const cst_id *start)
{
    for (int i = 0; i < n; i++)
        *cst_push(L->scratch, &L->state) = (cst_state_def){L->m->nz + i, rate[i], start[i]};
}
