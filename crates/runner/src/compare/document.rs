//! The document that a comparison leaves: what `--json` prints, the store keeps and reports render. Its
//! shape is published in `docs/reference/comparison-schema.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_statistics::compare::Verdict;

use super::facts::{Difference, Facts};
use super::figures::{self, Figure, How};
use super::profiles::Profiles;
use super::run::Run;
use super::words;
use crate::profile::document::{LevelRun, PrimaryMetricName};
use crate::result::{
    Bottleneck, JobKind, Redacted, RunResult, Status, Steady, Tool, Warning, WorkloadFacts,
};
use crate::store::JobId;

/// Version of the document's shape.
pub const COMPARISON_FORMAT: u32 = 1;

/// What `triphammer compare --json` and `triphammer report JOB --json` of a comparison print: B against A. Ratios
/// are B over A; shares are from 0 to 1. The verdict is that of the first figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A comparison")]
pub struct ComparisonResult {
    /// Version of this shape.
    #[schemars(extend("const" = COMPARISON_FORMAT))]
    pub format: u32,
    /// Number in the job store; `None` for a comparison of stored jobs, which leaves no job.
    pub job: Option<i64>,
    /// Tells this document from those of other commands.
    #[schemars(with = "String", extend("const" = "compare"))]
    pub kind: JobKind,
    /// The program that made it.
    pub tool: Tool,
    /// What the user called it.
    pub label: Option<String>,
    /// Complete; or interrupted or failed, when pairs are missing.
    pub status: Status,
    /// Date and time of the first run's zero, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// What decides.
    pub primary_metric: PrimaryMetricName,
    /// Difference that does not matter, as a share.
    pub margin: f64,
    /// What the primary metric says of B.
    pub verdict: Verdict,
    /// The verdict in words with figures.
    pub words: String,
    /// About how many more minutes of measuring would settle it; `None` when it is settled, and when
    /// nothing reasonable would.
    pub more_minutes: Option<f64>,
    /// The side that is the measure.
    pub a: Side,
    /// The side that is judged.
    pub b: Side,
    /// Figures of both, the primary metric first.
    pub figures: Vec<Figure>,
    /// Level by level, and the curves; `None` where no profiles are compared.
    pub profiles: Option<Profiles>,
    /// How the pairs were made; `None` for a comparison of stored jobs.
    pub pairs: Option<Pairing>,
    /// What is not the same on both sides.
    pub differences: Vec<Difference>,
    /// What should be known before the verdict is used.
    pub warnings: Vec<Warning>,
}

/// A or B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What was asked for: `job 12`, a label, a target and settings.
    pub name: String,
    /// The workload and its data, of the first run.
    pub workload: WorkloadFacts,
    /// The target of the first run.
    pub target: Redacted,
    /// What was at the other end of it.
    pub server: ServerInfo,
    /// Its runs, in the order in which they were made.
    pub runs: Vec<SideRun>,
}

/// A run of a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideRun {
    /// Its job; `None` when it was not stored.
    pub job: Option<i64>,
    /// Its place in the comparison or profile, from 0; `None` where it belongs to neither.
    pub step: Option<u32>,
    /// Date and time of its zero.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Virtual users.
    pub users: u32,
    /// Its first figure.
    pub value: f64,
    /// Whether its window was steady; `None` where that does not apply.
    #[serde(default)]
    pub steady: Option<Steady>,
    /// Share of transactions that failed or are in doubt.
    pub failure_share: f64,
    /// Whether it did what it was to do.
    pub good: bool,
    /// What limited it.
    pub bottleneck: Bottleneck,
}

/// How pairs of runs were made: A B B A A B …
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pairing {
    /// Pairs that were asked for.
    pub asked: u32,
    /// Pairs of which both runs came to their end.
    pub made: u32,
    /// The rest between two runs, in seconds.
    pub cool_down_s: f64,
    /// Runs that could not be made.
    pub failed_runs: Vec<FailedRun>,
}

/// A run that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRun {
    /// Its place in the comparison, from 0.
    pub step: u32,
    /// Why.
    pub reason: String,
}

/// What makes a comparison, beside what both sides measured.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub job: Option<JobId>,
    pub label: Option<String>,
    pub status: Status,
    pub margin: f64,
    pub pairs: Option<Pairing>,
}

impl Asked {
    /// Of stored jobs.
    pub fn stored(margin: f64) -> Self {
        Self { job: None, label: None, status: Status::Complete, margin, pairs: None }
    }
}

/// What both sides measured.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub primary_metric: PrimaryMetricName,
    pub sides: [Side; 2],
    /// The primary metric first.
    pub figures: Vec<Figure>,
    pub profiles: Option<Profiles>,
    pub facts: [Facts; 2],
    /// Length of a run, where there is one.
    pub each_s: Option<f64>,
}

impl Made {
    /// Of runs, of which this is one.
    fn of(first: &RunResult, sides: [Side; 2], figures: Vec<Figure>, facts: [Facts; 2]) -> Self {
        let primary_metric = PrimaryMetricName::of(&first.primary_metric);
        let each_s = Some(first.durations.rampup_s + first.durations.window_s);
        Self { primary_metric, sides, figures, profiles: None, facts, each_s }
    }
}

impl SideRun {
    fn of(run: &Run, step: Option<u32>) -> Self {
        let result = &run.result;
        Self {
            job: result.job,
            step,
            started_at: result.started_at.clone(),
            users: result.spec.users,
            value: result.primary_metric.value,
            steady: result.steadiness.as_ref().map(|steadiness| steadiness.verdict),
            failure_share: result.failures.share,
            good: result.is_good(),
            bottleneck: result.bottleneck.kind,
        }
    }

    pub(super) fn of_level(run: &LevelRun) -> Self {
        Self {
            job: run.job,
            step: Some(run.step),
            started_at: run.started_at.clone(),
            users: run.users,
            value: run.value,
            steady: run.steady,
            failure_share: run.failure_share,
            good: run.good,
            bottleneck: run.bottleneck,
        }
    }
}

impl Side {
    /// Of runs, each with its step where it has one; at least one.
    fn of(name: &str, runs: &[(Option<u32>, &Run)]) -> Self {
        let first = &runs[0].1.result;
        Self {
            name: name.to_owned(),
            workload: first.workload.clone(),
            target: first.target.clone(),
            server: first.server.clone(),
            runs: runs.iter().map(|(step, run)| SideRun::of(run, *step)).collect(),
        }
    }

    /// Numbers of its jobs.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = i64> {
        self.runs.iter().filter_map(|run| run.job)
    }
}

impl ComparisonResult {
    /// Name and value of the first figure, for lists; `None` where nothing was found.
    #[must_use]
    pub fn first_figure(&self) -> Option<(String, f64)> {
        let ratio = self.figures.first()?.comparison?.ratio;
        Some((format!("{}: {} B/A", words::word(self.verdict), self.primary_metric.name), ratio))
    }

    /// Of runs that were made apart, at least one of each side: a function of its arguments and of
    /// nothing else. One run of each is judged by its seconds, which it must bring.
    #[must_use]
    pub fn of_runs<'r>(names: [&str; 2], a: &'r [Run], b: &'r [Run], margin: f64) -> Self {
        let how = if a.len() == 1 && b.len() == 1 { How::Seconds } else { How::Runs };
        let sides = [a, b].map(|runs| runs.iter().collect::<Vec<&Run>>());
        let figures = figures::all(&sides[0], &sides[1], how, margin);
        let without_step = |runs: &[&'r Run]| -> Vec<(Option<u32>, &'r Run)> {
            runs.iter().map(|run| (None, *run)).collect()
        };
        let made = [0, 1].map(|side| Side::of(names[side], &without_step(&sides[side])));
        let facts = sides.map(|runs| Facts::of_all(&runs));
        Self::new(Asked::stored(margin), Made::of(&a[0].result, made, figures, facts))
    }

    /// Of pairs: runs by step, two steps a pair, and A first in every other one. `None` before both sides
    /// have a run.
    pub(super) fn of_pairs(
        names: [&str; 2],
        runs: &[(u32, bool, Run)],
        asked: Asked,
    ) -> Option<Self> {
        let of = |second: bool| -> Vec<(Option<u32>, &Run)> {
            let side = runs.iter().filter(|(_, is_b, _)| *is_b == second);
            side.map(|(step, _, run)| (Some(*step), run)).collect()
        };
        let (all_a, all_b) = (of(false), of(true));
        let first = &all_a.first()?.1.result;
        all_b.first()?;
        let pair = |step: &Option<u32>| step.map(|step| step / 2);
        let partner = |of: &Option<u32>| {
            all_b.iter().find(|(step, _)| pair(step) == pair(of)).map(|(_, run)| *run)
        };
        let pairs: Vec<(&Run, &Run)> =
            all_a.iter().filter_map(|(step, a)| partner(step).map(|b| (*a, b))).collect();
        let (a, b): (Vec<&Run>, Vec<&Run>) = pairs.iter().copied().unzip();
        let figures = match pairs.is_empty() {
            // Both sides have a run, but none has its partner yet: figures all the same.
            true => figures::all(&[all_a[0].1], &[all_b[0].1], How::Pairs, asked.margin),
            false => figures::all(&a, &b, How::Pairs, asked.margin),
        };
        let facts = [&all_a, &all_b]
            .map(|side| Facts::of_all(&side.iter().map(|(_, run)| *run).collect::<Vec<_>>()));
        let sides = [Side::of(names[0], &all_a), Side::of(names[1], &all_b)];
        let mut asked = asked;
        if let Some(pairing) = &mut asked.pairs {
            pairing.made = u32::try_from(pairs.len()).unwrap_or(u32::MAX);
        }
        Some(Self::new(asked, Made::of(first, sides, figures, facts)))
    }

    /// Of both sides, put together.
    pub(super) fn new(asked: Asked, made: Made) -> Self {
        let [a, b] = made.sides;
        let [facts_a, facts_b] = &made.facts;
        let comparison = made.figures.first().and_then(|figure| figure.comparison);
        let runs = a.runs.iter().chain(&b.runs);
        let mut result = Self {
            format: COMPARISON_FORMAT,
            job: asked.job.map(|job| job.0),
            kind: JobKind::Compare,
            tool: Tool::this(),
            label: asked.label,
            status: asked.status,
            started_at: runs.map(|run| run.started_at.clone()).min().unwrap_or_default(),
            primary_metric: made.primary_metric,
            margin: asked.margin,
            verdict: comparison.map_or(Verdict::Inconclusive { more: None }, |found| found.verdict),
            words: String::new(),
            more_minutes: None,
            a,
            b,
            figures: made.figures,
            profiles: made.profiles,
            pairs: asked.pairs,
            differences: facts_a.against(facts_b),
            warnings: Vec::new(),
        };
        let cool_down_s = result.pairs.as_ref().map_or(0.0, |pairs| pairs.cool_down_s);
        result.more_minutes = words::more_minutes(result.verdict, made.each_s, cool_down_s);
        result.words = words::verdict(&result);
        result.warnings = words::warnings(&result, &made.facts);
        result
    }

    /// Whether both sides have the runs that a verdict needs: two, or a profile of each.
    #[must_use]
    pub fn can_decide(&self) -> bool {
        self.profiles.is_some() || [&self.a, &self.b].iter().all(|side| side.runs.len() >= 2)
    }

    /// Whether B is slower.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.verdict == Verdict::Slower
    }

    /// Whether it is not known how B compares.
    #[must_use]
    pub fn is_inconclusive(&self) -> bool {
        matches!(self.verdict, Verdict::Inconclusive { .. })
    }

    /// Whether every run that was asked for was made and did what it was to do.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let all_made = self.pairs.as_ref().is_none_or(|pairs| pairs.made == pairs.asked);
        let mut runs = self.a.runs.iter().chain(&self.b.runs);
        self.status == Status::Complete && all_made && runs.all(|run| run.good)
    }
}
