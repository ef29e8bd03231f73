-- What was built, recorded by the runner. Text only, so that any item fits and any database can.

-- name: build_record.create
CREATE TABLE IF NOT EXISTS triphammer_build (
    workload varchar(64) {byte_order} NOT NULL,
    item     varchar(128) {byte_order} NOT NULL,
    value    varchar(4000) NOT NULL,
    PRIMARY KEY (workload, item)
){record_options};

-- name: build_record.drop
DROP TABLE IF EXISTS triphammer_build;

-- name: build_record.all
SELECT item, value FROM triphammer_build WHERE workload = :workload ORDER BY item;

-- name: build_record.insert
INSERT INTO triphammer_build (workload, item, value) VALUES (:workload, :item, :value);

-- name: build_record.update
UPDATE triphammer_build SET value = :value WHERE workload = :workload AND item = :item;

-- name: build_record.delete_all
DELETE FROM triphammer_build WHERE workload = :workload;

-- name: build_record.others
SELECT count(*) FROM triphammer_build WHERE workload <> :workload;

-- name: build_record.workloads
SELECT workload FROM triphammer_build WHERE item = 'version' ORDER BY workload;
