//! The checker's answers are those of a search through every order in which the transactions of a
//! small history could have been executed.

mod orders;
mod simulated;

use triphammer_isolation::{Consistency, History, Order, Promise, Report, Scope, check};

use simulated::{Engine, simulate};

/// What a history of this seed is like.
fn engine(seed: u64) -> Engine {
    Engine::ALL[usize::try_from(seed % Engine::ALL.len() as u64).expect("it is small")]
}

/// Few of six transactions: their orders take most of the time.
const fn most(seed: u64) -> usize {
    match seed % 7 {
        0 => 6,
        1 | 2 => 5,
        _ => 4,
    }
}

fn report(transactions: &[triphammer_isolation::Transaction]) -> Report {
    check(&mut History::of(transactions), Scope::default()).expect("values are unique")
}

/// Whether a report shows nothing that a model forbids.
fn holds(report: &Report, model: Consistency) -> bool {
    let promise = Promise { model, order: Order::Dependencies };
    !report.findings.keys().any(|kind| promise.forbids(*kind))
}

/// Compares the answers on histories of so many seeds; returns how many held and how many did not.
fn compare(seeds: std::ops::Range<u64>, is_final: bool) -> [[u64; 2]; 2] {
    let mut counts = [[0; 2]; 2];
    for seed in seeds {
        let history = simulate(seed, engine(seed), most(seed), is_final);
        let report = report(&history);
        let models = [Consistency::Serializable, Consistency::SnapshotIsolation];
        for (at, model) in models.into_iter().enumerate() {
            let truth = match model {
                Consistency::Serializable => orders::is_serializable(&history),
                _ => orders::is_snapshot_isolated(&history),
            };
            let said = holds(&report, model);
            let context =
                || format!("seed {seed}, {model:?}: {history:#?}\n{:#?}", report.findings);
            assert!(said || !truth, "false alarm: {}", context());
            assert!(!is_final || said == truth, "missed: {}", context());
            counts[at][usize::from(truth)] += 1;
        }
    }
    counts
}

/// Both answers must be frequent, or the comparison says little.
fn assert_both(counts: [[u64; 2]; 2], seeds: u64) {
    for [violated, kept] in counts {
        assert!(violated > seeds / 20 && kept > seeds / 20, "{counts:?} of {seeds}");
    }
}

#[test]
fn no_false_alarm_and_nothing_missed_where_a_last_transaction_reads_every_key() {
    assert_both(compare(0..6_000, true), 6_000);
}

#[test]
fn no_false_alarm_where_not_every_write_was_read() {
    assert_both(compare(1_000_000..1_003_000, false), 3_000);
}

#[test]
#[ignore = "two minutes of CPU; of the matrix"]
fn the_same_of_a_hundred_thousand_histories() {
    assert_both(compare(2_000_000..2_100_000, true), 100_000);
    assert_both(compare(3_000_000..3_040_000, false), 40_000);
}
