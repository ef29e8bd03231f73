//! Obstacles to dropping tables and creating new ones. On these servers such statements commit
//! implicitly, one by one, so everything that would make one of them fail is checked before the
//! first.

use triphammer_core::{DbError, ErrorClass};

use super::connection::Connection;
use super::load::CHUNK_BYTES;
use super::quote::quote_literal;

/// Bytes of a packet besides the rows or the text in it, and of the row that fills it.
const PACKET_SPARE: usize = 16 * 1024;
/// Seconds that a statement of this session waits for tables in use: the server's own limit is a
/// day.
const LOCK_WAIT_SECONDS: u32 = 60;
/// Name of objects that are created and dropped again to test whether that is permitted.
const PROBE: &str = "triphammer_probe";

/// Finds what depends on tables that are to be dropped.
pub(super) async fn dependents(
    connection: &mut Connection,
    tables: &[&str],
) -> Result<Vec<String>, DbError> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    connection.batch(&format!("SET SESSION lock_wait_timeout = {LOCK_WAIT_SECONDS}")).await?;
    let names: Vec<String> = tables.iter().map(|table| quote_literal(table)).collect();
    let names = names.join(", ");
    let foreign_keys = format!(
        "SELECT DISTINCT CONCAT('foreign key ', constraint_name, ' of table ', table_schema, '.', \
         table_name) FROM information_schema.key_column_usage \
         WHERE referenced_table_schema = DATABASE() AND LOWER(referenced_table_name) IN ({names}) \
         AND NOT (table_schema = DATABASE() AND LOWER(table_name) IN ({names}))"
    );
    let named: Vec<String> = (tables.iter())
        .map(|table| {
            let name = quote_literal(&format!("`.`{table}`"));
            format!("LOCATE(CONCAT('`', DATABASE(), {name}), view_definition) > 0")
        })
        .collect();
    let views = format!(
        "SELECT CONCAT('view ', table_schema, '.', table_name) FROM information_schema.views \
         WHERE {}",
        named.join(" OR ")
    );
    let triggers = format!(
        "SELECT CONCAT('trigger ', trigger_name, ' on table ', event_object_table) \
         FROM information_schema.triggers \
         WHERE event_object_schema = DATABASE() AND LOWER(event_object_table) IN ({names})"
    );
    let mut found = Vec::new();
    for sql in [foreign_keys, views, triggers] {
        let rows = connection.ask(&sql).await?;
        found.extend(rows.into_iter().filter_map(|mut row| row.pop().flatten()));
    }
    Ok(found)
}

/// Checks whether a build's packets reach the server, and whether tables may be created with these
/// statements, and procedures if `longest` gives the size of the longest in bytes.
pub(super) async fn rehearse(
    connection: &mut Connection,
    tables: &[&str],
    longest: Option<usize>,
) -> Result<(), DbError> {
    let needed = longest.unwrap_or_default().max(CHUNK_BYTES) + PACKET_SPARE;
    let answer = connection.ask("SELECT @@max_allowed_packet").await?;
    let allowed = answer.first().and_then(|row| row.first()?.as_deref()?.parse::<usize>().ok());
    if let Some(allowed) = allowed.filter(|allowed| *allowed < needed) {
        let message = format!(
            "max_allowed_packet is {allowed} bytes, but a build needs {needed}: increase it on \
             the server"
        );
        return Err(DbError::new(ErrorClass::Unsupported, message));
    }
    connection
        .batch(&format!("CREATE TABLE IF NOT EXISTS {PROBE} (probe INT PRIMARY KEY)"))
        .await?;
    connection.batch(&format!("DROP TABLE {PROBE}")).await?;
    if longest.is_some() {
        connection.batch(&format!("DROP PROCEDURE IF EXISTS {PROBE}")).await?;
        connection.batch(&format!("CREATE PROCEDURE {PROBE}() BEGIN END")).await?;
        connection.batch(&format!("DROP PROCEDURE {PROBE}")).await?;
    }
    for table in tables {
        rehearse_table(connection, table).await?;
    }
    Ok(())
}

/// Creates a table as a temporary one, which may have the name of another, and drops it.
async fn rehearse_table(connection: &mut Connection, create: &str) -> Result<(), DbError> {
    let Some((before, after)) = create.split_once("CREATE TABLE ") else { return Ok(()) };
    let name = after.split(['(', ' ', '\n']).find(|word| !word.is_empty()).unwrap_or_default();
    let made = connection.batch(&format!("{before}CREATE TEMPORARY TABLE {after}")).await;
    match made {
        Ok(_) => connection.batch(&format!("DROP TEMPORARY TABLE {name}")).await.map(drop),
        // Neither the privilege to create temporary tables nor partitions of them can be tested.
        Err(error) if matches!(error.code(), Some("1044" | "1142" | "1506" | "1562")) => Ok(()),
        Err(error) => Err(error.context(format_args!("creating table {name}"))),
    }
}
