//! Connection strings: `DSN=name;UID=user` or `Driver={name};Server=host;PWD={a;b}`. A value in
//! braces may contain anything; a closing brace in it is doubled.

use std::ops::Range;

use triphammer_core::SpecError;

use crate::secret::{Secret, is_secret};

/// The form of a target, for messages.
const FORM: &str = "odbc:DSN=name, or odbc:Driver={name};Server=host;Database=name;UID=user";

/// Key of the password in every driver's connection strings.
const PASSWORD: &str = "PWD";

/// Keys and values of a connection string, and its password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// All but the password, in order.
    pub pairs: Vec<(String, String)>,
    /// The value of `PWD` or `Password`.
    pub password: Option<Secret>,
}

impl Parts {
    /// Splits a connection string.
    ///
    /// # Errors
    /// When it has another form; nothing of it is shown, since it may be part of a password.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut parts = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (key, after) = rest.split_once('=').ok_or_else(|| wrong("has no ="))?;
            let key = key.trim();
            let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.');
            if key.is_empty() || !key.chars().all(is_key) {
                return Err(wrong("has no name before its ="));
            }
            let (value, after) = value(after.trim_start())?;
            if key.eq_ignore_ascii_case(PASSWORD) || key.eq_ignore_ascii_case("password") {
                parts.password = Some(Secret::new(value));
            } else {
                parts.pairs.push((key.to_owned(), value));
            }
            rest = after.trim_start_matches([';', ' ']);
        }
        if parts.get("DSN").is_none() && parts.get("Driver").is_none() {
            return Err(SpecError::new(format!(
                "an odbc target names a data source or a driver: {FORM}"
            )));
        }
        Ok(parts)
    }

    /// The value of a key, in upper or lower case.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        get(&self.pairs, key)
    }
}

/// The value of a key among pairs.
pub fn get<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
}

fn wrong(what: &str) -> SpecError {
    SpecError::new(format!(
        "a part of the odbc target {what}: it has the form {FORM}; a value that contains ; or }} \
         stands in braces, with }} doubled"
    ))
}

/// Splits a value off, and what follows it.
fn value(text: &str) -> Result<(String, &str), SpecError> {
    let Some(braced) = Braced::read(text) else {
        let end = text.find(';').unwrap_or(text.len());
        return Ok((text[..end].trim_end().to_owned(), &text[end..]));
    };
    if !braced.is_closed {
        return Err(wrong("has an opening brace without a closing one"));
    }
    let after = text[braced.length..].trim_start();
    match after.is_empty() || after.starts_with(';') {
        true => Ok((braced.value, after)),
        false => Err(wrong("continues after its closing brace")),
    }
}

/// A value in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Braced {
    /// What is between the braces, each doubled closing brace as one.
    pub value: String,
    /// Number of bytes with both braces; without a closing one, of the whole text.
    pub length: usize,
    /// Whether there is a closing brace.
    pub is_closed: bool,
}

impl Braced {
    /// Reads the value at the start of a text; `None` if that does not start with a brace.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('{')?;
        let mut value = String::new();
        while let Some((before, after)) = rest.split_once('}') {
            value.push_str(before);
            let Some(more) = after.strip_prefix('}') else {
                return Some(Self { value, length: text.len() - after.len(), is_closed: true });
            };
            value.push('}');
            rest = more;
        }
        value.push_str(rest);
        Some(Self { value, length: text.len(), is_closed: false })
    }
}

/// A connection string of these pairs.
#[must_use]
pub fn text(pairs: &[(String, String)], password: Option<&Secret>) -> String {
    let mut out = String::new();
    let all = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    for (key, value) in all.chain(password.map(|secret| (PASSWORD, secret.reveal()))) {
        if !out.is_empty() {
            out.push(';');
        }
        out.push_str(key);
        out.push('=');
        // A driver's name stands in braces everywhere, and unixODBC accepts no others around it.
        let is_driver = key.eq_ignore_ascii_case("driver") && !value.contains('/');
        let is_plain = |c: char| c.is_alphanumeric() || "/._-:@,~+*!$^&#\\\"'`|%<>".contains(c);
        if !is_driver && value.chars().all(is_plain) {
            out.push_str(value);
        } else {
            out.push('{');
            out.push_str(&value.replace('}', "}}"));
            out.push('}');
        }
    }
    out
}

/// Keys whose values name what is connected to: they are shown unless they contain an assignment.
const NAMES: [&str; 6] = ["DSN", "Driver", "Server", "Servername", "Database", "UID"];

/// Words before secrets inside values, such as `Pqopt={password=…}` or `Init={SET PASSWORD …}`.
const WORDS: [&str; 5] = ["password", "pwd", "secret", "token", "credential"];

/// The bytes of the password in `user/password@place`, as Oracle's programs take it; `None` if the
/// text does not have this form.
#[must_use]
pub fn password_of_login(text: &str) -> Option<Range<usize>> {
    let (user, after) = text.split_once('/')?;
    let part = after.split('/').next().unwrap_or_default();
    let length = part.rfind('@').filter(|length| *length > 0 && !user.trim().is_empty())?;
    Some(user.len() + 1..user.len() + 1 + length)
}

/// Whether a pair contains a secret: by its name, or by what its value has inside: an assignment, a
/// statement about one, a URL with a password, or a login of Oracle's form.
#[must_use]
pub fn has_secret((key, value): &(String, String)) -> bool {
    let is_name = NAMES.iter().any(|name| key.eq_ignore_ascii_case(name));
    let inside: String = value.to_ascii_lowercase().split_whitespace().collect();
    let of_value = |word: &&str| match is_name {
        true => inside.contains(&format!("{word}=")),
        false => inside.contains(*word),
    };
    is_secret(key)
        || key.to_ascii_lowercase().ends_with("key")
        || WORDS.iter().any(of_value)
        || inside.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
        || password_of_login(value).is_some()
}

/// What a message must not repeat of a value that contains a secret: all of it, and each part that
/// could be the secret.
#[must_use]
pub fn secrets_of(value: &str) -> Vec<Secret> {
    /// Shorter parts are words of messages.
    const SHORTEST: usize = 4;
    let ends = |c: char| c.is_whitespace() || "=;&:@/'\"{}".contains(c);
    let is_part = |part: &&str| {
        part.len() >= SHORTEST && !WORDS.iter().any(|word| part.eq_ignore_ascii_case(word))
    };
    let parts = value.split(ends).filter(is_part);
    std::iter::once(value).chain(parts).map(Secret::new).collect()
}

/// The string without secrets.
#[must_use]
pub fn redacted(pairs: &[(String, String)]) -> String {
    let shown: Vec<_> = pairs.iter().filter(|pair| !has_secret(pair)).cloned().collect();
    text(&shown, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        Parts::parse(text).unwrap().pairs
    }

    #[test]
    fn strings_are_split_into_keys_and_values() {
        let expected = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        for (text, list) in [
            ("DSN=a", &[("DSN", "a")][..]),
            (" dsn = a ; UID=b ;; ", &[("dsn", "a"), ("UID", "b")]),
            ("Driver={My Driver};Server=h", &[("Driver", "My Driver"), ("Server", "h")]),
            ("DRIVER={A;B}}C} ;Port=1", &[("DRIVER", "A;B}C"), ("Port", "1")]),
            ("DSN=a;Database=/x/y z?.db", &[("DSN", "a"), ("Database", "/x/y z?.db")]),
            ("DSN=a;Options=", &[("DSN", "a"), ("Options", "")]),
        ] {
            assert_eq!(pairs(text), expected(list), "{text}");
            let again = super::text(&pairs(text), None);
            assert_eq!(pairs(&again), expected(list), "{again}");
        }
    }

    #[test]
    fn a_brace_that_is_not_closed_ends_with_the_text() {
        for (text, value, length, is_closed) in [
            ("{}", "", 2, true),
            ("{a;b} ;c", "a;b", 5, true),
            ("{a}}b}}}c", "a}b}", 8, true),
            ("{a}}", "a}", 4, false),
            ("{ä b;c=d", "ä b;c=d", 9, false),
        ] {
            let braced = Braced { value: value.to_owned(), length, is_closed };
            assert_eq!(Braced::read(text), Some(braced), "{text}");
        }
        assert_eq!(Braced::read("a{b}"), None);
    }

    #[test]
    fn a_login_of_oracle_contains_its_password() {
        let password = |text: &'static str| password_of_login(text).map(|at| &text[at]);
        assert_eq!(password("scott/pw@db"), Some("pw"));
        assert_eq!(password("scott/p@w@//db1:1521/a@b"), Some("p@w"));
        for other in ["scott/@db", "/data/a@b", "data/x/a@b", "ann@example.com/d", "a/b", ""] {
            assert_eq!(password(other), None, "{other}");
        }
    }

    #[test]
    fn passwords_hold_whatever_they_like() {
        for password in ["a", "a;b=c", "{x}", "}", "}}", "p@:/#%?&=", "pä€ß🦀", " lead", "it's"]
        {
            let secret = Secret::new(password);
            let text = text(&pairs("DSN=a;UID=u"), Some(&secret));
            let parts = Parts::parse(&text).unwrap();
            assert_eq!(parts.password, Some(secret), "{text}");
            assert_eq!(redacted(&parts.pairs), "DSN=a;UID=u");
        }
    }

    #[test]
    fn names_that_look_like_secrets_are_shown() {
        for text in [
            "DSN=passengers",
            "Driver={Token Ring}",
            "DSN=a;Database=secrets;UID=pwd",
            "DSN=a;Database=/data/a@b.db;DBQ=//db1:1521/orcl",
            "DSN=a;UID=ann@example.com;Database=a/b",
        ] {
            assert_eq!(pairs(&redacted(&pairs(text))), pairs(text));
        }
    }

    #[test]
    fn parts_of_a_value_are_secrets_too() {
        let found = secrets_of("host=h password='hunter2'");
        let found: Vec<_> = found.iter().map(Secret::reveal).collect();
        assert_eq!(found, ["host=h password='hunter2'", "host", "hunter2"]);
    }

    #[test]
    fn no_form_of_a_secret_is_shown() {
        for text in [
            "DSN=a;PWD=hunter2",
            "DSN=a;Pwd = {hunter2}",
            "DSN=a;password={x;hunter2}}y}",
            "DSN=a;SSLKeyPassword=hunter2",
            "DSN=a;TrustStorePwd=hunter2",
            "DSN=a;AuthToken={hunter2}",
            "DSN=a;Pqopt={host=h password = hunter2}",
            "DSN=a;Init={SET PASSWORD TO 'hunter2'}",
            "DSN=a;SharedAccessKey=hunter2",
            "DSN=a;Url=db://u:hunter2@h/d",
            "DSN=a;Database={x PWD=hunter2}",
            "DSN=a;DBQ=scott/hunter2@//db1:1521/orcl",
            "DSN=a;UID={scott/hunter2@orcl}",
        ] {
            let shown = redacted(&pairs(text));
            assert_eq!(shown, "DSN=a", "{text}");
        }
        for wrong in [
            "DSN=a;hunter2",
            "DSN=a;PWD={hunter2",
            "DSN=a;PWD={hun}ter2;UID=b",
            "DSN=a;=hunter2",
            "DSN=a;hun;ter2=x",
            "PWD=hunter2",
        ] {
            let error = Parts::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("odbc:DSN=name") && !error.contains("hun"), "{error}");
        }
    }
}
