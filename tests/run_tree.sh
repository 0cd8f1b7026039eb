#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of the source tree: licence lines, lengths of files and lines, no allocation outside arenas, no printing in the library,
# and includes that point to the left only:
layers="base linalg number element body model system formulation integrator sensitivity problem optimise report cli"
set -eu
cd "$2"
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

find src include tests bench \( -name '*.c' -o -name '*.h' \) | sort | while read -r file; do
    head -n 1 "$file" | grep -q '^/\* SPDX-License-Identifier: MIT' || echo "$file:1: the SPDX line is missing"
done >>"$bad"

find src -name '*.[ch]' | sort | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || echo "$file: $lines lines; the limit is 600"
done >>"$bad"

# shellcheck disable=SC2046
awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns; the limit is 100" }' \
    $(find src include tests bench -name '*.[ch]' -o -name '*.def' | sort) >>"$bad"

if command -v clang-format >/dev/null 2>&1; then
    # shellcheck disable=SC2046
    clang-format --dry-run -Werror $(find src include tests bench examples -name '*.[ch]' | sort) 2>&1 |
        grep ': error:' >>"$bad" || true
fi

# shellcheck disable=SC2046
awk -v layers="$layers" '
    BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
    { split(FILENAME, part, "/"); own = part[2] }
    FNR == 1 && !(own in rank) { print FILENAME ": the directory " own " is no layer" }
    match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/) {
        split(substr($0, RSTART, RLENGTH), q, "\"")
        split(q[2], d, "/")
        if (q[2] !~ /\//) { if (q[2] != "costate.h" && q[2] !~ /\.def$/) print FILENAME ":" FNR ": write the layer: " $0; next }
        if (!(d[1] in rank)) print FILENAME ":" FNR ": unknown layer: " $0
        else if (rank[d[1]] > rank[own]) print FILENAME ":" FNR ": " own " must not include " d[1] ": " $0
    }' $(find src -name '*.[ch]' | sort) >>"$bad"

# memory comes from arenas, messages go to a cst_diag
# shellcheck disable=SC2046
grep -nE '(^|[^_[:alnum:]])(malloc|calloc|realloc|aligned_alloc|strdup|strndup)[[:space:]]*\(' \
    $(find src -name '*.[ch]' ! -path src/base/arena.c | sort) | sed 's/$/    <- only base\/arena.c allocates/' >>"$bad" || true
# shellcheck disable=SC2046
grep -nE '(^|[^_[:alnum:]])(printf|puts|perror|exit)[[:space:]]*\(|stderr|stdout' \
    $(find src -name '*.[ch]' ! -path 'src/cli/*' | sort) | sed 's/$/    <- the library never prints or exits/' >>"$bad" || true

if [ -s "$bad" ]; then
    cat "$bad"
    exit 1
fi
