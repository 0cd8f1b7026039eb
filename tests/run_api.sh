#!/bin/sh
# SPDX-License-Identifier: MIT
# The symbols of the shared library are exactly those of tests/api.txt: a change of the interface is seen in review. The soname is
# that of docs/api-stability.md.
set -eu
export LC_ALL=C
build=$1 source=$2
soname=$(readelf -d "$build/libcostate.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
version=$(sed -n 's/^project(costate VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
case $version in # before 1.0 the minor version is part of the soname
0.*) expected=libcostate.so.${version%.*} ;;
*) expected=libcostate.so.${version%%.*} ;;
esac
[ "$soname" = "$expected" ] || { echo "the soname is $soname, not $expected"; exit 1; }
found=$(nm -D --defined-only "$build/libcostate.so" | awk '{print $3}' | grep -v '^__\(asan\|ubsan\|odr\)' | sort)
case $found in *__gcov*) exit 77 ;; esac # the coverage runtime exports its own names
if printf '%s\n' "$found" | diff "$source/tests/api.txt" -; then exit 0; fi
echo "the interface differs from tests/api.txt (< only there, > only in the library); write the new one with"
echo "    nm -D --defined-only build/libcostate.so | awk '{print \$3}' | LC_ALL=C sort > tests/api.txt"
exit 1
