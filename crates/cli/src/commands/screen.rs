//! Shows a job at the terminal: progress bars while it builds or checks, a live line or the
//! full-screen view while it runs, one line per run of a campaign. Ctrl-C ends it.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::Description;
use triphammer_document::JobId;
use triphammer_document::result::RunResult;
use triphammer_runner::job::Job;
use triphammer_runner::step::{Begin, PlannedRun};
use triphammer_runner::watch::{JobEvent, Watcher};
use triphammer_settings::failure::Failure;
use triphammer_settings::format::figure;
use triphammer_settings::handle::Handle;

use crate::terminal::{self, Bars, Live};
use crate::tui::{Model, Tui};
use crate::{Result, full_screen, signals};

/// What Ctrl-C says and does while a run is driven.
const STOPPING: &str = "stopping: waiting for transactions in flight; Ctrl-C again abandons them";

/// The last action before an immediate exit, given the number of the job.
type FinalMessage = Arc<dyn Fn(JobId) + Send + Sync>;

/// Shows a job and ends it on Ctrl-C.
pub struct Screen {
    /// Workload and target, for the title line.
    title: String,
    workload: Arc<Description>,
    handle: Handle,
    /// Progress bars of a job that cannot be drained.
    final_message: Option<FinalMessage>,
    bars: Bars,
    live: Option<Live>,
    as_view: bool,
    /// Interval of the progress lines (`--progress`); `None` for the default.
    progress: Option<Duration>,
    /// Interval of the percentiles of `--slices`; `None` without them.
    slices: Option<Duration>,
    /// The full-screen view, until the user leaves it for the live line.
    tui: Option<Tui>,
    /// Why the requested view could not be shown.
    unseen: Option<Failure>,
}

impl Screen {
    /// Creates the screen of a job that has not started.
    pub fn new(job: &Job, as_view: bool, [progress, slices]: [Option<Duration>; 2]) -> Self {
        let workload = Arc::clone(job.workload());
        let words = if job.kind().drains() { None } else { job.final_message() };
        Self {
            title: format!("{} on {}", workload.name, job.targets().join(" and ")),
            workload,
            handle: job.handle(),
            final_message: words.map(|words| Arc::new(words) as FinalMessage),
            bars: Bars::new(),
            live: None,
            as_view,
            progress,
            slices,
            tui: None,
            unseen: None,
        }
    }

    /// Clears the screen; returns why the view could not be shown, if so.
    pub fn end(&mut self) -> Option<Failure> {
        self.tui = None;
        self.bars.clear();
        if let Some(live) = &mut self.live {
            live.clear();
        }
        self.unseen.take()
    }

    /// Starts the live line or view of a run, once its spec is resolved.
    fn run(&mut self, spec: &RunSpec) -> Result<()> {
        self.bars.clear();
        let primary_metric = &self.workload.primary_metric;
        let mut live =
            if self.as_view { Live::hidden(primary_metric) } else { Live::new(primary_metric) };
        live.set_length(spec, self.workload.recording.is_some(), self.progress);
        let types = self.workload.transactions.iter().map(|of| of.name.to_string());
        live.set_slices(self.slices, types.collect());
        self.live = Some(live);
        if !self.as_view {
            return Ok(());
        }
        self.tui = Some(Tui::start(Model::new(self.title.clone(), spec, &self.workload))?);
        Ok(())
    }

    /// Aborts the job if the requested view could not be shown.
    fn or_abort(&mut self, done: Result<()>) {
        if let Err(failure) = done {
            self.unseen = Some(failure);
            self.handle.abort();
        }
    }

    /// Makes Ctrl-C drain the job; if nothing can be drained, it ends the program.
    fn began(&self, job: Option<JobId>) {
        match (&self.final_message, job) {
            (None, _) => signals::stops(self.handle.clone(), STOPPING),
            (Some(_), None) => {}
            (Some(words), Some(job)) => {
                let words = Arc::clone(words);
                signals::before_exit(move || words(job));
            }
        }
    }

    fn sequence(&mut self, begin: &Begin) -> Result<()> {
        self.bars.clear();
        let each = Duration::from_secs(begin.each.as_secs());
        let mut text = match begin.runs {
            Some(runs) => format!("{runs} runs of {} each", format_duration(each)),
            None => format!("runs of {} each, as many as needed", format_duration(each)),
        };
        if begin.done > 0 {
            text.push_str(&format!(", {} done", begin.done));
        }
        if let Some(longest) = begin.longest() {
            let how = if begin.runs.is_some() { "about" } else { "at most" };
            text.push_str(&format!(", {how} {} to go", format_duration(longest)));
        }
        let primary_metric = &self.workload.primary_metric;
        if self.as_view {
            let model = Model::of_campaign(self.title.clone(), &self.workload);
            self.tui = Some(Tui::start(model)?);
        }
        let live = Live::of_sequence(primary_metric, self.as_view);
        live.message(&text);
        self.live = Some(live);
        Ok(())
    }

    /// Switches from the view to the live line after the user has left the view.
    fn look(&mut self) {
        if self.tui.is_some() && !full_screen::is_up() {
            self.tui = None;
            if let Some(live) = &mut self.live {
                live.show();
            }
        }
    }

    /// Shows that a run of a campaign starts.
    fn step(&mut self, step: &PlannedRun, done: u32, of: Option<u32>) {
        self.bars.clear();
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        if let Some(live) = &mut self.live {
            live.again(&format!("run {}{of}: {}", done + 1, step.title));
        }
    }

    /// Shows the result of a run of a campaign, in terms of its question if it has such.
    fn step_ended(&self, step: &PlannedRun, result: &RunResult, outcome: Option<&str>) {
        // Which figure of a set of queries is the primary one depends on its test.
        let queries = result.queries.as_ref().map(|queries| &*queries.primary().title);
        let name = queries.unwrap_or(&self.workload.primary_metric.name);
        let metric = || format!("{name} {}", figure(result.primary_metric.value));
        let outcome = outcome.map_or_else(metric, str::to_owned);
        self.message(&format!("{}: {outcome}", step.title));
    }

    fn message(&self, text: &str) {
        match &self.live {
            Some(live) => live.message(text),
            None => self.bars.message(text),
        }
    }
}

impl Watcher for Screen {
    fn on_event(&mut self, event: JobEvent<'_>) {
        if matches!(event, JobEvent::Run(_) | JobEvent::Second(_)) {
            self.look();
        }
        match event {
            JobEvent::Resolved(spec) => {
                let shown = self.run(spec);
                self.or_abort(shown);
            }
            JobEvent::Began(job) => self.began(job),
            JobEvent::Task { name, total, unit } => self.bars.task(name, total, unit),
            JobEvent::Advanced { units, .. } => self.bars.advance(units),
            JobEvent::Run(event) => {
                if let Some(live) = &mut self.live {
                    live.event(event);
                }
            }
            JobEvent::Second(second) => {
                if let Some(live) = &mut self.live {
                    live.second(second);
                }
            }
            JobEvent::Queries(progress) => {
                if let Some(live) = &mut self.live {
                    live.queries(progress);
                }
            }
            JobEvent::Checked(progress) => {
                if let Some(live) = &mut self.live {
                    live.checked(progress);
                }
            }
            JobEvent::Sequence(begin) => {
                let shown = self.sequence(begin);
                self.or_abort(shown);
            }
            JobEvent::Step { step, done, of } => self.step(step, done, of),
            JobEvent::RunInfo(_)
            | JobEvent::Judged(_)
            | JobEvent::Observed(_)
            | JobEvent::StepResolved(_)
            | JobEvent::StepBegan(_) => {}
            JobEvent::StepEnded { step, result, outcome } => self.step_ended(step, result, outcome),
            JobEvent::StepRejected { step, reason } => {
                self.message(&format!("warning: {}: {reason}", step.title));
            }
            JobEvent::Rest(rest) => {
                if let Some(live) = &self.live {
                    live.tell(&format!("cool-down: {}", format_duration(rest)));
                }
            }
            JobEvent::Note(text) => self.message(text),
            JobEvent::Warning(text) => match &self.live {
                Some(live) => live.warn(text),
                None => terminal::warn(text),
            },
        }
        if let Some(tui) = &self.tui {
            tui.on_event(event);
        }
    }
}
