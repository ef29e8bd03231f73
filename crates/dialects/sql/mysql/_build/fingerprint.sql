-- What the planner works with, as text: kind, table, name and description. At most 20,000
-- rows, and nothing that reads a table.

-- name: fingerprint.objects
SELECT 'table' AS kind, CAST(c.table_name AS char) AS table_name, '' AS name, CAST(GROUP_CONCAT(
    c.column_name, ' ', c.column_type, IF(c.is_nullable = 'NO', ' NOT NULL', '')
    ORDER BY c.ordinal_position SEPARATOR ', ') AS char) AS what
FROM information_schema.columns c
WHERE c.table_schema = DATABASE() AND c.table_name <> 'triphammer_build'
GROUP BY c.table_name
UNION ALL
SELECT 'index', CAST(s.table_name AS char), CAST(s.index_name AS char), CAST(CONCAT(
    IF(MAX(s.non_unique) = 0, 'UNIQUE ', ''), MAX(s.index_type), ' (',
    GROUP_CONCAT(s.column_name ORDER BY s.seq_in_index SEPARATOR ', '), ')') AS char)
FROM information_schema.statistics s
WHERE s.table_schema = DATABASE() AND s.table_name <> 'triphammer_build'
GROUP BY s.table_name, s.index_name
UNION ALL
SELECT 'constraint', CAST(k.table_name AS char), CAST(k.constraint_name AS char), CAST(CONCAT(
    MAX(k.constraint_type), ' (',
    COALESCE(GROUP_CONCAT(u.column_name ORDER BY u.ordinal_position SEPARATOR ', '), ''), ')',
    COALESCE(CONCAT(' REFERENCES ', MAX(u.referenced_table_name), ' (',
        GROUP_CONCAT(u.referenced_column_name ORDER BY u.ordinal_position SEPARATOR ', '), ')'), '')
    ) AS char)
FROM information_schema.table_constraints k
LEFT JOIN information_schema.key_column_usage u ON u.constraint_schema = k.constraint_schema
    AND u.table_name = k.table_name AND u.constraint_name = k.constraint_name
WHERE k.constraint_schema = DATABASE() AND k.table_name <> 'triphammer_build'
GROUP BY k.table_name, k.constraint_name
UNION ALL
SELECT 'engine', CAST(t.table_name AS char), '', CAST(CONCAT(t.engine, ' ', t.row_format,
    IF(t.create_options LIKE '%partitioned%', ' partitioned', '')) AS char)
FROM information_schema.tables t
WHERE t.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
    AND t.table_name <> 'triphammer_build'
UNION ALL
SELECT 'rows', CAST(t.table_name AS char), '', CAST(t.table_rows AS char)
FROM information_schema.tables t
WHERE t.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
    AND t.table_name <> 'triphammer_build'
UNION ALL
SELECT 'bytes', CAST(t.table_name AS char), '', CAST(t.data_length AS char)
FROM information_schema.tables t
WHERE t.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
    AND t.table_name <> 'triphammer_build'
UNION ALL
SELECT 'index_bytes', CAST(t.table_name AS char), '', CAST(t.index_length AS char)
FROM information_schema.tables t
WHERE t.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')
    AND t.table_name <> 'triphammer_build'
ORDER BY 1, 2, 3
LIMIT 20000;

-- name: fingerprint.statistics
-- Seconds since InnoDB gathered them, of a partitioned table (`orders#p#p1992_01`) the most. Needs the right to
-- read the schema `mysql`.
SELECT 'statistics' AS kind, CAST(SUBSTRING_INDEX(s.table_name, '#', 1) AS char) AS table_name,
    '' AS name, CAST(MAX(TIMESTAMPDIFF(SECOND, s.last_update, NOW())) AS char) AS what
FROM mysql.innodb_table_stats s
WHERE s.database_name = DATABASE() AND s.table_name <> 'triphammer_build'
GROUP BY SUBSTRING_INDEX(s.table_name, '#', 1)
ORDER BY 2
LIMIT 201;
