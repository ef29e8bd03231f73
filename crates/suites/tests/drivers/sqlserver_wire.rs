//! What the client for SQL Server does with answers that violate the protocol, and with cancellations: against a small
//! responder, on any host.

use std::io::Write;
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::random::Rng;
use triphammer_core::session::{Access, Admin as _, Session as _};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, ErrorClass, Rows, Value};

use crate::session::{on_worker, statement};
use crate::sqlserver_responder::{
    ATTENTION, CALL, INT, LONG_TEXT, TRANSACTION, change, columns, connect, done, done_with, error,
    greeting, hear, int_row, message, packets, prepared, server_that_ends, session_with, set_up,
    url, welcome, wide,
};

#[test]
fn answers_in_packets_of_any_size_are_read() {
    let text = "x".repeat(200_000);
    let length = u32::try_from(text.len() / 2).unwrap().to_le_bytes();
    let half = [&length[..], &text.as_bytes()[..100_000]].concat();
    let value = [&200_000u64.to_le_bytes()[..], &half, &half, &[0; 4]].concat();
    let row = [&[0xd1, 4][..], &7i32.to_le_bytes(), &value].concat();
    // In the short form the number is NULL.
    let short = [&[0xd2, 1][..], &value].concat();
    let answer = [columns(&[INT, LONG_TEXT]), row, short, done_with(0xfe, 0x10, 2)].concat();
    for size in [1, 7, 509, 4000, 32_000] {
        on_worker(async {
            let (mut session, _heard) =
                session_with(vec![prepared(), packets(&answer, size)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let mut rows = Rows::new();
            session.query(id, &[], &mut rows).await.unwrap();
            assert_eq!((rows.len(), rows.row(0).int(0).unwrap()), (2, 7), "{size}");
            assert_eq!(rows.row(0).text(1).unwrap(), text);
            assert!(rows.row(1).is_null(0) && rows.row(1).text(1).unwrap() == text);
            assert!(!session.is_closed());
        });
    }
}

#[test]
fn an_answer_that_breaks_the_protocol_loses_the_session() {
    let huge = [&u64::MAX.wrapping_sub(1).to_le_bytes()[..], &[0xff; 4], b"abc"].concat();
    for answer in [
        vec![],
        vec![0xd1, 0],
        columns(&[INT]),
        [columns(&[INT]), int_row(1)].concat(),
        [columns(&[INT]), vec![0xd1, 3, 1, 2, 3], done()].concat(),
        [columns(&[&[0x6a, 17, 38, 39]]), done()].concat(),
        [columns(&[&[0x2a, 8]]), done()].concat(),
        [columns(&[&[0x01]]), done()].concat(),
        [columns(&[LONG_TEXT]), vec![0xd1], huge, done()].concat(),
        [vec![0x81, 0xfe, 0xff], done()].concat(),
        [done_with(0xfd, 1, 0)].concat(),
        [done(), vec![0x55]].concat(),
        vec![0xae, 1, 0xff, 0xff, 0xff, 0xff],
        vec![0xe4, 0xff, 0xff, 0xff, 0xff],
        [error(596, 21, "Killed"), done()].concat(),
    ] {
        on_worker(async {
            let (mut session, _heard) = session_with(vec![prepared(), message(&answer)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected, "{answer:02x?}: {error}");
            assert!(session.is_closed(), "{answer:02x?}");
        });
    }
}

#[test]
fn an_answer_without_an_end_is_given_up() {
    // One row of chunks without end, and rows without end.
    let chunk = [&1_000_000u32.to_le_bytes()[..], &[b'x'; 1_000_000]].concat();
    let value = [&200_000_000u64.to_le_bytes()[..], &chunk.repeat(80)].concat();
    let one = [columns(&[LONG_TEXT]), vec![0xd1], value].concat();
    let row = [&[0xd1][..], &1_000_000u64.to_le_bytes(), &chunk, &[0; 4]].concat();
    let many = [columns(&[LONG_TEXT]), row.repeat(80)].concat();
    // Changes of the environment and ends of procedures, without end.
    for token in [change(1, &[]), done_with(0xfe, 1, 0)] {
        on_worker(async {
            let endless = packets(&token.repeat(1_000_001), 32_000);
            let (mut session, _heard) = session_with(vec![prepared(), endless]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
            assert!(error.message().contains("too many tokens"), "{error}");
            assert!(session.is_closed());
        });
    }
    // Output parameters, all of which a call returns.
    let head = [0xac, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let output =
        [&head[..], LONG_TEXT, &1_000_000u64.to_le_bytes(), &chunk, &[0; 4]].concat().repeat(80);
    on_worker(async {
        let (mut session, _heard) = session_with(vec![packets(&output, 32_000)]).await;
        let sql = "EXEC @status = pay @p1 OUTPUT";
        let id = session.prepare(&statement(sql, &[ColumnType::Int])).await.unwrap();
        let error = session.call(id, &[Value::Null], &mut Rows::new()).await.unwrap_err();
        assert!(error.message().contains("exceeds 64 MiB"), "{error}");
        assert!(session.is_closed());
    });
    for answer in [one, many] {
        on_worker(async {
            let (mut session, _heard) =
                session_with(vec![prepared(), packets(&answer, 32_000)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
            assert!(error.message().contains("exceeds 64 MiB"), "{error}");
            assert!(session.is_closed());
        });
    }
    on_worker(async {
        let rows = [columns(&[INT]), int_row(1).repeat(100_001), done()].concat();
        let (mut session, _heard) = session_with(vec![packets(&rows, 32_000)]).await;
        let error = session.tables().await.unwrap_err();
        assert!(error.message().contains("100000 rows"), "{error}");
    });
}

#[test]
fn a_loop_of_a_million_statements_is_read_to_its_end() {
    for kind in [0xfd, 0xff] {
        on_worker(async {
            let ends = done_with(kind, 0x11, 1).repeat(1_000_001);
            let answer = [ends, columns(&[INT]), int_row(7), done()].concat();
            let (mut session, _heard) =
                session_with(vec![prepared(), packets(&answer, 32_000)]).await;
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let mut rows = Rows::new();
            session.query(id, &[], &mut rows).await.unwrap();
            assert_eq!(rows.row(0).int(0).unwrap(), 7, "{kind:x}");
            assert!(!session.is_closed());
        });
    }
}

#[test]
fn a_false_error_is_an_error_and_the_first_one_counts() {
    on_worker(async {
        let both = [error(1205, 13, "Deadlock."), error(3621, 16, "x"), done()].concat();
        let silent = [columns(&[INT]), int_row(1), done_with(0xfd, 2, 0)].concat();
        let (mut session, _heard) =
            session_with(vec![prepared(), message(&both), message(&silent)]).await;
        let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
        let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
        assert_eq!((error.class(), error.code()), (ErrorClass::Deadlock, Some("1205")));
        let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
        assert!(error.message().contains("does not describe it"), "{error}");
        assert!(!session.is_closed(), "it has answered");
    });
}

#[test]
fn transactions_are_requests_and_one_that_is_gone_is_not_committed() {
    on_worker(async {
        let begun = message(&[change(8, &[1, 2, 3, 4, 5, 6, 7, 8]), done()].concat());
        let undone = [change(10, &[]), error(1205, 13, "Deadlock"), done()].concat();
        let (mut session, heard) =
            session_with(vec![begun.clone(), message(&undone), begun, message(&done())]).await;
        session.begin(Access::Write).await.unwrap();
        session.script("UPDATE t SET n = 1").await.unwrap_err();
        // The server has rolled back: there is nothing to roll back or to commit.
        session.rollback().await.unwrap();
        let error = session.commit().await.unwrap_err();
        assert!(error.is_undone(), "{error}");
        session.begin(Access::Write).await.unwrap();
        session.script("SELECT 1").await.unwrap();
        let heard: Vec<_> = heard.iter().take(7).skip(3).collect();
        assert_eq!((heard[0].0, &heard[0].1[22..]), (TRANSACTION, &[5, 0, 0, 0][..]));
        assert_eq!(heard[1].1[10..18], [1, 2, 3, 4, 5, 6, 7, 8], "the batch belongs to it");
        assert_eq!(heard[2].1[10..18], [0; 8], "the next one begins outside");
        // A server that begins nothing must not be believed.
        let (mut session, _heard) = session_with(vec![message(&done())]).await;
        let error = session.begin(Access::Write).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
    });
}

#[test]
fn a_cancelled_statement_is_confirmed_on_the_same_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, asked) = channel();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in [greeting(), welcome(), set_up(), prepared()] {
            hear(&mut stream).unwrap();
            stream.write_all(&answer).unwrap();
        }
        // The statement runs until the attention arrives.
        hear(&mut stream).unwrap();
        sender.send(()).unwrap();
        assert_eq!(hear(&mut stream).unwrap(), (ATTENTION, vec![]));
        let cut = [columns(&[INT]), int_row(1), done_with(0xfd, 0x20, 0)].concat();
        stream.write_all(&message(&cut)).unwrap();
        // The next one ends just before it arrives: the confirmation is a message of its own.
        hear(&mut stream).unwrap();
        sender.send(()).unwrap();
        assert_eq!(hear(&mut stream).unwrap(), (ATTENTION, vec![]));
        let whole = [columns(&[INT]), int_row(2), done_with(0xfe, 0x10, 1)].concat();
        stream.write_all(&message(&whole)).unwrap();
        stream.write_all(&message(&done_with(0xfd, 0x20, 0))).unwrap();
        hear(&mut stream)
    });
    on_worker(async {
        let mut session = connect(&url(port)).await.unwrap();
        let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
        let canceller = session.canceller();
        let canceller = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            for () in asked.iter().take(2) {
                runtime.block_on(canceller.cancel());
            }
        });
        let mut rows = Rows::new();
        let error = session.query(id, &[], &mut rows).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Cancelled, "{error}");
        session.query(id, &[], &mut rows).await.unwrap();
        assert_eq!(rows.row(0).int(0).unwrap(), 2, "it was too late for this one");
        assert!(!session.is_closed());
        canceller.join().unwrap();
    });
    thread.join().unwrap();
}

#[test]
fn a_call_cancelled_half_way_loses_the_session() {
    on_worker(async {
        let (mut session, _heard) = session_with(vec![prepared(), vec![]]).await;
        let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
        let wait = Duration::from_millis(50);
        let mut rows = Rows::new();
        let asked = session.query(id, &[], &mut rows);
        // The server closes after its last answer, or has not done so yet.
        let _ = timeout(wait, asked).await;
        let error = session.query(id, &[], &mut Rows::new()).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Disconnected, "{error}");
        assert!(session.is_closed());
    });
}

#[test]
fn procedures_are_called_without_sql_and_return_status_and_outputs() {
    on_worker(async {
        let value = |ordinal: u8, value: i32| {
            let head = [0xac, ordinal, 0, 2, b'@', 0, b'o', 0, 1, 0, 0, 0, 0, 0, 0];
            [&head[..], INT, &[4], &value.to_le_bytes()].concat()
        };
        let rows = [columns(&[INT]), int_row(1), done_with(0xff, 0x11, 1)].concat();
        let status = [&[0x79][..], &3i32.to_le_bytes()].concat();
        let answer = [rows, status, value(1, 40), value(2, -2), done_with(0xfe, 0, 0)].concat();
        let (mut session, heard) = session_with(vec![message(&answer)]).await;
        let sql = "EXEC @status = dbo.pay @p1, @b = @p2 OUTPUT, @c = @p3 OUTPUT";
        let types = [ColumnType::Int, ColumnType::Int, ColumnType::Int];
        let id = session.prepare(&statement(sql, &types)).await.unwrap();
        let mut rows = Rows::new();
        session.call(id, &[Value::Int(5), Value::Null, Value::Null], &mut rows).await.unwrap();
        let row = rows.row(0);
        let found = [0, 1, 2].map(|column| row.int(column).unwrap());
        assert_eq!((rows.len(), rows.width(), found), (1, 3, [3, 40, -2]));
        let (kind, data) = heard.iter().nth(3).unwrap();
        assert_eq!((kind, &data[22..24]), (3, &7u16.to_le_bytes()[..]), "called by its name");
        assert_eq!(data[24..38], wide("dbo.pay"));
        let first = [0, 0, 0x26, 4, 4, 5, 0, 0, 0];
        assert_eq!(data[40..49], first);
        let second = [&[2][..], &wide("@b"), &[1, 0x26, 4, 0]].concat();
        assert_eq!(data[49..49 + second.len()], second);
    });
}

#[test]
fn statements_are_called_by_number_and_prepared_again_for_wider_values() {
    on_worker(async {
        let called = || message(&done_with(0xfe, 0, 0));
        let answers = vec![prepared(), called(), prepared(), called(), called()];
        let (mut session, heard) = session_with(answers).await;
        let sql = "UPDATE t SET n = @p1";
        let id = session.prepare(&statement(sql, &[ColumnType::Text])).await.unwrap();
        for length in [5, 5_000, 5] {
            session.execute(id, &[Value::Text(&"x".repeat(length))]).await.unwrap();
        }
        let calls: Vec<_> = heard.iter().skip(3).take(5).collect();
        let numbers: Vec<_> = calls.iter().map(|(kind, data)| (*kind, data[24])).collect();
        // sp_prepare, sp_execute, sp_prepexec, sp_unprepare of the narrower one, sp_execute.
        assert_eq!(numbers, [11, 12, 13, 15, 12].map(|number| (CALL, number)));
        let handle = [0, 0, 0x26, 4, 4, 7, 0, 0, 0];
        for call in [1, 3, 4] {
            assert_eq!(calls[call].1[28..37], handle, "{call}");
        }
        let declared = |call: &(u8, Vec<u8>), text: &str| {
            call.1.windows(2 * text.len()).any(|part| part == wide(text))
        };
        assert!(
            declared(&calls[0], "@p1 nvarchar(4000)") && declared(&calls[2], "@p1 nvarchar(max)")
        );
    });
}

#[test]
fn the_count_of_transactions_is_that_of_batch_requests_where_the_user_may_see_it() {
    on_worker(async {
        let row = [&[0xd1, 8][..], &123_456_789_012i64.to_le_bytes()].concat();
        let counted = message(&[columns(&[&[0x26, 8]]), row, done_with(0xfd, 0x10, 1)].concat());
        let words =
            "VIEW SERVER STATE permission was denied on object 'server', database 'master'.";
        let forbidden = message(&[error(300, 14, words), done()].concat());
        let (mut session, heard) = session_with(vec![counted, forbidden]).await;
        assert_eq!(session.transaction_count().await.unwrap(), Some(123_456_789_012));
        assert_eq!(session.transaction_count().await.unwrap(), None);
        let (_, asked) = heard.iter().nth(3).unwrap();
        let name = wide("'Batch Requests/sec'");
        assert!(asked.windows(name.len()).any(|part| part == name));
    });
}

/// However an answer is damaged, it is read or rejected, and nothing panics.
#[test]
fn damaged_answers_never_panic() {
    let mut rng = Rng::of(7, &[]);
    let types: [&[u8]; 10] = [
        INT,
        LONG_TEXT,
        &[0xe7, 100, 0, 9, 4, 0xd0, 0, 0x34],
        &[0x6a, 17, 38, 4],
        &[0x2a, 6],
        &[0x6d, 8],
        &[0x62, 100, 0, 0, 0],
        &[0x24, 16],
        &[0x6f, 8],
        &[0x2b, 7],
    ];
    let row = [
        &[0xd1, 4, 1, 0, 0, 0][..],
        &[2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'[', b']', 0, 0, 0, 0],
        &[4, 0, b'a', 0, b'b', 0],
        &[9, 1, 1, 2, 3, 4, 5, 6, 7, 0],
        &[8, 1, 2, 3, 4, 0, 1, 2, 3],
        &[8, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
        &[4, 0, 0, 0, 0x38, 0, 1, 2],
        &[16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        &[8, 0x21, 0x80, 0, 0, 1, 2, 3, 0],
        &[10, 1, 2, 3, 4, 0, 1, 2, 3, 0, 0],
    ]
    .concat();
    let whole = [
        columns(&types),
        row.clone(),
        row,
        done_with(0xff, 0x11, 2),
        error(50000, 16, "What?"),
        change(8, &[1; 8]),
        change(10, &[]),
        vec![0x79, 0, 0, 0, 0],
        done_with(0xfe, 0, 0),
    ]
    .concat();
    for _ in 0..400 {
        let mut damaged = whole.clone();
        let mut below = |end: usize| usize::try_from(rng.below(end as u64)).unwrap();
        for _ in 0..=below(4) {
            let place = below(damaged.len());
            match below(4) {
                0 => damaged[place] = u8::try_from(below(256)).unwrap(),
                1 => damaged[place] ^= 1 << below(8),
                2 => damaged.truncate(place.max(1)),
                _ => damaged.insert(place, 0xff),
            }
        }
        on_worker(async {
            // It closes at the end: a transaction that an answer leaves open would be rolled back.
            let answers = [greeting(), welcome(), set_up(), prepared(), message(&damaged)];
            let (port, _heard) = server_that_ends(answers.to_vec(), true);
            let mut session = connect(&url(port)).await.unwrap();
            let id = session.prepare(&statement("SELECT 1", &[])).await.unwrap();
            let mut rows = Rows::new();
            if session.call(id, &[], &mut rows).await.is_ok() {
                for row in rows.iter() {
                    for column in 0..row.len() {
                        let _ = (row.show(column), row.timestamp(column), row.text(column));
                    }
                }
            }
        });
    }
}

#[test]
fn a_load_ends_properly_when_a_value_does_not_fit() {
    on_worker(async {
        let described = message(&[columns(&[INT]), done()].concat());
        let hint = message(&[columns(&[INT]), int_row(0), done()].concat());
        let accepted = message(&done());
        let loaded = message(&done_with(0xfd, 0x10, 1));
        let (mut session, heard) = session_with(vec![described, hint, accepted, loaded]).await;
        let table: TableDef = table("t", [column("a", ColumnType::Int)]);
        let mut values = [1, i64::MAX].into_iter();
        let mut source = |rows: &mut Rows| values.next().map(|value| rows.int(value)).is_some();
        let error = session.load(&table, &mut source).await.unwrap_err();
        assert!(error.message().contains("9223372036854775807 does not fit int"), "{error}");
        assert!(!session.is_closed(), "the connection is in step");
        let heard: Vec<_> = heard.iter().skip(3).take(4).collect();
        let text = wide("INSERT BULK [t] ([a] int) WITH (TABLOCK)");
        assert_eq!(heard[2].1[22..], text);
        let rows = [&int_row(1)[..], &done()].concat();
        assert_eq!((heard[3].0, heard[3].1.ends_with(&rows)), (7, true));
    });
}
