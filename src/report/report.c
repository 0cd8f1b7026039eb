/* SPDX-License-Identifier: MIT
 *
 * The page: viewer.css, the data as JSON, viewer.js.
 *
 *     {"costate": version, "directories": [{"directory": path,
 *         "runs": [{"label": "", "files": {NAME: contents}, "tables": {NAME: numbers}, "poses":
 * base64}]}]}
 *
 * The first run of a directory is the directory itself. An optimisation has more of them in it,
 * each with a label in front of its files: initial.csv, initial.scene.json, initial.poses.f32,
 * best.csv, .. JSON files go in as they are, texts as strings, histories as columns of 32-bit
 * floats. */
#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/writer.h"
#include "report/encode.h"

extern const char cst_viewer_js[], cst_viewer_css[]; /* viewer.S */
extern const unsigned long long cst_viewer_size[2];

enum {
    TABLE_FLOATS = 1500000, /* of one history: 8 MB in the page */
    TABLE_ROWS = 60000,
    FILE_LIMIT = 1 << 26
};

int cst_report_there(void) { return cst_viewer_size[0] > 0; }

typedef struct page {
    cst_arena *arena;
    cst_json j;
    cst_diag *d;
} page;

static char *read_if_there(page *p, const char *dir, const char *name, size_t *n)
{
    const char *path = cst_arena_printf(p->arena, "%s/%s", dir, name);
    if (access(path, F_OK) != 0) return NULL;
    return cst_file_read(p->arena, path, NULL, FILE_LIMIT, n, p->d);
}

/* ---- histories ---- */

static void write_columns(page *p, const cst_csv *c)
{
    size_t n = (size_t)c->nrow, most = TABLE_FLOATS / (size_t)c->ncol, rows = 0;
    if (most > TABLE_ROWS) most = TABLE_ROWS;
    most -= most % 2;
    if (most < 2) most = 2;
    double *x = cst_new(p->arena, double, n + 2);
    unsigned char *byte = cst_new(p->arena, unsigned char, 4 * (n + 2));
    cst_json_array(&p->j, "columns");
    for (int k = 0; k < c->ncol; k++) {
        int time = k == 0 && strcmp(c->name[0], "t") == 0;
        rows = time ? cst_thin_time(n, most, c->column[k], x) : cst_thin(n, most, c->column[k], x);
        for (size_t i = 0; i < rows; i++) cst_float_put(byte + 4 * i, (float)x[i]);
        fputs(k ? ",\n\"" : "\n\"", p->j.f);
        cst_base64_write(p->j.f, byte, 4 * rows);
        fputc('"', p->j.f);
    }
    cst_json_close(&p->j);
    cst_json_integer(&p->j, "rows", (long long)rows);
    cst_json_integer(&p->j, "of", c->nrow);
}

static void table(page *p, const char *dir, const char *file, const char *key)
{
    size_t n;
    cst_diag quiet = {0};
    char *text = read_if_there(p, dir, file, &n);
    cst_csv *c = text ? cst_csv_parse(p->arena, file, text, n, &quiet) : NULL;
    if (!text) return;
    for (int k = 0; c && k < c->ncol; k++)
        if (!cst_csv_check(c, k, 0, &quiet)) c = NULL;
    cst_json_object(&p->j, key);
    if (!c) cst_json_text(&p->j, "error", quiet.text);
    if (c) {
        cst_json_array(&p->j, "names");
        for (int k = 0; k < c->ncol; k++) cst_json_text(&p->j, NULL, c->name[k]);
        cst_json_close(&p->j);
        write_columns(p, c);
    }
    cst_json_close(&p->j);
}

/* ---- other files ---- */

/* JSON inside HTML: '<' occurs in strings only, and must not end the script */
static void raw_json(page *p, const char *name, const char *text, size_t n)
{
    cst_json_object(&p->j, name); /* opened here, and its contents without the braces of the file */
    const char *begin = memchr(text, '{', n), *end = text + n;
    while (end > text && end[-1] != '}') end--;
    for (const char *s = begin ? begin + 1 : end; s + 1 < end; s++) {
        if (*s == '<')
            fputs("\\u003c", p->j.f);
        else
            fputc(*s, p->j.f);
    }
    cst_json_close(&p->j);
}

static void files(page *p, const char *dir)
{
    static const char *const json[] = {"run.json",      "scene.json",
                                       "gradient.json", "result.json",
                                       "identify.json", "compare.json",
                                       "check.json",    NULL};
    static const char *const text[] = {"gradient.csv",  "check.csv", "history.csv",
                                       "estimates.csv", "fit.csv",   "correlation.csv",
                                       "compare.csv",   NULL};
    size_t n;
    cst_json_object(&p->j, "files");
    for (const char *const *name = json; *name; name++) {
        char *s = read_if_there(p, dir, *name, &n);
        if (s) raw_json(p, *name, s, n);
    }
    for (const char *const *name = text; *name; name++) {
        char *s = read_if_there(p, dir, *name, &n);
        if (s) cst_json_text(&p->j, *name, s);
    }
    cst_json_close(&p->j);
}

static void poses(page *p, const char *dir, const char *name)
{
    size_t n;
    char *byte = read_if_there(p, dir, name, &n);
    if (!byte) return;
    cst_json_text(&p->j, "encoding", "base64 float32");
    fputs(", \"poses\": \"", p->j.f);
    cst_base64_write(p->j.f, (const unsigned char *)byte, n);
    fputc('"', p->j.f);
}

static void main_run(page *p, const char *dir)
{
    cst_json_object(&p->j, NULL);
    cst_json_text(&p->j, "label", "");
    files(p, dir);
    cst_json_object(&p->j, "tables");
    table(p, dir, "measures.csv", "measures.csv");
    cst_json_close(&p->j);
    poses(p, dir, "poses.f32");
    cst_json_close(&p->j);
}

static void labelled_run(page *p, const char *dir, const char *label)
{
    size_t n;
    char *scene = read_if_there(p, dir, cst_arena_printf(p->arena, "%s.scene.json", label), &n);
    cst_json_object(&p->j, NULL);
    cst_json_text(&p->j, "label", label);
    cst_json_object(&p->j, "files");
    if (scene) raw_json(p, "scene.json", scene, n);
    cst_json_close(&p->j);
    cst_json_object(&p->j, "tables");
    table(p, dir, cst_arena_printf(p->arena, "%s.csv", label), "measures.csv");
    cst_json_close(&p->j);
    poses(p, dir, cst_arena_printf(p->arena, "%s.poses.f32", label));
    cst_json_close(&p->j);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What stands before .scene.json, in order */
static void labelled_runs(page *p, const char *dir)
{
    static const char end[] = ".scene.json";
    CST_LIST(const char *) label = {0};
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name), m = sizeof end - 1;
        if (n > m && strcmp(e->d_name + n - m, end) == 0)
            *cst_push(p->arena, &label) = cst_arena_strndup(p->arena, e->d_name, n - m);
    }
    closedir(d);
    if (label.n) qsort(label.at, (size_t)label.n, sizeof *label.at, by_name);
    for (int i = 0; i < label.n; i++) labelled_run(p, dir, label.at[i]);
}

static int is_run(page *p, const char *dir)
{
    static const char *const mark[] = {"run.json",      "scene.json",
                                       "gradient.json", "result.json",
                                       "identify.json", "compare.json",
                                       "check.json",    NULL};
    for (const char *const *name = mark; *name; name++)
        if (access(cst_arena_printf(p->arena, "%s/%s", dir, *name), F_OK) == 0) return 1;
    return 0;
}

static void data(page *p, int n, const char *const *dir)
{
    cst_json_object(&p->j, NULL);
    cst_json_text(&p->j, "costate", cst_version());
    cst_json_array(&p->j, "directories");
    for (int i = 0; i < n; i++) {
        cst_json_object(&p->j, NULL);
        cst_json_text(&p->j, "directory", dir[i]);
        cst_json_array(&p->j, "runs");
        main_run(p, dir[i]);
        labelled_runs(p, dir[i]);
        cst_json_close(&p->j);
        cst_json_close(&p->j);
    }
    cst_json_close(&p->j);
    cst_json_close(&p->j);
    cst_json_end(&p->j);
}

static void html(page *p, int n, const char *const *dir)
{
    FILE *f = p->j.f;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"costate\">\n<title>Costate</title>\n<style>\n",
          f);
    fwrite(cst_viewer_css, 1, (size_t)cst_viewer_size[1], f);
    fputs("</style>\n</head>\n<body>\n<noscript>This page needs JavaScript.</noscript>\n"
          "<script type=\"application/json\" id=\"costate-data\">\n",
          f);
    data(p, n, dir);
    fputs("</script>\n<script>\n", f);
    fwrite(cst_viewer_js, 1, (size_t)cst_viewer_size[0], f);
    fputs("</script>\n</body>\n</html>\n", f);
}

static cst_status write_page(cst_arena *a, int n, const char *const *dir, const char *path,
                             cst_diag *d)
{
    page p = {.arena = a, .d = d};
    cst_where w = {.file = path};
    if (!cst_report_there())
        return cst_error(
            d, CST_USAGE, w,
            "this program was built without the viewer: install nodejs and npm, then build again");
    for (int i = 0; i < n; i++)
        if (!is_run(&p, dir[i]))
            return cst_error(d, CST_IO, (cst_where){.file = dir[i]},
                             "there are no results of a run in this directory");
    cst_writer *o = cst_writer_open(a, path, d);
    if (!o) return CST_OUTPUT;
    int errors = d->errors;
    p.j = cst_json_begin(o->f, 0);
    html(&p, n, dir);
    if (d->errors == errors) return cst_writer_close(o, d) ? CST_OK : CST_OUTPUT;
    cst_writer_drop(o);
    return CST_IO;
}

cst_status cst_report_write(int n, const char *const *dir, const char *path, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = path}, "out of memory");
    }
    cst_status ok = write_page(&a, n, dir, path, d);
    cst_arena_free(&a);
    return ok;
}
