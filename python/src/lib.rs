//! The native part of the Python package: jobs of the runner, stored jobs and reports. Python gets documents
//! as JSON and makes objects of them; everything else about Python is in the folder `triphammer` beside this.
//!
//! No function holds the interpreter's lock while it works or waits.

mod cluster;
mod command;
mod events;
mod failure;
mod job;
mod stored;

use pyo3::pymodule;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::cluster::use_interpreter;
    #[pymodule_export]
    use crate::command::{doctor, history, main, parameters, render};
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::stored::{histogram, jobs, load, report, series};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
