//! Texts without secrets. The password of a target never reaches a document or the store: they
//! accept only a [`Redacted`], whose constructors mask secrets.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::Database as _;
use triphammer_drivers::AnyDatabase;
use triphammer_drivers::odbc::connection_string::Braced;

/// Replacement for a secret.
const MASK: &str = "***";
/// User and password of the example in messages about the form of a URL.
const EXAMPLE: &str = "user:password";

/// A target without secrets: the only form in which it is stored, printed or sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// Creates it from a text that should contain no secret; anything that looks like one is
    /// masked.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(mask_secrets(text))
    }

    /// Creates it from the target of a database.
    #[must_use]
    pub fn target_of(database: &AnyDatabase) -> Self {
        Self::new(&database.target())
    }

    /// Returns the redacted text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Masks anything that looks like a secret: the password of a URL, and the value of `password=`,
/// `passwd=`, `pwd=`, `passphrase=`, `secret=` and `token=`, which server settings such as
/// `primary_conninfo` may contain.
#[must_use]
pub fn mask_secrets(text: &str) -> String {
    mask_assignments(&mask_urls(text))
}

/// Returns the value of a server setting, masked if its name or text indicates a secret.
#[must_use]
pub fn mask_setting(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    let tells = name.ends_with("password") || name.contains("passphrase");
    if tells && !value.is_empty() { MASK.to_owned() } else { mask_secrets(value) }
}

/// Masks `scheme://user:secret@host` as `scheme://user:***@host`.
fn mask_urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(scheme_end) = rest.find("://") {
        let (before, after) = rest.split_at(scheme_end + 3);
        out.push_str(before);
        // A password may contain any character except a space, so the last @ before the end of the
        // path decides.
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let slash = after[..end].find(['/', '?', '#']).unwrap_or(end);
        let at = after[..slash].rfind('@').or_else(|| after[..end].rfind('@'));
        let at = at.filter(|at| after[..*at] != *EXAMPLE);
        rest = match at.and_then(|at| after[..at].find(':').map(|colon| (colon, at))) {
            Some((colon, at)) => {
                out.push_str(&after[..=colon]);
                out.push_str(MASK);
                &after[at..]
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// Masks `password = 'secret'` as `password = ***`.
fn mask_assignments(text: &str) -> String {
    const NAMES: [&str; 6] = ["password", "passwd", "pwd", "passphrase", "secret", "token"];
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let found = NAMES
            .iter()
            .filter_map(|name| lower[at..].find(name).map(|start| at + start + name.len()))
            .min();
        let Some(name_end) = found else { break };
        let tail = &text[name_end..];
        let blanks = tail.len() - tail.trim_start().len();
        out.push_str(&text[at..name_end]);
        at = name_end;
        if tail.trim_start().starts_with('=') {
            let value = &tail[blanks + 1..];
            let lead = value.len() - value.trim_start().len();
            out.push_str(&tail[..=blanks + lead]);
            let length = secret_length(&value[lead..]);
            if length > 0 {
                out.push_str(MASK);
            }
            at = name_end + blanks + 1 + lead + length;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Length in bytes of the secret at the start of `text`: quoted, in the braces of a connection
/// string, or up to the next separator. A message that only names the key has dots there.
fn secret_length(text: &str) -> usize {
    if let Some(braced) = Braced::read(text) {
        return braced.length;
    }
    match text.chars().next() {
        Some('…') => 0,
        Some(quote @ ('\'' | '"')) => {
            let mut escaped = false;
            for (index, sign) in text.char_indices().skip(1) {
                match sign {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    _ if sign == quote => return index + 1,
                    _ => {}
                }
            }
            text.len()
        }
        _ => text.find(|c: char| c.is_whitespace() || c == '&' || c == ';').unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_the_rest_stays() {
        for (text, expected) in [
            ("postgres://bench@db1:5432/tpcc", "postgres://bench@db1:5432/tpcc"),
            ("postgres://bench:s3cret@db1:5432/tpcc", "postgres://bench:***@db1:5432/tpcc"),
            ("mysql://u:p@ss:w@h/d", "mysql://u:***@h/d"),
            ("postgres://u:p/x@h/d?sslmode=require", "postgres://u:***@h/d?sslmode=require"),
            ("postgres://h:5432/d?password=a%20b&x=1", "postgres://h:5432/d?password=***&x=1"),
            ("host=a password = 'it\\'s' user=b", "host=a password = *** user=b"),
            ("PWD=x;Server=y", "PWD=***;Server=y"),
            ("PWD={x;}} y};Server={z}", "PWD=***;Server={z}"),
            ("PWD={x y", "PWD=***"),
            ("such as ;password=…: user", "such as ;password=…: user"),
            ("scheme://user:password@host:port/d", "scheme://user:password@host:port/d"),
            ("mysql://ann:password@h/d", "mysql://ann:***@h/d"),
            ("password_encryption", "password_encryption"),
            ("sqlite:tproc-c.sqlite", "sqlite:tproc-c.sqlite"),
            ("grün=1 passwd=ü", "grün=1 passwd=***"),
            ("password=", "password="),
            ("", ""),
        ] {
            assert_eq!(mask_secrets(text), expected);
        }
    }
}
