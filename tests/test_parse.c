/* SPDX-License-Identifier: MIT
 *
 * Expressions as text: values against the same written in C, messages and their places. */
#include "expect.h"
#include "number/op.h"
#include "number/parse.h"
#include "number/tape.h"

#include <stdio.h>

/* A scope with numbers k_f = 3, x = 0.7, t = 2, vectors P = (1, 2, 3) and bar.force = (4, 5, 6),
 * the function twice(a), and literals as leaves. */
typedef struct scene {
    cst_arena arena;
    cst_graph *g;
    cst_diag diag;
    cst_scope scope;
    cst_id k_f, x, t, P, force;
    int literals, literal_col[16], leaves_wanted;
    double literal[16];
} scene;

static int scene_lookup(void *ctx, const char *name, cst_where where, cst_value *v)
{
    scene *s = ctx;
    (void)where;
    const struct {
        const char *name;
        cst_value v;
    } known[] = {
        {"k_f", {1, {s->k_f, -1, -1}}},
        {"x", {1, {s->x, -1, -1}}},
        {"t", {1, {s->t, -1, -1}}},
        {"P", {3, {s->P, s->P + 1, s->P + 2}}},
        {"bar.force", {3, {s->force, s->force + 1, s->force + 2}}},
        {"P.x", {1, {s->P, -1, -1}}}, /* a scope may know components itself */
        {"broken", {0, {-1, -1, -1}}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *v = known[i].v;
            if (v->n == 0) cst_error(&s->diag, CST_MODEL, where, "broken is broken");
            return 1;
        }
    return 0;
}

static int scene_call(void *ctx, const char *name, int narg, const cst_value *arg, cst_where where,
                      cst_value *v)
{
    scene *s = ctx;
    (void)where;
    if (strcmp(name, "bar.twice") != 0 || narg != 1) return 0;
    *v = arg[0];
    for (int i = 0; i < v->n; i++) v->at[i] = cst_num_add(s->g, v->at[i], v->at[i]);
    return 1;
}

static void scene_names(void *ctx, void (*offer)(void *to, const char *name), void *to)
{
    (void)ctx;
    char name[16]; /* gone when the search ends */
    snprintf(name, sizeof name, "%s%s", "k_", "f");
    offer(to, name);
    snprintf(name, sizeof name, "%s", "bar.force");
    offer(to, name);
    offer(to, "x");
}

static cst_id scene_literal(void *ctx, double value, int k, cst_where where)
{
    scene *s = ctx;
    s->literals++;
    expect_int(k, s->literals);
    if (k <= 16) s->literal[k - 1] = value, s->literal_col[k - 1] = where.col;
    return s->leaves_wanted ? cst_num_leaf(s->g, value) : CST_NONE;
}

static void scene_make(scene *s)
{
    memset(s, 0, sizeof *s);
    s->g = cst_graph_new(&s->arena);
    s->k_f = cst_num_leaf(s->g, 3);
    s->x = cst_num_leaf(s->g, 0.7);
    s->t = cst_num_leaf(s->g, 2);
    s->P = cst_num_leaves(s->g, 3, (double[]){1, 2, 3});
    s->force = cst_num_leaves(s->g, 3, (double[]){4, 5, 6});
    s->scope = (cst_scope){scene_lookup, scene_call, scene_names, scene_literal, NULL, s};
    s->leaves_wanted = 1;
}

static const cst_where place = {"m.yaml", 7, 21};

static void values(scene *s, cst_value v, double *out)
{
    static double leaf[1024], val[8192];
    int n = cst_graph_leaves(s->g);
    expect_true(n <= 1024 && cst_graph_values(s->g) <= 8192);
    for (int i = 0; i < n; i++) leaf[i] = cst_leaf_nominal(s->g, i);
    cst_graph_eval(s->g, leaf, val);
    for (int i = 0; i < v.n; i++) out[i] = val[v.at[i]];
}

static double value(scene *s, const char *text)
{
    cst_value v = cst_parse(s->g, text, place, 1, &s->scope, &s->diag);
    if (v.n != 1) print_error("%s\n%s", text, s->diag.text);
    expect_int(v.n, 1);
    expect_int(s->diag.errors, 0);
    double y;
    values(s, v, &y);
    s->literals = 0;
    return y;
}

static void precedence(void **state)
{
    (void)state;
    scene s;
    double k_f = 3, x = 0.7;
    const struct {
        const char *text;
        double value;
    } law[] = {
        {"1 + 2*3", 7},
        {"(1 + 2)*3", 9},
        {"2 - 3 - 4", -5},
        {"24/4/3", 2},
        {"24/4*3", 18},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"2^3^2", 512},
        {"2^-1", 0.5},
        {"-2^-2", -0.25},
        {"2*-3", -6},
        {"2 - -3", 5},
        {"+ 3", 3},
        {"--3", 3},
        {"2^0.5", sqrt(2)},
        {"4^(1/2)", 2},
        {"k_f*x^3", k_f * pow(x, 3)},
        {"-x^2*k_f", -x * x * k_f},
        {"1 < 2", 1},
        {"2 <= 1", 0},
        {"1 + 1 == 2", 1},
        {"1 != 1", 0},
        {"3 > 2 and 2 >= 3", 0},
        {"1 or 0 and 0", 1},
        {"(1 or 0) and 0", 0},
        {"not 1 == 2", 1},
        {"not 0 and 0", 0},
        {"not not 5", 1},
        {"if(x < 0, k_f*x, 1/2)", 0.5},
        {"if(x >= 0 and not x > 1, k_f*x, 1/2)", k_f * x},
        {"sqrt(2^2 + 1^2)", sqrt(5)},
        {"min(3, 1, 2) + max(4, 9)", 10},
        {"atan2(1, -1)", 3 * CST_PI / 4},
        {"mod(-1, 3)", 2},
        {"clamp(5, 0, 1)", 1},
        {"smoothstep(0.5, 0, 2)", 3 * 0.0625 - 2 * 0.015625},
        {"step5(1, 0, 2)", 0.5},
        {"unwrap(0.5, 20)", 0.5 + 6 * CST_PI},
        {"2*pi", 2 * CST_PI},
        {"sin(pi/6)", 0.5},
        {".5e1 + 5.", 10},
        {"1e3", 1000},
        {"2E-3", 0.002},
        {"log10(1000) + cbrt(-8)", 1},
        {"P.y*bar.force.z", 12},
        {"P.x", 1},
        {"dot(P, bar.force)", 32},
        {"cross(P, bar.force).x", -3},
        {"norm([2, 3, 6])", 7},
        {"(2*P - bar.force/2).z", 3},
        {"bar.twice(x)", 1.4},
        {"bar.twice(P).z", 6},
        {"[1, 2, 3].y", 2},
        {"-(-P).x", 1},
        {"  \t 1 \n + 1 ", 2},
    };
    scene_make(&s);
    for (size_t i = 0; i < sizeof law / sizeof *law; i++) {
        double y = value(&s, law[i].text);
        if (fabs(y - law[i].value) > 1e-14 * (1 + fabs(y))) print_error("%s\n", law[i].text);
        expect_near(y, law[i].value, 1e-14);
    }
    cst_arena_free(&s.arena);
}

static void units(void **state)
{
    (void)state;
    scene s;
    scene_make(&s);
    expect_near(value(&s, "20 deg"), CST_PI / 9, 1e-15);
    expect_near(value(&s, "5mm + 2cm"), 0.025, 1e-15);
    expect_near(value(&s, "3 N/mm"), 3000, 1e-15);
    expect_near(value(&s, "3 N/k_f"), 1, 1e-15);
    expect_near(value(&s, "36 km/h * 2 s"), 20, 1e-15);
    expect_near(value(&s, "2 N*m/deg"), 360 / CST_PI, 1e-15);
    expect_near(value(&s, "2 kg*m^2"), 2, 0);
    expect_near(value(&s, "30 rpm"), CST_PI, 1e-15);
    expect_near(value(&s, "(5 cm)^2"), 0.0025, 1e-15);
    expect_near(value(&s, "5 cm^2"), 5e-4, 1e-15);
    expect_near(value(&s, "1 min + 1 s"), 61, 0);
    expect_near(value(&s, "7.8 g/cm^3"), 7800, 1e-15);
    expect_near(value(&s, "if(1 and 1, 2 m, 3)"), 2, 0);
    expect_int(s.diag.warnings, 0);
    expect_near(value(&s, "2 t"), 2000, 0); /* a unit, although there is a name t */
    expect_int(s.diag.warnings, 1);
    expect_contains(s.diag.text,
                    "m.yaml:7:23: warning: 't' is read as the unit; write 2*t for the product");

    double v;
    expect_true(cst_parse_plain("-3e2", &v) && v == -300);
    expect_true(cst_parse_plain(" .5 ", &v) && v == 0.5);
    expect_true(cst_parse_plain("+5 mm", &v) && fabs(v - 0.005) < 1e-18);
    expect_true(cst_parse_plain("20deg", &v) && fabs(v - CST_PI / 9) < 1e-15);
    const char *not_plain[] = {"",     "-",     "x",     "1+1", "5 mmm", "inf", "nan",
                               "0x10", "1e999", "2 m 3", "--1", "1e",    "1,5"};
    for (size_t i = 0; i < sizeof not_plain / sizeof *not_plain; i++)
        expect_false(cst_parse_plain(not_plain[i], &v));
    expect_true(cst_unit_factor("N/mm", &v) && v == 1000);
    expect_true(cst_unit_factor("N*s^2/mm", &v) && v == 1000);
    expect_true(cst_unit_factor("1/min", &v) && fabs(60 * v - 1) < 1e-15);
    expect_true(cst_unit_factor("mm^-2", &v) && fabs(v - 1e6) < 1e-9);
    const char *no_unit[] = {"furlong", "N/mmm", "",    "m*",  "/s",    "m^",  "m^x",
                             "m^0.5",   "m^99",  "2*m", "m s", "m^2^2", "mass"};
    for (size_t i = 0; i < sizeof no_unit / sizeof *no_unit; i++)
        expect_false(cst_unit_factor(no_unit[i], &v));
    cst_arena_free(&s.arena);
}

/* Every literal is offered with its value in SI and its place; integer exponents and pi are
 * structure. */
static void literals(void **state)
{
    (void)state;
    scene s;
    scene_make(&s);
    cst_value v =
        cst_parse(s.g, "2*x^2 + 5 mm - x^-3*x^2.5 + pi + 2^3^2", place, 1, &s.scope, &s.diag);
    expect_int(v.n, 1);
    double expected[] = {2, 0.005, 2.5, 2, 3};
    int col[] = {0, 8, 22, 33, 35};
    expect_int(s.literals, 5);
    for (int i = 0; i < 5; i++) {
        expect_near(s.literal[i], expected[i], 1e-15);
        expect_int(s.literal_col[i], place.col + col[i]);
    }
    /* as leaves they have a gradient: d/d(literal) of literal * 3 */
    int before = cst_graph_leaves(s.g);
    s.literals = 0;
    cst_id y = cst_parse(s.g, "1.5*k_f", place, 1, &s.scope, &s.diag).at[0];
    expect_int(cst_graph_leaves(s.g), before + 1);
    double leaf[64], val[512], bar[512] = {0};
    for (int i = 0; i <= before; i++) leaf[i] = cst_leaf_nominal(s.g, i);
    cst_graph_eval(s.g, leaf, val);
    bar[y] = 1;
    cst_graph_reverse(s.g, val, bar);
    expect_near(bar[cst_leaf_id(s.g, before)], 3, 0);
    /* without leaves all is folded */
    s.leaves_wanted = s.literals = 0;
    double c;
    expect_true(
        cst_num_is_const(s.g, cst_parse(s.g, "2*3 + 1", place, 1, &s.scope, &s.diag).at[0], &c) &&
        c == 7);
    expect_int(cst_parse(s.g, "2*3", place, 1, NULL, &s.diag).n, 1);
    cst_arena_free(&s.arena);
}

/* One message, at the column of the token that is wrong (text starts in column 21). */
static void messages(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int want, col;
        const char *message;
    } law[] = {
        {"", 1, 0, "empty expression"},
        {"   ", 1, 3, "empty expression"},
        {"1 +", 1, 3, "a value is missing at the end"},
        {"1 + * 2", 1, 4, "a value is missing before '*'"},
        {"k_ff + 1", 1, 0, "unknown name 'k_ff'; did you mean 'k_f'?"},
        {"1 + zzzzzz", 1, 4, "unknown name 'zzzzzz'"},
        {"bar.farce.x", 1, 0, "unknown name 'bar.farce.x'; did you mean 'bar.force'?"},
        {"1 + P.w", 1, 6, "'.w': a vector has the components .x, .y and .z"},
        {"x.y", 1, 2, "'.y': a number has no components"},
        {"(P + P).force", 1, 8, "'.force': a vector has the components .x, .y and .z"},
        {"2*sqr(4)", 1, 2, "unknown function 'sqr'; did you mean 'sqrt'?"},
        {"1 + sin", 1, 4, "'sin' is a function: write sin(...)"},
        {"x(3)", 1, 0, "'x' is not a function: write * for a product"},
        {"clamp(1, 2)", 1, 0, "clamp takes 3 arguments, not 2: clamp(x, lo, hi)"},
        {"1 + sin(1, 2)", 1, 4, "sin takes 1 argument, not 2"},
        {"min(1)", 1, 0, "min takes 2 arguments, not 1"},
        {"sin()", 1, 0, "sin takes 1 argument, not 0"},
        {"sin(1", 1, 3,
         "')' is missing; an expression with commas inside { } or [ ] must be quoted"},
        {"sin(1,)", 1, 6, "an argument is missing behind ','"},
        {"2*(1 + 2", 1, 2, "')' is missing"},
        {"1 + 2)", 1, 5, "')' has no '('"},
        {"(1 2)", 1, 3, "')' or an operator expected"},
        {"k_f x", 1, 4, "an operator is missing before 'x'"},
        {"2 x", 1, 2, "an operator is missing: write 2*x for the product"},
        {"3 (4)", 1, 2, "an operator is missing before '('"},
        {"1 < 2 < 3", 1, 6, "comparisons cannot be chained"},
        {"20 dge", 1, 3, "unknown unit 'dge'; did you mean 'deg'?"},
        {"20 qqqqqq", 1, 3, "unknown unit 'qqqqqq'"},
        {"5 cm^x", 1, 4, "a power of a number with a unit: write (5 cm)^..."},
        {"2 ** 3", 1, 2, "write ^ for a power"},
        {"1 && 2", 1, 2, "write 'and'"},
        {"1 || 2", 1, 2, "write 'or'"},
        {"!x", 1, 0, "write 'not'"},
        {"x = 1", 1, 2, "write == to compare"},
        {"5 % 2", 1, 2, "write mod(a, b)"},
        {"1 + #", 1, 4, "'#' cannot stand in an expression"},
        {"1 + \xC3\xA4 + 2", 1, 4, "'\xC3\xA4' cannot stand"},
        {"1e999", 1, 0, "the number is too large"},
        {"P", 1, 0, "a vector where a number is expected: pick .x, .y or .z"},
        {"2*x", 3, 0, "a number where a vector is expected: write [x, y, z]"},
        {"sin(P)", 1, 4, "a vector where a number is expected"},
        {"norm(x)", 1, 5, "a number where norm expects a vector"},
        {"P*P", 1, 1, "a product of two vectors: write dot(a, b) or cross(a, b)"},
        {"x + P", 1, 2, "a vector and a number cannot be added"},
        {"x/P", 1, 1, "a division by a vector"},
        {"P^2", 1, 0, "a power of a vector: use dot(v, v) or norm(v)"},
        {"x^P", 1, 2, "a vector where a number is expected"},
        {"P < 1", 1, 2, "a vector where a number is expected"},
        {"not P", 1, 4, "a vector where a number is expected"},
        {"[1, 2]", 3, 5, "a vector is written [x, y, z]"},
        {"[1, P, 2]", 3, 4, "a component of a vector must be a number"},
        {"[1, 2, 3, 4]", 3, 8, "a vector is written [x, y, z]"},
        {"x and", 1, 5, "a value is missing at the end"},
        {"and x", 1, 0, "a value is missing before 'and'"},
        {"2 + not x", 1, 4, "'not' binds weaker"},
        {"(x).", 1, 4, "a component (.x, .y, .z) is expected"},
        {"1 + broken", 1, 4, "broken is broken"},
    };
    for (size_t i = 0; i < sizeof law / sizeof *law; i++) {
        scene s;
        scene_make(&s);
        cst_value v = cst_parse(s.g, law[i].text, place, law[i].want, &s.scope, &s.diag);
        if (v.n != 0 || s.diag.errors != 1) print_error("in: %s\n%s", law[i].text, s.diag.text);
        expect_int(v.n, 0);
        expect_int(s.diag.errors, 1);
        char start[64];
        snprintf(start, sizeof start, "m.yaml:7:%d: error: ", place.col + law[i].col);
        expect_contains(s.diag.text, start);
        expect_contains(s.diag.text, law[i].message);
        cst_arena_free(&s.arena);
    }
}

/* columns count characters, not bytes; a folded text goes on in the next line */
static void places(void **state)
{
    (void)state;
    scene s;
    scene_make(&s);
    cst_parse(s.g, "1 +\n  zzzzz", place, 1, &s.scope, &s.diag);
    expect_contains(s.diag.text, "m.yaml:8:3: error: unknown name 'zzzzz'");
    cst_arena_free(&s.arena);
}

/* 200 levels are read, more are an error, however many there are. */
static void depth(void **state)
{
    (void)state;
    static char text[400004];
    const char *open[] = {"(", "-", "sin(", "2^", "[", "not ", "x*("};
    for (size_t k = 0; k < sizeof open / sizeof *open; k++) {
        scene s;
        scene_make(&s);
        size_t n = 0;
        while (n + 8 < sizeof text) {
            memcpy(text + n, open[k], strlen(open[k]));
            n += strlen(open[k]);
        }
        text[n] = '1', text[n + 1] = 0;
        expect_int(cst_parse(s.g, text, place, 1, &s.scope, &s.diag).n, 0);
        expect_int(s.diag.errors, 1);
        expect_contains(s.diag.text, "the expression is nested deeper than 200 levels");
        cst_arena_free(&s.arena);
    }
    scene s;
    scene_make(&s);
    size_t n = 0;
    for (int i = 0; i < 190; i++) text[n++] = '(';
    text[n++] = '4';
    for (int i = 0; i < 190; i++) text[n++] = ')';
    text[n] = 0;
    expect_near(value(&s, text), 4, 0);
    for (n = 0; n < 900; n += 2) memcpy(text + n, "x+", 2); /* long, not deep */
    strcpy(text + n, "x");
    expect_near(value(&s, text), 451 * 0.7, 1e-13);
    cst_arena_free(&s.arena);
}

/* Random bytes from the grammar's alphabet: a value or exactly one error, never both, never a
 * crash. */
static void random_text(void **state)
{
    (void)state;
    static const char *const piece[] = {"x",    "P",   ".",    "y",     "1",     "2.5", "e",
                                        "mm",   "(",   ")",    "[",     "]",     ",",   "+",
                                        "-",    "*",   "/",    "^",     "<",     "==",  " ",
                                        "and",  "not", "sin(", "max(",  "norm(", "k_f", "bar.force",
                                        "\xC3", "=",   "if(",  "5 N/m", "pi",    "!",   "\n"};
    expect_random r = {21};
    int good = 0;
    for (int k = 0; k < 20000; k++) {
        scene s;
        scene_make(&s);
        char text[256] = "";
        for (int i = expect_below(&r, 12); i >= 0; i--)
            strcat(text, piece[expect_below(&r, (int)(sizeof piece / sizeof *piece))]);
        cst_value v = cst_parse(s.g, text, place, expect_below(&r, 2), &s.scope, &s.diag);
        if ((v.n == 0) != (s.diag.errors == 1)) print_error("%s\n", text);
        expect_true((v.n == 0) == (s.diag.errors == 1) && s.diag.errors <= 1);
        good += v.n > 0;
        cst_arena_free(&s.arena);
    }
    expect_true(good > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),  cmocka_unit_test(units),  cmocka_unit_test(literals),
        cmocka_unit_test(messages),    cmocka_unit_test(places), cmocka_unit_test(depth),
        cmocka_unit_test(random_text),
    };
    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
