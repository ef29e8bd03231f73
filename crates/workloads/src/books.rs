//! Makes the SQL book of a workload for a dialect from the files under `sql/`, which release builds
//! carry inside (debug builds read the folder).
//!
//! ```text
//! sql/base/dialect.toml  sql/base/_build/*.sql  sql/base/tproc-c/*.sql      what all share
//! sql/postgres/dialect.toml (parent = "base")   sql/postgres/tproc-c/*.sql  only what differs
//! ```
//!
//! `_build` holds the statements about the table `triphammer_build`, in which the runner keeps what
//! was built; they are in every workload's book.

use rust_embed::RustEmbed;
use triphammer_core::SpecError;
use triphammer_core::sql::{Dialect, Layer, SqlBook, StatementDef, param, statement};
use triphammer_core::value::ColumnType::Text;
use triphammer_core::workload::Workload;

#[derive(RustEmbed)]
#[folder = "sql"]
struct Files;

/// Statements about `triphammer_build`: which workload was built here, at what scale, from which
/// seed, and how far. Beside them the scripts `build_record.create`, harmless when the table is
/// there, and `build_record.drop`.
pub static BUILD_STATEMENTS: &[StatementDef] = &[
    // item, value; ordered by item.
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
    // One integer: rows of other workloads.
    statement("build_record.others", &[param("workload", Text)]),
];

/// The book of workload `W` in `dialect`; with `procedures` the calls must be there too.
///
/// # Errors
/// When there is no such dialect, or its book is not whole.
pub fn book<W: Workload>(dialect: &str, procedures: bool) -> Result<SqlBook, SpecError> {
    let layers = chain(dialect)?
        .into_iter()
        .map(|dialect| Layer { files: files(&dialect.name, &["_build", W::NAME]), dialect })
        .collect::<Vec<_>>();
    let definitions: Vec<_> = BUILD_STATEMENTS.iter().chain(W::statements()).collect();
    SqlBook::new(&layers, &definitions, procedures)
        .map_err(|error| SpecError::new(format!("{} on {dialect}: {error}", W::NAME)))
}

/// Names of all dialects, the base included.
#[must_use]
pub fn dialects() -> Vec<String> {
    let mut names: Vec<_> = Files::iter()
        .filter_map(|path| path.strip_suffix("/dialect.toml").map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// A dialect and its parents, the base first.
fn chain(name: &str) -> Result<Vec<Dialect>, SpecError> {
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

fn dialect(name: &str) -> Result<Dialect, SpecError> {
    let path = format!("{name}/dialect.toml");
    let Some(text) = text(&path) else {
        let known = dialects().join(", ");
        return Err(SpecError::new(format!("no SQL dialect is called `{name}`; there is {known}")));
    };
    let dialect: Dialect =
        toml::from_str(&text).map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
    if dialect.name != name {
        return Err(SpecError::new(format!("sql/{path} names itself `{}`", dialect.name)));
    }
    Ok(dialect)
}

/// The files of a dialect's folders, by name within each folder.
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

fn text(path: &str) -> Option<String> {
    let file = Files::get(path)?;
    Some(String::from_utf8_lossy(&file.data).into_owned())
}
