-- What the planner works with, as text: kind, table, name and description. At most 20,000
-- rows, and nothing that reads a table. Primary keys are in a table's own text.

-- name: fingerprint.objects
SELECT 'table' AS kind, table_name, '' AS name, sql AS what
FROM duckdb_tables()
WHERE database_name = current_database() AND schema_name = current_schema()
    AND table_name <> 'triphammer_build'
UNION ALL
SELECT 'index', table_name, index_name, CASE WHEN is_unique THEN 'UNIQUE ' ELSE '' END || expressions
FROM duckdb_indexes()
WHERE database_name = current_database() AND schema_name = current_schema()
UNION ALL
SELECT 'rows', table_name, '', CAST(estimated_size AS varchar)
FROM duckdb_tables()
WHERE database_name = current_database() AND schema_name = current_schema()
    AND table_name <> 'triphammer_build'
UNION ALL
SELECT 'bytes', 'the whole file', '', CAST(block_size * used_blocks AS varchar)
FROM pragma_database_size()
WHERE database_name = current_database()
ORDER BY 1, 2, 3
LIMIT 20000;

-- name: fingerprint.statistics
-- DuckDB keeps minimum, maximum and distinct values of each column as rows come in.
SELECT 'statistics' AS kind, 'all tables' AS table_name, '' AS name, 'gathered' AS what;
