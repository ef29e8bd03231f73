-- Not run against Oracle.
-- An identity cannot become a key where it is added.
-- name: history_key.history
ALTER TABLE history ADD (h_id {bigint} GENERATED ALWAYS AS IDENTITY);
ALTER TABLE history ADD PRIMARY KEY (h_id);
