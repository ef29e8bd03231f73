//! What is written to stderr: errors, warnings, bars, and the one live line of a run. Bars and the live
//! line appear on a terminal only; elsewhere a run reports its phases and a line every half minute, or as often as
//! `--progress` says.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use triphammer_core::clock::format_duration;
use triphammer_core::event::{Event, Phase};
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::stats::{Times, rate, share};
use triphammer_core::workload::PrimaryMetric;
use triphammer_runner::Failure;
use triphammer_runner::measure::{self, Measure};
use triphammer_runner::report::format;
use triphammer_runner::second::Second;

/// Seconds between two lines where there is no terminal.
const PLAIN_LINE_SECONDS: u64 = 30;
/// Seconds that the live percentile looks back.
const RECENT_SECONDS: usize = 5;

/// Lines kept while something else fills the terminal, the newest.
const KEPT_MAX: usize = 1000;

/// What is to be said when the terminal is free again; `None` while it is.
static KEPT: Mutex<Option<VecDeque<String>>> = Mutex::new(None);

/// Writes a line to stderr, or keeps it for later; a closed stderr is nobody's loss.
fn line(text: &str) {
    let text = triphammer_core::text::lines(text);
    if let Some(kept) = KEPT.lock().expect("nobody panics with it").as_mut() {
        kept.push_back(text.into_owned());
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
        return;
    }
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// From now on lines are kept: something else fills the terminal.
pub fn keep() {
    *KEPT.lock().expect("nobody panics with it") = Some(VecDeque::new());
}

/// The last lines kept.
pub fn kept(lines: usize) -> Vec<String> {
    let kept = KEPT.lock().expect("nobody panics with it");
    let Some(kept) = kept.as_ref() else { return Vec::new() };
    kept.iter().skip(kept.len().saturating_sub(lines)).cloned().collect()
}

/// The terminal is free again: says what was kept.
pub fn release() {
    let kept = KEPT.lock().expect("nobody panics with it").take();
    for text in kept.unwrap_or_default() {
        line(&text);
    }
}

/// An error that ends the command.
pub fn error(failure: &Failure) {
    line(&format!("error: {failure}"));
}

/// Something that spoils a result or endangers a secret.
pub fn warn(text: &str) {
    line(&format!("warning: {text}"));
}

/// Something worth knowing.
pub fn note(text: &str) {
    line(text);
}

/// Asks for a password without showing it.
pub fn ask_password(question: &str) -> std::io::Result<String> {
    rpassword::prompt_password(question)
}

/// The bars of a build or check.
#[derive(Debug)]
pub struct Bars {
    bar: Mutex<Option<ProgressBar>>,
    shown: bool,
}

impl Bars {
    /// Bars, when stderr is a terminal.
    pub fn new() -> Self {
        Self { bar: Mutex::new(None), shown: std::io::stderr().is_terminal() }
    }

    /// Takes the last bar away.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.lock().expect("nobody panics with it").take() {
            bar.finish_and_clear();
        }
    }
}

impl Bars {
    /// A part of the job begins, with so many units to do.
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
        *self.bar.lock().expect("nobody panics with it") = Some(bar);
    }

    /// So many more are done.
    pub fn advance(&self, units: u64) {
        if let Some(bar) = &*self.bar.lock().expect("nobody panics with it") {
            bar.inc(units);
        }
    }

    /// Says something.
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
    /// One of several runs: without a terminal only what comes of each is told.
    in_sequence: bool,
    phase: Option<Phase>,
    /// Second at which the present phase began.
    phase_began: u64,
    seconds: u64,
    primary_metric_count: u64,
    completed: u64,
    failed: u64,
    ended: u64,
    recent: VecDeque<Box<RecordedInterval>>,
    /// Seconds of ramp-up and window, where the clock ends them.
    length: Option<u64>,
    /// Seconds between two lines that `--progress` asks for.
    progress: Option<u64>,
    /// What passed since the last of these lines.
    since_line: Option<RecordedInterval>,
    /// Since when sessions are away, and why.
    away: Option<(u64, String)>,
}

impl Live {
    /// A line for a workload with this primary metric.
    pub fn new(primary_metric: &PrimaryMetric) -> Self {
        let mut live = Self::hidden(primary_metric);
        live.show();
        live
    }

    /// One that hears all and draws nothing, while something else fills the terminal.
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
            seconds: 0,
            primary_metric_count: 0,
            completed: 0,
            failed: 0,
            ended: 0,
            recent: VecDeque::new(),
            length: None,
            progress: None,
            since_line: None,
            away: None,
        }
    }

    /// How long the run takes at most, and how often it is to report.
    pub fn set_length(&mut self, spec: &RunSpec, progress: Option<Duration>) {
        self.length = match spec.length {
            Length::Time(window) => Some((spec.rampup + window).as_secs()),
            Length::Transactions(_) => None,
        };
        self.progress = progress.map(|every| every.as_secs().max(1));
    }

    /// The line of several runs, one after the other; hidden while something else fills the terminal.
    pub fn of_sequence(primary_metric: &PrimaryMetric, hidden: bool) -> Self {
        let live = if hidden { Self::hidden(primary_metric) } else { Self::new(primary_metric) };
        Self { in_sequence: true, ..live }
    }

    /// Draws from now on, where stderr is a terminal.
    pub fn show(&mut self) {
        self.terminal = self.terminal.take().filter(|_| std::io::stderr().is_terminal());
        if let Some(bar) = &self.terminal {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if let Some(bar) = self.terminal.take() {
            bar.finish_and_clear();
        }
    }

    /// Warns, above the line.
    pub fn warn(&self, text: &str) {
        self.message(&format!("warning: {text}"));
    }

    /// Hears an event.
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
            line(phase.title());
        }
    }

    /// Starts over, for the next run of a sequence.
    pub fn again(&mut self, text: &str) {
        self.message(text);
        let terminal = self.terminal.take();
        *self = Self { terminal, ..Self::of_sequence(&self.primary_metric, true) };
    }

    /// Says something above the line.
    pub fn message(&self, text: &str) {
        match &self.terminal {
            Some(bar) => bar.suspend(|| line(text)),
            None => line(text),
        }
    }

    /// Says something in the line; without a terminal nobody hears it.
    pub fn tell(&self, text: &str) {
        if let Some(bar) = &self.terminal {
            bar.set_message(text.to_owned());
            bar.tick();
        }
    }

    /// Hears of a second.
    pub fn second(&mut self, second: &Second) {
        let interval = &second.interval;
        // What ends in the drain would only thin out the window's figures.
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
        if interval.types.iter().any(|seen| seen.counts.completed() > 0) {
            self.away = None;
        }
        let text = self.text(second);
        if self.terminal.is_some() {
            self.tell(&text);
        }
        if let Some(every) = self.progress {
            self.progress(interval, every);
        } else if self.terminal.is_none()
            && !self.in_sequence
            && interval.last > 0
            && interval.last.is_multiple_of(PLAIN_LINE_SECONDS)
        {
            line(&text);
        }
    }

    /// A line about what passed since the last one, when it is due.
    fn progress(&mut self, interval: &RecordedInterval, every: u64) {
        match &mut self.since_line {
            Some(since) => since.add_later(interval),
            None => self.since_line = Some(interval.clone()),
        }
        if (interval.last + 1).is_multiple_of(every)
            && let Some(since) = self.since_line.take()
        {
            self.message(&self.progress_text(&since));
        }
    }

    fn progress_text(&self, since: &RecordedInterval) -> String {
        let (mut completed, mut failed, mut ended) = (0, 0, 0);
        for seen in &since.types {
            completed += seen.counts.completed();
            failed += seen.counts.failures() + seen.counts.indeterminate;
            ended += seen.counts.ended();
        }
        let seconds = (since.last - since.first + 1) as f64;
        let counted = measure::counted(&self.primary_metric, &since.types);
        format!(
            "progress: {} {}  {} {}  TPM {}  p95 {} ms  failed {}",
            self.elapsed(since.last),
            self.phase.map_or("", Phase::title),
            self.primary_metric.name,
            format::figure(Measure::from(self.primary_metric.measure).value(counted, seconds)),
            format::figure(rate(completed, seconds, 60)),
            format::milliseconds(self.p95_us(std::iter::once(since))),
            format::percent(share(failed, ended)),
        )
    }

    /// `1m5s/6m`: time that passed when this second ended, of the time that the run takes.
    fn elapsed(&self, second: u64) -> String {
        let text = |seconds| format_duration(Duration::from_secs(seconds));
        match self.length {
            Some(length) => format!("{}/{}", text(second + 1), text(length)),
            None => text(second + 1),
        }
    }

    fn text(&self, second: &Second) -> String {
        let interval = &second.interval;
        let seconds = self.seconds as f64;
        let first =
            Measure::from(self.primary_metric.measure).value(self.primary_metric_count, seconds);
        let tpm = rate(self.completed, seconds, 60);
        let is_ending = matches!(second.phase, Phase::Drain | Phase::Abort);
        let mut text =
            format!("{} {}", self.phase.map_or("", Phase::title), self.elapsed(interval.last));
        match &self.away {
            Some((since, why)) if !is_ending => {
                let lasts = Duration::from_secs((interval.last + 1).saturating_sub(*since));
                text.push_str(&format!("  no service for {}: {why}", format_duration(lasts)));
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
            "  {} {}  TPM {}  p95 {} ms  failed {}  CPU {}{server}",
            self.primary_metric.name,
            format::figure(first),
            format::figure(tpm),
            format::milliseconds(self.p95_us(self.recent.iter().map(|interval| &**interval))),
            format::percent(share(self.failed, self.ended)),
            format::percent(interval.gauges.busiest_share()),
        ));
        text
    }

    /// The 95th percentile of the primary metric's response times over these, µs.
    fn p95_us<'a>(&self, intervals: impl Iterator<Item = &'a RecordedInterval>) -> f64 {
        let mut merged = triphammer_core::recorder::histogram();
        for interval in intervals {
            for &index in &self.primary_metric.transactions {
                if let Some(times) = &interval.types[index].response {
                    merged.add(times).expect("all have the same bounds");
                }
            }
        }
        Times::of(Some(&merged), None).p95_us as f64
    }
}
