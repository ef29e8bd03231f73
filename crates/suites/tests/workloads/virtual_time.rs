//! Workloads driven by the engine on the null database, by one thread in virtual time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use triphammer_core::io::Io;
use triphammer_core::pace::Load;
use triphammer_core::session::{Pipelining, Protocol};
use triphammer_core::spec::{Length, LoginPolicy, Pacing, RetryPolicy, RunSpec, TimeLimits};
use triphammer_core::workload::{Mode, Workload};
use triphammer_dialects::catalogues::catalogue;
use triphammer_drivers::null::Null;
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_engine::{RunEnd, RunPlan, Share};

/// A run without ramp-up.
pub fn spec(users: u32, load: Load, length: Length) -> RunSpec {
    RunSpec {
        users,
        threads: 1,
        rampup: Duration::ZERO,
        length,
        mode: Mode::Statements,
        protocol: Protocol::Prepared,
        pipelining: Pipelining::Off,
        io: Io::Epoll,
        isolation: None,
        load,
        pacing: Pacing::default(),
        seed: 1,
        retry: RetryPolicy::default(),
        limits: TimeLimits::default(),
        logins: LoginPolicy::default(),
        max_failures: 0.01,
    }
}

/// Runs a workload, and verifies that the counting identities hold.
pub async fn run<W: Workload>(workload: Arc<W>, target: &str, spec: RunSpec) -> RunEnd {
    let url = TargetUrl::parse(target).unwrap();
    let plan = RunPlan {
        nodes: None,
        database: Arc::new(Null::open(&url, &ConnectSettings::default()).unwrap()),
        catalogue: Arc::new(catalogue(workload.description(), "null", true).unwrap()),
        workload,
        spec,
        share: Share::WHOLE,
    };
    let (sender, _receiver) = mpsc::channel(10_000);
    let end = triphammer_engine::run_here(plan, sender, async |_| {}).await.unwrap();
    assert_eq!(end.violations, [], "the counting identities hold");
    end
}
