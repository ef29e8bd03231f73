-- Calls of the procedures of a schema that HammerDB built. They return what they found as rows, and their errors too.
-- Never run against procedures of HammerDB's own: those of the tests have the same parameters and results.

-- The number of warehouses; no row if no object exists that only HammerDB names like this.
-- name: foreign.scale
SELECT max(w_id)
FROM warehouse
HAVING EXISTS (
        SELECT 1
        FROM sys.procedures
        WHERE schema_id = SCHEMA_ID() AND LOWER(name) IN ('neword', 'ostat', 'slev')
    )
    OR EXISTS (
        SELECT 1
        FROM sys.indexes
        WHERE LOWER(name) IN ('customer_i1', 'new_order_i1', 'order_line_i1', 'orders_i1', 'orders_i2', 'history_i1')
    );

-- Every procedure of HammerDB's names: name, kind, types of its parameters, and no remark.
-- name: hammerdb.routines
SELECT LOWER(r.name), 'procedure', (
           SELECT STRING_AGG(CAST(TYPE_NAME(p.system_type_id) AS varchar(max)), ', ') WITHIN GROUP (ORDER BY p.parameter_id)
           FROM sys.all_parameters p
           WHERE p.object_id = r.object_id AND p.parameter_id > 0
       ),
       CAST(NULL AS varchar(10))
FROM sys.procedures r
WHERE r.schema_id = SCHEMA_ID() AND LOWER(r.name) IN ('neword', 'payment', 'ostat', 'delivery', 'slev');

-- name: hammerdb.new_order.rows
EXEC neword :w_id, :warehouses, :d_id, :c_id, :ol_cnt, :time;

-- Whether an order was not rolled back, which the procedure does not say. It returns the number of the order that
-- follows, and the next order gets the number of one that is rolled back: one of that number counts only if it is
-- of the same customer and as many lines.
-- name: hammerdb.new_order.numbered
SELECT count(*)
FROM orders
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id - 1 AND o_c_id = :c_id AND o_ol_cnt = :ol_cnt;

-- name: hammerdb.payment.rows
EXEC payment :w_id, :d_id, :c_w_id, :c_d_id, :c_id, :by_name, :amount, :c_last, :time;

-- name: hammerdb.order_status.rows
EXEC ostat :w_id, :d_id, :c_id, :by_name, :c_last;

-- name: hammerdb.delivery.rows
EXEC delivery :w_id, :carrier_id, :time;

-- name: hammerdb.stock_level.rows
EXEC slev :w_id, :d_id, :threshold;
