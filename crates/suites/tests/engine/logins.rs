//! Sessions that log in again, and how fast they log in at the start. A login on the null database of
//! these tests takes 50 ms: 20 ms to connect, and 10 ms for each of three statements.

use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::sleep;
use triphammer_core::session::{Database as _, Role};
use triphammer_core::spec::Length;
use triphammer_drivers::null::Null;
use triphammer_engine::{RunEnding, RunPlan};

use crate::pings::{CALL, Pings, WRITE, plan};
use crate::{committed, run, run_with};

const TARGET: &str = "null:?service=10ms&connect=20ms";

fn reconnecting(target: &str, users: u32, seconds: u64, every: u64) -> RunPlan<Pings, Null> {
    let mut plan = plan(target, users, seconds);
    plan.spec.logins.every = Some(every);
    plan
}

/// The median in milliseconds.
fn median(times: Option<&Histogram<u64>>) -> u64 {
    times.unwrap().value_at_quantile(0.5) / 1000
}

#[tokio::test(start_paused = true)]
async fn a_closed_load_logs_in_before_its_transaction_is_due() {
    let end = run(reconnecting(TARGET, 1, 8, 1)).await;
    let times = end.timed[WRITE].response.as_ref();
    assert!((30..=32).contains(&median(times)), "without the login: {}", median(times));
    let logins = &end.logins;
    assert!((50..=53).contains(&median(logins.run.whole.as_ref())), "{:?}", logins.run.whole);
    // 80 ms for both.
    assert!((95..=101).contains(&committed(&end)), "{}", committed(&end));
    assert!(logins.run.count().abs_diff(committed(&end)) <= 1, "one each, but for the first");
    assert_eq!((logins.start.count(), logins.run.failed, end.sessions), (1, 0, (0, 0)));
    assert!(logins.run.setup.is_none(), "the null database cannot tell the phases");
}

#[tokio::test(start_paused = true)]
async fn what_is_due_waits_for_the_login() {
    let mut plan = reconnecting(TARGET, 1, 20, 1);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = "rate:5/s,constant".parse().unwrap();
    let end = run(plan).await;
    let [response, service] =
        [&end.timed[CALL].response, &end.timed[CALL].service].map(|times| median(times.as_ref()));
    assert!((60..=63).contains(&response) && (10..=12).contains(&service), "{response} {service}");
    assert!((50..=52).contains(&median(end.pool_wait.as_ref())), "{:?}", end.pool_wait);
}

#[tokio::test(start_paused = true)]
async fn a_session_has_as_many_transactions_as_it_should() {
    let mut plan = reconnecting(TARGET, 3, 1, 10);
    plan.spec.length = Length::Transactions(40);
    let end = run(plan).await;
    assert_eq!((committed(&end), end.logins.run.count()), (120, 9));
    assert_eq!((end.logins.window.count(), end.logins.start.count()), (9, 3));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_log_in_anew_is_lost_until_it_can() {
    let plan = reconnecting("null:?service=10ms&connect=20ms&refuse=1", 1, 10, 1);
    let database = Arc::clone(&plan.database);
    let (end, _) = run_with(plan, async |_| {
        sleep(Duration::from_secs(1)).await;
        let other = loop {
            if let Ok(session) = database.connect(Role::Monitor, 0).await {
                break session;
            }
        };
        sleep(Duration::from_secs(3)).await;
        drop(other);
    })
    .await;
    let end = end.unwrap();
    assert_eq!((end.sessions, end.away, end.ending), ((1, 1), 0, RunEnding::Complete));
    let logins = &end.logins.run;
    // At once, at once again, and then at growing distances.
    assert!((3..30).contains(&logins.failed), "{}", logins.failed);
    let back = logins.back.as_ref().unwrap();
    assert!(back.len() == 1 && (2_900_000..9_000_000).contains(&back.max()), "{}", back.max());
    let slowest = end.timed[WRITE].response.as_ref().unwrap().max();
    assert!(slowest >= 2_900_000, "the outage is in the response time: {slowest}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_log_in_again_is_missing_at_the_end() {
    let plan = reconnecting("null:?service=10ms&connect=20ms&refuse=1", 1, 10, 1);
    let database = Arc::clone(&plan.database);
    let (end, _) = run_with(plan, async |_| {
        sleep(Duration::from_secs(1)).await;
        let _other = loop {
            if let Ok(session) = database.connect(Role::Monitor, 0).await {
                break session;
            }
        };
        sleep(Duration::from_secs(60)).await;
    })
    .await;
    let end = end.unwrap();
    assert_eq!((end.sessions, end.away), ((1, 0), 1));
    assert!(end.logins.run.failed >= 3 && end.logins.run.back.is_none());
}

#[tokio::test(start_paused = true)]
async fn sessions_log_in_at_the_rate_that_the_start_allows() {
    let mut limited = plan(TARGET, 10, 2);
    limited.spec.logins.per_second = Some(5.0);
    let start = run(limited).await.logins.start;
    let back = start.back.as_ref().unwrap();
    assert_eq!((start.count(), back.len()), (10, 10));
    // The last begins after nine fifths of a second.
    assert!((1_850_000..1_860_000).contains(&back.max()), "{}", back.max());
    let at_once = run(plan(TARGET, 10, 2)).await.logins.start.back.unwrap().max();
    // Eight at a time on each thread.
    assert!((100_000..110_000).contains(&at_once), "{at_once}");
}
