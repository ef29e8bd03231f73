//! What frameworks send is recorded at the wire, and replayed where all ids are others: arrays of ids, functions of the session,
//! binary keys, and rows with ids of several tables.

use serde_json::Value as Json;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::sql::{BoundStatement, param};
use triphammer_core::{ColumnType, Rows, Value};
use triphammer_drivers::{AnyDatabase, AnySession, ConnectSettings};
use triphammer_testbed::{MariadbServer, PostgresClient, PostgresServer};

use crate::program::Program;
use crate::replay::{number, record, replay};
use crate::replay_mariadb::session;

/// Rows of each kind that the application makes.
const ROWS: i64 = 12;

/// A database with this schema, and a copy on which `shift` has run.
fn database_and_copy(prefix: &str, schema: &str, shift: &str) -> (String, String) {
    let server = PostgresServer::shared();
    let target = server.fresh_database(prefix).unwrap();
    let name = target.rsplit('/').next().unwrap().to_owned();
    server.run(&name, schema).unwrap();
    let copy = format!("{name}_copy");
    server.run("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {name}")).unwrap();
    server.run(&copy, shift).unwrap();
    (target.clone(), target.replace(&name, &copy))
}

/// Every statement of a replay succeeds and answers as recorded; returns what is known of its answers.
fn all_as_recorded(program: &Program, target: &str, file: &str) -> Json {
    let answers = replay(program, target, file, 0);
    let sent = number(&answers, "sent");
    assert!(sent > 0, "{answers:#}");
    assert_eq!(number(&answers, "succeeded"), sent, "{answers:#}");
    assert_eq!(number(&answers, "differing"), 0, "{answers:#}");
    assert_eq!(number(&answers["made"], "missing"), 0, "{answers:#}");
    answers
}

/// An id in the first field of the first row.
fn id(rows: &[Vec<Option<String>>]) -> i64 {
    rows[0][0].as_deref().unwrap().parse().unwrap()
}

#[test]
fn keys_that_are_those_of_another_table_are_replaced() {
    // As the tables of subclasses have it.
    let schema = "
        CREATE TABLE person (id bigserial PRIMARY KEY, name text NOT NULL);
        CREATE TABLE customer (id bigint PRIMARY KEY REFERENCES person, level int NOT NULL);
        CREATE TABLE visit (id bigserial PRIMARY KEY, note text NOT NULL)";
    let shift = "SELECT setval('person_id_seq', 1000), setval('visit_id_seq', 7000)";
    let (target, copy) = database_and_copy("subclasses", schema, shift);
    let program = Program::new();
    let file = record(&program, &target, |url| {
        let app = PostgresClient::open(url).unwrap();
        for n in 0..20_i32 {
            let insert = format!("INSERT INTO person (name) VALUES ('{n}') RETURNING id");
            let person = id(&app.text(&insert).unwrap());
            // Ids of another table that are the same numbers.
            app.text("INSERT INTO visit (note) VALUES ('x') RETURNING id").unwrap();
            app.bound("INSERT INTO customer (id, level) VALUES ($1, $2)", &[&person, &n]).unwrap();
            let level = "SELECT level::bigint FROM customer WHERE id = $1";
            assert_eq!(app.bound(level, &[&person]).unwrap(), [i64::from(n)]);
            let read = "SELECT c.id FROM customer c WHERE c.id = $1";
            assert_eq!(app.bound(read, &[&person]).unwrap(), [person]);
        }
    });
    all_as_recorded(&program, &copy, &file);
}

#[test]
fn literals_keep_their_types_and_tables_are_truncated() {
    let schema = "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (3)";
    let (target, copy) = database_and_copy("literals", schema, "SELECT 1");
    let program = Program::new();
    let work = |url: &str| {
        let session = PostgresClient::open(url).unwrap();
        // Two values each: what never varies stays a literal.
        for n in [3, 4] {
            for sql in [
                format!("SELECT substring('abcdef', {n})"),
                format!("SELECT '[10, 20, 30, 40, 50]'::jsonb -> {n}"),
                format!("SELECT greatest({n}0, 9), {n}0 > 9"),
                format!("SELECT max(x) FROM (VALUES ({n}0), (9)) v (x)"),
                "BEGIN".to_owned(),
                "TRUNCATE t".to_owned(),
                "SET CONSTRAINTS ALL IMMEDIATE".to_owned(),
                "INSERT INTO t VALUES (3)".to_owned(),
                "COMMIT".to_owned(),
            ] {
                session.text(&sql).unwrap();
            }
        }
    };
    let file = record(&program, &target, work);
    let answers = all_as_recorded(&program, &copy, &file);
    assert_eq!(number(&answers, "sent"), 14, "{answers:#}");
}

#[test]
fn ids_in_arrays_are_replaced() {
    let schema = "
        CREATE TABLE author (id bigserial PRIMARY KEY, name text NOT NULL);
        CREATE TABLE book (id bigserial PRIMARY KEY, author_id bigint NOT NULL REFERENCES author, pages int NOT NULL);
        CREATE TABLE file (name bytea PRIMARY KEY, n int NOT NULL);
        CREATE TABLE token (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), used int NOT NULL)";
    let shift = "SELECT setval('author_id_seq', 1000), setval('book_id_seq', 5000)";
    let (target, copy) = database_and_copy("arrays", schema, shift);
    let program = Program::new();
    let file = record(&program, &target, |url| {
        let app = PostgresClient::open(url).unwrap();
        let other = PostgresClient::open(url).unwrap();
        let author = |n| {
            id(&app
                .text(&format!("INSERT INTO author (name) VALUES ('author {n}') RETURNING id"))
                .unwrap())
        };
        let authors: Vec<i64> = (0..ROWS).map(author).collect();
        let pages: Vec<i32> = (0..12).collect();
        // As Django does it, by arguments of the protocol and by literals.
        let insert = "INSERT INTO book (author_id, pages) SELECT * FROM UNNEST(($1)::bigint[], ($2)::int[]) RETURNING id";
        let mut books = other.bound(insert, &[&authors, &pages]).unwrap();
        let list = |ids: &[i64]| {
            format!("{{{}}}", ids.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        };
        let more = other.text(&format!(
            "INSERT INTO \"book\" (\"author_id\", \"pages\") SELECT * FROM UNNEST(('{}')::bigint[], ('{{100,101}}')::integer[]) \
             RETURNING \"book\".\"id\"",
            list(&authors[..2])
        ));
        books.extend(
            more.unwrap().iter().map(|row| row[0].as_deref().unwrap().parse::<i64>().unwrap()),
        );
        let any = "SELECT pages::bigint FROM book WHERE id = ANY($1) ORDER BY pages";
        assert_eq!(app.bound(any, &[&books]).unwrap().len(), 14);
        for some in books.chunks(3) {
            app.bound(any, &[&some]).unwrap();
        }
        let by_literal =
            format!("SELECT count(*) FROM book b WHERE b.author_id = ANY('{}')", list(&authors));
        assert_eq!(app.text(&by_literal).unwrap()[0][0].as_deref(), Some("14"));
        let array = format!(
            "UPDATE book SET pages = pages + 1 WHERE id = ANY(ARRAY[{}, {}])",
            books[0], books[1]
        );
        app.text(&array).unwrap();
        // Bytes that are no text, as a key.
        for n in 0..3_u8 {
            let name: Vec<u8> = vec![0xff, n, 0, b'\\'];
            app.bound("INSERT INTO file (name, n) VALUES ($1, $2)", &[&name, &i32::from(n)])
                .unwrap();
            let found = app.bound("SELECT n::bigint FROM file WHERE name = $1", &[&name]).unwrap();
            assert_eq!(found, [i64::from(n)]);
        }
        // The client makes these: they stay as they are.
        app.bound("SELECT n FROM unnest($1::bigint[]) n ORDER BY n", &[&vec![1_i64, 2, 3]])
            .unwrap();
        let token = || {
            app.text("INSERT INTO token (used) VALUES (0) RETURNING id").unwrap()[0][0]
                .clone()
                .unwrap()
        };
        let tokens: Vec<String> = (0..3).map(|_| token()).collect();
        let used = other.bound(
            "UPDATE token SET used = used + 1 WHERE id = ANY(($1::text[])::uuid[]) RETURNING used::bigint",
            &[&tokens],
        );
        assert_eq!(used.unwrap(), [1, 1, 1]);
    });
    let answers = all_as_recorded(&program, &copy, &file);
    assert!(number(&answers["made"], "replaced") >= 50, "{answers:#}");
    let books = "SELECT count(*)::text FROM book WHERE id <= 5000 OR author_id <= 1000";
    let rows = PostgresServer::shared().run(copy.rsplit('/').next().unwrap(), books).unwrap();
    assert_eq!(rows[0][0].as_deref(), Some("0"));
}

#[test]
fn rows_with_ids_of_several_tables_are_compared_by_the_tables_of_their_columns() {
    let schema = "
        CREATE TABLE a (id serial PRIMARY KEY, n int NOT NULL);
        CREATE TABLE b (id serial PRIMARY KEY, a_id int NOT NULL REFERENCES a, n int NOT NULL)";
    // Each id of one table is one that the other has made in the recording.
    let shift = "SELECT setval('a_id_seq', 5), setval('b_id_seq', 9)";
    let (target, copy) = database_and_copy("meeting", schema, shift);
    let program = Program::new();
    let file = record(&program, &target, |url| {
        let app = PostgresClient::open(url).unwrap();
        for n in 0..20 {
            let a = id(&app.text(&format!("INSERT INTO a (n) VALUES ({n}) RETURNING id")).unwrap());
            let insert = format!("INSERT INTO b (a_id, n) VALUES ({a}, {n}) RETURNING id");
            let b = id(&app.text(&insert).unwrap());
            for sql in [
                format!(
                    "SELECT a.id, b.id, b.a_id, b.n FROM a JOIN b ON b.a_id = a.id WHERE b.id = {b}"
                ),
                format!("SELECT * FROM b JOIN a ON a.id = b.a_id WHERE a.id = {a}"),
                format!(
                    "SELECT x.id AS n, y.id AS a_id, 7 AS id FROM b x, a y WHERE y.id = {a} AND x.id = {b}"
                ),
            ] {
                assert_eq!(app.text(&sql).unwrap().len(), 1);
            }
        }
        app.text("SELECT * FROM a JOIN b ON b.a_id = a.id ORDER BY a.id").unwrap();
    });
    all_as_recorded(&program, &copy, &file);
}

#[test]
fn functions_of_the_session_are_replayed_with_what_follows_them_in_a_message() {
    let schema = "CREATE TABLE users (id serial PRIMARY KEY, name text NOT NULL UNIQUE, visits int NOT NULL DEFAULT 0)";
    let (target, copy) = database_and_copy("session", schema, "SELECT setval('users_id_seq', 700)");
    let program = Program::new();
    let count = 15;
    let file = record(&program, &target, |url| {
        let app = PostgresClient::open(url).unwrap();
        for n in 0..count {
            // Sequelize's findOrCreate: in one message, the last line.
            app.text("START TRANSACTION").unwrap();
            app.text(&format!("SELECT id FROM users WHERE name = 'user {n}'")).unwrap();
            let rows = app.text(&format!(
                "CREATE OR REPLACE FUNCTION pg_temp.testfunc(OUT response \"users\", OUT sequelize_caught_exception text) \
                 RETURNS RECORD AS $func_{n:032x}$ BEGIN INSERT INTO \"users\" (\"name\") VALUES ('user {n}') RETURNING * INTO \
                 response; EXCEPTION WHEN unique_violation THEN GET STACKED DIAGNOSTICS sequelize_caught_exception = \
                 PG_EXCEPTION_DETAIL; END $func_{n:032x}$ LANGUAGE plpgsql; SELECT (testfunc.response).\"id\", \
                 (testfunc.response).\"name\", testfunc.sequelize_caught_exception FROM pg_temp.testfunc(); DROP FUNCTION IF \
                 EXISTS pg_temp.testfunc();"
            ));
            let user = id(&rows.unwrap());
            app.text("COMMIT").unwrap();
            app.text(&format!("UPDATE users SET visits = visits + 1 WHERE id = {user}")).unwrap();
        }
    });
    let answers = all_as_recorded(&program, &copy, &file);
    assert_eq!(number(&answers, "sent"), count * 5, "{answers:#}");
    assert_eq!(number(&answers["made"], "replaced"), count, "{answers:#}");
    let visited = "SELECT count(*)::text FROM users WHERE id > 700 AND visits = 1";
    let rows = PostgresServer::shared().run(copy.rsplit('/').next().unwrap(), visited).unwrap();
    assert_eq!(rows[0][0].as_deref(), Some("15"));
}

#[test]
fn data_that_has_the_changes_already_is_not_called_older() {
    let schema = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)";
    let (target, copy) = database_and_copy("again", schema, "SELECT 1");
    let program = Program::new();
    let file = record(&program, &target, |url| {
        let app = PostgresClient::open(url).unwrap();
        (0..10).for_each(|n| drop(app.text(&format!("INSERT INTO t VALUES ({n}, 0)")).unwrap()));
        (0..10).for_each(|n| drop(app.text(&format!("SELECT n FROM t WHERE id = {n}")).unwrap()));
    });
    all_as_recorded(&program, &copy, &file);
    let again = replay(&program, &copy, &file, 1);
    assert_eq!((number(&again, "duplicates"), number(&again, "found_nothing")), (10, 0));
    let text = program.ok(&["report", "last"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("10 statements (50 %) failed because a row with the same key exists"),
        "{text}"
    );
    assert!(text.contains("may be newer") && !text.contains("older"), "{text}");
    PostgresServer::shared().run(copy.rsplit('/').next().unwrap(), "TRUNCATE t").unwrap();
    program.run(&["run", &copy, "--load", &format!("replay:{file},speed=20x")]);
    let text = program.ok(&["report", "last"]);
    assert!(!text.contains("older") && !text.contains("newer"), "{text}");
}

#[test]
fn a_load_without_times_has_the_sessions_of_the_recording() {
    let (target, copy) = database_and_copy("closed", "CREATE TABLE t (id int)", "SELECT 1");
    let program = Program::new();
    let file = record(&program, &target, |url| {
        let sessions: Vec<_> = (0..5).map(|_| PostgresClient::open(url).unwrap()).collect();
        for n in 0..10 {
            for app in &sessions {
                app.text(&format!("INSERT INTO t VALUES ({n})")).unwrap();
            }
        }
    });
    let run = |more: &[&str]| {
        let args = ["run", &copy, "-w", "replay", "--recording", &file, "--load", "closed"];
        program.json(&[&args[..], more].concat())
    };
    let done = run(&[]);
    assert_eq!(
        (done["spec"]["users"].as_u64(), number(&done["replay"], "sent")),
        (Some(5), 50),
        "{done:#}"
    );
    assert_eq!(run(&["--vus", "2"])["spec"]["users"].as_u64(), Some(2));
}

/// Runs a statement with these arguments by MySQL's binary protocol.
async fn execute(app: &mut AnySession, sql: &str, args: &[Value<'_>]) -> usize {
    let params = args.iter().map(|_| param("p", ColumnType::Text)).collect();
    let order = (0..args.len()).collect();
    let statement = BoundStatement { name: "test".into(), sql: sql.into(), params, order };
    let id = app.prepare(&statement).await.unwrap();
    let mut rows = Rows::as_texts();
    app.query(id, args, &mut rows).await.unwrap();
    rows.len()
}

#[test]
fn binary_keys_are_replayed_whichever_way_they_were_sent() {
    let server = MariadbServer::shared();
    let schema = "CREATE TABLE t (id binary(16) PRIMARY KEY, n int NOT NULL, data blob NOT NULL)";
    let [target, copy] = ["keys", "keys_copy"].map(|name| server.fresh_database(name).unwrap());
    for url in [&target, &copy] {
        server.run(url.rsplit('/').next().unwrap(), schema).unwrap();
    }
    let program = Program::new();
    let key = |n: u8| [n, 0xff, 0, b'\'', b'\\', 0x80, n, n, n, n, n, n, n, n, n, 0xfe];
    let file = record(&program, &target, |url| {
        let database = AnyDatabase::open(url, &ConnectSettings::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            database.identify().await.unwrap();
            let mut app = database.connect(Role::Loader, 0).await.unwrap();
            for n in 0..20 {
                let (key, data) = (key(n), [0xc3; 300]);
                let args = [Value::Bytes(&key), Value::Int(n.into()), Value::Bytes(&data)];
                execute(&mut app, "INSERT INTO t (id, n, data) VALUES (?, ?, ?)", &args).await;
                let select = "SELECT n, data FROM t WHERE id = ?";
                assert_eq!(execute(&mut app, select, &args[..1]).await, 1);
            }
            app.close().await;
        });
        // In the text, as PyMySQL writes it.
        let mut text = b"UPDATE t SET n = n + 100 WHERE id = _binary'".to_vec();
        for byte in key(7) {
            match byte {
                0 => text.extend(b"\\0"),
                b'\'' | b'\\' => text.extend([b'\\', byte]),
                other => text.push(other),
            }
        }
        text.push(b'\'');
        session(url, std::os::unix::ffi::OsStrExt::from_bytes(text.as_slice()));
    });
    let answers = all_as_recorded(&program, &copy, &file);
    assert!(number(&answers, "sent") >= 41, "{answers:#}");
    let changed = "SELECT group_concat(n) FROM t WHERE n > 100 AND length(data) = 300";
    let rows = server.run(copy.rsplit('/').next().unwrap(), changed).unwrap();
    assert_eq!(rows[0][0].as_deref(), Some("107"));
}

/// Rounds of two sessions whose foreign key has a column of this name: one inserts an order and an item, and then the other
/// changes the product of the item and reads the order. In a replay without times, the other one is first.
fn rounds(column: &str) -> (Program, Json) {
    let server = MariadbServer::shared();
    let schema = format!(
        "CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL);
         CREATE TABLE orders (id int PRIMARY KEY, state int NOT NULL);
         CREATE TABLE items ({column} int NOT NULL, FOREIGN KEY ({column}) REFERENCES products (id));
         INSERT INTO products VALUES (1, 100)"
    );
    let [target, copy] = ["locks", "locks_copy"].map(|name| server.fresh_database(name).unwrap());
    for url in [&target, &copy] {
        server.run(url.rsplit('/').next().unwrap(), &schema).unwrap();
    }
    let program = Program::new();
    let file = record(&program, &target, |url| {
        std::thread::scope(|scope| {
            // DO is no statement of a recording: its pauses are left out of the replay.
            let round = |n: i32| {
                format!(
                    "BEGIN; SELECT SLEEP(0.2); INSERT INTO orders (id, state) VALUES ({n}, 0); INSERT INTO items ({column}) VALUES \
                     (1); COMMIT; DO SLEEP(0.6);"
                )
            };
            let first: String = (0..3).map(round).collect();
            scope.spawn(move || session(url, first.as_ref()));
            let round = |n: i32| {
                format!(
                    "DO SLEEP(0.5); BEGIN; UPDATE products SET stock = stock - 1 WHERE id = 1; SELECT state FROM orders WHERE id = \
                     {n}; COMMIT; DO SLEEP(0.3);"
                )
            };
            let second: String = (0..3).map(round).collect();
            session(url, format!("SELECT 1; {second}").as_ref());
        });
    });
    let args = ["run", &copy, "-w", "replay", "--recording", &file, "--load", "closed", "--json"];
    let done = program.run(&args);
    let document: Json = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    (program, document["replay"].clone())
}

#[test]
fn waits_for_a_transaction_that_waits_for_a_lock_end_early() {
    let (program, answers) = rounds("thing");
    // Each of the three would last ten seconds.
    assert!(answers["order"]["waited_s"].as_f64().unwrap() < 5.0, "{answers:#}");
    assert!(number(&answers["order"], "in_vain") > 0, "{answers:#}");
    assert_eq!(number(&answers["order"], "timed_out"), 0, "{answers:#}");
    let text = program.ok(&["report", "last"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("ended early, because the transaction waited for this one"), "{text}");
}

#[test]
fn rows_that_a_foreign_key_refers_to_are_changed_in_the_recorded_order() {
    let (_program, answers) = rounds("product_id");
    assert_eq!(number(&answers["order"], "in_vain"), 0, "{answers:#}");
    assert_eq!(number(&answers, "differing"), 0, "{answers:#}");
}
