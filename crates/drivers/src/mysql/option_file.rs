//! Reads the group `[client]` of `~/.my.cnf`: where, and as which user, clients connect.
//! The syntax is that of MySQL's manual, "Using Option Files".

use std::path::Path;

use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};

/// The client options of an option file, in order.
#[derive(Debug, Default)]
pub struct OptionFile {
    options: Vec<(String, String)>,
    /// Why the file is ignored, if it is.
    pub warning: Option<String>,
}

impl OptionFile {
    /// Reads a file; a missing one is empty. As with MySQL's own clients, a world-writable file is
    /// ignored.
    pub fn read(file: &Path) -> Self {
        let Ok(facts) = std::fs::metadata(file) else { return Self::default() };
        #[cfg(unix)]
        if std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o002 != 0 {
            let path = file.display();
            let warning = format!(
                "option file {path} is ignored because its permissions allow everyone to write \
                 it: run chmod 0600 {path}"
            );
            return Self { warning: Some(warning), ..Self::default() };
        }
        if !facts.is_file() {
            return Self::default();
        }
        read_text(file, SETTINGS_BYTES_MAX).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let mut options = Vec::new();
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if let Some(group) = line.strip_prefix('[') {
                is_ours = group.trim_end_matches(']').trim() == "client";
            } else if is_ours && !line.starts_with(['#', ';', '!']) && !line.is_empty() {
                let (name, value) = line.split_once('=').unwrap_or((line, ""));
                let name = name.trim().to_lowercase().replace('_', "-");
                options.push((name, read_value(value.trim())));
            }
        }
        Self { options, warning: None }
    }

    /// The last value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
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
        let file = OptionFile::parse(text);
        for (name, value) in [
            ("user", Some("bench")),
            ("password", Some("it's #1 \\ \"so\"")),
            ("ssl-ca", Some("/a/b.pem")),
            ("host", Some("db2")),
            ("socket", Some("a b")),
            ("skip-ssl", Some("")),
            ("port", None),
        ] {
            assert_eq!(file.get(name), value, "{name}");
        }
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
            let file = OptionFile::read(&path);
            assert_eq!(file.get("user"), user, "{mode:o}");
            let words = file.warning.unwrap_or_default();
            assert_eq!(words.contains("run chmod 0600"), user.is_none(), "{mode:o}: {words}");
        }
    }
}
