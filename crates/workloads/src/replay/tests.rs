//! Replays on the null database, in virtual time.

use std::time::Duration;

use triphammer_core::workload::{Workload as _, WorkloadSettings};

use serde_json::json;
use triphammer_capture::recording::{Recording, read};

use super::Replay;
use super::plan::{OrderRule, Plan};
use super::progress::ENDED;

const HEAD: &str = "{\"triphammer_recording\": 1, \"from\": \"csvlog\", \"started\": \"x\"}\n\
    {\"statement\": 0, \"sql\": \"UPDATE t SET a = :p1 WHERE id = :p2\", \"literals\": [1, 2]}\n\
    {\"statement\": 4, \"sql\": \"SELECT a FROM t WHERE id = :p1\", \"literals\": []}\n";

/// The workload of these lines, at a speed.
fn replay(lines: &str, speed: &str) -> (tempfile::TempDir, Replay) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.recording");
    let count = lines.lines().count();
    std::fs::write(&file, format!("{HEAD}{lines}{{\"transactions\": {count}}}\n")).unwrap();
    let value = format!("{},speed={speed}", file.display());
    let options = [("recording".to_owned(), value)].into();
    let settings = WorkloadSettings { options, ..WorkloadSettings::default() };
    (folder, Replay::new(&settings).unwrap())
}

const LINES: &str = "[7, 1000000, \"commit\", [[0, 0, [5, 1]], [4, 2000, [1]]], 3000]\n\
    [7, 2000000, \"single\", [[4, 0, [2]]], 0]\n\
    [9, 500000, \"rollback\", [[0, 0, [5, 3]], [0, 0, [5, 4]]], 0]\n\
    [7, 4500000, \"single\", [[4, 0, [3]]], 0]\n";

#[test]
fn sessions_and_times_are_those_of_the_recording() {
    let (_folder, replay) = replay(LINES, "2x");
    let recording = replay.description().recording.clone().unwrap();
    assert_eq!((recording.sessions, recording.transactions), (1, 4), "they did not overlap");
    assert_eq!(*recording.due, [3, 0, 1], "the first begins at 0, and the speed is 2");
    let mut rng = triphammer_core::random::Rng::of(1, &[]);
    let mut seen = Vec::new();
    for id in 0..2 {
        let mut user = replay.user(id, 2, &mut rng);
        while let Some(kind) = replay.next(&mut user, &mut rng) {
            let name = replay.description().transactions[kind].name.to_string();
            seen.push((id, name, replay.due(&user).duration()));
        }
    }
    let at = |id, name: &str, ms| (id, name.to_owned(), Duration::from_millis(ms));
    assert_eq!(
        seen,
        [
            at(0, "update_t_rolled_back", 0),
            at(1, "update_t", 250),
            at(1, "select_t", 750),
            at(1, "select_t", 2000),
        ]
    );
}

#[test]
fn fewer_sessions_share_the_recorded_ones() {
    let (_folder, replay) = replay(LINES, "1x");
    let lanes = replay.plan.lanes(1);
    let starts: Vec<i64> =
        lanes[0].iter().map(|index| replay.plan.transaction(*index).start_us).collect();
    assert_eq!(starts, [0, 500_000, 1_500_000, 4_000_000]);
    let more: Vec<usize> = replay.plan.lanes(3).iter().map(|lane| lane.len()).collect();
    assert_eq!(more, [1, 3, 0]);
}

#[test]
fn literals_that_never_vary_are_in_the_sql() {
    let (_folder, replay) = replay(LINES, "1x");
    assert_eq!(
        *replay.plan.titles,
        ["UPDATE t SET a = 5 WHERE id = :p2", "SELECT a FROM t WHERE id = :p1"]
    );
}

#[test]
fn a_file_that_is_no_recording_is_named() {
    let new = |value: &str| {
        let options = [("recording".to_owned(), value.to_owned())].into();
        Replay::new(&WorkloadSettings { options, ..WorkloadSettings::default() })
            .unwrap_err()
            .to_string()
    };
    assert!(new("").contains("no recording is given"));
    assert!(new("nowhere.recording").contains("the recording nowhere.recording: No such file"));
    assert!(new("/").contains("not a regular file"));
    assert!(new("x,speed=0").contains("invalid replay"));
}

#[test]
fn statements_are_read_as_the_database_of_the_log_writes_them() {
    let recording = |from: &str| {
        let text = format!(
            "{{\"triphammer_recording\": 1, \"from\": \"{from}\"}}\n{}\n\
             [0, 0, \"single\", [[0, 0, [5]]], 0]\n{{\"transactions\": 1}}\n",
            r#"{"statement": 0, "sql": "SELECT _utf8mb4'it\\'s', :p1", "literals": []}"#
        );
        read(text.as_bytes()).unwrap()
    };
    let plan = Plan::new(recording("slow-log").into(), OrderRule::Alone).unwrap();
    assert_eq!(plan.statements[0].part.variables().count(), 1);
    let error = Plan::new(recording("csvlog").into(), OrderRule::Alone).unwrap_err();
    assert!(error.to_string().contains("the quotation ' has no end"), "{error}");
}

/// Transactions of single statements, each with its session, start in µs, statement, arguments and what the server made.
fn recording(statements: &[&str], lines: &[(usize, u64, usize, &str, &str)]) -> Recording {
    let mut text = String::from("{\"triphammer_recording\": 1, \"from\": \"wire-postgres\"}\n");
    for (number, sql) in statements.iter().enumerate() {
        let line = json!({ "statement": number, "sql": sql, "literals": [] });
        text.push_str(&format!("{line}\n"));
    }
    for (session, at_us, statement, arguments, made) in lines {
        let (made, us) = made.split_once(", \"us\": ").unwrap_or((made, "10"));
        let answer = format!("{{\"rows\": 1, \"made\": [{made}], \"us\": {us}}}");
        let step = format!("[{statement}, 0, [{arguments}], {answer}]");
        text.push_str(&format!("[{session}, {at_us}, \"single\", [{step}], 0]\n"));
    }
    text.push_str(&format!("{{\"transactions\": {}}}\n", lines.len()));
    read(text.as_bytes()).unwrap()
}

#[test]
fn an_argument_uses_made_values_by_its_name_or_because_it_never_meets_one_too_early() {
    let statements = [
        "INSERT INTO orders (customer) VALUES (:p1) RETURNING id",
        "UPDATE orders SET state = 1 WHERE id = :p1",
        "INSERT INTO items (order_id, quantity) VALUES (:p1, :p2) RETURNING id",
        "SELECT log(:p1)",
        "UPDATE stock SET quantity = quantity - :p1, reserved = :p2",
    ];
    let mut lines = vec![(0, 0, 2, "40, 9", "")];
    let ids = ["7", "8", "9", "10", "11", "12", "13", "14", "15", "16"];
    let made = ["[7]", "[8]", "[9]", "[10]", "[11]", "[12]", "[13]", "[14]", "[15]", "[16]"];
    lines.extend((100..).step_by(100).zip(made).map(|(at, made)| (0, at, 0, "7", made)));
    lines.extend([(1, 2_000, 1, "7", ""), (1, 2_100, 2, "8, 7", "[8]"), (1, 2_200, 4, "7, 8", "")]);
    lines.extend((2_300..).step_by(100).zip(ids).map(|(at, id)| (1, at, 3, id, "")));
    let plan = Plan::new(recording(&statements, &lines).into(), OrderRule::Alone).unwrap();
    let uses = |statement, argument| !plan.ids.used(statement, argument).is_empty();
    assert!(uses(1, 0), "the same column");
    assert!(uses(2, 0), "a column that refers to it");
    assert!(!uses(2, 1), "the quantity was 9 before there was an order 9");
    assert!(!uses(0, 0), "one value only");
    assert!(!uses(4, 0) && !uses(4, 1), "few values, by chance");
    assert!(uses(3, 0), "ten values, each after it was made");
    assert_eq!(plan.ids.count(), 11);
    // The item that the statement makes has the number of the order.
    let spot = plan.spot(12, 0);
    assert_eq!(plan.ids.makers(spot.number, spot.step), [2], "that order's transaction");
}

#[test]
fn transactions_that_conflict_keep_the_order_of_their_commits() {
    let statements = [
        "UPDATE t SET a = a + 1 WHERE id = :p1",
        "SELECT a FROM t WHERE id = :p1",
        "SELECT b FROM u WHERE id = :p1",
        "INSERT INTO t (id, a) VALUES (:p1, 0)",
    ];
    let lines = [
        (0, 0, 0, "1", ""),
        (1, 100, 1, "1", ""),
        (2, 200, 1, "1", ""),
        (3, 300, 0, "1", ""),
        (4, 400, 0, "2", ""),
        (5, 500, 2, "1", ""),
        (6, 600, 3, "3", ""),
        (7, 700, 1, "3", ""),
        // Begins before the last has ended.
        (8, 705, 0, "3", ""),
        // Both wait for a row, and the one that began later has it first.
        (9, 800, 0, "4", ", \"us\": 90"),
        (10, 850, 0, "4", ""),
    ];
    let recording = recording(&statements, &lines);
    let plan = Plan::new(recording.clone().into(), OrderRule::Commit).unwrap();
    let before = |transaction| {
        let before = plan.order.before(transaction, 0).iter();
        before.map(|one| (one.transaction, one.steps)).collect::<Vec<_>>()
    };
    assert_eq!(before(0), []);
    assert_eq!(before(1), [(0, ENDED)], "a reader waits for the writer");
    assert_eq!(before(2), [(0, ENDED)], "and not for another reader");
    assert_eq!(before(3), [(0, ENDED), (1, 1), (2, 1)], "a writer waits for both");
    assert_eq!(before(4), [], "another row");
    assert_eq!(before(5), [], "another table");
    assert_eq!(before(7), [(6, ENDED)], "the row was inserted");
    assert_eq!(before(8), [(6, ENDED), (7, 1)], "its answer came when the other had read");
    assert_eq!(before(9), [(10, ENDED)], "it began before the other, and was answered after it");
    assert_eq!(before(10), []);
    let times = Plan::new(recording.into(), OrderRule::Alone).unwrap();
    assert!(times.order.before(3, 0).is_empty());
}

#[test]
fn rows_that_foreign_keys_refer_to_are_kept_on_mysql() {
    let statements = [
        "UPDATE products SET stock = 1 WHERE id = :p1",
        "INSERT INTO items (order_id, product_id) VALUES (:p1, :p2)",
        "SELECT stock FROM products WHERE id = :p1",
    ];
    let lines = [
        (0, 0, 1, "100, 7", ""),
        (1, 100, 1, "101, 7", ""),
        (2, 200, 0, "7", ""),
        (3, 300, 1, "102, 7", ""),
        (4, 400, 0, "8", ""),
        (5, 500, 2, "7", ""),
    ];
    let mut recording = recording(&statements, &lines);
    let before = |recording: &Recording| -> Vec<Vec<u32>> {
        let plan = Plan::new(recording.clone().into(), OrderRule::Commit).unwrap();
        let before = |transaction| plan.order.before(transaction, 0).iter();
        (0..6).map(|one| before(one).map(|other| other.transaction).collect()).collect()
    };
    let without = [vec![], vec![], vec![], vec![], vec![], vec![2]];
    assert_eq!(before(&recording), without, "PostgreSQL lets others change what is no key");
    recording.syntax = Some(triphammer_capture::sql::Syntax::MySql);
    let kept = [vec![], vec![], vec![0, 1], vec![2], vec![], vec![2]];
    assert_eq!(before(&recording), kept);
}

#[test]
fn elements_of_arrays_use_made_values_like_arguments() {
    let statements = [
        "INSERT INTO orders (customer) SELECT * FROM UNNEST((:p1)::int[]) RETURNING id",
        "SELECT * FROM orders WHERE id = ANY(:p1)",
        "INSERT INTO items (order_id, quantity) SELECT * FROM UNNEST((:p1)::bigint[], (:p2)::int[]) RETURNING id",
        "SELECT * FROM items WHERE quantity = ANY(ARRAY[:p1, :p2])",
    ];
    let lines = [
        (0, 0, 0, "\"{1,2}\"", "[7], [8]"),
        (1, 100, 0, "\"{1}\"", "[9]"),
        (2, 200, 1, "\"{9,7,3}\"", ""),
        (2, 300, 2, "\"{9,9,8}\", \"{7,8,9}\"", "[70], [71], [72]"),
        (2, 400, 3, "7, 8", ""),
    ];
    let plan = Plan::new(recording(&statements, &lines).into(), OrderRule::Alone).unwrap();
    let uses = |statement, argument| !plan.ids.used(statement, argument).is_empty();
    assert!(uses(1, 0) && uses(2, 0), "by their names");
    assert!(!uses(0, 0) && !uses(2, 1) && !uses(3, 0) && !uses(3, 1), "customers and quantities");
    let makers = |transaction| {
        let spot = plan.spot(transaction, 0);
        plan.ids.makers(spot.number, spot.step)
    };
    assert_eq!((makers(2), makers(3), makers(4)), (vec![1, 0], vec![1, 0], vec![]));
    let made = super::ids::ReplayedValues::default();
    let int = triphammer_capture::Argument::Int;
    for (domain, then, now) in [(0, 7, 107), (0, 9, 109)] {
        made.add(domain, None, &int(then), int(now));
    }
    let spot = plan.spot(3, 0);
    let found = plan.ids.replaced(spot.number, spot.step, &made);
    let text = triphammer_capture::Argument::Text("{109,109,8}".to_owned());
    assert_eq!((found.arguments, found.replaced, found.missing), (vec![(0, text)], 2, 1));
}

#[test]
fn rows_that_an_insert_finds_or_is_given_make_nothing() {
    let statements = [
        "INSERT INTO users (email) VALUES (:p1) RETURNING id",
        "INSERT INTO users (email) VALUES (:p1) ON CONFLICT (email) DO UPDATE SET visits = 2 RETURNING id, email",
        "INSERT INTO members (user_id, role) VALUES (:p1, :p2) RETURNING user_id, id",
        "UPDATE users SET visits = 1 WHERE id = :p1",
    ];
    let lines = [
        (0, 0, 0, "\"ann\"", "[7]"),
        (1, 100, 1, "\"ann\"", "[7, \"ann\"]"),
        (2, 200, 2, "7, 7", "[7, 7]"),
        (2, 300, 3, "7", ""),
        (3, 400, 0, "\"bob\"", "[8]"),
        (4, 500, 0, "\"eve\"", "[8]"),
        (5, 600, 3, "8", ""),
    ];
    let plan = Plan::new(recording(&statements, &lines).into(), OrderRule::Alone).unwrap();
    let makers = |transaction| {
        let spot = plan.spot(transaction, 0);
        plan.ids.makers(spot.number, spot.step)
    };
    assert_eq!((makers(2), makers(3)), (vec![0], vec![0]), "the first one that returned it");
    assert_eq!(makers(6), [] as [u32; 0], "two made it");
    assert_eq!(plan.ids.count(), 2, "the id of the user and that of the member");
}

#[test]
fn values_that_a_client_computes_from_a_sequence_are_made_with_it() {
    let statements = [
        "SELECT nextval('orders_seq')",
        "INSERT INTO orders (quantity, id) VALUES (:p1, :p2)",
        "UPDATE orders SET quantity = 1 WHERE id = :p1",
    ];
    let made = ["[1]", "[6]", "[11]", "[16]"];
    let mut lines: Vec<_> = (0..).zip(made).map(|(at, made)| (0, at, 0, "", made)).collect();
    let rows =
        ["3, 1", "3, 2", "3, 3", "3, 4", "3, 5", "3, 6", "3, 7", "3, 8", "3, 9", "3, 10", "3, 12"];
    lines.extend((100..).step_by(10).zip(rows).map(|(at, row)| (0, at, 1, row, "")));
    lines.push((1, 900, 2, "9", ""));
    let plan = Plan::new(recording(&statements, &lines).into(), OrderRule::Alone).unwrap();
    assert_eq!(plan.ids.count(), 4, "what the server made");
    assert!(plan.ids.used(1, 0).is_empty(), "quantities");
    let update = plan.spot(15, 0);
    assert_eq!(plan.ids.makers(update.number, update.step), [2], "11 is the end of its block");
    // Another session was first here: its block is between those of the recording.
    let made = super::ids::ReplayedValues::default();
    let int = triphammer_capture::Argument::Int;
    let domain = plan.ids.made_by(0)[0];
    for (then, now) in [(1, 101), (6, 106), (11, 116), (16, 121)] {
        made.add(domain, plan.ids.block(domain), &int(then), int(now));
    }
    let replaced = |transaction| {
        let spot = plan.spot(transaction, 0);
        plan.ids.replaced(spot.number, spot.step, &made).arguments
    };
    assert_eq!(replaced(15), [(0, int(114))]);
    assert_eq!((replaced(4), replaced(14)), (vec![(1, int(101))], vec![(1, int(117))]));
}

/// Transactions of one session that each take a value of a sequence, and insert a row and its child with it.
fn of_sequence(lines: &mut Vec<(usize, u64, usize, String, String)>, ids: std::ops::Range<u64>) {
    for id in ids {
        let at_us = 100 * id;
        let (arguments, child) = (format!("{id}"), format!("{id}, 7"));
        lines.push((0, at_us, 0, String::new(), format!("[{id}]")));
        lines.push((0, at_us + 20, 1, arguments, String::new()));
        lines.push((0, at_us + 40, 2, child, String::new()));
    }
}

fn plan_of(statements: &[&str], lines: &[(usize, u64, usize, String, String)]) -> Plan {
    let lines: Vec<_> = lines.iter().map(|(a, b, c, d, e)| (*a, *b, *c, &**d, &**e)).collect();
    Plan::new(recording(statements, &lines).into(), OrderRule::Alone).unwrap()
}

#[test]
fn children_of_rows_that_are_numbered_from_a_sequence_refer_to_them() {
    let statements = [
        "SELECT nextval('order_seq')",
        "INSERT INTO orders (id) VALUES (:p1)",
        "INSERT INTO order_lines (order_id, quantity) VALUES (:p1, :p2)",
        "SELECT 1 FROM orders WHERE id = :p1",
    ];
    let mut lines = Vec::new();
    of_sequence(&mut lines, 1..13);
    lines.push((1, 5_000, 3, "4".to_owned(), String::new()));
    let plan = plan_of(&statements, &lines);
    let uses = |statement, argument| !plan.ids.used(statement, argument).is_empty();
    assert!(uses(1, 0) && uses(2, 0) && uses(3, 0));
    assert!(!uses(2, 1), "quantities");
}

#[test]
fn a_table_whose_rows_have_other_keys_too_does_not_inherit_those_of_another() {
    let statements = [
        "INSERT INTO cust (t) VALUES (1) RETURNING id",
        "INSERT INTO pay (id, amount) VALUES (:p1, :p2)",
        "INSERT INTO gold (id, amount) VALUES (:p1, :p2)",
    ];
    let mut lines = Vec::new();
    for id in 100..130_u64 {
        lines.push((0, id, 0, String::new(), format!("[{id}]")));
    }
    for id in 100..130_u64 {
        // Its own numbers, which happen to be those of customers made long before.
        lines.push((1, 1_000 + 10 * id, 1, format!("{id}, 5"), String::new()));
    }
    let plan = plan_of(&statements[..2], &lines);
    assert!(plan.ids.used(1, 0).is_empty());
    // Within the transaction that made the key: a table of a subclass.
    let text = {
        let mut text = String::from("{\"triphammer_recording\": 1, \"from\": \"wire-postgres\"}\n");
        for (number, sql) in statements.iter().enumerate() {
            text.push_str(&format!(
                "{}\n",
                json!({ "statement": number, "sql": sql, "literals": [] })
            ));
        }
        for id in 100..112 {
            let made = format!("[0, 0, [], {{\"rows\": 1, \"made\": [[{id}]], \"us\": 10}}]");
            let child = format!("[2, 0, [{id}, 5], {{\"changed\": 1, \"us\": 10}}]");
            text.push_str(&format!("[0, {}, \"commit\", [{made}, {child}], 0]\n", 100 * id));
        }
        text + "{\"transactions\": 12}\n"
    };
    let plan = Plan::new(read(text.as_bytes()).unwrap().into(), OrderRule::Alone).unwrap();
    assert!(!plan.ids.used(2, 0).is_empty());
}

#[test]
fn the_key_of_rows_that_return_all_columns_is_found_by_its_values() {
    let statements = [
        "INSERT INTO docs (title, pages) VALUES (:p1, :p2) RETURNING *",
        "UPDATE docs SET pages = 1 WHERE id = :p1",
    ];
    let row = |id: u64| format!("[\"2026-12-01 10:00:0{id}\", \"t{id}\", 9, {id}]");
    let mut lines: Vec<_> =
        (1..6).map(|id| (0, 100 * id, 0, format!("\"t{id}\", 9"), row(id))).collect();
    lines.push((1, 900, 1, "3".to_owned(), String::new()));
    let plan = plan_of(&statements, &lines);
    let update = plan.spot(5, 0);
    assert_eq!(plan.ids.makers(update.number, update.step), [2]);
}
