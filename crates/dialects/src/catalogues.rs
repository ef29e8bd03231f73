//! Creates the statement catalogue of a workload for a dialect from the files under `sql/`, which
//! are embedded in release builds (debug builds read the folder).
//!
//! ```text
//! sql/base/dialect.toml  sql/base/_build/*.sql  sql/base/tproc-c/*.sql      shared by all
//! sql/postgres/dialect.toml (parent = "base")   sql/postgres/tproc-c/*.sql  only what differs
//! ```
//!
//! `_build` holds the statements about the table `triphammer_build`, in which the runner records
//! what was built; they are part of every workload's catalogue. `_command` holds what the workloads of
//! commands, such as `drill`, have in common.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use triphammer_core::odbc::{OdbcDef, OdbcDialect};
use triphammer_core::sql::{
    Dialect, DialectLayer, DialectOption, KeysWithTables, Layout, StatementCatalogue, StatementDef,
    optional, param, statement,
};
use triphammer_core::value::ColumnType::Text;
use triphammer_core::workload::{Author, Description, Name, OptionCommand, OptionDef};
use triphammer_core::{Scale, SpecError};

pub(crate) use crate::dialect_files::text;
use crate::dialect_files::{self, sql};

/// Statements on `triphammer_build`: which workload was built, at what scale, from which seed, and
/// how far. Also the scripts `build_record.create`, harmless if the table exists, and
/// `build_record.drop`.
#[must_use]
pub fn build_statements() -> [StatementDef; 8] {
    [
        // Columns item and value, ordered by item.
        statement("build_record.all", &[param("workload", Text)]),
        statement(
            "build_record.insert",
            &[param("workload", Text), param("item", Text), param("value", Text)],
        ),
        statement(
            "build_record.update",
            &[param("workload", Text), param("item", Text), param("value", Text)],
        ),
        statement("build_record.delete_all", &[param("workload", Text)]),
        // One integer: the number of rows of other workloads.
        statement("build_record.others", &[param("workload", Text)]),
        // The names of all workloads, in order.
        statement("build_record.workloads", &[]),
        // Schema facts that the planner uses, as text: kind, table, name, description.
        optional("fingerprint.objects", &[]),
        optional("fingerprint.statistics", &[]),
    ]
}

/// The catalogue of a workload in `dialect`, with default options; with `procedures` the calls are
/// required too.
///
/// # Errors
/// When there is no such dialect, or its catalogue is incomplete.
pub fn catalogue(
    workload: &Description,
    dialect: &str,
    procedures: bool,
) -> Result<StatementCatalogue, SpecError> {
    catalogue_with(workload, dialect, procedures, &BTreeMap::new())
}

/// Like [`catalogue`], with options of the dialect.
///
/// # Errors
/// As [`catalogue`], and when the dialect has no such option or value.
pub fn catalogue_with(
    workload: &Description,
    dialect: &str,
    procedures: bool,
    options: &BTreeMap<String, String>,
) -> Result<StatementCatalogue, SpecError> {
    catalogue_of_build(workload, dialect, procedures, None, options, &[])
}

/// Like [`catalogue_with`], for a build at this scale with these layouts of the tables.
///
/// # Errors
/// As [`catalogue_with`].
pub fn catalogue_of_build(
    workload: &Description,
    dialect: &str,
    procedures: bool,
    scale: Option<Scale>,
    options: &BTreeMap<String, String>,
    layouts: &[Layout],
) -> Result<StatementCatalogue, SpecError> {
    let chain = chain(dialect)?;
    let names: Vec<String> = chain.iter().map(|dialect| dialect.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut variables = option_variables(&chain, workload, dialect, options)?;
    variables.extend(layouts.iter().flat_map(|layout| layout.variables.clone()));
    variables.extend(scale.map(|scale| ("scale".to_owned(), scale.to_string())));
    let mut folders = vec!["_build"];
    folders.extend(matches!(workload.author, Author::Command(_)).then_some("_command"));
    folders.extend(workload.extends.as_deref());
    folders.push(&workload.name);
    let mut layers: Vec<_> = chain
        .into_iter()
        .map(|dialect| DialectLayer { files: sql(&dialect.name, &folders), dialect })
        .collect();
    layers.push(DialectLayer {
        dialect: Dialect { name: dialect.to_owned(), variables, ..Dialect::default() },
        files: Vec::new(),
    });
    let build = build_statements();
    let definitions: Vec<_> = build.iter().chain(&workload.statements).collect();
    StatementCatalogue::new(&layers, &definitions, procedures)
        .and_then(|catalogue| catalogue.laid_out(layouts).with_own(&workload.own_sql, &names))
        .map_err(|error| SpecError::new(format!("{} on {dialect}: {error}", workload.name)))
}

/// The template variables set by options, including defaults.
fn option_variables(
    chain: &[Dialect],
    workload: &Description,
    dialect: &str,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, SpecError> {
    let options: Vec<&DialectOption> = chain.iter().flat_map(|dialect| &dialect.options).collect();
    if let Some(name) = given.keys().find(|name| options.iter().all(|o| o.name != **name)) {
        return Err(SpecError::new(format!("unknown option `{name}` for {dialect}")));
    }
    let mut variables = BTreeMap::new();
    for option in options {
        let value = option.read(given.get(&option.name).unwrap_or(&option.default))?;
        if let Some(only) = option.workload.as_ref().filter(|only| **only != *workload.name)
            && value != option.default
        {
            let DialectOption { name, .. } = option;
            let message = format!("--{name} is an option of {only}, not of {}", workload.name);
            return Err(SpecError::new(message).about(name));
        }
        variables.extend(option.variables(&value));
    }
    Ok(variables)
}

/// The build options of a dialect, besides those of the workload.
///
/// # Errors
/// When there is no such dialect.
pub fn options(dialect: &str) -> Result<Vec<DialectOption>, SpecError> {
    Ok(chain(dialect)?.into_iter().flat_map(|dialect| dialect.options).collect())
}

/// The layouts of tables that a dialect knows.
///
/// # Errors
/// When there is no such dialect.
pub fn layouts(dialect: &str) -> Result<Vec<Layout>, SpecError> {
    Ok(chain(dialect)?.into_iter().flat_map(|dialect| dialect.layouts).collect())
}

/// Largest values of options of workloads in a dialect, by name.
///
/// # Errors
/// When there is no such dialect.
pub fn most(dialect: &str) -> Result<BTreeMap<String, u32>, SpecError> {
    Ok(chain(dialect)?.into_iter().flat_map(|dialect| dialect.most).collect())
}

/// How the servers of a dialect demand primary keys; `None` if they do not.
///
/// # Errors
/// When there is no such dialect.
pub fn keys_with_tables(dialect: &str) -> Result<Option<KeysWithTables>, SpecError> {
    Ok(chain(dialect)?.into_iter().rev().find_map(|dialect| dialect.keys))
}

/// Whether one statement of a dialect drops several tables.
///
/// # Errors
/// When there is no such dialect.
pub fn drops_several(dialect: &str) -> Result<bool, SpecError> {
    let declared = chain(dialect)?.into_iter().rev().find_map(|dialect| dialect.drops_several);
    Ok(declared.unwrap_or(false))
}

/// The options of all dialects, each with the dialect that declares it, in the form used by
/// settings.
#[must_use]
pub fn all_options() -> &'static [(Name, OptionDef)] {
    static ALL: OnceLock<Vec<(Name, OptionDef)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let declared = dialects().into_iter().filter_map(|name| dialect(&name).ok());
        declared
            .flat_map(|dialect| {
                let name = Name::from(dialect.name);
                dialect.options.into_iter().map(move |option| (name.clone(), option))
            })
            .map(|(name, option)| {
                let definition = OptionDef {
                    name: option.name.into(),
                    help: option.help.into(),
                    value: Some(option.value.into()),
                    default: option.default.into(),
                    command: OptionCommand::Build,
                    effect: None,
                    repeats: false,
                    short: None,
                    choices: words(&option.values),
                };
                (name, definition)
            })
            .collect()
    })
}

/// The accepted words of an option; they live as long as the program, as all declarations do.
fn words(values: &[String]) -> &'static [(&'static str, &'static str)] {
    let word = |value: &String| -> (&'static str, &'static str) { (value.clone().leak(), "") };
    values.iter().map(word).collect::<Vec<_>>().leak()
}

/// Names of all dialects, including the base.
#[must_use]
pub fn dialects() -> Vec<String> {
    dialect_files::built_in()
}

/// The dialects that can be used by ODBC.
#[must_use]
pub fn odbc_dialects() -> &'static [OdbcDialect] {
    static ALL: OnceLock<Vec<OdbcDialect>> = OnceLock::new();
    ALL.get_or_init(|| {
        let declares = |name: &String| dialect(name).is_ok_and(|dialect| dialect.odbc.is_some());
        let names = dialects().into_iter().filter(|name| name != "base" && declares(name));
        names.filter_map(|name| Some(OdbcDialect::new(&name, odbc_def(&name).ok()?))).collect()
    })
}

/// The dialect of that name to use by ODBC.
///
/// # Errors
/// When there is none; the message names those that there are.
pub fn odbc_dialect(name: &str) -> Result<&'static OdbcDialect, SpecError> {
    odbc_dialects().iter().find(|dialect| dialect.name == name).ok_or_else(|| {
        let known: Vec<_> = odbc_dialects().iter().map(|dialect| dialect.name.as_str()).collect();
        let message = format!(
            "there is no dialect `{name}` for ODBC: use one of {}, or the folder of another with \
             --dialect-dir",
            known.join(", ")
        );
        SpecError::new(message).about("dialect")
    })
}

/// The dialect in a folder of the user's, to use by ODBC.
///
/// # Errors
/// When the folder is not that of a dialect, or a file of it is malformed.
pub fn odbc_dialect_in(folder: &Path) -> Result<&'static OdbcDialect, SpecError> {
    static READ: Mutex<Vec<(&'static OdbcDialect, String)>> = Mutex::new(Vec::new());
    let name_of = |text: &str| {
        let dialect: Dialect = toml::from_str(text).map_err(|error| error.to_string())?;
        Ok(dialect.name)
    };
    let name = dialect_files::add(folder, name_of).map_err(|error| error.about("dialect-dir"))?;
    let def = odbc_def(&name).map_err(|error| error.about("dialect-dir"))?;
    let shown = format!("{def:?}");
    // What is made is never freed, so the same is made once.
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let known = read.iter().find(|(dialect, text)| dialect.name == name && *text == shown);
    if let Some((dialect, _)) = known {
        return Ok(dialect);
    }
    let dialect: &'static OdbcDialect = Box::leak(Box::new(OdbcDialect::new(&name, def)));
    read.push((dialect, shown));
    Ok(dialect)
}

/// What a dialect and its ancestors declare about ODBC.
fn odbc_def(name: &str) -> Result<OdbcDef, SpecError> {
    let sections = chain(name)?.into_iter().map(|dialect| dialect.odbc.unwrap_or_default());
    Ok(sections.fold(OdbcDef::default(), |parent, own| own.over(parent)))
}

/// A dialect and its ancestors, base first.
///
/// # Errors
/// When there is no such dialect, or a file is malformed.
pub fn chain(name: &str) -> Result<Vec<Dialect>, SpecError> {
    let mut chain: Vec<Dialect> = Vec::new();
    let mut wanted = Some(name.to_owned());
    while let Some(name) = wanted {
        if chain.iter().any(|seen| seen.name == name) {
            return Err(SpecError::new(format!("the dialect {name} is its own parent")));
        }
        let dialect = dialect(&name)?;
        wanted = dialect.parent.clone();
        chain.push(dialect);
    }
    chain.reverse();
    Ok(chain)
}

/// A dialect's own properties, without inherited ones.
///
/// # Errors
/// When there is no such dialect, or its file is malformed.
pub fn dialect(name: &str) -> Result<Dialect, SpecError> {
    let path = format!("{name}/dialect.toml");
    let Some(text) = text(&path) else {
        let known = dialects().join(", ");
        return Err(SpecError::new(format!(
            "unknown SQL dialect `{name}`: expected one of {known}"
        )));
    };
    let mut dialect: Dialect =
        toml::from_str(&text).map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
    if dialect_files::is_of_user(name) {
        name.clone_into(&mut dialect.name);
    }
    if dialect.name != name {
        return Err(SpecError::new(format!(
            "sql/{path}: expected the name of its folder, got `{}`",
            dialect.name
        )));
    }
    Ok(dialect)
}
