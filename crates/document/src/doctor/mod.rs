//! The document of `doctor`: how host, network and database are set up.

mod host_test;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_core::stats::Times;
use triphammer_core::text::one_line;
use triphammer_drivers::target::TargetUrl;

use crate::parts::Tool;
use crate::redacted::Redacted;

pub use host_test::{
    HOST_FIGURES, HostFigure, HostFigureDef, HostReference, HostTest, HostTestDisk,
    HostTestMachine, StoredHostTest, value_of,
};

/// Judgement of a line, from good to bad.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SetupVerdict {
    /// As it should be.
    #[default]
    Fine,
    /// May matter: read why, and decide.
    Look,
    /// Makes figures wrong, unfair or impossible.
    Wrong,
}

impl SetupVerdict {
    /// Name in reports and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Look => "look",
            Self::Wrong => "wrong",
        }
    }
}

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SetupGroup")]
pub enum Group {
    /// The host of this program.
    Host,
    /// The way between this program and the database.
    Network,
    /// The database.
    Database,
}

impl Group {
    /// All groups, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Host, Self::Network, Self::Database];
}

/// What a set-up may be for. A setting may serve one goal at the cost of the other: without turbo
/// runs are more alike, and slower.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SetupGoal")]
pub enum Goal {
    /// The highest speed that the hardware has.
    Speed,
    /// Runs that can be compared: the same figure whenever the same load runs.
    Comparable,
}

impl Goal {
    /// Both goals.
    pub const BOTH: &'static [Self] = &[Self::Speed, Self::Comparable];

    /// Name in settings and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Comparable => "comparable",
        }
    }

    /// Words in sentences: `the highest speed`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Speed => "the highest speed",
            Self::Comparable => "comparable runs",
        }
    }

    /// Goals in one word: `speed`, `comparable`, `both`; empty for none.
    #[must_use]
    pub const fn short(goals: &[Self]) -> &'static str {
        match goals {
            [] => "",
            [one] => one.name(),
            _ => "both",
        }
    }
}

/// What a setting was measured to be worth, by whoever published it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SetupCost")]
pub struct Cost {
    /// The figure, with what it was measured on.
    pub figure: String,
    /// Author and title of the source.
    pub source: String,
    /// Address of the source.
    pub url: String,
}

/// A line of the report: one check with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SetupLine")]
pub struct Line {
    /// What it is about.
    pub group: Group,
    /// Name of the check; of a database's setting, its name there.
    pub name: String,
    /// The value, for people.
    pub value: String,
    /// Judgement of the value.
    pub verdict: SetupVerdict,
    /// The goals that the judgement is about; empty for checks of network and database.
    #[serde(default)] // so that older results can still be read
    pub goals: Vec<Goal>,
    /// Why it matters.
    pub why: String,
    /// What the setting was measured to be worth; `None` if no published measurement is known.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// Command or setting that changes it, for the goals that the judgement is about.
    pub change: String,
}

/// A fact about the set-up of a run's host or database, as `doctor` reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupFact {
    /// What it is about.
    pub group: Group,
    /// Name of the check; of a database's setting, its name there.
    pub name: String,
    /// The value, for people.
    pub value: String,
    /// Judgement of the value.
    pub verdict: SetupVerdict,
    /// The goals that the judgement is about; empty for the database, and in older results.
    #[serde(default)]
    pub goals: Vec<Goal>,
}

impl SetupFact {
    /// The fact of a line.
    #[must_use]
    pub fn of(line: &Line) -> Self {
        let Line { group, name, value, verdict, goals, .. } = line;
        let (name, value, goals) = (name.clone(), value.clone(), goals.clone());
        Self { group: *group, name, value, verdict: *verdict, goals }
    }

    /// Whether the judgement is about the comparability of runs, not only about speed.
    #[must_use]
    pub fn concerns_comparisons(&self) -> bool {
        self.goals != [Goal::Speed]
    }
}

impl Line {
    /// Why a value is wrong, in one line: `set-up: fsync is off. Without it commits do not …`.
    #[must_use]
    pub fn trouble(&self) -> String {
        let Self { name, value, why, cost, .. } = self;
        let cost =
            cost.as_ref().map(|cost| format!(" Measured: {} ({}).", cost.figure, cost.source));
        let text = format!("set-up: {name} is {value}. {why}{}", cost.unwrap_or_default());
        text.trim_end_matches('.').to_owned()
    }

    /// What the setting was measured to be worth, in words; `None` for a check that has no goal.
    #[must_use]
    pub fn cost_words(&self) -> Option<String> {
        match (&self.cost, self.goals.is_empty()) {
            (Some(cost), _) => Some(format!("{} ({})", cost.figure, cost.source)),
            (None, false) => Some("not measured".to_owned()),
            (None, true) => None,
        }
    }

    /// Reduces the line to one goal: what is to be looked at only for another goal is fine.
    pub fn reduce_to(&mut self, goal: Goal) {
        let concerns = self.goals.is_empty() || self.goals.contains(&goal);
        if self.verdict == SetupVerdict::Look && !concerns {
            self.verdict = SetupVerdict::Fine;
        }
    }
}

/// Version of the document's format.
pub const DOCTOR_FORMAT: u32 = 1;

/// What `triphammer doctor --json` prints: what host, network and database are set up like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "An examination of the set-up")]
pub struct DoctorResult {
    /// Version of the document's format.
    #[schemars(extend("const" = DOCTOR_FORMAT))]
    pub format: u32,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "doctor"))]
    pub kind: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// URL of the target, without secrets; `None` if only the host was examined.
    pub target: Option<Redacted>,
    /// Product, version and transport of the server; `None` likewise.
    pub server: Option<ServerInfo>,
    /// Whether the lines of the group `host` are also about the database: it runs on the same host.
    pub host_of_database: bool,
    /// The only goal that the host is judged by; `None` for both.
    #[serde(default)]
    pub goal: Option<Goal>,
    /// The worst verdict of all lines; `fine` if there are none.
    pub verdict: SetupVerdict,
    /// What was found, by group, in the order of the declarations.
    pub lines: Vec<Line>,
    /// Checks that need a privilege that the user lacks, by the statement that grants it.
    pub hidden: Vec<Hidden>,
    /// Checks that could not be made.
    pub unread: Vec<Unread>,
    /// Speed of one thread of the database; `None` without `--cpu-test`, and if it failed.
    pub cpu_test: Option<CpuTest>,
    /// Latency of commits; `None` without `--write-test`, and if it failed.
    pub write_test: Option<WriteTest>,
    /// What the host of this program can do; `None` without `--host-test`, and if it failed.
    #[serde(default)]
    pub host_test: Option<HostTest>,
}

/// Checks that need a privilege.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hidden {
    /// Names of the checks.
    pub checks: Vec<String>,
    /// Statement that grants the privilege.
    pub grant: String,
}

/// Checks that could not be made, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    /// Names of the checks.
    pub checks: Vec<String>,
    /// Why they could not be made.
    pub reason: String,
}

impl DoctorResult {
    /// Number of lines with a verdict.
    #[must_use]
    pub fn count(&self, verdict: SetupVerdict) -> usize {
        self.lines.iter().filter(|line| line.verdict == verdict).count()
    }

    /// Creates the document without lines.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            format: DOCTOR_FORMAT,
            kind: "doctor".to_owned(),
            tool: Tool::this(),
            target: None,
            server: None,
            host_of_database: false,
            goal: None,
            verdict: SetupVerdict::Fine,
            lines: Vec::new(),
            hidden: Vec::new(),
            unread: Vec::new(),
            cpu_test: None,
            write_test: None,
            host_test: None,
        }
    }

    /// Judges the whole by its lines.
    pub fn judge(&mut self) {
        self.verdict = self.lines.iter().map(|line| line.verdict).max().unwrap_or_default();
    }

    /// Records that a check needs a privilege.
    pub fn hide(&mut self, check: &str, grant: &str) {
        // The target shows the user, if it names one.
        let target = self.target.as_ref().and_then(|t| TargetUrl::parse(t.as_str()).ok());
        let user = target.and_then(|url| url.user);
        let user = user.map_or_else(|| "USER".to_owned(), |user| one_line(&user).into_owned());
        let grant = grant.replace("{user}", &user);
        match self.hidden.iter_mut().find(|hidden| hidden.grant == grant) {
            Some(hidden) => hidden.checks.push(check.to_owned()),
            None => self.hidden.push(Hidden { checks: vec![check.to_owned()], grant }),
        }
    }

    /// Records that a check could not be made.
    pub fn fail(&mut self, check: &str, reason: &str) {
        match self.unread.iter_mut().find(|unread| unread.reason == reason) {
            Some(unread) => unread.checks.push(check.to_owned()),
            None => {
                let (checks, reason) = (vec![check.to_owned()], reason.to_owned());
                self.unread.push(Unread { checks, reason });
            }
        }
    }
}

/// The time of the test, beside stored ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTest {
    /// Time of the test, in seconds.
    pub seconds: f64,
    /// The database's result; 873729.72 if it calculates correctly.
    pub result: String,
    /// Earlier times in the job store, the newest first.
    pub earlier: Vec<StoredCpuTest>,
}

/// The time of an earlier test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredCpuTest {
    /// When it was made, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    /// Product of the server.
    pub product: String,
    /// Version of the server.
    pub version: String,
    /// CPU model of the server's host; `None` if the server ran on another host than the client.
    pub cpu: Option<String>,
    /// Time of the test, in seconds.
    pub seconds: f64,
}

/// Latency of commits, as one session sees it, with its round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WriteTest {
    /// Length of the test, in seconds.
    pub seconds: f64,
    /// Times of the commits.
    pub times: Times,
    /// How many commits took how long, the shortest first; each class is twice as wide as the one
    /// before.
    pub histogram: Vec<LatencyClass>,
}

/// Number of commits of about the same latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyClass {
    /// Longest time of the class, in microseconds; the shortest is that of the class before.
    pub up_to_us: u64,
    /// Number of commits.
    pub commits: u64,
}
