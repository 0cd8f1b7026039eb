/* SPDX-License-Identifier: MIT
 *
 * Tires on roads: a type for each line of element/tires.def, and the measure of what happens in the
 * contact. */
#include "element/tire.h"
#include "model/types/types.h"
#include "number/tape.h"

#include <assert.h>
#include <math.h>

#define FLAT                                                                                       \
    10 /* degrees between the axis of a wheel and the normal of its road: less is hardly meant */

static cst_id minus(cst_graph *g, cst_id a, cst_id b) { return cst_num_sub(g, a, b); }

static void cross(cst_graph *g, const cst_id a[3], const cst_id b[3], cst_id c[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = minus(g, cst_num_mul(g, a[j], b[k]), cst_num_mul(g, a[k], b[j]));
    }
}

/* n = (-z_x, -z_y, 1)/|.|, rho = (c_z - z) n_z, delta = R sqrt(1 - (n.u)^2) - rho or R - rho: as in
 * element/tire.c */
static void contact_plane(cst_loader *L, cst_tire_seen *s, const cst_id z[4], cst_id R, int upright)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id one = cst_num_const(g, 1), u[3];
    cst_id size = cst_num_sqrt(g, cst_num_add(g, one,
                                              cst_num_add(g, cst_num_mul(g, z[1], z[1]),
                                                          cst_num_mul(g, z[2], z[2]))));
    s->n[2] = cst_num_div(g, one, size);
    s->n[0] = cst_num_neg(g, cst_num_mul(g, z[1], s->n[2]));
    s->n[1] = cst_num_neg(g, cst_num_mul(g, z[2], s->n[2]));
    cst_x(L, s->slot[1], 0, u);
    cst_id lean = cst_num_dot3(g, s->n, u),
           sigma = cst_num_sqrt(g, minus(g, one, cst_num_mul(g, lean, lean)));
    cst_id rho = cst_num_mul(g, minus(g, cst_x1(L, s->slot[0], 2, 0), z[0]), s->n[2]);
    s->delta = minus(g, upright ? R : cst_num_mul(g, R, sigma), rho);
    s->rho = rho, s->z_t = z[3];
    cross(g, u, s->n, s->b);
    for (int i = 0; i < 3; i++) s->b[i] = cst_num_div(g, s->b[i], sigma);
    cross(g, s->n, s->b, s->l);
}

/* z, z_x, z_y, z_t of the road at the wheel centre, with its jumps as events of the wheel */
static void road_at(cst_loader *L, const char *name, cst_where where, cst_id law, const int *slot,
                    cst_id z[4])
{
    cst_graph *g = cst_loader_graph(L);
    cst_id x[3], zero = cst_num_const(g, 0);
    cst_x(L, slot[0], 0, x);
    z[0] = cst_law_at(L, law, x[0], x[1]);
    for (int i = 1; i < 4; i++)
        z[i] =
            cst_num_timed(g, z[0]) ? cst_num_diff(g, z[0], i < 3 ? x[i - 1] : cst_time(L)) : zero;
    cst_switched(L, name, where, 4, z); /* a kink of the height is a jump of the slope */
}

/* Lists of numbers are as long as their defaults. */
static int lists_fit(cst_loader *L, const cst_field *field, const cst_arg *arg)
{
    int fit = 1;
    for (int i = CST_TIRE_FIELD_OWN; field[i].name; i++) {
        int n = 1;
        if (field[i].kind != CST_F_NUMBERS) continue;
        for (const char *c = field[i].dflt; *c; c++) n += *c == ',';
        if (arg[i].nlist == n) continue;
        cst_loader_error(L, arg[i].where, "%s must have %d numbers, not %d", field[i].name, n,
                         arg[i].nlist);
        fit = 0;
    }
    return fit;
}

/* The law's own numbers, from the fields behind the common ones; "if it differs" fields take the
 * number before them. */
static int own_numbers(const cst_field *field, const cst_arg *arg, cst_id *p)
{
    int n = 0;
    for (int i = CST_TIRE_FIELD_OWN; field[i].name; i++) {
        if (field[i].kind == CST_F_NUMBER)
            p[n] = arg[i].num == CST_NONE && n > 0 ? p[n - 1] : arg[i].num, n++;
        for (int j = 0; field[i].kind == CST_F_NUMBERS && j < arg[i].nlist; j++)
            p[n++] = arg[i].list[j];
    }
    return n;
}

static int wheel_slots(cst_loader *L, const cst_arg *arg, int slot[5])
{
    int body = arg[CST_TIRE_FIELD_WHEEL].body[0];
    if (body == CST_GROUND || cst_loader_model(L)->body.at[body].cls != &cst_body_rigid) {
        cst_loader_error(L, arg[CST_TIRE_FIELD_WHEEL].where, "the wheel must be a rigid body");
        return 0;
    }
    const cst_body *b = &cst_loader_model(L)->body.at[body];
    cst_id axis[3];
    slot[0] = arg[CST_TIRE_FIELD_CENTRE].given ? cst_slot_of(L, &arg[CST_TIRE_FIELD_CENTRE], body)
                                               : cst_slot_point(L, body, b->frame);
    cst_build_rotation_axis(L, &arg[CST_TIRE_FIELD_AXIS],
                            axis); /* in a mirrored part it still points to the left */
    slot[1] = cst_slot_direction(L, body, axis);
    cst_slot_triad(L, body, slot + 2);
    return 1;
}

/* Normal of the road at (x, y) in the drawing */
static void drawn_normal(cst_loader *L, cst_id law, const double x[2], double n[3])
{
    cst_arena *a = cst_arena_child(cst_loader_arena(L));
    const cst_tape *t = cst_tape_new(a, cst_loader_graph(L), 1, &law);
    double *reg = cst_new(a, double, t->nreg + 1), *dot = cst_new(a, double, t->nreg + 1), slope[2];
    for (int i = 0; i < t->nnumber; i++) reg[t->nchannel + i] = cst_loader_value(L, t->number[i]);
    for (int i = 0; i < t->nchannel; i++)
        reg[i] = t->channel[i].kind == CST_CH_ARG ? x[t->channel[i].index]
                                                  : cst_loader_model(L)->sim.start;
    cst_tape_eval(t, reg);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < t->nchannel; i++)
            dot[i] = t->channel[i].kind == CST_CH_ARG && t->channel[i].index == k;
        cst_tape_forward(t, reg, dot);
        slope[k] = dot[t->out[0]];
    }
    n[0] = -slope[0], n[1] = -slope[1], n[2] = 1;
    cst_arena_free(a);
}

/* A wheel that lies flat touches nowhere: its circle has no height over the road. */
static void warn_flat(cst_loader *L, const char *name, const cst_arg *arg)
{
    const cst_arg *centre = &arg[CST_TIRE_FIELD_CENTRE];
    const cst_id *at = centre->given
                           ? centre->vec
                           : cst_loader_model(L)->body.at[arg[CST_TIRE_FIELD_WHEEL].body[0]].frame;
    const double x[2] = {cst_loader_value(L, at[0]), cst_loader_value(L, at[1])};
    double n[3], u[3], dot = 0, nn = 0, uu = 0;
    drawn_normal(L, arg[CST_TIRE_FIELD_ROAD].num, x, n);
    for (int i = 0; i < 3; i++) {
        u[i] = cst_loader_value(L, arg[CST_TIRE_FIELD_AXIS].vec[i]);
        dot += n[i] * u[i], nn += n[i] * n[i], uu += u[i] * u[i];
    }
    double degrees = acos(fmin(fabs(dot) / sqrt(nn * uu), 1)) * 180 / CST_PI;
    if (degrees < FLAT)
        cst_loader_warn(L, arg[CST_TIRE_FIELD_AXIS].where,
                        "the wheel of tire '%s' is drawn flat on its road: its axis is %.2g "
                        "degrees from the road's normal, and it does not roll on it",
                        name, degrees);
}

static void build(cst_loader *L, const char *type, const cst_force_class *cls,
                  const cst_field *field, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_tire_seen s = {.relaxed = arg[CST_TIRE_FIELD_RELAX_X].given};
    cst_id zero = cst_num_const(g, 0), one = cst_num_const(g, 1), z[4], p[CST_TIRE_OWN + 64];
    if (!wheel_slots(L, arg, s.slot)) return;
    if (arg[CST_TIRE_FIELD_RELAX_Y].given && !s.relaxed) {
        cst_loader_error(L, arg[CST_TIRE_FIELD_RELAX_Y].where,
                         "lateral_relaxation_length goes with relaxation_length");
        return;
    }
    cst_id relax = s.relaxed ? arg[CST_TIRE_FIELD_RELAX_X].num : one;
    warn_flat(L, name, arg);
    road_at(L, name, where, arg[CST_TIRE_FIELD_ROAD].num, s.slot, z);
    contact_plane(L, &s, z, arg[CST_TIRE_FIELD_RADIUS].num, arg[CST_TIRE_FIELD_INDENT].choice == 1);
    s.contact = cst_add_event(L, name, where, s.delta, 0);
    s.low = p[CST_TIRE_LOW] = arg[CST_TIRE_FIELD_LOW].num;
    p[CST_TIRE_RADIUS] = arg[CST_TIRE_FIELD_RADIUS].num;
    p[CST_TIRE_STIFFNESS] = arg[CST_TIRE_FIELD_STIFFNESS].num;
    p[CST_TIRE_DAMPING] = arg[CST_TIRE_FIELD_DAMPING].num;
    p[CST_TIRE_RELAX_X] = relax;
    p[CST_TIRE_RELAX_Y] =
        arg[CST_TIRE_FIELD_RELAX_Y].given ? arg[CST_TIRE_FIELD_RELAX_Y].num : relax;
    p[CST_TIRE_BELOW] = arg[CST_TIRE_FIELD_POINT].choice == 1 ? one : zero;
    p[CST_TIRE_NOMINAL] = arg[CST_TIRE_FIELD_ROLLING].choice == 1 ? one : zero;
    p[CST_TIRE_UPRIGHT] = arg[CST_TIRE_FIELD_INDENT].choice == 1 ? one : zero;
    s.at_centre = arg[CST_TIRE_FIELD_SLIP].choice == 1;
    p[CST_TIRE_AT_CENTRE] = s.at_centre ? one : zero;
    s.radius = arg[CST_TIRE_FIELD_ROLLING].choice == 1 ? p[CST_TIRE_RADIUS] : s.rho;
    if (!lists_fit(L, field, arg)) return;
    int n = CST_TIRE_OWN + own_numbers(field, arg, p + CST_TIRE_OWN);
    assert(n == cls->np);
    for (int i = 0; i < 2; i++) s.z[i] = cst_state_channel(L, i);
    const cst_id out[CST_ROAD_OUT] = {z[0], z[1], z[2], z[3], s.contact}, rest[2] = {zero, zero};
    s.force = cst_add_taped_force(L, name, type, where, cls, 5, s.slot, n, p, CST_ROAD_OUT, out,
                                  s.relaxed ? 2 : 0, rest);
    cst_tire_remember(L, &s);
    cst_add_wheel(L, arg[CST_TIRE_FIELD_WHEEL].body[0], s.slot[0], s.slot[1],
                  arg[CST_TIRE_FIELD_RADIUS].num, arg[CST_TIRE_FIELD_ROAD].num);
}

#define CST_TIRE(id, keyword_, summary_, notes_)                                                   \
    static void build_##id(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)   \
    {                                                                                              \
        build(L, keyword_, &cst_force_tire_##id, cst_tire_##id##_field, name, where, arg);         \
    }                                                                                              \
    const cst_type cst_type_tire_##id = {                                                          \
        .section = "forces",                                                                       \
        .keyword = keyword_,                                                                       \
        .summary = summary_,                                                                       \
        .notes =                                                                                   \
            notes_ " The road is its tangent plane below the wheel centre. Contact on and off, "   \
                   "and jumps of the road, are "                                                   \
                   "events. The tire pushes only. The measure `tire` shows slips and forces.",     \
        .field = cst_tire_##id##_field,                                                            \
        .build = build_##id,                                                                       \
    };
#include "element/tires.def"
#undef CST_TIRE

/* ---- the measure ---- */

enum { OF };

static const cst_field measure_field[] = {
    {"of", CST_F_ELEMENT, "1", CST_ANY, NULL, "a tire"},
    {0},
};

/* |x| away from zero, (x^2 + w^2)/(2 w) below w */
static cst_id speed(cst_graph *g, cst_id x, cst_id w)
{
    x = cst_num_call(g, "abs", x, CST_NONE, CST_NONE);
    cst_id low = cst_num_div(g, cst_num_add(g, cst_num_mul(g, x, x), cst_num_mul(g, w, w)),
                             cst_num_add(g, w, w));
    return cst_num_call(g, "if", cst_num_call(g, "<", x, w, CST_NONE), low, x);
}

static void slips(cst_loader *L, const cst_tire_seen *s, cst_id *kappa, cst_id *alpha)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id v[3], w[3] = {cst_num_const(g, 0), cst_num_const(g, 0), cst_num_const(g, 0)}, wn[3],
                 half = cst_num_const(g, 0.5);
    *kappa = s->z[0], *alpha = cst_num_call(g, "atan", s->z[1], CST_NONE, CST_NONE);
    if (s->relaxed) return;
    for (int i = 2; i < 5; i++) { /* omega = 1/2 sum e_i x e_i' */
        cst_id e[3], ed[3], c[3];
        cst_x(L, s->slot[i], 0, e), cst_x(L, s->slot[i], 1, ed);
        cross(g, e, ed, c);
        for (int j = 0; j < 3; j++) w[j] = cst_num_add(g, w[j], cst_num_mul(g, half, c[j]));
    }
    cst_x(L, s->slot[0], 1, v);
    v[2] = minus(g, v[2], s->z_t);
    cross(g, w, s->n, wn);
    cst_id along = cst_num_dot3(g, s->b, v), across = cst_num_dot3(g, s->l, v);
    if (!s->at_centre) across = minus(g, across, cst_num_mul(g, s->rho, cst_num_dot3(g, s->l, wn)));
    for (int i = 0; i < 3; i++) wn[i] = minus(g, cst_num_mul(g, s->radius, wn[i]), v[i]);
    cst_id total = cst_num_sqrt(g, cst_num_add(g, cst_num_mul(g, along, along),
                                               cst_num_mul(g, across, across)));
    *kappa = cst_num_div(g, cst_num_dot3(g, s->b, wn), speed(g, along, s->low));
    *alpha = cst_num_neg(g, cst_num_call(g, "asin", cst_num_div(g, across, speed(g, total, s->low)),
                                         CST_NONE, CST_NONE));
}

static void build_measure(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int force = cst_loader_force(L, arg[OF].text, arg[OF].where);
    if (force < 0) return;
    const cst_tire_seen *s = cst_tire_find(L, force);
    if (!s) {
        cst_loader_error(L, arg[OF].where, "'%s' is not a tire", arg[OF].text);
        return;
    }
    cst_id F[3], kappa, alpha, u[3];
    for (int i = 0; i < 3; i++) F[i] = cst_force_channel(L, force, 0, i);
    slips(L, s, &kappa, &alpha);
    cst_x(L, s->slot[1], 0, u);
    int m = cst_measure_begin(L, name, "tire", where);
    cst_measure_add(L, m, "indentation", "m", s->delta);
    cst_measure_add(L, m, "contact", "1", s->contact);
    cst_measure_add(L, m, "normal", "N", cst_num_dot3(g, s->n, F));
    cst_measure_add(L, m, "longitudinal", "N", cst_num_dot3(g, s->b, F));
    cst_measure_add(L, m, "lateral", "N", cst_num_dot3(g, s->l, F));
    cst_measure_add(L, m, "slip", "1", kappa);
    cst_measure_add(L, m, "angle", "rad", alpha);
    cst_measure_add(L, m, "camber", "rad",
                    cst_num_neg(g, cst_num_call(g, "asin", cst_num_dot3(g, s->n, u), CST_NONE,
                                                CST_NONE)));
}

const cst_type cst_type_measure_tire = {
    .section = "measures",
    .keyword = "tire",
    .summary = "contact of a tire: indentation, forces, slips",
    .notes = "Forces along the road's normal, ahead and to the left. slip is positive when "
             "driving; angle is positive when the lateral force is; camber is positive when the "
             "top leans to the left. contact is 1 on the road and 0 above it. Slips are shown "
             "above the road too. With a relaxation length they are the states.",
    .field = measure_field,
    .build = build_measure,
};
