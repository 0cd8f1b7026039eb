/* SPDX-License-Identifier: MIT
 *
 * Two points at the distance s: |a - b|^2 = s^2. */
#include "element/quadric.h"

static inline void distance_form(real s, real Q[4][QUADRIC_PAIRS], real c[4])
{
    Q[0][0] = 1;
    c[0] = s * s, c[1] = 2 * s, c[2] = 2;
}

static const quadric distance = {
    .nslot = 2,
    .ny = 1,
    .npair = 1,
    .y = {{0, 1}},
    .pair = {{0, 0}},
    .form = distance_form,
};

CST_QUADRIC_BARS(distance, distance)
CST_QUADRIC_CLASS(distance, distance, "pp", distance_bars);
