/* SPDX-License-Identifier: MIT
 *
 * Tables as spreadsheets and test benches write them: random numbers in every dialect are the same
 * numbers, in SI units. */
#include "expect.h"

#include <stdio.h>
#include <string.h>

#include "number/column.h"

enum { ROWS = 30, COLUMNS = 4 };

typedef struct dialect {
    char separator, mark;
    int quoted, units, ends, padded; /* units: 0 none, 1 [..] and 2 (..) behind names, 3 a line, 4 a
                                        line with brackets; ends: \r\n */
    const char *missing;             /* text of a missing cell */
    int trailing;                    /* separators at the end of each line */
} dialect;

static const char *const unit[COLUMNS] = {"ms", "mm", "deg", "kN"};
static const double factor[COLUMNS] = {1e-3, 1e-3, 3.14159265358979323846 / 180, 1e3};

static size_t cell(char *to, const dialect *d, const char *text)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *s = copy; *s; s++)
        if (*s == '.') *s = d->mark;
    int quotes = *copy && (d->quoted || strchr(copy, d->separator));
    return (size_t)sprintf(to, "%s%s%s%s", d->padded ? " " : "", quotes ? "\"" : "", copy,
                           quotes ? "\"" : "");
}

/* NAN: missing */
static size_t write_table(char *text, const dialect *d, double value[ROWS][COLUMNS])
{
    static const char *const name[COLUMNS] = {"Time", "pos", "angle", "F"};
    size_t n = (size_t)sprintf(text, "# recorder 7\n");
    const char *end = d->ends ? "\r\n" : "\n";
    for (int row = -2; row < ROWS; row++) {
        if (row == -1 && d->units < 3) continue;
        for (int k = 0; k < COLUMNS; k++) {
            char t[64];
            if (row == -2)
                snprintf(t, sizeof t,
                         d->units == 1   ? "%s [%s]"
                         : d->units == 2 ? "%s (%s)"
                                         : "%s",
                         name[k], unit[k]);
            else if (row == -1)
                snprintf(t, sizeof t, d->units == 4 ? "[%s]" : "%s", unit[k]);
            else
                snprintf(t, sizeof t, "%.17g", value[row][k]);
            if (k) text[n++] = d->separator;
            n += cell(text + n, d, row >= 0 && isnan(value[row][k]) ? d->missing : t);
        }
        if (d->trailing) text[n++] = d->separator;
        n += (size_t)sprintf(text + n, "%s", end);
    }
    return n;
}

static void every_dialect_has_the_same_numbers(void **state)
{
    (void)state;
    static const char separator[] = {',', ';', '\t'}, *const missing[] = {"", "nan", "NaN", "NA"};
    static char text[200000];
    expect_random r = {23};
    cst_arena a = {0};
    int tables = 0;
    if (CST_ARENA_GUARD(&a)) fail();
    for (int trial = 0; trial < 3 * 2 * 2 * 5 * 4; trial++) {
        dialect d = {separator[trial % 3],
                     trial / 3 % 2 ? ',' : '.',
                     trial / 6 % 2,
                     trial / 12 % 5,
                     trial % 2,
                     trial % 5 == 0,
                     missing[trial / 60],
                     trial % 7 == 0};
        if (d.separator == '\t' && d.padded) d.padded = 0;
        double value[ROWS][COLUMNS];
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < COLUMNS; k++) {
                int whole = expect_below(&r, 4) == 0; /* without a decimal mark */
                value[i][k] = whole ? expect_below(&r, 100) - 50
                                    : expect_uniform(&r, -1, 1) * pow(10, expect_below(&r, 12) - 6);
                if (k && expect_below(&r, 6) == 0) value[i][k] = NAN;
            }
        cst_diag diag = {0};
        size_t n = write_table(text, &d, value);
        const cst_csv *c = cst_csv_parse(&a, "t.csv", text, n, &diag);
        if (!c) fail_msg("%s\n%.300s", diag.text, text);
        expect_int(c->ncol, COLUMNS);
        expect_int(c->nrow, ROWS);
        for (int k = 0; k < COLUMNS; k++) {
            static const char *const name[COLUMNS] = {"Time", "pos", "angle", "F"};
            cst_column col;
            cst_column_wish wish = {.name = name[k], .as = unit[k], .by = "a test"};
            if (!cst_column_read(&a, c, &wish, &col, &diag))
                fail_msg("%s\n%.300s", diag.text, text);
            for (int i = 0; i < ROWS; i++) {
                double exact = value[i][k] * (d.units ? factor[k] : 1);
                if (isnan(exact)) expect_true(isnan(col.value[i]));
                if (!isnan(exact)) expect_near(col.value[i], exact, 1e-15 * fabs(exact));
                if (!isnan(exact)) expect_true(c->column[k][i] == value[i][k]);
            }
        }
        tables++;
    }
    print_message("%d tables\n", tables);
    cst_arena_free(&a);
}

static void columns_that_cannot_be_used_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *column, *unit, *as, *message;
        int whole;
    } wrong[] = {
        {"t,x\n1,2\n3, 4.5.6\n", "x", NULL, NULL,
         "t.csv:3:4: error: column 'x': '4.5.6' is not a number", 0},
        {"t,x\n1,inf\n", "x", NULL, NULL, "t.csv:2:3: error: column 'x': 'inf' is not a number", 0},
        {"t,x\n1,\n", "x", NULL, NULL, "t.csv:2:1: error: column 'x': the number is missing", 1},
        {"t;x\n0,5;1.5\n", "x", NULL, NULL,
         "t.csv:2:5: error: column 'x': '1.5' mixes decimal commas with decimal points", 0},
        {"t;x\n0;1.234,5\n", "x", NULL, NULL, "'1.234,5' is not a number", 0},
        {"t;x\n0;1\n", "y", NULL, NULL, "t.csv has no column 'y'; its columns are 't', 'x'", 0},
        {"t;x [kp]\n0;1\n", "x", NULL, NULL, "unknown unit 'kp' of column 'x [kp]'", 0},
        {"t;x [deg]\n0;1\n", "x", NULL, "m", "column 'x [deg]' is in deg, but 'z' is in m", 0},
        {"t;x [mm]\n0;1\n", "x", "kg", "m", "is in kg, but 'z' is in m", 0},
        {"t;x [mm];x [deg]\n0;1;2\n", "x", NULL, NULL, "has no column 'x'", 0},
    };
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cst_diag d = {0};
        cst_column col;
        const cst_csv *c = cst_csv_parse(&a, "t.csv", wrong[i].text, strlen(wrong[i].text), &d);
        if (!c) fail_msg("%s", d.text);
        cst_column_wish wish = {
            wrong[i].column, wrong[i].unit, wrong[i].as, wrong[i].as ? "'z'" : NULL,
            wrong[i].whole,  {0},
        };
        expect_int(cst_column_read(&a, c, &wish, &col, &d), 0);
        expect_contains(d.text, wrong[i].message);
        expect_int(d.errors, 1);
    }
    cst_arena_free(&a);
}

/* Columns that nobody uses may hold anything; units are written in many ways. */
static void units_as_files_write_them(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double factor;
    } is[] = {{"m/s²", 1},      {"mm/s2", 1e-3}, {"°", 3.14159265358979323846 / 180},
              {"µm", 1e-6},     {"-", 1},        {"N·m", 1},
              {"kN / mm", 1e6}, {"N*mm", 1e-3},  {"°/s", 3.14159265358979323846 / 180},
              {"1", 1},         {"", 1}};
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        char text[200];
        cst_diag d = {0};
        cst_column col;
        snprintf(text, sizeof text, "t,state,x [%s],y (left)\n1,ok,3,4\n2,late,5,6\n", is[i].unit);
        const cst_csv *c = cst_csv_parse(&a, "t.csv", text, strlen(text), &d);
        if (!c) fail_msg("%s", d.text);
        if (!cst_column_read(&a, c, &(cst_column_wish){.name = "x"}, &col, &d))
            fail_msg("%s", d.text);
        expect_near(col.value[1], 5 * is[i].factor, 1e-15 * 5 * is[i].factor);
        expect_int(cst_column_read(&a, c, &(cst_column_wish){.name = "y"}, &col, &d), 1);
        expect_near(col.value[0], 4, 0);
        expect_null(col.unit);
    }
    cst_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_has_the_same_numbers),
        cmocka_unit_test(columns_that_cannot_be_used_say_why),
        cmocka_unit_test(units_as_files_write_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
