//! The client for SQL Server against Microsoft's mock server, the program of the crate `mssql-mock-tds`: another reading
//! of our first messages, logins and batches, and another TLS library (OpenSSL).
//!
//! It is run rather than linked: the crate needs OpenSSL's headers, which nothing else here does, and `make test` would
//! compile it for every developer. `tools/test-matrix.py tds-clients` installs it into the folder that
//! `TRIPHAMMER_TDS_CLIENTS` names. It knows no SQL, and answers the question that begins a session without a row: that is
//! how far a session comes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use triphammer_core::ErrorClass;
use triphammer_core::session::Session as _;

use crate::session::on_worker;
use crate::sqlserver_clients::{fetched, lacks};
use crate::sqlserver_responder::{connect, greeting, server, set_up, url, welcome};

/// How long the server may take to start, and to write what it heard.
const PATIENCE: Duration = Duration::from_secs(60);
/// How a session ends that the server has let in.
const LET_IN: &str = "cannot be parsed: the number of a session";

/// The server's process, which ends with the test, and the lines that it prints.
struct Mock {
    child: Child,
    port: u16,
    lines: Receiver<String>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Mock {
    /// `None` if it is not there.
    fn start(args: &[&str]) -> Option<Self> {
        let Some(program) = fetched("bin/mssql-mock-tds").filter(|program| program.exists()) else {
            lacks("mssql-mock-tds", "tools/test-matrix.py tds-clients fetches it");
            return None;
        };
        let mut command = Command::new(program);
        command.args(["--port", "0"]).args(args).env("NO_COLOR", "1");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // To the end, so that the server does not block on a full pipe.
            for line in printed.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut mock = Self { child, port: 0, lines };
        let listens = mock.line_with("Mock TDS Server is running on ");
        mock.port = listens.rsplit(':').next().unwrap().trim().parse().unwrap();
        Some(mock)
    }

    /// Waits for a line with this text.
    fn line_with(&self, text: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("no line with {text}: {seen:#?}");
                }
            }
        }
    }
}

fn certificates() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    triphammer_testbed::write_certificates(folder.path(), "u").unwrap();
    folder
}

fn file(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn the_mock_server_of_microsoft_lets_sessions_in_by_every_kind_of_encryption() {
    let folder = certificates();
    let (certificate, key) = (file(folder.path(), "server.crt"), file(folder.path(), "server.key"));
    let ca = file(folder.path(), "ca.crt");
    for (mode, params) in [
        ("none", "encrypt=off".to_owned()),
        ("optional", format!("encrypt=on&ca={ca}")),
        ("optional", "encrypt=on&trust-server-certificate=on".to_owned()),
        ("strict", format!("encrypt=strict&ca={ca}")),
    ] {
        let args = ["--tls-mode", mode, "--cert", &certificate, "--key", &key];
        let args = if mode == "none" { &args[..2] } else { &args[..] };
        let Some(mock) = Mock::start(args) else { return };
        let error = on_worker(connect(&format!("{}?{params}", url(mock.port)))).err().unwrap();
        assert!(error.message().contains(LET_IN), "{mode}, {params}: {error}");
        // It has read the login and the batch as they were meant.
        mock.line_with("client sent ServerName=\"127.0.0.1\"");
        let batch = mock.line_with("Executing SQL from");
        assert!(batch.contains("SET XACT_ABORT ON; SET NOCOUNT OFF"), "{batch}");
        assert!(batch.contains("SELECT @@SPID"), "{batch}");
    }
}

#[test]
fn the_mock_server_of_microsoft_is_not_trusted_without_its_authority() {
    let folder = certificates();
    let (certificate, key) = (file(folder.path(), "server.crt"), file(folder.path(), "server.key"));
    let (ca, other) = (file(folder.path(), "ca.crt"), file(folder.path(), "other-ca.crt"));
    for (mode, params, words) in [
        ("optional", format!("encrypt=on&ca={other}"), "ca=FILE"),
        ("strict", format!("encrypt=strict&ca={other}"), "ca=FILE"),
        ("strict", format!("encrypt=strict&ca={ca}&host-in-certificate=db1"), "not valid for name"),
        ("none", format!("encrypt=on&ca={ca}"), "offers no encryption"),
    ] {
        let args = ["--tls-mode", mode, "--cert", &certificate, "--key", &key];
        let args = if mode == "none" { &args[..2] } else { &args[..] };
        let Some(mock) = Mock::start(args) else { return };
        let error = on_worker(connect(&format!("{}?{params}", url(mock.port)))).err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{mode}, {params}: {error}");
        assert!(error.message().contains(words), "{mode}, {params}: {error}");
    }
}

#[test]
fn a_redirection_of_the_mock_server_of_microsoft_is_followed() {
    let (port, heard) = server(vec![greeting(), welcome(), set_up()]);
    let to = port.to_string();
    let Some(mock) = Mock::start(&["--redirect-host", "127.0.0.1", "--redirect-port", &to]) else {
        return;
    };
    on_worker(async { assert!(!connect(&url(mock.port)).await.unwrap().is_closed()) });
    assert_eq!(heard.iter().take(3).count(), 3, "the other server has the session");
}
