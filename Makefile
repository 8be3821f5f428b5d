# The tasks of the project: `make help` lists them. They write below build/, `develop` also among the sources, and
# `install` below PREFIX. As root, or with INSTALL=yes and sudo, they install the system packages that they need; else
# they print them.

SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3          # builds the wheel; demo, lint, docs and bench run in its environment build/venv
PYTHONS ?=                 # of `make test-all`, `make test-interpreters`; default: each CPython 3.10 to 3.13 on this machine
SINCE ?= origin/main       # of `make test-touched`: a commit
PYTEST_ARGS ?=
FUZZ_SECONDS ?= 15         # for each target
ATTACKERS ?= binding linking closures foreseen archives stores notes outputs parsers power_cut # of `make attack`
VARIANTS ?= gcc clang      # of `make test-c`
SUITES ?= bookworm trixie sid # of `make test-generations`
SYSTEMS ?= trixie sid      # of `make test-systems`
RECIPES ?= containers debian lmod nix rpm # of `make test-recipes`
FORM ?= whole              # of `make test-generations`: short is without wheels, compilers and rewriting
ARCHITECTURES ?=           # of `make wheels`; default: all that it knows
T ?=                       # of `make test-one`
VERSION ?=                 # of `make release`
TASKS ?=                   # of `make tasks-alone`
WITHOUT ?=                 # of `make release`: tests lint twice
ROUNDS ?= 300              # of `make attack`
FILES ?=                   # of `make mutants`
NUMBER ?= 10               # of mutants
SEED ?= 1                  # of the attackers and of mutants
WORKERS ?= 2               # processes of the suite
INSTALL ?=                 # yes: who is not root installs system packages with sudo
REASON ?=                  # why counts changed: `make budgets`
SYSTEM_PYTHON := /usr/bin/python3 # benchmarks/budgets.tsv has its counts
PYTHON := $(strip $(PYTHON))
WORKERS := $(strip $(WORKERS))
FORM := $(strip $(FORM))
WITHOUT := $(strip $(WITHOUT))
ROUNDS := $(strip $(ROUNDS))
NUMBER := $(strip $(NUMBER))
SEED := $(strip $(SEED))
FUZZ_SECONDS := $(strip $(FUZZ_SECONDS))

export INSTALL
export PREFIX LIBDIR INCLUDEDIR MANDIR PKGCONFIGDIR CMAKEDIR DESTDIR # of `make install`

INSTALL_PACKAGES := scripts/install-system-packages
ENVIRONMENT := scripts/python-environment $(PYTHON) build/venv
RUN_TESTS = PYTHON=$(PYTHON) PYTHONS="$(strip $(PYTHONS))" WORKERS=$(WORKERS) scripts/run-tests
WHEELS := build/wheel/loader.stamp build/wheel/builder.stamp

##@ Use

help: ## show this menu
	@awk -F ':.*## ' '/^##@ /{printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z-]*:.*## / { \
	    line = sprintf("  make %-21s", $$1); count = split($$2, words, " "); \
	    for (i = 1; i <= count; i++) { \
	        if (length(line " " words[i]) > 80) { print line; line = sprintf("%28s", "") } line = line " " words[i] } \
	    print line}' Makefile

tests benchmarks packaging scripts:
	@echo "make: there is no task $@$(if $(filter tests,$@), (make test runs the tests)); make help lists the tasks" >&2; exit 2

setup: ## install the system packages that the tasks below need (on Debian and Ubuntu; elsewhere: name them)
	@$(INSTALL_PACKAGES) build test clang bench

demo: setup-build $(WHEELS) ## make SDK wheels from Debian's ROCm, install them and preload their libraries
	@$(ENVIRONMENT)
	@build/venv/bin/rocm-sdk-build demo --directory build/demo --loader build/wheel/rocm_sdk_loader-*.whl

wheel: setup-build $(WHEELS) ## build the wheels of the loader and of rocm-sdk-build, build/wheel/*.whl
	@ls build/wheel/*.whl

wheels: setup-build ## build wheels of the loader that run on any Linux with glibc 2.27: ARCHITECTURES="x86_64 aarch64"
	@scripts/release-environment $(PYTHON) build/venv-release
	@build/venv-release/bin/python scripts/portable_wheels.py $(ARCHITECTURES)

release-files: wheels ## build all files of a release in build/wheels, unchecked: the wheels and source distributions of all three distributions
	@build/venv-release/bin/python scripts/source_distributions.py

tasks-alone: ## run tasks of this menu (TASKS="lint docs"; all without it), each in a clone of its own
	@scripts/tasks_alone.py $(TASKS)

release: ## check everything, then make dist/: VERSION=1.2.3 (WITHOUT="tests lint twice" leaves parts out, and makes no release)
ifeq ($(strip $(VERSION)),)
	@echo 'make release VERSION=1.2.3; the files alone, unchecked: make release-files' >&2; exit 2
else
	@$(INSTALL_PACKAGES) build
	@scripts/release-environment $(PYTHON) build/venv-release
	@build/venv-release/bin/python scripts/release.py '$(strip $(VERSION))' $(WITHOUT:%=--without %)
endif

install: ## install the C library below PREFIX=/usr/local (LIBDIR, INCLUDEDIR, MANDIR; DESTDIR= puts it below another root)
	@scripts/install-library
	@$(INSTALL_PACKAGES) build
	@$(MAKE) -s -j VARIANT=install OUT=$(INSTALLED) $(INSTALLED)/librocm_sdk.a $(INSTALLED)/librocm_sdk.so.$(SOVERSION)
	@scripts/install-library $(INSTALLED)

clean: ## remove everything that the tasks made
	rm -rf build rocm_sdk/_native.abi3.so rocm_sdk/doctor/load_check

##@ Develop

develop: ## compile what changed and use it in place: build/venv-develop has the sources as its packages
	@$(MAKE) -s build/develop.stamp
	@$(MAKE) -s -j VARIANT=gcc in-place

test-one: ## compile what changed and run one test: T=test_plan (C) or T=tests/loader/test_preload.py::test_name
ifeq ($(strip $(T)),)
	@echo 'make test-one T=test_plan, or T=tests/loader/test_preload.py::test_name' >&2; exit 2
else ifneq ($(wildcard tests/c/$(T).c),)
	@$(INSTALL_PACKAGES) build cmocka
	@$(MAKE) -j VARIANT=gcc build/c/gcc/tests/c/$(T)
	@build/c/gcc/tests/c/$(T)
else
	@$(MAKE) develop
	@build/venv-develop/bin/pytest -q --no-header $(PYTEST_ARGS) '$(T)'
endif

##@ Check

test: setup-test $(WHEELS) ## run the tests of loader, GPUs, device code and C, and the first case of each other one, in five minutes
	@$(RUN_TESTS) first $(PYTEST_ARGS)

test-all: setup-test $(WHEELS) ## run all but the long tests, and on each other CPython those that depend on it (PYTHONS="3.10 3.13" chooses)
	@$(RUN_TESTS) usual $(PYTEST_ARGS)

test-long: setup-long $(WHEELS) ## run what `make test-all` leaves out: kills, power cuts, a cluster, images, recipes, builds that are the same twice
	@$(RUN_TESTS) long $(PYTEST_ARGS)

test-interpreters: setup-test $(WHEELS) ## run on each CPython the tests that depend on it (PYTHONS="3.10 3.13" chooses)
	@$(RUN_TESTS) interpreters $(PYTEST_ARGS)

test-touched: setup-test $(WHEELS) ## run what `make test` leaves out of the tests of what changed since a commit: SINCE=main
	@tests="$$(scripts/touched_tests.py '$(strip $(SINCE))')" || exit $$?; \
	if [[ -n $$tests ]]; then $(RUN_TESTS) rest $$tests $(PYTEST_ARGS); else echo 'nothing that changed has tests of its own'; fi

test-foreign: develop ## check the wheels of tests/foreign/verdicts.tsv, which others made: about 2 GB from the public index
	@ROCM_SDK_TEST_FOREIGN=all build/venv-develop/bin/pytest -q --no-header tests/foreign

test-wheels: wheels demo ## use the wheels of `make wheels` in separate Debian systems: the oldest, the newest, emulated AArch64, all without libelf; as root
	@$(INSTALL_PACKAGES) systems
	@scripts/test-portable-wheels

test-systems: ## run the README's commands in bare systems of Debian 13 and unstable, for a release: SYSTEMS="trixie sid"; as root, 30 GB each
	@scripts/test-systems $(SYSTEMS)

test-generations: setup-build $(WHEELS) ## use the ROCm of Debian 12, 13 and unstable in separate systems: SUITES="bookworm trixie sid", FORM=whole|short; as root, 60 GB
	@$(INSTALL_PACKAGES) bare
	@$(ENVIRONMENT)
	@$(MAKE) -s -j VARIANT=install build/c/install/librocm_sdk.a
	@scripts/test-generations $(FORM) $(SUITES)

test-recipes: $(WHEELS) ## build packages by the recipes in packaging/, install and use them in Debian systems below build/recipes: RECIPES=debian chooses; as root
	@$(INSTALL_PACKAGES) recipes
	@PYTHON=$(PYTHON) packaging/try $(RECIPES)

test-c: ## run the C tests with gcc and with clang (VARIANTS=gcc chooses)
	@$(INSTALL_PACKAGES) build c-tests $(if $(filter-out gcc,$(VARIANTS)),clang)
	@set -e; for variant in $(VARIANTS); do \
	    $(MAKE) -j VARIANT=$$variant c-programs; \
	    $(MAKE) VARIANT=$$variant run-c-tests; \
	done

sanitize: ## run the C tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) test-c VARIANTS=asan

# Children of tests load beside threads that fork has left behind.
sanitize-threads: ## run the C tests under ThreadSanitizer
	@TSAN_OPTIONS="die_after_fork=0 report_thread_leaks=0 exitcode=66" $(MAKE) test-c VARIANTS=tsan

fuzz: ## run each fuzz target for FUZZ_SECONDS=15
	@$(INSTALL_PACKAGES) build clang
	@$(MAKE) -j VARIANT=fuzz c-fuzzers
	@printf '%s\n' $(FUZZERS:%=build/c/fuzz/%) | xargs -P "$$(nproc)" -I PROGRAM scripts/run-fuzzer PROGRAM $(FUZZ_SECONDS)

fuzz-long: ## run each fuzz target for ten minutes
	@$(MAKE) fuzz FUZZ_SECONDS=600

attack: ## attack symbol binding, fork and init for longer than the suite does: ROUNDS=300 of each (SEED= chooses other attacks)
	@$(INSTALL_PACKAGES) build test
	@$(MAKE) develop
	@$(MAKE) -s -j VARIANT=gcc c-programs
	@set -e; for attacker in $(ATTACKERS); do \
	    build/venv-develop/bin/python tests/attack/$$attacker.py --rounds $(ROUNDS) --seed $(SEED) | sed "s/^/$$attacker: /"; \
	done
	ROCM_SDK_TEST_FORKS=$(ROUNDS)0 build/c/gcc/tests/c/test_concurrency
	ROCM_SDK_TEST_KILLS=$(ROUNDS) build/venv-develop/bin/pytest -q -s tests/devel/test_killed.py

mutants: ## make NUMBER=10 small faults in FILES="csrc/gpu/*.c" (SEED= chooses others), one at a time: does a test of the file notice?
	@$(INSTALL_PACKAGES) build test
	@$(PYTHON) scripts/mutants.py --seed $(SEED) --number $(NUMBER) $(FILES)

generate: ## write what is generated from tables: values of codes, types of results, options in the manual (scripts/generated.py)
	@python3 scripts/generated.py --tables
	@$(MAKE) develop
	@build/venv-develop/bin/python scripts/generated.py

release-requirements: $(WHEELS) ## pin the newest versions of the tools that build releases: scripts/release-requirements.txt
	@$(ENVIRONMENT) test
	@build/venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes --no-annotate \
	    --default-index https://pypi.org/simple --custom-compile-command 'make release-requirements' \
	    --extra wheels --output-file scripts/release-requirements.txt pyproject.toml

lint: $(WHEELS) ## check format, warnings of both compilers, clang-tidy, ruff, mypy, abi3audit
	@$(INSTALL_PACKAGES) build c-tests clang
	clang-format --dry-run -Werror $(C_FILES)
	@set -e; for variant in gcc clang; do $(MAKE) -j VARIANT=$$variant c-programs c-binding; done
	@$(MAKE) VARIANT=clang clang-tidy
	@$(ENVIRONMENT) test,lint
	build/venv/bin/ruff check .
	build/venv/bin/ruff format --check .
	build/venv/bin/mypy
	build/venv/bin/python scripts/generated.py --check
	build/venv/bin/abi3audit --strict --summary build/wheel/rocm_sdk_loader-*.whl
	@$(MAKE) lint-workflows
	@echo 'git grep: no trailing blanks'
	@git grep --untracked -nIE '[[:blank:]]+$$' -- ':!tests/fuzz/corpus'; test $$? -eq 1

lint-workflows: $(WHEELS) ## check what .github/ has: against the schemas of GitHub, and for risks (zizmor), without a network
	@$(ENVIRONMENT) lint
	build/venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	build/venv/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	build/venv/bin/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	build/venv/bin/check-jsonschema --builtin-schema vendor.github-issue-forms \
	    $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	build/venv/bin/zizmor --offline --no-progress .github

format: ## rewrite the C and Python files in the project's format
	@$(INSTALL_PACKAGES) build clang
	@$(MAKE) $(WHEELS)
	@$(ENVIRONMENT) lint
	clang-format -i $(C_FILES)
	build/venv/bin/ruff format .
	build/venv/bin/ruff check --fix .

# Examples of pages use what the tests make.
docs: $(WHEELS) ## build the documentation, build/docs/index.html
	@$(INSTALL_PACKAGES) build docs
	@$(ENVIRONMENT) test,docs
	@echo 'building the pages, whose examples run ...'
	build/venv/bin/sphinx-build -q -W --keep-going -d build/doctrees docs build/docs

check-docs: docs ## look at the built pages in a browser: nothing cut off, no fault that axe finds
	build/venv/bin/python docs/check_pages.py build/docs

bench: ## run every benchmark against its reference
	@$(MAKE) run-benchmarks

bench-smoke: ## run every benchmark once, to see whether it works
	@$(MAKE) run-benchmarks BENCH_ARGS=--smoke

budgets: $(WHEELS) ## count what importing and initialising cost, and compare with benchmarks/budgets.tsv (REASON="why" writes the new counts)
	@$(INSTALL_PACKAGES) build bench
	@scripts/python-environment $(SYSTEM_PYTHON) build/venv-system bench
	@ln -sfn ../benchmarks build/benchmarks
	@cd build && venv-system/bin/python -m benchmarks.budgets $(if $(strip $(REASON)),--reason '$(strip $(REASON))') $(BUDGET_ARGS)

# --- pieces of the tasks above --------------------------------------------------------------------------------------

setup-build:
	@$(INSTALL_PACKAGES) build

setup-test:
	@$(INSTALL_PACKAGES) build test

setup-long:
	@$(INSTALL_PACKAGES) build test long

# The benchmarks start in build/, where no source tree shadows the installed package.
run-benchmarks: $(WHEELS)
	@$(INSTALL_PACKAGES) build bench
	@$(ENVIRONMENT) bench
	@ln -sfn ../benchmarks build/benchmarks
	cd build && venv/bin/python -m benchmarks $(BENCH_ARGS)

# One abi3 wheel of the loader, for all interpreters. The intermediate files of setuptools go below build/ too, and never
# into a later wheel.
LOADER_SOURCES := pyproject.toml setup.py MANIFEST.in LICENSE README.md \
    $(shell find csrc rocm_sdk -type f -not -name '*.py[co]' -not -name '*.so' -not -name load_check 2>/dev/null)
BUILDER_SOURCES := csrc/include/rocm_sdk/version.h $(shell find builder -type f -not -name '*.py[co]' -not -path '*.egg-info/*' 2>/dev/null)

build/wheel/loader.stamp: $(LOADER_SOURCES) scripts/build-wheel scripts/python-environment
	@$(INSTALL_PACKAGES) build
	@scripts/build-wheel $(PYTHON) . rocm_sdk_loader
	@touch $@

build/wheel/builder.stamp: $(BUILDER_SOURCES) scripts/build-wheel scripts/python-environment
	@scripts/build-wheel $(PYTHON) builder rocm_sdk_build
	@touch $@

# The environment of `make develop`. It uses only the metadata of the wheels, so old wheels suffice.
METADATA := pyproject.toml builder/pyproject.toml builder/setup.py csrc/include/rocm_sdk/version.h
build/develop.stamp: $(METADATA) scripts/develop-environment
	@for file in $(METADATA); do \
	    [[ build/wheel/loader.stamp -nt $$file && build/wheel/builder.stamp -nt $$file ]] || exec $(MAKE) $(WHEELS); \
	done
	@scripts/develop-environment $(PYTHON) build/venv-develop
	@touch $@

# --- C: build/c/$(VARIANT)/; a variant is a compiler and its instrumentation ----------------------------------------

VARIANT ?= gcc
OUT := build/c/$(VARIANT)
INSTALLED := build/c/install# what `make install` takes; the tests have it compiled beside it, without optimization
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

CC_gcc := gcc
CC_install := cc
CC_clang := clang
CC_asan := clang
CC_fuzz := clang
CC_tsan := clang
CC_aarch64 = aarch64-linux-gnu-gcc --sysroot=$(AARCH64_SYSTEM)
INSTRUMENT_asan := $(SANITIZERS)
INSTRUMENT_tsan := -fsanitize=thread
INSTRUMENT_install := $(CPPFLAGS) $(CFLAGS)
INSTRUMENT_fuzz := $(SANITIZERS) -fsanitize=fuzzer-no-link

CC := $(CC_$(VARIANT))
AR := ar
comma := ,
PKGCONF := $(or $(shell command -v pkgconf),pkg-config)
ifeq ($(VARIANT),aarch64) # AARCH64_SYSTEM is a Debian with the libraries that the C tests need
PKGCONF := env PKG_CONFIG_LIBDIR=$(AARCH64_SYSTEM)/usr/lib/aarch64-linux-gnu/pkgconfig \
    PKG_CONFIG_SYSROOT_DIR=$(AARCH64_SYSTEM) $(PKGCONF)
endif
FLAGS := $(shell cat csrc/compiler-flags)
# once(NAME,COMMAND): what a command prints, which runs when it is first needed, and not for each file that is compiled.
once = $(eval $1 := $(shell $2))$($1)
LIBELF_INCLUDES = $(call once,LIBELF_INCLUDES,$(PKGCONF) --cflags libelf)
INCLUDES = -Icsrc/include -Icsrc -Itests/c $(LIBELF_INCLUDES)
# A new warning of a compiler must not keep users from installing.
STRICT = $(if $(filter-out install,$(VARIANT)),-Werror)
CFLAGS_C = $(FLAGS) $(STRICT) -O2 -g -fPIC $(INSTRUMENT_$(VARIANT)) $(INCLUDES)
LIBS = $(call once,LIBS,$(PKGCONF) --libs libelf)
CMOCKA = $(call once,CMOCKA,$(PKGCONF) --libs cmocka)

LIBRARY := $(OUT)/librocm_sdk.a
LIBRARY_SOURCES := $(filter-out csrc/programs/% csrc/python/%,$(sort $(wildcard csrc/*/*.c csrc/*/*/*.c)))
PROGRAM_SOURCES := $(sort $(wildcard csrc/programs/*.c))
PROGRAM_PARTS := $(sort $(wildcard csrc/programs/parts/*.c))
BINDING_SOURCES := $(sort $(wildcard csrc/python/*.c))
TEST_SOURCES := $(sort $(wildcard tests/c/test_*.c))
TEST_SUPPORT_SOURCES := $(filter-out $(TEST_SOURCES),$(sort $(wildcard tests/c/*.c)))
EMBED_SOURCES := $(sort $(wildcard tests/embed/*.c))
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZERS := $(FUZZ_SOURCES:.c=)
C_FILES = $(shell find csrc tests benchmarks -name '*.[ch]' 2>/dev/null | sort)

TESTS := $(TEST_SOURCES:%.c=$(OUT)/%)
EMBEDDINGS := $(EMBED_SOURCES:%.c=$(OUT)/%)
PROGRAMS := $(PROGRAM_SOURCES:%.c=$(OUT)/%)

c-programs: $(LIBRARY) $(TESTS) $(EMBEDDINGS) $(PROGRAMS)

c-binding: $(BINDING_SOURCES:%.c=$(OUT)/%.o)

c-fuzzers: $(FUZZERS:%=$(OUT)/%)

# The files that `make develop` puts among the sources.
in-place: rocm_sdk/_native.abi3.so rocm_sdk/doctor/load_check

rocm_sdk/_native.abi3.so: $(BINDING_SOURCES:%.c=$(OUT)/%.o) $(LIBRARY)
	@$(CC) -shared $^ $(LIBS) -o $@

rocm_sdk/doctor/load_check: $(OUT)/csrc/programs/load_check
	@cp $< $@

run-c-tests: c-programs
	@set -e; for program in $(TESTS); do echo "$$program"; $$program; done

$(LIBRARY): $(LIBRARY_SOURCES:%.c=$(OUT)/%.o)
	@rm -f $@
	@$(AR) rcs $@ $^

# The shared library. Its number goes up when a program that was linked with an earlier one would stop working.
SOVERSION := 0
SHARED_LIBRARY := $(OUT)/librocm_sdk.so.$(SOVERSION)

shared-library: $(SHARED_LIBRARY)

$(SHARED_LIBRARY): $(LIBRARY_SOURCES:%.c=$(OUT)/%.shared.o) $(OUT)/exported.map
	@$(CC) -shared $(INSTRUMENT_$(VARIANT)) -Wl,-soname,$(@F) -Wl,--version-script=$(OUT)/exported.map \
	    -Wl,-z,defs -Wl,-z,relro -Wl,-z,now $(LDFLAGS) $(filter %.o,$^) $(LIBS) -ldl -lpthread -o $@

$(OUT)/exported.map: csrc/install/symbols Makefile
	@mkdir -p $(@D)
	@{ echo 'ROCM_SDK_$(SOVERSION) { global:'; sed 's/$$/;/' $<; echo 'local: *; };'; } >$@

# The compiler and the flags that the user chooses: others compile all of it again.
$(OUT)/chosen: export CHOSEN = $(CC) $(INSTRUMENT_$(VARIANT)) $(LDFLAGS)
$(OUT)/chosen: always
	@mkdir -p $(@D)
	@test "$$(cat $@ 2>/dev/null)" = "$$CHOSEN" || printf '%s\n' "$$CHOSEN" >$@

$(OUT)/%.shared.o: %.c csrc/base/exported.h Makefile $(OUT)/chosen
	@mkdir -p $(@D)
	@echo '$(VARIANT), shared: $<'
	@$(CC) $(CFLAGS_C) -include csrc/base/exported.h -MMD -MP -c $< -o $@

$(OUT)/%.o: %.c Makefile $(OUT)/chosen
	@mkdir -p $(@D)
	@echo '$(VARIANT): $<'
	@$(CC) $(CFLAGS_C) -MMD -MP -c $< -o $@

# The compiler sees the binding as in the wheel: against the limited API, without warnings about Python's own headers.
PYTHON_HEADERS = $(call once,PYTHON_HEADERS,$(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
PYTHON_INCLUDES = $(shell cat csrc/python/compiler-flags) -isystem $(PYTHON_HEADERS)
$(OUT)/csrc/python/%.o: INCLUDES += $(PYTHON_INCLUDES)

# An embedding program sees the public headers and nothing else.
$(OUT)/tests/embed/%.o: INCLUDES = -Icsrc/include

# These tests make each allocation fail in turn, through functions of their own (tests/c/failing_memory.h).
$(filter %out_of_memory,$(TESTS)): LINK_FLAGS = \
    $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc free strdup vasprintf getcwd)

$(TESTS): $(OUT)/%: $(OUT)/%.o $(TEST_SUPPORT_SOURCES:%.c=$(OUT)/%.o) $(LIBRARY)
	@$(CC) $(INSTRUMENT_$(VARIANT)) -rdynamic $(LINK_FLAGS) $(filter %.o,$^) $(LIBRARY) $(LIBS) \
	    $(CMOCKA) -o $@

$(EMBEDDINGS): $(OUT)/%: $(OUT)/%.o $(LIBRARY)
	@$(CC) $(INSTRUMENT_$(VARIANT)) $< $(LIBRARY) $(LIBS) -o $@

$(PROGRAMS): $(OUT)/%: $(OUT)/%.o $(PROGRAM_PARTS:%.c=$(OUT)/%.o)
	@$(CC) $(INSTRUMENT_$(VARIANT)) $^ -ldl -o $@

$(FUZZERS:%=$(OUT)/%): $(OUT)/%: $(OUT)/%.o $(LIBRARY)
	@$(CC) $(INSTRUMENT_$(VARIANT)) -fsanitize=fuzzer $< $(LIBRARY) $(LIBS) -o $@

clang-tidy:
	@echo "clang-tidy"
	@printf '%s\n' $(LIBRARY_SOURCES) $(PROGRAM_SOURCES) $(BINDING_SOURCES) | xargs -P "$$(nproc)" -I FILE clang-tidy --quiet FILE -- \
	    $(FLAGS) $(INCLUDES) $(PYTHON_INCLUDES) 2>&1 | \
	    { grep -v 'warnings\? generated' || true; }

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

# Keeps intermediate objects: the next run compiles only what changed.
.SECONDARY:
.PHONY: always help tests benchmarks packaging scripts setup demo wheel wheels generate tasks-alone release release-files release-requirements install clean shared-library develop test-one in-place test test-all test-c test-foreign test-interpreters test-long test-touched test-systems test-wheels test-recipes sanitize sanitize-threads fuzz fuzz-long attack mutants lint lint-workflows format docs check-docs bench bench-smoke budgets \
    setup-build setup-test setup-long run-benchmarks c-programs c-binding c-fuzzers run-c-tests clang-tidy
