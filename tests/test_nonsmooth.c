/* SPDX-License-Identifier: MIT
 *
 * Points without a derivative, and what only looks like one: every row of the table
 * tests/nonsmooth/cases.h at three steps, by adjoint and direct. The law: a plain slope is given
 * where both sides have it, and nowhere else. Rows that violate it today are marked in the table; a
 * row that gets worse fails, and so does one that gets better, until its mark is taken off.
 *
 * The closed forms themselves are judged by one-sided differences of the library's runs.
 *
 *     test_nonsmooth --list     what each row gives
 *     test_nonsmooth --sides    and what differences say of it */
#include "costate.h"
#include "expect.h"
#include "nonsmooth/cases.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 3 };

static nonsmooth_table table;
static cst_diag diag;

static const char *verdict_text(nonsmooth_verdict v)
{
    static const char *const text[] = {
#define X(name, text) text,
        NONSMOOTH_VERDICT_LIST(X)
#undef X
    };
    return text[v];
}

typedef struct scene {
    cst_model *m;
    cst_run *r; /* NULL: the start fails */
    int number;
} scene;

static scene open_scene(const nonsmooth_case *row, double step)
{
    static char text[8192];
    snprintf(text, sizeof text,
             "costate: 1\n%sobjectives: {psi: \"%s\"}\nsimulation: {end: %.17g, step: %.17g%s%s}\n",
             row->model, row->objective, row->end, step, row->simulation ? ", " : "",
             row->simulation ? row->simulation : "");
    diag = (cst_diag){0};
    scene s = {.m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag)};
    if (!s.m) fail_msg("%s: %s\n%s", row->name, diag.text, text);
    s.number = cst_model_number_find(s.m, row->number);
    if (s.number < 0) fail_msg("%s: there is no number '%s'", row->name, row->number);
    s.r = cst_run_new(s.m, NULL, &diag);
    if (!s.r) fail_msg("%s: %s\n%s", row->name, diag.text, text);
    diag = (cst_diag){0}; /* numbers that are never used */
    return s;
}

static void close_scene(scene s)
{
    cst_run_free(s.r);
    cst_model_free(s.m);
}

/* ---- one-sided differences ---- */

/* psi at p + e; NAN: there is no motion */
static double value_at(const scene *s, double e)
{
    double x[128];
    cst_diag quiet = {0};
    const int n = cst_model_number_count(s->m);
    expect_true(n <= 128);
    for (int i = 0; i < n; i++) x[i] = cst_model_number_value(s->m, i);
    x[s->number] += e;
    const cst_status ok = cst_run_simulate(s->r, x, NULL, NULL, &quiet);
    return ok == CST_OK ? cst_run_objective(s->r, 0) : NAN;
}

typedef struct side {
    double wide, narrow; /* slopes over e and e/4 */
} side;

static side side_of(const scene *s, double e)
{
    const double psi = value_at(s, 0);
    return (side){(value_at(s, e) - psi) / e, (value_at(s, e / 4) - psi) / (e / 4)};
}

/* without the error that is linear in e, or that with its root */
static double linear_limit(side d) { return (4 * d.narrow - d.wide) / 3; }
static double root_limit(side d) { return 2 * d.narrow - d.wide; }

/* No slope: what is larger by half at a quarter of the width grows without bound. */
static int has_none(side d)
{
    return !isfinite(d.wide) || !isfinite(d.narrow) || fabs(d.narrow) > 1.5 * fabs(d.wide);
}

/* ---- what a gradient makes of a row ---- */

static double size_of(const nonsmooth_case *row)
{
    const double b = isnan(row->below) ? 0 : fabs(row->below);
    const double a = isnan(row->above) ? 0 : fabs(row->above);
    return fmax(a, b) > 0 ? fmax(a, b) : 1;
}

static int sides_agree(const nonsmooth_case *row)
{
    return fabs(row->below - row->above) <= 1e-6 * size_of(row);
}

static int near_slope(const nonsmooth_case *row, double slope, double exact, double left)
{
    return fabs(slope - exact) <= (left + 1e-8) * size_of(row);
}

typedef struct answer {
    nonsmooth_verdict verdict;
    cst_effect effect;
    int none; /* there is no gradient at all */
    double slope;
} answer;

/* left: what the step may leave */
static nonsmooth_verdict judge(const nonsmooth_case *row, const answer *a, double left)
{
    const int refused = a->none || (a->effect > CST_NO_EFFECT && isnan(a->slope));
    const int marked = refused || a->effect > CST_NO_EFFECT;
    const int right =
        near_slope(row, a->slope, row->below, left) || near_slope(row, a->slope, row->above, left);

    if (refused) return sides_agree(row) ? NS_REFUSED : NS_RIGHT;
    if (!right) return *diag.text && !marked ? NS_WARNED : NS_VALUE;
    if (sides_agree(row)) return marked ? NS_REFUSED : NS_RIGHT;
    if (marked) return NS_RIGHT;
    return *diag.text ? NS_WARNED : NS_NOT_PLAIN;
}

static answer ask(const nonsmooth_case *row, const scene *s, cst_method method, double left)
{
    answer a = {0};
    const cst_gradient *g = cst_run_gradient(s->r, NULL, method, 1, &s->number, &diag);
    a.none = g == NULL;
    a.slope = g ? g->slope[0] : NAN;
    a.effect = g ? g->effect[0] : CST_EXACT;
    a.verdict = judge(row, &a, left);
    return a;
}

static nonsmooth_verdict both_methods(const nonsmooth_case *row, const scene *s, double left,
                                      answer *to)
{
    diag = (cst_diag){0}; /* of both: a run says many things once */
    const answer a = ask(row, s, CST_ADJOINT, left);
    const answer b = ask(row, s, CST_DIRECT, left);
    const int plain = a.effect <= CST_NO_EFFECT && b.effect <= CST_NO_EFFECT;
    *to = a;
    if ((a.effect != b.effect && !plain) || a.none != b.none) return NS_METHODS;
    if (isnan(a.slope) != isnan(b.slope)) return NS_METHODS;
    if (fabs(a.slope - b.slope) > 1e-7 * size_of(row)) return NS_METHODS;
    return a.verdict > b.verdict ? a.verdict : b.verdict;
}

/* Error of a slope against the nearer side, relative */
static double error_of(const nonsmooth_case *row, double slope)
{
    const double b = fabs(slope - row->below);
    const double a = fabs(slope - row->above);
    return fmin(b, a) / size_of(row);
}

/* The sides by differences: one slope where they agree but for their own error */
static void measure(nonsmooth_case *row, const scene *s)
{
    row->below = linear_limit(side_of(s, -row->width));
    row->above = linear_limit(side_of(s, row->width));
    const double mean = (row->below + row->above) / 2;
    if (fabs(row->above - row->below) > 1e-3 * size_of(row)) return;
    row->below = mean;
    row->above = mean;
}

/* The worst of three steps. Where steps have an error, it must fall with them. */
static nonsmooth_verdict verdict_of(const nonsmooth_case *given, answer *last)
{
    nonsmooth_case row = *given;
    nonsmooth_verdict worst = NS_RIGHT;
    double error[STEPS];
    for (int k = 0; k < STEPS; k++) {
        const scene s = open_scene(&row, row.step / (1 << k));
        if (row.measured) measure(&row, &s);
        const nonsmooth_verdict v = both_methods(&row, &s, row.left / (1 << k), last);
        if (v > worst) worst = v;
        error[k] = error_of(&row, last->slope);
        close_scene(s);
    }
    const int falls = error[STEPS - 1] <= 0.6 * error[0] + 1e-8;
    if (worst == NS_RIGHT && !row.measured && !isnan(last->slope) && !falls) return NS_VALUE;
    return worst;
}

static void every_row(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < table.n; i++) {
        const nonsmooth_case *row = &table.row[i];
        answer last;
        const nonsmooth_verdict v = verdict_of(row, &last);
        if (v == row->today || (row->fragile && v < row->today)) continue;
        wrong++;
        print_error("%s: %s (slope %.9g, sides %.9g and %.9g, '%s')\n%s", row->name,
                    v < row->today ? "better than its mark; edit it: " : verdict_text(v),
                    last.slope, row->below, row->above, cst_effect_text(last.effect), diag.text);
    }
    expect_int(wrong, 0);
}

/* ---- the closed forms against differences ---- */

static int side_holds(const nonsmooth_case *row, side d, double exact)
{
    const double close = (1e-5 + row->apart / (1 << (STEPS - 1))) * size_of(row);
    const double limit[] = {linear_limit(d), root_limit(d), d.narrow};
    if (isnan(exact)) return has_none(d);
    for (int i = 0; i < 3; i++)
        if (fabs(limit[i] - exact) <= close) return 1;
    return 0;
}

static int sides_hold(const nonsmooth_case *row, int show)
{
    const scene s = open_scene(row, row->step / (1 << (STEPS - 1)));
    const side below = side_of(&s, -row->width), above = side_of(&s, row->width);
    const int ok = side_holds(row, below, row->below) && side_holds(row, above, row->above);
    if (show || !ok)
        print_message("%s %s: %.9g and %.9g, by differences %.9g %.9g and %.9g %.9g\n",
                      ok                            ? "    "
                      : row->rough || row->measured ? "  ? "
                                                    : "NOT ",
                      row->name, row->below, row->above, below.wide, below.narrow, above.wide,
                      above.narrow);
    close_scene(s);
    return ok;
}

static void closed_forms(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < table.n; i++)
        if (!table.row[i].rough && !table.row[i].measured) wrong += !sides_hold(&table.row[i], 0);
    expect_int(wrong, 0);
}

static int list(int sides)
{
    for (int i = 0; i < table.n; i++) {
        const nonsmooth_case *row = &table.row[i];
        answer last;
        if (sides) {
            sides_hold(row, 1);
            continue;
        }
        const nonsmooth_verdict v = verdict_of(row, &last);
        printf("%-60s %12.6g %12.6g  %12.6g %d %s%s\n", row->name, row->below, row->above,
               last.slope, (int)last.effect, v == row->today ? "" : "CHANGED ", verdict_text(v));
    }
    return 0;
}

int main(int argc, char **argv)
{
    nonsmooth_all(&table);
    if (argc > 1 && !strcmp(argv[1], "--list")) return list(0);
    if (argc > 1 && !strcmp(argv[1], "--sides")) return list(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
