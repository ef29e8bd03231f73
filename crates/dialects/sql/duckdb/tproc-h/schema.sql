-- No indexes besides the keys: a columnar scan skips row groups by their minimum and maximum, and an
-- index, which DuckDB reads for a handful of rows only, must fit in memory.

-- name: index.nation_region

-- name: index.supplier_nation

-- name: index.partsupp_supplier

-- name: index.customer_nation

-- name: index.orders_customer

-- name: index.lineitem_partsupp

-- name: index.lineitem_supplier
