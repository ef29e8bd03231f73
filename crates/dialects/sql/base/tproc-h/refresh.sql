-- RF2 (clause 2.7): deletes the orders of a refresh set with their lines. Its keys lie from :first to :last, and are the
-- 8 from :eight on of each 32.

-- name: rf2.lineitem
DELETE FROM lineitem
WHERE l_orderkey BETWEEN :first AND :last AND {mod}l_orderkey{mod_by}32{of_mod} BETWEEN :eight AND :eight + 7;

-- name: rf2.orders
DELETE FROM orders
WHERE o_orderkey BETWEEN :first AND :last AND {mod}o_orderkey{mod_by}32{of_mod} BETWEEN :eight AND :eight + 7;

-- The rows that are there with the keys of a refresh set: key, number of the line, and a reference.

-- name: rf.orders
SELECT o_orderkey, 0, o_custkey
FROM orders
WHERE o_orderkey BETWEEN :first AND :last AND {mod}o_orderkey{mod_by}32{of_mod} BETWEEN :eight AND :eight + 7;

-- name: rf.lineitem
SELECT l_orderkey, l_linenumber, l_partkey
FROM lineitem
WHERE l_orderkey BETWEEN :first AND :last AND {mod}l_orderkey{mod_by}32{of_mod} BETWEEN :eight AND :eight + 7;
