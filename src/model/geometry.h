/* SPDX-License-Identifier: MIT
 *
 * What a model derives from its drawing, as vector operations of the graph of numbers: local
 * coordinates, frames, pseudo-inertias. A frame is 9 numbers e1 e2 e3, its axes in ground axes one
 * after the other; E = [e1 e2 e3] has them as columns. A symmetric tensor is 6 entries xx yy zz xy
 * xz yz of its matrix. Lengths of directions do not matter and must not be zero: the loader checks
 * that before. */
#ifndef CST_MODEL_GEOMETRY_H
#define CST_MODEL_GEOMETRY_H

#include "number/graph.h"

/* name               inputs                    outputs
 * copy               a(n)                      n: a, with ids of their own
 * local_point        r(3) e1 e2 e3(9) P(3)     3: E^T (P - r)
 * local_direction    e1 e2 e3(9) d(3)          3: E^T d/|d|
 * unit               a(3)                      3: a/|a|
 * perpendicular      a(3)                      6: unit u, v with u x v = a/|a|
 * frame_axis         d(3)                      9: e1 = d/|d|; e2, e3 as u, v
 * frame_two          d(3) h(3)                 9: e1 = d/|d|; e2 along the part of h across it
 * frame_quaternion   w x y z                   9; normalised
 * frame_axis_angle   a(3) angle                9
 * frame_matrix       e1 e2 e3(9), roughly      9: orthonormalised; e3 decides nothing
 * rotate_tensor      e1 e2 e3(9) I(6)          6: E I E^T
 * steiner            I(6) m d(3)               6: I + m (d.d 1 - d d^T)
 * pseudo_inertia     m c(3) I(6)               10: mass matrix of a rigid body, upper triangle by
 * rows
 *
 * pseudo_inertia: I about the centre of mass c, in body axes. The mass matrix of (r, e1, e2, e3) is
 *     [[m, m c^T], [m c, J]],   J = integral x x^T dm about the origin = (tr I/2) 1 - I + m c c^T
 */
extern const cst_vop CST_K(cst_vop_copy);
extern const cst_vop CST_K(cst_vop_local_point);
extern const cst_vop CST_K(cst_vop_local_direction);
extern const cst_vop CST_K(cst_vop_unit);
extern const cst_vop CST_K(cst_vop_perpendicular);
extern const cst_vop CST_K(cst_vop_frame_axis);
extern const cst_vop CST_K(cst_vop_frame_two);
extern const cst_vop CST_K(cst_vop_frame_quaternion);
extern const cst_vop CST_K(cst_vop_frame_axis_angle);
extern const cst_vop CST_K(cst_vop_frame_matrix);
extern const cst_vop CST_K(cst_vop_rotate_tensor);
extern const cst_vop CST_K(cst_vop_steiner);
extern const cst_vop CST_K(cst_vop_pseudo_inertia);

typedef struct cst_vop_entry {
    const cst_vop *op;
    int nin, nout;
} cst_vop_entry;
extern const cst_vop_entry CST_K(cst_vop_table)[]; /* op NULL at the end: for tests */

#endif
