//! The first steps: errors lead to what works.

use std::process::Command;

use triphammer_testbed::PostgresServer;

use crate::program::{Messages, Program, finish, signal, wait_until};
use crate::servers::{Product, Site, name_of};

fn pgbench_tables() -> String {
    let server = PostgresServer::shared();
    let target = server.fresh_database("first").unwrap();
    let done = Command::new(PostgresServer::program("pgbench"))
        .env("PGPASSWORD", server.password())
        .args(["-h", "127.0.0.1", "-p", &server.port().to_string(), "-U", server.user()])
        .args(["-i", "-q", name_of(&target)])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    target
}

#[test]
fn tables_of_another_workload_lead_to_it() {
    let program = Program::new();
    let target = pgbench_tables();
    for command in ["run", "check"] {
        let done = program.run(&[command, &target]);
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains("pgbench -i created tables of"), "{}", done.err);
        assert!(done.err.contains("use -w tpc-b"), "{}", done.err);
    }
    program.ok(&["build", "sqlite:here.db", "-w", "tpc-b"]);
    let done = program.run(&["run", "sqlite:here.db", "-w", "tproc-c"]);
    assert!(done.err.contains("is built there: use -w tpc-b"), "{}", done.err);
}

#[test]
fn a_missing_database_leads_to_the_flag_that_creates_it() {
    for product in [Product::Postgres, Product::Mariadb] {
        let program = Program::new();
        let there = Site::shared(product).fresh_database();
        let target = there.replace(name_of(&there), "not_there_yet");
        for command in ["build", "run", "check"] {
            let done = program.run(&[command, &target]);
            assert_eq!(done.code, 2, "{}", done.err);
            let advice = "`triphammer build` with --create-database creates it";
            assert!(done.err.contains(advice), "{}", done.err);
        }
        assert_eq!(program.ok(&["jobs", "--json"]).trim(), "[]");
    }
}

#[test]
fn a_password_file_that_others_can_read_is_named_with_its_remedy() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut program = Program::new();
    let (scheme, rest) = Site::shared(Product::Postgres)
        .fresh_database()
        .split_once("://")
        .map(|(scheme, rest)| (scheme.to_owned(), rest.to_owned()))
        .unwrap();
    let (login, place) = rest.split_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    let target = format!("{scheme}://{user}@{place}");
    let file = program.path(".pgpass");
    std::fs::write(&file, format!("*:*:*:{user}:{password}\n")).unwrap();
    let allow = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let path = file.display();
    let remedy = format!("its permissions allow group or others to read it: run chmod 0600 {path}");
    let build = ["build", &target, "-w", "tpc-b"];
    allow(0o640);
    let ignored = program.run(&build);
    assert_eq!(ignored.code, 2, "{}", ignored.err);
    assert!(ignored.err.contains(&format!("password file {path} is ignored")), "{}", ignored.err);
    assert_eq!(ignored.err.matches(&remedy).count(), 1, "{}", ignored.err);
    allow(0o600);
    let used = program.run(&build);
    assert!(used.code == 0 && !used.err.contains("chmod"), "{}", used.err);
    // A file that is not needed is not read.
    allow(0o640);
    program.set("TRIPHAMMER_PASSWORD", password);
    let other = program.run(&["check", &target, "-w", "tpc-b"]);
    assert!(other.code == 0 && !other.err.contains("chmod"), "{}", other.err);
}

#[test]
fn a_rejected_command_is_no_job() {
    let program = Program::new();
    let built = ["build", "sqlite:here.db", "-w", "tpc-b"];
    program.ok(&built);
    for rejected in [
        &["build", "sqlite:here.db", "-w", "tpc-b", "--scale", "2"][..],
        &["check", "sqlite:here.db", "-w", "tproc-c"],
        &["check", "sqlite:here.db", "-w", "tpc-b", "--warehouses", "5-9"],
        &["run", "sqlite:here.db", "-w", "tpc-b", "--scale", "2"],
    ] {
        assert_eq!(program.run(rejected).code, 2, "{rejected:?}");
    }
    let jobs: serde_json::Value = serde_json::from_str(&program.ok(&["jobs", "--json"])).unwrap();
    assert_eq!(jobs.as_array().map(Vec::len), Some(1), "{jobs:#}");
    // A build with nothing left to do is a job.
    assert!(program.ok(&built).contains("is already built"));
    assert_eq!(program.number("jobs.sqlite", "SELECT count(*) FROM jobs"), 2);
}

#[test]
fn a_replay_prints_sql_that_can_be_run_by_hand() {
    let program = Program::new();
    program.ok(&["build", "sqlite:here.db", "-w", "tpc-b"]);
    program.ok(&["run", "sqlite:here.db", "-w", "tpc-b", "--transactions", "5"]);
    let sum = "SELECT sum(abalance) FROM pgbench_accounts";
    let before = program.number("here.db", sum);
    let replayed =
        program.ok(&["run", "sqlite:here.db", "-w", "tpc-b", "--replay-exemplar", "last:1"]);
    let change = program.number("here.db", sum) - before;
    let (_, sql) = replayed.split_once("BEGIN;\n").unwrap();
    rusqlite::Connection::open(program.path("here.db"))
        .unwrap()
        .execute_batch(&format!("BEGIN;\n{sql}"))
        .unwrap_or_else(|error| assert!(error.to_string().contains("Execute returned"), "{error}"));
    assert_eq!(program.number("here.db", sum) - before, 2 * change, "{replayed}");
    let (input, _) = replayed.split_once("\n\nBEGIN;").unwrap();
    let input = input.rsplit_once("\n\n").unwrap().1;
    let names: Vec<_> = input.lines().map(|line| line.split_once(" = ").unwrap().0).collect();
    assert_eq!(names, ["aid", "bid", "tid", "delta", "mtime"], "{replayed}");
}

#[test]
fn a_campaign_shows_each_setting_once() {
    let program = Program::new();
    let shown = program.ok(&["profile", "null:", "--vus", "1,2", "--show-spec"]);
    let names: Vec<&str> = shown.lines().filter_map(|line| line.split(' ').next()).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "{shown}");
    for name in ["vus", "repeats", "rampup", "max-failures"] {
        assert!(names.contains(&name), "{name}\n{shown}");
    }
    let isolation = shown.lines().find(|line| line.starts_with("isolation ")).unwrap();
    assert!(isolation.contains("the database's default"), "{isolation}");
    let vus = shown.lines().find(|line| line.starts_with("vus ")).unwrap();
    assert!(vus.contains("1,2"), "{vus}");
}

#[test]
fn a_run_in_which_too_much_fails_ends_early_and_is_stored() {
    let program = Program::new();
    let run = ["run", "null:?service=1ms&fail=other:60%", "--duration", "10m", "--vus", "2"];
    let done = program.run(&[&run[..], &["--abort-on-failures", "50%/2s"]].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    for words in ["aborted after", "failed (--abort-on-failures 50%/2s)"] {
        assert!(done.out.replace('\n', " ").contains(words), "{words}\n{}", done.out);
    }
    let result = program.run(&["report", "last", "--format", "json"]).out;
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["status"], "aborted");
    assert_eq!(result["failures"]["above_limit"], true);
    let calm = ["run", "null:?service=1ms", "--rampup", "0s", "--duration", "3s"];
    program.ok(&[&calm[..], &["--abort-on-failures", "50%/2s"]].concat());
}

#[test]
fn progress_is_a_line_of_each_interval() {
    let program = Program::new();
    let run = ["run", "null:?service=1ms", "--rampup", "2s", "--duration", "4s"];
    let done = program.run(&[&run[..], &["--progress", "2s"]].concat());
    assert_eq!(done.code, 0, "{}", done.err);
    let lines: Vec<_> = done.err.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert_eq!(lines.len(), 3, "{}", done.err);
    for (line, elapsed) in lines.iter().zip(["2s/6s", "4s/6s", "6s/6s"]) {
        assert!(line.contains(elapsed) && line.contains("NOPM "), "{line}");
        assert!(line.chars().count() <= 80, "{line}");
    }
    for line in ["ramp-up of 2s: not part of the result", "timed window of 4s"] {
        assert!(done.err.lines().any(|shown| shown == line), "{line}: {}", done.err);
    }
    let place = |text: &str| done.err.lines().position(|line| line.starts_with(text)).unwrap();
    assert!(place("progress: 6s/6s") < place("draining: "), "{}", done.err);
    let short = program.run(&[&run[..], &["--progress", "10ms"]].concat());
    assert!(short.code == 2 && short.err.contains("must be 1s or more"), "{}", short.err);
}

#[test]
fn a_drain_is_not_shown_as_part_of_the_length() {
    let program = Program::new();
    std::fs::write(program.path("a.sql"), "SELECT 1;\n").unwrap();
    let run = |duration: &str, progress: &str| {
        let run = ["run", "null:?service=3500ms", "-w", "script", "--script", "a.sql"];
        let load = ["--protocol", "simple", "--vus", "1", "--rampup", "0s"];
        let length = ["--duration", duration, "--progress", progress];
        program.start(&[&run[..], &load, &length].concat())
    };
    // Wherever in its window the transaction starts, it lasts until after the next second.
    let (short, long) = (run("2s", "1s"), run("3s", "4s"));
    let err = finish(short).err;
    assert!(err.lines().any(|line| line.starts_with("progress: 2s/2s timed ")), "{err}");
    assert!(err.lines().any(|line| line.starts_with("progress: 3s draining ")), "{err}");
    // A line with a second of the window is not one of the drain.
    let err = finish(long).err;
    assert!(err.lines().any(|line| line.starts_with("progress: 4s timed ")), "{err}");
}

#[test]
fn a_run_says_why_there_are_no_sessions() {
    let mut site = Site::start(Product::Postgres, 30);
    let program = Program::new();
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let run = ["run", &target, "-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "1h"];
    let mut child = program.start(&run);
    let mut told = Messages::by(&mut child);
    wait_until(&mut child, "a transaction", || {
        site.run(name_of(&target), "SELECT count(*) FROM pgbench_history")[0][0] != Some("0".into())
    });
    site.server().kill9();
    told.wait_for("no new sessions: ");
    signal(&child, "INT");
    told.wait_for_interrupt();
    signal(&child, "INT");
    let _ = child.wait();
}

/// The tables of a database of a shared server.
fn tables(product: Product, target: &str) -> Vec<String> {
    let sql = match product {
        Product::Postgres => "SELECT relname FROM pg_stat_user_tables ORDER BY 1",
        Product::Mariadb => {
            "SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY 1"
        }
    };
    let rows = Site::shared(product).run(name_of(target), sql);
    rows.into_iter().flatten().flatten().collect()
}

/// `try` with the least work.
const BRIEF: [&str; 3] = ["--duration=1s", "--vus=2", "--scale=1"];

fn brief<'a>(target: &[&'a str]) -> Vec<&'a str> {
    [&["try"], target, &BRIEF].concat()
}

#[test]
fn a_trial_without_a_target_needs_no_server_and_leaves_no_file() {
    let mut program = Program::new();
    let temporary = program.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    program.set("TMPDIR", temporary.to_str().unwrap());
    let done = program.run(&brief(&[]));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.starts_with("Examination of this host"), "{}", done.out);
    assert!(done.out.contains("NOPM") && done.err.contains("Next:"), "{}{}", done.out, done.err);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    program.ok(&brief(&["sqlite:missing.sqlite"]));
    assert!(!program.path("missing.sqlite").exists());
    let kinds: Vec<String> = program
        .json(&["jobs"])
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["run", "build", "run", "build"]);
}

fn a_trial_of_a_server_leaves_nothing_there(product: Product) {
    let program = Program::new();
    let target = Site::shared(product).fresh_database();
    let done = program.run(&brief(&[&target]));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("verified: the database counts the same"), "{}", done.out);
    assert!(!done.err.contains("secret") && done.err.contains("profile"), "{}", done.err);
    assert_eq!(tables(product, &target), [""; 0]);
}

#[test]
fn a_trial_of_postgresql_leaves_nothing_there() {
    a_trial_of_a_server_leaves_nothing_there(Product::Postgres);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_trial_of_mariadb_leaves_nothing_there() {
    a_trial_of_a_server_leaves_nothing_there(Product::Mariadb);
}

#[test]
fn a_trial_uses_what_is_built_and_keeps_it() {
    let program = Program::new();
    let target = Site::shared(Product::Postgres).fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let done = program.run(&brief(&[&target]));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("TPC-B-like is built there: it is used and kept"), "{}", done.err);
    program.ok(&["check", &target]);
}

#[test]
fn a_trial_leaves_the_tables_of_others_and_interrupted_builds_alone() {
    let program = Program::new();
    let site = Site::shared(Product::Postgres);
    let target = site.fresh_database();
    site.run(name_of(&target), "CREATE TABLE stock (a integer)");
    let done = program.run(&brief(&[&target]));
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("stock"), "{}", done.err);
    assert_eq!(tables(Product::Postgres, &target), ["stock"]);

    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let sql = "UPDATE triphammer_build SET value = 'building' WHERE item = 'state'";
    site.run(name_of(&target), sql);
    let before = tables(Product::Postgres, &target);
    let done = program.run(&brief(&[&target]));
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("was interrupted"), "{}", done.err);
    assert_eq!(tables(Product::Postgres, &target), before);
}

#[test]
fn an_interrupted_trial_leaves_nothing_there() {
    for (arguments, is_there) in [
        (["--scale=500", "--duration=1s"], "order_line"),
        (["--scale=1", "--duration=10m"], "triphammer_build"),
    ] {
        let program = Program::new();
        let target = Site::shared(Product::Postgres).fresh_database();
        let mut child = program.start(&["try", &target, arguments[0], arguments[1]]);
        match is_there {
            "order_line" => wait_until(&mut child, "a table", || {
                tables(Product::Postgres, &target).iter().any(|name| name == is_there)
            }),
            _ => program.wait_for_seconds(1, &mut child),
        }
        signal(&child, "INT");
        let done = finish(child);
        assert_eq!(done.code, 130, "{}", done.err);
        assert!(!done.err.contains("Next:"), "{}", done.err);
        assert_eq!(tables(Product::Postgres, &target), [""; 0], "{}", done.err);
    }
}
