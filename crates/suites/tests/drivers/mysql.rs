//! Tests of MySQL's and MariaDB's own behaviour: TLS modes, sockets, option files, authentication
//! methods, loads, cancelling, and servers that fill up, stop or are read only. The conformance
//! suite tests the common guarantees.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_core::session::{
    Access, Admin, Database as _, Isolation, LockMode, Role, Session as _,
};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows, SpecError, Value};
use triphammer_drivers::mysql::{Mysql, MysqlSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_testbed::{MariadbOptions, MariadbServer};

use crate::session::{
    hold, hold_refusal, no_database, no_environment, number_of, on_worker, rows_of, statement,
    text_of,
};

fn open_with(url: &str, settings: &ConnectSettings) -> Result<Mysql, SpecError> {
    Mysql::open_in(&TargetUrl::parse(url)?, settings, &no_environment)
}

fn open(url: &str) -> Mysql {
    open_with(url, &ConnectSettings::default()).unwrap()
}

async fn session(url: &str) -> MysqlSession {
    open(url).connect(Role::User, 0).await.unwrap()
}

/// The error with which connecting to a target fails.
async fn refusal(url: &str) -> DbError {
    open(url).connect(Role::User, 0).await.err().expect("an error")
}

/// The target of a user on the shared server.
fn url_as(server: &MariadbServer, userinfo: &str, params: &str) -> String {
    format!("mariadb://{userinfo}@127.0.0.1:{}/mysql?{params}", server.port())
}

/// An ALTER TABLE that copies the table makes it newer than the snapshot of a transaction (1412).
#[test]
fn a_table_that_is_newer_than_the_snapshot_is_retried() {
    let url = MariadbServer::shared().fresh_database("newer").unwrap();
    on_worker(async {
        let mut reader = session(&url).await;
        reader.script("CREATE TABLE t (a int); CREATE TABLE u (a int)").await.unwrap();
        let first = reader.prepare(&statement("SELECT a FROM u", &[])).await.unwrap();
        let then = reader.prepare(&statement("SELECT a FROM t", &[])).await.unwrap();
        let mut rows = Rows::new();
        reader.begin_isolated(Access::Read, Isolation::RepeatableRead).await.unwrap();
        reader.query(first, &[], &mut rows).await.unwrap();
        let mut other = session(&url).await;
        other.script("ALTER TABLE t ADD COLUMN b int, ALGORITHM = COPY").await.unwrap();
        let error = reader.query(then, &[], &mut rows).await.unwrap_err();
        assert_eq!((error.class(), error.code()), (ErrorClass::SchemaChanged, Some("1412")));
        reader.rollback().await.unwrap();
        reader.begin(Access::Read).await.unwrap();
        reader.query(then, &[], &mut rows).await.unwrap();
        reader.commit().await.unwrap();
    });
}

mod compression {
    use super::*;

    #[test]
    fn a_compressed_session_does_what_another_does() {
        let server = MariadbServer::shared();
        let url = server.fresh_database("compressed").unwrap();
        // MariaDB has no zstd.
        let algorithms = if server.is_mariadb() { &["zlib"][..] } else { &["zlib", "zstd"] };
        let ways = ["DISABLED", "REQUIRED"]
            .iter()
            .flat_map(|tls| algorithms.iter().map(move |of| (tls, of)));
        for (tls, algorithm) in ways {
            let url =
                format!("{url}?ssl-mode={tls}&get-server-public-key=1&compression={algorithm}");
            on_worker(async {
                let mut session = session(&url).await;
                session.script("DROP TABLE IF EXISTS t; CREATE TABLE t (a int)").await.unwrap();
                let insert = statement("INSERT INTO t VALUES (?)", &[ColumnType::Int]);
                let insert = session.prepare(&insert).await.unwrap();
                session.begin(Access::Write).await.unwrap();
                for number in 0..200 {
                    session.execute(insert, &[Value::Int(number)]).await.unwrap();
                }
                session.commit().await.unwrap();
                assert_eq!(number_of(&mut session, "SELECT SUM(a) FROM t").await, 19_900);
                let long = "SELECT REPEAT('abc', 1000000) UNION ALL SELECT 'end'";
                let rows = rows_of(&mut session, long).await.unwrap();
                assert_eq!((rows.len(), rows.row(0).text(0).unwrap().len()), (2, 3_000_000));
                let error = rows_of(&mut session, "SELECT nothing").await.unwrap_err();
                assert_eq!(error.code(), Some("1054"));
                assert_eq!(text_of(&mut session, "SELECT 'usable'").await, "usable");
                let status = rows_of(&mut session, "SHOW STATUS LIKE 'Compression'").await.unwrap();
                assert_eq!(status.row(0).text(1).unwrap(), "ON");
                let info = session.server().await.unwrap();
                assert_eq!(info.transport, format!("tcp, {algorithm}"));
                assert!(!session.is_closed());
                session.close().await;
            });
        }
    }

    #[test]
    fn the_end_of_an_idle_session_is_read() {
        let url = MariadbServer::shared().fresh_database("compressed_end").unwrap();
        on_worker(async {
            let mut idle = session(&format!("{url}?compression=zlib")).await;
            let id = number_of(&mut idle, "SELECT CONNECTION_ID()").await;
            let mut other = session(&url).await;
            other.script(&format!("KILL {id}")).await.unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
            let ended = idle.ended_idle().expect("the session was killed");
            assert_eq!(ended.class(), ErrorClass::Disconnected, "{ended}");
        });
    }

    #[test]
    fn a_server_without_it_is_refused_with_what_it_has() {
        let url = MariadbServer::shared().fresh_database("uncompressed").unwrap();
        if !MariadbServer::shared().is_mariadb() {
            return;
        }
        on_worker(async {
            let error = refusal(&format!("{url}?compression=zstd")).await;
            assert_eq!(error.class(), ErrorClass::Refused);
            let words =
                "does not offer the compression zstd of its protocol; it offers compression=zlib";
            assert!(error.message().contains(words), "{error}");
        });
        let error = open_with(&format!("{url}?compression=lz4"), &ConnectSettings::default());
        let error = error.err().expect("an unknown word").to_string();
        assert!(error.contains("expected zlib, zstd or uncompressed"), "{error}");
    }
}

mod tls {
    use super::*;

    /// Whether a session has TLS, or the error.
    async fn has_tls(server: &MariadbServer, host: &str, params: &str) -> Result<bool, DbError> {
        let (user, password, port) = (server.user(), server.password(), server.port());
        let database = open(&format!("mysql://{user}:{password}@{host}:{port}/mysql?{params}"));
        let mut session = database.connect(Role::User, 0).await?;
        let info = session.server().await?;
        let status = "SELECT variable_value FROM performance_schema.session_status \
                      WHERE variable_name = 'Ssl_version'";
        if let (Some(cipher), Ok(rows)) = (&info.cipher, rows_of(&mut session, status).await)
            && !rows.is_empty()
        {
            assert!(cipher.starts_with(rows.row(0).text(0).unwrap()), "{cipher}");
        }
        session.close().await;
        assert_eq!(info.transport, "tcp");
        assert_eq!(database.tls_fell_back(), info.cipher.is_none() && params.contains("PREF"));
        if let Some(cipher) = &info.cipher {
            assert!(cipher.starts_with("TLSv1.3 TLS13_"), "{cipher}");
        }
        Ok(info.cipher.is_some())
    }

    #[test]
    fn every_mode_does_what_its_word_says() {
        let server = MariadbServer::shared();
        let (ca, other) = (server.authority(), server.other_authority());
        let with = |mode: &str, root: &Path| format!("ssl-mode={mode}&ssl-ca={}", root.display());
        on_worker(async {
            for (host, params, expected) in [
                ("127.0.0.1", "ssl-mode=DISABLED".to_owned(), Ok(false)),
                ("127.0.0.1", "ssl-mode=PREFERRED".into(), Ok(true)),
                ("127.0.0.1", String::new(), Ok(true)),
                ("127.0.0.1", "sslmode=required".into(), Ok(true)),
                ("127.0.0.1", with("VERIFY_CA", &ca), Ok(true)),
                ("localhost", with("VERIFY_IDENTITY", &ca), Ok(true)),
                ("127.0.0.1", with("VERIFY_IDENTITY", &ca), Ok(true)),
                ("127.1", with("VERIFY_CA", &ca), Ok(true)),
                ("127.1", with("VERIFY_IDENTITY", &ca), Err("cannot be issued for this host name")),
                ("127.0.0.1", format!("ssl-ca={}", other.display()), Err("UnknownIssuer")),
                ("127.0.0.1", with("VERIFY_CA", &other), Err("UnknownIssuer")),
                ("127.0.0.1", with("VERIFY_IDENTITY", &other), Err("UnknownIssuer")),
            ] {
                let found = has_tls(server, host, &params).await;
                hold(found, expected, &format!("{host} {params}"));
            }
        });
    }

    #[test]
    fn a_server_without_tls_is_used_only_where_the_mode_allows() {
        let options = MariadbOptions { tls: false, ..Default::default() };
        let server = MariadbServer::start(options).unwrap();
        server.run("mysql", "CREATE USER plain@'%'; GRANT ALL ON *.* TO plain@'%'").unwrap();
        on_worker(async {
            for (mode, expected) in [("DISABLED", true), ("PREFERRED", true), ("REQUIRED", false)] {
                let database = open(&url_as(&server, "plain", &format!("ssl-mode={mode}")));
                match database.connect(Role::User, 0).await {
                    Ok(mut session) => {
                        assert!(expected, "{mode}");
                        assert_eq!(session.server().await.unwrap().cipher, None);
                        assert_eq!(database.tls_fell_back(), mode == "PREFERRED");
                        assert_eq!(database.notes(), [""; 0], "nobody is on the way to this host");
                    }
                    Err(error) => {
                        assert!(!expected, "{mode}: {error}");
                        assert!(error.message().contains("does not offer TLS"), "{error}");
                        assert_eq!(error.class(), ErrorClass::Refused);
                    }
                }
            }
        });
    }

    #[test]
    fn a_client_certificate_logs_in() {
        let server = MariadbServer::shared();
        let user = server.certificate_user();
        let subject = format!("CREATE USER {user}@'%' REQUIRE SUBJECT '/CN={user}'");
        server.run("mysql", &subject).unwrap();
        server.run("mysql", &format!("GRANT SELECT ON *.* TO {user}@'%'")).unwrap();
        let (cert, key) = server.client_certificate();
        on_worker(async {
            let certs = format!("ssl-cert={}&ssl-key={}", cert.display(), key.display());
            let url = url_as(server, user, &certs);
            let mut session = session(&url).await;
            assert!(text_of(&mut session, "SELECT current_user()").await.starts_with(user));
            let error = refusal(&url_as(server, user, "")).await;
            assert_eq!((error.class(), error.code()), (ErrorClass::Refused, Some("1045")));
            let wrong = url_as(server, user, &format!("ssl-cert={0}&ssl-key={0}", cert.display()));
            let error = open_with(&wrong, &ConnectSettings::default()).err().unwrap();
            assert!(error.to_string().contains("contains no private key"), "{error}");
        });
    }
}

mod reaching {
    use super::*;

    #[test]
    fn a_unix_socket_works_and_says_so() {
        let server = MariadbServer::shared();
        let (userinfo, socket) = (
            format!("{}:{}", server.user(), server.password()),
            server.socket().display().to_string(),
        );
        on_worker(async {
            for url in [
                format!("mysql://{userinfo}@localhost/mysql?socket={socket}"),
                format!("mariadb://{userinfo}@{}/mysql", socket.replace('/', "%2F")),
            ] {
                let mut session = session(&url).await;
                let info = session.server().await.unwrap();
                assert_eq!((info.transport.as_str(), info.cipher), ("unix socket", None));
                assert_eq!(info.same_host, Some(true));
                assert!(info.version.starts_with(|c: char| c.is_ascii_digit()));
                assert!(!info.version.contains("MariaDB"), "{}", info.version);
            }
        });
    }

    #[test]
    fn the_server_says_which_dialect_it_speaks() {
        let server = MariadbServer::shared();
        let expected = if server.is_mariadb() { "mariadb" } else { "mysql" };
        on_worker(async {
            for scheme in ["mysql", "mariadb"] {
                let url = url_as(server, &format!("{}:{}", server.user(), server.password()), "");
                let database = open(&url.replace("mariadb:", &format!("{scheme}:")));
                assert_eq!(database.dialect(), scheme, "as long as nobody has asked");
                database.identify().await.unwrap();
                assert_eq!(database.dialect(), expected);
                let mut session = database.connect(Role::User, 0).await.unwrap();
                assert_eq!(session.server().await.unwrap().product.to_lowercase(), expected);
            }
        });
    }

    #[test]
    fn the_option_file_gives_what_the_url_does_not() {
        let server = MariadbServer::shared();
        let home = tempfile::tempdir().unwrap();
        let env = |name: &str| (name == "HOME").then(|| home.path().display().to_string());
        let text = format!(
            "[client]\nuser = {}\npassword = \"{}\"\nhost = 127.0.0.1\nport = {}\nssl_ca = {}\n",
            server.user(),
            server.password(),
            server.port(),
            server.authority().display()
        );
        let file = home.path().join(".my.cnf");
        std::fs::write(&file, text).unwrap();
        let url = TargetUrl::parse("mariadb:///mysql").unwrap();
        let settings = ConnectSettings::default();
        on_worker(async {
            let database = Mysql::open_in(&url, &settings, &env).unwrap();
            let mut session = database.connect(Role::User, 0).await.unwrap();
            assert!(session.server().await.unwrap().cipher.is_some());
            assert!(!database.target().contains(server.password()));
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
            let database = Mysql::open_in(&url, &settings, &env).unwrap();
            assert!(database.target().contains("localhost:3306"), "anybody may have written it");
        });
    }

    #[test]
    fn refusals_and_absences_are_told_apart() {
        let server = MariadbServer::shared();
        let (user, password) = (server.user(), server.password());
        let port = server.port();
        on_worker(async {
            for (url, code, message) in [
                (url_as(server, &format!("{user}:wrong"), ""), "1045", "Access denied"),
                (url_as(server, "nobody:x", ""), "1045", "nobody"),
                (url_as(server, user, ""), "1045", "no password was given"),
                (format!("mysql://{user}:{password}@127.0.0.1:{port}/gone"), "1049", "gone"),
            ] {
                hold_refusal(&refusal(&url).await, port, Some(code), message);
            }
        });
    }

    #[test]
    fn something_else_on_the_port_is_no_server() {
        let port = no_database("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
        let error = on_worker(refusal(&format!("mysql://u:p@127.0.0.1:{port}/d")));
        assert_eq!(error.class(), ErrorClass::Refused);
        assert!(error.message().contains("check host and port"), "{error}");
    }

    #[test]
    fn a_full_server_is_unavailable() {
        let options = MariadbOptions { max_connections: 10, ..Default::default() };
        let server = MariadbServer::start(options).unwrap();
        // The connection reserved for administrators is not for this user.
        let plain = "CREATE USER plain@'%' IDENTIFIED BY 'p'; GRANT SELECT ON *.* TO plain@'%'";
        server.run("mysql", plain).unwrap();
        on_worker(async {
            let database = open(&url_as(&server, "plain:p", ""));
            let mut sessions = Vec::new();
            let error = loop {
                match database.connect(Role::User, 0).await {
                    Ok(session) => sessions.push(session),
                    Err(error) => break error,
                }
                assert!(sessions.len() < 20);
            };
            assert_eq!((error.class(), error.code()), (ErrorClass::Unavailable, Some("1040")));
            for session in sessions.drain(..) {
                session.close().await;
            }
            // The server takes a moment to notice closed sessions.
            let clock = Clock::start();
            while let Err(error) = database.connect(Role::User, 0).await {
                assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
                assert!(clock.now().second() < 60, "{error}");
            }
        });
    }
}

mod logging_in {
    use super::*;

    #[test]
    fn passwords_of_any_characters_work_in_every_way_that_the_server_has() {
        let server = MariadbServer::shared();
        let mut plugins = vec![];
        if server.is_mariadb() {
            match server.run("mysql", "INSTALL SONAME 'auth_ed25519'") {
                Ok(_) => plugins.push(("ed25519", "VIA ed25519 USING PASSWORD({})")),
                // Some builds in the matrix lack it.
                Err(error) => {
                    let is_matrix = std::env::var_os("TRIPHAMMER_TEST_MYSQL_BIN").is_some();
                    assert!(is_matrix, "{error}");
                }
            }
            plugins.push(("native", "VIA mysql_native_password USING PASSWORD({})"));
        } else {
            plugins.push(("sha2", "WITH caching_sha2_password BY {}"));
            plugins.push(("sha256", "WITH sha256_password BY {}"));
            // Since 9.0 there is none.
            let there = "SELECT 1 FROM information_schema.plugins \
                         WHERE plugin_name = 'mysql_native_password'";
            if !server.run("mysql", there).unwrap().is_empty() {
                plugins.push(("native", "WITH mysql_native_password BY {}"));
            }
        }
        let passwords = ["plain", "p@:/#?&=50%", "it's \"so\"", "pä€ß🦀", &"long ".repeat(30)];
        on_worker(async {
            let mut admin = session(&server.url("mysql")).await;
            for (name, via) in plugins {
                for (number, password) in passwords.iter().enumerate() {
                    let user = format!("{name}_{number}");
                    let quoted = format!("'{}'", password.replace('\'', "''"));
                    let how = via.replace("{}", &quoted);
                    admin.script(&format!("CREATE USER {user} IDENTIFIED {how}")).await.unwrap();
                    admin.script(&format!("GRANT SELECT ON *.* TO {user}")).await.unwrap();
                    let settings = ConnectSettings {
                        password: Some((*password).into()),
                        ..Default::default()
                    };
                    let database = open_with(&url_as(server, &user, ""), &settings).unwrap();
                    let mut session = database.connect(Role::User, 0).await.unwrap();
                    let me = text_of(&mut session, "SELECT current_user()").await;
                    assert!(me.starts_with(&user), "{me}");
                    let error = refusal(&url_as(server, &format!("{user}:wrong"), "")).await;
                    assert_eq!(error.class(), ErrorClass::Refused, "{name}: {error}");
                }
            }
        });
    }

    #[test]
    fn a_password_is_told_on_an_open_line_only_when_that_is_asked_for() {
        let server = MariadbServer::shared();
        if server.is_mariadb() {
            return; // It has no authentication method that would ask.
        }
        on_worker(async {
            let mut admin = session(&server.url("mysql")).await;
            let create = "CREATE USER fresh IDENTIFIED WITH caching_sha2_password BY 'pw'; \
                          GRANT SELECT ON *.* TO fresh";
            admin.script(create).await.unwrap();
            let at = |params: &str| url_as(server, "fresh:pw", params);
            let error = refusal(&at("ssl-mode=DISABLED")).await;
            assert_eq!(error.class(), ErrorClass::Refused);
            assert!(error.message().contains("get-server-public-key=1"), "{error}");
            session(&at("ssl-mode=DISABLED&get-server-public-key=1")).await;
            // The server caches it from then on.
            session(&at("ssl-mode=DISABLED")).await;
            admin.script("FLUSH PRIVILEGES").await.unwrap();
            session(&at("ssl-mode=REQUIRED")).await;
            session(&at("ssl-mode=DISABLED")).await;
        });
    }

    #[test]
    fn an_unknown_way_to_log_in_is_named() {
        let server = MariadbServer::shared();
        if !server.is_mariadb() {
            return; // MySQL's other methods are not in its free edition.
        }
        on_worker(async {
            let mut admin = session(&server.url("mysql")).await;
            admin.script("CREATE USER old IDENTIFIED VIA mysql_old_password").await.unwrap();
            let error = refusal(&url_as(server, "old:pw", "")).await;
            assert_eq!(error.class(), ErrorClass::Refused, "{error}");
        });
    }
}

mod sessions {
    use super::*;

    #[test]
    fn every_session_is_set_to_the_same() {
        let options = MariadbOptions {
            arguments: [
                "--sql-mode=",
                "--character-set-server=latin1",
                "--default-time-zone=+05:00",
            ]
            .map(str::to_owned)
            .into(),
            ..Default::default()
        };
        let server = MariadbServer::start(options).unwrap();
        let defaults = "SET GLOBAL sql_select_limit = 10, GLOBAL completion_type = 'CHAIN', \
                        GLOBAL group_concat_max_len = 4, GLOBAL autocommit = 0";
        server.run("mysql", defaults).unwrap();
        on_worker(async {
            let settings = ConnectSettings {
                isolation: Some(Isolation::ReadCommitted),
                lock_timeout: Some(Duration::from_millis(1500)),
                ..Default::default()
            };
            let database = open_with(&server.url("mysql"), &settings).unwrap();
            let mut session = database.connect(Role::User, 0).await.unwrap();
            assert_eq!(text_of(&mut session, "SELECT 'a\\n' || '🦀'").await, "a\\n🦀");
            assert_eq!(text_of(&mut session, "SELECT @@time_zone").await, "+00:00");
            let mode = text_of(&mut session, "SELECT @@sql_mode").await;
            assert!(mode.contains("STRICT_ALL_TABLES") && mode.contains("ANSI_QUOTES"), "{mode}");
            assert_eq!(number_of(&mut session, "SELECT 'a' = 'A'").await, 0);
            assert_eq!(number_of(&mut session, "SELECT @@innodb_lock_wait_timeout").await, 2);
            let found = session.settings().await.unwrap();
            let level = found.iter().find(|(name, _)| {
                matches!(name.as_str(), "transaction_isolation" | "tx_isolation")
            });
            assert_eq!(level.unwrap().1, "READ-COMMITTED");
            let set = session.settings_set().await.unwrap().unwrap();
            let is_set = |name: &str| set.iter().any(|of| of == name);
            assert!(is_set("group_concat_max_len"), "{set:?}");
            assert!(!["back_log", "innodb_page_size"].into_iter().any(is_set), "{set:?}");
            let inherited = "SELECT concat(@@sql_select_limit > 1000000000, @@completion_type, \
                             @@group_concat_max_len > 1000, @@autocommit = 1)";
            assert_eq!(text_of(&mut session, inherited).await, "1NO_CHAIN11");
            // Users' statements keep what they may rely on.
            let own = ConnectSettings { own_sql: true, ..Default::default() };
            let own = open_with(&server.url("mysql"), &own).unwrap();
            let mut user = own.connect(Role::User, 0).await.unwrap();
            let kept = "SELECT concat(@@sql_select_limit, @@completion_type, \
                        @@group_concat_max_len, @@autocommit = 1, @@time_zone, 'a' = 'A')";
            assert_eq!(text_of(&mut user, kept).await, "10NO_CHAIN41+05:001");
            let mode = text_of(&mut user, "SELECT @@sql_mode").await;
            assert_eq!(mode, text_of(&mut user, "SELECT @@global.sql_mode").await);
            let mut monitor = own.connect(Role::Monitor, 0).await.unwrap();
            assert_eq!(number_of(&mut monitor, "SELECT @@sql_select_limit > 1000000000").await, 1);
        });
    }

    #[test]
    fn an_error_after_the_commit_of_a_call_is_in_doubt_and_before_it_a_failure() {
        let url = MariadbServer::shared().fresh_database("doubt").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            let schema = "CREATE TABLE t (a int PRIMARY KEY) ENGINE = InnoDB;
                CREATE PROCEDURE after_it(n int) BEGIN START TRANSACTION; INSERT INTO t VALUES (n);
                    COMMIT; SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1317; END;
                CREATE PROCEDURE before_it(n int) BEGIN START TRANSACTION; INSERT INTO t VALUES (n);
                    SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1317; COMMIT; END";
            session.script(schema).await.unwrap();
            let mut rows = Rows::new();
            for (procedure, commits) in [("after_it", true), ("before_it", false)] {
                let call = statement(&format!("CALL {procedure}(?)"), &[ColumnType::Int]);
                let call = session.prepare(&call).await.unwrap();
                for as_text in [false, true] {
                    session.script("DELETE FROM t").await.unwrap();
                    let error = if as_text {
                        let text = format!("CALL {procedure}(1)");
                        session.text(&text, true, &mut rows).await.unwrap_err()
                    } else {
                        session.call(call, &[Value::Int(1)], &mut rows).await.unwrap_err()
                    };
                    assert_eq!(error.class(), ErrorClass::Cancelled, "{error:?}");
                    assert_eq!(error.is_indeterminate(), commits, "{procedure} {as_text}");
                    session.rollback().await.unwrap();
                    let count = number_of(&mut session, "SELECT count(*) FROM t").await;
                    assert_eq!(count, i64::from(commits), "{procedure} {as_text}");
                }
            }
        });
    }

    #[test]
    fn what_cannot_be_prepared_is_sent_as_text() {
        let url = MariadbServer::shared().url("mysql");
        on_worker(async {
            let mut session = session(&url).await;
            let other = super::session(&url).await;
            let id = number_of(&mut session, "SELECT connection_id()").await;
            // MySQL 9 cannot prepare it.
            let kill = session.prepare(&statement("KILL ?", &[ColumnType::BigInt])).await.unwrap();
            let error = session.execute(kill, &[Value::Int(i64::MAX)]).await.unwrap_err();
            assert_eq!(error.code(), Some("1094"), "no such session: {error}");
            assert!(id > 0 && !other.is_closed());
            // No server can prepare this one.
            let lock = session.prepare(&statement("LOCK TABLES user READ", &[])).await;
            session.execute(lock.unwrap(), &[]).await.unwrap();
        });
    }

    #[test]
    fn a_failed_procedure_leaves_no_transaction_behind() {
        let url = MariadbServer::shared().fresh_database("procedures").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            let schema = "CREATE TABLE t (a int PRIMARY KEY);
                CREATE PROCEDURE twice(n int) BEGIN START TRANSACTION; INSERT INTO t VALUES (n);
                    INSERT INTO t VALUES (n); COMMIT; END;
                CREATE PROCEDURE forgets(n int) BEGIN START TRANSACTION; INSERT INTO t VALUES (n); END";
            session.script(schema).await.unwrap();
            let mut rows = Rows::new();
            let twice = statement("CALL twice(?)", &[ColumnType::Int]);
            let twice = session.prepare(&twice).await.unwrap();
            let error = session.call(twice, &[Value::Int(1)], &mut rows).await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::Constraint, Some("1062")));
            session.rollback().await.unwrap();
            let forgets = statement("CALL forgets(?)", &[ColumnType::Int]);
            let forgets = session.prepare(&forgets).await.unwrap();
            let error = session.call(forgets, &[Value::Int(2)], &mut rows).await.unwrap_err();
            assert!(error.message().contains("left its transaction open"), "{error}");
            assert_eq!(number_of(&mut session, "SELECT count(*) FROM t").await, 0);
        });
    }

    #[test]
    fn limits_and_kills_have_their_classes() {
        let server = MariadbServer::shared();
        let url = server.url("mysql");
        let long = "SELECT count(*) FROM information_schema.columns a, information_schema.columns b, \
                    information_schema.columns c";
        on_worker(async {
            let mut one = session(&url).await;
            let limit = if server.is_mariadb() {
                "SET max_statement_time = 0.3"
            } else {
                "SET max_execution_time = 300"
            };
            one.script(limit).await.unwrap();
            let error = one.script(long).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Cancelled, "{error}");
            assert_eq!(number_of(&mut one, "SELECT 1").await, 1);
            let me = number_of(&mut one, "SELECT connection_id()").await;
            session(&url).await.script(&format!("KILL {me}")).await.unwrap();
            let error = one.script("SELECT 1").await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
            assert!(one.is_closed());
        });
    }

    #[test]
    fn a_session_that_the_server_ended_while_it_was_idle_is_noticed_with_and_without_tls() {
        let url = MariadbServer::shared().url("mysql");
        on_worker(async {
            for mode in ["DISABLED", "REQUIRED"] {
                let mut one = session(&format!("{url}?ssl-mode={mode}")).await;
                assert!(one.ended_idle().is_none(), "{mode}");
                one.script("SET SESSION wait_timeout = 1").await.unwrap();
                let ended = loop {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    if let Some(ended) = one.ended_idle() {
                        break ended;
                    }
                };
                assert_eq!(ended.class(), ErrorClass::Disconnected, "{mode}: {ended}");
                assert!(one.is_closed(), "{mode}");
            }
        });
    }

    /// A replica that reads from several servers applies changes as soon as one of its channels does.
    #[test]
    fn a_replica_with_several_channels_applies_what_one_of_them_brings() {
        let arguments = ["--server-id=7", "--log-bin=binlog"].map(str::to_owned).into();
        let server =
            MariadbServer::start(MariadbOptions { arguments, ..Default::default() }).unwrap();
        // Nobody listens there. The channel without a name is the first, and stays stopped.
        let statements = match server.is_mariadb() {
            true => [
                "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'u'",
                "CHANGE MASTER 'b' TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 2, MASTER_USER = 'u'",
                "START SLAVE 'b' SQL_THREAD",
            ],
            false => [
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1",
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 2 \
                 FOR CHANNEL 'b'",
                "START REPLICA SQL_THREAD FOR CHANNEL 'b'",
            ],
        };
        on_worker(async {
            let mut one = session(&server.url("mysql")).await;
            assert!(!one.node_status().await.unwrap().is_replicating);
            for statement in statements {
                server.run("mysql", statement).unwrap();
            }
            let is_replicating = async {
                while !one.node_status().await.unwrap().is_replicating {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), is_replicating).await.unwrap();
        });
    }

    #[test]
    fn a_node_that_left_its_galera_cluster_cannot_serve() {
        let provider = "/usr/lib/galera/libgalera_smm.so";
        // Without the package galera-4, and on MySQL, there is none.
        if !Path::new(provider).exists() || !MariadbServer::shared().is_mariadb() {
            return;
        }
        let group =
            std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let arguments = [
            "--wsrep-on=ON".to_owned(),
            format!("--wsrep-provider={provider}"),
            "--wsrep-cluster-address=gcomm://".to_owned(),
            format!("--wsrep-node-address=127.0.0.1:{group}"),
            format!(
                "--wsrep-provider-options=base_port={group};\
                 gmcast.listen_addr=tcp://127.0.0.1:{group}"
            ),
            "--binlog-format=ROW".to_owned(),
            "--innodb-autoinc-lock-mode=2".to_owned(),
        ];
        let options = MariadbOptions { arguments: arguments.to_vec(), ..Default::default() };
        let server = MariadbServer::start(options).unwrap();
        on_worker(async {
            let mut one = session(&server.url("mysql")).await;
            one.node_status().await.unwrap();
            one.script("SET GLOBAL wsrep_cluster_address = ''").await.unwrap();
            let asked = loop {
                match one.node_status().await {
                    Ok(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                    Err(error) => break error,
                }
            };
            assert!(asked.shows_no_service(), "{asked}");
            let mut other = session(&server.url("mysql")).await;
            let error = other.begin(Access::Write).await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::Unavailable, Some("1047")));
            assert!(error.shows_no_service(), "{error}");
            let error = rows_of(&mut one, "SELECT user FROM mysql.user").await.err().unwrap();
            assert_eq!(error.class(), ErrorClass::Unavailable, "{error}");
        });
    }

    #[test]
    fn behind_a_balancer_no_query_of_a_stranger_is_killed() {
        let servers =
            [MariadbServer::shared(), &MariadbServer::start(MariadbOptions::default()).unwrap()];
        // The first connection goes to one server, the later ones to the other.
        let balancer = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = balancer.local_addr().unwrap().port();
        let ports = servers.map(|server| server.port());
        std::thread::spawn(move || {
            for (place, incoming) in balancer.incoming().enumerate() {
                let to = std::net::TcpStream::connect(("127.0.0.1", ports[place.min(1)])).unwrap();
                let from = incoming.unwrap();
                for (mut from, mut to) in
                    [(from.try_clone().unwrap(), to.try_clone().unwrap()), (to, from)]
                {
                    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                }
            }
        });
        let (user, password) = (servers[0].user(), servers[0].password());
        let target =
            open(&format!("mysql://{user}:{password}@127.0.0.1:{port}/mysql?ssl-mode=DISABLED"));
        on_worker(async {
            let mut ours = target.connect(Role::User, 0).await.unwrap();
            let number = number_of(&mut ours, "SELECT connection_id()").await;
            // A stranger with the same number on the other server.
            let stranger = loop {
                let mut stranger = session(&servers[1].url("mysql")).await;
                let theirs = number_of(&mut stranger, "SELECT connection_id()").await;
                if theirs == number {
                    break Some(stranger);
                }
                if theirs > number {
                    break None;
                }
            };
            assert!(target.notes().is_empty());
            ours.canceller().cancel().await;
            assert!(target.notes()[0].contains("nothing was killed"), "{:?}", target.notes());
            assert_eq!(ours.canceller().is_at_work().await.unwrap(), None);
            if let Some(mut stranger) = stranger {
                assert_eq!(number_of(&mut stranger, "SELECT 1").await, 1);
            }
        });
    }

    #[test]
    fn a_call_given_up_half_way_ends_the_session() {
        let url = MariadbServer::shared().url("mysql");
        on_worker(async {
            let mut session = session(&url).await;
            let call = session.script("SELECT sleep(20)");
            assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
            assert!(session.is_closed(), "nobody can tell its answer from the next one's");
            let error = session.script("SELECT 1").await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected);
            session.canceller().cancel().await;
        });
    }

    #[test]
    fn a_server_that_stops_is_noticed_between_statements() {
        let mut server = MariadbServer::start(MariadbOptions::default()).unwrap();
        let url = server.url("mysql");
        on_worker(async {
            let mut session = session(&url).await;
            session.begin(Access::Write).await.unwrap();
            assert!(!session.is_closed());
            server.stop();
            // The runtime notices when it polls.
            while !session.is_closed() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let error = session.commit().await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected);
            assert!(!error.is_indeterminate(), "it was never sent");
            let error = refusal(&url).await;
            assert_eq!(error.class(), ErrorClass::Disconnected);
            server.restart().unwrap();
            super::session(&url).await;
        });
    }

    #[test]
    fn a_server_that_only_reads_says_so() {
        let server = MariadbServer::start(MariadbOptions::default()).unwrap();
        let plain = "CREATE USER plain@'%' IDENTIFIED BY 'p'; CREATE DATABASE d; CREATE TABLE d.t (a int); \
                     GRANT SELECT, INSERT ON d.* TO plain@'%'; SET GLOBAL read_only = 1";
        server.run("mysql", plain).unwrap();
        on_worker(async {
            let mut session =
                session(&format!("mysql://plain:p@127.0.0.1:{}/d", server.port())).await;
            let error = session.script("INSERT INTO t VALUES (1)").await.unwrap_err();
            assert_eq!((error.class(), error.code()), (ErrorClass::ReadOnly, Some("1290")));
            // A missing privilege is a different matter.
            let error = session.script("SELECT * FROM mysql.user").await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Other, "{error}");
        });
    }

    #[test]
    fn commits_and_rollbacks_are_counted() {
        let server = MariadbServer::start(MariadbOptions::default()).unwrap();
        on_worker(async {
            let mut session = session(&server.url("mysql")).await;
            let before = session.transaction_count().await.unwrap().unwrap();
            for _ in 0..3 {
                session.begin(Access::Write).await.unwrap();
                session.commit().await.unwrap();
            }
            session.begin(Access::Write).await.unwrap();
            session.rollback().await.unwrap();
            let after = session.transaction_count().await.unwrap().unwrap();
            assert_eq!(after - before, 4);
        });
    }

    #[test]
    fn settings_are_what_somebody_sets() {
        let arguments = vec!["--log-bin=log".to_owned(), "--server-id=1".to_owned()];
        let options = MariadbOptions { arguments, ..Default::default() };
        let server = MariadbServer::start(options).unwrap();
        on_worker(async {
            let mut session = session(&server.url("mysql")).await;
            let before = session.settings().await.unwrap();
            assert!(before.iter().any(|(name, _)| name == "innodb_buffer_pool_size"));
            session.script("CREATE TABLE kept (id int AUTO_INCREMENT PRIMARY KEY)").await.unwrap();
            session.script("INSERT INTO kept VALUES (NULL)").await.unwrap();
            assert_eq!(session.settings().await.unwrap(), before);
        });
    }

    #[test]
    fn claims_are_of_one_database() {
        let server = MariadbServer::shared();
        let urls = ["claims_a", "claims_b"].map(|name| server.fresh_database(name).unwrap());
        on_worker(async {
            let mut sessions = vec![];
            for url in &urls {
                let mut session = session(url).await;
                assert!(session.advisory_lock("it's", LockMode::Exclusive).await.unwrap());
                sessions.push(session);
            }
            assert!(
                !session(&urls[0]).await.advisory_lock("it's", LockMode::Shared).await.unwrap()
            );
        });
    }
}

mod loading {
    use super::*;

    static TABLE: LazyLock<TableDef> = LazyLock::new(|| {
        table(
            "t",
            [
                column("id", ColumnType::Int),
                column("amount", ColumnType::Decimal(2)),
                column("words", ColumnType::Text),
            ],
        )
    });
    const CREATE: &str =
        "CREATE TABLE t (id int PRIMARY KEY, amount decimal(9, 2), words varchar(20))";

    /// Generates rows with keys from `id`.
    fn rows(count: i64, id: impl Fn(i64) -> i64) -> impl FnMut(&mut Rows) -> bool {
        let mut next = 0;
        move |rows| {
            for _ in 0..700.min(count - next) {
                next += 1;
                rows.int(id(next));
                if next % 7 == 0 {
                    rows.null();
                } else {
                    rows.decimal(-next, 2);
                }
                rows.text("tab\t \\N\nnäh 🦀");
            }
            next < count
        }
    }

    async fn check(session: &mut MysqlSession, count: i64) {
        let sql = "SELECT count(*) FROM t WHERE words = concat('tab', char(9), ' \\N', char(10), 'näh 🦀')";
        assert_eq!(number_of(session, sql).await, count);
        let sum: i64 = (1..=count).filter(|n| n % 7 != 0).sum();
        let found = rows_of(session, "SELECT sum(amount) FROM t").await.unwrap();
        assert_eq!(found.row(0).decimal(0, 2).unwrap(), -sum);
    }

    #[test]
    fn a_server_that_takes_no_rows_of_clients_gets_inserts_and_that_is_said() {
        let options = MariadbOptions { local_infile: false, ..Default::default() };
        let server = MariadbServer::start(options).unwrap();
        let url = server.fresh_database("inserts").unwrap();
        on_worker(async {
            let database = open(&url);
            let mut session = database.connect(Role::Loader, 0).await.unwrap();
            session.script(CREATE).await.unwrap();
            session.begin(Access::Write).await.unwrap();
            assert_eq!(session.load(&TABLE, &mut rows(5_432, |n| n)).await.unwrap(), 5_432);
            session.commit().await.unwrap();
            assert!(database.loads_by_inserts());
            check(&mut session, 5_432).await;
            session.begin(Access::Write).await.unwrap();
            let error = session.load(&TABLE, &mut rows(10, |_| 7)).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Constraint, "{error}");
            session.rollback().await.unwrap();
            let large = i64::from(i32::MAX) + 1;
            let error = session.load(&TABLE, &mut rows(10, |_| large)).await.unwrap_err();
            assert!(error.message().contains(&large.to_string()), "{error}");
            check(&mut session, 5_432).await;
        });
    }

    #[test]
    fn what_the_server_would_only_warn_of_is_an_error() {
        let url = MariadbServer::shared().fresh_database("warnings").unwrap();
        on_worker(async {
            let database = open(&url);
            let mut session = database.connect(Role::Loader, 0).await.unwrap();
            session.script(CREATE).await.unwrap();
            session.begin(Access::Write).await.unwrap();
            assert_eq!(session.load(&TABLE, &mut rows(500, |n| n)).await.unwrap(), 500);
            assert!(!database.loads_by_inserts());
            check(&mut session, 500).await;
            session.rollback().await.unwrap();
            session.script("ALTER TABLE t MODIFY words varchar(5)").await.unwrap();
            session.begin(Access::Write).await.unwrap();
            let error = session.load(&TABLE, &mut rows(5, |n| n)).await.unwrap_err();
            assert!(error.message().contains("words"), "{error}");
            session.rollback().await.unwrap();
            session.script("DROP TABLE t").await.unwrap();
            let error = session.load(&TABLE, &mut rows(5, |n| n)).await.unwrap_err();
            assert_eq!(error.code(), Some("1146"), "{error}");
            assert_eq!(number_of(&mut session, "SELECT 1").await, 1);
        });
    }

    #[test]
    fn no_server_gets_a_file() {
        let url = MariadbServer::shared().fresh_database("files").unwrap();
        on_worker(async {
            let mut session = session(&url).await;
            session.script("CREATE TABLE t (line text)").await.unwrap();
            let asked = "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t";
            session.script(asked).await.unwrap();
            assert_eq!(number_of(&mut session, "SELECT count(*) FROM t").await, 0);
        });
    }
}
