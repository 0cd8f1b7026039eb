/* SPDX-License-Identifier: MIT */
#include "number/dimension.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cst_base_word[CST_BASES] = {"mass", "length", "time"};

/* Only the dimension counts here: prefixes are not told apart. */
static const struct word {
    const char *name;
    float x[CST_BASES];
} words[] = {
    {"kg", {1, 0, 0}},    {"g", {1, 0, 0}},     {"t", {1, 0, 0}},     {"lb", {1, 0, 0}},
    {"m", {0, 1, 0}},     {"mm", {0, 1, 0}},    {"cm", {0, 1, 0}},    {"km", {0, 1, 0}},
    {"um", {0, 1, 0}},    {"in", {0, 1, 0}},    {"ft", {0, 1, 0}},    {"s", {0, 0, 1}},
    {"ms", {0, 0, 1}},    {"us", {0, 0, 1}},    {"min", {0, 0, 1}},   {"h", {0, 0, 1}},
    {"Hz", {0, 0, -1}},   {"kHz", {0, 0, -1}},  {"rpm", {0, 0, -1}},  {"rad", {0, 0, 0}},
    {"mrad", {0, 0, 0}},  {"deg", {0, 0, 0}},   {"rev", {0, 0, 0}},   {"N", {1, 1, -2}},
    {"mN", {1, 1, -2}},   {"kN", {1, 1, -2}},   {"MN", {1, 1, -2}},   {"lbf", {1, 1, -2}},
    {"Nm", {1, 2, -2}},   {"Nmm", {1, 2, -2}},  {"kNm", {1, 2, -2}},  {"Ns", {1, 1, -1}},
    {"kNs", {1, 1, -1}},  {"Nms", {1, 2, -1}},  {"Pa", {1, -1, -2}},  {"kPa", {1, -1, -2}},
    {"MPa", {1, -1, -2}}, {"GPa", {1, -1, -2}}, {"bar", {1, -1, -2}}, {"J", {1, 2, -2}},
    {"kJ", {1, 2, -2}},   {"W", {1, 2, -3}},    {"kW", {1, 2, -3}},
};

/* WORD, WORD^3, WORD^-1, WORD^(1/2) or 1; the end of it, NULL when it is none of these */
static const char *factor(const char *s, float sign, cst_dimension *d)
{
    const float *x = NULL;
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (n == 0 && *s == '1') return s + 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, s, n) == 0) x = words[i].x;
    if (!x) return NULL;
    s += n;
    double power = 1;
    if (*s == '^') {
        int open = *++s == '(';
        char *end;
        power = strtod(s + open, &end);
        if (end == s + open || !isfinite(power)) return NULL;
        if (open && *end == '/') {
            const char *below = end + 1;
            power /= strtod(below, &end);
            if (end == below || !isfinite(power)) return NULL;
        }
        if (open && *end++ != ')') return NULL;
        s = end;
    }
    for (int k = 0; k < CST_BASES; k++) d->x[k] += sign * (float)power * x[k];
    return s;
}

cst_dimension cst_dimension_parse(const char *unit)
{
    const cst_dimension none = {.state = CST_DIMENSION_UNKNOWN};
    cst_dimension d = {.state = CST_DIMENSION_KNOWN};
    float sign = 1;
    for (const char *s = unit;;) {
        s = s ? factor(s, sign, &d) : NULL;
        if (!s || (*s && *s != '*' && *s != '/')) return none;
        if (!*s) return d;
        sign = *s++ == '/' ? -1 : 1;
    }
}

/* With kg or, if that is shorter, with a unit that has kg in it: N*s is kg*m/s. x: exponents of it,
 * of m, of s */
static const char *shortest(const cst_dimension *d, double x[CST_BASES])
{
    static const struct {
        const char *name;
        float x[CST_BASES];
    } unit[] = {{"kg", {1, 0, 0}}, {"N", {1, 1, -2}}, {"Pa", {1, -1, -2}}, {"W", {1, 2, -3}}};
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
        double sum = 0;
        for (int k = 0; k < CST_BASES; k++)
            sum += fabs((double)d->x[k] - (k ? (double)d->x[CST_MASS] * (double)unit[i].x[k] : 0));
        if (sum < least) least = sum, best = i;
    }
    for (int k = 0; k < CST_BASES; k++)
        x[k] = (double)d->x[k] - (k ? (double)d->x[CST_MASS] * (double)unit[best].x[k] : 0);
    return unit[best].name;
}

void cst_dimension_text(const cst_dimension *d, char *to, size_t n)
{
    const char *name[CST_BASES] = {"kg", "m", "s"};
    double power[CST_BASES];
    size_t used = 0;
    to[0] = 0;
    if (d->state != CST_DIMENSION_KNOWN) return;
    name[CST_MASS] = shortest(d, power);
    for (int below = 0; below < 2; below++)
        for (int k = 0; k < CST_BASES; k++) {
            double x = below ? -power[k] : power[k];
            if (!(x > 0)) continue;
            char part[48];
            const char *sign = below ? (used ? "/" : "1/") : used ? "*" : "";
            int len = x == 1 ? snprintf(part, sizeof part, "%s%s", sign, name[k])
                             : snprintf(part, sizeof part, "%s%s^%.4g", sign, name[k], x);
            if (used + (size_t)len >= n) return;
            memcpy(to + used, part, (size_t)len + 1);
            used += (size_t)len;
        }
}

int cst_dimension_differs(const char *unit, const char *other)
{
    const cst_dimension a = cst_dimension_parse(unit), b = cst_dimension_parse(other);
    int differs = 0;
    for (int k = 0; k < CST_BASES; k++) differs |= fabsf(a.x[k] - b.x[k]) > 1e-6f;
    return cst_dimension_known(&a) && cst_dimension_known(&b) && differs;
}
