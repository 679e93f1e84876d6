# `make help` lists the targets. Everything happens in .venv, which the first target that needs it makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types layers bench bench-setup clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@# As pip does for a wheel: starts are quick also where Python may not write.
	$(BIN)/python -m compileall -q codecards indexer retrieval router
	touch $@

$(VENV)/developed: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c "import tomllib; print(' '.join(tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev']))")
	touch $@

demo: $(VENV)/installed  ## Install, index this repository and ask it a question
	$(BIN)/codecards index .
	$(BIN)/codecards recall "where is a changed file told from an unchanged one" --limit 5

test: $(VENV)/developed  ## Run all tests
	$(BIN)/python -m pytest

lint: $(VENV)/developed  ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/developed  ## Check types
	$(BIN)/mypy

layers: $(VENV)/developed  ## Check which folder may import which
	$(BIN)/lint-imports

check: lint types layers test  ## All checks and tests

bench: $(VENV)/developed  ## Measure quality and speed on packages from PyPI
	$(BIN)/python -m benchmarks quality
	$(BIN)/python -m benchmarks speed

bench-setup: $(VENV)/installed  ## Install what the benchmarks need
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c "import tomllib; print(' '.join(tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['bench']))")

clean:  ## Remove the environment and the index
	rm -rf $(VENV) .codecards build dist *.egg-info
