//! What a client must not reach: secrets, files and sockets of the server's host, and connections
//! of others.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use triphammer_server::FixedTarget;

use crate::site::{BEARER, Site, TOKEN};

const SECRET: &str = "hunter2-of-the-owner";
/// Set in the child that [`alone`] starts.
const ALONE: &str = "TRIPHAMMER_TEST_ALONE";

/// Runs a test again in a separate process with the given environment; returns `false` in that
/// process.
fn alone(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let received = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && received.contains("1 passed"), "{done:?}");
    true
}

/// A server that requests PostgreSQL clients' plain-text passwords, and returns everything
/// received.
fn listening(answer: &'static [u8]) -> (u16, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = std::thread::spawn(move || {
        let mut received = Vec::new();
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let mut some = [0; 4096];
        // The start-up message, and then the client's reply.
        let length = stream.read(&mut some).unwrap();
        received.extend(&some[..length]);
        let _ = stream.write_all(answer);
        while let Ok(length @ 1..) = stream.read(&mut some) {
            received.extend(&some[..length]);
            if received.contains(&b'p') {
                break;
            }
        }
        received
    });
    (port, received)
}

/// AuthenticationCleartextPassword.
const ASK: &[u8] = b"R\0\0\0\x08\0\0\0\x03";

fn holds(received: &[u8], secret: &str) -> bool {
    received.windows(secret.len()).any(|some| some == secret.as_bytes())
}

#[test]
fn the_owners_passwords_go_to_no_server_that_a_client_names() {
    let home = tempfile::tempdir().unwrap();
    let pass = home.path().join(".pgpass");
    std::fs::write(&pass, format!("*:*:*:*:{SECRET}\n")).unwrap();
    #[cfg(unix)]
    {
        let owner_alone = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&pass, owner_alone).unwrap();
    }
    let variables = [
        ("HOME", home.path().to_str().unwrap()),
        ("PGPASSWORD", SECRET),
        ("PGPASSFILE", pass.to_str().unwrap()),
        ("PGUSER", SECRET),
        ("PGOPTIONS", SECRET),
        ("PGAPPNAME", SECRET),
        ("PGDATABASE", SECRET),
        ("MYSQL_PWD", SECRET),
        ("TRIPHAMMER_PASSWORD", SECRET),
    ];
    let test = "access::the_owners_passwords_go_to_no_server_that_a_client_names";
    if alone(test, &variables) {
        return;
    }
    let (port, received) = listening(ASK);
    let site = Site::start();
    for url in [
        format!("postgres://127.0.0.1:{port}?sslmode=disable"),
        format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable"),
    ] {
        site.target("theirs", &url);
    }
    let (status, error) = site.call("POST", "/api/v1/targets/theirs/test", &Value::Null);
    assert!(status >= 400, "{error}");
    drop(site);
    assert!(!holds(&received.join().unwrap(), SECRET));
}

#[test]
fn a_target_of_the_start_has_its_secrets_and_no_client_changes_it() {
    let variables = [("TRIPHAMMER_PASSWORD", "not this"), ("BENCH", SECRET)];
    if alone("access::a_target_of_the_start_has_its_secrets_and_no_client_changes_it", &variables) {
        return;
    }
    let (port, received) = listening(ASK);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("targets.toml");
    let text = format!(
        "[bench]\nurl = \"postgres://u@127.0.0.1:{port}/d?sslmode=disable\"\n\
         password-variable = \"BENCH\"\n[null]\nurl = \"null:\"\n"
    );
    std::fs::write(&file, text).unwrap();
    let site = Site::start_with(|config| config.targets = FixedTarget::read_all(&file).unwrap());
    let bench = site.get("/api/v1/targets/bench");
    assert_eq!((&bench["fixed"], &bench["has_password"]), (&json!(true), &json!(true)), "{bench}");
    for (method, body) in [("PUT", json!({ "url": "null:" })), ("DELETE", Value::Null)] {
        let (status, error) = site.call(method, "/api/v1/targets/bench", &body);
        assert_eq!(status, 409, "{error}");
    }
    let (status, _) = site.call("POST", "/api/v1/targets/bench/test", &Value::Null);
    assert!(status >= 400);
    assert!(holds(&received.join().unwrap(), SECRET));
    assert!(!site.received().contains(SECRET));
    site.done("run", "null", &json!({ "rampup": "0s", "duration": "1s", "vus": "1" }));
}

#[test]
fn a_file_of_targets_that_cannot_be_is_refused_without_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("targets.toml");
    for (text, words) in [
        ("hunter2", "line 1"),
        ("[a]\nurl = \"null:\"\npasword-file = \"hunter2\"\n", "targets.toml"),
        ("[a]\nurl = \"postgres:/u:hunter2@h/d\"\n", "[a]"),
        ("[a]\nurl = \"postgres://u@h/d?pwd=hunter2\"\n", "[a]"),
        ("[\"a/b\"]\nurl = \"null:\"\n", "[a/b]: a name must have"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = FixedTarget::read_all(&file).unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn urls_that_would_be_saved_with_a_secret_are_refused() {
    let site = Site::start();
    for url in [
        "postgres:/u:hunter2@h/d",
        "postgresql:u:hunter2@h/d",
        "postgres:///u:hunter2@h/d",
        "mysql:/u:hunter2@h/d",
        "mariadb:/u:hunter2@h/d",
        "sqlite:/u:hunter2@h/d",
        "sqlite://u:hunter2@/d",
        "null:/u:hunter2@h/d",
        "null://u:hunter2@h/d",
        "oracle://u:hunter2@h/d",
        "postgres://u@h/d?pwd=hunter2",
        "postgres://u@h/d?sslpassword=hunter2",
        "postgres://u@h/d?x=hunter2",
        "mysql://u@h/d?passwd=hunter2",
        "mysql://u@h/d?x=hunter2",
        "sqlite:a.db?key=hunter2",
        "null:?pass=hunter2",
    ] {
        let path = "/api/v1/targets/x";
        let (status, error) = site.call("PUT", path, &json!({ "url": url }));
        assert_eq!((status, &error["field"]), (422, &json!("url")), "{url}: {error}");
    }
    assert_eq!(site.get("/api/v1/targets"), json!({ "targets": [] }));
    assert!(!site.received().contains("hunter2"), "{}", site.received());
}

#[test]
fn no_file_of_the_host_is_read_or_shown() {
    let site = Site::start();
    let secret = site.file("secret.txt");
    std::fs::write(&secret, format!("{SECRET}\nrate,duration\n")).unwrap();
    let secret = secret.to_str().unwrap();
    site.target("null", "null:");
    for (command, name, value) in [
        ("run", "load", format!("steps:{secret}")),
        ("run", "load", format!(" steps:{secret}")),
        ("run", "password-file", secret.to_owned()),
        ("run", "job-file", secret.to_owned()),
        ("run", "series", secret.to_owned()),
        ("run", "junit", secret.to_owned()),
        ("check", "junit", secret.to_owned()),
        ("run", "otlp", "http://127.0.0.1:1".to_owned()),
        ("run", "otlp-ca", secret.to_owned()),
        ("run", "metrics-listen", "127.0.0.1:0".to_owned()),
        ("run", "store", secret.to_owned()),
        ("run", "replay-exemplar", "1:1".to_owned()),
        ("compare", "a", format!("load=steps:{secret}")),
        ("compare", "b", format!("vus=1, load=steps:{secret}")),
        ("compare", "a", format!("password-file={secret}")),
        ("compare", "b", format!("series={secret}")),
    ] {
        let form = json!({ "command": command, "target": "null", "settings": { name: value } });
        for path in ["/api/v1/preview", "/api/v1/activities"] {
            // The values of a run are read when it begins.
            if path.ends_with("activities") && value.contains("steps:") {
                continue;
            }
            let (status, error) = site.call("POST", path, &form);
            assert_eq!(status, 422, "{path} {form}: {error}");
        }
    }
    let before = std::fs::read_to_string(secret).unwrap();
    assert!(before.starts_with(SECRET));
    assert!(!site.received().contains(SECRET));
}

#[test]
fn a_label_with_what_steers_a_terminal_is_refused() {
    let site = Site::start();
    site.target("null", "null:");
    for label in ["a\0b", "\u{1b}[2J", "\u{9b}2J", "a\u{202e}b", "a\nb", &"x".repeat(201)] {
        let form = json!({ "command": "run", "target": "null", "settings": { "label": label } });
        for path in ["/api/v1/preview", "/api/v1/activities"] {
            let (status, error) = site.call("POST", path, &form);
            assert_eq!((status, &error["field"]), (422, &json!("label")), "{error}");
        }
        let (status, _) = site.call("PATCH", "/api/v1/jobs/1", &json!({ "label": label }));
        assert_eq!(status, 422);
    }
}

#[test]
fn sqlite_files_are_those_of_the_data_folder() {
    let site = Site::start();
    let outside = tempfile::tempdir().unwrap();
    let theirs = outside.path().join("theirs.db");
    for url in [
        format!("sqlite:{}", theirs.display()),
        format!("sqlite://{}", theirs.display()),
        "sqlite:../x.db".to_owned(),
        "sqlite:%2e%2e%2fx.db".to_owned(),
        format!("sqlite:file:{}", theirs.display()),
        format!("sqlite:file:{}%3Fmode=rwc", theirs.display()),
        "sqlite:file:x.db?vfs=unix".to_owned(),
        "sqlite:jobs.sqlite".to_owned(),
        "sqlite:.hidden".to_owned(),
    ] {
        let (status, error) = site.call("PUT", "/api/v1/targets/x", &json!({ "url": url }));
        assert_eq!((status, &error["field"]), (422, &json!("url")), "{url}: {error}");
    }
    site.target("mine", "sqlite:mine.db");
    let settings = json!({ "workload": "tpc-b", "scale": "1" });
    site.done("build", "mine", &settings);
    assert!(site.file("mine.db").is_file());
    // A symbolic link created later has no effect either.
    #[cfg(unix)]
    {
        std::fs::copy(site.file("mine.db"), &theirs).unwrap();
        std::fs::remove_file(site.file("mine.db")).unwrap();
        std::os::unix::fs::symlink(&theirs, site.file("mine.db")).unwrap();
        let form = json!({ "command": "drop", "target": "mine",
            "settings": { "workload": "tpc-b", "force": "true" } });
        let (status, error) = site.call("POST", "/api/v1/activities", &form);
        assert_eq!(status, 422, "{error}");
    }
}

#[test]
fn force_leaves_tables_that_only_share_a_name() {
    let site = Site::start();
    let file = site.file("shop.db");
    let shop = rusqlite::Connection::open(&file).unwrap();
    shop.execute_batch("CREATE TABLE orders (id, total); INSERT INTO orders VALUES (1, 2)")
        .unwrap();
    drop(shop);
    site.target("shop", "sqlite:shop.db");
    for command in ["drop", "build"] {
        let id = site.start_activity(command, "shop", &json!({ "force": "true" }));
        let ended = site.ended(id);
        assert_eq!(ended["state"], "failed", "{ended}");
        assert!(ended.to_string().contains("orders does not belong to TPROC-C"), "{ended}");
    }
    let shop = rusqlite::Connection::open(&file).unwrap();
    let total: i64 = shop.query_row("SELECT total FROM orders", [], |row| row.get(0)).unwrap();
    assert_eq!(total, 2);
}

#[test]
fn a_link_with_the_token_lets_a_browser_in_and_leaves_no_token() {
    let site = Site::start();
    let token = TOKEN.replace(' ', "%20");
    for path in ["/", "/some/page"] {
        let reply = site.bare("GET", &format!("{path}?token={token}"), &[], "");
        assert_eq!((reply.status, reply.header("location")), (303, Some(path)));
        let cookie = reply.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        let cookie = format!("cookie: {}", cookie.split(';').next().unwrap());
        assert_eq!(site.bare("GET", "/api/v1/about", &[&cookie], "").status, 200);
    }
    let away = site.bare("GET", &format!("//evil.example/?token={token}"), &[], "");
    assert_eq!(away.header("location"), Some("/evil.example/"));
    let wrong = site.bare("GET", "/?token=wrong", &[], "");
    assert_eq!((wrong.status, wrong.header("location")), (303, Some("/login")));
    assert_eq!(wrong.header("set-cookie"), None);
    let api = site.bare("GET", &format!("/api/v1/about?token={token}"), &[], "");
    assert_eq!(api.status, 401, "the interface takes no token from an address");
    assert!(!site.received().contains(TOKEN) && !site.received().contains(&token));
}

#[test]
fn readers_of_one_client_leave_places_to_others() {
    let site = Site::start_with(|config| {
        config.limits.connections = 40;
        config.limits.connections_per_client = 30;
        config.limits.streams_per_client = 5;
    });
    let ask = format!("GET /api/v1/events HTTP/1.1\r\nhost: {}\r\n{BEARER}\r\n\r\n", site.address);
    let status = |stream: &mut std::net::TcpStream| {
        let mut head = [0; 12];
        stream.read_exact(&mut head).map(|()| String::from_utf8_lossy(&head[9..]).into_owned())
    };
    let mut readers = Vec::new();
    for number in 0..20 {
        let mut stream = site.connect();
        stream.write_all(ask.as_bytes()).unwrap();
        let status = status(&mut stream).unwrap();
        assert_eq!(status, if number < 5 { "200" } else { "429" });
        readers.push(stream);
    }
    // Unauthenticated connections are closed for new ones, however many arrive.
    let idle: Vec<_> = (0..100).map(|_| site.connect()).collect();
    site.get("/api/v1/about");
    drop(idle);
    // A reader that disconnects frees its place at once.
    drop(readers.remove(0));
    let (again, tries) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let mut stream = site.connect();
                stream.write_all(ask.as_bytes()).unwrap();
                if status(&mut stream).is_ok_and(|status| status == "200") {
                    return again.send(()).unwrap();
                }
            }
        });
        tries.recv_timeout(std::time::Duration::from_secs(60)).expect("a place is free at once");
    });
}

#[test]
fn secrets_that_were_written_into_the_file_of_targets_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("jobs.sqlite");
    let saved: BTreeMap<&str, Value> = BTreeMap::from([
        ("a", json!({ "url": "postgres://u@h/d?pwd=hunter2", "password_file": "/etc/shadow" })),
        ("b", json!({ "url": "postgres:/u:hunter2@h/d", "password_variable": "HUNTER2" })),
    ]);
    let text = serde_json::to_string(&saved).unwrap();
    std::fs::write(store.with_extension("targets.json"), text).unwrap();
    let site = Site::start_with(|config| config.store = store);
    let targets = site.get("/api/v1/targets");
    assert_eq!(targets["targets"][0]["url"], "postgres://u@h/d", "{targets}");
    assert_eq!(targets["targets"].as_array().unwrap().len(), 1, "{targets}");
    assert!(!site.received().contains("hunter2") && !site.received().contains("shadow"));
}

/// A file of the owner beside the databases.
const OWNERS: &str = "owner.csv";

#[test]
fn a_clients_sql_opens_only_its_database() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(OWNERS), SECRET).unwrap();
    let targets = folder.path().join("targets.toml");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let fixed = format!(
        "[fixed-sqlite]\nurl = \"sqlite:{}\"\n[fixed-duckdb]\nurl = \"duckdb:{}\"\n\
         [fixed-odbc]\nurl = \"odbc:DSN=bench\"\n",
        path("f.sqlite"),
        path("f.duckdb")
    );
    std::fs::write(&targets, fixed).unwrap();
    let site = Site::start_with(|config| {
        config.allow_scripts = true;
        config.targets = FixedTarget::read_all(&targets).unwrap();
    });
    site.target("sqlite", "sqlite:a.sqlite");
    site.target("duckdb", "duckdb:a.duckdb");
    let scripts = |text: String| json!([{ "name": "a", "weight": 1, "text": text }]).to_string();
    let run = |target: &str, text: String| {
        let settings = json!({ "workload": "script", "vus": "1", "rampup": "0s",
            "transactions": "1", "max-failures": "100%", "script": scripts(text) });
        let id = site.start_activity("run", target, &settings);
        site.ended(id)
    };
    let tables = json!({ "workload": "kv", "scale": "1" });
    for target in ["sqlite", "duckdb", "fixed-sqlite", "fixed-duckdb"] {
        site.done("build", target, &tables);
    }
    let (out, owners, store) = (path("out"), path(OWNERS), site.file("jobs.sqlite"));
    let store = store.display();
    for target in ["duckdb", "fixed-duckdb"] {
        run(target, format!("COPY (SELECT 1) TO '{out}';\n"));
        run(target, format!("ATTACH '{out}' AS x;\n"));
        let read = run(target, format!("SELECT error(content) FROM read_text('{owners}');\n"));
        assert!(!read.to_string().contains(SECRET), "{read}");
    }
    let jobs = || site.get("/api/v1/jobs")["total"].as_u64().unwrap();
    for target in ["sqlite", "fixed-sqlite"] {
        run(target, format!("VACUUM INTO '{out}';\n"));
        let before = jobs();
        run(target, format!("ATTACH DATABASE '{store}' AS s;\nDELETE FROM s.jobs;\n"));
        let after = jobs();
        assert!(before >= 4 && after >= before, "all jobs are still stored: {before}, {after}");
    }
    assert!(!std::path::Path::new(&out).exists());
    assert!(!site.received().contains(SECRET));
    // Ordinary statements work.
    for target in ["sqlite", "duckdb", "fixed-sqlite", "fixed-duckdb"] {
        let ran = run(target, "SELECT count(*) FROM kv_store;\n".to_owned());
        assert_eq!((&ran["state"], &ran["good"]), (&json!("complete"), &json!(true)), "{ran}");
    }
    let form = json!({ "command": "run", "target": "fixed-odbc",
        "settings": { "workload": "script", "script": scripts("SELECT 1;".to_owned()) } });
    let (status, error) = site.call("POST", "/api/v1/activities", &form);
    assert_eq!(status, 422, "{error}");
    assert!(error.to_string().contains("no SQL of clients"), "{error}");
}
