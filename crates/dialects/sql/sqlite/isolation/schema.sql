-- A primary key cannot be added later.

-- name: create.triphammer_isolation_list
CREATE TABLE triphammer_isolation_list (
    id       integer NOT NULL PRIMARY KEY,
    elements text
);

-- name: create.triphammer_isolation_register
CREATE TABLE triphammer_isolation_register (
    id      integer NOT NULL PRIMARY KEY,
    version integer NOT NULL,
    amount  integer NOT NULL
);

-- name: create.triphammer_isolation_set
CREATE TABLE triphammer_isolation_set (
    grp    integer NOT NULL,
    member integer NOT NULL,
    PRIMARY KEY (grp, member)
) WITHOUT ROWID;

-- name: key.triphammer_isolation_list

-- name: key.triphammer_isolation_register

-- name: key.triphammer_isolation_set
