//! Targets as people write them: the parts of a URL and the settings that travel beside it. What the
//! parts mean is left to each driver; here is only what they have in common, above all passwords
//! that hold whatever characters they like, and that are never shown.

use std::fmt;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use triphammer_core::SpecError;
use triphammer_core::session::{Isolation, Protocol, Waits};

/// What a URL looks like, for messages.
const FORM: &str = "scheme://user:password@host:port/database?name=value";

/// Characters written as they are by [`TargetUrl::redacted`].
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Characters written as they are in paths and parameter values.
const PLAIN_PATH: &AsciiSet =
    &PLAIN.remove(b'/').remove(b':').remove(b',').remove(b'=').remove(b' ');

/// Looks up an environment variable; tests give their own.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Text that no `Debug`, `Display` or serialiser shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// One host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlHost {
    /// Name, address without brackets, or folder of a unix socket; empty when only a port was given.
    pub name: String,
    /// Port, when given.
    pub port: Option<u16>,
}

/// A URL cut into its parts, percent-decoded. Nothing is filled in.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// In lower case, without the colon.
    pub scheme: String,
    /// Whether `//` followed the scheme, so that there was a place for hosts.
    pub has_authority: bool,
    /// User, when given.
    pub user: Option<String>,
    /// Password, when given.
    pub password: Option<Secret>,
    /// Hosts in order; empty when none was given.
    pub hosts: Vec<UrlHost>,
    /// What follows the hosts, its `/` included; without hosts, all that follows the scheme.
    pub path: String,
    /// Parameters in order.
    pub params: Vec<(String, String)>,
}

impl TargetUrl {
    /// Cuts a URL into its parts. The last `@` before the path ends user and password; a password may
    /// hold any character as it is where that leaves no doubt, and percent-encoded always. A `%` that
    /// begins no escape stands for itself.
    ///
    /// # Errors
    /// When there is no scheme, or a port or address is none; the message never shows a password.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (scheme, rest) = split_scheme(text)?;
        let mut url = Self {
            scheme,
            has_authority: false,
            user: None,
            password: None,
            hosts: Vec::new(),
            path: String::new(),
            params: Vec::new(),
        };
        let after_hosts = match rest.strip_prefix("//") {
            None => rest,
            Some(rest) => {
                url.has_authority = true;
                let (userinfo, rest) = split_userinfo(rest);
                if let Some(userinfo) = userinfo {
                    url.set_userinfo(userinfo);
                }
                let end = rest.find(['/', '?']).unwrap_or(rest.len());
                url.hosts = parse_hosts(&rest[..end], url.password.is_some())?;
                &rest[end..]
            }
        };
        let (path, query) = after_hosts.split_once('?').unwrap_or((after_hosts, ""));
        url.path = decode(path);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            url.params.push((decode(name), decode(value)));
        }
        Ok(url)
    }

    fn set_userinfo(&mut self, userinfo: &str) {
        let (user, password) = match userinfo.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (userinfo, None),
        };
        self.user = Some(decode(user)).filter(|user| !user.is_empty());
        self.password = password.map(|password| Secret(decode(password)));
    }

    /// The path without its first slash; `None` when there is nothing.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        let name = self.path.strip_prefix('/').unwrap_or(&self.path);
        (!name.is_empty()).then_some(name)
    }

    /// The last parameter of that name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether a password stands in the URL, where the process list shows it.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.password.is_some() || self.params.iter().any(|(name, _)| is_secret(name))
    }

    /// The URL without any password, for people.
    #[must_use]
    pub fn redacted(&self) -> String {
        let mut out = format!("{}:", self.scheme);
        if self.has_authority {
            out.push_str("//");
        }
        if let Some(user) = &self.user {
            out.extend(utf8_percent_encode(user, PLAIN));
            out.push('@');
        }
        for (index, host) in self.hosts.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&host_text(&host.name, host.port));
        }
        out.extend(utf8_percent_encode(&self.path, PLAIN_PATH));
        let shown = self.params.iter().filter(|(name, _)| !is_secret(name));
        for (index, (name, value)) in shown.enumerate() {
            out.push(if index == 0 { '?' } else { '&' });
            out.extend(utf8_percent_encode(name, PLAIN));
            out.push('=');
            out.extend(utf8_percent_encode(value, PLAIN_PATH));
        }
        out
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetUrl({})", self.redacted())
    }
}

/// A host and port as a URL has them: `db1:5432`, `[::1]:5432`.
#[must_use]
pub fn host_text(name: &str, port: Option<u16>) -> String {
    let mut out = if name.contains(':') {
        format!("[{name}]")
    } else {
        utf8_percent_encode(name, PLAIN).to_string()
    };
    if let Some(port) = port {
        out.push_str(&format!(":{port}"));
    }
    out
}

fn is_secret(name: &str) -> bool {
    matches!(name, "password" | "sslpassword")
}

/// The scheme in lower case, and what follows its colon.
fn split_scheme(text: &str) -> Result<(String, &str), SpecError> {
    let missing =
        || SpecError::new(format!("a target begins with its kind of database; a URL reads {FORM}"));
    let (scheme, rest) = text.trim_start().split_once(':').ok_or_else(missing)?;
    let is_word = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'));
    if is_word { Ok((scheme.to_ascii_lowercase(), rest)) } else { Err(missing()) }
}

/// Finds the `@` that ends user and password. Without raw slashes and question marks in the password
/// that is the last one before the path, with hosts behind it. Otherwise, when what stands before the
/// first slash is no `host:port`, it is the last `@` that hosts follow, unless an earlier one puts it
/// among the parameters.
fn split_userinfo(rest: &str) -> (Option<&str>, &str) {
    let split = |at: usize| (Some(&rest[..at]), &rest[at + 1..]);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let usual = rest[..end].rfind('@');
    match usual {
        Some(at) if is_host_list(&rest[at + 1..end]) => return split(at),
        None if !rest[..end].contains(':') || is_host_list(&rest[..end]) => return (None, rest),
        _ => {}
    }
    let mut found = None;
    let mut query = rest.len();
    for (at, _) in rest.match_indices('@') {
        let after = &rest[at + 1..];
        let host_end = after.find(['/', '?']).unwrap_or(after.len());
        if at >= query || !is_host_list(&after[..host_end]) {
            continue;
        }
        if found.is_none() {
            query = after.find('?').map_or(rest.len(), |mark| at + 1 + mark);
        }
        found = Some(at);
    }
    found.or(usual).map_or((None, rest), split)
}

/// Whether text can be `host[:port][,…]`, or nothing.
fn is_host_list(text: &str) -> bool {
    text.split(',').all(|host| {
        let (name, port) = match host.strip_prefix('[') {
            Some(rest) => match rest.split_once(']') {
                Some((_, "")) => ("", None),
                Some((_, after)) => ("", Some(after.strip_prefix(':').unwrap_or("none"))),
                None => return false,
            },
            None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '%');
        name.chars().all(is_name) && port.is_none_or(|port| port.parse::<u16>().is_ok())
    })
}

fn parse_hosts(text: &str, has_password: bool) -> Result<Vec<UrlHost>, SpecError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(|host| parse_host(host, has_password)).collect()
}

/// Reads one host. What is wrong is never shown: it may be a piece of a password.
fn parse_host(text: &str, has_password: bool) -> Result<UrlHost, SpecError> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let bad = || {
                SpecError::new(format!(
                    "an IPv6 address in a URL reads [::1] or [::1]:port; a URL reads {FORM}"
                ))
            };
            let (name, after) = rest.split_once(']').ok_or_else(bad)?;
            let zone_free = name.split('%').next().unwrap_or_default();
            if zone_free.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(bad());
            }
            match after.strip_prefix(':') {
                Some(port) => (name, Some(port)),
                None if after.is_empty() => (name, None),
                None => return Err(bad()),
            }
        }
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map(|port| parse_port(port, has_password)).transpose()?;
    Ok(UrlHost { name: decode(name), port })
}

fn parse_port(text: &str, has_password: bool) -> Result<u16, SpecError> {
    text.parse().ok().filter(|port| *port != 0).ok_or_else(|| {
        let hint = if has_password {
            ""
        } else {
            "; if this was meant as a password, an @ and a host must follow it"
        };
        SpecError::new(format!(
            "the port after the host is no number from 1 to 65535; a URL reads {FORM}{hint}"
        ))
    })
}

/// Percent-decodes; an escape that is none, or that makes no UTF-8, stands for itself.
fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

/// What drivers get beside the URL.
#[derive(Clone, Debug)]
pub struct ConnectSettings {
    /// A password given explicitly; it wins over every other source.
    pub password: Option<Secret>,
    /// Isolation level of every transaction; `None` keeps the database's own.
    pub isolation: Option<Isolation>,
    /// How statements travel.
    pub protocol: Protocol,
    /// Schema to work in; `None` keeps the user's own.
    pub schema: Option<String>,
    /// Name shown in the database's list of sessions, unless URL or environment give another.
    pub application_name: String,
    /// How long a statement waits for a lock; `None` keeps the database's own.
    pub lock_timeout: Option<Duration>,
    /// Limit of one attempt to connect.
    pub connect_limit: Duration,
    /// Limits of what is asked beside users' transactions.
    pub waits: Waits,
    /// How long sent data may stay unacknowledged before the connection counts as lost.
    pub tcp_user_timeout: Duration,
}

impl Default for ConnectSettings {
    fn default() -> Self {
        Self {
            password: None,
            isolation: None,
            protocol: Protocol::Prepared,
            schema: None,
            application_name: "triphammer".to_owned(),
            lock_timeout: None,
            connect_limit: Duration::from_secs(10),
            waits: Waits::default(),
            tcp_user_timeout: Duration::from_secs(30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, port: Option<u16>) -> UrlHost {
        UrlHost { name: name.into(), port }
    }

    /// `(user, password, hosts, path)` of a URL.
    type Parts = (Option<String>, Option<String>, Vec<UrlHost>, String);

    fn parts(text: &str) -> Parts {
        let url = TargetUrl::parse(text).unwrap();
        let password = url.password.map(|p| p.reveal().to_owned());
        (url.user, password, url.hosts, url.path)
    }

    #[test]
    fn urls_are_cut_into_their_parts() {
        let some = |text: &str| Some(text.to_owned());
        let db = || vec![host("h", None)];
        for (text, user, password, hosts, path) in [
            ("pg://h", None, None, db(), ""),
            ("pg://h/d", None, None, db(), "/d"),
            ("pg://u@h/d", some("u"), None, db(), "/d"),
            ("pg://u:p@h:1/d", some("u"), some("p"), vec![host("h", Some(1))], "/d"),
            ("pg://u:@h/d", some("u"), some(""), db(), "/d"),
            ("pg://:p@h/d", None, some("p"), db(), "/d"),
            (
                "pg://h1:1,h2,[::1]:3/d",
                None,
                None,
                vec![host("h1", Some(1)), host("h2", None), host("::1", Some(3))],
                "/d",
            ),
            ("pg:///d", None, None, vec![], "/d"),
            ("pg://:5433/d", None, None, vec![host("", Some(5433))], "/d"),
            ("pg:", None, None, vec![], ""),
            ("pg://%2Ftmp%2Fs/d", None, None, vec![host("/tmp/s", None)], "/d"),
            ("sqlite:dir/file.db", None, None, vec![], "dir/file.db"),
            ("sqlite:100%.db", None, None, vec![], "100%.db"),
            ("sqlite:///abs/file.db", None, None, vec![], "/abs/file.db"),
            ("null:", None, None, vec![], ""),
        ] {
            assert_eq!(parts(text), (user, password, hosts, path.to_owned()), "{text}");
        }
    }

    #[test]
    fn passwords_hold_whatever_they_like() {
        for (typed, password) in [
            ("p@ss", "p@ss"),
            ("p:q", "p:q"),
            ("p#q", "p#q"),
            ("p/q", "p/q"),
            ("p?q", "p?q"),
            ("a/b?c@d#e:f", "a/b?c@d#e:f"),
            ("50%", "50%"),
            ("50%off", "50%off"),
            ("%zz%41", "%zzA"),
            ("p%40%2F%3A", "p@/:"),
            ("'\"\\ $&=", "'\"\\ $&="),
            ("pä€ß", "pä€ß"),
            ("%C3%A4", "ä"),
            ("1234", "1234"),
            ("p@:/#%'\"\\ w", "p@:/#%'\"\\ w"),
        ] {
            let text = format!("pg://u:{typed}@host:5432/db?sslmode=require&options=a@b");
            let url = TargetUrl::parse(&text).unwrap();
            assert_eq!(url.password.as_ref().unwrap().reveal(), password, "{typed}");
            assert_eq!(url.user.as_deref(), Some("u"));
            assert_eq!(url.hosts, [host("host", Some(5432))], "{typed}");
            assert_eq!(url.database(), Some("db"), "{typed}");
            assert_eq!(url.param("options"), Some("a@b"), "{typed}");
            assert_eq!(
                url.redacted(),
                "pg://u@host:5432/db?sslmode=require&options=a%40b",
                "{typed}"
            );
        }
    }

    #[test]
    fn an_at_sign_in_parameters_is_no_user() {
        let url = TargetUrl::parse("pg://host:5432/db?application_name=a@b").unwrap();
        assert_eq!((url.user.as_deref(), url.hosts[0].name.as_str()), (None, "host"));
        assert_eq!(url.param("application_name"), Some("a@b"));
    }

    #[test]
    fn bad_urls_say_what_is_wrong_and_hide_what_may_be_a_password() {
        for (text, message) in [
            ("host/db", "begins with its kind"),
            ("://h", "begins with its kind"),
            ("pg://u:hunter2@h:port/d", "no number from 1 to 65535"),
            ("pg://u:hunter2@h:0/d", "no number from 1 to 65535"),
            ("pg://u:hunter2@h:99999/d", "no number from 1 to 65535"),
            ("pg://u:hunter2", "an @ and a host must follow"),
            ("pg://u:hunter2@[::1/d", "IPv6"),
            ("pg://u:hunter2@[nonsense]/d", "IPv6"),
            ("pg://u:hunter2@[::1]x/d", "IPv6"),
        ] {
            let error = TargetUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
            assert!(error.contains("scheme://"), "{text}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn nothing_shows_a_secret() {
        let url =
            TargetUrl::parse("pg://u:hunter2@h/d?password=hunter2&sslpassword=hunter2").unwrap();
        let secret = url.password.clone().unwrap();
        let settings = ConnectSettings { password: Some(secret.clone()), ..Default::default() };
        assert!(!format!("{secret:?} {secret} {settings:?} {url:?}").contains("hunter2"));
        assert!(!url.redacted().contains("hunter2"));
        assert!(url.has_password());
    }
}
