-- Tables that another program filled: with dbgen's files, by DuckDB's `CALL dbgen`, by HammerDB, or by a connector of
-- Trino.

-- Thousandths of the scale factor: a thousandth has ten suppliers. 0 if that is no whole number.
-- name: external.scale
SELECT CASE WHEN {mod}count(s_suppkey){mod_by}10{of_mod} = 0 THEN count(s_suppkey) / 10 ELSE 0 END FROM supplier;

-- Which tables have rows, in the order of the schema.
-- name: external.rows
SELECT
    CASE WHEN EXISTS (SELECT 1 FROM region) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM nation) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM supplier) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM part) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM partsupp) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM customer) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM orders) THEN 1 ELSE 0 END,
    CASE WHEN EXISTS (SELECT 1 FROM lineitem) THEN 1 ELSE 0 END{dual};
