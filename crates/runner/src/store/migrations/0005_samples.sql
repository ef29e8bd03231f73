-- Figures that are sampled once a second beside the tables of seconds and types: what observers of
-- databases and hosts measure, and figures of the engine that are younger than those tables.

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
