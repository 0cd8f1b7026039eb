# SPDX-License-Identifier: MIT
# Everything the library links, as one target: costate_dependencies.

add_library(costate_dependencies INTERFACE)

find_package(PkgConfig REQUIRED)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
target_link_libraries(costate_dependencies INTERFACE PkgConfig::FYAML)

# SuiteSparse before version 7 has neither CMake nor pkg-config files.
find_path(SUITESPARSE_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse REQUIRED)
target_include_directories(costate_dependencies SYSTEM INTERFACE ${SUITESPARSE_INCLUDE_DIR})
foreach(name klu spqr cholmod btf amd colamd suitesparseconfig)
    string(TOUPPER ${name}_LIBRARY variable)
    find_library(${variable} ${name} REQUIRED)
    mark_as_advanced(${variable})
    target_link_libraries(costate_dependencies INTERFACE ${${variable}})
endforeach()

find_library(OPENBLAS_LIBRARY openblas)
if(OPENBLAS_LIBRARY)
    target_link_libraries(costate_dependencies INTERFACE ${OPENBLAS_LIBRARY})
else()
    enable_language(Fortran OPTIONAL)
    find_package(LAPACK REQUIRED)
    target_link_libraries(costate_dependencies INTERFACE LAPACK::LAPACK)
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

# results for other tools; the serial library, where several are installed
set(HDF5_PREFER_PARALLEL FALSE)
find_package(HDF5 REQUIRED COMPONENTS C HL)
target_link_libraries(costate_dependencies INTERFACE hdf5::hdf5_hl hdf5::hdf5)

# Optimisers: L-BFGS-B has no header, Ipopt's pkg-config file names libraries that only its authors need.
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
target_link_libraries(costate_dependencies INTERFACE PkgConfig::NLOPT)
find_library(LBFGSB_LIBRARY lbfgsb REQUIRED)
find_library(IPOPT_LIBRARY ipopt REQUIRED)
find_path(IPOPT_INCLUDE_DIR IpStdCInterface.h PATH_SUFFIXES coin coin-or REQUIRED)
mark_as_advanced(LBFGSB_LIBRARY IPOPT_LIBRARY IPOPT_INCLUDE_DIR)
target_include_directories(costate_dependencies SYSTEM INTERFACE ${IPOPT_INCLUDE_DIR})
target_link_libraries(costate_dependencies INTERFACE ${LBFGSB_LIBRARY} ${IPOPT_LIBRARY})

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(costate_dependencies INTERFACE Threads::Threads m)
