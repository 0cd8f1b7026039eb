# SPDX-License-Identifier: MIT
# A file is a test by its name; nothing is listed here.
#     tests/test_NAME.c    a program (cmocka); test_alloc_NAME.c may fail allocations (tests/alloc_wrap.h)
#     tests/run_NAME.sh    a script, arguments: build directory, source directory; exit 77 = skipped
#     tests/slow_NAME.*    the same, run by `make test-slow` only
# A file that asks for COSTATE_ALL (in C: expect_all, expect_rounds) does part of its work in `make test`; as slow_FILE it does all of it, with this variable set.
#     tests/fuzz/fuzz_NAME.c    replays tests/fuzz/corpus_NAME/* and the example models

set(test_dir ${PROJECT_SOURCE_DIR}/tests)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${test_dir}/fuzz/fuzz_*.c)

if(COSTATE_FUZZ)
    foreach(file ${fuzz_sources})
        get_filename_component(name ${file} NAME_WE)
        add_executable(${name} ${file})
        target_link_libraries(${name} PRIVATE objects)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    endforeach()
    return()
endif()

pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
    message(STATUS "cmocka not found: tests are not built")
    return()
endif()

# One thread in BLAS: tests run in parallel, and results must not depend on the number of cores.
function(costate_test_properties name)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
        "OPENBLAS_NUM_THREADS=1;LC_ALL=C.UTF-8;LSAN_OPTIONS=suppressions=${test_dir}/fuzz/lsan.supp:print_suppressions=0")
    if(name MATCHES "^slow_")
        set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT 7200)
    endif()
endfunction()

# CONFIGURATIONS: a plain `ctest` leaves slow tests out, `ctest -C slow -L slow` runs them.
function(costate_add_test name file)
    set(only)
    if(name MATCHES "^slow_")
        set(only CONFIGURATIONS slow)
    endif()
    add_test(NAME ${name} COMMAND ${ARGN} ${only} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    costate_test_properties(${name})
    file(STRINGS ${file} parts REGEX "COSTATE_ALL|expect_all\\(\\)|expect_rounds\\(" LIMIT_COUNT 1)
    if(parts AND NOT only)
        add_test(NAME slow_${name} COMMAND ${ARGN} CONFIGURATIONS slow WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        costate_test_properties(slow_${name})
        set_property(TEST slow_${name} APPEND PROPERTY ENVIRONMENT COSTATE_ALL=1)
    endif()
endfunction()

file(GLOB programs CONFIGURE_DEPENDS ${test_dir}/test_*.c ${test_dir}/slow_*.c)
foreach(file ${programs})
    get_filename_component(name ${file} NAME_WE)
    add_executable(${name} ${file})
    target_link_libraries(${name} PRIVATE objects PkgConfig::CMOCKA)
    target_include_directories(${name} PRIVATE ${test_dir})
    target_compile_definitions(${name} PRIVATE CST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    # a test that reaches the guard of an arena fails: no variable is read after the jump
    target_compile_options(${name} PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-clobbered>)
    if(TARGET oracle)
        target_link_libraries(${name} PRIVATE oracle)
    endif()
    if(name MATCHES "^test_alloc")
        target_sources(${name} PRIVATE ${test_dir}/alloc_wrap.c)
        target_link_options(${name} PRIVATE LINKER:--wrap=aligned_alloc)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    costate_add_test(${name} ${file} ${name})
endforeach()

# tests/nonsmooth/*.c: the rows of test_nonsmooth
file(GLOB nonsmooth CONFIGURE_DEPENDS ${test_dir}/nonsmooth/*.c)
target_sources(test_nonsmooth PRIVATE ${nonsmooth})

# headers of the libraries that are loaded when used, where they are installed: the declarations are compared with them
find_path(HDF5_HEADER_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_path(IPOPT_HEADER_DIR IpStdCInterface.h PATH_SUFFIXES coin coin-or)
mark_as_advanced(HDF5_HEADER_DIR IPOPT_HEADER_DIR)
foreach(name HDF5 IPOPT)
    if(${name}_HEADER_DIR)
        target_include_directories(test_library SYSTEM PRIVATE ${${name}_HEADER_DIR})
        target_compile_definitions(test_library PRIVATE CST_${name}_HEADER)
    endif()
endforeach()

file(GLOB scripts CONFIGURE_DEPENDS ${test_dir}/run_*.sh ${test_dir}/slow_*.sh)
foreach(file ${scripts})
    get_filename_component(name ${file} NAME_WE)
    costate_add_test(${name} ${file} ${file} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
endforeach()

file(GLOB models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*/model.yaml)
foreach(file ${fuzz_sources})
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "corpus_" corpus ${name})
    add_executable(${name} ${file} ${test_dir}/fuzz/replay_main.c)
    target_link_libraries(${name} PRIVATE objects)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    costate_add_test(${name} ${file} ${name} ${test_dir}/fuzz/${corpus} ${models})
endforeach()
