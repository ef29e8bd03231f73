//! Replays of one recording on two databases: whether they answer the same, and which statements became slower.
//!
//! Answers are compared statement by statement of the recording. What differs among the replays of one side is not compared:
//! it depends on the order of sessions, on time or on chance, and so proves nothing about the other side. Nor does every difference
//! between the sides: of a race with two outcomes, two replays of A may meet the one and two of B the other. So a difference is
//! taken for one of the sides only if
//!
//! - the sessions of the recording did not work at the same time, or
//! - most answers to a statement differ by sides, many, and none among the replays of a side, or
//! - a statement fails, or succeeds, unlike when it was recorded, many times in each replay of one side, and in none of the other, or
//! - more answers differ by sides than by any other division of all replays into groups of these sizes, of which there are at least
//!   twenty: if the sides are equal, each division is as likely to have the most, whatever depends on what.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::answers::{
    AnswerDigests, Divergence, DivergenceCount, DivergenceExample, ReplayAnswers,
};
use triphammer_statistics::compare::{self, Better, Comparison, Verdict};

use super::run::Run;
use crate::result::RunResult;

/// Most statements that are named because their answers differ among the replays of one side.
const UNSTABLE_MAX: usize = 5;
/// Most statements of which the times are listed.
const SPEEDS_MAX: usize = 100;
/// Statements that take less of the time of A are not compared: their times cost nobody anything.
const SHARE_MIN: f64 = 0.001;

/// Answers to a statement that must differ, and their share, so that chance is no cause.
const MANY: u64 = 10;
const MOST: f64 = 0.5;
/// What a statement does unlike when it was recorded, in success or failure.
const TURNS: [Divergence; 2] = [Divergence::Fails, Divergence::Succeeds];
/// Largest probability of a difference by chance that is taken for one of the sides.
const CHANCE_MAX: f64 = 0.05;

/// The answers of the replays of a side so far.
#[derive(Clone, Debug, Default)]
pub struct SideAnswers {
    /// By replay, and by statement of the recording, its digest; 0 without an answer.
    replays: Vec<Vec<u32>>,
    digests: AnswerDigests,
    /// By replay, how often each statement failed that had not when it was recorded, or succeeded that had.
    turned: Vec<BTreeMap<(String, Divergence), u64>>,
    last: Option<ReplayAnswers>,
}

impl SideAnswers {
    /// Adds the answers of a replay, and their digests.
    pub fn add(&mut self, mut digests: AnswerDigests, answers: ReplayAnswers) {
        let of = std::mem::take(&mut digests.of);
        if of.is_empty() {
            return;
        }
        if self.replays.first().is_some_and(|first| first.len() != of.len()) {
            self.replays.clear();
            self.turned.clear();
        }
        self.turned.push(turned(&answers));
        self.replays.push(of);
        self.digests = digests;
        self.last = Some(answers);
    }

    /// Number of statements of the recording; `None` without a replay.
    fn statements(&self) -> Option<usize> {
        self.replays.first().map(Vec::len)
    }

    /// The digests of a statement, by replay.
    fn of(&self, place: usize) -> impl Iterator<Item = u32> {
        self.replays.iter().map(move |replay| replay[place])
    }

    /// The digest that all replays have; `None` if they differ.
    fn same(&self, place: usize) -> Option<u32> {
        let first = self.of(place).next()?;
        self.of(place).all(|digest| digest == first).then_some(first)
    }

    /// Whether a statement fails, or succeeds, many times in each replay, unlike in the recording and in the replays of the
    /// other side.
    fn turns_alone(&self, other: &Self, text: &str) -> bool {
        TURNS.into_iter().any(|kind| {
            let key = (text.to_owned(), kind);
            let count = |of: &BTreeMap<_, u64>| of.get(&key).copied().unwrap_or(0);
            self.turned.iter().all(|of| count(of) >= MANY)
                && other.turned.iter().all(|of| count(of) == 0)
        })
    }

    /// The divergences from the recording of a statement in the last replay, with the first one.
    fn divergences(&self, text: &str) -> (Vec<DivergenceCount>, Option<DivergenceExample>) {
        let mut statements = self.last.iter().flat_map(|last| &last.statements);
        let of_text = statements.find(|statement| statement.text == text);
        let both = of_text.map(|of| (of.divergences.clone(), of.examples.first().cloned()));
        both.unwrap_or_default()
    }
}

/// How often each statement of a replay failed that had not when it was recorded, or succeeded that had.
fn turned(answers: &ReplayAnswers) -> BTreeMap<(String, Divergence), u64> {
    let mut turned = BTreeMap::new();
    for statement in &answers.statements {
        for of in statement.divergences.iter().filter(|of| TURNS.contains(&of.kind)) {
            *turned.entry((statement.text.clone(), of.kind)).or_default() += of.count;
        }
    }
    turned
}

/// Largest share of statements that fail or find no row, unlike when they were recorded, so that the data fits the recording.
const UNFIT_MAX: f64 = 0.01;

/// How well the data of a side fits the recording, by its last replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayFit {
    /// Number of statements of the recording.
    pub statements: u64,
    /// Number of these that succeeded, or failed as they did when they were recorded.
    pub succeeded: u64,
    /// Number of these that found no row where the recording found some: the data may be older.
    pub found_nothing: u64,
    /// Number of statements that failed because a row with their key exists: the data may be newer.
    pub duplicates: u64,
}

impl ReplayFit {
    fn of(side: &SideAnswers) -> Self {
        side.last.as_ref().map_or_else(Self::default, |last| Self {
            statements: last.sent + last.unreached,
            succeeded: last.succeeded,
            found_nothing: last.found_nothing,
            duplicates: last.duplicates,
        })
    }

    /// Number of statements that did what they did when they were recorded, by success and by whether there was a row.
    #[must_use]
    pub const fn worked(&self) -> u64 {
        self.succeeded.saturating_sub(self.found_nothing)
    }

    /// Whether so many statements did not that equal answers show little.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "numbers of statements")]
    pub fn is_poor(&self) -> bool {
        let unfit = self.statements.saturating_sub(self.worked());
        unfit as f64 > UNFIT_MAX * self.statements as f64
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
    /// The statements with the most such answers, those with the most first.
    #[serde(default)]
    pub unstable_statements: Vec<UnstableStatement>,
    /// Statements that are not compared, because one side did not reach them.
    pub unreached: u64,
    /// Answers of the last replays whose rows could not be compared, because the driver does not read them as texts.
    pub unread: u64,
    /// How well the data of A and of B fits the recording.
    #[serde(default)]
    pub fit: [ReplayFit; 2],
    /// Whether equal answers show little, because the data of A does not fit the recording.
    #[serde(default)]
    pub unfit: bool,
    /// The statements whose answers differ, those with the most first.
    pub statements: Vec<DifferingStatement>,
    /// Whether answers differ, and all of them may do so by chance, as those of sessions that work at the same time.
    #[serde(default)]
    pub inconclusive: bool,
    /// Replays of each side with which chance could be excluded; `None` if that would not help: as many answers differ by
    /// another division of the replays.
    #[serde(default)]
    pub replays_needed: Option<u32>,
}

/// A statement whose answers differ among the replays of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnstableStatement {
    /// The statement, in one line.
    pub text: String,
    /// Number of its answers that are not compared.
    pub answers: u64,
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
    /// The first answer of the last replay of A, and of B, that differs from the recording; `null` where none does.
    #[serde(default)]
    pub examples: [Option<DivergenceExample>; 2],
    /// Whether its answers may differ by chance.
    #[serde(default)]
    pub by_chance: bool,
}

/// Counts of the answers to one statement.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    compared: u64,
    differing: u64,
    /// Not compared, because they differ among the replays of a side.
    unstable: u64,
}

impl Counts {
    /// Whether so many differ by sides, and none within a side, that chance is no cause.
    #[expect(clippy::cast_precision_loss, reason = "numbers of statements")]
    fn are_systematic(self) -> bool {
        let share = self.differing as f64 / self.compared.max(1) as f64;
        self.unstable == 0 && self.differing >= MANY && share >= MOST
    }
}

/// How answers divide the replays of both sides.
#[derive(Debug, Default)]
struct Divisions {
    /// By division other than that of the sides, with two groups of their sizes, the number of answers that are the same within
    /// each group and not between them.
    others: HashMap<Box<[bool]>, u64>,
}

impl Divisions {
    /// Adds the answers to a statement that differ within a side.
    fn add(&mut self, a: impl Iterator<Item = u32>, b: impl Iterator<Item = u32>) {
        let (a, b): (Vec<u32>, Vec<u32>) = (a.collect(), b.collect());
        let all = || a.iter().chain(&b);
        let Some(first) = all().next() else { return };
        let Some(other) = all().find(|digest| *digest != first) else { return };
        let mut groups: Box<[bool]> = all().map(|digest| digest == first).collect();
        let count = groups.iter().filter(|is_first| **is_first).count();
        if all().any(|digest| digest != first && digest != other) {
            return;
        }
        match (count == a.len(), groups.len() - count == a.len()) {
            (true, _) => {}
            // The other group is as large as A.
            (false, true) => groups.iter_mut().for_each(|is_first| *is_first = !*is_first),
            (false, false) => return,
        }
        *self.others.entry(groups).or_default() += 1;
    }

    /// Answers that the division with the most divides.
    fn most(&self) -> u64 {
        self.others.values().copied().max().unwrap_or(0)
    }

    /// The probability that the sides are the division with the most, if they are equal.
    fn chance(a: usize, b: usize) -> f64 {
        let choose = |sum: f64, place: usize| {
            #[expect(clippy::cast_precision_loss, reason = "numbers of replays")]
            let (above, below) = ((b + place) as f64, place as f64);
            sum * above / below
        };
        let all = (1..=a).fold(1.0, choose);
        // With groups of one size, each division has two names.
        if a == b { 2.0 / all } else { 1.0 / all }
    }

    /// Replays of each side with which chance is excluded.
    fn needed() -> u32 {
        let is_enough =
            |replays: &u32| Self::chance(*replays as usize, *replays as usize) <= CHANCE_MAX;
        (2..).find(is_enough).unwrap_or(u32::MAX)
    }
}

impl AnswersCompared {
    /// Compares the sides; `None` unless both were replayed.
    #[must_use]
    pub fn of(a: &SideAnswers, b: &SideAnswers) -> Option<Self> {
        let count = a.statements().filter(|count| b.statements() == Some(*count))?;
        let mut of_text: BTreeMap<u32, Counts> = BTreeMap::new();
        let mut divisions = Divisions::default();
        let (mut unreached, mut limited) = (0, 0);
        for (place, shape) in a.digests.shapes.iter().enumerate().take(count) {
            let counts = of_text.entry(*shape).or_default();
            match (a.same(place), b.same(place)) {
                (Some(of_a), Some(of_b)) if of_a != 0 && of_b != 0 => {
                    let is_limited = a.digests.limited.get(*shape as usize) == Some(&true);
                    limited += u64::from(is_limited);
                    counts.compared += 1;
                    counts.differing += u64::from(of_a != of_b);
                }
                (Some(_), Some(_)) => unreached += 1,
                _ => {
                    counts.unstable += 1;
                    divisions.add(a.of(place), b.of(place));
                }
            }
        }
        let sum = |of: fn(&Counts) -> u64| of_text.values().map(of).sum::<u64>();
        let unread = [a, b].map(|side| side.last.as_ref().map_or(0, |last| last.unread));
        let compared = Self {
            replays: [a, b].map(|side| u32::try_from(side.replays.len()).unwrap_or(u32::MAX)),
            compared: sum(|one| one.compared),
            differing: sum(|one| one.differing),
            limited,
            unstable: sum(|one| one.unstable),
            unstable_statements: unstable(a, &of_text),
            unreached,
            unread: unread.iter().sum(),
            fit: [a, b].map(ReplayFit::of),
            unfit: ReplayFit::of(a).is_poor(),
            statements: Vec::new(),
            inconclusive: false,
            replays_needed: None,
        };
        Some(compared.judged([a, b], &of_text, &divisions))
    }

    /// Adds the statements that differ, and whether chance may be the cause.
    fn judged(
        mut self,
        [a, b]: [&SideAnswers; 2],
        of_text: &BTreeMap<u32, Counts>,
        divisions: &Divisions,
    ) -> Self {
        let [of_a, of_b] = [a, b].map(|side| side.replays.len());
        let is_alone = self.replays.contains(&1);
        let is_most = self.differing > divisions.most();
        let is_proven = !is_alone
            && (!a.digests.is_concurrent || is_most && Divisions::chance(of_a, of_b) <= CHANCE_MAX);
        let statement = |(shape, counts): (&u32, &Counts)| {
            let text = a.digests.titles.get(*shape as usize).cloned().unwrap_or_default();
            let [(of_a, example_a), (of_b, example_b)] = [a, b].map(|side| side.divergences(&text));
            let turns = a.turns_alone(b, &text) || b.turns_alone(a, &text);
            DifferingStatement {
                text,
                compared: counts.compared,
                differing: counts.differing,
                a: of_a,
                b: of_b,
                examples: [example_a, example_b],
                by_chance: !is_proven && (is_alone || !(turns || counts.are_systematic())),
            }
        };
        let differing = of_text.iter().filter(|(_, counts)| counts.differing > 0);
        self.statements = differing.map(statement).collect();
        self.statements.sort_by_key(|one| (one.by_chance, std::cmp::Reverse(one.differing)));
        self.inconclusive =
            !self.statements.is_empty() && self.statements.iter().all(|one| one.by_chance);
        let needed = Divisions::needed();
        let has_few = u32::try_from(of_a.min(of_b)).is_ok_and(|replays| replays < needed);
        self.replays_needed = (self.inconclusive && has_few).then_some(needed);
        self
    }

    /// Whether the sides answer differently, and not by chance.
    #[must_use]
    pub const fn differ(&self) -> bool {
        self.differing > 0 && !self.inconclusive
    }
}

/// The statements with the most answers that differ among the replays of one side.
fn unstable(a: &SideAnswers, of_text: &BTreeMap<u32, Counts>) -> Vec<UnstableStatement> {
    let named = of_text.iter().filter(|(_, counts)| counts.unstable > 0).map(|(shape, counts)| {
        let text = a.digests.titles.get(*shape as usize).cloned().unwrap_or_default();
        UnstableStatement { text, answers: counts.unstable }
    });
    let mut all: Vec<UnstableStatement> = named.collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.answers));
    all.truncate(UNSTABLE_MAX);
    all
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

#[cfg(test)]
mod tests {
    use triphammer_core::answers::StatementAnswers;

    use super::*;

    /// The answers of replays: by statement, its text and the digests by replay.
    fn side(statements: &[(u32, Vec<u32>)], is_concurrent: bool) -> SideAnswers {
        let mut side = SideAnswers::default();
        let texts = statements.iter().map(|(shape, _)| *shape + 1).max().unwrap();
        for replay in 0..statements[0].1.len() {
            let digests = AnswerDigests {
                shapes: statements.iter().map(|(shape, _)| *shape).collect(),
                titles: (0..texts).map(|shape| format!("SELECT {shape}")).collect(),
                limited: (0..texts).map(|_| false).collect(),
                of: statements.iter().map(|(_, digests)| digests[replay]).collect(),
                is_concurrent,
            };
            side.add(digests, ReplayAnswers::default());
        }
        side
    }

    /// Compares statements with their texts, and the digests of A and of B.
    fn compared(statements: &[(u32, &[u32], &[u32])], is_concurrent: bool) -> AnswersCompared {
        let of = |b: bool| -> Vec<(u32, Vec<u32>)> {
            let digests =
                statements.iter().map(|(shape, of_a, of_b)| (*shape, if b { of_b } else { of_a }));
            digests.map(|(shape, digests)| (shape, digests.to_vec())).collect()
        };
        AnswersCompared::of(&side(&of(false), is_concurrent), &side(&of(true), is_concurrent))
            .unwrap()
    }

    #[test]
    fn a_few_answers_that_differ_by_sides_may_be_chance() {
        let few: Vec<(u32, &[u32], &[u32])> = vec![(0, &[1, 1], &[2, 2]), (0, &[1, 1], &[1, 1])];
        let found = compared(&few, true);
        assert_eq!((found.differing, found.inconclusive, found.replays_needed), (1, true, Some(4)));
        assert!(!found.differ() && found.statements[0].by_chance);
        assert!(compared(&few, false).differ(), "nothing depends on the order of one session");
        let alone: Vec<(u32, &[u32], &[u32])> = vec![(0, &[1], &[2]); 20];
        assert!(compared(&alone, false).inconclusive, "one replay of a side shows nothing");
        let more: Vec<(u32, &[u32], &[u32])> = vec![(0, &[1; 4], &[2; 4]), (0, &[1; 4], &[1; 4])];
        let found = compared(&more, true);
        assert!(found.differ() && !found.statements[0].by_chance);
    }

    /// The answers of a replay in which a statement fails so many times.
    fn diverging(kind: Divergence, count: u64) -> ReplayAnswers {
        let mut answers = ReplayAnswers { sent: 100, succeeded: 100 - count, ..Default::default() };
        let title = kind.title().to_owned();
        let divergences = vec![DivergenceCount { kind, title, count }];
        let text = "SELECT 0".to_owned();
        answers.statements = vec![StatementAnswers {
            text,
            compared: 100,
            differing: count,
            divergences,
            unstable: None,
            examples: Vec::new(),
        }];
        answers
    }

    #[test]
    fn a_statement_that_fails_on_one_side_only_is_no_chance() {
        // A third of its answers differ.
        let mut all: Vec<(u32, &[u32], &[u32])> = vec![(0, &[1, 1], &[2, 2]); 12];
        all.extend(vec![(0, &[3, 3][..], &[3, 3][..]); 24]);
        let of = |b: bool| -> Vec<(u32, Vec<u32>)> {
            let of_side = |(shape, a, of_b): &(u32, &[u32], &[u32])| {
                (*shape, if b { of_b } else { a }.to_vec())
            };
            all.iter().map(of_side).collect()
        };
        for kind in TURNS {
            let with = |b: bool, counts: [u64; 2]| {
                let mut side = side(&of(b), true);
                side.turned = counts.map(|count| turned(&diverging(kind, count))).into();
                side
            };
            let compared = |a, b| AnswersCompared::of(&with(false, a), &with(true, b)).unwrap();
            assert!(compared([0, 0], [12, 12]).differ());
            assert!(compared([0, 0], [12, 3]).inconclusive, "few in one replay may be chance");
            assert!(compared([1, 0], [12, 12]).inconclusive, "it does on both sides");
        }
    }

    #[test]
    fn equal_answers_show_little_if_the_data_does_not_fit_the_recording() {
        let fit = |succeeded, found_nothing| ReplayFit {
            statements: 1_000,
            succeeded,
            found_nothing,
            duplicates: 0,
        };
        for (of, is_poor) in [
            (fit(1_000, 0), false),
            (fit(995, 5), false),
            (fit(985, 0), true),
            (fit(1_000, 11), true),
            (ReplayFit::default(), false),
        ] {
            assert_eq!(of.is_poor(), is_poor, "{of:?}");
        }
    }

    #[test]
    fn many_answers_to_a_statement_that_differ_by_sides_are_no_chance() {
        let mut all: Vec<(u32, &[u32], &[u32])> = vec![(0, &[1, 1], &[2, 2]); 12];
        all.extend(vec![(1, &[3, 3][..], &[3, 3][..]); 50]);
        all.push((1, &[3, 4], &[3, 3]));
        all.push((1, &[3, 3], &[4, 4]));
        let found = compared(&all, true);
        let by_chance: Vec<(u64, bool)> =
            found.statements.iter().map(|one| (one.differing, one.by_chance)).collect();
        assert_eq!((found.differ(), by_chance), (true, vec![(12, false), (1, true)]));
        assert_eq!((found.compared, found.differing, found.unstable), (63, 13, 1));
        all.push((0, &[1, 5], &[2, 2]));
        assert!(compared(&all, true).inconclusive, "it varies within a side, too");
    }

    #[test]
    fn as_many_by_another_division_is_chance() {
        let mut all: Vec<(u32, &[u32], &[u32])> = vec![(0, &[1; 4], &[2; 4])];
        all.push((0, &[1, 2, 1, 2], &[1, 2, 1, 2]));
        let found = compared(&all, true);
        assert_eq!((found.inconclusive, found.replays_needed), (true, None));
        all.push((0, &[1; 4], &[2; 4]));
        assert!(compared(&all, true).differ());
        // Three answers, or groups of other sizes, are no such division.
        all.push((0, &[1, 2, 3, 2], &[1, 2, 1, 2]));
        all.push((0, &[1, 2, 2, 2], &[2, 2, 2, 2]));
        assert!(compared(&all, true).differ());
    }

    #[test]
    fn equal_sides_differ_in_few_of_many_comparisons() {
        let mut state = 7_u64;
        let mut is_other = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 63 == 1
        };
        for (pairs, most) in [(2, 0), (3, 0), (4, 18), (7, 3)] {
            let mut false_alarms = 0;
            for _ in 0..300 {
                // Races with two outcomes, each of which several statements show.
                let mut statements = Vec::new();
                for _ in 0..3 {
                    let outcomes: Vec<u32> =
                        (0..2 * pairs).map(|_| 1 + u32::from(is_other())).collect();
                    statements.extend(vec![(0, outcomes); 4]);
                }
                statements.extend(vec![(0, vec![9; 2 * pairs]); 100]);
                let half = |from: usize| -> Vec<(u32, Vec<u32>)> {
                    let of = statements.iter();
                    of.map(|(shape, all)| (*shape, all[from..from + pairs].to_vec())).collect()
                };
                let (a, b) = (side(&half(0), true), side(&half(pairs), true));
                false_alarms += usize::from(AnswersCompared::of(&a, &b).unwrap().differ());
            }
            assert!(false_alarms <= most, "{pairs} pairs: {false_alarms} of 300");
        }
    }
}
