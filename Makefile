# Thin: makes .venv and calls Snakemake. `make help` lists the targets.
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
PYTHON ?= $(shell command -v python3.11 || command -v python3)
SNAKEMAKE = .venv/bin/snakemake --cores $(CORES)

.DEFAULT_GOAL := all
.PHONY: all env smoke report test lint bench lock clean help

all: env ## Environment and the main job: every table and figure (the default)
	$(SNAKEMAKE)

env: .venv/ready ## The environment alone, in .venv, from the locked requirements

.venv/ready: envs/requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "coretail needs Python 3.11: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --no-deps --require-hashes -r envs/requirements.lock
	.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

smoke: env ## Every stage end to end with small sizes, in about two minutes
	$(SNAKEMAKE) --configfile config/smoke.yaml

report: env ## The same, and results/report/report.html: all of it in one file
	$(SNAKEMAKE) report

test: env ## The tests
	.venv/bin/python -m pytest -n $(CORES)

lint: env ## snakefmt, snakemake --lint, ruff, mypy
	.venv/bin/ruff format --check scripts tests
	.venv/bin/ruff check scripts tests
	.venv/bin/mypy
	.venv/bin/snakefmt --check Snakefile workflow
	.venv/bin/snakemake --lint

bench: env ## Benchmarks, each against a reference in the same run
	PYTHONPATH=tests .venv/bin/python -m bench

lock: env ## Renew envs/requirements.lock from pyproject.toml
	.venv/bin/uv pip compile --quiet --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --extra workflow --extra slurm --extra alfworld --extra test --extra lint \
		pyproject.toml --output-file envs/requirements.lock

clean: ## Remove results and Snakemake's notes, keep .venv
	rm -rf results .snakemake

help: ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
