//! Resolves a `postgres://` URL: parameters, PG* environment variables, `~/.pgpass` and defaults,
//! as libpq reads them, except where libpq guesses silently: TLS is required for every host other
//! than this one, and an unknown parameter is an error.

use std::path::{Path, PathBuf};
use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};

use super::environment;
use crate::socket::is_loopback;
use crate::target::{ConnectSettings, Lookup, Reach, Secret, TargetUrl, host_text};
use crate::tls::RootCert;

/// The server's host by default.
const DEFAULT_HOST: &str = "localhost";
const DEFAULT_PORT: u16 = 5432;
/// Files below the user's folder that libpq reads where they exist: authorities, the client's
/// certificate and its key.
const ROOT_CRT: &str = ".postgresql/root.crt";
const CLIENT_CRT: &str = ".postgresql/postgresql.crt";
const CLIENT_KEY: &str = ".postgresql/postgresql.key";
/// Folders where distributions place the server's socket, which `.pgpass` calls `localhost`.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Parameters that a URL may have.
const PARAMS: [&str; 17] = [
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "sslpassword",
    "application_name",
    "connect_timeout",
    "target_session_attrs",
    "options",
    "schema",
    "channel_binding",
    "load_balance_hosts",
];

/// How much TLS a connection requires; the names are libpq's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Never use TLS.
    Disable,
    /// Use TLS only if the server requires it.
    Allow,
    /// Use TLS if the server offers it.
    Prefer,
    /// Require TLS, without verifying the server.
    Require,
    /// Require TLS with a certificate signed by the given authorities.
    VerifyCa,
    /// Like `VerifyCa`, and issued for the host.
    VerifyFull,
}

impl SslMode {
    /// All modes with their names.
    const ALL: [(Self, &'static str); 6] = [
        (Self::Disable, "disable"),
        (Self::Allow, "allow"),
        (Self::Prefer, "prefer"),
        (Self::Require, "require"),
        (Self::VerifyCa, "verify-ca"),
        (Self::VerifyFull, "verify-full"),
    ];
}

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A host name or address.
    Tcp(String),
    /// Folder of a unix socket.
    Unix(PathBuf),
}

/// One of the servers that a target names.
#[derive(Clone, Debug)]
pub struct Host {
    /// Address of the server.
    pub place: Endpoint,
    /// Port of the server, which is also part of a unix socket's name.
    pub port: u16,
    /// How much TLS to use.
    pub ssl_mode: SslMode,
    /// Password for this host, if known.
    pub password: Option<Secret>,
}

impl Host {
    /// The host's address, for messages.
    pub fn label(&self) -> String {
        match &self.place {
            Endpoint::Tcp(name) => host_text(name, Some(self.port)),
            Endpoint::Unix(folder) => socket_path(folder, self.port).display().to_string(),
        }
    }
}

/// Whether authentication is bound to the TLS channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelBinding {
    /// If both ends support it.
    Prefer,
    /// Always; without it the session is rejected.
    Require,
    /// Never, even if both ends support it.
    Disable,
}

/// The file name of a unix socket.
pub fn socket_path(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!(".s.PGSQL.{port}"))
}

/// Everything needed to connect, fully resolved.
#[derive(Clone, Debug)]
pub struct UrlOptions {
    /// Hosts, in the order in which they are tried.
    pub hosts: Vec<Host>,
    /// Name of the user.
    pub user: String,
    /// Name of the database.
    pub database: String,
    /// Authorities for the modes that verify.
    pub root_cert: Option<RootCert>,
    /// Files of the client certificate and its key.
    pub client_cert: Option<(PathBuf, PathBuf)>,
    /// Password of the client's key.
    pub key_password: Option<Secret>,
    /// Name shown in `pg_stat_activity`.
    pub application_name: String,
    /// Time limit for an attempt at one address.
    pub connect_limit: Duration,
    /// Whether a read-only host is skipped.
    pub read_write: bool,
    /// Command-line options for the server process.
    pub server_options: Option<String>,
    /// Schema that the search path is set to.
    pub schema: Option<String>,
    /// Whether authentication is bound to the TLS channel.
    pub channel_binding: ChannelBinding,
    /// What is ignored: variables, and the password file if a password was searched for.
    pub warnings: Vec<String>,
}

impl UrlOptions {
    /// Resolves a URL with settings, environment and defaults.
    ///
    /// # Errors
    /// When a parameter is unknown or has an invalid value.
    pub fn resolve(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        check_params(url, &settings.reach)?;
        let schema = schema(url, settings)?;
        let source = UrlSource { url, env };
        let names_host = url.hosts.iter().any(|host| !host.name.is_empty());
        let warnings =
            environment::check(env, names_host || source.get("host", "PGHOST").is_some())?;
        let user = source.user()?;
        let database = url
            .database()
            .map(str::to_owned)
            .or_else(|| source.get("dbname", "PGDATABASE"))
            .unwrap_or_else(|| user.clone());
        let places = source.places()?;
        let is_remote = |(place, _): &(Endpoint, u16)| default_mode(place) == SslMode::Require;
        let ssl = source.ssl(places.iter().all(is_remote))?;
        let known = settings.password.clone().or_else(|| source.password());
        let passwords = Passwords::read(known, source.password_file());
        let mut hosts = Vec::new();
        for (place, port) in places {
            if matches!(place, Endpoint::Unix(_)) {
                settings.reach.check_path("the unix socket")?;
            }
            let ssl_mode = ssl.mode.unwrap_or(default_mode(&place));
            let password = passwords.find(&place, port, &database, &user);
            hosts.push(Host { place, port, ssl_mode, password });
        }
        Ok(Self {
            hosts,
            user,
            database,
            root_cert: ssl.root_cert,
            client_cert: ssl.client_cert,
            key_password: url.param("sslpassword").map(Secret::new),
            application_name: source
                .get("application_name", "PGAPPNAME")
                .unwrap_or_else(|| settings.application_name.clone()),
            connect_limit: source.connect_limit(settings.connect_limit)?,
            read_write: source.choice(
                "target_session_attrs",
                "PGTARGETSESSIONATTRS",
                &[("any", false), ("read-write", true)],
                false,
            )?,
            server_options: source.get("options", "PGOPTIONS"),
            schema,
            channel_binding: source.choice(
                "channel_binding",
                "PGCHANNELBINDING",
                &[
                    ("prefer", ChannelBinding::Prefer),
                    ("require", ChannelBinding::Require),
                    ("disable", ChannelBinding::Disable),
                ],
                ChannelBinding::Prefer,
            )?,
            warnings: warnings.into_iter().chain(passwords.warning).collect(),
        })
    }

    /// The target for people, without secrets.
    pub fn label(&self) -> String {
        let mut url = TargetUrl {
            scheme: "postgres".into(),
            has_authority: true,
            user: Some(self.user.clone()),
            password: None,
            hosts: Vec::new(),
            path: format!("/{}", self.database),
            params: Vec::new(),
        };
        for host in &self.hosts {
            let name = match &host.place {
                Endpoint::Tcp(name) => name.clone(),
                Endpoint::Unix(folder) => folder.display().to_string(),
            };
            url.hosts.push(crate::target::UrlHost { name, port: Some(host.port) });
        }
        if let Some(schema) = &self.schema {
            url.params.push(("schema".into(), schema.clone()));
        }
        url.redacted()
    }
}

/// The schema to work in, if it is given.
fn schema(url: &TargetUrl, settings: &ConnectSettings) -> Result<Option<String>, SpecError> {
    let schema = settings.schema.clone().or_else(|| url.param("schema").map(str::to_owned));
    if schema.as_deref().is_some_and(|schema| schema.trim().is_empty()) {
        let message = "--schema must not be empty; omit it to use the user's default schema";
        return Err(SpecError::new(message).about("schema"));
    }
    Ok(schema)
}

/// How much TLS to use where nothing says it: on the network it is required.
fn default_mode(place: &Endpoint) -> SslMode {
    match place {
        Endpoint::Tcp(name) if !is_loopback(name) => SslMode::Require,
        Endpoint::Tcp(_) | Endpoint::Unix(_) => SslMode::Prefer,
    }
}

/// Rejects unknown parameters.
fn check_params(url: &TargetUrl, reach: &Reach) -> Result<(), SpecError> {
    if !matches!(url.scheme.as_str(), "postgres" | "postgresql") {
        return Err(SpecError::new(format!(
            "`{}:` is not the scheme of a PostgreSQL target: expected postgres:",
            url.scheme
        )));
    }
    url.check_authority()?;
    for (name, value) in &url.params {
        if !PARAMS.contains(&name.as_str()) {
            return Err(SpecError::new(format!(
                "unknown parameter `{name}` of a PostgreSQL target: expected one of {}",
                PARAMS.join(", ")
            )));
        }
        let is_file = match name.as_str() {
            "sslrootcert" => value != "system",
            "sslcert" | "sslkey" => true,
            _ => false,
        };
        if is_file {
            reach.check_path(&format!("`{name}`"))?;
        }
        if name == "load_balance_hosts" && value != "disable" {
            return Err(SpecError::new(
                "`load_balance_hosts` must be disable: hosts are tried in order",
            ));
        }
    }
    Ok(())
}

/// A URL and the environment that completes it.
struct UrlSource<'a> {
    url: &'a TargetUrl,
    env: Lookup<'a>,
}

/// Values of the ssl parameters.
struct Ssl {
    mode: Option<SslMode>,
    root_cert: Option<RootCert>,
    client_cert: Option<(PathBuf, PathBuf)>,
}

impl UrlSource<'_> {
    fn get(&self, param: &str, variable: &str) -> Option<String> {
        let given = self.url.param(param).map(str::to_owned);
        given.or_else(|| (self.env)(variable)).filter(|value| !value.is_empty())
    }

    /// The user of the database: that of the system if nothing names one.
    fn user(&self) -> Result<String, SpecError> {
        match self.url.user.clone().or_else(|| self.get("user", "PGUSER")) {
            Some(user) => Ok(user),
            None => whoami::username().map_err(|_| {
                SpecError::new(
                    "the target names no user: use postgres://USER@HOST/DATABASE, or set PGUSER",
                )
            }),
        }
    }

    fn password(&self) -> Option<Secret> {
        let in_url = self.url.password.clone();
        in_url.or_else(|| self.get("password", "PGPASSWORD").map(Secret::from))
    }

    fn choice<T: Copy>(
        &self,
        param: &str,
        variable: &str,
        values: &[(&str, T)],
        default: T,
    ) -> Result<T, SpecError> {
        let Some(given) = self.get(param, variable) else { return Ok(default) };
        values.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = values.iter().map(|(word, _)| *word).collect();
            SpecError::new(format!("invalid `{param}` `{given}`: expected {}", words.join(", ")))
        })
    }

    fn connect_limit(&self, default: Duration) -> Result<Duration, SpecError> {
        match self.get("connect_timeout", "PGCONNECT_TIMEOUT") {
            None => Ok(default),
            Some(text) => match text.trim().parse() {
                Ok(0) => Ok(default),
                Ok(seconds) => Ok(Duration::from_secs(seconds)),
                Err(_) => Err(SpecError::new(format!(
                    "invalid `connect_timeout` `{text}`: must be in whole seconds"
                ))),
            },
        }
    }

    /// Hosts with their ports: from the URL, else from `host=` and `port=`, else from the
    /// environment.
    fn places(&self) -> Result<Vec<(Endpoint, u16)>, SpecError> {
        let ports_given = self.get("port", "PGPORT");
        let named = self.url.hosts.iter().any(|host| !host.name.is_empty());
        let mut hosts: Vec<(String, Option<u16>)> =
            self.url.hosts.iter().map(|host| (host.name.clone(), host.port)).collect();
        if self.url.param("host").is_some() || !named {
            let port = self.url.hosts.first().and_then(|host| host.port);
            hosts = self
                .get("host", "PGHOST")
                .map(|names| names.split(',').map(|name| (name.to_owned(), port)).collect())
                .unwrap_or_else(|| vec![(String::new(), port)]);
        }
        let ports = match &ports_given {
            Some(text) => parse_ports(text)?,
            None => vec![DEFAULT_PORT],
        };
        let asked = hosts.iter().any(|(_, port)| port.is_none());
        if asked && ports.len() != 1 && ports.len() != hosts.len() {
            return Err(SpecError::new(format!(
                "the target has {} ports for {} hosts: use one port, or one for each host",
                ports.len(),
                hosts.len()
            )));
        }
        let place = |(index, (name, port)): (usize, (String, Option<u16>))| {
            let place = match name.as_str() {
                "" => Endpoint::Tcp(DEFAULT_HOST.into()),
                folder if folder.starts_with('/') => Endpoint::Unix(folder.into()),
                name => Endpoint::Tcp(name.trim_matches(['[', ']']).to_owned()),
            };
            (place, port.unwrap_or(ports[index.min(ports.len() - 1)]))
        };
        Ok(hosts.into_iter().enumerate().map(place).collect())
    }

    /// The values of the ssl parameters, where all hosts are remote or not.
    fn ssl(&self, is_remote: bool) -> Result<Ssl, SpecError> {
        let words = SslMode::ALL.map(|(mode, word)| (word, Some(mode)));
        let mut mode = self.choice("sslmode", "PGSSLMODE", &words, None)?;
        let root_cert = match self.get("sslrootcert", "PGSSLROOTCERT") {
            Some(word) if word == "system" => Some(RootCert::System),
            Some(file) => Some(RootCert::File(file.into())),
            None => None,
        };
        match (&root_cert, mode) {
            // As with libpq, authorities that are there are used.
            (None, None) if is_remote && self.default_file(ROOT_CRT).is_some() => {
                mode = Some(SslMode::VerifyCa);
            }
            (None, Some(SslMode::Require)) if self.default_file(ROOT_CRT).is_some() => {
                mode = Some(SslMode::VerifyCa);
            }
            (Some(RootCert::System), None) => mode = Some(SslMode::VerifyFull),
            (Some(RootCert::System), Some(SslMode::VerifyFull)) | (None, _) => {}
            (Some(RootCert::System), Some(_)) => {
                return Err(SpecError::new(
                    "`sslrootcert=system` needs `sslmode=verify-full`: anyone can obtain a \
                     certificate that the system's authorities signed",
                ));
            }
            (Some(RootCert::File(_)), Some(SslMode::Require)) => mode = Some(SslMode::VerifyCa),
            (Some(RootCert::File(_)), _) => {}
        }
        let verifies = matches!(mode, Some(SslMode::VerifyCa | SslMode::VerifyFull));
        let root_cert = match root_cert {
            None if verifies => Some(self.default_root_cert()?),
            given => given,
        };
        let client_cert = match (self.get("sslcert", "PGSSLCERT"), self.get("sslkey", "PGSSLKEY")) {
            (Some(cert), Some(key)) => Some((cert.into(), key.into())),
            (None, None) if mode == Some(SslMode::Disable) => None,
            (None, None) => self.default_file(CLIENT_CRT).zip(self.default_file(CLIENT_KEY)),
            _ => {
                return Err(SpecError::new("`sslcert` and `sslkey` must be given together"));
            }
        };
        Ok(Ssl { mode, root_cert, client_cert })
    }

    fn default_root_cert(&self) -> Result<RootCert, SpecError> {
        self.default_file(ROOT_CRT).map(RootCert::File).ok_or_else(|| {
            SpecError::new(
                "`sslmode=verify-ca` and `verify-full` need `sslrootcert=FILE`, \
                 `sslrootcert=system` or ~/.postgresql/root.crt",
            )
        })
    }

    /// A file in the user's folder, if it exists.
    fn default_file(&self, name: &str) -> Option<PathBuf> {
        self.home().map(|home| home.join(name)).filter(|file| file.is_file())
    }

    fn home(&self) -> Option<PathBuf> {
        (self.env)("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }

    fn password_file(&self) -> Option<PathBuf> {
        match (self.env)("PGPASSFILE").filter(|file| !file.is_empty()) {
            Some(file) => Some(file.into()),
            None => self.home().map(|home| home.join(".pgpass")),
        }
    }
}

fn parse_ports(text: &str) -> Result<Vec<u16>, SpecError> {
    let port = |port: &str| match port.trim().parse::<u16>() {
        Ok(0) | Err(_) => Err(SpecError::new(format!(
            "invalid `port` `{text}`: expected a number from 1 to 65535, or one for each host"
        ))),
        Ok(port) => Ok(port),
    };
    text.split(',').map(port).collect()
}

/// The password that is known, or else the text of the password file.
#[derive(Default)]
struct Passwords {
    known: Option<Secret>,
    text: String,
    /// Why the file is ignored.
    warning: Option<String>,
}

impl Passwords {
    /// Takes the password that is known; the file is read only where none is.
    fn read(known: Option<Secret>, file: Option<PathBuf>) -> Self {
        if known.is_some() {
            return Self { known, ..Self::default() };
        }
        match file.as_deref().map_or_else(|| Ok(String::new()), read_private) {
            Ok(text) => Self { text, ..Self::default() },
            Err(warning) => Self { warning: Some(warning), ..Self::default() },
        }
    }

    fn find(&self, place: &Endpoint, port: u16, database: &str, user: &str) -> Option<Secret> {
        if self.known.is_some() {
            return self.known.clone();
        }
        let names: Vec<String> = match place {
            Endpoint::Tcp(name) => vec![name.clone()],
            Endpoint::Unix(folder) => {
                let folder = folder.display().to_string();
                let usual = SOCKET_FOLDERS.contains(&folder.as_str());
                let mut names = vec![folder];
                names.extend(usual.then(|| DEFAULT_HOST.to_owned()));
                names
            }
        };
        let port = port.to_string();
        names.iter().find_map(|name| find_password(&self.text, [name, &port, database, user]))
    }
}

/// Reads a file that only its owner may read; a missing one is empty.
///
/// # Errors
/// With a warning for the user when the file is ignored.
fn read_private(file: &Path) -> Result<String, String> {
    let Ok(facts) = std::fs::metadata(file) else { return Ok(String::new()) };
    let path = file.display();
    if !facts.is_file() {
        // As with libpq, /dev/null is a way to have no such file.
        return Ok(String::new());
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o077 != 0 {
        return Err(format!(
            "password file {path} is ignored because its permissions allow group or others to \
             read it: run chmod 0600 {path}"
        ));
    }
    read_text(file, SETTINGS_BYTES_MAX)
        .map_err(|error| format!("password file {path} is ignored: {error}"))
}

/// Finds the first matching line `host:port:database:user:password`, where `*` matches anything.
fn find_password(text: &str, wanted: [&str; 4]) -> Option<Secret> {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut rest = line;
        let fits = wanted.iter().all(|wanted| {
            let (field, is_any, after) = next_field(rest);
            rest = after;
            is_any || field == **wanted
        });
        if fits && !rest.is_empty() {
            return Some(Secret::new(next_field_to_end(rest)));
        }
    }
    None
}

/// The next field without its escapes, whether it is a bare `*`, and what follows its colon.
fn next_field(text: &str) -> (String, bool, &str) {
    let mut field = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return (field, &text[..at] == "*", &text[at + 1..]),
            '\\' => field.extend(chars.next().map(|(_, escaped)| escaped)),
            c => field.push(c),
        }
    }
    (field, text == "*", "")
}

/// The last field: escapes are removed, and it ends at a colon that is not escaped, as in libpq.
fn next_field_to_end(text: &str) -> String {
    next_field(text).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(url: &str, vars: &[(&str, &str)]) -> Result<UrlOptions, SpecError> {
        let env = |name: &str| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        UrlOptions::resolve(&TargetUrl::parse(url)?, &ConnectSettings::default(), &env)
    }

    fn hosts(options: &UrlOptions) -> Vec<String> {
        options.hosts.iter().map(Host::label).collect()
    }

    #[test]
    fn the_environment_fills_what_the_url_leaves_out() {
        let vars = [
            ("PGHOST", "h1,h2"),
            ("PGPORT", "1,2"),
            ("PGUSER", "u"),
            ("PGPASSWORD", "p"),
            ("PGDATABASE", "d"),
            ("PGSSLMODE", "disable"),
            ("PGAPPNAME", "app"),
            ("PGOPTIONS", "-c x=1"),
            ("PGTARGETSESSIONATTRS", "read-write"),
            ("PGCONNECT_TIMEOUT", "3"),
        ];
        let options = resolve("postgres:", &vars).unwrap();
        assert_eq!(hosts(&options), ["h1:1", "h2:2"]);
        assert_eq!((options.user.as_str(), options.database.as_str()), ("u", "d"));
        assert_eq!(options.hosts[0].password.as_ref().unwrap().reveal(), "p");
        assert_eq!(options.hosts[1].ssl_mode, SslMode::Disable);
        assert_eq!(options.application_name, "app");
        assert_eq!(options.server_options.as_deref(), Some("-c x=1"));
        assert!(options.read_write);
        assert_eq!(options.connect_limit, Duration::from_secs(3));
        let url = "postgresql://me:q@h3:3/e?sslmode=require&application_name=b";
        let options = resolve(url, &vars).unwrap();
        assert_eq!(hosts(&options), ["h3:3"]);
        assert_eq!((options.user.as_str(), options.database.as_str()), ("me", "e"));
        assert_eq!(options.hosts[0].password.as_ref().unwrap().reveal(), "q");
        assert_eq!(options.hosts[0].ssl_mode, SslMode::Require);
        assert_eq!(options.application_name, "b");
    }

    #[test]
    fn hosts_and_ports_pair_up() {
        for (url, expected) in [
            ("postgres://u@", vec!["localhost:5432"]),
            ("postgres://u@/d", vec!["localhost:5432"]),
            ("postgres://u@:7/d", vec!["localhost:7"]),
            ("postgres://u@h/d?port=6", vec!["h:6"]),
            ("postgres://u@a,b:2/d?port=6", vec!["a:6", "b:2"]),
            ("postgres://u@[::1]:2/d", vec!["[::1]:2"]),
            ("postgres://u@/d?host=/run/pg&port=9", vec!["/run/pg/.s.PGSQL.9"]),
            ("postgres://u@%2Frun%2Fpg:9/d", vec!["/run/pg/.s.PGSQL.9"]),
            ("postgres://u@/d?host=a,b&port=1,2", vec!["a:1", "b:2"]),
        ] {
            assert_eq!(hosts(&resolve(url, &[]).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn tls_is_required_away_from_this_host() {
        for (url, expected) in [
            ("postgres://u@localhost", SslMode::Prefer),
            ("postgres://u@127.0.0.1", SslMode::Prefer),
            ("postgres://u@[::1]", SslMode::Prefer),
            ("postgres://u@/d?host=/tmp", SslMode::Prefer),
            ("postgres://u@db1", SslMode::Require),
            ("postgres://u@10.0.0.1", SslMode::Require),
            ("postgres://u@db1?sslmode=prefer", SslMode::Prefer),
            ("postgres://u@db1?sslmode=require&sslrootcert=ca.crt", SslMode::VerifyCa),
            ("postgres://u@db1?sslrootcert=system", SslMode::VerifyFull),
        ] {
            assert_eq!(resolve(url, &[]).unwrap().hosts[0].ssl_mode, expected, "{url}");
        }
    }

    #[test]
    fn certificates_in_the_users_folder_are_used_as_by_libpq() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".postgresql")).unwrap();
        let vars = [("HOME", home.path().to_str().unwrap())];
        let of = |url: &str| {
            let options = resolve(url, &vars).unwrap();
            (options.hosts[0].ssl_mode, options.root_cert.is_some(), options.client_cert.is_some())
        };
        assert_eq!(of("postgres://u@db1"), (SslMode::Require, false, false));
        std::fs::write(home.path().join(ROOT_CRT), "").unwrap();
        assert_eq!(of("postgres://u@db1"), (SslMode::VerifyCa, true, false));
        assert_eq!(of("postgres://u@db1?sslmode=require"), (SslMode::VerifyCa, true, false));
        assert_eq!(of("postgres://u@localhost"), (SslMode::Prefer, false, false));
        std::fs::write(home.path().join(CLIENT_CRT), "").unwrap();
        assert_eq!(of("postgres://u@db1?sslmode=verify-full"), (SslMode::VerifyFull, true, false));
        std::fs::write(home.path().join(CLIENT_KEY), "").unwrap();
        assert_eq!(of("postgres://u@db1?sslmode=verify-full"), (SslMode::VerifyFull, true, true));
        assert_eq!(of("postgres://u@db1?sslmode=disable"), (SslMode::Disable, false, false));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (url, message) in [
            ("mysql://h", "is not the scheme of a PostgreSQL target"),
            ("postgres://u@h/d?schema=", "--schema must not be empty"),
            ("postgres:/u@h/d", "`postgres:` must be followed by two slashes"),
            ("postgresql:d", "`postgresql:` must be followed by two slashes"),
            (
                "postgres://u@h/?sslmod=require",
                "unknown parameter `sslmod` of a PostgreSQL target: expected one of host, port",
            ),
            ("postgres://u@h/?sslmode=on", "expected disable, allow"),
            ("postgres://u@h/?sslmode=verify-full", "sslrootcert=FILE"),
            ("postgres://u@h/?sslmode=require&sslrootcert=system", "needs `sslmode=verify-full`"),
            ("postgres://u@h/?sslcert=a", "together"),
            ("postgres://u@h/?target_session_attrs=primary", "expected any, read-write"),
            ("postgres://u@h/?connect_timeout=soon", "whole seconds"),
            ("postgres://u@h/?port=x", "1 to 65535"),
            ("postgres://u@a,b,c/?port=1,2", "2 ports for 3 hosts"),
            ("postgres://u@h/?load_balance_hosts=random", "must be disable"),
            ("postgres://u@h/?channel_binding=yes", "expected prefer, require, disable"),
        ] {
            let error = resolve(url, &[]).unwrap_err().to_string();
            assert!(error.contains(message), "{url}: {error}");
        }
    }

    #[test]
    fn pgpass_lines_are_matched_field_by_field() {
        let text = "# comment\n\
                    db1:5432:d:u:first\n\
                    db1:*:*:u:second\n\
                    *:*:odd\\:name:u:with\\:colon\\\\slash\n\
                    *:*:*:other:any\n\
                    \\*:*:*:star:never\n";
        for (wanted, expected) in [
            (["db1", "5432", "d", "u"], Some("first")),
            (["db1", "5433", "d", "u"], Some("second")),
            (["db2", "1", "odd:name", "u"], Some("with:colon\\slash")),
            (["db2", "1", "x", "other"], Some("any")),
            (["db2", "1", "x", "nobody"], None),
            (["db2", "1", "x", "star"], None),
        ] {
            let found = find_password(text, wanted);
            assert_eq!(found.as_ref().map(Secret::reveal), expected, "{wanted:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_password_file_that_others_may_read_is_passed_over() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pass");
        std::fs::write(&file, "*:*:*:*:secret\n").unwrap();
        let vars = [("PGPASSFILE", file.to_str().unwrap())];
        for (mode, expected) in [(0o600, Some("secret")), (0o640, None), (0o604, None)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let options = resolve("postgres://u@h/d", &vars).unwrap();
            let found = options.hosts[0].password.as_ref().map(Secret::reveal);
            assert_eq!(found, expected, "{mode:o}");
            assert_eq!(options.warnings.is_empty(), expected.is_some(), "{mode:o}");
        }
        let options = resolve("postgres://u:url@h/d", &vars).unwrap();
        assert_eq!(options.hosts[0].password.as_ref().unwrap().reveal(), "url");
        assert!(options.warnings.is_empty(), "the file is not needed");
    }

    #[test]
    fn the_label_shows_no_password() {
        let options = resolve("postgres://u:hunter2@h1,h2:2/d?schema=s", &[]).unwrap();
        assert_eq!(options.label(), "postgres://u@h1:5432,h2:2/d?schema=s");
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
