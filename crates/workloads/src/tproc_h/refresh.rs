//! The refresh functions (clauses 2.5 to 2.7). RF1 inserts 1 / 1000 of the orders with their lines, RF2 deletes as
//! many. A refresh set is what one pair of them inserts and deletes.
//!
//! # Keys
//! The load uses the first 8 of each 32 keys. Sets take the other 24: sets 1 to 1000 the second 8 of the blocks, from
//! the first block on, sets 1001 to 2000 the third 8, sets 2001 to 3000 the last 8. Set 3001 has the keys of set 1.
//!
//! # Rows
//! The rows are those that the generator creates after the last order of the load, as with `dbgen -U`.
//!
//! # Rows of others
//! Tables that another program filled may have rows with the keys of a set: a generator that leaves out no keys has.
//! Before anything is deleted, [`foreign_row`] compares the rows that are there with those that RF1 inserts, which an
//! interrupted run may have left.
//!
//! # What RF2 deletes
//! RF2 of a set deletes what RF1 of that set inserted, not the oldest orders of the load (clause 2.7.3): the pair
//! leaves the data as it was, so runs can be repeated on the same data, and answers compared.

use std::collections::BTreeSet;

use triphammer_core::error::DbError;
use triphammer_core::session::{Access, RowSource, Session, StatementId};
use triphammer_core::sql::{StatementDef, param, statement};
use triphammer_core::value::ColumnType::BigInt;
use triphammer_core::value::Value;
use triphammer_core::workload::Statements;
use triphammer_core::{Rows, Scale};

use super::rows::{Piece, factor, refresh_rows};
use super::schema::refreshed_tables;
use super::text_pool::text_pool;

/// Sets after which keys repeat.
pub const REFRESH_SETS: u32 = 3 * SETS_PER_EIGHT;
/// Sets that together have as many orders as the load.
const SETS_PER_EIGHT: u32 = 1_000;

const LINES: &str = "rf2.lineitem";
const ORDERS: &str = "rf2.orders";

/// Statements that return rows with the keys of a set, as (key, number of the line or 0, reference): the table, and
/// the columns in which RF1 has these values.
const PRESENT: [(&str, &str, [Option<usize>; 3]); 2] = [
    ("rf.orders", "orders", [Some(0), None, Some(1)]),
    ("rf.lineitem", "lineitem", [Some(0), Some(3), Some(1)]),
];

/// The statements of the refresh functions.
pub(super) fn definitions() -> [StatementDef; 4] {
    let keys = [param("first", BigInt), param("last", BigInt), param("eight", BigInt)];
    [LINES, ORDERS, PRESENT[0].0, PRESENT[1].0].map(|name| statement(name, &keys))
}

/// The orders that one RF1 inserts and one RF2 deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshSet {
    scale: Scale,
    /// From 0 to [`REFRESH_SETS`] - 1.
    slot: u32,
}

impl RefreshSet {
    /// Set `set` of data of this size, from 1. Keys repeat after [`REFRESH_SETS`] sets.
    #[must_use]
    pub const fn new(scale: Scale, set: u32) -> Self {
        Self { scale, slot: set.wrapping_sub(1) % REFRESH_SETS }
    }

    /// Number of its orders: 1500 per SF.
    #[must_use]
    pub const fn orders(self) -> u64 {
        self.scale.thousandths() * 1_500 / 1_000
    }

    /// First and last key of its orders, and the first of the 8 that it uses of each 32.
    #[must_use]
    pub fn keys(self) -> (i64, i64, i64) {
        (self.key(0), self.key(self.orders() - 1), self.eight())
    }

    /// Key of its order number `nth`, from 0.
    fn key(self, nth: u64) -> i64 {
        let index = u64::from(self.slot % SETS_PER_EIGHT) * self.orders() + nth + 1;
        let in_block = i64::try_from((index / 8) * 32 + index % 8).expect("keys have 63 bits");
        in_block + self.eight()
    }

    fn eight(self) -> i64 {
        i64::from(8 * (1 + self.slot / SETS_PER_EIGHT))
    }

    /// The part of the generator's orders that this set takes its own from. An odd thousandth has half an order more
    /// than a set: there a set takes the first orders of a part of twice the size.
    fn piece(self) -> Piece {
        let parts = if self.scale.thousandths().is_multiple_of(2) { 1_000 } else { 500 };
        let part = parts + 1 + i32::try_from(self.slot).expect("below the number of sets");
        Piece { factor: factor(self.scale), part, parts }
    }

    /// Its rows of `table`, which is `orders` or `lineitem`.
    ///
    /// # Panics
    /// When it is another table.
    #[must_use]
    pub fn rows(self, table: &str) -> Box<dyn RowSource> {
        self.first_rows(table, self.orders())
    }

    /// The rows of its first orders.
    fn first_rows(self, table: &str, orders: u64) -> Box<dyn RowSource> {
        refresh_rows(table, self.piece(), orders, move |nth| self.key(nth))
    }

    /// The arguments of statements about its rows.
    fn args(self) -> [Value<'static>; 3] {
        let (first, last, eight) = self.keys();
        [first, last, eight].map(Value::Int)
    }
}

/// What identifies a row of a set: its values of [`PRESENT`].
type Identity = [i64; 3];

/// The rows of a table that RF1 of the set inserts.
fn inserted(set: RefreshSet, table: &str, columns: [Option<usize>; 3]) -> BTreeSet<Identity> {
    let (mut source, mut batch, mut all) = (set.rows(table), Rows::new(), BTreeSet::new());
    let width = refreshed_tables().iter().find(|t| t.name == table).map_or(0, |t| t.columns.len());
    loop {
        batch.reset(width);
        let more = source.fill(&mut batch);
        let value = |row: &triphammer_core::rows::Row<'_>, column: Option<usize>| {
            column.and_then(|column| row.int(column).ok()).unwrap_or_default()
        };
        all.extend(batch.iter().map(|row| columns.map(|column| value(&row, column))));
        if !more {
            return all;
        }
    }
}

/// Describes a row that RF2 of the set would delete and RF1 has not inserted; `None` if there is none.
///
/// # Errors
/// As the database reports.
pub async fn foreign_row<S: Session>(
    set: RefreshSet,
    statements: &mut Statements<'_>,
    session: &mut S,
) -> Result<Option<String>, DbError> {
    for (statement, table, columns) in PRESENT {
        let id = statements.prepare(session, statement).await?;
        let (mut own, mut foreign, mut failed) = (None, None, None);
        let mut each = |rows: &Rows| {
            for row in rows.iter() {
                let identity: Result<Vec<i64>, DbError> = (0..3).map(|n| row.int(n)).collect();
                let identity = match identity {
                    Ok(identity) => [identity[0], identity[1], identity[2]],
                    Err(error) => return failed = failed.take().or(Some(error)),
                };
                let own = own.get_or_insert_with(|| inserted(set, table, columns));
                if !own.contains(&identity) {
                    foreign.get_or_insert(identity[0]);
                }
            }
        };
        session.stream(id, &set.args(), &mut Rows::new(), &mut each).await?;
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(key) = foreign {
            return Ok(Some(format!(
                "{table} has a row of order {key}, a key that refresh sets use, with other values \
                 than theirs: RF2 would delete a row that RF1 has not inserted"
            )));
        }
    }
    Ok(None)
}

/// Tries RF1 with one order on tables that may have other types, keys and rights than those of a build, and rolls it
/// back.
///
/// # Errors
/// As the database reports, after which the caller rolls back.
pub async fn try_out<S: Session>(
    set: RefreshSet,
    prepared: &Refresh,
    session: &mut S,
) -> Result<(), DbError> {
    session.begin(Access::Write).await?;
    for statement in prepared.deletes {
        session.execute(statement, &set.args()).await?;
    }
    for table in &refreshed_tables() {
        session.load(table, &mut *set.first_rows(&table.name, 1)).await?;
    }
    session.rollback().await
}

/// RF1: inserts the set, in one transaction by the database's bulk path. Returns the number of rows. On an error the
/// caller rolls back.
///
/// # Errors
/// As the database reports.
pub async fn rf1<S: Session>(set: RefreshSet, session: &mut S) -> Result<u64, DbError> {
    session.begin(Access::Write).await?;
    let mut rows = 0;
    for table in &refreshed_tables() {
        rows += session.load(table, &mut *set.rows(&table.name)).await?;
    }
    session.commit().await?;
    Ok(rows)
}

/// What a session needs for the refresh functions.
#[derive(Clone, Copy, Debug)]
pub struct Refresh {
    /// Statements of RF2, in the order of execution.
    deletes: [StatementId; 2],
}

impl Refresh {
    /// Prepares the statements on `session`, and the text that new rows have their comments from: it takes a second
    /// that is not part of RF1.
    ///
    /// # Errors
    /// As the database reports.
    pub async fn prepare<S: Session>(
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        text_pool();
        let lines = statements.prepare(session, LINES).await?;
        let orders = statements.prepare(session, ORDERS).await?;
        Ok(Self { deletes: [lines, orders] })
    }
}

/// RF2: deletes the set, in one transaction. Returns the number of rows. On an error the caller rolls back.
///
/// # Errors
/// As the database reports.
pub async fn rf2<S: Session>(
    set: RefreshSet,
    prepared: &Refresh,
    session: &mut S,
) -> Result<u64, DbError> {
    session.begin(Access::Write).await?;
    let mut rows = 0;
    for statement in prepared.deletes {
        rows += session.execute(statement, &set.args()).await?;
    }
    session.commit().await?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use triphammer_core::rows::Cell;

    use super::*;

    /// Rows of a set as text.
    fn rows(set: RefreshSet, table: &str) -> Vec<Vec<String>> {
        let tables = refreshed_tables();
        let width = tables.iter().find(|t| t.name == table).unwrap().columns.len();
        let (mut source, mut batch, mut found) = (set.rows(table), Rows::new(), Vec::new());
        loop {
            batch.reset(width);
            let more = source.fill(&mut batch);
            for row in batch.iter() {
                let cell = |n| match row.cell(n) {
                    Cell::Decimal { units, .. } => units.to_string(),
                    Cell::Int(number) => number.to_string(),
                    Cell::Date(date) => date.to_string(),
                    _ => row.text(n).unwrap().to_owned(),
                };
                found.push((0..width).map(cell).collect());
            }
            if !more {
                return found;
            }
        }
    }

    fn keys(rows: &[Vec<String>]) -> Vec<i64> {
        rows.iter().map(|row| row[0].parse().unwrap()).collect()
    }

    /// The first orders of the first set at SF 0.01 as `dbgen -U` wrote them (test data of a public project), but for
    /// the point in prices.
    const OF_DBGEN: &str = "\
9|1385|F|17936658|1994-05-15|5-LOW|Clerk#000000639|0|slyly ironic foxes.\u{20}
10|292|F|28813813|1993-11-19|3-MEDIUM|Clerk#000000707|0|Tiresias above the blithely bold accounts sleep carefully
11|206|O|5113210|1996-03-06|4-NOT SPECIFIED|Clerk#000000976|0|around the quickly ironic platelets.\u{20}
12|641|O|21120761|1997-06-10|2-HIGH|Clerk#000000304|0|even requests use f
13|1478|O|9229342|1996-09-05|5-LOW|Clerk#000000741|0|ests after the slyly bold packages\u{20}
14|256|O|14588952|1995-07-23|3-MEDIUM|Clerk#000000223|0|maintain fluffily bold pinto beans. r
15|1282|O|12419072|1997-01-18|1-URGENT|Clerk#000000211|0|ly bold pinto beans doubt fu
40|799|F|18985552|1993-09-25|4-NOT SPECIFIED|Clerk#000000131|0|ithely regular theodolites. slyly express accounts wake \
slyly even, unusual p
41|905|F|4170563|1995-01-24|2-HIGH|Clerk#000000265|0|ole slyly along the furiously bold packages. enticing,
42|965|F|4610099|1995-01-13|1-URGENT|Clerk#000000544|0| furiously unusual ideas\u{20}";

    #[test]
    fn the_first_set_begins_with_the_orders_of_dbgen() {
        let made = rows(RefreshSet::new(Scale::from_thousandths(10), 1), "orders");
        let made = made.iter().map(|row| row.join("|")).take(10);
        assert_eq!(made.collect::<Vec<_>>(), OF_DBGEN.lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_set_has_its_orders_with_one_to_seven_lines_each() {
        for (thousandths, set, orders) in [(10, 1, 15), (11, 2, 16), (1_000, 1_000, 1_500)] {
            let set = RefreshSet::new(Scale::from_thousandths(thousandths), set);
            let (made, lines) = (keys(&rows(set, "orders")), keys(&rows(set, "lineitem")));
            assert_eq!((made.len(), set.orders()), (orders, orders as u64), "{thousandths}");
            let (first, last, eight) = set.keys();
            assert_eq!((made[0], made[orders - 1]), (first, last));
            for key in &made {
                assert!((eight..eight + 8).contains(&(key % 32)), "{key}");
                let count = lines.iter().filter(|line| *line == key).count();
                assert!((1..=7).contains(&count), "{key} has {count} lines");
            }
            let (ours, theirs) = (BTreeSet::from_iter(made), BTreeSet::from_iter(lines));
            assert_eq!(ours, theirs, "{thousandths}");
        }
    }

    #[test]
    fn sets_share_no_key_with_each_other_or_the_load_until_they_repeat() {
        for thousandths in [10, 11] {
            let scale = Scale::from_thousandths(thousandths);
            let of = |set| RefreshSet::new(scale, set);
            let mut all = BTreeSet::new();
            let mut count = 0;
            for set in 1..=REFRESH_SETS {
                let made = (0..of(set).orders()).map(|nth| of(set).key(nth));
                all.extend(made);
                count += of(set).orders();
            }
            assert_eq!(all.len() as u64, count, "{thousandths}");
            assert!(all.iter().all(|key| key % 32 >= 8), "{thousandths}");
            let loaded = i64::try_from(thousandths * 1_500 * 4).unwrap();
            assert!(all.iter().all(|key| (1..=loaded + 32).contains(key)), "{thousandths}");
            assert_eq!(of(REFRESH_SETS + 1), of(1));
        }
    }
}
