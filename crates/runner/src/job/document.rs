//! What a job leaves: one document, whatever the job, as it is printed with `--json`, stored and rendered.

use serde::{Serialize, Serializer};
use serde_json::Value;
use triphammer_core::session::ServerInfo;

use crate::build::BuildReport;
use crate::capacity::CapacityResult;
use crate::check::CheckReport;
use crate::command::JobKind;
use crate::compare::ComparisonResult;
use crate::host::Host;
use crate::profile::ProfileResult;
use crate::report::format;
use crate::result::{Redacted, RunResult, Setting, Status, Tool, WorkloadFacts};
use crate::store::{StoreError, StoredJob};

/// What a job left. Its JSON is that of the variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Document {
    /// Of a build.
    Build(BuildReport),
    /// Of a run.
    Run(Box<RunResult>),
    /// Of a profile.
    Profile(Box<ProfileResult>),
    /// Of a search for the capacity.
    Capacity(Box<CapacityResult>),
    /// Of a comparison, whether it made the runs or not.
    Comparison(Box<ComparisonResult>),
    /// Of a check.
    Check(CheckReport),
    /// Of a drop.
    Removal(Removal),
}

/// What a drop removed. Its JSON is the list of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// `TPROC-C`.
    pub workload: String,
    /// The target, redacted.
    pub target: String,
    /// The tables, in the order in which they went.
    pub removed: Vec<String>,
}

impl Serialize for Removal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.removed.serialize(to)
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

impl<'a> Head<'a> {
    /// Of a document that tells no more than that it is there.
    const fn of(kind: JobKind) -> Self {
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

/// The head of a document that has all of it.
macro_rules! head {
    ($of:expr) => {
        Head {
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

impl Document {
    /// Reads what a job of a kind left; `null` for one that left only a reason.
    ///
    /// # Errors
    /// When it is not of that kind's shape.
    pub fn read(kind: JobKind, json: Value) -> Result<Self, serde_json::Error> {
        use serde_json::from_value as read;
        Ok(match kind {
            JobKind::Build => Self::Build(read(json)?),
            JobKind::Run => Self::Run(read(json)?),
            JobKind::Profile => Self::Profile(read(json)?),
            JobKind::Capacity => Self::Capacity(read(json)?),
            JobKind::Compare => Self::Comparison(read(json)?),
            JobKind::Check => Self::Check(read(json)?),
            JobKind::Drop => Self::Removal(Removal {
                workload: String::new(),
                target: String::new(),
                removed: read(json)?,
            }),
        })
    }

    /// What a stored job left; `None` when it left nothing, or the reason why it could not be done.
    ///
    /// # Errors
    /// When a newer version wrote it, and when a run's cannot be read.
    pub fn stored(job: &StoredJob) -> Result<Option<Self>, StoreError> {
        if job.row.kind == JobKind::Run {
            return Ok(job.result()?.map(|result| Self::Run(Box::new(result))));
        }
        let json = job.document.clone().unwrap_or_default();
        Ok(Self::read(job.row.kind, json).ok())
    }

    /// What all documents have in common.
    #[must_use]
    pub fn head(&self) -> Head<'_> {
        match self {
            Self::Build(_) => Head::of(JobKind::Build),
            Self::Check(_) => Head::of(JobKind::Check),
            Self::Removal(_) => Head::of(JobKind::Drop),
            Self::Run(of) => head!(of),
            Self::Profile(of) => head!(of),
            Self::Capacity(of) => head!(of),
            Self::Comparison(of) => Head {
                format: Some(of.format),
                job: of.job,
                tool: Some(&of.tool),
                label: of.label.as_deref(),
                status: of.status,
                started_at: Some(&of.started_at),
                workload: Some(&of.a.workload),
                target: Some(&of.a.target),
                server: Some(&of.a.server),
                ..Head::of(JobKind::Compare)
            },
        }
    }

    /// Whether the job did what it was to do, and what it found is good. False is exit code 1, or 130 when the
    /// job was interrupted.
    #[must_use]
    pub fn is_good(&self) -> bool {
        match self {
            Self::Build(_) | Self::Removal(_) => true,
            Self::Check(of) => of.holds(),
            Self::Run(of) => of.is_good(),
            Self::Profile(of) => of.is_good(),
            Self::Capacity(of) => of.is_good(),
            Self::Comparison(of) => of.is_good(),
        }
    }

    /// Name and value of the first figure.
    #[must_use]
    pub fn primary_metric(&self) -> Option<(String, f64)> {
        match self {
            Self::Build(_) | Self::Check(_) | Self::Removal(_) => None,
            Self::Run(of) => Some((of.primary_metric.name.clone(), of.primary_metric.value)),
            Self::Profile(of) => of.first_figure(),
            Self::Capacity(of) => of.first_figure(),
            Self::Comparison(of) => of.first_figure(),
        }
    }

    /// What came out, in a line.
    #[must_use]
    pub fn outcome(&self) -> String {
        match self {
            Self::Build(of) => format!("{}: {} rows", of.outcome, format::integer(of.rows)),
            Self::Check(of) => of.outcome(),
            Self::Removal(of) => format!("dropped {}", of.removed.join(", ")),
            Self::Run(of) => format!("{:.0} {}", of.primary_metric.value, of.primary_metric.name),
            Self::Profile(_) | Self::Capacity(_) | Self::Comparison(_) => {
                match self.primary_metric() {
                    Some((name, value)) => format!("{} {name}", format::figure(value)),
                    None => "nothing was found".to_owned(),
                }
            }
        }
    }
}
