-- Thousandths of the scale factor of tables that exist already, such as those of the connector tpch: a
-- thousandth has 10 suppliers.

-- name: external.scale
SELECT CASE WHEN count(s_suppkey) % 10 = 0 THEN count(s_suppkey) / 10 ELSE 0 END FROM supplier;
