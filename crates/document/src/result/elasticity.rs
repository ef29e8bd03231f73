//! How the database reacted to each step of the load, and to nodes that were lost and returned: computed
//! from the seconds of the run, and the rates that were asked for.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::nodes::Change;
use triphammer_core::pace::{Changed, Load, LoadChanged, LoadValue, RateStep};
use triphammer_core::spec::RunSpec;
use triphammer_engine::{NodeChange, RunEnd, Window};
use triphammer_statistics::reaction::{LoadSecond, Reaction, SECONDS_MIN, reaction};

use super::facts::RunFacts;
use crate::second::Second;

/// Reactions to the steps of a load and to changes of the nodes, in order. Steps whose part is shorter than six seconds are
/// omitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elasticity {
    /// The steps.
    pub steps: Vec<StepReaction>,
}

/// What a step changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepCause {
    /// Arrivals per second.
    Rate,
    /// Users at work.
    Users,
    /// Weights of the transaction types.
    Mix,
    /// Nodes of the target that can be reached.
    Nodes,
}

impl From<Changed> for StepCause {
    fn from(what: Changed) -> Self {
        match what {
            Changed::Rate => Self::Rate,
            Changed::Users => Self::Users,
            Changed::Mix => Self::Mix,
        }
    }
}

/// The reaction to a step of the load. Times are in seconds after the step, rounded down; `None` if
/// what they wait for did not happen before the next step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReaction {
    /// When the load changed, or when the run noticed that a node was lost or had returned, in seconds
    /// since the start of the run.
    #[schemars(range(min = 0.0))]
    pub at_s: f64,
    /// How long the new load lasted, in seconds.
    #[schemars(range(min = 0.0))]
    pub lasted_s: f64,
    /// What changed.
    pub what: StepCause,
    /// Arrivals per second, users, weights, or nodes, before.
    pub from: LoadValue,
    /// The same after. A rate is the new level; of all else, the new level is the throughput that was reached.
    pub to: LoadValue,
    /// Mean throughput of the part after the step, in transactions per second.
    #[schemars(range(min = 0.0))]
    pub per_second: f64,
    /// Median over its second half of the response times (95th percentile of a second), in
    /// microseconds; `None` if nothing was completed.
    pub response_us: Option<f64>,
    /// Time until throughput reached 50 % of the new level: at least half of it after a step up, at
    /// most one and a half after a step down.
    pub half_s: Option<f64>,
    /// Time until it reached 95 % of the new level: at least 0.95 or at most 1.05 times that.
    pub most_s: Option<f64>,
    /// Time until it was at the new level, within the level's own spread.
    pub full_s: Option<f64>,
    /// Time until response times (95th percentile) were within their own spread at the new level.
    pub response_s: Option<f64>,
    /// The most transactions that waited at the end of a second, beyond those that wait at the new
    /// level.
    #[schemars(range(min = 0.0))]
    pub late: f64,
    /// Sum over the seconds of what waited beyond that: transactions times seconds.
    #[schemars(range(min = 0.0))]
    pub late_s: f64,
    /// How far throughput went beyond the new level, as a share of it; 0 within its spread.
    #[schemars(range(min = 0.0))]
    pub overshoot: f64,
}

/// A change of the load, or of the nodes.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    what: StepCause,
    at: Duration,
    from: LoadValue,
    to: LoadValue,
}

impl Elasticity {
    /// The reactions of a run; `None` unless its load has steps.
    pub(super) fn of(facts: &RunFacts, end: &RunEnd) -> Option<Self> {
        let mut steps = steps(&facts.spec, &end.load_changes);
        steps.extend(steps_of_nodes(facts.nodes.len(), &end.node_changes));
        steps.sort_by_key(|step| step.at);
        if steps.is_empty() {
            return None;
        }
        let ends = steps[1..].iter().map(|step| step.at).chain([end.window.end.duration()]);
        let ends: Vec<Duration> = ends.collect();
        let reactions = steps.into_iter().zip(ends).filter_map(|(step, until)| {
            let until = until.min(end.window.end.duration());
            of_step(step, until, &facts.load_seconds, end.window)
        });
        Some(Self { steps: reactions.collect() })
    }
}

/// The changes of the load of a run, in order.
fn steps(spec: &RunSpec, changes: &[LoadChanged]) -> Vec<Step> {
    let mut steps = match &spec.load {
        Load::Steps(_) | Load::Changes(_) => changes_of(spec.rampup, &spec.pacing.steps),
        _ => Vec::new(),
    };
    // A rate that is changed by request holds.
    if let Some(first) = changes.iter().find(|change| change.what == Changed::Rate) {
        steps.retain(|step| step.at < first.at.duration());
    }
    let step = |change: &LoadChanged| {
        let LoadChanged { at, what, from, to, .. } = change.clone();
        Step { what: what.into(), at: at.duration(), from, to }
    };
    steps.extend(changes.iter().map(step));
    steps
}

/// The steps of the number of nodes that can be reached. A run begins when it has reached all of them.
fn steps_of_nodes(all: usize, changes: &[NodeChange]) -> Vec<Step> {
    let (mut there, mut steps) = (all, Vec::new());
    for NodeChange { at, change, .. } in changes {
        let before = there;
        there = match change {
            Change::Lost => there.saturating_sub(1),
            Change::Back => there.saturating_add(1).min(all),
            Change::Promoted | Change::Demoted => there,
        };
        if there != before {
            #[expect(clippy::cast_precision_loss, reason = "at most 64 nodes")]
            let [from, to] = [before, there].map(|nodes| LoadValue::Number(nodes as f64));
            steps.push(Step { what: StepCause::Nodes, at: at.duration(), from, to });
        }
    }
    steps
}

/// The changes of a list of rates that begins at a time.
fn changes_of(begin: Duration, rates: &[RateStep]) -> Vec<Step> {
    let mut at = begin;
    let mut steps = Vec::new();
    for pair in rates.windows(2) {
        let [RateStep { per_second: from, lasts }, RateStep { per_second: to, .. }] = *pair else {
            continue;
        };
        at = at.saturating_add(lasts);
        if from.to_bits() != to.to_bits() {
            let [from, to] = [from, to].map(LoadValue::Number);
            steps.push(Step { what: StepCause::Rate, at, from, to });
        }
    }
    steps
}

/// The second half of a part, which is its level.
fn rest_of(part: &[LoadSecond]) -> &[LoadSecond] {
    &part[part.len() / 2..]
}

/// The level of the throughput at the end of a part: of at most as many seconds as a level needs, so
/// that of the seconds before a change the last ones count.
fn throughput(part: &[LoadSecond]) -> f64 {
    let last = &part[part.len().saturating_sub(2 * SECONDS_MIN)..];
    median(rest_of(last).iter().map(|second| second.completed)).unwrap_or_default()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The reaction to a step whose load lasted until a time since the start of the run.
#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn of_step(
    step: Step,
    until: Duration,
    seconds: &[LoadSecond],
    window: Window,
) -> Option<StepReaction> {
    // The second in which the load changes has both.
    let first = usize::try_from(step.at.as_secs()).ok()? + usize::from(step.at.subsec_nanos() > 0);
    let last = usize::try_from(until.as_secs().min(window.end.second())).ok()?.min(seconds.len());
    let part = seconds.get(first..last)?;
    let [before, level] = match (&step.from, &step.to, step.what) {
        (LoadValue::Number(from), LoadValue::Number(to), StepCause::Rate) => [*from, *to],
        // Throughput falls when a node is lost, and returns from below, as after one has returned.
        (.., StepCause::Nodes) => [0.0, throughput(part)],
        _ => [throughput(&seconds[..first]), throughput(part)],
    };
    let Reaction { half_s, most_s, full_s, response_s, late, late_s, overshoot } =
        reaction(part, before, level)?;
    Some(StepReaction {
        what: step.what,
        per_second: part.iter().map(|s| s.completed).sum::<f64>() / part.len() as f64,
        response_us: median(rest_of(part).iter().filter_map(|second| second.response)),
        at_s: step.at.as_secs_f64(),
        lasted_s: until.saturating_sub(step.at).as_secs_f64(),
        from: step.from,
        to: step.to,
        half_s,
        most_s,
        full_s,
        response_s,
        late,
        late_s,
        overshoot,
    })
}

/// What is needed of a second; of several merged ones, the same for each.
#[expect(clippy::cast_precision_loss, reason = "counts of a second")]
pub fn load_seconds(second: &Second) -> impl Iterator<Item = LoadSecond> + use<> {
    let response = second.total.response.as_ref().filter(|times| !times.is_empty());
    let response = response.map(|times| times.value_at_quantile(0.95) as f64);
    let waiting = second.interval.backlog.unwrap_or_default() as f64;
    repeated(second.total.counts.completed() as f64, waiting, response, second.seconds())
}

/// The same for each of several merged seconds, which completed this many transactions together.
#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
pub(crate) fn repeated(
    completed: f64,
    waiting: f64,
    response: Option<f64>,
    seconds: u64,
) -> impl Iterator<Item = LoadSecond> {
    let each = LoadSecond { completed: completed / seconds as f64, waiting, response };
    (0..seconds).map(move |_| each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_the_changes_of_the_rate_after_the_ramp_up() {
        let step = |per_second: f64, seconds: u64| RateStep {
            per_second,
            lasts: Duration::from_secs(seconds),
        };
        let rates = [step(100.0, 10), step(100.0, 5), step(400.0, 20), step(50.0, 30)];
        let found = changes_of(Duration::from_secs(3), &rates);
        let seconds = Duration::from_secs;
        assert_eq!(
            found,
            [
                Step {
                    what: StepCause::Rate,
                    at: seconds(18),
                    from: LoadValue::Number(100.0),
                    to: LoadValue::Number(400.0)
                },
                Step {
                    what: StepCause::Rate,
                    at: seconds(38),
                    from: LoadValue::Number(400.0),
                    to: LoadValue::Number(50.0)
                },
            ]
        );
    }
    #[test]
    fn a_step_of_the_nodes_is_one_that_is_lost_or_returns() {
        let change = |second, node, change| NodeChange {
            at: triphammer_core::Elapsed::at_second(second),
            node,
            change,
        };
        let changes = [
            change(10, 1, Change::Lost),
            change(11, 2, Change::Promoted),
            change(30, 1, Change::Back),
            change(40, 0, Change::Lost),
        ];
        let found = steps_of_nodes(3, &changes);
        let found: Vec<_> = found
            .iter()
            .map(|step| (step.at.as_secs(), step.from.clone(), step.to.clone()))
            .collect();
        let [two, three] = [2.0, 3.0].map(LoadValue::Number);
        assert_eq!(
            found,
            [(10, three.clone(), two.clone()), (30, two.clone(), three.clone()), (40, three, two)]
        );
    }
}
