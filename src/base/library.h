/* SPDX-License-Identifier: MIT
 *
 * Libraries that are loaded when they are used. Nothing of them is needed to build Costate: their
 * functions are declared where they are called (and compared with the headers, where there are any,
 * by tests/test_library.c). A library stays loaded until the process ends. */
#ifndef CST_BASE_LIBRARY_H
#define CST_BASE_LIBRARY_H

#include "base/diag.h"

typedef struct cst_library {
    const char *name;
    const char *package; /* of Debian */
    const char *file[8]; /* tried in turn, NULL at the end */
} cst_library;

extern const cst_library cst_library_hdf5, cst_library_ipopt;

/* Addresses of functions and variables: `symbol` ends with NULL. 0: reported as an error of this
 * status, with the package to install */
int cst_library_load(const cst_library *l, const char *const *symbol, void **address,
                     cst_status status, cst_diag *d);
/* The file that is loaded as this library, or NULL. path (size): a buffer for its name */
const char *cst_library_path(const cst_library *l, char *path, size_t size);

#endif
