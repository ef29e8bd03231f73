//! `doctor`: examines host, network and database before a run, and says what would spoil it.
//! Nothing is changed and nothing stored, except by the tests that the user asks for.
//!
//! Each check is declared once: those of the host in `host`, those of the network in `network`,
//! those of a database in `doctor.toml` of its dialect's folder. A check returns a `Reading`, or
//! nothing where it does not apply or its fact cannot be read.

pub(crate) mod check;
pub(crate) mod cpu_test;
mod database;
mod examine;
mod guard;
mod host;
mod host_test;
pub(crate) mod names;
mod network;
mod of_run;
pub(crate) mod own;
mod prove;
#[cfg(test)]
mod tests;
pub(crate) mod write_test;

use triphammer_core::SpecError;
use triphammer_document::doctor::{DoctorResult, Goal};

pub use check::{Change, CheckDeclaration, CostDeclaration, Knob, KnobPlace};
pub use examine::{Tests, examine};
pub use of_run::SetupOfRun;
pub use prove::{HostChange, PlannedProof, Proof, plan, restore_left};
pub use triphammer_dialects::doctor::DatabaseCheck;

use check::Check;
use host::HostFacts;

/// Makes the checks of a list on facts.
fn make<'a, F: 'a>(
    result: &mut DoctorResult,
    checks: impl IntoIterator<Item = &'a Check<F>>,
    facts: &F,
) -> Vec<&'static str> {
    let mut unread = Vec::new();
    for check in checks {
        match (check.read)(facts) {
            Some(reading) => result.lines.push(check.declared.line(reading)),
            None => unread.push(check.declared.name),
        }
    }
    unread
}

/// Makes the checks of the host, whose lines come first, and judges all lines; with a goal, what
/// serves only the other one is fine.
fn add_host(result: &mut DoctorResult, host: &HostFacts, goal: Option<Goal>) {
    let others = std::mem::take(&mut result.lines);
    let mut unread = make(result, host::checks(), host);
    if host.data.is_some() {
        unread.extend(make(result, host::data_checks(), host));
    }
    if host.knows_server() {
        unread.extend(make(result, host::server_checks(), host));
    }
    result.lines.extend(others);
    for check in unread {
        result.fail(check, "this host does not show it");
    }
    for line in &mut result.lines {
        goal.iter().for_each(|goal| line.reduce_to(*goal));
    }
    result.goal = goal;
    result.judge();
}

/// Addresses of the sources that the checks of the host cite.
pub fn cited_urls() -> impl Iterator<Item = &'static str> {
    let checks = host::checks().chain(host::data_checks()).chain(host::server_checks());
    checks.filter_map(|check| check.declared.cost).map(|cost| cost.url)
}

/// The checks of a dialect's databases, including inherited ones.
///
/// # Errors
/// When there is no such dialect.
pub fn checks_of(dialect: &str) -> Result<Vec<DatabaseCheck>, SpecError> {
    Ok(triphammer_dialects::doctor::doctor(dialect)?.checks)
}

/// The declarations of the lines of tests.
#[must_use]
pub fn test_declarations() -> Vec<CheckDeclaration> {
    vec![cpu_test::DECLARED, write_test::DECLARED, host_test::DECLARED]
}

/// The declarations of the host's and the network's checks.
#[must_use]
pub fn declarations() -> Vec<CheckDeclaration> {
    let host = host::checks().chain(host::data_checks()).chain(host::server_checks());
    let host = host.map(|check| check.declared);
    let network = network::CHECKS.iter().map(|check| check.declared);
    host.chain(network).collect()
}
