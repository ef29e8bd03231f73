//! What a profile says, in words: where the peak is, what limits, and whether to believe it.

use triphammer_statistics::Estimate;
use triphammer_statistics::usl::{EFFICIENCY_MIN, Peak, SATURATED, ScalabilityLimit};

use super::document::{Level, LevelRun, ProfileResult, Usl};
use crate::report::format::{figure, percent, precise};
use crate::result::{Bottleneck, Steady};

/// Difference between the first and the last block that is reported.
const DRIFT_TOLD: f64 = 0.03;
/// Chance below which a curve is said not to fit.
const MISFIT: f64 = 0.01;

/// The findings of a profile, the most important first.
pub(super) fn of(profile: &ProfileResult) -> Vec<String> {
    let mut found = Vec::new();
    match &profile.usl {
        Some(usl) => {
            found.push(peak(profile, usl));
            found.push(limit(usl));
        }
        None => found.extend(profile.no_curve.clone()),
    }
    found.extend(bottleneck(&profile.levels));
    if let Some(usl) = &profile.usl {
        found.extend(misfit(usl));
    }
    found.extend(drifts(profile.drift));
    found.extend(unsteady(&profile.levels));
    found.extend(bad_runs(&profile.levels));
    found.extend(profile.failed_runs.iter().map(|refused| {
        format!(
            "{} virtual users could not be run, and more were not tried: {}",
            refused.users, refused.reason
        )
    }));
    found
}

/// `32 virtual users (28 to 37)`.
fn sure(estimate: &Estimate, show: fn(f64) -> String) -> String {
    match estimate.interval {
        Some(interval) => {
            format!("{} ({} to {})", show(estimate.value), show(interval.low), show(interval.high))
        }
        None => show(estimate.value),
    }
}

/// `1 virtual user`, `8 virtual users`.
fn users_of(number: &str) -> String {
    format!("{number} virtual {}", if number == "1" { "user" } else { "users" })
}

fn peak(profile: &ProfileResult, usl: &Usl) -> String {
    let name = &profile.primary_metric.name;
    match &usl.peak {
        Peak::Reached { users, throughput } => format!(
            "the peak is at {} with {} {name}",
            users_of(&sure(users, whole)),
            sure(throughput, figure)
        ),
        Peak::Saturated { users, throughput, highest } => format!(
            "saturated from {} with {} {name}: up to {highest} virtual users throughput neither \
             grew nor fell by more than {}, so no peak was measured",
            users_of(&users.to_string()),
            figure(*throughput),
            percent(1.0 - SATURATED)
        ),
        Peak::NotReached { highest, predicted_users } => {
            let guess = predicted_users.map_or_else(String::new, |users| {
                format!("; the curve puts it near {}, which is a guess", figure(users))
            });
            format!("the peak is not reached: {highest} virtual users are the highest level{guess}")
        }
    }
}

fn whole(users: f64) -> String {
    format!("{users:.0}")
}

fn limit(usl: &Usl) -> String {
    let at = users_of(&whole(usl.judged_at));
    let kept = percent(usl.efficiency);
    match usl.limit {
        ScalabilityLimit::Contention => format!(
            "contention limits (σ = {}): {} of the work is done one at a time; at {at} \
             {kept} of linear scaling are left",
            parameter(usl.curve.sigma.value),
            precise(usl.curve.sigma.value)
        ),
        ScalabilityLimit::Coherency => format!(
            "coherency limits (κ = {}): what users pay for agreeing with one another grows with \
             the square of their number; at {at} {kept} of linear scaling are left",
            parameter(usl.curve.kappa.value)
        ),
        ScalabilityLimit::NeitherYet => format!(
            "nothing limits yet: at {at} {kept} of linear scaling are left (above {} \
             throughput grows nearly with the users)",
            percent(EFFICIENCY_MIN)
        ),
    }
}

/// A parameter of the law, to three significant digits.
pub(crate) fn parameter(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v.abs() < 0.001 => format!("{v:.2e}"),
        v => format!("{v:.4}"),
    }
}

/// What the runs say limited them, where it was not the database.
fn bottleneck(levels: &[Level]) -> Option<String> {
    let last = levels.last()?.bottleneck;
    let what = match last {
        Bottleneck::Client => "the client's, not the database's",
        Bottleneck::Host => "the shared host's, not the database's alone",
        Bottleneck::Network => "the network's, not the database's",
        Bottleneck::Load => "that of users who leave room for more",
        Bottleneck::Undecided | Bottleneck::Database => return None,
    };
    let from = levels.iter().rev().take_while(|level| level.bottleneck == last).last()?.users;
    let label = last.label();
    Some(match from == levels[0].users {
        true => format!("{label} was the limit of every level: the curve is {what}"),
        false => {
            format!("{label} was the limit from {from} virtual users on: there the curve is {what}")
        }
    })
}

fn misfit(usl: &Usl) -> Option<String> {
    usl.misfit_p_value.filter(|chance| *chance < MISFIT)?;
    Some(
        "the levels lie further from the curve than repeats scatter (p < 0.01): take the curve as a \
         guide, and the levels as what was measured"
            .to_owned(),
    )
}

fn drifts(drift: Option<f64>) -> Option<String> {
    let drift = drift.filter(|drift| drift.abs() >= DRIFT_TOLD)?;
    let way = if drift < 0.0 { "less" } else { "more" };
    Some(format!(
        "the last repeats gave {} {way} than the first: something changed with time, such as data that \
         grows; it falls on all levels alike, but rebuild the data for exact figures",
        precise(drift.abs())
    ))
}

fn unsteady(levels: &[Level]) -> Option<String> {
    let runs = || levels.iter().flat_map(|level| &level.runs);
    let count = |steady| runs().filter(|run: &&LevelRun| run.steady == Some(steady)).count();
    let (drifting, all) = (count(Steady::Drifting), runs().count());
    (drifting > 0).then(|| {
        format!(
            "{drifting} of {all} runs drifted in their window; `triphammer report` of one says how"
        )
    })
}

fn bad_runs(levels: &[Level]) -> Option<String> {
    let bad: Vec<String> = levels
        .iter()
        .flat_map(|level| &level.runs)
        .filter(|run| !run.good)
        .map(|run| run.job.map_or_else(|| format!("step {}", run.step), |job| format!("job {job}")))
        .collect();
    (!bad.is_empty()).then(|| {
        format!("not all runs did what they were to do, see the reports of {}", bad.join(", "))
    })
}

/// Throughput of the last runs of the levels over that of the first, less 1.
pub(super) fn drift(runs: &[LevelRun]) -> Option<f64> {
    let mut sorted: Vec<&LevelRun> = runs.iter().collect();
    sorted.sort_by_key(|run| (run.users, run.step));
    let ratios: Vec<f64> = sorted
        .chunk_by(|a, b| a.users == b.users)
        .filter(|level| level.len() > 1 && level[0].value > 0.0)
        .filter_map(|level| level.last().map(|last| (last.value / level[0].value).ln()))
        .filter(|ratio| ratio.is_finite())
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a few levels")]
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    (!ratios.is_empty()).then(|| mean.exp_m1())
}
