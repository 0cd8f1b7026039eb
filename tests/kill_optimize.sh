#!/bin/sh
# SPDX-License-Identifier: MIT
# kill_optimize.sh BUILD SOURCE COUNT: an optimisation is killed (-9) at COUNT random moments. No file is ever cut short, the
# best design is always a model file, and --resume always ends in the design of the run that nobody disturbed, to the bit.
set -eu
build=$1 source=$2 count=$3
[ -x "$build/costate" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=$source/examples/five-bar/model.yaml

now() { date +%s.%N; }
design() { sed -n '/"design": {/,/}/p' "$1"; }
search() { "$build/costate" optimize "$model" --step 0.02 --end 1 --method "$method" --out "$work/run" "$@"; }

whole() { # every line of history.csv is complete, result.json ends, best.yaml is a model
    for file in "$work"/run/*; do
        case $file in
        */history.csv) awk -F, 'NR == 1 { n = NF } NF != n { exit 1 } END { exit NR < 2 }' "$file" ;;
        */result.json) [ "$(tail -n 1 "$file")" = "}" ] ;;
        */best.yaml) "$build/costate" check "$file" >/dev/null ;;
        */initial.csv | */best.csv) awk -F, 'NR == 1 { n = NF } NF != n { exit 1 } END { exit NR < 40 }' "$file" ;;
        esac || { echo "$file is not whole"; exit 1; }
    done
}

killed=0
k=0
last=ipopt
"$build/costate" --version | grep -q '^  Ipopt .*not installed' && last=auglag && echo "skipped: --method ipopt (Ipopt is not installed)"
while [ "$k" -lt "$count" ]; do
    case $((k % 4)) in 0) method=lbfgsb ;; 1) method=slsqp ;; 2) method=mma ;; 3) method=$last ;; esac
    if [ ! -f "$work/$method" ]; then
        from=$(now)
        search --json >"$work/first"
        design "$work/first" >"$work/$method"
        echo "$from $(now)" | awk '{ print $2 - $1 }' >"$work/$method.time"
    fi
    rm -rf "$work/run"
    moment=$(awk -v k="$k" -v pid=$$ 'BEGIN { srand(k + pid); getline t < ARGV[1]; print rand() * t }' "$work/$method.time")
    (exec "$build/costate" optimize "$model" --step 0.02 --end 1 --method "$method" --out "$work/run" --quiet) & victim=$!
    sleep "$moment"
    kill -9 "$victim" 2>/dev/null && killed=$((killed + 1))
    wait "$victim" 2>/dev/null || true
    [ -d "$work/run" ] && whole
    search --resume --json >"$work/json" || { echo "kill $k ($method, after $moment s): --resume fails"; exit 1; }
    design "$work/json" | cmp - "$work/$method" || { echo "kill $k ($method, after $moment s): another design"; exit 1; }
    whole
    k=$((k + 1))
done
echo "$killed of $count were killed while they ran"
[ "$killed" -gt 0 ]
