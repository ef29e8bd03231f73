-- name: count.new_orders
SELECT sum(CAST(d_next_o_id AS bigint)) FROM district;

-- name: audit.new_order
SELECT count_big(*) FROM new_order;

-- name: customer.by_last_name
SELECT c_id
FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = CAST(:c_last AS varchar(16))
ORDER BY c_first, c_id;

-- name: new_order.district
UPDATE district SET d_next_o_id = d_next_o_id WHERE d_w_id = :w_id AND d_id = :d_id;
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = :w_id AND d_id = :d_id;

-- name: new_order.stock
UPDATE stock SET s_quantity = s_quantity WHERE s_w_id = :w_id AND s_i_id = :i_id;
SELECT s_quantity, s_data,
       CASE :d_id
           WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
           WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
           WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
           ELSE s_dist_10
       END
FROM stock
WHERE s_w_id = :w_id AND s_i_id = :i_id;

-- name: payment.customer
UPDATE customer SET c_balance = c_balance WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;
SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
       c_since, c_credit, c_credit_lim, c_discount, c_balance,
       CASE WHEN c_credit = 'BC' THEN c_data ELSE '' END
FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- Another Delivery may take the oldest between the two statements: then there is a next one.
-- name: delivery.oldest
DECLARE @oldest int;
WHILE 1 = 1
BEGIN
    SELECT @oldest = min(no_o_id) FROM new_order {update_lock} WHERE no_w_id = :w_id AND no_d_id = :d_id;
    IF @oldest IS NULL BREAK;
    UPDATE new_order SET no_o_id = no_o_id WHERE no_w_id = :w_id AND no_d_id = :d_id AND no_o_id = @oldest;
    IF @@ROWCOUNT = 1 BREAK;
END
SELECT @oldest AS no_o_id WHERE @oldest IS NOT NULL;
