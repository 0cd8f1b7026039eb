/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char outside[] =
    "it is not there, or lies outside of the directory that reading is limited to";

static void close_file(void *f)
{
    FILE **file = f;
    if (*file) fclose(*file);
    *file = NULL;
}

/* The size may change while the file is read: read until the end, doubling. */
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

int cst_file_real(const char *path, char whole[CST_PATH_SIZE])
{
    return realpath(path, whole) != NULL;
}

/* Is the open file the one that its real path names, and is this below root? */
static int is_below(const char *root, const char *path, const struct stat *opened)
{
    char whole[CST_PATH_SIZE];
    struct stat named;
    size_t n = strlen(root);
    if (!realpath(path, whole) || stat(whole, &named) != 0) return 0;
    if (named.st_dev != opened->st_dev || named.st_ino != opened->st_ino) return 0;
    return strncmp(whole, root, n) == 0 && (root[n - 1] == '/' || whole[n] == '/');
}

/* A device may never end and a pipe may never begin: only regular files are opened. NULL: open,
 * else why not */
static const char *open_regular(const char *path, const char *root, int *fd, struct stat *s)
{
    if (stat(path, s) != 0) return root ? outside : strerror(errno);
    if (root && !is_below(root, path, s)) return outside;
    if (!S_ISREG(s->st_mode))
        return S_ISDIR(s->st_mode) ? "it is a directory" : "it is not a regular file";
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (*fd < 0) return strerror(errno);
    if (fstat(*fd, s) == 0 && S_ISREG(s->st_mode) && (!root || is_below(root, path, s)))
        return NULL;
    close(*fd);
    return "it has just been replaced";
}

const char *cst_file_obstacle(const char *path, const char *root)
{
    int fd = -1;
    struct stat s;
    const char *why = open_regular(path, root, &fd, &s);
    if (!why) close(fd);
    return why;
}

char *cst_file_read(cst_arena *a, const char *path, const char *root, size_t limit, size_t *n,
                    cst_diag *d)
{
    cst_where w = {.file = path};
    FILE **f = cst_new(a, FILE *, 1);
    cst_arena_defer(a, close_file, f); /* closed below, or when memory runs out while reading */
    int fd = -1;
    struct stat s;
    const char *why = open_regular(path, root, &fd, &s);
    *n = 0;
    if (!why && !(*f = fdopen(fd, "rb"))) why = strerror(errno), close(fd);
    if (why) {
        cst_error(d, CST_IO, w, "cannot read: %s", why);
        return NULL;
    }
    size_t expected = s.st_size > 0 ? (size_t)s.st_size : 0;
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
