#!/bin/sh
# SPDX-License-Identifier: MIT
# What the finished files say of themselves: libraries are never searched in the current directory, tables of addresses are read-only,
# the stack has canaries and cannot be executed, calls of the C library are checked, the program is position-independent.
set -u
build=$1
[ -x "$build/costate" ] || exit 77
command -v readelf >/dev/null 2>&1 || { echo "readelf is not there"; exit 77; }
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# an empty entry of the path, or one that is not absolute, depends on where the program is started
safe_path() {
    case ":$1:" in *::*) return 1 ;; esac
    for dir in $(echo "$1" | tr ':' ' '); do
        case $dir in /*|'$ORIGIN'|'$ORIGIN'/*) ;; *) return 1 ;; esac
    done
}
for wrong in /usr/lib: :/usr/lib /usr/lib::/lib lib .; do safe_path "$wrong" && fail "the test takes '$wrong' for safe"; done

# optimised builds without sanitizers have checked calls
fortified=0
grep -Eq '^CMAKE_BUILD_TYPE:.*=(Release|RelWithDebInfo)$' "$build/CMakeCache.txt" && fortified=1
for file in "$build/costate" "$build/libcostate.so"; do
    [ -e "$file" ] || { fail "$file is not there"; continue; }
    path=$(readelf -dW "$file" | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]/\2/p')
    [ -z "$path" ] || safe_path "$path" || fail "$file: libraries are searched in '$path'"
    readelf -dW "$file" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || fail "$file: addresses are resolved late"
    readelf -lW "$file" | grep -q GNU_RELRO || fail "$file: tables of addresses can be written"
    readelf -lW "$file" | grep -Eq 'GNU_STACK .* RW +0' || fail "$file: the stack can be executed"
    readelf -hW "$file" | grep -q 'Type: *DYN' || fail "$file: not position-independent"
    readelf -W --symbols "$file" | grep -q ' __stack_chk_fail' || fail "$file: no stack protector"
    [ $fortified -eq 0 ] || readelf -W --symbols "$file" | grep -q ' __[a-z]*printf_chk' || fail "$file: calls are not checked"
done
exit $failed
