//! The common part of all job documents. Each kind of job has its own type;
//! [`Document`](crate::any::Document) is any of them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use triphammer_core::session::ServerInfo;
use triphammer_settings::command::JobKind;
use triphammer_settings::{Setting, format};

use crate::ending::{Ending, Flaw};
use crate::host::Host;
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::price::PriceList;
use crate::redacted::Redacted;

/// A kind of job, defined by its result document.
pub trait JobType {
    /// The result document.
    type Document: JobDocument;
}

/// The result document of a job: printed with `--json`, stored, and rendered by
/// `Report`.
pub trait JobDocument: Serialize + DeserializeOwned + JsonSchema {
    /// Version of the format that this program writes; `None` if documents do not state it.
    const FORMAT: Option<u32> = None;

    /// Returns the fields that all documents have in common.
    fn head(&self) -> Head<'_>;

    /// How the job ended, as judged when the document was made.
    fn ending(&self) -> &Ending;

    /// The same, to be set.
    fn ending_mut(&mut self) -> &mut Ending;

    /// The worst flaw of the job by its other fields: the rule for its kind of documents.
    fn flaw(&self) -> Option<Flaw>;

    /// How the job ended if it is not complete, in a sentence.
    fn ended(&self) -> Option<String> {
        None
    }

    /// Judges the job by the other fields of its document: at its making, and after a change.
    fn judge(&mut self) {
        let ending = Ending::new(self.head().status, self.flaw());
        *self.ending_mut() = Ending { detail: self.ended(), ..ending };
    }

    /// Returns the judged document.
    #[must_use]
    fn judged(mut self) -> Self {
        self.judge();
        self
    }

    /// Name and value of the primary metric, for lists; `None` if nothing was measured or found.
    fn primary_metric(&self) -> Option<(String, f64)> {
        None
    }

    /// The same document by a price list; `None` if such documents have no price.
    fn priced_by(self, _list: &PriceList) -> Option<Self> {
        None
    }

    /// Describes the outcome in one line.
    fn outcome(&self) -> String {
        match self.primary_metric() {
            Some((name, value)) => format!("{} {name}", format::figure(value)),
            None => "nothing was found".to_owned(),
        }
    }
}

/// The fields that documents have in common; `None` or empty where a kind has no such field.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Version of the document's format.
    pub format: Option<u32>,
    /// Kind of the job.
    pub kind: JobKind,
    /// Job number; `None` if the job is not stored.
    pub job: Option<i64>,
    /// The program that wrote the document.
    pub tool: Option<&'a Tool>,
    /// Label given by the user; `None` without one.
    pub label: Option<&'a str>,
    /// Status at the end of the job.
    pub status: Status,
    /// Start of the job's timeline (second 0), RFC 3339, UTC.
    pub started_at: Option<&'a str>,
    /// Workload and its data; of A in a comparison.
    pub workload: Option<&'a WorkloadFacts>,
    /// URL of the target, without secrets; of A in a comparison.
    pub target: Option<&'a Redacted>,
    /// The database server; of A in a comparison.
    pub server: Option<&'a ServerInfo>,
    /// Every setting with the source of its value; of the first run in a campaign.
    pub settings: &'a [Setting],
    /// The host of the client.
    pub host: Option<&'a Host>,
}

impl Head<'_> {
    /// Creates the head of a document of a complete job, without optional fields.
    #[must_use]
    pub const fn of(kind: JobKind) -> Self {
        Self {
            format: None,
            kind,
            job: None,
            tool: None,
            label: None,
            status: Status::Complete,
            started_at: None,
            workload: None,
            target: None,
            server: None,
            settings: &[],
            host: None,
        }
    }
}

/// The head of a document that has all these fields, under the same names.
macro_rules! whole_head {
    ($of:expr) => {
        $crate::document::Head {
            format: Some($of.format),
            kind: $of.kind,
            job: $of.job,
            tool: Some(&$of.tool),
            label: $of.label.as_deref(),
            status: $of.status,
            started_at: Some(&$of.started_at),
            workload: Some(&$of.workload),
            target: Some(&$of.target),
            server: Some(&$of.server),
            settings: &$of.settings,
            host: Some(&$of.host),
        }
    };
}
pub(crate) use whole_head;

/// The accessors of a document that has its ending in a field of that name.
macro_rules! own_ending {
    () => {
        fn ending(&self) -> &$crate::ending::Ending {
            &self.ending
        }

        fn ending_mut(&mut self) -> &mut $crate::ending::Ending {
            &mut self.ending
        }
    };
}
pub(crate) use own_ending;
