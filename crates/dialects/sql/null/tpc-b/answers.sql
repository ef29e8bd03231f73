-- Answers of the null database, in the language described in crates/drivers/src/null/mod.rs.

-- name: account.balance
rows 1: int 0
for :aid
