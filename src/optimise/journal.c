/* SPDX-License-Identifier: MIT */
#include "optimise/journal.h"

#include "base/hash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct header {
    char magic[24];
    uint64_t key;
    int64_t n, m;
} header;

static void set_checksum(cst_journal *j)
{
    uint64_t h = cst_hash_bytes(CST_HASH_START, j->record, sizeof(double) * (j->words - 1));
    memcpy(&j->record[j->words - 1], &h, sizeof h);
}

static int read_record(cst_journal *j)
{
    uint64_t h;
    if (fread(j->record, sizeof(double), j->words, j->f) != j->words) return 0;
    memcpy(&h, &j->record[j->words - 1], sizeof h);
    return h == cst_hash_bytes(CST_HASH_START, j->record, sizeof(double) * (j->words - 1));
}

static void close_file(void *f) { fclose(f); }

static int to_disk(cst_journal *j) { return fflush(j->f) == 0 && fdatasync(fileno(j->f)) == 0; }

/* Counts complete records, truncates the file after them, and returns to the first. */
static int find_records(cst_journal *j)
{
    while (read_record(j)) j->left++;
    long end = (long)sizeof(header) + j->left * (long)(sizeof(double) * j->words);
    return fflush(j->f) == 0 && ftruncate(fileno(j->f), end) == 0 &&
           fseek(j->f, (long)sizeof(header), SEEK_SET) == 0;
}

cst_journal *cst_journal_open(cst_arena *a, const char *path, int resume, unsigned long long key,
                              int n, int m, cst_diag *d)
{
    cst_journal *j = cst_new(a, cst_journal, 1);
    header own = {.magic = "costate journal 1\n", .key = key, .n = n, .m = m}, old;
    *j = (cst_journal){.path = path,
                       .n = n,
                       .m = m,
                       .words = 3 + (size_t)n + (size_t)m + (size_t)n * ((size_t)m + 1)};
    j->record = cst_new(a, double, j->words);
    const cst_where here = {.file = path};
    if (resume && (j->f = fopen(path, "r+b"))) {
        cst_arena_defer(a, close_file, j->f);
        if (fread(&old, sizeof old, 1, j->f) == 1) {
            if (memcmp(&own, &old, sizeof own) != 0) {
                cst_error(d, CST_USAGE, here,
                          "it was recorded for another model, other settings or another version: "
                          "start without resuming");
                return NULL;
            }
            if (find_records(j)) return j;
            cst_error(d, CST_IO, here, "cannot be read: %s", strerror(errno));
            return NULL;
        } /* killed before the header was written: nothing is lost */
    }
    j->f = fopen(path, "w+b");
    if (j->f) cst_arena_defer(a, close_file, j->f);
    if (j->f && fwrite(&own, sizeof own, 1, j->f) == 1 && to_disk(j)) return j;
    cst_error(d, CST_OUTPUT, here, "cannot be written: %s", strerror(errno));
    return NULL;
}

static double *part(double **at, int n)
{
    double *from = *at;
    *at += n;
    return from;
}

int cst_journal_next(cst_journal *j, const double *x, cst_answer *to)
{
    if (j->left == 0) return 0;
    size_t n = (size_t)j->n, m = (size_t)j->m;
    double *at = j->record;
    if (!read_record(j) || memcmp(part(&at, j->n), x, sizeof *x * n) != 0) return -1;
    if (--j->left == 0) fseek(j->f, 0, SEEK_END); /* between reading and writing */
    to->status = (cst_status)*part(&at, 1);
    *to->f = *part(&at, 1);
    memcpy(to->c, part(&at, j->m), sizeof *at * m);
    memcpy(to->df, part(&at, j->n), sizeof *at * n);
    memcpy(to->dc, at, sizeof *at * n * m);
    return 1;
}

int cst_journal_add(cst_journal *j, const double *x, const cst_answer *from)
{
    size_t n = (size_t)j->n, m = (size_t)j->m;
    double *at = j->record;
    memcpy(part(&at, j->n), x, sizeof *x * n);
    *part(&at, 1) = from->status;
    *part(&at, 1) = *from->f;
    memcpy(part(&at, j->m), from->c, sizeof *at * m);
    memcpy(part(&at, j->n), from->df, sizeof *at * n);
    memcpy(at, from->dc, sizeof *at * n * m);
    set_checksum(j);
    return fwrite(j->record, sizeof(double), j->words, j->f) == j->words && to_disk(j);
}
