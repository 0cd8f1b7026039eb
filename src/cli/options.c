/* SPDX-License-Identifier: MIT
 *
 * The shared options and the parser that all tables drive. */
#include "cli/command.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "number/parse.h"

const char cst_formulation_words[] =
#define CST_FORMULATION(name, integrators, traits, doc) name "|"
#include "formulation/formulations.def"
#undef CST_FORMULATION
    "auto";

const char cst_integrator_words[] = "default"
#define CST_RULE(rule, name) "|" name
#include "integrator/rules.def"
#undef CST_RULE
    ;

static const struct shared {
    int group;
    cst_option option;
} shared[] = {
    {CST_OPTIONS_MODEL,
     {"set", CST_OPTION_LIST, "NAME=VALUE", 0, 0,
      "another value for a number of the model, in the unit that the file gives it (with `k: "
      "{value: 2, unit: N/mm}` k=3 is 3 N/mm, and so is \"k=3 kN/m\"), else in SI units, as all "
      "results are; may be repeated"}},
    {CST_OPTIONS_MODEL,
     {"sandbox", CST_OPTION_FLAG, NULL, 0, 0,
      "for models from elsewhere: read only files in the directory of the model and below it, "
      "links followed"}},
    {CST_OPTIONS_RUN, {"step", CST_OPTION_NUMBER, "S", 1e-300, 1e300, "time step, s"}},
    {CST_OPTIONS_RUN, {"end", CST_OPTION_NUMBER, "S", -1e300, 1e300, "end of the simulation, s"}},
    {CST_OPTIONS_RUN,
     {"output", CST_OPTION_NUMBER, "S", 0, 1e300,
      "interval between rows of results, s; 0: every step"}},
    {CST_OPTIONS_RUN | CST_OPTIONS_FORMULATION,
     {"formulation", CST_OPTION_CHOICE, cst_formulation_words, 0, 0,
      "equations that are integrated"}},
    {CST_OPTIONS_RUN,
     {"integrator", CST_OPTION_CHOICE, cst_integrator_words, 0, 0,
      "integration rule; default: that of the formulation"}},
    {CST_OPTIONS_RUN,
     {"tolerance", CST_OPTION_NUMBER, "X", 1e-15, 1,
      "relative error per step: makes the steps of implicit integrators adaptive; rk45, bdf and "
      "adams always are (1e-6)"}},
    {CST_OPTIONS_RUN,
     {"alpha", CST_OPTION_NUMBER, "X", 1e-300, 1e300,
      "penalty factor of penalty (1e9) and augmented"}},
    {CST_OPTIONS_RUN,
     {"xi", CST_OPTION_NUMBER, "X", 1e-300, 1e6,
      "damping ratio of the constraints of index1 and penalty (1)"}},
    {CST_OPTIONS_RUN,
     {"omega", CST_OPTION_NUMBER, "X", 1e-300, 1e12,
      "frequency of the constraints of index1 and penalty, 1/s (10)"}},
    {CST_OPTIONS_RUN,
     {"coupling", CST_OPTION_CHOICE, "simultaneous|staggered", 0, 0,
      "continuous-direct with bdf and adams: sensitivities with the motion or after it"}},
    {CST_OPTIONS_RUN,
     {"sensitivity", CST_OPTION_CHOICE, "euler|heun|rk4", 0, 0,
      "method mixed: integrator of the sensitivities; default: euler"}},
    {CST_OPTIONS_RUN,
     {"sensitivity-step", CST_OPTION_NUMBER, "S", 1e-300, 1e300,
      "method mixed: step of the sensitivities, s; default: that of the run"}},
    {CST_OPTIONS_RUN,
     {"terms", CST_OPTION_CHOICE, "perturbed|analytic", 0, 0,
      "method mixed: terms of the sensitivity equation; default: perturbed"}},
    {CST_OPTIONS_RUN,
     {"perturbation", CST_OPTION_NUMBER, "X", 1e-15, 1,
      "method mixed: relative perturbation; default: 1e-7"}},
    {CST_OPTIONS_RUN,
     {"events", CST_OPTION_CHOICE, "exact|frozen|none", 0, 0, "how discontinuities are treated"}},
    {CST_OPTIONS_RUN,
     {"newton", CST_OPTION_CHOICE, "modified|full", 0, 0,
      "a new matrix when convergence becomes slow, or in every iteration"}},
    {CST_OPTIONS_RUN,
     {"threads", CST_OPTION_WHOLE, "N", 1, 1024,
      "maximum number of threads, used by the backward sweep of a gradient"}},
    {CST_OPTIONS_RUN,
     {"memory", CST_OPTION_TEXT, "SIZE", 0, 0,
      "memory for the trajectory of a gradient, e.g. 200M or 2G; if it is too small, checkpoints "
      "are used"}},
    {CST_OPTIONS_OUT,
     {"out", CST_OPTION_TEXT, "DIR", 0, 0,
      "directory of the results; default: costate-out/NAME OF THE MODEL"}},
    {CST_OPTIONS_HDF5,
     {"hdf5", CST_OPTION_FLAG, NULL, 0, 0,
      "write DIR/results.h5 too: everything in one file for other tools"}},
    {CST_OPTIONS_REPORT,
     {"report", CST_OPTION_FLAG, NULL, 0, 0,
      "write DIR/report.html too: animation, plots, gradient in one page"}},
    {CST_OPTIONS_PRINT,
     {"json", CST_OPTION_FLAG, NULL, 0, 0, "print one JSON object and nothing else"}},
    {CST_OPTIONS_PRINT, {"quiet", CST_OPTION_FLAG, NULL, 0, 0, "print warnings and errors only"}},
};
enum { NSHARED = sizeof shared / sizeof *shared };

const cst_option *cst_option_at(const cst_command *c, int i)
{
    for (const cst_option *o = c->option; o && o->name; o++)
        if (i-- == 0) return o;
    for (int k = 0; k < NSHARED; k++)
        if ((shared[k].group & c->groups) && i-- == 0) return &shared[k].option;
    return NULL;
}

static const cst_option *find(const cst_command *c, const char *name, size_t n)
{
    const cst_option *o;
    for (int i = 0; (o = cst_option_at(c, i)); i++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o;
    return NULL;
}

/* ---- messages ---- */

static int wrong(const cst_args *a, const char *what, const char *text)
{
    fprintf(stderr, "costate %s: %s%s%s%s\n", a->command->name, what, text ? " '" : "",
            text ? text : "", text ? "'" : "");
    cst_usage_short(a->command);
    return 0;
}

/* If it is an option of another command, the message says so. */
static int unknown(const cst_args *a, const char *name)
{
    const cst_command *c;
    const cst_option *o;
    cst_nearest near = cst_nearest_begin(name);
    for (int i = 0; (o = cst_option_at(a->command, i)); i++) cst_nearest_try(&near, o->name);
    for (int i = 0; (c = cst_command_at(i)); i++)
        if (find(c, name, strlen(name)))
            return wrong(a,
                         cst_arena_printf(a->arena,
                                          "the option --%s does not apply to this command", name),
                         NULL);
    const char *best = cst_nearest_best(&near);
    if (!best) return wrong(a, cst_arena_printf(a->arena, "unknown option --%s", name), NULL);
    return wrong(a,
                 cst_arena_printf(a->arena, "unknown option --%s, did you mean --%s?", name, best),
                 NULL);
}

/* ---- values ---- */

int cst_option_word(const char *words, const char *text)
{
    size_t n = strlen(text);
    for (int k = 0; *words; k++) {
        size_t len = strcspn(words, "|");
        if (len == n && memcmp(words, text, n) == 0) return k;
        words += len + (words[len] == '|');
    }
    return -1;
}

const char *cst_option_nearest(cst_arena *arena, const char *words, const char *text)
{
    cst_nearest near = cst_nearest_begin(text);
    while (*words) {
        size_t len = strcspn(words, "|");
        cst_nearest_try(&near, cst_arena_strndup(arena, words, len));
        words += len + (words[len] == '|');
    }
    return cst_nearest_best(&near);
}

static int read_number(const cst_args *a, const cst_option *o, cst_given *g)
{
    int whole = o->kind == CST_OPTION_WHOLE;
    int ok = whole ? strspn(g->text, "0123456789") == strlen(g->text) &&
                         cst_text_number(g->text, &g->number)
                   : cst_parse_plain(g->text, &g->number);
    if (!ok)
        return wrong(a,
                     cst_arena_printf(a->arena,
                                      whole ? "--%s must be a whole number, not"
                                            : "--%s must be a number, not",
                                      o->name),
                     g->text);
    int n = 0;
    if (!whole && strcmp(o->value, "S") == 0 && cst_unit_misfit(g->text, "s", &n))
        return wrong(a, cst_arena_printf(a->arena, "--%s must be in s, not", o->name), g->text);
    if (g->number >= o->lo && g->number <= o->hi) return 1;
    if (!whole && o->lo > 0 && !(g->number > 0))
        return wrong(a, cst_arena_printf(a->arena, "--%s must be positive, not", o->name), g->text);
    return wrong(a,
                 cst_arena_printf(a->arena, "--%s must be in [%g, %g], not", o->name, o->lo, o->hi),
                 g->text);
}

static int read_value(const cst_args *a, const cst_option *o, cst_given *g)
{
    if (o->kind == CST_OPTION_NUMBER || o->kind == CST_OPTION_WHOLE) return read_number(a, o, g);
    if (o->kind == CST_OPTION_CHOICE) {
        g->number = cst_option_word(o->value, g->text);
        if (g->number >= 0) return 1;
        const char *best = cst_option_nearest(a->arena, o->value, g->text);
        return wrong(a,
                     cst_arena_printf(a->arena, "--%s must be %s, not '%s'%s%s%s", o->name,
                                      o->value, g->text, best ? "; did you mean '" : "",
                                      best ? best : "", best ? "'?" : ""),
                     NULL);
    }
    if (o->kind == CST_OPTION_LIST) {
        const char *equals = strchr(g->text, '=');
        if (strcmp(o->value, "NAME=VALUE") == 0 && (!equals || equals == g->text || !equals[1]))
            return wrong(a, cst_arena_printf(a->arena, "--%s needs NAME=VALUE, not", o->name),
                         g->text);
    } else if (!*g->text)
        return wrong(a, cst_arena_printf(a->arena, "--%s needs a value", o->name), NULL);
    return 1;
}

/* ---- the line ---- */

/* --name value, --name=value; *i is moved over the value */
static int read_option(cst_args *a, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    const cst_option *o = find(a->command, name, n);
    if (!o) return unknown(a, cst_arena_strndup(a->arena, name, n));
    cst_given g = {.option = o, .text = equals ? equals + 1 : NULL, .number = NAN};
    if (o->kind == CST_OPTION_FLAG) {
        if (equals)
            return wrong(a, cst_arena_printf(a->arena, "--%s takes no value", o->name), NULL);
    } else {
        if (!g.text && (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0))
            return wrong(a,
                         cst_arena_printf(a->arena, "--%s needs a value: --%s %s", o->name, o->name,
                                          o->value),
                         NULL);
        if (!g.text) g.text = argv[++*i];
        if (!read_value(a, o, &g)) return 0;
    }
    *cst_push(a->arena, &a->given) = g;
    return 1;
}

static int count_operands(const cst_args *a)
{
    int n = a->operand.n;
    if (n > a->command->most) return wrong(a, "too much:", a->operand.at[a->command->most]);
    if (n >= a->command->least) return 1;
    return wrong(a, cst_arena_printf(a->arena, "%s is missing", a->command->operands), NULL);
}

int cst_args_parse(cst_args *a, int argc, char **argv, int *status)
{
    int options = 1;
    *status = CST_EXIT_WRONG;
    for (int i = 0; i < argc; i++)
        if (options && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            cst_usage_print(a->command);
            *status = CST_EXIT_DONE;
            return 0;
        } else if (options && strcmp(argv[i], "--") == 0) {
            options = 0;
        } else if (options && strncmp(argv[i], "--", 2) == 0) {
            if (!read_option(a, argc, argv, &i)) return 0;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            return wrong(a, "options begin with two dashes:", argv[i]);
        } else {
            *cst_push(a->arena, &a->operand) = argv[i];
        }
    return count_operands(a);
}

/* ---- what was given ---- */

static const cst_given *given(const cst_args *a, const char *name)
{
    assert(find(a->command, name, strlen(name)));
    const cst_given *last = NULL;
    for (int i = 0; i < a->given.n; i++)
        if (strcmp(a->given.at[i].option->name, name) == 0) last = &a->given.at[i];
    return last;
}

int cst_args_flag(const cst_args *a, const char *name) { return given(a, name) != NULL; }

const char *cst_args_text(const cst_args *a, const char *name)
{
    const cst_given *g = given(a, name);
    return g ? g->text : NULL;
}

double cst_args_number(const cst_args *a, const char *name)
{
    const cst_given *g = given(a, name);
    return g ? g->number : NAN;
}

int cst_args_choice(const cst_args *a, const char *name)
{
    const cst_given *g = given(a, name);
    return g ? (int)g->number : -1;
}

int cst_args_list(const cst_args *a, const char *name, const char ***texts)
{
    int n = 0;
    *texts = cst_new(a->arena, const char *, a->given.n + 1);
    for (int i = 0; i < a->given.n; i++)
        if (strcmp(a->given.at[i].option->name, name) == 0) (*texts)[n++] = a->given.at[i].text;
    return n;
}
