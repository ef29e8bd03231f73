//! Replays of one recording on two databases: whether they answer the same, and which statements became slower.
//!
//! Answers are compared statement by statement of the recording. What differs among the replays of one side is not compared:
//! it depends on the order of sessions, on time or on chance, and so proves nothing about the other side.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::answers::{AnswerDigests, DivergenceCount, ReplayAnswers};
use triphammer_statistics::compare::{self, Better, Comparison, Verdict};

use super::run::Run;
use crate::result::RunResult;

/// Most statements of which the times are listed.
const SPEEDS_MAX: usize = 100;
/// Statements that take less of the time of A are not compared: their times cost nobody anything.
const SHARE_MIN: f64 = 0.001;

/// The answers of the replays of a side so far.
#[derive(Clone, Debug, Default)]
pub struct SideAnswers {
    replays: u32,
    /// By statement of the recording, its digest; 0 without an answer.
    of: Vec<u32>,
    /// Whether they differ among the replays.
    unstable: Vec<bool>,
    digests: AnswerDigests,
    last: Option<ReplayAnswers>,
}

impl SideAnswers {
    /// Adds the answers of a replay, and their digests.
    pub fn add(&mut self, mut digests: AnswerDigests, answers: ReplayAnswers) {
        let of = std::mem::take(&mut digests.of);
        if of.is_empty() {
            return;
        }
        if self.of.len() == of.len() {
            for ((known, new), unstable) in self.of.iter().zip(&of).zip(&mut self.unstable) {
                *unstable |= known != new;
            }
        } else {
            self.unstable = vec![false; of.len()];
            self.of = of;
            self.digests = digests;
        }
        self.replays += 1;
        self.last = Some(answers);
    }

    /// The divergences from the recording of a statement, in the last replay.
    fn divergences(&self, text: &str) -> Vec<DivergenceCount> {
        let statements = self.last.iter().flat_map(|last| &last.statements);
        let mut of_text = statements.filter(|statement| statement.text == text);
        of_text.next().map(|statement| statement.divergences.clone()).unwrap_or_default()
    }
}

/// The answers of B beside those of A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswersCompared {
    /// Number of replays of A and of B.
    pub replays: [u32; 2],
    /// Statements of the recording whose answers are the same in all replays of A, and in all of B.
    pub compared: u64,
    /// Number of these whose answers differ between A and B.
    pub differing: u64,
    /// Number of those that were compared by less than their rows: by numbers of rows, or by whether they failed.
    pub limited: u64,
    /// Statements that are not compared, because their answers differ among the replays of one side.
    pub unstable: u64,
    /// Statements that are not compared, because one side did not reach them.
    pub unreached: u64,
    /// Answers of the last replays whose rows could not be compared, because the driver does not read them as texts.
    pub unread: u64,
    /// The statements whose answers differ, those with the most first.
    pub statements: Vec<DifferingStatement>,
}

/// A statement to which B answers other than A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferingStatement {
    /// The statement, in one line.
    pub text: String,
    /// Number of its answers that were compared.
    pub compared: u64,
    /// Number of these that differ.
    pub differing: u64,
    /// Differences of A's last replay from the recording; none if it answered as recorded, or if the recording has no
    /// answers.
    pub a: Vec<DivergenceCount>,
    /// Differences of B's last replay from the recording.
    pub b: Vec<DivergenceCount>,
}

impl AnswersCompared {
    /// Compares the sides; `None` unless both were replayed.
    #[must_use]
    pub fn of(a: &SideAnswers, b: &SideAnswers) -> Option<Self> {
        if a.replays == 0 || b.replays == 0 || a.of.len() != b.of.len() {
            return None;
        }
        let mut of_text: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        let (mut unstable, mut unreached, mut limited) = (0, 0, 0);
        let shapes = a.digests.shapes.iter();
        for (place, (shape, (of_a, of_b))) in shapes.zip(a.of.iter().zip(&b.of)).enumerate() {
            if a.unstable[place] || b.unstable[place] {
                unstable += 1;
                continue;
            }
            if *of_a == 0 || *of_b == 0 {
                unreached += 1;
                continue;
            }
            limited += u64::from(a.digests.limited.get(*shape as usize) == Some(&true));
            let [compared, differing] = of_text.entry(*shape).or_default();
            *compared += 1;
            *differing += u64::from(of_a != of_b);
        }
        let statement = |(shape, [compared, differing]): (&u32, &[u64; 2])| {
            let text = a.digests.titles.get(*shape as usize).cloned().unwrap_or_default();
            let (a, b) = (a.divergences(&text), b.divergences(&text));
            DifferingStatement { text, compared: *compared, differing: *differing, a, b }
        };
        let differing = of_text.iter().filter(|(_, [_, differing])| *differing > 0);
        let mut statements: Vec<DifferingStatement> = differing.map(statement).collect();
        statements.sort_by_key(|one| std::cmp::Reverse(one.differing));
        Some(Self {
            replays: [a.replays, b.replays],
            compared: of_text.values().map(|[compared, _]| compared).sum(),
            differing: of_text.values().map(|[_, differing]| differing).sum(),
            limited,
            unstable,
            unreached,
            unread: [a, b]
                .iter()
                .filter_map(|side| side.last.as_ref())
                .map(|last| last.unread)
                .sum(),
            statements,
        })
    }
}

/// The time of a statement on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementSpeed {
    /// The statement, in one line.
    pub text: String,
    /// Mean time over the runs of A, in microseconds.
    pub a_us: f64,
    /// Mean time over the runs of B, in microseconds.
    pub b_us: f64,
    /// Its share of the time of all statements of A.
    pub share: f64,
    /// Ratio of B to A, with an interval that holds for all statements together; `None` if it cannot be computed.
    pub comparison: Option<Comparison>,
}

/// Name of the mean time of the statements of a replay.
pub(super) const MEAN_STATEMENT: &str = "statement_mean";

/// Number and total time, in microseconds, of the successful runs of a run's statements, by their texts.
fn totals(run: &RunResult) -> BTreeMap<&str, (f64, f64)> {
    let mut totals: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for of in &run.statements {
        #[expect(clippy::cast_precision_loss, reason = "the number of runs")]
        let runs = of.runs as f64;
        let (number, time) = totals.entry(of.text.as_str()).or_default();
        *number += runs;
        *time += runs * of.mean_us;
    }
    totals
}

/// The mean time of the statements of a replay, in microseconds; `None` for other runs.
pub(super) fn mean_statement(run: &RunResult) -> Option<f64> {
    run.replay.as_ref()?;
    let totals = totals(run);
    let sum = |(n, t): (f64, f64), (number, time): &(f64, f64)| (n + number, t + time);
    let (number, time) = totals.values().fold((0.0, 0.0), sum);
    (number > 0.0).then(|| time / number)
}

/// The times of the statements in pairs of replays, those that became slower first, then those that became faster, then the
/// others by their share of the time.
pub(super) fn speeds(pairs: &[(&Run, &Run)], margin: f64) -> Vec<StatementSpeed> {
    let totals: Vec<_> =
        pairs.iter().map(|(a, b)| (totals(&a.result), totals(&b.result))).collect();
    let Some((first, _)) = totals.first() else { return Vec::new() };
    let all: f64 = totals.iter().flat_map(|(a, _)| a.values()).map(|(_, time)| time).sum();
    let share = |text: &str| {
        let time = totals.iter().filter_map(|(a, _)| a.get(text)).map(|(_, time)| time);
        time.sum::<f64>() / all.max(f64::MIN_POSITIVE)
    };
    let mut texts: Vec<(&str, f64)> = first.keys().map(|text| (*text, share(text))).collect();
    texts.retain(|(_, share)| *share >= SHARE_MIN);
    texts.sort_by(|a, b| b.1.total_cmp(&a.1));
    texts.truncate(SPEEDS_MAX);
    let together = texts.len();
    let speed = |(text, share): &(&str, f64)| {
        let mean = |of: &BTreeMap<&str, (f64, f64)>| {
            of.get(text).filter(|(number, _)| *number > 0.0).map(|(number, time)| time / number)
        };
        let both: Vec<(f64, f64)> =
            totals.iter().filter_map(|(a, b)| Some((mean(a)?, mean(b)?))).collect();
        let sides: (Vec<f64>, Vec<f64>) = both.iter().copied().unzip();
        let comparison = compare::pairs_of_several(&both, Better::Lower, margin, together).ok();
        StatementSpeed {
            text: (*text).to_owned(),
            a_us: super::figures::mean(&sides.0),
            b_us: super::figures::mean(&sides.1),
            share: *share,
            comparison,
        }
    };
    let mut speeds: Vec<StatementSpeed> = texts.iter().map(speed).collect();
    speeds.sort_by_key(|one| match one.comparison.map(|found| found.verdict) {
        Some(Verdict::Slower) => 0,
        Some(Verdict::Faster) => 1,
        _ => 2,
    });
    speeds
}
