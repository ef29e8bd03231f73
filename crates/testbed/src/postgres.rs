//! Private PostgreSQL servers.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::TestbedError;
use crate::certificates::write_private;
use crate::postgres_client::{failed, rows_of};
use crate::server::{CERTIFICATE_USER, Commands, Launch, Server};
use crate::thread_end::at_thread_end;

/// The superuser's password on every private server. The characters need no escaping in a URL.
const PASSWORD: &str = "triphammer-test";
/// How a private server is set up.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Whether commits wait for the disk; needed only by tests of durability.
    pub fsync: bool,
    /// Number of sessions that the server accepts.
    pub max_connections: u32,
    /// Whether the server offers TLS.
    pub tls: bool,
    /// Further server settings, as (name, value).
    pub settings: Vec<(String, String)>,
    /// Lines of `pg_hba.conf` that precede the usual ones.
    pub hba: Vec<String>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            fsync: false,
            max_connections: 200,
            tls: true,
            settings: Vec::new(),
            hba: Vec::new(),
        }
    }
}

impl PostgresOptions {
    /// A server whose commits are durable and that replicas may follow.
    #[must_use]
    pub fn of_primary() -> Self {
        let hba = vec!["host replication all 127.0.0.1/32 scram-sha-256".to_owned()];
        Self { fsync: true, hba, ..Self::default() }
    }
}

/// A private PostgreSQL server, stopped and removed when it is dropped or the process ends.
pub struct PostgresServer {
    server: Server,
    setup: Setup,
}

/// Inputs of the server's commands.
struct Setup {
    bin: PathBuf,
    options: PostgresOptions,
    /// Connection string of the primary, for a standby.
    primary: Option<String>,
}

impl Deref for PostgresServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for PostgresServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

impl PostgresServer {
    /// Creates a data folder and starts a server on it; returns when it accepts sessions.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, or does not start.
    pub fn start(options: PostgresOptions) -> Result<Self, TestbedError> {
        Self::launch(Setup { bin: find_bin()?, options, primary: None })
    }

    /// Copies the primary on this port of 127.0.0.1, and starts a streaming replica of it, named
    /// `standby`; returns when it accepts sessions. The primary needs
    /// [`PostgresOptions::of_primary`].
    ///
    /// # Errors
    /// When the copy fails, or the replica does not start.
    pub fn standby(port: u16) -> Result<Self, TestbedError> {
        let primary = format!(
            "host=127.0.0.1 port={port} user=postgres password={PASSWORD} sslmode=disable \
             application_name=standby"
        );
        let mut options = PostgresOptions::of_primary();
        options.settings.push(("primary_conninfo".to_owned(), primary.clone()));
        Self::launch(Setup { bin: find_bin()?, options, primary: Some(primary) })
    }

    fn launch(setup: Setup) -> Result<Self, TestbedError> {
        let mut server = Server::new("PostgreSQL", "th-pg-")?;
        write_private(&server.socket_folder().join("password"), PASSWORD)?;
        write_private(&server.socket_folder().join("pg_hba.conf"), &hba(&setup.options))?;
        server.start(&setup)?;
        Ok(Self { server, setup })
    }

    /// The server that all tests of this process share.
    ///
    /// # Panics
    /// When it is not available; the message says what to install.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<PostgresServer> = OnceLock::new();
        SHARED.get_or_init(|| {
            Self::start(PostgresOptions::default()).unwrap_or_else(|error| panic!("{error}"))
        })
    }

    /// Name of the superuser in URLs.
    pub fn user(&self) -> &'static str {
        "postgres"
    }

    /// Password of the superuser in URLs.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// URL of a database on this server, with the superuser's password.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/{database}", self.port())
    }

    /// Creates a database for the test of this thread, and returns its URL. It is dropped when the thread ends.
    ///
    /// # Errors
    /// When the server cannot create it.
    pub fn fresh_database(&self, prefix: &str) -> Result<String, TestbedError> {
        let name = self.lasting_database(prefix)?;
        self.drop_at_thread_end(&name);
        Ok(self.url(&name))
    }

    /// Creates a database for several tests, and returns its name.
    ///
    /// # Errors
    /// When the server cannot create it.
    pub fn lasting_database(&self, prefix: &str) -> Result<String, TestbedError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{prefix}_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.run("postgres", &format!("CREATE DATABASE \"{name}\""))?;
        Ok(name)
    }

    /// The version, as `server_version_num` has it: 150004 is 15.4.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn version(&self) -> Result<u32, TestbedError> {
        let version = self.run("postgres", "SHOW server_version_num")?;
        Ok(version[0][0].as_ref().and_then(|number| number.parse().ok()).unwrap_or(0))
    }

    /// Creates a copy of a database that has no sessions, for the test of this thread, and returns its URL. Copying
    /// tables takes a fraction of the time in which a build creates them.
    ///
    /// # Errors
    /// When the server cannot create it.
    pub fn copy_of(&self, database: &str) -> Result<String, TestbedError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{database}_copy_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        // The only way before PostgreSQL 15, and the faster one for databases of this size since then.
        let strategy = if self.version()? < 150_000 { "" } else { "STRATEGY file_copy" };
        let create = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{database}\" {strategy}");
        self.run("postgres", &create)?;
        self.drop_at_thread_end(&name);
        Ok(self.url(&name))
    }

    /// The databases of all tests of a suite together would take tens of gigabytes.
    fn drop_at_thread_end(&self, database: &str) {
        let mut config = self.config("postgres");
        config.options("-c statement_timeout=20s");
        let remove = format!("DROP DATABASE IF EXISTS \"{database}\" WITH (FORCE)");
        // Nobody may be left to answer: a server is often gone before its thread.
        at_thread_end(move || drop(query(&config, &remove)));
    }

    /// Runs SQL as the superuser and returns the rows' fields as text.
    ///
    /// # Errors
    /// When the server does not answer, or answers with an error.
    pub fn run(&self, database: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
        query(&self.config(database), sql)
    }

    fn config(&self, database: &str) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(self.socket_folder())
            .port(self.port())
            .user("postgres")
            .password(PASSWORD)
            .dbname(database)
            .connect_timeout(Duration::from_secs(60));
        config
    }

    /// Stops the server if it is running, and starts it on the same folder and port; returns when
    /// it accepts sessions.
    ///
    /// # Errors
    /// When it does not start.
    pub fn restart(&mut self) -> Result<(), TestbedError> {
        self.server.restart(&self.setup)
    }

    /// Starts the server again without waiting for it, so that tests see it starting.
    ///
    /// # Errors
    /// When no process can be started.
    pub fn restart_unattended(&mut self) -> Result<(), TestbedError> {
        self.server.restart_unattended(&self.setup)
    }

    /// Path of one of PostgreSQL's programs, such as `pgbench`: next to the server's, else Debian's
    /// newest, else just its name.
    pub fn program(name: &str) -> PathBuf {
        let beside = find_bin().ok().map(|bin| bin.join(name)).filter(|path| path.exists());
        beside.or_else(|| newest_of_debian(name)).unwrap_or_else(|| name.into())
    }
}

impl Launch for Setup {
    const PORT_IS_TAKEN: &'static str = "could not bind";

    fn commands(&self, folder: &Path, port: u16) -> Commands {
        let data = folder.join("data");
        let made = data.join("PG_VERSION").exists();
        Commands {
            first: match &self.primary {
                _ if made => Vec::new(),
                Some(primary) => self.base_backup(folder, primary),
                None => self.initdb(folder),
            },
            server: self.server_command(folder, port),
        }
    }

    /// Looks for the line by which the server's own tools detect that it accepts sessions.
    fn is_ready(&self, folder: &Path, pid: i32) -> bool {
        let status = folder.join("data/postmaster.pid");
        let text = std::fs::read_to_string(status).unwrap_or_default();
        text.lines().next() == Some(pid.to_string().as_str())
            && text.lines().nth(7).is_some_and(|line| line.trim() == "ready")
    }
}

impl Setup {
    fn initdb(&self, folder: &Path) -> Vec<String> {
        let data = folder.join("data");
        let password_file = folder.join("password");
        let mut command = unprivileged(&self.bin.join("initdb"));
        command.extend(
            [
                "-D",
                &data.display().to_string(),
                "-U",
                "postgres",
                "-A",
                "scram-sha-256",
                "--pwfile",
                &password_file.display().to_string(),
                "-E",
                "UTF8",
                "--no-locale",
                "--no-sync",
            ]
            .map(str::to_owned),
        );
        command
    }

    /// Copies a primary, and marks the copy as its replica.
    fn base_backup(&self, folder: &Path, primary: &str) -> Vec<String> {
        let data = folder.join("data").display().to_string();
        let mut command = unprivileged(&self.bin.join("pg_basebackup"));
        let arguments =
            ["-D", &data, "-d", primary, "-X", "stream", "-c", "fast", "-R", "--no-sync"];
        command.extend(arguments.map(str::to_owned));
        command
    }

    fn server_command(&self, folder: &Path, port: u16) -> Vec<String> {
        let data = folder.join("data");
        let folder = folder.display();
        let mut command = unprivileged(&self.bin.join("postgres"));
        command.extend(["-D".to_owned(), data.display().to_string()]);
        let on_off = |on: bool| if on { "on" } else { "off" };
        let mut settings = vec![
            ("listen_addresses".to_owned(), "127.0.0.1".to_owned()),
            ("port".into(), port.to_string()),
            ("unix_socket_directories".into(), folder.to_string()),
            ("hba_file".into(), format!("{folder}/pg_hba.conf")),
            ("max_connections".into(), self.options.max_connections.to_string()),
            ("fsync".into(), on_off(self.options.fsync).into()),
            ("ssl".into(), on_off(self.options.tls).into()),
        ];
        if self.options.tls {
            for (name, file) in [
                ("ssl_cert_file", "server.crt"),
                ("ssl_key_file", "server.key"),
                ("ssl_ca_file", "ca.crt"),
            ] {
                settings.push((name.into(), format!("{folder}/{file}")));
            }
        }
        settings.extend(self.options.settings.iter().cloned());
        for (name, value) in settings {
            command.extend(["-c".to_owned(), format!("{name}={value}")]);
        }
        command
    }
}

/// Rows' fields as text. Tests call this from inside their own runtimes, where another cannot be entered.
fn query(
    config: &tokio_postgres::Config,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
    let result = std::thread::scope(|scope| scope.spawn(|| run_blocking(config, sql)).join());
    result
        .map_err(|_| TestbedError::Failed("the thread that queries the server panicked".into()))?
}

fn run_blocking(
    config: &tokio_postgres::Config,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(TestbedError::io("starting a runtime"))?;
    let asked = runtime.block_on(async {
        let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
        let connection = tokio::spawn(connection);
        let messages = client.simple_query(sql).await;
        drop(client);
        // The client also reports these errors.
        let _ = connection.await;
        messages
    });
    Ok(rows_of(&asked.map_err(|error| failed(sql, &error))?))
}

fn hba(options: &PostgresOptions) -> String {
    let mut lines = options.hba.clone();
    lines.push(format!("hostssl all {CERTIFICATE_USER} all cert"));
    lines.push("local all all scram-sha-256".into());
    lines.push("host all all all scram-sha-256".into());
    lines.join("\n") + "\n"
}

/// Wraps a command so that PostgreSQL, which refuses to run as root, accepts root: in a separate
/// user namespace, where root is an ordinary user. Files still belong to root.
pub(crate) fn unprivileged(program: &Path) -> Vec<String> {
    let program = program.display().to_string();
    if rustix::process::geteuid().is_root() {
        let wrapper = ["unshare", "--user", "--map-user=65534", "--map-group=65534"];
        wrapper.map(str::to_owned).into_iter().chain([program]).collect()
    } else {
        vec![program]
    }
}

/// Finds the server's programs: in `TRIPHAMMER_TEST_PG_BIN`, else Debian's newest version, else
/// where `pg_config` says.
fn find_bin() -> Result<PathBuf, TestbedError> {
    let missing = || TestbedError::Missing {
        product: "PostgreSQL",
        command: "apt-get install -y postgresql",
    };
    let has_server = |bin: &PathBuf| bin.join("postgres").exists() && bin.join("initdb").exists();
    if let Some(bin) = std::env::var_os("TRIPHAMMER_TEST_PG_BIN") {
        return Some(PathBuf::from(bin)).filter(has_server).ok_or_else(|| {
            TestbedError::Failed(
                "TRIPHAMMER_TEST_PG_BIN does not have `postgres` and `initdb`".into(),
            )
        });
    }
    if let Some(path) = newest_of_debian("initdb")
        && let Some(bin) = path.parent().map(PathBuf::from).filter(has_server)
    {
        return Ok(bin);
    }
    let output =
        std::process::Command::new("pg_config").arg("--bindir").output().map_err(|_| missing())?;
    let bin = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Some(bin).filter(has_server).ok_or_else(missing)
}

/// A program of the newest version that Debian's packages have installed.
fn newest_of_debian(name: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            let path = entry.path().join("bin").join(name);
            Some((version, path)).filter(|(_, path)| path.exists())
        })
        .max()
        .map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: Duration = Duration::from_millis(10);

    /// Prefix of the line that reports a server's folder.
    const SAID: &str = "the folder is ";

    #[test]
    #[ignore = "the next test runs this in a process of its own and kills that"]
    fn a_server_is_held() {
        let server = PostgresServer::start(PostgresOptions::default()).unwrap();
        println!("\n{SAID}{}", server.socket_folder().display());
        std::thread::sleep(Duration::from_secs(60));
    }

    #[test]
    fn a_server_goes_with_its_process_however_that_goes() {
        use std::io::{BufRead, BufReader};
        let mut holder = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "postgres::tests::a_server_is_held", "--ignored", "--nocapture"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let folder = lines.find_map(|line| line.unwrap().strip_prefix(SAID).map(PathBuf::from));
        let folder = folder.unwrap();
        assert!(folder.exists());
        holder.kill().unwrap();
        holder.wait().unwrap();
        for _ in 0..6_000 {
            if !folder.exists() {
                return;
            }
            std::thread::sleep(POLL);
        }
        panic!("{} is still there", folder.display());
    }

    #[test]
    fn a_server_starts_survives_a_crash_and_leaves_nothing_behind() {
        let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
        let folder = server.socket_folder().to_owned();
        let url = server.fresh_database("own").unwrap();
        let database = url.rsplit('/').next().unwrap();
        server.run(database, "CREATE TABLE t (a int); INSERT INTO t VALUES (7)").unwrap();
        server.kill9();
        assert!(server.run(database, "SELECT 1").is_err());
        server.restart().unwrap();
        // Without fsync a killed server keeps what the system has cached; only a crash of the host
        // loses it.
        let rows = server.run(database, "SELECT a FROM t").unwrap();
        assert_eq!(rows, [[Some("7".to_owned())]]);
        drop(server);
        assert!(!folder.exists());
    }
}
