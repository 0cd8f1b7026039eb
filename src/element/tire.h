/* SPDX-License-Identifier: MIT
 *
 * Tires. What all share (the contact with the road, slips, relaxation, where the force acts) is in
 * tire.c. A model gives the forces in the contact from load, slips and camber, in a file
 * tire_NAME.c: a table of fields, a law with its pieces and CST_TIRE_DEFINE; its line in tires.def
 * gives it a type in the model file. */
#ifndef CST_ELEMENT_TIRE_H
#define CST_ELEMENT_TIRE_H

#include "base/field.h"
#include "element/element.h"

enum {
    CST_TIRE_FN,
    CST_TIRE_KAPPA,
    CST_TIRE_ALPHA,
    CST_TIRE_CAMBER,
    CST_TIRE_IN
};                                                            /* N, -, rad, rad */
enum { CST_TIRE_FX, CST_TIRE_FY, CST_TIRE_MZ, CST_TIRE_OUT }; /* N, N, N m */

/* in: load Fn > 0, longitudinal slip (positive: driving), slip angle (positive: force to the left),
 * camber (positive: the top leans to the left); p: own numbers, in the order of the fields.  out:
 * force ahead, force to the left, moment about the road's normal; its partials (CST_TIRE_OUT x
 * CST_TIRE_IN) and (CST_TIRE_OUT x own numbers) where they are not NULL. */
typedef void cst_tire_law(const real *in, const real *p, real *out, real *out_in, real *out_p);
/* Which smooth piece of the law this is on: saturated or not, ... */
typedef int cst_tire_piece(const real *in, const real *p);

/* Numbers that every tire has, in p before its own; the last four are options, 0 or 1 */
enum {
    CST_TIRE_RADIUS,
    CST_TIRE_STIFFNESS,
    CST_TIRE_DAMPING,
    CST_TIRE_LOW,
    CST_TIRE_RELAX_X, /* relaxation lengths: read when the element has its two states */
    CST_TIRE_RELAX_Y,
    CST_TIRE_BELOW,
    CST_TIRE_NOMINAL,
    CST_TIRE_UPRIGHT,
    CST_TIRE_AT_CENTRE,
    CST_TIRE_OWN
};

enum {
    CST_ROAD_Z,
    CST_ROAD_ZX,
    CST_ROAD_ZY,
    CST_ROAD_ZT,
    CST_ROAD_CONTACT,
    CST_ROAD_OUT
}; /* outputs of the tape */

/* The first fields of every tire; those from CST_TIRE_FIELD_OWN on are numbers of the model. */
enum {
    CST_TIRE_FIELD_WHEEL,
    CST_TIRE_FIELD_CENTRE,
    CST_TIRE_FIELD_AXIS,
    CST_TIRE_FIELD_ROAD,
    CST_TIRE_FIELD_RADIUS,
    CST_TIRE_FIELD_STIFFNESS,
    CST_TIRE_FIELD_DAMPING,
    CST_TIRE_FIELD_LOW,
    CST_TIRE_FIELD_RELAX_X,
    CST_TIRE_FIELD_RELAX_Y,
    CST_TIRE_FIELD_POINT,
    CST_TIRE_FIELD_ROLLING,
    CST_TIRE_FIELD_INDENT,
    CST_TIRE_FIELD_SLIP,
    CST_TIRE_FIELD_OWN
};

#define CST_TIRE_FIELDS                                                                            \
    {"wheel", CST_F_BODY, "1", CST_ANY, NULL, "the body that rolls"},                              \
        {"centre", CST_F_POINT, "m",                                                               \
         CST_ANY,  "",          "wheel centre, fixed in the wheel; default: its origin"},          \
        {"axis", CST_F_AXIS, "1", CST_ANY, "y", "wheel axis when drawn, to the left of travel"},   \
        {"road", CST_F_ROAD,                                                                       \
         "m",    CST_ANY,                                                                          \
         "0",    "a road, or its height as an expression of s (x of the wheel centre) and t"},     \
        {"radius", CST_F_NUMBER, "m", 1e-12, INFINITY, NULL, "R, of the unloaded wheel"},          \
        {"stiffness", CST_F_NUMBER, "N/m", CST_NOT_NEGATIVE, NULL, "k, of the indentation"},       \
        {"damping",        CST_F_NUMBER, "N*s/m",                                                  \
         CST_NOT_NEGATIVE, "0",          "c, for the velocity normal to the road, in contact"},    \
        {"low_speed",                                                                              \
         CST_F_NUMBER,                                                                             \
         "m/s",                                                                                    \
         1e-12,                                                                                    \
         INFINITY,                                                                                 \
         "1e-2",                                                                                   \
         "slips are regularised below it, also at standstill"},                                    \
        {"relaxation_length",                                                                      \
         CST_F_NUMBER,                                                                             \
         "m",                                                                                      \
         1e-12,                                                                                    \
         INFINITY,                                                                                 \
         "",                                                                                       \
         "distance over which slips build up; default: at once"},                                  \
        {"lateral_relaxation_length",        CST_F_NUMBER, "m", 1e-12, INFINITY, "",               \
         "for the slip angle, if it differs"},                                                     \
        {"contact",                                                                                \
         CST_F_CHOICE,                                                                             \
         "circle|below",                                                                           \
         CST_ANY,                                                                                  \
         "circle",                                                                                 \
         "where the force acts: lowest point of the circle, moved to the road; or below the "      \
         "centre"},                                                                                \
        {"rolling_radius",                                                                         \
         CST_F_CHOICE,                                                                             \
         "loaded|nominal",                                                                         \
         CST_ANY,                                                                                  \
         "loaded",                                                                                 \
         "radius in the longitudinal slip: distance of the centre from the road, or R"},           \
        {"indentation",                                                                            \
         CST_F_CHOICE,                                                                             \
         "circle|vertical",                                                                        \
         CST_ANY,                                                                                  \
         "circle",                                                                                 \
         "of the wheel's circle, which camber lifts from the road; or R less the distance of the " \
         "centre"},                                                                                \
    {                                                                                              \
        "slip", CST_F_CHOICE, "contact|centre", CST_ANY, "contact",                                \
            "velocity across the wheel in the slip angle: in the contact, with what leaning "      \
            "adds; or of the centre"                                                               \
    }

/* tire.c: the functions of a force class, for a law with np numbers of its own */
void CST_K(cst_tire_force)(cst_tire_law *law, const cst_local *e, real *f, real *zd);
void CST_K(cst_tire_partials)(cst_tire_law *law, int np, const cst_local *e, real *f_x, real *f_xd,
                              real *f_z, real *f_p);
void CST_K(cst_tire_transposed)(cst_tire_law *law, int np, const cst_local *e, const real *w,
                                real *x, real *xd, real *z, real *p);
int CST_K(cst_tire_partial_t)(cst_tire_law *law, const cst_local *e, real *f_t);
int CST_K(cst_tire_energy)(const cst_local *e, real *V);
int CST_K(cst_tire_piece_of)(cst_tire_piece *piece, const cst_local *e);

/* The class of the tire `model` with `law`, its pieces and `np` numbers; its fields:
 * cst_tire_MODEL_field. */
#define CST_TIRE_DEFINE(model, law_, piece_, np_)                                                  \
    static void model##_force(const cst_local *e, real *f, real *zd)                               \
    {                                                                                              \
        CST_K(cst_tire_force)(law_, e, f, zd);                                                     \
    }                                                                                              \
    static void model##_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)  \
    {                                                                                              \
        CST_K(cst_tire_partials)(law_, np_, e, f_x, f_xd, f_z, f_p);                               \
    }                                                                                              \
    static void model##_transposed(const cst_local *e, const real *w, real *x, real *xd, real *z,  \
                                   real *p)                                                        \
    {                                                                                              \
        CST_K(cst_tire_transposed)(law_, np_, e, w, x, xd, z, p);                                  \
    }                                                                                              \
    static int model##_partial_t(const cst_local *e, real *f_t)                                    \
    {                                                                                              \
        return CST_K(cst_tire_partial_t)(law_, e, f_t);                                            \
    }                                                                                              \
    static int model##_piece(const cst_local *e) { return CST_K(cst_tire_piece_of)(piece_, e); }   \
    const cst_force_class CST_K(cst_force_tire_##model) = {                                        \
        .name = "tire " #model,                                                                    \
        .nslot = 5,                                                                                \
        .np = CST_TIRE_OWN + (np_),                                                                \
        .nz = -1,                                                                                  \
        .force = model##_force,                                                                    \
        .partials = model##_partials,                                                              \
        .transposed = model##_transposed,                                                          \
        .partial_t = model##_partial_t,                                                            \
        .energy = CST_K(cst_tire_energy),                                                          \
        .ntape = CST_ROAD_OUT,                                                                     \
        .external = 1,                                                                             \
        .slots = "puddd",                                                                          \
        .piece = model##_piece,                                                                    \
    }

#define CST_TIRE(name, keyword, summary, notes)                                                    \
    extern const cst_force_class CST_K(cst_force_tire_##name);                                     \
    extern const cst_field CST_K(cst_tire_##name##_field)[];
#include "element/tires.def"
#undef CST_TIRE

#endif
