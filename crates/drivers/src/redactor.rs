//! Hides a target's passwords in what a server or a driver says: both may repeat them in an error.

use std::cmp::Reverse;
use std::pin::Pin;
use std::sync::Arc;

use triphammer_core::DbError;
use triphammer_core::session::{Canceller, IsAtWork};
use triphammer_core::text::one_line;

use crate::connection_string::{has_secret, secrets_of};
use crate::target::{ConnectSettings, Secret, TargetUrl};

/// What stands for a secret.
const HIDDEN: &str = "***";
/// Shortest secret that is hidden inside words, and shortest beginning of one that is hidden where a
/// text was cut; in bytes.
const SHORTEST_IN_WORDS: usize = 4;
/// What follows where a text was cut.
const CUT: char = '…';

/// Secrets that a driver has from elsewhere than the target's URL and the settings.
pub(crate) trait Secretive {
    /// Passwords of files and variables, and other forms in which a password is sent.
    fn secrets(&self) -> Vec<Secret> {
        Vec::new()
    }
}

/// A secret in one of its forms.
#[derive(Debug)]
struct Form {
    text: Secret,
    /// Whether it is hidden inside words, too.
    in_words: bool,
}

/// The secrets of a target.
#[derive(Clone, Debug)]
pub(crate) struct Redactor(Arc<[Form]>);

impl Redactor {
    /// Collects the secrets of a URL, of settings, and of the driver. `shown` is the target as
    /// everybody sees it.
    pub(crate) fn of(
        url: &TargetUrl,
        settings: &ConnectSettings,
        driver: &impl Secretive,
        shown: &str,
    ) -> Self {
        let values = url.params.iter().filter(|pair| has_secret(pair));
        let mut secrets: Vec<_> = values.flat_map(|(_, value)| secrets_of(value)).collect();
        secrets.extend(url.password.clone().into_iter().chain(settings.password.clone()));
        secrets.extend(driver.secrets());
        Self::new(&secrets, shown)
    }

    /// A secret that equals a name in `shown` is not hidden: with the gaps in messages about that
    /// name, everybody could read it. For the same reason one that is a part of such a name is hidden
    /// only as a word of its own.
    fn new(secrets: &[Secret], shown: &str) -> Self {
        let mut forms = Vec::new();
        for secret in secrets.iter().map(Secret::reveal) {
            // Errors have one line; in connection strings, closing braces are doubled.
            forms.extend([secret.to_owned(), one_line(secret).into_owned()]);
            forms.push(secret.replace('}', "}}"));
        }
        forms.retain(|form| !form.is_empty() && without(shown, form, false) == shown);
        // One may be a part of another.
        forms.sort_by_key(|form| Reverse(form.len()));
        forms.dedup();
        let form = |text: String| Form {
            in_words: text.len() >= SHORTEST_IN_WORDS && !shown.contains(&text),
            text: Secret::new(text),
        };
        Self(forms.into_iter().map(form).collect())
    }

    /// A text without the secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for form in self.0.iter() {
            out = without(&out, form.text.reveal(), form.in_words);
            // A text may contain such a character before its own end. From the last on, so that the
            // places of the others stay.
            let cuts: Vec<usize> = out.rmatch_indices(CUT).map(|(cut, _)| cut).collect();
            for cut in cuts {
                out = without_beginning(&out, cut, form.text.reveal());
            }
        }
        out
    }

    /// A result whose error does not contain the secrets.
    #[inline]
    pub(crate) fn hide_in<T>(&self, result: Result<T, DbError>) -> Result<T, DbError> {
        result.map_err(|error| self.hide_in_error(error))
    }

    #[cold]
    fn hide_in_error(&self, error: DbError) -> DbError {
        if self.0.is_empty() { error } else { error.reworded(|text| self.hide(text)) }
    }

    /// A canceller whose errors do not contain the secrets.
    pub(crate) fn hide_in_canceller(&self, canceller: Box<dyn Canceller>) -> Box<dyn Canceller> {
        Box::new(Redacted { canceller, redactor: self.clone() })
    }
}

struct Redacted {
    canceller: Box<dyn Canceller>,
    redactor: Redactor,
}

impl Canceller for Redacted {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.canceller.cancel()
    }

    fn is_at_work(&self) -> IsAtWork<'_> {
        let (asked, redactor) = (self.canceller.is_at_work(), &self.redactor);
        Box::pin(async move { redactor.hide_in(asked.await) })
    }
}

/// A text without a secret.
fn without(text: &str, secret: &str, in_words: bool) -> String {
    if in_words {
        return text.replace(secret, HIDDEN);
    }
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(secret) {
        out.push_str(before);
        let is_word = is_end(out.chars().last()) && is_end(after.chars().next());
        out.push_str(if is_word { HIDDEN } else { secret });
        rest = after;
    }
    out + rest
}

/// A text without the beginning of a secret in front of the place where the text was cut.
fn without_beginning(text: &str, cut: usize, secret: &str) -> String {
    let before = text[..cut].trim_end();
    let beginnings = secret.char_indices().rev().map(|(end, _)| &secret[..end]);
    let found = beginnings
        .take_while(|beginning| beginning.len() >= SHORTEST_IN_WORDS)
        .find_map(|beginning| before.strip_suffix(beginning));
    match found {
        Some(kept) => format!("{kept}{HIDDEN}{}", &text[before.len()..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::ErrorClass;

    use super::*;

    fn redactor(secrets: &[&str], shown: &str) -> Redactor {
        let secrets: Vec<_> = secrets.iter().map(|secret| Secret::new(*secret)).collect();
        Redactor::new(&secrets, shown)
    }

    #[test]
    fn secrets_are_hidden_wherever_they_occur() {
        for (secrets, message, shown) in [
            (
                &["x", "hunter2"][..],
                "login with PWD={hunter2} failed: x is no box, not 'x'",
                "login with PWD={***} failed: *** is no box, not '***'",
            ),
            (&["abc"], "UID=u;PWD=abc;Server=abcd", "UID=u;PWD=***;Server=abcd"),
            // As it stands in a connection string, and a part of it.
            (
                &["ab}c;d", "ab}c"],
                "PWD={ab}}c;d} is not ab}c;d, nor {ab}}c}",
                "PWD={***} is not ***, nor {***}",
            ),
            (&["", "ü"], "ü für ü", "*** für ***"),
            (&["a\nb c"], "not a b c", "not ***"),
        ] {
            assert_eq!(redactor(secrets, "odbc:DSN=d").hide(message), shown);
        }
    }

    #[test]
    fn names_that_everybody_sees_do_not_tell_the_password() {
        let target = "postgres://postgres@db1/administration";
        for (secret, message, shown) in [
            ("postgres", "no password for user \"postgres\"", "no password for user \"postgres\""),
            ("admin", "no database administration", "no database administration"),
            ("admin", "password 'admin' is wrong", "password '***' is wrong"),
            ("admin2", "password admin2x is wrong", "password ***x is wrong"),
        ] {
            assert_eq!(redactor(&[secret], target).hide(message), shown, "{secret}");
        }
    }

    #[test]
    fn a_secret_that_was_cut_is_hidden() {
        let redactor = redactor(&["geheimnis"], "");
        for length in 1_980..2_005 {
            let message = format!("{} geheimnis and more than that", "x".repeat(length));
            let error = DbError::new(ErrorClass::Other, &message).with_code("geheimnis");
            let error = redactor.hide_in(Err::<(), _>(error)).unwrap_err();
            assert!(!error.message().contains("gehe"), "{length}: {error}");
            assert_eq!(error.code(), Some("***"));
        }
        assert_eq!(redactor.hide("a gehe…"), "a ***…");
        assert_eq!(redactor.hide("a gehe, geh…"), "a gehe, geh…");
        assert_eq!(redactor.hide("one … a gehe… b"), "one … a ***… b");
    }
}
