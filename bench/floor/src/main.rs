//! The floor of a client's cost: one thread, one epoll, prepared point selects on pgbench's
//! accounts, every message assembled by hand and every answer only searched for its end. No library
//! between the loop and the socket. The server must trust the user, over TCP without TLS.
//!
//! `floor PORT DATABASE SCALE USERS LENGTH [--io-uring]` prints transactions and CPU µs per
//! transaction; LENGTH is a number of seconds (`4`) or of transactions (`8000t`). With `--io-uring`
//! the same messages are sent through Linux's io_uring instead of epoll, reads and writes.

#[cfg(target_os = "linux")]
mod ring;

use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;

use rustix::event::epoll;
use rustix::time::{ClockId, Timespec, clock_gettime};

const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let by_ring = args.last().is_some_and(|last| last == "--io-uring");
    args.truncate(args.len() - usize::from(by_ring));
    let [port, database, scale, users, length] = &args[..] else {
        return Err("usage: floor PORT DATABASE SCALE USERS LENGTH [--io-uring]".into());
    };
    let accounts = scale.parse::<u64>()? * 100_000;
    let mut users: Vec<User> = (0..users.parse::<u64>()?)
        .map(|seed| User::connect(port.parse().unwrap_or(0), database, seed))
        .collect::<Result<_, _>>()?;
    let length = Length::parse(length)?;
    let (count, cpu_ns) = match by_ring {
        false => drive(&mut users, accounts, length)?,
        #[cfg(target_os = "linux")]
        true => ring::drive(&mut users, accounts, length)?,
        #[cfg(not(target_os = "linux"))]
        true => return Err("io_uring is only available on Linux".into()),
    };
    let mut out = std::io::stdout();
    #[expect(clippy::cast_precision_loss, reason = "a figure")]
    let each = cpu_ns as f64 / 1000.0 / count as f64;
    writeln!(out, "{count} transactions, {each:.2} us of CPU each")?;
    Ok(())
}

/// How long to run.
#[derive(Clone, Copy)]
enum Length {
    Seconds(u64),
    Transactions(u64),
}

impl Length {
    fn parse(text: &str) -> Result<Self, std::num::ParseIntError> {
        match text.strip_suffix('t') {
            Some(count) => count.parse().map(Self::Transactions),
            None => text.parse().map(Self::Seconds),
        }
    }

    /// Whether a run that began at `start`, in nanoseconds, continues after this many transactions.
    fn goes_on(self, start: u64, count: u64) -> bool {
        match self {
            Self::Seconds(seconds) => {
                nanoseconds(ClockId::Monotonic) < start + seconds * 1_000_000_000
            }
            Self::Transactions(all) => count < all,
        }
    }
}

/// Runs to the end; returns transactions and CPU nanoseconds.
fn drive(users: &mut [User], accounts: u64, length: Length) -> Result<(u64, u64), Error> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (place, user) in users.iter().enumerate() {
        let data = epoll::EventData::new_u64(place as u64);
        epoll::add(&poll, &user.socket, data, epoll::EventFlags::IN)?;
    }
    let cpu = nanoseconds(ClockId::ProcessCPUTime);
    let start = nanoseconds(ClockId::Monotonic);
    for user in users.iter_mut() {
        user.send(accounts)?;
    }
    let mut events = Vec::with_capacity(users.len());
    let mut count = 0;
    while length.goes_on(start, count) {
        events.clear();
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), Some(&second))?;
        for event in &events {
            let user = &mut users[usize::try_from(event.data.u64()).unwrap_or(0)];
            if user.has_answer()? {
                count += 1;
                user.send(accounts)?;
            }
        }
    }
    Ok((count, nanoseconds(ClockId::ProcessCPUTime) - cpu))
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

struct User {
    socket: TcpStream,
    random: u64,
    request: Vec<u8>,
    answer: [u8; 4096],
    filled: usize,
}

impl User {
    fn connect(port: u16, database: &str, seed: u64) -> Result<Self, Error> {
        let socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_nodelay(true)?;
        let mut user = Self {
            socket,
            random: seed * 2 + 88_172_645_463_325_252,
            request: Vec::new(),
            answer: [0; 4096],
            filled: 0,
        };
        let mut body = 196_608u32.to_be_bytes().to_vec();
        for text in ["user", "postgres", "database", database] {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        body.push(0);
        let length = u32::try_from(body.len() + 4).map_err(Error::other)?;
        user.socket.write_all(&[&length.to_be_bytes()[..], &body].concat())?;
        user.wait()?;
        let parse = message(b'P', &[b"s\0", SELECT.as_bytes(), b"\0\0\x01\0\0\0\x17"].concat());
        user.socket.write_all(&[parse, message(b'S', b"")].concat())?;
        user.wait()?;
        user.socket.set_nonblocking(true)?;
        // Bind (portal "", statement s, one binary int4, binary results), Execute, Sync.
        let bind = message(b'B', b"\0s\0\0\x01\0\x01\0\x01\0\0\0\x04AAAA\0\x01\0\x01");
        user.request = [bind, message(b'E', b"\0\0\0\0\0"), message(b'S', b"")].concat();
        Ok(user)
    }

    /// Blocks until the server is ready for a query.
    fn wait(&mut self) -> Result<(), Error> {
        while !self.has_answer()? {}
        Ok(())
    }

    fn send(&mut self, accounts: u64) -> Result<(), Error> {
        self.draw(accounts)?;
        self.socket.write_all(&self.request)
    }

    /// Writes a random account to the request.
    fn draw(&mut self, accounts: u64) -> Result<(), Error> {
        // xorshift64 (Marsaglia 2003)
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let aid = u32::try_from(self.random % accounts + 1).map_err(Error::other)?;
        // The four As of the template.
        self.request[18..22].copy_from_slice(&aid.to_be_bytes());
        Ok(())
    }

    /// Reads what is available; returns true if it ends with ReadyForQuery.
    fn has_answer(&mut self) -> Result<bool, Error> {
        match self.socket.read(&mut self.answer[self.filled..]) {
            Ok(0) => Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(read) => self.take(read),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Processes the data read; returns true if it ends with ReadyForQuery.
    fn take(&mut self, read: usize) -> Result<bool, Error> {
        self.filled += read;
        let seen = &self.answer[..self.filled];
        if seen.first() == Some(&b'E') {
            return Err(Error::other(String::from_utf8_lossy(seen).into_owned()));
        }
        let done = self.filled >= 6 && seen[self.filled - 6..].starts_with(b"Z\0\0\0\x05");
        if done {
            self.filled = 0;
        }
        Ok(done)
    }
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(0);
    [&[kind][..], &length.to_be_bytes(), body].concat()
}
