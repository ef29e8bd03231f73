//! What may be compared, and with what. Results of the same work are a class; in it, those whose
//! method allows it have a rank; for the others, the reason is given.

use std::collections::BTreeMap;

use triphammer_core::Scale;
use triphammer_core::pace::Load;
use triphammer_document::compare::{ComparisonResult, Facts, Run};
use triphammer_document::doctor::SetupVerdict;
use triphammer_document::profile::PrimaryMetricName;
use triphammer_document::result::RunResult;
use triphammer_settings::command::JobKind;
use triphammer_settings::format::{duration, scale};
use triphammer_statistics::Interval;
use triphammer_statistics::compare::{Better, Verdict};

use crate::entry::Entry;

/// Difference that does not matter in comparisons of a board, as a share: that of `compare`.
pub(crate) const MARGIN: f64 = 0.05;
/// Product of the null database.
const NULL_DATABASE: &str = "null";
/// Unit of the scale factor of TPROC-H.
const SCALE_FACTOR: &str = "SF";
/// Shortest time of a set of queries, in seconds: that of a window.
const SET_MIN_S: f64 = 60.0;

/// Results by what may be compared.
#[derive(Debug)]
pub(crate) struct Board {
    /// Classes of comparable results, by workload.
    pub classes: Vec<Class>,
    /// Results that agree with themselves and have no rank, and why.
    pub unranked: Vec<(usize, Vec<String>)>,
    /// Results that do not agree with themselves.
    pub unverified: Vec<usize>,
}

/// Results of the same work.
#[derive(Debug)]
pub(crate) struct Class {
    /// What they have in common, by name.
    pub key: BTreeMap<String, String>,
    /// Their metric.
    pub metric: PrimaryMetricName,
    /// The results, the best first.
    pub ranked: Vec<Ranked>,
}

/// A result with a rank.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// Its place among the entries.
    pub entry: usize,
    /// Comparisons with the best of its class, and with the next better one; empty for the best.
    pub comparisons: Vec<Compared>,
}

/// A comparison of a result with a better one.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    /// Place of the other among the entries.
    pub other: usize,
    /// The result over the other.
    pub ratio: f64,
    /// 95 % interval of the ratio; `None` unless both have runs enough to know it.
    pub interval: Option<Interval>,
    /// What the comparison says.
    pub verdict: Shown,
    /// Conditions that differ: name, those of the other, its own.
    pub differences: Vec<[String; 3]>,
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A difference beyond the margin.
    Different,
    /// None beyond the margin.
    Same,
    /// Neither.
    Undecided,
    /// Too few runs to know.
    Unknown,
}

impl Ranked {
    /// Whether it is known that the next better one is better.
    pub(crate) fn is_apart(&self) -> bool {
        self.comparisons.last().is_none_or(|of| of.verdict == Shown::Different)
    }
}

impl Board {
    /// Sorts results into classes, and compares them.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut board = Self { classes: Vec::new(), unranked: Vec::new(), unverified: Vec::new() };
        let mut classes: BTreeMap<Vec<(String, String)>, Vec<usize>> = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            if !entry.found.agrees {
                board.unverified.push(place);
                continue;
            }
            let reasons = reasons(entry);
            match reasons.is_empty() {
                true => classes.entry(order(key(entry))).or_default().push(place),
                false => board.unranked.push((place, reasons)),
            }
        }
        board.classes = classes.into_values().filter_map(|of| Class::of(entries, of)).collect();
        board
    }

    /// Number of results with a rank.
    pub(crate) fn ranked(&self) -> usize {
        self.classes.iter().map(|class| class.ranked.len()).sum()
    }

    /// Why a result has no rank; nothing if it has one.
    pub(crate) fn no_rank_because(&self, entry: usize) -> Vec<String> {
        if self.unverified.contains(&entry) {
            return vec!["it does not agree with itself".to_owned()];
        }
        let found = self.unranked.iter().find(|(place, _)| *place == entry);
        found.map(|(_, reasons)| reasons.clone()).unwrap_or_default()
    }

    /// The class and the position of a result in it.
    pub(crate) fn place(&self, entry: usize) -> Option<(&Class, usize)> {
        self.classes.iter().find_map(|class| {
            let place = class.ranked.iter().position(|ranked| ranked.entry == entry)?;
            Some((class, place))
        })
    }
}

impl Class {
    fn of(entries: &[Entry], mut members: Vec<usize>) -> Option<Self> {
        let first = &entries[*members.first()?];
        let metric = first.metric()?;
        let value = |place: usize| entries[place].value().unwrap_or_default();
        members.sort_by(|a, b| {
            let order = value(*b).total_cmp(&value(*a));
            if metric.better == Better::Higher { order } else { order.reverse() }
        });
        let mut ranked: Vec<Ranked> = Vec::with_capacity(members.len());
        for (place, &entry) in members.iter().enumerate() {
            let others = match place {
                0 => &[][..],
                1 => &members[..1],
                _ => &[members[0], members[place - 1]],
            };
            let comparisons = others.iter().map(|other| compared(entries, *other, entry)).collect();
            ranked.push(Ranked { entry, comparisons });
        }
        Some(Self { key: key(first), metric, ranked })
    }

    /// What must be equal and is not, each with the value there and that here.
    pub(crate) fn apart_from(&self, key: &BTreeMap<String, String>) -> Vec<String> {
        let none = "none".to_owned();
        let mut names: Vec<&String> = self.key.keys().chain(key.keys()).collect();
        names.sort();
        names.dedup();
        let pairs = names.into_iter().map(|name| {
            (name, self.key.get(name).unwrap_or(&none), key.get(name).unwrap_or(&none))
        });
        let differing = pairs.filter(|(_, there, here)| there != here);
        differing.map(|(name, there, here)| format!("{name} {there} instead of {here}")).collect()
    }
}

/// Compares a result with a better one.
fn compared(entries: &[Entry], other: usize, entry: usize) -> Compared {
    let [a, b] = [other, entry].map(|place| &entries[place]);
    let result = ComparisonResult::of_runs([&a.name, &b.name], &a.runs, &b.runs, MARGIN);
    let can_decide = result.can_decide();
    let comparison = result.figures.first().and_then(|figure| figure.comparison);
    let ratio = comparison.map_or_else(
        || b.value().unwrap_or_default() / a.value().unwrap_or_default(),
        |comparison| comparison.ratio,
    );
    let verdict = match result.verdict {
        _ if !can_decide => Shown::Unknown,
        Verdict::Equivalent => Shown::Same,
        Verdict::Slower | Verdict::Faster => Shown::Different,
        Verdict::Inconclusive { .. } => Shown::Undecided,
    };
    let text = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let differences = result
        .differences
        .into_iter()
        .map(|of| [format!("{} {}", of.subject.label(), of.name), text(of.a), text(of.b)]);
    Compared {
        other,
        ratio,
        interval: comparison.filter(|_| can_decide).map(|of| of.interval),
        verdict,
        differences: differences.collect(),
    }
}

/// What results must have in common to be compared.
pub(crate) fn key(entry: &Entry) -> BTreeMap<String, String> {
    let Some(run) = entry.run() else { return BTreeMap::new() };
    let runs: Vec<&Run> = entry.runs.iter().collect();
    let mut key = Facts::of_all(&runs).that_must_be_equal();
    let metric = &run.primary_metric;
    key.insert("workload".to_owned(), run.workload.name.clone());
    key.insert("metric".to_owned(), format!("{} per {}", metric.name, metric.per));
    if run.queries.is_none() {
        key.insert("load".to_owned(), run.spec.load.name().to_owned());
    }
    let scripts = run.workload.scripts.iter().map(|script| {
        let hash = script.sha256.get(..12).unwrap_or(&script.sha256);
        format!("{} × {} ({hash})", script.weight, script.name)
    });
    let scripts: Vec<String> = scripts.collect();
    if !scripts.is_empty() {
        key.insert("scripts".to_owned(), scripts.join(", "));
    }
    key
}

/// The order of classes: by workload, then by the rest.
fn order(key: BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut parts: Vec<_> = key.into_iter().collect();
    parts.sort_by_key(|(name, _)| name != "workload");
    parts
}

/// Why a set of queries says nothing about a database; nothing of other runs.
fn too_small(run: &RunResult) -> Vec<String> {
    if run.queries.is_none() {
        return Vec::new();
    }
    let (workload, seconds) = (&run.workload, run.durations.window_s);
    let mut reasons = Vec::new();
    if workload.scale_unit == SCALE_FACTOR && workload.scale < Scale::ONE {
        let size = scale(workload.scale, &workload.scale_unit);
        reasons.push(format!("data: {size} is a first impression; a rank needs at least 1 SF"));
    }
    if seconds < SET_MIN_S {
        let (took, needed) = (duration(seconds), duration(SET_MIN_S));
        reasons.push(format!(
            "length: the set of queries took {took}; a rank needs at least {needed}"
        ));
    }
    reasons
}

/// Why a result that agrees with itself has no rank; nothing if it has one.
fn reasons(entry: &Entry) -> Vec<String> {
    let kind = entry.found.job_kind;
    if kind != JobKind::Run {
        return vec![format!("a {}: only runs have a rank", kind.noun())];
    }
    if entry.runs.is_empty() {
        return vec![format!("there is no complete run: {}", entry.head.ending)];
    }
    let mut reasons: Vec<String> = Vec::new();
    let mut add = |reason: String| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    for run in entry.runs.iter().map(|run| &run.result) {
        if !run.ending.good {
            add(run.ending.words.clone());
        }
        if run.server.product == NULL_DATABASE {
            add("the null database does no work".to_owned());
        }
        too_small(run).into_iter().for_each(&mut add);
        if let Some(reason) = &run.primary_metric.unavailable {
            add(format!("{} is not available: {reason}", run.primary_metric.name));
        }
        if run.queries.is_none() && !matches!(run.spec.load, Load::Closed | Load::Keyed) {
            add(format!(
                "the load is given (`{}`), so that its rate is no result",
                run.spec.load.name()
            ));
        }
    }
    for line in entry.found.method.iter().filter(|line| line.verdict == SetupVerdict::Wrong) {
        add(format!("{}: {}", line.aspect, line.words));
    }
    if key(entry).values().any(|value| value.contains(" / ")) {
        add("its runs are of different work".to_owned());
    }
    reasons
}
