-- The three tables that CH-benCHmark adds to those of TPROC-C. A stock row belongs to the supplier with the key
-- (s_w_id * s_i_id) modulo 10,000, a customer to the nation whose key is the code of the first character of
-- c_state; neither is a foreign key.

-- name: create.region
CREATE TABLE region (
    r_regionkey integer NOT NULL,
    r_name      varchar(25) NOT NULL,
    r_comment   varchar(152) NOT NULL
){table_options};

-- name: create.nation
CREATE TABLE nation (
    n_nationkey integer NOT NULL,
    n_name      varchar(25) NOT NULL,
    n_regionkey integer NOT NULL,
    n_comment   varchar(152) NOT NULL
){table_options};

-- name: create.supplier
CREATE TABLE supplier (
    su_suppkey   integer NOT NULL,
    su_name      varchar(25) NOT NULL,
    su_address   varchar(40) NOT NULL,
    su_nationkey integer NOT NULL,
    su_phone     char(15) NOT NULL,
    su_acctbal   decimal(12, 2) NOT NULL,
    su_comment   varchar(101) NOT NULL
){table_options};

-- name: key.region
ALTER TABLE region ADD PRIMARY KEY (r_regionkey);

-- name: key.nation
ALTER TABLE nation ADD PRIMARY KEY (n_nationkey);

-- name: key.supplier
ALTER TABLE supplier ADD PRIMARY KEY (su_suppkey);

-- name: foreign_key.nation
ALTER TABLE nation ADD CONSTRAINT nation_fk FOREIGN KEY (n_regionkey) REFERENCES region (r_regionkey);

-- name: foreign_key.supplier
ALTER TABLE supplier ADD CONSTRAINT supplier_fk FOREIGN KEY (su_nationkey) REFERENCES nation (n_nationkey);

-- name: analyze.region
{analyze} region{of_analyze};

-- name: analyze.nation
{analyze} nation{of_analyze};

-- name: analyze.supplier
{analyze} supplier{of_analyze};
