//! Reads the schema once at the start of a run, with the dialect's own SQL
//! (`_build/fingerprint.sql`). Anything that cannot be read leads to a note and never ends a run.

use std::time::Duration;

use triphammer_core::session::Session;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::Statements;
use triphammer_core::{DbError, Rows};
use triphammer_document::result::{SchemaFact, SchemaKind};

/// Maximum time per statement.
pub(super) const LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of facts kept: more than any workload has tables.
pub(crate) const FACTS_MAX: usize = 2_000;
/// Maximum length of a definition, in characters.
const VALUE_MAX: usize = 2_000;

/// The statements, each with a description of its facts.
pub(super) const STATEMENTS: [(&str, &str); 2] = [
    ("fingerprint.objects", "tables, indexes, constraints and sizes"),
    ("fingerprint.statistics", "the age of the planner's statistics"),
];

/// Reads the facts of one statement.
pub(crate) async fn read<S: Session>(
    catalogue: &StatementCatalogue,
    session: &mut S,
    statement: &str,
) -> Result<Vec<SchemaFact>, DbError> {
    let id = Statements::new(catalogue).prepare(session, statement).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    let mut facts = Vec::new();
    for row in rows.iter() {
        let kind = row.text(0)?;
        let Some(kind) = SchemaKind::ALL.into_iter().find(|known| known.name() == kind) else {
            continue;
        };
        // A definition is NULL if the user lacks the right to read it.
        let value = row.text(3).unwrap_or_default().chars().take(VALUE_MAX).collect();
        let (table, name) = (row.text(1)?.to_owned(), row.text(2)?.to_owned());
        facts.push(SchemaFact { kind, table, name, value });
    }
    Ok(facts)
}
