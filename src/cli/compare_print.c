/* SPDX-License-Identifier: MIT
 *
 * What costate compare shows and writes. */
#include "cli/compare.h"

#include <math.h>
#include <string.h>

void cst_comparison_print(const cst_comparison *c)
{
    const cst_session *s = c->job.s;
    const cst_model *m = s->model;
    enum { SHOWN = 6 };
    int shown = c->job.n < SHOWN ? c->job.n : SHOWN;
    cst_page page = cst_page_of(stdout, 0);
    for (int o = 0; o < m->objective.n; o++) {
        char align[16] = "llll.";
        const char *head[16] = {"formulation", "integrator", "method", m->objective.at[o].name};
        int k = 4;
        align[3] = '.';
        for (int i = 0; i < shown; i++, k++)
            head[k] =
                cst_arena_printf(s->arena, "d/d(%s)", cst_model_number_name(m, c->job.which[i])),
            align[k] = '.';
        head[k] = "distance", align[k++] = 'r', head[k] = "time", align[k++] = 'r',
        head[k] = "violation", align[k++] = 'r';
        align[k] = 0;
        cst_grid g = cst_grid_new(s->arena, align, head);
        for (int i = 0; i < c->rows.n; i++) {
            const cst_compared *r = &c->rows.at[i];
            if (!r->slope) continue;
            cst_grid_add(&g, "%s", r->formulation), cst_grid_add(&g, "%s", r->integrator),
                cst_grid_add(&g, "%s", r->method);
            cst_grid_add(&g, "%.8g", r->value[o]);
            for (int j = 0; j < shown; j++) cst_grid_add(&g, "%+.7g", r->slope[o * c->job.n + j]);
            cst_grid_add(&g, "%.1e", r->distance),
                cst_grid_add(&g, "%.2f", r->seconds / c->forward_s);
            if (isnan(r->violation))
                cst_grid_add(&g, "%s", "");
            else
                cst_grid_add(&g, "%.1e", r->violation);
        }
        cst_grid_print(&g, &page);
        cst_page_gap(&page);
    }
    if (c->job.n > shown)
        cst_page_text(&page, "The table shows the first six numbers; compare.csv and --json have "
                             "all. --wrt chooses.");
    for (int i = 0; i < c->rows.n; i++) {
        const cst_compared *r = &c->rows.at[i];
        if (!r->slope)
            printf("%s, %s, %s: %s\n", r->formulation, r->integrator, r->method, r->note);
    }
    cst_page_text(&page, "distance: largest |p (slope - best)| over the largest |p best|, where "
                         "best is the adjoint of index3 extrapolated from steps h/2 and h/4. time: "
                         "simulation and gradient, in simulations of the model as its file says. "
                         "violation: largest residual of a constraint at the end.");
    if (strcmp(c->job.s->options.sensitivity, "euler") == 0)
        cst_page_text(&page, "mixed: its sensitivities are of first order, by Euler's rule at the "
                             "step of the run; --sensitivity heun and rk4 are of higher order.");
    if (!isnan(cst_args_number(c->job.s->args, "tolerance")) || c->job.s->model->sim.tolerance > 0)
        cst_page_text(&page, "Where a tolerance chooses the lengths of steps, direct and adjoint "
                             "take them as they are.");
}

void cst_comparison_json(const cst_comparison *c, FILE *f, int with_run)
{
    const cst_model *m = c->job.s->model;
    cst_json j = cst_json_begin(f, 1);
    cst_json_object(&j, NULL);
    if (with_run) cst_json_run(&j, c->job.s);
    cst_json_array(&j, "rows");
    for (int i = 0; i < c->rows.n; i++) {
        const cst_compared *r = &c->rows.at[i];
        cst_json_object(&j, NULL);
        cst_json_text(&j, "formulation", r->formulation),
            cst_json_text(&j, "integrator", r->integrator);
        cst_json_text(&j, "method", r->method);
        if (r->slope) {
            cst_json_object(&j, "objectives");
            for (int o = 0; o < m->objective.n; o++)
                cst_json_number(&j, m->objective.at[o].name, r->value[o]);
            cst_json_close(&j);
            cst_json_object(&j, "gradient");
            for (int o = 0; o < m->objective.n; o++) {
                cst_json_object(&j, m->objective.at[o].name);
                for (int k = 0; k < c->job.n; k++)
                    cst_json_number(&j, cst_model_number_name(m, c->job.which[k]),
                                    r->slope[o * c->job.n + k]);
                cst_json_close(&j);
            }
            cst_json_close(&j);
            cst_json_number(&j, "distance", r->distance);
            cst_json_number(&j, "time_ratio", r->seconds / c->forward_s);
            cst_json_number(&j, "violation", r->violation);
        }
        cst_json_text(&j, "note", r->note);
        cst_json_close(&j);
    }
    cst_json_close(&j);
    cst_json_close(&j);
    cst_json_end(&j);
}

/* ---- files ---- */

static void number(FILE *f, double x)
{
    fputc(',', f);
    if (isfinite(x)) fprintf(f, "%.17g", x == 0 ? 0.0 : x);
}

static void quoted(FILE *f, const char *text)
{
    fputs(",\"", f);
    for (const char *c = text; *c; c++) fputs(*c == '"' ? "\"\"" : (char[]){*c, 0}, f);
    fputc('"', f);
}

/* One row per formulation, method and objective */
static void write_rows(const cst_comparison *c, FILE *f)
{
    const cst_model *m = c->job.s->model;
    fputs("formulation,integrator,method,objective,value,distance,time_ratio,violation,note", f);
    for (int k = 0; k < c->job.n; k++)
        quoted(f, cst_arena_printf(c->job.s->arena, "d/d(%s)",
                                   cst_model_number_name(m, c->job.which[k])));
    fputc('\n', f);
    for (int i = 0; i < c->rows.n; i++) {
        const cst_compared *r = &c->rows.at[i];
        for (int o = 0; o < m->objective.n; o++) {
            fprintf(f, "%s,%s,%s,%s", r->formulation, r->integrator, r->method,
                    m->objective.at[o].name);
            number(f, r->slope ? r->value[o] : NAN), number(f, r->distance);
            number(f, r->seconds / c->forward_s), number(f, r->violation);
            quoted(f, r->note);
            for (int k = 0; k < c->job.n; k++)
                number(f, r->slope ? r->slope[o * c->job.n + k] : NAN);
            fputc('\n', f);
        }
    }
}

int cst_comparison_write(const cst_comparison *c)
{
    cst_session *s = c->job.s;
    const char *csv = cst_session_path(s, "compare.csv"),
               *json = cst_session_path(s, "compare.json");
    cst_writer *o = cst_writer_open(s->arena, csv, &s->diag);
    if (!o) return 0;
    write_rows(c, o->f);
    if (!cst_writer_close(o, &s->diag) || !(o = cst_writer_open(s->arena, json, &s->diag)))
        return 0;
    cst_comparison_json(c, o->f, 1);
    return cst_writer_close(o, &s->diag);
}
