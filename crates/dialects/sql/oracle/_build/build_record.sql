-- Not run against Oracle.
-- Before 23ai neither CREATE nor DROP has a condition: an existing table is error 955, a missing one 942.

-- name: build_record.create
BEGIN
    EXECUTE IMMEDIATE 'CREATE TABLE triphammer_build (
        workload varchar2(64) NOT NULL,
        item     varchar2(128) NOT NULL,
        value    varchar2(4000) NOT NULL,
        PRIMARY KEY (workload, item)
    )';
EXCEPTION
    WHEN OTHERS THEN IF SQLCODE <> -955 THEN RAISE; END IF;
END;

-- name: build_record.drop
BEGIN
    EXECUTE IMMEDIATE 'DROP TABLE triphammer_build';
EXCEPTION
    WHEN OTHERS THEN IF SQLCODE <> -942 THEN RAISE; END IF;
END;
