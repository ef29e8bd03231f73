//! Capacity searches on simulated servers with a known capacity, on the same path as the command:
//! seconds as from the engine, the run's document computed from them, and passed to the search.
//!
//! The suite makes a few searches of each kind. The rates that docs/capacity.md states come from many:
//!
//! ```text
//! TRIPHAMMER_SEARCHES=2000 TRIPHAMMER_SEED=7 cargo test --release -p triphammer-runner \
//!     --test documents -- --ignored --nocapture capacity_simulation
//! ```
#![expect(clippy::print_stdout, reason = "the error rates are what the simulation is for")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds and microseconds above 0"
)]

use std::time::Duration;

use triphammer_core::clock::Elapsed;
use triphammer_core::event::Phase;
use triphammer_core::pace::Load;
use triphammer_core::random::Rng;
use triphammer_core::recorder::{Arrived, RecordedInterval, TypeInterval, histogram, record};
use triphammer_core::session::Database;
use triphammer_core::spec::Length;
use triphammer_document::capacity::CapacityResult;
use triphammer_document::parts::Status;
use triphammer_document::result::{RunFacts, RunResult, Slicer};
use triphammer_document::second::Second;
use triphammer_engine::{Offered, RunEnd, Window};
use triphammer_runner::campaign::Question;
use triphammer_runner::capacity::{Capacity, CapacityRequest};
use triphammer_runner::step::PlannedRun;
use triphammer_settings::command::JobKind;
use triphammer_settings::target::{self, NoSecrets};
use triphammer_settings::{Setting, Settings, Source};
use triphammer_statistics::Interval as Range;
use triphammer_statistics::search::Judgement;

use crate::sample;
use crate::verdicts::{asked, normal};

/// Sessions that share the arrivals.
const SESSIONS: usize = 64;
/// The limit's percentile.
const SHARE: f64 = 0.95;

/// A server that processes one transaction per worker at a time, in order of arrival.
struct Server {
    name: &'static str,
    workers: usize,
    /// Service time of a transaction, in seconds.
    service: fn(&mut Rng) -> f64,
}

const SERVERS: [Server; 8] = [
    Server { name: "M/M/1 of 5 ms", workers: 1, service: |rng| rng.exponential(0.005) },
    Server { name: "M/M/1 of 1 ms", workers: 1, service: |rng| rng.exponential(0.001) },
    Server { name: "M/M/1 of 10 ms", workers: 1, service: |rng| rng.exponential(0.010) },
    Server { name: "M/D/1 of 5 ms", workers: 1, service: |_| 0.005 },
    Server { name: "M/M/4 of 10 ms", workers: 4, service: |rng| rng.exponential(0.010) },
    Server { name: "a slow mode, 1 worker", workers: 1, service: slow_mode },
    Server { name: "a slow mode, 4 workers", workers: 4, service: exponential_slow_mode },
    Server { name: "M/G/1 of 5 ms, Pareto", workers: 1, service: pareto },
];

/// Pareto times with a mean of 5 ms and a tail index of 2.2: their variance is finite, their third
/// moment is not.
fn pareto(rng: &mut Rng) -> f64 {
    const TAIL: f64 = 2.2;
    0.005 * (TAIL - 1.0) / TAIL * (1.0 - rng.unit()).powf(-1.0 / TAIL)
}

/// How the speed of a server varies from probe to probe.
#[derive(Clone, Copy, Debug)]
enum Speed {
    Same,
    /// Independent, with this standard deviation.
    Differs(f64),
    /// A random walk with steps of 5 %, reflected at 20 % above and below.
    Wanders,
    /// Within the probes, with this standard deviation and memory in seconds.
    Swings {
        share: f64,
        memory_s: f64,
    },
}

impl Speed {
    /// The speed of the next probe, given that of the one before, less 1.
    fn next(self, rng: &mut Rng, before: f64) -> f64 {
        match self {
            Self::Same | Self::Swings { .. } => 0.0,
            Self::Differs(share) => (share * normal(rng)).exp_m1(),
            Self::Wanders => {
                let next = before + 0.05 * normal(rng);
                if next.abs() > 0.2 { next.signum() * 0.4 - next } else { next }
            }
        }
    }

    /// The speed of each second of a probe whose speed is `mean` at its start, or in all of it.
    fn of_seconds(self, rng: &mut Rng, mean: f64, seconds: usize) -> Vec<f64> {
        let Self::Swings { share, memory_s } = self else { return vec![mean] };
        let rho = (-1.0 / memory_s).exp();
        let mut level = normal(rng);
        let second = |_| {
            level = rho * level + (1.0 - rho * rho).sqrt() * normal(rng);
            mean * (share * level).exp()
        };
        (0..seconds).map(second).collect()
    }
}

/// A tenth take ten times as long.
fn slow_mode(rng: &mut Rng) -> f64 {
    if rng.unit() < 0.1 { 0.020 } else { 0.002 }
}

/// A tenth take six times as long on average.
fn exponential_slow_mode(rng: &mut Rng) -> f64 {
    let mean = if rng.unit() < 0.1 { 0.030 } else { 0.005 };
    rng.exponential(mean)
}

/// Four at a time, 20 ms each: never more than 200 per second.
const FOUR_WORKERS: Server = Server { name: "4 x 20 ms", workers: 4, service: |_| 0.020 };

/// A transaction: when it was due, and when it ended.
struct Served {
    due: f64,
    end: f64,
}

impl Server {
    /// Serves the arrivals of this many seconds. `speeds` are those of the seconds; the last one is
    /// that of all that follow.
    fn serve(&self, rng: &mut Rng, rate: f64, seconds: f64, speeds: &[f64]) -> Vec<Served> {
        let mut free = vec![0.0_f64; self.workers];
        let (mut due, mut all) = (0.0, Vec::new());
        loop {
            due += rng.exponential(1.0 / rate);
            if due >= seconds {
                return all;
            }
            let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            let start = next.max(due);
            let speed = speeds[(start as usize).min(speeds.len() - 1)];
            *next = start + (self.service)(rng) / speed;
            all.push(Served { due, end: *next });
        }
    }

    /// The rate at which a percentile is at the limit, from one very long run at each rate tried.
    fn capacity(&self, limit: f64, transactions: f64, speed: Speed) -> f64 {
        let (mut low, mut high) = (5.0, 2_000.0);
        for _ in 0..20 {
            let rate = f64::midpoint(low, high);
            let mut rng = Rng::of(99, &[1]);
            let seconds = transactions / rate;
            let speeds = speed.of_seconds(&mut rng, 1.0, seconds as usize);
            let served = self.serve(&mut rng, rate, seconds, &speeds);
            let over = served.iter().filter(|one| one.end - one.due > limit).count();
            match over as f64 <= (1.0 - SHARE) * served.len() as f64 {
                true => low = rate,
                false => high = rate,
            }
        }
        low
    }
}

/// The capacity of a server by its speed, at speeds from 0.7 to 1.3.
struct Truth(Vec<f64>);

impl Truth {
    const STEP: f64 = 0.05;

    /// At all speeds; a server twice as fast is the same with twice the limit and half the rate.
    fn new(server: &Server, transactions: f64) -> Self {
        let speeds = (0..13).map(|step| 0.7 + Self::STEP * f64::from(step));
        Self(speeds.map(|s| s * server.capacity(0.050 * s, transactions, Speed::Same)).collect())
    }

    fn of(&self, speed: f64) -> f64 {
        let last = self.0.len() - 1;
        let place = ((speed - 0.7) / Self::STEP).clamp(0.0, last as f64);
        let (below, part) = (place as usize, place.fract());
        self.0[below] * (1.0 - part) + self.0[(below + 1).min(last)] * part
    }
}

/// How long a probe is, in seconds.
#[derive(Clone, Copy)]
struct Lengths {
    rampup: u64,
    window: u64,
}

const SHORT: Lengths = Lengths { rampup: 5, window: 10 };
const LONG: Lengths = Lengths { rampup: 10, window: 60 };

/// Creates the question as the command does.
fn question(limit: &str, lengths: Lengths) -> Capacity {
    let mut settings = Settings::new(JobKind::Capacity);
    settings.set("rampup", format!("{}s", lengths.rampup), Source::Flag);
    settings.set("duration", format!("{}s", lengths.window), Source::Flag);
    settings.set("target", "null:", Source::Flag);
    settings.set("limit", limit, Source::Flag);
    let workload = sample::workload();
    let target = target::open(&mut settings, Some(&workload), &NoSecrets).unwrap();
    assert_eq!(target.database.dialect(), "null");
    let request = CapacityRequest::read(&mut settings, &workload, &target).unwrap();
    Capacity::new(request, &workload, &mut settings).unwrap()
}

/// Creates the document of a step's run.
fn run(
    server: &Server,
    rng: &mut Rng,
    step: &PlannedRun,
    lengths: Lengths,
    speed: (Speed, f64),
) -> RunResult {
    let load = step.settings.iter().find(|(name, _)| name == "load").unwrap();
    let load: Load = load.1.value().unwrap();
    let Load::Rate { per_second, .. } = load else { panic!("{load}") };
    let longer = step.settings.iter().find(|(name, _)| name == "duration");
    let longer: Option<Duration> = longer.and_then(|(_, length)| length.value());
    let window = longer.map_or(lengths.window, |length| length.as_secs());
    let lengths = Lengths { window, ..lengths };
    let whole = lengths.rampup + window;
    let speeds = speed.0.of_seconds(rng, speed.1, whole as usize);
    let served = server.serve(rng, per_second, whole as f64, &speeds);
    let (mut facts, mut end) = facts_of(load, step, lengths);
    let mut waiting = 0_u64;
    for (number, second) in seconds(&served, whole) {
        let Some(number) = number else {
            waiting = second.len() as u64;
            continue;
        };
        let timed = number >= lengths.rampup;
        let mut interval = RecordedInterval::new(number, end.run.len());
        let due = served.partition_point(|one| one.due < (number + 1) as f64)
            - served.partition_point(|one| one.due < number as f64);
        interval.arrived = Some(Arrived { due: due as u64, ..Arrived::default() });
        interval.types[0].response = Some(histogram());
        for one in second {
            let us = (((one.end - one.due) * 1e6) as u64).max(1);
            let parts = [&mut interval.types[0], &mut end.run[0], &mut end.timed[0]];
            for part in parts.into_iter().take(if timed { 3 } else { 2 }) {
                part.counts.committed += 1;
                part.counts.response_ns += 1_000 * us;
                record(part.response.get_or_insert_with(histogram), us);
            }
        }
        let phase = if timed { Phase::Window } else { Phase::RampUp };
        let total = TypeInterval::default();
        facts.slicer.take(&Second { interval, total, phase, server: None, script: None });
    }
    let never_started = waiting.saturating_sub(SESSIONS as u64);
    end.offered = Some(Offered { offered: served.len() as u64, skipped: 0, never_started });
    finished(facts, end, lengths)
}

/// What ended in each second, and last, without a number, what ended after all of them. In this order a
/// second's histogram stays in the CPU's cache.
fn seconds(served: &[Served], whole: u64) -> Vec<(Option<u64>, Vec<&Served>)> {
    let mut seconds: Vec<_> = (0..whole).map(|number| (Some(number), Vec::new())).collect();
    seconds.push((None, Vec::new()));
    for one in served {
        seconds[(one.end as usize).min(whole as usize)].1.push(one);
    }
    seconds
}

/// Facts and end of a run that has not begun.
fn facts_of(load: Load, step: &PlannedRun, lengths: Lengths) -> (RunFacts, RunEnd) {
    let (mut facts, mut end) = (sample::facts_without_seconds(), sample::calm());
    let Lengths { rampup, window } = lengths;
    let length = Length::Time(Duration::from_secs(window));
    facts.spec.load = load;
    facts.spec.rampup = Duration::from_secs(rampup);
    facts.spec.length = length;
    facts.primary_metric_seconds = Vec::new();
    facts.settings = step
        .settings
        .iter()
        .map(|(name, value)| Setting {
            name: name.clone(),
            value: value.text().to_owned(),
            source: Source::Default.to_string(),
        })
        .collect();
    facts.slicer = Slicer::new(length);
    let none = || vec![TypeInterval::default(); sample::workload().transactions.len()];
    (end.run, end.timed) = (none(), none());
    (facts, end)
}

fn finished(facts: RunFacts, end: RunEnd, Lengths { rampup, window }: Lengths) -> RunResult {
    let at = Elapsed::at_second;
    let end = RunEnd {
        window: Window { start: at(rampup), end: at(rampup + window) },
        ended: at(rampup + window),
        started: end.run.iter().map(|seen| seen.counts.ended()).collect(),
        ..end
    };
    RunResult::new(&facts, &end)
}

/// A search to its end: its document, what every run left, and the server's mean speed.
fn search(
    server: &Server,
    speed: Speed,
    rng: &mut Rng,
    limit: &str,
    lengths: Lengths,
) -> (CapacityResult, Vec<RunResult>, f64) {
    let mut question = question(limit, lengths);
    let mut runs = Vec::new();
    let (mut off, mut sum) = (0.0, 0.0);
    while let Some(step) = question.next() {
        off = speed.next(rng, off);
        sum += 1.0 + off;
        let result = run(server, rng, &step, lengths, (speed, 1.0 + off));
        question.report_result(&step, &result);
        runs.push(result);
    }
    let mean_speed = sum / runs.len() as f64;
    (question.result(None, Status::Complete).unwrap(), runs, mean_speed)
}

fn found(document: &CapacityResult) -> (f64, Range) {
    match document.judgement {
        Some(Judgement::Found { rate, interval, .. }) => (rate, interval),
        ref other => panic!("{other:?}"),
    }
}

/// Summary of many searches.
#[derive(Default)]
struct Count {
    searches: f64,
    held: f64,
    /// Searches whose whole interval is above the capacity.
    below: f64,
    too_high: f64,
    bias: f64,
    width: f64,
    probes: f64,
    /// Probes with a percentile that has no interval.
    without: f64,
}

/// Counts searches, a share of them on each CPU.
fn count(
    server: &Server,
    speed: Speed,
    truth: &Truth,
    lengths: Lengths,
    (seed, searches): (u64, u64),
) -> Count {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = |thread: usize| {
        let mut count = Count::default();
        for number in (thread as u64..searches).step_by(threads) {
            count.search(server, speed, truth, lengths, &mut Rng::of(seed, &[number]));
        }
        count
    };
    std::thread::scope(|scope| {
        let running: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        let mut all = Count { searches: searches as f64, ..Count::default() };
        running.into_iter().for_each(|thread| all.add(&thread.join().unwrap()));
        all
    })
}

impl Count {
    fn search(
        &mut self,
        server: &Server,
        speed: Speed,
        truth: &Truth,
        lengths: Lengths,
        rng: &mut Rng,
    ) {
        let (document, _, mean) = search(server, speed, rng, "all.p95 < 50ms", lengths);
        let (rate, interval) = found(&document);
        // What wanders has the capacity that it had on average during the search.
        let truth = if matches!(speed, Speed::Wanders) { truth.of(mean) } else { truth.of(1.0) };
        self.held += f64::from(u8::from(interval.contains(truth)));
        self.below += f64::from(u8::from(truth < interval.low));
        self.too_high += f64::from(u8::from(rate > truth * 1.02));
        self.bias += (rate / truth).ln();
        self.width += (interval.high / interval.low).ln() / 2.0;
        self.probes += document.probes.len() as f64;
        let without = document.probes.iter().filter(|probe| probe.interval_us.is_none());
        self.without += without.count() as f64;
    }

    fn add(&mut self, other: &Self) {
        self.held += other.held;
        self.below += other.below;
        self.too_high += other.too_high;
        self.bias += other.bias;
        self.width += other.width;
        self.probes += other.probes;
        self.without += other.without;
    }

    /// Whether so large a share of all searches may hold the capacity, as far as these show it.
    fn holds(&self, wanted: f64) -> bool {
        let by_chance = (wanted * (1.0 - wanted) / self.searches).sqrt();
        self.held / self.searches >= wanted - 2.0 * by_chance
    }

    fn show(&self, name: &str, truth: f64, lengths: Lengths) {
        let percent = |sum: f64| 100.0 * sum / self.searches;
        println!(
            "{name}, {} s, capacity {truth:.1}/s: held {:.1} % (below {:.1} %), over by 2 % {:.1} %, bias {:+.2} %, \
             ± {:.2} %, {:.1} probes, {:.1} without an interval",
            lengths.window,
            percent(self.held),
            percent(self.below),
            percent(self.too_high),
            percent(self.bias),
            percent(self.width),
            self.probes / self.searches,
            self.without / self.searches,
        );
    }
}

#[test]
#[ignore = "minutes: the error rates that the documentation states"]
fn capacity_simulation_of_many_searches() {
    let (searches, seed) = (asked("TRIPHAMMER_SEARCHES", 500), asked("TRIPHAMMER_SEED", 1));
    let only = std::env::var("TRIPHAMMER_SERVER").unwrap_or_default();
    for server in SERVERS.iter().filter(|server| server.name.contains(&only)) {
        let truth = Truth(vec![server.capacity(0.050, 4e6, Speed::Same)]);
        for (lengths, wanted) in [(LONG, 0.93), (SHORT, 0.90)] {
            let count = count(server, Speed::Same, &truth, lengths, (seed, searches));
            count.show(server.name, truth.of(1.0), lengths);
            assert!(count.holds(wanted), "{}", server.name);
        }
    }
}

/// Servers that are not the same from probe to probe.
const SPEEDS: [Speed; 3] = [Speed::Differs(0.02), Speed::Differs(0.05), Speed::Wanders];

#[test]
#[ignore = "minutes: the error rates that the documentation states"]
fn capacity_simulation_of_servers_that_vary() {
    let (searches, seed) = (asked("TRIPHAMMER_SEARCHES", 500), asked("TRIPHAMMER_SEED", 1));
    let only = std::env::var("TRIPHAMMER_SERVER").unwrap_or_default();
    for server in [&SERVERS[0], &SERVERS[3], &SERVERS[4]] {
        let truth = Truth::new(server, 2e6);
        for speed in SPEEDS {
            let name = format!("{}, {speed:?}", server.name);
            if !name.contains(&only) {
                continue;
            }
            let count = count(server, speed, &truth, LONG, (seed, searches));
            count.show(&name, truth.of(1.0), LONG);
            assert!(count.holds(0.93), "{name}");
        }
    }
}

/// Servers whose speed swings within each probe: those of which a probe does not show how far have
/// no interval of their own.
#[test]
#[ignore = "minutes: the error rates that the documentation states"]
fn capacity_simulation_of_servers_that_swing() {
    let (searches, seed) = (asked("TRIPHAMMER_SEARCHES", 500), asked("TRIPHAMMER_SEED", 1));
    let server = &SERVERS[0];
    for memory_s in [3.0, 10.0, 30.0, 100.0] {
        let speed = Speed::Swings { share: 0.05, memory_s };
        let truth = Truth(vec![server.capacity(0.050, 2e7, speed)]);
        let count = count(server, speed, &truth, LONG, (seed, searches));
        let name = format!("{}, {speed:?}", server.name);
        count.show(&name, truth.of(1.0), LONG);
        assert!(count.holds(0.93), "{name}");
    }
}

#[test]
fn an_interval_holds_the_capacity_of_a_server_that_varies() {
    let truth = 200.0 - f64::ln(20.0) / 0.050;
    let varied = Speed::Differs(0.05);
    let count = count(&SERVERS[0], varied, &Truth(vec![truth]), SHORT, (12, 4));
    count.show(SERVERS[0].name, truth, SHORT);
    assert!(count.held >= 3.0, "{} of {}", count.held, count.searches);
}

/// A search on a server whose speed becomes `after` in the middle of it.
fn search_with_change(after: f64, rng: &mut Rng, lengths: Lengths) -> (Capacity, usize, u64) {
    let mut question = question("all.p95 < 50ms", lengths);
    let (mut probes, mut longest) = (0, 0);
    while let Some(step) = question.next() {
        let speed = if probes < 13 { 1.0 } else { after };
        let result = run(&SERVERS[3], rng, &step, lengths, (Speed::Same, speed));
        longest = longest.max(result.durations.window_s as u64);
        question.report_result(&step, &result);
        probes += 1;
    }
    (question, probes, longest)
}

/// Whether the findings say that the server changed.
fn is_change_found(question: &Capacity) -> bool {
    let document = question.result(None, Status::Complete).unwrap();
    document.findings.iter().any(|words| words.contains("the server changed by"))
}

/// A server that slows down during the search: the repeat of an early rate shows it.
#[test]
fn a_change_of_the_server_is_found() {
    let mut rng = Rng::of(5, &[1]);
    let (question, probes, longest) = search_with_change(0.8, &mut rng, SHORT);
    let document = question.result(None, Status::Complete).unwrap();
    let words = document.findings.join("\n");
    assert_eq!(longest, 3 * SHORT.window, "{words}");
    assert!(words.contains("in a probe of 3 times the length at"), "{words}");
    let most = question.at_most().unwrap();
    assert!(probes <= most.runs as usize && most.windows == most.runs + 2);
    let change = document.change.unwrap().change;
    assert!(change.value < -0.08, "{change:?} {}", probes_of(&document));
    assert!(
        words.contains("the server changed by -"),
        "{change:?} {words}\n{}",
        probes_of(&document)
    );
}

#[test]
#[ignore = "minutes: the error rates that the documentation states"]
fn capacity_simulation_of_servers_that_change() {
    let (searches, seed) = (asked("TRIPHAMMER_SEARCHES", 400), asked("TRIPHAMMER_SEED", 1));
    for lengths in [SHORT, LONG] {
        for after in [1.0, 0.95, 0.9, 0.8] {
            let found = (0..searches).filter(|number| {
                let mut rng = Rng::of(seed, &[*number]);
                is_change_found(&search_with_change(after, &mut rng, lengths).0)
            });
            let share = found.count() as f64 / searches as f64;
            println!(
                "{} s, speed {after}: a change found in {:.1} %",
                lengths.window,
                100.0 * share
            );
            match after {
                1.0 => assert!(share <= 0.07, "{share}"),
                0.8 => assert!(share >= 0.8, "{share}"),
                _ => {}
            }
        }
    }
}

#[test]
fn an_interval_holds_the_capacity_of_a_simulated_server() {
    // The exact capacity: 95 % of exp(-(200 - rate) t) are below 50 ms.
    let truth = 200.0 - f64::ln(20.0) / 0.050;
    let count = count(&SERVERS[0], Speed::Same, &Truth(vec![truth]), SHORT, (11, 6));
    count.show(SERVERS[0].name, truth, SHORT);
    assert!(count.held >= 5.0, "{} of {}", count.held, count.searches);
    assert!((count.bias / count.searches).abs() < 0.03);
}

/// The probes of a search, a line each.
fn probes_of(document: &CapacityResult) -> String {
    let probe = |p: &triphammer_document::capacity::Probe| {
        format!("{:.1}/s: {:?} {:?} {:?}\n", p.rate, p.value_us, p.reason, p.served)
    };
    document.probes.iter().map(probe).collect()
}

fn never_above(limits: &[(&str, Lengths)], searches: u64, seed: u64) {
    for &(limit, lengths) in limits {
        let (mut highest, mut sum) = (0.0_f64, 0.0);
        for number in 0..searches {
            let mut rng = Rng::of(seed, &[number]);
            let (document, ..) = search(&FOUR_WORKERS, Speed::Same, &mut rng, limit, lengths);
            let (rate, interval) = found(&document);
            sum += rate;
            highest = highest.max(interval.high);
            assert!(
                rate <= 200.0 && interval.high <= 200.0,
                "{limit}, search {number}: {:?}\n{}",
                document.judgement,
                probes_of(&document)
            );
        }
        let mean = sum / searches as f64;
        println!("{limit}, {} s: {mean:.1}/s, at most {highest:.1}/s", lengths.window);
        assert!((150.0..=200.0).contains(&mean), "{limit}: {mean}");
    }
}

#[test]
fn a_rate_that_the_server_cannot_serve_is_never_found() {
    never_above(&[("all.p95 < 400ms", SHORT), ("all.p95 < 5s", SHORT)], 2, 1);
}

#[test]
#[ignore = "minutes: the error rates that the documentation states"]
fn capacity_simulation_never_finds_more_than_is_served() {
    let limits = [
        ("all.p95 < 50ms", SHORT),
        ("all.p95 < 400ms", SHORT),
        ("all.p95 < 5s", SHORT),
        ("all.p95 < 1s", LONG),
    ];
    never_above(&limits, asked("TRIPHAMMER_SEARCHES", 300), asked("TRIPHAMMER_SEED", 1));
}

#[test]
fn a_resumed_search_goes_on_as_if_never_interrupted() {
    let mut rng = Rng::of(3, &[1]);
    let (document, runs, _) = search(&SERVERS[4], Speed::Same, &mut rng, "all.p95 < 50ms", SHORT);
    let mut resumed = question("all.p95 < 50ms", SHORT);
    for run in &runs {
        let step = resumed.next().unwrap();
        // As the store returns it.
        let stored = serde_json::to_string(run).unwrap();
        let stored: RunResult = serde_json::from_str(&stored).unwrap();
        assert!(resumed.is_of(&step, &stored), "{step:?}");
        resumed.report_result(&step, &stored);
    }
    assert_eq!(resumed.next(), None);
    let again = resumed.result(None, Status::Complete).unwrap();
    assert_eq!((again.judgement, again.probes), (document.judgement, document.probes));
}
