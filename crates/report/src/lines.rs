//! Signs, cells and lines that all reports share.

use triphammer_core::stats::Times;
use triphammer_settings::format::milliseconds;

use super::chart::Charset;

/// Separator between the parts of a line.
pub(super) const DOT: &str = " · ";

/// Head of a table of times; `sd` is the standard deviation.
pub(crate) const TIMES: [&str; 10] =
    ["", "min", "mean", "sd", "p50", "p90", "p95", "p99", "p99.9", "max"];

/// Formats a row of a table of times.
pub(crate) fn times_cells(title: &str, times: &Times) -> Vec<String> {
    let mut cells = vec![title.to_owned()];
    if times.count == 0 {
        cells.extend((1..TIMES.len()).map(|_| "-".to_owned()));
    } else {
        cells.extend([whole_milliseconds(times.min_us), milliseconds(times.mean_us)]);
        cells.push(times.stdev_us.map_or_else(|| "-".to_owned(), milliseconds));
        cells.extend(
            [times.p50_us, times.p90_us, times.p95_us, times.p99_us]
                .into_iter()
                .chain([times.p99_9_us, times.max_us])
                .map(whole_milliseconds),
        );
    }
    cells
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
pub(super) fn whole_milliseconds(us: u64) -> String {
    milliseconds(us as f64)
}

/// The lines of a report as text, without blanks at their ends.
pub(super) fn printed(lines: &[String], charset: Charset) -> String {
    let text: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => ascii(&text),
    }
}

/// Replaces the non-ASCII characters of reports.
pub(super) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '•' => out.push('*'),
            '·' => out.push('|'),
            '“' | '”' => out.push('"'),
            '±' => out.push_str("+-"),
            'λ' => out.push_str("lambda"),
            'σ' => out.push_str("sigma"),
            'κ' => out.push_str("kappa"),
            '²' => out.push('2'),
            '→' => out.push_str("->"),
            '×' => out.push('x'),
            'µ' => out.push('u'),
            '—' | '–' => out.push('-'),
            '…' => out.push_str("..."),
            '≥' => out.push_str(">="),
            sign if sign.is_ascii() => out.push(sign),
            _ => out.push('?'),
        }
    }
    out
}
