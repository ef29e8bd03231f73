//! Settings: their declarations, sources and resolution; and what every later layer works with:
//! commands, targets and their nodes, sessions with limits, failures, numbers for people.
//!
//! Not here: documents, the store and work. The crates above are `document`, `store`, `observe` and
//! `runner`, in this order; each imports only those below it.
//!
//! [`SETTINGS`] is the only list of settings. The flags and their help, the environment variables,
//! the keys of job files, the fields of forms, `--show-spec` and the reference page are derived from
//! it; the options of workloads are added by their own definitions. Layers are combined as text
//! ([`Settings`]), each value with its [`Source`]; resolving parses each value once, and an invalid
//! one is reported with its source. Begin there, then with [`target`].

pub mod cancel;
mod changes;
pub mod choices;
pub mod command;
mod declaration;
pub mod failure;
pub mod fault;
pub mod file_format;
pub mod files;
pub mod fnv;
pub mod format;
pub mod formats;
mod given;
pub mod handle;
mod job_file;
mod layers;
pub mod limited;
mod list;
pub mod nodes;
mod options;
mod pacing;
mod parameters;
mod read;
mod run_defaults;
mod run_spec;
mod setting;
mod source;
pub mod suggestion;
pub mod target;
mod timed;
pub mod worker_pool;

pub use declaration::{Group, Mark, SettingDef, SettingKind};
pub use given::GivenValue;
pub use layers::{LABEL_MAX, REPEATED, Settings};
pub use list::{SETTINGS, declared, is, of_command};
pub use options::{all_options, workload_options};
pub use parameters::{Parameter, parameters};
pub use read::{parse_closeness, parse_share, parse_time};
pub use run_defaults::RunDefaults;
pub use run_spec::{run_spec, until_ci};
pub(crate) use setting::PROTOCOL_DEFAULT;
pub use setting::{DATABASE_DEFAULT, LISTEN_DEFAULT, Setting};
pub use source::Source;

/// Maximum scale: 100 TB of TPROC-C.
pub const SCALE_MAX: u32 = 1_000_000;
/// Maximum number of sessions of a build or check.
pub const JOBS_MAX: u32 = 1_024;
