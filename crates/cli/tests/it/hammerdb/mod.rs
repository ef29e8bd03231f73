//! Schemas as created by HammerDB, with our own routines behind its interfaces: `run` calls them as
//! they are, `check` reports conditions that such a program's rules do not keep, and only force
//! removes them.

use std::sync::OnceLock;

use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;
use crate::servers::name_of;

/// Routines on PostgreSQL, by HammerDB's `pg_storedprocs`.
const FUNCTIONS: &str = include_str!("postgres_functions.sql");
const PROCEDURES: &str = include_str!("postgres_procedures.sql");

/// A schema as HammerDB leaves it.
struct Schema {
    target: String,
    name: String,
    sql: fn(&str, &str) -> Vec<Vec<Option<String>>>,
}

impl Schema {
    /// Builds tables, and converts them to HammerDB's with these scripts.
    fn new(
        program: &Program,
        target: String,
        sql: fn(&str, &str) -> Vec<Vec<Option<String>>>,
        scripts: &[&str],
    ) -> Self {
        program.ok(&["build", &target, "--scale", "2", "--no-procedures", "--jobs", "2"]);
        let name = name_of(&target).to_owned();
        for script in scripts {
            sql(&name, script);
        }
        Self { target, name, sql }
    }

    fn postgres(program: &Program, routines: &[&str]) -> Self {
        /// The tables without routines, built once.
        static TABLES: OnceLock<String> = OnceLock::new();
        let server = PostgresServer::shared();
        let sql = |name: &str, sql: &str| PostgresServer::shared().run(name, sql).unwrap();
        let tables = TABLES.get_or_init(|| {
            let name = server.lasting_database("hammerdb_tables").unwrap();
            Self::new(program, server.url(&name), sql, &[include_str!("postgres.sql")]).name
        });
        let target = server.copy_of(tables).unwrap();
        let schema = Self { name: name_of(&target).to_owned(), target, sql };
        for script in routines {
            schema.change(script);
        }
        schema
    }

    fn mariadb(program: &Program, changes: &[&str]) -> Self {
        /// The tables with routines, built once.
        static TABLES: OnceLock<String> = OnceLock::new();
        let server = MariadbServer::shared();
        let sql = |name: &str, sql: &str| MariadbServer::shared().run(name, sql).unwrap();
        let tables = TABLES.get_or_init(|| {
            let name = server.lasting_database("hammerdb_tables").unwrap();
            Self::new(program, server.url(&name), sql, &[include_str!("mariadb.sql")]).name
        });
        let target = server.copy_of(tables).unwrap();
        let schema = Self { name: name_of(&target).to_owned(), target, sql };
        changes.iter().for_each(|script| schema.change(script));
        schema
    }

    fn change(&self, sql: &str) {
        (self.sql)(&self.name, sql);
    }

    /// The message of a rejected run.
    fn refused(&self, program: &Program, args: &[&str]) -> String {
        let run = ["run", self.target.as_str(), "--transactions", "10"];
        let done = program.run(&[&run, args].concat());
        assert_eq!(done.code, 2, "{}", done.err);
        done.err
    }

    fn number(&self, sql: &str) -> i64 {
        (self.sql)(&self.name, sql)[0][0].as_ref().unwrap().parse().unwrap()
    }
}

/// Runs on the schema and checks it, and shows that its tables belong to HammerDB.
fn drives(program: &Program, schema: &Schema) -> serde_json::Value {
    let target = schema.target.as_str();
    let run = ["run", target, "--vus", "3", "--transactions", "400"];
    let result = program.json(&run);
    assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{result:#}");
    assert_eq!(result["workload"]["scale"], 2);
    assert_eq!(result["workload"]["facts"]["made_by"], "HammerDB");
    assert_eq!(result["workload"]["facts"]["routines"], "hammerdb");
    let of_type = |place: usize, what: &str| {
        result["run"]["types"][place][what].as_i64().unwrap_or_else(|| panic!("{what}: {result:#}"))
    };
    for place in 0..5 {
        assert!(of_type(place, "committed") > 0, "{place}: {result:#}");
    }
    assert_eq!(
        schema.number("SELECT sum(d_next_o_id - 3001) FROM district"),
        of_type(0, "committed")
    );
    assert_eq!(schema.number("SELECT count(*) - 60000 FROM history"), of_type(1, "committed"));
    let whole = schema.number("SELECT count(*) FROM history WHERE h_amount <> floor(h_amount)");
    assert_eq!(whole, 0, "amounts are whole dollars");

    let checked = program.ok(&["check", target]);
    assert!(
        checked.contains("not checked: HammerDB created the tables by different rules"),
        "{checked}"
    );
    for condition in ["3.3.2.12", "13", "14"] {
        assert!(checked.contains(&format!("expected  {condition} ")), "{checked}");
    }
    assert!(checked.contains("by the rules of HammerDB"), "{checked}");
    (schema.sql)(&schema.name, "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2");
    let wrong = program.run(&["check", target]);
    assert!(wrong.code != 0 && wrong.out.contains("VIOLATED  3.3.2.1 "), "{}", wrong.out);

    for command in [&["drop", "--yes"][..], &["build"], &["build", "--replace"]] {
        let done = program.run(&[command, &[target]].concat());
        assert_eq!(done.code, 2, "{command:?}: {}", done.err);
        assert!(done.err.contains("created by HammerDB"), "{command:?}: {}", done.err);
    }
    for (args, message) in [
        (["--routines", "triphammer"], "HammerDB created the tables, so routines is hammerdb"),
        (["--mode", "statements"], "HammerDB created the tables, so a run needs mode procedures"),
        (["--scale", "7"], "2 warehouses, not 7"),
    ] {
        let done = program.run(&[&run[..], &args].concat());
        assert!(done.code == 2 && done.err.contains(message), "{args:?}: {}", done.err);
    }
    let tables =
        "SELECT count(*) FROM information_schema.tables WHERE table_name = 'triphammer_build'";
    let here = if target.starts_with("postgres") { "" } else { " AND table_schema = DATABASE()" };
    assert_eq!(schema.number(&format!("{tables}{here}")), 0, "nothing is recorded");
    result
}

#[test]
fn functions_on_postgresql_are_driven_as_they_are() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[FUNCTIONS]);
    let result = drives(&program, &schema);
    assert_eq!(result["round_trips"]["per_transaction"], 1.0);
    let simple = ["run", &schema.target, "--protocol", "simple", "--transactions", "200"];
    let result = program.json(&simple);
    assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{result:#}");
    program.ok(&["drop", &schema.target, "--yes", "--force"]);
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(schema.number(tables), 0);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn functions_of_the_oldest_version_are_driven_and_their_late_numbers_expected() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[FUNCTIONS, include_str!("postgres_3.sql")]);
    let result = drives(&program, &schema);
    assert_eq!(result["round_trips"]["per_transaction"], 1.0);
    let checked = program.run(&["check", &schema.target]);
    for condition in ["3.3.2.2", "3.3.2.3"] {
        assert!(checked.out.contains(&format!("expected  {condition} ")), "{}", checked.out);
    }
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn native_procedures_on_postgresql_are_driven_as_they_are() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[PROCEDURES]);
    let result = drives(&program, &schema);
    assert_eq!(result["round_trips"]["per_transaction"], 1.0);
    // As versions up to 4.0 declare it.
    schema.change(
        "DO $$ BEGIN EXECUTE replace(replace(
            pg_get_functiondef('payment'::regproc), 'INOUT c integer', 'INOUT c numeric'
        ), 'c_d, c, by_name', 'c_d, c::integer, by_name'); END $$;
        DROP PROCEDURE payment(
            integer, integer, integer, integer, integer, numeric, char, varchar, integer, varchar, varchar,
            varchar, char, char, varchar, varchar, varchar, char, char, varchar, char, varchar, varchar,
            varchar, char, char, char, timestamp, numeric, numeric, numeric, varchar, timestamp
        )",
    );
    let simple = ["run", &schema.target, "--protocol", "simple", "--transactions", "200"];
    let result = program.json(&simple);
    assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{result:#}");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn oracle_compatible_procedures_are_driven_and_their_silent_rollbacks_counted() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[PROCEDURES, include_str!("postgres_oracle.sql")]);
    let result = drives(&program, &schema);
    assert_asked_after_new_order(&result);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn rollbacks_by_rule_of_later_versions_are_counted_on_postgresql() {
    let program = Program::new();
    // As in versions after 6.0: a missing item raises, and the handler rolls back. In a function
    // that is an error; in a procedure it goes unnoticed.
    let rolls_back = |routine: &str| {
        let handler = "EXCEPTION WHEN no_data_found THEN ROLLBACK; END";
        format!(
            "DO $make$ BEGIN EXECUTE replace(replace(replace(
                pg_get_functiondef('neword'::regproc),
                '{routine}', 'IF random() < 0.1 THEN RAISE NO_DATA_FOUND; END IF; {routine}'
            ), 'END $function$', '{handler} $function$'), 'END $procedure$', '{handler} $procedure$');
            END $make$"
        )
    };
    let functions = Schema::postgres(&program, &[FUNCTIONS]);
    functions.change(&rolls_back("RETURN work_new_order"));
    let result = drives(&program, &functions);
    assert_eq!(result["round_trips"]["per_transaction"], 1.0);
    assert!(result["run"]["types"][0]["rolled_back"].as_i64().unwrap() > 0, "{result:#}");
    assert_eq!(result["run"]["types"][0]["failed"], 0);

    let procedures = Schema::postgres(&program, &[PROCEDURES]);
    procedures.change(&rolls_back("PERFORM work_new_order"));
    assert_asked_after_new_order(&drives(&program, &procedures));
}

#[test]
fn deadlocks_that_functions_cover_up_are_retried_as_such() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[FUNCTIONS]);
    // Both warehouses, in either order; and HammerDB's handler.
    schema.change(
        "ALTER DATABASE :name SET deadlock_timeout = '10ms';
        CREATE OR REPLACE FUNCTION payment(
            integer, integer, integer, integer, integer, integer, numeric, varchar, varchar, numeric
        ) RETURNS integer LANGUAGE plpgsql AS $$
        DECLARE
            either integer := 1 + floor(random() * 2);
        BEGIN
            PERFORM FROM warehouse WHERE w_id = either FOR UPDATE;
            PERFORM pg_sleep(0.01);
            PERFORM FROM warehouse WHERE w_id = 3 - either FOR UPDATE;
            RETURN work_payment($1, $2, $3, $4, $5, $6, $7, $8, localtimestamp);
        EXCEPTION WHEN deadlock_detected THEN
            ROLLBACK;
        END $$"
            .replace(":name", &schema.name)
            .as_str(),
    );
    let result = program.json(&[
        "run",
        &schema.target,
        "--vus",
        "4",
        "--transactions",
        "40",
        "--mix",
        "0,1,0,0,0",
        "--retries",
        "50",
    ]);
    let payment = &result["run"]["types"][1];
    assert_eq!(payment["committed"], 160, "{result:#}");
    assert_eq!(payment["failed"], 0);
    assert_eq!(payment["retries_by_class"][0]["class"], "deadlock", "{payment:#}");
    assert_eq!(schema.number("SELECT count(*) - 60000 FROM history"), 160);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn deadlocks_that_native_procedures_keep_to_themselves_are_found_and_retried() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[PROCEDURES]);
    // Both warehouses in either order; the handler rolls back, and the call returns as if it had worked.
    schema.change(
        "ALTER DATABASE :name SET deadlock_timeout = '10ms';
        CREATE FUNCTION either() RETURNS integer LANGUAGE sql AS
            'SELECT 1 + floor(random() * 2)::integer';
        DO $make$ BEGIN EXECUTE replace(replace(pg_get_functiondef('neword'::regproc),
            'UPDATE district', 'PERFORM FROM warehouse WHERE w_id = (SELECT either()) FOR UPDATE;
                                PERFORM pg_sleep(0.01);
                                PERFORM FROM warehouse FOR UPDATE;
                                UPDATE district'),
            'END $procedure$', 'EXCEPTION WHEN deadlock_detected THEN ROLLBACK; END $procedure$');
        END $make$"
            .replace(":name", &schema.name)
            .as_str(),
    );
    let run = ["run", &schema.target, "--vus", "4", "--transactions", "40", "--retries", "50"];
    let result = program.json(&[&run[..], &["--mix", "1,0,0,0,0"]].concat());
    assert_eq!(result["primary_metric"]["verification"]["verdict"], "verified", "{result:#}");
    let new_order = &result["run"]["types"][0];
    assert_eq!(new_order["committed"], 160, "{new_order:#}");
    assert_eq!(new_order["retries_by_class"][0]["class"], "deadlock", "{new_order:#}");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn procedures_on_mariadb_are_driven_as_they_are_and_their_silent_rollbacks_counted() {
    let program = Program::new();
    let schema = Schema::mariadb(&program, &[]);
    assert_asked_after_new_order(&drives(&program, &schema));
}

/// MariaDB checks rights when a statement is prepared: only what the mix needs is.
#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_user_who_may_call_routines_and_read_no_orders_runs_a_mix_without_new_order() {
    let program = Program::new();
    let schema = Schema::mariadb(&program, &[]);
    let read = ["warehouse", "district", "item", "stock", "customer", "order_line"];
    // Tables without a right are not even seen.
    let seen = ["orders", "new_order", "history"];
    let rights = read.map(|table| ("SELECT", table)).into_iter();
    let grants: Vec<_> = rights
        .chain(seen.map(|table| ("INSERT", table)))
        .map(|(right, table)| format!("GRANT {right} ON {}.{table} TO caller; ", schema.name))
        .collect();
    let (name, grants) = (&schema.name, grants.concat());
    schema.change(&format!(
        "CREATE USER caller IDENTIFIED BY 'r'; GRANT EXECUTE ON {name}.* TO caller; {grants}"
    ));
    let (scheme, rest) = schema.target.split_once("://").unwrap();
    let target = format!("{scheme}://caller:r@{}", rest.split_once('@').unwrap().1);
    let run = ["run", &target, "--vus", "2", "--transactions", "20", "--mix"];
    let result = program.json(&[&run[..], &["0,0,0,0,100"]].concat());
    assert_eq!(result["workload"]["facts"]["routines"], "hammerdb");
    assert_eq!(result["run"]["types"][4]["committed"], 40, "{result:#}");
    let refused = program.run(&[&run[..], &["100,0,0,0,0"]].concat());
    assert!(refused.code == 2 && refused.err.contains("1142"), "{}", refused.err);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn procedures_that_begin_no_transaction_get_a_session_that_does() {
    let program = Program::new();
    let schema = Schema::mariadb(&program, &[include_str!("mariadb_open.sql")]);
    let result = drives(&program, &schema);
    assert_eq!(result["run"]["types"][3]["failed"], 0, "{result:#}");
}

/// Orders were rolled back silently, and a second round trip checked each of them.
fn assert_asked_after_new_order(result: &serde_json::Value) {
    let new_order = &result["run"]["types"][0];
    assert!(new_order["rolled_back"].as_i64().unwrap() > 0, "{new_order:#}");
    let trips = result["round_trips"]["per_transaction"].as_f64().unwrap();
    assert!((1.2..1.7).contains(&trips), "{trips}");
}

/// The schema is HammerDB's, but a run has no routine to call: the message names it.
fn is_known_without_routines(program: &Program, schema: &Schema, lacks: &[&str]) {
    let refused = schema.refused(program, &[]);
    assert!(refused.contains("HammerDB created the tables"), "{refused}");
    for lack in lacks {
        assert!(refused.contains(lack), "`{lack}` is not in: {refused}");
    }
    let checked = program.ok(&["check", &schema.target]);
    assert!(checked.contains("HammerDB created the tables by different rules"), "{checked}");
    let dropped = program.run(&["drop", &schema.target, "--yes"]);
    assert!(dropped.code == 2 && dropped.err.contains("created by HammerDB"), "{}", dropped.err);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_schema_of_hammerdb_without_its_routines_is_known_and_what_is_wrong_is_said_on_postgresql() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[FUNCTIONS]);
    schema.change(
        "DROP FUNCTION slev, ostat; CREATE FUNCTION ostat(integer, integer, integer, integer)
         RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    );
    is_known_without_routines(
        &program,
        &schema,
        &[
            "SLEV is missing",
            "OSTAT is a function with 4 parameters (4 × integer), but HammerDB's functions take 5 \
             parameters (4 × number, text)",
        ],
    );
    schema.change("DROP FUNCTION ostat, neword, payment, delivery");
    is_known_without_routines(&program, &schema, &["NEWORD is missing", "PAYMENT is missing"]);

    // Nothing specific to HammerDB is left.
    schema.change(
        "DO $$ DECLARE name text; BEGIN
            FOR name IN SELECT indexname FROM pg_indexes WHERE schemaname = 'public' LOOP
                EXECUTE format('ALTER INDEX %I RENAME TO %I', name, 'our_' || name);
            END LOOP;
        END $$",
    );
    let refused = schema.refused(&program, &[]);
    assert!(refused.contains("triphammer did not create"), "{refused}");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_procedure_whose_parameters_have_another_order_is_named_with_both() {
    let program = Program::new();
    let schema = Schema::postgres(&program, &[PROCEDURES]);
    schema.change(
        "DROP PROCEDURE slev; CREATE PROCEDURE slev(d text, w integer, INOUT n jsonb)
         LANGUAGE sql AS $$ SELECT NULL::jsonb $$",
    );
    is_known_without_routines(
        &program,
        &schema,
        &["SLEV is a procedure with 3 parameters (text, integer, jsonb), but HammerDB's \
             procedures take 4 parameters (4 × number)"],
    );
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_schema_of_hammerdb_without_its_routines_is_known_and_what_is_wrong_is_said_on_mariadb() {
    let program = Program::new();
    let schema = Schema::mariadb(&program, &[]);
    schema.change(
        "DROP PROCEDURE slev; DROP PROCEDURE ostat; CREATE PROCEDURE ostat(a int, b varchar(5)) SELECT 1",
    );
    is_known_without_routines(
        &program,
        &schema,
        &[
            "SLEV is missing",
            "OSTAT is a procedure with 2 parameters (int, varchar), but HammerDB's procedures \
             take 11",
        ],
    );
    schema.change(
        "DROP PROCEDURE ostat; DROP PROCEDURE neword; DROP PROCEDURE payment; DROP PROCEDURE delivery",
    );
    is_known_without_routines(&program, &schema, &["NEWORD is missing", "PAYMENT is missing"]);
    schema.change("ALTER TABLE orders RENAME KEY o_w_id TO ours");
    let refused = schema.refused(&program, &[]);
    assert!(refused.contains("triphammer did not create"), "{refused}");
}

#[test]
fn routines_that_are_not_there_are_named() {
    let program = Program::new();
    let target = PostgresServer::shared().fresh_database("hammerdb").unwrap();
    program.ok(&["build", &target]);
    let run = ["run", &target, "--transactions", "10", "--routines", "hammerdb"];
    let done = program.run(&run);
    assert!(
        done.code != 0 && done.err.contains("HammerDB's routines cannot be called"),
        "{}",
        done.err
    );
}
