//! `triphammer mcp` and a client written for this test: one JSON-RPC message per line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::program::{Program, finish, signal};

/// An assistant.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start(program: &Program, args: &[&str]) -> Self {
        let mut child = program.start_with_input(&[&["mcp"], args].concat());
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, last: 0 };
        let about = client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                     "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(about["result"]["serverInfo"]["name"], "triphammer", "{about}");
        assert!(about["result"]["instructions"].as_str().unwrap().contains("list_targets"));
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "no answer to {request}");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// The result of a tool, which may be an error.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"].clone()
    }

    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of what `start` has started.
    fn end_of(&mut self, started: &Value) -> Value {
        let id = started["activity"]["id"].clone();
        loop {
            let seen = self.ok("watch", json!({ "activity": id, "wait_s": 60 }));
            if seen["activity"]["ended_at"].is_string() {
                return seen;
            }
        }
    }

    /// Closes the input, and returns exit code and what was written to stderr.
    fn leave(mut self) -> (i32, String) {
        drop(self.input.take());
        let done = finish(self.child);
        (done.code, done.err)
    }
}

/// A file for `--targets` with a target on SQLite.
fn targets(program: &Program) -> String {
    let file = program.path("targets.toml");
    let here = program.path("bank.sqlite");
    std::fs::write(&file, format!("[bank]\nurl = \"sqlite:{}\"\n", here.display())).unwrap();
    file.display().to_string()
}

/// What `start` does on the target with tpc-b, unless the settings name another workload.
fn work(command: &str, mut settings: Value) -> Value {
    if settings.get("workload").is_none() && command != "drill" {
        settings["workload"] = "tpc-b".into();
    }
    json!({ "command": command, "target": "bank", "settings": settings })
}

#[test]
fn an_assistant_builds_runs_explains_and_compares() {
    let program = Program::new();
    let mut client = Client::start(&program, &["--targets", &targets(&program)]);
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{listed}");
    assert_eq!(client.ok("list_targets", json!({}))["targets"][0]["name"], "bank");
    let known = client.ok("describe", json!({}));
    assert!(known["workloads"].as_array().unwrap().iter().any(|one| one["name"] == "tpc-b"));
    let run = client.ok("describe", json!({ "command": "run" }));
    assert!(run["settings"].as_array().unwrap().iter().any(|one| one["name"] == "vus"));

    let built = client.ok("start", work("build", json!({})));
    assert_eq!(client.end_of(&built)["activity"]["state"], "complete");
    let settings = json!({ "vus": "1", "rampup": "0s", "duration": "6s" });
    let preview = client.ok("preview", work("run", settings.clone()));
    assert!(preview["command_line"].as_str().unwrap().contains("--duration 6s"), "{preview}");
    let mut jobs = Vec::new();
    for _ in 0..2 {
        let started = client.ok("start", work("run", settings.clone()));
        let ended = client.end_of(&started);
        assert_eq!(ended["activity"]["good"], true, "{ended}");
        assert!(!ended["last_seconds"].as_array().unwrap().is_empty(), "{ended}");
        jobs.push(ended["activity"]["job"].as_i64().unwrap());
    }
    let job = jobs[0];
    let report = client.ok("report", json!({ "job": job, "format": "markdown" }));
    assert!(report["report"].as_str().unwrap().contains("TPC-B"), "{report}");
    let counted =
        client.ok("read_document", json!({ "job": job, "pointer": "/run/total/committed" }));
    assert!(counted["value"].as_i64().unwrap() > 0, "{counted}");
    client.ok("explain", json!({ "job": job }));
    let compared =
        client.ok("compare_jobs", json!({ "a": job.to_string(), "b": jobs[1].to_string() }));
    assert_eq!(compared["figures"][0]["name"], "tps", "{compared:#}");
    assert_eq!(client.ok("list_jobs", json!({}))["total"], 3);
    let (code, said) = client.leave();
    assert_eq!((code, &*said), (0, ""));
    // The store is that of the command line.
    assert!(program.ok(&["jobs"]).contains("complete"));
}

#[test]
fn an_assistant_chooses_no_database_and_destroys_nothing_of_its_own_will() {
    let program = Program::new();
    let mut client =
        Client::start(&program, &["--targets", &targets(&program), "--max-time", "20s"]);
    let built = client.ok("start", work("build", json!({})));
    assert_eq!(client.end_of(&built)["activity"]["state"], "complete");
    for (asked, why) in [
        (
            json!({ "command": "run", "target": "sqlite:other.db" }),
            "there is no target `sqlite:other.db`: expected one of bank",
        ),
        (
            work("run", json!({ "target": "sqlite:other.db" })),
            "unknown setting for `run`: `target`",
        ),
        (
            work("run", json!({ "password-file": "/etc/passwd" })),
            "unknown setting for `run`: `password-file`",
        ),
        (work("run", json!({ "workload": "script", "script": "a.sql" })), "does not run scripts"),
        (work("drop", json!({})), "`drop` removes tables; only its owner allows that"),
        (work("build", json!({ "replace": "true" })), "`replace` removes what is there"),
        (work("run", json!({ "duration": "1h" })), "the longest time of a job is 20s here"),
        (
            work("drill", json!({ "fault": "at=1s cmd=true", "duration": "5s" })),
            "does not run commands",
        ),
        (work("destroy", json!({})), "unknown command `destroy`: expected one of build, run"),
        (json!({ "command": "run" }), "missing field `target`"),
        (json!({ "command": "run", "target": "bank", "url": "x" }), "unknown field `url`"),
    ] {
        let said = client.refused("start", asked.clone());
        assert!(said.contains(why), "{asked}: {said}");
    }
    // Nothing has happened to the tables.
    client.end_of_check();
    let unknown = client.ask("tools/call", &json!({ "name": "shell", "arguments": {} }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no tool `shell`"), "{unknown}");
    client.leave();

    let args = ["--targets", &targets(&program), "--allow-destructive"];
    let mut client = Client::start(&program, &args);
    let dropped = client.ok("start", work("drop", json!({})));
    assert_eq!(client.end_of(&dropped)["activity"]["state"], "complete");
    client.leave();
}

impl Client {
    fn end_of_check(&mut self) {
        let checked = self.ok("start", work("check", json!({})));
        assert_eq!(self.end_of(&checked)["activity"]["good"], true);
    }
}

#[test]
fn without_targets_the_tools_say_so_and_stored_jobs_are_read() {
    let program = Program::new();
    program.ok(&["run", "null:?service=1ms", "--vus", "1", "--transactions", "5"]);
    let mut client = Client::start(&program, &[]);
    assert!(
        !client.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().is_empty()
    );
    let listed = client.ok("list_targets", json!({}));
    assert!(listed["note"].as_str().unwrap().contains("--targets FILE"), "{listed}");
    let said = client.refused("start", work("run", json!({})));
    assert!(said.contains("no target is configured") && said.contains("--targets"), "{said}");
    assert_eq!(client.ok("list_jobs", json!({ "limit": 1 }))["total"], 1);
    assert!(client.refused("report", json!({ "job": 99 })).contains("there is no job 99"));
    client.leave();
}

#[test]
fn nonsense_and_endless_messages_end_nothing() {
    let program = Program::new();
    let mut client = Client::start(&program, &[]);
    client.send("this is no JSON");
    client.send("[1, 2");
    client.send("");
    client.send(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}",
        "x".repeat(3_000_000)
    ));
    assert_eq!(client.ok("list_jobs", json!({}))["total"], 0);
    let unknown = client.ask("no/such/method", &json!({}));
    assert!(unknown["error"]["code"].is_i64(), "{unknown}");
    assert_eq!(client.leave().0, 0);
}

#[test]
fn a_run_of_an_assistant_that_is_ended_is_stored() {
    let program = Program::new();
    let mut client = Client::start(&program, &["--targets", &targets(&program)]);
    let built = client.ok("start", work("build", json!({})));
    client.end_of(&built);
    let started =
        client.ok("start", work("run", json!({ "vus": "1", "rampup": "0s", "duration": "10m" })));
    let id = started["activity"]["id"].clone();
    loop {
        let seen = client.ok("watch", json!({ "activity": id, "wait_s": 1 }));
        if !seen["last_seconds"].as_array().unwrap().is_empty() {
            break;
        }
    }
    signal(&client.child, "TERM");
    let done = finish(client.child);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(program.ok(&["jobs"]).contains("interrupted"), "{}", program.ok(&["jobs"]));
}
