//! Pairs of runs that took place at once: their seconds as blocks that both sides have, and what may
//! make the ratios of blocks mean something else.
//!
//! In slices, a block is a pair of slices, one of each side. What one side leaves behind, the other
//! meets at the start of its slice: the first seconds are compared with the rest, and left out if
//! they differ. In a duet, a block is a stretch in which each side had each half of the CPUs. Its
//! sides may slow each other: the seconds in which each worked alone show by how much.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::pace::{PairHalf, Sharing};
use triphammer_engine::NOT_DIVIDED;
use triphammer_settings::format::{counted, percent, whole};
use triphammer_statistics::Interval;
use triphammer_statistics::compare::{self, Better, Comparison, FirstPoint, Looks, Verdict};

use super::run::Run;
use crate::measure::Measure;
use crate::result::RunResult;

/// Share of the throughput alone that both sides must have lost for a duet to measure contention.
pub const CONTENTION_MIN: f64 = 0.25;

/// How two runs took place at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtOnceKind {
    /// In slices that alternate in a random order: one side works at a time.
    Interleaved,
    /// Both sides at every moment.
    Duet,
}

/// Pairs whose runs took place at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtOnce {
    /// How they did.
    pub kind: AtOnceKind,
    /// Length of a slice in seconds; `None` for a duet.
    pub slice_s: Option<u64>,
    /// Whether both sides drove the same database.
    pub same_target: bool,
    /// The blocks, in order. If the pair ended when it was decided, the last few may have come after
    /// that, and are not used.
    pub blocks: Vec<Block>,
    /// Number of blocks after which it would have ended, if it ends when it is decided; `None` if it
    /// ended by the clock.
    pub looks_most: Option<u64>,
    /// The first seconds of slices beside the rest of their slices; empty for a duet, and if there
    /// are too few slices.
    pub carry_over: Vec<CarryOver>,
    /// First seconds of each slice that are left out, because they differ from the rest.
    pub left_out_s: u64,
    /// Throughput of each side alone and together with the other; `None` if it was not measured.
    pub contention: Option<Contention>,
    /// Why the sides did not swap their CPUs; `None` if they did, and for slices.
    pub not_swapped: Option<String>,
    /// What to know about how the pairs were made, in words.
    pub words: Vec<String>,
}

/// A part of a pair of runs in which both sides worked for equally long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// Number of the pair of runs, from 0.
    pub pair: u32,
    /// First second of the block.
    pub start_s: u64,
    /// Length of the block in seconds, with seconds that are left out.
    pub seconds: u64,
    /// The primary metric of A in its seconds of the block.
    pub a: f64,
    /// The primary metric of B in its seconds of the block.
    pub b: f64,
    /// Ratio of B to A: in a duet the geometric mean of the ratios before and after the swap.
    pub ratio: f64,
}

/// A second of all slices beside the rest of its slice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CarryOver {
    /// The second of the slice, from 0.
    pub second: u64,
    /// That of A.
    pub a: FirstPoint,
    /// That of B.
    pub b: FirstPoint,
}

/// How much the sides of a duet slow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contention {
    /// The primary metric of A and of B alone.
    pub alone: [f64; 2],
    /// The same together.
    pub together: [f64; 2],
    /// Share of its throughput alone that each side lost; negative for a gain.
    pub lost: [f64; 2],
    /// Whether the duet measures contention instead of a difference: both sides lost more than a
    /// quarter.
    pub is_dominant: bool,
    /// What limited each side while both worked, from its run.
    pub limits: [String; 2],
    /// The finding in words.
    pub words: String,
}

/// A pair with the seconds of both runs.
struct SecondsOfPair<'r> {
    number: u32,
    halves: [PairHalf; 2],
    counts: [&'r [f64]; 2],
    window: std::ops::Range<u64>,
}

impl<'r> SecondsOfPair<'r> {
    fn of(number: u32, a: &'r RunResult, b: &'r RunResult) -> Option<Self> {
        let halves = [a.spec.pacing.half?, b.spec.pacing.half?];
        let counts = [&*a.at_once.as_ref()?.counts, &*b.at_once.as_ref()?.counts];
        let start = whole(a.durations.rampup_s);
        let ends = [a, b].map(|run| start + whole(run.durations.window_s));
        let window = start..ends[0].min(ends[1]);
        Some(Self { number, halves, counts, window })
    }

    /// What a side did in a second; 0 if it has no such second.
    fn count(&self, side: usize, second: u64) -> f64 {
        let place = usize::try_from(second).unwrap_or(usize::MAX);
        self.counts[side].get(place).copied().unwrap_or(0.0)
    }

    fn slice_s(&self) -> Option<u64> {
        match self.halves[0].sharing {
            Sharing::Slices { slice_s } => Some(slice_s),
            Sharing::Duet { .. } => None,
        }
    }

    /// The seconds of a side's slices in the window, by slice.
    fn slices(&self, side: usize) -> Vec<Vec<f64>> {
        let Some(slice_s) = self.slice_s() else { return Vec::new() };
        let mut slices = Vec::new();
        let mut from = self.window.start;
        while from + slice_s <= self.window.end {
            if self.halves[side].works(from) {
                slices.push((from..from + slice_s).map(|at| self.count(side, at)).collect());
            }
            from += slice_s;
        }
        slices
    }

    /// The blocks, without the first seconds of slices.
    fn blocks(&self, left_out_s: u64, per_second: f64) -> Vec<Block> {
        let length = self.halves[0].pair_s();
        let mut open = None;
        let mut blocks: Vec<Part> = Vec::new();
        let mut from = self.window.start;
        while from + length <= self.window.end {
            let part = self.part(from..from + length, left_out_s);
            let joined = open.take().map_or(part, |before: Part| before.and(part));
            // A side that did nothing has no ratio: its block is one with the next.
            if joined.is_whole() {
                blocks.push(joined);
            } else {
                open = Some(joined);
            }
            from += length;
        }
        if let (Some(rest), Some(last)) = (open, blocks.last_mut()) {
            *last = last.and(rest);
        }
        blocks.iter().map(|part| part.block(self.number, per_second)).collect()
    }

    fn part(&self, seconds: std::ops::Range<u64>, left_out_s: u64) -> Part {
        let mut part = Part { start: seconds.start, end: seconds.end, ..Part::default() };
        for second in seconds {
            let half = usize::from(self.halves[0].block(second).is_second);
            let is_left_out = self.slice_s().is_some_and(|slice_s| second % slice_s < left_out_s);
            for side in [0, 1] {
                if self.halves[side].works(second) && !is_left_out {
                    part.counts[side] += self.count(side, second);
                    part.seconds[side] += 1.0;
                    part.of_halves[half][side] += self.count(side, second);
                }
            }
        }
        part.is_swapped = self.slice_s().is_none();
        part
    }
}

/// Sums of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    start: u64,
    end: u64,
    /// Counts of A and of B.
    counts: [f64; 2],
    /// Seconds of A and of B.
    seconds: [f64; 2],
    /// The counts before and after the swap.
    of_halves: [[f64; 2]; 2],
    is_swapped: bool,
}

impl Part {
    fn is_whole(&self) -> bool {
        self.counts.iter().all(|count| *count > 0.0)
    }

    /// One block with a later one.
    fn and(self, later: Self) -> Self {
        let sum = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        Self {
            end: later.end,
            counts: sum(self.counts, later.counts),
            seconds: sum(self.seconds, later.seconds),
            // Its halves are not those of one swap.
            is_swapped: false,
            ..self
        }
    }

    fn block(&self, pair: u32, per_second: f64) -> Block {
        let [a, b] = [0, 1].map(|side: usize| {
            per_second * self.counts[side] / self.seconds[side].max(f64::MIN_POSITIVE)
        });
        let swapped = self.of_halves.iter().all(|half| half[0] > 0.0 && half[1] > 0.0);
        let ratio = match self.is_swapped && swapped {
            true => self.of_halves.iter().map(|half| (half[1] / half[0]).ln()).sum::<f64>() / 2.0,
            false => (b / a).ln(),
        };
        let seconds = self.end - self.start;
        Block { pair, start_s: self.start, seconds, a, b, ratio: ratio.exp() }
    }
}

fn looks(most: u64) -> Looks {
    Looks { most: usize::try_from(most).unwrap_or(usize::MAX) }
}

/// Compares the sides by blocks. What only shows how they compete decides nothing.
fn judge(
    blocks: &[Block],
    better: Better,
    margin: f64,
    looks: Option<Looks>,
    is_contended: bool,
) -> Result<Comparison, compare::CompareError> {
    let ratios: Vec<f64> = blocks.iter().map(|block| block.ratio.ln()).collect();
    let found = compare::blocks(&ratios, better, margin, looks)?;
    let verdict = if is_contended { Verdict::Inconclusive { more: None } } else { found.verdict };
    Ok(Comparison { verdict, ..found })
}

/// Ends a pair of runs at once as soon as it is decided, or its interval is narrow enough.
#[derive(Clone, Debug)]
pub struct UntilDecided {
    /// Halves of A and of B.
    pub halves: [PairHalf; 2],
    /// First second of the window.
    pub start_s: u64,
    /// Direction in which the primary metric improves.
    pub better: Better,
    /// Difference that does not matter, as a share from 0 to 1.
    pub margin: f64,
    /// Half-width of the interval, relative to the ratio, that is narrow enough.
    pub share: f64,
}

impl UntilDecided {
    /// Whether the seconds so far, those of A and of B from the start of the run, decide. Changes only
    /// where there is a [look](Looks).
    #[must_use]
    pub fn is_over(&self, counts: [&[f64]; 2]) -> bool {
        let end = counts.iter().map(|counts| counts.len() as u64).min().unwrap_or(0);
        let is_block =
            end > self.start_s && (end - self.start_s).is_multiple_of(self.halves[0].pair_s());
        let Some(most) = self.halves[0].looks_most.filter(|_| is_block) else { return false };
        let window = self.start_s..end;
        let pair = [SecondsOfPair { number: 0, halves: self.halves, counts, window }];
        let blocks = pair[0].blocks(left_out(&carry_over(&pair)), 1.0);
        if looks(most).last(blocks.len()).is_none_or(|(look, _)| look != blocks.len()) {
            return false;
        }
        let is_contended =
            rates(&pair, 1.0).is_some_and(|[alone, together]| is_dominant(lost(alone, together)));
        judge(&blocks, self.better, self.margin, Some(looks(most)), is_contended).is_ok_and(
            |found| {
                let half_width = found.interval.half_width() / found.ratio;
                !matches!(found.verdict, Verdict::Inconclusive { .. }) || half_width <= self.share
            },
        )
    }
}

impl AtOnce {
    /// Describes complete pairs of runs; `None` unless they took place at once.
    pub(super) fn of(pairs: &[(&Run, &Run)]) -> Option<Self> {
        let all = (0..).zip(pairs);
        let all = all.map(|(number, (a, b))| SecondsOfPair::of(number, &a.result, &b.result));
        let all: Vec<SecondsOfPair<'_>> = all.collect::<Option<_>>()?;
        let first = all.first()?;
        let result = &pairs.first()?.0.result;
        let per_second = Measure::stored(&result.primary_metric.per).of_a_second()?;
        let carry_over = carry_over(&all);
        let left_out_s = left_out(&carry_over);
        let kind = match first.slice_s() {
            Some(_) => AtOnceKind::Interleaved,
            None => AtOnceKind::Duet,
        };
        let mut at_once = Self {
            kind,
            slice_s: first.slice_s(),
            same_target: first.halves[0].same_target,
            looks_most: first.halves[0].looks_most,
            blocks: all.iter().flat_map(|pair| pair.blocks(left_out_s, per_second)).collect(),
            contention: Contention::of(&all, pairs, per_second),
            carry_over,
            left_out_s,
            not_swapped: not_swapped(pairs),
            words: Vec::new(),
        };
        at_once.words = at_once.in_words();
        Some(at_once)
    }

    /// Compares the sides by their blocks. What only shows how they compete decides nothing.
    pub(super) fn compare(
        &self,
        better: Better,
        margin: f64,
    ) -> Result<Comparison, compare::CompareError> {
        let looks = self.looks_most.map(looks);
        judge(&self.blocks, better, margin, looks, self.is_contended())
    }

    /// The 95 % prediction interval of the ratio of another comparison of as many pairs; `None` for one
    /// pair.
    pub(super) fn another(&self) -> Option<Interval> {
        let of_pair = |pair: &[Block]| {
            let (a, b): (Vec<f64>, Vec<f64>) = pair.iter().map(|block| (block.a, block.b)).unzip();
            (super::figures::mean(&a), super::figures::mean(&b))
        };
        let pairs: Vec<(f64, f64)> =
            self.blocks.chunk_by(|a, b| a.pair == b.pair).map(of_pair).collect();
        // The margin concerns the verdict only.
        compare::another(&compare::pairs(&pairs, Better::Higher, 0.02).ok()?)
    }

    /// Whether the sides slow each other so much that their ratio may be that of their shares.
    #[must_use]
    pub fn is_contended(&self) -> bool {
        self.contention.as_ref().is_some_and(|contention| contention.is_dominant)
    }

    /// Name of how the pairs were made, with the number of blocks: `duet of 50 blocks`.
    #[must_use]
    pub fn title(&self) -> String {
        let blocks = counted(self.blocks.len() as u64, "blocks");
        match self.kind {
            AtOnceKind::Interleaved => {
                format!("{blocks} of interleaved slices of {} s", self.slice_s.unwrap_or_default())
            }
            AtOnceKind::Duet => format!("duet of {blocks}"),
        }
    }

    fn in_words(&self) -> Vec<String> {
        let mut words = vec![match self.kind {
            AtOnceKind::Interleaved => format!(
                "both runs took place at once, in slices of {} s in a random order; a block is a slice of \
                 each",
                self.slice_s.unwrap_or_default()
            ),
            AtOnceKind::Duet if self.not_swapped.is_some() => {
                "both runs worked at every moment of the window".to_owned()
            }
            AtOnceKind::Duet => "both runs worked at every moment of the window; a block has each \
                                 side on each half of the CPUs"
                .to_owned(),
        }];
        if self.kind == AtOnceKind::Interleaved && self.carry_over.is_empty() {
            let text = "what a slice leaves behind for the next one is not measured: there are too few \
                        slices, or they are too short";
            words.push(text.to_owned());
        }
        if let (Some(first), AtOnceKind::Interleaved) = (self.carry_over.first(), self.kind) {
            let [a, b] = [first.a, first.b].map(|point| signed(point.share));
            words.push(match self.left_out_s {
                0 => format!(
                    "the first second of a slice has {a} of A and {b} of B relative to the rest, which \
                     chance explains: nothing is left out"
                ),
                seconds => format!(
                    "the first second of a slice has {a} of A and {b} of B relative to the rest: the first \
                     {seconds} s of each slice are left out"
                ),
            });
            if self.left_out_s == self.carry_over.len() as u64 {
                words.push("slices differ up to their middle: make them longer".to_owned());
            }
        }
        if let Some(most) = self.looks_most {
            words.push(format!(
                "it ended when it was decided, or after {most} blocks: the interval is so wide that those of \
                 all looks hold together"
            ));
        }
        words.extend(self.contention.iter().map(|contention| contention.words.clone()));
        words.extend(self.not_swapped.clone());
        if self.same_target {
            let text = "A and B are the same database: a difference is one of their settings, or noise, \
                        and the database's own counts are those of both";
            words.push(text.to_owned());
        }
        words
    }
}

/// Formats a difference: `+3.0 %`.
fn signed(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{}", percent(share.abs()))
}

/// The first seconds of all slices, up to the middle of a slice.
fn carry_over(pairs: &[SecondsOfPair<'_>]) -> Vec<CarryOver> {
    let Some(slice_s) = pairs.first().and_then(SecondsOfPair::slice_s) else { return Vec::new() };
    let most = usize::try_from(slice_s / 2).unwrap_or(0);
    let of = |side: usize| {
        let slices: Vec<Vec<f64>> = pairs.iter().flat_map(|pair| pair.slices(side)).collect();
        compare::first_points(&slices, most)
    };
    let point = |(second, (a, b))| CarryOver { second, a, b };
    (0..).zip(of(0).into_iter().zip(of(1))).map(point).collect()
}

/// How many first seconds of each slice differ from the rest, one after the other.
fn left_out(carry_over: &[CarryOver]) -> u64 {
    let differ = carry_over.iter().take_while(|point| point.a.differs() || point.b.differs());
    differ.count() as u64
}

/// Why CPUs were not swapped, as the runs report it.
fn not_swapped(pairs: &[(&Run, &Run)]) -> Option<String> {
    let notes = pairs.iter().flat_map(|(a, b)| a.result.notes.iter().chain(&b.result.notes));
    let mut notes = notes.filter(|note| note.kind == NOT_DIVIDED);
    notes.next().map(|note| note.text.clone())
}

impl Contention {
    fn of(all: &[SecondsOfPair<'_>], pairs: &[(&Run, &Run)], per_second: f64) -> Option<Self> {
        let [alone, together] = rates(all, per_second)?;
        let lost = lost(alone, together);
        let is_dominant = is_dominant(lost);
        let (a, b) = pairs.first()?;
        let limits = [a, b].map(|run| run.result.bottleneck.kind.label().to_owned());
        let words = contention_words(lost, is_dominant, &limits);
        Some(Self { alone, together, lost, is_dominant, limits, words })
    }
}

/// Throughput of A and of B alone, and together; `None` if a side was never alone.
fn rates(all: &[SecondsOfPair<'_>], per_second: f64) -> Option<[[f64; 2]; 2]> {
    let [mut alone, mut together] = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    for pair in all {
        let Sharing::Duet { alone_from_s, alone_s: 1.., .. } = pair.halves[0].sharing else {
            return None;
        };
        for side in [0, 1] {
            let is_alone = |second: &u64| {
                pair.halves[side].works(*second) && !pair.halves[side].other_works(*second)
            };
            let seconds = (alone_from_s..pair.window.start).filter(is_alone);
            alone[side].extend(seconds.map(|second| pair.count(side, second)));
            let seconds = pair.window.clone();
            together[side].extend(seconds.map(|second| pair.count(side, second)));
        }
    }
    let mean = |counts: &Vec<f64>| per_second * super::figures::mean(counts);
    let [alone, together] = [alone, together].map(|sides| [mean(&sides[0]), mean(&sides[1])]);
    alone.iter().all(|rate| *rate > 0.0).then_some([alone, together])
}

/// Share of its throughput alone that each side lost.
fn lost(alone: [f64; 2], together: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|side: usize| 1.0 - together[side] / alone[side])
}

/// Whether both sides lost so much that the duet measures contention.
fn is_dominant(lost: [f64; 2]) -> bool {
    lost.iter().all(|lost| *lost > CONTENTION_MIN)
}

fn contention_words(lost: [f64; 2], is_dominant: bool, limits: &[String; 2]) -> String {
    let [a, b] = lost.map(|lost| signed(-lost));
    let measured = format!("together, A does {a} and B {b} relative to each alone");
    if !is_dominant {
        return measured;
    }
    let limit = match limits {
        [a, b] if a == b => format!("both were limited by {a}"),
        [a, b] => format!("A was limited by {a}, B by {b}"),
    };
    format!(
        "{measured}: they compete ({limit}), and the ratio may be that of their shares instead of a \
         difference"
    )
}
