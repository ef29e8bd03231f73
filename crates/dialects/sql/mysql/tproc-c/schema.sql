-- name: history_key.history
ALTER TABLE history ADD COLUMN h_id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY;
