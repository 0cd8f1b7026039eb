/* SPDX-License-Identifier: MIT
 *
 * A file with every evaluation of a search, exact to the bit and on disk before its values are
 * used. An optimiser is a deterministic function of the answers it gets: replaying them brings it
 * to the very state it was killed in.
 *
 *     header   "costate journal 1", key, n, m
 *     record   x (n), status, f, c (m), df (n), dc (m n), checksum; all 8 bytes each, in the order
 * of this machine
 *
 * A record that was being written when the program was killed has a wrong checksum and is cut off.
 */
#ifndef CST_OPTIMISE_JOURNAL_H
#define CST_OPTIMISE_JOURNAL_H

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

typedef struct cst_journal {
    FILE *f;
    const char *path;
    int n, m;
    size_t words;   /* of one record */
    double *record; /* (words) */
    long left;      /* records to replay */
} cst_journal;

typedef struct cst_answer { /* of one evaluation */
    cst_status status;
    double *f, *c, *df, *dc;
} cst_answer;

/* NULL: reported. Closed with the arena. */
cst_journal *cst_journal_open(cst_arena *a, const char *path, int resume, unsigned long long key,
                              int n, int m, cst_diag *d);
/* The recorded answer for x. 1: there it is; 0: no more records; -1: the record is of another x */
int cst_journal_next(cst_journal *j, const double *x, cst_answer *to);
int cst_journal_add(cst_journal *j, const double *x, const cst_answer *from); /* 0: not written */

#endif
