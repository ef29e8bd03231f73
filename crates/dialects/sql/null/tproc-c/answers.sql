-- Answers of the null database, in the language described in crates/drivers/src/null/mod.rs.
-- They have the shape of real ones and always the same content; no order is rolled back.

-- name: count.new_orders
rows 1: int 30010

-- name: new_order.call
rows 1: int 0, int 3001, decimal(4) 0.1000, decimal(4) 0.0500, text 'BARBARBAR', text 'GC',
        decimal(4) 0.2500, decimal(2) 123.45,
        texts each :i_id of 'the name of an item', ints each :i_id of 50,
        decimals(2) each :i_id of 9.99, decimals(2) each :i_id of 49.95, texts each :i_id of 'G'
for :w_id, :d_id, :c_id, :entry_d, :supply_w_id, :quantity

-- name: payment.call
rows 1: int 0,
        text 'warehouse street', text 'second line', text 'warehouse city', text 'WS', text '123411111',
        text 'district street', text 'second line', text 'district city', text 'DS', text '123411111',
        int 7, text 'first name', text 'OE', text 'BARBARBAR',
        text 'customer street', text 'second line', text 'customer city', text 'CS', text '123411111',
        text '0123456789012345', timestamp '2026-01-01 00:00:00', text 'GC',
        decimal(2) 50000.00, decimal(4) 0.2500, decimal(2) -10.00, text ''
for :w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :h_date

-- name: order_status.call
rows 1: int 0, int 7, text 'first name', text 'OE', text 'BARBARBAR', decimal(2) -10.00,
        int 3000, timestamp '2026-01-01 00:00:00', int 5,
        ints 10 of 17, ints 10 of 1, ints 10 of 5, decimals(2) 10 of 49.95,
        timestamps 10 of '2026-01-01 00:00:00'
for :w_id, :d_id, :c_id, :c_last

-- name: delivery.call
rows 1: int 0, ints 10 of 2101
for :w_id, :carrier_id, :delivery_d

-- name: stock_level.call
rows 1: int 0, int 12
for :w_id, :d_id, :threshold

-- name: customer.by_last_name
rows 3: row
for :w_id, :d_id, :c_last

-- name: new_order.customer
rows 1: decimal(4) 0.1000, decimal(4) 0.2500, text 'BARBARBAR', text 'GC'
for :w_id, :d_id, :c_id

-- name: new_order.district
rows 1: int 3001, decimal(4) 0.0500
for :w_id, :d_id

-- name: new_order.item
rows 1: decimal(2) 9.99, text 'the name of an item', text 'the data of an item, quite long'
for :i_id

-- name: new_order.stock
rows 1: int 50, text 'the data of a stock, quite long', text 'the district information'
for :i_id, :w_id, :d_id

-- name: payment.warehouse
rows 1: text 'warehouse', text 'warehouse street', text 'second line', text 'warehouse city', text 'WS',
        text '123411111'
for :w_id

-- name: payment.district
rows 1: text 'district', text 'district street', text 'second line', text 'district city', text 'DS',
        text '123411111'
for :w_id, :d_id

-- name: payment.customer
rows 1: :c_id, text 'first name', text 'OE', text 'BARBARBAR',
        text 'customer street', text 'second line', text 'customer city', text 'CS', text '123411111',
        text '0123456789012345', timestamp '2026-01-01 00:00:00', text 'GC',
        decimal(2) 50000.00, decimal(4) 0.2500, decimal(2) -10.00, text ''
for :w_id, :d_id

-- name: order_status.customer
rows 1: text 'first name', text 'OE', text 'BARBARBAR', decimal(2) -10.00
for :w_id, :d_id, :c_id

-- name: order_status.order
rows 1: int 3000, timestamp '2026-01-01 00:00:00', int 5
for :w_id, :d_id, :c_id

-- name: order_status.lines
rows 10: int 17, int 1, int 5, decimal(2) 49.95, timestamp '2026-01-01 00:00:00'
for :w_id, :d_id, :o_id

-- name: delivery.oldest
rows 1: int 2101
for :w_id, :d_id

-- name: delivery.order
rows 1: int 7
for :w_id, :d_id, :o_id

-- name: delivery.amount
rows 1: decimal(2) 499.50
for :w_id, :d_id, :o_id

-- name: stock_level.district
rows 1: int 3001
for :w_id, :d_id

-- name: stock_level.count
rows 1: int 12
for :w_id, :d_id, :first_o_id, :next_o_id, :threshold
