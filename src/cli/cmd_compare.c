/* SPDX-License-Identifier: MIT
 *
 * costate compare: every formulation with every sensitivity method on one model. */
#include <math.h>
#include <string.h>

#include "cli/compare.h"
#include "formulation/formulation.h"

typedef cst_compared row;
typedef cst_comparison comparison;

static const cst_method methods[] = {CST_CONTINUOUS_DIRECT, CST_CONTINUOUS_ADJOINT, CST_MIXED,
                                     CST_DIRECT, CST_ADJOINT};
enum { NMETHOD = sizeof methods / sizeof *methods };

/* The last error of a diagnosis, without its place */
static const char *reason(cst_arena *a, const cst_diag *d)
{
    const char *text = strstr(d->text, "error: ");
    if (!text) return "failed";
    text += 7;
    return cst_arena_strndup(a, text, strcspn(text, "\n"));
}

static row *row_add(comparison *c, const char *formulation, const char *integrator,
                    const char *method)
{
    row *r = cst_push(c->job.s->arena, &c->rows);
    *r = (row){.formulation = formulation,
               .integrator = integrator,
               .method = method,
               .note = "",
               .distance = NAN,
               .violation = NAN,
               .seconds = NAN};
    return r;
}

static void row_take(comparison *c, row *r, const cst_gradient *g, const cst_stats *st)
{
    cst_arena *a = c->job.s->arena;
    size_t nobj = (size_t)g->objectives, n = nobj * (size_t)g->numbers;
    r->value = cst_new(a, double, nobj + 1), r->slope = cst_new(a, double, n + 1);
    memcpy(r->value, g->value, sizeof *r->value * nobj);
    memcpy(r->slope, g->slope, sizeof *r->slope * n);
    r->seconds = st->forward_s + g->gradient_s, r->violation = st->violation;
}

static const char *integrator_of(cst_arena *a, const cst_session *s, const cst_formulation *f)
{
    const char *asked = cst_session_word(s, "integrator", "default");
    if (strcmp(asked, "default") != 0) return asked;
    return cst_arena_strndup(a, f->integrators, strcspn(f->integrators, "|"));
}

static cst_model *load_joints(const cst_session *s, const char *formulation, cst_diag *d)
{
    const char **set = cst_new(s->arena, const char *, s->nset + 1);
    for (int i = 0; i < s->nset; i++) set[i] = s->set[i];
    set[s->nset] = cst_arena_printf(s->arena, "simulation.formulation=%s", formulation);
    return cst_model_load_below(s->below, s->args->operand.at[0], s->nset + 1, set, d);
}

static void compare_formulation(comparison *c, const cst_formulation *f, const char *integrator)
{
    cst_session *s = c->job.s;
    cst_options o = s->options;
    o.formulation = f->name, o.integrator = integrator, o.output = 0;
    cst_diag *d = cst_new(s->arena, cst_diag, 1);
    cst_model *own = f->traits & CST_JOINTS ? load_joints(s, f->name, d)
                                            : NULL; /* the same numbers in the same order */
    cst_run *run =
        own || !(f->traits & CST_JOINTS) ? cst_run_new(own ? own : s->model, &o, d) : NULL;
    if (!run) row_add(c, f->name, o.integrator, "all methods")->note = reason(s->arena, d);
    for (int i = 0; run && i < NMETHOD; i++) {
        row *r = row_add(c, f->name, o.integrator, cst_method_text(methods[i]));
        memset(d->text, 0, sizeof d->text);
        d->used = 0, d->errors = 0;
        const cst_gradient *g = cst_run_gradient(run, NULL, methods[i], c->job.n, c->job.which, d);
        cst_stats st = cst_run_stats(run);
        if (g)
            row_take(c, r, g, &st);
        else
            r->note = reason(s->arena, d);
        if (cst_stop_asked()) break;
    }
    cst_run_free(run);
    cst_model_free(own);
}

/* One-sided differences with a fixed relative width, as they are used in practice */
static void compare_difference(comparison *c, double width, const char *name)
{
    cst_session *s = c->job.s;
    const cst_model *m = s->model;
    int all = cst_model_number_count(m), nobj = cst_model_objective_count(m), n = c->job.n;
    double *x = cst_new(s->arena, double, all + 1);
    row *r = row_add(c, cst_session_word(s, "formulation", m->sim.formulation), "", name);
    cst_diag *d = cst_new(s->arena, cst_diag, 1);
    double begin = cst_seconds();
    for (int i = 0; i < all; i++) x[i] = cst_model_number_value(m, i);
    r->value = cst_new(s->arena, double, nobj + 1),
    r->slope = cst_new(s->arena, double, 1 + (size_t)nobj * (size_t)n);
    if (cst_run_simulate(s->run, x, NULL, NULL, d) != CST_OK) {
        r->note = reason(s->arena, d), r->slope = NULL;
        return;
    }
    for (int o = 0; o < nobj; o++) r->value[o] = cst_run_objective(s->run, o);
    s->run->frozen = 1; /* other steps would be another function */
    for (int i = 0; i < n; i++) {
        double p = x[c->job.which[i]], h = width * (p != 0 ? fabs(p) : 1);
        x[c->job.which[i]] = p + h;
        int ok = cst_run_simulate(s->run, x, NULL, NULL, d) == CST_OK;
        for (int o = 0; o < nobj; o++)
            r->slope[o * n + i] = ok ? (cst_run_objective(s->run, o) - r->value[o]) / h : NAN;
        x[c->job.which[i]] = p;
    }
    s->run->frozen = 0;
    r->seconds = cst_seconds() - begin;
}

/* The yardstick: the adjoint of the default formulation, extrapolated from steps h/2 and h/4 (order
 * 2); a tolerance chooses such steps when it is an eighth and a 64th (local error of order 3) */
static cst_status yardstick(comparison *c)
{
    cst_session *s = c->job.s;
    cst_options o = s->options;
    size_t n = (size_t)s->model->objective.n * (size_t)c->job.n;
    c->best = cst_new(s->arena, double, n + 1);
    double tolerance = o.tolerance > 0 ? o.tolerance : s->model->sim.tolerance;
    o.formulation = "index3", o.integrator = "default", o.output = 0;
    for (int k = 1; k <= 2; k++) {
        o.step = s->options.step / (1 << k);
        if (tolerance > 0) o.tolerance = ldexp(tolerance, -3 * k);
        cst_run *run = cst_run_new(s->model, &o, &s->diag);
        const cst_gradient *g =
            run ? cst_run_gradient(run, NULL, CST_ADJOINT, c->job.n, c->job.which, &s->diag) : NULL;
        for (size_t i = 0; g && i < n; i++)
            c->best[i] += (k == 1 ? -1.0 / 3 : 4.0 / 3) * g->slope[i];
        cst_run_free(run);
        if (!g) return s->diag.status;
    }
    return CST_OK;
}

/* Largest |p (slope - best)| over the largest |p best| of the objective; |p| = 1 for numbers that
 * are 0 */
static void measure_distance(const comparison *c, row *r)
{
    const cst_model *m = c->job.s->model;
    int n = c->job.n;
    for (int o = 0; r->slope && o < m->objective.n; o++) {
        double off = 0, size = 0;
        for (int i = 0; i < n; i++) {
            double p = fabs(cst_model_number_value(m, c->job.which[i])), best = c->best[o * n + i];
            if (p == 0) p = 1;
            if (isnan(best) || isnan(r->slope[o * n + i])) continue;
            off = fmax(off, p * fabs(r->slope[o * n + i] - best)),
            size = fmax(size, p * fabs(best));
        }
        double d = size > 0 ? off / size : off;
        r->distance = isnan(r->distance) ? d : fmax(r->distance, d);
    }
}

static int compare(comparison *c)
{
    cst_session *s = c->job.s;
    const char *wrt = cst_args_text(s->args, "wrt");
    if (s->model->objective.n == 0) {
        cst_error(&s->diag, CST_MODEL, cst_session_where(s),
                  "the model has no objectives: there is nothing to compare");
        return cst_session_fail(s, CST_MODEL);
    }
    if (!cst_gradient_select(&c->job, wrt ? wrt : "design")) return cst_session_fail(s, CST_USAGE);
    s->compares = 1;
    int leave = cst_session_run(s);
    if (!leave) leave = cst_session_directory(s);
    if (leave) return leave;
    cst_status ok = cst_run_simulate(s->run, NULL, NULL, NULL, &s->diag);
    if (ok == CST_OK) c->forward_s = cst_run_stats(s->run).forward_s, ok = yardstick(c);
    if (ok != CST_OK) return cst_session_fail(s, ok);
    const cst_formulation *f;
    int count = 0, done = 0;
    while (cst_formulation_at(count)) count++;
    cst_progress bar = cst_progress_begin(!s->quiet && !s->json);
    for (int i = 0; (f = cst_formulation_at(i)) && !cst_stop_asked(); i++) {
        cst_progress_show(&bar, (double)done++ / (count + 2), "%s", f->name);
        const char *integrator = integrator_of(s->arena, s, f);
        compare_formulation(c, f, integrator);
        if (strstr(f->integrators, "|bdf") && strcmp(integrator, "bdf") != 0 && !cst_stop_asked())
            compare_formulation(c, f, "bdf");
    }
    compare_difference(c, 1e-7, "difference 1e-7");
    compare_difference(c, 1e-4, "difference 1e-4");
    cst_progress_end(&bar);
    for (int i = 0; i < c->rows.n; i++) measure_distance(c, &c->rows.at[i]);
    if (!cst_comparison_write(c)) return cst_session_fail(s, CST_OUTPUT);
    if (s->json)
        cst_comparison_json(c, s->args->out, 0);
    else if (!s->quiet)
        cst_comparison_print(c);
    cst_status page = cst_session_report(s, 1);
    cst_session_messages(s);
    if (page != CST_OK) return cst_exit_status(page);
    return cst_stop_asked() ? CST_EXIT_FAILED : CST_EXIT_DONE;
}

static int run(const cst_args *args)
{
    cst_session *s = cst_new(args->arena, cst_session, 1);
    comparison c = {.job = {.s = s}};
    int status = cst_session_open(s, args);
    if (!status) status = compare(&c);
    cst_session_close(s);
    return status;
}

static const cst_option options[] = {
    {"wrt", CST_OPTION_TEXT, "all|design|NAME,...", 0, 0,
     "numbers to differentiate by; default: the model's design variables, else its parameters"},
    {NULL, CST_OPTION_FLAG, NULL, 0, 0, NULL},
};

const cst_command cst_command_compare = {
    .name = "compare",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Compares all formulations and sensitivity methods on one model.",
    .notes = "One row per formulation and method: value, gradient, distance from the best known "
             "gradient, time in simulations, and violation of the constraints. Rows that do not "
             "apply say why. --integrator chooses one for all formulations; else each has its own, "
             "and bdf beside it where it applies. Writes DIR/compare.csv and DIR/compare.json.",
    .groups = CST_OPTIONS_MODEL | CST_OPTIONS_RUN | CST_OPTIONS_OUT | CST_OPTIONS_REPORT |
              CST_OPTIONS_PRINT,
    .option = options,
    .run = run,
};
