//! The report hooks of a script: `sysbench.hooks.report_intermediate` and `report_cumulative`.

use mlua::{Function, Table};

use super::{State, state_of};
use crate::error::{ScriptError, message_of};
use crate::watchdog::watched;

/// A hook that reports a part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Called after each interval.
    Intermediate,
    /// Called at the end.
    Cumulative,
}

/// What hooks get about a part of a run; times are in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "sysbench's names")]
pub struct Stat {
    pub threads_running: u32,
    pub events: u64,
    pub reads: u64,
    pub writes: u64,
    pub other: u64,
    pub errors: u64,
    pub reconnects: u64,
    /// Length of the part.
    pub time_interval: f64,
    /// From the start of the run to the end of the part.
    pub time_total: f64,
    pub latency_min: f64,
    pub latency_avg: f64,
    pub latency_max: f64,
    /// The percentile of `--percentile`.
    pub latency_pct: f64,
    pub latency_sum: f64,
}

impl Hook {
    const fn name(self) -> &'static str {
        match self {
            Self::Intermediate => "report_intermediate",
            Self::Cumulative => "report_cumulative",
        }
    }
}

impl State {
    /// Whether the script sets a hook.
    #[must_use]
    pub fn reports(&self, hook: Hook) -> bool {
        self.hook(hook).is_some()
    }

    fn hook(&self, hook: Hook) -> Option<Function> {
        let sysbench: Table = self.lua.globals().get("sysbench").ok()?;
        sysbench.get::<Table>("hooks").ok()?.get(hook.name()).ok()
    }

    /// Calls a hook, if the script sets it. A hook cannot use the database.
    ///
    /// # Errors
    /// When the hook fails.
    pub fn report(&self, hook: Hook, stat: &Stat) -> Result<(), ScriptError> {
        let Some(function) = self.hook(hook) else { return Ok(()) };
        let main = self.lua.current_thread();
        let called = self
            .table(stat)
            .and_then(|table| watched(state_of(&main), || function.call::<()>(table)));
        called.map_err(|error| ScriptError::new(message_of(&error)))
    }

    /// Ends what `sysbench.report_json` has begun: the array of the reports so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_reports(&self) -> Result<(), ScriptError> {
        let end = self.host.get::<Function>("end_reports").and_then(|end| end.call(()));
        end.map_err(|error| ScriptError::new(message_of(&error)))
    }

    #[expect(clippy::cast_precision_loss, reason = "all of Lua's numbers are floats")]
    fn table(&self, stat: &Stat) -> mlua::Result<Table> {
        let table = self.lua.create_table()?;
        for (name, value) in [
            ("threads_running", f64::from(stat.threads_running)),
            ("events", stat.events as f64),
            ("reads", stat.reads as f64),
            ("writes", stat.writes as f64),
            ("other", stat.other as f64),
            ("errors", stat.errors as f64),
            ("reconnects", stat.reconnects as f64),
            ("time_interval", stat.time_interval),
            ("time_total", stat.time_total),
            ("latency_min", stat.latency_min),
            ("latency_avg", stat.latency_avg),
            ("latency_max", stat.latency_max),
            ("latency_pct", stat.latency_pct),
            ("latency_sum", stat.latency_sum),
        ] {
            table.set(name, value)?;
        }
        Ok(table)
    }
}
