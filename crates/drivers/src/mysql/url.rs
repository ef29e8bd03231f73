//! Resolves a `mysql://` or `mariadb://` URL: parameters with the names of MySQL's own clients,
//! `~/.my.cnf`, the variables of these clients, and defaults. Unlike those clients it guesses nothing silently:
//! `localhost` is not a socket, TLS is required for every host other than this one, and an unknown
//! parameter is an error.

use std::path::PathBuf;
use std::time::Duration;

use triphammer_core::SpecError;

use super::compressed::Compression;
use super::option_file::OptionFile;
use crate::socket::is_loopback;
use crate::target::{ConnectSettings, Lookup, Reach, Secret, TargetUrl, UrlHost, host_text};
use crate::tls::RootCert;

const DEFAULT_HOST: &str = "localhost";
const DEFAULT_PORT: u16 = 3306;

/// Parameters that a URL may have. `_` is read as `-`, `sslmode` as `ssl-mode`, and
/// `compression-algorithms` as `compression`.
const PARAMS: [&str; 9] = [
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "socket",
    "connect-timeout",
    "get-server-public-key",
    "target-session-attrs",
    "compression",
];

/// How much TLS a connection requires; the names are MySQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Never use TLS.
    Disabled,
    /// Use TLS if the server offers it.
    Preferred,
    /// Require TLS, without verifying the server.
    Required,
    /// Require TLS with a certificate signed by the given authorities.
    VerifyCa,
    /// Like `VerifyCa`, and issued for the host.
    VerifyIdentity,
}

impl SslMode {
    /// All modes with their names.
    const ALL: [(Self, &'static str); 5] = [
        (Self::Disabled, "DISABLED"),
        (Self::Preferred, "PREFERRED"),
        (Self::Required, "REQUIRED"),
        (Self::VerifyCa, "VERIFY_CA"),
        (Self::VerifyIdentity, "VERIFY_IDENTITY"),
    ];

    fn parse(text: &str) -> Result<Self, SpecError> {
        let wanted = text.to_uppercase().replace('-', "_");
        Self::ALL.iter().find(|(_, word)| *word == wanted).map(|(mode, _)| *mode).ok_or_else(|| {
            let words = Self::ALL.map(|(_, word)| word).join(", ");
            SpecError::new(format!("invalid `ssl-mode` `{text}`: expected {words}"))
        })
    }

    /// Whether the server's certificate is verified against authorities.
    pub fn verifies(self) -> bool {
        matches!(self, Self::VerifyCa | Self::VerifyIdentity)
    }
}

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A host name or address, and a port.
    Tcp(String, u16),
    /// Path of a unix socket.
    Unix(PathBuf),
}

impl Endpoint {
    /// The server's address, for messages.
    pub fn label(&self) -> String {
        match self {
            Self::Tcp(name, port) => host_text(name, Some(*port)),
            Self::Unix(file) => file.display().to_string(),
        }
    }

    /// Whether nobody is on the network path to the server.
    pub fn is_near(&self) -> bool {
        match self {
            Self::Tcp(name, _) => is_loopback(name),
            Self::Unix(_) => true,
        }
    }
}

/// Everything needed to connect, fully resolved.
#[derive(Clone, Debug)]
pub struct UrlOptions {
    /// Scheme of the URL: `mysql` or `mariadb`.
    pub scheme: String,
    /// Addresses of the servers, in the order in which they are tried; at least one.
    pub places: Vec<Endpoint>,
    /// Whether sessions need a server that accepts writes.
    pub read_write: bool,
    /// Name of the user.
    pub user: String,
    /// Password of the user, if known.
    pub password: Option<Secret>,
    /// Name of the database.
    pub database: String,
    /// How much TLS to use; never any on a unix socket.
    pub ssl_mode: SslMode,
    /// Authorities for the modes that verify.
    pub root_cert: Option<RootCert>,
    /// Files of the client certificate and its key.
    pub client_cert: Option<(PathBuf, PathBuf)>,
    /// Name in the session's attributes.
    pub application_name: String,
    /// Time limit for an attempt at one address.
    pub connect_limit: Duration,
    /// Whether the server's RSA key is requested over an unencrypted connection.
    pub trusts_server_key: bool,
    /// How connections are compressed; `None` for not at all.
    pub compression: Option<Compression>,
    /// What of the option file and of the variables has no effect.
    pub warnings: Vec<String>,
}

impl UrlOptions {
    /// Resolves a URL with settings, the option file, the environment and defaults.
    ///
    /// # Errors
    /// When a parameter is unknown or has an invalid value.
    pub fn resolve(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        let source = UrlSource::new(url, &settings.reach, env)?;
        if settings.schema.is_some() {
            return Err(SpecError::new(
                "a schema is a database in MySQL and MariaDB: name it in the target, not with \
                 --schema",
            ));
        }
        let Some(database) = url.database().map(str::to_owned) else {
            let message = "the target names no database: use mysql://USER@HOST/DATABASE";
            return Err(SpecError::new(message));
        };
        let user = match url.user.clone().or_else(|| source.file("user")) {
            Some(user) => user,
            None => whoami::username().map_err(|_| {
                SpecError::new("the target names no user: use mysql://USER@HOST/DATABASE")
            })?,
        };
        let password = settings
            .password
            .clone()
            .or_else(|| url.password.clone())
            .or_else(|| source.file("password").map(Secret::from))
            .or_else(|| env("MYSQL_PWD").map(Secret::from));
        let places = source.places()?;
        if places.iter().any(|place| matches!(place, Endpoint::Unix(_))) {
            settings.reach.check_path("the unix socket")?;
        }
        let root_cert = source.get("ssl-ca").map(|word| match word.as_str() {
            "system" => RootCert::System,
            file => RootCert::File(file.into()),
        });
        let ssl_mode = source.ssl_mode(&places, root_cert.as_ref())?;
        Ok(Self {
            scheme: url.scheme.clone(),
            places,
            read_write: source.read_write()?,
            user,
            password,
            database,
            ssl_mode,
            root_cert,
            client_cert: source.client_cert()?,
            application_name: settings.application_name.clone(),
            connect_limit: source.connect_limit(settings.connect_limit)?,
            trusts_server_key: source.switch("get-server-public-key")?,
            compression: source.compression()?,
            warnings: source.file.warnings,
        })
    }

    /// The target for people, without secrets.
    pub fn label(&self) -> String {
        let host = |place: &Endpoint| match place {
            Endpoint::Tcp(name, port) => UrlHost { name: name.clone(), port: Some(*port) },
            Endpoint::Unix(file) => UrlHost { name: file.display().to_string(), port: None },
        };
        let url = TargetUrl {
            scheme: self.scheme.clone(),
            has_authority: true,
            user: Some(self.user.clone()),
            password: None,
            hosts: self.places.iter().map(host).collect(),
            path: format!("/{}", self.database),
            params: Vec::new(),
        };
        url.redacted()
    }
}

/// A URL and the sources that complete it.
struct UrlSource<'a> {
    url: &'a TargetUrl,
    params: Vec<(String, &'a str)>,
    file: OptionFile,
    env: Lookup<'a>,
}

impl<'a> UrlSource<'a> {
    fn new(url: &'a TargetUrl, reach: &Reach, env: Lookup<'a>) -> Result<Self, SpecError> {
        if !matches!(url.scheme.as_str(), "mysql" | "mariadb") {
            return Err(SpecError::new(format!(
                "`{}:` is not the scheme of a MySQL target: expected mysql: or mariadb:",
                url.scheme
            )));
        }
        url.check_authority()?;
        let mut params = Vec::new();
        for (written, value) in &url.params {
            let name = match written.to_lowercase().replace('_', "-").as_str() {
                "sslmode" => "ssl-mode".to_owned(),
                "compression-algorithms" => "compression".to_owned(),
                name => name.to_owned(),
            };
            if !PARAMS.contains(&name.as_str()) {
                return Err(SpecError::new(format!(
                    "unknown parameter `{written}` of a MySQL target: expected one of {}",
                    PARAMS.join(", ")
                )));
            }
            let is_file = match name.as_str() {
                "ssl-ca" => value != "system",
                "ssl-cert" | "ssl-key" | "socket" => true,
                _ => false,
            };
            if is_file {
                reach.check_path(&format!("`{name}`"))?;
            }
            params.push((name, value.as_str()));
        }
        Ok(Self { url, params, file: OptionFile::of_user(&url.scheme, env), env })
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    fn file(&self, name: &str) -> Option<String> {
        self.file.get(name).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.is_empty())
    }

    fn get(&self, name: &str) -> Option<String> {
        let given = self.param(name).filter(|value| !value.is_empty()).map(str::to_owned);
        given.or_else(|| self.file(name))
    }

    /// The servers from the URL; from the option file only if the URL names none.
    fn places(&self) -> Result<Vec<Endpoint>, SpecError> {
        match self.url.hosts.as_slice() {
            [] => self.place(None).map(|place| vec![place]),
            [host] => {
                let named = Some(host).filter(|host| !host.name.is_empty());
                self.place(named).map(|place| vec![place])
            }
            _ if self.param("socket").is_some() => {
                Err(SpecError::new("`socket` names one server: omit it, or name only one host"))
            }
            hosts if hosts.iter().any(|host| host.name.is_empty()) => {
                Err(SpecError::new("each of several hosts needs a name"))
            }
            hosts => hosts.iter().map(|host| self.place(Some(host))).collect(),
        }
    }

    fn place(&self, named: Option<&UrlHost>) -> Result<Endpoint, SpecError> {
        match (self.param("socket"), named) {
            (Some(file), _) => return Ok(Endpoint::Unix(file.into())),
            (None, Some(host)) if host.name.starts_with('/') => {
                return Ok(Endpoint::Unix(host.name.as_str().into()));
            }
            (None, Some(host)) => {
                return Ok(Endpoint::Tcp(host.name.clone(), self.port(host.port)?));
            }
            (None, None) => {}
        }
        let port = self.url.hosts.first().and_then(|host| host.port);
        let protocol = self.file("protocol").map(|protocol| protocol.to_lowercase());
        let host = self.file("host").or_else(|| self.variable("MYSQL_HOST"));
        let socket = self.file("socket").or_else(|| self.variable("MYSQL_UNIX_PORT"));
        match (protocol.as_deref(), host, socket) {
            (Some("socket"), _, Some(file)) => Ok(Endpoint::Unix(file.into())),
            (Some("socket"), _, None) => Err(SpecError::new(
                "`protocol=socket` in ~/.my.cnf needs a socket: add socket=FILE there, or name a \
                 host in the target",
            )),
            (None | Some("tcp"), Some(host), _) => Ok(Endpoint::Tcp(host, self.port(port)?)),
            (None, None, Some(file)) if port.is_none() => Ok(Endpoint::Unix(file.into())),
            (None | Some("tcp"), None, _) => {
                Ok(Endpoint::Tcp(DEFAULT_HOST.to_owned(), self.port(port)?))
            }
            (Some(protocol), ..) => Err(SpecError::new(format!(
                "`protocol={protocol}` in ~/.my.cnf is not supported: expected tcp or socket"
            ))),
        }
    }

    fn port(&self, given: Option<u16>) -> Result<u16, SpecError> {
        let in_file = self.file("port").map(|text| ("`port` in ~/.my.cnf", text));
        let named = || Some(("MYSQL_TCP_PORT", self.variable("MYSQL_TCP_PORT")?));
        let Some((what, text)) = in_file.or_else(named).filter(|_| given.is_none()) else {
            return Ok(given.unwrap_or(DEFAULT_PORT));
        };
        text.parse().ok().filter(|port| *port != 0).ok_or_else(|| {
            SpecError::new(format!("{what} is `{text}`: it must be a number up to 65535"))
        })
    }

    /// How much TLS the option file asks for: MySQL's `ssl-mode`, or MariaDB's switches.
    fn ssl_mode_in_file(&self) -> Option<String> {
        let is_on = |name: &str| {
            let value = self.file.get(name).map(str::to_lowercase);
            value.map(|value| !matches!(value.as_str(), "0" | "off" | "false" | "no"))
        };
        let mode = match (is_on("ssl"), is_on("ssl-verify-server-cert")) {
            _ if self.file("ssl-mode").is_some() => return self.file("ssl-mode"),
            (Some(false), _) => "DISABLED",
            (_, Some(true)) => "VERIFY_IDENTITY",
            (_, Some(false)) | (Some(true), None) => "REQUIRED",
            (None, None) => return None,
        };
        Some(mode.to_owned())
    }

    /// Whether sessions need a server that accepts writes; the words are libpq's.
    fn read_write(&self) -> Result<bool, SpecError> {
        match self.param("target-session-attrs") {
            None | Some("any") => Ok(false),
            Some("read-write") => Ok(true),
            Some(text) => Err(SpecError::new(format!(
                "invalid `target-session-attrs` `{text}`: expected any or read-write"
            ))),
        }
    }

    fn ssl_mode(
        &self,
        places: &[Endpoint],
        root_cert: Option<&RootCert>,
    ) -> Result<SslMode, SpecError> {
        let given = self.param("ssl-mode").filter(|value| !value.is_empty()).map(str::to_owned);
        let given = given.or_else(|| self.ssl_mode_in_file());
        let given = given.map(|text| SslMode::parse(&text)).transpose()?;
        let mode = match (given, root_cert) {
            (Some(mode), _) => mode,
            // Anyone can obtain a signed certificate, so it proves nothing unless the name is
            // checked.
            (None, Some(RootCert::System)) => SslMode::VerifyIdentity,
            (None, Some(RootCert::File(_))) => SslMode::VerifyCa,
            (None, None) if places.iter().all(Endpoint::is_near) => SslMode::Preferred,
            (None, None) => SslMode::Required,
        };
        match (mode, root_cert) {
            (SslMode::VerifyCa | SslMode::VerifyIdentity, None) => Err(SpecError::new(
                "`ssl-mode=VERIFY_CA` and `VERIFY_IDENTITY` need `ssl-ca=FILE` or `ssl-ca=system`",
            )),
            // MySQL's own clients accept it and verify nothing, which users who name authorities do
            // not expect.
            (SslMode::Disabled | SslMode::Preferred | SslMode::Required, Some(_))
                if self.param("ssl-ca").is_some() =>
            {
                Err(SpecError::new(
                    "`ssl-ca` has no effect unless the certificate is verified: use \
                     `ssl-mode=VERIFY_CA` or `VERIFY_IDENTITY`, or leave one of the two out",
                ))
            }
            (SslMode::VerifyCa, Some(RootCert::System)) => Err(SpecError::new(
                "`ssl-ca=system` needs `ssl-mode=VERIFY_IDENTITY`: anyone can obtain a certificate \
                 that the system's authorities signed",
            )),
            _ => Ok(mode),
        }
    }

    fn client_cert(&self) -> Result<Option<(PathBuf, PathBuf)>, SpecError> {
        match (self.get("ssl-cert"), self.get("ssl-key")) {
            (Some(cert), Some(key)) => Ok(Some((cert.into(), key.into()))),
            (None, None) => Ok(None),
            _ => Err(SpecError::new("`ssl-cert` and `ssl-key` must be given together")),
        }
    }

    fn connect_limit(&self, default: Duration) -> Result<Duration, SpecError> {
        match self.get("connect-timeout").as_deref() {
            None | Some("0") => Ok(default),
            Some(text) => text.parse().map(Duration::from_secs).map_err(|_| {
                SpecError::new(format!(
                    "invalid `connect-timeout` `{text}`: must be in whole seconds"
                ))
            }),
        }
    }

    fn compression(&self) -> Result<Option<Compression>, SpecError> {
        self.param("compression").map_or(Ok(None), Compression::parse)
    }

    fn switch(&self, name: &str) -> Result<bool, SpecError> {
        match self.param(name).or_else(|| self.file.get(name)) {
            None | Some("0" | "false" | "off") => Ok(false),
            Some("" | "1" | "true" | "on") => Ok(true),
            Some(text) => Err(SpecError::new(format!("invalid `{name}` `{text}`: must be 0 or 1"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_at(home: &str, url: &str) -> Result<UrlOptions, SpecError> {
        let env = |name: &str| match name {
            "HOME" => Some(home.to_owned()),
            "MYSQL_PWD" => Some("from the environment".to_owned()),
            _ => None,
        };
        UrlOptions::resolve(&TargetUrl::parse(url)?, &ConnectSettings::default(), &env)
    }

    fn resolve(url: &str) -> Result<UrlOptions, SpecError> {
        resolve_at("/nowhere", url)
    }

    fn password(options: &UrlOptions) -> &str {
        options.password.as_ref().unwrap().reveal()
    }

    #[test]
    fn variables_and_switches_of_the_option_file_apply_where_the_url_is_silent() {
        let home = tempfile::tempdir().unwrap();
        let at = |text: &str, variables: &[(&str, &str)], url: &str| {
            std::fs::write(home.path().join(".my.cnf"), format!("[client]\n{text}\n")).unwrap();
            let env = |name: &str| match name {
                "HOME" => Some(home.path().display().to_string()),
                name => variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()),
            };
            UrlOptions::resolve(&TargetUrl::parse(url)?, &ConnectSettings::default(), &env)
        };
        let host = ("MYSQL_HOST", "db9");
        let port = ("MYSQL_TCP_PORT", "77");
        let socket = ("MYSQL_UNIX_PORT", "/v.sock");
        for (text, variables, url, expected) in [
            ("", &[host, port][..], "mysql:///d", "db9:77"),
            ("", &[host, port], "mysql://h/d", "h:77"),
            ("host=f\nport=5", &[host, port], "mysql:///d", "f:5"),
            ("", &[socket], "mysql:///d", "/v.sock"),
            ("protocol=tcp", &[socket], "mysql:///d", "localhost:3306"),
            ("protocol=SOCKET\nhost=f", &[socket], "mysql:///d", "/v.sock"),
            ("protocol=SOCKET", &[], "mysql://h/d", "h:3306"),
        ] {
            let options = at(text, variables, url).unwrap();
            assert_eq!(options.places[0].label(), expected, "{text} {url}");
        }
        for (text, url, expected) in [
            ("skip-ssl", "mysql://db1/d", SslMode::Disabled),
            ("ssl", "mysql://localhost/d", SslMode::Required),
            ("ssl-verify-server-cert\nssl-ca=a.pem", "mysql://db1/d", SslMode::VerifyIdentity),
            ("disable-ssl-verify-server-cert", "mysql://db1/d", SslMode::Required),
            ("skip-ssl", "mysql://db1/d?ssl-mode=REQUIRED", SslMode::Required),
        ] {
            assert_eq!(at(text, &[], url).unwrap().ssl_mode, expected, "{text}");
        }
        for (text, variables, expected) in [
            ("protocol=pipe", &[][..], "expected tcp or socket"),
            ("protocol=socket", &[], "needs a socket"),
            ("", &[("MYSQL_TCP_PORT", "x")], "MYSQL_TCP_PORT is `x`"),
        ] {
            let error = at(text, variables, "mysql:///d").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn places_are_hosts_or_files_and_never_guessed() {
        for (url, expected) in [
            ("mysql://u@h/d", "h:3306"),
            ("mariadb://u@localhost/d", "localhost:3306"),
            ("mysql://u@:7/d", "localhost:7"),
            ("mysql://u@/d", "localhost:3306"),
            ("mysql://u@[::1]:2/d", "[::1]:2"),
            ("mysql://u@localhost/d?socket=/run/s.sock", "/run/s.sock"),
            ("mysql://u@%2Frun%2Fs.sock/d", "/run/s.sock"),
        ] {
            assert_eq!(resolve(url).unwrap().places[0].label(), expected, "{url}");
        }
    }

    #[test]
    fn several_hosts_keep_their_order() {
        let options = resolve("mysql://u@a,b:7,%2Fs/d?target_session_attrs=read-write").unwrap();
        let labels: Vec<String> = options.places.iter().map(Endpoint::label).collect();
        assert_eq!(labels, ["a:3306", "b:7", "/s"]);
        assert_eq!((options.ssl_mode, options.read_write), (SslMode::Required, true));
        let near = resolve("mysql://u@localhost,127.0.0.1:7/d").unwrap();
        assert_eq!((near.ssl_mode, near.read_write), (SslMode::Preferred, false));
        assert_eq!(near.label(), "mysql://u@localhost:3306,127.0.0.1:7/d");
    }

    #[test]
    fn tls_is_required_away_from_this_host() {
        for (url, expected) in [
            ("mysql://u@localhost/d", SslMode::Preferred),
            ("mysql://u@127.0.0.1/d", SslMode::Preferred),
            ("mysql://u@/d?socket=/s", SslMode::Preferred),
            ("mysql://u@db1/d", SslMode::Required),
            ("mysql://u@db1/d?sslmode=preferred", SslMode::Preferred),
            ("mysql://u@db1/d?ssl_mode=DISABLED", SslMode::Disabled),
            ("mysql://u@db1/d?ssl-ca=ca.pem", SslMode::VerifyCa),
            ("mysql://u@db1/d?ssl-ca=system", SslMode::VerifyIdentity),
            ("mysql://u@db1/d?ssl-ca=ca.pem&ssl-mode=verify-identity", SslMode::VerifyIdentity),
        ] {
            assert_eq!(resolve(url).unwrap().ssl_mode, expected, "{url}");
        }
    }

    #[test]
    fn the_option_file_fills_what_the_url_leaves_out() {
        let home = tempfile::tempdir().unwrap();
        let text = "[client]\nuser=bench\npassword=filed\nhost=db9\nport=3399\nsocket=/s.sock\n\
                    ssl-mode=DISABLED\n";
        std::fs::write(home.path().join(".my.cnf"), text).unwrap();
        let at = |url: &str| resolve_at(home.path().to_str().unwrap(), url).unwrap();
        let options = at("mysql:///d");
        assert_eq!(
            (options.places[0].label().as_str(), options.user.as_str()),
            ("db9:3399", "bench")
        );
        assert_eq!((password(&options), options.ssl_mode), ("filed", SslMode::Disabled));
        let options = at("mysql://me:typed@h/d?ssl-mode=REQUIRED");
        assert_eq!((options.places[0].label().as_str(), options.user.as_str()), ("h:3399", "me"));
        assert_eq!((password(&options), options.ssl_mode), ("typed", SslMode::Required));
        std::fs::write(home.path().join(".my.cnf"), "[client]\nsocket=/s.sock\n").unwrap();
        let options = at("mysql:///d");
        assert_eq!(
            (options.places[0].label().as_str(), password(&options)),
            ("/s.sock", "from the environment")
        );
        assert_eq!(at("mysql://localhost/d").places[0].label(), "localhost:3306");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (url, message) in [
            ("postgres://h/d", "is not the scheme of a MySQL target"),
            ("mysql://h", "names no database"),
            ("mysql://a,b/d?socket=/s", "`socket` names one server"),
            ("mysql://a,:7/d", "each of several hosts needs a name"),
            ("mysql://a/d?target_session_attrs=primary", "expected any or read-write"),
            (
                "mysql://h/d?sslmod=1",
                "unknown parameter `sslmod` of a MySQL target: expected one of ssl-mode",
            ),
            ("mysql://h/d?ssl-mode=on", "expected DISABLED, PREFERRED"),
            ("mysql://h/d?ssl-mode=VERIFY_CA", "ssl-ca=FILE"),
            ("mysql://h/d?ssl-mode=VERIFY_CA&ssl-ca=system", "VERIFY_IDENTITY"),
            ("mysql:h/d", "`mysql:` must be followed by two slashes"),
            ("mariadb:/u@h/d", "`mariadb:` must be followed by two slashes"),
            ("mysql://h/d?ssl-mode=PREFERRED&ssl-ca=x", "`ssl-ca` has no effect"),
            ("mysql://h/d?ssl_mode=required&ssl_ca=x", "`ssl-ca` has no effect"),
            ("mysql://h/d?ssl-mode=DISABLED&ssl-ca=system", "`ssl-ca` has no effect"),
            ("mysql://h/d?ssl-cert=a", "together"),
            ("mysql://h/d?connect-timeout=soon", "whole seconds"),
            ("mysql://h/d?get-server-public-key=maybe", "0 or 1"),
        ] {
            let error = resolve(url).unwrap_err().to_string();
            assert!(error.contains(message), "{url}: {error}");
        }
    }

    #[test]
    fn the_label_shows_no_password() {
        let options = resolve("mariadb://u:hunter2@h:7/d?ssl-mode=DISABLED").unwrap();
        assert_eq!(options.label(), "mariadb://u@h:7/d");
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
