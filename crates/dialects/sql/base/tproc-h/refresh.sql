-- RF2 (clause 2.7): deletes the orders of a refresh set with their lines. Its keys lie from :first to :last, and are the
-- 8 from :eight on of each 32.

-- name: rf2.lineitem
DELETE FROM lineitem
WHERE l_orderkey BETWEEN :first AND :last AND {mod}l_orderkey{mod_by}32{of_mod} BETWEEN :eight AND :eight + 7;

-- name: rf2.orders
DELETE FROM orders
WHERE o_orderkey BETWEEN :first AND :last AND {mod}o_orderkey{mod_by}32{of_mod} BETWEEN :eight AND :eight + 7;
