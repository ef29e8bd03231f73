//! The inputs of the key-value load: their mix, and keys that are unique without coordination.

use std::collections::{BTreeMap, HashSet};

use triphammer_core::Scale;
use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Workload, WorkloadSettings};
use triphammer_workloads::kv::{DELETE, INSERT, Input, Key, Kv, READ, SCAN, UPDATE, checksum};

const NOW: Timestamp = Timestamp::from_seconds(1);

fn workload(thousands: u64, options: &[(&str, &str)]) -> Kv {
    let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let scale = Scale::from_thousandths(thousands);
    Kv::new(&WorkloadSettings { scale, options, ..WorkloadSettings::default() }).unwrap()
}

/// The inputs of a user of a closed load.
fn of_user(workload: &Kv, id: u32, users: u32, count: usize) -> Vec<Input> {
    let mut rng = Rng::of(3, &[id.into()]);
    let mut user = workload.user(id, users, &mut rng);
    let mut input = || {
        let operation = workload.next(&mut user, &mut rng).unwrap();
        workload.draw(operation, &mut user, &mut rng, NOW)
    };
    (0..count).map(|_| input()).collect()
}

/// The inputs of the first arrivals of an open load, in any order.
fn of_arrivals(workload: &Kv, count: u64) -> Vec<Input> {
    let mut user = workload.user(0, 1, &mut Rng::of(0, &[]));
    let mut input = |number: u64| {
        let mut rng = Rng::of(4, &[number]);
        let operation = workload.arrive(&mut user, number, &mut rng).unwrap();
        workload.draw(operation, &mut user, &mut rng, NOW)
    };
    (0..count).rev().map(&mut input).collect()
}

fn keys(inputs: &[Input], operation: usize) -> Vec<Key> {
    let of = inputs.iter().filter(|input| input.operation == operation);
    of.flat_map(|input| input.keys.all().to_vec()).collect()
}

fn shares(inputs: &[Input]) -> BTreeMap<usize, usize> {
    let mut shares = BTreeMap::new();
    for input in inputs {
        *shares.entry(input.operation).or_default() += 1;
    }
    shares
}

#[test]
fn inserted_keys_are_unique_over_users_and_dense() {
    let workload = workload(1, &[("mix", "insert=1"), ("batch", "3")]);
    let users: Vec<_> = (0..5).map(|id| of_user(&workload, id, 5, 40)).collect();
    let inserted: Vec<Key> = users.iter().flat_map(|inputs| keys(inputs, INSERT)).collect();
    let unique: HashSet<Key> = inserted.iter().copied().collect();
    assert_eq!((inserted.len(), unique.len()), (600, 600));
    // All users did as much: no key is left out.
    assert!((1..=600).all(|n| unique.contains(&Key::AfterLast(n))));
}

#[test]
fn arrivals_insert_each_key_once_whoever_runs_them() {
    let workload = workload(1, &[("mix", "read=7,insert=2,delete=1")]);
    let inputs = of_arrivals(&workload, 1_000);
    let mut inserted = keys(&inputs, INSERT);
    inserted.sort_unstable();
    assert_eq!(inserted, (1..=200).map(Key::AfterLast).collect::<Vec<_>>());
    assert_eq!(shares(&inputs), [(READ, 700), (INSERT, 200), (DELETE, 100)].into());
    // Each deletes a row of its own, and one that an earlier arrival has inserted.
    let mut deleted = keys(&inputs, DELETE);
    deleted.sort_unstable();
    deleted.dedup();
    let own = deleted.iter().filter(|key| matches!(key, Key::AfterLast(1..=200))).count();
    assert!(deleted.len() >= 99 && own >= 98, "{own} of {}", deleted.len());
}

#[test]
fn a_user_deletes_its_own_rows_oldest_first_and_then_loaded_ones() {
    let workload = workload(1, &[("mix", "insert=1,delete=1")]);
    let mut own: Vec<Key> = Vec::new();
    let mut loaded = 0;
    for input in of_user(&workload, 1, 2, 500) {
        let key = input.keys.all()[0];
        match (input.operation, own.is_empty()) {
            (INSERT, _) => own.push(key),
            (_, false) => assert_eq!(key, own.remove(0)),
            (_, true) => {
                assert!(matches!(key, Key::Loaded(1..=1_000)), "{key:?}");
                loaded += 1;
            }
        }
    }
    assert!(loaded > 0);
}

#[test]
fn a_mix_keeps_its_shares_and_a_seed_its_inputs() {
    let ycsb_d = workload(10, &[("mix", "ycsb-d")]);
    let inputs = of_user(&ycsb_d, 0, 1, 10_000);
    assert_eq!(inputs, of_user(&ycsb_d, 0, 1, 10_000));
    assert!(shares(&inputs)[&INSERT].abs_diff(500) < 100, "{:?}", shares(&inputs));
    let mut open = shares(&of_arrivals(&ycsb_d, 2_000));
    assert_eq!((open.remove(&READ), open.remove(&INSERT)), (Some(1_900), Some(100)));
    let scans = of_user(&workload(10, &[("mix", "ycsb-e"), ("scan-rows", "7")]), 0, 1, 2_000);
    let lengths: HashSet<i64> =
        scans.iter().filter(|input| input.operation == SCAN).map(|input| input.rows).collect();
    assert_eq!(lengths, (1..=7).collect());
}

#[test]
fn the_newest_rows_are_those_that_were_inserted() {
    let workload = workload(1, &[("mix", "ycsb-d")]);
    let mut newest = 0;
    for input in of_user(&workload, 0, 1, 5_000) {
        let Key::AfterLast(key) = input.keys.all()[0] else { panic!("{input}") };
        if input.operation == INSERT {
            newest = key;
        }
        assert!((newest - 999..=newest).contains(&key), "{key} of {newest}");
    }
    assert!(newest > 200);
}

#[test]
fn a_batch_has_distinct_keys_in_ascending_order() {
    let workload = workload(1, &[("mix", "hammer:1/1"), ("keys", "zipf"), ("batch", "50")]);
    for input in of_user(&workload, 0, 1, 200) {
        assert!(matches!(input.operation, READ | UPDATE));
        let keys = input.keys.all();
        assert!(keys.len() <= 50 && keys.windows(2).all(|pair| pair[0] < pair[1]), "{input}");
    }
}

#[test]
fn the_rows_of_a_build_have_their_size_and_checksums() {
    let workload = workload(150, &[("payload-size", "33")]);
    let chunks = workload.chunks();
    assert_eq!(chunks.iter().map(|chunk| chunk.rows).collect::<Vec<_>>(), [100_000, 50_000]);
    let mut next = 1;
    for chunk in &chunks {
        let mut source = workload.rows(chunk, &chunk.tables[0]);
        let mut rows = Rows::new();
        loop {
            rows.reset(4);
            let more = source.fill(&mut rows);
            for row in rows.iter() {
                assert_eq!((row.int(0).unwrap(), row.int(1).unwrap()), (next, 1));
                let payload = row.text(3).unwrap();
                assert_eq!(
                    (payload.len(), row.int(2).unwrap()),
                    (33, checksum(payload.as_bytes()))
                );
                next += 1;
            }
            if !more {
                break;
            }
        }
    }
    assert_eq!(next, 150_001);
}
