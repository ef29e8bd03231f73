//! Which values of a statement may be of the masked columns.

use std::collections::BTreeSet;

use super::super::columns::{Column, ColumnKind, Origin, Tables, bare, origins};
use super::super::sql::{Rules, Shape, tokens};
use super::super::written::{inserted, place_in_row};
use super::names::{aliases, columns_of_values, has_table, is_name};
use super::{ALL, Made, Masked};

/// Columns whose values are masked.
#[derive(Debug)]
pub(super) struct MaskedColumns {
    tables: Tables,
    /// Their names in lower case.
    names: BTreeSet<String>,
}

impl MaskedColumns {
    /// Reads a list such as `users.email,orders.note`.
    ///
    /// # Errors
    /// When it has something that is no column with its table.
    pub(super) fn new(list: &str) -> Result<Self, String> {
        let (mut tables, mut names) = (Tables::default(), BTreeSet::new());
        for item in list.split(',').map(str::trim) {
            let mut parts = item.rsplit('.');
            let (name, table) =
                (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if name.is_empty() || table.is_empty() {
                return Err(format!(
                    "expected `{ALL}`, or columns with their tables such as users.email,orders.note; \
                     got `{item}`"
                ));
            }
            names.insert(name.to_lowercase());
            let of = |text: &str| text.to_owned();
            tables.add(
                table,
                Column {
                    name: of(name),
                    sql: of(name),
                    table: of(table),
                    kind: ColumnKind::Other,
                    is_unique: false,
                },
            );
        }
        Ok(Self { tables, names })
    }

    /// Whether one of the columns has this name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.names.contains(&name.to_lowercase())
    }

    /// Whether one of their names is a word of a text.
    fn are_named(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_word = |name: &String| lower.split(|c| !is_part(c)).any(|word| word == name);
        // A name in quotes may have any characters.
        self.names
            .iter()
            .any(|name| is_word(name) || !name.chars().all(is_part) && lower.contains(name))
    }

    /// The values of the columns, and those that may be:
    ///
    /// - in a statement that names one of the columns, whatever its table, or one of the tables: what is not plainly another
    ///   column's, such as the argument of a function;
    /// - in a statement without a table: everything.
    pub(super) fn masked(&self, shape: &Shape, rules: Rules) -> Masked {
        let text = shape.to_string();
        let all = tokens(&text, rules);
        let is_mentioned = !self.tables.mentions(&text).is_empty();
        let are_named = self.are_named(&text);
        let has_table = is_mentioned || has_table(&all);
        let mut arguments = vec![false; shape.literals.len()];
        if has_table && !is_mentioned && !are_named {
            return Masked { arguments: arguments.into(), ..Masked::default() };
        }
        let given = aliases(&all, |name| self.names(name));
        let plain = columns_of_values(&shape.pieces, rules);
        let plain =
            |hole: usize| plain[hole].as_deref().filter(|name| !given.iter().any(|g| g == name));
        let origins = origins(shape, &self.tables);
        let first_in_query = first_in_query(shape);
        for (hole, argument) in shape.holes.iter().enumerate() {
            let column = match place_in_row(shape, hole) {
                Some(_) if hole < first_in_query => inserted(shape, hole),
                _ => plain(hole),
            };
            arguments[*argument] |= match &origins[*argument] {
                _ if is_name(&shape.pieces[hole]) => false,
                Origin::Limit | Origin::Offset => false,
                origin if origin.column().is_some() => true,
                // One of the same name is another table's if theirs are not mentioned.
                _ => !has_table || column.is_none_or(|name| is_mentioned && self.names(name)),
            };
        }
        let made = match (is_mentioned, are_named) {
            (true, _) => Made::All,
            (false, true) if has_table => Made::Texts,
            _ => Made::None,
        };
        let (arguments, returning) = (arguments.into(), returning(&text));
        Masked { arguments, is_touched: true, made, returning }
    }
}

/// The first hole of an INSERT after which a row has a query within it: `VALUES ((SELECT …))`.
fn first_in_query(shape: &Shape) -> usize {
    let has_query = |(at, piece): (usize, &String)| {
        let lower = piece.to_lowercase();
        let rows = match at {
            0 => lower.split_once("values").map_or("", |(_, rows)| rows),
            _ => &lower,
        };
        rows.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "select")
    };
    shape.pieces.iter().enumerate().position(has_query).unwrap_or(usize::MAX)
}

/// The names in RETURNING, if they are plain columns.
fn returning(text: &str) -> Box<[String]> {
    let lower = text.to_lowercase();
    let list = lower.rsplit_once("returning ").map_or("", |(_, list)| list);
    let name = |item: &str| bare(item.trim().rsplit('.').next().unwrap_or_default()).to_owned();
    let is_plain =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let names: Vec<String> = list.split(',').map(name).collect();
    if names.iter().all(is_plain) { names.into() } else { Box::default() }
}
