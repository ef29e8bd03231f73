//! A job at the terminal: bars while it builds or checks, a live line or the view while it runs, a line for each
//! run of a campaign. Ctrl-C ends it.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::Description;
use triphammer_runner::Failure;
use triphammer_runner::campaign::Begin;
use triphammer_runner::job::{Handle, Job};
use triphammer_runner::report::format::figure;
use triphammer_runner::store::JobId;
use triphammer_runner::watch::{JobEvent, Watcher};

use crate::terminal::{self, Bars, Live};
use crate::tui::{Model, Tui};
use crate::{Result, signals};

/// What to do before ending at once, with the number of the job.
type FinalMessage = Arc<dyn Fn(JobId) + Send + Sync>;

/// Shows a job, and lets Ctrl-C end it.
pub struct Screen {
    /// What runs where.
    title: String,
    workload: Arc<Description>,
    handle: Handle,
    /// Of a job that cannot be drained.
    final_message: Option<FinalMessage>,
    bars: Bars,
    live: Option<Live>,
    as_view: bool,
    /// Time between two lines that `--progress` asks for.
    progress: Option<Duration>,
    /// The view before the live line, until it is left.
    tui: Option<Tui>,
    /// The view that was asked for could not be shown.
    unseen: Option<Failure>,
}

impl Screen {
    /// Of a job that has not begun.
    pub fn new(job: &Job, as_view: bool, progress: Option<Duration>) -> Self {
        let workload = Arc::clone(job.workload());
        let words = if job.kind().drives() { None } else { job.final_message() };
        Self {
            title: format!("{} on {}", workload.name, job.targets().join(" and ")),
            workload,
            handle: job.handle(),
            final_message: words.map(|words| Arc::new(words) as FinalMessage),
            bars: Bars::new(),
            live: None,
            as_view,
            progress,
            tui: None,
            unseen: None,
        }
    }

    /// Takes everything away; gives why the view could not be shown.
    pub fn end(&mut self) -> Option<Failure> {
        self.tui = None;
        self.bars.clear();
        if let Some(live) = &mut self.live {
            live.clear();
        }
        self.unseen.take()
    }

    /// A run's line or view, as it is decided how that is driven.
    fn run(&mut self, spec: &RunSpec) -> Result<()> {
        self.bars.clear();
        let primary_metric = &self.workload.primary_metric;
        let mut live =
            if self.as_view { Live::hidden(primary_metric) } else { Live::new(primary_metric) };
        live.set_length(spec, self.progress);
        self.live = Some(live);
        if !self.as_view {
            return Ok(());
        }
        self.tui = Some(Tui::start(Model::new(self.title.clone(), spec, &self.workload))?);
        Ok(())
    }

    /// Does what may not be possible: a view that was asked for and cannot be shown ends the job.
    fn or_abort(&mut self, done: Result<()>) {
        if let Err(failure) = done {
            self.unseen = Some(failure);
            self.handle.abort();
        }
    }

    /// From now on Ctrl-C lets the job end; where nothing can be drained, it ends the program.
    fn began(&self, job: Option<JobId>) {
        match (&self.final_message, job) {
            (None, _) => signals::stops(self.handle.clone()),
            (Some(_), None) => {}
            (Some(words), Some(job)) => {
                let words = Arc::clone(words);
                signals::before_exit(move || words(job));
            }
        }
    }

    fn sequence(&mut self, begin: &Begin) -> Result<()> {
        self.bars.clear();
        let runs =
            begin.runs.map_or("as many runs as it takes".into(), |runs| format!("{runs} runs"));
        let each = Duration::from_secs(begin.each.as_secs());
        let mut text = format!("{runs} of {} each", format_duration(each));
        if begin.done > 0 {
            text.push_str(&format!(", {} of them done", begin.done));
        }
        if let Some(left) = begin.runs.map(|runs| runs.saturating_sub(begin.done)) {
            text.push_str(&format!(", about {} to go", format_duration(each * left)));
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

    /// The live line takes over from a view that was left.
    fn look(&mut self) {
        if self.tui.is_some() && !Tui::is_up() {
            self.tui = None;
            if let Some(live) = &mut self.live {
                live.show();
            }
        }
    }

    fn message(&self, text: &str) {
        match &self.live {
            Some(live) => live.message(text),
            None => self.bars.message(text),
        }
    }
}

impl Watcher for Screen {
    fn hear(&mut self, event: JobEvent<'_>) {
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
            JobEvent::Sequence(begin) => {
                let shown = self.sequence(begin);
                self.or_abort(shown);
            }
            JobEvent::Step { step, done, of } => {
                self.bars.clear();
                let of = of.map_or_else(String::new, |of| format!(" of {of}"));
                if let Some(live) = &mut self.live {
                    live.again(&format!("run {}{of}: {}", done + 1, step.title));
                }
            }
            JobEvent::StepResolved(_) | JobEvent::StepBegan(_) => {}
            JobEvent::StepEnded { step, result } => {
                let (name, value) =
                    (&self.workload.primary_metric.name, figure(result.primary_metric.value));
                self.message(&format!("{}: {name} {value}", step.title));
            }
            JobEvent::StepRefused { step, reason } => {
                self.message(&format!("warning: {}: {reason}", step.title));
            }
            JobEvent::Rest(rest) => {
                if let Some(live) = &self.live {
                    live.tell(&format!("cooling down for {}", format_duration(rest)));
                }
            }
            JobEvent::Note(text) => self.message(text),
            JobEvent::Warning(text) => match &self.live {
                Some(live) => live.warn(text),
                None => terminal::warn(text),
            },
        }
        if let Some(tui) = &self.tui {
            tui.hear(event);
        }
    }
}
