-- Answers of the null database, in the language described in crates/drivers/src/null/mod.rs.

-- name: row.read
rows 1: int 1, text 'a payload'
for :id

-- name: row.lock
rows 1: int 1, text 'a payload'
for :id

-- name: row.scan
rows 1: :id, int 1, text 'a payload'
for :rows

-- name: key.last
rows 1: int 0
