//! The catalogue: the layers of SQL over each other, with every statement bound.

use std::collections::BTreeMap;

use super::dialect::{Dialect, Explain, Layout, Placeholder};
use super::keys;
use super::statement::{BoundStatement, OwnSql, OwnSqlUse, Required, StatementDef};
use super::text::{Script, bind, expand_variables, lay_over, parse_blocks};
use crate::error::{DbError, ErrorClass, SpecError};
use crate::sql_forms::join_by;

/// Maximum nesting of template variables.
const VARIABLES_DEEP: u8 = 4;

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
    /// Scripts of keys that are created with their tables instead.
    folded: Vec<Script>,
    ends_transactions: bool,
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
        let blocks = blocks(layers, definitions)?;
        let mut catalogue = Self::without_statements(layers);
        catalogue.add(blocks, layers, definitions)?;
        catalogue.check_required(definitions, procedures)?;
        Ok(catalogue)
    }

    /// What the dialects declare: a later layer overrides the ones before it.
    fn without_statements(layers: &[DialectLayer]) -> Self {
        let dialects = layers.iter().map(|layer| &layer.dialect);
        let last_first = || dialects.clone().rev();
        Self {
            dialect: last_first().next().map_or_else(String::new, |last| last.name.clone()),
            placeholder: last_first()
                .find_map(|dialect| dialect.placeholder)
                .unwrap_or(Placeholder::Question),
            clustered: last_first().find_map(|dialect| dialect.clustered).unwrap_or(false),
            done_before: dialects.clone().flat_map(|dialect| dialect.done_before.clone()).collect(),
            explain: last_first().find_map(|dialect| dialect.explain.clone()),
            statements: BTreeMap::new(),
            scripts: Vec::new(),
            folded: Vec::new(),
            ends_transactions: false,
        }
    }

    /// Expands the variables of blocks, and adds them as statements and scripts.
    fn add(
        &mut self,
        blocks: Vec<Script>,
        layers: &[DialectLayer],
        definitions: &[&StatementDef],
    ) -> Result<(), SpecError> {
        let (mut variables, mut casts, mut concat) = (BTreeMap::new(), BTreeMap::new(), None);
        for DialectLayer { dialect, .. } in layers {
            variables.extend(dialect.variables.clone());
            casts.extend(dialect.casts.clone());
            concat = dialect.concat.as_deref().or(concat);
        }
        for mut block in blocks {
            block.sql = expand_variables(&block.name, &block.sql, &variables, VARIABLES_DEEP)?;
            if let Some(operator) = concat {
                block.sql = join_by(&block.sql, operator);
            }
            match definitions.iter().find(|d| d.name == block.name) {
                Some(definition) => {
                    let bound = bind(definition, &block.sql, self.placeholder, &casts)?;
                    self.statements.insert(block.name, bound);
                }
                None => self.scripts.push(block),
            }
        }
        Ok(())
    }

    fn check_required(
        &self,
        definitions: &[&StatementDef],
        procedures: bool,
    ) -> Result<(), SpecError> {
        for definition in definitions {
            let needed = match definition.required {
                Required::Always => true,
                Required::WithProcedures => procedures,
                Required::Optional => false,
            };
            if needed && !self.statements.contains_key(&*definition.name) {
                return Err(SpecError::new(format!(
                    "the {} catalogue has no statement `{}`",
                    self.dialect, definition.name
                )));
            }
        }
        Ok(())
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

    /// The same catalogue for a server that demands primary keys: they are created with the tables,
    /// and a table without one gets the column `row`.
    #[must_use]
    pub fn with_keys_in_tables(mut self, row: &str) -> Self {
        self.folded = keys::fold(&mut self.scripts, row);
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

    /// The scripts of a kind, with those whose work is done where the tables are created.
    pub fn scripts_meant<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Script> {
        self.scripts(kind).chain(self.folded.iter().filter(move |script| script.kind() == kind))
    }

    /// All scripts, in the order of the files.
    pub fn all_scripts(&self) -> &[Script] {
        &self.scripts
    }
}

/// The blocks of all layers, and the texts of definitions that no layer overrides.
fn blocks(
    layers: &[DialectLayer],
    definitions: &[&StatementDef],
) -> Result<Vec<Script>, SpecError> {
    let mut blocks: Vec<Script> = Vec::new();
    for (file, text) in layers.iter().flat_map(|layer| &layer.files) {
        lay_over(&mut blocks, parse_blocks(file, text)?, file)?;
    }
    for definition in definitions {
        if let Some(text) = &definition.text
            && blocks.iter().all(|block| *block.name != *definition.name)
        {
            blocks.push(Script { name: definition.name.to_string(), sql: text.to_string() });
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{ParamKind, param, statement};
    use crate::value::ColumnType;

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
    fn an_override_keeps_the_place_of_what_it_overrides() {
        let base = "-- name: create.a\nA\n-- name: create.b\nB\n-- name: pair\n:a :b";
        let over = "-- name: create.a\nC\n";
        let bound = catalogue(Placeholder::Dollar, &[base, over]).unwrap();
        let texts: Vec<_> = bound.scripts("create").map(|s| s.sql.trim()).collect();
        assert_eq!(texts, ["C", "B"]);
    }
}
