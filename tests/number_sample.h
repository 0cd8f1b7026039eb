/* SPDX-License-Identifier: MIT
 *
 * Random expressions over all operations of ops.def. An argument is moved into the domain of its
 * operation by mid + half sin(.), so that every expression has a value, and values stay of size 1
 * at any depth. A new operation joins with the default domain. */
#ifndef CST_TESTS_NUMBER_SAMPLE_H
#define CST_TESTS_NUMBER_SAMPLE_H

#include "expect.h"
#include "number/op.h"

typedef struct sample_domain {
    const char *name;
    double range[3][2];
} sample_domain;

static inline void sample_range(const cst_op *op, int i, double *lo, double *hi)
{
    static const sample_domain domain[] = {
        {"/", {{-1, 1}, {0.6, 2}}},
        {"^", {{0.4, 2}, {-2, 2}}},
        {"1/", {{0.5, 2}}},
        {"sqrt", {{0.3, 3}}},
        {"cbrt", {{0.3, 3}}},
        {"log", {{0.3, 3}}},
        {"log10", {{0.3, 3}}},
        {"tan", {{-1, 1}}},
        {"asin", {{-0.9, 0.9}}},
        {"acos", {{-0.9, 0.9}}},
        {"hypot", {{0.2, 2}, {-2, 2}}},
        {"atan2", {{0.2, 2}, {-2, 2}}},
        {"smoothstep", {{-0.9, 0.9}, {-1.5, -1}, {1, 1.5}}},
        {"step5", {{-0.9, 0.9}, {-1.5, -1}, {1, 1.5}}},
        {"clamp", {{-1.2, 1.2}, {-0.8, -0.4}, {0.4, 0.8}}},
        {"mod", {{-3, 3}, {0.7, 0.9}}},
        {"unwrap", {{-3, 3}, {-20, 20}}},
    };
    *lo = -1.4, *hi = 1.4;
    for (size_t k = 0; k < sizeof domain / sizeof *domain; k++) {
        if (strcmp(domain[k].name, op->name) != 0 ||
            (op->arity == 1) != (domain[k].range[1][1] == 0))
            continue;
        *lo = domain[k].range[i][0], *hi = domain[k].range[i][1];
    }
}

/* y = op(pool values); every operation of the table comes in turn */
static inline cst_id sample_op(cst_graph *g, expect_random *r, const cst_op *op, int npool,
                               const cst_id *pool)
{
    cst_id a[3] = {CST_NONE, CST_NONE, CST_NONE};
    for (int i = 0; i < op->arity; i++) {
        double lo, hi;
        sample_range(op, i, &lo, &hi);
        cst_id u = cst_num_call(g, "sin", pool[expect_below(r, npool)], CST_NONE, CST_NONE);
        u = cst_num_mul(g, cst_num_const(g, 0.5 * (hi - lo)), u);
        a[i] = cst_num_add(g, cst_num_const(g, 0.5 * (hi + lo)), u);
    }
    return cst_num_op(g, op, a);
}

/* n operations on top of the npool sources that stand in pool (room for npool + n); returns npool +
 * n */
static inline int sample_expressions(cst_graph *g, expect_random *r, int npool, cst_id *pool, int n,
                                     int smooth)
{
    int nop = 0;
    while (cst_op_at(nop)) nop++;
    for (int k = 0; k < n; k++) {
        const cst_op *op = cst_op_at(expect_below(r, nop));
        while (smooth && !op->smooth) op = cst_op_at(expect_below(r, nop));
        /* products of the newest with any, so that most of the pool is used */
        pool[npool] = sample_op(g, r, op, npool, pool);
        if (k % 3 == 2) pool[npool] = cst_num_mul(g, pool[npool], pool[npool - 1]);
        npool++;
    }
    return npool;
}

#endif
