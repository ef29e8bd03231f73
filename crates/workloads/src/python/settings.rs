//! Options of the workload.

use triphammer_core::workload::{OptionCommand, OptionDef};

use crate::script::SETTING;

/// The script.
pub const SCRIPT: OptionDef = OptionDef::value(
    OptionCommand::Run,
    SETTING,
    "FILE",
    "",
    "a Python file with a workload, or FILE:CLASS where it has several",
)
.repeated();

/// Options for the user's code.
pub const DEFINE: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "define",
    "NAME=VALUE",
    "",
    "an option of the script, which it finds in self.options; can be repeated",
)
.repeated()
.short('D');

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[SCRIPT, DEFINE];
