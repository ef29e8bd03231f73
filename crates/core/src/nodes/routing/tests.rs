use std::sync::Arc;

use super::*;

/// Five types as in TPROC-C: two of them only read.
fn types() -> Vec<TransactionDef> {
    let def = |name, access| TransactionDef { access, ..TransactionDef::new(name, name, 1) };
    vec![
        def("new_order", Access::Write),
        def("payment", Access::Write),
        def("status", Access::Read),
    ]
}

fn nodes() -> Vec<Node<()>> {
    let node = |name: &str, weight, partitions| Node {
        name: name.to_owned(),
        database: Arc::new(()),
        weight,
        partitions,
    };
    vec![node("a", 1, Some(1..=5)), node("b", 3, Some(6..=10)), node("c", 0, None)]
}

fn routing(rules: &[(&str, &str)]) -> Routing {
    let rules: Vec<_> = rules.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Routing::new(&nodes(), &rules, &types(), 7).unwrap()
}

/// A primary `a` with replicas `b` and `c`.
fn replicated() -> NodeStates {
    let states = NodeStates::new(3);
    states.set_writable(1, false);
    states.set_writable(2, false);
    states
}

fn to(transaction: usize, user: u32, nth: u64) -> Destination {
    Destination { transaction, origin: Origin::User { user, nth }, partition: None }
}

fn of_user(routing: &Routing, states: &NodeStates, transaction: usize) -> Vec<Option<usize>> {
    (0..4).map(|user| routing.route(to(transaction, user, 1), states)).collect()
}

#[test]
fn without_rules_writes_go_to_the_primary_and_reads_to_a_replica_of_the_user() {
    let (routing, states) = (routing(&[]), replicated());
    assert_eq!(of_user(&routing, &states, 0), [Some(0); 4]);
    assert_eq!(of_user(&routing, &states, 2), [1, 2, 1, 2].map(Some));
    assert_eq!((routing.likely(0, &states), routing.likely(1, &states)), (0b011, 0b101));
}

#[test]
fn the_most_specific_rule_counts() {
    let routing = routing(&[("payment", "last"), ("writes", "first"), ("all", "last:b")]);
    let states = NodeStates::new(3);
    let at = |transaction| routing.route(to(transaction, 0, 1), &states);
    assert_eq!([0, 1, 2].map(at), [0, 2, 1].map(Some));
}

#[test]
fn the_first_and_the_last_node_are_those_of_the_rule() {
    let routing = routing(&[("new_order", "first:c+a"), ("payment", "last:c+a")]);
    let states = NodeStates::new(3);
    let at = |transaction| routing.route(to(transaction, 0, 1), &states);
    assert_eq!([0, 1].map(at), [2, 0].map(Some));
    states.lost(2);
    assert_eq!([0, 1].map(at), [Some(0); 2]);
    states.lost(0);
    assert_eq!([0, 1].map(at), [Some(1); 2], "no node of the rule is there");
}

#[test]
fn users_of_a_lost_node_move_and_return() {
    let (routing, states) = (routing(&[]), replicated());
    states.lost(1);
    assert_eq!(of_user(&routing, &states, 2), [Some(2); 4]);
    states.lost(2);
    assert_eq!(of_user(&routing, &states, 2), [Some(0); 4], "the primary reads for lost replicas");
    states.answers(1, Some(false));
    states.answers(2, Some(false));
    assert_eq!(of_user(&routing, &states, 2), [1, 2, 1, 2].map(Some));
}

#[test]
fn writes_wait_for_a_node_that_accepts_them_and_follow_a_promotion() {
    let (routing, states) = (routing(&[]), replicated());
    states.lost(0);
    assert_eq!(of_user(&routing, &states, 0), [None; 4]);
    states.set_writable(1, true);
    assert_eq!(of_user(&routing, &states, 0), [Some(1); 4]);
    assert_eq!(of_user(&routing, &states, 2), [Some(2); 4]);
}

#[test]
fn turns_go_round_and_a_user_keeps_its_node() {
    let states = NodeStates::new(3);
    let round = routing(&[("all", "round-robin")]);
    let turns: Vec<_> = (1..=4).map(|nth| round.route(to(0, 1, nth), &states)).collect();
    assert_eq!(turns, [2, 0, 1, 2].map(Some));
    let fixed = routing(&[("all", "user:a+c")]);
    assert!((1..9).all(|nth| fixed.route(to(0, 1, nth), &states) == Some(2)));
    let arrivals = (0..3).map(|number| {
        let origin = Origin::Arrival(number);
        round.route(Destination { transaction: 0, origin, partition: None }, &states)
    });
    assert_eq!(arrivals.collect::<Vec<_>>(), [0, 1, 2].map(Some));
}

#[test]
fn random_choices_depend_on_the_seed_and_weights_on_their_ratio() {
    let states = NodeStates::new(3);
    for (rule, expected) in [("random", [1000, 1000, 1000]), ("weighted", [750, 2250, 0])] {
        let routing = routing(&[("all", rule)]);
        let mut seen = [0_u32; 3];
        for nth in 0..3000 {
            let node = routing.route(to(0, 0, nth), &states).unwrap();
            assert_eq!(routing.route(to(0, 0, nth), &states), Some(node));
            seen[node] += 1;
        }
        // Four standard deviations of a binomial count are below 110.
        assert!(seen.iter().zip(expected).all(|(n, e)| n.abs_diff(e) < 110), "{rule}: {seen:?}");
    }
}

#[test]
fn a_part_of_the_data_belongs_to_its_node() {
    let (routing, states) = (routing(&[("all", "partition")]), NodeStates::new(3));
    let of = |part| routing.route(Destination { partition: Some(part), ..to(0, 0, 1) }, &states);
    assert_eq!([1, 5, 6, 10].map(of), [0, 0, 1, 1].map(Some));
    assert_eq!([11, 12].map(of), [2, 0].map(Some), "a part of no node goes to any");
    states.lost(0);
    assert_eq!([1, 2].map(of), [2, 1].map(Some));
}

#[test]
fn the_node_with_the_fewest_transactions_is_next() {
    let (routing, states) = (routing(&[("all", "least-outstanding")]), NodeStates::new(3));
    for expected in [1, 2, 0] {
        let node = routing.route(to(0, 0, 1), &states).unwrap();
        assert_eq!(node, expected, "in the user's turn while all are alike");
        states.begin(node);
    }
    states.end(2, true);
    assert_eq!(routing.route(to(0, 0, 1), &states), Some(2));
}

#[test]
fn what_is_not_known_is_rejected() {
    for (key, rule, message) in [
        ("deliveries", "first", "route of `deliveries`: no such transaction type"),
        ("reads", "first:d", "route of reads: unknown node `d`"),
    ] {
        let rules = [(key.to_owned(), rule.to_owned())];
        let error = Routing::new(&nodes(), &rules, &types(), 7).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let mut idle = nodes();
    idle[1].weight = 0;
    for (rule, is_bad) in [("weighted", false), ("weighted:a+b", false), ("weighted:b", true)] {
        let rules = [("reads".to_owned(), rule.to_owned())];
        let made = Routing::new(&idle, &rules, &types(), 7);
        assert_eq!(made.is_err(), is_bad, "{rule}");
    }
}
