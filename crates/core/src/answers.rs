//! What a replay's statements answered, beside what the recording says that they answered when they were recorded.
//!
//! An answer is the number of rows, the number of changed rows, the code of an error, and a hash of the rows. Whatever
//! differs is a [divergence](Divergence); each statement has the number of its divergences by kind, with examples.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the answer of a replayed statement differs from the recorded one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Divergence {
    /// Another number of rows was returned.
    Rows,
    /// Another number of rows was changed.
    Changed,
    /// As many rows were returned, with another content, or in another order where the statement orders them.
    Content,
    /// It fails now, and did not.
    Fails,
    /// It succeeds now, and failed.
    Succeeds,
    /// It fails with another code.
    OtherError,
    /// It was not reached, because its transaction ended before.
    Missing,
}

impl Divergence {
    /// All kinds, the gravest first.
    pub const ALL: [Self; 7] = [
        Self::Fails,
        Self::OtherError,
        Self::Succeeds,
        Self::Rows,
        Self::Content,
        Self::Changed,
        Self::Missing,
    ];

    /// Its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rows => "another number of rows",
            Self::Changed => "another number of changed rows",
            Self::Content => "other rows",
            Self::Fails => "fails now",
            Self::Succeeds => "succeeds now",
            Self::OtherError => "another error",
            Self::Missing => "not reached",
        }
    }

    /// Its place in [`Divergence::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        Self::ALL.into_iter().position(|one| one == self).unwrap_or_default()
    }
}

/// The number of divergences of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DivergenceCount {
    /// The kind.
    pub kind: Divergence,
    /// Its name for people.
    pub title: String,
    /// How many times.
    pub count: u64,
}

/// One divergence. It has no values of the recording: those are where its session and time are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DivergenceExample {
    /// The kind.
    pub kind: Divergence,
    /// When its transaction began in the recording, in seconds.
    pub at_s: f64,
    /// The recorded session, from 1.
    pub session: usize,
    /// What was recorded.
    pub recorded: String,
    /// What the replay met.
    pub replayed: String,
}

/// A statement of the recording, and how its answers compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementAnswers {
    /// The statement, in one line.
    pub text: String,
    /// Number of answers that were compared.
    pub compared: u64,
    /// Number of these that differ in at least one way.
    pub differing: u64,
    /// The differences, the gravest first; without those that did not occur.
    pub divergences: Vec<DivergenceCount>,
    /// Why answers to it cannot be expected to be equal, such as `now()`; `None` if they can.
    pub unstable: Option<String>,
    /// The first divergences.
    pub examples: Vec<DivergenceExample>,
}

/// What became of values that the server makes, such as ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeValues {
    /// Number of values that the recorded server made.
    pub recorded: u64,
    /// Number of arguments in whose place the value of the replayed server was sent.
    pub replaced: u64,
    /// Number of arguments that should have been replaced, and whose value the replayed server did not make, because the
    /// statement that makes it failed or was not reached.
    pub missing: u64,
}

/// Waits for other sessions, by which a replay keeps the recorded order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OrderWaits {
    /// Number of times that a statement waited for a transaction of another session.
    pub waits: u64,
    /// Time of these waits, in seconds.
    pub waited_s: f64,
    /// Number of waits that ended early, because what they waited for waited for them: in the replay, or in the database for a
    /// lock of their transaction.
    #[serde(default)]
    pub in_vain: u64,
    /// Number of waits that ended after the longest time that is waited, not with what they waited for.
    pub timed_out: u64,
}

/// What the statements of a replay answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayAnswers {
    /// Number of statements that were sent.
    pub sent: u64,
    /// Number of these that succeeded, or failed as they did when they were recorded.
    pub succeeded: u64,
    /// Number of answers that were compared.
    pub compared: u64,
    /// Number of these that differ.
    pub differing: u64,
    /// Number of those that were compared by less than their rows, because these cannot be the same twice.
    pub unstable: u64,
    /// Number of answers whose rows could not be compared, because the driver does not read them as texts.
    pub unread: u64,
    /// Number of statements without a recorded answer.
    pub without_answer: u64,
    /// Number of statements that were not sent, because one before them in their transaction failed.
    pub unreached: u64,
    /// Number of answers without a row, read or changed, where the recorded one had some: many of them are a sign of data that is
    /// older than at the beginning of the recording, or of rows that were deleted since.
    pub found_nothing: u64,
    /// Number of statements that fail now, and did not, because a row with their key exists: a sign of data that is newer than at
    /// the beginning of the recording, as after an earlier replay.
    #[serde(default)]
    pub duplicates: u64,
    /// The divergence that was first in the recording; those that follow may be its consequence.
    pub first: Option<FirstDivergence>,
    /// The statements whose answers differ, and those that cannot be equal; in the order in which they first differ in the
    /// recording.
    pub statements: Vec<StatementAnswers>,
    /// Values that the server makes.
    pub made: MadeValues,
    /// Waits that keep the recorded order.
    pub order: OrderWaits,
    /// The answers, to compare replays within a job; not stored.
    #[serde(skip)]
    pub digests: AnswerDigests,
}

/// The answers of a replay as numbers: equal answers have equal ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerDigests {
    /// By statement of the recording in its order, the index of its text.
    pub shapes: Arc<[u32]>,
    /// The statements, each in one line.
    pub titles: Arc<[String]>,
    /// By statement, whether its answers are compared by less than their rows.
    pub limited: Arc<[bool]>,
    /// By statement of the recording in its order, the digest of its answer; 0 if there was none.
    pub of: Vec<u32>,
    /// Whether sessions of the recording worked at the same time, so that answers may depend on their order.
    pub is_concurrent: bool,
}

/// The divergence that was first in the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstDivergence {
    /// When its transaction began in the recording, in seconds.
    pub at_s: f64,
    /// The statement, in one line.
    pub text: String,
    /// The kind.
    pub kind: Divergence,
    /// Its name for people.
    pub title: String,
}
