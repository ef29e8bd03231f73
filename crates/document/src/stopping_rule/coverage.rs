//! Simulations of what a result claims about the level, on a server with given settings: of
//! `--until-ci`, whose simulated seconds are processed like those of a run, and of windows whose
//! length is given.

use triphammer_core::event::Phase;
use triphammer_core::random::Rng;
use triphammer_core::recorder::RecordedInterval;

use super::tests::primary_metric;
use super::{Now, StoppingRule};
use crate::result::{Steadiness, SteadinessInput, Steady};
use crate::schedule::Schedule;

/// Transactions per second, in the long run.
const LEVEL: f64 = 10_000.0;
const RAMPUP: usize = 10;
const LONGEST: usize = 1_800;
const ASKED: f64 = 0.01;

/// Model of the variation of throughput from second to second.
#[derive(Clone, Copy, Debug)]
enum Process {
    /// AR(1) of 3 % with this correlation; white noise at 0.
    Ar1(f64),
    /// Half an AR(0.97) and white noise, 3 %.
    SlowUnderWhite,
    /// Periodic dips of a depth, length and period, at a random phase, and white noise of 3 %.
    Dips { depth: f64, seconds: u64, every: u64 },
    /// 10 % less after each checkpoint, every 300 s, of which e^-1 is left after 60 s.
    Checkpoints,
    /// A second in a hundred is 90 % slower.
    Stalls,
    /// Losses of a Pareto distribution (shape 1.8).
    Pareto,
}

const PROCESSES: [Process; 6] = [
    Process::Ar1(0.0),
    Process::Ar1(0.5),
    Process::Ar1(0.9),
    Process::SlowUnderWhite,
    Process::Dips { depth: 0.6, seconds: 3, every: 30 },
    Process::Dips { depth: 0.4, seconds: 30, every: 300 },
];

impl Process {
    /// Seconds whose expectation is [`LEVEL`].
    fn seconds(self, rng: &mut Rng, count: usize) -> Vec<f64> {
        let phase = match self {
            Self::Dips { every, .. } => rng.below(every),
            _ => rng.below(300),
        };
        let rho: f64 = match self {
            Self::Ar1(rho) => rho,
            Self::SlowUnderWhite => 0.97,
            _ => 0.0,
        };
        let mut slow = normal(rng);
        let second = |t: u64| {
            slow = rho * slow + (1.0 - rho * rho).sqrt() * normal(rng);
            let level = match self {
                Self::Ar1(_) => 1.0 + 0.03 * slow,
                Self::SlowUnderWhite => 1.0 + 0.03 * (0.5 * slow + normal(rng)),
                Self::Dips { depth, seconds, every } => {
                    let lost = depth * seconds as f64 / every as f64;
                    let dip = if (t + phase) % every < seconds { depth } else { 0.0 };
                    (1.0 - dip) / (1.0 - lost) * (1.0 + 0.03 * slow)
                }
                Self::Checkpoints => {
                    let left = |second: u64| 1.0 - 0.1 * (-(second as f64) / 60.0).exp();
                    let mean = (0..300).map(left).sum::<f64>() / 300.0;
                    left((t + phase) % 300) / mean * (1.0 + 0.02 * slow)
                }
                Self::Stalls => {
                    let stalled = if rng.below(100) == 0 { 0.1 } else { 1.0 };
                    stalled / 0.991 * (1.0 + 0.02 * slow)
                }
                Self::Pareto => 1.0 - 0.02 * ((rng.exponential(1.0) / 1.8).exp() - 1.8 / 0.8),
            };
            LEVEL * level.max(0.0)
        };
        (0..count as u64).map(second).collect()
    }
}

/// Standard normal (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    (2.0 * rng.exponential(1.0)).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// The claim of a run with these seconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of a second")]
fn run(seconds: &[f64], schedule: &Schedule) -> Steadiness {
    let mut rule = StoppingRule::new(&primary_metric(), Some(ASKED), LONGEST as u64);
    rule.set_schedule(schedule.clone());
    let mut end = RAMPUP + LONGEST;
    for (second, count) in seconds.iter().enumerate() {
        if second == RAMPUP {
            rule.phase(Phase::Window, second as u64);
        }
        let mut interval = RecordedInterval::new(second as u64, 1);
        interval.types[0].counts.committed = *count as u64;
        if rule.second(&interval) == Now::EndWindow {
            // The current second is the last one.
            end = (second + 2).min(end);
            break;
        }
    }
    let until_ci = Some((ASKED, end < RAMPUP + LONGEST));
    let seconds = &seconds[..end];
    Steadiness::of(&SteadinessInput { seconds, start: RAMPUP, per_unit: 60.0, until_ci, schedule })
}

/// Number of claims, of true claims, and the length of each, for a number of runs.
#[derive(Debug, Default)]
struct Claims {
    claimed: usize,
    held: usize,
    seconds: Vec<u64>,
}

impl Claims {
    fn of(process: Process, schedule: &Schedule, runs: u64, seed: u64) -> Self {
        let mut claims = Self::default();
        for run_number in 0..runs {
            let mut rng = Rng::of(seed, &[run_number]);
            let steadiness = run(&process.seconds(&mut rng, RAMPUP + LONGEST), schedule);
            let until = steadiness.until.as_ref().expect("requested");
            if until.reached {
                claims.claimed += 1;
                let held = steadiness.interval.is_some_and(|i| i.contains(LEVEL * 60.0));
                claims.held += usize::from(held);
                claims.seconds.push(steadiness.seconds);
                assert!(steadiness.words.contains(
                    "the interval does not cover events rarer than \
                                                   every"
                ));
            } else {
                assert!(steadiness.words.contains("was not reached"));
                assert!(steadiness.next.is_some(), "{}", steadiness.words);
            }
        }
        claims.seconds.sort_unstable();
        claims
    }

    fn held(&self) -> f64 {
        self.held as f64 / self.claimed.max(1) as f64
    }

    fn median(&self) -> Option<u64> {
        self.seconds.get(self.seconds.len() / 2).copied()
    }
}

/// Servers with known and unknown schedules.
fn servers() -> [(&'static str, Schedule); 3] {
    let settings = |pairs: &[(&str, &str)]| {
        let owned = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Schedule::of(true, &owned.collect::<Vec<_>>())
    };
    [
        ("known", settings(&[("checkpoint_timeout", "5min"), ("autovacuum_naptime", "1min")])),
        ("unknown", settings(&[("innodb_buffer_pool_size", "134217728")])),
        ("nothing", settings(&[("wal_autocheckpoint", "1000")])),
    ]
}

/// Whether the server cannot cause these dips, so that a rule cannot know of them.
fn cannot_be(name: &str, process: Process) -> bool {
    name == "nothing" && matches!(process, Process::Dips { every: 300, .. } | Process::Checkpoints)
}

fn holds(runs: u64, seed: u64, least: f64) {
    for (name, schedule) in servers() {
        for process in PROCESSES.into_iter().filter(|process| !cannot_be(name, *process)) {
            let claims = Claims::of(process, &schedule, runs, seed);
            let held = claims.held();
            let line = format!(
                "{name:8} {process:?}: claimed {} of {runs}, held {held:.3}, median {:?} s",
                claims.claimed,
                claims.median()
            );
            println!("{line}");
            assert!(claims.claimed == 0 || held >= least, "{line}");
            if matches!(process, Process::Ar1(rho) if rho <= 0.5) {
                let longest = if name == "nothing" { 350 } else { 660 };
                assert!(claims.claimed as u64 * 100 >= runs * 97, "{line}");
                assert!(claims.median().is_some_and(|median| median <= longest), "{line}");
            }
        }
    }
}

/// Windows of a given length, of so many runs: how many claim the level, how many of these are
/// right, and how many claim only their own mean.
fn plain(process: Process, schedule: &Schedule, window: usize, runs: u64, seed: u64) -> [usize; 3] {
    let (mut claimed, mut right, mut within) = (0, 0, 0);
    for run in 0..runs {
        let mut rng = Rng::of(seed, &[run]);
        let seconds = process.seconds(&mut rng, RAMPUP + window);
        let seconds = seconds.as_slice();
        let judged =
            SteadinessInput { seconds, start: RAMPUP, per_unit: 60.0, until_ci: None, schedule };
        let of = Steadiness::of(&judged);
        within += usize::from(of.verdict == Steady::WithinWindow);
        if of.verdict == Steady::Steady {
            claimed += 1;
            right += usize::from(of.interval.is_some_and(|i| i.contains(LEVEL * 60.0)));
        } else {
            assert!(of.next.is_some(), "{}", of.words);
        }
    }
    [claimed, right, within]
}

/// In windows of a given length, a claim about the level is right in at least 90 %, beyond chance,
/// or not made.
fn plain_windows_hold(runs: u64, seed: u64) {
    const PLAIN: [Process; 7] = [
        Process::Ar1(0.0),
        Process::Ar1(0.5),
        Process::Dips { depth: 0.4, seconds: 30, every: 300 },
        Process::Dips { depth: 0.6, seconds: 3, every: 30 },
        Process::Checkpoints,
        Process::Stalls,
        Process::Pareto,
    ];
    for (name, schedule) in servers() {
        for process in PLAIN.into_iter().filter(|process| !cannot_be(name, *process)) {
            for window in [120, 300, 600, 900] {
                let [claimed, right, within] = plain(process, &schedule, window, runs, seed);
                let line = format!(
                    "{name:8} {process:?}, {window} s: {claimed} of {runs} claim the level, \
                     {right} rightly, {within} their own mean"
                );
                println!("{line}");
                let chance = 3.0 * (0.1 * 0.9 * claimed as f64).sqrt();
                assert!(right as f64 >= 0.9 * claimed as f64 - chance, "{line}");
                let is_short = window < super::shortest(&schedule);
                assert!(!is_short || claimed == 0, "{line}");
                let is_plain = matches!(process, Process::Ar1(_));
                let most = 0.9 * runs as f64 - 3.0 * (0.1 * 0.9 * runs as f64).sqrt();
                assert!(is_short || !is_plain || claimed as f64 >= most, "{line}");
            }
        }
    }
}

/// The seed of a simulation: `TRIPHAMMER_TEST_SEED`, or `default`.
fn seed(default: u64) -> u64 {
    let asked = std::env::var("TRIPHAMMER_TEST_SEED").ok();
    asked.map_or(default, |text| text.parse().expect("TRIPHAMMER_TEST_SEED is a number"))
}

#[test]
fn a_window_claims_the_level_if_it_shows_it() {
    plain_windows_hold(20, 3);
}

#[test]
#[ignore = "minutes of CPU; prints the figures of docs/steadiness.md"]
fn a_window_claims_the_level_if_it_shows_it_in_many() {
    plain_windows_hold(2_000, seed(4));
}

#[test]
fn an_advisory_lock_is_held_or_not_taken() {
    holds(30, 1, 0.8);
}

#[test]
#[ignore = "a minute of CPU; prints the figures of docs/steadiness.md"]
fn a_claim_holds_in_nine_of_ten_of_many() {
    holds(1_000, seed(2), 0.9);
}
