/* SPDX-License-Identifier: MIT */
#include "integrator/state.h"

/* name, entries: in the order of the block */
#define STATE_PARTS(X)                                                                             \
    X(t, 1)                                                                                        \
    X(h, 1)                                                                                        \
    X(tag, 1)                                                                                      \
    X(q, m->nq)                                                                                    \
    X(u, m->nu)                                                                                    \
    X(z, m->nz)                                                                                    \
    X(mem, m->memory.n)                                                                            \
    X(quad, m->quad.n)                                                                             \
    X(ud, m->nu)                                                                                   \
    X(lambda, m->nrow)                                                                             \
    X(zd, m->nz)                                                                                   \
    X(qd, m->quad.n)                                                                               \
    X(newton, newton_of(m))                                                                        \
    X(eta, m->nrow)

/* or what a rule carries instead */
static int newton_of(const cst_model *m) { return m->nu > m->nrow ? m->nu : m->nrow; }

size_t cst_state_size(const cst_model *m)
{
    size_t size = 0;
#define X(name, n) size += (size_t)(n);
    STATE_PARTS(X)
#undef X
    return size;
}

cst_state cst_state_view(const cst_model *m, double *block)
{
    cst_state s;
#define X(name, n) s.name = block, block += (n);
    STATE_PARTS(X)
#undef X
    s.carried = s.newton;
    return s;
}
