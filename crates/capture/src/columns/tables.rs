//! The tables of a database, with their columns, and which of them a statement mentions.

use std::collections::HashMap;

/// Words that follow the name of a table and are not its alias.
const NOT_ALIASES: &[&str] = &[
    "where",
    "set",
    "join",
    "inner",
    "left",
    "right",
    "full",
    "cross",
    "natural",
    "on",
    "using",
    "order",
    "group",
    "having",
    "limit",
    "offset",
    "for",
    "values",
    "value",
    "select",
    "union",
    "returning",
    "default",
    "partition",
    "force",
    "use",
    "ignore",
    "straight_join",
    "lock",
];
/// What only statements about a server contain.
const OF_SERVER: &[&str] =
    &["pg_", "information_schema", "performance_schema", "@@", "mysql.", "`mysql`", "sys."];
/// The table in which this program records what it built.
const OWN_TABLE: &str = "triphammer_build";

/// What a column contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnKind {
    /// Whole numbers.
    Integer,
    /// Decimals with so many digits after the point.
    Decimal(u8),
    /// Floating-point numbers.
    Float,
    /// Texts of at most so many characters; 0 without a limit.
    Text(u32),
    /// Dates.
    Date,
    /// Dates with times.
    Timestamp,
    /// Anything else.
    Other,
}

impl ColumnKind {
    /// The kind by the name that a dialect's query gives it, and the number of digits or characters.
    #[must_use]
    pub fn of(name: &str, size: i64) -> Self {
        match name {
            "integer" => Self::Integer,
            "decimal" => Self::Decimal(u8::try_from(size.clamp(0, 18)).unwrap_or_default()),
            "float" => Self::Float,
            "text" => Self::Text(u32::try_from(size).unwrap_or_default()),
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            _ => Self::Other,
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its name in SQL.
    pub sql: String,
    /// The name of its table in SQL.
    pub table: String,
    /// What it contains.
    pub kind: ColumnKind,
    /// Whether no two rows have the same value.
    pub is_unique: bool,
}

/// The tables of a database.
#[derive(Debug, Default)]
pub struct Tables {
    columns: Vec<Vec<Column>>,
    by_name: HashMap<String, usize>,
}

/// A table that a statement mentions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    table: usize,
    /// Its name and its alias, in lower case.
    names: Vec<String>,
}

impl Tables {
    /// Adds a column to the table of this name. Of tables with the same name, the first one counts.
    pub fn add(&mut self, table: &str, column: Column) {
        let next = self.columns.len();
        let number = *self.by_name.entry(table.to_lowercase()).or_insert(next);
        match self.columns.get_mut(number) {
            None => self.columns.push(vec![column]),
            Some(columns) if columns[0].table == column.table => columns.push(column),
            Some(_) => {}
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether a statement is about the server itself, or one of this program's own.
    pub(crate) fn is_of_server(&self, sql: &str) -> bool {
        let mentions = self.mentions(sql);
        let is_own = |mention: &Mention| mention.names[0] == OWN_TABLE;
        let lower = sql.to_lowercase();
        mentions.iter().any(is_own)
            || mentions.is_empty() && OF_SERVER.iter().any(|part| lower.contains(part))
    }

    /// The tables that a statement mentions, in its order.
    pub(crate) fn mentions(&self, sql: &str) -> Vec<Mention> {
        let is_part = |c: char| c.is_alphanumeric() || "_$\"`.".contains(c);
        let words: Vec<String> = sql
            .split(|c| !is_part(c))
            .filter(|word| !word.is_empty())
            .map(|word| bare(word.rsplit('.').next().unwrap_or(word)).to_lowercase())
            .collect();
        let mut found = Vec::new();
        for (place, word) in words.iter().enumerate() {
            let Some(table) = self.by_name.get(word.as_str()) else { continue };
            let mut names = vec![word.clone()];
            let after = words[place + 1..].iter().find(|word| *word != "as");
            names.extend(after.filter(|word| !NOT_ALIASES.contains(&word.as_str())).cloned());
            found.push(Mention { table: *table, names });
        }
        found
    }

    /// The column of a name, which may have the name or alias of its table before it.
    pub(crate) fn column(
        &self,
        mentions: &[Mention],
        qualifier: Option<&str>,
        name: &str,
    ) -> Option<&Column> {
        let suits = |mention: &&Mention| {
            qualifier
                .is_none_or(|given| mention.names.iter().any(|n| n.eq_ignore_ascii_case(given)))
        };
        let mut tables = mentions.iter().filter(suits).map(|mention| &self.columns[mention.table]);
        tables.find_map(|columns| columns.iter().find(|c| c.name.eq_ignore_ascii_case(name)))
    }

    /// The columns of the first table that a statement mentions, in the table's order.
    pub(crate) fn columns_of(&self, mentions: &[Mention]) -> &[Column] {
        mentions.first().map_or(&[], |mention| &self.columns[mention.table])
    }
}

/// A name without its quotes.
pub(crate) fn bare(name: &str) -> &str {
    name.trim_matches(['"', '`'])
}
