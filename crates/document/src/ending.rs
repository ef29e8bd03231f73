//! How a job ended: the verdict on it, made once with its document. Lists, reports, the page, other
//! programs and the exit code read it; none of them judges again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Status;

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// Whether the job was successful and its findings are good. If not, its command exits with 1,
    /// or with 130 if it was interrupted.
    pub good: bool,
    /// What is wrong with the job, or what to know about it before anything else; `None` for
    /// nothing.
    pub flaw: Option<Flaw>,
    /// The status and the flaw in words: `complete`, `complete, commits lost`.
    pub words: String,
    /// How a run ended that is not complete, in a sentence: `interrupted after 5s: these are partial
    /// figures`; `None` for other jobs.
    pub detail: Option<String>,
}

impl Ending {
    /// Creates the ending of a job with this status and its worst flaw.
    #[must_use]
    pub fn new(status: Status, flaw: Option<Flaw>) -> Self {
        let good = status == Status::Complete && flaw.is_none_or(Flaw::is_harmless);
        Self::of_name(status.name(), good, flaw)
    }

    /// Creates the ending from the parts that the store keeps.
    pub fn of_name(status: &str, good: bool, flaw: Option<Flaw>) -> Self {
        let words = match flaw {
            Some(flaw) => format!("{status}, {}", flaw.words()),
            None => status.to_owned(),
        };
        Self { good, flaw, words, detail: None }
    }
}

macro_rules! flaws {
    ($($(#[$doc:meta])+ $flaw:ident($name:literal, $short:literal, $words:literal),)+) => {
        /// What is wrong with a job, the worst first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Flaw {
            $($(#[$doc])+ $flaw,)+
        }

        impl Flaw {
            /// Every flaw, the worst first.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$flaw),+];

            /// Name in documents and in the store.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$flaw => $name,)+ }
            }

            /// As short as a status, for narrow lists.
            #[must_use]
            pub const fn short(self) -> &'static str {
                match self { $(Self::$flaw => $short,)+ }
            }

            /// In words, after the status.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$flaw => $words,)+ }
            }
        }
    };
}

flaws! {
    /// A host that drove a share of the load was lost.
    HostLost("host_lost", "host lost", "a host was lost"),
    /// A requirement was not met.
    RequirementsFailed("requirements_failed", "not met", "requirements failed"),
    /// A query timed out or failed, or a stream of queries had no connection.
    Unanswered("unanswered", "unanswered", "queries without an answer"),
    /// Equal queries had different answers.
    AnswersDiffer("answers_differ", "differs", "answers differ"),
    /// More transactions failed than were allowed.
    TooManyFailures("too_many_failures", "failures", "too many failures"),
    /// No transaction completed in the timed window.
    NothingCompleted("nothing_completed", "no results", "nothing completed"),
    /// The database counts other transactions than the client.
    CountViolated("count_violated", "violated", "count violated"),
    /// An audit contradicts the run.
    AuditViolated("audit_violated", "violated", "audit violated"),
    /// Conditions of a check are violated.
    ConditionsViolated("conditions_violated", "violated", "conditions violated"),
    /// A drill could not read its table back.
    NotVerified("not_verified", "not verified", "not verified: the table was not read"),
    /// A database lost commits that it had acknowledged.
    CommitsLost("commits_lost", "commits lost", "commits lost"),
    /// Rows are duplicated, altered, in another order, or of transactions reported as failed.
    CommitsWrong("commits_wrong", "wrong rows", "commits wrong"),
    /// A level showed an anomaly that it promises to prevent.
    IsolationViolated("isolation_violated", "violated", "isolation violated"),
    /// An anomaly was expected and not found.
    NotAsExpected("not_as_expected", "not found", "what was expected was not found"),
    /// No commit was acknowledged, so nothing is proven.
    NothingProven("nothing_proven", "not proven", "nothing proven"),
    /// A control did not show what the load would have to show.
    Blind("blind", "not proven", "the load could not have shown it"),
    /// A fault did not take place.
    FaultMissing("fault_missing", "no fault", "a fault did not take place"),
    /// No rate keeps the limit.
    NoCapacity("no_capacity", "none found", "no capacity found"),
    /// Runs of a campaign are missing or were not successful.
    RunsFailed("runs_failed", "runs failed", "runs missing or not successful"),
    /// B is slower than A, which was to fail.
    Slower("slower", "slower", "B is slower"),
    /// A comparison is inconclusive, which was to fail.
    Inconclusive("inconclusive", "undecided", "inconclusive"),
    /// No transaction completed for a time although some should have. The job may be good.
    Outage("outage", "outage", "with an outage"),
}

impl Flaw {
    /// The worst of those that apply.
    pub(crate) fn worst(found: impl IntoIterator<Item = (bool, Self)>) -> Option<Self> {
        found.into_iter().filter_map(|(applies, flaw)| applies.then_some(flaw)).min()
    }

    /// Whether a job with it may be good.
    const fn is_harmless(self) -> bool {
        matches!(self, Self::Outage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_documents_and_short_words_fit_a_list() {
        for flaw in Flaw::ALL {
            assert_eq!(serde_json::to_value(flaw).unwrap(), flaw.name());
            assert!(flaw.short().len() <= 12, "{}", flaw.short());
        }
    }

    #[test]
    fn only_a_complete_job_without_a_grave_flaw_is_good() {
        for status in [Status::Interrupted, Status::Aborted, Status::Failed] {
            assert!(!Ending::new(status, None).good);
        }
        for flaw in Flaw::ALL {
            let ending = Ending::new(Status::Complete, Some(flaw));
            assert_eq!(ending.good, flaw == Flaw::Outage);
            assert_eq!(ending.words, format!("complete, {}", flaw.words()));
        }
        assert!(Ending::new(Status::Complete, None).good);
    }
}
