//! The snapshots of any database: one type over those of all drivers that make them.

use triphammer_core::DbError;

use crate::any::{AnyDatabase, DriverDatabase};
use crate::duckdb::DuckdbFile;
use crate::mysql::MysqlSnapshots;
use crate::postgres::PostgresSnapshots;
use crate::redactor::Redactor;
use crate::snapshot::{Consent, FileSnapshots, Mark, Remarks, SnapshotName, Stop};
use crate::sqlite::SqliteFile;

/// The snapshots of a database.
pub struct Snapshots<'a> {
    redactor: &'a Redactor,
    of: Of<'a>,
}

enum Of<'a> {
    Postgres(PostgresSnapshots<'a>),
    Mysql(MysqlSnapshots<'a>),
    Sqlite(FileSnapshots<'a, SqliteFile>),
    Duckdb(FileSnapshots<'a, DuckdbFile>),
}

/// Calls the same function of whichever it is.
macro_rules! each {
    ($self:ident, $it:ident => $call:expr) => {
        $self.redactor.hide_in(match &$self.of {
            Of::Postgres($it) => $call,
            Of::Mysql($it) => $call,
            Of::Sqlite($it) => $call,
            Of::Duckdb($it) => $call,
        })
    };
}

impl<'a> Snapshots<'a> {
    /// The snapshots of a database.
    ///
    /// # Errors
    /// Says why it has none.
    pub fn of(database: &'a AnyDatabase) -> Result<Self, &'static str> {
        let (redactor, driver) = database.parts();
        let of = match driver {
            DriverDatabase::Postgres(it) => Of::Postgres(it.snapshots()),
            DriverDatabase::Mysql(it) => Of::Mysql(it.snapshots()),
            DriverDatabase::Sqlite(it) => Of::Sqlite(it.snapshots()),
            DriverDatabase::Duckdb(it) => Of::Duckdb(it.snapshots()),
            DriverDatabase::Null(_) => {
                return Err("it stores nothing, so there is nothing to restore");
            }
            DriverDatabase::Sqlserver(_) | DriverDatabase::Trino(_) | DriverDatabase::Odbc(_) => {
                return Err("this driver makes no snapshots; use --restore 'cmd=COMMAND'");
            }
        };
        Ok(Self { redactor, of })
    }

    /// Whether a session at the database, such as one that holds a lock, is in the way.
    #[must_use]
    pub fn needs_database_alone(&self) -> bool {
        matches!(self.of, Of::Postgres(_) | Of::Duckdb(_))
    }

    /// How the database makes its copies, in a few words.
    #[must_use]
    pub fn way(&self) -> &'static str {
        match &self.of {
            Of::Postgres(_) => "a database made from it as a template",
            Of::Mysql(_) => "a schema with copies of its tables",
            Of::Sqlite(_) | Of::Duckdb(_) => "a copy of the file",
        }
    }

    /// All that has a mark: snapshots, and what was left unfinished.
    ///
    /// # Errors
    /// As the database reports.
    pub async fn list(&self, stop: &mut Stop<'_>) -> Result<Vec<Mark>, DbError> {
        each!(self, it => it.list(stop).await)
    }

    /// Repairs what a process that is gone left unfinished; returns what was done, and what is left for
    /// people to decide.
    ///
    /// # Errors
    /// As the database reports.
    pub async fn repair(&self, stop: &mut Stop<'_>) -> Result<Remarks, DbError> {
        each!(self, it => it.repair(stop).await)
    }

    /// Makes a snapshot of the present state; returns its mark, with its size.
    ///
    /// # Errors
    /// When one of this name exists, the space is too small, or as the database reports. Then nothing
    /// is left.
    pub async fn make(
        &self,
        mark: Mark,
        consent: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<(Mark, Remarks), DbError> {
        each!(self, it => it.make(mark, consent, stop).await)
    }

    /// Brings the database to the state of a snapshot.
    ///
    /// # Errors
    /// When there is no such snapshot, the database has what the snapshot lacks, or as the database
    /// reports; the error says if the state is then neither.
    pub async fn restore(
        &self,
        name: &SnapshotName,
        consent: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<Remarks, DbError> {
        each!(self, it => it.restore(name, consent, stop).await)
    }

    /// Drops a snapshot.
    ///
    /// # Errors
    /// When there is none, or as the database reports.
    pub async fn drop(&self, name: &SnapshotName, stop: &mut Stop<'_>) -> Result<(), DbError> {
        each!(self, it => it.drop(name, stop).await)
    }
}
