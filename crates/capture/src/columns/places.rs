//! The column that each parameter of a statement is compared with or assigned to.

use super::tables::{Column, ColumnKind, Mention, Tables, bare};
use crate::sql::{Shape, after_value};
use crate::written::{inserted, place_in_row};

/// Further values that the end of a range is guessed to be from its begin.
const RANGE: u32 = 99;

/// What a parameter stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// It is compared with a column, or assigned to it.
    Column(Column),
    /// It is a new row's value of the column.
    Inserted(Column),
    /// It is the end of a range of the column: `BETWEEN … AND ?`.
    RangeEnd(Column),
    /// It is an array of the column's values: `= ANY (?)`.
    Any(Column),
    /// The number of rows that are returned.
    Limit,
    /// The number of rows that are skipped.
    Offset,
    /// It is added to a value, or the like.
    Amount,
    /// Nothing is known.
    Unknown,
}

impl Origin {
    /// The column that it belongs to.
    #[must_use]
    pub const fn column(&self) -> Option<&Column> {
        match self {
            Self::Column(column)
            | Self::Inserted(column)
            | Self::RangeEnd(column)
            | Self::Any(column) => Some(column),
            _ => None,
        }
    }

    /// A name of a parameter.
    pub(crate) fn name(&self) -> String {
        let of_column = |column: &Column| {
            let letter =
                |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
            let name: String = column.name.chars().take(30).map(letter).collect();
            let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
            if begins { name } else { format!("c{name}") }
        };
        match self {
            Self::Column(column) | Self::RangeEnd(column) => of_column(column),
            Self::Inserted(column) => format!("new_{}", of_column(column)),
            Self::Any(column) => format!("{}_list", of_column(column)),
            Self::Limit => "rows".to_owned(),
            Self::Offset => "skipped_rows".to_owned(),
            Self::Amount => "amount".to_owned(),
            Self::Unknown => "value".to_owned(),
        }
    }

    /// The SQL of the end of a range, if it can be computed from that of its begin.
    pub(crate) fn end_of_range(&self, begin: Option<&String>) -> Option<String> {
        let is_integer = |column: &Column| column.kind == ColumnKind::Integer;
        match self {
            Self::RangeEnd(column) if is_integer(column) => Some(format!("{} + {RANGE}", begin?)),
            _ => None,
        }
    }
}

/// The origins of the arguments of a statement.
pub(crate) fn origins(shape: &Shape, tables: &Tables) -> Vec<Origin> {
    let mentions = tables.mentions(&shape.to_string());
    let mut origins = vec![Origin::Unknown; shape.literals.len()];
    let mut before = Origin::Unknown;
    for (hole, argument) in shape.holes.iter().enumerate() {
        let piece = after_value(&shape.pieces[hole]);
        let continues = hole > 0 && piece == ",";
        let found = match &before {
            _ if place_in_row(shape, hole).is_some() => new_value(shape, hole, &mentions, tables),
            Origin::Limit if continues => {
                origins[shape.holes[hole - 1]] = Origin::Offset;
                Origin::Limit
            }
            Origin::Column(_) if continues => before.clone(),
            Origin::Column(column)
                if piece.eq_ignore_ascii_case("and") && is_between(&shape.pieces[hole - 1]) =>
            {
                Origin::RangeEnd(column.clone())
            }
            _ => compared(shape, hole, &mentions, tables),
        };
        before = found.clone();
        if origins[*argument] == Origin::Unknown {
            origins[*argument] = found;
        }
    }
    origins
}

fn is_between(piece: &str) -> bool {
    words_before(piece).next().is_some_and(|word| word.eq_ignore_ascii_case("between"))
}

/// The words at the end of a text, the last one first.
fn words_before(text: &str) -> impl Iterator<Item = &str> {
    text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The column of an inserted value.
fn new_value(shape: &Shape, hole: usize, mentions: &[Mention], tables: &Tables) -> Origin {
    let column = match inserted(shape, hole) {
        Some(name) => tables.column(&mentions[..mentions.len().min(1)], None, name),
        None => {
            let place = place_in_row(shape, hole);
            place.and_then(|place| tables.columns_of(mentions).get(place))
        }
    };
    column.map_or(Origin::Unknown, |column| Origin::Inserted(column.clone()))
}

/// What a value is compared with or assigned to, by the text around it.
fn compared(shape: &Shape, hole: usize, mentions: &[Mention], tables: &Tables) -> Origin {
    let text = shape.pieces[hole].trim_end();
    let word = words_before(text).next().unwrap_or_default().to_ascii_lowercase();
    let is_last = text.to_ascii_lowercase().ends_with(&word) && !word.is_empty();
    match word.as_str() {
        "limit" | "first" if is_last => return Origin::Limit,
        "offset" if is_last => return Origin::Offset,
        _ if text.ends_with(['+', '-', '*', '/', '%']) => return Origin::Amount,
        _ => {}
    }
    let mut left = text.trim_end_matches(['(', ' ']);
    let is_any = words_before(left).next().is_some_and(|word| word.eq_ignore_ascii_case("any"));
    for word in ["any", "between", "in", "ilike", "like", "not"] {
        let start = left.len().saturating_sub(word.len());
        let is_word = left.is_char_boundary(start) && left[start..].eq_ignore_ascii_case(word);
        if is_word && left[..start].ends_with(|c: char| !c.is_alphanumeric() && c != '_') {
            left = left[..start].trim_end_matches([' ', '=']);
        }
    }
    let left = left.trim_end_matches(['=', '<', '>', '!', '~', '(', ' ']);
    let reference = left.rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
    let right = after_value(&shape.pieces[hole + 1]);
    let operand = right.trim_start_matches(['=', '<', '>', ' ']);
    let after = match right.starts_with(['=', '<', '>']) {
        true => operand.split(|c| !is_of_name(c)).next().unwrap_or_default(),
        false => "",
    };
    let find = |reference: &str| {
        let mut parts = reference.rsplit('.').map(bare);
        let name = parts.next().filter(|name| !name.is_empty())?;
        tables.column(mentions, parts.next(), name).cloned()
    };
    match find(reference).or_else(|| find(after)) {
        Some(column) if is_any => Origin::Any(column),
        Some(column) => Origin::Column(column),
        None => Origin::Unknown,
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_$.\"`".contains(c)
}
