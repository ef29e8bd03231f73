-- What the planner works with, as text: kind, table, name and description. At most 20,000
-- rows, and nothing that reads a table. Constraints are in a table's own text.

-- name: fingerprint.objects
SELECT 'table' AS kind, t.name AS table_name, '' AS name, t.sql AS what
FROM sqlite_schema t
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name <> 'triphammer_build'
UNION ALL
SELECT 'index', t.name, i.name, CASE WHEN i."unique" THEN 'UNIQUE ' ELSE '' END || '('
    || (SELECT group_concat(coalesce(c.name, 'rowid'), ', ') FROM pragma_index_info(i.name) c) || ')'
FROM sqlite_schema t JOIN pragma_index_list(t.name) i
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name <> 'triphammer_build'
UNION ALL
SELECT 'bytes', 'the whole file', '', CAST(c.page_count * s.page_size AS text)
FROM pragma_page_count c, pragma_page_size s
ORDER BY 1, 2, 3
LIMIT 20000;

-- name: fingerprint.statistics
-- SQLite does not record when.
SELECT 'statistics' AS kind, 'all tables' AS table_name, '' AS name,
    CASE WHEN EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1')
        THEN 'gathered' ELSE 'never' END AS what;
