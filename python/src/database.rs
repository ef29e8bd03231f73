//! What is done with a database outside jobs.

use pyo3::prelude::*;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::target::{self, Target};

use crate::command::{Process, settings};
use crate::failure::Raised;

/// Creates the database that a target names; returns false if it exists.
#[pyfunction]
pub fn create_database(py: Python<'_>, target: &str) -> PyResult<bool> {
    py.detach(|| Ok(target::create_database(&open(target)?)?)).map_err(|error: Raised| error.into())
}

/// Executes a script on a target. `doing` names what it does in errors.
#[pyfunction]
pub fn execute(py: Python<'_>, target: &str, script: &str, doing: &str) -> PyResult<()> {
    py.detach(|| Ok(target::execute(&open(target)?, script, doing)?))
        .map_err(|error: Raised| error.into())
}

/// Opens a target without connecting.
fn open(target: &str) -> Result<Target, Raised> {
    let given = [("target".to_owned(), target.to_owned())];
    let (mut settings, _) = settings(Command::Job(JobKind::Check), &given)?;
    Ok(target::open(&mut settings, None, &Process)?)
}
