#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/embed, built against an installed library, finds the springs that hold the five-bar still.
set -eu
build=$1 source=$2
if nm -D "$build/libcostate.so" | grep -q '__asan_init'; then
    echo "a sanitized library needs a sanitized program"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/log"
cmake -S "$source/examples/embed" -B "$tmp/embed" -DCMAKE_PREFIX_PATH="$tmp/prefix" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/embed" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
"$tmp/embed/embed" "$source/examples/five-bar/model.yaml" >"$tmp/out" || { cat "$tmp/out"; exit 1; }

# statics: the moments of springs and weights about the pivots vanish as drawn
awk 'function off(x, y) { return x > y ? x - y : y - x }
    /^psi = / && $3 < 1e-10 { psi = 1 }
    /^L01 = / && off($3, 2.431923574458) < 1e-6 { one = 1 }
    /^L02 = / && off($3, 1.844868886805) < 1e-6 { two = 1 }
    END { exit !(psi && one && two) }' "$tmp/out" || { cat "$tmp/out"; exit 1; }
[ "$(wc -l <"$source/examples/embed/embed.c")" -le 100 ] || { echo "the example is meant to be short"; exit 1; }

# a file that is not there
if "$tmp/embed/embed" "$tmp/none.yaml" 2>"$tmp/err"; then exit 1; fi
grep -q "none.yaml" "$tmp/err"
