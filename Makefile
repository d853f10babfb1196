# make demo   the main job on built-in data: a small grid, probes, a report with tables and figures (at most 3 minutes after the install)
# make bench  ratios against a bare loop, a conventional pipeline, a plain loader (at most 6 minutes)
# make test   lint, types, doctests, tests: what CI runs
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench clean

demo: $(STAMP)
	$(BIN)/python -m hardlabels.reproduce study=demo

test: $(STAMP) lint
	$(BIN)/python -m pytest

bench: $(STAMP)
	$(BIN)/python -m benchmarks --json outputs/bench.json

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy hardlabels

# The environment is made anew whenever what it is made from has changed.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache
