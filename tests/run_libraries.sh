#!/bin/sh
# SPDX-License-Identifier: MIT
# Few libraries, all of them in docs/licences.md, none under the GPL; HDF5 and Ipopt are missed by name, and by nobody else.
set -u
build=$1 source=$2
costate=$build/costate
[ -x "$costate" ] || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# sanitizers bring libraries of their own
if ! nm -D "$build/libcostate.so" | grep -q __asan_init; then
    for file in "$costate" "$build/libcostate.so"; do
        ldd "$file" >"$tmp/ldd"
        [ "$(wc -l <"$tmp/ldd")" -le 20 ] || fail "$file: $(wc -l <"$tmp/ldd") libraries"
        sed 's/^[[:space:]]*//; s/[ (].*//; s/.*\///; s/\.so.*//; s/-x86.*\|-linux-aarch.*//' "$tmp/ldd" | while read -r name; do
            grep -q "^|.*[ |]$name[,. |]" "$source/docs/licences.md" || echo "$name is not in docs/licences.md"
        done >"$tmp/unknown"
        [ ! -s "$tmp/unknown" ] || fail "$file: $(cat "$tmp/unknown")"
        grep -E 'cholmod|spqr|umfpack|hdf5|ipopt|curl|mumps' "$tmp/ldd" && fail "$file: a library that must not be linked"
    done
fi

"$costate" --version >"$tmp/out" || fail "--version"
for name in libfyaml KLU AMD CVODES NLopt L-BFGS-B HDF5 Ipopt; do
    grep -Eq "^  $name.* (linked|loaded when used: |not installed: )" "$tmp/out" || fail "--version lacks $name: $(cat "$tmp/out")"
done

# A system without them: files of their names that are no libraries come first in the search.
mkdir "$tmp/lib"
for number in 100 200 310; do : >"$tmp/lib/libhdf5_hl.so.$number" && : >"$tmp/lib/libhdf5_serial_hl.so.$number"; done
for name in libhdf5_hl.so libipopt.so libipopt.so.1 libipopt.so.3; do : >"$tmp/lib/$name"; done
five=$source/examples/five-bar/model.yaml
without() { LD_LIBRARY_PATH="$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$costate" "$@" >"$tmp/out" 2>"$tmp/err"; }

without --version || fail "--version without them"
[ "$(grep -c 'not installed: Debian package' "$tmp/out")" -eq 2 ] || fail "--version without them: $(cat "$tmp/out")"
without simulate "$five" --end 0.05 --quiet --out "$tmp/plain" || fail "simulate without HDF5: $(cat "$tmp/err")"
without simulate "$five" --end 0.05 --hdf5 --quiet --out "$tmp/h5"
[ $? -eq 1 ] || fail "simulate --hdf5 without HDF5: not status 1"
[ "$(grep -c error "$tmp/err")" -eq 1 ] || fail "not one message: $(cat "$tmp/err")"
grep -q 'HDF5 is not installed .*: install the Debian package libhdf5-hl-100' "$tmp/err" || fail "the message: $(cat "$tmp/err")"
[ -z "$(find "$tmp/h5" -name 'results.h5*' 2>/dev/null)" ] || fail "a file without contents"
without optimize "$five" --end 0.05 --method lbfgsb --quiet --out "$tmp/lbfgsb" || fail "optimize without Ipopt: $(cat "$tmp/err")"
without optimize "$five" --end 0.05 --method ipopt --quiet --out "$tmp/ipopt"
[ $? -eq 1 ] || fail "optimize --method ipopt without Ipopt: not status 1"
[ "$(grep -c error "$tmp/err")" -eq 1 ] || fail "not one message: $(cat "$tmp/err")"
grep -q 'Ipopt is not installed .*: install the Debian package coinor-libipopt1v5' "$tmp/err" || fail "the message: $(cat "$tmp/err")"
exit $failed
