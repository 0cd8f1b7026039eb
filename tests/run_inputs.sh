#!/bin/sh
# SPDX-License-Identifier: MIT
# What the program reads. Only regular files: no device, pipe or directory, in whatever place a model names it; and with --sandbox only
# files whose real path is below the directory of the model, whatever leads elsewhere: '..', a path from the root, a link.
set -u
build=$1
costate=$build/costate
[ -x "$costate" ] || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
fail() { echo "FAILED: $*"; sed 's/^/    err: /' err 2>/dev/null | head -n 10; failed=1; }
limit=400000 # KiB of addresses; sanitizers need all of them
nm -D "$build/libcostate.so" | grep -q __asan_init && limit=unlimited
# expect STATUS ARGUMENTS...
expect() {
    want=$1; shift
    (ulimit -v $limit; exec timeout 60 "$costate" "$@") >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate $*: status $got, not $want"
}
says() { grep -qe "$1" err || fail "standard error should say: $1"; }

# ---- a model for each way to name a file: model WAY FILE ----
ways="include part table road experiment scenario"
model() {
    echo "costate: 1"
    echo "parameters: {m: 1}"
    echo "bodies: {p: {type: rigid, mass: m, inertia: [1, 1, 1], position: [0, 0, 1]}}"
    echo "measures: {x: {type: position, of: p.origin}}"
    echo "objectives: {psi: end(x.z)}"
    echo "simulation: {end: 0.02, step: 0.01}"
    case $1 in
    include) echo "include: $2" ;;
    part) echo "parts: {q: {file: $2}}" ;;
    table) echo "tables: {T: {csv: $2, x: t, y: y}}" ;;
    road) echo "roads: {r: {type: profile, csv: $2, x: t, z: y}}" ;;
    experiment) echo "identify: {parameters: [m], experiments: {e: {csv: $2, channels: {x.z: {column: y}}}}}" ;;
    scenario) echo "design: {minimize: psi, variables: {m: [0.5, 2]}, scenarios: {s: {file: $2}}}" ;;
    esac
}
contents() { # of the file that is named: it is read in full where this is allowed
    case $1 in
    include) echo "costate: 1"; echo "parameters: {SECRET: 3}" ;;
    part) echo "costate: 1"; echo "parameters: {SECRET: 3}" ;;
    scenario) model none ;;
    *) echo "t,y"; echo "0,1"; echo "0.01,0"; echo "0.02,0.5" ;;
    esac
}

# ---- what is no file ----
mkdir dir
mkfifo pipe
truncate -s 300M large
for way in $ways; do
    for file in dir pipe /dev/zero large; do
        model $way $file >odd.yaml
        expect 2 check odd.yaml
        says "error"
        case $file in dir) says "it is a directory" ;; large) says "is larger than 256 MiB" ;; *) says "is not a regular file" ;; esac
        [ $file = large ] || [ $way = scenario ] || says "^odd.yaml:7:[0-9]*: error: cannot read '$file'"
    done
done
for file in dir pipe /dev/zero large; do expect 2 check $file; says "^$file: error"; done

# ---- what is read with --sandbox: below the directory, however it is named ----
mkdir -p home/user/sub outside
ln -s sub home/user/link
for way in $ways; do
    contents $way >home/user/inner.txt
    contents $way >home/user/sub/inner.txt
    for file in inner.txt sub/inner.txt ./sub/../inner.txt link/inner.txt "$tmp/home/user/inner.txt"; do
        model $way "$file" >home/user/model.yaml
        expect 0 check home/user/model.yaml --sandbox --quiet
    done
    (cd home/user && expect 0 check model.yaml --sandbox --quiet; exit $failed) || failed=1
    (cd home/user/sub && expect 0 check ../model.yaml --sandbox --quiet; exit $failed) || failed=1
done

# ---- and what is not; the neighbour's name begins alike ----
mkdir home/user2
ln -s ../../outside home/user/away
ln -s ../../outside/file.txt home/user/direct
for way in $ways; do
    contents $way >outside/file.txt
    contents $way >home/user2/file.txt
    for file in ../../outside/file.txt ../user2/file.txt sub/../../../outside/file.txt away/file.txt direct "$tmp/outside/file.txt"; do
        model $way "$file" >home/user/model.yaml
        expect 0 check home/user/model.yaml --quiet # without --sandbox it is read
        for command in check simulate gradient compare optimize identify; do
            case $way-$command in experiment-check | experiment-identify | scenario-check | scenario-optimize) ;;
            experiment-* | scenario-*) continue ;; esac
            expect 2 $command home/user/model.yaml --sandbox --quiet $([ $command = check ] || echo --out results)
            says "outside of the directory"
        done
        [ ! -e results ] || [ -z "$(ls results)" ] || fail "$way: a refused model leaves results"
    done
    echo "not what was expected: SECRET" >outside/file.txt
    model $way ../../outside/file.txt >home/user/model.yaml
    expect 2 check home/user/model.yaml --sandbox --json
    ! grep -q SECRET out err || fail "$way: the file outside is quoted"
    cp err there
    rm outside/file.txt
    expect 2 check home/user/model.yaml --sandbox --json
    cmp -s err there || fail "$way: the message tells whether a file outside exists"
done

# the model itself, what an included file names, and what --set names
model none >outside/model.yaml
ln -s ../../outside/model.yaml home/user/linked.yaml
expect 0 check home/user/linked.yaml --quiet
expect 2 check home/user/linked.yaml --sandbox; says "outside of the directory"
contents table >outside/file.txt
contents table >home/user/inner.txt
{ echo "costate: 1"; echo "tables: {T: {csv: ../../../outside/file.txt, x: t, y: y}}"; } >home/user/sub/more.yaml
model include sub/more.yaml >home/user/model.yaml
expect 0 check home/user/model.yaml --quiet
expect 2 check home/user/model.yaml --sandbox; says "sub/more.yaml:2:19: error: .*outside of the directory"
model table inner.txt >home/user/model.yaml
expect 2 check home/user/model.yaml --sandbox --set T.csv=../../outside/file.txt; says "outside of the directory"
echo "set: {T.csv: ../../outside/file.txt}" >>home/user/model.yaml
expect 0 check home/user/model.yaml --quiet
expect 2 check home/user/model.yaml --sandbox; says "outside of the directory"
exit $failed
