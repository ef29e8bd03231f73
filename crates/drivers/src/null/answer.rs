//! The answer language of the null database, described at the head of the module above: parsing it
//! when a statement is prepared, and generating rows from it when the statement runs.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::Rows;
use triphammer_core::sql::BoundStatement;
use triphammer_core::value::{ColumnType, Timestamp, Value, hex, parse_decimal};

/// The answer to a statement.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    kinds: Vec<RowPattern>,
    touched: Option<Count>,
    width: usize,
}

/// Rows generated in the same way.
#[derive(Debug, PartialEq)]
struct RowPattern {
    count: Count,
    values: Vec<Expr>,
}

/// Number of rows, or of elements of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    Fixed(u64),
    /// As many as this list argument has elements.
    Each(usize),
}

#[derive(Clone, Debug, PartialEq)]
enum Expr {
    Null,
    Int(i64),
    Float(f64),
    Decimal {
        units: i64,
        scale: u8,
    },
    Text(Box<str>),
    Timestamp(Timestamp),
    /// The argument at this index.
    Argument(usize),
    /// The element of the list argument at this index.
    Item(usize),
    /// Number of the row or element, from 1.
    Row,
    List(List),
}

#[derive(Clone, Debug, PartialEq)]
enum List {
    Constants(Vec<Expr>),
    Repeated(Count, Box<Expr>),
}

impl Answer {
    /// The answer to a statement: parsed if it is in the answer language; any other text is SQL
    /// that returns no rows and affects one.
    pub(super) fn of(statement: &BoundStatement) -> Result<Self, DbError> {
        let first = statement.sql.trim_start().split(|c: char| !c.is_alphabetic()).next();
        let first = first.unwrap_or_default();
        if !matches!(first, "rows" | "none" | "touched") {
            return Ok(Self { kinds: Vec::new(), touched: Some(Count::Fixed(1)), width: 0 });
        }
        let mut parser = Parser { statement, rest: &statement.sql, placeholders: 0 };
        parser.answer().map_err(|wanted| {
            let place = parser.rest.lines().next().unwrap_or_default();
            let place = if place.is_empty() { "its end" } else { place };
            let message = format!("answer of `{}`: {wanted} at: {place}", statement.name);
            DbError::new(ErrorClass::Unsupported, message)
        })
    }

    /// Number of affected rows that `execute` returns.
    pub(super) fn touched(&self, args: &[Value<'_>]) -> Result<u64, DbError> {
        match self.touched {
            Some(count) => count.of(args),
            None => self.kinds.iter().map(|kind| kind.count.of(args)).sum(),
        }
    }

    /// Writes all rows.
    #[inline]
    pub(super) fn write(&self, args: &[Value<'_>], rows: &mut Rows) -> Result<(), DbError> {
        rows.reset(self.width);
        for kind in &self.kinds {
            for place in 0..kind.count.of(args)? {
                for value in &kind.values {
                    value.write(place, args, rows)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the rows in batches of about `bytes` bytes.
    pub(super) fn stream(
        &self,
        args: &[Value<'_>],
        bytes: usize,
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        batch.reset(self.width);
        for kind in &self.kinds {
            for place in 0..kind.count.of(args)? {
                for value in &kind.values {
                    value.write(place, args, batch)?;
                }
                if batch.bytes() >= bytes {
                    each(batch);
                    batch.reset(self.width);
                }
            }
        }
        if !batch.is_empty() {
            each(batch);
        }
        Ok(())
    }
}

impl Count {
    fn of(self, args: &[Value<'_>]) -> Result<u64, DbError> {
        match self {
            Self::Fixed(count) => Ok(count),
            Self::Each(argument) => Ok(list_argument(args, argument)?.len() as u64),
        }
    }
}

fn list_argument<'a>(args: &[Value<'a>], place: usize) -> Result<&'a [i32], DbError> {
    match args.get(place) {
        Some(Value::Ints(list)) => Ok(list),
        other => {
            let message = format!("argument {} is {other:?}, not a list", place + 1);
            Err(DbError::new(ErrorClass::Other, message))
        }
    }
}

impl Expr {
    #[inline]
    fn write(&self, place: u64, args: &[Value<'_>], rows: &mut Rows) -> Result<(), DbError> {
        match self {
            Self::Null => rows.null(),
            Self::Int(value) => rows.int(*value),
            Self::Float(value) => rows.float(*value),
            Self::Decimal { units, scale } => rows.decimal(*units, *scale),
            Self::Text(value) => rows.text(value),
            Self::Timestamp(value) => rows.timestamp(*value),
            Self::Row => rows.int(i64::try_from(place + 1).unwrap_or(i64::MAX)),
            Self::Argument(argument) => return write_argument(args, *argument, rows),
            Self::Item(argument) => return write_item(args, *argument, place, rows),
            Self::List(list) => return write_list(list, args, rows),
        }
        Ok(())
    }
}

fn write_argument(args: &[Value<'_>], place: usize, rows: &mut Rows) -> Result<(), DbError> {
    match args.get(place) {
        Some(Value::Null) => rows.null(),
        Some(Value::Int(value)) => rows.int(*value),
        Some(Value::Float(value)) => rows.float(*value),
        Some(Value::Decimal { units, scale }) => rows.decimal(*units, *scale),
        Some(Value::Decimal128 { units, scale }) => rows.decimal128(**units, *scale),
        Some(Value::Date(value)) => rows.date(*value),
        Some(Value::Text(value)) => rows.text(value),
        Some(Value::Bytes(value)) => rows.text(&hex(value)),
        Some(Value::Timestamp(value)) => rows.timestamp(*value),
        Some(Value::Ints(values)) => {
            rows.list(|list| values.iter().for_each(|value| list.int(i64::from(*value))));
        }
        None => {
            let message = format!("argument {} is missing", place + 1);
            return Err(DbError::new(ErrorClass::Other, message));
        }
    }
    Ok(())
}

fn write_item(
    args: &[Value<'_>],
    argument: usize,
    place: u64,
    rows: &mut Rows,
) -> Result<(), DbError> {
    let list = list_argument(args, argument)?;
    let item = usize::try_from(place).ok().and_then(|place| list.get(place)).ok_or_else(|| {
        let message = format!("argument {} has no element {}", argument + 1, place + 1);
        DbError::new(ErrorClass::Other, message)
    })?;
    rows.int(i64::from(*item));
    Ok(())
}

fn write_list(list: &List, args: &[Value<'_>], rows: &mut Rows) -> Result<(), DbError> {
    let mut done = Ok(());
    match list {
        List::Constants(values) => rows.list(|rows| {
            done = values.iter().try_for_each(|value| value.write(0, args, rows));
        }),
        List::Repeated(count, value) => {
            let count = count.of(args)?;
            rows.list(|rows| done = write_repeated(value, count, args, rows));
        }
    }
    done
}

/// Writes a value `count` times. Constants are distinguished once rather than for each element,
/// because a workload's procedures answer mostly with long lists of them.
fn write_repeated(
    value: &Expr,
    count: u64,
    args: &[Value<'_>],
    rows: &mut Rows,
) -> Result<(), DbError> {
    match value {
        Expr::Int(value) => (0..count).for_each(|_| rows.int(*value)),
        Expr::Text(value) => (0..count).for_each(|_| rows.text(value)),
        Expr::Decimal { units, scale } => (0..count).for_each(|_| rows.decimal(*units, *scale)),
        other => return (0..count).try_for_each(|place| other.write(place, args, rows)),
    }
    Ok(())
}

/// The type in front of a constant.
#[derive(Clone, Copy)]
enum Kinds {
    Int,
    Float,
    Text,
    Timestamp,
    Decimal(u8),
}

/// Parses one answer; an error describes what was expected at the start of `rest`.
struct Parser<'a> {
    statement: &'a BoundStatement,
    rest: &'a str,
    /// Number of unnumbered placeholders read so far.
    placeholders: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl Parser<'_> {
    fn answer(&mut self) -> Parsed<Answer> {
        let mut answer = Answer { kinds: Vec::new(), touched: None, width: 0 };
        loop {
            if self.rest.trim().is_empty() {
                self.rest = "";
                return Ok(answer);
            } else if self.takes_word("rows") {
                let kind = self.kind()?;
                if answer.kinds.iter().any(|other| other.values.len() != kind.values.len()) {
                    return Err("expected as many values as in the rows before");
                }
                answer.width = kind.values.len();
                answer.kinds.push(kind);
            } else if self.takes_word("touched") {
                answer.touched = Some(self.count()?);
            } else if self.takes_word("none") {
                answer.touched = Some(Count::Fixed(0));
            } else if self.takes_word("for") {
                self.argument()?;
                while self.takes(",") {
                    self.argument()?;
                }
            } else {
                return Err("expected `rows`, `touched`, `none` or `for`");
            }
        }
    }

    fn kind(&mut self) -> Parsed<RowPattern> {
        let count = self.count()?;
        if !self.takes(":") {
            return Err("expected `:` and the values");
        }
        let mut values = vec![self.value(true)?];
        while self.takes(",") {
            values.push(self.value(true)?);
        }
        Ok(RowPattern { count, values })
    }

    fn count(&mut self) -> Parsed<Count> {
        if self.takes_word("each") {
            return Ok(Count::Each(self.list_argument()?));
        }
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map(Count::Fixed).map_err(|_| "expected a number or `each :list`")
    }

    fn value(&mut self, lists: bool) -> Parsed<Expr> {
        if let Some(untyped) = self.untyped()? {
            return Ok(untyped);
        }
        let before = self.rest;
        let (kind, is_list) = match self.take_while(|c| c.is_ascii_lowercase()) {
            "int" => (Kinds::Int, false),
            "float" => (Kinds::Float, false),
            "text" => (Kinds::Text, false),
            "timestamp" => (Kinds::Timestamp, false),
            "decimal" => (Kinds::Decimal(self.scale()?), false),
            "ints" => (Kinds::Int, true),
            "floats" => (Kinds::Float, true),
            "texts" => (Kinds::Text, true),
            "timestamps" => (Kinds::Timestamp, true),
            "decimals" => (Kinds::Decimal(self.scale()?), true),
            _ => {
                self.rest = before;
                return Err("expected a value");
            }
        };
        if is_list && lists { self.list(kind).map(Expr::List) } else { self.constant(kind) }
    }

    /// Parses a value that needs no type in front.
    fn untyped(&mut self) -> Parsed<Option<Expr>> {
        let starts_argument = self.rest.trim_start().starts_with(['?', '$']);
        Ok(Some(if self.takes_word("null") {
            Expr::Null
        } else if self.takes_word("row") {
            Expr::Row
        } else if self.takes_word("item") {
            Expr::Item(self.list_argument()?)
        } else if starts_argument {
            Expr::Argument(self.argument()?)
        } else {
            return Ok(None);
        }))
    }

    fn list(&mut self, kind: Kinds) -> Parsed<List> {
        if !self.takes("[") {
            let count = self.count()?;
            if !self.takes_word("of") {
                return Err("expected `of` and a value");
            }
            let value = match self.untyped()? {
                Some(value) => value,
                None => self.constant(kind)?,
            };
            return Ok(List::Repeated(count, Box::new(value)));
        }
        let mut values = Vec::new();
        if self.takes("]") {
            return Ok(List::Constants(values));
        }
        loop {
            let null = self.takes_word("null");
            values.push(if null { Expr::Null } else { self.constant(kind)? });
            if self.takes("]") {
                return Ok(List::Constants(values));
            }
            if !self.takes(",") {
                return Err("expected `,` or `]`");
            }
        }
    }

    fn constant(&mut self, kind: Kinds) -> Parsed<Expr> {
        let before = self.rest;
        let read = match kind {
            Kinds::Text => return Ok(Expr::Text(self.quoted()?.into())),
            Kinds::Timestamp => Timestamp::parse(&self.quoted()?).map(Expr::Timestamp),
            Kinds::Int => self.number().parse().ok().map(Expr::Int),
            Kinds::Float => self.number().parse().ok().map(Expr::Float),
            Kinds::Decimal(scale) => {
                parse_decimal(self.number(), scale).map(|units| Expr::Decimal { units, scale })
            }
        };
        read.ok_or_else(|| {
            self.rest = before;
            "expected a constant of that type"
        })
    }

    fn number(&mut self) -> &str {
        self.take_while(|c| c.is_ascii_digit() || "+-.e".contains(c))
    }

    fn scale(&mut self) -> Parsed<u8> {
        let opened = self.takes("(");
        let digits = self.take_while(|c| c.is_ascii_digit()).parse();
        match digits {
            Ok(scale) if opened && scale <= 18 && self.takes(")") => Ok(scale),
            _ => Err("expected a scale from 0 to 18, such as `decimal(2)`"),
        }
    }

    /// Parses text in quotes; a quote inside is doubled.
    fn quoted(&mut self) -> Parsed<String> {
        const WANTED: &str = "expected text in quotes";
        let mut rest = self.rest.trim_start().strip_prefix('\'').ok_or(WANTED)?;
        let mut text = String::new();
        loop {
            let end = rest.find('\'').ok_or(WANTED)?;
            text.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            match rest.strip_prefix('\'') {
                Some(after) => {
                    text.push('\'');
                    rest = after;
                }
                None => break,
            }
        }
        self.rest = rest;
        Ok(text)
    }

    fn list_argument(&mut self) -> Parsed<usize> {
        let place = self.argument()?;
        match self.statement.params[place].param_type {
            ColumnType::IntList => Ok(place),
            _ => Err("expected a list parameter before"),
        }
    }

    /// Parses a placeholder; returns the index of its argument.
    fn argument(&mut self) -> Parsed<usize> {
        const WANTED: &str = "expected a parameter, such as `:w_id`";
        let rest = self.rest.trim_start();
        self.rest = rest.strip_prefix(['?', '$']).ok_or(WANTED)?;
        let digits = match self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            true => self.take_while(|c| c.is_ascii_digit()),
            false => "",
        };
        let place = if digits.is_empty() {
            self.placeholders += 1;
            self.statement.order.get(self.placeholders - 1).copied()
        } else {
            digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1))
        };
        place.filter(|place| *place < self.statement.params.len()).ok_or(WANTED)
    }

    fn takes(&mut self, mark: &str) -> bool {
        let Some(rest) = self.rest.trim_start().strip_prefix(mark) else { return false };
        self.rest = rest;
        true
    }

    fn takes_word(&mut self, word: &str) -> bool {
        match self.rest.trim_start().strip_prefix(word) {
            Some(rest) if !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let rest = self.rest.trim_start();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        &rest[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_core::sql::param;

    fn bound(sql: &str) -> BoundStatement {
        BoundStatement {
            name: "test".into(),
            sql: sql.into(),
            params: vec![param("w_id", ColumnType::Int), param("i_ids", ColumnType::IntList)],
            order: vec![1, 0],
        }
    }

    fn rows(sql: &str) -> Rows {
        let mut rows = Rows::new();
        let args = [Value::Int(7), Value::Ints(&[30, 10, 20])];
        Answer::of(&bound(sql)).unwrap().write(&args, &mut rows).unwrap();
        rows
    }

    #[test]
    fn constants_of_every_type_are_answered() {
        let rows = rows(
            "rows 2: int -5, float 0.5, decimal(4) 0.1000, text 'it''s, so',
                     timestamp '2026-01-01 00:00:00', null, row",
        );
        assert_eq!((rows.len(), rows.width()), (2, 7));
        let row = rows.row(1);
        assert_eq!(row.int(0).unwrap(), -5);
        assert_eq!(row.float(1).unwrap(), 0.5);
        assert_eq!(row.decimal(2, 4).unwrap(), 1000);
        assert_eq!(row.text(3).unwrap(), "it's, so");
        assert_eq!(row.timestamp(4).unwrap().to_string(), "2026-01-01 00:00:00");
        assert!(row.is_null(5));
        assert_eq!(row.int(6).unwrap(), 2);
    }

    #[test]
    fn rows_and_lists_follow_the_list_arguments() {
        for sql in ["rows each ?: row, ? for ?2", "rows each $2: row, $1", "rows each ?2: row, ?1"]
        {
            let rows = rows(sql);
            let numbers: Vec<_> =
                rows.iter().map(|r| (r.int(0).unwrap(), r.int(1).unwrap())).collect();
            assert_eq!(numbers, [(1, 7), (2, 7), (3, 7)], "{sql}");
        }
        let rows = rows(
            "rows 1: ints each ?2 of item ?2, texts 2 of 'x', decimals(2) [1.5, null], ints [], ?2",
        );
        let row = rows.row(0);
        let list = row.list(0).unwrap();
        assert_eq!([0, 1, 2].map(|i| list.int(i).unwrap()), [30, 10, 20]);
        assert_eq!(row.list(1).unwrap().text(1).unwrap(), "x");
        let decimals = row.list(2).unwrap();
        assert_eq!((decimals.decimal(0, 2).unwrap(), decimals.is_null(1)), (150, true));
        assert!(row.list(3).unwrap().is_empty());
        assert_eq!(row.list(4).unwrap().len(), 3);
    }

    #[test]
    fn execute_counts_what_the_answer_says() {
        let args = [Value::Int(7), Value::Ints(&[1, 2, 3])];
        for (sql, expected) in [
            ("none", 0),
            ("none for ?1, ?2", 0),
            ("touched 4", 4),
            ("touched each ?2", 3),
            ("rows 2: row rows each ?2: row", 5),
            ("rows 2: row touched 9", 9),
            ("UPDATE t SET a = ?1", 1),
        ] {
            let answer = Answer::of(&bound(sql)).unwrap();
            assert_eq!(answer.touched(&args).unwrap(), expected, "{sql}");
        }
    }

    #[test]
    fn mistakes_are_refused_with_their_place() {
        for (sql, message) in [
            ("rows", "expected a number or `each :list` at: its end"),
            ("rows 1 int 5", "expected `:` and the values at:  int 5"),
            ("rows 1: whole 5", "expected a value at:  whole 5"),
            ("rows 1: int x", "expected a constant of that type at:  x"),
            ("rows 1: decimal(2) 1.234", "expected a constant of that type"),
            ("rows 1: decimal 1.2", "a scale"),
            ("rows 1: text abc", "expected text in quotes"),
            ("rows 1: ?9", "expected a parameter"),
            ("rows each ?1: row", "expected a list parameter"),
            ("rows 1: row rows 1: row, row", "as many values"),
            ("rows 1: ints 3 7", "expected `of` and a value"),
            ("none, please", "`rows`, `touched`"),
        ] {
            match Answer::of(&bound(sql)) {
                Err(error) => assert!(error.to_string().contains(message), "{sql}: {error}"),
                Ok(answer) => panic!("{sql}: {answer:?}"),
            }
        }
    }

    #[test]
    fn streams_come_in_bounded_batches() {
        let answer = Answer::of(&bound("rows 100000: row, text 'abcdefgh'")).unwrap();
        let (mut batch, mut count, mut largest) = (Rows::new(), 0, 0);
        let mut each = |rows: &Rows| {
            count += rows.len();
            largest = largest.max(rows.bytes());
        };
        answer.stream(&[], 10_000, &mut batch, &mut each).unwrap();
        assert_eq!(count, 100_000);
        assert!(largest < 11_000, "{largest}");
    }
}
