/* SPDX-License-Identifier: MIT
 *
 * costate --version: the program, and the libraries that it runs with. docs/licences.md says more
 * of them. */
#include <cvodes/cvodes.h>
#include <libfyaml.h>
#include <nlopt.h>
#include <stdio.h>
#include <string.h>
#include <suitesparse/amd.h>
#include <suitesparse/klu.h>
#include <sundials/sundials_version.h>

#include "base/library.h"
#include "cli/command.h"
#include "costate.h"

static void line(const char *name, const char *version, const char *licence, const char *how)
{
    printf("  %-14s %-10s %-18s %s\n", name, version, licence, how);
}

/* The version of HDF5 by its own account; Ipopt does not say, but the file has a number. */
static void loaded(const cst_library *l, const char *licence)
{
    static const char *const symbol[] = {"H5get_libversion", NULL};
    char path[4096], version[40] = "", how[5000];
    void *address;
    if (!cst_library_path(l, path, sizeof path)) {
        snprintf(how, sizeof how, "not installed: Debian package %s", l->package);
        line(l->name, "-", licence, how);
        return;
    }
    cst_diag ignored;
    memset(&ignored, 0, sizeof ignored);
    if (l == &cst_library_hdf5 && cst_library_load(l, symbol, &address, CST_OUTPUT, &ignored)) {
        int (*get)(unsigned *, unsigned *, unsigned *);
        unsigned v[3] = {0};
        memcpy(&get, &address, sizeof get);
        get(&v[0], &v[1], &v[2]);
        snprintf(version, sizeof version, "%u.%u.%u", v[0], v[1], v[2]);
    } else {
        const char *number = strstr(path, ".so.");
        snprintf(version, sizeof version, "%.30s", number ? number + 1 : "?");
    }
    snprintf(how, sizeof how, "loaded when used: %s", path);
    line(l->name, version, licence, how);
}

void cst_print_version(void)
{
    char text[64];
    int v[3];
    printf("costate %s\n", cst_version());
    line("libfyaml", fy_library_version(), "MIT", "linked");
    snprintf(text, sizeof text, "%d.%d.%d", KLU_MAIN_VERSION, KLU_SUB_VERSION, KLU_SUBSUB_VERSION);
    line("KLU, BTF", text, "LGPL-2.1-or-later", "linked");
    snprintf(text, sizeof text, "%d.%d.%d", AMD_MAIN_VERSION, AMD_SUB_VERSION, AMD_SUBSUB_VERSION);
    line("AMD, COLAMD", text, "BSD-3-Clause", "linked");
    line(CST_LAPACK_NAME, CST_LAPACK_VERSION, "BSD-3-Clause", "linked");
    line("cminpack", CST_CMINPACK_VERSION, "MINPACK", "linked");
    SUNDIALSGetVersion(text, sizeof text);
    line("CVODES", text, "BSD-3-Clause", "linked");
    nlopt_version(&v[0], &v[1], &v[2]);
    snprintf(text, sizeof text, "%d.%d.%d", v[0], v[1], v[2]);
    line("NLopt", text, "LGPL-2.1-or-later", "linked");
    line("L-BFGS-B", "3.0", "BSD-3-Clause", "linked");
    loaded(&cst_library_hdf5, "BSD-3-Clause");
    loaded(&cst_library_ipopt, "EPL");
}
