# Two commands do all set-up on a machine with Python 3.11 or newer (with venv), git and make:
#
#   make demo   runs the checker on a published wheel that carries the bug, and on the mended copy
#   make test   lint, types and tests
#
# Both install into .venv, once; another interpreter: `make test PYTHON=python3.13`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint bench docs clean

help:
	@sed -n 's/^#   //p' Makefile

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "carryall needs Python 3.11 or newer; name one: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

# What the demo needs: the package and its two dependencies.
$(VENV)/installed: $(VENV)/created pyproject.toml
	$(PIP) --editable .
	touch $@

# What the tests need. It includes what the demo needs.
$(VENV)/installed-dev: $(VENV)/created pyproject.toml
	$(PIP) --editable '.[dev]'
	touch $(VENV)/installed $@

demo: $(VENV)/installed
	$(BIN)/python -m demo.published_bug

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/carryall check

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.lint_speed

docs: $(VENV)/installed-dev
	$(BIN)/python -m docs.build_rules
	$(BIN)/python -m docs.sessions

clean:
	rm -rf $(VENV) .cache build dist
