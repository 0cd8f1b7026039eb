/* SPDX-License-Identifier: MIT */
#include "cli/series.h"

#include <string.h>

#include "cli/term.h"

enum { NUMBER = 26 /* characters of a number and its comma, at most */, BLOCK = 1 << 16 };

static void flush(cst_series *s)
{
    cst_writer_write(s->out, s->text, s->used);
    s->used = 0;
    s->flushed = cst_seconds();
}

void cst_series_open(cst_series *s, cst_arena *a, cst_writer *out, int ncol,
                     const char *const *name)
{
    size_t head = 2;
    for (int i = 0; i < ncol; i++) head += strlen(name[i]) + 1;
    *s = (cst_series){.out = out, .ncol = ncol, .cap = BLOCK + head + (size_t)ncol * NUMBER};
    setvbuf(out->f, NULL, _IONBF, 0);
    s->text = cst_new(a, char, s->cap);
    for (int i = 0; i < ncol; i++)
        s->used += (size_t)snprintf(s->text + s->used, s->cap - s->used, "%s%s", name[i],
                                    i + 1 < ncol ? "," : "\n");
    flush(s);
}

void cst_series_row(cst_series *s, double t, const double *x)
{
    for (int i = 0; i < s->ncol; i++)
        s->used += (size_t)snprintf(s->text + s->used, s->cap - s->used, "%.17g%c",
                                    i ? x[i - 1] : t, i + 1 < s->ncol ? ',' : '\n');
    s->rows++;
    if (s->used >= BLOCK || cst_seconds() - s->flushed > 0.25) flush(s);
}

int cst_series_close(cst_series *s, cst_diag *d)
{
    flush(s);
    return cst_writer_close(s->out, d);
}
