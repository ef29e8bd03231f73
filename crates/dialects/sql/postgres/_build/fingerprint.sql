-- What the planner works with, as text: kind, table, name and description. At most 20,000
-- rows, and nothing that reads a table. Partitions count as part of their table.

-- name: fingerprint.objects
WITH tables AS (
    SELECT c.oid, c.relname, c.reltuples, c.relkind, c.relam
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
        AND c.relname <> 'triphammer_build'
        AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid)
), stores AS (
    SELECT oid, oid AS root FROM tables
    UNION ALL
    SELECT i.inhrelid, i.inhparent FROM pg_inherits i JOIN tables t ON t.oid = i.inhparent
)
SELECT 'table' AS kind, CAST(t.relname AS text) AS table_name, '' AS name, string_agg(
    a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY a.attnum) AS what
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
GROUP BY t.relname
UNION ALL
SELECT 'index', CAST(t.relname AS text), CAST(c.relname AS text),
    CASE WHEN i.indisvalid THEN '' ELSE 'INVALID ' END
        || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END
        || coalesce(substring(pg_get_indexdef(i.indexrelid) FROM ' USING (.*)$'), '')
FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
UNION ALL
SELECT 'constraint', CAST(t.relname AS text), CAST(k.conname AS text), pg_get_constraintdef(k.oid)
FROM tables t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype IN ('p', 'u', 'f', 'c', 'x')
UNION ALL
SELECT 'engine', CAST(t.relname AS text), '',
    coalesce('partitioned by ' || pg_get_partkeydef(t.oid), CAST(a.amname AS text))
FROM tables t LEFT JOIN pg_am a ON a.oid = t.relam
WHERE a.amname <> 'heap' OR t.relkind = 'p'
UNION ALL
SELECT 'rows', CAST(t.relname AS text), '', CAST(CAST(t.reltuples AS int8) AS text)
FROM tables t WHERE t.reltuples >= 0
UNION ALL
SELECT 'bytes', CAST(t.relname AS text), '', CAST(sum(pg_table_size(s.oid)) AS text)
FROM stores s JOIN tables t ON t.oid = s.root GROUP BY t.relname
UNION ALL
SELECT 'index_bytes', CAST(t.relname AS text), '', CAST(sum(pg_indexes_size(s.oid)) AS text)
FROM stores s JOIN tables t ON t.oid = s.root GROUP BY t.relname
ORDER BY 1, 2, 3
LIMIT 20000;

-- name: fingerprint.statistics
-- Seconds since they were gathered, or never.
SELECT 'statistics' AS kind, CAST(s.relname AS text) AS table_name, '' AS name, coalesce(
    CAST(CAST(extract(epoch FROM now() - greatest(s.last_analyze, s.last_autoanalyze)) AS int8)
        AS text),
    CASE WHEN c.reltuples < 0 THEN 'never' ELSE 'gathered' END) AS what
FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
WHERE s.schemaname = current_schema() AND s.relname <> 'triphammer_build'
    AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid)
ORDER BY 2
LIMIT 201;
