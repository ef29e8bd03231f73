-- The tables of the job store. Times of day are RFC 3339 in UTC; seconds count from a run's zero.

-- Read by every later version before anything else: it must stay as it is.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    kind             TEXT NOT NULL,           -- run | build | check
    status           TEXT NOT NULL,           -- running | complete | interrupted | aborted | failed | lost
    label            TEXT,
    workload         TEXT NOT NULL,
    workload_version INTEGER NOT NULL,
    scale            INTEGER NOT NULL,
    scale_unit       TEXT NOT NULL,
    target           TEXT NOT NULL,           -- without secrets
    server_product   TEXT,
    server_version   TEXT,
    tool_version     TEXT NOT NULL,
    users            INTEGER,                 -- virtual users, or loaders
    pid              INTEGER NOT NULL,        -- for people; a lock file says whether it lives
    started_at       TEXT NOT NULL,
    ended_at         TEXT,
    primary_metric_name  TEXT,
    primary_metric_value REAL,
    spec             TEXT,                    -- JSON, as the others
    facts            TEXT NOT NULL,
    host             TEXT NOT NULL,
    transactions     TEXT NOT NULL,           -- keys of the transaction types, in their order
    result           TEXT,
    parent           INTEGER REFERENCES jobs, -- the job that a run belongs to
    step             INTEGER,                 -- its place in the parent's sequence
    plan             TEXT,                    -- JSON: the settings to go on with
    good             INTEGER CHECK (good IN (0, 1)), -- 1 if the job is good; null while it runs
    flaw             TEXT                     -- what is wrong with it; null for nothing
);
CREATE INDEX jobs_by_workload ON jobs (workload, id);
CREATE INDEX jobs_by_parent ON jobs (parent, step);

-- One row a second (or a longer stretch) and transaction type.
CREATE TABLE series (
    job          INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    first_second INTEGER NOT NULL,
    type         INTEGER NOT NULL,            -- place in jobs.transactions
    last_second  INTEGER NOT NULL,
    committed    INTEGER NOT NULL,
    rolled_back  INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    indeterminate INTEGER NOT NULL,
    retries      INTEGER NOT NULL,
    counter      INTEGER NOT NULL,
    response_ns  INTEGER NOT NULL,            -- sums over committed ones
    service_ns   INTEGER NOT NULL,
    p50_us       INTEGER NOT NULL,            -- response times of committed ones; 0 when there are none
    p95_us       INTEGER NOT NULL,
    p99_us       INTEGER NOT NULL,
    max_us       INTEGER NOT NULL,
    PRIMARY KEY (job, first_second, type)
) WITHOUT ROWID;

-- One row a second (or a longer stretch) for all threads.
CREATE TABLE seconds (
    job           INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    first_second  INTEGER NOT NULL,
    last_second   INTEGER NOT NULL,
    cpu_ns        INTEGER NOT NULL,           -- sums over the worker threads
    wall_ns       INTEGER NOT NULL,
    busiest_share REAL NOT NULL,              -- of a core, by the busiest worker thread
    connected     INTEGER NOT NULL,
    lost          INTEGER NOT NULL,
    reconnected   INTEGER NOT NULL,
    lag_p99_us    INTEGER,                    -- scheduling lag; null where it is not measured
    round_trip_us INTEGER,                    -- the fastest one measured; null where there was none
    host_share    REAL,                       -- of all CPUs of the client's host; null where unknown
    phase          TEXT,                      -- ramp_up | window | drain | abort
    server_count   INTEGER,                   -- growth of the database's own transaction counter;
    server_seconds REAL,                      -- between two readings; null where there is none
    p50_us         INTEGER,                   -- response times of committed ones of all types;
    p95_us         INTEGER,                   -- null where none committed
    p99_us         INTEGER,
    max_us         INTEGER,
    arrivals       INTEGER,                   -- of an open load: fell due; null for other loads
    skipped        INTEGER,                   -- were too late,
    given_up       INTEGER,                   -- were pushed out of the backlog
    backlog        INTEGER,                   -- arrivals or terminals that waited at its end
    wait_p50_us    INTEGER,                   -- from due to the first attempt
    wait_p99_us    INTEGER,
    wait_max_us    INTEGER,
    PRIMARY KEY (job, first_second)
) WITHOUT ROWID;

-- HdrHistogram V2 encoding, not deflated; microseconds from 1 to an hour, 3 digits.
CREATE TABLE histograms (
    job          INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    first_second INTEGER NOT NULL,
    type         INTEGER NOT NULL,
    times        TEXT NOT NULL,               -- response | service | rolled_back | failed
    last_second  INTEGER NOT NULL,
    counts       BLOB NOT NULL,
    PRIMARY KEY (job, first_second, type, times)
) WITHOUT ROWID;

-- The exact totals, in the same encoding.
CREATE TABLE totals (
    job    INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    scope  TEXT NOT NULL,                     -- run | window
    type   INTEGER NOT NULL,
    times  TEXT NOT NULL,
    counts BLOB NOT NULL,
    PRIMARY KEY (job, scope, type, times)
) WITHOUT ROWID;

CREATE TABLE settings (
    job    INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    moment TEXT NOT NULL,                     -- start | end
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (job, moment, name)
) WITHOUT ROWID;

CREATE TABLE notes (
    job   INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    place INTEGER NOT NULL,
    at_s  REAL,
    kind  TEXT NOT NULL,
    text  TEXT NOT NULL,
    PRIMARY KEY (job, place)
) WITHOUT ROWID;

CREATE TABLE checks (
    job        INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    place      INTEGER NOT NULL,
    id         TEXT NOT NULL,
    title      TEXT NOT NULL,
    ok         INTEGER NOT NULL CHECK (ok IN (0, 1)),
    violations INTEGER NOT NULL,
    first_key  TEXT,
    PRIMARY KEY (job, place)
) WITHOUT ROWID;

CREATE TABLE errors (
    job         INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    place       INTEGER NOT NULL,
    transaction_type TEXT NOT NULL,
    class       TEXT NOT NULL,
    message     TEXT NOT NULL,
    count       INTEGER NOT NULL,
    PRIMARY KEY (job, place)
) WITHOUT ROWID;

-- What the result of a run is computed from, besides its seconds: JSON.
CREATE TABLE evidence (
    job   INTEGER PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    facts TEXT NOT NULL,                      -- of the runner, with the slices of the window
    ended TEXT NOT NULL                       -- the output of the engine, with the exact totals
);

-- Figures that are sampled once a second beside the tables of seconds and types: what observers of
-- databases and hosts measure, and figures of the engine that few runs have.

CREATE TABLE sample_series (
    id     INTEGER PRIMARY KEY,
    job    INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    metric TEXT NOT NULL,
    labels TEXT NOT NULL,                     -- JSON object, by name: {"database":"tpcc"}
    title  TEXT NOT NULL,
    unit   TEXT NOT NULL,                     -- count | per_second | per_minute | share | cores | us | ns | s
    merge  TEXT NOT NULL,                     -- how seconds become one: sum | last | min | max | mean
    scale  INTEGER NOT NULL,                  -- a value is a whole number over this
    UNIQUE (job, metric, labels)
);

-- Values of up to 300 seconds. `data` has `width` bytes for each, the highest first: 0 where nothing was
-- measured, else how far the number is above `base`, and 1. With no bytes at all each is `base`.
CREATE TABLE sample_chunk (
    id           INTEGER PRIMARY KEY,
    series       INTEGER NOT NULL REFERENCES sample_series ON DELETE CASCADE,
    first_second INTEGER NOT NULL,
    count        INTEGER NOT NULL,
    base         INTEGER NOT NULL,
    width        INTEGER NOT NULL,
    data         BLOB NOT NULL,
    UNIQUE (series, first_second)
);

-- The values by name, for SQL: any SQLite reads them, as hexadecimal digits.
CREATE VIEW samples AS
WITH RECURSIVE places (place) AS (
    SELECT 0 UNION ALL SELECT place + 1 FROM places WHERE place < 299
), digits AS (
    SELECT series, first_second + place AS second, base, width,
           substr('0000000000000000' || hex(substr(data, 1 + place * width, width)), -16) AS hex
    FROM sample_chunk JOIN places ON place < count
), numbers AS (
    SELECT series, second, base, width,
           (instr('123456789ABCDEF', substr(hex, 1, 1)) << 60)
         | (instr('123456789ABCDEF', substr(hex, 2, 1)) << 56)
         | (instr('123456789ABCDEF', substr(hex, 3, 1)) << 52)
         | (instr('123456789ABCDEF', substr(hex, 4, 1)) << 48)
         | (instr('123456789ABCDEF', substr(hex, 5, 1)) << 44)
         | (instr('123456789ABCDEF', substr(hex, 6, 1)) << 40)
         | (instr('123456789ABCDEF', substr(hex, 7, 1)) << 36)
         | (instr('123456789ABCDEF', substr(hex, 8, 1)) << 32)
         | (instr('123456789ABCDEF', substr(hex, 9, 1)) << 28)
         | (instr('123456789ABCDEF', substr(hex, 10, 1)) << 24)
         | (instr('123456789ABCDEF', substr(hex, 11, 1)) << 20)
         | (instr('123456789ABCDEF', substr(hex, 12, 1)) << 16)
         | (instr('123456789ABCDEF', substr(hex, 13, 1)) << 12)
         | (instr('123456789ABCDEF', substr(hex, 14, 1)) << 8)
         | (instr('123456789ABCDEF', substr(hex, 15, 1)) << 4)
         |  instr('123456789ABCDEF', substr(hex, 16, 1)) AS above
    FROM digits
)
SELECT job, metric, labels, second,
       iif(width = 0, base, base + above - 1) * 1.0 / scale AS value, unit
FROM numbers JOIN sample_series ON sample_series.id = numbers.series
WHERE width = 0 OR above > 0;

-- Times of `doctor --cpu-test`, to compare databases and hosts.

CREATE TABLE cpu_tests (
    id      INTEGER PRIMARY KEY,
    at      TEXT NOT NULL,
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    cpu     TEXT,                             -- model; null where the database runs on another host
    seconds REAL NOT NULL
);

-- Results of `doctor --host-test`, to compare a host with itself.

CREATE TABLE host_tests (
    id          INTEGER PRIMARY KEY,
    at          TEXT NOT NULL,
    host        TEXT NOT NULL,                -- name of the host
    cpu         TEXT,                         -- model; null if unknown
    cpus        INTEGER,
    file_system TEXT,                         -- type and mount point; null if the disk was not tested
    figures     TEXT NOT NULL                 -- JSON
);
