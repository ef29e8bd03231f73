//! What a thread counts of its sessions' traffic, against the count of a relay between them and the
//! server: every byte, with and without TLS and compression.

use std::time::Duration;

use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::traffic::Traffic;
use triphammer_core::{ColumnType, Rows, Value};
use triphammer_drivers::AnyDatabase;
use triphammer_drivers::target::ConnectSettings;
use triphammer_proxy::Relay;
use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::session::{on_worker, statement};

/// Connects through a relay, runs statements with short and long values, and closes the session.
/// Returns what the thread counted and what the relay received, as bytes sent and received.
fn counted(url: &str, sql: &str) -> [[u64; 2]; 2] {
    let relay = Relay::start().unwrap();
    let settings = ConnectSettings { relay: Some(relay.clone()), ..ConnectSettings::default() };
    let database = AnyDatabase::open(url, &settings).unwrap();
    on_worker(async {
        let before = Traffic::of_thread();
        let mut session = database.connect(Role::User, 0).await.unwrap();
        let id = session.prepare(&statement(sql, &[ColumnType::Text])).await.unwrap();
        let mut rows = Rows::new();
        for length in [1, 100, 70_000] {
            let text = "a long text ".repeat(length / 12 + 1);
            session.query(id, &[Value::Text(&text)], &mut rows).await.unwrap();
            assert_eq!(rows.row(0).text(0).unwrap(), text, "{url}");
        }
        // Everything that was sent has been answered, and everything that arrived was read: before
        // the end of the session, of which both sides send something that nobody reads.
        let seen = Traffic::of_thread().since(before);
        let own = [seen.sent_bytes, seen.received_bytes];
        let relayed = relay.received();
        session.close().await;
        [own, relayed]
    })
}

fn assert_exact(url: &str, sql: &str) -> [u64; 2] {
    let [own, relayed] = counted(url, sql);
    assert_eq!(own, relayed, "{url}");
    assert!(own.iter().all(|bytes| *bytes > 500), "{url}: {own:?}");
    own
}

#[test]
fn every_byte_of_a_postgresql_session_is_counted() {
    let url = PostgresServer::shared().url("postgres");
    let sql = "SELECT $1";
    let plain = assert_exact(&format!("{url}?sslmode=disable"), sql);
    assert!(plain.iter().all(|bytes| (70_000..75_000).contains(bytes)), "{plain:?}");
}

#[test]
fn every_byte_of_a_mysql_session_is_counted_as_it_is_on_the_wire() {
    let url = MariadbServer::shared().fresh_database("traffic").unwrap();
    let with = |params: &str| assert_exact(&format!("{url}?{params}"), "SELECT ?");
    let plain = with("ssl-mode=DISABLED");
    assert!(plain.iter().all(|bytes| (70_000..75_000).contains(bytes)), "{plain:?}");
    let compressed = with("ssl-mode=DISABLED&compression=zlib");
    assert!(compressed.iter().all(|bytes| *bytes < 10_000), "{compressed:?}");
}

#[test]
fn encrypted_bytes_are_counted_with_their_records() {
    let url = MariadbServer::shared().fresh_database("traffic_tls").unwrap();
    let encrypted = assert_exact(&format!("{url}?ssl-mode=REQUIRED"), "SELECT ?");
    assert!(encrypted.iter().all(|bytes| *bytes > 71_000), "{encrypted:?}");
}

#[test]
fn a_delayed_round_trip_takes_that_much_longer() {
    let url = PostgresServer::shared().url("postgres");
    let relay = Relay::start().unwrap();
    let settings = ConnectSettings { relay: Some(relay.clone()), ..ConnectSettings::default() };
    let database = AnyDatabase::open(&url, &settings).unwrap();
    on_worker(async {
        let mut session = database.connect(Role::User, 0).await.unwrap();
        let mut fastest = [Duration::MAX; 2];
        for (delay_us, fastest) in [0, 700].into_iter().zip(&mut fastest) {
            relay.delay(Duration::from_micros(delay_us));
            for _ in 0..50 {
                let began = tokio::time::Instant::now();
                session.ping().await.unwrap();
                *fastest = began.elapsed().min(*fastest);
            }
        }
        let more = fastest[1] - fastest[0];
        assert!(more >= Duration::from_micros(1300), "{fastest:?}");
        assert!(more < Duration::from_micros(2400), "not rounded to milliseconds: {fastest:?}");
    });
}
