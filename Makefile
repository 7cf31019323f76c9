# demo, install, check, test, test-slow: nothing else to learn.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --disable-pip-version-check -q -c constraints.txt

.PHONY: demo install check test pytest test-slow clean

# With and without attention, side by side. Done once it is shown again at once; `rm -rf runs/demo` trains anew.
demo: $(VENV)/.core
	$(BIN)/seq2see demo --out runs/demo

install: $(VENV)/.installed

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The checks, one process, beside the two of the tests: those wait for servers and browsers now and then.
test: install
	$(MAKE) --no-print-directory -j 2 check pytest

# Compiled files are kept even where the environment says otherwise: the hundred processes that tests start would
# compile the package again, each of them.
pytest: export PYTHONDONTWRITEBYTECODE =
pytest: install
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-slow: install
	SEQ2SEE_TESTS=thorough $(BIN)/python -m pytest -m "slow or thinned or hypothesis" -rA

# What the demo needs: the package, its own dependencies, and the server that its last line starts.
# torch comes first and alone: a package that asks for "torch" would otherwise pull a newer build with CUDA.
$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) -e ".[serve]"
	touch $@

# Everything that the package, its tests and its benchmarks use, on top of that and in the same environment.
$(VENV)/.installed: $(VENV)/.core
	$(PIP) -e '.[plot,fast,hf,speech,tensorboard,serve,metrics,scale,dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
