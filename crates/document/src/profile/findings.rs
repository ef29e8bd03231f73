//! The findings of a profile in words: the peak, what limits scaling, and how reliable this is.

use triphammer_settings::format::{figure, percent, precise};
use triphammer_statistics::Estimate;
use triphammer_statistics::usl::{EFFICIENCY_MIN, Peak, SATURATED, ScalabilityLimit};

use super::document::{ProfileResult, Usl};
use crate::repeats;
use crate::result::Bottleneck;

/// P value below which a curve is reported as a misfit.
const MISFIT: f64 = 0.01;

/// Returns the findings of a profile, the most important first.
pub(super) fn of(profile: &ProfileResult) -> Vec<String> {
    let mut found = Vec::new();
    match &profile.usl {
        Some(usl) => {
            found.push(peak(profile, usl));
            found.push(limit(profile, usl));
        }
        None => found.extend(profile.no_curve.clone()),
    }
    found.extend(bottleneck(profile));
    found.extend(cheapest(profile));
    if let Some(usl) = &profile.usl {
        found.extend(misfit(usl));
    }
    found.extend(repeats::drift_in_words(profile.drift, "levels"));
    let runs = || profile.levels.iter().flat_map(|level| &level.runs);
    found.extend(repeats::unsteady(runs()));
    found.extend(repeats::bad_runs(runs()));
    found.extend(profile.failed_runs.iter().map(|refused| {
        format!(
            "{} could not be run, and higher levels were not tried: {}",
            profile.level(&refused.users.to_string()),
            refused.reason
        )
    }));
    found
}

/// Formats an estimate with its interval: `32 virtual users (28 to 37)`.
fn sure(estimate: &Estimate, show: fn(f64) -> String) -> String {
    match estimate.interval {
        Some(interval) => {
            format!("{} ({} to {})", show(estimate.value), show(interval.low), show(interval.high))
        }
        None => show(estimate.value),
    }
}

fn peak(profile: &ProfileResult, usl: &Usl) -> String {
    let name = &profile.primary_metric.name;
    match &usl.peak {
        Peak::Reached { users, throughput } => format!(
            "the peak is at {} with {} {name}",
            profile.level(&sure(users, whole)),
            sure(throughput, figure)
        ),
        Peak::Saturated { users, throughput, highest } => format!(
            "saturated from {} with {} {name}: up to {} the throughput neither rose nor fell by \
             more than {}, so no peak was measured",
            profile.level(&users.to_string()),
            figure(*throughput),
            profile.level(&highest.to_string()),
            percent(1.0 - SATURATED)
        ),
        Peak::BestLevels { lowest, highest, best, throughput } if lowest == highest => format!(
            "the peak is at {} with {} {name}, as measured: the curve does not describe it",
            profile.level(&best.to_string()),
            figure(*throughput)
        ),
        Peak::BestLevels { lowest, highest, best, throughput } => format!(
            "the peak is between {lowest} and {}, whose throughput cannot be distinguished, with \
             {} {name} at {best}; the curve does not describe it",
            profile.level(&highest.to_string()),
            figure(*throughput)
        ),
        Peak::NotReached { highest, predicted_users } => {
            let guess = predicted_users.map_or_else(String::new, |users| {
                let near = profile.level(&whole(users.max(1.0)));
                if users < f64::from(*highest) {
                    format!("; the curve puts it near {near}, but no higher level is clearly lower")
                } else {
                    format!("; extrapolation of the curve puts it near {near}")
                }
            });
            let highest = profile.level(&highest.to_string());
            format!("the peak was not reached: {highest} was the highest level{guess}")
        }
    }
}

/// The cheapest level by the price list, among those that keep the requirements.
fn cheapest(profile: &ProfileResult) -> Option<String> {
    let price = profile.price.as_ref()?;
    let Some(level) = &price.cheapest else {
        return Some("no level kept the requirements, so none is the cheapest".to_owned());
    };
    let keeps = level.required.as_ref().map(|required| format!(" that keeps {required}"));
    let alike = level.alike.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let alike = match alike.is_empty() {
        true => String::new(),
        false => format!("; the costs at {} do not differ from it", profile.level(&alike)),
    };
    Some(format!(
        "the cheapest level{} is {}, with {} per million {}{alike}",
        keeps.unwrap_or_default(),
        profile.level(&level.users.to_string()),
        price.list.show_estimate(&level.per_million),
        price.counted
    ))
}

fn whole(users: f64) -> String {
    format!("{users:.0}")
}

fn limit(profile: &ProfileResult, usl: &Usl) -> String {
    let at = profile.level(&whole(usl.judged_at));
    let kept = percent(usl.efficiency);
    match usl.limit {
        ScalabilityLimit::Contention => format!(
            "contention limits scaling (σ = {}): {} of the work is serialized; at {at}, {kept} of \
             linear scaling remains{}",
            parameter(usl.curve.sigma.value),
            precise(usl.curve.sigma.value),
            doubt(&usl.curve.sigma)
        ),
        ScalabilityLimit::Coherency => format!(
            "coherency limits scaling (κ = {}): the cost of coordination grows with the square of \
             the number of users; at {at}, {kept} of linear scaling remains{}",
            parameter(usl.curve.kappa.value),
            doubt(&usl.curve.kappa)
        ),
        ScalabilityLimit::NeitherYet => format!(
            "nothing limits scaling yet: at {at}, {kept} of linear scaling remains (above {}, \
             scaling is close to linear)",
            percent(EFFICIENCY_MIN)
        ),
    }
}

/// What is to be said of a parameter that may be 0.
fn doubt(of: &Estimate) -> String {
    let interval = of.interval.filter(|interval| interval.low <= 0.0);
    interval.map_or_else(String::new, |interval| {
        let high = parameter(interval.high);
        format!(" — not certain: the interval is 0 to {high}; use longer runs or more repeats")
    })
}

/// Formats a parameter of the law to three significant digits.
pub fn parameter(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v.abs() < 0.001 => format!("{v:.2e}"),
        v => format!("{v:.4}"),
    }
}

/// Reports the bottleneck of the runs, if it was not the database.
fn bottleneck(profile: &ProfileResult) -> Option<String> {
    let levels = &profile.levels;
    let last = levels.last()?.bottleneck;
    let what = match last {
        Bottleneck::Client => "the client's, not the database's",
        Bottleneck::Host => "the shared host's, not the database's alone",
        Bottleneck::Network => "the network's, not the database's",
        Bottleneck::Load => "that of users who do not load the database fully",
        Bottleneck::Undecided | Bottleneck::Database => return None,
    };
    let from = levels.iter().rev().take_while(|level| level.bottleneck == last).last()?.users;
    let label = last.label();
    Some(match from == levels[0].users {
        true => format!("{label} was the bottleneck at every level: the curve is {what}"),
        false => {
            format!(
                "{label} was the bottleneck from {} on: there the curve is {what}",
                profile.level(&from.to_string())
            )
        }
    })
}

fn misfit(usl: &Usl) -> Option<String> {
    usl.misfit_p_value.filter(|chance| *chance < MISFIT)?;
    Some(
        "the levels are further from the curve than repeated runs vary (p < 0.01): use the curve \
         as a guide only, and rely on the measured levels"
            .to_owned(),
    )
}
