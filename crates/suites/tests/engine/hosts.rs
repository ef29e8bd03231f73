//! A run by several hosts, through the coordinator, the participants and serialised messages as
//! processes exchange them, is the run of one process; and what happens when a host is lost, late or
//! alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};
use triphammer_core::event::Event;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::Length;
use triphammer_core::workload::Workload as _;
use triphammer_drivers::null::Null;
use triphammer_engine::hosts::{
    Coordination, Engine, FromHost, FromShare, HOST_LOST, Link, OnHostLoss, ToShare,
    coordinate_here, participate,
};
use triphammer_engine::{RunEnd, RunEnding, RunError, RunPlan, Share, StopHandle};

use crate::pings::{CALL, Pings, READ, WRITE, plan};
use crate::run_with;
use crate::shares::assert_same;

/// Events that an engine has room for.
const EVENTS_MAX: usize = 256;

/// Whether a message is of a kind.
type IsKind = fn(&ToShare) -> bool;

/// What goes wrong in a run by several hosts, each with the number of its host.
#[derive(Clone, Copy, Default)]
struct Trouble {
    /// The link ends after this second.
    cut: Option<(usize, u64)>,
    /// The start is learnt of this much later, or never.
    slow: Option<(usize, Duration)>,
    /// The link has no room for messages of this kind.
    full: Option<(usize, IsKind)>,
    /// All hosts run on one machine.
    on_one_machine: bool,
    /// Each engine has room for one event.
    is_narrow: bool,
    on_host_loss: OnHostLoss,
}

const CALM: Trouble = Trouble {
    cut: None,
    slow: None,
    full: None,
    on_one_machine: false,
    is_narrow: false,
    on_host_loss: OnHostLoss::Continue,
};

/// Passes a value on as another process receives it.
fn sent<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_slice(&serde_json::to_vec(value).unwrap()).unwrap()
}

/// Runs a share, with its messages in both directions.
fn host(
    plan: RunPlan<Pings, Null>,
    share: Share,
    host: usize,
    trouble: Trouble,
    to_coordinator: mpsc::Sender<FromHost>,
) -> Link {
    let (to_share, mut orders) = mpsc::channel::<ToShare>(1_000);
    let (deliver, from) = mpsc::channel(1_000);
    let slow = trouble.slow.filter(|(slow, _)| *slow == host);
    spawn_local(async move {
        while let Some(message) = orders.recv().await {
            match (&message, slow) {
                (ToShare::Begin { .. }, Some((_, delay))) if delay == Duration::MAX => continue,
                (ToShare::Begin { .. }, Some((_, delay))) => sleep(delay).await,
                _ => {}
            }
            if deliver.send(message).await.is_err() {
                return;
            }
        }
    });
    let (to, mut reports) = mpsc::channel(1_000);
    let cut = trouble.cut.filter(|(cut, _)| *cut == host);
    spawn_local(async move {
        while let Some(message) = reports.recv().await {
            let second = match &message {
                FromShare::Second(interval) => interval.last,
                _ => 0,
            };
            let message = FromHost { host, message: Ok(sent(&message)) };
            if to_coordinator.send(message).await.is_err() {
                return;
            }
            if cut.is_some_and(|(_, last)| second >= last) {
                break;
            }
        }
        let message = Err("the link was cut".to_owned());
        let _ = to_coordinator.send(FromHost { host, message }).await;
    });
    let room = if trouble.is_narrow { 1 } else { EVENTS_MAX };
    spawn_local(drive(plan, share, room, from, to));
    let full = trouble.full.filter(|(full, _)| *full == host);
    let send = move |message: &ToShare| {
        let is_full = full.is_some_and(|(_, refuses)| refuses(message));
        !is_full && to_share.try_send(sent(message)).is_ok()
    };
    let machine = if trouble.on_one_machine { 0 } else { host };
    Link { name: format!("host {host}"), cpus: 2, machine, send: Box::new(send) }
}

/// Drives a share until its end, whose engine has room for so many events.
async fn drive(
    plan: RunPlan<Pings, Null>,
    share: Share,
    room: usize,
    from: mpsc::Receiver<ToShare>,
    to: mpsc::Sender<FromShare>,
) {
    let (gate, opens) = oneshot::channel();
    let (events_to, events) = mpsc::channel(room);
    let (stopper_to, stopper) = oneshot::channel();
    let plan = RunPlan { share, ..plan };
    let running = spawn_local(async move {
        triphammer_engine::run_here_gated(plan, events_to, Some(opens), async |handle| {
            let _ = stopper_to.send(handle);
        })
        .await
    });
    let stopper = stopper.await.unwrap();
    let end = async { running.await.unwrap() };
    participate(Engine { events, stopper, gate, end }, from, to).await;
}

/// Runs a plan by several hosts; returns the end and the seconds.
async fn by_hosts(
    plan: &RunPlan<Pings, Null>,
    of: u32,
    trouble: Trouble,
    act: impl AsyncFnOnce(StopHandle),
) -> (Result<RunEnd, RunError>, Vec<Event>) {
    let (to_coordinator, messages) = mpsc::channel(1_000);
    let (events, mut received) = mpsc::channel(10_000);
    let spec = plan.spec.clone();
    let local = LocalSet::new();
    let end = local
        .run_until(async {
            let hosts = (0..of).map(|index| {
                let share = Share::new(index, of, &spec).unwrap();
                host(plan.clone(), share, index as usize, trouble, to_coordinator.clone())
            });
            let (allow, permit) = oneshot::channel();
            allow.send(()).unwrap();
            let run = Coordination {
                permit,
                types: plan.workload.description().transactions.len(),
                on_host_loss: trouble.on_host_loss,
                hosts: hosts.collect(),
                messages,
                spec: spec.clone(),
            };
            coordinate_here(run, events, act).await
        })
        .await;
    let mut all = Vec::new();
    while let Ok(event) = received.try_recv() {
        all.push(event);
    }
    (end, all)
}

fn seconds(events: Vec<Event>) -> Vec<RecordedInterval> {
    let second = |event| match event {
        Event::Second(interval) => Some(*interval),
        _ => None,
    };
    events.into_iter().filter_map(second).collect()
}

fn closed() -> RunPlan<Pings, Null> {
    let mut plan = plan("null:?service=10ms", 7, 6);
    plan.workload = Arc::new(Pings::new(vec![READ, WRITE, CALL], 5));
    plan.spec.rampup = Duration::from_secs(2);
    plan
}

fn open() -> RunPlan<Pings, Null> {
    let mut plan = plan("null:?service=2ms", 40, 6);
    plan.workload = Arc::new(Pings::new(vec![CALL], 0));
    plan.spec.load = "rate:100/s,constant".parse().unwrap();
    plan.spec.rampup = Duration::from_secs(2);
    plan
}

#[tokio::test(start_paused = true)]
async fn a_run_by_hosts_is_bit_for_bit_that_of_one_process() {
    for plan in [closed(), open()] {
        let (whole, events) = run_with(plan.clone(), async |_| {}).await;
        let (whole, of_whole) = (whole.unwrap(), seconds(events));
        let (end, events) = by_hosts(&plan, 3, CALM, async |_| {}).await;
        let (end, found) = (end.unwrap(), seconds(events));
        assert!(found.len() >= 8 && of_whole.len() >= 8, "{} {}", found.len(), of_whole.len());
        for (found, expected) in found.iter().zip(&of_whole).take(8) {
            assert_same(found, expected);
        }
        for (found, expected) in end.timed.iter().zip(&whole.timed) {
            assert_eq!(found.counts, expected.counts);
            assert_eq!(found.response, expected.response);
        }
        assert_eq!((end.violations, end.ending), (Vec::new(), RunEnding::Complete));
        assert_eq!(end.window, whole.window);
        assert_eq!((end.started, end.offered), (whole.started, whole.offered));
        assert_eq!((end.pool_wait, end.backlog_max), (whole.pool_wait, whole.backlog_max));
        assert_eq!(end.round_trips, whole.round_trips);
        let sessions: u32 = end.hosts.iter().map(|host| host.sessions).sum();
        assert_eq!((end.hosts.len(), sessions), (3, plan.spec.sessions()));
        let completed: u64 = end.timed.iter().map(|of_type| of_type.counts.completed()).sum();
        assert_eq!(end.hosts.iter().map(|host| host.completed).sum::<u64>(), completed);
        let in_run: u64 = end.run.iter().map(|of_type| of_type.counts.completed()).sum();
        assert_eq!(end.hosts.iter().map(|host| host.completed_in_run).sum::<u64>(), in_run);
    }
}

#[tokio::test(start_paused = true)]
async fn the_transactions_of_a_lost_host_are_in_doubt_and_the_others_go_on() {
    let trouble = Trouble { cut: Some((1, 3)), ..CALM };
    let (end, events) = by_hosts(&closed(), 3, trouble, async |_| {}).await;
    let end = end.unwrap();
    assert_eq!((end.violations, end.ending), (Vec::new(), RunEnding::Complete));
    let loss = end.hosts[1].loss.as_ref().unwrap();
    assert_eq!(loss.reason, "the link was cut");
    let open: u64 = loss.open.iter().sum();
    assert_eq!(open, u64::from(end.hosts[1].sessions), "each of its users was in a transaction");
    let in_doubt: u64 = end.run.iter().map(|of_type| of_type.counts.indeterminate).sum();
    assert_eq!(in_doubt, open);
    assert!(end.hosts[1].end.is_none() && end.hosts[0].end.is_some());
    assert_eq!(end.notes.iter().filter(|note| note.kind == HOST_LOST).count(), 1);
    let found = seconds(events);
    let committed = |second: &RecordedInterval| -> u64 {
        second.types.iter().map(|of_type| of_type.counts.completed()).sum()
    };
    assert!(committed(&found[7]) > 0 && committed(&found[7]) < committed(&found[2]));
    assert_eq!(found[7].connected, 5, "of seven sessions");
}

#[tokio::test(start_paused = true)]
async fn the_arrivals_of_a_lost_host_never_start() {
    let trouble = Trouble { cut: Some((0, 3)), ..CALM };
    let (whole, _) = by_hosts(&open(), 2, CALM, async |_| {}).await;
    let (end, _) = by_hosts(&open(), 2, trouble, async |_| {}).await;
    let (whole, found) = (whole.unwrap().offered.unwrap(), end.unwrap().offered.unwrap());
    assert_eq!(found.offered, whole.offered);
    // Half of 100 per second from second 4 to 8.
    assert!((199..=202).contains(&found.never_started), "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_host_ends_the_run_if_it_is_to() {
    let on_host_loss = OnHostLoss::Abort;
    let trouble = Trouble { cut: Some((2, 3)), on_host_loss, ..CALM };
    let end = by_hosts(&closed(), 3, trouble, async |_| {}).await.0.unwrap();
    assert_eq!(end.ending, RunEnding::Aborted);
    assert!(end.ended.second() <= 5, "{:?}", end.ended);
    // The rest of the window is not part of the figures, and no outage.
    assert!(end.window.end.second() <= 5, "{:?}", end.window);
    assert_eq!(end.outages, []);
    assert_eq!(end.violations, []);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_starts_late_has_the_clock_of_the_others() {
    let trouble = Trouble { slow: Some((1, Duration::from_millis(1_700))), ..CALM };
    let (end, events) = by_hosts(&closed(), 2, trouble, async |_| {}).await;
    let end = end.unwrap();
    let late = Duration::from_nanos(end.hosts[1].late_ns.unwrap());
    assert!((1_450..=1_550).contains(&late.as_millis()), "{late:?}");
    assert!(end.hosts[0].late_ns.unwrap() < 5_000_000);
    assert_eq!((end.violations, end.ending), (Vec::new(), RunEnding::Complete));
    let found = seconds(events);
    assert_eq!(found[0].connected, 7);
    let completed = |second: &RecordedInterval| -> u64 {
        second.types.iter().map(|of_type| of_type.counts.completed()).sum()
    };
    // Four of seven users were not there yet.
    assert!(completed(&found[0]) * 2 < completed(&found[3]));
    assert_eq!(end.window.seconds(), 6.0);
}

#[tokio::test(start_paused = true)]
async fn a_host_is_ready_although_its_engine_has_little_room_for_events() {
    let mut plan = closed();
    plan.spec.users = 300;
    let trouble = Trouble { is_narrow: true, ..CALM };
    let run = by_hosts(&plan, 2, trouble, async |_| {});
    let (end, _) = timeout(Duration::from_secs(60), run).await.expect("all sessions are known");
    assert_eq!(end.unwrap().ending, RunEnding::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_not_told_of_the_start_is_lost() {
    let trouble = Trouble { full: Some((1, |of| matches!(of, ToShare::Begin { .. }))), ..CALM };
    let spec = closed();
    let run = by_hosts(&spec, 3, trouble, async |_| {});
    let (end, _) = timeout(Duration::from_secs(60), run).await.expect("nobody waits for it");
    let end = end.unwrap();
    assert_eq!(end.hosts[1].loss.as_ref().unwrap().reason, "it takes no messages");
    assert_eq!((end.violations, end.ending), (Vec::new(), RunEnding::Complete));
    assert!(end.hosts[0].completed > 0 && end.hosts[2].completed > 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_told_of_the_stop_is_lost() {
    let trouble = Trouble { full: Some((1, |of| matches!(of, ToShare::Stop))), ..CALM };
    let mut plan = closed();
    plan.spec.length = Length::Time(Duration::from_secs(600));
    let run = by_hosts(&plan, 3, trouble, async |stopper| {
        sleep(Duration::from_secs(5)).await;
        stopper.stop();
    });
    let (end, _) = timeout(Duration::from_secs(60), run).await.expect("nobody waits for it");
    let end = end.unwrap();
    let loss = end.hosts[1].loss.as_ref().unwrap();
    assert_eq!(loss.reason, "it takes no messages");
    assert!((4..=5).contains(&loss.at.second()), "{:?}", loss.at);
    assert!(loss.open.iter().sum::<u64>() > 0, "what it had in flight is in doubt");
    assert!(end.hosts[0].loss.is_none() && end.hosts[2].loss.is_none());
    assert_eq!((end.violations, end.ending), (Vec::new(), RunEnding::Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_was_lost_before_it_began_is_lost_once() {
    let trouble = Trouble { full: Some((1, |of| matches!(of, ToShare::Begin { .. }))), ..CALM };
    let mut plan = closed();
    plan.spec.length = Length::Time(Duration::from_secs(20));
    let (end, _) = by_hosts(&plan, 2, trouble, async |_| {}).await;
    let end = end.unwrap();
    let lost = end.notes.iter().filter(|note| note.kind == HOST_LOST).count();
    assert_eq!(lost, 1, "{:?}", end.notes);
    assert_eq!(end.hosts[1].loss.as_ref().unwrap().reason, "it takes no messages");
    assert_eq!(end.violations, []);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_only_shows_that_it_is_there_is_lost() {
    let mut plan = closed();
    plan.spec.length = Length::Transactions(100_000);
    let trouble = Trouble { slow: Some((1, Duration::MAX)), ..CALM };
    let (end, _) = by_hosts(&plan, 2, trouble, async |stopper| {
        sleep(Duration::from_secs(15)).await;
        stopper.stop();
    })
    .await;
    let end = end.unwrap();
    let loss = end.hosts[1].loss.as_ref().unwrap();
    assert_eq!(loss.reason, "it did not begin");
    assert!((10..15).contains(&loss.at.second()), "while the run takes place: {:?}", loss.at);
    assert!(end.hosts[0].completed_in_run > 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_asked_for_its_clock_ends_the_start() {
    let trouble = Trouble { full: Some((1, |of| matches!(of, ToShare::Ping { .. }))), ..CALM };
    let spec = closed();
    let run = by_hosts(&spec, 2, trouble, async |_| {});
    let (end, _) = timeout(Duration::from_secs(60), run).await.expect("nobody waits for it");
    let error = end.unwrap_err().to_string();
    assert!(error.ends_with("host 1: it takes no messages"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_machine_is_reported_by_another_host_on_it_if_the_first_is_lost() {
    let trouble = Trouble { cut: Some((0, 3)), on_one_machine: true, ..CALM };
    let (_, events) = by_hosts(&closed(), 2, trouble, async |_| {}).await;
    let cpus: Vec<u32> = seconds(events).iter().map(|of| of.gauges.host_use.cpus).collect();
    assert!(cpus[2] > 0);
    assert_eq!(cpus[7], cpus[2], "{cpus:?}");
}

#[tokio::test(start_paused = true)]
async fn all_hosts_end_the_window_at_one_second() {
    let mut plan = closed();
    plan.spec.length = Length::Time(Duration::from_secs(600));
    let (end, _) = by_hosts(&plan, 3, CALM, async |stopper| {
        sleep(Duration::from_millis(5_300)).await;
        stopper.end_window();
    })
    .await;
    let end = end.unwrap();
    assert_eq!(end.ending, RunEnding::Complete);
    assert!((4.0..=6.0).contains(&end.window.seconds()), "{:?}", end.window);
    let last = end.window.end.second();
    assert_eq!(end.ended.second(), last, "nobody worked on");
    assert_eq!(end.violations, []);
}

#[tokio::test(start_paused = true)]
async fn a_share_without_its_coordinator_abandons_its_transactions() {
    let mut plan = plan("null:?service=1500ms", 2, 600);
    plan.spec.limits.drain = Duration::from_secs(600);
    let local = LocalSet::new();
    let last = local
        .run_until(async {
            let (orders, from) = mpsc::channel(10);
            let (to, mut reports) = mpsc::channel(1_000);
            let share = Share::new(0, 1, &plan.spec).unwrap();
            spawn_local(drive(plan, share, EVENTS_MAX, from, to));
            let mut last = None;
            let at_ns = triphammer_core::clock::wall().0 * 1_000;
            orders.send(ToShare::Begin { at_ns, date: 0 }).await.unwrap();
            let mut orders = Some(orders);
            while let Some(message) = reports.recv().await {
                if matches!(message, FromShare::Second(_)) {
                    orders = None;
                }
                last = Some(message);
            }
            drop(orders);
            last.unwrap()
        })
        .await;
    let FromShare::Ended(end) = last else { panic!("{last:?}") };
    assert_eq!(end.ending, RunEnding::Aborted);
    assert_eq!(end.in_flight.iter().sum::<u64>(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_share_whose_messages_nobody_takes_ends_soon() {
    let plan = plan("null:?service=10ms", 2, 600);
    let local = LocalSet::new();
    let share = Share::new(0, 1, &plan.spec).unwrap();
    let began = tokio::time::Instant::now();
    local
        .run_until(async {
            let (orders, from) = mpsc::channel(10);
            let (to, _reports) = mpsc::channel(10);
            let at_ns = triphammer_core::clock::wall().0 * 1_000;
            orders.send(ToShare::Begin { at_ns, date: 0 }).await.unwrap();
            drive(plan, share, EVENTS_MAX, from, to).await;
            drop(orders);
        })
        .await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}
