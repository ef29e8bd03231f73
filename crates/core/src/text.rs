//! Makes text from outside (servers, labels, file names) safe to show: characters that control a
//! terminal or change the direction of the text around them are escaped, and long text is cut.
//! Further escaping is left to each format.

use std::borrow::Cow;

/// Maximum length of a server's message, in characters.
pub const MESSAGE_MAX: usize = 2000;

/// Whether a character is a control rather than printable: C0, C1, line separators, and those that
/// change the direction of text or are invisible tags.
#[must_use]
pub const fn steers(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Returns the text in one line: line breaks and tabs become spaces, controls become escapes such
/// as `\u{1b}`.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// Returns the text with its line breaks and tabs; other controls become escapes such as `\u{1b}`.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// A field of CSV (RFC 4180), quoted where it must be. An empty one is quoted too, so that a row of
/// it alone is not a blank line.
#[must_use]
pub fn csv_field(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && !text.contains(['"', ',', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
}

/// Escapes control characters in JSON text the JSON way, which leaves the document's meaning
/// unchanged.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let has = |c: char| steers(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(has) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if has(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns a foreign message in one line of at most [`MESSAGE_MAX`] characters.
#[must_use]
pub fn message(text: &str) -> String {
    let end = text.char_indices().nth(MESSAGE_MAX).map_or(text.len(), |(end, _)| end);
    let mut out = one_line(&text[..end]).into_owned();
    if end < text.len() {
        out.push_str(&format!(" … ({} bytes in all)", text.len()));
    }
    out
}

fn escaped(text: &str, instead: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match (steers(c), instead(c)) {
            (false, _) => out.push(c),
            (true, Some(other)) => out.push(other),
            (true, None) => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str =
        "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{2066}e\0f\u{7f}g\u{2028}h\u{85}i\u{e0041}j";

    #[test]
    fn nothing_that_steers_is_left() {
        for made in [one_line(EVIL), lines(EVIL), json(EVIL)] {
            assert!(!made.contains(steers), "{made:?}");
            assert!(made.starts_with('a') && made.ends_with('j'), "{made:?}");
        }
        assert!(one_line(EVIL).contains("a\\u{1b}[2Jb\\u{9b}31mc\\u{202e}d"));
        assert_eq!(one_line("a\r\n\tb"), "a   b");
        assert_eq!(lines("a\n\tb\rc"), "a\n\tb\\u{d}c");
        assert_eq!(one_line("zürich ≤ 5 µs … 日本 👍🏽"), "zürich ≤ 5 µs … 日本 👍🏽");
    }

    #[test]
    fn json_stays_the_same_document() {
        assert_eq!(
            json("{\n\t\"a\": \"\u{9b}\u{e0041}ü\"}"),
            "{\n\t\"a\": \"\\u009b\\udb40\\udc41ü\"}"
        );
    }

    #[test]
    fn a_long_message_is_cut_and_says_so() {
        let text = "ü".repeat(5_400_000);
        let cut = message(&text);
        assert!(cut.ends_with("ü … (10800000 bytes in all)"), "{}", cut.len());
        assert_eq!(cut.chars().filter(|c| *c == 'ü').count(), MESSAGE_MAX);
        assert_eq!(message(&text[..4000]), text[..4000]);
    }

    #[test]
    fn fields_of_csv_are_quoted_where_they_must_be() {
        for (text, field) in [
            ("a b", "a b"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(csv_field(text), field);
        }
    }
}
