//! Conversations of clients and servers, message by message.

use super::*;
use crate::damage::{From, damaged};

const STARTUP: &[u8] = b"\0\0\0\x21\0\x03\0\0user\0bob\0database\0shop\0\0";

fn message(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag][..], &length.to_be_bytes(), &body].concat()
}

fn asks(tag: u8, parts: &[&[u8]]) -> (From, Vec<u8>) {
    (From::Client, message(tag, parts))
}

fn says(tag: u8, parts: &[&[u8]]) -> (From, Vec<u8>) {
    (From::Server, message(tag, parts))
}

fn query(sql: &str) -> (From, Vec<u8>) {
    asks(b'Q', &[sql.as_bytes(), b"\0"])
}

fn parse(name: &str, sql: &str, oids: &[u32]) -> (From, Vec<u8>) {
    let count = u16::try_from(oids.len()).unwrap().to_be_bytes();
    let oids: Vec<u8> = oids.iter().flat_map(|oid| oid.to_be_bytes()).collect();
    asks(b'P', &[name.as_bytes(), b"\0", sql.as_bytes(), b"\0", &count, &oids])
}

/// Binds values of one format, with rows in one format.
fn bind(portal: &str, name: &str, formats: [i16; 2], values: &[&[u8]]) -> (From, Vec<u8>) {
    let [of_values, of_rows] = formats.map(i16::to_be_bytes);
    let count = u16::try_from(values.len()).unwrap().to_be_bytes();
    let long =
        |value: &&[u8]| [&u32::try_from(value.len()).unwrap().to_be_bytes()[..], value].concat();
    let values: Vec<u8> = values.iter().flat_map(long).collect();
    let names = [portal.as_bytes(), b"\0", name.as_bytes(), b"\0"].concat();
    asks(b'B', &[&names, b"\0\x01", &of_values, &count, &values, b"\0\x01", &of_rows])
}

fn execute(portal: &str, rows: u32) -> (From, Vec<u8>) {
    asks(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()])
}

fn sync() -> (From, Vec<u8>) {
    asks(b'S', &[])
}

fn ready(status: &[u8]) -> (From, Vec<u8>) {
    says(b'Z', &[status])
}

fn complete(tag: &str) -> (From, Vec<u8>) {
    says(b'C', &[tag.as_bytes(), b"\0"])
}

fn error(code: &str) -> (From, Vec<u8>) {
    says(b'E', &[b"VERROR\0C", code.as_bytes(), b"\0Mno\0\0"])
}

/// A column without a name, of this type and format.
fn columns_of(oid: u32, format: i16) -> (From, Vec<u8>) {
    let fixed = [&[0; 6][..], &oid.to_be_bytes(), &[0; 6], &format.to_be_bytes()].concat();
    says(b'T', &[b"\0\x01a\0", &fixed])
}

fn row(value: &[u8]) -> (From, Vec<u8>) {
    says(b'D', &[b"\0\x01", &u32::try_from(value.len()).unwrap().to_be_bytes(), value])
}

/// The events of a conversation after the log-in, each message at the next microsecond, in pieces of this length.
fn events(conversation: &[(From, Vec<u8>)], piece: usize) -> Vec<Event> {
    let mut reader = Reader::new("1".to_owned(), STARTUP);
    let mut events = Vec::new();
    let begun = [says(b'R', &[&[0; 4]]), ready(b"I")];
    for ((from, bytes), at_us) in begun.iter().chain(conversation).zip(0..) {
        for bytes in bytes.chunks(piece) {
            match from {
                From::Client => reader.client_sent(bytes, at_us, &mut events),
                From::Server => reader.server_sent(bytes, at_us, &mut events),
            }
        }
    }
    events
}

/// Statements as text: arguments in brackets, then what was answered.
fn told(conversation: &[(From, Vec<u8>)]) -> Vec<String> {
    let found = events(conversation, usize::MAX);
    for piece in [1, 7] {
        assert_eq!(events(conversation, piece), found, "pieces of {piece} bytes");
    }
    let tell = |event: &Event| match &event.what {
        What::Answered { sql, binds, answers } => {
            let binds: Vec<String> = binds.iter().map(|bind| format!("{bind:?}")).collect();
            let answers = answers.iter().map(|answer| {
                let Answer { rows, changed, error, made, .. } = &answer.answer;
                let hashed = if answer.hashes.is_some() { "#" } else { "" };
                format!("{rows:?}{hashed} {changed:?} {error:?} {made:?}")
            });
            let answers: Vec<String> = answers.collect();
            let text = format!("{sql} {binds:?} {answers:?}").replace('"', "");
            text.replace("None", "-").replace("Some", "")
        }
        What::Skipped(reason) => format!("skipped {reason:?}"),
        other => format!("{other:?}"),
    };
    found.iter().map(tell).collect()
}

#[test]
fn simple_queries_have_an_answer_for_each_statement() {
    let conversation = [
        query("SELECT 1; UPDATE t SET a = 1; SELECT x; SELECT 2"),
        columns_of(23, 0),
        row(b"1"),
        complete("SELECT 1"),
        complete("UPDATE 5"),
        error("42703"),
        ready(b"I"),
        query(""),
        says(b'I', &[]),
        ready(b"I"),
        query("INSERT INTO t DEFAULT VALUES RETURNING id"),
        columns_of(23, 0),
        row(b"17"),
        complete("INSERT 0 1"),
        ready(b"I"),
    ];
    assert_eq!(
        told(&conversation),
        [
            "SELECT 1; UPDATE t SET a = 1; SELECT x; SELECT 2 [] \
             [(1)# - - [], - (5) - [], - - (\\42703\\) []]",
            " [] []",
            "INSERT INTO t DEFAULT VALUES RETURNING id [] [(1)# (1) - [[Int(17)]]]",
        ]
    );
}

#[test]
fn statements_of_the_extended_protocol_have_their_arguments() {
    let (five, bound) = (5_i32.to_be_bytes(), [says(b'1', &[]), says(b'2', &[])]);
    let described = says(b't', &[b"\0\x01", &23_u32.to_be_bytes()]);
    let mut conversation = vec![
        parse("s", "SELECT a FROM t WHERE id = $1", &[]),
        asks(b'D', &[b"Ss\0"]),
        sync(),
        says(b'1', &[]),
        described,
        columns_of(23, 0),
        ready(b"I"),
        // In binary, by the types of the description.
        bind("", "s", [1, 1], &[&five]),
        execute("", 0),
        sync(),
        says(b'2', &[]),
        row(&five),
        complete("SELECT 1"),
        ready(b"I"),
        // Without a description, rows in binary cannot be hashed, and arguments not read.
        parse("", "SELECT $1", &[]),
        bind("", "", [1, 1], &[&five]),
        execute("", 0),
        sync(),
    ];
    conversation.extend(bound);
    conversation.extend([row(&five), complete("SELECT 1"), ready(b"I")]);
    assert_eq!(
        told(&conversation),
        ["SELECT a FROM t WHERE id = $1 [Int(5)] [(1)# - - []]", "skipped Binds"]
    );
    let hash = |format: i16, value: &[u8]| {
        let of_row = |at: usize, conversation: &mut Vec<_>| {
            conversation[at] = row(value);
            conversation[7] = bind("", "s", [1, format], &[&five]);
        };
        let mut conversation = conversation.clone();
        of_row(11, &mut conversation);
        match &events(&conversation, usize::MAX)[0].what {
            What::Answered { answers, .. } => answers[0].hashes,
            _ => None,
        }
    };
    assert_eq!(hash(1, &five), hash(0, b"5"), "the same rows in another format");
    assert_ne!(hash(1, &five), hash(0, b"6"));
}

#[test]
fn a_statement_that_is_described_and_closed_leaves_no_bytes() {
    let mut reader = Reader::new("1".to_owned(), STARTUP);
    let mut found = Vec::new();
    let mut feed = |reader: &mut Reader, conversation: &[(From, Vec<u8>)]| {
        for (from, bytes) in conversation {
            match from {
                From::Client => reader.client_sent(bytes, 0, &mut found),
                From::Server => reader.server_sent(bytes, 0, &mut found),
            }
        }
        reader.session.bytes
    };
    let prepare = |name| [parse(name, "SELECT $1", &[]), says(b'1', &[])];
    feed(&mut reader, &[says(b'R', &[&[0; 4]]), ready(b"I")]);
    let before = feed(&mut reader, &prepare("r"));
    feed(&mut reader, &prepare("s"));
    let described = [
        asks(b'D', &[b"Ss\0"]),
        says(b't', &[b"\0\x01", &23_u32.to_be_bytes()]),
        columns_of(23, 0),
        asks(b'C', &[b"Ss\0"]),
        says(b'3', &[]),
    ];
    assert_eq!(feed(&mut reader, &described), before);
}

#[test]
fn a_pipeline_is_one_transaction_and_skips_what_follows_an_error() {
    let run = |sql: &str| [parse("", sql, &[]), bind("", "", [0, 0], &[]), execute("", 0)];
    let mut conversation = run("UPDATE a").to_vec();
    conversation.extend(run("UPDATE b"));
    conversation.extend(run("UPDATE c"));
    let bound = [says(b'1', &[]), says(b'2', &[])];
    conversation.extend(bound.clone());
    conversation.push(complete("UPDATE 1"));
    conversation.extend(bound.clone());
    conversation.push(error("23505"));
    // What the client sends before it knows is passed over, too.
    conversation.extend(run("UPDATE d"));
    conversation.extend([sync(), ready(b"I")]);
    conversation.extend(run("BEGIN"));
    conversation.extend(run("UPDATE e"));
    conversation.extend([sync()]);
    conversation.extend(bound.clone());
    conversation.push(complete("BEGIN"));
    conversation.extend(bound);
    conversation.extend([complete("UPDATE 2"), ready(b"T")]);
    assert_eq!(
        told(&conversation),
        [
            "BEGIN [] [- - - []]",
            "UPDATE a [] [- (1) - []]",
            "UPDATE b [] [- - (\\23505\\) []]",
            "ROLLBACK [] [- - - []]",
            "BEGIN [] [- - - []]",
            "UPDATE e [] [- (2) - []]",
        ]
    );
}

#[test]
fn portals_that_are_read_in_parts_are_one_statement() {
    let conversation = [
        query("BEGIN"),
        complete("BEGIN"),
        ready(b"T"),
        parse("", "SELECT a FROM t", &[]),
        bind("p", "", [0, 0], &[]),
        execute("p", 1),
        sync(),
        says(b'1', &[]),
        says(b'2', &[]),
        row(b"1"),
        says(b's', &[]),
        ready(b"T"),
        execute("p", 1),
        sync(),
        row(b"2"),
        complete("SELECT 1"),
        ready(b"T"),
    ];
    assert_eq!(
        told(&conversation),
        ["BEGIN [] [- - - []]", "SELECT a FROM t [] [- - - []]", "skipped Cursor"]
    );
}

#[test]
fn copy_has_its_number_of_rows() {
    let copy = [asks(b'd', &[b"1\n"]), asks(b'd', &[b"2\n"]), asks(b'c', &[])];
    let begun = says(b'G', &[b"\0\0\0"]);
    let mut conversation = vec![query("COPY t FROM STDIN"), begun.clone()];
    conversation.extend(copy.clone());
    conversation.extend([complete("COPY 2"), ready(b"I")]);
    // In the extended protocol, the Sync before the data is passed over.
    let run = [parse("", "COPY t FROM STDIN", &[]), bind("", "", [0, 0], &[]), execute("", 0)];
    conversation.extend(run);
    conversation.extend([sync(), says(b'1', &[]), says(b'2', &[]), begun.clone()]);
    conversation.extend(copy.clone());
    conversation.extend([sync(), complete("COPY 2"), ready(b"I")]);
    // One that fails while the client sends data.
    conversation.extend([query("COPY u FROM STDIN"), begun, error("22P02"), ready(b"I")]);
    conversation.extend(copy);
    conversation.extend([query("SELECT 1"), columns_of(23, 0), row(b"1")]);
    conversation.extend([complete("SELECT 1"), ready(b"I")]);
    assert_eq!(
        told(&conversation),
        [
            "COPY t FROM STDIN [] [(2) - - []]",
            "COPY t FROM STDIN [] [(2) - - []]",
            "COPY u FROM STDIN [] [- - (\\22P02\\) []]",
            "SELECT 1 [] [(1)# - - []]",
        ]
    );
}

#[test]
fn columns_that_were_described_with_one_portal_are_those_of_the_next() {
    // As pgjdbc does from the second execution of a statement on.
    let five = 5_i32.to_be_bytes();
    let run = || [bind("", "s", [1, 1], &[&five]), execute("", 0), sync()];
    let answer = || [row(&five), complete("INSERT 0 1"), ready(b"I")];
    let mut conversation = vec![parse("s", "INSERT INTO t VALUES ($1) RETURNING a", &[23])];
    let [bound, executed, synced] = run();
    conversation.extend([bound, asks(b'D', &[b"P\0"]), executed, synced]);
    conversation.extend([says(b'1', &[]), says(b'2', &[]), columns_of(23, 1)]);
    conversation.extend(answer());
    conversation.extend(run());
    conversation.push(says(b'2', &[]));
    conversation.extend(answer());
    let found = told(&conversation);
    assert_eq!(found[0], found[1]);
    assert!(found[1].contains("#") && found[1].contains("[[Int(5)]]"), "{found:?}");
}

#[test]
fn what_is_not_the_protocol_ends_the_reading_of_its_connection() {
    let conversation =
        [query("SELECT 1"), says(b'1', &[]), query("SELECT 2"), complete("SELECT 1"), ready(b"I")];
    assert_eq!(told(&conversation), ["skipped Messages", "Lost"]);
}

/// A conversation of all messages.
fn everything() -> Vec<(From, Vec<u8>)> {
    let five = 5_i32.to_be_bytes();
    vec![
        query("SELECT 1; SELECT 2"),
        columns_of(23, 0),
        row(b"1"),
        complete("SELECT 1"),
        columns_of(1700, 1),
        row(b"\0\x01\0\0\0\0\0\0\0\x05"),
        complete("SELECT 1"),
        ready(b"I"),
        parse("s", "INSERT INTO t VALUES ($1) RETURNING a", &[23]),
        asks(b'D', &[b"Ss\0"]),
        bind("p", "s", [1, 1], &[&five]),
        asks(b'D', &[b"Pp\0"]),
        execute("p", 1),
        asks(b'C', &[b"Pp\0"]),
        sync(),
        says(b'1', &[]),
        says(b't', &[b"\0\x01", &23_u32.to_be_bytes()]),
        columns_of(23, 0),
        says(b'2', &[]),
        columns_of(23, 1),
        row(&five),
        says(b's', &[]),
        says(b'3', &[]),
        ready(b"T"),
        query("COPY t FROM STDIN"),
        says(b'G', &[b"\0\0\0"]),
        asks(b'd', &[b"1\n"]),
        asks(b'c', &[]),
        complete("COPY 1"),
        ready(b"T"),
        asks(b'F', &[&[0; 12]]),
        says(b'V', &[&[0; 4]]),
        ready(b"T"),
        says(b'N', &[b"VNOTICE\0\0"]),
        says(b'S', &[b"a\0b\0"]),
        query("ROLLBACK"),
        error("XX000"),
        ready(b"I"),
    ]
}

#[test]
fn corrupt_and_cut_messages_neither_panic_nor_fill_the_memory() {
    let conversation = everything();
    for seed in 0..3_000 {
        let damaged = damaged(&conversation, seed);
        let mut reader = Reader::new("1".to_owned(), STARTUP);
        let mut found = Vec::new();
        for (from, bytes) in [says(b'R', &[&[0; 4]]), ready(b"I")].iter().chain(&damaged) {
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
