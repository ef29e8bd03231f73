//! What `triphammer profile`, `capacity` and `compare --ab` have in common: settings of a new job or of one
//! that goes on, the screen, and the end.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_core::engine;
use triphammer_core::event::Event;
use triphammer_core::workload::{Description, Name};
use triphammer_runner::campaign::{self, Begin, Campaign, Ended, Question, Resumed, Step, Stopper};
use triphammer_runner::report::Charset;
use triphammer_runner::report::format::figure;
use triphammer_runner::result::{RunResult, Status};
use triphammer_runner::run;
use triphammer_runner::second::Second;
use triphammer_runner::settings::Settings;
use triphammer_runner::store::{JobId, Store};
use triphammer_runner::target::Target;

use super::{show_spec, store, stored, unstored};
use crate::terminal::{self, Bars, Live};
use crate::{Exit, Result, signals};

/// The job to go on with, when `--resume` names one.
pub fn resumed(settings: &mut Settings) -> Result<Option<Resumed>> {
    if settings.said("resume").is_none() {
        return Ok(None);
    }
    campaign::resume(&stored(settings)?, settings)
}

/// The rest between two runs.
pub fn settle(settings: &mut Settings, target: &Target) -> Result<Duration> {
    Ok(settings.duration("settle", campaign::settle(target.embedded))?)
}

/// Makes the runs that a question asks for, or shows what they would be.
pub fn conduct<Q: Question>(
    settings: &mut Settings,
    workload: &Arc<Description>,
    targets: &[Target],
    resumed: Option<&Resumed>,
    question: &mut Q,
) -> Result<Option<Ended<Q::Document>>> {
    let settle = settle(settings, &targets[0])?;
    let only_look = settings.switch("show-spec")?;
    let bars = Bars::new();
    let of = settings.clone();
    let campaign = Campaign { workload, settings: &of, targets, settle, resumed };
    if only_look {
        for trial in question.trials() {
            let (run, _) = campaign.resolve(&trial, &bars, true)?;
            bars.clear();
            show_spec(&run)?;
        }
        show_spec(settings)?;
        return Ok(None);
    }
    let mut store: Option<Store> = store(settings)?;
    let stopper = Stopper::default();
    signals::stops(signals::Stops::Campaign(stopper.clone()));
    let mut screen = Screen {
        live: Live::of_sequence(&workload.headline),
        headline: workload.headline.name.clone(),
    };
    let ended = campaign.conduct::<Q>(question, store.as_mut(), &stopper, &bars, &mut screen);
    bars.clear();
    screen.live.clear();
    ended.map(Some)
}

/// How the program ends, once the document is printed; `is_good` tells whether it did what it was to do.
///
/// # Errors
/// When the job was to be stored and is not.
pub fn exit<T>(ended: &Ended<T>, command: &str, as_json: bool, is_good: bool) -> Result<Exit> {
    if let Some(reason) = &ended.reason {
        terminal::warn(reason);
    }
    // The report says so itself.
    let is_told = ended.document.is_some() && !as_json;
    if let (Some(job), false) = (ended.job, ended.status == Status::Complete || is_told) {
        terminal::note(&format!("go on with: triphammer {command} --resume {job}"));
    }
    if !ended.is_stored {
        return Err(unstored());
    }
    Ok(match ended.status {
        Status::Interrupted | Status::Aborted => Exit::Interrupted,
        Status::Complete if is_good => Exit::Done,
        Status::Complete | Status::Failed => Exit::CheckFailed,
    })
}

/// What the terminal can show, by the locale.
pub fn charset() -> Charset {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match said.map(|locale| locale.to_ascii_uppercase()).next() {
        Some(locale) if !locale.contains("UTF-8") && !locale.contains("UTF8") => Charset::Ascii,
        _ => Charset::Unicode,
    }
}

/// Shows a campaign at the terminal.
struct Screen {
    live: Live,
    headline: Name,
}

impl run::Observer for Screen {
    fn begins(&mut self, _: engine::Stopper, _: Option<JobId>) {}

    fn event(&mut self, event: &Event) {
        self.live.event(event);
    }

    fn second(&mut self, second: &Second) {
        self.live.second(second);
    }

    fn warn(&mut self, text: &str) {
        self.live.warn(text);
    }
}

impl campaign::Observer for Screen {
    fn starts(&mut self, begin: &Begin) {
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
        self.live.say(&text);
    }

    fn step(&mut self, step: &Step, done: u32, of: Option<u32>) {
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        self.live.again(&format!("run {}{of}: {}", done + 1, step.title));
    }

    fn ended(&mut self, step: &Step, result: &RunResult) {
        let value = figure(result.headline.value);
        self.live.say(&format!("{}: {} {value}", step.title, self.headline));
    }

    fn refused(&mut self, step: &Step, reason: &str) {
        self.live.warn(&format!("{}: {reason}", step.title));
    }

    fn settles(&mut self, rest: Duration) {
        self.live.tell(&format!("settling for {}", format_duration(rest)));
    }
}
