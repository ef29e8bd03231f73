//! Compares two profiles: level by level, and their curves.
//!
//! Profiles measured one after the other decide nothing: a day, a host or the data that changed in
//! between moves all levels of one side alike, and no number of levels or repeats shows that. Only
//! levels whose runs of A and B were made in adjacent pairs decide, each by itself and all
//! together, with intervals that all hold in 95 %.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::Estimate;
use triphammer_statistics::compare::Verdict;
use triphammer_statistics::usl::Peak;

use super::document::{
    ComparisonParameters, ComparisonResult, MadePair, Side, SideMeasurements, SideRun,
};
use super::facts::Facts;
use super::figures::{Figure, FigureName, How, mean};
use crate::profile::{Level, LevelUnit, PrimaryMetricName, ProfileResult, Usl};
use crate::result::SchemaFact;

/// Why two stored profiles are inconclusive.
const ONE_AFTER_THE_OTHER: &str = "the profiles were measured one after the other, so a difference \
                                   may be one of the day, the host or the data";

/// Levels and curves of two profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profiles {
    /// What the levels count: `virtual users`, or `streams` of queries.
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
        let of = |(a, b): (&Level, &Level)| LevelFigure {
            users: a.users,
            figure: FigureName::primary_metric(&primary_metric).alone(
                a.mean,
                b.mean,
                ONE_AFTER_THE_OTHER.to_owned(),
            ),
        };
        let levels: Vec<LevelFigure> = shared(a, b).map(of).collect();
        let means = |read: fn(&Figure) -> f64| -> f64 {
            mean(&levels.iter().map(|level| read(&level.figure)).collect::<Vec<f64>>())
        };
        let named = FigureName::primary_metric(&primary_metric);
        let (of_a, of_b) = (means(|figure| figure.a), means(|figure| figure.b));
        let figure = named.alone(of_a, of_b, undecided(names, a, &levels));
        let users = |profiled: &Profiled| -> BTreeSet<u32> {
            profiled.result.levels.iter().map(|level| level.users).collect()
        };
        let left_out = users(a).symmetric_difference(&users(b)).copied().collect();
        let curves = curves(a.result.usl.as_ref(), b.result.usl.as_ref());
        let facts =
            [a, b].map(|side| Facts::of_profile(&side.result, &side.schema, &side.server_settings));
        let level_unit = a.result.level_unit.clone();
        let made = SideMeasurements {
            primary_metric,
            sides: [side(names[0], &a.result), side(names[1], &b.result)],
            figures: vec![figure],
            profiles: Some(Profiles { level_unit, levels, left_out, curves }),
            facts,
            each_s: None,
        };
        let compared = Self::new(ComparisonParameters::stored(margin), made);
        let lists = [a, b].map(|side| side.result.price.as_ref().map(|price| price.list.clone()));
        match lists {
            [Some(a), Some(b)] => compared.priced([a, b]),
            _ => compared,
        }
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

/// Why two profiles are inconclusive, and the command that would decide.
fn undecided(names: [&str; 2], a: &Profiled, levels: &[LevelFigure]) -> String {
    let unit = if a.result.is_of_streams() { LevelUnit::Streams } else { LevelUnit::Users };
    let users: Vec<String> = levels.iter().map(|level| level.users.to_string()).collect();
    let users = match users.len() {
        0..=1 => "1,2,4,8".to_owned(),
        _ => users.join(","),
    };
    format!(
        "{ONE_AFTER_THE_OTHER}; `triphammer compare --ab A B -w {} --{} {users}`, with the targets \
         of {} and {}, measures the levels of both at the same time and decides",
        a.result.workload.name,
        unit.setting(),
        names[0],
        names[1]
    )
}

/// Compares pairs made at several levels: the levels and, as the figure of all, the mean of their
/// ratios by block. All intervals hold together in 95 %.
pub(super) fn interleaved(
    metric: &PrimaryMetricName,
    unit: LevelUnit,
    pairs: &[MadePair<'_>],
    margin: f64,
) -> (Profiles, Figure) {
    let users: BTreeSet<u32> = pairs.iter().filter_map(|(level, ..)| *level).collect();
    let of_level = |users: u32| -> SideValues {
        let of_level = pairs.iter().filter(|(level, ..)| *level == Some(users));
        of_level
            .map(|(_, a, b)| (a.result.primary_metric.value, b.result.primary_metric.value))
            .unzip()
    };
    // The levels, and all of them.
    let how = How::PairsOfSeveral { together: users.len() + 1 };
    let named = || FigureName::primary_metric(metric);
    let values: Vec<(u32, SideValues)> =
        users.iter().map(|&users| (users, of_level(users))).collect();
    let levels = values
        .iter()
        .map(|&(users, (ref a, ref b))| LevelFigure {
            users,
            figure: named().compare(a, b, how, margin),
        })
        .collect();
    let blocks = values.iter().map(|(_, (a, _))| a.len()).min().unwrap_or_default();
    let of_block = |side: fn(&SideValues) -> &Vec<f64>| -> Vec<f64> {
        (0..blocks).map(|block| geometric(values.iter().map(|(_, of)| side(of)[block]))).collect()
    };
    let all = named().compare(&of_block(|of| &of.0), &of_block(|of| &of.1), how, margin);
    let level_unit = unit.words().to_owned();
    (Profiles { level_unit, levels, left_out: Vec::new(), curves: Vec::new() }, all)
}

/// The values of A and of B at a level, one of each per pair.
type SideValues = (Vec<f64>, Vec<f64>);

/// The geometric mean: the ratio of two such means is the mean ratio.
fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    mean(&values.map(f64::ln).collect::<Vec<f64>>()).exp()
}

impl Profiles {
    /// The verdict of the levels, given that of all of them together. A level that is slower
    /// decides before one that is faster; all must be equivalent to be so together.
    pub(super) fn verdict(&self, of_all: Verdict) -> Verdict {
        if self.levels.iter().all(|level| level.figure.comparison.is_none()) {
            return of_all;
        }
        let verdicts = || {
            let of_levels = self.levels.iter().map(|level| {
                let comparison = level.figure.comparison;
                comparison.map_or(Verdict::Inconclusive { more: None }, |found| found.verdict)
            });
            of_levels.chain([of_all])
        };
        let any = |wanted: Verdict| verdicts().any(|verdict| verdict == wanted);
        let of_levels = || verdicts().take(self.levels.len());
        if any(Verdict::Slower) {
            Verdict::Slower
        } else if any(Verdict::Faster) {
            Verdict::Faster
        } else if of_levels().all(|verdict| verdict == Verdict::Equivalent) {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive { more: None }
        }
    }

    /// The levels with a verdict, in words: `at 16 virtual users 0.702 (0.644 to 0.766)`.
    pub(super) fn named(&self, wanted: Verdict) -> Vec<String> {
        let described = |level: &LevelFigure| {
            let found = level.figure.comparison.filter(|found| found.verdict == wanted)?;
            let ratio = super::ratio(found.ratio, found.interval);
            Some(format!("at {} {} {ratio}", level.users, self.level_unit))
        };
        self.levels.iter().filter_map(described).collect()
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
            _ => None,
        }),
        ("peak_throughput", |usl| match usl.peak {
            Peak::Reached { throughput, .. } => Some(throughput),
            _ => None,
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
