//! Reads the client groups of `~/.my.cnf`: where, and as which user, clients connect. The syntax is that of MySQL's
//! manual, "Using Option Files". What of it, and of the variables of MySQL's clients, is used and what is not, is
//! declared in [`OPTIONS`] and [`VARIABLES`]: nothing that changes a connection is ignored silently.

use std::path::{Path, PathBuf};

use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};

use crate::target::Lookup;

/// What becomes of an option or variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It has its effect, unless the target says otherwise.
    Honoured,
    /// It has no effect, and a warning says so.
    Warned,
    /// It has no effect on a connection.
    Idle,
}

/// The options of client groups. All others are warned about, too.
const OPTIONS: &[(&str, Use)] = &[
    ("user", Use::Honoured),
    ("password", Use::Honoured),
    ("host", Use::Honoured),
    ("port", Use::Honoured),
    ("socket", Use::Honoured),
    ("protocol", Use::Honoured),
    ("connect-timeout", Use::Honoured),
    ("get-server-public-key", Use::Honoured),
    ("ssl", Use::Honoured),
    ("ssl-mode", Use::Honoured),
    ("ssl-ca", Use::Honoured),
    ("ssl-cert", Use::Honoured),
    ("ssl-key", Use::Honoured),
    ("ssl-verify-server-cert", Use::Honoured),
    ("character-sets-dir", Use::Idle),
    ("default-character-set", Use::Idle),
    ("local-infile", Use::Idle),
    ("max-allowed-packet", Use::Idle),
    ("net-buffer-length", Use::Idle),
    ("no-beep", Use::Idle),
    ("reconnect", Use::Idle),
    ("secure-auth", Use::Idle),
];

/// The environment variables of MySQL's and MariaDB's clients; `MYSQL_PWD` and these only apply where the target and
/// the option file say nothing.
const VARIABLES: &[(&str, Use)] = &[
    ("MYSQL_HOST", Use::Honoured),
    ("MYSQL_PWD", Use::Honoured),
    ("MYSQL_TCP_PORT", Use::Honoured),
    ("MYSQL_UNIX_PORT", Use::Honoured),
    ("LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN", Use::Warned),
    ("MARIADB_TLS_DISABLE_PEER_VERIFICATION", Use::Warned),
    ("MYSQL_GROUP_SUFFIX", Use::Warned),
    ("MYSQL_TEST_LOGIN_FILE", Use::Warned),
];

/// Groups that clients of both products read, and that MariaDB's also read.
const GROUPS: [&str; 1] = ["client"];
const MARIADB_GROUPS: [&str; 3] = ["client", "client-server", "client-mariadb"];
/// Groups of one client program.
const PROGRAM_GROUPS: [&str; 4] = ["mysql", "mariadb", "mariadb-client", "sysbench"];
/// Option files of the whole system, which are not read.
const SYSTEM_FILES: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];

/// The client options of an option file, in order.
#[derive(Debug, Default)]
pub struct OptionFile {
    options: Vec<(String, String)>,
    /// What is ignored of the file, or the file itself, and why.
    pub warnings: Vec<String>,
}

impl OptionFile {
    /// Reads the file of the user whose folder `HOME` names, and says what it and the variables contain that has no
    /// effect. As with MySQL's own clients, a world-writable file is ignored.
    pub fn of_user(scheme: &str, env: Lookup<'_>) -> Self {
        let Some(home) = env("HOME").filter(|home| !home.is_empty()).map(PathBuf::from) else {
            return Self::default();
        };
        let mut file = Self::read(&home.join(".my.cnf"), scheme);
        let login = home.join(".mylogin.cnf");
        if login.exists() {
            file.warnings.push(format!(
                "{} (mysql_config_editor) is not read: name user and server in the target, and the password by \
                 --password-file or TRIPHAMMER_PASSWORD",
                login.display()
            ));
        }
        for system in SYSTEM_FILES.map(Path::new) {
            let found = Self::read(system, "mysql");
            let mut names: Vec<&str> = found.options.iter().map(|(name, _)| &**name).collect();
            names.retain(|name| use_of(OPTIONS, name) == Use::Honoured);
            names.dedup();
            if !names.is_empty() {
                file.warnings.push(format!(
                    "option file {} is not read: its {} have no effect; name them in the target or in ~/.my.cnf",
                    system.display(),
                    names.join(", ")
                ));
            }
        }
        let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
        let unused = VARIABLES.iter().filter(|(name, used)| *used == Use::Warned && is_set(name));
        file.warnings.extend(unused.map(|(name, _)| format!("{name} is set but has no effect")));
        file
    }

    /// Reads a file; a missing one is empty.
    fn read(file: &Path, scheme: &str) -> Self {
        let Ok(facts) = std::fs::metadata(file) else { return Self::default() };
        #[cfg(unix)]
        if std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o002 != 0 {
            let path = file.display();
            let warning = format!(
                "option file {path} is ignored because its permissions allow everyone to write \
                 it: run chmod 0600 {path}"
            );
            return Self { warnings: vec![warning], ..Self::default() };
        }
        if !facts.is_file() {
            return Self::default();
        }
        let text = read_text(file, SETTINGS_BYTES_MAX).unwrap_or_default();
        Self::parse(&text, scheme, &file.display().to_string())
    }

    fn parse(text: &str, scheme: &str, path: &str) -> Self {
        let groups: &[&str] = if scheme == "mariadb" { &MARIADB_GROUPS } else { &GROUPS };
        let (mut options, mut ignored, mut includes) = (Vec::new(), Vec::new(), false);
        let mut current = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(group) = line.strip_prefix('[') {
                current = group.trim_end_matches(']').trim().to_lowercase();
            } else if line.starts_with("!include") {
                includes = true;
            } else if !line.starts_with(['#', ';']) && !line.is_empty() {
                let (name, value) = read_option(line);
                let used = use_of(OPTIONS, &name);
                if groups.contains(&&*current) {
                    if used == Use::Warned {
                        ignored.push(format!("{name} of [{current}]"));
                    }
                    options.push((name, value));
                } else if used == Use::Honoured && is_of_client(&current) {
                    ignored.push(format!("{name} of [{current}]"));
                }
            }
        }
        let mut warnings = Vec::new();
        if !ignored.is_empty() {
            warnings.push(format!("option file {path}: {} has no effect", ignored.join(", ")));
        }
        if includes {
            warnings.push(format!("option file {path}: !include and !includedir have no effect"));
        }
        Self { options, warnings }
    }

    /// The last value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn use_of(table: &[(&str, Use)], name: &str) -> Use {
    table.iter().find(|(known, _)| *known == name).map_or(Use::Warned, |(_, used)| *used)
}

/// Whether a group is that of clients, of another product or with a suffix, or of one client program.
fn is_of_client(group: &str) -> bool {
    PROGRAM_GROUPS.contains(&group) || group.starts_with("client")
}

/// An option's name in one form, and its value: `skip-x` and `disable-x` are `x=0`, `enable-x` is `x=1`.
fn read_option(line: &str) -> (String, String) {
    let (name, value) = line.split_once('=').unwrap_or((line, ""));
    let name = name.trim().to_lowercase().replace('_', "-");
    let name = name.strip_prefix("loose-").unwrap_or(&name);
    for (prefix, meaning) in [("skip-", "0"), ("disable-", "0"), ("enable-", "1")] {
        if let Some(name) = name.strip_prefix(prefix) {
            return (name.to_owned(), meaning.to_owned());
        }
    }
    (name.to_owned(), read_value(value.trim()))
}

/// Returns a value without its quotes, its escapes and the comment that follows it.
fn read_value(text: &str) -> String {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let quoted = quote.and_then(|quote| text[1..].rfind(quote).map(|end| &text[1..=end]));
    let bare = match quoted {
        Some(inside) => inside,
        None => text.split_once('#').map_or(text, |(value, _)| value).trim_end(),
    };
    let mut value = String::new();
    let mut chars = bare.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.clone().next() } else { None };
        let meant = match escaped {
            Some('b') => '\u{8}',
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('s') => ' ',
            Some(other @ ('\\' | '\'' | '"')) => other,
            _ => {
                value.push(c);
                continue;
            }
        };
        chars.next();
        value.push(meant);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_group_is_read_as_clients_do() {
        let text = "user=nobody\n[mysqld]\nport=1\n[client]\n# a comment\n; another\n\
             user = bench\nPassword=\"it's #1 \\\\ \\\"so\\\"\"\nssl_ca=/a/b.pem # the authority\n\
             host=db1\nhost=db2\nsocket=a\\sb\nskip-ssl\n!include /x\n[mysql]\nport=2\n";
        let file = OptionFile::parse(text, "mysql", "f");
        for (name, value) in [
            ("user", Some("bench")),
            ("password", Some("it's #1 \\ \"so\"")),
            ("ssl-ca", Some("/a/b.pem")),
            ("host", Some("db2")),
            ("socket", Some("a b")),
            ("ssl", Some("0")),
            ("port", None),
        ] {
            assert_eq!(file.get(name), value, "{name}");
        }
    }

    #[test]
    fn what_has_no_effect_is_named() {
        let text = "[client]\nuser=a\nssl-crl=x\ncompress\ndefault-character-set=latin1\n\
             [mysql]\nhost=other\nprompt=x\n[mysqld]\nport=1\n[client-mariadb]\nport=7\n!include /x\n";
        let warnings = |scheme| OptionFile::parse(text, scheme, "f").warnings.join("\n");
        assert_eq!(
            warnings("mysql"),
            "option file f: ssl-crl of [client], compress of [client], host of [mysql], port of [client-mariadb] has \
             no effect\noption file f: !include and !includedir have no effect"
        );
        assert!(!warnings("mariadb").contains("client-mariadb"));
        assert_eq!(OptionFile::parse(text, "mariadb", "f").get("port"), Some("7"));
    }

    #[test]
    fn variables_and_login_paths_without_effect_are_named() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".mylogin.cnf"), "").unwrap();
        let env = |name: &str| match name {
            "HOME" => Some(home.path().display().to_string()),
            "MYSQL_GROUP_SUFFIX" => Some("_b".to_owned()),
            _ => None,
        };
        let words = OptionFile::of_user("mysql", &env).warnings.join("\n");
        assert!(words.contains(".mylogin.cnf (mysql_config_editor) is not read"), "{words}");
        assert!(words.contains("MYSQL_GROUP_SUFFIX is set but has no effect"), "{words}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_everyone_can_write_is_ignored_with_a_warning() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".my.cnf");
        std::fs::write(&path, "[client]\nuser=bench\n").unwrap();
        for (mode, user) in [(0o644, Some("bench")), (0o646, None)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let file = OptionFile::read(&path, "mysql");
            assert_eq!(file.get("user"), user, "{mode:o}");
            let words = file.warnings.concat();
            assert_eq!(words.contains("run chmod 0600"), user.is_none(), "{mode:o}: {words}");
        }
    }
}
