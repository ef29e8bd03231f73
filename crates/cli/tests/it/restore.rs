//! Restores on real databases: the restored data is equal, whoever is in the way is named, and nothing
//! is left or lost when one fails, is interrupted or is killed.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::holder::Holder;
use crate::program::{Done, Messages, Program, finish, signal, until};
use crate::schema::valid;
use crate::servers::{Mariadb, Postgres, Product, Site, name_of, tests};

tests! {
    a_restore_brings_every_row_back;
    each_run_of_a_comparison_begins_from_the_same_state_and_nothing_is_left;
    what_the_snapshot_lacks_is_never_lost;
    what_has_no_mark_is_never_dropped;
    a_snapshot_that_is_interrupted_leaves_nothing;
}

/// Half a second of TPC-B, which changes all of its tables.
const SHORT: [&str; 8] = ["-w", "tpc-b", "--rampup", "0s", "--duration", "1s", "--vus", "2"];

/// A database with TPC-B.
fn built(program: &Program, site: &Site) -> String {
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    target
}

fn snapshot(program: &Program, target: &str, more: &[&str]) -> Done {
    program.run(&[&["snapshot", target, "-w", "tpc-b"], more].concat())
}

/// Every row of every table, in an order that does not depend on where it is stored.
fn contents(site: &Site, target: &str) -> Vec<String> {
    let database = name_of(target);
    let row = |columns: &str| match site {
        Site::Postgres(_) => format!("CAST(ROW({columns}) AS text)"),
        Site::Mariadb(_) => format!("CONCAT_WS('|', {columns})"),
    };
    let mut all = Vec::new();
    for (table, columns) in [
        ("pgbench_branches", "bid, bbalance"),
        ("pgbench_tellers", "tid, bid, tbalance"),
        ("pgbench_accounts", "aid, bid, abalance"),
        ("pgbench_history", "tid, bid, aid, delta, mtime"),
        ("triphammer_build", "workload, item, value"),
    ] {
        let sql = format!("SELECT {} FROM {table}", row(columns));
        let rows = site.run(database, &sql).into_iter();
        all.extend(rows.map(|row| format!("{table} {}", row[0].as_deref().unwrap_or("NULL"))));
    }
    all.sort();
    all
}

/// Names of the databases on the server that begin with this one's.
fn databases(site: &Site, target: &str) -> Vec<String> {
    let name = name_of(target);
    let of = |column: &str, table: &str| {
        let start = name.len() + 2;
        format!(
            "SELECT {column} FROM {table} WHERE {column} = '{name}' OR LEFT({column}, {start}) = '{name}__'"
        )
    };
    let sql = match site {
        Site::Postgres(_) => of("datname", "pg_database"),
        Site::Mariadb(_) => of("schema_name", "information_schema.schemata"),
    };
    let rows = site.run(name, &sql).into_iter();
    let mut names: Vec<String> = rows.filter_map(|row| row[0].clone()).collect();
    names.sort();
    names
}

fn a_restore_brings_every_row_back(product: Product) {
    let (program, site) = (Program::new(), Site::shared(product));
    let target = built(&program, site);
    let before = contents(site, &target);
    let made = snapshot(&program, &target, &["--make", "clean", "--fingerprint", "checksums"]);
    assert!(made.code == 0 && made.out.contains("--restore copy=clean"), "{made:?}");
    program.ok(&[&["run", &target], &SHORT[..]].concat());
    assert_ne!(contents(site, &target), before, "the run changed the data");

    let restored = snapshot(&program, &target, &["--restore", "clean"]);
    assert!(restored.code == 0 && restored.out.contains("from snapshot `clean`"), "{restored:?}");
    assert!(contents(site, &target) == before, "the restored rows are others");

    let run = [&["run", &target, "--restore", "copy=clean"], &SHORT[..]].concat();
    let result = program.json(&[&run[..], &["--fingerprint", "checksums"]].concat());
    valid(&result, "RunResult");
    let state = &result["state"];
    assert_eq!(state["restored"]["is_equal"], true, "{state}");
    assert_eq!(state["restored"]["from"], "snapshot `clean`");
    assert_eq!(state["fingerprint"]["tables"].as_array().unwrap().len(), 4, "{state}");
    assert!(state["bytes"].as_u64().unwrap() > 1_000_000, "{state}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("restored from snapshot `clean`"), "{report}");
    assert!(report.contains("its state is equal"), "{report}");

    // A snapshot that is not what it was is noticed.
    let copy = format!("{}__clean", name_of(&target));
    site.run(&copy, "UPDATE pgbench_accounts SET abalance = 7 WHERE aid = 1");
    let result = program.json(&[&run[..], &["--fingerprint", "checksums"]].concat());
    assert_eq!(result["state"]["restored"]["is_equal"], false);
    assert_eq!(result["state"]["restored"]["different"], serde_json::json!(["pgbench_accounts"]));
    let warned = result["warnings"].as_array().unwrap().iter().any(|of| of["kind"] == "state");
    assert!(warned, "{}", result["warnings"]);

    assert!(snapshot(&program, &target, &[]).out.contains("  clean  made "));
    let again = snapshot(&program, &target, &["--make", "clean"]);
    assert!(again.code == 2 && again.err.contains("there is a snapshot `clean`"), "{again:?}");
    assert_eq!(snapshot(&program, &target, &["--drop", "clean"]).code, 0);
    assert_eq!(databases(site, &target), [name_of(&target)]);
    let missing = program.run(&run);
    assert!(missing.code == 2 && missing.err.contains("has no snapshot `clean`"), "{missing:?}");
}

fn each_run_of_a_comparison_begins_from_the_same_state_and_nothing_is_left(product: Product) {
    let (program, site) = (Program::new(), Site::shared(product));
    let target = built(&program, site);
    let compare = ["compare", "--ab", &target, "--b", "vus=3", "--restore", "copy", "--pairs", "2"];
    let rest = ["--fingerprint", "checksums", "--cool-down", "0s"];
    let compared = program.json(&[&compare[..], &SHORT, &rest].concat());
    valid(&compared, "ComparisonResult");
    let kinds: Vec<&Value> =
        compared["warnings"].as_array().unwrap().iter().map(|of| &of["kind"]).collect();
    assert!(!kinds.contains(&&Value::from("state")), "{kinds:?}");
    let runs = ["a", "b"].map(|side| compared[side]["runs"].as_array().unwrap());
    assert_eq!(runs.map(Vec::len), [2, 2]);
    for run in runs.into_iter().flatten() {
        let job = run["job"].to_string();
        let run: Value =
            serde_json::from_str(&program.ok(&["report", &job, "--format", "json"])).unwrap();
        assert_eq!(run["state"]["restored"]["is_equal"], true, "{}", run["state"]);
    }
    assert_eq!(databases(site, &target), [name_of(&target)], "its snapshot is dropped");

    // Without a restore, each run begins where the last one ended, and that is said first.
    let compare = ["compare", "--ab", &target, "--b", "vus=3", "--pairs", "2"];
    let compared = program.json(&[&compare[..], &SHORT, &rest].concat());
    let first = &compared["warnings"][0];
    assert_eq!(first["kind"], "state", "{}", compared["warnings"]);
    assert!(first["text"].as_str().unwrap().contains("from different states"), "{first}");
}

fn what_the_snapshot_lacks_is_never_lost(product: Product) {
    let (program, site) = (Program::new(), Site::shared(product));
    let target = built(&program, site);
    let name = name_of(&target);
    assert_eq!(snapshot(&program, &target, &["--make", "clean"]).code, 0);
    site.run(name, "CREATE TABLE salaries (id integer)");
    site.run(name, "INSERT INTO salaries VALUES (1)");
    let refused = snapshot(&program, &target, &["--restore", "clean"]);
    assert!(refused.code == 2 && refused.err.contains("salaries"), "{refused:?}");
    assert_eq!(site.run(name, "SELECT count(*) FROM salaries")[0][0].as_deref(), Some("1"));
    site.run(name, "DROP TABLE salaries");
    site.run(name, "ALTER TABLE pgbench_branches ADD COLUMN note varchar(10)");
    let refused = snapshot(&program, &target, &["--restore", "clean"]);
    assert!(refused.code == 2 && refused.err.contains("pgbench_branches"), "{refused:?}");
    assert_eq!(databases(site, &target), [name.to_owned(), format!("{name}__clean")]);
}

fn what_has_no_mark_is_never_dropped(product: Product) {
    let (program, site) = (Program::new(), Site::shared(product));
    let target = built(&program, site);
    let (name, foreign) = (name_of(&target), format!("{}__clean", name_of(&target)));
    site.run(name, &format!("CREATE DATABASE {foreign}"));
    site.run(&foreign, "CREATE TABLE precious (id integer)");
    for (more, why) in [
        (["--drop", "clean"], "has no snapshot `clean`"),
        (["--restore", "clean"], "has no snapshot `clean`"),
        (["--make", "clean"], "there is a snapshot `clean`"),
    ] {
        let refused = snapshot(&program, &target, &more);
        assert!(refused.code == 2 && refused.err.contains(why), "{more:?} {refused:?}");
    }
    site.run(&foreign, "SELECT * FROM precious");
    site.run(name, &format!("DROP DATABASE {foreign}"));
}

fn a_snapshot_that_is_interrupted_leaves_nothing(product: Product) {
    let (program, site) = (Program::new(), Site::shared(product));
    let target = built(&program, site);
    let late = snapshot(&program, &target, &["--make", "clean", "--restore-timeout", "1ms"]);
    assert!(late.code == 2 && late.err.contains("not finished within 1ms"), "{late:?}");
    assert_eq!(databases(site, &target), [name_of(&target)]);

    let compare = ["compare", "--ab", &target, "--b", "vus=3", "--restore", "copy", "--pairs", "9"];
    let mut child = program.start(&[&compare[..], &SHORT].concat());
    let mut messages = Messages::by(&mut child);
    messages.wait_for("made snapshot `tmp_");
    messages.wait_for("run 2 of 18");
    // Where a restore empties the tables and fills them, they are empty now.
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "INT");
    let (rest, done) = (messages.rest(), finish(child));
    assert_eq!(done.code, 130, "{done:?} {rest:?}");
    assert_eq!(databases(site, &target), [name_of(&target)], "{rest:?}");
    program.ok(&["check", &target, "-w", "tpc-b"]);
    let resumed = program.run(&["compare", "--resume", "last"]);
    assert!(resumed.code == 2 && resumed.err.contains("copy=NAME"), "{resumed:?}");

    // Killed, it leaves its snapshot, which the next one finds.
    let mut child = program.start(&[&compare[..], &SHORT].concat());
    let mut messages = Messages::by(&mut child);
    messages.wait_for("made snapshot `tmp_");
    messages.wait_for("run 1 of 18");
    signal(&child, "KILL");
    child.wait().unwrap();
    assert_eq!(databases(site, &target).len(), 2);
    assert!(snapshot(&program, &target, &[]).out.contains("left behind"));
    let made = snapshot(&program, &target, &["--make", "clean"]);
    assert!(made.code == 0 && made.out.contains("left behind"), "{made:?}");
    let name = name_of(&target);
    assert_eq!(databases(site, &target), [name.to_owned(), format!("{name}__clean")]);
}

#[test]
fn a_session_at_a_postgresql_database_is_named_and_ended_only_if_asked_for() {
    let (program, site) = (Program::new(), Site::shared(Postgres));
    let target = built(&program, site);
    assert_eq!(snapshot(&program, &target, &["--make", "clean"]).code, 0);
    let holder = Holder::of(site, &target, "SELECT 1");
    let refused = snapshot(&program, &target, &["--restore", "clean"]);
    assert!(refused.code == 2 && refused.err.contains("1 other sessions"), "{refused:?}");
    assert!(refused.err.contains("a session of postgres"), "{refused:?}");
    assert!(refused.err.contains("--end-sessions"), "{refused:?}");
    assert_eq!(holder.asleep(), 1, "it is left alone");
    let ended = snapshot(&program, &target, &["--restore", "clean", "--end-sessions"]);
    assert!(ended.code == 0 && ended.out.contains("ended 1 other sessions"), "{ended:?}");
    assert_eq!(holder.asleep(), 0);
}

#[test]
fn a_restored_postgresql_database_has_what_belongs_to_it() {
    let (program, site) = (Program::new(), Site::shared(Postgres));
    let target = built(&program, site);
    let name = name_of(&target);
    let role = format!("{name}_reader");
    for sql in [
        format!("CREATE ROLE {role}"),
        format!("ALTER DATABASE {name} SET work_mem = '7MB'"),
        format!("ALTER DATABASE {name} SET search_path = \"$user\", public"),
        format!("ALTER ROLE {role} IN DATABASE {name} SET work_mem = '9MB'"),
        format!("ALTER DATABASE {name} CONNECTION LIMIT 77"),
        format!("COMMENT ON DATABASE {name} IS 'the team''s'"),
        format!("REVOKE CONNECT ON DATABASE {name} FROM PUBLIC"),
        format!("GRANT CREATE ON DATABASE {name} TO {role} WITH GRANT OPTION"),
    ] {
        site.run("postgres", &sql);
    }
    let belongings = || {
        let sql = format!(
            "SELECT d.datconnlimit, pg_get_userbyid(d.datdba), shobj_description(d.oid, 'pg_database'), \
             (SELECT string_agg(a::text, ' ' ORDER BY a::text) FROM unnest(d.datacl) a), \
             (SELECT string_agg(s.setrole::text || s.setconfig::text, ' ' ORDER BY 1) \
              FROM pg_db_role_setting s WHERE s.setdatabase = d.oid) \
             FROM pg_database d WHERE d.datname = '{name}'"
        );
        site.run("postgres", &sql)
    };
    let before = belongings();
    assert_eq!(snapshot(&program, &target, &["--make", "clean"]).code, 0);
    let may = format!("SELECT has_database_privilege('{role}', '{name}__clean', 'CONNECT')");
    assert_eq!(site.run("postgres", &may)[0][0].as_deref(), Some("f"), "a copy for everybody");
    site.run(name, "CREATE FUNCTION twice(a int) RETURNS int LANGUAGE sql AS 'SELECT 2 * a'");
    let refused = snapshot(&program, &target, &["--restore", "clean"]);
    assert!(refused.err.contains("routine public.twice(a integer)"), "{refused:?}");
    site.run(name, "DROP FUNCTION twice");
    let restored = snapshot(&program, &target, &["--restore", "clean"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(belongings(), before);
}

#[test]
fn a_restored_mariadb_database_has_the_next_values_of_its_sequences() {
    let (program, site) = (Program::new(), Site::shared(Mariadb));
    let target = built(&program, site);
    let name = name_of(&target);
    for sql in [
        "CREATE SEQUENCE up START WITH 5 INCREMENT BY 3 CACHE 10",
        "CREATE SEQUENCE down START WITH -5 INCREMENT BY -1 MINVALUE -100 MAXVALUE -1 NOCACHE",
        // A lock of the table alone does not suffice for one whose default is a sequence.
        "CREATE TABLE orders (id bigint NOT NULL DEFAULT NEXTVAL(up) PRIMARY KEY, item int)",
        "INSERT INTO orders (item) VALUES (1), (2)",
        "DO NEXTVAL(down)",
    ] {
        site.run(name, sql);
    }
    let next = |sequence: &str| {
        let value = site.run(name, &format!("SELECT NEXTVAL({sequence})"));
        value[0][0].as_deref().unwrap().parse::<i64>().unwrap()
    };
    let made = snapshot(&program, &target, &["--make", "clean"]);
    assert_eq!(made.code, 0, "{made:?}");
    let restored_values = || {
        site.run(name, "INSERT INTO orders (item) VALUES (3)");
        let _ = [next("down"), next("down")];
        let restored = snapshot(&program, &target, &["--restore", "clean"]);
        assert_eq!(restored.code, 0, "{restored:?}");
        let ids = site.run(name, "SELECT GROUP_CONCAT(id ORDER BY id) FROM orders");
        assert_eq!(ids[0][0].as_deref(), Some("5,8"));
        [next("up"), next("down")]
    };
    // Of the ten cached values, those that were not used are lost, as after a restart.
    assert_eq!(restored_values(), [35, -6]);
    assert_eq!(restored_values(), [35, -6]);
    site.run(name, "DROP TABLE orders");
    site.run(name, "DROP SEQUENCE down");
    let refused = snapshot(&program, &target, &["--restore", "clean"]);
    assert!(refused.code == 2 && refused.err.contains("down of the snapshot"), "{refused:?}");
}

#[test]
fn a_restore_on_mariadb_that_was_killed_is_finished_by_the_next_start() {
    let (program, site) = (Program::new(), Site::shared(Mariadb));
    let target = built(&program, site);
    let (name, copy) = (name_of(&target), format!("{}__clean", name_of(&target)));
    let before = contents(site, &target);
    assert_eq!(snapshot(&program, &target, &["--make", "clean"]).code, 0);
    program.ok(&[&["run", &target], &SHORT[..]].concat());
    // As a process that was killed leaves it: a table is empty, and the mark says so.
    site.run(name, "TRUNCATE TABLE pgbench_accounts");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let ids = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let maker = format!(
        "JSON_OBJECT('host', '{}', 'process', {}, 'began', 1, 'ids', '{} {}')",
        host.trim(),
        std::process::id(),
        boot.trim(),
        ids.display()
    );
    let begun = format!("SET mark = JSON_SET(mark, '$.restoring', {maker}) WHERE name = ''");
    site.run(&copy, &format!("UPDATE triphammer_snapshot {begun}"));
    assert!(snapshot(&program, &target, &[]).out.contains("a restore is not finished"));
    let run = [&["run", &target, "--restore", "copy=clean"], &SHORT[..]].concat();
    let done = program.run(&run);
    assert!(done.code == 0 && done.err.contains("finished a restore"), "{done:?}");
    assert_eq!(snapshot(&program, &target, &["--restore", "clean"]).code, 0);
    assert!(contents(site, &target) == before, "the restored rows are others");

    // The data were built since: all tables have rows.
    site.run(&copy, &format!("UPDATE triphammer_snapshot {begun}"));
    site.run(name, "UPDATE pgbench_branches SET bbalance = 4711");
    let made = snapshot(&program, &target, &["--make", "new"]);
    assert!(made.code == 0 && made.out.contains("all tables have rows again"), "{made:?}");
    let built = site.run(name, "SELECT max(bbalance) FROM pgbench_branches");
    assert_eq!(built[0][0].as_deref(), Some("4711"), "what was built is overwritten");

    // A snapshot from which a process restores is not dropped.
    let busy = begun.replace(host.trim(), "elsewhere");
    site.run(&copy, &format!("UPDATE triphammer_snapshot {busy}"));
    let refused = snapshot(&program, &target, &["--drop", "clean"]);
    assert!(refused.code == 2 && refused.err.contains("DROP DATABASE"), "{refused:?}");
}

#[test]
fn a_locked_table_on_mariadb_is_waited_for_within_a_limit_and_nothing_changes() {
    let (program, site) = (Program::new(), Site::shared(Mariadb));
    let target = built(&program, site);
    assert_eq!(snapshot(&program, &target, &["--make", "clean"]).code, 0);
    let before = contents(site, &target);
    let holder = Holder::of(site, &target, "SELECT * FROM pgbench_tellers FOR UPDATE");
    let limit = ["--restore", "clean", "--restore-timeout", "3s"];
    let late = snapshot(&program, &target, &limit);
    assert!(late.code == 2 && late.err.contains("not finished within 3s"), "{late:?}");
    drop(holder);
    assert!(contents(site, &target) == before);
    assert!(!snapshot(&program, &target, &[]).out.contains("not finished"));
}

#[test]
fn a_file_is_restored_byte_by_byte() {
    let program = Program::new();
    let target = "sqlite:b.sqlite";
    program.ok(&["build", target, "-w", "tpc-b"]);
    program.ok(&[&["run", target], &SHORT[..]].concat());
    assert_eq!(snapshot(&program, target, &["--make", "clean"]).code, 0);
    let bytes = |name: &str| std::fs::read(program.path(name)).unwrap();
    let before = bytes("b.sqlite");
    assert_eq!(before, bytes("b.sqlite.snapshots/clean/database"));
    program.ok(&[&["run", target], &SHORT[..]].concat());
    assert_ne!(bytes("b.sqlite"), before);
    // Rows that are only in the log are part of the state that is replaced.
    let writer = rusqlite::Connection::open(program.path("b.sqlite")).unwrap();
    writer
        .execute_batch("PRAGMA journal_mode = wal; UPDATE pgbench_tellers SET tbalance = 5")
        .unwrap();
    let busy = snapshot(&program, target, &["--restore", "clean"]);
    assert!(
        busy.code == 2 && busy.err.contains("another process has the database open"),
        "{busy:?}"
    );
    drop(writer);
    assert_eq!(snapshot(&program, target, &["--restore", "clean"]).code, 0);
    assert_eq!(bytes("b.sqlite"), before);
    assert!(!program.path("b.sqlite-wal").exists());
    let left = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    assert_eq!(left(&program.path("b.sqlite.snapshots")), 1);

    let run = [&["run", target, "--restore", "copy=clean"], &SHORT[..]].concat();
    let result = program.json(&[&run[..], &["--fingerprint", "checksums"]].concat());
    assert_eq!(result["state"]["restored"]["is_equal"], Value::Null, "the snapshot has row counts");
    let result = program.json(&run);
    assert_eq!(result["state"]["restored"]["is_equal"], true, "{}", result["state"]);
    assert_eq!(snapshot(&program, target, &["--drop", "clean"]).code, 0);
    assert!(!program.path("b.sqlite.snapshots").exists());
}

#[test]
fn a_duckdb_file_is_restored_byte_by_byte() {
    let program = Program::with_duckdb();
    let target = "duckdb:b.duckdb";
    program.ok(&["build", target, "-w", "tpc-b"]);
    let made = snapshot(&program, target, &["--make", "clean", "--fingerprint", "checksums"]);
    assert_eq!(made.code, 0, "{made:?}");
    let bytes = || std::fs::read(program.path("b.duckdb")).unwrap();
    let before = bytes();
    let run = ["run", target, "-w", "tpc-b", "--transactions", "20", "--retries", "50"];
    program.ok(&run);
    let restored = snapshot(&program, target, &["--restore", "clean"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(bytes(), before);
    let more = ["--restore", "copy=clean", "--fingerprint", "checksums"];
    let result = program.json(&[&run[..], &more].concat());
    assert_eq!(result["state"]["restored"]["is_equal"], true, "{}", result["state"]);
}

#[test]
fn what_cannot_be_restored_or_read_is_refused_before_anything_runs() {
    let program = Program::new();
    program.ok(&["build", "sqlite:b.sqlite", "-w", "tpc-b"]);
    let file = "sqlite:b.sqlite";
    for (target, more, why) in [
        (file, &["--restore", "copy"][..], "this is one run"),
        (file, &["--restore", "copy=A"], "invalid name of a snapshot"),
        (file, &["--restore", "snap"], "expected copy, copy=NAME or cmd=COMMAND"),
        (file, &["--restore", "copy=none"], "has no snapshot `none`"),
        (file, &["--restore", "cmd=exit 3"], "exit status: 3"),
        (file, &["--restore", "cmd=sleep 60", "--restore-timeout", "1s"], "was killed"),
        (file, &["--warm", "everything"], "expected tables, indexes"),
        (file, &["--fingerprint", "sums"], "rows"),
        ("null:", &["--restore", "copy=clean"], "it stores nothing"),
        ("trino://u@h/c/s", &["--restore", "copy=clean"], "--restore 'cmd=COMMAND'"),
    ] {
        let refused = program.run(&[&["run", target, "-w", "tpc-b"], more].concat());
        assert!(refused.code == 2 && refused.err.contains(why), "{more:?} {refused:?}");
    }
    let both = snapshot(&program, file, &["--make", "a", "--drop", "b"]);
    assert!(both.code == 2 && both.err.contains("two commands"), "{both:?}");
}

/// What a run did before its load, in its document.
fn prepared(product: Product) -> (Value, Value) {
    // The work of others on a shared server would be waited for, too.
    let (program, site) = (Program::new(), Site::start(product, 50));
    let target = built(&program, &site);
    let more = ["--warm", "tables,indexes", "--until-quiet", "20s"];
    let result = program.json(&[&["run", &target], &SHORT[..], &more].concat());
    valid(&result, "RunResult");
    (result["state"]["warmed"].clone(), result["state"]["quiet"].clone())
}

#[test]
fn caches_are_filled_and_background_work_is_waited_for_on_postgresql() {
    let (warmed, quiet) = prepared(Postgres);
    // Four tables and the build record, with their keys.
    assert!(warmed["relations"].as_u64().unwrap() >= 8, "{warmed}");
    assert!(!warmed["ways"][1].as_str().unwrap().is_empty(), "{warmed}");
    assert!(quiet["seconds"].as_f64().unwrap() <= 30.0, "{quiet}");
    assert_eq!(quiet["unknown"], serde_json::json!([]), "{quiet}");
}

#[test]
fn caches_are_filled_and_background_work_is_waited_for_on_mariadb() {
    let (warmed, quiet) = prepared(Mariadb);
    assert_eq!(warmed["ways"], serde_json::json!(["scans of tables", "scans of indexes"]));
    assert!(warmed["relations"].as_u64().unwrap() >= 4, "{warmed}");
    assert_eq!(quiet["is_quiet"], true, "{quiet}");
    let names: Vec<&str> = quiet["waited_for"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|of| of["name"].as_str())
        .collect();
    assert!(names.contains(&"dirty pages"), "a build leaves some: {quiet}");
}

#[test]
fn a_server_that_does_not_become_quiet_is_said_to_be_busy() {
    let (program, site) = (Program::new(), Site::shared(Postgres));
    let target = built(&program, site);
    let name = name_of(&target);
    site.run(name, "CREATE TABLE filler AS SELECT g AS a FROM generate_series(1, 400000) g");
    for setting in ["vacuum_cost_delay = 100", "vacuum_cost_limit = 1"] {
        site.run(name, &format!("ALTER DATABASE {name} SET {setting}"));
    }
    let database = name.to_owned();
    // Its end is an error: the session is terminated.
    let vacuum = std::thread::spawn(move || drop(site.query(&database, "VACUUM filler")));
    let vacuums = "SELECT pg_terminate_backend(pid) FROM pg_stat_progress_vacuum WHERE datname = \
                   current_database()";
    until("vacuum", || {
        site.run(name, "SELECT 1 FROM pg_stat_progress_vacuum WHERE datname = current_database()")
            .len()
            == 1
    });
    let more = ["--until-quiet", "2s"];
    let result = program.json(&[&["run", &target], &SHORT[..], &more].concat());
    site.run(name, vacuums);
    vacuum.join().unwrap();
    let quiet = &result["state"]["quiet"];
    assert_eq!(quiet["is_quiet"], false, "{quiet}");
    let left = quiet["waited_for"].as_array().unwrap().iter().find(|of| of["name"] == "vacuum");
    assert_eq!(left.unwrap()["is_left"], true, "{quiet}");
    let warned = result["warnings"].as_array().unwrap().iter().any(|of| of["kind"] == "not_quiet");
    assert!(warned, "{}", result["warnings"]);
}
