# Two commands matter: `make run` starts Hermes, `make test` runs every check.

CARGO ?= cargo

.PHONY: run test fmt lint docs pictures bench conformance fuzz order setup audit

run: ## Build the release binary and start it; with no provider set up, on a small model of its own
	@./scripts/setup build
	$(CARGO) build --release --quiet --bin hermes
	@./target/release/hermes model --why >/dev/null 2>&1 || ./target/release/hermes model pull smollm2 || true
	@./target/release/hermes $(ARGS)

test: setup ## Format, lints, all tests, architecture tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) nextest run --workspace --locked $(if $(CI),--profile ci,)

setup:
	@./scripts/setup

fmt:
	$(CARGO) fmt --all

lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings

audit: ## Known vulnerabilities and everything else in deny.toml; needs cargo-deny and the network
	$(CARGO) deny check

docs: ## Regenerate what is generated from the types
	UPDATE_DOCS=1 $(CARGO) nextest run -p hermes-config generated

pictures: ## Play the scenes of docs/pictures and draw them anew
	@./scripts/pictures

order: ## Find what usual starts go through, so that the linker puts it side by side
	@./scripts/order

fuzz: ## Ten million odd inputs for each reader of strangers' text; FUZZ="commands --inputs 1000" picks
	$(CARGO) run --release --package hermes-fuzz -- $(FUZZ)

conformance: ## The MCP suite of the protocol's authors, against both sides of ours
	@./scripts/conformance

bench: ## Medians and ratios; BENCH="search insert" picks entries
	$(CARGO) build --release --quiet --package hermes-mcp --bin mcp-stdio
	$(CARGO) run --release --package hermes-bench -- $(BENCH)
