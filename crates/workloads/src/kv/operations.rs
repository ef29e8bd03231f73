//! The operations, each a transaction type, their inputs, and the sum that they change.

use std::fmt;
use std::sync::Arc;

use triphammer_core::random::Rng;
use triphammer_core::workload::{
    AuditDef, AuditTerm, CounterDef, MeasureDef, PrimaryMetric, TransactionDef,
};

use super::keys::Key;
use super::mix::OPERATION_COUNT;
use super::settings::Settings;

/// Index of reads in arrays and reports.
pub const READ: usize = 0;
/// Index of updates.
pub const UPDATE: usize = 1;
/// Index of inserts.
pub const INSERT: usize = 2;
/// Index of deletes.
pub const DELETE: usize = 3;
/// Index of scans.
pub const SCAN: usize = 4;
/// Index of read-modify-writes.
pub const READ_MODIFY_WRITE: usize = 5;

/// Share of the keys of reads above which a result warns that they do not exist.
const MISSES_MAX: f64 = 0.5;
/// Highest version of a row that a delete in doubt may have deleted.
const DELETED_VERSION_MAX: u32 = 1_000_000;

/// The operations with their weights.
pub fn transactions(settings: &Settings) -> Vec<TransactionDef> {
    let batch = settings.batch;
    let rows = |title: &'static str, per_transaction| CounterDef {
        name: "rows".into(),
        title: title.into(),
        per_transaction,
        warn_above: 1.0,
    };
    let misses = CounterDef {
        name: "misses".into(),
        title: "keys without a row".into(),
        per_transaction: batch,
        warn_above: MISSES_MAX,
    };
    let operations: [_; OPERATION_COUNT] = [
        (TransactionDef::new("read", "Read", 0).reading(), Some(misses)),
        (TransactionDef::new("update", "Update", 0), Some(rows("rows updated", batch))),
        (TransactionDef::new("insert", "Insert", 0), Some(rows("rows inserted", batch))),
        (TransactionDef::new("delete", "Delete", 0), None),
        (
            TransactionDef::new("scan", "Scan", 0).reading(),
            Some(rows("rows read", settings.scan_rows)),
        ),
        (
            TransactionDef::new("read_modify_write", "Read-modify-write", 0),
            Some(rows("rows updated", batch)),
        ),
    ];
    let weighted = operations.into_iter().zip(settings.mix.weights);
    weighted
        .map(|((operation, counter), weight)| TransactionDef { weight, counter, ..operation })
        .collect()
}

/// Operations per second.
pub fn primary_metric() -> PrimaryMetric {
    PrimaryMetric {
        name: "OPS".into(),
        meaning: "operations committed per second".into(),
        transactions: (0..OPERATION_COUNT).collect(),
        measure: MeasureDef::Rate { per_seconds: 1 },
        database_count: None,
        counted: Vec::new(),
    }
}

/// The sum of the rows' versions: 1 for each row, and 1 for each update of it.
pub fn audits(settings: &Settings) -> Vec<AuditDef> {
    let deletes = settings.mix.weights[DELETE] > 0;
    let most = settings.batch * if deletes { DELETED_VERSION_MAX } else { 1 };
    let types = [UPDATE, INSERT, DELETE, READ_MODIFY_WRITE];
    vec![AuditDef {
        id: "version".into(),
        title: "ΔΣ version = rows inserted + rows updated − Σ version of rows deleted".into(),
        statement: "audit.version".into(),
        terms: types.map(|operation| AuditTerm::counted(operation, most)).to_vec(),
        except: None,
    }]
}

/// The input of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Index of the operation.
    pub operation: usize,
    /// Its keys in ascending order, without duplicates.
    pub keys: Keys,
    /// Random numbers of the payloads that it writes.
    pub payload: u64,
    /// Number of rows that a scan reads.
    pub rows: i64,
}

/// The keys of an operation; one allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Keys {
    /// One key.
    One(Key),
    /// Several keys.
    Many(Arc<[Key]>),
}

impl Keys {
    /// Sorts keys, so that concurrent operations lock rows in the same order.
    pub fn many(mut keys: Vec<Key>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self::Many(keys.into())
    }

    /// All keys.
    #[must_use]
    pub fn all(&self) -> &[Key] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

impl Input {
    /// The random numbers of the payloads.
    pub fn payloads(&self) -> Rng {
        Rng::of(self.payload, &[])
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.keys.all().iter().map(ToString::to_string).collect();
        write!(f, "key = {}", keys.join(", "))?;
        if self.operation == SCAN { write!(f, "\nrows = {}", self.rows) } else { Ok(()) }
    }
}
