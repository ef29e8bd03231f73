//! The variables and files that libpq reads, and what happens to each here: it has its effect, or a
//! warning says that it has none, or it is an error, where without it another server or a weaker
//! connection would be used (manual of PostgreSQL 18, "Environment Variables").

use std::path::Path;

use triphammer_core::SpecError;

use crate::target::Lookup;

/// What happens to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It means what it means to libpq.
    Honoured,
    /// It has no effect, and a warning says so.
    Ignored,
    /// It is an error, because ignoring it would be less secure or use another server.
    Refused,
    /// As `Refused` where nothing else names a host, else as `Ignored`.
    RefusedWithoutHost,
}

/// A variable of libpq.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What happens to it.
    pub effect: Effect,
    /// Values with which nothing differs from what is done anyway, in lower case.
    harmless: &'static [&'static str],
    /// What to do instead.
    instead: &'static str,
}

const fn honoured(name: &'static str) -> Variable {
    Variable { name, effect: Effect::Honoured, harmless: &[], instead: "" }
}

const fn ignored(
    name: &'static str,
    harmless: &'static [&'static str],
    instead: &'static str,
) -> Variable {
    Variable { name, effect: Effect::Ignored, harmless, instead }
}

const fn refused(
    name: &'static str,
    harmless: &'static [&'static str],
    instead: &'static str,
) -> Variable {
    Variable { name, effect: Effect::Refused, harmless, instead }
}

/// Every variable of libpq.
pub const VARIABLES: &[Variable] = &[
    honoured("PGHOST"),
    honoured("PGPORT"),
    honoured("PGDATABASE"),
    honoured("PGUSER"),
    honoured("PGPASSWORD"),
    honoured("PGPASSFILE"),
    honoured("PGOPTIONS"),
    honoured("PGAPPNAME"),
    honoured("PGCONNECT_TIMEOUT"),
    honoured("PGTARGETSESSIONATTRS"),
    honoured("PGCHANNELBINDING"),
    honoured("PGSSLMODE"),
    honoured("PGSSLROOTCERT"),
    honoured("PGSSLCERT"),
    honoured("PGSSLKEY"),
    refused("PGHOSTADDR", &[], "write the address in place of the host"),
    Variable {
        name: "PGSERVICE",
        effect: Effect::RefusedWithoutHost,
        harmless: &[],
        instead: "write what the service contains in the URL; service files are not read",
    },
    ignored("PGSERVICEFILE", &[], "write what the service contains in the URL"),
    refused("PGREQUIREAUTH", &[], "the server chooses the method of authentication"),
    refused("PGREQUIREPEER", &[], "the owner of a Unix socket is not checked"),
    refused("PGREQUIRESSL", &["0"], "use sslmode=require"),
    refused("PGSSLCERTMODE", &["allow", "disable"], "sslcert and sslkey are sent if asked for"),
    refused("PGSSLCRL", &[], "revocation lists are not read"),
    refused("PGSSLCRLDIR", &[], "revocation lists are not read"),
    refused(
        "PGSSLMINPROTOCOLVERSION",
        &["tlsv1", "tlsv1.1", "tlsv1.2"],
        "at least TLS 1.2 is used",
    ),
    ignored("PGSSLMAXPROTOCOLVERSION", &["tlsv1.3"], "the best version of both ends is used"),
    ignored("PGSSLNEGOTIATION", &["postgres"], "TLS is asked for in PostgreSQL's protocol"),
    ignored("PGSSLSNI", &["1"], "the name of the host is sent in the TLS handshake"),
    ignored("PGSSLCOMPRESSION", &["0"], "TLS compression is never used"),
    refused("PGGSSENCMODE", &["disable", "prefer"], "GSSAPI is not supported; use TLS"),
    ignored("PGKRBSRVNAME", &["postgres"], "GSSAPI is not supported"),
    ignored("PGGSSLIB", &[], "GSSAPI is not supported"),
    ignored("PGGSSDELEGATION", &["0"], "GSSAPI is not supported"),
    ignored("PGOAUTHDEBUG", &[], "OAuth is not supported"),
    ignored("PGCLIENTENCODING", &["utf8", "utf-8", "unicode", "auto"], "UTF8 is used"),
    ignored("PGLOADBALANCEHOSTS", &["disable"], "hosts are tried in order"),
    ignored("PGMINPROTOCOLVERSION", &["3.0"], "protocol 3.0 is used"),
    ignored("PGMAXPROTOCOLVERSION", &["3.0", "latest", "3.2"], "protocol 3.0 is used"),
    ignored("PGDATESTYLE", &[], "set it for the user: ALTER ROLE … SET datestyle"),
    ignored("PGTZ", &[], "set it for the user: ALTER ROLE … SET timezone"),
    ignored("PGGEQO", &[], "set it for the user: ALTER ROLE … SET geqo"),
    ignored("PGSYSCONFDIR", &[], "service files are not read"),
    ignored("PGLOCALEDIR", &[], "messages are in English"),
];

/// A file with revocation lists that libpq reads where it exists.
const ROOT_CRL: &str = ".postgresql/root.crl";

/// Looks at the variables that have no effect; `names_host` if the URL or `PGHOST` names one. Returns
/// the warnings.
///
/// # Errors
/// When one asks for something that must not be ignored.
pub fn check(env: Lookup<'_>, names_host: bool) -> Result<Vec<String>, SpecError> {
    let mut warnings = Vec::new();
    for variable in VARIABLES.iter().filter(|variable| variable.effect != Effect::Honoured) {
        let Some(value) = env(variable.name).filter(|value| !value.is_empty()) else { continue };
        if variable.harmless.contains(&value.to_ascii_lowercase().as_str()) {
            continue;
        }
        let Variable { name, effect, instead, .. } = variable;
        let is_refused = match effect {
            Effect::Refused => true,
            Effect::RefusedWithoutHost => !names_host,
            Effect::Ignored | Effect::Honoured => false,
        };
        if is_refused {
            return Err(SpecError::new(format!(
                "the variable {name} is set, and not supported: {instead}, or unset it"
            )));
        }
        warnings.push(format!("the variable {name} is ignored: {instead}"));
    }
    if let Some(home) = env("HOME").filter(|home| !home.is_empty()) {
        let crl = Path::new(&home).join(ROOT_CRL);
        if crl.is_file() {
            let crl = crl.display();
            warnings.push(format!("{crl} is ignored: revocation lists are not read"));
        }
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(vars: &[(&str, &str)], names_host: bool) -> Result<Vec<String>, SpecError> {
        let value = |name: &str| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        check(&value, names_host)
    }

    #[test]
    fn what_is_not_honoured_is_named_or_refused() {
        for (variable, value, expected) in [
            ("PGTZ", "UTC", Ok("the variable PGTZ is ignored")),
            ("PGSSLSNI", "1", Ok("")),
            ("PGSSLSNI", "0", Ok("the variable PGSSLSNI is ignored")),
            ("PGCLIENTENCODING", "UTF8", Ok("")),
            ("PGSERVICE", "s", Ok("the variable PGSERVICE is ignored")),
            ("PGSSLMINPROTOCOLVERSION", "TLSv1.2", Ok("")),
            ("PGSSLMINPROTOCOLVERSION", "TLSv1.3", Err("PGSSLMINPROTOCOLVERSION is set")),
            ("PGHOSTADDR", "10.0.0.1", Err("write the address in place of the host, or unset it")),
            ("PGREQUIREAUTH", "scram-sha-256", Err("PGREQUIREAUTH is set, and not supported")),
            ("PGGSSENCMODE", "require", Err("GSSAPI is not supported; use TLS")),
            ("PGUSER", "u", Ok("")),
        ] {
            match (checked(&[(variable, value)], true), expected) {
                (Ok(warnings), Ok(text)) => {
                    assert!(warnings.concat().contains(text), "{variable}: {warnings:?}");
                    assert_eq!(warnings.is_empty(), text.is_empty(), "{variable}: {warnings:?}");
                }
                (Err(error), Err(text)) => {
                    assert!(error.to_string().contains(text), "{variable}: {error}");
                }
                (found, _) => panic!("{variable}={value}: {found:?}"),
            }
        }
        assert!(checked(&[("PGSERVICE", "s")], false).is_err(), "nothing names a server");
    }

    #[test]
    fn a_revocation_list_that_exists_is_named() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".postgresql")).unwrap();
        std::fs::write(home.path().join(ROOT_CRL), "").unwrap();
        let warnings = checked(&[("HOME", home.path().to_str().unwrap())], true).unwrap();
        assert!(warnings[0].ends_with("root.crl is ignored: revocation lists are not read"));
    }

    #[test]
    fn the_guide_has_every_variable() {
        let guide = include_str!("../../../../docs/postgresql.md");
        for Variable { name, .. } in VARIABLES {
            assert!(guide.contains(&format!("`{name}`")), "docs/postgresql.md lacks {name}");
        }
    }
}
