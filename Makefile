# README's two commands are `make demo` and `make test`; both need only Python >= 3.11 with venv and pip.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# How many processes run tests; 0 is this one alone.
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Says every four seconds that the commands after it still run.
SAYING = (while sleep 4; do echo "… $(1)"; done) & dots=$$!; trap "kill $$dots" EXIT;

# The lower bounds: what Debian 12 ships, where it ships it.
OLDEST := numpy==1.24.* scipy==1.10.* pandas==1.5.3 scikit-learn==1.2.* numba==0.57.* matplotlib==3.6.* pyarrow==15.*

.PHONY: demo docs links test test-fast test-oldest lint format clean

# --no-compile: Python compiles each module when it is first imported, far fewer than there are.
$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evenly needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	@echo "installing evenly and what it needs: about half a minute"
	@$(call SAYING,installing) $(PYTHON) -m venv $(VENV) && $(PIP) install --no-compile --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install --editable '.[dev]'
	@touch $@

# Without an MPI the demo says so and goes on with one rank.
$(VENV)/installed-mpi: $(VENV)/installed
	@$(PIP) install --no-compile --editable '.[mpi]' && touch $@ || echo "no MPI could be installed: the demo runs one rank only"

# The first answer comes before MPI is installed, which only the rest needs. Meanwhile, the simulation is compiled; if
# that fails, the last command does it, and says why it can't.
ANSWER := $(BIN)/evenly allocate demo/gaussian-pulse --cores 280,336,392,448,504,560 --plot demo/plots
demo: $(VENV)/installed
	$(BIN)/evenly example gaussian-pulse demo --force
	@echo "$(ANSWER)"
	@$(BIN)/python -m evenly.demo.kernels 2> /dev/null & kernels=$$!; $(call SAYING,compiling what is used first) \
	$(ANSWER) && $(MAKE) --silent --no-print-directory $(VENV)/installed-mpi && { wait $$kernels || true; }
	$(BIN)/evenly demo demo

# The site: open docs/_build/html/index.html. Warnings are errors.
docs: $(VENV)/installed-dev
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

# Asks for every address in the documents; it needs a network, so it is no part of the tests.
links: $(VENV)/installed-dev
	$(BIN)/sphinx-build -q -b linkcheck docs docs/_build/links

test: lint docs
	$(PYTEST) --cov --cov-report=term

test-fast: $(VENV)/installed-dev
	$(PYTEST) -m "not slow and not long and not chaos" -x

test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip --quiet install --editable '.[all]' $(OLDEST) pytest pytest-cov hypothesis
	.venv-oldest/bin/python -m pytest -m "not slow" -W ignore tests

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) .venv-oldest demo docs/_build docs/generated build dist .coverage
