/* SPDX-License-Identifier: MIT
 *
 * What a report needs of a run: scene.json, poses.f32, and the page itself. */
#include "cli/session.h"

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
    cst_writer *o = cst_writer_open(s->arena, path, &s->diag);
    if (!o) return 0;
    cst_scene_write(o->f, r->s, film);
    return cst_writer_close(o, &s->diag);
}

int cst_session_scene(cst_session *s, const cst_run *r) { return write_scene(s, r, "", NULL); }

int cst_session_film_begin(cst_session *s, const cst_run *r, const char *stem, cst_film *film)
{
    const cst_options *o = &r->options;
    return cst_film_open(film, s->arena, r->m, path_of(s, stem, "poses.f32"), o->start, o->end,
                         o->step, &s->diag) &&
           write_scene(s, r, stem, NULL); /* what a killed run leaves behind has no roads */
}

int cst_session_film_end(cst_session *s, const cst_run *r, const char *stem, cst_film *film)
{
    return cst_film_close(film, &s->diag) && write_scene(s, r, stem, film);
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
    return cst_stop_asked() != 0 || w->series.out->error;
}

static void open_series(cst_session *s, const cst_model *m, cst_writer *out, cst_series *to)
{
    const char **name = cst_new(s->arena, const char *, m->component.n + 1);
    name[0] = "t";
    for (int i = 0; i < m->component.n; i++) name[i + 1] = m->component.at[i].name;
    cst_series_open(to, s->arena, out, m->component.n + 1, name);
}

cst_status cst_session_record(cst_session *s, cst_run *r, const double *values, double output,
                              const char *stem, cst_hdf5 *hdf5)
{
    char *file = cst_arena_strdup(s->arena, stem);
    for (char *c = file; *c; c++)
        if (*c == '/') *c = '-';
    const char *path = *file ? path_of(s, file, "csv") : cst_session_path(s, "measures.csv");
    recorder w = {.r = r, .hdf5 = hdf5};
    r->options.output = output, r->every_step = 1; /* frames come from each step */
    cst_writer *out = cst_writer_open(s->arena, path, &s->diag);
    if (!out) return CST_OUTPUT;
    open_series(s, r->m, out, &w.series);
    cst_status ok = CST_OUTPUT;
    if (cst_session_film_begin(s, r, file, &w.film)) {
        ok = cst_run_simulate(r, values, observe, &w, &s->diag);
        if (!cst_session_film_end(s, r, file, &w.film) && ok == CST_OK) ok = CST_OUTPUT;
    }
    if (ok == CST_OK || out->error) return cst_series_close(&w.series, &s->diag) ? ok : CST_OUTPUT;
    cst_writer_drop(out);
    return ok;
}

cst_status cst_session_report(cst_session *s, int simulate)
{
    if (!cst_args_flag(s->args, "report")) return CST_OK;
    const char *path = cst_session_path(s, "report.html");
    cst_status ok =
        simulate ? cst_session_record(s, s->run, NULL, s->options.output, "", NULL) : CST_OK;
    if (ok == CST_OK) ok = cst_report_write(1, &s->dir, path, &s->diag);
    if (ok == CST_OK && !s->json && !s->quiet) printf("\n%s: open it in a browser\n", path);
    return ok;
}
