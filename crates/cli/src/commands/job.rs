//! Runs any job: resolves settings, runs the job with progress on the terminal, and prints the
//! result to stdout. Parts specific to one kind of job are in neighbouring modules.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_document::Document;
use triphammer_document::parts::Status;
use triphammer_report as report;
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::job::{FinishedJob, Job, Order};
use triphammer_runner::outputs::ReportFile;
use triphammer_runner::requests;
use triphammer_runner::watch::{JobEvent, Silent, Watcher};
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::formats::Format;
use triphammer_settings::{Settings, declared};

use super::screen::Screen;
use super::{Terminal, charset, compare, drop, print, prove, show_spec};
use crate::{Exit, Result, args, signals, terminal, tui};

/// How a job ended, and its document if it produced one.
struct JobOutcome {
    exit: Exit,
    document: Option<Document>,
    /// The requested output that could not be written.
    unwritten: Option<Failure>,
}

impl JobOutcome {
    const fn without_document(exit: Exit) -> Self {
        Self { exit, document: None, unwritten: None }
    }
}

/// How to show a job.
struct Show {
    format: Format,
    is_preview: bool,
    as_view: bool,
    /// Time between two progress lines of a run.
    progress: Option<Duration>,
    /// Time between two groups of percentiles.
    slices: Option<Duration>,
}

/// Runs a job of this kind and prints its result.
pub fn command(kind: JobKind, mut settings: Settings) -> Result<Exit> {
    let Some(file) = junit(kind, &mut settings)? else {
        let done = work(kind, settings)?;
        return done.unwritten.map_or(Ok(done.exit), Err);
    };
    let workload = requests::workload(&mut settings)?;
    match work(kind, settings) {
        Ok(JobOutcome { exit, document, unwritten }) => {
            if let Some(suite) = document.as_ref().and_then(Document::junit) {
                file.write(&suite.xml())?;
            }
            unwritten.map_or(Ok(exit), Err)
        }
        Err(failure) => {
            let name = kind.name();
            let suite = report::junit::of_failure(name, &workload.name, &failure.to_string());
            file.write(&suite.xml())?;
            Err(failure)
        }
    }
}

fn work(kind: JobKind, settings: Settings) -> Result<JobOutcome> {
    let mut job = Job::new(Order::new(settings, &Terminal))?;
    for warning in job.warnings() {
        terminal::warn(warning);
    }
    let show = Show::read(kind, job.settings_mut())?;
    if show.is_preview {
        return look(&mut job);
    }
    if let Some(replayed) = job.replay(&mut Silent)? {
        print(&replayed.text)?;
        let exit = if replayed.is_good { Exit::Done } else { Exit::CheckFailed };
        return Ok(JobOutcome::without_document(exit));
    }
    match kind {
        JobKind::Drop => drop::confirm(&mut job)?,
        JobKind::Compare => prove::confirm(&mut job)?,
        _ => {}
    }
    let is_example = kind == JobKind::Run && job.settings().get("target").is_none();
    let done = drive(&mut job, &show, &mut || {})?;
    if is_example && done.exit == Exit::Done && show.format == Format::Text {
        lead_on();
    }
    Ok(done)
}

/// Runs a job as its command does without options for its output, and prints the result. `began` is called once it
/// changes the database.
pub(super) fn shown(job: &mut Job, began: &mut (dyn FnMut() + Send)) -> Result<Exit> {
    let show = Show {
        format: Format::Text,
        is_preview: false,
        as_view: false,
        progress: terminal::default_progress(),
        slices: None,
    };
    let done = drive(job, &show, began)?;
    done.unwritten.map_or(Ok(done.exit), Err)
}

/// Runs the job on a screen, and prints its result.
fn drive(job: &mut Job, show: &Show, began: &mut (dyn FnMut() + Send)) -> Result<JobOutcome> {
    let mut screen = Screen::new(job, show.as_view, [show.progress, show.slices]);
    let finished = job.run(&mut Watched { screen: &mut screen, began });
    let unseen = screen.end();
    // The runs of a campaign have their own notes in their results.
    for remark in job.remarks().iter().filter(|_| !job.kind().is_campaign()) {
        terminal::warn(remark);
    }
    match unseen {
        Some(failure) => Err(failure),
        None => end(job, finished?, show),
    }
}

/// A screen, and who wants to know that the job began.
struct Watched<'a> {
    screen: &'a mut Screen,
    began: &'a mut (dyn FnMut() + Send),
}

impl Watcher for Watched<'_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        if matches!(event, JobEvent::Began(_)) {
            (self.began)();
        }
        self.screen.on_event(event);
    }
}

/// The next steps to suggest after a run on the default SQLite file.
fn lead_on() {
    let program = args::program();
    let browser = match triphammer_server::has_page() {
        true => format!("{program} serve"),
        false => "make install, then triphammer serve".to_owned(),
    };
    terminal::note(&format!(
        "Next, in a browser: {browser}\n\
         Next, on your own database:\n  \
         {program} build postgres://USER@HOST/DATABASE --create-database\n  \
         {program} run postgres://USER@HOST/DATABASE"
    ));
}

/// Prints the resolved settings of the job and of the first runs of a campaign, as one list per
/// target.
fn look(job: &mut Job) -> Result<JobOutcome> {
    let lists: Vec<_> =
        job.specification(&mut Silent)?.iter().map(|list| show_spec(list)).collect();
    print(&lists.join("\n"))?;
    Ok(JobOutcome::without_document(Exit::Done))
}

/// Prints the result of the job and determines the exit code.
fn end(job: &mut Job, mut finished: FinishedJob, show: &Show) -> Result<JobOutcome> {
    let document = finished.document.take();
    if let Some(Document::Compare(result)) = &document {
        let warning = triphammer_runner::compare::warning(job.settings_mut(), result)?;
        warning.into_iter().for_each(terminal::warn);
    }
    let is_good = document.as_ref().is_some_and(|document| document.ending().good);
    let printed = document.as_ref().map_or(Ok(()), |document| print(&show.text(document)));
    let (trouble, torn) = finished.end_outputs();
    for warning in finished.reason.iter().chain(&trouble) {
        terminal::warn(warning);
    }
    // The report of a campaign contains this line itself.
    let is_told = document.is_some() && show.format == Format::Text;
    if let Some(id) = finished.job.filter(|_| job.kind().is_campaign() && !is_told)
        && finished.status != Status::Complete
    {
        let command = job.kind().name();
        terminal::note(&format!("resume with: triphammer {command} --resume {id}"));
    }
    let exit = match finished.status {
        Status::Interrupted | Status::Aborted if signals::interrupted() => Exit::Interrupted,
        _ if is_good => Exit::Done,
        _ => Exit::CheckFailed,
    };
    let unwritten = printed.err().or(torn).or_else(|| (!finished.is_stored).then(unstored));
    Ok(JobOutcome { exit, document, unwritten })
}

impl Show {
    /// Reads the settings that this kind of job accepts.
    fn read(kind: JobKind, settings: &mut Settings) -> Result<Self> {
        let takes = |name: &str| declared(kind, name).is_some();
        let mut switch = |name: &str| -> Result<bool> { Ok(takes(name) && settings.switch(name)?) };
        let (is_preview, as_json) = (switch("show-spec")?, switch("json")?);
        let as_view = switch("tui")?;
        if as_view && !is_preview && settings.get("replay-exemplar").is_none() {
            tui::refuse(as_json)?;
        }
        let format = match as_json {
            true => Format::Json,
            false if takes("format") => compare::format(settings)?,
            false => Format::Text,
        };
        let progress = match takes("progress") {
            true => {
                let default = terminal::default_progress();
                let default = default.map_or_else(|| "none".to_owned(), format_duration);
                settings.optional("progress", parse_progress, |d| format_duration(*d), &default)?
            }
            false => None,
        };
        let slices = match takes("slices") {
            true => settings.optional("slices", parse_progress, |d| format_duration(*d), "none")?,
            false => None,
        };
        Ok(Self { format, is_preview, as_view, progress, slices })
    }

    fn text(&self, document: &Document) -> String {
        let style = if std::io::stdout().is_terminal() { Style::Color } else { Style::Plain };
        match self.format {
            Format::Json => report::json_pretty(document),
            Format::Markdown => {
                document.markdown().unwrap_or_else(|| document.text(Charset::Unicode, style))
            }
            _ => report::printed(document, charset(), style),
        }
    }
}

/// Reads an interval of output, of a second or more.
pub(super) fn parse_progress(text: &str) -> std::result::Result<Duration, String> {
    match parse_duration(text)? {
        every if every >= Duration::from_secs(1) => Ok(every),
        _ => Err(format!("`{text}` is too short: must be 1s or more")),
    }
}

/// Creates the file for JUnit XML before anything runs.
fn junit(kind: JobKind, settings: &mut Settings) -> Result<Option<ReportFile>> {
    if declared(kind, "junit").is_none() || settings.get("junit").is_none() {
        return Ok(None);
    }
    if settings.get("junit") == settings.get("series") {
        return Err(Failure::refuse("--series and --junit name the same file: name two"));
    }
    let path = settings.optional(
        "junit",
        |text| Ok(PathBuf::from(text)),
        |path| path.display().to_string(),
        "none",
    )?;
    let is_preview = declared(kind, "show-spec").is_some() && settings.switch("show-spec")?;
    path.filter(|_| !is_preview).map(|path| ReportFile::create(&path)).transpose()
}

/// The failure of a job that was not stored completely; a warning has already given the reason.
pub(super) fn unstored() -> Failure {
    Failure::refuse(
        "the job is missing from the job store or incomplete there; the printed output is the only \
         copy",
    )
}
