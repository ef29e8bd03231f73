//! Lists that procedures return as JSON text, on databases without arrays.

use triphammer_core::Rows;

/// Reads a JSON array of numbers, strings and nulls as a list; `None` if it is none, which leaves a
/// part of it in the list.
pub fn read_list(rows: &mut Rows, text: &[u8]) -> Option<()> {
    let mut result = Some(());
    rows.list(|list| result = read_elements(list, text));
    result
}

fn read_elements(list: &mut Rows, text: &[u8]) -> Option<()> {
    let mut rest = text.get(1..).unwrap_or_default();
    loop {
        rest = match rest {
            [b']', ..] => return Some(()),
            [b',' | b' ' | b'\t' | b'\r' | b'\n', after @ ..] => after,
            [b'"', after @ ..] => read_string(list, after)?,
            [b'n', b'u', b'l', b'l', after @ ..] => {
                list.null();
                after
            }
            [b'-' | b'0'..=b'9', ..] => {
                let end = rest.iter().position(|byte| matches!(byte, b',' | b']' | b' '));
                let (number, after) = rest.split_at(end?);
                read_number(list, number);
                after
            }
            _ => return None,
        }
    }
}

/// Reads a JSON number; one with an exponent is a float.
fn read_number(list: &mut Rows, text: &[u8]) {
    match exact(text) {
        Some((units, scale)) => list.decimal(units, scale),
        None if text.iter().any(|byte| matches!(byte, b'e' | b'E')) => {
            let float = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            list.float(float.unwrap_or(f64::NAN));
        }
        None => list.text_with(|out| out.extend_from_slice(text)),
    }
}

/// Reads a string up to its closing quote and returns what follows.
fn read_string<'a>(list: &mut Rows, text: &'a [u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    let mut whole = true;
    list.text_with(|out| {
        loop {
            let Some(plain) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                whole = false;
                return;
            };
            out.extend_from_slice(&rest[..plain]);
            let ends = rest[plain] == b'"';
            rest = &rest[plain + 1..];
            if ends {
                return;
            }
            let Some((meant, after)) = unescape(rest) else {
                whole = false;
                return;
            };
            out.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
            rest = after;
        }
    });
    whole.then_some(rest)
}

/// Decodes an escape after a backslash, and returns what follows it.
fn unescape(text: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = text.split_first()?;
    let meant = match first {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let (unit, rest) = hex_unit(rest)?;
            if let Some(c) = char::from_u32(unit) {
                return Some((c, rest));
            }
            // A character beyond 16 bits is a surrogate pair.
            let (second, rest) = hex_unit(rest.strip_prefix(b"\\u")?)?;
            let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
            let high = unit.checked_sub(0xd800).filter(|high| *high < 0x400)?;
            return Some((char::from_u32(0x1_0000 + (high << 10) + low)?, rest));
        }
        other => char::from(*other),
    };
    Some((meant, rest))
}

fn hex_unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(4)?;
    let unit = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((unit, rest))
}

/// Units and scale of a decimal whose digits fit an integer.
pub fn exact(text: &[u8]) -> Option<(i64, u8)> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut units, mut point) = (0i64, None);
    for (place, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => units = units.checked_mul(10)?.checked_add((byte - b'0').into())?,
            b'.' if point.is_none() => point = Some(place),
            _ => return None,
        }
    }
    let scale = point.map_or(0, |point| digits.len() - point - 1);
    Some((if negative { -units } else { units }, u8::try_from(scale).ok()?))
}
