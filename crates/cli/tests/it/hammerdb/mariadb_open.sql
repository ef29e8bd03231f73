-- What versions of HammerDB of about 4.1 to 4.4 make otherwise: DELIVERY commits each district and begins
-- no transaction, so its statements would commit one by one in a session that commits by itself. It refuses
-- to work in such a one, and in one that has already read.
DELIMITER |
DROP PROCEDURE delivery |
CREATE PROCEDURE delivery(w integer, carrier integer, at_time datetime)
BEGIN
    DECLARE d integer DEFAULT 1;
    DECLARE the_order integer;
    IF @@autocommit OR @@in_transaction THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the session commits by itself, or has read already';
    END IF;
    WHILE d <= 10 DO
        SELECT no_o_id INTO the_order FROM new_order WHERE no_w_id = w AND no_d_id = d
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = the_order;
        UPDATE orders SET o_carrier_id = carrier
        WHERE o_w_id = w AND o_d_id = d AND o_id = the_order;
        UPDATE order_line SET ol_delivery_d = at_time
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = the_order;
        COMMIT;
        SET d = d + 1;
    END WHILE;
END |
DELIMITER ;
