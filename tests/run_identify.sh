#!/bin/sh
# SPDX-License-Identifier: MIT
# costate identify: the truth of measurements made by another program, agreement of the methods, what cannot be identified,
# files, JSON, wrong sections, and what a killed run leaves.
. "$2/tests/begin.sh"
holds() { python3 -c "
import csv, json, math, sys
j = json.load(open('$2'))
truth = {'k': 20e3, 'c_1': 1200.0, 'c_2': 500.0, 'a': 120.0, 'b': 60.0}
d, e = j['design'], j['standard_errors']
sys.exit(0 if ($1) else 1)" 2>>err || fail "not true of $2: $1"; }
expect() {
    want=$1; shift
    "$costate" identify "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate identify $*: status $got, not $want"
}
prints() { grep -qe "$1" out || fail "standard output should say: $1"; }
says() { grep -qe "$1" err || fail "standard error should say: $1"; }

# the beginnings of two experiments, with 2 ms, so that this takes a second; noise with seed 5, and none
python3 "$source/examples/identify-strut/measure.py" noisy 5
python3 "$source/examples/identify-strut/measure.py" exact -1
for d in noisy exact; do
    sed 's/^    fast:/    fast:\n      to: 0.6/; s/^    slow:/    slow:\n      to: 1.1/; /^    tiny:/,/channels/d' \
        "$source/examples/identify-strut/model.yaml" >$d/model.yaml
done
short="--step 2e-3"

# shellcheck disable=SC2086
expect 0 noisy/model.yaml $short --json --out lm
cp out lm.json
holds "j['status'] == 'converged' and 0.8 < j['stats']['variance'] < 1.25 and j['stats']['noise_known']" lm.json
holds "all(abs(d[n] - truth[n]) < 4*e[n] < 0.4*truth[n] for n in truth)" lm.json
holds "all(abs(j['correlation'][n][i] - 1) < 1e-12 for i, n in enumerate(d))" lm.json
holds "all(abs(j['intervals'][n][1] - d[n] - 1.959963985*e[n]) < 1e-6*e[n] for n in d)" lm.json
holds "j['objectives']['sum_of_squares'] > 0 and j['evaluations'] >= j['iterations'] > 0 and j['unidentifiable'] == []" lm.json
# the statistics once more from the files, by Python: sum of squares, and each column of fit.csv
python3 - <<'END' 2>err || fail "fit.csv"
import csv, json
rows = list(csv.DictReader(open("lm/fit.csv")))
j = json.load(open("lm/identify.json"))
assert len(rows) == j["stats"]["samples"] and {r["experiment"] for r in rows} == {"slow", "fast"}
total = sum(float(r["normalised"]) ** 2 for r in rows)
assert abs(total / j["objectives"]["sum_of_squares"] - 1) < 1e-9
noise = {"z.z": 0.3e-3, "acc.z": 0.1}
for r in rows:
    assert abs(float(r["measured"]) - float(r["model"]) - float(r["residual"])) < 1e-12
    assert abs(float(r["residual"]) / noise[r["channel"]] - float(r["normalised"])) < 1e-9
data = list(csv.DictReader(open("noisy/fast.csv")))
fast = [r for r in rows if r["experiment"] == "fast" and r["channel"] == "z.z"]
assert [float(r["measured"]) for r in fast] == [float(d["z_mm"]) * 1e-3 for d in data[: len(fast)]]
assert max(float(r["t"]) for r in fast) == 0.6
assert len(list(csv.DictReader(open("lm/correlation.csv")))) == 5
history = list(csv.DictReader(open("lm/history.csv")))
assert len(history) == j["iterations"] + 1 and abs(float(history[-1]["k"]) / j["design"]["k"] - 1) < 1e-12
END
# another method, written by others, ends at the same place; so do two threads
# shellcheck disable=SC2086
expect 0 noisy/model.yaml $short --json --method minpack --out minpack
cp out minpack.json
# shellcheck disable=SC2086
expect 0 noisy/model.yaml $short --json --threads 2 --out threads
cp out threads.json
holds "all(abs(d[n] - json.load(open('lm.json'))['design'][n]) < 1e-2*e[n] for n in d)" minpack.json
holds "d == json.load(open('lm.json'))['design']" threads.json
ipopt=ipopt
"$costate" --version | grep -q '^  Ipopt .*not installed' && ipopt= && echo "skipped: --method ipopt (Ipopt is not installed)"
for method in lbfgsb $ipopt; do # the sum of squares alone, by its adjoint gradient
    # shellcheck disable=SC2086
    expect 0 noisy/model.yaml $short --json --method $method --out other --set k=19 --set c_1=1150 --set c_2=520 --set a=115 --set b=62
    cp out $method.json
    holds "all(abs(d[n] - json.load(open('lm.json'))['design'][n]) < 1e-2*e[n] for n in d)" $method.json
done
# without noise: the truth, up to the error of the step
# shellcheck disable=SC2086
expect 0 exact/model.yaml $short --json --out exact_out
cp out exact.json
holds "all(abs(d[n]/truth[n] - 1) < 5e-3 for n in truth)" exact.json

# the clock of one recorder is off by 13.7 ms: found beside the numbers, by the Jacobian and by the adjoint gradient
mkdir shifted
cp noisy/slow.csv shifted/
python3 - <<'END'
import csv
rows = list(csv.reader(open("noisy/fast.csv")))
at = [i for i, n in enumerate(rows[0]) if n in ("t", "time")][0]
for r in rows[1:]:
    r[at] = repr(float(r[at]) + 0.0137)
csv.writer(open("shifted/fast.csv", "w")).writerows(rows)
END
sed 's/^    fast:/    fast:\n      offset: {range: [-50 ms, 30 ms], start: 1 ms}/' noisy/model.yaml >shifted/model.yaml
for method in lm lbfgsb; do
    # shellcheck disable=SC2086
    expect 0 shifted/model.yaml $short --json --method $method --set k=19 --set c_1=1150 --set c_2=520 --set a=115 --set b=62 --out shifted_$method
    cp out shifted_$method.json
done
holds "abs(d['fast.offset'] + 0.0137) < 4*e['fast.offset'] < 2e-3 and all(abs(d[n] - truth[n]) < 4*e[n] < 0.4*truth[n] for n in truth)" shifted_lm.json
# the model is linear between steps: the sum of squares has kinks where instants pass a step, and a minimum between any two of them
holds "all(abs(d[n] - json.load(open('shifted_lm.json'))['design'][n]) < 0.5*e[n] for n in d)" shifted_lbfgsb.json
# the times of fit.csv are those of the run
python3 - <<'END' 2>err || fail "times of fit.csv with an offset"
import csv, json
o = json.load(open("shifted_lm.json"))["design"]["fast.offset"]
t = [float(r["t"]) for r in csv.DictReader(open("shifted_lm/fit.csv")) if r["experiment"] == "fast" and r["channel"] == "z.z"]
name = next(n for n in csv.DictReader(open("shifted/fast.csv")).fieldnames if n in ("t", "time"))
clock = [float(r[name]) for r in csv.DictReader(open("shifted/fast.csv"))]
first = next(i for i, c in enumerate(clock) if c - 0.05 > 0)
assert all(abs(a - b - o) < 1e-12 for a, b in zip(t, clock[first:])) and len(t) > 50
END

# what cannot be identified is named
cp "$source/examples/identify-strut/rig-without-scale.yaml" noisy/
cp "$source/examples/identify-strut/model.yaml" noisy/model.yaml
expect 0 noisy/rig-without-scale.yaml --out scale
grep -q 'not identifiable: .*m +1 %, k +1 %, c_1 +1 %, c_2 +1 %, a +1 %$' out || fail "the combination is not named"
holds "len(j['unidentifiable']) == 1 and j['standard_errors']['k'] is None and j['standard_errors']['b'] > 0" scale/identify.json
cat >noisy/idle.yaml <<'END'
costate: 1
include: model.yaml
parameters: {idle: 1}
measures: {unused: 2*idle}
identify:
  parameters: {idle: , k: {range: [10 N/mm, 15 N/mm]}}
  experiments:
    slow: {csv: slow.csv, to: 0.5, every: 20 ms, numbers: {amp: 40 mm, freq: 1, c_1: 1200, c_2: 500, a: 120, b: 60}, channels: {z.z: {column: z_mm, unit: mm, weight: 10}}}
END
expect 0 noisy/idle.yaml --out idle
grep -q 'not identifiable: idle has no effect on any channel' out || fail "a number without effect is not named"
holds "d['k'] == 15e3 and j['known']['k'] == 'at a bound of its range' and not j['stats']['noise_known']" idle/identify.json

# wrong sections
wrong() { # wrong 'TEXT OF THE SECTION' 'MESSAGE'
    printf 'costate: 1\ninclude: model.yaml\nidentify:\n%s\n' "$1" >noisy/wrong.yaml
    expect 2 noisy/wrong.yaml --out wrong
    says "$2"
}
ok='csv: slow.csv, to: 0.1, channels: {z.z: z_mm}'
wrong "  parameters: [kk]
  experiments: {x: {$ok}}" "wrong.yaml:4:16: error: the model has no number 'kk'; did you mean 'k'"
wrong "  parameters: [k]" "identify needs experiments"
wrong "  experiments: {x: {$ok}}" "identify needs parameters"
wrong "  parameters: [k]
  experimets: {x: {$ok}}" "unknown key 'experimets' of identify; did you mean 'experiments'?"
wrong "  parameters: [k]
  experiments: {x: {csv: none.csv, channels: {z.z: z_mm}}}" "wrong.yaml:5:[0-9]*: error: cannot read .none.csv.: No such file"
wrong "  parameters: [k]
  experiments: {x: {csv: slow.csv, channels: {z.z: z_m}}}" "has no column 'z_m'; did you mean 'z_mm'?"
wrong "  parameters: [k]
  experiments: {x: {csv: slow.csv, channels: {zz: z_mm}}}" "the model has no measure 'zz'"
wrong "  parameters: [k]
  experiments: {x: {$ok, numbers: {k: 3}}}" "'k' is identified: an experiment cannot prescribe it"
wrong "  parameters: [k]
  experiments: {x: {$ok, numbers: {kk: 3}}}" "experiment 'x': --set: error: the model has no number 'kk'"
wrong "  parameters: [k]
  experiments: {x: {csv: slow.csv, from: 9, channels: {z.z: z_mm}}}" "no row of .*slow.csv lies within the run"
wrong "  parameters: {k: {range: [2e4, 5e4]}}
  experiments: {x: {$ok}}" "'k' starts at 12000, outside of its range"
wrong "  parameters: {k: {range: [1, 5e4]}}
  experiments: {x: {$ok}}" "the range \[1, 50000\] of 'k' leaves its own range \[1000, 200000\]"
wrong "  parameters: [k]
  experiments: {x: {csv: slow.csv, channels: {z.z: {column: z_mm, noise: 1, weight: 1}}}}" "either noise or weight, not both"
wrong "  parameters: [k, c_1]
  experiments: {x: {csv: slow.csv, to: 0, channels: {z.z: z_mm}}}" "1 measured values cannot determine 2 numbers"
wrong "  parameters: [k]
  experiments: {x: {csv: slow.csv, offset: {start: 0}, channels: {z.z: z_mm}}}" "an offset that is looked for needs range"
wrong "  parameters: [k]
  experiments: {x: {csv: slow.csv, offset: {range: [0, 1], start: 2}, channels: {z.z: z_mm}}}" "'x.offset' starts at 2, outside of its range"
expect 2 "$source/examples/pendulum/model.yaml" --out wrong
says "the model has no section identify"

# ---- sensors: files of a test bench, and channels with the wrong sign, unit or zero ----
cat >osc.yaml <<'END'
costate: 1
parameters: {k: {value: 900, unit: N/m, range: [100, 5000]}}
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies: {m: {type: point, mass: 1, position: B, velocity: [2, 0, 0]}}
joints: {rail: {type: point-on-line, of: m.B, on: ground, through: B, axis: x}}
forces: {s: {type: spring, from: ground.A, to: m.B, stiffness: k, free_length: 1}, d: {type: damper, from: ground.A, to: m.B, damping: 4}}
measures: {x: {type: displacement, of: m.B}, v: {type: velocity, of: m.B}}
simulation: {end: 0.5, step: 1 ms}
END
"$costate" simulate osc.yaml --set k=1000 --output 5e-3 --out true --quiet || fail "simulate"
# bench X V: measured = X mm and V in m/s as expressions of x and v, with noise, as a German bench writes it
bench() {
    python3 - "$1" "$2" <<'END'
import csv, random, sys
random.seed(3)
rows = list(csv.DictReader(open("true/measures.csv")))
with open("bench.csv", "w") as f:
    f.write("Zeit [ms];Weg;v (m/s)\n;[mm];\n")
    for i, r in enumerate(rows):
        x, v = float(r["x.x"]), float(r["v.x"])
        x, v = eval(sys.argv[1]) + random.gauss(0, 0.1), eval(sys.argv[2]) + random.gauss(0, 0.01)
        cells = [1e3 * float(r["t"]), x, v]
        f.write(";".join("" if i == 7 and k == 1 else ("%.6f" % c).replace(".", ",") for k, c in enumerate(cells)) + "\n")
END
    sed "s/^simulation/identify: {parameters: [k], experiments: {e: {csv: bench.csv, time: Zeit, channels: {x.x: {column: Weg, noise: 0.1${3:-}}, v.x: {column: v, noise: 0.01}}}}}\n&/" osc.yaml >bench.yaml
}
bench "1e3*x" v
expect 0 bench.yaml --out bench
holds "abs(d['k'] - 1000) < 4 * e['k'] < 20" bench/identify.json
prints "e  *x.x  *100  *1 "; ! grep -q "away and" out || fail "a channel that fits is blamed"
bench "-1e3*x" v
"$costate" identify bench.yaml --out bench >out 2>err; prints "^e: x.x is .* correlates with the model.* at -[0-9.]*: sign?$"; ! grep -q "^e: v.x is" out || fail "v.x is blamed"
bench "1e6*x" v
"$costate" identify bench.yaml --out bench >out 2>err; prints "^e: x.x is .*: unit? (the signal is .* times the model)$"
bench "-1.3e3*x + 8" v ", scale: {range: [-10, 10]}, offset: {range: [-20, 20]}"
expect 0 bench.yaml --out bench
holds "abs(d['k'] - 1000) < 4 * e['k'] < 20 and abs(d['e.x.x.scale'] + 1.3) < 0.01 and abs(d['e.x.x.offset'] - 8e-3) < 1e-4" bench/identify.json

# a cell that is empty, nan or NA is a missing value: it is left out and counted; the others give the same estimate as a file without these rows
missing() { # HEADER, SED OF THE ROWS
    printf '%s\n' "$1" >bench.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "x.x") k = i; next } { printf "%s,%.17g\n", $1, $k + 1e-4*sin(NR) }' true/measures.csv |
        sed "$2" >>bench.csv
    sed "s/^simulation/identify: {parameters: [k], experiments: {e: {csv: bench.csv, channels: {$3}}}}\n&/" osc.yaml >bench.yaml
}
missing "t,x [m]" '6s/,.*/,/; 8s/,.*/,nan/; 10s/,.*/,NaN/; 12s/,.*/,NA/; 14s/,.*/, /' "x.x: {column: x, noise: 0.1 mm}"
expect 0 bench.yaml --json --out missing; cp out missing.json
missing "t,x [m]" '6d; 8d; 10d; 12d; 14d' "x.x: {column: x, noise: 0.1 mm}"
expect 0 bench.yaml --json --out whole; cp out whole.json
holds "j['channels'][0]['missing'] == 5 and j['channels'][0]['values'] == 96 == j['stats']['samples'] and d == json.load(open('whole.json'))['design']" missing.json
holds "j['channels'][0]['missing'] == 0 and j['channels'][0]['values'] == 96 and abs(d['k'] - 1000) < 4*e['k']" whole.json
missing "t,x [m]" '6s/,.*/,/' "x.x: {column: x, noise: 0.1 mm}"
expect 0 bench.yaml --out missing; prints "^ *experiment  *channel  *values  *missing"; prints "^ *e  *x.x  *100  *1 "
# metres are not fitted to degrees or kilograms, wherever the unit stands
missing "t,x [deg]" "" "x.x: x"
expect 2 bench.yaml --out wrong; says "^bench.yaml:8:[0-9]*: error: bench.csv: column 'x \[deg\]' is in deg, but 'x.x' is in m$"
missing "t,x" "" "x.x: {column: x, unit: kg}"
expect 2 bench.yaml --out wrong; says "^bench.yaml:8:[0-9]*: error: .*column 'x' is in kg, but 'x.x' is in m$"
missing "t [kg],x" "" "x.x: x"
expect 2 bench.yaml --out wrong; says "^bench.yaml:8:[0-9]*: error: .*column 't \[kg\]' is in kg, but time is in s$"
missing "t,x" "" "x.x: {column: x, noise: 3 deg}"
expect 2 bench.yaml --out wrong; says "^bench.yaml:8:[0-9]*: error: noise is in deg, but the measure is in m$"

# killed at any moment: what is there is whole
for wait in 0.2 0.5 0.9; do
    "$costate" identify noisy/model.yaml --quiet --out killed 2>/dev/null &
    pid=$!
    sleep $wait
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    for file in killed/*.csv; do
        [ -e "$file" ] || continue
        awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' "$file" || fail "$file is not whole"
        [ "$(tail -c 1 "$file" | od -An -c | tr -d ' ')" = '\n' ] || fail "$file ends in the middle of a line"
    done
done
exit $failed
