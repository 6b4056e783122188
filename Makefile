# setup · demo · test · bench · lint: thin, each a line or two. `.ci/stage NAME COMMAND` runs a command and prints its minutes.
PYTHON ?= python3
VENV := .venv
STAGE := .ci/stage
DATA ?= ../shared/data
EXAMPLES := $(basename $(notdir $(wildcard crates/core/examples/*.rs)))

# The whole workspace at once, so that what one stage has built serves the next: crates have the features of all who use them.
export PYO3_PYTHON := $(CURDIR)/$(VENV)/bin/python
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug

.PHONY: setup browser demo test lint rust isa examples wheel checked-wheel python bench

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

test: setup lint rust isa examples python

lint: $(VENV)/ready
	$(STAGE) format cargo fmt --all --check
	$(STAGE) clippy cargo clippy --workspace --all-targets -- -D warnings

rust: $(VENV)/ready
	$(STAGE) rust cargo test --workspace

# What depends on the instruction set, once more on each that this processor has besides its best: laws, golden values, oracles. Means and variances over seeds do not.
ISA_TESTS := laws:: golden:: oracle:: svm:: losses:: strategies:: sequences:: liftings::

isa: rust
	sets=$$($(BUILT)/examples/instruction_sets --besides-the-best) || exit 1; for isa in $$sets; do \
	  BOCHNER_ISA=$$isa $(STAGE) $$isa sh -ec 'cargo test -q --workspace --lib; cargo test -q --workspace --test suite -- $(ISA_TESTS)' || exit 1; done

examples: rust
	$(STAGE) examples sh -ec 'for e in $(EXAMPLES); do echo "example $$e"; $(BUILT)/examples/$$e; done'

INSTALL := env PATH="$(CURDIR)/$(VENV)/bin:$$PATH" pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-build-isolation ./python

wheel: $(VENV)/ready
	$(STAGE) wheel $(INSTALL)

# With debug assertions and overflow checks, like the Rust tests, and made of what they have built.
checked-wheel: $(VENV)/ready
	$(STAGE) checked-wheel $(INSTALL) --config-settings=build-args="--profile dev"

python: checked-wheel
	$(STAGE) pytest $(VENV)/bin/python -m pytest -q python/tests

bench: wheel
	$(VENV)/bin/python bench/against_sklearn.py --data $(DATA)
