# Needs GNU make and Python 3.11 or newer; everything else goes into .venv. `make help` lists the targets.

PYTHON ?= python3
PORT ?= 8501
DATA ?=
WATCH ?=
ADVISORIES ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
IN_PARALLEL := -n $(shell getconf _NPROCESSORS_ONLN) --dist worksteal
OR_NONE = $(if $(ARGS),|| test $$? -eq 5)
BENCH_STAMP := $(VENV)/.bench-installed
JS := tests/js
JS_STAMP := $(JS)/node_modules/.installed
# the system's Node.js, or where it has none the one that pip puts into .venv
WITH_NODE := PATH="$$PATH:$(abspath $(BIN))"

# as rankviz/__init__.py has it, for programs that import NumPy before it, such as Streamlit
export OPENBLAS_THREAD_TIMEOUT ?= 20

# Without compiled modules each of the many processes of tests, trials and pages compiles the code anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install app test stories test-postgres coverage e2e screens faults lessons lesson-pictures docs lint types js wheel wheel-all container lock audit bench soak clean

help:
	@echo 'make install           .venv with what requirements/dev.txt names (PYTHON=python3.12 chooses)'
	@echo 'make app               start the app in the browser; DATA=folder adds data sets, PORT=8502 moves it; WATCH=yes sees changes of the code'
	@echo 'make test              tests of core and pages; RANKVIZ_LETOR=folder adds the real folds'
	@echo 'make stories           long stories of faults: kills, full disks (root), lost clusters, other systems, PostgreSQL'
	@echo 'make test-postgres     tests of the run store on PostgreSQL, which they start (Debian package postgresql)'
	@echo 'make coverage          tests of the core, counting the lines that they run'
	@echo 'make e2e               tests in a browser (Chromium; BROWSER_PATH=program chooses)'
	@echo 'make screens           pictures of every page, wide, narrow and dark, into screens/'
	@echo 'make faults            pictures of what a visitor sees when something fails, into screens/faults/ (root, for disks of their own)'
	@echo 'make lessons           lessons and Playground as single HTML files that open from a disk; FOLDER=lessons'
	@echo 'make lesson-pictures   the pictures of docs/lessons.md: every step of every lesson'
	@echo 'make docs              the documentation into static/docs, from where the app links to it'
	@echo 'make lint              ruff, rules and format'
	@echo 'make types             mypy --strict on rankviz/'
	@echo 'make js                lint and tests of the JavaScript in ui/; brings Node.js and ESLint'
	@echo 'make wheel             wheel and source archive into dist/, used on the oldest Python found and on the newest'
	@echo 'make wheel-all         the same on every Python, with the lowest and the newest versions'
	@echo 'make container         the container of deploy/, built and used (root; Debian packages podman, runc, mmdebstrap)'
	@echo 'make lock              requirements/server.txt anew, all packages of a server with their hashes; ARGS=--upgrade takes newer ones'
	@echo 'make audit             known faults of these packages, by pip-audit; ADVISORIES=path reads OSV files on this disk instead of the network'
	@echo 'make bench             measurements of speed and memory, beside peers; ARGS=scaling makes one of them'
	@echo 'make soak              the app under load: ARGS=class, lecture, visitors, long, rows or tabs; ARGS="class --help" lists the options'
	@echo 'make clean             remove .venv, caches and pictures'

install: $(STAMP)

$(STAMP): requirements.txt requirements/server.in requirements/dev.txt
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "There is no $(PYTHON) here. Name a Python 3.11 or newer: make install PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "rankviz needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" -V 2>&1)." \
		"Name another: make install PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment; on Debian install python3-venv." >&2; exit 1; }
	$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements/dev.txt
	@if [ "$$RANKVIZ_PREPARE" != no ]; then \
		echo 'Making the figures that pages open with, about 20 s'; $(BIN)/python -m ui.defaults; fi
	@touch $(STAMP)

app: install
	MALLOC_ARENA_MAX=1 $(if $(DATA),RANKVIZ_DATA="$(DATA)") $(if $(WATCH),STREAMLIT_SERVER_FILE_WATCHER_TYPE=auto) $(BIN)/python -m streamlit run app.py --server.port $(PORT)

# Core and pages beside one another, because tests of processes wait. The results of pages are shown afterwards.
# With ARGS, one of the two may have nothing to run (status 5).
test: install
	@pages=$$(mktemp); trap 'kill $$!; rm -f $$pages' INT TERM; \
	{ $(BIN)/python -m pytest $(IN_PARALLEL) tests/pages $(ARGS) $(OR_NONE); } >$$pages 2>&1 & \
	{ $(BIN)/python -m pytest $(IN_PARALLEL) -m "not story" --ignore=tests/pages $(ARGS) $(OR_NONE); }; status=$$?; \
	wait $$! || status=$$?; cat $$pages; rm -f $$pages; exit $$status

# Only these have stories; to collect all tests takes each process half a minute. With PostgreSQL where it is installed.
stories: install
	$(BIN)/python -m $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),tools.postgres,pytest) $(IN_PARALLEL) -m story tests/shards tests/store tests/test_other_systems.py $(ARGS)

test-postgres: install
	$(BIN)/python -m tools.postgres $(IN_PARALLEL) -k postgresql tests/store $(ARGS)

# Lines are counted in the core's own tests only: a core that only pages try would not be tried. Counting makes
# tests half as slow again, so it is asked for by itself.
coverage: install
	$(BIN)/python -m pytest $(IN_PARALLEL) --cov --cov-report=term-missing:skip-covered --ignore=tests/pages $(ARGS)

# `addopts` leaves tests/e2e out of the other tests, so it is given anew here. Three at once: they wait a lot.
e2e: install
	$(BIN)/python -m pytest -o addopts="-ra --strict-markers" -n 3 --dist worksteal tests/e2e $(ARGS)

screens: install
	$(BIN)/python -m tools.screens

faults: install
	$(BIN)/python -m tools.faults

# esbuild, which joins the scripts, comes with what `make js` needs
lessons: install $(JS_STAMP)
	$(BIN)/python -m tools.lessons $(if $(FOLDER),"$(FOLDER)")

lesson-pictures: install $(JS_STAMP)
	$(BIN)/python -m tools.lesson_pictures

docs: install $(JS_STAMP)
	$(BIN)/python -m tools.docs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

js: $(JS_STAMP)
	$(WITH_NODE) node $(JS)/node_modules/eslint/bin/eslint.js -c $(JS)/eslint.config.js --max-warnings 0 ui tests
	$(WITH_NODE) node --test --test-reporter=spec tests/js/*.test.js

$(JS_STAMP): $(STAMP) $(JS)/package.json $(JS)/package-lock.json requirements/js.txt
	@$(WITH_NODE) npm --version >/dev/null 2>&1 || \
		$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements/js.txt
	$(WITH_NODE) npm ci --silent --prefix $(JS)
	@touch $(JS_STAMP)

wheel: install
	$(BIN)/python -m tools.wheel

wheel-all: install
	$(BIN)/python -m tools.wheel --all

container: install
	$(BIN)/python -m tools.container

lock: install
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
		--custom-compile-command "make lock" $(ARGS) requirements/server.in -o requirements/server.txt

audit: install
	$(BIN)/python -m tools.audit $(ADVISORIES)

bench: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

soak: install
	$(BIN)/python -m benchmarks.soak $(ARGS)

$(BENCH_STAMP): $(STAMP) requirements/bench.txt
	$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements/bench.txt
	@touch $(BENCH_STAMP)

clean:
	rm -rf $(VENV) $(JS)/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov screens build dist static/docs *.egg-info
