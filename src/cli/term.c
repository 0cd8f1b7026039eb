/* SPDX-License-Identifier: MIT
 *
 * Terminals: colours, width, progress. */
#define _POSIX_C_SOURCE 200809L /* isatty, fileno, clock_gettime */
#include "cli/term.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

cst_style cst_style_of(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (!isatty(fileno(f)) || (no && *no) || !term || strcmp(term, "dumb") == 0)
        return (cst_style){"", "", "", "", ""};
    return (cst_style){"\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[0m"};
}

static int columns(FILE *f)
{
    struct winsize w = {0};
    if (isatty(fileno(f)) && ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col < 60 ? 60 : w.ws_col > 120 ? 120 : w.ws_col;
    return 100;
}

cst_page cst_page_of(FILE *f, int markdown)
{
    cst_page p = {.f = f, .markdown = markdown, .width = columns(f), .style = {"", "", "", "", ""}};
    if (!markdown) p.style = cst_style_of(f);
    return p;
}

double cst_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- progress ---- */

cst_progress cst_progress_begin(int wanted)
{
    double now = cst_seconds();
    return (cst_progress){.on = wanted && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO),
                          .begin = now,
                          .last = now};
}

void cst_progress_show(cst_progress *b, double share, const char *format, ...)
{
    enum { WIDTH = 30 };
    if (!b->on) return;
    double now = cst_seconds(), spent = now - b->begin;
    if (spent < 1 || (b->drawn && now - b->last < 0.1)) return;
    b->last = now;
    b->drawn = 1;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    int full = (int)(share * WIDTH);
    fputs("\r  [", stderr);
    for (int i = 0; i < WIDTH; i++) fputc(i < full ? '#' : '-', stderr);
    fprintf(stderr, "] %3.0f %%   ", 100 * share);
    va_list ap;
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    if (share > 0.02) fprintf(stderr, "   %.0f s left", spent * (1 - share) / share);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void cst_progress_end(cst_progress *b)
{
    if (b->drawn) fputs("\r\033[K", stderr);
    b->drawn = 0;
}
