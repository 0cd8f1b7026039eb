/* SPDX-License-Identifier: MIT
 *
 * Laws of gradients on a random mechanism:
 *     adjoint = direct for every number, and along a random direction of all numbers
 *     both = extrapolated differences for a few numbers
 *     a number that is refused cannot change by itself: the mechanism fails or a loop opens
 * A model that cannot be assembled as specified, or stops at a dead point, is counted and skipped.
 */
#ifndef CST_TESTS_RANDOM_CHECK_H
#define CST_TESTS_RANDOM_CHECK_H

#include "random_model.h"

#include <stdlib.h>

typedef struct random_tally {
    long models, numbers, refused, differences,
        rough, /* differences whose own error estimate says that they are not good */
        still, /* models without a motion */
        worn;  /* models with derivatives that change as much when the numbers change in their last
                  digit */
    double worst_direct, worst_sum, worst_difference;
} random_tally;

typedef struct random_case {
    uint64_t seed;
    random_model g;
    cst_diag d;
    cst_model *m;
    cst_run *run;
    int n, nobj;
    double *p, *adjoint, *direct, *value;
    double *shaken; /* (SHAKES gradients): their changes when each number changes in its last digit;
                       NULL: not yet known */
    cst_effect *effect;
} random_case;

enum { SHAKES = 8 };

static inline void random_fail(const random_case *c, const char *what)
{
    FILE *f = fopen("random-failed.yaml", "w"); /* a message is cut */
    if (f) fputs(c->g.text, f), fclose(f);
    fail_msg("seed %llu of kind %d: %s\n%s\n%s", (unsigned long long)c->seed, (int)c->g.o.kind,
             what, c->d.text, c->g.text);
}

static inline void random_case_read(random_case *c, uint64_t seed, const random_options *o)
{
    c->seed = seed;
    c->shaken = NULL;
    c->d = (cst_diag){0};
    random_model_write(&c->g, seed, o);
    c->m = cst_model_parse("random.yaml", c->g.text, strlen(c->g.text), 0, NULL, &c->d);
    if (c->m == NULL) random_fail(c, "the model is not read");
    c->run = cst_run_new(c->m, NULL, &c->d);
    c->n = cst_model_number_count(c->m), c->nobj = cst_model_objective_count(c->m);
    c->p = calloc((size_t)c->n + 1, sizeof *c->p);
    for (int i = 0; i < c->n; i++) c->p[i] = cst_model_number_value(c->m, i);
}

static inline void random_case_begin(random_case *c, uint64_t seed, const random_options *o)
{
    random_case_read(c, seed, o);
    if (c->run == NULL) random_fail(c, "there is no run");
}

static inline void random_case_end(random_case *c)
{
    cst_run_free(c->run);
    cst_model_free(c->m);
    free(c->p);
    free(c->shaken);
}

/* 0: it cannot be assembled, or its motion stops, as the program says: drawn angles and distances
 * may be out of reach */
static inline int random_case_moves(random_case *c, uint64_t seed, const random_options *o)
{
    random_case_read(c, seed, o);
    if (c->run != NULL && cst_run_simulate(c->run, NULL, NULL, NULL, &c->d) == CST_OK) return 1;
    if (strstr(c->d.text, "cannot be assembled") == NULL &&
        strstr(c->d.text, "Newton stopped") == NULL)
        random_fail(c, "there is no motion");
    random_case_end(c);
    return 0;
}

static inline double *random_gradient(random_case *c, cst_method method)
{
    const cst_gradient *g = cst_run_gradient(c->run, NULL, method, 0, NULL, &c->d);
    if (g == NULL) random_fail(c, "there is no gradient");
    size_t size = sizeof(double) * (size_t)(c->n * c->nobj);
    double *slope = malloc(size + 8);
    memcpy(slope, g->slope, size);
    if (method == CST_ADJOINT)
        memcpy(c->effect, g->effect, sizeof *c->effect * (size_t)(c->n * c->nobj));
    if (method == CST_ADJOINT) memcpy(c->value, g->value, sizeof *c->value * (size_t)c->nobj);
    return slope;
}

static inline int random_refused(const random_case *c, int o, int i)
{
    cst_effect e = c->effect[o * c->n + i];
    return e != CST_EXACT && e != CST_NO_EFFECT;
}

/* what a change of the number by its own size (0.1 at least) would do */
static inline double random_weight(const random_case *c, int i) { return fmax(fabs(c->p[i]), 0.1); }

static inline double random_largest(const random_case *c, int o)
{
    double most = 0;
    for (int i = 0; i < c->n; i++)
        if (!random_refused(c, o, i))
            most = fmax(most, fabs(c->direct[o * c->n + i]) * random_weight(c, i));
    return most;
}

static inline void random_shake(random_case *c)
{
    const cst_method method[2] = {CST_ADJOINT, CST_DIRECT};
    const double *slope[2] = {c->adjoint, c->direct};
    int size = c->n * c->nobj;
    double *p = calloc((size_t)c->n + 1, sizeof *p);
    c->shaken = calloc((size_t)(SHAKES * size) + 1, sizeof *c->shaken);
    for (int k = 0; k < SHAKES; k++) {
        for (int i = 0; i < c->n; i++) p[i] = c->p[i] * (1 + (random_of(&c->g, 3) - 1) * 2.3e-16);
        const cst_gradient *g = cst_run_gradient(c->run, p, method[k % 2], 0, NULL, &c->d);
        if (g == NULL) random_fail(c, "there is no gradient beside it");
        for (int i = 0; i < size; i++) c->shaken[k * size + i] = g->slope[i] - slope[k % 2][i];
    }
    free(p);
}

/* How much the derivative along dir changes, by either method, when each number changes in its last
 * digit */
static inline double random_wobble(random_case *c, int o, const double *dir)
{
    double most = 0;
    if (c->shaken == NULL) random_shake(c);
    for (int k = 0; k < SHAKES; k++) {
        const double *change = c->shaken + (k * c->nobj + o) * c->n;
        double sum = 0;
        for (int i = 0; i < c->n; i++)
            if (dir[i] != 0) sum += dir[i] * change[i];
        most = fmax(most, fabs(sum));
    }
    return most;
}

static inline int random_worn(random_case *c, int o, int i, double off)
{
    double *dir = calloc((size_t)c->n + 1, sizeof *dir);
    dir[i] = 1;
    int worn = off < 4 * random_wobble(c, o, dir);
    free(dir);
    return worn;
}

/* 1: the model is worn */
static inline int random_adjoint_is_direct(random_case *c, random_tally *t)
{
    char text[300];
    double *along = calloc((size_t)c->n + 1, sizeof *along);
    int worn = 0;
    for (int o = 0; o < c->nobj; o++) {
        double most = random_largest(c, o), sum = 0, size = 0;
        memset(along, 0, sizeof *along * (size_t)c->n);
        for (int i = 0; i < c->n; i++) {
            double a = c->adjoint[o * c->n + i], b = c->direct[o * c->n + i],
                   w = random_weight(c, i);
            if (random_refused(c, o, i)) {
                if (!isnan(a) || !isnan(b)) random_fail(c, "a refused number has a slope");
                continue;
            }
            double dir = expect_uniform(&c->g.r, -1, 1) * w,
                   off = fabs(a - b) * w /
                         (fabs(b) * w + 1e-3 * most + 1e-3 * (1 + fabs(c->value[o])));
            sum += dir * (a - b), size += fabs(dir * b), along[i] = dir;
            t->numbers++;
            if (off > 1e-9 && random_worn(c, o, i, fabs(a - b))) {
                worn = 1;
                continue;
            }
            t->worst_direct = fmax(t->worst_direct, off);
            if (off <= 1e-9) continue;
            snprintf(text, sizeof text, "d%s/d%s is %.17g by adjoint, %.17g by direct",
                     cst_model_objective_name(c->m, o), cst_model_number_name(c->m, i), a, b);
            random_fail(c, text);
        }
        size += 1e-2 * (1 + fabs(c->value[o]));
        if (fabs(sum) > 1e-12 * size && fabs(sum) < 4 * random_wobble(c, o, along))
            worn = 1;
        else if (!(fabs(sum) <= 1e-12 * size))
            random_fail(c, "adjoint and direct differ along a random direction");
        else
            t->worst_sum = fmax(t->worst_sum, fabs(sum) / size);
    }
    free(along);
    t->worn += worn;
    return worn;
}

static inline void random_is_difference(random_case *c, int count, random_tally *t)
{
    int which[8], k = 0;
    char text[300];
    for (int tries = 0; k < count && tries < 4 * count; tries++) {
        int i = random_of(&c->g, c->n), ok = 1;
        for (int o = 0; o < c->nobj; o++) ok &= !random_refused(c, o, i);
        ok &= strncmp(cst_model_number_name(c->m, i), "along", 5) !=
              0; /* would read what is not unique */
        if (ok) which[k++] = i;
    }
    const cst_gradient *g = cst_run_gradient(c->run, NULL, CST_DIFFERENCE, k, which, &c->d);
    if (g == NULL) random_fail(c, "there are no differences");
    for (int o = 0; o < c->nobj; o++) {
        double most = random_largest(c, o);
        for (int j = 0; j < k; j++) {
            int i = which[j];
            double a = c->adjoint[o * c->n + i], b = g->slope[o * k + j], w = random_weight(c, i);
            double size = fabs(a) * w + 1e-2 * (most + fabs(c->value[o])) + 1e-4,
                   off = fabs(a - b) * w / size;
            if (g->effect[o * k + j] == CST_NO_DIFFERENCE)
                random_fail(c, "a number that is not refused cannot change");
            t->differences++;
            if (g->error[o * k + j] * w > 1e-7 * size) {
                t->rough++;
                continue;
            }
            t->worst_difference = fmax(t->worst_difference, off);
            if (off <= 1e-6) continue;
            snprintf(text, sizeof text, "d%s/d%s (at %g) is %.17g, by differences %.17g +- %.1e",
                     cst_model_objective_name(c->m, o), cst_model_number_name(c->m, i), c->p[i], a,
                     b, g->error[o * k + j]);
            random_fail(c, text);
        }
    }
}

/* A refused number is changed a little: the run must fail, or redundant rows must open in
 * proportion to the change. By how much depends on the mechanism: the shortest motions open a loop
 * by 1e-6 of the change. A number that is not refused opens them with its square only. */
static inline void random_refusals(random_case *c, int count, random_tally *t)
{
    char text[200];
    for (int i = 0, done = 0; i < c->n && done < count; i++) {
        if (c->effect[i] != CST_BREAKS_LOOP && c->effect[i] != CST_CONTRADICTS) continue;
        t->refused++, done++;
        double keep = c->p[i], by = 1e-3 * random_weight(c, i);
        cst_status ok = CST_OK;
        double drift[2] = {0};
        for (int k = 0; k < 2 && ok == CST_OK; k++) {
            cst_diag quiet = {0};
            c->p[i] = keep + (k + 1) * by;
            ok = cst_run_simulate(c->run, c->p, NULL, NULL, &quiet);
            drift[k] = cst_run_stats(c->run).drift;
        }
        c->p[i] = keep;
        if (ok == CST_NUMERIC || (drift[0] > 1e-13 && fabs(drift[1] / drift[0] - 2) < 0.1))
            continue;
        snprintf(text, sizeof text, "%s is refused, but may change: drift %g and %g",
                 cst_model_number_name(c->m, i), drift[0], drift[1]);
        random_fail(c, text);
    }
}

static inline void random_gradient_laws(uint64_t seed, random_kind kind, int steps, random_tally *t)
{
    static random_case c;
    random_options o = {.kind = kind,
                        .objectives = 1 + (int)(seed % 3),
                        .step = 0.01,
                        .steps = steps};
    if (!random_case_moves(&c, seed, &o)) {
        t->still++;
        return;
    }
    size_t n = (size_t)(c.n * c.nobj) + 1;
    c.effect = calloc(n, sizeof *c.effect);
    c.value = calloc((size_t)c.nobj + 1, sizeof *c.value);
    c.adjoint = random_gradient(&c, CST_ADJOINT);
    c.direct = random_gradient(&c, CST_DIRECT);
    if (!random_adjoint_is_direct(&c, t))
        random_is_difference(&c, 3, t); /* rounding bends a worn motion as a difference would */
    if (steps > 1)
        random_refusals(&c, 2, t); /* a loop is drawn closed and opens only when it moves */
    t->models++;
    free(c.effect), free(c.value), free(c.adjoint), free(c.direct);
    random_case_end(&c);
}

#endif
