/* SPDX-License-Identifier: MIT
 *
 * Forces of random mechanisms. Included by random_model.h. */
#ifndef CST_TESTS_RANDOM_FORCES_H
#define CST_TESTS_RANDOM_FORCES_H

static inline random_element *random_force_begin(random_model *g, int a, int b, const char *type)
{
    random_element *f = &g->force[g->nforce];
    *f = (random_element){.body = {a, b}};
    random_set(f->name, "f%d", g->nforce++);
    random_add(g->forces, "  %s: {type: %s", f->name, type);
    return f;
}

static inline void random_value(random_model *g, const char *field, double low, double high)
{
    random_add(g->forces, ", %s: ", field);
    random_number(g, g->forces, random_in(g, low, high));
}

static inline void random_three(random_model *g, const char *field, double low, double high)
{
    random_add(g->forces, ", %s: [", field);
    for (int i = 0; i < 3; i++) {
        if (i) random_add(g->forces, ", ");
        random_number(g, g->forces, random_in(g, low, high));
    }
    random_add(g->forces, "]");
}

static inline void random_law(random_model *g, double l)
{
    int k = g->ntable;
    switch (random_of(g, 4)) {
    case 0:
        random_add(g->forces, ", force: \"%.3f*(s - %.3f) + 0.5*v\"", random_in(g, 5, 20), l);
        break;
    case 1:
        random_add(g->forces, ", force: \"8*(s - %.3f) + 3*(s - %.3f)^3 + sin(3*t)*tanh(v)\"", l,
                   l);
        break;
    case 2:
        random_add(g->tables,
                   "  t%d: {x: [%.3f, %.3f, %.3f, %.3f], y: [-20, -3, 4, 30], interpolation: "
                   "cubic, outside: extend}\n",
                   k, l - 3, l - 1, l + 1, l + 3);
        g->ntable++;
        random_add(g->forces, ", force: \"t%d(s) + 0.3*v*abs(1 + v^2)\"", k);
        break;
    default:
        if (g->ncoordinate)
            random_add(g->forces, ", force: \"6*(s - %.3f) + 2*%s + %s*%s.rate\"", l,
                       g->coordinate[0], g->o.slow_angles ? "0" : "0.3", g->coordinate[0]);
        else
            random_add(g->forces, ", force: \"6*(s - %.3f)*(1 + 0.2*cos(2*t))\"", l);
    }
}

/* along the line between two points */
static inline void random_line(random_model *g, int a, int b)
{
    char p[2][24];
    double x[2][3], l = 0;
    int passive = g->o.forces != RANDOM_ALL, damped = g->o.forces != RANDOM_CONSERVATIVE;
    random_point(g, a, p[0], x[0]), random_point(g, b, p[1], x[1]);
    for (int i = 0; i < 3; i++) l += (x[1][i] - x[0][i]) * (x[1][i] - x[0][i]);
    l = sqrt(l);
    if (l < 0.1) return;
    int how = random_of(g, 5);
    const char *const type[] = {"spring", damped ? "damper" : "spring", "spring-damper", "spring",
                                "stop"};
    if (passive && how > 2) how = 2;
    random_element *f = random_force_begin(g, a, b, type[how]);
    for (int k = 0; k < 2; k++) random_set(f->point[k], "%s", p[k]);
    random_add(g->forces, ", from: %s, to: %s", p[0], p[1]);
    if (how == 1 && damped) {
        random_value(g, "damping", 0.5, 3);
    } else if (how < 3) {
        random_value(g, "stiffness", 5, 30);
        if (random_is(g, 0.5)) random_value(g, "free_length", 0.6 * l, 1.2 * l);
        if (how == 2 && damped) random_value(g, "damping", 0.5, 3);
        if (how == 2) random_value(g, "preload", -2, 2);
    } else if (how == 3) {
        random_law(g, l);
    } else {
        random_value(g, "stiffness", 3, 10);
        random_value(g, "damping", 0.1, 0.5);
        random_add(g->forces, random_is(g, 0.5) ? ", lower: %.17g" : ", upper: %.17g", l + 10);
    }
    random_add(g->forces, "}\n");
}

static inline void random_mount(random_model *g, int a, int b)
{
    double x[3], c = g->o.forces != RANDOM_CONSERVATIVE ? 0.5 : 0;
    char p[24];
    random_point(g, b, p, x);
    random_element *f = random_force_begin(g, a, b, "bushing");
    random_add(g->forces, ", between: [%s, %s], at: ", random_name(g, a), random_name(g, b));
    const char *point = strchr(p, '.') + 1;
    if (point[0] == 'P' || point[0] == 'Q')
        random_add(g->forces, "%s", point);
    else /* not a hardpoint: its place instead */
        random_vector(g, g->forces, x, 1);
    double n[3], u[3];
    random_unit(g, n), random_across(g, n, u);
    random_add(g->forces, ", orientation: {x: ");
    random_vector(g, g->forces, n, 0);
    random_add(g->forces, ", z: ");
    random_vector(g, g->forces, u, 0);
    random_add(g->forces, "}");
    random_three(g, "stiffness", 3, 20);
    random_three(g, "rotational_stiffness", 1, 5);
    if (c > 0) random_three(g, "damping", 0, c), random_three(g, "rotational_damping", 0, c);
    random_add(g->forces, "}\n");
    random_set(f->point[1], "%s", p);
}

static inline void random_torsion(random_model *g, int k)
{
    const random_body *b = &g->body[k];
    random_force_begin(g, b->parent, k, "torsion");
    random_add(g->forces, ", between: [%s, %s], axis: ", random_name(g, b->parent), b->name);
    random_vector(g, g->forces, b->axis, 0);
    if (random_is(g, 0.5)) {
        random_value(g, "stiffness", 1, 5);
        random_value(g, "damping", 0, g->o.slow_angles ? 0 : 0.5);
        random_value(g, "free_angle", -0.3, 0.3);
    } else {
        random_add(g->forces, ", torque: \"%.3f*sin(s) + %s*v\"", random_in(g, 1, 4),
                   g->o.slow_angles ? "0" : "0.2");
    }
    random_add(g->forces, "}\n");
}

static inline void random_feedback(random_model *g, char e[80])
{
    const char *c = g->ncoordinate ? g->coordinate[random_of(g, g->ncoordinate)] : "0";
    switch (random_of(g, 3)) {
    case 0:
        random_set_in(e, 80, "%.3f*cos(%.3f*t)", random_in(g, -3, 3), random_in(g, 1, 5));
        break;
    case 1:
        random_set_in(e, 80, "%.3f - %.3f*%s", random_in(g, -2, 2), random_in(g, 0, 1), c);
        break;
    default:
        random_set_in(e, 80, "%.3f*exp(-t)*(1 + %s^2)", random_in(g, -2, 2), c);
    }
}

static inline void random_load(random_model *g, int b)
{
    char p[24], e[3][80];
    double x[3], n[3];
    int turns = g->body[b].axes && random_is(g, 0.4), against = -1,
        local = g->body[b].local && random_is(g, 0.5);
    for (int i = 0; i < g->nbody; i++)
        if (i != b && g->body[i].axes && random_is(g, 0.3)) against = i;
    random_point(g, b, p, x);
    random_unit(g, n);
    for (int i = 0; i < 3; i++) random_feedback(g, e[i]);
    random_element *f = random_force_begin(g, against, b, turns ? "torque" : "force");
    random_add(g->forces, ", on: %s", turns ? g->body[b].name : p);
    if (!turns) random_set(f->point[1], "%s", p);
    if (random_is(g, 0.5)) {
        random_add(g->forces, ", %s: ", turns ? "axis" : "direction");
        random_vector(g, g->forces, n, 0);
        random_add(g->forces, ", magnitude: \"%s\"", e[0]);
        if (g->body[b].axes && random_is(g, 0.5)) random_add(g->forces, ", axes: body");
    } else {
        random_add(g->forces, ", %s: ", turns ? "torque" : "force");
        if (local)
            random_add(g->forces, "[\"%s\", \"%s\", \"%s\"], axes: body", e[0], e[1], e[2]);
        else
            random_expressions(g, g->forces, (const char *const[]){e[0], e[1], e[2]});
    }
    if (against >= 0) random_add(g->forces, ", against: %s", g->body[against].name);
    random_add(g->forces, "}\n");
    f->body[0] = against >= 0 ? against : -1;
}

static inline void random_history(random_model *g, int b)
{
    char p[24];
    double x[3], n[3];
    random_point(g, b, p, x);
    random_unit(g, n);
    int k = g->ntable++;
    random_add(g->tables, "  t%d: {x: [-1, 0.11, 0.23, 2], y: [1, %.3f, %.3f, -1]}\n", k,
               random_in(g, -3, 3), random_in(g, -3, 3));
    random_element *f = random_force_begin(g, -1, b, "load");
    random_set(f->point[1], "%s", p);
    random_add(g->forces, ", on: %s, direction: ", p);
    random_vector(g, g->forces, n, 0);
    random_add(g->forces, ", signal: t%d(t)", k);
    random_value(g, "scale", 0.5, 2);
    random_add(g->forces, "}\n");
}

static inline void random_forces_add(random_model *g)
{
    int n = 1 + random_of(g, 4);
    for (int i = 0; i < n; i++) {
        int b = random_of(g, g->nbody), a = random_of(g, g->nbody + 1) - 1;
        if (a == b) a = -1;
        int pair = g->body[b].axes && (a < 0 || g->body[a].axes);
        int what = g->o.forces == RANDOM_ALL ? random_of(g, 7) : random_of(g, 4);
        if (what < 3 || (what == 3 && !pair))
            random_line(g, a, b);
        else if (what == 3)
            random_mount(g, a, b);
        else if (what == 4 && random_hinged(&g->body[b]))
            random_torsion(g, b);
        else if (what == 5)
            random_history(g, b);
        else
            random_load(g, b);
    }
}

#endif
