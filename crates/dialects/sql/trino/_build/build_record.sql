-- Most connectors can insert rows but neither change nor delete them. So an item is the row of it that was
-- written last, and the removal of a workload is a row without an item, before which nothing counts.

-- name: build_record.create
CREATE TABLE IF NOT EXISTS triphammer_build (
    workload   varchar,
    item       varchar,
    value      varchar,
    written_at varchar
);

-- name: build_record.all
SELECT item, max_by(value, written_at)
FROM triphammer_build AS build
WHERE workload = :workload
    AND item <> ''
    AND written_at > (
        SELECT coalesce(max(written_at), '')
        FROM triphammer_build AS removal
        WHERE removal.workload = :workload AND removal.item = ''
    )
GROUP BY item
ORDER BY item;

-- name: build_record.insert
INSERT INTO triphammer_build (workload, item, value, written_at)
VALUES (:workload, :item, :value, CAST(localtimestamp(6) AS varchar));

-- name: build_record.update
INSERT INTO triphammer_build (workload, item, value, written_at)
VALUES (:workload, :item, :value, CAST(localtimestamp(6) AS varchar));

-- name: build_record.delete_all
INSERT INTO triphammer_build (workload, item, value, written_at)
VALUES (:workload, '', '', CAST(localtimestamp(6) AS varchar));

-- name: build_record.others
SELECT count(*)
FROM (
    SELECT workload, max(CASE WHEN item = '' THEN written_at ELSE '' END) AS removed_at,
        max(written_at) AS written_at
    FROM triphammer_build
    WHERE workload <> :workload
    GROUP BY workload
) workloads
WHERE written_at > removed_at;
