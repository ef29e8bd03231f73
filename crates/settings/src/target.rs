//! Resolves settings to a database: target, password, and connection.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::Database;
use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::odbc::OdbcDialect;
use triphammer_core::session::{
    Admin, Isolation, Pipelining, Protocol, Role, ServerInfo, Session, Waits,
};
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};
use triphammer_core::workload::{Description, MeasureDef};
use triphammer_dialects::catalogues;
pub use triphammer_drivers::target::Reach;
use triphammer_drivers::target::{ConnectSettings, Fence, Secret, TargetUrl};
use triphammer_drivers::{AnyDatabase, duckdb};
use triphammer_proxy::Relay;

use crate::command::{Command, JobKind};
use crate::failure::{Doing, Failure};
use crate::fault;
use crate::nodes::{NodeList, NodeSettings};
use crate::worker_pool::{self, connect, on_this_thread};
use crate::{DATABASE_DEFAULT, PROTOCOL_DEFAULT, Settings, Source};

/// Units of a size, the largest first.
const SIZES: [(&str, u64); 6] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
];
/// Largest degree of parallelism.
const DOP_MAX: u32 = 1_024;

/// A target that is ready to connect to.
#[derive(Debug)]
pub struct Target {
    /// The driver's handle to the database.
    pub database: Arc<AnyDatabase>,
    /// The nodes that transactions are routed to; `None` for a single server.
    pub nodes: Option<NodeList>,
    /// Whether none was given, so that it is the default file in the current directory.
    pub embedded: bool,
    /// Longest wait for a session.
    pub connect_limit: Duration,
    /// The relay that its connections go through; `None` if they are direct.
    pub relay: Option<Relay>,
    /// What it was opened from.
    pub origin: Origin,
    /// Warnings for the user, such as a password that is visible in the process list.
    pub warnings: Vec<String>,
}

/// What a target was opened from, so that another process can open it, too.
#[derive(Clone)]
pub struct Origin {
    /// The settings of the target that were given, and its URL.
    pub given: Vec<(String, String)>,
    /// The password given outside the URL.
    pub password: Option<Secret>,
}

impl Origin {
    fn new(settings: &Settings, url: &str, password: Option<Secret>) -> Self {
        let given = OF_ORIGIN
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), settings.get(name)?.to_owned())));
        let given = given.chain([("target".to_owned(), url.to_owned())]).collect();
        Self { given, password }
    }
}

impl fmt::Debug for Origin {
    /// Without the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").finish_non_exhaustive()
    }
}

/// Settings of a target that another process needs, besides its URL.
const OF_ORIGIN: [&str; 11] = [
    "connect-timeout",
    "query-timeout",
    "work-timeout",
    "protocol",
    "pipeline",
    "isolation",
    "schema",
    "dop",
    "engine-memory",
    "dialect",
    DELAY,
];

/// The setting that delays the network.
pub const DELAY: &str = "delay";
/// Longest delay: a round trip must end before a lost connection is suspected.
const DELAY_MAX: Duration = Duration::from_secs(10);

/// Source of secrets, in addition to the settings.
pub trait Secrets {
    /// Reads an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// Asks for the password at the terminal.
    ///
    /// # Errors
    /// When there is no terminal.
    fn prompt(&self, question: &str) -> Result<String, SpecError>;
    /// Access of the target to this process and its host.
    fn reach(&self) -> Reach;
    /// Whether somebody else asks for what is done: their SQL must not use this process to open
    /// files of its host.
    fn is_of_client(&self) -> bool;
}

/// No environment and no terminal, for programs that run unattended.
#[derive(Clone, Copy, Debug)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn prompt(&self, _: &str) -> Result<String, SpecError> {
        Err(SpecError::new("cannot ask for the password without a terminal; use --password-file"))
    }

    fn reach(&self) -> Reach {
        Reach::Process
    }

    fn is_of_client(&self) -> bool {
        false
    }
}

/// URL of the default file in the current directory, named after the workload: an SQLite file, or,
/// for queries, a DuckDB file if its library is installed and there is no SQLite file yet.
#[must_use]
pub fn embedded_target(workload: Option<&Description>) -> String {
    let name = workload.map_or("", |of| &of.name);
    let sqlite = format!("{name}.sqlite");
    if is_of_queries(workload) && !Path::new(&sqlite).exists() && duckdb::is_installed() {
        return format!("duckdb:{name}.duckdb");
    }
    format!("sqlite:{sqlite}")
}

fn is_of_queries(workload: Option<&Description>) -> bool {
    workload.is_some_and(|of| of.primary_metric.measure == MeasureDef::Queries)
}

fn is_of_user(workload: Option<&Description>) -> bool {
    workload.is_some_and(Description::is_of_user)
}

impl Target {
    /// Whether it is a file of this host.
    pub fn is_file(&self) -> bool {
        let target = self.database.target();
        ["sqlite:", "duckdb:"].iter().any(|scheme| target.starts_with(scheme))
    }

    /// Whether it is the default file, and that does not exist yet.
    pub fn is_embedded_to_build(&self) -> bool {
        let target = self.database.target();
        let file = target.split_once(':').map_or("", |(_, file)| file);
        self.embedded && !Path::new(file).exists()
    }
}

/// Opens the target named in the settings, or the default file, without connecting, for a workload
/// or, if it is `None`, for none.
///
/// # Errors
/// When the URL, the password file or a setting is wrong.
pub fn open(
    settings: &mut Settings,
    workload: Option<&Description>,
    secrets: &dyn Secrets,
) -> Result<Target, SpecError> {
    let nodes = NodeSettings::read(settings)?;
    let embedded = settings.get("target").is_none() && nodes.is_none();
    if embedded {
        refuse_default(settings, workload)?;
    }
    let url = settings.get("target").map_or_else(|| embedded_target(workload), str::to_owned);
    refuse_place(settings, &url)?;
    let mut warnings: Vec<String> = visible_password(settings, &url).into_iter().collect();
    let connect = connect_settings(settings, workload, secrets)?;
    let origin = Origin::new(settings, &url, connect.password.clone());
    let database = match (&nodes, settings.source("target")) {
        (Some(nodes), Source::Default) => AnyDatabase::open_url(&nodes.main_url(), &connect)?,
        (Some(nodes), _) if nodes.are_hosts() => {
            AnyDatabase::open_url(&nodes.main_url(), &connect)?
        }
        _ => AnyDatabase::open(&url, &connect)?,
    };
    let nodes = nodes.map(|nodes| nodes.open(&connect)).transpose()?;
    refuse_delay(settings, &database)?;
    warnings.extend(database.warnings());
    settings.show("target", database.target(), &settings.source("target"));
    let ConnectSettings { connect_limit, relay, .. } = connect;
    let database = Arc::new(database);
    Ok(Target { database, nodes, embedded, connect_limit, relay, origin, warnings })
}

/// Rejects the default file where a database of the user's own is needed.
fn refuse_default(settings: &Settings, workload: Option<&Description>) -> Result<(), SpecError> {
    if let Some(kind) = settings.command().job().filter(|kind| kind.has_own_load()) {
        let message = format!(
            "a {} needs a database of yours: name its target, such as postgres://user@host/db",
            kind.noun()
        );
        return Err(SpecError::new(message).about("target"));
    }
    if is_of_user(workload) {
        let message = "your own SQL runs on a database of yours: name its target, such as \
                       postgres://user@host/db";
        return Err(SpecError::new(message).about("target"));
    }
    Ok(())
}

/// Warns of a password that other users of the host see.
fn visible_password(settings: &Settings, url: &str) -> Option<String> {
    let in_url = TargetUrl::parse(url).is_ok_and(|url| url.has_password());
    (in_url && settings.source("target") == Source::Flag).then(|| {
        "a password in a URL is visible in the process list; use --password-file, \
         TRIPHAMMER_PASSWORD or the database's own password file instead"
            .to_owned()
    })
}

/// Reads what the driver receives besides the URL.
fn connect_settings(
    settings: &mut Settings,
    workload: Option<&Description>,
    secrets: &dyn Secrets,
) -> Result<ConnectSettings, SpecError> {
    let connect_limit = settings.duration("connect-timeout")?;
    let waits = waits(settings, workload)?;
    let protocol: Option<Protocol> = settings.optional(
        "protocol",
        str::parse,
        |p: &Protocol| p.name().to_owned(),
        PROTOCOL_DEFAULT,
    )?;
    let isolation: Option<Isolation> = settings.optional(
        "isolation",
        str::parse,
        |i: &Isolation| i.name().to_owned(),
        DATABASE_DEFAULT,
    )?;
    let pipelining = pipelining(settings)?;
    let (dop, engine_memory) = engine(settings)?;
    Ok(ConnectSettings {
        isolation,
        protocol,
        pipelining,
        schema: settings.get("schema").map(str::to_owned),
        own_sql: is_of_user(workload),
        connect_limit,
        waits,
        relay: relay(settings)?,
        password: password(settings, secrets)?,
        reach: secrets.reach(),
        fence: fence(secrets, workload),
        dop,
        engine_memory,
        odbc_dialects: catalogues::odbc_dialects(),
        dialect: dialect(settings)?,
        ..ConnectSettings::default()
    })
}

/// Starts the relay that connections go through if the network is to be delayed or cut; `None` to
/// connect directly. Half of the delay is added in each direction.
fn relay(settings: &mut Settings) -> Result<Option<Relay>, SpecError> {
    let delay = settings.optional(
        DELAY,
        parse_delay,
        |delay: &Duration| format_duration(*delay),
        "none: connections are direct",
    )?;
    let relay = match (fault::relay(settings)?, delay) {
        (None, Some(_)) => Some(Relay::start().map_err(|error| {
            SpecError::new(format!("cannot start the relay for --{DELAY}: {error}")).about(DELAY)
        })?),
        (relay, _) => relay,
    };
    if let (Some(relay), Some(delay)) = (&relay, delay) {
        relay.delay(delay / 2);
    }
    Ok(relay)
}

/// Reads a delay; 0 needs no unit.
fn parse_delay(text: &str) -> Result<Duration, String> {
    match if text.trim() == "0" { Duration::ZERO } else { parse_duration(text)? } {
        long if long > DELAY_MAX => {
            Err(format!("must be at most {}, got {}", format_duration(DELAY_MAX), text.trim()))
        }
        delay => Ok(delay),
    }
}

/// Rejects a delay where there is no connection to delay.
fn refuse_delay(settings: &Settings, database: &AnyDatabase) -> Result<(), SpecError> {
    if settings.get(DELAY).is_none() || database.opens_sockets() {
        return Ok(());
    }
    let target = database.target();
    let next = match target.starts_with("null:") {
        true => "use null:?network=TIME",
        false => "leave it out, or use a server that triphammer connects to itself",
    };
    let message = format!(
        "--{DELAY} is impossible at {target}: its sessions have no connection that triphammer opens \
         itself; {next}"
    );
    Err(SpecError::new(message).about(DELAY))
}

/// Reads the limits of queries outside users' transactions.
fn waits(settings: &mut Settings, workload: Option<&Description>) -> Result<Waits, SpecError> {
    let query = settings.duration("query-timeout")?;
    // In a run of queries it limits those, which may be as short as one likes.
    let runs = [JobKind::Run, JobKind::Profile].map(Command::Job);
    let is_limit_of_run = runs.contains(&settings.command()) && is_of_queries(workload);
    Ok(Waits {
        query: if is_limit_of_run { Waits::default().query } else { query },
        work: settings.duration("work-timeout")?,
    })
}

/// What the SQL of a workload may do in an engine in this process.
fn fence(secrets: &dyn Secrets, workload: Option<&Description>) -> Fence {
    match (secrets.is_of_client(), is_of_user(workload)) {
        (false, _) => Fence::Off,
        (true, false) => Fence::Files,
        (true, true) => Fence::Sql,
    }
}

/// Databases and schemas of the system, by the schemes of their URLs.
const OF_SYSTEM: [(&[&str], &[&str]); 4] = [
    (&["mysql", "mariadb"], &["mysql", "information_schema", "performance_schema", "sys"]),
    (&["postgres", "postgresql"], &["information_schema"]),
    (&["sqlserver", "mssql"], &["model", "msdb", "resource"]),
    (&["trino"], &["information_schema"]),
];

/// Schemes of databases without schemas that a setting could name.
const WITHOUT_SCHEMAS: [&str; 3] = ["sqlite", "duckdb", "null"];

/// Rejects a schema where there is none to choose, and tables in the system's own schemas.
fn refuse_place(settings: &Settings, url: &str) -> Result<(), SpecError> {
    // An invalid URL is reported where it is opened.
    let Ok(url) = TargetUrl::parse(url) else { return Ok(()) };
    let schema = settings.get("schema");
    let of_target = |message: String, field: &str| Err(SpecError::new(message).about(field));
    if schema.is_some() && WITHOUT_SCHEMAS.contains(&url.scheme.as_str()) {
        let message = format!(
            "--schema cannot be used with {}: its tables are in one schema; use another file, and \
             omit --schema",
            url.scheme
        );
        return of_target(message, "schema");
    }
    let builds = |kind: JobKind| kind == JobKind::Build || kind.has_own_load();
    let builds = settings.command().job().is_some_and(builds);
    if !builds {
        return Ok(());
    }
    let names = OF_SYSTEM.iter().filter(|(schemes, _)| schemes.contains(&url.scheme.as_str()));
    let of_system = names.flat_map(|(_, names)| names.iter());
    let path = url.database().unwrap_or_default();
    let schemas = [schema, url.param("schema")];
    let is_postgres = url.scheme.starts_with("postgres");
    for name in schemas.into_iter().chain([path.split('/').next_back()]).flatten() {
        let is_schema = schemas.contains(&Some(name));
        let is_reserved = is_postgres && is_schema && name.starts_with("pg_");
        if is_reserved || of_system.clone().any(|known| name.eq_ignore_ascii_case(known)) {
            let message = format!(
                "`{name}` belongs to the database system: build in a database or schema of your \
                 own"
            );
            return of_target(message, "target");
        }
    }
    Ok(())
}

/// Reads which messages of a transaction share a round trip, which the spec of a run shows.
fn pipelining(settings: &mut Settings) -> Result<Pipelining, SpecError> {
    if settings.get("pipeline").is_none() {
        return Ok(Pipelining::Off);
    }
    settings.read("pipeline", str::parse, |p: &Pipelining| p.name().to_owned())
}

/// Reads what is set of the engine, which most databases reject: shown only if it is given.
fn engine(settings: &mut Settings) -> Result<(Option<u32>, Option<u64>), SpecError> {
    let (mut dop, mut memory) = (None, None);
    if settings.get("dop").is_some() {
        dop = Some(settings.read_or("dop", parse_dop, u32::to_string, || 1)?);
    }
    if settings.get("engine-memory").is_some() {
        memory = Some(settings.read_or("engine-memory", parse_size, show_size, || 0)?);
    }
    Ok((dop, memory))
}

/// The dialect that is named for an ODBC target.
fn dialect(settings: &Settings) -> Result<Option<&'static OdbcDialect>, SpecError> {
    match (settings.get("dialect"), settings.get("dialect-dir")) {
        (Some(_), Some(_)) => {
            let message = "give either --dialect or --dialect-dir";
            Err(SpecError::new(message).about("dialect"))
        }
        (Some(name), None) => catalogues::odbc_dialect(name).map(Some),
        (None, Some(folder)) => catalogues::odbc_dialect_in(Path::new(folder)).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads a degree of parallelism.
fn parse_dop(text: &str) -> Result<u32, String> {
    let dop = text.trim().parse().ok().filter(|dop| (1..=DOP_MAX).contains(dop));
    dop.ok_or_else(|| format!("expected a number from 1 to {DOP_MAX}"))
}

/// Reads a size in bytes: a number with a unit, such as `2GiB` or `500MB`.
///
/// # Errors
/// When the text is no size; the message gives examples.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = text[digits..].trim();
    let unit = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let number: Option<u64> = text[..digits].parse().ok().filter(|number| *number > 0);
    let size = number.zip(unit).and_then(|(number, (_, bytes))| number.checked_mul(*bytes));
    size.ok_or_else(|| "expected a number with a unit: 500MB, 2GB or 2GiB".to_owned())
}

/// Formats a size as [`parse_size`] reads it.
#[must_use]
pub fn show_size(bytes: &u64) -> String {
    let (unit, size) =
        SIZES.iter().find(|(_, size)| bytes.is_multiple_of(*size)).unwrap_or(&SIZES[5]);
    format!("{}{unit}", bytes / size)
}

/// Reads the password given outside the URL: by prompt, by file, or by TRIPHAMMER_PASSWORD.
fn password(settings: &mut Settings, secrets: &dyn Secrets) -> Result<Option<Secret>, SpecError> {
    if settings.switch("ask-password")? {
        return Ok(Some(Secret::new(secrets.prompt("Password: ")?)));
    }
    if let Some(file) = settings.get("password-file") {
        return read_password_file(Path::new(file)).map(Some);
    }
    Ok(secrets.variable("TRIPHAMMER_PASSWORD").map(Secret::new))
}

fn read_password_file(file: &Path) -> Result<Secret, SpecError> {
    let text = read_text(file, SETTINGS_BYTES_MAX).map_err(|error| {
        SpecError::new(format!("cannot read the password file {}: {error}", file.display()))
    })?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        let message = format!("the password file {} has an empty first line", file.display());
        return Err(SpecError::new(message));
    }
    Ok(Secret::new(line.to_owned()))
}

/// Connects, identifies the server, and disconnects.
///
/// # Errors
/// When no session can be opened.
pub fn probe(target: &Target) -> Result<ServerInfo, Failure> {
    on_this_thread(async {
        let name = target.database.target();
        let mut session = connect(&target.database, Role::Monitor, target.connect_limit)
            .await
            .doing(format_args!("connecting to {name}"))?;
        let server = session.server().await.doing("identifying the server")?;
        session.close().await;
        Ok(server)
    })
}

/// Creates the database named in the target; returns false if it exists.
///
/// # Errors
/// As the database reports.
pub fn create_database(target: &Target) -> Result<bool, Failure> {
    worker_pool::create_database(&target.database)
}

/// Executes a script, which may hold several statements, in a session of its own. `doing` names
/// what it does in errors.
///
/// # Errors
/// When no session can be opened, and as the database reports.
pub fn execute(target: &Target, script: &str, doing: &str) -> Result<(), Failure> {
    on_this_thread(async {
        let name = target.database.target();
        let mut session = connect(&target.database, Role::Loader, target.connect_limit)
            .await
            .doing(format_args!("connecting to {name}"))?;
        let executed = session.script(script).await;
        session.close().await;
        executed.doing(format_args!("{doing} at {name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_a_unit() {
        for (text, bytes) in [("512MiB", 512 << 20), ("2 gb", 2_000_000_000), ("1TiB", 1 << 40)] {
            assert_eq!(parse_size(text), Ok(bytes));
            assert_eq!(parse_size(&show_size(&bytes)), Ok(bytes), "{text}");
        }
        for text in ["2", "GB", "0GB", "1.5GB", "-1GB", "99999999999TiB", "2XB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
