#!/bin/sh
# SPDX-License-Identifier: MIT
# Coverage: for 200 seeds of noise the truth lies inside the 95 % intervals as often as it should, for the strut and for the
# quarter car. The number of hits per unknown is binomial, 190 +- 3.1: between 178 and 199 with a probability above 0.999.
# The mean square of (estimate - truth)/standard error is 1 +- 0.1, the mean variance of the residuals 1.
#     slow_identify.sh BUILD SOURCE [strut|car]
set -u
build=$1 source=$2 only=${3:-}
costate=$build/costate
[ -x "$costate" ] || exit 77
command -v python3 >/dev/null 2>&1 || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

judge() { # judge DIRECTORY 'truth as JSON'
    python3 - "$1" "$2" <<'END'
import glob, json, sys
truth = json.loads(sys.argv[2])
runs = [json.load(open(f)) for f in glob.glob(sys.argv[1] + "/*/out.json")]
hits = {n: sum(r["intervals"][n][0] <= x <= r["intervals"][n][1] for r in runs) for n, x in truth.items()}
spread = {n: sum(((r["design"][n] - x) / r["standard_errors"][n]) ** 2 for r in runs) / len(runs) for n, x in truth.items()}
variance = sum(r["stats"]["variance"] for r in runs) / len(runs)
print(sys.argv[1], len(runs), "seeds; truth inside the 95 % intervals:", hits)
print("mean square of (estimate - truth)/standard error:", {n: round(s, 3) for n, s in spread.items()})
print("mean variance of the residuals %.4f, iterations %.1f" % (variance, sum(r["iterations"] for r in runs) / len(runs)))
ok = len(runs) == 200 and all(178 <= h <= 199 for h in hits.values())
ok &= all(0.65 < s < 1.4 for s in spread.values()) and abs(variance - 1) < 0.02
sys.exit(not ok)
END
}

failed=0
if [ "$only" != car ]; then
    python3 "$source/examples/identify-strut/measure.py" strut 1000 200
    sed 's/^    fast:/    fast:\n      to: 0.6/; s/^    slow:/    slow:\n      to: 0.8/; /^    tiny:/,/channels/d' \
        "$source/examples/identify-strut/model.yaml" >model.yaml
    for d in strut/*; do
        cp model.yaml "$d/model.yaml"
        "$costate" identify "$d/model.yaml" --json --set k=19 --set c_1=1300 --set c_2=450 --set a=110 --set b=55 --out "$d/out" \
            >"$d/out.json" || { echo "$d failed"; exit 1; }
    done
    judge strut '{"k": 20e3, "c_1": 1200, "c_2": 500, "a": 120, "b": 60}' || failed=1
fi
if [ "$only" != strut ]; then
    python3 "$source/examples/quarter-car/measure.py" car 2000 200
    for d in car/*; do
        cp "$source/examples/quarter-car/model.yaml" "$d/model.yaml"
        sed 's/start: 260/start: 205/; s/start: 8/start: 5.5/; s/start: 30e3/start: 41e3/; s/start: 13e3/start: 10.2e3/;
            s/start: 110e3/start: 153e3/; s/csv: .*/&\n      to: 0.6/' "$source/examples/quarter-car/identify.yaml" >"$d/identify.yaml"
        "$costate" identify "$d/identify.yaml" --json --out "$d/out" >"$d/out.json" || { echo "$d failed"; exit 1; }
    done
    judge car '{"m1": 200, "m3": 5, "K": 40e3, "D": 10e3, "Cz": 150e3}' || failed=1
fi
exit $failed
