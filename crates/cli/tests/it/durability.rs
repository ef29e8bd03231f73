//! `drill` on real servers: which commits a primary, its replica, and a server that is killed still
//! have; and that what is wrong with a table is found.

use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer, Proxy};

use crate::program::{Done, Program, finish, until, wait_until};

/// A fault at which the test acts itself: the command waits until it has.
pub struct Cue {
    due: PathBuf,
    done: PathBuf,
    pub fault: String,
}

impl Cue {
    pub fn at(program: &Program, at: &str, name: &str) -> Self {
        let (due, done) =
            (program.path(&format!("{name}-due")), program.path(&format!("{name}-done")));
        let wait = format!(
            "touch {}; while [ ! -e {} ]; do sleep 0.02; done",
            due.display(),
            done.display()
        );
        Self { due, done, fault: format!("at={at} cmd={wait}") }
    }

    pub fn act(&self, child: &mut Child, act: impl FnOnce()) {
        wait_until(child, "a fault", || self.due.exists());
        act();
        std::fs::write(&self.done, "").unwrap();
    }
}

fn document(done: &Done) -> serde_json::Value {
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}\n{}", done.out, done.err))
}

fn count(document: &serde_json::Value, name: &str) -> u64 {
    document["commits"][name].as_u64().unwrap_or_else(|| panic!("{name}: {document}"))
}

fn number(server: &PostgresServer, url: &str, sql: &str) -> u64 {
    server.run(name_of(url), sql).unwrap()[0][0].as_ref().unwrap().parse().unwrap()
}

fn rows(server: &PostgresServer, url: &str) -> u64 {
    number(server, url, "SELECT count(*) FROM triphammer_drill")
}

/// Whether a replica has less than its primary had at a time before.
fn lacks_commits(
    primary: &PostgresServer,
    replica: &PostgresServer,
    url: &str,
    of_replica: &str,
) -> bool {
    let written = rows(primary, url);
    std::thread::sleep(Duration::from_millis(200));
    rows(replica, of_replica) < written
}

/// Everything that a drill of a failover shows.
struct Failover {
    done: Done,
    document: serde_json::Value,
    /// Rows of the primary, started again after it was killed.
    primary: u64,
    /// Rows of the promoted replica.
    replica: u64,
}

/// Creates a database, and waits until a standby has it.
pub fn replicated_database(
    primary: &PostgresServer,
    standby: &PostgresServer,
    name: &str,
) -> String {
    let url = primary.fresh_database(name).unwrap();
    let known = format!("SELECT 1 FROM pg_database WHERE datname = '{}'", name_of(&url));
    until("the database on the standby", || !standby.run("postgres", &known).unwrap().is_empty());
    url
}

/// Cuts the network between a primary and its replica under load, kills the primary when that has shown its effect, and
/// promotes the replica.
fn fail_over(is_synchronous: bool) -> Failover {
    let mut primary = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
    let proxy = Proxy::start(primary.port());
    let standby = PostgresServer::standby(proxy.port()).unwrap();
    if is_synchronous {
        primary.run("postgres", "ALTER SYSTEM SET synchronous_standby_names = standby").unwrap();
        primary.run("postgres", "SELECT pg_reload_conf()").unwrap();
    }
    let url = replicated_database(&primary, &standby, "failover");
    let replica = url.replace(&primary.port().to_string(), &standby.port().to_string());
    let program = Program::new();
    let cut = Cue::at(&program, "3s", "cut");
    let kill = Cue::at(&program, "4s", "kill");
    let args = ["drill", &url, "--verify", &replica, "--vus", "4", "--duration", "10s", "--json"];
    let faults = ["--fault", &cut.fault, "--fault", &kill.fault];
    let mut child = program.start(&[&args[..], &faults].concat());
    cut.act(&mut child, || proxy.cut());
    kill.act(&mut child, || {
        if is_synchronous {
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            until("users who wait for the replica", || number(&primary, &url, waiting) == 4);
        } else {
            until("commits that it lacks", || lacks_commits(&primary, &standby, &url, &replica));
        }
        primary.kill9();
        standby.run("postgres", "SELECT pg_promote()").unwrap();
    });
    let done = finish(child);
    let document = document(&done);
    primary.restart().unwrap();
    let counted = (rows(&primary, &url), rows(&standby, &replica));
    Failover { done, document, primary: counted.0, replica: counted.1 }
}

#[test]
fn commits_that_an_asynchronous_replica_never_received_are_lost_and_counted() {
    let Failover { done, document, primary, replica } = fail_over(false);
    assert_eq!(done.code, 1, "{}", done.err);
    let (acknowledged, lost) = (count(&document, "acknowledged"), count(&document, "lost"));
    assert!(lost > 0 && lost < acknowledged, "{document}");
    // The primary kept every commit, and those in doubt that reached it.
    let doubt = count(&document, "indeterminate");
    assert!((acknowledged..=acknowledged + doubt).contains(&primary), "{primary}: {document}");
    assert_eq!(replica, acknowledged - lost + count(&document, "indeterminate_committed"));
    // A failover loses the newest commits: nothing else is wrong.
    for name in ["duplicated", "reordered", "undead", "altered"] {
        assert_eq!(count(&document, name), 0, "{name}: {document}");
    }
    // The network was cut in second 3, and a commit takes less than a second.
    let between = document["commits"]["lost_between_s"].as_array().unwrap();
    let [from, to] = [0, 1].map(|place| between[place].as_i64().unwrap());
    assert!(from >= 2 && to <= 10 && from < to, "{document}");
    let ranges: u64 = document["lost"].as_array().unwrap().iter().fold(0, |sum, range| {
        let number = |name: &str| range[name].as_u64().unwrap();
        sum + number("last") - number("first") + 1
    });
    assert_eq!(ranges, lost, "four users, each with one range");
    assert!(document["service"]["without_service_s"].as_f64().unwrap() >= 2.0, "{document}");
    assert_eq!(document["service"]["sessions_away"], 4);
}

#[test]
fn a_synchronous_replica_has_every_acknowledged_commit() {
    let Failover { done, document, primary, replica } = fail_over(true);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let acknowledged = count(&document, "acknowledged");
    assert!(acknowledged > 0 && count(&document, "lost") == 0, "{document}");
    // Cut off from its replica, the primary answered nobody; what it wrote is in doubt.
    assert_eq!(count(&document, "indeterminate"), 4, "{document}");
    assert_eq!(replica, acknowledged + count(&document, "indeterminate_committed"));
    assert!(primary >= replica, "{primary} and {replica}");
}

/// Kills a server that syncs, and expects that nothing is lost.
fn kill(more: &[&str]) {
    let mut server = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
    let url = server.fresh_database("killed").unwrap();
    let program = Program::new();
    let kill = Cue::at(&program, "3s", "kill");
    let args = ["drill", &url, "--vus", "4", "--duration", "8s", "--fault", &kill.fault, "--json"];
    let mut child = program.start(&[&args[..], more].concat());
    kill.act(&mut child, || {
        server.kill9();
        server.restart().unwrap();
    });
    let done = finish(child);
    let document = document(&done);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(count(&document, "lost"), 0);
    let doubt = count(&document, "indeterminate");
    let resolved = ["indeterminate_committed", "indeterminate_absent"];
    assert_eq!(doubt, resolved.iter().map(|name| count(&document, name)).sum::<u64>());
    let expected = count(&document, "acknowledged") + count(&document, "indeterminate_committed");
    assert_eq!(rows(&server, &url), expected);
}

#[test]
fn a_server_that_syncs_loses_nothing_when_it_is_killed() {
    kill(&[]);
}

#[test]
fn a_server_that_is_killed_keeps_pipelined_commits() {
    kill(&["--pipeline", "on"]);
}

#[test]
fn what_is_wrong_with_a_table_is_found() {
    let server = PostgresServer::shared();
    let url = server.fresh_database("wrong").unwrap();
    let database = url.rsplit('/').next().unwrap();
    let program = Program::new();
    let damage = Cue::at(&program, "1s", "damage");
    let junit = program.path("junit.xml");
    let args = ["drill", &url, "--vus", "2", "--duration", "5s", "--fault", &damage.fault];
    let mut child =
        program.start(&[&args[..], &["--junit", junit.to_str().unwrap(), "--label", "x"]].concat());
    damage.act(&mut child, || {
        let far = "SELECT count(*) FROM triphammer_drill WHERE seq = 20";
        until("users at their twentieth commit", || number(server, &url, far) == 2);
        for sql in [
            "DELETE FROM triphammer_drill WHERE usr = 0 AND seq IN (5, 9)",
            "INSERT INTO triphammer_drill SELECT usr, seq, -attempt, input, prev, hash \
             FROM triphammer_drill WHERE usr = 1 AND seq BETWEEN 7 AND 9",
            "UPDATE triphammer_drill SET input = input + 1 WHERE usr = 1 AND seq = 11",
            "INSERT INTO triphammer_drill VALUES (77, 1, 1, 1, 0, 1)",
        ] {
            server.run(database, sql).unwrap();
        }
    });
    let done = finish(child);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.out.contains("2 lost, 3 duplicated, 2 reordered, 2 altered"), "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("name=\"no commit was lost\""), "{xml}");
    assert!(xml.contains("tests=\"8\" failures=\"4\" errors=\"0\""), "{xml}");
    // The stored job has the whole report, in every format.
    let whole = program.ok(&["report", "last"]);
    assert!(whole.contains("2 lost, 3 duplicated, 2 reordered, 2 altered"), "{whole}");
    assert!(whole.contains("user  lost from"), "{whole}");
    let markdown = program.ok(&["report", "last", "--format", "markdown"]);
    assert!(markdown.contains("## Lost commits") && markdown.contains("“x”"), "{markdown}");
    assert_eq!(program.ok(&["report", "last", "--format", "junit"]), xml);
    let listed = program.ok(&["jobs"]);
    assert!(listed.contains("drill") && listed.contains("lost commits 2"), "{listed}");
    let runs = program.ok(&["jobs", "--parent", "1"]);
    assert!(runs.contains("run") && runs.contains("TPS"), "{runs}");
}

/// Cuts the network and terminates the sessions, and expects that nothing is lost.
fn disturb(url: &str, more: &[&str]) {
    let program = Program::new();
    let args = ["drill", url, "--vus", "4", "--duration", "8s"];
    let faults = ["--fault", "at=2s cut=1s", "--fault", "at=5s terminate"];
    let document = program.json(&[&args[..], &faults, more].concat());
    assert_eq!(count(&document, "lost"), 0, "{document}");
    for name in ["duplicated", "reordered", "undead", "altered"] {
        assert_eq!(count(&document, name), 0, "{name}: {document}");
    }
    let faults = document["faults"].as_array().unwrap();
    assert_eq!(faults[0]["fault"], "at=2s cut=1s");
    assert_eq!(faults[1]["detail"], "ended 4 sessions");
    assert!(faults.iter().all(|fault| fault["succeeded"] == true), "{document}");
    // All sessions were closed, and those whose commit was under way are in doubt or failed.
    let away = count(&document, "failed") + count(&document, "indeterminate");
    assert!(away >= 4, "{document}");
    assert_eq!(document["server"]["transport"], "tcp");
}

#[test]
fn postgres_loses_nothing_when_the_network_is_cut_and_sessions_are_terminated() {
    disturb(&PostgresServer::shared().fresh_database("disturbed").unwrap(), &[]);
}

#[test]
fn pipelined_commits_survive_the_same() {
    let url = PostgresServer::shared().fresh_database("disturbed_pipelined").unwrap();
    disturb(&url, &["--pipeline", "on"]);
}

#[test]
fn mariadb_loses_nothing_when_the_network_is_cut_and_sessions_are_terminated() {
    disturb(&MariadbServer::shared().fresh_database("disturbed").unwrap(), &[]);
}

#[test]
fn an_outage_shorter_than_a_second_has_its_place_and_its_length() {
    let url = PostgresServer::shared().fresh_database("short_outage").unwrap();
    let program = Program::new();
    let fault = "at=1500ms cut=300ms";
    let document =
        program.json(&["drill", &url, "--vus", "4", "--duration", "4s", "--fault", fault]);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let began = number(&document["faults"][0]["began_s"]);
    let service = &document["service"];
    let outages = service["outages"].as_array().unwrap();
    let around = |outage: &&serde_json::Value| {
        number(&outage["from_s"]) <= began + 0.05 && number(&outage["until_s"]) >= began + 0.25
    };
    let outage = outages.iter().find(around).unwrap_or_else(|| panic!("{document}"));
    let lasted = number(&outage["until_s"]) - number(&outage["from_s"]);
    assert!((0.25..2.0).contains(&lasted), "{document}");
    assert!(number(&service["without_service_s"]) >= lasted - 1e-9, "{document}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("no commit was acknowledged"), "{report}");
    assert!(report.contains("without service from second"), "{report}");
}

#[test]
fn an_embedded_database_is_drilled_by_commands_only() {
    let program = Program::new();
    let drill =
        |fault: &str, url: &str| program.run(&["drill", url, "--duration", "2s", "--fault", fault]);
    for (fault, url, message) in [
        ("at=1s cut=100ms", "sqlite:a.sqlite", "`at=1s cut=100ms` is impossible"),
        ("at=1s terminate", "sqlite:a.sqlite", "no statement that ends the sessions"),
        ("at=1s terminate", "null:", "does not store data"),
        ("at=1s explode", "sqlite:a.sqlite", "has an unknown fault"),
        ("at=1s cut=1s", "sqlite:a.sqlite", "is not over when the load ends"),
    ] {
        let done = drill(fault, url);
        assert_eq!(done.code, 2, "{fault}: {}", done.err);
        assert!(done.err.contains(message), "{fault}: {}", done.err);
    }
    let done = drill("at=1s cmd=echo broken; exit 3", "sqlite:a.sqlite");
    assert_eq!(done.code, 1, "a fault that did not take place proves nothing: {}", done.out);
    assert!(done.out.contains("did not take place"), "{}", done.out);
    let done = drill("at=1s cmd=true", "sqlite:a.sqlite");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert!(done.out.contains("acknowledged commits are there, in order"), "{}", done.out);
    let dropped = program.ok(&["drop", "sqlite:a.sqlite", "-w", "drill", "--yes"]);
    assert!(dropped.contains("triphammer_drill"), "{dropped}");
    for command in ["run", "build", "check", "profile"] {
        let done = program.run(&[command, "sqlite:a.sqlite", "-w", "drill"]);
        assert_eq!(done.code, 2, "{command}");
        assert!(done.err.contains("use `triphammer drill TARGET`"), "{}", done.err);
    }
}

#[test]
fn a_table_that_cannot_be_read_back_proves_nothing() {
    let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let url = server.fresh_database("gone").unwrap();
    let program = Program::new();
    let kill = Cue::at(&program, "1s", "kill");
    let args = ["drill", &url, "--vus", "2", "--duration", "3s", "--verify-timeout", "1s"];
    let mut child = program.start(&[&args[..], &["--fault", &kill.fault, "--json"]].concat());
    kill.act(&mut child, || {
        until("commits", || rows(&server, &url) > 0);
        server.kill9();
    });
    let done = finish(child);
    let document = document(&done);
    assert_eq!(done.code, 1, "{}", done.err);
    assert_eq!(document["commits"]["lost"], serde_json::Value::Null);
    assert!(count(&document, "acknowledged") > 0);
    let error = document["verification"]["error"].as_str().unwrap();
    assert!(error.contains("could not connect"), "{error}");
}

/// Drills `url`, runs `stop` in its second second, and returns why nothing was verified at `verify`.
fn unverified(url: &str, verify: &str, has_rows: &dyn Fn() -> bool, stop: impl FnOnce()) -> String {
    let program = Program::new();
    let cue = Cue::at(&program, "1s", "stop");
    let args = ["drill", url, "--vus", "2", "--duration", "3s", "--fault", &cue.fault, "--json"];
    let verify = ["--verify", verify, "--verify-timeout", "1s"];
    let mut child = program.start(&[&args[..], &verify].concat());
    cue.act(&mut child, || {
        until("commits at the replica", has_rows);
        stop();
    });
    let done = finish(child);
    let document = document(&done);
    assert_eq!(done.code, 1, "{}", done.err);
    assert_eq!(document["commits"]["lost"], serde_json::Value::Null, "{document}");
    assert!(count(&document, "acknowledged") > 0, "{document}");
    document["verification"]["error"].as_str().unwrap().to_owned()
}

#[test]
fn a_postgres_replica_whose_replay_is_paused_has_lost_nothing() {
    let primary = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
    let standby = PostgresServer::standby(primary.port()).unwrap();
    let url = replicated_database(&primary, &standby, "paused");
    let replica = url.replace(&primary.port().to_string(), &standby.port().to_string());
    let has_rows = || {
        let sql = "SELECT count(*) FROM pg_class WHERE relname = 'triphammer_drill'";
        let found = standby.run(name_of(&url), sql);
        found.is_ok_and(|found| found[0][0].as_deref() == Some("1")) && rows(&standby, &url) > 0
    };
    let pause = || drop(standby.run("postgres", "SELECT pg_wal_replay_pause()").unwrap());
    let why = unverified(&url, &replica, &has_rows, pause);
    assert!(why.contains("has stopped to apply changes"), "{why}");
    assert!(why.contains("pg_wal_replay_resume()"), "{why}");
}

#[test]
fn a_mariadb_replica_whose_applier_is_stopped_has_lost_nothing() {
    let primary = MariadbServer::start(MariadbOptions::of_primary()).unwrap();
    let replica = MariadbServer::replica(&primary).unwrap();
    let url = primary.fresh_database("stopped").unwrap();
    let verify = url.replace(&primary.port().to_string(), &replica.port().to_string());
    let has_rows = || {
        let found = replica.run(name_of(&url), "SELECT count(*) > 0 FROM triphammer_drill");
        found.is_ok_and(|found| found[0][0].as_deref() == Some("1"))
    };
    let run = |sql: &str| drop(replica.run("mysql", sql).unwrap());
    let stop = || run("STOP REPLICA SQL_THREAD");
    let why = unverified(&url, &verify, &has_rows, stop);
    assert!(why.contains("has stopped to apply changes"), "{why}");
    assert!(why.contains("START REPLICA"), "{why}");
    // One that accepts writes, as after a promotion that stopped the applier too early.
    run("START REPLICA SQL_THREAD; SET GLOBAL read_only = 0");
    replica.catch_up(&primary).unwrap();
    let why = unverified(&url, &verify, &has_rows, stop);
    assert!(why.contains("applier is stopped or has failed"), "{why}");
}

/// Drills a target of two hosts, whose first one is killed while the second is promoted: the users
/// move to it.
#[test]
fn users_move_to_a_promoted_replica_and_go_on_after_what_was_lost() {
    let mut primary = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
    let proxy = Proxy::start(primary.port());
    let standby = PostgresServer::standby(proxy.port()).unwrap();
    let url = replicated_database(&primary, &standby, "moved");
    let port = primary.port().to_string();
    let both = format!("{port},127.0.0.1:{}", standby.port());
    let both = url.replace(&port, &both) + "?target_session_attrs=read-write";
    let program = Program::new();
    let cut = Cue::at(&program, "2s", "cut");
    let kill = Cue::at(&program, "3s", "kill");
    let args = ["drill", &both, "--vus", "4", "--duration", "20s", "--json"];
    let faults = ["--fault", &cut.fault, "--fault", &kill.fault];
    let mut child = program.start(&[&args[..], &faults].concat());
    cut.act(&mut child, || proxy.cut());
    let replica = url.replace(&port, &standby.port().to_string());
    kill.act(&mut child, || {
        until("commits that it lacks", || lacks_commits(&primary, &standby, &url, &replica));
        primary.kill9();
        standby.run("postgres", "SELECT pg_promote()").unwrap();
    });
    let done = finish(child);
    let document = document(&done);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(count(&document, "lost") > 0, "{document}");
    assert_eq!(document["service"]["sessions_away"], 0, "{document}");
    // Each user found its chain shorter than it had left it, and went on from there.
    for name in ["duplicated", "reordered", "undead", "altered"] {
        assert_eq!(count(&document, name), 0, "{name}: {document}");
    }
    let last = document["lost"].as_array().unwrap().iter().map(|range| range["last"].as_u64());
    let sql = "SELECT count(*) FROM (SELECT usr, max(seq) AS seq FROM triphammer_drill GROUP BY usr) t \
               WHERE seq > $1";
    let lost = last.flatten().min().unwrap();
    let database = url.rsplit('/').next().unwrap();
    let went_on = standby.run(database, &sql.replace("$1", &lost.to_string())).unwrap();
    assert_eq!(went_on[0][0].as_deref(), Some("4"));
}

/// How many users have written to a server.
const USERS: &str = "SELECT count(DISTINCT usr) FROM triphammer_drill";

/// Makes the first of two servers read only during a run of both, and expects that the users move
/// to the second. `users` tells how many have written to each server.
fn demote(url: &str, users: [&dyn Fn() -> u64; 2], demote: impl FnOnce()) {
    let program = Program::new();
    let cue = Cue::at(&program, "1s", "demote");
    let args = ["drill", url, "--vus", "2", "--duration", "9s", "--fault", &cue.fault, "--json"];
    let mut child = program.start(&args);
    cue.act(&mut child, || {
        until("commits of both users", || users[0]() == 2);
        demote();
        until("users of the other server", || users[1]() == 2);
    });
    let done = finish(child);
    let document = document(&done);
    assert_eq!(document["service"]["sessions_away"], 0, "{document}");
    // Each user failed once, found the other server, and wrote a new chain into its empty table.
    assert_eq!(count(&document, "failed"), 2, "{document}");
    assert!(count(&document, "lost") > 0, "the other server has nothing of this: {document}");
}

#[test]
fn a_session_on_a_postgres_that_became_read_only_is_replaced() {
    let first = PostgresServer::start(PostgresOptions::default()).unwrap();
    let second = PostgresServer::start(PostgresOptions::default()).unwrap();
    let (url, other) =
        (first.fresh_database("demoted").unwrap(), second.fresh_database("demoted").unwrap());
    let database = url.rsplit('/').next().unwrap().to_owned();
    second
        .run("postgres", &format!("ALTER DATABASE {} RENAME TO {database}", name_of(&other)))
        .ok();
    second.run(&database, TABLE).unwrap();
    let port = first.port().to_string();
    let both = url.replace(&port, &format!("{port},127.0.0.1:{}", second.port()));
    let users: [&dyn Fn() -> u64; 2] =
        [&|| number(&first, &url, USERS), &|| number(&second, &url, USERS)];
    demote(&(both + "?target_session_attrs=read-write"), users, || {
        first.run("postgres", "ALTER SYSTEM SET default_transaction_read_only = on").unwrap();
        first.run("postgres", "SELECT pg_reload_conf()").unwrap();
    });
}

#[test]
fn a_session_on_a_mariadb_that_became_read_only_is_replaced() {
    let first = MariadbServer::start(MariadbOptions::default()).unwrap();
    let second = MariadbServer::start(MariadbOptions::default()).unwrap();
    for server in [&first, &second] {
        for sql in [
            "CREATE DATABASE demoted",
            "CREATE USER plain@'%' IDENTIFIED BY 'plain'",
            "GRANT ALL ON demoted.* TO plain@'%'",
        ] {
            server.run("mysql", sql).unwrap();
        }
    }
    second.run("demoted", TABLE).unwrap();
    let (one, other) = (first.port(), second.port());
    let both = format!("mariadb://plain:plain@127.0.0.1:{one},127.0.0.1:{other}/demoted");
    let count = |server: &MariadbServer| -> u64 {
        server.run("demoted", USERS).unwrap()[0][0].as_deref().unwrap().parse().unwrap()
    };
    let users: [&dyn Fn() -> u64; 2] = [&|| count(&first), &|| count(&second)];
    demote(&(both + "?target-session-attrs=read-write"), users, || {
        first.run("mysql", "SET GLOBAL read_only = 1").unwrap();
    });
}

fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// The table of a drill, as its build creates it.
const TABLE: &str = "CREATE TABLE triphammer_drill (usr int NOT NULL, seq bigint NOT NULL, attempt \
    bigint NOT NULL, input bigint NOT NULL, prev bigint NOT NULL, hash bigint NOT NULL, PRIMARY KEY \
    (usr, seq, attempt))";
