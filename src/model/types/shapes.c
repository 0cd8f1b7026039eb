/* SPDX-License-Identifier: MIT
 *
 * Homogeneous bodies by their shape: bar, cylinder, tube, box, sphere. The body axes are principal
 * axes at the centre of mass. Mass is given or follows from a density. */
#include "model/types/types.h"

#define MASS_FIELDS                                                                                \
    {"mass", CST_F_NUMBER, "kg", CST_NOT_NEGATIVE, "", "mass; or give density"},                   \
    {                                                                                              \
        "density", CST_F_NUMBER, "kg/m^3", CST_NOT_NEGATIVE, "", "density; or give mass"           \
    }
#define RATE_FIELDS                                                                                \
    {"velocity", CST_F_VECTOR, "m/s",                                                              \
     CST_ANY,    "[0, 0, 0]",  "of the middle at the start, ground axes"},                         \
    {                                                                                              \
        "angular_velocity", CST_F_AXIAL, "rad/s", CST_ANY, "[0, 0, 0]",                            \
            "at the start, ground axes"                                                            \
    }
#define PLACE_FIELDS                                                                               \
    {"position", CST_F_POINT, "m", CST_ANY, NULL, "centre when drawn"},                            \
    {                                                                                              \
        "orientation", CST_F_FRAME, "1", CST_ANY, "",                                              \
            "body axes when drawn; default: parallel to the ground axes"                           \
    }

enum { MASS, DENSITY, VELOCITY, ANGULAR_VELOCITY, OWN }; /* the first fields of every shape */

static int read_mass(cst_loader *L, cst_where where, const cst_arg *arg, cst_id volume,
                     cst_id *mass)
{
    if (arg[MASS].given == arg[DENSITY].given) {
        cst_loader_error(L, arg[DENSITY].given ? arg[DENSITY].where : where,
                         "give either mass or density");
        return 0;
    }
    if (arg[DENSITY].given && volume == CST_NONE) {
        cst_loader_error(L, arg[DENSITY].where, "a density needs a radius");
        return 0;
    }
    *mass = arg[MASS].given ? arg[MASS].num
                            : cst_num_mul(cst_loader_graph(L), arg[DENSITY].num, volume);
    return 1;
}

/* inertia: m times the principal squared radii of gyration */
static int add_body(cst_loader *L, const char *name, const char *type, cst_where where,
                    const cst_arg *arg, const cst_id frame[12], cst_id mass,
                    const cst_id gyration[3])
{
    cst_rigid_def d = {.mass = mass};
    cst_build_const3(L, 0, 0, 0, d.com);
    cst_build_const3(L, 0, 0, 0, d.inertia + 3);
    cst_build_scale3(L, mass, gyration, d.inertia);
    for (int i = 0; i < 12; i++) d.frame[i] = frame[i];
    for (int i = 0; i < 3; i++)
        d.velocity[i] = arg[VELOCITY].vec[i], d.spin[i] = arg[ANGULAR_VELOCITY].vec[i];
    d.written =
        (arg[VELOCITY].given ? CST_VELOCITY : 0) | (arg[ANGULAR_VELOCITY].given ? CST_SPIN : 0);
    return cst_add_rigid(L, name, type, where, &d);
}

/* ---- along a line: bar, cylinder, tube ----
 *
 * length l, radii R and r (inner):
 *     axial m (R^2 + r^2)/2,   across m (3 (R^2 + r^2) + l^2)/12,   volume pi (R^2 - r^2) l
 */
enum { FROM = OWN, TO, RADIUS, INNER };

static void line_build(cst_loader *L, const char *name, const char *type, cst_where where,
                       const cst_arg *arg, cst_id R, cst_id r)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id d[3], frame[12], gyration[3], mass, half = cst_num_const(g, 0.5),
                                               twelfth = cst_num_const(g, 1.0 / 12);
    cst_build_sub3(L, arg[TO].vec, arg[FROM].vec, d);
    cst_id l2 = cst_num_dot3(g, d, d);
    if (!(cst_loader_value(L, l2) > 0)) {
        cst_loader_error(L, where, "from and to are the same point");
        return;
    }
    cst_build_add3(L, arg[FROM].vec, arg[TO].vec, frame);
    cst_build_scale3(L, half, frame, frame);
    cst_build_derive(L, &cst_vop_frame_axis, 3, d, 9, frame + 3);

    cst_id sum = cst_num_const(g, 0), volume = CST_NONE;
    if (R != CST_NONE) {
        cst_id R2 = cst_num_mul(g, R, R),
               r2 = r != CST_NONE ? cst_num_mul(g, r, r) : cst_num_const(g, 0);
        sum = cst_num_add(g, R2, r2);
        volume = cst_num_mul(g, cst_num_mul(g, cst_num_const(g, CST_PI), cst_num_sub(g, R2, r2)),
                             cst_num_sqrt(g, l2));
    }
    gyration[0] = cst_num_mul(g, half, sum);
    gyration[1] =
        cst_num_mul(g, twelfth, cst_num_add(g, cst_num_mul(g, cst_num_const(g, 3), sum), l2));
    gyration[2] = gyration[1];
    if (!read_mass(L, where, arg, volume, &mass)) return;
    const cst_id size[3] = {cst_num_sqrt(g, l2), R, r};
    cst_add_shape(L, CST_SHAPE_LINE, add_body(L, name, type, where, arg, frame, mass, gyration),
                  size);
}

#define LINE_FIELDS                                                                                \
    MASS_FIELDS, RATE_FIELDS,                                                                      \
        {"from", CST_F_POINT, "m", CST_ANY, NULL, "one end of the axis, when drawn"},              \
    {                                                                                              \
        "to", CST_F_POINT, "m", CST_ANY, NULL, "the other end"                                     \
    }
#define LINE_NOTES                                                                                 \
    "Origin and centre of mass in the middle, first body axis from `from` to `to`. Both ends are " \
    "flat."

static const cst_field bar_field[] = {
    LINE_FIELDS,
    {"radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "",
     "radius of the cross section; default: a slender bar"},
    {0},
};

static void bar_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    line_build(L, name, "bar", where, arg, arg[RADIUS].given ? arg[RADIUS].num : CST_NONE,
               CST_NONE);
}

const cst_type cst_type_bar = {
    .section = "bodies",
    .keyword = "bar",
    .summary = "straight homogeneous bar between two points",
    .notes =
        LINE_NOTES " A slender bar has no inertia about its axis: joints must prevent its spin.",
    .field = bar_field,
    .build = bar_build,
};

static const cst_field cylinder_field[] = {
    LINE_FIELDS,
    {"radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, NULL, "radius"},
    {0},
};

static void cylinder_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    line_build(L, name, "cylinder", where, arg, arg[RADIUS].num, CST_NONE);
}

const cst_type cst_type_cylinder = {
    .section = "bodies",
    .keyword = "cylinder",
    .summary = "solid homogeneous cylinder between two points",
    .notes = LINE_NOTES,
    .field = cylinder_field,
    .build = cylinder_build,
};

static const cst_field tube_field[] = {
    LINE_FIELDS,
    {"outer_radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, NULL, "outer radius"},
    {"inner_radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, NULL,
     "inner radius, at most the outer one"},
    {0},
};

static void tube_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    if (cst_loader_value(L, arg[INNER].num) > cst_loader_value(L, arg[RADIUS].num))
        cst_loader_error(L, arg[INNER].where, "inner_radius is larger than outer_radius");
    else
        line_build(L, name, "tube", where, arg, arg[RADIUS].num, arg[INNER].num);
}

const cst_type cst_type_tube = {
    .section = "bodies",
    .keyword = "tube",
    .summary = "homogeneous tube between two points",
    .notes = LINE_NOTES,
    .field = tube_field,
    .build = tube_build,
};

/* ---- at a place: box, sphere ---- */

enum { POSITION = OWN, ORIENTATION, SIZE };

static void place_of(cst_loader *L, const cst_arg *arg, cst_id frame[12])
{
    const cst_arg *o = &arg[ORIENTATION];
    for (int i = 0; i < 3; i++) frame[i] = arg[POSITION].vec[i];
    for (int i = 0; i < 9; i++)
        frame[3 + i] = o->given ? o->frame[i] : cst_num_const(cst_loader_graph(L), i % 4 == 0);
}

static const cst_field box_field[] = {
    MASS_FIELDS,
    RATE_FIELDS,
    PLACE_FIELDS,
    {"size", CST_F_NUMBERS, "m", CST_NOT_NEGATIVE, NULL, "[a, b, c]: edges along the body axes"},
    {0},
};

/* edges s_i:  I_i = m (s_j^2 + s_k^2)/12 */
static void box_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    if (arg[SIZE].nlist != 3) {
        cst_loader_error(L, arg[SIZE].where, "size needs 3 numbers, not %d", arg[SIZE].nlist);
        return;
    }
    const cst_id *s = arg[SIZE].list;
    cst_id frame[12], gyration[3], mass, volume = cst_num_mul(g, s[0], cst_num_mul(g, s[1], s[2]));
    for (int i = 0; i < 3; i++) {
        cst_id b = s[(i + 1) % 3], c = s[(i + 2) % 3],
               sum = cst_num_add(g, cst_num_mul(g, b, b), cst_num_mul(g, c, c));
        gyration[i] = cst_num_mul(g, cst_num_const(g, 1.0 / 12), sum);
    }
    place_of(L, arg, frame);
    if (read_mass(L, where, arg, volume, &mass))
        cst_add_shape(L, CST_SHAPE_BOX, add_body(L, name, "box", where, arg, frame, mass, gyration),
                      s);
}

const cst_type cst_type_box = {
    .section = "bodies",
    .keyword = "box",
    .summary = "homogeneous box",
    .notes = "Origin and centre of mass in the middle, body axes along the edges.",
    .field = box_field,
    .build = box_build,
};

static const cst_field sphere_field[] = {
    MASS_FIELDS,  RATE_FIELDS,
    PLACE_FIELDS, {"radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, NULL, "radius"},
    {0},
};

/* I = 2/5 m R^2,  V = 4/3 pi R^3 */
static void sphere_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id R = arg[SIZE].num, R2 = cst_num_mul(g, R, R), frame[12], mass;
    cst_id k = cst_num_mul(g, cst_num_const(g, 0.4), R2), gyration[3] = {k, k, k};
    cst_id volume = cst_num_mul(g, cst_num_const(g, 4 * CST_PI / 3), cst_num_mul(g, R2, R));
    place_of(L, arg, frame);
    const cst_id size[3] = {R, CST_NONE, CST_NONE};
    if (read_mass(L, where, arg, volume, &mass))
        cst_add_shape(L, CST_SHAPE_SPHERE,
                      add_body(L, name, "sphere", where, arg, frame, mass, gyration), size);
}

const cst_type cst_type_sphere = {
    .section = "bodies",
    .keyword = "sphere",
    .summary = "solid homogeneous sphere",
    .notes = "Origin and centre of mass in the middle.",
    .field = sphere_field,
    .build = sphere_build,
};
