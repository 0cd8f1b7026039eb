#!/bin/sh
# SPDX-License-Identifier: MIT
# costate schema: it is a JSON Schema, every example is valid by it, every wrong model with an unknown section, type, field
# or key is not, and neither is any example with one key misspelt.
set -u
build=$1 source=$2
[ -x "$build/costate" ] || exit 77
for python in python3 /usr/bin/python3; do
    "$python" -c "import jsonschema, yaml" 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "python3-jsonschema and python3-yaml are not there"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

"$build/costate" schema >"$tmp/schema.json" || fail "costate schema"
check() { "$python" "$source/tests/schema_check.py" "$@"; }

check "$tmp/schema.json" "$source"/examples/*/*.yaml >"$tmp/out" || fail "the schema is not a schema"
grep -v ': ok$' "$tmp/out" && fail "examples that should be valid"
[ "$(grep -c ': ok$' "$tmp/out")" -ge 10 ] || fail "examples are missing"

# wrong keys and types; names in expressions and of elements are not the schema's matter
wrong=$(grep -lE '^# expect: .*unknown (section|field|key|type|way|interpolation) ' "$source"/tests/bad_models/*.yaml)
[ -n "$wrong" ] || fail "no wrong models"
# shellcheck disable=SC2086
check "$tmp/schema.json" $wrong >"$tmp/out"
grep ': ok$' "$tmp/out" && fail "wrong models that the schema lets through"

check --misspell "$tmp/schema.json" "$source"/examples/*/*.yaml >"$tmp/out" || fail "misspelt keys"
cat "$tmp/out"
exit $failed
