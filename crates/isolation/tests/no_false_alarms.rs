//! What looks like an anomaly and is none, or another one.

use triphammer_isolation::{
    Action, Anomaly, AnomalyKind, Fate, History, Key, Operation, Order, Scope, Transaction, check,
};

const LIST: Key = Key::list(1);
const SET: Key = Key::set(1);

/// The transaction of a client that runs from `began` to five later.
fn transaction(session: u32, began: u64, fate: Fate, actions: &[(Key, Action)]) -> Transaction {
    let operation = |(key, action): &(Key, Action)| Operation {
        key: *key,
        action: action.clone(),
        at: began + 1,
    };
    let operations = actions.iter().map(operation).collect();
    Transaction { session, began, ended: began + 5, fate, operations }
}

fn committed(session: u32, began: u64, actions: &[(Key, Action)]) -> Transaction {
    transaction(session, began, Fate::Committed, actions)
}

/// The kinds that are found, by the order of sessions and of real time.
fn found(history: &[Transaction]) -> Vec<AnomalyKind> {
    let [session, real_time] =
        [Order::Session, Order::RealTime].map(|order| found_by(history, order));
    assert_eq!(session, real_time);
    session
}

fn found_by(history: &[Transaction], order: Order) -> Vec<AnomalyKind> {
    let report = check(&mut History::of(history), Scope { order });
    report.expect("values are unique").findings.into_keys().collect()
}

fn list(values: &[u64]) -> (Key, Action) {
    (LIST, Action::List(values.to_vec()))
}

#[test]
fn a_commit_in_doubt_may_take_effect_after_its_client_began_another() {
    let history = [
        transaction(0, 10, Fate::InDoubt, &[(LIST, Action::Append(1))]),
        committed(0, 20, &[list(&[])]),
        committed(1, 30, &[list(&[1])]),
    ];
    assert_eq!(found(&history), []);
    // An acknowledged one may not.
    let mut acknowledged = history.clone();
    acknowledged[0].fate = Fate::Committed;
    let kinds = found_by(&acknowledged, Order::Session);
    assert!(kinds.contains(&AnomalyKind::of(Anomaly::ReadYourWrites)), "{kinds:?}");
}

#[test]
fn a_dirty_read_that_disappears_is_an_aborted_read_and_no_older_state() {
    let history = [
        committed(1, 10, &[(LIST, Action::Append(1))]),
        transaction(2, 20, Fate::Aborted, &[(LIST, Action::Append(2))]),
        committed(0, 22, &[list(&[1, 2])]),
        committed(0, 30, &[list(&[1])]),
        committed(3, 40, &[(LIST, Action::Append(3))]),
        committed(4, 50, &[list(&[1, 3])]),
    ];
    let kinds = found(&history);
    assert!(kinds.contains(&AnomalyKind::of(Anomaly::G1a)), "{kinds:?}");
    assert!(!kinds.contains(&AnomalyKind::of(Anomaly::MonotonicReads)), "{kinds:?}");
}

#[test]
fn a_new_member_between_two_reads_is_a_phantom_and_a_lost_one_is_not() {
    let members = |values: &[u64]| (SET, Action::Members(values.to_vec()));
    let inserts = |began, value| committed(1, began, &[(SET, Action::Insert(value))]);
    let twice = |second: &[u64]| committed(0, 20, &[members(&[1]), members(second)]);
    let phantom = [inserts(10, 1), twice(&[1, 2]), inserts(21, 2)];
    assert_eq!(found(&phantom), [AnomalyKind::of(Anomaly::GSinglePredicate)]);
    let kinds = found_by(&[inserts(10, 1), twice(&[])], Order::Session);
    assert!(kinds.contains(&AnomalyKind::of(Anomaly::Internal)), "{kinds:?}");
    let kinds = found_by(&[inserts(10, 1), committed(0, 20, &[members(&[1, 1])])], Order::Session);
    assert!(kinds.contains(&AnomalyKind::of(Anomaly::Duplicate)), "{kinds:?}");
}
