-- The conditions that `check` verifies, over thousandths of the scale factor from :first to :last: each has 10
-- suppliers, 200 parts with 4 suppliers each, 150 customers and 1500 orders. No row when the condition holds, else
-- the number of violations and the first one's key.
--
-- Order number n has the key 4n - 3(n mod 8): of each 32 keys the first 8 are used (clause 4.2.3).

-- name: check.fixed
SELECT 1, concat('regions=', {text_of}regions{of_text}, ' nations=', {text_of}nations{of_text})
FROM (
    SELECT (SELECT count(*) FROM region WHERE r_regionkey BETWEEN 0 AND 4) AS regions,
           (SELECT count(*) FROM nation WHERE n_nationkey BETWEEN 0 AND 24) AS nations{dual}
) counts
WHERE (regions <> 5 OR nations <> 25) AND :first <= :last;

-- name: check.suppliers
SELECT abs((:last - :first + 1) * 10 - count(*)), concat('suppliers=', {text_of}count(*){of_text})
FROM supplier
WHERE s_suppkey BETWEEN (:first - 1) * 10 + 1 AND :last * 10
HAVING count(*) <> (:last - :first + 1) * 10;

-- name: check.parts
SELECT abs((:last - :first + 1) * 200 - count(*)), concat('parts=', {text_of}count(*){of_text})
FROM part
WHERE p_partkey BETWEEN (:first - 1) * 200 + 1 AND :last * 200
HAVING count(*) <> (:last - :first + 1) * 200;

-- A part that has lost all suppliers has a row of its own on the other side of the union.
-- name: check.partsupps
SELECT count(*) OVER (), concat('p_partkey=', {text_of}partkey{of_text}, ' suppliers=', {text_of}count(suppkey){of_text})
FROM (
    SELECT ps_partkey AS partkey, ps_suppkey AS suppkey
    FROM partsupp
    WHERE ps_partkey BETWEEN (:first - 1) * 200 + 1 AND :last * 200
    UNION ALL
    SELECT p_partkey, NULL FROM part WHERE p_partkey BETWEEN (:first - 1) * 200 + 1 AND :last * 200
) sides
GROUP BY partkey
HAVING count(suppkey) <> 4
ORDER BY partkey
{limit}1{of_limit};

-- name: check.customers
SELECT abs((:last - :first + 1) * 150 - count(*)), concat('customers=', {text_of}count(*){of_text})
FROM customer
WHERE c_custkey BETWEEN (:first - 1) * 150 + 1 AND :last * 150
HAVING count(*) <> (:last - :first + 1) * 150;

-- name: check.orders
SELECT abs((:last - :first + 1) * 1500 - count(*)), concat('orders=', {text_of}count(*){of_text})
FROM orders
WHERE o_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
        AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
    AND {mod}o_orderkey{mod_by}32{of_mod} < 8
HAVING count(*) <> (:last - :first + 1) * 1500;

-- name: check.lines
SELECT count(*) OVER (), concat('o_orderkey=', {text_of}orderkey{of_text}, ' lines=', {text_of}count(line){of_text})
FROM (
    SELECT l_orderkey AS orderkey, l_linenumber AS line
    FROM lineitem
    WHERE l_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
        AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
    UNION ALL
    SELECT o_orderkey, NULL
    FROM orders
    WHERE o_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
        AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
) sides
GROUP BY orderkey
HAVING count(line) NOT BETWEEN 1 AND 7 OR min(line) <> 1 OR max(line) <> count(line)
    OR count(*) <> count(line) + 1
ORDER BY orderkey
{limit}1{of_limit};

-- dbgen cuts off a fraction of a cent twice per line, before and after the tax.
-- name: check.totals
SELECT count(*) OVER (), concat('o_orderkey=', {text_of}o_orderkey{of_text})
FROM orders JOIN lineitem ON l_orderkey = o_orderkey
WHERE o_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
    AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
GROUP BY o_orderkey, o_totalprice, o_orderstatus, o_orderdate
HAVING abs(sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) - o_totalprice) > 0.03 * count(*)
    OR o_orderstatus <> CASE
        WHEN min(l_linestatus) = 'O' THEN 'O'
        WHEN max(l_linestatus) = 'F' THEN 'F'
        ELSE 'P' END
    OR min(l_shipdate) <= o_orderdate
ORDER BY o_orderkey
{limit}1{of_limit};

-- name: check.prices
SELECT count(*) OVER (), concat('l_orderkey=', {text_of}l_orderkey{of_text}, ' l_linenumber=', {text_of}l_linenumber{of_text})
FROM lineitem LEFT JOIN part ON p_partkey = l_partkey
WHERE l_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
    AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
    AND (p_partkey IS NULL OR abs(l_extendedprice - l_quantity * p_retailprice) > 0.005
        OR l_receiptdate <= l_shipdate)
ORDER BY l_orderkey, l_linenumber
{limit}1{of_limit};

-- name: check.references
SELECT count(*) OVER (), missing
FROM (
    SELECT concat('s_suppkey=', {text_of}s_suppkey{of_text}) AS missing
    FROM supplier LEFT JOIN nation ON n_nationkey = s_nationkey
    WHERE s_suppkey BETWEEN (:first - 1) * 10 + 1 AND :last * 10 AND n_nationkey IS NULL
    UNION ALL
    SELECT concat('c_custkey=', {text_of}c_custkey{of_text})
    FROM customer LEFT JOIN nation ON n_nationkey = c_nationkey
    WHERE c_custkey BETWEEN (:first - 1) * 150 + 1 AND :last * 150 AND n_nationkey IS NULL
    UNION ALL
    SELECT concat('ps_partkey=', {text_of}ps_partkey{of_text}, ' ps_suppkey=', {text_of}ps_suppkey{of_text})
    FROM partsupp LEFT JOIN supplier ON s_suppkey = ps_suppkey
    WHERE ps_partkey BETWEEN (:first - 1) * 200 + 1 AND :last * 200 AND s_suppkey IS NULL
    UNION ALL
    SELECT concat('o_orderkey=', {text_of}o_orderkey{of_text})
    FROM orders LEFT JOIN customer ON c_custkey = o_custkey
    WHERE o_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
            AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
        AND (c_custkey IS NULL OR {mod}c_custkey{mod_by}3{of_mod} = 0)
    UNION ALL
    SELECT concat('l_orderkey=', {text_of}l_orderkey{of_text}, ' l_linenumber=', {text_of}l_linenumber{of_text})
    FROM lineitem LEFT JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
    WHERE l_orderkey BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
            AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
        AND ps_partkey IS NULL
) sides
ORDER BY missing
{limit}1{of_limit};

-- Refresh sets use the keys that the load leaves out.
-- name: check.refresh
SELECT count(*) OVER (), concat('o_orderkey=', {text_of}o_orderkey{of_text})
FROM orders
WHERE {mod}o_orderkey{mod_by}32{of_mod} >= 8 AND :first <= :last
ORDER BY o_orderkey
{limit}1{of_limit};

-- name: check.beyond
SELECT count(*) OVER (), beyond
FROM (
    SELECT concat('r_regionkey=', {text_of}r_regionkey{of_text}) AS beyond
    FROM region
    WHERE r_regionkey NOT BETWEEN 0 AND 4
    UNION ALL
    SELECT concat('n_nationkey=', {text_of}n_nationkey{of_text}) FROM nation WHERE n_nationkey NOT BETWEEN 0 AND 24
    UNION ALL
    SELECT concat('s_suppkey=', {text_of}s_suppkey{of_text})
    FROM supplier
    WHERE s_suppkey NOT BETWEEN (:first - 1) * 10 + 1 AND :last * 10
    UNION ALL
    SELECT concat('p_partkey=', {text_of}p_partkey{of_text})
    FROM part
    WHERE p_partkey NOT BETWEEN (:first - 1) * 200 + 1 AND :last * 200
    UNION ALL
    SELECT concat('ps_partkey=', {text_of}ps_partkey{of_text}, ' ps_suppkey=', {text_of}ps_suppkey{of_text})
    FROM partsupp
    WHERE ps_partkey NOT BETWEEN (:first - 1) * 200 + 1 AND :last * 200
    UNION ALL
    SELECT concat('c_custkey=', {text_of}c_custkey{of_text})
    FROM customer
    WHERE c_custkey NOT BETWEEN (:first - 1) * 150 + 1 AND :last * 150
    UNION ALL
    SELECT concat('o_orderkey=', {text_of}o_orderkey{of_text})
    FROM orders
    WHERE o_orderkey NOT BETWEEN 4 * ((:first - 1) * 1500 + 1) - 3 * ({mod}((:first - 1) * 1500 + 1){mod_by}8{of_mod})
            AND 4 * :last * 1500 - 3 * ({mod}:last * 1500{mod_by}8{of_mod})
        AND {mod}o_orderkey{mod_by}32{of_mod} < 8
    UNION ALL
    SELECT concat('l_orderkey=', {text_of}l_orderkey{of_text}, ' l_linenumber=', {text_of}l_linenumber{of_text})
    FROM lineitem LEFT JOIN orders ON o_orderkey = l_orderkey
    WHERE o_orderkey IS NULL
) sides
ORDER BY beyond
{limit}1{of_limit};
