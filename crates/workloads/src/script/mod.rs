//! Users' own SQL: scripts in pgbench's language (version 17), each a transaction type.
//!
//! ```text
//! source                  --script FILE@WEIGHT, built-in scripts, their texts as one value
//! parser                  text → Program: a list of steps; errors have line and column
//!   scan                  where an SQL command ends
//!   sql                   the SQL of a step: pieces of text and variables
//!   tokens expression     \set and \if: compiled to operations on a stack
//! variable names random   values and their conversions, slots of variables, distributions
//! settings workload       the scripts of a run as a workload
//! runner times            runs the steps of a program on a session, and counts their times
//! ```

mod attempts;
mod builtin;
mod expression;
pub(crate) mod names;
pub(crate) mod parser;
pub(crate) mod random;
mod runner;
pub(crate) mod scan;
mod settings;
mod source;
pub(crate) mod sql;
pub(crate) mod times;
mod tokens;
mod variable;
mod workload;

pub use source::{SCRIPTS_MAX, ScriptText, hashes, load, scripts, summary, value};
pub use workload::Script;
pub(crate) use workload::key;

/// Name of the workload.
pub const NAME: &str = "script";
/// The setting that names its files.
pub(crate) const SETTING: &str = "script";

/// Where and why a script is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Offset in the script, in bytes.
    at: usize,
    message: String,
}

fn syntax(at: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { at, message: message.into() }
}

/// Length of a backslash that continues a command on the next line, with the end of the line.
fn continuation(rest: &str) -> Option<usize> {
    ["\\\n", "\\\r\n"].iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len())
}

/// Line and column of an offset, both from 1; a column is a character.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = 1 + before.bytes().filter(|b| *b == b'\n').count();
    (line, 1 + before[line_start..].chars().count())
}
