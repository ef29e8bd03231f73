//! An empty database for each case, and the SQL in which databases differ.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use triphammer_core::odbc::OdbcDialect;
use triphammer_core::session::{Database, Pipelining, Role, Session, StatementId};
use triphammer_core::sql::{BoundStatement, Param, param};
use triphammer_core::{ColumnType, Rows, Value};
use triphammer_dialects::catalogues;
use triphammer_drivers::connection_string;
use triphammer_drivers::{AnyDatabase, AnySession, ConnectSettings, Secret, TargetUrl};
use triphammer_testbed::{BabelfishServer, MariadbServer, PostgresServer, TrinoServer};

/// Longer than any case takes.
pub const LIMIT: Duration = Duration::from_secs(120);

/// An empty database, removed when it is dropped.
pub struct Bed {
    url: String,
    pub words: &'static Words,
    folder: Option<TempDir>,
    /// Which messages of users' transactions share a round trip.
    pipelining: Pipelining,
}

/// SQL that differs between databases. `:1` is the first parameter.
pub struct Words {
    /// Character before the number of a parameter.
    marker: char,
    /// Whether the number follows; otherwise each use is the next argument in the order of the
    /// text.
    numbered: bool,
    /// Declared types of columns.
    types: fn(ColumnType) -> String,
    /// Number of digits of a decimal that are kept.
    pub decimal_digits: u32,
    /// The same for a decimal with ten digits after the point, if there is a larger type for it.
    pub wide_digits: u32,
    /// Follows the primary key's column, as `PRIMARY KEY` elsewhere.
    primary_key: &'static str,
    /// Follows `ALTER TABLE t`, before a column's name and type.
    pub add_column: &'static str,
    /// Creates a user who may connect; `{user}` is its name and `{password}` a string.
    pub create_user: &'static str,
    /// Removes that user.
    pub drop_user: &'static str,
    /// A query of one row that returns its parameter.
    pub echo: &'static str,
    /// A query of two columns, a number from 1 to 1,000,000 and forty characters.
    pub series: &'static str,
    /// Creates a procedure that first returns other results where it can, and then one row: its
    /// parameter doubled, a text, and the list of 1, NULL and 3.
    pub procedure: &'static str,
    /// Calls that procedure.
    pub procedure_call: &'static str,
    /// A query for the number and the sum of the elements of its parameter, a list.
    pub list: &'static str,
    /// A query that takes a minute or longer.
    pub long: &'static str,
    /// Parameters of the target that make `long` take long.
    pub slow: &'static str,
}

const SERIES: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n \
     WHERE x < 1000000) SELECT x, 'forty characters are about as many as th' FROM n";

const SQLITE: Words = Words {
    marker: '?',
    numbered: true,
    types: |column| match column {
        ColumnType::SmallInt => "smallint".into(),
        ColumnType::Int => "integer".into(),
        ColumnType::BigInt => "bigint".into(),
        ColumnType::Float => "double".into(),
        ColumnType::Decimal(scale) => format!("decimal(18, {scale})"),
        ColumnType::Text
        | ColumnType::Timestamp
        | ColumnType::Date
        | ColumnType::IntList
        | ColumnType::Any => "text".into(),
    },
    decimal_digits: 15,
    wide_digits: 15,
    primary_key: " PRIMARY KEY",
    add_column: "ADD COLUMN",
    create_user: "",
    drop_user: "DROP USER {user}",
    echo: "SELECT :1",
    series: SERIES,
    procedure: "",
    procedure_call: "",
    list: "SELECT count(*), coalesce(sum(value), 0) FROM json_each(:1)",
    long: "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n \
         WHERE x < 10000000000) SELECT count(*) FROM n",
    slow: "",
};

const DUCKDB: Words = Words {
    marker: '$',
    numbered: true,
    types: |column| match column {
        ColumnType::SmallInt => "smallint".into(),
        ColumnType::Int => "integer".into(),
        ColumnType::BigInt => "bigint".into(),
        ColumnType::Float => "double".into(),
        ColumnType::Decimal(10) => "decimal(38, 10)".into(),
        ColumnType::Decimal(scale) => format!("decimal(18, {scale})"),
        ColumnType::Text => "varchar".into(),
        ColumnType::Timestamp => "timestamp".into(),
        ColumnType::Date => "date".into(),
        ColumnType::IntList => "integer[]".into(),
        ColumnType::Any => unreachable!("only a parameter"),
    },
    decimal_digits: 18,
    wide_digits: 38,
    primary_key: " PRIMARY KEY",
    add_column: "ADD COLUMN",
    create_user: "",
    drop_user: "DROP USER {user}",
    echo: "SELECT :1",
    series: "SELECT range + 1, 'forty characters are about as many as th' FROM range(1000000)",
    procedure: "",
    procedure_call: "",
    list: "SELECT count(*), coalesce(sum(x), 0) FROM unnest(:1) AS list(x)",
    long: "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 1",
    slow: "",
};

const POSTGRES: Words = Words {
    marker: '$',
    numbered: true,
    types: |column| match column {
        ColumnType::SmallInt => "smallint".into(),
        ColumnType::Int => "integer".into(),
        ColumnType::BigInt => "bigint".into(),
        ColumnType::Float => "double precision".into(),
        ColumnType::Decimal(10) => "numeric(38, 10)".into(),
        ColumnType::Decimal(scale) => format!("numeric(18, {scale})"),
        ColumnType::Text => "text".into(),
        ColumnType::Timestamp => "timestamp".into(),
        ColumnType::Date => "date".into(),
        ColumnType::IntList => "integer[]".into(),
        ColumnType::Any => unreachable!("only a parameter"),
    },
    decimal_digits: 18,
    wide_digits: 38,
    primary_key: " PRIMARY KEY",
    add_column: "ADD COLUMN",
    create_user: "CREATE USER {user} PASSWORD {password}",
    drop_user: "DROP USER {user}",
    echo: "SELECT :1",
    series: SERIES,
    procedure: "CREATE FUNCTION twice(n int, OUT a int, OUT b text, OUT c int[]) LANGUAGE sql AS \
         $$ SELECT 2 * n, 'it''s', ARRAY[1, NULL, 3] $$",
    procedure_call: "SELECT * FROM twice(:1)",
    list: "SELECT count(*), coalesce(sum(x), 0) FROM unnest(:1) AS x",
    long: "SELECT pg_sleep(120)::text",
    slow: "",
};

const MARIADB: Words = Words {
    marker: '?',
    numbered: false,
    types: |column| match column {
        ColumnType::SmallInt => "smallint".into(),
        ColumnType::Int => "integer".into(),
        ColumnType::BigInt => "bigint".into(),
        ColumnType::Float => "double".into(),
        ColumnType::Decimal(10) => "decimal(38, 10)".into(),
        ColumnType::Decimal(scale) => format!("decimal(18, {scale})"),
        ColumnType::Text | ColumnType::IntList | ColumnType::Any => "text".into(),
        ColumnType::Timestamp => "datetime(6)".into(),
        ColumnType::Date => "date".into(),
    },
    decimal_digits: 18,
    wide_digits: 38,
    primary_key: " PRIMARY KEY",
    add_column: "ADD COLUMN",
    create_user: "CREATE USER {user} IDENTIFIED BY {password}; GRANT ALL ON *.* TO {user}",
    drop_user: "DROP USER {user}",
    echo: "SELECT :1",
    // Recursion ends after 1,000 rounds here.
    series: "WITH d(n) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
         UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
         SELECT 8 UNION ALL SELECT 9) SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * e.n \
         + 10000 * f.n + 100000 * g.n, 'forty characters are about as many as th' \
         FROM d a, d b, d c, d e, d f, d g",
    procedure: "CREATE PROCEDURE twice(n int) BEGIN \
         DECLARE list longtext DEFAULT '[1, null, 3]'; \
         SELECT 1, 2; SELECT 1 WHERE false; DO 1; SELECT 2 * n, 'it''s', list; END",
    procedure_call: "CALL twice(:1)",
    list: "SELECT count(*), coalesce(sum(x), 0) \
         FROM JSON_TABLE(:1, '$[*]' COLUMNS (x bigint PATH '$')) AS list",
    // SLEEP would return 1 without an error.
    long: "WITH d(n) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
         UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
         SELECT 8 UNION ALL SELECT 9) SELECT count(*) \
         FROM d a, d b, d c, d e, d f, d g, d h, d i, d j, d k, d l",
    slow: "",
};

const TRINO: Words = Words {
    marker: '?',
    numbered: false,
    types: |column| match column {
        ColumnType::SmallInt => "smallint".into(),
        ColumnType::Int => "integer".into(),
        ColumnType::BigInt => "bigint".into(),
        ColumnType::Float => "double".into(),
        ColumnType::Decimal(10) => "decimal(38, 10)".into(),
        ColumnType::Decimal(scale) => format!("decimal(18, {scale})"),
        ColumnType::Text => "varchar".into(),
        ColumnType::Timestamp => "timestamp(6)".into(),
        ColumnType::Date => "date".into(),
        ColumnType::IntList => "array(integer)".into(),
        ColumnType::Any => unreachable!("only a parameter"),
    },
    decimal_digits: 18,
    wide_digits: 38,
    primary_key: "",
    add_column: "ADD COLUMN",
    create_user: "",
    drop_user: "DROP USER {user}",
    echo: "SELECT :1",
    // A sequence has at most 10,000 entries.
    series: "SELECT 1 + a + 1000 * b, 'forty characters are about as many as th' \
         FROM unnest(sequence(0, 999)) AS x(a), unnest(sequence(0, 999)) AS y(b)",
    procedure: "",
    procedure_call: "",
    list: "SELECT count(*), coalesce(sum(x), 0) FROM unnest(:1) AS list(x)",
    long: "SELECT count(*) FROM unnest(sequence(0, 9999)) AS x(a), unnest(sequence(0, 9999)) AS y(b), \
         unnest(sequence(0, 9999)) AS z(c) WHERE a + b + c = -1",
    slow: "",
};

const ODBC_SQLITE: Words = Words { marker: '?', numbered: false, ..SQLITE };

const ODBC_POSTGRES: Words = Words {
    marker: '?',
    numbered: false,
    // A parameter without a type is a text.
    list: "SELECT count(*), coalesce(sum(x), 0) FROM unnest(CAST(:1 AS integer[])) AS x",
    ..POSTGRES
};

const ODBC_MARIADB: Words = Words { ..MARIADB };

const SQLSERVER: Words = Words {
    marker: '@',
    numbered: true,
    types: |column| match column {
        ColumnType::SmallInt => "smallint".into(),
        ColumnType::Int => "integer".into(),
        ColumnType::BigInt => "bigint".into(),
        ColumnType::Float => "float".into(),
        ColumnType::Decimal(10) => "decimal(38, 10)".into(),
        ColumnType::Decimal(scale) => format!("decimal(18, {scale})"),
        ColumnType::Text => "nvarchar(max)".into(),
        ColumnType::Timestamp => "datetime2(6)".into(),
        ColumnType::Date => "date".into(),
        ColumnType::IntList => "varbinary(max)".into(),
        ColumnType::Any => unreachable!("only a parameter"),
    },
    decimal_digits: 18,
    wide_digits: 38,
    primary_key: " PRIMARY KEY",
    add_column: "ADD",
    create_user: "CREATE LOGIN {user} WITH PASSWORD = N{password}; ALTER SERVER ROLE sysadmin \
         ADD MEMBER {user}",
    // It is still in use until the server has seen its sessions end; the server goes with the test.
    drop_user: "",
    echo: "SELECT :1",
    // Recursion ends after 100 rounds unless an option says otherwise.
    series: "WITH d(n) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
         UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
         SELECT 8 UNION ALL SELECT 9) SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * e.n \
         + 10000 * f.n + 100000 * g.n AS x, 'forty characters are about as many as th' AS y \
         FROM d a, d b, d c, d e, d f, d g",
    procedure: "CREATE PROCEDURE twice(@n int) AS BEGIN \
         SELECT 1, 2; SELECT 1 WHERE 1 = 0; \
         SELECT 2 * @n, 'it''s', CAST('[1, null, 3]' AS varchar(max)); RETURN 3; END",
    procedure_call: "EXEC twice :1",
    list: "WITH d(n) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
         UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
         SELECT 8 UNION ALL SELECT 9), x(n) AS (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * e.n \
         FROM d a, d b, d c, d e) SELECT count(*), \
         coalesce(sum(CAST(CAST(SUBSTRING(:1, 4 * n + 1, 4) AS int) AS bigint)), 0) \
         FROM x WHERE n < DATALENGTH(:1) / 4",
    long: "WITH d(n) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
         UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
         SELECT 8 UNION ALL SELECT 9) SELECT count_big(*) \
         FROM d a, d b, d c, d e, d f, d g, d h, d i, d j, d k, d l",
    slow: "",
};

const ODBC_FREETDS: Words = Words {
    marker: '?',
    numbered: false,
    list: "SELECT count(*), coalesce(sum(CAST(value AS bigint)), 0) FROM OPENJSON(:1)",
    ..SQLSERVER
};

const NULL: Words = Words {
    marker: '?',
    numbered: true,
    types: |_| String::new(),
    decimal_digits: 18,
    wide_digits: 38,
    primary_key: " PRIMARY KEY",
    add_column: "ADD COLUMN",
    create_user: "",
    drop_user: "DROP USER {user}",
    echo: "rows 1: :1",
    series: "rows 1000000: row, text 'forty characters are about as many as th'",
    procedure: "",
    procedure_call: "",
    list: "",
    long: "rows 1: int 1",
    // Preparing takes equally long, so this is less than a minute.
    slow: "?service=2s",
};

/// Creates a bed for the SQLite driver.
pub fn sqlite() -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/test.db", folder.path().display());
    Bed::new(url, &SQLITE, Some(folder))
}

/// Creates a bed for the DuckDB driver.
pub fn duckdb() -> Bed {
    triphammer_testbed::duckdb_library().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("duckdb:{}/test.duckdb", folder.path().display());
    Bed::new(url, &DUCKDB, Some(folder))
}

/// Creates a bed for the PostgreSQL driver.
pub fn postgres() -> Bed {
    let url = PostgresServer::shared().fresh_database("conformance").unwrap();
    Bed::new(url, &POSTGRES, None)
}

/// Creates a bed for the PostgreSQL driver with transactions in as few round trips as possible.
pub fn postgres_pipelined() -> Bed {
    Bed { pipelining: Pipelining::On, ..postgres() }
}

/// Creates a bed for the driver of MariaDB and MySQL.
pub fn mariadb() -> Bed {
    let url = MariadbServer::shared().fresh_database("conformance").unwrap();
    Bed::new(url, &MARIADB, None)
}

/// Creates a bed for the driver of Trino.
pub fn trino() -> Bed {
    let url = TrinoServer::shared().fresh_schema("conformance").unwrap();
    Bed::new(url, &TRINO, None)
}

/// Creates a bed for SQLite's ODBC driver, with the dialect of the guide.
pub fn odbc_sqlite() -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("odbc:Driver={{SQLite3}};Database={}/test.db", folder.path().display());
    Bed::new(url, &ODBC_SQLITE, Some(folder))
}

/// Creates a bed for PostgreSQL's ODBC driver.
pub fn odbc_postgres() -> Bed {
    let url = PostgresServer::shared().fresh_database("conformance_odbc").unwrap();
    Bed::new(odbc_url("PostgreSQL Unicode", "Servername", &url), &ODBC_POSTGRES, None)
}

/// Creates a bed for MariaDB's ODBC driver.
pub fn odbc_mariadb() -> Bed {
    let url = MariadbServer::shared().fresh_database("conformance_odbc").unwrap();
    Bed::new(odbc_url("MariaDB Unicode", "Server", &url), &ODBC_MARIADB, None)
}

/// The connection string for what a URL names.
fn odbc_url(driver: &str, host: &str, url: &str) -> String {
    let url = TargetUrl::parse(url).unwrap();
    format!(
        "odbc:Driver={{{driver}}};{host}={};Port={};UID={};PWD={};Database={}",
        url.hosts[0].name,
        url.hosts[0].port.unwrap(),
        url.user.as_deref().unwrap(),
        url.password.as_ref().unwrap().reveal(),
        url.database().unwrap()
    )
}

/// A connection string with other values for these keys; the database's stays the last.
fn with_values(url: &str, values: &[(&str, &str)]) -> String {
    let parts = TargetUrl::parse(url).unwrap();
    let mut pairs = parts.params;
    let mut password = parts.password;
    for (key, value) in values {
        if *key == "PWD" {
            password = Some(Secret::new(*value));
            continue;
        }
        for (_, old) in pairs.iter_mut().filter(|(name, _)| name.starts_with(key)) {
            (*value).clone_into(old);
        }
    }
    format!("odbc:{}", connection_string::text(&pairs, password.as_ref()))
}

/// Babelfish creates one database at a time.
static CREATING: Mutex<()> = Mutex::new(());

/// Creates a bed for the driver of SQL Server.
pub fn sqlserver() -> Bed {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let name = format!("conformance_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let url = BabelfishServer::shared().url(&name);
    let bed = Bed::new(url, &SQLSERVER, None);
    let _turn = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(triphammer_testbed::block_on(bed.database().create_database()).unwrap());
    bed
}

/// Creates a bed for FreeTDS, an ODBC driver for SQL Server's protocol.
pub fn odbc_freetds() -> Bed {
    let url = odbc_url("FreeTDS", "Server", &sqlserver().url);
    Bed::new(url, &ODBC_FREETDS, None)
}

/// Creates a bed for the null driver.
pub fn null() -> Bed {
    Bed::new("null:".into(), &NULL, None)
}

/// Runs a case for a driver, unless that is exempt.
pub fn run(bed: fn() -> Bed, case: &str, body: impl AsyncFn(&Bed)) {
    let of_sqlserver: [fn() -> Bed; 2] = [sqlserver, odbc_freetds];
    let is_sqlserver = of_sqlserver.iter().any(|of| std::ptr::fn_addr_eq(bed, *of));
    if is_sqlserver && !BabelfishServer::is_available() {
        return;
    }
    let bed = bed();
    let creates = is_sqlserver && case == "missing_database";
    let _turn = creates.then(|| CREATING.lock().unwrap_or_else(PoisonError::into_inner));
    if bed.database().capabilities().exempt.iter().any(|(name, _)| *name == case) {
        return;
    }
    triphammer_testbed::block_on(async {
        if !bed.is_networked() {
            // An in-process database is created when a loader opens it.
            bed.session(Role::Loader).await.close().await;
        }
        tokio::time::timeout(LIMIT, body(&bed)).await.expect("a case ends in time");
    });
}

impl Bed {
    fn new(url: String, words: &'static Words, folder: Option<TempDir>) -> Self {
        Self { url, words, folder, pipelining: Pipelining::Off }
    }

    /// Opens the database with default settings.
    pub fn database(&self) -> AnyDatabase {
        self.database_with(&ConnectSettings::default())
    }

    /// Opens the database with these settings.
    pub fn database_with(&self, settings: &ConnectSettings) -> AnyDatabase {
        let settings = ConnectSettings { pipelining: self.pipelining, ..settings.clone() };
        open(&self.url, &settings)
    }

    /// The database in which [`Words::long`] takes long.
    pub fn slow_database(&self) -> AnyDatabase {
        open(&format!("{}{}", self.url, self.words.slow), &ConnectSettings::default())
    }

    /// Opens a new session.
    pub async fn session(&self, role: Role) -> AnySession {
        self.database().connect(role, 0).await.unwrap()
    }

    /// Opens a new session and runs a script.
    pub async fn session_after(&self, script: &str) -> AnySession {
        let mut session = self.session(Role::User).await;
        session.script(&self.script(script)).await.unwrap();
        session
    }

    /// A script in this database's words.
    pub fn script(&self, script: &str) -> String {
        script.replace(" PRIMARY KEY", self.words.primary_key)
    }

    /// Number of rows of a large load. FreeTDS sends INSERTs of 100 rows, for each of which Babelfish
    /// needs 15 ms or more: 200,000 rows take minutes on a busy host.
    pub fn rows_of_a_load(&self) -> i64 {
        if self.url.contains("FreeTDS") { 20_000 } else { 200_000 }
    }

    /// Whether the database has hosts and passwords.
    pub fn is_networked(&self) -> bool {
        self.url.contains("//") || self.url.contains("UID=")
    }

    fn is_odbc(&self) -> bool {
        self.url.starts_with("odbc:")
    }

    /// The target with another host, `host:port`.
    pub fn url_at(&self, host: &str) -> String {
        if self.is_odbc() {
            let (name, port) = host.split_once(':').unwrap();
            return with_values(&self.url, &[("Server", name), ("Port", port)]);
        }
        let (before, after) = self.url.split_once('@').unwrap();
        let (_, path) = after.split_once('/').unwrap();
        format!("{before}@{host}/{path}")
    }

    /// The target with another user and password, unescaped.
    pub fn url_as(&self, user: &str, password: &str) -> String {
        if self.is_odbc() {
            return with_values(&self.url, &[("UID", user), ("PWD", password)]);
        }
        let (before, _) = self.url.split_once("//").unwrap();
        let (_, after) = self.url.split_once('@').unwrap();
        format!("{before}//{user}:{password}@{after}")
    }

    /// The target of a database that does not exist, with a name that was never used.
    pub fn url_of_missing(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("missing{}", COUNT.fetch_add(1, Ordering::Relaxed));
        if self.is_odbc() && self.is_networked() {
            return with_values(&self.url, &[("Database", &name)]);
        }
        let (before, _) = self.url.rsplit_once('/').unwrap();
        format!("{before}/{name}")
    }

    /// The name of the database or file in a target.
    pub fn name_of(&self, url: &str) -> String {
        let url = TargetUrl::parse(url).unwrap();
        let name = url.param("Database").unwrap_or(&url.path);
        name.rsplit('/').next().unwrap().to_owned()
    }

    /// Path of the database's file, for databases that are files.
    pub fn file_of(&self, url: &str) -> Option<std::path::PathBuf> {
        let path = if self.is_odbc() {
            url.rsplit_once('=').unwrap().1
        } else {
            url.split_once(':').unwrap().1
        };
        self.folder.as_ref().map(|_| path.into())
    }

    /// The declared type for a column type.
    pub fn column_type(&self, column: ColumnType) -> String {
        (self.words.types)(column)
    }

    /// Creates a statement with `:1`, `:2` … for its parameters.
    pub fn statement(&self, sql: &str, types: &[ColumnType]) -> BoundStatement {
        const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let params: Vec<Param> =
            NAMES.iter().zip(types).map(|(name, column)| param(name, *column)).collect();
        let mut text = sql.to_owned();
        let mut order: Vec<usize> = (0..params.len()).collect();
        if !self.words.numbered {
            order.sort_by_key(|place| sql.find(&format!(":{}", place + 1)));
        }
        for number in (1..=types.len()).rev() {
            let marked = match self.words.numbered {
                true if self.words.marker == '@' => format!("@p{number}"),
                true => format!("{}{number}", self.words.marker),
                false => self.words.marker.to_string(),
            };
            text = text.replace(&format!(":{number}"), &marked);
        }
        BoundStatement { name: sql.to_owned(), sql: text, params, order }
    }

    /// Prepares a statement on a session.
    pub async fn prepare(
        &self,
        session: &mut AnySession,
        sql: &str,
        types: &[ColumnType],
    ) -> StatementId {
        session.prepare(&self.statement(sql, types)).await.unwrap()
    }

    /// Runs a query that returns one integer.
    pub async fn number(&self, session: &mut AnySession, sql: &str) -> i64 {
        let id = self.prepare(session, sql, &[]).await;
        let mut rows = Rows::new();
        session.query(id, &[], &mut rows).await.unwrap();
        rows.first(sql).unwrap().int(0).unwrap()
    }

    /// Asserts that a session still works.
    pub async fn assert_usable(&self, session: &mut AnySession) {
        assert!(!session.is_closed());
        let id = self.prepare(session, self.words.echo, &[ColumnType::Int]).await;
        let mut rows = Rows::new();
        session.query(id, &[Value::Int(42)], &mut rows).await.unwrap();
        assert_eq!(rows.first("echo").unwrap().int(0).unwrap(), 42);
    }
}

/// Opens a database by its target.
pub fn open(url: &str, settings: &ConnectSettings) -> AnyDatabase {
    if !url.starts_with("odbc:") {
        return AnyDatabase::open(url, settings).unwrap();
    }
    let settings = ConnectSettings { dialect: Some(odbc_dialect(url)), ..settings.clone() };
    AnyDatabase::open(url, &settings).unwrap()
}

/// The dialect of an ODBC target, which a test needs before it connects.
pub fn odbc_dialect(url: &str) -> &'static OdbcDialect {
    if url.contains("SQLite") {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/sqlite-odbc");
        return catalogues::odbc_dialect_in(Path::new(folder)).unwrap();
    }
    let drivers = [
        ("MariaDB", "mariadb-odbc"),
        ("FreeTDS", "sqlserver-odbc"),
        ("PostgreSQL", "postgres-odbc"),
    ];
    let (_, name) = drivers.iter().find(|(driver, _)| url.contains(driver)).unwrap();
    catalogues::odbc_dialect(name).unwrap()
}

/// A separate server that a case may kill.
pub enum OwnServer {
    Postgres(PostgresServer),
    Mariadb(MariadbServer),
    Trino(TrinoServer),
    OdbcPostgres(PostgresServer),
    OdbcMariadb(MariadbServer),
    OdbcFreetds(BabelfishServer),
    Babelfish(BabelfishServer),
}

impl OwnServer {
    /// Starts a server for the driver of `bed`.
    pub fn start(bed: &Bed) -> Self {
        if bed.is_odbc() {
            let dialect = odbc_dialect(&bed.url);
            return match dialect.name.as_str() {
                "mariadb-odbc" => {
                    Self::OdbcMariadb(MariadbServer::start(Default::default()).unwrap())
                }
                "sqlserver-odbc" => Self::OdbcFreetds(BabelfishServer::start().unwrap()),
                _ => Self::OdbcPostgres(PostgresServer::start(Default::default()).unwrap()),
            };
        }
        match bed.url.split(':').next().unwrap() {
            "postgres" => Self::Postgres(PostgresServer::start(Default::default()).unwrap()),
            "mariadb" | "mysql" => Self::Mariadb(MariadbServer::start(Default::default()).unwrap()),
            "trino" => Self::Trino(TrinoServer::start().unwrap()),
            "sqlserver" => Self::Babelfish(BabelfishServer::start().unwrap()),
            _ => panic!("no server to kill for {}", bed.url),
        }
    }

    pub fn database(&self) -> Arc<AnyDatabase> {
        let url = match self {
            Self::Postgres(server) => server.url("postgres"),
            Self::Mariadb(server) => server.url("mysql"),
            Self::Trino(server) => server.url("memory", "default"),
            Self::OdbcPostgres(server) => {
                odbc_url("PostgreSQL Unicode", "Servername", &server.url("postgres"))
            }
            Self::OdbcMariadb(server) => {
                odbc_url("MariaDB Unicode", "Server", &server.url("mysql"))
            }
            Self::OdbcFreetds(server) => odbc_url("FreeTDS", "Server", &server.url("master")),
            Self::Babelfish(server) => server.url("master"),
        };
        Arc::new(open(&url, &ConnectSettings::default()))
    }

    pub fn kill(&mut self) {
        match self {
            Self::Postgres(server) | Self::OdbcPostgres(server) => server.kill9(),
            Self::Mariadb(server) | Self::OdbcMariadb(server) => server.kill9(),
            Self::Trino(server) => server.kill9(),
            Self::Babelfish(server) | Self::OdbcFreetds(server) => server.kill9(),
        }
    }

    pub fn restart(&mut self) {
        match self {
            Self::Postgres(server) | Self::OdbcPostgres(server) => server.restart().unwrap(),
            Self::Mariadb(server) | Self::OdbcMariadb(server) => server.restart().unwrap(),
            Self::Trino(server) => server.restart().unwrap(),
            Self::Babelfish(server) | Self::OdbcFreetds(server) => server.restart().unwrap(),
        }
    }
}

/// Repeats an operation until it succeeds; panics after a minute.
pub async fn eventually<'a>(
    what: &str,
    mut attempt: impl FnMut() -> Pin<Box<dyn Future<Output = bool> + 'a>>,
) {
    for _ in 0..600 {
        if attempt().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what} within a minute");
}
