/* SPDX-License-Identifier: MIT
 *
 * Bodies, joints, drives and starts of random mechanisms. Included by random_model.h. */
#ifndef CST_TESTS_RANDOM_PARTS_H
#define CST_TESTS_RANDOM_PARTS_H

/* ---- bodies ---- */

/* axes by columns of B, in one of the ways to write them */
static inline void random_orientation(random_model *g, const double B[9])
{
    double E[9], q[4];
    for (int k = 0; k < 3; k++) {
        double c[3] = {B[k], B[3 + k], B[6 + k]}, y[3];
        random_place(g, c, 0, y);
        for (int i = 0; i < 3; i++) E[3 * i + k] = y[i];
    }
    /* 4 q q^T, of which the longest column is taken */
    const double K[4][4] = {{1 + E[0] + E[4] + E[8], E[7] - E[5], E[2] - E[6], E[3] - E[1]},
                            {E[7] - E[5], 1 + E[0] - E[4] - E[8], E[1] + E[3], E[2] + E[6]},
                            {E[2] - E[6], E[1] + E[3], 1 - E[0] + E[4] - E[8], E[5] + E[7]},
                            {E[3] - E[1], E[2] + E[6], E[5] + E[7], 1 - E[0] - E[4] + E[8]}};
    int most = 0;
    for (int i = 1; i < 4; i++)
        if (K[i][i] > K[most][most]) most = i;
    for (int i = 0; i < 4; i++) q[i] = K[most][i] / (2 * sqrt(K[most][most]));
    char *to = g->bodies;
    switch (random_of(g, 4)) {
    case 0:
        random_add(to, ", orientation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}", q[0], q[1],
                   q[2], q[3]);
        break;
    case 1: {
        double s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        random_add(to, ", orientation: {axis: [%.17g, %.17g, %.17g], angle: %.17g}", q[1] / s,
                   q[2] / s, q[3] / s, 2 * atan2(s, q[0]));
        break;
    }
    case 2:
        random_add(to, ", orientation: {x: [%.17g, %.17g, %.17g], y: [%.17g, %.17g, %.17g]}", E[0],
                   E[3], E[6], E[1], E[4], E[7]);
        break;
    default:
        random_add(to,
                   ", orientation: {matrix: [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g], [%.17g, "
                   "%.17g, %.17g]]}",
                   E[0], E[1], E[2], E[3], E[4], E[5], E[6], E[7], E[8]);
    }
}

/* Inertia about the centre of mass with principal values that a body can have; written about com or
 * origin c. */
static inline void random_inertia(random_model *g, random_body *b, const double c[3])
{
    double a[3], *I = b->inertia;
    int about_origin = random_is(g, 0.3);
    for (int i = 0; i < 3; i++) a[i] = random_in(g, 0.05, 0.2);
    for (int i = 0; i < 3; i++) I[i] = b->mass * (a[(i + 1) % 3] + a[(i + 2) % 3]) / 2;
    for (int i = 3; i < 6; i++) I[i] = b->mass * random_in(g, -0.01, 0.01);
    static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
    random_add(g->bodies, ", mass: ");
    random_number(g, g->bodies, b->mass);
    random_add(g->bodies, ", inertia: [");
    for (int i = 0; i < 6; i++) {
        double steiner = b->mass * ((i < 3) * random_dot(c, c) - c[row[i]] * c[col[i]]);
        if (i) random_add(g->bodies, ", ");
        random_number(g, g->bodies, I[i] + (about_origin ? steiner : 0));
    }
    random_add(g->bodies, "], inertia_about: %s", about_origin ? "origin" : "com");
}

static inline void random_rigid(random_model *g, random_body *b, const char *type)
{
    double B[9], c[3], origin[3], l[3];
    random_rotation(g, B);
    for (int i = 0; i < 3; i++) c[i] = random_in(g, -0.2, 0.2), l[i] = random_in(g, -0.5, 0.5);
    int shape = strcmp(type, "rigid") != 0;
    for (int i = 0; i < 3; i++) {
        if (shape) c[i] = 0;
        origin[i] = b->com[i];
        b->local_at[i] = 0;
    }
    for (int i = 0; i < 3; i++) origin[i] -= random_dot(B + 3 * i, c);
    for (int i = 0; i < 3; i++) b->local_at[i] = origin[i] + random_dot(B + 3 * i, l);
    b->local = 1;
    random_add(g->bodies, "  %s: {type: %s, position: ", b->name, type);
    random_vector(g, g->bodies, origin, 1);
    random_orientation(g, B);
    random_add(g->bodies, ", points: {L: [%.17g, %.17g, %.17g]}", l[0], l[1], l[2]);
    if (!shape) {
        random_add(g->bodies, ", com: ");
        if (random_is(g, 0.5))
            random_vector(g, g->bodies, b->com, 1);
        else
            random_add(g->bodies, "{local: [%.17g, %.17g, %.17g]}", c[0], c[1], c[2]);
        random_inertia(g, b, c);
    } else if (strcmp(type, "box") == 0) {
        double s[3];
        random_add(g->bodies, ", size: [");
        for (int i = 0; i < 3; i++) {
            if (i) random_add(g->bodies, ", ");
            random_number(g, g->bodies, s[i] = random_in(g, 0.3, 0.8));
        }
        random_add(g->bodies, "], density: ");
        b->mass = 5 * s[0] * s[1] * s[2];
        random_number(g, g->bodies, 5);
        for (int i = 0; i < 3; i++)
            b->inertia[i] =
                b->mass / 12 * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]);
    } else {
        double R = random_in(g, 0.3, 0.6);
        random_add(g->bodies, ", radius: ");
        random_number(g, g->bodies, R);
        random_add(g->bodies, ", mass: ");
        random_number(g, g->bodies, b->mass);
        for (int i = 0; i < 3; i++) b->inertia[i] = 0.4 * b->mass * R * R;
    }
}

static inline void random_line_body(random_model *g, random_body *b, const char *type, int slender)
{
    int k = (int)(b - g->body);
    random_add(g->bodies, "  %s: {type: %s, from: P%d, to: Q%d, mass: ", b->name, type, k, k);
    random_number(g, g->bodies, b->mass);
    if (!slender) {
        random_add(g->bodies, ", %s: ", strcmp(type, "tube") ? "radius" : "outer_radius");
        random_number(g, g->bodies, random_in(g, 0.2, 0.4));
        if (strcmp(type, "tube") == 0)
            random_add(g->bodies, ", inner_radius: %.17g", random_in(g, 0.05, 0.15));
    }
    for (int i = 0; i < 3; i++) b->com[i] = (b->at[i] + b->far[i]) / 2;
}

/* A body through the places at and far; its points P and Q are hardpoints. */
static inline int random_body_add(random_model *g, int parent, const double at[3],
                                  const double far[3], int slender)
{
    int k = g->nbody++;
    random_body *b = &g->body[k];
    *b = (random_body){.parent = parent, .axes = 1, .mass = random_in(g, 0.5, 2), .joint = ""};
    random_set(b->name, "b%d", k);
    for (int i = 0; i < 3; i++) b->at[i] = at[i], b->far[i] = far[i];
    random_near(g, at, 0.2, 0.5, b->com);
    switch (slender ? 6 : random_of(g, 6)) {
    case 0:
    case 1:
        random_rigid(g, b, "rigid");
        break;
    case 2:
        random_rigid(g, b, "box");
        break;
    case 3:
        random_rigid(g, b, "sphere");
        break;
    case 4:
        random_line_body(g, b, "cylinder", 0);
        break;
    case 5:
        random_line_body(g, b, random_is(g, 0.5) ? "tube" : "bar", 0);
        break;
    default:
        random_line_body(g, b, "bar", 1);
    }
    if (random_is(g, 0.6)) {
        double v[3], w[3];
        random_unit(g, v), random_unit(g, w);
        random_add(g->bodies, ", velocity: ");
        random_vector(g, g->bodies, v, 0);
        random_add(g->bodies, ", angular_velocity: ");
        random_vector(g, g->bodies, w, 0);
    }
    random_add(g->bodies, "}\n");
    return k;
}

static inline int random_mass_point(random_model *g, int parent, const double at[3])
{
    int k = g->nbody++;
    random_body *b = &g->body[k];
    *b = (random_body){.parent = parent, .mass = random_in(g, 0.5, 2), .joint = ""};
    random_set(b->name, "b%d", k);
    for (int i = 0; i < 3; i++) b->at[i] = b->com[i] = at[i];
    random_add(g->bodies, "  %s: {type: point, position: P%d, mass: ", b->name, k);
    random_number(g, g->bodies, b->mass);
    double v[3];
    random_unit(g, v);
    random_add(g->bodies, ", velocity: ");
    random_vector(g, g->bodies, v, 0);
    random_add(g->bodies, "}\n");
    return k;
}

/* A point of a body (a new one on the ground): its name, and where it is drawn */
static inline void random_point(random_model *g, int body, char name[24], double x[3])
{
    if (body < 0) {
        static const double zero[3] = {0};
        random_near(g, zero, 0.5, 2, x);
        random_add(g->points, "  G%d: ", g->nname);
        random_vector(g, g->points, x, 1);
        random_add(g->points, "\n");
        random_set_in(name, 24, "ground.G%d", g->nname++);
        return;
    }
    const random_body *b = &g->body[body];
    int which = !b->axes ? 0 : random_of(g, b->local ? 4 : 3);
    const double *const place[4] = {b->at, b->far, b->com, b->local_at};
    for (int i = 0; i < 3; i++) x[i] = place[which][i];
    if (which < 2)
        random_set_in(name, 24, "%s.%c%d", b->name, "PQ"[which], body % 100);
    else
        random_set_in(name, 24, "%s.%s", b->name, which == 2 ? "com" : "L");
}

static inline void random_hardpoint(random_model *g, char letter, int k, const double x[3])
{
    random_add(g->points, "  %c%d: ", letter, k);
    random_vector(g, g->points, x, 1);
    random_add(g->points, "\n");
}

/* ---- joints ---- */

static inline random_element *random_joint_begin(random_model *g, int a, int b, const char *type)
{
    random_element *j = &g->joint[g->njoint];
    *j = (random_element){.body = {a, b}};
    random_set(j->name, "j%d", g->njoint++);
    random_add(g->joints, "  %s: {type: %s", j->name, type);
    return j;
}

static inline void random_field(random_model *g, const char *field, const double v[3])
{
    random_add(g->joints, ", %s: ", field);
    random_vector(g, g->joints, v, 0);
}

/* at the point P of body b, the second */
static inline void random_joint_at(random_model *g, const char *type, int a, int b,
                                   const char *point, const double n[3])
{
    double u[3];
    random_element *j = random_joint_begin(g, a, b, type);
    const char *axis = strcmp(type, "planar") == 0 ? "normal" : "axis";
    random_add(g->joints, ", between: [%s, %s], at: %s", random_name(g, a), random_name(g, b),
               point);
    for (int k = 0; k < 2; k++) random_set(j->point[k], "%s.%s", random_name(g, j->body[k]), point);
    if (strcmp(type, "universal") == 0) {
        random_across(g, n, u);
        random_field(g, "axis_1", n);
        random_field(g, "axis_2", u);
    } else if (strcmp(type, "spherical") != 0 && strcmp(type, "fixed") != 0) {
        random_field(g, axis, n);
    }
    random_add(g->joints, "}\n");
}

static inline void random_guide(random_model *g, int a, int b)
{
    double x[2][3], n[3], u[3];
    random_element *j;
    int oriented = b >= 0 && g->body[b].axes && (a < 0 || g->body[a].axes);
    char p[2][24];
    random_unit(g, n);
    random_across(g, n, u);
    random_point(g, a, p[0], x[0]), random_point(g, b, p[1], x[1]);
    const char *on = random_name(g, a), *second = p[1];
    switch (random_of(g, oriented ? 6 : 4)) {
    case 0:
        j = random_joint_begin(g, a, b, "distance");
        random_add(g->joints, ", from: %s, to: %s", p[0], p[1]);
        break;
    case 1:
        j = random_joint_begin(g, a, b, "point-on-line");
        random_add(g->joints, ", of: %s, on: %s", second, on);
        random_field(g, "axis", n);
        break;
    case 2:
        j = random_joint_begin(g, a, b, "point-on-plane");
        random_add(g->joints, ", of: %s, on: %s", second, on);
        random_field(g, "normal", n);
        break;
    case 3:
        j = random_joint_begin(g, a, b, "in-plane");
        random_add(g->joints, ", from: %s, to: %s", p[0], p[1]);
        random_field(g, "normal", n);
        break;
    default:
        j = random_joint_begin(g, a, b, random_is(g, 0.5) ? "dot" : "constant-angle");
        random_add(g->joints, ", between: [%s, %s]", on, random_name(g, b));
        for (int i = 0; i < 3; i++) u[i] += 0.3 * n[i];
        random_field(g, "axis_1", n);
        random_field(g, "axis_2", u);
        random_add(g->joints, "}\n");
        return;
    }
    random_add(g->joints, "}\n");
    for (int k = 0; k < 2; k++) random_set(j->point[k], "%s", p[k]);
}

/* The joint of a body to its parent. */
static inline void random_join(random_model *g, int k)
{
    static const char *const types[] = {"revolute",  "revolute",    "revolute",  "spherical",
                                        "universal", "cylindrical", "prismatic", "planar",
                                        "fixed",     "coincident",  "guide",     "free"};
    random_body *b = &g->body[k];
    char point[8];
    random_set(point, "P%d", k % 100);
    random_unit(g, b->axis);
    if (!b->axes || (b->parent >= 0 && !g->body[b->parent].axes)) {
        random_guide(g, b->parent, k);
        b->joint = "guide";
        return;
    }
    b->joint = types[random_of(g, sizeof types / sizeof *types)];
    if (strcmp(b->joint, "guide") == 0) {
        random_guide(g, b->parent, k);
    } else if (strcmp(b->joint, "coincident") == 0) {
        random_element *j = random_joint_begin(g, b->parent, k, "coincident");
        for (int i = 0; i < 2; i++)
            random_set(j->point[i], "%s.%s", random_name(g, i ? k : b->parent), point);
        random_add(g->joints, ", from: %s, to: %s}\n", j->point[0], j->point[1]);
    } else if (strcmp(b->joint, "free") != 0) {
        random_joint_at(g, b->joint, b->parent, k, point, b->axis);
    }
    if (strcmp(b->joint, "cylindrical") == 0 &&
        random_is(g, 0.3)) { /* a prismatic joint in two pieces */
        random_joint_begin(g, b->parent, k, "rotation");
        random_add(g->joints, ", between: [%s, %s]", random_name(g, b->parent), b->name);
        random_field(g, "axis", b->axis);
        random_add(g->joints, "}\n");
        b->joint = "prismatic";
    }
}

static inline int random_hinged(const random_body *b)
{
    return strcmp(b->joint, "revolute") == 0 || strcmp(b->joint, "cylindrical") == 0;
}

static inline int random_loose(const random_body *b) /* two freedoms or more against its parent */
{
    static const char *const types[] = {"spherical", "universal", "planar",     "coincident",
                                        "guide",     "free",      "cylindrical"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(b->joint, types[i]) == 0) return 1;
    return 0;
}

/* ---- coordinates: what drives, laws, gears and the start read ---- */

static inline void random_coordinate(random_model *g, double drawn, char letter, int k)
{
    random_set(g->coordinate[g->ncoordinate], "%c%d", letter, k);
    const char *name = g->coordinate[g->ncoordinate];
    g->drawn[g->ncoordinate++] = drawn;
    random_component(g, "%s", name);
    random_component(g, "%s.rate", name);
    random_component(g, "%s.acceleration", name);
    random_invariant(g, name);
}

/* the angle of a hinged body against its parent; its number among the coordinates */
static inline int random_angle(random_model *g, int k)
{
    const random_body *b = &g->body[k];
    int name = g->nname++;
    random_add(g->measures, "  a%d: {type: angle, between: [%s, %s], axis: ", name,
               random_name(g, b->parent), b->name);
    random_vector(g, g->measures, b->axis, 0);
    random_add(g->measures, "}\n");
    random_coordinate(g, 0, 'a', name);
    return g->ncoordinate - 1;
}

static inline int random_distance_of(random_model *g, char p[2][24], double x[2][3])
{
    double l = 0;
    for (int i = 0; i < 3; i++) l += (x[1][i] - x[0][i]) * (x[1][i] - x[0][i]);
    int name = g->nname++;
    random_add(g->measures, "  d%d: {type: distance, from: %s, to: %s}\n", name, p[0], p[1]);
    random_coordinate(g, sqrt(l), 'd', name);
    return g->ncoordinate - 1;
}

static inline int random_distance(random_model *g, int a, int b)
{
    char p[2][24];
    double x[2][3];
    random_point(g, a, p[0], x[0]), random_point(g, b, p[1], x[1]);
    return random_distance_of(g, p, x);
}

/* a direction across the line from P to Q: that of Q when the body turns about P */
static inline void random_across_far(random_model *g, const random_body *b, double u[3])
{
    double n[3], l = 0;
    for (int i = 0; i < 3; i++) n[i] = b->far[i] - b->at[i], l += n[i] * n[i];
    for (int i = 0; i < 3; i++) n[i] /= sqrt(l);
    random_across(g, n, u);
}

/* from the ground to the far point Q of a body that turns about its point P, across the line from P
 * to Q */
static inline int random_reach(random_model *g, int k)
{
    const random_body *b = &g->body[k];
    char p[2][24];
    double x[2][3], u[3];
    random_across_far(g, b, u);
    for (int i = 0; i < 3; i++) x[0][i] = b->far[i] + 1.3 * u[i], x[1][i] = b->far[i];
    random_set(p[0], "ground.G%d", g->nname);
    random_set(p[1], "%s.Q%d", b->name, k);
    random_hardpoint(g, 'G', g->nname++, x[0]);
    return random_distance_of(g, p, x);
}

#endif
