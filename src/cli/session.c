/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* sigaction */
#include "cli/session.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

/* file:line:col: error: ... with the word in colour */
static void show_line(const cst_style *style, const char *line, size_t n)
{
    static const char *const word[] = {"error:", "warning:"};
    for (int k = 0; k < 2; k++)
        for (const char *at = line; (at = memchr(at, word[k][0], (size_t)(line + n - at))); at++) {
            size_t len = strlen(word[k]);
            if ((size_t)(line + n - at) < len || memcmp(at, word[k], len) != 0) continue;
            fprintf(stderr, "%.*s%s%s%s%.*s\n", (int)(at - line), line,
                    k == 0 ? style->red : style->yellow, word[k], style->off,
                    (int)(line + n - at - (ptrdiff_t)len), at + len);
            return;
        }
    fprintf(stderr, "%.*s\n", (int)n, line);
}

void cst_session_messages(cst_session *s)
{
    const cst_style style = cst_style_of(stderr);
    const char *text = s->diag.text + s->printed;
    while (*text) {
        size_t n = strcspn(text, "\n");
        show_line(&style, text, n);
        text += n + (text[n] == '\n');
    }
    s->printed = (size_t)(text - s->diag.text);
}

static volatile sig_atomic_t stop_signal; /* the only way out of a signal handler */

int cst_exit_status(cst_status status)
{
    switch (status) {
    case CST_OK:
        return CST_EXIT_DONE;
    case CST_MODEL:
    case CST_USAGE:
    case CST_IO:
        return CST_EXIT_WRONG;
    case CST_STOPPED:
        return stop_signal ? 128 + stop_signal : CST_EXIT_FAILED;
    case CST_NUMERIC:
    case CST_MEMORY:
    case CST_OUTPUT:
        break;
    }
    return CST_EXIT_FAILED;
}

int cst_session_fail(cst_session *s, cst_status status)
{
    cst_session_messages(s);
    if (s->json) {
        cst_json j = cst_json_begin(s->args->out, 1);
        cst_json_object(&j, NULL);
        cst_json_text(&j, "status", cst_status_text(status));
        cst_json_messages(&j, &s->diag);
        cst_json_close(&j);
        cst_json_end(&j);
    }
    return cst_exit_status(status);
}

cst_where cst_session_where(const cst_session *s)
{
    return (cst_where){.file = s->model ? s->model->file : s->args->operand.at[0]};
}

/* ---- model and run ---- */

static const char *directory_of(cst_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? cst_arena_strndup(a, path, (size_t)(slash - path + (slash == path))) : ".";
}

int cst_session_open(cst_session *s, const cst_args *args)
{
    *s = (cst_session){.args = args, .arena = args->arena, .begin = cst_seconds()};
    s->json = cst_args_flag(args, "json");
    s->quiet = cst_args_flag(args, "quiet");
    const char **set, *formulation = cst_session_word(s, "formulation", NULL);
    s->nset = cst_args_list(args, "set", &set);
    s->set = cst_new(s->arena, const char *, s->nset + 2);
    for (int i = 0; i < s->nset; i++) s->set[i] = set[i];
    if (formulation)
        s->set[s->nset++] = cst_arena_printf(s->arena, "simulation.formulation=%s", formulation);
    if (cst_args_flag(args, "sandbox")) s->below = directory_of(s->arena, args->operand.at[0]);
    s->model = cst_model_load_below(s->below, args->operand.at[0], s->nset, s->set, &s->diag);
    if (!s->model) return cst_session_fail(s, CST_MODEL);
    cst_session_messages(s);
    return CST_EXIT_DONE;
}

const char *cst_session_word(const cst_session *s, const char *option, const char *written)
{
    int groups = s->args->command->groups;
    int has = (groups & CST_OPTIONS_RUN) ||
              ((groups & CST_OPTIONS_FORMULATION) && strcmp(option, "formulation") == 0);
    const char *asked = has ? cst_args_text(s->args, option) : NULL;
    return asked ? asked : written;
}

/* The model file may name a method that this program does not have. */
static cst_status check_words(cst_session *s)
{
    const cst_sim *sim = &s->model->sim;
    const struct {
        const char *name, *word, *known;
        cst_where at;
    } written[] = {{"formulation", sim->formulation, cst_formulation_words, sim->formulation_at},
                   {"integrator", sim->integrator, cst_integrator_words, sim->integrator_at}};
    for (int i = 0; i < 2; i++) {
        if (cst_option_word(written[i].known,
                            cst_session_word(s, written[i].name, written[i].word)) >= 0)
            continue;
        const char *best = cst_option_nearest(s->arena, written[i].known, written[i].word);
        return cst_error(&s->diag, CST_MODEL, written[i].at, "%s must be %s, not '%s'%s%s%s",
                         written[i].name, written[i].known, written[i].word,
                         best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
    }
    return CST_OK;
}

/* The run refuses these too, but wrong usage and a failed computation have different exit statuses.
 */
static cst_status check_options(cst_session *s)
{
    const cst_options *o = &s->options;
    const cst_where w = cst_session_where(s);
    if (!(o->step > 0))
        return cst_error(&s->diag, CST_USAGE, w, "step must be positive (in s), not %g", o->step);
    if (!(o->end >= o->start))
        return cst_error(&s->diag, CST_USAGE, w, "end must be at least start = %g s, not %g",
                         o->start, o->end);
    if (!((o->end - o->start) / o->step <= 1e9))
        return cst_error(&s->diag, CST_USAGE, w,
                         "(end - start)/step is %.3g steps; more than 1e9 are not run",
                         (o->end - o->start) / o->step);
    return CST_OK;
}

/* 200M, 1.5G, 4096k: bytes */
static cst_status read_memory(cst_session *s)
{
    const char *text = cst_args_text(s->args, "memory");
    char *end;
    if (!text) return CST_OK;
    double size = strtod(text, &end), unit = 1;
    if (*end == 'k' || *end == 'K')
        unit = 1e3, end++;
    else if (*end == 'M')
        unit = 1e6, end++;
    else if (*end == 'G')
        unit = 1e9, end++;
    if (end == text || *end || !(size > 0) || !isfinite(size))
        return cst_error(&s->diag, CST_USAGE, (cst_where){.file = "--memory"},
                         "must be a size like 200M (k, M or G behind the number), not '%s'", text);
    s->options.memory = size * unit;
    return CST_OK;
}

void cst_session_given(const cst_session *s, cst_options *o)
{
    const struct {
        const char *name;
        double *to;
    } number[] = {{"end", &o->end},
                  {"step", &o->step},
                  {"output", &o->output},
                  {"tolerance", &o->tolerance},
                  {"alpha", &o->alpha},
                  {"xi", &o->xi},
                  {"omega", &o->omega},
                  {"sensitivity-step", &o->sensitivity_step},
                  {"perturbation", &o->perturbation}};
    const struct {
        const char *name, **to;
    } word[] = {{"events", &o->events},           {"formulation", &o->formulation},
                {"integrator", &o->integrator},   {"coupling", &o->coupling},
                {"sensitivity", &o->sensitivity}, {"terms", &o->terms}};
    const int has = s->args->command->groups & CST_OPTIONS_RUN;
    for (size_t i = 0; has && i < sizeof number / sizeof *number; i++) {
        const double x = cst_args_number(s->args, number[i].name);
        if (!isnan(x)) *number[i].to = x;
    }
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        *word[i].to = cst_session_word(s, word[i].name, *word[i].to);
    if (has && cst_args_choice(s->args, "newton") == 1) o->full_newton = 1;
    if (has && !isnan(cst_args_number(s->args, "threads")))
        o->threads = (int)cst_args_number(s->args, "threads");
}

int cst_session_run(cst_session *s)
{
    const cst_sim *sim = &s->model->sim;
    s->options = cst_options_default();
    s->options.below = s->below;
    s->options.start = sim->start;
    int has = s->args->command->groups & CST_OPTIONS_RUN;
    s->options.end = sim->end, s->options.step = sim->step, s->options.output = sim->output;
    s->options.events = sim->events, s->options.formulation = sim->formulation,
    s->options.integrator = sim->integrator;
    s->options.coupling = sim->coupling, s->options.sensitivity = sim->sensitivity,
    s->options.terms = sim->terms;
    cst_session_given(s, &s->options);
    const cst_formulation *f = cst_formulation_find(s->options.formulation);
    if (s->compares && f && !cst_formulation_takes(f, s->options.integrator))
        s->options.integrator = "default";
    cst_status ok = check_words(s);
    if (ok == CST_OK && has) ok = read_memory(s);
    if (ok == CST_OK) ok = check_options(s);
    if (ok != CST_OK) return cst_session_fail(s, ok);
    s->run = cst_run_new(s->model, &s->options, &s->diag);
    if (!s->run) return cst_session_fail(s, s->diag.status);
    s->run->every_step = 1; /* so that it can be stopped anywhere */
    cst_session_messages(s);
    return CST_EXIT_DONE;
}

const char *cst_session_chosen(const cst_session *s)
{
    const cst_run *r = s->run;
    if (!r->why) return NULL;
    return cst_arena_printf(s->arena, "%s with %s (chosen by auto: %s)", r->options.formulation,
                            r->options.integrator, r->why);
}

void cst_session_close(cst_session *s)
{
    cst_run_free(s->run);
    cst_model_free(s->model);
    s->run = NULL;
    s->model = NULL;
}

/* ---- files ---- */

/* costate-out/NAME: what is no letter, digit, dot or underscore becomes a dash */
static const char *default_directory(cst_session *s)
{
    const char *name = s->model->name && *s->model->name ? s->model->name : s->model->file;
    const char *slash = strrchr(name, '/');
    if (name == s->model->file && slash) name = slash + 1;
    char *dir = cst_arena_printf(s->arena, "costate-out/%s", name);
    char *to = strchr(dir, '/') + 1;
    const char *begin = to;
    for (const char *c = to; *c; c++) {
        int plain = isalnum((unsigned char)*c) || *c == '_' || (unsigned char)*c >= 0x80 ||
                    (*c == '.' && to > begin);
        if (plain || (to > begin && to[-1] != '-')) *to++ = plain ? *c : '-';
    }
    while (to > begin && to[-1] == '-') to--;
    *to = 0;
    return *begin ? dir : "costate-out/model";
}

int cst_session_directory(cst_session *s)
{
    const char *asked = cst_args_text(s->args, "out");
    char *dir = cst_arena_strdup(s->arena, asked ? asked : default_directory(s));
    for (size_t n = strlen(dir); n > 1 && dir[n - 1] == '/'; n--) dir[n - 1] = 0;
    s->dir = dir;
    cst_status ok = cst_writer_directory(s->arena, dir, &s->diag);
    return ok == CST_OK ? CST_EXIT_DONE : cst_session_fail(s, ok);
}

const char *cst_session_path(cst_session *s, const char *name)
{
    return cst_arena_printf(s->arena, "%s/%s", s->dir, name);
}

/* ---- stopping ---- */

/* A library that is stuck never returns to where a stop is looked for: the second signal, of either
 * kind, ends the program here. */
static void ask(int signal_number)
{
    if (stop_signal) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* pending until the handler returns, then the program ends */
        return;
    }
    stop_signal = signal_number;
}

void cst_stop_listen(void)
{
    struct sigaction on = {.sa_handler = ask};
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigemptyset(&on.sa_mask);
    sigaction(SIGINT, &on, NULL);
    sigaction(SIGTERM, &on, NULL);
    pthread_sigmask(SIG_UNBLOCK, &both,
                    NULL); /* whoever started the program may have blocked them */
}

static volatile sig_atomic_t finishing;

void cst_stop_finish(void) { finishing = 1; }
int cst_stop_asked(void) { return finishing ? 0 : stop_signal; }
