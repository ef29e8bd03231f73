//! The list of drivers, and one enum over their databases and one over their sessions. A call goes
//! through one `match`, which a processor predicts reliably because a run drives one database: it
//! costs nothing next to the round trip, and avoids a copy of the engine for each driver. To add a
//! driver, add its module and its line in `drivers!` at the end of this file.

use std::fmt;
use std::time::Duration;

use triphammer_core::error::{DbError, SpecError};
use triphammer_core::login::LoginTimes;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, Capabilities, ColumnSource, CountErrors, Database, EngineControl,
    Isolation, LockMode, NodeStatus, Pipeline, Pipelining, Protocol, Role, RowEffect, RowSource,
    ServerInfo, ServerProcess, Session, StatementId, Waits,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;

use crate::redactor::Redactor;
use crate::target::{ConnectSettings, TargetUrl};
use crate::tunnel::Tunnel;

/// A database of any driver. No error, note or warning of it or of its sessions contains the
/// target's secrets; what a query returns is not changed.
pub struct AnyDatabase {
    inner: DriverDatabase,
    redactor: Redactor,
}

/// A session of any driver.
pub struct AnySession {
    inner: DriverSession,
    redactor: Redactor,
}

/// Shows the target, without secrets.
impl fmt::Debug for AnyDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target())
    }
}

impl AnyDatabase {
    /// The database of the driver, and what hides its secrets.
    pub(crate) const fn parts(&self) -> (&Redactor, &DriverDatabase) {
        (&self.redactor, &self.inner)
    }

    /// What a proxy connects with; `None` for a protocol that none reads.
    #[must_use]
    pub fn tunnel(&self) -> Option<Tunnel> {
        match &self.inner {
            DriverDatabase::Postgres(database) => Some(Tunnel::Postgres(database.tunnel())),
            DriverDatabase::Mysql(database) => Some(Tunnel::Mysql(database.tunnel())),
            _ => None,
        }
    }
}

/// Generates the enums in [`AnyDatabase`] and [`AnySession`], and [`SCHEMES`], from the list of
/// drivers: the name of the variant, the database's type, and the schemes of its targets, preferred
/// first.
macro_rules! drivers {
    ($($name:ident($database:ty) for [$($scheme:literal),+]),+ $(,)?) => {
        /// A database of any driver, without what hides its secrets.
        pub(crate) enum DriverDatabase {
            $($name($database),)+
        }

        enum DriverSession {
            $($name(<$database as Database>::Session),)+
        }

        /// The schemes of targets, by driver, preferred first.
        pub const SCHEMES: &[&[&str]] = &[$(&[$($scheme),+]),+];

        impl AnyDatabase {
            /// Opens the database that a target names, without connecting yet.
            ///
            /// # Errors
            /// When the target cannot be parsed, no driver has its scheme, or the database does not
            /// support the `settings`.
            pub fn open(target: &str, settings: &ConnectSettings) -> Result<Self, SpecError> {
                Self::open_url(&TargetUrl::parse(target)?, settings)
            }

            /// Opens the database that a URL names, as [`AnyDatabase::open`] does.
            ///
            /// # Errors
            /// When no driver has its scheme, or the database does not support the `settings`.
            pub fn open_url(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
                let database = match url.scheme.as_str() {
                    $($($scheme)|+ => {
                        let database = <$database>::open(url, settings)?;
                        let shown = database.target();
                        let redactor = Redactor::of(url, settings, &database, &shown);
                        Self { inner: DriverDatabase::$name(database), redactor }
                    })+
                    scheme => return Err(unknown_scheme(scheme)),
                };
                check_settings(&url.scheme, database.capabilities(), settings)?;
                check_engine(&url.scheme, database.engine_control(), settings)?;
                Ok(database)
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "what is not forwarded would be lost")]
        impl Database for AnyDatabase {
            type Session = AnySession;

            fn dialect(&self) -> &'static str {
                match &self.inner { $(DriverDatabase::$name(database) => database.dialect(),)+ }
            }

            async fn identify(&self) -> Result<(), DbError> {
                self.redactor.hide_in(match &self.inner {
                    $(DriverDatabase::$name(database) => database.identify().await,)+
                })
            }

            fn capabilities(&self) -> &Capabilities {
                match &self.inner { $(DriverDatabase::$name(database) => database.capabilities(),)+ }
            }

            fn engine_control(&self) -> EngineControl {
                match &self.inner { $(DriverDatabase::$name(database) => database.engine_control(),)+ }
            }

            fn target(&self) -> String {
                match &self.inner { $(DriverDatabase::$name(database) => database.target(),)+ }
            }

            async fn connect(&self, role: Role, slot: u32) -> Result<AnySession, DbError> {
                let session = self.redactor.hide_in(match &self.inner {
                    $(DriverDatabase::$name(database) => {
                        database.connect(role, slot).await.map(DriverSession::$name)
                    })+
                });
                let inner = session?;
                Ok(AnySession { inner, redactor: self.redactor.clone() })
            }

            fn protocol(&self) -> Option<Protocol> {
                match &self.inner { $(DriverDatabase::$name(database) => database.protocol(),)+ }
            }

            fn needs_primary(&self) -> bool {
                match &self.inner { $(DriverDatabase::$name(database) => database.needs_primary(),)+ }
            }

            fn count_errors(&self) -> CountErrors {
                match &self.inner {
                    $(DriverDatabase::$name(database) => database.count_errors(),)+
                }
            }

            fn idle_limit_setting(&self) -> Option<&'static str> {
                match &self.inner {
                    $(DriverDatabase::$name(database) => database.idle_limit_setting(),)+
                }
            }

            fn waits(&self) -> Waits {
                match &self.inner { $(DriverDatabase::$name(database) => database.waits(),)+ }
            }

            fn warnings(&self) -> Vec<String> {
                let texts = match &self.inner {
                    $(DriverDatabase::$name(database) => database.warnings(),)+
                };
                texts.iter().map(|text| self.redactor.hide(text)).collect()
            }

            fn notes(&self) -> Vec<String> {
                let texts = match &self.inner {
                    $(DriverDatabase::$name(database) => database.notes(),)+
                };
                texts.iter().map(|text| self.redactor.hide(text)).collect()
            }

            async fn create_database(&self) -> Result<bool, DbError> {
                self.redactor.hide_in(match &self.inner {
                    $(DriverDatabase::$name(database) => database.create_database().await,)+
                })
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "what is not forwarded would be lost")]
        impl Session for AnySession {
            drivers!(@session $($name)+);
        }

        #[deny(clippy::missing_trait_methods, reason = "what is not forwarded would be lost")]
        impl Admin for AnySession {
            drivers!(@admin $($name)+);
        }
    };

    (@session $($name:ident)+) => {
        async fn script(&mut self, sql: &str) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.script(sql).await,)+
            })
        }

        async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.prepare(statement).await,)+
            })
        }

        async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.execute(id, args).await,)+
            })
        }

        async fn query(
            &mut self,
            id: StatementId,
            args: &[Value<'_>],
            rows: &mut Rows,
        ) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.query(id, args, rows).await,)+
            })
        }

        async fn call(
            &mut self,
            id: StatementId,
            args: &[Value<'_>],
            rows: &mut Rows,
        ) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.call(id, args, rows).await,)+
            })
        }

        async fn execute_autocommit(
            &mut self,
            id: StatementId,
            args: &[Value<'_>],
        ) -> Result<u64, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.execute_autocommit(id, args).await,)+
            })
        }

        async fn execute_and_commit(
            &mut self,
            id: StatementId,
            args: &[Value<'_>],
            rows: Option<&mut Rows>,
        ) -> Result<u64, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.execute_and_commit(id, args, rows).await,)+
            })
        }

        async fn text(
            &mut self,
            sql: &str,
            commits: bool,
            rows: &mut Rows,
        ) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.text(sql, commits, rows).await,)+
            })
        }

        async fn sources(
            &mut self,
            id: StatementId,
        ) -> Result<Vec<Option<ColumnSource>>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.sources(id).await,)+
            })
        }

        fn effect(&self) -> RowEffect {
            match &self.inner { $(DriverSession::$name(session) => session.effect(),)+ }
        }

        async fn pipeline(&mut self, step: Pipeline) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.pipeline(step).await,)+
            })
        }

        async fn pause(&mut self, wait: Duration) {
            match &mut self.inner { $(DriverSession::$name(session) => session.pause(wait).await,)+ }
        }

        async fn stream(
            &mut self,
            id: StatementId,
            args: &[Value<'_>],
            batch: &mut Rows,
            each: &mut dyn FnMut(&Rows),
        ) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.stream(id, args, batch, each).await,)+
            })
        }

        fn announce(&mut self, access: Access) {
            match &mut self.inner { $(DriverSession::$name(session) => session.announce(access),)+ }
        }

        fn pipelining(&self) -> Pipelining {
            match &self.inner { $(DriverSession::$name(session) => session.pipelining(),)+ }
        }

        async fn begin(&mut self, access: Access) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.begin(access).await,)+
            })
        }

        async fn begin_isolated(
            &mut self,
            access: Access,
            level: Isolation,
        ) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.begin_isolated(access, level).await,)+
            })
        }

        async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.begin_at(name).await,)+
            })
        }

        async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.share_snapshot().await,)+
            })
        }

        async fn commit(&mut self) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.commit().await,)+
            })
        }

        async fn rollback(&mut self) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.rollback().await,)+
            })
        }

        async fn load(
            &mut self,
            table: &TableDef,
            source: &mut dyn RowSource,
        ) -> Result<u64, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.load(table, source).await,)+
            })
        }

        fn is_closed(&self) -> bool {
            match &self.inner { $(DriverSession::$name(session) => session.is_closed(),)+ }
        }

        fn ended_idle(&mut self) -> Option<DbError> {
            let ended = match &mut self.inner {
                $(DriverSession::$name(session) => session.ended_idle(),)+
            };
            ended.map(|error| error.reworded(|text| self.redactor.hide(text)))
        }

        #[inline]
        fn take_unconfirmed(&mut self) -> Option<String> {
            let warning = match &mut self.inner {
                $(DriverSession::$name(session) => session.take_unconfirmed(),)+
            };
            warning.map(|text| self.redactor.hide(&text))
        }

        fn login_times(&self) -> LoginTimes {
            match &self.inner { $(DriverSession::$name(session) => session.login_times(),)+ }
        }

        fn canceller(&self) -> Box<dyn Canceller> {
            self.redactor.hide_in_canceller(match &self.inner {
                $(DriverSession::$name(session) => session.canceller(),)+
            })
        }

        async fn ping(&mut self) -> Result<bool, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.ping().await,)+
            })
        }

        async fn close(self) {
            match self.inner { $(DriverSession::$name(session) => session.close().await,)+ }
        }
    };

    (@admin $($name:ident)+) => {
        async fn server(&mut self) -> Result<ServerInfo, DbError> {
            let server = self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.server().await,)+
            })?;
            let [product, version] =
                [&server.product, &server.version].map(|text| self.redactor.hide(text));
            Ok(ServerInfo { product, version, ..server })
        }

        async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
            let mut settings = self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.settings().await,)+
            })?;
            for (_, value) in &mut settings {
                *value = self.redactor.hide(value);
            }
            Ok(settings)
        }

        async fn settings_set(&mut self) -> Result<Option<Vec<String>>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.settings_set().await,)+
            })
        }

        async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.transaction_count().await,)+
            })
        }

        async fn node_status(&mut self) -> Result<NodeStatus, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.node_status().await,)+
            })
        }

        async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.server_process().await,)+
            })
        }

        async fn engine_memory(&mut self) -> Result<Option<u64>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.engine_memory().await,)+
            })
        }

        async fn tables(&mut self) -> Result<Vec<String>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.tables().await,)+
            })
        }

        async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.relations().await,)+
            })
        }

        async fn dependents(&mut self, tables: &[&str]) -> Result<Vec<String>, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.dependents(tables).await,)+
            })
        }

        async fn rehearse(&mut self, tables: &[&str], longest: Option<usize>) -> Result<(), DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.rehearse(tables, longest).await,)+
            })
        }

        async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
            self.redactor.hide_in(match &mut self.inner {
                $(DriverSession::$name(session) => session.advisory_lock(name, mode).await,)+
            })
        }
    };
}

fn unknown_scheme(scheme: &str) -> SpecError {
    let known: Vec<_> = SCHEMES.iter().copied().flatten().map(|name| format!("{name}:")).collect();
    SpecError::new(format!(
        "unknown scheme `{scheme}:` in the target: expected one of {}",
        known.join(", ")
    ))
}

/// Rejects settings that a driver would otherwise have to ignore.
fn check_settings(
    scheme: &str,
    capabilities: &Capabilities,
    settings: &ConnectSettings,
) -> Result<(), SpecError> {
    if let Some(level) = settings.isolation.filter(|_| capabilities.isolations.is_empty()) {
        return Err(SpecError::new(format!(
            "a {scheme} target has no isolation levels, so {} cannot be used: omit it",
            level.name()
        )));
    }
    if let Some(level) = settings.isolation.filter(|l| !capabilities.isolations.contains(l)) {
        let known: Vec<_> = capabilities.isolations.iter().map(|level| level.name()).collect();
        return Err(SpecError::new(format!(
            "a {scheme} target does not support isolation level {}: use one of {}",
            level.name(),
            known.join(", ")
        )));
    }
    if let Some(protocol) = settings.protocol.filter(|p| !capabilities.protocols.contains(p)) {
        let known: Vec<_> = capabilities.protocols.iter().map(|protocol| protocol.name()).collect();
        return Err(SpecError::new(format!(
            "a {scheme} target does not support protocol {}: use one of {}",
            protocol.name(),
            known.join(", ")
        )));
    }
    if let (true, Err(reason)) = (settings.pipelining != Pipelining::Off, capabilities.pipelining) {
        let name = settings.pipelining.name();
        let message = format!("a {scheme} target does not support --pipeline {name}: {reason}");
        return Err(SpecError::new(message).about("pipeline"));
    }
    Ok(())
}

/// Rejects settings of the engine that it does not have.
fn check_engine(
    scheme: &str,
    control: EngineControl,
    settings: &ConnectSettings,
) -> Result<(), SpecError> {
    let built_in = Err("its SQL is built in");
    for (name, is_given, can) in [
        ("dialect", settings.dialect.is_some() && scheme != "odbc", built_in),
        ("dop", settings.dop.is_some(), control.dop),
        ("engine-memory", settings.engine_memory.is_some(), control.memory),
    ] {
        if let (true, Err(reason)) = (is_given, can) {
            let message = format!("a {scheme} target does not support --{name}: {reason}");
            return Err(SpecError::new(message).about(name));
        }
    }
    Ok(())
}

drivers! {
    Postgres(crate::postgres::Postgres) for ["postgres", "postgresql"],
    Mysql(crate::mysql::Mysql) for ["mysql", "mariadb"],
    Sqlserver(crate::sqlserver::SqlServer) for ["sqlserver", "mssql"],
    Sqlite(crate::sqlite::Sqlite) for ["sqlite"],
    Duckdb(crate::duckdb::Duckdb) for ["duckdb"],
    Trino(crate::trino::Trino) for ["trino"],
    Null(crate::null::Null) for ["null"],
    Odbc(crate::odbc::Odbc) for ["odbc"],
}

impl AnyDatabase {
    /// Whether its sessions have connections that this process opens itself, so that a relay can be
    /// in between.
    #[must_use]
    pub fn opens_sockets(&self) -> bool {
        !self.capabilities().blocks && !matches!(self.inner, DriverDatabase::Null(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_core::session::{Isolation, Protocol};

    fn refusal(target: &str, settings: &ConnectSettings) -> String {
        AnyDatabase::open(target, settings).expect_err("a refusal").to_string()
    }

    #[test]
    fn targets_are_opened_by_their_scheme() {
        let settings = ConnectSettings::default();
        for (target, dialect) in [
            ("null:", "null"),
            ("NULL:?service=1ms", "null"),
            ("sqlite:a.db", "sqlite"),
            ("duckdb:a.duckdb", "duckdb"),
            ("postgresql://u@h/d", "postgres"),
            ("mysql://u@h/d", "mysql"),
            ("mariadb://u@h/d", "mariadb"),
            ("trino://u@h/c/s", "trino"),
            ("sqlserver://u@localhost/d", "sqlserver"),
            ("mssql://u@localhost/d", "sqlserver"),
        ] {
            assert_eq!(AnyDatabase::open(target, &settings).unwrap().dialect(), dialect);
        }
        let error = refusal("oracle://db1/x", &settings);
        assert!(error.contains("unknown scheme `oracle:`") && error.contains("sqlite:"), "{error}");
    }

    #[test]
    fn what_a_database_cannot_do_is_refused_at_once() {
        let settings =
            ConnectSettings { isolation: Some(Isolation::ReadCommitted), ..Default::default() };
        let error = refusal("sqlite:a.db", &settings);
        assert_eq!(
            error,
            "a sqlite target does not support isolation level read-committed: use one of \
             serializable"
        );
        assert!(refusal("trino://u@h/c/s", &settings).contains("has no isolation levels"));
        let settings = ConnectSettings { protocol: Some(Protocol::Simple), ..Default::default() };
        assert!(refusal("sqlite:a.db", &settings).contains("use one of prepared"));
        let settings = ConnectSettings { protocol: Some(Protocol::Prepared), ..Default::default() };
        assert!(refusal("null:?prepare=off", &settings).contains("use one of extended, simple"));
        AnyDatabase::open("null:?prepare=off", &ConnectSettings::default()).unwrap();
        let dop = ConnectSettings { dop: Some(2), ..Default::default() };
        let memory = ConnectSettings { engine_memory: Some(1 << 30), ..Default::default() };
        for (target, settings, message) in [
            ("sqlite:a.db", &dop, "does not support --dop: SQLite executes a query on one thread"),
            ("mysql://u@h/d", &dop, "does not support --dop: the server executes a query on one"),
            ("null:", &dop, "does not support --dop: this database has no such setting"),
            ("sqlite:a.db", &memory, "does not support --engine-memory: "),
            ("postgres://u@h/d", &memory, "set work_mem on the server"),
        ] {
            let error = refusal(target, settings);
            assert!(error.contains(message), "{error}");
        }
        AnyDatabase::open("postgres://u@h/d", &dop).unwrap();
        AnyDatabase::open("duckdb:a.duckdb", &dop).unwrap();
        AnyDatabase::open("duckdb:a.duckdb", &memory).unwrap();
        let twice = refusal("duckdb:a.duckdb?threads=4", &dop);
        assert!(twice.contains("give either --dop or `threads` in the target"), "{twice}");
        for (target, message) in [
            ("sqlite::memory:", "a separate, empty database for each session"),
            ("sqlite:", "must name a file"),
            ("sqlite://folder/a.db", "sqlite:folder/a.db"),
            ("sqlite:a.db?speed=1", "unknown parameter `speed`"),
            ("duckdb::memory:", "empty for each command"),
            ("duckdb://folder/a.db", "duckdb:folder/a.db"),
            ("duckdb:a.db?speed=1", "unknown parameter `speed`"),
            ("null:?speed=1", "unknown parameter `speed`"),
        ] {
            let error = refusal(target, &ConnectSettings::default());
            assert!(error.contains(message), "{error}");
        }
    }
}
