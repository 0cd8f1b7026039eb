/* SPDX-License-Identifier: MIT
 *
 * Ranges of numbers: in words, and of values that come from outside of the file. */
#include "model/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *not_finite(double x) { return isnan(x) ? "undefined" : x < 0 ? "-inf" : "inf"; }

void cst_range_message(char *to, size_t n, const char *what, double lo, double hi, const char *unit,
                       double value)
{
    const char *of = unit && unit[0] && strcmp(unit, "1") != 0 ? unit : "", *gap = *of ? " " : "";
    if (!isfinite(value))
        snprintf(to, n, "%s must be a finite number, not %s", what, not_finite(value));
    else if (isinf(hi) && lo > 0 && lo <= 1e-9 && value <= 0)
        snprintf(to, n, "%s must be positive%s%s, not %g", what, *of ? ", in " : "", of, value);
    else if (isinf(hi))
        snprintf(to, n, "%s must be at least %g%s%s, not %g", what, lo, gap, of, value);
    else if (isinf(lo))
        snprintf(to, n, "%s must be at most %g%s%s, not %g", what, hi, gap, of, value);
    else
        snprintf(to, n, "%s must be in [%g, %g]%s%s, not %g", what, lo, hi, gap, of, value);
}

/* A bound of 700 mm is not exactly 0.7. */
static int fits(double lo, double hi, double x)
{
    return isfinite(x) && (x >= lo || lo - x <= 1e-12 * fabs(lo)) &&
           (x <= hi || x - hi <= 1e-12 * fabs(hi));
}

static void complain(cst_diag *d, cst_where w, const char *what, double lo, double hi,
                     const char *unit, double x)
{
    char text[512];
    cst_range_message(text, sizeof text, what, lo, hi, unit, x);
    cst_error(d, CST_USAGE, w, "%s", text);
}

cst_status cst_numbers_check(const cst_model *m, const double *number, const double *val,
                             cst_diag *d)
{
    cst_status ok = CST_OK;
    for (int i = 0; i < m->leaf.n; i++) {
        const cst_leaf *l = &m->leaf.at[i];
        if (fits(l->lo, l->hi, number[i])) continue;
        complain(d, l->where, l->name, l->lo, l->hi, l->unit, number[i]);
        ok = CST_USAGE;
    }
    for (int i = 0; i < m->derived.n && ok == CST_OK;
         i++) { /* of wrong numbers more would be wrong */
        const cst_derived *c = &m->derived.at[i];
        if (fits(c->lo, c->hi, val[c->id])) continue;
        complain(d, c->where, c->what, c->lo, c->hi, c->unit, val[c->id]);
        ok = CST_USAGE;
    }
    return ok;
}
