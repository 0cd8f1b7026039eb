# SPDX-License-Identifier: MIT
# Header, library, command, CMake package (costate::costate) and pkg-config file.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/costate)

install(TARGETS costate costate_static EXPORT costate-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET command)
    install(TARGETS command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES include/costate.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT costate-targets NAMESPACE costate:: DESTINATION ${package_dir})

configure_package_config_file(cmake/costate-config.cmake.in ${PROJECT_BINARY_DIR}/costate-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/costate-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/costate-config.cmake ${PROJECT_BINARY_DIR}/costate-config-version.cmake
        DESTINATION ${package_dir})

# the library directory may have two levels (lib/x86_64-linux-gnu)
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(TRANSFORM COSTATE_STATIC_NEEDS PREPEND -l OUTPUT_VARIABLE pc_private)
list(JOIN pc_private " " pc_private)
configure_file(cmake/costate.pc.in ${PROJECT_BINARY_DIR}/costate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/costate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Licences: the table, our own, the texts that came with the libraries that were found, and those to which they refer
install(FILES LICENSE SECURITY.md docs/licences.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(package libfyaml0 libklu1 libbtf1 libamd2 libcolamd2 libsuitesparseconfig5 libopenblas0-pthread libcminpack1 libsundials-cvodes6
        libsundials-nvecserial6 libnlopt0 liblbfgsb0 libhdf5-103-1 libhdf5-hl-100 coinor-libipopt1v5 libgfortran5 libquadmath0 libgcc-s1
        libc6)
    if(EXISTS /usr/share/doc/${package}/copyright)
        install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${package}.txt)
    endif()
endforeach()
foreach(text LGPL-2.1 GPL-3) # the second is what the runtime library exception of GCC is an exception from
    if(EXISTS /usr/share/common-licenses/${text})
        install(FILES /usr/share/common-licenses/${text} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${text}.txt)
    endif()
endforeach()
foreach(package three uplot) # inside the page of `costate report`
    install(FILES ${PROJECT_BINARY_DIR}/viewer/node_modules/${package}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences
            RENAME ${package}.txt OPTIONAL)
endforeach()
