//! `triphammer run`.

use std::io::IsTerminal;
use std::sync::Arc;

use triphammer_core::engine::Stopper;
use triphammer_core::event::Event;
use triphammer_core::session::Database as _;
use triphammer_core::workload::Description;
use triphammer_runner::Failure;
use triphammer_runner::outputs::OutputsAsked;
use triphammer_runner::replay::Exemplar;
use triphammer_runner::report::{self, Style};
use triphammer_runner::requests;
use triphammer_runner::result::{Redacted, RunResult, Status};
use triphammer_runner::run::{Observer, Resolved};
use triphammer_runner::second::Second;
use triphammer_runner::settings::Settings;
use triphammer_runner::store::JobId;

use super::{junit, open, print, show_spec, store, store_path, unstored};
use crate::terminal::{self, Bars, Live};
use crate::tui::{self, Model, Tui};
use crate::{Exit, Result, signals};

/// Runs.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let exemplar = match settings.said("replay-exemplar").map(str::to_owned) {
        Some(name) => Some(Exemplar::find(&name, &store_path(settings)?, settings)?),
        None => None,
    };
    let workload = requests::workload(settings)?;
    let junit = junit(settings)?;
    match (run_workload(settings, &workload, exemplar.as_ref()), junit) {
        (Ok(Done { exit, result, unwritten }), file) => {
            if let (Some(file), Some(result)) = (file, &result) {
                file.write(&report::junit::of_run(result).xml())?;
            }
            unwritten.map_or(Ok(exit), Err)
        }
        (Err(failure), Some(file)) => {
            file.write(
                &report::junit::of_failure("run", &workload.name, &failure.to_string()).xml(),
            )?;
            Err(failure)
        }
        (Err(failure), None) => Err(failure),
    }
}

/// How a run ended, and its result when there was one.
struct Done {
    exit: Exit,
    result: Option<RunResult>,
    /// What was asked for and could not be written.
    unwritten: Option<Failure>,
}

impl Done {
    const fn without_result(exit: Exit) -> Self {
        Self { exit, result: None, unwritten: None }
    }
}

fn run_workload(
    settings: &mut Settings,
    workload: &Arc<Description>,
    exemplar: Option<&Exemplar>,
) -> Result<Done> {
    let asked = OutputsAsked::said(settings)?;
    let target = open(settings, workload)?;
    let only_look = settings.switch("show-spec")?;
    let as_json = settings.switch("json")?;
    let as_view = settings.switch("tui")?;
    if as_view && !only_look && exemplar.is_none() {
        tui::refuse(as_json)?;
    }
    let bars = Bars::new();
    let resolved = Resolved::new(settings, workload, &target, &bars, only_look);
    bars.clear();
    let resolved = resolved?;
    if only_look {
        show_spec(settings)?;
        return Ok(Done::without_result(Exit::Done));
    }
    if let Some(exemplar) = exemplar {
        let replay = resolved.replay(exemplar)?;
        print(&exemplar.text(&replay, &workload.transactions))?;
        let exit = if replay.outcome.is_ok() { Exit::Done } else { Exit::CheckFailed };
        return Ok(Done::without_result(exit));
    }
    let mut outputs = asked.open(&workload.transactions, resolved.info(settings))?;
    let mut store = store(settings)?;
    let mut screen = if as_view {
        let title = format!("{} on {}", workload.name, Redacted::target_of(&target.database));
        let model = Model::new(title, resolved.spec(), workload);
        Screen { tui: Some(Tui::start(model)?), live: Live::hidden(&workload.headline) }
    } else {
        Screen { tui: None, live: Live::new(&workload.headline) }
    };
    let result = resolved.run(settings, store.as_mut(), &mut outputs.around(&mut screen));
    screen.end();
    for note in target.database.notes() {
        terminal::warn(&note);
    }
    let result = result?;
    let printed = if as_json {
        print(&report::json(&result))
    } else {
        let style = if std::io::stdout().is_terminal() { Style::Color } else { Style::Plain };
        print(&report::text(&result, style))
    };
    if let Some(trouble) = outputs.finish() {
        terminal::warn(&trouble);
    }
    let torn = outputs.torn();
    let exit = match result.status {
        Status::Interrupted | Status::Aborted if signals::interrupted() => Exit::Interrupted,
        _ if result.is_good() => Exit::Done,
        _ => Exit::CheckFailed,
    };
    let is_stored = store.is_none() || result.job.is_some();
    let unwritten = printed.err().or(torn).or_else(|| (!is_stored).then(unstored));
    Ok(Done { exit, result: Some(result), unwritten })
}

/// Shows a run at the terminal, and lets Ctrl-C stop it.
struct Screen {
    live: Live,
    /// The view before the live line, until it is left.
    tui: Option<Tui>,
}

impl Screen {
    /// The live line takes over from a view that was left.
    fn look(&mut self) {
        if self.tui.is_some() && !Tui::is_up() {
            self.tui = None;
            self.live.show();
        }
    }

    fn end(&mut self) {
        self.tui = None;
        self.live.clear();
    }
}

impl Observer for Screen {
    fn begins(&mut self, stopper: Stopper, _job: Option<JobId>) {
        signals::stops(signals::Stops::Run(stopper));
    }

    fn event(&mut self, event: &Event) {
        self.look();
        if let Some(tui) = &self.tui {
            tui.event(event);
        }
        self.live.event(event);
    }

    fn second(&mut self, second: &Second) {
        self.look();
        if let Some(tui) = &self.tui {
            tui.second(second);
        }
        self.live.second(second);
    }

    fn warn(&mut self, text: &str) {
        self.live.warn(text);
    }
}
