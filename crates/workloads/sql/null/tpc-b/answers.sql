-- Answers of the null database, whose little language is described in crates/drivers/src/null.rs.

-- name: account.balance
rows 1: int 0
for :aid
