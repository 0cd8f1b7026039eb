#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/reference.md is what the program writes; every type and every field stands in it.
set -eu
build=$1 source=$2
[ -x "$build/costate" ] && [ -f "$source/docs/reference.md" ] || exit 77
"$build/costate" help --markdown | diff "$source/docs/reference.md" - && exit 0
echo "docs/reference.md is old (<) against the program (>); renew it with scripts/reference"
exit 1
