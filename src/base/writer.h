/* SPDX-License-Identifier: MIT
 *
 * Every file that is written goes through here. A file appears whole or not at all: it is written
 * under a name of its own, NAME.PID-K.part, synchronised with the disk and renamed. A growing file
 * has its name from the beginning, so that a run can be followed and a killed run leaves what it
 * has computed. Devices and pipes are written in place. */
#ifndef CST_BASE_WRITER_H
#define CST_BASE_WRITER_H

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

typedef struct cst_writer {
    FILE *f;          /* NULL: closed */
    const char *path; /* its name */
    const char *part; /* the name until it is complete; path: written in place */
    int growing;      /* a failure leaves it as it is */
    int error;        /* errno of the first failure */
} cst_writer;

/* NULL: reported (CST_OUTPUT). A file that is not closed when the arena goes leaves nothing behind,
 * unless it grows. */
cst_writer *cst_writer_open(cst_arena *a, const char *path, cst_diag *d);
cst_writer *cst_writer_grow(cst_arena *a, const char *path, cst_diag *d);
void cst_writer_write(cst_writer *o, const void *bytes,
                      size_t n);                  /* a failure is kept and reported by close */
int cst_writer_close(cst_writer *o, cst_diag *d); /* 1: it is on disk. 0: reported */
void cst_writer_drop(cst_writer *o);              /* as if it had not been opened */

/* Makes a directory, and those above it, locks it until the arena goes, and removes what killed
 * programs have left in it. A locked directory is an error that names the process. */
cst_status cst_writer_directory(cst_arena *a, const char *dir, cst_diag *d);

#endif
