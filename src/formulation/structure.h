/* SPDX-License-Identifier: MIT
 *
 * Properties of a model that are found once: which rows are redundant, which spins are held, the
 * number of degrees of freedom, the patterns and the elimination orders. Immutable afterwards;
 * shared by runs with other numbers and by threads. */
#ifndef CST_FORMULATION_STRUCTURE_H
#define CST_FORMULATION_STRUCTURE_H

#include "linalg/rank.h"
#include "system/kkt.h"

typedef struct cst_structure {
    const cst_model *m;
    unsigned char *keep; /* (all rows) takes part in the motion */
    int rank, dof;
    int drawn_rank; /* at the drawn position: less than rank when that is singular */
    cst_rank dep;   /* dependent rows and what they depend on, in rows of jac_all */
    int *dep_all;   /* (nrow) row of the rank test -> number among all rows */
    int *left_out;  /* (dep.ndep) rows that are not integrated, among all rows; not always those of
                       dep */
    int nhold;
    cst_hold *hold;
    double heaviest;       /* mass; 1 if there is none */
    double eps, start_eps; /* of the lower right block of the motion's matrices, of the start's */
    double *weight;  /* (nq) metric of assembly: 1 for points, the square of the body's size for
                        directions, of a lever for scalars */
    double *ambient; /* (nq) what counts as 1: the model's length for points, 1 for directions */
    double *column; /* (nu) the body's size for translations, 1 for rotations: scaling of rank tests
                       and norms */
    double *extent; /* (nu) the body's size */
    double *unit,
        *reach; /* (rows) square of phi per metre; phi per size of its bodies: structure.c */
    cst_kkt *motion, *assembly, *rates;
    int entries; /* largest number of entries of the motion's matrix over all choices of rows */
    cst_lu *motion_lu, *assembly_lu, *rates_lu; /* orders; runs take twins */
    double *q;                                  /* (nq) assembled at the nominal numbers */
} cst_structure;

/* An open joint, in sizes of its bodies: less is rounding, or closed */
#define CST_CLOSED 1e-12

/* Sizes of bodies at the system's numbers: weight, ambient, column, eps. */
void cst_structure_bind(cst_structure *st, const cst_system *s);
void cst_structure_units(const cst_structure *st, cst_kkt *k); /* units of its rows */
/* The largest |phi_i| of the phases, in sizes of its bodies and beyond rounding, at the place of
 * the system; its constraint */
double cst_structure_open(const cst_structure *st, const cst_system *s, int phases,
                          const double *phi, int *worst);

/* "'a', 'b'": the drives whose rows depend on each other together with those of a constraint; their
 * number */
int cst_structure_drives(const cst_structure *st, int constraint, size_t n, char *text);

/* NULL: the mechanism cannot be assembled (reported), or memory */
cst_structure *cst_structure_new(cst_arena *a, cst_system *s, cst_diag *d);

/* The rows to leave out at q (dep.ndep, among all rows). 0: another rank there (a singular
 * position), or memory */
int cst_structure_choose(cst_arena *a, cst_system *s, const cst_structure *st, const double *mem,
                         double t, const double *q, int *left_out);
/* q1: a position near q at which all rows of the motion are closed, by steps of least change;
 * before them q is moved by `amplitude` (rad, or sizes of the bodies) in a random admissible
 * direction. 0: it was not found, or memory */
int cst_structure_close(cst_arena *a, cst_system *s, const cst_structure *st, const double *mem,
                        double t, double amplitude, const double *q, double *q1);
/* The elimination order for another choice of rows; the system is placed at q. NULL: it cannot be
 * factored */
cst_lu *cst_structure_order(cst_arena *a, cst_system *s, const cst_structure *st, const cst_kkt *k,
                            const double *q, const double *mem);

#endif
