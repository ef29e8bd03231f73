//! The driver against a small responder whose answers a test chooses, mainly those that Trino
//! never sends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use triphammer_core::session::{Admin, Database, Role, Session, StatementId, Waits};
use triphammer_core::sql::{BoundStatement, param};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows, Value};

use super::{Trino, TrinoSession};
use crate::target::{ConnectSettings, TargetUrl};

/// A request as the responder received it.
#[derive(Clone, Debug)]
struct ReceivedRequest {
    /// `POST /v1/statement`.
    line: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    body: String,
}

impl ReceivedRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What the responder answers: status, content type, body.
type Reply = (u16, &'static str, Vec<u8>);

fn json(text: impl Into<String>) -> Reply {
    (200, "application/json", text.into().into_bytes())
}

/// A server that answers every request by a function that receives the server's own address.
struct Responder {
    address: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Responder {
    fn start(reply: impl Fn(&ReceivedRequest, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::<Mutex<Vec<ReceivedRequest>>>::default();
        let (reply, own, log) = (Arc::new(reply), address.clone(), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (reply, own, log) = (Arc::clone(&reply), own.clone(), Arc::clone(&log));
                // A client that leaves ends it.
                std::thread::spawn(move || while serve(&stream, &log, &*reply, &own).is_some() {});
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }

    fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    fn database(&self) -> Trino {
        self.database_with(&ConnectSettings::default())
    }

    fn database_with(&self, settings: &ConnectSettings) -> Trino {
        let url = format!("trino://ann:hunter2@{}/c/s", self.address);
        Trino::open(&TargetUrl::parse(&url).unwrap(), settings).unwrap()
    }

    /// A session that has not asked anything yet.
    fn session(&self) -> TrinoSession {
        TrinoSession::new(Arc::clone(&self.database().shared))
    }
}

fn serve(
    mut stream: &TcpStream,
    log: &Mutex<Vec<ReceivedRequest>>,
    reply: &dyn Fn(&ReceivedRequest, &str) -> Reply,
    own: &str,
) -> Option<()> {
    let mut input = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers: Vec<_> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    input.read_exact(&mut body).ok()?;
    let line = lines[0].trim_end_matches(" HTTP/1.1").to_owned();
    let asked = ReceivedRequest { line, headers, body: String::from_utf8(body).unwrap() };
    log.lock().unwrap().push(asked.clone());
    let (status, kind, body) = reply(&asked, own);
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), work).await.expect("a test ends in time")
    })
}

/// A page with a number as its row and perhaps a next page.
fn page(own: &str, rows: &str, next: Option<u32>) -> String {
    let next =
        next.map(|next| format!(r#","nextUri":"http://{own}/v1/statement/executing/q/y/{next}""#));
    let columns = r#"[{"name":"n","type":"bigint"}]"#;
    format!(r#"{{"id":"q","columns":{columns},"data":[{rows}]{}}}"#, next.unwrap_or_default())
}

async fn ask(session: &mut TrinoSession, rows: &mut Rows) -> Result<(), DbError> {
    let params = vec![param("a", ColumnType::Text)];
    let sql = "SELECT n FROM t WHERE w = ?".to_owned();
    let bound = BoundStatement { name: "x".into(), sql, params, order: vec![0] };
    let id: StatementId = session.prepare(&bound).await?;
    session.query(id, &[Value::Text("it's")], rows).await
}

/// How a query ends on a server that answers like this.
fn failure(
    reply: impl Fn(&ReceivedRequest, &str) -> Reply + Send + Sync + 'static,
) -> (DbError, Vec<String>) {
    let responder = Responder::start(reply);
    let error = block_on(async {
        let mut session = responder.session();
        let error = ask(&mut session, &mut Rows::new()).await.unwrap_err();
        assert_eq!(session.is_closed(), error.class().loses_session(), "{error:?}");
        error
    });
    assert!(!format!("{error:?}").contains("hunter2"));
    (error, responder.lines())
}

#[test]
fn pages_are_read_to_the_end_on_one_connection() {
    let responder = Responder::start(|asked, own| {
        json(match asked.line.rsplit('/').next().unwrap() {
            "statement" => {
                format!(r#"{{"id":"q","nextUri":"http://{own}/v1/statement/queued/q/y/1"}}"#)
            }
            "1" => page(own, "[1],[2]", Some(2)),
            "2" => page(own, "", Some(3)),
            _ => page(own, "[null]", None),
        })
    });
    block_on(async {
        let mut session = responder.session();
        let mut rows = Rows::with_names();
        for _ in 0..2 {
            ask(&mut session, &mut rows).await.unwrap();
            assert_eq!((rows.len(), rows.width(), rows.name(0)), (3, 1, Some("n")));
            assert_eq!((rows.row(1).int(0).unwrap(), rows.row(2).is_null(0)), (2, true));
        }
        session.close().await;
    });
    let asked = responder.asked();
    assert_eq!(asked.len(), 8, "{:?}", responder.lines());
    assert_eq!(asked[0].body, "SELECT n FROM t WHERE w = 'it''s'");
    for asked in &asked {
        assert_eq!(asked.header("x-trino-user"), Some("ann"));
        assert_eq!(asked.header("x-trino-schema"), Some("s"));
        assert!(asked.header("authorization").unwrap().starts_with("Basic "));
    }
}

#[test]
fn a_page_on_another_host_is_refused_and_gets_no_password() {
    let stranger = Responder::start(|_, own| json(page(own, "[1]", None)));
    let address = stranger.address.clone();
    let (error, lines) = failure(move |_, _| json(page(&address, "", Some(1))));
    assert_eq!(error.class(), ErrorClass::Refused, "{error:?}");
    assert!(error.to_string().contains("on another host"), "{error}");
    assert_eq!((lines.len(), stranger.lines().len()), (1, 0));
    let (error, lines) =
        failure(|_, own| json(format!(r#"{{"nextUri":"http://{own}/v1/query/q"}}"#)));
    assert!(error.to_string().contains("not a page of a statement"), "{error}");
    assert_eq!(lines.len(), 1);
}

#[test]
fn answers_that_are_not_of_trino_end_the_session() {
    let html = || (200, "text/html", b"<html>Please log in</html>".to_vec());
    let (error, _) = failure(move |_, _| html());
    assert_eq!(error.class(), ErrorClass::Disconnected, "{error:?}");
    assert!(error.to_string().contains("expected application/json, got `text/html`"), "{error}");
    for body in [r#"{"id":"q","columns":[{"na"#, "", "null", r#"{"id":"q","data":[[1]]}"#] {
        let (error, _) = failure(move |_, _| json(body));
        assert_eq!(error.class(), ErrorClass::Disconnected, "{body}: {error:?}");
    }
    for (status, class) in [
        (401, ErrorClass::Refused),
        (302, ErrorClass::Refused),
        (503, ErrorClass::Unavailable),
        (404, ErrorClass::Disconnected),
        (500, ErrorClass::Disconnected),
    ] {
        let text = || b"why\r\n\x1b[31m".to_vec();
        let (error, lines) = failure(move |_, _| (status, "text/plain", text()));
        assert_eq!(error.class(), class, "{error:?}");
        assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
        assert_eq!(lines.len(), 1, "nothing is tried again");
    }
}

#[test]
fn errors_of_statements_leave_the_session_usable() {
    let responder = Responder::start(|asked, own| {
        let is_bad = asked.body.contains("WHERE");
        json(if is_bad {
            r#"{"id":"q","error":{"message":"line 1:1: no","errorCode":46,
                "errorName":"TABLE_NOT_FOUND","errorType":"USER_ERROR"}}"#
                .to_owned()
        } else {
            page(own, "[7]", None)
        })
    });
    block_on(async {
        let mut session = responder.session();
        let error = ask(&mut session, &mut Rows::new()).await.unwrap_err();
        assert_eq!((error.class(), error.code()), (ErrorClass::Other, Some("TABLE_NOT_FOUND")));
        session.script("SELECT 1; -- two\n SELECT 2;").await.unwrap();
        assert!(!session.is_closed());
    });
    let bodies: Vec<_> = responder.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies[1..], ["SELECT 1", "-- two\n SELECT 2"]);
}

#[test]
fn a_page_beyond_all_measure_is_abandoned() {
    // A header that promises more than the limit, and a body that keeps coming.
    let (error, _) = failure(|asked, _| match asked.line.starts_with("DELETE") {
        true => (204, "", Vec::new()),
        false => (200, "application/json", vec![b' '; 65 * 1024 * 1024]),
    });
    assert_eq!(error.class(), ErrorClass::Disconnected, "{error:?}");
    assert!(error.to_string().contains("exceeds 64 MiB"), "{error}");
}

#[test]
fn an_answer_without_end_is_cancelled_in_the_server() {
    let many = vec!["[1]"; 200_000].join(",");
    let (error, lines) = failure(move |asked, own| match asked.line.starts_with("DELETE") {
        true => (204, "", Vec::new()),
        false => json(page(own, &many, Some(1))),
    });
    assert!(error.to_string().contains("exceeds 64 MiB"), "{error}");
    assert_eq!(lines.last().unwrap(), "DELETE /v1/statement/executing/q/y/1");
}

#[test]
fn a_loop_of_pages_ends_with_the_callers_time_limit_and_is_cancelled() {
    let responder = Responder::start(|asked, own| match asked.line.starts_with("DELETE") {
        true => (204, "", Vec::new()),
        false => json(page(own, "", Some(1))),
    });
    block_on(async {
        let mut session = responder.session();
        let mut rows = Rows::new();
        let endless =
            tokio::time::timeout(Duration::from_millis(300), ask(&mut session, &mut rows));
        assert!(endless.await.is_err());
        session.rollback().await.unwrap();
        session.close().await;
    });
    assert_eq!(responder.lines().last().unwrap(), "DELETE /v1/statement/executing/q/y/1");
}

#[test]
fn a_canceller_deletes_the_page_that_is_waited_for() {
    let is_cancelled = Arc::new(Mutex::new(false));
    let responder = Responder::start(move |asked, own| {
        let mut is_cancelled = is_cancelled.lock().unwrap();
        if asked.line.starts_with("DELETE") {
            *is_cancelled = true;
            return (204, "", Vec::new());
        }
        json(match *is_cancelled {
            true => r#"{"id":"q","error":{"message":"Query was canceled",
                "errorName":"USER_CANCELED"}}"#
                .to_owned(),
            false => page(own, "", Some(1)),
        })
    });
    block_on(async {
        let mut session = responder.session();
        let canceller = session.canceller();
        let mut rows = Rows::new();
        let (asked, ()) = tokio::join!(ask(&mut session, &mut rows), async {
            // Before there is a page, and again.
            canceller.cancel().await;
            while responder.lines().len() < 3 {
                tokio::task::yield_now().await;
            }
            canceller.cancel().await;
        });
        assert_eq!(asked.unwrap_err().class(), ErrorClass::Cancelled);
        assert!(!session.is_closed());
        let error = ask(&mut session, &mut rows).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Cancelled, "what the responder says from now on");
    });
    assert!(responder.lines().iter().any(|line| line.starts_with("DELETE")));
}

#[test]
fn a_silent_server_is_given_up_within_the_limits() {
    let responder = Responder::start(|_, _| {
        std::thread::sleep(Duration::from_secs(20));
        json("{}")
    });
    let limit = Duration::from_millis(200);
    let waits = Waits { query: limit, ..Waits::default() };
    block_on(async {
        let settings = ConnectSettings { connect_limit: limit, ..Default::default() };
        let error = responder.database_with(&settings).connect(Role::User, 0).await.err().unwrap();
        assert_eq!(error.class(), ErrorClass::Disconnected, "{error:?}");
        let settings = ConnectSettings { waits, ..Default::default() };
        let database = responder.database_with(&settings);
        let mut session = TrinoSession::new(Arc::clone(&database.shared));
        let error = ask(&mut session, &mut Rows::new()).await.unwrap_err();
        assert!(error.to_string().contains("has not answered for 0.2 s"), "{error}");
        assert!(session.is_closed());
    });
}

#[test]
fn what_was_written_cannot_be_rolled_back() {
    let responder = Responder::start(|_, _| {
        json(
            r#"{"id":"q","columns":[{"name":"rows","type":"bigint"}],"data":[[3]],
            "updateType":"INSERT","updateCount":3}"#,
        )
    });
    block_on(async {
        let mut session = responder.session();
        session.begin(triphammer_core::session::Access::Write).await.unwrap();
        session.rollback().await.unwrap();
        session.script("INSERT INTO t VALUES 1, 2, 3").await.unwrap();
        let error = session.rollback().await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Unsupported, "{error:?}");
        session.commit().await.unwrap();
        session.rollback().await.unwrap();
    });
}

#[test]
fn a_server_that_is_no_trino_is_not_taken_for_one() {
    let responder = Responder::start(|_, _| json(r#"{"version":"1"}"#));
    block_on(async {
        let error = responder.session().server().await.unwrap_err();
        assert!(error.to_string().contains("/v1/info is not what Trino answers"), "{error}");
    });
}
