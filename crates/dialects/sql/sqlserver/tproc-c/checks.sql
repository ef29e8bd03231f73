-- Conditions are not values in T-SQL.
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
          AND ((o_carrier_id IS NULL AND no_o_id IS NULL)
               OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL))
        UNION ALL
        SELECT no_w_id, no_d_id, no_o_id
        FROM new_order
        LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
            AND o_w_id BETWEEN :first AND :last
        WHERE no_w_id BETWEEN :first AND :last AND o_id IS NULL
    ) bad
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
      AND (o_id IS NULL OR (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL)
           OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL))
) found
WHERE place = 1;
