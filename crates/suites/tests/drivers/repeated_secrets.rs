//! Servers that repeat the password, wherever they can say something: no error, note or name shows it.

use std::fmt::Debug;

use triphammer_core::session::{Admin as _, Database as _, Role, Session as _};
use triphammer_drivers::target::{ConnectSettings, Secret};
use triphammer_drivers::{AnyDatabase, AnySession};

use crate::postgres_wire::breaking::{message as pg_message, welcome as pg_welcome};
use crate::session::{answering, no_database, on_worker, rows_of};
use crate::sqlserver_responder::{
    COLLATION, columns, done, done_with, error, greeting, login_ack, message, redirect, server,
    set_up, token, welcome, wide,
};

/// The password; in the messages of servers, other words stand beside it.
const PASSWORD: &str = "geheim";

fn open(url: &str, password: Option<&str>) -> AnyDatabase {
    let password = password.map(Secret::new);
    AnyDatabase::open(url, &ConnectSettings { password, ..Default::default() }).unwrap()
}

async fn session(url: &str) -> AnySession {
    open(url, None).connect(Role::User, 0).await.unwrap()
}

/// What was shown of a server's text: all of it but the password.
fn check(shown: &impl Debug, words: &str) {
    let shown = format!("{shown:?}");
    assert!(shown.contains(words) && !shown.contains(PASSWORD), "{shown}");
}

/// Why there is no session, with the password in the URL and beside it.
fn refusal(url: impl Fn(&str) -> String, words: &str) {
    for (userinfo, password) in
        [("u:geheim", None), ("u:other", Some(PASSWORD)), ("u", Some(PASSWORD))]
    {
        let database = open(&url(userinfo), password);
        let error = on_worker(database.connect(Role::User, 0)).err().unwrap();
        check(&(&error, database.notes(), database.target()), words);
    }
}

mod sqlserver {
    use super::*;

    fn url(port: u16, params: &str) -> String {
        format!("sqlserver://u:geheim@127.0.0.1:{port}/d{params}")
    }

    /// An information message, which has the form of an error.
    fn information() -> Vec<u8> {
        let mut out = error(5701, 10, "Your password is geheim");
        out[0] = 0xab;
        out
    }

    /// A row of three texts.
    fn texts(text: &str) -> Vec<u8> {
        let kind = [&[0xe7, 0x40, 0x1f][..], COLLATION].concat();
        let length = u16::try_from(2 * text.len()).unwrap().to_le_bytes();
        let field = [&length[..], &wide(text)].concat();
        let row = [&[0xd1][..], &field.repeat(3)].concat();
        message(&[columns(&[&kind[..]; 3]), row, done_with(0xfd, 0x10, 1)].concat())
    }

    #[test]
    fn a_login_is_refused() {
        for text in
            ["Login with password geheim failed", "failed: geheim", "'u'/'geheim' failed, xgeheimx"]
        {
            let answer = message(&[information(), error(18456, 14, text), done()].concat());
            let start = || vec![greeting(), answer.clone()];
            refusal(
                |userinfo| format!("sqlserver://{userinfo}@127.0.0.1:{}/d", server(start()).0),
                "failed",
            );
        }
    }

    #[test]
    fn a_session_is_sent_elsewhere() {
        let answer = message(&[redirect(PASSWORD, 1433), login_ack(), done()].concat());
        for (params, words) in [("", "redirects to ***:1433"), ("?redirects=off", "redirects=off")]
        {
            let (port, _heard) = server(vec![greeting(), answer.clone()]);
            let error =
                on_worker(open(&url(port, params), None).connect(Role::User, 0)).err().unwrap();
            check(&error, words);
        }
        // Where the redirection is followed, the note about it.
        let database = {
            let (port, _heard) = server(vec![greeting(), answer]);
            open(&url(port, "?encrypt=off&connect-timeout=5"), None)
        };
        let error = on_worker(database.connect(Role::User, 0)).err().unwrap();
        check(&(error, database.notes()), "the server has redirected sessions to ***:1433");
    }

    #[test]
    fn names_of_the_environment_are_read() {
        // A language and a database, which nothing shows, and a packet size, which is none.
        let name = |kind| token(0xe3, &[&[kind, 6][..], &wide(PASSWORD), &[0]].concat());
        let answer = message(&[name(1), name(2), name(4), login_ack(), done()].concat());
        refusal(
            |userinfo| {
                format!(
                    "sqlserver://{userinfo}@127.0.0.1:{}/d",
                    server(vec![greeting(), answer.clone()]).0
                )
            },
            "a packet size",
        );
    }

    #[test]
    fn a_statement_fails_and_the_server_says_what_it_is() {
        let failure =
            message(&[information(), error(50_000, 16, "geheim is wrong"), done()].concat());
        let opening = vec![greeting(), welcome(), set_up()];
        let answers = [failure.clone(), failure.clone(), failure, texts("Version geheim")];
        let (port, _heard) = server([opening, answers.to_vec()].concat());
        on_worker(async {
            let mut session = session(&url(port, "")).await;
            check(&session.script("SELECT 1").await.unwrap_err(), "*** is wrong");
            check(&rows_of(&mut session, "SELECT 1").await.unwrap_err(), "*** is wrong");
            check(&session.tables().await.unwrap_err(), "*** is wrong");
            check(&session.server().await.unwrap(), "Version ***");
        });
    }
}

#[test]
fn postgresql_refuses_a_login_and_a_statement() {
    let body = b"SFATAL\0C28P01\0Mpassword geheim is wrong\0Dit is geheim\0Hnot geheim\0\0";
    let failure = pg_message(b'E', body);
    let start = || vec![failure.clone()];
    refusal(
        |userinfo| {
            format!("postgres://{userinfo}@127.0.0.1:{}/d?sslmode=disable", answering(start()))
        },
        "password *** is wrong; detail: it is ***; hint: not ***",
    );
    let port = answering(vec![pg_welcome(), failure.clone()]);
    let url = format!("postgres://u:geheim@127.0.0.1:{port}/d?sslmode=disable");
    on_worker(async {
        let mut session = session(&url).await;
        check(&session.script("SELECT 1").await.unwrap_err(), "password *** is wrong");
    });
}

#[test]
fn mysql_refuses_a_login() {
    let text = b"#28000Access denied: geheim";
    let length = u8::try_from(text.len() + 3).unwrap();
    let packet = [&[length, 0, 0, 0, 0xff, 0x15, 0x04][..], text].concat();
    refusal(
        |userinfo| {
            format!(
                "mysql://{userinfo}@127.0.0.1:{}/d?ssl-mode=DISABLED",
                no_database(packet.clone())
            )
        },
        "Access denied: ***",
    );
}

#[test]
fn trino_repeats_the_header_of_a_request() {
    // "u:geheim", as a proxy would show the request that it rejects; a long text is cut.
    for padding in [0, 150, 165, 170, 175, 180] {
        let text =
            format!("{} geheim, authorization: Basic dTpnZWhlaW0=, geheim", "x".repeat(padding));
        let length = text.len();
        let answer = format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {length}\r\n\r\n{text}");
        let port = answering(vec![answer.into_bytes()]);
        let url = format!("trino://u:geheim@127.0.0.1:{port}/c/s");
        let error = on_worker(open(&url, None).connect(Role::User, 0)).err().unwrap();
        check(&error, "rejected user or password");
        assert!(!error.message().contains("dTpn"), "{error}");
        assert!(error.message().contains("***"), "{error}");
    }
}
