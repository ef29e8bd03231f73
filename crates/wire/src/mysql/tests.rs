//! Conversations of clients and servers, packet by packet.

use super::*;
use crate::damage::{From, damaged};
use triphammer_capture::answer::Answer;

fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let [low, middle, high, _] = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&[low, middle, high, sequence][..], body].concat()
}

fn asks(code: u8, rest: &[u8]) -> (From, Vec<u8>) {
    (From::Client, packet(0, &[&[code][..], rest].concat()))
}

fn says(body: &[u8]) -> (From, Vec<u8>) {
    (From::Server, packet(1, body))
}

fn query(sql: &str) -> (From, Vec<u8>) {
    asks(command::QUERY, sql.as_bytes())
}

/// OK, with changed rows, the last id and a status.
fn ok(changed: u8, last_id: u8, status: u8) -> (From, Vec<u8>) {
    says(&[0, changed, last_id, status, 0, 0, 0])
}

/// The end of definitions or rows.
fn eof(status: u8) -> (From, Vec<u8>) {
    says(&[0xfe, 0, 0, status, 0])
}

fn column(of: u8) -> (From, Vec<u8>) {
    says(&[3, b'd', b'e', b'f', 0, 0, 0, 0, 0, 0x0c, 63, 0, 11, 0, 0, 0, of, 0, 0, 0, 0, 0])
}

fn error(code: u16) -> (From, Vec<u8>) {
    let [low, high] = code.to_le_bytes();
    says(&[&[0xff, low, high][..], b"#42000no"].concat())
}

/// A response to the greeting, of a client with these capabilities.
fn response(capabilities: u32) -> Vec<u8> {
    let all = capabilities | capability::PROTOCOL_41 | capability::CONNECT_WITH_DB;
    [&(all | capability::SECURE_CONNECTION).to_le_bytes()[..], &[0; 28], b"bob\0\x02xyshop\0"]
        .concat()
}

/// The events of a conversation, each packet at the next microsecond, in pieces of this length.
fn events(conversation: &[(From, Vec<u8>)], piece: usize) -> Vec<Event> {
    let mut reader = Reader::new("1".to_owned(), &response(0));
    let mut events = Vec::new();
    for ((from, bytes), at_us) in [ok(0, 0, 2)].iter().chain(conversation).zip(0..) {
        for bytes in bytes.chunks(piece) {
            match from {
                From::Client => reader.client_sent(bytes, at_us, &mut events),
                From::Server => reader.server_sent(bytes, at_us, &mut events),
            }
        }
    }
    events
}

/// Statements as text: database, arguments in brackets, then what was answered.
fn told(conversation: &[(From, Vec<u8>)]) -> Vec<String> {
    let found = events(conversation, usize::MAX);
    for piece in [1, 5] {
        assert_eq!(events(conversation, piece), found, "pieces of {piece} bytes");
    }
    let tell = |event: &Event| match &event.what {
        What::Answered { sql, binds, answers } => {
            let answers = answers.iter().map(|answer| {
                let Answer { rows, changed, error, made, .. } = &answer.answer;
                let hashed = if answer.hashes.is_some() { "#" } else { "" };
                format!("{rows:?}{hashed} {changed:?} {error:?} {made:?}")
            });
            let answers = answers.collect::<Vec<_>>().join(", ");
            let database = event.database.as_deref().unwrap_or("-");
            let text = format!("{database}: {sql} {binds:?} [{answers}]").replace('"', "");
            text.replace("None", "-").replace("Some", "")
        }
        What::Skipped(reason) => format!("skipped {reason:?}"),
        other => format!("{other:?}"),
    };
    found.iter().map(tell).collect()
}

#[test]
fn queries_have_an_answer_for_each_statement() {
    let conversation = [
        query("INSERT INTO t VALUES (1); SELECT a FROM t; SELECT x"),
        ok(1, 17, 2 | 8),
        says(&[1]),
        column(3),
        eof(2),
        says(b"\x015"),
        says(b"\xfb"),
        eof(2 | 8),
        error(1054),
        query("CALL p()"),
        says(&[1]),
        column(3),
        eof(2),
        says(b"\x015"),
        eof(2 | 8),
        ok(0, 0, 2),
        asks(command::INIT_DB, b"other"),
        ok(0, 0, 2),
        query("USE third"),
        ok(0, 0, 2),
        query("UPDATE t SET a = 1"),
        says(b"\0\x02\0\x02\0\0\0\x28Rows matched: 5  Changed: 2  Warnings: 0"),
    ];
    assert_eq!(
        told(&conversation),
        [
            "shop: INSERT INTO t VALUES (1); SELECT a FROM t; SELECT x [] \
             [- (1) - [[Int(17)]], (2)# - - [], - - (1054) []]",
            "shop: CALL p() [] [(1)# - - []]",
            "other: USE third [] [- (0) - []]",
            "third: UPDATE t SET a = 1 [] [- (5) - []]",
        ]
    );
}

#[test]
fn prepared_statements_have_their_arguments() {
    let id = 7_u32.to_le_bytes();
    let execute = |rest: &[u8]| asks(command::EXECUTE, &[&id[..], &[0, 1, 0, 0, 0], rest].concat());
    let rows = [says(&[1]), column(3), eof(2), says(&[0, 0, 5, 0, 0, 0]), eof(2)];
    let mut conversation = vec![
        asks(command::PREPARE, b"SELECT a FROM t WHERE a = ? AND b = ?"),
        says(&[&[0][..], &id, &[1, 0, 2, 0, 0, 0, 0]].concat()),
        column(3),
        column(253),
        eof(2),
        column(3),
        eof(2),
        execute(&[&[0, 1, 3, 0, 253, 0][..], &5_u32.to_le_bytes(), b"\x02hi"].concat()),
    ];
    conversation.extend(rows.clone());
    // With the types of the last time, one NULL.
    conversation.push(execute(&[&[0b10, 0][..], &6_u32.to_le_bytes()].concat()));
    conversation.extend(rows.clone());
    // With a parameter in advance.
    let long = [&id[..], &[1, 0], b"lo"].concat();
    conversation.push(asks(command::SEND_LONG_DATA, &long));
    conversation.push(asks(command::SEND_LONG_DATA, &[&id[..], &[1, 0], b"ng"].concat()));
    conversation.push(execute(&[&[0, 0][..], &6_u32.to_le_bytes()].concat()));
    conversation.extend(rows.clone());
    conversation.push(asks(command::CLOSE, &id));
    conversation.push(query("SELECT 5"));
    conversation.extend([says(&[1]), column(3), eof(2), says(b"\x015"), eof(2)]);
    let select = "shop: SELECT a FROM t WHERE a = ? AND b = ?";
    assert_eq!(
        told(&conversation),
        [
            format!("{select} [Int(5), Text(hi)] [(1)# - - []]"),
            format!("{select} [Int(6), Null] [(1)# - - []]"),
            format!("{select} [Int(6), Text(long)] [(1)# - - []]"),
            "shop: SELECT 5 [] [(1)# - - []]".to_owned(),
        ]
    );
    let found = events(&conversation, usize::MAX);
    let hashes = |event: &Event| match &event.what {
        What::Answered { answers, .. } => answers[0].hashes,
        _ => None,
    };
    assert_eq!(hashes(&found[0]), hashes(&found[3]), "the same rows in both protocols");
}

#[test]
fn files_and_other_users_are_no_commands() {
    let data = |sequence, bytes: &[u8]| (From::Client, packet(sequence, bytes));
    let conversation = [
        query("LOAD DATA LOCAL INFILE 'x' INTO TABLE t"),
        says(b"\xfbx"),
        data(2, b"\x03SELECT 1"),
        // The number begins at 0 again.
        data(0, b"\x03SELECT 2"),
        data(1, b""),
        ok(1, 0, 2),
        asks(command::CHANGE_USER, b"ann\0\x01xnext\0"),
        says(b"\xfemysql_native_password\0abc\0"),
        data(3, b"\x03proof"),
        ok(0, 0, 2),
        query("SELECT 1 INTO @a"),
        ok(1, 0, 2),
        asks(command::RESET, b""),
        ok(0, 0, 2),
        says(b"\xff\xba\x07#08S01timeout"),
    ];
    assert_eq!(
        told(&conversation),
        [
            "shop: LOAD DATA LOCAL INFILE 'x' INTO TABLE t [] [- (1) - []]",
            "Disconnected",
            "next: SELECT 1 INTO @a [] [- (1) - []]",
            "Disconnected",
        ]
    );
}

#[test]
fn what_runs_ahead_of_its_prepare_is_not_the_statement_before() {
    let prepared = |id: u8| says(&[0, id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let last = [&LAST_PREPARED.to_le_bytes()[..], &[0, 1, 0, 0, 0]].concat();
    let conversation = [
        asks(command::PREPARE, b"DELETE FROM a"),
        prepared(7),
        asks(command::PREPARE, b"DELETE FROM b"),
        asks(command::EXECUTE, &last),
        prepared(8),
        ok(1, 0, 2),
        asks(command::EXECUTE, &last),
        ok(1, 0, 2),
    ];
    assert_eq!(told(&conversation), ["skipped Binds", "shop: DELETE FROM b [] [- (1) - []]"]);
}

#[test]
fn a_cursor_has_no_number_of_rows() {
    let cursor = 2 | 0x40;
    let conversation = [
        asks(command::PREPARE, b"SELECT a FROM t"),
        says(&[0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
        column(3),
        eof(2),
        asks(command::EXECUTE, &[7, 0, 0, 0, 1, 1, 0, 0, 0]),
        says(&[1]),
        column(3),
        eof(cursor),
        asks(command::FETCH, &[7, 0, 0, 0, 1, 0, 0, 0]),
        says(&[0, 0, 5, 0, 0, 0]),
        eof(2 | 0x80),
    ];
    assert_eq!(told(&conversation), ["shop: SELECT a FROM t [] [- - - []]", "skipped Cursor"]);
}

#[test]
fn a_session_without_autocommit_says_so() {
    let mut reader = Reader::new("1".to_owned(), &response(capability::DEPRECATE_EOF));
    let mut found = Vec::new();
    reader.server_sent(&ok(0, 0, 0).1, 0, &mut found);
    let What::Answered { sql, .. } = &found[0].what else { panic!("{found:?}") };
    assert_eq!(sql, "SET autocommit = 0");
    assert!(Reader::new("1".to_owned(), b"short").is_lost);
}

#[test]
fn corrupt_and_cut_packets_neither_panic_nor_fill_the_memory() {
    let id = 7_u32.to_le_bytes();
    let execute = [&id[..], &[0, 1, 0, 0, 0, 0, 1, 3, 0], &5_u32.to_le_bytes()].concat();
    let conversation = [
        query("SELECT 1; SELECT 2"),
        says(&[1]),
        column(5),
        eof(2),
        says(b"\x031.5"),
        eof(2 | 8),
        ok(1, 2, 2),
        asks(command::PREPARE, b"SELECT ?"),
        says(&[&[0][..], &id, &[1, 0, 1, 0, 0, 0, 0]].concat()),
        column(253),
        eof(2),
        column(12),
        eof(2),
        asks(command::SEND_LONG_DATA, &[&id[..], &[0, 0], b"long"].concat()),
        asks(command::EXECUTE, &execute),
        says(&[1]),
        column(12),
        eof(2),
        says(b"\0\0\x07\xea\x07\x01\x1f\x0c\x00\x01"),
        eof(2),
        asks(command::FETCH, &id),
        eof(2),
        asks(command::CHANGE_USER, b"ann\0\x01xnext\0"),
        ok(0, 0, 2),
        query("SELECT x"),
        error(1054),
    ];
    for seed in 0..5_000 {
        let damaged = damaged(&conversation, seed);
        let mut reader = Reader::new("1".to_owned(), &response(0));
        let mut found = Vec::new();
        for (from, bytes) in [ok(0, 0, 2)].iter().chain(&damaged) {
            match from {
                From::Client => reader.client_sent(bytes, 0, &mut found),
                From::Server => reader.server_sent(bytes, 0, &mut found),
            }
            assert!(reader.held() < 100_000, "seed {seed}");
        }
        reader.closed(0, &mut found);
        assert!(found.len() < 100, "seed {seed}");
    }
}
