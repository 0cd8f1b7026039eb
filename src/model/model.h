/* SPDX-License-Identifier: MIT
 *
 * A loaded model: bodies, elements, measures, objectives, numbers and their places in the file.
 * Immutable. Numbers are ids of the graph; what a run needs of them is listed once in `bound` ("P"
 * in the code): element numbers, marker weights, masses, drawn coordinates, tape inputs. A run
 * gathers P from the values, an adjoint run adds to P's gradient. */
#ifndef CST_MODEL_MODEL_H
#define CST_MODEL_MODEL_H

#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"
#include "body/body.h"
#include "element/element.h"
#include "number/graph.h"
#include "number/tape.h"

#define CST_GROUND (-1)

/* What an element sees: a marker m = o + sum_k w_k b_k of a body, or a scalar of q. */
typedef struct cst_slot {
    int body; /* CST_GROUND: m = o */
    int span; /* bodies that it reads, one after the other: 2 inside an element of a beam, else 1 */
    int dim;  /* 3, or 1 for a scalar of q */
    int point;  /* 1: a point, 0: a direction */
    int vec, n; /* body vectors vec .. vec+n-1 carry the weights; with a span they go on into the
                   next body */
    int w;      /* P index of the n weights */
    int o;      /* P index of the 3 offsets; ground only */
    int x0;     /* first of its dim entries in the slots' flat coordinates (CST_CH_X) */
} cst_slot;

enum { CST_VELOCITY = 1, CST_SPIN = 2 };

typedef struct cst_body {
    const char *name;
    cst_where where;
    const char *type;
    const cst_body_class *cls;
    int q0, u0;    /* first coordinate, first tangent unknown */
    int mass;      /* P: upper triangle of the nvec x nvec mass matrix by rows, then the scalars'
                      inertias */
    int drawn;     /* P: nq drawn coordinates */
    int rate;      /* P: nu drawn rates */
    int written;   /* CST_VELOCITY | CST_SPIN: rates that the file gives, which the start keeps; the
                      others follow */
    cst_id m;      /* total mass; CST_NONE for scalars */
    cst_id com[3]; /* centre of mass, local (rigid) */
    cst_id frame[12]; /* drawn r, e1, e2, e3 in ground axes; point: r only */
    int owner; /* the body of the file: the first node for the nodes of a beam, else the body itself
                */
    const struct cst_beam *beam; /* of the nodes of a beam, else NULL */
    int bound; /* CST_TURNS, CST_SLIDES: the coordinate of a joint (assemble_tree.c), else 0 */
    int loose; /* with joint coordinates: its motion is described by its own vectors */
} cst_body;

typedef struct cst_beam {  /* nodes are bodies that follow each other; all elements are alike */
    int first, n;          /* first node, elements */
    cst_id from[3], to[3]; /* drawn ends */
    cst_id length;         /* of an element, at rest */
    cst_id E, EA, EI;
    int green; /* 1: strain of Green at each point, 0: its mean over an element */
} cst_beam;

typedef struct cst_link { /* inertia between a body and the next one, both with T = 1 */
    int body;
    int mass; /* P: the nvec x nvec block m_kl by rows, k of the body, l of the next */
} cst_link;

typedef struct cst_force {
    const char *name;
    cst_where where;
    const char *type;
    const cst_force_class *cls;
    int nslot, *slot;
    int nx, f0; /* local coordinates; first of its entries in the flat forces (CST_CH_FORCE) */
    int np, p;  /* P */
    int nz, z0; /* states */
    int copies; /* how many of them, the last ones, are copies of others' states (assemble_states.c)
                 */
    int z_start; /* P: nz initial values */
    const cst_tape *tape;
    int statics; /* takes part in the static equilibrium */
} cst_force;

/* The problems that a row takes part in: that of a joint in the motion and in all problems of the
 * start; a prescribed coordinate; a prescribed rate; a measure that the static equilibrium holds
 * (phi is the measure itself) */
enum { CST_ROW_MOTION = 1, CST_ROW_ASSEMBLY = 2, CST_ROW_RATE = 4, CST_ROW_STATICS = 8 };

typedef struct cst_constraint {
    const char *name;     /* of the joint it belongs to */
    const char *row_name; /* what the primitive does in it: "point", "axis", "driver" */
    cst_where where;
    const cst_constraint_class *cls;
    int phases;
    int nslot, *slot;
    int nx, f0;           /* first of its entries in the flat reactions (CST_CH_REACT) */
    int row0;             /* first of its nphi rows among all rows */
    int np, p;            /* P; a driven quadric has its drive's numbers there instead */
    const cst_tape *tape; /* expression constraints */
    const cst_tape
        *drive; /* time -> (s, s', s''): the numbers of a driven quadric; NULL: p holds (s, 0, 0) */
} cst_constraint;

typedef struct cst_joint {
    const char *name;
    const char *type;
    cst_where where;
    int body[2];  /* the reaction acts on the second */
    int first, n; /* its constraints */
    int drives;   /* 1: a driver: prescribes motion */
    int at[2];    /* slots: the joint's point on each body, or -1 */
    int axis;     /* slot: axis direction on body[0], or -1 */
    int between;  /* 1: its axis is given by two points, as drawn: */
    cst_id end[2][3];
    int freedom;    /* CST_TURNS, CST_SLIDES: has an angle about its axis, a travel along it */
    cst_id turn[3]; /* the axis that its angle is counted about, as drawn */
    cst_id angle, travel; /* these coordinates, 0 when drawn; CST_NONE: nobody has asked yet */
} cst_joint;

enum { CST_TURNS = 1, CST_SLIDES = 2 };

typedef struct cst_branch { /* of the spanning tree: how a body is reached */
    int joint;              /* -1: by none, the body is free */
    int parent, child;      /* bodies */
    int coordinate[2];      /* bodies: angle and travel of the joint, -1: none */
} cst_branch;

typedef struct cst_memory { /* a remembered value (unwrapped angle): updated when a step is accepted
                             */
    cst_id value;           /* the expression whose value is remembered */
} cst_memory;

typedef struct cst_event { /* a law switches where value changes its sign: mode (a remembered value)
                              is 1 where it is positive */
    cst_id value;          /* of positions, velocities, states, time, numbers */
    int memory;            /* its mode, CST_CH_MEM */
    const char *name;      /* of the element */
    cst_where where;
    int rests; /* 1: equalities alone read its mode. Nothing switches where value passes 0, only
                  where it rests there */
} cst_event;

typedef struct cst_held { /* a value that forces read as it was at the end of the step before: what
                             it reads follows from the forces */
    cst_id value;
    int z;            /* the state that holds it */
    const char *name; /* of the force */
    cst_where where;
} cst_held;
typedef struct cst_loose {
    cst_where where;
    const char *text;
} cst_loose; /* something switches at instants that are not located */
typedef struct cst_default {
    const char *name, *unit;
} cst_default; /* ELEMENT.FIELD of a default that is not 0; unit NULL: by context */
typedef struct cst_typed {
    cst_id value;
    const char *unit;
} cst_typed; /* an expression in a field that has a unit */
typedef struct cst_conjugate {
    cst_id s, F;
} cst_conjugate; /* a coordinate and the force along it: F s is a work */
typedef struct cst_kink {
    cst_id value;
    const cst_table *table;
    const char *name;
    int touched;
} cst_kink; /* of a law; see cst_num_kinks */

/* How a value is shown: in `unit` it is the value in SI over factor */
typedef struct cst_shown {
    const char *unit;
    double factor;
} cst_shown;

typedef struct cst_label { /* what the file writes about a measure or an objective; NULL: nothing */
    const char *text;      /* its definition: an expression */
    const char *doc;
    const char *unit; /* in which it is shown */
    cst_where unit_at;
} cst_label;

typedef struct cst_component {
    const char *name, *unit;
    cst_id value;
    cst_shown shown;
} cst_component; /* name: "tip.x"; unit: SI */

typedef struct cst_measure {
    const char *name;
    const char *type;
    cst_where where;
    int first, n; /* its components */
    cst_label label;
} cst_measure;

/* A running integral y' = g, y(start) = 0, by the trapezoidal rule on the steps: channel
 * CST_CH_QUAD. Dissipated work, user-written integrals and the integrals of objectives are all of
 * this kind. */
typedef struct cst_quad {
    cst_id rate;
    int nested; /* 1: its rate reads other integrals */
} cst_quad;

typedef enum cst_functional_kind { CST_END, CST_PEAK, CST_AT, CST_START } cst_functional_kind;

typedef struct cst_functional { /* of a whole run; objectives are expressions of functionals and
                                   numbers */
    cst_functional_kind kind;
    cst_id value; /* timed expression; an integral is the end value of a quad */
    cst_id time;  /* CST_AT: when */
    cst_where where;
} cst_functional;

/* A smoothed peak is computed from an integral that may overflow or underflow: of (|x|/s)^p in
 * peak(x, p), with s a power of two near the peak, and of exp(x/w - c) in ks(x, w), with c near the
 * largest x/w. The result and its derivative do not depend on s and c, which can therefore be
 * treated as constants of the run. */
typedef struct cst_norm {
    cst_id size; /* |x|; x/w */
    double p;    /* 0: ks */
    int memory;  /* 1/s; c: CST_CH_MEM */
} cst_norm;

typedef struct cst_objective {
    const char *name, *unit; /* SI; "": none, or none is known */
    cst_where where;
    cst_id value;
    cst_label label;
    cst_shown shown;
} cst_objective;

/* Numbers that form a point or a vector have one size together: none of them depends on the origin
 * or the axes of the drawing alone. */
typedef enum cst_vector_kind {
    CST_VECTOR_FREE,
    CST_VECTOR_DIRECTION,
    CST_VECTOR_QUATERNION,
    CST_VECTOR_POINT
} cst_vector_kind;

typedef struct cst_vector {
    cst_vector_kind kind;
    int n;
    cst_id at[4];
} cst_vector; /* as written; n = 1: an angle */

typedef struct cst_leaf {          /* a number of the file, by leaf number */
    const char *name, *unit, *doc; /* doc: what the file says about it, NULL: nothing */
    cst_where where;
    cst_where again; /* where it is written a second time: the last y of a periodic table; file
                        NULL: nowhere */
    double lo, hi;   /* admissible range */
    int parameter;   /* 1: declared under parameters */
    int count;       /* > 1: the first of an array */
    int open;        /* 1: its unit depends on its use, and is shown as "1" */
    int length;      /* bytes of its text at `where`; 0: a literal in an expression */
    double factor;   /* SI value = written value times factor, by a `unit` beside it */
} cst_leaf;

typedef struct cst_derived { /* what is made of numbers has a range too, in SI units */
    cst_id id;
    double lo, hi;
    const char *what, *unit;
    cst_where where;
} cst_derived;

typedef struct cst_formula { /* a parameter that is an expression of numbers */
    const char *name;
    cst_id id;
} cst_formula;

typedef struct cst_stored { /* a force made of an expression that has a potential */
    int force;
    cst_id energy; /* V; the power it dissipates is - sum f . x' - dV/dt */
} cst_stored;

typedef struct cst_unused {  /* what nothing else in the file refers to */
    const char *what, *name; /* "point", "measure", "table" */
    cst_where where;
} cst_unused;
/* ---- what is only drawn ---- */

typedef enum cst_shape_kind {
    CST_SHAPE_LINE,
    CST_SHAPE_BOX,
    CST_SHAPE_SPHERE,
    CST_SHAPE_WHEEL
} cst_shape_kind;

typedef struct cst_shape { /* line: along e1, length, outer and inner radius; box: edges; sphere and
                              wheel: radius */
    cst_shape_kind kind;
    int body;
    cst_id size[3];   /* CST_NONE: not given */
    int centre, axis; /* slots of a wheel, else -1: the body's origin */
} cst_shape;

typedef struct cst_hardpoint { /* a named point whose coordinates are numbers NAME.x, NAME.y, NAME.z
                                */
    const char *name;
    int body; /* CST_GROUND: ground axes of the drawing, else axes of that body */
    cst_id at[3];
    double sign[3]; /* -1: the part is mirrored in this axis, at moves against the number */
} cst_hardpoint;

typedef struct cst_road { /* height z(s, t) below a wheel, s = x of its centre */
    cst_id law;
    const cst_tape *height;
    int wheel; /* shape */
} cst_road;

typedef struct cst_file_ref {
    cst_where where;
    int length;
    const char *path;
} cst_file_ref; /* a file that the model names */

typedef struct cst_equilibrium { /* initial: equilibrium (formulation/statics.h) */
    int wanted, weightless;      /* weightless: gravity takes no part */
    int chosen;                  /* forces were listed: only these take part */
    cst_where where;
} cst_equilibrium;

typedef struct cst_sim { /* the simulation section, with its defaults */
    double start, end, step;
    double output; /* interval of output; 0: every step */
    const char *formulation, *integrator, *events;
    cst_where formulation_at,
        integrator_at; /* where they are written: their names are known to others */
    const char *coupling, *sensitivity,
        *terms;                            /* of continuous-direct; of mixed: integrator, terms */
    double sensitivity_step, perturbation; /* of mixed; 0: the defaults */
    double tolerance;                      /* of adaptive steps; 0: the default */
    double alpha, xi, omega;               /* likewise, formulation/formulation.h */
    double rho;                            /* spectral radius of integrator/generalized_alpha.h */
    double weight; /* of the discrete Lagrangian's quadrature, integrator/variational.h */
} cst_sim;

struct cst_model {
    cst_arena arena;
    const char *file, *name;
    cst_graph *graph;
    CST_LIST(cst_leaf) leaf;
    cst_map leaf_names;
    CST_LIST(cst_derived) derived;
    CST_LIST(cst_formula) formula;
    CST_LIST(cst_id) bound; /* P */
    CST_LIST(cst_slot) slot;
    CST_LIST(cst_body) body;
    CST_LIST(cst_link) link;
    CST_LIST(cst_force) force;
    CST_LIST(cst_constraint) constraint;
    CST_LIST(cst_joint) joint;
    CST_LIST(cst_branch) tree; /* with joint coordinates */
    int has_joint_coordinates;
    CST_LIST(cst_memory) memory;
    CST_LIST(cst_event) event;
    CST_LIST(cst_kink) kink;
    CST_LIST(cst_typed) typed;
    CST_LIST(cst_vector) vector;
    CST_LIST(cst_default) dflt;
    CST_LIST(cst_conjugate) conjugate;
    CST_LIST(cst_loose) loose;
    CST_LIST(cst_held) held;
    CST_LIST(cst_measure) measure;
    CST_LIST(cst_component) component;
    CST_LIST(cst_quad) quad;
    CST_LIST(cst_functional) functional;
    CST_LIST(cst_norm) norm;
    CST_LIST(cst_objective) objective;
    CST_LIST(cst_shape) shape;
    CST_LIST(cst_hardpoint) hardpoint;
    CST_LIST(cst_road) road;
    const cst_tape *output; /* components, then rates of integrals, then functionals' values, then
                               held values, then sizes of norms */
    int quads_read_reactions, objectives_read_reactions;
    const cst_tape *remember; /* remembered values */
    const cst_tape *events;   /* values of the events, then of the kinks */
    const struct cst_dimensions *dimensions;
    const cst_tape *judge; /* functionals' results (CST_CH_RESULT) and numbers -> objectives */
    int nq, nu, nz, nrow, nx, nforce,
        nreact;  /* sizes: coordinates, tangent, states, rows, slot coordinates, ... */
    int gravity; /* P: 3 */
    cst_sim sim;
    CST_LIST(cst_stored) stored;
    CST_LIST(cst_unused) unused;
    int gravity_written;
    cst_where initial_where;
    cst_equilibrium statics;
    CST_LIST(cst_file_ref) file_ref;
    const char *root;  /* real path of the directory that its files must be below; NULL: they may be
                          anywhere */
    uint64_t contents; /* hash of all that the model was read from */
    const struct cst_yaml *design, *identify; /* these sections as written, or NULL */
};

/* Internal names of quantities of the whole system (CST_CH_SYSTEM) */
enum {
    CST_SYS_KINETIC,     /* J */
    CST_SYS_POTENTIAL,   /* J: gravity and elements that have a potential */
    CST_SYS_DISSIPATION, /* W: power that forces with a potential take out of the motion by their
                            rates */
    CST_SYS_VIOLATION,   /* largest |phi| over all rows, redundant ones included */
    CST_SYS_COUNT
};

#endif
