# SPDX-License-Identifier: MIT
# A short front to CMake (see CMakePresets.json). `make` builds build/costate and build/libcostate.so.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 60
ninja := $(if $(shell command -v ninja 2>/dev/null),-G Ninja)

# $(call build,preset,directory,targets): the generator is chosen at the first configuration only
build = cmake --preset $(1) $(if $(wildcard $(2)/CMakeCache.txt),,$(ninja)) $(QUIET) \
	&& cmake --build $(2) -j $(JOBS) $(if $(3),--target $(3))
QUIET = >/dev/null

.PHONY: all deps release test test-slow full demo bench dev clang threads coverage fuzz format tidy install clean

all: release

deps:
	@scripts/install-deps

# a missing test library must not stop the build: CMake says what is indispensable
release:
	@scripts/install-deps || true
	@$(call build,release,build)

test: deps release
	@ctest --test-dir build --output-on-failure -j 2

test-slow: release
	@ctest --test-dir build --output-on-failure -C slow -L slow

# all targets that check something, with a summary; SECONDS=600 for longer fuzzing
full:
	+@scripts/full

# the program only: the tests take as long again
demo:
	@scripts/install-deps || true
	@$(call build,release,build,costate)
	@scripts/demo

bench: release
	@$(call build,release,build,bench-programs)
	@if [ -x bench/run ]; then bench/run build; else echo "there is no bench/run yet"; fi

dev: deps
	@$(call build,dev,build/dev)
	@ctest --test-dir build/dev --output-on-failure -j 2

clang: deps
	@scripts/install-deps clang
	@$(call build,clang,build/clang)
	@ctest --test-dir build/clang --output-on-failure -j 2

# what several threads work on at the same time, under the thread sanitizer
threads: deps
	@$(call build,threads,build/threads,test_ahead test_threads)
	@ctest --test-dir build/threads --output-on-failure -R '^test_(ahead|threads)$$'

coverage: deps
	@$(call build,coverage,build/coverage)
	@ctest --test-dir build/coverage --output-on-failure -j 2
	@cmake/coverage.sh build/coverage

# each target for SECONDS; what it finds stays in build/fuzz/found_NAME
fuzz: deps
	@scripts/install-deps clang
	@$(call build,fuzz,build/fuzz)
	@cmake/fuzz.sh build/fuzz $(SECONDS)

format:
	@scripts/install-deps
	@clang-format -i $$(git ls-files '*.[ch]')

# by the flags of the preset clang: those of gcc are not known to it
tidy: deps
	@scripts/install-deps clang
	@scripts/install-deps clang-tidy
	@cmake --preset clang $(if $(wildcard build/clang/CMakeCache.txt),,$(ninja)) $(QUIET)
	@find src -name '*.c' | sort | xargs -n 8 -P $(JOBS) clang-tidy --quiet -p build/clang

install: release
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build
