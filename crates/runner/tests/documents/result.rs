//! Known numbers give known figures.

use triphammer_core::clock::Elapsed;
use triphammer_core::error::ErrorClass;
use triphammer_core::event::Note;
use triphammer_core::recorder::{Gauges, ServerUse, TypeInterval};
use triphammer_core::spec::Length;
use triphammer_core::workload::AuditDef;
use triphammer_document::parts::{SettingChange, Status};
use triphammer_document::result::{
    Bottleneck, DatabaseCount, PercentileIntervals, RunFacts, RunResult, Steady, Verdict,
};
use triphammer_document::schedule::Schedule;
use triphammer_engine::{RunEnd, RunEnding, Violation};
use triphammer_report::{Charset, Report as _, Style, junit};
use triphammer_settings::Setting;

use crate::sample;

fn audit() -> AuditDef {
    triphammer_runner::describe("tpc-b").unwrap().audits[0].clone()
}

fn calm() -> RunResult {
    RunResult::new(&sample::facts(), &sample::calm())
}

fn with(change: impl FnOnce(&mut RunFacts, &mut RunEnd)) -> RunResult {
    let (mut facts, mut end) = (sample::facts(), sample::calm());
    change(&mut facts, &mut end);
    RunResult::new(&facts, &end)
}

fn kinds(result: &RunResult) -> Vec<&str> {
    result.warnings.iter().map(|warning| warning.kind.as_str()).collect()
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-6 * expected.abs().max(1.0)
}

#[test]
fn efficiency_is_that_of_the_terminals_whatever_the_scale() {
    let keyed = |terminals| {
        with(|facts, _| {
            sample::key(facts);
            facts.spec.users = terminals;
        })
    };
    // 12,345 per minute with 10 warehouses.
    let (few, many) = (keyed(100).efficiency.unwrap(), keyed(10_000).efficiency.unwrap());
    assert!(near(few.maximum, 128.6) && near(few.share, 12_345.0 / 128.6), "{few:?}");
    assert!(near(many.maximum, 12_860.0) && many.share < 1.0, "{many:?}");
    assert_eq!(kinds(&keyed(100)), ["efficiency"], "{:?}", keyed(100).warnings);
    assert!(kinds(&keyed(10_000)).is_empty());
}

#[test]
fn the_primary_metric_counts_the_window_by_its_own_time() {
    let result = calm();
    assert_eq!(
        (result.primary_metric.name.as_str(), result.primary_metric.per.as_str()),
        ("NOPM", "minute")
    );
    assert_eq!(result.primary_metric.count, 61_725);
    assert!(near(result.primary_metric.value, 12_345.0), "{}", result.primary_metric.value);
    let completed = 61_725 + 623 + 62_100 + 6_210 + 6_190 + 6_240;
    assert_eq!(result.window.total.completed, completed);
    assert!(near(result.tpm_client, f64::from(u32::try_from(completed).unwrap()) / 5.0));
    assert!(near(result.tpm_server.unwrap(), 143_500.0 / 300.2 * 60.0));
    let shorter = with(|_, end| end.window.end = Elapsed::at_second(210));
    assert!(near(shorter.primary_metric.value, 24_690.0), "{}", shorter.primary_metric.value);
}

#[test]
fn run_and_window_keep_every_outcome_of_every_type() {
    let (facts, end) = sample::troubled();
    let result = RunResult::new(&facts, &end);
    let new_order = &result.run.types[0];
    assert_eq!(new_order.failed, 1_809);
    let classes: Vec<_> = new_order.failed_by_class.iter().map(|c| (c.class, c.count)).collect();
    assert_eq!(classes, [(ErrorClass::Deadlock, 1_800), (ErrorClass::Disconnected, 9)]);
    assert_eq!(
        (new_order.retries(), new_order.retried, new_order.indeterminate),
        (5_400, 4_000, 5)
    );
    assert_eq!(new_order.started, Some(new_order.ended + 2));
    assert_eq!(result.run.total.in_flight, Some(3));
    assert_eq!((result.window.types[0].started, result.window.total.in_flight), (None, None));
    for figures in [&result.run, &result.window] {
        for t in figures.types.iter().chain([&figures.total]) {
            assert_eq!(t.ended, t.completed + t.failed + t.indeterminate, "{}", t.name);
            assert_eq!(t.completed, t.committed + t.rolled_back, "{}", t.name);
            assert_eq!(t.response.count, t.committed, "{}", t.name);
        }
        let committed: u64 = figures.types.iter().map(|t| t.committed).sum();
        assert_eq!(figures.total.committed, committed);
    }
    assert_eq!(result.window.types[0].failed_times.p50_us / 1000, 48);
    assert!((result.window.types[0].response.mean_us - 4_160.0).abs() < 5.0);
}

#[test]
fn the_database_verifies_bounds_or_contradicts() {
    let check =
        |surplus: i64, indeterminate: u64, in_flight: u64, verdict: Verdict, words: &str| {
            let result = with(|facts, end| {
                facts.database_count.after = Some(30_000 + 74_070 + surplus);
                end.run[0].counts.indeterminate = indeterminate;
                end.in_flight[0] = in_flight;
            });
            let verification = &result.primary_metric.verification;
            assert_eq!(verification.verdict, verdict, "{}", verification.words);
            assert!(verification.words.contains(words), "{}", verification.words);
            assert_eq!(verification.database, Some(74_070 + surplus));
            assert_eq!(kinds(&result).contains(&"verification"), verdict == Verdict::Violated);
            assert_eq!(result.ending.good, verdict != Verdict::Violated);
        };
    check(0, 0, 0, Verdict::Verified, "counts the same");
    check(0, 3, 2, Verdict::Verified, "counts the same");
    check(1, 1, 0, Verdict::WithinBounds, "1 more; 1 were");
    check(5, 3, 2, Verdict::WithinBounds, "5 more; 5 were");
    check(6, 3, 2, Verdict::Violated, "6 more, but only 5");
    check(1, 0, 0, Verdict::Violated, "1 more, but only 0");
    check(-1, 3, 2, Verdict::Violated, "1 fewer");
}

#[test]
fn what_cannot_be_compared_is_not_counted() {
    let verdict = |result: RunResult| result.primary_metric.verification.verdict;
    assert_eq!(
        verdict(with(|f, _| {
            f.description.primary_metric.database_count = None;
        })),
        Verdict::NotCounted
    );
    assert_eq!(verdict(with(|f, _| f.database_count.before = None)), Verdict::NotCounted);
    let lost = with(|_, end| end.notes.push(Note::new("worker_lost", None, "1 did not end")));
    assert_eq!(kinds(&lost), ["counts_missing"]);
    assert_eq!(verdict(lost), Verdict::NotCounted);
}

#[test]
fn the_client_says_what_it_cost() {
    let result = calm();
    let completed = result.run.total.completed;
    assert_eq!(completed, 171_705);
    assert!(near(result.client.cpu_s, 7.005_04));
    assert!((result.client.threads_cpu_us_per_transaction - 40.797).abs() < 0.001);
    // The whole process, in the window: 20.5 ms per second for 143,088 in 300 s.
    assert!((result.client.cpu_us_per_transaction - 42.981).abs() < 0.001);
    assert!(near(result.client.process_cpus.unwrap(), 0.0205));
    let beside = with(|_, end| end.gauges.host_use.is_alone = false).client;
    assert_eq!(beside.process_cpus, None, "other runs use the process as well");
    assert!((beside.cpu_us_per_transaction - 40.797).abs() < 0.001);
    assert!((result.client.busiest_share - 0.01).abs() < 1e-6);
    assert_eq!(result.client.threads.len(), 2);
    assert!((result.round_trips.per_transaction - 1.0).abs() < 1e-9);
}

#[test]
fn what_limited_a_run_is_read_off_its_window() {
    let limited = calm().bottleneck;
    assert_eq!(limited.kind, Bottleneck::Database);
    let figures = limited.figures;
    assert!(near(figures.busiest_thread_share, 0.01), "{figures:?}");
    assert_eq!((figures.lag_p50_us, figures.lag_p99_us), (Some(40), Some(150)));
    assert_eq!((figures.lag_samples, figures.late_wakeups), (1_000, Some(5)));
    assert_eq!((figures.round_trip_us, figures.round_trip_samples), (Some(300), 100));
    assert!(near(figures.network_share.unwrap(), 300.0 / figures.mean_service_us), "{figures:?}");
    assert_eq!(figures.host_cpu_share, Some(0.5));
    let kind = |change: fn(&mut RunFacts, &mut RunEnd)| with(change).bottleneck.kind;
    assert_eq!(kind(|_, end| end.gauges.cpu[1].cpu_ns = 250_000_000_000), Bottleneck::Client);
    assert_eq!(kind(|_, end| end.worker_cpu_ns[1] = 300_000_000_000), Bottleneck::Database);
    assert_eq!(kind(|_, end| end.gauges.host.busy = 550), Bottleneck::Database);
    let shared = |facts: &mut RunFacts, end: &mut RunEnd| {
        facts.server.same_host = Some(true);
        end.gauges.host.busy = 550;
    };
    assert_eq!(kind(shared), Bottleneck::Undecided, "nobody sees what the server used");
    let seen = |facts: &mut RunFacts, end: &mut RunEnd| {
        facts.server.same_host = Some(true);
        end.gauges.host.busy = 550;
        // Of the 1.6 transactions in progress on average, most wait for a CPU.
        let wall_ns = 300_000_000_000;
        end.gauges.host_use.server =
            Some(ServerUse { wall_ns, cpu_ns: wall_ns / 5, wait_ns: wall_ns * 6 / 5 });
    };
    assert_eq!(kind(seen), Bottleneck::Host);
    assert_eq!(kind(|_, end| end.round_trips *= 7), Bottleneck::Network);
    assert_eq!(kind(|_, end| end.window.end = Elapsed::at_second(61)), Bottleneck::Undecided);
    let nothing = with(|_, end| end.gauges = Gauges::default()).bottleneck;
    assert_eq!((nothing.kind, nothing.figures.host_cpu_share), (Bottleneck::Database, None));
    let (facts, end) = sample::troubled();
    assert_eq!(RunResult::new(&facts, &end).bottleneck.kind, Bottleneck::Load, "a paced run");
}

#[test]
fn a_calm_run_has_nothing_to_warn_of() {
    let result = calm();
    assert_eq!(result.warnings, []);
    assert!(result.ending.good);
    assert_eq!(result.started_at, "2026-05-09T07:29:52Z");
    assert_eq!((result.durations.rampup_s, result.durations.window_s), (60.0, 300.0));
    assert!(near(result.durations.whole_s, 360.004));
}

#[test]
fn a_counter_warns_above_its_limit_only() {
    let at = |counter| kinds(&with(|_, end| end.timed[3].counts.counter = counter)).len();
    assert_eq!((at(619), at(620)), (0, 1));
    let result = with(|_, end| end.timed[3].counts.counter = 1_919);
    let text = "Delivery: 1,919 districts skipped of 61,900 (3.1 %), more than the normal 1 %";
    assert_eq!(result.warnings[0].text, text);
    assert!(result.ending.good, "a warning is no failure");
}

#[test]
fn failures_count_in_the_window_and_indeterminate_with_them() {
    let result = with(|_, end| {
        end.timed[0].counts.failed[ErrorClass::Other.index()] = 1_000;
        end.timed[0].counts.indeterminate = 500;
    });
    assert!(near(result.failures.share, 1_500.0 / 144_588.0), "{}", result.failures.share);
    assert!(result.failures.above_limit && !result.ending.good);
    assert_eq!(kinds(&result), ["failures"]);
    let exactly = with(|facts, end| {
        end.timed[0].counts.indeterminate = 500;
        facts.spec.max_failures = 500.0 / 143_588.0;
    });
    assert!(!exactly.failures.above_limit, "the limit itself is allowed");
}

#[test]
fn a_run_stopped_early_says_so() {
    let cut = with(|_, end| {
        end.window.end = Elapsed::at_second(180);
        end.ending = RunEnding::Stopped;
    });
    assert_eq!((cut.status, cut.ending.good), (Status::Interrupted, false));
    assert_eq!(cut.warnings[0].text, "the window was cut short: 2m of 5m");
    let empty = with(|_, end| {
        end.window = triphammer_engine::Window {
            start: Elapsed::at_second(60),
            end: Elapsed::at_second(60),
        };
        end.ended = Elapsed::at_second(20);
        end.ending = RunEnding::Stopped;
        end.timed = vec![TypeInterval::default(); 5];
    });
    assert_eq!((empty.primary_metric.value, empty.tpm_client), (0.0, 0.0));
    assert_eq!((empty.durations.rampup_s, empty.durations.whole_s), (20.0, 20.0));
    assert_eq!(kinds(&empty), ["window_short"]);
    let ended = with(|_, end| end.ending = RunEnding::UsersEnded);
    assert_eq!(ended.status, Status::Failed);
}

#[test]
fn a_run_by_transactions_is_never_short() {
    let result = with(|facts, end| {
        facts.spec.length = Length::Transactions(1000);
        end.window.start = Elapsed(0);
        end.window.end = end.ended;
    });
    assert_eq!((result.durations.window_asked_s, result.warnings.len()), (None, 0));
}

#[test]
fn warnings_name_what_spoils_the_number() {
    for (kind, result) in [
        ("debug_build", with(|facts, _| facts.tool.debug_build = true)),
        ("server_counter", with(|facts, _| facts.server_transactions.end = Some(5))),
        ("server_counter_late", with(|facts, _| facts.server_transactions.seconds = 19.9)),
        ("saturated", with(|_, end| end.run[2].saturated = 3)),
        ("no_transactions", with(|_, end| end.timed = vec![TypeInterval::default(); 5])),
        (
            "nothing_counted",
            with(|facts, end| {
                let lost = std::mem::take(&mut end.timed[0].counts.committed);
                end.timed[0].counts.rolled_back += lost;
                let lost = std::mem::take(&mut end.run[0].counts.committed);
                end.run[0].counts.rolled_back += lost;
                facts.database_count.after = facts.database_count.before;
            }),
        ),
        (
            "settings_changed",
            with(|facts, _| {
                let now = [("a".to_owned(), "2".to_owned()), ("b".to_owned(), "1".to_owned())];
                facts.settings_changed = SettingChange::between(&[("b".into(), "1".into())], &now);
            }),
        ),
    ] {
        assert_eq!(kinds(&result), [kind]);
    }
    assert_eq!(with(|f, _| f.server_transactions.end = Some(5)).tpm_server, None);
}

#[test]
fn secrets_never_reach_the_document() {
    let (mut facts, mut end) = sample::troubled();
    facts.target =
        triphammer_document::redacted::Redacted::new("postgres://bench:hunter2@db1/tpcc");
    facts.settings.push(Setting {
        name: "target".into(),
        value: "postgres://bench:hunter2@db1/tpcc".into(),
        source: "flag".into(),
    });
    let conninfo = ("primary_conninfo".to_owned(), "host=a password=hunter2".to_owned());
    facts.settings_changed = SettingChange::between(&[], &[conninfo]);
    end.errors[0].message = "no such user in postgres://bench:hunter2@db1/tpcc".into();
    let text = triphammer_report::json(&RunResult::new(&facts, &end));
    assert!(!text.contains("hunter2"));
    assert_eq!(text.matches("***").count(), 4);
}

#[test]
fn the_document_reads_what_it_wrote() {
    let (facts, end) = sample::troubled();
    let result = RunResult::new(&facts, &end);
    let text = triphammer_report::json(&result);
    assert_eq!(serde_json::from_str::<RunResult>(&text).unwrap(), result);
}

#[test]
fn a_run_whose_database_is_gone_at_its_end_failed() {
    let gone = |change: &dyn Fn(&mut RunFacts, &mut RunEnd), words: &str| {
        let result = with(change);
        assert_eq!((result.status, result.ending.good), (Status::Failed, false), "{words}");
        assert_eq!(kinds(&result), ["database_gone"], "{:?}", result.warnings);
        assert!(result.cause().unwrap().contains(words), "{:?}", result.cause());
        let text = result.text(Charset::Unicode, Style::Plain);
        let text: Vec<&str> = text.split_whitespace().collect();
        assert!(text.join(" ").contains(words), "lines break at 80 columns");
    };
    gone(&|_, end| end.away = 3, "3 of 16 sessions were lost and had not reconnected at the end");
    gone(&|facts, _| facts.answers_at_end = false, "but not after it");
    gone(&|facts, _| facts.database_count.after = None, "but not after it");
    gone(
        &|facts, _| {
            facts.audits = vec![(audit(), DatabaseCount { before: Some(5), after: None })];
        },
        "but not after it",
    );
    let never_asked = with(|facts, _| facts.database_count = DatabaseCount::default());
    assert_eq!(never_asked.status, Status::Complete);
    // A stopped run is stopped, whatever the state of the database.
    let stopped = with(|_, end| {
        end.away = 3;
        end.ending = RunEnding::Stopped;
    });
    assert_eq!(stopped.status, Status::Interrupted);
    assert!(kinds(&stopped).contains(&"database_gone"));
}

#[test]
fn the_time_without_service_is_that_of_the_window() {
    let result = with(|_, end| end.outages = vec![5..8, 58..62, 100..110, 358..361]);
    let seen = &result.availability;
    assert!(near(seen.without_service_s, 2.0 + 10.0 + 2.0), "{seen:?}");
    assert_eq!(seen.outages.len(), 4);
    assert_eq!(kinds(&result), ["outage"]);
    assert_eq!(result.status, Status::Complete, "it came back");
}

#[test]
fn a_count_that_does_not_add_up_is_violated_and_named() {
    let result = with(|_, end| {
        let identity = "started = ended + in flight";
        end.violations =
            vec![Violation { identity: identity.into(), transaction: Some(0), left: 9, right: 7 }];
    });
    assert_eq!((result.status, result.ending.good), (Status::Failed, false));
    assert_eq!(kinds(&result), ["identity"]);
    let words = "started = ended + in flight, new_order: 9 and 7";
    assert_eq!(result.violated_identities[0].words(), words);
    let text = result.text(Charset::Unicode, Style::Plain);
    let text: Vec<&str> = text.split_whitespace().collect();
    assert!(text.join(" ").contains(words), "lines break at 80 columns");
}

#[test]
fn answers_that_cannot_be_read_count_against_the_limit() {
    let result = with(|_, end| {
        for types in [&mut end.run, &mut end.timed] {
            types[0].counts.unread = 5_000;
        }
    });
    assert_eq!(kinds(&result), ["unread", "failures"]);
    assert_eq!(result.run.types[0].unread, 5_000);
    assert_eq!(result.primary_metric.verification.verdict, Verdict::Verified);
    assert!(result.failures.above_limit && !result.ending.good);
}

#[test]
fn a_window_that_its_interval_ended_says_how_long_it_had_to_be_and_what_it_does_not_cover() {
    let asked = |schedule: Schedule, share| {
        let result = with(|facts, _| (facts.until_ci, facts.schedule) = (Some(share), schedule));
        result.steadiness.unwrap()
    };
    let every = |seconds| Schedule::Every { setting: "checkpoint_timeout".into(), seconds };
    let (held, short) = (asked(every(100), 0.01), asked(every(300), 0.01));
    let until = held.until.as_ref().unwrap();
    assert!(until.reached && held.shortest_s == 300, "{until:?}");
    assert_eq!((held.verdict, held.periods), (Steady::Steady, Some(3.0)));
    for words in
        ["contains 3.0 periods of checkpoint_timeout (1m 40s)", "the interval does not cover"]
    {
        assert!(held.words.contains(words), "{}", held.words);
    }
    assert!(near(held.relative_half_width.unwrap(), 0.01), "as wide as was asked for");
    assert!(!short.until.as_ref().unwrap().reached, "300 s do not hold it twice");
    assert!(short.relative_half_width.unwrap() < 0.002, "its own interval: {}", short.words);
    assert!(short.words.contains("two periods of checkpoint_timeout (5m)"), "{}", short.words);
    assert_eq!((short.verdict, short.periods), (Steady::WithinWindow, Some(1.0)));
    let advice = "use --duration 10m or more, which contains two periods of checkpoint_timeout";
    assert_eq!(short.next.as_deref(), Some(advice));
    let own = "the mean of this window is known to ± ";
    assert!(short.words.starts_with(own), "{}", short.words);
    let unknown = asked(Schedule::default(), 0.01);
    assert!(!unknown.until.as_ref().unwrap().reached);
    assert!(
        unknown.words.contains("is not known (the server was not queried)"),
        "{}",
        unknown.words
    );
}

#[test]
fn every_report_says_that_a_window_between_two_checkpoints_does_not_show_the_level() {
    let every = |seconds| Schedule::Every { setting: "checkpoint_timeout".into(), seconds };
    let of = |seconds| with(|facts, _| facts.schedule = every(seconds));
    let (short, long) = (of(300), of(100));
    let steadiness = short.steadiness.as_ref().unwrap();
    assert_eq!(steadiness.verdict, Steady::WithinWindow);
    let words = "contains 1.0 periods of checkpoint_timeout (5m), and the level takes two";
    assert!(steadiness.words.contains(words), "{}", steadiness.words);
    assert_eq!(serde_json::to_value(steadiness).unwrap()["verdict"], "within_window");
    let reports = |result: &RunResult| {
        let text = result.text(Charset::Unicode, Style::Plain);
        [text, result.markdown().unwrap(), junit::of_run(result).xml()]
    };
    for (short, long) in reports(&short).into_iter().zip(reports(&long)) {
        assert!(short.contains("steady within the window"), "{short}");
        assert!(!long.contains("steady within the window"), "{long}");
    }
}

#[test]
fn percentiles_have_intervals_in_the_window_and_none_over_the_whole_run() {
    let result = calm();
    for seen in result.window.types.iter().chain([&result.window.total]) {
        let interval = seen.response_intervals.p95_us.unwrap();
        assert!(interval.low <= interval.high, "{interval:?}");
    }
    assert_eq!(result.run.total.response_intervals, PercentileIntervals::default());
}
