//! Resolves a `trino://` URL: parameters with the names of Trino's JDBC driver. TLS is the default
//! for every host other than this one, as for all databases here; a password is never sent without
//! it, except within this host.

use std::path::PathBuf;
use std::time::Duration;

use triphammer_core::SpecError;

use crate::socket::is_loopback;
use crate::target::{ConnectSettings, Secret, TargetUrl, UrlHost, host_text};
use crate::tls::RootCert;

const DEFAULT_HOST: &str = "localhost";
/// Ports of Trino's own clients, without and with TLS.
const DEFAULT_PORT: u16 = 8080;
const DEFAULT_TLS_PORT: u16 = 443;

const FORM: &str = "trino://USER@HOST:PORT/CATALOG/SCHEMA";

/// Parameters that a URL may have, as Trino's JDBC driver spells them; case does not matter.
const PARAMS: [&str; 5] =
    ["SSL", "SSLVerification", "SSLTrustStorePath", "sessionProperties", "source"];

/// How much of a server's certificate is verified; the names are those of the JDBC driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Its authority and that it was issued for the host.
    Full,
    /// Its authority.
    Ca,
    /// Nothing.
    None,
}

/// Everything needed to connect, fully resolved.
#[derive(Clone, Debug)]
pub struct UrlOptions {
    /// Host name or address.
    pub host: String,
    /// Port of the coordinator.
    pub port: u16,
    /// Name of the user.
    pub user: String,
    /// Password of the user, if known.
    pub password: Option<Secret>,
    /// Name of the catalog.
    pub catalog: String,
    /// Name of the schema.
    pub schema: String,
    /// Verification of the server's certificate; `None` without TLS.
    pub tls: Option<Verification>,
    /// Authorities for the certificate.
    pub root_cert: RootCert,
    /// Name of the program in the server's list of queries.
    pub source: String,
    /// Session properties with their values.
    pub properties: Vec<(String, String)>,
    /// Time limit for an attempt to connect.
    pub connect_limit: Duration,
}

impl UrlOptions {
    /// Resolves a URL with settings and defaults.
    ///
    /// # Errors
    /// When a parameter is unknown or has an invalid value, or the URL names no catalog or schema.
    pub fn resolve(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        url.check_authority()?;
        let params = Params::read(url)?;
        let (name, port) = host(url)?;
        let (catalog, schema) = place(url, settings.schema.as_deref())?;
        let tls = params.tls(&name, port)?;
        let password = settings.password.clone().or_else(|| url.password.clone());
        if password.is_some() && tls.is_none() && !is_loopback(&name) {
            return Err(SpecError::new(
                "a password is sent to another host only over TLS: leave out SSL=false, or the \
                 password",
            ));
        }
        let user = match url.user.clone() {
            Some(user) => user,
            None => whoami::username()
                .map_err(|_| SpecError::new(format!("the target names no user: use {FORM}")))?,
        };
        let default_port = if tls.is_some() { DEFAULT_TLS_PORT } else { DEFAULT_PORT };
        let source = params.get("source").unwrap_or(&settings.application_name).to_owned();
        let root_cert = params.root_cert(settings, tls)?;
        let texts = [&user, &catalog, &schema, &source];
        if texts.iter().any(|text| text.chars().any(char::is_control)) {
            let message = "user, catalog, schema and source must not have control characters";
            return Err(SpecError::new(message));
        }
        Ok(Self {
            host: name,
            port: port.unwrap_or(default_port),
            user,
            password,
            catalog,
            schema,
            tls,
            root_cert,
            source,
            properties: params.properties()?,
            connect_limit: settings.connect_limit,
        })
    }

    /// Host and port, as in a URL.
    pub fn server(&self) -> String {
        host_text(&self.host, Some(self.port))
    }

    /// The target for people, without secrets.
    pub fn label(&self) -> String {
        let url = TargetUrl {
            scheme: "trino".to_owned(),
            has_authority: true,
            user: Some(self.user.clone()),
            password: None,
            hosts: vec![UrlHost { name: self.host.clone(), port: Some(self.port) }],
            path: format!("/{}/{}", self.catalog, self.schema),
            params: Vec::new(),
        };
        url.redacted()
    }
}

fn host(url: &TargetUrl) -> Result<(String, Option<u16>), SpecError> {
    match url.hosts.as_slice() {
        [] => Ok((DEFAULT_HOST.to_owned(), None)),
        [host] if host.name.is_empty() => Ok((DEFAULT_HOST.to_owned(), host.port)),
        [host] => Ok((host.name.clone(), host.port)),
        _ => Err(SpecError::new("a Trino target has only one host, the coordinator")),
    }
}

/// Catalog and schema: `/catalog/schema`, or `/catalog` with a schema from the settings.
fn place(url: &TargetUrl, given: Option<&str>) -> Result<(String, String), SpecError> {
    let path = url.database().unwrap_or_default();
    let (catalog, schema) = path.split_once('/').unwrap_or((path, ""));
    let schema = given.unwrap_or(schema);
    if catalog.is_empty() || schema.is_empty() || schema.contains('/') {
        let message = format!("a Trino target names a catalog and a schema: use {FORM}");
        return Err(SpecError::new(message));
    }
    Ok((catalog.to_owned(), schema.to_owned()))
}

/// The parameters of a URL by their known names.
struct Params<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Params<'a> {
    fn read(url: &'a TargetUrl) -> Result<Self, SpecError> {
        let known = |written: &str| {
            let alias = if written.eq_ignore_ascii_case("tls") { "SSL" } else { written };
            PARAMS.into_iter().find(|name| name.eq_ignore_ascii_case(alias))
        };
        let read = |(written, value): &'a (String, String)| match known(written) {
            Some(name) => Ok((name, value.as_str())),
            None => Err(SpecError::new(format!(
                "unknown parameter `{written}` of a Trino target: expected one of {}",
                PARAMS.join(", ")
            ))),
        };
        Ok(Self(url.params.iter().map(read).collect::<Result<_, _>>()?))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn tls(&self, host: &str, port: Option<u16>) -> Result<Option<Verification>, SpecError> {
        let is_on = match self.get("SSL").map(str::to_ascii_lowercase).as_deref() {
            None => !is_loopback(host) || port == Some(DEFAULT_TLS_PORT),
            Some("true") => true,
            Some("false") => false,
            Some(other) => {
                let message = format!("invalid `SSL` `{other}`: expected true or false");
                return Err(SpecError::new(message));
            }
        };
        let verification = match self.get("SSLVerification").map(str::to_ascii_uppercase).as_deref()
        {
            None | Some("FULL") => Verification::Full,
            Some("CA") => Verification::Ca,
            Some("NONE") => Verification::None,
            Some(other) => {
                let message =
                    format!("invalid `SSLVerification` `{other}`: expected FULL, CA or NONE");
                return Err(SpecError::new(message));
            }
        };
        let verifies = ["SSLVerification", "SSLTrustStorePath"].into_iter();
        if let Some(name) = verifies.into_iter().find(|name| !is_on && self.get(name).is_some()) {
            let message = format!("`{name}` has no effect without TLS: add SSL=true");
            return Err(SpecError::new(message));
        }
        Ok(is_on.then_some(verification))
    }

    fn root_cert(
        &self,
        settings: &ConnectSettings,
        tls: Option<Verification>,
    ) -> Result<RootCert, SpecError> {
        let Some(file) = self.get("SSLTrustStorePath") else { return Ok(RootCert::System) };
        settings.reach.check_path("`SSLTrustStorePath`")?;
        if tls == Some(Verification::None) {
            return Err(SpecError::new(
                "`SSLTrustStorePath` has no effect with `SSLVerification=NONE`: leave out one",
            ));
        }
        Ok(RootCert::File(PathBuf::from(file)))
    }

    /// Session properties: `name:value;name:value`.
    fn properties(&self) -> Result<Vec<(String, String)>, SpecError> {
        let Some(text) = self.get("sessionProperties") else { return Ok(Vec::new()) };
        let pair = |pair: &str| {
            let is_name = |name: &str| {
                let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
                !name.is_empty() && name.chars().all(is_word)
            };
            match pair.split_once(':') {
                Some((name, value)) if is_name(name) => Ok((name.to_owned(), value.to_owned())),
                _ => Err(SpecError::new(
                    "`sessionProperties` must have the form name:value;name:value",
                )),
            }
        };
        text.split(';').filter(|text| !text.is_empty()).map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<UrlOptions, String> {
        let url = TargetUrl::parse(text).unwrap();
        UrlOptions::resolve(&url, &ConnectSettings::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_url_names_coordinator_catalog_and_schema() {
        let options = resolve("trino://ann@127.0.0.1:8088/tpch/sf0.1").unwrap();
        assert_eq!(options.server(), "127.0.0.1:8088");
        let place = (options.catalog.as_str(), options.schema.as_str(), options.user.as_str());
        assert_eq!(place, ("tpch", "sf0.1", "ann"));
        assert_eq!((options.tls, options.source.as_str()), (None, "triphammer"));
        assert_eq!(options.label(), "trino://ann@127.0.0.1:8088/tpch/sf0.1");
        let url = TargetUrl::parse("trino://ann@[::1]/hive").unwrap();
        let settings = ConnectSettings { schema: Some("s".into()), ..Default::default() };
        let options = UrlOptions::resolve(&url, &settings).unwrap();
        assert_eq!((options.server(), options.schema), ("[::1]:8080".to_owned(), "s".to_owned()));
    }

    #[test]
    fn other_hosts_need_tls_unless_it_is_turned_off() {
        for (url, tls, port) in [
            ("trino://a@db1/c/s", Some(Verification::Full), 443),
            ("trino://a@db1:8443/c/s?SSLVerification=ca", Some(Verification::Ca), 8443),
            ("trino://a@db1/c/s?ssl=FALSE", None, 8080),
            ("trino://a@localhost/c/s", None, 8080),
            (
                "trino://a@localhost/c/s?tls=true&SSLVerification=NONE",
                Some(Verification::None),
                443,
            ),
            ("trino://a@localhost:443/c/s", Some(Verification::Full), 443),
        ] {
            let options = resolve(url).unwrap();
            assert_eq!((options.tls, options.port), (tls, port), "{url}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_and_no_password_is_shown() {
        for (url, message) in [
            ("trino://a@h/c", "names a catalog and a schema"),
            ("trino://a@h/c/s/t", "names a catalog and a schema"),
            ("trino://a@h1,h2/c/s", "only one host"),
            ("trino://a@h/c/s?sslmode=require", "unknown parameter `sslmode`"),
            ("trino://a@h/c/s?SSL=yes", "expected true or false"),
            ("trino://a@h/c/s?SSLVerification=some", "expected FULL, CA or NONE"),
            ("trino://a@h/c/s?SSL=false&SSLVerification=CA", "no effect without TLS"),
            ("trino://a@h/c/s?SSLVerification=NONE&SSLTrustStorePath=f", "no effect"),
            ("trino://a:hunter2@h/c/s?SSL=false", "only over TLS"),
            ("trino://a%0d@h/c/s", "control characters"),
            ("trino://a@h/c/s?sessionProperties=x", "name:value"),
        ] {
            let error = resolve(url).unwrap_err();
            assert!(error.contains(message) && !error.contains("hunter2"), "{url}: {error}");
        }
        let options = resolve("trino://a:hunter2@localhost/c/s").unwrap();
        assert!(!format!("{options:?} {}", options.label()).contains("hunter2"));
    }

    #[test]
    fn session_properties_are_pairs() {
        let url = "trino://a@h/c/s?sessionProperties=task_concurrency:4;hive.x:a%20b:c";
        let expected = [("task_concurrency", "4"), ("hive.x", "a b:c")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(resolve(url).unwrap().properties, expected);
    }
}
