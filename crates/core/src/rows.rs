//! Rows on their way from a database (results) or to it (bulk load): one buffer that is filled,
//! read and cleared repeatedly, so that nothing is allocated per row once it has grown.

use crate::error::{DbError, ErrorClass};
use crate::value::{
    Date, Timestamp, parse_decimal, parse_decimal128, rescale, rescale128, write_decimal,
};

/// Maximum number of characters of a field that an error message shows.
const SHOWN_MAX: usize = 40;
/// One field. Text and lists lie in the buffer's arenas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// SQL NULL, of any type.
    Null,
    /// An integer of any width, or a boolean.
    Int(i64),
    /// A double-precision floating-point number.
    Float(f64),
    /// `units` × 10^-`scale`.
    Decimal {
        /// All digits as one integer.
        units: i64,
        /// Number of digits after the point.
        scale: u8,
    },
    /// A decimal that does not fit 64 bits.
    Decimal128 {
        /// Index in the arena of 128-bit units.
        place: u32,
        /// Number of digits after the point.
        scale: u8,
    },
    /// Date and time without a zone.
    Timestamp(Timestamp),
    /// Calendar date without a time.
    Date(Date),
    /// Text: a range of the text arena.
    Text(Span),
    /// A list: a range of the list arena.
    List(Span),
}

/// A range in an arena.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    start: u32,
    len: u32,
}

impl Span {
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    #[inline]
    fn between(start: usize, end: usize) -> Self {
        let fit =
            |n| u32::try_from(n).expect("a row buffer stays under 4 GiB: batches are bounded");
        Self { start: fit(start), len: fit(end - start) }
    }
}

/// A buffer of rows with a fixed number of columns, row by row.
#[derive(Debug, Default)]
pub struct Rows {
    width: usize,
    cells: Vec<Cell>,
    text: Vec<u8>,
    lists: Vec<Cell>,
    wide: Vec<i128>,
    /// Names of the columns, if requested.
    names: Option<Vec<String>>,
    /// Whether fields are the database's own texts.
    texts: bool,
}

impl Rows {
    /// Creates an empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty buffer that requests the names of the columns; drivers set them if they
    /// know them.
    #[must_use]
    pub fn with_names() -> Self {
        Self { names: Some(Vec::new()), ..Self::default() }
    }

    /// Creates an empty buffer whose fields are texts as the database writes them, whatever their types: what two
    /// databases answer can be compared so. Drivers that read other forms than text only leave the fields as they are.
    #[must_use]
    pub fn as_texts() -> Self {
        Self { texts: true, ..Self::default() }
    }

    /// Whether drivers should store fields as [texts](Rows::as_texts).
    #[must_use]
    #[inline]
    pub const fn wants_texts(&self) -> bool {
        self.texts
    }

    /// Whether drivers should [set](Rows::set_names) the names of the columns.
    #[must_use]
    pub const fn wants_names(&self) -> bool {
        self.names.is_some()
    }

    /// Sets the names of the columns if they are [requested](Rows::wants_names).
    pub fn set_names<'a>(&mut self, columns: impl IntoIterator<Item = &'a str>) {
        if let Some(names) = &mut self.names {
            names.clear();
            names.extend(columns.into_iter().map(str::to_owned));
        }
    }

    /// Adds the name of the next column.
    pub fn add_name(&mut self, column: &str) {
        if let Some(names) = &mut self.names {
            names.push(column.to_owned());
        }
    }

    /// Name of a column, if the driver set it; two columns may have the same name.
    #[must_use]
    pub fn name(&self, column: usize) -> Option<&str> {
        self.names.as_ref()?.get(column).map(String::as_str)
    }

    /// Empties the buffer and sets the number of columns, keeping its memory.
    #[inline]
    pub fn reset(&mut self, width: usize) {
        self.width = width;
        self.cells.clear();
        self.text.clear();
        self.lists.clear();
        self.wide.clear();
    }

    /// Adds a column to a buffer of one row, whose field follows.
    #[inline]
    pub fn widen(&mut self) {
        self.width += 1;
    }

    /// Number of columns per row.
    #[must_use]
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of complete rows.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or_default()
    }

    /// Whether there are no complete rows.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Memory in use, in bytes, to limit a batch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len()
            + (self.cells.len() + self.lists.len()) * size_of::<Cell>()
            + self.wide.len() * size_of::<i128>()
    }

    /// Appends an SQL NULL.
    #[inline]
    pub fn null(&mut self) {
        self.cells.push(Cell::Null);
    }

    /// Appends an integer field.
    #[inline]
    pub fn int(&mut self, value: i64) {
        self.cells.push(Cell::Int(value));
    }

    /// Appends a floating-point field.
    #[inline]
    pub fn float(&mut self, value: f64) {
        self.cells.push(Cell::Float(value));
    }

    /// Appends a decimal field: `units` × 10^-`scale`.
    #[inline]
    pub fn decimal(&mut self, units: i64, scale: u8) {
        self.cells.push(Cell::Decimal { units, scale });
    }

    /// Appends a decimal of up to 38 digits.
    ///
    /// # Panics
    /// When the buffer already holds 2^32 decimals that do not fit 64 bits; batches are limited
    /// well below that.
    pub fn decimal128(&mut self, units: i128, scale: u8) {
        if let Ok(units) = i64::try_from(units) {
            return self.decimal(units, scale);
        }
        let place = u32::try_from(self.wide.len()).expect("batches are bounded");
        self.wide.push(units);
        self.cells.push(Cell::Decimal128 { place, scale });
    }

    /// The units of a [`Cell::Decimal128`] of this buffer.
    ///
    /// # Panics
    /// When it is of another buffer.
    #[must_use]
    #[inline]
    pub fn units(&self, place: u32) -> &i128 {
        &self.wide[place as usize]
    }

    /// Appends a date field.
    pub fn date(&mut self, value: Date) {
        self.cells.push(Cell::Date(value));
    }

    /// Appends a date and time.
    #[inline]
    pub fn timestamp(&mut self, value: Timestamp) {
        self.cells.push(Cell::Timestamp(value));
    }

    /// Appends a text field.
    #[inline]
    pub fn text(&mut self, value: &str) {
        self.text_with(|out| out.extend_from_slice(value.as_bytes()));
    }

    /// Appends text that `write` adds to the end of the arena; it must be UTF-8.
    pub fn text_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.cells.push(Cell::Text(Span::between(start, self.text.len())));
    }

    /// Appends a list: `write` adds its elements to another buffer with the same methods.
    #[inline]
    pub fn list(&mut self, write: impl FnOnce(&mut Self)) {
        let cells = self.cells.len();
        write(self);
        let start = self.lists.len();
        // Not `drain`: with it a list of ten takes 100 ns instead of 20.
        self.lists.extend_from_slice(&self.cells[cells..]);
        self.cells.truncate(cells);
        self.cells.push(Cell::List(Span::between(start, self.lists.len())));
    }

    /// Whether the last row lacks fields: it was begun but not completed.
    #[must_use]
    pub fn has_partial_row(&self) -> bool {
        self.width != 0 && !self.cells.len().is_multiple_of(self.width)
    }

    /// Drops the fields of a row that was begun but not completed. Their text keeps its memory until
    /// the buffer is emptied.
    pub fn drop_partial_row(&mut self) {
        self.cells.truncate(self.len() * self.width);
    }

    /// Row `index`, from 0.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    #[inline]
    pub fn row(&self, index: usize) -> Row<'_> {
        let cells = &self.cells[index * self.width..(index + 1) * self.width];
        Row { rows: self, cells }
    }

    /// Returns the first row.
    ///
    /// # Errors
    /// When there is none; the message names `what` is missing.
    #[inline]
    pub fn first(&self, what: &str) -> Result<Row<'_>, DbError> {
        if self.is_empty() {
            return Err(DbError::new(ErrorClass::Other, format!("no row for {what}")));
        }
        Ok(self.row(0))
    }

    /// Iterates over all complete rows.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|index| self.row(index))
    }
}

/// One row or one list of a [`Rows`]. The reader specifies the type; text that parses as that type
/// is accepted, because some protocols and databases return everything as text.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    rows: &'a Rows,
    cells: &'a [Cell],
}

impl<'a> Row<'a> {
    /// Number of fields in the row.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether the row has no fields.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The field as stored in the buffer.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    #[inline]
    pub fn cell(&self, column: usize) -> Cell {
        self.cells[column]
    }

    fn get(&self, column: usize) -> Option<&'a Cell> {
        self.cells.get(column)
    }

    /// The bytes of a text field, which may not be UTF-8; `None` for NULL and for other fields.
    #[must_use]
    pub fn bytes(&self, column: usize) -> Option<&'a [u8]> {
        match self.get(column) {
            Some(Cell::Text(span)) => Some(&self.rows.text[span.range()]),
            _ => None,
        }
    }

    /// Whether the field is SQL NULL.
    #[must_use]
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.get(column), Some(Cell::Null))
    }

    fn mismatch(&self, column: usize, wanted: &str) -> DbError {
        let found =
            self.get(column).map_or_else(|| "no column".to_owned(), |cell| self.describe(cell));
        let message = format!("column {column}: expected {wanted}, got {found}");
        DbError::new(ErrorClass::Other, message)
    }

    /// Describes a field for people, or `nothing` if there is no such field.
    #[must_use]
    pub fn show(&self, column: usize) -> String {
        self.get(column).map_or_else(|| "nothing".to_owned(), |cell| self.describe(cell))
    }

    /// Describes a field for people: short, and without control characters.
    fn describe(&self, cell: &Cell) -> String {
        match *cell {
            Cell::Null => "NULL".to_owned(),
            Cell::Int(value) => value.to_string(),
            Cell::Float(value) => value.to_string(),
            Cell::Decimal { .. } | Cell::Decimal128 { .. } => {
                let mut text = String::new();
                match self.exact(cell).map(|(units, scale)| write_decimal(&mut text, units, scale))
                {
                    Some(Ok(())) => text,
                    _ => "a decimal".to_owned(),
                }
            }
            Cell::Timestamp(value) => value.to_string(),
            Cell::Date(value) => value.to_string(),
            Cell::Text(span) => {
                let text = String::from_utf8_lossy(&self.rows.text[span.range()]);
                let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
                let mut shown: String = text.chars().take(SHOWN_MAX).map(clean).collect();
                if text.chars().nth(SHOWN_MAX).is_some() {
                    shown.push('…');
                }
                format!("`{shown}`")
            }
            Cell::List(span) => format!("a list of {}", span.len),
        }
    }

    /// Reads a number exactly, as units and scale.
    fn exact(&self, cell: &Cell) -> Option<(i128, u8)> {
        match *cell {
            Cell::Int(value) => Some((value.into(), 0)),
            Cell::Decimal { units, scale } => Some((units.into(), scale)),
            Cell::Decimal128 { place, scale } => Some((*self.rows.units(place), scale)),
            _ => None,
        }
    }

    /// The units of a 128-bit decimal, for drivers that send them on.
    #[must_use]
    #[inline]
    pub fn units(&self, place: u32) -> &'a i128 {
        self.rows.units(place)
    }

    /// Reads an integer; decimals and floats without a fraction are accepted, and so is text.
    ///
    /// # Errors
    /// When the field is missing, NULL or of another type.
    #[inline]
    pub fn int(&self, column: usize) -> Result<i64, DbError> {
        match self.get(column) {
            Some(Cell::Int(value)) => Ok(*value),
            Some(Cell::Decimal { units, scale }) => {
                rescale(*units, *scale, 0).ok_or_else(|| self.mismatch(column, "an integer"))
            }
            Some(Cell::Decimal128 { .. }) => {
                self.decimal(column, 0).map_err(|_| self.mismatch(column, "an integer"))
            }
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
            Some(Cell::Float(value)) if value.fract() == 0.0 && value.abs() < 9e15 => {
                Ok(*value as i64)
            }
            Some(Cell::Text(_)) => {
                let text = self.text(column)?.trim();
                text.parse().map_err(|_| self.mismatch(column, "an integer"))
            }
            _ => Err(self.mismatch(column, "an integer")),
        }
    }

    /// Reads a 32-bit integer.
    ///
    /// # Errors
    /// As [`Row::int`], and when it does not fit.
    #[inline]
    pub fn int32(&self, column: usize) -> Result<i32, DbError> {
        i32::try_from(self.int(column)?).map_err(|_| self.mismatch(column, "a 32-bit integer"))
    }

    /// Reads a decimal as units at `scale`; integers are accepted, and floats are rounded half away
    /// from zero, for databases without decimals.
    ///
    /// # Errors
    /// When the field is missing, NULL, of another type, or has more digits than `scale`.
    #[inline]
    pub fn decimal(&self, column: usize, scale: u8) -> Result<i64, DbError> {
        let found = match self.get(column) {
            Some(Cell::Decimal { units, scale: from }) => rescale(*units, *from, scale),
            Some(Cell::Int(value)) => rescale(*value, 0, scale),
            Some(Cell::Decimal128 { place, scale: from }) => {
                let units = rescale128(*self.rows.units(*place), *from, scale);
                units.and_then(|units| i64::try_from(units).ok())
            }
            #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
            Some(Cell::Float(value)) => {
                let scaled = (value * 10f64.powi(i32::from(scale))).round();
                (scaled.abs() < 9e18).then_some(scaled as i64)
            }
            Some(Cell::Text(_)) => parse_decimal(self.text(column)?, scale),
            _ => None,
        };
        found.ok_or_else(|| self.mismatch(column, "a decimal that fits"))
    }

    /// Reads a decimal of up to 38 digits as units at `scale`, like [`Row::decimal`].
    ///
    /// # Errors
    /// When the field is missing, NULL, of another type, or has more digits than `scale`.
    pub fn decimal128(&self, column: usize, scale: u8) -> Result<i128, DbError> {
        let found = match self.get(column) {
            Some(Cell::Text(_)) => parse_decimal128(self.text(column)?, scale),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
            Some(Cell::Float(value)) => {
                let scaled = (value * 10f64.powi(i32::from(scale))).round();
                (scaled.abs() < 1e38).then_some(scaled as i128)
            }
            Some(cell) => self.exact(cell).and_then(|(units, from)| rescale128(units, from, scale)),
            None => None,
        };
        found.ok_or_else(|| self.mismatch(column, "a decimal that fits"))
    }

    /// Reads a floating-point number; integers and decimals are accepted.
    ///
    /// # Errors
    /// When the field is missing, NULL or of another type.
    #[expect(clippy::cast_precision_loss, reason = "requested as floating point")]
    #[inline]
    pub fn float(&self, column: usize) -> Result<f64, DbError> {
        match self.get(column) {
            Some(Cell::Float(value)) => Ok(*value),
            Some(Cell::Int(value)) => Ok(*value as f64),
            Some(Cell::Decimal { units, scale }) => {
                Ok(*units as f64 / 10f64.powi(i32::from(*scale)))
            }
            Some(Cell::Decimal128 { place, scale }) => {
                Ok(*self.rows.units(*place) as f64 / 10f64.powi(i32::from(*scale)))
            }
            Some(Cell::Text(_)) => {
                let text = self.text(column)?.trim();
                text.parse().map_err(|_| self.mismatch(column, "a number"))
            }
            _ => Err(self.mismatch(column, "a number")),
        }
    }

    /// Reads a text field.
    ///
    /// # Errors
    /// When the field is missing, NULL or of another type.
    #[inline]
    pub fn text(&self, column: usize) -> Result<&'a str, DbError> {
        match self.get(column) {
            Some(Cell::Text(span)) => std::str::from_utf8(&self.rows.text[span.range()])
                .map_err(|_| self.mismatch(column, "UTF-8 text")),
            _ => Err(self.mismatch(column, "text")),
        }
    }

    /// The bytes of a text cell of this buffer, for drivers that send them on.
    #[must_use]
    #[inline]
    pub fn text_bytes(&self, span: Span) -> &'a [u8] {
        &self.rows.text[span.range()]
    }

    /// Reads a date; a timestamp at midnight is accepted, and text of that form, for databases that
    /// store dates as text.
    ///
    /// # Errors
    /// When the field is missing, NULL or of another type.
    pub fn date(&self, column: usize) -> Result<Date, DbError> {
        let found = match self.get(column) {
            Some(Cell::Date(value)) => Some(*value),
            Some(Cell::Timestamp(at)) => Date::of(*at).filter(|date| date.midnight() == Some(*at)),
            Some(Cell::Text(_)) => Date::parse(self.text(column)?),
            _ => None,
        };
        found.ok_or_else(|| self.mismatch(column, "a date"))
    }

    /// Reads a date and time; a date is read as its midnight, and text of that form is accepted,
    /// for databases that store timestamps as text.
    ///
    /// # Errors
    /// When the field is missing, NULL or of another type.
    #[inline]
    pub fn timestamp(&self, column: usize) -> Result<Timestamp, DbError> {
        match self.get(column) {
            Some(Cell::Timestamp(value)) => Ok(*value),
            Some(Cell::Date(date)) => {
                date.midnight().ok_or_else(|| self.mismatch(column, "a timestamp"))
            }
            Some(Cell::Text(_)) => Timestamp::parse(self.text(column)?)
                .ok_or_else(|| self.mismatch(column, "a timestamp")),
            _ => Err(self.mismatch(column, "a timestamp")),
        }
    }

    /// Reads a list.
    ///
    /// # Errors
    /// When the field is missing, NULL or of another type.
    #[inline]
    pub fn list(&self, column: usize) -> Result<Row<'a>, DbError> {
        match self.get(column) {
            Some(Cell::List(span)) => {
                let cells = &self.rows.lists[span.range()];
                Ok(Row { rows: self.rows, cells })
            }
            _ => Err(self.mismatch(column, "a list")),
        }
    }

    /// Returns `None` when the field is NULL, else the result of `read`: `row.optional(3,
    /// Row::int)`.
    ///
    /// # Errors
    /// As `read`.
    pub fn optional<T>(
        &self,
        column: usize,
        read: impl FnOnce(&Self, usize) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        if self.is_null(column) { Ok(None) } else { read(self, column).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_what_was_written() {
        let mut rows = Rows::new();
        rows.reset(4);
        for n in 0..2 {
            rows.int(n);
            rows.text("näm€");
            rows.decimal(1250, 4);
            rows.list(|list| {
                list.text("a");
                list.null();
            });
        }
        assert_eq!(rows.len(), 2);
        let row = rows.row(1);
        assert_eq!(row.int(0).unwrap(), 1);
        assert_eq!(row.text(1).unwrap(), "näm€");
        assert_eq!(row.decimal(2, 4).unwrap(), 1250);
        let list = row.list(3).unwrap();
        assert_eq!((list.text(0).unwrap(), list.is_null(1)), ("a", true));
        let error = |result: Result<i64, DbError>| result.unwrap_err().to_string();
        assert_eq!(error(row.int(1)), "column 1: expected an integer, got `näm€`");
        assert_eq!(error(row.int(4)), "column 4: expected an integer, got no column");
        assert_eq!(error(list.int(1)), "column 1: expected an integer, got NULL");
        assert_eq!(
            error(row.decimal(3, 2)),
            "column 3: expected a decimal that fits, got a list of 2"
        );
    }

    #[test]
    fn decimals_beyond_64_bits_lie_in_an_arena_of_their_own() {
        let large = 10_i128.pow(30) + 5;
        let mut rows = Rows::new();
        rows.reset(2);
        for units in [large, -large, 7] {
            rows.decimal128(units, 6);
            rows.int(1);
        }
        let row = rows.row(1);
        assert_eq!(row.decimal128(0, 8).unwrap(), -100 * large);
        assert_eq!(row.float(0).unwrap(), -1e24);
        assert_eq!(rows.row(2).cell(0), Cell::Decimal { units: 7, scale: 6 });
        let error = row.decimal(0, 6).unwrap_err().to_string();
        let found = "-1000000000000000000000000.000005";
        assert_eq!(error, format!("column 0: expected a decimal that fits, got {found}"));
        assert_eq!(size_of::<Cell>(), 16, "a cell stays two words");
    }

    #[test]
    fn a_row_that_was_begun_can_be_dropped() {
        let mut rows = Rows::new();
        rows.reset(2);
        for value in [1, 2, 3] {
            rows.int(value);
        }
        rows.drop_partial_row();
        assert!(!rows.has_partial_row());
        rows.int(4);
        rows.text("five");
        assert_eq!((rows.len(), rows.row(1).int(0).unwrap()), (2, 4));
        assert_eq!(rows.row(1).text(1).unwrap(), "five");
    }

    #[test]
    fn a_date_is_its_midnight() {
        let date = Date::parse("2024-02-29").unwrap();
        let mut rows = Rows::new();
        rows.reset(1);
        rows.date(date);
        rows.timestamp(date.midnight().unwrap());
        rows.text("2024-02-29");
        rows.timestamp(Timestamp(date.midnight().unwrap().0 + 1));
        assert!((0..3).all(|row| rows.row(row).date(0).unwrap() == date));
        assert_eq!(rows.row(0).timestamp(0).unwrap(), date.midnight().unwrap());
        assert!(rows.row(3).date(0).is_err(), "no midnight");
    }

    #[test]
    fn names_are_kept_for_who_wants_them() {
        let mut rows = Rows::new();
        rows.set_names(["a"]);
        assert_eq!((rows.wants_names(), rows.name(0)), (false, None));
        let mut rows = Rows::with_names();
        rows.set_names(["a", "b"]);
        rows.reset(2);
        assert_eq!((rows.wants_names(), rows.name(1), rows.name(2)), (true, Some("b"), None));
    }

    #[test]
    fn floats_become_decimals_by_rounding() {
        let mut rows = Rows::new();
        rows.reset(1);
        rows.float(-10.005_000_000_1);
        assert_eq!(rows.row(0).decimal(0, 2).unwrap(), -1001);
        rows.float(f64::NAN);
        rows.text(&format!("\u{1b}[2J{}", "x".repeat(99)));
        let error = rows.row(1).decimal(0, 2).unwrap_err().to_string();
        assert_eq!(error, "column 0: expected a decimal that fits, got NaN");
        let error = rows.row(2).decimal(0, 2).unwrap_err().to_string();
        assert!(error.contains("[2Jxxx") && error.contains('…') && !error.contains('\u{1b}'));
        assert!(error.chars().count() < 100, "{error}");
    }
}
