#!/bin/sh
# SPDX-License-Identifier: MIT
# Models on which the program once went wrong: tests/cases/*.yaml. Their first lines say what is expected:
#     # costate simulate --step 1e-3          the command; the file is added
#     # status 0                              0 unless it is given
#     # says TEXT, # never TEXT               in what it prints
#     # first NAME VALUE TOLERANCE            of a column of measures.csv, in its first row; last: in its last one
#     # objective NAME VALUE TOLERANCE        absolute
#     # alike TAG NAME TOLERANCE              the objective is the same in all files with the tag
. "$2/tests/begin.sh"
python3 - "$costate" "$source/tests/cases" <<'E2' || failed=1
import csv, glob, json, os, re, shlex, subprocess, sys
costate, folder = sys.argv[1:]
wrong, alike = 0, {}
for path in sorted(glob.glob(folder + "/*.yaml")):
    said, command, problems = [], None, []
    with open(path) as f:
        for line in f:
            if not line.startswith("# "): break
            word, _, rest = line[2:].rstrip("\n").partition(" ")
            if word == "costate": command = shlex.split(rest)
            else: said.append((word, rest))
    status = next((int(r) for w, r in said if w == "status"), 0)
    arguments = [command[0], path] + command[1:] + (["--json"] if command[0] != "check" else [])
    out = ["--out", "out"] if command[0] != "check" else []
    p = subprocess.run([costate] + arguments + out, capture_output=True, text=True, timeout=300)
    printed = p.stdout + p.stderr
    if p.returncode != status: problems.append(f"status {p.returncode}, not {status}")
    def compare(what, is_, rest):
        value, tolerance = map(float, rest.split()[-2:])
        if not abs(is_ - value) <= tolerance: problems.append(f"{what} is {is_!r}, not {value!r}")
    for word, rest in said:
        if word == "says" and rest not in printed: problems.append(f"does not say: {rest}")
        if word == "never" and rest in printed: problems.append(f"says: {rest}")
        if word in ("first", "last"):
            with open("out/measures.csv") as f: rows = [r for r in csv.DictReader(x for x in f if not x.startswith("#"))]
            compare(rest.split()[0], float(rows[0 if word == "first" else -1][rest.split()[0]]), rest)
        if word == "objective": compare(rest.split()[0], json.loads(p.stdout)["objectives"][rest.split()[0]], rest)
        if word == "alike":
            tag, name, tolerance = rest.split()
            is_ = json.loads(p.stdout)["objectives"][name]
            if not abs(alike.setdefault(tag, is_) - is_) <= float(tolerance): problems.append(f"{name} is {is_!r}, not {alike[tag]!r}")
    if problems:
        wrong += 1
        print(f"FAILED: {os.path.basename(path)}: " + "; ".join(problems), printed[:600], sep="\n")
sys.exit(wrong > 0)
E2
exit $failed
