//! Texts without secrets. The password of a target never reaches a document or the store: they
//! accept only a [`Redacted`], whose constructors mask secrets.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::Database as _;
use triphammer_drivers::connection_string::{Braced, password_of_login};
use triphammer_drivers::{AnyDatabase, SCHEMES};

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

/// Like [`mask_secrets`], for messages that may repeat what a user typed in the wrong place or form:
/// also masks the password of `user:password@host` and `user/password@host`, after whatever is left
/// of a scheme. Other texts contain more that has this form, such as statements.
#[must_use]
pub fn mask_message(text: &str) -> String {
    let text = mask_secrets(text);
    let words = text.split_inclusive(|c: char| c.is_whitespace() || c == '`');
    words.fold(String::with_capacity(text.len()), |mut out, word| {
        match password_of_word(word) {
            Some(at) => {
                out.extend([&word[..at.start], MASK, &word[at.end..]]);
            }
            None => out.push_str(word),
        }
        out
    })
}

/// The password in a word of a message.
fn password_of_word(word: &str) -> Option<Range<usize>> {
    // In a URL, it is masked.
    if word.contains("://") {
        return None;
    }
    // Messages quote what they repeat.
    let quotes = word.len() - word.trim_start_matches(['“', '"', '\'', '(', '[']).len();
    let start = quotes + login_start(&word[quotes..])?;
    let login = &word[start..];
    let at = match login.find([':', '/'])? {
        colon if login[colon..].starts_with(':') => password_of_url(login)?,
        _ => password_of_login(login)?,
    };
    let is_name = |c: char| c.is_alphanumeric() || "_.-+=;%'$\\".contains(c);
    let user = &login[..at.start - 1];
    let is_user = !user.is_empty() && user.chars().all(is_name);
    let place = &login[at.end + 1..];
    let is_place = !place.starts_with(|c: char| !c.is_alphanumeric() && !"/['\"".contains(c));
    // A script has its weight there: `scripts/new.sql@3`.
    let place = place.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_weight = !place.is_empty() && place.chars().all(|c| c.is_ascii_digit());
    (is_user && is_place && !is_weight).then_some(start + at.start..start + at.end)
}

/// Where a login in a word begins: after slashes, or the scheme of a database; `None` if the word is
/// the path of a database's file.
fn login_start(word: &str) -> Option<usize> {
    let slashes = word.find("//").filter(|slashes| Some(*slashes) < word.find('@'));
    if let Some(slashes) = slashes {
        return Some(slashes + 2);
    }
    let Some((scheme, after)) = word.split_once(':') else { return Some(0) };
    match scheme {
        "sqlite" | "duckdb" => None,
        _ if SCHEMES.iter().any(|names| names.contains(&scheme)) => {
            Some(word.len() - after.trim_start_matches('/').len())
        }
        _ => Some(0),
    }
}

/// Masks `scheme://user:secret@host` as `scheme://user:***@host`.
fn mask_urls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(scheme_end) = rest.find("://") {
        let (before, after) = rest.split_at(scheme_end + 3);
        out.push_str(before);
        rest = match password_of_url(after) {
            Some(at) => {
                out.push_str(&after[..at.start]);
                out.push_str(MASK);
                &after[at.end..]
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// The bytes of the password in `user:password@host`, the part of a URL after its scheme.
fn password_of_url(after: &str) -> Option<Range<usize>> {
    // A password may contain any character except a space, so the last @ before the end of the path
    // decides.
    let end = after.find(char::is_whitespace).unwrap_or(after.len());
    let slash = after[..end].find(['/', '?', '#']).unwrap_or(end);
    let at = after[..slash].rfind('@').or_else(|| after[..end].rfind('@'))?;
    let colon = after[..at].find(':').filter(|_| after[..at] != *EXAMPLE)?;
    Some(colon + 1..at)
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

    #[test]
    fn messages_do_not_repeat_malformed_targets_with_their_passwords() {
        for (text, expected) in [
            ("invalid job number `postgres:u:pw@h`", "invalid job number `postgres:u:***@h`"),
            ("invalid job number `scott/pw@db`;", "invalid job number `scott/***@db`;"),
            ("'oracle:scott/p@w@//h:1/d' found", "'oracle:***@//h:1/d' found"),
            ("oracle:scott/pw@db", "oracle:***@db"),
            ("the label “u:pw@h”, and", "the label “u:***@h”, and"),
            ("(postgres:u:pw@h)", "(postgres:u:***@h)"),
            ("//u:pw@h/d", "//u:***@h/d"),
            ("u:pw@h/d", "u:***@h/d"),
            ("u:p/w@h", "u:***@h"),
            ("u:p@w@10.0.0.1", "u:***@10.0.0.1"),
            ("postgres//u:pw@h", "postgres//u:***@h"),
            ("postgres:/u:pw@h/d", "postgres:/u:***@h/d"),
            ("postgre:u:pw@h", "postgre:***@h"),
            ("--resume=u:pw@h", "--resume=u:***@h"),
            ("odbc:Driver=x;UID=u;PWD=p", "odbc:Driver=x;UID=u;PWD=***"),
            ("mysql://u:pw@h/d or mysql:u:pw@h", "mysql://u:***@h/d or mysql:u:***@h"),
        ] {
            assert_eq!(mask_message(text), expected);
            assert_eq!(mask_message(expected), expected, "masked once");
        }
    }

    #[test]
    fn messages_keep_what_only_resembles_a_login() {
        for text in [
            "postgres://bench@db1:5432/tpcc: connection refused",
            "postgres:bench@db1",
            "user ann@example.com, port 5432: no such user",
            "access denied for user 'u'@'localhost' (using password: YES)",
            "cannot read scripts/new.sql@3: no such file",
            "sqlite:data/a@b.db: no such file",
            "duckdb:/data/x:y@z: no such file",
            "odbc:DSN=a;UID=ann@example.com",
            "/data/results/a@b.json",
            "no operator in a::jsonb@>'{}'",
            "git@example.com:org/repo",
            "scheme://user:password@host:port/d",
            "12:30 @ host",
        ] {
            assert_eq!(mask_message(text), text);
        }
    }
}
