//! TPROC-H on Trino: tables of the connector tpch as they are, and a build in the connector memory.
//! Ignored in the suite, because Trino is too large for it: tools/test-matrix.py starts one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use triphammer_testbed::TrinoServer;

use crate::program::{Messages, Program, finish, signal, wait_until};

#[test]
#[ignore = "needs a Trino server: tools/test-matrix.py trino476"]
fn tables_of_the_connector_tpch_are_checked_and_queried_as_they_are() {
    let (program, server) = (Program::new(), TrinoServer::shared());
    let target = &server.url("tpch", "tiny");
    let checked = program.ok(&["check", target, "-w", "tproc-h"]);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
    let ran = program.json(&["run", target, "-w", "tproc-h", "--test", "queries"]);
    assert_eq!(ran["workload"]["scale"].as_f64(), Some(0.01), "{}", ran["workload"]);
    let steps = ran["queries"]["steps"].as_array().unwrap();
    let answered = steps.iter().filter(|step| step["outcome"] == "answered").count();
    assert_eq!((steps.len(), answered), (22, 22), "{steps:?}");
    keeps_the_plans(&program, target, &ran);
    for command in [&["build", target][..], &["drop", target, "--yes"]] {
        let done = program.run(&[command, &["-w", "tproc-h"]].concat());
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains("tables created by another program"), "{}", done.err);
    }
}

/// Each query of a run has a plan of its own, which does not depend on the literals.
fn keeps_the_plans(program: &Program, target: &str, ran: &Value) {
    let plans = |run: &Value| -> BTreeMap<String, Value> {
        let plans = run["queries"]["plans"].as_array().unwrap().iter();
        plans.map(|plan| (plan["query"].as_str().unwrap().to_owned(), plan.clone())).collect()
    };
    let of_all = plans(ran);
    let fingerprints: BTreeSet<_> = of_all.values().map(|p| p["fingerprint"].as_str()).collect();
    assert_eq!((of_all.len(), fingerprints.len()), (22, 22), "{of_all:#?}");
    let operations = |query: &str| of_all[query]["operations"].to_string();
    assert!(
        operations("q6").contains("lineitem") && operations("q5").contains("Join"),
        "{of_all:#?}"
    );
    let again =
        ["run", target, "-w", "tproc-h", "--test", "queries", "--queries", "1,5,6", "--seed", "7"];
    for (query, plan) in plans(&program.json(&again)) {
        assert_eq!(
            plan["fingerprint"], of_all[&query]["fingerprint"],
            "{plan:#}\n{:#}",
            of_all[&query]
        );
    }
    let refused = program.run(&["run", target, "-w", "tproc-h", "--analyze"]);
    assert!(refused.code == 2 && refused.err.contains("--analyze"), "{refused:?}");
}

#[test]
#[ignore = "needs a Trino server: tools/test-matrix.py trino476"]
fn all_answers_are_right_at_sf_0_1() {
    let (program, server) = (Program::new(), TrinoServer::shared());
    let checked = program.ok(&["check", &server.url("tpch", "sf0.1"), "-w", "tproc-h"]);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.1 SF hold"), "{checked}");
}

#[test]
#[ignore = "needs a Trino server: tools/test-matrix.py trino476"]
fn what_a_connector_cannot_refresh_is_not_available_and_queries_run() {
    let (program, server) = (Program::new(), TrinoServer::shared());
    let target = &server.url("tpch", "tiny");
    let run = ["run", target, "-w", "tproc-h", "--queries", "1,6"];
    let ran = program.json(&[&run[..], &["--test", "both"]].concat());
    let steps = ran["queries"]["steps"].as_array().unwrap();
    for step in steps {
        let is_refresh = step["name"].as_str().unwrap().starts_with("rf");
        let expected = if is_refresh { "unsupported" } else { "answered" };
        assert_eq!(step["outcome"], expected, "{step}");
        let error = step["error"].as_str().unwrap_or_default();
        assert_eq!(error.contains("cannot delete rows"), is_refresh, "{step}");
    }
    assert_eq!(steps.len(), 12);
}

#[test]
#[ignore = "needs a Trino server: tools/test-matrix.py trino476"]
fn tables_are_built_by_inserts_or_from_the_connector_and_dropped() {
    let (program, server) = (Program::new(), TrinoServer::shared());
    let target = &server.fresh_schema("built").unwrap();
    let build = ["build", target, "-w", "tproc-h", "--scale", "0.01"];
    let built = program.ok(&[&build[..], &["--jobs", "2"]].concat());
    assert!(built.contains("86,805 rows"), "{built}");
    let check = ["check", target, "-w", "tproc-h"];
    assert!(program.ok(&check).contains("all 34 conditions"));
    assert!(program.ok(&build).contains("already built"));
    let done = program.run(&["build", target, "-w", "tproc-h", "--scale", "0.02"]);
    assert!(done.code == 2 && done.err.contains("scale is 0.01 there"), "{done:?}");
    let again = program.ok(&[&build[..], &["--replace", "--load-from", "tpch"]].concat());
    assert!(again.contains("86,805 rows"), "{again}");
    assert!(program.ok(&check).contains("all 34 conditions"));
    let streams = ["--test", "throughput", "--queries", "1,6", "--streams", "2"];
    let ran = program.ok(&[&["run", target, "-w", "tproc-h"][..], &streams].concat());
    assert!(ran.contains("throughput test"), "{ran}");
    let drop = ["drop", target, "-w", "tproc-h", "--yes"];
    assert!(program.ok(&drop).contains("lineitem"));
    assert_eq!(program.run(&drop).code, 2, "nothing is left");
    assert!(!server.run("SHOW TABLES FROM memory.built_1").unwrap().contains("triphammer_build"));
}

#[test]
#[ignore = "needs a Trino server: tools/test-matrix.py trino476"]
fn an_interrupted_run_cancels_its_query_in_the_server() {
    let (program, server) = (Program::new(), TrinoServer::shared());
    // Q21 takes minutes at this size.
    let target = &server.url("tpch", "sf5");
    let run = ["run", target, "-w", "tproc-h", "--test", "queries", "--queries", "21"];
    let mut child = program.start(&run);
    let is_running = |state: &str| {
        let ask = format!(
            "SELECT 'found' || '-it' FROM system.runtime.queries \
             WHERE source = 'triphammer' AND state {state} AND query LIKE '%numwait%'"
        );
        server.run(&ask).unwrap().contains("found-it")
    };
    wait_until(&mut child, "queries in the server", || is_running("= 'RUNNING'"));
    let mut messages = Messages::by(&mut child);
    signal(&child, "INT");
    messages.wait_for("Q21");
    drop(messages);
    let done = finish(child);
    assert_eq!(done.code, 130, "{done:?}");
    assert!(is_running("= 'FAILED'") && !is_running("IN ('RUNNING', 'QUEUED', 'PLANNING')"));
}

#[test]
#[ignore = "needs a Trino server: tools/test-matrix.py trino476"]
fn workloads_of_transactions_are_refused_with_the_reason() {
    let (program, server) = (Program::new(), TrinoServer::shared());
    let target = &server.fresh_schema("refused").unwrap();
    for workload in ["tproc-c", "tpc-b"] {
        for command in [&["build", target][..], &["run", target], &["check", target]] {
            let done = program.run(&[command, &["-w", workload]].concat());
            assert_eq!(done.code, 2, "{done:?}");
            assert!(done.err.contains("each statement commits on its own"), "{}", done.err);
        }
    }
}
