//! What to build and how.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::workload::WorkloadSettings;
use triphammer_observe::ObservePlan;
use triphammer_observe::host_metrics::Exporter;
use triphammer_settings::cancel::Cancel;
use triphammer_workloads::AnyWorkload;

use crate::cluster::SharedBuild;

/// What to build and how.
#[derive(Clone, Debug)]
pub struct BuildRequest {
    /// The workload, created with `settings`.
    pub workload: Arc<AnyWorkload>,
    /// Scale, seed and options.
    pub settings: WorkloadSettings,
    /// Options of the dialect; options that are not given have their defaults.
    pub dialect_options: BTreeMap<String, String>,
    /// Number of parallel loader sessions.
    pub jobs: u32,
    /// Whether to drop what an earlier build created.
    pub replace: bool,
    /// Whether to drop tables with these names even if they are in no build record.
    pub force: bool,
    /// Whether to add the workload's own tables to a build of the workload that it extends.
    pub add: bool,
    /// Whether to create the database first.
    pub create_database: bool,
    /// Maximum time to open a connection.
    pub connect_limit: Duration,
    /// Cancels the build; the same request resumes it.
    pub cancel: Cancel,
    /// What is observed meanwhile; `None` for nothing.
    pub observe: Option<ObservePlan>,
    /// Exporter of the metrics of the database's host.
    pub host_exporter: Option<Exporter>,
    /// The hosts that load the data; `None` for this process.
    pub hosts: Option<SharedBuild>,
}
