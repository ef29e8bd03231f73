//! Settings: what can be set, where it was set, and what it comes to.
//!
//! [`SETTINGS`] is the one list. From it come the flags and their help, the environment variables, the keys of
//! a job file, the fields of a form, `--show-spec` and the reference page; the options of workloads join it by
//! their own definitions. Layers are laid over each other as text ([`Settings`]), each value with its
//! [`Source`]; resolving reads each value once, and a bad one is reported with where it came from.

mod declaration;
mod given;
mod job_file;
mod layers;
mod list;
mod read;
mod run_spec;
mod source;

pub use declaration::{Group, Mark, SettingDef, SettingKind, declared, is, of_command};
pub use given::Given;
pub use layers::{LABEL_MAX, REPEATED, Settings};
pub use list::SETTINGS;
pub(crate) use read::{parse_closeness, parse_share};
pub use run_spec::{RunDefaults, run_spec, until_ci};
pub use source::Source;

/// Most of what a scale counts: 100 TB of TPROC-C.
pub const SCALE_MAX: u32 = 1_000_000;
/// Most sessions of a build or check.
pub const JOBS_MAX: u32 = 1_024;
