//! Verdicts on figures of real runs: set-ups with a known bottleneck, alone and next to processes
//! that use every CPU, and the boundaries between verdicts.

use super::*;
use crate::measure::Measure;

/// Two CPUs, 8 users with procedures on a local server, undisturbed.
fn quiet() -> LimitFigures {
    LimitFigures {
        window_s: 60.0,
        committed: 10_000,
        sessions: 8,
        sessions_busy_share: 1.0,
        busiest_thread_share: 0.10,
        busiest_thread_wait_share: Some(0.02),
        threads: 1,
        threads_cpus: 0.10,
        threads_waiting: Some(0.02),
        lag_samples: 4_000,
        lag_p50_us: Some(30),
        lag_p99_us: Some(200),
        lag_mean_us: Some(60.0),
        late_wakeups: Some(0),
        median_service_us: 10_000,
        mean_service_us: 12_000.0,
        round_trip_us: Some(120),
        round_trip_mean_us: Some(200.0),
        round_trip_samples: 60,
        round_trips_per_transaction: 1.0,
        network_share: Some(0.01),
        same_host: Some(true),
        host_cpu_share: Some(0.3),
        host_pressure_share: Some(0.02),
        host_cpus: 2,
        client_cpus: Some(0.11),
        client_cpus_allowed: Some(2),
        server_cpus: Some(0.4),
        server_waiting: Some(0.1),
        server_cpus_allowed: Some(2),
        other_cpus: Some(0.05),
        other_cpus_of_server: Some(0.05),
        other_cpus_of_client: Some(0.05),
        ..LimitFigures::default()
    }
}

/// The effect of CPU-bound processes on both CPUs: they use what they get, and others wait.
fn beside_burners(f: &mut LimitFigures) {
    f.host_cpu_share = Some(1.0);
    f.host_pressure_share = Some(0.99);
    for others in [&mut f.other_cpus, &mut f.other_cpus_of_server, &mut f.other_cpus_of_client] {
        *others = Some(1.7);
    }
}

type Change = fn(&mut LimitFigures);

fn limited(changes: &[Change]) -> BottleneckVerdict {
    let mut figures = quiet();
    changes.iter().for_each(|change| change(&mut figures));
    figures.time = figures.time_shares();
    BottleneckVerdict::new(figures, Measure::stored("minute").evidence())
}

fn one_user(f: &mut LimitFigures) {
    (f.sessions, f.mean_service_us, f.lag_mean_us) = (1, 2_000.0, Some(40.0));
    (f.threads_cpus, f.busiest_thread_share) = (0.15, 0.15);
    (f.server_cpus, f.server_waiting, f.round_trip_mean_us) = (Some(0.6), Some(0.02), Some(150.0));
}

fn distant(f: &mut LimitFigures) {
    (f.round_trip_us, f.round_trip_mean_us) = (Some(21_000), Some(22_000.0));
    (f.mean_service_us, f.server_cpus, f.server_waiting) = (28_000.0, Some(0.5), Some(0.1));
    f.network_share = Some(0.75);
}

fn saturated(f: &mut LimitFigures) {
    (f.server_cpus, f.server_waiting) = (Some(1.5), Some(5.0));
    (f.host_cpu_share, f.host_pressure_share) = (Some(0.99), Some(0.97));
    (f.threads_cpus, f.client_cpus) = (0.4, Some(0.42));
}

fn pinned_server(f: &mut LimitFigures) {
    (f.server_cpus, f.server_waiting) = (Some(0.98), Some(5.8));
    (f.server_cpus_allowed, f.host_cpu_share) = (Some(1), Some(0.6));
}

fn starved_client(f: &mut LimitFigures) {
    (f.busiest_thread_share, f.busiest_thread_wait_share) = (0.03, Some(0.95));
    (f.threads_cpus, f.threads_waiting, f.lag_mean_us) = (0.03, Some(0.95), Some(80_000.0));
    (f.client_cpus_allowed, f.client_niceness) = (Some(1), 19);
    (f.round_trip_us, f.round_trip_mean_us) = (Some(50_000), Some(90_000.0));
    (f.mean_service_us, f.network_share) = (100_000.0, Some(0.5));
}

fn null_client(f: &mut LimitFigures) {
    (f.in_process, f.round_trip_us, f.round_trip_mean_us) = (true, None, None);
    (f.network_share, f.server_cpus, f.server_waiting) = (None, Some(0.0), Some(0.0));
    (f.busiest_thread_share, f.threads_cpus, f.mean_service_us) = (0.99, 0.99, 20.0);
    f.server_cpus_allowed = None;
}

#[test]
fn known_set_ups_get_their_verdict() {
    use Certainty::{Probable, Sure};
    let table: &[(&str, &[Change], Bottleneck, Cause, Certainty)] = &[
        ("one user", &[one_user], Bottleneck::Load, Cause::FewUsers, Sure),
        (
            "one user, who waits for CPUs that others have",
            &[one_user, beside_burners, |f| {
                (f.threads_waiting, f.lag_mean_us) = (Some(0.3), Some(2_000.0));
                (f.server_cpus, f.server_waiting, f.threads_cpus) = (Some(0.2), Some(0.4), 0.06);
            }],
            Bottleneck::Host,
            Cause::OtherProcesses,
            Sure,
        ),
        (
            "an arrival rate far below capacity, even beside others",
            &[beside_burners, |f| {
                (f.paced, f.kept_up, f.sessions_busy_share) = (true, Some(true), 0.1);
            }],
            Bottleneck::Load,
            Cause::Offered,
            Sure,
        ),
        ("a client that fills a core", &[null_client], Bottleneck::Client, Cause::Threads, Sure),
        ("round trips of 20 ms", &[distant], Bottleneck::Network, Cause::RoundTrips, Sure),
        (
            "the same beside others, whom the pings wait for as well",
            &[distant, beside_burners, |f| {
                (f.mean_service_us, f.round_trip_mean_us) = (60_000.0, Some(50_000.0));
                (f.server_waiting, f.network_share) = (Some(0.8), Some(0.35));
            }],
            Bottleneck::Network,
            Cause::RoundTrips,
            Sure,
        ),
        (
            "statements over it, whose locks are held on the way",
            &[distant, |f| {
                (f.round_trips_per_transaction, f.mean_service_us) = (25.0, 1_500_000.0);
                (f.server_cpus, f.server_waiting) = (Some(0.3), Some(0.05));
                f.network_share = Some(0.35);
            }],
            Bottleneck::Network,
            Cause::RoundTrips,
            Probable,
        ),
        ("locks, or a slow disk", &[|_| {}], Bottleneck::Database, Cause::Waits, Sure),
        (
            "the same beside others",
            &[beside_burners, |f| {
                f.server_waiting = Some(1.0);
            }],
            Bottleneck::Database,
            Cause::Waits,
            Sure,
        ),
        ("full CPUs", &[saturated], Bottleneck::Host, Cause::Shared, Sure),
        (
            "full of others",
            &[saturated, |f| f.other_cpus = Some(0.5)],
            Bottleneck::Host,
            Cause::OtherProcesses,
            Sure,
        ),
        ("a pinned server", &[pinned_server], Bottleneck::Database, Cause::OwnCpus, Sure),
        (
            "a pinned server whose CPU others use too",
            &[pinned_server, |f| f.other_cpus_of_server = Some(0.4)],
            Bottleneck::Database,
            Cause::OwnCpus,
            Probable,
        ),
        ("a starved client", &[starved_client], Bottleneck::Client, Cause::Starved, Sure),
        (
            "a client starved by others",
            &[starved_client, beside_burners],
            Bottleneck::Client,
            Cause::Starved,
            Probable,
        ),
    ];
    for (what, changes, kind, cause, certainty) in table {
        let found = limited(changes);
        let seen = (found.kind, found.cause, found.certainty);
        assert_eq!(seen, (*kind, Some(*cause), *certainty), "{what}: {found:?}");
    }
}

#[test]
fn a_busy_host_is_no_limit_where_nobody_waits_for_its_cpus() {
    let found = limited(&[|f| f.host_cpu_share = Some(1.0)]);
    assert_eq!((found.kind, found.certainty), (Bottleneck::Database, Certainty::Sure));
    let found = limited(&[null_client, |f| {
        // A null database that sleeps, on a host saturated by other processes.
        (f.busiest_thread_share, f.threads_cpus, f.mean_service_us) = (0.05, 0.05, 20_000.0);
        f.host_cpu_share = Some(1.0);
    }]);
    assert_eq!(found.kind, Bottleneck::Database, "{found:?}");
}

#[test]
fn too_little_is_not_judged() {
    for change in [(|f| f.window_s = 1.99) as Change, |f| f.committed = 29] {
        assert_eq!(limited(&[change]).kind, Bottleneck::Undecided);
    }
    for change in [(|f| f.window_s = 2.0) as Change, |f| f.committed = 30] {
        assert_eq!(limited(&[change]).kind, Bottleneck::Database);
    }
}

#[test]
fn a_server_that_nobody_sees_is_judged_with_doubt() {
    let unseen = |f: &mut LimitFigures| (f.server_cpus, f.server_waiting) = (None, None);
    let found = limited(&[unseen]);
    assert_eq!((found.kind, found.certainty), (Bottleneck::Database, Certainty::Probable));
    let found = limited(&[unseen, |f| f.host_cpu_share = Some(0.95)]);
    assert_eq!((found.kind, found.cause), (Bottleneck::Undecided, Some(Cause::Unseen)));
    assert!(found.words.contains("is unknown"), "{}", found.words);
    // If the server is remote, a saturated client host proves nothing.
    let found = limited(&[unseen, |f| {
        (f.same_host, f.host_cpu_share) = (Some(false), Some(0.95));
    }]);
    assert_eq!((found.kind, found.second), (Bottleneck::Database, Some(Bottleneck::Load)));
}

#[test]
fn a_load_near_its_limit_is_not_called_sure() {
    let near = |f: &mut LimitFigures| (f.paced, f.sessions_busy_share) = (true, 0.7);
    let kept = limited(&[near, |f| f.kept_up = Some(true)]);
    assert_eq!((kept.kind, kept.certainty), (Bottleneck::Load, Certainty::Probable));
    let behind = limited(&[near, |f| f.kept_up = Some(false)]);
    assert_eq!(behind.kind, Bottleneck::Database);
}

#[test]
fn a_database_on_the_clients_threads_is_not_taken_for_the_client() {
    let on_threads = |f: &mut LimitFigures| {
        (f.database_on_threads, f.busiest_thread_share, f.threads_cpus) = (true, 1.0, 1.0);
    };
    let found = limited(&[on_threads]);
    assert_eq!(found.kind, Bottleneck::Database);
    assert!(found.words.contains("the client's own threads"), "{}", found.words);
    let found = limited(&[on_threads, |f| f.threads_waiting = Some(0.6)]);
    assert_eq!(found.kind, Bottleneck::Host);
    assert!(!found.advice.contains("another host"), "{}", found.advice);
}

#[test]
fn every_verdict_says_why_and_what_next() {
    let cases: [(&[Change], &str, &str, &str); 7] = [
        (
            &[one_user],
            "the load",
            "1 session did not load the database fully: server working 60 % of a transaction's time, \
             server waiting 17.5 %",
            "--vus",
        ),
        (&[null_client], "the client", "used 99 % of a core", "more --threads"),
        (
            &[starved_client, beside_burners],
            "probably the client",
            "it may also be the host",
            "CPUs",
        ),
        (
            &[saturated],
            "the host",
            "of its 2 CPUs, these were used: client 0.42, server 1.50",
            "another host",
        ),
        (
            &[saturated, |f| f.other_cpus = Some(0.5)],
            "the host, because of other processes",
            "others 0.5",
            "stop other programs",
        ),
        (&[pinned_server], "the database", "may use 1 of 2 CPUs", "more CPUs"),
        (&[|_| {}], "the database", "server waiting 9", "check the server"),
    ];
    for (changes, title, words, advice) in cases {
        let found = limited(changes);
        assert_eq!(found.title(), title);
        assert!(found.words.contains(words), "{}", found.words);
        assert!(found.advice.contains(advice), "{}", found.advice);
    }
}

#[test]
fn the_shares_of_time_add_up() {
    for changes in [&[] as &[Change], &[one_user], &[distant], &[saturated], &[starved_client]] {
        let t = limited(changes).figures.time.unwrap();
        let of_server = t.server_cpu.unwrap() + t.server_wait.unwrap();
        let sum = t.client_cpu + t.client_wait + of_server + t.network + t.rest;
        assert!((sum - 1.0).abs() < 1e-9, "{t:?}");
    }
}

/// What was observed of sessions with these shares of classes.
fn observed(classes: &[(WaitClass, f64)]) -> Observed {
    use crate::result::{ActiveSessions, WaitShare};
    let of = |(class, share): &(WaitClass, f64)| WaitShare {
        class: *class,
        wait: String::new(),
        average: 8.0 * share,
        share: *share,
    };
    let classes = classes.iter().map(of).collect();
    let sessions = ActiveSessions { samples: 600, average: 8.0, classes, ..Default::default() };
    Observed { sessions: Some(sessions), ..Observed::default() }
}

#[test]
fn waits_of_the_database_are_named_from_its_sessions() {
    let locks = observed(&[(WaitClass::RowLock, 0.62), (WaitClass::Cpu, 0.38)]);
    let verdict = limited(&[]).explained(Some(&locks));
    assert_eq!((verdict.kind, verdict.cause), (Bottleneck::Database, Some(Cause::Waits)));
    assert_eq!(verdict.title(), "the database: row locks (62 % of active-session time)");
    assert_eq!(verdict.advice, WaitClass::RowLock.advice());
    assert_eq!(limited(&[]).explained(None), limited(&[]), "nothing was observed");

    let host = limited(&[saturated]).explained(Some(&locks));
    assert_eq!((&host.wait, host.title()), (&None, limited(&[saturated]).title()), "not its waits");

    let thin = observed(&[(WaitClass::Client, 0.9), (WaitClass::Log, 0.1)]);
    let verdict = limited(&[]).explained(Some(&thin));
    assert_eq!(verdict.title(), "the database: commit log (10 % of active-session time)");
    assert_eq!(verdict.advice, limited(&[]).advice, "too little to advise on");
}

#[test]
fn the_table_of_locks_the_latch_and_frequent_checkpoints_are_named() {
    use crate::result::{Blocker, ProfileFigure, WaitShare};
    use crate::unit::Unit;
    let title = |of: &Observed| limited(&[]).explained(Some(of)).title();

    let mut locks = observed(&[(WaitClass::RowLock, 0.62)]);
    locks.blockers = vec![Blocker {
        session: None,
        description: String::new(),
        statement: String::new(),
        object: "warehouse PRIMARY (1)".to_owned(),
        blocked: 4.0,
        blocked_max: 7,
    }];
    let row_locks = "the database: row locks on warehouse (62 % of active-session time)";
    assert_eq!(title(&locks), row_locks);

    let mut latches = observed(&[(WaitClass::Latch, 0.4)]);
    let wait = |name: &str, share| WaitShare {
        class: WaitClass::Latch,
        wait: name.to_owned(),
        average: 8.0 * share,
        share,
    };
    let sessions = latches.sessions.as_mut().unwrap();
    sessions.waits = vec![wait("LWLock:BufferContent", 0.3), wait("LWLock:ProcArray", 0.1)];
    let which = "the database: latches LWLock:BufferContent (40 % of active-session time)";
    assert_eq!(title(&latches), which);

    let mut log = observed(&[(WaitClass::Log, 0.5)]);
    let checkpoints = |per_minute: f64| ProfileFigure {
        metric: "postgresql.bgwriter.checkpoint.count".to_owned(),
        labels: std::collections::BTreeMap::new(),
        title: String::new(),
        unit: Unit::PerSecond,
        mean: per_minute / 60.0,
        max: 1.0,
        last: 0.0,
        per_transaction: None,
        part: None,
        log: None,
    };
    log.profile = vec![checkpoints(12.0), checkpoints(0.0)];
    let verdict = limited(&[]).explained(Some(&log));
    let often = "(50 % of active-session time), with 12.0 checkpoints per minute";
    assert!(verdict.title().ends_with(often), "{}", verdict.title());
    assert_eq!(verdict.advice, SPACE_CHECKPOINTS);
    log.profile = vec![checkpoints(1.0)];
    assert!(title(&log).ends_with("(50 % of active-session time)"), "rare");
}

#[test]
fn a_pooler_that_lets_few_transactions_through_is_named() {
    use crate::result::ProfileFigure;
    use crate::unit::Unit;
    // Of 32 users of tpc-b behind PgBouncer with a pool of 4, in transaction mode.
    let pooled: Change = |f| {
        (f.sessions, f.sessions_busy_share) = (32, 0.997);
        (f.mean_service_us, f.round_trips_per_transaction) = (45_500.0, 7.0);
        (f.round_trip_us, f.round_trip_mean_us) = (Some(35_135), Some(39_047.0));
        f.network_share = Some(5.408);
    };
    let with = |connections: f64| {
        let backends = ProfileFigure {
            metric: "postgresql.backends".to_owned(),
            labels: std::collections::BTreeMap::new(),
            title: String::new(),
            unit: Unit::Average,
            mean: connections,
            max: connections,
            last: connections,
            per_transaction: None,
            part: None,
            log: None,
        };
        Observed { profile: vec![backends], ..Observed::default() }
    };
    let alone = limited(&[pooled]);
    assert_eq!(alone.cause, Some(Cause::RoundTrips), "without the number of connections");
    let verdict = limited(&[pooled]).explained(Some(&with(6.0)));
    assert_eq!((verdict.kind, verdict.cause), (Bottleneck::Database, Some(Cause::Connections)));
    assert_eq!(verdict.title(), "the database: its number of connections");
    assert!(verdict.words.starts_with("31.9 sessions were in a transaction on average"));
    assert!(verdict.advice.contains("pool size"), "{}", verdict.advice);
    assert_eq!(limited(&[pooled]).explained(Some(&with(35.0))), alone, "one for each session");
    let busy = limited(&[pooled, saturated]).explained(Some(&with(6.0)));
    assert_eq!(busy.title(), "probably the database: its number of connections");
    assert!(busy.words.ends_with("in a pooler; it may also be the host"), "{}", busy.words);
}
