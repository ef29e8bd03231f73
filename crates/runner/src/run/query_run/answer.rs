//! An answer, reduced to its number of rows and a fingerprint while it is read.

use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_settings::fnv::Fnv1a;

/// Number of rows, and the sum of their hashes: the order of rows does not matter, because that of equal sort keys is
/// not defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub rows: u64,
    sum: u64,
}

impl Answer {
    /// Adds a batch of rows.
    pub fn add(&mut self, rows: &Rows) {
        for row in rows.iter() {
            self.rows += 1;
            self.sum = self.sum.wrapping_add(hash(row));
        }
    }

    /// The fingerprint as text.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.sum)
    }
}

/// The hash of a row's fields.
fn hash(row: Row<'_>) -> u64 {
    let mut hash = Fnv1a::new();
    for column in 0..row.len() {
        match row.cell(column) {
            Cell::Text(span) => hash.add(row.text_bytes(span).trim_ascii_end()),
            Cell::Null => hash.add(&[0xfe]),
            _ => hash.add(row.show(column).as_bytes()),
        }
    }
    hash.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(i64, Option<&str>)]) -> Rows {
        let mut all = Rows::new();
        all.reset(2);
        for (number, text) in rows {
            all.int(*number);
            match text {
                Some(text) => all.text(text),
                None => all.null(),
            }
        }
        all
    }

    fn answer(batches: &[&[(i64, Option<&str>)]]) -> Answer {
        let mut answer = Answer::default();
        batches.iter().for_each(|batch| answer.add(&rows(batch)));
        answer
    }

    #[test]
    fn a_fingerprint_is_that_of_the_rows_whatever_their_order_and_batches() {
        let one = answer(&[&[(1, Some("a")), (2, Some("b"))]]);
        assert_eq!(one, answer(&[&[(2, Some("b"))], &[(1, Some("a  "))]]));
        assert_eq!((one.rows, one.fingerprint().len()), (2, 16));
        for other in [
            answer(&[&[(1, Some("a"))]]),
            answer(&[&[(1, Some("b")), (2, Some("a"))]]),
            answer(&[&[(1, Some("a")), (2, None)]]),
            answer(&[&[(1, Some("a")), (2, Some(""))]]),
        ] {
            assert_ne!(one, other);
        }
        let long = |end| format!("{}{end}", "x".repeat(60));
        assert_ne!(answer(&[&[(1, Some(&long('a')))]]), answer(&[&[(1, Some(&long('b')))]]));
    }
}
