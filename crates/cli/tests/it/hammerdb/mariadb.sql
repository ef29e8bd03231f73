-- Makes tables that we built look as HammerDB makes them, and routines of our own with the names and
-- parameters of HammerDB's. One New-Order in ten finds no item and is rolled back without a word.
DROP TABLE triphammer_build;
ALTER TABLE order_line MODIFY ol_amount integer;
ALTER TABLE customer DROP KEY customer_name, ADD KEY c_w_id (c_w_id, c_d_id, c_last, c_first);
ALTER TABLE orders DROP KEY orders_customer, ADD KEY o_w_id (o_w_id, o_d_id, o_c_id, o_id);
DELIMITER |
CREATE PROCEDURE neword(
    w integer, max_w integer, d integer, c integer, line_count integer, OUT discount decimal(4, 4),
    OUT last_name varchar(16), OUT credit varchar(2), OUT d_tax_out decimal(4, 4),
    OUT w_tax_out decimal(4, 4), INOUT next_o_id integer, at_time datetime
)
BEGIN
    DECLARE place integer DEFAULT 1;
    DECLARE item_id integer;
    DECLARE price decimal(5, 2);
    DECLARE EXIT HANDLER FOR NOT FOUND ROLLBACK;
    SELECT c_discount, c_last, c_credit INTO discount, last_name, credit
    FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    START TRANSACTION;
    SELECT d_next_o_id, d_tax INTO next_o_id, d_tax_out
    FROM district WHERE d_w_id = w AND d_id = d FOR UPDATE;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (next_o_id, d, w, c, at_time, line_count, 1);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (next_o_id, d, w);
    WHILE place <= line_count DO
        -- Ascending, so that nobody waits for each other.
        SET item_id = place * 6000 + floor(rand() * 6000);
        IF place = line_count AND rand() < 0.1 THEN
            SET item_id = 100001;
        END IF;
        SELECT i_price INTO price FROM item WHERE i_id = item_id;
        UPDATE stock SET s_quantity = if(s_quantity > 20, s_quantity - 2, 91)
        WHERE s_w_id = w AND s_i_id = item_id;
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                ol_quantity, ol_amount, ol_dist_info)
        VALUES (next_o_id, d, w, place, item_id, w, 2, 2 * price, 'somewhere');
        SET place = place + 1;
    END WHILE;
    COMMIT;
END |
CREATE PROCEDURE payment(
    w integer, d integer, c_w integer, c_d integer, INOUT c integer, by_name integer,
    amount decimal(6, 2), INOUT last_name varchar(16),
    OUT w1 varchar(20), OUT w2 varchar(20), OUT w3 varchar(20), OUT w4 char(2), OUT w5 char(9),
    OUT d1 varchar(20), OUT d2 varchar(20), OUT d3 varchar(20), OUT d4 char(2), OUT d5 char(9),
    OUT first_name varchar(16), OUT middle char(2),
    OUT c1 varchar(20), OUT c2 varchar(20), OUT c3 varchar(20), OUT c4 char(2), OUT c5 char(9),
    OUT phone char(16), OUT since datetime, INOUT credit char(2), OUT credit_lim decimal(12, 2),
    OUT discount decimal(4, 4), INOUT balance decimal(12, 2), OUT customer_data varchar(500),
    at_time datetime
)
BEGIN
    START TRANSACTION;
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
    IF by_name = 1 THEN
        SELECT max(c_id) INTO c FROM customer
        WHERE c_w_id = c_w AND c_d_id = c_d AND c_last = last_name;
    END IF;
    UPDATE customer SET c_balance = c_balance - amount
    WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c, c_d, c_w, d, w, at_time, amount, 'paid');
    COMMIT;
END |
CREATE PROCEDURE delivery(w integer, carrier integer, at_time datetime)
BEGIN
    DECLARE d integer DEFAULT 1;
    DECLARE the_order integer;
    START TRANSACTION;
    WHILE d <= 10 DO
        SELECT no_o_id INTO the_order FROM new_order WHERE no_w_id = w AND no_d_id = d
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = the_order;
        UPDATE orders SET o_carrier_id = carrier
        WHERE o_w_id = w AND o_d_id = d AND o_id = the_order;
        UPDATE order_line SET ol_delivery_d = at_time
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = the_order;
        SET d = d + 1;
    END WHILE;
    COMMIT;
END |
CREATE PROCEDURE ostat(
    w integer, d integer, INOUT c integer, by_name integer, INOUT last_name varchar(16),
    OUT first_name varchar(16), OUT middle char(2), OUT balance decimal(12, 2), OUT the_order integer,
    OUT entered datetime, OUT carrier integer
)
BEGIN
    IF by_name = 1 THEN
        SELECT max(c_id) INTO c FROM customer
        WHERE c_w_id = w AND c_d_id = d AND c_last = last_name;
    END IF;
    SELECT o_id, o_entry_d, o_carrier_id INTO the_order, entered, carrier
    FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
END |
CREATE PROCEDURE slev(w integer, d integer, threshold integer, OUT stock_count integer)
BEGIN
    SELECT count(DISTINCT s_i_id) INTO stock_count
    FROM district, order_line, stock
    WHERE d_w_id = w AND d_id = d AND ol_w_id = w AND ol_d_id = d
        AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1
        AND s_w_id = w AND s_i_id = ol_i_id AND s_quantity < threshold;
END |
DELIMITER ;
