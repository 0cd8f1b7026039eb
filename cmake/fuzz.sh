#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every fuzz program for some seconds: cmake/fuzz.sh build-directory seconds
set -eu
build=$1 seconds=$2
export LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp:print_suppressions=0
for program in "$build"/fuzz/fuzz_*; do
    [ -x "$program" ] || continue
    name=${program##*/fuzz_}
    mkdir -p "$build/found_$name"
    corpus="tests/fuzz/corpus_$name"
    [ -d "$corpus" ] || corpus=
    echo "fuzz_$name"
    # shellcheck disable=SC2086
    "$program" -max_total_time="$seconds" -timeout=10 -max_len=4096 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$build/found_${name}_" "$build/found_$name" $corpus
done
