//! An application that MariaDB's own client runs is recorded at the wire, and replayed on a copy of its database; then two
//! sides are compared that differ in a setting, an index and a function.

use std::ffi::OsStr;
use std::process::Command;

use serde_json::Value;
use triphammer_testbed::{MariadbOptions, MariadbServer};

use crate::program::Program;
use crate::replay::{number, record, replay};

/// Orders that the application takes.
const ORDERS: u64 = 40;

/// The application was written for a server that cuts texts that are too long, as MySQL 5.6 did.
const LENIENT: &str = "--sql-mode=NO_ENGINE_SUBSTITUTION";

const SCHEMA: &str = "
    CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL, price decimal(8, 2) NOT NULL);
    CREATE TABLE orders (id int AUTO_INCREMENT PRIMARY KEY, customer int NOT NULL, state varchar(4) NOT NULL);
    CREATE TABLE items (order_id int NOT NULL, product int NOT NULL, quantity int NOT NULL,
                        KEY items_by_order (order_id));
    INSERT INTO products SELECT seq, 1000, seq * 1.25 FROM seq_1_to_20;
    INSERT INTO items SELECT -seq, 1 + seq % 20, 1 FROM seq_1_to_2000;
    CREATE FUNCTION vat(price decimal(8, 2)) RETURNS decimal(8, 2) DETERMINISTIC RETURN round(price * 0.19, 2);";

/// Runs statements in a session of its own, and returns the last field.
pub fn session(url: &str, sql: &OsStr) -> String {
    let (user, rest) = url.split_once("://").unwrap().1.split_once('@').unwrap();
    let (user, password) = user.split_once(':').unwrap();
    let (address, database) = rest.split_once('/').unwrap();
    let (host, port) = address.rsplit_once(':').unwrap();
    let output = Command::new("mariadb")
        .args(["--no-defaults", "--batch", "--skip-column-names", "--protocol=tcp", "--skip-ssl"])
        .args([format!("--user={user}"), format!("--password={password}")])
        .args([format!("--host={host}"), format!("--port={port}")])
        .args(["--database", database, "--default-character-set=utf8mb4", "--execute"])
        .arg(sql)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {sql:?}", String::from_utf8_lossy(&output.stderr));
    let out = String::from_utf8(output.stdout).unwrap();
    out.split_whitespace().last().unwrap_or_default().to_owned()
}

/// One session takes an order, another one pays it by the ID that the server made. The state is a text that is too long.
fn shop(url: &str) {
    for customer in 0..ORDERS {
        let product = customer % 20 + 1;
        let order = format!(
            "BEGIN; INSERT INTO orders (customer, state) VALUES ({customer}, 'new'); \
             INSERT INTO items (order_id, product, quantity) VALUES (LAST_INSERT_ID(), {product}, 2); \
             UPDATE products SET stock = stock - 2 WHERE id = {product}; COMMIT; SELECT LAST_INSERT_ID()"
        );
        let id = session(url, order.as_ref());
        let payment = format!(
            "UPDATE orders SET state = 'paid in full' WHERE id = {id}; \
             SELECT i.quantity FROM items i WHERE i.order_id = {id}; \
             SELECT o.id, o.state, vat(p.price) FROM orders o JOIN items i ON i.order_id = o.id JOIN products p ON \
             p.id = i.product WHERE o.id = {id}"
        );
        session(url, payment.as_ref());
    }
}

/// Names of the statements whose answers differ.
fn differing(document: &Value) -> Vec<String> {
    let statements = document["answers"]["statements"].as_array().unwrap().iter();
    statements.map(|of| of["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_application_on_mariadb_is_replayed_and_each_planted_difference_is_named() {
    let options = MariadbOptions { arguments: vec![LENIENT.into()], ..MariadbOptions::default() };
    let server = MariadbServer::start(options).unwrap();
    let program = Program::new();
    let target = server.fresh_database("shop").unwrap();
    let name = target.rsplit('/').next().unwrap().to_owned();
    server.run(&name, SCHEMA).unwrap();
    let sides = ["a", "b"].map(|side| server.fresh_database(&format!("side_{side}")).unwrap());
    let file = record(&program, &target, shop);

    let copy = server.fresh_database("copy").unwrap();
    // The IDs are others, as after a restore by rows.
    let shifted = format!("{SCHEMA} ALTER TABLE orders AUTO_INCREMENT = 5000;");
    server.run(copy.rsplit('/').next().unwrap(), &shifted).unwrap();
    let answers = replay(&program, &copy, &file, 0);
    let sent = number(&answers, "sent");
    assert!(sent >= ORDERS * 7, "{answers:#}");
    assert_eq!(number(&answers, "succeeded"), sent, "{answers:#}");
    assert_eq!(number(&answers, "differing"), 0, "{answers:#}");
    assert_eq!(number(&answers["made"], "missing"), 0, "{answers:#}");
    let paid = "SELECT count(*) FROM orders WHERE state = 'paid'";
    let paid = server.run(copy.rsplit('/').next().unwrap(), paid).unwrap();
    assert_eq!(paid[0][0].as_deref(), Some(&*ORDERS.to_string()));

    let schema = program.path("schema.sql").display().to_string();
    std::fs::write(&schema, SCHEMA).unwrap();
    let compared = |sql: &str| {
        let names = sides.each_ref().map(|url| url.rsplit('/').next().unwrap());
        let client =
            format!("mariadb --no-defaults --user=root --socket={}", server.socket().display());
        let restore = format!(
            "cmd=set -e; side={a}; [ $CELL_SIDE = A ] || side={b}; {client} -e \"DROP DATABASE $side; CREATE DATABASE $side; \
             SET GLOBAL sql_mode = 'NO_ENGINE_SUBSTITUTION'\"; {client} $side < {schema}; \
             [ $CELL_SIDE = A ] || {client} $side -e \"{sql}\"",
            a = names[0],
            b = names[1],
        );
        let replay = format!("{file},speed=20x");
        let args = ["compare", "--replay", &replay, &sides[0], &sides[1], "--restore", &restore];
        let done =
            program.run(&[&args[..], &["--pairs", "2", "--cool-down", "0s", "--json"]].concat());
        let document: Value =
            serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
        (done.code, document)
    };

    let (code, same) = compared("DO 0");
    assert_eq!((code, number(&same["answers"], "differing")), (0, 0), "{same:#}");
    assert_eq!(same["plans"].as_array().unwrap().len(), 0, "{same:#}");

    let (code, strict) = compared("SET GLOBAL sql_mode = 'STRICT_TRANS_TABLES'");
    assert_eq!(code, 1, "{strict:#}");
    let named = differing(&strict);
    assert!(named.iter().any(|text| text.starts_with("UPDATE orders SET state")), "{named:?}");
    assert_eq!(strict["answers"]["statements"][0]["b"][0]["kind"], "fails", "{strict:#}");

    let vat = "DROP FUNCTION vat; CREATE FUNCTION vat(price decimal(8, 2)) RETURNS decimal(8, 2) DETERMINISTIC RETURN \
               round(price * 0.07, 2)";
    let (code, changed) = compared(vat);
    assert_eq!(code, 1, "{changed:#}");
    let named = differing(&changed);
    assert!(named.len() == 1 && named[0].contains("vat("), "{named:?}");

    let (code, slower) = compared("DROP INDEX items_by_order ON items");
    assert_eq!(code, 0, "the answers are equal: {slower:#}");
    let plans = slower["plans"].as_array().unwrap();
    let of_items = |plan: &&Value| plan["query"].as_str().unwrap().starts_with("SELECT i.quantity");
    let plan = plans.iter().find(of_items).unwrap_or_else(|| panic!("{slower:#}"));
    assert!(plan["a"]["operations"].to_string().contains("items_by_order"), "{plan:#}");
    assert!(!plan["b"]["operations"].to_string().contains("items_by_order"), "{plan:#}");
}
