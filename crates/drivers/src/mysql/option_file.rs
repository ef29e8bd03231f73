//! Reads the group `[client]` of `~/.my.cnf`: where, and as which user, clients connect.
//! The syntax is that of MySQL's manual, "Using Option Files".

use std::path::Path;

use triphammer_core::small_file::{SETTINGS_BYTES_MAX, read_text};

/// The client options of an option file, in order.
#[derive(Debug, Default)]
pub struct OptionFile(Vec<(String, String)>);

impl OptionFile {
    /// Reads a file; a missing one is empty. As with MySQL's own clients, a world-writable file is
    /// ignored.
    pub fn read(file: &Path) -> Self {
        let Ok(facts) = std::fs::metadata(file) else { return Self::default() };
        #[cfg(unix)]
        if std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o002 != 0 {
            tracing::warn!(
                "{} is ignored because everyone can write to it: run chmod o-w {0}",
                file.display()
            );
            return Self::default();
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
        Self(options)
    }

    /// The last value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
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
}
