-- The conditions that `check` verifies, each over the warehouses from :first to :last. No row when the
-- condition holds, else the number of violations and the first one's key.
--
-- Sums are compared by a union of both sides with opposite signs, summed by key: one pass over each
-- table, no join, and a key that only one side has is a violation like any other
-- (`parents` counts the rows that the key must have once). Decimals may differ by half a cent, for
-- databases that store them as floating point. A range on both sides of a join avoids reading everything.
-- The first violation is the one at place 1 rather than the result of LIMIT 1: a limit makes planners
-- assume that a few rows suffice, although the count needs them all, and choose nested loops.

-- name: check.3.3.2.1
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id) AS place,
           concat('w_id=', w_id) AS first_key
    FROM (
        SELECT w_id, w_ytd AS ytd, 1 AS parents FROM warehouse WHERE w_id BETWEEN :first AND :last
        UNION ALL
        SELECT d_w_id, -d_ytd, 0 FROM district WHERE d_w_id BETWEEN :first AND :last
    ) sides
    GROUP BY w_id
    HAVING sum(parents) <> 1 OR abs(sum(ytd)) > 0.005
) found
WHERE place = 1;

-- A district without new orders is exempt from this part.
-- name: check.3.3.2.2
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id) AS first_key
    FROM (
        SELECT d_w_id AS w_id, d_id, d_next_o_id - 1 AS expected, 0 AS newest, 0 AS newest_new,
               1 AS parents
        FROM district
        WHERE d_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT o_w_id, o_d_id, 0, max(o_id), 0, 0
        FROM orders
        WHERE o_w_id BETWEEN :first AND :last
        GROUP BY o_w_id, o_d_id
        UNION ALL
        SELECT no_w_id, no_d_id, 0, 0, max(no_o_id), 0
        FROM new_order
        WHERE no_w_id BETWEEN :first AND :last
        GROUP BY no_w_id, no_d_id
    ) sides
    GROUP BY w_id, d_id
    HAVING sum(parents) <> 1 OR max(newest) <> max(expected)
        OR (max(newest_new) <> 0 AND max(newest_new) <> max(expected))
) found
WHERE place = 1;

-- name: check.3.3.2.3
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY no_w_id, no_d_id) AS place,
           concat('w_id=', no_w_id, ' d_id=', no_d_id) AS first_key
    FROM new_order
    WHERE no_w_id BETWEEN :first AND :last
    GROUP BY no_w_id, no_d_id
    HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)
) found
WHERE place = 1;

-- name: check.3.3.2.4
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id) AS first_key
    FROM (
        SELECT o_w_id AS w_id, o_d_id AS d_id, sum(o_ol_cnt) AS line_count
        FROM orders
        WHERE o_w_id BETWEEN :first AND :last
        GROUP BY o_w_id, o_d_id
        UNION ALL
        SELECT ol_w_id, ol_d_id, -count(*)
        FROM order_line
        WHERE ol_w_id BETWEEN :first AND :last
        GROUP BY ol_w_id, ol_d_id
    ) sides
    GROUP BY w_id, d_id
    HAVING sum(line_count) <> 0
) found
WHERE place = 1;

-- name: check.3.3.2.5
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id, o_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id, ' o_id=', o_id) AS first_key
    FROM (
        SELECT o_w_id AS w_id, o_d_id AS d_id, o_id
        FROM orders
        LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
            AND no_w_id BETWEEN :first AND :last
        WHERE o_w_id BETWEEN :first AND :last
          AND CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END
              <> CASE WHEN no_o_id IS NULL THEN 0 ELSE 1 END
        UNION ALL
        SELECT no_w_id, no_d_id, no_o_id
        FROM new_order
        LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
            AND o_w_id BETWEEN :first AND :last
        WHERE no_w_id BETWEEN :first AND :last AND o_id IS NULL
    ) bad
) found
WHERE place = 1;

-- name: check.3.3.2.6
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id, o_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id, ' o_id=', o_id) AS first_key
    FROM (
        SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, o_ol_cnt AS line_count, 1 AS parents
        FROM orders
        WHERE o_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT ol_w_id, ol_d_id, ol_o_id, -count(*), 0
        FROM order_line
        WHERE ol_w_id BETWEEN :first AND :last
        GROUP BY ol_w_id, ol_d_id, ol_o_id
    ) sides
    GROUP BY w_id, d_id, o_id
    HAVING sum(parents) <> 1 OR sum(line_count) <> 0
) found
WHERE place = 1;

-- name: check.3.3.2.7
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number) AS place,
           concat('w_id=', ol_w_id, ' d_id=', ol_d_id, ' o_id=', ol_o_id, ' number=', ol_number)
               AS first_key
    FROM order_line
    LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
        AND o_w_id BETWEEN :first AND :last
    WHERE ol_w_id BETWEEN :first AND :last
      AND (o_id IS NULL OR CASE WHEN ol_delivery_d IS NULL THEN 1 ELSE 0 END
           <> CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END)
) found
WHERE place = 1;

-- name: check.3.3.2.8
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id) AS place,
           concat('w_id=', w_id) AS first_key
    FROM (
        SELECT w_id, w_ytd AS ytd, 1 AS parents FROM warehouse WHERE w_id BETWEEN :first AND :last
        UNION ALL
        SELECT h_w_id, -sum(h_amount), 0 FROM history WHERE h_w_id BETWEEN :first AND :last GROUP BY h_w_id
    ) sides
    GROUP BY w_id
    HAVING sum(parents) <> 1 OR abs(sum(ytd)) > 0.005
) found
WHERE place = 1;

-- name: check.3.3.2.9
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id) AS first_key
    FROM (
        SELECT d_w_id AS w_id, d_id, d_ytd AS ytd, 1 AS parents
        FROM district
        WHERE d_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT h_w_id, h_d_id, -sum(h_amount), 0
        FROM history
        WHERE h_w_id BETWEEN :first AND :last
        GROUP BY h_w_id, h_d_id
    ) sides
    GROUP BY w_id, d_id
    HAVING sum(parents) <> 1 OR abs(sum(ytd)) > 0.005
) found
WHERE place = 1;

-- name: check.3.3.2.10
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id, c_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id, ' c_id=', c_id) AS first_key
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance AS amount, 1 AS parents
        FROM customer
        WHERE c_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT w_id, d_id, coalesce(o_c_id, 0), -amount, 0
        FROM (
            SELECT ol_w_id AS w_id, ol_d_id AS d_id, ol_o_id, sum(ol_amount) AS amount
            FROM order_line
            WHERE ol_w_id BETWEEN :first AND :last AND ol_delivery_d IS NOT NULL
            GROUP BY ol_w_id, ol_d_id, ol_o_id
        ) delivered
        LEFT JOIN orders ON o_w_id = w_id AND o_d_id = d_id AND o_id = ol_o_id
            AND o_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount), 0
        FROM history
        WHERE h_c_w_id BETWEEN :first AND :last
        GROUP BY h_c_w_id, h_c_d_id, h_c_id
    ) sides
    GROUP BY w_id, d_id, c_id
    HAVING sum(parents) <> 1 OR abs(sum(amount)) > 0.005
) found
WHERE place = 1;

-- name: check.3.3.2.11
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id) AS first_key
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, 2100 + sum(c_delivery_cnt) AS orders
        FROM customer
        WHERE c_w_id BETWEEN :first AND :last
        GROUP BY c_w_id, c_d_id
        UNION ALL
        SELECT o_w_id, o_d_id, -count(*) FROM orders WHERE o_w_id BETWEEN :first AND :last
        GROUP BY o_w_id, o_d_id
        UNION ALL
        SELECT no_w_id, no_d_id, count(*) FROM new_order WHERE no_w_id BETWEEN :first AND :last
        GROUP BY no_w_id, no_d_id
    ) sides
    GROUP BY w_id, d_id
    HAVING sum(orders) <> 0
) found
WHERE place = 1;

-- name: check.3.3.2.12
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id, c_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id, ' c_id=', c_id) AS first_key
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS amount, 1 AS parents
        FROM customer
        WHERE c_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT w_id, d_id, coalesce(o_c_id, 0), -amount, 0
        FROM (
            SELECT ol_w_id AS w_id, ol_d_id AS d_id, ol_o_id, sum(ol_amount) AS amount
            FROM order_line
            WHERE ol_w_id BETWEEN :first AND :last AND ol_delivery_d IS NOT NULL
            GROUP BY ol_w_id, ol_d_id, ol_o_id
        ) delivered
        LEFT JOIN orders ON o_w_id = w_id AND o_d_id = d_id AND o_id = ol_o_id
            AND o_w_id BETWEEN :first AND :last
    ) sides
    GROUP BY w_id, d_id, c_id
    HAVING sum(parents) <> 1 OR abs(sum(amount)) > 0.005
) found
WHERE place = 1;

-- Lines of all warehouses take from a stock, so every range reads all of order_line: few wide
-- ranges are quicker than many narrow ones.
-- name: check.13
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, i_id) AS place,
           concat('w_id=', w_id, ' i_id=', i_id) AS first_key
    FROM (
        SELECT s_w_id AS w_id, s_i_id AS i_id, s_ytd AS ytd, s_order_cnt AS order_cnt,
               s_remote_cnt AS remote_cnt, 1 AS parents
        FROM stock
        WHERE s_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT ol_supply_w_id, ol_i_id, -sum(ol_quantity), -count(*),
               -sum(CASE WHEN ol_w_id <> ol_supply_w_id THEN 1 ELSE 0 END), 0
        FROM order_line
        WHERE ol_supply_w_id BETWEEN :first AND :last AND ol_o_id > 3000
        GROUP BY ol_supply_w_id, ol_i_id
    ) sides
    GROUP BY w_id, i_id
    HAVING sum(parents) <> 1 OR sum(ytd) <> 0 OR sum(order_cnt) <> 0 OR sum(remote_cnt) <> 0
) found
WHERE place = 1;

-- name: check.14
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id, c_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id, ' c_id=', c_id) AS first_key
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_payment_cnt AS payments, 1 AS parents
        FROM customer
        WHERE c_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT h_c_w_id, h_c_d_id, h_c_id, -count(*), 0
        FROM history
        WHERE h_c_w_id BETWEEN :first AND :last
        GROUP BY h_c_w_id, h_c_d_id, h_c_id
    ) sides
    GROUP BY w_id, d_id, c_id
    HAVING sum(parents) <> 1 OR sum(payments) <> 0
) found
WHERE place = 1;

-- An order of a missing customer is found here too.
-- name: check.15
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id, d_id, c_id) AS place,
           concat('w_id=', w_id, ' d_id=', d_id, ' c_id=', c_id) AS first_key
    FROM (
        SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_delivery_cnt AS deliveries, 1 AS parents
        FROM customer
        WHERE c_w_id BETWEEN :first AND :last
        UNION ALL
        SELECT o_w_id, o_d_id, o_c_id,
               -sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END), 0
        FROM orders
        WHERE o_w_id BETWEEN :first AND :last
        GROUP BY o_w_id, o_d_id, o_c_id
    ) sides
    GROUP BY w_id, d_id, c_id
    HAVING sum(parents) <> 1 OR sum(deliveries) <> 0
) found
WHERE place = 1;

-- history refers to its customer by h_c_…, and to the district that was paid by h_w_id, h_d_id
-- (`history of`).
-- name: check.16
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY child, w_id, d_id, key_value) AS place,
           concat(child, ' w_id=', w_id, ' d_id=', d_id, ' ', key_name, '=', key_value)
               AS first_key
    FROM (
        SELECT 'new_order' AS child, no_w_id AS w_id, no_d_id AS d_id, 'o_id' AS key_name,
               no_o_id AS key_value
        FROM new_order
        LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
            AND o_w_id BETWEEN :first AND :last
        WHERE no_w_id BETWEEN :first AND :last AND o_id IS NULL
        UNION ALL
        SELECT 'order_line', ol_w_id, ol_d_id, 'o_id', ol_o_id
        FROM order_line
        LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
            AND o_w_id BETWEEN :first AND :last
        WHERE ol_w_id BETWEEN :first AND :last AND o_id IS NULL
        UNION ALL
        SELECT 'history', h_c_w_id, h_c_d_id, 'c_id', h_c_id
        FROM history
        LEFT JOIN customer ON c_w_id = h_c_w_id AND c_d_id = h_c_d_id AND c_id = h_c_id
            AND c_w_id BETWEEN :first AND :last
        WHERE h_c_w_id BETWEEN :first AND :last AND c_id IS NULL
        UNION ALL
        SELECT 'history of', h_w_id, h_d_id, 'c_id', h_c_id
        FROM history
        LEFT JOIN district ON d_w_id = h_w_id AND d_id = h_d_id
        WHERE h_w_id BETWEEN :first AND :last AND d_id IS NULL
    ) orphans
) found
WHERE place = 1;

-- No table has rows of a missing warehouse.
-- name: check.17
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY place_of, w_id) AS place,
           concat(place_of, '=', w_id) AS first_key
    FROM (
        SELECT 'w_id' AS place_of, w_id FROM warehouse WHERE w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'd_w_id', d_w_id FROM district WHERE d_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'c_w_id', c_w_id FROM customer WHERE c_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'h_w_id', h_w_id FROM history WHERE h_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'h_c_w_id', h_c_w_id FROM history WHERE h_c_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 's_w_id', s_w_id FROM stock WHERE s_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'o_w_id', o_w_id FROM orders WHERE o_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'no_w_id', no_w_id FROM new_order WHERE no_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'ol_w_id', ol_w_id FROM order_line WHERE ol_w_id NOT BETWEEN :first AND :last
        UNION ALL
        SELECT 'ol_supply_w_id', ol_supply_w_id
        FROM order_line
        WHERE ol_supply_w_id NOT BETWEEN :first AND :last
    ) beyond
) found
WHERE place = 1;
