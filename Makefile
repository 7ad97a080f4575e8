# Every target builds the environment in .venv/ first: once, and again when a dependency or a pin moves.
# PYTHON=/path/to/python3.12 chooses the interpreter; else python3, or the first of 3.11 to 3.13 that is there.

BIN := .venv/bin
ENVIRONMENT := .venv/.installed
IN_RANGE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
VERSION := import platform; print(platform.python_version())

.PHONY: help demo test test-shared check bench
help:
	@echo "make demo          train three surrogates on real data and print what each believed and what was true"
	@echo "make test          the test suite"
	@echo "make test-shared   the tests that need the shared folder (LTR_SHARED, or ../shared)"
	@echo "make check         style, types, imports, then the test suite"
	@echo "make bench         the measurements of docs/benchmarks.md"

demo: $(ENVIRONMENT)
	@$(BIN)/ltr train -m experiment=demo loss=approx,lambdarank,listnet

test: $(ENVIRONMENT)
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4

test-shared: $(ENVIRONMENT)
	@$(BIN)/python -m pytest -q -m shared

check: $(ENVIRONMENT)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4

bench: $(ENVIRONMENT)
	@failed=0; for script in scripts/bench_*.py; do $(BIN)/python "$$script" || failed=1; done; exit $$failed

# Constraints go in by environment variable so that they hold in pip's build environments too (of old and new pip).
$(ENVIRONMENT): pyproject.toml constraints.txt
	@set -e; \
	python='$(PYTHON)'; \
	if [ -z "$$python" ]; then \
	  if $(BIN)/python -c '$(IN_RANGE)' 2>/dev/null; then python=$(BIN)/python; else \
	    for name in python3 python3.11 python3.12 python3.13; do \
	      if "$$name" -c '$(IN_RANGE)' 2>/dev/null; then python=$$name; break; fi; \
	    done; \
	  fi; \
	fi; \
	if [ -z "$$python" ]; then \
	  echo "Python 3.11 to 3.13 is needed; python3 is $$(python3 -c '$(VERSION)' 2>/dev/null || echo missing)." \
	       "Name one: make PYTHON=/path/to/python3.12" >&2; exit 1; \
	fi; \
	if ! "$$python" -c '$(IN_RANGE)' 2>/dev/null; then \
	  echo "Python 3.11 to 3.13 is needed; PYTHON=$$python is" \
	       "$$("$$python" -c '$(VERSION)' 2>/dev/null || echo 'no Python that runs')." >&2; exit 1; \
	fi; \
	wanted=$$("$$python" -c '$(VERSION)'); \
	found=$$($(BIN)/python -c '$(VERSION)' 2>/dev/null || true); \
	if [ "$$found" != "$$wanted" ]; then \
	  echo "Making .venv with Python $$wanted ..."; \
	  "$$python" -m venv --clear .venv; \
	fi; \
	echo "Installing the versions of constraints.txt into .venv (minutes, once) ..."; \
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
	  $(BIN)/python -m pip install -qq --editable '.[dev]'; \
	touch $@

# An environment made with another Python than the one asked for is made anew.
ifdef PYTHON
ifneq ($(shell $(PYTHON) -c '$(VERSION)' 2>/dev/null),$(shell $(BIN)/python -c '$(VERSION)' 2>/dev/null))
.PHONY: $(ENVIRONMENT)
endif
endif
