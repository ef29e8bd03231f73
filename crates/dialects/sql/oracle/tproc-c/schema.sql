-- Not run against Oracle.
-- An identity cannot become a key where it is added.
-- name: history_key.history
ALTER TABLE history ADD (h_id {bigint} GENERATED ALWAYS AS IDENTITY);
ALTER TABLE history ADD PRIMARY KEY (h_id);

-- Those of --hash-clusters. One that is not empty is somebody else's (ORA-00951).
-- name: after_drop.clusters
BEGIN
    FOR made IN (
        SELECT owner, cluster_name FROM all_clusters
        WHERE owner = sys_context('USERENV', 'CURRENT_SCHEMA')
          AND cluster_name IN ('WAREHOUSE_CLUSTER', 'DISTRICT_CLUSTER', 'ITEM_CLUSTER', 'STOCK_CLUSTER')
    ) LOOP
        BEGIN
            EXECUTE IMMEDIATE 'DROP CLUSTER "' || made.owner || '"."' || made.cluster_name || '"';
        EXCEPTION
            WHEN OTHERS THEN IF SQLCODE <> -951 THEN RAISE; END IF;
        END;
    END LOOP;
END;
