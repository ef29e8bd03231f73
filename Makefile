# The most common tasks. `run` needs only Rust and a C compiler; `test` and `build` also need Node.js, for the web page.
# Other requirements are installed (on Debian, as root) or named.

CARGO ?= cargo
# unixODBC, and its drivers for SQLite, MariaDB, PostgreSQL and SQL Server's protocol.
ODBC = $(wildcard $(addprefix /usr/lib/*/odbc/,libsqlite3odbc.so libmaodbc.so psqlodbcw.so libtdsodbc.so))
CHROMIUM = $(firstword $(wildcard /usr/bin/chromium) $(shell command -v chromium))
MARIADB = $(firstword $(wildcard /usr/sbin/mariadbd) $(shell command -v mariadbd))
# A connection that hangs is tried again.
APT = apt-get -o Acquire::Retries=3 -o Acquire::http::Timeout=60
SYSBENCH = $(wildcard /usr/share/sysbench/oltp_common.lua)
POSTGRES = $(firstword $(wildcard /usr/lib/postgresql/*/bin/postgres) $(shell command -v postgres))

PREFIX ?= $(HOME)/.cargo
TARGET = $(or $(CARGO_TARGET_DIR),target)

.PHONY: run install uninstall dist test-packages cycles docs test test-ui check-ui test-browser test-python wheels test-matrix fuzz lint lint-release generate bench build bench-build ui deps

# Builds TPROC-C with one warehouse in an SQLite file in this folder, runs it for half a minute, shows the result.
run:
	$(CARGO) run --release --package triphammer -- run

# Installs the program with its web page into PREFIX/bin, manual pages and completions into PREFIX/share.
install: ui
	$(CARGO) install --locked --root $(PREFIX) --path crates/cli
	tools/share.sh $(PREFIX)/bin/triphammer $(PREFIX)/share

uninstall:
	$(CARGO) uninstall --root $(PREFIX) triphammer
	tools/share.sh --remove $(PREFIX)/share

# The files of a release, in target/dist: archives, Debian and RPM packages, wheels, a container image, sums. The tools that
# make them are installed into the user's cache once. DIST_FLAGS is passed on: `make dist DIST_FLAGS=--complete`.
dist: ui
	@echo 'Making the files of a release; from an empty folder, this takes several minutes.'
	tools/dist.py $(DIST_FLAGS)

# Installs, uses and removes these files in fresh Debians (debootstrap, as root), the wheel also on PYTHONS.
test-packages: dist
	tools/test-packages.py $(addprefix --python ,$(PYTHONS))

# All tests: unit tests, conformance and workload suites on real servers, the program, the web page in a browser; `make
# lint` has format and lints. Most tests wait, for servers and for runs of some seconds: there are more of them at a time than CPUs. Every
# suite runs, so that one failure does not hide another, and a few tests that failed run once more alone: shared hosts
# stall.
TEST_THREADS ?= $(shell expr $$(nproc) \* 4)
# A test that hangs fails the suites. Their output names it: it has been running for over 60 seconds.
TEST_LIMIT ?= 60m
# Not the examples in doc comments: none of them is code, and rustdoc would read every crate to find that out.
SUITES = --tests
test: deps check-ui
	RUST_TEST_THREADS=$(TEST_THREADS) timeout --foreground $(TEST_LIMIT) tools/test-suites.py $(CARGO) test --workspace $(SUITES) --no-fail-fast
	$(MAKE) test-browser

# The page of `triphammer serve`: release builds embed it, others read it from ui/dist.
PAGE = ui/dist/index.html
ui: $(PAGE)

$(PAGE): $(shell find ui/src ui/public -type f) $(wildcard ui/*.html ui/*.json ui/*.ts) | ui/node_modules
	cd ui && npm run build

.DELETE_ON_ERROR:

ui/node_modules: ui/package-lock.json
	cd ui && npm ci
	touch ui/node_modules

# The page: type checks, component tests, and the page in Chromium with the real server, SQLite and PostgreSQL.
test-ui: check-ui test-browser

check-ui: ui
	cd ui && npm run check && npm test

test-browser: deps ui
	$(CARGO) test --workspace $(SUITES) --no-run # the same build as in `test`, so that nothing is built twice
	tools/test-ui.py

# The Python package on SQLite, PostgreSQL and the null database, the examples of its guide, and a notebook. The libraries
# that the tests need are downloaded once.
test-python: deps
	tools/test-python.py

# The packages of Python, in target/dist: a wheel for this machine and the source distribution. PYTHONS are tried.
PYTHONS ?= python3
wheels: ui
	tools/wheels.py $(addprefix --python ,$(PYTHONS))

# The database suites on PostgreSQL 14, 16, 17 and 18, MySQL 8.0, MariaDB 11.4, DuckDB 2.0 and Trino 476, TPROC-H at SF 0.1
# on them and on SQLite, SQL Server's protocol with other clients and another server, and our histogram logs in HdrHistogram's own reader; the drivers on io_uring and on tokio's loop; slow tests of the program; and the Python
# package. The servers and the reader are downloaded once, into the user's cache. The SQL of Oracle and Db2 is parsed.
test-matrix: deps
	tools/test-matrix.py
	$(CARGO) build --package triphammer
	tools/check-hdr-log.py
	tools/check-sql.py
	tools/test-mcp.py $(TARGET)/debug/triphammer
	for io in uring runtime; do TRIPHAMMER_TEST_IO=$$io $(CARGO) test --package triphammer-suites --test conformance --test drivers || exit 1; done
	$(CARGO) test --package triphammer-statistics --lib -- --ignored
	$(CARGO) test --release --package triphammer-isolation --test brute_force -- --ignored
	$(CARGO) test --package triphammer-document --lib in_many -- --ignored
	$(CARGO) test --package triphammer --test it why:: -- --ignored
	$(CARGO) test --package triphammer-runner --test documents verdicts -- --ignored
	$(CARGO) test --package triphammer-statistics --lib a_year_of_nights -- --ignored
	TRIPHAMMER_SEARCHES=$${TRIPHAMMER_SEARCHES:-200} $(CARGO) test --release --package triphammer-runner --test documents \
	  capacity_simulation -- --ignored
	$(MAKE) test-python
	tools/test-ray.py

# Corrupts messages of real servers, controlled by seeds, for FUZZ_SECONDS each: with the drivers, and with runs of the
# program. A failure names its seed; FUZZ_SEED starts with it.
FUZZ_SECONDS ?= 300
FUZZ_SEED ?= $(shell date +%s)
fuzz: deps
	@echo "fuzzing from seed $(FUZZ_SEED), $(FUZZ_SECONDS) s each"
	TRIPHAMMER_FUZZ_SEED=$(FUZZ_SEED) TRIPHAMMER_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test \
	  --package triphammer-suites --test drivers broken_messages -- --nocapture
	TRIPHAMMER_FUZZ_SEED=$(FUZZ_SEED) TRIPHAMMER_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test \
	  --package triphammer --test it broken_messages -- --nocapture

# Finds import cycles of more than three files in a crate, and new ones of its top-level modules.
cycles:
	tools/cycles.py

# Builds the guides as a book, target/book/book/index.html; compiles mdbook once, into the user's cache.
docs:
	@echo 'Making the documentation; the first time, its tools are compiled, which takes minutes.'
	tools/docs.py --book

# Rewrites what is generated from declarations and types, with the tests that compare it: the settings and the API of
# docs/reference, lists in docs, documents.py and _commands.pyi of the Python package, and ui/src/api. Of the whole
# workspace, as `test` builds it: of single packages everything would be compiled again, with other features.
generate:
	UPDATE_REFERENCE=1 $(CARGO) test --workspace --test documents --test it -- \
	  the_python_package the_lists_of_the_guide the_guide_to_observing the_guide_to_the_doctor the_reference_page contract

lint: cycles
	tools/docs.py
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- --deny warnings

# Scripts for sh, and the workflow of releases. actionlint is compiled by Go.
ACTIONLINT = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
lint-release:
	shellcheck install.sh tools/*.sh tools/release/*.sh .ci/run
	go run $(ACTIONLINT)

build: ui
	$(CARGO) build --release --package triphammer

bench-build: build
	$(CARGO) build --release --package triphammer-bench-floor --package triphammer-bench-isolation \
	  --package triphammer-bench-long-job --package triphammer-bench-recorder

# Comparative measurements; each prints medians and their ratio. See bench/README.md.
bench: deps bench-build
	bench/build_postgres.py
	bench/build_sqlite.py
	bench/client_cost.py
	bench/engine.py
	bench/long_job.py
	bench/modes.py
	bench/readers.py
	bench/terminals.py

# The servers and the browser that the tests start, sysbench's scripts, and DuckDB's library.
deps:
	@tools/fetch-duckdb.py
	@test -n "$(POSTGRES)" || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends postgresql postgresql-contrib; \
	  else \
	    echo "the tests need PostgreSQL's server programs: sudo apt-get install postgresql"; exit 1; \
	  fi; }
	@test -x /usr/sbin/pgbouncer || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends pgbouncer; \
	  else \
	    echo "the tests need PgBouncer: sudo apt-get install pgbouncer"; exit 1; \
	  fi; }
	@test -n "$(MARIADB)" || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends mariadb-server; \
	  else \
	    echo "the tests need MariaDB's server programs: sudo apt-get install mariadb-server"; exit 1; \
	  fi; }
	@test -n "$(SYSBENCH)" || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends sysbench; \
	  else \
	    echo "the tests need sysbench's scripts: sudo apt-get install sysbench"; exit 1; \
	  fi; }
	@command -v prometheus-node-exporter >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends prometheus-node-exporter; \
	  else \
	    echo "the tests need a node exporter: sudo apt-get install prometheus-node-exporter"; exit 1; \
	  fi; }
	@test -n "$(CHROMIUM)" || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends chromium; \
	  else \
	    echo "the tests need Chromium: sudo apt-get install chromium"; exit 1; \
	  fi; }
	@test $(words $(ODBC)) = 4 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    $(APT) update -qq && $(APT) install -y --no-install-recommends \
	      unixodbc libsqliteodbc odbc-mariadb odbc-postgresql tdsodbc; \
	  else \
	    echo "the tests need ODBC drivers:" \
	      "sudo apt-get install unixodbc libsqliteodbc odbc-mariadb odbc-postgresql tdsodbc"; exit 1; \
	  fi; }
