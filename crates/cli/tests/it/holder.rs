//! A session of another program that holds locks until a test releases them.

use std::process::Child;
use std::thread::{self, JoinHandle};

use triphammer_testbed::TestbedError;

use crate::program::{Messages, until, wait_until};
use crate::servers::{Site, name_of};

/// A session with locks. Dropping it releases them.
pub struct Holder {
    site: &'static Site,
    database: String,
    session: Option<JoinHandle<()>>,
}

impl Holder {
    /// A session that takes the locks of a statement in a transaction, and has them.
    pub fn of(site: &'static Site, target: &str, statement: &str) -> Self {
        let database = name_of(target).to_owned();
        let sql = format!("BEGIN; {statement}; {}", sleep(site));
        let name = database.clone();
        // Its end is an error: the session is terminated.
        let session = thread::spawn(move || drop(site.query(&name, &sql)));
        let holder = Self { site, database, session: Some(session) };
        until(statement, || !holder.sessions(&holder.sleeping()).unwrap().is_empty());
        holder
    }

    /// Waits until this many of a run's sessions wait for a lock.
    pub fn wait_for_waiting(&self, run: &mut Child, sessions: usize) {
        wait_until(run, "sessions that wait", || self.waiting() >= sessions);
    }

    /// Waits until no session waits for a lock.
    pub fn wait_for_none_waiting(&self) {
        until("the end of the waiting", || self.waiting() == 0);
    }

    /// Holds the locks for some seconds in which a run with `--progress 1s` ends no transaction.
    pub fn hold_for(&self, told: &mut Messages, seconds: usize) {
        for _ in 0..seconds {
            told.wait_for_line("a second without transactions", |line| {
                line.starts_with("progress: ") && line.contains("TPM 0 ")
            });
        }
    }

    /// Sessions in its database that wait for a lock.
    pub fn waiting(&self) -> usize {
        let waiting = match self.site {
            Site::Postgres(_) => "wait_event_type = 'Lock'",
            Site::Mariadb(_) => {
                "id IN (SELECT trx_mysql_thread_id FROM information_schema.innodb_trx
                    WHERE trx_state = 'LOCK WAIT')"
            }
        };
        self.sessions(waiting).unwrap().len()
    }

    /// Number of its sessions: 1, or 0 when somebody else has ended it.
    pub fn asleep(&self) -> usize {
        self.sessions(&self.sleeping()).unwrap_or_default().len()
    }

    pub fn release(&mut self) {
        let Some(session) = self.session.take() else { return };
        for id in self.sessions(&self.sleeping()).unwrap_or_default() {
            let end = match self.site {
                Site::Postgres(_) => format!("SELECT pg_terminate_backend({id})"),
                Site::Mariadb(_) => format!("KILL {id}"),
            };
            // What is not ended here ends with its server.
            let _ = self.site.query(&self.database, &end);
        }
        let _ = session.join();
    }

    /// Condition for the session that has its locks.
    fn sleeping(&self) -> String {
        let sleep = sleep(self.site);
        match self.site {
            Site::Postgres(_) => format!("wait_event = 'PgSleep' AND query LIKE '%{sleep}%'"),
            Site::Mariadb(_) => format!("state = 'User sleep' AND info = '{sleep}'"),
        }
    }

    /// Numbers of the sessions in its database of which a condition is true.
    fn sessions(&self, condition: &str) -> Result<Vec<String>, TestbedError> {
        let sql = match self.site {
            Site::Postgres(_) => format!(
                "SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
            ),
            Site::Mariadb(_) => format!(
                "SELECT id FROM information_schema.processlist
                WHERE db = '{}' AND id <> connection_id() AND {condition}",
                self.database
            ),
        };
        let rows = self.site.query(&self.database, &sql)?;
        Ok(rows.into_iter().flatten().flatten().collect())
    }
}

/// The statement during which it holds its locks, which takes longer than any test.
fn sleep(site: &Site) -> &'static str {
    match site {
        Site::Postgres(_) => "SELECT pg_sleep(600)",
        Site::Mariadb(_) => "SELECT sleep(600)",
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.release();
    }
}
