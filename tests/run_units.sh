#!/bin/sh
# SPDX-License-Identifier: MIT
# Units, definitions and texts of objectives and measures: terminal, JSON, page (tests/report/units.mjs, where a browser is there).
. "$2/tests/begin.sh"
prints() { grep -qe "$1" out || fail "standard output should say: $1"; }
cat >turn.yaml <<'EOF'
costate: 1
name: Turning rod
parameters: {L: {value: 0.5, unit: m, doc: length of the rod}}
points: {A: [0, 0, 0], B: [L, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 2}}
joints: {pivot: {type: revolute, between: [ground, rod], at: A, axis: y}}
measures:
  turn: {type: joint, of: pivot, unit: deg, doc: angle of the rod}
  rise: {type: position, of: rod.B, unit: mm}
  R: {type: reaction, of: pivot}
  climb: rate(rise.z)
objectives:
  tilt: {value: peak(turn), unit: deg, doc: how far it turns}
  push: peak(norm(R.force))
simulation: {end: 0.2, step: 2 ms}
EOF
"$costate" simulate turn.yaml --out simulate >out 2>err || fail "simulate"
prints "^  turn.rate  *deg/s "; prints "^  turn.acceleration  *deg/s^2 "; prints "^  rise.x  *mm  *500 "; prints "^  climb  *m/s "
prints "^  tilt  *[0-9.]*  deg  *peak(turn): how far it turns$"; prints "^  push  *[0-9.]*  N  *peak(norm(R.force))$"
python3 - <<'EOF' 2>>err || fail "SI in files, and what is shown"
import csv, json, math
j, rows = json.load(open("simulate/run.json")), list(csv.DictReader(open("simulate/measures.csv")))
d = j["definitions"]
assert d["tilt"] == {"text": "peak(turn)", "doc": "how far it turns", "unit": "", "shown_unit": "deg", "shown_factor": math.pi / 180}, d
assert d["push"] == {"text": "peak(norm(R.force))", "unit": "N", "shown_unit": "N", "shown_factor": 1}, d
assert j["units"]["climb"] == "m/s" and j["units"]["rise.x"] == "m" and j["measure_definitions"]["turn.rate"]["shown_unit"] == "deg/s"
assert j["objectives"]["tilt"] == max(float(r["turn"]) for r in rows) and float(rows[0]["rise.x"]) == 0.5
shown = next(line.split() for line in open("out") if line.split()[:1] == ["tilt"])
assert abs(float(shown[1]) * math.pi / 180 - j["objectives"]["tilt"]) < 1e-9
EOF
"$costate" gradient turn.yaml --out gradient --report >out 2>err || fail "gradient"
prints "^tilt = [0-9.]* deg$"; prints "^peak(turn): how far it turns$"; prints "^push = [0-9.]* N$"
python3 - <<'EOF' 2>>err || fail "slopes in the unit that is shown"
import json, math
j = json.load(open("gradient/gradient.json"))
line = next(x.split() for x in open("out") if x.split()[:1] == ["L"])
assert line[4] == "mm" and abs(float(line[3]) / (1e-3 * j["gradient"]["tilt"]["L"] * 180 / math.pi) - 1) < 1e-5, line
assert j["numbers"]["L"]["doc"] == "length of the rod" and j["units"] == {"tilt": "", "push": "N"}
EOF
if [ -s gradient/report.html ] && command -v node >/dev/null 2>&1 && command -v "${CHROMIUM:-chromium}" >/dev/null 2>&1; then
    node "$source/tests/report/units.mjs" "$tmp" || fail "the page"
else
    echo "skipped: the page (nodejs, chromium or the viewer is missing)"
fi
exit $failed
