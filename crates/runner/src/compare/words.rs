//! What a comparison says, in words: the verdict, what would settle it, and what makes it doubtful.

use triphammer_statistics::Interval;
use triphammer_statistics::compare::{Basis, Comparison, More, Verdict};

use super::document::{ComparisonResult, Side};
use super::facts::{Difference, Facts, Subject};
use crate::report::format::{counted, duration, precise};
use crate::result::{Bottleneck, Steady, Warning};

/// Differences of schemas that the warning names; all stand among the differences.
const SCHEMA_TOLD: usize = 5;

/// The word of a verdict.
#[must_use]
pub const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Equivalent => "equivalent",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Inconclusive { .. } => "inconclusive",
    }
}

/// `0.949 (0.938 to 0.961)`.
#[must_use]
pub(crate) fn ratio(ratio: f64, interval: Interval) -> String {
    format!("{ratio:.3} ({:.3} to {:.3})", interval.low, interval.high)
}

/// About how many minutes of measuring what is missing takes, with runs of `each_s` and rests between.
pub(super) fn more_minutes(verdict: Verdict, each_s: Option<f64>, cool_down_s: f64) -> Option<f64> {
    let Verdict::Inconclusive { more: Some(more) } = verdict else { return None };
    #[expect(clippy::cast_precision_loss, reason = "a guess at minutes")]
    let seconds = match more {
        More::Pairs { pairs } => 2.0 * f64::from(pairs) * (each_s? + cool_down_s),
        More::Runs { runs } => 2.0 * f64::from(runs) * (each_s? + cool_down_s),
        More::Points { points } => 2.0 * points as f64,
    };
    Some(seconds / 60.0)
}

/// The verdict with its figures.
pub(super) fn verdict(result: &ComparisonResult) -> String {
    let Some(figure) = result.figures.first() else {
        return "inconclusive: there is nothing to compare".to_owned();
    };
    let Some(comparison) = figure.comparison else {
        let reason = figure.reason.as_deref().unwrap_or("there is no interval");
        return format!("inconclusive: {reason}");
    };
    let said = ratio(comparison.ratio, comparison.interval);
    let margin = precise(result.margin);
    let ratio = format!("{} of B over A is {said}", figure.title);
    match result.verdict {
        Verdict::Equivalent => format!("equivalent: {ratio}, all of it within ± {margin}"),
        Verdict::Slower => format!("B is slower: {ratio}, beyond ± {margin}"),
        Verdict::Faster => format!("B is faster: {ratio}, beyond ± {margin}"),
        Verdict::Inconclusive { more } => {
            format!(
                "inconclusive: {ratio}, margin ± {margin}; {}",
                settle(result, &comparison, more)
            )
        }
    }
}

/// What would settle it.
fn settle(result: &ComparisonResult, comparison: &Comparison, more: Option<More>) -> String {
    let minutes = result.more_minutes.map_or_else(String::new, |minutes| {
        format!(", about {}", duration(minutes.ceil().max(1.0) * 60.0))
    });
    match more {
        None if matches!(comparison.basis, Basis::Series { .. }) => {
            "that interval holds only what differs within a run, and one run of each cannot show how much \
             runs differ"
                .to_owned()
        }
        None => "no reasonable number of runs would settle it".to_owned(),
        Some(More::Pairs { .. }) if result.profiles.is_some() => {
            "profiles with more levels or repeats would tell more".to_owned()
        }
        Some(More::Pairs { pairs }) => {
            format!("{} would settle it{minutes}", counted(u64::from(pairs), "more pairs"))
        }
        Some(More::Runs { runs }) => {
            format!("{} of each would settle it{minutes}", counted(u64::from(runs), "more runs"))
        }
        Some(More::Points { points }) => {
            let now = match comparison.basis {
                Basis::Series { a, b } => a.max(b),
                Basis::Pairs { .. } | Basis::Runs { .. } => 0,
            };
            format!("windows of about {} s in both runs would settle it{minutes}", now + points)
        }
    }
}

/// What should be known before the verdict is used.
pub(super) fn warnings(result: &ComparisonResult, facts: &[Facts; 2]) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut warn = |kind: &str, text: String, next: Option<&str>| {
        let (kind, next) = (kind.to_owned(), next.map(str::to_owned));
        found.push(Warning { kind, text, next });
    };
    for difference in result.differences.iter().filter(|difference| difference.must_be_equal) {
        warn("not_equal", not_equal(difference), Some("compare runs of the same work and data"));
    }
    let basis = result.figures.first().and_then(|figure| figure.comparison).map(|c| c.basis);
    if let Some(Basis::Series { .. }) = basis {
        warn(
            "one_run_each",
            "one run of each: what differs from run to run is not in the intervals, so they are narrower \
             than they should be, and decide nothing"
                .to_owned(),
            Some("compare labels with several runs each, or pairs (`compare --ab`)"),
        );
    }
    if let Some(text) = of_schema(&result.differences) {
        warn("schema", text, Some("plans may differ for that alone: make both sides alike"));
    }
    for (name, side, facts) in [("A", &result.a, &facts[0]), ("B", &result.b, &facts[1])] {
        let mixed: Vec<String> =
            facts.mixed().map(|(name, values)| format!("{name} ({values})")).collect();
        if !mixed.is_empty() {
            let text = format!("the runs of {name} differ among themselves: {}", mixed.join(", "));
            warn("mixed", text, Some("give runs that differ labels that differ"));
        }
        of_side(name, side, &mut warn);
    }
    if let Some(profiles) = result.profiles.as_ref().filter(|both| !both.left_out.is_empty()) {
        let users: Vec<String> = profiles.left_out.iter().map(u32::to_string).collect();
        let text = format!("only one side has the levels {}: they are left out", users.join(", "));
        warn("levels", text, None);
    }
    if let Some(pairs) = result.pairs.as_ref().filter(|pairs| pairs.made < pairs.asked) {
        let text = format!("{} of {} pairs were made", pairs.made, pairs.asked);
        warn("pairs_missing", text, pairs.failed_runs.first().map(|run| run.reason.as_str()));
    }
    found
}

/// The tables, indexes and constraints that differ, and statistics that one side lacks.
fn of_schema(differences: &[Difference]) -> Option<String> {
    let told = |difference: &Difference| {
        let (of, a, b) = (&difference.name, difference.a.as_deref(), difference.b.as_deref());
        match (difference.subject, a, b) {
            (Subject::Schema, _, None) => Some(format!("{of} is missing in B")),
            (Subject::Schema, None, _) => Some(format!("{of} is missing in A")),
            (Subject::Schema, ..) => Some(format!("{of} is not the same")),
            (Subject::Statistics, _, Some("never")) => {
                Some(format!("statistics of {of} were never gathered in B"))
            }
            (Subject::Statistics, Some("never"), _) => {
                Some(format!("statistics of {of} were never gathered in A"))
            }
            _ => None,
        }
    };
    let all: Vec<String> = differences.iter().filter_map(told).collect();
    let shown = all.iter().take(SCHEMA_TOLD).cloned().collect::<Vec<_>>().join("; ");
    match all.len() {
        0 => None,
        count if count > SCHEMA_TOLD => Some(format!("{shown}; {} more", count - SCHEMA_TOLD)),
        _ => Some(shown),
    }
}

fn not_equal(difference: &Difference) -> String {
    let of = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let (a, b) = (of(&difference.a), of(&difference.b));
    format!("the {} of the workload is not the same: {a} with A, {b} with B", difference.name)
}

/// What the runs of a side say against themselves.
fn of_side(name: &str, side: &Side, warn: &mut impl FnMut(&str, String, Option<&str>)) {
    let runs = counted(side.runs.len() as u64, "runs");
    let bad: Vec<String> = side
        .runs
        .iter()
        .filter(|run| !run.good)
        .filter_map(|run| run.job)
        .map(|n| n.to_string())
        .collect();
    if side.runs.iter().any(|run| !run.good) {
        let jobs =
            if bad.is_empty() { String::new() } else { format!(" (job {})", bad.join(", ")) };
        let text = format!("not all runs of {name} did what they were to do{jobs}");
        warn("bad_run", text, Some("`triphammer report` of one says why"));
    }
    let drifting = side.runs.iter().filter(|run| run.steady == Some(Steady::Drifting)).count();
    if drifting > 0 {
        let text = format!("{drifting} of the {runs} of {name} drifted in their window");
        warn("drifting", text, Some("ramp up longer, or make the windows longer"));
    }
    for (limit, what) in [
        (
            Bottleneck::Load,
            "by the load: its throughput is what was offered, or that of too few users, and more \
             would tell more",
        ),
        (
            Bottleneck::Client,
            "by the client: its throughput says more of this program than of the database",
        ),
    ] {
        let of_them = side.runs.iter().filter(|run| run.bottleneck == limit).count();
        if of_them * 2 > side.runs.len() {
            warn("limited", format!("{name} was limited {what}"), None);
        }
    }
}
