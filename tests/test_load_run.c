/* SPDX-License-Identifier: MIT
 *
 * What a model says of its run: rows of drivers and initial conditions, functionals, settings. */
#include "load_text.h"
#include "model/yaml.h"
#include "number/tape.h"

/* ---- tapes of coordinates ---- */

typedef struct motion {
    double x0[CST_MAX_NX], x1[CST_MAX_NX], x2[CST_MAX_NX];
} motion; /* x0 + x1 t + x2 t^2/2 */

static void outputs_at(const cst_constraint *c, const double *P, const motion *x, double t,
                       double *out, double *xd)
{
    const cst_tape *k = c->tape;
    double *reg = calloc((size_t)k->nreg + 1, sizeof *reg);
    for (int i = 0; i < k->nchannel; i++) {
        int j = k->channel[i].index;
        if (k->channel[i].kind == CST_CH_TIME) reg[i] = t;
        if (k->channel[i].kind == CST_CH_X && k->channel[i].order == 0)
            reg[i] = x->x0[j] + t * (x->x1[j] + t / 2 * x->x2[j]);
        if (k->channel[i].kind == CST_CH_X && k->channel[i].order == 1)
            reg[i] = x->x1[j] + t * x->x2[j];
    }
    for (int i = 0; i < k->nnumber; i++) reg[k->nchannel + i] = P[c->p + i];
    cst_tape_eval(k, reg);
    for (int i = 0; i < k->nout; i++) out[i] = reg[k->out[i]];
    for (int j = 0; j < c->nx; j++) xd[j] = x->x1[j] + t * x->x2[j];
    free(reg);
}

/* phi' = phi_x x' + phi_t and phi'' = phi_x x'' + gamma along any motion, by differences in time */
static void driver_rows_have_their_rates(void **state)
{
    (void)state;
    cst_model *m =
        parse("parameters: {k: 1.3}\n"
              "points: {A: [0, 0, 0], B: [1, 0.4, 0]}\n"
              "bodies: {r: {type: bar, from: A, to: B, mass: 1}}\n"
              "measures: {p: {type: position, of: r.B}}\n"
              "joints: {d: {type: drive, of: norm(p)*p.x + k*sin(p.y), value: 2*sin(k*t^2)}}\n");
    const cst_constraint *c = &m->constraint.at[0];
    expect_int(m->joint.at[0].drives, 1);
    expect_int(c->nx, 3);
    expect_int(c->tape->nout, 3 + c->nx);
    values v = evaluate(m, 0);
    for (int sample = 0; sample < 10; sample++) {
        motion x;
        for (int i = 0; i < c->nx; i++)
            x.x0[i] = 1 + 0.5 * uniform(), x.x1[i] = uniform(), x.x2[i] = uniform();
        double t = 1 + uniform(), h = 1e-4, lo[8], at[8], hi[8], xd[3], rate = 0, second = 0;
        outputs_at(c, v.P, &x, t - h, lo, xd);
        outputs_at(c, v.P, &x, t + h, hi, xd);
        outputs_at(c, v.P, &x, t, at, xd);
        for (int i = 0; i < c->nx; i++) rate += at[1 + i] * xd[i], second += at[1 + i] * x.x2[i];
        expect_near(rate + at[1 + c->nx], (hi[0] - lo[0]) / (2 * h), 1e-6);
        expect_near(second + at[2 + c->nx], (hi[0] - 2 * at[0] + lo[0]) / (h * h), 1e-5);
    }
    values_free(v);
    cst_model_free(m);
}

static void initial_rows(void **state)
{
    (void)state;
    cst_model *m = parse("points: {A: [0, 0, 0], B: [1, 0.4, 0]}\n"
                         "bodies: {r: {type: bar, from: A, to: B, mass: 1}}\n"
                         "measures: {p: {type: position, of: r.B}, w: rate(p.x)}\n"
                         "initial:\n"
                         "  positions: {p.x: 0.5, 'p.y + p.z': 0.25}\n"
                         "  velocities: {w: 2, p.z: 3, 'p.x*rate(p.y)': 4}\n");
    expect_int(m->constraint.n, 5);
    static const char *const name[] = {"initial.positions.p.x", "initial.positions.p.y + p.z",
                                       "initial.velocities.w", "initial.velocities.p.z",
                                       "initial.velocities.p.x*rate(p.y)"};
    static const double phi_x[5][3] = {{1, 0, 0}, {0, 1, 1}, {1, 0, 0}, {0, 0, 1}, {0, 1.5, 0}},
                        value[] = {.5, .25, 2, 3, 4};
    values v = evaluate(m, 0);
    motion x = {.x0 = {1.5, 2.5, 3.5}, .x1 = {4.5, 5.5, 6.5}};
    const double phi[] = {1.5 - 0.5, 2.5 + 3.5 - 0.25, 4.5 - 2, 6.5 - 3, 1.5 * 5.5 - 4};
    for (int k = 0; k < 5; k++) {
        const cst_constraint *c = &m->constraint.at[k];
        double out[8], xd[3];
        expect_text(c->name, name[k]);
        expect_near(number(m, name[k]), value[k], 0);
        expect_int(c->phases, k < 2 ? CST_ROW_ASSEMBLY : CST_ROW_RATE);
        outputs_at(c, v.P, &x, 0, out, xd);
        expect_near(out[0], phi[k], 1e-15);
        for (int i = 0; i < 3; i++) expect_near(out[1 + i], phi_x[k][i], 1e-15);
        expect_near(out[4], 0, 0);
        expect_near(out[5], 0, 0);
    }
    values_free(v);
    cst_model_free(m);
}

/* ---- functionals ---- */

static double objective(const cst_model *m, int i, const double *result)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) return NAN;
    const cst_tape *k = cst_tape_new(&a, m->graph, 1, &m->objective.at[i].value);
    double *reg = calloc((size_t)k->nreg + 1, sizeof *reg), y;
    values v = evaluate(m, 0);
    for (int c = 0; c < k->nchannel; c++) {
        expect_int(k->channel[c].kind, CST_CH_RESULT);
        reg[c] = result[k->channel[c].index];
    }
    for (int c = 0; c < k->nnumber; c++) reg[k->nchannel + c] = v.val[k->number[c]];
    cst_tape_eval(k, reg);
    y = reg[k->out[0]];
    free(reg);
    values_free(v);
    cst_arena_free(&a);
    return y;
}

static void functionals(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 3}\n"
                         "measures: {y: k*t, run: integral(y)}\n"
                         "simulation: {start: 1, end: 5}\n"
                         "objectives:\n"
                         "  a: 2*integral(y) + k\n"
                         "  b: peak(y) - peak(y, 4)\n"
                         "  c: end(y) + start(y) + at(y, k)\n"
                         "  d: mean(y)\n"
                         "  e: rms(y)\n");
    /* integral; peak, and for the p-norm an integral, the run's length and 1/s; end, start, at;
     * mean and rms likewise */
    static const cst_functional_kind kind[] = {CST_END,   CST_PEAK, CST_END,   CST_END,
                                               CST_START, CST_END,  CST_START, CST_AT,
                                               CST_END,   CST_END,  CST_END,   CST_END};
    enum { N = sizeof kind / sizeof *kind };
    expect_int(m->functional.n, N);
    for (int i = 0; i < N; i++) expect_int(m->functional.at[i].kind, kind[i]);
    expect_near(nominal(m, m->functional.at[7].time), 3, 0);
    const cst_channel *c = cst_num_channel_of(m->graph, m->functional.at[0].value);
    expect_true(c && c->kind == CST_CH_QUAD);
    double r[N];
    for (int i = 0; i < N; i++) r[i] = 1 + i + uniform();
    expect_near(objective(m, 0, r), 2 * r[0] + 3, 1e-15);
    expect_near(objective(m, 1, r), r[1] - pow(r[2] / r[3], 0.25) / r[4], 1e-15);
    expect_near(objective(m, 2, r), r[5] + r[6] + r[7], 1e-15);
    expect_near(objective(m, 3, r), r[8] / r[9], 1e-15);
    expect_near(objective(m, 4, r), sqrt(r[10] / r[11]), 1e-15);
    expect_int(cst_model_objective_count(m), 5);
    expect_text(cst_model_objective_name(m, 4), "e");
    cst_model_free(m);
}

static void settings(void **state)
{
    (void)state;
    cst_model *m =
        parse("simulation: {start: 1, end: 2*3, step: 1 ms, events: frozen, formulation: maggi}\n"
              "design: {minimize: psi, variables: [a, b]}\n");
    expect_true(m->sim.start == 1 && m->sim.end == 6 && m->sim.step == 1e-3 && m->sim.output == 0);
    expect_text(m->sim.events, "frozen");
    expect_text(m->sim.formulation, "maggi");
    expect_text(cst_yaml_get(m->design, "variables")->child[1]->text, "b");
    expect_near(nominal(m, m->bound.at[m->gravity + 2]), -9.81, 0);
    expect_int(cst_model_number_count(m), 0);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver_rows_have_their_rates),
        cmocka_unit_test(initial_rows),
        cmocka_unit_test(functionals),
        cmocka_unit_test(settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
