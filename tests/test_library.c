/* SPDX-License-Identifier: MIT
 *
 * Libraries that are loaded when used: what is said when they are missing, and declarations that
 * agree with their headers, where these are installed. */
#include "base/library.h"

#include "expect.h"

#ifdef CST_HDF5_HEADER
#include <hdf5.h>
#include <hdf5_hl.h>

#include "report/hdf5_functions.h"
#define X(result, name, arguments)                                                                 \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result arguments),               \
                   "hdf5_functions.h: " #name);
HDF5_FUNCTIONS(X)
#undef X
#define X(name)                                                                                    \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), hid_t),                          \
                   "hdf5_functions.h: " #name);
HDF5_VARIABLES(X)
#undef X
_Static_assert(sizeof(hid_t) == 8 && sizeof(herr_t) == sizeof(int) && sizeof(hsize_t) == 8,
               "hdf5_functions.h: types");
_Static_assert(H5T_CSET_UTF8 == 1 && H5S_SCALAR == 0 && H5S_SELECT_SET == 0 && H5P_DEFAULT == 0 &&
                   H5S_ALL == 0 && H5E_DEFAULT == 0,
               "hdf5_functions.h: constants");
_Static_assert(H5S_UNLIMITED == ~(hsize_t)0 && H5T_VARIABLE == SIZE_MAX,
               "hdf5_functions.h: constants");
#endif

#ifdef CST_IPOPT_HEADER
#include <IpStdCInterface.h>
#include <IpoptConfig.h>

#include "optimise/ipopt_functions.h"
#if IPOPT_VERSION_MINOR < 14 /* then Bool is int, as it is declared here */
#define X(result, name, arguments)                                                                 \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result arguments),               \
                   "ipopt_functions.h: " #name);
IPOPT_FUNCTIONS(X)
#undef X
_Static_assert(sizeof(Bool) == sizeof(int) && sizeof(Index) == sizeof(int) &&
                   sizeof(Number) == sizeof(double),
               "ipopt_functions.h: types");
#endif
_Static_assert(Solve_Succeeded == 0 && Solved_To_Acceptable_Level == 1 &&
                   Infeasible_Problem_Detected == 2 && Search_Direction_Becomes_Too_Small == 3 &&
                   User_Requested_Stop == 5 && Maximum_Iterations_Exceeded == -1,
               "ipopt_functions.h: results");
#endif

static const char *const cosine[] = {"cos", NULL}, *const nonsense[] = {"cos", "no_such_function",
                                                                        NULL};

static void a_library_that_is_there(void **state)
{
    (void)state;
    static const cst_library m = {"libm", "libc6", {"libnowhere.so.7", "libm.so.6"}};
    cst_diag d = {0};
    void *address = NULL;
    char path[4096];
    double (*f)(double);
    expect_int(cst_library_load(&m, cosine, &address, CST_NUMERIC, &d), 1);
    expect_int(d.errors, 0);
    memcpy(&f, &address, sizeof f);
    expect_near(f(0.5), 0.87758256189037271612, 1e-15);
    expect_contains(cst_library_path(&m, path, sizeof path), "libm");
}

static void one_that_is_missing_is_named_with_its_package(void **state)
{
    (void)state;
    static const cst_library none = {"Nowhere",
                                     "libnowhere7",
                                     {"libnowhere.so.7", "libnowhere.so.8"}};
    cst_diag d = {0};
    void *address = NULL;
    char path[4096];
    expect_int(cst_library_load(&none, cosine, &address, CST_OUTPUT, &d), 0);
    expect_int(d.errors, 1);
    expect_int(d.status, CST_OUTPUT);
    expect_contains(
        d.text,
        "Nowhere is not installed (libnowhere.so.7): install the Debian package libnowhere7");
    expect_null(cst_library_path(&none, path, sizeof path));
}

static void one_without_a_function_is_refused(void **state)
{
    (void)state;
    static const cst_library m = {"libm", "libc6", {"libm.so.6"}};
    cst_diag d = {0};
    void *address[2];
    expect_int(cst_library_load(&m, nonsense, address, CST_NUMERIC, &d), 0);
    expect_contains(d.text, "libm has no no_such_function here: install the Debian package libc6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_there),
        cmocka_unit_test(one_that_is_missing_is_named_with_its_package),
        cmocka_unit_test(one_without_a_function_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
