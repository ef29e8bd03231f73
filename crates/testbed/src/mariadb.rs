//! Private MariaDB servers, or MySQL servers where `TRIPHAMMER_TEST_MYSQL_BIN` names their programs.

use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::TestbedError;
use crate::certificates::write_private;
use crate::postgres::unprivileged;
use crate::server::{Commands, Launch, Server};
use crate::thread_end::at_thread_end;

/// The user of URLs, who has all privileges. Neither name nor password needs escaping in a URL.
const USER: &str = "triphammer";
const PASSWORD: &str = "triphammer-test";
/// Maximum time until a server that accepts sessions sends its greeting.
const GREETING_LIMIT: Duration = Duration::from_millis(500);

/// How a private server is set up.
#[derive(Clone, Debug)]
pub struct MariadbOptions {
    /// Whether commits wait for the disk; needed only by tests of durability.
    pub fsync: bool,
    /// Number of sessions that the server accepts, besides one for its administrator.
    pub max_connections: u32,
    /// Whether the server offers TLS.
    pub tls: bool,
    /// Whether clients may load local rows (`local_infile`).
    pub local_infile: bool,
    /// Whether the server of root is another user in a namespace of its own: as root, a Galera node
    /// does not join by rsync, whose daemon becomes `nobody` then.
    pub unprivileged: bool,
    /// Further arguments of the form `--name=value`.
    pub arguments: Vec<String>,
}

/// Longest time that a replica may need for what its primary has, in seconds.
const CATCH_UP_MAX_S: u32 = 30;

impl Default for MariadbOptions {
    fn default() -> Self {
        Self {
            fsync: false,
            max_connections: 200,
            tls: true,
            local_infile: true,
            unprivileged: false,
            arguments: Vec::new(),
        }
    }
}

impl MariadbOptions {
    /// Options of a server that [replicas](MariadbServer::replica) can copy.
    #[must_use]
    pub fn of_primary() -> Self {
        let arguments = ["--server-id=1", "--log-bin=binlog"].map(str::to_owned).into();
        Self { arguments, ..Self::default() }
    }
}

/// A private MariaDB server, stopped and removed when it is dropped or the process ends.
pub struct MariadbServer {
    server: Server,
    setup: Setup,
}

/// Inputs of the server's commands.
struct Setup {
    programs: Programs,
    options: MariadbOptions,
}

/// Paths of a server's programs.
#[derive(Clone)]
struct Programs {
    server: PathBuf,
    /// Creates MariaDB's data folder; MySQL's server does that itself.
    install: Option<PathBuf>,
    /// Folder above the programs, if they are not the system's.
    base: Option<PathBuf>,
}

impl Deref for MariadbServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for MariadbServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

impl MariadbServer {
    /// Creates a data folder and starts a server on it; returns when it accepts sessions.
    ///
    /// # Errors
    /// When MariaDB is not installed, or does not start.
    pub fn start(options: MariadbOptions) -> Result<Self, TestbedError> {
        let setup = Setup { programs: Programs::find()?, options };
        let mut server = Server::new("MariaDB", "th-my-")?;
        let users = format!(
            "CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n\
             GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n"
        );
        write_private(&server.socket_folder().join("init.sql"), &users)?;
        server.start(&setup)?;
        Ok(Self { server, setup })
    }

    /// Starts a replica that has everything that was written to a primary since its start, and is
    /// read only except for users with all privileges. The primary needs
    /// [`MariadbOptions::of_primary`].
    ///
    /// # Errors
    /// When MariaDB is not installed, or the replica does not start.
    pub fn replica(primary: &Self) -> Result<Self, TestbedError> {
        let arguments = ["--server-id=2", "--log-bin=binlog", "--read-only=1"];
        let arguments = arguments.map(str::to_owned).into();
        let replica = Self::start(MariadbOptions { arguments, ..MariadbOptions::default() })?;
        let word = replica.source();
        // MySQL's passwords need its public key on a connection without TLS.
        let of_product = match replica.is_mariadb() {
            true => "MASTER_SSL_VERIFY_SERVER_CERT=0",
            false => "GET_SOURCE_PUBLIC_KEY=1",
        };
        replica.change_source(&format!(
            "{word}_HOST='127.0.0.1', {word}_PORT={}, {word}_USER='{USER}', \
             {word}_PASSWORD='{PASSWORD}', {word}_SSL=0, {of_product}, \
             {word}_LOG_FILE='binlog.000001', {word}_LOG_POS=4",
            primary.port()
        ))?;
        Ok(replica)
    }

    /// Has this replica apply changes this many seconds after the primary.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn delay(&self, seconds: u32) -> Result<(), TestbedError> {
        self.run("mysql", "STOP REPLICA")?;
        self.change_source(&format!("{}_DELAY={seconds}", self.source()))
    }

    /// The word for a primary: MySQL 8.4 no longer knows MariaDB's.
    fn source(&self) -> &'static str {
        if self.is_mariadb() { "MASTER" } else { "SOURCE" }
    }

    fn change_source(&self, options: &str) -> Result<(), TestbedError> {
        let change = if self.is_mariadb() { "MASTER" } else { "REPLICATION SOURCE" };
        let sql = format!("CHANGE {change} TO {options}; START REPLICA");
        self.run("mysql", &sql).map(drop)
    }

    /// Waits until this replica has everything that its primary has now.
    ///
    /// # Errors
    /// When that takes too long, or a server does not answer.
    pub fn catch_up(&self, primary: &Self) -> Result<(), TestbedError> {
        let status = primary.run("mysql", "SHOW MASTER STATUS");
        let status = status.or_else(|_| primary.run("mysql", "SHOW BINARY LOG STATUS"))?;
        let place = status.first().map_or(&[][..], Vec::as_slice);
        let [Some(file), Some(position), ..] = place else {
            return Err(TestbedError::Failed("the primary writes no log".into()));
        };
        let wait = format!("{}_POS_WAIT", self.source());
        let sql = format!("SELECT {wait}('{file}', {position}, {CATCH_UP_MAX_S})");
        let waited = self.run("mysql", &sql)?;
        let events = waited.first().and_then(|row| row[0].as_deref()?.parse::<i64>().ok());
        match events {
            Some(0..) => Ok(()),
            _ => Err(TestbedError::Failed(format!("the replica does not reach {file} {position}"))),
        }
    }

    /// The server that all tests of this process share.
    ///
    /// # Panics
    /// When it is not available; the message says what to install.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<MariadbServer> = OnceLock::new();
        SHARED.get_or_init(|| {
            Self::start(MariadbOptions::default()).unwrap_or_else(|error| panic!("{error}"))
        })
    }

    /// Whether this is MariaDB rather than MySQL.
    pub fn is_mariadb(&self) -> bool {
        self.setup.programs.install.is_some()
    }

    /// Name of the user in URLs, who has all privileges.
    pub fn user(&self) -> &'static str {
        USER
    }

    /// Password of the user in URLs.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// Path of the unix socket.
    pub fn socket(&self) -> PathBuf {
        self.socket_folder().join("s.sock")
    }

    /// URL of a database on this server, with user and password.
    pub fn url(&self, database: &str) -> String {
        let scheme = if self.is_mariadb() { "mariadb" } else { "mysql" };
        format!("{scheme}://{USER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port())
    }

    /// Creates a database for the test of this thread, and returns its URL. It is dropped when the thread ends.
    ///
    /// # Errors
    /// When the server cannot create it.
    pub fn fresh_database(&self, prefix: &str) -> Result<String, TestbedError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{prefix}_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.create_database(&name)?;
        let (socket, url) = (self.socket(), self.url(&name));
        let remove = format!("SET lock_wait_timeout = 20; DROP DATABASE IF EXISTS `{name}`");
        // Nobody may be left to answer: a server is often gone before its thread.
        at_thread_end(move || drop(query(&socket, "mysql", &remove)));
        Ok(url)
    }

    pub(crate) fn create_database(&self, name: &str) -> Result<(), TestbedError> {
        let create = format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
        self.run("mysql", &create).map(drop)
    }

    /// Runs SQL as the administrator, with MariaDB's own client over the socket, and returns the
    /// rows' fields as text; NULL is `None`.
    ///
    /// # Errors
    /// When the server does not answer, or answers with an error.
    pub fn run(&self, database: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
        query(&self.socket(), database, sql)
    }

    /// Stops the server if it is running, and starts it on the same folder and port; returns when
    /// it accepts sessions.
    ///
    /// # Errors
    /// When it does not start.
    pub fn restart(&mut self) -> Result<(), TestbedError> {
        self.server.restart(&self.setup)
    }
}

fn query(
    socket: &Path,
    database: &str,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
    let output = Command::new("mariadb")
        .args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"])
        .args(["--default-character-set=utf8mb4", "--database", database, "--execute", sql])
        .arg(format!("--socket={}", socket.display()))
        .stdin(Stdio::null())
        .output()
        .map_err(TestbedError::io("starting the program mariadb"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(TestbedError::Failed(format!("{}: {sql}", stderr.trim())));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |field: &str| (field != "NULL").then(|| field.to_owned());
    Ok(text.lines().map(|line| line.split('\t').map(field).collect()).collect())
}

impl Launch for Setup {
    const PORT_IS_TAKEN: &'static str = "Address already in use";

    fn commands(&self, folder: &Path, port: u16) -> Commands {
        let data = folder.join("data");
        let made = data.join("mysql").exists();
        Commands {
            first: if made { Vec::new() } else { self.programs.initialise(folder) },
            server: self.server_command(folder, port),
        }
    }

    /// A server that sends a greeting accepts sessions: it has its users by then.
    fn is_ready(&self, folder: &Path, _pid: i32) -> bool {
        let Ok(mut stream) = UnixStream::connect(folder.join("s.sock")) else { return false };
        let mut head = [0; 5];
        stream.set_read_timeout(Some(GREETING_LIMIT)).is_ok()
            && stream.read_exact(&mut head).is_ok()
            && head[4] == 10
    }
}

impl Setup {
    fn server_command(&self, folder: &Path, port: u16) -> Vec<String> {
        let Self { programs, options } = self;
        let at = |name: &str| folder.join(name).display().to_string();
        let mut command = programs.command(&programs.server, folder);
        if options.unprivileged {
            let program = unprivileged(Path::new(&command[0]));
            command.splice(..1, program);
        }
        command.extend([
            format!("--datadir={}", at("data")),
            format!("--socket={}", at("s.sock")),
            format!("--pid-file={}", at("mysqld.pid")),
            format!("--init-file={}", at("init.sql")),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--port={port}"),
            format!("--max-connections={}", options.max_connections),
            format!("--local-infile={}", u8::from(options.local_infile)),
            format!("--innodb-flush-log-at-trx-commit={}", u8::from(options.fsync)),
            "--innodb-buffer-pool-size=256M".to_owned(),
            "--skip-name-resolve".to_owned(),
            "--skip-log-bin".to_owned(),
        ]);
        if options.tls {
            for (name, file) in
                [("ssl-cert", "server.crt"), ("ssl-key", "server.key"), ("ssl-ca", "ca.crt")]
            {
                command.push(format!("--{name}={}", at(file)));
            }
        } else {
            // MySQL 8.4 no longer knows the option, and MariaDB's have no empty version.
            let off = if programs.install.is_none() { "--tls-version=" } else { "--skip-ssl" };
            command.push(off.to_owned());
        }
        if programs.install.is_none() {
            // Debian's packages expect a folder for files that only their installation makes.
            command.extend(["--mysqlx=OFF", "--secure-file-priv="].map(str::to_owned));
        }
        command.extend(options.arguments.iter().cloned());
        command
    }
}

impl Programs {
    /// Finds the server's programs: in `TRIPHAMMER_TEST_MYSQL_BIN`, else the system's.
    fn find() -> Result<Self, TestbedError> {
        let first = |paths: Vec<PathBuf>| paths.into_iter().find(|path| path.exists());
        if let Some(bin) = std::env::var_os("TRIPHAMMER_TEST_MYSQL_BIN").map(PathBuf::from) {
            let base = bin.parent().unwrap_or(&bin).to_owned();
            let name = "mariadb-install-db";
            let install = first(vec![bin.join(name), base.join("scripts").join(name)]);
            let server =
                first(vec![bin.join("mariadbd"), bin.join("mysqld")]).ok_or_else(|| {
                    TestbedError::Failed(
                        "TRIPHAMMER_TEST_MYSQL_BIN has neither `mariadbd` nor `mysqld`".into(),
                    )
                })?;
            return Ok(Self { server, install, base: Some(base) });
        }
        let system = |name: &str| {
            first(
                ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(|d| Path::new(d).join(name)).into(),
            )
        };
        match (system("mariadbd"), system("mariadb-install-db")) {
            (Some(server), install @ Some(_)) => Ok(Self { server, install, base: None }),
            _ => Err(TestbedError::Missing {
                product: "MariaDB",
                command: "apt-get install -y mariadb-server",
            }),
        }
    }

    /// The beginning of a command: no option files, a separate folder for temporary files, because
    /// servers that share one delete each other's, and root where root requires it.
    fn command(&self, program: &Path, folder: &Path) -> Vec<String> {
        let temporary = format!("TMPDIR={}", folder.display());
        let program_name = program.display().to_string();
        let mut command = vec!["env".to_owned(), temporary, program_name, "--no-defaults".into()];
        if rustix::process::geteuid().is_root() {
            command.push("--user=root".to_owned());
        }
        if let Some(base) = &self.base {
            command.push(format!("--basedir={}", base.display()));
            if program == self.server {
                command.push(format!("--lc-messages-dir={}/share", base.display()));
            }
        }
        command
    }

    fn initialise(&self, folder: &Path) -> Vec<String> {
        let data = format!("--datadir={}", folder.join("data").display());
        let Some(install) = &self.install else {
            let mut command = self.command(&self.server, folder);
            command.extend(["--initialize-insecure".to_owned(), data]);
            return command;
        };
        let mut command = self.command(install, folder);
        command.push(data);
        command.extend(
            ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
                .map(str::to_owned),
        );
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_starts_survives_a_crash_and_leaves_nothing_behind() {
        let options = MariadbOptions { fsync: true, ..MariadbOptions::default() };
        let mut server = MariadbServer::start(options).unwrap();
        let folder = server.socket_folder().to_owned();
        let url = server.fresh_database("own").unwrap();
        let database = url.rsplit('/').next().unwrap();
        server.run(database, "CREATE TABLE t (a int); INSERT INTO t VALUES (7), (NULL)").unwrap();
        server.kill9();
        assert!(server.run(database, "SELECT 1").is_err());
        server.restart().unwrap();
        let rows = server.run(database, "SELECT a FROM t").unwrap();
        assert_eq!(rows, [[Some("7".to_owned())], [None]]);
        drop(server);
        assert!(!folder.exists());
    }
}
