//! A server in this process, and a client that sends given bytes. Every response is validated
//! against the OpenAPI document and recorded, so that tests can search all of them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use triphammer_core::clock::Clock;
use triphammer_drivers::target::Secret;
use triphammer_server::live::Hub;
use triphammer_server::{Config, Server, ServerLimits, openapi};

/// Token of every request that is not [bare](Site::bare).
pub const TOKEN: &str = "correct horse battery";
/// The token as a header.
pub const BEARER: &str = "authorization: Bearer correct horse battery";

/// Maximum wait for a response or an event; a slow machine needs part of it.
const WAIT: Duration = Duration::from_secs(120);

/// A server and its folder.
pub struct Site {
    pub folder: TempDir,
    pub address: SocketAddr,
    pub hub: Arc<Hub>,
    ends: watch::Sender<u32>,
    thread: Option<std::thread::JoinHandle<()>>,
    received: Mutex<String>,
}

/// An HTTP response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Site {
    pub fn start() -> Self {
        Self::start_with(|_| {})
    }

    pub fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            store: folder.path().join("jobs.sqlite"),
            token: Secret::new(TOKEN),
            metrics_token: None,
            targets: BTreeMap::new(),
            data: folder.path().to_owned(),
            tls: None,
            hosts: Vec::new(),
            allow_scripts: false,
            limits: ServerLimits::default(),
        };
        change(&mut config);
        let server = Server::bind(&config).unwrap();
        let (address, hub) = (server.address(), Arc::clone(server.app().hub()));
        let (ends, told) = watch::channel(0);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(server.run(told)).unwrap();
        });
        Self { folder, address, hub, ends, thread: Some(thread), received: Mutex::default() }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All recorded responses.
    pub fn received(&self) -> String {
        self.received.lock().unwrap().clone()
    }

    /// Interrupts the server, as Ctrl-C does.
    pub fn interrupt(&self) {
        self.ends.send_modify(|times| *times += 1);
    }

    /// Waits for the server's end.
    pub fn wait(&mut self) {
        self.thread.take().unwrap().join().unwrap();
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        stream
    }

    /// Sends bytes and returns the response; `None` if there is none.
    pub fn raw(&self, bytes: &[u8]) -> Option<Reply> {
        let mut stream = self.connect();
        // The server may reject the request and close before it has read everything.
        let _ = stream.write_all(bytes);
        let mut reader = BufReader::new(stream);
        let (status, head) = read_head(&mut reader)?;
        let mut body = Vec::new();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().unwrap())
        });
        match length {
            Some(length) => {
                body.resize(length, 0);
                reader.read_exact(&mut body).unwrap();
            }
            None if head.to_lowercase().contains("transfer-encoding: chunked") => {
                while let Some(chunk) = read_chunk(&mut reader) {
                    body.extend(chunk);
                }
            }
            None => {}
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        self.received.lock().unwrap().push_str(&format!("{head}\n{body}\n"));
        Some(Reply { status, head, body })
    }

    /// Sends a request with the token.
    pub fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        self.bare(method, path, &[headers, &[BEARER]].concat(), body)
    }

    /// Sends a request without the token.
    pub fn bare(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for header in headers {
            text.push_str(&format!("{header}\r\n"));
        }
        if !body.is_empty() || method != "GET" {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("connection: close\r\n\r\n");
        text.push_str(body);
        self.raw(text.as_bytes()).unwrap()
    }

    /// Sends a JSON request, validates the response against the document, and returns its status
    /// and body.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.ask(method, path, &["content-type: application/json"], &body);
        let value = if reply.body.is_empty() { Value::Null } else { reply.json() };
        validate(method, path, reply.status, &value);
        (reply.status, value)
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, value) = self.call("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        let (status, value) = self.call("POST", path, body);
        assert!(status < 300, "{path}: {status} {value}");
        value
    }

    /// Starts an activity; returns its number.
    pub fn start_activity(&self, command: &str, target: &str, settings: &Value) -> u64 {
        let form = json!({ "command": command, "target": target, "settings": settings });
        self.post("/api/v1/activities", &form)["id"].as_u64().unwrap()
    }

    /// Waits for the end of an activity, and returns it.
    pub fn ended(&self, id: u64) -> Value {
        let mut events = self.events(&format!("/api/v1/activities/{id}/events"), None);
        events.until(|event| {
            event["type"] == "activity" && event["id"] == id && !event["ended_at"].is_null()
        })
    }

    /// Starts an activity and waits for its end.
    pub fn done(&self, command: &str, target: &str, settings: &Value) -> Value {
        let id = self.start_activity(command, target, settings);
        let ended = self.ended(id);
        assert_eq!(ended["state"], "complete", "{ended}");
        ended
    }

    pub fn target(&self, name: &str, url: &str) {
        let (status, saved) =
            self.call("PUT", &format!("/api/v1/targets/{name}"), &json!({ "url": url }));
        assert_eq!(status, 200, "{saved}");
    }

    pub fn events(&self, path: &str, last_id: Option<&str>) -> Events<'_> {
        let mut stream = self.connect();
        let last_id = last_id.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {}\r\n{BEARER}\r\n{last_id}\r\n",
            self.address
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let (status, head) = read_head(&mut reader).unwrap();
        assert_eq!(status, 200, "{head}");
        assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
        Events {
            site: self,
            reader,
            clock: Clock::start(),
            buffer: String::new(),
            last_id: String::new(),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.interrupt();
        self.interrupt();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A stream of events.
pub struct Events<'a> {
    site: &'a Site,
    reader: BufReader<TcpStream>,
    /// Deadline; because of keep-alive messages, reads never time out.
    clock: Clock,
    buffer: String,
    pub last_id: String,
}

impl Events<'_> {
    /// The next event; `None` at the end of the stream.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let frame: String = self.buffer.drain(..end + 2).collect();
                let Some(data) = frame.lines().find_map(|line| line.strip_prefix("data: ")) else {
                    continue;
                };
                let id = frame.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
                self.last_id = id.to_owned();
                let event: Value = serde_json::from_str(data).unwrap();
                check(&json!({ "$ref": "#/components/schemas/LiveEvent" }), &event, "an event");
                return Some(event);
            }
            assert!(
                self.clock.now().second() < WAIT.as_secs(),
                "the event did not come: {}",
                self.buffer
            );
            let chunk = read_chunk(&mut self.reader)?;
            let text = String::from_utf8(chunk).unwrap();
            self.site.received.lock().unwrap().push_str(&text);
            self.buffer.push_str(&text);
        }
    }

    /// Reads until an event matches, and returns it.
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.next().expect("the stream ended before the event came");
            if wanted(&event) {
                return event;
            }
        }
    }
}

fn read_head(reader: &mut impl BufRead) -> Option<(u16, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, head.replace("\r\n", "\n")))
}

fn read_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim(), 16).ok().filter(|length| *length > 0)?;
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    Some(chunk)
}

fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(openapi::document)
}

/// Validates a value against a schema of the document.
fn check(schema: &Value, value: &Value, what: &str) {
    let mut whole = schema.clone();
    whole["components"] = document()["components"].clone();
    let validator = jsonschema::validator_for(&whole).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{what} is not as documented: {errors:?}\n{value}");
}

/// Validates a response against the document.
fn validate(method: &str, path: &str, status: u16, value: &Value) {
    let path = path.split('?').next().unwrap();
    let fits = |pattern: &str| {
        let (a, b): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.starts_with('{') || *a == b)
    };
    let paths = document()["paths"].as_object().unwrap();
    let operation = paths
        .iter()
        .find(|(pattern, _)| fits(pattern))
        .map(|(_, methods)| &methods[method.to_lowercase()])
        .unwrap_or_else(|| panic!("{path} is not documented"));
    let what = format!("{method} {path} {status}");
    let response = &operation["responses"][status.to_string()];
    assert!(response.is_object(), "{what} is not documented: {value}");
    let schema = &response["content"]["application/json"]["schema"];
    if !schema.is_null() {
        check(schema, value, &what);
    }
}
