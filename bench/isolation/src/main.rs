//! The load of `triphammer isolation` without the command around it: `isolation URL LEVEL USERS ROWS
//! SECONDS unrecorded|recorded|checked` prints committed transactions per second. The command must
//! have built its tables.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::io::Io;
use triphammer_core::isolation::Isolation;
use triphammer_core::pace::Load;
use triphammer_core::session::{Database as _, Pipelining, Protocol};
use triphammer_core::spec::{Length, LoginPolicy, Pacing, RetryPolicy, RunSpec, TimeLimits};
use triphammer_core::workload::{Mode, Workload as _, WorkloadSettings};
use triphammer_dialects::catalogues::catalogue;
use triphammer_drivers::AnyDatabase;
use triphammer_drivers::target::ConnectSettings;
use triphammer_engine::{RunPlan, Share};
use triphammer_isolation::{History, Order, Scope, check};
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::isolation::{Epoch, Recording};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, level, users, rows, seconds, how] = args.as_slice() else {
        return Err("isolation URL LEVEL USERS ROWS SECONDS unrecorded|recorded|checked".into());
    };
    let level: Isolation = level.parse()?;
    let settings = ConnectSettings { isolation: Some(level), ..ConnectSettings::default() };
    let database = Arc::new(AnyDatabase::open(url, &settings)?);
    let options = [("rows".to_owned(), rows.clone())].into();
    let given = WorkloadSettings { options, ..WorkloadSettings::default() };
    let workload = Arc::new(AnyWorkload::new("isolation", &given)?);
    let plan = RunPlan {
        catalogue: Arc::new(catalogue(workload.description(), database.dialect(), false)?),
        workload: Arc::clone(&workload),
        database,
        nodes: None,
        spec: spec(level, users.parse()?, seconds.parse()?),
        share: Share::WHOLE,
    };
    let AnyWorkload::Isolation(load) = &*workload else { return Err("another workload".into()) };
    let committed = match how.as_str() {
        "unrecorded" => drive(plan)?,
        "recorded" | "checked" => {
            let histories = load.epochs().record();
            let checks = how == "checked";
            std::thread::scope(|scope| -> Result<f64, Failure> {
                let checker = scope.spawn(move || take(histories, checks));
                let committed = drive(plan);
                load.epochs().end();
                checker.join().map_err(|_| "the checker panicked")?;
                committed
            })?
        }
        other => return Err(format!("`{other}` is no way to record").into()),
    };
    writeln!(std::io::stdout(), "{committed:.1}")?;
    Ok(())
}

fn spec(level: Isolation, users: u32, seconds: u64) -> RunSpec {
    RunSpec {
        users,
        threads: 1,
        rampup: Duration::from_secs(1),
        length: Length::Time(Duration::from_secs(seconds)),
        mode: Mode::Statements,
        protocol: Protocol::Prepared,
        pipelining: Pipelining::Off,
        io: Io::Epoll,
        isolation: Some(level),
        load: Load::Closed,
        pacing: Pacing::default(),
        logins: LoginPolicy::default(),
        seed: 1,
        retry: RetryPolicy::default(),
        limits: TimeLimits::default(),
        max_failures: 1.0,
    }
}

/// Takes the histories of a run, and checks them.
fn take(histories: Recording, checks: bool) {
    for Epoch { transactions, .. } in histories {
        if checks {
            let _ = check(&mut History::of(&transactions), Scope { order: Order::Session });
        }
    }
}

/// Drives the load; returns committed transactions per second of the window.
fn drive(plan: triphammer_load::Plan) -> Result<f64, Failure> {
    let mut run = triphammer_load::start(plan)?;
    while run.events.blocking_recv().is_some() {}
    let end = run.join()?;
    let committed: u64 = end.timed.iter().map(|seen| seen.counts.committed).sum();
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    Ok(committed as f64 / end.window.seconds())
}
