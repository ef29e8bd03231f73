//! The result document of a test of isolation: which anomalies each level showed, whether it promises
//! their absence, what control shows that they would have been found, and what the level costs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_isolation::Anomaly;
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_settings::format::{counted, integer};

use crate::document::{Head, JobDocument, own_ending, whole_head};
use crate::drill::FaultReport;
use crate::ending::{Ending, Flaw};
use crate::host::Host;
use crate::job_id::JobId;
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::redacted::Redacted;
use crate::result::RunResult;

/// Version of the document's format.
pub const ISOLATION_FORMAT: u32 = 1;

/// The result of a test of isolation, as printed by `triphammer isolation --json`. Times have the unit
/// that the field's name ends with; seconds count from the start of a level's load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a test of isolation")]
pub struct IsolationResult {
    /// Version of the document's format.
    #[schemars(extend("const" = ISOLATION_FORMAT))]
    pub format: u32,
    /// Job number; `None` if it was not stored.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "isolation"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// `complete`, or how the load ended before its time.
    pub status: Status,
    /// Whether every level kept what it promises, and what is wrong.
    pub ending: Ending,
    /// Start of the first load (second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// What was found at each level, in the order in which they ran.
    pub levels: Vec<LevelResult>,
    /// The load at a weaker level that shows what this load can show; `None` without one.
    pub control: Option<ControlResult>,
    /// The anomaly that was expected (`--expect`); `None` without one.
    pub expected: Option<String>,
    /// Whether kinds without a control count as a failure (`--fail-if-undecided`).
    pub fails_if_undecided: bool,
    /// The faults, in the order of their times.
    pub faults: Vec<FaultReport>,
    /// Findings in words, the most important first.
    pub findings: Vec<String>,
    /// Virtual users.
    pub users: u32,
    /// Length of each level's load, in seconds.
    #[schemars(range(min = 0.0))]
    pub load_s: f64,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// Every setting with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// The server.
    pub server: ServerInfo,
    /// The host of the client.
    pub host: Host,
}

/// What was found at a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelResult {
    /// The isolation level: `repeatable-read`.
    pub level: String,
    /// The consistency model that the product promises at it: `snapshot-isolation`.
    pub promise: String,
    /// The order that transactions respect by that promise: `none`, `session` or `real-time`.
    pub order: String,
    /// The model that the level's name promises by the standard.
    pub by_name: String,
    /// Where the product's promise is written.
    pub source: String,
    /// What to know about the level, in a sentence; `None` for nothing.
    pub note: Option<String>,
    /// Job number of the run that drove the load; `None` if it was not stored.
    pub run: Option<i64>,
    /// Attempts at transactions that were recorded and examined, whatever became of them.
    pub transactions: u64,
    /// Those that committed.
    pub committed: u64,
    /// Those in doubt that were seen, so that they count as committed.
    pub in_doubt_seen: u64,
    /// Those in doubt that nobody saw.
    pub in_doubt_unseen: u64,
    /// Operations of all of them.
    pub operations: u64,
    /// Every kind of anomaly, from what corrupts data to what is only late.
    pub kinds: Vec<KindResult>,
    /// Whether a control ran at a weaker level and showed none of the kinds that this level prevents and
    /// a weaker one allows: it proves little.
    pub is_blind: bool,
    /// How old the state was that reads showed.
    pub staleness: Staleness,
    /// What could not be checked or counted, in a sentence; `None` for nothing.
    pub unchecked: Option<String>,
    /// What the level costs.
    pub price: Price,
}

/// What was found of a kind of anomaly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindResult {
    /// Name of the kind: `G-single`, `lost-update`.
    pub kind: String,
    /// What happened, in words.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in words.
    pub words: String,
    /// Whether the product promises that it does not happen at this level.
    pub promised: bool,
    /// Whether the level's name promises it by the standard.
    pub promised_by_name: bool,
    /// Times found: commits overwritten unseen, wrong reads, or distinct smallest cycles.
    pub count: u64,
    /// `count` divided by the transactions that committed.
    #[schemars(range(min = 0.0))]
    pub share: f64,
    /// Second in which the earliest one began; `None` if none was found.
    pub first_s: Option<f64>,
    /// What shows that it would have been found.
    pub control: Control,
    /// The smallest one; `None` if none was found.
    pub example: Option<AnomalyExample>,
}

/// The verdict on a kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "IsolationVerdict")]
pub enum Verdict {
    /// Promised, not found, and a control shows that it would have been found.
    Kept,
    /// Promised, and found.
    Violated,
    /// Promised and not found, but nothing shows that this load could have shown it.
    Undecided,
    /// Not promised, and found.
    Allowed,
    /// Not promised, and not found.
    NotSeen,
}

impl Verdict {
    /// In words, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Violated => "violated",
            Self::Undecided => "this load could not have shown it",
            Self::Allowed => "allowed, and found",
            Self::NotSeen => "allowed, not found",
        }
    }
}

/// What shows that an anomaly would have been found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// The same load found it at a weaker level.
    Load,
    /// It was found where it had been planted into a copy of the recorded history: no level of the
    /// product allows it.
    Planted,
    /// Nothing: the weaker level allows it, and the control did not show it, or no place for it was
    /// found in the history.
    None,
}

/// A smallest anomaly, as SQL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnomalyExample {
    /// The transactions; those of a cycle in its order.
    pub transactions: Vec<ExampleTransaction>,
    /// How they depend on each other.
    pub edges: Vec<ExampleEdge>,
}

/// A transaction of an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExampleTransaction {
    /// Name in the example: `T1`.
    pub name: String,
    /// The virtual user, from 0.
    pub user: u32,
    /// When the client began it, in milliseconds after the first transaction of the example began.
    pub began_ms: f64,
    /// When the client knew its fate.
    pub ended_ms: f64,
    /// `committed`, `aborted` or `in doubt`.
    pub fate: String,
    /// Its statements, in order.
    pub statements: Vec<ExampleStatement>,
}

/// A statement of an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExampleStatement {
    /// When its answer arrived, in milliseconds after the first transaction of the example began.
    pub at_ms: f64,
    /// The SQL with its values.
    pub sql: String,
    /// What it returned.
    pub result: String,
    /// What it was about, in words: `list 3`.
    pub key: String,
}

/// A dependency between transactions of an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExampleEdge {
    /// Name of the first transaction.
    pub from: String,
    /// Name of the second.
    pub to: String,
    /// `ww`, `wr`, `rw`, `rw-predicate`, `session` or `real-time`.
    pub kind: String,
    /// What the second has to do with the first, in words.
    pub why: String,
}

/// How old the state was that reads showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Staleness {
    /// Reads that were judged.
    pub reads: u64,
    /// Reads that did not show a commit acknowledged before their transaction began.
    pub stale: u64,
    /// Median of the time since the commit that they should have shown; `None` without stale reads.
    pub p50_ms: Option<f64>,
    /// 99th percentile of it.
    pub p99_ms: Option<f64>,
    /// Maximum of it.
    pub max_ms: Option<f64>,
}

/// What a level costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Transactions committed per second.
    #[schemars(range(min = 0.0))]
    pub tps: f64,
    /// 95 % confidence interval of it; `None` if the run was too short for one.
    pub tps_interval: Option<[f64; 2]>,
    /// Median response time, in milliseconds; `None` if nothing committed.
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// Repeated attempts per committed transaction.
    #[schemars(range(min = 0.0))]
    pub retries_per_commit: f64,
    /// Transactions that failed after all attempts.
    pub failed: u64,
}

/// The load at a weaker level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlResult {
    /// The level.
    pub level: String,
    /// Job number of its run; `None` if it was not stored.
    pub run: Option<i64>,
    /// Attempts at transactions that were examined.
    pub transactions: u64,
    /// The kinds that it showed, with their counts.
    pub found: Vec<ControlCount>,
}

/// How often a control showed a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlCount {
    /// Name of the kind.
    pub kind: String,
    /// Times found.
    pub count: u64,
    /// Whether the control's own level promises that it does not happen.
    pub is_broken_promise: bool,
}

impl JobDocument for IsolationResult {
    const FORMAT: Option<u32> = Some(ISOLATION_FORMAT);

    fn head(&self) -> Head<'_> {
        whole_head!(self)
    }

    own_ending!();

    /// What is expected decides alone; else no promise may be broken, and the control must have shown
    /// something.
    fn flaw(&self) -> Option<Flaw> {
        let committed = self.levels.iter().all(|level| level.committed > 0);
        let is_missing = self.faults.iter().any(|fault| !fault.succeeded);
        let (wrong, expected) = match &self.expected {
            Some(kind) => (false, !self.has_found(kind)),
            None => (self.has_broken_promise(), false),
        };
        let blind = self.expected.is_none() && self.is_blind();
        Flaw::worst([
            (wrong, Flaw::IsolationViolated),
            (expected, Flaw::NotAsExpected),
            (!committed || self.levels.is_empty(), Flaw::NothingProven),
            (blind, Flaw::Blind),
            (is_missing, Flaw::FaultMissing),
        ])
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of anomalies")]
    fn primary_metric(&self) -> Option<(String, f64)> {
        let violated = self.kinds().filter(|kind| kind.verdict == Verdict::Violated);
        Some(("broken promises".to_owned(), violated.count() as f64))
    }

    fn outcome(&self) -> String {
        self.findings.first().cloned().unwrap_or_default()
    }
}

impl IsolationResult {
    /// The kinds of all levels.
    pub fn kinds(&self) -> impl Iterator<Item = &KindResult> {
        self.levels.iter().flat_map(|level| &level.kinds)
    }

    fn has_found(&self, name: &str) -> bool {
        self.kinds().any(|kind| kind.kind.eq_ignore_ascii_case(name) && kind.count > 0)
    }

    /// Whether a level broke its promise, that of the control included.
    fn has_broken_promise(&self) -> bool {
        self.kinds().any(|kind| kind.verdict == Verdict::Violated)
            || self.broken_by_control().next().is_some()
    }

    /// What the control showed although its own level promises that it does not happen.
    fn broken_by_control(&self) -> impl Iterator<Item = &ControlCount> {
        let found = self.control.iter().flat_map(|control| &control.found);
        found.filter(|found| found.is_broken_promise)
    }

    /// Whether a control shows nothing about a level, or one kind is undecided and must not be.
    fn is_blind(&self) -> bool {
        let is_undecided = |kind: &KindResult| kind.verdict == Verdict::Undecided;
        self.levels.iter().any(|level| level.is_blind)
            || self.fails_if_undecided && self.kinds().any(is_undecided)
    }
}

/// What a test of isolation did, for its document.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Job number; `None` if it is not stored.
    pub job: Option<JobId>,
    /// The run of the first level.
    pub run: &'a RunResult,
    /// The worst status of all runs.
    pub status: Status,
    /// What was found at each level.
    pub levels: Vec<LevelResult>,
    /// The control.
    pub control: Option<ControlResult>,
    /// The anomaly that was expected.
    pub expected: Option<Anomaly>,
    /// Whether undecided kinds fail.
    pub fails_if_undecided: bool,
    /// The faults.
    pub faults: Vec<FaultReport>,
    /// Every setting of the job.
    pub settings: &'a [Setting],
}

impl IsolationResult {
    /// Creates the document: a pure function.
    #[must_use]
    pub fn new(parts: Parts<'_>) -> Self {
        let Parts { run, .. } = parts;
        let mut result = Self {
            format: ISOLATION_FORMAT,
            job: parts.job.map(|job| job.0),
            kind: JobKind::Isolation,
            tool: run.tool.clone(),
            label: run.label.clone(),
            status: parts.status,
            ending: Ending::default(),
            started_at: run.started_at.clone(),
            levels: parts.levels,
            control: parts.control,
            expected: parts.expected.map(|kind| kind.name().to_owned()),
            fails_if_undecided: parts.fails_if_undecided,
            faults: parts.faults,
            findings: Vec::new(),
            users: run.spec.users,
            load_s: run.durations.window_s,
            workload: run.workload.clone(),
            settings: parts.settings.to_vec(),
            target: run.target.clone(),
            server: run.server.clone(),
            host: run.host.clone(),
        };
        result.findings = result.found();
        result.judged()
    }

    /// The findings in words, the most important first.
    fn found(&self) -> Vec<String> {
        let mut found: Vec<String> = self.expectation().into_iter().collect();
        found.extend(self.levels.iter().map(LevelResult::in_words));
        found.extend(self.levels.iter().filter_map(LevelResult::weaker_than_its_name));
        let broken = self.broken_by_control();
        let broken: Vec<String> =
            broken.map(|found| format!("{} {}", integer(found.count), found.kind)).collect();
        if let Some(control) = self.control.as_ref().filter(|_| !broken.is_empty()) {
            found.push(format!(
                "the control at {} broke its promise: {}",
                control.level,
                broken.join("; ")
            ));
        }
        for level in self.levels.iter().filter(|level| level.is_blind) {
            found.push(format!(
                "{}: the same load at a weaker level showed none of the anomalies that are allowed \
                 there: it proves little; use fewer rows (--rows) or more users (--vus)",
                level.level
            ));
        }
        found.extend(self.levels.iter().filter_map(LevelResult::undecided));
        found.extend(self.levels.iter().filter_map(LevelResult::stale));
        for level in &self.levels {
            found.extend(level.unchecked.iter().map(|why| format!("{}: {why}", level.level)));
        }
        for fault in self.faults.iter().filter(|fault| !fault.succeeded) {
            found.push(format!("the fault {} did not take place: {}", fault.fault, fault.detail));
        }
        found
    }

    fn expectation(&self) -> Option<String> {
        let kind = self.expected.as_ref()?;
        Some(match self.has_found(kind) {
            true => format!("{kind} was found, as expected"),
            false => format!("{kind} was expected, and was not found"),
        })
    }
}

impl LevelResult {
    fn of(&self, verdict: Verdict) -> impl Iterator<Item = &KindResult> {
        self.kinds.iter().filter(move |kind| kind.verdict == verdict)
    }

    /// The verdict on the level, in a sentence.
    fn in_words(&self) -> String {
        let Self { level, promise, committed, .. } = self;
        let violated: Vec<String> = self.of(Verdict::Violated).map(KindResult::in_words).collect();
        let of = counted(*committed, "commits");
        match violated.as_slice() {
            _ if *committed == 0 => format!("{level}: nothing is proven, as nothing committed"),
            [] => match self.of(Verdict::Undecided).count() {
                0 => format!("{level} kept what it promises ({promise}) in {of}"),
                undecided => {
                    let promised = self.kinds.iter().filter(|kind| kind.promised).count();
                    format!(
                        "{level} broke no promise ({promise}) in {of}; {undecided} of {promised} kinds of \
                         anomalies could not have been shown"
                    )
                }
            },
            violated => {
                format!("{level} broke its promise ({promise}) in {of}: {}", violated.join("; "))
            }
        }
    }

    fn weaker_than_its_name(&self) -> Option<String> {
        let of_name = self.of(Verdict::Allowed).filter(|kind| kind.promised_by_name);
        let of_name: Vec<String> = of_name.map(KindResult::in_words).collect();
        let note = self.note.as_deref().map_or(String::new(), |note| format!(". {note}"));
        (!of_name.is_empty()).then(|| {
            format!(
                "{} is weaker than its name ({}), which its documentation says: {}{note}",
                self.level,
                self.by_name,
                of_name.join("; ")
            )
        })
    }

    fn undecided(&self) -> Option<String> {
        let kinds: Vec<&str> = self.of(Verdict::Undecided).map(|kind| kind.kind.as_str()).collect();
        (!kinds.is_empty()).then(|| {
            format!(
                "{}: this load could not have shown {}: no control did",
                self.level,
                kinds.join(", ")
            )
        })
    }

    fn stale(&self) -> Option<String> {
        let Staleness { reads, stale, p50_ms, p99_ms, max_ms } = self.staleness;
        let [p50, p99, max] = [p50_ms?, p99_ms?, max_ms?].map(|ms| format!("{ms:.1}"));
        Some(format!(
            "{}: {} of {} did not show what had been acknowledged before: p50 {p50}, p99 {p99}, at most \
             {max} ms late",
            self.level,
            integer(stale),
            counted(reads, "reads")
        ))
    }
}

impl KindResult {
    fn in_words(&self) -> String {
        format!("{} {}", integer(self.count), self.kind)
    }

    /// Judges a kind: what was promised, what was found, and what a control shows.
    #[must_use]
    pub fn judged(promised: bool, count: u64, control: Control) -> Verdict {
        match (promised, count, control) {
            (true, 0, Control::None) => Verdict::Undecided,
            (true, 0, _) => Verdict::Kept,
            (true, ..) => Verdict::Violated,
            (false, 0, _) => Verdict::NotSeen,
            (false, ..) => Verdict::Allowed,
        }
    }
}
