//! The values of string literals.

use std::str::Chars;

use super::tokens::{Quote, next_part, quoted};
use super::{Rules, Syntax};

/// The value of a string literal; `None` if it is not known, so that the literal has to stay in the
/// statement: bytes that are no text, and escapes that a version of the server may read otherwise.
pub fn value(text: &str, quote: Quote, rules: Rules) -> Option<String> {
    match quote {
        Quote::Dollar => {
            let tag = text[1..].find('$').map_or(1, |at| at + 2);
            Some(text[tag..text.len() - tag].to_owned())
        }
        Quote::Oracle => {
            let start = text.find('\'').map_or(0, |at| at + 2);
            Some(text[start..text.len() - 2].to_owned())
        }
        Quote::Prefixed => None,
        Quote::Plain | Quote::Escaped | Quote::Unicode => joined(text, quote, rules),
    }
}

/// The value of the parts of a string.
fn joined(text: &str, quote: Quote, rules: Rules) -> Option<String> {
    let mut value = Vec::new();
    let mut escape = '\\';
    let mut parts = Vec::new();
    let mut rest = &text[text.find(['\'', '"'])?..];
    loop {
        let mark = rest.chars().next()?;
        let length = quoted(rest, mark, quote == Quote::Escaped).ok()?;
        parts.push((&rest[1..length - 1], mark));
        rest = &rest[length..];
        match next_part(rest, rules) {
            Some((gap, _)) => rest = &rest[gap..],
            None => break,
        }
    }
    if let Some(named) = rest.trim_end_matches('\'').chars().next_back() {
        // UESCAPE '!'
        escape = named;
    }
    for (part, mark) in parts {
        match (quote, rules.syntax) {
            (Quote::Unicode, _) => unicode(part, escape, &mut value)?,
            (Quote::Escaped, Syntax::MySql) => value.extend(mysql(part, mark).bytes()),
            (Quote::Escaped, _) => postgres(part, &mut value)?,
            _ => {
                let doubled = format!("{mark}{mark}");
                value.extend(part.replace(&doubled, &mark.to_string()).bytes());
            }
        }
    }
    String::from_utf8(value).ok()
}

/// Resolves MySQL's escapes (manual, chapter "String Literals"): `\%` and `\_` keep their backslash.
fn mysql(text: &str, mark: char) -> String {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == mark {
            chars.next();
            value.push(mark);
        } else if c == '\\' {
            match chars.next() {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('b') => value.push('\u{8}'),
                Some('0') => value.push('\0'),
                Some('Z') => value.push('\u{1a}'),
                Some(kept @ ('%' | '_')) => value.extend(['\\', kept]),
                Some(other) => value.push(other),
                None => {}
            }
        } else {
            value.push(c);
        }
    }
    value
}

/// Appends the text of an `E'…'` (PostgreSQL, section 4.1.2.2).
fn postgres(text: &str, value: &mut Vec<u8>) -> Option<()> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\'' {
            chars.next();
        }
        if c != '\\' {
            push(c, value);
            continue;
        }
        match chars.next()? {
            'b' => value.push(0x08),
            'f' => value.push(0x0c),
            'n' => value.push(b'\n'),
            'r' => value.push(b'\r'),
            't' => value.push(b'\t'),
            // A vertical tab since PostgreSQL 16, the letter before.
            'v' => return None,
            'u' => escaped(&mut chars, 4, "\\u", value)?,
            'U' => escaped(&mut chars, 8, "\\U", value)?,
            'x' if chars.as_str().starts_with(|c: char| c.is_ascii_hexdigit()) => {
                value.push(u8::try_from(digits(&mut chars, 16, 2)).ok()?);
            }
            first @ '0'..='7' => {
                let first = first.to_digit(8)?;
                let more = chars.as_str().chars().take_while(|c| c.is_digit(8)).take(2).count();
                let rest = digits(&mut chars, 8, more);
                // As the server, which keeps the lowest byte.
                value.push((first * 8_u32.pow(u32::try_from(more).ok()?) + rest).to_le_bytes()[0]);
            }
            other => push(other, value),
        }
    }
    (!value.contains(&0)).then_some(())
}

/// Appends the text of a `U&'…'` (PostgreSQL, section 4.1.2.3).
fn unicode(text: &str, escape: char, value: &mut Vec<u8>) -> Option<()> {
    let (mark, long) = (escape.to_string(), format!("{escape}+"));
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let rest = chars.as_str();
        if c == '\'' {
            chars.next();
            push(c, value);
        } else if c != escape {
            push(c, value);
        } else if rest.starts_with(escape) {
            chars.next();
            push(escape, value);
        } else if rest.starts_with('+') {
            chars.next();
            escaped(&mut chars, 6, &long, value)?;
        } else {
            escaped(&mut chars, 4, &mark, value)?;
        }
    }
    Some(())
}

/// Appends the character of this many hexadecimal digits; half of one that UTF-16 splits needs the
/// other half after it.
fn escaped(chars: &mut Chars<'_>, count: usize, mark: &str, value: &mut Vec<u8>) -> Option<()> {
    let mut code = unit(chars, count)?;
    if (0xd800..0xdc00).contains(&code) {
        *chars = chars.as_str().strip_prefix(mark)?.chars();
        let low = unit(chars, count)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        code = 0x1_0000 + ((code - 0xd800) << 10) + low;
    }
    push(char::from_u32(code).filter(|c| *c != '\0')?, value);
    Some(())
}

/// Takes exactly this many hexadecimal digits.
fn unit(chars: &mut Chars<'_>, count: usize) -> Option<u32> {
    let is_whole = chars.as_str().get(..count)?.chars().all(|c| c.is_ascii_hexdigit());
    is_whole.then(|| digits(chars, 16, count))
}

/// Takes up to this many digits.
fn digits(chars: &mut Chars<'_>, radix: u32, most: usize) -> u32 {
    let mut number = 0;
    for _ in 0..most {
        let Some(digit) = chars.as_str().chars().next().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        number = number * radix + digit;
        chars.next();
    }
    number
}

fn push(c: char, value: &mut Vec<u8>) {
    value.extend(c.encode_utf8(&mut [0; 4]).bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, quote: Quote, syntax: Syntax) -> Option<String> {
        value(text, quote, syntax.into())
    }

    #[test]
    fn escapes_are_those_of_the_database() {
        for (text, expected) in [
            (r"'a\nb\'c\\'", "a\nb'c\\"),
            (r"'%\_b\%'", r"%\_b\%"),
            (r"'\0\Z\q\f'", "\0\u{1a}qf"),
            (r"'\x41\u00e9\101'", "x41u00e9101"),
            ("'it''s' \"a\"\"b\"", "it'sa\"b"),
            ("'a' -- it's\n 'b' /* ' */ # \"\n'c'", "abc"),
        ] {
            assert_eq!(
                of(text, Quote::Escaped, Syntax::MySql).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for (text, expected) in [
            (r"E'a\nb\'c\\'", Some("a\nb'c\\")),
            (r"E'\b\f\r\t'", Some("\u{8}\u{c}\r\t")),
            (r"E'\x41\u00e9\101\1010\U0001F600'", Some("Aé\u{41}\u{41}0\u{1F600}")),
            (r"E'\xc3\xa9\x4g\xg\501'", Some("é\u{4}gxgA")),
            (r"e'\ud83d\ude00'", Some("\u{1F600}")),
            (r"E'%\_b\%'", Some("%_b%")),
            ("E'it''s'\n  'a\\tb'", Some("it'sa\tb")),
            // A byte of another encoding, half a character, and what differs between versions.
            (r"E'\xe9'", None),
            (r"E'\ud83d'", None),
            (r"E'\v'", None),
            (r"E'\000'", None),
        ] {
            assert_eq!(of(text, Quote::Escaped, Syntax::Postgres).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            (r"U&'\0041b\+01F600'", Some("Ab\u{1F600}")),
            (r"u&'\\\d83d\de00'", Some("\\\u{1F600}")),
            (r"U&'d!0061t''!+000061!!' UESCAPE '!'", Some("dat'a!")),
            ("U&'\\0041'\n'b' uescape '\\'", Some("Ab")),
            (r"U&'\00g1'", None),
        ] {
            assert_eq!(of(text, Quote::Unicode, Syntax::Postgres).as_deref(), expected, "{text}");
        }
    }
}
