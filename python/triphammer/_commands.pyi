"""The functions: one for each command, with the settings that the program declares for it."""

# Made from the declarations of the program; do not edit.
# `make generate` rewrites it.

from collections.abc import Sequence
from datetime import timedelta
from os import PathLike
from typing import Any, Literal, Union

from ._job import Job
from ._record import Document, Record
from ._workload import Workload
from .documents import (
    BuildReport,
    BundleVerification,
    CapacityResult,
    CheckReport,
    ComparisonResult,
    DoctorResult,
    DrillResult,
    HistoryResult,
    IsolationResult,
    MatrixResult,
    ProfileResult,
    RepetitionResult,
    RunResult,
)

Text = Union[str, PathLike[str], int, float]
Duration = Union[str, timedelta]

def start(kind: str, *positional: Any, **settings: Any) -> Job[Any]: ...
def preview(kind: str, *positional: Any, **settings: Any) -> Any: ...
def job(which: Union[int, str, Job[Any], Document] = "last", *, store: Union[str, PathLike[str], None] = None) -> Union[Document, list[str], None]: ...

def build(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    scale: Union[Union[int, str], None] = ...,
    jobs: Union[Union[int, str], None] = ...,
    seed: Union[Union[int, str], None] = ...,
    create_database: Union[bool, None] = ...,
    add: Union[bool, None] = ...,
    replace: Union[bool, None] = ...,
    no_observe: Union[bool, None] = ...,
    observe_interval: Union[Duration, None] = ...,
    cluster: Union[Text, None] = ...,
    hosts: Union[Union[int, str], None] = ...,
    host_metrics: Union[Text, None] = ...,
    force: Union[bool, None] = ...,
    store: Union[Text, None] = ...,
    foreign_keys: Union[bool, None] = ...,
    no_procedures: Union[bool, None] = ...,
    history_key: Union[bool, None] = ...,
    population_time: Union[Text, None] = ...,
    partition: Union[bool, None] = ...,
    columnar: Union[bool, None] = ...,
    payload_size: Union[Text, None] = ...,
    workload_file: Union[Text, None] = ...,
    storage_engine: Union[Literal["InnoDB", "RocksDB", "NDBCluster"], None] = ...,
    partitions: Union[Union[int, str], None] = ...,
    hash_clusters: Union[Literal["no", "yes"], None] = ...,
    compression: Union[Literal["none", "row", "page"], None] = ...,
    delayed_durability: Union[Literal["off", "on"], None] = ...,
    memory_optimized: Union[Literal["off", "on"], None] = ...,
    load_from: Union[Literal["client", "tpch"], None] = ...,
) -> BuildReport:
    """Create the schema and load the data of a workload.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    scale: Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores nothing) and for the default SQLite file (which it builds) [default: 1; 10 for a build of kv, and for null: except with your own SQL]
    jobs: Number of parallel sessions [default: min(2 x cores, chunks of the data), with --cluster on each host; 1 to build a database that allows only one writer]
    seed: Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs [default: 1]
    create_database: Create the database first if it does not exist
    add: Add the tables of a workload to a build of the one that it extends, as -w ch does with TPROC-C; scale, seed and options are those of that build
    replace: Drop what an earlier build created, then build
    no_observe: Do not observe the database's sessions and hosts during the run; also turns off --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on
    observe_interval: Time between two samples of what the database's sessions do and wait for, from 10ms to 1s [default: 100ms]
    cluster: Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; `local` for several processes on this host [default: none: one process]
    hosts: Number of hosts that share the work [default: all nodes of the cluster; 2 processes with `local`]
    host_metrics: Prometheus node exporter on the database's host, such as http://db1:9100/metrics
    force: Also change tables that are not in the build record
    store: File of the job store [default: in the user's data directory]
    foreign_keys: TPROC-C: add foreign keys after the load; TPROC-H: add the foreign keys of clause 1.4.2.3 after the load; CH-benCHmark: add foreign keys after the load
    no_procedures: TPROC-C, CH-benCHmark: do not create stored procedures; runs then need --mode statements
    history_key: TPROC-C, CH-benCHmark: give the history table a surrogate key, for databases that need one to replicate
    population_time: TPROC-C, CH-benCHmark: date and time of every row that the build loads
    partition: TPROC-H: partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)
    columnar: TPROC-H: columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of MariaDB, columnstore indexes of SQL Server
    payload_size: Key-value: size of the payload of each row, from 1 to 65535 bytes
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    storage_engine: mysql: storage engine of all tables
    partitions: mysql: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account; oracle: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account (needs Oracle's Partitioning; not run yet)
    hash_clusters: oracle: whether warehouse, district, item and stock of tproc-c are hash clusters, which find a row without an index (not run yet)
    compression: sqlserver: compression of tables and primary keys (not run yet)
    delayed_durability: sqlserver: whether procedures of tproc-c commit without waiting for the log: a crash then loses the last commits (not run yet)
    memory_optimized: sqlserver: whether the tables of tproc-c are memory-optimized, and durable (not run yet)
    load_from: trino: where the rows of tproc-h come from: client (generated here, sent by INSERT) or tpch (the server's own catalog of that name)
    """

def run(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, type[Workload], None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    nodes: Union[Text, None] = ...,
    route: Union[Text, Sequence[Text], None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    scale: Union[Union[int, str], None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Union[int, str], None] = ...,
    restore: Union[Text, None] = ...,
    restore_timeout: Union[Duration, None] = ...,
    end_sessions: Union[bool, None] = ...,
    fingerprint: Union[Literal["rows", "checksums", "none"], None] = ...,
    warm: Union[Text, None] = ...,
    until_quiet: Union[Duration, None] = ...,
    pause: Union[Duration, None] = ...,
    threads: Union[Union[int, str], None] = ...,
    rampup: Union[Duration, None] = ...,
    duration: Union[Duration, None] = ...,
    until_ci: Union[Union[float, str], None] = ...,
    transactions: Union[Union[int, str], None] = ...,
    mode: Union[Literal["procedures", "statements"], None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    dop: Union[Union[int, str], None] = ...,
    engine_memory: Union[Text, None] = ...,
    load: Union[Text, None] = ...,
    change: Union[Text, Sequence[Text], None] = ...,
    late: Union[Text, None] = ...,
    backlog: Union[Union[int, str], None] = ...,
    terminals: Union[Union[int, str], None] = ...,
    sessions: Union[Union[int, str], None] = ...,
    login_delay: Union[Duration, None] = ...,
    reconnect: Union[Text, None] = ...,
    login_rate: Union[Text, None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    max_failures: Union[Union[float, str], None] = ...,
    abort_on_failures: Union[Text, None] = ...,
    no_observe: Union[bool, None] = ...,
    observe_interval: Union[Duration, None] = ...,
    cluster: Union[Text, None] = ...,
    hosts: Union[Union[int, str], None] = ...,
    on_host_loss: Union[Text, None] = ...,
    host_metrics: Union[Text, None] = ...,
    energy_metrics: Union[Text, None] = ...,
    power_metric: Union[Text, None] = ...,
    idle: Union[Duration, None] = ...,
    sysfs: Union[Text, None] = ...,
    log_probe: Union[bool, None] = ...,
    cpu_profile: Union[Duration, None] = ...,
    capture_on: Union[Text, Sequence[Text], None] = ...,
    require: Union[Text, Sequence[Text], None] = ...,
    price: Union[Text, None] = ...,
    label: Union[Text, None] = ...,
    series: Union[Text, None] = ...,
    metrics_listen: Union[Text, None] = ...,
    otlp: Union[Text, None] = ...,
    otlp_ca: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    foreign_keys: Union[bool, None] = ...,
    no_procedures: Union[bool, None] = ...,
    history_key: Union[bool, None] = ...,
    population_time: Union[Text, None] = ...,
    all_warehouses: Union[bool, None] = ...,
    mix: Union[Text, None] = ...,
    routines: Union[Literal["triphammer", "hammerdb"], None] = ...,
    partition: Union[bool, None] = ...,
    columnar: Union[bool, None] = ...,
    test: Union[Literal["power", "throughput", "both", "queries"], None] = ...,
    streams: Union[Text, None] = ...,
    queries: Union[Text, None] = ...,
    repeat: Union[Union[int, str], None] = ...,
    analyze: Union[bool, None] = ...,
    baseline: Union[Duration, None] = ...,
    script: Union[Text, Sequence[Text], None] = ...,
    define: Union[Text, Sequence[Text], None] = ...,
    allow_shell: Union[bool, None] = ...,
    payload_size: Union[Text, None] = ...,
    keys: Union[Text, None] = ...,
    batch: Union[Union[int, str], None] = ...,
    scan_rows: Union[Union[int, str], None] = ...,
    workload_file: Union[Text, None] = ...,
    recording: Union[Text, None] = ...,
    order: Union[Literal["commit", "times", "session"], None] = ...,
    storage_engine: Union[Literal["InnoDB", "RocksDB", "NDBCluster"], None] = ...,
    partitions: Union[Union[int, str], None] = ...,
    hash_clusters: Union[Literal["no", "yes"], None] = ...,
    compression: Union[Literal["none", "row", "page"], None] = ...,
    delayed_durability: Union[Literal["off", "on"], None] = ...,
    memory_optimized: Union[Literal["off", "on"], None] = ...,
    load_from: Union[Literal["client", "tpch"], None] = ...,
) -> Job[RunResult]:
    """Run a workload and measure it.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    nodes: File that declares the nodes of a cluster, and rules that route transactions to them: TOML, or a connect pool of HammerDB in XML [default: the hosts of the target, if --route is given]
    route: Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. The types are all, reads, writes, or a transaction's name; the policies are first, last, random, round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are all, primaries, replicas, or names with + between them [default: with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used]
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    scale: Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores nothing) and for the default SQLite file (which it builds) [default: 1; 10 for a build of kv, and for null: except with your own SQL]
    seed: Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs [default: 1]
    vus: Number of virtual users, or of sessions for a rate, ramp or steps load [default: 1 for SQLite, else min(10, scale)]
    restore: What restores the database before each run: copy=NAME, a snapshot made by `snapshot`; copy, a snapshot of the state at the start of the job, for jobs with several runs; or 'cmd=COMMAND', a command of this host's shell, which has the values of the combination as CELL_VUS and so on, in `compare` the side as CELL_SIDE, A or B, and the target as CELL_TARGET [default: nothing]
    restore_timeout: Maximum time for making a snapshot, and for each restore [default: 1h; 24h for a command]
    end_sessions: Let snapshots and restores of PostgreSQL end all other sessions at the database, whoever has them; without it, they fail as long as there are any
    fingerprint: What shows whether two runs began from the same state: rows (the number of rows of each table, for at most 30 s), checksums (of all rows of all tables) or none [default: rows with --restore and for snapshots, else none]
    warm: What is read into caches before each run: tables, indexes, tables,indexes or none [default: none]
    until_quiet: Wait before each run until the server has finished its work in the background: checkpoints, vacuum, purge and merges; at most for this time [default: no wait]
    pause: Before each run, close every connection to the database and wait for this time, as long as a serverless database takes to suspend; then measure the time of its first answer [default: none]
    threads: Worker threads [default: min(cores, sessions)]
    rampup: Time under load before the timed window starts [default: 1m, or 5s for the default SQLite file; in `capacity` 10s, or 5s]
    duration: Length of the timed window; its maximum with --until-ci [default: 5m, or 30m with --until-ci; for the default SQLite file 30s, or 5m; in `capacity` 1m, or 10s]
    until_ci: End the timed window as soon as the 95 % confidence interval of the primary metric is within this share of its value, such as 1% [default: off]
    transactions: Number of transactions per virtual user, instead of a duration
    mode: Where the transaction logic runs: procedures (in the database) or statements (in the client) [default: procedures if the workload and the database support them]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    dop: Degree of parallelism: processes (PostgreSQL) or threads (DuckDB) that work on one query; 1 turns parallel queries off. Other databases reject it [default: the database's own]
    engine_memory: Maximum memory of an engine in this process (DuckDB), such as 2GiB or 500MB. Servers reject it: their memory is their own setting [default: the database's own]
    load: Load model: closed; rate:500/s or rate:500/s,constant; rate:500/s,at=2m,rate=2000/s (a rate that changes at times after the start of the timed window); ramp:100..2000/10m; steps:FILE (CSV with the columns rate,duration); keyed (with the workload's keying and thinking times); replay:FILE or replay:FILE,speed=2x (a recording that `capture` made) [default: closed]
    change: Change of the load during the run, at a time after the start of the timed window: 'at=2m rate=2000/s' (arrivals of an open load), 'at=3m users=32' (users of a closed load, at most --vus) or 'at=4m mix=new_order=50,payment=50' (weights of transaction types); can be repeated. The result has the reaction to each [default: none]
    late: What to do with arrivals that found no free session: issue (run them late) or skip:TIME (skip those later than that, such as skip:100ms) [default: issue]
    backlog: Maximum number of arrivals that wait for a session; beyond it, those that have waited longest are dropped [default: 60 s of arrivals at the highest rate]
    terminals: Number of terminals of a keyed load [default: as defined by the workload: 10 per warehouse]
    sessions: Number of sessions that the terminals of a keyed load share, or `own` for one per terminal [default: min(64, terminals); 1 for SQLite]
    login_delay: Time between the logins of two terminals of a keyed load [default: 0s]
    reconnect: Log in again after every N transactions of a session; every=1 is a new connection for each transaction, as pgbench -C makes. The result has the times of logins, by phase [default: never: sessions remain]
    login_rate: Number of sessions per second that begin to log in at the start, if the server keeps up [default: no limit: on each thread 8 at a time, and one more for each that is in, up to 256]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this; 0s disables it [default: 0s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    max_failures: Maximum share of failed transactions; above it, the exit code is 1 [default: 1%]
    abort_on_failures: End the run early if this share of transactions fails within this time, such as 50%/10s. The run is stored and the exit code is 1 [default: never]
    no_observe: Do not observe the database's sessions and hosts during the run; also turns off --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on
    observe_interval: Time between two samples of what the database's sessions do and wait for, from 10ms to 1s [default: 100ms]
    cluster: Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; `local` for several processes on this host [default: none: one process]
    hosts: Number of hosts that share the work [default: all nodes of the cluster; 2 processes with `local`]
    on_host_loss: What to do when a host is lost: continue (the others continue) or abort [default: continue]
    host_metrics: Prometheus node exporter on the database's host, such as http://db1:9100/metrics
    energy_metrics: Exporter of energy or power on the database's host: Scaphandre, Kepler, a node exporter, or any with --power-metric, such as http://db1:8080/metrics [default: that of --host-metrics, and the counters of this host]
    power_metric: Metric of that exporter that is a power in watts, such as power_watts{plug="db1"} [default: the known metrics of energy]
    idle: Read the power of the idle host for this time before each run, to report energy above it [default: not: energy includes that of the idle host]
    sysfs: Directory with the host's /sys, if a container has it elsewhere: the energy counters (class/powercap), and how processors and disks are set up [default: /sys]
    log_probe: Also time commits of a small transaction of triphammer's own, ten per second: creates and drops a table
    cpu_profile: Sample where the CPUs of this host are with perf, for this time from the start of the timed window: a flame graph of client and server [default: none]
    capture_on: Keep full detail of the database's sessions around the moment when this becomes true for a second, such as `new_order.p95 > 100ms`; separate several with commas
    require: Requirement that the run must meet, such as `nopm >= 50000`, `new_order.p95 < 10ms` or `failures < 0.1%`; separate several with commas. If one is not met, the exit code is 1
    price: Price list in TOML (see docs/price-energy.md): adds the costs per million transactions and per year
    label: Label of the job, to find it later
    series: Write the figures of each second to this file during the run: .csv or .jsonl; an existing one is replaced
    metrics_listen: Serve the run's metrics to Prometheus at this address, such as 127.0.0.1:9187; a port alone means 127.0.0.1
    otlp: Send the run's metrics to this OpenTelemetry collector every 10 s (OTLP over HTTP with JSON): http://localhost:4318, or https:// for TLS
    otlp_ca: PEM file with the certificate authorities to verify an https:// collector against [default: the system's authorities]
    store: File of the job store [default: in the user's data directory]
    foreign_keys: TPROC-C: add foreign keys after the load; TPROC-H: add the foreign keys of clause 1.4.2.3 after the load; CH-benCHmark: add foreign keys after the load
    no_procedures: TPROC-C, CH-benCHmark: do not create stored procedures; runs then need --mode statements
    history_key: TPROC-C, CH-benCHmark: give the history table a surrogate key, for databases that need one to replicate
    population_time: TPROC-C, CH-benCHmark: date and time of every row that the build loads
    all_warehouses: TPROC-C, CH-benCHmark: draw a home warehouse for each transaction, from the user's share of all
    mix: TPROC-C: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; TPC-B-like: a script (tpcb-like, simple-update or select-only), or the weights of the three; CH-benCHmark: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; Key-value: hammer (half reads, half updates), hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as read=90,insert=5,delete=5
    routines: TPROC-C: the stored routines that a run calls: triphammer's, or hammerdb's with its rules for inputs (chosen automatically in a schema that HammerDB built)
    partition: TPROC-H: partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)
    columnar: TPROC-H: columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of MariaDB, columnstore indexes of SQL Server
    test: TPROC-H: what to measure: queries (alone), power (one stream between the refresh functions), throughput (several streams in parallel with them) or both
    streams: TPROC-H: number of parallel query streams, in `profile` the levels (1,2,4 or 1..8 or auto); auto: from 2 (below 10 SF) to 11 by the scale factor, and 1 for --test queries; CH-benCHmark: number of streams of queries that run alongside the transactions; 0 for transactions alone
    queries: TPROC-H, CH-benCHmark: run only these queries, such as 1,6,14
    repeat: TPROC-H: number of times to run the whole test
    analyze: TPROC-H: run each query once more after the timed part and keep its plan with what each operation measured (EXPLAIN ANALYZE)
    baseline: CH-benCHmark: before the timed window, run the queries alone and the transactions alone for this time each, and report what each costs the other
    script: Script: a file in pgbench's language, or a built-in script (tpcb-like, simple-update or select-only), with its weight in the mix, such as a.sql@3; can be repeated; sysbench: a Lua script for sysbench 1.0: a file, or the name of a test that comes with sysbench, such as oltp_read_write; Python: a Python file with a workload, or FILE:CLASS where it has several
    define: Script: a variable of the scripts; can be repeated; sysbench: an option of the script, such as table_size=100000; can be repeated; Python: an option of the script, which it finds in self.options; can be repeated
    allow_shell: Script: allow scripts to run commands of the operating system (\\shell and \\setshell)
    payload_size: Key-value: size of the payload of each row, from 1 to 65535 bytes
    keys: Key-value: which keys operations take: uniform, zipf[:THETA], latest, or hot:KEYS/OPERATIONS in percent; zipf by default for ycsb-a, b, c, e and f, latest for ycsb-d, else uniform
    batch: Key-value: keys per operation: a read of several is one statement, a write of several one transaction
    scan_rows: Key-value: largest number of rows of a scan; each scan reads from 1 to N
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    recording: Replay: the recording to replay, which `triphammer capture` makes from a log, and its speed, as in FILE,speed=2x; --load replay:FILE,speed=2x means the same
    order: Replay: what a replay keeps of the order between sessions, beside the order of values that the server made [default: commit for a recording with answers, else times]
    storage_engine: mysql: storage engine of all tables
    partitions: mysql: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account; oracle: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account (needs Oracle's Partitioning; not run yet)
    hash_clusters: oracle: whether warehouse, district, item and stock of tproc-c are hash clusters, which find a row without an index (not run yet)
    compression: sqlserver: compression of tables and primary keys (not run yet)
    delayed_durability: sqlserver: whether procedures of tproc-c commit without waiting for the log: a crash then loses the last commits (not run yet)
    memory_optimized: sqlserver: whether the tables of tproc-c are memory-optimized, and durable (not run yet)
    load_from: trino: where the rows of tproc-h come from: client (generated here, sent by INSERT) or tpch (the server's own catalog of that name)
    """

def profile(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, type[Workload], None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    nodes: Union[Text, None] = ...,
    route: Union[Text, Sequence[Text], None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    scale: Union[Union[int, str], None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Text, None] = ...,
    max_vus: Union[Union[int, str], None] = ...,
    repeats: Union[Union[int, str], None] = ...,
    restore: Union[Text, None] = ...,
    restore_timeout: Union[Duration, None] = ...,
    end_sessions: Union[bool, None] = ...,
    fingerprint: Union[Literal["rows", "checksums", "none"], None] = ...,
    warm: Union[Text, None] = ...,
    until_quiet: Union[Duration, None] = ...,
    pause: Union[Duration, None] = ...,
    threads: Union[Union[int, str], None] = ...,
    rampup: Union[Duration, None] = ...,
    duration: Union[Duration, None] = ...,
    until_ci: Union[Union[float, str], None] = ...,
    cool_down: Union[Duration, None] = ...,
    resume: Union[Text, None] = ...,
    mode: Union[Literal["procedures", "statements"], None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    dop: Union[Union[int, str], None] = ...,
    engine_memory: Union[Text, None] = ...,
    reconnect: Union[Text, None] = ...,
    login_rate: Union[Text, None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    max_failures: Union[Union[float, str], None] = ...,
    no_observe: Union[bool, None] = ...,
    observe_interval: Union[Duration, None] = ...,
    cluster: Union[Text, None] = ...,
    hosts: Union[Union[int, str], None] = ...,
    on_host_loss: Union[Text, None] = ...,
    host_metrics: Union[Text, None] = ...,
    energy_metrics: Union[Text, None] = ...,
    power_metric: Union[Text, None] = ...,
    idle: Union[Duration, None] = ...,
    sysfs: Union[Text, None] = ...,
    log_probe: Union[bool, None] = ...,
    cpu_profile: Union[Duration, None] = ...,
    capture_on: Union[Text, Sequence[Text], None] = ...,
    require: Union[Text, Sequence[Text], None] = ...,
    price: Union[Text, None] = ...,
    label: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    foreign_keys: Union[bool, None] = ...,
    no_procedures: Union[bool, None] = ...,
    history_key: Union[bool, None] = ...,
    population_time: Union[Text, None] = ...,
    all_warehouses: Union[bool, None] = ...,
    mix: Union[Text, None] = ...,
    routines: Union[Literal["triphammer", "hammerdb"], None] = ...,
    partition: Union[bool, None] = ...,
    columnar: Union[bool, None] = ...,
    test: Union[Literal["power", "throughput", "both", "queries"], None] = ...,
    streams: Union[Text, None] = ...,
    queries: Union[Text, None] = ...,
    repeat: Union[Union[int, str], None] = ...,
    analyze: Union[bool, None] = ...,
    baseline: Union[Duration, None] = ...,
    script: Union[Text, Sequence[Text], None] = ...,
    define: Union[Text, Sequence[Text], None] = ...,
    allow_shell: Union[bool, None] = ...,
    payload_size: Union[Text, None] = ...,
    keys: Union[Text, None] = ...,
    batch: Union[Union[int, str], None] = ...,
    scan_rows: Union[Union[int, str], None] = ...,
    workload_file: Union[Text, None] = ...,
    recording: Union[Text, None] = ...,
    order: Union[Literal["commit", "times", "session"], None] = ...,
    storage_engine: Union[Literal["InnoDB", "RocksDB", "NDBCluster"], None] = ...,
    partitions: Union[Union[int, str], None] = ...,
    hash_clusters: Union[Literal["no", "yes"], None] = ...,
    compression: Union[Literal["none", "row", "page"], None] = ...,
    delayed_durability: Union[Literal["off", "on"], None] = ...,
    memory_optimized: Union[Literal["off", "on"], None] = ...,
    load_from: Union[Literal["client", "tpch"], None] = ...,
) -> ProfileResult:
    """Run with increasing numbers of virtual users and fit a scalability curve.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    nodes: File that declares the nodes of a cluster, and rules that route transactions to them: TOML, or a connect pool of HammerDB in XML [default: the hosts of the target, if --route is given]
    route: Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. The types are all, reads, writes, or a transaction's name; the policies are first, last, random, round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are all, primaries, replicas, or names with + between them [default: with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used]
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    scale: Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores nothing) and for the default SQLite file (which it builds) [default: 1; 10 for a build of kv, and for null: except with your own SQL]
    seed: Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs [default: 1]
    vus: Virtual users at each level: a list (1,2,4,8), a range that doubles (1..64), or auto (increases until the throughput peaks and declines) [default: auto]
    max_vus: Highest number of virtual users, or of streams for TPROC-H, that `auto` tries [default: 64 for SQLite, else 512]
    repeats: Number of runs per level; 2 or more show how much repeated runs vary [default: 3]
    restore: What restores the database before each run: copy=NAME, a snapshot made by `snapshot`; copy, a snapshot of the state at the start of the job, for jobs with several runs; or 'cmd=COMMAND', a command of this host's shell, which has the values of the combination as CELL_VUS and so on, in `compare` the side as CELL_SIDE, A or B, and the target as CELL_TARGET [default: nothing]
    restore_timeout: Maximum time for making a snapshot, and for each restore [default: 1h; 24h for a command]
    end_sessions: Let snapshots and restores of PostgreSQL end all other sessions at the database, whoever has them; without it, they fail as long as there are any
    fingerprint: What shows whether two runs began from the same state: rows (the number of rows of each table, for at most 30 s), checksums (of all rows of all tables) or none [default: rows with --restore and for snapshots, else none]
    warm: What is read into caches before each run: tables, indexes, tables,indexes or none [default: none]
    until_quiet: Wait before each run until the server has finished its work in the background: checkpoints, vacuum, purge and merges; at most for this time [default: no wait]
    pause: Before each run, close every connection to the database and wait for this time, as long as a serverless database takes to suspend; then measure the time of its first answer [default: none]
    threads: Worker threads [default: min(cores, sessions)]
    rampup: Time under load before the timed window starts [default: 1m, or 5s for the default SQLite file; in `capacity` 10s, or 5s]
    duration: Length of the timed window; its maximum with --until-ci [default: 5m, or 30m with --until-ci; for the default SQLite file 30s, or 5m; in `capacity` 1m, or 10s]
    until_ci: End the timed window as soon as the 95 % confidence interval of the primary metric is within this share of its value, such as 1% [default: off]
    cool_down: Pause between two runs, so that the database can finish its background work [default: at most 10s, and shorter when a server on this host is quiet; 1s where the database is in this process]
    resume: Resume this interrupted job (a number or `last`) with its original settings
    mode: Where the transaction logic runs: procedures (in the database) or statements (in the client) [default: procedures if the workload and the database support them]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    dop: Degree of parallelism: processes (PostgreSQL) or threads (DuckDB) that work on one query; 1 turns parallel queries off. Other databases reject it [default: the database's own]
    engine_memory: Maximum memory of an engine in this process (DuckDB), such as 2GiB or 500MB. Servers reject it: their memory is their own setting [default: the database's own]
    reconnect: Log in again after every N transactions of a session; every=1 is a new connection for each transaction, as pgbench -C makes. The result has the times of logins, by phase [default: never: sessions remain]
    login_rate: Number of sessions per second that begin to log in at the start, if the server keeps up [default: no limit: on each thread 8 at a time, and one more for each that is in, up to 256]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this; 0s disables it [default: 0s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    max_failures: Maximum share of failed transactions; above it, the exit code is 1 [default: 1%]
    no_observe: Do not observe the database's sessions and hosts during the run; also turns off --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on
    observe_interval: Time between two samples of what the database's sessions do and wait for, from 10ms to 1s [default: 100ms]
    cluster: Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; `local` for several processes on this host [default: none: one process]
    hosts: Number of hosts that share the work [default: all nodes of the cluster; 2 processes with `local`]
    on_host_loss: What to do when a host is lost: continue (the others continue) or abort [default: continue]
    host_metrics: Prometheus node exporter on the database's host, such as http://db1:9100/metrics
    energy_metrics: Exporter of energy or power on the database's host: Scaphandre, Kepler, a node exporter, or any with --power-metric, such as http://db1:8080/metrics [default: that of --host-metrics, and the counters of this host]
    power_metric: Metric of that exporter that is a power in watts, such as power_watts{plug="db1"} [default: the known metrics of energy]
    idle: Read the power of the idle host for this time before each run, to report energy above it [default: not: energy includes that of the idle host]
    sysfs: Directory with the host's /sys, if a container has it elsewhere: the energy counters (class/powercap), and how processors and disks are set up [default: /sys]
    log_probe: Also time commits of a small transaction of triphammer's own, ten per second: creates and drops a table
    cpu_profile: Sample where the CPUs of this host are with perf, for this time from the start of the timed window: a flame graph of client and server [default: none]
    capture_on: Keep full detail of the database's sessions around the moment when this becomes true for a second, such as `new_order.p95 > 100ms`; separate several with commas
    require: Requirement that a level must keep to be the cheapest by --price, such as `all.p95 < 10ms`; separate several with commas
    price: Price list in TOML (see docs/price-energy.md): adds the costs per million transactions and per year
    label: Label of the job, to find it later
    store: File of the job store [default: in the user's data directory]
    foreign_keys: TPROC-C: add foreign keys after the load; TPROC-H: add the foreign keys of clause 1.4.2.3 after the load; CH-benCHmark: add foreign keys after the load
    no_procedures: TPROC-C, CH-benCHmark: do not create stored procedures; runs then need --mode statements
    history_key: TPROC-C, CH-benCHmark: give the history table a surrogate key, for databases that need one to replicate
    population_time: TPROC-C, CH-benCHmark: date and time of every row that the build loads
    all_warehouses: TPROC-C, CH-benCHmark: draw a home warehouse for each transaction, from the user's share of all
    mix: TPROC-C: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; TPC-B-like: a script (tpcb-like, simple-update or select-only), or the weights of the three; CH-benCHmark: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; Key-value: hammer (half reads, half updates), hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as read=90,insert=5,delete=5
    routines: TPROC-C: the stored routines that a run calls: triphammer's, or hammerdb's with its rules for inputs (chosen automatically in a schema that HammerDB built)
    partition: TPROC-H: partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)
    columnar: TPROC-H: columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of MariaDB, columnstore indexes of SQL Server
    test: TPROC-H: what to measure: queries (alone), power (one stream between the refresh functions), throughput (several streams in parallel with them) or both
    streams: TPROC-H: number of parallel query streams, in `profile` the levels (1,2,4 or 1..8 or auto); auto: from 2 (below 10 SF) to 11 by the scale factor, and 1 for --test queries; CH-benCHmark: number of streams of queries that run alongside the transactions; 0 for transactions alone
    queries: TPROC-H, CH-benCHmark: run only these queries, such as 1,6,14
    repeat: TPROC-H: number of times to run the whole test
    analyze: TPROC-H: run each query once more after the timed part and keep its plan with what each operation measured (EXPLAIN ANALYZE)
    baseline: CH-benCHmark: before the timed window, run the queries alone and the transactions alone for this time each, and report what each costs the other
    script: Script: a file in pgbench's language, or a built-in script (tpcb-like, simple-update or select-only), with its weight in the mix, such as a.sql@3; can be repeated; sysbench: a Lua script for sysbench 1.0: a file, or the name of a test that comes with sysbench, such as oltp_read_write; Python: a Python file with a workload, or FILE:CLASS where it has several
    define: Script: a variable of the scripts; can be repeated; sysbench: an option of the script, such as table_size=100000; can be repeated; Python: an option of the script, which it finds in self.options; can be repeated
    allow_shell: Script: allow scripts to run commands of the operating system (\\shell and \\setshell)
    payload_size: Key-value: size of the payload of each row, from 1 to 65535 bytes
    keys: Key-value: which keys operations take: uniform, zipf[:THETA], latest, or hot:KEYS/OPERATIONS in percent; zipf by default for ycsb-a, b, c, e and f, latest for ycsb-d, else uniform
    batch: Key-value: keys per operation: a read of several is one statement, a write of several one transaction
    scan_rows: Key-value: largest number of rows of a scan; each scan reads from 1 to N
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    recording: Replay: the recording to replay, which `triphammer capture` makes from a log, and its speed, as in FILE,speed=2x; --load replay:FILE,speed=2x means the same
    order: Replay: what a replay keeps of the order between sessions, beside the order of values that the server made [default: commit for a recording with answers, else times]
    storage_engine: mysql: storage engine of all tables
    partitions: mysql: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account; oracle: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account (needs Oracle's Partitioning; not run yet)
    hash_clusters: oracle: whether warehouse, district, item and stock of tproc-c are hash clusters, which find a row without an index (not run yet)
    compression: sqlserver: compression of tables and primary keys (not run yet)
    delayed_durability: sqlserver: whether procedures of tproc-c commit without waiting for the log: a crash then loses the last commits (not run yet)
    memory_optimized: sqlserver: whether the tables of tproc-c are memory-optimized, and durable (not run yet)
    load_from: trino: where the rows of tproc-h come from: client (generated here, sent by INSERT) or tpch (the server's own catalog of that name)
    """

def capacity(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, type[Workload], None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    nodes: Union[Text, None] = ...,
    route: Union[Text, Sequence[Text], None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    scale: Union[Union[int, str], None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Union[int, str], None] = ...,
    restore: Union[Text, None] = ...,
    restore_timeout: Union[Duration, None] = ...,
    end_sessions: Union[bool, None] = ...,
    fingerprint: Union[Literal["rows", "checksums", "none"], None] = ...,
    warm: Union[Text, None] = ...,
    until_quiet: Union[Duration, None] = ...,
    pause: Union[Duration, None] = ...,
    threads: Union[Union[int, str], None] = ...,
    rampup: Union[Duration, None] = ...,
    duration: Union[Duration, None] = ...,
    cool_down: Union[Duration, None] = ...,
    limit: Union[Text, None] = ...,
    max_rate: Union[Text, None] = ...,
    precision: Union[Union[float, str], None] = ...,
    resume: Union[Text, None] = ...,
    mode: Union[Literal["procedures", "statements"], None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    dop: Union[Union[int, str], None] = ...,
    engine_memory: Union[Text, None] = ...,
    reconnect: Union[Text, None] = ...,
    login_rate: Union[Text, None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    max_failures: Union[Union[float, str], None] = ...,
    no_observe: Union[bool, None] = ...,
    observe_interval: Union[Duration, None] = ...,
    cluster: Union[Text, None] = ...,
    hosts: Union[Union[int, str], None] = ...,
    on_host_loss: Union[Text, None] = ...,
    host_metrics: Union[Text, None] = ...,
    energy_metrics: Union[Text, None] = ...,
    power_metric: Union[Text, None] = ...,
    idle: Union[Duration, None] = ...,
    sysfs: Union[Text, None] = ...,
    log_probe: Union[bool, None] = ...,
    cpu_profile: Union[Duration, None] = ...,
    capture_on: Union[Text, Sequence[Text], None] = ...,
    label: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    foreign_keys: Union[bool, None] = ...,
    no_procedures: Union[bool, None] = ...,
    history_key: Union[bool, None] = ...,
    population_time: Union[Text, None] = ...,
    all_warehouses: Union[bool, None] = ...,
    mix: Union[Text, None] = ...,
    routines: Union[Literal["triphammer", "hammerdb"], None] = ...,
    partition: Union[bool, None] = ...,
    columnar: Union[bool, None] = ...,
    test: Union[Literal["power", "throughput", "both", "queries"], None] = ...,
    streams: Union[Text, None] = ...,
    queries: Union[Text, None] = ...,
    repeat: Union[Union[int, str], None] = ...,
    analyze: Union[bool, None] = ...,
    baseline: Union[Duration, None] = ...,
    script: Union[Text, Sequence[Text], None] = ...,
    define: Union[Text, Sequence[Text], None] = ...,
    allow_shell: Union[bool, None] = ...,
    payload_size: Union[Text, None] = ...,
    keys: Union[Text, None] = ...,
    batch: Union[Union[int, str], None] = ...,
    scan_rows: Union[Union[int, str], None] = ...,
    workload_file: Union[Text, None] = ...,
    recording: Union[Text, None] = ...,
    order: Union[Literal["commit", "times", "session"], None] = ...,
    storage_engine: Union[Literal["InnoDB", "RocksDB", "NDBCluster"], None] = ...,
    partitions: Union[Union[int, str], None] = ...,
    hash_clusters: Union[Literal["no", "yes"], None] = ...,
    compression: Union[Literal["none", "row", "page"], None] = ...,
    delayed_durability: Union[Literal["off", "on"], None] = ...,
    memory_optimized: Union[Literal["off", "on"], None] = ...,
    load_from: Union[Literal["client", "tpch"], None] = ...,
) -> CapacityResult:
    """Find the highest rate at which a response time stays within a limit.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    nodes: File that declares the nodes of a cluster, and rules that route transactions to them: TOML, or a connect pool of HammerDB in XML [default: the hosts of the target, if --route is given]
    route: Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. The types are all, reads, writes, or a transaction's name; the policies are first, last, random, round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are all, primaries, replicas, or names with + between them [default: with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used]
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    scale: Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores nothing) and for the default SQLite file (which it builds) [default: 1; 10 for a build of kv, and for null: except with your own SQL]
    seed: Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs [default: 1]
    vus: Number of virtual users that serve the arrivals; choose more than are ever busy at once [default: 1 for SQLite, else 64]
    restore: What restores the database before each run: copy=NAME, a snapshot made by `snapshot`; copy, a snapshot of the state at the start of the job, for jobs with several runs; or 'cmd=COMMAND', a command of this host's shell, which has the values of the combination as CELL_VUS and so on, in `compare` the side as CELL_SIDE, A or B, and the target as CELL_TARGET [default: nothing]
    restore_timeout: Maximum time for making a snapshot, and for each restore [default: 1h; 24h for a command]
    end_sessions: Let snapshots and restores of PostgreSQL end all other sessions at the database, whoever has them; without it, they fail as long as there are any
    fingerprint: What shows whether two runs began from the same state: rows (the number of rows of each table, for at most 30 s), checksums (of all rows of all tables) or none [default: rows with --restore and for snapshots, else none]
    warm: What is read into caches before each run: tables, indexes, tables,indexes or none [default: none]
    until_quiet: Wait before each run until the server has finished its work in the background: checkpoints, vacuum, purge and merges; at most for this time [default: no wait]
    pause: Before each run, close every connection to the database and wait for this time, as long as a serverless database takes to suspend; then measure the time of its first answer [default: none]
    threads: Worker threads [default: min(cores, sessions)]
    rampup: Time under load before the timed window starts [default: 1m, or 5s for the default SQLite file; in `capacity` 10s, or 5s]
    duration: Length of the timed window; its maximum with --until-ci [default: 5m, or 30m with --until-ci; for the default SQLite file 30s, or 5m; in `capacity` 1m, or 10s]
    cool_down: Pause between two runs, so that the database can finish its background work [default: at most 10s, and shorter when a server on this host is quiet; 1s where the database is in this process]
    limit: Response time limit to keep, as in 'new_order.p95 < 50ms': a transaction type (or `all`), a percentile and a maximum
    max_rate: Highest rate to try, in transactions per second [default: until the limit is exceeded]
    precision: Search until the capacity is known to within this share [default: 5%]
    resume: Resume this interrupted job (a number or `last`) with its original settings
    mode: Where the transaction logic runs: procedures (in the database) or statements (in the client) [default: procedures if the workload and the database support them]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    dop: Degree of parallelism: processes (PostgreSQL) or threads (DuckDB) that work on one query; 1 turns parallel queries off. Other databases reject it [default: the database's own]
    engine_memory: Maximum memory of an engine in this process (DuckDB), such as 2GiB or 500MB. Servers reject it: their memory is their own setting [default: the database's own]
    reconnect: Log in again after every N transactions of a session; every=1 is a new connection for each transaction, as pgbench -C makes. The result has the times of logins, by phase [default: never: sessions remain]
    login_rate: Number of sessions per second that begin to log in at the start, if the server keeps up [default: no limit: on each thread 8 at a time, and one more for each that is in, up to 256]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this; 0s disables it [default: 0s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    max_failures: Maximum share of failed transactions; above it, the exit code is 1 [default: 1%]
    no_observe: Do not observe the database's sessions and hosts during the run; also turns off --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on
    observe_interval: Time between two samples of what the database's sessions do and wait for, from 10ms to 1s [default: 100ms]
    cluster: Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; `local` for several processes on this host [default: none: one process]
    hosts: Number of hosts that share the work [default: all nodes of the cluster; 2 processes with `local`]
    on_host_loss: What to do when a host is lost: continue (the others continue) or abort [default: continue]
    host_metrics: Prometheus node exporter on the database's host, such as http://db1:9100/metrics
    energy_metrics: Exporter of energy or power on the database's host: Scaphandre, Kepler, a node exporter, or any with --power-metric, such as http://db1:8080/metrics [default: that of --host-metrics, and the counters of this host]
    power_metric: Metric of that exporter that is a power in watts, such as power_watts{plug="db1"} [default: the known metrics of energy]
    idle: Read the power of the idle host for this time before each run, to report energy above it [default: not: energy includes that of the idle host]
    sysfs: Directory with the host's /sys, if a container has it elsewhere: the energy counters (class/powercap), and how processors and disks are set up [default: /sys]
    log_probe: Also time commits of a small transaction of triphammer's own, ten per second: creates and drops a table
    cpu_profile: Sample where the CPUs of this host are with perf, for this time from the start of the timed window: a flame graph of client and server [default: none]
    capture_on: Keep full detail of the database's sessions around the moment when this becomes true for a second, such as `new_order.p95 > 100ms`; separate several with commas
    label: Label of the job, to find it later
    store: File of the job store [default: in the user's data directory]
    foreign_keys: TPROC-C: add foreign keys after the load; TPROC-H: add the foreign keys of clause 1.4.2.3 after the load; CH-benCHmark: add foreign keys after the load
    no_procedures: TPROC-C, CH-benCHmark: do not create stored procedures; runs then need --mode statements
    history_key: TPROC-C, CH-benCHmark: give the history table a surrogate key, for databases that need one to replicate
    population_time: TPROC-C, CH-benCHmark: date and time of every row that the build loads
    all_warehouses: TPROC-C, CH-benCHmark: draw a home warehouse for each transaction, from the user's share of all
    mix: TPROC-C: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; TPC-B-like: a script (tpcb-like, simple-update or select-only), or the weights of the three; CH-benCHmark: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; Key-value: hammer (half reads, half updates), hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as read=90,insert=5,delete=5
    routines: TPROC-C: the stored routines that a run calls: triphammer's, or hammerdb's with its rules for inputs (chosen automatically in a schema that HammerDB built)
    partition: TPROC-H: partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)
    columnar: TPROC-H: columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of MariaDB, columnstore indexes of SQL Server
    test: TPROC-H: what to measure: queries (alone), power (one stream between the refresh functions), throughput (several streams in parallel with them) or both
    streams: TPROC-H: number of parallel query streams, in `profile` the levels (1,2,4 or 1..8 or auto); auto: from 2 (below 10 SF) to 11 by the scale factor, and 1 for --test queries; CH-benCHmark: number of streams of queries that run alongside the transactions; 0 for transactions alone
    queries: TPROC-H, CH-benCHmark: run only these queries, such as 1,6,14
    repeat: TPROC-H: number of times to run the whole test
    analyze: TPROC-H: run each query once more after the timed part and keep its plan with what each operation measured (EXPLAIN ANALYZE)
    baseline: CH-benCHmark: before the timed window, run the queries alone and the transactions alone for this time each, and report what each costs the other
    script: Script: a file in pgbench's language, or a built-in script (tpcb-like, simple-update or select-only), with its weight in the mix, such as a.sql@3; can be repeated; sysbench: a Lua script for sysbench 1.0: a file, or the name of a test that comes with sysbench, such as oltp_read_write; Python: a Python file with a workload, or FILE:CLASS where it has several
    define: Script: a variable of the scripts; can be repeated; sysbench: an option of the script, such as table_size=100000; can be repeated; Python: an option of the script, which it finds in self.options; can be repeated
    allow_shell: Script: allow scripts to run commands of the operating system (\\shell and \\setshell)
    payload_size: Key-value: size of the payload of each row, from 1 to 65535 bytes
    keys: Key-value: which keys operations take: uniform, zipf[:THETA], latest, or hot:KEYS/OPERATIONS in percent; zipf by default for ycsb-a, b, c, e and f, latest for ycsb-d, else uniform
    batch: Key-value: keys per operation: a read of several is one statement, a write of several one transaction
    scan_rows: Key-value: largest number of rows of a scan; each scan reads from 1 to N
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    recording: Replay: the recording to replay, which `triphammer capture` makes from a log, and its speed, as in FILE,speed=2x; --load replay:FILE,speed=2x means the same
    order: Replay: what a replay keeps of the order between sessions, beside the order of values that the server made [default: commit for a recording with answers, else times]
    storage_engine: mysql: storage engine of all tables
    partitions: mysql: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account; oracle: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account (needs Oracle's Partitioning; not run yet)
    hash_clusters: oracle: whether warehouse, district, item and stock of tproc-c are hash clusters, which find a row without an index (not run yet)
    compression: sqlserver: compression of tables and primary keys (not run yet)
    delayed_durability: sqlserver: whether procedures of tproc-c commit without waiting for the log: a crash then loses the last commits (not run yet)
    memory_optimized: sqlserver: whether the tables of tproc-c are memory-optimized, and durable (not run yet)
    load_from: trino: where the rows of tproc-h come from: client (generated here, sent by INSERT) or tpch (the server's own catalog of that name)
    """

def compare(
    target: Union[Text, Job[Any], Document, None] = ...,
    other: Union[Text, Job[Any], Document, None] = ...,
    *,
    prove: Union[Text, None] = ...,
    workload: Union[Text, type[Workload], None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    scale: Union[Union[int, str], None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Text, None] = ...,
    restore: Union[Text, None] = ...,
    restore_timeout: Union[Duration, None] = ...,
    end_sessions: Union[bool, None] = ...,
    fingerprint: Union[Literal["rows", "checksums", "none"], None] = ...,
    warm: Union[Text, None] = ...,
    until_quiet: Union[Duration, None] = ...,
    pause: Union[Duration, None] = ...,
    threads: Union[Union[int, str], None] = ...,
    rampup: Union[Duration, None] = ...,
    duration: Union[Duration, None] = ...,
    until_ci: Union[Union[float, str], None] = ...,
    cool_down: Union[Duration, None] = ...,
    ab: Union[bool, None] = ...,
    duet: Union[bool, None] = ...,
    interleave: Union[Duration, None] = ...,
    replay: Union[Text, None] = ...,
    a: Union[Text, Sequence[Text], None] = ...,
    b: Union[Text, Sequence[Text], None] = ...,
    pairs: Union[Union[int, str], None] = ...,
    margin: Union[Union[float, str], None] = ...,
    fail_if_slower: Union[bool, None] = ...,
    fail_if_inconclusive: Union[bool, None] = ...,
    resume: Union[Text, None] = ...,
    transactions: Union[Union[int, str], None] = ...,
    mode: Union[Literal["procedures", "statements"], None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    dop: Union[Union[int, str], None] = ...,
    engine_memory: Union[Text, None] = ...,
    load: Union[Text, None] = ...,
    change: Union[Text, Sequence[Text], None] = ...,
    late: Union[Text, None] = ...,
    backlog: Union[Union[int, str], None] = ...,
    terminals: Union[Union[int, str], None] = ...,
    sessions: Union[Union[int, str], None] = ...,
    login_delay: Union[Duration, None] = ...,
    reconnect: Union[Text, None] = ...,
    login_rate: Union[Text, None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    max_failures: Union[Union[float, str], None] = ...,
    no_observe: Union[bool, None] = ...,
    observe_interval: Union[Duration, None] = ...,
    cluster: Union[Text, None] = ...,
    hosts: Union[Union[int, str], None] = ...,
    on_host_loss: Union[Text, None] = ...,
    host_metrics: Union[Text, None] = ...,
    energy_metrics: Union[Text, None] = ...,
    power_metric: Union[Text, None] = ...,
    idle: Union[Duration, None] = ...,
    sysfs: Union[Text, None] = ...,
    log_probe: Union[bool, None] = ...,
    cpu_profile: Union[Duration, None] = ...,
    capture_on: Union[Text, Sequence[Text], None] = ...,
    price: Union[Text, None] = ...,
    label: Union[Text, None] = ...,
    yes: Union[bool, None] = ...,
    store: Union[Text, None] = ...,
    foreign_keys: Union[bool, None] = ...,
    no_procedures: Union[bool, None] = ...,
    history_key: Union[bool, None] = ...,
    population_time: Union[Text, None] = ...,
    all_warehouses: Union[bool, None] = ...,
    mix: Union[Text, None] = ...,
    routines: Union[Literal["triphammer", "hammerdb"], None] = ...,
    partition: Union[bool, None] = ...,
    columnar: Union[bool, None] = ...,
    test: Union[Literal["power", "throughput", "both", "queries"], None] = ...,
    streams: Union[Text, None] = ...,
    queries: Union[Text, None] = ...,
    repeat: Union[Union[int, str], None] = ...,
    analyze: Union[bool, None] = ...,
    baseline: Union[Duration, None] = ...,
    script: Union[Text, Sequence[Text], None] = ...,
    define: Union[Text, Sequence[Text], None] = ...,
    allow_shell: Union[bool, None] = ...,
    payload_size: Union[Text, None] = ...,
    keys: Union[Text, None] = ...,
    batch: Union[Union[int, str], None] = ...,
    scan_rows: Union[Union[int, str], None] = ...,
    workload_file: Union[Text, None] = ...,
    recording: Union[Text, None] = ...,
    order: Union[Literal["commit", "times", "session"], None] = ...,
    storage_engine: Union[Literal["InnoDB", "RocksDB", "NDBCluster"], None] = ...,
    partitions: Union[Union[int, str], None] = ...,
    hash_clusters: Union[Literal["no", "yes"], None] = ...,
    compression: Union[Literal["none", "row", "page"], None] = ...,
    delayed_durability: Union[Literal["off", "on"], None] = ...,
    memory_optimized: Union[Literal["off", "on"], None] = ...,
    load_from: Union[Literal["client", "tpch"], None] = ...,
) -> ComparisonResult:
    """Compare A and B: faster, slower or equivalent.

    target: Baseline: a job number, `last`, or a label (all complete runs with that label); or a target as in `run`, on which runs are made
    other: What to compare with A: a job number, `last` or a label; or a second target [default: with --ab, the target of A]
    prove: With --ab, give a setting of this host the value A in the runs of A, and B in those of B; `doctor --prove` finds the values
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    scale: Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores nothing) and for the default SQLite file (which it builds) [default: 1; 10 for a build of kv, and for null: except with your own SQL]
    seed: Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs [default: 1]
    vus: Number of virtual users, or of sessions for a rate, ramp or steps load. With --ab, also levels, as in `profile`: a list (1,2,4,8) or a range that doubles (1..64), of each of which pairs are made [default: 1 for SQLite, else min(10, scale)]
    restore: What restores the database before each run: copy=NAME, a snapshot made by `snapshot`; copy, a snapshot of the state at the start of the job, for jobs with several runs; or 'cmd=COMMAND', a command of this host's shell, which has the values of the combination as CELL_VUS and so on, in `compare` the side as CELL_SIDE, A or B, and the target as CELL_TARGET [default: nothing]
    restore_timeout: Maximum time for making a snapshot, and for each restore [default: 1h; 24h for a command]
    end_sessions: Let snapshots and restores of PostgreSQL end all other sessions at the database, whoever has them; without it, they fail as long as there are any
    fingerprint: What shows whether two runs began from the same state: rows (the number of rows of each table, for at most 30 s), checksums (of all rows of all tables) or none [default: rows with --restore and for snapshots, else none]
    warm: What is read into caches before each run: tables, indexes, tables,indexes or none [default: none]
    until_quiet: Wait before each run until the server has finished its work in the background: checkpoints, vacuum, purge and merges; at most for this time [default: no wait]
    pause: Before each run, close every connection to the database and wait for this time, as long as a serverless database takes to suspend; then measure the time of its first answer [default: none]
    threads: Worker threads [default: min(cores, sessions)]
    rampup: Time under load before the timed window starts [default: 1m, or 5s for the default SQLite file; in `capacity` 10s, or 5s]
    duration: Length of the timed window; its maximum with --until-ci [default: 5m, or 30m with --until-ci; for the default SQLite file 30s, or 5m; in `capacity` 1m, or 10s]
    until_ci: End the timed window as soon as the 95 % confidence interval of the primary metric is within this share of its value, such as 1% [default: off]
    cool_down: Pause between two runs, so that the database can finish its background work [default: at most 10s, and shorter when a server on this host is quiet; 1s where the database is in this process]
    ab: Run A and B in pairs, one after the other, with either of them first, and compare them; A and B are targets
    duet: Run A and B at the same time, with equal load at every moment, and compare them block by block; A and B are targets [default: off; on for targets on two other hosts, without --ab, --interleave or --pairs]
    interleave: Run A and B at the same time, in slices of this length that alternate in a random order: one of them works at a time; A and B are targets [default: no slices with --ab or --duet; else 10s, or less in a short window, where A or B is on this host or both are on one, and the load can take turns]
    replay: Replay this recording on A and B in pairs, and compare what they answer, too: --ab with --load replay:FILE
    a: With --ab, a setting that applies only to the runs of A, such as vus=8; of stored jobs only price=FILE; can be repeated
    b: With --ab, a setting that applies only to the runs of B; of stored jobs only price=FILE; can be repeated
    pairs: Number of pairs of runs, of each level if there are levels; without a way, of runs one after the other [default: 7, or 4 of each level; 1 with --duet and --interleave]
    margin: Smallest difference that matters [default: 2%]
    fail_if_slower: Exit with code 1 if B is slower, or if the last change in a history is a slowdown
    fail_if_inconclusive: Exit with code 1 if the comparison is inconclusive
    resume: Resume this interrupted job (a number or `last`) with its original settings
    transactions: Number of transactions per virtual user, instead of a duration
    mode: Where the transaction logic runs: procedures (in the database) or statements (in the client) [default: procedures if the workload and the database support them]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    dop: Degree of parallelism: processes (PostgreSQL) or threads (DuckDB) that work on one query; 1 turns parallel queries off. Other databases reject it [default: the database's own]
    engine_memory: Maximum memory of an engine in this process (DuckDB), such as 2GiB or 500MB. Servers reject it: their memory is their own setting [default: the database's own]
    load: Load model: closed; rate:500/s or rate:500/s,constant; rate:500/s,at=2m,rate=2000/s (a rate that changes at times after the start of the timed window); ramp:100..2000/10m; steps:FILE (CSV with the columns rate,duration); keyed (with the workload's keying and thinking times); replay:FILE or replay:FILE,speed=2x (a recording that `capture` made) [default: closed]
    change: Change of the load during the run, at a time after the start of the timed window: 'at=2m rate=2000/s' (arrivals of an open load), 'at=3m users=32' (users of a closed load, at most --vus) or 'at=4m mix=new_order=50,payment=50' (weights of transaction types); can be repeated. The result has the reaction to each [default: none]
    late: What to do with arrivals that found no free session: issue (run them late) or skip:TIME (skip those later than that, such as skip:100ms) [default: issue]
    backlog: Maximum number of arrivals that wait for a session; beyond it, those that have waited longest are dropped [default: 60 s of arrivals at the highest rate]
    terminals: Number of terminals of a keyed load [default: as defined by the workload: 10 per warehouse]
    sessions: Number of sessions that the terminals of a keyed load share, or `own` for one per terminal [default: min(64, terminals); 1 for SQLite]
    login_delay: Time between the logins of two terminals of a keyed load [default: 0s]
    reconnect: Log in again after every N transactions of a session; every=1 is a new connection for each transaction, as pgbench -C makes. The result has the times of logins, by phase [default: never: sessions remain]
    login_rate: Number of sessions per second that begin to log in at the start, if the server keeps up [default: no limit: on each thread 8 at a time, and one more for each that is in, up to 256]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this; 0s disables it [default: 0s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    max_failures: Maximum share of failed transactions; above it, the exit code is 1 [default: 1%]
    no_observe: Do not observe the database's sessions and hosts during the run; also turns off --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on
    observe_interval: Time between two samples of what the database's sessions do and wait for, from 10ms to 1s [default: 100ms]
    cluster: Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; `local` for several processes on this host [default: none: one process]
    hosts: Number of hosts that share the work [default: all nodes of the cluster; 2 processes with `local`]
    on_host_loss: What to do when a host is lost: continue (the others continue) or abort [default: continue]
    host_metrics: Prometheus node exporter on the database's host, such as http://db1:9100/metrics
    energy_metrics: Exporter of energy or power on the database's host: Scaphandre, Kepler, a node exporter, or any with --power-metric, such as http://db1:8080/metrics [default: that of --host-metrics, and the counters of this host]
    power_metric: Metric of that exporter that is a power in watts, such as power_watts{plug="db1"} [default: the known metrics of energy]
    idle: Read the power of the idle host for this time before each run, to report energy above it [default: not: energy includes that of the idle host]
    sysfs: Directory with the host's /sys, if a container has it elsewhere: the energy counters (class/powercap), and how processors and disks are set up [default: /sys]
    log_probe: Also time commits of a small transaction of triphammer's own, ten per second: creates and drops a table
    cpu_profile: Sample where the CPUs of this host are with perf, for this time from the start of the timed window: a flame graph of client and server [default: none]
    capture_on: Keep full detail of the database's sessions around the moment when this becomes true for a second, such as `new_order.p95 > 100ms`; separate several with commas
    price: Price list in TOML (see docs/price-energy.md): adds the costs per million transactions and per year
    label: Label of the job, to find it later
    yes: With --prove, change the setting of this host without asking
    store: File of the job store [default: in the user's data directory]
    foreign_keys: TPROC-C: add foreign keys after the load; TPROC-H: add the foreign keys of clause 1.4.2.3 after the load; CH-benCHmark: add foreign keys after the load
    no_procedures: TPROC-C, CH-benCHmark: do not create stored procedures; runs then need --mode statements
    history_key: TPROC-C, CH-benCHmark: give the history table a surrogate key, for databases that need one to replicate
    population_time: TPROC-C, CH-benCHmark: date and time of every row that the build loads
    all_warehouses: TPROC-C, CH-benCHmark: draw a home warehouse for each transaction, from the user's share of all
    mix: TPROC-C: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; TPC-B-like: a script (tpcb-like, simple-update or select-only), or the weights of the three; CH-benCHmark: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; Key-value: hammer (half reads, half updates), hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as read=90,insert=5,delete=5
    routines: TPROC-C: the stored routines that a run calls: triphammer's, or hammerdb's with its rules for inputs (chosen automatically in a schema that HammerDB built)
    partition: TPROC-H: partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)
    columnar: TPROC-H: columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of MariaDB, columnstore indexes of SQL Server
    test: TPROC-H: what to measure: queries (alone), power (one stream between the refresh functions), throughput (several streams in parallel with them) or both
    streams: TPROC-H: number of parallel query streams, in `profile` the levels (1,2,4 or 1..8 or auto); auto: from 2 (below 10 SF) to 11 by the scale factor, and 1 for --test queries; CH-benCHmark: number of streams of queries that run alongside the transactions; 0 for transactions alone
    queries: TPROC-H, CH-benCHmark: run only these queries, such as 1,6,14
    repeat: TPROC-H: number of times to run the whole test
    analyze: TPROC-H: run each query once more after the timed part and keep its plan with what each operation measured (EXPLAIN ANALYZE)
    baseline: CH-benCHmark: before the timed window, run the queries alone and the transactions alone for this time each, and report what each costs the other
    script: Script: a file in pgbench's language, or a built-in script (tpcb-like, simple-update or select-only), with its weight in the mix, such as a.sql@3; can be repeated; sysbench: a Lua script for sysbench 1.0: a file, or the name of a test that comes with sysbench, such as oltp_read_write; Python: a Python file with a workload, or FILE:CLASS where it has several
    define: Script: a variable of the scripts; can be repeated; sysbench: an option of the script, such as table_size=100000; can be repeated; Python: an option of the script, which it finds in self.options; can be repeated
    allow_shell: Script: allow scripts to run commands of the operating system (\\shell and \\setshell)
    payload_size: Key-value: size of the payload of each row, from 1 to 65535 bytes
    keys: Key-value: which keys operations take: uniform, zipf[:THETA], latest, or hot:KEYS/OPERATIONS in percent; zipf by default for ycsb-a, b, c, e and f, latest for ycsb-d, else uniform
    batch: Key-value: keys per operation: a read of several is one statement, a write of several one transaction
    scan_rows: Key-value: largest number of rows of a scan; each scan reads from 1 to N
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    recording: Replay: the recording to replay, which `triphammer capture` makes from a log, and its speed, as in FILE,speed=2x; --load replay:FILE,speed=2x means the same
    order: Replay: what a replay keeps of the order between sessions, beside the order of values that the server made [default: commit for a recording with answers, else times]
    storage_engine: mysql: storage engine of all tables
    partitions: mysql: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account; oracle: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account (needs Oracle's Partitioning; not run yet)
    hash_clusters: oracle: whether warehouse, district, item and stock of tproc-c are hash clusters, which find a row without an index (not run yet)
    compression: sqlserver: compression of tables and primary keys (not run yet)
    delayed_durability: sqlserver: whether procedures of tproc-c commit without waiting for the log: a crash then loses the last commits (not run yet)
    memory_optimized: sqlserver: whether the tables of tproc-c are memory-optimized, and durable (not run yet)
    load_from: trino: where the rows of tproc-h come from: client (generated here, sent by INSERT) or tpch (the server's own catalog of that name)
    """

def matrix(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, type[Workload], None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    nodes: Union[Text, None] = ...,
    route: Union[Text, Sequence[Text], None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    scale: Union[Union[int, str], None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Union[int, str], None] = ...,
    over: Union[Text, Sequence[Text], None] = ...,
    repeats: Union[Union[int, str], None] = ...,
    restore: Union[Text, None] = ...,
    restore_timeout: Union[Duration, None] = ...,
    end_sessions: Union[bool, None] = ...,
    fingerprint: Union[Literal["rows", "checksums", "none"], None] = ...,
    warm: Union[Text, None] = ...,
    until_quiet: Union[Duration, None] = ...,
    pause: Union[Duration, None] = ...,
    threads: Union[Union[int, str], None] = ...,
    rampup: Union[Duration, None] = ...,
    duration: Union[Duration, None] = ...,
    until_ci: Union[Union[float, str], None] = ...,
    cool_down: Union[Duration, None] = ...,
    resume: Union[Text, None] = ...,
    transactions: Union[Union[int, str], None] = ...,
    mode: Union[Literal["procedures", "statements"], None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    dop: Union[Union[int, str], None] = ...,
    engine_memory: Union[Text, None] = ...,
    load: Union[Text, None] = ...,
    change: Union[Text, Sequence[Text], None] = ...,
    late: Union[Text, None] = ...,
    backlog: Union[Union[int, str], None] = ...,
    terminals: Union[Union[int, str], None] = ...,
    sessions: Union[Union[int, str], None] = ...,
    login_delay: Union[Duration, None] = ...,
    reconnect: Union[Text, None] = ...,
    login_rate: Union[Text, None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    max_failures: Union[Union[float, str], None] = ...,
    no_observe: Union[bool, None] = ...,
    observe_interval: Union[Duration, None] = ...,
    cluster: Union[Text, None] = ...,
    hosts: Union[Union[int, str], None] = ...,
    on_host_loss: Union[Text, None] = ...,
    host_metrics: Union[Text, None] = ...,
    energy_metrics: Union[Text, None] = ...,
    power_metric: Union[Text, None] = ...,
    idle: Union[Duration, None] = ...,
    sysfs: Union[Text, None] = ...,
    log_probe: Union[bool, None] = ...,
    cpu_profile: Union[Duration, None] = ...,
    capture_on: Union[Text, Sequence[Text], None] = ...,
    label: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    foreign_keys: Union[bool, None] = ...,
    no_procedures: Union[bool, None] = ...,
    history_key: Union[bool, None] = ...,
    population_time: Union[Text, None] = ...,
    all_warehouses: Union[bool, None] = ...,
    mix: Union[Text, None] = ...,
    routines: Union[Literal["triphammer", "hammerdb"], None] = ...,
    partition: Union[bool, None] = ...,
    columnar: Union[bool, None] = ...,
    test: Union[Literal["power", "throughput", "both", "queries"], None] = ...,
    streams: Union[Text, None] = ...,
    queries: Union[Text, None] = ...,
    repeat: Union[Union[int, str], None] = ...,
    analyze: Union[bool, None] = ...,
    baseline: Union[Duration, None] = ...,
    script: Union[Text, Sequence[Text], None] = ...,
    define: Union[Text, Sequence[Text], None] = ...,
    allow_shell: Union[bool, None] = ...,
    payload_size: Union[Text, None] = ...,
    keys: Union[Text, None] = ...,
    batch: Union[Union[int, str], None] = ...,
    scan_rows: Union[Union[int, str], None] = ...,
    workload_file: Union[Text, None] = ...,
    recording: Union[Text, None] = ...,
    order: Union[Literal["commit", "times", "session"], None] = ...,
    storage_engine: Union[Literal["InnoDB", "RocksDB", "NDBCluster"], None] = ...,
    partitions: Union[Union[int, str], None] = ...,
    hash_clusters: Union[Literal["no", "yes"], None] = ...,
    compression: Union[Literal["none", "row", "page"], None] = ...,
    delayed_durability: Union[Literal["off", "on"], None] = ...,
    memory_optimized: Union[Literal["off", "on"], None] = ...,
    load_from: Union[Literal["client", "tpch"], None] = ...,
) -> MatrixResult:
    """Run over all combinations of settings, with a table and a heat map.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    nodes: File that declares the nodes of a cluster, and rules that route transactions to them: TOML, or a connect pool of HammerDB in XML [default: the hosts of the target, if --route is given]
    route: Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. The types are all, reads, writes, or a transaction's name; the policies are first, last, random, round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are all, primaries, replicas, or names with + between them [default: with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used]
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    scale: Scale of the data: warehouses for tproc-c and ch, branches for tpc-b, million rows for kv, scale factor (such as 0.01) for tproc-h. `run` accepts it only for null: (which stores nothing) and for the default SQLite file (which it builds) [default: 1; 10 for a build of kv, and for null: except with your own SQL]
    seed: Random seed for the data (`build`, `datagen`), the transaction inputs (`run`) and the order of runs (`profile`, `compare`, `matrix`). The same seed produces the same rows and the same inputs [default: 1]
    vus: Number of virtual users, or of sessions for a rate, ramp or steps load [default: 1 for SQLite, else min(10, scale)]
    over: A setting of a run and its values, such as vus=1,8,32 or isolation=read-committed,serializable; vus=1..64 doubles; between values that contain commas, write |. Can be repeated: the runs cover all combinations. The target may contain {NAME} for the value of such a setting, as in postgres://db1/tpcc{scale} with --over scale=10,100
    repeats: Number of runs of each combination; 2 or more show how much repeated runs vary [default: 3]
    restore: What restores the database before each run: copy=NAME, a snapshot made by `snapshot`; copy, a snapshot of the state at the start of the job, for jobs with several runs; or 'cmd=COMMAND', a command of this host's shell, which has the values of the combination as CELL_VUS and so on, in `compare` the side as CELL_SIDE, A or B, and the target as CELL_TARGET [default: nothing]
    restore_timeout: Maximum time for making a snapshot, and for each restore [default: 1h; 24h for a command]
    end_sessions: Let snapshots and restores of PostgreSQL end all other sessions at the database, whoever has them; without it, they fail as long as there are any
    fingerprint: What shows whether two runs began from the same state: rows (the number of rows of each table, for at most 30 s), checksums (of all rows of all tables) or none [default: rows with --restore and for snapshots, else none]
    warm: What is read into caches before each run: tables, indexes, tables,indexes or none [default: none]
    until_quiet: Wait before each run until the server has finished its work in the background: checkpoints, vacuum, purge and merges; at most for this time [default: no wait]
    pause: Before each run, close every connection to the database and wait for this time, as long as a serverless database takes to suspend; then measure the time of its first answer [default: none]
    threads: Worker threads [default: min(cores, sessions)]
    rampup: Time under load before the timed window starts [default: 1m, or 5s for the default SQLite file; in `capacity` 10s, or 5s]
    duration: Length of the timed window; its maximum with --until-ci [default: 5m, or 30m with --until-ci; for the default SQLite file 30s, or 5m; in `capacity` 1m, or 10s]
    until_ci: End the timed window as soon as the 95 % confidence interval of the primary metric is within this share of its value, such as 1% [default: off]
    cool_down: Pause between two runs, so that the database can finish its background work [default: at most 10s, and shorter when a server on this host is quiet; 1s where the database is in this process]
    resume: Resume this interrupted job (a number or `last`) with its original settings
    transactions: Number of transactions per virtual user, instead of a duration
    mode: Where the transaction logic runs: procedures (in the database) or statements (in the client) [default: procedures if the workload and the database support them]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    dop: Degree of parallelism: processes (PostgreSQL) or threads (DuckDB) that work on one query; 1 turns parallel queries off. Other databases reject it [default: the database's own]
    engine_memory: Maximum memory of an engine in this process (DuckDB), such as 2GiB or 500MB. Servers reject it: their memory is their own setting [default: the database's own]
    load: Load model: closed; rate:500/s or rate:500/s,constant; rate:500/s,at=2m,rate=2000/s (a rate that changes at times after the start of the timed window); ramp:100..2000/10m; steps:FILE (CSV with the columns rate,duration); keyed (with the workload's keying and thinking times); replay:FILE or replay:FILE,speed=2x (a recording that `capture` made) [default: closed]
    change: Change of the load during the run, at a time after the start of the timed window: 'at=2m rate=2000/s' (arrivals of an open load), 'at=3m users=32' (users of a closed load, at most --vus) or 'at=4m mix=new_order=50,payment=50' (weights of transaction types); can be repeated. The result has the reaction to each [default: none]
    late: What to do with arrivals that found no free session: issue (run them late) or skip:TIME (skip those later than that, such as skip:100ms) [default: issue]
    backlog: Maximum number of arrivals that wait for a session; beyond it, those that have waited longest are dropped [default: 60 s of arrivals at the highest rate]
    terminals: Number of terminals of a keyed load [default: as defined by the workload: 10 per warehouse]
    sessions: Number of sessions that the terminals of a keyed load share, or `own` for one per terminal [default: min(64, terminals); 1 for SQLite]
    login_delay: Time between the logins of two terminals of a keyed load [default: 0s]
    reconnect: Log in again after every N transactions of a session; every=1 is a new connection for each transaction, as pgbench -C makes. The result has the times of logins, by phase [default: never: sessions remain]
    login_rate: Number of sessions per second that begin to log in at the start, if the server keeps up [default: no limit: on each thread 8 at a time, and one more for each that is in, up to 256]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this; 0s disables it [default: 0s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    max_failures: Maximum share of failed transactions; above it, the exit code is 1 [default: 1%]
    no_observe: Do not observe the database's sessions and hosts during the run; also turns off --host-metrics, --energy-metrics, --log-probe, --cpu-profile and --capture-on
    observe_interval: Time between two samples of what the database's sessions do and wait for, from 10ms to 1s [default: 100ms]
    cluster: Spread the work over the hosts of a Ray cluster: ray://HEAD:10001, or `auto` on one of them; `local` for several processes on this host [default: none: one process]
    hosts: Number of hosts that share the work [default: all nodes of the cluster; 2 processes with `local`]
    on_host_loss: What to do when a host is lost: continue (the others continue) or abort [default: continue]
    host_metrics: Prometheus node exporter on the database's host, such as http://db1:9100/metrics
    energy_metrics: Exporter of energy or power on the database's host: Scaphandre, Kepler, a node exporter, or any with --power-metric, such as http://db1:8080/metrics [default: that of --host-metrics, and the counters of this host]
    power_metric: Metric of that exporter that is a power in watts, such as power_watts{plug="db1"} [default: the known metrics of energy]
    idle: Read the power of the idle host for this time before each run, to report energy above it [default: not: energy includes that of the idle host]
    sysfs: Directory with the host's /sys, if a container has it elsewhere: the energy counters (class/powercap), and how processors and disks are set up [default: /sys]
    log_probe: Also time commits of a small transaction of triphammer's own, ten per second: creates and drops a table
    cpu_profile: Sample where the CPUs of this host are with perf, for this time from the start of the timed window: a flame graph of client and server [default: none]
    capture_on: Keep full detail of the database's sessions around the moment when this becomes true for a second, such as `new_order.p95 > 100ms`; separate several with commas
    label: Label of the job, to find it later
    store: File of the job store [default: in the user's data directory]
    foreign_keys: TPROC-C: add foreign keys after the load; TPROC-H: add the foreign keys of clause 1.4.2.3 after the load; CH-benCHmark: add foreign keys after the load
    no_procedures: TPROC-C, CH-benCHmark: do not create stored procedures; runs then need --mode statements
    history_key: TPROC-C, CH-benCHmark: give the history table a surrogate key, for databases that need one to replicate
    population_time: TPROC-C, CH-benCHmark: date and time of every row that the build loads
    all_warehouses: TPROC-C, CH-benCHmark: draw a home warehouse for each transaction, from the user's share of all
    mix: TPROC-C: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; TPC-B-like: a script (tpcb-like, simple-update or select-only), or the weights of the three; CH-benCHmark: cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level; Key-value: hammer (half reads, half updates), hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as read=90,insert=5,delete=5
    routines: TPROC-C: the stored routines that a run calls: triphammer's, or hammerdb's with its rules for inputs (chosen automatically in a schema that HammerDB built)
    partition: TPROC-H: partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)
    columnar: TPROC-H: columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of MariaDB, columnstore indexes of SQL Server
    test: TPROC-H: what to measure: queries (alone), power (one stream between the refresh functions), throughput (several streams in parallel with them) or both
    streams: TPROC-H: number of parallel query streams, in `profile` the levels (1,2,4 or 1..8 or auto); auto: from 2 (below 10 SF) to 11 by the scale factor, and 1 for --test queries; CH-benCHmark: number of streams of queries that run alongside the transactions; 0 for transactions alone
    queries: TPROC-H, CH-benCHmark: run only these queries, such as 1,6,14
    repeat: TPROC-H: number of times to run the whole test
    analyze: TPROC-H: run each query once more after the timed part and keep its plan with what each operation measured (EXPLAIN ANALYZE)
    baseline: CH-benCHmark: before the timed window, run the queries alone and the transactions alone for this time each, and report what each costs the other
    script: Script: a file in pgbench's language, or a built-in script (tpcb-like, simple-update or select-only), with its weight in the mix, such as a.sql@3; can be repeated; sysbench: a Lua script for sysbench 1.0: a file, or the name of a test that comes with sysbench, such as oltp_read_write; Python: a Python file with a workload, or FILE:CLASS where it has several
    define: Script: a variable of the scripts; can be repeated; sysbench: an option of the script, such as table_size=100000; can be repeated; Python: an option of the script, which it finds in self.options; can be repeated
    allow_shell: Script: allow scripts to run commands of the operating system (\\shell and \\setshell)
    payload_size: Key-value: size of the payload of each row, from 1 to 65535 bytes
    keys: Key-value: which keys operations take: uniform, zipf[:THETA], latest, or hot:KEYS/OPERATIONS in percent; zipf by default for ycsb-a, b, c, e and f, latest for ycsb-d, else uniform
    batch: Key-value: keys per operation: a read of several is one statement, a write of several one transaction
    scan_rows: Key-value: largest number of rows of a scan; each scan reads from 1 to N
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    recording: Replay: the recording to replay, which `triphammer capture` makes from a log, and its speed, as in FILE,speed=2x; --load replay:FILE,speed=2x means the same
    order: Replay: what a replay keeps of the order between sessions, beside the order of values that the server made [default: commit for a recording with answers, else times]
    storage_engine: mysql: storage engine of all tables
    partitions: mysql: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account; oracle: partitions of order_line by a hash of the warehouse, or of pgbench_accounts by a hash of the account (needs Oracle's Partitioning; not run yet)
    hash_clusters: oracle: whether warehouse, district, item and stock of tproc-c are hash clusters, which find a row without an index (not run yet)
    compression: sqlserver: compression of tables and primary keys (not run yet)
    delayed_durability: sqlserver: whether procedures of tproc-c commit without waiting for the log: a crash then loses the last commits (not run yet)
    memory_optimized: sqlserver: whether the tables of tproc-c are memory-optimized, and durable (not run yet)
    load_from: trino: where the rows of tproc-h come from: client (generated here, sent by INSERT) or tpch (the server's own catalog of that name)
    """

def drill(
    target: Union[Text, None] = ...,
    *,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    nodes: Union[Text, None] = ...,
    route: Union[Text, Sequence[Text], None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Union[int, str], None] = ...,
    threads: Union[Union[int, str], None] = ...,
    duration: Union[Duration, None] = ...,
    fault: Union[Text, Sequence[Text], None] = ...,
    verify: Union[Text, None] = ...,
    verify_timeout: Union[Duration, None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    label: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    workload_file: Union[Text, None] = ...,
) -> DrillResult:
    """Prove which commits a database keeps after a fault.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    nodes: File that declares the nodes of a cluster, and rules that route transactions to them: TOML, or a connect pool of HammerDB in XML [default: the hosts of the target, if --route is given]
    route: Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. The types are all, reads, writes, or a transaction's name; the policies are first, last, random, round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are all, primaries, replicas, or names with + between them [default: with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used]
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    seed: Random seed of the rows and of their hashes [default: random, so that rows of an earlier drill are recognised]
    vus: Number of virtual users, each with a session and a chain of rows [default: 8; 1 for SQLite]
    threads: Worker threads [default: min(cores, sessions)]
    duration: Time under load, of each level; every fault begins and ends in it [default: 1m]
    fault: What happens during the load, such as 'at=30s cut=5s' (nothing passes the network for 5 s, then all connections are closed), 'at=30s terminate' (the server ends the load's sessions: PostgreSQL, MySQL, MariaDB) or 'at=30s cmd=COMMAND' (a command of this host's shell); can be repeated [default: none: cause them yourself during the load]
    verify: URL of the database to read the table back from after the load, such as that of the promoted replica [default: the target]
    verify_timeout: Maximum wait after the load until that database answers and accepts writes [default: 1m]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this and reconnect; 0s disables it [default: 10s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    label: Label of the job, to find it later
    store: File of the job store [default: in the user's data directory]
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    """

def isolation(
    target: Union[Text, None] = ...,
    *,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    nodes: Union[Text, None] = ...,
    route: Union[Text, Sequence[Text], None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    seed: Union[Union[int, str], None] = ...,
    vus: Union[Union[int, str], None] = ...,
    threads: Union[Union[int, str], None] = ...,
    duration: Union[Duration, None] = ...,
    levels: Union[Text, None] = ...,
    control: Union[Duration, None] = ...,
    weights: Union[Text, None] = ...,
    rows: Union[Union[int, str], None] = ...,
    expect: Union[Text, None] = ...,
    fail_if_undecided: Union[bool, None] = ...,
    fault: Union[Text, Sequence[Text], None] = ...,
    protocol: Union[Literal["prepared", "extended", "simple"], None] = ...,
    pipeline: Union[Literal["off", "begin", "on"], None] = ...,
    delay: Union[Duration, None] = ...,
    io: Union[Literal["auto", "epoll", "uring"], None] = ...,
    isolation: Union[Literal["read-uncommitted", "read-committed", "repeatable-read", "snapshot", "serializable"], None] = ...,
    retries: Union[Union[int, str], None] = ...,
    transaction_timeout: Union[Duration, None] = ...,
    drain_timeout: Union[Duration, None] = ...,
    label: Union[Text, None] = ...,
    history: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    workload_file: Union[Text, None] = ...,
) -> IsolationResult:
    """Prove which anomalies an isolation level prevents, and what it costs.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    nodes: File that declares the nodes of a cluster, and rules that route transactions to them: TOML, or a connect pool of HammerDB in XML [default: the hosts of the target, if --route is given]
    route: Which node a transaction goes to, by its type: reads=round-robin:replicas,writes=first:primaries. The types are all, reads, writes, or a transaction's name; the policies are first, last, random, round-robin, weighted, least-outstanding, partition and user (a fixed node per user); the nodes are all, primaries, replicas, or names with + between them [default: with --nodes, writes=user:primaries,reads=user:replicas; otherwise one host is used]
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    seed: Random seed of the users' choices, and of the order of levels [default: random]
    vus: Number of virtual users, each with a session [default: 16; 4 for SQLite]
    threads: Worker threads [default: min(cores, sessions)]
    duration: Time under load, of each level; every fault begins and ends in it [default: 1m]
    levels: Levels to test and to compare, in random order: all, or names with commas between them [default: the one of --isolation]
    control: Time of the same load at the database's weakest level, before: what it does not show, this load could not have shown; 0s for none [default: 5s]
    weights: Weights of the transactions append, read, counter, pair and predicate; others have none [default: append=4,read=3,counter=2,pair=2,predicate=2]
    rows: Rows of each kind on which users meet: fewer rows, more conflicts [default: 24]
    expect: Anomaly that must be found, such as lost-update or G2-item: exit code 0 if it is, 1 if not; no control then [default: none: no promise may be broken]
    fail_if_undecided: Exit code 1 if the load could not have shown a kind of anomaly, too
    fault: What happens during the load, such as 'at=30s cut=5s' (nothing passes the network for 5 s, then all connections are closed), 'at=30s terminate' (the server ends the load's sessions: PostgreSQL, MySQL, MariaDB) or 'at=30s cmd=COMMAND' (a command of this host's shell); can be repeated [default: none: cause them yourself during the load]
    protocol: How statements are sent: prepared, extended or simple [default: prepared if the database supports it]
    pipeline: What of a transaction shares a round trip: off, begin or on. Only PostgreSQL can [default: off]
    delay: Time that the network takes longer for each round trip: connections go through a relay in this process, also with 0s [default: none: connections are direct]
    io: How worker threads wait for a server: auto, epoll or uring [default: auto]
    isolation: Isolation level: read-uncommitted, read-committed, repeatable-read, snapshot or serializable [default: the database's default]
    retries: Maximum attempts at a transaction that fails with a deadlock or a serialization error, including the first [default: 10]
    transaction_timeout: Cancel an attempt that takes longer than this and reconnect; 0s disables it [default: 10s]
    drain_timeout: Maximum wait for transactions in flight at the end of the run [default: 30s]
    label: Label of the job, to find it later
    history: Write the history of lists to this file as Jepsen's EDN, which Elle checks; an existing one is replaced; of one level
    store: File of the job store [default: in the user's data directory]
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    """

def check(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    jobs: Union[Union[int, str], None] = ...,
    warehouses: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    workload_file: Union[Text, None] = ...,
) -> CheckReport:
    """Verify the consistency of the data.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    jobs: Number of parallel sessions [default: min(2 x cores, chunks of the data), with --cluster on each host; 1 to build a database that allows only one writer]
    warehouses: Check only these warehouses [default: all]
    store: File of the job store [default: in the user's data directory]
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    """

def drop(
    target: Union[Text, None] = ...,
    *,
    workload: Union[Text, None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    query_timeout: Union[Duration, None] = ...,
    work_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    yes: Union[bool, None] = ...,
    force: Union[bool, None] = ...,
    workload_file: Union[Text, None] = ...,
) -> list[str]:
    """Remove what a build created.

    target: URL of the database: postgres://user@host/db, mysql://user@host/db, sqlite:file.db, duckdb:file.duckdb, trino://user@host/catalog/schema, sqlserver://user@host/db (tested with Babelfish only, never with SQL Server itself: please report, see docs/sql-server.md), odbc:DSN=name or null: [default: an SQLite file in the current directory, named after the workload; for TPROC-H a DuckDB file if DuckDB's library is installed and there is no such SQLite file]
    workload: Workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: tproc-c]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    query_timeout: Maximum time for statements that are not part of a transaction under test (locks, settings, counters, the build record). A load, an index or a check may take longer as long as the server is still working on it. In a run of TPROC-H or CH-benCHmark, the maximum time of a query, which is then cancelled and counts as not answered; there is none unless it is set [default: 30s]
    work_timeout: Maximum time for one statement of a build, check or drop, even if the server is still working on it [default: 24h]
    job_file: TOML file with settings
    yes: Do not ask for confirmation
    force: Also change tables that are not in the build record
    workload_file: Workload file: the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; `triphammer new workload DIR` writes an example
    """

def doctor(
    target: Union[Text, None] = ...,
    *,
    host_test: Union[bool, None] = ...,
    test_dir: Union[Text, None] = ...,
    goal: Union[Literal["speed", "comparable"], None] = ...,
    prove: Union[Text, None] = ...,
    restore_host: Union[bool, None] = ...,
    cpu_test: Union[bool, None] = ...,
    write_test: Union[bool, None] = ...,
    workload: Union[Text, None] = ...,
    schema: Union[Text, None] = ...,
    dialect: Union[Text, None] = ...,
    dialect_dir: Union[Text, None] = ...,
    password_file: Union[Text, None] = ...,
    ask_password: Union[bool, None] = ...,
    connect_timeout: Union[Duration, None] = ...,
    job_file: Union[Text, None] = ...,
    duration: Union[Duration, None] = ...,
    rampup: Union[Duration, None] = ...,
    vus: Union[Union[int, str], None] = ...,
    pairs: Union[Union[int, str], None] = ...,
    margin: Union[Union[float, str], None] = ...,
    cool_down: Union[Duration, None] = ...,
    label: Union[Text, None] = ...,
    sysfs: Union[Text, None] = ...,
    yes: Union[bool, None] = ...,
    store: Union[Text, None] = ...,
) -> DoctorResult:
    """Examine host, network and database before a run.

    target: URL of the database to examine, as in `run` [default: none: only the host is examined]
    host_test: Also measure the host itself, for at most 30 seconds: processors, memory, and the disk of the data, with a file of 256 MiB that goes at once; keeps the figures in the job store
    test_dir: With --host-test: directory of its file, on the disk that is to be measured [default: one on the file system of the database's data, or the current one]
    goal: Judge this host by one goal only; what serves the other one is fine: speed or comparable [default: both]
    prove: Change the setting of this check on this host between pairs of short runs, and say what it is worth here: CHECK, or CHECK=A,B with the values of both sides; asks first, and restores the setting
    restore_host: Only restore what a killed `doctor --prove` left changed on this host
    cpu_test: Also measure the speed of one thread of the database, for at most five minutes: creates and drops a routine, and keeps the time in the job store
    write_test: Also measure the latency of commits, for about three seconds: creates and drops a table
    workload: With --prove: workload of the runs: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: the one that is built there]
    schema: Database schema to use [default: the user's default schema]
    dialect: Dialect of SQL for an odbc target (oracle and db2 were not run against Oracle and Db2: please report, see docs/coverage.md) [default: that of the product that the driver reports]
    dialect_dir: Folder of a dialect of your own for an odbc target, such as docs/examples/sqlite-odbc
    password_file: File with the password on its first line
    ask_password: Prompt for the password
    connect_timeout: Maximum time to open a connection [default: 10s]
    job_file: TOML file with settings
    duration: With --prove: length of the timed window of each run [default: 30s]
    rampup: With --prove: time under load before each timed window [default: 5s]
    vus: With --prove: number of virtual users [default: as in `compare`]
    pairs: With --prove: number of pairs of runs [default: 7]
    margin: With --prove: smallest difference that matters [default: 2%]
    cool_down: With --prove: pause between two runs [default: as in `compare`]
    label: With --prove: label of the job, to find it later
    sysfs: Directory with the host's /sys, if a container has it elsewhere: the energy counters (class/powercap), and how processors and disks are set up [default: /sys]
    yes: With --prove, change the setting of this host without asking
    store: File of the job store [default: in the user's data directory]
    """

def history(
    label: Union[Text, None] = ...,
    *,
    workload: Union[Text, None] = ...,
    on: Union[Text, None] = ...,
    control: Union[Text, None] = ...,
    fail_if_slower: Union[bool, None] = ...,
    price: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
) -> HistoryResult:
    """Show runs over time, and where the performance changed.

    label: Only runs with this label [default: any]
    workload: Only runs of this workload: tproc-c, tpc-b, tproc-h, ch, script, kv, custom, replay, sysbench or python [default: the workload of the newest run]
    on: Only runs whose target, as listed by `jobs`, contains this text [default: any]
    control: Label of the runs of a fixed build, one beside each run: follow the ratios to them, which do not depend on the host [default: none]
    fail_if_slower: Exit with code 1 if B is slower, or if the last change in a history is a slowdown
    price: Price list in TOML (see docs/price-energy.md) by which stored runs are priced [default: that of each run]
    store: File of the job store [default: in the user's data directory]
    """

def jobs(
    *,
    label: Union[Text, None] = ...,
    store: Union[Text, None] = ...,
    limit: Union[Union[int, str], None] = ...,
    parent: Union[Text, None] = ...,
) -> list[Record]:
    """List stored jobs.

    label: Only jobs with this label
    store: File of the job store [default: in the user's data directory]
    limit: Maximum number of jobs to list [default: 20]
    parent: List the runs of this profile, capacity, compare or matrix job [default: jobs that are not part of another job]
    """
