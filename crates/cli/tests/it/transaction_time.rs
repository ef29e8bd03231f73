//! Where a transaction's time goes: the table of a run and of a comparison, and the delay of the network, as users see
//! them.

use serde_json::Value;
use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;

/// The value of a part, per transaction.
fn value(result: &Value, name: &str) -> Option<f64> {
    let parts = result["transaction_time"]["parts"].as_array().unwrap();
    let part = parts.iter().find(|part| part["name"] == name);
    part.unwrap_or_else(|| panic!("{name}: {parts:#?}"))["value"].as_f64()
}

#[test]
fn a_run_shows_where_its_time_goes_and_a_comparison_shows_both_sides() {
    let program = Program::new();
    let target = PostgresServer::shared().fresh_database("transaction_time").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b", "--jobs", "2"]);
    let run = ["run", &target, "-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "8s"];
    let [one, other] =
        ["off", "on"].map(|pipeline| program.json(&[&run[..], &["--pipeline", pipeline]].concat()));
    assert_eq!(value(&one, "round_trips"), Some(7.0));
    for result in [&one, &other] {
        let of = |name| value(result, name).unwrap();
        let sum = of("client") + of("network") + of("server");
        assert!((sum - of("response")).abs() < 1.0, "{}", result["transaction_time"]);
        assert!(of("bytes_sent") > 200.0 && of("bytes_received") > 100.0);
        assert!(of("packets_sent") >= 5.0 && of("packets_received") >= 5.0);
        assert!(of("client_cpu_used") > 0.0 && of("server_cpu_used") > 0.0);
        assert_eq!(value(result, "parsing"), None, "PostgreSQL does not count it");
    }
    assert!(value(&other, "packets_sent") < value(&one, "packets_sent"), "fewer round trips");
    let report = program.ok(&["report", "last"]);
    for line in ["Where a transaction's time goes", "bytes received", "track_planning = on"] {
        assert!(report.contains(line), "{line}: {report}");
    }
    let jobs = program.json(&["jobs"]);
    let job = |place: usize| jobs[place]["id"].to_string();
    let compared = program.json(&["compare", &job(1), &job(0)]);
    let parts = compared["transaction_time"]["parts"].as_array().unwrap();
    let trips = parts.iter().find(|part| part["name"] == "round_trips").unwrap();
    assert!((trips["ratio"].as_f64().unwrap() - 5.0 / 7.0).abs() < 1e-9, "{trips}");
}

#[test]
fn a_delay_of_the_network_is_added_to_each_round_trip() {
    let program = Program::new();
    let target = MariadbServer::shared().fresh_database("delayed").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b", "--jobs", "2"]);
    let over = ["matrix", &target, "-w", "tpc-b", "--over", "delay=0,3ms", "--vus", "1"];
    let short = ["--repeats", "1", "--rampup", "0s", "--duration", "3s"];
    let matrix = program.json(&[&over[..], &short].concat());
    let trip = |cell: usize| matrix["cells"][cell]["round_trip_us"].as_u64().unwrap();
    // A host without a free CPU adds more to either, which the relay's own tests bound by the fastest of many.
    assert!(trip(1) >= 2_900, "{}", matrix["cells"]);
    let mean = |cell: usize| matrix["cells"][cell]["mean"].as_f64().unwrap();
    assert!(mean(1) < mean(0), "{}", matrix["cells"]);
    assert!(program.ok(&["report", "last"]).contains("trip ms"));
}

#[test]
fn what_has_no_connection_cannot_be_delayed() {
    let program = Program::new();
    for (target, next) in
        [("sqlite:delayed.sqlite", "leave it out"), ("null:", "null:?network=TIME")]
    {
        let refused = program.run(&["run", target, "--delay", "1ms"]);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("--delay is impossible at"), "{}", refused.err);
        assert!(refused.err.contains(next), "{}", refused.err);
    }
    let refused = program.run(&["run", "postgres://u@127.0.0.1:1/d", "--delay", "1h"]);
    assert!(refused.code == 2 && refused.err.contains("must be at most 10s"), "{}", refused.err);
}
