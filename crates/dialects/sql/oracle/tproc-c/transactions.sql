-- Not run against Oracle.
-- An empty text is NULL.
-- name: payment.customer
SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
       c_since, c_credit, c_credit_lim, c_discount, c_balance,
       CASE WHEN c_credit = 'BC' THEN c_data ELSE ' ' END
FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id {for_update};

-- A query that sorts or is limited cannot lock. If the row was deleted meanwhile, the database restarts the whole
-- statement, which finds the next one.
-- name: delivery.oldest
SELECT no_o_id
FROM new_order
WHERE no_w_id = :w_id AND no_d_id = :d_id
  AND no_o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id)
{for_update};
