/* SPDX-License-Identifier: MIT
 *
 * The cost of a simulated second with each formulation and integrator at equal accuracy: with the
 * longest step (or the loosest tolerance, for rules that choose their steps) at which the first
 * objective is within 1e-5 of the converged value.
 *
 *     formulations NAME MODEL END [VALUE [FORMULATION]]   MODEL: a file, or chain:BODIES; VALUE:
 * converged, 0: extrapolated here
 *
 * Finally the choice of `auto` for the model's step, and its cost relative to the best. */
#include "chain.h"

#include "formulation/formulation.h"

#include <math.h>

#define ACCURACY 1e-5 /* of the objective, relative */
#define FINER 1.6     /* from one try to the next */
#define PATIENCE 4    /* seconds for one attempt: a slower one has lost */
#define BUDGET 60     /* seconds for all attempts: coarse ones may take long to fail */

typedef struct model_pair {
    cst_model *plain, *joints;
} model_pair;

static cst_model *load(const char *name, int joints, cst_diag *d)
{
    static const char *const set[] = {"simulation.formulation=joint"};
    if (strncmp(name, "chain:", 6)) return cst_model_load(name, joints, set, d);
    size_t size;
    char *text = bench_chain(atoi(name + 6), &size);
    cst_model *m = cst_model_parse("chain.yaml", text, size, joints, set, d);
    free(text);
    return m;
}

static int tolerant(const cst_rule *rule) { return rule->adaptive == 1 || !rule->tangent; }

/* The objective with a step (or tolerance) x; *seconds: processor time of the simulation. NAN: it
 * failed, d says why */
static double value(const model_pair *m, const cst_formulation *f, const cst_rule *rule, double end,
                    double x, double *seconds, cst_diag *d)
{
    cst_options o = cst_options_default();
    o.end = end, o.formulation = f->name, o.integrator = rule->name;
    if (tolerant(rule))
        o.tolerance = x, o.step = end / 100;
    else
        o.step = x;
    memset(d, 0, sizeof *d);
    cst_run *r = cst_run_new(f->traits & CST_JOINTS ? m->joints : m->plain, &o, d);
    if (!r) return NAN;
    double from = bench_seconds(), y = NAN;
    if (cst_run_simulate(r, NULL, NULL, NULL, d) == CST_OK) y = cst_run_objective(r, 0);
    *seconds = bench_seconds() - from;
    cst_run_free(r);
    return y;
}

/* Romberg's rule on the default, steps h, h/2, h/4 */
static double converged(const model_pair *m, double end, cst_diag *d)
{
    double y[3], seconds;
    for (int k = 0; k < 3; k++) {
        y[k] = value(m, cst_formulation_find("index3"), cst_rule_find("newmark"), end,
                     5e-4 / (1 << k), &seconds, d);
        if (isnan(y[k])) bench_stop(d, "the converged value");
    }
    for (int k = 0; k < 2; k++) y[k] = (4 * y[k + 1] - y[k]) / 3;
    return (16 * y[1] - y[0]) / 15;
}

typedef struct entry {
    const char *formulation;
    const cst_rule *rule;
    double cost;
    int dependable;
} entry;
typedef struct table {
    entry at[64];
    int n;
} table;

/* A finer step (or tolerance) than x that fails or gives another result: a singular position was
 * passed by chance. 0: there is none */
static double loses_its_way(const model_pair *m, const cst_formulation *f, const cst_rule *rule,
                            double end, double exact, double x)
{
    static cst_diag d;
    double seconds;
    for (int k = 0; k < 5; k++) {
        double finer = x * pow(0.83, k + 1);
        if (!(fabs(value(m, f, rule, end, finer, &seconds, &d) / exact - 1) <= 10 * ACCURACY))
            return finer;
    }
    return 0;
}

static void measure(const model_pair *m, const cst_formulation *f, const cst_rule *rule, double end,
                    double exact, table *costs)
{
    static cst_diag d;
    double x = tolerant(rule) ? 1e-2 : end / 20, seconds = 0, least = 1e30, error = INFINITY,
           before = INFINITY;
    double finer = tolerant(rule) ? 4 : FINER, spent = 0;
    char why[120] = "";
    printf("%-12s %-18s", f->name, rule->name);
    for (int tries = 0; tries < 40; tries++, x /= finer) {
        double y = value(m, f, rule, end, x, &seconds, &d);
        before = error, error = fabs(y / exact - 1);
        const char *said = strstr(d.text, "error: ");
        if (isnan(y) && said) snprintf(why, sizeof why, "%.*s", (int)strcspn(said, "\n"), said);
        spent += seconds;
        if (fmax(error, before) <= ACCURACY || x < 1e-13) break; /* twice: once may be luck */
        if ((!isnan(y) && seconds > PATIENCE) || spent > BUDGET) break;
    }
    if (error <= ACCURACY && before <= ACCURACY) x *= finer, error = before;
    if (!(error <= ACCURACY)) {
        printf(" not within %g", ACCURACY);
        if (isnan(error))
            printf(": %s\n", why);
        else
            printf(" in %.2g s: the error is still %.2g\n", spent, error);
        return;
    }
    for (int i = 0; i < 3 && least > 0; i++) {
        value(m, f, rule, end, x, &seconds, &d);
        least = seconds < least ? seconds : least;
        if (seconds > 1) break;
    }
    double lost = seconds < 1 ? loses_its_way(m, f, rule, end, exact, x) : 0;
    printf(" %s %8.2g  %9.3g ms per second  (error %.1g%s",
           tolerant(rule) ? "tolerance" : "step     ", x, 1e3 * least / end, error,
           lost > 0 ? ", by chance: not with " : ")\n");
    if (lost > 0) printf("%.2g)\n", lost);
    costs->at[costs->n++] = (entry){f->name, rule, least / end, !(lost > 0)};
}

/* Which is the cheapest of those that do not pass by chance; which auto takes */
static void judge(const char *name, const cst_model *m, double end, const table *costs)
{
    static cst_diag d;
    const entry *win = NULL, *taken = NULL;
    cst_options o = cst_options_default();
    o.end = end, o.formulation = "auto";
    memset(&d, 0, sizeof d);
    cst_run *r = cst_run_new(m, &o, &d);
    if (!r) bench_stop(&d, "auto");
    for (int i = 0; i < costs->n; i++) {
        const entry *e = &costs->at[i];
        if (e->dependable && (!win || e->cost < win->cost)) win = e;
        if (e->rule == r->w->rule && strcmp(e->formulation, r->options.formulation) == 0) taken = e;
    }
    if (win) printf("%s: %s, %s wins\n", name, win->formulation, win->rule->name);
    printf("%s: auto takes %s, %s", name, r->options.formulation, r->options.integrator);
    if (win && taken) printf(": %.2g times the cost", taken->cost / win->cost);
    printf("\n");
    cst_run_free(r);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: formulations NAME MODEL END [VALUE [FORMULATION]]\n"), 2;
    static cst_diag d;
    model_pair m = {load(argv[2], 0, &d), load(argv[2], 1, &d)};
    if (!m.plain || !m.joints) bench_stop(&d, "loading");
    double end = atof(argv[3]), exact = argc > 4 ? atof(argv[4]) : 0;
    if (exact == 0) exact = converged(&m, end, &d);
    table costs = {.n = 0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s, %g s, objective %.9g\n", argv[1], end, exact);
    const cst_formulation *f;
    for (int i = 0; (f = cst_formulation_at(i)); i++)
        for (const char *s = f->integrators; *s;) {
            char name[32];
            size_t n = strcspn(s, "|");
            snprintf(name, sizeof name, "%.*s", (int)n, s);
            if (argc <= 5 || strcmp(argv[5], f->name) == 0)
                measure(&m, f, cst_rule_find(name), end, exact, &costs);
            s += n + (s[n] == '|');
        }
    judge(argv[1], m.plain, end, &costs);
    cst_model_free(m.plain);
    cst_model_free(m.joints);
    return 0;
}
