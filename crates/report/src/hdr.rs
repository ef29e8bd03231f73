//! Writes the stored histograms of a run as an HdrHistogram interval log (version 1.3, V2
//! deflated), for HistogramLogProcessor, HistogramLogAnalyzer and the other tools of HdrHistogram.
//! Values are microseconds; the tag of a histogram is its transaction type and the kind of times:
//! `new_order.response`.

use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use triphammer_store::{HistogramRow, StoredJob};

/// The header that readers of the format expect.
const VERSION: &str = "[Histogram log format version 1.3]";

/// What the values of the column of interval maxima are divided by: what HdrHistogram's own writer in
/// Java does unless it is told otherwise.
const MAX_DIVISOR: f64 = 1_000_000.0;

/// Renders the log of a run's histograms, which are sorted by second.
#[must_use]
pub fn hdr(job: &StoredJob, histograms: &[HistogramRow]) -> String {
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment(VERSION);
    for line in comments(job) {
        builder.add_comment(&triphammer_core::text::one_line(&line));
    }
    let zero =
        job.row.started_at.parse().map_or(SystemTime::UNIX_EPOCH, |at: jiff::Timestamp| at.into());
    builder.with_start_time(zero).with_base_time(zero).with_max_value_divisor(MAX_DIVISOR);
    let mut log = builder.begin_log_with(&mut out, &mut serializer).expect("a vector takes all");
    for row in histograms {
        let Some(name) = job.transactions.get(row.transaction) else { continue };
        let tag = format!("{name}.{}", row.times.name());
        let begin = Duration::from_secs(row.first);
        let length = Duration::from_secs(row.last - row.first + 1);
        log.write_histogram(&row.counts.histogram(), begin, length, Tag::new(&tag))
            .expect("a vector takes all, and u32 counts fit the format");
    }
    String::from_utf8(out).expect("the format is text")
}

fn comments(job: &StoredJob) -> Vec<String> {
    let mut lines = vec![
        format!(" triphammer {}, job {}: {}", job.row.tool_version, job.row.id, job.row.workload),
        " values are microseconds: HistogramLogProcessor -outputValueUnitRatio 1000 shows ms"
            .to_owned(),
    ];
    if let Ok(Some(result)) = job.result() {
        // The processor includes intervals that start within these limits, inclusive.
        let begin = result.durations.rampup_s.floor();
        let last = (begin + result.durations.window_s).ceil() - 1.0;
        lines.push(format!(" the timed window: -start {begin} -end {last}"));
    }
    lines
}
