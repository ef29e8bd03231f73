//! What the documents of all jobs have in common. Each kind of job has its own type; [`Document`](crate::job::Document)
//! is one of them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use triphammer_core::session::ServerInfo;

use crate::command::JobKind;
use crate::host::Host;
use crate::report::format;
use crate::result::{Redacted, Setting, Status, Tool, WorkloadFacts};

/// A kind of job, by what it leaves.
pub trait JobType {
    /// Its document.
    type Document: JobDocument;
}

/// What a job leaves: printed with `--json`, stored, and rendered by [`Report`](crate::report::Report).
pub trait JobDocument: Serialize + DeserializeOwned + JsonSchema {
    /// Its file in `docs/reference`, where its schema is published.
    const SCHEMA: Option<&'static str> = None;

    /// What it has of what documents have in common.
    fn head(&self) -> Head<'_>;

    /// Whether the job did what it was to do, and what it found is good. False is exit code 1, or 130 when the
    /// job was interrupted.
    fn is_good(&self) -> bool;

    /// Name and value of the primary metric, for lists; `None` where nothing was measured or found.
    fn primary_metric(&self) -> Option<(String, f64)> {
        None
    }

    /// What came out, in a line.
    fn outcome(&self) -> String {
        match self.primary_metric() {
            Some((name, value)) => format!("{} {name}", format::figure(value)),
            None => "nothing was found".to_owned(),
        }
    }
}

/// What documents have in common, as far as each kind has it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Version of the document's shape.
    pub format: Option<u32>,
    /// The command.
    pub kind: JobKind,
    /// Number in the job store.
    pub job: Option<i64>,
    /// The program that made it.
    pub tool: Option<&'a Tool>,
    /// What the user called it.
    pub label: Option<&'a str>,
    /// How it ended.
    pub status: Status,
    /// Date and time of its zero, RFC 3339, UTC.
    pub started_at: Option<&'a str>,
    /// The workload and its data; of A in a comparison.
    pub workload: Option<&'a WorkloadFacts>,
    /// The target, without secrets; of A in a comparison.
    pub target: Option<&'a Redacted>,
    /// What was at the other end; of A in a comparison.
    pub server: Option<&'a ServerInfo>,
    /// Every setting, and where its value came from; of a campaign that of its first run.
    pub settings: &'a [Setting],
    /// The host that the client ran on.
    pub host: Option<&'a Host>,
}

impl Head<'_> {
    /// Of a document that says no more than that the job is complete.
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

/// The head of a document that has all of it, as fields of these names.
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
