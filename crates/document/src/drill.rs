//! The result document of a drill: printed by `--json`, stored, and rendered by reports.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::Elapsed;
use triphammer_core::session::ServerInfo;
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_settings::format::{counted, duration, integer};
use triphammer_workloads::drill::{LedgerCounts, LostCommits};

use crate::document::{Head, JobDocument, own_ending, whole_head};
use crate::ending::{Ending, Flaw};
use crate::host::Host;
use crate::job_id::JobId;
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::redacted::Redacted;
use crate::result::{FailoverFigure, NodeFigures, Outage, RunResult};

/// Version of the document's format.
pub const DRILL_FORMAT: u32 = 1;
/// Outages that a result lists; all are part of the time without service.
const OUTAGES_MAX: usize = 100;

/// The result of a drill, as printed by `triphammer drill --json` and `triphammer report JOB --format
/// json`. Times have the unit that the field's name ends with; seconds count from the start of the
/// load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a durability drill")]
pub struct DrillResult {
    /// Version of the document's format.
    #[schemars(extend("const" = DRILL_FORMAT))]
    pub format: u32,
    /// Job number; `None` if it was not stored.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "drill"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// `complete`, or how the load ended before its time.
    pub status: Status,
    /// Whether the drill is good, and what is wrong with it.
    pub ending: Ending,
    /// Start of the load (second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// What the database did with the commits.
    pub commits: Commits,
    /// Lost commits of one user without a gap, at most 100 of them.
    pub lost: Vec<LostRange>,
    /// The faults, in the order of their times.
    pub faults: Vec<FaultReport>,
    /// How long the database was away.
    pub service: Service,
    /// What the nodes of the target did during the load; empty for a single server.
    pub nodes: Vec<NodeFigures>,
    /// Moves of the writes from one node to another during the load.
    pub failovers: Vec<FailoverFigure>,
    /// How the table was read back.
    pub verification: TableRead,
    /// Findings in words, the most important first.
    pub findings: Vec<String>,
    /// Job number of the run that drove the load; `None` if it was not stored.
    pub run: Option<i64>,
    /// Virtual users, each with its own chain of rows.
    pub users: u32,
    /// Length of the load, in seconds.
    #[schemars(range(min = 0.0))]
    pub load_s: f64,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// Every setting with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// The server that the drill connected to first.
    pub server: ServerInfo,
    /// The host of the client.
    pub host: Host,
}

/// Counts of transactions and rows. All but the first are known only if the table was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commits {
    /// Commits that the database acknowledged.
    pub acknowledged: u64,
    /// Acknowledged commits without a row; `None` if the table was not read.
    pub lost: Option<u64>,
    /// First and last second in which lost commits began; `None` without any. May be a second early,
    /// and more in drills of over an hour.
    pub lost_between_s: Option<(i64, i64)>,
    /// Rows beyond the first of a transaction.
    pub duplicated: u64,
    /// Rows that do not follow the rows before them: the database kept a commit and lost one that it
    /// was built on, or did not show it one that had been acknowledged.
    pub reordered: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions that were reported as failed and have a row.
    pub undead: u64,
    /// Rows without their hash, or that this drill did not write.
    pub altered: u64,
    /// Commits in doubt: sent, and not answered.
    pub indeterminate: u64,
    /// Commits in doubt that have a row.
    pub indeterminate_committed: u64,
    /// Commits in doubt that have none.
    pub indeterminate_absent: u64,
}

/// Lost commits of one user without a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostRange {
    /// The user: column `usr`.
    pub user: u32,
    /// Number of the first: column `seq`.
    pub first: u64,
    /// Number of the last.
    pub last: u64,
    /// Second in which the first began.
    pub from_s: i64,
    /// Second in which the last began.
    pub to_s: i64,
}

/// A fault, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultReport {
    /// The fault, as given.
    pub fault: String,
    /// When it was due, in seconds.
    #[schemars(range(min = 0.0))]
    pub at_s: f64,
    /// When it began, in seconds; `None` if the load ended before.
    pub began_s: Option<f64>,
    /// When it was over, in seconds; `None` if it never began.
    pub ended_s: Option<f64>,
    /// Whether it took place.
    pub succeeded: bool,
    /// What it did, or why it failed: of a command, the exit code and the end of its output.
    pub detail: String,
}

/// How long the database was away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Service {
    /// Seconds without an acknowledged commit: those of all outages.
    #[schemars(range(min = 0.0))]
    pub without_service_s: f64,
    /// Stretches without an acknowledged commit of any user, to the millisecond: of at least 100 ms,
    /// and of at least ten times the mean time between two commits. The longest, at most 100.
    pub outages: Vec<Outage>,
    /// Sessions that were lost and had not reconnected when the load ended.
    pub sessions_away: u32,
}

/// How the table was read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableRead {
    /// URL of the database, without secrets.
    pub target: Redacted,
    /// The server; `None` if it was not reached.
    pub server: Option<ServerInfo>,
    /// Seconds from the end of the run until it answered and accepted writes.
    #[schemars(range(min = 0.0))]
    pub waited_s: f64,
    /// Rows of the table.
    pub rows: u64,
    /// Why the table could not be read; `None` if it was.
    pub error: Option<String>,
}

impl JobDocument for DrillResult {
    const FORMAT: Option<u32> = Some(DRILL_FORMAT);

    fn head(&self) -> Head<'_> {
        whole_head!(self)
    }

    own_ending!();

    /// Every fault must take place, the table be read back, and nothing be wrong with it.
    fn flaw(&self) -> Option<Flaw> {
        let commits = &self.commits;
        let is_read = commits.lost.is_some();
        Flaw::worst([
            (!is_read, Flaw::NotVerified),
            (commits.lost.is_some_and(|lost| lost > 0), Flaw::CommitsLost),
            (!commits.wrong().is_empty(), Flaw::CommitsWrong),
            (commits.acknowledged == 0, Flaw::NothingProven),
            (self.faults.iter().any(|fault| !fault.succeeded), Flaw::FaultMissing),
        ])
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of commits")]
    fn primary_metric(&self) -> Option<(String, f64)> {
        self.commits.lost.map(|lost| ("lost commits".to_owned(), lost as f64))
    }

    fn outcome(&self) -> String {
        self.findings.first().cloned().unwrap_or_default()
    }
}

impl Service {
    fn new(outages: &[Range<Elapsed>], sessions_away: u32) -> Self {
        // Tenths of a millisecond, so that lengths are what the ends say.
        let seconds = |at: Elapsed| (at.duration().as_secs_f64() * 1e4).round() / 1e4;
        let outage =
            |one: &Range<Elapsed>| Outage { from_s: seconds(one.start), until_s: seconds(one.end) };
        let mut outages: Vec<Outage> = outages.iter().map(outage).collect();
        let without_service_s = outages.iter().map(Outage::length_s).fold(0.0, |sum, s| sum + s);
        outages.sort_by(|a, b| b.length_s().total_cmp(&a.length_s()));
        outages.truncate(OUTAGES_MAX);
        outages.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
        Self { without_service_s, outages, sessions_away }
    }

    fn longest_in_words(&self) -> Option<String> {
        let longest = self.outages.iter().max_by(|a, b| a.length_s().total_cmp(&b.length_s()))?;
        let (from, until) = (longest.from_s, longest.until_s);
        let length = duration(longest.length_s());
        Some(match self.outages.len() {
            1 => format!(
                "no commit was acknowledged for {length}, from second {from:.3} to {until:.3}"
            ),
            several => format!(
                "no commit was acknowledged in {several} stretches; the longest lasted {length}, \
                 from second {from:.3} to {until:.3}"
            ),
        })
    }
}

impl Commits {
    fn new(judged: &LedgerCounts, is_read: bool) -> Self {
        Self {
            acknowledged: judged.acknowledged,
            lost: is_read.then_some(judged.lost),
            lost_between_s: None,
            duplicated: judged.duplicated,
            reordered: judged.reordered,
            failed: judged.failed,
            undead: judged.undead,
            altered: judged.altered,
            indeterminate: judged.indeterminate_committed + judged.indeterminate_absent,
            indeterminate_committed: judged.indeterminate_committed,
            indeterminate_absent: judged.indeterminate_absent,
        }
    }

    /// What is wrong, with its count.
    #[must_use]
    pub fn wrong(&self) -> Vec<(&'static str, u64)> {
        [
            ("lost", self.lost.unwrap_or_default()),
            ("duplicated", self.duplicated),
            ("reordered", self.reordered),
            ("committed although reported as failed", self.undead),
            ("altered", self.altered),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }

    /// Whether there were commits, the table was read back, and every one of them is there, once, in order.
    #[must_use]
    pub fn are_kept(&self) -> bool {
        self.acknowledged > 0 && self.lost.is_some() && self.wrong().is_empty()
    }
}

/// What a drill did, for its document.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Job number; `None` if the drill is not stored.
    pub job: Option<JobId>,
    /// The run that drove the load.
    pub run: &'a RunResult,
    /// Every setting of the drill.
    pub settings: &'a [Setting],
    /// The faults, in the order of their times.
    pub faults: Vec<FaultReport>,
    /// Counts without the table: all that is known if it could not be read.
    pub unread: LedgerCounts,
    /// Second since 1970 of the start of the load.
    pub zero: i64,
    /// URL of the database that was read back, without secrets.
    pub verified: Redacted,
    /// Stretches of the load without an acknowledged commit, in order.
    pub outages: Vec<Range<Elapsed>>,
    /// What the table says, or why it could not be read.
    pub found: Result<LedgerFindings, String>,
}

impl DrillResult {
    /// Creates the document: a pure function.
    pub fn new(parts: Parts<'_>) -> Self {
        let Parts { job, run, settings, faults, unread, zero, verified, outages, found } = parts;
        let (error, found) = match found {
            Ok(found) => (None, found),
            Err(error) => {
                (Some(error), LedgerFindings { judged: unread, ..LedgerFindings::default() })
            }
        };
        let is_read = error.is_none();
        let since = |second: i64| (second - zero).max(0);
        let commits = Commits {
            lost_between_s: found.lost_span.map(|(from, to)| (since(from), since(to))),
            ..Commits::new(&found.judged, is_read)
        };
        let lost = found.lost.iter().map(|range| {
            let LostCommits { user, first, last, from, to } = *range;
            LostRange { user, first, last, from_s: since(from), to_s: since(to) }
        });
        let mut result = Self {
            format: DRILL_FORMAT,
            job: job.map(|job| job.0),
            kind: JobKind::Drill,
            tool: run.tool.clone(),
            label: run.label.clone(),
            // Sessions that are away at the end are a finding, not a failure of the drill.
            status: match run.status {
                Status::Failed => Status::Complete,
                status => status,
            },
            ending: Ending::default(),
            started_at: run.started_at.clone(),
            lost: lost.collect(),
            faults,
            service: Service::new(&outages, run.availability.sessions_away),
            nodes: run.nodes.clone(),
            failovers: run.failovers.clone(),
            verification: TableRead {
                target: verified,
                server: is_read.then_some(found.server),
                waited_s: found.waited_s,
                rows: found.rows,
                error,
            },
            findings: Vec::new(),
            run: run.job,
            users: run.spec.users,
            load_s: run.durations.whole_s,
            workload: run.workload.clone(),
            settings: settings.to_vec(),
            target: run.target.clone(),
            server: run.server.clone(),
            host: run.host.clone(),
            commits,
        };
        result.findings = result.found();
        result.judged()
    }

    /// The findings in words, the most important first.
    fn found(&self) -> Vec<String> {
        let commits = &self.commits;
        let acknowledged = integer(commits.acknowledged);
        let mut found = Vec::new();
        match (&self.verification.error, commits.wrong().as_slice()) {
            (Some(error), _) => found.push(format!(
                "not verified: the table could not be read back: {error}; {acknowledged} \
                 acknowledged commits are unproven"
            )),
            (None, []) if commits.acknowledged == 0 => found.push(format!(
                "nothing is proven: no commit was acknowledged, and {} failed",
                counted(commits.failed, "transactions")
            )),
            (None, []) => {
                found.push(format!("all {acknowledged} acknowledged commits are there, in order"));
            }
            (None, wrong) => {
                let counts: Vec<String> = wrong
                    .iter()
                    .map(|(what, count)| format!("{} {what}", integer(*count)))
                    .collect();
                found
                    .push(format!("of {acknowledged} acknowledged commits: {}", counts.join(", ")));
            }
        }
        if let Some((from, to)) = commits.lost_between_s {
            found.push(match to - from {
                0 => format!("the lost commits began in second {from}"),
                _ => format!("the lost commits began in seconds {from} to {to}"),
            });
        }
        found.extend(self.service.longest_in_words());
        if commits.indeterminate > 0 {
            let count = counted(commits.indeterminate, "commits");
            found.push(match &self.verification.error {
                Some(_) => format!("{count} in doubt"),
                None => format!(
                    "{count} in doubt: {} committed, {} did not",
                    integer(commits.indeterminate_committed),
                    integer(commits.indeterminate_absent)
                ),
            });
        }
        for FailoverFigure { from, to, gap_s, .. } in &self.failovers {
            found
                .push(format!("writes moved from {from} to {to}: none committed for {gap_s:.3} s"));
        }
        for fault in self.faults.iter().filter(|fault| !fault.succeeded) {
            found.push(format!("the fault {} did not take place: {}", fault.fault, fault.detail));
        }
        if self.faults.is_empty() {
            found.push("triphammer caused no fault (--fault)".to_owned());
        }
        found
    }
}

/// What the table says.
#[derive(Clone, Debug, Default)]
pub struct LedgerFindings {
    /// The server that the table was read from.
    pub server: ServerInfo,
    /// How long that server was waited for, in seconds.
    pub waited_s: f64,
    /// Number of rows.
    pub rows: u64,
    /// Counts of commits and rows.
    pub judged: LedgerCounts,
    /// Lost commits, at most as many as a result lists.
    pub lost: Vec<LostCommits>,
    /// Seconds since 1970 in which the first and the last lost commit began; `None` without any.
    pub lost_span: Option<(i64, i64)>,
}
