/* SPDX-License-Identifier: MIT
 *
 * Laws of units: measures and objectives have the unit that follows from their parts, a chosen unit
 * changes what is shown and nothing else, and what is added has one unit. */
#include "expect.h"

#include <stdio.h>

#include "integrator/run.h"
#include "model/dimensions.h"
#include "number/parse.h"

/* measures, objectives: lines of the sections */
static cst_model *model(const char *measures, const char *objectives, cst_diag *d)
{
    char text[4096];
    snprintf(
        text, sizeof text,
        "costate: 1\n"
        "points: {A: [0, 0, 0], B: [0.5, 0, 0.1]}\n"
        "bodies: {rod: {type: bar, from: A, to: B, mass: 2}}\n"
        "joints: {pivot: {type: revolute, between: [ground, rod], at: A, axis: y}}\n"
        "measures:\n"
        "  tip: {type: position, of: rod.B}\n"
        "  R: {type: reaction, of: pivot}\n"
        "  sw: {type: joint, of: pivot}\n%sobjectives:\n%ssimulation: {end: 0.1, step: 0.01}\n",
        measures, objectives);
    *d = (cst_diag){0};
    return cst_model_parse("m.yaml", text, strlen(text), 0, NULL, d);
}

static const cst_component *component(const cst_model *m, const char *name)
{
    for (int i = 0; i < m->component.n; i++)
        if (strcmp(m->component.at[i].name, name) == 0) return &m->component.at[i];
    fail_msg("no component '%s'", name);
    return NULL;
}

/* A product of random powers of measures, times time, has the product of their units; its rate has
 * that per second, its integral that times a second. */
static void units_follow_from_parts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit;
    } part[] = {{"(tip.x + 2)", "m"}, {"(R.force.z + 3)", "N"}, {"(t + 1)", "s"}};
    expect_random r = {11};
    for (int n = 0; n < 200; n++) {
        int p[3];
        char measures[600], factor[300] = "", unit[200] = "1", rate[220], integral[220];
        for (int k = 0, at = 0, u = 1; k < 3; k++) {
            p[k] = expect_below(&r, 7) - 3;
            if (k == 1 && n % 2 == 0) p[k] = 0;            /* forces have no rate */
            if (k == 2 && !*factor && p[k] == 0) p[k] = 1; /* not 1 alone, which has no rate */
            if (p[k] == 0) continue;
            at += snprintf(factor + at, sizeof factor - (size_t)at, "%s%s^(%d)", at ? "*" : "",
                           part[k].name, p[k]);
            u += snprintf(unit + u, sizeof unit - (size_t)u, "*%s^%d", part[k].unit, p[k]);
        }
        snprintf(measures, sizeof measures, "  y: %s\n  a: %s\n  q: integral(y)\n", factor,
                 p[1] ? "y" : "rate(y)");
        snprintf(rate, sizeof rate, p[1] ? "%s" : "%s/s", unit),
            snprintf(integral, sizeof integral, "%s*s", unit);
        cst_diag d;
        cst_model *m = model(measures, "  psi: mean(y)\n  peaked: integral(y)\n", &d);
        if (!m) fail_msg("%s", d.text);
        const char *const want[] = {unit, rate, integral, unit, integral};
        const char *const is[] = {component(m, "y")->unit, component(m, "a")->unit,
                                  component(m, "q")->unit, m->objective.at[0].unit,
                                  m->objective.at[1].unit};
        for (int k = 0; k < 5; k++) {
            const cst_dimension x = cst_dimension_parse(*is[k] ? is[k] : "1"),
                                y = cst_dimension_parse(want[k]);
            expect_true(cst_dimension_known(&x) && cst_dimension_known(&y));
            for (int b = 0; b < CST_BASES; b++)
                if (x.x[b] != y.x[b])
                    fail_msg("%s of %s: '%s', not '%s'", factor, want[k], is[k], want[k]);
        }
        cst_model_free(m);
    }
}

static void short_names(void **state)
{
    (void)state;
    static const char *const name[][2] = {{"kg*m/s^2", "N"},       {"kg*m^2/s^2", "N*m"},
                                          {"kg/s^2", "N/m"},       {"kg/m/s^2", "Pa"},
                                          {"kg*m^2/s^3", "W"},     {"kg*m/s", "N*s"},
                                          {"kg*m^2", "kg*m^2"},    {"kg", "kg"},
                                          {"kg^2*m^2/s^4", "N^2"}, {"s/kg/m", "1/N/s"},
                                          {"m/s", "m/s"},          {"kg/m^3", "kg/m^3"}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const cst_dimension d = cst_dimension_parse(name[i][0]);
        char text[64];
        cst_dimension_text(&d, text, sizeof text);
        expect_text(text, name[i][1]);
    }
}

/* Shown in another unit, values and slopes are the same to the last bit; rates follow. */
static void a_chosen_unit_is_only_shown(void **state)
{
    (void)state;
    cst_diag d;
    static const char plain
        [] = "  h: {value: tip.z}\n  w: {type: joint, of: pivot}\n",
   chosen[] =
        "  h: {value: tip.z, unit: mm, doc: height}\n  w: {type: joint, of: pivot, unit: deg}\n";
    cst_model *m[2] = {model(plain, "  psi: {value: end(h*w)}\n", &d),
                       model(chosen, "  psi: {value: end(h*w), unit: mm, doc: x}\n", &d)};
    if (!m[0] || !m[1]) fail_msg("%s", d.text);
    expect_text(component(m[1], "h")->shown.unit, "mm");
    expect_text(component(m[1], "h")->unit, "m");
    expect_near(component(m[1], "h")->shown.factor, 1e-3, 1e-16);
    expect_text(component(m[1], "w")->shown.unit, "deg");
    expect_text(component(m[1], "w.rate")->shown.unit, "deg/s");
    expect_text(component(m[1], "w.acceleration")->shown.unit, "deg/s^2");
    expect_text(cst_model_objective_doc(m[1], 0), "x");
    expect_text(cst_model_objective_definition(m[1], 0), "end(h*w)");
    expect_text(m[1]->objective.at[0].shown.unit, "mm");
    expect_int(cst_model_number_count(m[0]),
               cst_model_number_count(m[1])); /* no number of the file */
    const cst_gradient *g[2];
    cst_run *r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = cst_run_new(m[k], NULL, &d);
        g[k] = r[k] ? cst_run_gradient(r[k], NULL, CST_ADJOINT, 0, NULL, &d) : NULL;
        if (!g[k]) fail_msg("%s", d.text);
    }
    expect_near(g[0]->value[0], g[1]->value[0], 0);
    for (int i = 0; i < g[0]->numbers; i++)
        if (!isnan(g[0]->slope[i])) expect_near(g[0]->slope[i], g[1]->slope[i], 0);
    for (int k = 0; k < 2; k++) cst_run_free(r[k]), cst_model_free(m[k]);
}

static void reports(const char *measures, const char *objectives, const char *message, int loads)
{
    cst_diag d;
    cst_model *m = model(measures, objectives, &d);
    expect_int(m != NULL, loads);
    if (message ? !strstr(d.text, message) : d.text[0] != 0)
        fail_msg("'%s' instead of '%s'", d.text, message ? message : "");
    cst_model_free(m);
}

static void what_is_added_has_one_unit(void **state)
{
    (void)state;
    reports("  h: tip.z - t\n", "  psi: end(h)\n",
            "m.yaml:9:3: warning: measure 'h' adds different units: m and s", 1);
    reports("", "  psi: end(tip.x) + end(R.force.z)\n",
            "m.yaml:10:3: warning: objective 'psi' adds different units: m and N", 1);
    reports("", "  psi: \"integral(max(tip.x, R.force.z))\"\n", "adds different units: m and N", 1);
    reports("  h: tip.z - 0.5*t + 2\n", "  psi: end(tip.x^2 + 3*tip.z)\n", NULL,
            1); /* a number takes the unit that it needs */
    reports("", "  psi: {value: end(tip.x), unit: kN}\n",
            "m.yaml:10:34: error: 'psi' is in m, which cannot be shown in kN", 0);
    reports("  w: {type: joint, of: pivot, unit: mm}\n", "  psi: end(w)\n",
            "m.yaml:9:37: error: 'w' is in rad, which cannot be shown in mm", 0);
    reports("  w: {type: joint, of: pivot, unit: dog}\n", "  psi: end(w)\n",
            "unknown unit 'dog'; did you mean 'deg'?", 0);
    reports("", "  psi: {valeu: end(tip.x)}\n", "unknown key 'valeu' of psi; did you mean 'value'?",
            0);
    reports("", "  psi: {unit: m}\n", "'psi' has no value", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_follow_from_parts),
                                       cmocka_unit_test(short_names),
                                       cmocka_unit_test(a_chosen_unit_is_only_shown),
                                       cmocka_unit_test(what_is_added_has_one_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
