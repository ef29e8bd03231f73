//! Limits connections in total and per client. Unauthenticated connections are closed to make room
//! for new ones, oldest first, so that they cannot lock others out.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::config::ServerLimits;

/// The connection of a request.
#[derive(Clone, Debug)]
pub struct Visitor {
    client: IpAddr,
    known: Arc<AtomicBool>,
    streams: Arc<Mutex<HashMap<IpAddr, usize>>>,
    streams_max: usize,
}

impl Visitor {
    /// Marks the connection as authenticated.
    pub fn is_known(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    /// Reserves an event stream; `None` if the client has reached its limit.
    pub fn stream(&self) -> Option<StreamPlace> {
        let mut streams = self.streams.lock().expect("no thread panics while it holds the lock");
        let count = streams.entry(self.client).or_default();
        if *count >= self.streams_max {
            return None;
        }
        *count += 1;
        Some(StreamPlace(self.clone()))
    }
}

/// A reserved event stream, released when dropped.
#[derive(Debug)]
pub struct StreamPlace(Visitor);

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut streams = self.0.streams.lock().expect("no thread panics while it holds the lock");
        if let Some(count) = streams.get_mut(&self.0.client) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&self.0.client);
            }
        }
    }
}

/// The connection limits and the current connections.
#[derive(Debug)]
pub struct ConnectionLimiter {
    limits: ServerLimits,
    taken: Mutex<Taken>,
    streams: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    /// Connections by number, so the oldest is the first.
    all: BTreeMap<u64, (Visitor, Arc<Notify>)>,
}

/// A reserved connection, released when dropped.
#[derive(Debug)]
pub struct Permit {
    limiter: Arc<ConnectionLimiter>,
    number: u64,
    /// The client of the connection.
    pub visitor: Visitor,
    /// Notified when the connection must close.
    pub leave: Arc<Notify>,
}

impl ConnectionLimiter {
    /// Creates a limiter without connections.
    pub fn new(limits: ServerLimits) -> Arc<Self> {
        Arc::new(Self { limits, taken: Mutex::default(), streams: Arc::default() })
    }

    /// Reserves a connection for a client, if necessary by closing an unauthenticated one; `None`
    /// if all are authenticated.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Permit> {
        let client = client(address);
        let mut taken = self.taken();
        let of_client = taken.all.values().filter(|(v, _)| v.client == client).count();
        let is_crowd = of_client >= self.limits.connections_per_client;
        if is_crowd || taken.all.len() >= self.limits.connections {
            let gives_way = |(_, (v, _)): &(&u64, &(Visitor, Arc<Notify>))| {
                !v.known.load(Ordering::Relaxed) && (!is_crowd || v.client == client)
            };
            let number = *taken.all.iter().find(gives_way)?.0;
            let (_, leave) = taken.all.remove(&number)?;
            leave.notify_one();
        }
        taken.last += 1;
        let number = taken.last;
        let visitor = Visitor {
            client,
            known: Arc::default(),
            streams: Arc::clone(&self.streams),
            streams_max: self.limits.streams_per_client,
        };
        let leave = Arc::new(Notify::new());
        taken.all.insert(number, (visitor.clone(), Arc::clone(&leave)));
        Some(Permit { limiter: Arc::clone(self), number, visitor, leave })
    }

    /// Whether there are no connections.
    pub fn are_free(&self) -> bool {
        self.taken().all.is_empty()
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().expect("no thread panics while it holds the lock")
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limiter.taken().all.remove(&self.number);
    }
}

/// A local client can use any number of loopback addresses.
fn client(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    if address.is_loopback() { Ipv4Addr::LOCALHOST.into() } else { address }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter() -> Arc<ConnectionLimiter> {
        let few =
            ServerLimits { connections: 4, connections_per_client: 3, ..ServerLimits::default() };
        ConnectionLimiter::new(few)
    }

    fn from(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[tokio::test]
    async fn who_has_not_shown_the_token_makes_room_oldest_first() {
        let limiter = limiter();
        let known = limiter.take(from(1)).unwrap();
        known.visitor.is_known();
        let (first, second) = (limiter.take(from(1)).unwrap(), limiter.take(from(1)).unwrap());
        let third = limiter.take(from(1)).unwrap();
        first.leave.notified().await;
        drop(first);
        let other = limiter.take(from(2)).unwrap();
        let more = limiter.take(from(3)).unwrap();
        second.leave.notified().await;
        for place in [&third, &other, &more] {
            place.visitor.is_known();
        }
        assert!(limiter.take(from(4)).is_none());
        drop((second, third));
        assert!(limiter.take(from(4)).is_some());
    }

    #[test]
    fn all_addresses_of_this_host_are_one_client() {
        let limiter = limiter();
        let taken: Vec<Permit> = ["127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.2"]
            .iter()
            .filter_map(|address| limiter.take(address.parse().unwrap()))
            .inspect(|place| place.visitor.is_known())
            .collect();
        assert_eq!(taken.len(), 3);
        drop(taken);
        assert!(limiter.are_free());
    }

    #[test]
    fn a_client_has_so_many_streams_and_a_place_is_free_at_once() {
        let limits = ServerLimits { streams_per_client: 2, ..ServerLimits::default() };
        let limiter = ConnectionLimiter::new(limits);
        let (a, b) = (limiter.take(from(1)).unwrap(), limiter.take(from(1)).unwrap());
        let (first, _second) = (a.visitor.stream().unwrap(), b.visitor.stream().unwrap());
        assert!(b.visitor.stream().is_none());
        assert!(limiter.take(from(2)).unwrap().visitor.stream().is_some());
        drop(first);
        assert!(b.visitor.stream().is_some());
    }
}
