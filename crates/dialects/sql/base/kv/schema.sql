-- One table of keys and values.

-- name: create.kv_store
CREATE TABLE kv_store (
    id       {bigint} NOT NULL,
    version  {bigint} NOT NULL,
    checksum {bigint} NOT NULL,
    payload  text NOT NULL
){table_options};

-- name: key.kv_store
ALTER TABLE kv_store ADD PRIMARY KEY (id);

-- name: analyze.kv_store
{analyze} kv_store{of_analyze};
