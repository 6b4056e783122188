# setup · demo · test · bench · counts · lint: thin, each a line or two. `.ci/stage NAME COMMAND` runs a command and prints its minutes.
PYTHON ?= python3
VENV := .venv
STAGE := .ci/stage
DATA ?= ../shared/data

# The whole workspace at once, so that what one stage has built serves the next: crates have the features of all who use them.
export PYO3_PYTHON := $(CURDIR)/$(VENV)/bin/python
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug

.PHONY: setup browser demo test lint rust isa wheel checked-wheel symbols python bench counts

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
	$(STAGE) clippy cargo clippy --workspace --all-targets -- -D warnings

# Tests side by side by cargo-nextest where it is installed.
NEXTEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo yes)
ifdef NEXTEST
run_tests = cargo nextest run --workspace --no-fail-fast --show-progress none --status-level slow --final-status-level slow $(1) $(if $(2),-E '$(2)')
else
run_tests = cargo test --workspace --lib --bins --tests --exclude bochner-python --exclude bochner-counts -q $(1)
endif

rust: $(VENV)/ready
	$(STAGE) rust $(call run_tests)
	$(STAGE) doctests cargo test -q --workspace --doc

# What depends on the instruction set, once more on each that this processor has besides its best: every loop of simd, and the laws, golden values and oracles above them.
ISA_TESTS := package(bochner-simd) | binary(suite) & test(/^(laws|golden|oracle)::/)

isa: rust
	sets=$$(cargo run -q -p bochner-simd --example instruction_sets -- --besides-the-best) || exit 1; for isa in $$sets; do \
	  BOCHNER_ISA=$$isa $(STAGE) $$isa $(call run_tests,,$(ISA_TESTS)) || exit 1; done

INSTALL := env PATH="$(CURDIR)/$(VENV)/bin:$$PATH" pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-build-isolation ./python

wheel: $(VENV)/ready
	$(STAGE) wheel $(INSTALL)

# With debug assertions and overflow checks, like the Rust tests, and made of what they have built.
checked-wheel: $(VENV)/ready
	$(STAGE) checked-wheel $(INSTALL) --config-settings=build-args="--profile dev"

# What callers have compiled again of simd's loops and core's generic functions: nothing.
symbols: checked-wheel
	$(STAGE) symbols .ci/symbols $(BUILT)

python: checked-wheel
	$(STAGE) pytest $(VENV)/bin/python -m pytest -q -n 2 python/tests

bench: wheel
	$(VENV)/bin/python bench/against_sklearn.py --data $(DATA)

# Instructions of fixed jobs beside those recorded; needs valgrind.
counts:
	$(PYTHON) bench/counts.py
