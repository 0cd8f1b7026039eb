#!/bin/sh
# SPDX-License-Identifier: MIT
# The command: exit statuses, messages, results that obey a law, files that survive an interrupted run.
. "$2/tests/begin.sh"
# expect STATUS ARGUMENTS...: runs the program; what it prints is in the files out and err
expect() {
    want=$1; shift
    "$costate" "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate $*: status $got, not $want"
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

cat >fall.yaml <<'END'
costate: 1
name: Falling stone
parameters: {g: 10, v0: 0}
gravity: [0, 0, -g]
points: {A: [0, 0, 1]}
bodies:
  stone: {type: point, mass: 2, position: A, velocity: [v0, 0, 0]}
measures:
  p: {type: position, of: stone}
objectives:
  height: end(p.z)
simulation: {end: 1, step: 0.01}
END
cat >four-bar.yaml <<'END'
costate: 1
gravity: [0, -9.81, 0]
points: {A: [0, 0, 0], B: [0, 1, 0], C: [2, 1.5, 0], D: [2, 0, 0]}
bodies:
  crank: {type: bar, from: A, to: B, mass: 1}
  coupler: {type: bar, from: B, to: C, mass: 1}
  rocker: {type: bar, from: C, to: D, mass: 1}
joints:
  a: {type: revolute, between: [ground, crank], at: A, axis: z}
  b: {type: revolute, between: [crank, coupler], at: B, axis: z}
  c: {type: revolute, between: [coupler, rocker], at: C, axis: z}
  d: {type: revolute, between: [rocker, ground], at: D, axis: z}
measures: {q: {type: position, of: coupler.C}}
simulation: {end: 0.1, step: 0.01}
END
cat >open.yaml <<'END'
costate: 1
points: {A: [0, 0, 0], B: [1, 0, 0], C: [9, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: 1}}
joints:
  pivot: {type: spherical, between: [ground, rod], at: A}
  rope: {type: distance, from: ground.C, to: rod.B, length: 1}
END
cat >wrong.yaml <<'END'
costate: 1
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {rod: {type: bar, from: A, to: B, mass: -1}}
joints: {pivot: {type: revolut, between: [ground, rod], at: A, axis: y}}
END

# ---- the line ----
expect 0 --version; prints "^costate [0-9]*\.[0-9]*\.[0-9]*$"
expect 2
expect 2 simulat fall.yaml; says "did you mean 'simulate'"
expect 2 xyzzy; says "unknown command 'xyzzy'"
expect 2 simulate; says "MODEL is missing"
expect 2 simulate fall.yaml fall.yaml; says "too much"
expect 2 simulate fall.yaml --stpe 1; says "unknown option --stpe, did you mean --step"
expect 2 check fall.yaml --step 1; says "step does not apply"
expect 2 simulate fall.yaml --step; says "step needs a value"
expect 2 simulate fall.yaml --step --json; says "step needs a value"
expect 2 simulate fall.yaml --step 0; says "step must be positive"
expect 2 simulate fall.yaml --step=-1; says "step must be positive"
expect 2 simulate fall.yaml --step 1e-2x; says "step must be a number, not '1e-2x'"
expect 2 simulate fall.yaml --step nan; says "step must be a number"
expect 2 simulate fall.yaml --step ""; says "step must be a number"
expect 2 simulate fall.yaml --end=-1; says "end must be"
expect 2 simulate fall.yaml --step 1e-12; says "more than 1e9"
expect 2 simulate fall.yaml --threads 1.5; says "threads must be a whole number"
expect 2 simulate fall.yaml --threads 0; says "threads must be in"
expect 2 simulate fall.yaml --newton fulll; says "did you mean 'full'"
expect 2 simulate fall.yaml --json=1; says "json takes no value"
expect 2 simulate fall.yaml -q; says "two dashes"
expect 2 simulate fall.yaml --set g; says "set needs NAME=VALUE"
expect 2 simulate fall.yaml --set gg=1; says "no number 'gg'"
expect 2 simulate fall.yaml --set g=1..2; says "error"
expect 0 simulate --help; prints "^usage: costate simulate MODEL"

# ---- a wrong model, a model that cannot be ----
expect 2 check none.yaml; says "none.yaml"; silent
expect 2 check wrong.yaml; silent
says "^wrong.yaml:3:49: error: mass"
says "^wrong.yaml:4:24: error: .*revolut.*revolute"
expect 2 simulate wrong.yaml --json; holds "len(j['messages']) == 2 and 'wrong' in j['status']"
[ ! -e costate-out ] || fail "a wrong model leaves a directory"
expect 1 check open.yaml; says "^open.yaml:.*error"
expect 1 simulate open.yaml --json; holds "'error' in j['messages'][0]"

# ---- results: z = 1 - g t^2/2, which the trapezoidal rule integrates exactly ----
expect 0 simulate fall.yaml --json --out run
holds "set(j) == {'objectives', 'measures_end', 'definitions', 'measure_definitions', 'stats'}"
holds "abs(j['objectives']['height'] + 4) < 1e-12 and abs(j['measures_end']['p.z'] + 4) < 1e-12"
holds "j['stats']['steps'] == 100 and j['stats']['iterations'] >= 100 and j['stats']['factorizations'] >= 1"
holds "j['stats']['forward_s'] > 0"
cp out one.json
[ "$(head -n 1 run/measures.csv)" = "t,p.x,p.y,p.z" ] || fail "head of measures.csv"
[ "$(wc -l <run/measures.csv)" -eq 102 ] || fail "rows of measures.csv"
python3 - <<'END' 2>>err || fail "measures.csv"
import csv, json
rows = list(csv.reader(open("run/measures.csv")))
end = json.load(open("one.json"))["measures_end"]
assert all(len(r) == 4 for r in rows)
assert [float(x) for x in rows[-1]] == [1.0] + [end[n] for n in rows[0][1:]]
for r in rows[1:]:
    t, z = float(r[0]), float(r[3])
    assert abs(z - (1 - 5 * t * t)) < 1e-12, (t, z)
END
holds "j['status'] == 'done' and j['options']['step'] == 0.01 and j['command'] == 'simulate'" run/run.json
holds "j['objectives'] == json.load(open('one.json'))['objectives'] and j['units']['p.z'] == 'm'" run/run.json

expect 0 simulate fall.yaml --json --set g=4 --set v0=2 --end 3
holds "abs(j['measures_end']['p.z'] - (1 - 18)) < 1e-11 and abs(j['measures_end']['p.x'] - 6) < 1e-12"
[ -f costate-out/Falling-stone/measures.csv ] || fail "default directory"
expect 0 simulate fall.yaml --json --end "3000 ms" --step=10ms --set v0=2 --set g=9 --set g=4 --newton full
holds "abs(j['measures_end']['p.z'] - (1 - 18)) < 1e-11 and j['stats']['steps'] == 300"
expect 0 simulate fall.yaml --quiet --output 0.3 --out deep/er/run; silent
[ "$(awk -F, 'NR > 1 { printf "%.3g ", $1 }' deep/er/run/measures.csv)" = "0 0.3 0.6 0.9 1 " ] || fail "--output: rows"
expect 0 simulate fall.yaml --quiet --output 0.3 --formulation index1 --integrator rk45 --out deep/er/chosen; silent
[ "$(awk -F, 'NR > 1 { printf "%.15g ", $1 }' deep/er/chosen/measures.csv)" = "0 0.3 0.6 0.9 1 " ] || fail "--output: rows of chosen steps"
expect 1 simulate fall.yaml --out fall.yaml/x; says "directory of results cannot be made"
expect 0 simulate -- fall.yaml
prints "p\.z *m "; prints "^  height  *-4  m  *end(p.z)$"; prints "Falling-stone/measures.csv *101 rows"; prints "100 steps"
! grep -q "$(printf '\033')" out || fail "escape codes in a file"
"$costate" help >/dev/full 2>err && fail "a full disk goes unnoticed"

# ---- check: Gruebler is wrong by the three rows that a planar loop has too many ----
expect 0 check four-bar.yaml
prints "1 degree of freedom"; prints "crank *bar *1 "; prints "a *revolute *ground, crank *5"
prints "^  [abcd], row [1-5] (.*follows from [abcd], [abcd]"
expect 0 check four-bar.yaml --json
holds "j['dof'] == 1 and j['rows'] == 20 and j['rank'] == 17 and len(j['redundant']) == 3 and not j['singular_as_drawn']"
holds "sum(b['mass'] for b in j['bodies']) == j['mass'] == 3 and j['equations']['rcond'] > 0"
holds "all(r['joint'] in 'abcd' and 1 <= r['row'] <= 5 and set(r['follows_from']) <= set('abcd') for r in j['redundant'])"
expect 0 simulate four-bar.yaml --quiet --out four-bar
expect 0 check four-bar.yaml --set C.y=1; expect 0 check fall.yaml --quiet; silent

# ---- check: what is allowed but seldom meant ----
cat >doubts.yaml <<'END'
costate: 1
parameters: {spare: 1}
points: {A: [0, 0, 0], Z: [1, 2, 3]}
bodies:
  arm: {type: rigid, mass: 0, inertia: [1, 1, 1], position: A}
  dust: {type: point, mass: 1e-9, position: [1, 0, 0]}
  rock: {type: point, mass: 10, position: [2, 0, 0]}
joints:
  j: {type: revolute, between: [ground, arm], at: A, axis: y}
forces:
  k: {type: spring, from: dust, to: rock, stiffness: 1}
tables: {idle: {x: [0, 1], y: [0, 1]}}
measures:
  used: {type: position, of: dust}
  seen: {type: position, of: rock}
objectives: {psi: end(used.z)}
simulation: {end: 0.1, step: 0.01}
END
expect 0 check doubts.yaml
says "^doubts.yaml:2:14: warning: parameter 'spare' is never used"
says "^doubts.yaml:5:3: warning: body 'arm' has no mass"
says "^doubts.yaml:6:3: warning: 'dust' has 1e-09 kg and 'rock' 10 kg"
prints "^doubts.yaml:3:24: note: point 'Z' is never used"
prints "^doubts.yaml:12:10: note: table 'idle' is never used"
prints "^doubts.yaml:15:3: note: measure 'seen' is not used by any objective"
prints "note: gravity is not written"
! grep -q "note: .*'used'\|note: body\|point 'A'" out || fail "a note about what is used"
expect 0 check doubts.yaml --json
holds "j['warnings'] == 3 and len(j['notes']) == 4 and not any('note:' in m for m in j['messages'])"
expect 0 check fall.yaml
prints "^fall.yaml:7:3: note: body 'stone' has no joint and no force"

# ---- a wheel whose axis is along the normal of its road touches nowhere: that is said before it falls ----
cat >flat.yaml <<'END'
costate: 1
parameters: {c: 0.5}
roads: {hill: {type: plane, normal: [0, -1, 1]}}
bodies: {w: {type: rigid, position: [0, 0, 0.29], mass: 10, inertia: [0.2, 0.2, 0.4]}}
forces:
  flat: {type: tire, wheel: w, radius: 0.3, stiffness: 1e5, axis: z}
  steep: {type: magic-tire, wheel: w, radius: 0.3, stiffness: 1e5, axis: [0, -1, 0.95], road: hill}
  round: {type: tire, wheel: w, radius: 0.3, stiffness: 1e5, road: c*s}
  lean: {type: tire, wheel: w, radius: 0.3, stiffness: 1e5, axis: [0, 1, 3], centre: w.com}
measures: {p: {type: position, of: w.origin}}
objectives: {psi: end(p.z)}
simulation: {end: 0.01, step: 0.001}
END
for command in check simulate; do
    expect 0 $command flat.yaml
    says "^flat.yaml:6:67: warning: the wheel of tire 'flat' is drawn flat on its road: its axis is 0 degrees"
    says "^flat.yaml:7:74: warning: .*'steep'.* 1.5 degrees"
    [ "$(grep -c "drawn flat" err)" -eq 2 ] || fail "$command: warnings of wheels that stand"
done

# ---- help ----
expect 0 help; prints "simulate  MODEL"
for topic in check simulate help model values bodies joints forces measures functions units spring smoothstep integral; do
    expect 0 help $topic; [ -s out ] || fail "help $topic is empty"
done
expect 0 help revolute; prints "axis *axis *required"
expect 2 help revolut; says "did you mean 'revolute'"
expect 0 help --markdown; cp out reference.md
for section in bodies joints forces measures; do # every type of a list has its own page
    "$costate" help $section | sed -n 's/^  \([a-z][-a-z_]*\) .*/\1/p' | grep -vx type >names
    [ -s names ] || fail "help $section lists nothing"
    while read -r name; do
        expect 0 help "$name"; prints "^$name ($section)"
        grep -qx "### $name" reference.md || fail "$name is not in the reference"
    done <names
done
sed -n '/^```yaml/,/^```$/p' reference.md | grep -v '^```' >example.yaml # the example of the manual is a model
expect 0 check example.yaml; prints "1 degree of freedom"; [ ! -s err ] || fail "the manual's example has warnings"

# ---- interrupted runs ----
# whole DIRECTORY: all lines of its table are complete
whole() { awk -F, 'NF != 4 { exit 1 } END { exit NR < 2 }' "$1/measures.csv" && [ -z "$(tail -c 1 "$1/measures.csv")" ]; }
begin() { # DIRECTORY OPTIONS...: a run that would take hours, until rows are in the file
    dir=$1; shift
    "$costate" simulate fall.yaml --end 1000 --step 1e-5 --out "$dir" "$@" >out 2>err &
    pid=$!
    i=0
    while [ "$(cat "$dir/measures.csv" 2>/dev/null | wc -l)" -lt 2 ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
}
begin interrupted --json
kill -INT $pid; wait $pid; got=$?
[ $got -eq 130 ] || fail "ctrl-C: status $got, not 130"
says "stopped at t = .* rows up to there"
whole interrupted || fail "ctrl-C leaves broken lines"
holds "'stopped' in j['status'] and j['objectives'] == {} and j['stats']['steps'] > 0"
holds "'stopped' in j['status'] and j['stats']['time'] < 1000" interrupted/run.json
begin killed
kill -KILL $pid; wait $pid 2>/dev/null
# the system may have cut the block that was being written: the last line alone may be broken
awk -F, 'bad { exit 1 } NF != 4 { bad = 1 } END { exit NR < 2 }' killed/measures.csv || fail "a kill leaves broken lines"
holds "j['status'] == 'running'" killed/run.json

# ---- on a terminal ----
python3 - "$costate" <<'END' >out 2>err || fail "colours"
import os, pty, sys
def shown(**env):
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(sys.argv[1], [sys.argv[1], "help"], {**os.environ, **env})
    text = b""
    while True:
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.waitpid(pid, 0)
    return text
os.environ.pop("NO_COLOR", None)
assert b"\033[" in shown(TERM="xterm")
assert b"\033" not in shown(TERM="xterm", NO_COLOR="1")
assert b"\033" not in shown(TERM="dumb")
END
exit $failed
