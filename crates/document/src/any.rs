//! The result document of any job: one of the documents of the job kinds.

use serde::Serialize;
use serde_json::Value;
use triphammer_settings::command::{JobKind, job_kinds};

use crate::document::{Head, JobDocument as _};
use crate::ending::Ending;
use crate::price::PriceList;

macro_rules! documents {
    ($($variant:ident($name:literal, $nature:ident, $($document:ident)::+, $($type:ident)::+) $title:literal,)+) => {
        /// The result document of a job. Its JSON is that of the variant.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Document {
            $(
                #[doc = concat!("Of `", $name, "`.")]
                $variant(Box<crate::$($document)::+>),
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

            /// The document with the verdict on it made again from its other fields.
            #[must_use]
            pub fn judged_again(self) -> Self {
                match self { $(Self::$variant(of) => Self::$variant(Box::new(of.judged())),)+ }
            }

            /// The document by a price list; `None` if such documents have no price.
            #[must_use]
            pub fn priced(self, list: &PriceList) -> Option<Self> {
                match self { $(Self::$variant(of) => of.priced_by(list).map(Self::from),)+ }
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
        }

        $(
            impl From<crate::$($document)::+> for Document {
                fn from(of: crate::$($document)::+) -> Self {
                    Self::$variant(Box::new(of))
                }
            }
        )+
    };
}
job_kinds!(documents);
