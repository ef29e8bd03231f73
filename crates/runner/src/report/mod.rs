//! Reports for people and for programs. Every report is a function from a document to text; none of
//! them measures anything.

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
mod queries;
pub mod series;
mod table;
mod text;
mod words;

pub use crate::formats::{Declared, FORMATS, Format};
pub use chart::Charset;
pub use history::history;
pub use json::{json, pretty as json_pretty};
pub(crate) use load::origin;
pub use plain::{datagen, stored, stored_json};
pub use text::{Style, printable, summary};

/// How a document is rendered, for people and for other programs.
pub trait Report {
    /// For people, as its command prints it, with a line break at its end. It fits 80 columns.
    fn text(&self, charset: Charset, style: Style) -> String;

    /// As GitHub-flavoured Markdown; `None` where that says no more than the text.
    fn markdown(&self) -> Option<String> {
        None
    }

    /// What had to hold and whether it did; `None` where nothing had to.
    fn junit(&self) -> Option<junit::Suite> {
        None
    }
}
