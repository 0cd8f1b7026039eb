/* SPDX-License-Identifier: MIT
 *
 * Results in one HDF5 file, for other tools. docs/guide.md describes the layout; a reader may rely
 * on it while the attribute `layout` of the root is 1.
 *
 * The file is written under a temporary name and renamed when it is complete: a killed run leaves
 * an earlier file untouched. A failure is recorded and reported by cst_hdf5_close, so the calls
 * before it need no checks. */
#ifndef CST_REPORT_HDF5_H
#define CST_REPORT_HDF5_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct cst_hdf5 cst_hdf5;

cst_hdf5 *cst_hdf5_open(cst_arena *a, const char *path, cst_diag *d); /* NULL: reported */
int cst_hdf5_close(cst_hdf5 *h, cst_diag *d); /* 0: reported, there is no new file */

/* Groups: "gradient", "gradient/psi"; "" is the root. Parts of a path that come from the model go
 * through cst_hdf5_name, because a slash would begin another group. */
void cst_hdf5_group(cst_hdf5 *h, const char *path);
const char *cst_hdf5_name(cst_hdf5 *h, const char *name);

/* Attributes of a group or a dataset */
void cst_hdf5_attribute_text(cst_hdf5 *h, const char *path, const char *name,
                             const char *text); /* NULL: "" */
void cst_hdf5_attribute_number(cst_hdf5 *h, const char *path, const char *name, double x);

/* Datasets. cols 0: a list of `rows`; both 0: one number. unit NULL: none is known */
void cst_hdf5_numbers(cst_hdf5 *h, const char *path, long rows, long cols, const double *x,
                      const char *unit);
void cst_hdf5_texts(cst_hdf5 *h, const char *path, int n, const char *const *text);

/* Histories: the dataset GROUP/time and one dataset GROUP/measures/NAME per column, all with time
 * as their scale. */
void cst_hdf5_series_begin(cst_hdf5 *h, const char *group, int ncol, const char *const *name,
                           const char *const *unit);
void cst_hdf5_series_row(cst_hdf5 *h, double t, const double *x);
void cst_hdf5_series_end(cst_hdf5 *h);

#endif
