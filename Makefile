# Everything a person does with nightgrid, on a machine that has Python 3.11-3.13 and make.
# `make` alone prints this list. PYTHON chooses the interpreter, SEED repeats a test run;
# tests share TEST_PROCESSES processes, most of which wait for servers and workers (0: one);
# AGAINST=CLONE of an earlier commit is what `make bench` measures the guarded numbers against.

PYTHON ?= python3
VENV ?= .venv
SEED ?=
WORDS ?= ../shared/words/enable1.txt
PYTEST_ARGS ?=
TEST_PROCESSES ?= 3
CHAOS_ARGS ?=
MUTANTS_ARGS ?=

BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo check test test-long lint format docs site dist notes bench chaos mutants lock clean

help: ## print this list
	@echo "nightgrid: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Stamps: an environment is made again when what it is made of changes. uv installs side by side
# and keeps what it fetched; where it cannot reach an index, pip does it, which knows other ways.
# Tests start hundreds of processes: for them all that is installed is compiled to bytecode, and so
# is the source, which an environment that forbids bytecode would keep from. A demo loads a part of
# it, once, and compiles the kernels of its games alone.
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
VERSIONED := $(VENV)/.versioned
TO_RUN := .[flows,query,serve]
TO_TEST := .[flows,query,serve,trace,bench,docs,dev]
INDEX := $(if $(PIP_INDEX_URL),--default-index $(PIP_INDEX_URL))
unexport PYTHONDONTWRITEBYTECODE

define install
@$(BIN)/uv pip install --quiet --python $(BIN)/python --system-certs $(INDEX) $(2) \
  --constraint constraints.txt --editable "$(1)" \
  || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable "$(1)"
endef

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "nightgrid needs Python 3.11, 3.12 or 3.13; $(PYTHON) is" \
	       "$$($(PYTHON) --version 2>&1). Choose another: make PYTHON=python3.12" >&2; exit 1; }
	@echo "installing into $(VENV): half a minute or more, depending on the network"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt uv
	$(call install,$(TO_RUN))
	@touch $@ $(VERSIONED)

# What is installed says its version, which has the commit: after `git pull` it is written anew.
$(VERSIONED): $(wildcard .git/logs/HEAD) | $(READY)
	@test $@ -nt .git/logs/HEAD || $(BIN)/uv pip install --quiet --python $(BIN)/python --system-certs $(INDEX) \
	  --no-deps --reinstall --editable . \
	  || echo "nightgrid --version names an earlier commit: what writes it cannot be fetched" >&2
	@touch $@

$(DEV): $(READY)
	@echo "installing what checks and tests need"
	$(call install,$(TO_TEST),--compile-bytecode)
	@$(BIN)/nightgrid warmup --all
	@touch $@

demo: $(READY) $(VERSIONED) ## install, run the nightly job over the bundled archive, show a solved board and all counts
	$(BIN)/nightgrid demo

check: lint ## lint, and the quick tests of solvers and archive, in less than a minute
	$(BIN)/python -m pytest tests/solvers tests/archive -m "not slow and not long" --numprocesses 2 \
	  --dist loadscope $(if $(SEED),--hypothesis-seed=$(SEED)) $(PYTEST_ARGS)

test: $(DEV) ## run the tests; SEED=… repeats a run, PYTEST_ARGS=… passes options on
	$(BIN)/python -m pytest -m "not long" --numprocesses $(TEST_PROCESSES) --dist loadscope \
	  --no-loadscope-reorder $(if $(SEED),--hypothesis-seed=$(SEED)) $(PYTEST_ARGS)

# Their files alone are collected, which takes each process seconds of the whole suite. Property
# tests, which hypothesis marks, are among them: `make test` draws a share of their examples.
test-long: $(DEV) ## run the tests that `make test` leaves out, and property tests with all examples
	TEST_EXAMPLES=all $(BIN)/python -m pytest $$(grep --recursive --files-with-matches \
	  --include='test_*.py' --regexp='mark\.long' --regexp='mark\.drawn' --regexp='from hypothesis' \
	  tests) -m "long or drawn or hypothesis" --numprocesses $(TEST_PROCESSES) --dist loadscope \
	  --no-loadscope-reorder $(if $(SEED),--hypothesis-seed=$(SEED)) $(PYTEST_ARGS)

lint: $(DEV) ## check style, types and the floors of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	git grep -nEf .old-words -- "*.py" "*.md" "*.html"; test $$? -eq 1

format: $(DEV) ## rewrite the source in house style
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: $(DEV) ## write what docs/ takes from the source
	PYTHONPATH=. $(BIN)/python docs/generate.py

# The folder docs/ is not the source folder: pages link to files of the whole repository.
site: $(DEV) ## build the docs as a site into var/site/html; a warning is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs/site \
	  --doctree-dir var/site/doctrees . var/site/html

dist: $(DEV) ## build the source distribution and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

notes: $(DEV) ## print the release notes that changelog.d/ gives; VERSION=1.2.3 moves them into CHANGELOG.md
	$(BIN)/towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version next)

bench: $(DEV) ## measure everything again and write it into benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks.guards $(if $(AGAINST),--against $(AGAINST)) --write
	$(BIN)/python -m benchmarks.kernels.published --write
	$(BIN)/python -m benchmarks.kernels.strands_archive --words $(WORDS) --write
	$(BIN)/python -m benchmarks.kernels.strands_archive --best 10 --write
	$(BIN)/python -m benchmarks.kernels.letterboxed_archive --write
	$(BIN)/python -m benchmarks.kernels.curves --write
	$(BIN)/python -m benchmarks.chaos --write
	$(BIN)/python -m benchmarks.chaos.ondemand --write
	$(BIN)/python -m benchmarks.chaos.lakes --write
	$(BIN)/python -m benchmarks.http.chaos --write
	$(call install,.[rank])
	$(BIN)/python -m benchmarks.strands_rank --write

chaos: $(DEV) ## let everything go wrong in the middle of runs; SEED=… repeats the random part
	$(BIN)/python -m benchmarks.chaos $(if $(SEED),--seed $(SEED)) $(CHAOS_ARGS)
	$(BIN)/python -m benchmarks.chaos.ondemand
	$(BIN)/python -m benchmarks.chaos.lakes
	$(BIN)/python -m benchmarks.http.chaos
	$(BIN)/python -m benchmarks.http.schemathesis --examples 60

mutants: $(DEV) ## put bugs into plain modules and see which the tests notice; SEED=… repeats the draw
	$(call install,.[mutants])
	$(BIN)/python -m benchmarks.mutants $(if $(SEED),--seed $(SEED)) $(MUTANTS_ARGS)

# Markers are cut off: a constraint says nothing about what is installed, only in which version,
# and every name stands here once.
lock: $(DEV) ## choose the versions in constraints.txt anew
	$(BIN)/uv pip compile --universal --python-version 3.11 --fork-strategy fewest --all-extras \
	  --no-annotate --no-header --upgrade --quiet --output-file constraints.new pyproject.toml
	sed 's/ ;.*//' constraints.new > constraints.txt
	rm constraints.new

clean: ## remove what make made: the environment, caches and var/; lake/ is kept
	rm -rf $(VENV) build dist var *.egg-info .mypy_cache .ruff_cache .pytest_cache \
	  .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
