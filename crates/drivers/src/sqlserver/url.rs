//! Resolves a `sqlserver://` or `mssql://` URL. Parameters have the names of Microsoft's drivers, in
//! any case, with or without hyphens. Nothing is guessed silently: encryption is required for every
//! host other than this one, certificates are verified unless the target says otherwise, and an
//! unknown parameter is an error.

use std::time::Duration;

use triphammer_core::SpecError;

use super::login::Encrypt;
use super::wire::PACKET_SIZES;
use crate::socket::is_loopback;
use crate::target::{ConnectSettings, Lookup, Reach, Secret, TargetUrl, UrlHost, host_text};
use crate::tls::RootCert;

const DEFAULT_HOST: &str = "localhost";
const DEFAULT_PORT: u16 = 1433;
const BROWSER_PORT: u16 = 1434;
/// Length of packets that is requested: large enough for loads, and small enough for the server to
/// take it from its buffer pool.
const PACKET_BYTES: u16 = 8000;
/// Largest length of packets under TLS.
const TLS_PACKET_BYTES_MAX: u16 = 16_383;

/// Parameters that a URL may have.
const PARAMS: [&str; 12] = [
    "encrypt",
    "trust-server-certificate",
    "ca",
    "host-in-certificate",
    "instance",
    "browser-port",
    "application-name",
    "application-intent",
    "multi-subnet-failover",
    "packet-size",
    "connect-timeout",
    "redirects",
];

/// Everything needed to connect, fully resolved.
#[derive(Clone, Debug)]
pub(super) struct UrlOptions {
    scheme: String,
    pub(super) host: String,
    /// `None` if SQL Server Browser knows it.
    pub(super) port: Option<u16>,
    /// Name of an instance; empty for the default one.
    pub(super) instance: String,
    pub(super) browser_port: u16,
    pub(super) user: String,
    pub(super) password: Option<Secret>,
    pub(super) database: String,
    pub(super) encrypt: Encrypt,
    /// Whether the target says nothing of encryption, and the host is this one.
    pub(super) is_plain_by_default: bool,
    /// Authorities; `None` accepts any certificate.
    pub(super) root_cert: Option<RootCert>,
    /// Name in the certificate, if it is not the host's.
    pub(super) certificate_host: Option<String>,
    pub(super) application_name: String,
    pub(super) reads_only: bool,
    /// Whether all addresses of the host are tried at the same time.
    pub(super) all_at_once: bool,
    /// Whether the server may send the client to another one.
    pub(super) follows_redirects: bool,
    pub(super) packet_bytes: u16,
    pub(super) connect_limit: Duration,
}

impl UrlOptions {
    /// Resolves a URL with settings and defaults.
    ///
    /// # Errors
    /// When a parameter is unknown or has an invalid value.
    pub(super) fn resolve(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        let source = UrlSource::new(url, &settings.reach)?;
        if settings.schema.is_some() {
            return Err(SpecError::new(
                "--schema cannot be used with a SQL Server target: a session uses its user's \
                 default schema, which ALTER USER … WITH DEFAULT_SCHEMA sets",
            ));
        }
        let Some(database) = url.database().map(str::to_owned) else {
            let message = "the target names no database: use sqlserver://USER@HOST/DATABASE";
            return Err(SpecError::new(message));
        };
        let Some(user) = url.user.clone() else {
            let message = "the target names no user: use sqlserver://USER@HOST/DATABASE; only SQL \
                           Server's own logins are supported, not Windows or Entra";
            return Err(SpecError::new(message));
        };
        let password = settings
            .password
            .clone()
            .or_else(|| url.password.clone())
            .or_else(|| env("MSSQL_PASSWORD").map(Secret::from));
        let (host, instance, port) = source.place()?;
        let encrypt = source.encrypt(&host)?;
        let is_plain_by_default = encrypt == Encrypt::Off && source.text("encrypt").is_none();
        Ok(Self {
            scheme: url.scheme.clone(),
            port,
            instance,
            browser_port: source.number("browser-port", BROWSER_PORT, 1..=u16::MAX)?,
            user,
            password,
            database,
            root_cert: source.root_cert(encrypt)?,
            certificate_host: source.text("host-in-certificate"),
            application_name: source
                .text("application-name")
                .unwrap_or_else(|| settings.application_name.clone()),
            reads_only: source.reads_only()?,
            all_at_once: source.switch("multi-subnet-failover", false)?,
            follows_redirects: source.switch("redirects", true)?,
            packet_bytes: source.packet_bytes(encrypt)?,
            connect_limit: source.connect_limit(settings.connect_limit)?,
            host,
            encrypt,
            is_plain_by_default,
        })
    }

    /// The server's address, for messages.
    pub(super) fn server(&self) -> String {
        let mut shown = host_text(&self.host, self.port);
        if !self.instance.is_empty() {
            shown.push_str(&format!(" (instance {})", self.instance));
        }
        shown
    }

    /// The target for people, without secrets.
    pub(super) fn label(&self) -> String {
        let instance = Some(&self.instance).filter(|instance| !instance.is_empty());
        let url = TargetUrl {
            scheme: self.scheme.clone(),
            has_authority: true,
            user: Some(self.user.clone()),
            password: None,
            hosts: vec![UrlHost { name: self.host.clone(), port: self.port }],
            path: format!("/{}", self.database),
            params: instance
                .map(|name| ("instance".to_owned(), name.clone()))
                .into_iter()
                .collect(),
        };
        url.redacted()
    }
}

/// A URL and its parameters by their proper names.
struct UrlSource<'a> {
    url: &'a TargetUrl,
    params: Vec<(&'static str, &'a str)>,
}

impl<'a> UrlSource<'a> {
    fn new(url: &'a TargetUrl, reach: &Reach) -> Result<Self, SpecError> {
        url.check_authority()?;
        let bare = |name: &str| name.to_lowercase().replace(['-', '_'], "");
        let mut params = Vec::new();
        for (written, value) in &url.params {
            let name = match bare(written).as_str() {
                "servercertificateauthority" | "sslca" => "ca".to_owned(),
                "hostnameincertificate" => bare("host-in-certificate"),
                "instancename" => "instance".to_owned(),
                "appname" | "app" => bare("application-name"),
                name => name.to_owned(),
            };
            let Some(name) = PARAMS.iter().find(|known| bare(known) == name) else {
                return Err(SpecError::new(format!(
                    "unknown parameter `{written}` of a SQL Server target: expected one of {}",
                    PARAMS.join(", ")
                )));
            };
            if *name == "ca" && value != "system" {
                reach.check_path("`ca`")?;
            }
            params.push((*name, value.as_str()));
        }
        Ok(Self { url, params })
    }

    fn param(&self, name: &str) -> Option<&'a str> {
        self.params.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.param(name).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Host, instance and port. `host\instance` is understood too.
    fn place(&self) -> Result<(String, String, Option<u16>), SpecError> {
        let (name, port) = match self.url.hosts.as_slice() {
            [] => (DEFAULT_HOST, None),
            [host] if host.name.is_empty() => (DEFAULT_HOST, host.port),
            [host] => (host.name.as_str(), host.port),
            _ => return Err(SpecError::new("a SQL Server target has only one host")),
        };
        let (name, beside) = name.split_once('\\').unwrap_or((name, ""));
        let instance = self.text("instance").unwrap_or_else(|| beside.to_owned());
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
        if !instance.chars().all(is_name) || instance.len() > 64 {
            return Err(SpecError::new("invalid `instance`: it must be a name such as DEV"));
        }
        let is_default = instance.is_empty() || instance.eq_ignore_ascii_case("MSSQLSERVER");
        let port = port.or(is_default.then_some(DEFAULT_PORT));
        Ok((name.to_owned(), instance, port))
    }

    fn encrypt(&self, host: &str) -> Result<Encrypt, SpecError> {
        match self.param("encrypt").map(str::to_lowercase).as_deref() {
            None | Some("") if is_loopback(host) => Ok(Encrypt::Off),
            None | Some("") => Ok(Encrypt::On),
            Some("off" | "no" | "false" | "optional" | "0") => Ok(Encrypt::Off),
            Some("on" | "yes" | "true" | "mandatory" | "1") => Ok(Encrypt::On),
            Some("strict") => Ok(Encrypt::Strict),
            Some(other) => Err(SpecError::new(format!(
                "invalid `encrypt` `{other}`: must be off, on or strict"
            ))),
        }
    }

    fn root_cert(&self, encrypt: Encrypt) -> Result<Option<RootCert>, SpecError> {
        let trusts = self.switch("trust-server-certificate", false)?;
        let given = self.text("ca").map(|word| match word.as_str() {
            "system" => RootCert::System,
            file => RootCert::File(file.into()),
        });
        match (encrypt, trusts, given) {
            (Encrypt::Strict, true, _) => Err(SpecError::new(
                "`trust-server-certificate` cannot be used with `encrypt=strict`, which always \
                 verifies the certificate: use `ca=FILE`",
            )),
            (_, true, Some(_)) => Err(SpecError::new(
                "`ca` has no effect with `trust-server-certificate`: remove one of them",
            )),
            (Encrypt::Off, _, Some(_)) => Err(SpecError::new(
                "`ca` has no effect with `encrypt=off`, which verifies no certificate: use \
                 `encrypt=on`",
            )),
            (Encrypt::Off, ..) | (_, true, None) => Ok(None),
            (_, false, given) => Ok(Some(given.unwrap_or(RootCert::System))),
        }
    }

    fn reads_only(&self) -> Result<bool, SpecError> {
        let bare = |text: &str| text.to_lowercase().replace('-', "");
        match self.param("application-intent").map(bare).as_deref() {
            None | Some("" | "readwrite") => Ok(false),
            Some("readonly") => Ok(true),
            Some(other) => Err(SpecError::new(format!(
                "invalid `application-intent` `{other}`: must be read-write or read-only"
            ))),
        }
    }

    fn packet_bytes(&self, encrypt: Encrypt) -> Result<u16, SpecError> {
        let largest = match encrypt {
            Encrypt::Off => u16::try_from(*PACKET_SIZES.end()).unwrap_or(u16::MAX),
            Encrypt::On | Encrypt::Strict => TLS_PACKET_BYTES_MAX,
        };
        self.number("packet-size", PACKET_BYTES, 512..=largest)
    }

    fn number(
        &self,
        name: &str,
        default: u16,
        range: std::ops::RangeInclusive<u16>,
    ) -> Result<u16, SpecError> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            SpecError::new(format!("invalid `{name}` `{text}`: must be from {least} to {most}"))
        })
    }

    fn connect_limit(&self, default: Duration) -> Result<Duration, SpecError> {
        match self.param("connect-timeout") {
            None | Some("" | "0") => Ok(default),
            Some(text) => text.parse().map(Duration::from_secs).map_err(|_| {
                SpecError::new(format!(
                    "invalid `connect-timeout` `{text}`: must be in whole seconds"
                ))
            }),
        }
    }

    fn switch(&self, name: &str, default: bool) -> Result<bool, SpecError> {
        match self.param(name).map(str::to_lowercase).as_deref() {
            None => Ok(default),
            Some("0" | "false" | "off" | "no") => Ok(false),
            Some("" | "1" | "true" | "on" | "yes") => Ok(true),
            Some(text) => {
                Err(SpecError::new(format!("invalid `{name}` `{text}`: must be on or off")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(url: &str) -> Result<UrlOptions, SpecError> {
        let env = |name: &str| (name == "MSSQL_PASSWORD").then(|| "from outside".to_owned());
        UrlOptions::resolve(&TargetUrl::parse(url)?, &ConnectSettings::default(), &env)
    }

    #[test]
    fn places_are_ports_or_instances() {
        for (url, host, port, instance) in [
            ("sqlserver://u@h/d", "h", Some(1433), ""),
            ("mssql://u@h:7/d", "h", Some(7), ""),
            ("sqlserver://u@/d", "localhost", Some(1433), ""),
            ("sqlserver://u@h/d?instance=DEV", "h", None, "DEV"),
            ("sqlserver://u@h%5CDEV/d", "h", None, "DEV"),
            ("sqlserver://u@h:9/d?instanceName=DEV", "h", Some(9), "DEV"),
            ("sqlserver://u@h/d?instance=MSSQLSERVER", "h", Some(1433), "MSSQLSERVER"),
        ] {
            let options = resolve(url).unwrap();
            let found = (options.host.as_str(), options.port, options.instance.as_str());
            assert_eq!(found, (host, port, instance), "{url}");
        }
        let shown = resolve("sqlserver://u:geheim@h/d?instance=DEV").unwrap().label();
        assert_eq!(shown, "sqlserver://u@h/d?instance=DEV");
    }

    #[test]
    fn encryption_is_required_and_verified_away_from_this_host() {
        for (url, encrypt, verifies) in [
            ("sqlserver://u@localhost/d", Encrypt::Off, false),
            ("sqlserver://u@127.0.0.1/d?encrypt=on", Encrypt::On, true),
            ("sqlserver://u@db1/d", Encrypt::On, true),
            ("sqlserver://u@db1/d?Encrypt=Optional", Encrypt::Off, false),
            ("sqlserver://u@db1/d?trustServerCertificate=true", Encrypt::On, false),
            ("sqlserver://u@db1/d?encrypt=strict&ca=ca.pem", Encrypt::Strict, true),
        ] {
            let options = resolve(url).unwrap();
            let found = (options.encrypt, options.root_cert.is_some());
            assert_eq!(found, (encrypt, verifies), "{url}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (url, words) in [
            ("sqlserver://u@h", "names no database"),
            ("sqlserver://h/d", "names no user"),
            ("sqlserver://u@h,i/d", "only one host"),
            ("sqlserver://u@h/d?encrypt=maybe", "must be off, on or strict"),
            ("sqlserver://u@h/d?speed=1", "unknown parameter `speed`"),
            ("sqlserver://u@h/d?encrypt=strict&trust-server-certificate=on", "`ca=FILE`"),
            ("sqlserver://u@h/d?encrypt=off&ca=x.pem", "has no effect"),
            ("sqlserver://u@h/d?packet-size=100", "from 512 to 16383"),
            ("sqlserver://u@h/d?instance=a/b", "a name such as DEV"),
            ("sqlserver:u/d", "two slashes"),
        ] {
            let error = resolve(url).unwrap_err().to_string();
            assert!(error.contains(words), "{url}: {error}");
        }
        let schema = ConnectSettings { schema: Some("s".into()), ..Default::default() };
        let url = TargetUrl::parse("sqlserver://u@h/d").unwrap();
        let error = UrlOptions::resolve(&url, &schema, &|_| None).unwrap_err().to_string();
        assert!(error.contains("DEFAULT_SCHEMA"), "{error}");
    }

    #[test]
    fn passwords_come_from_the_url_or_the_environment() {
        let password = |url| resolve(url).unwrap().password.unwrap().reveal().to_owned();
        assert_eq!(password("sqlserver://u:p%40ss@h/d"), "p@ss");
        assert_eq!(password("sqlserver://u@h/d"), "from outside");
    }
}
