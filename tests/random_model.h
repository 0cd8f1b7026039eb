/* SPDX-License-Identifier: MIT
 *
 * Random mechanisms as text of a model file. The same seed gives the same mechanism; a rigid motion
 * of the whole scene, a doubled joint or other steps may be asked for without changing anything
 * else. */
#ifndef CST_TESTS_RANDOM_MODEL_H
#define CST_TESTS_RANDOM_MODEL_H

#include "costate.h"
#include "expect.h"

#include <stdio.h>

/* chain and tree: open; planar: loops of revolutes, closed more than once; spatial: loops closed
 * just once; closed: a tree with rods and guides that close it; driven: a tree with drives; geared:
 * scalars and couplings */
#define RANDOM_KIND_LIST(X)                                                                        \
    X(CHAIN)                                                                                       \
    X(TREE)                                                                                        \
    X(PLANAR)                                                                                      \
    X(SPATIAL)                                                                                     \
    X(CLOSED)                                                                                      \
    X(DRIVEN)                                                                                      \
    X(GEARED)

typedef enum random_kind {
#define X(name) RANDOM_##name,
    RANDOM_KIND_LIST(X)
#undef X
        RANDOM_KINDS
} random_kind;

/* all; those whose energy is known: springs, dampers, bushings; the same without damping */
typedef enum random_forces { RANDOM_ALL, RANDOM_PASSIVE, RANDOM_CONSERVATIVE } random_forces;

typedef struct random_options {
    random_kind kind;
    random_forces forces;
    int objectives;   /* 0: none */
    int doubled;      /* the first joint is written twice */
    int unprescribed; /* no prescribed positions and velocities */
    int slow_angles;  /* no force reads the rate of an angle. In a step it is read from velocities
                         that are not projected  yet, and then sees, far below the step's error,
                         which  directions across the axis were chosen */
    int balance;      /* measures for the balances of Newton and Euler */
    double step;
    int steps;
    const double *R, *d; /* the scene is turned by R (by rows), then shifted by d; NULL: neither */
} random_options;

enum { RANDOM_BODIES = 6, RANDOM_ELEMENTS = 24, RANDOM_COMPONENTS = 160, RANDOM_SECTION = 24576 };

typedef struct random_body {
    char name[8];
    int parent; /* -1: ground */
    int axes;   /* 0: a point mass */
    int local;  /* its axes turn with the scene, so that local coordinates mean the same */
    double at[3], far[3], com[3],
        local_at[3];         /* drawn places of its points P, Q, com and, with local, L */
    double mass, inertia[6]; /* about com, along its axes; local only */
    double axis[3];          /* of the joint to its parent */
    const char *joint;       /* type of that joint */
} random_body;

typedef struct random_element { /* a joint or a force: what acts on body[1] acts back on body[0] */
    char name[8];
    int body[2];       /* -1: ground */
    char point[2][24]; /* where its measure refers to: BODY.POINT; empty: the body's origin */
} random_element;

typedef struct random_model {
    expect_random r;
    random_options o;
    int nbody, njoint, nforce, nparameter, ntable, nname, ncomponent, ncoordinate, ninvariant;
    random_body body[RANDOM_BODIES];
    random_element joint[RANDOM_ELEMENTS], force[RANDOM_ELEMENTS];
    char component[RANDOM_COMPONENTS][40]; /* what objectives may read */
    char coordinate[RANDOM_COMPONENTS]
                   [16]; /* measures of positions that drives, laws and the start may read */
    double drawn[RANDOM_COMPONENTS]; /* their values in the drawing */
    int plain;                       /* no parameters in place of numbers */
    int npower;                      /* measures power0 .. of the drives */
    double gravity[3],
        plane[3]; /* plane: a direction along which reactions are unique in spite of redundancy */
    char parameters[RANDOM_SECTION], points[RANDOM_SECTION], tables[RANDOM_SECTION],
        bodies[RANDOM_SECTION], joints[RANDOM_SECTION], forces[RANDOM_SECTION],
        measures[RANDOM_SECTION], positions[RANDOM_SECTION], velocities[RANDOM_SECTION],
        objectives[RANDOM_SECTION];
    char text[8 * RANDOM_SECTION];
} random_model;

/* ---- text ---- */

static inline void random_add(char *section, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void random_add(char *section, const char *format, ...)
{
    size_t n = strlen(section);
    va_list v;
    va_start(v, format);
    int more = vsnprintf(section + n, RANDOM_SECTION - n, format, v);
    va_end(v);
    if (more < 0 || n + (size_t)more >= RANDOM_SECTION)
        fail_msg("a section of a random model is too small");
}

/* a short text into an array */
#define random_set(to, ...) random_set_in(to, sizeof(to), __VA_ARGS__)
static inline void random_set_in(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void random_set_in(char *to, size_t size, const char *format, ...)
{
    va_list v;
    va_start(v, format);
    int n = vsnprintf(to, size, format, v);
    va_end(v);
    if (n < 0 || (size_t)n >= size) fail_msg("a name of a random model is too long");
}

static inline double random_in(random_model *g, double low, double high)
{
    return expect_uniform(&g->r, low, high);
}
static inline int random_of(random_model *g, int n) { return expect_below(&g->r, n); }
static inline int random_is(random_model *g, double share)
{
    return expect_uniform(&g->r, 0, 1) < share;
}

/* a number: written out, a parameter, or an expression of one */
static inline void random_number(random_model *g, char *to, double x)
{
    double how = expect_uniform(&g->r, 0, 1);
    if (g->plain || how > 0.3) {
        random_add(to, "%.17g", x);
        return;
    }
    int k = g->nparameter++;
    if (how > 0.15) {
        random_add(g->parameters, "  c%d: %.17g\n", k, x);
        random_add(to, "c%d", k);
    } else {
        random_add(g->parameters, "  c%d: {value: %.17g, doc: half of something}\n", k, x / 2);
        random_add(to, "2*c%d", k);
    }
}

/* the scene as it is placed; a: 1 for points, 0 for directions */
static inline void random_place(const random_model *g, const double v[3], int a, double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = v[i];
        if (g->o.R)
            y[i] = g->o.R[3 * i] * v[0] + g->o.R[3 * i + 1] * v[1] + g->o.R[3 * i + 2] * v[2];
        if (g->o.d && a) y[i] += g->o.d[i];
    }
}

static inline void random_vector(random_model *g, char *to, const double v[3], int a)
{
    double y[3];
    random_place(g, v, a, y);
    for (int i = 0; i < 3; i++) {
        random_add(to, "%s", i == 0 ? "[" : ", ");
        random_number(g, to, y[i]);
    }
    random_add(to, "]");
}

/* expressions e along the axes of the scene as they were before it was placed */
static inline void random_expressions(random_model *g, char *to, const char *const e[3])
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *R = g->o.R ? g->o.R : one;
    for (int i = 0; i < 3; i++)
        random_add(to, "%s\"(%.17g)*(%s) + (%.17g)*(%s) + (%.17g)*(%s)\"", i ? ", " : "[", R[3 * i],
                   e[0], R[3 * i + 1], e[1], R[3 * i + 2], e[2]);
    random_add(to, "]");
}

/* ---- directions ---- */

static inline void random_cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static inline double random_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void random_unit(random_model *g, double n[3])
{
    double l;
    do {
        for (int i = 0; i < 3; i++) n[i] = random_in(g, -1, 1);
        l = sqrt(random_dot(n, n));
    } while (l < 0.3 || l > 1);
    for (int i = 0; i < 3; i++) n[i] /= l;
}

static inline void random_across(random_model *g, const double n[3], double u[3])
{
    double c[3], l;
    do {
        random_unit(g, c);
        random_cross(n, c, u);
        l = sqrt(random_dot(u, u));
    } while (l < 0.4);
    for (int i = 0; i < 3; i++) u[i] /= l;
}

/* rotation by rows */
static inline void random_rotation(random_model *g, double R[9])
{
    double e[3][3];
    random_unit(g, e[0]);
    random_across(g, e[0], e[1]);
    random_cross(e[0], e[1], e[2]);
    for (int i = 0; i < 9; i++) R[i] = e[i % 3][i / 3];
}

static inline void random_near(random_model *g, const double x[3], double low, double high,
                               double y[3])
{
    double n[3], l = random_in(g, low, high);
    random_unit(g, n);
    for (int i = 0; i < 3; i++) y[i] = x[i] + l * n[i];
}

static inline const char *random_name(const random_model *g, int body)
{
    return body < 0 ? "ground" : g->body[body].name;
}

/* ---- what the objectives, laws and tests read ---- */

static inline void random_component(random_model *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void random_component(random_model *g, const char *format, ...)
{
    if (g->ncomponent == RANDOM_COMPONENTS) return;
    va_list v;
    va_start(v, format);
    vsnprintf(g->component[g->ncomponent++], sizeof g->component[0], format, v);
    va_end(v);
}

static inline void random_xyz(random_model *g, const char *name)
{
    for (int i = 0; i < 3; i++) random_component(g, "%s.%c", name, "xyz"[i]);
}

static inline const char *random_any(random_model *g)
{
    return g->component[random_of(g, g->ncomponent)];
}

/* a measure whose value does not see how the scene is placed */
static inline void random_invariant(random_model *g, const char *expression)
{
    random_add(g->measures, "  inv%d: \"%s\"\n", g->ninvariant++, expression);
}

/* in this order */
/* clang-format off */
#include "random_parts.h"
#include "random_forces.h"
#include "random_scene.h"
/* clang-format on */

#endif
