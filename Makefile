# `make test` is everything that has to hold before a change is merged; .ci/run calls it and nothing else.

CARGO ?= cargo

.PHONY: all build test setup setup-tests format lint unit doc pages book bench reproduce validate

all: build

build: setup
	$(CARGO) build --release --locked

test: setup-tests format lint unit doc

# Installs what is missing: rustfmt, clippy, a C compiler (for zstd).
setup:
	@scripts/setup

# The same, and a browser (for the tests of reports).
setup-tests:
	@scripts/setup browser

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

unit:
	$(CARGO) test --workspace --locked

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@if command -v mdbook >/dev/null; then $(MAKE) --no-print-directory book; else echo "mdbook is missing: the book is checked by its own tests only"; fi

# The pages of the book that are made of the program; a test says when they are out of date.
pages:
	$(CARGO) run -q --locked -- schema --markdown > target/reference.md && mv target/reference.md docs/
	$(CARGO) run -q --locked -- preset list --markdown > target/presets.md && mv target/presets.md docs/

# The book in target/book; needs mdBook (cargo install mdbook --locked), whose warnings are errors.
book:
	@command -v mdbook >/dev/null || { echo "mdbook is missing: cargo install mdbook --locked" >&2; exit 1; }
	@mdbook build docs 2>&1 | tee target/book.log; ! grep -E '\b(WARN|ERROR)\b' target/book.log

bench:
	$(CARGO) run --release --locked -- bench

# The papers' figures and claims, in under an hour on two cores; docs/reproduction.md is this ledger.
reproduce: build
	target/release/flashraid reproduce all --out target/reproduce
	cp target/reproduce/reproduction.md target/reproduce/reproduction.json docs/

# Agreement with the simulator that the papers extended; needs Python 3.
validate: build
	python3 scripts/validate_reference.py target/release/flashraid
