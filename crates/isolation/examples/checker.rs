//! Measures the checker alone: generates a serial history of appends and reads of lists that retire after
//! 64 appends, and checks it at once.
//!
//!     cargo run --release -p triphammer-isolation --example checker -- OPERATIONS

use std::process::ExitCode;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use triphammer_isolation::{
    Action, Fate, History, Key, Operation, Order, Scope, Transaction, check,
};

/// Lists in use at a time.
const LISTS: u64 = 1_000;
/// Appends after which a list is followed by a new one.
const ELEMENTS: usize = 64;
/// Operations of a transaction.
const EACH: u64 = 3;

fn main() -> ExitCode {
    let Some(operations) = std::env::args().nth(1).and_then(|text| text.parse::<u64>().ok()) else {
        eprintln!("usage: checker OPERATIONS");
        return ExitCode::from(2);
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut lists: Vec<(u64, Vec<u64>)> = (0..LISTS).map(|id| (id, Vec::new())).collect();
    let mut next = LISTS;
    let mut history = History::default();
    for number in 0..operations / EACH {
        let began = number * 10;
        let operations = (0..EACH).map(|part| {
            let bits = random.next_u64();
            let place = usize::try_from(bits % LISTS).expect("it is small");
            let (id, list) = &mut lists[place];
            let key = Key::list(*id);
            let action = if bits & (1 << 40) == 0 {
                Action::List(list.clone())
            } else {
                let value = number * EACH + part;
                list.push(value);
                Action::Append(value)
            };
            if list.len() == ELEMENTS {
                (*id, next) = (next, next + 1);
                list.clear();
            }
            Operation { key, action, at: began + 1 }
        });
        let operations = operations.collect();
        let session = u32::try_from(number % 16).expect("it is small");
        let fate = Fate::Committed;
        history.push(&Transaction { session, began, ended: began + 9, fate, operations });
    }
    match check(&mut history, Scope { order: Order::Session }) {
        Ok(report) if report.findings.is_empty() => {
            eprintln!("{} operations, no anomaly", report.operations);
            ExitCode::SUCCESS
        }
        Ok(report) => {
            eprintln!("found in a serial history: {:?}", report.findings.keys());
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}
