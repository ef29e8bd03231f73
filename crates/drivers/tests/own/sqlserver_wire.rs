//! What the client for SQL Server does with servers that violate the protocol, send it elsewhere,
//! or confirm a cancellation: against a small responder, on any host.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::random::Rng;
use triphammer_core::session::{Access, Admin, Database as _, Role, Session as _};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows, Value};
use triphammer_drivers::sqlserver::{SqlServer, SqlServerSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};

use crate::session::{on_worker, statement};

/// Types of messages from the client.
const PRELOGIN: u8 = 18;
const LOGIN: u8 = 16;
const ATTENTION: u8 = 6;
const TRANSACTION: u8 = 14;

async fn connect(url: &str) -> Result<SqlServerSession, DbError> {
    let url = TargetUrl::parse(url).unwrap();
    let settings = ConnectSettings { connect_limit: Duration::from_secs(20), ..Default::default() };
    SqlServer::open_in(&url, &settings, &|_| None).unwrap().connect(Role::User, 0).await
}

/// A message of the server in packets of that many bytes of data.
fn packets(data: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let chunks: Vec<&[u8]> = if data.is_empty() { vec![data] } else { data.chunks(size).collect() };
    for (place, chunk) in chunks.iter().enumerate() {
        let ends = u8::from(place + 1 == chunks.len());
        let length = u16::try_from(chunk.len() + 8).unwrap().to_be_bytes();
        out.extend_from_slice(&[4, ends, length[0], length[1], 0, 0, 1, 0]);
        out.extend_from_slice(chunk);
    }
    out
}

fn message(data: &[u8]) -> Vec<u8> {
    packets(data, 4000)
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A token whose body is preceded by its length in two bytes.
fn token(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[kind][..], &length, body].concat()
}

fn done_with(kind: u8, status: u16, count: u64) -> Vec<u8> {
    [&[kind][..], &status.to_le_bytes(), &[0, 0], &count.to_le_bytes()].concat()
}

fn done() -> Vec<u8> {
    done_with(0xfd, 0, 0)
}

fn error(number: i32, severity: u8, text: &str) -> Vec<u8> {
    let units = u16::try_from(text.encode_utf16().count()).unwrap();
    let mut body = number.to_le_bytes().to_vec();
    body.extend_from_slice(&[1, severity]);
    body.extend_from_slice(&units.to_le_bytes());
    body.extend_from_slice(&wide(text));
    body.extend_from_slice(&[0, 0, 1, 0, 0, 0]);
    token(0xaa, &body)
}

/// A change of the environment with a new and an old value of bytes.
fn change(kind: u8, new: &[u8]) -> Vec<u8> {
    let length = u8::try_from(new.len()).unwrap();
    token(0xe3, &[&[kind, length][..], new, &[0]].concat())
}

fn redirect(host: &str, port: u16) -> Vec<u8> {
    let units = u16::try_from(host.encode_utf16().count()).unwrap().to_le_bytes();
    let new = [&[0][..], &port.to_le_bytes(), &units, &wide(host)].concat();
    let length = u16::try_from(new.len()).unwrap().to_le_bytes();
    token(0xe3, &[&[20][..], &length, &new, &[0, 0]].concat())
}

/// Columns of these types, without names.
fn columns(types: &[&[u8]]) -> Vec<u8> {
    let count = u16::try_from(types.len()).unwrap().to_le_bytes();
    let mut out = [&[0x81][..], &count].concat();
    for info in types {
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(info);
        out.push(0);
    }
    out
}

const INT: &[u8] = &[0x26, 4];
const LONG_TEXT: &[u8] = &[0xa7, 0xff, 0xff, 9, 4, 0xd0, 0, 0x34];

fn int_row(value: i32) -> Vec<u8> {
    [&[0xd1, 4][..], &value.to_le_bytes()].concat()
}

/// The answer to the first message: no encryption.
fn greeting() -> Vec<u8> {
    message(&[1, 0, 6, 0, 1, 0xff, 2])
}

fn welcome() -> Vec<u8> {
    let ack = token(0xad, &[1, 0x74, 0, 0, 4, 0, 0, 0, 0, 0, 0]);
    message(&[ack, done()].concat())
}

/// The answer to the question that begins a session.
fn set_up() -> Vec<u8> {
    let null = [&int_row(52)[..], &[0]].concat();
    message(&[columns(&[INT, INT]), null, done_with(0xfd, 0x10, 1)].concat())
}

/// The answer to a statement that is prepared as number 7.
fn prepared() -> Vec<u8> {
    let handle = [&[0xac, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], INT, &[4, 7, 0, 0, 0]].concat();
    message(&[&[0x79, 0, 0, 0, 0][..], &handle, &done_with(0xfe, 0, 0)].concat())
}

/// Reads one message; returns its type and its data.
fn hear(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut data = Vec::new();
    loop {
        let mut head = [0; 8];
        stream.read_exact(&mut head).ok()?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let mut part = vec![0; length - 8];
        stream.read_exact(&mut part).ok()?;
        data.extend_from_slice(&part);
        if head[1] & 1 != 0 {
            return Some((head[0], data));
        }
    }
}

/// A server for one session, which answers each message with the next of `answers`. Returns its
/// port, and the types and data of what it heard.
fn server(answers: Vec<Vec<u8>>) -> (u16, Receiver<(u8, Vec<u8>)>) {
    server_that_ends(answers, false)
}

/// Like [`server`]; closes the connection after the last answer, or when the client does.
fn server_that_ends(answers: Vec<Vec<u8>>, closes: bool) -> (u16, Receiver<(u8, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in answers {
            let Some(heard) = hear(&mut stream) else { return };
            // The test may have seen enough.
            let _ = sender.send(heard);
            let _ = stream.write_all(&answer);
        }
        while !closes && let Some(heard) = hear(&mut stream) {
            let _ = sender.send(heard);
        }
    });
    (port, receiver)
}

fn url(port: u16) -> String {
    format!("sqlserver://u:geheim@127.0.0.1:{port}/d")
}

/// A session, whose server sends `answers` after those that open it.
async fn session_with(answers: Vec<Vec<u8>>) -> (SqlServerSession, Receiver<(u8, Vec<u8>)>) {
    let opening = vec![greeting(), welcome(), set_up()];
    let (port, heard) = server([opening, answers].concat());
    (connect(&url(port)).await.unwrap(), heard)
}

#[test]
fn a_login_says_who_and_where_and_hides_the_password() {
    on_worker(async {
        let (session, heard) = session_with(vec![]).await;
        assert!(!session.is_closed());
        let (kind, data) = heard.recv().unwrap();
        assert_eq!(kind, PRELOGIN);
        assert_eq!(data[..5], [0, 0, 26, 0, 6], "the version comes first, behind the table");
        let (kind, data) = heard.recv().unwrap();
        assert_eq!((kind, &data[4..8]), (LOGIN, &[4, 0, 0, 0x74][..]), "TDS 7.4");
        let length = u32::from_le_bytes(data[..4].try_into().unwrap()) as usize;
        assert_eq!(length, data.len());
        let field = |entry: usize| {
            let at = 36 + 4 * entry;
            let short = |at: usize| usize::from(u16::from_le_bytes([data[at], data[at + 1]]));
            data[short(at)..short(at) + 2 * short(at + 2)].to_vec()
        };
        assert_eq!((field(1), field(3), field(8)), (wide("u"), wide("triphammer"), wide("d")));
        let hidden: Vec<u8> =
            wide("geheim").iter().map(|byte| byte.rotate_left(4) ^ 0xa5).collect();
        assert_eq!(field(2), hidden);
        let contains = |text: &[u8]| data.windows(text.len()).any(|part| part == text);
        assert!(!contains(&wide("geheim")) && !contains(b"geheim"));
    });
}

#[test]
fn a_start_that_breaks_the_protocol_is_an_error() {
    let login = |answer: &[u8]| vec![greeting(), message(answer)];
    let endless = change(1, &[]).repeat(2_000);
    let lost = ErrorClass::Disconnected;
    let cases: Vec<(Vec<Vec<u8>>, ErrorClass, &str)> = vec![
        (vec![vec![]], lost, "closed the connection"),
        (vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()], lost, "check host and port"),
        (vec![vec![4, 1, 0, 7, 0, 0, 0, 0]], lost, "check host and port"),
        (vec![vec![4, 1, 0xff, 0xff, 0, 0, 0, 0]], lost, "closed the connection"),
        (vec![message(&[])], lost, "cannot be parsed"),
        (vec![message(&[1, 0xff, 0xff, 0, 1, 0xff])], lost, "cannot be parsed"),
        (vec![message(&[1, 0, 6, 0, 1, 0xff, 9])], lost, "encryption"),
        (vec![message(&[0xff])], lost, "encryption"),
        (vec![packets(&[7; 9000], 4000)], lost, "first message"),
        (login(&[]), lost, "an answer without an end"),
        (login(&done()), lost, "without confirmation"),
        (login(&[0x42]), lost, "a token"),
        (login(&[0xaa, 0xff, 0xff]), lost, "ends too early"),
        (login(&token(0xaa, &[1, 2])), lost, "an error"),
        (login(&token(0xaa, &[0, 0, 0, 0, 0, 0, 0xff, 0xff])), lost, "an error"),
        (login(&token(0xe3, &[4, 9, 0])), lost, "a change"),
        (login(&token(0xe3, &[4, 1, b'x', 0, 0])), lost, "a packet size"),
        (login(&token(0xe3, &[8, 2, 1, 1, 0])), lost, "a transaction"),
        (login(&[endless, done()].concat()), lost, "too many changes"),
        (login(&redirect("a b", 1433)), lost, "a redirection"),
        (login(&redirect("db1", 0)), lost, "a redirection"),
        (login(&redirect(&"x".repeat(300), 1433)), lost, "a redirection"),
        (
            login(&[error(18456, 14, "Login failed."), done()].concat()),
            ErrorClass::Refused,
            "Login failed",
        ),
        (
            login(&[error(4060, 11, "Cannot open"), error(18456, 14, "No"), done()].concat()),
            ErrorClass::Refused,
            "Cannot open",
        ),
        (
            login(&[error(17142, 14, "It is paused"), done()].concat()),
            ErrorClass::Unavailable,
            "paused",
        ),
    ];
    for (answers, class, words) in cases {
        let shown = format!("{:02x?}", answers.last().unwrap().iter().take(40).collect::<Vec<_>>());
        let (port, _heard) = server_that_ends(answers, true);
        let error = on_worker(connect(&url(port))).err().unwrap();
        assert_eq!(error.class(), class, "{shown}: {error}");
        assert!(error.message().contains(words), "{shown}: {error}");
        assert!(!error.message().contains("geheim"), "{error}");
    }
}

#[test]
fn a_packet_size_that_no_server_chooses_is_refused() {
    for size in ["0", "8", "511", "32768", "4294967296"] {
        let ack = token(0xad, &[1]);
        let units = u8::try_from(size.len()).unwrap();
        let body = [&[4, units][..], &wide(size), &[0]].concat();
        let answer = message(&[ack, token(0xe3, &body), done()].concat());
        let (port, _heard) = server(vec![greeting(), answer]);
        let error = on_worker(connect(&url(port))).err().unwrap();
        assert!(error.message().contains("a packet size"), "{size}: {error}");
    }
}

#[test]
fn encryption_that_is_required_is_not_given_up() {
    for (params, words) in [
        ("encrypt=on&trust-server-certificate=on", "offers no encryption"),
        ("encrypt=strict&ca=CA", "TLS failed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        triphammer_testbed::write_certificates(folder.path(), "u").unwrap();
        let ca = folder.path().join("ca.crt").display().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = [0; 4096];
            let _ = stream.read(&mut heard);
            let _ = stream.write_all(&greeting());
            let _ = stream.read(&mut heard);
        });
        let url = format!("{}?{}", url(port), params.replace("CA", &ca));
        let error = on_worker(connect(&url)).err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{params}: {error}");
        assert!(error.message().contains(words), "{params}: {error}");
    }
}

#[test]
fn redirections_are_followed_a_few_times_and_can_be_forbidden() {
    on_worker(async {
        let last = server(vec![greeting(), welcome(), set_up()]);
        let first = server(vec![
            greeting(),
            message(&[redirect("127.0.0.1", last.0), token(0xad, &[1]), done()].concat()),
        ]);
        let target = TargetUrl::parse(&url(first.0)).unwrap();
        let database = SqlServer::open_in(&target, &ConnectSettings::default(), &|_| None).unwrap();
        database.connect(Role::User, 0).await.unwrap();
        let expected = format!("redirected sessions to 127.0.0.1:{}", last.0);
        assert!(database.notes().iter().any(|note| note.contains(&expected)));
        assert_eq!(last.1.iter().count(), 3, "the other server has the session");

        let elsewhere = message(&[redirect("db2", 1433), done()].concat());
        let (port, _heard) = server(vec![greeting(), elsewhere]);
        let error = connect(&format!("{}?redirects=off", url(port))).await.err().unwrap();
        assert!(error.message().contains("redirects to db2:1433, but redirects=off"), "{error}");
    });
}

#[test]
fn redirections_without_end_are_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            for answer in [greeting(), message(&[redirect("127.0.0.1", port), done()].concat())] {
                if hear(&mut stream).is_some() {
                    let _ = stream.write_all(&answer);
                }
            }
        }
    });
    let error = on_worker(connect(&url(port))).err().unwrap();
    assert_eq!(error.class(), ErrorClass::Refused);
    assert!(error.message().contains("redirects more than 3 times"), "{error}");
}

#[test]
fn an_instance_is_found_by_its_browser() {
    let (port, _heard) = server(vec![greeting(), welcome(), set_up()]);
    let browser = UdpSocket::bind("127.0.0.1:0").unwrap();
    let browser_port = browser.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut asked = [0; 64];
        let (length, client) = browser.recv_from(&mut asked).unwrap();
        assert_eq!(&asked[..length], b"\x04DEV\0");
        let text = format!("ServerName;H;InstanceName;DEV;IsClustered;No;Version;16;tcp;{port};;");
        let answer = [&[5][..], &u16::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()];
        browser.send_to(&answer.concat(), client).unwrap();
    });
    let target = format!("sqlserver://u@127.0.0.1/d?instance=DEV&browser-port={browser_port}");
    on_worker(async { assert!(!connect(&target).await.unwrap().is_closed()) });
    thread.join().unwrap();
}

#[test]
fn answers_in_packets_of_any_size_are_read() {
    let text = "x".repeat(200_000);
    let length = u32::try_from(text.len() / 2).unwrap().to_le_bytes();
    let half = [&length[..], &text.as_bytes()[..100_000]].concat();
    let value = [&200_000u64.to_le_bytes()[..], &half, &half, &[0; 4]].concat();
    let row = [&[0xd1, 4][..], &7i32.to_le_bytes(), &value].concat();
    // In the short form the number is NULL.
    let short = [&[0xd2, 1][..], &value].concat();
    let answer = [columns(&[INT, LONG_TEXT]), row, short, done_with(0xfe, 0x10, 2)].concat();
    for size in [1, 7, 509, 4000, 32_000] {
        on_worker(async {
            let (mut session, _heard) =
                session_with(vec![prepared(), packets(&answer, size)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let mut rows = Rows::new();
            session.query(id, &[], &mut rows).await.unwrap();
            assert_eq!((rows.len(), rows.row(0).int(0).unwrap()), (2, 7), "{size}");
            assert_eq!(rows.row(0).text(1).unwrap(), text);
            assert!(rows.row(1).is_null(0) && rows.row(1).text(1).unwrap() == text);
            assert!(!session.is_closed());
        });
    }
}

#[test]
fn an_answer_that_breaks_the_protocol_loses_the_session() {
    let huge = [&u64::MAX.wrapping_sub(1).to_le_bytes()[..], &[0xff; 4], b"abc"].concat();
    for answer in [
        vec![],
        vec![0xd1, 0],
        columns(&[INT]),
        [columns(&[INT]), int_row(1)].concat(),
        [columns(&[INT]), vec![0xd1, 3, 1, 2, 3], done()].concat(),
        [columns(&[&[0x6a, 17, 38, 39]]), done()].concat(),
        [columns(&[&[0x2a, 8]]), done()].concat(),
        [columns(&[&[0x01]]), done()].concat(),
        [columns(&[LONG_TEXT]), vec![0xd1], huge, done()].concat(),
        [vec![0x81, 0xfe, 0xff], done()].concat(),
        [done_with(0xfd, 1, 0)].concat(),
        [done(), vec![0x55]].concat(),
        vec![0xae, 1, 0xff, 0xff, 0xff, 0xff],
        vec![0xe4, 0xff, 0xff, 0xff, 0xff],
        [error(596, 21, "Killed"), done()].concat(),
    ] {
        on_worker(async {
            let (mut session, _heard) = session_with(vec![prepared(), message(&answer)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected, "{answer:02x?}: {error}");
            assert!(session.is_closed(), "{answer:02x?}");
        });
    }
}

#[test]
fn an_answer_without_an_end_is_given_up() {
    // One row of chunks without end, and rows without end.
    let chunk = [&1_000_000u32.to_le_bytes()[..], &[b'x'; 1_000_000]].concat();
    let value = [&200_000_000u64.to_le_bytes()[..], &chunk.repeat(80)].concat();
    let one = [columns(&[LONG_TEXT]), vec![0xd1], value].concat();
    let row = [&[0xd1][..], &1_000_000u64.to_le_bytes(), &chunk, &[0; 4]].concat();
    let many = [columns(&[LONG_TEXT]), row.repeat(80)].concat();
    for answer in [one, many] {
        on_worker(async {
            let (mut session, _heard) =
                session_with(vec![prepared(), packets(&answer, 32_000)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
            assert!(error.message().contains("exceeds 64 MiB"), "{error}");
            assert!(session.is_closed());
        });
    }
    on_worker(async {
        let rows = [columns(&[INT]), int_row(1).repeat(100_001), done()].concat();
        let (mut session, _heard) = session_with(vec![packets(&rows, 32_000)]).await;
        let error = session.tables().await.unwrap_err();
        assert!(error.message().contains("100000 rows"), "{error}");
    });
}

#[test]
fn a_false_error_is_an_error_and_the_first_one_counts() {
    on_worker(async {
        let both = [error(1205, 13, "Deadlock."), error(3621, 16, "x"), done()].concat();
        let silent = [columns(&[INT]), int_row(1), done_with(0xfd, 2, 0)].concat();
        let (mut session, _heard) =
            session_with(vec![prepared(), message(&both), message(&silent)]).await;
        let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
        let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
        assert_eq!((error.class(), error.code()), (ErrorClass::Deadlock, Some("1205")));
        let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
        assert!(error.message().contains("does not describe it"), "{error}");
        assert!(!session.is_closed(), "it has answered");
    });
}

#[test]
fn transactions_are_requests_and_one_that_is_gone_is_not_committed() {
    on_worker(async {
        let begun = message(&[change(8, &[1, 2, 3, 4, 5, 6, 7, 8]), done()].concat());
        let undone = [change(10, &[]), error(1205, 13, "Deadlock"), done()].concat();
        let (mut session, heard) =
            session_with(vec![begun.clone(), message(&undone), begun, message(&done())]).await;
        session.begin(Access::Write).await.unwrap();
        session.script("UPDATE t SET n = 1").await.unwrap_err();
        // The server has rolled back: there is nothing to roll back or to commit.
        session.rollback().await.unwrap();
        let error = session.commit().await.unwrap_err();
        assert!(error.is_undone(), "{error}");
        session.begin(Access::Write).await.unwrap();
        session.script("SELECT 1").await.unwrap();
        let heard: Vec<_> = heard.iter().take(7).skip(3).collect();
        assert_eq!((heard[0].0, &heard[0].1[22..]), (TRANSACTION, &[5, 0, 0, 0][..]));
        assert_eq!(heard[1].1[10..18], [1, 2, 3, 4, 5, 6, 7, 8], "the batch belongs to it");
        assert_eq!(heard[2].1[10..18], [0; 8], "the next one begins outside");
        // A server that begins nothing must not be believed.
        let (mut session, _heard) = session_with(vec![message(&done())]).await;
        let error = session.begin(Access::Write).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
    });
}

#[test]
fn a_cancelled_statement_is_confirmed_on_the_same_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, asked) = channel();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in [greeting(), welcome(), set_up(), prepared()] {
            hear(&mut stream).unwrap();
            stream.write_all(&answer).unwrap();
        }
        // The statement runs until the attention arrives.
        hear(&mut stream).unwrap();
        sender.send(()).unwrap();
        assert_eq!(hear(&mut stream).unwrap(), (ATTENTION, vec![]));
        let cut = [columns(&[INT]), int_row(1), done_with(0xfd, 0x20, 0)].concat();
        stream.write_all(&message(&cut)).unwrap();
        // The next one ends just before it arrives: the confirmation is a message of its own.
        hear(&mut stream).unwrap();
        sender.send(()).unwrap();
        assert_eq!(hear(&mut stream).unwrap(), (ATTENTION, vec![]));
        let whole = [columns(&[INT]), int_row(2), done_with(0xfe, 0x10, 1)].concat();
        stream.write_all(&message(&whole)).unwrap();
        stream.write_all(&message(&done_with(0xfd, 0x20, 0))).unwrap();
        hear(&mut stream)
    });
    on_worker(async {
        let mut session = connect(&url(port)).await.unwrap();
        let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
        let canceller = session.canceller();
        let canceller = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            for () in asked.iter().take(2) {
                runtime.block_on(canceller.cancel());
            }
        });
        let mut rows = Rows::new();
        let error = session.query(id, &[], &mut rows).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Cancelled, "{error}");
        session.query(id, &[], &mut rows).await.unwrap();
        assert_eq!(rows.row(0).int(0).unwrap(), 2, "it was too late for this one");
        assert!(!session.is_closed());
        canceller.join().unwrap();
    });
    thread.join().unwrap();
}

#[test]
fn a_call_cancelled_half_way_loses_the_session() {
    on_worker(async {
        let (mut session, _heard) = session_with(vec![prepared(), vec![]]).await;
        let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
        let wait = Duration::from_millis(50);
        let mut rows = Rows::new();
        let asked = session.query(id, &[], &mut rows);
        // The server closes after its last answer, or has not done so yet.
        let _ = timeout(wait, asked).await;
        let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
        assert!(session.is_closed());
    });
}

#[test]
fn procedures_are_called_without_sql_and_return_status_and_outputs() {
    on_worker(async {
        let value = |ordinal: u8, value: i32| {
            let head = [0xac, ordinal, 0, 2, b'@', 0, b'o', 0, 1, 0, 0, 0, 0, 0, 0];
            [&head[..], INT, &[4], &value.to_le_bytes()].concat()
        };
        let rows = [columns(&[INT]), int_row(1), done_with(0xff, 0x11, 1)].concat();
        let status = [&[0x79][..], &3i32.to_le_bytes()].concat();
        let answer = [rows, status, value(1, 40), value(2, -2), done_with(0xfe, 0, 0)].concat();
        let (mut session, heard) = session_with(vec![message(&answer)]).await;
        let sql = "EXEC @status = dbo.pay @p1, @b = @p2 OUTPUT, @c = @p3 OUTPUT";
        let types = [ColumnType::Int, ColumnType::Int, ColumnType::Int];
        let id = session.prepare(&statement(sql, &types)).await.unwrap();
        let mut rows = Rows::new();
        session.call(id, &[Value::Int(5), Value::Null, Value::Null], &mut rows).await.unwrap();
        let row = rows.row(0);
        let found = [0, 1, 2].map(|column| row.int(column).unwrap());
        assert_eq!((rows.len(), rows.width(), found), (1, 3, [3, 40, -2]));
        let (kind, data) = heard.iter().nth(3).unwrap();
        assert_eq!((kind, &data[22..24]), (3, &7u16.to_le_bytes()[..]), "called by its name");
        assert_eq!(data[24..38], wide("dbo.pay"));
        let first = [0, 0, 0x26, 4, 4, 5, 0, 0, 0];
        assert_eq!(data[40..49], first);
        let second = [&[2][..], &wide("@b"), &[1, 0x26, 4, 0]].concat();
        assert_eq!(data[49..49 + second.len()], second);
    });
}

/// However an answer is damaged, it is read or rejected, and nothing panics.
#[test]
fn damaged_answers_never_panic() {
    let mut rng = Rng::of(7, &[]);
    let types: [&[u8]; 8] = [
        INT,
        LONG_TEXT,
        &[0xe7, 100, 0, 9, 4, 0xd0, 0, 0x34],
        &[0x6a, 17, 38, 4],
        &[0x2a, 6],
        &[0x6d, 8],
        &[0x62, 100, 0, 0, 0],
        &[0x24, 16],
    ];
    let row = [
        &[0xd1, 4, 1, 0, 0, 0][..],
        &[2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'[', b']', 0, 0, 0, 0],
        &[4, 0, b'a', 0, b'b', 0],
        &[9, 1, 1, 2, 3, 4, 5, 6, 7, 0],
        &[8, 1, 2, 3, 4, 0, 1, 2, 3],
        &[8, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
        &[4, 0, 0, 0, 0x38, 0, 1, 2],
        &[16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    ]
    .concat();
    let whole = [
        columns(&types),
        row.clone(),
        row,
        done_with(0xff, 0x11, 2),
        error(50000, 16, "What?"),
        change(8, &[1; 8]),
        change(10, &[]),
        vec![0x79, 0, 0, 0, 0],
        done_with(0xfe, 0, 0),
    ]
    .concat();
    for _ in 0..400 {
        let mut damaged = whole.clone();
        let mut below = |end: usize| usize::try_from(rng.below(end as u64)).unwrap();
        for _ in 0..=below(4) {
            let place = below(damaged.len());
            match below(4) {
                0 => damaged[place] = u8::try_from(below(256)).unwrap(),
                1 => damaged[place] ^= 1 << below(8),
                2 => damaged.truncate(place.max(1)),
                _ => damaged.insert(place, 0xff),
            }
        }
        on_worker(async {
            let (mut session, _heard) = session_with(vec![prepared(), message(&damaged)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let mut rows = Rows::new();
            if session.call(id, &[], &mut rows).await.is_ok() {
                for row in rows.iter() {
                    for column in 0..row.len() {
                        let _ = (row.show(column), row.timestamp(column), row.text(column));
                    }
                }
            }
        });
    }
}

#[test]
fn a_load_ends_properly_when_a_value_does_not_fit() {
    on_worker(async {
        let described = message(&[columns(&[INT]), done()].concat());
        let hint = message(&[columns(&[INT]), int_row(0), done()].concat());
        let accepted = message(&done());
        let loaded = message(&done_with(0xfd, 0x10, 1));
        let (mut session, heard) = session_with(vec![described, hint, accepted, loaded]).await;
        let table: TableDef = table("t", [column("a", ColumnType::Int)]);
        let mut values = [1, i64::MAX].into_iter();
        let mut source = |rows: &mut Rows| values.next().map(|value| rows.int(value)).is_some();
        let error = session.load(&table, &mut source).await.unwrap_err();
        assert!(error.message().contains("9223372036854775807 does not fit int"), "{error}");
        assert!(!session.is_closed(), "the connection is in step");
        let heard: Vec<_> = heard.iter().skip(3).take(4).collect();
        let text = wide("INSERT BULK [t] ([a] int) WITH (TABLOCK)");
        assert_eq!(heard[2].1[22..], text);
        let rows = [&int_row(1)[..], &done()].concat();
        assert_eq!((heard[3].0, heard[3].1.ends_with(&rows)), (7, true));
    });
}
