//! The document that a search leaves: what `--json` prints, the store keeps and reports render. Its shape
//! is published in `docs/reference/capacity-schema.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::pace::Load;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_core::stats::rate;
use triphammer_core::workload::TransactionDef;
use triphammer_statistics::search::{Answer, Judgement};
use triphammer_statistics::{Estimate, Interval};

use super::limit::LatencyLimit;
use super::measured::Measured;
use crate::host::Host;
use crate::profile::PrimaryMetricName;
use crate::report::format::{figure, milliseconds, percent};
use crate::result::{
    Bottleneck, JobKind, Redacted, RunResult, Setting, Status, Tool, WorkloadFacts,
};
use crate::store::JobId;

/// Version of the document's shape.
pub const CAPACITY_FORMAT: u32 = 1;
/// What `triphammer capacity --json` and `triphammer report JOB --format json` print: what a search was and what it
/// found. Times are in the unit that a name ends with; shares are from 0 to 1; rates are of transactions of all
/// types, per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a search for the capacity")]
pub struct CapacityResult {
    /// Version of this shape.
    #[schemars(extend("const" = CAPACITY_FORMAT))]
    pub format: u32,
    /// Number in the job store; `None` when it was not stored.
    pub job: Option<i64>,
    /// Tells this document from those of other commands.
    #[schemars(with = "String", extend("const" = "capacity"))]
    pub kind: JobKind,
    /// The program that made it.
    pub tool: Tool,
    /// What the user called it.
    pub label: Option<String>,
    /// Complete; or interrupted, before the search had ended.
    pub status: Status,
    /// Date and time of the first run's zero, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// What must hold.
    pub limit: LatencyLimit,
    /// What was found; `None` while the search goes on.
    pub judgement: Option<Judgement>,
    /// What was found, in words; the most important first.
    pub findings: Vec<String>,
    /// The runs, in the order in which they were made.
    pub probes: Vec<Probe>,
    /// Rates that could not be run.
    pub failed_runs: Vec<FailedProbe>,
    /// The workload's first figure, which probes tell beside their rate.
    pub primary_metric: PrimaryMetricName,
    /// The workload and its data.
    pub workload: WorkloadFacts,
    /// How the first run was driven; the others differ in `load`.
    pub spec: RunSpec,
    /// Every setting of the first run, and where its value came from.
    pub settings: Vec<Setting>,
    /// The target, without secrets.
    pub target: Redacted,
    /// What was at the other end of the first run.
    pub server: ServerInfo,
    /// The host that the client ran on.
    pub host: Host,
}

/// A run at a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Its job; `None` when it was not stored.
    pub job: Option<i64>,
    /// Its place in the sequence, from 0.
    pub step: u32,
    /// Arrivals per second that were asked for.
    pub rate: f64,
    /// Transactions of all types that completed in the window, a second.
    pub completed: f64,
    /// The limited percentile, in microseconds; `None` when none of that type committed.
    pub value_us: Option<f64>,
    /// The percentile's 95 % interval, in microseconds; `None` where there was too little to say.
    #[serde(default)]
    pub interval_us: Option<Interval>,
    /// Transactions per second that the target served, where it surely fell behind; `None` elsewhere.
    #[serde(default)]
    pub served: Option<Estimate>,
    /// Why the limit is not kept; `None` when it is.
    pub reason: Option<Reason>,
    /// Share of transactions that failed or are in doubt.
    pub failure_share: f64,
    /// Share of arrivals that no session was free for in time.
    pub missed_share: f64,
    /// The workload's first figure.
    pub primary_metric: f64,
    /// What limited the run.
    pub bottleneck: Bottleneck,
}

/// Why a probe does not keep the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The percentile is at the limit or above.
    TooSlow,
    /// Less was completed than arrived.
    CannotFollow,
    /// More failed than is allowed.
    Failures,
    /// Nothing of the limited type committed.
    Nothing,
}

impl Reason {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::TooSlow, Self::CannotFollow, Self::Failures, Self::Nothing];

    /// For people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooSlow => "too slow",
            Self::CannotFollow => "cannot follow",
            Self::Failures => "failures",
            Self::Nothing => "none committed",
        }
    }
}

/// A rate that could not be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedProbe {
    /// The step that was tried.
    pub step: u32,
    /// What it was.
    pub title: String,
    /// Why.
    pub reason: String,
}

impl Probe {
    /// Of a run's result against the limit.
    pub(super) fn of(
        step: u32,
        result: &RunResult,
        limit: &LatencyLimit,
        types: &[TransactionDef],
    ) -> Self {
        let asked = match &result.spec.load {
            Load::Rate { per_second, .. } => *per_second,
            _ => 0.0,
        };
        let measured = Measured::new(result, limit, types);
        let (value_us, served) = (measured.value_us(), measured.served(asked));
        let reason = match value_us {
            _ if result.failures.above_limit => Some(Reason::Failures),
            _ if served.is_some() || measured.falls_short(asked, limit) => {
                Some(Reason::CannotFollow)
            }
            None => Some(Reason::Nothing),
            Some(value_us) => (value_us >= limit.under_us()).then_some(Reason::TooSlow),
        };
        let window = &result.window;
        Self {
            job: result.job,
            step,
            rate: asked,
            completed: rate(window.total.completed, window.seconds, 1),
            value_us,
            interval_us: measured.interval_us(),
            served,
            reason,
            failure_share: result.failures.share,
            missed_share: result.arrivals.map_or(0.0, |arrivals| arrivals.missed_share()),
            primary_metric: result.primary_metric.value,
            bottleneck: result.bottleneck.kind,
        }
    }

    /// What the search is told.
    pub(super) fn answer(&self, limit: &LatencyLimit) -> Answer {
        let limit = limit.under_us();
        match (self.reason, self.value_us, self.served) {
            (Some(Reason::CannotFollow), _, Some(served)) => Answer::Overloaded { served },
            (None | Some(Reason::TooSlow), Some(value), _) => {
                Answer::Measured { value: Estimate { value, interval: self.interval_us }, limit }
            }
            (reason, ..) => Answer::Ok { ok: reason.is_none() },
        }
    }
}

/// Ends what was found at the most that a probe completed: a window too short for a backlog to grow past the
/// limit looks served above the rate that the target can serve, and completes no more than that.
pub(super) fn within_completed(judgement: Judgement, probes: &[Probe]) -> Judgement {
    let most = probes.iter().map(|probe| probe.completed).fold(0.0, f64::max);
    let Judgement::Found { rate, interval, precise } = judgement else { return judgement };
    let interval = Interval { low: interval.low.min(most), high: interval.high.min(most) };
    Judgement::Found { rate: rate.min(most), interval, precise }
}

impl CapacityResult {
    /// Name and value of the first figure, for lists; `None` where nothing was found.
    #[must_use]
    pub fn first_figure(&self) -> Option<(String, f64)> {
        let (rate, _) = self.range();
        rate.map(|rate| ("tx/s".to_owned(), rate))
    }

    /// The document of the runs made so far: a function of its arguments and of nothing else.
    #[must_use]
    pub fn new(
        first: &RunResult,
        job: Option<JobId>,
        status: Status,
        limit: LatencyLimit,
        probes: Vec<Probe>,
        failed_runs: Vec<FailedProbe>,
        judgement: Option<Judgement>,
    ) -> Self {
        let mut result = Self {
            format: CAPACITY_FORMAT,
            job: job.map(|job| job.0),
            kind: JobKind::Capacity,
            tool: first.tool.clone(),
            label: first.label.clone(),
            status,
            started_at: first.started_at.clone(),
            limit,
            judgement,
            findings: Vec::new(),
            probes,
            failed_runs,
            primary_metric: PrimaryMetricName::of(&first.primary_metric),
            workload: first.workload.clone(),
            spec: first.spec.clone(),
            settings: first.settings.clone(),
            target: first.target.clone(),
            server: first.server.clone(),
            host: first.host.clone(),
        };
        result.findings = result.found();
        result
    }

    /// The capacity in transactions per second and its interval, as far as they are known.
    #[must_use]
    pub fn range(&self) -> (Option<f64>, Option<Interval>) {
        match self.judgement {
            Some(Judgement::Found { rate, interval, .. }) => (Some(rate), Some(interval)),
            Some(Judgement::AlwaysOk { highest }) => (Some(highest), None),
            Some(Judgement::NeverOk { .. }) => (None, None),
            None => (self.best().map(|probe| probe.rate), None),
        }
    }

    /// The probe of the highest rate that kept the limit.
    #[must_use]
    pub fn best(&self) -> Option<&Probe> {
        let kept = self.probes.iter().filter(|probe| probe.reason.is_none());
        kept.max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// The probe of the lowest rate that did not, above the capacity where there is one: near it chance
    /// decides.
    fn first_broken(&self) -> Option<&Probe> {
        let from = self.range().0.unwrap_or_default();
        let broken = || self.probes.iter().filter(|probe| probe.reason.is_some());
        let lowest = |a: &&Probe, b: &&Probe| a.rate.total_cmp(&b.rate);
        broken()
            .filter(|probe| probe.rate > from)
            .min_by(lowest)
            .or_else(|| broken().min_by(lowest))
    }

    /// Whether a capacity was found.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.status == Status::Complete
            && !matches!(self.judgement, None | Some(Judgement::NeverOk { .. }))
    }

    fn found(&self) -> Vec<String> {
        let limit = &self.limit;
        let mut found = vec![match self.judgement {
            Some(Judgement::Found { rate, interval, precise }) => {
                let how = if precise { "" } else { ", as far as the probes allowed" };
                format!(
                    "{limit} holds up to {}/s ({}/s to {}/s{how})",
                    figure(rate),
                    figure(interval.low),
                    figure(interval.high)
                )
            }
            Some(Judgement::NeverOk { lowest }) => {
                format!("{limit} does not hold even at {}/s", figure(lowest))
            }
            Some(Judgement::AlwaysOk { highest }) => format!(
                "{limit} holds up to {}/s, the highest rate that was tried: give a higher --max-rate",
                figure(highest)
            ),
            None => match self.best() {
                Some(best) => {
                    format!("{limit} held at {}/s; the search has not ended", figure(best.rate))
                }
                None => format!("{limit} has not held yet; the search has not ended"),
            },
        }];
        found.extend(self.first_broken().map(|probe| self.broken(probe)));
        found.extend(self.best().map(|best| {
            format!(
                "at {}/s {} was {}",
                figure(best.rate),
                self.primary_metric.name,
                figure(best.primary_metric)
            )
        }));
        found.extend(self.first_broken().and_then(whose));
        found.extend(
            self.failed_runs
                .iter()
                .map(|refused| format!("{} could not be run: {}", refused.title, refused.reason)),
        );
        found
    }

    /// What broke the limit first.
    fn broken(&self, probe: &Probe) -> String {
        let at = figure(probe.rate);
        let percentile = self.limit.percentile.name();
        match probe.reason {
            Some(Reason::CannotFollow) => format!(
                "at {at}/s the target could not follow: {}/s completed, {} of the arrivals found \
                 no session in time",
                figure(probe.completed),
                percent(probe.missed_share)
            ),
            Some(Reason::Failures) => {
                format!("at {at}/s {} of the transactions failed", percent(probe.failure_share))
            }
            Some(Reason::Nothing) => {
                format!("at {at}/s no {} committed", self.limit.transaction)
            }
            Some(Reason::TooSlow) | None => format!(
                "at {at}/s {percentile} of {} was {} ms",
                self.limit.transaction,
                milliseconds(probe.value_us.unwrap_or_default())
            ),
        }
    }
}

/// Whose capacity it is, when a probe that broke the limit was not limited by the database.
fn whose(probe: &Probe) -> Option<String> {
    let label = probe.bottleneck.label();
    match probe.bottleneck {
        Bottleneck::Client | Bottleneck::Host | Bottleneck::Network => Some(format!(
            "{label} was the limit at {}/s: this is not the database's capacity alone",
            figure(probe.rate)
        )),
        Bottleneck::Load | Bottleneck::Database | Bottleneck::Undecided => None,
    }
}
