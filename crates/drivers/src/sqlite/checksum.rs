//! `triphammer_checksum(a, b, …)`: an aggregate function over rows, because SQLite has none that shows
//! whether two tables are equal.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use sha2::{Digest as _, Sha256};

/// Adds up a hash of each row, so that the order of rows does not matter.
struct Checksum;

impl Aggregate<u64, i64> for Checksum {
    fn init(&self, _: &mut Context<'_>) -> Result<u64> {
        Ok(0)
    }

    fn step(&self, context: &mut Context<'_>, sum: &mut u64) -> Result<()> {
        let mut row = Sha256::new();
        for column in 0..context.len() {
            // Each value with its type and its length, so that no two rows look alike.
            match context.get_raw(column) {
                ValueRef::Null => row.update([0]),
                ValueRef::Integer(value) => {
                    row.update([[1].as_slice(), &value.to_be_bytes()].concat())
                }
                ValueRef::Real(value) => {
                    row.update([[2].as_slice(), &value.to_be_bytes()].concat())
                }
                ValueRef::Text(bytes) => sized(&mut row, 3, bytes),
                ValueRef::Blob(bytes) => sized(&mut row, 4, bytes),
            }
        }
        let hash = row.finalize();
        let first = hash.first_chunk().expect("a hash has 32 bytes");
        *sum = sum.wrapping_add(u64::from_be_bytes(*first));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<u64>) -> Result<i64> {
        Ok(sum.unwrap_or_default().cast_signed())
    }
}

fn sized(row: &mut Sha256, kind: u8, bytes: &[u8]) {
    row.update([kind]);
    row.update((bytes.len() as u64).to_be_bytes());
    row.update(bytes);
}

/// Adds the function to a connection.
pub(super) fn add_function(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("triphammer_checksum", -1, flags, Checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_same_checksum_if_and_only_if_their_rows_are_equal() {
        let connection = Connection::open_in_memory().unwrap();
        add_function(&connection).unwrap();
        let of = |rows: &str| -> i64 {
            let sql = format!(
                "SELECT triphammer_checksum(a, b) FROM (SELECT NULL AS a, NULL AS b {rows})"
            );
            connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        let one = of("UNION ALL SELECT 1, 'x' UNION ALL SELECT 2, 'y'");
        assert_eq!(one, of("UNION ALL SELECT 2, 'y' UNION ALL SELECT 1, 'x'"));
        for other in [
            "UNION ALL SELECT 1, 'y' UNION ALL SELECT 2, 'x'",
            "UNION ALL SELECT 1, 'x'",
            "UNION ALL SELECT '1', 'x' UNION ALL SELECT 2, 'y'",
            "UNION ALL SELECT 1.0, 'x' UNION ALL SELECT 2, 'y'",
        ] {
            assert_ne!(one, of(other), "{other}");
        }
    }
}
