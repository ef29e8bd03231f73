//! An application is recorded at the wire, and replayed on copies of its database: ids that the server made cross sessions.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::Value;
use triphammer_testbed::{PostgresClient, PostgresServer};

use crate::program::{Messages, Program, finish, signal};

/// Sessions of the shop, and orders that each takes.
const SESSIONS: usize = 4;
const ORDERS: i32 = 60;

/// Without autovacuum, which gathers statistics on one side of a comparison before the other: plans would differ.
const SCHEMA: &str = "
    CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL, price numeric(8, 2) NOT NULL)
        WITH (autovacuum_enabled = off);
    CREATE TABLE orders (id serial PRIMARY KEY, customer int NOT NULL, state text NOT NULL, changed timestamptz DEFAULT now())
        WITH (autovacuum_enabled = off);
    CREATE TABLE items (order_id int REFERENCES orders, product int REFERENCES products, quantity int NOT NULL)
        WITH (autovacuum_enabled = off);
    CREATE INDEX items_by_order ON items (order_id);
    INSERT INTO products SELECT n, 1000, n * 1.25 FROM generate_series(1, 20) n;
    CREATE FUNCTION vat(price numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT round(price * 0.19, 2)'";

/// Takes an order by literals and by arguments, as web frameworks do; returns its id.
fn order(session: &PostgresClient, customer: i32) -> i32 {
    session.text("BEGIN").unwrap();
    let sql =
        format!("INSERT INTO orders (customer, state) VALUES ({customer}, 'new') RETURNING id");
    let id: i32 = session.text(&sql).unwrap()[0][0].as_ref().unwrap().parse().unwrap();
    let mut products = [customer % 20 + 1, (customer + 7) % 20 + 1];
    products.sort_unstable();
    for product in products {
        let insert = "INSERT INTO items (order_id, product, quantity) VALUES ($1, $2, $3)";
        session.prepared(insert, &[id, product, 1 + product % 3]).unwrap();
        session
            .prepared("UPDATE products SET stock = stock - $1 WHERE id = $2", &[1, product])
            .unwrap();
    }
    session.text("COMMIT").unwrap();
    id
}

/// Another session pays the order, and looks at it.
fn pay(session: &PostgresClient, id: i32) {
    session
        .text(&format!("UPDATE orders SET state = 'paid', changed = now() WHERE id = {id}"))
        .unwrap();
    session
        .prepared("SELECT quantity FROM items WHERE order_id = $1 ORDER BY product", &[id])
        .unwrap();
    session
        .text(&format!(
            "SELECT o.id, o.state, p.id, vat(p.price) FROM orders o JOIN items i ON i.order_id = o.id JOIN products p ON \
             p.id = i.product WHERE o.id = {id} ORDER BY p.id"
        ))
        .unwrap();
}

/// Runs the shop: each session takes orders, and pays those of another.
fn shop(url: &str) {
    let (send, receive) = channel::<i32>();
    let receive = Mutex::new(receive);
    std::thread::scope(|scope| {
        for place in 0..SESSIONS {
            let (send, receive) = (send.clone(), &receive);
            scope.spawn(move || {
                let session = PostgresClient::open(url).unwrap();
                for number in 0..ORDERS {
                    let customer = number * 4 + i32::try_from(place).unwrap();
                    send.send(order(&session, customer)).unwrap();
                    let other = receive.lock().unwrap().recv().unwrap();
                    pay(&session, other);
                }
            });
        }
    });
}

/// Records what `work` does on this database through the proxy, whose URL it gets; returns the file.
pub fn record(program: &Program, target: &str, work: impl FnOnce(&str)) -> String {
    let file = program.path("shop.recording").display().to_string();
    let capture = ["capture", "--listen", "127.0.0.1:0", target, "-o", &file, "--drain", "1s"];
    let mut child = program.start(&capture);
    let address = RefCell::new(String::new());
    Messages::by(&mut child).wait_for_line("the address of the proxy", |line| {
        let found = line.split_once(" at ").and_then(|(_, rest)| rest.split(';').next());
        *address.borrow_mut() =
            found.filter(|at| at.starts_with("127.")).unwrap_or_default().into();
        !address.borrow().is_empty()
    });
    let address = address.into_inner();
    let (before, after) = target.split_once('@').unwrap();
    let database = &after[after.find('/').unwrap()..];
    work(&format!("{before}@{address}{database}"));
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 0, "{}", done.out);
    file
}

/// Replays the recording as fast as dependencies allow; the run ends with an exit code.
pub fn replay(program: &Program, target: &str, file: &str, code: i32) -> Value {
    let load = format!("replay:{file},speed=20x");
    let done = program.run(&["run", target, "--load", &load, "--json"]);
    assert_eq!(done.code, code, "{}{}", done.out, done.err);
    serde_json::from_str::<Value>(&done.out).unwrap()["replay"].clone()
}

pub fn number(answers: &Value, name: &str) -> u64 {
    answers[name].as_u64().unwrap_or_else(|| panic!("{name} of {answers:#}"))
}

#[test]
fn ids_that_the_server_made_are_replaced_within_and_across_sessions() {
    let server = PostgresServer::shared();
    let program = Program::new();
    let target = server.fresh_database("shop").unwrap();
    let name = target.rsplit('/').next().unwrap().to_owned();
    server.run(&name, SCHEMA).unwrap();
    let copies = ["same", "shifted", "changed"].map(|copy| {
        let copy = format!("{name}_{copy}");
        server.run("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {name}")).unwrap();
        copy
    });
    let file = record(&program, &target, shop);
    let url = |copy: &str| target.replace(&name, copy);
    let [same, shifted, changed] = &copies;

    let answers = replay(&program, &url(same), &file, 0);
    let sent = number(&answers, "sent");
    let orders = u64::try_from(ORDERS).unwrap() * SESSIONS as u64;
    assert_eq!(sent, orders * 8, "{answers:#}");
    assert_eq!(number(&answers, "succeeded"), sent, "{answers:#}");
    assert_eq!(number(&answers, "differing"), 0, "{answers:#}");
    assert_eq!(number(&answers["made"], "recorded"), orders);
    // Two items and three statements of the payment use each id.
    assert_eq!(number(&answers["made"], "replaced"), orders * 5);
    assert_eq!(number(&answers["made"], "missing"), 0);

    // All ids are others, as after a restore that did not reset the sequence.
    server.run(shifted, "SELECT setval('orders_id_seq', 100000)").unwrap();
    let answers = replay(&program, &url(shifted), &file, 0);
    assert_eq!(number(&answers, "succeeded"), sent, "{answers:#}");
    assert_eq!(number(&answers, "differing"), 0, "{answers:#}");
    let unpaid = "SELECT count(*)::text FROM orders WHERE state <> 'paid'";
    assert_eq!(server.run(shifted, unpaid).unwrap()[0][0].as_deref(), Some("0"));

    // A function returns other rows, and a product is missing.
    let sql = "CREATE OR REPLACE FUNCTION vat(price numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT \
               round(price * 0.07, 2)'; DELETE FROM products WHERE id = 3";
    server.run(changed, sql).unwrap();
    let answers = replay(&program, &url(changed), &file, 1);
    let of = |part: &str| {
        let mut statements = answers["statements"].as_array().unwrap().iter();
        statements.find(|one| one["text"].as_str().unwrap().contains(part)).cloned()
    };
    let vat = of("vat(").unwrap();
    let kinds: Vec<&str> = vat["divergences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"content"), "{answers:#}");
    let insert = of("INSERT INTO items").unwrap();
    assert_eq!(insert["divergences"][0]["kind"], "fails", "{answers:#}");
    assert_eq!(insert["examples"][0]["replayed"], "error 23503");
    let text = program.ok(&["report", "last"]);
    for part in ["Statements whose answers differ", "vat(", "fails now", "first at"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

/// Records the shop on a database of this name, after making the templates of both sides and what is replayed on; returns the
/// name of the database and the file.
fn recorded_sides(program: &Program, server: &PostgresServer, name: &str) -> (String, String) {
    let target = server.fresh_database(name).unwrap();
    let name = target.rsplit('/').next().unwrap().to_owned();
    server.run(&name, SCHEMA).unwrap();
    // Names in lower case, as the server keeps those without quotes.
    for side in ["a", "b"] {
        for copy in [format!("{name}_{side}"), format!("{name}_run_{side}")] {
            server.run("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {name}")).unwrap();
        }
    }
    let file = record(program, &target, shop);
    (name, file)
}

/// Replays on both sides in two pairs, each from a fresh copy of its template, with `sql` on that of B; returns the exit code
/// and the document.
fn compared(
    program: &Program,
    server: &PostgresServer,
    recorded: (&str, &str),
    sql: &str,
) -> (i32, Value) {
    compared_in(program, server, recorded, sql, "2")
}

/// The same in so many pairs.
fn compared_in(
    program: &Program,
    server: &PostgresServer,
    (name, file): (&str, &str),
    sql: &str,
    pairs: &str,
) -> (i32, Value) {
    let psql = PostgresServer::program("psql").display().to_string();
    let admin = server.url("postgres");
    let restore = format!(
        "cmd={psql} '{admin}' -q -c \"DROP DATABASE IF EXISTS {name}_run_$CELL_SIDE WITH (FORCE)\" -c \"CREATE DATABASE \
         {name}_run_$CELL_SIDE TEMPLATE {name}_$CELL_SIDE\" && \
         {{ [ $CELL_SIDE = A ] || {psql} '{b}' -q -c \"{sql}\"; }}",
        b = server.url(&format!("{name}_run_b")),
    );
    let [a, b] = ["a", "b"].map(|side| server.url(&format!("{name}_run_{side}")));
    let replay = format!("{file},speed=20x");
    let args = ["compare", "--replay", &replay, &a, &b, "--restore", &restore];
    let done =
        program.run(&[&args[..], &["--pairs", pairs, "--cool-down", "0s", "--json"]].concat());
    let document = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    (done.code, document)
}

#[test]
fn two_databases_are_compared_by_their_answers_to_one_recording() {
    let server = PostgresServer::shared();
    let program = Program::new();
    let (name, file) = recorded_sides(&program, server, "upgrade");
    let (code, same) = compared(&program, server, (&name, &file), "");
    assert_eq!(code, 0, "{same:#}");
    assert_eq!(number(&same["answers"], "differing"), 0, "{same:#}");
    assert!(number(&same["answers"], "compared") > 1000, "{same:#}");
    assert_eq!(same["primary_metric"]["name"], "mean statement time");
    assert!(same["speeds"].as_array().unwrap().len() >= 5, "{same:#}");
    assert_eq!(same["plans"].as_array().unwrap().len(), 0, "{same:#}");

    let sql = "CREATE OR REPLACE FUNCTION vat(price numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT \
               round(price * 0.07, 2)'";
    let (code, changed) = compared(&program, server, (&name, &file), sql);
    assert_eq!(code, 1, "{changed:#}");
    assert_eq!(changed["ending"]["flaw"], "answers_differ");
    let differing = changed["answers"]["statements"].as_array().unwrap();
    assert_eq!(differing.len(), 1, "{changed:#}");
    assert!(differing[0]["text"].as_str().unwrap().contains("vat("));
    assert_eq!(differing[0]["a"].as_array().unwrap().len(), 0, "A answers as recorded");
    assert_eq!(differing[0]["b"][0]["kind"], "content");
    let text = program.ok(&["report", "last"]);
    for part in
        ["Are the answers equal?", "no: ", "other rows", "as recorded", "mean statement time"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn few_answers_that_differ_need_more_pairs_where_sessions_work_at_the_same_time() {
    let server = PostgresServer::shared();
    let program = Program::new();
    let (name, file) = recorded_sides(&program, server, "chance");
    // For one product of twenty only.
    let sql = "CREATE OR REPLACE FUNCTION vat(price numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT round(price * \
               CASE WHEN price = 10 THEN 0.07 ELSE 0.19 END, 2)'";
    let (code, few) = compared_in(&program, server, (&name, &file), sql, "2");
    let answers = &few["answers"];
    assert!((1..60).contains(&number(answers, "differing")), "{answers:#}");
    assert_eq!((code, &answers["inconclusive"]), (0, &Value::Bool(true)), "{answers:#}");
    let text = program.ok(&["report", "last"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("inconclusive: ") && text.contains("--pairs 4 can tell"), "{text}");
    let (code, more) = compared_in(&program, server, (&name, &file), sql, "4");
    assert_eq!((code, &more["answers"]["inconclusive"]), (1, &Value::Bool(false)), "{more:#}");
}

#[test]
fn statements_whose_plans_differ_between_two_databases_are_named() {
    let server = PostgresServer::shared();
    let program = Program::new();
    let (name, file) = recorded_sides(&program, server, "plans");
    // Sequential scans only: a setting, and then an index that is missing.
    let setting = format!("ALTER DATABASE {name}_run_b SET enable_indexscan = off");
    let both = format!("{setting}; ALTER DATABASE {name}_run_b SET enable_bitmapscan = off");
    for sql in [both.as_str(), "DROP INDEX items_by_order"] {
        let (code, document) = compared(&program, server, (&name, &file), sql);
        assert_eq!(code, 0, "the answers are equal: {document:#}");
        let plans = document["plans"].as_array().unwrap();
        let text = |plan: &Value| plan["query"].as_str().unwrap().to_owned();
        let of = |plan: &Value, side: &str| plan[side]["operations"].to_string();
        let items = plans.iter().find(|plan| text(plan).starts_with("SELECT quantity FROM items"));
        let items = items.unwrap_or_else(|| panic!("{sql}: {document:#}"));
        assert!(of(items, "a").contains("items_by_order"), "{sql}: {items:#}");
        assert!(of(items, "b").contains("Seq Scan"), "{sql}: {items:#}");
        let report = program.ok(&["report", "last"]);
        assert!(report.contains("The plan of a statement changed: SELECT quantity"), "{report}");
    }
}
