-- The tables of the example, with 1,000 accounts per unit of scale, at most 100,000. `:scale` is what --scale says.
CREATE TABLE bank_accounts (
    id int NOT NULL PRIMARY KEY,
    branch int NOT NULL,
    balance bigint NOT NULL,
    last_balance bigint,
    note varchar(40)
);

CREATE TABLE bank_payments (
    id bigint NOT NULL PRIMARY KEY,
    account int NOT NULL,
    amount int NOT NULL,
    day date NOT NULL,
    reference varchar(36) NOT NULL,
    details varchar(200) NOT NULL
);

INSERT INTO bank_accounts (id, branch, balance)
WITH d AS (
    SELECT 0 AS i UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
    UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
), numbers AS (
    SELECT 1 + a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i AS id
    FROM d a CROSS JOIN d b CROSS JOIN d c CROSS JOIN d e CROSS JOIN d f
)
SELECT id, id % 10, 100000 FROM numbers WHERE id <= 1000 * :scale;
