//! Finds the port of a named instance by SQL Server Browser (MS-SQLR), over UDP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::timeout;
use triphammer_core::{DbError, ErrorClass};

use crate::socket::{Address, resolve};

/// Requests the ports of one instance.
const ASK_INSTANCE: u8 = 4;
/// First byte of an answer.
const ANSWER: u8 = 5;
/// Longest answer about one instance, in bytes.
const ANSWER_BYTES_MAX: usize = 1024;
/// Requests that are sent, since any may be lost.
const TRIES: u32 = 3;

/// Finds the TCP port of an instance.
///
/// # Errors
/// `Disconnected` when nobody answers, or the instance has no such port.
pub(super) async fn find_port(
    host: &str,
    browser_port: u16,
    instance: &str,
    limit: Duration,
) -> Result<u16, DbError> {
    let failed = |cause: &str| {
        let message = format!(
            "could not find the port of instance `{instance}` on {host}: {cause}; give the port in \
             the target instead"
        );
        DbError::new(ErrorClass::Disconnected, message)
    };
    let mut last = failed("no address");
    for address in resolve(host, browser_port, limit).await? {
        let address = match address {
            Address::Tcp(address) => address,
            #[cfg(unix)]
            Address::Unix(_) => continue,
        };
        match ask(address, instance, limit / TRIES).await {
            Ok(Some(answer)) => {
                return port_in(&answer).ok_or_else(|| failed("it does not listen on TCP"));
            }
            Ok(None) => last = failed("SQL Server Browser does not answer"),
            Err(error) => last = failed(&crate::socket::plain(&error)),
        }
    }
    Err(last)
}

/// Sends requests until one is answered.
async fn ask(
    address: SocketAddr,
    instance: &str,
    wait: Duration,
) -> std::io::Result<Option<Vec<u8>>> {
    let any: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    // Only answers from there are received.
    socket.connect(address).await?;
    let mut request = vec![ASK_INSTANCE];
    request.extend_from_slice(instance.as_bytes());
    request.push(0);
    let mut answer = vec![0; ANSWER_BYTES_MAX + 3];
    for _ in 0..TRIES {
        socket.send(&request).await?;
        if let Ok(received) = timeout(wait, socket.recv(&mut answer)).await {
            answer.truncate(received?);
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// The TCP port in an answer: names and values, separated by semicolons.
fn port_in(answer: &[u8]) -> Option<u16> {
    let (&[kind, _, _], text) = answer.split_first_chunk()?;
    let text = String::from_utf8_lossy(text);
    let mut words = text.split(';');
    while let Some(name) = words.next() {
        let value = words.next()?;
        if kind == ANSWER && name.eq_ignore_ascii_case("tcp") {
            return value.parse().ok().filter(|port| *port != 0);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_among_the_values() {
        let answer = |text: &str| [&[5, 0, 0], text.as_bytes()].concat();
        let text = "ServerName;DB1;InstanceName;DEV;IsClustered;No;Version;16.0;tcp;49172;np;x;;";
        assert_eq!(port_in(&answer(text)), Some(49172));
        assert_eq!(port_in(&answer("ServerName;tcp;InstanceName;tcp;;")), None);
        for text in ["", "tcp", "tcp;", "tcp;0", "tcp;99999", "\u{fffd}"] {
            assert_eq!(port_in(&answer(text)), None, "{text}");
        }
        assert_eq!(port_in(&[5, 0]), None);
    }
}
