-- The remainder is a function here.

-- name: check.ch.stock_supplier
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY s_w_id, s_i_id) AS place,
           concat('s_w_id=', s_w_id, ' s_i_id=', s_i_id) AS first_key
    FROM stock
    LEFT JOIN supplier ON su_suppkey = mod(s_w_id * s_i_id, 10000)
    WHERE s_w_id BETWEEN :first AND :last AND su_suppkey IS NULL
) found
WHERE place = 1;
