#!/bin/sh
# SPDX-License-Identifier: MIT
# What the program writes. For every file of every command: where it cannot be written, or the disk is full, the exit status is 1, a
# message names the file, and nothing unfinished is left behind. What cannot be read is 2. One program at a time writes to a directory.
set -u
build=$1 source=$2
costate=$build/costate
[ -x "$costate" ] || exit 77
[ -w /dev/full ] || { echo "there is no /dev/full"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
fail() { echo "FAILED: $*"; sed 's/^/    err: /' err 2>/dev/null | head -n 10; failed=1; }
# expect STATUS ARGUMENTS...
expect() {
    want=$1; shift
    timeout 60 "$costate" "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate $*: status $got, not $want"
}
says() { grep -qe "$1" err || fail "standard error should say: $1"; }
no_parts() { [ -z "$(find . -name '*.part*')" ] || fail "$*: unfinished files: $(find . -name '*.part*')"; }

cat >model.yaml <<'END'
costate: 1
name: Pendulum
parameters: {k: 20, l: 1}
points: {A: [0, 0, 0], B: [l, 0, 0]}
bodies: {p: {type: point, mass: 1, position: B}}
forces: {s: {type: spring, from: ground.A, to: p.B, stiffness: k, free_length: l}}
measures: {x: {type: position, of: p.B}}
objectives: {psi: end(x.z)}
design: {minimize: psi, variables: {k: [10, 30]}, scenarios: {a: {set: {l: 1.1}}, b: {set: {l: 0.9}}}}
identify: {parameters: {k: {range: [1, 100]}}, experiments: {e: {csv: data.csv, channels: {x.z: {column: z, noise: 0.01}}}}}
simulation: {end: 0.2, step: 0.01}
END
printf 't,z\n0.05,-0.0125\n0.1,-0.05\n0.15,-0.11\n0.2,-0.19\n' >data.csv
hdf5=--hdf5 page=--report
"$costate" --version | grep -q '^  HDF5 .*not installed' && { hdf5=; echo "skipped: --hdf5 (HDF5 is not installed)"; }
"$costate" simulate model.yaml --quiet --out viewer
"$costate" report viewer --quiet 2>/dev/null || { page=; echo "skipped: --report (built without the viewer)"; }

# ---- each file in turn is a directory, or a device that is always full ----
commands="simulate gradient compare check optimize identify"
line() {
    case $1 in
    check) echo "check model.yaml --quiet $page" ;;
    gradient) echo "gradient model.yaml --check --quiet $hdf5 $page" ;;
    optimize) echo "optimize model.yaml --method lbfgsb --quiet $hdf5 $page" ;;
    compare) echo "compare model.yaml --quiet $page" ;;
    *) echo "$1 model.yaml --quiet $hdf5 $page" ;;
    esac
}
count=0
for command in $commands; do
    [ $command != check ] || [ -n "$page" ] || continue
    # shellcheck disable=SC2046
    expect 0 $(line $command) --out whole-$command
    for file in $(ls whole-$command); do
        count=$((count + 1))
        for way in directory full; do
            mkdir blocked
            if [ $way = directory ]; then mkdir -p blocked/$file/full; else ln -s /dev/full blocked/$file; fi
            # shellcheck disable=SC2046
            expect 1 $(line $command) --out blocked
            says "^blocked/$file: error: .*cannot be written: "
            [ "$(grep -c "error:" err)" -eq 1 ] || fail "$command: $file, $way: not one message"
            no_parts "$command: $file, $way"
            rm -r blocked
        done
    done
done
[ $count -ge 40 ] || fail "only $count files were looked at"
if [ -n "$page" ]; then
    for to in /dev/full viewer none/page.html model.yaml/page.html; do
        expect 1 report viewer --file $to; says "^$to: error: cannot be written: "; no_parts "report --file $to"
    done
fi
for command in "help" "help --markdown" "--version" "schema" "simulate model.yaml --json" "check model.yaml --json" "gradient model.yaml"; do
    # shellcheck disable=SC2086
    "$costate" $command >/dev/full 2>err
    [ $? -eq 1 ] || fail "costate $command on a full disk"
    says "standard output: "
done

# ---- directories that cannot be made ----
for command in $commands; do
    [ $command != check ] || [ -n "$page" ] || continue
    for dir in model.yaml model.yaml/x /dev/null/x "$(printf '%0300d' 0)"; do
        # shellcheck disable=SC2046
        expect 1 $(line $command) --out "$dir"; says "error: the directory of results cannot be made: "
    done
done
[ -f model.yaml ] || fail "the model has been replaced"

# ---- a disk that becomes full at any point of a file ----
if [ -n "$hdf5" ]; then
    for blocks in 1 2 4 8 16 32 64 1024; do # of 512 bytes, messages included
        (trap '' XFSZ; ulimit -f $blocks; exec timeout 60 "$costate" simulate model.yaml --hdf5 --quiet --out small) >out 2>err
        got=$?
        [ $got -eq 1 ] || [ $got -eq 0 ] || fail "simulate --hdf5 with files up to $blocks blocks: status $got"
        [ $got -eq 0 ] || says "error: cannot be written: File too large"
        no_parts "simulate --hdf5 with files up to $blocks blocks"
        [ $got -eq 0 ] || [ ! -e small/results.h5 ] || fail "a file that is not whole"
        rm -rf small
    done
    [ $got -eq 0 ] || fail "1024 blocks are enough"
fi

# ---- with --json one object and nothing else, whatever libraries print: here one that speaks in every fsync, and Ipopt ----
cat >noise.c <<'END'
#include <stdio.h>
int fsync(int fd);
int fsync(int fd)
{
    (void)fd;
    printf("noise\n");
    return 0;
}
END
printf 'print_level 5\n' >ipopt.opt
one_object() { # ARGUMENTS...
    LD_PRELOAD=$noise ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 timeout 60 "$costate" "$@" --json >out 2>err
    python3 -c 'import json; json.load(open("out"))' 2>/dev/null || fail "costate $* --json prints something else: $(head -n 3 out)"
}
methods() { # COMMAND: each of its methods that is installed
    words="lbfgsb slsqp mma auglag multistart"
    [ "$1" = optimize ] || words="lm minpack lbfgsb"
    echo "$words"
    "$costate" --version | grep -q '^  Ipopt .*not installed' || echo ipopt
}
if python3 -c '' 2>/dev/null; then
    noise=
    "${CC:-cc}" -shared -fPIC -o noise.so noise.c 2>/dev/null && noise=$tmp/noise.so
    for command in simulate gradient compare check; do one_object $command model.yaml --out json; done
    for method in $(methods optimize); do one_object optimize model.yaml --method $method --out json; done
    for method in $(methods identify); do one_object identify model.yaml --method $method --out json; done
    [ -z "$page" ] || one_object report json
    [ -z "$noise" ] || grep -q '^noise$' err || fail "the library has not printed"
    one_object simulate none.yaml
else
    echo "skipped: --json with libraries that print (no python3 to read it)"
fi

# ---- what cannot be read ----
for command in simulate gradient compare check optimize identify; do
    expect 2 $command none.yaml; says "^none.yaml: error: cannot read: No such file"
    expect 2 $command .; says "error: cannot read: it is a directory"
done
expect 2 report none; says "^none: error: "
mkdir -p odd/run.json
expect 2 report odd; [ -z "$page" ] || says "^odd/run.json: error: cannot read: it is a directory"
no_parts "report odd"

# ---- one program at a time: the second one says who is there, and disturbs nothing ----
"$costate" simulate model.yaml --end 1000 --step 1e-5 --quiet --out shared & first=$!
i=0
while [ "$(cat shared/measures.csv 2>/dev/null | wc -l)" -lt 2 ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
for command in $commands; do
    [ $command != check ] || [ -n "$page" ] || continue
    # shellcheck disable=SC2046
    expect 1 $(line $command) --out shared
    says "^shared: error: process $first is writing its results to this directory"
    [ "$(ls shared | tr '\n' ' ')" = "measures.csv poses.f32 run.json scene.json " ] || fail "$command writes to a locked directory: $(ls shared)"
done
kill -KILL $first; wait $first 2>/dev/null
: >shared/measures.csv.1-0.part # as a killed program leaves it
expect 0 simulate model.yaml --quiet --out shared # the lock has gone with its owner
no_parts "after a killed program"

# two at once: one of them is told so or comes later, and the results are those of one
"$costate" optimize model.yaml --method lbfgsb --quiet --out alone || fail "optimize"
"$costate" optimize model.yaml --method lbfgsb --quiet --out both 2>err1 & first=$!
"$costate" optimize model.yaml --method lbfgsb --quiet --out both 2>err2 & second=$!
wait $first; one=$?
wait $second; two=$?
[ $one$two = 00 ] || { [ $((one + two)) -eq 1 ] && grep -q "is writing its results" err1 err2; } || fail "two at once: $one $two $(cat err1 err2)"
cmp -s alone/history.csv both/history.csv && cmp -s alone/best.yaml both/best.yaml || fail "two optimisations disturb each other"

# ---- what was there stays when its successor fails, and a name that somebody else has taken is not used ----
mkdir kept && echo earlier >kept/run.json
mkdir kept/scene.json
expect 1 simulate model.yaml --quiet --out kept; says "kept/scene.json"
if strace -o /dev/null true 2>/dev/null; then
    ASAN_OPTIONS=detect_leaks=0 strace -f -o calls "$costate" simulate model.yaml --quiet --out traced
    grep -q 'open.*traced/run.json.*part.*O_EXCL' calls || fail "a part is not opened exclusively"
    awk '/run.json.*part.*O_EXCL/ { opened = 1 } opened && /fsync/ { synced = 1 } /rename.*run.json/ { if (!synced) exit 1; renamed = 1; synced = 0 }
        renamed && /fsync/ { after = 1 } END { exit !after }' calls || fail "results or their directory are not synchronised"
fi
exit $failed
