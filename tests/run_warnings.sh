#!/bin/sh
# SPDX-License-Identifier: MIT
# clang has nothing to say about any source file, with the warnings of CMakeLists.txt and -Wpedantic. It makes no code.
# Macros may leave out their last arguments (C23 allows it).
set -eu
build=$1 source=$2
command -v clang >/dev/null 2>&1 || { echo "skipped: the warnings of clang (not installed: scripts/install-deps clang)"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "skipped: the warnings of clang (no python3 to read how the build compiles)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source"

# directories and definitions as the build has them; what one file needs does not disturb the others
python3 - "$build/compile_commands.json" >"$work/flags" <<'END'
import json, re, shlex, sys
flags = {}
for command in json.load(open(sys.argv[1])):
    words = shlex.split(command['command'])
    for word, following in zip(words, words[1:]):
        if word == '-isystem' and following != '/usr/include':
            flags[f'-isystem {shlex.quote(following)}'] = 1
        elif re.match('-I|-D_POSIX|-DCST_', word) and word != '-DCST_ORACLE':
            flags[shlex.quote(word)] = 1
print('\n'.join(flags))
END
find src tests bench -name '*.c' ! -path 'tests/consumer/*' | sort |
    xargs -n 30 -P 2 clang -fsyntax-only -std=c17 "@$work/flags" -Werror -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla -Wconversion -Wno-sign-conversion -Wno-gnu-zero-variadic-macro-arguments
