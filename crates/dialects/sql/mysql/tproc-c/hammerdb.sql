-- Calls of the routines of a schema that HammerDB built. Their results go to session variables,
-- as with HammerDB's client.

-- The number of warehouses; no row if no object exists that only HammerDB names like this.
-- name: foreign.scale
SELECT max(w_id)
FROM warehouse
HAVING EXISTS (
        SELECT 1
        FROM information_schema.routines
        WHERE routine_schema = DATABASE() AND lower(routine_name) IN ('neword', 'ostat', 'slev')
    )
    OR 2 = (
        SELECT count(*)
        FROM information_schema.statistics
        WHERE table_schema = DATABASE() AND seq_in_index = 4
            AND (lower(table_name), lower(index_name)) IN (('customer', 'c_w_id'), ('orders', 'o_w_id'))
    );

-- Every routine of HammerDB's names: name, kind, types of its parameters, and a remark on its version.
-- `open`: DELIVERY begins no transaction and so relies on the session's, as in versions of about 4.1 to 4.4.
-- name: hammerdb.routines
SELECT lower(routine_name), lower(routine.routine_type), (
           SELECT group_concat(data_type ORDER BY ordinal_position SEPARATOR ', ')
           FROM information_schema.parameters taken
           WHERE taken.specific_schema = routine.routine_schema
               AND taken.specific_name = routine.specific_name
               AND taken.routine_type = routine.routine_type AND ordinal_position > 0
       ),
       CASE WHEN lower(routine_name) = 'delivery' AND lower(routine_definition) NOT LIKE '%start transaction%'
            THEN 'open' END
FROM information_schema.routines routine
WHERE routine_schema = DATABASE()
    AND lower(routine_name) IN ('neword', 'payment', 'ostat', 'delivery', 'slev');

-- As HammerDB's client does, for routines that leave beginning a transaction to the session.
-- name: hammerdb.no_autocommit
SET autocommit = 0;

-- name: hammerdb.new_order.procedure
CALL NEWORD(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, @disc, @last, @credit, @d_tax, @w_tax,
            @next_o_id, :time);

-- The routine rolls one order in about a hundred back and does not say so. Its number is then the next
-- one's, so an order of that number counts only if it is of the same customer and as many lines.
-- name: hammerdb.new_order.committed
SELECT count(*)
FROM orders
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = @next_o_id AND o_c_id = :c_id AND o_ol_cnt = :ol_cnt;

-- INOUT parameters get their values here, which saves the round trip that would set them.
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
