/* SPDX-License-Identifier: MIT
 *
 * The problems of optimum_table.h as model files, in several scalings, from two starts, by every
 * optimiser; and what is true of the answers. */
#ifndef CST_TESTS_OPTIMUM_RUNS_H
#define CST_TESTS_OPTIMUM_RUNS_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkstemp */
#endif
#include "expect.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "costate.h"
#include "optimality.h"
#include "optimum_table.h"
#include "skips.h"

typedef struct scaling {
    double x, f, c; /* a number, the objective, a constraint are written this many times as large */
} scaling;

static const scaling scalings[] = {{1, 1, 1}, {1e-3, 1e6, 1e-6}, {1e3, 1e-6, 1e6}};
enum { SCALINGS = 3 };

/* ---- as a model file ---- */

/* x1 of the table is x1/s in the file */
static inline void write_expression(FILE *to, const char *text, double s)
{
    for (const char *at = text; *at; at++) {
        const int number = *at == 'x' && isdigit((unsigned char)at[1]) &&
                           (at == text || !isalnum((unsigned char)at[-1]));
        if (!number) {
            fputc(*at, to);
            continue;
        }
        char *end;
        const long i = strtol(at + 1, &end, 10);
        fprintf(to, "(x%ld/%.17g)", i, s);
        at = end - 1;
    }
}

static inline void write_model(FILE *to, const known *k, const scaling *s)
{
    fprintf(to, "costate: 1\nparameters:\n");
    for (int i = 0; i < k->n; i++) fprintf(to, "  x%d: %.17g\n", i + 1, k->start[i] * s->x);
    fprintf(to,
            "bodies: {b: {type: scalar, inertia: 1, value: 0}}\n"
            "simulation: {end: 0.01, step: 0.01}\ndesign:\n  minimize: \"%.17g*(",
            s->f);
    write_expression(to, k->f, s->x);
    fprintf(to, ")\"\n  variables: [");
    for (int i = 0; i < k->n; i++) fprintf(to, "%sx%d", i ? ", " : "", i + 1);
    fprintf(to, "]\n");
    if (k->c[0]) fprintf(to, "  subject_to:\n");
    for (int j = 0; j < LIMITS && k->c[j]; j++) {
        const int equal = k->c[j][0] == '=';
        fprintf(to, "    - \"%.17g*(", s->c);
        write_expression(to, k->c[j] + equal, s->x);
        fprintf(to, ") %s 0\"\n", equal ? "==" : ">=");
    }
}

static inline cst_problem *load_known(const known *k, const scaling *s)
{
    char path[] = "/tmp/costate-test-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    write_model(f, k, s);
    fclose(f);
    cst_diag d = {0};
    cst_problem *p = cst_problem_load(path, 0, NULL, NULL, &d);
    unlink(path);
    if (!p) fail_msg("%s: %s", k->name, d.text);
    return p;
}

/* ---- one search ---- */

typedef struct search {
    const known *k;
    const scaling *s;
    cst_nlp p;
    double start[VARIABLES], lower[VARIABLES], upper[VARIABLES], scale[VARIABLES];
} search;

static inline void find_bounds(const known *k, double *lower, double *upper)
{
    for (int i = 0; i < VARIABLES; i++) {
        lower[i] = -INFINITY;
        upper[i] = INFINITY;
    }
    for (const known_bound *b = k->bound; b->of; b++)
        for (int i = 0; i < k->n; i++) {
            if (b->of != ALL && b->of != i + 1) continue;
            lower[i] = b->lower;
            upper[i] = b->upper;
        }
}

/* far: the published start, moved by a thousand times its size in alternating directions */
static inline void set_search(search *a, const known *k, const scaling *s, const cst_nlp *p,
                              int far)
{
    *a = (search){.k = k, .s = s, .p = *p};
    find_bounds(k, a->lower, a->upper);
    for (int i = 0; i < k->n; i++) {
        const double away = far ? (i % 2 ? -1e3 : 1e3) * fmax(1, fabs(k->start[i])) : 0;
        const double z = fmin(fmax(k->start[i] + away, a->lower[i]), a->upper[i]);
        a->start[i] = z * s->x;
        a->lower[i] *= s->x;
        a->upper[i] *= s->x;
        a->scale[i] = fmax(1, fabs(z)) * s->x;
    }
    a->p.start = a->start;
    a->p.lower = a->lower;
    a->p.upper = a->upper;
    a->p.scale = a->scale;
}

/* The largest d2f/dz_i2 by changes of z_i of its own size, from a thousandth of that */
static inline double curvature_at(const search *a, const double *x, const double *z,
                                  const double *df)
{
    const cst_nlp *p = &a->p;
    double most = 0, f, c[LIMITS], slope[VARIABLES], dc[LIMITS * VARIABLES], y[VARIABLES];
    cst_diag d = {0};
    for (int i = 0; i < p->n; i++) {
        const double step = 1e-3 * size_of(z[i]);
        memcpy(y, x, sizeof *x * (size_t)p->n);
        y[i] += step * a->s->x;
        if (p->eval(p->ctx, y, &f, c, slope, dc, &d) != CST_OK) continue;
        const double change = fabs(slope[i] * a->s->x / a->s->f - df[i]);
        most = fmax(most, change / step * size_of(z[i]) * size_of(z[i]));
    }
    return most;
}

/* What is true at x, in the numbers of the table */
typedef struct truth {
    double f, violation, stationarity;
} truth;

static inline truth truth_at(const search *a, const double *x)
{
    const cst_nlp *p = &a->p;
    double f, c[LIMITS], df[VARIABLES], dc[LIMITS * VARIABLES], z[VARIABLES], lower[VARIABLES],
        upper[VARIABLES], lo[LIMITS], hi[LIMITS];
    cst_diag d = {0};
    if (p->eval(p->ctx, x, &f, c, df, dc, &d) != CST_OK) fail_msg("%s: %s", a->k->name, d.text);
    for (int i = 0; i < p->n; i++) {
        z[i] = x[i] / a->s->x;
        lower[i] = a->lower[i] / a->s->x;
        upper[i] = a->upper[i] / a->s->x;
        df[i] *= a->s->x / a->s->f;
    }
    for (int j = 0; j < p->m; j++) {
        c[j] /= a->s->c;
        lo[j] = p->c_lower[j] / a->s->c;
        hi[j] = p->c_upper[j] / a->s->c;
    }
    for (int j = 0; j < p->m * p->n; j++) dc[j] *= a->s->x / a->s->c;
    const point at = {p->n, p->m, z, lower, upper, c, dc, lo, hi, f / a->s->f, df};
    return (truth){at.f, violation(&at), stationarity(&at, curvature_at(a, x, z, df))};
}

/* ---- the answer ---- */

#define ANSWERS(X)                                                                                 \
    X(FOUND, "found")          /* the optimum, or that there is none */                            \
    X(OTHER, "other optimum")  /* one that the table lists */                                      \
    X(STATIONARY, "elsewhere") /* a stationary feasible point that it does not list */             \
    X(NOT_FOUND, "not found")  /* and not claimed */                                               \
    X(FALSE_WORD, "FALSE")

typedef enum answer {
#define X(name, text) name,
    ANSWERS(X)
#undef X
        ANSWER_COUNT
} answer;

static const char *const answer_text[] = {
#define X(name, text) text,
    ANSWERS(X)
#undef X
};

static inline int same_value(double a, double b) { return fabs(a - b) <= 1e-6 * fmax(1, fabs(b)); }

static inline answer answer_without_optimum(const known *k, const cst_optimum *best)
{
    const cst_outcome right = isnan(k->best) ? CST_INFEASIBLE : CST_UNBOUNDED;
    const cst_outcome wrong = isnan(k->best) ? CST_UNBOUNDED : CST_INFEASIBLE;
    if (best->outcome == CST_CONVERGED || best->outcome == wrong) return FALSE_WORD;
    return best->outcome == right ? FOUND : NOT_FOUND;
}

static inline answer judge_answer(const known *k, const cst_optimum *best, const truth *t)
{
    if (isnan(k->best) || isinf(k->best)) return answer_without_optimum(k, best);
    if (best->outcome == CST_UNBOUNDED) return FALSE_WORD;
    if (best->outcome != CST_CONVERGED) return NOT_FOUND;
    if (t->violation > 1e-6) return FALSE_WORD;
    if (t->stationarity > 1e-5 && !(k->traits & NO_MULTIPLIERS)) return FALSE_WORD;
    if (same_value(t->f, k->best)) return FOUND;
    if (k->traits & CONVEX || t->stationarity > 1e-5) return FALSE_WORD;
    for (int i = 0; i < OTHERS && k->other[i] != 0; i++)
        if (same_value(t->f, k->other[i])) return OTHER;
    return STATIONARY;
}

static inline void print_answer(const search *a, const char *method, int far, answer what,
                                const cst_optimum *best, const truth *t)
{
    printf(
        "%-20s %-10s x %-6g f %-6g c %-6g %-4s  %-13s  %-23s  %17.10g  %17.10g  %5d  %8.1e %8.1e\n",
        a->k->name, method, a->s->x, a->s->f, a->s->c, far ? "far" : "near", answer_text[what],
        cst_outcome_text(best->outcome), t->f, a->k->best, best->evaluations, t->violation,
        t->stationarity);
    if (what == FALSE_WORD) printf("    %s\n", best->reason);
}

/* Does the method take these constraints at all? */
static inline int takes(const char *method, const known *k)
{
    if (k->c[0] && strcmp(method, "lbfgsb") == 0) return 0;
    for (int j = 0; j < LIMITS && k->c[j]; j++)
        if (k->c[j][0] == '=' && strcmp(method, "mma") == 0) return 0;
    return 1;
}

static inline answer run_search(const search *a, const char *method, int far, int table)
{
    cst_search_options o = cst_search_default();
    double x[VARIABLES], c[LIMITS + 1];
    cst_optimum best = {.x = x, .c = c};
    cst_diag d = {0};
    o.method = method;
    const cst_status ok = cst_optimise(&a->p, &o, &best, &d);
    if (ok != CST_OK) { /* no value at the start: nothing is claimed */
        if (table)
            printf("%-20s %-10s %-4s not started: %s", a->k->name, method, far ? "far" : "near",
                   d.text);
        expect_int(ok, CST_NUMERIC);
        return NOT_FOUND;
    }
    const truth t = truth_at(a, x);
    const answer what = judge_answer(a->k, &best, &t);
    if (table || what == FALSE_WORD) print_answer(a, method, far, what, &best, &t);
    fflush(stdout);
    return what;
}

typedef struct tally {
    int of[ANSWER_COUNT], all;
} tally;

static inline void count_answer(tally *t, answer what)
{
    t->of[what]++;
    t->all++;
}

static inline void print_tally(const char *of, const tally *t)
{
    printf("%-12s %5d searches:", of, t->all);
    for (int i = 0; i < ANSWER_COUNT; i++)
        printf(" %d %s%s", t->of[i], answer_text[i], i + 1 < ANSWER_COUNT ? "," : "\n");
}

/* By all methods from both starts; sum: by method */
static inline void run_methods(const known *k, const scaling *s, const cst_nlp *p, tally *sum,
                               int table)
{
    for (int i = 0; i < cst_optimiser_count(); i++) {
        const char *method = cst_optimiser_name(i);
        if (!takes(method, k) || skips(method)) continue;
        for (int far = 0; far < 2; far++) {
            search a;
            set_search(&a, k, s, p, far);
            count_answer(&sum[i], run_search(&a, method, far, table));
        }
    }
}

static inline void run_known(const known *k, tally *sum, int table)
{
    for (int f = 0; f < SCALINGS; f++) {
        cst_problem *p = load_known(k, &scalings[f]);
        run_methods(k, &scalings[f], cst_problem_nlp(p), sum, table);
        cst_problem_free(p);
    }
}

enum { METHODS = 10 };

/* By method and of all, which is returned */
static inline tally print_tallies(const char *title, const tally *sum)
{
    tally all = {0};
    printf("%s\n", title);
    for (int i = 0; i < cst_optimiser_count(); i++) {
        print_tally(cst_optimiser_name(i), &sum[i]);
        for (int k = 0; k < ANSWER_COUNT; k++) all.of[k] += sum[i].of[k];
        all.all += sum[i].all;
    }
    print_tally("all", &all);
    return all;
}

#endif
