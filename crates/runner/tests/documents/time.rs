//! Where the time of a transaction goes: known numbers give known parts, which add up.

use triphammer_core::recorder::ServerUse;
use triphammer_core::traffic::Traffic;
use triphammer_document::compare::{ComparisonResult, Run};
use triphammer_document::metrics::{self, RunSource};
use triphammer_document::result::{
    ActiveSessions, Blocker, Observed, ObserverGap, ProfileFigure, RunFacts, RunResult, ServerTime,
    TransactionTime, WaitClass, WaitShare,
};
use triphammer_document::unit::Unit;
use triphammer_engine::RunEnd;
use triphammer_report::{Charset, Report as _, Style};

use crate::sample;

fn wait(class: WaitClass, average: f64) -> WaitShare {
    WaitShare { class, wait: String::new(), average, share: average / 2.0 }
}

fn blocker(object: &str, blocked: f64) -> Blocker {
    Blocker {
        session: None,
        description: "the run".to_owned(),
        statement: String::new(),
        object: object.to_owned(),
        blocked,
        blocked_max: 2,
    }
}

/// A database whose sessions waited for locks of two tables and for its log.
fn observed() -> Observed {
    let classes = vec![
        wait(WaitClass::Cpu, 0.4),
        wait(WaitClass::RowLock, 0.3),
        wait(WaitClass::Log, 0.2),
        wait(WaitClass::Client, 0.1),
    ];
    let sessions =
        ActiveSessions { samples: 600, average: 1.0, classes, ..ActiveSessions::default() };
    let gap = ObserverGap {
        name: "track_planning".to_owned(),
        hides: "the time of planning".to_owned(),
        change: "track_planning = on".to_owned(),
        part: Some(ServerTime::Planning),
    };
    let blockers =
        vec![blocker("warehouse", 0.2), blocker("district row (0,1)", 0.1), blocker("", 0.1)];
    Observed { sessions: Some(sessions), blockers, gaps: vec![gap], ..Observed::default() }
}

fn with(change: impl FnOnce(&mut RunFacts, &mut RunEnd)) -> RunResult {
    let (mut facts, mut end) = (sample::facts(), sample::calm());
    facts.server.transport = "tcp".to_owned();
    end.gauges.host_use.server = Some(ServerUse {
        wall_ns: 300_000_000_000,
        cpu_ns: 60_000_000_000,
        wait_ns: 15_000_000_000,
    });
    facts.observed = Some(observed());
    change(&mut facts, &mut end);
    RunResult::new(&facts, &end)
}

fn time(result: &RunResult) -> &TransactionTime {
    result.transaction_time.as_ref().expect("there were transactions")
}

fn value(result: &RunResult, name: &str) -> f64 {
    time(result).value(name).unwrap_or_else(|| panic!("{name}: {:#?}", time(result)))
}

fn unknown<'r>(result: &'r RunResult, name: &str) -> &'r str {
    let part = time(result).parts.iter().find(|part| part.name == name);
    let part = part.unwrap_or_else(|| panic!("{name}: {:#?}", time(result)));
    assert_eq!((part.value, part.share), (None, None), "{name}");
    &part.how
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * a.abs().max(1.0)
}

#[test]
fn the_parts_of_the_response_time_add_up() {
    let result = with(|_, _| {});
    let of = |names: &[&str]| names.iter().map(|name| value(&result, name)).sum::<f64>();
    assert!(is_near(of(&["response"]), of(&["client", "network", "server"])));
    assert!(is_near(of(&["client"]), of(&["client_cpu", "client_cpu_wait"])));
    let server = ["server_cpu", "server_cpu_wait", "locks", "log_wait", "rest"];
    assert!(of(&["rest"]) > 0.0 && is_near(of(&["server"]), of(&server)), "{:#?}", time(&result));
    let shares = time(&result).parts.iter().filter(|part| part.depth == 1);
    assert!(is_near(shares.filter_map(|part| part.share).sum(), 1.0));
    assert!(time(&result).parts.iter().all(|part| part.name != "io_wait"), "nobody waited for it");
}

#[test]
fn locks_are_divided_by_the_tables_that_blocked_sessions() {
    let result = with(|_, _| {});
    let all = value(&result, "locks");
    let tables = time(&result).parts.iter().filter(|part| part.name == "lock_table");
    let tables: Vec<_> =
        tables.map(|part| (part.title.as_str(), part.value.unwrap() / all)).collect();
    let [warehouse, district, hidden] = tables[..] else { panic!("{tables:?}") };
    assert!(warehouse.0 == "warehouse" && is_near(warehouse.1, 0.5), "{tables:?}");
    assert!(district.0 == "district" && is_near(district.1, 0.25), "{tables:?}");
    assert_eq!(hidden.0, "table not shown");
    // InnoDB counts the time itself: 300 ms per second are that of 0.3 sessions.
    let counted = with(|facts, _| {
        let observed = facts.observed.as_mut().unwrap();
        observed.profile.push(ProfileFigure {
            metric: "mysql.row_locks".to_owned(),
            labels: std::collections::BTreeMap::new(),
            title: String::new(),
            unit: Unit::Ms,
            mean: 300.0,
            max: 300.0,
            last: 300.0,
            per_transaction: Some(300.0),
            part: Some(ServerTime::RowLocks),
            log: None,
        });
    });
    let ended = counted.window.total.completed as f64 / counted.durations.window_s;
    assert!(is_near(value(&counted, "locks"), 300_000.0 / ended), "{:#?}", time(&counted));
}

#[test]
fn amounts_are_per_completed_transaction() {
    let result = with(|_, _| {});
    let completed = result.window.total.completed as f64;
    assert!(is_near(value(&result, "bytes_sent"), 300.0 * 123_450.0 / completed));
    assert!(is_near(value(&result, "bytes_received"), 300.0 * 61_725.0 / completed));
    assert!(is_near(value(&result, "packets_sent"), 300_000.0 / completed));
    assert!(is_near(value(&result, "server_cpu_used"), 60.0 * 1e6 / completed));
    assert!(is_near(value(&result, "round_trips"), result.round_trips.per_transaction));
    let judged = |name: &str| {
        let (_, of_run) = metrics::of_run().find(|(_, of_run)| of_run.name == name).unwrap();
        match of_run.source {
            RunSource::Run(read) => read(&result),
            _ => panic!("{name} is of a run"),
        }
    };
    assert_eq!(judged("bytes.sent"), Some(value(&result, "bytes_sent")));
    assert_eq!(judged("server.cpu_us"), Some(value(&result, "server_cpu_used")));
}

#[test]
fn what_is_not_known_says_what_would_make_it_known() {
    let result = with(|facts, end| {
        facts.observed.as_mut().unwrap().sessions = None;
        end.gauges.host_use.server = None;
        end.gauges.round_trip = None;
        end.gauges.traffic = Traffic { packets: None, ..end.gauges.traffic };
    });
    assert!(unknown(&result, "planning").contains("track_planning = on"));
    assert!(unknown(&result, "network").contains("run for longer"));
    assert!(unknown(&result, "server_cpu").contains("on the server's host"));
    assert!(unknown(&result, "locks").contains("not sampled"));
    assert!(unknown(&result, "packets_sent").contains("1,000 connections"));
    let text = result.text(Charset::Unicode, Style::Plain);
    assert!(text.contains("planning: not known: needs track_planning = on"), "{text}");
    let sampled = with(|_, end| end.gauges.host_use.server = None);
    assert!(value(&sampled, "server_cpu") > 0.0, "by the sessions that did not wait");
    let foreign = with(|_, end| end.gauges.traffic = Traffic::default());
    assert!(unknown(&foreign, "bytes_sent").contains("foreign library"));
}

#[test]
fn a_comparison_has_both_sides_and_their_ratios() {
    let run = |bytes: u64| {
        let result = with(|_, end| end.gauges.traffic.sent_bytes *= bytes);
        Run { result, server_settings: Vec::new(), seconds: None }
    };
    let made = ComparisonResult::of_runs(["A", "B"], &[run(1), run(3)], &[run(4), run(4)], 0.02);
    let time = made.transaction_time.as_ref().expect("all runs know it");
    let part = |name: &str| time.parts.iter().find(|part| part.name == name).unwrap();
    assert!(is_near(part("bytes_sent").ratio.unwrap(), 2.0), "{:?}", part("bytes_sent"));
    assert!(is_near(part("network").ratio.unwrap(), 1.0));
    assert_eq!((part("planning").a, part("planning").ratio), (None, None));
    let names: Vec<_> = time.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names[..2], ["response", "client"], "{names:?}");
    let text = made.text(Charset::Unicode, Style::Plain);
    assert!(text.contains("Where a transaction's time goes, in A and in B"), "{text}");
}
