//! Creates the statement catalogue of a workload for a dialect from the files under `sql/`, which
//! are embedded in release builds (debug builds read the folder).
//!
//! ```text
//! sql/base/dialect.toml  sql/base/_build/*.sql  sql/base/tproc-c/*.sql      shared by all
//! sql/postgres/dialect.toml (parent = "base")   sql/postgres/tproc-c/*.sql  only what differs
//! ```
//!
//! `_build` holds the statements about the table `triphammer_build`, in which the runner records
//! what was built; they are part of every workload's catalogue.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rust_embed::RustEmbed;
use triphammer_core::sql::{
    Dialect, DialectLayer, DialectOption, Layout, StatementCatalogue, StatementDef, optional,
    param, statement,
};
use triphammer_core::value::ColumnType::Text;
use triphammer_core::workload::{Description, Name, OptionCommand, OptionDef};
use triphammer_core::{Scale, SpecError};

#[derive(RustEmbed)]
#[folder = "sql"]
struct Files;

/// Statements on `triphammer_build`: which workload was built, at what scale, from which seed, and
/// how far. Also the scripts `build_record.create`, harmless if the table exists, and
/// `build_record.drop`.
#[must_use]
pub fn build_statements() -> [StatementDef; 7] {
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
    let mut variables = option_variables(&chain, dialect, options)?;
    variables.extend(layouts.iter().flat_map(|layout| layout.variables.clone()));
    variables.extend(scale.map(|scale| ("scale".to_owned(), scale.to_string())));
    let mut folders = vec!["_build"];
    folders.extend(workload.extends.as_deref());
    folders.push(&workload.name);
    let mut layers: Vec<_> = chain
        .into_iter()
        .map(|dialect| DialectLayer { files: files(&dialect.name, &folders), dialect })
        .collect();
    layers.push(DialectLayer {
        dialect: Dialect { name: dialect.to_owned(), variables, ..Dialect::default() },
        files: Vec::new(),
    });
    let build = build_statements();
    let definitions: Vec<_> = build.iter().chain(&workload.statements).collect();
    let omitted: Vec<&str> =
        layouts.iter().flat_map(|layout| &layout.omits).map(String::as_str).collect();
    StatementCatalogue::new(&layers, &definitions, procedures)
        .and_then(|catalogue| catalogue.without(&omitted).with_own(&workload.own_sql, &names))
        .map_err(|error| SpecError::new(format!("{} on {dialect}: {error}", workload.name)))
}

/// The template variables set by options, including defaults.
fn option_variables(
    chain: &[Dialect],
    dialect: &str,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, SpecError> {
    let options: Vec<&DialectOption> = chain.iter().flat_map(|dialect| &dialect.options).collect();
    if let Some(name) = given.keys().find(|name| options.iter().all(|o| o.name != **name)) {
        return Err(SpecError::new(format!("unknown option `{name}` for {dialect}")));
    }
    let mut variables = BTreeMap::new();
    for option in options {
        let value = given.get(&option.name).unwrap_or(&option.default);
        variables.extend(option.variables(&option.read(value)?));
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
                };
                (name, definition)
            })
            .collect()
    })
}

/// Names of all dialects, including the base.
#[must_use]
pub fn dialects() -> Vec<String> {
    let mut names: Vec<_> = Files::iter()
        .filter_map(|path| path.strip_suffix("/dialect.toml").map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// A dialect and its ancestors, base first.
pub(crate) fn chain(name: &str) -> Result<Vec<Dialect>, SpecError> {
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
    let dialect: Dialect =
        toml::from_str(&text).map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
    if dialect.name != name {
        return Err(SpecError::new(format!(
            "sql/{path}: expected the name of its folder, got `{}`",
            dialect.name
        )));
    }
    Ok(dialect)
}

/// The files of a dialect's folders, sorted by name within each folder.
fn files(dialect: &str, folders: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in folders {
        let prefix = format!("{dialect}/{folder}/");
        let mut paths: Vec<_> = Files::iter()
            .filter(|path| path.starts_with(&prefix) && path.ends_with(".sql"))
            .collect();
        paths.sort_unstable();
        found.extend(paths.into_iter().filter_map(|path| {
            let text = text(&path)?;
            Some((format!("sql/{path}"), text))
        }));
    }
    found
}

pub(crate) fn text(path: &str) -> Option<String> {
    let file = Files::get(path)?;
    Some(String::from_utf8_lossy(&file.data).into_owned())
}
