//! Results for people and for programs. Every report is a function from a document to text; none of
//! them measures, and all of them say the same.

mod capacity;
mod chart;
mod comparison;
mod first;
pub mod format;
mod hdr;
mod history;
pub mod jobs;
mod json;
pub mod junit;
mod load;
mod markdown;
mod output;
mod plain;
mod profile;
pub mod series;
mod table;
mod text;
mod words;

pub use crate::formats::{Declared, FORMATS, Format};
pub use capacity::{capacity, capacity_markdown};
pub use chart::Charset;
pub use comparison::{comparison, comparison_markdown};
pub use history::history;
pub use json::{json, pretty as json_pretty};
pub(crate) use load::origin;
pub use markdown::markdown;
pub use plain::{build, check, datagen, document, document_markdown, stored, stored_json};
pub use profile::{profile, profile_markdown};
pub use text::{Style, printable, summary, text};
