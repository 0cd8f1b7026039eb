#!/bin/sh
# SPDX-License-Identifier: MIT
# The Iltis with bump stops: the continuation passes the ridges of psi where wheels meet their stops and ends in the optimum that an
# independent program describes: no leaf springs, the chassis at z = 0.5155 m, the stops just touched (0.92990 m) at both axles.
# It stands on that kink: the coarse rule of the file ends the search, and the verdict says that the gradient has not vanished.
set -eu
build=$1 source=$2
[ -x "$build/costate" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/costate" optimize "$source/examples/iltis/bump-stop.yaml" --quiet --out "$work" && { echo "stops in contact have a kink: its search cannot converge"; exit 1; }
python3 - "$work" <<'END'
import csv, json, sys
run = json.load(open(sys.argv[1] + "/result.json"))
rows = list(csv.DictReader(open(sys.argv[1] + "/best.csv")))
print(run["objectives"]["psi"], run["design"], run["iterations"], run["evaluations"])
assert run["status"] == "limit reached" and "stationary to" in run["reason"] and run["stationarity"] < 1e-3 and run["objectives"]["psi"] < 54
assert abs(run["design"]["k_L1"]) < 300 and abs(run["design"]["k_L2"]) < 300
assert abs(run["objectives"]["z_0"] - 0.5155) < 5e-4
for wheel in ("fl", "fr", "rl", "rr"):
    assert abs(min(float(r[wheel + ".leaf_length"]) for r in rows) - 0.9299) < 5e-5, wheel
END
