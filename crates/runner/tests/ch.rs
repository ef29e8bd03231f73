//! The queries of CH-benCHmark give the same answers on PostgreSQL and MariaDB after the same transactions.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do: with a panic")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::Rows;
use triphammer_core::query_plan::QueryStep;
use triphammer_core::rows::Cell;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::workload::{Statements, Workload as _, WorkloadSettings};
use triphammer_runner::build::build;
use triphammer_runner::build_request::BuildRequest;
use triphammer_runner::catalogues;
use triphammer_runner::run::Resolved;
use triphammer_runner::watch::{JobEvent, Watch, Watcher};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::command::JobKind;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{self, NoSecrets, Target};
use triphammer_settings::{Settings, Source};
use triphammer_testbed::{MariadbServer, PostgresServer};
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::ch::Ch;

/// Digits of averages that MariaDB keeps.
const TOLERANCE: f64 = 1e-4;

struct Nobody;

impl Watcher for Nobody {
    fn on_event(&mut self, event: JobEvent<'_>) {
        // The servers of tests do not wait for their disks, of which a run warns.
        if let JobEvent::Warning(text) = event
            && !text.contains("; to change it: ")
        {
            panic!("{text}");
        }
    }
}

fn settings() -> WorkloadSettings {
    WorkloadSettings { scale: 1.into(), data_seed: 7, ..WorkloadSettings::default() }
}

fn open(given: &[(&str, &str)]) -> (Settings, Target) {
    let mut settings = Settings::new(JobKind::Run);
    for (name, value) in given {
        settings.set(name, *value, Source::Flag);
    }
    let workload = triphammer_workloads::describe("ch").unwrap();
    let target = target::open(&mut settings, Some(&workload), &NoSecrets).unwrap();
    (settings, target)
}

/// Builds a warehouse.
fn built(url: &str) -> Target {
    let (_, target) = open(&[("target", url)]);
    let request = BuildRequest {
        workload: Arc::new(AnyWorkload::new("ch", &settings()).unwrap()),
        settings: settings(),
        dialect_options: BTreeMap::new(),
        jobs: 2,
        add: false,
        replace: false,
        force: false,
        create_database: false,
        observe: None,
        host_exporter: None,
        hosts: None,
        connect_limit: Duration::from_secs(10),
        cancel: Cancel::default(),
    };
    build(&target.database, &request, &Watch::new(&mut Nobody), &mut || None).unwrap();
    target
}

/// Runs the same transactions, whatever the database.
fn run(url: &str) {
    let work = [("vus", "1"), ("transactions", "400"), ("streams", "0"), ("seed", "3")];
    let (mut settings, target) = open(&[&[("target", url)], &work[..]].concat());
    let mut nobody = Nobody;
    let watch = Watch::new(&mut nobody);
    let workload = Ch::describe();
    let resolved = Resolved::new(&mut settings, &workload, &target, &watch, false).unwrap();
    let result = resolved.run(&settings, None, &Handle::default(), &watch).unwrap();
    assert_eq!((result.run.total.failed, result.query_streams), (0, None), "{:?}", result.errors);
}

/// The fields of each query's rows, in no order; moments are left out, as those of a run are of now.
fn answers(target: &Target) -> Answers {
    let database = &target.database;
    let catalogue = catalogues::catalogue(&Ch::describe(), database.dialect(), true).unwrap();
    let plan = Ch::new(&settings()).unwrap().query_plan().unwrap();
    let asked = async {
        let mut session = database.connect(Role::User, 0).await.unwrap();
        let mut answers = BTreeMap::new();
        for step in &plan.phases[0].streams[0].steps {
            let QueryStep::Query { query, args } = step else { unreachable!("no refreshes") };
            let name = &plan.queries[*query].name;
            let id = Statements::new(&catalogue).prepare(&mut session, name).await.unwrap();
            let (mut batch, mut all) = (Rows::new(), Vec::new());
            let mut take = |rows: &Rows| {
                all.extend(rows.iter().map(|row| {
                    let fields =
                        (0..row.len()).filter(|at| !matches!(row.cell(*at), Cell::Timestamp(_)));
                    fields.map(|at| row.show(at).trim_end().to_owned()).collect::<Vec<_>>()
                }));
            };
            session.stream(id, args, &mut batch, &mut take).await.unwrap();
            all.sort();
            answers.insert(name.to_string(), all);
        }
        session.close().await;
        answers
    };
    triphammer_engine::runtime().unwrap().block_on(asked)
}

fn is_same(a: &str, b: &str) -> bool {
    let numbers = (a.parse::<f64>(), b.parse::<f64>());
    a == b || matches!(numbers, (Ok(a), Ok(b)) if (a - b).abs() <= TOLERANCE * a.abs().max(1.0))
}

type Answers = BTreeMap<String, Vec<Vec<String>>>;

/// Compares all answers; returns the queries whose answers have no values.
fn compare(a: &Answers, b: &Answers) -> Vec<String> {
    assert_eq!((a.len(), b.len()), (22, 22));
    for (query, rows) in a {
        let others = &b[query];
        assert_eq!(rows.len(), others.len(), "{query}");
        for (row, other) in rows.iter().zip(others) {
            let same =
                row.len() == other.len() && row.iter().zip(other).all(|(a, b)| is_same(a, b));
            assert!(same, "{query}: {row:?} and {other:?}");
        }
    }
    let empty = a.iter().filter(|(_, rows)| rows.iter().all(|row| row == &["NULL"]));
    empty.map(|(query, _)| query.clone()).collect()
}

#[test]
fn every_query_has_the_same_answer_on_both_databases() {
    let postgres = PostgresServer::shared().fresh_database("ch").unwrap();
    let mariadb = MariadbServer::shared().fresh_database("ch").unwrap();
    let (on_postgres, on_mariadb) = (built(&postgres), built(&mariadb));
    run(&postgres);
    run(&mariadb);
    let a = answers(&on_postgres);
    let b = answers(&on_mariadb);
    // Every customer has an order, and few items fit Q20 in a single warehouse.
    assert_eq!(compare(&a, &b), ["q20", "q22"]);
}
