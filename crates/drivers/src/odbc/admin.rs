//! Queries about the server and its tables, by what the dialect declares.

use std::path::Path;

use sha2::{Digest, Sha256};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::odbc::{CreateDef, LockDef, OdbcDef};
use triphammer_core::rows::Rows;
use triphammer_core::session::{Admin, LockMode, ServerInfo};
use triphammer_odbc::{Field, Info};

use super::errors::on_statement;
use super::session::OdbcSession;
use super::shared::Shared;
use crate::advisory_lock::LockFile;
use crate::connection_string::{get, redacted};
use crate::socket::is_loopback;

/// Where a database in this process is reached.
const IN_PROCESS: &str = "in process";
/// Columns of `SQLTables`, from 0: the database that a table is in, and its name.
const TABLE_CATALOG: usize = 0;
const TABLE_NAME: usize = 2;

/// Creates the database that the target names.
pub(super) async fn create_database(shared: &Shared) -> Result<bool, DbError> {
    let dialect = shared.identify().await?.dialect;
    if let Some(file) = shared.file() {
        if file.exists() {
            return Ok(false);
        }
        let connection = shared.open(None).await?;
        return shared.set_up(&connection).map(|()| true);
    }
    let Some(create) = &dialect.def.create else {
        let message = format!(
            "the dialect {} does not say how a database is created: create it with the database's \
             own tools, and omit --create-database",
            dialect.name
        );
        return Err(DbError::new(ErrorClass::Unsupported, message));
    };
    let Some(name) = get(&shared.pairs, &create.key) else {
        let message =
            format!("the target has no {}, which names the database to create", create.key);
        return Err(DbError::new(ErrorClass::Refused, message));
    };
    let connection = shared.open(Some((&create.key, &create.from))).await?;
    shared.set_up(&connection)?;
    let failed = |error: triphammer_odbc::Error| {
        on_statement(&error, &dialect.def).context(format_args!("`{name}`"))
    };
    let mut statement = connection.statement().map_err(failed)?;
    let exists = CreateDef::text_for(&create.exists, name);
    let mut is_there = || -> Result<bool, triphammer_odbc::Error> {
        statement.direct(&exists)?;
        let is_there = statement.describe()? > 0 && statement.fetch()?;
        statement.close();
        Ok(is_there)
    };
    if is_there().map_err(failed)? {
        return Ok(false);
    }
    let created = connection
        .statement()
        .and_then(|mut statement| statement.direct(&CreateDef::text_for(&create.create, name)));
    match created {
        Ok(()) => Ok(true),
        // Another session was faster.
        Err(_) if is_there().is_ok_and(|is_there| is_there) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

impl OdbcSession {
    fn is_in_process(&self) -> bool {
        self.def().file.is_some()
    }

    /// The rows of a declared query, as texts.
    fn texts<const N: usize>(&mut self, query: &str) -> Result<Vec<[String; N]>, DbError> {
        let mut rows = Rows::new();
        self.ask(query, &mut rows)?;
        let read = |row: triphammer_core::Row<'_>| {
            std::array::from_fn(|place| match row.text(place) {
                Ok(text) => text.to_owned(),
                Err(_) if row.is_null(place) => String::new(),
                Err(_) => row.show(place),
            })
        };
        Ok(rows.iter().map(read).collect())
    }

    /// Makes the cheapest round trip that the dialect knows.
    pub(super) fn measured_ping(&mut self) -> Result<bool, DbError> {
        let Some(text) = self.def().ping.as_deref().filter(|_| !self.is_in_process()) else {
            return Ok(false);
        };
        if self.ping.is_none() {
            let prepared = self.connection.prepare(text, &[], 1);
            self.ping = Some(prepared.map_err(|error| self.failed(&error))?);
        }
        let statement = self.ping.as_mut().expect("prepared above");
        let mut trip = || {
            statement.execute()?;
            statement.describe()?;
            while statement.fetch()? {}
            statement.close();
            Ok(())
        };
        trip().map_err(|error: triphammer_odbc::Error| self.failed(&error)).map(|()| true)
    }

    /// Whether the server is on this host; `None` if the connection string does not say.
    fn is_on_this_host(&self) -> Option<bool> {
        if self.is_in_process() {
            return Some(true);
        }
        let named = self.shared.host().map(str::to_owned);
        let host = named.unwrap_or_else(|| self.connection.info(Info::ServerName));
        let is_here = |host: &str| is_loopback(host) || host.starts_with('/');
        if host.is_empty() { None } else { is_here(&host).then_some(true) }
    }

    /// Takes a lock of the server.
    fn server_lock(&mut self, lock: &LockDef, name: &str, mode: LockMode) -> Result<bool, DbError> {
        let quoted = format!("'{}'", name.replace('\'', "''"));
        for text in &lock.before {
            self.run(&text.replace("{name}", &quoted))?;
        }
        let (condition, joined_by) = match mode {
            LockMode::Shared => (&lock.shared, " OR "),
            LockMode::Exclusive => (&lock.exclusive, " AND "),
        };
        let query = match lock.places {
            None => condition.replace("{name}", &quoted),
            Some(places) => {
                let of_place = |place: u32| condition.replace("{place}", &place.to_string());
                let all: Vec<_> = (0..places).map(of_place).collect();
                format!("SELECT {}", all.join(joined_by))
            }
        };
        let mut rows = Rows::new();
        self.ask(&query, &mut rows)?;
        let has_it = rows.first("the lock")?.int(0)? == 1;
        if !has_it {
            self.run_all(&lock.release)?;
        }
        Ok(has_it)
    }

    /// Takes a lock on a file of this host.
    fn host_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        self.advisory_lock = match self.shared.file() {
            Some(file) => LockFile::take(&file, name, mode)?,
            None => LockFile::take(&place_of(&self.shared)?, name, mode)?,
        };
        Ok(self.advisory_lock.is_some())
    }
}

/// A file that stands for a target, for databases without locks. Programs on other hosts do not see
/// it.
fn place_of(shared: &Shared) -> Result<std::path::PathBuf, DbError> {
    let user = whoami::username().unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let user: String = user.chars().map(safe).collect();
    let folder = std::env::temp_dir().join(format!("triphammer-{user}"));
    std::fs::create_dir_all(&folder).map_err(|error| {
        let message = format!("creating {} for locks: {error}", folder.display());
        DbError::new(ErrorClass::Other, message)
    })?;
    let place = redacted(&shared.pairs);
    let digest = Sha256::digest(place.as_bytes());
    let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(folder.join(format!("odbc-{digest}")))
}

/// What ODBC itself says of a connection.
fn facts(session: &OdbcSession, def: &OdbcDef) -> Vec<(String, String)> {
    let manager = session.connection.manager().path().display().to_string();
    let info = |which| session.connection.info(which);
    let facts = [
        ("odbc_driver", info(Info::DriverName)),
        ("odbc_driver_version", info(Info::DriverVersion)),
        ("odbc_driver_manager", manager),
        ("odbc_driver_manager_version", info(Info::ManagerVersion)),
        ("odbc_insert_rows", def.insert_rows.unwrap_or(1).to_string()),
    ];
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Admin for OdbcSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let driver = self.connection.info(Info::DriverName);
        let file = Path::new(&driver).file_name().map(|name| name.to_string_lossy().into_owned());
        let transport = if self.is_in_process() {
            IN_PROCESS.to_owned()
        } else {
            format!("ODBC, {}", file.unwrap_or_else(|| "its driver".to_owned()))
        };
        Ok(ServerInfo {
            product: self.connection.info(Info::DbmsName),
            version: self.connection.info(Info::DbmsVersion),
            transport,
            cipher: None,
            same_host: self.is_on_this_host(),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let def = self.def();
        let mut settings = facts(self, def);
        if let Some(query) = &def.settings {
            let found = self.texts::<2>(query)?;
            settings.extend(found.into_iter().map(|[name, value]| (name, value)));
        }
        settings.sort();
        settings.dedup_by(|a, b| a.0 == b.0);
        Ok(settings)
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        let Some(query) = self.def().transaction_count.as_deref() else { return Ok(None) };
        let found = self.texts::<1>(query)?;
        Ok(found.first().and_then(|[count]| count.parse().ok()))
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let mut names: Vec<String> = match self.def().tables.as_deref() {
            Some(query) => self.texts::<1>(query)?.into_iter().map(|[name]| name).collect(),
            None => self.catalog_tables()?,
        };
        for name in &mut names {
            *name = name.to_lowercase();
        }
        names.sort();
        Ok(names)
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        match self.def().lock.as_ref() {
            Some(lock) => self.server_lock(lock, name, mode),
            None => self.host_lock(name, mode),
        }
    }
}

impl OdbcSession {
    /// The tables of the current database by ODBC's catalog.
    fn catalog_tables(&mut self) -> Result<Vec<String>, DbError> {
        let current = self.current_catalog();
        let mut statement = self.connection.statement().map_err(|error| self.failed(&error))?;
        let mut list = || {
            let mut names: Vec<String> = Vec::new();
            statement.tables()?;
            let width = statement.describe()?;
            while width > TABLE_NAME && statement.fetch()? {
                let catalog = text_of(statement.field(TABLE_CATALOG)).unwrap_or_default();
                if is_current(catalog.trim(), &current) {
                    names.extend(text_of(statement.field(TABLE_NAME)));
                }
            }
            Ok(names)
        };
        list().map_err(|error: triphammer_odbc::Error| self.failed(&error))
    }

    /// The name of the current database; empty if it is unknown. `SQL_ATTR_CURRENT_CATALOG` would
    /// be the same, but PostgreSQL's driver returns bytes for it where UTF-16 is due.
    fn current_catalog(&self) -> String {
        // Drivers name the file of a database in this process, which is no catalog.
        if self.is_in_process() {
            return String::new();
        }
        self.connection.info(Info::DatabaseName)
    }
}

/// A field's text; `None` for NULL.
fn text_of(field: Field<'_>) -> Option<String> {
    match field {
        Field::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}

/// Whether a table's catalog is the current one, as far as both are known. Many drivers list the
/// tables of all databases of a server.
fn is_current(catalog: &str, current: &str) -> bool {
    catalog.is_empty() || current.is_empty() || catalog.eq_ignore_ascii_case(current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_other_databases_are_left_out() {
        for (catalog, current, expected) in [
            ("od", "od", true),
            ("OD", "od", true),
            ("other", "od", false),
            // Databases without catalogs, and drivers that do not know the current one.
            ("", "od", true),
            ("other", "", true),
        ] {
            assert_eq!(is_current(catalog, current), expected, "{catalog:?}, {current:?}");
        }
    }
}
