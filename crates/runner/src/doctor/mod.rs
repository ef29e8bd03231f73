//! `doctor`: examines host, network and database before a run, and says what would spoil it.
//! Nothing is changed and nothing stored, except by the tests that the user asks for.
//!
//! Each check is declared once: those of the host in `host`, those of the network in `network`,
//! those of a database in `doctor.toml` of its dialect's folder. A check returns a `Reading`, or
//! nothing where it does not apply or its fact cannot be read.

pub(crate) mod check;
pub(crate) mod cpu_test;
mod database;
mod disk;
mod examine;
mod guard;
mod host;
mod network;
mod of_run;
pub(crate) mod own;
#[cfg(test)]
mod tests;
pub(crate) mod write_test;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::SpecError;
use triphammer_core::session::ServerInfo;
use triphammer_core::text::one_line;
use triphammer_drivers::target::TargetUrl;

pub use check::{Declared, Group, Line, SetupFact, SetupVerdict};
pub use cpu_test::{CpuTest, StoredCpuTest};
pub use examine::{Tests, examine};
pub(crate) use of_run::SetupOfRun;
pub use triphammer_workloads::doctor::DatabaseCheck;
pub use write_test::{LatencyClass, WriteTest};

use crate::result::{Redacted, Tool};
use check::Check;
use host::HostFacts;

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

    fn new() -> Self {
        Self {
            format: DOCTOR_FORMAT,
            kind: "doctor".to_owned(),
            tool: Tool::this(),
            target: None,
            server: None,
            host_of_database: false,
            verdict: SetupVerdict::Fine,
            lines: Vec::new(),
            hidden: Vec::new(),
            unread: Vec::new(),
            cpu_test: None,
            write_test: None,
        }
    }

    /// Makes the checks of a list on facts.
    fn make<'a, F: 'a>(
        &mut self,
        checks: impl IntoIterator<Item = &'a Check<F>>,
        facts: &F,
    ) -> Vec<&'static str> {
        let mut unread = Vec::new();
        for check in checks {
            match (check.read)(facts) {
                Some(reading) => self.lines.push(check.declared.line(reading)),
                None => unread.push(check.declared.name),
            }
        }
        unread
    }

    /// Makes the checks of the host, whose lines come first, and judges all lines.
    fn add_host(&mut self, host: &HostFacts) {
        let others = std::mem::take(&mut self.lines);
        let mut unread = self.make(host::CHECKS, host);
        if host.data.is_some() {
            unread.extend(self.make(host::DATA_CHECKS, host));
        }
        if host.knows_server() {
            unread.extend(self.make(host::SERVER_CHECKS, host));
        }
        self.lines.extend(others);
        for check in unread {
            self.fail(check, "this host does not show it");
        }
        self.verdict = self.lines.iter().map(|line| line.verdict).max().unwrap_or_default();
    }

    /// Records that a check needs a privilege.
    fn hide(&mut self, check: &str, grant: &str) {
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
    fn fail(&mut self, check: &str, reason: &str) {
        match self.unread.iter_mut().find(|unread| unread.reason == reason) {
            Some(unread) => unread.checks.push(check.to_owned()),
            None => {
                let (checks, reason) = (vec![check.to_owned()], reason.to_owned());
                self.unread.push(Unread { checks, reason });
            }
        }
    }
}

/// The checks of a dialect's databases, including inherited ones.
///
/// # Errors
/// When there is no such dialect.
pub fn checks_of(dialect: &str) -> Result<Vec<DatabaseCheck>, SpecError> {
    Ok(triphammer_workloads::doctor::doctor(dialect)?.checks)
}

/// The declarations of the host's and the network's checks, and of the tests of a database.
#[must_use]
pub fn declarations() -> Vec<Declared> {
    let host = host::CHECKS.iter().chain(host::DATA_CHECKS).chain(host::SERVER_CHECKS);
    let host = host.map(|check| check.declared);
    let network = network::CHECKS.iter().map(|check| check.declared);
    host.chain(network).chain([cpu_test::DECLARED, write_test::DECLARED]).collect()
}
