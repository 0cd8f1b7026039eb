/* SPDX-License-Identifier: MIT
 *
 * Where two ways of a mechanism cross, and which numbers part them there (crossing.c). */
#ifndef CST_SENSITIVITY_CROSSING_H
#define CST_SENSITIVITY_CROSSING_H

#include "sensitivity/breaking.h"

typedef struct cst_meeting { /* a position near which rows depend on others */
    double t;
    const double *q, *mem;
    const double *size;         /* (nu) the length of the loops for translations, 1 for rotations */
    const unsigned char *row;   /* (all rows) 1: it is one of the loops' */
    const double *typical;      /* (all rows) their sizes, by columns of these sizes */
    int always;                 /* 1: they depend in all positions, not near this one only */
    const unsigned char *apart; /* (all rows) 1: it depends on those that have 0 */
    cst_null_space space;
    double gap; /* result: how far the ways pass each other, rad */
} cst_meeting;

enum { CST_NOT_FOUND, CST_CROSSES, CST_PASSES_BY };

/* CST_CROSSES: two ways cross near; opens (leaves) is set to 1 for those of the wanted numbers
 * (likewise) that part them. CST_PASSES_BY: one passes the other. CST_NOT_FOUND: Newton's method
 * leads nowhere. The system keeps its numbers, and is left elsewhere. */
int cst_numbers_parting(cst_run *r, cst_arena *a, cst_meeting *at, const unsigned char *wanted,
                        unsigned char *opens);

#endif
