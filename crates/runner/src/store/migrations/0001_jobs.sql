-- The job store as of version 1. Times of day are RFC 3339 in UTC; seconds count from a run's zero.

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
    headline_name    TEXT,
    headline_value   REAL,
    spec             TEXT,                    -- JSON, as the others
    facts            TEXT NOT NULL,
    host             TEXT NOT NULL,
    transactions     TEXT NOT NULL,           -- keys of the transaction types, in their order
    result           TEXT
);
CREATE INDEX jobs_by_workload ON jobs (workload, id);

-- One row a second (or a longer stretch) and transaction type.
CREATE TABLE series (
    job          INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,
    first_second INTEGER NOT NULL,
    type         INTEGER NOT NULL,            -- place in jobs.transactions
    last_second  INTEGER NOT NULL,
    committed    INTEGER NOT NULL,
    rolled_back  INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    in_doubt     INTEGER NOT NULL,
    retries      INTEGER NOT NULL,
    tally        INTEGER NOT NULL,
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
    ok         INTEGER NOT NULL,
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
