-- The remainder is a function here.

-- name: rf2.lineitem
DELETE FROM lineitem
WHERE l_orderkey BETWEEN :first AND :last AND mod(l_orderkey, 32) BETWEEN :eight AND :eight + 7;

-- name: rf2.orders
DELETE FROM orders
WHERE o_orderkey BETWEEN :first AND :last AND mod(o_orderkey, 32) BETWEEN :eight AND :eight + 7;
