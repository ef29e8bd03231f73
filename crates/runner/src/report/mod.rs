//! Results for people and for programs. Every report is a function from a document to text; none of
//! them measures, and all of them say the same.

pub mod format;
pub mod jobs;
mod json;
mod load;
mod markdown;
mod plain;
mod table;
mod text;
mod words;

pub use json::json;
pub(crate) use load::author;
pub use markdown::markdown;
pub use plain::{build, check, stored, stored_json};
pub use text::{Style, text};
