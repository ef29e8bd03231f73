//! Which session of which server this is. A request to cancel goes to a new connection, which a
//! balancer may take to another server, whose session of the same number is somebody else's: nothing
//! is killed before the server, the user, the client's address and the age of both are compared.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use triphammer_core::DbError;
use triphammer_core::login::LoginWatch;

use super::connection::{Connection, Route};
use super::quote::quote_literal;
use super::shared::Shared;

/// How much older than its server a session may seem: servers count whole seconds.
const AGE_ERROR: Duration = Duration::from_secs(2);

/// What distinguishes a server from others, in digits, which no mode of SQL reads differently.
macro_rules! server {
    () => {
        "HEX(CONCAT_WS('/', @@hostname, @@port, @@server_id, @@datadir))"
    };
}

/// The question that a new session asks: its number, its user and address, and its server.
pub(super) const QUESTION: &str = concat!("SELECT CONNECTION_ID(), USER(), ", server!());
/// Error of a server, or of something like one, that lacks a variable of the question.
pub(super) const NO_VARIABLE: &str = "1193";

/// A session as its server knows it.
#[derive(Debug)]
pub(super) struct Peer {
    /// Index of the server among those of the target.
    place: usize,
    thread: u32,
    /// User and client address, as `USER()` says.
    user: String,
    server: String,
    since: Instant,
}

impl Peer {
    /// Reads the answer to [`question`]. `None` if the server behind the address gives the session
    /// another number than the greeting did: a proxy assigns servers to sessions.
    pub(super) fn of(answer: &[Vec<Option<String>>], route: &Route) -> Option<Self> {
        let [Some(thread), Some(user), Some(server)] = answer.last()?.as_slice() else {
            return None;
        };
        let is_direct = thread.parse() == Ok(route.thread);
        is_direct.then(|| Self {
            place: route.place,
            thread: route.thread,
            user: user.clone(),
            server: server.clone(),
            since: Instant::now(),
        })
    }

    /// Whether the server is running a command of the session; `None` if it does not know the
    /// session, or is another server.
    pub(super) async fn is_at_work(&self, shared: &Shared) -> Result<Option<bool>, DbError> {
        let mut session = shared.open_place(self.place, None, &mut LoginWatch::start()).await?;
        let found = self.find(&mut session).await;
        session.close().await;
        Ok(match found? {
            ServerAtAddress::Command(command) => Some(command != "Sleep"),
            ServerAtAddress::Nothing | ServerAtAddress::OtherServer => None,
        })
    }

    /// Asks the server to cancel what the session is doing, if it is its server.
    pub(super) async fn cancel(&self, shared: &Shared) -> Result<(), DbError> {
        let mut session = shared.open_place(self.place, None, &mut LoginWatch::start()).await?;
        match self.find(&mut session).await? {
            ServerAtAddress::Command(_) => {
                return session.batch(&format!("KILL QUERY {}", self.thread)).await.map(drop);
            }
            ServerAtAddress::OtherServer => shared.spared.store(true, Ordering::Relaxed),
            // It has ended.
            ServerAtAddress::Nothing => {}
        }
        session.close().await;
        Ok(())
    }

    /// Looks for the session on a connection to a server that may be another one.
    async fn find(&self, session: &mut Connection) -> Result<ServerAtAddress, DbError> {
        let mut answer = session.ask(&self.search()).await?;
        let uptime = session.ask("SHOW GLOBAL STATUS LIKE 'Uptime'").await?;
        let uptime = uptime.first().and_then(|row| row.get(1)?.as_deref()?.parse().ok());
        let is_older = self.is_older_than(Duration::from_secs(uptime.unwrap_or_default()));
        Ok(match answer.pop().as_deref() {
            Some([Some(same), command]) if same == "1" => match command {
                Some(command) if !is_older => ServerAtAddress::Command(command.clone()),
                _ => ServerAtAddress::Nothing,
            },
            _ => ServerAtAddress::OtherServer,
        })
    }

    /// Whether the session began before a server did: that one was restarted, and its session of the
    /// same number is another.
    fn is_older_than(&self, uptime: Duration) -> bool {
        self.since.elapsed() > uptime + AGE_ERROR
    }

    /// The query for whether this is the session's server, and for the command of the session: one of
    /// the same user from the same address.
    fn search(&self) -> String {
        let (user, host) = self.user.rsplit_once('@').unwrap_or((&self.user, ""));
        let [user, host] = [user, host].map(quote_literal);
        format!(
            "SELECT {} = '{}', (SELECT command FROM information_schema.processlist \
             WHERE id = {} AND user = {user} AND \
             IF(host LIKE '%:%', LEFT(host, LENGTH(host) - LOCATE(':', REVERSE(host))), host) = {host})",
            server!(),
            self.server,
            self.thread
        )
    }
}

/// What was found at the address of a session's server.
enum ServerAtAddress {
    /// The session, with its command.
    Command(String),
    /// The server, without the session.
    Nothing,
    /// Another server, as behind a balancer.
    OtherServer,
}

#[cfg(test)]
mod tests {
    use triphammer_core::login::LoginTimes;

    use super::*;

    fn route(thread: u32) -> Route {
        let login = LoginTimes::default();
        Route { place: 0, thread, transport: "tcp", same_host: true, login }
    }

    fn answer(thread: &str) -> Vec<Vec<Option<String>>> {
        vec![[thread, "bench@::1", "a/3306/1"].map(|text| Some(text.to_owned())).to_vec()]
    }

    #[test]
    fn a_session_whose_number_a_proxy_made_up_is_not_known() {
        assert_eq!(Peer::of(&answer("7"), &route(7)).unwrap().server, "a/3306/1");
        assert!(Peer::of(&answer("7"), &route(8)).is_none());
        assert!(Peer::of(&[], &route(7)).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_younger_than_the_session_is_not_its_server() {
        let peer = Peer::of(&answer("7"), &route(7)).unwrap();
        tokio::time::advance(Duration::from_secs(100)).await;
        assert!(!peer.is_older_than(Duration::from_secs(99)));
        assert!(peer.is_older_than(Duration::from_secs(97)));
    }

    #[test]
    fn the_search_names_everything_that_makes_the_session_ours() {
        let peer = Peer::of(&answer("7"), &route(7)).unwrap();
        let sql = peer.search();
        for part in ["id = 7", "user = 'bench'", "= '::1'", "@@datadir)) = 'a/3306/1'"] {
            assert!(sql.contains(part), "{part}: {sql}");
        }
    }
}
