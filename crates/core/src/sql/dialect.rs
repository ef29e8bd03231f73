//! What a dialect declares in its `dialect.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::keys::KeysWithTables;
use crate::error::SpecError;
use crate::odbc::OdbcDef;
use crate::value::ColumnType;

/// How a dialect marks a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placeholder {
    /// `$1`, numbered in the order of declaration; a repeated parameter has the same number.
    Dollar,
    /// `?1`, numbered in the same way.
    NumberedQuestion,
    /// `@p1`, numbered in the same way.
    At,
    /// `?` for each occurrence, in the order of the text.
    Question,
}

/// A type of parameters, without the number of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names of `ColumnType`")]
pub enum ParamKind {
    Smallint,
    Int,
    Bigint,
    Float,
    Decimal,
    Text,
    Timestamp,
    Date,
    IntList,
}

impl ParamKind {
    /// The kind of a type; `None` for parameters of any type.
    #[must_use]
    pub const fn of(param_type: ColumnType) -> Option<Self> {
        Some(match param_type {
            ColumnType::SmallInt => Self::Smallint,
            ColumnType::Int => Self::Int,
            ColumnType::BigInt => Self::Bigint,
            ColumnType::Float => Self::Float,
            ColumnType::Decimal(_) => Self::Decimal,
            ColumnType::Text => Self::Text,
            ColumnType::Timestamp => Self::Timestamp,
            ColumnType::Date => Self::Date,
            ColumnType::IntList => Self::IntList,
            ColumnType::Any => return None,
        })
    }
}

/// A dialect of SQL: its properties, and its parent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// Name of the dialect and of its folder.
    pub name: String,
    /// The dialect that it extends; `None` for the base.
    pub parent: Option<String>,
    /// How parameters are marked; inherited when absent.
    pub placeholder: Option<Placeholder>,
    /// Types that parameters are cast to, for databases that infer the types of placeholders, and
    /// reject those of which they cannot; added to the parent's.
    #[serde(default)]
    pub casts: BTreeMap<ParamKind, String>,
    /// Whether tables are stored in the order of their primary keys, which are then better created
    /// before the load; inherited when absent.
    pub clustered: Option<bool>,
    /// How scripts fail that have already been run: an error code, or a code and a part of the
    /// message after a colon. For databases whose schema changes commit implicitly, so that it is
    /// unknown whether the last one before a killed build took effect. Added to the parent's.
    #[serde(default)]
    pub done_before: Vec<String>,
    /// Template variables that replace `{word}`; they override the parent's.
    #[serde(default, rename = "words")]
    pub variables: BTreeMap<String, String>,
    /// Options that builds on it accept; added to the parent's.
    #[serde(default)]
    pub options: Vec<DialectOption>,
    /// Layouts of tables that builds on it can have; added to the parent's.
    #[serde(default)]
    pub layouts: Vec<Layout>,
    /// Largest values of options of workloads, by name, where its types hold less than the workload
    /// allows; added to the parent's.
    #[serde(default)]
    pub most: BTreeMap<String, u32>,
    /// How its servers demand primary keys; inherited when absent.
    pub keys: Option<KeysWithTables>,
    /// Whether one statement drops several tables; inherited when absent.
    pub drops_several: Option<bool>,
    /// How the database explains a statement; inherited when absent.
    pub explain: Option<Explain>,
    /// Name of the database's driver in sysbench; inherited when absent.
    pub sysbench_driver: Option<String>,
    /// The operator that joins texts, if `concat` takes fewer than it is given in the shared SQL;
    /// inherited when absent.
    pub concat: Option<String>,
    /// How the database is used by ODBC.
    pub odbc: Option<OdbcDef>,
}

/// How a database explains a statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// Text before a statement that makes the database return its plan instead of its rows.
    pub plan: String,
    /// Text before a statement that makes the database run it, and return its plan with
    /// measurements; `None` if it cannot.
    pub analyze: Option<String>,
    /// Format of both.
    pub format: PlanFormat,
}

/// A format of execution plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanFormat {
    /// PostgreSQL's JSON.
    PostgresJson,
    /// MySQL's tree: one operation per line, indented.
    MysqlTree,
    /// MariaDB's JSON.
    MariadbJson,
    /// SQLite's rows of number, parent, an unused column and description.
    SqliteRows,
    /// DuckDB's JSON.
    DuckdbJson,
    /// Trino's JSON.
    TrinoJson,
}

/// A build option of a dialect, besides those of the workload, such as `--partitions 8`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialectOption {
    /// Name of the flag without dashes and of the job-file key. With `_` for `-` it is also the
    /// template variable for the value.
    pub name: String,
    /// Help text of one line.
    pub help: String,
    /// Placeholder of the value in the help.
    pub value: String,
    /// Value used when the option is not given.
    pub default: String,
    /// All accepted values, as the database writes them; empty for a number.
    #[serde(default)]
    pub values: Vec<String>,
    /// Largest accepted number.
    #[serde(default)]
    pub most: u32,
    /// The only workload that has the option; `None` if all do.
    pub workload: Option<String>,
    /// The layout of tables of every value other than the default.
    #[serde(default)]
    pub layout: Layout,
}

impl DialectOption {
    /// Reads a value, and returns it as the database writes it.
    ///
    /// # Errors
    /// When the value is not accepted.
    pub fn read(&self, given: &str) -> Result<String, SpecError> {
        let given = given.trim();
        if self.values.is_empty() {
            let number = given.parse().ok().filter(|n| (1..=self.most).contains(n));
            return number.map(|n: u32| n.to_string()).ok_or_else(|| {
                let Self { name, most, .. } = self;
                SpecError::new(format!("--{name} must be a number from 1 to {most}, got `{given}`"))
            });
        }
        let found = self.values.iter().find(|value| value.eq_ignore_ascii_case(given));
        found.cloned().ok_or_else(|| {
            let known = self.values.join(", ");
            SpecError::new(format!("--{} must be one of {known}, got `{given}`", self.name))
        })
    }

    /// Template variables for a value that [`DialectOption::read`] returned.
    #[must_use]
    pub fn variables(&self, value: &str) -> BTreeMap<String, String> {
        let mut variables =
            if value == self.default { BTreeMap::new() } else { self.layout.variables.clone() };
        variables.insert(self.name.replace('-', "_"), value.to_owned());
        variables
    }
}

/// A layout of tables, such as partitions or columnar storage: how a dialect creates tables when a
/// switch of the workload is on, or an option of its own has another value than its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Name of the workload's switch; empty for an option of the dialect.
    #[serde(default)]
    pub switch: String,
    /// Why the dialect does not have the layout, and what to do; `None` if it has it.
    pub rejected: Option<String>,
    /// Query that returns a row if the server can create such tables; `None` if every server can.
    pub needs: Option<String>,
    /// What a server lacks for which `needs` returns no row.
    #[serde(default)]
    pub lacks: String,
    /// Switches, and options other than their default, that cannot be used with it, with the reason.
    #[serde(default)]
    pub excludes: BTreeMap<String, String>,
    /// Kinds of scripts that are left out, such as `index`.
    #[serde(default)]
    pub omits: Vec<String>,
    /// Whether such tables cannot be created or dropped in a transaction, although others can.
    #[serde(default)]
    pub ends_transactions: bool,
    /// Template variables.
    #[serde(default, rename = "words")]
    pub variables: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_dialect_are_words_within_bounds() {
        let option: DialectOption = DialectOption {
            name: "storage-engine".into(),
            help: String::new(),
            value: "ENGINE".into(),
            default: "InnoDB".into(),
            values: vec!["InnoDB".into(), "RocksDB".into()],
            most: 0,
            workload: None,
            layout: Layout {
                variables: BTreeMap::from([("extra".to_owned(), "x".to_owned())]),
                ..Layout::default()
            },
        };
        let value = option.read(" rocksdb").unwrap();
        assert_eq!(value, "RocksDB");
        let variables = option.variables(&value);
        assert_eq!((&*variables["storage_engine"], &*variables["extra"]), ("RocksDB", "x"));
        assert_eq!(option.variables("InnoDB").len(), 1);
        let error = option.read("MyISAM").unwrap_err().to_string();
        assert!(error.contains("one of InnoDB, RocksDB, got `MyISAM`"), "{error}");
        let number = DialectOption { values: Vec::new(), most: 8, ..option };
        assert_eq!(number.read("08").unwrap(), "8");
        for given in ["0", "9", "-1", "x"] {
            let error = number.read(given).unwrap_err().to_string();
            assert!(error.contains("from 1 to 8"), "{error}");
        }
    }
}
