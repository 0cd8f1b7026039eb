/* SPDX-License-Identifier: MIT
 *
 * Forces between two points, along their line: spring, damper, spring-damper. */
#include "model/types/types.h"

enum { FROM, TO, LAW, OWN }; /* the first fields of all three */

#define ENDS                                                                                       \
    {"from", CST_F_POINT, "m", CST_ANY, NULL, "point a: BODY.POINT"},                              \
        {"to", CST_F_POINT, "m", CST_ANY, NULL, "point b: BODY.POINT"},                            \
    {                                                                                              \
        "force", CST_F_LAW, "N", CST_ANY, "", "tension F(s, v, t) instead: s = |b - a|, v = s'"    \
    }
#define TENSION                                                                                    \
    "Tension F is positive: it pulls the points together. At zero length there is no direction: "  \
    "the force "                                                                                   \
    "at rest due to a free length or a preload is then left out."

static int ends(cst_loader *L, cst_where where, const cst_arg *arg, int slot[2])
{
    if (!cst_build_has_body(L, &arg[FROM], "from") || !cst_build_has_body(L, &arg[TO], "to"))
        return 0;
    if (arg[FROM].body[0] == arg[TO].body[0]) {
        cst_loader_error(L, where, "from and to are on the same body");
        return 0;
    }
    slot[0] = cst_slot_of(L, &arg[FROM], CST_GROUND);
    slot[1] = cst_slot_of(L, &arg[TO], CST_GROUND);
    return 1;
}

/* 1 if a law is given; its coefficients (given: whether any of them is written) must then be left
 * out. */
static int has_law(cst_loader *L, const cst_arg *arg, int given)
{
    if (arg[LAW].given && given)
        cst_loader_error(L, arg[LAW].where, "give either force or its coefficients");
    return arg[LAW].given;
}

/* A law of s, v and t goes along the line kernel; one that also reads measures becomes a
 * generalised force on s. */
static void add_law(cst_loader *L, const char *name, const char *type, cst_where where,
                    const int slot[2], cst_id law)
{
    cst_graph *g = cst_loader_graph(L);
    if (cst_num_depends(g, law, CST_CH_X, -1) || cst_num_depends(g, law, CST_CH_Z, -1)) {
        cst_id s = cst_build_distance(L, slot[0], slot[1]);
        cst_add_generalised_force(L, name, type, where, s, cst_num_neg(g, cst_law_of(L, law, s)));
        return;
    }
    cst_id zero = cst_num_const(g, 0), p[4] = {zero, zero, zero, zero};
    cst_add_force(L, name, type, where, &cst_force_line, 2, slot, 4, p, law);
}

/* F = F0 + k (s - s0) + c s' */
static void add_line(cst_loader *L, const char *name, const char *type, cst_where where,
                     const cst_arg *arg, cst_id k, cst_id c, const cst_arg *s0, cst_id F0)
{
    int slot[2];
    if (!ends(L, where, arg, slot)) return;
    cst_id d[3];
    cst_build_sub3(L, arg[TO].vec, arg[FROM].vec, d);
    cst_id drawn = cst_num_dot3(cst_loader_graph(L), d, d), length;
    if (s0 != NULL && s0->given)
        length = s0->num;
    else if (cst_loader_value(L, drawn) > 0)
        length = cst_build_norm3(L, d);
    else /* the root has no derivative there, and the force no direction */
        length = cst_num_const(cst_loader_graph(L), 0);
    cst_id p[4] = {k, c, length, F0};
    cst_add_force(L, name, type, where, &cst_force_line, 2, slot, 4, p, CST_NONE);
}

static int missing(cst_loader *L, cst_where where, const cst_arg *a, const char *what)
{
    if (!a->given) cst_loader_error(L, where, "%s is missing (or a force law)", what);
    return !a->given;
}

/* ---- spring ---- */

enum { S_STIFFNESS = OWN, S_FREE_LENGTH };

static const cst_field spring_field[] = {
    ENDS,
    {"stiffness", CST_F_NUMBER, "N/m", CST_NOT_NEGATIVE, "", "k"},
    {"free_length", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "s0; default: as drawn"},
    {0},
};

static void spring_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_id zero = cst_num_const(cst_loader_graph(L), 0);
    int slot[2];
    if (has_law(L, arg, arg[S_STIFFNESS].given | arg[S_FREE_LENGTH].given)) {
        if (ends(L, where, arg, slot)) add_law(L, name, "spring", where, slot, arg[LAW].num);
    } else if (!missing(L, where, &arg[S_STIFFNESS], "stiffness")) {
        add_line(L, name, "spring", where, arg, arg[S_STIFFNESS].num, zero, &arg[S_FREE_LENGTH],
                 zero);
    }
}

const cst_type cst_type_spring = {
    .section = "forces",
    .keyword = "spring",
    .summary = "F = k (s - s0) between two points",
    .notes = TENSION,
    .field = spring_field,
    .build = spring_build,
};

/* ---- damper ---- */

enum { D_DAMPING = OWN };

static const cst_field damper_field[] = {
    ENDS,
    {"damping", CST_F_NUMBER, "N*s/m", CST_NOT_NEGATIVE, "", "c"},
    {0},
};

static void damper_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_id zero = cst_num_const(cst_loader_graph(L), 0);
    int slot[2];
    if (has_law(L, arg, arg[D_DAMPING].given)) {
        if (ends(L, where, arg, slot)) add_law(L, name, "damper", where, slot, arg[LAW].num);
    } else if (!missing(L, where, &arg[D_DAMPING], "damping")) {
        add_line(L, name, "damper", where, arg, zero, arg[D_DAMPING].num, NULL, zero);
    }
}

const cst_type cst_type_damper = {
    .section = "forces",
    .keyword = "damper",
    .summary = "F = c s' between two points",
    .notes = TENSION,
    .field = damper_field,
    .build = damper_build,
};

/* ---- spring-damper ---- */

enum { SD_STIFFNESS = OWN, SD_DAMPING, SD_FREE_LENGTH, SD_PRELOAD };

static const cst_field spring_damper_field[] = {
    ENDS,
    {"stiffness", CST_F_NUMBER, "N/m", CST_NOT_NEGATIVE, "", "k"},
    {"damping", CST_F_NUMBER, "N*s/m", CST_NOT_NEGATIVE, "0", "c"},
    {"free_length", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "s0; default: as drawn"},
    {"preload", CST_F_NUMBER, "N", CST_ANY, "0", "F0: tension at s = s0"},
    {0},
};

static void spring_damper_build(cst_loader *L, const char *name, cst_where where,
                                const cst_arg *arg)
{
    int slot[2], given = 0;
    for (int i = SD_STIFFNESS; i <= SD_PRELOAD; i++) given |= arg[i].given;
    if (has_law(L, arg, given)) {
        if (ends(L, where, arg, slot)) add_law(L, name, "spring-damper", where, slot, arg[LAW].num);
    } else if (!missing(L, where, &arg[SD_STIFFNESS], "stiffness")) {
        add_line(L, name, "spring-damper", where, arg, arg[SD_STIFFNESS].num, arg[SD_DAMPING].num,
                 &arg[SD_FREE_LENGTH], arg[SD_PRELOAD].num);
    }
}

const cst_type cst_type_spring_damper = {
    .section = "forces",
    .keyword = "spring-damper",
    .summary = "F = F0 + k (s - s0) + c s' between two points",
    .notes = TENSION,
    .field = spring_damper_field,
    .build = spring_damper_build,
};
