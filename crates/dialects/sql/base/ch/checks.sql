-- The conditions on what CH-benCHmark adds. As in TPROC-C's checks.sql: no row, or the number of violations and the
-- first key; ranges are warehouses. Keys of nations are the codes of 0-9, A-Z and a-z.

-- name: check.ch.region
SELECT abs(count(*) - 5) + 1, concat('rows=', count(*))
FROM region
WHERE :first <= :last
HAVING count(*) <> 5 OR min(r_regionkey) <> 1 OR max(r_regionkey) <> 5;

-- name: check.ch.nation
SELECT abs(count(*) - 62) + 1, concat('rows=', count(*))
FROM nation
WHERE :first <= :last
HAVING count(*) <> 62
    OR sum(CASE WHEN n_nationkey BETWEEN 48 AND 57 THEN 1 ELSE 0 END) <> 10
    OR sum(CASE WHEN n_nationkey BETWEEN 65 AND 90 THEN 1 ELSE 0 END) <> 26
    OR sum(CASE WHEN n_nationkey BETWEEN 97 AND 122 THEN 1 ELSE 0 END) <> 26;

-- name: check.ch.supplier
SELECT abs(count(*) - 10000) + 1, concat('rows=', count(*))
FROM supplier
WHERE :first <= :last
HAVING count(*) <> 10000 OR min(su_suppkey) <> 0 OR max(su_suppkey) <> 9999;

-- name: check.ch.nation_region
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY n_nationkey) AS place,
           concat('n_nationkey=', n_nationkey) AS first_key
    FROM nation
    LEFT JOIN region ON r_regionkey = n_regionkey
    WHERE :first <= :last AND r_regionkey IS NULL
) found
WHERE place = 1;

-- name: check.ch.supplier_nation
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY su_suppkey) AS place,
           concat('su_suppkey=', su_suppkey) AS first_key
    FROM supplier
    LEFT JOIN nation ON n_nationkey = su_nationkey
    WHERE :first <= :last AND n_nationkey IS NULL
) found
WHERE place = 1;

-- name: check.ch.stock_supplier
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY s_w_id, s_i_id) AS place,
           concat('s_w_id=', s_w_id, ' s_i_id=', s_i_id) AS first_key
    FROM stock
    LEFT JOIN supplier ON su_suppkey = {mod}(s_w_id * s_i_id){mod_by}10000{of_mod}
    WHERE s_w_id BETWEEN :first AND :last AND su_suppkey IS NULL
) found
WHERE place = 1;

-- name: check.ch.customer_nation
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY c_w_id, c_d_id, c_id) AS place,
           concat('c_w_id=', c_w_id, ' c_d_id=', c_d_id, ' c_id=', c_id) AS first_key
    FROM customer
    LEFT JOIN nation ON n_nationkey = {ascii}({substr}(c_state, 1, 1))
    WHERE c_w_id BETWEEN :first AND :last AND n_nationkey IS NULL
) found
WHERE place = 1;
