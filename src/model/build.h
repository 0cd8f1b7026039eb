/* SPDX-License-Identifier: MIT
 *
 * How a model file becomes a model. A *type* is what a user writes (`type: revolute`): a table of
 * fields, which is the parser, the validator, the manual page and the list of design variables, and
 * a build function that adds bodies, constraints, forces or measure components through the calls
 * below. One file per type or family of types under model/types/, one line in types.def. */
#ifndef CST_MODEL_BUILD_H
#define CST_MODEL_BUILD_H

#include "base/field.h"
#include "model/model.h"
#include "model/yaml.h"

typedef struct cst_loader cst_loader;

#define CST_UNSET (-2)

typedef enum cst_about {
    CST_ABOUT_COM,
    CST_ABOUT_ORIGIN,
    CST_ABOUT_POINT
} cst_about; /* of a body being built */

typedef struct cst_arg {
    int given; /* written in the file */
    cst_where where;
    cst_id num, vec[3], frame[9];
    cst_id list[16];
    int nlist;
    int body[2];
    int local; /* POINT: 1 when local_at holds local coordinates on body[0] */
    cst_id local_at[3];
    int between; /* AXIS: 1 when it is given by two points, as drawn: */
    cst_id end[2][3];
    int choice;
    const char *text;
    const cst_yaml *node;
} cst_arg;

typedef struct cst_type {
    const char *section; /* "bodies", "joints", "forces", "blocks", "measures" */
    const char *keyword;
    const char *summary;    /* one line */
    const char *notes;      /* conventions, limits, sign; may be NULL */
    const cst_field *field; /* ends with name NULL */
    void (*build)(cst_loader *L, const char *name, cst_where where,
                  const cst_arg *arg); /* arg[i] belongs to field[i] */
} cst_type;

const cst_type *cst_type_at(int index); /* the table, NULL at the end */
const cst_type *cst_type_find(const char *section, const char *keyword);

typedef struct cst_setting {  /* of the section simulation */
    const char *name, *unit;  /* unit NULL: a word */
    double lo, hi, number;    /* range; default, or 0 where doc gives the default in parentheses */
    int open;                 /* lo is excluded */
    const char *words, *word; /* "a|b", NULL: checked by who knows them; default */
    size_t at;                /* in cst_sim */
    const char *doc;
} cst_setting;

extern const cst_setting cst_settings[]; /* name NULL at the end */

extern const char *const cst_section_keys[]; /* sections of a model file, NULL at the end */

/* ---- what build functions use ---- */

cst_model *cst_loader_model(cst_loader *L);
cst_graph *cst_loader_graph(cst_loader *L);
cst_arena *cst_loader_arena(cst_loader *L);
void cst_loader_error(cst_loader *L, cst_where w, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cst_loader_warn(cst_loader *L, cst_where w, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double cst_loader_value(cst_loader *L,
                        cst_id id); /* nominal value of an untimed id: for checks while loading */
int cst_loader_joint(cst_loader *L, const char *name,
                     cst_where w); /* index; -1: reported with the nearest name */
int cst_loader_force(cst_loader *L, const char *name, cst_where w);
double
cst_loader_mirror(cst_loader *L,
                  int axis); /* -1 when the part being built is mirrored in that axis, else 1 */

int cst_bind(cst_loader *L, int n, const cst_id *id); /* appends to P, returns the first index */

/* Bodies: frame is the drawn r, e1, e2, e3 (ids); inertia: tensor about the centre of mass in body
 * axes, entries xx yy zz xy xz yz of the matrix (products are minus the integrals). Checks physics
 * (error at `where`). */
typedef struct cst_rigid_def {
    cst_id frame[12], mass, com[3] /* local */, inertia[6];
    cst_id velocity[3] /* of r */, spin[3] /* angular velocity, ground axes */; /* drawn rates */
    int written; /* of these: CST_VELOCITY | CST_SPIN */
} cst_rigid_def;
int cst_add_rigid(cst_loader *L, const char *name, const char *type, cst_where w,
                  const cst_rigid_def *d);
int cst_add_point_mass(cst_loader *L, const char *name, cst_where w, const cst_id r[3], cst_id mass,
                       const cst_id velocity[3], int written);
typedef struct cst_beam_def {
    int n, green;                  /* elements; strain (model.h) */
    cst_id from[3], to[3], length; /* drawn ends, length at rest */
    cst_id density, E, A, I;
    cst_id velocity[3] /* of the middle */, spin[3];
} cst_beam_def;
int cst_add_beam(cst_loader *L, const char *name, cst_where w,
                 const cst_beam_def *d); /* its first node */
int cst_add_scalar(cst_loader *L, const char *name, cst_where w, cst_id inertia, cst_id drawn,
                   cst_id rate, int written);

/* How a body is drawn (report/scene.h); size ends with CST_NONE or has 3 entries */
void cst_add_shape(cst_loader *L, cst_shape_kind kind, int body, const cst_id size[3]);
void cst_add_wheel(cst_loader *L, int body, int centre, int axis, cst_id radius,
                   cst_id road /* law of s and t */);

/* Slots (shared when the same is asked for twice). Directions are normalised. */
int cst_slot_point(cst_loader *L, int body,
                   const cst_id drawn[3]); /* material point that is there when drawn */
int cst_slot_local(cst_loader *L, int body, const cst_id local[3]);
int cst_slot_of(cst_loader *L, const cst_arg *point,
                int body); /* of a POINT field; body: default if it names none */
int cst_slot_direction(cst_loader *L, int body,
                       const cst_id drawn[3]); /* body-fixed, given in ground axes when drawn */
/* along a beam, at a point drawn on it: r, its slope dr/dx (order 1), d2r/dx2 (2); of a node: its
 * place (vec 0) or slope (1) */
int cst_slot_along(cst_loader *L, int beam, const cst_id drawn[3], int order);
int cst_slot_node(cst_loader *L, int node, int vec);
void cst_slot_triad(cst_loader *L, int body,
                    int slot[3]); /* e1, e2, e3 of a rigid body; ground: x, y, z */
int cst_slot_scalar(cst_loader *L, int body);
void cst_perpendicular(cst_loader *L, const cst_id axis[3], cst_id u[3],
                       cst_id v[3]); /* unit, u x v = axis/|axis| */

/* Channels of a slot: order 0, 1, 2 */
void cst_x(cst_loader *L, int slot, int order, cst_id v[3]);
cst_id cst_x1(cst_loader *L, int slot, int c, int order);
cst_id cst_time(cst_loader *L);
/* angle from `from` to `to` about `axis` (all unit directions as ids, from and third = axis x from
 * fixed in the first body), counted over all turns: makes a remembered value */
cst_id cst_unwrapped_angle(cst_loader *L, const cst_id from[3], const cst_id third[3],
                           const cst_id to[3]);

/* Joints: begin, add constraints, end. s: untimed, or an expression of time only. */
int cst_joint_begin(cst_loader *L, const char *name, const char *type, cst_where w, int a, int b);
void cst_joint_place(cst_loader *L, int joint, int at_a, int at_b, int axis); /* slots, -1: none */
void cst_add_constraint(cst_loader *L, int joint, const char *row_name,
                        const cst_constraint_class *c, const int *slot, cst_id s);
/* Returns value if a force may read it directly; otherwise the k-th state of the force added next,
 * which holds the value from step to step. */
cst_id cst_hold(cst_loader *L, const char *name, cst_where w, cst_id value, int k);
/* Turns switches in an integrand into events; those that cannot be located are recorded in
 * cst_model.loose. */
cst_id cst_switched_integrand(cst_loader *L, cst_where w, cst_id rate);
void cst_add_coordinate(cst_loader *L, int joint, const char *row_name, cst_id phi,
                        int phases); /* phi(x, t) = 0, any expression */
void cst_joint_end(cst_loader *L, int joint);

/* Forces */
int cst_add_force(cst_loader *L, const char *name, const char *type, cst_where w,
                  const cst_force_class *c, int nslot, const int *slot, int np, const cst_id *p,
                  cst_id law /* CST_NONE or timed in ARG/TIME */);
/* f[i] (3 per slot, expressions of channels X 0/1, Z, TIME, MEM) on slots; further slots that the
 * expressions read are found by themselves; nz states with rates zd and initial values z0, whose
 * channels the caller got from cst_state_channel */
int cst_add_expression_force(cst_loader *L, const char *name, const char *type, cst_where w,
                             int nslot, const int *slot, const cst_id *f, int nz, const cst_id *zd,
                             const cst_id *z0);
cst_id cst_state_channel(cst_loader *L, int k); /* the k-th state of the force that is added next */
/* Generalised force F on the coordinate g(x): f = F dg/dx at every slot that g reads. */
int cst_add_generalised_force(cst_loader *L, const char *name, const char *type, cst_where w,
                              cst_id g, cst_id F);
/* The same with nz states, as in cst_add_expression_force. */
int cst_add_generalised_force_of(cst_loader *L, const char *name, const char *type, cst_where w,
                                 cst_id g, cst_id F, int nz, const cst_id *zd, const cst_id *z0);
/* The energy V that such a force stores, for the measure `energy`. */
void cst_add_potential(cst_loader *L, int force, cst_id V);
/* F with s -> g and v -> dg/dt */
cst_id cst_law_of(cst_loader *L, cst_id law, cst_id g);

/* Events: the mode (0 or 1, constant between events) of a law that switches where `value` changes
 * its sign. Comparisons in laws and expressions of forces become events by themselves. */
cst_id cst_add_event(cst_loader *L, const char *name, cst_where w, cst_id value, int rests);

/* Turns the jumps of expressions into events, and puts kinks on the same side as the events of
 * their slopes */
void cst_switched(cst_loader *L, const char *name, cst_where w, int n, cst_id *value);
/* A law of s, v and t at s = x, v = y */
cst_id cst_law_at(cst_loader *L, cst_id law, cst_id x, cst_id y);
/* A force class with np numbers of its own, a tape of nout values (expressions of the slots, MEM,
 * TIME) and nz states that start at z0. */
int cst_add_taped_force(cst_loader *L, const char *name, const char *type, cst_where w,
                        const cst_force_class *c, int nslot, const int *slot, int np,
                        const cst_id *p, int nout, const cst_id *out, int nz, const cst_id *z0);

/* Roads: height, a law of s = x, v = y and time */
void cst_add_road(cst_loader *L, const char *name, cst_id height);
/* Does a height written by the user depend on s, t and numbers only? 0: an error was reported */
int cst_road_fits(cst_loader *L, cst_where w, cst_id height);
/* A cubic table of two columns of a CSV file; numbers: its values are numbers of the model,
 * NAME.z[i]. NULL: reported */
struct cst_table;
const struct cst_table *cst_profile_read(cst_loader *L, const char *name, cst_where w,
                                         const cst_yaml *file, const char *x, const char *z,
                                         int outside, int numbers);

/* What the measure of a tire reads: slots (centre, axis, triad), the contact plane's directions,
 * indentation, ... */
typedef struct cst_tire_seen {
    int force, slot[5], relaxed, at_centre;
    cst_id n[3], b[3], l[3];
    cst_id delta, rho, radius, z_t, contact, low, z[2];
} cst_tire_seen;
void cst_tire_remember(cst_loader *L, const cst_tire_seen *s);
const cst_tire_seen *cst_tire_find(const cst_loader *L, int force); /* NULL: the force is no tire */

/* Forces and reactions as channels: component c of the force at the k-th slot of an element */
cst_id cst_force_channel(cst_loader *L, int force, int k, int c);
cst_id cst_react_channel(cst_loader *L, int constraint, int k, int c);

/* Measures */
int cst_measure_begin(cst_loader *L, const char *name, const char *type, cst_where w);
void cst_measure_add(cst_loader *L, int measure,
                     const char *component /* "" for a scalar measure */, const char *unit,
                     cst_id value);
cst_id cst_add_quad(cst_loader *L, cst_where w, cst_id rate); /* a running integral: its channel */

#endif
