//! `triphammer run`.

use std::io::IsTerminal;

use triphammer_core::engine::Stopper;
use triphammer_core::event::Event;
use triphammer_core::workload::Workload;
use triphammer_runner::report::{self, Style};
use triphammer_runner::result::Status;
use triphammer_runner::run::{Observer, Resolved};
use triphammer_runner::settings::Settings;
use triphammer_runner::store::JobId;
use triphammer_runner::with_workload;

use super::{open, print, show_spec, store};
use crate::terminal::{Bars, Live};
use crate::{Exit, Result, signals};

/// Runs.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let name = triphammer_runner::requests::workload(settings)?;
    with_workload!(name.as_str(), W => run_workload::<W>(settings))?
}

fn run_workload<W: Workload>(settings: &mut Settings) -> Result<Exit> {
    let target = open(settings, W::NAME)?;
    let only_look = settings.switch("show-spec")?;
    let as_json = settings.switch("json")?;
    let bars = Bars::new();
    let resolved = Resolved::<W, _>::new(settings, &target, &bars, only_look);
    bars.clear();
    let resolved = resolved?;
    if only_look {
        show_spec(settings);
        return Ok(Exit::Done);
    }
    let mut store = store(settings)?;
    let mut screen = Screen { live: Live::new(W::headline()) };
    let result = resolved.run(settings, store.as_mut(), &mut screen);
    screen.live.clear();
    let result = result?;
    if as_json {
        print(&report::json(&result));
    } else {
        let style = if std::io::stdout().is_terminal() { Style::Color } else { Style::Plain };
        print(&report::text(&result, style));
    }
    Ok(match result.status {
        Status::Interrupted | Status::Aborted if signals::interrupted() => Exit::Interrupted,
        _ if result.is_good() => Exit::Done,
        _ => Exit::CheckFailed,
    })
}

/// Shows a run at the terminal, and lets Ctrl-C stop it.
struct Screen {
    live: Live,
}

impl Observer for Screen {
    fn begins(&mut self, stopper: Stopper, _job: Option<JobId>) {
        signals::stops(stopper);
    }

    fn event(&mut self, event: &Event) {
        self.live.event(event);
    }

    fn warn(&mut self, text: &str) {
        self.live.warn(text);
    }
}
