# The two commands of the README and their relatives. Every path is relative: the folder's own may hold spaces.
PYTHON ?= python3
SHELL := /bin/bash

.PHONY: env env-engines reproduce rehearsal test test-workflow test-engines benchmarks readme format check clean-env

env: .venv/.complete

.venv/.complete: envs/laptop.txt envs/laptop-constraints.txt envs/install.sh pyproject.toml
	@bash envs/install.sh "$(PYTHON)"

env-engines: .venv-engines/.complete

.venv-engines/.complete: envs/engines.txt envs/engines-constraints.txt envs/engines-overrides.txt envs/install.sh pyproject.toml
	@bash envs/install.sh "$(PYTHON)" engines

reproduce: env
	@.venv/bin/entrances unlock
	@.venv/bin/snakemake everything

# The paper's rules, engines and all, on the small policy: about 20 minutes on two idle cores.
rehearsal: env-engines
	@.venv-engines/bin/snakemake problem_sets results/laptop/policies/grpo-s1-step50
	@.venv-engines/bin/snakemake --configfile config/rehearsal.yaml

test: env
	@.venv/bin/python -m pytest

# Whole runs: staleness, cores, the shared cache, kill -9, bad ground. About ten minutes on two idle cores.
test-workflow: env
	@.venv/bin/python -m pytest -m workflow tests/workflow

# verl, vLLM, merging and SLURM for real, in the environment that has them.
test-engines: env-engines
	@.venv-engines/bin/python -m pytest -m engines tests/engines tests/workflow/test_slurm.py

check: env
	@.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/snakefmt --check Snakefile rules workflow && .venv/bin/snakemake --lint

readme: env
	@.venv/bin/snakemake --quiet rules -- everything && .venv/bin/python resources/readme/update.py

format: env
	@.venv/bin/ruff check --fix . ; .venv/bin/ruff format . ; .venv/bin/snakefmt Snakefile rules workflow

benchmarks: env
	@.venv/bin/python -m pytest tests/benchmarks --benchmark-only --benchmark-disable-gc

clean-env:
	@rm -rf .venv .venv-engines
