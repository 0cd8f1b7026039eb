# SPDX-License-Identifier: MIT
# Header, library, command, CMake package (costate::costate) and pkg-config file.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/costate)

install(TARGETS costate EXPORT costate-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
configure_file(cmake/costate.pc.in ${PROJECT_BINARY_DIR}/costate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/costate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
