//! Small histories from engines with different faults.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use triphammer_isolation::{Action, Fate, Key, Model, Operation, Transaction};

/// How an engine isolates transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One transaction after the other.
    Serial,
    /// A read sees what is committed, or what its transaction wrote.
    ReadCommitted,
    /// A read sees what was committed when its transaction began; the first committer wins.
    Snapshot,
    /// The same, but nobody wins: commits overwrite each other.
    SnapshotWithoutConflicts,
    /// A read sees everything at once.
    ReadUncommitted,
    /// As `Serial`, but one read in the history is another.
    Forged,
}

impl Engine {
    pub const ALL: [Self; 6] = [
        Self::Serial,
        Self::ReadCommitted,
        Self::Snapshot,
        Self::SnapshotWithoutConflicts,
        Self::ReadUncommitted,
        Self::Forged,
    ];
}

const KEYS: [Key; 4] = [Key::list(1), Key::list(2), Key::register(1), Key::set(1)];

/// The values of all keys, in the order of [`KEYS`]: of a register, its versions, the last of which is
/// its value.
type State = [Vec<u64>; 4];

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.next_u64() % limit as u64).expect("it is below a small limit")
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// A transaction that runs.
struct Running {
    transaction: Transaction,
    /// The state when it began.
    snapshot: State,
    /// What it wrote: key and value, in order.
    written: Vec<(usize, u64)>,
    left: usize,
}

/// A history of two to `most` transactions; `is_final` adds one that reads every key after all.
pub fn simulate(seed: u64, engine: Engine, most: usize, is_final: bool) -> Vec<Transaction> {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
    let count = 2 + random.below(most - 1);
    let mut world = World { committed: State::default(), dirty: State::default(), next: 1, now: 0 };
    let mut waiting: Vec<Running> =
        (0..count).map(|session| world.transaction(session, &mut random)).collect();
    let (mut running, mut ended): (Vec<Running>, Vec<Transaction>) = (Vec::new(), Vec::new());
    let is_serial = matches!(engine, Engine::Serial | Engine::Forged);
    while !(waiting.is_empty() && running.is_empty()) {
        let may_begin =
            !waiting.is_empty() && (running.is_empty() || !is_serial && random.one_in(2));
        if may_begin {
            let mut begun = waiting.remove(0);
            begun.snapshot = world.committed.clone();
            begun.transaction.began = world.tick();
            running.push(begun);
            continue;
        }
        let at = random.below(running.len());
        if running[at].left > 0 {
            running[at].left -= 1;
            world.step(&mut running[at], engine, &mut random);
        } else {
            let done = running.remove(at);
            ended.push(world.end(done, engine, &mut random));
        }
    }
    if engine == Engine::Forged {
        forge(&mut ended, &mut random);
    }
    if is_final {
        ended.push(world.last(count));
    }
    ended
}

struct World {
    committed: State,
    /// With what is not committed.
    dirty: State,
    next: u64,
    now: u64,
}

impl World {
    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    fn transaction(&mut self, session: usize, random: &mut Random) -> Running {
        let transaction = Transaction {
            session: u32::try_from(session).expect("it is small"),
            began: 0,
            ended: 0,
            fate: Fate::Committed,
            operations: Vec::new(),
        };
        let left = 1 + random.below(4);
        Running { transaction, snapshot: State::default(), written: Vec::new(), left }
    }

    /// What a transaction sees of a key.
    fn seen(&self, running: &Running, key: usize, engine: Engine) -> Vec<u64> {
        let mut seen = match engine {
            Engine::ReadUncommitted => return self.dirty[key].clone(),
            Engine::Snapshot | Engine::SnapshotWithoutConflicts => running.snapshot[key].clone(),
            Engine::Serial | Engine::ReadCommitted | Engine::Forged => self.committed[key].clone(),
        };
        let own = running.written.iter().filter(|(of, _)| *of == key).map(|(_, value)| *value);
        seen.extend(own);
        seen
    }

    /// Reads or writes a key. A register is read before it is written.
    fn step(&mut self, running: &mut Running, engine: Engine, random: &mut Random) {
        let key = random.below(KEYS.len());
        let writes = random.one_in(2);
        let seen = self.seen(running, key, engine);
        let model = KEYS[key].model;
        if !writes || model == Model::Register {
            let action = match model {
                Model::List => Action::List(seen),
                Model::Register => Action::Read(seen.last().copied().unwrap_or(0)),
                Model::Set => Action::Members(seen),
            };
            self.did(running, key, action);
        }
        if writes {
            let value = self.next;
            self.next += 1;
            let action = match model {
                Model::List => Action::Append(value),
                Model::Register => Action::Write(value),
                Model::Set => Action::Insert(value),
            };
            self.did(running, key, action);
            running.written.push((key, value));
            self.dirty[key].push(value);
        }
    }

    fn did(&mut self, running: &mut Running, key: usize, action: Action) {
        let at = self.tick();
        running.transaction.operations.push(Operation { key: KEYS[key], action, at });
    }

    fn end(&mut self, mut done: Running, engine: Engine, random: &mut Random) -> Transaction {
        let is_conflict = |(key, _): &(usize, u64)| {
            KEYS[*key].model != Model::Set && self.committed[*key] != done.snapshot[*key]
        };
        let loses = engine == Engine::Snapshot && done.written.iter().any(is_conflict);
        let is_in_doubt = random.one_in(8);
        let aborts = loses || random.one_in(8);
        done.transaction.fate = match () {
            () if is_in_doubt => Fate::InDoubt,
            () if aborts => Fate::Aborted,
            () => Fate::Committed,
        };
        for (key, value) in &done.written {
            match aborts {
                true => self.dirty[*key].retain(|other| other != value),
                false => self.committed[*key].push(*value),
            }
        }
        done.transaction.ended = self.tick();
        done.transaction
    }

    /// Reads every key after all others.
    fn last(&mut self, session: usize) -> Transaction {
        let began = self.tick();
        let operation = |key: usize, at: u64| {
            let values = self.committed[key].clone();
            let action = match KEYS[key].model {
                Model::List => Action::List(values),
                Model::Register => Action::Read(values.last().copied().unwrap_or(0)),
                Model::Set => Action::Members(values),
            };
            Operation { key: KEYS[key], action, at }
        };
        let operations = (0..KEYS.len()).map(|key| operation(key, began)).collect();
        let session = u32::try_from(session).expect("it is small");
        Transaction { session, began, ended: self.tick(), fate: Fate::Committed, operations }
    }
}

/// Changes one read: a list or a set loses its last value, a register shows its first version.
fn forge(transactions: &mut [Transaction], random: &mut Random) {
    let at = random.below(transactions.len());
    for operation in &mut transactions[at].operations {
        match &mut operation.action {
            Action::List(list) | Action::Members(list) if !list.is_empty() => {
                list.pop();
                return;
            }
            Action::Read(version) if *version != 0 => {
                *version = 0;
                return;
            }
            _ => {}
        }
    }
}
