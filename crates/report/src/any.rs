//! The report of any job's document.

use triphammer_document::Document;
use triphammer_settings::command::job_kinds;

use super::junit::Suite;
use super::{Charset, Report, Style, fits};

macro_rules! reports {
    ($($variant:ident($name:literal, $nature:ident, $($document:ident)::+, $($type:ident)::+) $title:literal,)+) => {
        impl Report for Document {
            fn text(&self, charset: Charset, style: Style) -> String {
                match self { $(Self::$variant(of) => of.text(charset, style),)+ }
            }

            fn summary(&self, charset: Charset, style: Style) -> Option<String> {
                match self { $(Self::$variant(of) => of.summary(charset, style),)+ }
            }

            fn verdict_last(&self, charset: Charset, style: Style) -> String {
                match self { $(Self::$variant(of) => of.verdict_last(charset, style),)+ }
            }

            fn markdown(&self) -> Option<String> {
                match self { $(Self::$variant(of) => of.markdown(),)+ }
            }

            fn junit(&self) -> Option<Suite> {
                let suite = match self { $(Self::$variant(of) => of.junit(),)+ };
                suite.map(|suite| suite.agreeing_with(self.ending()))
            }
        }
    };
}
job_kinds!(reports);

/// Formats a document as its command prints it: the last screen holds the verdict. Where the store
/// has the document, `report` prints the rest.
#[must_use]
pub fn printed(document: &Document, charset: Charset, style: Style) -> String {
    let Some(summary) = document.summary(charset, style) else {
        return document.text(charset, style);
    };
    if document.head().job.is_some() {
        return summary;
    }
    let text = document.text(charset, style);
    if fits(&text) { text } else { document.verdict_last(charset, style) }
}
