/* SPDX-License-Identifier: MIT
 *
 * Private to the loader. A file's sections become *entities* (a parameter, a point, a body, ...),
 * each in a *part* (the model itself or an instance of a sub-model). Entities are resolved on
 * demand, so they may name each other in any order; an entity that is being resolved is on the
 * stack `open`, which reveals cycles. An entity that failed has been reported: whatever depends on
 * it fails without a message. */
#ifndef CST_MODEL_LOADER_H
#define CST_MODEL_LOADER_H

#include "base/csv.h"
#include "model/build.h"
#include "model/range.h"
#include "number/parse.h"
#include "number/table.h"

typedef enum cst_section {
    CST_SEC_PARAMETER,
    CST_SEC_POINT,
    CST_SEC_MEASURE, /* up to here: names of expressions, one name space */
    CST_SEC_TABLE,
    CST_SEC_ROAD,
    CST_SEC_BODY,
    CST_SEC_JOINT,
    CST_SEC_FORCE,
    CST_SEC_COUNT
} cst_section;

/* Places of a part become places of the model by  P = S p + shift,  S = diag(sign). Names get the
 * prefix. */
typedef struct cst_part {
    struct cst_part *parent;
    const char *prefix;  /* "" or "left." */
    double sign[3], det; /* det = sign_0 sign_1 sign_2 */
    int moved;           /* has a mirror or a shift, of its own or of its parents */
    cst_id shift[3];     /* when moved */
    int depth;
    const cst_yaml *node; /* where it is placed: NULL for the model itself */
    const char *path;     /* file it was read from, or NULL: a file must not contain itself */
    CST_LIST(const cst_yaml *) doc; /* its sections, with those of included files */
} cst_part;

typedef enum { CST_WAITING, CST_BUSY, CST_DONE, CST_FAILED } cst_state;

typedef struct cst_entity {
    cst_section section;
    cst_state state;
    const char *name;  /* with prefix */
    const char *local; /* as written */
    cst_part *part;
    const cst_yaml *node;
    const cst_yaml
        *over; /* parameters: the value given where the part is used, in the scope over_part */
    cst_part *over_part;
    cst_where where; /* of its name */
    int used;
    int block;       /* a measure that stands under blocks */
    int index;       /* of the body, joint, force, measure or table */
    cst_value value; /* parameter; point in the part's own axes */
    cst_id world[3]; /* point in ground axes */
} cst_entity;

typedef struct cst_type_info {
    const cst_type *type;
    int nfield;
    cst_map names;
    cst_yaml **dflt; /* defaults, read once */
} cst_type_info;

typedef struct cst_override {
    const char *name, *text;
    cst_where where;
    int used;
} cst_override; /* NAME=VALUE */

typedef struct cst_check { /* a derived number whose value is checked at the end */
    cst_id id;
    double lo, hi, factor;
    const char *what, *unit;
    cst_where where;
} cst_check;

typedef struct cst_axis_check { /* directions that must not vanish, pairs that must not be parallel
                                 */
    cst_id a[3], b[3];
    int pair;
    const char *what;
    cst_where where;
} cst_axis_check;

typedef struct cst_inertia_check {
    int body;
    cst_id inertia[6];
} cst_inertia_check;

typedef struct cst_state_def { /* z' = rate, for those who read it */
    int z;                     /* its index among the model's states */
    cst_id rate, start;
} cst_state_def;

typedef struct cst_slot_key {
    int body, kind;
    cst_id id[3];
    int slot;
} cst_slot_key;

/* A table with jumps is one table between each two of them; until: where the next piece begins,
 * INFINITY: the last */
typedef struct cst_table_piece {
    const cst_table *t;
    double until;
} cst_table_piece;

enum {
    CST_MAX_OPEN = 200,
    CST_MAX_NESTING = 1500,
    CST_MAX_FIELDS = 40,
    CST_MAX_DEPTH = 20,
    CST_MAX_PARTS = 200000
};

struct cst_loader {
    cst_arena *arena;   /* of the model */
    cst_arena *scratch; /* gone when the model is loaded */
    cst_model *m;
    cst_graph *g;
    cst_diag *d;
    cst_part *root;
    CST_LIST(cst_part *) part;
    CST_LIST(cst_entity *) entity;
    cst_map names[CST_SEC_COUNT]; /* full name -> entity */
    CST_LIST(cst_type_info) type;
    cst_map types; /* "section type" -> type */
    CST_LIST(cst_override) set;
    cst_map set_names;
    CST_LIST(cst_check) check;
    CST_LIST(cst_axis_check) axis;
    CST_LIST(cst_inertia_check) inertia;
    cst_entity *open[CST_MAX_OPEN];
    int nopen, nesting, too_deep;
    cst_part *building; /* part of the element that is being built */
    cst_where where;    /* its place */
    cst_map component;  /* full name -> component of a measure */
    cst_map local;      /* "body.P" -> local point */
    CST_LIST(cst_value) local_point;
    CST_LIST(cst_table_piece) table; /* the pieces of a table one after the other */
    CST_LIST(cst_id) road;           /* heights */
    CST_LIST(cst_tire_seen) tire;
    cst_map files; /* path -> document */
    CST_LIST(cst_yaml *) file;
    CST_LIST(const char *) file_name; /* copies of file names that live as long as the model */
    cst_slot_key *slot;               /* hash of slots */
    int nslot, slot_cap;
    CST_LIST(int) slot_of_x; /* flat coordinate -> slot */
    CST_LIST(cst_state_def) state;
    double *val; /* nominal values of the first nval ids */
    int nval, val_cap;
};

/* load.c */
int cst_loader_searches(
    const cst_loader *L); /* names to offer in messages; 0 when there are too many messages */
cst_where cst_loader_place(cst_loader *L,
                           cst_where w); /* the same place with a file name that the model owns */

/* load_hash.c: what the model was read from goes into its hash */
void cst_loader_hash_file(cst_loader *L, const cst_yaml *doc);
void cst_loader_hash_csv(cst_loader *L, const cst_csv *csv);

/* load_sections.c: documents, included files and their entities */
int cst_sections_read(cst_loader *L, cst_part *part, const cst_yaml *doc);
cst_entity *cst_entity_add(cst_loader *L, cst_section s, cst_part *part, const char *name,
                           cst_where w, const cst_yaml *node);
/* Has none of these sections an entity of this name? 0: reported */
int cst_name_free(cst_loader *L, cst_section from, cst_section to, const char *full, cst_where w);
cst_yaml *cst_loader_file(cst_loader *L, const char *path,
                          const cst_yaml *name); /* read once; NULL: reported */
const char *cst_loader_path(cst_loader *L,
                            const cst_yaml *name); /* relative to the file that names it */
const cst_yaml *cst_part_section(const cst_part *part,
                                 const char *key); /* the first document that has it, or NULL */
/* error "unknown <what> 'key' of <owner>" with the nearest of the words (NULL at the end); 1 when
 * the key is one of them */
int cst_key_known(cst_loader *L, const char *what, const char *owner, const char *key, cst_where w,
                  const char *const *words);
int cst_keys_check(cst_loader *L, const cst_yaml *map, const char *what, const char *owner,
                   const char *const *words);
int cst_file_there(cst_loader *L, const char *path,
                   const cst_yaml *name); /* 0: reported where the file is named */

/* parts.c */
void cst_parts_read(cst_loader *L, cst_part *part); /* of all its documents */
void cst_parts_place(cst_loader *L);
void cst_part_to_ground(cst_loader *L, const cst_part *part, const cst_id p[3], cst_id P[3]);
void cst_part_from_ground(cst_loader *L, const cst_part *part, const cst_id P[3], cst_id p[3]);
void cst_part_turn(cst_loader *L, const cst_part *part, int axial, const cst_id v[3],
                   cst_id V[3]); /* no shift */

/* load_build.c: resolving */
int cst_entity_need(cst_loader *L, cst_entity *e); /* 1: done; 0: failed, which has been reported */
cst_entity *cst_entity_find(cst_loader *L, const cst_part *scope, cst_section s,
                            const char *name); /* inside, then outside */
extern const char *const cst_section_word[];   /* "parameter", ... */

/* load_number.c: texts become numbers */
typedef enum {
    CST_READ_NUMBER,   /* no t, nothing that moves */
    CST_READ_TIME,     /* t and numbers */
    CST_READ_TIMED,    /* measures too */
    CST_READ_LAW,      /* and s, v */
    CST_READ_OBJECTIVE /* functionals of measures */
} cst_mode;

typedef struct cst_reader {
    cst_loader *L;
    cst_part *part; /* whose names are seen first */
    cst_mode mode;
    const char *what;      /* in messages: "stiffness" */
    const char *unit;      /* in messages and of leaves; NULL or "1": none */
    const char *doc;       /* of leaves */
    double lo, hi, factor; /* range in the written unit; written value times factor is SI */
    int constant;          /* literals are no numbers of the file: defaults, settings */
    int parameter;         /* leaves are parameters */
    int lenient; /* the text replaces that of the file: it may be in SI or have its own unit,
                    whatever `unit` says */
    cst_vector_kind kind; /* of triples */
    int centre;           /* `com` and `origin` of the body being read are places too */
    /* of the text that is being read */
    const char *name, *text;
    cst_where where;
    int replaced;       /* it is what --set says: lenient */
    int met;            /* names and tables met */
    int units;          /* literals met that have one */
    int literals, keep; /* literals met; keep them constant for now */
} cst_reader;

cst_reader cst_reader_new(cst_loader *L, cst_part *part, cst_mode mode, const char *what);
cst_id cst_read_scalar(cst_reader *r, const char *name,
                       const cst_yaml *node); /* CST_NONE: reported */
void cst_vector_add(const cst_reader *r, cst_vector_kind kind, int n, const cst_id *at);
int cst_read_triple(cst_reader *r, const char *name, const cst_yaml *node, cst_id v[3]);
cst_value cst_read_text(cst_reader *r, const char *name, const cst_yaml *node,
                        int want); /* any expression */
int cst_read_constant(cst_loader *L, const char *what, const cst_yaml *node,
                      double *value); /* a setting */
const char *cst_unit_si(cst_loader *L, const char *unit);
void cst_range_error(cst_loader *L, cst_where w, const char *what, double lo, double hi,
                     const char *unit, double value);
void cst_check_add(cst_reader *r, cst_id id, cst_where w);
cst_id cst_leaf_add(cst_loader *L, double value, const cst_leaf *leaf);

/* load_points.c, load_tables.c, load_run.c */
/* `unit` and `doc` of a mapping; 0: reported */
int cst_label_read(cst_loader *L, const cst_yaml *node, cst_label *to);
/* {value: .., unit: .., doc: ..} or the value itself, of a measure or an objective: the node with
 * the value; NULL: reported */
const cst_yaml *cst_labelled_read(cst_loader *L, const cst_yaml *node, const char *what,
                                  cst_where w, cst_label *to);
/* {value: .., unit: .., range: .., doc: ..} or the value itself: the node with the value; NULL:
 * reported */
const cst_yaml *cst_settings_read(cst_loader *L, cst_reader *r, const cst_yaml *node,
                                  const char *value, cst_where w);
int cst_parameter_read(cst_loader *L, cst_entity *e);
int cst_point_read(cst_loader *L, cst_entity *e);
int cst_table_read(cst_loader *L, cst_entity *e);
int cst_measure_read(cst_loader *L, cst_entity *e); /* an expression without type */
void cst_local_points_read(cst_loader *L, cst_entity *body);
void cst_simulation_read(cst_loader *L);
void cst_tree_build(cst_loader *L); /* joint coordinates */
void cst_initial_read(cst_loader *L);
void cst_objectives_read(cst_loader *L);

/* scope.c: names in expressions */
cst_scope cst_scope_of(cst_reader *r);
cst_id cst_functional_add(cst_loader *L, cst_functional_kind kind, cst_id value, cst_id time,
                          cst_where w);

/* fields.c, load_place.c */
int cst_fields_read(cst_loader *L, cst_entity *e, const cst_type_info *info, cst_arg *arg);
int cst_body_find(cst_loader *L, cst_part *scope, const cst_yaml *name,
                  int *body); /* 0: reported */
int cst_point_field(cst_reader *r, const char *name, const cst_yaml *node, cst_arg *arg);
int cst_axis_field(cst_reader *r, const char *name, const cst_yaml *node, cst_id v[3],
                   cst_arg *arg); /* v: in the part's axes; arg: gets the two points that give it;
                                     NULL: nobody needs them */
int cst_frame_field(cst_reader *r, const char *name, const cst_yaml *node, cst_id frame[9]);

/* assemble*.c */
typedef enum { /* kinds of slots, points first */
               CST_SLOT_POINT,
               CST_SLOT_LOCAL,
               CST_SLOT_NODE,
               CST_SLOT_SLOPE,
               CST_SLOT_DIRECTION,
               CST_SLOT_AXIS,
               CST_SLOT_SCALAR,
               CST_SLOT_ALONG /* + order of the derivative along a beam */
} cst_slot_kind;
/* The slot of this key, or -1 and a new one was made in *made. */
int cst_slot_shared(cst_loader *L, int body, int kind, const cst_id id[3], cst_slot **made);
/* The body that the entity of this name has become; a build function may also add bodies of other
 * names. */
cst_body *cst_body_new(cst_loader *L, const char *name, const char *type, cst_where w,
                       const cst_body_class *c);
const cst_tape *cst_local_tape(cst_loader *L, cst_where w, const char *what, int nout,
                               const cst_id *out, int nslot, const int *slot, int z0,
                               int nz); /* NULL: reported */
/* What the value reads beyond positions, velocities, states and time, in words; NULL: nothing */
const char *cst_reads_beyond(cst_loader *L, cst_id value);
int cst_slots_of(cst_loader *L, cst_where w, int nout, const cst_id *out, int nslot,
                 int *slot /* (CST_MAX_NX) */);
void cst_hardpoint_add(cst_loader *L, const cst_part *part, const char *name, int body,
                       const cst_id at[3]);
/* States of others that nout expressions read, as copies behind `own` states of the force that is
 * added next: the expressions then read the copies. Their number, with rates and initial values
 * (CST_MAX_NX); -1: reported. */
int cst_states_copy(cst_loader *L, cst_where w, const char *name, int nout, cst_id *out, int own,
                    cst_id *rate, cst_id *start);
void cst_states_define(
    cst_loader *L, int n, const cst_id *rate,
    const cst_id *start); /* of the force that is being added: others may read them */
cst_id cst_norm_add(cst_loader *L, cst_id size,
                    double p); /* 1/s of a p-norm of `size`; p = 0: c of ks */
void cst_bodies_check(cst_loader *L);
void cst_measures_sort(cst_loader *L);

#endif
