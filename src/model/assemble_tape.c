/* SPDX-License-Identifier: MIT
 *
 * Register code of elements. Expressions speak of the slots' flat coordinates and of the model's
 * states; an element knows only its own. The slots that an expression reads are found from the
 * channels of its code, and these channels are then numbered anew in place. */
#include "model/loader.h"

/* What an expression may not read inside an element, in words; NULL: it may. */
static const char *forbidden(const cst_channel *c, int z0, int nz)
{
    switch (c->kind) {
    case CST_CH_TIME:
    case CST_CH_MEM:
        return NULL;
    case CST_CH_X:
        return c->order < 2 ? NULL : "accelerations";
    case CST_CH_Z:
        return c->index >= z0 && c->index < z0 + nz ? NULL : "a state";
    case CST_CH_ARG:
        return "s and v of a law";
    case CST_CH_FORCE:
        return "forces";
    case CST_CH_REACT:
        return "reactions";
    case CST_CH_SYSTEM:
        return "quantities of the whole system";
    case CST_CH_QUAD:
        return "running integrals";
    default:
        return "results of the run";
    }
}

static int allowed(cst_loader *L, cst_where w, const char *what, const cst_tape *t, int z0, int nz)
{
    for (int i = 0; i < t->nchannel; i++) {
        const char *bad = forbidden(&t->channel[i], z0, nz);
        if (!bad) continue;
        cst_loader_error(L, w,
                         t->channel[i].kind == CST_CH_Z
                             ? "%s: depends on %s of a block, which drives, couplings and tires "
                               "cannot read (a servo can)"
                             : "%s: depends on %s, which the equations of motion cannot use",
                         what, bad);
        return 0;
    }
    return 1;
}

const char *cst_reads_beyond(cst_loader *L, cst_id value)
{
    static const struct {
        cst_channel_kind kind;
        int order;
        const char *what;
    } more[] = {{CST_CH_X, 2, "accelerations"},
                {CST_CH_FORCE, -1, "forces"},
                {CST_CH_REACT, -1, "reactions"},
                {CST_CH_SYSTEM, -1, "quantities of the whole system"},
                {CST_CH_QUAD, -1, "running integrals"}};
    const char *all = NULL;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (cst_num_depends(L->g, value, more[i].kind, more[i].order))
            all = all ? cst_arena_printf(L->arena, "%s and %s", all, more[i].what) : more[i].what;
    return all;
}

int cst_slots_of(cst_loader *L, cst_where w, int nout, const cst_id *out, int nslot, int *slot)
{
    cst_arena *scratch = cst_arena_child(L->scratch);
    const cst_tape *t = cst_tape_new(scratch, L->g, nout, out);
    int nx = 0;
    for (int i = 0; i < nslot; i++) nx += L->m->slot.at[slot[i]].dim;
    for (int i = 0; i < t->nchannel; i++) {
        if (t->channel[i].kind != CST_CH_X) continue;
        int s = L->slot_of_x.at[t->channel[i].index], known = 0;
        for (int k = 0; k < nslot && !known; k++) known = slot[k] == s;
        if (known) continue;
        nx += L->m->slot.at[s].dim;
        if (nx > CST_MAX_NX) {
            cst_loader_error(
                L, w, "an expression may read at most %d coordinates of points and directions",
                CST_MAX_NX);
            nslot = -1;
            break;
        }
        slot[nslot++] = s;
    }
    cst_arena_free(scratch);
    return nslot;
}

/* Flat coordinate -> local one */
static int local_x(const cst_loader *L, int x, int nslot, const int *slot)
{
    int at = 0;
    for (int k = 0; k < nslot; k++) {
        const cst_slot *s = &L->m->slot.at[slot[k]];
        if (x >= s->x0 && x < s->x0 + s->dim) return at + x - s->x0;
        at += s->dim;
    }
    return -1;
}

const cst_tape *cst_local_tape(cst_loader *L, cst_where w, const char *what, int nout,
                               const cst_id *out, int nslot, const int *slot, int z0, int nz)
{
    cst_tape *t = cst_tape_new(L->arena, L->g, nout, out);
    if (!allowed(L, w, what, t, z0, nz)) return NULL;
    for (int i = 0; i < t->nchannel; i++) {
        cst_channel *c = &t->channel[i];
        if (c->kind == CST_CH_X) c->index = local_x(L, c->index, nslot, slot);
        if (c->kind == CST_CH_Z) c->index -= z0;
    }
    return t;
}
