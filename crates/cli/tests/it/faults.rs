//! Runs whose database disappears for good or returns unreadable answers: they never count as
//! successful, and committed transactions count as committed.

use std::process::Child;

use serde_json::Value;

use crate::holder::Holder;
use crate::program::{Done, Messages, Program, finish, signal, wait_until};
use crate::servers::{Mariadb, Postgres, Product, Site, name_of, verdict};

/// Waits until a run of tpc-b has committed some transactions.
fn wait_for_commits(site: &Site, database: &str, run: &mut Child) {
    let commits = || -> i64 {
        let count = &site.run(database, "SELECT count(*) FROM pgbench_history")[0][0];
        count.as_deref().unwrap().parse().unwrap()
    };
    wait_until(run, "commits", || commits() >= 20);
}

fn kinds(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning["kind"].as_str().unwrap()).collect()
}

/// Runs a command, and kills its server for good while it is working: when `wait` returns.
fn bereft(
    product: Product,
    args: &[&str],
    wait: impl FnOnce(&Site, &str, &mut Child),
) -> (Program, Done) {
    let mut site = Site::start(product, 100);
    let program = Program::new();
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let [command, more @ ..] = args else { panic!("no command") };
    let mut child = program.start(&[&[*command, &target], more].concat());
    wait(&site, name_of(&target), &mut child);
    site.server().kill9();
    (program, finish(child))
}

const RUN: &[&str] = &[
    "run",
    "--rampup",
    "0s",
    "--duration",
    "10s",
    "--connect-timeout",
    "1s",
    "--progress",
    "1s",
    "--json",
];

fn a_run_without_its_database_fails(product: Product, load: &[&str]) {
    let (program, done) = bereft(product, &[RUN, load].concat(), |_, _, child| {
        Messages::by(child).wait_for("progress: 1s");
    });
    assert_eq!(done.code, 1, "{}", done.out);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["status"], "failed");
    assert!(kinds(&result).contains(&"database_gone"), "{:?}", result["warnings"]);
    let seen = &result["availability"];
    assert!(seen["sessions_away"].as_u64().unwrap() >= 1, "{seen}");
    assert_eq!(seen["answered_at_end"], false);
    // The time without service is in the window, in the figure and in its interval.
    assert!(seen["without_service_s"].as_f64().unwrap() >= 1.0, "{seen}");
    assert_eq!(
        (&result["durations"]["window_s"], &result["steadiness"]["seconds"]),
        (&10.0.into(), &10.into())
    );
    let (mean, value) = (&result["steadiness"]["mean"], &result["primary_metric"]["value"]);
    assert!((mean.as_f64().unwrap() - value.as_f64().unwrap()).abs() < 1e-6, "{mean} {value}");
    let again = program.ok(&["report", "last"]);
    assert!(again.contains("had not reconnected at the end"), "{again}");
    let history = program.run(&["history", "--workload", "tpc-b"]);
    assert_eq!(history.code, 2);
    assert!(history.err.contains("no complete run"), "{}", history.err);
}

#[test]
fn a_closed_load_on_postgres_without_its_database_fails() {
    a_run_without_its_database_fails(Postgres, &["--vus", "4"]);
}

#[test]
fn an_open_load_on_postgres_without_its_database_fails() {
    a_run_without_its_database_fails(Postgres, &["--vus", "4", "--load", "rate:60/s"]);
}

#[test]
fn a_closed_load_on_mariadb_without_its_database_fails() {
    a_run_without_its_database_fails(Mariadb, &["--vus", "4", "--mode", "statements"]);
}

#[test]
fn a_run_whose_file_is_deleted_fails() {
    let program = Program::new();
    program.ok(&["build", "sqlite:db", "-w", "tpc-b"]);
    let args = ["run", "sqlite:db", "--vus", "2", "--rampup", "0s", "--duration", "5s", "--json"];
    let mut child = program.start(&[&args[..], &["--connect-timeout", "1s"]].concat());
    // Both users are connected.
    Messages::by(&mut child).wait_for("timed");
    std::fs::remove_file(program.path("db")).unwrap();
    let done = finish(child);
    assert_eq!(done.code, 1, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["availability"]["answered_at_end"], false);
}

/// A campaign whose server is killed in its first run.
fn a_campaign_counts_no_run_whose_database_was_gone(args: &[&str]) {
    let common =
        ["--rampup", "0s", "--duration", "6s", "--cool-down", "0s", "--connect-timeout", "1s"];
    let (program, done) =
        bereft(Postgres, &[args, &common, &["--json"]].concat(), wait_for_commits);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("had not reconnected at the end"), "{}", done.err);
    let jobs: Value =
        serde_json::from_str(&program.ok(&["jobs", "--parent", "2", "--json"])).unwrap();
    let complete = jobs.as_array().unwrap().iter().filter(|job| job["status"] == "complete");
    assert_eq!(complete.count(), 0, "{jobs}");
}

#[test]
fn a_profile_counts_no_run_whose_database_was_gone() {
    a_campaign_counts_no_run_whose_database_was_gone(&[
        "profile",
        "--vus",
        "2,3",
        "--repeats",
        "1",
    ]);
}

#[test]
fn a_search_counts_no_run_whose_database_was_gone() {
    a_campaign_counts_no_run_whose_database_was_gone(&[
        "capacity",
        "--vus",
        "4",
        "--limit",
        "all.p95 < 1s",
    ]);
}

#[test]
fn a_comparison_counts_no_run_whose_database_was_gone() {
    a_campaign_counts_no_run_whose_database_was_gone(&[
        "compare", "--ab", "--vus", "2", "--b", "seed=2",
    ]);
}

/// A run by procedures on data that is no longer what it was.
fn unreadable(product: Product, changes: &[&str], more: &[&str]) -> Value {
    let site = Site::shared(product);
    let program = Program::new();
    let target = Site::built(product);
    for sql in changes {
        site.run(name_of(&target), sql);
    }
    let run = ["run", &target, "--vus", "4", "--transactions", "100", "--json"];
    let done = program.run(&[&run[..], more].concat());
    let result: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    // Committed transactions are counted, but the run is not successful.
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(
        ["verified", "within_bounds"].contains(&verdict(&result)),
        "{}",
        result["primary_metric"]
    );
    assert!(result["violated_identities"].as_array().unwrap().is_empty());
    for error in result["errors"].as_array().unwrap() {
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains("Some(") && !message.contains("Float("), "{message}");
    }
    result
}

fn assert_committed_and_unread(result: &Value, transaction: usize, message: &str) {
    let seen = &result["run"]["types"][transaction];
    assert!(seen["committed"].as_u64().unwrap() > 0, "{seen}");
    assert!(seen["unread"].as_u64().unwrap() > 0, "{seen}");
    assert_eq!((&seen["failed"], &seen["indeterminate"]), (&0.into(), &0.into()), "{seen}");
    assert!(kinds(result).contains(&"unread"), "{:?}", result["warnings"]);
    assert!(result["errors"].to_string().contains(message), "{}", result["errors"]);
}

const NEW_ORDER: usize = 0;
const PAYMENT: usize = 1;

#[test]
fn an_answer_with_no_number_is_of_a_committed_transaction() {
    let changes = ["UPDATE customer SET c_balance = 'NaN', c_discount = 'NaN'"];
    let result = unreadable(Postgres, &changes, &[]);
    assert_committed_and_unread(&result, NEW_ORDER, "expected a decimal that fits, got NaN");
    assert_committed_and_unread(&result, PAYMENT, "expected a decimal that fits, got NaN");
    assert_eq!(verdict(&result), "verified");
    let rolled_back = &result["run"]["types"][NEW_ORDER]["rolled_back"];
    assert!(rolled_back.as_u64().is_some(), "{rolled_back}");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn an_answer_with_an_unexpected_null_is_of_a_committed_transaction() {
    let postgres =
        ["ALTER TABLE customer ALTER c_phone DROP NOT NULL", "UPDATE customer SET c_phone = NULL"];
    let result = unreadable(Postgres, &postgres, &[]);
    assert_committed_and_unread(&result, PAYMENT, "expected text, got NULL");
    let mariadb =
        ["ALTER TABLE customer MODIFY c_phone CHAR(16) NULL", "UPDATE customer SET c_phone = NULL"];
    let result = unreadable(Mariadb, &mariadb, &[]);
    assert_committed_and_unread(&result, PAYMENT, "expected text, got NULL");
}

#[test]
fn an_answer_of_another_width_is_of_a_committed_transaction() {
    let mariadb =
        ["CREATE OR REPLACE PROCEDURE triphammer_stock_level(a INT, b INT, c INT) SELECT 0"];
    let result = unreadable(Mariadb, &mariadb, &["--max-failures", "0%"]);
    assert_committed_and_unread(&result, 4, "column 1: expected an integer, got no column");
}

#[test]
fn before_the_commit_an_unreadable_answer_is_a_failure() {
    let changes = ["UPDATE customer SET c_balance = 'NaN', c_discount = 'NaN'"];
    let result = unreadable(Postgres, &changes, &["--mode", "statements"]);
    let seen = &result["run"]["types"][NEW_ORDER];
    assert!(seen["failed"].as_u64().unwrap() > 0 && seen["committed"] == 0, "{seen}");
    assert_eq!(seen["unread"], 0);
}

fn an_aborted_run_leaves_no_statement_in_the_server(product: Product) {
    let site = Site::shared(product);
    let target = site.fresh_database();
    let program = Program::new();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let lock = match product {
        Postgres => "LOCK TABLE pgbench_branches",
        Mariadb => "UPDATE pgbench_branches SET bbalance = bbalance",
    };
    for more in [&[][..], &["--drain-timeout", "500ms"]] {
        let args = ["run", &target, "-w", "tpc-b", "--vus", "2", "--rampup", "0s"];
        let mut child = program.start(&[&args, more].concat());
        Messages::by(&mut child).wait_for("timed");
        let holder = Holder::of(site, &target, lock);
        holder.wait_for_waiting(&mut child, 2);
        signal(&child, "INT");
        if more.is_empty() {
            signal(&child, "INT");
        }
        assert_eq!(finish(child).code, 130);
        // The lock is held until here: what waits for it ends only by a request.
        holder.wait_for_none_waiting();
    }
}

mod aborted {
    #[test]
    fn an_aborted_run_leaves_no_statement_in_postgres() {
        super::an_aborted_run_leaves_no_statement_in_the_server(super::Postgres);
    }

    #[test]
    fn an_aborted_run_leaves_no_statement_in_mariadb() {
        super::an_aborted_run_leaves_no_statement_in_the_server(super::Mariadb);
    }
}
