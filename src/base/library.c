/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dlinfo */
#include "base/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Versions of several releases of Debian and of other systems. The high-level library of HDF5
 * brings the other one with it. */
const cst_library cst_library_hdf5 = {
    .name = "HDF5",
    .package = "libhdf5-hl-100",
    .file = {"libhdf5_serial_hl.so.100", "libhdf5_serial_hl.so.310", "libhdf5_hl.so.310",
             "libhdf5_hl.so.200", "libhdf5_hl.so.100", "libhdf5_hl.so"},
};
const cst_library cst_library_ipopt = {
    .name = "Ipopt",
    .package = "coinor-libipopt1v5",
    .file = {"libipopt.so.1", "libipopt.so.3", "libipopt.so"},
};

static void *open_library(const cst_library *l)
{
    void *handle = NULL;
    for (int i = 0; !handle && l->file[i]; i++) handle = dlopen(l->file[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

int cst_library_load(const cst_library *l, const char *const *symbol, void **address,
                     cst_status status, cst_diag *d)
{
    void *handle = open_library(l);
    if (!handle) {
        cst_error(d, status, (cst_where){0},
                  "%s is not installed (%s): install the Debian package %s", l->name, l->file[0],
                  l->package);
        return 0;
    }
    for (int i = 0; symbol[i]; i++) {
        address[i] = dlsym(handle, symbol[i]);
        if (address[i]) continue;
        cst_error(d, status, (cst_where){0}, "%s has no %s here: install the Debian package %s",
                  l->name, symbol[i], l->package);
        return 0;
    }
    return 1;
}

const char *cst_library_path(const cst_library *l, char *path, size_t size)
{
    struct link_map *map = NULL;
    void *handle = open_library(l);
    char whole[PATH_MAX];
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map)) return NULL;
    const char *name = realpath(map->l_name, whole)
                           ? whole
                           : map->l_name; /* the name of the file itself has its version */
    return strlen(name) < size ? memcpy(path, name, strlen(name) + 1) : NULL;
}
