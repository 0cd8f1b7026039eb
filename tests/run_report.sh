#!/bin/sh
# SPDX-License-Identifier: MIT
# costate report: what it writes and refuses, and the pages in a real browser (tests/report/check.mjs).
set -u
build=$1
source=$2
costate=$build/costate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "failed: $*"; failed=1; }
model=$source/examples/five-bar/model.yaml

mkdir empty
"$costate" report empty >out 2>err && fail "a directory without results"
if grep -q "built without the viewer" err; then
    echo "SKIP: the program was built without the viewer (nodejs and npm were missing)"
    exit 77
fi
grep -q "empty: error: there are no results" err || fail "message: $(cat err)"
[ ! -e empty/report.html ] || fail "a page about nothing"
"$costate" report nowhere >out 2>err; [ $? -eq 2 ] || fail "status of a missing directory"

"$costate" gradient "$model" --out gradient --report >out 2>err || fail "gradient --report: $(cat err)"
grep -q "gradient/report.html" out || fail "gradient --report does not name the page"
cp out gradient.txt
cp "$source/docs/five-bar.svg" .
"$costate" gradient "$model" --out nothing --quiet || fail "gradient"
# long names with equal beginnings; units, definitions and doc texts
sed -i 's/,P1\.\([xy]\),/,left_front_wheel_carrier.upper_wishbone.\1,/' nothing/gradient.csv
sed -i '$s/}$/, "definitions": {"psi": {"text": "the path", "doc": "how far P2 is from its place", "shown_unit": "cm^2*s", "shown_factor": 0.01}}}/
s/"P2.y": {/&"doc": "where the first spring ends",/' nothing/gradient.json
"$costate" report nothing/ --json >out || fail "report --json"
grep -q '"file": "nothing/report.html"' out || fail "report --json: $(cat out)"

"$costate" optimize "$model" --step 5ms --iterations 3 --out optimum --quiet || [ $? -eq 1 ] || fail optimize
sed -i 's|"model": {|"note": "</script><b>", &|' optimum/result.json # a text that would end the script
"$costate" report optimum --file page.html >out || fail "report --file"
mv page.html optimum/report.html

# every other command that works on a model
cp -r "$source/examples/identify-strut" strut
sed -i 's/^    fast:/    fast:\n      to: 0.4/; s/^    slow:/    slow:\n      to: 0.6/; /^    tiny:/,/channels/d' strut/model.yaml
"$costate" identify strut/model.yaml --step 2e-3 --out identify --report >out 2>err || fail "identify --report: $(cat err)"
grep -q "identify/report.html" out || fail "identify --report does not name the page"
"$costate" compare "$model" --step 0.02 --end 0.5 --out compare --report --quiet 2>err || fail "compare --report: $(cat err)"
"$costate" check "$model" --out check --report --quiet || fail "check --report"
"$costate" simulate "$model" --step 0.02 --end 0.5 --out simulate --report --quiet || fail "simulate --report"
"$costate" optimize "$model" --step 0.02 --end 0.5 --iterations 2 --out optimize --report --quiet || [ $? -eq 1 ] || fail "optimize --report"

mkdir scenes
cat >plane.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], C: [0.1, 0, 0.1], S: [0.5, 0, 0]}
bodies:
  crank:  {type: bar, from: O, to: C, radius: 0.01, mass: 0.5}
  rod:    {type: bar, from: C, to: S, radius: 0.01, mass: 0.8}
  slider: {type: box, position: S, size: [0.06, 0.04, 0.04], mass: 2}
joints:
  pivot: {type: revolute, between: [ground, crank], at: O, axis: y}
  pin:   {type: revolute, between: [crank, rod], at: C, axis: y}
  wrist: {type: revolute, between: [rod, slider], at: S, axis: y}
  guide: {type: prismatic, between: [ground, slider], at: S, axis: x}
  motor: {type: drive-angle, between: [ground, crank], axis: y, angle: 10*t}
simulation: {end: 1, step: 0.01}
END
cat >wishbone.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
points: {LF: [0.15, 0.35, 0.2], LR: [-0.15, 0.35, 0.2], LO: [0, 0.72, 0.18]}
bodies: {lower: {type: rigid, mass: 4, position: LO, inertia: [0.05, 0.05, 0.1]}}
joints:
  lower_pivot: {type: revolute, between: [ground, lower], at: LF, axis: {from: LR, to: LF}}
  jack: {type: drive-coordinate, of: lower.LO, origin: LO, direction: z, value: 0.05*sin(t)}
simulation: {end: 1, step: 0.05}
END
cat >road.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
points: {H: [0, 0, 0.299]}
bodies:
  wheel: {type: cylinder, from: [0, -0.1, 0.299], to: [0, 0.1, 0.299], radius: 0.29, mass: 20, velocity: [8, 0, 0], angular_velocity: [0, 26.7, 0]}
forces:
  tire: {type: tire, wheel: wheel, radius: 0.3, stiffness: 200 kN/m, damping: 600}
simulation: {end: 1, step: 0.01}
END
cp "$source/examples/pendulum/model.yaml" pendulum.yaml
for scene in pendulum plane road wishbone; do
    "$costate" simulate $scene.yaml --step 0.01 --out scenes/$scene --report --quiet 2>err || fail "$scene: $(cat err)"
done

"$costate" report optimum gradient/ --file both.html >out || fail "report of two directories"
"$costate" report optimum empty --file none.html >out 2>err && fail "a page with a directory without results"
[ ! -e none.html ] || fail "half a page"

# the same directory gives the same page, and a page is complete or absent
"$costate" report optimum --quiet --file again.html && cmp -s again.html optimum/report.html || fail "two pages differ"
"$costate" report optimum --file no/such/place.html >out 2>err; [ $? -eq 1 ] || fail "status of a place that is not there"
ls ./*.part */*.part 2>/dev/null && fail "a part of a page is left"
for page in gradient nothing optimum identify compare check simulate optimize scenes/*; do
    [ "$(grep -c '</script>' $page/report.html)" -eq 2 ] || fail "$page: data ends the script"
    grep -qE '(src|href)="?(https?:)?//' $page/report.html && fail "$page: something is loaded from elsewhere"
    size=$(wc -c <$page/report.html)
    [ "$size" -lt 4000000 ] || fail "$page has $size bytes"
done

for program in node chromium; do
    command -v $program >/dev/null 2>&1 && continue
    [ $failed -eq 0 ] || exit 1
    echo "SKIP: $program is not there; the pages were written, and not looked at"
    exit 77
done
timeout 300 node "$source/tests/report/check.mjs" "$work" || failed=1
exit $failed
