/* SPDX-License-Identifier: MIT
 *
 * Objectives that read reactions which are not unique, in words: the components that they read, and
 * what is unique beside them. */
#include "sensitivity/asked.h"
#include "sensitivity/breaking.h"

#include <string.h>

/* "R.force" of "R.force.y" */
static size_t stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

/* What is unique of the vector of component c, in its place: "R.force.x", "hypot(R.force.x,
 * R.force.z)"; NULL: nothing */
static const char *instead_of(const cst_model *m, cst_arena *a, const unsigned char *read,
                              const unsigned char *ambiguous, int c)
{
    const char *name = m->component.at[c].name, *unique[3];
    size_t n = stem(name);
    int count = 0;
    for (int i = 0; n && i < m->component.n && count < 3; i++) {
        const char *other = m->component.at[i].name;
        if (read[i] && !ambiguous[i] && stem(other) == n && memcmp(other, name, n) == 0)
            unique[count++] = other;
    }
    return count == 1   ? unique[0]
           : count == 2 ? cst_arena_printf(a, "hypot(%s, %s)", unique[0], unique[1])
                        : NULL;
}

static void tell(cst_run *r, cst_arena *a, int o, const unsigned char *read,
                 const unsigned char *ambiguous, cst_diag *d)
{
    const cst_model *m = r->m;
    const char *names = "", *instead = NULL;
    int count = 0;
    for (int i = 0; i < m->component.n; i++) {
        if (!read[i] || !ambiguous[i]) continue;
        names =
            cst_arena_printf(a, "%s%s'%s'", names, count++ ? ", " : "", m->component.at[i].name);
        if (!instead) instead = instead_of(m, a, read, ambiguous, i);
    }
    if (!count) return;
    cst_warn(d, m->objective.at[o].where,
             "objective '%s' has no gradient: it reads %s, which redundant constraints leave open: "
             "the joints may share %s in any way%s%s",
             m->objective.at[o].name, names, count > 1 ? "them" : "it",
             instead ? "; unique, and with a gradient, is " : "", instead ? instead : "");
}

cst_status cst_ambiguous_tell(cst_run *r, const unsigned char *objectives, cst_diag *d)
{
    const cst_model *m = r->m;
    if (!memchr(objectives, 1, (size_t)m->objective.n)) return CST_OK;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    unsigned char *ambiguous = cst_new(&a, unsigned char, 2 * m->component.n + 1),
                  *read = cst_new(&a, unsigned char, m->component.n + 1);
    unsigned char *by = cst_new(&a, unsigned char, r->objective->nreg + 1);
    memset(ambiguous, 1, (size_t)m->component.n);
    cst_status ok = cst_find_ambiguous_measures(r, ambiguous, d);
    for (int o = 0; ok == CST_OK && o < m->objective.n; o++) {
        if (!objectives[o]) continue;
        cst_tape_reach(r->objective, o, by);
        const unsigned char *outputs = cst_outputs_read(r, &a, by);
        for (int i = 0; i < m->component.n; i++) read[i] = outputs[r->out->tape->out[i]];
        tell(r, &a, o, read, ambiguous, d);
    }
    cst_arena_free(&a);
    return ok;
}
