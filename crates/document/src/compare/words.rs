//! A comparison in words: the verdict, what would decide it, and warnings.

use triphammer_settings::format::{counted, duration, precise};
use triphammer_statistics::Interval;
use triphammer_statistics::compare::{Basis, Comparison, More, Verdict};

use super::document::{ComparisonResult, Pairing, Side, SideRun};
use super::facts::{Difference, Facts, Subject};
use super::figures::mean;
use super::host_setting::HostSetting;
use crate::result::{Bottleneck, Steady, Warning};

/// Maximum number of schema differences named in the warning; `differences` has all of them.
const SCHEMA_TOLD: usize = 5;
/// Maximum number of conditions named in the warning about runs with different conditions.
const MIXED_TOLD: usize = 5;
/// Maximum length of the values of such a condition, in characters.
const VALUES_LENGTH: usize = 60;

/// Name of a verdict.
#[must_use]
pub const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Equivalent => "equivalent",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Inconclusive { .. } => "inconclusive",
    }
}

/// Formats a ratio with its interval: `0.949 (0.938 to 0.961)`.
#[must_use]
pub fn ratio(ratio: f64, interval: Interval) -> String {
    // Beyond a factor of 1,000, an end says nothing more.
    let three = |value: f64| match value {
        value if value < 0.001 => "<0.001".to_owned(),
        value if value < 100.0 => format!("{value:.3}"),
        value if value <= 1_000.0 => format!("{value:.0}"),
        _ => ">1,000".to_owned(),
    };
    format!("{} ({} to {})", three(ratio), three(interval.low), three(interval.high))
}

/// Estimates the minutes of measurements still needed, with runs of `each_s` seconds and pauses
/// between them.
pub(super) fn more_minutes(
    verdict: Verdict,
    each_s: Option<f64>,
    pairs: Option<&Pairing>,
) -> Option<f64> {
    let cool_down_s = pairs.map_or(0.0, |pairs| pairs.cool_down_s);
    let blocks = pairs.and_then(|pairs| pairs.at_once.as_ref()).map(|at_once| &at_once.blocks);
    #[expect(clippy::cast_precision_loss, reason = "a guess at minutes")]
    let block_s = blocks.map(|blocks| {
        blocks.iter().map(|block| block.seconds).sum::<u64>() as f64 / blocks.len().max(1) as f64
    });
    let Verdict::Inconclusive { more: Some(more) } = verdict else { return None };
    #[expect(clippy::cast_precision_loss, reason = "a guess at minutes")]
    let seconds = match more {
        More::Pairs { pairs } => 2.0 * f64::from(pairs) * (each_s? + cool_down_s),
        More::Runs { runs } => 2.0 * f64::from(runs) * (each_s? + cool_down_s),
        More::Points { points } => 2.0 * points as f64,
        More::Blocks { blocks } => block_s? * blocks as f64,
    };
    Some(seconds / 60.0)
}

/// Describes the verdict with its figures.
pub(super) fn verdict(result: &ComparisonResult) -> String {
    let Some(figure) = result.figures.first() else {
        return "inconclusive: there is nothing to compare".to_owned();
    };
    let Some(comparison) = figure.comparison else {
        let reason = figure.reason.as_deref().unwrap_or("there is no confidence interval");
        return format!("inconclusive: {reason}");
    };
    let ratio_words = ratio(comparison.ratio, comparison.interval);
    let margin = precise(result.margin);
    let ratio = match &result.profiles {
        None => format!("{} B/A is {ratio_words}", figure.title),
        Some(profiles) => {
            let levels = [Verdict::Slower, Verdict::Faster].map(|which| profiles.named(which));
            let levels = levels.concat();
            let of_all = format!("{ratio_words} over all levels");
            let parts = levels.into_iter().chain([of_all]).collect::<Vec<_>>().join(", ");
            format!("{} B/A is {parts}", figure.title)
        }
    };
    match result.verdict {
        Verdict::Equivalent => format!("equivalent: {ratio}, entirely within ± {margin}"),
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

/// Describes what would decide the comparison.
fn settle(result: &ComparisonResult, comparison: &Comparison, more: Option<More>) -> String {
    let minutes = result.more_minutes.map_or_else(String::new, |minutes| {
        format!(", about {}", duration(minutes.ceil().max(1.0) * 60.0))
    });
    match more {
        _ if result.profiles.is_some() => {
            "more pairs of each level (--pairs) narrow the intervals, of which all have to hold"
                .to_owned()
        }
        None if matches!(comparison.basis, Basis::Series { .. }) => {
            "the interval covers only the variation within a run; one run of each cannot show how \
             much runs vary"
                .to_owned()
        }
        None if matches!(comparison.basis, Basis::Blocks { .. }) => match contention(result) {
            Some(words) => format!("{words}; --interleave lets one side work at a time"),
            None => "no practical length would decide it".to_owned(),
        },
        None => "no practical number of runs would decide it".to_owned(),
        Some(More::Pairs { pairs }) => {
            format!("{} would decide it{minutes}", counted(u64::from(pairs), "more pairs"))
        }
        Some(More::Runs { runs }) => {
            format!("{} of each would decide it{minutes}", counted(u64::from(runs), "more runs"))
        }
        Some(More::Points { points }) => {
            let now = match comparison.basis {
                Basis::Series { a, b } => a.max(b),
                Basis::Pairs { .. } | Basis::Runs { .. } | Basis::Blocks { .. } => 0,
            };
            format!("windows of about {} s in both runs would decide it{minutes}", now + points)
        }
        Some(More::Blocks { blocks }) => format!(
            "{} would decide it{minutes}: use a longer --duration",
            counted(blocks as u64, "more blocks")
        ),
    }
}

/// Why a duet measures contention, if it does.
fn contention(result: &ComparisonResult) -> Option<&str> {
    let contention = result.pairs.as_ref()?.at_once.as_ref()?.contention.as_ref()?;
    contention.is_dominant.then_some(contention.words.as_str())
}

/// Warnings to read before using the verdict.
pub(super) fn warnings(result: &ComparisonResult, facts: &[Facts; 2]) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut warn = |kind: &str, text: String, next: Option<&str>| {
        let (kind, next) = (kind.to_owned(), next.map(str::to_owned));
        found.push(Warning { kind, text, next });
    };
    if let Some(text) = of_state(result, facts) {
        let next = "restore the same state before each run (--restore copy=NAME)";
        warn("state", text, Some(next));
    }
    for difference in result.differences.iter().filter(|difference| difference.must_be_equal) {
        warn("not_equal", not_equal(difference), Some("compare runs of the same work and data"));
    }
    if let Some(words) = contention(result) {
        let next = "use compare --ab --interleave 10s, or give each side hardware of its own";
        warn("contention", words.to_owned(), Some(next));
    }
    let basis = result.figures.first().and_then(|figure| figure.comparison).map(|c| c.basis);
    if let Some(Basis::Series { .. }) = basis {
        warn(
            "one_run_each",
            "only one run of each: the intervals do not include the variation between runs, so \
             they are too narrow to decide anything"
                .to_owned(),
            Some("compare labels with several runs each, or run pairs (`compare --ab`)"),
        );
    }
    if let Some(text) = of_schema(&result.differences) {
        warn(
            "schema",
            text,
            Some("this alone can change query plans: use the same schema on both sides"),
        );
    }
    if let Some(text) = of_plans(&result.differences) {
        warn("plan", text, None);
    }
    if let Some(text) = one_after_the_other(result, basis) {
        warn("one_after_the_other", text, Some("make pairs of runs (`compare --ab`)"));
    }
    for (name, side, facts) in [("A", &result.a, &facts[0]), ("B", &result.b, &facts[1])] {
        if let Some(mixed) = of_mixed(facts) {
            let text = format!("the runs of {name} do not have the same conditions: {mixed}");
            warn("mixed", text, Some("give runs with different conditions different labels"));
        }
        of_side(name, side, &mut warn);
        // What drifts in both runs at once is in both sides of every block.
        if result.pairs.as_ref().is_none_or(|pairs| pairs.at_once.is_none()) {
            steadiness(name, side, &mut warn);
        }
    }
    if let Some(text) = of_levels(result) {
        warn("levels", text, None);
    }
    if let Some(pairs) = result.pairs.as_ref().filter(|pairs| pairs.made < pairs.asked) {
        let text = format!("only {} of {} pairs were completed", pairs.made, pairs.asked);
        warn("pairs_missing", text, pairs.failed_runs.first().map(|run| run.reason.as_str()));
    }
    found
}

/// Warns of plans that changed.
fn of_plans(differences: &[Difference]) -> Option<String> {
    let plans = differences.iter().filter(|difference| difference.subject == Subject::Plan);
    let plans: Vec<&str> = plans.map(|difference| difference.name.as_str()).collect();
    match plans.as_slice() {
        [] => None,
        [one] => Some(format!("the plan of {one} changed")),
        many => Some(format!("the plans of {} changed", many.join(", "))),
    }
}

/// Lists the conditions that the runs of one side do not share.
fn of_mixed(facts: &Facts) -> Option<String> {
    let mixed: Vec<String> =
        facts.mixed().map(|(name, values)| format!("{name} ({})", clipped(&values))).collect();
    let shown = mixed.iter().take(MIXED_TOLD).cloned().collect::<Vec<_>>().join(", ");
    match mixed.len().saturating_sub(MIXED_TOLD) {
        _ if mixed.is_empty() => None,
        0 => Some(shown),
        more => Some(format!("{shown} and {more} more")),
    }
}

/// Warns of levels of users that only one profile has.
fn of_levels(result: &ComparisonResult) -> Option<String> {
    let profiles = result.profiles.as_ref()?;
    let users: Vec<String> = profiles.left_out.iter().map(u32::to_string).collect();
    match users.as_slice() {
        [] => None,
        [one] => Some(format!("only one side has the level {one}: it is ignored")),
        all => Some(format!("only one side has the levels {}: they are ignored", all.join(", "))),
    }
}

/// Warns where all runs of one side were made before all of the other: what changed in between
/// then counts as a difference.
fn one_after_the_other(result: &ComparisonResult, basis: Option<Basis>) -> Option<String> {
    let Some(Basis::Runs { .. }) = basis else { return None };
    let ends = |side: &Side| {
        let started = || side.runs.iter().map(|run| run.started_at.as_str());
        Some((started().min()?.to_owned(), started().max()?.to_owned()))
    };
    let ((first_a, last_a), (first_b, last_b)) = (ends(&result.a)?, ends(&result.b)?);
    let (early, late) = match (last_a < first_b, last_b < first_a) {
        (true, _) => ("A", "B"),
        (_, true) => ("B", "A"),
        _ => return None,
    };
    Some(format!(
        "all runs of {early} were made before all runs of {late}: a change of the host or of the \
         data in between looks like a difference, and the interval does not contain it"
    ))
}

/// Warns where runs began from different states of the data.
fn of_state(result: &ComparisonResult, facts: &[Facts; 2]) -> Option<String> {
    let is_mixed = |facts: &Facts| facts.states().any(|states| states.len() > 1);
    let differ = result.differences.iter().any(|difference| difference.subject == Subject::State);
    let what = match facts.each_ref().map(is_mixed) {
        [true, true] => "the runs of A and those of B",
        [true, false] => "the runs of A",
        [false, true] => "the runs of B",
        [false, false] if differ => {
            return Some("A and B began from different states of the data".to_owned());
        }
        [false, false] => return None,
    };
    Some(format!("{what} began from different states of the data"))
}

/// The start of a text that may be as long as the definition of a table.
fn clipped(text: &str) -> String {
    match text.char_indices().nth(VALUES_LENGTH) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Describes tables, indexes and constraints that differ, and missing statistics.
fn of_schema(differences: &[Difference]) -> Option<String> {
    let described = |difference: &Difference| {
        let (of, a, b) = (&difference.name, difference.a.as_deref(), difference.b.as_deref());
        match (difference.subject, a, b) {
            (Subject::Schema, _, None) => Some(format!("{of} is missing in B")),
            (Subject::Schema, None, _) => Some(format!("{of} is missing in A")),
            (Subject::Schema, ..) => Some(format!("{of} differs")),
            (Subject::Statistics, _, Some("never")) => {
                Some(format!("statistics of {of} were never gathered in B"))
            }
            (Subject::Statistics, Some("never"), _) => {
                Some(format!("statistics of {of} were never gathered in A"))
            }
            _ => None,
        }
    };
    let all: Vec<String> = differences.iter().filter_map(described).collect();
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
    format!("the {} of the workload differs: {a} in A, {b} in B", difference.name)
}

/// Adds warnings about the runs of a side.
fn of_side(name: &str, side: &Side, warn: &mut impl FnMut(&str, String, Option<&str>)) {
    let bad: Vec<String> = side
        .runs
        .iter()
        .filter(|run| !run.good)
        .filter_map(|run| run.job)
        .map(|n| n.to_string())
        .collect();
    if side.runs.iter().any(|run| !run.good) {
        let jobs = match bad.as_slice() {
            [] => String::new(),
            [one] => format!(" (job {one})"),
            several => format!(" (jobs {})", several.join(", ")),
        };
        let text = format!("not all runs of {name} were successful{jobs}");
        warn("bad_run", text, Some("`triphammer report` of one of them shows why"));
    }
    for (limit, what) in [
        (
            Bottleneck::Load,
            "by the load: its throughput is what was offered, or that of too few users; increase \
             the load",
        ),
        (
            Bottleneck::Client,
            "by the client: its throughput reflects this program more than the database",
        ),
    ] {
        let of_them = side.runs.iter().filter(|run| run.bottleneck == limit).count();
        if of_them * 2 > side.runs.len() {
            warn("limited", format!("{name} was limited {what}"), None);
        }
    }
}

/// Adds warnings about runs of a side that do not show their level.
fn steadiness(name: &str, side: &Side, warn: &mut impl FnMut(&str, String, Option<&str>)) {
    let drifting = side.runs.iter().filter(|run| run.steady == Some(Steady::Drifting)).count();
    if drifting > 0 {
        let text = match side.runs.len() {
            1 => format!("the run of {name} drifted in its window"),
            all => format!("{drifting} of the {all} runs of {name} drifted in their windows"),
        };
        warn("drifting", text, Some("use a longer --rampup, or longer windows"));
    }
    if let [run] = side.runs.as_slice()
        && run.steady == Some(Steady::WithinWindow)
    {
        let text = format!(
            "the run of {name} is steady only within its window, which is too short to contain two \
             periods of what the server does on a schedule, or rare events: its mean is not that of \
             the level"
        );
        let next = "use a longer --duration; the report of the run says how long";
        warn("within_window", text, Some(next));
    }
}

/// What a setting of the host is worth by a comparison of two of its values.
pub(super) fn host_setting(
    check: &str,
    values: &[String; 2],
    result: &ComparisonResult,
) -> HostSetting {
    let spread = [&result.a, &result.b].map(|side| spread(&side.runs));
    let comparison = result.figures.first().and_then(|figure| figure.comparison);
    let [a, b] = values;
    let mut parts = vec![match comparison {
        Some(Comparison { ratio, interval, .. }) => format!(
            "{check} {b} instead of {a} on this host: {ratio:.3} times the {} ({:.3} to {:.3}, 95 %), {}",
            result.primary_metric.name,
            interval.low,
            interval.high,
            word(result.verdict),
        ),
        None => format!("{check} {a} and {b} on this host: not decided"),
    }];
    if let [Some(of_a), Some(of_b)] = spread {
        let [of_a, of_b] = [of_a, of_b].map(|share| share * 100.0);
        parts.push(format!("the runs vary by {of_a:.1} % with {a} and by {of_b:.1} % with {b}"));
    }
    HostSetting { check: check.to_owned(), values: values.clone(), spread, words: parts.join("; ") }
}

/// Standard deviation of the runs' values relative to their mean.
fn spread(runs: &[SideRun]) -> Option<f64> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let mean = mean(&values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let freedom = values.len() as f64 - 1.0;
    (freedom > 0.0 && mean > 0.0).then(|| (squares / freedom).sqrt() / mean)
}
