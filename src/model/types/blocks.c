/* SPDX-License-Identifier: MIT
 *
 * Blocks: scalars with a differential equation of their own, whose outputs any law may read. */
#include "model/types/types.h"

/* The force element that owns the states. Its name contains a blank, so it cannot clash with a
 * force of the file. */
static int add_states(cst_loader *L, const char *name, cst_where where, int n, const cst_id *rate,
                      const cst_id *initial)
{
    const char *owner = cst_arena_printf(cst_loader_arena(L), "state %s", name);
    return cst_add_expression_force(L, owner, "state", where, 0, (int[]){0}, rate, n, rate,
                                    initial);
}

/* ---- state: z' = rate(z, ..) ---- */

enum { RATE, INITIAL };

static const cst_field state_field[] = {
    {"rate", CST_F_LAW, CST_BY_CONTEXT, CST_ANY, NULL,
     "z': expression of t and measures; s in it is the state itself"},
    {"initial", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "0", "z at the start"},
    {0},
};

static cst_id own_state(void *ctx, const cst_channel *c)
{
    return c->kind == CST_CH_ARG && c->index == 0 ? *(cst_id *)ctx : CST_NONE;
}

static void state_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_id z = cst_state_channel(L, 0);
    cst_id rate = cst_num_substitute(cst_loader_graph(L), arg[RATE].num, own_state, &z);
    if (add_states(L, name, where, 1, &rate, &arg[INITIAL].num) < 0) return;
    int m = cst_measure_begin(L, name, "state", where);
    cst_measure_add(L, m, "", "1", z);
    cst_measure_add(L, m, "rate", "1", rate); /* by context, as the state itself */
}

#define STATE_SUMMARY "a user-defined state, z' = rate: filters, observers, running averages"
#define STATE_NOTES                                                                                \
    "For example a first-order filter of the measure x with time constant T:  rate: (x - s)/T. "   \
    "Laws and "                                                                                    \
    "expressions of forces may read it; drives and couplings may not: they need its second "       \
    "derivative."

const cst_type cst_type_state = {
    .section = "measures",
    .keyword = "state",
    .summary = STATE_SUMMARY,
    .notes = STATE_NOTES,
    .field = state_field,
    .build = state_build,
};

const cst_type cst_type_block_state = {
    .section = "blocks",
    .keyword = "state",
    .summary = STATE_SUMMARY,
    .notes = STATE_NOTES,
    .field = state_field,
    .build = state_build,
};

/* ---- first-order: T y' = K u - y ---- */

enum { INPUT, GAIN, TIME_CONSTANT, F_INITIAL };

static const cst_field first_order_field[] = {
    {"input", CST_F_EXPR, CST_BY_CONTEXT, CST_ANY, NULL,
     "u: expression of measures, other blocks and t"},
    {"gain", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "1", "K"},
    {"time_constant", CST_F_NUMBER, "s", 1e-12, INFINITY, NULL, "T"},
    {"initial", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "0", "y at the start"},
    {0},
};

static void first_order_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id y = cst_state_channel(L, 0);
    cst_id left = cst_num_sub(g, cst_num_mul(g, arg[GAIN].num, arg[INPUT].num), y);
    cst_id rate = cst_num_div(g, left, arg[TIME_CONSTANT].num);
    if (add_states(L, name, where, 1, &rate, &arg[F_INITIAL].num) < 0) return;
    int m = cst_measure_begin(L, name, "first-order", where);
    cst_measure_add(L, m, "", "1", y);
    cst_measure_add(L, m, "rate", "1", rate); /* by context, as the state itself */
}

const cst_type cst_type_first_order = {
    .section = "blocks",
    .keyword = "first-order",
    .summary = "T y' = K u - y: a lag; component rate is y', a filtered derivative of the input",
    .notes = "In a static equilibrium y = K u.",
    .field = first_order_field,
    .build = first_order_build,
};

/* ---- pi: y = kp e + z, z' = ki e; with limits Y = clamp(y), z' = ki e + (Y - y)/T ---- */

enum { ERROR, KP, KI, LOWER, UPPER, TRACKING, P_INITIAL };

static const cst_field pi_field[] = {
    {"input", CST_F_EXPR, CST_BY_CONTEXT, CST_ANY, NULL,
     "e: the error, an expression of measures, other blocks and t"},
    {"proportional", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, NULL, "kp"},
    {"integral", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, NULL, "ki, in 1/s"},
    {"lower", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "",
     "lower limit of the output; default: none"},
    {"upper", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "",
     "upper limit of the output; default: none"},
    {"tracking_time", CST_F_NUMBER, "s", 1e-12, INFINITY, "",
     "T: time constant of the integral while limited; default: kp/ki"},
    {"initial", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "0", "z at the start"},
    {0},
};

/* T, or CST_NONE: reported */
static cst_id tracking_time(cst_loader *L, cst_where where, const cst_arg *arg)
{
    if (arg[TRACKING].given) return arg[TRACKING].num;
    if (cst_loader_value(L, arg[KP].num) * cst_loader_value(L, arg[KI].num) > 0)
        return cst_num_div(cst_loader_graph(L), arg[KP].num, arg[KI].num);
    cst_loader_error(L, where, "give tracking_time: kp/ki is not a positive time here");
    return CST_NONE;
}

static void pi_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id z = cst_state_channel(L, 0), e = arg[ERROR].num, rate = cst_num_mul(g, arg[KI].num, e);
    cst_id y = cst_num_add(g, cst_num_mul(g, arg[KP].num, e), z), Y = y;
    if (arg[LOWER].given && arg[UPPER].given &&
        !(cst_loader_value(L, arg[LOWER].num) <= cst_loader_value(L, arg[UPPER].num)))
        cst_loader_error(L, arg[LOWER].where, "lower is above upper");
    if (arg[LOWER].given) Y = cst_build_at_least(L, Y, arg[LOWER].num);
    if (arg[UPPER].given) Y = cst_build_at_most(L, Y, arg[UPPER].num);
    if (Y != y) {
        cst_id T = tracking_time(L, where, arg);
        if (T == CST_NONE) return;
        rate = cst_num_add(g, rate, cst_num_div(g, cst_num_sub(g, Y, y), T));
    } else if (arg[TRACKING].given) {
        cst_loader_error(L, arg[TRACKING].where,
                         "tracking_time applies to limits only: give lower, upper or both");
        return;
    }
    if (add_states(L, name, where, 1, &rate, &arg[P_INITIAL].num) < 0) return;
    int m = cst_measure_begin(L, name, "pi", where);
    cst_measure_add(L, m, "", "1", Y);
    cst_measure_add(L, m, "integral", "1", z);
}

const cst_type cst_type_pi = {
    .section = "blocks",
    .keyword = "pi",
    .summary =
        "y = kp e + z, z' = ki e: a PI controller, optionally with limits; component integral is z",
    .notes = "With limits the output is Y = min(max(y, lower), upper) and z' = ki e + (Y - y)/T, "
             "so that the integral does not run away. A static equilibrium cannot contain a force "
             "that integrates: leave it out there.",
    .field = pi_field,
    .build = pi_build,
};
