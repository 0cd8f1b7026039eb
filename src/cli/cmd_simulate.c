/* SPDX-License-Identifier: MIT
 *
 * costate simulate: one run, all measures to a file, a table of what happened. */
#include "cli/series.h"
#include "cli/session.h"

#include <string.h>

typedef struct seen {
    double start, end, least, most;
} seen; /* of one component, over all steps */

typedef struct watcher {
    cst_session *s;
    cst_series series;
    cst_hdf5 *hdf5; /* NULL: not asked for */
    cst_film film;
    cst_progress bar;
    seen *component;
    long step;
} watcher;

static int observe(void *ctx, double t, const double *x, int n)
{
    watcher *w = ctx;
    const cst_options *o = &w->s->options;
    for (int i = 0; i < n; i++) {
        seen *c = &w->component[i];
        if (w->step == 0) *c = (seen){x[i], x[i], x[i], x[i]};
        c->end = x[i];
        if (x[i] < c->least) c->least = x[i];
        if (x[i] > c->most) c->most = x[i];
    }
    int stop = cst_stop_asked() != 0 || w->series.out->error;
    w->step++;
    if (w->s->run->row || stop) {
        cst_series_row(&w->series, t, x);
        if (w->hdf5) cst_hdf5_series_row(w->hdf5, t, x);
    }
    cst_film_frame(&w->film, w->s->run->s, t, w->s->run->q);
    cst_progress_show(&w->bar, (t - o->start) / (o->end - o->start), "t = %.4g s", t);
    return stop;
}

/* ---- what is printed ---- */

static void print_measures(const watcher *w, const cst_page *p)
{
    enum { MOST = 60 };
    static const char *const head[] = {"measure", "unit", "start", "end", "least", "most"};
    const cst_model *m = w->s->model;
    int n = m->component.n <= MOST ? m->component.n : MOST;
    cst_grid g = cst_grid_new(w->s->arena, "ll....", head);
    for (int i = 0; i < n; i++) {
        const cst_component *c = &m->component.at[i];
        const seen *x = &w->component[i];
        cst_grid_add(&g, "%s", c->name);
        cst_grid_add(&g, "%s", strcmp(c->shown.unit, "1") != 0 ? c->shown.unit : "");
        cst_grid_number(&g, x->start / c->shown.factor);
        cst_grid_number(&g, x->end / c->shown.factor);
        cst_grid_number(&g, x->least / c->shown.factor);
        cst_grid_number(&g, x->most / c->shown.factor);
    }
    if (n == 0) return;
    cst_grid_print(&g, p);
    if (n < m->component.n) printf("  ... and %d more in measures.csv\n", m->component.n - n);
    cst_page_gap(p);
}

static void print_objectives(const cst_session *s, const cst_page *p)
{
    static const char *const head[] = {"objective", "value", "unit", "definition"};
    cst_grid g = cst_grid_new(s->arena, "l.ll", head);
    for (int i = 0; i < s->model->objective.n; i++) {
        const cst_objective *o = &s->model->objective.at[i];
        cst_grid_add(&g, "%s", o->name);
        cst_grid_add(&g, "%.10g", cst_run_objective(s->run, i) / o->shown.factor);
        cst_grid_add(&g, "%s", o->shown.unit);
        cst_grid_add(&g, "%s", cst_objective_says(s->arena, o));
    }
    if (s->model->objective.n == 0) return;
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

static void print_stats(const cst_session *s)
{
    const cst_stats n = cst_run_stats(s->run);
    if (cst_session_chosen(s)) printf("%s: ", cst_session_chosen(s));
    printf("%ld steps to t = %.6g s in %.3g s: %.2f Newton iterations per step, %ld factorizations",
           n.steps, n.time, n.forward_s, n.steps ? (double)n.iterations / (double)n.steps : 0.0,
           n.factorizations);
    if (n.shortened) printf(", %ld steps shortened", n.shortened);
    printf("\n");
    cst_print_events(&n, cst_kinks_text(s->arena, s->run));
    if (n.drift > 0) printf("redundant constraints stayed closed to %.2g\n", n.drift);
}

static void print_files(watcher *w)
{
    cst_session *s = w->s;
    static const char *const head[] = {"", ""};
    cst_page p = cst_page_of(stdout, 0);
    cst_grid g = cst_grid_new(s->arena, "ll", head);
    cst_grid_add(&g, "%s", cst_session_path(s, "measures.csv"));
    cst_grid_add(&g, "%ld rows: time and %d measure components", w->series.rows,
                 s->model->component.n);
    cst_grid_add(&g, "%s", cst_session_path(s, "run.json"));
    cst_grid_add(&g, "model, options, objectives, statistics");
    if (w->hdf5) {
        cst_grid_add(&g, "%s", cst_session_path(s, "results.h5"));
        cst_grid_add(&g, "all of these, for other tools");
    }
    cst_grid_add(&g, "%s", cst_session_path(s, "scene.json"));
    cst_grid_add(&g, "with poses.f32 (%ld frames): what `costate report` draws", w->film.frames);
    cst_page_gap(&p);
    cst_grid_print(&g, &p);
}

static void print_results(watcher *w, int complete)
{
    const cst_session *s = w->s;
    cst_page p = cst_page_of(stdout, 0);
    cst_page_heading(&p, 1, s->model->name && *s->model->name ? s->model->name : s->model->file);
    cst_page_gap(&p);
    print_measures(w, &p);
    if (complete) print_objectives(s, &p);
    print_stats(s);
    print_files(w);
}

/* ---- what is written ---- */

static void result_members(cst_json *j, const cst_session *s, int complete)
{
    cst_json_objectives(j, s->run, complete);
    cst_json_measures_end(j, s->run);
    cst_json_definitions(j, s->model);
    cst_json_stats(j, s->run);
}

/* `running` is what a killed run leaves behind */
static int write_facts(watcher *w, const char *status, int ended, int complete)
{
    cst_session *s = w->s;
    const char *path = cst_session_path(s, "run.json");
    cst_writer *o = cst_writer_open(s->arena, path, &s->diag);
    if (!o) return 0;
    cst_json j = cst_json_begin(o->f, 1);
    cst_json_object(&j, NULL);
    cst_json_run(&j, s);
    cst_json_text(&j, "status", status);
    cst_json_messages(&j, &s->diag);
    if (ended) {
        result_members(&j, s, complete);
        cst_json_number(&j, "wall_s", cst_seconds() - s->begin);
    }
    cst_json_object(&j, "files");
    cst_json_text(&j, "measures.csv", "time and all measure components");
    if (w->hdf5)
        cst_json_text(&j, "results.h5", "time, all measure components, objectives, what was run");
    cst_json_text(&j, "scene.json", "what there is to draw");
    cst_json_text(&j, "poses.f32", "frames of the animation");
    cst_json_close(&j);
    cst_json_object(&j, "units");
    for (int i = 0; i < s->model->component.n; i++)
        cst_json_text(&j, s->model->component.at[i].name, s->model->component.at[i].unit);
    cst_json_close(&j);
    cst_json_close(&j);
    cst_json_end(&j);
    return cst_writer_close(o, &s->diag);
}

static void print_json(const cst_session *s, cst_status status)
{
    cst_json j = cst_json_begin(s->args->out, 1);
    cst_json_object(&j, NULL);
    if (status != CST_OK) {
        cst_json_text(&j, "status", cst_status_text(status));
        cst_json_messages(&j, &s->diag);
    }
    result_members(&j, s, status == CST_OK);
    cst_json_close(&j);
    cst_json_end(&j);
}

/* ---- the run ---- */

static int open_series(watcher *w)
{
    cst_session *s = w->s;
    const cst_model *m = s->model;
    const char **name = cst_new(s->arena, const char *, m->component.n + 1);
    name[0] = "t";
    for (int i = 0; i < m->component.n; i++) name[i + 1] = m->component.at[i].name;
    const char *path = cst_session_path(s, "measures.csv");
    cst_writer *o = cst_writer_grow(s->arena, path, &s->diag);
    if (o) cst_series_open(&w->series, s->arena, o, m->component.n + 1, name);
    return o != NULL;
}

static cst_status finish(watcher *w, cst_status status)
{
    cst_session *s = w->s;
    const char *path = cst_session_path(s, "measures.csv");
    double reached = cst_run_stats(s->run).time;
    cst_progress_end(&w->bar);
    if (!cst_series_close(&w->series, &s->diag))
        status = CST_OUTPUT;
    else if (status == CST_STOPPED)
        cst_warn(&s->diag, (cst_where){.file = path},
                 "stopped at t = %g s; the %ld rows up to there are in this file", reached,
                 w->series.rows);
    else if (status != CST_OK && w->series.rows)
        cst_warn(&s->diag, (cst_where){.file = path},
                 "the %ld rows up to the failure are in this file", w->series.rows);
    if (w->hdf5 && !cst_results_hdf5_end(s, w->hdf5, status) && status == CST_OK)
        status = CST_OUTPUT;
    if (!cst_session_film_end(s, s->run, "", &w->film) && status == CST_OK) status = CST_OUTPUT;
    if (!write_facts(w, cst_status_text(status), 1, status == CST_OK) && status == CST_OK)
        status = CST_OUTPUT;
    cst_session_messages(s);
    return status;
}

static int simulate(watcher *w)
{
    cst_session *s = w->s;
    int leave = cst_session_run(s);
    if (!leave) leave = cst_session_directory(s);
    if (leave) return leave;
    w->hdf5 = cst_results_hdf5_begin(s, &leave);
    if (leave || !open_series(w) || !write_facts(w, "running", 0, 0) ||
        !cst_session_film_begin(s, s->run, "", &w->film))
        return cst_session_fail(s, CST_OUTPUT);
    w->component = cst_new(s->arena, seen, s->model->component.n + 1);
    w->bar = cst_progress_begin(!s->quiet);
    cst_stop_listen();
    cst_status status = finish(w, cst_run_simulate(s->run, NULL, observe, w, &s->diag));
    if (s->json)
        print_json(s, status);
    else if (!s->quiet && w->step > 0)
        print_results(w, status == CST_OK);
    cst_status page = w->step > 0 && status != CST_OUTPUT ? cst_session_report(s, 0) : CST_OK;
    cst_session_messages(s);
    if (status == CST_OK) status = page;
    return cst_exit_status(status);
}

static int run(const cst_args *args)
{
    cst_session *s = cst_new(args->arena, cst_session, 1);
    watcher w = {.s = s};
    int status = cst_session_open(s, args);
    if (!status) status = simulate(&w);
    cst_session_close(s);
    return status;
}

const cst_command cst_command_simulate = {
    .name = "simulate",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Simulates a model and writes the histories of all measures.",
    .notes = "Writes DIR/measures.csv (time and all measure components, 17 digits) while it runs, "
             "and DIR/run.json (what was run, objectives, statistics). Prints the measures at the "
             "start, at the end and their extremes over all steps, and the objectives. --hdf5 "
             "writes all of it to DIR/results.h5 as well, when the run has ended. DIR/scene.json "
             "and DIR/poses.f32 hold what `costate report` draws.\n"
             "ctrl-C ends the run at the next step; what was computed stays on disk.",
    .groups = CST_OPTIONS_MODEL | CST_OPTIONS_RUN | CST_OPTIONS_OUT | CST_OPTIONS_HDF5 |
              CST_OPTIONS_REPORT | CST_OPTIONS_PRINT,
    .run = run,
};
