-- An integer primary key is the key of the table itself; it cannot be added later.

-- name: create.kv_store
CREATE TABLE kv_store (
    id       integer PRIMARY KEY,
    version  bigint NOT NULL,
    checksum bigint NOT NULL,
    payload  text NOT NULL
);

-- name: key.kv_store
