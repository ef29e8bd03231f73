//! Every job: settings, then the job, watched at the terminal, then what it left on stdout. What one kind of job
//! has of its own here stands in a module beside this one.

use std::io::IsTerminal;
use std::path::PathBuf;

use triphammer_runner::Failure;
use triphammer_runner::command::JobKind;
use triphammer_runner::job::{Document, Finished, Job, Order};
use triphammer_runner::outputs::OutputFile;
use triphammer_runner::report::{self, Charset, Format, Style};
use triphammer_runner::requests;
use triphammer_runner::result::Status;
use triphammer_runner::settings::{Settings, declared};
use triphammer_runner::watch::Silent;

use super::screen::Screen;
use super::{Terminal, charset, compare, drop, print, show_spec};
use crate::{Exit, Result, signals, terminal, tui};

/// How a job ended, and its document when it left one.
struct Done {
    exit: Exit,
    document: Option<Document>,
    /// What was asked for and could not be written.
    unwritten: Option<Failure>,
}

impl Done {
    const fn without_document(exit: Exit) -> Self {
        Self { exit, document: None, unwritten: None }
    }
}

/// How a job is shown.
struct Show {
    format: Format,
    is_preview: bool,
    as_view: bool,
}

/// Does a job.
pub fn command(kind: JobKind, mut settings: Settings) -> Result<Exit> {
    let Some(file) = junit(kind, &mut settings)? else {
        let done = work(kind, settings)?;
        return done.unwritten.map_or(Ok(done.exit), Err);
    };
    let workload = requests::workload(&mut settings)?;
    match work(kind, settings) {
        Ok(Done { exit, document, unwritten }) => {
            if let Some(suite) = document.as_ref().and_then(report::junit::of) {
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

fn work(kind: JobKind, settings: Settings) -> Result<Done> {
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
        return Ok(Done::without_document(exit));
    }
    if declared(kind, "yes").is_some() {
        drop::confirm(&mut job)?;
    }
    let mut screen = Screen::new(&job, show.as_view);
    let finished = job.run(&mut screen);
    let unseen = screen.end();
    // Of a campaign each run has its own in its result.
    for remark in job.remarks().iter().filter(|_| !kind.is_campaign()) {
        terminal::warn(remark);
    }
    match unseen {
        Some(failure) => Err(failure),
        None => end(&mut job, finished?, &show),
    }
}

/// Shows what the job would come to: every setting of the runs that a campaign would begin with, and its own.
fn look(job: &mut Job) -> Result<Done> {
    let preview = job.preview(&mut Silent)?;
    if job.kind().is_campaign() {
        for (run, _) in &preview.runs {
            show_spec(run)?;
        }
    }
    show_spec(job.settings())?;
    Ok(Done::without_document(Exit::Done))
}

/// Prints what the job left, and says how the program ends.
fn end(job: &mut Job, mut finished: Finished, show: &Show) -> Result<Done> {
    let document = finished.document.take();
    let found = match &document {
        Some(Document::Comparison(result)) => compare::is_good(job.settings_mut(), result)?,
        Some(document) => document.is_good(),
        None => false,
    };
    let is_good = found && finished.status == Status::Complete;
    let printed = document.as_ref().map_or(Ok(()), |document| print(&show.text(document)));
    let (trouble, torn) = finished.end_outputs();
    for warning in finished.reason.iter().chain(&trouble) {
        terminal::warn(warning);
    }
    // The report of a campaign says so itself.
    let is_told = document.is_some() && show.format == Format::Text;
    if let Some(id) = finished.job.filter(|_| job.kind().is_campaign() && !is_told)
        && finished.status != Status::Complete
    {
        let command = job.kind().name();
        terminal::note(&format!("go on with: triphammer {command} --resume {id}"));
    }
    let exit = match finished.status {
        Status::Interrupted | Status::Aborted if signals::interrupted() => Exit::Interrupted,
        _ if is_good => Exit::Done,
        _ => Exit::CheckFailed,
    };
    let unwritten = printed.err().or(torn).or_else(|| (!finished.is_stored).then(unstored));
    Ok(Done { exit, document, unwritten })
}

impl Show {
    /// Reads what a kind of job takes of it.
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
        Ok(Self { format, is_preview, as_view })
    }

    fn text(&self, document: &Document) -> String {
        let style = if std::io::stdout().is_terminal() { Style::Color } else { Style::Plain };
        let text = |charset: Charset| report::document(document, charset, style);
        match self.format {
            Format::Json => report::json_pretty(document),
            Format::Markdown => {
                report::document_markdown(document).unwrap_or_else(|| text(Charset::Unicode))
            }
            _ => text(charset()),
        }
    }
}

/// The file for JUnit XML, made before anything runs.
fn junit(kind: JobKind, settings: &mut Settings) -> Result<Option<OutputFile>> {
    if declared(kind, "junit").is_none() {
        return Ok(None);
    }
    let path = settings.optional(
        "junit",
        |text| Ok(PathBuf::from(text)),
        |path| path.display().to_string(),
        "none",
    )?;
    let is_preview = declared(kind, "show-spec").is_some() && settings.switch("show-spec")?;
    path.filter(|_| !is_preview).map(|path| OutputFile::create(&path)).transpose()
}

/// The job that was to be stored is not, or not whole: the warning said why.
fn unstored() -> Failure {
    Failure::refuse(
        "the job is not in the job store, or not whole; what is printed is all there is",
    )
}
