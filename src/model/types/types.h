/* SPDX-License-Identifier: MIT
 *
 * Shorthands that build functions of several types share. */
#ifndef CST_MODEL_TYPES_TYPES_H
#define CST_MODEL_TYPES_TYPES_H

#include "model/build.h"
#include "model/geometry.h"

/* vectors of values */
void cst_build_const3(cst_loader *L, double x, double y, double z, cst_id v[3]);
void cst_build_add3(cst_loader *L, const cst_id a[3], const cst_id b[3], cst_id c[3]);
void cst_build_sub3(cst_loader *L, const cst_id a[3], const cst_id b[3], cst_id c[3]);
void cst_build_scale3(cst_loader *L, cst_id s, const cst_id a[3], cst_id c[3]);
cst_id cst_build_norm3(cst_loader *L, const cst_id a[3]);
void cst_build_derive(cst_loader *L, const cst_vop *op, int nin, const cst_id *in, int nout,
                      cst_id *out);

/* x limited from below (or above), by a comparison: in a law that is an event, so the corner is met
 * exactly */
cst_id cst_build_at_least(cst_loader *L, cst_id x, cst_id least);
cst_id cst_build_at_most(cst_loader *L, cst_id x, cst_id most);

/* Is there what the element needs? Each reports at `where` and returns 0 if not. */
int cst_build_has_axes(cst_loader *L, cst_where where, int body);   /* ground or a rigid body */
int cst_build_has_points(cst_loader *L, cst_where where, int body); /* not a scalar */
int cst_build_is_pair(cst_loader *L, cst_where where, const int body[2], int axes);
int cst_build_has_body(cst_loader *L, const cst_arg *point,
                       const char *field); /* the point names its body */

/* Beams in joints: a weld keeps the direction of the slope, a hinge its angle with the axis. Rows
 * after the point's. */
int cst_build_is_beam(cst_loader *L, int body);
void cst_build_weld(cst_loader *L, int joint, const int body[2], const cst_id at[3],
                    cst_where where);
void cst_build_hinge(cst_loader *L, int joint, const int body[2], const cst_id at[3],
                     const cst_id axis[3], cst_where where);

/* An axis that carries a sense of rotation: in a mirrored part it mirrors as an axial vector. */
void cst_build_rotation_axis(cst_loader *L, const cst_arg *axis, cst_id out[3]);

/* v in ground axes -> its components along the axes of a body */
void cst_build_along(cst_loader *L, int body, const cst_id v[3], cst_id out[3]);

/* Distance between two points, and the angle of b against a about an axis given in ground axes of
 * the drawing: zero when drawn, counted over all turns. */
cst_id cst_build_distance(cst_loader *L, int slot_a, int slot_b);
cst_id cst_build_angle(cst_loader *L, int a, int b, const cst_id axis[3]);

/* The value of a COORDINATE field: 0 when drawn for joints, whatever it is for scalars and
 * expressions. want: CST_TURNS, CST_SLIDES, or both where either will do. CST_NONE: reported.
 * *joint: its index, -1 for others (may be NULL) */
cst_id cst_build_coordinate(cst_loader *L, const cst_arg *arg, int want, int *joint);
/* value, rate, acceleration as components NAME, NAME.rate, NAME.acceleration (with a prefix:
 * NAME.PREFIX, ...) */
void cst_build_add_rates(cst_loader *L, int measure, const char *prefix, int angle, cst_id value);

void cst_build_add_xyz(cst_loader *L, int measure, const char *prefix, const char *unit,
                       const cst_id v[3]);

/* Resultant on a body about x0: force = sum f, torque = sum (x - x0) x f over points + sum d x f
 * over directions */
typedef struct cst_resultant {
    int body, about /* slot of x0 */;
    cst_id force[3], torque[3];
} cst_resultant;
cst_resultant cst_resultant_begin(cst_loader *L, int body, int about);
void cst_resultant_add(cst_loader *L, cst_resultant *r, int slot,
                       const cst_id f[3]); /* slots of other bodies: nothing */
int cst_build_owner(cst_loader *L,
                    const cst_slot *s);        /* the body of the file that a slot belongs to */
int cst_build_origin(cst_loader *L, int body); /* slot of a body's origin */

#endif
