//! Concurrent transactions on the same rows.

use std::collections::BTreeSet;

use triphammer_core::ErrorClass;
use triphammer_core::random::Rng;
use triphammer_core::session::Session as _;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Completion, Mode, Workload};
use triphammer_drivers::AnySession;
use triphammer_testbed::PostgresServer;
use triphammer_workloads::tproc_c::input::{Delivery, Input, NewOrder, UNUSED_ITEM};
use triphammer_workloads::tproc_c::user::Terminal;
use triphammer_workloads::tproc_c::{Prepared, TprocC};

use super::same::inputs;
use super::site::{Site, number, violations, workload};

/// MariaDB's error for a row that another transaction changed after this one's snapshot.
const CHANGED_SINCE_SNAPSHOT: &str = "1020";

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// Runs `users` concurrently, each on its own session, on one thread.
async fn side_by_side<F: Future>(users: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = users.map(|user| (Box::pin(user), None)).collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (user, done) in &mut running {
            if done.is_none() {
                match user.as_mut().poll(context) {
                    std::task::Poll::Ready(output) => *done = Some(output),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    running.into_iter().filter_map(|(_, done)| done).collect()
}

/// Runs a transaction as the engine does. A MariaDB of 11.6 or newer isolates by snapshots, where a
/// row that changed since then ends the transaction: it is repeated, which is no deadlock.
async fn run(
    workload: &TprocC,
    input: &Input,
    prepared: &mut Prepared,
    session: &mut AnySession,
) -> Completion {
    loop {
        match workload.run(input, prepared, session).await {
            Ok(done) => return done,
            Err(error) if error.code() == Some(CHANGED_SINCE_SNAPSHOT) => {
                session.rollback().await.unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn concurrent_deliveries_of_a_full_warehouse_skip_nothing(sites: [(Site, Mode); 2]) {
    const USERS: i32 = 4;
    const EACH: i32 = 15;
    for (site, mode) in sites {
        let workload = workload();
        let deliver = async |user: i32| {
            let (mut session, mut prepared) = site.user(&workload, mode).await;
            let mut delivered = Vec::new();
            for _ in 0..EACH {
                let input = Delivery { w_id: 1, o_carrier_id: 1 + user, delivery_d: NOW };
                let input = Input::Delivery(input);
                let done = run(&workload, &input, &mut prepared, &mut session).await;
                assert_eq!(done, Completion::COMMITTED, "nothing is skipped");
                delivered.push(prepared.output().delivery.o_id);
            }
            delivered
        };
        let delivered = side_by_side((0..USERS).map(deliver)).await.concat();
        for district in 0..10 {
            let orders: BTreeSet<_> = delivered.iter().filter_map(|o_id| o_id[district]).collect();
            let expected: BTreeSet<_> = (2101..2101 + USERS * EACH).collect();
            assert_eq!(orders, expected, "each is delivered once, the oldest first");
        }
        let mut session = site.session().await;
        assert_eq!(violations(&site, &mut session, false).await, []);
    }
}

async fn concurrent_new_orders_of_the_same_items_do_not_deadlock(sites: [(Site, Mode); 2]) {
    for (site, mode) in sites {
        let workload = workload();
        let order = async |user: i32| {
            let (mut session, mut prepared) = site.user(&workload, mode).await;
            let mut rng = Rng::of(5, &[user.unsigned_abs().into()]);
            for _ in 0..30 {
                let mut items: Vec<i32> = (1..=16).collect();
                rng.shuffle(&mut items);
                let lines: Vec<_> =
                    items[..10].iter().map(|i| (*i, rng.between32(1, 2), 5)).collect();
                let terminal = Terminal { w_id: 1 + user % 2, d_id: 1 + user };
                let input = Input::NewOrder(NewOrder::of_lines(terminal, 7, NOW, &lines));
                let done = run(&workload, &input, &mut prepared, &mut session).await;
                assert_eq!(done, Completion::COMMITTED);
            }
        };
        side_by_side((0..8).map(order)).await;
        let mut session = site.session().await;
        assert_eq!(violations(&site, &mut session, false).await, []);
        let quantities = "SELECT count(*) FROM stock WHERE s_quantity NOT BETWEEN 10 AND 100";
        assert_eq!(number(&mut session, quantities).await, 0);
    }
}

mod postgres {
    use super::Site;

    #[tokio::test]
    async fn concurrent_deliveries_of_a_full_warehouse_skip_nothing() {
        super::concurrent_deliveries_of_a_full_warehouse_skip_nothing(Site::both_modes(
            Site::postgres,
        ))
        .await;
    }

    #[tokio::test]
    async fn concurrent_new_orders_of_the_same_items_do_not_deadlock() {
        super::concurrent_new_orders_of_the_same_items_do_not_deadlock(Site::both_modes(
            Site::postgres,
        ))
        .await;
    }
}

mod mariadb {
    use super::Site;

    #[tokio::test]
    #[ignore = "slow: tools/test-matrix.py slow"]
    async fn concurrent_deliveries_of_a_full_warehouse_skip_nothing() {
        super::concurrent_deliveries_of_a_full_warehouse_skip_nothing(Site::both_modes(
            Site::mariadb,
        ))
        .await;
    }

    #[tokio::test]
    #[ignore = "slow: tools/test-matrix.py slow"]
    async fn concurrent_new_orders_of_the_same_items_do_not_deadlock() {
        super::concurrent_new_orders_of_the_same_items_do_not_deadlock(Site::both_modes(
            Site::mariadb,
        ))
        .await;
    }
}

#[tokio::test]
async fn users_of_all_transactions_meet_without_deadlocks_and_leave_the_checks_true() {
    for (site, mode) in Site::of_many_writers() {
        let workload = workload();
        let work = async |user: u32| {
            let (mut session, mut prepared) = site.user(&workload, mode).await;
            let mut rng = Rng::of(6, &[user.into()]);
            let mut state = workload.user(user, 8, &mut rng);
            for _ in 0..75 {
                let next = workload.next(&mut state, &mut rng).unwrap();
                let input = workload.draw(next, &mut state, &mut rng, NOW);
                run(&workload, &input, &mut prepared, &mut session).await;
            }
        };
        side_by_side((0..8).map(work)).await;
        let mut session = site.session().await;
        assert_eq!(violations(&site, &mut session, false).await, []);
    }
}

/// The sums of everything that a New-Order changes.
async fn fingerprint(session: &mut AnySession) -> Vec<i64> {
    let mut sums = Vec::new();
    for sql in [
        "SELECT sum(d_next_o_id) FROM district",
        "SELECT count(*) FROM orders",
        "SELECT count(*) FROM new_order",
        "SELECT count(*) FROM order_line",
        "SELECT sum(s_quantity) FROM stock",
        "SELECT sum(s_ytd + s_order_cnt + s_remote_cnt) FROM stock",
    ] {
        sums.push(number(session, sql).await);
    }
    sums
}

#[tokio::test]
async fn an_order_of_the_unused_item_leaves_nothing_behind() {
    let workload = workload();
    for (site, mode) in Site::all() {
        let (mut session, mut prepared) = site.user(&workload, mode).await;
        let before = fingerprint(&mut session).await;
        let logged = PostgresServer::shared().log().len();
        // The unused item is last, although its warehouse and a sort by item would put it first.
        let lines = [(7, 2, 1), (8, 2, 2), (9, 1, 3), (10, 2, 4), (UNUSED_ITEM, 1, 5)];
        let terminal = Terminal { w_id: 1, d_id: 4 };
        let input = Input::NewOrder(NewOrder::of_lines(terminal, 7, NOW, &lines));
        for _ in 0..20 {
            let done = workload.run(&input, &mut prepared, &mut session).await.unwrap();
            assert_eq!(done, Completion::ROLLED_BACK);
        }
        let output = &prepared.output().new_order;
        assert!(!output.committed && output.lines.is_empty());
        assert_eq!(output.o_id, 3001, "the number is returned, though not taken");
        assert_eq!(fingerprint(&mut session).await, before);
        let log = PostgresServer::shared().log();
        let about_us = |l: &&str| l.contains("ERROR") && l.contains("triphammer_");
        assert_eq!(log[logged..].lines().find(about_us), None);
    }
}

#[tokio::test]
async fn empty_districts_are_skipped_and_counted() {
    let workload = workload();
    for (site, mode) in Site::all() {
        let (mut session, mut prepared) = site.user(&workload, mode).await;
        let empty = "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id IN (3, 10)";
        triphammer_core::Session::script(&mut session, empty).await.unwrap();
        let input = Input::Delivery(Delivery { w_id: 1, o_carrier_id: 1, delivery_d: NOW });
        let done = workload.run(&input, &mut prepared, &mut session).await.unwrap();
        assert_eq!(done, Completion { committed: true, counter: 2 });
        let o_id = prepared.output().delivery.o_id;
        assert_eq!((o_id[0], o_id[2], o_id[9]), (Some(2101), None, None));
    }
}

#[tokio::test]
async fn missing_tables_are_an_error_and_not_a_result() {
    let workload = workload();
    let input =
        inputs(&workload, 50).into_iter().find(|i| matches!(i, Input::NewOrder(_))).unwrap();
    for (site, mode) in Site::all() {
        let (mut session, mut prepared) = site.user(&workload, mode).await;
        let gone = "ALTER TABLE district RENAME TO elsewhere";
        triphammer_core::Session::script(&mut session, gone).await.unwrap();
        let error = workload.run(&input, &mut prepared, &mut session).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Other, "{error}");
    }
}
