//! A run as input of a comparison: its result, its server settings, and its seconds if it is
//! compared alone.

use std::collections::BTreeMap;

use triphammer_core::stats::rate;
use triphammer_core::workload::PrimaryMetric;

use crate::measure::Measure;
use crate::result::RunResult;
use crate::series::SeriesRow;

/// A run to compare.
#[derive(Clone, Debug)]
pub struct Run {
    /// Result document of the job.
    pub result: RunResult,
    /// Server settings at its start, by name; empty if unknown.
    pub server_settings: Vec<(String, String)>,
    /// Seconds of its timed window; `None` if they are not needed.
    pub seconds: Option<Seconds>,
}

/// Values per second, by the name of the figure (`nopm`, `new_order.p95`).
pub type Seconds = BTreeMap<String, Vec<f64>>;

/// Name of a percentile, minimum mean transactions per second for it to be meaningful, and its
/// value.
type Needed = (&'static str, u64, &'static str);
const NEEDED: [Needed; 3] = [("p50", 10, "p50_us"), ("p95", 20, "p95_us"), ("p99", 100, "p99_us")];

/// The complete seconds of a run's timed window. An interval stored as one gives one point.
#[must_use]
pub fn seconds(
    result: &RunResult,
    primary_metric: &PrimaryMetric,
    transactions: &[String],
    rows: &[SeriesRow],
) -> Seconds {
    let (start, end) =
        (result.durations.rampup_s, result.durations.rampup_s + result.durations.window_s);
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
    let in_window =
        |row: &&SeriesRow| row.first as f64 > start - 0.5 && row.last as f64 + 1.0 < end + 1e-3;
    let rows: Vec<&SeriesRow> = rows.iter().filter(in_window).collect();
    let measure = Measure::from(primary_metric.measure);
    let mut seconds = Seconds::new();
    for second in rows.chunk_by(|a, b| a.first == b.first) {
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
        let length = (second[0].last - second[0].first + 1) as f64;
        let counted =
            second.iter().filter(|row| primary_metric.transactions.contains(&row.transaction));
        let counted = counted.map(|row| row.values.count("committed")).sum();
        let counted = measure.value(counted, length);
        let all =
            |row: &&SeriesRow| row.values.count("committed") + row.values.count("rolled_back");
        let all = second.iter().map(all).sum();
        let mut record = |name: String, value| seconds.entry(name).or_default().push(value);
        record(primary_metric.name.to_lowercase(), counted);
        record("tpm".to_owned(), rate(all, length, 60));
    }
    for (place, name) in transactions.iter().enumerate() {
        let rows: Vec<&&SeriesRow> = rows.iter().filter(|row| row.transaction == place).collect();
        let committed: u64 = rows.iter().map(|row| row.values.count("committed")).sum();
        for (percentile, needed, metric) in NEEDED {
            if rows.is_empty() || committed < needed * rows.len() as u64 {
                continue;
            }
            let values = rows.iter().filter_map(|row| row.values.get(metric));
            seconds.insert(format!("{name}.{percentile}"), values.collect());
        }
    }
    seconds
}
