//! How the client for SQL Server begins a session, with servers that violate the protocol or send it elsewhere: against
//! a small responder, on any host.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use triphammer_core::ErrorClass;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_drivers::sqlserver::SqlServer;
use triphammer_drivers::target::{ConnectSettings, TargetUrl};

use crate::session::on_worker;
use crate::sqlserver_responder::{
    LOGIN, PRELOGIN, StrictTls, change, connect, done, error, greeting, hear, message, packets,
    redirect, server, server_that_ends, session_with, set_up, token, url, welcome, welcome_to_8_0,
    wide,
};

#[test]
fn a_login_says_who_and_where_and_hides_the_password() {
    on_worker(async {
        let (session, heard) = session_with(vec![]).await;
        assert!(!session.is_closed());
        let (kind, data) = heard.recv().unwrap();
        assert_eq!(kind, PRELOGIN);
        assert_eq!(data[..5], [0, 0, 26, 0, 6], "the version comes first, behind the table");
        let (kind, data) = heard.recv().unwrap();
        assert_eq!((kind, &data[4..8]), (LOGIN, &[4, 0, 0, 0x74][..]), "TDS 7.4");
        let length = u32::from_le_bytes(data[..4].try_into().unwrap()) as usize;
        assert_eq!(length, data.len());
        let field = |entry: usize| {
            let at = 36 + 4 * entry;
            let short = |at: usize| usize::from(u16::from_le_bytes([data[at], data[at + 1]]));
            data[short(at)..short(at) + 2 * short(at + 2)].to_vec()
        };
        assert_eq!((field(1), field(3), field(8)), (wide("u"), wide("triphammer"), wide("d")));
        let hidden: Vec<u8> =
            wide("geheim").iter().map(|byte| byte.rotate_left(4) ^ 0xa5).collect();
        assert_eq!(field(2), hidden);
        let contains = |text: &[u8]| data.windows(text.len()).any(|part| part == text);
        assert!(!contains(&wide("geheim")) && !contains(b"geheim"));
    });
}

#[test]
fn a_login_asks_for_what_the_target_says() {
    on_worker(async {
        let (port, heard) = server(vec![greeting(), welcome(), set_up()]);
        let params =
            "instance=DEV&application-name=bench%201&packet-size=4096&application-intent=read-only";
        connect(&format!("{}?{params}", url(port))).await.unwrap();
        let (_, first) = heard.recv().unwrap();
        assert!(first.windows(4).any(|part| part == b"DEV\0"), "{first:02x?}");
        let (_, login) = heard.recv().unwrap();
        assert_eq!(login[8..12], 4096u32.to_le_bytes());
        assert_eq!(login[26], 0x20, "only for reads");
        let has = |text: &str| login.windows(2 * text.len()).any(|part| part == wide(text));
        assert!(has("bench 1"), "{login:02x?}");
    });
}

#[test]
fn a_start_that_breaks_the_protocol_is_an_error() {
    let login = |answer: &[u8]| vec![greeting(), message(answer)];
    let endless = change(1, &[]).repeat(2_000);
    let lost = ErrorClass::Disconnected;
    let cases: Vec<(Vec<Vec<u8>>, ErrorClass, &str)> = vec![
        (vec![vec![]], lost, "closed the connection"),
        (vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()], lost, "check host and port"),
        (vec![vec![4, 1, 0, 7, 0, 0, 0, 0]], lost, "check host and port"),
        (vec![vec![4, 1, 0xff, 0xff, 0, 0, 0, 0]], lost, "closed the connection"),
        (vec![message(&[])], lost, "cannot be parsed"),
        (vec![message(&[1, 0xff, 0xff, 0, 1, 0xff])], lost, "cannot be parsed"),
        (vec![message(&[1, 0, 6, 0, 1, 0xff, 9])], lost, "encryption"),
        (vec![message(&[0xff])], lost, "encryption"),
        (vec![packets(&[7; 9000], 4000)], lost, "first message"),
        (login(&[]), lost, "an answer without an end"),
        (login(&done()), lost, "without confirmation"),
        (login(&[0x42]), lost, "a token"),
        (login(&[0xaa, 0xff, 0xff]), lost, "ends too early"),
        (login(&token(0xaa, &[1, 2])), lost, "an error"),
        (login(&token(0xaa, &[0, 0, 0, 0, 0, 0, 0xff, 0xff])), lost, "an error"),
        (login(&token(0xe3, &[4, 9, 0])), lost, "a change"),
        (login(&token(0xe3, &[4, 1, b'x', 0, 0])), lost, "a packet size"),
        (login(&token(0xe3, &[8, 2, 1, 1, 0])), lost, "a transaction"),
        (login(&[endless, done()].concat()), lost, "too many tokens"),
        (login(&redirect("a b", 1433)), lost, "a redirection"),
        (login(&redirect("db1", 0)), lost, "a redirection"),
        (login(&redirect(&"x".repeat(300), 1433)), lost, "a redirection"),
        (
            login(&[error(18456, 14, "Login failed."), done()].concat()),
            ErrorClass::Refused,
            "Login failed",
        ),
        (
            login(&[error(4060, 11, "Cannot open"), error(18456, 14, "No"), done()].concat()),
            ErrorClass::Refused,
            "Cannot open",
        ),
        (
            login(&[error(17142, 14, "It is paused"), done()].concat()),
            ErrorClass::Unavailable,
            "paused",
        ),
    ];
    for (answers, class, words) in cases {
        let shown = format!("{:02x?}", answers.last().unwrap().iter().take(40).collect::<Vec<_>>());
        let (port, _heard) = server_that_ends(answers, true);
        let error = on_worker(connect(&url(port))).err().unwrap();
        assert_eq!(error.class(), class, "{shown}: {error}");
        assert!(error.message().contains(words), "{shown}: {error}");
        assert!(!error.message().contains("geheim"), "{error}");
    }
}

#[test]
fn a_database_that_was_there_is_awaited_and_one_that_was_not_is_missing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let no = |number, text| message(&[error(number, 14, text), done()].concat());
    let cannot =
        || message(&[error(4060, 11, "Cannot open"), error(18456, 14, "No"), done()].concat());
    std::thread::spawn(move || {
        let mut open = Vec::new();
        let first = [vec![cannot()], vec![welcome(), set_up()]];
        let later = [cannot(), no(35_250, "In transition"), no(18_456, "Login failed")];
        for answers in first.into_iter().chain(later.map(|answer| vec![answer])) {
            let (mut stream, _) = listener.accept().unwrap();
            for answer in [vec![greeting()], answers].concat() {
                hear(&mut stream).unwrap();
                stream.write_all(&answer).unwrap();
            }
            open.push(stream);
        }
    });
    on_worker(async {
        let (target, settings) =
            (TargetUrl::parse(&url(port)).unwrap(), ConnectSettings::default());
        let database = SqlServer::open_in(&target, &settings, &|_| None).unwrap();
        let error = database.connect(Role::User, 0).await.err().unwrap();
        assert_eq!((error.class(), error.lacks_database()), (ErrorClass::Refused, true));
        let _session = database.connect(Role::User, 0).await.unwrap();
        for (code, class) in [
            ("4060", ErrorClass::Unavailable),
            ("35250", ErrorClass::Unavailable),
            ("18456", ErrorClass::Refused),
        ] {
            let error = database.connect(Role::User, 1).await.err().unwrap();
            assert_eq!((error.class(), error.code()), (class, Some(code)));
        }
    });
}

#[test]
fn a_login_that_is_refused_without_a_password_says_how_to_give_one() {
    for (user, hints) in [("u", true), ("u:wrong", false)] {
        let refusal = message(&[error(18456, 14, "Login failed."), done()].concat());
        let (port, _heard) = server(vec![greeting(), refusal]);
        let url = format!("sqlserver://{user}@127.0.0.1:{port}/d");
        let error = on_worker(connect(&url)).err().unwrap();
        assert_eq!(error.message().contains("--password-file"), hints, "{error}");
        assert_eq!((error.class(), error.code()), (ErrorClass::Refused, Some("18456")));
    }
}

#[test]
fn a_packet_size_that_no_server_chooses_is_refused() {
    for size in ["0", "8", "511", "32768", "4294967296"] {
        let ack = token(0xad, &[1]);
        let units = u8::try_from(size.len()).unwrap();
        let body = [&[4, units][..], &wide(size), &[0]].concat();
        let answer = message(&[ack, token(0xe3, &body), done()].concat());
        let (port, _heard) = server(vec![greeting(), answer]);
        let error = on_worker(connect(&url(port))).err().unwrap();
        assert!(error.message().contains("a packet size"), "{size}: {error}");
    }
}

#[test]
fn encryption_that_is_required_is_not_given_up() {
    for (params, words) in [
        ("encrypt=on&trust-server-certificate=on", "offers no encryption"),
        ("encrypt=strict&ca=CA", "TLS failed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        triphammer_testbed::write_certificates(folder.path(), "u").unwrap();
        let ca = folder.path().join("ca.crt").display().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = [0; 4096];
            let _ = stream.read(&mut heard);
            let _ = stream.write_all(&greeting());
            let _ = stream.read(&mut heard);
        });
        let url = format!("{}?{}", url(port), params.replace("CA", &ca));
        let error = on_worker(connect(&url)).err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{params}: {error}");
        assert!(error.message().contains(words), "{params}: {error}");
    }
}

/// A server for one session with strict TLS, whose handshake comes before everything else. Returns
/// its port, and what it heard after the version of TLS.
fn strict_server(folder: &Path, answers: Vec<Vec<u8>>) -> (u16, Receiver<(u8, Vec<u8>)>) {
    let tls = StrictTls::with_certificate(folder);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut stream = tls.accept(listener.accept().unwrap().0);
        for (place, answer) in answers.into_iter().enumerate() {
            let Some(heard) = hear(&mut stream) else { return };
            if place == 0 {
                let named = stream.conn.alpn_protocol().map(<[u8]>::to_vec);
                let version = stream.conn.protocol_version();
                let is_newest = version == Some(rustls::ProtocolVersion::TLSv1_3);
                // The test may have seen enough.
                let _ = sender.send((u8::from(is_newest), named.unwrap_or_default()));
            }
            let _ = sender.send(heard);
            let _ = stream.write_all(&answer);
        }
        while let Some(heard) = hear(&mut stream) {
            let _ = sender.send(heard);
        }
    });
    (port, receiver)
}

#[test]
fn strict_tls_comes_before_the_first_message_and_its_certificate_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    triphammer_testbed::write_certificates(folder.path(), "u").unwrap();
    let with = |port: u16, ca: &str, more: &str| {
        let ca = folder.path().join(ca).display().to_string();
        format!("{}?encrypt=strict&ca={ca}{more}", url(port))
    };
    let answers = || vec![greeting(), welcome_to_8_0(), set_up()];
    let (port, heard) = strict_server(folder.path(), answers());
    let target = with(port, "ca.crt", "");
    on_worker(async { assert!(!connect(&target).await.unwrap().is_closed()) });
    let heard: Vec<_> = heard.iter().take(3).collect();
    assert_eq!(heard[0], (1, b"tds/8.0".to_vec()), "TLS 1.3, and the protocol is named");
    assert_eq!((heard[1].0, heard[2].0), (PRELOGIN, LOGIN));
    assert_eq!(heard[2].1[4..8], [0, 0, 0, 8], "TDS 8.0");
    for (ca, more, words) in [
        ("other-ca.crt", "", "certificate"),
        ("ca.crt", "&host-in-certificate=db1", "not valid for name"),
    ] {
        let (port, _heard) = strict_server(folder.path(), answers());
        let error = on_worker(connect(&with(port, ca, more))).err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{more}: {error}");
        assert!(error.message().contains(words), "{more}: {error}");
    }
}

#[test]
fn redirections_are_followed_a_few_times_and_can_be_forbidden() {
    let last = server(vec![greeting(), welcome(), set_up()]);
    let first = server(vec![
        greeting(),
        message(&[redirect("127.0.0.1", last.0), token(0xad, &[1]), done()].concat()),
    ]);
    on_worker(async {
        let target = TargetUrl::parse(&url(first.0)).unwrap();
        let database = SqlServer::open_in(&target, &ConnectSettings::default(), &|_| None).unwrap();
        database.connect(Role::User, 0).await.unwrap();
        let expected = format!("redirected sessions to 127.0.0.1:{}", last.0);
        assert!(database.notes().iter().any(|note| note.contains(&expected)));
    });
    // The session is closed, also on a ring, whose thread must not be blocked until then.
    assert_eq!(last.1.iter().count(), 3, "the other server has the session");

    // Without a word about encryption, only sessions on this host go without.
    for (params, words) in [
        ("?redirects=off", "redirects to db2:1433, but redirects=off"),
        ("", "redirects to db2:1433, and without `encrypt` in the target"),
    ] {
        let elsewhere = message(&[redirect("db2", 1433), done()].concat());
        let (port, _heard) = server(vec![greeting(), elsewhere]);
        let error = on_worker(connect(&format!("{}{params}", url(port)))).err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
}

#[test]
fn redirections_without_end_are_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            for answer in [greeting(), message(&[redirect("127.0.0.1", port), done()].concat())] {
                if hear(&mut stream).is_some() {
                    let _ = stream.write_all(&answer);
                }
            }
        }
    });
    let error = on_worker(connect(&url(port))).err().unwrap();
    assert_eq!(error.class(), ErrorClass::Refused);
    assert!(error.message().contains("redirects more than 3 times"), "{error}");
}

#[test]
fn an_instance_is_found_by_its_browser() {
    let (port, _heard) = server(vec![greeting(), welcome(), set_up()]);
    let browser = UdpSocket::bind("127.0.0.1:0").unwrap();
    let browser_port = browser.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut asked = [0; 64];
        let (length, client) = browser.recv_from(&mut asked).unwrap();
        assert_eq!(&asked[..length], b"\x04DEV\0");
        let text = format!("ServerName;H;InstanceName;DEV;IsClustered;No;Version;16;tcp;{port};;");
        let answer = [&[5][..], &u16::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()];
        browser.send_to(&answer.concat(), client).unwrap();
    });
    let target = format!("sqlserver://u@127.0.0.1/d?instance=DEV&browser-port={browser_port}");
    on_worker(async { assert!(!connect(&target).await.unwrap().is_closed()) });
    thread.join().unwrap();
}
