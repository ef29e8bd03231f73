//! PgBouncer in front of a private PostgreSQL server.

use std::net::{Ipv4Addr, TcpStream};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::postgres::unprivileged;
use crate::server::{Commands, Launch, Server};
use crate::{PostgresServer, TestbedError};

/// A private PgBouncer with at most four sessions of the server, stopped and removed when it is dropped or the
/// process ends.
pub struct PgBouncer(Server);

/// Inputs of its command.
struct Setup {
    program: PathBuf,
    /// Port of the PostgreSQL server.
    server: u16,
    settings: String,
}

impl Deref for PgBouncer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl PgBouncer {
    /// Starts a pooler of `server` with these settings, such as `pool_mode=transaction`.
    ///
    /// # Errors
    /// When PgBouncer is not installed, or does not start.
    pub fn start(server: &PostgresServer, settings: &[&str]) -> Result<Self, TestbedError> {
        let mut pooler = Server::new("PgBouncer", "th-pb-")?;
        let users = format!("\"{}\" \"{}\"\n", server.user(), server.password());
        let file = pooler.socket_folder().join("users");
        std::fs::write(&file, users).map_err(TestbedError::io("writing PgBouncer's users"))?;
        pooler.start(&Setup {
            program: find()?,
            server: server.port(),
            settings: settings.join("\n"),
        })?;
        Ok(Self(pooler))
    }

    /// Whether this version loses what sessions prepare in its transaction mode: before 1.24, unless it
    /// is told to track them.
    pub fn forgets_statements(&self) -> bool {
        let log = self.log();
        let version = log.split("process up: PgBouncer 1.").nth(1).unwrap_or_default();
        let minor: u32 = version.split('.').next().unwrap_or_default().parse().unwrap_or(0);
        minor < 24
    }

    /// The URL of a database of the server by way of the pooler.
    pub fn url(&self, server: &PostgresServer, database: &str) -> String {
        let (user, password, port) = (server.user(), server.password(), self.port());
        format!("postgres://{user}:{password}@127.0.0.1:{port}/{database}")
    }
}

impl Launch for Setup {
    const PORT_IS_TAKEN: &'static str = "Address already in use";

    fn commands(&self, folder: &Path, port: u16) -> Commands {
        let (server, settings) = (self.server, &self.settings);
        let file = folder.join("pgbouncer.ini");
        let users = folder.join("users");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {}\n\
             default_pool_size = 4\n{settings}\n",
            users.display()
        );
        // A file that cannot be written is missing for the program, which says so.
        let _ = std::fs::write(&file, text);
        let mut command = unprivileged(&self.program);
        command.push(file.display().to_string());
        Commands { first: Vec::new(), server: command }
    }

    fn is_ready(&self, folder: &Path, _pid: i32) -> bool {
        let text = std::fs::read_to_string(folder.join("pgbouncer.ini")).unwrap_or_default();
        let port = text.lines().find_map(|line| line.strip_prefix("listen_port = ")?.parse().ok());
        port.is_some_and(|port: u16| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())
    }
}

/// Finds the program: in `TRIPHAMMER_TEST_PGBOUNCER`, else where Debian puts it.
fn find() -> Result<PathBuf, TestbedError> {
    let named = std::env::var_os("TRIPHAMMER_TEST_PGBOUNCER").map(PathBuf::from);
    let program = named.unwrap_or_else(|| "/usr/sbin/pgbouncer".into());
    program.exists().then_some(program).ok_or(TestbedError::Missing {
        product: "PgBouncer",
        command: "apt-get install -y pgbouncer",
    })
}
