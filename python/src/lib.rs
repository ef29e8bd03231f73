//! The native part of the Python package: jobs of the runner, stored jobs and reports. Python gets documents
//! as JSON and makes objects of them; everything else about Python is in the folder `triphammer` beside this.
//!
//! No function holds the interpreter's lock while it works or waits.

mod cluster;
mod command;
mod database;
mod events;
mod failure;
mod job;
mod stored;
mod watchdog;
mod workload;

use pyo3::pymodule;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::cluster::use_programs;
    #[pymodule_export]
    use crate::command::{doctor, history, main, parameters, render};
    #[pymodule_export]
    use crate::database::{create_database, execute};
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::stored::{histogram, jobs, load, report, series};

    /// Makes this interpreter the one that runs workloads in Python.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let _ = module;
        crate::workload::register();
        Ok(())
    }

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
