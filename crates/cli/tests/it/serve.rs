//! `serve` as a process: its output, signals, a port in use, and the state after it was killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use crate::program::{Messages, Program, finish, signal};

/// The token, if one is given.
const GIVEN: &str = "a-token-that-is-given";

/// A running `triphammer serve` process.
struct Served {
    child: Child,
    address: String,
    token: String,
    line: String,
}

impl Served {
    fn start(program: &Program, args: &[&str]) -> Self {
        let mut all = vec!["serve"];
        if !args.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(args);
        let mut child = program.start(&all);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.split("http://").nth(1).unwrap().trim_end();
        let (address, token) = url.split_once("/?token=").unwrap_or((url, GIVEN));
        Self { address: address.to_owned(), token: token.to_owned(), child, line }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.answer(method, &format!("/api/v1/{path}"), body);
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    fn status(&self, path: &str) -> u16 {
        let answer = self.answer("GET", path, &Value::Null);
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn answer(&self, method: &str, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Requests a run on a target with this URL.
    fn ask_run(&self, url: &str, settings: &Value) -> Value {
        self.ask("PUT", "targets/any", &json!({ "url": url }));
        let form = json!({ "command": "run", "target": "any", "settings": settings });
        self.ask("POST", "activities", &form)
    }

    /// Starts a long run, and waits until a second of it has passed.
    fn start_run(&self) {
        self.ask_run("null:", &json!({ "vus": "1", "rampup": "0s", "duration": "10m" }));
        self.wait_for("event: second");
    }

    /// Waits until a line of the live events starts with this text.
    fn wait_for(&self, beginning: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!("host: {}\r\nauthorization: Bearer {}\r\n", self.address, self.token);
        write!(stream, "GET /api/v1/events HTTP/1.1\r\n{head}\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        lines.find(|line| line.as_ref().unwrap().starts_with(beginning)).unwrap().unwrap()
    }
}

#[test]
fn what_ends_a_server_drains_the_run_and_stores_it() {
    for name in ["TERM", "HUP"] {
        let program = Program::new();
        let served = Served::start(&program, &[]);
        served.start_run();
        signal(&served.child, name);
        let done = finish(served.child);
        assert_eq!(done.code, 0, "{name}: {}", done.err);
        let jobs = program.json(&["jobs"]);
        assert_eq!(jobs[0]["status"], "interrupted", "{name}: {jobs}");
    }
}

#[test]
fn sizes_without_reason_are_refused_and_the_server_lives() {
    let program = Program::new();
    let served = Served::start(&program, &[]);
    for (name, value) in [("vus", "4294967295"), ("vus", "10000000"), ("terminals", "100000000")] {
        let asked = served.ask_run("null:", &json!({ name: value, "duration": "1s" }));
        // The form is rejected: nothing has started.
        assert!(asked["id"].is_null() && asked.to_string().contains(name), "{name}: {asked}");
    }
    signal(&served.child, "TERM");
    assert_eq!(finish(served.child).code, 0);
}

#[test]
fn two_signals_end_a_server_whose_run_waits_for_an_answer() {
    let program = Program::new();
    // Accepts connections without answering.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut served = Served::start(&program, &[]);
    let mut messages = Messages::by(&mut served.child);
    let url = format!("postgres://u@{}/d", silent.local_addr().unwrap());
    served.ask_run(&url, &json!({ "connect-timeout": "10m" }));
    let (_connection, _) = silent.accept().unwrap();
    signal(&served.child, "TERM");
    // The kernel merges two pending signals into one.
    messages.wait_for("shutting down");
    signal(&served.child, "TERM");
    finish(served.child);
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
    assert_eq!(next.ask("GET", "targets", &Value::Null)["targets"][0]["name"], "any");
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
fn every_address_gets_a_token_that_is_printed_once_as_a_link() {
    let program = Program::new();
    for listen in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
        let served = Served::start(&program, &["--listen", listen]);
        assert!(served.line.contains("/?token=") && served.token.len() == 64, "{}", served.line);
        assert_eq!(served.ask("GET", "jobs", &Value::Null)["jobs"], json!([]));
        let token = served.token.clone();
        let thief = Served { token: "0".repeat(64), ..served };
        assert_eq!(thief.ask("GET", "jobs", &Value::Null)["code"], "unauthorized");
        signal(&thief.child, "INT");
        let done = finish(thief.child);
        assert!(!done.err.contains(&token), "{}", done.err);
        let is_readable = done.err.contains("cross the network unencrypted");
        assert_eq!(is_readable, listen == "0.0.0.0:0", "{}", done.err);
    }
}

#[test]
fn a_token_that_is_given_is_not_printed() {
    let program = Program::new();
    std::fs::write(program.path("token"), format!("{GIVEN}\n")).unwrap();
    let served = Served::start(&program, &["--token-file", "token"]);
    assert!(!served.line.contains("token"), "{}", served.line);
    assert_eq!(served.ask("GET", "jobs", &Value::Null)["jobs"], json!([]));
    signal(&served.child, "INT");
    finish(served.child);
}

#[test]
fn a_token_of_the_metrics_is_read_from_its_file() {
    let program = Program::new();
    std::fs::write(program.path("metrics"), "a-token-of-prometheus\n").unwrap();
    let served = Served::start(&program, &["--metrics-token-file", "metrics"]);
    let scraper = Served { token: "a-token-of-prometheus".to_owned(), ..served };
    assert_eq!(scraper.status("/metrics"), 200);
    assert_eq!(scraper.status("/api/v1/jobs"), 401);
    signal(&scraper.child, "INT");
    finish(scraper.child);
}

#[test]
fn targets_and_the_data_folder_are_given_at_the_start() {
    let program = Program::new();
    std::fs::create_dir(program.path("data")).unwrap();
    std::fs::write(program.path("t.toml"), "[fixed]\nurl = \"null:\"\n").unwrap();
    let served = Served::start(&program, &["--targets", "t.toml", "--data", "data"]);
    let targets = served.ask("GET", "targets", &Value::Null);
    assert_eq!(
        (&targets["targets"][0]["name"], &targets["targets"][0]["fixed"]),
        (&json!("fixed"), &json!(true))
    );
    for (url, is_saved) in [("sqlite:a.db", true), ("sqlite:../a.db", false)] {
        let answer = served.ask("PUT", "targets/mine", &json!({ "url": url }));
        assert_eq!(answer["code"].is_null(), is_saved, "{answer}");
    }
    assert!(served.ask("GET", "about", &Value::Null)["folder"].as_str().unwrap().contains("data"));
    signal(&served.child, "INT");
    finish(served.child);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let program = Program::new();
    std::fs::write(program.path("short"), "short\n").unwrap();
    for (args, words) in [
        (&["--listen", "nonsense"][..], "invalid address `nonsense`"),
        (&["--tls-cert", "x"], "must be given together"),
        (&["--token-file", "absent"], "cannot read the token file"),
        (&["--token-file", "short"], "fewer than 16"),
        (&["--metrics-token-file", "absent"], "cannot read the token file"),
        (&["--metrics-token-file", "short"], "fewer than 16"),
        (&["--tls-cert", "absent", "--tls-key", "absent"], "cannot read the certificate"),
        (&["--targets", "absent"], "cannot read the targets file absent"),
        (&["--data", "absent"], "cannot use the data directory absent"),
    ] {
        let done = program.run(&[&["serve"], args].concat());
        assert_eq!(done.code, 2, "{args:?}");
        assert!(done.err.contains(words), "{args:?}: {}", done.err);
    }
}
