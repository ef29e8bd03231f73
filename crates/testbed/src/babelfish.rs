//! Private Babelfish servers: PostgreSQL that speaks the protocol and the SQL of SQL Server. It is
//! in no package registry: `TRIPHAMMER_BABELFISH` names the folder with its programs `start` and
//! `stop`.

use std::env;
use std::io::Write as _;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Once, OnceLock};

use crate::TestbedError;
use crate::server::{Commands, Launch, Server};

/// The login of URLs, who has all privileges. Neither name nor password needs escaping in a URL.
const USER: &str = "babel";
const PASSWORD: &str = "triphammer-test";
/// Name of the variable that names the folder of the programs.
const VARIABLE: &str = "TRIPHAMMER_BABELFISH";
/// Port in the name of the unix socket, over which PostgreSQL's own protocol is spoken.
const SOCKET_PORT: &str = "5432";
/// Settings besides those of `start`: isolation levels that are errors otherwise, and commits that
/// survive a killed server.
const SETTINGS: &str = "babelfishpg_tsql.isolation_level_repeatable_read = 'pg_isolation'\n\
    babelfishpg_tsql.isolation_level_serializable = 'pg_isolation'\n\
    synchronous_commit = on\n";
/// Creates the data folder: starts the server and stops it again.
const CREATE: &str = r#""$0/start" "$1" "$2" && exec "$0/stop" "$1""#;
/// Starts the server as this process, as the user that `start` would take.
const SERVE: &str = r#"
B=$0 D=$1 P=$2; shift 2
. "$B/lib/as-user.sh"
set -- "$B/bin/postgres" -D "$D/data" -p 5432 -c unix_socket_directories="$D" \
    -c unix_socket_permissions=0700 -c babelfishpg_tds.unix_socket_directories="$D" \
    -c babelfishpg_tds.port="$P" -c ssl=on -c ssl_cert_file="$D/server.crt" \
    -c ssl_key_file="$D/server.key"
case $run_as in
'') exec "$@" ;;
ns) exec unshare --user --map-user=65534 --map-group=65534 "$@" ;;
*)  chown "$run_as" "$D/server.key"
    exec setpriv --reuid="$run_as" --regid="$run_as" --clear-groups "$@" ;;
esac
"#;

/// A private Babelfish server, stopped and removed when it is dropped or the process ends.
pub struct BabelfishServer {
    server: Server,
    setup: Setup,
}

struct Setup {
    /// Folder of the programs.
    programs: PathBuf,
}

impl Deref for BabelfishServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for BabelfishServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

impl BabelfishServer {
    /// Whether there is a Babelfish. If not, says once on the standard error output, also where the
    /// output of tests is captured, that its tests do not run.
    #[must_use]
    pub fn is_available() -> bool {
        static SAY: Once = Once::new();
        let available = env::var_os(VARIABLE).is_some_and(|folder| !folder.is_empty());
        if !available {
            SAY.call_once(|| {
                let message = "the tests of SQL Server did not run: TRIPHAMMER_BABELFISH names no \
                               folder of Babelfish";
                // Nobody may be there to read it.
                let _ = writeln!(std::io::stderr(), "{message}");
            });
        }
        available
    }

    /// Creates a data folder and starts a server on it; returns when it accepts sessions.
    ///
    /// # Errors
    /// When Babelfish is not there, or does not start.
    pub fn start() -> Result<Self, TestbedError> {
        let Some(programs) = env::var_os(VARIABLE).map(PathBuf::from) else {
            return Err(TestbedError::Missing {
                product: "Babelfish",
                command: "export TRIPHAMMER_BABELFISH=FOLDER",
            });
        };
        let mut server = Server::new("Babelfish", "th-bf-")?;
        let settings = server.socket_folder().join("settings");
        std::fs::write(settings, SETTINGS).map_err(TestbedError::io("writing settings"))?;
        let setup = Setup { programs };
        server.start(&setup)?;
        Ok(Self { server, setup })
    }

    /// The server that all tests of this process share.
    ///
    /// # Panics
    /// When it is not available.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<BabelfishServer> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Password of the user in URLs.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// URL of a database on this server, with user and password.
    pub fn url(&self, database: &str) -> String {
        format!("sqlserver://{USER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port())
    }

    /// Runs SQL in PostgreSQL's own dialect and over its own protocol, and returns the rows' fields
    /// as text; NULL is empty. Tables of a database are in the schema `DATABASE_dbo`.
    ///
    /// # Errors
    /// When the server does not answer, or answers with an error.
    pub fn run(&self, sql: &str) -> Result<Vec<Vec<String>>, TestbedError> {
        let output = Command::new(self.setup.programs.join("bin/psql"))
            .args(["-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-U", "postgres"])
            .args(["-p", SOCKET_PORT, "-d", "babelfish_db", "-c", sql, "-h"])
            .arg(self.socket_folder())
            .stdin(Stdio::null())
            .output()
            .map_err(TestbedError::io("starting the program psql"))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(TestbedError::Failed(format!("{}: {sql}", stderr.trim())));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
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

impl Launch for Setup {
    const PORT_IS_TAKEN: &'static str = "could not bind";

    fn commands(&self, folder: &Path, port: u16) -> Commands {
        let shown = |path: &Path| path.display().to_string();
        let shell = |script: &str| {
            let words = ["sh", "-c", script].map(str::to_owned);
            let places = [shown(&self.programs), shown(folder), port.to_string()];
            words.into_iter().chain(places).collect::<Vec<_>>()
        };
        let mut first = Vec::new();
        if !folder.join("data/babelfish.ok").exists() {
            let settings = format!("BABELFISH_CONF={}", shown(&folder.join("settings")));
            first.extend(["env".to_owned(), format!("BABEL_PASSWORD={PASSWORD}"), settings]);
            first.extend(shell(CREATE));
        }
        Commands { first, server: shell(SERVE) }
    }

    /// The file of the process id says so in its last line.
    fn is_ready(&self, folder: &Path, pid: i32) -> bool {
        let text = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
        let mut lines = text.lines();
        lines.next() == Some(pid.to_string().as_str())
            && lines.last().is_some_and(|state| state.trim() == "ready")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_starts_survives_a_crash_and_leaves_nothing_behind() {
        if !BabelfishServer::is_available() {
            return;
        }
        let mut server = BabelfishServer::start().unwrap();
        let folder = server.socket_folder().to_owned();
        assert_eq!(server.run("SELECT 7, NULL").unwrap(), [["7", ""]]);
        server.kill9();
        assert!(server.run("SELECT 1").is_err());
        server.restart().unwrap();
        assert_eq!(server.run("SELECT 7").unwrap(), [["7"]]);
        drop(server);
        assert!(!folder.exists());
    }
}
