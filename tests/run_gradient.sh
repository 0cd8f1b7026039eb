#!/bin/sh
# SPDX-License-Identifier: MIT
# costate gradient: reference values, the three methods, refused numbers, names and patterns, files, --check.
. "$2/tests/begin.sh"
# expect STATUS ARGUMENTS...: runs costate gradient; what it prints is in the files out and err
expect() {
    want=$1; shift
    "$costate" gradient "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate gradient $*: status $got, not $want"
}
says() { grep -qe "$1" err || fail "standard error should say: $1"; }
prints() { grep -qe "$1" out || fail "standard output should say: $1"; }
silent() { [ ! -s out ] || fail "nothing should be printed"; }
# holds EXPRESSION: Python on j, the JSON object in the file out (or in $2)
holds() {
    python3 -c "
import json, sys
j = json.load(open('${2:-out}'))
sys.exit(0 if ($1) else 1)" 2>>err || fail "not true: $1"
}
five=$source/examples/five-bar/model.yaml
mkdir sub; cp "$five" sub/five.yaml
short="--end 0.5 --step 0.01"
elbow=$(grep -n '^ *elbow_1:' sub/five.yaml | cut -d: -f1) # its line

cat >fall.yaml <<'END'
costate: 1
name: Falling stone
parameters:
  g: {value: 10, unit: m/s^2}
  v0: {value: 0, unit: m/s}
  idle: 3
gravity: [0, 0, -g]
points: {A: [0, 0, 1]}
bodies:
  stone: {type: point, mass: 2, position: A, velocity: [v0, 0, 0]}
measures:
  p: {type: position, of: stone}
objectives:
  height: end(p.z)
  "far": end(p.x)*g
design:
  variables: [g]
simulation: {end: 1, step: 0.01}
END
sed 's/^  height: .*/  height: "max(end(p.x), 0)"/; /far/d' fall.yaml >kink.yaml
sed '/^objectives/,/far/d' fall.yaml >aimless.yaml
sed '/^design/,/variables/d' fall.yaml >plain.yaml
sed 's/variables: .*/variables: [gg]/' fall.yaml >wrong.yaml

# ---- reference: second order in the step, so that two runs give the limit ----
expect 0 "$five" --wrt L01,L02 --step 2e-3 --json; cp out coarse.json
expect 0 "$five" --wrt L01,L02 --step 1e-3 --json; cp out fine.json
python3 - <<'END' 2>>err || fail "the five-bar's gradient"
import json
a, b = (json.load(open(n)) for n in ("coarse.json", "fine.json"))
assert set(a) >= {"objectives", "gradient", "refused", "stats"}
assert set(a["stats"]) == {"steps", "iterations", "factorizations", "forward_s", "gradient_s", "steps_again", "state_bytes"}
assert b["stats"]["steps"] == 5000 and b["stats"]["forward_s"] > 0 and b["stats"]["gradient_s"] > 0
assert a["refused"] == {"psi": {}} and list(a["gradient"]["psi"]) == ["L01", "L02"]
for name, exact in (("L01", -4.22881085524), ("L02", 3.21160410299)):
    x, y = a["gradient"]["psi"][name], b["gradient"]["psi"][name]
    assert abs(y - exact) < 2e-5, (name, y)
    assert abs(y + (y - x) / 3 - exact) < 1e-7, (name, y + (y - x) / 3)
END

# ---- closed form: z = 1 - g t^2/2, x g = v0 t g ----
expect 0 fall.yaml --json --out free
holds "abs(j['objectives']['height'] + 4) < 1e-12"
holds "abs(j['gradient']['height']['g'] + 0.5) < 1e-12 and abs(j['gradient']['height']['A.z'] - 1) < 1e-12"
holds "abs(j['gradient']['far']['v0'] - 10) < 1e-11 and abs(j['gradient']['height']['stone.mass']) < 1e-12"
for method in direct difference; do
    expect 0 fall.yaml --json --method $method
    holds "abs(j['gradient']['height']['g'] + 0.5) < 1e-9 and abs(j['gradient']['far']['v0'] - 10) < 1e-8 and j['method'] == '$method'"
done
python3 - <<'END' 2>>err || fail "gradient.csv"
import csv, json
rows = list(csv.DictReader(open("free/gradient.csv")))
j = json.load(open("free/gradient.json"))
assert list(rows[0]) == ["objective", "number", "value", "unit", "slope", "relative", "size", "effect", "place", "influence", "per", "slope_per"]
assert len(rows) == sum(len(g) for g in j["gradient"].values()) and j["command"] == "gradient"
for r in rows:
    assert float(r["slope"]) == j["gradient"][r["objective"]][r["number"]]
    assert float(r["relative"]) == float(r["slope"]) * float(r["value"])
    assert float(r["size"]) > 0 and abs(float(r["influence"])) == abs(float(r["slope"])) * float(r["size"])
    assert r["per"] == ("mm" if r["number"].startswith("A.") else "" if r["unit"] == "1" else r["unit"])
    assert float(r["slope_per"]) == float(r["slope"]) * (1e-3 if r["per"] == "mm" else 1)
    assert (r["effect"] == "exact") == (float(r["slope"]) != 0), r
    file, line, col = r["place"].split(":")
    text = open(file).read().splitlines()[int(line) - 1][int(col) - 1:]
    assert float(text.split(",")[0].rstrip("]}")) == float(r["value"]), (r, text)
    n = j["numbers"][r["number"]]
    assert n["value"] == float(r["value"]) and n["unit"] == r["unit"] and n["place"] == r["place"]
    assert j["effects"][r["objective"]][r["number"]] == r["effect"]
assert j["units"] == {"height": "m", "far": "m^2/s^2"}
[g] = [r for r in rows if r["number"] == "g" and r["objective"] == "height"]
assert g["unit"] == "m/s^2" and g["value"] == "10"
END

# the measures at the end are those of the simulation, whatever was run after it; checkpoints have a price
"$costate" simulate sub/five.yaml $short --out five --json >end.json 2>err || fail "simulate"
for how in "" --check "--method difference" "--memory 20k"; do
    expect 0 sub/five.yaml $short --wrt L01 --json --out five $how
    holds "j['measures_end'] == json.load(open('end.json'))['measures_end'] and len(j['measures_end']) > 0"
    [ "$how" = "--memory 20k" ] || holds "j['stats']['steps_again'] == 0 and j['stats']['state_bytes'] > 0"
done
holds "j['stats']['steps_again'] > 0 and j['stats']['steps'] == 50"
expect 2 fall.yaml --method difference --difference central --width 3; says "width must be in \[1e-15, 1\], not '3'"
expect 2 fall.yaml --method difference --difference central --width -1; says "width must be positive"

# ---- an upright wheel that slips to the side reads |camber| ----
cat >upright.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {v: 10, side: 0.2, tilt: 0}
points: {hub: [0, 0, 0.29]}
roads: {lane: {type: plane}}
bodies:
  wheel: {type: rigid, position: hub, mass: 300, inertia: [5, 9, 5], velocity: [v, side, 0], angular_velocity: [0, v/0.29, 0]}
  cart: {type: rigid, position: hub, mass: 5, inertia: [5, 5, 5], velocity: [v, side, 0]}
joints:
  a: {type: constant-angle, between: [ground, cart], axis_1: x, axis_2: z}
  b: {type: constant-angle, between: [ground, cart], axis_1: y, axis_2: z}
  c: {type: constant-angle, between: [ground, cart], axis_1: x, axis_2: y}
  axle: {type: revolute, between: [cart, wheel], at: hub, axis: ["0", "cos(tilt)", "sin(tilt)"]}
forces:
  ti: {type: magic-tire, wheel: wheel, road: lane, axis: ["0", "cos(tilt)", "sin(tilt)"], radius: 0.3, stiffness: 2e5, damping: 2000}
measures:
  p: {type: position, of: cart.com}
objectives: {aside: end(p.y)}
simulation: {end: 0.3, step: 2 ms}
END
expect 1 upright.yaml --wrt tilt --check; says "upright.yaml:15:3: warning: t = 0 s: 'ti' stays on a kink of its law"; prints "two slopes: "
sed 's/side: 0.2/side: 0/' upright.yaml >straight.yaml
expect 0 straight.yaml --wrt v,wheel.mass; ! grep -q "stays on a kink" err || fail "a wheel that runs straight is on no kink"

# ---- for people ----
expect 0 fall.yaml
prints "^height = -4 m$"; prints "^far = 0 m^2/s^2$"
prints "^  g  *10 *m/s^2  *-0.5  *m/s^2  *-5  *--------------------  *fall.yaml:4:14$"
prints "^  A.z  *1 *m  *+0.001  *mm  *+1  *++++  "
prints "numbers have no effect on any objective: .*idle"; prints "stone.mass"
prints "Falling-stone/gradient.csv"
! grep -q "$(printf '\033')" out || fail "escape codes in a file"
# a coordinate that is rounding of 0 moves the stone like one that is 0, and so do differences with it
sed 's/A: \[0, 0, 1\]/A: [6.1e-17, 0, 1]/; /far/s/end.*/2*end(p.x)/' fall.yaml >rounding.yaml
expect 0 rounding.yaml --check; prints "^  A.x  *6.1e-17 *m  *+0.002  *mm  *+2  *+"; prints "coordinates of points by 1 m"; prints "confirmed"
expect 0 fall.yaml --quiet; silent
# with many objectives what is common to them is listed once; how many have no effect on each is what the files say
sed 's/^  psi: .*/&\n  a: end(d.x)\n  b: end(d.y)\n  c: peak(d.x)\n  e: rms(d.y)\n  f: mean(d.x)\n  h: end(d.x*d.y)/' sub/five.yaml >many.yaml
expect 0 many.yaml $short --out many
for name in pivot_A.axis.x gravity.z; do [ "$(grep -c "$name" out)" -eq 1 ] || fail "$name is listed $(grep -c "$name" out) times"; done
python3 - <<'END' 2>>err || fail "numbers without effect"
import csv, re
said = [int(n) for n in re.findall(r"^(\d+) numbers have no effect:", open("out").read(), re.M)]
rows = list(csv.DictReader(open("many/gradient.csv")))
names = list(dict.fromkeys(r["objective"] for r in rows))
assert said == [sum(r["objective"] == o and r["effect"].startswith("has no effect") for r in rows) for o in names], said
END
expect 0 sub/five.yaml $short --top 2 --out five
prints "and [0-9]* more in five/gradient.csv"
[ "$(grep -c 'sub/five.yaml:[0-9]' out)" -eq 4 ] || fail "--top 2: two rows of the gradient, two that are refused"

# ---- a planar loop is closed three times too often: its axes cannot change alone, its z coordinates can ----
expect 0 sub/five.yaml $short --json --out five
holds "set(j['refused']['psi']) == {'%s.axis.%s' % (p, c) for p in ('pivot_A', 'elbow_1', 'elbow_2', 'elbow_3', 'pivot_B') for c in 'xy'}"
holds "all('loop' in why for why in j['refused']['psi'].values())"
holds "not set(j['refused']['psi']) & set(j['gradient']['psi']) and len(j['gradient']['psi']) == 30"
holds "all(abs(j['gradient']['psi'][p + '.z']) < 1e-12 for p in ('A', 'P1', 'P2', 'P3', 'B'))"
grep -q "^psi,elbow_1.axis.x,0,1,,,1,cannot change.*sub/five.yaml:$elbow:" five/gradient.csv || fail "a refused number in gradient.csv"
expect 0 sub/five.yaml $short --wrt elbow_1.axis.x,L01
prints "1 number has no gradient: cannot change by itself"; prints "^  elbow_1.axis.x  *sub/five.yaml:$elbow:"

# ---- names ----
names() { python3 -c "import json; print(' '.join(json.load(open('out'))['gradient']['${1:-height}']))"; }
for wrt in design "g, g" "g*" "gg,g" "?"; do
    expect "$([ "$wrt" = "gg,g" ] && echo 2 || echo 0)" fall.yaml --wrt "$wrt" --json
    [ "$wrt" = "gg,g" ] || [ "$(names)" = g ] || [ "$wrt" = "g*" ] || fail "--wrt '$wrt' is $(names)"
done
expect 0 plain.yaml --wrt design --json; [ "$(names)" = "g v0 idle" ] || fail "parameters are the design: $(names)"
expect 0 fall.yaml --wrt "A.*,v?" --json; [ "$(names)" = "v0 A.x A.y A.z" ] || fail "patterns: $(names)"
expect 0 fall.yaml --wrt all --json; [ "$(names | wc -w)" -ge 9 ] || fail "all: $(names)"
# commas within brackets are part of a name
sed 's/^objectives/initial: {positions: {"hypot(p.z, p.y)": 1.5}}\nobjectives/' plain.yaml >comma.yaml
expect 0 comma.yaml --wrt "initial.positions.hypot(p.z, p.y)" --json; holds "list(j['numbers']) == ['initial.positions.hypot(p.z, p.y)']"
expect 0 comma.yaml --wrt "g, initial.positions.hypot(p.z, p.y),A.z" --json; holds "len(j['numbers']) == 3"
expect 0 comma.yaml --wrt "*hypot(*,g" --json; holds "len(j['numbers']) == 2"
expect 2 fall.yaml --wrt stone.maas; says "there is no number 'stone.maas'; did you mean 'stone.mass'"; silent
expect 2 fall.yaml --wrt velocity; says "no number 'velocity'"
expect 2 fall.yaml --wrt stone; says "did you mean 'stone.\*'"
expect 2 fall.yaml --wrt "x*"; says "no number matches 'x\*'"
expect 2 fall.yaml --wrt ","; says "names no number"
expect 2 fall.yaml --wrt gg --json; holds "'no number' in j['messages'][-1]"
expect 2 wrong.yaml --wrt design; says "wrong.yaml:17:15: error: there is no number 'gg'; did you mean 'g'"
expect 2 aimless.yaml; says "no objectives"
expect 2 fall.yaml --method adjont; says "did you mean 'adjoint'"

# ---- check ----
expect 0 sub/five.yaml $short --check --json --out five
holds "j['check']['confirmed'] and set(j['check']['verdicts']['psi'].values()) == {'agree', 'refused'}"
holds "len([v for v in j['check']['verdicts']['psi'].values() if v == 'refused']) == 10"
holds "[j['check']['identities']['psi'][b]['verdict'] for b in ('mass', 'length')] == ['holds', 'holds']"
holds "j['check']['identities']['psi']['mass']['exponent'] == 0 and j['check']['identities']['psi']['length']['exponent'] == 2"
[ "$(wc -l <five/check.csv)" -eq 41 ] || fail "rows of check.csv"
expect 0 sub/five.yaml $short --check --wrt L0?,elbow_1.axis.x
prints "L01 .*agree$"; prints "elbow_1.axis.x  *refused$"; prints "2 agree, 0 differ"; prints "length^2"; prints "confirmed"
expect 0 fall.yaml --check
# a law that is not in its units hides a length: differences say that the gradient is right all the same
cat >hidden.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {k: {value: 30, unit: N/m}}
points: {O: [0, 0, 0], B: [1, 0, 0]}
bodies: {bob: {type: point, position: B, mass: 2, velocity: [0, 0.5, 0]}}
forces: {s: {type: spring, from: ground.O, to: bob.B, force: k*s^2}}
measures: {p: {type: position, of: bob.B}}
objectives: {psi: end(p.x)}
simulation: {end: 0.3, step: 0.01}
END
expect 0 hidden.yaml --check; prints "length: .*"; prints "FAILS"; prints "not one of its numbers"; prints "confirmed"
expect 1 hidden.yaml --check --wrt k; prints "in doubt"
# gravity that is left out is no number of the file: the identity is not stated
sed '/^gravity/d' hidden.yaml >weight.yaml
expect 0 weight.yaml --check; prints "length: the identity is not checked, gravity is not written"; prints "confirmed"
# only numbers that are 0 act: the rest is rounding of their slopes, and differs by as much
cat >zeros.yaml <<'END'
costate: 1
gravity: [0, -9.81, 0]
points: {A: [0.1, 0, 0], B: [0.5, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 1, radius: 0.01}}
joints: {a: {type: revolute, between: [ground, rod], at: A, axis: z}}
measures: {p: {type: position, of: rod.B}, R: {type: reaction, of: a}}
objectives: {os: start(p.y), o2: start(R.force.x)}
simulation: {end: 0.1, step: 2 ms}
END
expect 0 zeros.yaml --check; prints "14 agree, 0 differ"; prints "confirmed"
# a difference that is wrong by a fifth of the slope, and knows it, confirms nothing, however small that slope is among the others; narrower
# ones do
cat >slips.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
points: {hub: [0, 0, 0.29]}
bodies:
  w: {type: rigid, position: hub, mass: 12, inertia: [0.5, 0.9, 0.5], velocity: [4, 0.2, 0], angular_velocity: [0, 12.6, 0]}
joints: {g: {type: constant-angle, between: [ground, w], axis_1: x, axis_2: y}}
forces: {tire: {type: tire, wheel: w, radius: 0.3, stiffness: 9e4, damping: 150}}
measures: {c: {type: tire, of: tire}}
objectives: {load: rms(c.normal)}
simulation: {end: 0.3, step: 2 ms}
END
expect 0 slips.yaml --check --json; holds "j['check']['verdicts']['load']['w.velocity.x'] == 'agree'"
holds "j['check']['verdicts']['load']['tire.radius'] == 'agree' and j['check']['confirmed']"
expect 0 slips.yaml; prints "^load = [0-9.]* N$"
# units that are written behind literals are shown, in SI
cat >units.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], B: [1, 0, 0]}
bodies: {bob: {type: point, position: B, mass: 2, velocity: [0, 0.5, 0]}}
forces: {s: {type: spring, from: ground.O, to: bob.B, force: 30 kN/m*(s - 800 mm) + 2 N*s/m*v}}
measures: {p: {type: position, of: bob.B}}
objectives: {psi: end(p.x)}
simulation: {end: 0.3, step: 0.01}
END
expect 0 units.yaml --check; prints "s.force\[1\]  *30000  *N/m "; prints "s.force\[2\]  *0.8  *m "; prints "s.force\[3\]  *2  *N\*s/m "
prints "length: psi scales with length^1;"; prints "confirmed"
# an objective on its own kink is refused, with the operation; beside it there is a gradient
expect 0 kink.yaml --wrt v0,g; prints "^  v0 .*+1!"; prints "^!: the slope is that of the side"; prints "1 number has no effect: g"
says "kink.yaml:14:3: warning: t = 1 s: 'height' is on a kink: with respect to 'v0' slopes are those of one side"
expect 0 kink.yaml --check --wrt v0 --set v0=1; prints "1 agree"
# a law that rests on its kink: numbers that move it are refused, also beside others
cat >rest.yaml <<'END'
costate: 1
gravity: [0, 0, 0]
points: {A: [0, 0, 0.5], O: [0, 0, 0]}
bodies: {m: {type: point, position: A, mass: 2}}
forces: {s: {type: spring, from: ground.O, to: m, force: "300*abs(s - 0.5)"}}
measures: {p: {type: position, of: m}}
objectives: {o: end(p.z)}
simulation: {end: 0.2, step: 2 ms}
END
expect 0 rest.yaml --check --wrt A.z,m.mass; prints "1 agree.*1 with two slopes"; prints "confirmed"
# x'' = -w^2 |x|, w^2 = 150: from -e it falls as cosh, from e as cos until it passes 0 and goes on as -sinh
expect 0 rest.yaml --sides A.z --step 0.1ms --json
holds "abs(j['sides']['below']['o']['A.z'] - 5.83439) < 1e-3 and abs(j['sides']['above']['o']['A.z'] + 0.9962) < 1e-3 and j['sides']['answers']['o']['A.z'] == 'two slopes'"
says "rest.yaml:5:10: warning: t = 0 s: 's' stays where its law has no derivative: with respect to 'A.z' there is no derivative"
# a number that the kink does not touch is confirmed, and nothing need be said
expect 0 rest.yaml --check --wrt m.mass; prints "1 agree"; prints "confirmed"; test -s err && fail "nothing should be said"
expect 1 rest.yaml --check --wrt A.z --json

# the help is whole
"$costate" help gradient | tr "\n" " " | grep -q "not marked as that of one side" || fail "the help of gradient is cut"
# beyond a singular position there is no derivative by what would open a loop in it; by all others there is
expect 0 "$2/examples/n-four-bar/model.yaml" --wrt A0.x,B1.x,g,v0,link0.mass; prints "2 numbers have no gradient: the objective"
says "t = 0.7144 s: the mechanism passes a singular position; there are no later slopes with respect to 2 numbers that would open a loop in it"
expect 0 "$2/examples/n-four-bar/model.yaml" --wrt A0.x,B1.x,g --end 0.6 --step 2ms --check; prints "3 agree"; prints "confirmed"

# ---- check: the verdict says what is not confirmed ----
# what moves with an instant that is not located is not in the gradient, and differences within one order of steps do not see it
cat >loose.yaml <<'END'
costate: 1
gravity: [0, 0, 0]
parameters: {p: 0.5, v0: 1}
bodies: {m: {type: point, mass: 1, position: [0, 0, 0], velocity: [v0, 0, 0]}}
measures:
  x: {type: position, of: m.origin}
  way: integral(x.x)
objectives:
  late: integral(if(way > 0.1*p, 1, 0))
simulation: {end: 1, step: 0.01}
END
expect 1 loose.yaml --check; says "an integral switches by running integrals at an instant that is not located"
prints "0 differ"; prints "^The gradient is incomplete; it leaves out how instants move"
! grep -q confirmed out || fail "confirmed, although something is left out"
expect 1 loose.yaml --check --json
holds "not j['check']['confirmed'] and j['check']['verdict'] == 'incomplete' and j['check']['left_out'] == ['instants']"
expect 0 loose.yaml --json; holds "'check' not in j"
# the same of what is located: nothing is left out, unless the user says so
sed 's/late: .*/late: "integral(if(x.x > p, 1, 0))"/' loose.yaml >located.yaml
expect 0 located.yaml --check --json
holds "j['check']['confirmed'] and j['check']['verdict'] == 'confirmed' and j['check']['left_out'] == []"
for events in none frozen; do
    expect 1 located.yaml --check --wrt m.position.y --events $events
    prints "1 agree, 0 differ"; prints "it leaves out how the instants of events move"
done
expect 0 located.yaml --check --wrt v0 --events none --set p=3; prints "confirmed" # nothing switches
# an event that is only grazed, one that turns back at its switch, two at one instant whose order matters
cat >thrown.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {zs: 0.2038735983689}
bodies: {b: {type: point, position: [0, 0, 0], mass: 1, velocity: [1, 1, 2]}}
measures: {p: {type: position, of: b.origin}}
forces: {s: {type: force, on: b.origin, force: ["if(p.z > zs, 3, 0)", 0, 0]}}
objectives: {psi: end(p.x)}
simulation: {end: 0.5, step: 0.03}
END
expect 1 thrown.yaml --check --wrt zs; says "only grazed"; prints "1 not settled"; prints "^Nothing is confirmed of psi"
expect 0 thrown.yaml --check --wrt b.position.x; prints "1 agree"; prints "confirmed" # it moves no event
expect 0 thrown.yaml --check --wrt zs --set zs=0.2038735983692 --json; says "turns back"
holds "j['effects']['psi']['zs'] == 'the slope is that of the side that the run has taken'"
sed 's/\["if.*\]/[0, 0, "if(p.x > 0.3, 2, 1)*if(p.y > 0.3, 5, 3)"]/; s/end(p.x)/end(p.z)/' thrown.yaml >order.yaml
expect 0 order.yaml --check --wrt b.position.z,b.position.x; says "order matters: with respect to 'b.position.x'"; prints "1 agree"
prints "two slopes: +1 below, +0.6 above"
# nothing was compared, or nothing of one objective
expect 1 sub/five.yaml $short --check --wrt elbow_1.axis.x; prints "1 refused"; prints "^Nothing was compared"
expect 1 sub/five.yaml $short --check --wrt elbow_1.axis.x --json
holds "not j['check']['confirmed'] and j['check']['verdict'] == 'nothing compared'"
sed 's/^  height: .*/  height: end(p.z)\n  still: peak(p.x)/' fall.yaml >tied.yaml # all steps share the peak
expect 0 tied.yaml --check --wrt g,v0; prints "2 agree"; prints "1 agree.*1 with two slopes"; prints "^The gradient is confirmed\.$"
expect 0 tied.yaml --check --wrt g; prints "confirmed"
expect 0 tied.yaml --check --wrt v0 --json; holds "j['check']['verdicts']['still']['v0'] == 'two slopes' and j['check']['below']['still']['v0'] == 0 and abs(j['check']['above']['still']['v0'] - 1) < 1e-9"
# stretched to its limit: no length beside this one can be assembled, and there is no derivative
cat >stretched.yaml <<'END'
costate: 1
gravity: [0, 0, 0]
parameters: {L: 1}
points: {A: [0, 0, 0], B: [1, 0, 0], C: [2, 0, 0]}
bodies: {a: {type: bar, from: A, to: B, mass: 1, radius: 0.01}}
joints:
  pin: {type: revolute, between: [ground, a], at: A, axis: z}
  rope: {type: distance, from: ground.C, to: a.B, length: L}
measures: {x: {type: position, of: a.B}}
objectives: {psi: end(x.x)}
simulation: {end: 0.1, step: 0.01}
END
expect 1 stretched.yaml --check --wrt L; prints "1 refused"; prints "^Nothing was compared"
# no later instant is in the run: the slope is that to the one side that there is
cat >alone.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {T: 0.1}
bodies: {b: {type: point, position: [0, 0, 1], mass: 1}}
measures: {x: {type: position, of: b}}
objectives: {psi: "at(x.z, T)"}
simulation: {end: 0.1, step: 0.01}
END
expect 0 alone.yaml --check --wrt T,b.mass; prints "^  T .*agree: -0.93195 below$"; prints "confirmed"
# where small changes grow by 1e12 no difference settles anything; that others have no effect says nothing
cat >chaos.yaml <<'END'
costate: 1
gravity: [0, -9.81, 0]
parameters: {a: 1, b: 1}
points: {O: [0, 0, 0], P: [a, 0.1, 0], Q: ["a + b", 0.3, 0]}
bodies: {u: {type: bar, from: O, to: P, mass: 1, radius: 0.02}, w: {type: bar, from: P, to: Q, mass: 1, radius: 0.02}}
joints: {j: {type: revolute, between: [ground, u], at: O, axis: z}, k: {type: revolute, between: [u, w], at: P, axis: z}}
measures: {p: {type: position, of: w.Q}}
objectives: {psi: end(p.x)}
simulation: {end: 20, step: 10 ms}
END
expect 1 chaos.yaml --check --wrt a,b; prints "2 not settled"; prints "^Nothing is confirmed of psi: adjoint and direct agree"
# defaults with a mass or a length in them (the coefficients of a tire) are no numbers of the file: their identities are left open by
# name, whatever was asked for
cat >magic.yaml <<'END'
costate: 1
gravity: [0, 0, -9.81]
parameters: {k: {value: 5e4, unit: N/m}}
bodies:
  w: {type: rigid, position: [0, 0, 0.295], mass: 40, inertia: [1, 1.5, 1], velocity: [4, 0.2, 0], angular_velocity: [0, 13, 0]}
forces:
  t: {type: magic-tire, wheel: w, radius: 0.3, stiffness: k, damping: 800}
measures: {x: {type: position, of: w.origin}}
objectives: {way: end(x.y)}
simulation: {end: 0.1, step: 0.001}
END
for wrt in k "w.mass,t.*"; do
    expect 0 magic.yaml --check --wrt "$wrt"; prints "confirmed"; ! grep -q FAILS out || fail "--wrt $wrt: an identity fails"
    prints "mass: the identity is not checked, defaults that may have a mass .*: t.fx,"
done
expect 0 magic.yaml --check --wrt k --json
holds "all(i['verdict'] == 'not checked' and 't.fx, t.fy, t.mz' in i['why'] for i in j['check']['identities']['way'].values())"
holds "'low_speed' not in j['check']['identities']['way']['mass']['why'] and 't.low_speed' in j['check']['identities']['way']['length']['why']"

# ---- kinks: one line, where some were crossed. ----
cat >bump.yaml <<'END'
costate: 1
parameters: {p: {value: 0.5371, unit: m}}
roads: {lane: {type: bump, at: p, length: 0.3, height: 0.03}}
bodies:
  w: {type: rigid, position: [0, 0, 0.295], mass: 40, inertia: [1, 1.5, 1], velocity: [4, 0, 0], angular_velocity: [0, 13.333, 0]}
forces:
  t: {type: tire, wheel: w, road: lane, radius: 0.3, stiffness: 5e4, damping: 800}
measures: {x: {type: position, of: w.origin}}
objectives: {way: end(x.x)}
simulation: {end: 0.4, step: 0.001}
END
expect 0 bump.yaml --wrt p
prints "kinks of laws crossed: t"; prints "^kinks: exact for the computed numbers, but .*: compare with --step 0.0005$"
expect 0 bump.yaml --wrt p --formulation index1 --integrator rk45; prints "^kinks: .*compare with a tenth of the tolerance$"
expect 0 bump.yaml --wrt p --end 0.05; ! grep -q "^kinks:" out || fail "kinks before the bump"
# a switch that is only grazed is named beside another event of its instant, too: x = F/k (1 - cos(w t)) comes back to 0 with v = 0
cat >grazed.yaml <<'END'
costate: 1
gravity: [0, 0, 0]
parameters: {k: 400}
bodies: {b: {type: point, position: [0.5, 0, 0], mass: 1}}
joints: {g: {type: point-on-line, of: b, axis: x}}
forces: {s: {type: force, on: b, direction: x, magnitude: "0.1 - k*x.x - if(v.x > 0, 0, 0)*v.x"}}
measures: {x: {type: displacement, of: b}, v: {type: velocity, of: b}}
objectives: {fin: end(x.x), above: "integral(if(x.x > 0, 1, 2))"}
simulation: {end: 0.7, step: 1 ms}
END
expect 0 grazed.yaml --wrt k; says "is only grazed"
# what does not go together is wrong usage, found by the library or by the command
expect 2 fall.yaml --integrator bdf; says "does not apply to formulation"
expect 2 fall.yaml --formulation index1 --integrator bdf --method direct; says "error: "
exit $failed
