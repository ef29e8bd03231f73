//! Texts of statements with bytes that are not UTF-8, as clients write binary values into literals: such a literal becomes an
//! argument.

use triphammer_capture::Argument;

/// What some clients write before a literal of bytes.
const INTRODUCER: &[u8] = b"_binary";

/// A text with `?` in place of each literal whose bytes are no text, and these bytes; `None` if others are no text either.
pub fn with_arguments(sql: &[u8]) -> Option<(String, Vec<Argument>)> {
    if let Ok(text) = str::from_utf8(sql) {
        return Some((text.to_owned(), Vec::new()));
    }
    let (mut out, mut arguments, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(first) = sql.get(at) {
        let rest = &sql[at..];
        let length = match first {
            b'\'' | b'"' => literal(rest)?,
            b'`' => 2 + rest[1..].iter().position(|byte| *byte == b'`')?,
            b'#' => line(rest),
            b'-' if rest.starts_with(b"-- ") => line(rest),
            b'/' if rest.starts_with(b"/*") => 2 + rest.windows(2).position(|end| end == b"*/")?,
            _ => 1,
        };
        let token = &rest[..length];
        at += length;
        if !matches!(first, b'\'' | b'"') || str::from_utf8(token).is_ok() {
            out.extend_from_slice(token);
            continue;
        }
        cut_introducer(&mut out);
        out.push(b'?');
        arguments.push(Argument::of_bytes(value(&token[1..length - 1], *first)));
    }
    String::from_utf8(out).ok().map(|text| (text, arguments))
}

/// Removes an introducer of bytes from the end.
fn cut_introducer(out: &mut Vec<u8>) {
    let end = out.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
    let start = end.saturating_sub(INTRODUCER.len());
    if out[start..end].eq_ignore_ascii_case(INTRODUCER) {
        out.truncate(start);
    }
}

/// Length of a literal with its quotes.
fn literal(text: &[u8]) -> Option<usize> {
    let quote = *text.first()?;
    let mut at = 1;
    loop {
        match *text.get(at)? {
            b'\\' => at += 2,
            byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Length of a comment up to the end of its line.
fn line(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len())
}

/// The bytes that are written in a literal (manual, chapter "String Literals").
fn value(text: &[u8], quote: u8) -> Vec<u8> {
    let mut value = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            byte if byte == quote => value.extend(bytes.next()),
            b'\\' => match bytes.next() {
                Some(b'n') => value.push(b'\n'),
                Some(b'r') => value.push(b'\r'),
                Some(b't') => value.push(b'\t'),
                Some(b'b') => value.push(8),
                Some(b'0') => value.push(0),
                Some(b'Z') => value.push(0x1a),
                Some(kept @ (b'%' | b'_')) => value.extend([b'\\', kept]),
                other => value.extend(other),
            },
            byte => value.push(byte),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_bytes_become_arguments() {
        for (sql, expected) in [
            (&b"SELECT 'a'"[..], Some(("SELECT 'a'", vec![]))),
            (
                b"SELECT _binary'\xff\\0\\'', 'b'",
                Some(("SELECT ?, 'b'", vec![b"\xff\0'".to_vec()])),
            ),
            (
                b"INSERT INTO t VALUES (\"\xfe\"\"\", _BINARY '\\\\\xff') -- it's",
                Some((
                    "INSERT INTO t VALUES (?, ?) -- it's",
                    vec![b"\xfe\"".to_vec(), b"\\\xff".to_vec()],
                )),
            ),
            (b"SELECT `\xff`", None),
            (b"SELECT '\xff", None),
            (b"SELECT /* \xff */ 1", None),
        ] {
            let expected = expected.map(|(text, bytes)| {
                (text.to_owned(), bytes.into_iter().map(Argument::of_bytes).collect())
            });
            assert_eq!(with_arguments(sql), expected, "{}", String::from_utf8_lossy(sql));
        }
    }
}
