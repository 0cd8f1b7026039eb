# SPDX-License-Identifier: MIT
# Everything the library links, as one target: costate_dependencies.

add_library(costate_dependencies INTERFACE)

find_package(PkgConfig REQUIRED)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
target_link_libraries(costate_dependencies INTERFACE PkgConfig::FYAML)

# SuiteSparse before version 7 has neither CMake nor pkg-config files.
find_path(SUITESPARSE_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse REQUIRED)
target_include_directories(costate_dependencies SYSTEM INTERFACE ${SUITESPARSE_INCLUDE_DIR})
foreach(name klu btf amd colamd suitesparseconfig)
    string(TOUPPER ${name}_LIBRARY variable)
    find_library(${variable} ${name} REQUIRED)
    mark_as_advanced(${variable})
    target_link_libraries(costate_dependencies INTERFACE ${${variable}})
endforeach()

find_library(OPENBLAS_LIBRARY openblas)
if(OPENBLAS_LIBRARY)
    target_link_libraries(costate_dependencies INTERFACE ${OPENBLAS_LIBRARY})
    pkg_check_modules(OPENBLAS openblas)
    set(COSTATE_LAPACK_NAME OpenBLAS)
    set(COSTATE_LAPACK_VERSION ${OPENBLAS_VERSION})
    set(lapack_needs openblas)
else()
    enable_language(Fortran OPTIONAL)
    find_package(LAPACK REQUIRED)
    target_link_libraries(costate_dependencies INTERFACE LAPACK::LAPACK)
    set(COSTATE_LAPACK_NAME LAPACK)
    set(lapack_needs lapack blas)
endif()

# Levenberg-Marquardt from MINPACK
pkg_check_modules(CMINPACK REQUIRED IMPORTED_TARGET cminpack)
target_link_libraries(costate_dependencies INTERFACE PkgConfig::CMINPACK)

# multistep integrators and their sensitivities
find_path(CVODES_INCLUDE_DIR cvodes/cvodes.h REQUIRED)
find_library(CVODES_LIBRARY sundials_cvodes REQUIRED)
find_library(NVECSERIAL_LIBRARY sundials_nvecserial REQUIRED)
mark_as_advanced(CVODES_INCLUDE_DIR CVODES_LIBRARY NVECSERIAL_LIBRARY)
target_include_directories(costate_dependencies SYSTEM INTERFACE ${CVODES_INCLUDE_DIR})
target_link_libraries(costate_dependencies INTERFACE ${CVODES_LIBRARY} ${NVECSERIAL_LIBRARY})

# Optimisers: L-BFGS-B has no header. HDF5 and Ipopt are not needed to build: src/base/library.c loads them when they are used.
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
target_link_libraries(costate_dependencies INTERFACE PkgConfig::NLOPT)
find_library(LBFGSB_LIBRARY lbfgsb REQUIRED)
mark_as_advanced(LBFGSB_LIBRARY)
target_link_libraries(costate_dependencies INTERFACE ${LBFGSB_LIBRARY})

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(costate_dependencies INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})

# what a program that links libcostate.a must link as well, by names that the linker finds
set(COSTATE_STATIC_NEEDS fyaml klu btf amd colamd suitesparseconfig ${lapack_needs} cminpack sundials_cvodes sundials_nvecserial nlopt
    lbfgsb pthread m ${CMAKE_DL_LIBS})
