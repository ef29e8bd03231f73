//! Hand-made runs with known numbers: a calm one, and one with every kind of event.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use triphammer_core::clock::Elapsed;
use triphammer_core::error::ErrorClass;
use triphammer_core::event::{Note, Phase};
use triphammer_core::outcome::{Outcome, Timing};
use triphammer_core::pace::{Late, Load};
use triphammer_core::recorder::{
    CpuRoom, Gauges, HostCpu, HostUse, RecordedInterval, TypeInterval, WorkerCpu, histogram,
};
use triphammer_core::session::{Isolation, Protocol, ServerInfo};
use triphammer_core::spec::{Length, LoginPolicy, Pacing, RetryPolicy, RunSpec, TimeLimits};
use triphammer_core::traffic::{Packets, Traffic};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Description, Mode};
use triphammer_document::host::Host;
use triphammer_document::parts::{ServerTransactions, SettingChange, Tool, WorkloadFacts};
use triphammer_document::redacted::Redacted;
use triphammer_document::requirement::{self, Requirement, Vocabulary};
use triphammer_document::result::{
    CounterSpan, DatabaseCount, MeasuredWorkload, RunFacts, RunResult, Slicer,
};
use triphammer_document::schedule::Schedule;
use triphammer_document::second::Second;
use triphammer_engine::{
    ErrorSample, Exemplar, Offered, Origin, RunEnd, RunEnding, RunLogins, Window,
};
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_store::JobHeader;

/// Workload and server of the runs.
pub fn workload() -> Arc<Description> {
    triphammer_runner::describe("tproc-c").unwrap()
}

/// Numbers of transactions committed and rolled back, with a known distribution of times above
/// `base_us`.
pub fn seen(committed: u64, rolled_back: u64, base_us: u64) -> TypeInterval {
    let mut seen = TypeInterval::default();
    let mut times = histogram();
    // Per thousand: half of them at the base, the slowest at thirty times that.
    let shape = [(500, 10), (300, 15), (100, 20), (60, 30), (30, 50), (9, 100), (1, 300)];
    let mut left = committed;
    for (permille, tenfold) in shape {
        let count = (committed * permille).div_ceil(1000).min(left);
        if count == 0 {
            break;
        }
        times.record_n(base_us * tenfold / 10, count).unwrap();
        seen.counts.response_ns += count * base_us * tenfold * 100;
        left -= count;
    }
    seen.counts.service_ns = seen.counts.response_ns;
    seen.counts.committed = committed;
    seen.response = (committed > 0).then_some(times);
    if rolled_back > 0 {
        let mut times = histogram();
        times.record_n(base_us, rolled_back).unwrap();
        seen.counts.rolled_back = rolled_back;
        seen.rolled_back = Some(times);
    }
    seen
}

/// Transactions that ended in a window of 300 s: 61,725 New-Orders are 12,345 per minute.
fn window() -> Vec<TypeInterval> {
    vec![
        seen(61_725, 623, 2_600),
        seen(62_100, 0, 1_150),
        seen(6_210, 0, 640),
        seen(6_190, 0, 7_900),
        seen(6_240, 0, 1_480),
    ]
}

/// The seconds of the window in chronological order.
fn slicer() -> Slicer {
    let mut slicer = Slicer::new(Length::Time(Duration::from_secs(300)));
    (60..360).for_each(|n| slicer.take(&second(n)));
    slicer
}

/// Requirements of which one is missed.
fn requirements() -> Vec<Requirement> {
    let text = "nopm >= 12k, new_order.p95 < 5ms, failures < 0.1%, payment.service.p99 <= 5ms";
    requirement::parse(text, &Vocabulary::of_workload(&workload())).unwrap()
}

/// 206 per second after a warm-up of 12 s, with small irregular variations.
fn primary_metric_seconds() -> Vec<f64> {
    let noise = |second: u32| f64::from(second.wrapping_mul(2_654_435_761) >> 28) - 7.5;
    (0..360).map(|second| f64::from(second.min(12)) * 12.0 + 62.0 + noise(second)).collect()
}

/// Makes a run one of terminals with keying and thinking times.
pub fn key(facts: &mut RunFacts) {
    facts.spec.load = Load::Keyed;
    facts.description = MeasuredWorkload::of(&workload(), &Load::Keyed);
}

/// Facts of a run with 300 seconds, which take a second to add up: once for all tests.
pub fn facts() -> RunFacts {
    static FACTS: LazyLock<RunFacts> =
        LazyLock::new(|| RunFacts { slicer: slicer(), ..facts_without_seconds() });
    FACTS.clone()
}

/// Facts of a run whose seconds are still to be taken. A simulation of many runs cannot afford to copy
/// those of [`facts`].
pub fn facts_without_seconds() -> RunFacts {
    RunFacts {
        job: Some(12),
        tool: Tool { name: "triphammer".into(), version: "0.1.0".into(), debug_build: false },
        label: None,
        workload: WorkloadFacts {
            name: "tproc-c".into(),
            title: "TPROC-C".into(),
            version: 1,
            scale: 10.into(),
            scale_unit: "warehouses".into(),
            facts: BTreeMap::from([
                ("c_load".into(), "123".into()),
                ("data seed".into(), "42".into()),
            ]),
            scripts: Vec::new(),
        },
        description: MeasuredWorkload::of(&workload(), &Load::Closed),
        spec: RunSpec {
            users: 16,
            threads: 2,
            rampup: Duration::from_secs(60),
            length: Length::Time(Duration::from_secs(300)),
            mode: Mode::Procedures,
            protocol: Protocol::Prepared,
            pipelining: triphammer_core::session::Pipelining::Off,
            io: triphammer_core::io::Io::Epoll,
            isolation: None,
            load: Load::Closed,
            pacing: Pacing::default(),
            seed: 1,
            retry: RetryPolicy::default(),
            limits: TimeLimits::default(),
            logins: LoginPolicy::default(),
            max_failures: 0.01,
        },
        settings: vec![
            Setting { name: "vus".into(), value: "16".into(), source: "flag".into() },
            Setting { name: "rampup".into(), value: "1m".into(), source: "default".into() },
        ],
        target: Redacted::new("postgres://bench@db1:5432/tpcc"),
        server: ServerInfo {
            product: "PostgreSQL".into(),
            version: "15.4 (Debian 15.4-1)".into(),
            transport: "tcp".into(),
            cipher: Some("TLSv1.3 TLS_AES_256_GCM_SHA384".into()),
            same_host: Some(false),
        },
        database_on_threads: false,
        host: Host {
            cpu: Some("Example CPU @ 2.50GHz".into()),
            cores: Some(2),
            memory_bytes: Some(8_375_000_000),
            architecture: "x86_64".into(),
            os: "Debian GNU/Linux 12 (bookworm)".into(),
            kernel: Some("6.1.0".into()),
            governor: None,
            topology: None,
        },
        answers_at_end: true,
        database_count: DatabaseCount { before: Some(30_000), after: Some(30_000 + 74_070) },
        audits: Vec::new(),
        server_transactions: CounterSpan {
            start: Some(1_000),
            end: Some(144_500),
            seconds: 300.2,
            late_s: 1.0,
            ..CounterSpan::default()
        },
        schema: Vec::new(),
        state: None,
        first_answer: None,
        setup: Vec::new(),
        settings_changed: Vec::new(),
        settings_set: None,
        slicer: Slicer::new(Length::Time(Duration::from_secs(300))),
        figures: Vec::new(),
        primary_metric_seconds: primary_metric_seconds(),
        load_seconds: Vec::new(),
        until_ci: None,
        schedule: Schedule::default(),
        query_plan: None,
        queries: None,
        query_streams: None,
        nodes: Vec::new(),
        observed: None,
        price: None,
        energy: None,
        earlier: None,
        statements: Vec::new(),
        replay: None,
        statement_plans: Vec::new(),
        script: None,
        workload_warning: None,
        notes: Vec::new(),
    }
}

/// Measurements of two threads with this CPU time in a window of `seconds`: wake-ups of 40 µs, 1 %
/// of them of 150 µs; a network of 300 µs, and slower when the server was busy; a host half busy.
fn gauges(cpu_ns: [u64; 2], seconds: u64) -> Gauges {
    let (mut lag, mut round_trip) = (histogram(), histogram());
    lag.record_n(40, 980).unwrap();
    lag.record_n(150, 15).unwrap();
    lag.record_n(12_000, 5).unwrap();
    round_trip.record_n(300, 30).unwrap();
    round_trip.record_n(2_000, 70).unwrap();
    Gauges {
        cpu: (0..)
            .zip(cpu_ns)
            .map(|(thread, cpu_ns)| WorkerCpu {
                thread,
                cpu_ns,
                wall_ns: seconds * 1_000_000_000,
                wait_ns: Some(seconds * 1_000_000),
            })
            .collect(),
        lag: Some(lag),
        round_trip: Some(round_trip),
        host: HostCpu { busy: 300, total: 600 },
        host_use: host_use(seconds),
        traffic: Traffic {
            sent_bytes: seconds * 123_450,
            received_bytes: seconds * 61_725,
            packets: Some(Packets { sent: seconds * 1_000, received: seconds * 900 }),
        },
    }
}

/// A process that used a little more than its two worker threads.
fn host_use(seconds: u64) -> HostUse {
    let half = Some(CpuRoom { cpus: 2, used: HostCpu { busy: 300, total: 600 } });
    HostUse {
        wall_ns: seconds * 1_000_000_000,
        process_cpu_ns: seconds * 20_500_000,
        is_alone: true,
        pressure_ns: Some(seconds * 20_000_000),
        cpus: 2,
        niceness: 0,
        client_room: half,
        server_room: None,
        server: None,
    }
}

/// A run without problems: ramp-up of 60 s with a fifth of the window's work, then the window.
pub fn calm() -> RunEnd {
    let timed = window();
    let mut run = timed.clone();
    for (all, rampup) in run.iter_mut().zip([
        seen(12_345, 124, 2_600),
        seen(12_420, 0, 1_150),
        seen(1_242, 0, 640),
        seen(1_238, 0, 7_900),
        seen(1_248, 0, 1_480),
    ]) {
        all.add(&rampup);
    }
    RunEnd {
        hosts: Vec::new(),
        started_at: Timestamp::from_seconds(1_778_311_792),
        ended: Elapsed(360_004_000_000),
        window: Window { start: Elapsed::at_second(60), end: Elapsed::at_second(360) },
        started: run.iter().map(|seen| seen.counts.ended()).collect(),
        in_flight: vec![0; 5],
        run,
        timed,
        offered: None,
        pool_wait: None,
        backlog_max: None,
        exemplars: Vec::new(),
        gauges: gauges([3_000_000_000, 2_900_000_000], 300),
        worker_cpu_ns: vec![3_600_040_000, 3_405_000_000],
        sessions: (0, 0),
        logins: RunLogins::default(),
        away: 0,
        nodes: Vec::new(),
        load_changes: Vec::new(),
        node_changes: Vec::new(),
        failovers: Vec::new(),
        outages: Vec::new(),
        violations: Vec::new(),
        round_trips: 171_705,
        errors: Vec::new(),
        ending: RunEnding::Complete,
        notes: Vec::new(),
    }
}

/// A run with every kind of event: stopped and aborted in the window after an outage, under an open
/// load.
pub fn troubled() -> (RunFacts, RunEnd) {
    let (mut facts, mut end) = (facts(), calm());
    facts.label = Some("before the upgrade".into());
    facts.tool.debug_build = true;
    facts.spec.load = Load::Rate { per_second: 500.0, constant: false };
    facts.spec.pacing.late = Late::Skip(Duration::from_millis(100));
    facts.spec.pacing.backlog = 30_000;
    facts.spec.isolation = Some(Isolation::RepeatableRead);
    facts.spec.mode = Mode::Statements;
    facts.database_count.after = Some(30_000 + 74_070 + 50);
    facts.host.governor = Some("performance".into());
    facts.settings_changed = vec![SettingChange {
        name: "work_mem".into(),
        start: Some("4MB".into()),
        end: Some("64MB".into()),
    }];
    facts.notes = vec![Note::new(
        "tls_fallback",
        None,
        "the server offers no TLS; sslmode=prefer went on without",
    )];
    end.window.end = Elapsed::at_second(180);
    end.ended = Elapsed(183_500_000_000);
    end.ending = RunEnding::Aborted;
    end.worker_cpu_ns = vec![166_400_000_000, 120_000_000_000];
    end.gauges = gauges([110_000_000_000, 80_000_000_000], 120);
    end.sessions = (16, 14);
    end.away = 2;
    end.outages = vec![20..21, 121..133];
    end.in_flight = vec![2, 1, 0, 0, 0];
    for types in [&mut end.run, &mut end.timed] {
        for stretch in types.iter_mut() {
            let served = seen(stretch.counts.committed, 0, 500);
            stretch.service = served.response;
            stretch.counts.service_ns = served.counts.response_ns;
        }
        let failed = ErrorClass::Deadlock.index();
        types[0].counts.failed[failed] = 1_800;
        types[0].counts.failed[ErrorClass::Disconnected.index()] = 9;
        types[0].counts.retries[failed] = 5_400;
        types[0].counts.retried = 4_000;
        types[0].counts.indeterminate = 5;
        types[0].saturated = 1;
        let mut times = histogram();
        times.record_n(48_000, 1_814).unwrap();
        types[0].failed = Some(times);
        let skipped = types[3].counts.committed * 10 * 31 / 1000;
        types[3].counts.counter = i64::try_from(skipped).unwrap();
    }
    end.started = end.run.iter().zip(&end.in_flight).map(|(s, f)| s.counts.ended() + f).collect();
    let started = end.started.iter().sum::<u64>();
    let (skipped, never_started) = (412, 1_203);
    let offered = started + skipped + never_started;
    end.offered = Some(Offered { offered, skipped, never_started });
    end.pool_wait = seen(150_000, 0, 2_100).response;
    end.backlog_max = Some(1_460);
    let ms = |n: u64| Elapsed(n * 1_000_000);
    let exemplar = |transaction, arrival, finished, outcome, attempts| Exemplar {
        transaction,
        origin: Origin::Arrival(arrival),
        timing: Timing { due: ms(60_512), started: ms(60_540), finished: ms(finished) },
        outcome,
        attempts,
    };
    end.exemplars = vec![
        exemplar(3, 30_256, 61_500, Outcome::Committed, 1),
        exemplar(0, 30_257, 61_105, Outcome::Failed(ErrorClass::Deadlock), 3),
    ];
    let sample = |transaction, class, message: &str, count| ErrorSample {
        transaction,
        class,
        message: message.to_owned(),
        count,
    };
    end.errors = vec![
        sample(0, ErrorClass::Deadlock, "deadlock detected (40P01)", 7_200),
        sample(
            0,
            ErrorClass::Disconnected,
            "the server closed the connection while a call of new_order was on its way to it, as \
             it does when it is shut down in a hurry (57P01)",
            9,
        ),
    ];
    end.notes = vec![
        Note::new(
            "outage",
            Some(Elapsed::at_second(121)),
            "the database could not be reached for 12 s",
        ),
        Note::new("interrupted", Some(Elapsed(180_300_000_000)), "stopped early"),
    ];
    (facts, end)
}

/// A second in which every type did something, different in every second.
pub fn interval(second: u64) -> RecordedInterval {
    let mut interval = RecordedInterval::new(second, workload().transactions.len());
    for (index, seen_in) in (0..).zip(&mut interval.types) {
        *seen_in = seen(100 + second % 7 + index, index % 2, 1_000 + 100 * index + second % 13);
    }
    interval.gauges.cpu = vec![
        WorkerCpu { thread: 0, cpu_ns: 250_000_000, wall_ns: 1_000_000_000, wait_ns: None },
        WorkerCpu { thread: 1, cpu_ns: 100_000_000, wall_ns: 1_000_000_000, wait_ns: None },
    ];
    interval.gauges.lag = Some(seen(100, 0, 40).response.unwrap());
    interval.gauges.host = HostCpu { busy: 30, total: 200 };
    interval.connected = 16;
    interval
}

/// The same second as received by watchers.
pub fn second(second: u64) -> Second {
    let server = ServerTransactions { count: 470, seconds: 1.0 };
    let phase = if second < 60 { Phase::RampUp } else { Phase::Window };
    Second::new(interval(second), phase, (!second.is_multiple_of(10)).then_some(server))
}

pub fn header() -> JobHeader {
    let facts = facts();
    JobHeader {
        kind: JobKind::Run,
        label: None,
        workload: facts.workload.name,
        workload_version: facts.workload.version,
        scale: facts.workload.scale,
        scale_unit: facts.workload.scale_unit,
        target: facts.target,
        server: Some(facts.server),
        tool_version: facts.tool.version,
        users: Some(facts.spec.users),
        spec: Some(facts.spec),
        facts: facts.workload.facts,
        host: facts.host,
        transactions: workload().transactions.iter().map(|t| t.name.to_string()).collect(),
        parent: None,
        plan: None,
    }
}

/// The result of the troubled run, judged.
pub fn troubled_result() -> RunResult {
    let (facts, end) = troubled();
    let mut result = RunResult::new(&facts, &end);
    requirement::judge(&mut result, &requirements());
    result
}
