//! Every kind of anomaly, planted into a correct history, is found; in the history itself nothing is.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use triphammer_isolation::plant::plant;
use triphammer_isolation::{
    Action, Anomaly, AnomalyKind, Fate, History, Key, Operation, Order, Scope, Transaction, check,
};

/// A history of transactions one after the other: appends to lists, pairs of registers of which one
/// is written, and sets that are read, added to and read again.
fn serial(transactions: u64, seed: u64) -> Vec<Transaction> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |limit: u64| random.next_u64() % limit;
    let mut state = std::collections::BTreeMap::<Key, Vec<u64>>::new();
    let mut history = Vec::new();
    for number in 0..transactions {
        let mut operations = Vec::new();
        let mut did = |key: Key, action: Action| {
            let values = state.entry(key).or_default();
            let shown = match action {
                Action::List(_) => Action::List(values.clone()),
                Action::Members(_) => Action::Members(values.clone()),
                Action::Read(_) => Action::Read(values.last().copied().unwrap_or(0)),
                Action::Append(value) | Action::Write(value) | Action::Insert(value) => {
                    values.push(value);
                    action
                }
            };
            operations.push(Operation { key, action: shown, at: number * 10 + 1 });
        };
        let value = |part: u64| number * 10 + part + 1;
        // New lists after eighty transactions, as in a load that retires its keys.
        let list = |at: u64| Key::list(number / 80 * 8 + at);
        match below(4) {
            0 => {
                let (a, b) = (list(below(4)), list(4 + below(4)));
                did(a, Action::List(Vec::new()));
                did(a, Action::Append(value(0)));
                did(b, Action::List(Vec::new()));
                did(b, Action::Append(value(1)));
                did(b, Action::Append(value(2)));
                did(a, Action::List(Vec::new()));
            }
            1 => {
                (0..8).for_each(|key| did(list(key), Action::List(Vec::new())));
                did(Key::set(number / 40), Action::Members(Vec::new()));
            }
            2 => {
                let pair = below(2) * 2;
                did(Key::register(pair), Action::Read(0));
                did(Key::register(pair + 1), Action::Read(0));
                did(Key::register(pair + below(2)), Action::Write(value(0)));
            }
            _ => {
                let set = Key::set(number / 40);
                did(set, Action::Members(Vec::new()));
                did(set, Action::Insert(value(0)));
                did(set, Action::Members(Vec::new()));
            }
        }
        history.push(Transaction {
            session: u32::try_from(below(4)).expect("it is small"),
            began: number * 10,
            ended: number * 10 + 9,
            fate: Fate::Committed,
            operations,
        });
    }
    history
}

fn kinds(history: &[Transaction], order: Order) -> Vec<AnomalyKind> {
    let history = &mut History::of(history);
    let report = check(history, Scope { order }).expect("values are unique");
    report.findings.into_keys().collect()
}

#[test]
fn each_kind_is_found_where_it_was_planted_and_nothing_where_not() {
    for seed in 0..4 {
        let history = serial(400, seed);
        assert_eq!(kinds(&history, Order::RealTime), [], "seed {seed}");
        for anomaly in Anomaly::ALL {
            let planted = plant(&history, anomaly);
            let planted =
                planted.unwrap_or_else(|| panic!("no place for {anomaly:?}, seed {seed}"));
            let found = kinds(&planted, Order::Dependencies);
            assert!(found.contains(&AnomalyKind::of(anomaly)), "{anomaly:?}: {found:?}");
        }
    }
}

#[test]
fn a_history_without_reads_has_no_place_for_an_anomaly() {
    let mut history = serial(100, 1);
    for transaction in &mut history {
        transaction.operations.retain(|operation| operation.action.writes());
    }
    for anomaly in Anomaly::ALL {
        assert_eq!(plant(&history, anomaly), None, "{anomaly:?}");
    }
}
