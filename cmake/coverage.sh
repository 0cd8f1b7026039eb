#!/bin/sh
# SPDX-License-Identifier: MIT
# Lines covered per file, from the gcov data of a build directory.
set -eu
cd "$1"
find . -path '*objects.dir*' -name '*.gcda' | sort | while read -r data; do
    gcov -n "$data" 2>/dev/null
done | awk '
    /^File/ { sub(/^File .*\/src\//, "src/"); sub(/\x27$/, ""); file = $0; next }
    /^Lines executed/ && file ~ /^src\// {
        split($0, s, /[:% ]+/)
        covered[file] = s[3]; lines[file] = s[5]; file = ""
    }
    END {
        for (f in lines) { printf "%6.1f %% of %4d  %s\n", covered[f], lines[f], f | "sort -k5"; hit += covered[f] * lines[f]; all += lines[f] }
        close("sort -k5")
        if (all) printf "%6.1f %% of %4d  all\n", hit / all, all
    }'
