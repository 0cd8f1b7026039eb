/* SPDX-License-Identifier: MIT
 *
 * The matrix over (u, lambda) for a chosen set of rows:
 *
 *     [ c_m T^T M T + c_k K + c_c C + held spins     J^T     ]        K = T^T d(r)/dx T with
 * phi_x^T lambda and geo [ J                                      -eps U - soft ]        J = phi_x
 * B, chosen rows only; U: their units
 *
 * The pattern is found once; a block is written through the position of the first row of each of
 * its columns, because the rows of a body, of bodies in a row, and of a constraint stand together.
 */
#ifndef CST_SYSTEM_KKT_H
#define CST_SYSTEM_KKT_H

#include "linalg/rank.h"
#include "linalg/sparse.h"
#include "system/system.h"

typedef struct cst_hold {
    int body;
    double axis[3];
} cst_hold; /* spin without inertia, held; axis in body axes */

typedef struct cst_kkt_run {
    int at, col, row, len;
} cst_kkt_run; /* entries (row .. row + len - 1, col) from val[at] on */

typedef struct cst_kkt {
    int nu, nrow, n; /* n = nu + nrow */
    int phases;
    int *row_of; /* (all rows) position among the chosen ones, -1: left out */
    int *all_of; /* (nrow) */
    const cst_pattern *pattern;
    int *body_at;   /* per body: nu starts of its diagonal block, at [u0] */
    int **link_at;  /* per link: starts of the columns of both bodies, from the first row of the
                       first */
    int **force_at; /* per force: starts of its nt columns, for each of its n ranges of rows
                       (system.h) */
    int **stiff_at; /* per constraint: the same (Hessian) */
    int **jac_at;   /* per constraint: nt starts of its J columns, then nphi*n starts of its J^T
                       columns */
    int *diag_at;   /* (nrow) */
    double
        *unit; /* (nrow) U: squares of the rows' units (structure.h); 1 unless somebody sets them */
    int nblock, nrun; /* number of runs: columns of the bodies' diagonal blocks; all runs of masses
                         and constraints */
    cst_kkt_run *run; /* columns of the diagonal blocks, then the upper half: links and, from jac
                         on, constraints */
    cst_kkt_run *jac, *stiff; /* stiff: all of the unknowns u */
    int nstiff;
    int nhold;
    cst_hold *hold;
} cst_kkt;

/* turn: what the slots' velocities change beside damp B, in the layout of the system's B; NULL:
 * nothing */
typedef struct cst_kkt_coef {
    double mass, stiff, damp, eps, soft;
    const double *turn;
} cst_kkt_coef;

/* keep: (all rows) 1 to choose a row; rows of other phases are never chosen. */
cst_kkt *cst_kkt_new(cst_arena *a, const cst_system *s, int phases, const unsigned char *keep,
                     int nhold, const cst_hold *hold);

/* Values of the matrix at the system's place and rates (cst_slots_blocks must be current).
 * r: ambient residual for the geometric block (NULL: none); lambda by all rows (NULL: no Hessians);
 * forces: 0 leaves f out; hz: the states' implicit weight h/2, 0: states are held. weight: see
 * cst_mass_add. */
void cst_kkt_assemble(const cst_kkt *k, cst_system *s, const double *q, const double *z,
                      const double *mem, const double *r, const double *lambda,
                      const double *weight, cst_kkt_coef c, int forces, double hz, double *val);

/* The same without mass, Jacobian and eps, added to a matrix that has them. */
void cst_kkt_add_stiffness(const cst_kkt *k, cst_system *s, const double *q, const double *z,
                           const double *mem, const double *r, const double *lambda, cst_kkt_coef c,
                           int forces, double hz, double *val);

/* y -= W x, W the matrix of masses and constraints alone, and without its diagonal -eps U */
void cst_kkt_subtract(const cst_kkt *k, const double *val, const double *x, double *y);

/* y = b - A x, b - A^T x, A as below */
void cst_kkt_left(const cst_kkt *k, int transposed, const double *val, double eps, const double *b,
                  const double *x, double *y);

/* x = A^-1 b, A^-T b, where A is the matrix val without its diagonal -eps U and lu has its factors:
 * refined until what is left is rounding. A pass leaves the part eps/(compliance + s^2 + eps), s a
 * singular value of J in the metric of A. scratch: 2 n */
void cst_kkt_solve(const cst_kkt *k, cst_lu *lu, const double *val, double eps, const double *b,
                   double *x, double *scratch);
void cst_kkt_tsolve(const cst_kkt *k, cst_lu *lu, const double *val, double eps, const double *b,
                    double *x, double *scratch);
/* x += y. Returns the largest entry of y relative to the largest of x, separately for coordinates
 * and multipliers; least: lower bound of that unit */
double cst_kkt_correct(const cst_kkt *k, const double *y, double least, double *x);

/* Does refinement end after a correction by `gain`? What is left is about gain^2 after the first
 * pass; before: the correction before, 1 at first */
static inline int cst_kkt_refined(double gain, double *before)
{
    double theta = gain / *before;
    *before = gain;
    return !(gain * theta > 1e-16) || theta > 0.3;
}

/* += B^T (eta E_vv) B of prescribed rates E(x, v) = 0: what is not linear in the velocities */
void cst_kkt_add_rates(const cst_kkt *k, cst_system *s, const double *mem, const double *eta,
                       double *val);

/* rows: gather all-row vectors into chosen ones and back (missing ones become 0) */
void cst_kkt_gather(const cst_kkt *k, const double *all, double *chosen);
void cst_kkt_spread(const cst_kkt *k, const double *chosen, double *all);

/* phi_u by rows: the rows of the phases at the system's place; all_of[i] is the row's number among
 * all rows. Columns are scaled with `column` (nu). For rank tests. */
typedef struct cst_jacobian {
    cst_rows rows;
    int *all_of;
} cst_jacobian;
cst_jacobian cst_jacobian_rows(cst_arena *a, cst_system *s, const double *mem, int phases,
                               const double *column);

#endif
