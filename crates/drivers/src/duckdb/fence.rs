//! The fence around SQL that is run for somebody else. DuckDB has it: without external access it
//! opens only the database and its own temporary files, loads no extensions and attaches nothing;
//! with a locked configuration nobody can change that.
//!
//! Before 2.0 the lock left out functions that set up logs and profiles: they write to the
//! process's standard output, and a log in a forbidden folder ends the process. There statements
//! are refused that name these functions, or functions that run SQL from a text.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_duckdb::Library;

use super::UrlOptions;
use crate::target::Fence;

/// First version whose lock covers everything.
const COMPLETE: (u32, u32) = (2, 0);

/// Names that a statement of somebody else must not have before [`COMPLETE`].
const UNLOCKED: [&str; 5] = [
    "enable_logging",
    "enable_profiling",
    "enable_profile",
    "disable_logging",
    "json_execute_serialized_sql",
];
/// A function of the same kind whose name may also be that of a column.
const QUERY: &str = "query";

/// The configuration with which a database is opened.
pub(super) fn configuration(fence: Fence, options: &UrlOptions) -> Vec<(&'static str, String)> {
    let no = || "false".to_owned();
    let mut configuration = match fence {
        Fence::Off => return Vec::new(),
        Fence::Files | Fence::Sql => {
            vec![("enable_external_access", no()), ("autoload_known_extensions", no())]
        }
    };
    if fence == Fence::Sql {
        configuration.push(("lock_configuration", "true".to_owned()));
        configuration.extend(options.threads.map(|threads| ("threads", threads.to_string())));
        configuration.extend(options.memory_limit.clone().map(|limit| ("memory_limit", limit)));
    }
    configuration
}

/// Whether statements have to be [checked](check).
pub(super) fn is_incomplete(fence: Fence, library: &Library) -> bool {
    fence == Fence::Sql && library.is_before(COMPLETE)
}

/// Rejects SQL that would pass the lock.
pub(super) fn check(sql: &str) -> Result<(), DbError> {
    let lower = sql.to_ascii_lowercase();
    let named = UNLOCKED.iter().copied().find(|name| lower.contains(name));
    let Some(name) = named.or_else(|| calls_query(&lower).then_some(QUERY)) else { return Ok(()) };
    let message = format!(
        "`{name}` is not available to SQL that a server runs for its clients with DuckDB before \
         {}.{}",
        COMPLETE.0, COMPLETE.1
    );
    Err(DbError::new(ErrorClass::Other, message))
}

/// Whether SQL in lower case calls the function `query`. White space and comments may precede the
/// parenthesis.
fn calls_query(sql: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    sql.match_indices(QUERY).any(|(start, _)| {
        let after = sql[start + QUERY.len()..].trim_start_matches('"').trim_start();
        !sql[..start].ends_with(is_word)
            && ["(", "/*", "--"].iter().any(|begin| after.starts_with(begin))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_and_tables_are_no_functions() {
        for sql in [
            "SELECT query, sum(n) FROM queries GROUP BY query",
            "INSERT INTO query VALUES (1)",
            "SELECT my_query(1), a.query - 1 FROM subquery",
            "UPDATE logging SET enable = true",
        ] {
            check(sql).unwrap();
        }
        for sql in ["FROM Query('SELECT 1')", "CALL enable_LOGGING()", "FROM \"query\" /**/ ('x')"]
        {
            assert!(check(sql).unwrap_err().to_string().contains("not available"), "{sql}");
        }
    }
}
