//! Tests of PostgreSQL's own behaviour: TLS modes, sockets, hosts, passwords, protocols, COPY,
//! cancelling, and servers that fill up, die or are not yet up. The conformance suite tests the
//! common guarantees.

use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use triphammer_core::session::{
    Access, Admin, Database as _, Isolation, LockMode, Protocol, Role, Session as _,
};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows, Timestamp, Value};
use triphammer_drivers::postgres::{Postgres, PostgresSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_testbed::{PostgresOptions, PostgresServer};

use crate::session::{
    hold, hold_refusal, no_database, no_environment, on_worker, rows_of, statement, text_of,
};

fn open(url: &str) -> Postgres {
    open_with(url, &ConnectSettings::default())
}

fn open_with(url: &str, settings: &ConnectSettings) -> Postgres {
    Postgres::open_in(&TargetUrl::parse(url).unwrap(), settings, &no_environment).unwrap()
}

async fn connect(url: &str) -> Result<PostgresSession, DbError> {
    open(url).connect(Role::User, 0).await
}

async fn session(url: &str) -> PostgresSession {
    connect(url).await.unwrap()
}

/// Time between two looks at something that a test waits for.
const POLL: Duration = Duration::from_millis(10);

/// Time within which a server reads its settings again.
const RELOAD: Duration = Duration::from_secs(20);

/// Number of sessions of a server that sleep.
fn asleep(server: &PostgresServer) -> usize {
    let sql = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    server.run("postgres", sql).unwrap().len()
}

/// The error with which connecting to a target fails.
async fn refusal(url: &str) -> DbError {
    connect(url).await.err().expect("an error")
}

mod tls {
    use super::*;

    /// The cipher of a session, or the error, for `sslmode` and further parameters.
    async fn cipher(server: &PostgresServer, host: &str, params: &str) -> Result<bool, DbError> {
        let port = server.port();
        let password = server.password();
        let url = format!("postgres://postgres:{password}@{host}:{port}/postgres?{params}");
        let database = open(&url);
        let mut session = database.connect(Role::User, 0).await?;
        let info = session.server().await?;
        session.close().await;
        assert_eq!(info.transport, "tcp");
        assert_eq!(database.tls_fell_back(), info.cipher.is_none() && params.contains("prefer"));
        if let Some(cipher) = &info.cipher {
            assert!(cipher.starts_with("TLSv1.3 TLS_"), "{cipher}");
        }
        Ok(info.cipher.is_some())
    }

    #[test]
    fn every_mode_does_what_libpq_does() {
        let server = PostgresServer::shared();
        let (ca, other) = (server.authority(), server.other_authority());
        let with =
            |mode: &str, root: &Path| format!("sslmode={mode}&sslrootcert={}", root.display());
        on_worker(async {
            for (host, params, expected) in [
                ("127.0.0.1", "sslmode=disable".to_owned(), Ok(false)),
                ("127.0.0.1", "sslmode=allow".into(), Ok(false)),
                ("127.0.0.1", "sslmode=prefer".into(), Ok(true)),
                ("127.0.0.1", String::new(), Ok(true)),
                ("localhost", "sslmode=require".into(), Ok(true)),
                ("localhost", with("verify-ca", &ca), Ok(true)),
                ("localhost", with("verify-full", &ca), Ok(true)),
                ("127.0.0.1", with("verify-full", &ca), Ok(true)),
                // An address, but not a name that a certificate can have.
                ("127.1", with("verify-ca", &ca), Ok(true)),
                ("127.1", with("verify-full", &ca), Err("cannot be issued for this host name")),
                ("localhost", with("require", &other), Err("UnknownIssuer")),
                ("localhost", with("verify-ca", &other), Err("UnknownIssuer")),
                ("localhost", with("verify-full", &other), Err("UnknownIssuer")),
            ] {
                let found = cipher(server, host, &params).await;
                hold(found, expected, &format!("{host} {params}"));
            }
        });
    }

    #[test]
    fn a_certificate_for_another_name_will_not_do_for_verify_full() {
        let options = PostgresOptions {
            settings: vec![("listen_addresses".into(), "127.0.0.1,127.0.0.2".into())],
            ..Default::default()
        };
        let server = PostgresServer::start(options).unwrap();
        let with = |mode| format!("sslmode={mode}&sslrootcert={}", server.authority().display());
        on_worker(async {
            assert!(cipher(&server, "127.0.0.2", &with("verify-ca")).await.unwrap());
            let error = cipher(&server, "127.0.0.2", &with("verify-full")).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Refused);
            assert!(error.message().contains("not valid for name"), "{error}");
        });
    }

    #[test]
    fn a_server_without_tls_is_used_only_where_the_mode_allows() {
        let options = PostgresOptions { tls: false, ..Default::default() };
        let server = PostgresServer::start(options).unwrap();
        on_worker(async {
            for (params, expected) in [
                ("sslmode=disable", true),
                ("sslmode=allow", true),
                ("sslmode=prefer", true),
                ("sslmode=require", false),
            ] {
                match cipher(&server, "localhost", params).await {
                    Ok(found) => assert!(expected && !found, "{params}"),
                    Err(error) => {
                        assert!(!expected, "{params}: {error}");
                        assert!(error.message().contains("does not offer TLS"), "{error}");
                        assert_eq!(error.class(), ErrorClass::Refused);
                    }
                }
            }
        });
    }

    #[test]
    fn a_second_choice_is_taken_where_the_server_insists() {
        for (line, working, failing) in [
            (
                "hostnossl all all all scram-sha-256\nhostssl all all all reject",
                "prefer",
                "require",
            ),
            ("hostssl all all all scram-sha-256\nhostnossl all all all reject", "allow", "disable"),
        ] {
            let options = PostgresOptions { hba: vec![line.into()], ..Default::default() };
            let server = PostgresServer::start(options).unwrap();
            on_worker(async {
                let url = |mode: &str| format!("{}?sslmode={mode}", server.url("postgres"));
                let database = open(&url(working));
                let mut session = database.connect(Role::User, 0).await.unwrap();
                let has_tls = session.server().await.unwrap().cipher.is_some();
                assert_eq!(has_tls, working == "allow");
                assert_eq!(database.tls_fell_back(), working == "prefer");
                assert_eq!(database.notes(), [""; 0], "nobody is on the way to this host");
                // The same host by a name that does not show it.
                let elsewhere = open(&url(working).replace("127.0.0.1", "127.1"));
                elsewhere.connect(Role::User, 0).await.unwrap().close().await;
                let notes = elsewhere.notes().concat();
                assert_eq!(notes.contains("not encrypted"), working == "prefer", "{notes}");
                let error = refusal(&url(failing)).await;
                assert_eq!((error.class(), error.code()), (ErrorClass::Refused, Some("28000")));
            });
        }
    }

    #[test]
    fn a_client_certificate_logs_in() {
        let server = PostgresServer::shared();
        let user = server.certificate_user();
        server.run("postgres", &format!("CREATE ROLE {user} LOGIN")).unwrap();
        let (cert, key) = server.client_certificate();
        on_worker(async {
            let base = format!("postgres://{user}@127.0.0.1:{}/postgres", server.port());
            let url = format!("{base}?sslcert={}&sslkey={}", cert.display(), key.display());
            let mut session = session(&url).await;
            assert_eq!(text_of(&mut session, "SELECT current_user").await, user);
            let error = refusal(&base).await;
            assert_eq!(error.class(), ErrorClass::Refused);
            assert!(error.message().contains("certificate"), "{error}");
            let wrong = format!("{base}?sslcert={0}&sslkey={0}", cert.display());
            let parsed = TargetUrl::parse(&wrong).unwrap();
            let settings = ConnectSettings::default();
            let error = Postgres::open_in(&parsed, &settings, &no_environment).err().unwrap();
            assert!(error.to_string().contains("contains no private key"), "{error}");
        });
    }

    /// Kinds of keys that psql takes: arguments of `openssl req`, the newest version of TLS that the server
    /// may use, and its curve. Of RSA-PSS, whose salt has to be as long as the hash, see
    /// docs/postgresql.md.
    const KINDS: [(&str, &str, &str, &str); 6] = [
        ("P-521", "-newkey ec -pkeyopt ec_paramgen_curve:secp521r1", "TLSv1.3", "secp521r1"),
        ("P-521", "-newkey ec -pkeyopt ec_paramgen_curve:secp521r1", "TLSv1.2", "secp521r1"),
        ("Ed25519", "-newkey ed25519", "TLSv1.2", "prime256v1"),
        ("Ed448", "-newkey ed448", "TLSv1.3", "prime256v1"),
        ("Ed448", "-newkey ed448", "TLSv1.2", "prime256v1"),
        (
            "RSA-PSS",
            "-newkey rsa-pss -pkeyopt rsa_keygen_bits:2048 -sigopt rsa_pss_saltlen:digest",
            "TLSv1.3",
            "prime256v1",
        ),
    ];

    /// Makes an authority with a key of this kind, and certificates of the server and a client, in place of those in the
    /// folder.
    fn make_certificates(folder: &Path, kind: &str, user: &str) {
        let signed = "-CA ca.crt -CAkey ca.key -addext basicConstraints=critical,CA:FALSE -addext subjectAltName";
        for (name, subject, signed) in [
            ("ca", "authority", String::new()),
            ("server", "localhost", format!("{signed}=IP:127.0.0.1")),
            ("client", user, format!("{signed}=DNS:{user}")),
        ] {
            let files = format!("-keyout {name}.key -out {name}.crt -subj /CN={subject}");
            let arguments = format!("req -x509 -nodes -days 2 {kind} {signed} {files}");
            let mut openssl = std::process::Command::new("openssl");
            let made = openssl.current_dir(folder).args(arguments.split_whitespace()).output();
            let made = made.expect("openssl makes keys: apt-get install openssl");
            assert!(
                made.status.success(),
                "{arguments}: {}",
                String::from_utf8_lossy(&made.stderr)
            );
        }
    }

    #[test]
    fn a_server_and_a_client_with_any_kind_of_key_meet() {
        let server = PostgresServer::start(PostgresOptions::default()).unwrap();
        let user = server.certificate_user();
        server.run("postgres", &format!("CREATE ROLE {user} LOGIN")).unwrap();
        let (authority, (cert, key)) = (server.authority(), server.client_certificate());
        on_worker(async {
            for (name, kind, newest, curve) in KINDS {
                make_certificates(authority.parent().unwrap(), kind, user);
                server
                    .run(
                        "postgres",
                        &format!("ALTER SYSTEM SET ssl_max_protocol_version = '{newest}'"),
                    )
                    .unwrap();
                server
                    .run("postgres", &format!("ALTER SYSTEM SET ssl_ecdh_curve = '{curve}'"))
                    .unwrap();
                server.run("postgres", "SELECT pg_reload_conf()").unwrap();
                let url = format!(
                    "postgres://{user}@127.0.0.1:{}/postgres?sslmode=verify-full&sslrootcert={}&sslcert={}&sslkey={}",
                    server.port(),
                    authority.display(),
                    cert.display(),
                    key.display()
                );
                // Until the server has read its files again, its certificate is of another authority.
                let mut refused = None;
                let connected = async {
                    loop {
                        match connect(&url).await {
                            Ok(session) => break session,
                            Err(error) => refused = Some(error),
                        }
                        tokio::time::sleep(POLL).await;
                    }
                };
                let connected = tokio::time::timeout(RELOAD, connected).await.ok();
                let Some(mut session) = connected else { panic!("{name}, {newest}: {refused:?}") };
                let cipher = session.server().await.unwrap().cipher.unwrap();
                assert!(cipher.starts_with(newest), "{name}: {cipher}");
                session.close().await;
            }
        });
    }
}

mod reaching {
    use super::*;

    #[test]
    fn a_unix_socket_works_and_says_so() {
        let server = PostgresServer::shared();
        let (folder, port) = (server.socket_folder().display(), server.port());
        let password = server.password();
        on_worker(async {
            for url in [
                format!("postgres://postgres:{password}@/postgres?host={folder}&port={port}"),
                format!(
                    "postgres://postgres:{password}@{}:{port}/postgres?sslmode=require",
                    folder.to_string().replace('/', "%2F")
                ),
            ] {
                let mut session = session(&url).await;
                let info = session.server().await.unwrap();
                assert_eq!((info.transport.as_str(), info.cipher), ("unix socket", None));
                assert_eq!(info.same_host, Some(true));
                assert_eq!(info.product, "PostgreSQL");
                assert!(info.version.starts_with(|c: char| c.is_ascii_digit()));
            }
        });
    }

    #[test]
    fn the_next_host_is_tried_when_one_is_away() {
        let server = PostgresServer::shared();
        let (port, password) = (server.port(), server.password());
        on_worker(async {
            let url = |hosts: &str| format!("postgres://postgres:{password}@{hosts}/postgres");
            let one = format!("127.0.0.1:1,127.0.0.1:{port}");
            let mut session = session(&url(&one)).await;
            assert_eq!(text_of(&mut session, "SELECT 'here'").await, "here");
            let error = refusal(&url("127.0.0.1:1,127.0.0.1:2")).await;
            assert_eq!(error.class(), ErrorClass::Disconnected);
            let message = error.message();
            assert!(message.contains("127.0.0.1:1: connection refused"), "{message}");
            assert!(message.contains("127.0.0.1:2: connection refused"), "{message}");
            let error = refusal(&url("no-such-host.invalid")).await;
            assert_eq!(error.class(), ErrorClass::Disconnected);
            assert!(error.message().contains("could not find host `no-such-host.invalid`"));
        });
    }

    #[test]
    fn a_host_that_only_reads_is_passed_over_when_asked() {
        let server = PostgresServer::shared();
        let url = server.fresh_database("read_only").unwrap();
        let name = url.rsplit('/').next().unwrap();
        server
            .run(
                "postgres",
                &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
            )
            .unwrap();
        on_worker(async {
            session(&url).await;
            let error = refusal(&format!("{url}?target_session_attrs=read-write")).await;
            assert_eq!(error.class(), ErrorClass::Unavailable);
            let mut session = session(&url).await;
            let error = session.script("CREATE TABLE t (a int)").await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::ReadOnly, Some("25006")));
        });
    }

    #[test]
    fn refusals_and_absences_are_told_apart() {
        let server = PostgresServer::shared();
        let (port, password) = (server.port(), server.password());
        on_worker(async {
            for (url, code, message) in [
                (
                    format!("postgres://postgres:wrong@127.0.0.1:{port}/postgres"),
                    Some("28P01"),
                    "password",
                ),
                (format!("postgres://nobody:x@127.0.0.1:{port}/postgres"), Some("28P01"), "nobody"),
                (
                    format!("postgres://postgres:{password}@127.0.0.1:{port}/gone"),
                    Some("3D000"),
                    "gone",
                ),
                (
                    format!("postgres://postgres@127.0.0.1:{port}/postgres"),
                    None,
                    "requires a password",
                ),
            ] {
                hold_refusal(&refusal(&url).await, port, code, message);
            }
        });
    }

    #[test]
    fn something_else_on_the_port_is_no_server() {
        let port = no_database("HTTP/1.1 400 Bad Request\r\n\r\n");
        let error = on_worker(refusal(&format!("postgres://u:p@127.0.0.1:{port}/d")));
        assert_eq!(error.class(), ErrorClass::Refused);
        assert!(error.message().contains("check host and port"), "{error}");
    }

    #[test]
    fn a_silent_port_is_given_up_in_time() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("postgres://u:p@127.0.0.1:{port}/d?connect_timeout=1");
        let error = on_worker(refusal(&url));
        assert_eq!(error.class(), ErrorClass::Disconnected);
        assert!(error.message().contains("does not answer within 1 s"), "{error}");
    }
}

mod passwords {
    use super::*;

    /// Opens a target with its own environment.
    async fn connect_in(url: &str, vars: &[(&str, &str)]) -> Result<PostgresSession, DbError> {
        let env = |name: &str| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let url = TargetUrl::parse(url).unwrap();
        Postgres::open_in(&url, &ConnectSettings::default(), &env)
            .unwrap()
            .connect(Role::User, 0)
            .await
    }

    #[test]
    fn odd_passwords_log_in() {
        let server = PostgresServer::shared();
        let encode_all = |text: &str| text.bytes().map(|b| format!("%{b:02X}")).collect::<String>();
        let odd = ["p@:/#%'\"\\ w", "пароль-密码", "%41", "a%", "@", "a@b:1/c?d=e&f", "  "];
        for (index, password) in odd.iter().enumerate() {
            let role = format!("odd_{index}");
            let literal = password.replace('\'', "''");
            let sql = format!("CREATE ROLE {role} LOGIN PASSWORD '{literal}'");
            server.run("postgres", &sql).unwrap();
            let port = server.port();
            on_worker(async {
                let typed = password.replace("%41", "%2541");
                // With a slash or question mark after an at sign the meaning is ambiguous.
                let typed = Some(typed).filter(|typed| !typed.contains("@b"));
                for written in typed.into_iter().chain([encode_all(password)]) {
                    let url = format!("postgres://{role}:{written}@127.0.0.1:{port}/postgres");
                    let session = connect(&url).await;
                    assert!(session.is_ok(), "{url}: {:?}", session.err());
                }
                let settings =
                    ConnectSettings { password: Some((*password).into()), ..Default::default() };
                let url = format!("postgres://{role}:ignored@127.0.0.1:{port}/postgres");
                open_with(&url, &settings).connect(Role::User, 0).await.unwrap();
            });
        }
    }

    #[test]
    fn the_environment_and_the_password_file_log_in() {
        use std::os::unix::fs::PermissionsExt;
        let server = PostgresServer::shared();
        let port = server.port().to_string();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".pgpass");
        let line = format!("127.0.0.1:{port}:*:postgres:{}\n", server.password());
        std::fs::write(&file, line).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let home = folder.path().to_str().unwrap();
        on_worker(async {
            let place = [
                ("PGHOST", "127.0.0.1"),
                ("PGPORT", &port),
                ("PGUSER", "postgres"),
                ("PGDATABASE", "template1"),
                ("PGAPPNAME", "from the environment"),
                ("PGOPTIONS", "-c work_mem=77MB"),
            ];
            let with = |more: &[(&'static str, &'static str)]| {
                let mut vars: Vec<(&str, String)> =
                    place.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
                vars.extend(more.iter().map(|(k, v)| (*k, (*v).to_owned())));
                vars
            };
            let mut with_password = with(&[("PGPASSWORD", "triphammer-test")]);
            let mut with_file = with(&[]);
            with_file.push(("HOME", home.to_owned()));
            for vars in [&mut with_password, &mut with_file] {
                let vars: Vec<_> = vars.iter().map(|(k, v)| (*k, v.as_str())).collect();
                let mut session = connect_in("postgres:", &vars).await.unwrap();
                let sql = "SELECT current_database() || ' ' || current_setting('work_mem') || ' ' || \
                           current_setting('application_name')";
                assert_eq!(text_of(&mut session, sql).await, "template1 77MB from the environment");
            }
            let error = connect_in(
                "postgres:",
                &[
                    ("PGPASSWORD", "wrong"),
                    ("HOME", home),
                    ("PGHOST", "127.0.0.1"),
                    ("PGPORT", &port),
                    ("PGUSER", "postgres"),
                ],
            )
            .await;
            assert_eq!(error.err().unwrap().code(), Some("28P01"), "a known password wins");
        });
    }
}

mod statements {
    use super::*;

    const PROTOCOLS: [Protocol; 3] = [Protocol::Prepared, Protocol::Extended, Protocol::Simple];

    async fn session_by(url: &str, protocol: Protocol) -> PostgresSession {
        let settings = ConnectSettings { protocol: Some(protocol), ..Default::default() };
        open_with(url, &settings).connect(Role::User, 0).await.unwrap()
    }

    #[test]
    fn three_protocols_give_equal_results() {
        use ColumnType as C;
        let url = PostgresServer::shared().url("postgres");
        let sql = "SELECT $1, $2, $3, $4, $5, $6, $7, $8[1], $2 IS NULL, '$1', 1.50::numeric(9,4), \
                   NULL::text, DATE '2026-02-03', 7::oid, 'c'::\"char\", true";
        let types = [
            C::SmallInt,
            C::Int,
            C::BigInt,
            C::Float,
            C::Decimal(2),
            C::Text,
            C::Timestamp,
            C::IntList,
        ];
        let at = Timestamp::parse("2026-11-21 10:11:12").unwrap();
        on_worker(async {
            for protocol in PROTOCOLS {
                let mut session = session_by(&url, protocol).await;
                let id = session.prepare(&statement(sql, &types)).await.unwrap();
                let mut rows = Rows::new();
                let args = [
                    Value::Int(-7),
                    Value::Int(-2_147_483_648),
                    Value::Int(i64::MIN),
                    Value::Float(-1.25e-7),
                    Value::cents(-1005),
                    Value::Text("O'Brien \\ \"$1\" ä€😀"),
                    Value::Timestamp(at),
                    Value::Ints(&[41, -2]),
                ];
                for _ in 0..2 {
                    session.query(id, &args, &mut rows).await.unwrap();
                    let row = rows.row(0);
                    assert_eq!((rows.len(), rows.width(), row.len()), (1, 16, 16), "{protocol:?}");
                    assert_eq!(row.int(0).unwrap(), -7);
                    assert_eq!(row.int(1).unwrap(), -2_147_483_648);
                    assert_eq!(row.int(2).unwrap(), i64::MIN);
                    assert_eq!(row.float(3).unwrap(), -1.25e-7);
                    assert_eq!(row.decimal(4, 2).unwrap(), -1005);
                    assert_eq!(row.text(5).unwrap(), "O'Brien \\ \"$1\" ä€😀");
                    assert_eq!(row.timestamp(6).unwrap(), at);
                    assert_eq!(row.int(7).unwrap(), 41);
                    assert_eq!(row.text(9).unwrap(), "$1");
                    assert_eq!(row.decimal(10, 4).unwrap(), 15_000);
                    assert!(row.is_null(11));
                    assert_eq!(row.int(13).unwrap(), 7);
                    assert_eq!(row.text(14).unwrap(), "c");
                }
                session.query(id, &[Value::Null; 8], &mut rows).await.unwrap();
                assert!((0..8).all(|column| rows.row(0).is_null(column)), "{protocol:?}");
                let error = session.query(id, &[Value::Null], &mut rows).await.unwrap_err();
                assert_eq!(error.class(), ErrorClass::Other);
                let mut wrong = args;
                wrong[0] = Value::Int(40_000);
                let error = session.query(id, &wrong, &mut rows).await.unwrap_err();
                assert!(error.message().contains("40000 does not fit"), "{protocol:?}: {error}");
                session.query(id, &args, &mut rows).await.unwrap();
            }
        });
    }

    #[test]
    fn calls_give_arrays_as_lists_by_every_protocol() {
        let url = PostgresServer::shared().fresh_database("calls").unwrap();
        on_worker(async {
            let mut setup = session(&url).await;
            setup
                .script(
                    "CREATE TABLE t (a int); \
                     CREATE PROCEDURE p(n int, INOUT status int, INOUT names text[], INOUT sums numeric[]) \
                     LANGUAGE plpgsql AS $$ BEGIN \
                       INSERT INTO t VALUES (n); \
                       names := ARRAY['a,b', NULL, 'q\"\\', '']; sums := ARRAY[1.50, -0.05]; \
                       IF n < 0 THEN ROLLBACK; status := 1; ELSE status := 0; END IF; \
                     END $$;",
                )
                .await
                .unwrap();
            for protocol in PROTOCOLS {
                let mut session = session_by(&url, protocol).await;
                let sql = "CALL p($1, NULL, NULL, NULL)";
                let id = session.prepare(&statement(sql, &[ColumnType::Int])).await.unwrap();
                let mut rows = Rows::new();
                for n in [5, -5] {
                    session.call(id, &[Value::Int(n)], &mut rows).await.unwrap();
                    let row = rows.row(0);
                    assert_eq!(row.int(0).unwrap(), i64::from(n < 0), "{protocol:?}");
                    let names = row.list(1).unwrap();
                    assert_eq!(names.len(), 4);
                    assert_eq!(names.text(0).unwrap(), "a,b");
                    assert!(names.is_null(1));
                    assert_eq!((names.text(2).unwrap(), names.text(3).unwrap()), ("q\"\\", ""));
                    assert_eq!(row.list(2).unwrap().decimal(0, 2).unwrap(), 150);
                    assert_eq!(row.list(2).unwrap().decimal(1, 2).unwrap(), -5);
                }
            }
            let rows = rows_of(&mut setup, "SELECT count(*), sum(a) FROM t").await.unwrap();
            assert_eq!((rows.row(0).int(0).unwrap(), rows.row(0).int(1).unwrap()), (3, 15));
        });
    }

    #[test]
    fn only_the_prepared_protocol_leaves_statements_on_the_server() {
        let url = PostgresServer::shared().url("postgres");
        on_worker(async {
            for protocol in PROTOCOLS {
                let mut session = session_by(&url, protocol).await;
                let sql = "SELECT count(*) FROM pg_prepared_statements";
                let rows = rows_of(&mut session, sql).await.unwrap();
                let expected = i64::from(protocol == Protocol::Prepared);
                assert_eq!(rows.row(0).int(0).unwrap(), expected, "{protocol:?}");
            }
        });
    }

    #[test]
    fn statements_are_prepared_again_after_a_change_of_their_columns() {
        let url = PostgresServer::shared().fresh_database("changed_columns").unwrap();
        on_worker(async {
            let database = open(&url);
            let mut session = database.connect(Role::User, 0).await.unwrap();
            session
                .script("CREATE TABLE t (a int, b int); INSERT INTO t VALUES (1, 2)")
                .await
                .unwrap();
            let mut ids = Vec::new();
            for sql in ["SELECT a FROM t", "SELECT b FROM t", "UPDATE t SET a = a + 1"] {
                ids.push(session.prepare(&statement(sql, &[])).await.unwrap());
            }
            let mut rows = Rows::new();
            session.query(ids[0], &[], &mut rows).await.unwrap();
            let mut other = connect(&url).await.unwrap();
            let alter = "ALTER TABLE t ALTER COLUMN a TYPE text USING 'a' || a, \
                         ALTER COLUMN b TYPE bigint";
            other.script(alter).await.unwrap();
            session.begin(Access::Write).await.unwrap();
            let error = session.query(ids[0], &[], &mut rows).await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::SchemaChanged, Some("0A000")));
            assert!(database.notes().is_empty());
            session.rollback().await.unwrap();
            session.begin(Access::Write).await.unwrap();
            session.query(ids[0], &[], &mut rows).await.unwrap();
            assert_eq!(rows.row(0).text(0).unwrap(), "a1", "the columns are read anew, too");
            session.query(ids[1], &[], &mut rows).await.unwrap();
            assert_eq!(rows.row(0).int(0).unwrap(), 2, "the others need not fail first");
            session.commit().await.unwrap();
            let left = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%FROM t'";
            assert_eq!(rows_of(&mut session, left).await.unwrap().row(0).int(0).unwrap(), 2);
            let note = database.notes().concat();
            assert!(note.contains("prepared again 2 times"), "{note}");
        });
    }

    #[test]
    fn execute_counts_rows_by_every_protocol() {
        let url = PostgresServer::shared().fresh_database("counts").unwrap();
        on_worker(async {
            session(&url).await.script("CREATE TABLE t (a int)").await.unwrap();
            for protocol in PROTOCOLS {
                let mut session = session_by(&url, protocol).await;
                let types = [ColumnType::Int];
                let insert = "INSERT INTO t SELECT generate_series(1, $1)";
                let insert = session.prepare(&statement(insert, &types)).await.unwrap();
                let delete = "DELETE FROM t WHERE a <= $1";
                let delete = session.prepare(&statement(delete, &types)).await.unwrap();
                assert_eq!(session.execute(insert, &[Value::Int(5)]).await.unwrap(), 5);
                assert_eq!(session.execute(delete, &[Value::Int(3)]).await.unwrap(), 3);
                assert_eq!(session.execute(delete, &[Value::Int(3)]).await.unwrap(), 0);
                assert_eq!(session.execute(delete, &[Value::Int(9)]).await.unwrap(), 2);
            }
        });
    }

    #[test]
    fn large_results_stream_in_bounded_batches_by_every_protocol() {
        let url = PostgresServer::shared().url("postgres");
        on_worker(async {
            let others = Rc::new(std::cell::Cell::new(0));
            let turns = others.clone();
            tokio::task::spawn_local(async move {
                loop {
                    turns.set(turns.get() + 1);
                    tokio::task::yield_now().await;
                }
            });
            for protocol in PROTOCOLS {
                let mut session = session_by(&url, protocol).await;
                let sql = "SELECT n, repeat('x', 1000) FROM generate_series(1, 50000) AS n";
                let id = session.prepare(&statement(sql, &[])).await.unwrap();
                let (mut batches, mut count, mut sum, mut largest) = (0, 0, 0, 0);
                let mut batch = Rows::new();
                session
                    .stream(id, &[], &mut batch, &mut |rows| {
                        batches += 1;
                        count += rows.len();
                        largest = largest.max(rows.bytes());
                        sum += rows.iter().map(|row| row.int(0).unwrap()).sum::<i64>();
                    })
                    .await
                    .unwrap();
                assert_eq!((count, sum), (50_000, 50_000 * 50_001 / 2), "{protocol:?}");
                // 50 MB in reads of 32 KiB, of which a task may make 128 before it must yield.
                assert!(others.replace(0) > 8, "other users of the thread have their turns");
                assert!(batches > 4 && largest < 2 << 20, "{protocol:?}: {batches}, {largest}");
            }
        });
    }

    #[test]
    fn a_round_trip_wakes_its_task_once() {
        const QUERIES: u32 = 500;
        let url = PostgresServer::shared().url("postgres");
        let polls = std::cell::Cell::new(0);
        on_worker(async {
            let mut session = session(&url).await;
            let sql = "SELECT $1 + 1";
            let id = session.prepare(&statement(sql, &[ColumnType::Int])).await.unwrap();
            let mut rows = Rows::new();
            let work = async {
                for n in 0..QUERIES {
                    session.query(id, &[Value::Int(n.into())], &mut rows).await.unwrap();
                }
            };
            let mut work = std::pin::pin!(work);
            std::future::poll_fn(|cx| {
                polls.set(polls.get() + 1);
                work.as_mut().poll(cx)
            })
            .await;
        });
        // An answer may occasionally arrive in two pieces, and the budget of a task ends.
        assert!(polls.get() < QUERIES * 5 / 4, "{} polls for {QUERIES} queries", polls.get());
    }

    #[test]
    fn a_type_that_is_not_read_is_named() {
        let url = PostgresServer::shared().url("postgres");
        on_worker(async {
            for protocol in [Protocol::Prepared, Protocol::Extended] {
                let mut session = session_by(&url, protocol).await;
                let sql = "SELECT 1, '10 minutes'::interval AS pause";
                let error = rows_of(&mut session, sql).await.unwrap_err();
                assert_eq!(error.class(), ErrorClass::Unsupported);
                assert!(error.message().contains("`pause` of type interval"), "{error}");
                let two = rows_of(&mut session, "SELECT ARRAY[[1],[2]] AS a").await.unwrap_err();
                assert!(two.message().contains("more than one dimension"), "{two}");
                assert_eq!(text_of(&mut session, "SELECT 'usable'").await, "usable");
            }
        });
    }
}

mod transactions {
    use super::*;

    #[test]
    fn a_commit_that_rolls_back_is_an_error() {
        let url = PostgresServer::shared().fresh_database("commit").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            session.script("CREATE TABLE t (a int PRIMARY KEY)").await.unwrap();
            let sql = "INSERT INTO t VALUES ($1)";
            let id = session.prepare(&statement(sql, &[ColumnType::Int])).await.unwrap();
            session.begin(Access::Write).await.unwrap();
            session.execute(id, &[Value::Int(1)]).await.unwrap();
            let error = session.execute(id, &[Value::Int(1)]).await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::Constraint, Some("23505")));
            assert!(error.message().contains("already exists"), "the detail: {error}");
            let error = session.commit().await.unwrap_err();
            assert!(error.message().contains("rolled back"), "{error}");
            assert!(!error.is_indeterminate());
            let rows = rows_of(&mut session, "SELECT count(*) FROM t").await.unwrap();
            assert_eq!(rows.row(0).int(0).unwrap(), 0);
            session.begin(Access::Write).await.unwrap();
            session.execute(id, &[Value::Int(2)]).await.unwrap();
            session.commit().await.unwrap();
            session.rollback().await.unwrap();
        });
    }

    #[test]
    fn a_call_given_up_half_way_counts_as_failed() {
        let url = PostgresServer::shared().fresh_database("given_up").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            session.script("CREATE TABLE t (a int)").await.unwrap();
            session.begin(Access::Write).await.unwrap();
            session.script("INSERT INTO t VALUES (1)").await.unwrap();
            // It waits until the other session ends.
            let mut other = super::session(&url).await;
            other.script("SELECT pg_advisory_lock(1)").await.unwrap();
            let waits = statement("SELECT pg_advisory_xact_lock(1)", &[]);
            let id = session.prepare(&waits).await.unwrap();
            let mut rows = Rows::new();
            let limit = Duration::from_millis(50);
            tokio::time::timeout(limit, session.query(id, &[], &mut rows)).await.unwrap_err();
            other.close().await;
            session.commit().await.unwrap_err();
            let rows = rows_of(&mut session, "SELECT count(*) FROM t").await.unwrap();
            assert_eq!(rows.row(0).int(0).unwrap(), 0, "and the session is usable");
        });
    }

    #[test]
    fn isolation_schema_and_lock_timeout_are_set() {
        let url = PostgresServer::shared().fresh_database("settings").unwrap();
        let settings = ConnectSettings {
            isolation: Some(Isolation::Serializable),
            schema: Some("My \"schema\"".into()),
            lock_timeout: Some(Duration::from_millis(70)),
            ..Default::default()
        };
        on_worker(async {
            let database = open_with(&url, &settings);
            let mut one = database.connect(Role::User, 0).await.unwrap();
            one.script("CREATE SCHEMA \"My \"\"schema\"\"\"; CREATE TABLE Thing (a int)")
                .await
                .unwrap();
            assert_eq!(one.tables().await.unwrap(), ["thing"]);
            let level = "SELECT current_setting('transaction_isolation')";
            assert_eq!(text_of(&mut one, level).await, "serializable");
            one.begin(Access::Write).await.unwrap();
            assert_eq!(text_of(&mut one, level).await, "serializable");
            one.script("LOCK TABLE thing").await.unwrap();
            let mut two = database.connect(Role::User, 0).await.unwrap();
            let error = rows_of(&mut two, "SELECT a FROM thing").await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::LockTimeout, Some("55P03")));
            one.rollback().await.unwrap();
            one.begin(Access::Snapshot).await.unwrap();
            assert_eq!(text_of(&mut one, level).await, "repeatable read");
            let error = one.script("INSERT INTO thing VALUES (1)").await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::ReadOnly);
        });
    }

    #[test]
    fn a_shared_snapshot_is_one_instant() {
        let url = PostgresServer::shared().fresh_database("snapshot").unwrap();
        on_worker(async {
            let mut writer = session(&url).await;
            writer.script("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await.unwrap();
            let mut one = session(&url).await;
            one.begin(Access::Snapshot).await.unwrap();
            let name = one.share_snapshot().await.unwrap().unwrap();
            writer.script("INSERT INTO t VALUES (2)").await.unwrap();
            let mut two = session(&url).await;
            two.begin_at(&name).await.unwrap();
            for session in [&mut one, &mut two] {
                let rows = rows_of(session, "SELECT count(*) FROM t").await.unwrap();
                assert_eq!(rows.row(0).int(0).unwrap(), 1);
                session.commit().await.unwrap();
            }
        });
    }

    #[test]
    fn serialization_failures_and_deadlocks_have_their_classes() {
        let url = PostgresServer::shared().fresh_database("conflicts").unwrap();
        on_worker(async {
            let mut one = session(&url).await;
            let mut two = session(&url).await;
            one.script("CREATE TABLE t (a int, n int); INSERT INTO t VALUES (1, 0), (2, 0)")
                .await
                .unwrap();
            for session in [&mut one, &mut two] {
                session.script("SET deadlock_timeout = '20ms'").await.unwrap();
                session.begin(Access::Write).await.unwrap();
            }
            let update = |a: u32| format!("UPDATE t SET n = n + 1 WHERE a = {a}");
            one.script(&update(1)).await.unwrap();
            two.script(&update(2)).await.unwrap();
            let (update_one, update_two) = (update(2), update(1));
            let (first, second) = tokio::join!(one.script(&update_one), two.script(&update_two));
            let error = first.and(second).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Deadlock, "{error}");
            one.rollback().await.unwrap();
            two.rollback().await.unwrap();
            one.script("SET default_transaction_isolation = 'repeatable read'").await.unwrap();
            one.begin(Access::Write).await.unwrap();
            rows_of(&mut one, "SELECT * FROM t").await.unwrap();
            two.script(&update(1)).await.unwrap();
            let error = one.script(&update(1)).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Serialization, "{error}");
        });
    }

    #[test]
    fn claims_stand_against_each_other_within_a_schema() {
        let url = PostgresServer::shared().fresh_database("claims").unwrap();
        on_worker(async {
            session(&url).await.script("CREATE SCHEMA s").await.unwrap();
            let mut shared = session(&url).await;
            assert!(shared.advisory_lock("tproc-c", LockMode::Shared).await.unwrap());
            assert!(session(&url).await.advisory_lock("tproc-c", LockMode::Shared).await.unwrap());
            let mut other = session(&url).await;
            assert!(!other.advisory_lock("tproc-c", LockMode::Exclusive).await.unwrap());
            assert!(session(&url).await.advisory_lock("tpc-b", LockMode::Exclusive).await.unwrap());
            let elsewhere = format!("{url}?schema=s");
            assert!(
                session(&elsewhere)
                    .await
                    .advisory_lock("tproc-c", LockMode::Exclusive)
                    .await
                    .unwrap()
            );
            shared.close().await;
            // The dropped sessions above end when the server notices.
            for _ in 0..3_000 {
                if other.advisory_lock("tproc-c", LockMode::Exclusive).await.unwrap() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            panic!("the lock was never free");
        });
    }
}

mod loading {
    use super::*;

    static EVERYTHING: LazyLock<TableDef> = LazyLock::new(|| {
        table(
            "everything",
            [
                column("small", ColumnType::SmallInt),
                column("whole", ColumnType::Int),
                column("big", ColumnType::BigInt),
                column("real", ColumnType::Float),
                column("money", ColumnType::Decimal(2)),
                column("words", ColumnType::Text),
                column("moment", ColumnType::Timestamp),
                column("list", ColumnType::IntList),
            ],
        )
    });
    const CREATE: &str = "CREATE TABLE everything (small int2, whole int4, big int8, real float8, \
                          money numeric(12,2), words text, moment timestamp, list int4[])";

    /// Appends row `n`; every third has a NULL somewhere, but never in `whole`.
    fn push(rows: &mut Rows, n: i64) {
        let null = if n % 3 == 0 { n % 8 } else { 1 };
        if null == 0 {
            rows.null()
        } else {
            rows.int(n % 32_768)
        }
        rows.int(-n);
        if null == 2 {
            rows.null()
        } else {
            rows.int(n * 4_000_000_000)
        }
        if null == 3 {
            rows.null()
        } else {
            rows.float(n as f64 / 8.0)
        }
        if null == 4 {
            rows.null()
        } else {
            rows.decimal(n * 12_345 - 50_000_000, 2)
        }
        if null == 5 {
            rows.null()
        } else {
            rows.text(&"tä".repeat(usize::try_from(n % 50).unwrap()))
        }
        let moment = Timestamp::from_seconds(n * 86_400 - 1_000_000_000);
        if null == 6 {
            rows.null()
        } else {
            rows.timestamp(moment)
        }
        if null == 7 {
            rows.null()
        } else {
            rows.list(|list| (0..n % 4).for_each(|i| list.int(i - 2)))
        }
    }

    #[test]
    fn every_type_arrives_as_it_was_sent() {
        const COUNT: i64 = 20_000;
        let url = PostgresServer::shared().fresh_database("copy").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            session.script(CREATE).await.unwrap();
            session.begin(Access::Write).await.unwrap();
            let mut next = 1;
            let mut source = |rows: &mut Rows| {
                let end = (next + 999).min(COUNT);
                (next..=end).for_each(|n| push(rows, n));
                next = end + 1;
                next <= COUNT
            };
            assert_eq!(session.load(&EVERYTHING, &mut source).await.unwrap(), COUNT as u64);
            session.commit().await.unwrap();
            let sql = "SELECT * FROM everything ORDER BY whole DESC";
            let found = rows_of(&mut session, sql).await.unwrap();
            assert_eq!(found.len(), usize::try_from(COUNT).unwrap());
            let mut sent = Rows::new();
            for (index, row) in found.iter().enumerate() {
                sent.reset(8);
                push(&mut sent, index as i64 + 1);
                let wanted = sent.row(0);
                assert_eq!(row.int(1).unwrap(), wanted.int(1).unwrap());
                for c in 0..8 {
                    assert_eq!(row.is_null(c), wanted.is_null(c), "row {index} column {c}");
                    match c {
                        _ if row.is_null(c) => {}
                        0..=2 => assert_eq!(row.int(c).unwrap(), wanted.int(c).unwrap()),
                        3 => assert_eq!(row.float(c).unwrap(), wanted.float(c).unwrap()),
                        4 => assert_eq!(row.decimal(c, 2).unwrap(), wanted.decimal(c, 2).unwrap()),
                        5 => assert_eq!(row.text(c).unwrap(), wanted.text(c).unwrap()),
                        6 => assert_eq!(row.timestamp(c).unwrap(), wanted.timestamp(c).unwrap()),
                        _ => {
                            let (list, other) = (row.list(c).unwrap(), wanted.list(c).unwrap());
                            assert_eq!(list.len(), other.len());
                            let all = 0..list.len();
                            assert!(
                                all.clone().all(|i| list.int(i).unwrap() == other.int(i).unwrap())
                            );
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn a_load_that_fails_leaves_nothing_and_a_usable_session() {
        let url = PostgresServer::shared().fresh_database("copy_fails").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            session.script(CREATE).await.unwrap();
            session.script("ALTER TABLE everything ADD CHECK (whole <> -3)").await.unwrap();
            for (bad, class, message) in [
                ("server", ErrorClass::Constraint, "everything_whole_check"),
                ("value", ErrorClass::Other, "40000 does not fit a smallint"),
                ("partial", ErrorClass::Other, "ends within a row"),
                ("table", ErrorClass::Other, "does not exist"),
            ] {
                session.begin(Access::Write).await.unwrap();
                if bad == "table" {
                    session.script("DROP TABLE everything").await.unwrap();
                }
                let mut batches = 0;
                let mut source = |rows: &mut Rows| {
                    batches += 1;
                    let first = batches * 1000;
                    (first..first + 1000).for_each(|n| push(rows, n));
                    if batches == 3 {
                        match bad {
                            "server" => push(rows, 3),
                            "value" => {
                                rows.int(40_000);
                                (1..8).for_each(|_| rows.null());
                            }
                            "partial" => rows.int(1),
                            _ => {}
                        }
                    }
                    batches < 30
                };
                let error = session.load(&EVERYTHING, &mut source).await.unwrap_err();
                assert_eq!(error.class(), class, "{bad}: {error}");
                assert!(error.message().contains(message), "{bad}: {error}");
                assert!(error.message().starts_with("loading `everything`"), "{error}");
                session.rollback().await.unwrap_or_else(|error| panic!("{bad}: {error}"));
                let rows = rows_of(&mut session, "SELECT count(*) FROM everything").await;
                let rows = rows.unwrap_or_else(|e| panic!("{bad}: {e}"));
                assert_eq!(rows.row(0).int(0).unwrap(), 0, "{bad}");
            }
        });
    }
}

mod trouble {
    use super::*;

    #[test]
    fn too_many_clients_is_unavailable_and_says_so() {
        let options = PostgresOptions {
            max_connections: 5,
            settings: vec![("superuser_reserved_connections".into(), "0".into())],
            ..Default::default()
        };
        let server = PostgresServer::start(options).unwrap();
        on_worker(async {
            let url = server.url("postgres");
            let mut held = Vec::new();
            let error = loop {
                match connect(&url).await {
                    Ok(session) => held.push(session),
                    Err(error) => break error,
                }
                assert!(held.len() < 20);
            };
            assert_eq!((error.class(), error.code()), (ErrorClass::Unavailable, Some("53300")));
            assert!(error.message().contains("too many clients"), "{error}");
        });
    }

    #[test]
    fn a_commit_that_no_standby_confirmed_and_an_idle_session_that_was_ended_say_so() {
        let settings = vec![("synchronous_standby_names".into(), "nobody".into())];
        let options = PostgresOptions { settings, ..Default::default() };
        let server = PostgresServer::start(options).unwrap();
        let url = server.url("postgres");
        on_worker(async {
            let mut one = session(&url).await;
            one.script("SET synchronous_commit = local; CREATE TABLE t (a int)").await.unwrap();
            one.script("SET synchronous_commit = on").await.unwrap();
            one.begin(Access::Write).await.unwrap();
            one.script("INSERT INTO t VALUES (1)").await.unwrap();
            let cancelling = async {
                let sql = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
                           WHERE wait_event = 'SyncRep'";
                while server.run("postgres", sql).unwrap().is_empty() {
                    tokio::time::sleep(POLL).await;
                }
            };
            let (committed, ()) = tokio::join!(one.commit(), cancelling);
            committed.unwrap();
            let warning = one.take_unconfirmed().unwrap();
            assert!(warning.contains("canceling wait for synchronous replication"), "{warning}");
            assert!(one.take_unconfirmed().is_none() && one.ended_idle().is_none());
            // Since 14.
            if one.script("SET idle_session_timeout = '50ms'").await.is_err() {
                return;
            }
            let ended = loop {
                tokio::time::sleep(POLL).await;
                if let Some(ended) = one.ended_idle() {
                    break ended;
                }
            };
            assert_eq!((ended.class(), ended.code()), (ErrorClass::Disconnected, Some("57P05")));
        });
    }

    #[test]
    fn a_statement_is_cancelled_from_another_thread() {
        for params in ["sslmode=disable", "sslmode=require"] {
            let url = format!("{}?{params}", PostgresServer::shared().url("postgres"));
            on_worker(async {
                let mut session = session(&url).await;
                let id = session.prepare(&statement("SELECT pg_sleep(30)", &[])).await.unwrap();
                let canceller = session.canceller();
                let thread = std::thread::spawn(move || {
                    on_worker(async {
                        while canceller.is_at_work().await.unwrap() != Some(true) {
                            tokio::time::sleep(POLL).await;
                        }
                        canceller.cancel().await;
                    });
                });
                let mut rows = Rows::new();
                let error = session.query(id, &[], &mut rows).await.unwrap_err();
                thread.join().unwrap();
                assert_eq!((error.class(), error.code()), (ErrorClass::Cancelled, Some("57014")));
                assert!(!session.is_closed());
                assert_eq!(text_of(&mut session, "SELECT 'usable'").await, "usable");
            });
        }
    }

    #[test]
    fn a_cancel_request_is_with_the_server_when_it_returns() {
        let server = PostgresServer::start(PostgresOptions::default()).unwrap();
        on_worker(async {
            let mut session = session(&server.url("postgres")).await;
            let canceller = session.canceller();
            server.sigstop();
            let mut cancel = canceller.cancel();
            let early = tokio::time::timeout(Duration::from_millis(200), &mut cancel).await;
            assert!(early.is_err(), "the server is paused");
            server.sigcont();
            cancel.await;
            // Otherwise this statement, or one of its followers, would be cancelled.
            let sql = "SELECT 'unharmed' FROM pg_sleep(0.3)";
            assert_eq!(text_of(&mut session, sql).await, "unharmed");
        });
    }

    #[test]
    fn a_killed_server_is_a_lost_connection() {
        let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
        let url = server.url("postgres");
        let pids = Rc::new(std::cell::Cell::new(0));
        on_worker(async {
            let mut session = session(&url).await;
            let mut idle = connect(&url).await.unwrap();
            let mut calling = connect(&url).await.unwrap();
            let sleep = statement("SELECT pg_sleep(30)", &[]);
            let id = session.prepare(&sleep).await.unwrap();
            let call = calling.prepare(&sleep).await.unwrap();
            idle.begin(Access::Write).await.unwrap();
            pids.set(1);
            let killer = std::thread::spawn(move || {
                while asleep(&server) < 2 {
                    std::thread::sleep(POLL);
                }
                server.kill9();
                server
            });
            let (mut rows, mut called) = (Rows::new(), Rows::new());
            let (queried, call) = tokio::join!(
                session.query(id, &[], &mut rows),
                calling.call(call, &[], &mut called)
            );
            let error = queried.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
            assert!(!error.is_indeterminate());
            assert!(session.is_closed());
            let error = call.unwrap_err();
            assert!(error.is_indeterminate(), "{error}");
            server = killer.join().unwrap();
            let error = idle.commit().await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
            assert!(idle.is_closed());
            let error = refusal(&url).await;
            assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
            assert!(error.message().contains("connection refused"), "{error}");
            server.restart().unwrap();
            connect(&url).await.unwrap();
        });
    }

    #[test]
    fn a_server_that_starts_up_or_ends_the_session_is_unavailable() {
        let mut server = PostgresServer::start(PostgresOptions::default()).unwrap();
        let url = server.url("postgres");
        on_worker(async {
            let mut victim = session(&url).await;
            let sql = "SELECT pg_backend_pid()::text";
            let pid = text_of(&mut victim, sql).await;
            let id = victim.prepare(&statement("SELECT pg_sleep(30)", &[])).await.unwrap();
            let mut rows = Rows::new();
            let end = async {
                while asleep(&server) == 0 {
                    tokio::time::sleep(POLL).await;
                }
                server.run("postgres", &format!("SELECT pg_terminate_backend({pid})")).unwrap();
            };
            let (queried, ()) = tokio::join!(victim.query(id, &[], &mut rows), end);
            let error = queried.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::Unavailable, Some("57P01")));
            assert!(victim.is_closed());
            let mut idle = session(&url).await;
            let pid = text_of(&mut idle, sql).await;
            server.run("postgres", &format!("SELECT pg_terminate_backend({pid})")).unwrap();
            // It is seen without asking.
            while !idle.is_closed() {
                tokio::time::sleep(POLL).await;
            }
            let error = idle.script("SELECT 1").await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::Unavailable, Some("57P01")));
            // A replica without a primary, which does not get to the end of its start.
            server.run("postgres", "ALTER SYSTEM SET hot_standby = off").unwrap();
            server.kill9();
            let signal = server.socket_folder().join("data/standby.signal");
            std::fs::write(&signal, "").unwrap();
            server.restart_unattended().unwrap();
            loop {
                let error = refusal(&url).await;
                if error.code() == Some("57P03") {
                    assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
                    break;
                }
                tokio::time::sleep(POLL).await;
            }
            std::fs::remove_file(signal).unwrap();
            server.restart().unwrap();
            connect(&url).await.unwrap();
        });
    }
}

mod looking {
    use super::*;

    #[test]
    fn a_database_is_made_once() {
        let server = PostgresServer::shared();
        let url = server.url("made \"here\"?schema=s").replace(' ', "%20");
        on_worker(async {
            assert_eq!(refusal(&url).await.code(), Some("3D000"));
            assert!(open(&url).create_database().await.unwrap());
            assert!(!open(&url).create_database().await.unwrap());
            let mut session = session(&url).await;
            assert_eq!(text_of(&mut session, "SELECT current_database()").await, "made \"here\"");
        });
    }

    #[test]
    fn settings_counters_and_names_are_there() {
        let url = PostgresServer::shared().url("postgres");
        on_worker(async {
            let settings =
                ConnectSettings { application_name: "the \"name\"".into(), ..Default::default() };
            let database = open_with(&url, &settings);
            assert!(!database.target().contains("triphammer-test"));
            let mut session = database.connect(Role::Monitor, 0).await.unwrap();
            let name = "SELECT current_setting('application_name')";
            assert_eq!(text_of(&mut session, name).await, "the \"name\"");
            let settings = session.settings().await.unwrap();
            let find =
                |name: &str| settings.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
            assert_eq!(find("fsync"), Some("off"));
            assert_eq!(find("shared_buffers"), Some("128MB"));
            // The file of the server has shared_buffers, too, with the default.
            let set = session.settings_set().await.unwrap().unwrap();
            let is_set = |name: &str| set.iter().any(|of| of == name);
            assert!(is_set("fsync"), "{set:?}");
            let others = ["shared_buffers", "data_directory", "application_name", "work_mem"];
            assert!(!others.into_iter().any(is_set), "{set:?}");
            // Before PostgreSQL 15 counts arrive through a separate collector, a little later.
            let counted = async {
                while session.transaction_count().await.unwrap() == Some(0) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(60), counted).await.unwrap();
        });
    }
}

mod observing {
    use super::*;
    use triphammer_dialects::observe::observe;
    use triphammer_dialects::waits::is_listed;

    /// Versions before 17 have no list of their events. `tools/test-matrix.py` runs it on others.
    #[test]
    fn every_wait_event_of_the_server_has_a_class() {
        let waits = observe("postgres").unwrap().waits;
        on_worker(async {
            let mut session = session(&PostgresServer::shared().url("postgres")).await;
            let version = session.server().await.unwrap().version;
            let sql = "SELECT 1 FROM pg_class WHERE relname = 'pg_wait_events'";
            if rows_of(&mut session, sql).await.unwrap().is_empty() {
                return;
            }
            let sql = "SELECT type || ':' || name FROM pg_wait_events WHERE type <> 'Extension' \
                       OR name = 'Extension' ORDER BY 1";
            let events = rows_of(&mut session, sql).await.unwrap();
            assert!(events.len() > 250, "{}", events.len());
            let unknown: Vec<_> = events
                .iter()
                .map(|row| row.text(0).unwrap().to_owned())
                .filter(|event| !is_listed(&waits, event))
                .collect();
            assert!(unknown.is_empty(), "{version} has events without a class: {unknown:?}");
        });
    }
}
