//! How the PostgreSQL client uses its connection: authentication methods, servers that violate the
//! protocol, and calls cancelled half-way. Sessions are tested in postgres.rs.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::random::Rng;
use triphammer_core::session::{Access, Admin, Database as _, Role, Session as _};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows};
use triphammer_drivers::postgres::{Postgres, PostgresSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_testbed::{PostgresOptions, PostgresServer};

use crate::session::{answering, on_worker, rows_of, statement};

async fn connect(url: &str) -> Result<PostgresSession, DbError> {
    let url = TargetUrl::parse(url).unwrap();
    let database = Postgres::open_in(&url, &ConnectSettings::default(), &|_| None).unwrap();
    database.connect(Role::User, 0).await
}

mod proving {
    use super::*;

    #[test]
    fn passwords_go_as_the_server_asks() {
        let ways = ["md5", "password", "scram-sha-256", "trust"];
        let line = |way: &str| {
            format!("host all {way} all {way}").replace("all scram-sha-256 all", "all scram all")
        };
        let options = PostgresOptions {
            hba: ways.iter().map(|way| line(way)).collect(),
            ..Default::default()
        };
        let server = PostgresServer::start(options).unwrap();
        let create = "SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD 'geheim'; \
                      RESET password_encryption; CREATE ROLE password LOGIN PASSWORD 'geheim'; \
                      CREATE ROLE scram LOGIN PASSWORD 'geheim'; CREATE ROLE trust LOGIN";
        server.run("postgres", create).unwrap();
        let url = |user: &str, password: &str| {
            format!("postgres://{user}:{password}@127.0.0.1:{}/postgres", server.port())
        };
        on_worker(async {
            for user in ["md5", "password", "scram", "trust"] {
                let session = connect(&url(user, "geheim")).await;
                assert!(session.is_ok(), "{user}: {:?}", session.err());
                let refusal = connect(&url(user, "falsch")).await.err();
                assert_eq!(refusal.is_none(), user == "trust", "{user}");
                if let Some(error) = refusal {
                    assert_eq!((error.class(), error.code()), (ErrorClass::Refused, Some("28P01")));
                }
            }
            for (params, expected) in [
                ("channel_binding=require&sslmode=require", true),
                ("channel_binding=disable&sslmode=require", true),
                ("channel_binding=prefer&sslmode=disable", true),
                ("channel_binding=require&sslmode=disable", false),
            ] {
                let session = connect(&format!("{}?{params}", url("scram", "geheim"))).await;
                assert_eq!(session.is_ok(), expected, "{params}: {:?}", session.err());
            }
            for user in ["md5", "password", "trust"] {
                let bound = "channel_binding=require&sslmode=require";
                let error =
                    connect(&format!("{}?{bound}", url(user, "geheim"))).await.err().unwrap();
                assert_eq!(error.class(), ErrorClass::Refused);
                assert!(error.message().contains("channel binding"), "{error}");
            }
        });
    }
}

pub mod breaking {
    use super::*;

    pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    /// What a server sends to a session that it accepts.
    pub fn welcome() -> Vec<u8> {
        let key = message(b'K', &[0, 0, 0, 1, 0, 0, 0, 2]);
        [message(b'R', &[0; 4]), message(b'S', b"a\0b\0"), key, message(b'Z', b"I")].concat()
    }

    /// What a server sends for a statement that returns one integer.
    fn prepared() -> Vec<u8> {
        let column = b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
        [message(b'1', b""), message(b't', b"\0\0"), message(b'T', column), message(b'Z', b"I")]
            .concat()
    }

    /// A server for one session with these answers; returns its URL.
    fn server(answers: Vec<Vec<u8>>) -> String {
        format!("postgres://u:p@127.0.0.1:{}/d?sslmode=disable", answering(answers))
    }

    #[test]
    fn a_start_that_breaks_the_protocol_is_an_error() {
        for (answer, class, text) in [
            (Vec::new(), ErrorClass::Disconnected, "closed the connection"),
            (
                b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
                ErrorClass::Refused,
                "check host and port",
            ),
            (b"R\0\0\0\x03".to_vec(), ErrorClass::Refused, "check host and port"),
            (b"R\xff\xff\xff\xff".to_vec(), ErrorClass::Refused, "check host and port"),
            (message(b'R', b"\0\0"), ErrorClass::Refused, "check host and port"),
            (message(b'R', b"\0\0\0\x05"), ErrorClass::Refused, "check host and port"),
            (message(b'R', b"\0\0\0\x07"), ErrorClass::Refused, "number 7"),
            (message(b'R', b"\0\0\0\x0aODD\0\0"), ErrorClass::Refused, "SCRAM"),
            (message(b'Z', b"I"), ErrorClass::Refused, "check host and port"),
            (message(b'E', b"SFATAL"), ErrorClass::Refused, "check host and port"),
            (message(b'E', b"VFATAL\0C57P03\0Mlater\0\0"), ErrorClass::Unavailable, "later"),
            (message(b'R', &[0; 4]), ErrorClass::Disconnected, "closed the connection"),
        ] {
            let url = server(vec![answer.clone()]);
            let error = on_worker(connect(&url)).err().unwrap();
            assert_eq!(error.class(), class, "{answer:?}: {error}");
            assert!(error.message().contains(text), "{answer:?}: {error}");
        }
    }

    #[test]
    fn hashing_without_end_is_refused() {
        let asks = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
        for count in ["1000001", "2147483648", "99999999999999999999999", "0004294967295"] {
            let first = format!("\0\0\0\x0br=x,s=QSXCR+Q6sek8bf92,i={count}");
            let url = server(vec![asks.clone(), message(b'R', first.as_bytes())]);
            let error = on_worker(connect(&url)).err().unwrap();
            assert_eq!(error.class(), ErrorClass::Refused, "{error}");
            assert!(
                error.message().contains("SCRAM iterations; the maximum is 1000000"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_answer_without_an_end_is_given_up() {
        let row = message(b'D', &[&b"\0\x01\0\x10\0\0"[..], &[b'x'; 1 << 20]].concat());
        let column = b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
        let described = message(b'T', column);
        let prepared = [message(b'1', b""), message(b't', b"\0\0"), described.clone()].concat();
        let prepared = [prepared, message(b'Z', b"I")].concat();
        let bound = [message(b'2', b""), row.repeat(80)].concat();
        on_worker(async {
            let mut session = connect(&server(vec![welcome(), prepared, bound])).await.unwrap();
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
            assert!(error.message().contains("exceeds 64 MiB"), "{error}");
            assert!(session.is_closed());
            let rows = [described.clone(), row.repeat(20)].concat();
            let mut session = connect(&server(vec![welcome(), rows])).await.unwrap();
            let error = session.tables().await.unwrap_err();
            assert!(error.message().contains("exceeds 16 MiB or 100000 rows"), "{error}");
            let rows = [described, message(b'D', b"\0\x01\0\0\0\x01x").repeat(100_001)].concat();
            let mut session = connect(&server(vec![welcome(), rows])).await.unwrap();
            let error = session.settings().await.unwrap_err();
            assert!(error.message().contains("100000 rows"), "{error}");
        });
    }

    #[test]
    fn an_answer_that_breaks_the_protocol_loses_the_session() {
        let row = |body: &[u8]| [message(b'2', b""), message(b'D', body)].concat();
        for answer in [
            Vec::new(),
            b"D".to_vec(),
            row(b"\0\x01\0\0\0\x04ab"),
            row(b""),
            b"D\0\0\0\0".to_vec(),
            b"D\x7f\xff\xff\xffabc".to_vec(),
            message(b'?', b"what"),
            message(b'Z', b"?"),
            message(b'Z', b""),
            message(b'E', b"MNo end"),
            message(b'T', b"\0\x09a\0"),
            message(b'E', b"VFATAL\0C57P01\0Mgo away\0\0"),
        ] {
            for call in [false, true] {
                let url = server(vec![welcome(), prepared(), answer.clone()]);
                on_worker(async {
                    let mut session = connect(&url).await.unwrap();
                    let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
                    let mut rows = Rows::new();
                    let result = match call {
                        false => session.query(id, &[], &mut rows).await,
                        true => session.call(id, &[], &mut rows).await,
                    };
                    let error = result.unwrap_err();
                    assert!(error.class().loses_session(), "{answer:?}: {error}");
                    assert_eq!(error.is_indeterminate(), call, "{answer:?}: {error}");
                    assert!(session.is_closed(), "{answer:?}");
                    let again = session.script("SELECT 1").await.unwrap_err();
                    assert!(again.class().loses_session(), "{answer:?}: {again}");
                    session.close().await;
                });
            }
        }
    }

    #[test]
    fn a_row_that_is_not_as_its_columns_is_an_error_after_which_the_session_is_usable() {
        for body in
            [&b""[..], b"\0\x02\0\0\0\x04abcd", b"\0\x01\0\0\0\x04ab", b"\0\x01\0\0\0\x02ab"]
        {
            let end = [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
            let answer = [message(b'2', b""), message(b'D', body), end.clone()].concat();
            let good =
                [message(b'2', b""), message(b'D', b"\0\x01\0\0\0\x04\0\0\0\x07"), end].concat();
            let url = server(vec![welcome(), prepared(), answer, good]);
            on_worker(async {
                let mut session = connect(&url).await.unwrap();
                let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
                let mut rows = Rows::new();
                let error = session.query(id, &[], &mut rows).await.unwrap_err();
                assert_eq!(error.class(), ErrorClass::Other, "{body:?}: {error}");
                session.query(id, &[], &mut rows).await.unwrap();
                assert_eq!(rows.row(0).int(0).unwrap(), 7);
            });
        }
    }

    #[test]
    fn no_answer_makes_the_client_panic_or_hang() {
        let mut rng = Rng::of(1, &[]);
        let tags = b"RKSZ12tTDCEnNAGI?";
        for _ in 0..300 {
            let mut noise = Vec::new();
            for _ in 0..=rng.below(6) {
                let length = usize::try_from(rng.below(40)).unwrap();
                let body: Vec<u8> = (0..length).map(|_| (rng.below(256) & 0xff) as u8).collect();
                let tag = tags[usize::try_from(rng.below(tags.len() as u64)).unwrap()];
                noise.extend_from_slice(&message(tag, &body));
            }
            let answers = match rng.below(3) {
                0 => vec![noise],
                1 => vec![welcome(), noise],
                _ => vec![welcome(), prepared(), noise],
            };
            let url = server(answers);
            on_worker(async {
                let Ok(mut session) = connect(&url).await else { return };
                let _ = rows_of(&mut session, "SELECT 1").await;
                let _ = session.commit().await;
                session.close().await;
            });
        }
    }
}

mod giving_up {
    use super::*;

    static WORDS: LazyLock<TableDef> =
        LazyLock::new(|| table("words", [column("word", ColumnType::Text)]));

    /// The same database through the unix socket.
    fn by_unix_socket(url: &str) -> String {
        let server = PostgresServer::shared();
        let (folder, password) = (server.socket_folder().display(), server.password());
        let name = url.rsplit('/').next().unwrap();
        format!("postgres://postgres:{password}@/{name}?host={folder}&port={}", server.port())
    }

    /// A session on a database whose table `words` runs `body` for each row that is inserted.
    async fn session_with_trigger(url: &str, body: &str) -> PostgresSession {
        let mut session = connect(url).await.unwrap();
        let sql = format!(
            "CREATE TABLE words (word text); CREATE FUNCTION each() RETURNS trigger LANGUAGE plpgsql \
             AS $$ BEGIN {body}; RETURN NEW; END $$; \
             CREATE TRIGGER each BEFORE INSERT ON words FOR EACH ROW EXECUTE FUNCTION each()"
        );
        session.script(&sql).await.unwrap();
        session
    }

    /// Generates rows of a kilobyte.
    fn words(count: usize) -> impl FnMut(&mut Rows) -> bool {
        let mut left = count;
        move |rows| {
            for _ in 0..left.min(100) {
                rows.text(&"word".repeat(250));
            }
            left = left.saturating_sub(100);
            left > 0
        }
    }

    #[test]
    fn a_load_reads_what_the_server_says_meanwhile() {
        for is_unix in [false, true] {
            let url = PostgresServer::shared().fresh_database("notices").unwrap();
            let url = if is_unix { by_unix_socket(&url) } else { url };
            on_worker(async {
                let mut session = session_with_trigger(&url, "RAISE NOTICE '%', NEW.word").await;
                session.script("SET client_min_messages = notice").await.unwrap();
                session.begin(Access::Write).await.unwrap();
                assert_eq!(session.load(&WORDS, &mut words(20_000)).await.unwrap(), 20_000);
                session.commit().await.unwrap();
            });
        }
    }

    #[test]
    fn a_load_given_up_half_way_leaves_nothing_and_a_usable_session() {
        let url = PostgresServer::shared().fresh_database("given_up").unwrap();
        on_worker(async {
            let mut session = session_with_trigger(&url, "PERFORM pg_sleep(0.001)").await;
            session.begin(Access::Write).await.unwrap();
            let limit = Duration::from_millis(50);
            let mut source = words(100_000);
            timeout(limit, session.load(&WORDS, &mut source)).await.unwrap_err();
            let error = session.commit().await.unwrap_err();
            assert!(error.message().contains("rolled back"), "{error}");
            let rows = rows_of(&mut session, "SELECT count(*) FROM words").await.unwrap();
            assert_eq!(rows.row(0).int(0).unwrap(), 0);
        });
    }

    #[test]
    fn answers_of_calls_given_up_are_nobodys() {
        let url = PostgresServer::shared().url("postgres");
        on_worker(async {
            let mut session = connect(&url).await.unwrap();
            let mut rows = Rows::new();
            for sql in ["SELECT pg_sleep(0.05)", "SELECT 1 / 0", "SELECT repeat('x', 5000000)"] {
                let id = session.prepare(&statement(sql, &[])).await;
                let Ok(id) = id else { continue };
                for wait_us in [0, 100, 3000] {
                    let limit = Duration::from_micros(wait_us);
                    let _ = timeout(limit, session.query(id, &[], &mut rows)).await;
                    let found = rows_of(&mut session, "SELECT 5").await.unwrap();
                    assert_eq!(found.row(0).int(0).unwrap(), 5, "{sql} {wait_us}");
                }
            }
            assert!(!session.is_closed());
        });
    }
}
