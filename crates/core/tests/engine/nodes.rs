//! Runs on several nodes: where transactions go, what is counted per node, and that a lost node's
//! users return.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::engine::{RunEnd, RunPlan};
use triphammer_core::nodes::{Change, Node, Nodes, Routing};
use triphammer_core::workload::Workload;
use triphammer_drivers::null::Null;
use triphammer_drivers::{ConnectSettings, TargetUrl};

use crate::pings::{Pings, READ, WRITE, plan};
use crate::run;

/// A plan for nodes `a`, `b` and `c`, of which only `a` accepts writes.
fn routed(rules: &[(&str, &str)], users: u32, seconds: u64) -> RunPlan<Pings, Null> {
    let mut plan = plan("null:?service=10ms", users, seconds);
    plan.workload = Arc::new(Pings::new(vec![READ, WRITE], 0));
    let url = TargetUrl::parse("null:?service=10ms").unwrap();
    let node = |name: &str| Node {
        name: name.to_owned(),
        database: Arc::new(Null::open(&url, &ConnectSettings::default()).unwrap()),
        weight: 1,
        partitions: None,
    };
    let list: Vec<_> = ["a", "b", "c"].map(node).into();
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
async fn the_same_seed_makes_the_same_choices() {
    let random = || async { completed(&run(routed(&[("reads", "random")], 4, 3)).await) };
    assert_eq!(random().await, random().await);
}
