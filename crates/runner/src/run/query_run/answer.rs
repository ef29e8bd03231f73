//! An answer, reduced to its number of rows and a fingerprint while it is read.

use triphammer_core::rows::{Cell, Row, Rows};

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

/// FNV-1a over the fields, each ended by a byte that no text contains.
fn hash(row: Row<'_>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for column in 0..row.len() {
        match row.cell(column) {
            Cell::Text(span) => take(row.text_bytes(span).trim_ascii_end()),
            Cell::Null => take(&[0xfe]),
            _ => take(row.show(column).as_bytes()),
        }
    }
    hash
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
