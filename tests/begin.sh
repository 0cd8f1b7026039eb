# SPDX-License-Identifier: MIT
# The beginning of tests that run the program and read its JSON: BUILD SOURCE -> an empty directory, fail().
set -u
build=$1 source=$2
costate=$build/costate
[ -x "$costate" ] || exit 77
command -v python3 >/dev/null 2>&1 || { echo "python3 is not there to read JSON"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0
fail() { echo "FAILED: $*"; sed 's/^/    out: /' out 2>/dev/null | head -n 20; sed 's/^/    err: /' err 2>/dev/null | head -n 20; failed=1; }
