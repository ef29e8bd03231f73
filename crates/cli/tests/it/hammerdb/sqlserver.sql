-- Procedures of our own with the names, parameters and results of HammerDB's. One New-Order in ten is rolled back
-- without a word. Errors are returned as rows.
DROP TABLE triphammer_build;
GO
CREATE PROCEDURE neword @w int, @max_w int, @d int, @c int, @line_count int, @at_time datetime2(0)
AS
BEGIN
    DECLARE @o_id int, @place int = 1, @item int, @price decimal(5, 2), @last_name char(16), @credit char(2);
    BEGIN TRANSACTION;
    BEGIN TRY
        SELECT @last_name = c_last, @credit = c_credit FROM customer WHERE c_w_id = @w AND c_d_id = @d AND c_id = @c;
        UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @w AND d_id = @d;
        SELECT @o_id = d_next_o_id - 1 FROM district WHERE d_w_id = @w AND d_id = @d;
        INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (@o_id, @d, @w, @c, @at_time, @line_count, 1);
        INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (@o_id, @d, @w);
        WHILE @place <= @line_count
        BEGIN
            -- Ascending, so that nobody waits for each other.
            SET @item = @place * 6000 + CAST(6000 * RAND() AS int);
            SELECT @price = i_price FROM item WHERE i_id = @item;
            UPDATE stock SET s_quantity = CASE WHEN s_quantity > 20 THEN s_quantity - 2 ELSE 91 END
            WHERE s_w_id = @w AND s_i_id = @item;
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                    ol_quantity, ol_amount, ol_dist_info)
            VALUES (@o_id, @d, @w, @place, @item, @w, 2, FLOOR(2 * @price), 'somewhere');
            SET @place = @place + 1;
        END
        IF RAND() < 0.1 ROLLBACK TRANSACTION;
        SELECT CAST(0.1 AS char(8)), @last_name, @credit, CAST(0.2 AS char(8)), CAST(0.3 AS char(8)), @o_id + 1;
    END TRY
    BEGIN CATCH
        SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_PROCEDURE(), ERROR_LINE(), ERROR_MESSAGE();
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    END CATCH
    IF @@TRANCOUNT > 0 COMMIT TRANSACTION;
END
GO
CREATE PROCEDURE payment @w int, @d int, @c_w int, @c_d int, @c int, @by_name int, @amount numeric(6, 2),
    @last_name char(16), @at_time datetime2(0)
AS
BEGIN
    BEGIN TRANSACTION;
    BEGIN TRY
        UPDATE warehouse SET w_ytd = w_ytd + @amount WHERE w_id = @w;
        UPDATE district SET d_ytd = d_ytd + @amount WHERE d_w_id = @w AND d_id = @d;
        IF @by_name = 1
            SELECT @c = max(c_id) FROM customer WHERE c_w_id = @c_w AND c_d_id = @c_d AND c_last = RTRIM(@last_name);
        UPDATE customer SET c_balance = c_balance - @amount WHERE c_w_id = @c_w AND c_d_id = @c_d AND c_id = @c;
        INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (@c, @c_d, @c_w, @d, @w, @at_time, @amount, 'paid');
        SELECT @c, @last_name;
    END TRY
    BEGIN CATCH
        SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_PROCEDURE(), ERROR_LINE(), ERROR_MESSAGE();
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    END CATCH
    IF @@TRANCOUNT > 0 COMMIT TRANSACTION;
END
GO
CREATE PROCEDURE delivery @w int, @carrier int, @at_time datetime2(0)
AS
BEGIN
    DECLARE @d int = 1, @order int;
    BEGIN TRANSACTION;
    BEGIN TRY
        -- One Delivery at a time in a warehouse.
        UPDATE warehouse SET w_ytd = w_ytd WHERE w_id = @w;
        WHILE @d <= 10
        BEGIN
            SELECT @order = min(no_o_id) FROM new_order WHERE no_w_id = @w AND no_d_id = @d;
            DELETE FROM new_order WHERE no_w_id = @w AND no_d_id = @d AND no_o_id = @order;
            UPDATE orders SET o_carrier_id = @carrier WHERE o_w_id = @w AND o_d_id = @d AND o_id = @order;
            UPDATE order_line SET ol_delivery_d = @at_time WHERE ol_w_id = @w AND ol_d_id = @d AND ol_o_id = @order;
            SET @d = @d + 1;
        END
        SELECT @w, @carrier, @at_time;
    END TRY
    BEGIN CATCH
        SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_PROCEDURE(), ERROR_LINE(), ERROR_MESSAGE();
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    END CATCH
    IF @@TRANCOUNT > 0 COMMIT TRANSACTION;
END
GO
CREATE PROCEDURE ostat @w int, @d int, @c int, @by_name int, @last_name char(20)
AS
BEGIN
    IF @by_name = 1
        SELECT @c = max(c_id) FROM customer WHERE c_w_id = @w AND c_d_id = @d AND c_last = RTRIM(@last_name);
    SELECT TOP 1 o_id, o_entry_d, o_carrier_id FROM orders
    WHERE o_w_id = @w AND o_d_id = @d AND o_c_id = @c ORDER BY o_id DESC;
END
GO
CREATE PROCEDURE slev @w int, @d int, @threshold int
AS
SELECT count(DISTINCT s_i_id)
FROM district, order_line, stock
WHERE d_w_id = @w AND d_id = @d AND ol_w_id = @w AND ol_d_id = @d
    AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1
    AND s_w_id = @w AND s_i_id = ol_i_id AND s_quantity < @threshold;
