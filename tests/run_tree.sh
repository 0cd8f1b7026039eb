#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of the source tree: licence lines, lengths of files and lines, no allocation outside arenas, no printing in the library,
# includes that point to the left only, and what the command includes:
layers="base linalg number element body model system formulation integrator sensitivity problem optimise report cli"
set -eu
cd "$2"
bad=$(mktemp)
trap 'rm -f "$bad" "$bad.allowed"' EXIT

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

# The command is a user of the library: costate.h and base/. What it includes beyond them is listed here until costate.h gives it; the
# list may only become shorter.
cat >"$bad.allowed" <<'END'
src/cli/cmd_compare.c formulation/formulation.h
src/cli/cmd_gradient.c sensitivity/asked.h
src/cli/cmd_identify.c problem/fit.h
src/cli/cmd_report.c report/report.h
src/cli/film.c report/report.h
src/cli/gradient.h sensitivity/scaling.h
src/cli/gradient_select.c model/yaml.h
src/cli/help.h model/build.h
src/cli/help_functions.c number/op.h
src/cli/help_functions.c number/parse.h
src/cli/help_model.c model/build.h
src/cli/optimize.h problem/problem.h
src/cli/options.c formulation/formulations.def
src/cli/options.c integrator/rules.def
src/cli/options.c number/parse.h
src/cli/schema_values.c model/build.h
src/cli/schema_values.c optimise/fitters.def
src/cli/schema_values.c optimise/optimisers.def
src/cli/session.h integrator/run.h
src/cli/session.h report/hdf5.h
src/cli/session.h report/scene.h
END
grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*/[^"]*"' src/cli/*.[ch] | sed 's/:.*"\(.*\)"/ \1/' |
    grep -vE ' (cli|base)/' | LC_ALL=C sort -u | LC_ALL=C comm -3 - "$bad.allowed" | awk -F'\t' '
    $1 != "" { sub(/ /, ": the command must not include ", $1); print $1 }
    $2 != "" { print $2 ": no longer included; take the line out of the list in tests/run_tree.sh" }' >>"$bad"

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
