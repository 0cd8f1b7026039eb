#!/bin/sh
# SPDX-License-Identifier: MIT
# costate compare: the ten rows of the five-bar's table and the discrete methods below them; rows that do not apply; options.
. "$2/tests/begin.sh"
five=$source/examples/five-bar/model.yaml
# expect STATUS ARGUMENTS...: runs costate compare; what it prints is in the files out and err
expect() {
    want=$1; shift
    "$costate" compare "$@" >out 2>err
    got=$?
    [ "$got" -eq "$want" ] || fail "costate compare $*: status $got, not $want"
}
says() { grep -qe "$1" err || fail "standard error should say: $1"; }
prints() { grep -qe "$1" out || fail "standard output should say: $1"; }
# holds CODE: Python on j, the JSON object in the file out, and row(formulation, method), which is its first row of these
holds() {
    python3 -c "
import json, sys
j = json.load(open('out'))
def row(f, m): return [r for r in j['rows'] if r['formulation'] == f and r['method'].startswith(m)][0]
def slopes(f, m): return [row(f, m)['gradient']['psi'][p] for p in ('L01', 'L02')]
def off(f, m): return max(abs(a / b - 1) for a, b in zip(slopes(f, m), (-4.22881085524, 3.21160410299)))
sys.exit(0 if ($1) else 1)" 2>>err || fail "not true: $1"
}

# Direct and adjoint are equal to each other; after the whole run, in `make test-slow`, the paper's rows are within 0.3 % of the
# converged gradient (tests/test_formulations.c has the same for the library)
end=0.5
[ -z "${COSTATE_ALL:-}" ] || end=5
expect 0 "$five" --step 1e-2 --end $end --json
if [ -n "${COSTATE_ALL:-}" ]; then
    holds "all(off(f, m) < 3e-3 for f in ('index3', 'index1', 'penalty', 'maggi') for m in ('continuous-direct', 'continuous-adjoint'))"
    holds "off('index3', 'difference 1e-7') < 3e-3 and off('index3', 'difference 1e-4') < 3e-3"
fi
holds "all(abs(a / b - 1) < 1e-9 for f in ('index3', 'augmented', 'index1', 'penalty', 'maggi', 'joint', 'variational')
           for a, b in zip(slopes(f, 'direct'), slopes(f, 'adjoint')))"
holds "all('SUNDIALS' in r['note'] for r in j['rows'] if r['integrator'] == 'bdf' and r['method'] in ('direct', 'adjoint'))"

# One integrator for all: formulations that do not take it say so, in one line each
expect 0 "$five" --end 0.2 --step 1e-2 --integrator rk45
prints "^  maggi  *rk45  *adjoint"
prints "^index3, rk45, all methods: integrator 'rk45' does not apply to formulation 'index3', which goes with newmark"
[ "$(grep -c '^variational, rk45' out)" -eq 1 ] || fail "the variational formulation has one line"
prints "mixed: its sensitivities are of first order"

# A tolerance: implicit rules choose their steps, and differences keep them
expect 0 "$five" --end 1 --step 1e-2 --tolerance 1e-4 --json
holds "max(abs(a / b - 1) for a, b in zip(slopes('index3', 'adjoint'), slopes('index3', 'difference 1e-7'))) < 1e-5"
expect 0 "$five" --end 0.2 --step 1e-2 --tolerance 1e-4 --sensitivity rk4
prints "tolerance chooses the lengths of steps"
grep -q "of first order" out && fail "rk4 is not of first order"

# Another penalty is another motion
expect 0 "$five" --end 0.5 --step 1e-2 --json
cp out first
expect 0 "$five" --end 0.5 --step 1e-2 --alpha 1e3 --json
holds "abs(row('penalty', 'adjoint')['objectives']['psi'] - row('index1', 'adjoint')['objectives']['psi']) > 1e-6 * abs(row('index1', 'adjoint')['objectives']['psi'])"
holds "row('index1', 'adjoint')['objectives'] == [r for r in json.load(open('first'))['rows'] if r['formulation'] == 'index1' and r['method'] == 'adjoint'][0]['objectives']"
expect 2 "$five" --alpha -1
says "must be"
exit $failed
