/* SPDX-License-Identifier: MIT
 *
 * Verdicts on gradients. Right slopes of random mechanisms are not condemned, and slopes that were
 * falsified on purpose are not confirmed; what is said of a number does not depend on the others;
 * kinks and jumps in closed form. */
#include "random_check.h"

#include "sensitivity/check.h"
#include "sensitivity/methods.h"

enum { CHECKED = 5, SEEDS = 4 };

typedef struct counts {
    long slopes, agree, differ, open, others, falsified, confirmed, condemned;
} counts;

static void write_model(random_case *c, random_kind kind, uint64_t seed)
{
    const random_options o = {.kind = kind, .objectives = 2, .step = 2e-3, .steps = 12};
    while (!random_case_moves(c, seed, &o)) seed += 1000;
}

/* Numbers of the model at random, those that are refused left out */
static int some(random_case *c, const cst_gradient *g, int *which)
{
    int n = 0;
    for (int tries = 0; tries < 8 * CHECKED && n < CHECKED; tries++) {
        const int i = random_of(&c->g, c->n);
        int ok = strncmp(cst_model_number_name(c->m, i), "along", 5) != 0;
        for (int o = 0; o < c->nobj; o++) {
            const cst_effect e = g->effect[o * c->n + i];
            ok &= e == CST_EXACT || e == CST_NO_EFFECT;
        }
        for (int k = 0; k < n; k++) ok &= which[k] != i;
        if (ok) which[n++] = i;
    }
    return n;
}

/* Slopes of the gradient, each changed by a part of itself */
static const cst_checked *judge(random_case *c, cst_arena *a, int n, const int *which, double part,
                                cst_checked *to)
{
    const cst_gradient *g = cst_run_gradient(c->run, NULL, CST_ADJOINT, 0, NULL, &c->d);
    if (g == NULL) random_fail(c, "there is no gradient");
    double *slope = cst_new(a, double, c->nobj *n + 1), *zero = cst_new(a, double, c->nobj *n + 1);
    cst_effect *effect = cst_new(a, cst_effect, c->nobj * n + 1);
    for (int k = 0; k < c->nobj * n; k++) {
        const int at = k / n * c->n + which[k % n];
        slope[k] = g->slope[at] * (1 + part);
        effect[k] = g->effect[at];
    }
    const cst_claim claim = {.n = n,
                             .which = which,
                             .adjoint = slope,
                             .direct = slope,
                             .rounding = zero,
                             .effect = effect};
    cst_prober *p = cst_prober_new(a, c->run, NULL, g->slope, &c->d);
    expect_not_null(p);
    expect_int(cst_check_judge(p, &claim, NULL, to), CST_OK);
    return to;
}

static void count_one(random_case *c, counts *n)
{
    static const double parts[] = {0, 1e-2, -1e-3, 1e-4};
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail_msg("out of memory");
    const cst_gradient *g = cst_run_gradient(c->run, NULL, CST_ADJOINT, 0, NULL, &c->d);
    if (g == NULL) random_fail(c, "there is no gradient");
    int which[CHECKED];
    const int all = some(c, g, which);
    cst_checked is[4];
    for (int p = 0; p < 4; p++) judge(c, &a, all, which, parts[p], &is[p]);
    double *size = cst_new(&a, double, c->n + 1);
    cst_number_size(c->m, size);
    for (int k = 0; k < c->nobj * all; k++) {
        const int o = k / all, i = k % all;
        const cst_verdict v = is[0].verdict[k];
        expect_true(is[0].simulations[i] <= 24);
        n->slopes++;
        n->agree += v == CST_AGREE;
        n->differ += v == CST_DIFFER;
        n->open += v == CST_NOT_SETTLED;
        n->others += v != CST_AGREE && v != CST_DIFFER && v != CST_NOT_SETTLED;
        if (v == CST_DIFFER)
            print_message("%s: %s\n", cst_model_number_name(c->m, which[i]), c->g.text);
        const double influence = fabs(is[0].adjoint[k]) * size[which[i]];
        if (influence < 1e-3 * is[0].largest[o] || influence < 1e-9) continue; /* 0, or rounding */
        for (int p = 1; p < 4 && v == CST_AGREE; p++) {
            n->falsified++;
            n->confirmed += is[p].verdict[k] == CST_AGREE;
            n->condemned += is[p].verdict[k] == CST_DIFFER;
        }
    }
    cst_arena_free(&a);
}

static void verdicts_on_random_mechanisms(void **state)
{
    (void)state;
    counts n = {0};
    for (int kind = 0; kind < RANDOM_KINDS; kind++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            random_case c;
            write_model(&c, (random_kind)kind, seed);
            count_one(&c, &n);
            random_case_end(&c);
        }
    print_message(
        "%ld slopes: %ld agree, %ld differ, %ld not settled, %ld others; of %ld falsified "
        "%ld are confirmed, %ld condemned\n",
        n.slopes, n.agree, n.differ, n.open, n.others, n.falsified, n.confirmed, n.condemned);
    expect_true(n.slopes > 150 && n.differ == 0 && n.others == 0);
    expect_true(n.open * 20 < n.slopes);
    expect_true(n.falsified > 100 && n.confirmed == 0);
    expect_true(n.condemned * 10 > n.falsified * 9);
}

/* ---- what is said of a number does not depend on the others ---- */

static cst_verdict *verdicts(const cst_checked *c)
{
    const size_t n = (size_t)(c->objectives * c->numbers);
    cst_verdict *v = malloc(sizeof *v * (n + 1));
    memcpy(v, c->verdict, sizeof *v * n);
    return v;
}

static void alone_as_together(const char *file, const char *const *name, cst_verdict first)
{
    cst_diag d = {0};
    cst_model *m = cst_model_load(file, 0, NULL, &d);
    cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
    const cst_checked *c = r ? cst_run_check(r, NULL, 0, NULL, NULL, &d) : NULL;
    if (c == NULL) fail_msg("%s", d.text);
    const int all = c->numbers, nobj = c->objectives;
    cst_verdict *together = verdicts(c);
    for (int k = 0; name[k]; k++) {
        const int i = cst_model_number_find(m, name[k]);
        expect_true(i >= 0);
        c = cst_run_check(r, NULL, 1, &i, NULL, &d);
        expect_not_null(c);
        for (int o = 0; o < nobj; o++) {
            expect_int(c->verdict[o], together[o * all + i]);
            expect_true(c->simulations[0] <= 24);
        }
        if (k == 0) expect_int(c->verdict[0], first);
    }
    free(together);
    cst_run_free(r);
    cst_model_free(m);
}

static void verdicts_are_of_a_number(void **state)
{
    (void)state;
    static const char *const kink[] = {"f1.damping", "tire.radius", "up.axis.z", NULL},
                             *const switched[] = {"fc.force.x[2]", "fc.force.x[1]",
                                                  "fc.force.y[2]", "l1",
                                                  "b.mass",        NULL};
    alone_as_together(CST_SOURCE_DIR "/tests/cases/confirmed-at-a-step-kink.yaml", kink,
                      CST_DIFFER);
    alone_as_together(CST_SOURCE_DIR "/tests/cases/switched.yaml", switched, CST_STEP_KINK);
}

/* ---- kinks and jumps in closed form ---- */

#define SCALAR(numbers, law, objective)                                                            \
    "costate: 1\nparameters: {" numbers "}\n"                                                      \
    "bodies: {x: {type: scalar, inertia: 1, value: 0, rate: v}}\n"                                 \
    "measures: {X: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {" law "}}\nobjectives: {o: \"" objective "\"}\n"                                 \
    "simulation: {end: 1, step: 2 ms}\n"

typedef struct kinked {
    const char *what, *model, *number;
    cst_sides_answer answer;
    double below, above, tolerance, jump;
    cst_verdict verdict; /* CST_REFUSED: or TWO_SLOPES, JUMP as the sides say */
} kinked;

static const kinked table[] = {
    /* x = v t */
    {"max(v, 0)", SCALAR("v: 0", "type: motor, of: x, torque: 0", "max(end(X), 0)"), "v",
     CST_SIDES_TWO, 0, 1, 1e-9, 0, CST_TWO_SLOPES},
    {"|v - 1|", SCALAR("v: 1", "type: motor, of: x, torque: 0", "abs(end(X) - 1)"), "v",
     CST_SIDES_TWO, -1, 1, 1e-9, 0, CST_TWO_SLOPES},
    {"smooth", SCALAR("v: 1", "type: motor, of: x, torque: 0", "end(X)^3"), "v", CST_SIDES_ONE, 3,
     3, 1e-8, 0, CST_AGREE},
    /* a slope that grows as 1/sqrt(v) */
    {"sqrt(|v|)", SCALAR("v: 0", "type: motor, of: x, torque: 0", "sqrt(abs(end(X)))"), "v",
     CST_SIDES_OPEN, NAN, NAN, 0, 0, CST_REFUSED},
    /* friction 3 forwards, 1 backwards: it stops at v/3, then x = v^2/6 - (1 - v/3)^2/2; else
       x = v - 1/2 */
    {"friction", SCALAR("v: 0", "type: motor, of: x, torque: \"-if(X.rate > 0, 3, 1)\"", "end(X)"),
     "v", CST_SIDES_TWO, 1, 1.0 / 3, 1e-6, 0, CST_TWO_SLOPES},
    /* a stop that is touched: x = v sin(w t)/w with w = 2 into it, v t away from it */
    {"stop", SCALAR("v: 0", "type: stop, of: x, upper: 0, stiffness: 4", "end(X)"), "v",
     CST_SIDES_TWO, 1, 0.4546487134128409, 1e-5, 0, CST_TWO_SLOPES},
    /* a force 3 above, 1 from c = 1/2 down: x = F/2 */
    {"jump", SCALAR("v: 0, c: 0.5", "type: motor, of: x, torque: \"if(c > 0.5, 3, 1)\"", "end(X)"),
     "c", CST_SIDES_JUMP, 0, 0, 1e-9, 1, CST_JUMP},
    /* x' = 1 - c x: x = (1 - exp(-c))/c; c cannot be negative */
    {"range",
     SCALAR("v: 1, c: {value: 0, range: [0, 1]}", "type: motor, of: x, torque: -c*X.rate",
            "end(X)"),
     "c", CST_SIDES_ABOVE, NAN, -0.5, 1e-4, 0, CST_AGREE},
};

static void near_or_none(double is, double expected, double tolerance)
{
    if (isnan(expected))
        expect_true(isnan(is));
    else
        expect_near(is, expected, tolerance);
}

static void kinks_in_closed_form(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        const kinked *x = &table[k];
        cst_diag d = {0};
        cst_model *m = cst_model_parse("kinked.yaml", x->model, strlen(x->model), 0, NULL, &d);
        cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
        const int i = m ? cst_model_number_find(m, x->number) : -1;
        const cst_sides *s = i >= 0 ? cst_run_sides(r, NULL, 1, &i, NULL, &d) : NULL;
        if (s == NULL) fail_msg("%s: %s", x->what, d.text);
        print_message("%s: %s, %g below, %g above, %d simulations\n", x->what,
                      cst_sides_text(s->answer[0]), s->below[0], s->above[0], s->simulations[0]);
        expect_int(s->answer[0], x->answer);
        near_or_none(s->below[0], x->below, x->tolerance);
        near_or_none(s->above[0], x->above, x->tolerance);
        expect_near(s->jump[0], x->jump, 1e-9);
        const cst_checked *c = cst_run_check(r, NULL, 1, &i, NULL, &d);
        expect_not_null(c);
        expect_int(c->verdict[0], x->verdict);
        cst_run_free(r);
        cst_model_free(m);
    }
}

/* ---- the interface ---- */

static int stop_at_once(void *ctx, int done, int numbers)
{
    int *seen = ctx;
    *seen = done * 100 + numbers;
    return 1;
}

static void it_stops_and_leaves_the_run(void **state)
{
    (void)state;
    cst_diag d = {0};
    cst_model *m = cst_model_load(CST_SOURCE_DIR "/tests/cases/switched.yaml", 0, NULL, &d);
    cst_run *r = cst_run_new(m, NULL, &d);
    int seen = 0;
    const cst_check_options o = {.progress = stop_at_once, .ctx = &seen};
    const int which[] = {0, 2};
    expect_null(cst_run_check(r, NULL, 2, which, &o, &d));
    expect_int(d.status, CST_STOPPED);
    expect_int(seen, 102);
    seen = 0;
    expect_null(cst_run_sides(r, NULL, 2, which, &o, &d));
    expect_int(seen, 102);
    const int wrong = 1000;
    expect_null(cst_run_sides(r, NULL, 1, &wrong, NULL, &d));
    expect_int(d.status, CST_USAGE);

    d = (cst_diag){0};
    expect_int(cst_run_simulate(r, NULL, NULL, NULL, &d), CST_OK);
    const double before = cst_run_objective(r, 0);
    const cst_check_options most = {.most = 2};
    const cst_checked *c = cst_run_check(r, NULL, 0, NULL, &most, &d);
    expect_not_null(c);
    expect_true(cst_run_objective(r, 0) == before && c->value[0] == before);
    int untried = 0;
    for (int i = 0; i < c->numbers; i++) untried += c->verdict[i] == CST_UNTRIED;
    expect_int(untried, c->numbers - 2);
    cst_run_free(r);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_on_random_mechanisms),
        cmocka_unit_test(verdicts_are_of_a_number),
        cmocka_unit_test(kinks_in_closed_form),
        cmocka_unit_test(it_stops_and_leaves_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
