/* SPDX-License-Identifier: MIT
 *
 * Dimensions of numbers, measures and objectives. */
#ifndef CST_MODEL_DIMENSIONS_H
#define CST_MODEL_DIMENSIONS_H

#include "model/model.h"
#include "number/dimension.h"

/* What is known of the numbers and the objectives of a model: units of the file, and what follows
 * from them through the expressions, up and down: in `d.x^2 + w*v.x^2` the weight w has s^2. */
typedef struct cst_dimensions {
    cst_dimension *leaf, *objective, *component;
    int weight; /* 1: gravity is not written: 9.81 m/s^2 takes part and is no number of the file */
    /* (objectives) of mass, length: what takes part and hides one that is no number of the file;
     * NULL: nothing does */
    const char **hidden[2];
    const char *dflt[2]; /* of mass, length: defaults that have it, or may have it, and are no
                            numbers of the file; NULL: none */
    const cst_body
        *wrong; /* a body that is given a speed in rad/s, a mass in m, ...; NULL: none was found */
    const char **clash; /* (components, objectives) "m and s": incompatible units that are added in
                           it; NULL: there are none */
} cst_dimensions;
cst_dimensions cst_dimensions_infer(cst_arena *a, const cst_model *m);
/* d->clash; of (values): what is known of the values of the graph */
void cst_dimensions_clash(cst_arena *a, const cst_model *m, const cst_dimension *of,
                          cst_dimensions *d);
/* d->hidden, d->dflt; of (values): what is known of the values of the graph */
void cst_dimensions_hidden(cst_arena *a, const cst_model *m, const cst_dimension *of,
                           cst_dimensions *d);
/* Arguments from `first` on have the dimension of the result (ALIKE), or the result is a pure
 * number: of arguments of one dimension (COMPARED), of pure numbers (FUNCTION: exp, sin), of
 * anything (TRUTH). */
typedef enum cst_manner { CST_OTHER, CST_ALIKE, CST_COMPARED, CST_FUNCTION, CST_TRUTH } cst_manner;
cst_manner cst_op_manner(int op, int *first);

/* units.c: units of components and objectives by their dimensions, and the units in which they are
 * shown. Errors: a chosen unit that does not fit; warnings: incompatible units are added. */
void cst_units_settle(cst_model *m, cst_diag *d);

#endif
