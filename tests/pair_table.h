/* SPDX-License-Identifier: MIT
 *
 * adjoint = direct for every formulation with every rule whose steps are differentiated, on random
 * mechanisms:
 *
 *     |a_i - d_i| s_i <= 1e-9 max_j |d_j| s_j      s_i: size of number i (cst_number_size)
 *
 * Left out, and counted:
 *     zero     objectives that are rounding of zero: the bound of their own rounding
 *              (sensitivity/rounding.h, from the sizes of what they read; no slope enters) is above
 *              1e-9 of the largest influence. It is of first order: squares of rounding are seen by
 *              influences below NOTHING, lengths, times and masses being about 1
 *     worn     objectives whose slopes change as much by one method alone, when every number
 *              changes in its last digit
 *     cut      runs of more than LONGEST steps per step asked for: the motion is too fast for it
 *     stopped  runs that end with a message */
#ifndef CST_TESTS_PAIR_TABLE_H
#define CST_TESTS_PAIR_TABLE_H

#include "random_check.h"

#include "formulation/formulation.h"
#include "integrator/rule.h"
#include "sensitivity/rounding.h"

enum { PAIRS = 32, LONGEST = 20 };
#define PAIR_LIMIT 1e-9
#define NOTHING 1e-15

typedef struct pair_line {
    const char *formulation, *rule;
    long models, stopped, cut, objectives, zero, worn;
    double worst, worst_worn;
    unsigned long long seed; /* of the worst */
    int kind;
} pair_line;

static inline int pair_lines(pair_line line[PAIRS])
{
    int n = 0;
    const cst_formulation *f;
    for (int i = 0; (f = cst_formulation_at(i)) != NULL; i++)
        for (int j = 0; cst_rule_at(j); j++) {
            const cst_rule *rule = cst_rule_at(j);
            if (rule->tangent && cst_formulation_takes(f, rule->name))
                line[n++] = (pair_line){.formulation = f->name, .rule = rule->name};
        }
    return n;
}

/* The slopes of all objectives; NULL: there are none. Freed by the caller. */
static inline double *pair_slopes(random_case *c, const double *p, cst_method method)
{
    const cst_gradient *g = cst_run_gradient(c->run, p, method, 0, NULL, &c->d);
    if (g == NULL) return NULL;
    size_t size = (size_t)(c->n * c->nobj);
    double *slope = malloc(size * sizeof *slope + 8);
    memcpy(slope, g->slope, size * sizeof *slope);
    for (size_t i = 0; i < size; i++)
        if (g->effect[i] != CST_EXACT && g->effect[i] != CST_NO_EFFECT) slope[i] = NAN;
    return slope;
}

/* max |a_i - b_i| s_i */
static inline double pair_apart(const random_case *c, int o, const double *a, const double *b,
                                const double *size)
{
    double most = 0;
    for (int i = 0; i < c->n; i++) {
        double d = fabs(a[o * c->n + i] - b[o * c->n + i]) * size[i];
        if (d > most) most = d;
    }
    return most;
}

static inline double pair_largest(const random_case *c, int o, const double *a, const double *size)
{
    double most = 0;
    for (int i = 0; i < c->n; i++)
        most = fmax(most, isnan(a[o * c->n + i]) ? 0 : fabs(a[o * c->n + i]) * size[i]);
    return most;
}

/* How much a slope of objective o changes, by either method, when every number changes in its last
 * digit */
static inline double pair_wobble(random_case *c, int o, double *const own[2], const double *size)
{
    const cst_method method[2] = {CST_ADJOINT, CST_DIRECT};
    double most = 0, *p = calloc((size_t)c->n + 1, sizeof *p);
    for (int k = 0; k < SHAKES; k++) {
        for (int i = 0; i < c->n; i++) p[i] = c->p[i] * (1 + (random_of(&c->g, 3) - 1) * 2.3e-16);
        double *slope = pair_slopes(c, p, method[k % 2]);
        if (slope) most = fmax(most, pair_apart(c, o, slope, own[k % 2], size));
        free(slope);
    }
    free(p);
    return most;
}

static inline void pair_compare(random_case *c, pair_line *line, const double *size,
                                double *const slope[2])
{
    double *rounding = calloc((size_t)c->nobj + 1, sizeof *rounding);
    expect_int(cst_objectives_rounding(c->run, rounding, &c->d), CST_OK);
    for (int o = 0; o < c->nobj; o++) {
        double largest = pair_largest(c, o, slope[1], size),
               apart = pair_apart(c, o, slope[0], slope[1], size);
        line->objectives++;
        if (!(largest > NOTHING && PAIR_LIMIT * largest > rounding[o])) {
            line->zero++;
            continue;
        }
        if (apart > PAIR_LIMIT * largest && apart < 4 * pair_wobble(c, o, slope, size)) {
            line->worn++;
            line->worst_worn = fmax(line->worst_worn, apart / largest);
            continue;
        }
        if (apart <= line->worst * largest) continue;
        line->worst = apart / largest;
        line->seed = c->seed;
        line->kind = c->g.o.kind;
    }
    free(rounding);
}

/* 1: the run ends, in about the steps asked for */
static inline int pair_runs(random_case *c, pair_line *line)
{
    int runs = c->run && cst_run_simulate(c->run, NULL, NULL, NULL, &c->d) == CST_OK;
    if (!runs) {
        line->stopped++;
        return 0;
    }
    if (cst_run_stats(c->run).steps <= LONGEST * c->g.o.steps) return 1;
    line->cut++;
    return 0;
}

static inline void pair_case(random_case *c, pair_line *line)
{
    double *size = calloc((size_t)c->n + 1, sizeof *size), *slope[2] = {0};
    expect_int(cst_number_size(c->m, size), CST_OK);
    slope[0] = pair_slopes(c, NULL, CST_ADJOINT);
    if (slope[0]) slope[1] = pair_slopes(c, NULL, CST_DIRECT);
    if (slope[1]) {
        line->models++;
        pair_compare(c, line, size, slope);
    } else
        line->stopped++;
    free(slope[0]);
    free(slope[1]);
    free(size);
}

static inline void pair_model(uint64_t seed, random_kind kind, int steps, pair_line *line,
                              int lines)
{
    static random_case c;
    random_options o = {.kind = kind,
                        .objectives = 1 + (int)(seed % 3),
                        .step = 0.01,
                        .steps = steps};
    random_model_write(&c.g, seed, &o);
    for (int k = 0; k < lines; k++) {
        char set[80];
        const char *sets[] = {set};
        snprintf(set, sizeof set, "simulation.formulation=%s", line[k].formulation);
        c.seed = seed;
        c.d = (cst_diag){0};
        c.m = cst_model_parse("random.yaml", c.g.text, strlen(c.g.text), 1, sets, &c.d);
        if (c.m == NULL) random_fail(&c, "the model is not read");
        cst_options opt = cst_options_default();
        opt.integrator = line[k].rule;
        c.run = cst_run_new(c.m, &opt, &c.d);
        c.n = cst_model_number_count(c.m);
        c.nobj = cst_model_objective_count(c.m);
        c.p = calloc((size_t)c.n + 1, sizeof *c.p);
        for (int i = 0; i < c.n; i++) c.p[i] = cst_model_number_value(c.m, i);
        if (pair_runs(&c, &line[k])) pair_case(&c, &line[k]);
        free(c.p);
        cst_run_free(c.run);
        cst_model_free(c.m);
    }
}

static inline void pair_print(const pair_line *line, int lines)
{
    print_message("%-12s %-18s %6s %7s %4s %10s %5s %5s %-8s  %-8s %s\n", "formulation", "rule",
                  "models", "stopped", "cut", "objectives", "zero", "worn", "up to", "worst",
                  "seed, kind");
    for (int k = 0; k < lines; k++)
        print_message("%-12s %-18s %6ld %7ld %4ld %10ld %5ld %5ld %-8.1e  %-8.1e %llu, %d\n",
                      line[k].formulation, line[k].rule, line[k].models, line[k].stopped,
                      line[k].cut, line[k].objectives, line[k].zero, line[k].worn,
                      line[k].worst_worn, line[k].worst, line[k].seed, line[k].kind);
}

#endif
