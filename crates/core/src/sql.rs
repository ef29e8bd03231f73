//! Statement catalogues: named statements of a workload in the SQL of a dialect.
//!
//! A catalogue is laid over its parent: `sql/base/tproc-c/*.sql` first, then each dialect's folder
//! from the root of its family down to the dialect itself, by name, so that a dialect's folder
//! holds only what differs. In a file `-- name: new_order.stock` begins a block that ends at the
//! next such line; so procedure bodies can be stored without parsing semicolons. `{word}` is
//! replaced by the dialect's template variable of that name, which may contain variables itself,
//! and `:param` by the dialect's placeholder, once, when the catalogue is created; nothing is
//! looked up by name during a run. Options of a dialect ([`DialectOption`]) are variables that a
//! build may set.
//!
//! Blocks whose name is a declared [`StatementDef`] are statements. All others are scripts, run as
//! they are; the part of their name before the first dot says when: `create.`, `key.`, `index.`,
//! `foreign_key.`, `procedure.`, `analyze.`, `drop_procedure.`, and `load_SOURCE.`, which loads a
//! table within the server when the dialect's option `load-from` is `SOURCE`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{DbError, ErrorClass, SpecError};
use crate::name::Name;
use crate::odbc::OdbcDef;
use crate::sql_forms::join_by;
use crate::value::ColumnType;
use crate::workload::{OwnSql, OwnSqlUse};

/// A statement that a workload needs: its name and its parameters in order.
#[derive(Clone, Debug)]
pub struct StatementDef {
    /// Name in the catalogue, such as `new_order.stock`.
    pub name: Name,
    /// Parameters in the order of the arguments.
    pub params: Vec<Param>,
    /// Which catalogues must have the statement.
    pub required: Required,
    /// Its SQL if the workload supplies it, such as one read from a file. A block of this name in a
    /// catalogue overrides it.
    pub text: Option<Name>,
}

/// Which catalogues must have a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// Every dialect's catalogue must have it.
    Always,
    /// Catalogues of databases with stored procedures must have it.
    WithProcedures,
    /// Optional in every catalogue; code that uses it checks that it exists.
    Optional,
}

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name in the SQL, after the colon.
    pub name: Name,
    /// Type, which is passed to the database rather than left to its inference.
    pub param_type: ColumnType,
}

/// Declares a parameter; short enough to write statements as tables.
#[must_use]
pub const fn param(name: &'static str, param_type: ColumnType) -> Param {
    Param { name: Name::new_static(name), param_type }
}

/// Declares a statement that the client sends.
#[must_use]
pub fn statement(name: &'static str, params: &[Param]) -> StatementDef {
    definition(name, params, Required::Always)
}

/// Declares a call of a stored procedure.
#[must_use]
pub fn call(name: &'static str, params: &[Param]) -> StatementDef {
    definition(name, params, Required::WithProcedures)
}

/// Declares a statement that some dialects do not have or need.
#[must_use]
pub fn optional(name: &'static str, params: &[Param]) -> StatementDef {
    definition(name, params, Required::Optional)
}

fn definition(name: &'static str, params: &[Param], required: Required) -> StatementDef {
    StatementDef { name: Name::new_static(name), params: params.to_vec(), required, text: None }
}

/// Maximum nesting of template variables.
const VARIABLES_DEEP: u8 = 4;

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

/// A statement ready for a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundStatement {
    /// Name of the statement, for messages.
    pub name: String,
    /// SQL with the dialect's placeholders.
    pub sql: String,
    /// Parameters as declared, in the order of the arguments.
    pub params: Vec<Param>,
    /// For each placeholder of the text in order, the index of its argument. For numbered
    /// placeholders simply 0, 1, 2 ….
    pub order: Vec<usize>,
}

impl BoundStatement {
    /// The same statement with text before it, such as `EXPLAIN`.
    #[must_use]
    pub fn after(&self, text: &str) -> Self {
        let (name, sql) = (self.name.clone(), format!("{text} {}", self.sql));
        Self { name, sql, params: self.params.clone(), order: self.order.clone() }
    }
}

/// All of a workload's SQL for one dialect.
#[derive(Clone, Debug)]
pub struct StatementCatalogue {
    dialect: String,
    placeholder: Placeholder,
    clustered: bool,
    done_before: Vec<String>,
    explain: Option<Explain>,
    statements: BTreeMap<String, BoundStatement>,
    scripts: Vec<Script>,
    ends_transactions: bool,
}

/// A block that is run as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Name of the block, such as `index.customer_name`.
    pub name: String,
    /// SQL text of the block.
    pub sql: String,
}

/// One layer of a catalogue: a dialect and the texts of its files in order.
#[derive(Clone, Debug)]
pub struct DialectLayer {
    /// Dialect of this layer.
    pub dialect: Dialect,
    /// File names (for messages) and texts.
    pub files: Vec<(String, String)>,
}

impl StatementCatalogue {
    /// Lays `layers` (base first) over each other and binds every statement in `definitions`.
    ///
    /// # Errors
    /// When a block is malformed, a required statement is missing, a parameter is unknown or
    /// unused, a template variable is undefined, or an override equals what it overrides.
    pub fn new(
        layers: &[DialectLayer],
        definitions: &[&StatementDef],
        procedures: bool,
    ) -> Result<Self, SpecError> {
        let dialect = layers.last().map_or_else(String::new, |l| l.dialect.name.clone());
        let mut variables = BTreeMap::new();
        let mut placeholder = Placeholder::Question;
        let mut casts = BTreeMap::new();
        let mut clustered = false;
        let mut done_before = Vec::new();
        let mut explain = None;
        let mut concat = None;
        let mut blocks: Vec<Script> = Vec::new();
        for layer in layers {
            variables.extend(layer.dialect.variables.clone());
            placeholder = layer.dialect.placeholder.unwrap_or(placeholder);
            casts.extend(layer.dialect.casts.clone());
            clustered = layer.dialect.clustered.unwrap_or(clustered);
            done_before.extend_from_slice(&layer.dialect.done_before);
            explain = layer.dialect.explain.clone().or(explain);
            concat = layer.dialect.concat.as_deref().or(concat);
            for (file, text) in &layer.files {
                lay_over(&mut blocks, parse_blocks(file, text)?, file)?;
            }
        }
        let mut catalogue = Self {
            dialect,
            placeholder,
            clustered,
            done_before,
            explain,
            statements: BTreeMap::new(),
            scripts: Vec::new(),
            ends_transactions: false,
        };
        for definition in definitions {
            if let Some(text) = &definition.text
                && blocks.iter().all(|block| *block.name != *definition.name)
            {
                blocks.push(Script { name: definition.name.to_string(), sql: text.to_string() });
            }
        }
        for mut block in blocks {
            block.sql = expand_variables(&block.name, &block.sql, &variables, VARIABLES_DEEP)?;
            if let Some(operator) = concat {
                block.sql = join_by(&block.sql, operator);
            }
            match definitions.iter().find(|d| d.name == block.name) {
                Some(definition) => {
                    let bound = bind(definition, &block.sql, placeholder, &casts)?;
                    catalogue.statements.insert(block.name, bound);
                }
                None => catalogue.scripts.push(block),
            }
        }
        for definition in definitions {
            let needed = match definition.required {
                Required::Always => true,
                Required::WithProcedures => procedures,
                Required::Optional => false,
            };
            if needed && !catalogue.statements.contains_key(&*definition.name) {
                return Err(SpecError::new(format!(
                    "the {} catalogue has no statement `{}`",
                    catalogue.dialect, definition.name
                )));
            }
        }
        Ok(catalogue)
    }

    /// The same catalogue with the SQL that a workload supplies as it is, for these dialects: the catalogue's, and
    /// those that it extends, the oldest first.
    ///
    /// # Errors
    /// When a statement has no SQL for the dialect.
    pub fn with_own(mut self, own: &[OwnSql], chain: &[&str]) -> Result<Self, SpecError> {
        for one in own {
            let of = |dialect: &&str| one.dialects.iter().find(|(name, _)| name == *dialect);
            let sql = chain.iter().rev().find_map(of).map(|(_, sql)| sql).or(one.default.as_ref());
            let name = one.name.to_string();
            match (one.used, sql) {
                (OwnSqlUse::Statement, Some(sql)) => {
                    let sql = sql.trim().trim_end_matches(';').to_owned();
                    let (params, order) = (Vec::new(), Vec::new());
                    let bound = BoundStatement { name: name.clone(), sql, params, order };
                    self.statements.insert(name, bound);
                }
                (OwnSqlUse::Script, Some(sql)) => {
                    self.scripts.push(Script { name, sql: sql.to_string() });
                }
                (_, None) => {
                    let message = format!("`{name}` has no SQL for {}", self.dialect);
                    return Err(SpecError::new(message));
                }
            }
        }
        Ok(self)
    }

    /// The same catalogue for these layouts: without the scripts that they omit.
    #[must_use]
    pub fn laid_out(mut self, layouts: &[Layout]) -> Self {
        self.scripts.retain(|script| {
            layouts.iter().all(|layout| layout.omits.iter().all(|kind| kind != script.kind()))
        });
        self.ends_transactions = layouts.iter().any(|layout| layout.ends_transactions);
        self
    }

    /// Name of the catalogue's dialect.
    #[must_use]
    pub fn dialect(&self) -> &str {
        &self.dialect
    }

    /// How the database explains a statement; `None` if it cannot.
    #[must_use]
    pub fn explain(&self) -> Option<&Explain> {
        self.explain.as_ref()
    }

    /// How the dialect marks parameters.
    #[must_use]
    pub const fn placeholder(&self) -> Placeholder {
        self.placeholder
    }

    /// Whether primary keys are better created before the load ([`Dialect::clustered`]).
    #[must_use]
    pub fn is_clustered(&self) -> bool {
        self.clustered
    }

    /// Whether its scripts cannot be part of transactions ([`Layout::ends_transactions`]).
    #[must_use]
    pub const fn ends_transactions(&self) -> bool {
        self.ends_transactions
    }

    /// Whether a script failed because it had already been run ([`Dialect::done_before`]).
    #[must_use]
    pub fn was_done_before(&self, error: &DbError) -> bool {
        self.done_before.iter().any(|sign| {
            let (code, part) = sign.split_once(':').unwrap_or((sign, ""));
            error.code() == Some(code) && error.message().contains(part)
        })
    }

    /// Returns the statement `name`.
    ///
    /// # Errors
    /// When the catalogue has none of that name.
    pub fn statement(&self, name: &str) -> Result<&BoundStatement, DbError> {
        self.statements.get(name).ok_or_else(|| {
            let message = format!("the {} catalogue has no statement `{name}`", self.dialect);
            DbError::new(ErrorClass::Unsupported, message)
        })
    }

    /// Whether the catalogue has a statement of that name.
    #[must_use]
    pub fn has_statement(&self, name: &str) -> bool {
        self.statements.contains_key(name)
    }

    /// All statements, sorted by name.
    pub fn statements(&self) -> impl Iterator<Item = &BoundStatement> {
        self.statements.values()
    }

    /// The scripts of a kind, in the order of the files: `scripts("index")`.
    pub fn scripts<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Script> {
        self.scripts.iter().filter(move |s| s.kind() == kind && !s.sql.trim().is_empty())
    }

    /// All scripts, in the order of the files.
    pub fn all_scripts(&self) -> &[Script] {
        &self.scripts
    }
}

impl Script {
    /// The part of the name before the first dot.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// The part of the name after the first dot.
    #[must_use]
    pub fn object(&self) -> &str {
        self.name.split_once('.').map_or("", |(_, object)| object)
    }
}

/// Splits a file at its `-- name:` lines.
fn parse_blocks(file: &str, text: &str) -> Result<Vec<Script>, SpecError> {
    let mut blocks: Vec<Script> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("-- name:") {
            let name = name.trim().to_owned();
            if name.is_empty() || blocks.iter().any(|b| b.name == name) {
                return Err(SpecError::new(format!("{file}: `{name}` is empty or defined twice")));
            }
            blocks.push(Script { name, sql: String::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.sql.push_str(line);
            block.sql.push('\n');
        } else if !line.trim().is_empty() && !line.starts_with("--") {
            return Err(SpecError::new(format!("{file}: text before the first `-- name:`")));
        }
    }
    Ok(blocks)
}

/// Adds a layer's blocks, overriding existing ones; overriding a block with an equal one is an
/// error.
fn lay_over(blocks: &mut Vec<Script>, layer: Vec<Script>, file: &str) -> Result<(), SpecError> {
    for block in layer {
        match blocks.iter_mut().find(|b| b.name == block.name) {
            None => blocks.push(block),
            Some(under) if squeeze(&under.sql) == squeeze(&block.sql) => {
                return Err(SpecError::new(format!(
                    "{file}: `{}` equals what it overrides; delete it",
                    block.name
                )));
            }
            Some(under) => *under = block,
        }
    }
    Ok(())
}

fn squeeze(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces template variables, including nested ones down to `deep` levels.
fn expand_variables(
    block: &str,
    text: &str,
    variables: &BTreeMap<String, String>,
    deep: u8,
) -> Result<String, SpecError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        let word = &rest[open + 1..open + length];
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        out.push_str(&rest[..open]);
        if is_word {
            let value = variables.get(word).filter(|_| deep > 0).ok_or_else(|| {
                let why =
                    if deep > 0 { "is not defined by any dialect" } else { "refers to itself" };
                SpecError::new(format!("`{block}` uses the variable {{{word}}}, which {why}"))
            })?;
            out.push_str(&expand_variables(block, value, variables, deep - 1)?);
        } else {
            out.push_str(&rest[open..=open + length]);
        }
        rest = &rest[open + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// A statement without the semicolon that ends it in a file. Oracle's blocks end with their own.
fn without_end(sql: &str) -> &str {
    let is_block = sql.starts_with("DECLARE") || sql.starts_with("BEGIN");
    if is_block { sql } else { sql.trim_end_matches(';') }
}

/// Replaces `:param` with placeholders, cast as the dialect wants it, except in strings, comments
/// and `::`.
fn bind(
    definition: &StatementDef,
    sql: &str,
    placeholder: Placeholder,
    casts: &BTreeMap<ParamKind, String>,
) -> Result<BoundStatement, SpecError> {
    let mut out = String::with_capacity(sql.len());
    let mut occurrences = Vec::new();
    let mut rest = sql.trim();
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c == '\'' || c == '"' {
            rest[1..].find(c).map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("::") {
            2
        } else if c == ':' && rest[1..].starts_with(|n: char| n.is_ascii_lowercase()) {
            let name_end = rest[1..]
                .find(|n: char| !(n.is_ascii_alphanumeric() || n == '_'))
                .map_or(rest.len(), |end| end + 1);
            let name = &rest[1..name_end];
            let index = definition.params.iter().position(|p| p.name == name).ok_or_else(|| {
                SpecError::new(format!("`{}` uses :{name}, which is not declared", definition.name))
            })?;
            occurrences.push(index);
            let mark = match placeholder {
                Placeholder::Dollar => format!("${}", index + 1),
                Placeholder::NumberedQuestion => format!("?{}", index + 1),
                Placeholder::At => format!("@p{}", index + 1),
                Placeholder::Question => "?".to_owned(),
            };
            let kind = ParamKind::of(definition.params[index].param_type);
            match kind.and_then(|kind| casts.get(&kind)) {
                Some(wanted) => out.push_str(&format!("CAST({mark} AS {wanted})")),
                None => out.push_str(&mark),
            }
            rest = &rest[name_end..];
            continue;
        } else {
            c.len_utf8()
        };
        if !rest.starts_with("--") {
            out.push_str(&rest[..skipped]);
        }
        rest = &rest[skipped..];
    }
    if let Some(unused) = (0..definition.params.len()).find(|i| !occurrences.contains(i)) {
        let name = &definition.params[unused].name;
        return Err(SpecError::new(format!("`{}` does not use :{name}", definition.name)));
    }
    let order = match placeholder {
        Placeholder::Question => occurrences,
        _ => (0..definition.params.len()).collect(),
    };
    Ok(BoundStatement {
        name: definition.name.to_string(),
        sql: without_end(out.trim()).to_owned(),
        params: definition.params.clone(),
        order,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> StatementDef {
        statement("pair", &[param("b", ColumnType::Int), param("a", ColumnType::Text)])
    }

    fn dialect(name: &str, placeholder: Placeholder) -> Dialect {
        let variables = BTreeMap::from([("lock".to_owned(), "FOR UPDATE".to_owned())]);
        let placeholder = Some(placeholder);
        Dialect { name: name.into(), placeholder, variables, ..Dialect::default() }
    }

    fn catalogue(
        placeholder: Placeholder,
        files: &[&str],
    ) -> Result<StatementCatalogue, SpecError> {
        let layers: Vec<_> = files
            .iter()
            .map(|text| DialectLayer {
                dialect: dialect("test", placeholder),
                files: vec![("test.sql".into(), (*text).into())],
            })
            .collect();
        StatementCatalogue::new(&layers, &[&pair()], false)
    }

    const TEXT: &str = "-- name: pair\nSELECT :a::text, ':a', :b -- not :c\n FROM t {lock};\n";

    #[test]
    fn placeholders_follow_the_declaration_and_spare_strings_casts_and_comments() {
        let bound = catalogue(Placeholder::Dollar, &[TEXT]).unwrap();
        let statement = bound.statement("pair").unwrap();
        assert_eq!(statement.sql, "SELECT $2::text, ':a', $1 \n FROM t FOR UPDATE");
        assert_eq!(statement.order, [0, 1]);
        let bound = catalogue(Placeholder::Question, &[TEXT]).unwrap();
        assert_eq!(bound.statement("pair").unwrap().order, [1, 0]);
    }

    #[test]
    fn parameters_are_cast_where_a_dialect_wants_it() {
        let mut layer = DialectLayer {
            dialect: dialect("test", Placeholder::Question),
            files: vec![("test.sql".into(), TEXT.into())],
        };
        layer.dialect.casts = [(ParamKind::Int, "integer".to_owned())].into();
        let bound = StatementCatalogue::new(&[layer], &[&pair()], false).unwrap();
        let sql = &bound.statement("pair").unwrap().sql;
        assert_eq!(sql, "SELECT ?::text, ':a', CAST(? AS integer) \n FROM t FOR UPDATE");
    }

    #[test]
    fn bad_books_say_what_is_wrong() {
        for (files, message) in [
            (vec!["SELECT 1"], "text before"),
            (vec!["-- name: other\nSELECT 1"], "no statement `pair`"),
            (vec!["-- name: pair\nSELECT :a"], "does not use :b"),
            (vec!["-- name: pair\nSELECT :a, :b, :c"], "uses :c"),
            (vec!["-- name: pair\nSELECT :a, :b {nowhere}"], "{nowhere}"),
            (vec![TEXT, TEXT], "equals what it overrides"),
            (vec!["-- name: pair\nSELECT :a, :b\n-- name: pair\n"], "twice"),
        ] {
            let error = catalogue(Placeholder::Dollar, &files).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_statement_may_bring_its_text_along_and_a_book_may_override_it() {
        let own = StatementDef { text: Some("SELECT :a, :b {lock}".into()), ..pair() };
        let catalogue = |text: &str| {
            let layer = DialectLayer {
                dialect: dialect("test", Placeholder::Dollar),
                files: vec![("test.sql".into(), text.into())],
            };
            let catalogue = StatementCatalogue::new(&[layer], &[&own], false).unwrap();
            catalogue.statement("pair").unwrap().sql.clone()
        };
        assert_eq!(catalogue(""), "SELECT $2, $1 FOR UPDATE");
        assert_eq!(catalogue("-- name: pair\nVALUES (:a, :b)"), "VALUES ($2, $1)");
    }

    #[test]
    fn words_may_hold_words_but_not_themselves() {
        let with = |variables: &[(&str, &str)]| {
            let variables =
                variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let layer = DialectLayer {
                dialect: Dialect { variables, ..dialect("test", Placeholder::Question) },
                files: vec![("test.sql".into(), "-- name: pair\n:a :b {outer}".into())],
            };
            StatementCatalogue::new(&[layer], &[&pair()], false)
        };
        let catalogue = with(&[("outer", "<{inner}>"), ("inner", "x")]).unwrap();
        assert_eq!(catalogue.statement("pair").unwrap().sql, "? ? <x>");
        let error = with(&[("outer", "{outer}")]).unwrap_err().to_string();
        assert!(error.contains("{outer}, which refers to itself"), "{error}");
    }

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

    #[test]
    fn an_override_keeps_the_place_of_what_it_overrides() {
        let base = "-- name: create.a\nA\n-- name: create.b\nB\n-- name: pair\n:a :b";
        let over = "-- name: create.a\nC\n";
        let bound = catalogue(Placeholder::Dollar, &[base, over]).unwrap();
        let texts: Vec<_> = bound.scripts("create").map(|s| s.sql.trim()).collect();
        assert_eq!(texts, ["C", "B"]);
    }
}
