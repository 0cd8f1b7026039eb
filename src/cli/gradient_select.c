/* SPDX-License-Identifier: MIT
 *
 * --wrt, --sides: all | design | NAME,...; names may be patterns with * and ?, and have commas
 * within brackets. */
#include "cli/gradient.h"

#include <string.h>

#include "model/yaml.h"

static int has_pattern(const char *s) { return strpbrk(s, "*?") != NULL; }

/* Brackets are part of names, so that fnmatch does not serve. */
static int matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++from;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

static int unknown(cst_gradient_job *job, cst_where w, const char *word)
{
    const cst_model *m = job->s->model;
    cst_diag *d = &job->s->diag;
    if (has_pattern(word)) {
        cst_error(d, CST_USAGE, w, "no number matches '%s'", word);
        return 0;
    }
    cst_nearest near = cst_nearest_begin(word);
    for (int i = 0; i < m->leaf.n; i++) cst_nearest_try(&near, m->leaf.at[i].name);
    cst_nearest_try(&near, "all");
    cst_nearest_try(&near, "design");
    const char *best = cst_nearest_best(&near);
    size_t n = strlen(word);
    for (int i = 0; i < m->leaf.n && !best; i++) /* a point or an element instead of its numbers */
        if (strncmp(m->leaf.at[i].name, word, n) == 0 && strchr(".[", m->leaf.at[i].name[n]))
            best = cst_arena_printf(job->s->arena, "%s%c*", word, m->leaf.at[i].name[n]);
    cst_error(d, CST_USAGE, w,
              best ? "there is no number '%s'; did you mean '%s'?" : "there is no number '%s'",
              word, best);
    return 0;
}

static int take(cst_gradient_job *job, cst_where w, const char *word, unsigned char *taken)
{
    const cst_model *m = job->s->model;
    int i = cst_model_number_find(m, word), any = i >= 0;
    if (any) taken[i] = 1;
    for (i = 0; i < m->leaf.n && has_pattern(word); i++)
        if (matches(word, m->leaf.at[i].name)) taken[i] = 1, any = 1;
    return any ? 1 : unknown(job, w, word);
}

/* `variables: [L01, L02]`, or a mapping with the variables as keys */
static int take_design(cst_gradient_job *job, unsigned char *taken)
{
    const cst_model *m = job->s->model;
    const cst_yaml *list = m->design ? cst_yaml_get(m->design, "variables") : NULL;
    int ok = 1, any = 0;
    for (int i = 0; list && i < list->n; i++) {
        const cst_yaml *item = list->child[i];
        const char *word = list->kind == CST_YAML_MAPPING ? list->key[i] : item->text;
        cst_where w = list->kind == CST_YAML_MAPPING ? list->key_where[i] : item->where;
        if (item->kind == CST_YAML_MAPPING && list->kind == CST_YAML_SEQUENCE &&
            item->n > 0) { /* - L01: [1, 4] */
            const cst_yaml *name = cst_yaml_get(item, "name");
            word = name ? name->text : item->key[0];
        }
        ok &= take(job, w, word, taken);
    }
    if (list && list->n) return ok;
    for (int i = 0; i < m->leaf.n; i++)
        if (m->leaf.at[i].parameter) taken[i] = 1, any = 1;
    if (!any)
        cst_error(&job->s->diag, CST_USAGE, cst_session_where(job->s),
                  "--wrt design: the model has neither design variables nor parameters");
    return any;
}

/* Up to the first comma that is not within brackets: `initial.positions.hypot(p.x, p.y)` is one
 * name. Brackets that are not closed, as in a pattern, hold nothing together. */
static size_t word_length(const char *s)
{
    int depth = 0;
    size_t n = 0;
    for (; s[n] && (s[n] != ',' || depth > 0); n++)
        depth += (s[n] == '(' || s[n] == '[') - (s[n] == ')' || s[n] == ']');
    return depth > 0 ? strcspn(s, ",") : n;
}

static int take_words(cst_gradient_job *job, const char *option, const char *names,
                      unsigned char *taken)
{
    int ok = 1;
    for (const char *s = names; *s;) {
        size_t n = word_length(s);
        while (n && *s == ' ') s++, n--;
        size_t len = n;
        while (len && s[len - 1] == ' ') len--;
        const char *word = cst_arena_strndup(job->s->arena, s, len);
        if (strcmp(word, "all") == 0)
            memset(taken, 1, (size_t)job->s->model->leaf.n);
        else if (strcmp(word, "design") == 0)
            ok &= take_design(job, taken);
        else if (len)
            ok &= take(job, (cst_where){.file = option}, word, taken);
        s += n + (s[n] == ',');
    }
    return ok;
}

int *cst_gradient_select(cst_gradient_job *job, const char *option, const char *names, int *n)
{
    const int all = job->s->model->leaf.n;
    unsigned char *taken = cst_new(job->s->arena, unsigned char, all + 1);
    int *which = cst_new(job->s->arena, int, all + 1);
    *n = 0;
    if (!take_words(job, option, names, taken)) return NULL;
    for (int i = 0; i < all; i++)
        if (taken[i]) which[(*n)++] = i;
    if (*n > 0) return which;
    cst_error(&job->s->diag, CST_USAGE, cst_session_where(job->s),
              all ? "%s names no number" : "the model file has no numbers", option);
    return NULL;
}
