//! Values of the same form: digits become digits, letters letters of the same case, and everything else stays. Dates
//! become dates, times times, UUIDs UUIDs; of JSON and arrays, only the values change. Zones of times stay.
//!
//! Letters and digits beyond ASCII become others of their kind in the same block of 256 code points, so that texts keep
//! their script. One that is alone in its block becomes one of ASCII; only then, two texts may become one.
//!
//! The characters that change are a number whose places have different bases. A Feistel network with a keyed hash
//! (SipHash-2-4) permutes all numbers of such places. Where only some of them are of the form, such as numbers without a
//! zero at their beginning, the permutation is repeated until it returns one of them.

use std::collections::HashMap;
use std::hash::Hasher as _;
use std::ops::Range;

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
/// Code points of ASCII.
const ASCII: Range<u32> = 0..0x80;
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
        let mut alphabets = Alphabets { is_hex, known: HashMap::new() };
        let mut hasher = self.hasher;
        let (mut places, mut bases) = (Vec::new(), Vec::new());
        for c in text.chars() {
            let Some(alphabet) = alphabets.of(c) else { continue };
            let place = alphabet.binary_search(&c).unwrap_or_else(|_| {
                // It is not one of those that it may become: it chooses the permutation.
                hasher.write_u32(u32::from(c));
                u32::from(c) as usize % alphabet.len()
            });
            places.push(u32::try_from(place).unwrap_or_default());
            bases.push(u32::try_from(alphabet.len()).unwrap_or(1));
        }
        self.permute(&bases, hasher.finish(), &mut places);
        let mut places = places.into_iter();
        let other = |c: char| match alphabets.of(c) {
            Some(alphabet) => alphabet[places.next().unwrap_or_default() as usize],
            None => c,
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
        let number = |at: usize| -> Option<u32> {
            text.get(at..at + 2).filter(|pair| after_pair(pair).is_some())?.parse().ok()
        };
        let (hour, minute, second) = (number(0)?, number(3)?, number(6)?);
        let is_form = text.as_bytes()[2] == b':' && text.as_bytes()[5] == b':';
        let seconds = (hour * 60 + minute) * 60 + second;
        if !is_form || seconds >= DAY_SECONDS || minute > 59 || second > 59 {
            return None;
        }
        let rest = &text[8..];
        let end = fraction(rest)?;
        let seconds = self.below(DAY_SECONDS, 2, seconds);
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
            let masked = match inner {
                inner if is_null => inner.to_owned(),
                // Lists within lists are not read: their depth has no limit.
                inner if inner.starts_with(['{', '[']) => self.characters(inner, false),
                inner => self.text(inner),
            };
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

/// A kind of characters that become each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    Hex,
    UpperHex,
    Digit,
    Upper,
    Lower,
    Letter,
}

impl Class {
    /// The class of a character; `None` if it stays.
    fn of(c: char, is_hex: bool) -> Option<Self> {
        let hex = [Self::Hex, Self::UpperHex].into_iter().filter(|_| is_hex);
        let mut all = hex.chain([Self::Digit, Self::Upper, Self::Lower, Self::Letter]);
        all.find(|class| class.has(c))
    }

    fn has(self, c: char) -> bool {
        match self {
            Self::Hex => c.is_ascii_hexdigit() && !c.is_ascii_uppercase(),
            Self::UpperHex => c.is_ascii_hexdigit() && !c.is_ascii_lowercase(),
            Self::Digit => c.is_numeric(),
            Self::Upper => c.is_uppercase() && !c.is_numeric(),
            Self::Lower => c.is_lowercase() && !c.is_numeric(),
            Self::Letter => {
                c.is_alphabetic() && !c.is_numeric() && !c.is_uppercase() && !c.is_lowercase()
            }
        }
    }

    /// Its characters within a range of code points, in order.
    fn within(self, range: Range<u32>) -> Vec<char> {
        range.filter_map(char::from_u32).filter(|c| self.has(*c)).collect()
    }
}

/// What the characters of a text may become.
struct Alphabets {
    is_hex: bool,
    /// By the first code point of their block.
    known: HashMap<(u32, Class), Vec<char>>,
}

impl Alphabets {
    /// What a character may become, in order; `None` if it stays.
    fn of(&mut self, c: char) -> Option<&[char]> {
        let class = Class::of(c, self.is_hex)?;
        let block = u32::from(c) & !0xff;
        let range = if c.is_ascii() { ASCII } else { block.max(ASCII.end)..block + 0x100 };
        let alphabet = self.known.entry((range.start, class)).or_insert_with(|| {
            let found = class.within(range);
            match class {
                _ if found.len() > 1 => found,
                Class::Letter => Class::Lower.within(ASCII),
                class => class.within(ASCII),
            }
        });
        Some(alphabet)
    }
}

/// The length of the fraction in the rest of a time, such as `.250+02:00`; `None` if it is something else.
fn fraction(rest: &str) -> Option<usize> {
    let zone = match rest.strip_prefix('.') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            digits.trim_start_matches(|c: char| c.is_ascii_digit())
        }
        _ => rest,
    };
    let is_zone = match zone.strip_prefix(['+', '-']) {
        Some(hours) => {
            let mut left = after_pair(hours)?;
            for _ in 0..2 {
                left = after_pair(left.strip_prefix(':').unwrap_or(left)).unwrap_or(left);
            }
            left.is_empty()
        }
        None => matches!(zone, "" | "Z"),
    };
    is_zone.then(|| rest.len() - zone.len())
}

/// What follows two digits.
fn after_pair(text: &str) -> Option<&str> {
    let (pair, rest) = text.split_at_checked(2)?;
    pair.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
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
        for zone in ["Z", "-0330", "+05:30:15", ""] {
            assert!(permutation.text(&format!("12:00:01{zone}")).ends_with(zone));
        }
        for rest in [" - Ann Smith", "Z Ann", "+02 Ann", "-Ann", "+1", ".+Ann", "+02:00:00:00"] {
            for time in ["2026-01-31 12:00:01", "12:00:01"] {
                let found = permutation.text(&format!("{time}{rest}"));
                assert!(!found.contains("Ann") && !found.ends_with(rest), "{found}");
            }
        }
    }

    #[test]
    fn characters_beyond_ascii_are_permuted_within_their_block() {
        let permutation = permutation();
        for range in ['а'..='я', 'А'..='Я', '٠'..='٩', '一'..='丿', 'à'..='ö'] {
            let found: std::collections::BTreeSet<String> =
                range.clone().map(|c| permutation.text(&c.to_string())).collect();
            assert_eq!(found.len(), range.clone().count(), "{range:?}");
            let block = |c: char| u32::from(c) >> 8;
            let is_kept = |text: &String| text.chars().all(|c| block(c) == block(*range.start()));
            assert!(found.iter().all(is_kept), "{found:?}");
        }
        for text in ["٠١٢٣٤٥٦", "Анна Смит", "王小明", "½²Ⅷ"] {
            let found = permutation.text(text);
            let same = found.chars().zip(text.chars()).filter(|(a, b)| a == b && *a != ' ');
            assert!(same.count() < 3 && found != text, "{found}");
            assert_eq!(found.len(), text.len());
        }
    }

    #[test]
    fn the_depth_of_lists_has_no_limit() {
        let deep = format!("{}Ann{}", "{".repeat(200_000), "}".repeat(200_000));
        let found = permutation().text(&deep);
        assert!(found.len() == deep.len() && !found.contains("Ann"));
        let found = permutation().text(&"{\"".repeat(200_000));
        assert_eq!(found.len(), 400_000);
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
