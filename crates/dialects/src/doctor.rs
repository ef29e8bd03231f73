//! The checks of a database's set-up, from `doctor.toml` of the dialects' folders. A check is
//! declared once: its SQL, why it matters, and how to change it. The SQL returns the value and the
//! verdict, so that a new database needs a file and no Rust.
//!
//! A dialect has its parent's checks; one of the same name replaces them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde::Deserialize;
use triphammer_core::{DbError, SpecError};

use crate::catalogues;

/// What a dialect declares about the set-up of its servers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DoctorDef {
    /// Query of one text: the folder or file of the data, to find its disk; `None` if unknown.
    pub data_path: Option<String>,
    /// Statement that grants the privilege for it; `None` if it needs none.
    pub data_path_grant: Option<String>,
    /// Query that returns `{rows}` rows of 64 KiB; `None` if the database runs in this process.
    pub download: Option<String>,
    /// Query with one text parameter, whose answer is short; likewise.
    pub upload: Option<String>,
    /// Observed metric of a run: bytes per second written to the WAL or redo log; `None` if the
    /// database does not show it.
    pub write_rate: Option<String>,
    /// Query of three texts, quoted as in SQL: the user, the database, and the schema of new tables.
    /// They stand for `{user}`, `{database}` and `{schema}` in grants.
    pub names: Option<String>,
    /// Codes of errors that a missing privilege causes.
    pub privilege_errors: Vec<String>,
    /// Measures the speed of one thread of the database; `None` if it cannot be measured.
    pub cpu_test: Option<CpuTestDef>,
    /// Measures the latency of commits; `None` if the database does not store data.
    pub write_test: Option<WriteTestDef>,
    /// The checks, in the order of the report.
    #[serde(rename = "check")]
    pub checks: Vec<DatabaseCheck>,
}

/// Who asks, and where it would create tables, quoted as in SQL; `None` where that is unknown.
#[derive(Clone, Debug, Default)]
pub struct GrantNames {
    /// The user who has the session's rights.
    pub user: Option<String>,
    /// The database of the session.
    pub database: Option<String>,
    /// The schema in which new tables are created.
    pub schema: Option<String>,
}

impl GrantNames {
    /// A statement that grants a privilege, with the names. A user that is unknown is left to the
    /// caller, who may know it from the target.
    #[must_use]
    pub fn fill(&self, grant: &str) -> String {
        let or = |name: &Option<String>, unknown: &str| {
            name.clone().unwrap_or_else(|| unknown.to_owned())
        };
        grant
            .replace("{database}", &or(&self.database, "DATABASE"))
            .replace("{schema}", &or(&self.schema, "SCHEMA"))
            .replace("{user}", &or(&self.user, "{user}"))
    }
}

/// How one thread of a database calculates n = 0; for f = 1 … 10,000,000: n = mod(n, 999999) +
/// sqrt(f), in double precision. `{name}` is a name that nothing else in the database has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTestDef {
    /// Creates the routine; `None` where there are no routines, and the query calculates it.
    pub create: Option<String>,
    /// Query, or call, of one row: n as text, rounded to two decimals.
    pub query: String,
    /// Drops the routine; `None` if it goes with the session, or there is none.
    pub drop: Option<String>,
    /// Statement that grants the privilege for it; `None` if it needs none.
    pub grant: Option<String>,
}

/// How the latency of commits is measured, in a table of its own. `{name}` is a name that nothing
/// else in the schema has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteTestDef {
    /// Creates the table.
    pub create: String,
    /// Fills it with one row.
    pub fill: String,
    /// Changes the row. It is a transaction of its own.
    pub write: String,
    /// Drops the table.
    pub drop: String,
    /// Statement that grants the privilege for it; `None` if it needs none.
    pub grant: Option<String>,
}

/// One check of a database.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseCheck {
    /// Name, that of the server's setting if it is about one.
    pub name: String,
    /// Query of one row, or none if the check does not apply: the value as text, and `fine`,
    /// `look`, `wrong`, or `hidden` if a privilege is missing. `{memory}` is the host's memory in
    /// bytes, or NULL if the server is on another host. `{write_rate}` is the mean of
    /// [`DoctorDef::write_rate`] in the newest stored run at the target, or NULL without one.
    pub sql: String,
    /// Whether the value varies from moment to moment, so that a run neither warns of it nor keeps it.
    #[serde(default)]
    pub momentary: bool,
    /// Whether it matters only to transactions that write.
    #[serde(default)]
    pub of_writes: bool,
    /// The server's setting that it reads, if commits and pages survive a crash only with a right value.
    #[serde(default)]
    pub durability: Option<String>,
    /// Why it matters.
    pub why: String,
    /// Command or setting that changes it. `{quarter}` and `{half}` are these parts of the host's memory
    /// in MiB, or N where that is unknown.
    pub change: String,
    /// Statement that grants the privilege that the check needs; `None` if it needs none.
    #[serde(default)]
    pub grant: Option<String>,
    /// First version of the server that has it, such as `17` or `8.0.30`; `None` for any.
    #[serde(default)]
    pub from: Option<String>,
    /// First version of the server that no longer has it; `None` for any.
    #[serde(default)]
    pub before: Option<String>,
}

impl DatabaseCheck {
    /// The command or setting that changes it, on a host with this much memory in bytes.
    #[must_use]
    pub fn change_for(&self, memory: Option<u64>) -> String {
        let part = |of: u64| {
            // Of a whole number of GiB as far as there are some: nobody sets 6,017 MiB.
            let mib = memory.map(|bytes| bytes / of / (1 << 20));
            let round = |mib: u64| if mib >= 1024 { mib / 1024 * 1024 } else { mib };
            mib.map_or_else(|| "N".to_owned(), |mib| round(mib).to_string())
        };
        self.change.replace("{quarter}", &part(4)).replace("{half}", &part(2))
    }

    /// Whether the check is for a server of this version, such as `15.18 (Debian 15.18-0)`.
    #[must_use]
    pub fn is_for(&self, version: &str) -> bool {
        is_between(version, self.from.as_deref(), self.before.as_deref())
    }
}

/// Whether a version of a server is at least `from` and less than `before`.
pub(crate) fn is_between(version: &str, from: Option<&str>, before: Option<&str>) -> bool {
    let version = numbers(version);
    from.is_none_or(|from| version >= numbers(from))
        && before.is_none_or(|before| version < numbers(before))
}

/// The numbers at the beginning of a version.
fn numbers(version: &str) -> Vec<u64> {
    let version = version.trim().trim_start_matches('v');
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(version.len());
    version[..end].split('.').map_while(|part| part.parse().ok()).collect()
}

/// The declarations of a dialect, including inherited ones.
///
/// # Errors
/// When there is no such dialect, or a file is malformed.
pub fn doctor(dialect: &str) -> Result<DoctorDef, SpecError> {
    let mut all = DoctorDef::default();
    for dialect in catalogues::chain(dialect)? {
        let path = format!("{}/doctor.toml", dialect.name);
        let Some(text) = catalogues::text(&path) else { continue };
        let own: DoctorDef = toml::from_str(&text)
            .map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
        all.extend(own);
    }
    Ok(all)
}

/// The checks of durability of all dialects, with the settings that they read.
pub fn of_durability() -> &'static [(String, String)] {
    static ALL: OnceLock<Vec<(String, String)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let dialects = catalogues::dialects();
        let defined = dialects.iter().filter_map(|name| doctor(name).ok());
        let checks = defined.flat_map(|def| def.checks);
        let found = checks.filter_map(|check| Some((check.name, check.durability?)));
        found.collect::<BTreeSet<_>>().into_iter().collect()
    })
}

impl DoctorDef {
    /// Puts names into all statements that grant privileges.
    pub fn name_grants(&mut self, names: &GrantNames) {
        let tests = self.cpu_test.iter_mut().map(|test| &mut test.grant);
        let tests = tests.chain(self.write_test.iter_mut().map(|test| &mut test.grant));
        let checks = self.checks.iter_mut().map(|check| &mut check.grant);
        for grant in tests.chain(checks).chain([&mut self.data_path_grant]).flatten() {
            *grant = names.fill(grant);
        }
    }

    /// Whether an error says that the user lacks a privilege.
    #[must_use]
    pub fn lacks_privilege(&self, error: &DbError) -> bool {
        error.code().is_some_and(|code| self.privilege_errors.iter().any(|known| known == code))
    }

    /// Lays a child's declarations over its parent's.
    fn extend(&mut self, child: Self) {
        self.data_path = child.data_path.or(self.data_path.take());
        self.data_path_grant = child.data_path_grant.or(self.data_path_grant.take());
        self.download = child.download.or(self.download.take());
        self.upload = child.upload.or(self.upload.take());
        self.write_rate = child.write_rate.or(self.write_rate.take());
        self.names = child.names.or(self.names.take());
        self.privilege_errors.extend(child.privilege_errors);
        self.cpu_test = child.cpu_test.or(self.cpu_test.take());
        self.write_test = child.write_test.or(self.write_test.take());
        self.checks.retain(|check| child.checks.iter().all(|own| own.name != check.name));
        self.checks.extend(child.checks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: Option<&str>, before: Option<&str>) -> DatabaseCheck {
        let text = |text: &str| text.to_owned();
        DatabaseCheck {
            name: text("a"),
            sql: text("SELECT 1"),
            momentary: false,
            of_writes: false,
            durability: None,
            why: text("b"),
            change: text("c"),
            grant: None,
            from: from.map(text),
            before: before.map(text),
        }
    }

    #[test]
    fn a_check_is_for_versions_from_its_first_to_its_last() {
        let both = check(Some("8.0.30"), Some("17"));
        for (version, is_for) in [
            ("8.0.30", true),
            ("8.0.29-log", false),
            ("8.0.4", false),
            ("10.11.19-MariaDB-0+deb12u1", true),
            ("16.9 (Debian)", true),
            ("17", false),
            ("17beta1", false),
            ("v1.5.5", false),
        ] {
            assert_eq!(both.is_for(version), is_for, "{version}");
        }
        assert!(check(None, None).is_for("nonsense"));
    }

    #[test]
    fn a_change_names_a_part_of_the_hosts_memory() {
        let mut sized = check(None, None);
        sized.change = "SET a = {quarter}MB, b = {half}MB".to_owned();
        for (memory, change) in [
            (Some(23_500 << 20), "SET a = 5120MB, b = 11264MB"),
            (Some(2 << 30), "SET a = 512MB, b = 1024MB"),
            (None, "SET a = NMB, b = NMB"),
        ] {
            assert_eq!(sized.change_for(memory), change);
        }
    }

    #[test]
    fn every_dialects_checks_are_complete_and_one_applies_per_name_and_version() {
        for dialect in catalogues::dialects() {
            let doctor = doctor(&dialect).unwrap();
            for check in &doctor.checks {
                let DatabaseCheck { name, why, change, .. } = check;
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
                assert!(name.len() <= 30, "{dialect}: {name} is too wide for the table");
                assert!(why.ends_with('.') && !change.is_empty(), "{dialect}: {name}");
            }
            for version in ["3.45", "5.7.44", "8.0.29", "8.0.36", "10.11.6", "14.2", "16.1", "18"] {
                let mut names: Vec<_> =
                    doctor.checks.iter().filter(|c| c.is_for(version)).map(|c| &c.name).collect();
                let all = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), all, "{dialect} {version}: a name twice");
            }
        }
        let names = |dialect| -> Vec<String> {
            doctor(dialect).unwrap().checks.into_iter().map(|check| check.name).collect()
        };
        assert!(names("mariadb").contains(&"innodb_doublewrite".to_owned()), "inherited");
        assert!(names("null").is_empty());
    }

    #[test]
    fn checks_of_durability_name_the_settings_that_they_read() {
        let all = of_durability();
        for (check, setting) in
            [("fsync", "fsync"), ("flush_log_at_trx_commit", "innodb_flush_log_at_trx_commit")]
        {
            assert!(all.contains(&(check.to_owned(), setting.to_owned())), "{all:?}");
        }
    }
}
