/* SPDX-License-Identifier: MIT
 *
 * The gradient for people: a ranked table per objective, a bar for the influence, and in words what
 * has none. */
#include "cli/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 20 /* characters of the longest */, NAMES = 24 /* named in a sentence */ };

const char *cst_place(cst_arena *a, const cst_leaf *l)
{
    if (!l->where.line) return l->where.file ? l->where.file : "";
    return cst_arena_printf(a, "%s:%d:%d", l->where.file, l->where.line, l->where.col);
}

static const char *unit_of(const cst_leaf *l)
{
    return l->unit && strcmp(l->unit, "1") != 0 ? l->unit : "";
}

/* ---- ranking ---- */

typedef struct ranked {
    int i;
    double influence; /* |dpsi/dp| size */
} ranked;

static int by_influence(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    return a->influence != b->influence ? (a->influence > b->influence ? -1 : 1) : a->i - b->i;
}

static ranked *rank(const cst_gradient_job *job, int o, const cst_effect *told, int *n)
{
    ranked *r = cst_new(job->s->arena, ranked, job->n + 1);
    *n = 0;
    for (int i = 0; i < job->n; i++)
        if (told[i] == CST_EXACT || told[i] == CST_ONE_SIDED)
            r[(*n)++] =
                (ranked){i, cst_slope_size(job, i,
                                           job->g.slope[(size_t)o * (size_t)job->n + (size_t)i])};
    qsort(r, (size_t)*n, sizeof *r, by_influence);
    return r;
}

/* The bar is made of its sign; what is not nothing is seen. */
static void bar(char *to, double part, double whole)
{
    int n = whole > 0 ? (int)lround(BAR * fabs(part) / whole) : 0;
    if (n == 0 && part != 0 && fabs(part) > 1e-6 * whole) n = 1;
    memset(to, part < 0 ? '-' : '+', (size_t)n);
    to[n] = 0;
}

/* What the influences are effects of, as far as it is not the number itself; r: the rows that are
 * shown. said: by the last table */
static void print_sizes(const cst_gradient_job *job, const ranked *r, int n, const cst_page *p,
                        const char **said)
{
    const char *line = "";
    int points = 0, directions = 0, others = 0;
    for (int k = 0; k < n; k++) {
        const int leaf = job->which[r[k].i];
        const double p_abs = fabs(cst_model_number_value(job->s->model, leaf));
        if (job->kind[leaf] == CST_VECTOR_POINT && !points++)
            line =
                cst_arena_printf(job->s->arena,
                                 "%s coordinates of points by %.3g m, the extent of the drawing;",
                                 line, job->size[leaf]);
        if ((job->kind[leaf] == CST_VECTOR_DIRECTION || job->kind[leaf] == CST_VECTOR_QUATERNION) &&
            !directions++)
            line = cst_arena_printf(job->s->arena, "%s directions by 1 rad;", line);
        if (job->kind[leaf] == CST_VECTOR_FREE && job->size[leaf] != p_abs && !others++)
            line = cst_arena_printf(job->s->arena,
                                    "%s components by the length of their vector and zeros by what "
                                    "is usual for their unit;",
                                    line);
    }
    if (!*line || strcmp(line, *said) == 0) return;
    *said = line;
    cst_page_text(p,
                  cst_arena_printf(job->s->arena, "Influence: effect of a change by 100 %%;%.*s.",
                                   (int)strlen(line) - 1, line));
}

static void print_table(const cst_gradient_job *job, int o, const cst_effect *told,
                        const cst_page *p, const char **said)
{
    const cst_session *s = job->s;
    const char *psi = s->model->objective.at[o].name;
    const double in = 1 / s->model->objective.at[o].shown.factor;
    int n, shown, sided = 0;
    const ranked *r = rank(job, o, told, &n);
    const char *slope = cst_arena_printf(s->arena, "d %s/dp", psi);
    const char *const head[] = {"number p", "value",     "unit", slope,
                                "per",      "influence", "",     "place"};
    cst_grid g = cst_grid_new(s->arena, "l.l.l.ll", head);
    shown = n < job->top ? n : job->top;
    for (int k = 0; k < shown; k++) {
        const int leaf = job->which[r[k].i];
        const cst_leaf *l = &s->model->leaf.at[leaf];
        const double x = job->g.slope[(size_t)o * (size_t)job->n + (size_t)r[k].i],
                     value = cst_model_number_value(s->model, leaf);
        const cst_per per = cst_slope_per(job, leaf);
        char line[BAR + 1];
        bar(line, cst_slope_influence(job, r[k].i, x), r[0].influence);
        cst_grid_add(&g, "%s", l->name);
        cst_grid_number(&g, value);
        cst_grid_add(&g, "%s", unit_of(l));
        const int one = told[r[k].i] == CST_ONE_SIDED;
        sided |= one;
        cst_grid_add(&g, "%+.6g%s", x * per.factor * in, one ? "!" : "");
        cst_grid_add(&g, "%s", per.unit);
        cst_grid_add(&g, "%+.4g", cst_slope_influence(job, r[k].i, x) * in);
        cst_grid_add(&g, "%s", line);
        cst_grid_add(&g, "%s", cst_place(s->arena, l));
    }
    if (shown) cst_grid_print(&g, p);
    if (sided)
        cst_page_text(p, "!: the slope is that of the side that the run has taken; --sides gives "
                         "those of both.");
    if (shown < n)
        fprintf(p->f, "  ... and %d more in %s\n", n - shown,
                cst_session_path(job->s, "gradient.csv"));
    print_sizes(job, r, shown, p, said);
    if (n) cst_page_gap(p);
}

/* ---- what has no effect, what has no gradient ---- */

static int count(const cst_gradient_job *job, const cst_effect *told, cst_effect e)
{
    int n = 0;
    for (int i = 0; i < job->n; i++) n += told[i] == e;
    return n;
}

/* "A, B, C and 5 more" */
static const char *names(const cst_gradient_job *job, const cst_effect *told, cst_effect e)
{
    size_t cap = 64, used = 0;
    int n = count(job, told, e), seen = 0;
    for (int i = 0; i < job->n; i++) cap += strlen(job->s->model->leaf.at[job->which[i]].name) + 2;
    char *text = cst_new(job->s->arena, char, cap);
    for (int i = 0; i < job->n && seen < NAMES; i++) {
        if (told[i] != e) continue;
        used += (size_t)snprintf(text + used, cap - used, "%s%s", seen++ ? ", " : "",
                                 job->s->model->leaf.at[job->which[i]].name);
    }
    if (seen < n) snprintf(text + used, cap - used, " and %d more", n - seen);
    return text;
}

static void print_refused(const cst_gradient_job *job, const cst_effect *told, cst_effect e,
                          const cst_page *p)
{
    const cst_session *s = job->s;
    static const char *const head[] = {"", ""};
    cst_grid g = cst_grid_new(s->arena, "ll", head);
    int n = count(job, told, e), shown = 0;
    if (n == 0) return;
    cst_page_text(p, cst_arena_printf(s->arena, "%d number%s ha%s no gradient: %s.", n,
                                      n == 1 ? "" : "s", n == 1 ? "s" : "ve", cst_effect_text(e)));
    for (int i = 0; i < job->n && shown < job->top; i++) {
        if (told[i] != e) continue;
        const cst_leaf *l = &s->model->leaf.at[job->which[i]];
        cst_grid_add(&g, "%s", l->name);
        cst_grid_add(&g, "%s", cst_place(s->arena, l));
        shown++;
    }
    if (shown) cst_grid_print(&g, p);
    if (shown < n)
        fprintf(p->f, "  ... and %d more in %s\n", n - shown,
                cst_session_path(job->s, "gradient.csv"));
    cst_page_gap(p);
}

#define SAID_ONCE ((cst_effect)-1) /* below all tables: it holds for all objectives */

/* (n) What keeps a number from all objectives; CST_EXACT: it has an effect on one, or different
 * reasons */
static cst_effect *common_effects(const cst_gradient_job *job)
{
    cst_effect *common = cst_new(job->s->arena, cst_effect, job->n + 1);
    const int nobj = job->s->model->objective.n;
    for (int i = 0; i < job->n; i++) {
        common[i] = nobj > 1 ? cst_effects_of(job, 0)[i] : CST_EXACT;
        for (int o = 1; o < nobj; o++)
            if (cst_effects_of(job, o)[i] != common[i]) common[i] = CST_EXACT;
        if (common[i] == CST_ONE_SIDED) common[i] = CST_EXACT;
    }
    return common;
}

/* common: how many more have no effect because they have none on any objective; -1: told is that
 * list */
static void print_without(const cst_gradient_job *job, const cst_effect *told, int common,
                          const cst_page *p)
{
    cst_arena *a = job->s->arena;
    int own = count(job, told, CST_NO_EFFECT), n = own + (common > 0 ? common : 0);
    const char *list = own ? names(job, told, CST_NO_EFFECT) : "";
    if (common > 0 && own)
        list = cst_arena_printf(a, "%s and %d that affect%s no objective", list, common,
                                common == 1 ? "s" : "");
    else if (common > 0)
        list = "those that affect no objective";
    if (n) {
        cst_page_text(p, cst_arena_printf(a, "%d number%s ha%s no effect%s: %s.", n,
                                          n == 1 ? "" : "s", n == 1 ? "s" : "ve",
                                          common < 0 ? " on any objective" : "", list));
        cst_page_gap(p);
    }
    for (int e = CST_NO_EFFECT + 1; e <= CST_NOT_FINITE; e++)
        print_refused(job, told, (cst_effect)e, p);
}

static void print_objective(const cst_gradient_job *job, int o, const cst_effect *common,
                            const cst_page *p, const char **said)
{
    const cst_session *s = job->s;
    const cst_objective *of = &s->model->objective.at[o];
    const char *unit = of->shown.unit, *says = cst_objective_says(s->arena, of);
    fprintf(p->f, "%s%s = %.9g%s%s%s\n", p->style.bold, of->name,
            job->g.value[o] / of->shown.factor, *unit ? " " : "", unit, p->style.off);
    if (*says) cst_page_text(p, says);
    fputc('\n', p->f);
    cst_effect *told = cst_new(s->arena, cst_effect, job->n + 1);
    for (int i = 0; i < job->n; i++)
        told[i] = common[i] == CST_EXACT ? cst_effects_of(job, o)[i] : SAID_ONCE;
    print_table(job, o, told, p, said);
    print_without(job, told, count(job, common, CST_NO_EFFECT), p);
}

/* Where in its step a kink lies is part of what was computed, and of the slope. */
static void print_kinks(const cst_gradient_job *job)
{
    int exact = job->method == CST_ADJOINT || job->method == CST_DIRECT;
    printf("kinks: %sthe gradient may converge slowly: compare with ",
           exact ? "exact for the computed numbers, but " : "");
    if (job->s->run->w->controls || !job->s->run->w->rule->tangent)
        printf("a tenth of the tolerance\n");
    else
        printf("--step %g\n", job->s->run->options.step / 2);
}

void cst_gradient_print(const cst_gradient_job *job)
{
    const cst_session *s = job->s;
    cst_page p = cst_page_of(stdout, 0);
    cst_page_heading(&p, 1, s->model->name && *s->model->name ? s->model->name : s->model->file);
    cst_page_gap(&p);
    const cst_effect *common = common_effects(job);
    const char *said = "";
    for (int o = 0; o < s->model->objective.n; o++) print_objective(job, o, common, &p, &said);
    print_without(job, common, -1, &p);
    if (cst_session_chosen(s)) printf("%s: ", cst_session_chosen(s));
    printf("%ld steps in %.3g s; gradient by %d number%s (%s) in %.3g s\n", job->stats.steps,
           job->stats.forward_s, job->n, job->n == 1 ? "" : "s", cst_method_text(job->method),
           job->g.seconds);
    cst_print_events(&job->stats, job->kinks);
    if (job->stats.kinks) print_kinks(job);
    if (job->stats.shortened)
        printf("%ld steps shortened: the gradient takes their lengths as constants, and objectives "
               "may "
               "jump where these change\n",
               job->stats.shortened);
    if (s->run->w->controls)
        printf("the tolerance chooses the lengths of the steps: the gradient takes them as "
               "constants\n");
    if (job->stats.again > 0)
        printf("checkpoints: %ld steps computed again; a state takes %.3g kB\n", job->stats.again,
               1e-3 * (double)job->stats.state_bytes);
    printf("%s: all numbers\n", cst_session_path(job->s, "gradient.csv"));
}
