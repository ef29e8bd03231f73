-- The rules of the population (clause 4.3.3) on a build that no run has touched, over the warehouses
-- from :first to :last. As in checks.sql: no row, or the number of violations and the first key.
-- `replace` finds ORIGINAL by case on every database, which LIKE does not.

-- The items exist once, whatever the range.
-- name: check.p.item
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY i_id) AS place,
           concat('i_id=', i_id) AS first_key
    FROM item
    WHERE :first <= :last AND (
        i_im_id NOT BETWEEN 1 AND 10000 OR {length}(i_name) NOT BETWEEN 14 AND 24
        OR i_price NOT BETWEEN 1.00 AND 100.00 OR {length}(i_data) NOT BETWEEN 26 AND 50)
) found
WHERE place = 1;

-- name: check.p.item_rows
SELECT 1, concat('rows=', count(*), ' original=',
                 sum(CASE WHEN replace(i_data, 'ORIGINAL', '') <> i_data THEN 1 ELSE 0 END))
FROM item
WHERE :first <= :last
HAVING count(*) <> 100000 OR min(i_id) <> 1 OR max(i_id) <> 100000
    OR sum(CASE WHEN replace(i_data, 'ORIGINAL', '') <> i_data THEN 1 ELSE 0 END) <> 10000;

-- name: check.p.warehouse
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id) AS place,
           concat('w_id=', w_id) AS first_key
    FROM warehouse
    WHERE w_id BETWEEN :first AND :last AND (
        {length}(w_name) NOT BETWEEN 6 AND 10 OR
        {length}(w_street_1) NOT BETWEEN 10 AND 20 OR {length}(w_street_2) NOT BETWEEN 10 AND 20
        OR {length}(w_city) NOT BETWEEN 10 AND 20 OR {length}(w_state) <> 2 OR {length}(w_zip) <> 9
        OR w_zip NOT LIKE '____11111' OR {if_not_digits}w_zip {not_digits}
        OR w_tax NOT BETWEEN 0 AND 0.2 OR w_ytd <> 300000)
) found
WHERE place = 1;

-- name: check.p.warehouse_rows
SELECT abs(count(*) - (:last - :first + 1)), concat('rows=', count(*))
FROM warehouse
WHERE w_id BETWEEN :first AND :last
HAVING count(*) <> :last - :first + 1;

-- name: check.p.district
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY d_w_id, d_id) AS place,
           concat('w_id=', d_w_id, ' d_id=', d_id) AS first_key
    FROM district
    WHERE d_w_id BETWEEN :first AND :last AND (
        {length}(d_name) NOT BETWEEN 6 AND 10 OR
        {length}(d_street_1) NOT BETWEEN 10 AND 20 OR {length}(d_street_2) NOT BETWEEN 10 AND 20
        OR {length}(d_city) NOT BETWEEN 10 AND 20 OR {length}(d_state) <> 2 OR {length}(d_zip) <> 9
        OR d_zip NOT LIKE '____11111' OR {if_not_digits}d_zip {not_digits}
        OR d_tax NOT BETWEEN 0 AND 0.2 OR d_ytd <> 30000 OR d_next_o_id <> 3001)
) found
WHERE place = 1;

-- name: check.p.district_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id) AS place,
           concat('w_id=', w_id, ' districts=', count(d_id)) AS first_key
    FROM warehouse
    LEFT JOIN district ON d_w_id = w_id
    WHERE w_id BETWEEN :first AND :last
    GROUP BY w_id
    HAVING count(d_id) <> 10 OR min(d_id) <> 1 OR max(d_id) <> 10
) found
WHERE place = 1;

-- name: check.p.customer
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY c_w_id, c_d_id, c_id) AS place,
           concat('w_id=', c_w_id, ' d_id=', c_d_id, ' c_id=', c_id) AS first_key
    FROM customer
    WHERE c_w_id BETWEEN :first AND :last AND (
        {length}(c_first) NOT BETWEEN 8 AND 16 OR c_middle <> 'OE' OR
        {length}(c_street_1) NOT BETWEEN 10 AND 20 OR {length}(c_street_2) NOT BETWEEN 10 AND 20
        OR {length}(c_city) NOT BETWEEN 10 AND 20 OR {length}(c_state) <> 2 OR {length}(c_zip) <> 9
        OR c_zip NOT LIKE '____11111' OR {if_not_digits}c_zip {not_digits}
        OR {length}(c_phone) <> 16 OR {if_not_digits}c_phone {not_digits}
        OR c_credit NOT IN ('GC', 'BC') OR c_credit_lim <> 50000 OR c_discount NOT BETWEEN 0 AND 0.5
        OR c_balance <> -10 OR c_ytd_payment <> 10 OR c_payment_cnt <> 1 OR c_delivery_cnt <> 0
        OR {length}(c_data) NOT BETWEEN 300 AND 500)
) found
WHERE place = 1;

-- Customer n of the first thousand has the name of n - 1; the others have any of the thousand.
-- DISTINCT and CAST make it a list of texts that planners can look a name up in, where a mere join of
-- syllables would be run anew for each customer.
-- name: check.p.customer_name
WITH syllable AS (
    SELECT 0 AS digit, 'BAR' AS part{dual}
    UNION ALL SELECT 1, 'OUGHT'{dual}
    UNION ALL SELECT 2, 'ABLE'{dual}
    UNION ALL SELECT 3, 'PRI'{dual}
    UNION ALL SELECT 4, 'PRES'{dual}
    UNION ALL SELECT 5, 'ESE'{dual}
    UNION ALL SELECT 6, 'ANTI'{dual}
    UNION ALL SELECT 7, 'CALLY'{dual}
    UNION ALL SELECT 8, 'ATION'{dual}
    UNION ALL SELECT 9, 'EING'{dual}
), name AS (
    SELECT DISTINCT 100 * a.digit + 10 * b.digit + c.digit AS nth,
           CAST(concat(a.part, b.part, c.part) AS {cast_text}(15)) AS text
    FROM syllable a CROSS JOIN syllable b CROSS JOIN syllable c
)
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY c_w_id, c_d_id, c_id) AS place,
           concat('w_id=', c_w_id, ' d_id=', c_d_id, ' c_id=', c_id) AS first_key
    FROM customer
    LEFT JOIN name ON text = c_last
    WHERE c_w_id BETWEEN :first AND :last
      AND (nth IS NULL OR (c_id <= 1000 AND nth <> c_id - 1))
) found
WHERE place = 1;

-- name: check.p.customer_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY d_w_id, d_id) AS place,
           concat('w_id=', d_w_id, ' d_id=', d_id) AS first_key
    FROM district
    LEFT JOIN (
        SELECT c_w_id AS w_id, c_d_id AS counted_d_id, count(*) AS row_count, min(c_id) AS first_id,
               max(c_id) AS last_id, sum(CASE WHEN c_credit = 'BC' THEN 1 ELSE 0 END) AS bad
        FROM customer
        WHERE c_w_id BETWEEN :first AND :last
        GROUP BY c_w_id, c_d_id
    ) counted ON w_id = d_w_id AND counted_d_id = d_id
    WHERE d_w_id BETWEEN :first AND :last
      AND (row_count IS NULL OR row_count <> 3000 OR first_id <> 1 OR last_id <> 3000 OR bad <> 300)
) found
WHERE place = 1;

-- name: check.p.history
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY h_w_id, h_d_id, h_c_id) AS place,
           concat('w_id=', h_w_id, ' d_id=', h_d_id, ' c_id=', h_c_id) AS first_key
    FROM history
    WHERE h_w_id BETWEEN :first AND :last AND (
        h_amount <> 10 OR {length}(h_data) NOT BETWEEN 12 AND 24
        OR h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id)
) found
WHERE place = 1;

-- name: check.p.history_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY d_w_id, d_id) AS place,
           concat('w_id=', d_w_id, ' d_id=', d_id) AS first_key
    FROM district
    LEFT JOIN (
        SELECT h_w_id AS w_id, h_d_id AS counted_d_id, count(*) AS row_count,
               count(DISTINCT h_c_id) AS customers, min(h_c_id) AS first_id,
               max(h_c_id) AS last_id
        FROM history
        WHERE h_w_id BETWEEN :first AND :last
        GROUP BY h_w_id, h_d_id
    ) counted ON w_id = d_w_id AND counted_d_id = d_id
    WHERE d_w_id BETWEEN :first AND :last
      AND (row_count IS NULL OR row_count <> 3000 OR customers <> 3000 OR first_id <> 1 OR last_id <> 3000)
) found
WHERE place = 1;

-- name: check.p.stock
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY s_w_id, s_i_id) AS place,
           concat('w_id=', s_w_id, ' i_id=', s_i_id) AS first_key
    FROM stock
    WHERE s_w_id BETWEEN :first AND :last AND (
        s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> 0 OR s_order_cnt <> 0 OR s_remote_cnt <> 0
        OR {length}(s_data) NOT BETWEEN 26 AND 50
        OR {length}(s_dist_01) <> 24 OR {length}(s_dist_02) <> 24 OR {length}(s_dist_03) <> 24
        OR {length}(s_dist_04) <> 24 OR {length}(s_dist_05) <> 24 OR {length}(s_dist_06) <> 24
        OR {length}(s_dist_07) <> 24 OR {length}(s_dist_08) <> 24 OR {length}(s_dist_09) <> 24
        OR {length}(s_dist_10) <> 24)
) found
WHERE place = 1;

-- name: check.p.stock_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY w_id) AS place,
           concat('w_id=', w_id) AS first_key
    FROM warehouse
    LEFT JOIN (
        SELECT s_w_id, count(*) AS row_count, min(s_i_id) AS first_id, max(s_i_id) AS last_id,
               sum(CASE WHEN replace(s_data, 'ORIGINAL', '') <> s_data THEN 1 ELSE 0 END) AS original
        FROM stock
        WHERE s_w_id BETWEEN :first AND :last
        GROUP BY s_w_id
    ) counted ON s_w_id = w_id
    WHERE w_id BETWEEN :first AND :last
      AND (row_count IS NULL OR row_count <> 100000 OR first_id <> 1 OR last_id <> 100000 OR original <> 10000)
) found
WHERE place = 1;

-- name: check.p.orders
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY o_w_id, o_d_id, o_id) AS place,
           concat('w_id=', o_w_id, ' d_id=', o_d_id, ' o_id=', o_id) AS first_key
    FROM orders
    WHERE o_w_id BETWEEN :first AND :last AND (
        (o_id < 2101 AND (o_carrier_id IS NULL OR o_carrier_id NOT BETWEEN 1 AND 10))
        OR (o_id >= 2101 AND o_carrier_id IS NOT NULL)
        OR o_ol_cnt NOT BETWEEN 5 AND 15 OR o_all_local <> 1)
) found
WHERE place = 1;

-- name: check.p.orders_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY d_w_id, d_id) AS place,
           concat('w_id=', d_w_id, ' d_id=', d_id) AS first_key
    FROM district
    LEFT JOIN (
        SELECT o_w_id AS w_id, o_d_id AS counted_d_id, count(*) AS row_count, min(o_id) AS first_id,
               max(o_id) AS last_id, count(DISTINCT o_c_id) AS customers, min(o_c_id) AS first_customer,
               max(o_c_id) AS last_customer
        FROM orders
        WHERE o_w_id BETWEEN :first AND :last
        GROUP BY o_w_id, o_d_id
    ) counted ON w_id = d_w_id AND counted_d_id = d_id
    WHERE d_w_id BETWEEN :first AND :last
      AND (row_count IS NULL OR row_count <> 3000 OR first_id <> 1 OR last_id <> 3000
        OR customers <> 3000 OR first_customer <> 1 OR last_customer <> 3000)
) found
WHERE place = 1;

-- name: check.p.order_line
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number) AS place,
           concat('w_id=', ol_w_id, ' d_id=', ol_d_id, ' o_id=', ol_o_id, ' number=', ol_number)
               AS first_key
    FROM order_line
    LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
        AND o_w_id BETWEEN :first AND :last
    WHERE ol_w_id BETWEEN :first AND :last AND (
        o_id IS NULL OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_supply_w_id <> ol_w_id
        OR ol_quantity <> 5 OR {length}(ol_dist_info) <> 24
        OR (ol_o_id < 2101 AND (ol_delivery_d IS NULL OR ol_delivery_d <> o_entry_d OR ol_amount <> 0))
        OR (ol_o_id >= 2101
            AND (ol_delivery_d IS NOT NULL OR ol_amount NOT BETWEEN 0.01 AND 9999.99)))
) found
WHERE place = 1;

-- Condition 6 checks that there are o_ol_cnt of them.
-- name: check.p.order_line_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY ol_w_id, ol_d_id, ol_o_id) AS place,
           concat('w_id=', ol_w_id, ' d_id=', ol_d_id, ' o_id=', ol_o_id) AS first_key
    FROM order_line
    WHERE ol_w_id BETWEEN :first AND :last
    GROUP BY ol_w_id, ol_d_id, ol_o_id
    HAVING min(ol_number) <> 1 OR max(ol_number) <> count(*)
) found
WHERE place = 1;

-- name: check.p.new_order
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations,
           row_number() OVER (ORDER BY no_w_id, no_d_id, no_o_id) AS place,
           concat('w_id=', no_w_id, ' d_id=', no_d_id, ' o_id=', no_o_id) AS first_key
    FROM new_order
    WHERE no_w_id BETWEEN :first AND :last AND no_o_id NOT BETWEEN 2101 AND 3000
) found
WHERE place = 1;

-- name: check.p.new_order_rows
SELECT violations, first_key
FROM (
    SELECT count(*) OVER () AS violations, row_number() OVER (ORDER BY d_w_id, d_id) AS place,
           concat('w_id=', d_w_id, ' d_id=', d_id) AS first_key
    FROM district
    LEFT JOIN (
        SELECT no_w_id AS w_id, no_d_id AS counted_d_id, count(*) AS row_count
        FROM new_order
        WHERE no_w_id BETWEEN :first AND :last
        GROUP BY no_w_id, no_d_id
    ) counted ON w_id = d_w_id AND counted_d_id = d_id
    WHERE d_w_id BETWEEN :first AND :last AND (row_count IS NULL OR row_count <> 900)
) found
WHERE place = 1;
