//! Schemas of HammerDB's shape, with routines of our own behind its interfaces: `run` calls them as they
//! are, `check` tells what such a program's rules do not keep, and nothing removes them but force.

use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;

/// A schema as HammerDB leaves it.
struct Schema {
    target: String,
    name: String,
    sql: fn(&str, &str) -> Vec<Vec<Option<String>>>,
}

impl Schema {
    /// Builds tables, and makes HammerDB's of them by these scripts.
    fn new(
        program: &Program,
        target: String,
        sql: fn(&str, &str) -> Vec<Vec<Option<String>>>,
        scripts: &[&str],
    ) -> Self {
        program.ok(&["build", &target, "--scale", "2", "--no-procedures", "--jobs", "2"]);
        let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
        for script in scripts {
            sql(&name, script);
        }
        Self { target, name, sql }
    }

    fn postgres(program: &Program, routines: &str) -> Self {
        let target = PostgresServer::shared().fresh_database("hammerdb").unwrap();
        let sql = |name: &str, sql: &str| PostgresServer::shared().run(name, sql).unwrap();
        Self::new(program, target, sql, &[include_str!("postgres.sql"), routines])
    }

    fn mariadb(program: &Program) -> Self {
        let target = MariadbServer::shared().fresh_database("hammerdb").unwrap();
        let sql = |name: &str, sql: &str| MariadbServer::shared().run(name, sql).unwrap();
        Self::new(program, target, sql, &[include_str!("mariadb.sql")])
    }

    fn number(&self, sql: &str) -> i64 {
        (self.sql)(&self.name, sql)[0][0].as_ref().unwrap().parse().unwrap()
    }
}

/// Runs on the schema and checks it, and shows that its tables are nobody else's.
fn drives(program: &Program, schema: &Schema) -> serde_json::Value {
    let target = schema.target.as_str();
    let run = ["run", target, "--vus", "3", "--transactions", "400"];
    let result = program.json(&run);
    assert_eq!(result["headline"]["verification"]["verdict"], "verified", "{result:#}");
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
        assert!(done.err.contains("HammerDB made"), "{command:?}: {}", done.err);
    }
    for (args, message) in [
        (["--routines", "triphammer"], "HammerDB made the tables, so routines is hammerdb"),
        (["--mode", "statements"], "only procedures"),
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
    let schema = Schema::postgres(&program, include_str!("postgres_functions.sql"));
    let result = drives(&program, &schema);
    assert_eq!(result["round_trips"]["per_transaction"], 1.0);
    let simple = ["run", &schema.target, "--protocol", "simple", "--transactions", "200"];
    let result = program.json(&simple);
    assert_eq!(result["headline"]["verification"]["verdict"], "verified", "{result:#}");
    program.ok(&["drop", &schema.target, "--yes", "--force"]);
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(schema.number(tables), 0);
}

#[test]
fn procedures_on_postgresql_are_driven_as_they_are() {
    let program = Program::new();
    let schema = Schema::postgres(&program, include_str!("postgres_procedures.sql"));
    let result = drives(&program, &schema);
    assert_eq!(result["round_trips"]["per_transaction"], 1.0);
}

#[test]
fn procedures_on_mariadb_are_driven_as_they_are_and_their_silent_rollbacks_counted() {
    let program = Program::new();
    let schema = Schema::mariadb(&program);
    let result = drives(&program, &schema);
    let new_order = &result["run"]["types"][0];
    assert!(new_order["rolled_back"].as_i64().unwrap() > 0, "{new_order:#}");
    // A second one asks whether an order is there.
    let trips = result["round_trips"]["per_transaction"].as_f64().unwrap();
    assert!((1.2..1.7).contains(&trips), "{trips}");
}

#[test]
fn a_schema_without_hammerdbs_routines_is_not_taken_for_hammerdbs() {
    let program = Program::new();
    let schema = Schema::postgres(&program, include_str!("postgres_functions.sql"));
    // Another's routine of the name.
    (schema.sql)(
        &schema.name,
        "DROP FUNCTION slev; CREATE FUNCTION slev(integer) RETURNS integer \
                                LANGUAGE sql AS 'SELECT 1'",
    );
    let done = program.run(&["run", &schema.target, "--transactions", "10"]);
    assert!(done.code == 2 && done.err.contains("triphammer did not make"), "{}", done.err);
}

#[test]
fn routines_that_are_not_there_are_named() {
    let program = Program::new();
    let target = PostgresServer::shared().fresh_database("hammerdb").unwrap();
    program.ok(&["build", &target]);
    let run = ["run", &target, "--transactions", "10", "--routines", "hammerdb"];
    let done = program.run(&run);
    assert!(done.code != 0 && done.err.contains("no routines of HammerDB"), "{}", done.err);
}
