#!/bin/sh
# SPDX-License-Identifier: MIT
# interrupt_optimize.sh BUILD SOURCE COUNT: SIGINT or SIGTERM at COUNT random moments, every optimiser, also on models on which
# libraries have turned in circles. The command ends within a second (and half of one for the load of the machine), the files
# are whole, and once there has been an iterate, best.yaml is a model file with finite numbers.
set -eu
build=$1 source=$2 count=$3
[ -x "$build/costate" ] || exit 77
command -v python3 >/dev/null 2>&1 || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
without=
"$build/costate" --version | grep -q '^  Ipopt .*not installed' && without=ipopt && echo "skipped: --method ipopt (Ipopt is not installed)"
python3 - "$build/costate" "$source" "$work" "$count" "$without" <<'END'
import json, os, random, shutil, signal, subprocess, sys, time
costate, source, work, count, without = sys.argv[1:]
random.seed(int(count))
five = [source + "/examples/five-bar/model.yaml", "--step", "0.02", "--end", "1"]
circles = [[source + "/tests/cases/hang-auglag-feasible.yaml"], [source + "/tests/cases/hang-multistart.yaml"]]
inner = ["slsqp", "auglag", "ipopt", "multistart"]
pairs = [(five, m) for m in ["lbfgsb", "mma"] + inner] + [(circles[0], "mma")] + [(c, m) for c in circles for m in inner]
pairs = [p for p in pairs if p[1] != without]
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
random.shuffle(pairs)
running, without_iterate, longest, wrong = 0, 0, 0, 0
for k in range(int(count)):
    model, method = pairs[k % len(pairs)]
    out, how = work + "/run", random.choice([signal.SIGINT, signal.SIGTERM])
    shutil.rmtree(out, ignore_errors=True)
    p = subprocess.Popen([costate, "optimize", *model, "--method", method, "--out", out, "--quiet"],
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **quiet) # which a shell may have ignored
    moment = random.random() * random.choice([0.1, 0.5, 1])
    time.sleep(moment)
    ended, begin = p.poll(), time.time()
    p.send_signal(how)
    status = p.wait(60)
    took = time.time() - begin
    faults = []
    if ended is None:
        running += 1
        longest = max(longest, took)
        if took > 1.5: faults.append("ended after %.2f s" % took)
        if status not in (0, 1, 128 + how, -how): faults.append("status %d" % status)
    rows = open(out + "/history.csv").read().splitlines() if os.path.exists(out + "/history.csv") else []
    if any(len(r.split(",")) != len(rows[0].split(",")) for r in rows): faults.append("history.csv is cut short")
    without_iterate += len(rows) < 2
    if len(rows) > 1:
        if subprocess.call([costate, "check", out + "/best.yaml"], **quiet) != 0: faults.append("best.yaml is no model file")
        if "nan" in open(out + "/best.yaml").read(): faults.append("best.yaml has numbers that are not finite")
    if os.path.exists(out + "/result.json"): json.load(open(out + "/result.json"))
    if faults:
        wrong += 1
        print("%s by %s, signal %d after %.3f s: %s" % (os.path.basename(model[0]), method, how, moment, ", ".join(faults)))
print("%s interrupts: %d while it ran, %d before the first iterate, the longest end %.2f s, %d wrong"
      % (count, running, without_iterate, longest, wrong))
sys.exit(wrong > 0 or running == 0)
END
