-- A text by which tables of another program are recognised: the address of the first supplier.

-- name: answers.text
SELECT s_address FROM supplier WHERE s_suppkey = 1;
