-- Calls of the routines of a schema that HammerDB built. What they give goes to variables of the session,
-- as with HammerDB's client.

-- The number of warehouses; no row when the five routines are not there with HammerDB's parameters.
-- name: foreign.scale
SELECT (SELECT max(w_id) FROM warehouse)
FROM (
    SELECT lower(specific_name) AS name, count(*) AS parameters
    FROM information_schema.parameters
    WHERE specific_schema = DATABASE() AND routine_type = 'PROCEDURE'
    GROUP BY lower(specific_name)
) routine
WHERE (name, parameters)
    IN (('neword', 12), ('payment', 33), ('delivery', 3), ('ostat', 11), ('slev', 4))
HAVING count(*) = 5;

-- name: hammerdb.kind
SELECT 'procedure'
FROM information_schema.routines
WHERE routine_schema = DATABASE() AND routine_type = 'PROCEDURE' AND lower(routine_name) = 'neword';

-- name: hammerdb.new_order.procedure
CALL NEWORD(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, @disc, @last, @credit, @d_tax, @w_tax,
            @next_o_id, :time);

-- The routine rolls one order in about a hundred back and does not say so. Its number is then the next
-- one's, so an order of that number counts only if it is of the same customer and as many lines.
-- name: hammerdb.new_order.committed
SELECT count(*)
FROM orders
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = @next_o_id AND o_c_id = :c_id AND o_ol_cnt = :ol_cnt;

-- Parameters that go both ways are told their values here, which saves the round trip that sets them.
-- name: hammerdb.payment.procedure
CALL PAYMENT(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :by_name, :amount, :c_last,
             @w_street_1, @w_street_2, @w_city, @w_state, @w_zip,
             @d_street_1, @d_street_2, @d_city, @d_state, @d_zip,
             @c_first, @c_middle, @c_street_1, @c_street_2, @c_city, @c_state, @c_zip,
             @c_phone, @c_since, @credit, @credit_lim, @disc, @balance, @c_data, :time);

-- name: hammerdb.order_status.procedure
CALL OSTAT(:w_id, :d_id, :c_id, :by_name, :c_last, @c_first, @c_middle, @balance, @o_id, @entry_d,
           @carrier_id);

-- name: hammerdb.delivery.procedure
CALL DELIVERY(:w_id, :carrier_id, :time);

-- name: hammerdb.stock_level.procedure
CALL SLEV(:w_id, :d_id, :threshold, @stock_count);
