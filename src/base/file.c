/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void close_file(void *f)
{
    FILE **file = f;
    if (*file) fclose(*file);
    *file = NULL;
}

/* The size is not known in advance (pipes, files that grow): read until the end, doubling. */
static char *read_all(cst_arena *a, FILE *f, size_t expected, size_t limit, size_t *n)
{
    size_t cap = expected < 4096 ? 4096 : expected + 1; /* + 1: see the end without another round */
    char *text = cst_new(a, char, cap + 1);
    for (*n = 0; *n <= limit;) {
        size_t got = fread(text + *n, 1, cap - *n, f);
        *n += got;
        if (*n < cap) break;
        char *bigger = cst_new(a, char, 2 * cap + 1);
        memcpy(bigger, text, *n);
        text = bigger;
        cap *= 2;
    }
    return text;
}

char *cst_file_read(cst_arena *a, const char *path, size_t limit, size_t *n, cst_diag *d)
{
    cst_where w = {.file = path};
    FILE **f = cst_new(a, FILE *, 1);
    cst_arena_defer(a, close_file, f); /* closed below, or when memory runs out while reading */
    *n = 0;
    *f = fopen(path, "rb");
    if (!*f) {
        cst_error(d, CST_IO, w, "cannot read: %s", strerror(errno));
        return NULL;
    }
    struct stat s = {0};
    if (fstat(fileno(*f), &s) == 0 && S_ISDIR(s.st_mode)) {
        close_file(f);
        cst_error(d, CST_IO, w, "is a directory, not a file");
        return NULL;
    }
    size_t expected = S_ISREG(s.st_mode) && s.st_size > 0 ? (size_t)s.st_size : 0;
    char *text = expected > limit ? NULL : read_all(a, *f, expected, limit, n);
    int failed = ferror(*f), code = errno;
    close_file(f);
    if (!text || *n > limit) {
        cst_error(d, CST_IO, w, "is larger than %zu MiB", limit >> 20);
        return NULL;
    }
    if (failed) {
        cst_error(d, CST_IO, w, "cannot read: %s", strerror(code));
        return NULL;
    }
    text[*n] = 0;
    if (*n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        *n -= 3;
    }
    return text;
}

const char *cst_text_check(const char *text, size_t n, cst_where *w)
{
    int line = 1, col = 1;
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0, length; i < n; i += length, col++) {
        const char *wrong = NULL;
        length = s[i] < 0x80 ? 1 : cst_text_utf8(text + i, n - i);
        if (s[i] == '\n')
            line++, col = 0;
        else if (s[i] == 0)
            wrong = "NUL byte: this is not a text file";
        else if (!length)
            wrong = "not valid UTF-8";
        else if ((s[i] < ' ' && s[i] != '\t' && s[i] != '\r') || s[i] == 0x7F)
            wrong = "control character";
        if (wrong) {
            w->line = line;
            w->col = col;
            return wrong;
        }
    }
    return NULL;
}
