# make demo   a whole study on built-in data whose truth is known: 96 runs, tests, a report that says what was found (2 minutes after the install)
# make bench  ratios against a bare loop, a conventional pipeline, a plain loader (at most 8 minutes); make bench RECORD=1 keeps them in docs/speed.md
# make docs   the documentation as a site that opens offline: site/index.html
# make check  lint, types, doctests and the fast tests: for every change (about 2 minutes on two idle cores)
# make test   lint, types, the documentation, doctests, tests: what CI runs
# With a Python of one of the versions below, the first that is found on PATH or among pyenv's; make PYTHON=... names another.
VERSIONS := 3.11 3.12 3.13
PYTHON ?= python3 $(VERSIONS:%=python%) python $(wildcard $(VERSIONS:%=$(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/%*/bin/python))
SUITS := import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(VERSIONS)".split())
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo check test lint docs bench clean

demo: $(STAMP)
	$(BIN)/python -m hardlabels.reproduce study=known_truth processes=2

# Of the stages that train nothing, and of how a run is put together; what starts processes or trains for long is in make test.
FAST := hardlabels tests/votes tests/delivery tests/metrics tests/statistics tests/test_architecture.py tests/test_grid.py \
	tests/test_console_command.py tests/runs/test_cell.py tests/runs/test_compose.py tests/runs/test_checkpoint.py

check: $(STAMP) lint
	$(BIN)/python -m pytest $(FAST)

test: $(STAMP) lint docs
	$(BIN)/python -m pytest

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(STAMP)
	$(BIN)/python -m benchmarks --json outputs/bench.json $(if $(RECORD),--record)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy hardlabels

# The environment is made anew whenever what it is made from has changed.
$(STAMP): pyproject.toml constraints.txt
	@for python in $(PYTHON); do $$python -c '$(SUITS)' 2>/dev/null && break; python=; done; \
	test -n "$$python" || { echo 'error: expected a Python of one of the versions $(VERSIONS), found none among $(PYTHON)' >&2; exit 2; }; \
	$(BIN)/python -c '$(SUITS)' 2>/dev/null || clear=--clear; \
	echo "$$python -m venv $$clear $(VENV)"; $$python -m venv $$clear $(VENV) && \
	echo 'installing several GB into $(VENV): minutes without a word, once'
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) site .pytest_cache .ruff_cache .mypy_cache
