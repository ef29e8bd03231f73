//! The same tests on every database server: both modes, a crash during a run, a killed build, too
//! many users, secrets. Product-specific tests are in separate files.

use std::process::Child;
use std::sync::OnceLock;

use triphammer_testbed::{
    MariadbOptions, MariadbServer, PostgresOptions, PostgresServer, Server, TestbedError,
};

use crate::program::{Messages, Program, finish, wait_until};

/// A server of any product, and what the tests need to know about it.
pub enum Site {
    Postgres(Box<PostgresServer>),
    Mariadb(Box<MariadbServer>),
}

#[derive(Clone, Copy, Debug)]
pub enum Product {
    Postgres,
    Mariadb,
}

pub use Product::{Mariadb, Postgres};

impl Site {
    /// A durable server with a maximum number of sessions.
    pub fn start(product: Product, max_connections: u32) -> Self {
        match product {
            Postgres => {
                let options =
                    PostgresOptions { fsync: true, max_connections, ..Default::default() };
                Self::Postgres(Box::new(PostgresServer::start(options).unwrap()))
            }
            Mariadb => {
                let options = MariadbOptions { fsync: true, max_connections, ..Default::default() };
                Self::Mariadb(Box::new(MariadbServer::start(options).unwrap()))
            }
        }
    }

    /// The one for tests that leave the server alone.
    pub fn shared(product: Product) -> &'static Self {
        static SHARED: [OnceLock<Site>; 2] = [const { OnceLock::new() }; 2];
        SHARED[product as usize].get_or_init(|| Self::start(product, 100))
    }

    pub fn fresh_database(&self) -> String {
        match self {
            Self::Postgres(server) => server.fresh_database("site").unwrap(),
            Self::Mariadb(server) => server.fresh_database("site").unwrap(),
        }
    }

    /// A database of the shared server with one warehouse of TPROC-C: a copy of one that was built once. No job of the
    /// program has built it.
    pub fn built(product: Product) -> String {
        static BUILT: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];
        let site = Self::shared(product);
        let built = BUILT[product as usize].get_or_init(|| {
            let (name, target) = site.lasting_database();
            Program::new().ok(&["build", &target, "--jobs", "2"]);
            name
        });
        match site {
            Self::Postgres(server) => server.copy_of(built).unwrap(),
            Self::Mariadb(server) => server.copy_of(built).unwrap(),
        }
    }

    /// Name and URL of a database that no test drops.
    fn lasting_database(&self) -> (String, String) {
        match self {
            Self::Postgres(server) => {
                let name = server.lasting_database("site").unwrap();
                (name.clone(), server.url(&name))
            }
            Self::Mariadb(server) => {
                let name = server.lasting_database("site").unwrap();
                (name.clone(), server.url(&name))
            }
        }
    }

    pub fn run(&self, database: &str, sql: &str) -> Vec<Vec<Option<String>>> {
        self.query(database, sql).unwrap()
    }

    /// Like `run`, for SQL that may fail.
    pub fn query(
        &self,
        database: &str,
        sql: &str,
    ) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
        match self {
            Self::Postgres(server) => server.run(database, sql),
            Self::Mariadb(server) => server.run(database, sql),
        }
    }

    pub fn server(&mut self) -> &mut Server {
        match self {
            Self::Postgres(server) => server,
            Self::Mariadb(server) => server,
        }
    }

    fn restart(&mut self) {
        match self {
            Self::Postgres(server) => server.restart().unwrap(),
            Self::Mariadb(server) => server.restart().unwrap(),
        }
    }

    fn password(&self) -> &'static str {
        match self {
            Self::Postgres(server) => server.password(),
            Self::Mariadb(server) => server.password(),
        }
    }

    /// Name of the product in the result document.
    fn product(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "PostgreSQL",
            Self::Mariadb(server) if server.is_mariadb() => "MariaDB",
            Self::Mariadb(_) => "MySQL",
        }
    }
}

/// Defines every test for every product. Some take long on MariaDB.
macro_rules! tests {
    ($($name:ident $(, postgres: $of_postgres:meta)? $(, mysql: $attribute:meta)?;)*) => {
        mod postgres { $(#[test] $(#[$of_postgres])? fn $name() { super::$name(super::Postgres) })* }
        mod mysql { $(#[test] $(#[$attribute])? fn $name() { super::$name(super::Mariadb) })* }
    };
}

pub(crate) use tests;

tests! {
    both_modes_run_and_leave_data_that_holds;
    a_server_killed_in_a_run_comes_back_and_the_counts_stay_within_their_bounds,
        mysql: ignore = "slow: tools/test-matrix.py slow";
    a_build_that_is_killed_is_resumed_to_the_same_rows,
        postgres: ignore = "slow: tools/test-matrix.py slow",
        mysql: ignore = "slow: tools/test-matrix.py slow";
    too_many_users_are_refused_with_how_many_connected;
    no_password_is_found_anywhere;
    who_may_only_read_checks;
}

/// The database in a URL.
pub fn name_of(target: &str) -> &str {
    target.rsplit('/').next().unwrap().split('?').next().unwrap()
}

pub fn verdict(result: &serde_json::Value) -> &str {
    result["primary_metric"]["verification"]["verdict"].as_str().unwrap()
}

fn both_modes_run_and_leave_data_that_holds(product: Product) {
    let program = Program::new();
    let site = Site::shared(product);
    // The other scheme of the two: the server reports its product.
    let target = site.fresh_database().replace("mariadb:", "mysql:");
    program.ok(&["build", &target, "--scale", "2", "--jobs", "2"]);
    assert!(program.ok(&["check", &target]).contains("all 36 conditions"));
    for mode in ["procedures", "statements"] {
        let run =
            ["run", &target, "--mode", mode, "--vus", "8", "--rampup", "1s", "--duration", "3s"];
        let result = program.json(&run);
        assert_eq!(verdict(&result), "verified", "{mode}");
        assert!(result["run"]["types"][0]["committed"].as_i64().unwrap() > 20, "{mode}");
        assert_eq!(result["server"]["product"], site.product());
    }
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
    assert!(program.ok(&["drop", &target, "--yes"]).contains("dropped"));
    let name = name_of(&target);
    let left = format!(
        "SELECT count(*) FROM information_schema.tables WHERE table_schema IN ('public', '{name}')"
    );
    assert_eq!(site.run(name, &left)[0][0].as_deref(), Some("0"));
}

fn a_server_killed_in_a_run_comes_back_and_the_counts_stay_within_their_bounds(product: Product) {
    let mut site = Site::start(product, 100);
    let program = Program::new();
    let target = site.fresh_database();
    program.ok(&["build", &target]);
    let run =
        ["run", &target, "--vus", "8", "--rampup", "1s", "--duration", "12s", "--max-failures"];
    let mut child = program.start(&[&run[..], &["100%", "--json"]].concat());
    Messages::by(&mut child).wait_for("timed");
    site.server().kill9();
    site.restart();
    let done = finish(child);
    assert_eq!(done.code, 0, "{}", done.err);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert!(
        ["verified", "within_bounds"].contains(&verdict(&result)),
        "{}",
        result["primary_metric"]
    );
    assert!(result["sessions"]["lost"].as_u64().unwrap() >= 8);
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

/// Kills a build when its first warehouse of three has been loaded.
fn kill_in_the_load(site: &Site, database: &str, mut build: Child) {
    let loaded = "SELECT count(*) FROM triphammer_build WHERE item LIKE 'part/warehouse%'";
    // The build creates the table.
    let number = || site.query(database, loaded).ok()?[0][0].as_deref()?.parse::<u32>().ok();
    wait_until(&mut build, "warehouses", || number().is_some_and(|loaded| loaded >= 1));
    build.kill().unwrap();
    build.wait().unwrap();
}

fn a_build_that_is_killed_is_resumed_to_the_same_rows(product: Product) {
    let program = Program::new();
    let site = Site::shared(product);
    let (whole, killed) = (site.fresh_database(), site.fresh_database());
    let build = |target| ["build", target, "--scale", "2", "--jobs", "1", "--seed", "7"];
    program.ok(&build(&whole));
    kill_in_the_load(site, name_of(&killed), program.start(&build(&killed)));
    assert!(program.ok(&build(&killed)).contains("resumed"));
    assert!(program.ok(&["check", &killed]).contains("all 36 conditions"));
    for sums in [
        "SELECT count(*), sum(s_quantity), min(s_dist_01), max(s_data) FROM stock",
        "SELECT count(*), sum(ol_amount), min(ol_dist_info), max(ol_dist_info) FROM order_line",
        "SELECT count(*), sum(c_discount), min(c_data), max(c_phone) FROM customer",
        "SELECT count(*), sum(o_c_id), sum(o_ol_cnt), sum(o_carrier_id) FROM orders",
        "SELECT count(*), min(i_name), max(i_data), sum(i_price) FROM item",
        "SELECT count(*), sum(h_c_id), min(h_data), max(h_data) FROM history",
    ] {
        assert_eq!(site.run(name_of(&whole), sums), site.run(name_of(&killed), sums), "{sums}");
    }
}

fn too_many_users_are_refused_with_how_many_connected(product: Product) {
    let site = Site::start(product, 20);
    let program = Program::new();
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b", "--jobs", "1"]);
    let done = program.run(&["run", &target, "--vus", "60", "--duration", "1s", "--rampup", "0s"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("of 60 virtual users"), "{}", done.err);
    assert!(done.err.to_lowercase().contains("too many c"), "{}", done.err);
    // Nothing has changed the data.
    let checked = program.ok(&["check", &target]);
    assert!(checked.contains("all 8 conditions"), "{checked}");
    program.ok(&["run", &target, "--vus", "2", "--transactions", "2"]);
    let checked = program.ok(&["check", &target]);
    assert!(checked.contains("all 5 conditions"), "{checked}");
}

fn who_may_only_read_checks(product: Product) {
    let site = Site::shared(product);
    let fresh = site.fresh_database();
    let database = name_of(&fresh);
    let program = Program::new();
    program.ok(&["build", &fresh, "--workload", "tpc-b"]);
    site.run(
        database,
        match product {
            Postgres => {
                "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'r'; \
                 GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
            }
            Mariadb => {
                "CREATE USER IF NOT EXISTS reader IDENTIFIED BY 'r'; GRANT SELECT ON *.* TO reader"
            }
        },
    );
    let (scheme, rest) = fresh.split_once("://").unwrap();
    let target = format!("{scheme}://reader:r@{}", rest.split_once('@').unwrap().1);
    let done = program.run(&["check", &target, "--workload", "tpc-b"]);
    assert_eq!(done.code, 0, "{}", done.err);
    // MariaDB checks rights when a statement is prepared: only what the mix needs is.
    let reads = ["run", &target, "--workload", "tpc-b", "--mix", "select-only"];
    let short = ["--vus", "2", "--rampup", "0s", "--transactions", "20"];
    program.ok(&[&reads[..], &short].concat());
    if matches!(product, Postgres) {
        site.run(database, "DROP OWNED BY reader; DROP ROLE reader");
        for name in ["nosuchschema", "$user", "pg_foo"] {
            for command in ["build", "run", "check", "drop"] {
                let mut args = vec![command, &fresh, "--workload", "tpc-b", "--schema", name];
                args.extend((command == "drop").then_some("--yes"));
                let done = program.run(&args);
                assert_eq!(done.code, 2, "{}", done.err);
                let words = match (name, command) {
                    ("pg_foo", "build") => "`pg_foo` belongs to the database system".to_owned(),
                    _ => format!("there is no schema \"{name}\" in database"),
                };
                assert!(done.err.contains(&words), "{command}: {}", done.err);
            }
        }
        let done = program.run(&["run", &fresh, "--workload", "tpc-b", "--schema", ""]);
        assert!(done.err.contains("--schema must not be empty"), "{}", done.err);
    }
}

fn no_password_is_found_anywhere(product: Product) {
    let secret = "p@:/#%'\" wörd";
    let site = Site::shared(product);
    let fresh = site.fresh_database();
    let database = name_of(&fresh);
    let escaped = secret.replace('\'', "''");
    let (user, variable, refusal) = match product {
        Postgres => (
            format!("CREATE ROLE hush LOGIN SUPERUSER PASSWORD '{escaped}'"),
            "PGPASSWORD",
            "password authentication failed",
        ),
        Mariadb => (
            format!("CREATE USER hush IDENTIFIED BY '{escaped}'; GRANT ALL ON *.* TO hush"),
            "MYSQL_PWD",
            "Access denied for user 'hush'",
        ),
    };
    site.run(database, &user);
    let mut program = Program::new();
    std::fs::write(program.path("pw"), format!("{secret}\n")).unwrap();
    let (scheme, rest) = fresh.split_once("://").unwrap();
    let target = format!("{scheme}://hush@{}", rest.split_once('@').unwrap().1);
    let mut said = String::new();
    for (args, code) in [
        (&["build", &target, "-w", "tpc-b", "--password-file", "pw"][..], 0),
        (&["run", &target, "--password-file", "pw", "--transactions", "5", "--vus", "1"], 0),
        (&["run", &target, "--password-file", "pw", "--transactions", "5", "--json"], 0),
        (&["run", &target, "--password-file", "pw", "--show-spec"], 0),
        (&["check", &target, "--password-file", "pw"], 0),
        (&["run", &target.replace("hush", "nobody"), "--password-file", "pw"], 2),
        (&["run", &target.replace(database, "gone"), "--password-file", "pw"], 2),
        (&["jobs", "--json"], 0),
        (&["report", "last"], 0),
    ] {
        let done = program.run(args);
        assert_eq!(done.code, code, "{args:?}: {}", done.err);
        said.push_str(&done.out);
        said.push_str(&done.err);
    }
    // A statement whose error repeats the password, which no file contains.
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let repeats = match product {
        Postgres => format!("SELECT CAST(convert_from(decode('{hex}', 'hex'), 'UTF8') AS integer)"),
        Mariadb => format!("SELECT extractvalue(1, concat('~', 0x{hex}))"),
    };
    std::fs::write(program.path("a.sql"), repeats + ";\n").unwrap();
    let script = ["run", &target, "--password-file", "pw", "-w", "script", "--script", "a.sql"];
    for args in [&["--transactions", "3"][..], &["--transactions", "3", "--json"]] {
        let failed = program.run(&[&script[..], args].concat());
        assert!(failed.out.contains("***"), "{failed:?}");
        said.push_str(&failed.out);
        said.push_str(&failed.err);
    }
    said.push_str(&program.ok(&["report", "last", "--format", "html"]));
    std::fs::remove_file(program.path("pw")).unwrap();
    for variable in ["TRIPHAMMER_PASSWORD", variable] {
        program.set(variable, "wrong-hunter2");
        let refused = program.run(&["run", &target]);
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains(refusal), "{}", refused.err);
        said.push_str(&refused.err);
    }
    for needle in [secret, "wrong-hunter2", "p@:/", site.password()] {
        assert!(!said.contains(needle), "{needle} is in the output: {said}");
        for (path, bytes) in program.files() {
            let found = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
            assert!(!found, "{needle} is in {}", path.display());
        }
    }
}
