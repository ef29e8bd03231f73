//! Values of MySQL's binary protocol ("Binary Protocol Value") as texts, and the texts of both protocols in one form.

use std::fmt::Write as _;

use triphammer_core::Rows;

use super::codec::{ColumnKind, Reader, wire_type as t};

/// Appends a value as its text; `None` if it is malformed.
pub fn binary(kind: ColumnKind, rest: &mut Reader<'_>, out: &mut Vec<u8>) -> Option<()> {
    let text = match (kind.wire_type, kind.unsigned) {
        (t::LONGLONG, false) => i64::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::LONGLONG, true) => u64::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::LONG | t::INT24, false) => i32::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::LONG | t::INT24, true) => u32::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::SHORT, false) => i16::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::SHORT | t::YEAR, _) => u16::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::TINY, false) => i8::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::TINY, true) => rest.byte().ok()?.to_string(),
        (t::FLOAT, _) => f32::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::DOUBLE, _) => f64::from_le_bytes(rest.fixed().ok()?).to_string(),
        (t::DATE | t::DATETIME | t::TIMESTAMP, _) => date(kind.wire_type == t::DATE, rest)?,
        (t::TIME, _) => time(rest)?,
        _ => {
            out.extend_from_slice(rest.bytes().ok()?);
            return Some(());
        }
    };
    out.extend_from_slice(text.as_bytes());
    Some(())
}

/// Appends a field to a row, in the form that is the same in both protocols.
pub fn put(rows: &mut Rows, kind: ColumnKind, text: &[u8]) {
    let mut other = Vec::new();
    let text = canonical(kind, text, &mut other);
    rows.text_with(|out| out.extend_from_slice(text));
}

/// Writes a text so that it is the same whichever protocol it came by: floats have different digits in both, FLOAT six of
/// them as text, and times different zeros.
pub fn canonical<'a>(kind: ColumnKind, text: &'a [u8], out: &'a mut Vec<u8>) -> &'a [u8] {
    match kind.wire_type {
        t::FLOAT | t::DOUBLE => {
            let text = str::from_utf8(text).unwrap_or_default();
            let written = match kind.wire_type {
                t::FLOAT => text.parse::<f32>().map(|value| format!("{value:.5e}")),
                _ => text.parse::<f64>().map(|value| format!("{value:e}")),
            };
            out.clear();
            out.extend_from_slice(written.as_deref().unwrap_or(text).as_bytes());
            out
        }
        t::DATETIME | t::TIMESTAMP | t::TIME if text.contains(&b'.') => {
            let end = text.iter().rposition(|byte| *byte != b'0').map_or(0, |last| last + 1);
            text[..end].strip_suffix(b".").unwrap_or(&text[..end])
        }
        _ => text,
    }
}

fn date(is_date: bool, rest: &mut Reader<'_>) -> Option<String> {
    let length = rest.byte().ok()?;
    let mut field = Reader(rest.take(usize::from(length)).ok()?);
    let (mut year, mut parts, mut micros) = (0, [0_u8; 5], 0);
    if length >= 4 {
        year = u16::from_le_bytes(field.fixed().ok()?);
        parts[..2].copy_from_slice(&field.fixed::<2>().ok()?);
    }
    if length >= 7 {
        parts[2..].copy_from_slice(&field.fixed::<3>().ok()?);
    }
    if length >= 11 {
        micros = u32::from_le_bytes(field.fixed().ok()?);
    }
    let [month, day, hour, minute, second] = parts;
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if !is_date {
        let _ = write!(text, " {hour:02}:{minute:02}:{second:02}");
        fraction(micros, &mut text);
    }
    Some(text)
}

fn time(rest: &mut Reader<'_>) -> Option<String> {
    let length = rest.byte().ok()?;
    let mut field = Reader(rest.take(usize::from(length)).ok()?);
    if length == 0 {
        return Some("00:00:00".to_owned());
    }
    let [is_negative] = field.fixed().ok()?;
    let days = u32::from_le_bytes(field.fixed().ok()?);
    let [hour, minute, second] = field.fixed::<3>().ok()?;
    let sign = if is_negative == 0 { "" } else { "-" };
    let hours = u64::from(days) * 24 + u64::from(hour);
    let mut text = format!("{sign}{hours:02}:{minute:02}:{second:02}");
    if length >= 12 {
        fraction(u32::from_le_bytes(field.fixed().ok()?), &mut text);
    }
    Some(text)
}

fn fraction(micros: u32, text: &mut String) {
    if micros > 0 {
        let _ = write!(text, ".{micros:06}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: u8, raw: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        binary(ColumnKind { wire_type: of, unsigned: false }, &mut Reader(raw), &mut out)?;
        String::from_utf8(out).ok()
    }

    #[test]
    fn values_are_written_as_the_text_protocol_does() {
        for (of, raw, expected) in [
            (t::LONGLONG, &(-5_i64).to_le_bytes()[..], "-5"),
            (t::YEAR, &2026_u16.to_le_bytes(), "2026"),
            (t::DATE, b"\x04\xea\x07\x01\x1f", "2026-01-31"),
            (t::DATETIME, b"\x07\xea\x07\x01\x1f\x0c\x00\x01", "2026-01-31 12:00:01"),
            (
                t::DATETIME,
                b"\x0b\xea\x07\x01\x1f\x0c\x00\x01\x20\xa1\x07\x00",
                "2026-01-31 12:00:01.500000",
            ),
            (t::DATETIME, b"\0", "0000-00-00 00:00:00"),
            (t::TIME, b"\x08\x01\x01\0\0\0\x02\x03\x04", "-26:03:04"),
            (246, b"\x041.50", "1.50"),
            (253, b"\x02hi", "hi"),
        ] {
            assert_eq!(text(of, raw).as_deref(), Some(expected));
            for end in 0..raw.len() {
                let _ = text(of, &raw[..end]);
            }
        }
    }

    #[test]
    fn both_protocols_have_one_form() {
        let of = |of, text: &str| {
            let mut out = Vec::new();
            let kind = ColumnKind { wire_type: of, unsigned: false };
            String::from_utf8(canonical(kind, text.as_bytes(), &mut out).to_vec()).unwrap()
        };
        assert_eq!(of(t::DOUBLE, "1e20"), of(t::DOUBLE, "100000000000000000000"));
        assert_eq!(of(t::FLOAT, "0.1"), of(t::FLOAT, &0.1_f32.to_string()));
        assert_eq!(of(t::DATETIME, "2026-01-31 12:00:01.500"), "2026-01-31 12:00:01.5");
        assert_eq!(of(t::DATETIME, "2026-01-31 12:00:00.000000"), "2026-01-31 12:00:00");
        assert_eq!(of(253, "1.50"), "1.50");
    }
}
