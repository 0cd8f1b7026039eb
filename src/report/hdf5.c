/* SPDX-License-Identifier: MIT */
#include "report/hdf5.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/library.h"
#include "base/writer.h"
#include "report/hdf5_functions.h"

enum {
    BLOCK = 1 << 19 /* numbers of a series that wait in memory */,
    LONGEST = 4096,
    SHORTEST = 16 /* rows of a chunk */
};

struct cst_hdf5 {
    cst_arena *arena;
    cst_writer *out; /* its name; HDF5 writes to the same file by itself */
    hid_t file;
    int error; /* errno of the first failure, EIO where the library does not say */
    /* of the series that is open */
    int ncol;
    hid_t *column; /* (ncol + 1) time first */
    double *block; /* (ncol + 1) x cap, by columns */
    long cap, used, rows;
};

/* ---- the library ---- */

/* Written once, behind a lock that every user of a file has passed */
#define X(result, name, arguments) static result(*name) arguments;
HDF5_FUNCTIONS(X)
#undef X
#define X(name) static hid_t *name;
HDF5_VARIABLES(X)
#undef X

static int load(cst_diag *d)
{
    static const char *const name[] = {
#define X(result, function, arguments) #function,
        HDF5_FUNCTIONS(X)
#undef X
#define X(variable) #variable,
            HDF5_VARIABLES(X)
#undef X
                NULL
    };
    static void *const place[] = {
#define X(result, function, arguments) &function,
        HDF5_FUNCTIONS(X)
#undef X
#define X(variable) &variable,
            HDF5_VARIABLES(X)
#undef X
    };
    enum { N = sizeof place / sizeof *place };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *address[N];
    unsigned major = 0, minor = 0, release = 0;
    pthread_mutex_lock(&lock);
    int ok = H5open || cst_library_load(&cst_library_hdf5, name, address, CST_OUTPUT, d);
    for (int i = 0; ok && !H5open && i < N; i++)
        memcpy(place[N - 1 - i], &address[N - 1 - i], sizeof *address); /* H5open last */
    pthread_mutex_unlock(&lock);
    if (!ok) return 0;
    H5dont_atexit(); /* first: what cannot be closed on a full disk would be written again at the
                        exit, from freed memory */
    H5get_libversion(&major, &minor, &release);
    if (major > 1 || minor >= 10) return 1;
    cst_error(d, CST_OUTPUT, (cst_where){0},
              "HDF5 %u.%u.%u is too old: version 1.10 is needed (Debian package %s)", major, minor,
              release, cst_library_hdf5.package);
    return 0;
}

/* The library would print its errors. */
typedef struct silence {
    H5E_auto2_t report;
    void *to;
} silence;

static silence quiet(void)
{
    silence s;
    H5Eget_auto2(H5E_DEFAULT, &s.report, &s.to);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    errno = 0;
    return s;
}

static void loud(silence s) { H5Eset_auto2(H5E_DEFAULT, s.report, s.to); }

static void check(cst_hdf5 *h, long long result)
{
    if (result < 0 && !h->error) h->error = errno ? errno : EIO;
}

/* ---- the file ---- */

static void release(void *object)
{
    cst_hdf5 *h = object;
    silence s = quiet();
    for (int i = 0; h->column && i <= h->ncol; i++)
        if (h->column[i] >= 0) H5Dclose(h->column[i]);
    h->column = NULL;
    if (h->file >= 0) H5Fclose(h->file);
    h->file = -1;
    loud(s);
}

cst_hdf5 *cst_hdf5_open(cst_arena *a, const char *path, cst_diag *d)
{
    cst_hdf5 *h = cst_new(a, cst_hdf5, 1);
    h->arena = a;
    h->file = -1;
    if (!load(d)) return NULL;
    h->out = cst_writer_open(a, path, d);
    if (!h->out) return NULL;
    cst_arena_defer(a, release, h);
    silence s = quiet();
    h->file = H5Fcreate(h->out->part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    check(h, h->file);
    loud(s);
    if (h->file >= 0) return h;
    h->out->error = h->error;
    cst_writer_close(h->out, d);
    return NULL;
}

int cst_hdf5_close(cst_hdf5 *h, cst_diag *d)
{
    cst_hdf5_series_end(h);
    silence s = quiet();
    check(h, H5Fclose(h->file));
    h->file = -1;
    loud(s);
    h->out->error = h->error;
    return cst_writer_close(h->out, d);
}

const char *cst_hdf5_name(cst_hdf5 *h, const char *name)
{
    char *copy = cst_arena_strdup(h->arena, name && *name ? name : "_");
    for (char *c = copy; *c; c++)
        if (*c == '/') *c = '_';
    return strcmp(copy, ".") == 0 ? "_" : copy;
}

/* ---- groups and attributes ---- */

static const char *whole(const char *path) { return *path ? path : "/"; }

void cst_hdf5_group(cst_hdf5 *h, const char *path)
{
    silence s = quiet();
    hid_t g = H5Gcreate2(h->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(h, g);
    if (g >= 0) H5Gclose(g);
    loud(s);
}

static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static void attribute(cst_hdf5 *h, const char *path, const char *name, hid_t type,
                      const void *value)
{
    silence s = quiet();
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t at = H5Acreate_by_name(h->file, whole(path), name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                                 H5P_DEFAULT);
    check(h, at);
    if (at >= 0) {
        check(h, H5Awrite(at, type, value));
        H5Aclose(at);
    }
    H5Sclose(space);
    loud(s);
}

void cst_hdf5_attribute_text(cst_hdf5 *h, const char *path, const char *name, const char *text)
{
    hid_t type = text_type();
    if (!text) text = "";
    attribute(h, path, name, type, &text);
    H5Tclose(type);
}

void cst_hdf5_attribute_number(cst_hdf5 *h, const char *path, const char *name, double x)
{
    attribute(h, path, name, H5T_NATIVE_DOUBLE, &x);
}

/* ---- datasets ---- */

static void dataset(cst_hdf5 *h, const char *path, hid_t space, hid_t type, const void *x)
{
    silence s = quiet();
    hid_t set = H5Dcreate2(h->file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(h, set);
    if (set >= 0) {
        check(h, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x));
        H5Dclose(set);
    }
    loud(s);
}

void cst_hdf5_numbers(cst_hdf5 *h, const char *path, long rows, long cols, const double *x,
                      const char *unit)
{
    hsize_t size[2] = {(hsize_t)rows, (hsize_t)cols};
    int list = cols > 0 ? 2 : 1, one = rows == 0 && cols == 0 && x;
    hid_t space = one ? H5Screate(H5S_SCALAR) : H5Screate_simple(list, size, NULL);
    dataset(h, path, space, H5T_NATIVE_DOUBLE, x);
    H5Sclose(space);
    if (unit) cst_hdf5_attribute_text(h, path, "unit", unit);
}

void cst_hdf5_texts(cst_hdf5 *h, const char *path, int n, const char *const *text)
{
    hsize_t size = (hsize_t)n;
    hid_t space = H5Screate_simple(1, &size, NULL), type = text_type();
    dataset(h, path, space, type, text);
    H5Tclose(type);
    H5Sclose(space);
}

/* ---- series ---- */

static hid_t column_new(cst_hdf5 *h, const char *path, const char *unit)
{
    hsize_t none = 0, any = H5S_UNLIMITED, chunk = (hsize_t)h->cap;
    hid_t space = H5Screate_simple(1, &none, &any), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(how, 1, &chunk);
    hid_t set = H5Dcreate2(h->file, path, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    check(h, set);
    H5Pclose(how);
    H5Sclose(space);
    if (set >= 0) cst_hdf5_attribute_text(h, path, "unit", unit && *unit ? unit : "1");
    return set;
}

void cst_hdf5_series_begin(cst_hdf5 *h, const char *group, int ncol, const char *const *name,
                           const char *const *unit)
{
    const char *head = *group ? cst_arena_printf(h->arena, "%s/", group) : "";
    long cap = BLOCK / (ncol + 1);
    h->ncol = ncol;
    h->cap = cap > LONGEST ? LONGEST : cap < SHORTEST ? SHORTEST : cap;
    h->used = h->rows = 0;
    h->block = cst_new(h->arena, double, (size_t)h->cap *(ncol + 1));
    h->column = cst_new(h->arena, hid_t, ncol + 1);
    for (int i = 0; i <= ncol; i++) h->column[i] = -1;
    cst_hdf5_group(h, cst_arena_printf(h->arena, "%smeasures", head));
    silence s = quiet();
    h->column[0] = column_new(h, cst_arena_printf(h->arena, "%stime", head), "s");
    check(h, H5DSset_scale(h->column[0], "time"));
    for (int i = 1; i <= ncol; i++) {
        const char *path =
            cst_arena_printf(h->arena, "%smeasures/%s", head, cst_hdf5_name(h, name[i - 1]));
        h->column[i] = column_new(h, path, unit[i - 1]);
    }
    loud(s);
}

static void flush(cst_hdf5 *h)
{
    hsize_t from = (hsize_t)h->rows, n = (hsize_t)h->used, size = from + n;
    if (!h->used) return;
    silence s = quiet();
    hid_t memory = H5Screate_simple(1, &n, NULL);
    for (int i = 0; i <= h->ncol && !h->error; i++) {
        check(h, H5Dset_extent(h->column[i], &size));
        hid_t space = H5Dget_space(h->column[i]);
        check(h, H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &n, NULL));
        check(h, H5Dwrite(h->column[i], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT,
                          h->block + (size_t)i * (size_t)h->cap));
        H5Sclose(space);
    }
    H5Sclose(memory);
    loud(s);
    h->rows += h->used;
    h->used = 0;
}

void cst_hdf5_series_row(cst_hdf5 *h, double t, const double *x)
{
    h->block[h->used] = t;
    for (int i = 1; i <= h->ncol; i++)
        h->block[(size_t)i * (size_t)h->cap + (size_t)h->used] = x[i - 1];
    if (++h->used == h->cap) flush(h);
}

void cst_hdf5_series_end(cst_hdf5 *h)
{
    if (!h->column) return;
    flush(h);
    silence s = quiet();
    for (int i = 1; i <= h->ncol && !h->error; i++)
        check(h, H5DSattach_scale(h->column[i], h->column[0], 0));
    for (int i = 0; i <= h->ncol; i++)
        if (h->column[i] >= 0) check(h, H5Dclose(h->column[i]));
    h->column = NULL;
    loud(s);
}
