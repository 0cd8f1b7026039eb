/* SPDX-License-Identifier: MIT
 *
 * Drives, starts, measures and objectives of random mechanisms, and the mechanisms as a whole.
 * Included by random_model.h. */
#ifndef CST_TESTS_RANDOM_SCENE_H
#define CST_TESTS_RANDOM_SCENE_H

/* ---- drives and gears ---- */

static inline void random_law_of_time(random_model *g, double x)
{
    char *to = g->joints;
    random_add(to, "\"");
    random_number(g, to, x);
    switch (random_of(g, 5)) {
    case 0:
        random_add(to, " + %.3f*sin(%.3f*t)", random_in(g, -0.05, 0.05), random_in(g, 1, 6));
        break;
    case 1: { /* the acceleration jumps */
        double T = random_in(g, 0.03, 0.17);
        random_add(to,
                   random_is(g, 0.5) ? " + %.3f*max(0, t - %.5f)^2"
                                     : " + %.3f*if(t > %.5f, (t - %.5f)^2, 0)",
                   random_in(g, -0.5, 0.5), T, T);
        break;
    }
    case 2:
        random_add(to, " + %.3f*smoothstep(t, %.5f, 0.7)", random_in(g, 0.02, 0.06),
                   random_in(g, -0.3, 0.15));
        break;
    case 3:
        random_add(to, " + %.3f*t + %.3f*t^2", random_in(g, -0.2, 0.2), random_in(g, -0.3, 0.3));
        break;
    default:
        random_add(to, " + %.3f*step5(t, -0.3, 0.7)", random_in(g, 0.02, 0.06));
    }
    random_add(to, "\"");
}

/* power into the system: torque times rate, -tension times rate, .. */
static inline void random_power(random_model *g, const char *reaction, const char *of,
                                const char *rate)
{
    random_add(g->measures, "  power%d: \"%s%s*%s\"\n", g->npower++, of[0] == 't' ? "-" : "",
               reaction, rate);
}

static inline void random_drive(random_model *g, int k)
{
    random_body *b = &g->body[k];
    char p[2][24], reaction[40], rate[40];
    double x[2][3], l = 0, n[3];
    if (random_hinged(b) && random_is(g, 0.8)) {
        int c = random_angle(g, k), general = g->o.forces == RANDOM_ALL && random_is(g, 0.4);
        random_element *j = random_joint_begin(g, b->parent, k, general ? "drive" : "drive-angle");
        if (general) {
            random_add(g->joints, ", of: %s, between: [%s, %s], value: ", g->coordinate[c],
                       random_name(g, b->parent), b->name);
        } else {
            random_add(g->joints, ", between: [%s, %s], angle: ", random_name(g, b->parent),
                       b->name);
        }
        random_law_of_time(g, 0.1);
        if (!general) random_field(g, "axis", b->axis);
        random_add(g->joints, "}\n");
        if (!general) {
            random_set(reaction, "R%s.drive", j->name);
            random_set(rate, "%s.rate", g->coordinate[c]);
            random_power(g, reaction, "drive", rate);
        }
        b->joint = "driven";
        return;
    }
    if (!random_loose(b) || strcmp(b->joint, "guide") == 0 || strcmp(b->joint, "planar") == 0)
        return; /* a point in a plane soon comes to the end of its reach */
    random_point(g, b->parent, p[0], x[0]);
    random_set(p[1], "%s.Q%d", b->name, k);
    memcpy(x[1], b->far, sizeof b->far);
    for (int i = 0; i < 3; i++) l += (x[1][i] - x[0][i]) * (x[1][i] - x[0][i]);
    if (random_is(g, 0.5) || (b->parent >= 0 && !g->body[b->parent].axes)) {
        random_element *j = random_joint_begin(g, b->parent, k, "drive-distance");
        random_add(g->joints, ", from: %s, to: %s, length: ", p[0], p[1]);
        random_law_of_time(g, sqrt(l));
        random_add(g->joints, "}\n");
        random_add(g->measures, "  l%s: {type: distance, from: %s, to: %s}\n", j->name, p[0], p[1]);
        random_set(reaction, "R%s.tension", j->name);
        random_set(rate, "l%s.rate", j->name);
        random_power(g, reaction, "tension", rate);
        for (int i = 0; i < 2; i++) random_set(j->point[i], "%s", p[i]);
    } else if (b->parent < 0) {
        random_element *j = random_joint_begin(g, -1, k, "drive-coordinate");
        random_across_far(g, b, n);
        random_add(g->joints, ", of: %s, origin: ", p[1]);
        random_vector(g, g->joints, x[1], 1);
        random_field(g, "direction", n);
        random_add(g->joints, ", value: ");
        random_law_of_time(g, 0.05);
        random_add(g->joints, "}\n");
        double y[3];
        random_place(g, n, 0, y);
        random_add(g->measures, "  v%s: {type: velocity, of: %s}\n", j->name, p[1]);
        random_set(reaction, "R%s.drive", j->name);
        random_set(rate, "u%s", j->name);
        random_add(g->measures, "  u%s: \"dot(v%s, [%.17g, %.17g, %.17g])\"\n", j->name, j->name,
                   y[0], y[1], y[2]);
        random_power(g, reaction, "drive", rate);
        for (int i = 0; i < 2; i++) random_set(j->point[i], "%s", p[1]);
    }
    b->joint = "driven";
}

/* a scalar body that an angle or a distance turns */
static inline void random_gear(random_model *g, int k)
{
    const random_body *b = &g->body[k];
    if (!random_hinged(b)) return;
    int c = random_angle(g, k), s = g->nname++;
    double ratio = random_in(g, 1, 3);
    random_add(g->bodies, "  s%d: {type: scalar, inertia: ", s);
    random_number(g, g->bodies, random_in(g, 0.1, 0.5));
    random_add(g->bodies, ", value: %.17g, rate: %.17g}\n", 0.1 * ratio, random_in(g, -1, 1));
    random_add(g->measures, "  w%d: {type: coordinate, of: s%d}\n", s, s);
    random_coordinate(g, 0.1 * ratio, 'w', s);
    random_joint_begin(g, b->parent, k, "coupling");
    random_add(g->joints, ", of: \"w%d - ", s);
    random_number(g, g->joints, ratio);
    random_add(g->joints, "*%s\", value: 0.05, between: [%s, %s]}\n", g->coordinate[c],
               random_name(g, b->parent), b->name);
    if (g->o.forces != RANDOM_ALL) return;
    random_add(g->forces,
               "  push%d: {type: stop, of: w%d, upper: -3, stiffness: 2, damping: 0.1}\n", s, s);
}

/* ---- the start ---- */

static inline void random_start(random_model *g)
{
    for (int k = 0; k < g->nbody; k++) {
        const random_body *b = &g->body[k];
        if (random_is(g, 0.5)) continue;
        if (g->o.kind == RANDOM_GEARED || g->o.kind == RANDOM_CLOSED)
            continue; /* freedoms are not known */
        int c = -1;
        if (random_hinged(b))
            c = random_angle(g, k);
        else if (random_loose(b) && strcmp(b->joint, "guide") != 0 &&
                 strcmp(b->joint, "cylindrical") != 0)
            c = random_reach(g, k);
        if (c < 0) continue;
        if (random_is(g, 0.6) && g->o.kind != RANDOM_SPATIAL) { /* whose reach is not known */
            random_add(g->positions, "    %s: ", g->coordinate[c]);
            random_number(g, g->positions, g->drawn[c] + random_in(g, -0.05, 0.05));
            random_add(g->positions, "\n");
        }
        if (random_is(g, 0.6)) {
            random_add(g->velocities, "    %s%s: ", g->coordinate[c],
                       random_is(g, 0.5) ? ".rate" : "");
            random_number(g, g->velocities, random_in(g, -1, 1));
            random_add(g->velocities, "\n");
        }
        if (g->o.kind == RANDOM_PLANAR || g->o.kind == RANDOM_SPATIAL) return;
    }
}

/* ---- measures ---- */

static inline void random_measure(random_model *g, const char *name, int k, const char *type,
                                  const char *of, const char *rest)
{
    char full[24], e[80];
    random_add(g->measures, "  %s%d: {type: %s, of: %s%s}\n", name, k, type, of, rest);
    random_set(full, "%s%d", name, k);
    random_xyz(g, full);
    if (strcmp(type, "position") == 0)
        random_set(e, "norm(%s - O)", full);
    else
        random_set(e, "norm(%s)", full);
    if (!*rest) random_invariant(g, e);
}

static inline void random_measures(random_model *g)
{
    int unique = g->o.kind != RANDOM_PLANAR && !g->o.doubled;
    char p[24], in[40] = "";
    double x[3];
    for (int k = 0; k < g->nbody; k++) {
        const random_body *b = &g->body[k];
        random_point(g, k, p, x);
        random_measure(g, "p", k, "position", p, "");
        random_measure(g, "v", k, "velocity", p, "");
        random_measure(g, "acc", k, "acceleration", p, "");
        for (int i = 0; i < g->nbody; i++)
            if (g->body[i].local && i != k) random_set(in, ", in: %s", g->body[i].name);
        random_measure(g, "pin", k, random_is(g, 0.5) ? "displacement" : "position", p, in);
        if (!b->axes) continue;
        random_measure(g, "w", 100 + k, "angular-velocity", b->name, "");
        random_measure(g, "al", k, "angular-acceleration", b->name, in);
        random_add(g->measures, "  e%d: {type: orientation, of: %s%s}\n", k, b->name, in);
        for (int i = 0; i < 9; i++) random_component(g, "e%d.e%d.%c", k, 1 + i / 3, "xyz"[i % 3]);
    }
    for (int k = 0; k < g->njoint; k++) {
        const random_element *j = &g->joint[k];
        char e[80];
        random_add(g->measures, "  R%s: {type: reaction, of: %s}\n", j->name, j->name);
        if (!unique && random_dot(g->plane, g->plane) > 0) {
            random_place(g, g->plane, 0, x);
            random_add(g->measures, "  along%d: \"dot(R%s.force, [%.17g, %.17g, %.17g])\"\n", k,
                       j->name, x[0], x[1], x[2]);
            random_component(g, "along%d", k);
        }
        if (!unique) continue;
        for (int i = 0; i < 6; i++)
            random_component(g, "R%s.%s.%c", j->name, i < 3 ? "force" : "torque", "xyz"[i % 3]);
        random_set(e, "norm(R%s.force)", j->name);
        random_invariant(g, e);
        random_set(e, "norm(R%s.torque)", j->name);
        random_invariant(g, e);
    }
    for (int k = 0; k < g->nforce; k++) {
        const random_element *f = &g->force[k];
        char e[80];
        random_add(g->measures, "  F%s: {type: force, of: %s, on: %s}\n", f->name, f->name,
                   random_name(g, f->body[1]));
        for (int i = 0; i < 6; i++)
            random_component(g, "F%s.%s.%c", f->name, i < 3 ? "force" : "torque", "xyz"[i % 3]);
        random_set(e, "norm(F%s.force)", f->name);
        random_invariant(g, e);
    }
    random_add(g->measures, "  E: {type: energy}\n  open: {type: violation}\n");
    static const char *const energy[] = {"kinetic", "total", "dissipated"};
    for (int i = 0; i < 3; i++) random_component(g, "E.%s", energy[i]);
    random_component(g, "E.potential");
    random_invariant(g, "E.kinetic");
    random_invariant(g, "E.dissipated");
    random_add(g->measures, "  z: {type: state, rate: \"-3*s + %s + 0.2*t\", initial: 0.3}\n",
               g->ncoordinate ? g->coordinate[0] : "p0.x");
    random_component(g, "z");
    random_add(g->measures, "  y: \"integral(%s)\"\n", random_any(g));
    random_component(g, "y");
    for (int i = 0; i < g->npower; i++)
        random_add(g->measures, i ? " + power%d" : "  work: \"integral(power%d", i);
    if (g->npower) random_add(g->measures, ")\"\n");
}

/* What Newton's and Euler's equations of every rigid body need: motion, and where the measured
 * wrenches act. */
static inline void random_balance(random_model *g)
{
    for (int k = 0; k < g->nbody; k++) {
        const random_body *b = &g->body[k];
        char point[24];
        if (b->axes)
            random_set(point, "%s.com", b->name);
        else
            random_set(point, "%s.P%d", b->name, k);
        random_add(g->measures,
                   "  mp%d: {type: position, of: %s}\n  ma%d: {type: acceleration, of: %s}\n", k,
                   point, k, point);
        if (b->axes)
            random_add(g->measures,
                       "  mw%d: {type: angular-velocity, of: %s}\n  mal%d: {type: "
                       "angular-acceleration, of: %s}\n"
                       "  me%d: {type: orientation, of: %s}\n",
                       k, b->name, k, b->name, k, b->name);
    }
    for (int k = 0; k < g->njoint + g->nforce; k++) {
        const random_element *e = k < g->njoint ? &g->joint[k] : &g->force[k - g->njoint];
        if (e->point[1][0])
            random_add(g->measures, "  at%s: {type: position, of: %s}\n", e->name, e->point[1]);
    }
}

/* ---- objectives ---- */

static inline void random_term(random_model *g, char *to)
{
    const char *a = random_any(g), *b = random_any(g);
    double h = g->o.step, at = (random_of(g, g->o.steps) + 0.37) * h;
    switch (g->o.steps == 1 ? 6 : random_of(g, 13)) { /* one step: only the start matters */
    case 0:
        random_add(to, "integral(%s)", a);
        break;
    case 1:
        random_add(to, "integral((%s - 0.3)^2)", a);
        break;
    case 2:
        random_add(to, "integral(%s*%s)", a, b);
        break;
    case 3:
        random_add(to, "end(%s)", a);
        break;
    case 4:
        random_add(to, "end(%s*%s)", a, b);
        break;
    case 5:
        random_add(to, "end(sin(%s) + t*%s)", a, b);
        break;
    case 6:
        random_add(to, random_is(g, 0.5) ? "start(%s)" : "start(%s*%s)", a, b);
        break;
    case 7:
        random_add(to, "at(%s, %.17g)", a, at);
        break;
    case 8:
        random_add(to, "mean(%s)", a);
        break;
    case 9:
        random_add(to, "rms(3 + %s)", a);
        break;
    case 10:
        random_add(to, "peak(%s + 0.3*sin(7*t))", a);
        break;
    case 11:
        random_add(to, "peak(sqrt(1 + %s^2), 6)", a);
        break;
    default:
        random_add(to, "end(%s/sqrt(1 + %s^2))", a, b);
    }
}

static inline void random_objectives(random_model *g)
{
    for (int i = 0; i < g->o.objectives; i++) {
        char *to = g->objectives;
        random_add(to, "  o%d: \"", i);
        random_term(g, to);
        if (random_is(g, 0.4)) {
            random_add(to, random_is(g, 0.5) ? " + 0.7*" : "*");
            random_term(g, to);
        }
        random_add(to, "\"\n");
    }
}

/* ---- whole mechanisms ---- */

static inline void random_tree(random_model *g, int n)
{
    static const double zero[3] = {0};
    for (int k = 0; k < n; k++) {
        int parent = k == 0 ? -1 : g->o.kind == RANDOM_CHAIN ? k - 1 : random_of(g, k + 1) - 1;
        while (parent >= 0 && !g->body[parent].axes) parent = g->body[parent].parent;
        double at[3], far[3];
        random_near(g, parent < 0 ? zero : g->body[parent].far, 0.1, parent < 0 ? 1 : 0.4, at);
        random_near(g, at, 0.5, 1, far);
        random_hardpoint(g, 'P', k, at);
        random_hardpoint(g, 'Q', k, far);
        if (k > 0 && random_is(g, 0.15))
            random_mass_point(g, parent, at);
        else
            random_body_add(g, parent, at, far, 0);
        random_join(g, k);
    }
}

/* Bars between the corners of one or two four-bars in a plane that lies anywhere in space; x, y: in
 * the plane. The corners are numbers of the plane, so that each may be moved, except with a third
 * crank: then only together. */
static inline void random_planar(random_model *g)
{
    double B[9], n[3], O[3], y[3];
    int cranks = 2 + random_is(g, 0.4), parallel = cranks == 3 || random_is(g, 0.5);
    random_rotation(g, B);
    for (int i = 0; i < 3; i++) n[i] = B[3 * i + 2], O[i] = random_in(g, -1, 1);
    double l = random_in(g, 0.6, 1.2), turn = random_in(g, 0.8, 2.2), wide = random_in(g, 0.8, 1.5);
    double lx = l * cos(turn), ly = l * sin(turn);
    random_add(g->parameters, "  lx: %.17g\n  ly: %.17g\n  wide: %.17g\n", lx, ly, wide);
    random_place(g, O, 1, y);
    random_add(g->points, "  C: [%.17g, %.17g, %.17g]\n", y[0], y[1], y[2]);
    double e[2][3];
    for (int k = 0; k < 2; k++) random_place(g, (double[]){B[k], B[3 + k], B[6 + k]}, 0, e[k]);
    for (int k = 0; k < cranks; k++) {
        double dx = parallel ? 0 : random_in(g, 0.1, 0.3) * k, far[3], at[3];
        for (int i = 0; i < 3; i++)
            at[i] = O[i] + B[3 * i] * k * wide,
            far[i] = at[i] + B[3 * i] * (lx + dx) + B[3 * i + 1] * ly;
        for (int top = 0; top < 2; top++) {
            random_add(g->points, "  %c%d: [", "PQ"[top], k);
            for (int i = 0; i < 3; i++) {
                random_add(g->points, "%sC.%c + (%.17g)*(%d*wide", i ? ", " : "", "xyz"[i], e[0][i],
                           k);
                if (top)
                    random_add(g->points, " + lx + %.17g) + (%.17g)*ly", dx, e[1][i]);
                else
                    random_add(g->points, ")");
            }
            random_add(g->points, "]\n");
        }
        random_body_add(g, -1, at, far, random_is(g, 0.5));
        memcpy(g->body[k].axis, n, sizeof n);
        g->body[k].joint = "revolute";
    }
    double Q[3][3];
    for (int k = 0; k < cranks; k++) memcpy(Q[k], g->body[k].far, sizeof Q[k]);
    random_add(g->points, "  P%d: [Q0.x, Q0.y, Q0.z]\n  Q%d: [Q%d.x, Q%d.y, Q%d.z]\n", cranks,
               cranks, cranks - 1, cranks - 1, cranks - 1);
    int coupler = random_body_add(g, 0, Q[0], Q[cranks - 1], 0);
    g->body[coupler].joint = "planar loop";
    for (int i = 0; cranks == 2 && i < 3; i++) g->plane[i] = 0.6 * B[3 * i] + 0.8 * B[3 * i + 1];
    int shared = random_is(g, 0.5);
    random_place(g, n, 0, y);
    if (shared)
        random_add(g->parameters, "  nx: %.17g\n  ny: %.17g\n  nz: %.17g\n", y[0], y[1], y[2]);
    for (int k = 0; k < 2 * cranks; k++) {
        int a = k < cranks ? -1 : k - cranks, b = k < cranks ? k : coupler;
        char point[8];
        random_set(point, "%c%d", k < cranks ? 'P' : 'Q', k % cranks);
        random_element *j = random_joint_begin(g, a, b, "revolute");
        random_add(g->joints, ", between: [%s, %s], at: %s", random_name(g, a), random_name(g, b),
                   point);
        if (shared)
            random_add(g->joints, ", axis: [nx, ny, nz]}\n");
        else
            random_field(g, "axis", n), random_add(g->joints, "}\n");
        for (int i = 0; i < 2; i++)
            random_set(j->point[i], "%s.%s", random_name(g, j->body[i]), point);
    }
}

/* Three bodies in a loop whose joints have at most 17 rows. */
static inline void random_spatial(random_model *g)
{
    static const char *const types[] = {"revolute", "spherical", "universal", "cylindrical"};
    static const int rows[] = {5, 3, 4, 4};
    int pick[4], sum;
    do {
        sum = 0;
        for (int k = 0; k < 4; k++) pick[k] = random_of(g, 4), sum += rows[pick[k]];
    } while (sum > 17 || sum < 15);
    double x[4][3] = {{0, 0, 0}, {0.2, 0.1, 1}, {1.5, 0.2, 1.2}, {1.6, 0.8, -0.1}}, n[3];
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) x[k][i] += random_in(g, -0.2, 0.2);
    for (int k = 0; k < 3; k++) {
        random_hardpoint(g, 'P', k, x[k]);
        random_hardpoint(g, 'Q', k, x[k + 1]);
        random_body_add(g, k - 1, x[k], x[k + 1], 0);
        random_unit(g, g->body[k].axis);
        g->body[k].joint = k == 0 && pick[0] != 2 && pick[0] != 1 ? types[pick[0]] : "loop";
    }
    for (int k = 0; k < 4; k++) {
        char point[8];
        random_set(point, "%c%d", k < 3 ? 'P' : 'Q', k < 3 ? k : 2);
        random_unit(g, n);
        random_joint_at(g, types[pick[k]], k - 1, k < 3 ? k : -1, point,
                        k < 3 ? g->body[k].axis : n);
    }
}

static inline void random_whole(random_model *g)
{
    int n = g->o.kind == RANDOM_PLANAR ? 0 : 1 + random_of(g, g->o.kind == RANDOM_CHAIN ? 3 : 4),
        freedoms = 0;
    switch (g->o.kind) {
    case RANDOM_PLANAR:
        random_planar(g);
        break;
    case RANDOM_SPATIAL:
        random_spatial(g);
        break;
    case RANDOM_CLOSED:
        n = 2 + random_of(g, 3); /* fall through */
    default:
        random_tree(g, n);
    }
    if (g->o.kind == RANDOM_CLOSED) {
        for (int k = 0; k < g->nbody; k++)
            freedoms += strcmp(g->body[k].joint, "fixed") == 0 ? 0
                        : random_loose(&g->body[k])            ? 2
                                                               : 1;
        int last = g->nbody - 1;
        if (freedoms > 3 && g->body[last].axes && strcmp(g->body[last].joint, "fixed") != 0)
            random_guide(g, -1, last);
    }
    if (g->o.kind == RANDOM_DRIVEN) random_drive(g, random_of(g, g->nbody)), random_drive(g, 0);
    if (g->o.kind == RANDOM_GEARED)
        for (int k = 0; k < g->nbody; k++) random_gear(g, k);
    if (random_is(g, 0.5)) random_distance(g, -1, random_of(g, g->nbody));
}

static inline void random_section(random_model *g, const char *name, const char *section)
{
    size_t n = strlen(g->text);
    if (*section) snprintf(g->text + n, sizeof g->text - n, "%s:\n%s", name, section);
}

static inline void random_model_write(random_model *g, uint64_t seed, const random_options *o)
{
    *g = (random_model){.r = {seed * 0x9E3779B97F4A7C15u + (uint64_t)o->kind}, .o = *o};
    random_add(g->points, "  O: ");
    random_vector(g, g->points, (double[]){0.1, -0.2, 0.3}, 1);
    random_add(g->points, "\n");
    random_near(g, (double[]){0, 0, 0}, 4, 10, g->gravity);
    random_whole(g);
    random_forces_add(g);
    if (!o->unprescribed) random_start(g);
    random_measures(g);
    if (o->balance) random_balance(g);
    random_objectives(g);
    if (o->doubled && g->njoint) {
        char line[400] = "";
        memcpy(line, g->joints, strcspn(g->joints, "\n"));
        random_add(g->joints, "  again%s\n", strchr(line, ':'));
    }
    double y[3];
    random_place(g, g->gravity, 0, y);
    random_set(
        g->text,
        "costate: 1\ngravity: [%.17g, %.17g, %.17g]\nsimulation: {end: %.17g, step: %.17g}\n", y[0],
        y[1], y[2], o->steps * o->step, o->step);
    random_section(g, "parameters", g->parameters);
    random_section(g, "points", g->points);
    random_section(g, "tables", g->tables);
    random_section(g, "bodies", g->bodies);
    random_section(g, "joints", g->joints);
    random_section(g, "forces", g->forces);
    random_section(g, "measures", g->measures);
    if (*g->positions || *g->velocities) {
        size_t n = strlen(g->text);
        snprintf(g->text + n, sizeof g->text - n, "initial:\n%s%s%s%s",
                 *g->positions ? "  positions:\n" : "", g->positions,
                 *g->velocities ? "  velocities:\n" : "", g->velocities);
    }
    random_section(g, "objectives", g->objectives);
}

#endif
