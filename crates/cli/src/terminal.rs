//! Output to stderr: errors, warnings, progress bars, and the live line of a run. Bars and the live
//! line appear only on a terminal; otherwise a run prints its phases and a line every 30 s, or at
//! the interval of `--progress`.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use triphammer_core::clock::{self, format_duration};
use triphammer_core::event::{Event, Phase};
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::PrimaryMetric;
use triphammer_document::measure::{self, Measure};
use triphammer_document::redacted::mask_message;
use triphammer_document::second::Second;
use triphammer_report as report;
use triphammer_report::wrapped;
use triphammer_runner::watch::{CheckProgress, QueryProgress};
use triphammer_settings::failure::{Failure, cut};
use triphammer_settings::format;

/// Seconds between two progress lines without a terminal.
const PLAIN_LINE_SECONDS: u64 = 30;
/// Seconds over which the live percentile is computed.
const RECENT_SECONDS: usize = 5;

/// Maximum number of lines kept while the full-screen view is shown; the newest are kept.
const KEPT_MAX: usize = 1000;

/// Lines to print when the full-screen view ends; `None` while it is not shown.
static KEPT: Mutex<Option<VecDeque<String>>> = Mutex::new(None);

/// Writes a line to stderr, or keeps it for later; errors of a closed stderr are ignored. Each line is written in one
/// piece, because scripts print there, too.
fn line(text: &str) {
    let text = triphammer_core::text::lines(text);
    if let Some(kept) = KEPT.lock().expect("no thread panics while it holds the lock").as_mut() {
        kept.push_back(text.into_owned());
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
        return;
    }
    let mut stderr = std::io::stderr().lock();
    if stderr.is_terminal() {
        let columns = columns();
        for text in text.split('\n').flat_map(|text| fit(text, columns)) {
            let _ = stderr.write_all(format!("{text}\n").as_bytes());
        }
        return;
    }
    let _ = stderr.write_all(format!("{text}\n").as_bytes());
}

/// Columns of the terminal; 80 if unknown.
fn columns() -> usize {
    ratatui::crossterm::terminal::size().map_or(80, |(columns, _)| columns.into())
}

/// Breaks a line between words to fit a terminal; further lines are indented. A line that fits stays
/// as it is.
fn fit(text: &str, columns: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    if text.chars().count() <= columns {
        return vec![text.to_owned()];
    }
    let mut lines = wrapped("", text, columns.saturating_sub(INDENT.len()));
    for line in lines.iter_mut().skip(1) {
        line.insert_str(0, INDENT);
    }
    lines
}

/// The parts of a live line that fit: parts begin after two spaces, or with a parenthesis.
fn fitting(text: &str, columns: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(columns) else { return text };
    let ends = text.match_indices("  ").chain(text.match_indices(" (")).map(|(at, _)| at);
    ends.filter(|at| *at <= end).max().map_or(text, |at| text[..at].trim_end())
}

/// Starts to keep lines, because the full-screen view is shown.
pub fn keep() {
    *KEPT.lock().expect("no thread panics while it holds the lock") = Some(VecDeque::new());
}

/// Returns the newest kept lines, at most `lines`.
pub fn kept(lines: usize) -> Vec<String> {
    let kept = KEPT.lock().expect("no thread panics while it holds the lock");
    let Some(kept) = kept.as_ref() else { return Vec::new() };
    kept.iter().skip(kept.len().saturating_sub(lines)).cloned().collect()
}

/// Prints the kept lines after the full-screen view has ended.
pub fn release() {
    let kept = KEPT.lock().expect("no thread panics while it holds the lock").take();
    for text in kept.unwrap_or_default() {
        line(&text);
    }
}

/// The interval of progress lines unless `--progress` names one; `None` on a terminal, which shows
/// the live line.
pub fn default_progress() -> Option<Duration> {
    (!std::io::stderr().is_terminal()).then_some(Duration::from_secs(PLAIN_LINE_SECONDS))
}

/// Prints the error that ends the command. It may repeat an argument that was given in the wrong
/// place, such as a target with a password.
pub fn error(failure: &Failure) {
    line(&cut_words(&mask_message(&format!("error: {failure}"))));
}

/// Prints a warning about something that affects a result or exposes a secret.
pub fn warn(text: &str) {
    line(&cut_words(&mask_message(&format!("warning: {text}"))));
}

/// Longest word of a message, in characters: a value that somebody gave may have megabytes.
const WORD_MAX: usize = 400;

/// Cuts the words that are too long to be read.
fn cut_words(message: &str) -> String {
    message.split(' ').map(|word| cut(word, WORD_MAX)).collect::<Vec<_>>().join(" ")
}

/// Prints an informational line.
pub fn note(text: &str) {
    line(text);
}

/// Asks for a password without echoing it.
pub fn ask_password(question: &str) -> std::io::Result<String> {
    rpassword::prompt_password(question)
}

/// Progress bars of a build or check.
#[derive(Debug)]
pub struct Bars {
    bar: Mutex<Option<ProgressBar>>,
    shown: bool,
}

impl Bars {
    /// Creates progress bars, if stderr is a terminal.
    pub fn new() -> Self {
        Self { bar: Mutex::new(None), shown: std::io::stderr().is_terminal() }
    }

    /// Removes the last bar.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.lock().expect("no thread panics while it holds the lock").take()
        {
            bar.finish_and_clear();
        }
    }
}

impl Bars {
    /// Starts a bar for a part of the job with a number of units.
    pub fn task(&self, name: &str, total: u64, unit: &str) {
        self.clear();
        if !self.shown || total == 0 {
            return;
        }
        let template = format!(
            "{{msg:18}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}  {{rate}}  {{eta}} left"
        );
        let style = ProgressStyle::with_template(&template).expect("a fixed template");
        let style =
            style.with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{}/s", format::figure(state.per_sec()));
            });
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
        bar.set_style(style);
        bar.set_message(name.to_owned());
        *self.bar.lock().expect("no thread panics while it holds the lock") = Some(bar);
    }

    /// Advances the bar by a number of units.
    pub fn advance(&self, units: u64) {
        if let Some(bar) = &*self.bar.lock().expect("no thread panics while it holds the lock") {
            bar.inc(units);
        }
    }

    /// Prints a line above the bars.
    pub fn message(&self, text: &str) {
        self.clear();
        line(text);
    }
}

/// The live line of a run.
#[derive(Debug)]
pub struct Live {
    primary_metric: PrimaryMetric,
    terminal: Option<ProgressBar>,
    /// Whether this is one run of several: without a terminal, only the result of each is printed.
    in_sequence: bool,
    phase: Option<Phase>,
    /// Second at which the current phase started.
    phase_began: u64,
    /// The line of the current phase, until it is printed, and that second.
    pending: Option<(u64, String)>,
    /// Number of seconds of the run that are complete.
    complete: u64,
    seconds: u64,
    primary_metric_count: u64,
    completed: u64,
    failed: u64,
    ended: u64,
    recent: VecDeque<Box<RecordedInterval>>,
    /// Seconds of ramp-up and window; `None` if the length is a number of transactions.
    length: Option<u64>,
    /// Ramp-up and window in words: `10s`, `100 transactions per user`; empty if unknown.
    lengths: [String; 2],
    /// Interval of the lines of `--progress`, in seconds.
    progress: Option<u64>,
    /// Interval of the lines of `--slices`, in seconds.
    slices: Option<u64>,
    /// Names of the transaction types, for these.
    types: Vec<String>,
    /// Times since the last of these lines.
    since_slice: Option<RecordedInterval>,
    /// Counters since the last progress line.
    since_line: Option<RecordedInterval>,
    /// Phase of the last of those seconds that is not part of the drain.
    line_phase: Option<Phase>,
    /// What follows the figures: what streams of queries run, or what the checker has found.
    beside: String,
    /// Second since which sessions are disconnected, and the reason.
    away: Option<(u64, String)>,
    /// The latest error of transactions.
    error: Option<String>,
}

impl Live {
    /// Creates the live line of a workload with this primary metric.
    pub fn new(primary_metric: &PrimaryMetric) -> Self {
        let mut live = Self::hidden(primary_metric);
        live.show();
        live
    }

    /// Creates a hidden live line that collects figures while the full-screen view is shown.
    pub fn hidden(primary_metric: &PrimaryMetric) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::with_template("{wide_msg}").expect("a fixed template"));
        let terminal = Some(bar);
        Self {
            primary_metric: primary_metric.clone(),
            terminal,
            in_sequence: false,
            phase: None,
            phase_began: 0,
            pending: None,
            complete: 0,
            seconds: 0,
            primary_metric_count: 0,
            completed: 0,
            failed: 0,
            ended: 0,
            recent: VecDeque::new(),
            length: None,
            lengths: Default::default(),
            progress: None,
            slices: None,
            types: Vec::new(),
            since_slice: None,
            since_line: None,
            line_phase: None,
            beside: String::new(),
            away: None,
            error: None,
        }
    }

    /// Sets the maximum length of the run, whose transactions are those of a recording if `is_replay`, and the interval of
    /// progress lines.
    pub fn set_length(&mut self, spec: &RunSpec, is_replay: bool, progress: Option<Duration>) {
        self.length = match spec.length {
            Length::Time(window) => Some((spec.rampup + window).as_secs()),
            Length::Transactions(_) => None,
        };
        let window = match spec.length {
            Length::Time(window) => format_duration(window),
            Length::Transactions(all) if is_replay => {
                format!("{} of the recording", format::counted(all, "transactions"))
            }
            Length::Transactions(each) => {
                format!("{} per user", format::counted(each, "transactions"))
            }
        };
        self.lengths = [format_duration(spec.rampup), window];
        self.progress = progress.map(|every| every.as_secs().max(1));
    }

    /// Prints the percentiles of these transaction types at this interval, too.
    pub fn set_slices(&mut self, every: Option<Duration>, types: Vec<String>) {
        self.slices = every.map(|every| every.as_secs().max(1));
        self.types = types;
    }

    /// Creates the live line of consecutive runs; hidden while the full-screen view is shown.
    pub fn of_sequence(primary_metric: &PrimaryMetric, hidden: bool) -> Self {
        let live = if hidden { Self::hidden(primary_metric) } else { Self::new(primary_metric) };
        Self { in_sequence: true, ..live }
    }

    /// Starts to draw, if stderr is a terminal.
    pub fn show(&mut self) {
        self.terminal = self.terminal.take().filter(|_| std::io::stderr().is_terminal());
        if let Some(bar) = &self.terminal {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        self.announce(u64::MAX);
        if let Some(bar) = self.terminal.take() {
            bar.finish_and_clear();
        }
    }

    /// Prints a warning above the line.
    pub fn warn(&self, text: &str) {
        self.message(&format!("warning: {text}"));
    }

    /// Updates the line from an event of the run.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting { connected, of } => {
                self.tell(&format!("connecting {connected}/{of} virtual users"));
            }
            Event::Phase(phase, at) => self.enter(*phase, at.second()),
            Event::Note(note) => {
                if note.kind == "away" {
                    let at = note.at.map_or(self.seconds, |at| at.second());
                    self.away = Some((at, note.text.clone()));
                }
                if note.kind == "error" {
                    self.error = Some(note.text.clone());
                }
                self.message(&note.text);
            }
            Event::Started { .. } | Event::Second(_) => {}
        }
    }

    fn enter(&mut self, phase: Phase, second: u64) {
        self.phase = Some(phase);
        self.phase_began = second;
        if phase == Phase::Window {
            (self.seconds, self.primary_metric_count, self.completed) = (0, 0, 0);
            (self.failed, self.ended) = (0, 0);
        }
        if self.terminal.is_none() && !self.in_sequence {
            self.pending = Some((second, self.phase_text(phase)));
            self.announce(self.complete);
        }
    }

    /// Prints the line of the current phase, once every second before it is complete.
    fn announce(&mut self, complete: u64) {
        if let Some((_, text)) = self.pending.take_if(|(began, _)| *began <= complete) {
            line(&text);
        }
    }

    /// Describes a phase that starts, for a log in which the line stands alone.
    fn phase_text(&self, phase: Phase) -> String {
        let [rampup, window] = &self.lengths;
        match phase {
            Phase::RampUp => format!("ramp-up of {rampup}: not part of the result"),
            Phase::Window => format!("timed window of {window}"),
            Phase::Drain => "draining: waiting for transactions in flight".to_owned(),
            Phase::Abort => "aborting: abandoning transactions in flight".to_owned(),
        }
    }

    /// Resets the line for the next run of a sequence.
    pub fn again(&mut self, text: &str) {
        self.message(text);
        let terminal = self.terminal.take();
        *self = Self { terminal, ..Self::of_sequence(&self.primary_metric, true) };
    }

    /// Prints a line above the live line.
    pub fn message(&self, text: &str) {
        match &self.terminal {
            Some(bar) => bar.suspend(|| line(text)),
            None => line(text),
        }
    }

    /// Sets the text of the live line; has no effect without a terminal.
    pub fn tell(&self, text: &str) {
        if let Some(bar) = &self.terminal {
            bar.set_message(fitting(text, columns()).to_owned());
            bar.tick();
        }
    }

    /// Updates the line from a complete second.
    pub fn second(&mut self, second: &Second) {
        let interval = &second.interval;
        // Transactions that end during the drain would dilute the figures of the window.
        let counted = !matches!(second.phase, Phase::Drain | Phase::Abort);
        self.seconds += if counted { second.seconds() } else { 0 };
        for seen in interval.types.iter().filter(|_| counted) {
            self.completed += seen.counts.completed();
            self.failed += seen.counts.failures() + seen.counts.indeterminate;
            self.ended += seen.counts.ended();
        }
        if counted {
            self.primary_metric_count += measure::counted(&self.primary_metric, &interval.types);
        }
        self.recent.push_back(Box::new(interval.clone()));
        if self.recent.len() > RECENT_SECONDS {
            self.recent.pop_front();
        }
        if self.terminal.is_some() {
            let text = self.text(second);
            self.tell(&text);
        }
        if let Some(every) = self.slices {
            self.slice(second, every);
        }
        if let Some(every) = self.progress {
            self.progress(second, every);
        } else if self.terminal.is_none()
            && !self.in_sequence
            && (interval.last + 1).is_multiple_of(PLAIN_LINE_SECONDS)
        {
            line(&self.text(second));
        }
        self.complete = interval.last + 1;
        self.announce(self.complete);
    }

    /// Updates the line of a run of queries; without a terminal, or with `--progress`, prints one now and then.
    pub fn queries(&mut self, progress: &QueryProgress) {
        let text = progress.to_string();
        if progress.total.is_none() {
            self.beside = text;
            // The baseline of the queries comes before any second of the transactions.
            if self.phase.is_none() {
                self.tell(&self.beside);
            }
            return;
        }
        self.tell(&text);
        let elapsed = progress.elapsed.as_secs();
        let every = self.progress.or_else(|| self.terminal.is_none().then_some(PLAIN_LINE_SECONDS));
        if every.is_some_and(|every| elapsed >= self.phase_began + every) {
            self.phase_began = elapsed;
            self.message(&text);
        }
    }

    /// Keeps what the checker has found, for the next lines.
    pub fn checked(&mut self, progress: &CheckProgress) {
        self.beside = progress.to_string();
    }

    /// Prints a progress line about the time since the last one, if it is due.
    fn progress(&mut self, second: &Second, every: u64) {
        let interval = &second.interval;
        match &mut self.since_line {
            Some(since) => since.add_later(interval),
            None => self.since_line = Some(interval.clone()),
        }
        if !matches!(second.phase, Phase::Drain | Phase::Abort) {
            self.line_phase = Some(second.phase);
        }
        if (interval.last + 1).is_multiple_of(every)
            && let Some(since) = self.since_line.take()
        {
            let phase = self.line_phase.take().unwrap_or(second.phase);
            self.message(&self.progress_text(&since, phase));
        }
    }

    /// Prints the percentiles of the time since the last ones, if they are due.
    fn slice(&mut self, second: &Second, every: u64) {
        let interval = &second.interval;
        match &mut self.since_slice {
            Some(since) => since.add_later(interval),
            None => self.since_slice = Some(interval.clone()),
        }
        if !(interval.last + 1).is_multiple_of(every) {
            return;
        }
        let Some(since) = self.since_slice.take() else { return };
        let to = clock::wall();
        let length = i64::try_from(since.last + 1 - since.first).unwrap_or_default();
        let from = Timestamp(to.0.saturating_sub(length.saturating_mul(1_000_000)));
        let types = self.types.iter().zip(&since.types);
        let times = types.filter_map(|(name, seen)| Some((name.as_str(), seen.response.as_ref()?)));
        self.message(&report::percentile_lines([from, to], times));
    }

    /// Formats a progress line; `phase` is that of its last second before the drain, not the one
    /// that may have started meanwhile.
    fn progress_text(&self, since: &RecordedInterval, phase: Phase) -> String {
        let (mut completed, mut failed, mut ended) = (0, 0, 0);
        for seen in &since.types {
            completed += seen.counts.completed();
            failed += seen.counts.failures() + seen.counts.indeterminate;
            ended += seen.counts.ended();
        }
        if matches!(phase, Phase::Drain | Phase::Abort) {
            // Of the rest of what was in flight, a rate says nothing.
            let ended = format::counted(ended, "transactions");
            return format!(
                "progress: {} {}  {ended} ended",
                self.elapsed(since.last),
                phase.title()
            );
        }
        let seconds = (since.last - since.first + 1) as f64;
        let counted = measure::counted(&self.primary_metric, &since.types);
        format!(
            "progress: {} {}  {} {}  TPM {}  p95 {}  failed {}{}",
            self.elapsed(since.last),
            phase.title(),
            self.primary_metric.name,
            format::figure(Measure::from(self.primary_metric.measure).value(counted, seconds)),
            format::figure(rate(completed, seconds, 60)),
            self.p95(std::iter::once(since)),
            format::percent(share(failed, ended)),
            self.beside(),
        )
    }

    /// Formats what follows the figures.
    fn beside(&self) -> String {
        if self.beside.is_empty() { String::new() } else { format!("  {}", self.beside) }
    }

    /// Formats `1m5s/6m`: elapsed time at the end of this second, and total time of the run; only the
    /// former during a drain, which comes after the total.
    fn elapsed(&self, second: u64) -> String {
        let text = |seconds| format_duration(Duration::from_secs(seconds));
        match self.length {
            Some(length) if second < length => format!("{}/{}", text(second + 1), text(length)),
            _ => text(second + 1),
        }
    }

    fn text(&self, second: &Second) -> String {
        let interval = &second.interval;
        let seconds = self.seconds as f64;
        let first =
            Measure::from(self.primary_metric.measure).value(self.primary_metric_count, seconds);
        let tpm = rate(self.completed, seconds, 60);
        let is_ending = matches!(second.phase, Phase::Drain | Phase::Abort);
        let mut text = format!("{} {}", self.elapsed(interval.last), second.phase.title());
        match interval.outage_since {
            Some(since) if !is_ending => {
                text.push_str(&self.outage(since, interval));
                return text;
            }
            _ if interval.connected == 0 && !is_ending => {
                text.push_str("  no session is connected");
            }
            _ => {}
        }
        let server = second.server.map_or_else(String::new, |server| {
            format!(" (server now {})", format::figure(server.per_minute()))
        });
        text.push_str(&format!(
            "  {} {}  TPM {}  p95 {}  failed {}  client CPU {}{server}",
            self.primary_metric.name,
            format::figure(first),
            format::figure(tpm),
            self.p95(self.recent.iter().map(|interval| &**interval)),
            format::percent(share(self.failed, self.ended)),
            format::percent(interval.gauges.busiest_share()),
        ));
        text.push_str(&self.beside());
        text
    }

    /// Formats how long nothing has completed, and the reason if known: sessions lost in the second
    /// before may be the cause. If transactions end, but all of them fail, their error says more.
    fn outage(&self, since: u64, interval: &RecordedInterval) -> String {
        let away = self.away.as_ref().filter(|(at, _)| at + 1 >= since).map(|(_, why)| why);
        let ended: u64 = interval.types.iter().map(|seen| seen.counts.ended()).sum();
        if away.is_none() && ended > 0 {
            let why = self.error.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            return format!("  {} 0, 100 % failed{why}", self.primary_metric.name);
        }
        let last = interval.last;
        let lasts = format_duration(Duration::from_secs(last + 1 - since.min(last)));
        let why = away.map_or_else(String::new, |why| format!(": {why}"));
        format!("  no service for {lasts}{why}")
    }

    /// Formats the 95th percentile of the response times of the primary metric's transactions in these
    /// seconds: `12.3 ms`, or `-` if none was committed.
    fn p95<'a>(&self, intervals: impl Iterator<Item = &'a RecordedInterval>) -> String {
        let mut merged = triphammer_core::recorder::histogram();
        for interval in intervals {
            for &index in &self.primary_metric.transactions {
                if let Some(times) = &interval.types[index].response {
                    merged.add(times).expect("all have the same bounds");
                }
            }
        }
        match merged.is_empty() {
            true => "-".to_owned(),
            false => {
                let p95_us = Times::of(Some(&merged), None).p95_us as f64;
                format!("{} ms", format::milliseconds(p95_us))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{fit, fitting};

    #[test]
    fn a_long_line_is_broken_between_words() {
        let warning = "warning: the load did not reach the rate";
        assert_eq!(fit(warning, 40), [warning]);
        assert_eq!(fit(warning, 20), ["warning: the load", "  did not reach the", "  rate"]);
        assert_eq!(fit("", 20), [""]);
    }

    #[test]
    fn a_live_line_loses_whole_parts_where_it_does_not_fit() {
        let line = "4s/4s timed  NOPM 92,595  CPU 5.6 % (server now 210,000)";
        for (columns, shown) in [
            (80, line),
            (56, line),
            (55, "4s/4s timed  NOPM 92,595  CPU 5.6 %"),
            (35, "4s/4s timed  NOPM 92,595  CPU 5.6 %"),
            (34, "4s/4s timed  NOPM 92,595"),
            (5, line),
        ] {
            assert_eq!(fitting(line, columns), shown, "{columns}");
        }
    }
}
