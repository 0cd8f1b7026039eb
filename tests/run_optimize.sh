#!/bin/sh
# SPDX-License-Identifier: MIT
# costate optimize: every optimiser finds the five-bar's known optimum; the constrained example has the optimum whose
# conditions its reference.py confirms; files, --check, --resume, scenarios, wrong requests.
set -eu
build=$1 source=$2
[ -x "$build/costate" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
costate=$build/costate
five=$source/examples/five-bar/model.yaml
fail() { echo "$*"; exit 1; }

# value NAME FILE: a number of a JSON file
value() { awk -v name="\"$1\":" '$1 == name { sub(/,$/, "", $2); print $2; exit }' "$2"; }
near() { awk -v a="$1" -v b="$2" -v tol="$3" 'BEGIN { d = a - b; exit !(d <= tol && d >= -tol) }' || fail "$4: $1, not $2"; }

ipopt=ipopt
"$costate" --version | grep -q '^  Ipopt .*not installed' && ipopt= && echo "skipped: --method ipopt (Ipopt is not installed)"

for method in lbfgsb slsqp mma auglag $ipopt multistart; do
    "$costate" optimize "$five" --step 0.02 --end 1 --starts 2 --method $method --json --out "$work/$method" >"$work/json" ||
        fail "$method: status $?"
    near "$(value L01 "$work/json")" 2.431923574458 2e-6 "$method L01"
    near "$(value L02 "$work/json")" 1.844868886805 2e-6 "$method L02"
    near "$(value psi "$work/json")" 0 1e-10 "$method psi"
done

# the best design is the user's file with two numbers changed
[ "$(diff "$five" "$work/lbfgsb/best.yaml" | grep -c '^>')" -eq 2 ] || fail "best.yaml: other lines have changed"
"$costate" simulate "$work/lbfgsb/best.yaml" --step 0.02 --end 1 --json --out "$work/again" >"$work/json"
near "$(value psi "$work/json")" 0 1e-10 "psi of best.yaml"

# what comes from included files and --set stands in the section `set`
printf 'costate: 1\ninclude: "%s"\n' "$five" >"$work/outer.yaml"
"$costate" optimize "$work/outer.yaml" --step 0.02 --end 1 --set k=120 --out "$work/outer" --quiet
"$costate" simulate "$work/outer/best.yaml" --step 0.02 --end 1 --json --out "$work/again" >"$work/json"
near "$(value psi "$work/json")" 0 1e-10 "psi of best.yaml with set"
grep -q '"k": "120"' "$work/outer/best.yaml" || fail "best.yaml has forgotten --set"

# rows of tables and of recorded roads; the end of a periodic table is written with its start
printf 'x,z\n0,0\n1,0.01\n3,0.02\n4,0\n' >"$work/hills.csv"
cat >"$work/rows.yaml" <<END
costate: 1
bodies:
  m: {type: point, mass: 2, position: [0, 0, 0]}
  wheel: {type: rigid, position: [0, 0, 0.3], mass: 12, inertia: [0.5, 0.9, 0.5]}
tables:
  F: {x: [0, 0.1, 0.4], y: [1, 2, 1.0], outside: periodic}
roads: {hills: {type: profile, csv: hills.csv, numbers: true, outside: periodic}}
joints: {guide: {type: prismatic, between: [ground, wheel], at: wheel.com, axis: z}}
forces:
  f: {type: force, on: m, force: [F(t), 0, 0]}
  tire: {type: tire, wheel: wheel, road: hills, radius: 0.3, stiffness: 9e4, damping: 1500, friction: 0.8}
measures: {v: {type: velocity, of: m}, p: {type: position, of: wheel.com}}
objectives: {miss: "(end(v.x) - 0.7)^2 + (10*end(p.z) - 3.1)^2"}
simulation: {end: 0.8, step: 10 ms}
design: {minimize: miss, variables: {"F.y[1]": [0, 3], "hills.z[1]": [-1, 1]}}
END
"$costate" optimize "$work/rows.yaml" --out "$work/rows" --quiet || fail "rows of tables: status $?"
"$costate" simulate "$work/rows/best.yaml" --json --out "$work/again" >"$work/json"
near "$(value miss "$work/json")" 0 1e-12 "miss of best.yaml with rows of tables"

# constraints: the optimum of the path generator (conditions: examples/path-generator/reference.py)
for method in slsqp $ipopt; do
    "$costate" optimize "$source/examples/path-generator/model.yaml" --method $method --json --out "$work/path" >"$work/json"
    near "$(value error "$work/json")" 0.1131817401 1e-8 "$method error"
    near "$(value bend "$work/json")" 0.4 1e-7 "$method bend"
    near "$(value force "$work/json")" 30 1e-5 "$method force"
    near "$(value B0.x "$work/json")" 1.7057445 3e-6 "$method B0.x"
done

# scenarios: threads change nothing, the sum is weighted
cat >"$work/two.yaml" <<END
costate: 1
include: "$five"
design:
  minimize: psi
  variables: {L01: [1.5, 3]}
  scenarios:
    soft: {set: {k: 80}, weight: 2}
    hard: {set: {k: 150}}
END
"$costate" optimize "$work/two.yaml" --step 0.02 --end 1 --threads 1 --json --check --out "$work/one" >"$work/json1"
"$costate" optimize "$work/two.yaml" --step 0.02 --end 1 --threads 2 --json --out "$work/two" >"$work/json2"
[ "$(value L01 "$work/json1")" = "$(value L01 "$work/json2")" ] || fail "threads change the design"
near "$(value objective "$work/json1")" \
    "$(awk -v a="$(value soft.psi "$work/json1")" -v b="$(value hard.psi "$work/json1")" 'BEGIN { printf "%.17g", 2*a + b }')" 1e-12 "weights"

# continuation: soft springs first, each stage from the optimum before; the end is that of the problem itself
cat >"$work/stages.yaml" <<END
costate: 1
include: "$five"
design: {minimize: psi, variables: [L01, L02], continuation: {k: [60, 80]}}
END
"$costate" optimize "$work/stages.yaml" --step 0.02 --end 1 --out "$work/stages" >"$work/out"
grep -q '^stage 2 of 3: k = 80$' "$work/out" || fail "no stage is named"
near "$(value L01 "$work/stages/result.json")" 2.431923574458 2e-6 "L01 after a continuation"
near "$(value psi "$work/stages/result.json")" 0 1e-10 "psi after a continuation"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "stage") k = i; next } { if ($k < last) exit 1; seen[$k] = 1; last = $k }
    END { exit !(seen[1] && seen[2] && seen[3]) }' "$work/stages/history.csv" || fail "stages of history.csv"
"$costate" optimize "$work/stages.yaml" --step 0.02 --end 1 --evaluations 2 --quiet --out "$work/early" 2>"$work/err" && fail "a limit has status 0"
grep -q 'ended in stage 1 of 3' "$work/err" || fail "an early end is not said"

# the end on a kink is said; |L01 - 2.1| + 3 |L02 - L01| has its minimum on two
cat >"$work/kink.yaml" <<END
costate: 1
include: "$five"
design: {minimize: abs(L01 - 2.1) + 3*abs(L02 - L01) + 1e-3*psi, variables: [L01, L02]}
END
status=0
"$costate" optimize "$work/kink.yaml" --step 0.02 --end 0.2 --quiet --out "$work/kink" 2>"$work/err" || status=$?
[ $status -eq 1 ] || fail "an end on a kink: status $status"
grep -q 'warning: .*gradient has not vanished' "$work/err" || fail "an end on a kink is not said"

# The verdict comes from the best point: NAME STATUS OBJECTIVE METHOD, and a problem in x and y. "-": any objective
verdict() {
    cat >"$work/point.yaml" <<END
costate: 1
gravity: [0, 0, 0]
parameters: {x: {value: $5}, y: {value: $6}, q: {value: 1}, L: 2*x + y, M: q*x}
bodies: {b: {type: point, mass: 1, position: [0, 0, 0]}}
measures: {p: {type: position, of: b.origin}}
objectives: {o: end(p.x)}
simulation: {end: 0.01, step: 0.01}
design: {variables: [x, y], minimize: $7, $8}
END
    status=0
    "$costate" optimize "$work/point.yaml" --method $4 --json --quiet --out "$work/point" >"$work/json" 2>"$work/err" || status=$?
    [ $status -eq "$2" ] || { cat "$work/json" "$work/err"; fail "$1 by $4: status $status"; }
    [ "$3" = - ] || near "$(value objective "$work/json")" "$3" "1e-6" "$1 by $4"
}
verdict "limit 0, far" 0 1.710690552 slsqp 3e4 2 "x + (y-1)^2" "subject_to: [4 - x^2 - y <= 0, x >= 0]"
verdict "limit 0, violated" 0 2 slsqp 4000 -4000 "x^2 + y^2" "subject_to: [x*y - 1 >= 0]"
verdict "limit met to rounding" 0 0.06 slsqp 0.1 0.2 "x^2 + 2*y^2" "subject_to: [x + y - 0.3 == 0]"
verdict "redundant equality" 0 2 slsqp 2 3 "x^2 + y^2" "subject_to: [x + y == 2, 2*x + 2*y == 4]"
grep -q '"state": "redundant"' "$work/json" || fail "a redundant constraint is not named"
verdict "contradicting equalities" 1 - slsqp 2 3 "x^2 + y^2" "subject_to: [x + y == 2, 2*x + 2*y == 5]"
verdict "two that depend on one" 0 2 slsqp 2 3 "x^2 + y^2" "subject_to: [x + y == 2, 2*x + 2*y == 4, -x - y == -2]"
"$costate" optimize "$work/point.yaml" --out "$work/point" >"$work/out" 2>/dev/null
grep -q "^left out of the search, because they follow from others: '2\*x + 2\*y == 4', '-x - y == -2'$" "$work/out" || fail "no line names them"
# what all scenarios have in common is one row: of numbers alone, and of equal values; derivation: minimise 2 x^2 + 4 y^2 on x + y = 2
both="scenarios: {a: {set: {q: 1}}, b: {set: {q: 3}}}"
rows() { [ "$(grep -o '"multiplier"' "$work/json" | wc -l)" -eq "$1" ] || { cat "$work/json"; fail "$2: not $1 rows"; }; }
verdict "equality of all scenarios" 0 5.33333333 slsqp 2 3 "x^2 + q*y^2" "subject_to: [x + y == 2], $both"
rows 1 "an equality of numbers"
grep -q '"name": "x + y == 2"' "$work/json" || fail "a common constraint is named after a scenario"
# x + y >= 4 of the first scenario decides: x = 8/3, y = 4/3
verdict "a constraint that differs" 0 21.33333333 slsqp 2 3 "x^2 + q*y^2" "subject_to: [x + q*y >= 4], $both"
rows 2 "a constraint of q"
verdict "a constraint of runs" 0 5.33333333 slsqp 2 3 "x^2 + q*y^2" "subject_to: [x + y + o == 2], $both"
rows 2 "a constraint of objectives"
# a parameter that is an expression: the least x^2 + y^2 with 2 x + y = 3 is 9/5
verdict "a derived number" 0 0 lbfgsb 1 1 "(L - 3)^2 + x^2" "seed: 1"
! grep -q "'[xyL]' is never used" "$work/err" || fail "what the design reads is called unused"
verdict "a limit of a derived number" 0 3.6 slsqp 1 1 "x^2 + y^2" "subject_to: [L >= 3], $both"
rows 1 "a constraint of a derived number"
verdict "a derived number that differs" 0 2 slsqp 3 1 "x^2 + y^2" "subject_to: [M >= 1], $both"
rows 2 "a constraint of a derived number of q"
for method in lbfgsb slsqp; do
    verdict "far start" 0 0 $method -120 100 "100*(y-x^2)^2 + (1-x)^2" "stop: {iterations: 500}"
    verdict "tiny start" 0 0 $method 1e-9 1 "(x-1)^2 + (y-2)^2" "stop: {iterations: 500}"
    verdict "no bound" 1 - $method 2 3 "x + y^2" "stop: {iterations: 500}"
    grep -q '"status": "unbounded"' "$work/json" || fail "an unbounded objective is not named"
    verdict "a limit that was set" 1 - $method -1.2 1 "100*(y-x^2)^2 + (1-x)^2" "stop: {iterations: 3}"
done
verdict "a limit of each start" 1 - multistart -1.2 1 "100*(y-x^2)^2 + (1-x)^2" "starts: 2, stop: {iterations: 3}"
grep -q '"status": "limit reached"' "$work/json" || fail "a limit of each start is not named"
verdict "a default limit" 1 - mma -1.2 1 "100*(y-x^2)^2 + (1-x)^2" "seed: 1"
# neither a maximum nor a saddle point is an optimum, though the search starts on one; where a method returns to it, that is said
for method in lbfgsb slsqp mma auglag $ipopt; do
    verdict "a saddle point" 0 0 $method 0 0 "(x^2 - 1)^2 + y^2" "seed: 1"
    verdict "a saddle point across" 0 -0.125 $method 0 0 "x*y + x^4 + y^4" "seed: 1"
    [ $method = lbfgsb ] || verdict "a maximum on a bound" 0 -3 $method 0 1 "y - x^2" "subject_to: [y >= 1, x <= 2, x >= -1]"
done
verdict "a maximum on a circle" 0 -1 slsqp 1 0 x "subject_to: [x^2 + y^2 == 1]"
verdict "minimum elsewhere" 0 -1.98869976 multistart 2.2 0 "sin(x) + sin(10*x/3) + y^2" "starts: 30"

# a journal is refused once anything that the result depends on is another; stopping rules and comments may change
resumes() { # STATUS WHAT, then options
    expected=$1 what=$2 status=0
    shift 2
    "$costate" optimize "$work/rows.yaml" --out "$work/rows" --quiet --resume "$@" 2>"$work/err" || status=$?
    [ $status -eq $expected ] || { cat "$work/err"; fail "--resume with $what: status $status"; }
}
cp "$work/rows.yaml" "$work/rows.was"
resumes 0 "the same model"
{ echo "# a comment"; sed 's/^design: {/design: {stop: {iterations: 300}, /' "$work/rows.was"; } >"$work/rows.yaml"
resumes 0 "another stopping rule"
sed 's/3.1)^2/3.2)^2/' "$work/rows.was" >"$work/rows.yaml"
resumes 2 "another objective"
cp "$work/rows.was" "$work/rows.yaml"
resumes 2 "another option" --tolerance 1e-4 --integrator generalized-alpha
sed 's/^3,0.02/3,0.025/' "$work/hills.csv" >"$work/hills.new" && mv "$work/hills.new" "$work/hills.csv"
resumes 2 "another CSV file"

# every option of a run reaches the search
"$costate" optimize "$five" --step 0.02 --end 1 --iterations 1 --json --out "$work/option" >"$work/json1" || [ $? -eq 1 ]
"$costate" optimize "$five" --step 0.02 --end 1 --iterations 1 --tolerance 1e-8 --json --out "$work/option" >"$work/json2" || [ $? -eq 1 ]
[ "$(value objective "$work/json1")" != "$(value objective "$work/json2")" ] || fail "--tolerance is ignored"

# wrong requests leave with 2 and name the place
wrong() { # EXPECTED TEXT, then lines of a design section
    text=$1
    shift
    { printf 'costate: 1\ninclude: "%s"\ndesign:\n' "$five"; printf '  %s\n' "$@"; } >"$work/wrong.yaml"
    status=0
    "$costate" optimize "$work/wrong.yaml" --out "$work/wrong" >"$work/out" 2>&1 || status=$?
    [ $status -eq 2 ] || fail "$*: status $status"
    grep -qF -- "$text" "$work/out" || { cat "$work/out"; fail "$*: no '$text'"; }
}
wrong "wrong.yaml:5:15: error: there is no number 'L03'; did you mean 'L01'" "minimize: psi" "variables: [L03]"
wrong "unknown name 'phi'" "minimize: phi" "variables: [L01]"
wrong "design needs minimize" "variables: [L01]"
wrong "belongs under objectives" "minimize: integral(L01)" "variables: [L01]"
wrong "leave its range [1, 4]" "minimize: psi" "variables: {L01: [0, 4]}"
wrong "a constraint is" "minimize: psi" "variables: [L01]" "subject_to: [psi]"
wrong "takes no constraints" "minimize: psi" "variables: [L01]" "subject_to: [psi <= 1]" "method: lbfgsb"
wrong "a scenario cannot set it" "minimize: psi" "variables: [L01]" "scenarios: {a: {set: {L01: 2}}}"
wrong "the continuation cannot set it" "minimize: psi" "variables: [L01]" "continuation: {L01: [2]}"
wrong "as many for each number" "minimize: psi" "variables: [L01]" "continuation: {k: [2], bar1.mass: [1, 2]}"
wrong "there is no number 'kk'" "minimize: psi" "variables: [L01]" "continuation: {kk: [2]}"
wrong "did you mean 'iterations'" "minimize: psi" "variables: [L01]" "stop: {iteration: 3}"

# all that is wrong is told in one run, by `check` too, and each warning of the model once
wrong "unknown name 'phi'" "minimize: phi" "variables: [L03]" "subject_to: [rho <= 1]"
for text in "no number 'L03'" "unknown name 'phi'" "unknown name 'rho'"; do grep -q "$text" "$work/out" || fail "not told: $text"; done
status=0
"$costate" check "$work/wrong.yaml" >"$work/checked" 2>&1 || status=$?
[ $status -eq 2 ] && diff "$work/out" "$work/checked" || fail "check says something else of the design, status $status"
printf 'costate: 1\ninclude: "%s"\nparameters: {unread: 1}\ndesign: {minimize: phi, variables: [L01]}\n' "$five" >"$work/wrong.yaml"
"$costate" optimize "$work/wrong.yaml" --out "$work/wrong" >"$work/out" 2>&1 && fail "a wrong name is accepted"
[ "$(grep -c "unread" "$work/out")" -eq 1 ] || { cat "$work/out"; fail "the warning of the model is not told once"; }

# ctrl-C at the start, and after some iterations: what there is, each thing said once, all numbers finite
python3 - "$build/costate" "$five" "$work" <<'END' || fail "ctrl-C"
import json, re, signal, subprocess, sys
costate, model, work = sys.argv[1:]
def stopped(after, *options):
    p = subprocess.Popen([costate, "optimize", model, "--end", "5", "--out", work + "/stopped", *options], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    out, sent = "", after is None
    if sent:
        try: p.wait(0.3)
        except subprocess.TimeoutExpired: p.send_signal(signal.SIGINT)
    for line in p.stdout:
        out += line
        if not sent and re.match(after, line): p.send_signal(signal.SIGINT); sent = True
    return p.wait(), out
status, out = stopped(r" +2 ", "--step", "0.005")
assert status == 130, (status, out)
assert "nan" not in out and out.count("stopped on request") == 1 and re.search("psi .*[0-9]  integral", out), out
j = json.load(open(work + "/stopped/result.json"))
assert j["objectives"]["psi"] == j["objective"] and j["objectives_start"]["psi"] > j["objective"], j
# a limit of time ends what has no end
import time, yaml
hang = dict(costate=1, gravity=[0, 0, 0], parameters=dict(x=dict(value=2), y=dict(value=3)), measures=dict(p=dict(type="position", of="b.origin")),
            bodies=dict(b=dict(type="point", mass=1, position=[0, 0, 0])), objectives=dict(o="end(p.x)"), simulation=dict(end=0.01, step=0.01))
hang["design"] = dict(minimize="x^2 + y^2", subject_to=["x^2 + y^2 == -1"], variables=["x", "y"], method="multistart")
hang["design"]["stop"] = dict(time=0.5, evaluations=10**7)
yaml.safe_dump(hang, open(work + "/hang.yaml", "w"))
begin = time.time()
assert subprocess.call([costate, "optimize", work + "/hang.yaml", "--out", work + "/hang", "--quiet"], stderr=subprocess.DEVNULL) == 1
assert time.time() - begin < 3 and "limit of time" in open(work + "/hang/result.json").read()
status, out = stopped(None, "--step", "1e-5")
assert status == 130 and out.count("stopped on request") == 1 and "must be in" not in out and "nan" not in out, (status, out)
END

"$source/tests/kill_optimize.sh" "$build" "$source" 4
"$source/tests/interrupt_optimize.sh" "$build" "$source" 10
