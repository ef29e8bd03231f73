//! What is done about the state of the database after a run has connected and before its load begins:
//! its size and its fingerprint are read, caches are filled, and the server's work in the background
//! is waited for. What cannot be read or done becomes a note of the run, which continues.

use std::time::Duration;

use triphammer_core::DbError;
use triphammer_core::event::Note;
use triphammer_core::session::Database as _;
use triphammer_dialects::state::StateDef;
use triphammer_document::result::{DatabaseState, RunFacts};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;

use super::monitor::Monitor;
use super::{Resolved, keep};
use crate::journal::Journal;
use crate::state;
use crate::watch::Watch;

/// Maximum time for reading a size.
const SIZE_LIMIT: Duration = Duration::from_secs(5);
/// Maximum time for reading checksums, or for filling caches: that of statements over much data.
const WORK_LIMIT: Duration = Duration::from_secs(24 * 3_600);
/// Kind of the notes.
const NOTE: &str = "state";

impl Resolved {
    /// Reads the state, and prepares the server for the load.
    ///
    /// # Errors
    /// When the user ended it meanwhile.
    pub(super) async fn prepare(
        &self,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let database = &self.plan.database;
        if !database.capabilities().stores {
            return Ok(());
        }
        let def = state::definition(database.dialect());
        let mut found =
            DatabaseState { restored: self.restored.clone(), ..DatabaseState::default() };
        found.read_schema(&facts.schema);
        self.read_sizes(monitor, &def, &mut found).await;
        let mut notes = Vec::new();
        if self.preparation.is_needed() {
            let prepared = async {
                self.describe(monitor, &def, &mut found, handle, &mut notes).await?;
                self.warm(monitor, &def, &mut found, (handle, watch), &mut notes).await?;
                self.wait(
                    monitor,
                    &def,
                    &mut found,
                    (handle, watch),
                    (&facts.server.version, &mut notes),
                )
                .await
            };
            let prepared: Result<(), Failure> = prepared.await;
            prepared?;
        }
        found.describe();
        facts.state = Some(found);
        for text in notes {
            watch.warn(&text);
            keep(Note::new(NOTE, None, text), &mut facts.notes, journal, watch);
        }
        Ok(())
    }

    /// Reads rows and bytes that are of no use.
    async fn read_sizes(
        &self,
        monitor: &mut Monitor<'_>,
        def: &StateDef,
        found: &mut DatabaseState,
    ) {
        let handle = Handle::default();
        for (sql, number) in
            [(&def.dead_rows, &mut found.dead_rows), (&def.free_bytes, &mut found.free_bytes)]
        {
            let Some(sql) = sql else { continue };
            let read = monitor.query(async |session| {
                state::number(session, sql, &mut state::stop(&handle, SIZE_LIMIT)).await
            });
            *number = read.await.flatten();
        }
    }

    async fn describe(
        &self,
        monitor: &mut Monitor<'_>,
        def: &StateDef,
        found: &mut DatabaseState,
        handle: &Handle,
        notes: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Some(depth) = self.preparation.depth else { return Ok(()) };
        let read = async {
            monitor.ensure().await?;
            let session = monitor.session.as_mut().expect("just ensured");
            state::fingerprint(session, def, depth, &mut state::stop(handle, WORK_LIMIT)).await
        };
        let read = read.await;
        found.fingerprint = or_note(read, handle, "the state was not read", notes)?;
        if let Some(print) = found.fingerprint.as_ref().filter(|print| print.missing > 0) {
            notes.push(format!("the rows of {} tables were not counted in time", print.missing));
        }
        Ok(())
    }

    async fn warm(
        &self,
        monitor: &mut Monitor<'_>,
        def: &StateDef,
        found: &mut DatabaseState,
        (handle, watch): (&Handle, &Watch<'_>),
        notes: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let what = &self.preparation.warm;
        if what.is_empty() {
            return Ok(());
        }
        watch.note("reading tables or indexes into caches (--warm)");
        let read = async {
            monitor.ensure().await?;
            let session = monitor.session.as_mut().expect("just ensured");
            state::warm(session, def, what, &mut state::stop(handle, WORK_LIMIT)).await
        };
        let read = read.await;
        found.warmed = or_note(read, handle, "caches were not filled", notes)?;
        Ok(())
    }

    async fn wait(
        &self,
        monitor: &mut Monitor<'_>,
        def: &StateDef,
        found: &mut DatabaseState,
        (handle, watch): (&Handle, &Watch<'_>),
        (version, notes): (&str, &mut Vec<String>),
    ) -> Result<(), Failure> {
        let Some(limit) = self.preparation.until_quiet else { return Ok(()) };
        watch.note("waiting for the server's work in the background (--until-quiet)");
        let waited = async {
            monitor.ensure().await?;
            let session = monitor.session.as_mut().expect("just ensured");
            state::until_quiet(session, def, version, limit, handle).await
        };
        let waited = waited.await;
        found.quiet = or_note(waited, handle, "the wait for a quiet server ended early", notes)?;
        Ok(())
    }
}

/// A failure becomes a note, unless the user ended the work.
fn or_note<T>(
    done: Result<T, DbError>,
    handle: &Handle,
    what: &str,
    notes: &mut Vec<String>,
) -> Result<Option<T>, Failure> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(_) if handle.is_stopped() => {
            Err(Failure::Interrupted("interrupted before the load began".to_owned()))
        }
        Err(error) => {
            notes.push(format!("{what}: {error}"));
            Ok(None)
        }
    }
}
