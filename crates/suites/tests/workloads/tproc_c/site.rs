//! Databases with a TPROC-C population for tests: PostgreSQL and MariaDB databases copied from one
//! that is built once per process, and SQLite files likewise.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;
use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::session::{Access, Database, Protocol, Role, Session};
use triphammer_core::sql::{BoundStatement, StatementCatalogue};
use triphammer_core::value::{ColumnType, Value};
use triphammer_core::workload::{
    CheckDef, CheckWhen, Chunk, Mode, Name, Statements, TableDef, Workload, WorkloadSettings,
};
use triphammer_dialects::catalogues;
use triphammer_drivers::{AnyDatabase, AnySession, ConnectSettings};
use triphammer_testbed::{MariadbServer, PostgresServer, ProcessFolder};
use triphammer_workloads::tproc_c::{Prepared, TprocC};

/// Two warehouses: the minimum for remote work.
pub const WAREHOUSES: i64 = 2;

/// The workload that every test drives.
pub fn workload() -> TprocC {
    let scale = u32::try_from(WAREHOUSES).unwrap().into();
    TprocC::new(&WorkloadSettings {
        scale,
        data_seed: 42,
        run_seed: 7,
        without_waits: false,
        options: [("mix".to_owned(), "10,10,3,3,3".to_owned())].into(),
    })
    .unwrap()
}

/// A database with the population.
pub struct Site {
    pub database: AnyDatabase,
    pub catalogue: StatementCatalogue,
    _folder: Option<TempDir>,
}

impl Site {
    fn new(target: &str, settings: &ConnectSettings, folder: Option<TempDir>) -> Self {
        let database = AnyDatabase::open(target, settings).unwrap();
        let procedures = database.capabilities().procedures;
        let catalogue =
            catalogues::catalogue(&TprocC::describe(), database.dialect(), procedures).unwrap();
        Self { database, catalogue, _folder: folder }
    }

    /// A separate PostgreSQL database for a test.
    pub fn postgres() -> Self {
        Self::postgres_with(Protocol::Prepared)
    }

    /// Like [`Site::postgres`], with this protocol for statements.
    pub fn postgres_with(protocol: Protocol) -> Self {
        let target = PostgresServer::shared().copy_of(postgres_template()).unwrap();
        let settings = ConnectSettings { protocol: Some(protocol), ..ConnectSettings::default() };
        Self::new(&target, &settings, None)
    }

    /// A separate SQLite file for a test.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tproc-c.sqlite");
        std::fs::copy(sqlite_template(), &file).unwrap();
        let target = sqlite_target(&file);
        Self::new(&target, &ConnectSettings::default(), Some(folder))
    }

    /// A separate DuckDB file for a test.
    pub fn duckdb() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tproc-c.duckdb");
        std::fs::copy(duckdb_template(), &file).unwrap();
        let target = format!("duckdb:{}", file.display());
        Self::new(&target, &ConnectSettings::default(), Some(folder))
    }

    /// A separate MariaDB database for a test.
    pub fn mariadb() -> Self {
        let target = MariadbServer::shared().copy_of(mariadb_template()).unwrap();
        Self::new(&target, &ConnectSettings::default(), None)
    }

    /// A database of every kind that finds rows by their keys, in every mode that it supports.
    pub fn all() -> Vec<(Self, Mode)> {
        let mut sites = Self::of_many_writers();
        sites.push((Self::sqlite(), Mode::Statements));
        sites
    }

    /// Like [`Site::all`], without those where only one session can write at a time.
    pub fn of_many_writers() -> Vec<(Self, Mode)> {
        [Self::both_modes(Self::postgres), Self::both_modes(Self::mariadb)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// A database for each mode.
    pub fn both_modes(make: fn() -> Self) -> [(Self, Mode); 2] {
        [Mode::Procedures, Mode::Statements].map(|mode| (make(), mode))
    }

    /// The null database, whose answers have fixed content.
    pub fn null() -> Self {
        Self::new("null:", &ConnectSettings::default(), None)
    }

    pub async fn session(&self) -> AnySession {
        self.database.connect(Role::User, 0).await.unwrap()
    }

    /// A session with the prepared statements of a mode.
    pub async fn user(&self, workload: &TprocC, mode: Mode) -> (AnySession, Prepared) {
        let mut session = self.session().await;
        let mut statements = Statements::new(&self.catalogue);
        let prepared = workload.prepare(mode, &mut statements, &mut session).await.unwrap();
        (session, prepared)
    }

    /// Runs the scripts of these kinds, in order.
    pub async fn scripts(&self, kinds: &[&str]) {
        let mut session = self.database.connect(Role::Loader, 0).await.unwrap();
        for script in kinds.iter().flat_map(|kind| self.catalogue.scripts(kind)) {
            let done = session.script(&script.sql).await;
            done.unwrap_or_else(|error| panic!("{}: {error}", script.name));
        }
        session.close().await;
    }

    async fn build(&self, workload: &TprocC) {
        let keys_first = self.catalogue.is_clustered();
        self.scripts(if keys_first { &["create", "key"] } else { &["create"] }).await;
        let mut session = self.database.connect(Role::Loader, 0).await.unwrap();
        for chunk in workload.chunks() {
            session.begin(Access::Write).await.unwrap();
            for table in &*chunk.tables {
                load(&mut session, workload, &chunk, table).await;
            }
            session.commit().await.unwrap();
        }
        session.close().await;
        self.scripts(if keys_first { &["index"] } else { &["key", "index"] }).await;
        if self.database.capabilities().procedures {
            self.scripts(&["procedure"]).await;
        }
        self.scripts(&["analyze"]).await;
    }
}

async fn load(session: &mut AnySession, workload: &TprocC, chunk: &Chunk, table: &TableDef) {
    let mut source = workload.rows(chunk, table);
    session.load(table, &mut *source).await.unwrap();
}

fn sqlite_target(file: &Path) -> String {
    format!("sqlite:{}?synchronous=off", file.display())
}

/// Works on a separate runtime, because tests call from inside theirs.
fn aside<T: Send + 'static>(work: impl AsyncFnOnce() -> T + Send + 'static) -> T {
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work())
    };
    std::thread::spawn(work).join().unwrap()
}

fn build(target: String) {
    let build = async move || {
        let site = Site::new(&target, &ConnectSettings::default(), None);
        site.build(&workload()).await;
    };
    aside(build);
}

/// Name of the databases that others are copied from.
const TEMPLATE: &str = "tproc_c_template";

fn postgres_template() -> &'static str {
    static BUILT: OnceLock<&str> = OnceLock::new();
    BUILT.get_or_init(|| {
        let server = PostgresServer::shared();
        server.run("postgres", &format!("CREATE DATABASE {TEMPLATE}")).unwrap();
        build(server.url(TEMPLATE));
        TEMPLATE
    })
}

fn mariadb_template() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| {
        let server = MariadbServer::shared();
        let name = server.lasting_database(TEMPLATE).unwrap();
        build(server.url(&name));
        name
    })
}

fn sqlite_template() -> &'static Path {
    static TEMPLATE: OnceLock<(ProcessFolder, PathBuf)> = OnceLock::new();
    file_template(&TEMPLATE, sqlite_target)
}

fn duckdb_template() -> &'static Path {
    static TEMPLATE: OnceLock<(ProcessFolder, PathBuf)> = OnceLock::new();
    triphammer_testbed::duckdb_library().unwrap();
    file_template(&TEMPLATE, |file| format!("duckdb:{}", file.display()))
}

/// A populated file, which the first caller builds.
fn file_template(
    template: &'static OnceLock<(ProcessFolder, PathBuf)>,
    target: fn(&Path) -> String,
) -> &'static Path {
    let (_, file) = template.get_or_init(|| {
        let folder = ProcessFolder::new().unwrap();
        let file = folder.path().join("template");
        build(target(&file));
        (folder, file)
    });
    file
}

/// All rows of a table, ordered by all its columns that are never null, as text by declared type,
/// so that databases can be compared.
pub async fn dump(session: &mut AnySession, table: &TableDef) -> Vec<String> {
    let columns: Vec<_> = table.columns.iter().map(|column| &*column.name).collect();
    let list = columns.join(", ");
    let order = match &*table.name {
        "customer" => "c_w_id, c_d_id, c_id".to_owned(),
        "stock" => "s_w_id, s_i_id".to_owned(),
        "history" => list.replace("h_data", "h_amount"),
        _ => list.clone(),
    };
    let sql = format!("SELECT {list} FROM {} ORDER BY {order}", table.name);
    let mut dumped = Vec::new();
    ask(session, &sql, |row| dumped.push(text(row, table))).await;
    dumped
}

fn text(row: &Row<'_>, table: &TableDef) -> String {
    let fields: Vec<_> = table
        .columns
        .iter()
        .enumerate()
        .map(|(n, column)| match (row.cell(n), column.column_type) {
            (Cell::Null, _) => "null".to_owned(),
            (_, ColumnType::Decimal(scale)) => row.decimal(n, scale).unwrap().to_string(),
            (_, ColumnType::Timestamp) => row.timestamp(n).unwrap().to_string(),
            (_, ColumnType::Text) => row.text(n).unwrap().to_owned(),
            _ => row.int(n).unwrap().to_string(),
        })
        .collect();
    fields.join("|")
}

/// Runs a query without parameters.
pub async fn ask(session: &mut AnySession, sql: &str, mut each: impl FnMut(&Row<'_>)) {
    let statement = BoundStatement {
        name: "test".into(),
        sql: sql.into(),
        params: Vec::new(),
        order: Vec::new(),
    };
    let id = session.prepare(&statement).await.unwrap();
    let mut batch = Rows::new();
    let mut each = |rows: &Rows| rows.iter().for_each(|row| each(&row));
    session.stream(id, &[], &mut batch, &mut each).await.unwrap();
}

/// The single integer that a query returns.
pub async fn number(session: &mut AnySession, sql: &str) -> i64 {
    let mut found = None;
    ask(session, sql, |row| found = Some(row.int(0).unwrap())).await;
    found.unwrap()
}

/// Runs the checks that apply; returns (id, violations, first key) of those that do not hold.
pub async fn violations(
    site: &Site,
    session: &mut AnySession,
    untouched: bool,
) -> Vec<(Name, i64, String)> {
    let mut found = Vec::new();
    for check in &TprocC::describe().checks {
        if check.when == CheckWhen::Always || untouched {
            let violation = violation(site, session, check).await;
            found.extend(violation.map(|(count, key)| (check.id.clone(), count, key)));
        }
    }
    found
}

/// Runs one check: violations and first key, or `None` if it holds.
pub async fn violation(
    site: &Site,
    session: &mut AnySession,
    check: &CheckDef,
) -> Option<(i64, String)> {
    let id = Statements::new(&site.catalogue).prepare(session, &check.statement).await.unwrap();
    let range = [Value::Int(1), Value::Int(WAREHOUSES)];
    let mut rows = Rows::new();
    let asked = session.query(id, &range, &mut rows).await;
    asked.unwrap_or_else(|error| panic!("check {}: {error}", check.id));
    assert!(rows.len() <= 1, "check {} answers one row or none", check.id);
    rows.iter().next().map(|row| (row.int(0).unwrap(), row.text(1).unwrap().to_owned()))
}
