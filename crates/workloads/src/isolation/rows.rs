//! Tables and rows: their numbers in an epoch, and the statements behind what was recorded.

use std::sync::{Arc, LazyLock};

use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;
use triphammer_core::sql::{BoundStatement, StatementCatalogue};
use triphammer_core::value::ColumnType::{BigInt, Text};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_isolation::{Action, Key, Model, Operation, Transaction};

use crate::BATCH_BYTES;

/// Numbers of rows in an epoch.
const EPOCH: u64 = 1_000_000;
/// Bits of a register's version in its value: more versions than any run writes.
const VERSION_BITS: u32 = 40;
/// Where the registers of pairs begin.
const PAIRS: u64 = 500_000;
/// Sets of an epoch: more than anybody fills.
const SETS: u64 = EPOCH;

static TABLES: LazyLock<Arc<[TableDef]>> = LazyLock::new(|| {
    [
        table("triphammer_isolation_list", [column("id", BigInt), column("elements", Text)]),
        table(
            "triphammer_isolation_register",
            [column("id", BigInt), column("version", BigInt), column("amount", BigInt)],
        ),
        table("triphammer_isolation_set", [column("grp", BigInt), column("member", BigInt)]),
    ]
    .into()
});

/// The tables of the workload.
pub(super) fn tables() -> Arc<[TableDef]> {
    Arc::clone(&TABLES)
}

pub(super) const fn list(epoch: u64, place: u32) -> Key {
    Key::list(epoch * EPOCH + place as u64)
}

pub(super) const fn counter(epoch: u64, place: u32) -> Key {
    Key::register(epoch * EPOCH + place as u64)
}

/// Both registers of a pair.
pub(super) const fn pair(epoch: u64, pair: u32) -> [Key; 2] {
    let first = epoch * EPOCH + PAIRS + 2 * pair as u64;
    [Key::register(first), Key::register(first + 1)]
}

/// A set of an epoch, by its number there.
pub(super) const fn set(epoch: u64, number: u64) -> Key {
    Key::set(epoch * EPOCH + number % SETS)
}

/// The epoch after the one of a row.
pub(super) const fn epoch_after(id: u64) -> u64 {
    id / EPOCH + 1
}

/// The rows of a table in an epoch. Sets are empty.
pub(super) fn rows(epoch: u64, table: usize, rows: u32) -> impl RowSource {
    let first = epoch * EPOCH;
    let of_lists = (0..u64::from(rows)).map(move |place| first + place);
    let of_pairs = (0..u64::from(rows / 2) * 2).map(move |place| first + PAIRS + place);
    let mut ids: Vec<u64> = match table {
        0 => of_lists.collect(),
        _ => of_lists.chain(of_pairs).collect(),
    };
    ids.reverse();
    move |out: &mut Rows| {
        while let Some(id) = ids.pop() {
            out.int(id.cast_signed());
            if table == 0 {
                out.text("");
            } else {
                out.int(0);
                out.int(0);
            }
            if out.bytes() >= BATCH_BYTES {
                return !ids.is_empty();
            }
        }
        false
    }
}

/// A row in words: `list 3`, `set 1`, without its epoch.
#[must_use]
pub fn describe_key(key: Key) -> String {
    let place = key.id % EPOCH;
    match key.model {
        Model::List => format!("list {place}"),
        Model::Register if place >= PAIRS => {
            let (pair, side) = ((place - PAIRS) / 2, place % 2);
            format!("pair {pair} {}", if side == 0 { "first" } else { "second" })
        }
        Model::Register => format!("counter {place}"),
        Model::Set => format!("set {place}"),
    }
}

/// The value of a register in a history: its version, which is unique, and its amount.
pub(super) const fn value_of(version: u64, amount: u64) -> u64 {
    amount << VERSION_BITS | version
}

/// Version and amount of a register's value.
const fn version_and_amount(value: u64) -> (u64, u64) {
    (value & ((1 << VERSION_BITS) - 1), value >> VERSION_BITS)
}

/// The statements of a recorded transaction with their values, each with what it returned.
#[must_use]
pub fn statements_of(
    transaction: &Transaction,
    catalogue: &StatementCatalogue,
) -> Vec<(String, String)> {
    let statement = |operation: &Operation| {
        let id = operation.key.id.to_string();
        let (name, values, result) = match &operation.action {
            Action::Append(value) => ("list.append", vec![format!("',{value}'"), id], None),
            Action::List(list) => ("list.read", vec![id], Some(shown(list))),
            Action::Write(value) => {
                let (version, amount) = version_and_amount(*value);
                ("register.write", vec![version.to_string(), amount.to_string(), id], None)
            }
            Action::Read(value) => {
                let (version, amount) = version_and_amount(*value);
                ("register.read", vec![id], Some(format!("version {version}, amount {amount}")))
            }
            Action::Insert(member) => ("set.insert", vec![id, member.to_string()], None),
            Action::Members(members) => ("set.read", vec![id], Some(shown(members))),
        };
        let sql = catalogue.statement(name).map(|statement| with_values(statement, &values));
        (sql.unwrap_or_else(|_| name.to_owned()), result.unwrap_or_else(|| "1 row".to_owned()))
    };
    transaction.operations.iter().map(statement).collect()
}

/// The SQL of a statement with values in the places of its parameters.
fn with_values(statement: &BoundStatement, values: &[String]) -> String {
    let mut sql = String::new();
    let mut order = statement.order.iter();
    let mut rest = statement.sql.trim();
    while let Some(at) = rest.find(['?', '$', '@', ':']) {
        let (before, placeholder) = rest.split_at(at);
        let after = placeholder[1..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        let value = order.next().and_then(|argument| values.get(*argument));
        sql.push_str(before);
        sql.push_str(value.map_or("?", String::as_str));
        rest = after;
    }
    sql.push_str(rest);
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(values: &[u64]) -> String {
    let texts: Vec<String> = values.iter().map(u64::to_string).collect();
    match texts.as_slice() {
        [] => "nothing".to_owned(),
        texts => texts.join(" "),
    }
}
