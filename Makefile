# Each target sets up what it needs in .venv and leaves it there: the second run starts at once.
# `make help` lists the targets.

# Python 3.11 or newer, only used to make .venv.
PYTHON = python3
# The text that `make demo` edits a copy of.
FILE = README.md
# Further arguments for pytest, such as ARGS="-k export".
ARGS =
# `make contract ISSUE=1` looks at one issue's requirements only.
ISSUE =
export FILE ARGS ISSUE

SHELL = /bin/sh
.DEFAULT_GOAL = help
.SUFFIXES:
.DELETE_ON_ERROR:

RUN = .venv/bin/python
PIP = $(RUN) -m pip --disable-pip-version-check --quiet
PYTEST = $(RUN) -m pytest
LINTED_PYTHON = adapter bench conftest.py pgtap tests

# The editable installation holds this directory's path: after a move or a copy it is made again.
$(shell test ! -e .venv/here || test "$$(cat .venv/here)" = "$$PWD" || rm -f .venv/here .venv/has-*)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf 'make %-12s %s\n' "$$name" "$$text"; done

.venv/here:
	@command -v "$(PYTHON)" >/dev/null || { \
		echo 'There is no $(PYTHON) here: install Python 3.11 or newer, or name one: make PYTHON=python3.12 …' >&2; \
		exit 2; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is $$($(PYTHON) --version 2>&1): PatchDIFF needs 3.11 or newer: make PYTHON=python3.12 …" >&2; \
		exit 2; }
	@echo 'Setting up .venv; this happens once.' >&2
	@"$(PYTHON)" -m venv .venv
	@printf '%s' "$$PWD" >.venv/here

# What a lock installs: run time is part of dev, and dev is part of matrix.
.venv/has-runtime: .venv/here requirements.lock pyproject.toml
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/has-dev: .venv/here requirements-dev.lock pyproject.toml
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch .venv/has-runtime $@

.venv/has-matrix: .venv/here requirements-matrix.lock pyproject.toml
	@$(PIP) install --require-hashes -r requirements-matrix.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch .venv/has-runtime .venv/has-dev $@

.PHONY: setup
setup: .venv/has-dev ## make .venv with everything for development

.PHONY: demo
demo: .venv/has-runtime ## edit a copy of FILE (the README) over MCP and show the audit trail
	@$(RUN) -m patchdiff.cli demo -- "$$FILE"

.PHONY: test
test: .venv/has-dev ## run the whole suite, pgTAP included; ARGS goes to pytest
	@$(PYTEST) -n 2 $(ARGS)

.PHONY: test-matrix
test-matrix: .venv/has-matrix ## run the suite on PostgreSQL 16, 17 and 18
	@failed=; for version in 16 17 18; do \
		echo "== PostgreSQL $$version"; \
		PATCHDIFF_TEST_POSTGRES=$$version $(PYTEST) -n 2 $(ARGS) || failed="$$failed $$version"; \
	done; \
	test -z "$$failed" || { echo "failed on PostgreSQL$$failed" >&2; exit 1; }

.PHONY: soak
soak: .venv/has-dev ## race writers for PATCHDIFF_SOAK_MINUTES (10)
	@$(PYTEST) -m soak $(ARGS)

.PHONY: lint
lint: .venv/has-dev ## check style, types and SQL layout
	@$(RUN) -m ruff check $(LINTED_PYTHON)
	@$(RUN) -m ruff format --check $(LINTED_PYTHON)
	@$(RUN) -m mypy
	@$(RUN) -m sqlfluff lint --disable-progress-bar db pgtap

.PHONY: bench
bench: .venv/has-dev ## measure submissions and pages against raw SQL, near misses against other searches, symbols
	@$(RUN) bench/submission.py
	@$(RUN) -m bench.history
	@$(RUN) bench/near_misses.py
	@$(RUN) bench/structure.py

.PHONY: contract
contract: .venv/here ## list the requirements that no test claims; ISSUE limits it
	@$(RUN) -m tests.support.contract $(ISSUE)

.PHONY: install-sql
install-sql: .venv/has-runtime ## write db/install.sql from the migrations and functions
	@$(RUN) -c 'import pathlib, patchdiff.schema as schema; \
		pathlib.Path("db/install.sql").write_text(schema.install_script(), encoding="utf-8")'

.cache/lock/bin/uv:
	@"$(PYTHON)" -m venv .cache/lock
	@.cache/lock/bin/python -m pip --disable-pip-version-check --quiet install uv

LOCK = .cache/lock/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header \
	--python-version 3.11 pyproject.toml

.PHONY: lock
lock: .cache/lock/bin/uv ## pin the dependencies of pyproject.toml again; add UPGRADE=1 for newer ones
	@$(LOCK) $(if $(UPGRADE),--upgrade) --group build --group test --group lint --group bench --group matrix -o requirements-matrix.lock
	@cp requirements-matrix.lock requirements-dev.lock
	@$(LOCK) --group build --group test --group lint --group bench -o requirements-dev.lock
	@cp requirements-dev.lock requirements.lock
	@$(LOCK) --group build -o requirements.lock

.PHONY: clean
clean: ## remove .venv and every cache; the embedded server's data stays
	@rm -rf .venv .cache build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find adapter bench pgtap tests -name __pycache__ -type d -prune -exec rm -rf {} +
