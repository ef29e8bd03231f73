//! `capacity`: finds the highest arrival rate at which a percentile of a transaction's response
//! time stays within a limit. Every probe is a run with an open load, so a database that cannot
//! keep up shows it in its response times instead of slowing the load down.
//!
//! Probes confirm the rate that was found: three repeats of it, an early rate again, and a long
//! probe at the low end.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::pace::Load;
use triphammer_core::session::Database;
use triphammer_core::spec::{DURATION_MAX, SESSIONS_MAX};
use triphammer_core::workload::Description;
use triphammer_document::capacity::{CapacityResult, Confirmed, FailedProbe, LatencyLimit, Probe};
use triphammer_document::parts::Status;
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::RunResult;
use triphammer_document::{JobId, JobType};
use triphammer_settings::failure::Failure;
use triphammer_settings::format::figure;
use triphammer_settings::target::Target;
use triphammer_settings::{GivenValue, Settings, parse_closeness};
use triphammer_statistics::search::{
    CapacityPlan, CapacitySearch as Search, LONG, SearchStep as Next,
};

use crate::campaign::Question;
use crate::step::{PlannedRun, RunsAtMost};

/// Rate of the first probe.
const FIRST: f64 = 100.0;
/// Lowest rate that is tried.
const LOWEST: f64 = 1.0;
/// Default highest rate to try, in transactions per second.
const HIGHEST: f64 = 1e6;
/// Most probes, with those that confirm the result.
const PROBES_MAX: u32 = 30;
/// Default number of sessions that share the arrivals.
const SESSIONS: u32 = 64;

/// Parameters of a capacity search.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityRequest {
    /// The response time limit.
    pub limit: LatencyLimit,
    /// Highest rate to try, in transactions per second.
    pub highest: f64,
    /// Requested precision of the capacity, as a share of it.
    pub precision: f64,
    /// Number of sessions that share the arrivals.
    pub sessions: u32,
    /// Default lengths of ramp-up and window.
    lengths: [(&'static str, Duration); 2],
    /// Length of the window of the long probe; `None` if a probe ends by another rule than its
    /// length.
    long: Option<Duration>,
}

impl CapacityRequest {
    /// Reads the parameters from the settings.
    ///
    /// # Errors
    /// When the limit is missing or a value is invalid.
    pub fn read(
        settings: &mut Settings,
        workload: &Description,
        target: &Target,
    ) -> Result<Self, SpecError> {
        let types = &workload.transactions;
        let Some(limit) = settings.optional(
            "limit",
            |text| LatencyLimit::parse(text, types),
            LatencyLimit::to_string,
            "",
        )?
        else {
            return Err(SpecError::new(format!(
                "capacity needs a response time limit, such as --limit '{}.p95 < 50ms'",
                types.first().map_or("all", |first| &first.name)
            )));
        };
        let highest = settings.optional("max-rate", parse_rate, f64::to_string, "none")?;
        let precision =
            settings.read("precision", parse_closeness, |share| format!("{}%", share * 100.0))?;
        let capabilities = target.database.capabilities();
        let most = capabilities.users_max.map_or(SESSIONS, |(most, _)| most.min(SESSIONS));
        let sessions = settings
            .count_or("vus", SESSIONS_MAX, || if capabilities.one_writer { 1 } else { most })?;
        let lengths = if target.embedded { lengths(5, 10) } else { lengths(10, 60) };
        let is_of_length = settings.get("until-ci").is_none();
        let long = match is_of_length {
            true => Some(settings.duration_or(lengths[1].0, lengths[1].1)? * LONG),
            false => None,
        };
        let highest = highest.unwrap_or(HIGHEST);
        Ok(Self { limit, highest, precision, sessions, lengths, long })
    }

    fn plan(&self) -> CapacityPlan {
        CapacityPlan {
            first: FIRST.min(self.highest),
            lowest: LOWEST.min(self.highest),
            highest: self.highest,
            precision: self.precision,
            runs_max: PROBES_MAX as usize,
        }
    }
}

/// Ramp-up and window, in seconds.
const fn lengths(rampup: u64, window: u64) -> [(&'static str, Duration); 2] {
    [("rampup", Duration::from_secs(rampup)), ("duration", Duration::from_secs(window))]
}

/// Reads `500`, `500/s`.
fn parse_rate(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix("/s").unwrap_or(text.trim());
    match number.trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() && (LOWEST..=HIGHEST).contains(&rate) => Ok(rate),
        _ => Err(format!("invalid rate `{text}`: expected a rate from {LOWEST}/s to {HIGHEST}/s")),
    }
}

/// The question of a capacity search: which rate to try next.
#[derive(Clone, Debug)]
pub struct Capacity {
    request: CapacityRequest,
    workload: Arc<Description>,
    /// Settings that are fixed for every probe.
    decided: Vec<(String, GivenValue)>,
    /// Seed of the first probe. Each probe has a different seed, so that their random variations
    /// are independent.
    seed: u64,
    search: Search,
    probes: Vec<Probe>,
    failed_runs: Vec<FailedProbe>,
    /// Result of the first run.
    first: Option<Box<RunResult>>,
}

impl Capacity {
    /// A search with nothing run yet.
    ///
    /// # Errors
    /// When the rates are not in order.
    pub fn new(
        request: CapacityRequest,
        workload: &Arc<Description>,
        settings: &mut Settings,
    ) -> Result<Self, SpecError> {
        let seed = settings.parse("seed")?;
        let search =
            Search::new(request.plan()).map_err(|error| SpecError::new(error.to_string()))?;
        let mut decided = vec![("vus".to_owned(), GivenValue::from(request.sessions))];
        for (name, value) in request.lengths {
            if settings.get(name).is_none() {
                decided.push((name.to_owned(), value.into()));
            }
        }
        let (probes, failed_runs) = (Vec::new(), Vec::new());
        let workload = Arc::clone(workload);
        Ok(Self { request, workload, decided, seed, search, probes, failed_runs, first: None })
    }
}

/// A rate to six significant digits: what a load model writes out and reads again.
fn rounded(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 5.0);
    let rounded = (rate / unit).round() * unit;
    // Removes the rounding error of the division by a power of ten.
    (rounded * 1e6).round() / 1e6
}

impl Capacity {
    /// Document of the runs so far; `None` before the first run.
    #[must_use]
    pub fn result(&self, job: Option<JobId>, status: Status) -> Option<CapacityResult> {
        let judgement = match self.search.next() {
            Next::Done(judgement) => {
                Some(triphammer_document::capacity::within_completed(judgement, &self.probes))
            }
            Next::Run { .. } => None,
        };
        let first = self.first.as_deref()?;
        let limit = self.request.limit.clone();
        let (probes, failed_runs) = (self.probes.clone(), self.failed_runs.clone());
        let (judged, failed) = (judgement, failed_runs);
        let result = CapacityResult::new(first, job, status, limit, probes, failed, judged);
        let confirmed = Confirmed {
            belief: self.search.belief(),
            change: self.search.change(),
            long: self.search.long_run(),
        };
        Some(result.confirmed(confirmed))
    }
}

impl JobType for Capacity {
    type Document = CapacityResult;
}

impl Question for Capacity {
    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure> {
        let request = CapacityRequest::read(settings, workload, &targets[0])?;
        Ok(Self::new(request, workload, settings)?)
    }

    fn next(&self) -> Option<PlannedRun> {
        let Next::Run { rate, length } = self.search.next() else { return None };
        let rate = rounded(rate).min(self.request.highest);
        let load = Load::Rate { per_second: rate, constant: false };
        let mut settings = self.decided.clone();
        let long = self.request.long.filter(|long| length > 1 && *long <= DURATION_MAX);
        if let Some(long) = long {
            settings.retain(|(name, _)| name != "duration");
            settings.push(("duration".to_owned(), long.into()));
        }
        settings.push(("load".to_owned(), load.into()));
        let number = u32::try_from(self.probes.len()).unwrap_or(u32::MAX);
        let seed = self.seed.wrapping_add(u64::from(number));
        settings.push(("seed".to_owned(), seed.into()));
        let longer = if long.is_some() { format!(", {LONG} times as long") } else { String::new() };
        let title = format!("{} transactions per second{longer}", figure(rate));
        Some(PlannedRun { number, target: 0, settings, title })
    }

    fn runs(&self) -> Option<u32> {
        None
    }

    fn at_most(&self) -> Option<RunsAtMost> {
        Some(RunsAtMost { runs: PROBES_MAX, windows: PROBES_MAX + LONG - 1 })
    }

    fn report_result(&mut self, step: &PlannedRun, result: &RunResult) {
        let types = &self.workload.transactions;
        let probe = Probe::of(step.number, result, &self.request.limit, types);
        let answer = probe.answer(&self.request.limit);
        self.search.report_result(probe.rate, answer);
        self.probes.push(probe);
        self.first.get_or_insert_with(|| Box::new(result.clone()));
    }

    fn outcome(&self) -> Option<String> {
        Some(self.probes.last()?.words(&self.request.limit))
    }

    fn report_failure(&mut self, step: &PlannedRun, reason: &str) {
        let (step, title) = (step.number, step.title.clone());
        self.failed_runs.push(FailedProbe { step, title, reason: mask_secrets(reason) });
    }

    fn document(&self, job: Option<JobId>, status: Status) -> Option<CapacityResult> {
        self.result(job, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_and_halves_stay_exact() {
        for (rate, round) in
            [(100.0 / 64.0, 1.5625), (1_234.567_89, 1_234.57), (1.0, 1.0), (99.999_99, 100.0)]
        {
            assert_eq!(rounded(rate), round);
        }
    }

    #[test]
    fn rates_are_read_with_and_without_their_unit() {
        assert_eq!(parse_rate("500/s"), Ok(500.0));
        assert_eq!(parse_rate(" 0.5e3 "), Ok(500.0));
        for text in ["", "fast", "0", "-1", "1e9", "inf", "NaN"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
