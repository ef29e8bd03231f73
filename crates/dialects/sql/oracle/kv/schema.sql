-- Not run against Oracle.

-- name: create.kv_store
CREATE TABLE kv_store (
    id       {bigint} NOT NULL,
    version  {bigint} NOT NULL,
    checksum {bigint} NOT NULL,
    payload  varchar2(4000) NOT NULL
){table_options};
