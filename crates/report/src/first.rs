//! The first lines of a report: failures, how the run ended, and outages.

use triphammer_document::parts::Status;
use triphammer_document::result::RunResult;
use triphammer_settings::format::{clock, figure, percent};

/// Returns the lines, the most important first; none for a run without problems.
pub(super) fn lines(result: &RunResult) -> Vec<String> {
    let all = [failing(result), result.ending.detail.clone(), unmet(result), outages(result)];
    all.into_iter().flatten().collect()
}

/// The lines of a summary, which has its requirements at its end.
pub(super) fn in_short(result: &RunResult) -> Vec<String> {
    [failing(result), result.ending.detail.clone(), outages(result)].into_iter().flatten().collect()
}

/// Formats `NOPM 0, 100 % failed: relation "stock" does not exist`.
fn failing(result: &RunResult) -> Option<String> {
    let failures = &result.failures;
    if !failures.above_limit {
        return None;
    }
    let conflict = |class: triphammer_core::ErrorClass| class.is_retryable();
    let most = result.errors.iter().max_by_key(|error| (!conflict(error.class), error.count));
    let error = most.map_or(String::new(), |error| format!(": {}", error.message));
    let primary_metric = &result.primary_metric;
    let (value, share) = (figure(primary_metric.value), percent(failures.share));
    Some(format!("{} {value}, {share} failed{error}", primary_metric.name))
}

/// Formats `complete, requirements failed: nopm >= 50000`.
fn unmet(result: &RunResult) -> Option<String> {
    let unmet = result.requirements.iter().filter(|judged| !judged.passed);
    let unmet: Vec<_> = unmet.map(|judged| judged.requirement.as_str()).collect();
    let how = match result.status {
        Status::Complete => "complete, requirements failed",
        _ => "requirements failed",
    };
    (!unmet.is_empty()).then(|| format!("{how}: {}", unmet.join(", ")))
}

/// Formats `no service from 0:08 to 0:13`.
fn outages(result: &RunResult) -> Option<String> {
    let outages = result.availability.outages.iter();
    let all: Vec<_> =
        outages.map(|o| format!("from {} to {}", clock(o.from_s), clock(o.until_s))).collect();
    (!all.is_empty()).then(|| format!("no service {}", all.join(", ")))
}
