//! The load profile: turns readings of a server's counters and states into values of seconds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use triphammer_core::rows::{Cell, Row};
use triphammer_core::{Elapsed, Rows};
use triphammer_dialects::observe::{MetricDef, MetricKind, MetricQuery};
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::samples::SampleSeries;

use super::sink::Measured;

/// Maximum number of rows of a query that are used.
const ROWS_MAX: usize = 200;

/// Readings of a query's metrics by the labels of its rows.
type Readings = BTreeMap<Vec<String>, Vec<Option<f64>>>;

/// A query of counters and states, and what it returned before.
#[derive(Debug)]
pub struct ProfileQuery {
    /// Its declaration.
    pub def: MetricQuery,
    before: Option<(Readings, Elapsed)>,
    series: HashMap<(usize, Vec<String>), Arc<SampleSeries>>,
}

impl ProfileQuery {
    /// A query that was not made yet.
    pub fn new(def: MetricQuery) -> Self {
        Self { def, before: None, series: HashMap::new() }
    }

    /// Whether it is to be made after this second.
    pub const fn is_due(&self, second: u64) -> bool {
        second.is_multiple_of(self.def.every)
    }

    /// Takes the rows that were read at this time; returns the values. Counters have values from
    /// the second reading on, and none where they went back: the server was restarted, or reset
    /// them.
    pub fn take(&mut self, rows: &Rows, at: Elapsed) -> Measured {
        let readings = self.readings(rows);
        let before = self.before.replace((readings, at));
        let (readings, _) = self.before.as_ref().expect("just put there");
        let mut all = Vec::new();
        for (labels, values) in readings {
            let since = before.as_ref().and_then(|(before, then)| {
                let seconds = at.duration().saturating_sub(then.duration()).as_secs_f64();
                Some((before.get(labels)?, seconds)).filter(|(_, seconds)| *seconds > 0.0)
            });
            for (index, metric) in self.def.metrics.iter().enumerate() {
                let value = value_of(&self.def.metrics, index, values, since);
                let Some(value) = value.filter(|value| value.is_finite()) else { continue };
                let key = (index, labels.clone());
                let series = self.series.entry(key);
                let series = series.or_insert_with(|| series_of(&self.def, metric, labels));
                all.push((Arc::clone(series), value));
            }
        }
        all
    }

    fn readings(&self, rows: &Rows) -> Readings {
        let metrics = &self.def.metrics;
        if metrics.iter().any(|metric| metric.row.is_some()) {
            let mut named: BTreeMap<String, f64> = BTreeMap::new();
            for row in rows.iter() {
                let name = row.text(0).unwrap_or_default().to_lowercase();
                named.extend(number(&row, 1).map(|value| (name, value)));
            }
            let value = |metric: &MetricDef| named.get(metric.row.as_deref()?).copied();
            let values: Vec<_> = metrics.iter().map(value).collect();
            return BTreeMap::from([(Vec::new(), values)]);
        }
        let labels = self.def.labels.len();
        let read = |row: Row<'_>| {
            let of = (0..labels).map(|column| row.text(column).unwrap_or_default().to_owned());
            let values = (labels..labels + metrics.len()).map(|column| number(&row, column));
            (of.collect(), values.collect())
        };
        rows.iter().take(ROWS_MAX).map(read).collect()
    }
}

/// The value of a metric from its reading, and the earlier ones with the seconds since.
fn value_of(
    metrics: &[MetricDef],
    index: usize,
    values: &[Option<f64>],
    since: Option<(&Vec<Option<f64>>, f64)>,
) -> Option<f64> {
    let metric = &metrics[index];
    let increase = |index: usize| {
        let (before, _) = since?;
        Some(values[index]? - before[index]?).filter(|increase| *increase >= 0.0)
    };
    match metric.kind {
        MetricKind::Gauge | MetricKind::State => Some(values[index]? * metric.scale),
        MetricKind::Counter => Some(increase(index)? * metric.scale / since?.1),
        MetricKind::Mean => {
            let over = metric.over.as_ref()?;
            let count = increase(metrics.iter().position(|other| &other.name == over)?)?;
            Some(increase(index)? * metric.scale / Some(count).filter(|count| *count > 0.0)?)
        }
    }
}

fn series_of(query: &MetricQuery, metric: &MetricDef, labels: &[String]) -> Arc<SampleSeries> {
    let mut all = metric.labels.clone();
    all.extend(query.labels.iter().cloned().zip(labels.iter().cloned()));
    let merge = metric.merge.as_deref().and_then(Merge::named);
    Arc::new(SampleSeries {
        metric: metric.name.clone(),
        labels: all,
        title: metric.title.clone(),
        unit: Unit::named(&metric.unit).unwrap_or(Unit::Average),
        merge: merge.unwrap_or(Merge::Mean),
    })
}

/// A number in any form in which servers return one.
#[expect(clippy::cast_precision_loss, reason = "counters; rates need no more digits")]
pub fn number(row: &Row<'_>, column: usize) -> Option<f64> {
    if column >= row.len() {
        return None;
    }
    match row.cell(column) {
        Cell::Int(number) => Some(number as f64),
        Cell::Float(number) => Some(number),
        Cell::Decimal { units, scale } => Some(units as f64 / 10_f64.powi(scale.into())),
        Cell::Decimal128 { place, scale } => {
            Some(*row.units(place) as f64 / 10_f64.powi(scale.into()))
        }
        Cell::Text(_) => row.text(column).ok()?.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn metric(name: &str, kind: MetricKind, over: Option<&str>) -> MetricDef {
        MetricDef {
            name: name.into(),
            labels: BTreeMap::new(),
            title: name.into(),
            unit: "per_second".into(),
            kind,
            merge: None,
            scale: 1.0,
            over: over.map(str::to_owned),
            row: None,
            help: String::new(),
            first: false,
            own: true,
            part: None,
            log: None,
        }
    }

    fn query(labels: &[&str], metrics: Vec<MetricDef>) -> ProfileQuery {
        ProfileQuery::new(MetricQuery {
            name: "test".into(),
            sql: String::new(),
            every: 1,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            metrics,
            when: None,
            from: None,
            before: None,
        })
    }

    fn read(query: &mut ProfileQuery, at_s: u64, rows: &[(&str, &[f64])]) -> Vec<(String, f64)> {
        let mut filled = Rows::new();
        filled.reset(rows[0].1.len() + query.def.labels.len());
        for (label, values) in rows {
            if !query.def.labels.is_empty() {
                filled.text(label);
            }
            values.iter().for_each(|value| filled.float(*value));
        }
        let at = Elapsed::from_duration(Duration::from_secs(at_s));
        let values = query.take(&filled, at).into_iter();
        values.map(|(series, value)| (series.metric.clone(), value)).collect()
    }

    #[test]
    fn counters_become_rates_and_one_that_goes_back_is_a_gap() {
        let metrics = vec![
            metric("commits", MetricKind::Counter, None),
            metric("time", MetricKind::Mean, Some("commits")),
            metric("sessions", MetricKind::Gauge, None),
        ];
        let mut query = query(&[], metrics);
        let of = |name: &str, value| (name.to_owned(), value);
        assert_eq!(read(&mut query, 1, &[("", &[100.0, 50.0, 7.0])]), [of("sessions", 7.0)]);
        assert_eq!(
            read(&mut query, 3, &[("", &[140.0, 60.0, 8.0])]),
            [of("commits", 20.0), of("time", 0.25), of("sessions", 8.0)]
        );
        let restarted = read(&mut query, 4, &[("", &[3.0, 1.0, 1.0])]);
        assert_eq!(restarted, [of("sessions", 1.0)], "a restart is not a negative rate");
        let idle = read(&mut query, 5, &[("", &[3.0, 1.0, 1.0])]);
        assert_eq!(idle, [of("commits", 0.0), of("sessions", 1.0)], "no mean over nothing");
    }

    #[test]
    fn a_row_that_is_new_has_no_rate_yet() {
        let mut query = query(&["relation"], vec![metric("vacuums", MetricKind::Counter, None)]);
        assert!(read(&mut query, 1, &[("a", &[1.0])]).is_empty());
        let both = read(&mut query, 2, &[("a", &[3.0]), ("b", &[9.0])]);
        assert_eq!(both, [("vacuums".to_owned(), 2.0)]);
    }
}
