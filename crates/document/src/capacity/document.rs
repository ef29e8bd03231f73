//! The result document of a capacity search: printed by `--json`, stored, and rendered by reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::pace::Load;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_core::stats::rate;
use triphammer_core::workload::TransactionDef;
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_settings::format::{figure, milliseconds, percent};
use triphammer_statistics::search::{Answer, CapacityBelief, Judgement, LONG, ServerChange};
use triphammer_statistics::{Estimate, Interval};

use super::limit::LatencyLimit;
use super::measured::MeasuredRun;
use crate::document::{Head, JobDocument, own_ending, whole_head};
use crate::ending::{Ending, Flaw};
use crate::host::Host;
use crate::job_id::JobId;
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::profile::PrimaryMetricName;
use crate::redacted::Redacted;
use crate::result::{Bottleneck, RunResult};

/// Version of the document's format.
pub const CAPACITY_FORMAT: u32 = 1;
/// The result of a capacity search, as printed by `triphammer capacity --json` and `triphammer
/// report JOB --format json`. Times have the unit that the field's name ends with; shares are from
/// 0 to 1; rates are transactions of all types per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a search for the capacity")]
pub struct CapacityResult {
    /// Version of the document's format.
    #[schemars(extend("const" = CAPACITY_FORMAT))]
    pub format: u32,
    /// Job number; `None` if it was not stored.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "capacity"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// `complete`, or how the search ended before it was finished.
    pub status: Status,
    /// Whether a capacity was found, and what is wrong with the search.
    pub ending: Ending,
    /// Start of the first run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// The response time limit.
    pub limit: LatencyLimit,
    /// The result; `None` until the search has finished.
    pub judgement: Option<Judgement>,
    /// The curve behind the result: the probability that the capacity is at least a rate, at
    /// increasing rates. Empty until probes showed a rate on either side.
    pub belief: Vec<CapacityBelief>,
    /// By how much the server changed during the search; `None` before its end, or if too few probes
    /// were near the limit.
    pub change: Option<ServerChange>,
    /// Findings in words, the most important first.
    pub findings: Vec<String>,
    /// The runs, in chronological order.
    pub probes: Vec<Probe>,
    /// Rates whose run failed.
    pub failed_runs: Vec<FailedProbe>,
    /// The workload's primary metric, reported for each probe in addition to its rate.
    pub primary_metric: PrimaryMetricName,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// Spec of the first run; the others differ in `load`.
    pub spec: RunSpec,
    /// Every setting of the first run with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// The server that the first run connected to.
    pub server: ServerInfo,
    /// The host of the client.
    pub host: Host,
}

/// What the confirming probes showed.
pub struct Confirmed {
    /// The curve behind the result.
    pub belief: Vec<CapacityBelief>,
    /// By how much the server changed; `None` if that was not measured.
    pub change: Option<ServerChange>,
    /// Index of the long probe.
    pub long: Option<usize>,
}

/// A probe: a run at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Number of its job; `None` if it was not stored.
    pub job: Option<i64>,
    /// Position in the sequence, from 0.
    pub step: u32,
    /// Requested arrivals per second.
    #[schemars(range(min = 0.0))]
    pub rate: f64,
    /// Transactions of all types completed in the window, per second.
    #[schemars(range(min = 0.0))]
    pub completed: f64,
    /// The limited percentile, in microseconds; `None` if no transaction of that type committed.
    pub value_us: Option<f64>,
    /// 95 % confidence interval of the percentile, in microseconds; `None` if there is too little
    /// data, or if the response times wander so slowly that the window does not show how far.
    pub interval_us: Option<Interval>,
    /// Transactions per second that the target served, if it clearly fell behind; `None` otherwise.
    pub served: Option<Estimate>,
    /// Why the limit was exceeded; `None` if it was kept.
    pub reason: Option<Reason>,
    /// Share of transactions that failed or are in doubt, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub failure_share: f64,
    /// Share of arrivals that found no free session in time, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub missed_share: f64,
    /// The workload's primary metric.
    pub primary_metric: f64,
    /// The bottleneck of the run.
    pub bottleneck: Bottleneck,
}

/// Why a probe exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The percentile is at or above the limit.
    TooSlow,
    /// Fewer transactions completed than arrived.
    CannotFollow,
    /// More transactions failed than allowed.
    Failures,
    /// No transaction of the limited type committed.
    Nothing,
}

impl Reason {
    /// All variants, in declaration order.
    pub const ALL: [Self; 4] = [Self::TooSlow, Self::CannotFollow, Self::Failures, Self::Nothing];

    /// Name for people to read.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::TooSlow => "too slow",
            Self::CannotFollow => "cannot keep up",
            Self::Failures => "failures",
            Self::Nothing => "none committed",
        }
    }
}

/// A rate whose run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedProbe {
    /// Position in the sequence, from 0.
    pub step: u32,
    /// Title of the run.
    pub title: String,
    /// Reason in words, for people.
    pub reason: String,
}

impl Probe {
    /// Creates a probe from the result of a run and the limit.
    pub fn of(
        step: u32,
        result: &RunResult,
        limit: &LatencyLimit,
        types: &[TransactionDef],
    ) -> Self {
        let asked = match &result.spec.load {
            Load::Rate { per_second, .. } => *per_second,
            _ => 0.0,
        };
        let measured = MeasuredRun::new(result, limit, types);
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

    /// Describes the outcome: `p95 of new_order 19.8 ms, within the limit`.
    pub fn words(&self, limit: &LatencyLimit) -> String {
        let outcome = self.reason.map_or("within the limit", Reason::label);
        match self.value_us {
            Some(us) => format!(
                "{} of {} {} ms, {outcome}",
                limit.percentile.name(),
                limit.transaction,
                milliseconds(us)
            ),
            None => outcome.to_owned(),
        }
    }

    /// Converts the probe to an observation for the search.
    pub fn answer(&self, limit: &LatencyLimit) -> Answer {
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

/// Caps the result at the highest completed rate: in a window too short for the backlog to exceed
/// the limit, a rate above the target's capacity seems to be served, but no more than the capacity
/// is completed.
pub fn within_completed(judgement: Judgement, probes: &[Probe]) -> Judgement {
    let most = probes.iter().map(|probe| probe.completed).fold(0.0, f64::max);
    let Judgement::Found { rate, interval, precise } = judgement else { return judgement };
    let interval = Interval { low: interval.low.min(most), high: interval.high.min(most) };
    Judgement::Found { rate: rate.min(most), interval, precise }
}

impl JobDocument for CapacityResult {
    const FORMAT: Option<u32> = Some(CAPACITY_FORMAT);

    fn head(&self) -> Head<'_> {
        whole_head!(self)
    }

    own_ending!();

    /// A capacity must be found.
    fn flaw(&self) -> Option<Flaw> {
        let is_complete = self.status == Status::Complete;
        let has_none = matches!(self.judgement, None | Some(Judgement::NeverOk { .. }));
        (is_complete && has_none).then_some(Flaw::NoCapacity)
    }

    fn primary_metric(&self) -> Option<(String, f64)> {
        let (rate, _) = self.range();
        rate.map(|rate| ("tx/s".to_owned(), rate))
    }
}

impl CapacityResult {
    /// Creates the document of the runs so far, without the curve: a pure function.
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
            ending: Ending::default(),
            started_at: first.started_at.clone(),
            limit,
            judgement,
            belief: Vec::new(),
            change: None,
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
        result.judged()
    }

    /// Adds what the confirming probes showed.
    pub fn confirmed(self, confirmed: Confirmed) -> Self {
        let Confirmed { belief, change, long } = confirmed;
        let mut result = Self { belief, change, ..self };
        let notes = [
            long.and_then(|place| result.probes.get(place)).map(|probe| result.of_long(probe)),
            change.and_then(of_change),
        ];
        // After the capacity itself.
        let place = result.findings.len().min(1);
        result.findings.splice(place..place, notes.into_iter().flatten());
        result
    }

    /// Describes the long probe at the low end.
    fn of_long(&self, probe: &Probe) -> String {
        let held = match probe.reason {
            None => "held".to_owned(),
            Some(reason) => format!("did not hold ({})", reason.label()),
        };
        format!("in a probe of {LONG} times the length at {}/s it {held}", figure(probe.rate))
    }

    /// The capacity in transactions per second and its interval, if known.
    #[must_use]
    pub fn range(&self) -> (Option<f64>, Option<Interval>) {
        match self.judgement {
            Some(Judgement::Found { rate, interval, .. }) => (Some(rate), Some(interval)),
            Some(Judgement::AlwaysOk { highest }) => (Some(highest), None),
            Some(Judgement::NeverOk { .. }) => (None, None),
            None => (self.best().map(|probe| probe.rate), None),
        }
    }

    /// The probe with the highest rate that kept the limit.
    #[must_use]
    pub fn best(&self) -> Option<&Probe> {
        let kept = self.probes.iter().filter(|probe| probe.reason.is_none());
        kept.max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// The probe with the lowest rate that exceeded the limit, above the capacity if one was found:
    /// close to it, chance decides.
    fn first_broken(&self) -> Option<&Probe> {
        let from = self.range().0.unwrap_or_default();
        let broken = || self.probes.iter().filter(|probe| probe.reason.is_some());
        let lowest = |a: &&Probe, b: &&Probe| a.rate.total_cmp(&b.rate);
        broken()
            .filter(|probe| probe.rate > from)
            .min_by(lowest)
            .or_else(|| broken().min_by(lowest))
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
                "{limit} still holds at {}/s, the highest rate tried: the capacity is at least that; \
                 a higher --max-rate finds it",
                figure(highest)
            ),
            None => match self.best() {
                Some(best) => {
                    format!("{limit} held at {}/s; the search has not finished", figure(best.rate))
                }
                None => format!("{limit} has not held yet; the search has not finished"),
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

    /// Describes how the limit was first exceeded.
    fn broken(&self, probe: &Probe) -> String {
        let at = figure(probe.rate);
        let percentile = self.limit.percentile.name();
        match probe.reason {
            Some(Reason::CannotFollow) => format!(
                "at {at}/s the target could not keep up: {}/s completed, {} of the arrivals got no \
                 session in time",
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

/// Says that the server changed during the search, if chance does not explain it.
fn of_change(change: ServerChange) -> Option<String> {
    let Estimate { value, interval } = change.change;
    let interval = interval.filter(|interval| !interval.contains(0.0))?;
    let percent = |share: f64| format!("{:+.1} %", share * 100.0);
    Some(format!(
        "the server changed by {} ({} to {}) during the search, as the probes before and after \
         show, some of both at {}/s: the capacity is neither that before nor that after",
        percent(value),
        percent(interval.low),
        percent(interval.high),
        figure(change.rate)
    ))
}

/// Names the bottleneck, if a probe that exceeded the limit was not limited by the database.
fn whose(probe: &Probe) -> Option<String> {
    let label = probe.bottleneck.label();
    match probe.bottleneck {
        Bottleneck::Client | Bottleneck::Host | Bottleneck::Network => Some(format!(
            "{label} was the bottleneck at {}/s: this is not the capacity of the database alone",
            figure(probe.rate)
        )),
        Bottleneck::Load | Bottleneck::Database | Bottleneck::Undecided => None,
    }
}
