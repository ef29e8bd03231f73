//! Two profiles: level by level, and their curves side by side.
//!
//! What decides is the throughput over the levels that both have, each level a pair of means. A level alone
//! has too few runs to decide, and of many levels one always looks odd.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::Estimate;
use triphammer_statistics::usl::Peak;

use super::document::{Asked, ComparisonResult, Made, Side, SideRun};
use super::facts::Facts;
use super::figures::{Figure, How, Named};
use crate::profile::document::{Level, PrimaryMetricName, ProfileResult, Usl};
use crate::result::SchemaFact;

/// Two profiles beside the ratio of their throughputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profiles {
    /// The levels that both have, ascending.
    pub levels: Vec<LevelFigure>,
    /// Virtual users of levels that only one of them has.
    pub left_out: Vec<u32>,
    /// Parameters and peaks of the curves; none where neither has a curve.
    pub curves: Vec<CurveFigure>,
}

/// The first figure at a number of virtual users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelFigure {
    /// Virtual users.
    pub users: u32,
    /// Both sides, and the ratio.
    pub figure: Figure,
}

/// A parameter of both curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveFigure {
    /// `lambda`, `sigma`, `kappa`, `peak_users`, `peak_throughput`.
    pub name: String,
    /// Of A's curve; `None` without one, and where the peak is not reached.
    pub a: Option<Estimate>,
    /// Of B's.
    pub b: Option<Estimate>,
}

/// A profile to compare.
#[derive(Clone, Debug)]
pub struct Profiled {
    /// What it left.
    pub result: ProfileResult,
    /// The schema at the start of its first run; empty where it is not known.
    pub schema: Vec<SchemaFact>,
    /// The server's settings at the start of its first run; empty where they are not known.
    pub server_settings: Vec<(String, String)>,
}

impl ComparisonResult {
    /// Of two profiles: a function of its arguments and of nothing else.
    #[must_use]
    pub fn of_profiles(names: [&str; 2], a: &Profiled, b: &Profiled, margin: f64) -> Self {
        let primary_metric = a.result.primary_metric.clone();
        let levels: Vec<LevelFigure> =
            shared(a, b).map(|(a, b)| LevelFigure::of(&primary_metric, a, b, margin)).collect();
        let means = |read: fn(&Figure) -> f64| -> Vec<f64> {
            levels.iter().map(|level| read(&level.figure)).collect()
        };
        let (means_a, means_b) = (means(|figure| figure.a), means(|figure| figure.b));
        let named = Named::primary_metric(&primary_metric);
        let figure = named.compare(&means_a, &means_b, How::Pairs, margin);
        let users = |profiled: &Profiled| -> BTreeSet<u32> {
            profiled.result.levels.iter().map(|level| level.users).collect()
        };
        let left_out = users(a).symmetric_difference(&users(b)).copied().collect();
        let curves = curves(a.result.usl.as_ref(), b.result.usl.as_ref());
        let facts =
            [a, b].map(|side| Facts::of_profile(&side.result, &side.schema, &side.server_settings));
        let made = Made {
            primary_metric,
            sides: [side(names[0], &a.result), side(names[1], &b.result)],
            figures: vec![figure],
            profiles: Some(Profiles { levels, left_out, curves }),
            facts,
            each_s: None,
        };
        Self::new(Asked::stored(margin), made)
    }
}

/// The levels that both have.
fn shared<'p>(a: &'p Profiled, b: &'p Profiled) -> impl Iterator<Item = (&'p Level, &'p Level)> {
    a.result.levels.iter().filter_map(|level| {
        let other = b.result.levels.iter().find(|other| other.users == level.users);
        other.map(|other| (level, other))
    })
}

fn side(name: &str, profile: &ProfileResult) -> Side {
    let mut runs: Vec<SideRun> =
        profile.levels.iter().flat_map(|level| &level.runs).map(SideRun::of_level).collect();
    runs.sort_by_key(|run| run.step);
    Side {
        name: name.to_owned(),
        workload: profile.workload.clone(),
        target: profile.target.clone(),
        server: profile.server.clone(),
        runs,
    }
}

impl LevelFigure {
    fn of(primary_metric: &PrimaryMetricName, a: &Level, b: &Level, margin: f64) -> Self {
        let values = |level: &Level| level.runs.iter().map(|run| run.value).collect::<Vec<f64>>();
        let named = Named::primary_metric(primary_metric);
        let figure = named.compare(&values(a), &values(b), How::Runs, margin);
        Self { users: a.users, figure }
    }
}

fn curves(a: Option<&Usl>, b: Option<&Usl>) -> Vec<CurveFigure> {
    type Read = fn(&Usl) -> Option<Estimate>;
    let all: [(&str, Read); 5] = [
        ("lambda", |usl| Some(usl.curve.lambda)),
        ("sigma", |usl| Some(usl.curve.sigma)),
        ("kappa", |usl| Some(usl.curve.kappa)),
        ("peak_users", |usl| match usl.peak {
            Peak::Reached { users, .. } => Some(users),
            Peak::Saturated { .. } | Peak::NotReached { .. } => None,
        }),
        ("peak_throughput", |usl| match usl.peak {
            Peak::Reached { throughput, .. } => Some(throughput),
            Peak::Saturated { .. } | Peak::NotReached { .. } => None,
        }),
    ];
    if a.is_none() && b.is_none() {
        return Vec::new();
    }
    let figure = |(name, read): (&str, Read)| CurveFigure {
        name: name.to_owned(),
        a: a.and_then(read),
        b: b.and_then(read),
    };
    all.into_iter().map(figure).collect()
}
