-- Times of `doctor --cpu-test`, to compare databases and hosts.

CREATE TABLE cpu_tests (
    id      INTEGER PRIMARY KEY,
    at      TEXT NOT NULL,
    product TEXT NOT NULL,
    version TEXT NOT NULL,
    cpu     TEXT,                             -- model; null where the database runs on another host
    seconds REAL NOT NULL
);
