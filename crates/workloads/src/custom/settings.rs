//! The option of the workload.

use triphammer_core::workload::{OptionCommand, OptionDef};

use super::SETTING;

/// The file that describes the workload.
pub const FILE: OptionDef = OptionDef::value(
    OptionCommand::Every,
    SETTING,
    "FILE.toml",
    "",
    "the file with the workload's transactions, parameters and checks; -w FILE.toml means the same; \
     `triphammer new workload DIR` writes an example",
);

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[FILE];
