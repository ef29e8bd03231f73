//! Observed figures of the simulated job: the declared ones of PostgreSQL and of hosts, with as many
//! labelled objects as are needed for their number, and active sessions by what they waited for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use triphammer_core::Rng;
use triphammer_document::JobId;
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::result::Observed;
use triphammer_document::samples::SampleSeries;
use triphammer_observe::host_metrics::HOST_METRICS;
use triphammer_observe::{CPU_NUMBER, declared};
use triphammer_store::{SampleWriter, SampledSecond, Store};

use crate::{CHECKPOINT_EVERY, Failure};

/// Values of labels that mean something to the page; objects of others are numbered.
const VALUES: [(&str, &[&str]); 4] = [
    ("cpu.mode", &["user", "system", "iowait", "idle"]),
    ("system.memory.state", &["used", "cached", "buffers", "free"]),
    ("disk.io.direction", &["read", "write"]),
    ("network.io.direction", &["receive", "transmit"]),
];
/// Classes of waits, each with the mean number of sessions.
const CLASSES: [(&str, &str, f64); 5] = [
    ("cpu", "", 2.0),
    ("row_lock", "Lock:transactionid", 6.0),
    ("log", "LWLock:WALWrite", 1.5),
    ("io", "IO:DataFileRead", 0.8),
    ("latch", "LWLock:BufferContent", 0.3),
];

/// Writes `count` figures per second, besides the sessions.
pub fn write(store: &Path, job: JobId, seconds: u64, count: usize) -> Result<(), Failure> {
    let figures = figures(count)?;
    let sessions: Vec<_> = CLASSES.iter().map(|of| (sessions_of(of), of.2)).collect();
    let writer = SampleWriter::start(store, job)?;
    let mut rng = Rng::of(2, &[]);
    for second in 0..seconds {
        let stall = if second % CHECKPOINT_EVERY < 5 { 3.0 } else { 1.0 };
        let mut values = Vec::with_capacity(figures.len() + sessions.len());
        for (series, mean) in figures.iter().chain(&sessions) {
            values.push((Arc::clone(series), mean * stall * (0.8 + 0.4 * rng.unit())));
        }
        writer.put_waiting(SampledSecond { second, values });
    }
    match writer.finish()? {
        0 => Ok(()),
        lost => Err(format!("{lost} values were not stored").into()),
    }
}

/// Gives the figures of hosts and of the server the means and maxima of the values that were written, and
/// drops those of the model that have none.
pub fn summarize(
    store: &Store,
    job: JobId,
    window: &Range<u64>,
    of_run: &mut Observed,
) -> Result<(), Failure> {
    for figures in [&mut of_run.hosts, &mut of_run.profile] {
        for mut figure in std::mem::take(figures) {
            let all = store.find_series(job, Some(&figure.metric), &[])?;
            let Some(series) = all.iter().find(|of| of.series.labels == figure.labels) else {
                continue;
            };
            let [Some(sampled), _] = store.means(series, window, window)? else { continue };
            (figure.mean, figure.max) = (sampled.mean, sampled.max);
            figures.push(figure);
        }
    }
    Ok(())
}

fn sessions_of((class, wait, _): &(&str, &str, f64)) -> Arc<SampleSeries> {
    let labels = [("who", "run"), ("class", *class), ("wait", *wait)];
    Arc::new(SampleSeries {
        metric: "db.sessions.active".to_owned(),
        labels: labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        title: "Active sessions".to_owned(),
        unit: Unit::Average,
        merge: Merge::Mean,
    })
}

/// A declared figure: a series without the labels of its object, and their names.
struct DeclaredFigure {
    series: SampleSeries,
    names: Vec<String>,
}

impl DeclaredFigure {
    fn new(
        metric: &str,
        labels: BTreeMap<String, String>,
        names: Vec<String>,
        title: &str,
        unit: Unit,
    ) -> Self {
        let (metric, title) = (metric.to_owned(), title.to_owned());
        Self { series: SampleSeries { metric, labels, title, unit, merge: Merge::Mean }, names }
    }
}

/// Declared figures with their mean values: round by round with further objects, until there are
/// enough.
fn figures(count: usize) -> Result<Vec<(Arc<SampleSeries>, f64)>, Failure> {
    let mut kinds = Vec::new();
    for metric in HOST_METRICS {
        let names = metric.labels.iter().filter(|label| **label != CPU_NUMBER);
        let names = names.map(|label| (*label).to_owned()).collect();
        kinds.push(DeclaredFigure::new(
            metric.name,
            BTreeMap::new(),
            names,
            metric.title,
            metric.unit,
        ));
    }
    for query in declared("postgres")?.query.into_iter().filter(|query| query.is_for("17.4")) {
        for metric in query.metrics {
            let unit = Unit::named(&metric.unit).unwrap_or(Unit::Average);
            let names = query.labels.clone();
            kinds.push(DeclaredFigure::new(
                &metric.name,
                metric.labels,
                names,
                &metric.title,
                unit,
            ));
        }
    }
    let mut all = Vec::new();
    let mut round = 0;
    loop {
        for DeclaredFigure { series, names } in &kinds {
            if round > 0 && names.is_empty() {
                continue;
            }
            for labels in combinations(names, round) {
                if all.len() == count {
                    return Ok(all);
                }
                let mut series = series.clone();
                series.labels.extend(labels);
                let mean = mean_of(series.unit);
                all.push((Arc::new(series), mean));
            }
        }
        round += 1;
    }
}

/// The labels of the object with this number: those with known values have all of them.
fn combinations(names: &[String], object: usize) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for name in names {
        let known = VALUES.iter().find(|(label, _)| label == name).map(|(_, values)| *values);
        let values = known.map_or_else(
            || vec![format!("{}{object}", &name[name.len() - 2..])],
            |values| values.iter().map(|value| (*value).to_owned()).collect(),
        );
        let with = |of: &Vec<(String, String)>| {
            let each = values.iter().map(|value| {
                let mut labels = of.clone();
                labels.push((name.clone(), value.clone()));
                labels
            });
            each.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    // A label with known values has no further objects.
    let is_known = names.iter().all(|name| VALUES.iter().any(|(label, _)| label == name));
    if is_known && object > 0 { Vec::new() } else { all }
}

/// A value as it is usual for a busy server.
const fn mean_of(unit: Unit) -> f64 {
    match unit {
        Unit::Share => 0.2,
        Unit::Bytes => 2e9,
        Unit::BytesPerSecond => 2e7,
        Unit::Hz => 2.5e9,
        Unit::Watts => 60.0,
        Unit::PerSecond | Unit::PerMinute => 3_000.0,
        Unit::Count => 10_000.0,
        Unit::Us | Unit::Ns | Unit::S | Unit::Ms | Unit::Average | Unit::Cores => 2.5,
    }
}
