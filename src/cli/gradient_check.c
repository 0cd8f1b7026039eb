/* SPDX-License-Identifier: MIT
 *
 * What cst_run_check and cst_run_sides say, in words and tables. */
#include "cli/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIED = 120, /* differences are made for so many numbers */
    NAMES = 24   /* named in a sentence */
};

/* ---- computing ---- */

typedef struct progress {
    cst_progress bar;
    const char *what;
} progress;

static int show(void *ctx, int done, int numbers)
{
    progress *p = ctx;
    cst_progress_show(&p->bar, (double)done / numbers, "%s: %d of %d numbers", p->what, done,
                      numbers);
    return cst_stop_asked() != 0;
}

cst_status cst_gradient_check(cst_gradient_job *job)
{
    cst_session *s = job->s;
    progress p = {cst_progress_begin(!s->quiet), "differences"};
    const cst_check_options o = {.most = TRIED, .progress = show, .ctx = &p};
    job->check = cst_run_check(s->run, NULL, job->n, job->which, &o, &s->diag);
    cst_progress_end(&p.bar);
    return job->check ? CST_OK : s->diag.status;
}

cst_status cst_gradient_sides(cst_gradient_job *job)
{
    cst_session *s = job->s;
    progress p = {cst_progress_begin(!s->quiet), "sides"};
    const cst_check_options o = {.progress = show, .ctx = &p};
    job->sides = cst_run_sides(s->run, NULL, job->nside, job->side, &o, &s->diag);
    cst_progress_end(&p.bar);
    return job->sides ? CST_OK : s->diag.status;
}

/* ---- the whole, in words ---- */

const char *cst_missing_text(const cst_gradient_job *job, int k, const char **word)
{
    static const struct {
        int bit;
        const char *word, *text;
    } part[] = {{CST_MISSES_INSTANTS, "instants",
                 "it leaves out how instants move that are not located (see the warning)"},
                {CST_MISSES_SIDE, "one-sided",
                 "it is one-sided (see the warning, or the numbers with two slopes)"}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (!(job->check->left_out & part[i].bit) || k-- > 0) continue;
        *word = part[i].word;
        const int chosen =
            part[i].bit == CST_MISSES_INSTANTS && job->s->run->events_mode != CST_EVENTS_EXACT;
        return chosen
                   ? "it leaves out how the instants of events move (--events exact includes this)"
                   : part[i].text;
    }
    return NULL;
}

/* "A, B": objectives for which `is` holds, or nothing */
static const char *objectives(const cst_gradient_job *job,
                              int (*is)(const cst_gradient_job *job, int o))
{
    const char *text = "";
    for (int o = 0; o < job->check->objectives; o++)
        if (is(job, o))
            text = cst_arena_printf(job->s->arena, "%s%s%s", text, *text ? ", " : "",
                                    job->s->model->objective.at[o].name);
    return text;
}

static int has_none(const cst_gradient_job *job, int o)
{
    for (int i = 0; i < job->n; i++)
        if (!cst_effect_refuses(job->check->effect[(size_t)o * (size_t)job->n + (size_t)i]))
            return 0;
    return 1;
}

static int is_unsettled(const cst_gradient_job *job, int o) { return job->check->unsettled[o]; }

const char *cst_check_sentence(const cst_gradient_job *job)
{
    cst_arena *a = job->s->arena;
    const char *unseen = objectives(job, has_none), *text, *word, *sentence;
    if (*unseen) unseen = cst_arena_printf(a, "; nothing was compared of %s", unseen);
    switch (job->check->verdict_of_all) {
    case CST_CHECK_IN_DOUBT:
        return "The gradient is in doubt.";
    case CST_CHECK_KINK:
        return "The gradient is in doubt: there is none at a kink or a jump.";
    case CST_CHECK_NOTHING:
        return "Nothing was compared: no number has a gradient.";
    case CST_CHECK_NOT_SETTLED:
        return cst_arena_printf(a,
                                "Nothing is confirmed of %s: adjoint and direct agree, but "
                                "differences settle no slope.",
                                objectives(job, is_unsettled));
    case CST_CHECK_INCOMPLETE:
        sentence = "The gradient is incomplete";
        for (int k = 0; (text = cst_missing_text(job, k, &word)); k++)
            sentence = cst_arena_printf(a, "%s; %s", sentence, text);
        return cst_arena_printf(a, "%s%s.", sentence, unseen);
    case CST_CHECK_CONFIRMED:
        break;
    }
    return cst_arena_printf(a, "The gradient is confirmed%s.", unseen);
}

/* ---- tables ---- */

typedef struct ranked {
    int i;
    double weight;
} ranked;

static int by_weight(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->i - b->i;
}

/* Disagreements first, then by influence */
static ranked *rank(const cst_gradient_job *job, int o)
{
    static const double first[] = {
        [CST_DIFFER] = INFINITY,  [CST_JUMP] = 1e302,
        [CST_TWO_SLOPES] = 1e301, [CST_NOT_SETTLED] = 1e300,
        [CST_REFUSED] = -1,       [CST_UNTRIED] = 0, /* by influence, as those that agree */
    };
    const cst_checked *c = job->check;
    ranked *r = cst_new(job->s->arena, ranked, job->n + 1);
    for (int i = 0; i < job->n; i++) {
        const size_t k = (size_t)o * (size_t)job->n + (size_t)i;
        const double size = cst_slope_size(job, i, c->adjoint[k]), given = first[c->verdict[k]];
        r[i] = (ranked){i, given != 0 ? given : size};
    }
    qsort(r, (size_t)job->n, sizeof *r, by_weight);
    return r;
}

static void slope_cell(cst_grid *g, double x)
{
    if (isnan(x))
        cst_grid_add(g, "%s", "");
    else
        cst_grid_add(g, "%+.9g", x == 0 ? 0.0 : x);
}

/* The distance of two slopes of number i over the largest influence */
static void apart_cell(const cst_gradient_job *job, cst_grid *g, int o, int i, double apart)
{
    const double size = cst_slope_size(job, i, apart), largest = job->check->largest[o];
    if (isnan(apart))
        cst_grid_add(g, "%s", "");
    else
        cst_grid_add(g, "%.1e", largest > 0 ? size / largest : size);
}

/* "two slopes: -1 below, +1 above" */
static const char *sides_text(cst_arena *a, const char *word, double below, double above)
{
    if (!isnan(below)) word = cst_arena_printf(a, "%s: %+.6g below", word, below);
    if (!isnan(above))
        word = cst_arena_printf(a, "%s%s %+.6g above", word, isnan(below) ? ":" : ",", above);
    return word;
}

static void add_row(const cst_gradient_job *job, cst_grid *g, int o, int i)
{
    const cst_checked *c = job->check;
    const size_t k = (size_t)o * (size_t)job->n + (size_t)i;
    const char *verdict = cst_verdict_text(c->verdict[k]);
    cst_grid_add(g, "%s", job->s->model->leaf.at[job->which[i]].name);
    slope_cell(g, c->adjoint[k]);
    slope_cell(g, c->direct[k]);
    apart_cell(job, g, o, i, c->adjoint[k] - c->direct[k]);
    slope_cell(g, c->difference[k]);
    apart_cell(job, g, o, i, c->adjoint[k] - c->difference[k]);
    cst_grid_add(g, "%.0d", c->simulations[i]);
    cst_grid_add(g, "%s", sides_text(job->s->arena, verdict, c->below[k], c->above[k]));
}

static void print_counts(const int n[], int all, const cst_page *p)
{
    if (n[CST_UNTRIED])
        printf("%d compared by adjoint and direct alone: differences were made for %d numbers; "
               "choose others with --wrt\n",
               n[CST_UNTRIED], all - n[CST_UNTRIED] - n[CST_REFUSED]);
    printf("%d agree, %s%d differ%s, %d not settled by differences, %d refused", n[CST_AGREE],
           n[CST_DIFFER] ? p->style.red : "", n[CST_DIFFER], n[CST_DIFFER] ? p->style.off : "",
           n[CST_NOT_SETTLED], n[CST_REFUSED]);
    if (n[CST_TWO_SLOPES]) printf(", %d with two slopes", n[CST_TWO_SLOPES]);
    if (n[CST_STEP_KINK]) printf(", %d at a kink of the steps", n[CST_STEP_KINK]);
    if (n[CST_JUMP]) printf(", %d at a jump", n[CST_JUMP]);
    putchar('\n');
}

static void print_objective(const cst_gradient_job *job, int o, const cst_page *p)
{
    static const char *const head[] = {"number",     "adjoint", "direct", "apart",
                                       "difference", "apart",   "runs",   "verdict"};
    const ranked *r = rank(job, o);
    cst_grid g = cst_grid_new(job->s->arena, "l..r.rrl", head);
    int n[CST_UNTRIED + 1] = {0}, shown = job->n < job->top ? job->n : job->top;
    for (int i = 0; i < job->n; i++)
        n[job->check->verdict[(size_t)o * (size_t)job->n + (size_t)i]]++;
    const int all = n[CST_DIFFER] + n[CST_TWO_SLOPES] + n[CST_JUMP];
    if (all > shown) shown = all;
    for (int j = 0; j < shown; j++) add_row(job, &g, o, r[j].i);
    if (shown) cst_grid_print(&g, p);
    if (shown < job->n)
        fprintf(p->f, "  ... and %d more in %s\n", job->n - shown,
                cst_session_path(job->s, "check.csv"));
    print_counts(n, job->n, p);
}

static void print_identity(const cst_gradient_job *job, int o, int base, const cst_page *p)
{
    const cst_scaling *x = &job->check->scaling[2 * o + base];
    const char *psi = job->s->model->objective.at[o].name, *word = cst_base_word[base];
    cst_arena *a = job->s->arena;
    const char *line;
    if (x->verdict == CST_SCALING_OPEN)
        line = cst_arena_printf(a, "%s: the identity is not checked, %s", word, x->why);
    else
        line = cst_arena_printf(
            a, "%s: %s scales with %s^%g%s; sum of a p d %s/dp = %.12g, %g %s = %.12g: %s (%.1e)",
            word, psi, word, x->exponent, x->guessed ? " (found from the sum)" : "", psi, x->sum,
            x->exponent, psi, x->exponent * job->check->value[o],
            x->verdict == CST_SCALING_HOLDS ? "holds" : "FAILS", x->off);
    for (int i = 0; i < x->ignored && i < NAMES; i++)
        line = cst_arena_printf(a, "%s%s%s", line,
                                i                                ? ", "
                                : x->verdict == CST_SCALING_OPEN ? ": "
                                                                 : "; taken as pure numbers: ",
                                job->s->model->leaf.at[x->ignoring[i]].name);
    cst_page_item(p, line);
}

static int has(const cst_checked *c, cst_verdict v)
{
    for (int k = 0; k < c->objectives * c->numbers; k++)
        if (c->verdict[k] == v) return 1;
    return 0;
}

void cst_checked_print(const cst_gradient_job *job)
{
    const cst_page p = cst_page_of(stdout, 0);
    const cst_checked *c = job->check;
    if (!c) return;
    for (int o = 0; o < c->objectives; o++) {
        cst_page_gap(&p);
        cst_page_heading(&p, 2,
                         cst_arena_printf(job->s->arena, "Check of %s",
                                          job->s->model->objective.at[o].name));
        cst_page_gap(&p);
        print_objective(job, o, &p);
        for (int base = CST_MASS; base <= CST_LENGTH; base++) print_identity(job, o, base, &p);
    }
    cst_page_gap(&p);
    if (c->excused)
        cst_page_text(&p, "An identity fails although differences confirm the gradient: the model "
                          "contains a mass or a length that is not one of its numbers, for example "
                          "a speed that is written in rad/s.");
    if (has(c, CST_TWO_SLOPES))
        cst_page_text(&p, "Two slopes: those to the two sides differ, and there is no derivative. "
                          "Events at one instant make kinks where their order matters, and so do "
                          "abs, min and max at equal arguments.");
    if (has(c, CST_STEP_KINK))
        cst_page_text(&p, "Kink of the steps: the slopes to the two sides differ, but come "
                          "together with half the step. An event falls on an end of a step, or an "
                          "integrand is on a kink there. The gradient is one of the slopes or "
                          "between them.");
    printf("%d simulations\n", c->all_simulations);
    const int good = c->verdict_of_all == CST_CHECK_CONFIRMED;
    fputs(good ? p.style.bold : p.style.red, stdout);
    cst_page_text(&p, cst_check_sentence(job));
    fputs(p.style.off, stdout);
}

void cst_sides_print(const cst_gradient_job *job)
{
    static const char *const head[] = {"number p", "value", "unit", "below",
                                       "above",    "error", "runs", ""};
    const cst_page p = cst_page_of(stdout, 0);
    const cst_sides *s = job->sides;
    if (!s) return;
    for (int o = 0; o < s->objectives; o++) {
        cst_page_gap(&p);
        cst_page_heading(&p, 2,
                         cst_arena_printf(job->s->arena, "Slopes of %s to the two sides",
                                          job->s->model->objective.at[o].name));
        cst_page_gap(&p);
        cst_grid g = cst_grid_new(job->s->arena, "l.l..rrl", head);
        for (int i = 0; i < s->numbers; i++) {
            const int k = o * s->numbers + i;
            const cst_leaf *l = &job->s->model->leaf.at[s->number[i]];
            const char *said = cst_sides_text(s->answer[k]);
            cst_grid_add(&g, "%s", l->name);
            cst_grid_number(&g, cst_model_number_value(job->s->model, s->number[i]));
            cst_grid_add(&g, "%s", l->unit && strcmp(l->unit, "1") != 0 ? l->unit : "");
            slope_cell(&g, s->below[k]);
            slope_cell(&g, s->above[k]);
            cst_grid_add(&g, isnan(s->error[k]) ? "%.0s" : "%s",
                         cst_arena_printf(job->s->arena, "%.1e", s->error[k]));
            cst_grid_add(&g, "%d", s->simulations[i]);
            if (s->answer[k] == CST_SIDES_JUMP)
                said = cst_arena_printf(job->s->arena, "%s of %+.6g", said, s->jump[k]);
            cst_grid_add(&g, "%s", said);
        }
        cst_grid_print(&g, &p);
    }
}
