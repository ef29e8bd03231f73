//! What a load sets for the whole database, and gives back: other sessions of the process use the
//! same database, and runs are measured with the settings that it has.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use triphammer_duckdb::{Connection, Error};

/// Settings of the database for a load, without their values. A row group is compressed when it is
/// full, by the session that loads it: DuckDB would keep five of each table for the commit, and
/// commits follow each other. The checkpoint is made at the end of the load, not by each commit of
/// 16 MB. They make a load of TPROC-H a fifth faster.
const SETTINGS: [(&str, &str); 2] =
    [("write_buffer_row_group_count", "1"), ("checkpoint_threshold", "'16GB'")];

/// The loaders that have a database open.
#[derive(Debug, Default)]
pub(super) struct Loaders(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    count: u32,
    /// Whether they have taken the database's threads.
    have_threads: bool,
}

/// One loader's part in the settings.
pub(super) struct Loading {
    loaders: Arc<Loaders>,
    /// The statement that gives the database its own threads.
    own_threads: String,
    /// Whether the settings may be locked: then a load is slower.
    may_fail: bool,
}

impl Loading {
    /// Prepares the database for a load; `threads` is what its user set.
    pub(super) fn begin(
        loaders: &Arc<Loaders>,
        connection: &Connection,
        threads: Option<u32>,
        may_fail: bool,
    ) -> Result<Self, Error> {
        let own_threads = match threads {
            Some(threads) => format!("SET threads = {threads}"),
            None => "RESET threads".to_owned(),
        };
        let loading = Self { loaders: Arc::clone(loaders), own_threads, may_fail };
        let mut state = loading.state();
        state.count += 1;
        for (name, value) in SETTINGS {
            // A version that does not have it loads more slowly.
            let _ = connection.script(&format!("SET {name} = {value}"));
        }
        if std::mem::take(&mut state.have_threads) {
            loading.set(connection, &loading.own_threads)?;
        }
        drop(state);
        Ok(loading)
    }

    /// Leaves the work of a load to the sessions that load. With threads of its own, DuckDB takes
    /// it from them, and they wait for it in a busy loop. The next loader that connects gives the
    /// database its threads again.
    pub(super) fn take_threads(&self, connection: &Connection) -> Result<(), Error> {
        let mut state = self.state();
        if !std::mem::replace(&mut state.have_threads, true) {
            self.set(connection, "SET threads = 1")?;
        }
        Ok(())
    }

    /// Ends this loader's part: the last one gives everything back.
    pub(super) fn end(&self, connection: &Connection) {
        let mut state = self.state();
        state.count -= 1;
        if state.count > 0 {
            return;
        }
        // Nothing can be set in a transaction that has failed.
        let _ = connection.script("ROLLBACK");
        for (name, _) in SETTINGS {
            let _ = connection.script(&format!("RESET {name}"));
        }
        if std::mem::take(&mut state.have_threads) {
            let _ = connection.script(&self.own_threads);
        }
    }

    fn set(&self, connection: &Connection, setting: &str) -> Result<(), Error> {
        connection.script(setting).or_else(|error| if self.may_fail { Ok(()) } else { Err(error) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.loaders.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
