-- name: build_record.create
IF OBJECT_ID(N'triphammer_build') IS NULL CREATE TABLE triphammer_build (
    workload varchar(64) {byte_order} NOT NULL,
    item     varchar(128) {byte_order} NOT NULL,
    value    nvarchar(4000) NOT NULL,
    PRIMARY KEY (workload, item)
){record_options};
