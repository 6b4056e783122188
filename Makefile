# setup · demo · test · test-full · bench · counts · lint: thin, each a line or two. `.ci/stage NAME COMMAND` runs a command and prints its minutes.
PYTHON ?= python3
VENV := .venv
STAGE := .ci/stage
DATA ?= ../shared/data

# The whole workspace at once, so that what one stage has built serves the next: crates have the features of all who use them.
export PYO3_PYTHON := $(CURDIR)/$(VENV)/bin/python
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug

# Stages use both processors and each other's results: one after the other.
.NOTPARALLEL:
.PHONY: setup browser demo test test-full lint rust isa wheel checked-wheel symbols python bench counts

setup: $(VENV)/ready browser

# Pages are looked at in a browser where there is one; the gate installs it, being root.
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -qy --no-install-recommends chromium fonts-dejavu-core; } \
	  || echo 'no chromium: the test that opens pages in a browser will be skipped'

# A Debian python3 may lack venv: install it where we may, say how where we may not.
$(VENV)/ready: python/requirements-test.txt
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -qy python3-venv; } \
	  || { echo 'python3 lacks venv: install the package python3-venv'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q --disable-pip-version-check -r python/requirements-test.txt
	touch $@

demo:
	cargo run --release -- demo

test: setup lint rust isa symbols python

lint: $(VENV)/ready
	$(STAGE) format cargo fmt --all --check
	$(STAGE) features .ci/features
	$(STAGE) clippy cargo clippy --workspace --all-targets -- -D warnings

# Tests side by side by cargo-nextest where it is installed. Examples are tests of the suite. `isa_tests`: what depends on the instruction
# set: simd, linear algebra, and the laws, golden values and oracles above them.
ifeq ($(shell cargo nextest --version >/dev/null 2>&1 && echo yes),yes)
all_tests = cargo nextest run --workspace --tests --no-fail-fast --show-progress none --status-level slow --final-status-level slow
isa_tests = $(all_tests) -E 'package(bochner-simd) | package(bochner) & test(/^linalg::/) | binary(suite) & test(/^(laws|golden|oracle)::/)'
else
all_tests = cargo test --workspace --tests -q
isa_tests = sh -ec 'cargo test -q -p bochner-simd --lib; cargo test -q --workspace --lib -- linalg::; cargo test -q --workspace --test loops; \
  cargo test -q --workspace --test suite -- laws:: golden:: oracle::'
endif

# The instruction sets that this processor has besides its best.
other_sets = cargo build -q --workspace --example instruction_sets && $(BUILT)/examples/instruction_sets --besides-the-best

rust: $(VENV)/ready
	$(STAGE) rust $(all_tests)
	$(STAGE) doctests cargo test -q --workspace --doc

isa: rust
	sets=$$($(other_sets)) || exit 1; for isa in $$sets; do BOCHNER_ISA=$$isa $(STAGE) $$isa $(isa_tests) || exit 1; done

# All of it: every test on every instruction set, and those that take minutes.
test-full: test
	sets=$$($(other_sets)) || exit 1; for isa in $$sets; do BOCHNER_ISA=$$isa $(STAGE) all-$$isa $(all_tests) || exit 1; done
	$(STAGE) long cargo test --workspace --tests -q -- --ignored
	$(STAGE) pytest-long $(VENV)/bin/python -m pytest -q -n 2 -m slow python/tests

INSTALL := env PATH="$(CURDIR)/$(VENV)/bin:$$PATH" pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-build-isolation ./python

wheel: $(VENV)/ready
	$(STAGE) wheel $(INSTALL)

# With debug assertions and overflow checks, like the Rust tests, and made of what they have built; with its symbols, which `symbols` reads.
checked-wheel: $(VENV)/ready
	$(STAGE) checked-wheel $(INSTALL) --config-settings=build-args="--profile dev --strip false"

# Fails if a caller has compiled its own copy of a loop of simd or of a generic function of core.
symbols: rust checked-wheel
	$(STAGE) symbols .ci/symbols $(BUILT)

python: checked-wheel
	$(STAGE) pytest $(VENV)/bin/python -m pytest -q -n 2 python/tests

bench: wheel
	$(VENV)/bin/python bench/against_sklearn.py --data $(DATA)

# Instructions of fixed jobs beside those recorded; needs valgrind.
counts:
	$(PYTHON) bench/counts.py
