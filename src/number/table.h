/* SPDX-License-Identifier: MIT
 *
 * Tables y(x): linear, or natural cubic spline (twice differentiable: drivers need it). Outside the
 * grid the end value (clamp) or the end slope (extend) goes on; `periodic` wraps x with the period
 * x[n-1] - x[0], and its spline closes smoothly (slope and curvature of both ends agree; the values
 * agree if y[n-1] = y[0]). The grid x is constant data; the values are leaves (written in the model
 * file: y >= 0 is the first of n consecutive ids) or constant data (CSV). */
#ifndef CST_NUMBER_TABLE_H
#define CST_NUMBER_TABLE_H

#include "number/graph.h"

typedef enum { CST_TABLE_LINEAR, CST_TABLE_CUBIC } cst_table_kind;
typedef enum { CST_TABLE_CLAMP, CST_TABLE_EXTEND, CST_TABLE_PERIODIC } cst_table_outside;

struct cst_table {
    int n;
    cst_table_kind kind;
    cst_table_outside outside;
    const double *x;      /* (n) strictly increasing */
    const double *y;      /* (n) data, or NULL when they are leaves */
    cst_id y_id;          /* first of n ids, or CST_NONE */
    const double *m;      /* (n) second derivatives of the spline, data tables only */
    cst_id m_id;          /* first of n ids (a vector node of the y ids), leaf tables only */
    const double *factor; /* of the tridiagonal system for m, cubic only: see table.c */
    int index;            /* its number in the graph */
};

/* Also computes the parts that depend on the kind (second derivatives). Never returns NULL; the
 * caller has checked the grid. */
const cst_table *cst_table_new(cst_arena *a, cst_graph *g, int n, const double *x, const double *y,
                               cst_id y_id, cst_table_kind kind, cst_table_outside outside);

/* The interval that x is in, -1 and n-1 outside the grid; 0 to n-2 in a periodic table */
int cst_table_interval(const cst_table *t, double x);

/* Second derivatives m of the spline through y: a linear map, so it also maps their tangents.
 * reverse adds m_bar's share to y_bar; m_bar is used up as work space. */
void cst_spline_solve(const cst_table *t, const double *y, double *m);
void cst_spline_reverse(const cst_table *t, double *m_bar, double *y_bar);

#endif
