/* SPDX-License-Identifier: MIT */
#include "number/column.h"

#include <stdio.h>
#include <string.h>

#include "number/dimension.h"
#include "number/parse.h"

/* A unit as files write it in the words of the table: "m/s²" and "m/s2" are m/s^2, "°" is deg,
 * "-" is 1 */
static const char *plain_unit(cst_arena *a, const char *text)
{
    static const struct {
        const char *from, *to;
    } word[] = {{"°", "deg"}, {"µ", "u"}, {"μ", "u"}, {"²", "^2"}, {"³", "^3"},
                {"⁴", "^4"},  {"·", "*"}, {"⋅", "*"}, {" ", ""}};
    char *to = cst_new(a, char, 3 * strlen(text) + 2), *out = to;
    for (const char *s = text; *s;) {
        size_t k = 0, n = sizeof word / sizeof *word;
        while (k < n && strncmp(s, word[k].from, strlen(word[k].from)) != 0) k++;
        int letter = out > to && strchr("*/^1234567890-", out[-1]) == NULL;
        if (k == n && *s >= '2' && *s <= '9' && letter) *out++ = '^';
        out += k < n ? sprintf(out, "%s", word[k].to) : (*out = *s, 1);
        s += k < n ? strlen(word[k].from) : 1;
    }
    return !*to || strcmp(to, "-") == 0 ? "1" : to;
}

/* The unit of the wish, else that of the file. What stands in round brackets may be a remark
 * instead of a unit. */
static int find_unit(cst_arena *a, const cst_csv *c, int k, const cst_column_wish *wish,
                     cst_column *to, cst_diag *d)
{
    const char *text = wish->unit ? wish->unit : c->unit[k], *name = c->name[k];
    *to = (cst_column){.factor = 1};
    if (!text) return 1;
    const char *unit = plain_unit(a, text);
    if (cst_unit_factor(unit, &to->factor)) {
        to->unit = unit;
    } else if (wish->unit) {
        cst_error(d, CST_MODEL, wish->where, "unknown unit '%.40s'", text);
        return 0;
    } else if (name[strlen(name) - 1] != ')') {
        cst_error(d, CST_MODEL, wish->where,
                  "%s: unknown unit '%.40s' of column '%s': give the unit in the model, or none in "
                  "the file where values are SI",
                  c->file, text, name);
        return 0;
    }
    if (!wish->by || !to->unit || !cst_dimension_differs(to->unit, wish->as)) return 1;
    cst_error(d, CST_MODEL, wish->where, "%s: column '%s' is in %s, but %s is in %s", c->file, name,
              to->unit, wish->by, wish->as);
    return 0;
}

static void report_columns(const cst_csv *c, const cst_column_wish *wish, cst_diag *d)
{
    char there[400] = "";
    size_t used = 0;
    cst_nearest near = cst_nearest_begin(wish->name);
    for (int k = 0; k < c->ncol; k++) {
        cst_nearest_try(&near, c->name[k]);
        if (used < sizeof there - 50)
            used += (size_t)snprintf(there + used, 50, "%s'%.40s'", k ? ", " : "", c->name[k]);
    }
    const char *best = cst_nearest_best(&near);
    if (best)
        cst_error(d, CST_MODEL, wish->where, "%s has no column '%.60s'; did you mean '%s'?",
                  c->file, wish->name, best);
    else
        cst_error(d, CST_MODEL, wish->where, "%s has no column '%.60s'; its columns are %s%s",
                  c->file, wish->name, there, used < sizeof there - 50 ? "" : ", ...");
}

int cst_column_read(cst_arena *a, const cst_csv *c, const cst_column_wish *wish, cst_column *to,
                    cst_diag *d)
{
    int k = cst_csv_find(c, wish->name);
    if (k < 0) {
        report_columns(c, wish, d);
        return 0;
    }
    if (!cst_csv_check(c, k, wish->whole, d) || !find_unit(a, c, k, wish, to, d)) return 0;
    to->value = cst_new(a, double, c->nrow + 1);
    for (int i = 0; i < c->nrow; i++) to->value[i] = to->factor * c->column[k][i];
    return 1;
}
