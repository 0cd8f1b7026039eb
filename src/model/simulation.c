/* SPDX-License-Identifier: MIT
 *
 * The section simulation: one table for the loader, the help and the schema. */
#include "model/loader.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(cst_sim, member)
#define NUMBER(key, unit_, lo_, hi_, open_, dflt_, doc_)                                           \
    {                                                                                              \
        .name = #key, .unit = unit_, .lo = lo_, .hi = hi_, .open = open_, .number = dflt_,         \
        .at = AT(key), .doc = doc_                                                                 \
    }
#define WORD(key, words_, dflt_, doc_)                                                             \
    {                                                                                              \
        .name = #key, .words = words_, .word = dflt_, .at = AT(key), .doc = doc_                   \
    }

const cst_setting cst_settings[] = {
    NUMBER(start, "s", -1e12, 1e12, 0, 0, "start time of the run"),
    NUMBER(end, "s", -1e12, 1e12, 0, 1, "end time of the run"),
    NUMBER(step, "s", 0, 1e12, 1, 1e-3,
           "length of a step; with a tolerance, of the first one and of all at rest"),
    NUMBER(output, "s", 0, 1e12, 0, 0, "interval between rows of results; 0: every step"),
    WORD(formulation, NULL, "index3", "equations that are integrated"),
    WORD(integrator, NULL, "default", "integration rule; default: that of the formulation"),
    WORD(events, "exact|frozen|none", "exact", "how discontinuities are treated"),
    NUMBER(tolerance, "1", 0, 1, 1, 0,
           "error per step, for rules with adaptive steps; implicit rules adapt their steps if it "
           "is given"),
    NUMBER(alpha, "1", 0, 1e300, 1, 0, "penalty factor of penalty (1e9) and augmented"),
    NUMBER(xi, "1", 0, 1e6, 1, 0, "damping ratio of the constraints of index1 and penalty (1)"),
    NUMBER(omega, "1/s", 0, 1e12, 1, 0, "frequency of the constraints of index1 and penalty (10)"),
    NUMBER(rho, "1", 0, 1, 0, 0.8, "generalized-alpha: factor per step for the fastest vibrations"),
    NUMBER(weight, "1", 0, 1, 0, 0.5, "variational: place of the quadrature point in a step"),
    WORD(coupling, "simultaneous|staggered", "simultaneous",
         "continuous-direct with bdf, adams: sensitivities with the motion or after it"),
    WORD(sensitivity, "euler|heun|rk4", "euler", "mixed: integrator of the sensitivities"),
    NUMBER(sensitivity_step, "s", 0, 1e12, 1, 0,
           "mixed: step of the sensitivities; default: that of the run"),
    WORD(terms, "perturbed|analytic", "perturbed", "mixed: terms of the sensitivity equation"),
    NUMBER(perturbation, "1", 0, 1, 1, 0, "mixed: relative perturbation (1e-7)"),
    {0},
};

/* A key of the section: the first document that has it decides, so that a file can change what it
 * includes. */
static const cst_yaml *node_of(const cst_loader *L, const char *key)
{
    const cst_yaml *node = NULL;
    for (int i = 0; i < L->root->doc.n && !node; i++)
        node = cst_yaml_get(cst_yaml_get(L->root->doc.at[i], "simulation"), key);
    return node;
}

static void read_number(cst_loader *L, const cst_setting *s, const cst_yaml *node, double *to)
{
    double value;
    int n = 0;
    *to = s->number;
    if (!node || !cst_read_constant(L, s->name, node, &value)) return;
    const char *misfit = node->text ? cst_unit_misfit(node->text, s->unit, &n) : NULL;
    if (misfit)
        cst_loader_error(L, node->where, "%s must be in %s, not in %.*s", s->name, s->unit, n,
                         misfit);
    else if (value < s->lo || value > s->hi || (s->open && value == s->lo))
        cst_loader_error(L, node->where, "%s must be in %c%g, %g]%s%s, not %g", s->name,
                         s->open ? '(' : '[', s->lo, s->hi, strcmp(s->unit, "1") ? " " : "",
                         strcmp(s->unit, "1") ? s->unit : "", value);
    else
        *to = value;
}

/* The words of a setting as a list for messages */
static const char *const *list_of(cst_loader *L, const char *words)
{
    const char **list = cst_new(L->scratch, const char *, 16);
    for (int n = 0; *words; n++) {
        size_t length = strcspn(words, "|");
        list[n] = cst_arena_strndup(L->scratch, words, length);
        words += length + (words[length] == '|');
    }
    return list;
}

static void read_word(cst_loader *L, const cst_setting *s, const cst_yaml *node, const char **to)
{
    *to = s->word;
    if (!node) return;
    if (node->kind != CST_YAML_SCALAR || !node->text[0]) {
        cst_loader_error(L, node->where, "%s must be a word", s->name);
        return;
    }
    *to = cst_arena_strdup(L->arena, node->text);
    if (s->words) cst_key_known(L, "word", s->name, *to, node->where, list_of(L, s->words));
}

static void check_duration(cst_loader *L, const cst_sim *s)
{
    const cst_yaml *end = node_of(L, "end"), *step = node_of(L, "step");
    cst_where w = end ? end->where : step ? step->where : L->root->doc.at[0]->where;
    if (!(s->end > s->start))
        cst_loader_error(L, w, "end must be after start = %g s, not %g s", s->start, s->end);
    else if ((s->end - s->start) / s->step > 1e9)
        cst_loader_error(L, step ? step->where : w, "%.3g steps of %g s: at most 1e9 are possible",
                         (s->end - s->start) / s->step, s->step);
}

static void check_keys(cst_loader *L)
{
    const char *keys[sizeof cst_settings / sizeof *cst_settings + 1] = {0};
    int n = 0;
    for (; cst_settings[n].name; n++) keys[n] = cst_settings[n].name;
    keys[n] = "doc";
    for (int i = 0; i < L->root->doc.n; i++) {
        const cst_yaml *node = cst_yaml_get(L->root->doc.at[i], "simulation");
        if (node && node->kind == CST_YAML_MAPPING)
            cst_keys_check(L, node, "key", "simulation", keys);
        else if (node && node->kind != CST_YAML_NULL)
            cst_loader_error(L, node->where, "simulation must be a mapping");
    }
}

void cst_simulation_read(cst_loader *L)
{
    cst_sim *sim = &L->m->sim;
    int errors = L->d->errors;
    check_keys(L);
    for (const cst_setting *s = cst_settings; s->name; s++) {
        char *to = (char *)sim + s->at;
        if (s->unit)
            read_number(L, s, node_of(L, s->name), (double *)(void *)to);
        else
            read_word(L, s, node_of(L, s->name), (const char **)(void *)to);
    }
    const cst_yaml *formulation = node_of(L, "formulation"), *integrator = node_of(L, "integrator");
    sim->formulation_at =
        formulation ? cst_loader_place(L, formulation->where) : (cst_where){.file = L->m->file};
    sim->integrator_at =
        integrator ? cst_loader_place(L, integrator->where) : (cst_where){.file = L->m->file};
    int asked = L->set.n ? cst_map_get(&L->set_names, "simulation.formulation")
                         : -1; /* decides how the model is built */
    if (asked >= 0)
        sim->formulation = cst_arena_strdup(L->arena, L->set.at[asked].text),
        L->set.at[asked].used = 1;
    if (L->d->errors == errors) check_duration(L, sim);
}
