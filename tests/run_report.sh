#!/bin/sh
# SPDX-License-Identifier: MIT
# costate report: what it writes and refuses, and the pages in a real browser (tests/report/check.mjs).
set -u
build=$1
source=$2
costate=$build/costate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "failed: $*"; failed=1; }
model=$source/examples/five-bar/model.yaml

mkdir empty
"$costate" report empty >out 2>err && fail "a directory without results"
if grep -q "built without the viewer" err; then
    echo "SKIP: the program was built without the viewer (nodejs and npm were missing)"
    exit 77
fi
grep -q "empty: error: there are no results" err || fail "message: $(cat err)"
[ ! -e empty/report.html ] || fail "a page about nothing"
"$costate" report nowhere >out 2>err; [ $? -eq 2 ] || fail "status of a missing directory"

"$costate" gradient "$model" --out gradient --report >out 2>err || fail "gradient --report: $(cat err)"
grep -q "gradient/report.html" out || fail "gradient --report does not name the page"
"$costate" gradient "$model" --out nothing --quiet || fail "gradient"
"$costate" report nothing/ --json >out || fail "report --json"
grep -q '"file": "nothing/report.html"' out || fail "report --json: $(cat out)"

"$costate" optimize "$model" --step 5ms --iterations 3 --out optimum --quiet || fail optimize
sed -i 's|"model": {|"note": "</script><b>", &|' optimum/result.json # a text that would end the script
"$costate" report optimum --file page.html >out || fail "report --file"
mv page.html optimum/report.html

# every other command that works on a model
cp -r "$source/examples/identify-strut" strut
sed -i 's/^    fast:/    fast:\n      to: 0.4/; s/^    slow:/    slow:\n      to: 0.6/; /^    tiny:/,/channels/d' strut/model.yaml
"$costate" identify strut/model.yaml --step 2e-3 --out identify --report >out 2>err || fail "identify --report: $(cat err)"
grep -q "identify/report.html" out || fail "identify --report does not name the page"
"$costate" compare "$model" --step 0.02 --end 0.5 --out compare --report --quiet 2>err || fail "compare --report: $(cat err)"
"$costate" check "$model" --out check --report --quiet || fail "check --report"
"$costate" simulate "$model" --step 0.02 --end 0.5 --out simulate --report --quiet || fail "simulate --report"
"$costate" optimize "$model" --step 0.02 --end 0.5 --iterations 2 --out optimize --report --quiet || fail "optimize --report"

"$costate" report optimum gradient/ --file both.html >out || fail "report of two directories"
"$costate" report optimum empty --file none.html >out 2>err && fail "a page with a directory without results"
[ ! -e none.html ] || fail "half a page"

# the same directory gives the same page, and a page is complete or absent
"$costate" report optimum --quiet --file again.html && cmp -s again.html optimum/report.html || fail "two pages differ"
"$costate" report optimum --file no/such/place.html >out 2>err; [ $? -eq 2 ] || fail "status of a place that is not there"
ls ./*.part */*.part 2>/dev/null && fail "a part of a page is left"
for page in gradient nothing optimum identify compare check simulate optimize; do
    [ "$(grep -c '</script>' $page/report.html)" -eq 2 ] || fail "$page: data ends the script"
    grep -qE '(src|href)="?(https?:)?//' $page/report.html && fail "$page: something is loaded from elsewhere"
    size=$(wc -c <$page/report.html)
    [ "$size" -lt 4000000 ] || fail "$page has $size bytes"
done

for program in node chromium; do
    command -v $program >/dev/null 2>&1 && continue
    [ $failed -eq 0 ] || exit 1
    echo "SKIP: $program is not there; the pages were written, and not looked at"
    exit 77
done
timeout 300 node "$source/tests/report/check.mjs" "$work" || failed=1
exit $failed
