#!/bin/sh
# SPDX-License-Identifier: MIT
# What README.md, docs/guide.md and docs/tutorial.md show is true. In each, in order:
#     ```yaml   that begins with "# NAME.yaml" is written as that file, and `check` must accept it;
#               with "# with NAME.yaml" its sections are added to that file by `include`, checked and simulated
#     ```csv    that begins with "# NAME.csv" is written as that file
#     ```c      that begins with "/* NAME.c */" is compiled against the library and run
#     ```console  each line "$ costate ..." (or build/costate) is run; the lines below it must appear in what it prints,
#               in this order, blanks aside; "..." and empty lines stand for anything. "$ costate ..  # status N" fails so
# Other commands are shown to people only. Needs python3.
set -eu
build=$1 source=$2
[ -x "$build/costate" ] || exit 77
command -v python3 >/dev/null 2>&1 || { echo "python3 is not there"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ln -s "$source/examples" "$tmp/examples"
cd "$tmp"
sanitized=0
nm -D "$build/libcostate.so" 2>/dev/null | grep -q __asan_init && sanitized=1
python3 - "$build" "$source" "$sanitized" <<'END'
import os, re, shlex, subprocess, sys

build, source, sanitized = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
failed = ran = 0


def fail(place, text):
    global failed
    failed += 1
    print(f"{place}: {text}")


def call(place, command, status=0):
    global ran
    ran += 1
    words = shlex.split(command)
    words[0] = build + "/costate"
    p = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if p.returncode != status: fail(place, f"{command}: status {p.returncode}, not {status}\n{p.stdout}{p.stderr}")
    return p.stdout + p.stderr


def console(place, lines):
    output, at = [], 0
    for n, line in enumerate(lines):
        here = f"{place[0]}:{place[1] + 1 + n}"
        if line.startswith("$ "):
            m = re.search(r"  # status (\d)$", line)
            command = re.sub(r"\s+#.*$", "", line[2:])
            output, at = [], 0
            if re.match(r"(build/)?costate ", command):
                output = [" ".join(x.split()) for x in call(here, command, int(m[1]) if m else 0).splitlines()]
            elif command.startswith("head "):
                output = [x.rstrip() for x in subprocess.run(command, shell=True, capture_output=True, text=True).stdout.splitlines()]
            continue
        text = " ".join(line.split())
        if text in ("", "..."): continue
        try: at = output.index(text, at) + 1
        except ValueError: fail(here, f"the program does not print this (here): {line}")


def yaml(place, body):
    first, here = body[0], f"{place[0]}:{place[1]}"
    m = re.match(r"# (with )?([\w-]+\.yaml)(  wrong)?$", first)
    if not m: return
    if not m[1]:
        open(m[2], "w").write("\n".join(body) + "\n")
        if not m[3]: call(here, f"costate check {m[2]}")
        return
    open("with.yaml", "w").write(f"costate: 1\ninclude: {m[2]}\n" + "\n".join(body) + "\n")
    call(here, "costate simulate with.yaml --end 0.1 --out with-out")


def c_program(place, body):
    m = re.match(r"/\* ([\w-]+)\.c \*/$", body[0])
    if not m or sanitized: return
    open(m[1] + ".c", "w").write("\n".join(body) + "\n")
    p = subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", m[1] + ".c", "-o", m[1], f"-I{source}/include", f"-L{build}",
                        "-lcostate", "-lm", f"-Wl,-rpath,{build}"], capture_output=True, text=True)
    if p.returncode: return fail(f"{place[0]}:{place[1]}", p.stderr)
    p = subprocess.run(["./" + m[1]], capture_output=True, text=True)
    if p.returncode: fail(f"{place[0]}:{place[1]}", f"{m[1]} ends with {p.returncode}: {p.stdout}{p.stderr}")


for name in ("README.md", "docs/guide.md", "docs/tutorial.md"):
    path = os.path.join(source, name)
    if not os.path.exists(path): continue
    lines, i = open(path).read().splitlines(), 0
    while i < len(lines):
        m = re.match(r"```(\w+)$", lines[i])
        if not m:
            i += 1
            continue
        end = lines.index("```", i + 1)
        body, place = lines[i + 1:end], (name, i + 1)
        if m[1] == "yaml": yaml(place, body)
        if m[1] == "c": c_program(place, body)
        if m[1] == "console": console(place, body)
        if m[1] == "csv" and (f := re.match(r"# ([\w-]+\.csv)$", body[0])): open(f[1], "w").write("\n".join(body) + "\n")
        i = end + 1
print(f"{ran} commands run")
sys.exit(1 if failed or not ran else 0)
END
