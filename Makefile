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
	$(BIN)/pip install --disable-pip-version-check -q -c constraints.txt -e '.[plot,serve,fast,ctranslate2,speech,scale,korean,tensorboard,dev]'
	touch $(STAMP)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-slow: install
	$(BIN)/python -m pytest -m slow -rA

# With and without attention, side by side. Done once it is shown again at once; `rm -rf runs/demo` trains anew.
demo: install
	$(BIN)/seq2see demo --out runs/demo

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
