/* SPDX-License-Identifier: MIT
 *
 * Units behind numbers. Compound units are words of this table, written without blanks; the longest
 * one that fits is taken, so `5 N/m` is a stiffness and `5 N/mass` is 5 N divided by the value
 * `mass`. Where a unit stands alone
 * (`unit: N*s^2/mm`) any product of them is read. */
#include "number/dimension.h"
#include "number/parse_private.h"

#include <math.h>
#include <string.h>

#define DEG (CST_PI / 180)

/* clang-format off */
static const struct unit { const char *name; double factor; } units[] = {
    {"m", 1}, {"mm", 1e-3}, {"cm", 1e-2}, {"km", 1e3}, {"um", 1e-6}, {"in", 0.0254}, {"ft", 0.3048},
    {"m^2", 1}, {"mm^2", 1e-6}, {"cm^2", 1e-4}, {"m^3", 1}, {"mm^3", 1e-9}, {"cm^3", 1e-6},
    {"m^4", 1}, {"mm^4", 1e-12}, {"cm^4", 1e-8},
    {"rad", 1}, {"mrad", 1e-3}, {"deg", DEG}, {"rev", 2 * CST_PI},
    {"kg", 1}, {"g", 1e-3}, {"t", 1e3}, {"lb", 0.45359237},
    {"kg*m^2", 1}, {"kg*mm^2", 1e-6}, {"kg*cm^2", 1e-4}, {"kg/m", 1},
    {"kg/m^3", 1}, {"g/cm^3", 1e3},
    {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"Hz", 1}, {"kHz", 1e3},
    {"m/s", 1}, {"mm/s", 1e-3}, {"cm/s", 1e-2}, {"km/h", 1 / 3.6}, {"m/s^2", 1}, {"mm/s^2", 1e-3},
    {"rad/s", 1}, {"deg/s", DEG}, {"rpm", CST_PI / 30}, {"rev/s", 2 * CST_PI},
    {"rad/s^2", 1}, {"deg/s^2", DEG},
    {"N", 1}, {"mN", 1e-3}, {"kN", 1e3}, {"MN", 1e6}, {"lbf", 4.4482216152605},
    {"N*m", 1}, {"Nm", 1}, {"N*mm", 1e-3}, {"Nmm", 1e-3}, {"kN*m", 1e3}, {"kNm", 1e3},
    {"N/m", 1}, {"N/mm", 1e3}, {"kN/m", 1e3}, {"kN/mm", 1e6},
    {"N*s/m", 1}, {"Ns/m", 1}, {"N*s/mm", 1e3}, {"Ns/mm", 1e3}, {"kN*s/m", 1e3}, {"kNs/m", 1e3},
    {"N*m/rad", 1}, {"Nm/rad", 1}, {"N*m/deg", 1 / DEG}, {"Nm/deg", 1 / DEG},
    {"kN*m/rad", 1e3}, {"kNm/rad", 1e3},
    {"N*m*s/rad", 1}, {"Nms/rad", 1}, {"N*m*s/deg", 1 / DEG}, {"Nms/deg", 1 / DEG},
    {"Pa", 1}, {"kPa", 1e3}, {"MPa", 1e6}, {"GPa", 1e9}, {"bar", 1e5}, {"N/mm^2", 1e6},
    {"N/m^2", 1},
    {"J", 1}, {"kJ", 1e3}, {"W", 1}, {"kW", 1e3},
};
/* clang-format on */
enum { NUNIT = sizeof units / sizeof *units };

static int word(const char *s, size_t n, double *factor)
{
    for (int i = 0; i < NUNIT; i++)
        if (strlen(units[i].name) == n && memcmp(units[i].name, s, n) == 0) {
            *factor = units[i].factor;
            return 1;
        }
    return 0;
}

/* Words of the table and 1, with whole powers, between * and /: N*s^2/mm, 1/min */
static int compound(const char *s, double *factor)
{
    *factor = 1;
    for (int power = 1;; s++) {
        size_t n = strcspn(s, "*/^");
        double x = 1, p = 1;
        if (!(n == 1 && *s == '1') && !word(s, n, &x)) return 0;
        s += n;
        if (*s == '^') {
            const char *digits = s + 1 + (s[1] == '-');
            s = cst_lex_number(digits, &p);
            if (!s || p != floor(p) || p > 9) return 0;
            if (digits[-1] == '-') p = -p;
        }
        *factor *= pow(x, power * p);
        if (*s && *s != '*' && *s != '/') return 0;
        if (!*s) return 1;
        power = *s == '*' ? 1 : -1;
    }
}

int cst_unit_factor(const char *unit, double *factor)
{
    return word(unit, strlen(unit), factor) || compound(unit, factor);
}

void cst_unit_offer(cst_nearest *n)
{
    for (int i = 0; i < NUNIT; i++) cst_nearest_try(n, units[i].name);
}

/* A unit ends where a word ends: `5 mass` does not begin with 5 m, and `5 m^20` not with 5 m^2. */
const char *cst_unit_match(const char *s, double *factor)
{
    size_t best = 0;
    for (int i = 0; i < NUNIT; i++) {
        size_t len = strlen(units[i].name);
        if (len <= best || strncmp(s, units[i].name, len) != 0) continue;
        char c = s[len];
        if (cst_lex_name(s + len) != s + len || (c >= '0' && c <= '9')) continue;
        best = len;
        *factor = units[i].factor;
    }
    return best ? s + best : NULL;
}

const char *cst_parse_plain_unit(const char *text, int *n)
{
    double value, factor;
    const char *s = cst_lex_blanks(text);
    if (*s == '-' || *s == '+') s++;
    s = cst_lex_blanks(cst_lex_number(s, &value));
    const char *end = *s ? cst_unit_match(s, &factor) : s;
    *n = (int)(end - s);
    return s;
}

int cst_parse_plain(const char *text, double *value)
{
    const char *s = cst_lex_blanks(text);
    double sign = *s == '-' ? -1 : 1, factor = 1;
    if (*s == '-' || *s == '+') s++;
    s = cst_lex_number(s, value);
    if (!s || !isfinite(*value)) return 0;
    s = cst_lex_blanks(s);
    if (*s) s = cst_unit_match(s, &factor);
    if (!s || *cst_lex_blanks(s)) return 0;
    *value *= sign * factor;
    return isfinite(*value);
}

const char *cst_unit_misfit(const char *text, const char *unit, int *n)
{
    double value;
    char beside[64];
    const char *at = cst_parse_plain(text, &value) ? cst_parse_plain_unit(text, n) : NULL;
    if (!at || *n == 0 || *n >= (int)sizeof beside) return NULL;
    memcpy(beside, at, (size_t)*n), beside[*n] = 0;
    return cst_dimension_differs(unit, beside) ? at : NULL;
}
