//! The proxy between our own drivers and real servers.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as its own lines do")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use triphammer_capture::answer::{RowHasher, RowHashes};
use triphammer_capture::recording::{Recording, read};
use triphammer_capture::{Argument, Ending};
use triphammer_core::session::{Access, Database, Protocol, Role, Session};
use triphammer_core::sql::{BoundStatement, param};
use triphammer_core::{ColumnType, Rows, Value};
use triphammer_drivers::{AnyDatabase, AnySession, ConnectSettings};
use triphammer_testbed::{MariadbServer, PostgresServer};
use triphammer_wire::{Cut, Limits, Options, Proxy, Recorded};

/// How often, and at most how many times, a test looks whether something has happened.
const POLL: Duration = Duration::from_millis(10);
const POLLS_MAX: usize = 500;
const LIMITS: Limits = Limits { memory: 64 << 20, file: 64 << 20 };

fn open(url: &str, protocol: Option<Protocol>) -> AnyDatabase {
    AnyDatabase::open(url, &ConnectSettings { protocol, ..ConnectSettings::default() }).unwrap()
}

/// A proxy before the server of a URL, and the same URL with its address.
fn proxy(url: &str, file: &Path, limits: Limits) -> (Proxy, String) {
    let database = open(url, None);
    let tunnel = database.tunnel().unwrap();
    let proxy = Proxy::start(Options {
        listener: TcpListener::bind("127.0.0.1:0").unwrap(),
        database: Some(tunnel.database().to_owned()),
        tunnel,
        tls: None,
        file: File::create(file).unwrap(),
        limits,
        mask: None,
    });
    let proxy = proxy.unwrap();
    let (before, after) = url.split_once('@').unwrap();
    let end = after.find('/').unwrap();
    let through = format!("{before}@{}{}", proxy.address(), &after[end..]);
    (proxy, through)
}

/// The name of the database in a URL.
fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// Runs a future, with the limit of a test.
fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(60), future).await };
    runtime.block_on(limited).unwrap()
}

async fn ask(session: &mut AnySession, sql: &str, args: &[(ColumnType, Value<'_>)]) -> Rows {
    let statement = BoundStatement {
        name: "test".to_owned(),
        sql: sql.to_owned(),
        params: args.iter().map(|(of, _)| param("p", *of)).collect(),
        order: (0..args.len()).collect(),
    };
    let id = session.prepare(&statement).await.unwrap();
    let values: Vec<_> = args.iter().map(|(_, value)| *value).collect();
    let mut rows = Rows::new();
    session.query(id, &values, &mut rows).await.unwrap();
    rows
}

/// Two rows are written and read in a transaction, and a statement fails.
async fn work(url: &str, protocol: Option<Protocol>, placeholders: [&str; 2]) {
    let database = open(url, protocol);
    database.identify().await.unwrap();
    let mut session = database.connect(Role::Loader, 0).await.unwrap();
    let [one, two] = placeholders;
    session.begin(Access::Write).await.unwrap();
    for (id, name) in [(1, "Ann"), (2, "O'Brien")] {
        let sql = format!("INSERT INTO people (id, name) VALUES ({one}, {two}) RETURNING id");
        let args = [(ColumnType::Int, Value::Int(id)), (ColumnType::Text, Value::Text(name))];
        assert_eq!(ask(&mut session, &sql, &args).await.len(), 1);
    }
    session.commit().await.unwrap();
    let sql = format!("SELECT name FROM people WHERE id = {one} ORDER BY id");
    ask(&mut session, &sql, &[(ColumnType::Int, Value::Int(2))]).await;
    session.script("INSERT INTO people VALUES (1, 'again')").await.unwrap_err();
    session.close().await;
}

/// What a recording has of `people`: endings, and the statements' first words, arguments and answers.
fn told(recording: &Recording) -> Vec<String> {
    let mut all = Vec::new();
    for transaction in &recording.transactions {
        for step in &transaction.steps {
            let sql = &recording.statements[step.shape].sql;
            if !sql.contains("people") {
                continue;
            }
            let word = sql.split(' ').next().unwrap();
            let ending = if transaction.ending == Ending::Commit { "commit" } else { "single" };
            let answer = step.answer.as_ref().unwrap();
            let arguments: Vec<String> = step.arguments.iter().map(shown).collect();
            let code = answer.error.as_deref().unwrap_or("-");
            let made: Vec<String> = answer.made.iter().flatten().map(shown).collect();
            all.push(format!(
                "{ending} {word} {} {:?} {code} {}",
                arguments.join(","),
                answer.rows,
                made.join(",")
            ));
        }
    }
    all
}

fn shown(argument: &Argument) -> String {
    argument.written().map_or("NULL".to_owned(), Into::into)
}

/// The answers to statements on `people` that have a hash.
fn hashes(recording: &Recording) -> Vec<u64> {
    let steps = recording.transactions.iter().flat_map(|one| &one.steps);
    let of_people = steps.filter(|step| recording.statements[step.shape].sql.contains("people"));
    of_people.filter_map(|step| step.answer.as_ref()?.hash).collect()
}

/// Ends the recording when the clients have left: what they see is copied a moment later.
fn recorded(proxy: &mut Proxy, file: &Path) -> (Recorded, Recording) {
    for _ in 0..POLLS_MAX {
        if proxy.open() == 0 {
            break;
        }
        std::thread::sleep(POLL);
    }
    let facts = proxy.end_recording().unwrap();
    let mut text = String::new();
    File::open(file).unwrap().read_to_string(&mut text).unwrap();
    (facts, read(text.as_bytes()).unwrap())
}

#[test]
fn every_form_of_postgresqls_protocol_is_recorded_alike() {
    let server = PostgresServer::shared();
    let folder = tempfile::tempdir().unwrap();
    let mut before = None;
    for protocol in [Protocol::Prepared, Protocol::Extended, Protocol::Simple] {
        let target = server.fresh_database("wire").unwrap();
        let sql = "CREATE TABLE people (id int PRIMARY KEY, name text)";
        server.run(name_of(&target), sql).unwrap();
        let file = folder.path().join("a.recording");
        let (mut proxy, url) = proxy(&target, &file, LIMITS);
        block(work(&url, Some(protocol), ["$1", "$2"]));
        let (facts, recording) = recorded(&mut proxy, &file);
        assert_eq!(facts.cut, None);
        assert_eq!(
            told(&recording),
            [
                "commit INSERT 1,Ann Some(1) - 1",
                "commit INSERT 2,O'Brien Some(1) - 2",
                "single SELECT 2 Some(1) - ",
                "single INSERT 1,again None 23505 ",
            ],
            "{protocol:?}"
        );
        let of_this = hashes(&recording);
        assert_eq!(before.get_or_insert(of_this.clone()), &of_this, "{protocol:?}");
    }
}

#[test]
fn mariadbs_protocol_is_recorded() {
    let server = MariadbServer::shared();
    let folder = tempfile::tempdir().unwrap();
    let target = server.fresh_database("wire").unwrap();
    let sql = "CREATE TABLE people (id int PRIMARY KEY, name varchar(20))";
    server.run(name_of(&target), sql).unwrap();
    let file = folder.path().join("a.recording");
    let (mut proxy, url) = proxy(&target, &file, LIMITS);
    block(work(&url, None, ["?", "?"]));
    let (_, recording) = recorded(&mut proxy, &file);
    assert_eq!(
        told(&recording),
        [
            "commit INSERT 1,Ann Some(1) - 1",
            "commit INSERT 2,O'Brien Some(1) - 2",
            "single SELECT 2 Some(1) - ",
            "single INSERT 1,again None 1062 ",
        ]
    );
    assert_eq!(hashes(&recording).len(), 3);
}

/// The hash of the rows of a statement, as texts.
async fn hash_of_texts(url: &str, protocol: Option<Protocol>, sql: &str) -> u64 {
    let database = open(url, protocol);
    database.identify().await.unwrap();
    let mut session = database.connect(Role::Loader, 0).await.unwrap();
    let statement =
        BoundStatement { name: "test".into(), sql: sql.into(), params: vec![], order: vec![] };
    let id = session.prepare(&statement).await.unwrap();
    let mut rows = Rows::as_texts();
    session.query(id, &[], &mut rows).await.unwrap();
    session.close().await;
    let mut hashes = RowHashes::default();
    for row in rows.iter() {
        let mut hasher = RowHasher::default();
        (0..row.len()).for_each(|column| hasher.field(row.bytes(column)));
        hashes.add(hasher.finish());
    }
    hashes.hash(true)
}

/// A replay compares the rows of any type with those that a client of any protocol met.
fn rows_are_hashed_alike(target: &str, create: &str, protocols: &[Option<Protocol>]) {
    let folder = tempfile::tempdir().unwrap();
    for (number, protocol) in protocols.iter().enumerate() {
        let file = folder.path().join(format!("{number}.recording"));
        let (mut proxy, url) = proxy(target, &file, LIMITS);
        let sql = "SELECT * FROM people ORDER BY 1";
        let through = block(hash_of_texts(&url, *protocol, sql));
        let (_, recording) = recorded(&mut proxy, &file);
        let recorded = hashes(&recording);
        assert_eq!(recorded.last(), Some(&through), "{create} {protocol:?}");
        for other in protocols {
            assert_eq!(block(hash_of_texts(target, *other, sql)), through, "{other:?}");
        }
    }
}

#[test]
fn rows_of_postgresql_are_hashed_alike_by_a_replay() {
    let server = PostgresServer::shared();
    let target = server.fresh_database("texts").unwrap();
    let sql = "CREATE TABLE people AS SELECT n, n::bigint * 1000000007 big, (n * 1.50)::numeric(10, 2) price, n / 3.0::float8 \
               ratio, (n / 7.0)::real small, 'name ' || n AS name, n % 2 = 0 AS flag, '2026-01-31 12:00:00.5+00'::timestamptz + n * \
               interval '1 day' AS at, DATE '2026-01-01' + n AS day, CASE WHEN n = 2 THEN NULL ELSE ARRAY[n, 2] END AS list, \
               md5(n::text)::uuid AS key, jsonb_build_object('a', n) AS doc, decode('00ff', 'hex') AS raw FROM generate_series(1, 5) n";
    server.run(name_of(&target), sql).unwrap();
    let protocols = [Protocol::Prepared, Protocol::Extended, Protocol::Simple].map(Some);
    rows_are_hashed_alike(&target, sql, &protocols);
}

#[test]
fn rows_of_mariadb_are_hashed_alike_by_a_replay() {
    let server = MariadbServer::shared();
    let target = server.fresh_database("texts").unwrap();
    let name = name_of(&target);
    let sql = "CREATE TABLE people (n int PRIMARY KEY, big bigint unsigned, price decimal(10, 2), ratio double, small float, name \
               varchar(20), at datetime(3), day date, span time(2), tiny tinyint, flag bit(3), raw blob, y year)";
    server.run(name, sql).unwrap();
    for n in 1..=5 {
        let sql = format!(
            "INSERT INTO people VALUES ({n}, 18446744073709551610 + {n}, {n} * 1.5, {n} / 3, {n} / 7, IF({n} = 2, NULL, 'x'), \
             '2026-01-31 12:00:00.5', '2026-02-0{n}', '-01:00:0{n}.25', -{n}, 5, x'00ff', 2026)"
        );
        server.run(name, &sql).unwrap();
    }
    rows_are_hashed_alike(&target, sql, &[None]);
}

#[test]
fn at_a_limit_the_recording_ends_and_forwarding_goes_on() {
    let server = PostgresServer::shared();
    let folder = tempfile::tempdir().unwrap();
    let target = server.fresh_database("wire").unwrap();
    let file = folder.path().join("a.recording");
    let limits = Limits { file: 20_000, ..LIMITS };
    let (mut proxy, url) = proxy(&target, &file, limits);
    block(async {
        let mut session = open(&url, None).connect(Role::Loader, 0).await.unwrap();
        while proxy.is_recording() {
            let text = "x".repeat(1_000);
            ask(&mut session, "SELECT $1", &[(ColumnType::Text, Value::Text(&text))]).await;
        }
        assert_eq!(ask(&mut session, "SELECT 1", &[]).await.len(), 1);
    });
    let (facts, recording) = recorded(&mut proxy, &file);
    assert_eq!(facts.cut.map(|(cut, _)| cut), Some(Cut::File));
    assert!(std::fs::metadata(&file).unwrap().len() <= 20_000);
    assert!(recording.transactions.len() > 5);
}

#[test]
fn a_file_that_cannot_be_written_further_is_cut_to_what_is_complete() {
    let server = PostgresServer::shared();
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let target = server.fresh_database("wire").unwrap();
    let (mut proxy, url) = proxy(&target, full, LIMITS);
    block(async {
        let mut session = open(&url, None).connect(Role::Loader, 0).await.unwrap();
        let text = "x".repeat(100_000);
        while proxy.is_recording() {
            ask(&mut session, "SELECT $1", &[(ColumnType::Text, Value::Text(&text))]).await;
        }
        assert_eq!(ask(&mut session, "SELECT 1", &[]).await.len(), 1);
    });
    // Not even its beginning can be cut: the command fails, and clients have noticed nothing.
    proxy.end_recording().unwrap_err();
}

#[test]
fn nonsense_half_messages_and_servers_that_are_gone_close_the_connection() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (url, greeting) in [("postgres://u", false), ("mysql://u", true)] {
        let file = folder.path().join("a.recording");
        let (proxy, _) = proxy(&format!("{url}@{gone}/d"), &file, LIMITS);
        let startup = b"\0\0\0\x12\0\x03\0\0user\0bob\0\0";
        for sent in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\0\0\0", startup, b""] {
            let mut client = TcpStream::connect(proxy.address()).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            client.write_all(sent).unwrap();
            // The proxy may have closed the connection already: then there is nothing to shut down.
            let _ = client.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _ = client.read_to_end(&mut answer);
            let text = String::from_utf8_lossy(&answer);
            let is_told = text.contains("the server behind the proxy cannot be reached");
            assert_eq!(is_told, greeting || sent == startup, "{url} {sent:?}: {text}");
        }
        assert!(proxy.unreached() > 0);
    }
}
