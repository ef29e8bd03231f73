//! Private Trino servers with the connectors tpch and memory. Trino is too large for the suite:
//! `TRIPHAMMER_TEST_TRINO` names its folder and `TRIPHAMMER_JAVA` a Java of version 24 or newer.

use std::env;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::TestbedError;
use crate::server::{Commands, Launch, Server};

/// Maximum wait for one answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Maximum time until a started server has a node that works, and interval of the questions.
const NODE_POLLS_MAX: u32 = 600;
const NODE_POLL: Duration = Duration::from_millis(100);

/// Files of the configuration. The port comes from the environment; `DATA` is the data folder, which
/// the launcher reads too.
const FILES: [(&str, &str); 5] = [
    (
        "node.properties",
        "node.environment=test\nnode.id=n1\nnode.data-dir=DATA\n\
         node.bind-ip=127.0.0.1\nnode.internal-address=127.0.0.1\n",
    ),
    ("jvm.config", "-Xmx900M\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n"),
    (
        "config.properties",
        "coordinator=true\nnode-scheduler.include-coordinator=true\n\
         http-server.http.port=${ENV:TRINO_PORT}\n\
         discovery.uri=http://127.0.0.1:${ENV:TRINO_PORT}\n\
         query.max-memory=300MB\nquery.max-memory-per-node=300MB\n\
         memory.heap-headroom-per-node=100MB\n",
    ),
    ("catalog/tpch.properties", "connector.name=tpch\ntpch.column-naming=STANDARD\n"),
    ("catalog/memory.properties", "connector.name=memory\nmemory.max-data-per-node=256MB\n"),
];

/// A private Trino server, stopped and removed when it is dropped or the process ends.
pub struct TrinoServer {
    server: Server,
    setup: Setup,
}

struct Setup {
    /// Folder with `bin/launcher`.
    trino: PathBuf,
    /// Folder with the program `java`.
    java: PathBuf,
}

impl Deref for TrinoServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for TrinoServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

impl TrinoServer {
    /// Starts a server; returns when it runs queries.
    ///
    /// # Errors
    /// When Trino is not there, or does not start.
    pub fn start() -> Result<Self, TestbedError> {
        let folder = |variable: &str| env::var_os(variable).map(PathBuf::from);
        let missing =
            TestbedError::Missing { product: "Trino", command: "tools/test-matrix.py trino476" };
        let (Some(trino), Some(java)) =
            (folder("TRIPHAMMER_TEST_TRINO"), folder("TRIPHAMMER_JAVA"))
        else {
            return Err(missing);
        };
        let java = if java.ends_with("bin") { java } else { java.join("bin") };
        let mut server = Server::new("Trino", "th-trino-")?;
        let etc = server.socket_folder().join("etc");
        std::fs::create_dir_all(etc.join("catalog")).map_err(TestbedError::io("creating etc"))?;
        let data = server.socket_folder().join("data").display().to_string();
        for (name, text) in FILES {
            std::fs::write(etc.join(name), text.replace("DATA", &data))
                .map_err(TestbedError::io("writing to etc"))?;
        }
        let setup = Setup { trino, java };
        server.start(&setup)?;
        let started = Self { server, setup };
        started.wait_for_node()?;
        Ok(started)
    }

    /// The server that all tests of this process share.
    ///
    /// # Panics
    /// When it is not available; the message says what to run.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<TrinoServer> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().unwrap_or_else(|error| panic!("{error}")))
    }

    /// URL of a schema on this server.
    pub fn url(&self, catalog: &str, schema: &str) -> String {
        format!("trino://triphammer@127.0.0.1:{}/{catalog}/{schema}", self.port())
    }

    /// Creates a separate schema of the catalog `memory`, and returns its URL.
    ///
    /// # Errors
    /// When the server cannot create it.
    pub fn fresh_schema(&self, prefix: &str) -> Result<String, TestbedError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{prefix}_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.run(&format!("CREATE SCHEMA memory.{name}"))?;
        Ok(self.url("memory", &name))
    }

    /// Runs a statement, and returns the texts of its pages.
    ///
    /// # Errors
    /// When the server does not answer, or answers with an error.
    pub fn run(&self, sql: &str) -> Result<String, TestbedError> {
        let mut pages = String::new();
        let mut page = ask(self.port(), "POST", "/v1/statement", sql);
        loop {
            let text = page.ok_or_else(|| TestbedError::Failed(format!("no answer to {sql}")))?;
            pages.push_str(&text);
            if text.contains(r#""error":{"#) {
                return Err(TestbedError::Failed(format!("{sql}: {text}")));
            }
            let Some((_, next)) = text.split_once(r#""nextUri":"http://127.0.0.1:"#) else {
                return Ok(pages);
            };
            let path = next.split('"').next().and_then(|next| next.find('/').map(|at| &next[at..]));
            page = ask(self.port(), "GET", path.unwrap_or("/"), "");
        }
    }

    /// Stops the server if it is running, and starts it on the same port; returns when it runs
    /// queries.
    ///
    /// # Errors
    /// When it does not start.
    pub fn restart(&mut self) -> Result<(), TestbedError> {
        self.server.restart(&self.setup)?;
        self.wait_for_node()
    }

    /// A server that has started has no node for a few seconds.
    fn wait_for_node(&self) -> Result<(), TestbedError> {
        let mut last = None;
        for _ in 0..NODE_POLLS_MAX {
            match self.run("SELECT count(*) FROM tpch.tiny.region") {
                Ok(_) => return Ok(()),
                Err(error) => last = Some(error),
            }
            std::thread::sleep(NODE_POLL);
        }
        Err(last.expect("polled at least once"))
    }
}

impl Launch for Setup {
    const PORT_IS_TAKEN: &'static str = "Failed to bind";

    fn commands(&self, folder: &Path, port: u16) -> Commands {
        let path = env::var("PATH").unwrap_or_default();
        let server = vec![
            "env".to_owned(),
            format!("PATH={}:{path}", self.java.display()),
            format!("TRINO_PORT={port}"),
            self.trino.join("bin/launcher").display().to_string(),
            "run".to_owned(),
            "--etc-dir".to_owned(),
            folder.join("etc").display().to_string(),
        ];
        // A killed server leaves it, and the launcher then takes that for a running one.
        let pid_file = folder.join("data/var/run/launcher.pid").display().to_string();
        Commands { first: vec!["rm".to_owned(), "-f".to_owned(), pid_file], server }
    }

    fn is_ready(&self, folder: &Path, _pid: i32) -> bool {
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        log.contains("======== SERVER STARTED ========")
    }
}

/// Sends a request, and returns the answer with its head.
fn ask(port: u16, method: &str, path: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(ANSWER_LIMIT)).ok()?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Trino-User: testbed\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}
