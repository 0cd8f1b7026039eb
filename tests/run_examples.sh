#!/bin/sh
# SPDX-License-Identifier: MIT
# Every example runs, and meets its expected.csv: lines WHAT,VALUE,TOLERANCE (absolute), where WHAT is
# end:MEASURE, objective:NAME or gradient:OBJECTIVE:NUMBER, and an optional line "# options ..." for the command.
set -eu
build=$1 source=$2
[ -x "$build/costate" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# one line NAME VALUE per number of a JSON object: a section's members get its prefix
flat() {
    awk '
        /": \{$/ {
            split($0, q, "\"")
            if (q[2] == "gradient") in_gradient = 1; else section = q[2]
            next
        }
        /^  \}/ { section = ""; in_gradient = 0; next }
        /": -?[0-9]/ {
            split($0, q, "\""); value = $NF; sub(/,$/, "", value)
            if (in_gradient) print "gradient:" section ":" q[2], value
            else if (section == "objectives") print "objective:" q[2], value
            else if (section == "measures_end") print "end:" q[2], value
        }' "$1"
}

for model in "$source"/examples/*/model.yaml; do
    dir=$(dirname "$model")
    name=$(basename "$dir")
    expected=$dir/expected.csv
    [ -f "$expected" ] || { echo "$name: expected.csv is missing"; failed=1; continue; }
    options=$(sed -n 's/^# options //p' "$expected")
    # shellcheck disable=SC2086
    "$build/costate" simulate "$model" $options --output 1 --json --out "$work/$name" >"$work/end.json" ||
        { failed=1; continue; }
    flat "$work/end.json" >"$work/values"
    if grep -q '^gradient:' "$expected"; then
        wrt=$(sed -n 's/^gradient:[^:]*:\([^,]*\),.*/\1/p' "$expected" | sort -u | paste -sd, -)
        # shellcheck disable=SC2086
        "$build/costate" gradient "$model" $options --wrt "$wrt" --json --out "$work/$name" \
            >"$work/gradient.json" || { failed=1; continue; }
        flat "$work/gradient.json" | grep '^gradient:' >>"$work/values"
    fi
    awk -F, -v model="$name" -v values="$work/values" '
        BEGIN { while ((getline line < values) > 0) { split(line, f, " "); have[f[1]] = f[2] } }
        /^#/ || NF < 3 { next }
        {
            n++
            if (!($1 in have)) { print model ": there is no " $1; bad++; next }
            off = have[$1] - $2; if (off < 0) off = -off
            if (off / $3 > worst) worst = off / $3
            if (off <= $3) next
            printf "%s: %s is %s, expected %s within %s, off by %.3g\n", model, $1, have[$1], $2, $3, off
            bad++
        }
        END {
            if (!n) { print model ": expected.csv is empty"; bad++ }
            if (!bad) printf "%s: %d values, at most %.0f %% of their tolerances\n", model, n, 100 * worst
            exit bad > 0
        }' "$expected" || failed=1
done
exit $failed
