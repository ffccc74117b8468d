# `make test` is everything that has to hold before a change is merged; .ci/run calls it and nothing else.

CARGO ?= cargo

.PHONY: all build test setup setup-tests format lint unit doc bench reproduce validate

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

bench:
	$(CARGO) run --release --locked -- bench

# The papers' figures and claims, in under an hour on two cores; docs/reproduction.md is this ledger.
reproduce: build
	target/release/flashraid reproduce all --out target/reproduce
	cp target/reproduce/reproduction.md target/reproduce/reproduction.json docs/

# Agreement with the simulator that the papers extended; needs Python 3.
validate: build
	python3 scripts/validate_reference.py target/release/flashraid
