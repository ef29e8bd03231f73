//! How good a result is: verification, requirements, steadiness, bottleneck, and what a summary says
//! of them.

use triphammer_document::judgement::Judgement;
use triphammer_document::result::{
    Audit, Elasticity, RunResult, Steadiness, Steady, StepCause, Verdict,
};
use triphammer_document::unit::FigureUnit;
use triphammer_settings::format::{counted, figure, milliseconds, percent};

use super::answers::answers_in_short;
use super::shown;
use crate::lines::{DOT, whole_milliseconds};
use crate::{costs, nodes, observed, queries};

/// Formats the verification: `verified: the database counts the same`.
pub(crate) fn verification(result: &RunResult) -> String {
    let verification = &result.primary_metric.verification;
    format!("{}: {}", verification.verdict.label(), verification.words)
}

/// Further entries of a summary: name, text, and whether it is a problem.
pub(crate) fn in_short(result: &RunResult) -> Vec<(&'static str, String, bool)> {
    if let Some(set) = &result.queries {
        let mut rows = vec![
            ("Work", queries::work(set), false),
            ("Outcome", queries::outcome(set), !set.is_good()),
        ];
        rows.extend(first_answer(result));
        rows.extend(costs::rows(result));
        rows.extend(first_warning(result));
        return rows;
    }
    let times = &shown(result).0.total.response;
    let mut rows = Vec::new();
    if times.count > 0 {
        let [p50, p95, p99] = [times.p50_us, times.p95_us, times.p99_us].map(whole_milliseconds);
        let max = whole_milliseconds(times.max_us);
        let text = format!("p50 {p50} ms{DOT}p95 {p95} ms{DOT}p99 {p99} ms{DOT}max {max} ms");
        rows.push(("Response time", text, false));
    }
    rows.extend(first_answer(result));
    let mut failed = failures(result);
    // Above the limit, the first lines of the summary have the error.
    if let Some(error) = result.errors.first().filter(|_| !result.failures.above_limit) {
        failed.push_str(&format!("; {}: {}", error.class.label(), error.message));
    }
    rows.push(("Failures", failed, result.failures.above_limit));
    rows.extend(result.replay.iter().map(|of| {
        let (text, is_bad) = answers_in_short(of);
        ("Answers", text, is_bad)
    }));
    rows.extend(nodes::in_short(result).map(|text| ("Nodes", text, false)));
    rows.extend(audits_in_short(result));
    if let Some(steadiness) = judged_steadiness(result) {
        let first = steadiness.words.split(DOT).next().unwrap_or_default();
        // Of a window that is too short, what to do says more than why.
        let short = steadiness.verdict == Steady::TooShort;
        let first = steadiness.next.as_deref().filter(|_| short).unwrap_or(first);
        rows.push((STEADINESS, format!("{} — {first}", steady(steadiness.verdict)), false));
    } else if let Some(why) = not_judged(result) {
        rows.push((STEADINESS, why, false));
    }
    rows.push((LIMITED_BY, result.bottleneck.title(), false));
    rows.extend(costs::rows(result));
    rows.extend(first_warning(result));
    let hidden = result.observed.as_ref().and_then(observed::hidden);
    rows.extend(hidden.map(|hidden| (observed::NOT_OBSERVED, hidden, false)));
    rows
}

/// The first answer after a pause.
fn first_answer(result: &RunResult) -> Option<(&'static str, String, bool)> {
    result.first_answer.as_ref().map(|first| (PAUSE, first.words.clone(), false))
}

/// The first audit that is violated, or how many are not.
fn audits_in_short(result: &RunResult) -> Option<(&'static str, String, bool)> {
    let violated = result.audits.iter().find(|audit| audit.verdict == Verdict::Violated);
    if let Some(audit) = violated {
        return Some(("Audits", format!("{} violated: {}", audit.title, audit.words), true));
    }
    let all = result.audits.len();
    let is_verified = |audit: &&Audit| audit.verdict != Verdict::NotCounted;
    let verified = result.audits.iter().filter(is_verified).count();
    (all > 0).then(|| ("Audits", format!("{verified} of {all} verified"), false))
}

/// Number of warnings, and the first.
fn first_warning(result: &RunResult) -> Option<(&'static str, String, bool)> {
    let first = result.warnings.first()?;
    let count = counted(result.warnings.len() as u64, "warnings");
    Some(("Warnings", format!("{count}; the first: {}", first.text), false))
}

/// Title of the section on audits.
pub(crate) const AUDITS: &str =
    "Audits of the whole run: changes in the data against the client's own sums";

/// The audits: verdict, and equation with its sums.
pub(crate) fn audits(result: &RunResult) -> impl Iterator<Item = (Verdict, String)> {
    result.audits.iter().map(|audit| (audit.verdict, format!("{}: {}", audit.title, audit.words)))
}

/// Title of the section on requirements.
pub(crate) const REQUIREMENTS: &str = "Requirements";

/// The requirements: whether each passed, and its value with the distance from the limit.
pub(crate) fn requirements(result: &RunResult) -> impl Iterator<Item = (bool, [String; 3])> {
    result.requirements.iter().map(|judged| {
        let value = judged.value.map_or_else(|| "none".to_owned(), |v| in_unit(judged.unit, v));
        (judged.passed, [judged.requirement.clone(), value, distance(judged)])
    })
}

/// Formats the outcome of a requirement: `pass` or `FAIL`.
pub(crate) const fn verdict(passed: bool) -> &'static str {
    if passed { "pass" } else { "FAIL" }
}

/// Formats the distance from the limit: `2.3 ms (23 %) above`.
fn distance(judged: &Judgement) -> String {
    let Some(difference) = judged.difference else {
        return "not measured in this run".to_owned();
    };
    if difference.abs() < f64::EPSILON {
        return "at the limit".to_owned();
    }
    let side = if difference > 0.0 { "above" } else { "below" };
    let by = in_unit(judged.unit, difference.abs());
    match judged.limit {
        limit if limit > 0.0 => format!("{by} ({}) {side}", percent(difference.abs() / limit)),
        _ => format!("{by} {side}"),
    }
}

/// Formats a value of a requirement in its unit.
pub(crate) fn in_unit(unit: FigureUnit, value: f64) -> String {
    match unit {
        FigureUnit::Number => figure(value),
        FigureUnit::Share => percent(value),
        FigureUnit::Us => format!("{} ms", milliseconds(value)),
    }
}

/// Label of the bottleneck.
pub(crate) const LIMITED_BY: &str = "Limited by";

/// `the network — 1.00 round trips of 10.2 ms are 91 % of the mean service time of 11.2 ms`.
pub(crate) fn bottleneck(result: &RunResult) -> String {
    format!("{} — {}", result.bottleneck.title(), result.bottleneck.words)
}

/// Label of the steadiness.
pub(crate) const STEADINESS: &str = "Steadiness";
/// Heading of how much another run would differ.
pub(crate) const ANOTHER: &str = "Another run";
/// Heading of the first answer after a pause.
pub(crate) const PAUSE: &str = "Pause";

/// The steadiness of the window; `None` if it had no seconds or steadiness does not apply.
pub(crate) fn judged_steadiness(result: &RunResult) -> Option<&Steadiness> {
    result.steadiness.as_ref().filter(|steadiness| steadiness.seconds > 0)
}

/// Why steadiness was not judged, of a run that had a window.
pub(crate) fn not_judged(result: &RunResult) -> Option<String> {
    let is_of_load = |elasticity: &Elasticity| {
        let mut steps = elasticity.steps.iter();
        result.nodes.is_empty() || steps.any(|step| step.what != StepCause::Nodes)
    };
    let changes = result.spec.changes() || result.elasticity.as_ref().is_some_and(is_of_load);
    let is_changing = result.steadiness.is_none() && changes;
    is_changing.then(|| "not judged, because the load itself changes".to_owned())
}

/// Formats the steadiness: `steady — the mean is known to ± 0.52 % (95 %) · seconds vary by 3.1 % ·
/// …`.
pub(crate) fn steadiness(of: &Steadiness) -> String {
    format!("{} — {}", steady(of.verdict), of.words)
}

/// Name of a verdict.
const fn steady(verdict: Steady) -> &'static str {
    match verdict {
        Steady::Steady => "steady",
        Steady::WithinWindow => "steady within the window",
        Steady::Drifting => "drifting",
        Steady::TooShort => "too short to say",
    }
}

/// Formats `0.2 % failed or in doubt (limit 1 %)`.
pub(crate) fn failures(result: &RunResult) -> String {
    format!(
        "{} failed or in doubt (limit {})",
        percent(result.failures.share),
        percent(result.failures.limit)
    )
}
