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

# licences: the page, and where packages are Debian's the text of every library that is linked or would be loaded, with what
# these texts refer to where it applies
doc=$tmp/prefix/share/doc/costate
for file in LICENSE licences.md; do
    [ -s "$doc/$file" ] || { echo "share/doc/costate/$file is missing"; exit 1; }
done
if command -v dpkg-query >/dev/null 2>&1; then
    { ldd "$tmp/prefix/bin/costate" && ldd "$libdir/libcostate.so"; } | sed -n 's/.* => \([^ ]*\) .*/\1/p' >"$tmp/files"
    "$tmp/prefix/bin/costate" --version | sed -n 's/.*loaded when used: //p' >>"$tmp/files"
    sort -u "$tmp/files" | while read -r file; do
        file=$(readlink -f "$file")
        # packages may know a file of /usr/lib as one of /lib
        package=$(dpkg-query -S "$file" 2>/dev/null || dpkg-query -S "${file#/usr}" 2>/dev/null) || continue
        package=${package%%:*}
        [ ! -e "/usr/share/doc/$package/copyright" ] || echo "$package"
    done | sort -u >"$tmp/packages"
    [ "$(wc -l <"$tmp/packages")" -ge 5 ] || [ ! -e /usr/share/doc/libc6/copyright ] || { echo "packages are not found"; exit 1; }
    while read -r package; do
        cmp -s "/usr/share/doc/$package/copyright" "$doc/licences/$package.txt" || { echo "no licence of $package"; exit 1; }
    done <"$tmp/packages"
    for text in LGPL-2.1 GPL-3; do
        cmp -s "/usr/share/common-licenses/$text" "$doc/licences/$text.txt" || { echo "no $text"; exit 1; }
    done
fi

# the header alone serves C++
if command -v c++ >/dev/null 2>&1; then
    echo '#include <costate.h>' >"$tmp/header.cpp"
    # shellcheck disable=SC2046
    c++ -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags costate) "$tmp/header.cpp"
fi
