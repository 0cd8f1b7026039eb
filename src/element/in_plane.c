/* SPDX-License-Identifier: MIT
 *
 * A point at the height s above a plane through b with normal v: (a - b).v = s. */
#include "element/quadric.h"

static inline void in_plane_form(real s, real Q[4][QUADRIC_PAIRS], real c[4])
{
    Q[0][0] = 1;
    c[0] = s, c[1] = 1;
}

static const quadric in_plane = {
    .nslot = 3,
    .ny = 2,
    .npair = 1,
    .y = {{0, 1}, {2, -1}},
    .pair = {{0, 1}},
    .form = in_plane_form,
};

CST_QUADRIC_BARS(in_plane, in_plane)
CST_QUADRIC_CLASS(in_plane, in_plane, "ppd", in_plane_bars);
