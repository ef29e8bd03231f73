//! Logins of sessions: a new connection every N transactions, and all at once, counted by the servers
//! themselves.

use serde_json::Value;
use triphammer_testbed::{MariadbServer, PgBouncer, PostgresServer, Proxy};

use crate::program::{Program, finish};
use crate::servers::name_of;

/// Workload of one statement that needs no table.
fn script(program: &Program) -> [&'static str; 4] {
    std::fs::write(program.path("one.sql"), "SELECT 1;\n").unwrap();
    ["-w", "script", "--script", "one.sql"]
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The median of the times of a phase, in microseconds.
fn median(logins: &Value, phase: &str) -> u64 {
    count(&logins[phase]["p50_us"])
}

/// Checks the times of logins that the driver can split, with TLS.
fn check_phases(logins: &Value) {
    const PHASES: [&str; 4] = ["connect", "tls", "authentication", "setup"];
    let phases = PHASES.map(|phase| median(logins, phase));
    let whole = median(logins, "whole");
    assert!(phases[1] > 0 && phases[2] > 0, "{logins}");
    // Medians do not add up exactly.
    assert!(phases.iter().sum::<u64>() <= 2 * whole && whole > 0, "{logins}");
    for phase in PHASES {
        assert_eq!(logins[phase]["count"], logins["count"], "{phase}");
    }
}

#[test]
fn postgres_counts_as_many_sessions_as_the_run_logins() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("logins").unwrap();
    let name = name_of(&target);
    // A session reports its end to the statistics when it ends, which its client does not wait for.
    let counted = || {
        let sql = format!("SELECT sessions::text FROM pg_stat_database WHERE datname = '{name}'");
        let read = || server.run("postgres", &sql).unwrap()[0][0].clone().unwrap().parse().unwrap();
        let mut last: u64 = read();
        loop {
            std::thread::sleep(std::time::Duration::from_millis(700));
            let next = read();
            if next == last {
                return last;
            }
            last = next;
        }
    };
    let program = Program::new();
    let script = script(&program);
    for (every, transactions, logins) in [("every=1", "50", 4 * 49), ("every=10", "100", 4 * 9)] {
        let before = counted();
        let run = ["run", &target, "--reconnect", every, "--vus", "4", "--no-observe"];
        let length = ["--transactions", transactions, "--threads", "2"];
        let result = program.json(&[&run[..], &length, &script].concat());
        let of_run = &result["logins"]["run"];
        assert_eq!(count(&of_run["count"]), logins, "{every}");
        assert_eq!((count(&of_run["failed"]), count(&result["sessions"]["lost"])), (0, 0));
        assert_eq!(count(&result["logins"]["start"]["count"]), 4);
        check_phases(of_run);
        // Those of the users, and a few that look at the server before and after the run.
        let more = counted() - before - logins - 4;
        assert!((1..20).contains(&more), "{more} more sessions than logins");
        let report = program.ok(&["report", "last"]);
        assert!(report.contains("Logins, in ms") && report.contains("Authentication"), "{report}");
        let markdown = program.ok(&["report", "last", "--format", "markdown"]);
        assert!(markdown.contains("## Logins, in ms"), "{markdown}");
    }
}

#[test]
fn mariadb_counts_as_many_connections_as_the_run_logins() {
    let server = MariadbServer::start(Default::default()).unwrap();
    let target = server.fresh_database("logins").unwrap();
    let counted = || -> u64 {
        let status = server.run("mysql", "SHOW GLOBAL STATUS LIKE 'Connections'").unwrap();
        status[0][1].clone().unwrap().parse().unwrap()
    };
    let program = Program::new();
    let script = script(&program);
    let before = counted();
    let run = ["run", &target, "--reconnect", "every=2", "--vus", "3", "--no-observe"];
    let result = program.json(&[&run[..], &["--transactions", "80"], &script].concat());
    let of_run = &result["logins"]["run"];
    assert_eq!((count(&of_run["count"]), count(&of_run["failed"])), (3 * 39, 0));
    check_phases(of_run);
    let more = counted() - before - 3 * 39 - 3;
    assert!((1..20).contains(&more), "{more} more connections than logins");
}

#[test]
fn logins_at_a_pooler_are_not_logins_at_its_server() {
    let server = PostgresServer::shared();
    let direct = server.fresh_database("pooled_logins").unwrap();
    let name = name_of(&direct);
    let pooler = PgBouncer::start(server, &["pool_mode = transaction"]).unwrap();
    let program = Program::new();
    let script = script(&program);
    let target = pooler.url(server, name);
    let run = ["run", &target, "--reconnect", "every=1", "--vus", "8", "--transactions", "30"];
    let result = program.json(&[&run[..], &script].concat());
    assert_eq!(count(&result["logins"]["run"]["count"]), 8 * 29);
    let sql = format!("SELECT sessions::text FROM pg_stat_database WHERE datname = '{name}'");
    let sessions: u64 =
        server.run("postgres", &sql).unwrap()[0][0].clone().unwrap().parse().unwrap();
    assert!(sessions <= 20, "the pooler keeps its sessions: {sessions}");
}

#[test]
fn a_database_that_lets_nobody_in_any_more_ends_the_run() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("closed").unwrap();
    let name = name_of(&target);
    let program = Program::new();
    let run = ["run", &target, "--reconnect", "every=1", "--vus", "2", "--rampup", "0s"];
    let length = ["--duration", "20s", "--json"];
    let mut child = program.start(&[&run[..], &length, &script(&program)].concat());
    program.wait_for_seconds(1, &mut child);
    server.run("postgres", &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).unwrap();
    let done = finish(child);
    assert_eq!(done.code, 1, "{done:?}");
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert!(count(&result["logins"]["run"]["failed"]) > 0, "{}", result["logins"]);
    assert_eq!(result["status"], "failed", "{}", result["ending"]);
}

/// All sessions are lost at once, and come back when the way to the server is open again.
#[test]
fn users_that_were_cut_off_are_back_and_the_result_says_when() {
    let server = PostgresServer::shared();
    let direct = server.fresh_database("storm").unwrap();
    let proxy = Proxy::start(server.port());
    let [from, to] = [server.port(), proxy.port()].map(|port| format!(":{port}/"));
    let target = direct.replace(&from, &to);
    let program = Program::new();
    let run = ["run", &target, "--vus", "10", "--rampup", "0s", "--duration", "6s", "--json"];
    let mut child = program.start(&[&run[..], &["--no-observe"], &script(&program)].concat());
    program.wait_for_seconds(1, &mut child);
    proxy.reset();
    let done = finish(child);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    let back = &result["logins"]["run"]["back"];
    assert_eq!(back["sessions"], result["sessions"]["reconnected"], "{back}");
    assert_eq!(count(&back["sessions"]), 10, "{back}");
    let [half, most, all] = ["half_s", "most_s", "all_s"].map(|at| back[at].as_f64().unwrap());
    assert!(0.0 < half && half <= most && most <= all && all < 5.0, "{back}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("of 10 sessions half were back after"), "{report}");
}

#[test]
fn a_start_at_a_limited_rate_says_when_all_had_logged_in() {
    let program = Program::new();
    let run = ["run", "null:", "--vus", "20", "--login-rate", "20/s", "--rampup", "0s"];
    let result = program.json(&[&run[..], &["--duration", "1s"]].concat());
    let back = &result["logins"]["start"]["back"];
    let [half, all] = ["half_s", "all_s"].map(|at| back[at].as_f64().unwrap());
    assert!((0.44..0.7).contains(&half) && (0.94..2.0).contains(&all), "{back}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("at the start, of 20 sessions half were logged in after"), "{report}");
}

#[test]
fn logins_can_be_required() {
    let program = Program::new();
    let run = ["run", "null:?connect=20ms", "--vus", "2", "--rampup", "0s", "--duration", "2s"];
    let more =
        ["--reconnect", "every=1", "--require", "login.p50 < 5ms", "--require", "logins > 10"];
    let done = program.run(&[&run[..], &more].concat());
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.out.contains("login.p50"), "{}", done.out);
}
