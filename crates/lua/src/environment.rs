//! What a script sees around it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::unique::Unique;

/// What a script sees around it.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Path or name of the script.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// Folders in which `require` finds modules, besides the current one.
    pub folders: Vec<PathBuf>,
    /// The command: `run`, `prepare` and so on.
    pub command: String,
    /// Name of the database driver in sysbench: `mysql` or `pgsql`.
    pub driver: String,
    /// Number of the thread, from 0.
    pub tid: u32,
    /// Number of threads.
    pub threads: u32,
    /// Options by name, with underscores: general ones and the script's.
    pub options: Arc<BTreeMap<String, String>>,
    /// Seed of the random numbers until the first event.
    pub seed: u64,
    /// Numbers that no other thread has had.
    pub unique: Arc<Unique>,
    /// Where the script prints.
    pub output: Output,
}

/// Where a script prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output, as in sysbench.
    Stdout,
    /// Standard error, where standard output belongs to a result.
    Stderr,
    /// Nowhere: the script is only tried.
    Nowhere,
}
