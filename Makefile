# Two commands do all set-up on a machine with Python 3.11 or newer (with venv), git and make:
#
#   make demo   runs the checker on a published wheel that carries the bug, and on the mended copy
#   make test   lint, types and tests
#
# Both install into .venv, once; another interpreter: `make test PYTHON=python3.13`. `make test` installs torch and Triton,
# too, for the tests of what watches them; `make test KERNELS=0` does without, and skips those tests. Where pip's index
# offers torch for CUDA only (some gigabytes), name that of the CPU builds first:
# `PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make test`.

COMMA := ,
PYTHON ?= python3
KERNELS ?= 1
VENV := .venv
BIN := $(VENV)/bin
ifeq ($(KERNELS),0)
EXTRAS := dev
else
EXTRAS := dev,test-kernels
endif
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
INSTALLED := $(VENV)/installed-$(subst $(COMMA),-,$(EXTRAS))
$(INSTALLED): $(VENV)/created pyproject.toml
	$(PIP) --editable '.[$(EXTRAS)]'
	touch $(VENV)/installed $@

demo: $(VENV)/installed
	$(BIN)/python -m demo.published_bug

test: lint
	$(BIN)/python -m pytest

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/carryall check

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.lint_speed

docs: $(INSTALLED)
	$(BIN)/python -m docs.build_rules
	$(BIN)/python -m docs.build_checkers
	$(BIN)/python -m docs.sessions

clean:
	rm -rf $(VENV) .cache build dist
