# install, check, test, test-slow, demo: nothing else to learn.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install check test test-slow demo clean

install: $(STAMP)

# torch comes first and alone: a package that asks for "torch" would otherwise pull a newer build with CUDA.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check -q -c constraints.txt torch
	$(BIN)/pip install --disable-pip-version-check -q -c constraints.txt -e '.[plot,serve,fast,formats,dev]'
	touch $(STAMP)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: check
	$(BIN)/python -m pytest

test-slow: install
	$(BIN)/python -m pytest -m slow -rA

demo: install
	$(BIN)/python -m seq2see.demo

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
