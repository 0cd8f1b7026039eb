#!/bin/sh
# SPDX-License-Identifier: MIT
# What no program likes: absurd sizes, files that are none, mechanisms that cannot be, runs that fail on their way. Each
# ends with the right status, one message that names the place and the thing, and never by a signal.
set -u
build=$1
costate=$build/costate
[ -x "$costate" ] || exit 77
tmp=$(mktemp -d)
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0

fail() { echo "FAILED: $*"; sed 's/^/    out: /' out 2>/dev/null | head -n 10; sed 's/^/    err: /' err 2>/dev/null | head -n 10; failed=1; }
# expect STATUS ARGUMENTS...: 0 done, 1 the computation failed, 2 the model or the request is wrong
expect() {
    want=$1; shift
    timeout 60 "$costate" "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate $*: status $got, not $want"
}
says() { grep -qe "$1" err || fail "standard error should say: $1"; }
# model NAME: from standard input, after the line of the version
model() { { echo "costate: 1"; cat; } >"$1.yaml"; }
# lines NUMBER: errors, one per cause
lines() { [ "$(grep -c ': error: ' err)" -eq "$1" ] || fail "$1 errors expected"; }

# ---- files that are none ----
: >empty.yaml
head -c 3000 /dev/urandom >noise.yaml
printf 'costate: 1\n\000\000\000' >nul.yaml
printf '\377\376c\000o\000s\000t\000a\000t\000e\000:\000' >utf16.yaml
mkdir dir.yaml
for file in empty noise nul utf16 dir none; do
    for command in check simulate gradient; do
        expect 2 $command $file.yaml; says "^$file.yaml.*error"; lines 1
    done
done
expect 2 check ""; expect 2 check /dev/null
if [ "$(id -u)" -ne 0 ]; then
    echo "costate: 1" >locked.yaml; chmod 000 locked.yaml
    expect 2 check locked.yaml; says "locked.yaml.*Permission denied"
fi
python3 -c 'print("costate: 1\nname: " + "[" * 100000)' >deep.yaml 2>/dev/null && { expect 2 check deep.yaml; says "deep.yaml:.*error"; }

# ---- recursion ----
echo 'include: b.yaml' | model a; echo 'include: a.yaml' | model b
expect 2 check a.yaml; says "b.yaml:2:10: error: .*a.yaml"; lines 1
echo 'parts: {x: {file: p2.yaml}}' | model p1; echo 'parts: {y: {file: p1.yaml}}' | model p2
expect 2 check p1.yaml; says "p2.yaml:2:19: error: .*p1.yaml"; lines 1
echo 'parameters: {a: b, b: c, c: a}' | model cycle
expect 2 check cycle.yaml; says "cycle.yaml:2:.*a -> b -> c -> a"; lines 1
i=0
while [ $i -lt 70 ]; do echo "parts: {x: {file: q$((i + 1)).yaml}}" | model q$i; i=$((i + 1)); done
model q70 </dev/null
expect 2 check q0.yaml; says "error"; lines 1

# ---- tables that cannot be read ----
mkdir dir.csv
printf 'x,y\n0,1\n1,oops\n' >text.csv
printf 'x,y\n0,1\n1\n' >short.csv
printf 'x,y\n0,nan\n1,inf\n' >nan.csv
: >none-in-it.csv
head -c 500 /dev/urandom >noise.csv
for table in dir text short nan none-in-it noise absent; do
    echo "tables: {T: {csv: $table.csv, x: x, y: y}}" | model table
    expect 2 check table.yaml; says "$table.csv.*error\|error.*$table.csv"
done

# ---- absurd numbers ----
for value in 1e999 -1e999 nan .nan .inf 1/0 '0/0' 'sqrt(-1)' 'log(0)'; do
    echo "parameters: {a: $value}" | model number
    expect 2 check number.yaml; says "^number.yaml:2:1[78]: error"; lines 1
done
echo 'bodies: {b: {type: point, mass: 1, position: [0, 0, 0]}}' | model stone
for option in "--step 1e-300" "--end 1e300" "--step nan" "--end inf" "--end=-inf" "--step 1e-12" "--output=-1"; do
    # shellcheck disable=SC2086
    expect 2 simulate stone.yaml $option; [ ! -d costate-out ] || fail "a refused run leaves a directory"
done
for value in nan inf 1e999 1/0; do expect 2 check stone.yaml --set "b.mass=$value"; says "error"; done
timeout 60 "$costate" simulate stone.yaml --out o --end 1e-300 --step 1e-300 >out 2>err # h^2 is 0 in double
[ $? -le 1 ] || fail "a step of 1e-300 s"
expect 0 simulate stone.yaml --out o --end 0.01 --step 1e300
model huge <<'E'
points: {A: [0, 0, 0], B: [1e200, 0, 0], C: [1e-200, 0, 0]}
bodies: {a: {type: bar, from: A, to: B, mass: 1e200, radius: 1e100}, b: {type: bar, from: A, to: C, mass: 1e-200, radius: 1e-210}}
joints: {j: {type: revolute, between: [a, b], at: A, axis: y}}
E
timeout 60 "$costate" simulate huge.yaml --out o --end 0.01 >out 2>err
got=$?
[ $got -le 2 ] || fail "huge.yaml: status $got"
[ $got -eq 0 ] || says "^huge.yaml.*error"
awk 'BEGIN { print "parameters:"; for (i = 0; i < 20000; i++) printf "  a%d: %s\n", i, i ? "a" (i - 1) " + 1" : "0" }' | model long
timeout 60 "$costate" check long.yaml >out 2>err
got=$?
[ $got -eq 0 ] || [ $got -eq 2 ] || fail "a chain of 20000 parameters: status $got"

# ---- mechanisms that cannot be assembled: the constraints that fight are named ----
model open <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0], C: [9, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 1}, other: {type: point, mass: 1, position: C}}
joints:
  pivot: {type: spherical, between: [ground, rod], at: A}
  rope: {type: distance, from: ground.C, to: rod.B, length: 1}
  innocent: {type: distance, from: ground.A, to: other.C}
objectives: {o: end(t)}
E
for command in check simulate gradient; do expect 1 $command open.yaml; says "^open.yaml:[56]:.*error.*assembled"; lines 1; done
says "rope"; says "pivot"; ! grep -q innocent err || fail "a joint that is closed is blamed"
model twice <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {a: {type: point, mass: 1, position: B}}
joints: {d: {type: distance, from: ground.A, to: a.B, length: 1}, e: {type: distance, from: ground.A, to: a.B, length: 2}}
E
expect 1 check twice.yaml; says "error.*assembled"; says "[^a-z]d[^a-z]"; says "[^a-z]e[^a-z]"

# ---- contradictory rates ----
model rates <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 1}}
joints: {pivot: {type: revolute, between: [ground, rod], at: A, axis: z}}
measures: {p: {type: velocity, of: rod.B}}
initial: {velocities: {p.x: 1}}
simulation: {end: 0.1, step: 0.01}
E
expect 1 simulate rates.yaml --out o; says "^rates.yaml:.*error.*rates.*'pivot'"; lines 1
says "rates of p.x contradict"
sed 's/p.x: 1/p.y: 1/' rates.yaml >rates-fine.yaml
expect 0 simulate rates-fine.yaml --out o

# ---- a force that is not finite ----
model stiff <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {a: {type: point, mass: 1, position: B}}
forces:
  good: {type: spring, from: ground.A, to: a.B, stiffness: 1}
  wall: {type: spring, from: ground.A, to: a.B, stiffness: 1e308, free_length: 100}
simulation: {end: 0.1, step: 0.01}
E
expect 1 simulate stiff.yaml --out o; says "^stiff.yaml:6:3: error: .*force 'wall' is not finite"; lines 1

# ---- a motion that blows up: the message comes within seconds, not after millions of short steps ----
model spin <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {bar: {type: bar, from: A, to: B, mass: 1, radius: 0.02}}
joints: {hinge: {type: revolute, between: [ground, bar], at: A, axis: y}}
forces: {push: {type: torsion, between: [ground, bar], axis: y, torque: -2*v}}
simulation: {end: 100, step: 0.001, formulation: variational}
E
expect 1 simulate spin.yaml --out o; says "^spin.yaml.*error: t = 1\."; lines 1

# ---- bodies without inertia ----
model massless <<'E'
bodies: {stone: {type: point, mass: 1, position: [0, 0, 0]}, ghost: {type: point, mass: 0, position: [1, 0, 0]}}
E
expect 1 check massless.yaml; says "^massless.yaml:2:.*error.*'ghost'"; lines 1
model ghost <<'E'
bodies: {ghost: {type: rigid, mass: 0, inertia: [0, 0, 0]}}
E
expect 1 simulate ghost.yaml; says "^ghost.yaml:2:.*error.*'ghost'"; lines 1
model carried <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 1}, tip: {type: point, mass: 0, position: B}}
joints: {pivot: {type: revolute, between: [ground, rod], at: A, axis: y}, weld: {type: coincident, from: rod.B, to: tip.B}}
E
expect 0 simulate carried.yaml --out o --end 0.1

# ---- a singular start: two rods in line, the middle cannot move at first order ----
model singular <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0], C: [2, 0, 0]}
bodies: {b: {type: point, mass: 1, position: B}}
joints: {d: {type: distance, from: ground.A, to: b.B}, e: {type: distance, from: b.B, to: ground.C}}
simulation: {end: 0.1, step: 0.01}
E
timeout 60 "$costate" simulate singular.yaml --out o >out 2>err
got=$?
[ $got -le 1 ] || fail "singular start: status $got"

# ---- a run that fails on its way: time and element are named, what was computed is on disk. The rod is pulled from a
# distance of 1 to more than sqrt(2) + 1, which it cannot reach after t = sqrt(2)/10 ----
model reach <<'E'
points: {A: [0, 0, 0], B: [1, 0, 0], C: [1, 1, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 1}}
joints:
  pivot: {type: revolute, between: [ground, rod], at: A, axis: z}
  pull: {type: drive-distance, from: ground.C, to: rod.B, length: 1 + 10*t}
measures: {p: {type: position, of: rod.B}}
objectives: {o: integral(p.x)}
simulation: {end: 1, step: 0.01}
E
expect 1 simulate reach.yaml --out reach
says "^reach.yaml:[56]:.*error: t = 0.1[0-9.]* s: .*'\(pull\|pivot\)'"; lines 1
awk -F, 'NR > 1 && ($1 < 0 || $1 > 0.2 || NF != 4) { exit 1 } END { exit NR < 15 }' reach/measures.csv || fail "the rows before the failure"
expect 1 gradient reach.yaml --out reach2; says "^reach.yaml:[56]:.*error: t = 0.1[0-9.]* s"

# ---- huge numbers of steps, stopped by ctrl-C: complete rows, status 130 ----
model spin <<'E'
bodies: {b: {type: rigid, mass: 1, inertia: [1, 2, 2.5], angular_velocity: [1, 0.1, 2]}}
measures: {w: {type: angular-velocity, of: b}}
simulation: {end: 1000, step: 1e-6}
E
for signal in INT TERM; do
    "$costate" simulate spin.yaml --out spin >out 2>err &
    pid=$!
    i=0
    while [ "$(cat spin/measures.csv 2>/dev/null | wc -l)" -lt 2 ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
    kill -$signal $pid
    wait $pid
    got=$?
    [ $got -eq 130 ] || [ $got -eq 143 ] || fail "SIG$signal: status $got"
    awk -F, 'NF != 4 { exit 1 } END { exit NR < 2 }' spin/measures.csv || fail "SIG$signal: rows of measures.csv"
    rm -rf spin
done
# a gradient stops as well
printf 'objectives: {o: "end(w.x)"}\n' >>spin.yaml
"$costate" gradient spin.yaml --end 2 --out spin >out 2>err &
pid=$!
sleep 0.7
kill -INT $pid
wait $pid
got=$?
[ $got -eq 130 ] && [ "$(grep -c "stopped on request" err)" -eq 1 ] || fail "gradient: status $got, $(cat err)"
exit $failed
