//! Percentiles of response times every few seconds, as HammerDB's profiler (`etprof`) writes them, so that
//! scripts which read its log can read ours:
//!
//! ```text
//! |PERCENTILES 2026-11-30 20:15:00 to 2026-11-30 20:15:10
//! |neword|MIN-391|P50%-685|P95%-1002|P99%-1183|MAX-2030|SAMPLES-15184
//! +-----------------+--------------+------+--------+--------------+--------------+
//! ```
//!
//! Times are in microseconds, of all users together; dates are UTC.

use hdrhistogram::Histogram;
use triphammer_core::recorder::histogram;
use triphammer_core::value::Timestamp;
use triphammer_document::result::rfc3339;
use triphammer_store::{HistogramRow, StoredJob, TimesKind};

/// What ends a group of lines: as wide as the columns of HammerDB's table.
const SEPARATOR: &str =
    "+-----------------+--------------+------+--------+--------------+--------------+";

/// HammerDB's names of transaction types; others keep their own.
const PROCEDURES: [(&str, &str); 3] =
    [("new_order", "neword"), ("order_status", "ostat"), ("stock_level", "slev")];

/// A group of lines: from when to when, and each type's times of committed transactions in
/// microseconds. Types without transactions are left out; the one that took the most time is first.
#[must_use]
pub fn percentile_lines<'a>(
    [from, to]: [Timestamp; 2],
    types: impl IntoIterator<Item = (&'a str, &'a Histogram<u64>)>,
) -> String {
    let mut types: Vec<_> = types.into_iter().filter(|(_, times)| !times.is_empty()).collect();
    #[expect(clippy::cast_precision_loss, reason = "an order of sums")]
    let sum = |times: &Histogram<u64>| times.mean() * times.len() as f64;
    types.sort_by(|(_, a), (_, b)| sum(b).total_cmp(&sum(a)));
    let mut text = format!("|PERCENTILES {} to {}\n", moment(from), moment(to));
    for (name, times) in types {
        let known = PROCEDURES.iter().find(|(ours, _)| *ours == name);
        let procedure = known.map_or(name, |(_, procedure)| procedure);
        let at = |share: f64| times.value_at_quantile(share);
        text.push_str(&format!(
            "|{procedure}|MIN-{}|P50%-{}|P95%-{}|P99%-{}|MAX-{}|SAMPLES-{}\n",
            times.min(),
            at(0.5),
            at(0.95),
            at(0.99),
            times.max(),
            times.len(),
        ));
    }
    text.push_str(SEPARATOR);
    text
}

/// The lines of a stored run, in slices of so many seconds, given its histograms sorted by second. In runs
/// of more than an hour the stored ones cover several seconds: slices are at least as long.
#[must_use]
pub fn stored_percentiles(job: &StoredJob, histograms: &[HistogramRow], every: u64) -> String {
    let zero = job.row.started_at.parse().map_or(0, |at: jiff::Timestamp| at.as_microsecond());
    let at = |second: u64| {
        let us = i64::try_from(second).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        Timestamp(zero.saturating_add(us))
    };
    let responses = histograms.iter().filter(|row| row.times == TimesKind::Response);
    let responses: Vec<&HistogramRow> = responses.collect();
    let slices = responses.chunk_by(|a, b| a.first / every == b.first / every);
    let slice = |rows: &[&HistogramRow]| {
        let begin = rows[0].first / every * every;
        let last = rows.iter().map(|row| row.last + 1).max().unwrap_or(begin);
        let of_type = |(index, name): (usize, &'_ String)| {
            let mut times = histogram();
            let of = rows.iter().filter(|row| row.transaction == index);
            of.for_each(|row| row.counts.add_to(&mut times));
            (name.clone(), times)
        };
        let types: Vec<_> = job.transactions.iter().enumerate().map(of_type).collect();
        let end = last.max(begin + every);
        percentile_lines([at(begin), at(end)], types.iter().map(|(name, h)| (name.as_str(), h)))
    };
    slices.map(|rows| format!("{}\n", slice(rows))).collect()
}

/// `2026-11-30 20:15:00`.
fn moment(at: Timestamp) -> String {
    rfc3339(at).get(..19).unwrap_or_default().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_hammerdb() {
        let of = |times: &[u64]| {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            times.iter().for_each(|time| histogram.record(*time).unwrap());
            histogram
        };
        let (new_order, payment, none) = (of(&[391, 685, 1_002]), of(&[300]), of(&[]));
        let at = |seconds: i64| Timestamp(1_600_000_000_000_000 + seconds * 1_000_000);
        let types = [("payment", &payment), ("new_order", &new_order), ("delivery", &none)];
        let text = percentile_lines([at(0), at(10)], types);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "|PERCENTILES 2020-09-13 12:26:40 to 2020-09-13 12:26:50",
                "|neword|MIN-391|P50%-685|P95%-1002|P99%-1002|MAX-1002|SAMPLES-3",
                "|payment|MIN-300|P50%-300|P95%-300|P99%-300|MAX-300|SAMPLES-1",
            ]
        );
        assert_eq!(lines[3..], [SEPARATOR]);
    }
}
