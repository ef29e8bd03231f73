//! What is observed beside a build, and what each of its phases uses of this host.

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::session::{Admin as _, Database as _};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::Workload as _;
use triphammer_document::build::{BuildPhaseUsage, BuildReport};
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_observe::host_metrics::Exporter;
use triphammer_observe::{HostUsage, Observee, Observers, Used, host_metrics};
use triphammer_settings::failure::Failure;
use triphammer_settings::limited::Limited;

use crate::build_request::BuildRequest;
use crate::journal::Place;

/// Rejects a node exporter that does not answer.
///
/// # Errors
/// When it does not.
pub(crate) async fn ask_exporter(exporter: Option<&Exporter>) -> Result<(), Failure> {
    let Some(exporter) = exporter else { return Ok(()) };
    let answer = exporter.fetch().await.map(|_| ());
    answer.map_err(|reason| {
        let message = format!(
            "no metrics from {exporter}: {reason}; check that a node exporter runs there, or omit \
             --host-metrics"
        );
        SpecError::new(message).about("host-metrics").into()
    })
}

/// The observers of a build; none with `--no-observe`.
#[derive(Debug, Default)]
pub(crate) struct BuildObservers {
    observers: Option<Observers>,
    usage: Option<HostUsage>,
}

impl BuildObservers {
    /// Starts to observe. Values of seconds are stored with the job at `place`.
    pub async fn start(
        database: &Arc<AnyDatabase>,
        request: &BuildRequest,
        catalogue: &StatementCatalogue,
        session: &mut Limited<AnySession>,
        place: Place,
    ) -> Self {
        let Some(observed) = &request.observe else { return Self::default() };
        let server = session.server_process().await.ok().flatten();
        let hosts = host_metrics::sources(request.host_exporter.as_ref(), server);
        let workload = request.workload.description();
        let observee =
            Observee { database, catalogue, workload, has_window: false, is_build: true };
        let place = place.as_ref().map(|(path, job)| (path.as_path(), *job));
        let observers = Observers::start(observee, observed, place, hosts, None);
        let usage = HostUsage::of(server, database.capabilities().in_process);
        Self { observers, usage }
    }

    /// What was used up to the beginning of a phase.
    pub fn begin(&self) -> Option<Used> {
        self.usage.as_ref()?.now()
    }

    /// What a phase used since its beginning.
    pub fn phase(&self, name: &str, began: Option<Used>) -> Option<BuildPhaseUsage> {
        let usage = self.usage.as_ref()?.since(began)?;
        Some(BuildPhaseUsage { phase: name.to_owned(), usage })
    }

    /// Ends the observation, and adds what was observed to the report.
    pub async fn end(self, report: &mut BuildReport) {
        report.usage_of = self.usage.as_ref().map(HostUsage::whose);
        if let Some(observers) = self.observers {
            report.observed = Some(observers.end(false).await.without_transactions());
        }
    }
}
