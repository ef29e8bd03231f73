//! Values in PostgreSQL's binary format as the server writes them in text.

use std::fmt::Write as _;

use postgres_protocol::types;
use postgres_types::{Kind, Type};
use triphammer_capture::Argument;
use triphammer_capture::array::push_element;
use triphammer_core::{Date, Timestamp};
use triphammer_drivers::postgres::messages::Body;

/// From 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
const EPOCH_US: i64 = 946_684_800_000_000;
const EPOCH_DAYS: i32 = 10_957;
const DAY_US: i64 = 86_400_000_000;

/// Whether the text of a value depends on settings of the session, so that it cannot be compared.
fn depends_on_session(of: &Type) -> bool {
    matches!(*of, Type::TIMESTAMPTZ | Type::TIMETZ | Type::INTERVAL)
}

/// The argument that a binary value is; `None` if its type is unknown or the value is not one of it.
pub fn argument(oid: u32, raw: &[u8]) -> Option<Argument> {
    let of = Type::from_oid(oid)?;
    let mut out = String::new();
    write(&of, raw, &mut out)?;
    let is_integer = matches!(of, Type::INT2 | Type::INT4 | Type::INT8 | Type::OID);
    Some(if is_integer { Argument::of_text(out) } else { Argument::Text(out) })
}

/// Writes a field of a row as the server would in text; `None` if that is unknown, or depends on the session.
pub fn field(oid: u32, raw: &[u8], out: &mut String) -> Option<()> {
    let of = Type::from_oid(oid).filter(|of| !depends_on_session(of))?;
    write(&of, raw, out)
}

fn write(of: &Type, raw: &[u8], out: &mut String) -> Option<()> {
    match of.kind() {
        Kind::Array(element) => return array(element, raw, out),
        Kind::Domain(base) => return write(base, raw, out),
        _ => {}
    }
    match *of {
        Type::INT2 => write!(out, "{}", types::int2_from_sql(raw).ok()?),
        Type::INT4 => write!(out, "{}", types::int4_from_sql(raw).ok()?),
        Type::INT8 => write!(out, "{}", types::int8_from_sql(raw).ok()?),
        Type::OID => write!(out, "{}", types::oid_from_sql(raw).ok()?),
        Type::BOOL => out.write_char(if types::bool_from_sql(raw).ok()? { 't' } else { 'f' }),
        Type::FLOAT4 => {
            let value = types::float4_from_sql(raw).ok()?;
            float(format!("{value:e}"), 6, out)
        }
        Type::FLOAT8 => {
            let value = types::float8_from_sql(raw).ok()?;
            float(format!("{value:e}"), 15, out)
        }
        Type::NUMERIC => return numeric(raw, out),
        Type::TEXT
        | Type::VARCHAR
        | Type::BPCHAR
        | Type::NAME
        | Type::JSON
        | Type::XML
        | Type::UNKNOWN => out.write_str(str::from_utf8(raw).ok()?),
        Type::JSONB => out.write_str(str::from_utf8(raw.strip_prefix(&[1])?).ok()?),
        Type::BYTEA => {
            let digits = raw.iter().try_for_each(|byte| write!(out, "{byte:02x}"));
            let start = out.len() - 2 * raw.len();
            out.insert_str(start, "\\x");
            digits
        }
        Type::UUID => {
            let id = types::uuid_from_sql(raw).ok()?;
            id.iter().enumerate().try_for_each(|(place, byte)| {
                let dash = if matches!(place, 4 | 6 | 8 | 10) { "-" } else { "" };
                write!(out, "{dash}{byte:02x}")
            })
        }
        Type::INET | Type::CIDR => {
            let of_host = types::inet_from_sql(raw).ok()?;
            let width = if of_host.addr().is_ipv4() { 32 } else { 128 };
            match of_host.netmask() {
                mask if mask == width && *of == Type::INET => write!(out, "{}", of_host.addr()),
                mask => write!(out, "{}/{mask}", of_host.addr()),
            }
        }
        _ => return moment(of, raw, out),
    }
    .ok()
}

/// Writes a date, a time, or a length of time.
fn moment(of: &Type, raw: &[u8], out: &mut String) -> Option<()> {
    match *of {
        Type::DATE => {
            let days = types::date_from_sql(raw).ok()?.checked_add(EPOCH_DAYS)?;
            write!(out, "{}", Date(days).civil()?)
        }
        Type::TIMESTAMP | Type::TIMESTAMPTZ => {
            let at = types::timestamp_from_sql(raw).ok()?.checked_add(EPOCH_US)?;
            let zone = if *of == Type::TIMESTAMPTZ { "+00" } else { "" };
            // Years of other eras, and infinity, have no civil date.
            Timestamp(at).civil()?;
            out.push_str(without_zeros(&Timestamp(at).to_string()));
            out.write_str(zone)
        }
        Type::TIME => time(types::time_from_sql(raw).ok()?, out)?,
        Type::INTERVAL => {
            let (us, rest) = raw.split_first_chunk()?;
            let (days, months) = rest.split_first_chunk()?;
            let months = i32::from_be_bytes(months.try_into().ok()?);
            let (days, us) = (i32::from_be_bytes(*days), i64::from_be_bytes(*us));
            write!(out, "{months} mons {days} days {us} us")
        }
        _ => return None,
    }
    .ok()
}

fn time(us: i64, out: &mut String) -> Option<std::fmt::Result> {
    let us = u64::try_from(us).ok().filter(|_| us <= DAY_US)?;
    let (seconds, fraction) = (us / 1_000_000, us % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if fraction > 0 {
        let _ = write!(text, ".{fraction:06}");
    }
    Some(out.write_str(without_zeros(&text)))
}

/// A time without zeros at the end of its fraction.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0') } else { text }
}

/// Writes a float of the form `1.5e3`: with an exponent only if it has more than `digits` before the point, or more
/// than four zeros after it.
fn float(scientific: String, digits: i32, out: &mut String) -> std::fmt::Result {
    let special = match scientific.as_str() {
        "inf" => Some("Infinity"),
        "-inf" => Some("-Infinity"),
        "NaN" => Some("NaN"),
        _ => None,
    };
    let parts = scientific.split_once('e').and_then(|(m, e)| Some((m, e.parse::<i32>().ok()?)));
    let (None, Some((mantissa, exponent))) = (special, parts) else {
        return out.write_str(special.unwrap_or(&scientific));
    };
    if exponent < -4 || exponent >= digits {
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(out, "{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let whole = usize::try_from(exponent + 1).unwrap_or_default();
    let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
    let (before, after) = all.split_at(whole.min(all.len()));
    let before = if before.is_empty() { "0" } else { before };
    let padding = "0".repeat(whole.saturating_sub(all.len()));
    write!(out, "{sign}{before}{padding}")?;
    if after.is_empty() { Ok(()) } else { write!(out, ".{}{after}", "0".repeat(zeros)) }
}

/// Writes a numeric: number of digits in base 10000, weight of the first, sign, digits after the point, and the digits.
fn numeric(raw: &[u8], out: &mut String) -> Option<()> {
    let (head, digits) = raw.split_first_chunk::<8>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (count, weight, sign, scale) = (word(0), word(2).cast_signed(), word(4), word(6));
    let special = match sign {
        0 | 0x4000 => None,
        0xc000 => Some("NaN"),
        0xd000 => Some("Infinity"),
        0xf000 => Some("-Infinity"),
        _ => return None,
    };
    if let Some(special) = special {
        out.push_str(special);
        return Some(());
    }
    if digits.len() != usize::from(count) * 2 || scale > 0x3fff {
        return None;
    }
    let digit = |place: i32| {
        let at = usize::try_from(place).ok().map(|place| place * 2);
        let pair = at.and_then(|at| digits.get(at..at + 2)?.try_into().ok());
        pair.map_or(0, u16::from_be_bytes)
    };
    if sign == 0x4000 {
        out.push('-');
    }
    let weight = i32::from(weight);
    for place in 0..=weight {
        let _ = if place == 0 {
            write!(out, "{}", digit(0))
        } else {
            write!(out, "{:04}", digit(place))
        };
    }
    if weight < 0 {
        out.push('0');
    }
    if scale > 0 {
        out.push('.');
        let end = out.len() + usize::from(scale);
        for place in weight + 1..=weight + 1 + i32::from(scale) / 4 {
            let _ = write!(out, "{:04}", if place < 0 { 0 } else { digit(place) });
        }
        out.truncate(end);
    }
    Some(())
}

/// Writes an array: number of dimensions, whether it has NULLs, type of its elements, length and lower bound of each
/// dimension, and the elements.
fn array(element: &Type, raw: &[u8], out: &mut String) -> Option<()> {
    let mut body = Body(raw);
    let dimensions = body.int32()?;
    body.take(8)?;
    // More dimensions and other bounds are rare.
    let length = match dimensions {
        0 => 0,
        1 => body.int32()?,
        _ => return None,
    };
    if dimensions == 1 && body.int32()? != 1 {
        return None;
    }
    out.push('{');
    for place in 0..length {
        if place > 0 {
            out.push(',');
        }
        let Ok(bytes) = usize::try_from(body.int32()?) else {
            out.push_str("NULL");
            continue;
        };
        let mut text = String::new();
        write(element, body.take(bytes)?, &mut text)?;
        push_element(&text, out);
    }
    out.push('}');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: &Type, raw: &[u8]) -> Option<String> {
        let mut out = String::new();
        write(of, raw, &mut out).map(|()| out)
    }

    #[test]
    fn floats_are_written_as_the_server_does() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (-100.0, "-100"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e15, "1e+15"),
            (1.25e20, "1.25e+20"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(text(&Type::FLOAT8, &f64::to_be_bytes(value)).unwrap(), expected);
        }
        assert_eq!(text(&Type::FLOAT4, &1e6_f32.to_be_bytes()).unwrap(), "1e+06");
        assert_eq!(text(&Type::FLOAT4, &0.1_f32.to_be_bytes()).unwrap(), "0.1");
    }

    #[test]
    fn numerics_keep_their_digits() {
        let words = |words: &[u16]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_be_bytes()).collect()
        };
        for (raw, expected) in [
            (words(&[2, 0, 0, 2, 12, 3400]), "12.34"),
            (words(&[2, 1, 0x4000, 0, 1, 2]), "-10002"),
            (words(&[1, 0xffff, 0, 4, 5]), "0.0005"),
            (words(&[1, 0xfffe, 0, 6, 1200]), "0.000012"),
            (words(&[0, 0, 0, 3]), "0.000"),
            (words(&[1, 1, 0, 0, 7]), "70000"),
            (words(&[0, 0, 0xc000, 0]), "NaN"),
        ] {
            assert_eq!(text(&Type::NUMERIC, &raw).as_deref(), Some(expected));
        }
        assert_eq!(text(&Type::NUMERIC, &words(&[2, 0, 0, 0, 1])), None);
    }

    #[test]
    fn other_types_are_written_as_the_server_does() {
        let at = 1_500_000_i64;
        for (of, raw, expected) in [
            (Type::BOOL, vec![1], "t"),
            (Type::BYTEA, vec![0xde, 0x01], "\\xde01"),
            (Type::JSONB, b"\x01{}".to_vec(), "{}"),
            (Type::UUID, (0..16).collect(), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
            (Type::DATE, 1_i32.to_be_bytes().to_vec(), "2000-01-02"),
            (Type::TIMESTAMP, at.to_be_bytes().to_vec(), "2000-01-01 00:00:01.5"),
            (Type::TIME, 3_661_000_000_i64.to_be_bytes().to_vec(), "01:01:01"),
            (Type::INET, vec![2, 32, 0, 4, 10, 0, 0, 1], "10.0.0.1"),
        ] {
            assert_eq!(text(&of, &raw).as_deref(), Some(expected));
        }
        let list = [
            &1_i32.to_be_bytes()[..],
            &[0; 8],
            &3_i32.to_be_bytes(),
            &1_i32.to_be_bytes(),
            &3_i32.to_be_bytes(),
            b"a b",
            &(-1_i32).to_be_bytes(),
            &0_i32.to_be_bytes(),
        ]
        .concat();
        assert_eq!(text(&Type::TEXT_ARRAY, &list).as_deref(), Some("{\"a b\",NULL,\"\"}"));
        for end in 0..list.len() {
            assert_eq!(text(&Type::TEXT_ARRAY, &list[..end]), None);
        }
        assert_eq!(argument(23, &5_i32.to_be_bytes()), Some(Argument::Int(5)));
        assert_eq!(argument(25, b"5"), Some(Argument::Text("5".to_owned())));
        assert_eq!(argument(99_999, b"5"), None);
    }
}
