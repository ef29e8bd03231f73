//! The report at the end of a run, with the figures that sysbench reports.

use std::fmt::Write as _;

use hdrhistogram::Histogram;
use triphammer_core::event::Event;
use triphammer_core::workload::ScriptTotals;
use triphammer_document::result::RunResult;
use triphammer_document::second::Second;
use triphammer_runner::watch::{JobEvent, Watcher};

use super::hooks::Hooks;
use crate::commands::screen::Screen;

/// Width of the longest bar of the histogram, in characters.
const BAR: u64 = 40;
/// Bars per factor of ten.
const BARS_PER_DECADE: f64 = 20.0;

/// Shows a run, and gathers its response times.
pub struct Report {
    pub screen: Screen,
    pub hooks: Hooks,
    times: Option<Histogram<u64>>,
}

impl Watcher for Report {
    fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Run(Event::Phase(..)) => self.hooks.phase(),
            JobEvent::Second(second) => {
                self.hooks.second(second);
                add_times(&mut self.times, second);
            }
            _ => {}
        }
        self.screen.on_event(event);
    }
}

impl Report {
    pub const fn new(screen: Screen, hooks: Hooks) -> Self {
        Self { screen, hooks, times: None }
    }

    /// Lets the script report the whole run; false if it has no hook for that.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    pub fn of_script(&mut self, result: &RunResult) -> bool {
        if !self.hooks.report_the_end() {
            return false;
        }
        let count = |name| figure(result, name).unwrap_or_default() as u64;
        let script = ScriptTotals {
            reads: count("script.reads"),
            writes: count("script.writes"),
            other: count("script.other"),
            errors: count("script.errors"),
            ..ScriptTotals::default()
        };
        self.hooks.end(script, result.durations.whole_s);
        true
    }

    /// The report.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub fn text(&self, result: &RunResult, percentile: u64, histogram: bool) -> String {
        let mut out = String::new();
        if let (true, Some(times)) = (histogram, &self.times) {
            out.push_str(&bars(times));
        }
        let seconds = result.durations.whole_s.max(1e-3);
        let figure = |name: &str| figure(result, name);
        let mut counts: Vec<(&str, f64)> = Vec::new();
        for (title, name) in
            [("reads", "script.reads"), ("writes", "script.writes"), ("other", "script.other")]
        {
            counts.push((title, figure(name).unwrap_or_default()));
        }
        let total: f64 = counts.iter().map(|(_, count)| count).sum();
        let run = &result.run.total;
        let _ = writeln!(out, "Statements");
        for (title, count) in counts {
            let _ = writeln!(out, "    {title:<28}{count:>12.0}");
        }
        let _ = writeln!(out, "    {:<28}{total:>12.0}  {:>12.2} per s", "all", total / seconds);
        let _ = writeln!(out, "Events");
        let mut line = |title: &str, count: u64| {
            let rate = count as f64 / seconds;
            let _ = writeln!(out, "    {title:<28}{count:>12}  {rate:>12.2} per s");
        };
        line("completed", run.completed);
        line("restarted", run.retried);
        line("failed or in doubt", run.failed + run.indeterminate);
        line("reconnections", result.sessions.reconnected);
        let _ = writeln!(out, "Time");
        let _ = writeln!(out, "    {:<28}{seconds:>12.4} s", "in total");
        out.push_str(&latencies(self.times.as_ref(), percentile));
        if let Some(share) = figure("client.script_cpu") {
            let share = share * 100.0;
            let _ = writeln!(out, "Client\n    {:<28}{share:>12.1} %", "CPU time in Lua");
        }
        if let Some(job) = result.job {
            let _ = writeln!(out, "\nAll figures: triphammer report {job}");
        }
        out
    }
}

/// Adds the response times of a second.
pub fn add_times(all: &mut Option<Histogram<u64>>, second: &Second) {
    for seen in [&second.total.response, &second.total.rolled_back].into_iter().flatten() {
        match all {
            None => *all = Some(seen.clone()),
            Some(times) => {
                // Both have the same range.
                let _ = times.add(seen);
            }
        }
    }
}

/// A figure of a run.
fn figure(result: &RunResult, name: &str) -> Option<f64> {
    result.figures.iter().find(|figure| figure.name == name).and_then(|figure| figure.value)
}

/// Response times in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn latencies(times: Option<&Histogram<u64>>, percentile: u64) -> String {
    let Some(times) = times.filter(|times| !times.is_empty()) else { return String::new() };
    let ms = |us: u64| us as f64 / 1000.0;
    let mut rows = vec![
        ("minimum".to_owned(), ms(times.min())),
        ("average".to_owned(), times.mean() / 1000.0),
        ("maximum".to_owned(), ms(times.max())),
    ];
    if (1..=100).contains(&percentile) {
        let value = times.value_at_quantile(percentile as f64 / 100.0);
        rows.push((format!("{percentile}th percentile"), ms(value)));
    }
    rows.push(("sum".to_owned(), times.mean() * times.len() as f64 / 1000.0));
    let mut out = "Latency in ms\n".to_owned();
    for (title, value) in rows {
        let _ = writeln!(out, "    {title:<28}{value:>12.2}");
    }
    out
}

/// The histogram of response times: one line per class that has events.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
#[expect(clippy::cast_possible_truncation, reason = "classes are few")]
fn bars(times: &Histogram<u64>) -> String {
    let mut classes: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
    for step in times.iter_recorded() {
        let us = step.value_iterated_to().max(1) as f64;
        let class = (us.log10() * BARS_PER_DECADE).floor() as i64;
        *classes.entry(class).or_default() += step.count_since_last_iteration();
    }
    let most = classes.values().copied().max().unwrap_or_default().max(1);
    let mut out = "Latency histogram\n  from ms   events\n".to_owned();
    for (class, count) in classes {
        let from = 10f64.powf(class as f64 / BARS_PER_DECADE) / 1000.0;
        let bar = "*".repeat(usize::try_from(count * BAR / most).unwrap_or_default());
        let _ = writeln!(out, "{from:>9.3} {count:>8} |{bar}");
    }
    out
}
