/* SPDX-License-Identifier: MIT
 *
 * A driven angle: u.(cos s v2 - sin s v1) = 0 keeps u in the plane of v1 and v2 at the angle s from
 * v1. It is regular through all turns, where u.v1 = cos s is singular at 0 and pi. */
#include "element/quadric.h"

static inline void rotation_form(real s, real Q[4][QUADRIC_PAIRS], real c[4])
{
    (void)c;
    real cos_s = sc_cos(s), sin_s = sc_sin(s);
    Q[0][0] = cos_s, Q[0][1] = -sin_s;
    Q[1][0] = -sin_s, Q[1][1] = -cos_s;
    Q[2][0] = -cos_s, Q[2][1] = sin_s;
    Q[3][0] = sin_s, Q[3][1] = cos_s;
}

static const quadric rotation = {
    .nslot = 3,
    .ny = 3,
    .npair = 2,
    .driven = 1,
    .y = {{0, -1}, {1, -1}, {2, -1}},
    .pair = {{0, 2}, {0, 1}},
    .form = rotation_form,
};

CST_QUADRIC_CLASS(rotation, rotation, "ddd", NULL);
