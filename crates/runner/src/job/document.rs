//! The result document of any job: one of the documents of the job kinds.

use serde::Serialize;
use serde_json::Value;

use crate::command::{JobKind, job_kinds};
use crate::document::{Head, JobDocument as _, JobType};
use crate::ending::Ending;
use crate::report::junit::Suite;
use crate::report::{self, Charset, Report as _, Style};
use crate::store::{StoreError, StoredJob};

/// The document of a kind of job.
pub(crate) type DocumentOf<T> = <T as JobType>::Document;

macro_rules! documents {
    ($($variant:ident($name:literal, $nature:ident, $($type:ident)::+) $title:literal,)+) => {
        /// The result document of a job. Its JSON is that of the variant.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Document {
            $(
                #[doc = concat!("Of `", $name, "`.")]
                $variant(Box<DocumentOf<crate::$($type)::+>>),
            )+
        }

        impl Document {
            /// Reads the document of a job of this kind.
            ///
            /// # Errors
            /// When the JSON does not match the format of the kind.
            pub fn read(kind: JobKind, json: Value) -> Result<Self, serde_json::Error> {
                Ok(match kind {
                    $(JobKind::$variant => Self::$variant(serde_json::from_value(json)?),)+
                })
            }

            /// Returns the fields that all documents have in common.
            #[must_use]
            pub fn head(&self) -> Head<'_> {
                match self { $(Self::$variant(of) => of.head(),)+ }
            }

            /// How the job ended: the verdict on it.
            #[must_use]
            pub fn ending(&self) -> &Ending {
                match self { $(Self::$variant(of) => of.ending(),)+ }
            }

            /// Name and value of the primary metric.
            #[must_use]
            pub fn primary_metric(&self) -> Option<(String, f64)> {
                match self { $(Self::$variant(of) => of.primary_metric(),)+ }
            }

            /// Describes the outcome in one line.
            #[must_use]
            pub fn outcome(&self) -> String {
                match self { $(Self::$variant(of) => of.outcome(),)+ }
            }

            /// Formats the whole document for people.
            #[must_use]
            pub fn text(&self, charset: Charset, style: Style) -> String {
                match self { $(Self::$variant(of) => of.text(charset, style),)+ }
            }

            /// Formats the verdict for a screen; `None` if the text ends with it.
            fn summary(&self, charset: Charset, style: Style) -> Option<String> {
                match self { $(Self::$variant(of) => of.summary(charset, style),)+ }
            }

            /// Formats the whole document with its verdict at the end.
            fn verdict_last(&self, charset: Charset, style: Style) -> String {
                match self { $(Self::$variant(of) => of.verdict_last(charset, style),)+ }
            }

            /// Formats the document as Markdown; `None` if that adds nothing to the text.
            #[must_use]
            pub fn markdown(&self) -> Option<String> {
                match self { $(Self::$variant(of) => of.markdown(),)+ }
            }

            /// The requirements and their results; `None` if there are none.
            #[must_use]
            pub fn junit(&self) -> Option<Suite> {
                let suite = match self { $(Self::$variant(of) => of.junit(),)+ };
                suite.map(|suite| suite.agreeing_with(self.ending()))
            }
        }

        $(
            impl From<DocumentOf<crate::$($type)::+>> for Document {
                fn from(of: DocumentOf<crate::$($type)::+>) -> Self {
                    Self::$variant(Box::new(of))
                }
            }
        )+
    };
}
job_kinds!(documents);

impl Document {
    /// Formats the document as its command prints it: the last screen holds the verdict. Where the
    /// store has the document, `report` prints the rest.
    #[must_use]
    pub fn printed(&self, charset: Charset, style: Style) -> String {
        let Some(summary) = self.summary(charset, style) else { return self.text(charset, style) };
        if self.head().job.is_some() {
            return summary;
        }
        let text = self.text(charset, style);
        if report::fits(&text) { text } else { self.verdict_last(charset, style) }
    }

    /// Reads the document of a stored job; `None` if it has none, or only the reason of a failure.
    ///
    /// # Errors
    /// When a newer version wrote it, or the document of a run cannot be read.
    pub fn stored(job: &StoredJob) -> Result<Option<Self>, StoreError> {
        if job.row.kind == JobKind::Run {
            return Ok(job.result()?.map(Self::from));
        }
        let json = job.document.clone().unwrap_or_default();
        Ok(Self::read(job.row.kind, json).ok())
    }
}
