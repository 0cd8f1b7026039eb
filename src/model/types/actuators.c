/* SPDX-License-Identifier: MIT
 *
 * Forces on one coordinate, that of a joint or any other: friction, motor, servo. */
#include "model/types/types.h"

#define OF_FIELD                                                                                   \
    {                                                                                              \
        "of", CST_F_COORDINATE, "1", CST_ANY, NULL,                                                \
            "g: revolute or prismatic joint, scalar, or expression"                                \
    }

enum { OF };
#define EITHER (CST_TURNS | CST_SLIDES)

/* ---- friction ----
 *
 * F = -(Fc + (Fs - Fc) exp(-(v/vs)^2)) tanh(v/v0) - c v,     v = g'
 */
enum { COULOMB = OF + 1, STATIC, STRIBECK, TRANSITION, VISCOUS };

static const cst_field friction_field[] = {
    OF_FIELD,
    {"coulomb", CST_F_EXPR, CST_BY_CONTEXT, CST_ANY, "0",
     "Fc: N m or N; may depend on measures, for example mu times a load or a reaction"},
    {"breakaway", CST_F_EXPR, CST_BY_CONTEXT, CST_ANY, "", "Fs, near standstill; default: Fc"},
    {"stribeck_speed", CST_F_NUMBER, CST_BY_CONTEXT, 1e-12, INFINITY, "",
     "vs: rad/s or m/s, where the breakaway fades"},
    {"transition_speed", CST_F_NUMBER, CST_BY_CONTEXT, 1e-12, INFINITY, "1e-3",
     "v0: rad/s or m/s; the jump of dry friction is tanh(v/v0)"},
    {"viscous", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, "0", "c: N m s/rad or N s/m"},
    {0},
};

static void friction_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id q = cst_build_coordinate(L, &arg[OF], EITHER, NULL);
    if (q == CST_NONE) return;
    cst_id zero = cst_num_const(g, 0), F = cst_hold(L, name, where, arg[COULOMB].num, 0);
    int held = F != arg[COULOMB].num;
    cst_id Fs = arg[STATIC].given ? cst_hold(L, name, where, arg[STATIC].num, held) : zero;
    held += arg[STATIC].given && Fs != arg[STATIC].num;
    if (arg[STATIC].given != arg[STRIBECK].given) {
        cst_loader_error(L, where, "breakaway and stribeck_speed must be given together");
        return;
    }
    cst_id v = cst_num_rate(g, q);
    if (arg[STATIC].given) {
        cst_id r = cst_num_div(g, v, arg[STRIBECK].num);
        cst_id fade =
            cst_num_call(g, "exp", cst_num_neg(g, cst_num_mul(g, r, r)), CST_NONE, CST_NONE);
        F = cst_num_add(g, F, cst_num_mul(g, cst_num_sub(g, Fs, F), fade));
    }
    cst_id sign =
        cst_num_call(g, "tanh", cst_num_div(g, v, arg[TRANSITION].num), CST_NONE, CST_NONE);
    F = cst_num_add(g, cst_num_mul(g, F, sign), cst_num_mul(g, arg[VISCOUS].num, v));
    /* Held values do not change within a step. The slow decay makes them 0 in a static equilibrium,
     * where all rates vanish. */
    cst_id rate[2], start[2] = {zero, zero}, slow = cst_num_const(g, -1e-12);
    for (int k = 0; k < held; k++) rate[k] = cst_num_mul(g, slow, cst_state_channel(L, k));
    cst_add_generalised_force_of(L, name, "friction", where, q, cst_num_neg(g, F), held, rate,
                                 start);
}

const cst_type cst_type_friction = {
    .section = "forces",
    .keyword = "friction",
    .summary =
        "F = Fc tanh(v/v0) + c v against the rate of a joint, optionally with a Stribeck peak",
    .notes = "Regularised: there is no sticking. Under a load below Fc the joint creeps at v0 "
             "atanh(load/Fc), so choose v0 well below the speeds that matter; the step must "
             "resolve the transition, of duration inertia v0/Fc, or the solver damps it. Fc and Fs "
             "may read reactions, as in mu*r*hypot(R.force.y, R.force.z): reactions follow from "
             "the forces, so those at the end of the step before are taken, with their derivatives "
             "in the gradient. This is an error of first order in the step, and it settles only if "
             "mu is small enough that friction changes the load by less than the load.",
    .field = friction_field,
    .build = friction_build,
};

/* ---- motor ----
 *
 * w = i g',  T = throttle torque(w);   with a lag  tau z' = T - z  and z in place of T.   Force on
 * g: i T
 */
enum { TORQUE = OF + 1, THROTTLE, RATIO, LAG, INITIAL };

static const cst_field motor_field[] = {
    OF_FIELD,
    {"torque", CST_F_LAW, "N*m", CST_ANY, NULL,
     "T(v, s, t): v is the speed of the motor, s its angle; a table: curve(v)"},
    {"throttle", CST_F_EXPR, "1", CST_ANY, "1",
     "factor of the torque: expression of t, measures and blocks"},
    {"ratio", CST_F_NUMBER, "1", CST_ANY, "1", "i: turns of the motor per turn of the joint"},
    {"time_constant", CST_F_NUMBER, "s", 1e-12, INFINITY, "",
     "tau of a first-order lag of the torque; default: no lag"},
    {"initial", CST_F_NUMBER, "N*m", CST_ANY, "0", "torque at the start, with a lag"},
    {0},
};

static void motor_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id q = cst_build_coordinate(L, &arg[OF], EITHER, NULL), i = arg[RATIO].num;
    if (q == CST_NONE) return;
    if (arg[INITIAL].given && !arg[LAG].given) {
        cst_loader_error(L, arg[INITIAL].where,
                         "initial is the state of the lag: give time_constant");
        return;
    }
    cst_id T =
        cst_num_mul(g, arg[THROTTLE].num, cst_law_of(L, arg[TORQUE].num, cst_num_mul(g, i, q)));
    if (!arg[LAG].given) {
        cst_add_generalised_force(L, name, "motor", where, q, cst_num_mul(g, i, T));
        return;
    }
    cst_id z = cst_state_channel(L, 0), rate = cst_num_div(g, cst_num_sub(g, T, z), arg[LAG].num);
    cst_add_generalised_force_of(L, name, "motor", where, q, cst_num_mul(g, i, z), 1, &rate,
                                 &arg[INITIAL].num);
}

const cst_type cst_type_motor = {
    .section = "forces",
    .keyword = "motor",
    .summary =
        "torque of a motor by its speed, throttle and ratio, between the two bodies of a joint",
    .notes = "A positive torque turns the second body forward; the first takes the reaction. The "
             "inertia of the rotor is a scalar body with a gear. In a static equilibrium a lag has "
             "settled.",
    .field = motor_field,
    .build = motor_build,
};

/* ---- servo ----
 *
 * F = k (r - g) + c (r' - g'), limited to [-limit, limit];  r' is 0 where the reference has no rate
 */
enum { REFERENCE = OF + 1, STIFFNESS, DAMPING, LIMIT };

static const cst_field servo_field[] = {
    OF_FIELD,
    {"reference", CST_F_EXPR, CST_BY_CONTEXT, CST_ANY, NULL,
     "r: where g should be; expression of t, measures and blocks"},
    {"stiffness", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, NULL, "k: N m/rad or N/m"},
    {"damping", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, "0", "c: N m s/rad or N s/m"},
    {"limit", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, "", "largest |F|; default: no limit"},
    {0},
};

static void servo_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id q = cst_build_coordinate(L, &arg[OF], EITHER, NULL), r = arg[REFERENCE].num;
    if (q == CST_NONE) return;
    int follows = !cst_num_depends(g, r, CST_CH_X, 1) && cst_num_rate(g, r) != CST_NONE;
    cst_id r_rate = follows ? cst_num_rate(g, r) : cst_num_const(g, 0);
    cst_id F =
        cst_num_add(g, cst_num_mul(g, arg[STIFFNESS].num, cst_num_sub(g, r, q)),
                    cst_num_mul(g, arg[DAMPING].num, cst_num_sub(g, r_rate, cst_num_rate(g, q))));
    if (arg[LIMIT].given) {
        F = cst_build_at_most(L, F, arg[LIMIT].num);
        F = cst_build_at_least(L, F, cst_num_neg(g, arg[LIMIT].num));
    }
    cst_add_generalised_force(L, name, "servo", where, q, F);
}

const cst_type cst_type_servo = {
    .section = "forces",
    .keyword = "servo",
    .summary =
        "F = k (r - g) + c (r' - g'): moves a joint towards a reference, optionally with a limit",
    .notes = "Use it for references that a drive cannot follow, such as outputs of blocks. r' is "
             "the rate of a reference of time and positions; one that reads velocities or blocks "
             "has none here, and c acts on g' alone.",
    .field = servo_field,
    .build = servo_build,
};
