//! Commands other than jobs, the settings of all commands, and reports of documents.

use std::ffi::OsString;

use pyo3::prelude::*;
use triphammer_core::SpecError;
use triphammer_core::workload::OptionDef;
use triphammer_document::Document;
use triphammer_document::doctor::DoctorResult;
use triphammer_document::history::HistoryResult;
use triphammer_observe::doctor::{Tests, examine};
use triphammer_report as report;
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::history as found;
use triphammer_runner::resources;
use triphammer_settings as settings;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{Reach, Secrets};
use triphammer_settings::{Settings, all_options};

use crate::failure::Raised;
use crate::stored::open;

/// Secrets from the environment of the process.
pub struct Process;

impl Secrets for Process {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn prompt(&self, _: &str) -> Result<String, SpecError> {
        Err(SpecError::new(
            "cannot ask for the password without a terminal; use --password-file or \
             TRIPHAMMER_PASSWORD",
        ))
    }

    fn reach(&self) -> Reach {
        Reach::Process
    }

    fn is_of_client(&self) -> bool {
        false
    }
}

/// Combines the arguments of a call, the environment and the job file; also returns warnings.
pub fn settings(
    command: Command,
    given: &[(String, String)],
) -> Result<(Settings, Vec<String>), Raised> {
    let options = all_options();
    let options: Vec<&OptionDef> = options.iter().map(|(_, option)| option).collect();
    let mut settings = Settings::new(command);
    settings.add_call(given, &options)?;
    let warnings = settings.add_process(&options)?;
    Ok((settings, warnings))
}

/// The program: parses these arguments, of which the first is its name, and returns the exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| triphammer_cli::main_with(arguments))
}

/// Title and parameters of a command, as JSON.
#[pyfunction]
pub fn parameters(py: Python<'_>, command: &str) -> PyResult<(&'static str, String)> {
    py.detach(|| {
        let unknown = || Raised::argument(format!("unknown command `{command}`"));
        let command = Command::of(command).ok_or_else(unknown)?;
        let parameters = settings::parameters(command);
        Ok((command.title(), serde_json::to_string(&parameters).expect("plain data")))
    })
    .map_err(|error: Raised| error.into())
}

/// Examines host, network and database: the document as JSON, whether nothing is wrong, and warnings.
#[pyfunction]
pub fn doctor(
    py: Python<'_>,
    given: Vec<(String, String)>,
) -> PyResult<(String, bool, Vec<String>)> {
    py.detach(|| {
        resources::check_process()?;
        let (mut settings, mut warnings) = settings(Command::Doctor, &given)?;
        let tests = Tests::from_settings(&mut settings)?;
        let mut warn = |text: &str| warnings.push(text.to_owned());
        let result = examine(&mut settings, &Process, &Handle::default(), &mut warn)?;
        Ok((report::json_pretty(&result), tests.are_good(&result), warnings))
    })
    .map_err(|error: Raised| error.into())
}

/// Runs over time: the document as JSON, and whether the command would exit with 0.
#[pyfunction]
pub fn history(py: Python<'_>, given: Vec<(String, String)>) -> PyResult<(String, bool)> {
    py.detach(|| {
        let (mut settings, _) = settings(Command::History, &given)?;
        let store = open(&settings)?;
        let given = |name: &str| settings.get(name).map(str::to_owned);
        let wanted = found::HistorySelection {
            label: given("label"),
            workload: given("workload"),
            on: given("on"),
            control: given("control"),
        };
        let price = triphammer_runner::price::read(&settings)?;
        let found = found::history(&store, &wanted, price.as_ref())?;
        let fails = settings.switch("fail-if-slower")? && found.is_slower();
        Ok((report::json_pretty(&found), !fails))
    })
    .map_err(|error: Raised| error.into())
}

/// Renders a document: `text`, `markdown` or `junit`; `None` if it has no such form.
#[pyfunction]
pub fn render(py: Python<'_>, kind: &str, json: &str, form: &str) -> PyResult<Option<String>> {
    py.detach(|| rendered(kind, json, form)).map_err(PyErr::from)
}

fn rendered(kind: &str, json: &str, form: &str) -> Result<Option<String>, Raised> {
    let unreadable =
        |error: serde_json::Error| Raised::argument(format!("not a document of `{kind}`: {error}"));
    match (kind, form) {
        ("history", "text") => {
            let result: HistoryResult = serde_json::from_str(json).map_err(unreadable)?;
            Ok(Some(report::history(&result, Charset::Unicode)))
        }
        ("doctor", "text") => {
            let result: DoctorResult = serde_json::from_str(json).map_err(unreadable)?;
            Ok(Some(report::doctor(&result, Charset::Unicode)))
        }
        _ => {
            let known = JobKind::ALL.into_iter().find(|known| known.name() == kind);
            let Some(kind) = known else { return Ok(None) };
            let json = serde_json::from_str(json).map_err(unreadable)?;
            let document = Document::read(kind, json).map_err(unreadable)?;
            Ok(match form {
                "text" => Some(document.text(Charset::Unicode, Style::Plain)),
                "markdown" => document.markdown(),
                "junit" => document.junit().map(|suite| suite.xml()),
                _ => None,
            })
        }
    }
}
