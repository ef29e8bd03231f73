//! The relay between real sockets.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as its own lines do")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use triphammer_proxy::{Relay, Upstream};

/// Starts a server that echoes what it receives.
fn echo() -> Upstream {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || echo_back(stream));
        }
    });
    Upstream::Tcp(address)
}

fn echo_back(mut stream: impl Read + Write) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
}

fn relay() -> (Relay, SocketAddr) {
    let relay = Relay::start().unwrap();
    let address = relay.route(&echo()).unwrap();
    (relay, address)
}

#[expect(clippy::disallowed_methods, reason = "the delay of the relay is real time")]
fn round_trip(stream: &mut TcpStream) -> Duration {
    let start = Instant::now();
    stream.write_all(b"ping").unwrap();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"ping");
    start.elapsed()
}

#[test]
fn it_delays_both_ways_and_is_silent_when_cut() {
    let (relay, address) = relay();
    let mut stream = TcpStream::connect(address).unwrap();
    let fast = (0..20).map(|_| round_trip(&mut stream)).min().unwrap();
    assert!(fast < Duration::from_millis(100), "{fast:?}");
    relay.delay(Duration::from_millis(100));
    assert!(round_trip(&mut stream) >= Duration::from_millis(200));
    relay.delay(Duration::ZERO);
    relay.cut();
    stream.write_all(b"ping").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let error = stream.read(&mut [0; 4]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    let mut late = TcpStream::connect(address).unwrap();
    relay.heal();
    stream.set_read_timeout(None).unwrap();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"ping", "what was sent while it was cut arrives");
    round_trip(&mut stream);
    round_trip(&mut late);
}

#[test]
fn it_counts_what_it_receives_and_delays_less_than_a_millisecond() {
    let (relay, address) = relay();
    let mut stream = TcpStream::connect(address).unwrap();
    let fast = (0..20).map(|_| round_trip(&mut stream)).min().unwrap();
    assert_eq!(relay.received(), [80, 80], "20 times 4 bytes each way");
    relay.delay(Duration::from_micros(300));
    let delayed = (0..20).map(|_| round_trip(&mut stream)).min().unwrap();
    assert!(delayed >= Duration::from_micros(600), "{delayed:?}");
    assert!(delayed < fast + Duration::from_micros(1800), "not whole milliseconds: {delayed:?}");
}

#[test]
fn a_reset_closes_what_was_open_and_lets_new_connections_through() {
    let (relay, address) = relay();
    let mut stream = TcpStream::connect(address).unwrap();
    round_trip(&mut stream);
    relay.cut();
    stream.write_all(b"ping").unwrap();
    relay.reset();
    assert!(!matches!(stream.read(&mut [0; 4]), Ok(1..)), "what was not forwarded is lost");
    round_trip(&mut TcpStream::connect(address).unwrap());
}

#[test]
fn ends_are_passed_on_and_dropping_it_closes_everything() {
    let (relay, address) = relay();
    let mut closing = TcpStream::connect(address).unwrap();
    round_trip(&mut closing);
    closing.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(closing.read(&mut [0; 4]).unwrap(), 0, "the server closed in answer");
    let mut open = TcpStream::connect(address).unwrap();
    round_trip(&mut open);
    drop(relay);
    assert!(!matches!(open.read(&mut [0; 4]), Ok(1..)));
}

#[test]
fn a_server_has_one_route() {
    let relay = Relay::start().unwrap();
    let (one, other) = (echo(), echo());
    let address = relay.route(&one).unwrap();
    assert_eq!(relay.route(&one).unwrap(), address);
    assert_ne!(relay.route(&other).unwrap(), address);
}

#[cfg(unix)]
#[test]
fn a_route_leads_to_a_unix_socket() {
    let file = std::env::temp_dir().join(format!("th-relay-{}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&file).unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || echo_back(stream));
        }
    });
    let relay = Relay::start().unwrap();
    let address = relay.route(&Upstream::Unix(file.clone())).unwrap();
    round_trip(&mut TcpStream::connect(address).unwrap());
    std::fs::remove_file(file).unwrap();
}
