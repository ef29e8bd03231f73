-- name: history_key.history
ALTER TABLE history ADD h_id bigint IDENTITY PRIMARY KEY;
