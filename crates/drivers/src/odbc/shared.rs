//! What all sessions on one target share: the connection string and the dialect.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::odbc::{CreateDef, OdbcDef, OdbcDialect};
use triphammer_core::session::{Capabilities, Isolation, Protocol, Role};
use triphammer_core::small_file::check_regular;
use triphammer_odbc::{Connection, Info, Manager, Number, OpenedConnection};

use super::errors::{on_connect, on_load, on_statement};
use crate::connection_string::{get, has_secret, text};
use crate::database_file::DatabaseFile;
use crate::prepared_again::PreparedAgain;
use crate::target::Secret;

/// Keys of a connection string that name the server.
const HOST_KEYS: [&str; 5] = ["Server", "Servername", "Host", "Hostname", "Socket"];

/// A dialect, with what it and the driver can do.
pub(super) struct Profile {
    pub(super) dialect: &'static OdbcDialect,
    pub(super) capabilities: Capabilities,
}

/// Properties of the target that sessions need.
pub(super) struct Shared {
    pub(super) pairs: Vec<(String, String)>,
    pub(super) password: Option<Secret>,
    pub(super) isolation: Option<Isolation>,
    pub(super) schema: Option<String>,
    pub(super) lock_timeout: Option<Duration>,
    /// Whether the statements of the workload are the user's own.
    pub(super) own_sql: bool,
    pub(super) connect_limit: Duration,
    pub(super) dialects: &'static [OdbcDialect],
    /// The dialect that the user named.
    pub(super) chosen: Option<&'static OdbcDialect>,
    /// What can be assumed of that before the driver is known.
    pub(super) assumed: Option<Profile>,
    pub(super) profile: OnceLock<Profile>,
    /// Held while a session sets itself up, which may switch modes of a whole file.
    pub(super) setting_up: Mutex<()>,
    pub(super) prepared_again: PreparedAgain,
}

/// What can be assumed before the server is known.
pub(super) static UNKNOWN: Capabilities = Capabilities {
    blocks: true,
    in_process: false,
    procedures: false,
    one_writer: false,
    load_rows_min: 0,
    transactions: true,
    transactional_ddl: false,
    foreign_keys: false,
    stores: true,
    users_max: None,
    isolations: &[
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Snapshot,
        Isolation::Serializable,
    ],
    protocols: &[Protocol::Prepared],
    pipelining: Err("ODBC has no calls for it"),
    logins: Ok(()),
    count_delay: Duration::ZERO,
    exempt: &[],
};

/// ODBC's bit of an isolation level; snapshot isolation has none.
pub(super) const fn isolation_bit(level: Isolation) -> Option<u32> {
    match level {
        Isolation::ReadUncommitted => Some(1),
        Isolation::ReadCommitted => Some(2),
        Isolation::RepeatableRead => Some(4),
        Isolation::Serializable => Some(8),
        Isolation::Snapshot => None,
    }
}

impl Profile {
    /// The profile of a dialect, through a driver that may have no transactions.
    pub(super) fn of(dialect: &'static OdbcDialect, can_transact: bool) -> Self {
        let def = &dialect.def;
        let capabilities = Capabilities {
            procedures: def.procedures.unwrap_or(false),
            one_writer: def.one_writer.unwrap_or(false),
            transactions: can_transact && def.transactions.unwrap_or(true),
            transactional_ddl: can_transact && def.transactional_ddl.unwrap_or(false),
            foreign_keys: def.foreign_keys.unwrap_or(false),
            isolations: dialect.isolations,
            exempt: dialect.exempt,
            ..UNKNOWN.clone()
        };
        Self { dialect, capabilities }
    }
}

impl Shared {
    /// What the dialect declares; nothing before it is known.
    pub(super) fn def(&self) -> Option<&'static OdbcDef> {
        let known = self.profile.get().map(|profile| profile.dialect);
        known.or(self.chosen).map(|dialect| &dialect.def)
    }

    /// The database's file, for a database in this process.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let key = self.def()?.file.as_ref()?;
        get(&self.pairs, key).map(PathBuf::from)
    }

    /// The connection string, with what the dialect adds.
    fn string(&self, def: Option<&OdbcDef>, instead: Option<(&str, &str)>) -> String {
        let mut pairs = self.pairs.clone();
        let key = def.and_then(|def| def.lock_timeout_key.as_ref());
        if let Some((key, limit)) = key.zip(self.lock_timeout) {
            pairs.retain(|(name, _)| !name.eq_ignore_ascii_case(key));
            pairs.push((key.clone(), limit.as_millis().to_string()));
        }
        for (key, value) in def.into_iter().flat_map(|def| &def.connection) {
            if get(&pairs, key).is_none() {
                pairs.push((key.clone(), value.clone()));
            }
        }
        if let Some((key, value)) = instead {
            pairs.retain(|(name, _)| !name.eq_ignore_ascii_case(key));
            pairs.push((key.to_owned(), value.to_owned()));
        }
        text(&pairs, self.password.as_ref())
    }

    /// Connects, with a pair of the connection string replaced. The driver waits on a thread of
    /// its own, which the caller can abandon.
    pub(super) async fn open(&self, instead: Option<(&str, &str)>) -> Result<Connection, DbError> {
        let def = self.def();
        self.attempt(def, instead).await?.map_err(|error| self.unopened(&error, def))
    }

    /// Connects as [`Self::open`] does, by what a dialect declares. The inner error is the driver's.
    async fn attempt(
        &self,
        def: Option<&OdbcDef>,
        instead: Option<(&str, &str)>,
    ) -> Result<Result<Connection, triphammer_odbc::Error>, DbError> {
        let manager = Manager::get().map_err(|error| on_load(&error))?;
        let (string, limit) = (self.string(def, instead), self.connect_limit);
        let driver = self.driver();
        let (sender, receiver) = tokio::sync::oneshot::channel::<Result<OpenedConnection, _>>();
        let work = move || {
            // A caller that has stopped waiting drops the connection here.
            let _ = sender.send(manager.connect(&string, &driver, limit));
        };
        let thread = std::thread::Builder::new().name("odbc-connect".to_owned());
        thread.spawn(work).map_err(|error| {
            DbError::new(ErrorClass::Other, format!("starting a thread to connect: {error}"))
        })?;
        let silent = || {
            let message = format!("no answer within {} s", limit.as_secs_f64());
            DbError::new(ErrorClass::Disconnected, message)
        };
        let answer = tokio::time::timeout(limit, receiver).await.map_err(|_| silent())?;
        Ok(answer.map_err(|_| silent())?.map(OpenedConnection::here))
    }

    /// The error for a connection that was not opened.
    fn unopened(&self, error: &triphammer_odbc::Error, def: Option<&OdbcDef>) -> DbError {
        let mut converted = on_connect(error, def, self.profile.get().is_some());
        if let Some(place) = self.place()
            && !converted.message().contains(&place)
        {
            converted = converted.context(place);
        }
        let create = def.and_then(|def| def.create.as_ref());
        let lacks_database = create.is_some_and(|create| self.lacks(create, error));
        if lacks_database { converted.without_database() } else { converted }
    }

    /// Whether an error says that the target's database does not exist.
    fn lacks(&self, create: &CreateDef, error: &triphammer_odbc::Error) -> bool {
        get(&self.pairs, &create.key)
            .is_some_and(|name| create.is_missing(name, &error.state, error.native, &error.message))
    }

    /// The part of the string that names the driver.
    fn driver(&self) -> String {
        let names = |(key, _): &&(String, String)| {
            ["Driver", "DSN"].iter().any(|name| key.eq_ignore_ascii_case(name))
        };
        let shown = self.pairs.iter().filter(names).filter(|pair| !has_secret(pair));
        let pairs: Vec<_> = shown.cloned().collect();
        format!("`{}`", text(&pairs, None))
    }

    /// Where the string leads to, for messages.
    fn place(&self) -> Option<String> {
        let shown: Vec<_> = self.pairs.iter().filter(|pair| !has_secret(pair)).cloned().collect();
        let value = |keys: &[&str]| keys.iter().find_map(|key| get(&shown, key));
        let host = value(&HOST_KEYS).filter(|host| !host.is_empty()).or_else(|| value(&["DSN"]));
        match (host, value(&["Database", "DBQ"])) {
            (Some(host), Some(database)) => Some(format!("{host}/{database}")),
            (host, database) => host.or(database).map(str::to_owned),
        }
    }

    /// The host that the string names.
    pub(super) fn host(&self) -> Option<&str> {
        HOST_KEYS.iter().find_map(|key| get(&self.pairs, key)).filter(|host| !host.is_empty())
    }

    /// Finds out what the server is, unless that is known.
    pub(super) async fn identify(&self) -> Result<&Profile, DbError> {
        if let Some(profile) = self.profile.get() {
            return Ok(profile);
        }
        self.check_paths()?;
        if let Some(file) = self.file() {
            DatabaseFile::at(file).check(Role::Loader)?;
        }
        // A driver creates a file that does not exist, and only the dialect knows that it is one.
        let path = get(&self.pairs, "Database").map(PathBuf::from);
        let absent = path.filter(|path| !path.exists());
        let found = self.look().await;
        if let Some(path) = absent
            && std::fs::metadata(&path).is_ok_and(|facts| facts.len() == 0)
        {
            // Best effort: an empty file is harmless.
            let _ = std::fs::remove_file(path);
        }
        let profile = found?;
        Ok(self.profile.get_or_init(|| profile))
    }

    /// Rejects devices, pipes and sockets, which a driver would wait for or read without end.
    fn check_paths(&self) -> Result<(), DbError> {
        let named = ["Driver", "Database", "DBQ"].map(|key| get(&self.pairs, key));
        for path in named.into_iter().flatten().filter(|value| value.contains('/')).map(Path::new) {
            if !path.is_dir() {
                check_regular(path).map_err(|error| {
                    DbError::new(ErrorClass::Refused, format!("{}: {error}", path.display()))
                })?;
            }
        }
        Ok(())
    }

    /// Asks the server what it is: in the target's database, or, if that does not exist, in the one
    /// from which it would be created.
    async fn look(&self) -> Result<Profile, DbError> {
        let def = self.def();
        let error = match self.attempt(def, None).await? {
            Ok(connection) => return self.profile_of(&connection),
            Err(error) => error,
        };
        let candidates = self.chosen.map_or(self.dialects, std::slice::from_ref);
        for dialect in candidates {
            let create = dialect.def.create.as_ref().filter(|create| self.lacks(create, &error));
            let Some(create) = create else { continue };
            let beside = Some((create.key.as_str(), create.from.as_str()));
            if let Ok(connection) = self.attempt(Some(&dialect.def), beside).await? {
                let profile = self.profile_of(&connection)?;
                if profile.dialect.name == dialect.name {
                    return Ok(profile);
                }
            }
        }
        Err(self.unopened(&error, def))
    }

    fn profile_of(&self, connection: &Connection) -> Result<Profile, DbError> {
        let product = connection.info(Info::DbmsName);
        let is_it = |dialect: &&OdbcDialect| {
            dialect.def.dbms.iter().any(|name| name.eq_ignore_ascii_case(&product))
        };
        let found = self.chosen.or_else(|| self.dialects.iter().find(is_it));
        let dialect = found.ok_or_else(|| {
            let names: Vec<_> = self.dialects.iter().map(|dialect| dialect.name.as_str()).collect();
            let message = format!(
                "the driver says that the database is `{product}`, for which there is no SQL here: \
                 name a dialect that it understands with --dialect ({}), or the folder of one with \
                 --dialect-dir",
                names.join(", ")
            );
            DbError::new(ErrorClass::Refused, message)
        })?;
        let can_transact = connection.number(Number::TransactionCapable) & 0xffff != 0;
        let profile = Profile::of(dialect, can_transact);
        let levels = profile.capabilities.isolations;
        if let Some(level) = self.isolation.filter(|level| !levels.contains(level)) {
            let known: Vec<_> = levels.iter().map(|level| level.name()).collect();
            let message = format!(
                "the dialect {} does not support isolation level {}: use one of {}",
                dialect.name,
                level.name(),
                known.join(", ")
            );
            return Err(DbError::new(ErrorClass::Refused, message));
        }
        Ok(profile)
    }

    /// Sets a new session up.
    pub(super) fn set_up(&self, connection: &Connection) -> Result<(), DbError> {
        let Some(def) = self.def() else { return Ok(()) };
        let _alone = self.setting_up.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: triphammer_odbc::Error| {
            on_statement(&error, def).context("setting up the session")
        };
        if let Some(bit) = self.isolation.and_then(isolation_bit) {
            connection.set_isolation(bit).map_err(failed)?;
        }
        let own = def.connect_own.as_ref().filter(|_| self.own_sql);
        let connect = own.or(def.connect.as_ref());
        let mut texts: Vec<String> = connect.into_iter().flatten().cloned().collect();
        if let Some((text, limit)) = def.lock_timeout.as_ref().zip(self.lock_timeout) {
            let seconds = limit.as_millis().div_ceil(1000).to_string();
            let text = text.replace("{ms}", &limit.as_millis().to_string());
            texts.push(text.replace("{s}", &seconds));
        }
        if let Some((text, schema)) = def.schema.as_ref().zip(self.schema.as_ref()) {
            texts.push(text.replace("{schema}", &schema.replace('"', "\"\"")));
        }
        let mut statement = connection.statement().map_err(failed)?;
        for text in texts {
            statement.direct(&text).map_err(failed)?;
            while statement.next_result().map_err(failed)? {}
        }
        Ok(())
    }
}
