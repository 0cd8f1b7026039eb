/* SPDX-License-Identifier: MIT
 *
 * What a report needs of a run: scene.json, poses.f32, and the page itself. */
#include "cli/session.h"

#include <errno.h>
#include <math.h>
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

/* ---- a run for its pictures ---- */

typedef struct recorder {
    cst_session *s;
    cst_series series;
    cst_film film;
    long step, every;
} recorder;

static int observe(void *ctx, double t, const double *x, int n)
{
    recorder *r = ctx;
    (void)n;
    if (r->step++ % r->every == 0 || t >= r->s->options.end) cst_series_row(&r->series, t, x);
    cst_film_frame(&r->film, r->s->run->s, t, r->s->run->q);
    return cst_stop_asked() != 0 || r->series.error;
}

/* Histories and frames of the model's numbers, as `costate simulate` writes them. */
static int record(cst_session *s)
{
    const cst_model *m = s->model;
    const char *path = cst_session_path(s, "measures.csv"), **name = cst_new(s->arena, const char *, m->component.n + 1);
    recorder r = {.s = s, .every = s->options.output > 0 ? lround(fmax(1, s->options.output / s->options.step)) : 1};
    name[0] = "t";
    for (int i = 0; i < m->component.n; i++) name[i + 1] = m->component.at[i].name;
    if (!cst_series_open(&r.series, s->arena, path, m->component.n + 1, name)) {
        cst_error(&s->diag, CST_IO, (cst_where){.file = path}, "cannot be written: %s", strerror(errno));
        return 0;
    }
    if (!cst_session_film_begin(s, s->run, "", &r.film)) return 0;
    cst_status ok = cst_run_simulate(s->run, NULL, observe, &r, &s->diag);
    if (!cst_series_close(&r.series))
        ok = cst_error(&s->diag, CST_IO, (cst_where){.file = path}, "cannot be written: %s", strerror(r.series.error));
    return cst_session_film_end(s, s->run, "", &r.film) && ok == CST_OK;
}

int cst_session_report(cst_session *s, int simulate)
{
    if (!cst_args_flag(s->args, "report")) return 1;
    if (simulate && !record(s)) return 0;
    const char *path = cst_session_path(s, "report.html");
    if (cst_report_write(s->dir, path, &s->diag) != CST_OK) return 0;
    if (!s->json && !s->quiet) printf("\n%s: open it in a browser\n", path);
    return 1;
}
