/* SPDX-License-Identifier: MIT
 *
 * End stops of a coordinate: of the distance of two points, of a joint, or of any expression of
 * positions. */
#include "model/types/types.h"

enum { FROM, TO, OF, LOWER, UPPER, STIFFNESS, DAMPING };

static const cst_field field[] = {
    {"from", CST_F_POINT, "m", CST_ANY, "", "point a: the coordinate is g = |b - a|"},
    {"to", CST_F_POINT, "m", CST_ANY, "", "point b"},
    {"of", CST_F_COORDINATE, "1", CST_ANY, "",
     "the coordinate g instead: revolute or prismatic joint, scalar, or expression"},
    {"lower", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "", "lower limit of g; default: none"},
    {"upper", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "", "upper limit of g; default: none"},
    {"stiffness", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, NULL, "k: N/m, N m/rad"},
    {"damping", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, "0", "c: N s/m, N m s/rad"},
    {0},
};

static cst_id coordinate(cst_loader *L, cst_where where, const cst_arg *arg)
{
    if (arg[OF].given == (arg[FROM].given || arg[TO].given) || arg[FROM].given != arg[TO].given) {
        cst_loader_error(L, where, "give either from and to, or of");
        return CST_NONE;
    }
    if (arg[OF].given) return cst_build_coordinate(L, &arg[OF], CST_TURNS | CST_SLIDES, NULL);
    if (!cst_build_has_body(L, &arg[FROM], "from") || !cst_build_has_body(L, &arg[TO], "to"))
        return CST_NONE;
    return cst_build_distance(L, cst_slot_of(L, &arg[FROM], CST_GROUND),
                              cst_slot_of(L, &arg[TO], CST_GROUND));
}

/* d: how far g is beyond the limit.  N = k d + c d' while d > 0 and N > 0: the stop only pushes.
 * With damping there is one comparison, of the smaller of (k + c/(1 s)) d and N, so that contact
 * begins (d = 0) and ends (N = 0) at events. Both terms are forces, because an event is detected by
 * the change of its value over a step, in which a length would be negligible beside a force; k + c,
 * because a stop may have damping alone. */
static cst_id push(cst_loader *L, const cst_arg *arg, cst_id d)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id zero = cst_num_const(g, 0), k = arg[STIFFNESS].num, c = arg[DAMPING].num;
    cst_id N = cst_num_add(g, cst_num_mul(g, k, d), cst_num_mul(g, c, cst_num_rate(g, d)));
    cst_id deep = cst_num_mul(g, cst_num_add(g, k, c), d);
    cst_id least = arg[DAMPING].given ? cst_num_call(g, "min", deep, N, CST_NONE) : d;
    return cst_num_call(g, "if", cst_num_call(g, ">", least, zero, CST_NONE), N, zero);
}

/* V = k/2 d^2 while d > 0 */
static cst_id stored(cst_loader *L, const cst_arg *arg, cst_id d)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id deep = cst_num_call(g, "max", d, cst_num_const(g, 0), CST_NONE);
    cst_id half = cst_num_mul(g, cst_num_const(g, 0.5), arg[STIFFNESS].num);
    return cst_num_mul(g, half, cst_num_mul(g, deep, deep));
}

static void build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *graph = cst_loader_graph(L);
    if (!arg[LOWER].given && !arg[UPPER].given) {
        cst_loader_error(L, where, "give lower, upper or both");
        return;
    }
    if (arg[LOWER].given && arg[UPPER].given &&
        !(cst_loader_value(L, arg[LOWER].num) <= cst_loader_value(L, arg[UPPER].num)))
        cst_loader_error(L, arg[LOWER].where, "lower is above upper");
    cst_id g = coordinate(L, where, arg), F = cst_num_const(graph, 0);
    if (g == CST_NONE) return;
    cst_id V = F;
    if (arg[LOWER].given) {
        cst_id d = cst_num_sub(graph, arg[LOWER].num, g);
        F = cst_num_add(graph, F, push(L, arg, d));
        V = cst_num_add(graph, V, stored(L, arg, d));
    }
    if (arg[UPPER].given) {
        cst_id d = cst_num_sub(graph, g, arg[UPPER].num);
        F = cst_num_sub(graph, F, push(L, arg, d));
        V = cst_num_add(graph, V, stored(L, arg, d));
    }
    cst_add_potential(L, cst_add_generalised_force(L, name, "stop", where, g, F), V);
}

const cst_type cst_type_stop = {
    .section = "forces",
    .keyword = "stop",
    .summary = "end stops of a joint, a distance or a coordinate; they only push",
    .notes = "Beyond a limit by d the stop pushes back with k d + c d', never pulls. With damping "
             "the force jumps at contact.",
    .field = field,
    .build = build,
};
