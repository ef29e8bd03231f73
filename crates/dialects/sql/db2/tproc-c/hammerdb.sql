-- Calls of the procedures of a schema that HammerDB built without its partitions. What they return goes to the variables
-- that HammerDB created for its client. Facts about them are from HammerDB's sources; they were never called on Db2.

-- The number of warehouses; no row if no object exists that only HammerDB names like this.
-- name: foreign.scale
SELECT max(w_id)
FROM warehouse
HAVING EXISTS (
        SELECT 1
        FROM syscat.routines
        WHERE routineschema = CURRENT SCHEMA AND routinetype = 'P' AND routinename IN ('NEWORD', 'OSTAT', 'SLEV')
    )
    OR EXISTS (
        SELECT 1
        FROM syscat.indexes
        WHERE tabschema = CURRENT SCHEMA AND indname IN ('CUSTOMER_I2', 'ORDERS_I2')
    );

-- Every procedure of HammerDB's names: name, kind, types of its parameters, and no remark.
-- name: hammerdb.routines
SELECT lower(r.routinename), 'procedure', (
           SELECT listagg(p.typename, ', ') WITHIN GROUP (ORDER BY p.ordinal)
           FROM syscat.routineparms p
           WHERE p.routineschema = r.routineschema AND p.specificname = r.specificname AND p.ordinal > 0
       ),
       CAST(NULL AS varchar(10))
FROM syscat.routines r
WHERE r.routineschema = CURRENT SCHEMA AND r.routinetype = 'P'
    AND r.routinename IN ('NEWORD', 'PAYMENT', 'OSTAT', 'DELIVERY', 'SLEV');

-- Parameters that are read and written must be variables: HammerDB's client sets them before the call, too.
-- name: hammerdb.set_customer
SET (p_c_id, p_c_last, os_c_id, os_c_last) = (:c_id, :c_last, :c_id, :c_last);

-- name: hammerdb.new_order.variables
CALL neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, no_c_discount, no_c_last, no_c_credit, no_d_tax, no_w_tax,
            no_d_next_o_id, date(CAST(:time AS timestamp)));

-- name: hammerdb.payment.variables
CALL payment(:w_id, :d_id, :c_w_id, :c_d_id, p_c_id, :by_name, :amount, p_c_last,
             p_w_street_1, p_w_street_2, p_w_city, p_w_state, p_w_zip,
             p_d_street_1, p_d_street_2, p_d_city, p_d_state, p_d_zip,
             p_c_first, p_c_middle, p_c_street_1, p_c_street_2, p_c_city, p_c_state, p_c_zip, p_c_phone,
             p_c_since, p_c_credit, p_c_credit_lim, p_c_discount, p_c_balance, p_c_data,
             date(CAST(:time AS timestamp)));

-- name: hammerdb.order_status.variables
CALL ostat(:w_id, :d_id, os_c_id, :by_name, os_c_last, os_c_first, os_c_middle, os_c_balance, os_o_id, os_entdate,
           os_o_carrier_id);

-- name: hammerdb.delivery.variables
CALL delivery(:w_id, :carrier_id, CAST(:time AS timestamp), deliv_data);

-- name: hammerdb.stock_level.variables
CALL slev(:w_id, :d_id, :threshold, stock_count);
