//! Other clients of SQL Server's protocol against the responder of the tests: what it sends must mean to them what it
//! means to our client. They are FreeTDS (`tsql`), python-tds, and Microsoft's JDBC driver, which speaks TDS 7.4 and,
//! with strict TLS, 8.0.
//!
//! `tools/test-matrix.py tds-clients` fetches them into a folder, which `TRIPHAMMER_TDS_CLIENTS` names, and then each of
//! them must be there. Without it, those that this host has are used, and the others named on the standard error output.

use std::env;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::sqlserver_responder::{
    ATTENTION, BATCH, CALL, INT, LOGIN, LONG_TEXT, PRELOGIN, StrictTls, TRANSACTION, change,
    columns, done, done_with, error, greeting, hear, int_row, login_ack, message, packets,
    redirect, welcome, welcome_to_8_0, wide,
};

/// Names the folder of the fetched clients.
const VARIABLE: &str = "TRIPHAMMER_TDS_CLIENTS";

/// What is returned as a long text, in many packets.
const LENGTH: usize = 100_000;
/// What the clients must print.
const EXPECTED: [&str; 4] = ["row 7", "text 100000", "error 50007 It failed", "output 40"];
/// How `tsql` shows the error.
const FAILURE: &str = "Msg 50007 (severity 16, state 1)";
const PYTHON: &str = include_str!("sqlserver_client.py");
const JAVA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drivers/SqlServerClient.java");

/// A row with a number and a long text, in packets of an odd size.
fn long_answer() -> Vec<u8> {
    let text = "x".repeat(LENGTH);
    let length = u32::try_from(LENGTH).unwrap();
    let value = [&u64::from(length).to_le_bytes()[..], &length.to_le_bytes(), text.as_bytes()];
    let row = [&[0xd1, 4][..], &7i32.to_le_bytes(), &value.concat(), &[0; 4]].concat();
    packets(&[columns(&[INT, LONG_TEXT]), row, done_with(0xfd, 0x10, 1)].concat(), 509)
}

/// The answer to a call: the status 3, and an output parameter of 40, which has this place among the parameters.
fn call_answer(place: u8) -> Vec<u8> {
    let status = [&[0x79][..], &3i32.to_le_bytes()].concat();
    let name = [&[2][..], &wide("@b")].concat();
    let head = [&[0xac, place, 0][..], &name, &[1, 0, 0, 0, 0, 0, 0]].concat();
    let output = [&head[..], INT, &[4], &40i32.to_le_bytes()].concat();
    message(&[done_with(0xff, 1, 0), status, output, done_with(0xfe, 0, 0)].concat())
}

/// What the responder answers, whatever the client sends to set its session up.
fn answer(kind: u8, data: &[u8]) -> Vec<u8> {
    let has = |word: &str| data.windows(2 * word.len()).any(|part| part == wide(word));
    match kind {
        PRELOGIN => greeting(),
        LOGIN => welcome(),
        BATCH | CALL if has("row_of_it") => {
            message(&[columns(&[INT]), int_row(7), done_with(0xfd, 0x10, 1)].concat())
        }
        BATCH | CALL if has("text_of_it") => long_answer(),
        BATCH | CALL if has("fail") => {
            message(&[error(50_007, 16, "It failed"), done_with(0xfd, 2, 0)].concat())
        }
        // By sp_executesql, after its text and its declarations, or by name.
        CALL if has("EXEC pay") => call_answer(3),
        CALL if has("pay") => call_answer(1),
        CALL => message(&done_with(0xfe, 0, 0)),
        // To begin, with a number for the transaction; to commit; to roll back.
        TRANSACTION => match data[22] {
            5 => message(&[change(8, &[1; 8]), done()].concat()),
            7 => message(&[change(9, &[]), done()].concat()),
            _ => message(&[change(10, &[]), done()].concat()),
        },
        ATTENTION => message(&done_with(0xfd, 0x20, 0)),
        _ => message(&done()),
    }
}

/// A connection, with or without TLS.
trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

fn plain(stream: TcpStream) -> Box<dyn Both> {
    Box::new(stream)
}

/// Serves any number of sessions until the process ends; returns the port, and the types of what is received.
fn serve(
    at_login: Option<Vec<u8>>,
    accept: impl Fn(TcpStream) -> Box<dyn Both> + Clone + Send + 'static,
) -> (u16, Receiver<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, sender, at_login) = (stream.unwrap(), sender.clone(), at_login.clone());
            let accept = accept.clone();
            thread::spawn(move || {
                let mut stream = accept(stream);
                while let Some((kind, data)) = hear(&mut stream) {
                    // The test may have seen enough.
                    let _ = sender.send(kind);
                    let said = match &at_login {
                        Some(said) if kind == LOGIN => said.clone(),
                        _ => answer(kind, &data),
                    };
                    if stream.write_all(&said).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, receiver)
}

/// Runs a client to its end; returns what it printed. `None` if the program does not exist.
fn run(program: &str, args: &[&str], input: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).env("TDSVER", "7.4");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(format!("{}{}", text(&output.stdout), text(&output.stderr)))
}

/// A file of the fetched clients; `None` where they were not fetched.
pub fn fetched(file: &str) -> Option<PathBuf> {
    let folder = env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
    Some(Path::new(&folder).join(file))
}

/// Says that a client is not there, which is a failure where they were fetched.
pub fn lacks(client: &str, how: &str) {
    let message = format!("SQL Server's protocol was not checked by {client}: {how}");
    assert!(fetched("").is_none(), "{message}");
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Whether the client reads all answers, from a server and from one that redirects to it.
fn check(client: &str, args: impl Fn(&str) -> Option<String>) {
    let (port, heard) = serve(None, plain);
    let redirection = [redirect("127.0.0.1", port), login_ack(), done()].concat();
    let (first, _) = serve(Some(message(&redirection)), plain);
    for port in [port, first] {
        let Some(printed) = args(&port.to_string()) else { return };
        for line in EXPECTED {
            assert!(printed.contains(line), "{client} at {port}, {line}: {printed:.2000}");
        }
    }
    assert_eq!(
        heard.try_iter().filter(|kind| *kind == LOGIN).count(),
        2,
        "{client} was redirected"
    );
}

#[test]
fn python_tds_understands_the_responder() {
    let python = fetched("python/bin/python3").unwrap_or_else(|| "python3".into());
    let python = python.display().to_string();
    if run(&python, &["-c", "import pytds"], "").is_none_or(|printed| !printed.is_empty()) {
        return lacks("python-tds", "pip install python-tds");
    }
    check("python-tds", |port| run(&python, &["-c", PYTHON, port], ""));
}

/// Runs the JDBC driver with properties of its URL; `None` if it is not there.
fn run_jdbc(port: &str, properties: &str) -> Option<String> {
    let jar = fetched("mssql-jdbc.jar").filter(|jar| jar.exists());
    let Some(jar) = jar else {
        lacks("the JDBC driver", "tools/test-matrix.py tds-clients fetches it");
        return None;
    };
    let printed = run("java", &["-cp", &jar.display().to_string(), JAVA, port, properties], "");
    if printed.is_none() {
        lacks("the JDBC driver", "there is no java");
    }
    printed
}

#[test]
fn the_jdbc_driver_understands_the_responder() {
    check("the JDBC driver", |port| run_jdbc(port, "encrypt=false"));
}

/// With strict TLS it speaks TDS 8.0, and verifies the responder's certificate.
#[test]
fn the_jdbc_driver_understands_the_responder_by_strict_tls() {
    let folder = tempfile::tempdir().unwrap();
    triphammer_testbed::write_certificates(folder.path(), "u").unwrap();
    let tls = StrictTls::with_certificate(folder.path());
    let accept = move |stream| Box::new(tls.accept(stream)) as Box<dyn Both>;
    let (port, heard) = serve(Some(welcome_to_8_0()), accept);
    for (certificate, is_trusted) in [("server.crt", true), ("client.crt", false)] {
        let file = folder.path().join(certificate).display().to_string();
        let properties = format!("encrypt=strict;serverCertificate={file}");
        let Some(printed) = run_jdbc(&port.to_string(), &properties) else { return };
        for line in EXPECTED {
            assert_eq!(
                printed.contains(line),
                is_trusted,
                "{certificate}, {line}: {printed:.3000}"
            );
        }
    }
    assert_eq!(heard.try_iter().filter(|kind| *kind == LOGIN).count(), 1);
}

#[test]
fn freetds_understands_the_responder() {
    // It has no call with outputs.
    let script = "SELECT row_of_it\nGO\nSELECT text_of_it\nGO\nEXEC fail\nGO\nexit\n";
    let text = "x".repeat(LENGTH);
    check("FreeTDS", |port| {
        let args =
            ["-H", "127.0.0.1", "-p", port, "-U", "u", "-P", "geheim", "-D", "d", "-o", "fhq"];
        let printed = run("tsql", &args, script);
        if printed.is_none() {
            lacks("FreeTDS", "apt-get install freetds-bin");
        }
        let printed = printed?;
        // In the form of the other clients.
        let shown =
            [("7", EXPECTED[0]), (&format!("7\t{text}"), EXPECTED[1]), (FAILURE, EXPECTED[2])];
        let is =
            |shown: &str, line: &str| shown == line || line == FAILURE && shown.starts_with(line);
        let has = |line: &str| printed.lines().any(|shown| is(shown, line));
        let found = shown.iter().filter(|(line, _)| has(line)).map(|(_, shown)| *shown);
        let found: Vec<_> = found.chain([EXPECTED[3]]).collect();
        Some(format!("{}\n{printed}", found.join("\n")))
    });
}
