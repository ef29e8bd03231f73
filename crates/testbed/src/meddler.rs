//! A proxy between a real client and a real server that splits the server's messages and sends the
//! client something else: corrupted ones, reproducible by a seed; the same row forever; one byte
//! at a time; or nothing any more.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How messages are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A type, four bytes of length including themselves, the content.
    Postgres,
    /// Three bytes of length, a number, the content.
    Mysql,
}

/// Change that the proxy makes to the server's messages.
#[derive(Clone, Copy, Debug)]
pub enum Meddling {
    /// Forwards everything unchanged.
    Nothing,
    /// After this many messages, over all connections, forwards nothing from the server.
    Silence {
        /// Number of messages that are forwarded.
        after: u64,
    },
    /// Repeats the row of this number, over all connections, without end.
    Endless {
        /// Number of the row, from 1.
        row: u64,
    },
    /// Answers every statement to prepare with an error, as through a transaction pooler. Only for
    /// [`Framing::Postgres`].
    RejectParse {
        /// SQLSTATE of the error.
        code: &'static str,
        /// Its message.
        message: &'static str,
    },
    /// Sends every byte separately.
    Drip,
    /// Corrupts about one message in `every` in one of many ways.
    Random {
        /// Seed; the same seed corrupts the same messages in the same ways.
        seed: u64,
        /// One message in this many is corrupted.
        every: u64,
    },
}

/// The proxy, on 127.0.0.1. It closes all its connections when it is dropped.
#[derive(Debug)]
pub struct Meddler {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: u16,
    framing: Framing,
    meddling: Meddling,
    ended: AtomicBool,
    messages: AtomicU64,
    rows: AtomicU64,
    broken: AtomicU64,
    open: Mutex<Vec<TcpStream>>,
}

impl Meddler {
    /// Starts a proxy in front of 127.0.0.1:`upstream`.
    ///
    /// # Panics
    /// When the system has no port or no thread left.
    #[must_use]
    pub fn start(upstream: u16, framing: Framing, meddling: Meddling) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared {
            upstream,
            framing,
            meddling,
            ended: AtomicBool::new(false),
            messages: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            broken: AtomicU64::new(0),
            open: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || accept(&listener, &accepting));
        Self { port, shared }
    }

    /// The port on 127.0.0.1 that clients should connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Number of messages from the server so far.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.shared.messages.load(Ordering::Relaxed)
    }

    /// Number of messages corrupted so far; for an endless row, how often it was repeated.
    #[must_use]
    pub fn broken(&self) -> u64 {
        self.shared.broken.load(Ordering::Relaxed)
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        for stream in self.shared.open.lock().expect("no thread panics while holding it").drain(..)
        {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut number = 0;
    while let Ok((client, _)) = listener.accept() {
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.upstream)) else {
            continue;
        };
        let copies =
            (client.try_clone(), server.try_clone(), client.try_clone(), server.try_clone());
        let (Ok(from), Ok(to), Ok(kept), Ok(kept_too)) = copies else { continue };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        shared.open.lock().expect("no thread panics while holding it").extend([kept, kept_too]);
        std::thread::spawn(move || forward(from, to));
        let of_connection = Arc::clone(shared);
        number += 1;
        std::thread::spawn(move || {
            Connection::new(of_connection, client, number).meddle(server);
        });
    }
}

/// Forwards what the client sends, unchanged.
fn forward(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}

struct Connection {
    shared: Arc<Shared>,
    client: TcpStream,
    chance: Chance,
    passed: u64,
    /// A message that is sent after the next one.
    held: Vec<u8>,
    /// Whether the rest of the answer is dropped, because an error was sent in its place.
    is_rejecting: bool,
}

impl Connection {
    fn new(shared: Arc<Shared>, client: TcpStream, number: u64) -> Self {
        let seed = if let Meddling::Random { seed, .. } = shared.meddling { seed } else { 0 };
        let chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
        Self { shared, client, chance, passed: 0, held: Vec::new(), is_rejecting: false }
    }

    /// Forwards messages until either side closes.
    fn meddle(mut self, mut server: TcpStream) {
        let mut waiting = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        'open: while let Ok(count @ 1..) = server.read(&mut buffer) {
            waiting.extend_from_slice(&buffer[..count]);
            while let Some(length) = self.length(&waiting) {
                let message: Vec<u8> = waiting.drain(..length).collect();
                if self.pass(message).is_err() {
                    break 'open;
                }
            }
        }
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }

    /// Length of the first message if it is complete.
    fn length(&self, waiting: &[u8]) -> Option<usize> {
        let length = match (self.shared.framing, waiting) {
            (Framing::Postgres, &[_, a, b, c, d, ..]) => {
                1 + u32::from_be_bytes([a, b, c, d]) as usize
            }
            (Framing::Mysql, &[a, b, c, _, ..]) => 4 + u32::from_le_bytes([a, b, c, 0]) as usize,
            _ => return None,
        };
        (waiting.len() >= length).then_some(length)
    }

    /// Whether a message is, as far as can be told, a row of a result.
    fn is_row(&self, message: &[u8]) -> bool {
        match self.shared.framing {
            Framing::Postgres => message[0] == b'D',
            // After the login and the columns, and neither an error nor the end.
            Framing::Mysql => {
                let is_later = self.passed > 3 && message[3] > 2;
                is_later
                    && message.len() > 5
                    && !matches!(message[4], 0xfe | 0xff)
                    && !message[4..].starts_with(b"\x03def")
            }
        }
    }

    fn pass(&mut self, message: Vec<u8>) -> std::io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let number = shared.messages.fetch_add(1, Ordering::Relaxed) + 1;
        self.passed += 1;
        match shared.meddling {
            Meddling::Nothing => self.client.write_all(&message),
            Meddling::Silence { after } if number > after => self.say_nothing(),
            Meddling::Silence { .. } => self.client.write_all(&message),
            Meddling::RejectParse { code, message: text } => match message[0] {
                b'1' => {
                    self.is_rejecting = true;
                    self.client.write_all(&error_response(code, text))
                }
                kind => {
                    self.is_rejecting &= kind != b'Z';
                    if self.is_rejecting { Ok(()) } else { self.client.write_all(&message) }
                }
            },
            Meddling::Drip => message.chunks(1).try_for_each(|byte| self.client.write_all(byte)),
            Meddling::Endless { row } => {
                let is_it =
                    self.is_row(&message) && shared.rows.fetch_add(1, Ordering::Relaxed) + 1 == row;
                self.client.write_all(&message)?;
                let many = if is_it { message.repeat(64) } else { return Ok(()) };
                loop {
                    self.client.write_all(&many)?;
                    shared.broken.fetch_add(64, Ordering::Relaxed);
                }
            }
            Meddling::Random { every, .. } if self.chance.below(every) == 0 => {
                shared.broken.fetch_add(1, Ordering::Relaxed);
                self.break_up(message)
            }
            Meddling::Random { .. } => {
                self.client.write_all(&message)?;
                let held = std::mem::take(&mut self.held);
                self.client.write_all(&held)
            }
        }
    }

    /// Keeps the connection open and forwards nothing.
    fn say_nothing(&self) -> std::io::Result<()> {
        while !self.shared.ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(std::io::ErrorKind::ConnectionAborted.into())
    }

    /// Sends the client something other than the message.
    fn break_up(&mut self, mut message: Vec<u8>) -> std::io::Result<()> {
        let head = if self.shared.framing == Framing::Postgres { 5 } else { 4 };
        let length = message.len();
        let place = self.chance.index(length);
        let in_body = head + self.chance.index(length.saturating_sub(head).max(1));
        let bit = 1 << self.chance.below(8);
        match self.chance.below(14) {
            0 | 1 if in_body < length => message[in_body] ^= bit,
            2 => message[place.min(head - 1)] ^= bit,
            3 => message.truncate(place),
            4 => {
                self.client.write_all(&message[..place])?;
                return Err(std::io::ErrorKind::ConnectionAborted.into());
            }
            5 => {
                let huge = self.chance.next().to_be_bytes();
                let at = if head == 5 { 1..5 } else { 0..3 };
                let bytes = at.len();
                message[at].copy_from_slice(&huge[..bytes]);
            }
            6 => message.extend_from_within(..),
            7 => {
                std::mem::swap(&mut self.held, &mut message);
                return self.client.write_all(&message);
            }
            8 => {
                let garbage: Vec<u8> = (0..=place).map(|_| self.chance.byte()).collect();
                message = [garbage, message].concat();
            }
            9 => message[head.min(length)..].fill_with(|| self.chance.byte()),
            10 => message.clear(),
            11 => message[head.min(length)..].fill(if bit > 8 { 0 } else { 0xff }),
            12 => message[if head == 5 { 0 } else { 4.min(length - 1) }] = self.chance.byte(),
            13 if self.chance.below(4) == 0 => return self.say_nothing(),
            _ => message[place] = self.chance.byte(),
        }
        self.client.write_all(&message)
    }
}

/// PostgreSQL's message of an error.
fn error_response(code: &str, text: &str) -> Vec<u8> {
    let fields = format!("SERROR\0VERROR\0C{code}\0M{text}\0\0");
    let length = u32::try_from(fields.len() + 4).expect("a short text");
    [b"E", length.to_be_bytes().as_slice(), fields.as_bytes()].concat()
}

/// Seeded random numbers (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).expect("below a length")
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}

/// Settings of a long test by seeds: seed and duration from the environment variables
/// `TRIPHAMMER_FUZZ_SEED` and `TRIPHAMMER_FUZZ_SECONDS`; without the latter, `seconds`.
#[must_use]
pub fn fuzz_settings(seconds: u64) -> (u64, Duration) {
    let read = |name: &str| std::env::var(name).ok()?.parse().ok();
    let seconds = read("TRIPHAMMER_FUZZ_SECONDS").unwrap_or(seconds);
    (read("TRIPHAMMER_FUZZ_SEED").unwrap_or(1), Duration::from_secs(seconds))
}
