-- The transaction of a drill, and what reads the table back.

-- The user's last row, as this transaction sees it.
-- name: row.last
SELECT hash FROM triphammer_drill WHERE usr = :usr ORDER BY seq DESC, attempt DESC {limit}1{of_limit};

-- name: row.append
INSERT INTO triphammer_drill (usr, seq, attempt, input, prev, hash)
VALUES (:usr, :seq, :attempt, :input, :prev, :hash);

-- name: rows.count
SELECT count(*) FROM triphammer_drill;

-- name: rows.of_user
SELECT seq, attempt, input, prev, hash
FROM triphammer_drill
WHERE usr = :usr
ORDER BY seq, attempt;
