//! Reports for people and for programs. Every report is a function from a document to text; none of
//! them measures anything.
//!
//! Not here: the page and its HTML export (`server`), and live views of a run (`cli`). This crate
//! depends on documents and the store, and not on the runner. Begin with [`Report`], which documents
//! implement, and [`render`], which renders a stored job in any format.

mod any;
mod capacity;
mod capture;
mod chart;
mod comparison;
mod cores;
mod costs;
mod doctor;
mod drill;
mod elasticity;
mod first;
mod hdr;
mod history;
mod hosts;
mod isolation;
pub mod jobs;
mod json;
pub mod junit;
mod lines;
mod load;
mod logins;
mod markdown;
mod matrix;
mod nodes;
mod observed;
mod observed_series;
mod output;
mod percentile_lines;
mod plain;
mod plans;
mod profile;
mod queries;
mod query_streams;
mod replays;
mod summary;
mod table;
mod text;
mod transaction_time;
mod verification;
mod why;
mod words;

pub use any::printed;
pub use capture::capture;
pub use chart::Charset;
pub use doctor::{doctor, doctor_in_short};
pub use history::history;
pub use json::{json, pretty as json_pretty};
pub use output::render;
pub use percentile_lines::{percentile_lines, stored_percentiles};
pub use plain::{datagen, stored, stored_json};
pub use plans::plans;
pub use summary::fits;
pub use table::wrapped;
pub use text::{Style, printable};
pub use verification::verification;
pub use why::why;

/// How a document is rendered, for people and for other programs.
pub trait Report {
    /// Formats the whole document, within 80 columns, with a final line break.
    fn text(&self, charset: Charset, style: Style) -> String;

    /// Formats the verdict and what it rests on, for a screen of 80 × 24; `None` if the text of any
    /// such document ends with its verdict.
    fn summary(&self, _charset: Charset, _style: Style) -> Option<String> {
        None
    }

    /// Formats the whole document with its verdict at the end, for a screen that scrolls.
    fn verdict_last(&self, charset: Charset, style: Style) -> String {
        let text = self.text(charset, style);
        match self.summary(charset, style) {
            Some(summary) => format!("{text}\n{summary}"),
            None => text,
        }
    }

    /// Formats the document as GitHub-flavoured Markdown; `None` if that adds nothing to the text.
    fn markdown(&self) -> Option<String> {
        None
    }

    /// The requirements and their results; `None` if there are none.
    fn junit(&self) -> Option<junit::Suite> {
        None
    }
}
