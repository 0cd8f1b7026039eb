/* SPDX-License-Identifier: MIT
 *
 * The gradient for programs: CSV and JSON. */
#include "cli/gradient.h"

#include <math.h>
#include <string.h>

/* ---- CSV ---- */

static void text(FILE *f, const char *s, char end)
{
    if (strpbrk(s, ",\"\n")) {
        fputc('"', f);
        for (; *s; s++) {
            if (*s == '"') fputc('"', f);
            fputc(*s, f);
        }
        fputc('"', f);
    } else {
        fputs(s, f);
    }
    fputc(end, f);
}

static void number(FILE *f, double x, char end)
{
    if (!isnan(x)) fprintf(f, "%.17g", x == 0 ? 0.0 : x);
    fputc(end, f);
}

static const char *effect_word(cst_effect e)
{
    return e == CST_EXACT ? "exact" : cst_effect_text(e);
}

static void gradient_rows(const cst_gradient_job *job, FILE *f)
{
    const cst_model *m = job->s->model;
    fputs("objective,number,value,unit,slope,relative,size,effect,place,influence,per,slope_per\n",
          f);
    for (int o = 0; o < m->objective.n; o++) {
        const cst_effect *shown = cst_effects_of(job, o);
        for (int i = 0; i < job->n; i++) {
            const cst_per per = cst_slope_per(job, job->which[i]);
            size_t k = (size_t)o * (size_t)job->n + (size_t)i;
            const cst_leaf *l = &m->leaf.at[job->which[i]];
            double value = cst_model_number_value(m, job->which[i]);
            text(f, m->objective.at[o].name, ',');
            text(f, l->name, ',');
            number(f, value, ',');
            text(f, l->unit ? l->unit : "1", ',');
            number(f, job->g.slope[k], ',');
            number(f, value * job->g.slope[k], ',');
            number(f, job->size[job->which[i]], ',');
            text(f, effect_word(shown[i]), ',');
            text(f, cst_place(job->s->arena, l), ',');
            number(f, cst_slope_influence(job, i, job->g.slope[k]), ',');
            text(f, per.unit, ',');
            number(f, job->g.slope[k] * per.factor, '\n');
        }
    }
}

static void check_rows(const cst_gradient_job *job, FILE *f)
{
    const cst_model *m = job->s->model;
    const cst_checked *c = &job->check;
    fputs("objective,number,adjoint,direct,difference,difference_error,below,above,verdict\n", f);
    for (int o = 0; o < m->objective.n; o++)
        for (int i = 0; i < job->n; i++) {
            size_t k = (size_t)o * (size_t)job->n + (size_t)i;
            text(f, m->objective.at[o].name, ',');
            text(f, m->leaf.at[job->which[i]].name, ',');
            number(f, c->adjoint.slope[k], ',');
            number(f, c->direct.slope[k], ',');
            number(f, c->difference.slope[k], ',');
            number(f, c->difference.error[k], ',');
            number(f, c->difference.below[k], ',');
            number(f, c->difference.above[k], ',');
            text(f, cst_verdict_word(c->verdict[k]), '\n');
        }
}

/* ---- JSON ---- */

static void json_numbers(const cst_gradient_job *job, cst_json *j)
{
    const cst_model *m = job->s->model;
    cst_json_object(j, "numbers");
    for (int i = 0; i < job->n; i++) {
        const cst_leaf *l = &m->leaf.at[job->which[i]];
        cst_json_object(j, l->name);
        cst_json_number(j, "value", cst_model_number_value(m, job->which[i]));
        cst_json_text(j, "unit", l->unit ? l->unit : "1");
        cst_json_number(j, "size", job->size[job->which[i]]);
        cst_json_text(j, "per", cst_slope_per(job, job->which[i]).unit);
        cst_json_number(j, "per_factor", cst_slope_per(job, job->which[i]).factor);
        cst_json_text(j, "place", cst_place(job->s->arena, l));
        if (l->doc) cst_json_text(j, "doc", l->doc);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void json_effects(const cst_gradient_job *job, cst_json *j)
{
    const cst_model *m = job->s->model;
    cst_json_object(j, "effects");
    for (int o = 0; o < m->objective.n; o++) {
        const cst_effect *shown = cst_effects_of(job, o);
        cst_json_object(j, m->objective.at[o].name);
        for (int i = 0; i < job->n; i++)
            cst_json_text(j, m->leaf.at[job->which[i]].name, effect_word(shown[i]));
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void json_units(const cst_gradient_job *job, cst_json *j)
{
    cst_json_object(j, "units");
    for (int o = 0; o < job->s->model->objective.n; o++)
        cst_json_text(j, job->s->model->objective.at[o].name, job->s->model->objective.at[o].unit);
    cst_json_close(j);
}

static void json_slopes(const cst_gradient_job *job, cst_json *j, int refused)
{
    const cst_model *m = job->s->model;
    cst_json_object(j, refused ? "refused" : "gradient");
    for (int o = 0; o < m->objective.n; o++) {
        cst_json_object(j, m->objective.at[o].name);
        for (int i = 0; i < job->n; i++) {
            size_t k = (size_t)o * (size_t)job->n + (size_t)i;
            const char *name = m->leaf.at[job->which[i]].name;
            if (cst_effect_refuses(job->g.effect[k]) != refused) continue;
            if (refused)
                cst_json_text(j, name, cst_effect_text(job->g.effect[k]));
            else
                cst_json_number(j, name, job->g.slope[k] == 0 ? 0.0 : job->g.slope[k]);
        }
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void json_stats(const cst_gradient_job *job, cst_json *j)
{
    cst_json_object(j, "stats");
    cst_json_integer(j, "steps", job->stats.steps);
    cst_json_integer(j, "iterations", job->stats.iterations);
    cst_json_integer(j, "factorizations", job->stats.factorizations);
    cst_json_number(j, "forward_s", job->stats.forward_s);
    cst_json_number(j, "gradient_s", job->g.seconds);
    cst_json_integer(j, "steps_again", job->stats.again);
    cst_json_integer(j, "state_bytes", (long)job->stats.state_bytes);
    cst_json_close(j);
}

static void json_identity(const cst_gradient_job *job, cst_json *j, int o, int base)
{
    static const char *const word[] = {"holds", "fails", "not checked"};
    const cst_scaling *x = &job->check.scaling[2 * o + base];
    cst_json_object(j, cst_base_word[base]);
    cst_json_text(j, "verdict", word[x->verdict]);
    cst_json_number(j, "exponent", x->exponent);
    cst_json_number(j, "sum", x->sum);
    cst_json_number(j, "expected", x->exponent * job->check.adjoint.value[o]);
    cst_json_number(j, "off", x->off);
    if (x->why) cst_json_text(j, "why", x->why);
    cst_json_array(j, "left_out");
    for (int i = 0; i < x->in_the_way.n; i++)
        cst_json_text(j, NULL, job->s->model->leaf.at[x->in_the_way.at[i]].name);
    cst_json_close(j);
    cst_json_close(j);
}

static void json_check(const cst_gradient_job *job, cst_json *j)
{
    const cst_model *m = job->s->model;
    const cst_checked *c = &job->check;
    cst_json_object(j, "check");
    const char *word;
    cst_json_bool(j, "confirmed", c->confirmed);
    cst_json_text(j, "verdict", c->word);
    cst_json_array(j, "left_out");
    for (int k = 0; cst_missing_text(job, k, &word); k++) cst_json_text(j, NULL, word);
    cst_json_close(j);
    for (int part = 0; part < 2; part++) {
        cst_json_object(j, part ? "identities" : "verdicts");
        for (int o = 0; o < m->objective.n; o++) {
            cst_json_object(j, m->objective.at[o].name);
            for (int i = 0; i < job->n && !part; i++)
                cst_json_text(j, m->leaf.at[job->which[i]].name,
                              cst_verdict_word(c->verdict[(size_t)o * (size_t)job->n + (size_t)i]));
            for (int base = CST_MASS; base <= CST_LENGTH && part; base++)
                json_identity(job, j, o, base);
            cst_json_close(j);
        }
        cst_json_close(j);
    }
    cst_json_close(j);
}

void cst_gradient_json(const cst_gradient_job *job, FILE *f, int with_run)
{
    const cst_model *m = job->s->model;
    cst_json j = cst_json_begin(f, 1);
    cst_json_object(&j, NULL);
    if (with_run) cst_json_run(&j, job->s);
    cst_json_text(&j, "method", cst_method_text(job->method));
    cst_json_object(&j, "objectives");
    for (int o = 0; o < m->objective.n; o++)
        cst_json_number(&j, m->objective.at[o].name, job->g.value[o]);
    cst_json_close(&j);
    json_units(job, &j);
    cst_json_definitions(&j, m);
    cst_json_measures_end(&j, job->s->run);
    json_slopes(job, &j, 0);
    json_slopes(job, &j, 1);
    json_numbers(job, &j);
    json_effects(job, &j);
    json_stats(job, &j);
    if (job->check.on) json_check(job, &j);
    cst_json_close(&j);
    cst_json_end(&j);
}

/* ---- files ---- */

int cst_gradient_write(cst_gradient_job *job)
{
    static const char *const name[] = {"gradient.csv", "gradient.json", "check.csv"};
    for (int k = 0; k < (job->check.on ? 3 : 2); k++) {
        const char *path = cst_session_path(job->s, name[k]);
        cst_writer *o = cst_writer_open(job->s->arena, path, &job->s->diag);
        if (!o) return 0;
        if (k == 0) gradient_rows(job, o->f);
        if (k == 1) cst_gradient_json(job, o->f, 1);
        if (k == 2) check_rows(job, o->f);
        if (!cst_writer_close(o, &job->s->diag)) return 0;
    }
    return 1;
}
