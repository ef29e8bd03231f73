//! `triphammer repeat`: builds the data of a bundle, makes its runs again, and compares them with
//! those in the bundle.

use std::path::Path;

use triphammer_bundle::Container;
use triphammer_bundle::repeat::{Original, Repetition, judge, run};
use triphammer_core::SpecError;
use triphammer_core::session::Database as _;
use triphammer_document::bundle::{RepetitionResult, RepetitionVerdict};
use triphammer_document::compare::{ComparisonResult, Run};
use triphammer_document::parts::Status;
use triphammer_document::{Document, JobId};
use triphammer_report as report;
use triphammer_report::{Report as _, Style};
use triphammer_runner::compare::margin;
use triphammer_runner::job::{Job, Order, Remembered};
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::format::{figure, precise};
use triphammer_settings::handle::Handle;
use triphammer_settings::{Settings, Source, declared, target};
use triphammer_store::{ReadAt, Store};

use super::screen::Screen;
use super::{Terminal, charset, print, store_path};
use crate::{Exit, Result, signals, terminal};

/// What Ctrl-C says and does.
const STOPPING: &str = "stopping after what is in progress; Ctrl-C again ends at once";
/// Settings of this command that its jobs have by the same name but do not get.
const OWN: [&str; 3] = ["margin", "json", "runs"];

/// Repeats a bundle.
pub fn command(mut settings: Settings, file: &Path) -> Result<Exit> {
    let as_json = settings.switch("json")?;
    let margin = margin(&mut settings)?;
    let original = Original::read(Container::read(file)?)?;
    let most = u32::try_from(original.runs.len()).unwrap_or(u32::MAX);
    let runs = settings.count_or("runs", 1_000, || most)?;
    if runs == 0 {
        return Err(SpecError::new("--runs must be 1 or more, got 0").about("runs").into());
    }
    if settings.get("target").is_none() {
        let message = "name the database to repeat it on: triphammer repeat FILE TARGET";
        return Err(Failure::refuse(message));
    }
    let repeating = Repeating {
        settings,
        secrets: Remembered::new(&Terminal),
        handle: Handle::default(),
        original: &original,
    };
    signals::stops(repeating.handle.clone(), STOPPING);
    // What the runs refuse is known before the data is built.
    repeating.job(repeating.settings_of_run())?.validate()?;
    repeating.build()?;
    let mut made = Vec::new();
    let name = file.display().to_string();
    let names = [name.as_str(), "this repetition"];
    let mut number = 1;
    let (verdict, compared) = loop {
        terminal::note(&format!("run {number} of {runs}"));
        made.push(repeating.run()?);
        if repeating.handle.is_stopped() {
            return Ok(Exit::Interrupted);
        }
        let judged = judge(names, &original.runs, &made, margin);
        // Further runs would not make them comparable.
        if number == runs || matches!(judged.0, Repetition::NotComparable(_)) {
            break judged;
        }
        number += 1;
    };
    match as_json {
        true => print(&report::json_pretty(&document(&verdict, compared)))?,
        false => print(&format!(
            "{}\n\nThe runs of the bundle (A) and of this repetition (B):\n\n{}",
            words(&verdict, &compared),
            compared.text(charset(), Style::Plain)
        ))?,
    }
    end(verdict)
}

/// The document of a repetition.
fn document(verdict: &Repetition, comparison: ComparisonResult) -> RepetitionResult {
    let words = words(verdict, &comparison);
    let verdict = match verdict {
        Repetition::Repeated => RepetitionVerdict::Repeated,
        Repetition::Differs => RepetitionVerdict::Differs,
        Repetition::Unknown(_) => RepetitionVerdict::Unknown,
        Repetition::NotComparable(_) => RepetitionVerdict::NotComparable,
    };
    RepetitionResult::new(verdict, words, comparison)
}

/// The verdict in words.
fn words(verdict: &Repetition, compared: &ComparisonResult) -> String {
    let by = compared.figures.first().and_then(|primary| {
        let comparison = primary.comparison.as_ref()?;
        Some(format!(
            "{} is {} × that of the bundle ({} to {})",
            primary.title,
            figure(comparison.ratio),
            figure(comparison.interval.low),
            figure(comparison.interval.high)
        ))
    });
    let by = by.unwrap_or_else(|| match compared.figures.first() {
        Some(primary) if primary.a > 0.0 => {
            format!("{} is {} × that of the bundle", primary.title, figure(primary.b / primary.a))
        }
        _ => "there is no ratio".to_owned(),
    });
    let margin = precise(compared.margin);
    match verdict {
        Repetition::Repeated => format!("Repeated: {by}, within ± {margin}."),
        Repetition::Differs => format!("Differs: {by}, beyond ± {margin}."),
        Repetition::Unknown(why) => format!("Unknown: {by}; {why}."),
        Repetition::NotComparable(differences) => {
            let all = differences.iter().map(|of| {
                let text = |value: &Option<String>| value.clone().unwrap_or("nothing".to_owned());
                format!("{} is {} there and {} here", of.name, text(&of.a), text(&of.b))
            });
            format!("Cannot be compared: {}.", all.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The exit code of a verdict.
fn end(verdict: Repetition) -> Result<Exit> {
    match verdict {
        Repetition::Repeated => Ok(Exit::Done),
        Repetition::Differs => Ok(Exit::CheckFailed),
        Repetition::Unknown(why) => Err(Failure::refuse(format!("there is no verdict: {why}"))),
        Repetition::NotComparable(_) => {
            Err(Failure::refuse("the repetition cannot be compared with the bundle"))
        }
    }
}

/// A bundle that is being repeated.
struct Repeating<'a> {
    settings: Settings,
    secrets: Remembered<'a>,
    handle: Handle,
    original: &'a Original,
}

impl Repeating<'_> {
    /// Builds the data, unless the database stores none. A build of the same data is kept.
    fn build(&self) -> Result<()> {
        let mut settings = self.settings_of(JobKind::Build);
        let opened = target::open(&mut settings.clone(), None, &self.secrets)?;
        if !opened.database.capabilities().stores || self.original.file.build.is_empty() {
            return Ok(());
        }
        for (name, value) in &self.original.file.build {
            settings.set(name, value.as_str(), Source::Command(Command::Repeat));
        }
        let mut job = self.job(settings)?;
        let mut screen = Screen::new(&job, false, [terminal::default_progress(), None]);
        let built = job.run(&mut screen);
        screen.end().map_or(Ok(()), Err)?;
        built.map(drop)
    }

    /// Makes one run.
    fn run(&self) -> Result<Run> {
        let settings = self.settings_of_run();
        let store = store_path(&settings)?;
        let mut job = self.job(settings)?;
        let mut screen = Screen::new(&job, false, [terminal::default_progress(), None]);
        let finished = job.run(&mut screen);
        screen.end().map_or(Ok(()), Err)?;
        let finished = finished?;
        let Some(Document::Run(result)) = finished.document else {
            return Err(Failure::refuse("the run has no result"));
        };
        if result.status != Status::Complete && !self.handle.is_stopped() {
            let words = &result.ending.words;
            return Err(Failure::refuse(format!("a run of the repetition is {words}")));
        }
        let read = |job: JobId| Store::open_to_read(&store)?.stored_settings(job, ReadAt::Start);
        let server_settings = finished.job.map(read).transpose()?.unwrap_or_default();
        Ok(run(*result, server_settings))
    }

    /// The settings of a run: those of the bundle, and those given here.
    fn settings_of_run(&self) -> Settings {
        let mut settings = self.settings_of(JobKind::Run);
        for (name, value) in &self.original.file.job {
            settings.set(name, value.as_str(), Source::Command(Command::Repeat));
        }
        settings
    }

    fn job(&self, settings: Settings) -> Result<Job> {
        Job::new(Order { handle: self.handle.clone(), ..Order::new(settings, &self.secrets) })
    }

    /// The given settings that a kind of job has, too.
    fn settings_of(&self, kind: JobKind) -> Settings {
        let mut settings = Settings::new(kind);
        for (name, value, source) in self.settings.all_given() {
            if declared(kind, name).is_some() && !OWN.contains(&name) {
                settings.set(name, value, source.clone());
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_their_exit_codes() {
        assert_eq!(end(Repetition::Repeated).unwrap(), Exit::Done);
        assert_eq!(end(Repetition::Differs).unwrap(), Exit::CheckFailed);
        let refused = end(Repetition::Unknown("few runs".to_owned())).unwrap_err().to_string();
        assert_eq!(refused, "there is no verdict: few runs");
        assert!(end(Repetition::NotComparable(Vec::new())).is_err());
    }

    #[test]
    fn the_settings_of_the_command_that_its_jobs_have_are_known() {
        for name in OWN {
            assert!(declared(Command::Repeat, name).is_some(), "{name}");
        }
    }
}
