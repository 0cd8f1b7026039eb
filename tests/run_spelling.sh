#!/bin/sh
# SPDX-License-Identifier: MIT
# Spelling of what people read: documents, models, scripts, and the comments and texts of the sources. tests/words.txt has the
# words that codespell takes for slips of others.
set -eu
source=$2
command -v codespell >/dev/null 2>&1 || { echo "skipped: spelling (codespell is not installed)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source"

# the sources with their code blank: places stay
python3 - "$work" <<'END'
import pathlib, re, sys
said = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
for path in [p for folder in ('src', 'include', 'tests', 'bench', 'viewer') for p in pathlib.Path(folder).rglob('*.*')]:
    if path.suffix not in ('.c', '.h', '.def', '.js', '.mjs') or 'node_modules' in path.parts:
        continue
    text, at, out = path.read_text(), 0, ''
    for part in said.finditer(text):
        out += re.sub(r'[^\n]', ' ', text[at:part.start()]) + re.sub(r'\\[nt]', '  ', part.group())
        at = part.end()
    copy = pathlib.Path(sys.argv[1]) / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(out)
END
wrong=0
codespell --ignore-words tests/words.txt *.md docs examples scripts cmake Makefile $(find tests -name '*.sh' -o -name '*.yaml' | grep -v 'bad_models\|fuzz') \
    --skip '*.svg,*.png,*.csv,*.py' || wrong=1
(cd "$work" && codespell --ignore-words "$source/tests/words.txt" .) || wrong=1
exit $wrong
