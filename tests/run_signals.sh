#!/bin/sh
# SPDX-License-Identifier: MIT
# The first SIGTERM or SIGINT asks for an end in good order; the second one, of either kind, ends the program wherever it is stuck:
# in a call that never returns, or in OpenBLAS, which waits for memory without end.
set -u
build=$1 source=$2
costate=$build/costate
[ -x "$costate" ] || exit 77
tmp=$(mktemp -d)
victim=
trap '[ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
five=$source/examples/five-bar/model.yaml
# gone SECONDS: has the victim ended within this time?
gone() {
    i=0
    while kill -0 "$victim" 2>/dev/null && [ $i -lt $(($1 * 10)) ]; do sleep 0.1; i=$((i + 1)); done
    ! kill -0 "$victim" 2>/dev/null
}

# ---- a call that never returns: the name of a part appears, then nothing happens ----
cat >stuck.c <<'END'
#include <unistd.h>
int fsync(int fd);
int fsync(int fd)
{
    (void)fd;
    for (;;) pause();
}
END
if ! "${CC:-cc}" -shared -fPIC -o stuck.so stuck.c 2>/dev/null; then
    echo "skipped: a call that never returns (there is no compiler)"
else
    for signals in "TERM TERM" "INT TERM" "TERM INT" "INT INT"; do
        export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD="$tmp/stuck.so"
        "$costate" optimize "$five" --end 0.1 --quiet --out stuck >/dev/null 2>&1 & victim=$!
        unset LD_PRELOAD ASAN_OPTIONS
        i=0
        while [ -z "$(find stuck -name 'initial*.part' 2>/dev/null)" ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
        sleep 0.3
        kill -${signals% *} $victim
        ! gone 1 || fail "$signals: the first signal does not ask, it kills"
        kill -${signals#* } $victim 2>/dev/null
        gone 5 || fail "$signals: a program that is stuck survives the second signal"
        wait $victim; got=$?
        case $signals-$got in *TERM-143 | *INT-130) ;; *) fail "$signals: status $got" ;; esac
        victim=
        rm -rf stuck
    done
fi

# ---- OpenBLAS without memory for its threads ----
if nm -D "$build/libcostate.so" | grep -q __asan_init; then
    echo "skipped: OpenBLAS without memory (sanitizers need all of the addresses)"
else
    for limit in 70000 90000 120000 160000; do # KiB of addresses
        (ulimit -v $limit; OPENBLAS_NUM_THREADS=8 exec "$costate" simulate "$five" --end 0.05 --quiet --out small) >/dev/null 2>&1 & victim=$!
        sleep 1
        kill -TERM $victim 2>/dev/null
        sleep 0.2
        kill -TERM $victim 2>/dev/null
        gone 5 || fail "with $limit KiB two signals do not end the program"
        wait $victim 2>/dev/null
        victim=
    done
fi
exit $failed
