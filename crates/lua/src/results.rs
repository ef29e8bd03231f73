//! Rows that a script may still read. The last results are kept in the buffers into which the database's rows were read,
//! and become Lua values only when the script fetches them: most scripts never do. A result that the script has not used
//! at all gives its place to the next one; one that is being fetched is kept until it has been read or freed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::value::write_decimal;

/// Results that are kept without being fetched.
const KEPT: usize = 16;
/// Results that can be fetched in turns.
const OPEN_MAX: usize = 1024;
/// Bytes of rows above which a buffer is not reused.
const REUSED_BYTES_MAX: usize = 1024 * 1024;

/// A row as texts; `None` for NULL.
pub type Texts = Vec<Option<Vec<u8>>>;

/// A result, and how far it has been fetched.
#[derive(Debug, Default)]
struct ResultCursor {
    id: i64,
    rows: Rows,
    next: usize,
    is_used: bool,
}

impl ResultCursor {
    /// Whether the script has begun to fetch it, and has not reached its end.
    fn is_open(&self) -> bool {
        self.next > 0 && self.next < self.rows.len()
    }
}

/// The results of one state.
#[derive(Debug)]
pub struct Results {
    /// The last result: its id modulo `KEPT` is its place.
    last: i64,
    ring: [ResultCursor; KEPT],
    open: BTreeMap<i64, ResultCursor>,
    /// For the next result.
    spare: Rows,
}

impl Default for Results {
    fn default() -> Self {
        let ring = std::array::from_fn(|_| ResultCursor::default());
        Self { last: 0, ring, open: BTreeMap::new(), spare: Rows::new() }
    }
}

impl Results {
    fn slot(&mut self, id: i64) -> &mut ResultCursor {
        let place = usize::try_from(id.unsigned_abs() % KEPT as u64).expect("below KEPT");
        &mut self.ring[place]
    }

    /// A buffer for the next result: give it back with [`Results::keep`].
    pub fn buffer(&mut self) -> Rows {
        std::mem::take(&mut self.spare)
    }

    /// Keeps the rows of a result, and returns its id; a statement without columns has no result and no id.
    pub fn keep(&mut self, rows: Rows) -> Option<i64> {
        if rows.width() == 0 {
            self.spare = rows;
            return None;
        }
        let kept = i64::try_from(KEPT).expect("KEPT is small");
        let step = if self.slot(self.last).is_used { 1 } else { kept };
        let id = self.last + step;
        self.last = id;
        let old =
            std::mem::replace(self.slot(id), ResultCursor { id, rows, ..ResultCursor::default() });
        if old.is_open() {
            if self.open.len() >= OPEN_MAX {
                self.open.pop_first();
            }
            self.open.insert(old.id, old);
        } else if old.rows.bytes() <= REUSED_BYTES_MAX {
            self.spare = old.rows;
        }
        Some(id)
    }

    /// Notes that the script uses a result.
    pub fn used(&mut self, id: i64) {
        let slot = self.slot(id);
        slot.is_used |= slot.id == id;
    }

    /// The next row of a result, as texts; `None` at its end.
    ///
    /// # Errors
    /// When the result is no longer available.
    pub fn fetch(&mut self, id: i64) -> Result<Option<Texts>, String> {
        let found = match self.slot(id) {
            slot if slot.id == id => Some(slot),
            _ => self.open.get_mut(&id),
        };
        let Some(kept) = found else {
            return Err(format!(
                "the result is no longer available: fetch its first row within {KEPT} queries"
            ));
        };
        if kept.next >= kept.rows.len() {
            self.open.remove(&id);
            return Ok(None);
        }
        let row = kept.rows.row(kept.next);
        kept.next += 1;
        Ok(Some((0..row.len()).map(|column| text(&row, column)).collect()))
    }

    /// Forgets a result.
    pub fn free(&mut self, id: i64) {
        self.open.remove(&id);
        let slot = self.slot(id);
        if slot.id == id {
            slot.next = 0;
            slot.id = 0;
        }
    }
}

/// A field as text, as the databases' own client libraries show it; `None` for NULL.
fn text(row: &Row<'_>, column: usize) -> Option<Vec<u8>> {
    let mut out = String::new();
    let written = match row.cell(column) {
        Cell::Null => return None,
        Cell::Text(span) => return Some(row.text_bytes(span).to_vec()),
        Cell::Int(value) => write!(out, "{value}"),
        Cell::Float(value) => write!(out, "{value}"),
        Cell::Decimal { units, scale } => write_decimal(&mut out, units, scale),
        Cell::Decimal128 { place, scale } => write_decimal(&mut out, *row.units(place), scale),
        Cell::Timestamp(value) => write!(out, "{value}"),
        Cell::Date(value) => write!(out, "{value}"),
        Cell::List(_) => write!(out, "{}", row.show(column)),
    };
    written.ok().map(|()| out.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: i64, rows: usize) -> impl Fn(Rows) -> Rows {
        move |mut buffer| {
            buffer.reset(1);
            (0..rows).for_each(|_| buffer.int(value));
            buffer
        }
    }

    fn add(results: &mut Results, value: i64, rows: usize) -> i64 {
        let buffer = results.buffer();
        let id = results.keep(of(value, rows)(buffer)).unwrap();
        results.used(id);
        id
    }

    #[test]
    fn a_result_that_is_being_fetched_stays() {
        let mut results = Results::default();
        let open = add(&mut results, 7, 3);
        assert_eq!(results.fetch(open).unwrap(), Some(vec![Some(b"7".to_vec())]));
        let unread = add(&mut results, 8, 1);
        for value in 0..40 {
            add(&mut results, value, 1);
        }
        assert!(results.fetch(open).unwrap().is_some());
        assert!(results.fetch(open).unwrap().is_some());
        assert_eq!(results.fetch(open).unwrap(), None);
        let error = results.fetch(unread).unwrap_err();
        assert!(error.contains("no longer available"), "{error}");
    }

    #[test]
    fn a_result_that_is_not_used_gives_its_place_to_the_next() {
        let mut results = Results::default();
        let kept = add(&mut results, 7, 1);
        for _ in 0..100 {
            let buffer = results.buffer();
            results.keep(of(8, 1)(buffer)).unwrap();
            let mut changed = results.buffer();
            changed.reset(0);
            assert_eq!(results.keep(changed), None);
        }
        assert_eq!(results.fetch(kept).unwrap(), Some(vec![Some(b"7".to_vec())]));
    }

    #[test]
    fn a_freed_result_is_gone() {
        let mut results = Results::default();
        let id = add(&mut results, 1, 2);
        results.fetch(id).unwrap();
        results.free(id);
        assert!(results.fetch(id).is_err());
    }
}
