//! The same work gives the same rows and outputs.

use triphammer_core::random::Rng;
use triphammer_core::session::Protocol;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Completion, Mode, Workload};
use triphammer_drivers::AnySession;
use triphammer_workloads::tproc_c::input::Input;
use triphammer_workloads::tproc_c::{Prepared, TprocC};

use super::site::{Site, dump, violations, workload};

/// Transactions of one user, one second apart.
pub fn inputs(workload: &TprocC, count: i64) -> Vec<Input> {
    let mut rng = Rng::of(99, &[1]);
    let mut user = workload.user(0, 1, &mut rng);
    (0..count)
        .map(|n| {
            let now = Timestamp::from_seconds(1_800_000_000 + n);
            let next = workload.next(&mut user, &mut rng).unwrap();
            workload.draw(next, &mut user, &mut rng, now)
        })
        .collect()
}

struct Worker<'a> {
    workload: &'a TprocC,
    session: AnySession,
    prepared: Prepared,
}

impl<'a> Worker<'a> {
    async fn new(site: &Site, workload: &'a TprocC, mode: Mode) -> Self {
        let (session, prepared) = site.user(workload, mode).await;
        Self { workload, session, prepared }
    }

    async fn run(&mut self, input: &Input) -> Completion {
        let done = self.workload.run(input, &mut self.prepared, &mut self.session).await;
        done.unwrap_or_else(|error| panic!("{input:?}: {error}"))
    }
}

#[tokio::test]
async fn modes_and_databases_leave_the_same_rows_and_give_the_same_outputs() {
    let [rolled_back, bad_credit, original] = assert_same(&Site::all(), 1_000).await;
    assert!(rolled_back > 1 && bad_credit > 20 && original > 20, "the inputs reach all branches");
}

#[tokio::test]
#[ignore = "slow: tools/test-matrix.py slow"]
async fn duckdb_leaves_the_same_rows_and_gives_the_same_outputs() {
    // Fewer, because each statement scans a table.
    let sites = [(Site::sqlite(), Mode::Statements), (Site::duckdb(), Mode::Statements)];
    assert_same(&sites, 60).await;
}

/// Runs the same inputs everywhere, one after the other, and compares outputs and rows. Returns how
/// many were rolled back, paid by a customer of bad credit, and ordered an original item.
async fn assert_same(sites: &[(Site, Mode)], count: i64) -> [u32; 3] {
    let workload = workload();
    let mut workers = Vec::new();
    for (site, mode) in sites {
        workers.push(Worker::new(site, &workload, *mode).await);
    }
    let (first, others) = workers.split_first_mut().unwrap();
    let (mut rolled_back, mut bad_credit, mut original) = (0, 0, 0);
    for input in &inputs(&workload, count) {
        let done = first.run(input).await;
        let output = first.prepared.output();
        for other in &mut *others {
            assert_eq!(other.run(input).await, done, "{input:?}");
            assert_eq!(other.prepared.output(), output, "{input:?}");
        }
        rolled_back += u32::from(!done.committed);
        bad_credit += u32::from(!output.payment.c_data.is_empty());
        original += u32::from(output.new_order.lines.iter().any(|l| l.brand_generic == 'B'));
    }
    for table in &*TprocC::describe().tables {
        let expected = dump(&mut first.session, table).await;
        for other in &mut *others {
            let found = dump(&mut other.session, table).await;
            assert_eq!(found.len(), expected.len(), "{}", table.name);
            let differing = found.iter().zip(&expected).find(|(a, b)| a != b);
            assert_eq!(differing, None, "{}", table.name);
        }
    }
    for ((site, _), worker) in sites.iter().zip(&mut workers) {
        assert_eq!(violations(site, &mut worker.session, false).await, []);
    }
    [rolled_back, bad_credit, original]
}

#[tokio::test]
async fn procedures_answer_alike_behind_each_protocol() {
    let workload = workload();
    let inputs = inputs(&workload, 300);
    let mut outputs = Vec::new();
    for protocol in [Protocol::Prepared, Protocol::Extended, Protocol::Simple] {
        let site = Site::postgres_with(protocol);
        let mut worker = Worker::new(&site, &workload, Mode::Procedures).await;
        let mut of_this = Vec::new();
        for input in &inputs {
            let done = worker.run(input).await;
            of_this.push((done, worker.prepared.output().clone()));
        }
        outputs.push(of_this);
    }
    assert!(outputs[0] == outputs[1], "extended differs from prepared");
    assert!(outputs[0] == outputs[2], "simple differs from prepared");
}

#[tokio::test]
async fn transactions_work_with_foreign_keys_and_a_history_key() {
    let workload = workload();
    for site in [Site::postgres(), Site::mariadb()] {
        site.scripts(&["history_key", "foreign_key"]).await;
        for mode in [Mode::Procedures, Mode::Statements] {
            let mut worker = Worker::new(&site, &workload, mode).await;
            for input in &inputs(&workload, 150) {
                worker.run(input).await;
            }
        }
        let mut session = site.session().await;
        assert_eq!(violations(&site, &mut session, false).await, []);
    }
}

#[tokio::test]
async fn the_null_database_answers_every_transaction() {
    let workload = workload();
    let site = Site::null();
    for mode in [Mode::Procedures, Mode::Statements] {
        let mut worker = Worker::new(&site, &workload, mode).await;
        for input in &inputs(&workload, 300) {
            let counter = if let Input::Payment(payment) = input { payment.h_amount } else { 0 };
            assert_eq!(worker.run(input).await, Completion { committed: true, counter });
        }
        let output = worker.prepared.output();
        assert_eq!(output.delivery.skipped(), 0);
        assert_eq!(output.new_order.c_last, "BARBARBAR");
    }
}

#[tokio::test]
async fn procedures_can_be_made_again_and_dropped() {
    let workload = workload();
    let inputs = inputs(&workload, 100);
    let stock_level = inputs.iter().find(|input| matches!(input, Input::StockLevel(_))).unwrap();
    for site in [Site::postgres(), Site::mariadb()] {
        site.scripts(&["procedure", "drop_procedure", "drop_procedure", "procedure"]).await;
        Worker::new(&site, &workload, Mode::Procedures).await.run(stock_level).await;
    }
}
