//! Runs on a primary and its replica: where transactions go, what is reported per node, a node that
//! is killed and comes back, and a promotion.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;
use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer};

use crate::durability::Cue;
use crate::program::{Done, Messages, Program, finish, signal, until, wait_until};
use crate::servers::name_of;

/// Reads and writes.
const LOAD: [&str; 8] = ["-w", "kv", "--mix", "read=3,update=1", "--vus", "4", "--rampup", "0s"];

/// Stops a run, after a whole second of what it does now: its window ends with one.
fn stop(run: &Child) {
    std::thread::sleep(Duration::from_millis(2_100));
    signal(run, "INT");
}

fn document(done: &Done) -> Json {
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}\n{}", done.out, done.err))
}

/// Number of transactions of a type that a node completed in the window.
fn completed(document: &Json, node: usize, name: &str) -> u64 {
    let types = document["nodes"][node]["types"].as_array().unwrap();
    types.iter().find(|of| of["name"] == name).unwrap()["completed"].as_u64().unwrap()
}

fn changes(document: &Json, node: usize) -> Vec<&str> {
    let changes = document["nodes"][node]["changes"].as_array().unwrap();
    changes.iter().map(|of| of["change"].as_str().unwrap()).collect()
}

/// A PostgreSQL primary and its replica, with the data of the key-value load on both.
struct Pair {
    program: Program,
    primary: PostgresServer,
    standby: PostgresServer,
    url: String,
    nodes: String,
}

impl Pair {
    fn start() -> Self {
        let primary = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
        let standby = PostgresServer::standby(primary.port()).unwrap();
        let url = primary.fresh_database("nodes").unwrap();
        let replica = url.replace(&primary.port().to_string(), &standby.port().to_string());
        let program = Program::new();
        program.ok(&["build", &url, "-w", "kv", "--scale", "0.001", "--payload-size", "40"]);
        let lsn = primary.run("postgres", "SELECT pg_current_wal_lsn()").unwrap();
        let lsn = lsn[0][0].clone().unwrap();
        let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{lsn}'");
        until("replication", || {
            standby.run("postgres", &sql).is_ok_and(|rows| rows[0][0].as_deref() == Some("t"))
        });
        let nodes = program.path("nodes.toml");
        let text = format!(
            "[[node]]\nname = \"one\"\ntarget = \"{url}\"\n\n\
             [[node]]\nname = \"two\"\ntarget = \"{replica}\"\n"
        );
        std::fs::write(&nodes, text).unwrap();
        let nodes = nodes.display().to_string();
        Self { program, primary, standby, url, nodes }
    }

    /// Sum of the versions of all rows, which grows with each update.
    fn updates(&self, server: &PostgresServer) -> i64 {
        self.number(server, "SELECT sum(version) FROM kv_store")
    }

    fn number(&self, server: &PostgresServer, sql: &str) -> i64 {
        let rows = server.run(name_of(&self.url), sql).unwrap();
        rows[0][0].as_deref().unwrap().parse().unwrap()
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["run", "--nodes", &self.nodes][..], &LOAD, more].concat()
    }
}

#[test]
fn reads_go_to_the_replica_and_each_node_has_its_figures() {
    let pair = Pair::start();
    let required = "node.two.p95 < 10s, node.one.share < 0.9, node.two.lag_max < 1min";
    let document = pair.program.json(&pair.args(&["--duration", "5s", "--require", required]));
    let judged = document["requirements"].as_array().unwrap();
    assert!(judged.iter().all(|one| one["passed"] == true), "{judged:?}");
    let nodes = document["nodes"].as_array().unwrap();
    assert_eq!((&nodes[0]["name"], &nodes[1]["name"]), (&"one".into(), &"two".into()));
    assert_eq!((&nodes[0]["role"], &nodes[1]["role"]), (&"primary".into(), &"replica".into()));
    assert_eq!((completed(&document, 0, "read"), completed(&document, 1, "update")), (0, 0));
    let (updates, reads) = (completed(&document, 0, "update"), completed(&document, 1, "read"));
    assert!(updates > 0 && reads > updates, "{updates} and {reads}");
    assert_eq!(document["window"]["total"]["completed"], updates + reads);
    for node in nodes {
        assert_eq!((&node["failed"], &node["sessions"]), (&0.into(), &4.into()), "{node}");
        assert!(node["connections"].as_u64().unwrap() >= 4, "{node}");
        assert!(node["server_per_minute"].as_f64().unwrap() > 0.0, "{node}");
        assert!(node["response"]["p95_us"].as_u64().unwrap() > 0, "{node}");
    }
    assert!(nodes[0]["lag_mean_s"].is_null() && nodes[1]["lag_mean_s"].is_number(), "{nodes:?}");
    let text = pair.program.ok(&["report", "last"]);
    assert!(text.contains("Nodes in the timed window") && text.contains("replica"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let markdown = pair.program.ok(&["report", "last", "--format", "markdown"]);
    assert!(markdown.contains("| node | role |"), "{markdown}");
    let later = ["report", "last", "--require", "node.two.completed > 1G"];
    assert_eq!(pair.program.run(&later).code, 2, "1G is no number");
    let later = ["report", "last", "--require", "node.two.sessions_lost > 5"];
    assert_eq!(pair.program.run(&later).code, 1);
    let unknown = pair.args(&["--duration", "1s", "--require", "node.three.p95 < 1s"]);
    let done = pair.program.run(&unknown);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("of a node: node.NAME.FIGURE") && done.err.contains("one, two"));
}

#[test]
fn hosts_of_a_url_are_nodes_with_rules() {
    let pair = Pair::start();
    let port = pair.primary.port().to_string();
    let both = pair.url.replace(&port, &format!("{port},127.0.0.1:{}", pair.standby.port()));
    let load = ["-w", "kv", "--mix", "read=3,update=1", "--vus", "4", "--transactions", "500"];
    let args = [&["run", &both][..], &load].concat();
    let routed = [&args[..], &["--route", "reads=round-robin", "--route", "writes=first"]].concat();
    let document = pair.program.json(&routed);
    let reads = [0, 1].map(|node| completed(&document, node, "read"));
    assert!(reads[0].abs_diff(reads[1]) < reads[0] / 10, "{reads:?}");
    assert_eq!(completed(&document, 1, "update"), 0);
    // Without rules, the target is one server, as it was.
    let single = pair.program.json(&args);
    assert_eq!(single["nodes"], Json::Array(Vec::new()));
}

#[test]
fn the_users_of_a_killed_replica_read_at_the_primary_and_return() {
    let mut pair = Pair::start();
    let before = pair.updates(&pair.primary);
    let mut child = pair.program.start(&pair.args(&["--duration", "10m", "--json"]));
    // The last statement of each user's session with a server.
    let readers = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT version%'";
    wait_until(&mut child, "users of both nodes", || {
        pair.updates(&pair.primary) > before + 20 && pair.number(&pair.standby, readers) == 4
    });
    pair.standby.kill9();
    let lost = "SELECT count(*) FROM notes WHERE kind = 'node_lost'";
    wait_until(&mut child, "a lost node", || pair.program.number("jobs.sqlite", lost) > 0);
    wait_until(&mut child, "readers of the primary", || pair.number(&pair.primary, readers) > 0);
    // A part needs six seconds for a reaction; seconds are stored in batches of five.
    let seconds = || pair.program.number("jobs.sqlite", "SELECT count(*) FROM seconds");
    let now = seconds();
    wait_until(&mut child, "seconds without the replica", || seconds() >= now + 15);
    pair.standby.restart().unwrap();
    wait_until(&mut child, "readers who return", || pair.number(&pair.standby, readers) == 4);
    let now = pair.program.number("jobs.sqlite", "SELECT count(*) FROM seconds");
    pair.program.wait_for_seconds(now + 15, &mut child);
    stop(&child);
    let done = finish(child);
    let document = document(&done);
    assert_eq!(done.code, 130, "{}\n{}", done.out, done.err);
    assert_eq!(changes(&document, 1), ["lost", "back"], "{document}");
    assert_eq!(changes(&document, 0), Vec::<&str>::new());
    let steps = document["elasticity"]["steps"].as_array().unwrap();
    let steps: Vec<_> = steps.iter().map(|of| [&of["what"], &of["from"], &of["to"]]).collect();
    let of_nodes = |from: f64, to: f64| [Json::from("nodes"), from.into(), to.into()];
    assert_eq!(steps, [of_nodes(2.0, 1.0).each_ref(), of_nodes(1.0, 2.0).each_ref()]);
    let back = &document["elasticity"]["steps"][1]["half_s"];
    assert!(back.as_f64().is_some_and(|after| after < 6.0), "{document}");
    let report = pair.program.ok(&["report", "last"]);
    assert!(report.contains("2 → 1 nodes") && report.contains("1 → 2 nodes"), "{report}");
    let reads = [0, 1].map(|node| completed(&document, node, "read"));
    assert!(reads[0] > 0 && reads[1] > 0, "{reads:?}");
    assert_eq!(document["nodes"][1]["sessions"], 4, "all users have returned: {document}");
    assert!(document["nodes"][1]["sessions_lost"].as_u64().unwrap() >= 1, "{document}");
    let failed = document["run"]["total"]["failed"].as_u64().unwrap();
    assert!(failed <= 4, "each user's transaction in flight at most: {document}");
    assert!(done.err.contains("node two cannot be reached"), "{}", done.err);
    assert_eq!(document["failovers"], Json::Array(Vec::new()));
}

#[test]
fn a_promotion_during_a_run_is_survived_and_timed() {
    let mut pair = Pair::start();
    let sql = "ALTER SYSTEM SET synchronous_standby_names = standby";
    pair.primary.run("postgres", sql).unwrap();
    pair.primary.run("postgres", "SELECT pg_reload_conf()").unwrap();
    let before = pair.updates(&pair.primary);
    let mut child = pair.program.start(&pair.args(&["--duration", "10m", "--json"]));
    wait_until(&mut child, "updates", || pair.updates(&pair.primary) > before + 20);
    pair.primary.kill9();
    pair.standby.run("postgres", "SELECT pg_promote()").unwrap();
    let before = pair.updates(&pair.standby);
    wait_until(&mut child, "updates there", || pair.updates(&pair.standby) > before + 20);
    stop(&child);
    let done = finish(child);
    let document = document(&done);
    assert_eq!(document["status"], "interrupted", "{document}");
    assert_eq!((changes(&document, 0), changes(&document, 1)), (vec!["lost"], vec!["promoted"]));
    let failovers = document["failovers"].as_array().unwrap();
    assert_eq!(failovers.len(), 1, "{document}");
    let failover = &failovers[0];
    assert_eq!((&failover["from"], &failover["to"]), (&"one".into(), &"two".into()));
    let gap = failover["gap_s"].as_f64().unwrap();
    assert!(gap > 0.0 && gap < 60.0, "{failover}");
    assert!(completed(&document, 1, "update") > 0, "{document}");
    assert_eq!(document["nodes"][1]["role_at_end"], "primary");
    let audit = &document["audits"][0]["verdict"];
    assert_ne!(audit, "violated", "what a synchronous replica acknowledged is there: {document}");
    let text = pair.program.ok(&["report", "last"]);
    assert!(text.contains("writes moved from one to two: none committed for"), "{text}");
    assert!(text.contains("replica → primary"), "{text}");
}

#[test]
fn a_drill_proves_a_promotion_and_has_figures_per_node() {
    let mut pair = Pair::start();
    let sql = "ALTER SYSTEM SET synchronous_standby_names = standby";
    pair.primary.run("postgres", sql).unwrap();
    pair.primary.run("postgres", "SELECT pg_reload_conf()").unwrap();
    let cue = Cue::at(&pair.program, "1s", "promote");
    let drill = ["drill", "--nodes", &pair.nodes, "--vus", "4", "--duration", "15s", "--json"];
    let mut child = pair.program.start(&[&drill[..], &["--fault", &cue.fault]].concat());
    wait_until(&mut child, "commits", || {
        let sql = "SELECT count(*) FROM triphammer_drill";
        let rows = pair.primary.run(name_of(&pair.url), sql);
        rows.is_ok_and(|rows| rows[0][0].as_deref() != Some("0"))
    });
    cue.act(&mut child, || {
        pair.primary.kill9();
        pair.standby.run("postgres", "SELECT pg_promote()").unwrap();
    });
    let done = finish(child);
    let document = document(&done);
    assert_eq!(done.code, 0, "{document}");
    assert_eq!(document["commits"]["lost"], 0, "{document}");
    assert_eq!((changes(&document, 0), changes(&document, 1)), (vec!["lost"], vec!["promoted"]));
    assert_eq!(document["failovers"][0]["to"], "two", "{document}");
    assert!([0, 1].iter().all(|node| document["nodes"][node]["completed"].as_u64() > Some(0)));
    let text = pair.program.ok(&["report", &document["job"].to_string()]);
    assert!(text.contains("writes moved from one to two: none committed for"), "{text}");
    assert!(text.contains("Nodes in the timed window"), "{text}");
}

/// A MariaDB or MySQL primary and its replica, whose user cannot write where `read_only` is set.
fn mariadb_pair(program: &Program) -> (MariadbServer, MariadbServer, String) {
    let primary = MariadbServer::start(MariadbOptions::of_primary()).unwrap();
    let replica = MariadbServer::replica(&primary).unwrap();
    let monitor = if primary.is_mariadb() { "REPLICA MONITOR" } else { "REPLICATION CLIENT" };
    for sql in [
        "CREATE DATABASE nodes",
        "CREATE USER plain@'%' IDENTIFIED BY 'plain'",
        "GRANT ALL ON nodes.* TO plain@'%'",
        &format!("GRANT {monitor} ON *.* TO plain@'%'"),
    ] {
        primary.run("mysql", sql).unwrap();
    }
    let user = format!("{}:{}@", primary.user(), primary.password());
    let url = primary.url("nodes").replace(&user, "plain:plain@");
    program.ok(&["build", &url, "-w", "kv", "--scale", "0.001", "--payload-size", "40"]);
    replica.catch_up(&primary).unwrap();
    let nodes = program.path("nodes.toml");
    let text = format!(
        "[[node]]\nname = \"one\"\ntarget = \"{url}\"\n\n\
         [[node]]\nname = \"two\"\nhost = \"127.0.0.1:{}\"\n",
        replica.port()
    );
    std::fs::write(&nodes, text).unwrap();
    (primary, replica, url)
}

#[test]
fn writes_follow_from_a_mariadb_or_mysql_that_became_read_only_to_its_promoted_replica() {
    let program = Program::new();
    let (primary, replica, url) = mariadb_pair(&program);
    // How long no node accepts writes depends on the host.
    let retries = ["--retries", "50"];
    let args = [&["run", &url, "--nodes", "nodes.toml", "--json"][..], &LOAD, &retries].concat();
    let mut child =
        program.start(&[&args[..], &["--duration", "10m", "--progress", "1s"]].concat());
    // In each second, the replica's lag is read.
    Messages::by(&mut child).wait_for("progress: 3s");
    let updates = |server: &MariadbServer| -> i64 {
        let rows = server.run("nodes", "SELECT SUM(version) FROM kv_store").unwrap();
        rows[0][0].as_deref().unwrap().parse().unwrap()
    };
    primary.run("mysql", "SET GLOBAL read_only = 1").unwrap();
    replica.catch_up(&primary).unwrap();
    replica.run("mysql", "STOP REPLICA; SET GLOBAL read_only = 0").unwrap();
    let before = updates(&replica);
    wait_until(&mut child, "updates of the other node", || updates(&replica) > before + 100);
    stop(&child);
    let done = finish(child);
    let document = document(&done);
    assert_eq!((changes(&document, 0), changes(&document, 1)), (vec!["demoted"], vec!["promoted"]));
    assert_eq!(document["run"]["total"]["failed"], 0, "rejected writes are retried: {document}");
    assert_eq!(document["failovers"][0]["to"], "two", "{document}");
    assert!(document["failovers"][0]["gap_s"].as_f64().unwrap() < 60.0, "{document}");
    assert_eq!(document["nodes"][0]["role_at_end"], "replica");
    let [before, after] = [0, 1].map(|node| completed(&document, node, "update"));
    assert!(before > 0 && after > 0, "{before} and {after}");
    assert!(document["nodes"][1]["lag_mean_s"].is_number(), "{document}");
    let reads = [0, 1].map(|node| completed(&document, node, "read"));
    assert!(reads[0] > 0 && reads[1] > 0, "reads go to whichever is the replica: {reads:?}");
}

#[test]
fn a_drill_ends_only_its_own_sessions_and_waits_for_a_replica_that_accepts_writes() {
    let program = Program::new();
    let (primary, replica, url) = mariadb_pair(&program);
    // A replica that is behind, and that nothing keeps from writes.
    replica.delay(4).unwrap();
    replica.run("mysql", "SET GLOBAL read_only = 0").unwrap();
    let host = format!(":{}/", replica.port());
    let verify = url.replace(&format!(":{}/", primary.port()), &host);
    let drill = ["drill", &url, "--vus", "4", "--duration", "3s"];
    let delayed = program.json(&[&drill[..], &["--verify", &verify]].concat());
    assert_eq!(delayed["commits"]["lost"], 0, "{delayed}");
    assert!(delayed["verification"]["waited_s"].as_f64().unwrap() > 0.0, "{delayed}");

    // Two independent servers, with the sessions of others that have the same numbers.
    replica.run("mysql", "STOP REPLICA").unwrap();
    let strangers: Vec<_> = (0..30).map(|_| stranger(&primary)).collect();
    until("the sessions of others", || sleeping(&primary) == strangers.len());
    let faults = ["--nodes", "nodes.toml", "--fault", "at=1s terminate", "--json"];
    let done = program.run(&[&drill[..], &faults].concat());
    assert_eq!(sleeping(&primary), strangers.len());
    let document = document(&done);
    // Half of the users are at the other node.
    assert_eq!(document["faults"][0]["detail"], "ended 2 sessions", "{document}");
    let run = ["run", &url, "--nodes", "nodes.toml", "--vus", "4", "--transactions", "100"];
    let kv = ["-w", "kv", "--mix", "update=1"];
    let document = program.json(&[&run[..], &kv].concat());
    let audit = &document["audits"][0];
    assert_eq!(audit["verdict"], "not_counted", "{audit}");
    let text = audit["words"].as_str().unwrap();
    assert!(text.contains("several nodes accept writes"), "{audit}");
    for mut stranger in strangers {
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}

/// A session of another program.
fn stranger(server: &MariadbServer) -> Child {
    let socket = format!("--socket={}", server.socket().display());
    let mut client = Command::new("mariadb");
    client.args([
        "--no-defaults",
        "--user=root",
        &socket,
        "--execute",
        "SELECT sleep(600)",
        "nodes",
    ]);
    client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn sleeping(server: &MariadbServer) -> usize {
    let sql = "SELECT id FROM information_schema.processlist WHERE info = 'SELECT sleep(600)'";
    server.run("mysql", sql).unwrap().len()
}

#[test]
fn a_connect_pool_of_hammerdb_is_read_as_it_is() {
    let primary = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
    let standby = PostgresServer::standby(primary.port()).unwrap();
    let url = primary.fresh_database("pool").unwrap();
    let program = Program::new();
    program.ok(&["build", &url, "--scale", "1"]);
    let lsn = primary.run("postgres", "SELECT pg_current_wal_lsn()").unwrap();
    let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{}'", lsn[0][0].as_ref().unwrap());
    until("replication", || {
        standby.run("postgres", &sql).is_ok_and(|rows| rows[0][0].as_deref() == Some("t"))
    });
    let connection = |name: &str, port: u16| {
        format!(
            "    <{name}>\n\t<pg_host>127.0.0.1</pg_host>\n        <pg_port>{port}</pg_port>\n\
             \t<pg_sslmode>disable</pg_sslmode>\n\t<pg_user>{}</pg_user>\n\
             \t<pg_pass>{}</pg_pass>\n\t<pg_dbase>{}</pg_dbase>\n    </{name}>\n",
            primary.user(),
            primary.password(),
            name_of(&url)
        )
    };
    let procedure = |name: &str, policy: &str, connections: &str| {
        format!(
            "  \t<{name}>\n\t\t<connections>{connections}</connections>\n\
             \t\t<policy>{policy}</policy>\n\t</{name}>\n"
        )
    };
    let xml = format!(
        "<connpool>\n<connections>\n{}{}</connections>\n<sprocs>\n{}{}{}{}{}</sprocs>\n</connpool>\n",
        connection("c1", primary.port()),
        connection("c2", standby.port()),
        procedure("neworder", "first_named", "c1 c2"),
        procedure("payment", "round_robin", "c1"),
        procedure("delivery", "random", "c1"),
        procedure("stocklevel", "last_named", "c1 c2"),
        procedure("orderstatus", "round_robin", "c1 c2"),
    );
    std::fs::write(program.path("pgcpool.xml"), xml).unwrap();
    let document =
        program.json(&["run", "--nodes", "pgcpool.xml", "--vus", "2", "--transactions", "300"]);
    let at = |name| [0, 1].map(|node| completed(&document, node, name));
    assert!(at("new_order")[0] > 0 && at("new_order")[1] == 0, "{document}");
    assert!(at("stock_level")[0] == 0 && at("stock_level")[1] > 0, "{document}");
    assert!(at("order_status").iter().all(|count| *count > 0), "{document}");
    assert!(!document.to_string().contains(primary.password()), "no password is in a document");
}

#[test]
fn bad_nodes_are_rejected_before_anything_runs() {
    let program = Program::new();
    let file = |name: &str, text: &str| std::fs::write(program.path(name), text).unwrap();
    file("one.toml", "[[node]]\nname = \"a\"\ntarget = \"postgres://u:s3cret@127.0.0.1:1/d\"\n");
    file(
        "files.toml",
        "[[node]]\nname='a'\ntarget='sqlite:a'\n[[node]]\nname='b'\ntarget='sqlite:b'\n",
    );
    file("color.toml", "[[node]]\nname = \"a\"\ncolor = \"red\"\n");
    file(
        "pool.xml",
        "<connpool><connections><c1><ora_host>h</ora_host></c1></connections></connpool>",
    );
    file("null.toml", "[[node]]\nname='a'\ntarget='null:'\n[[node]]\nname='b'\ntarget='null:'\n");
    let null = ["--nodes", "null.toml", "--route"];
    for (args, message) in [
        (vec!["--nodes", "absent.toml"], "cannot read the nodes"),
        (vec!["--nodes", "one.toml"], "from 2 to 64 nodes, got 1"),
        (vec!["--nodes", "files.toml"], "a database in this process cannot be a node"),
        (vec!["--nodes", "color.toml"], "unknown field `color`"),
        (vec!["--nodes", "pool.xml"], "connect pools of PostgreSQL, MySQL and MariaDB"),
        (vec!["postgres://u@127.0.0.1:1/d", "--route", "reads=first"], "from 2 to 64 nodes, got 1"),
        (vec!["postgres://u@127.0.0.1:1,b/d", "--route", "first"], "invalid rule `first`"),
        ([&null[..], &["reads=nearest"]].concat(), "unknown policy `nearest`"),
        ([&null[..], &["tea_time=first"]].concat(), "no such transaction type"),
    ] {
        let done = program.run(&[&["run"][..], &args].concat());
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
        assert!(!done.err.contains("s3cret"), "{}", done.err);
    }
}
