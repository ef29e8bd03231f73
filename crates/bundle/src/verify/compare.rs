//! Compares documents and texts value by value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::Findings;

/// Numbers that differ by less than this share of them are equal: the last digits of a computation
/// may differ between processors.
pub(super) const ROUNDING: f64 = 1e-12;

/// A place at which two documents differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The place: `window.total.completed`.
    pub place: String,
    /// What is written there.
    pub written: String,
    /// What was found.
    pub found: String,
    /// Which of the documents has such a member.
    pub known: Known,
}

/// Which of two documents has a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Both.
    Both,
    /// Only the written one.
    WrittenOnly,
    /// Only the one that was found.
    FoundOnly,
}

/// The places at which two documents differ.
pub(crate) fn json(written: &Value, found: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    walk(&mut String::new(), Some(written), Some(found), &mut differences);
    differences
}

/// Number of values of a document.
pub(crate) fn leaves(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(leaves).sum(),
        Value::Object(members) => members.values().map(leaves).sum(),
        _ => 1,
    }
}

/// Number of values of a JSON text, without a document in memory; 0 if it is none.
pub(super) fn leaves_in(text: &str) -> u64 {
    serde_json::from_str(text).map_or(0, |Leaves(count)| count)
}

/// The number of values of a document.
struct Leaves(u64);

impl<'de> Deserialize<'de> for Leaves {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(LeavesVisitor).map(Self)
    }
}

struct LeavesVisitor;

impl<'de> Visitor<'de> for LeavesVisitor {
    type Value = u64;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_bool<E>(self, _: bool) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_i64<E>(self, _: i64) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_u64<E>(self, _: u64) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_f64<E>(self, _: f64) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_str<E>(self, _: &str) -> Result<u64, E> {
        Ok(1)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut sum = 0;
        while let Some(Leaves(count)) = items.next_element()? {
            sum += count;
        }
        Ok(sum)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        let mut sum = 0;
        while let Some((IgnoredAny, Leaves(count))) = members.next_entry()? {
            sum += count;
        }
        Ok(sum)
    }
}

fn walk(
    path: &mut String,
    written: Option<&Value>,
    found: Option<&Value>,
    differences: &mut Vec<Difference>,
) {
    let length = path.len();
    match (written, found) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let more = b.keys().filter(|name| !a.contains_key(*name));
            for name in a.keys().chain(more) {
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{dot}{name}"));
                walk(path, a.get(name), b.get(name), differences);
                path.truncate(length);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for place in 0..a.len().max(b.len()) {
                path.push_str(&format!("[{place}]"));
                walk(path, a.get(place), b.get(place), differences);
                path.truncate(length);
            }
        }
        (Some(a), Some(b)) if equal(a, b) => {}
        (a, b) => {
            let text = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
            // The length of a list is a value.
            let known = match (a, b) {
                (Some(_), None) if !path.ends_with(']') => Known::WrittenOnly,
                (None, Some(_)) if !path.ends_with(']') => Known::FoundOnly,
                _ => Known::Both,
            };
            let (place, written, found) = (path.clone(), text(a), text(b));
            differences.push(Difference { place, written, found, known });
        }
    }
}

fn equal(a: &Value, b: &Value) -> bool {
    let (Value::Number(x), Value::Number(y)) = (a, b) else { return a == b };
    if x == y {
        return true;
    }
    // Whole numbers are exact.
    if (x.is_i64() || x.is_u64()) && (y.is_i64() || y.is_u64()) {
        return false;
    }
    match (x.as_f64(), y.as_f64()) {
        (Some(x), Some(y)) => (x - y).abs() <= ROUNDING * x.abs().max(y.abs()),
        _ => false,
    }
}

/// The place at which a JSON text differs from another one of the same form, in bytes; `None` if they
/// are the same text, but for the last digits of numbers. Members that are named twice, unknown, or
/// in another order are differences that a comparison of the values would not show.
pub(super) fn text_differs(written: &str, found: &str) -> Option<usize> {
    if written == found {
        return None;
    }
    let (mut a, mut b) = (written, found);
    loop {
        let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
        if same == a.len() && same == b.len() {
            return None;
        }
        let is_digit = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let digits = a.as_bytes()[..same].iter().rev().take_while(|byte| is_digit(byte)).count();
        let begin = same - digits;
        let at = written.len() - a.len() + begin;
        let number = |text: &str| {
            let rest = text.get(begin..)?;
            let end = rest.bytes().position(|byte| !is_digit(&byte)).unwrap_or(rest.len());
            Some((serde_json::from_str::<Value>(&rest[..end]).ok()?, end))
        };
        let (Some((x, end_a)), Some((y, end_b))) = (number(a), number(b)) else { return Some(at) };
        if !equal(&x, &y) {
            return Some(at);
        }
        (a, b) = (&a[begin + end_a..], &b[begin + end_b..]);
    }
}

/// A part of a text around a place.
pub(super) fn around(text: &str, place: usize) -> String {
    let bytes = text.as_bytes();
    let (from, to) = (place.saturating_sub(20).min(bytes.len()), bytes.len().min(place + 40));
    String::from_utf8_lossy(&bytes[from..to]).into_owned()
}

/// Compares two texts line by line.
pub(super) fn lines(what: &str, part: &str, [written, found]: [&str; 2], findings: &mut Findings) {
    let (mut a, mut b) = (written.lines(), found.lines());
    let mut number = 0_u64;
    let before = findings.count;
    loop {
        number += 1;
        match (a.next(), b.next()) {
            (None, None) => break,
            (a, b) if a == b => findings.agrees(what, 1),
            (a, b) => {
                let text = |line: Option<&str>| line.unwrap_or("nothing").trim().to_owned();
                findings.differs(part, &format!("line {number}"), &text(a), &text(b));
            }
        }
    }
    if findings.count == before && written != found {
        findings.differs(part, "line ends", "others", "those of this program");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_have_their_path_and_both_values() {
        let a = json!({"a": {"b": [1, 2.5, "x"]}, "c": 1.0, "only": null});
        let b = json!({"a": {"b": [1, 2.6]}, "c": 1.000_000_000_000_000_2, "more": 7});
        let found = json_texts(&a, &b);
        let expected = [
            "a.b[1]: 2.5, 2.6",
            "a.b[2]: \"x\", nothing",
            "only: null, nothing",
            "more: nothing, 7",
        ];
        assert_eq!(found, expected);
        assert_eq!(leaves(&a), 5);
        assert_eq!(leaves_in(&a.to_string()), 5);
        assert_eq!(leaves_in("{\"a\":[-1,true"), 0);
    }

    #[test]
    fn texts_differ_by_more_than_the_last_digits_of_numbers() {
        let differs = |a: &str, b: &str| text_differs(a, b);
        assert_eq!(differs(r#"{"a":0.30000000000000004,"b":1}"#, r#"{"a":0.3,"b":1}"#), None);
        assert_eq!(differs(r#"{"a":1.5,"a":1.5}"#, r#"{"a":1.5}"#), Some(8));
        assert_eq!(differs(r#"{"a":12}"#, r#"{"a":13}"#), Some(5));
        assert_eq!(differs(r#"{"a":1e3}"#, r#"{"a":1000.0}"#), None);
        assert_eq!(differs("", "{}"), Some(0));
    }

    #[test]
    fn whole_numbers_are_exact() {
        let (a, b) = (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64));
        assert_eq!(json(&a, &b).len(), 1);
    }

    fn json_texts(a: &Value, b: &Value) -> Vec<String> {
        let text = |of: Difference| format!("{}: {}, {}", of.place, of.written, of.found);
        json(a, b).into_iter().map(text).collect()
    }
}
