# `make test` is everything that has to hold before a change is merged; .ci/run calls it and nothing else.

CARGO ?= cargo
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

.PHONY: sanitize mutants quick package dist notebooks test-long release-check all build test setup setup-tests begin format lint build-tests unit doc python wheel pages book paper bench figures validate soak fuzz

# Steps and single tests are measured: `scripts/timed slowest` prints what took longest.
STEP = scripts/timed step
TESTS = $(CARGO) --config "target.'cfg(all())'.runner = ['$(CURDIR)/scripts/timed', 'tests']" test --locked

all: build

build: setup
	$(CARGO) build --release --locked

# Everything is compiled once: what cargo notes for the next change costs a fifth more than it gives here.
test: export CARGO_INCREMENTAL ?= 0
test: setup-tests begin format lint unit doc python

begin:
	@scripts/timed begin

# What to run after each small change, in a minute and a half: format, clippy of the crates that differ from the last commit, the model's unit tests, and
# some cases of each kind against the slow reference.
CASES ?= 200
CHANGED = $(shell { git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sed -n 's,^crates/\([^/]*\)/.*,\1,p' | sort -u)
quick: format
	$(CARGO) clippy $(addprefix -p ,$(or $(CHANGED),flashraid-model) flashraid-unit-tests) --all-targets --locked -- -D warnings
	$(CARGO) test -p flashraid-model --lib --locked
	FLASHRAID_AGREEMENT_CASES=$(CASES) $(CARGO) test -p flashraid-model --test it --locked agreement

# Installs what is missing: rustfmt, clippy, a C compiler (for zstd).
setup:
	@scripts/setup

# The same, a browser (for the tests of reports), fio (for those of `probe`), what environments of Python need, and cargo-deny.
setup-tests:
	@scripts/setup browser fio python cbindgen deny

# Files that a list of policies declares, where `cargo fmt` does not see them.
POLICIES = $(wildcard crates/flashraid-model/src/array/read_plan/*.rs crates/flashraid-model/src/space/victim/*.rs crates/flashraid-model/src/coordination/*.rs crates/flashraid-model/src/ssd/mechanism/*.rs crates/flashraid-model/src/cache/policy/*.rs crates/flashraid-workload/src/synthetic/arrivals/*.rs crates/flashraid-workload/src/synthetic/sizes/*.rs crates/flashraid-workload/src/synthetic/addresses/*.rs crates/flashraid-workload/src/trace/formats/*.rs)

format:
	$(STEP) format $(CARGO) fmt --all --check
	@rustfmt --check --edition 2024 $(POLICIES)

lint:
	$(STEP) lint $(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@$(STEP) licences scripts/deny

# The whole workspace, so that every crate has the same features in every step: cargo compiles each dependency once.
build-tests:
	$(STEP) "build of tests" $(CARGO) test --workspace --locked --no-run

unit: build-tests
	$(STEP) "Rust tests" $(TESTS) --workspace

# Every crate that would be published as an archive with all that it embeds; they are found beside each other rather than in a registry.
package:
	$(CARGO) package --workspace --exclude flashraid-python --exclude flashraid-unit-tests --no-verify --allow-dirty --locked

doc: build-tests
	RUSTDOCFLAGS="-D warnings" $(STEP) documentation $(CARGO) doc --workspace --no-deps --locked
	python3 scripts/figures_pages.py --check
	python3 scripts/mqsim --page --check
	python3 scripts/fit_presets.py --page --check
	scripts/paper --check
	$${CARGO_TARGET_DIR:-target}/debug/flashraid schema --report | python3 scripts/python_parts.py --check
	@if command -v mdbook >/dev/null; then $(MAKE) --no-print-directory book; else echo "mdbook is missing: the book is checked by its own tests only"; fi

# Changes the model in 200 places, one at a time, and writes down what notices it (docs/mutants.md). All are built at once. A mutant takes at most
# fifteen seconds of processor time for each of the two programs of tests. A run goes on where it was stopped.
MUTANTS ?= 200
MUTANTS_TREE = target/mutants/$(shell git rev-parse --short HEAD)
mutants: setup
	mkdir -p $(MUTANTS_TREE)
	git archive HEAD | tar -x -C $(MUTANTS_TREE)
	$(CARGO) run --release --locked --manifest-path scripts/mutants/Cargo.toml -- make $(MUTANTS_TREE) $(MUTANTS_TREE) $(MUTANTS)
	CARGO_TARGET_DIR=$(CURDIR)/target/mutants/target $(CARGO) run --release --locked --manifest-path scripts/mutants/Cargo.toml --target-dir scripts/mutants/target -- run $(MUTANTS_TREE) $(MUTANTS_TREE).tsv

# The Python package: its wheel as the tests build it, installed in an environment of its own; types and tests.
python: setup-tests
	@CARGO="$(CARGO)" $(STEP) "Python package" scripts/python test

# What takes longer than a change should wait for. Whoever changes the model runs it before the change is called done: all random cases against
# the slow reference, all combinations, more seeds. Notebooks and Ray, whose tests start workers and kill them, need a quiet machine.
test-long: setup-tests
	FLASHRAID_AGREEMENT_CASES=2500 $(CARGO) test -p flashraid-model --locked --test it -- --include-ignored
	FLASHRAID_LONG=1 $(CARGO) test -p flashraid --locked --lib -- --include-ignored
	FLASHRAID_LONG=1 $(CARGO) test -p flashraid-cli --locked --test it -- axes:: cluster:: pages_of_runs:: signals::
	$(CARGO) test -p flashraid-report --locked --test it truth:: -- --ignored
	FLASHRAID_LONG=1 $(CARGO) test --release -p flashraid-fit --locked --test it -- --include-ignored
	FLASHRAID_LONG=1 $(CARGO) test --release -p flashraid --locked --test it -- --include-ignored advise:: drives:: matrix:: steady::
	@CARGO="$(CARGO)" scripts/python test-long
	@CARGO="$(CARGO)" scripts/python measure
	@scripts/setup valgrind
	$(CARGO) build --release --locked
	scripts/instructions check $${CARGO_TARGET_DIR:-target}/release/flashraid

# What has to hold before a release, beside `make test` and `make test-long`: packages of all crates, policies that are added in two places,
# the wheel and the source distribution on a machine without and with Rust, searches for arrays against exhaustive grids, and archives whose
# bytes do not depend on who builds them.
release-check: setup-tests package
	$(CARGO) test -p flashraid --locked --test it two_places:: -- --ignored
	$(CARGO) test --release -p flashraid --locked --test it advise_grids:: -- --ignored --test-threads 1 --skip simulations_give
	@CARGO="$(CARGO)" scripts/python release-check
	@CARGO="$(CARGO)" scripts/dist check

# The optimised wheel, in target/wheels.
wheel: setup
	@scripts/setup python
	@CARGO="$(CARGO)" scripts/python wheel

# The release in target/dist: archives of binaries, the wheel, the source distribution, crates, checksums (docs/releasing.md).
dist: setup
	@CARGO="$(CARGO)" scripts/dist

# The pages of the book that are made of the program, and the parts of a report in Python; tests say when they are out of date.
pages:
	$(CARGO) run -q --locked -- schema --markdown > target/reference.md && mv target/reference.md docs/
	$(CARGO) run -q --locked -- schema --report --markdown > target/report.md && mv target/report.md docs/
	$(CARGO) run -q --locked -- preset list --markdown > target/presets.md && mv target/presets.md docs/
	$(CARGO) run -q --locked -- schema --report | python3 scripts/python_parts.py
	@scripts/setup python
	@scripts/python pages

# Those that are made of the notebooks, which are run in full (some minutes).
notebooks: setup
	@scripts/setup python
	@CARGO="$(CARGO)" scripts/python notebooks

# The book in target/book; needs mdBook (cargo install mdbook --locked), whose warnings are errors.
book:
	@command -v mdbook >/dev/null || { echo "mdbook is missing: cargo install mdbook --locked" >&2; exit 1; }
	@mdbook build docs 2>&1 | tee target/book.log; ! grep -E '\b(WARN|ERROR)\b' target/book.log

# The paper in target/paper, its figures from recorded results; with pandoc, as a page of HTML.
paper:
	scripts/paper

bench:
	$(CARGO) run --release --locked -- bench

# All that the book and the README show of results: the papers' figures and claims, remedies side by side, the crossover, pictures, tables between
# marks. It says how long each part took, goes on where it was stopped, and names the pages that have to be checked by hand. Needs Python 3.
figures:
	$(CARGO) build --profile shipped --locked
	python3 scripts/figures target/shipped/flashraid

# Agreement with the simulator that the papers extended; needs Python 3.
validate: build
	python3 scripts/validate_reference.py target/release/flashraid

# Random configurations, damaged inputs and killed comparisons for as long as wanted; `make test` has a short form of it.
SECONDS ?= 3600
SEED ?= 1
soak:
	FLASHRAID_SOAK_SECONDS=$(SECONDS) FLASHRAID_SOAK_SEED=$(SEED) $(CARGO) test -p flashraid-cli --locked --test it -- --ignored --nocapture hostile::soak::soak

# Every fuzz target for a minute; traces begin with the samples of all formats.
FUZZ_SECONDS ?= 60
fuzz:
	@$(CARGO) +nightly --version >/dev/null 2>&1 || { echo "fuzzing needs a nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { echo "cargo-fuzz is missing: cargo install cargo-fuzz --locked" >&2; exit 1; }
	$(CARGO) +nightly run -q --manifest-path fuzz/Cargo.toml --bin seeds fuzz/corpus/trace
	@for target in trace config device; do echo "== $$target"; \
	  $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# The calls of the C library, random ones too, under AddressSanitizer (leaks included), and the C programs under gcc's address and undefined sanitizers.
sanitize:
	@$(CARGO) +nightly --version >/dev/null 2>&1 || { echo "sanitizers need a nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test -p flashraid-c --locked --target $(HOST) --target-dir target/sanitize --test it -- calls::
	FLASHRAID_SANITIZE=1 $(CARGO) test -p flashraid-c --locked --test it -- programs::
