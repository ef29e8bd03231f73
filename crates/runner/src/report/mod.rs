//! Results for people and for programs. Every report is a function from a document to text; none of
//! them measures, and all of them say the same.

mod capacity;
mod chart;
pub mod format;
pub mod jobs;
mod json;
mod load;
mod markdown;
mod plain;
mod profile;
mod table;
mod text;
mod words;

pub use capacity::capacity;
pub use chart::Charset;
pub use json::json;
pub(crate) use load::author;
pub use markdown::markdown;
pub use plain::{build, check, stored, stored_json};
pub use profile::profile;
pub use text::{Style, text};
