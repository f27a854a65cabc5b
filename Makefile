# Thin shell over tools/setup.sh, the CMake presets and tools/*.py. `make help` lists it all.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup build test demo format bench install dist clean

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# Parts of `make test` and names of `make bench` to run; empty = all.
STAGES ?=
BENCH ?=

PYTHON := .venv/bin/python

help: ## Show this list
	@echo 'proa: online prediction server. Targets:'
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo 'Variables: JOBS=$(JOBS) PREFIX=$(PREFIX) STAGES="unit e2e" (test) BENCH="server_cost" (bench)'

setup: ## Install the Debian and Python packages that are missing
	@tools/setup.sh

build: setup build/release/build.ninja ## Build the server: build/release/bin/proa
	@cmake --build --preset release -j $(JOBS) --target proa

build/release/build.ninja:
	@cmake --preset release

test: ## Build and run every test; last line: N passed, N failed
	@tools/setup.sh test
	@$(PYTHON) tools/run_tests.py --jobs $(JOBS) $(STAGES)

demo: build ## Serve a trained model and classify real photographs
	@$(PYTHON) tools/demo.py

format: ## Format all C++ files in place
	@tools/setup.sh test
	@$(PYTHON) tools/format.py

bench: build ## Measure against the bars; results in benchmarks/results/
	@tools/setup.sh bench
	@$(PYTHON) benchmarks/run.py $(BENCH)

install: build ## Install under PREFIX: bin/proa, its libraries, an example
	@$(PYTHON) tools/dist.py install '$(PREFIX)'

dist: build ## Make the tarball and the .deb in dist/
	@$(PYTHON) tools/dist.py tarball
	@$(PYTHON) tools/deb.py

clean: ## Remove what was built (keeps .venv)
	@rm -rf build dist
