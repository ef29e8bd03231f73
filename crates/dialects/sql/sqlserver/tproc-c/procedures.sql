-- The five transactions as procedures: one call, one round trip, one row. The first column is a status, 0 for
-- success. Inputs, including the time, come from the client. A list is passed as binary data of four bytes per
-- number, and returned as JSON text of unlimited length.
-- Errors are not swallowed: the transaction is rolled back, and the error is thrown on.
-- The order of locks is described at the head of tproc_c/mod.rs. What a transaction reads without locking, it reads
-- before it holds a lock: where readers take locks too, it would otherwise wait for those who wait for it.
-- Lines are processed one by one, by their keys. As a set they would depend on how many rows a planner expects of
-- a list: Babelfish expects a thousand, and reads all of stock.

-- The lines are sorted as text of two digits per line, so that no table is needed for them. The unused item has no
-- row in item: the order is then rolled back, after the work up to there.
-- name: procedure.new_order
DROP PROCEDURE IF EXISTS triphammer_new_order;
GO
CREATE PROCEDURE triphammer_new_order
    @w_id int, @d_id int, @c_id int, @entry_d {timestamp},
    @i_id varbinary(8000), @supply_w_id varbinary(8000), @quantity varbinary(8000)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @ol_cnt int = DATALENGTH(@i_id) / 4, @order varchar(30), @all_local int, @place int = 1, @number int,
        @line_i_id int, @line_w_id int, @line_quantity int, @missing int = 0, @o_id int,
        @w_tax decimal(4, 4), @d_tax decimal(4, 4), @c_discount decimal(4, 4), @c_last varchar(16), @c_credit char(2),
        @sum decimal(12, 2), @i_name varchar(max), @s_quantity varchar(max), @i_price varchar(max),
        @ol_amount varchar(max), @brand_generic varchar(max);
    BEGIN TRY
        SELECT @order = STRING_AGG(digits, '') WITHIN GROUP (ORDER BY place), @all_local = min(is_local)
        FROM (
            SELECT RIGHT(concat('0', n), 2) AS digits,
                   CASE WHEN CAST(SUBSTRING(@supply_w_id, 4 * n - 3, 4) AS int) = @w_id THEN 1 ELSE 0 END AS is_local,
                   CAST(CAST(SUBSTRING(@supply_w_id, 4 * n - 3, 4) AS int) AS bigint) * 1000000
                       + CAST(SUBSTRING(@i_id, 4 * n - 3, 4) AS int) AS place
            FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)) numbers(n)
            WHERE n <= @ol_cnt
        ) lines;
        BEGIN TRANSACTION;
        SELECT @w_tax = w_tax, @c_discount = c_discount, @c_last = c_last, @c_credit = c_credit
        FROM warehouse, customer
        WHERE w_id = @w_id AND c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
        UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @w_id AND d_id = @d_id;
        SELECT @o_id = d_next_o_id - 1, @d_tax = d_tax FROM district WHERE d_w_id = @w_id AND d_id = @d_id;
        INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
        VALUES (@o_id, @d_id, @w_id, @c_id, @entry_d, NULL, @ol_cnt, @all_local);
        INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (@o_id, @d_id, @w_id);
        WHILE @place <= @ol_cnt
        BEGIN
            SET @number = CAST(SUBSTRING(@order, 2 * @place - 1, 2) AS int);
            SET @line_i_id = CAST(SUBSTRING(@i_id, 4 * @number - 3, 4) AS int);
            SET @line_w_id = CAST(SUBSTRING(@supply_w_id, 4 * @number - 3, 4) AS int);
            SET @line_quantity = CAST(SUBSTRING(@quantity, 4 * @number - 3, 4) AS int);
            UPDATE stock
            SET s_quantity = s_quantity - @line_quantity
                    + CASE WHEN s_quantity >= @line_quantity + 10 THEN 0 ELSE 91 END,
                s_ytd = s_ytd + @line_quantity,
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN @line_w_id = @w_id THEN 0 ELSE 1 END
            WHERE s_w_id = @line_w_id AND s_i_id = @line_i_id;
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                    ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
            SELECT @o_id, @d_id, @w_id, @number, @line_i_id, @line_w_id, NULL, @line_quantity,
                   @line_quantity * i_price,
                   CASE @d_id
                       WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                       WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                       WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                       ELSE s_dist_10
                   END
            FROM item, stock
            WHERE i_id = @line_i_id AND s_w_id = @line_w_id AND s_i_id = @line_i_id;
            IF @@ROWCOUNT = 0
            BEGIN
                SET @missing = 1;
                BREAK;
            END
            SET @place = @place + 1;
        END
        IF @missing = 1
            ROLLBACK TRANSACTION;
        ELSE
        BEGIN
            SELECT @sum = sum(ol_amount),
                   @i_name = STRING_AGG(CAST(concat('"', REPLACE(REPLACE(i_name, '\', '\\'), '"', '\"'), '"')
                       AS varchar(max)), ',') WITHIN GROUP (ORDER BY ol_number),
                   @s_quantity = STRING_AGG(CAST(s_quantity AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number),
                   @i_price = STRING_AGG(CAST(i_price AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number),
                   @ol_amount = STRING_AGG(CAST(ol_amount AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number),
                   @brand_generic = STRING_AGG(
                       CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN '"B"' ELSE '"G"' END, ',')
                       WITHIN GROUP (ORDER BY ol_number)
            FROM order_line, item, stock
            WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id
              AND i_id = ol_i_id AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id;
            COMMIT TRANSACTION{commit_options};
        END
        SELECT @missing, @o_id, @w_tax, @d_tax, @c_last, @c_credit, @c_discount,
               CAST(round(@sum * (1 - @c_discount) * (1 + @w_tax + @d_tax), 2) AS decimal(14, 2)),
               CAST(concat('[', @i_name, ']') AS varchar(max)), CAST(concat('[', @s_quantity, ']') AS varchar(max)),
               CAST(concat('[', @i_price, ']') AS varchar(max)), CAST(concat('[', @ol_amount, ']') AS varchar(max)),
               CAST(concat('[', @brand_generic, ']') AS varchar(max));
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END;

-- name: procedure.payment
DROP PROCEDURE IF EXISTS triphammer_payment;
GO
CREATE PROCEDURE triphammer_payment
    @w_id int, @d_id int, @c_w_id int, @c_d_id int, @c_id int, @c_last varchar(16), @amount decimal(6, 2),
    @h_date {timestamp}
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @place int;
    BEGIN TRY
        BEGIN TRANSACTION;
        UPDATE warehouse SET w_ytd = w_ytd + @amount WHERE w_id = @w_id;
        UPDATE district SET d_ytd = d_ytd + @amount WHERE d_w_id = @w_id AND d_id = @d_id;
        IF @c_last IS NOT NULL
        BEGIN
            SELECT @place = (count(*) + 1) / 2 - 1
            FROM customer
            WHERE c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_last = @c_last;
            SELECT @c_id = c_id
            FROM customer
            WHERE c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_last = @c_last
            ORDER BY c_first, c_id
            OFFSET @place ROWS FETCH NEXT 1 ROWS ONLY;
        END
        UPDATE customer
        SET c_balance = c_balance - @amount,
            c_ytd_payment = c_ytd_payment + @amount,
            c_payment_cnt = c_payment_cnt + 1,
            c_data = CASE WHEN c_credit = 'BC'
                THEN LEFT(concat(c_id, ' ', c_d_id, ' ', c_w_id, ' ', @d_id, ' ', @w_id, ' ', @amount, ' ', c_data), 500)
                ELSE c_data END
        WHERE c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_id = @c_id;
        INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        SELECT @c_id, @c_d_id, @c_w_id, @d_id, @w_id, @h_date, @amount, concat(w_name, '    ', d_name)
        FROM warehouse, district
        WHERE w_id = @w_id AND d_w_id = @w_id AND d_id = @d_id;
        SELECT 0, w_street_1, w_street_2, w_city, w_state, w_zip, d_street_1, d_street_2, d_city, d_state, d_zip,
               c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
               c_since, c_credit, c_credit_lim, c_discount, c_balance,
               CASE WHEN c_credit = 'BC' THEN LEFT(c_data, 200) ELSE '' END
        FROM warehouse, district, customer
        WHERE w_id = @w_id AND d_w_id = @w_id AND d_id = @d_id
          AND c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_id = @c_id;
        COMMIT TRANSACTION{commit_options};
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END;

-- Order and lines are of one query, so that they are of one instant where readers do not lock.
-- name: procedure.order_status
DROP PROCEDURE IF EXISTS triphammer_order_status;
GO
CREATE PROCEDURE triphammer_order_status @w_id int, @d_id int, @c_id int, @c_last varchar(16)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @place int, @o_id int;
    BEGIN TRY
        IF @c_last IS NOT NULL
        BEGIN
            SELECT @place = (count(*) + 1) / 2 - 1
            FROM customer
            WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_last = @c_last;
            SELECT @c_id = c_id
            FROM customer
            WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_last = @c_last
            ORDER BY c_first, c_id
            OFFSET @place ROWS FETCH NEXT 1 ROWS ONLY;
        END
        SELECT @o_id = max(o_id) FROM orders WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_c_id = @c_id;
        SELECT 0, c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
               CAST(concat('[', i_id, ']') AS varchar(max)), CAST(concat('[', supply_w_id, ']') AS varchar(max)),
               CAST(concat('[', quantity, ']') AS varchar(max)), CAST(concat('[', amount, ']') AS varchar(max)),
               CAST(concat('[', delivery_d, ']') AS varchar(max))
        FROM customer, orders, (
            SELECT STRING_AGG(CAST(ol_i_id AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) AS i_id,
                   STRING_AGG(CAST(ol_supply_w_id AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number)
                       AS supply_w_id,
                   STRING_AGG(CAST(ol_quantity AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) AS quantity,
                   STRING_AGG(CAST(ol_amount AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) AS amount,
                   STRING_AGG(CASE WHEN ol_delivery_d IS NULL THEN 'null'
                       ELSE concat('"', CONVERT(varchar(30), ol_delivery_d, 121), '"') END, ',')
                       WITHIN GROUP (ORDER BY ol_number) AS delivery_d
            FROM order_line
            WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id
        ) lines
        WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id
          AND o_w_id = @w_id AND o_d_id = @d_id AND o_id = @o_id;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END;

-- District by district, the oldest new order is locked first. Another Delivery may take it between the two
-- statements: then there is a next one. A district that has none stays null.
-- name: procedure.delivery
DROP PROCEDURE IF EXISTS triphammer_delivery;
GO
CREATE PROCEDURE triphammer_delivery @w_id int, @carrier_id int, @delivery_d {timestamp}
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @d_id int = 1, @o_id int, @c_id int, @amount decimal(12, 2), @orders varchar(max) = '';
    BEGIN TRY
        BEGIN TRANSACTION;
        WHILE @d_id <= 10
        BEGIN
            WHILE 1 = 1
            BEGIN
                SELECT @o_id = min(no_o_id) FROM new_order {update_lock} WHERE no_w_id = @w_id AND no_d_id = @d_id;
                IF @o_id IS NULL BREAK;
                DELETE FROM new_order WHERE no_w_id = @w_id AND no_d_id = @d_id AND no_o_id = @o_id;
                IF @@ROWCOUNT = 1 BREAK;
            END
            IF @o_id IS NOT NULL
            BEGIN
                UPDATE orders SET o_carrier_id = @carrier_id
                WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_id = @o_id;
                SELECT @c_id = o_c_id FROM orders WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_id = @o_id;
                UPDATE order_line SET ol_delivery_d = @delivery_d
                WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
                SELECT @amount = sum(ol_amount)
                FROM order_line
                WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
                UPDATE customer
                SET c_balance = c_balance + @amount, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
            END
            SET @orders = concat(@orders, CASE WHEN @d_id = 1 THEN '' ELSE ',' END,
                                 coalesce(CAST(@o_id AS varchar(11)), 'null'));
            SET @d_id = @d_id + 1;
        END
        COMMIT TRANSACTION{commit_options};
        SELECT 0, CAST(concat('[', @orders, ']') AS varchar(max));
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END;

-- name: procedure.stock_level
DROP PROCEDURE IF EXISTS triphammer_stock_level;
GO
CREATE PROCEDURE triphammer_stock_level @w_id int, @d_id int, @threshold int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @next_o_id int;
    SELECT @next_o_id = d_next_o_id FROM district WHERE d_w_id = @w_id AND d_id = @d_id;
    SELECT 0, count(DISTINCT s_i_id)
    FROM order_line, stock
    WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id >= @next_o_id - 20 AND ol_o_id < @next_o_id
      AND s_w_id = @w_id AND s_i_id = ol_i_id AND s_quantity < @threshold;
END;

-- name: drop_procedure.all
DROP PROCEDURE IF EXISTS triphammer_new_order;
DROP PROCEDURE IF EXISTS triphammer_payment;
DROP PROCEDURE IF EXISTS triphammer_order_status;
DROP PROCEDURE IF EXISTS triphammer_delivery;
DROP PROCEDURE IF EXISTS triphammer_stock_level;

-- name: new_order.call
EXEC triphammer_new_order :w_id, :d_id, :c_id, :entry_d, :i_id, :supply_w_id, :quantity;

-- name: payment.call
EXEC triphammer_payment :w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :h_date;

-- name: order_status.call
EXEC triphammer_order_status :w_id, :d_id, :c_id, :c_last;

-- name: delivery.call
EXEC triphammer_delivery :w_id, :carrier_id, :delivery_d;

-- name: stock_level.call
EXEC triphammer_stock_level :w_id, :d_id, :threshold;
