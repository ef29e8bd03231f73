-- Not run against Db2.

-- name: create.kv_store
CREATE TABLE kv_store (
    id       {bigint} NOT NULL,
    version  {bigint} NOT NULL,
    checksum {bigint} NOT NULL,
    payload  varchar(16000) NOT NULL
){table_options};
