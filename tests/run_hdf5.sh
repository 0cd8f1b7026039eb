#!/bin/sh
# SPDX-License-Identifier: MIT
# --hdf5: other programs (h5py, h5dump) find in results.h5 what the other files of a run say, bit by bit, with units,
# scales and places; a stopped run leaves a whole file; a failing one leaves an earlier file alone.
set -u
build=$1 source=$2
costate=$build/costate
[ -x "$costate" ] || exit 77
"$costate" --version | grep -q '^  HDF5 .*not installed' && { echo "skipped: HDF5 is not installed"; exit 77; }
for python in python3 /usr/bin/python3; do
    "$python" -c "import h5py" 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "python3-h5py is not there"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
five=$source/examples/five-bar/model.yaml

"$costate" simulate "$five" --end 0.5 --step 1e-4 --output 2e-4 --set k=150 --hdf5 --quiet --out sim || fail "simulate --hdf5"
"$costate" gradient "$five" --end 0.2 --step 0.01 --hdf5 --quiet --out grad || fail "gradient --hdf5"
"$costate" simulate "$five" --end 0.1 --quiet --out plain || fail "simulate"
for method in direct difference continuous-direct continuous-adjoint; do
    "$costate" gradient "$five" --end 0.1 --wrt L01 --method $method --hdf5 --quiet --out grad_$method || fail "gradient --method $method --hdf5"
    "$python" -c "import h5py; assert h5py.File('grad_$method/results.h5')['gradient'].attrs['method'] == '$method'" || fail "its name: $method"
    grep -q "\"method\": \"$method\"" grad_$method/gradient.json || fail "the name of $method in gradient.json"
done
[ -e plain/results.h5 ] && fail "results.h5 without --hdf5"
ls sim/*.part 2>/dev/null && fail "a part was left behind"

"$python" - <<'END' || fail "what h5py reads"
import csv, json
import h5py

def columns(path):
    rows = list(csv.reader(open(path)))
    return {name: [float(r[i]) for r in rows[1:]] for i, name in enumerate(rows[0])}

f = h5py.File("sim/results.h5")
table, facts = columns("sim/measures.csv"), json.load(open("sim/run.json"))
assert f.attrs["layout"] == 1 and f.attrs["command"] == "simulate" and f.attrs["status"] == "done"
assert f.attrs["costate"] == facts["costate"] and f.attrs["model"] == facts["model"]["name"]
assert f["options"].attrs["step"] == 1e-4 and f["options"].attrs["events"] == "exact"
assert list(f["options/set"].asstr()) == ["k=150"]
assert f["time"].shape == (2501,) and list(f["time"]) == table["t"] and f["time"].attrs["unit"] == "s"
assert set(f["measures"]) == set(table) - {"t"}
for name, data in f["measures"].items():
    assert list(data) == table[name], name
    assert data.attrs["unit"] == facts["units"][name] and data.dims[0][0] == f["time"]
assert {k: v[()] for k, v in f["objectives"].items()} == facts["objectives"]
assert f["stats"].attrs["steps"] == facts["stats"]["steps"]
names = list(f["numbers/name"].asstr())
assert f["numbers/value"][names.index("k")] == 150 and f["numbers/unit"].asstr()[names.index("k")] == "N/m"

g = h5py.File("grad/results.h5")
result = json.load(open("grad/gradient.json"))
rows = [r for r in csv.DictReader(open("grad/gradient.csv"))]
assert g["gradient"].attrs["method"] == "adjoint"
assert list(g["gradient/numbers/name"].asstr()) == [r["number"] for r in rows]
assert list(g["gradient/numbers/place"].asstr()) == [r["place"] for r in rows]
assert list(g["gradient/numbers/unit"].asstr()) == [r["unit"] for r in rows]
assert list(g["gradient/effect/psi"].asstr()) == [r["effect"] for r in rows]
for slope, r in zip(g["gradient/slope/psi"], rows):
    assert slope == float(r["slope"]) if r["slope"] else slope != slope, r
assert g["objectives/psi"][()] == result["objectives"]["psi"] and g["time"].shape == (21,)
END

# the program that comes with HDF5 reads the same, and so does the snippet of the guide
if command -v h5dump >/dev/null 2>&1; then
    h5dump -d /measures/r2.x -y -m %.17g -w 1 sim/results.h5 | awk '/DATA {/ { on = 1; next } on && /}/ { exit } on && NF { gsub(/[ ,]/, ""); print }' >dumped
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "r2.x") k = i; next } { print $k }' sim/measures.csv >column
    "$python" -c "
a, b = [[float(x) for x in open(f)] for f in ('dumped', 'column')]
assert a == b and len(a) == 2501" || fail "what h5dump reads"
    h5dump -a /measures/r2.x/unit sim/results.h5 | grep -q '"m"' || fail "the unit that h5dump reads"
else
    echo "h5dump (hdf5-tools) is not there: its part is left out"
fi
mkdir snippet && cp -r grad snippet/results
sed -n '/^```python$/,/^```$/p' "$source/docs/guide.md" | sed '/^```/d' >snippet/read.py
(cd snippet && "$python" read.py) >out || fail "the snippet of the guide"
grep -q '^Five-bar mechanism m 0.2 ' out && grep -q '^L01 -*[0-9.]*$' out || fail "what the snippet prints: $(head -3 out)"

# identification: what estimates.csv, fit.csv, correlation.csv and history.csv say
cp -r "$source/examples/identify-strut" strut
sed -i 's/^    fast:/    fast:\n      to: 0.3/; s/^    slow:/    slow:\n      to: 0.5/; /^    tiny:/,/channels/d' strut/model.yaml
"$costate" identify strut/model.yaml --step 2e-3 --hdf5 --quiet --out fitted || fail "identify --hdf5"
"$python" - <<'END' || fail "what h5py reads of an identification"
import csv
import h5py

def same(a, b):
    return all(float(y) == x if y else x != x or abs(x) == float("inf") for x, y in zip(a, b)) and len(a) == len(b)

f = h5py.File("fitted/results.h5")
rows = list(csv.DictReader(open("fitted/estimates.csv")))
e = f["estimates"]
assert f.attrs["command"] == "identify" and f.attrs["status"] == "converged"
assert list(e["name"].asstr()) == [r["number"] for r in rows] and list(e["known"].asstr()) == [r["known"] for r in rows]
for column in ("value", "standard_error", "low", "high", "start", "lower", "upper"):
    assert same(e[column][:], [r[column] for r in rows]), column
fit = list(csv.DictReader(open("fitted/fit.csv")))
assert set(f["fit"]) == {"slow", "fast"} and sum(len(c["time"]) for x in f["fit"].values() for c in x.values()) == len(fit)
for x in f["fit"]:
    for c in f["fit"][x]:
        own = [r for r in fit if r["experiment"] == x and r["channel"] == c]
        for key in ("measured", "model", "normalised"):
            assert same(f["fit"][x][c][key][:], [r[key] for r in own]), (x, c, key)
        assert same(f["fit"][x][c]["time"][:], [r["t"] for r in own])
total = sum((c["normalised"][:] ** 2).sum() for x in f["fit"].values() for c in x.values())
assert abs(total / e.attrs["sum_of_squares"] - 1) < 1e-9
table = list(csv.reader(open("fitted/correlation.csv")))[1:]
assert all(same(e["correlation"][i], row[1:]) for i, row in enumerate(table))
history = list(csv.DictReader(open("fitted/history.csv")))
assert same(f["history/sum_of_squares"][:], [r["sum_of_squares"] for r in history])
assert same(f["history/numbers"][-1], [history[-1][n] for n in e["name"].asstr()])
END

# optimisation: what history.csv, result.json and best.csv say; with scenarios each has a group
cat >two.yaml <<END
costate: 1
include: "$five"
design:
  minimize: psi
  variables: {L01: [1.5, 3]}
  scenarios: {soft: {set: {k: 80}, weight: 2}, a/b: {set: {k: 150}}}
END
short="--end 0.4 --step 0.02"
"$costate" optimize "$source/examples/path-generator/model.yaml" --method slsqp --hdf5 --quiet --out path || fail "optimize --hdf5"
"$costate" optimize two.yaml $short --iterations 3 --hdf5 --quiet --out two || [ $? -eq 1 ] || fail "optimize --hdf5 with scenarios"
"$python" - <<'END' || fail "what h5py reads of an optimisation"
import csv, json
import h5py

def columns(path):
    rows = list(csv.reader(open(path)))
    return {name: [float(r[i]) for r in rows[1:]] for i, name in enumerate(rows[0])}

def run(group, table, objectives):
    assert list(group["time"]) == table["t"] and set(group["measures"]) == set(table) - {"t"}
    for name, data in group["measures"].items():
        assert list(data) == table[name] and data.dims[0][0] == group["time"], name
    assert {k: v[()] for k, v in group["objectives"].items()} == objectives

f, said, history = h5py.File("path/results.h5"), json.load(open("path/result.json")), columns("path/history.csv")
assert f.attrs["command"] == "optimize" and f.attrs["status"] == said["status"] and f.attrs["reason"] == said["reason"]
assert f.attrs["method"] == "slsqp" and "scenarios" not in f
names = list(f["design/name"].asstr())
assert dict(zip(names, f["design/value"])) == said["design"]
for v, start, unit in zip(said["variables"], f["design/start"], f["design/unit"].asstr()):
    assert v["start"] == start and v["unit"] == unit
for c, name, value, multiplier in zip(said["constraints"], f["constraints/name"].asstr(), f["constraints/value"], f["constraints/multiplier"]):
    assert (c["name"], c["value"], c["multiplier"]) == (name, value, multiplier)
for column in ("iteration", "evaluations", "failures", "objective", "violation", "step"):
    assert list(f["history"][column]) == history[column], column
for i, name in enumerate(names):
    assert list(f["history/design"][:, i]) == history[name], name
for j, name in enumerate(f["constraints/name"].asstr()):
    assert list(f["history/constraints"][:, j]) == history[name], name
run(f, columns("path/best.csv"), said["objectives"])

g, said = h5py.File("two/results.h5"), json.load(open("two/result.json"))["objectives"]
assert set(g["scenarios"]) == {"soft", "a_b"} and "time" not in g and g["scenarios/soft"].attrs["weight"] == 2
for own, name in (("soft", "soft"), ("a_b", "a/b")):
    run(g["scenarios"][own], columns("two/best-%s.csv" % name.replace("/", "-")),
        {k[len(name) + 1:]: v for k, v in said.items() if k.startswith(name + ".")})
END
if command -v h5dump >/dev/null 2>&1; then
    h5dump -d /history/objective -y -m %.17g -w 1 path/results.h5 | awk '/DATA {/ { on = 1; next } on && /}/ { exit } on && NF { gsub(/[ ,]/, ""); print }' >dumped
    awk -F, 'NR > 1 { print $4 }' path/history.csv >column
    cmp -s dumped column || fail "the history that h5dump reads"
fi

# a run that fails half-way: the rows up to there, no objectives, and the status says so
cat >snap.yaml <<'END'
costate: 1
gravity: [0, 0, 0]
points: {A: [0, 0, 0]}
bodies: {p: {type: point, mass: 1, position: A, velocity: [1, 0, 0]}}
measures: {x: {type: position, of: p}}
forces: {f: {type: force, on: p, direction: x, magnitude: 1/sqrt(0.5 - x.x)}}
objectives: {far: end(x.x)}
simulation: {end: 2, step: 0.01}
END
"$costate" simulate snap.yaml --hdf5 --quiet --out snap 2>err
[ $? -eq 1 ] || fail "snap.yaml should fail half-way"
"$python" -c "
import h5py
f = h5py.File('snap/results.h5')
assert f.attrs['status'] != 'done' and len(f['objectives']) == 0
assert 2 < len(f['time']) == len(f['measures/x.x']) < 200" || fail "what a failed run leaves"

# a file that cannot be written to its end is an error, and what was there stays
mkdir blocked && echo earlier >blocked/results.h5
(trap '' XFSZ; ulimit -f 64; exec "$costate" simulate "$five" --end 0.1 --hdf5 --quiet --out blocked) 2>err
[ $? -eq 1 ] || fail "a file that cannot be written"
grep -q 'results.h5: error: cannot be written' err || fail "no message: $(cat err)"
[ "$(cat blocked/results.h5)" = earlier ] || fail "the earlier file was touched"
exit $failed
