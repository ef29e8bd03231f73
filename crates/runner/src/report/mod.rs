//! Results for people and for programs. Every report is a function from a document to text; none of
//! them measures, and all of them say the same.

pub mod format;
mod hdr;
pub mod jobs;
mod json;
mod load;
pub mod junit;
mod markdown;
mod output;
mod plain;
pub mod series;
mod table;
mod text;
mod words;

pub use json::json;
pub use markdown::markdown;
pub use output::Format;
pub use plain::{build, check, stored, stored_json};
pub use text::{Style, text};
