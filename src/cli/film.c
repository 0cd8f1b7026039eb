/* SPDX-License-Identifier: MIT
 *
 * What a report needs of a run: scene.json, poses.f32, and the page itself. */
#include "cli/session.h"

#include <errno.h>
#include <string.h>

#include "cli/series.h"
#include "report/report.h"

/* stem: of the files' names, "" for a directory with one run */
static const char *path_of(cst_session *s, const char *stem, const char *name)
{
    return cst_session_path(s, cst_arena_printf(s->arena, "%s%s%s", stem, *stem ? "." : "", name));
}

static int write_scene(cst_session *s, const cst_run *r, const char *stem, const cst_film *film)
{
    const char *path = path_of(s, stem, "scene.json");
    FILE *f = cst_file_begin(s, path);
    if (!f) return 0;
    cst_scene_write(f, r->s, film);
    return cst_file_end(s, f, path);
}

int cst_session_scene(cst_session *s, const cst_run *r) { return write_scene(s, r, "", NULL); }

int cst_session_film_begin(cst_session *s, const cst_run *r, const char *stem, cst_film *film)
{
    const cst_options *o = &r->options;
    const char *path = path_of(s, stem, "poses.f32");
    if (!cst_film_open(film, s->arena, r->m, path, o->start, o->end, o->step)) {
        cst_error(&s->diag, CST_IO, (cst_where){.file = path}, "cannot be written: %s", strerror(errno));
        return 0;
    }
    return write_scene(s, r, stem, NULL); /* what a killed run leaves behind has no roads */
}

int cst_session_film_end(cst_session *s, const cst_run *r, const char *stem, cst_film *film)
{
    if (cst_film_close(film)) return write_scene(s, r, stem, film);
    cst_error(&s->diag, CST_IO, (cst_where){.file = path_of(s, stem, "poses.f32")}, "cannot be written: %s",
              strerror(film->error));
    return 0;
}

/* ---- a run for its files ---- */

typedef struct recorder {
    const cst_run *r;
    cst_hdf5 *hdf5;
    cst_series series;
    cst_film film;
} recorder;

static int observe(void *ctx, double t, const double *x, int n)
{
    recorder *w = ctx;
    (void)n;
    if (w->r->row) {
        cst_series_row(&w->series, t, x);
        if (w->hdf5) cst_hdf5_series_row(w->hdf5, t, x);
    }
    cst_film_frame(&w->film, w->r->s, t, w->r->q);
    return cst_stop_asked() != 0 || w->series.error;
}

static int open_series(cst_session *s, const cst_model *m, const char *part, cst_series *to)
{
    const char **name = cst_new(s->arena, const char *, m->component.n + 1);
    name[0] = "t";
    for (int i = 0; i < m->component.n; i++) name[i + 1] = m->component.at[i].name;
    return cst_series_open(to, s->arena, part, m->component.n + 1, name);
}

cst_status cst_session_record(cst_session *s, cst_run *r, const double *values, double output, const char *stem,
                              cst_hdf5 *hdf5)
{
    char *file = cst_arena_strdup(s->arena, stem);
    for (char *c = file; *c; c++)
        if (*c == '/') *c = '-';
    const char *path = *file ? path_of(s, file, "csv") : cst_session_path(s, "measures.csv");
    const char *part = cst_arena_printf(s->arena, "%s.part", path);
    recorder w = {.r = r, .hdf5 = hdf5};
    r->options.output = output, r->every_step = 1; /* frames come from each step */
    if (!open_series(s, r->m, part, &w.series))
        return cst_error(&s->diag, CST_IO, (cst_where){.file = path}, "cannot be written: %s", strerror(errno));
    cst_status ok = cst_session_film_begin(s, r, file, &w.film) ? CST_OK : CST_IO;
    if (ok == CST_OK) ok = cst_run_simulate(r, values, observe, &w, &s->diag);
    if (!cst_session_film_end(s, r, file, &w.film) && ok == CST_OK) ok = CST_IO;
    if (!cst_series_close(&w.series) || (ok == CST_OK && rename(part, path) != 0))
        return cst_error(&s->diag, CST_IO, (cst_where){.file = path}, "cannot be written: %s",
                         strerror(w.series.error ? w.series.error : errno));
    if (ok != CST_OK) remove(part);
    return ok;
}

int cst_session_report(cst_session *s, int simulate)
{
    if (!cst_args_flag(s->args, "report")) return 1;
    if (simulate && cst_session_record(s, s->run, NULL, s->options.output, "", NULL) != CST_OK) return 0;
    const char *path = cst_session_path(s, "report.html");
    if (cst_report_write(1, &s->dir, path, &s->diag) != CST_OK) return 0;
    if (!s->json && !s->quiet) printf("\n%s: open it in a browser\n", path);
    return 1;
}
