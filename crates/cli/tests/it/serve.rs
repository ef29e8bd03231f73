//! `serve` as a process: its line, signals, a port that is taken, and what a killed one leaves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use crate::program::{Program, finish, signal};

/// A server process.
struct Served {
    child: Child,
    address: String,
    line: String,
}

impl Served {
    fn start(program: &Program, args: &[&str]) -> Self {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child = program.start(&all);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split_whitespace().next().unwrap();
        Self { address: address.to_owned(), child, line }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} /api/v1/{path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// Starts a long run, and waits until a second of it has passed.
    fn start_run(&self) {
        self.ask("PUT", "targets/null", &json!({ "url": "null:" }));
        let settings = json!({ "vus": "1", "rampup": "0s", "duration": "10m" });
        self.ask(
            "POST",
            "activities",
            &json!({ "command": "run", "target": "null", "settings": settings }),
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\n\r\n", self.address).unwrap();
        let mut lines = BufReader::new(stream).lines();
        lines.find(|line| line.as_ref().unwrap() == "event: second").unwrap().unwrap();
    }
}

#[test]
fn sigterm_drains_the_run_and_stores_it() {
    let program = Program::new();
    let served = Served::start(&program, &[]);
    served.start_run();
    signal(&served.child, "TERM");
    let done = finish(served.child);
    assert_eq!(done.code, 0, "{}", done.err);
    let jobs = program.json(&["jobs"]);
    assert_eq!(jobs[0]["status"], "interrupted", "{jobs}");
}

#[test]
fn a_killed_server_leaves_its_job_lost_and_the_next_one_says_so() {
    let program = Program::new();
    let served = Served::start(&program, &[]);
    served.start_run();
    signal(&served.child, "KILL");
    finish(served.child);
    let next = Served::start(&program, &[]);
    assert_eq!(next.ask("GET", "activities", &Value::Null)["activities"], json!([]));
    assert_eq!(next.ask("GET", "jobs", &Value::Null)["jobs"][0]["status"], "lost");
    assert_eq!(next.ask("GET", "targets", &Value::Null)["targets"][0]["name"], "null");
    signal(&next.child, "INT");
    assert_eq!(finish(next.child).code, 0);
}

#[test]
fn a_port_that_is_taken_is_exit_code_2_with_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let done = Program::new().run(&["serve", "--listen", &address]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("choose another port"), "{}", done.err);
}

#[test]
fn an_open_address_gets_a_token_that_is_printed_once() {
    let program = Program::new();
    let mut child = program.start(&["serve", "--listen", "0.0.0.0:0"]);
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("  token: "), "{line}");
    signal(&child, "INT");
    let done = finish(child);
    assert!(done.err.contains("crosses the network readable"), "{}", done.err);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let program = Program::new();
    std::fs::write(program.path("short"), "short\n").unwrap();
    for (args, words) in [
        (&["--listen", "nonsense"][..], "is no address and port"),
        (&["--tls-cert", "x"], "go together"),
        (&["--token-file", "absent"], "cannot read the token file"),
        (&["--token-file", "short"], "fewer than 16"),
        (&["--tls-cert", "absent", "--tls-key", "absent"], "cannot read the certificate"),
    ] {
        let done = program.run(&[&["serve"], args].concat());
        assert_eq!(done.code, 2, "{args:?}");
        assert!(done.err.contains(words), "{args:?}: {}", done.err);
    }
    let served = Served::start(&program, &[]);
    assert!(!served.line.contains("token"), "{}", served.line);
    signal(&served.child, "INT");
    finish(served.child);
}
