-- The tables of `isolation`: rows on which users meet. Rows are new for each epoch of a run.

-- name: create.triphammer_isolation_list
CREATE TABLE triphammer_isolation_list (
    id       bigint NOT NULL,
    elements varchar(4000)
){table_options};

-- name: create.triphammer_isolation_register
CREATE TABLE triphammer_isolation_register (
    id      bigint NOT NULL,
    version bigint NOT NULL,
    amount  bigint NOT NULL
){table_options};

-- name: create.triphammer_isolation_set
CREATE TABLE triphammer_isolation_set (
    grp    bigint NOT NULL,
    member bigint NOT NULL
){table_options};

-- name: key.triphammer_isolation_list
ALTER TABLE triphammer_isolation_list ADD PRIMARY KEY (id);

-- name: key.triphammer_isolation_register
ALTER TABLE triphammer_isolation_register ADD PRIMARY KEY (id);

-- name: key.triphammer_isolation_set
ALTER TABLE triphammer_isolation_set ADD PRIMARY KEY (grp, member);
