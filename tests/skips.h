/* SPDX-License-Identifier: MIT
 *
 * Methods whose library may be missing: their part of a test is skipped, and says so. */
#ifndef CST_TESTS_SKIPS_H
#define CST_TESTS_SKIPS_H

#include "base/library.h"
#include "expect.h"

static inline int skips(const char *method)
{
    char path[4096];
    if (strcmp(method, "ipopt") != 0 || cst_library_path(&cst_library_ipopt, path, sizeof path))
        return 0;
    print_message("skipped: %s (Ipopt is not installed)\n", method);
    return 1;
}

#endif
