//! Runs on several nodes: where transactions go, what is counted per node, and that a lost node's
//! users return.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::error::ErrorClass;
use triphammer_core::nodes::{Change, Node, Nodes, Routing};
use triphammer_core::workload::Workload;
use triphammer_drivers::null::Null;
use triphammer_drivers::{ConnectSettings, TargetUrl};
use triphammer_engine::{RunEnd, RunPlan};

use crate::pings::{Pings, READ, WRITE, plan};
use crate::run;

const SERVICE: &str = "null:?service=10ms";

/// A plan for nodes `a`, `b` and `c`, of which only `a` accepts writes.
fn routed(rules: &[(&str, &str)], users: u32, seconds: u64) -> RunPlan<Pings, Null> {
    routed_to([SERVICE; 3], rules, users, seconds)
}

/// The same, for nodes at these targets.
fn routed_to(
    targets: [&str; 3],
    rules: &[(&str, &str)],
    users: u32,
    seconds: u64,
) -> RunPlan<Pings, Null> {
    let mut plan = plan(SERVICE, users, seconds);
    plan.workload = Arc::new(Pings::new(vec![READ, WRITE], 0));
    let node = |(name, target): (&str, &str)| {
        let url = TargetUrl::parse(target).unwrap();
        Node {
            name: name.to_owned(),
            database: Arc::new(Null::open(&url, &ConnectSettings::default()).unwrap()),
            weight: 1,
            partitions: None,
        }
    };
    let list: Vec<_> = ["a", "b", "c"].into_iter().zip(targets).map(node).collect();
    let rules: Vec<_> = rules.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let types = &plan.workload.description().transactions;
    let routing = Routing::new(&list, &rules, types, 1).unwrap();
    let nodes = Nodes::new(list, routing);
    nodes.states.set_writable(1, false);
    nodes.states.set_writable(2, false);
    plan.nodes = Some(Arc::new(nodes));
    plan
}

/// Transactions completed on each node, by type.
fn completed(end: &RunEnd) -> Vec<Vec<u64>> {
    end.nodes.iter().map(|[run, _]| run.completed.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn reads_go_to_replicas_and_writes_to_the_primary_and_each_node_is_counted() {
    let end = run(routed(&[("reads", "round-robin:replicas")], 2, 4)).await;
    let by_node = completed(&end);
    assert_eq!((by_node[0][READ], by_node[1][WRITE], by_node[2][WRITE]), (0, 0, 0));
    assert!(by_node[1][READ].abs_diff(by_node[2][READ]) <= 2, "{by_node:?}");
    for transaction in [READ, WRITE] {
        let sum: u64 = by_node.iter().map(|of_node| of_node[transaction]).sum();
        assert_eq!(sum, end.run[transaction].counts.completed());
        assert!(sum > 0);
    }
    let times = end.nodes[0][0].total.response.as_ref().unwrap();
    assert_eq!(times.len(), by_node[0][WRITE]);
    assert!(
        end.nodes.iter().all(|[_, window]| window.connected == 2),
        "each user has a session on each"
    );
}

#[tokio::test(start_paused = true)]
async fn the_users_of_a_lost_node_move_to_others_and_return_when_it_is_back() {
    let plan = routed(&[("all", "user:b"), ("writes", "first")], 3, 4);
    let nodes = Arc::clone(plan.nodes.as_ref().unwrap());
    let losing = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert_eq!(nodes.states.lost(1), Some(Change::Lost));
    };
    let (end, ()) = tokio::join!(run(plan), losing);
    let by_node = completed(&end);
    assert!(by_node[0][READ] > 0, "they read at another node meanwhile");
    assert!(by_node[1][READ] > by_node[0][READ], "and at their own before and after: {by_node:?}");
    let changes: Vec<_> = end.node_changes.iter().map(|of| (of.node, of.change)).collect();
    assert_eq!(changes, [(1, Change::Back)], "nobody reported the loss in this test");
    assert_eq!(end.nodes[1][0].lost, 3, "sessions opened before the loss are replaced");
    assert_eq!(end.sessions, (3, 3));
    assert_eq!(end.violations, []);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_the_answer_of_a_silent_node() {
    // It answers nothing from 10 s to 19 s.
    let targets = [SERVICE, "null:?service=10ms&stall=9s/10s", SERVICE];
    let mut plan = routed_to(targets, &[("all", "user:b")], 3, 14);
    plan.workload = Arc::new(Pings::new(vec![READ], 0));
    plan.spec.limits.transaction = Duration::ZERO;
    let nodes = Arc::clone(plan.nodes.as_ref().unwrap());
    let falling_silent = async {
        tokio::time::sleep(Duration::from_millis(12_500)).await;
        nodes.states.lost(1);
        nodes.states.silent(1);
    };
    let (end, ()) = tokio::join!(run(plan), falling_silent);
    let failed = &end.run[READ].counts.failed;
    assert_eq!(failed[ErrorClass::Disconnected.index()], 3, "{failed:?}");
    assert!(completed(&end)[0][READ] > 50, "they go on at another node: {:?}", completed(&end));
    assert_eq!(end.violations, []);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_session_on_a_node_that_was_lost_meanwhile() {
    let targets = [SERVICE, "null:?connect=1h", SERVICE];
    let mut plan = routed_to(targets, &[("all", "first:a+b+c")], 3, 6);
    plan.workload = Arc::new(Pings::new(vec![READ], 0));
    let nodes = Arc::clone(plan.nodes.as_ref().unwrap());
    let losing = async {
        tokio::time::sleep(Duration::from_millis(1_000)).await;
        nodes.states.lost(0);
        tokio::time::sleep(Duration::from_millis(500)).await;
        nodes.states.lost(1);
    };
    let (end, ()) = tokio::join!(run(plan), losing);
    // Nothing is counted for a node without any transaction.
    let all: u64 = completed(&end).iter().flatten().sum();
    assert!(all > 3 * 350, "half a second without a node, not the limit of 10 s: {all}");
    assert_eq!(end.run[READ].counts.failures(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_full_node_is_not_lost_and_those_with_a_session_go_on() {
    // Room for the session that watches the node, and for two of the four users.
    let targets = [SERVICE, "null:?service=10ms&refuse=3", SERVICE];
    let mut plan = routed_to(targets, &[("all", "first:a+b")], 4, 5);
    plan.workload = Arc::new(Pings::new(vec![READ], 0));
    let nodes = Arc::clone(plan.nodes.as_ref().unwrap());
    let losing = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        // It answers all the time, so it has to be lost again and again.
        for _ in 0..350 {
            nodes.states.lost(0);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (end, ()) = tokio::join!(run(plan), losing);
    let of_b: Vec<_> = end.node_changes.iter().filter(|of| of.node == 1).collect();
    assert!(of_b.is_empty(), "{of_b:?}");
    assert_eq!(end.nodes[1][0].lost, 0, "nobody lost a session there");
    let by_node = completed(&end);
    assert!(by_node[1][READ] > 300, "two users for 3.5 s: {by_node:?}");
    assert_eq!(by_node[2].iter().sum::<u64>(), 0, "no rule sends them there: {by_node:?}");
    assert_eq!(end.away, 0, "all are back at the end");
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_makes_the_same_choices() {
    let random = || async { completed(&run(routed(&[("reads", "random")], 4, 3)).await) };
    assert_eq!(random().await, random().await);
}
