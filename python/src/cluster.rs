//! Runs by several hosts: which programs they start.

use std::ffi::OsString;

use pyo3::prelude::*;
use triphammer_runner::cluster::{self, Programs};

/// Names the beginnings of the command lines of this program and of the bridge to Ray. The first
/// call counts.
#[pyfunction]
pub fn use_programs(this: Vec<OsString>, bridge: Vec<OsString>) {
    cluster::use_programs(Programs { this, bridge: Some(bridge) });
}
