# README's two commands are `make demo` and `make test`; both need only Python >= 3.11 with venv and pip.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-fast lint format clean

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evenly needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed
	$(BIN)/evenly example gaussian-pulse demo --force
	$(BIN)/evenly allocate demo/gaussian-pulse --cores 280,336,392,448,504,560 --plot demo/plots

test: lint
	$(BIN)/python -m pytest --cov --cov-report=term

test-fast: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "not slow" -x

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) demo build dist .coverage
