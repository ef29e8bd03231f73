//! The part of reports about the reactions to steps of the load.

use triphammer_core::pace::LoadValue;
use triphammer_document::result::{RunResult, StepCause, StepReaction};
use triphammer_settings::format::{clock, figure, percent};

use super::table::Table;

/// Heading of the table of reactions.
pub(super) const REACTIONS: &str = "Reactions to steps of the load, in s after each";
/// What the columns are.
pub(super) const MEANING: &str = "50, 95 and 100 %: when throughput was at that share of the new \
                                  rate; times: when response times (p95) were back within their \
                                  own spread; late: the most that waited beyond the new level's \
                                  wait, and its sum over the seconds (-: not before the next step)";

/// Formats `100 → 400/s`, `8 → 16 users`, `3 → 2 nodes`.
fn change(step: &StepReaction) -> String {
    let unit = match step.what {
        StepCause::Rate => "/s",
        StepCause::Users => " users",
        StepCause::Mix => "",
        StepCause::Nodes => " nodes",
    };
    let [from, to] = [&step.from, &step.to].map(|value| match value {
        LoadValue::Number(rate) if step.what == StepCause::Rate => figure(*rate),
        // Users and nodes are whole.
        whole => whole.to_string(),
    });
    format!("{from} → {to}{unit}")
}

/// The table of reactions; `None` if the load had no steps that were long enough.
pub(super) fn table(result: &RunResult) -> Option<Table> {
    let steps = &result.elasticity.as_ref()?.steps;
    if steps.is_empty() {
        return None;
    }
    let head = ["at", "load", "50 %", "95 %", "100 %", "times", "late", "late × s", "overshoot"];
    let mut table = Table::new(2, &head);
    let seconds = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |s| format!("{s:.0}"));
    for step in steps {
        table.row(vec![
            clock(step.at_s),
            change(step),
            seconds(step.half_s),
            seconds(step.most_s),
            seconds(step.full_s),
            seconds(step.response_s),
            figure(step.late),
            figure(step.late_s),
            percent(step.overshoot),
        ]);
    }
    Some(table)
}
