//! Authentication: programs send a token as `Authorization: Bearer`, browsers log in once and
//! send a cookie.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use subtle::ConstantTimeEq;
use triphammer_core::Clock;
use triphammer_core::clock::Elapsed;
use triphammer_drivers::target::Secret;

use crate::error::ApiError;

/// How long a login lasts.
const SESSION_LIFE: Duration = Duration::from_secs(12 * 3600);
/// Maximum number of logged-in browsers; the oldest is logged out first.
const SESSIONS_MAX: usize = 64;
/// Minimum length of a token, in characters.
pub const TOKEN_MIN: usize = 16;

/// The token, and the logged-in browsers.
#[derive(Debug)]
pub struct Login {
    token: Secret,
    /// A token that is valid for the metrics only.
    metrics_token: Option<Secret>,
    cookie: String,
    secure: bool,
    clock: Clock,
    sessions: Mutex<VecDeque<(Secret, Elapsed)>>,
}

impl Login {
    /// Creates the state without logged-in browsers. Cookies ignore ports, so the cookie's name
    /// contains the port.
    pub fn new(token: Secret, port: u16, tls: bool) -> Self {
        let cookie = format!("triphammer-{port}");
        Self {
            token,
            metrics_token: None,
            cookie,
            secure: tls,
            clock: Clock::start(),
            sessions: Mutex::default(),
        }
    }

    /// Adds a token that is valid for the metrics only.
    pub fn metrics_token(mut self, token: Option<Secret>) -> Self {
        self.metrics_token = token;
        self
    }

    /// Whether a request has the token or the cookie of a logged-in browser.
    pub fn knows(&self, headers: &HeaderMap) -> bool {
        if let Some(shown) = bearer(headers) {
            return self.is_token(shown);
        }
        self.session_in(headers).is_some_and(|shown| {
            let now = self.clock.now();
            let sessions = self.sessions.lock().expect("no thread panics while it holds the lock");
            // All are compared, so that the duration reveals nothing.
            sessions.iter().fold(false, |known, (session, until)| {
                known | (same(session.reveal(), shown) && now < *until)
            })
        })
    }

    /// Whether a request may read the metrics: with their own token, or as any other request.
    pub fn knows_for_metrics(&self, headers: &HeaderMap) -> bool {
        let own = self.metrics_token.as_ref().zip(bearer(headers));
        own.is_some_and(|(token, shown)| same(token.reveal(), shown)) || self.knows(headers)
    }

    /// Whether a text equals the token.
    pub fn is_token(&self, shown: &str) -> bool {
        same(self.token.reveal(), shown)
    }

    /// Logs a browser in and returns its cookie.
    pub fn begin_session(&self) -> String {
        let session = random();
        let until = self.clock.now().duration() + SESSION_LIFE;
        let mut sessions = self.sessions.lock().expect("no thread panics while it holds the lock");
        if sessions.len() == SESSIONS_MAX {
            sessions.pop_front();
        }
        sessions.push_back((Secret::new(session.clone()), Elapsed::from_duration(until)));
        self.set_cookie(&session, SESSION_LIFE)
    }

    /// Logs a browser out and returns the cookie that clears its own.
    pub fn end_session(&self, headers: &HeaderMap) -> String {
        if let Some(shown) = self.session_in(headers) {
            let mut sessions =
                self.sessions.lock().expect("no thread panics while it holds the lock");
            sessions.retain(|(session, _)| !same(session.reveal(), shown));
        }
        self.set_cookie("", Duration::ZERO)
    }

    fn set_cookie(&self, value: &str, life: Duration) -> String {
        let (name, age) = (&self.cookie, life.as_secs());
        let secure = if self.secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}")
    }

    fn session_in<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let cookies =
            headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find_map(|(name, value)| (name == self.cookie).then_some(value))
    }
}

/// The token in the header of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let shown = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = shown.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The error for a request without the token.
pub fn unauthorized() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "authentication required")
        .next("send the token as `Authorization: Bearer TOKEN`, or log in at /login")
}

/// Compares in constant time.
fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// 256 random bits, as text.
///
/// # Panics
/// When the system provides no random bytes.
pub fn random() -> String {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[tokio::test]
    async fn the_token_or_a_cookie_of_ours_is_known_and_nothing_else() {
        let login = Login::new(Secret::new("0123456789abcdef"), 7400, true);
        assert!(login.knows(&with(header::AUTHORIZATION, "bearer 0123456789abcdef")));
        for wrong in
            ["Bearer 0123456789abcde", "Bearer ", "Basic 0123456789abcdef", "0123456789abcdef"]
        {
            assert!(!login.knows(&with(header::AUTHORIZATION, wrong)), "{wrong}");
        }
        let cookie = login.begin_session();
        assert!(cookie.ends_with("; Secure") && cookie.contains("HttpOnly; SameSite=Strict"));
        let shown = with(header::COOKIE, &format!("a=b; {}", cookie.split(';').next().unwrap()));
        assert!(login.knows(&shown));
        assert!(!login.knows(&with(header::COOKIE, "triphammer-7400=; x=y")));
        login.end_session(&shown);
        assert!(!login.knows(&shown));
    }

    #[tokio::test]
    async fn the_token_of_the_metrics_opens_them_and_nothing_else() {
        let login = Login::new(Secret::new("0123456789abcdef"), 7400, true);
        let (all, metrics) = ("Bearer 0123456789abcdef", "Bearer fedcba9876543210");
        let shows = |text| with(header::AUTHORIZATION, text);
        assert!(
            !login.knows_for_metrics(&shows(metrics))
                && !login.knows_for_metrics(&shows("Bearer "))
        );
        let login = login.metrics_token(Some(Secret::new("fedcba9876543210")));
        assert!(login.knows_for_metrics(&shows(metrics)) && login.knows_for_metrics(&shows(all)));
        assert!(!login.knows(&shows(metrics)) && !login.is_token("fedcba9876543210"));
        assert!(!login.knows_for_metrics(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn the_oldest_of_too_many_browsers_is_forgotten() {
        let login = Login::new(Secret::new("0123456789abcdef"), 1, false);
        let first = login.begin_session();
        for _ in 0..SESSIONS_MAX {
            login.begin_session();
        }
        assert!(!login.knows(&with(header::COOKIE, first.split(';').next().unwrap())));
    }
}
