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

CST_QUADRIC_CLASS(dot, dot, "dd", 1);
