/* SPDX-License-Identifier: MIT
 *
 * A force that is written as expressions: the outputs of the tape are f (nx), then z' (nz).
 * Partials are reverse sweeps, one per output; outputs that are plain inputs (zero components of a
 * force) need none. */
#include "element/law.h"

static void expression_eval(const cst_local *e, real *f, real *zd)
{
    law_eval(e, NULL);
    for (int i = 0; i < e->nx; i++) f[i] = law_out(e, i);
    for (int i = 0; i < e->nz; i++) zd[i] = law_out(e, e->nx + i);
}

static void expression_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)
{
    law_eval(e, NULL);
    for (int i = 0; i < e->nx + e->nz; i++)
        law_gradient(e, i, 1, NULL, f_x != NULL ? f_x + i * e->nx : NULL,
                     f_xd != NULL ? f_xd + i * e->nx : NULL, f_z != NULL ? f_z + i * e->nz : NULL,
                     f_p != NULL ? f_p + i * e->np : NULL);
}

static int expression_partial_t(const cst_local *e, real *f_t)
{
    law_eval(e, NULL);
    if (!law_time(e)) return 0;
    for (int i = 0; i < e->nx + e->nz; i++) f_t[i] = law_out_t(e, i);
    return 1;
}

static int expression_energy(const cst_local *e, real *V)
{
    (void)e;
    *V = 0;
    return 0;
}

const cst_force_class CST_K(cst_force_expression) = {
    .name = "expression",
    .nslot = -1,
    .np = 0,
    .nz = -1,
    .force = expression_eval,
    .partials = expression_partials,
    .partial_t = expression_partial_t,
    .energy = expression_energy,
    .slots = NULL,
};
