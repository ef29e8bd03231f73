//! What runs once before a run: every statement is prepared, so that all errors of the database are reported together,
//! and the queries that parameters need are read.

use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session};
use triphammer_core::sql::BoundStatement;
use triphammer_core::workload::Statements;
use triphammer_core::{DbError, ErrorClass, SpecError};

use super::datum::Datum;
use super::generator::{Generator, StartQuery};
use super::runner::{bound, chain, place};
use super::workload::Custom;

/// Most rows of a query for a parameter.
const ROWS_MAX: usize = 1_000_000;
/// Most bytes of text of all its rows.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Prepares all statements, and reads the queries of parameters.
///
/// # Errors
/// With all errors of the database, each with its place.
pub async fn start<S: Session>(
    custom: &Custom,
    statements: &Statements<'_>,
    session: &mut S,
) -> Result<(), DbError> {
    let wrong = |error: SpecError| DbError::new(ErrorClass::Unsupported, error.to_string());
    let chain = chain(statements).map_err(wrong)?;
    let errors = try_statements(custom, statements, session).await?;
    if !errors.is_empty() {
        return Err(together(errors.into_iter().map(|(_, error)| error).collect()));
    }
    for parameter in &custom.definition.parameters {
        let Some(query) = parameter.generator.query() else { continue };
        let name = custom.definition.names.name(parameter.slot);
        let values = read(query, name, &chain, session);
        let values = values.await.map_err(|error| error.context(&query.place))?;
        match &parameter.generator {
            Generator::List(_) if values.is_empty() => {
                let message = format!(
                    "the query of parameter `{name}` returned no row; build the data first, or change it"
                );
                return Err(DbError::new(ErrorClass::Other, message).context(&query.place));
            }
            Generator::List(list) => list.load(values),
            Generator::Sequence { loaded, .. } => {
                let last = match values.first() {
                    None | Some(Datum::Null) => 0,
                    Some(Datum::Int(last)) => *last,
                    Some(other) => other.to_string().parse().map_err(|_| {
                        let message = format!("the query of parameter `{name}` must return a whole number, got {other}");
                        DbError::new(ErrorClass::Other, message).context(&query.place)
                    })?,
                };
                let _ = loaded.set(last);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Prepares all statements; returns the numbers of those that the database rejects, with the errors and their places.
///
/// # Errors
/// When the session is lost.
pub async fn try_statements<S: Session>(
    custom: &Custom,
    statements: &Statements<'_>,
    session: &mut S,
) -> Result<Vec<(usize, DbError)>, DbError> {
    let wrong = |error: SpecError| DbError::new(ErrorClass::Unsupported, error.to_string());
    let chain = chain(statements).map_err(wrong)?;
    let mut errors = Vec::new();
    for statement in custom.statements() {
        let prepared = match bound(custom, statement, statements, &chain) {
            Ok((bound, _)) => {
                let prepared = session.prepare(&bound).await.map(drop);
                prepared.map_err(|error| error.context(place(custom, statement)))
            }
            Err(error) => Err(error),
        };
        match prepared {
            Err(error) if error.class().loses_session() => return Err(error),
            Err(error) => errors.push((statement.id, error)),
            Ok(()) => {}
        }
    }
    Ok(errors)
}

/// One error with the texts of all.
fn together(errors: Vec<DbError>) -> DbError {
    let class = errors.first().map_or(ErrorClass::Other, DbError::class);
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    DbError::new(class, lines.join("\n"))
}

/// The first column of a query.
async fn read<S: Session>(
    query: &StartQuery,
    name: &str,
    chain: &[String],
    session: &mut S,
) -> Result<Vec<Datum>, DbError> {
    let sql = query.sql.of(chain).ok_or_else(|| {
        let message = format!("the query of parameter `{name}` has no SQL for this database");
        DbError::new(ErrorClass::Unsupported, message)
    })?;
    let statement = BoundStatement {
        name: format!("parameter {name}"),
        sql: sql.clone(),
        params: Vec::new(),
        order: Vec::new(),
    };
    let id = session.prepare(&statement).await?;
    session.begin(Access::Read).await?;
    let (mut values, mut bytes, mut count) = (Vec::new(), 0usize, 0usize);
    let mut each = |rows: &Rows| {
        for row in rows.iter().filter(|row| !row.is_empty()) {
            count += 1;
            if count > ROWS_MAX || bytes > BYTES_MAX {
                values = Vec::new();
                continue;
            }
            let mut value = Datum::Null;
            value.take(&row, 0);
            if let Datum::Text(text) = &value {
                bytes += text.len();
            }
            values.push(value);
        }
    };
    let done = session.stream(id, &[], &mut Rows::new(), &mut each).await;
    let ended = session.rollback().await;
    done?;
    ended?;
    if count > ROWS_MAX || bytes > BYTES_MAX {
        let message = format!(
            "the query of parameter `{name}` returned {count} rows; at most {ROWS_MAX} rows of {} MiB are kept: add a LIMIT",
            BYTES_MAX / 1024 / 1024
        );
        return Err(DbError::new(ErrorClass::Other, message));
    }
    Ok(values)
}
