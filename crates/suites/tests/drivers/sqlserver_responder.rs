//! A small responder for the client for SQL Server: it answers each message with what a test says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use triphammer_core::DbError;
use triphammer_core::session::{Database as _, Role};
use triphammer_drivers::sqlserver::{SqlServer, SqlServerSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};

/// Types of messages from the client.
pub const BATCH: u8 = 1;
pub const CALL: u8 = 3;
pub const PRELOGIN: u8 = 18;
pub const LOGIN: u8 = 16;
pub const ATTENTION: u8 = 6;
pub const TRANSACTION: u8 = 14;

pub async fn connect(url: &str) -> Result<SqlServerSession, DbError> {
    let url = TargetUrl::parse(url).unwrap();
    let settings = ConnectSettings { connect_limit: Duration::from_secs(20), ..Default::default() };
    SqlServer::open_in(&url, &settings, &|_| None).unwrap().connect(Role::User, 0).await
}

/// A message of the server in packets of that many bytes of data.
pub fn packets(data: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let chunks: Vec<&[u8]> = if data.is_empty() { vec![data] } else { data.chunks(size).collect() };
    for (place, chunk) in chunks.iter().enumerate() {
        let ends = u8::from(place + 1 == chunks.len());
        let length = u16::try_from(chunk.len() + 8).unwrap().to_be_bytes();
        out.extend_from_slice(&[4, ends, length[0], length[1], 0, 0, 1, 0]);
        out.extend_from_slice(chunk);
    }
    out
}

pub fn message(data: &[u8]) -> Vec<u8> {
    packets(data, 4000)
}

pub fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A token whose body is preceded by its length in two bytes.
pub fn token(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[kind][..], &length, body].concat()
}

pub fn done_with(kind: u8, status: u16, count: u64) -> Vec<u8> {
    [&[kind][..], &status.to_le_bytes(), &[0, 0], &count.to_le_bytes()].concat()
}

pub fn done() -> Vec<u8> {
    done_with(0xfd, 0, 0)
}

pub fn error(number: i32, severity: u8, text: &str) -> Vec<u8> {
    let units = u16::try_from(text.encode_utf16().count()).unwrap();
    let mut body = number.to_le_bytes().to_vec();
    body.extend_from_slice(&[1, severity]);
    body.extend_from_slice(&units.to_le_bytes());
    body.extend_from_slice(&wide(text));
    body.extend_from_slice(&[0, 0, 1, 0, 0, 0]);
    token(0xaa, &body)
}

/// A change of the environment with a new and an old value of bytes.
pub fn change(kind: u8, new: &[u8]) -> Vec<u8> {
    let length = u8::try_from(new.len()).unwrap();
    token(0xe3, &[&[kind, length][..], new, &[0]].concat())
}

pub fn redirect(host: &str, port: u16) -> Vec<u8> {
    let units = u16::try_from(host.encode_utf16().count()).unwrap().to_le_bytes();
    let new = [&[0][..], &port.to_le_bytes(), &units, &wide(host)].concat();
    let length = u16::try_from(new.len()).unwrap().to_le_bytes();
    token(0xe3, &[&[20][..], &length, &new, &[0, 0]].concat())
}

/// Columns of these types, without names.
pub fn columns(types: &[&[u8]]) -> Vec<u8> {
    let count = u16::try_from(types.len()).unwrap().to_le_bytes();
    let mut out = [&[0x81][..], &count].concat();
    for info in types {
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(info);
        out.push(0);
    }
    out
}

pub const INT: &[u8] = &[0x26, 4];
/// Latin1 by code page 1252.
pub const COLLATION: &[u8] = &[9, 4, 0xd0, 0, 0x34];
pub const LONG_TEXT: &[u8] = &[0xa7, 0xff, 0xff, 9, 4, 0xd0, 0, 0x34];

pub fn int_row(value: i32) -> Vec<u8> {
    [&[0xd1, 4][..], &value.to_le_bytes()].concat()
}

/// The answer to the first message: a version, and no encryption.
pub fn greeting() -> Vec<u8> {
    let options = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff];
    message(&[&options[..], &[16, 0, 0, 0, 0, 0], &[2]].concat())
}

/// The token that accepts a login: TDS 7.4, the server's name and version.
pub fn login_ack() -> Vec<u8> {
    login_ack_to([0x74, 0, 0, 4])
}

fn login_ack_to(version: [u8; 4]) -> Vec<u8> {
    token(0xad, &[&[1][..], &version, &[4], &wide("Test"), &[16, 0, 0, 0]].concat())
}

/// The answer to a login: the collation of texts, and that it is accepted.
pub fn welcome() -> Vec<u8> {
    message(&[change(7, COLLATION), login_ack(), done()].concat())
}

/// The same for TDS 8.0.
pub fn welcome_to_8_0() -> Vec<u8> {
    message(&[change(7, COLLATION), login_ack_to([8, 0, 0, 0]), done()].concat())
}

/// The server's side of strict TLS, whose handshake comes before everything else.
#[derive(Clone)]
pub struct StrictTls(Arc<rustls::ServerConfig>);

impl StrictTls {
    /// With the certificate of the server in a folder.
    pub fn with_certificate(folder: &Path) -> Self {
        let chain = CertificateDer::pem_file_iter(folder.join("server.crt")).unwrap();
        let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut config = config.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
        Self(Arc::new(config))
    }

    /// A connection that a client begins.
    pub fn accept(
        &self,
        stream: TcpStream,
    ) -> rustls::StreamOwned<rustls::ServerConnection, TcpStream> {
        let connection = rustls::ServerConnection::new(Arc::clone(&self.0)).unwrap();
        rustls::StreamOwned::new(connection, stream)
    }
}

/// The answer to the question that begins a session.
pub fn set_up() -> Vec<u8> {
    let null = [&int_row(52)[..], &[0]].concat();
    message(&[columns(&[INT, INT]), null, done_with(0xfd, 0x10, 1)].concat())
}

/// The answer to a statement that is prepared as number 7.
pub fn prepared() -> Vec<u8> {
    let handle = [&[0xac, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], INT, &[4, 7, 0, 0, 0]].concat();
    message(&[&[0x79, 0, 0, 0, 0][..], &handle, &done_with(0xfe, 0, 0)].concat())
}

/// Reads one message; returns its type and its data.
pub fn hear(stream: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut data = Vec::new();
    loop {
        let mut head = [0; 8];
        stream.read_exact(&mut head).ok()?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let mut part = vec![0; length - 8];
        stream.read_exact(&mut part).ok()?;
        data.extend_from_slice(&part);
        if head[1] & 1 != 0 {
            return Some((head[0], data));
        }
    }
}

/// A server for one session, which answers each message with the next of `answers`. Returns its
/// port, and the types and data of what it received.
pub fn server(answers: Vec<Vec<u8>>) -> (u16, Receiver<(u8, Vec<u8>)>) {
    server_that_ends(answers, false)
}

/// Like [`server`]; closes the connection after the last answer, or when the client does.
pub fn server_that_ends(answers: Vec<Vec<u8>>, closes: bool) -> (u16, Receiver<(u8, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in answers {
            let Some(heard) = hear(&mut stream) else { return };
            // The test may have seen enough.
            let _ = sender.send(heard);
            let _ = stream.write_all(&answer);
        }
        while !closes && let Some(heard) = hear(&mut stream) {
            let _ = sender.send(heard);
        }
    });
    (port, receiver)
}

pub fn url(port: u16) -> String {
    format!("sqlserver://u:geheim@127.0.0.1:{port}/d")
}

/// A session, whose server sends `answers` after those that open it.
pub async fn session_with(answers: Vec<Vec<u8>>) -> (SqlServerSession, Receiver<(u8, Vec<u8>)>) {
    let opening = vec![greeting(), welcome(), set_up()];
    let (port, heard) = server([opening, answers].concat());
    (connect(&url(port)).await.unwrap(), heard)
}
