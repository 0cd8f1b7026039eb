/* SPDX-License-Identifier: MIT
 *
 * What hdf5.c uses of HDF5 (1.10 or later), declared as in its reference manual and found when it
 * is first used (base/library.h). CST_HDF5_HEADER: the types come from hdf5.h, with which
 * tests/test_library.c compares the list. */
#ifndef CST_REPORT_HDF5_FUNCTIONS_H
#define CST_REPORT_HDF5_FUNCTIONS_H

/* result, name, arguments */
#define HDF5_FUNCTIONS(X)                                                                          \
    X(herr_t, H5open, (void))                                                                      \
    X(herr_t, H5dont_atexit, (void))                                                               \
    X(herr_t, H5get_libversion, (unsigned *major, unsigned *minor, unsigned *release))             \
    X(herr_t, H5Eget_auto2, (hid_t stack, H5E_auto2_t * report, void **data))                      \
    X(herr_t, H5Eset_auto2, (hid_t stack, H5E_auto2_t report, void *data))                         \
    X(hid_t, H5Fcreate, (const char *name, unsigned flags, hid_t create, hid_t access))            \
    X(herr_t, H5Fclose, (hid_t file))                                                              \
    X(hid_t, H5Gcreate2, (hid_t at, const char *name, hid_t link, hid_t create, hid_t access))     \
    X(herr_t, H5Gclose, (hid_t group))                                                             \
    X(hid_t, H5Tcopy, (hid_t type))                                                                \
    X(herr_t, H5Tset_size, (hid_t type, size_t size))                                              \
    X(herr_t, H5Tset_cset, (hid_t type, H5T_cset_t set))                                           \
    X(herr_t, H5Tclose, (hid_t type))                                                              \
    X(hid_t, H5Screate, (H5S_class_t kind))                                                        \
    X(hid_t, H5Screate_simple, (int rank, const hsize_t *size, const hsize_t *most))               \
    X(herr_t, H5Sselect_hyperslab,                                                                 \
      (hid_t space, H5S_seloper_t how, const hsize_t *start, const hsize_t *stride,                \
       const hsize_t *count, const hsize_t *block))                                                \
    X(herr_t, H5Sclose, (hid_t space))                                                             \
    X(hid_t, H5Acreate_by_name,                                                                    \
      (hid_t at, const char *object, const char *name, hid_t type, hid_t space, hid_t create,      \
       hid_t access, hid_t link))                                                                  \
    X(herr_t, H5Awrite, (hid_t attribute, hid_t type, const void *value))                          \
    X(herr_t, H5Aclose, (hid_t attribute))                                                         \
    X(hid_t, H5Dcreate2,                                                                           \
      (hid_t at, const char *name, hid_t type, hid_t space, hid_t link, hid_t create,              \
       hid_t access))                                                                              \
    X(herr_t, H5Dwrite,                                                                            \
      (hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void *x))            \
    X(herr_t, H5Dset_extent, (hid_t set, const hsize_t *size))                                     \
    X(hid_t, H5Dget_space, (hid_t set))                                                            \
    X(herr_t, H5Dclose, (hid_t set))                                                               \
    X(hid_t, H5Pcreate, (hid_t kind))                                                              \
    X(herr_t, H5Pset_chunk, (hid_t list, int rank, const hsize_t *size))                           \
    X(herr_t, H5Pclose, (hid_t list))                                                              \
    X(herr_t, H5DSset_scale, (hid_t set, const char *name))                                        \
    X(herr_t, H5DSattach_scale, (hid_t set, hid_t scale, unsigned dimension))
#define HDF5_VARIABLES(X)                                                                          \
    X(H5T_C_S1_g)                                                                                  \
    X(H5T_NATIVE_DOUBLE_g)                                                                         \
    X(H5P_CLS_DATASET_CREATE_ID_g)

#ifndef CST_HDF5_HEADER
#include <stddef.h>
#include <stdint.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef unsigned long long hsize_t;
typedef herr_t (*H5E_auto2_t)(hid_t stack, void *data);

typedef enum H5T_cset_t { H5T_CSET_UTF8 = 1 } H5T_cset_t;
typedef enum H5S_class_t { H5S_SCALAR = 0 } H5S_class_t;
typedef enum H5S_seloper_t { H5S_SELECT_SET = 0 } H5S_seloper_t;
enum { H5P_DEFAULT = 0, H5S_ALL = 0, H5E_DEFAULT = 0, H5F_ACC_TRUNC = 2 };
#define H5S_UNLIMITED (~(hsize_t)0)
#define H5T_VARIABLE SIZE_MAX
#define H5T_C_S1 (H5open(), *H5T_C_S1_g)
#define H5T_NATIVE_DOUBLE (H5open(), *H5T_NATIVE_DOUBLE_g)
#define H5P_DATASET_CREATE (H5open(), *H5P_CLS_DATASET_CREATE_ID_g)
#endif

#endif
