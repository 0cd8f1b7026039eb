/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/crew.h"
#include "base/csv.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "expect.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- crew ---- */

static void count_job(void *ctx, int k) { ((int *)ctx)[k]++; } /* a place of its own for each job */

static void a_crew_does_each_job_once(void **state)
{
    (void)state;
    for (int jobs = 0; jobs < 200; jobs += 1 + jobs / 3)
        for (int threads = 0; threads < 100; threads += 1 + threads) {
            int done[200] = {0};
            cst_crew_run(jobs, threads, count_job, done);
            for (int k = 0; k < 200; k++) expect_int(done[k], k < jobs);
        }
}

/* ---- arena ---- */

static void items_are_zero_aligned_and_apart(void **state)
{
    (void)state;
    enum { N = 3000 };
    expect_random r = {1};
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    static unsigned char *item[N];
    static size_t size[N];
    size_t total = 0;
    for (int i = 0; i < N; i++) {
        size[i] = (size_t)expect_below(&r, i % 100 == 0 ? 100000 : 200);
        item[i] = cst_arena_alloc(&a, size[i], 1);
        total += size[i];
        expect_int((uintptr_t)item[i] % 16, 0);
        for (size_t k = 0; k < size[i]; k++) expect_int(item[i][k], 0);
        memset(item[i], i & 255, size[i]);
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < size[i]; k++) expect_int(item[i][k], i & 255);
    expect_int(a.bytes, total);
    cst_arena_free(&a);
    expect_null(a.head);
    expect_text(cst_arena_strdup(&a, "used again"), "used again");
    cst_arena_free(&a);
}

static int reaches_the_guard(int in_child, size_t count, size_t size)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return 1;
    }
    (void)cst_arena_alloc(in_child ? cst_arena_child(&a) : &a, count, size);
    cst_arena_free(&a);
    return 0;
}

static void absurd_sizes_reach_the_guard(void **state)
{
    (void)state;
    expect_int(reaches_the_guard(0, SIZE_MAX / 2, 4), 1); /* the product overflows */
    expect_int(reaches_the_guard(0, (size_t)-1, sizeof(double)), 1);
    expect_int(reaches_the_guard(0, SIZE_MAX / 8, 1), 1);
    expect_int(reaches_the_guard(1, SIZE_MAX / 8, 1), 1);
    expect_int(reaches_the_guard(1, 100, sizeof(double)), 0);
}

static char released[8];

static void release(void *name)
{
    size_t n = strlen(released);
    released[n] = *(char *)name;
}

static void defers_run_newest_first_and_once(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    memset(released, 0, sizeof released);
    cst_arena_defer(&a, release, "a");
    cst_arena *child = cst_arena_child(&a);
    cst_arena_defer(child, release, "b");
    cst_arena *early = cst_arena_child(&a);
    cst_arena_defer(early, release, "c");
    cst_arena_defer(&a, release, "d");
    cst_arena_free(early);
    expect_text(released, "c");
    cst_arena_free(&a);
    expect_text(released, "cdba");
    cst_arena_free(&a);
    expect_text(released, "cdba");
}

static void lists_and_texts_keep_their_content(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    CST_LIST(char *) list = {0};
    for (int i = 0; i < 5000; i++)
        *cst_push(&a, &list) = cst_arena_printf(&a, "%d/%0*d", i, i % 300, 7);
    expect_int(list.n, 5000);
    char expected[400];
    for (int i = 0; i < 5000; i++) {
        snprintf(expected, sizeof expected, "%d/%0*d", i, i % 300, 7);
        expect_text(list.at[i], expected);
    }
    expect_text(cst_arena_strndup(&a, "abcdef", 3), "abc");
    expect_text(cst_arena_strndup(&a, NULL, 0), "");
    cst_arena_free(&a);
}

/* ---- diag ---- */

static void messages_have_places(void **state)
{
    (void)state;
    static cst_diag d;
    d = (cst_diag){0};
    expect_int(cst_error(&d, CST_MODEL, (cst_where){"car.yaml", 4, 38}, "k = %d", -5), CST_MODEL);
    cst_warn(&d, (cst_where){.file = "car.yaml"}, "slow");
    expect_int(cst_error(&d, CST_IO, (cst_where){0}, "two\nlines\t\x1b[31m"), CST_IO);
    expect_text(d.text,
                "car.yaml:4:38: error: k = -5\ncar.yaml: warning: slow\nerror: two lines ?[31m\n");
    expect_int(d.errors, 2);
    expect_int(d.warnings, 1);
    expect_int(d.left_out, 0);
    expect_int(d.used, strlen(d.text));
    expect_int(cst_error(NULL, CST_USAGE, (cst_where){0}, "nobody listens"), CST_USAGE);
    cst_warn(NULL, (cst_where){0}, "nobody listens");
    cst_note(NULL, (cst_where){0}, "nobody listens");
    cst_diag_append(NULL, &d);
    cst_diag_append_errors(NULL, &d);
}

/* One message for the same words at the same place, whatever their values are. Names and places
 * are words. */
static void messages_are_said_once(void **state)
{
    (void)state;
    static cst_diag d, more;
    const cst_where w = {"car.yaml", 4, 38};
    d = more = (cst_diag){0};
    for (int i = 0; i < 10; i++) {
        cst_warn(&d, w, "t = %g s: [%.5g, %.5g] m is %d times too far", 0.1 * i, -1e-7 * i, 3.0, i);
        cst_warn(&d, w, "body 'b%d' is far", i % 2);
        cst_error(&d, CST_NUMERIC, w, "far");
    }
    cst_warn(&d, (cst_where){"car.yaml", 4, 39}, "far");
    cst_warn(&d, (cst_where){"car.yaml", 5, 38}, "far");
    cst_warn(&d, (cst_where){"car.yaml", 0, 0}, "far");
    cst_warn(&d, w, "far"); /* no error */
    expect_text(d.text, "car.yaml:4:38: warning: t = 0 s: [-0, 3] m is 0 times too far\n"
                        "car.yaml:4:38: warning: body 'b0' is far\n"
                        "car.yaml:4:38: error: far\n"
                        "car.yaml:4:38: warning: body 'b1' is far\n"
                        "car.yaml:4:39: warning: far\n"
                        "car.yaml:5:38: warning: far\n"
                        "car.yaml: warning: far\n"
                        "car.yaml:4:38: warning: far\n");
    expect_int(d.warnings, 7);
    expect_int(d.errors, 10);
    expect_int(d.repeated, 9 + 8 + 9);

    cst_warn(&more, w, "t = %g s: [%.5g, %.5g] m is %d times too far", 7.0, 7.0, 7.0, 7);
    cst_warn(&more, w, "news");
    size_t used = d.used;
    cst_diag_append(&d, &more);
    expect_text(d.text + used, "car.yaml:4:38: warning: news\n");
    cst_diag_append(&d, &more);
    expect_int(d.used, used + strlen("car.yaml:4:38: warning: news\n"));
}

static int lines_with(const char *text, const char *word)
{
    int n = 0;
    for (const char *s = text; (s = strstr(s, word)); s++) n++;
    return n;
}

/* Every message is shown or counted, warnings leave room for errors, and the text always ends
 * inside the buffer. */
static void messages_that_do_not_fit_are_counted(void **state)
{
    (void)state;
    expect_random r = {3};
    static cst_diag d;
    char word[3000];
    memset(word, 'x', sizeof word);
    for (int round = 0; round < 30; round++) {
        d = (cst_diag){0};
        for (int i = 0; i < 1000; i++)
            cst_warn(&d, (cst_where){"file", i, i}, "%.*s",
                     expect_below(&r, round % 2 ? 300 : 3000), word);
        expect_true(d.left_out > 0);
        cst_error(&d, CST_MODEL, (cst_where){"file", 1, 2}, "the cause");
        expect_contains(d.text, "file:1:2: error: the cause\n");
        expect_int(lines_with(d.text, "warning:") + d.left_out, 1000);
        for (int i = 0; i < 1000; i++)
            cst_error(&d, CST_MODEL, (cst_where){0}, "%.*s", expect_below(&r, 300), word);
        expect_true(strlen(d.text) < sizeof d.text);
        expect_int(lines_with(d.text, "error:") + lines_with(d.text, "warning:") + d.left_out,
                   d.errors + d.warnings);
        char tail[64];
        snprintf(tail, sizeof tail, "(%d more messages)\n", d.left_out);
        expect_text(d.text + d.used, tail);
    }
}

static void a_cut_message_stays_utf8(void **state)
{
    (void)state;
    static cst_diag d;
    char text[3001] = "";
    for (int shift = 0; shift < 4; shift++) {
        memset(text, 'x', sizeof text - 1);
        for (size_t i = (size_t)shift; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xF0\x9F\x98\x80", 4);
        d = (cst_diag){0};
        cst_error(&d, CST_MODEL, (cst_where){0}, "%s", text);
        cst_where w;
        expect_null(cst_text_check(d.text, d.used, &w));
        expect_text(d.text + d.used - 4, "...\n");
    }
}

static void every_status_has_words(void **state)
{
    (void)state;
#define X(name, words) expect_text(cst_status_text(name), words);
    CST_STATUS_LIST(X)
#undef X
    expect_text(cst_status_text((cst_status)99), "unknown status");
    int major, minor, patch;
    expect_int(sscanf(cst_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

/* ---- text ---- */

static void a_map_finds_what_was_put(void **state)
{
    (void)state;
    enum { N = 100000 };
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    cst_map m = {0};
    expect_int(cst_map_get(&m, "nothing"), -1);
    for (int i = 0; i < N; i++)
        expect_int(cst_map_put(&a, &m, cst_arena_printf(&a, "k%d", i), i), -1);
    for (int i = 0; i < N; i++) {
        char key[32];
        size_t n = (size_t)snprintf(key, sizeof key, "k%d.x", i) - 2;
        expect_int(cst_map_getn(&m, key, n), i);
        expect_int(cst_map_get(&m, key), -1);
    }
    expect_int(cst_map_put(&a, &m, "k17", 5), 17);
    expect_int(cst_map_get(&m, "k17"), 5);
    expect_int(cst_map_get(&m, ""), -1);
    expect_int(m.n, N);
    cst_arena_free(&a);
}

static const char *nearest(const char *word)
{
    static const char *const known[] = {"stiffness", "damping", "free_length", "mass", "revolute",
                                        "prismatic", "k"};
    cst_nearest n = cst_nearest_begin(word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) cst_nearest_try(&n, known[i]);
    const char *best = cst_nearest_best(&n);
    return best ? best : "none";
}

static void slips_find_their_word(void **state)
{
    (void)state;
    expect_text(nearest("stifness"), "stiffness");   /* one letter less */
    expect_text(nearest("stiffnesss"), "stiffness"); /* one more */
    expect_text(nearest("stiffmess"), "stiffness");  /* another one */
    expect_text(nearest("stifnfess"), "stiffness");  /* two exchanged */
    expect_text(nearest("Stiffness"), "stiffness");  /* another case */
    expect_text(nearest("mas"), "mass");
    expect_text(nearest("msas"), "mass"); /* an exchange is one slip, not two */
    expect_text(nearest("msaa"), "none");
    expect_text(nearest("revolut"), "revolute");
    expect_text(nearest("colour"), "none");
    expect_text(nearest(""), "none");
    expect_text(nearest("a_name_that_is_very_much_longer_than_any_name_that_is_known"), "none");
}

/* What printf writes is read back to the bit; everything else that strtod takes is refused. */
static void numbers_are_strict(void **state)
{
    (void)state;
    expect_random r = {5};
    for (int i = 0; i < 20000; i++) {
        union {
            uint64_t u;
            double x;
        } bits = {.u = expect_bits(&r)};
        char text[64];
        double y = 0;
        snprintf(text, sizeof text, "%.17g", bits.x);
        expect_int(cst_text_number(text, &y), isfinite(bits.x) != 0);
        if (isfinite(bits.x)) expect_true(y == bits.x);
    }
    static const char *const good[] = {"1",   "-1",   "+1",      "1.", ".5",
                                       "1e5", "1E-5", "1.5e+05", "0",  "1e-400"};
    static const char *const bad[] = {"",    " 1",  "1 ", "0x10",  "inf", "nan", "1e",
                                      "e5",  ".",   "-",  "1f",    "1_0", "1,5", "1e400",
                                      "--1", "1e+", "+.", "1.2.3", "1d5"};
    double y = 7;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect_int(cst_text_number(good[i], &y), 1);
    y = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_int(cst_text_number(bad[i], &y), 0);
    expect_near(y, 7, 0);
}

static void utf8_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        int line, col;
    } wrong[] = {{"a\nb\xFF", 4, 2, 2},
                 {"\xC0\x80", 2, 1, 1},
                 {"\xE0\x9F\x80", 3, 1, 1},
                 {"x\xED\xA0\x80", 4, 1, 2},
                 {"\xF4\x90\x80\x80", 4, 1, 1},
                 {"ok\n\n  \x01", 7, 3, 3},
                 {"\xC3\xA4\xC3\xA4\xC3", 5, 1, 3},
                 {"a\0b", 3, 1, 2},
                 {"\x7F", 1, 1, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cst_where w = {0};
        expect_not_null(cst_text_check(wrong[i].text, wrong[i].n, &w));
        expect_int(w.line, wrong[i].line);
        expect_int(w.col, wrong[i].col);
    }
    /* every code point but the surrogates */
    for (unsigned c = 0x80; c < 0x110000; c++) {
        char s[5] = {0};
        size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        unsigned left = c;
        for (size_t k = n - 1; k > 0; k--, left >>= 6) s[k] = (char)(0x80 | (left & 0x3F));
        s[0] = (char)((n == 2 ? 0xC0u : n == 3 ? 0xE0u : 0xF0u) | left);
        if (cst_text_utf8(s, 4) != (c >= 0xD800 && c < 0xE000 ? 0 : n))
            fail_msg("code point %x", c);
    }
}

/* ---- files ---- */

static void files_that_cannot_be_read_say_why(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    static cst_diag d;
    d = (cst_diag){0};
    size_t n;
    expect_null(cst_file_read(&a, "/nonexistent/file", NULL, 100, &n, &d));
    expect_contains(d.text, "/nonexistent/file: error: cannot read: No such file");
    expect_null(cst_file_read(&a, CST_SOURCE_DIR, NULL, 100, &n, &d));
    expect_contains(d.text, "it is a directory");
    expect_null(cst_file_read(&a, CST_SOURCE_DIR "/LICENSE", NULL, 100, &n, &d));
    expect_contains(d.text, "is larger than");
    expect_null(cst_file_read(&a, "/dev/zero", NULL, 100000, &n, &d));
    expect_int(d.errors, 4);
    char *text = cst_file_read(&a, CST_SOURCE_DIR "/LICENSE", NULL, 100000, &n, &d);
    expect_not_null(text);
    expect_int(strlen(text), n);
    expect_contains(text, "MIT License");
    cst_arena_free(&a);
}

/* ---- JSON ---- */

static char *json_text(int pretty, void (*write)(cst_json *))
{
    static char text[4096];
    FILE *f = tmpfile();
    expect_not_null(f);
    cst_json j = cst_json_begin(f, pretty);
    write(&j);
    expect_int(cst_json_end(&j), 0);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void write_all(cst_json *j)
{
    double x[] = {1, -0.5, INFINITY};
    cst_json_object(j, NULL);
    cst_json_number(j, "a", 0.1);
    cst_json_number(j, "b", NAN);
    cst_json_text(j, "c\"", "q\" b\\ n\n t\t c\x01 <\xC3\xA4> \xFF");
    cst_json_array(j, "d");
    cst_json_integer(j, NULL, -9007199254740993);
    cst_json_bool(j, NULL, 1);
    cst_json_null(j, NULL);
    cst_json_object(j, NULL);
    cst_json_close(j);
    cst_json_close(j);
    cst_json_numbers(j, "e", 3, x);
    cst_json_text(j, "f", NULL);
    cst_json_close(j);
}

static void json_is_escaped(void **state)
{
    (void)state;
    expect_text(json_text(0, write_all),
                "{\"a\": 0.10000000000000001, \"b\": null, \"c\\\"\": \"q\\\" b\\\\ n\\n t\\t "
                "c\\u0001 \\u003c\xC3\xA4> \\ufffd\", \"d\": [-9007199254740993, true, null, {}], "
                "\"e\": [1, -0.5, null], \"f\": null}\n");
}

/* Layout is only white space. */
static void pretty_json_is_the_same(void **state)
{
    (void)state;
    char flat[4096], *pretty;
    strcpy(flat, json_text(0, write_all));
    pretty = json_text(1, write_all);
    expect_true(lines_with(pretty, "\n") > 8);
    const char *s = flat, *t = pretty;
    for (; *s || *t; s++, t++) {
        while (*s == ' ' || *s == '\n') s++;
        while (*t == ' ' || *t == '\n') t++;
        expect_int(*s, *t);
        if (!*s) break;
    }
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE") &&
        !setlocale(LC_ALL, "fr_FR.UTF-8"))
        skip();
    double x = 0;
    expect_int(cst_text_number("1.5", &x), 1);
    expect_near(x, 1.5, 0);
    expect_contains(json_text(0, write_all), "0.10000000000000001");
    setlocale(LC_ALL, "C");
}

/* ---- CSV ---- */

static cst_csv *parse(cst_arena *a, const char *text, cst_diag *d)
{
    *d = (cst_diag){0};
    return cst_csv_parse(a, "t.csv", text, strlen(text), d);
}

static void tables_are_read_to_the_bit(void **state)
{
    (void)state;
    enum { ROWS = 1000, COLS = 7 };
    static double table[ROWS][COLS];
    static char text[ROWS * COLS * 32];
    static cst_diag d;
    expect_random r = {9};
    size_t n = (size_t)sprintf(text, "# made up\n\n t , x0,x1,\"x, 2\",x3,\"a \"\"b\"\"\",x5\r\n");
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < COLS; k++) {
            table[i][k] = expect_uniform(&r, -1, 1) * pow(10, expect_below(&r, 40) - 20);
            n += (size_t)sprintf(text + n, "%s%.17g%s", k ? "," : " ", table[i][k],
                                 k % 2 ? " " : "");
        }
        n += (size_t)sprintf(text + n, i % 10 ? "\n" : "\r\n  # comment, with, commas\n\n");
    }
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    cst_csv *c = parse(&a, text, &d);
    expect_not_null(c);
    expect_int(c->ncol, COLS);
    expect_int(c->nrow, ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLS; k++) expect_true(c->column[k][i] == table[i][k]);
    expect_true(cst_csv_column(c, "t") == c->column[0]);
    expect_true(cst_csv_column(c, "x, 2") == c->column[3]);
    expect_true(cst_csv_column(c, "a \"b\"") == c->column[5]);
    expect_null(cst_csv_column(c, "X0"));
    expect_int(c->line[0], 4);
    expect_int(c->line[1], 7);
    cst_arena_free(&a);
}

static void wrong_tables_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "t.csv: error: the file is empty"},
        {"# nothing\n\n", "error: the file is empty"},
        {"t,x\n", "no numbers below the names"},
        {"1,2\n3,4\n", "t.csv:1:1: error: the first line must name the columns"},
        {"t,x\n1\n", "t.csv:2:1: error: 1 number, but there are 2 columns"},
        {"t,x\n1,2,3\n",
         "t.csv:2:1: error: 3 numbers, but there are 2 columns; the first line must name them"},
        {"t,x\n0,1,2,5\n", "4 numbers, but there are 2 columns; with decimal commas, columns are "
                           "separated by ';' or tabs"},
        {"t,x,t\n1,2,3\n", "t.csv:1:5: error: columns 1 and 3 have the same name 't'"},
        {"t,,x\n1,2,3\n", "t.csv:1:3: error: column 2 has no name"},
        {"t,\"x\n1,2\n", "t.csv:1:3: error: wrong quotes"},
        {"t,x\"y\"\n1,2\n", "t.csv:1:3: error: wrong quotes"},
        {"t,x\n1,\xFF\n", "t.csv:2:3: error: not valid UTF-8; a table must be text in UTF-8"}};
    static cst_diag d;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_null(parse(&a, wrong[i].text, &d));
        expect_contains(d.text, wrong[i].message);
        expect_int(d.errors, 1);
    }
    static char many[100000] = "t,x\n";
    for (size_t n = 4; n < 90000; n += 2) memcpy(many + n, "1\n", 3);
    expect_null(parse(&a, many, &d));
    expect_true(d.errors > 1 && d.errors <= 20);
    d = (cst_diag){0};
    expect_null(cst_csv_read(&a, "/nonexistent.csv", NULL, &d));
    expect_int(d.errors, 1);
    cst_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crew_does_each_job_once),
        cmocka_unit_test(items_are_zero_aligned_and_apart),
        cmocka_unit_test(absurd_sizes_reach_the_guard),
        cmocka_unit_test(defers_run_newest_first_and_once),
        cmocka_unit_test(lists_and_texts_keep_their_content),
        cmocka_unit_test(messages_have_places),
        cmocka_unit_test(messages_are_said_once),
        cmocka_unit_test(messages_that_do_not_fit_are_counted),
        cmocka_unit_test(a_cut_message_stays_utf8),
        cmocka_unit_test(every_status_has_words),
        cmocka_unit_test(a_map_finds_what_was_put),
        cmocka_unit_test(slips_find_their_word),
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(utf8_is_checked),
        cmocka_unit_test(files_that_cannot_be_read_say_why),
        cmocka_unit_test(json_is_escaped),
        cmocka_unit_test(pretty_json_is_the_same),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(tables_are_read_to_the_bit),
        cmocka_unit_test(wrong_tables_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
