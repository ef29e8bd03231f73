//! Times of the commands of scripts that wait: counted by each session for itself, and added up
//! when it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use triphammer_core::workload::StatementTimes;
use triphammer_core::{Clock, Elapsed};

use super::names::Names;
use super::parser::{Action, Program};
use super::sql::Part;

/// A command whose times are counted.
#[derive(Debug)]
struct Command {
    script: usize,
    line: usize,
    text: String,
    totals: Totals,
}

#[derive(Debug, Default)]
struct Totals {
    runs: AtomicU64,
    failures: AtomicU64,
    total_ns: AtomicU64,
    max_ns: AtomicU64,
}

/// The counted commands of all scripts.
#[derive(Debug, Default)]
pub struct Times(Vec<Command>);

impl Times {
    /// Adds the commands of a script; returns the number of its command for each of its steps, or
    /// `None` for steps that are not counted.
    pub fn add(&mut self, script: usize, program: &Program, names: &Names) -> Box<[Option<usize>]> {
        let steps = program.steps.iter().map(|step| {
            let text = match &step.action {
                Action::Sql(index) => {
                    let title = |part: &Part| part.title(names);
                    program.sql[*index].parts.iter().map(title).collect::<Vec<_>>().join(" \\; ")
                }
                Action::Sleep(..) => "\\sleep".to_owned(),
                Action::Pipeline(step) => format!("\\{step:?}pipeline").to_lowercase(),
                Action::Shell(..) => "\\shell".to_owned(),
                Action::Set(..) | Action::Unless(..) | Action::Jump(_) => return None,
            };
            Some(self.push(script, step.line, text))
        });
        steps.collect()
    }

    /// Adds a command of a transaction type; returns its number.
    pub fn push(&mut self, transaction: usize, line: usize, text: String) -> usize {
        self.0.push(Command { script: transaction, line, text, totals: Totals::default() });
        self.0.len() - 1
    }

    /// What all sessions that have ended counted.
    pub fn read(&self) -> Vec<StatementTimes> {
        let read = |command: &Command| {
            let Totals { runs, failures, total_ns, max_ns } = &command.totals;
            let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            StatementTimes {
                transaction: command.script,
                line: command.line,
                text: command.text.clone(),
                runs: number(runs),
                failures: number(failures),
                total: Duration::from_nanos(number(total_ns)),
                longest: Duration::from_nanos(number(max_ns)),
            }
        };
        self.0.iter().map(read).collect()
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    runs: u64,
    failures: u64,
    total_ns: u64,
    max_ns: u64,
}

/// What a session counts.
pub struct Counts {
    times: Arc<Times>,
    counts: Box<[Count]>,
    clock: Clock,
}

impl Counts {
    /// Begins with nothing.
    pub fn new(times: &Arc<Times>) -> Self {
        let counts = vec![Count::default(); times.0.len()].into();
        Self { times: Arc::clone(times), counts, clock: Clock::start() }
    }

    /// The time at which a command starts.
    pub fn start(&self) -> Elapsed {
        self.clock.now()
    }

    /// Counts a command that has ended.
    pub fn end(&mut self, command: usize, started: Elapsed, has_failed: bool) {
        let took = self.clock.now().since(started);
        let count = &mut self.counts[command];
        if has_failed {
            count.failures += 1;
            return;
        }
        count.runs += 1;
        count.total_ns += took;
        count.max_ns = count.max_ns.max(took);
    }
}

/// Adds what the session counted to what all did.
impl Drop for Counts {
    fn drop(&mut self) {
        for (count, command) in self.counts.iter().zip(&self.times.0) {
            let Totals { runs, failures, total_ns, max_ns } = &command.totals;
            runs.fetch_add(count.runs, Ordering::Relaxed);
            failures.fetch_add(count.failures, Ordering::Relaxed);
            total_ns.fetch_add(count.total_ns, Ordering::Relaxed);
            max_ns.fetch_max(count.max_ns, Ordering::Relaxed);
        }
    }
}
