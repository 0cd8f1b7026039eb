/* SPDX-License-Identifier: MIT
 *
 * The angle between two directions: u.v = s. */
#include "element/quadric.h"

static inline void dot_form(real s, real Q[4][QUADRIC_PAIRS], real c[4])
{
    Q[0][0] = 1;
    c[0] = s, c[1] = 1;
}

static const quadric dot = {
    .nslot = 2,
    .ny = 2,
    .npair = 1,
    .y = {{0, -1}, {1, -1}},
    .pair = {{0, 1}},
    .form = dot_form,
};

/* Most rows of a mechanism are of this kind, and J(u, v) = (v, u): quadric_bars with the two
 * exchanged */
static void dot_bars(const cst_local *e, const real *k, const real *d, const real *xa, real *J,
                     real *x, real *xd, real *p)
{
    for (int i = 0, j = 3; i < 6; i++, j = (j + 1) % 6)
        J[i] = e->x[j], x[i] = d[j] + k[0] * e->x[j];
    if (k[1] != 0)
        for (int i = 0, j = 3; i < 6; i++, j = (j + 1) % 6)
            x[i] += k[1] * e->xd[j], xd[i] = k[1] * e->x[j];
    if (k[2] != 0)
        for (int i = 0, j = 3; i < 6; i++, j = (j + 1) % 6)
            x[i] += k[2] * xa[j], xd[i] = 2 * k[2] * e->xd[j] + (k[1] != 0 ? xd[i] : 0);
    for (int n = 0; n < 3; n++) p[n] -= k[n];
}

CST_QUADRIC_CLASS(dot, dot, "dd", dot_bars);
