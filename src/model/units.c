/* SPDX-License-Identifier: MIT
 *
 * Units of measures and objectives: in SI as their dimension says, and as the file wants them
 * shown. Values and expressions are in SI everywhere; a chosen unit changes what people see. */
#include "model/dimensions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number/parse.h"

/* SI unit of what is known; `unit`: what is said already */
static const char *si_unit(cst_arena *a, const cst_dimension *known, const char *unit)
{
    char text[64];
    if ((unit && *unit && strcmp(unit, "1") != 0) || !cst_dimension_known(known))
        return unit ? unit : "";
    cst_dimension_text(known, text, sizeof text);
    return *text ? cst_arena_strdup(a, text) : "1";
}

/* "deg" per s^k */
static const char *rate_of(cst_arena *a, const char *unit, int k)
{
    static const char *const per[] = {"", "/s", "/s^2", "/s^3"};
    const size_t n = strlen(unit);
    const int by_s = n > 2 && strcmp(unit + n - 2, "/s") == 0;
    return cst_arena_printf(a, "%.*s%s", (int)(by_s ? n - 2 : n), unit, per[k + by_s]);
}

/* A chosen unit fits what has its dimension, and its rates: deg/s where deg is chosen. 0: neither
 */
static int choose(cst_arena *a, const char *unit, double factor, const char *si, cst_shown *to)
{
    const cst_dimension wish = cst_dimension_parse(unit), is = cst_dimension_parse(*si ? si : "?");
    if (!cst_dimension_known(&is) || !cst_dimension_known(&wish)) {
        *to = (cst_shown){unit, factor};
        return 1;
    }
    for (int k = 0; k <= 2; k++) {
        int same = 1;
        for (int b = 0; b < CST_BASES; b++)
            same &= fabsf(is.x[b] - wish.x[b] + (float)(b == CST_TIME ? k : 0)) < 1e-5f;
        if (!same) continue;
        *to = (cst_shown){rate_of(a, unit, k), factor};
        return 1;
    }
    return 0;
}

static void misfit(const cst_label *l, const char *name, const char *si, cst_diag *d)
{
    cst_error(d, CST_MODEL, l->unit_at, "'%s' is in %s, which cannot be shown in %s", name,
              strcmp(si, "1") == 0 ? "no unit" : si, l->unit);
}

static void settle_measure(cst_model *m, const cst_measure *x, cst_diag *d)
{
    double factor = 1;
    int fits = 0;
    for (int i = x->first; i < x->first + x->n; i++) {
        cst_component *c = &m->component.at[i];
        c->unit = si_unit(&m->arena, &m->dimensions->component[i], c->unit);
        c->shown = (cst_shown){c->unit, 1};
        const char *si =
            strcmp(c->unit, "1") == 0 && !cst_dimension_known(&m->dimensions->component[i])
                ? ""
                : c->unit;
        if (x->label.unit && cst_unit_factor(x->label.unit, &factor))
            fits |= choose(&m->arena, x->label.unit, factor, si, &c->shown);
        if (m->dimensions->clash[i])
            cst_warn(d, x->where, "measure '%s' adds different units: %s", x->name,
                     m->dimensions->clash[i]);
    }
    if (x->label.unit && x->n && !fits)
        misfit(&x->label, x->name, m->component.at[x->first].unit, d);
}

static void settle_objective(cst_model *m, int i, cst_diag *d)
{
    cst_objective *o = &m->objective.at[i];
    const char *clash = m->dimensions->clash[m->component.n + i];
    double factor = 1;
    char text[64];
    cst_dimension_text(&m->dimensions->objective[i], text, sizeof text);
    o->unit = cst_arena_strdup(&m->arena, text);
    o->shown = (cst_shown){o->unit, 1};
    if (clash) cst_warn(d, o->where, "objective '%s' adds different units: %s", o->name, clash);
    if (!o->label.unit || !cst_unit_factor(o->label.unit, &factor)) return;
    const int known = cst_dimension_known(&m->dimensions->objective[i]);
    if (known && cst_dimension_differs(o->label.unit, *text ? text : "1"))
        misfit(&o->label, o->name, *text ? text : "1", d);
    o->shown = (cst_shown){o->label.unit, factor};
}

void cst_units_settle(cst_model *m, cst_diag *d)
{
    cst_dimensions *known = cst_new(&m->arena, cst_dimensions, 1);
    *known = cst_dimensions_infer(&m->arena, m);
    m->dimensions = known;
    for (int i = 0; i < m->measure.n; i++) settle_measure(m, &m->measure.at[i], d);
    for (int i = 0; i < m->objective.n; i++) settle_objective(m, i, d);
}
