//! The documents of `verify` and `repeat`: what a bundle says about itself, which of its statements were computed
//! again from its raw parts and agree, and which do not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::command::JobKind;

use crate::compare::ComparisonResult;
use crate::method::MethodLine;
use crate::parts::Tool;

/// Version of the document's format.
pub const VERIFICATION_FORMAT: u32 = 1;
/// Largest number of disagreements that a document lists.
pub const DISAGREEMENTS_MAX: usize = 200;

/// What `triphammer verify --json` prints: whether a bundle agrees with itself, and what its method
/// allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The verification of a bundle")]
pub struct BundleVerification {
    /// Version of the document's format.
    #[schemars(extend("const" = VERIFICATION_FORMAT))]
    pub format: u32,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "verify"))]
    pub kind: String,
    /// The program that verified.
    pub tool: Tool,
    /// The program that wrote the bundle, and its version.
    pub written_by: String,
    /// What follows if another version wrote the bundle, in words; `None` if this version did.
    pub other_version: Option<String>,
    /// Kind of the job in the bundle.
    #[schemars(with = "String")]
    pub job_kind: JobKind,
    /// Number of the job in the store that it came from.
    pub job: i64,
    /// The primary metric or the verdict of the job, in one line.
    pub outcome: String,
    /// Whether everything agrees.
    pub agrees: bool,
    /// What was computed again, and agrees.
    pub agreements: Vec<Agreement>,
    /// What does not agree, at most 200 of them.
    pub disagreements: Vec<Disagreement>,
    /// Number of disagreements in all.
    pub disagreement_count: u64,
    /// Statements of the bundle that are in it only once: only hashes and a signature protect them.
    pub not_recomputed: Vec<String>,
    /// The signature of the manifest.
    pub signature: Signature,
    /// Names that the bundle shows.
    pub names: ShownNames,
    /// Judgement of the method; empty for jobs without a run.
    pub method: Vec<MethodLine>,
}

/// A kind of statements that agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// What agrees, in words.
    pub what: String,
    /// Number of values that were compared.
    pub values: u64,
}

/// A statement that does not agree with what it was computed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// Part of the bundle: `document.json`.
    pub part: String,
    /// Place in it: `window.total.completed`.
    pub place: String,
    /// What the part says.
    pub written: String,
    /// What was found instead.
    pub found: String,
}

/// The signature of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Signature {
    /// The bundle is not signed.
    None,
    /// The manifest is signed by this key, whoever has it.
    ByKey {
        /// Type and fingerprint of the key, as `ssh-keygen` names them.
        key: String,
    },
    /// The manifest is signed by the key that was asked for.
    ByAsked {
        /// Type and fingerprint of the key, as `ssh-keygen` names them.
        key: String,
    },
}

/// Names in a bundle that identify machines, people or purposes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownNames {
    /// Whether names were replaced when the bundle was made.
    pub anonymous: bool,
    /// Hosts of targets, nodes and exporters, without those of the machine itself.
    pub hosts: Vec<String>,
    /// Labels of the job and of its runs.
    pub labels: Vec<String>,
    /// Folders and files of databases and jobs.
    pub paths: Vec<String>,
}

/// Version of the format of [`RepetitionResult`].
pub const REPETITION_FORMAT: u32 = 1;

/// What `triphammer repeat --json` prints: whether runs of another day or place give the figures of a
/// bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The repetition of a bundle")]
pub struct RepetitionResult {
    /// Version of the document's format.
    #[schemars(extend("const" = REPETITION_FORMAT))]
    pub format: u32,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "repeat"))]
    pub kind: String,
    /// Whether it is a repetition.
    pub verdict: RepetitionVerdict,
    /// The verdict in words, with the ratio.
    pub words: String,
    /// The runs of the bundle (A) and those that repeat them (B), compared.
    pub comparison: ComparisonResult,
}

/// Verdict on a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionVerdict {
    /// The ratio of the primary metric is 1 within the margin.
    Repeated,
    /// It is not, and its interval excludes 1.
    Differs,
    /// Neither is known.
    Unknown,
    /// Figures of the two cannot be compared.
    NotComparable,
}

impl RepetitionResult {
    /// Makes the document.
    #[must_use]
    pub fn new(verdict: RepetitionVerdict, words: String, comparison: ComparisonResult) -> Self {
        let kind = "repeat".to_owned();
        Self { format: REPETITION_FORMAT, kind, verdict, words, comparison }
    }
}
