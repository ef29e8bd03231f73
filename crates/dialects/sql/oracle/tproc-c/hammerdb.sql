-- Calls of the procedures of a schema that HammerDB built, in blocks that take what they return. Facts about them are
-- from HammerDB's sources; they were never called on Oracle.

-- The number of warehouses; no row if no object exists that only HammerDB names like this.
-- name: foreign.scale
SELECT max(w_id)
FROM warehouse
HAVING EXISTS (
        SELECT 1
        FROM all_procedures
        WHERE owner = sys_context('USERENV', 'CURRENT_SCHEMA') AND object_type = 'PROCEDURE'
            AND object_name IN ('NEWORD', 'OSTAT', 'SLEV')
    )
    OR EXISTS (
        SELECT 1
        FROM all_indexes
        WHERE table_owner = sys_context('USERENV', 'CURRENT_SCHEMA')
            AND index_name IN (
                'CUSTOMER_I1', 'CUSTOMER_I2', 'DISTRICT_I1', 'ITEM_I1', 'ORDERS_I1', 'ORDERS_I2', 'STOCK_I1',
                'WAREHOUSE_I1'
            )
    );

-- Every procedure of HammerDB's names: name, kind, types of its parameters, and a remark on its version.
-- `rolls back`: an item that does not exist rolls the order back, which the procedure does not report.
-- name: hammerdb.routines
SELECT lower(r.object_name), 'procedure', (
           SELECT listagg(a.data_type, ', ') WITHIN GROUP (ORDER BY a.position)
           FROM all_arguments a
           WHERE a.owner = r.owner AND a.object_name = r.object_name AND a.package_name IS NULL
               AND a.data_level = 0 AND a.position > 0
       ),
       CASE
           WHEN r.object_name = 'NEWORD' AND EXISTS (
               SELECT 1
               FROM all_source s
               WHERE s.owner = r.owner AND s.name = r.object_name AND s.type = 'PROCEDURE'
                   AND lower(s.text) LIKE '%no_data_found%'
           ) THEN 'rolls back'
       END
FROM all_procedures r
WHERE r.owner = sys_context('USERENV', 'CURRENT_SCHEMA') AND r.object_type = 'PROCEDURE'
    AND r.object_name IN ('NEWORD', 'PAYMENT', 'OSTAT', 'DELIVERY', 'SLEV');

-- The number of the order stays in the session, for the query that follows.
-- name: hammerdb.new_order.block
DECLARE
    the_number number;
    the_text varchar2(4000);
    the_o_id number;
BEGIN
    neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, the_number, the_text, the_text, the_number, the_number,
           the_o_id, CAST(:time AS date));
    dbms_application_info.set_client_info(to_char(the_o_id));
END;

-- The procedure catches deadlocks, and rolls back without reporting it. The next order then gets the number, so an order
-- of that number counts only if it is of the same customer and as many lines.
-- name: hammerdb.new_order.committed
SELECT count(*)
FROM orders
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = to_number(sys_context('USERENV', 'CLIENT_INFO'))
    AND o_c_id = :c_id AND o_ol_cnt = :ol_cnt;

-- After the name: ten fields of addresses, two of the name, five of the address, phone; since, credit, limit, discount,
-- balance, data.
-- name: hammerdb.payment.block
DECLARE
    the_number number;
    the_text varchar2(4000);
    the_time date;
    the_c_id integer;
    the_c_last varchar2(16);
    the_credit varchar2(2);
    the_balance number;
BEGIN
    the_c_id := :c_id;
    the_c_last := :c_last;
    payment(:w_id, :d_id, :c_w_id, :c_d_id, the_c_id, :by_name, :amount, the_c_last,
            the_text, the_text, the_text, the_text, the_text, the_text, the_text, the_text, the_text, the_text,
            the_text, the_text, the_text, the_text, the_text, the_text, the_text, the_text,
            the_time, the_credit, the_number, the_number, the_balance, the_text, CAST(:time AS date));
END;

-- name: hammerdb.order_status.block
DECLARE
    the_number number;
    the_text varchar2(4000);
    the_time date;
    the_c_id integer;
    the_c_last varchar2(16);
BEGIN
    the_c_id := :c_id;
    the_c_last := :c_last;
    ostat(:w_id, :d_id, the_c_id, :by_name, the_c_last, the_text, the_text, the_number, the_number, the_time,
          the_number);
END;

-- name: hammerdb.delivery.block
BEGIN
    delivery(:w_id, :carrier_id, CAST(:time AS date));
END;

-- name: hammerdb.stock_level.block
DECLARE
    the_number integer;
BEGIN
    slev(:w_id, :d_id, :threshold, the_number);
END;
