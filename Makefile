# `make help` lists the targets. Everything happens in .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests to run: `make test T=tests/router` or `make test T=tests/docs/test_library.py::test_name`.
T ?=
# All tests run in one process for each core, at most eight; chosen tests run in this process.
WORKERS ?= logical
PYTEST_OPTIONS := $(if $(T),$(T),-n $(WORKERS) --maxprocesses 8 --dist worksteal)
BENCH := $(CURDIR)/build/bench

.DEFAULT_GOAL := help
.PHONY: help demo test coverage check lint format types layers bench bench-setup clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@# pip compiles a wheel too: the command line starts quickly even if Python may not write there.
	$(BIN)/python -m compileall -q codecards indexer retrieval router
	touch $@

$(VENV)/developed: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c "import tomllib; print(' '.join(tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['dev']))")
	touch $@

demo: $(VENV)/installed  ## Install, index this repository and ask it a question
	$(BIN)/codecards index .
	$(BIN)/codecards recall "how is a changed file distinguished from an unchanged one" --limit 5
	@echo
	@echo "Next: source $(BIN)/activate"

test: $(VENV)/developed  ## Run all tests (about 3 minutes on two cores), or those of T=PATH
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

coverage: $(VENV)/developed  ## Run all tests and measure the branch coverage of the product
	@rm -rf .coverage && mkdir .coverage
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) --cov --cov-report=term

lint: $(VENV)/developed  ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/developed  ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

types: $(VENV)/developed  ## Check types
	$(BIN)/mypy

layers: $(VENV)/developed  ## Check which folder may import which
	$(BIN)/lint-imports

check: lint types layers test  ## Run all checks and tests

bench: $(VENV)/developed  ## Measure quality and speed on packages from PyPI
	$(BIN)/python -m benchmarks quality --depth 100 --cache $(BENCH)
	$(BIN)/python -m benchmarks speed --cache $(BENCH)

bench-setup: $(VENV)/installed  ## Install what the benchmarks need
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c "import tomllib; print(' '.join(tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['bench']))")

clean:  ## Remove the environment, the index and measurements
	rm -rf $(VENV) .codecards/index .coverage build dist *.egg-info
