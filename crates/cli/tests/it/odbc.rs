//! ODBC: the guide's example, and what can be wrong outside the program: no driver manager, no data
//! source, a driver that crashes, one without transactions.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use triphammer_drivers::TargetUrl;
use triphammer_testbed::{BabelfishServer, MariadbServer, OdbcDriver, PostgresServer};

use crate::program::{Done, Program, finish};

/// The dialect of the guide, which is not part of the program.
fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/sqlite-odbc").to_owned()
}

/// The connection string for what a URL names.
pub fn connection(driver: &str, host: &str, url: &str) -> String {
    let url = TargetUrl::parse(url).unwrap();
    format!(
        "odbc:Driver={{{driver}}};{host}={};Port={};UID={};Database={}",
        url.hosts[0].name,
        url.hosts[0].port.unwrap(),
        url.user.as_deref().unwrap(),
        url.database().unwrap()
    )
}

#[test]
fn the_guides_example_is_built_run_checked_and_dropped() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/odbc.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let program = Program::new();
    let folder = program.path("docs/examples");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(example(), folder.join("sqlite-odbc")).unwrap();
    let commands: Vec<_> =
        guide.lines().filter_map(|line| line.strip_prefix("$ triphammer ")).collect();
    let of_example = |command: &&&str| command.contains("Driver={SQLite3}");
    let commands: Vec<_> = commands.iter().filter(of_example).collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for command in commands {
        let args: Vec<_> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
        let done = program.run(&args);
        assert_eq!(done.code, 0, "{command}\n{}\n{}", done.out, done.err);
        match args[0] {
            "check" => assert!(done.out.contains("all 17 conditions"), "{}", done.out),
            "run" => assert!(done.out.contains("NOPM"), "{}", done.out),
            _ => {}
        }
    }
}

#[test]
fn tpc_b_runs_on_sqlite_by_odbc() {
    let program = Program::new();
    let target = "odbc:Driver={SQLite3};Database=b.db";
    let example = example();
    let with = |args: &[&str]| {
        let all = [args, &["-w", "tpc-b", "--dialect-dir", &example]].concat();
        program.ok(&all)
    };
    with(&["build", target]);
    with(&["run", target, "--vus", "1", "--transactions", "20"]);
    assert!(with(&["check", target]).contains("hold"));
    // The file is SQLite's: the compiled-in driver reads it too.
    assert!(program.ok(&["check", "sqlite:b.db", "-w", "tpc-b"]).contains("hold"));
}

#[test]
#[ignore = "builds for a minute; `make test-matrix` runs it"]
fn tproc_c_runs_in_both_modes_on_postgresql_and_mariadb_by_odbc() {
    let postgres = PostgresServer::shared();
    let mariadb = MariadbServer::shared();
    for (driver, host, url, password) in [
        (
            "PostgreSQL Unicode",
            "Servername",
            postgres.fresh_database("odbc").unwrap(),
            postgres.password().to_owned(),
        ),
        (
            "MariaDB Unicode",
            "Server",
            mariadb.fresh_database("odbc").unwrap(),
            mariadb.password().to_owned(),
        ),
    ] {
        let mut program = Program::new();
        program.set("TRIPHAMMER_PASSWORD", &password);
        let target = connection(driver, host, &url);
        program.ok(&["build", &target, "--scale", "1"]);
        for mode in ["procedures", "statements"] {
            let run = ["run", &target, "--vus", "2", "--transactions", "20", "--mode", mode];
            let ran = program.ok(&[&run, &["--require", "failures == 0"][..]].concat());
            assert!(ran.contains("verified: the database counts the same"), "{mode}: {ran}");
        }
        assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
        // The native driver finds what was built.
        assert!(program.ok(&["check", &url]).contains("all 17 conditions"));
    }
}

#[test]
#[ignore = "builds for a minute; `make test-matrix` runs it"]
fn tproc_c_and_tpc_b_run_on_babelfish_by_freetds() {
    if !BabelfishServer::is_available() {
        return;
    }
    let server = BabelfishServer::shared();
    let mut program = Program::new();
    program.set("TRIPHAMMER_PASSWORD", server.password());
    let url = server.url("freetds");
    let target = connection("FreeTDS", "Server", &url);
    program.ok(&["build", &target, "--scale", "1", "--create-database"]);
    let run = ["run", &target, "--vus", "2", "--transactions", "20"];
    let ran = program.run(&[&run, &["--require", "failures == 0"][..]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("verified: the database counts the same"), "{}", ran.out);
    assert!(ran.err.contains("was not run against SQL Server"), "{}", ran.err);
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
    // The native driver finds what was built.
    assert!(program.ok(&["check", &url]).contains("all 17 conditions"));
    program.ok(&["build", &target, "-w", "tpc-b"]);
    program.ok(&[&run[..], &["-w", "tpc-b", "--require", "failures == 0"]].concat());
    assert!(program.ok(&["check", &url, "-w", "tpc-b"]).contains("hold"));
}

/// Builds in a database that does not exist: rejected, unless it is to be created.
fn is_created(program: &Program, target: &str, build: &[&str]) {
    let of =
        |command: &str, more: &[&str]| program.run(&[&[command, target], build, more].concat());
    for command in ["build", "run"] {
        let done = of(command, &[]);
        assert_ne!(done.code, 0, "{done:?}");
        assert!(done.err.contains("with --create-database creates it"), "{}", done.err);
    }
    for outcome in ["", "already built"] {
        let done = of("build", &["--create-database"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains(outcome), "{}", done.out);
    }
}

#[test]
fn a_database_that_does_not_exist_is_created_on_request() {
    let (postgres, mariadb) = (PostgresServer::shared(), MariadbServer::shared());
    for (driver, host, url, password) in [
        (
            "PostgreSQL Unicode",
            "Servername",
            postgres.fresh_database("created").unwrap(),
            postgres.password(),
        ),
        (
            "MariaDB Unicode",
            "Server",
            mariadb.fresh_database("created").unwrap(),
            mariadb.password(),
        ),
    ] {
        let mut program = Program::new();
        program.set("TRIPHAMMER_PASSWORD", password);
        let there = connection(driver, host, &url);
        let (server, _) = there.rsplit_once('=').unwrap();
        let target = format!("{server}=new_\"o'ne\"_`x`");
        is_created(&program, &target, &["-w", "tpc-b"]);
        program.ok(&["run", &target, "-w", "tpc-b", "--transactions", "5"]);
        // The native driver finds what was built.
        let (server, _) = url.rsplit_once('/').unwrap();
        let native = format!("{server}/new_%22o%27ne%22_%60x%60");
        assert!(program.ok(&["check", &native, "-w", "tpc-b"]).contains("hold"));
        // A user who does not exist lacks no database.
        let wrong = target.replacen("UID=", "UID=nobody_", 1);
        let done = program.run(&["build", &wrong, "-w", "tpc-b", "--create-database"]);
        assert_ne!(done.code, 0, "{done:?}");
        assert!(!done.err.contains("--create-database creates it"), "{}", done.err);
    }
}

#[test]
fn a_database_is_created_by_freetds_on_request() {
    if !BabelfishServer::is_available() {
        return;
    }
    let server = BabelfishServer::shared();
    let mut program = Program::new();
    program.set("TRIPHAMMER_PASSWORD", server.password());
    let target = connection("FreeTDS", "Server", &server.url("created"));
    is_created(&program, &target, &["-w", "kv", "--scale", "0.001"]);
    program.ok(&["check", &server.url("created"), "-w", "kv"]);
}

#[test]
fn a_file_is_created_by_odbc_on_request() {
    let program = Program::new();
    let target = "odbc:Driver={SQLite3};Database=new.db";
    let example = example();
    let build = ["build", target, "-w", "tpc-b", "--dialect-dir", &example, "--create-database"];
    program.ok(&build);
    assert!(program.ok(&build).contains("already built"));
    assert!(program.ok(&["check", "sqlite:new.db", "-w", "tpc-b"]).contains("hold"));
}

#[test]
fn a_database_that_cannot_be_created_by_odbc_is_refused_before_anything_is_sent() {
    let program = Program::new();
    let driver = OdbcDriver::compile().unwrap();
    for (product, message) in [
        ("Oracle", "the dialect oracle does not say how a database is created"),
        ("DB2/LINUXX8664", "the dialect db2 does not say how a database is created"),
        ("PostgreSQL", "the target has no Database, which names the database to create"),
    ] {
        let target = driver.target(&[("DBMS", product)]);
        let done = program.run(&["build", &target, "-w", "tpc-b", "--create-database"]);
        assert_ne!(done.code, 0, "{done:?}");
        assert!(done.err.contains(message), "{product}: {}", done.err);
        let recorded = driver.recorded();
        assert!(recorded.iter().all(|call| call == "connect"), "{recorded:?}");
    }
}

#[test]
fn no_secret_of_a_connection_string_is_printed_or_stored() {
    let program = Program::new();
    let example = example();
    let target = "odbc:Driver={SQLite3};Database=s.db;PWD={hunter2;x};SSLKeyPassword=hunter2";
    let args = ["--dialect-dir", &example, "-w", "tpc-b"];
    let built = program.run(&[&["build", target], &args[..]].concat());
    assert_eq!(built.code, 0, "{built:?}");
    assert!(built.err.contains("visible in the process list"), "{}", built.err);
    let ran = program.run(&[&["run", target, "--transactions", "5"], &args[..]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut all = vec![built, ran];
    for broken in [
        "odbc:Driver={SQLite3};PWD={hunter2",
        "odbc:Driver={SQLite3;PWD=hunter2};Database=s.db",
        "odbc:Driver={No Such};Server={h;PWD=hunter2};UID=u",
        "odbc:DSN=nobody;PWD={a}}hunter2}",
        "odbc:DSN=nobody;Init={SET PASSWORD 'hunter2'}",
    ] {
        let done = program.run(&["run", broken, "-w", "tpc-b"]);
        assert_eq!(done.code, 2, "{broken}: {done:?}");
        all.push(done);
    }
    for done in &all {
        assert!(!format!("{}{}", done.out, done.err).contains("hunter2"), "{done:?}");
    }
    let page = program.ok(&["report", "last", "--format", "html"]);
    assert!(!page.contains("hunter2"));
    for (path, bytes) in program.files() {
        let has_it = bytes.windows(7).any(|part| part == b"hunter2");
        assert!(!has_it, "{}", path.display());
    }
}

#[test]
fn a_missing_driver_manager_or_data_source_is_named() {
    let mut program = Program::new();
    for (target, expected) in [
        ("odbc:DSN=nobody", ["Data source name not found", "odbcinst -q -s"]),
        ("odbc:Driver={No Such};Server=h", ["No Such", "odbcinst"]),
        ("odbc:Server=h", ["names a data source or a driver", "odbc:DSN=name"]),
        ("odbc:DSN=a;Driver", ["has no =", "odbc:DSN=name"]),
    ] {
        let done = program.run(&["run", target]);
        assert_eq!(done.code, 2, "{done:?}");
        for part in expected {
            assert!(done.err.contains(part), "{target}: {}", done.err);
        }
    }
    program.set("TRIPHAMMER_ODBC", "gone.so");
    let done = program.run(&["run", "odbc:DSN=nobody"]);
    assert!(done.code == 2 && done.err.contains("gone.so"), "{done:?}");
    // Other targets do not need it.
    program.ok(&["run", "null:", "-w", "tpc-b", "--transactions", "5"]);
}

#[cfg(target_os = "linux")]
const PROGRAM: &str = env!("CARGO_BIN_EXE_triphammer");

/// Runs the program in a folder that is its whole system: nothing is there but the libraries that it is linked to. `None`
/// where that is not possible.
#[cfg(target_os = "linux")]
fn run_alone(root: &Path, args: &[&str]) -> Option<Done> {
    for changes in [&["chroot"][..], &["unshare", "--user", "--map-root-user", "chroot"]] {
        let mut command = Command::new(changes[0]);
        command.args(&changes[1..]).arg(root).arg(PROGRAM).args(args);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/");
        command.env("TRIPHAMMER_STORE", "/jobs.sqlite");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = finish(command.spawn().ok()?);
        // The exit code of chroot if it may not do it.
        if done.code != 125 && !done.err.starts_with("unshare: ") {
            return Some(done);
        }
    }
    // Nobody may be there to read it.
    let _ = writeln!(
        std::io::stderr(),
        "ODBC was not tested on a system without a driver manager: neither chroot nor unshare works"
    );
    None
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_system_without_a_driver_manager_only_odbc_targets_fail() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let linked = Command::new("ldd").arg(PROGRAM).output().unwrap();
    let linked = String::from_utf8(linked.stdout).unwrap();
    let libraries = linked.split_whitespace().filter(|word| word.starts_with('/'));
    // Programs of the tests read their SQL from the source.
    let sql = std::fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/sql"));
    let mut copy = Command::new("cp");
    copy.args(["-rL", "--parents", PROGRAM]).arg(sql.unwrap()).args(libraries).arg(root);
    assert!(copy.status().unwrap().success());
    // A file does as well as the device, which only root can make.
    std::fs::create_dir(root.join("dev")).unwrap();
    std::fs::write(root.join("dev/null"), "").unwrap();
    for target in ["odbc:DSN=bench", "odbc:Driver={SQLite3};Database=b.db"] {
        for command in ["build", "run", "check"] {
            let args = [command, target, "-w", "tpc-b"];
            let Some(done) = run_alone(root, &args) else { return };
            assert_eq!(done.code, 2, "{args:?}: {done:?}");
            for part in ["there is no ODBC driver manager", "apt-get install unixodbc"] {
                assert!(done.err.contains(part), "{args:?}: {}", done.err);
            }
        }
    }
    let run = ["run", "null:", "-w", "tpc-b", "--transactions", "5"];
    let Some(done) = run_alone(root, &run) else { return };
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn dialects_that_do_not_exist_or_do_not_belong_are_refused() {
    let program = Program::new();
    let target = "odbc:Driver={SQLite3};Database=d.db";
    for (args, expected) in [
        (vec![target], "for which there is no SQL here"),
        (vec![target, "--dialect", "sqlite"], "use one of"),
        (vec![target, "--dialect-dir", "."], "there is no dialect.toml"),
        (vec![target, "--dialect-dir", ".", "--dialect", "x"], "either --dialect or"),
        (vec!["sqlite:d.db", "--dialect", "mariadb-odbc"], "its SQL is built in"),
    ] {
        let done = program.run(&[&["build"], args.as_slice()].concat());
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(expected), "{args:?}: {}", done.err);
    }
    assert!(!program.path("d.db").exists(), "looking at a file does not make it");
}

#[test]
fn a_driver_that_crashes_is_named() {
    let program = Program::new();
    let driver = OdbcDriver::compile().unwrap();
    let library = driver.library().display().to_string();
    for call in ["SQLDriverConnect", "SQLExecDirect"] {
        let pairs = [("DBMS", "PostgreSQL"), ("Crash", call), ("PWD", "hunter2")];
        let done = program.run(&["run", &driver.target(&pairs), "-w", "tpc-b"]);
        assert_eq!(done.code, -1, "ended by a signal: {done:?}");
        for part in [&*library, call, "crashed", "(SIGSEGV)", "isql -k"] {
            assert!(done.err.contains(part), "{part}: {}", done.err);
        }
        assert!(!format!("{}{}", done.out, done.err).contains("hunter2"), "{done:?}");
    }
}

#[test]
fn a_driver_that_cannot_be_loaded_is_named() {
    let program = Program::new();
    let text = program.path("text.so");
    std::fs::write(&text, "no library").unwrap();
    for driver in [text.display().to_string(), "/nowhere/driver.so".to_owned()] {
        let done = program.run(&["run", &format!("odbc:Driver={driver}")]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains("cannot load the driver"), "{}", done.err);
        assert!(done.err.contains(&driver) && done.err.contains("ldd"), "{}", done.err);
    }
}

#[test]
fn a_driver_without_transactions_is_refused_for_workloads_that_need_them() {
    let program = Program::new();
    let driver = OdbcDriver::compile().unwrap();
    let target = driver.target(&[("DBMS", "PostgreSQL"), ("Transactions", "0")]);
    for command in ["build", "run"] {
        for workload in ["tproc-c", "tpc-b"] {
            let done = program.run(&[command, &target, "-w", workload]);
            assert_eq!(done.code, 2, "{done:?}");
            let expected = "needs transactions of several statements";
            assert!(done.err.contains(expected), "{}", done.err);
        }
    }
    let recorded = driver.recorded();
    assert!(recorded.iter().all(|call| call == "connect"), "{recorded:?}");
}
