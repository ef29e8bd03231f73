-- The table of a drill. A duplicate of a commit differs in its attempt, so the key lets it in.

-- name: create.triphammer_drill
CREATE TABLE triphammer_drill (
    usr     int NOT NULL,
    seq     bigint NOT NULL,
    attempt bigint NOT NULL,
    input   bigint NOT NULL,
    prev    bigint NOT NULL,
    hash    bigint NOT NULL
){table_options};

-- name: key.triphammer_drill
ALTER TABLE triphammer_drill ADD PRIMARY KEY (usr, seq, attempt);
