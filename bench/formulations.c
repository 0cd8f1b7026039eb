/* SPDX-License-Identifier: MIT
 *
 * What a simulated second costs with each formulation and integrator at equal accuracy: the longest step (or the loosest
 * tolerance, for rules that choose their steps) at which the first objective is within 1e-5 of the converged value.
 *
 *     formulations NAME MODEL END [VALUE]       MODEL: a file, or chain:BODIES; VALUE: converged, else extrapolated here */
#include "chain.h"

#include "formulation/formulation.h"

#include <math.h>

#define ACCURACY 1e-5 /* of the objective, relative */
#define FINER 1.6     /* from one try to the next */
#define PATIENCE 4    /* seconds of one try: what takes longer has lost */

typedef struct model_pair { cst_model *plain, *joints; } model_pair;

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

static double tolerant(const cst_rule *rule) { return rule->adaptive == 1 || !rule->tangent; }

/* The objective with a step (or tolerance) x; *seconds: processor time of the simulation. NAN: it failed, d says why */
static double value(const model_pair *m, const cst_formulation *f, const cst_rule *rule, double end, double x, double *seconds,
                    cst_diag *d)
{
    cst_options o = cst_options_default();
    o.end = end, o.formulation = f->name, o.integrator = rule->name;
    if (tolerant(rule)) o.tolerance = x, o.step = end / 100;
    else o.step = x;
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
        y[k] = value(m, cst_formulation_find("index3"), cst_rule_find("newmark"), end, 5e-4 / (1 << k), &seconds, d);
        if (isnan(y[k])) bench_stop(d, "the converged value");
    }
    for (int k = 0; k < 2; k++) y[k] = (4 * y[k + 1] - y[k]) / 3;
    return (16 * y[1] - y[0]) / 15;
}

typedef struct best { char name[64]; double cost; } best;

/* A finer step (or tolerance) than x that stops, or gives something else: a singular position was passed by chance. 0: none */
static double loses_its_way(const model_pair *m, const cst_formulation *f, const cst_rule *rule, double end, double exact, double x)
{
    static cst_diag d;
    double seconds;
    for (int k = 0; k < 5; k++) {
        double finer = x * pow(0.83, k + 1);
        if (!(fabs(value(m, f, rule, end, finer, &seconds, &d) / exact - 1) <= 10 * ACCURACY)) return finer;
    }
    return 0;
}

static void measure(const model_pair *m, const cst_formulation *f, const cst_rule *rule, double end, double exact, best *win)
{
    static cst_diag d;
    double x = tolerant(rule) ? 1e-2 : end / 20, seconds = 0, least = 1e30, error = INFINITY, before = INFINITY;
    double finer = tolerant(rule) ? 4 : FINER;
    char why[120] = "";
    printf("%-12s %-18s", f->name, rule->name);
    for (int tries = 0; tries < 40; tries++, x /= finer) {
        double y = value(m, f, rule, end, x, &seconds, &d);
        before = error, error = fabs(y / exact - 1);
        if (isnan(y)) snprintf(why, sizeof why, "%.*s", (int)strcspn(d.text, "\n"), d.text);
        if (fmax(error, before) <= ACCURACY || seconds > PATIENCE || x < 1e-13) break; /* twice: once may be luck */
    }
    if (error <= ACCURACY && before <= ACCURACY) x *= finer, error = before;
    if (!(error <= ACCURACY)) {
        printf(" not within %g: %s\n", ACCURACY, isnan(error) ? why : "error stays larger");
        return;
    }
    for (int i = 0; i < 3 && least > 0; i++) {
        value(m, f, rule, end, x, &seconds, &d);
        least = seconds < least ? seconds : least;
        if (seconds > 1) break;
    }
    double lost = seconds < 1 ? loses_its_way(m, f, rule, end, exact, x) : 0;
    printf(" %s %8.2g  %9.3g ms per second  (error %.1g%s", tolerant(rule) ? "tolerance" : "step     ", x, 1e3 * least / end, error,
           lost > 0 ? ", by chance: not with " : ")\n");
    if (lost > 0) printf("%.2g)\n", lost);
    if (lost > 0) return;
    if (least / end < win->cost) win->cost = least / end, snprintf(win->name, sizeof win->name, "%s, %s", f->name, rule->name);
}

int main(int argc, char **argv)
{
    if (argc < 4) return fprintf(stderr, "usage: formulations NAME MODEL END [VALUE]\n"), 2;
    static cst_diag d;
    model_pair m = {load(argv[2], 0, &d), load(argv[2], 1, &d)};
    if (!m.plain || !m.joints) bench_stop(&d, "loading");
    double end = atof(argv[3]), exact = argc > 4 ? atof(argv[4]) : converged(&m, end, &d);
    best win = {"none", 1e30};
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s, %g s, objective %.9g\n", argv[1], end, exact);
    const cst_formulation *f;
    for (int i = 0; (f = cst_formulation_at(i)); i++)
        for (const char *s = f->integrators; *s;) {
            char name[32];
            size_t n = strcspn(s, "|");
            snprintf(name, sizeof name, "%.*s", (int)n, s);
            measure(&m, f, cst_rule_find(name), end, exact, &win);
            s += n + (s[n] == '|');
        }
    printf("%s: %s wins\n", argv[1], win.name);
    cst_model_free(m.plain);
    cst_model_free(m.joints);
    return 0;
}
