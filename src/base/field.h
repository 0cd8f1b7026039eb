/* SPDX-License-Identifier: MIT
 *
 * One field of the input format: a row of the table from which the parser, the validator, the
 * manual page and the list of design variables are all made. For how fields are read see
 * model/build.h and model/fields.c. */
#ifndef CST_BASE_FIELD_H
#define CST_BASE_FIELD_H

#include <math.h>

typedef enum cst_field_kind {
    CST_F_NUMBER, /* untimed number: arg.num. Ranges and units from the table */
    CST_F_VECTOR, /* [x, y, z]: arg.vec. A position-like vector of numbers in ground axes (mirrored
                     in mirrored parts) */
    CST_F_AXIAL,  /* [x, y, z] that mirrors as an axial vector (angular velocity, torque) */
    CST_F_POINT,  /* a place: hardpoint name `P1`, `body.P1` (hardpoint or own local point on that
                     body), `ground.P1`,  [x, y, z] in ground axes, {body: b, local: [x, y, z]}.
                     arg.vec: drawn position in ground axes,  arg.body[0]: the body, CST_UNSET when
                     none is named */
    CST_F_CENTRE, /* com | origin | a place as CST_F_POINT reads it: arg.choice is a cst_about */
    CST_F_BODY,   /* arg.body[0]: body index or CST_GROUND */
    CST_F_BODIES, /* [a, b]: arg.body */
    CST_F_AXIS, /* x | y | z (with sign: -x) | [x, y, z] | {from: P, to: Q}: arg.vec, a direction in
                   ground axes of the drawn position, not normalised, never zero */
    CST_F_FRAME,   /* orientation: {quaternion: [w, x, y, z]} | {axis: .., angle: ..} | {matrix:
                      [[..],[..],[..]]} |   {x: axis, y: axis} (any two of x, y, z: the first exact,
                      the   second orthogonalised): arg.frame */
    CST_F_LAW,     /* timed expression in s, v, t, numbers and (position/velocity-level) measures:
                      arg.num */
    CST_F_EXPR,    /* timed expression of measures, t, numbers: arg.num */
    CST_F_EXPR3,   /* three of them, or one vector expression: arg.vec */
    CST_F_TIME,    /* expression of t and numbers only (drivers): arg.num */
    CST_F_CHOICE,  /* one word of the list `unit` ("a|b|c"): arg.choice, counted from 0 */
    CST_F_FLAG,    /* true | false: arg.choice */
    CST_F_TEXT,    /* arg.text */
    CST_F_NUMBERS, /* 1..16 numbers: arg.list, arg.nlist */
    CST_F_ELEMENT, /* name of a joint or force: arg.text (resolved with prefix): cst_loader_joint /
                      _force */
    CST_F_COUNT, /* a whole number that belongs to the structure, no design variable: arg.choice */
    CST_F_COORDINATE, /* name of a joint: arg.text; of a scalar: arg.body[0]; else an expression of
                         measures: arg.num */
    CST_F_ROAD, /* name of a road, or its height, a law of s and t: arg.num, a law of s = x and v =
                   y */
    CST_F_NODE  /* raw: arg.node */
} cst_field_kind;

typedef struct cst_field {
    const char *name;
    cst_field_kind kind;
    const char *unit; /* "N/m"; "1" without; CST_BY_CONTEXT; for CHOICE the words */
    double lo, hi;    /* admissible range, numbers only */
    const char *dflt; /* default, as it would be written; NULL: required; "": optional, arg.given
                         says whether it was written */
    const char *doc;  /* one line */
} cst_field;

#define CST_BY_CONTEXT NULL         /* unit of a field that takes its unit from what it acts on */
#define CST_ANY -INFINITY, INFINITY /* ranges of fields */
#define CST_NOT_NEGATIVE 0, INFINITY

#endif
