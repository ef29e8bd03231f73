//! The result document of a comparison: printed by `--json`, stored, and rendered by reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_settings::command::JobKind;
use triphammer_settings::format;
use triphammer_statistics::Interval;
use triphammer_statistics::compare::{Better, Verdict, another};

use super::answers::{self, AnswersCompared, StatementSpeed};
use super::at_once::AtOnce;
use super::facts::{Difference, Facts};
use super::figures::{self, Figure, How};
use super::host_setting::HostSetting;
use super::plans::{self, PlanChange};
use super::profiles::{self, Profiles};
use super::run::Run;
use super::time::TimeComparison;
use super::words;
use crate::document::{Head, JobDocument, own_ending};
use crate::ending::{Ending, Flaw};
use crate::energy::EnergyComparison;
use crate::job_id::JobId;
use crate::measure::Measure;
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::price::{ComparedRates, PriceComparison, PriceList};
use crate::profile::{LevelRun, LevelUnit, PrimaryMetricName};
use crate::redacted::Redacted;
use crate::result::{Bottleneck, RunResult, Steady, Warning};
use crate::why::Waits;

/// Version of the document's format.
pub const COMPARISON_FORMAT: u32 = 1;

/// The result of a comparison of B with A, as printed by `triphammer compare --json` and
/// `triphammer report JOB --json`. Ratios are B over A; shares are from 0 to 1. The verdict is that
/// of the primary metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A comparison")]
pub struct ComparisonResult {
    /// Version of the document's format.
    #[schemars(extend("const" = COMPARISON_FORMAT))]
    pub format: u32,
    /// Job number; `None` for a comparison of stored jobs, which creates no job.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "compare"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// `complete`, or `interrupted` or `failed` if pairs are missing.
    pub status: Status,
    /// Whether all runs were made and are good, and the verdict passes.
    pub ending: Ending,
    /// Start of the first run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// The primary metric, which decides the verdict.
    pub primary_metric: PrimaryMetricName,
    /// Smallest difference that matters, as a share from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub margin: f64,
    /// Verdict on B by the primary metric.
    pub verdict: Verdict,
    /// The verdict in words, with figures.
    pub words: String,
    /// Estimated minutes of further measurements for a decision; `None` if it is decided, or if no
    /// practical number would suffice.
    pub more_minutes: Option<f64>,
    /// The baseline.
    pub a: Side,
    /// The side that is compared with the baseline.
    pub b: Side,
    /// Figures of both sides, the primary metric first.
    pub figures: Vec<Figure>,
    /// Levels and curves; `None` unless profiles are compared or pairs were made at several levels.
    pub profiles: Option<Profiles>,
    /// 95 % prediction interval of the ratio that another comparison of as many runs would find; `None`
    /// if it is unknown, because there is one run of each side, or one pair at once.
    #[serde(default)]
    pub another: Option<Interval>,
    /// The pairs of runs; `None` for a comparison of stored jobs.
    pub pairs: Option<Pairing>,
    /// The setting of the host that differs between the sides; `None` if no such was changed.
    #[serde(default)]
    pub host_setting: Option<HostSetting>,
    /// Whether both sides answer the same to a replay; `None` for other loads.
    pub answers: Option<AnswersCompared>,
    /// Times of the statements of a replay on both sides; empty for other loads.
    pub speeds: Vec<StatementSpeed>,
    /// Where the time of a transaction goes on both sides; `None` unless all runs know it.
    #[serde(default)]
    pub transaction_time: Option<TimeComparison>,
    /// Conditions that differ between the sides.
    pub differences: Vec<Difference>,
    /// Execution plans that differ, of queries and of the statements of replays.
    pub plans: Vec<PlanChange>,
    /// What sessions did or waited for more or less per transaction in B than in A, from the seconds
    /// of one run each; `None` unless both were observed. Here is B, the rest is A.
    pub waits: Option<Waits>,
    /// What B costs relative to A; `None` unless both sides have a price list.
    #[serde(default)]
    pub price: Option<PriceComparison>,
    /// Energy of both sides; `None` unless a run of either side measured it.
    #[serde(default)]
    pub energy: Option<EnergyComparison>,
    /// Warnings to read before using the verdict.
    pub warnings: Vec<Warning>,
}

/// One side of a comparison: A or B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The requested side: `job 12`, a label, or a target and settings.
    pub name: String,
    /// Workload and its data, from the first run.
    pub workload: WorkloadFacts,
    /// URL of the first run's target, without secrets.
    pub target: Redacted,
    /// The server that the first run connected to.
    pub server: ServerInfo,
    /// Its runs, in chronological order.
    pub runs: Vec<SideRun>,
}

/// A run of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideRun {
    /// Number of its job; `None` if it was not stored.
    pub job: Option<i64>,
    /// Position in the comparison or profile, from 0; `None` if it belongs to neither.
    pub step: Option<u32>,
    /// Start of the run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Number of virtual users.
    pub users: u32,
    /// Value of the primary metric.
    pub value: f64,
    /// Steadiness of its window; `None` if that does not apply.
    pub steady: Option<Steady>,
    /// Share of transactions that failed or are in doubt.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub failure_share: f64,
    /// Whether the run was successful.
    pub good: bool,
    /// The bottleneck of the run.
    pub bottleneck: Bottleneck,
}

/// Pairs of runs: adjacent ones, each in a random order, or two at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pairing {
    /// Requested number of pairs, of all levels together.
    pub asked: u32,
    /// Number of pairs whose runs are both complete.
    pub made: u32,
    /// Pause between two runs, in seconds.
    pub cool_down_s: f64,
    /// Runs that failed to start or to end.
    pub failed_runs: Vec<FailedRun>,
    /// The blocks of pairs whose runs took place at once; `None` of adjacent runs.
    #[serde(default)]
    pub at_once: Option<AtOnce>,
}

/// A run that failed to start or to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRun {
    /// Position in the comparison, from 0.
    pub step: u32,
    /// Reason in words, for people.
    pub reason: String,
}

/// A run of a comparison in pairs.
#[derive(Clone, Debug)]
pub struct OfPair {
    /// Position in the comparison, from 0; two adjacent steps are a pair.
    pub step: u32,
    /// Whether it belongs to B.
    pub is_b: bool,
    /// Its level; `None` if all runs have the same.
    pub level: Option<u32>,
    /// The run.
    pub run: Run,
}

/// A pair with its level.
pub(crate) type MadePair<'r> = (Option<u32>, &'r Run, &'r Run);

/// The complete pairs.
fn made(runs: &[OfPair]) -> Vec<MadePair<'_>> {
    let partner = |of: &OfPair| {
        runs.iter().find(|other| other.is_b && other.step / 2 == of.step / 2).map(|b| &b.run)
    };
    let of_a = runs.iter().filter(|one| !one.is_b);
    of_a.filter_map(|one| Some((one.level, &one.run, partner(one)?))).collect()
}

/// The price list of runs; `None` if one has none, or another one than the first.
pub fn price_list_of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Option<PriceList> {
    let mut lists = runs.into_iter().map(|run| run.result.price.as_ref().map(|price| &price.list));
    let first = lists.next()??;
    lists.all(|list| list == Some(first)).then(|| first.clone())
}

/// What is demanded of the verdict on B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Whether B must not be slower.
    pub not_slower: bool,
    /// Whether the verdict must not be inconclusive.
    pub not_inconclusive: bool,
}

/// Parameters of a comparison, in addition to the measurements.
#[derive(Clone, Debug)]
pub struct ComparisonParameters {
    /// Job number; `None` if the comparison is not stored.
    pub job: Option<JobId>,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// How the comparison ended.
    pub status: Status,
    /// Difference that does not matter, as a share from 0 to 1.
    pub margin: f64,
    /// How the pairs were made; `None` of stored jobs.
    pub pairs: Option<Pairing>,
}

impl ComparisonParameters {
    /// Parameters of a comparison of stored jobs.
    pub fn stored(margin: f64) -> Self {
        Self { job: None, label: None, status: Status::Complete, margin, pairs: None }
    }
}

/// Measurements of both sides.
#[derive(Clone, Debug)]
pub(crate) struct SideMeasurements {
    pub primary_metric: PrimaryMetricName,
    pub sides: [Side; 2],
    /// The figures, the primary metric first.
    pub figures: Vec<Figure>,
    pub profiles: Option<Profiles>,
    pub facts: [Facts; 2],
    /// Length of a run in seconds, if known.
    pub each_s: Option<f64>,
}

impl SideMeasurements {
    /// Describes the side of this run.
    fn of(first: &RunResult, sides: [Side; 2], figures: Vec<Figure>, facts: [Facts; 2]) -> Self {
        let mut primary_metric = PrimaryMetricName::of(&first.primary_metric);
        if first.replay.is_some() {
            primary_metric = PrimaryMetricName {
                name: "mean statement time".to_owned(),
                meaning: "mean time of a statement of the replay".to_owned(),
                better: Better::Lower,
                ..primary_metric
            };
        }
        let each_s = Some(first.durations.rampup_s + first.durations.window_s);
        Self { primary_metric, sides, figures, profiles: None, facts, each_s }
    }
}

/// The verdict of the primary metric and, if pairs were made at several levels, of the levels.
fn verdict(made: &SideMeasurements) -> Verdict {
    let comparison = made.figures.first().and_then(|figure| figure.comparison);
    let of_all = comparison.map_or(Verdict::Inconclusive { more: None }, |found| found.verdict);
    made.profiles.as_ref().map_or(of_all, |profiles| profiles.verdict(of_all))
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
            good: result.ending.good,
            bottleneck: result.bottleneck.kind,
        }
    }

    pub(crate) fn of_level(run: &LevelRun) -> Self {
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
    /// Creates a side from at least one run, each with its step if it has one.
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

    /// Job numbers of its runs.
    pub fn jobs(&self) -> impl Iterator<Item = i64> {
        self.runs.iter().filter_map(|run| run.job)
    }
}

impl JobDocument for ComparisonResult {
    const FORMAT: Option<u32> = Some(COMPARISON_FORMAT);

    fn head(&self) -> Head<'_> {
        Head {
            format: Some(self.format),
            job: self.job,
            tool: Some(&self.tool),
            label: self.label.as_deref(),
            status: self.status,
            started_at: Some(&self.started_at),
            workload: Some(&self.a.workload),
            target: Some(&self.a.target),
            server: Some(&self.a.server),
            ..Head::of(JobKind::Compare)
        }
    }

    own_ending!();

    /// Every run that the comparison asked for must be made and be successful. Stored runs are
    /// compared as they are.
    fn flaw(&self) -> Option<Flaw> {
        let pairs = self.pairs.as_ref().filter(|_| self.status == Status::Complete)?;
        let mut runs = self.a.runs.iter().chain(&self.b.runs);
        let differs = self.answers.as_ref().is_some_and(AnswersCompared::differ);
        Flaw::worst([
            (differs, Flaw::AnswersDiffer),
            (pairs.made != pairs.asked || runs.any(|run| !run.good), Flaw::RunsFailed),
        ])
    }

    fn primary_metric(&self) -> Option<(String, f64)> {
        let ratio = self.figures.first()?.comparison?.ratio;
        Some((format!("{}: {} B/A", words::word(self.verdict), self.primary_metric.name), ratio))
    }

    fn priced_by(self, list: &PriceList) -> Option<Self> {
        Some(self.priced([list.clone(), list.clone()]))
    }

    fn outcome(&self) -> String {
        self.primary_metric().map_or_else(
            || words::word(self.verdict).to_owned(),
            |(name, ratio)| format!("{name} {}", format::figure(ratio)),
        )
    }
}

impl ComparisonResult {
    /// Compares separate runs, at least one of each side: a pure function. Single runs are compared
    /// by their seconds, which they must include.
    #[must_use]
    pub fn of_runs<'r>(names: [&str; 2], a: &'r [Run], b: &'r [Run], margin: f64) -> Self {
        let how = if a.len() == 1 && b.len() == 1 { How::Seconds } else { How::Runs };
        let sides = [a, b].map(|runs| runs.iter().collect::<Vec<&Run>>());
        let figures = figures::all(&sides[0], &sides[1], how, margin);
        let without_step = |runs: &[&'r Run]| -> Vec<(Option<u32>, &'r Run)> {
            runs.iter().map(|run| (None, *run)).collect()
        };
        let made = [0, 1].map(|side| Side::of(names[side], &without_step(&sides[side])));
        let facts = [&sides[0], &sides[1]].map(|runs| Facts::of_all(runs));
        Self::new(
            ComparisonParameters::stored(margin),
            SideMeasurements::of(&a[0].result, made, figures, facts),
        )
        .with_plans(&sides[0], &sides[1])
        .with_costs(&sides[0], &sides[1])
    }

    /// Compares pairs: runs by step, two adjacent steps per pair. `unit` is what their levels
    /// count, if they have levels. `None` before both sides have a run.
    pub fn of_pairs(
        names: [&str; 2],
        runs: &[OfPair],
        unit: Option<LevelUnit>,
        asked: ComparisonParameters,
    ) -> Option<Self> {
        let of = |second: bool| -> Vec<(Option<u32>, &Run)> {
            let side = runs.iter().filter(|one| one.is_b == second);
            side.map(|one| (Some(one.step), &one.run)).collect()
        };
        let (all_a, all_b) = (of(false), of(true));
        let first = &all_a.first()?.1.result;
        all_b.first()?;
        let pairs = made(runs);
        let (a, b): (Vec<&Run>, Vec<&Run>) = pairs.iter().map(|(_, a, b)| (*a, *b)).unzip();
        let mut figures = match pairs.is_empty() {
            // Both sides have a run, but no pair is complete yet: shows figures anyway.
            true => figures::all(&[all_a[0].1], &[all_b[0].1], How::Pairs, asked.margin),
            false => figures::all(&a, &b, How::Pairs, asked.margin),
        };
        let facts = [&all_a, &all_b]
            .map(|side| Facts::of_all(&side.iter().map(|(_, run)| *run).collect::<Vec<_>>()));
        let sides = [Side::of(names[0], &all_a), Side::of(names[1], &all_b)];
        let mut asked = asked;
        let both: Vec<(&Run, &Run)> = pairs.iter().map(|(_, a, b)| (*a, *b)).collect();
        if let Some(pairing) = &mut asked.pairs {
            pairing.made = u32::try_from(pairs.len()).unwrap_or(u32::MAX);
            pairing.at_once = AtOnce::of(&both);
        }
        let at_once = asked.pairs.as_ref().and_then(|pairing| pairing.at_once.as_ref());
        if let (Some(at_once), Some(primary)) = (at_once, figures.first_mut()) {
            let metric = PrimaryMetricName::of(&first.primary_metric);
            *primary = figures::of_blocks(&metric, at_once, asked.margin);
        }
        let profiles = unit.map(|unit| {
            let metric = PrimaryMetricName::of(&first.primary_metric);
            let (profiles, all) = profiles::interleaved(&metric, unit, &pairs, asked.margin);
            if !pairs.is_empty() {
                figures.splice(..figures.len().min(1), [all]);
            }
            profiles
        });
        let margin = asked.margin;
        let replays: Vec<(&Run, &Run)> = pairs
            .iter()
            .filter(|(_, a, _)| a.result.replay.is_some())
            .map(|(_, a, b)| (*a, *b))
            .collect();
        let speeds = answers::speeds(&replays, margin);
        let [all_a, all_b] =
            [all_a, all_b].map(|side| side.into_iter().map(|(_, run)| run).collect::<Vec<_>>());
        let made =
            SideMeasurements { profiles, ..SideMeasurements::of(first, sides, figures, facts) };
        let made = Self::new(asked, made).with_costs(&all_a, &all_b);
        Some(Self { speeds, ..made }.with_plans(&all_a, &all_b))
    }

    /// Adds the answers of replays.
    #[must_use]
    pub fn with_answers(self, answers: Option<AnswersCompared>) -> Self {
        Self { answers, ..self }.judged()
    }

    /// Adds the setting of the host that differed: its check, and the values of A and B.
    #[must_use]
    pub fn with_host_setting(self, setting: Option<(&str, &[String; 2])>) -> Self {
        let setting = setting.map(|(check, values)| words::host_setting(check, values, &self));
        Self { host_setting: setting, ..self }
    }

    /// Adds what the sessions waited for, of a run each.
    #[must_use]
    pub fn with_waits(self, waits: Option<Waits>) -> Self {
        Self { waits, ..self }
    }

    /// Adds where the time of transactions went, what the runs cost by their price lists, and the
    /// energy that they used.
    fn with_costs(mut self, a: &[&Run], b: &[&Run]) -> Self {
        self.transaction_time = TimeComparison::new(a, b);
        let lists = [a, b].map(|runs| price_list_of(runs.iter().copied()));
        if let [Some(a), Some(b)] = lists {
            self = self.priced([a, b]);
        }
        let [a, b] = [a, b]
            .map(|runs| runs.iter().map(|run| run.result.energy.as_ref()).collect::<Vec<_>>());
        Self { energy: EnergyComparison::new(&a, &b), ..self }
    }

    /// The same comparison by these price lists of A and of B.
    #[must_use]
    pub fn priced(mut self, lists: [PriceList; 2]) -> Self {
        let metric = &self.primary_metric;
        let rates = self.figures.first().and_then(|figure| {
            let units = Measure::stored(&metric.per).of_a_second()?;
            Some([figure.a / units, figure.b / units])
        });
        let rates = ComparedRates {
            meaning: [&metric.meaning, &metric.per],
            per_second: rates,
            comparison: self.figures.first().and_then(|figure| figure.comparison),
        };
        self.price = Some(PriceComparison::new(lists, &rates));
        self
    }

    /// Adds the execution plans that differ.
    fn with_plans(self, a: &[&Run], b: &[&Run]) -> Self {
        Self { plans: plans::changes(&self.differences, a, b), ..self }
    }

    /// Assembles the document of both sides.
    pub(crate) fn new(asked: ComparisonParameters, made: SideMeasurements) -> Self {
        let verdict = verdict(&made);
        let [a, b] = made.sides;
        let [facts_a, facts_b] = &made.facts;
        let runs = a.runs.iter().chain(&b.runs);
        let mut result = Self {
            format: COMPARISON_FORMAT,
            job: asked.job.map(|job| job.0),
            kind: JobKind::Compare,
            tool: Tool::this(),
            label: asked.label,
            status: asked.status,
            ending: Ending::default(),
            started_at: runs.map(|run| run.started_at.clone()).min().unwrap_or_default(),
            primary_metric: made.primary_metric,
            margin: asked.margin,
            verdict,
            words: String::new(),
            more_minutes: None,
            a,
            b,
            figures: made.figures,
            profiles: made.profiles,
            another: None,
            pairs: asked.pairs,
            host_setting: None,
            answers: None,
            speeds: Vec::new(),
            transaction_time: None,
            differences: facts_a.against(facts_b),
            plans: Vec::new(),
            waits: None,
            price: None,
            energy: None,
            warnings: Vec::new(),
        };
        result.more_minutes =
            words::more_minutes(result.verdict, made.each_s, result.pairs.as_ref());
        let primary = result.figures.first().and_then(|figure| figure.comparison);
        result.another = match result.pairs.as_ref().and_then(|pairs| pairs.at_once.as_ref()) {
            Some(at_once) => at_once.another(),
            None => primary.as_ref().and_then(another),
        };
        result.words = words::verdict(&result);
        result.warnings = words::warnings(&result, &made.facts);
        result.judged()
    }

    /// Whether both sides have enough runs for a verdict: two runs each. Two profiles measured one
    /// after the other never have.
    #[must_use]
    pub fn can_decide(&self) -> bool {
        let is_of_stored_profiles = self.profiles.is_some() && self.pairs.is_none();
        !is_of_stored_profiles && [&self.a, &self.b].iter().all(|side| side.runs.len() >= 2)
    }

    /// Judges the verdict, too: returns the document as failed if the verdict does not meet the demand.
    #[must_use]
    pub fn judged_by(mut self, demand: Demand) -> Self {
        let verdict = Flaw::worst([
            (demand.not_slower && self.is_slower(), Flaw::Slower),
            (demand.not_inconclusive && self.is_inconclusive(), Flaw::Inconclusive),
        ]);
        if self.status == Status::Complete {
            self.ending = Ending::new(self.status, self.flaw().or(verdict));
        }
        self
    }

    /// Whether B is slower.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.verdict == Verdict::Slower
    }

    /// Whether the verdict is inconclusive.
    #[must_use]
    pub fn is_inconclusive(&self) -> bool {
        matches!(self.verdict, Verdict::Inconclusive { .. })
    }
}
