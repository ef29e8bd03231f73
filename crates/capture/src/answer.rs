//! What a server answered to a statement, so that a replay can compare.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

use super::argument::Argument;
use super::sql::contains_ignoring_case;

/// Most values that are kept of the rows of an answer whose values the server made.
pub const MADE_MAX: usize = 1_000;
/// Longest such value, in bytes.
pub const MADE_BYTES_MAX: usize = 256;

/// Functions that return values that the server made.
pub const MAKERS: [&str; 4] = ["nextval", "lastval", "currval", "last_insert_id"];
/// The same in the words of the SQL standard, as MariaDB has them.
pub const MAKING_WORDS: [&str; 2] = ["next value for", "previous value for"];

/// Whether the rows of a statement are values that the server makes.
#[must_use]
pub fn makes_values(sql: &str) -> bool {
    let mut words = MAKERS.into_iter().chain(MAKING_WORDS).chain(["returning"]);
    words.any(|word| contains_ignoring_case(sql, word))
}

/// What a server answered to a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Number of rows that it returned, or that COPY transferred; `None` if not all were read.
    pub rows: Option<u64>,
    /// Number of rows that it changed.
    pub changed: Option<u64>,
    /// Code of its error: PostgreSQL's SQLSTATE, MySQL's error number.
    pub error: Option<String>,
    /// Hash of its rows; their order counts if the statement has an ORDER BY.
    pub hash: Option<u64>,
    /// Values that the server made, by row: those of RETURNING and of functions of sequences, or
    /// MySQL's last id.
    pub made: Vec<Vec<Argument>>,
    /// Time until the answer was complete, in microseconds.
    pub took_us: u64,
}

/// An answer as it was read, before it is known whether the order of its rows counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerAnswer {
    /// The answer, without its hash.
    pub answer: Answer,
    /// The hashes of its rows; `None` if one could not be read.
    pub hashes: Option<RowHashes>,
}

/// Hashes of the rows of an answer, in the text form of the database: SipHash-1-3 of each row, added up for
/// rows without an order, chained for ordered ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowHashes {
    unordered: u64,
    ordered: u64,
}

impl RowHashes {
    /// Adds the next row.
    pub const fn add(&mut self, row: u64) {
        self.unordered = self.unordered.wrapping_add(row);
        self.ordered = (self.ordered ^ row).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// The hash of all rows.
    #[must_use]
    pub const fn hash(&self, is_ordered: bool) -> u64 {
        if is_ordered { self.ordered } else { self.unordered }
    }
}

/// Hashes one row, field by field.
#[derive(Debug, Default)]
pub struct RowHasher(SipHasher13);

impl RowHasher {
    /// Adds the next field; `None` is NULL.
    pub fn field(&mut self, field: Option<&[u8]>) {
        // The length keeps fields apart, and NULL from an empty text.
        let length = field.map_or(u32::MAX, |field| u32::try_from(field.len()).unwrap_or(u32::MAX));
        self.0.write(&length.to_le_bytes());
        self.0.write(field.unwrap_or_default());
    }

    /// The hash of the row.
    #[must_use]
    pub fn finish(&self) -> u64 {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: &[Option<&str>]) -> u64 {
        let mut hasher = RowHasher::default();
        fields.iter().for_each(|field| hasher.field(field.map(str::as_bytes)));
        hasher.finish()
    }

    #[test]
    fn the_order_of_rows_counts_only_if_they_are_ordered() {
        let (one, two) = (row(&[Some("1")]), row(&[Some("2")]));
        let of = |rows: &[u64]| {
            let mut hashes = RowHashes::default();
            rows.iter().for_each(|row| hashes.add(*row));
            hashes
        };
        let (forth, back) = (of(&[one, two]), of(&[two, one]));
        assert_eq!(forth.hash(false), back.hash(false));
        assert_ne!(forth.hash(true), back.hash(true));
        assert_ne!(of(&[one, one]).hash(false), of(&[two, two]).hash(false));
    }

    #[test]
    fn fields_are_kept_apart() {
        let rows = [
            row(&[Some("ab"), Some("c")]),
            row(&[Some("a"), Some("bc")]),
            row(&[None, Some("abc")]),
            row(&[Some(""), Some("abc")]),
        ];
        let different: std::collections::BTreeSet<u64> = rows.into();
        assert_eq!(different.len(), rows.len());
        // Recordings keep hashes: the function must never change.
        assert_eq!(row(&[Some("1"), None]), 5_608_420_154_438_132_740);
    }
}
