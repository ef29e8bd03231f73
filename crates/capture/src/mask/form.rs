//! Values of the same form: digits become digits, letters letters of the same case, and everything else stays. Dates
//! become dates, times times, UUIDs UUIDs; of JSON and arrays, only the values change.
//!
//! The characters that change are a number whose places have different bases. A Feistel network with a keyed hash
//! (SipHash-2-4) permutes all numbers of such places. Where only some of them are of the form, such as numbers without a
//! zero at their beginning, the permutation is repeated until it returns one of them.

use std::hash::Hasher as _;

use serde_json::Value;
use siphasher::sip::SipHasher24;
use triphammer_core::Date;

/// Rounds of the network; each half is changed half as often.
const ROUNDS: u64 = 10;
/// Days from 1970-01-01 to 1900-01-01, and from there to 2099-12-31: dates become dates of this time.
const FIRST_DAY: i32 = -25_567;
const DAYS: u32 = 73_049;
const DAY_SECONDS: u32 = 86_400;
/// Digits of a number of days, or of seconds of a day.
const DAY_DIGITS: usize = 5;
/// Most repetitions; one in two or more is of the form, so that this is never reached.
const REPEATED_MAX: u32 = 10_000;
/// Texts that stay: there is no other value of their form.
const WORDS: [&str; 4] = ["t", "f", "true", "false"];

/// A permutation of values.
#[derive(Debug)]
pub struct Permutation {
    hasher: SipHasher24,
}

impl Permutation {
    /// The one of a key.
    pub fn new(key: [u8; 16]) -> Self {
        Self { hasher: SipHasher24::new_with_key(&key) }
    }

    /// Permutes the numbers whose places have these bases; `apart` tells permutations apart.
    fn permute(&self, bases: &[u32], apart: u64, places: &mut [u32]) {
        let middle = places.len() / 2;
        for round in 0..ROUNDS {
            let (left, right) = places.split_at_mut(middle);
            let (changed, from, bases) = match round % 2 {
                0 => (right, left, &bases[middle..]),
                _ => (left, right, &bases[..middle]),
            };
            let mut hasher = self.hasher;
            hasher.write_u64(apart);
            hasher.write_u64(round);
            hasher.write_u64(bases.len() as u64);
            from.iter().for_each(|place| hasher.write_u32(*place));
            for (at, (place, base)) in changed.iter_mut().zip(bases).enumerate() {
                let mut of_place = hasher;
                of_place.write_u64(at as u64);
                let shift = of_place.finish() % u64::from(*base);
                *place = u32::try_from((u64::from(*place) + shift) % u64::from(*base)).unwrap_or(0);
            }
        }
    }

    /// Permutes the numbers below a limit.
    fn below(&self, limit: u32, apart: u64, number: u32) -> u32 {
        let (bases, mut found) = ([10; DAY_DIGITS], number);
        for _ in 0..REPEATED_MAX {
            let mut places = [0; DAY_DIGITS];
            for place in places.iter_mut().rev() {
                (*place, found) = (found % 10, found / 10);
            }
            self.permute(&bases, apart, &mut places);
            found = places.iter().fold(0, |sum, place| sum * 10 + place);
            if found < limit {
                return found;
            }
        }
        number
    }

    /// Another integer with the same sign and as many digits.
    pub fn integer(&self, number: i64) -> i64 {
        let sign = if number < 0 { "-" } else { "" };
        let mut digits = number.unsigned_abs().to_string();
        for _ in 0..REPEATED_MAX {
            digits = self.characters(&digits, false);
            let is_whole = digits.len() == 1 || !digits.starts_with('0');
            if let (true, Ok(found)) = (is_whole, format!("{sign}{digits}").parse()) {
                return found;
            }
        }
        number
    }

    /// Another text of the same form.
    pub fn text(&self, text: &str) -> String {
        if WORDS.contains(&text.to_ascii_lowercase().as_str()) {
            return text.to_owned();
        }
        if let Some(number) = text.parse().ok().filter(|number: &i64| number.to_string() == text) {
            return self.integer(number).to_string();
        }
        let special = self.moment(text).or_else(|| self.listed(text));
        special.unwrap_or_else(|| match text.strip_prefix("\\x") {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                format!("\\x{}", self.hex(digits))
            }
            _ => self.characters(text, is_uuid(text)),
        })
    }

    /// Other hexadecimal digits.
    pub fn hex(&self, digits: &str) -> String {
        self.characters(digits, true)
    }

    /// Permutes the characters of a text; letters up to f may be digits.
    fn characters(&self, text: &str, is_hex: bool) -> String {
        let mut hasher = self.hasher;
        let (mut places, mut bases) = (Vec::new(), Vec::new());
        for c in text.chars() {
            let (place, base) = match c {
                c if is_hex && c.is_ascii_hexdigit() => (c.to_digit(16).unwrap_or(0), 16),
                '0'..='9' => (u32::from(c) - u32::from('0'), 10),
                'a'..='z' => (u32::from(c) - u32::from('a'), 26),
                'A'..='Z' => (u32::from(c) - u32::from('A'), 26),
                c if c.is_alphabetic() => {
                    // There are too many to permute them: they choose the permutation.
                    hasher.write_u32(u32::from(c));
                    (u32::from(c) % 26, 26)
                }
                _ => continue,
            };
            places.push(place);
            bases.push(base);
        }
        self.permute(&bases, hasher.finish(), &mut places);
        let mut places = places.into_iter();
        let mut next = |first: char| {
            let place = places.next().unwrap_or_default();
            char::from_u32(u32::from(first) + place).unwrap_or(first)
        };
        let other = |c: char| match c {
            c if is_hex && c.is_ascii_hexdigit() => {
                let digit = char::from_digit(u32::from(next('\0')), 16).unwrap_or('0');
                if c.is_ascii_uppercase() { digit.to_ascii_uppercase() } else { digit }
            }
            '0'..='9' => next('0'),
            'A'..='Z' => next('A'),
            c if c.is_uppercase() => next('A'),
            c if c.is_alphabetic() => next('a'),
            c => c,
        };
        text.chars().map(other).collect()
    }

    /// A date, a time, or both, for one of these.
    fn moment(&self, text: &str) -> Option<String> {
        let is_date = |text: &str| {
            let bytes = text.as_bytes();
            bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-'
        };
        let Some(date) = text.get(..10).filter(|date| is_date(date)) else {
            return self.time(text);
        };
        let day = Date::parse(date)?.0.checked_sub(FIRST_DAY)?;
        let day = u32::try_from(day).ok().filter(|day| *day < DAYS)?;
        let day = i32::try_from(self.below(DAYS, 1, day)).ok()?.checked_add(FIRST_DAY)?;
        let rest = &text[10..];
        let rest = match rest.strip_prefix([' ', 'T']) {
            Some(time) => format!("{}{}", &rest[..1], self.time(time)?),
            None if rest.is_empty() => String::new(),
            None => return None,
        };
        Some(format!("{}{rest}", Date(day).civil()?))
    }

    /// `12:00:01.5+02`, of which the zone stays.
    fn time(&self, text: &str) -> Option<String> {
        let number = |at: usize| -> Option<u32> { text.get(at..at + 2)?.parse().ok() };
        let (hour, minute, second) = (number(0)?, number(3)?, number(6)?);
        let is_form = text.as_bytes()[2] == b':' && text.as_bytes()[5] == b':';
        let seconds = (hour * 60 + minute) * 60 + second;
        if !is_form || seconds >= DAY_SECONDS || minute > 59 || second > 59 {
            return None;
        }
        let seconds = self.below(DAY_SECONDS, 2, seconds);
        let rest = &text[8..];
        let end = rest.find(['+', '-', 'Z']).unwrap_or(rest.len());
        let (hour, minute) = (seconds / 3600, seconds / 60 % 60);
        let fraction = self.characters(&rest[..end], false);
        Some(format!("{hour:02}:{minute:02}:{:02}{fraction}{}", seconds % 60, &rest[end..]))
    }

    /// JSON, or an array of PostgreSQL, with other values.
    fn listed(&self, text: &str) -> Option<String> {
        if !text.starts_with(['{', '[']) {
            return None;
        }
        if let Ok(mut value) = serde_json::from_str(text) {
            self.json(&mut value);
            return Some(value.to_string());
        }
        let elements = text.strip_prefix('{')?.strip_suffix('}')?;
        // A separator within quotes makes an element of its own: what is in it is masked, too.
        let other = |element: &str| {
            let inner = element.trim_matches('"');
            let is_null = element.eq_ignore_ascii_case("null");
            let masked = if is_null { inner.to_owned() } else { self.text(inner) };
            element.replacen(inner, &masked, usize::from(!inner.is_empty()))
        };
        let elements: Vec<String> = elements.split(',').map(other).collect();
        Some(format!("{{{}}}", elements.join(",")))
    }

    fn json(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let text = self.text(&number.to_string());
                *number = text.parse().unwrap_or_else(|_| 0.into());
            }
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.json(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.json(value)),
        }
    }
}

fn is_uuid(text: &str) -> bool {
    let is_dash = |place: usize| matches!(place, 8 | 13 | 18 | 23);
    let fits = |(place, c): (usize, char)| match is_dash(place) {
        true => c == '-',
        false => c.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.chars().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permutation() -> Permutation {
        Permutation::new(*b"0123456789abcdef")
    }

    #[test]
    fn integers_are_permuted_and_keep_their_number_of_digits() {
        let permutation = permutation();
        for range in [0..10, 10..100, 100..1000_i64] {
            let found: std::collections::BTreeSet<i64> =
                range.clone().map(|number| permutation.integer(number)).collect();
            assert!(found.into_iter().eq(range.clone()), "{range:?}");
        }
        for number in [i64::MAX, i64::MIN, -1, 1_000_000_007] {
            let found = permutation.integer(number);
            assert_eq!(found.to_string().len(), number.to_string().len());
            assert_eq!(permutation.text(&number.to_string()), found.to_string());
        }
    }

    #[test]
    fn texts_keep_their_form() {
        let permutation = permutation();
        let form = |text: &str| -> String {
            let of = |c: char| match c {
                '0'..='9' => '0',
                c if c.is_uppercase() => 'A',
                c if c.is_alphabetic() => 'a',
                c => c,
            };
            text.chars().map(of).collect()
        };
        for text in
            ["Ann Müller-Lüdenscheidt", "ann@example.org", "+49 30 1234567", "007", "1.50", "ÄÖÜ"]
        {
            let found = permutation.text(text);
            assert_ne!(found, text);
            assert_eq!(form(&found), form(text), "{found}");
            assert_eq!(permutation.text(text), found);
        }
        for same in ["", "t", "TRUE", "-- ,"] {
            assert_eq!(permutation.text(same), same);
        }
        assert_ne!(Permutation::new([1; 16]).text("Anna Maria"), permutation.text("Anna Maria"));
    }

    #[test]
    fn moments_stay_moments() {
        let permutation = permutation();
        let days = || (0..400).map(|day| Date(10_000 + day).civil().unwrap().to_string());
        let found: std::collections::BTreeSet<String> =
            days().map(|day| permutation.text(&day)).collect();
        assert_eq!(found.len(), 400);
        assert!(found.iter().all(|day| Date::parse(day).is_some()));
        let moment = permutation.text("2026-01-31 12:00:01.250+02");
        assert!(triphammer_core::Timestamp::parse(&moment[..23]).is_some(), "{moment}");
        assert!(moment.ends_with("+02") && moment.len() == 26, "{moment}");
        assert_eq!(moment[..10], permutation.text("2026-01-31"));
    }

    #[test]
    fn values_within_others_are_masked_as_alone() {
        let permutation = permutation();
        let (name, number) = (permutation.text("Anna"), permutation.integer(12_345));
        assert_eq!(
            permutation.text("{\"name\": [\"Anna\", 12345, null, true]}"),
            format!("{{\"name\":[\"{name}\",{number},null,true]}}")
        );
        assert_eq!(
            permutation.text("{Anna,\"Anna\",12345,NULL}"),
            format!("{{{name},\"{name}\",{number},NULL}}")
        );
        let id = permutation.text("00010203-0405-0607-0809-0a0b0c0d0e0f");
        assert!(is_uuid(&id) && id != "00010203-0405-0607-0809-0a0b0c0d0e0f");
        let bytes = permutation.text("\\xdeadbeef");
        assert!(bytes.starts_with("\\x") && bytes.len() == 10 && bytes != "\\xdeadbeef");
    }
}
