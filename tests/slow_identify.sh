#!/bin/sh
# SPDX-License-Identifier: MIT
# Coverage: for 200 seeds of noise the truth lies inside the 95 % intervals as often as it should. The number of hits per
# unknown is binomial, 190 +- 3.1: between 178 and 199 with a probability above 0.999. The sum of squares over its degrees of
# freedom must be 1 in the mean.
set -u
build=$1 source=$2
costate=$build/costate
[ -x "$costate" ] || exit 77
command -v python3 >/dev/null 2>&1 || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
python3 "$source/examples/identify-strut/measure.py" data 1000 200
sed 's/^    fast:/    fast:\n      to: 0.6/; s/^    slow:/    slow:\n      to: 0.8/; /^    tiny:/,/channels/d' \
    "$source/examples/identify-strut/model.yaml" >model.yaml
for d in data/*; do
    cp model.yaml "$d/model.yaml"
    "$costate" identify "$d/model.yaml" --json --set k=19 --set c_1=1300 --set c_2=450 --set a=110 --set b=55 --out "$d/out" \
        >"$d/out.json" || { echo "$d failed"; exit 1; }
done
python3 - <<'END'
import glob, json, sys
truth = {"k": 20e3, "c_1": 1200.0, "c_2": 500.0, "a": 120.0, "b": 60.0}
runs = [json.load(open(f)) for f in glob.glob("data/*/out.json")]
hits = {n: sum(r["intervals"][n][0] <= x <= r["intervals"][n][1] for r in runs) for n, x in truth.items()}
spread = {}
for n, x in truth.items():  # mean of ((estimate - truth)/error)^2, 1 +- 0.1
    spread[n] = sum(((r["design"][n] - x) / r["standard_errors"][n]) ** 2 for r in runs) / len(runs)
variance = sum(r["stats"]["variance"] for r in runs) / len(runs)
print(len(runs), "seeds; truth inside the 95 % intervals:", hits)
print("mean square of (estimate - truth)/standard error:", {n: round(s, 3) for n, s in spread.items()})
print("mean variance of the residuals: %.4f" % variance)
print("iterations: %.1f" % (sum(r["iterations"] for r in runs) / len(runs)))
ok = len(runs) == 200 and all(178 <= h <= 199 for h in hits.values())
ok &= all(0.65 < s < 1.4 for s in spread.values()) and abs(variance - 1) < 0.02
sys.exit(not ok)
END
