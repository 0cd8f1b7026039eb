#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into a fresh directory and builds a user's program with find_package and with pkg-config.
set -eu
build=$1 source=$2
if nm -D "$build/libcostate.so" | grep -q '__asan_init'; then
    echo "a sanitized library needs a sanitized program"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(sed -n 's/^project(costate VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")

cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/log"

check() {
    "$1" >"$tmp/out"
    grep -qx "costate $version" "$tmp/out" || { echo "$1 printed:"; cat "$tmp/out"; exit 1; }
    grep -qx "the model is wrong" "$tmp/out" || { echo "$1 printed:"; cat "$tmp/out"; exit 1; }
}

cmake -S "$source/tests/consumer" -B "$tmp/cmake" -DCMAKE_PREFIX_PATH="$tmp/prefix" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/cmake" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
check "$tmp/cmake/consumer"

pc=$(find "$tmp/prefix" -name costate.pc)
export PKG_CONFIG_PATH="${pc%/costate.pc}"
[ "$(pkg-config --modversion costate)" = "$version" ] || { echo "costate.pc has the wrong version"; exit 1; }
libdir=$(pkg-config --variable=libdir costate)
# shellcheck disable=SC2046
cc -std=c17 -Wall -Werror "$source/tests/consumer/main.c" $(pkg-config --cflags --libs costate) -Wl,-rpath,"$libdir" \
    -o "$tmp/consumer"
check "$tmp/consumer"

# as README.md says it, after its own line of installation
sed -n '/^```sh$/,/^```$/p' "$source/README.md" | sed '/^```/d' >"$tmp/readme.sh"
grep -q pkg-config "$tmp/readme.sh" || { echo "README.md does not show pkg-config"; exit 1; }
grep -qF 'make install PREFIX=$HOME/costate' "$source/README.md" || { echo "README.md installs elsewhere"; exit 1; }
mkdir "$tmp/home" && cp "$source/tests/consumer/main.c" "$tmp/home/my_program.c"
ln -s "$tmp/prefix" "$tmp/home/costate"
(cd "$tmp/home" && HOME=$tmp/home && export HOME && unset PKG_CONFIG_PATH && . "$tmp/readme.sh")
check "$tmp/home/my_program"

# all of it in one file, but for the libraries that it needs itself
# shellcheck disable=SC2046
cc -std=c17 -Wall -Werror "$source/tests/consumer/main.c" $(pkg-config --cflags costate) "$libdir/libcostate.a" \
    $(pkg-config --static --libs-only-l costate | sed 's/-lcostate//') -o "$tmp/static"
check "$tmp/static"
ldd "$tmp/static" | grep libcostate && { echo "libcostate.so is still needed"; exit 1; }
check "$tmp/cmake/consumer_static"

# licences
for file in LICENSE licences.md; do
    [ -s "$tmp/prefix/share/doc/costate/$file" ] || { echo "share/doc/costate/$file is missing"; exit 1; }
done

# the header alone serves C++
if command -v c++ >/dev/null 2>&1; then
    echo '#include <costate.h>' >"$tmp/header.cpp"
    # shellcheck disable=SC2046
    c++ -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags costate) "$tmp/header.cpp"
fi
