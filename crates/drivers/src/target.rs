//! Targets as users write them: the parts of a URL and the settings that accompany it. Each driver
//! interprets the parts; this module handles what they have in common, above all passwords, which
//! may contain any characters and are never shown.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use triphammer_core::SpecError;
use triphammer_core::odbc::OdbcDialect;
use triphammer_core::session::{Isolation, Pipelining, Protocol, Waits};
use triphammer_proxy::Relay;

use crate::connection_string;
pub use crate::secret::Secret;
use crate::secret::is_secret;

/// The form of a URL, for messages.
const FORM: &str = "scheme://user:password@host:port/database?name=value";

/// Scheme of connection strings, whose parts are all parameters.
const ODBC: &str = "odbc";

/// Maximum length of a parameter's name.
const NAME_MAX: usize = 40;

/// Characters that [`TargetUrl::redacted`] does not escape.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Characters that are not escaped in paths and parameter values.
const PLAIN_PATH: &AsciiSet =
    &PLAIN.remove(b'/').remove(b':').remove(b',').remove(b'=').remove(b' ');

/// Looks up an environment variable; tests pass their own.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// One host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlHost {
    /// Name, address without brackets, or folder of a unix socket; empty if only a port was given.
    pub name: String,
    /// Port number, if given.
    pub port: Option<u16>,
}

/// A URL split into its parts, percent-decoded. Nothing is filled in.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// Scheme in lower case, without the colon.
    pub scheme: String,
    /// Whether `//` followed the scheme, so that hosts could follow.
    pub has_authority: bool,
    /// Name of the user, if given.
    pub user: Option<String>,
    /// The password, if given.
    pub password: Option<Secret>,
    /// Hosts in order; empty if none was given.
    pub hosts: Vec<UrlHost>,
    /// The part after the hosts, including the `/`; without hosts, everything after the scheme.
    pub path: String,
    /// Names and values of the parameters, in order.
    pub params: Vec<(String, String)>,
}

impl TargetUrl {
    /// Splits a URL into its parts. The last `@` before the path ends user and password; a password
    /// may contain any character unescaped where that is unambiguous, and percent-encoded always. A
    /// `%` that begins no valid escape is literal.
    ///
    /// # Errors
    /// When there is no scheme, or a port or address is invalid; the message never shows a
    /// password.
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
        if url.scheme == ODBC {
            let parts = connection_string::Parts::parse(rest)?;
            (url.params, url.password) = (parts.pairs, parts.password);
            return Ok(url);
        }
        let after_hosts = match rest.strip_prefix("//") {
            None => {
                refuse_misplaced_password(rest)?;
                rest
            }
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
        let hosts = url.hosts.iter().map(|host| host.name.as_str());
        hosts.chain([path, query]).try_for_each(refuse_secret_after_semicolon)?;
        if url.user.is_none() && url.password.is_none() {
            refuse_misplaced_password(path)?;
        }
        url.path = decode(path);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            // What is wrong is not shown: it may be part of a password.
            let named = pair.split_once('=').map(|(name, value)| (decode(name), decode(value)));
            let is_name = |name: &str| {
                let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
                !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(is_word)
            };
            let Some((name, value)) = named.filter(|(name, _)| is_name(name)) else {
                return Err(SpecError::new(format!(
                    "a parameter after the ? of a URL must have the form name=value; a URL has \
                     the form {FORM}"
                )));
            };
            url.params.push((name, value));
        }
        Ok(url)
    }

    fn set_userinfo(&mut self, userinfo: &str) {
        let (user, password) = match userinfo.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (userinfo, None),
        };
        self.user = Some(decode(user)).filter(|user| !user.is_empty());
        self.password = password.map(|password| Secret::new(decode(password)));
    }

    /// The path without its first slash; `None` if that is empty.
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

    /// Rejects a server's URL without `//`, which would be read as a path.
    ///
    /// # Errors
    /// When `//` is missing; the text is not shown, since it may contain a password.
    pub fn check_authority(&self) -> Result<(), SpecError> {
        if self.has_authority || self.path.is_empty() {
            return Ok(());
        }
        let scheme = &self.scheme;
        Err(SpecError::new(format!(
            "`{scheme}:` must be followed by two slashes, as in {scheme}://user@host:port/database"
        )))
    }

    /// Rejects a user or password in the URL of a database that has neither.
    ///
    /// # Errors
    /// When there is one; it is not shown.
    pub fn check_no_user(&self) -> Result<(), SpecError> {
        if self.user.is_none() && self.password.is_none() {
            return Ok(());
        }
        let scheme = &self.scheme;
        Err(SpecError::new(format!("a {scheme} target has neither user nor password")))
    }

    /// Whether the URL contains a password, where the process list shows it.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.password.is_some() || self.params.iter().any(connection_string::has_secret)
    }

    /// The URL without any password, for people.
    #[must_use]
    pub fn redacted(&self) -> String {
        let mut out = format!("{}:", self.scheme);
        if self.scheme == ODBC {
            out.push_str(&connection_string::redacted(&self.params));
            return out;
        }
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

impl TargetUrl {
    /// Whether another URL names the same server: the same hosts and ports, or, without hosts, the same
    /// text.
    #[must_use]
    pub fn is_same_server(&self, other: &Self) -> bool {
        match (self.hosts.is_empty(), other.hosts.is_empty()) {
            (false, false) => self.hosts == other.hosts,
            (true, true) => self == other,
            _ => false,
        }
    }

    /// Whether the servers of two URLs, by their names, are on different hosts, and on other hosts than
    /// this process. Two names of one host are taken for two hosts.
    #[must_use]
    pub fn is_apart_from(&self, other: &Self) -> bool {
        let are_remote = [self, other].iter().all(|url| {
            !url.hosts.is_empty() && url.hosts.iter().all(|host| !is_of_this_host(&host.name))
        });
        let is_shared = |host: &UrlHost| other.hosts.iter().any(|one| one.name == host.name);
        are_remote && !self.hosts.iter().any(is_shared)
    }
}

/// Whether a host's name means the host of this process: its loopback addresses, or the folder of a
/// socket.
fn is_of_this_host(name: &str) -> bool {
    let is_loopback = name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    name.is_empty()
        || name.starts_with('/')
        || name.eq_ignore_ascii_case("localhost")
        || is_loopback
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetUrl({})", self.redacted())
    }
}

/// A host and port as written in a URL: `db1:5432`, `[::1]:5432`.
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

/// The scheme in lower case, and what follows its colon.
fn split_scheme(text: &str) -> Result<(String, &str), SpecError> {
    let missing = || {
        SpecError::new(format!(
            "a target must begin with its kind of database, as in sqlite:FILE; a URL has the form \
             {FORM}"
        ))
    };
    let (scheme, rest) = text.trim_start().split_once(':').ok_or_else(missing)?;
    let is_word = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_'));
    if is_word { Ok((scheme.to_ascii_lowercase(), rest)) } else { Err(missing()) }
}

/// Rejects `user:password@` where a path is expected: the URL would connect elsewhere, and be
/// shown.
fn refuse_misplaced_password(text: &str) -> Result<(), SpecError> {
    if text.split_once(':').is_none_or(|(_, after)| !after.contains('@')) {
        return Ok(());
    }
    Err(SpecError::new(format!(
        "user and password must follow two slashes and precede the host; a URL has the form \
         {FORM}; in the name of a file or database, write %40 for @"
    )))
}

/// Rejects `;password=…`, as in connection strings of other programs: it would be a part of a name
/// or of a value, and be shown.
fn refuse_secret_after_semicolon(text: &str) -> Result<(), SpecError> {
    let names = text.split(';').skip(1).filter_map(|part| part.split_once('='));
    if names.clone().all(|(name, _)| !is_secret(&decode(name))) {
        return Ok(());
    }
    Err(SpecError::new(format!(
        "a URL has no parts after a semicolon, such as ;password=…: user and password precede the \
         host, and parameters follow a ?; a URL has the form {FORM}"
    )))
}

/// Finds the `@` that ends user and password. If the password has no raw slashes and question
/// marks, that is the last one before the path that hosts follow. Otherwise, if the text before the
/// first slash is not `host:port`, it is the last `@` that hosts follow, unless an earlier one
/// makes it part of the parameters.
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

/// Whether text can be `host[:port][,…]`, or is empty.
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

/// Parses one host. What is wrong is never shown: it may be part of a password.
fn parse_host(text: &str, has_password: bool) -> Result<UrlHost, SpecError> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let bad = || {
                SpecError::new(format!(
                    "an IPv6 address in a URL must be written as [::1] or [::1]:port; a URL has \
                     the form {FORM}"
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
            "the port after the host must be a number from 1 to 65535; a URL has the form \
             {FORM}{hint}"
        ))
    })
}

/// Percent-decodes; an invalid escape, or one that does not give UTF-8, is literal.
fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

/// What a target may use of this process and its host. The user who runs the process may use
/// everything; a user who only sends it a URL may not, or their server would receive the owner's
/// passwords.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Environment variables, password files, unix sockets, and files that the URL names.
    #[default]
    Process,
    /// Only database files in one folder.
    Folder(DataFolder),
}

impl Reach {
    /// An environment variable, if they may be read.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        match self {
            Self::Process => std::env::var(name).ok(),
            Self::Folder(_) => None,
        }
    }

    /// Rejects a path on this host that a URL names, such as that of a certificate or a socket.
    ///
    /// # Errors
    /// When the target may not use it.
    pub(crate) fn check_path(&self, what: &str) -> Result<(), SpecError> {
        match self {
            Self::Process => Ok(()),
            Self::Folder(_) => Err(SpecError::new(format!(
                "{what} names a path on the server's host: only targets that the server was \
                 started with may do that; add the target to the file of --targets"
            ))),
        }
    }

    /// The path of a database file.
    ///
    /// # Errors
    /// When the target may not use that file.
    pub(crate) fn database_file(&self, path: &str) -> Result<PathBuf, SpecError> {
        match self {
            Self::Process => Ok(path.into()),
            Self::Folder(folder) => folder.file(path),
        }
    }
}

/// What SQL may do in an engine that runs in this process, whose SQL can open files of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fence {
    /// Everything: it is the SQL of the user who runs the process.
    #[default]
    Off,
    /// It opens no file except the database: it is triphammer's own SQL, run for somebody else.
    Files,
    /// Also, it cannot change the engine's configuration: it is somebody else's SQL. An engine that
    /// cannot be fenced is refused.
    Sql,
}

/// A folder that other users' targets are confined to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    /// Where relative paths begin.
    folder: PathBuf,
    /// The same folder with links resolved.
    real: PathBuf,
    /// The job store, which is not a user's database; nor are the files beside it that begin with
    /// its name.
    except: PathBuf,
}

impl DataFolder {
    /// Creates the confinement to a folder, without the file `except` and those beside it that
    /// begin with its name: SQLite's journals, locks of jobs, saved targets.
    ///
    /// # Errors
    /// When the folder does not exist.
    pub fn new(folder: PathBuf, except: PathBuf) -> std::io::Result<Self> {
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let real = shown.canonicalize()?;
        if !real.is_dir() {
            return Err(std::io::ErrorKind::NotADirectory.into());
        }
        let in_folder = || {
            let folder = except.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(except.file_name()?))
        };
        let except = except.canonicalize().ok().or_else(in_folder).unwrap_or(except);
        Ok(Self { folder, real, except })
    }

    /// A plain file in the folder, by its path relative to the folder or absolute; it need not
    /// exist.
    fn file(&self, path: &str) -> Result<PathBuf, SpecError> {
        let refuse = |why: &str| {
            Err(SpecError::new(format!(
                "the database file {why}; the server uses only plain files in its data folder, which \
                 --data sets when it starts"
            )))
        };
        let joined = self.folder.join(path);
        let from_folder = Path::new(path).strip_prefix(&self.real).unwrap_or(Path::new(path));
        if Path::new(path).components().any(|part| part == Component::ParentDir) {
            return refuse("has `..` in its path");
        }
        let hidden = |part: Component<'_>| matches!(part, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."));
        if from_folder.components().any(hidden) {
            return refuse("is hidden");
        }
        let folder = joined.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        let Some(real) = folder.ok().filter(|folder| folder.starts_with(&self.real)) else {
            return refuse("is not in that folder");
        };
        let real = real.join(joined.file_name().unwrap_or_default());
        match std::fs::symlink_metadata(&real) {
            Ok(facts) if !facts.is_file() => refuse("is a link or not a plain file"),
            _ if self.is_of_store(&real) => refuse("belongs to the job store"),
            _ => Ok(joined),
        }
    }
    /// Whether a path is the job store or a file that belongs to it.
    fn is_of_store(&self, path: &Path) -> bool {
        let stem = self.except.file_stem().unwrap_or_default().as_encoded_bytes();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let after = name.strip_prefix(stem).and_then(<[u8]>::first);
        path == self.except
            || path.parent() == self.except.parent() && matches!(after, Some(b'.' | b'-'))
    }
}

/// What drivers receive besides the URL.
#[derive(Clone, Debug)]
pub struct ConnectSettings {
    /// A password given explicitly; it overrides every other source.
    pub password: Option<Secret>,
    /// Isolation level of every transaction; `None` for the database's default.
    pub isolation: Option<Isolation>,
    /// How statements are sent; `None` for the protocol that the database prefers.
    pub protocol: Option<Protocol>,
    /// Which messages of a user's transaction share a round trip.
    pub pipelining: Pipelining,
    /// Schema to work in; `None` for the user's default.
    pub schema: Option<String>,
    /// Name shown in the database's list of sessions, unless the URL or environment gives another.
    pub application_name: String,
    /// Whether the statements of the workload are the user's own: they keep the server's defaults,
    /// such as MySQL's SQL mode, which other workloads replace.
    pub own_sql: bool,
    /// How long a statement waits for a lock; `None` for the database's default.
    pub lock_timeout: Option<Duration>,
    /// Time limit of one attempt to connect.
    pub connect_limit: Duration,
    /// Limits of queries outside users' transactions.
    pub waits: Waits,
    /// How long sent data may stay unacknowledged before the connection counts as lost.
    pub tcp_user_timeout: Duration,
    /// The relay that network connections go through; `None` to connect directly. Drivers that
    /// open no sockets of their own ignore it.
    pub relay: Option<Relay>,
    /// What the target may use of this process and its host.
    pub reach: Reach,
    /// What SQL may do in an engine in this process.
    pub fence: Fence,
    /// Processes or threads that work on one query; `None` for the database's default.
    pub dop: Option<u32>,
    /// Maximum memory of an engine in this process, in bytes; `None` for its default.
    pub engine_memory: Option<u64>,
    /// The dialects that can be used by ODBC.
    pub odbc_dialects: &'static [OdbcDialect],
    /// The dialect to use by ODBC; `None` for the one of the product that the driver names.
    pub dialect: Option<&'static OdbcDialect>,
}

impl Default for ConnectSettings {
    fn default() -> Self {
        Self {
            password: None,
            isolation: None,
            protocol: None,
            pipelining: Pipelining::Off,
            schema: None,
            application_name: "triphammer".to_owned(),
            own_sql: false,
            lock_timeout: None,
            connect_limit: Duration::from_secs(10),
            waits: Waits::default(),
            tcp_user_timeout: Duration::from_secs(30),
            relay: None,
            reach: Reach::default(),
            fence: Fence::default(),
            dop: None,
            engine_memory: None,
            odbc_dialects: &[],
            dialect: None,
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
            ("host/db", "begin with its kind"),
            ("://h", "begin with its kind"),
            ("pg://u:hunter2@h:port/d", "must be a number from 1 to 65535"),
            ("pg://u:hunter2@h:0/d", "must be a number from 1 to 65535"),
            ("pg://u:hunter2@h:99999/d", "must be a number from 1 to 65535"),
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
    fn a_password_in_a_wrong_place_is_refused_and_not_shown() {
        for scheme in ["postgres", "mysql", "mariadb", "sqlite", "null", "oracle"] {
            for rest in [
                ":/u:hunter2@h/d",
                ":u:hunter2@h/d",
                ":///u:hunter2@h/d",
                "://///u:hunter2@h/d",
                "://h/u:hunter2@h/d",
                ":/u:hun?ter2@h/d",
                ":///u:hun?ter2@h/d",
                ":/u:hunter2@h:5432/d?sslmode=require",
                ":\\\\u:hunter2@h/d",
                "://h/d?u:hunter2@h",
                "://h/d?=hunter2",
                "://h/d?hunter2 x=1",
                "://h/d?hunter2",
                "://h;password=hunter2/d",
                "://h:1433;databaseName=d;user=u;password=hunter2",
                "://u@h/d;encrypt=on;Password=hunter2",
                "://u:x@h/d?encrypt=on;pwd=hunter2",
                ":scheme://h/d;%70assword=hunter2",
            ] {
                let text = format!("{scheme}{rest}");
                let error = TargetUrl::parse(&text).unwrap_err().to_string();
                assert!(error.contains("scheme://"), "{text}: {error}");
                assert!(!error.contains("hun"), "{text}: {error}");
            }
        }
        assert_eq!(TargetUrl::parse("sqlite:a:b%40c.db").unwrap().path, "a:b@c.db");
    }

    #[test]
    fn what_others_call_a_password_is_hidden_too() {
        for name in ["pwd", "passwd", "PASSWORD", "pass", "sslpassword", "secret", "auth_token"] {
            let url = TargetUrl::parse(&format!("pg://u@h/d?{name}=hunter2&a=b")).unwrap();
            assert!(url.has_password(), "{name}");
            assert_eq!(url.redacted(), "pg://u@h/d?a=b", "{name}");
        }
    }

    #[test]
    fn a_data_folder_is_left_by_no_path() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("data");
        std::fs::create_dir_all(folder.join("sub/.git")).unwrap();
        std::fs::write(outside.path().join("other.db"), "").unwrap();
        for name in ["a.db", "jobs.db", "sub/b.db", ".hidden.db"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), folder.join("up")).unwrap();
            std::os::unix::fs::symlink("../other.db", folder.join("link.db")).unwrap();
            std::os::unix::fs::symlink("../absent.db", folder.join("dangling.db")).unwrap();
        }
        let data = DataFolder::new(folder.clone(), folder.join("jobs.db")).unwrap();
        let reach = Reach::Folder(data);
        let absolute = |name: &str| format!("{}/{name}", folder.canonicalize().unwrap().display());
        let absolute_good = absolute("a.db");
        for good in ["a.db", "new.db", "sub/b.db", "./a.db", "jobs2.db", &absolute_good] {
            assert!(reach.database_file(good).is_ok(), "{good}");
        }
        for bad in [
            "../other.db",
            "sub/../../other.db",
            "sub/../a.db",
            "up/other.db",
            "link.db",
            "dangling.db",
            "/etc/passwd",
            "/dev/zero",
            "jobs.db",
            "./jobs.db",
            "jobs.db-wal",
            "jobs.targets.json",
            ".hidden.db",
            "sub/.git/x.db",
            "absent/x.db",
            "sub",
            "..",
            &format!("{}/other.db", outside.path().display()),
            &absolute("../other.db"),
        ] {
            let error = reach.database_file(bad).unwrap_err().to_string();
            assert!(error.contains("--data"), "{bad}: {error}");
        }
    }

    #[test]
    fn servers_are_apart_or_the_same_by_hosts_and_ports() {
        let parse = |text: &str| TargetUrl::parse(text).unwrap();
        for (a, b, same, apart) in [
            ("postgres://me@db1:5432/a", "postgres://me@db1:5432/b?tls=off", true, false),
            ("postgres://db1/a", "postgres://db1:5433/a", false, false),
            ("postgres://db1/a", "mysql://db2/a", false, true),
            ("postgres://db1,db2/a", "postgres://db3,db2/a", false, false),
            ("postgres://db1/a", "postgres://localhost/a", false, false),
            ("postgres://db1/a", "postgres://127.0.0.7/a", false, false),
            ("postgres://db1/a", "postgres://[::1]/a", false, false),
            ("postgres://db1/a", "postgres:///a", false, false),
            ("postgres://db1/a", "postgres://%2Ftmp/a", false, false),
            ("sqlite:a.sqlite", "sqlite:a.sqlite", true, false),
            ("sqlite:a.sqlite", "sqlite:b.sqlite", false, false),
        ] {
            let (a, b) = (parse(a), parse(b));
            assert_eq!((a.is_same_server(&b), a.is_apart_from(&b)), (same, apart), "{a:?} {b:?}");
            assert_eq!((b.is_same_server(&a), b.is_apart_from(&a)), (same, apart), "{b:?} {a:?}");
        }
    }

    #[test]
    fn a_url_of_somebody_else_reaches_no_path_of_this_host() {
        use crate::AnyDatabase;
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::new(folder.path().into(), folder.path().join("jobs")).unwrap();
        let theirs = ConnectSettings { reach: Reach::Folder(data), ..Default::default() };
        for url in [
            "postgres://u@%2Frun%2Fpg/d",
            "postgres://u@/d?host=/run/pg",
            "postgres://u@h1,%2Frun%2Fpg/d",
            "postgres://u@h/d?sslrootcert=/etc/shadow",
            "postgres://u@h/d?sslcert=/a&sslkey=/b",
            "mysql://u@%2Frun%2Fs.sock/d",
            "mysql://u@h/d?socket=/run/s.sock",
            "mysql://u@h/d?ssl-ca=/etc/shadow",
            "mariadb://u@h/d?SSL_CERT=/a&ssl_key=/b",
        ] {
            let error = AnyDatabase::open(url, &theirs).expect_err("a refusal").to_string();
            assert!(error.contains("--targets"), "{url}: {error}");
        }
        for url in ["sqlite:/etc/passwd", "sqlite:%2e%2e/x.db", "sqlite:file:x.db"] {
            assert!(AnyDatabase::open(url, &theirs).is_err(), "{url}");
        }
        for url in ["postgres://u@h/d", "mysql://u@h/d", "sqlite:x.db", "null:"] {
            assert!(AnyDatabase::open(url, &theirs).is_ok(), "{url}");
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
