//! The report hooks of a script: what they get, and when they are called. They run on a thread of their own, because a
//! Lua state cannot leave its thread.

use std::sync::mpsc::{Receiver, Sender, channel};

use hdrhistogram::Histogram;
use triphammer_core::Clock;
use triphammer_core::event::Phase;
use triphammer_core::workload::ScriptTotals;
use triphammer_document::second::Second;
use triphammer_lua::{Hook, Stat};
use triphammer_runner::sysbench::ScriptCommand;
use triphammer_settings::failure::Failure;

use super::report::add_times;
use crate::{Result, terminal};

/// Calls the hooks of a script.
pub struct Hooks {
    /// `None` without hooks, and after one has failed.
    caller: Option<Caller>,
    /// Seconds between two reports; 0 for none.
    interval: u64,
    percentile: u64,
    /// Started with the first phase of the run.
    clock: Option<Clock>,
    /// Since the last report.
    part: Part,
    whole: Part,
}

/// The thread of the hooks.
struct Caller {
    calls: Sender<Request>,
    /// The error of each call.
    answers: Receiver<Option<String>>,
    reports_the_end: bool,
}

/// What the thread of the hooks is asked for.
enum Request {
    /// A report.
    Report(Hook, Stat),
    /// The end of the reports so far: sysbench's own threads end theirs separately.
    End,
}

impl Caller {
    /// Loads the script on a thread; `None` if it has no hooks.
    fn start(command: ScriptCommand) -> Result<Option<Self>> {
        let (calls, called) = channel();
        let (answer, answers) = channel();
        let (report, ready) = channel();
        let thread = std::thread::Builder::new().name("report-hooks".to_owned());
        let spawned = thread.spawn(move || serve(&command, &report, &called, &answer));
        spawned.map_err(|error| Failure::System {
            doing: "starting the thread of report hooks".to_owned(),
            error,
        })?;
        let reports_the_end = ready.recv().unwrap_or(Ok(None))?;
        Ok(reports_the_end.map(|reports_the_end| Self { calls, answers, reports_the_end }))
    }

    /// Has a request carried out, and returns its error.
    fn call(&self, request: Request) -> Option<String> {
        let ended = || Some("its thread has ended".to_owned());
        match self.calls.send(request) {
            Ok(()) => self.answers.recv().unwrap_or_else(|_| ended()),
            Err(_) => ended(),
        }
    }
}

/// Loads the script, reports whether it has hooks and one for the end, and carries out calls.
fn serve(
    command: &ScriptCommand,
    ready: &Sender<Result<Option<bool>>>,
    calls: &Receiver<Request>,
    answers: &Sender<Option<String>>,
) {
    let state = command.reports();
    let has_hooks = state.as_ref().ok().and_then(Option::as_ref);
    let has_hooks = has_hooks.map(|state| state.reports(Hook::Cumulative));
    let state = match state {
        Ok(state) => {
            let _ = ready.send(Ok(has_hooks));
            state
        }
        Err(failure) => {
            let _ = ready.send(Err(failure));
            None
        }
    };
    let Some(state) = state else { return };
    for request in calls {
        let done = match request {
            Request::Report(hook, stat) => state.report(hook, &stat),
            Request::End => state.end_reports(),
        };
        let error = done.err().map(|error| error.to_string());
        if answers.send(error).is_err() {
            return;
        }
    }
}

/// A part of a run.
#[derive(Default)]
struct Part {
    seconds: u64,
    events: u64,
    reconnects: u64,
    times: Option<Histogram<u64>>,
    /// What the script had done before.
    before: ScriptTotals,
}

impl Part {
    fn add(&mut self, second: &Second) {
        self.seconds += second.seconds();
        self.events += second.total.counts.completed();
        self.reconnects += second.interval.reconnected;
        add_times(&mut self.times, second);
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn stat(&self, script: ScriptTotals, percentile: u64) -> Stat {
        let s = |us: f64| us / 1e6;
        let times = self.times.as_ref().filter(|times| !times.is_empty());
        let of =
            |value: &dyn Fn(&Histogram<u64>) -> f64| times.map_or(0.0, |times| s(value(times)));
        Stat {
            events: self.events,
            reads: script.reads - self.before.reads,
            writes: script.writes - self.before.writes,
            other: script.other - self.before.other,
            errors: script.errors - self.before.errors,
            reconnects: self.reconnects,
            time_interval: self.seconds as f64,
            latency_min: of(&|times| times.min() as f64),
            latency_avg: of(&Histogram::mean),
            latency_max: of(&|times| times.max() as f64),
            latency_pct: of(&|times| times.value_at_quantile(percentile as f64 / 100.0) as f64),
            latency_sum: of(&|times| times.mean() * times.len() as f64),
            ..Stat::default()
        }
    }
}

impl Hooks {
    /// The hooks of a script; reports are `interval` seconds apart.
    ///
    /// # Errors
    /// When the script cannot be loaded.
    pub fn new(command: ScriptCommand, interval: u64, percentile: u64) -> Result<Self> {
        let (part, whole) = (Part::default(), Part::default());
        let caller = Caller::start(command)?;
        Ok(Self { caller, interval, percentile, clock: None, part, whole })
    }

    /// Whether the script makes the report at the end.
    pub fn report_the_end(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.reports_the_end)
    }

    /// Notes that a phase of the run begins.
    pub fn phase(&mut self) {
        self.clock.get_or_insert_with(Clock::start);
    }

    /// Whether no event may begin any more, or a second ended early because no session is left.
    fn is_over(&self, second: &Second) -> bool {
        let is_cut =
            || self.clock.is_some_and(|clock| clock.now().second() <= second.interval.last);
        matches!(second.phase, Phase::Drain | Phase::Abort)
            || second.interval.connected == 0 && is_cut()
    }

    /// Takes a second of the run.
    pub fn second(&mut self, second: &Second) {
        if self.caller.is_none() {
            return;
        }
        self.part.add(second);
        self.whole.add(second);
        if self.interval == 0 || self.part.seconds < self.interval || self.is_over(second) {
            return;
        }
        let script = second.script.unwrap_or_default();
        let part = std::mem::replace(&mut self.part, Part { before: script, ..Part::default() });
        let stat = part.stat(script, self.percentile);
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
        let time_total = self.whole.seconds as f64;
        let threads_running = second.interval.connected;
        self.call(Hook::Intermediate, Stat { threads_running, time_total, ..stat });
    }

    /// Ends the reports of parts of the run.
    pub fn end_parts(&mut self) {
        self.request(Request::End);
    }

    /// Reports the whole run: `script` is what the script did, `seconds` the length of the run.
    pub fn end(&mut self, script: ScriptTotals, seconds: f64) {
        let stat = self.whole.stat(script, self.percentile);
        self.call(Hook::Cumulative, Stat { time_interval: seconds, time_total: seconds, ..stat });
        self.request(Request::End);
    }

    fn call(&mut self, hook: Hook, stat: Stat) {
        self.request(Request::Report(hook, stat));
    }

    fn request(&mut self, request: Request) {
        let Some(caller) = &self.caller else { return };
        if let Some(error) = caller.call(request) {
            terminal::warn(&format!(
                "a report hook of the script failed, and is not called again: {error}"
            ));
            self.caller = None;
        }
    }
}
