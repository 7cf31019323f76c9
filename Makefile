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
	$(BIN)/pip install --disable-pip-version-check -q -c constraints.txt -e '.[plot,serve,fast,ctranslate2,formats,speech,scale,korean,tensorboard,dev]'
	touch $(STAMP)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: install
	$(BIN)/python -m pytest -m slow -rA

# The demo of `rnn` against `rnnsearch` needs translation and evaluation, which do not exist yet: until then this trains
# one attentive model to turn sequences around, and says what is missing.
demo: install
	rm -rf runs/demo
	$(BIN)/seq2see train builtin:reverse --model luong --size tiny --time-limit 90s --out runs/demo \
		--set model.dropout=0 --set model.encoder.dropout=0
	@echo "Missing until issue 4 is done: translation, quality by sentence length, the map of a sentence, report.html."

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
