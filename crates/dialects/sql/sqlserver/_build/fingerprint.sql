-- What the planner works with, as text: kind, table, name and description. At most 20,000
-- rows, and nothing that reads a table.

-- name: fingerprint.objects
SELECT kind, table_name, name, what
FROM (
    SELECT 'table' AS kind, CAST(c.TABLE_NAME AS nvarchar(128)) AS table_name, CAST('' AS nvarchar(128)) AS name,
           CAST(STRING_AGG(CAST(c.item AS nvarchar(max)), ', ') WITHIN GROUP (ORDER BY c.place) AS nvarchar(max)) AS what
    FROM (
        SELECT TABLE_NAME, ORDINAL_POSITION AS place,
               concat(COLUMN_NAME, ' ', DATA_TYPE,
                      CASE WHEN CHARACTER_MAXIMUM_LENGTH IS NOT NULL THEN concat('(', CHARACTER_MAXIMUM_LENGTH, ')')
                          WHEN DATA_TYPE IN ('decimal', 'numeric')
                          THEN concat('(', NUMERIC_PRECISION, ',', NUMERIC_SCALE, ')') ELSE '' END,
                      CASE WHEN IS_NULLABLE = 'NO' THEN ' NOT NULL' ELSE '' END) AS item
        FROM INFORMATION_SCHEMA.COLUMNS
        WHERE TABLE_SCHEMA = SCHEMA_NAME() AND TABLE_NAME <> 'triphammer_build'
    ) c
    GROUP BY c.TABLE_NAME
    UNION ALL
    SELECT 'index', CAST(i.table_name AS nvarchar(128)), CAST(i.index_name AS nvarchar(128)),
           CAST(concat(i.is_unique, i.type_desc, ' (',
               STRING_AGG(CAST(i.column_name AS nvarchar(max)), ', ') WITHIN GROUP (ORDER BY i.place), ')') AS nvarchar(max))
    FROM (
        -- The server makes up the names of unnamed keys.
        SELECT t.name AS table_name, CASE WHEN i.is_primary_key = 1 THEN 'primary key' ELSE i.name END AS index_name,
               i.type_desc, k.key_ordinal AS place, c.name AS column_name,
               CASE WHEN i.is_unique = 1 THEN 'UNIQUE ' ELSE '' END AS is_unique
        FROM sys.tables t
        JOIN sys.indexes i ON i.object_id = t.object_id
        JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
        JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
        WHERE t.schema_id = SCHEMA_ID() AND t.name <> 'triphammer_build' AND k.key_ordinal > 0
    ) i
    GROUP BY i.table_name, i.index_name, i.is_unique, i.type_desc
    UNION ALL
    SELECT 'rows', CAST(t.name AS nvarchar(128)), CAST('' AS nvarchar(128)), CAST(sum(p.rows) AS nvarchar(max))
    FROM sys.tables t
    JOIN sys.partitions p ON p.object_id = t.object_id AND p.index_id < 2
    WHERE t.schema_id = SCHEMA_ID() AND t.name <> 'triphammer_build'
    GROUP BY t.name
) facts
ORDER BY kind, table_name, name
OFFSET 0 ROWS FETCH NEXT 20000 ROWS ONLY;
