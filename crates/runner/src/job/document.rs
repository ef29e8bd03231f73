//! What a job leaves, whatever the job: one of the documents of the kinds.

use serde::Serialize;
use serde_json::Value;

use crate::command::{JobKind, job_kinds};
use crate::document::{Head, JobDocument as _, JobType};
use crate::report::junit::Suite;
use crate::report::{Charset, Report as _, Style};
use crate::store::{StoreError, StoredJob};

/// The document of a kind of job.
pub(crate) type DocumentOf<T> = <T as JobType>::Document;

macro_rules! documents {
    ($($variant:ident($name:literal, $nature:ident, $($type:ident)::+) $title:literal,)+) => {
        /// What a job left. Its JSON is that of the variant.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Document {
            $(
                #[doc = concat!("Of `", $name, "`.")]
                $variant(Box<DocumentOf<crate::$($type)::+>>),
            )+
        }

        impl Document {
            /// Reads what a job of a kind left; `null` for one that left only a reason.
            ///
            /// # Errors
            /// When it is not of that kind's shape.
            pub fn read(kind: JobKind, json: Value) -> Result<Self, serde_json::Error> {
                Ok(match kind {
                    $(JobKind::$variant => Self::$variant(serde_json::from_value(json)?),)+
                })
            }

            /// What all documents have in common.
            #[must_use]
            pub fn head(&self) -> Head<'_> {
                match self { $(Self::$variant(of) => of.head(),)+ }
            }

            /// Whether the job did what it was to do, and what it found is good. False is exit code 1, or 130 when
            /// the job was interrupted.
            #[must_use]
            pub fn is_good(&self) -> bool {
                match self { $(Self::$variant(of) => of.is_good(),)+ }
            }

            /// Name and value of the primary metric.
            #[must_use]
            pub fn primary_metric(&self) -> Option<(String, f64)> {
                match self { $(Self::$variant(of) => of.primary_metric(),)+ }
            }

            /// What came out, in a line.
            #[must_use]
            pub fn outcome(&self) -> String {
                match self { $(Self::$variant(of) => of.outcome(),)+ }
            }

            /// For people, as its command prints it.
            #[must_use]
            pub fn text(&self, charset: Charset, style: Style) -> String {
                match self { $(Self::$variant(of) => of.text(charset, style),)+ }
            }

            /// As Markdown; `None` where that says no more than the text.
            #[must_use]
            pub fn markdown(&self) -> Option<String> {
                match self { $(Self::$variant(of) => of.markdown(),)+ }
            }

            /// What had to hold and whether it did; `None` where nothing had to.
            #[must_use]
            pub fn junit(&self) -> Option<Suite> {
                match self { $(Self::$variant(of) => of.junit(),)+ }
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
    /// What a stored job left; `None` when it left nothing, or the reason why it could not be done.
    ///
    /// # Errors
    /// When a newer version wrote it, and when a run's cannot be read.
    pub fn stored(job: &StoredJob) -> Result<Option<Self>, StoreError> {
        if job.row.kind == JobKind::Run {
            return Ok(job.result()?.map(Self::from));
        }
        let json = job.document.clone().unwrap_or_default();
        Ok(Self::read(job.row.kind, json).ok())
    }
}
