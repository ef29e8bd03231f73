-- Not run against Db2.
-- An existing name is SQLSTATE 42710, a missing one 42704.

-- name: build_record.create
BEGIN
    DECLARE CONTINUE HANDLER FOR SQLSTATE '42710' BEGIN END;
    EXECUTE IMMEDIATE 'CREATE TABLE triphammer_build (
        workload varchar(64) NOT NULL,
        item     varchar(128) NOT NULL,
        value    varchar(4000) NOT NULL,
        PRIMARY KEY (workload, item)
    ){record_options}';
END

-- name: build_record.drop
BEGIN
    DECLARE CONTINUE HANDLER FOR SQLSTATE '42704' BEGIN END;
    EXECUTE IMMEDIATE 'DROP TABLE triphammer_build';
END
