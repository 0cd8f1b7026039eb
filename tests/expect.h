/* SPDX-License-Identifier: MIT
 *
 * cmocka with comparisons in double (its own cast to float), and seeded random numbers. */
#ifndef CST_TESTS_EXPECT_H
#define CST_TESTS_EXPECT_H

/* cmocka.h needs the four before it */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A test of many seconds does a part of its work in `make test` and all of it in `make test-slow`:
 * is that now? */
static inline int expect_all(void)
{
    const char *all = getenv("COSTATE_ALL");
    return all && *all;
}
/* How many of `all` rounds are for now */
static inline int expect_rounds(int few, int all) { return expect_all() ? all : few; }

/* |actual - expected| <= tol (1 + |expected|); NaN is near nothing */
#define expect_near(actual, expected, tol)                                                         \
    expect_near_at((double)(actual), (double)(expected), (double)(tol), #actual, __FILE__, __LINE__)
#define expect_true(condition) assert_true(condition)
#define expect_false(condition) assert_false(condition)
#define expect_null(pointer) assert_null(pointer)
#define expect_not_null(pointer) assert_non_null(pointer)
#define expect_int(actual, expected)                                                               \
    expect_int_at((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define expect_text(actual, expected) assert_string_equal(actual, expected)
#define expect_contains(text, part) expect_contains_at(text, part, __FILE__, __LINE__)
#define expect_lacks(text, part) expect_lacks_at(text, part, __FILE__, __LINE__)

static inline void expect_near_at(double actual, double expected, double tol, const char *what,
                                  const char *file, int line)
{
    if (fabs(actual - expected) <= tol * (1 + fabs(expected))) return;
    print_error("%s = %.17g, expected %.17g; off by %.3g, tolerance %.3g\n", what, actual, expected,
                fabs(actual - expected) / (1 + fabs(expected)), tol);
    _fail(file, line);
}

static inline void expect_int_at(long long actual, long long expected, const char *what,
                                 const char *file, int line)
{
    if (actual == expected) return;
    print_error("%s = %lld, expected %lld\n", what, actual, expected);
    _fail(file, line);
}

static inline void expect_contains_at(const char *text, const char *part, const char *file,
                                      int line)
{
    if (strstr(text, part)) return;
    print_error("\"%s\"\nlacks \"%s\"\n", text, part);
    _fail(file, line);
}

static inline void expect_lacks_at(const char *text, const char *part, const char *file, int line)
{
    if (!strstr(text, part)) return;
    print_error("\"%s\"\ncontains \"%s\"\n", text, part);
    _fail(file, line);
}

/* ---- random numbers: splitmix64; the same on every machine ---- */

typedef struct expect_random {
    uint64_t state;
} expect_random; /* any seed */

static inline uint64_t expect_bits(expect_random *r)
{
    uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double expect_uniform(expect_random *r, double low, double high)
{
    return low + (high - low) * ((double)(expect_bits(r) >> 11) * 0x1p-53);
}

static inline int expect_below(expect_random *r, int n)
{
    return (int)(expect_bits(r) % (uint64_t)n);
}

#endif
