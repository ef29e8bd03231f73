//! What a run warns of before it starts, and keeps: how host and database are set up. What changes by
//! itself, such as load, and the network are left out. It costs some queries that any server answers
//! at once; what cannot be read is missing.

use triphammer_core::session::{ServerInfo, Session};
use triphammer_core::{DbError, ErrorClass};
use triphammer_dialects::doctor::doctor;
use triphammer_document::doctor::{DoctorResult, Line};
use triphammer_document::redacted::mask_secrets;
use triphammer_settings::files::Files;

use super::Check;
use super::database::{Checks, ask_checks, find_data};
use super::host::{HostFacts, checks, data_checks};

/// The examination at the start of a run.
#[derive(Debug)]
pub struct SetupOfRun {
    host: HostFacts,
    result: DoctorResult,
    /// Whether the transactions write.
    writes: bool,
}

impl SetupOfRun {
    /// Begins with a server and the files of this host, for transactions that write or not.
    pub fn begin(files: Files, server: &ServerInfo, writes: bool) -> Self {
        let mut result = DoctorResult::empty();
        result.host_of_database = server.same_host == Some(true);
        result.server = Some(server.clone());
        Self { host: HostFacts::begin(files), result, writes }
    }

    /// Makes the checks of the database; what was found before an error is kept.
    ///
    /// # Errors
    /// When the session can no longer be used.
    pub async fn ask(&mut self, session: &mut impl Session, dialect: &str) -> Result<(), DbError> {
        let doctor =
            doctor(dialect).map_err(|error| DbError::new(ErrorClass::Other, error.to_string()))?;
        let version = self.result.server.as_ref().map(|server| server.version.clone());
        let version = version.unwrap_or_default();
        let of_run = doctor.checks.iter().filter(|c| c.is_for(&version) && !c.momentary);
        let mut checks: Checks<'_> = of_run.filter(|c| self.writes || !c.of_writes).collect();
        ask_checks(session, &doctor, &mut checks, &self.host, &mut self.result).await?;
        find_data(session, &doctor, &mut self.host, &mut self.result).await
    }

    /// Makes the checks of the host, and returns all lines, without secrets.
    pub fn end(mut self) -> Vec<Line> {
        super::make(&mut self.result, checks().filter(lasts), &self.host);
        if self.host.data.is_some() {
            super::make(&mut self.result, data_checks().filter(lasts), &self.host);
        }
        for line in &mut self.result.lines {
            line.value = mask_secrets(&line.value);
        }
        self.result.lines
    }
}

/// Whether the value of a check does not change by itself.
fn lasts(check: &&Check<HostFacts>) -> bool {
    !check.is_momentary
}
