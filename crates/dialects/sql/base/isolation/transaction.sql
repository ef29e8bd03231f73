-- The operations of `isolation`'s transactions.

-- name: list.read
SELECT elements FROM triphammer_isolation_list WHERE id = :id;

-- name: list.append
UPDATE triphammer_isolation_list SET elements = elements || :element WHERE id = :id;

-- name: register.read
SELECT version, amount FROM triphammer_isolation_register WHERE id = :id;

-- name: register.write
UPDATE triphammer_isolation_register SET version = :version, amount = :amount WHERE id = :id;

-- name: set.read
SELECT member FROM triphammer_isolation_set WHERE grp = :grp;

-- name: set.insert
INSERT INTO triphammer_isolation_set (grp, member) VALUES (:grp, :member);

-- The newest row of earlier runs, whose epoch is over.
-- name: list.newest
SELECT COALESCE(MAX(id), 0) FROM triphammer_isolation_list;
