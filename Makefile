# Every target sets up what it needs in .venv: a machine with Python 3.11+, make and g++ is enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CMAKE := $(BIN)/cmake
# Runs a command and prints a dot a second meanwhile: nothing is silent for long.
BUSY := sh -c '"$$@" & work=$$!; while kill -0 $$work 2>/dev/null; do printf . >&2; sleep 1; done; echo >&2; wait $$work' busy
NATIVE := CMakeLists.txt $(wildcard cpp/anabranch/*.hpp cpp/anabranch/select/*.hpp cpp/bindings/*.hpp cpp/bindings/*.cpp)

.PHONY: help install install-train install-dev install-docs wheel demo docs test test-long test-all test-hard test-sanitized lint types cpp-test cpp-sanitize bench bench-native bench-waves peers bench-peers bench-plan bench-learning signature-builds stubs readme pictures format clean

help:
	@echo "make demo          search a position, then train an agent for connect four in two minutes and say how strong it is"
	@echo "make test          the test suite, in minutes; make test-all also what takes longer (tests/long.py)"
	@echo "make test-hard     what takes too long for that: full laws, fuzzers, failing disks and memory, sanitizers; half an hour"
	@echo "make docs          these pages as HTML, in build/docs"
	@echo "make install       just the environment, in .venv"
	@echo "make wheel         a file in dist that pip installs elsewhere without a compiler"
	@echo "make lint types    ruff; mypy --strict"
	@echo "make cpp-test      the engine's own tests; make cpp-sanitize runs them under ASan+UBSan and TSan"
	@echo "make bench         our own figures and bars; make signature-builds compares -O0 with -O3"
	@echo "make bench-waves   what waves and kept graphs cost and gain: strength, speed, evaluations; half an hour or more"
	@echo "make bench-peers   ours beside other libraries, which get .venv-peers; ARGS='--only connect_four' runs a part"
	@echo "make bench-learning  trained here and by others for as many processor minutes, then a match; needs .venv-peers too"

# The package and what it needs to run.
install: $(VENV)/installed
$(VENV)/python: constraints.txt
	@echo "making $(VENV) and installing what anabranch is built with"
	@$(BUSY) $(PYTHON) -m venv $(VENV)
	@$(BUSY) $(PIP) install -c constraints.txt pip
	@$(BUSY) $(PIP) install -c constraints.txt scikit-build-core nanobind cmake ninja numpy numba msgspec tyro rich
	@touch $@
$(VENV)/installed: $(VENV)/python pyproject.toml $(NATIVE)
	@echo "building the engine, which takes a minute or so"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BUSY) $(PIP) install -c constraints.txt --no-build-isolation --no-deps --editable .
	@touch $@

# What tests, lint and types need on top.
install-dev: $(VENV)/installed-dev
$(VENV)/installed-dev: $(VENV)/installed
	@echo "installing what tests, lint and types need"
	@$(BUSY) $(PIP) install -c constraints.txt pytest pytest-xdist hypothesis scipy scipy-stubs open_spiel resvg_py ruff mypy \
	  html5lib torch safetensors onnxruntime onnx onnxscript ray tensorboard
	@touch $@

# What the pages need on top of that.
install-docs: $(VENV)/installed-docs
$(VENV)/installed-docs: $(VENV)/installed constraints.txt
	@echo "installing what the pages need"
	@$(BUSY) $(PIP) install -c constraints.txt sphinx myst-parser furo
	@touch $@

# One file that pip installs on machines like this one, without a compiler; what it needs comes along from the index.
wheel: $(VENV)/python
	@echo "building the engine, which takes a minute or so"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BUSY) $(PIP) wheel -c constraints.txt --no-build-isolation --no-deps --wheel-dir dist .
	@ls dist/anabranch-*.whl

# What training needs on top of that: torch is large.
install-train: $(VENV)/installed-train
$(VENV)/installed-train: $(VENV)/installed
	@echo "installing torch, which training needs"
	@$(BUSY) $(PIP) install -c constraints.txt torch safetensors
	@touch $@

# A search, then training from nothing to an agent. The time is counted from the start of make, so the first time it
# includes the set-up.
DEMO := build/demo
demo: STARTED := $(shell date +%s)
demo: install-train
	$(BIN)/python examples/01_search.py
	@echo "first result $$(($$(date +%s) - $(STARTED))) s after make demo began"
	@rm -rf $(DEMO) && mkdir -p build
	@echo "training connect four in $(DEMO); the line to play against it comes last, for a shell with . $(BIN)/activate"
	$(BIN)/anabranch train connect_four --run $(DEMO) --config examples/demo.toml $(ARGS)

# The pages in build/docs/index.html; a warning is an error, so is a page that Sphinx has overwritten; nothing is fetched.
docs: install-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	$(BIN)/python -m tests.built_pages docs build/docs
	@echo "build/docs/index.html"

test: install-dev
	$(BIN)/python -m pytest -n 2

# What tests/long.py lists; and all but the hard ones.
test-long: install-dev
	$(BIN)/python -m pytest -n 2 --only-long
test-all: test test-long

# What takes too long for every run: laws at full length, every parser and every writer in trouble, each function that Numba
# knows with wrong indices, more random games, the engine's part of the suite with sanitizers. Each part counts its cases.
ENGINE_TESTS := tests/parity tests/golden tests/laws tests/test_searcher.py tests/test_wave_failures.py tests/test_save.py tests/test_kept.py tests/test_result.py
test-hard: install-dev
	$(BIN)/python -m pytest -n 2 --hard -m hard
	$(BIN)/python -m pytest --hard tests/hard
	$(BIN)/python -m tests.unchecked
	$(BIN)/python -m pytest -n 2 tests/parity/test_random_games.py --cases 4000
	$(MAKE) test-sanitized

# Python's part of the suite on an engine with AddressSanitizer and UBSan; what measures memory, or limits it, is left out.
test-sanitized: install-dev
	$(CMAKE) -S . -B build/native-address -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_BUILD_TYPE=None \
	  -DCMAKE_CXX_FLAGS="-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
	$(CMAKE) --build build/native-address --target _native
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0 \
	  ANABRANCH_NATIVE=build/native-address $(BIN)/python -m pytest -p tests.hard.other_build -n 2 $(ENGINE_TESTS) -m "not memory"

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install-dev
	$(BIN)/mypy

cpp-test: install-dev
	$(CMAKE) -S . -B build/cpp -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DANABRANCH_TESTS=ON
	$(CMAKE) --build build/cpp
	build/cpp/engine_tests
	build/cpp/column_tests
	build/cpp/memory_tests
	build/cpp/number_tests

cpp-sanitize: install-dev
	for kind in address,undefined thread; do \
	  $(CMAKE) -S . -B build/cpp-$$kind -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DANABRANCH_TESTS=ON -DANABRANCH_SANITIZE=$$kind && \
	  $(CMAKE) --build build/cpp-$$kind && build/cpp-$$kind/engine_tests && build/cpp-$$kind/column_tests && build/cpp-$$kind/memory_tests && build/cpp-$$kind/number_tests || exit 1; \
	done

# Our own figures and bars: one table, benchmarks/latest.json and, in detail, benchmarks/results/*.json.
bench: install-dev bench-native
	$(BIN)/python benchmarks/run_all.py

bench-native: install-dev
	$(CMAKE) -S . -B build/benchmarks -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DANABRANCH_BENCHMARKS=ON
	$(CMAKE) --build build/benchmarks

# What waves, depth and kept graphs cost and gain. Each script takes --write, which puts its table into docs/waves.md.
WAVES := wave_strength reuse wave_speed network_overhead batched_speed self_play_speed
bench-waves: install-dev peers
	$(BIN)/python benchmarks/run_all.py $(WAVES)

# The peers live in an environment of their own; neither the package nor its tests need one of them. A peer that cannot
# be installed is named, and the others are.
PEERS := .venv-peers
PEERS_PIP := $(PEERS)/bin/python -m pip --disable-pip-version-check install
PEERS_LISTS := $(addprefix benchmarks/peers/requirements,.txt -alone.txt -lightzero.txt)
peers: $(PEERS)/installed
$(PEERS)/installed: $(PEERS_LISTS)
	$(PYTHON) -m venv $(PEERS)
	@echo "installing the peers: torch and jax among them, a minute or more"
	$(PEERS_PIP) -r benchmarks/peers/requirements.txt || \
	  grep -E '^[A-Za-z]' benchmarks/peers/requirements.txt | while read -r line; do \
	    echo "one by one: $$line"; \
	    $(PEERS_PIP) -c benchmarks/peers/requirements.txt "$$line" || echo "NOT installed: $$line"; \
	  done
	$(PEERS_PIP) --no-deps -r benchmarks/peers/requirements-alone.txt || echo "NOT installed: gumbel-mcts, LightZero"
	$(PEERS_PIP) --no-deps --target $(PEERS)/lightzero -r benchmarks/peers/requirements-lightzero.txt || \
	  echo "NOT installed: what LightZero trains with"
	@touch $@

# Ours beside the peers', in one run: one table with ratios, and benchmarks/peers/latest.json.
bench-peers: install-dev peers
	$(BIN)/python benchmarks/run_peers.py $(ARGS)

# Plans in a learned model that costs nothing, beside mctx and LightZero: the table of docs/models.md, with ARGS='--write'.
bench-plan: install-dev peers
	$(BIN)/python benchmarks/plan_speed.py $(ARGS)

# Trained by others and by us for as many processor minutes, and then a match: tables of docs/training.md and muzero.md.
bench-learning: install-train peers
	$(BIN)/python benchmarks/learning_peers.py $(ARGS)

# The number that signs the engine's behaviour: the same without and with optimisation, over runs and threads.
signature-builds: install-dev
	for level in 3 0; do \
	  $(CMAKE) -S . -B build/signature-O$$level -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	    -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O$$level && \
	  $(CMAKE) --build build/signature-O$$level --target _native || exit 1; \
	done
	$(BIN)/python tests/golden/signature_builds.py build/signature-O3 build/signature-O0

# The native module's types, as the build generated them, copied beside the sources for mypy.
stubs: install
	cp "$$($(BIN)/python -c 'import anabranch._native as n, pathlib; print(pathlib.Path(n.__file__).parent)')/_native.pyi" src/anabranch/_native.pyi

# The pictures of the pages, drawn anew.
pictures: install
	$(BIN)/python docs/pictures.py

# The table of settings in docs/options.md, from the code; the peers' tables, from benchmarks/peers/latest.json.
readme: install-dev
	$(BIN)/python -m tests.settings_table
	$(BIN)/python benchmarks/peers/table.py

clean:
	rm -rf build $(VENV) $(PEERS)
