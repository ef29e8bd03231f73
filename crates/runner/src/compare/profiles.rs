//! Compares two profiles: level by level, and their curves.
//!
//! The throughput over the common levels decides, with one pair of means per level. A single level
//! has too few runs to decide, and among many levels one always stands out by chance.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::Estimate;
use triphammer_statistics::usl::Peak;

use super::document::{Asked, ComparisonResult, Made, Side, SideRun};
use super::facts::Facts;
use super::figures::{Figure, How, Named};
use crate::profile::document::{Level, PrimaryMetricName, ProfileResult, Usl, virtual_users};
use crate::result::SchemaFact;

/// Levels and curves of two profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profiles {
    /// What the levels count: `virtual users`, or `streams` of queries.
    #[serde(default = "virtual_users")]
    pub level_unit: String,
    /// Common levels, ascending.
    pub levels: Vec<LevelFigure>,
    /// Levels that only one profile has.
    pub left_out: Vec<u32>,
    /// Parameters and peaks of the curves; empty if neither has a curve.
    pub curves: Vec<CurveFigure>,
}

/// The primary metric at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelFigure {
    /// Number of virtual users, or streams.
    pub users: u32,
    /// Figures of both sides, and the ratio.
    pub figure: Figure,
}

/// A parameter of both curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveFigure {
    /// Name: `lambda`, `sigma`, `kappa`, `peak_users` or `peak_throughput`.
    pub name: String,
    /// Value of A's curve; `None` without a curve, or if the peak was not reached.
    pub a: Option<Estimate>,
    /// Value of B's curve, likewise.
    pub b: Option<Estimate>,
}

/// A profile to compare.
#[derive(Clone, Debug)]
pub struct Profiled {
    /// Result document of the job.
    pub result: ProfileResult,
    /// Schema at the start of its first run; empty if unknown.
    pub schema: Vec<SchemaFact>,
    /// Server settings at the start of its first run; empty if unknown.
    pub server_settings: Vec<(String, String)>,
}

impl ComparisonResult {
    /// Compares two profiles: a pure function.
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
        let level_unit = a.result.level_unit.clone();
        let made = Made {
            primary_metric,
            sides: [side(names[0], &a.result), side(names[1], &b.result)],
            figures: vec![figure],
            profiles: Some(Profiles { level_unit, levels, left_out, curves }),
            facts,
            each_s: None,
        };
        Self::new(Asked::stored(margin), made)
    }
}

/// Pairs the levels that both profiles have.
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
