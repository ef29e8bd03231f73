-- A primary key cannot be added later.

-- name: create.triphammer_drill
CREATE TABLE triphammer_drill (
    usr     integer NOT NULL,
    seq     integer NOT NULL,
    attempt integer NOT NULL,
    input   integer NOT NULL,
    prev    integer NOT NULL,
    hash    integer NOT NULL,
    PRIMARY KEY (usr, seq, attempt)
) WITHOUT ROWID;

-- name: key.triphammer_drill
