//! Simulates a job of many hours in a minute: `long-job STORE JOB SECONDS FIGURES` writes another job
//! like the run JOB into the store, second by second through the store's own code, and prints its
//! number. Its series, histograms and totals are drawn, and so are FIGURES observed figures; its
//! document is computed from them and from the facts of JOB. With VARIATIONS after them, it writes as
//! many jobs, each with another host, server, level and noise, and prints their numbers.

mod cores;
mod observed;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use triphammer_core::event::Phase;
use triphammer_core::recorder::{
    Gauges, HostCpu, RecordedInterval, TypeInterval, WorkerCpu, histogram,
};
use triphammer_core::spec::Length;
use triphammer_core::{Elapsed, Rng, Timestamp};
use triphammer_document::JobId;
use triphammer_document::parts::ServerTransactions;
use triphammer_document::result::{RunFacts, RunResult, Slicer};
use triphammer_document::second::Second;
use triphammer_document::stopping_rule::StoppingRule;
use triphammer_engine::{RunEnd, RunEnding, RunLogins, Window};
use triphammer_store::{JobHeader, Store, StoredJob};

type Failure = Box<dyn std::error::Error>;

/// Seconds of ramp-up.
const RAMP_UP: u64 = 60;
/// Seconds between two checkpoints of the database, during which everything is slow.
const CHECKPOINT_EVERY: u64 = 300;
/// Hosts of variations: CPU, cores, memory in GiB.
const HOSTS: [(&str, u32, u64); 5] = [
    ("AMD EPYC 9654 96-Core Processor", 96, 768),
    ("AMD EPYC 7543 32-Core Processor", 64, 256),
    ("Intel(R) Xeon(R) Platinum 8488C", 48, 384),
    ("Neoverse-V2", 32, 128),
    ("Intel(R) Core(TM) i7-12700", 20, 32),
];
/// Servers of variations: product, version, and speed relative to the first.
const SERVERS: [(&str, &str, f64); 5] = [
    ("MariaDB", "10.11.6-MariaDB", 1.0),
    ("MySQL", "8.0.41", 1.05),
    ("PostgreSQL", "15.10 (Debian 15.10-0+deb12u1)", 1.1),
    ("PostgreSQL", "17.2", 1.15),
    ("PostgreSQL", "18.1", 1.2),
];
/// Mean transactions per second of each type.
const RATES: [u64; 5] = [450, 430, 40, 40, 40];

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let given = [args.next(), args.next(), args.next(), args.next()];
    let [Some(path), Some(job), Some(seconds), Some(figures)] = given else {
        return Err("long-job STORE JOB SECONDS FIGURES [VARIATIONS]".into());
    };
    let variations: Option<u64> = args.next().map(|text| text.parse()).transpose()?;
    let store = Store::open(Path::new(&path))?;
    let model = store.load(JobId(job.parse()?))?;
    let [facts, _] =
        store.evidence(JobId(job.parse()?))?.ok_or("the model must be a complete run")?;
    let (seconds, figures) = (seconds.parse()?, figures.parse()?);
    for number in variations.map_or(0..=0, |count| 1..=count) {
        let mut facts: RunFacts = serde_json::from_str(&facts)?;
        let level = if number == 0 { 1.0 } else { vary(&mut facts, number) };
        let job =
            write(&store, &model, facts, (Path::new(&path), figures), seconds, (number, level))?;
        writeln!(std::io::stdout(), "{job}")?;
    }
    Ok(())
}

/// Gives a job another host and server; returns its level relative to the model's.
fn vary(facts: &mut RunFacts, number: u64) -> f64 {
    let mut rng = Rng::of(number, &[7]);
    let (cpu, cores, gib) = one_of(&HOSTS, &mut rng);
    facts.host.cpu = Some(cpu.to_owned());
    facts.host.cores = Some(cores);
    facts.host.memory_bytes = Some(gib << 30);
    let (product, version, speed) = one_of(&SERVERS, &mut rng);
    facts.server.product = product.to_owned();
    facts.server.version = version.to_owned();
    facts.server.same_host = Some(false);
    facts.workload.scale = one_of(&[10, 100, 1_000], &mut rng).into();
    f64::from(cores) / 32.0 * speed * (0.9 + 0.2 * rng.unit())
}

fn one_of<T: Copy>(all: &[T], rng: &mut Rng) -> T {
    all[usize::try_from(rng.below(all.len() as u64)).expect("the index of a short list")]
}

/// Writes the job.
fn write(
    store: &Store,
    model: &StoredJob,
    mut facts: RunFacts,
    (path, figures): (&Path, usize),
    seconds: u64,
    (number, level): (u64, f64),
) -> Result<JobId, Failure> {
    let mut spec = facts.spec.clone();
    spec.rampup = Duration::from_secs(RAMP_UP);
    spec.length = Length::Time(Duration::from_secs(seconds - RAMP_UP));
    facts.spec = spec;
    facts.label = Some("long".to_owned());
    facts.slicer = Slicer::new(facts.spec.length);
    let mut rule = StoppingRule::new(&facts.description.primary_metric, None, seconds);
    let job = store.begin(&header(model, &facts))?;
    let types = model.transactions.len();
    let (mut run, mut timed) = (RecordedInterval::new(0, types), RecordedInterval::new(0, types));
    let mut rng = Rng::of(1 + number, &[]);
    for at in 0..seconds {
        let interval = second(at, types, level, &mut rng)?;
        run.add_later(&interval);
        let phase = if at < RAMP_UP { Phase::RampUp } else { Phase::Window };
        if phase == Phase::Window {
            timed.add_later(&interval);
        }
        let server = Some(ServerTransactions { count: 1_000, seconds: 1.0 });
        rule.second(&interval);
        let second = Second::new(interval, phase, server);
        facts.slicer.take(&second);
        store.second(job, &second)?;
    }
    if figures > 0 {
        observed::write(path, job, seconds, figures)?;
    }
    let of_run = facts.observed.get_or_insert_default();
    observed::summarize(store, job, &(RAMP_UP..seconds), of_run)?;
    of_run.cores = cores::of(RAMP_UP, seconds).into_iter().collect();
    facts.job = Some(job.0);
    facts.primary_metric_seconds = rule.into_seconds();
    let end = end(seconds, run.types, timed.types);
    store.finish(job, &RunResult::new(&facts, &end), &facts, &end)?;
    Ok(job)
}

fn header(model: &StoredJob, facts: &RunFacts) -> JobHeader {
    JobHeader {
        kind: model.row.kind,
        label: Some("long".to_owned()),
        workload: model.row.workload.clone(),
        workload_version: model.row.workload_version,
        scale: facts.workload.scale,
        scale_unit: model.row.scale_unit.clone(),
        target: model.row.target.clone(),
        server: Some(facts.server.clone()),
        tool_version: model.row.tool_version.clone(),
        users: model.row.users,
        spec: Some(facts.spec.clone()),
        facts: model.facts.clone(),
        host: facts.host.clone(),
        transactions: model.transactions.clone(),
        parent: None,
        plan: model.plan.clone(),
    }
}

/// A second like those of a database at this level: a slow wave over an hour, noise, a stall at each checkpoint,
/// and occasionally a transaction that takes very long.
fn second(at: u64, types: usize, level: f64, rng: &mut Rng) -> Result<RecordedInterval, Failure> {
    let mut interval = RecordedInterval::new(at, types);
    interval.connected = 64;
    let wave = 100 + (at % 3_600).abs_diff(1_800) / 36;
    let stalls = at % CHECKPOINT_EVERY < 5;
    for (place, seen) in interval.types.iter_mut().enumerate() {
        let mean = RATES[place % RATES.len()] * wave / 125 / if stalls { 3 } else { 1 };
        let mean = scaled(mean, level);
        let committed = mean + rng.below(mean / 5 + 1);
        let slow = if stalls { 20 } else { 1 };
        let mut times = histogram();
        for _ in 0..committed {
            let us = 300 + rng.below(400) + rng.below(2_000) * slow;
            let us = if rng.below(5_000) == 0 { us * 200 } else { us };
            times.record(us)?;
            seen.counts.response_ns += us * 1_000;
        }
        seen.counts.committed = committed;
        seen.counts.service_ns = seen.counts.response_ns;
        seen.counts.failed[0] = u64::from(rng.below(500) == 0);
        seen.counts.retries[0] = rng.below(3);
        seen.response = Some(times);
    }
    interval.gauges = gauges(rng)?;
    Ok(interval)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of transactions"
)]
fn scaled(count: u64, level: f64) -> u64 {
    (count as f64 * level) as u64
}

fn gauges(rng: &mut Rng) -> Result<Gauges, Failure> {
    let mut lag = histogram();
    lag.record_n(50 + rng.below(200), 10)?;
    let cpu_ns = 300_000_000 + rng.below(100_000_000);
    let host = HostCpu { busy: 150 + rng.below(40), total: 200 };
    let cpu = vec![WorkerCpu { thread: 0, cpu_ns, wall_ns: 1_000_000_000, wait_ns: None }];
    Ok(Gauges { cpu, round_trip: Some(lag.clone()), lag: Some(lag), host, ..Gauges::default() })
}

/// The engine's output at the end of the run; the store keeps only its totals.
fn end(seconds: u64, run: Vec<TypeInterval>, timed: Vec<TypeInterval>) -> RunEnd {
    let ended = Elapsed::at_second(seconds);
    RunEnd {
        started_at: Timestamp(0),
        ended,
        window: Window { start: Elapsed::at_second(RAMP_UP), end: ended },
        started: run.iter().map(|seen| seen.counts.ended()).collect(),
        in_flight: vec![0; run.len()],
        run,
        timed,
        offered: None,
        pool_wait: None,
        backlog_max: None,
        exemplars: Vec::new(),
        gauges: Gauges::default(),
        worker_cpu_ns: Vec::new(),
        sessions: (0, 0),
        round_trips: 0,
        errors: Vec::new(),
        ending: RunEnding::Complete,
        logins: RunLogins::default(),
        away: 0,
        outages: Vec::new(),
        violations: Vec::new(),
        notes: Vec::new(),
        hosts: Vec::new(),
        nodes: Vec::new(),
        load_changes: Vec::new(),
        node_changes: Vec::new(),
        failovers: Vec::new(),
    }
}
