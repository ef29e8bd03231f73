//! Runs by several hosts: which programs they start.

use std::ffi::OsString;

use pyo3::prelude::*;
use triphammer_runner::cluster::{Programs, use_programs};

/// Names the interpreter that has this package. The first call counts.
#[pyfunction]
pub fn use_interpreter(executable: OsString) {
    let module = |name: &str| vec![executable.clone(), "-m".into(), name.into()];
    let (this, bridge) = (module("triphammer"), Some(module("triphammer._ray")));
    use_programs(Programs { this, bridge });
}
