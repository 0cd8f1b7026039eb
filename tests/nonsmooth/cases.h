/* SPDX-License-Identifier: MIT
 *
 * One table of situations in which a motion or an objective is not smooth, or only looks as if it
 * were not, with the true one-sided slopes
 *
 *     below = lim (psi(p) - psi(p - e))/e,   above = lim (psi(p + e) - psi(p))/e,   e -> 0+
 *
 * in closed form. Equal: there is a derivative. Different: there are two slopes. NAN: this side has
 * none, because it is infinite, or psi jumps there, or there is no motion. They are those of the
 * motion itself: where steps have an error, `left` bounds it, and it must fall with the step. */
#ifndef CST_TESTS_NONSMOOTH_CASES_H
#define CST_TESTS_NONSMOOTH_CASES_H

#include <stddef.h>

/* What a program makes of a row, from right to worst. A warning is all that can be had for instants
 * that are not located, events that are frozen, and forces without a direction. */
#define NONSMOOTH_VERDICT_LIST(X)                                                                  \
    X(NS_RIGHT, "right")                                                                           \
    X(NS_REFUSED, "false refusal: the sides agree, but it is refused or marked")                   \
    X(NS_WARNED, "plain slope where the sides differ, or a wrong one, with a warning")             \
    X(NS_NOT_PLAIN, "WRONG: plain slope where the sides differ")                                   \
    X(NS_VALUE, "WRONG: neither side has this slope")                                              \
    X(NS_METHODS, "WRONG: adjoint and direct do not say the same")

typedef enum nonsmooth_verdict {
#define X(name, text) name,
    NONSMOOTH_VERDICT_LIST(X)
#undef X
} nonsmooth_verdict;

typedef struct nonsmooth_case {
    const char *name;        /* unique */
    const char *model;       /* the file without its version, objectives and simulation */
    const char *objective;   /* psi */
    const char *number;      /* p */
    double below, above;     /* NAN: this side has no slope */
    double left;             /* largest error at the longest step, relative to the larger of both
                                sides; half of it at half the step, and so on. 0: steps are exact */
    double apart;            /* the same of the differences that judge the closed form, where steps
                                that are cut by a kink have one of their own; 0: left */
    double end, step;        /* s; 0: 0.4 s, 10 ms */
    double width;            /* e of the differences that judge the closed form; 0: 1e-5 */
    int plain;               /* 1: below is above */
    int rough;               /* 1: differences say nothing, the comment says why */
    int fragile;             /* 1: rounding decides what is seen of it: not worse than its mark */
    int measured;            /* 1: no closed form: the sides are those of differences */
    const char *simulation;  /* more options of the run */
    nonsmooth_verdict today; /* where the program is not right yet */
} nonsmooth_case;

enum { NONSMOOTH_MOST = 600 };

typedef struct nonsmooth_table {
    int n;
    nonsmooth_case row[NONSMOOTH_MOST];
} nonsmooth_table;

void nonsmooth_add(nonsmooth_table *to, nonsmooth_case row);
void nonsmooth_all(nonsmooth_table *to);

/* The last argument: the slope above, then fields by name. PLAIN: the slope of both sides */
#define ROW(called, text, psi, p, down, ...)                                                       \
    nonsmooth_add(to, (nonsmooth_case){.name = called,                                             \
                                       .model = text,                                              \
                                       .objective = psi,                                           \
                                       .number = p,                                                \
                                       .below = down,                                              \
                                       .above = __VA_ARGS__})
#define PLAIN(called, text, psi, p, ...)                                                           \
    nonsmooth_add(to, (nonsmooth_case){.name = called,                                             \
                                       .model = text,                                              \
                                       .objective = psi,                                           \
                                       .number = p,                                                \
                                       .plain = 1,                                                 \
                                       .above = __VA_ARGS__})

/* The groups */
void nonsmooth_numbers(nonsmooth_table *to);
void nonsmooth_start(nonsmooth_table *to);
void nonsmooth_rest(nonsmooth_table *to);
void nonsmooth_objectives(nonsmooth_table *to);
void nonsmooth_motion(nonsmooth_table *to);
void nonsmooth_events(nonsmooth_table *to);
void nonsmooth_singular(nonsmooth_table *to);

#endif
