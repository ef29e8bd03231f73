//! Captures the log of a server.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use triphammer_capture::mix::Mix;
use triphammer_capture::recording::Recorder;
use triphammer_capture::{
    Assembler, Databases, Format, Log, Shapes, Skipped, Transaction, other_source,
};
use triphammer_core::{SpecError, small_file};
use triphammer_document::capture::CaptureReport;
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::format::counted;

use super::common::{MaskRequest, counts};
use super::output::Output;
use crate::new_file;

/// Bytes at the beginning of a log in which its format is looked for.
const HEAD_BYTES: u64 = 256 * 1024;
/// Statements after which progress is reported.
const REPORT_EVERY: u64 = 4096;

/// The log to capture, and where to write it.
#[derive(Debug)]
pub struct LogRequest {
    file: PathBuf,
    format: Format,
    /// The database whose statements are captured; all that the log has without it.
    database: Option<String>,
    mask: MaskRequest,
    output: Output,
    /// Bytes of the log.
    pub bytes: u64,
}

impl LogRequest {
    /// The log at a path.
    ///
    /// # Errors
    /// When it cannot be read or its format is unknown.
    pub fn new(source: &str, output: Output, settings: &mut Settings) -> Result<Self, Failure> {
        let file = PathBuf::from(source);
        let (mut log, bytes) = open(&file)?;
        let from = settings.optional("from", read_format, show_format, "detected")?;
        let format = detect(&mut log, &file, from)?;
        let read = |name: &str| Ok(name.to_owned());
        let database = settings.optional("database", read, String::clone, "the only one")?;
        let mask = MaskRequest::new(settings)?;
        Ok(Self { file, format, database, mask, output, bytes })
    }
}

fn read_format(text: &str) -> Result<Format, String> {
    Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("unknown source `{text}`: expected one of {}", known.join(", "))
    })
}

fn show_format(format: &Format) -> String {
    format.name().to_owned()
}

/// Opens a log: a regular file, so that its format can be detected first.
fn open(file: &Path) -> Result<(File, u64), Failure> {
    let failed = |error: std::io::Error| {
        SpecError::new(format!("cannot read the log {}: {error}", file.display())).about("target")
    };
    let log = small_file::open(file).map_err(failed)?;
    let bytes = log.metadata().map_err(failed)?.len();
    Ok((log, bytes))
}

/// Finds the format by the first lines. A format that is given is doubted only for what is known to
/// be something else.
fn detect(log: &mut File, file: &Path, given: Option<Format>) -> Result<Format, Failure> {
    let mut head = Vec::new();
    let read = log.take(HEAD_BYTES).read_to_end(&mut head);
    read.map_err(|error| Failure::System { doing: format!("reading {}", file.display()), error })?;
    let text = String::from_utf8_lossy(&head);
    let mut formats = text.lines().filter_map(Format::of_line);
    let found = match given {
        Some(given) => formats.find(|found| *found == given),
        None => formats.next(),
    };
    if let Some(format) = found {
        return Ok(format);
    }
    let other = other_source(&head);
    if let (Some(given), None) = (given, &other) {
        return Ok(given);
    }
    let file = file.display();
    let message = if let Some(other) = other {
        format!("cannot read the log {file}: it is {other}")
    } else if head.is_empty() {
        format!("the log {file} is empty")
    } else {
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        let known = known.join(", ");
        format!("cannot detect the format of the log {file}: set it with --from, to one of {known}")
    };
    Err(SpecError::new(message).about("target").into())
}

/// Captures the log; `advance` gets the bytes that were read since it was last called.
///
/// # Errors
/// When the log cannot be read or has no statements, or a file cannot be written.
pub fn capture(
    request: &LogRequest,
    advance: &mut dyn FnMut(u64),
) -> Result<CaptureReport, Failure> {
    let (mut file, _) = open(&request.file)?;
    let _ = file.seek(SeekFrom::Start(0));
    let log = Log::new(BufReader::with_capacity(1 << 16, file), request.format);
    let mut assembler = Assembler::new(request.format.syntax());
    assembler.databases = Databases::new(request.database.clone());
    assembler.mask = request.mask.draw()?;
    if request.output.is_recording {
        record(request, log, &mut assembler, advance)
    } else {
        mix(request, log, &mut assembler, advance)
    }
}

/// Writes a recording.
fn record(
    request: &LogRequest,
    mut log: Log<BufReader<File>>,
    assembler: &mut Assembler,
    advance: &mut dyn FnMut(u64),
) -> Result<CaptureReport, Failure> {
    let path = &request.output.file;
    let _folders = request.output.folders()?;
    let partial = request.output.recording()?;
    let mut recorder = Recorder::new(partial.writer(), request.format.name());
    let mut transactions = 0;
    let mut sink = |transaction: Transaction, shapes: &Shapes| {
        transactions += 1;
        recorder.add(&transaction, shapes)
    };
    let bytes = read_log(request, &mut log, assembler, &mut sink, advance)?;
    let seconds = recorder.finish(assembler.sessions());
    let seconds = seconds.map_err(|error| new_file::failed(path, error))?;
    refuse_databases(request, &assembler.databases)?;
    refuse_empty(request, transactions, &assembler.skipped)?;
    partial.keep()?;
    let files = vec![path.clone()];
    Ok(CaptureReport {
        is_recording: true,
        seconds,
        ..request.report(files, bytes, transactions, assembler, &Skipped::default())
    })
}

/// Writes a workload file, and the file of its samples.
fn mix(
    request: &LogRequest,
    mut log: Log<BufReader<File>>,
    assembler: &mut Assembler,
    advance: &mut dyn FnMut(u64),
) -> Result<CaptureReport, Failure> {
    let files = request.output.files()?;
    let mut mix = Mix::new(request.format.syntax());
    let mut sink = |transaction: Transaction, shapes: &Shapes| {
        mix.add(transaction, shapes);
        Ok(())
    };
    let bytes = read_log(request, &mut log, assembler, &mut sink, advance)?;
    refuse_databases(request, &assembler.databases)?;
    refuse_empty(request, mix.transactions(), &assembler.skipped)?;
    let mut skipped = assembler.skipped.clone();
    mix.skipped.iter().for_each(|(reason, count)| skipped.more(reason, count));
    let head = request.head(&mix, &skipped);
    let written = mix.write(&head, &request.output.samples_name(), &assembler.shapes);
    let files = files.write(&written.text, written.samples.as_deref())?;
    Ok(CaptureReport {
        kinds: written.kinds,
        parameters: written.parameters,
        seconds: mix.seconds(),
        ..request.report(files, bytes, mix.transactions(), assembler, &mix.skipped)
    })
}

/// Passes the events of the log to the assembler; returns the bytes read.
fn read_log(
    request: &LogRequest,
    log: &mut Log<BufReader<File>>,
    assembler: &mut Assembler,
    sink: &mut triphammer_capture::Sink<'_>,
    advance: &mut dyn FnMut(u64),
) -> Result<u64, Failure> {
    let failed =
        |error| Failure::System { doing: format!("capturing {}", request.file.display()), error };
    let (mut reported, mut events) = (0, 0_u64);
    while let Some(event) = log.next_event().map_err(failed)? {
        assembler.event(event, sink).map_err(failed)?;
        events += 1;
        if events % REPORT_EVERY == 0 {
            advance(log.read() - reported);
            reported = log.read();
        }
    }
    assembler.finish(sink).map_err(failed)?;
    advance(log.read() - reported);
    Ok(log.read())
}

/// Rejects a log of several databases, whose statements would all be replayed on one, and one that does
/// not have the database that is wanted.
fn refuse_databases(request: &LogRequest, databases: &Databases) -> Result<(), Failure> {
    let file = request.file.display();
    let message = match databases.wanted() {
        None if databases.is_mixed() => format!(
            "{file} has statements of several databases, which would all be replayed on one: choose \
             it with --database"
        ),
        Some(wanted) if !databases.has(wanted) => format!(
            "{file} has no statement of the database `{wanted}` that can be replayed; --database \
             names one of the log"
        ),
        _ => return Ok(()),
    };
    let found = databases.lines("  ");
    let found = if found.is_empty() { "  it names none\n".to_owned() } else { found };
    Err(SpecError::new(format!("{message}\n{}", found.trim_end())).about("database").into())
}

/// Rejects a log from which nothing can be replayed.
fn refuse_empty(request: &LogRequest, transactions: u64, skipped: &Skipped) -> Result<(), Failure> {
    if transactions > 0 {
        return Ok(());
    }
    let counts = skipped.lines("  ");
    let counts = if counts.is_empty() { String::new() } else { format!("\n{counts}") };
    Err(Failure::refuse(format!(
        "{} ({}) has no transaction that can be replayed; the server logs every statement with \
         {}{}",
        request.file.display(),
        request.format.name(),
        request.format.needs(),
        counts.trim_end()
    )))
}

impl LogRequest {
    fn report(
        &self,
        files: Vec<PathBuf>,
        bytes: u64,
        transactions: u64,
        assembler: &Assembler,
        more: &Skipped,
    ) -> CaptureReport {
        let mut skipped = assembler.skipped.clone();
        more.iter().for_each(|(reason, count)| skipped.more(reason, count));
        CaptureReport {
            from: self.format.name().to_owned(),
            source: self.file.display().to_string(),
            files,
            is_recording: false,
            bytes,
            sessions: assembler.sessions(),
            transactions,
            statements: assembler.statements,
            distinct_statements: assembler.shapes.len(),
            kinds: 0,
            parameters: 0,
            seconds: 0.0,
            guessed: None,
            ended_early: None,
            unreached: 0,
            skipped: counts(&skipped),
        }
    }

    /// The comment at the head of a workload file.
    fn head(&self, mix: &Mix, skipped: &Skipped) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let mut head = format!(
            "Captured by triphammer from {name} ({}): {} in {:.1} s.\n\
             A weight is the number of times that the transaction occurred. Values are drawn from \
             ranges\nor samples of the log: values that were equal stay equal, other dependencies \
             are lost.\n",
            self.format.name(),
            counted(mix.transactions(), "transactions"),
            mix.seconds()
        );
        let counts = skipped.lines("  ");
        if !counts.is_empty() {
            head.push_str("Not in this file:\n");
            head.push_str(&counts);
        }
        // A name of a file may have anything in it.
        head.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
    }
}
