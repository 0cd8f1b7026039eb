# SPDX-License-Identifier: MIT
# Guards against memory errors: canaries on the stack, checked calls of the C library, position-independent programs, and tables of
# addresses that are resolved at the start and then read-only. tests/run_hardening.sh reads them from the finished files.

include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(costate_optimised $<CONFIG:Release,RelWithDebInfo>)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-fstack-protector-strong>)
# the checks of calls need an optimiser; sanitizers, in Debug, have their own
add_compile_options($<$<AND:$<COMPILE_LANGUAGE:C>,${costate_optimised}>:-U_FORTIFY_SOURCE>
                    $<$<AND:$<COMPILE_LANGUAGE:C>,${costate_optimised}>:-D_FORTIFY_SOURCE=2>)
add_link_options(LINKER:-z,relro LINKER:-z,now)
