//! The observed figures of a run as rows: one row per second, one column per figure, whose name is
//! the metric's with its labels, as in Prometheus. `docs/outputs.md` explains the columns.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use triphammer_core::text::csv_field;
use triphammer_document::JobId;
use triphammer_document::metrics::{OF_SECOND, OF_TYPE};
use triphammer_document::samples::SampleSeries;
use triphammer_document::series::{Layout, decimal};
use triphammer_store::{Store, StoreError};

/// The observed figures of one run.
#[derive(Debug)]
pub(super) struct ObservedSeries {
    seconds: Range<u64>,
    columns: Vec<(String, BTreeMap<u64, f64>)>,
}

impl ObservedSeries {
    /// Reads all observed figures of a job; `None` when it has none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(store: &Store, job: JobId) -> Result<Option<Self>, StoreError> {
        let Some(stretch) = store.sample_stretch(job)? else { return Ok(None) };
        let mut columns = Vec::new();
        for found in store.find_series(job, None, &[])? {
            if is_of_client(&found.series.metric) {
                continue;
            }
            let points = store.points(&found, &stretch, 1)?;
            let values = points.iter().map(|point| (point.first, point.value)).collect();
            columns.push((name(&found.series), values));
        }
        let seconds = || columns.iter().flat_map(|(_, of): &(_, BTreeMap<u64, f64>)| of.keys());
        let (first, last) = (seconds().min().copied(), seconds().max().copied());
        let Some((first, last)) = first.zip(last) else { return Ok(None) };
        Ok(Some(Self { seconds: first..last + 1, columns }))
    }

    /// Writes a row per second, from the first to the last in which anything was observed.
    pub fn write(&self, layout: Layout) -> String {
        let mut out = String::new();
        if layout == Layout::Csv {
            let names = self.columns.iter().map(|(name, _)| csv_field(name));
            out.push_str("second,");
            out.push_str(&names.collect::<Vec<_>>().join(","));
            out.push('\n');
        }
        for second in self.seconds.clone() {
            match layout {
                Layout::Csv => self.csv(second, &mut out),
                Layout::JsonLines => self.json(second, &mut out),
            }
        }
        out
    }

    fn csv(&self, second: u64, out: &mut String) {
        out.push_str(&second.to_string());
        for (_, values) in &self.columns {
            out.push(',');
            out.push_str(&values.get(&second).copied().map(decimal).unwrap_or_default());
        }
        out.push('\n');
    }

    fn json(&self, second: u64, out: &mut String) {
        let _ = write!(out, "{{\"second\":{second}");
        for (name, values) in &self.columns {
            let value = values.get(&second).copied().map_or_else(|| "null".to_owned(), decimal);
            let _ = write!(out, ",{}:{value}", serde_json::Value::from(name.as_str()));
        }
        out.push_str("}\n");
    }
}

/// Whether the client measured it itself: the series has these.
fn is_of_client(metric: &str) -> bool {
    OF_SECOND.iter().chain(OF_TYPE).any(|declared| declared.name == metric)
}

/// The metric's name, and its labels in braces: `system.cpu.utilization{mode="user"}`.
fn name(series: &SampleSeries) -> String {
    if series.labels.is_empty() {
        return series.metric.to_string();
    }
    let labels = series.labels.iter().map(|(key, value)| format!("{key}={value:?}"));
    format!("{}{{{}}}", series.metric, labels.collect::<Vec<_>>().join(","))
}
