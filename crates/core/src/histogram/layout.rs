//! HdrHistogram's V2 encoding of histograms with our bounds, read and written without a histogram of thousands of
//! counts: a head, then the counts of all places up to the longest time; runs of zeros are one number.
//!
//! Source: the format of HdrHistogram's `V2EncodingCookieBase`, as the crate hdrhistogram writes it.

use std::ops::Range;
use std::sync::LazyLock;

use hdrhistogram::serialization::{Serializer, V2Serializer};

use super::bounds;

/// Bytes before the counts; those at [`LENGTH_BYTES`] and [`HIGHEST_BYTES`] vary.
const HEAD_BYTES: usize = 40;
/// Position of the length of the counts.
const LENGTH_BYTES: Range<usize> = 4..8;
/// Position of the upper bound, which grows with the times.
const HIGHEST_BYTES: Range<usize> = 24..32;
/// Most bytes of a number.
const NUMBER_BYTES: usize = 9;

/// What all histograms with our bounds share.
struct Layout {
    /// An encoded empty histogram: cookie, length of the counts, bounds.
    head: Vec<u8>,
    /// The time of each place, in µs.
    times: Vec<u64>,
}

static OURS: LazyLock<Layout> = LazyLock::new(|| {
    let mut head = Vec::new();
    let serialized = V2Serializer::new().serialize(&bounds::histogram(), &mut head);
    serialized.expect("a vector takes every byte");
    head.truncate(HEAD_BYTES);
    // The place of a time is the same, however far a histogram has grown.
    let mut grown = bounds::histogram();
    grown.record(bounds::HIGHEST_US).expect("these histograms grow up to this");
    Layout { head, times: grown.iter_all().map(|value| value.value_iterated_to()).collect() }
});

/// The longest time of each place of a histogram, in µs, ascending.
pub fn times() -> &'static [u64] {
    &OURS.times
}

/// The encoded counts of an encoded histogram; `None` if it has other bounds.
#[must_use]
pub fn counts_of(encoded: &[u8]) -> Option<&[u8]> {
    let (head, counts) = encoded.split_at_checked(HEAD_BYTES)?;
    let same = |part: Range<usize>| head[part.clone()] == OURS.head[part];
    let fixed = [
        0..LENGTH_BYTES.start,
        LENGTH_BYTES.end..HIGHEST_BYTES.start,
        HIGHEST_BYTES.end..HEAD_BYTES,
    ];
    fixed.into_iter().all(same).then_some(counts)
}

/// The upper bound that an encoded histogram states, in µs. That is the longest time of its thread so far, not
/// only of these counts.
///
/// # Errors
/// Says why it cannot be one that this program wrote: its head states another length of its counts, or an upper
/// bound that no run has.
pub fn check_head(encoded: &[u8]) -> Result<u64, &'static str> {
    let counts = counts_of(encoded).ok_or("is not a histogram of times in microseconds")?;
    let length = u32::try_from(counts.len()).map(u32::to_be_bytes);
    if length.is_ok_and(|length| encoded[LENGTH_BYTES] != length) {
        return Err("states another length of its counts");
    }
    let bound = encoded[HIGHEST_BYTES].try_into().map(u64::from_be_bytes);
    let bound = bound.map_err(|_| "ends within its head")?;
    (bound <= bounds::HIGHEST_US)
        .then_some(bound)
        .ok_or("states an upper bound to which no histogram grows")
}

/// The longest time in µs that a histogram with this upper bound counts without growing: it has room for the next power of
/// two.
pub(super) fn longest(bound: u64) -> u64 {
    bound.saturating_add(1).checked_next_power_of_two().map_or(u64::MAX, |of| of - 1)
}

/// Passes each place of encoded counts to `each`, in ascending order, with its count.
///
/// # Errors
/// When they end within a number, or go beyond the bounds.
pub fn each_place(mut counts: &[u8], mut each: impl FnMut(usize, u64)) -> Result<(), String> {
    let mut place = 0_usize;
    while !counts.is_empty() {
        let number = number(&mut counts).ok_or("it ends within a number")?;
        let Ok(count) = u64::try_from(number) else {
            // A run of zero counts.
            let zeros = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
            place = place.saturating_add(zeros);
            continue;
        };
        if place >= OURS.times.len() {
            return Err("it counts times beyond its bounds".to_owned());
        }
        each(place, count);
        place += 1;
    }
    Ok(())
}

/// Encodes counts by their places, ascending, of a histogram with this upper bound in µs.
pub(super) fn write(counts: impl Iterator<Item = (usize, u64)>, bound: u64) -> Vec<u8> {
    let mut encoded = OURS.head.clone();
    let mut next = 0;
    for (place, count) in counts {
        match place - next {
            0 => {}
            // One zero is a count.
            1 => put(&mut encoded, 0),
            zeros => put(&mut encoded, -i64::try_from(zeros).expect("some thousands")),
        }
        put(&mut encoded, i64::try_from(count).unwrap_or(i64::MAX));
        next = place + 1;
    }
    if next == 0 {
        // The library writes the first count of an empty histogram.
        put(&mut encoded, 0);
    }
    let length = u32::try_from(encoded.len() - HEAD_BYTES).expect("some thousand counts");
    encoded[LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    encoded[HIGHEST_BYTES].copy_from_slice(&bound.to_be_bytes());
    encoded
}

/// Reads a number: seven bits per byte, lowest first, with a full ninth byte; odd numbers are negative.
fn number(bytes: &mut &[u8]) -> Option<i64> {
    // Most have one byte.
    if let Some((byte @ 0..0x80, rest)) = bytes.split_first() {
        *bytes = rest;
        return Some(i64::from(byte >> 1) ^ -i64::from(byte & 1));
    }
    let mut number = 0_u64;
    for at in 0..NUMBER_BYTES {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let more = at + 1 < NUMBER_BYTES && byte & 0x80 != 0;
        number |= u64::from(if more { byte & 0x7f } else { *byte }) << (7 * at);
        if !more {
            break;
        }
    }
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

/// Appends a number as [`number`] reads it.
#[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
fn put(bytes: &mut Vec<u8>, value: i64) {
    let mut number = ((value << 1) ^ (value >> 63)).cast_unsigned();
    for _ in 1..NUMBER_BYTES {
        if number < 0x80 {
            break;
        }
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        for value in
            [0, 1, -1, 63, -64, 64, 1 << 13, 1 << 20, -(1 << 27), 1 << 55, i64::MAX, i64::MIN]
        {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!((number(&mut &*bytes), bytes.len() <= NUMBER_BYTES), (Some(value), true));
        }
    }

    #[test]
    fn a_head_that_states_something_else_is_rejected() {
        let mut encoded = write([(3, 5)].into_iter(), bounds::ROOM_US);
        assert_eq!(check_head(&encoded), Ok(bounds::ROOM_US));
        assert!(check_head(&encoded[..HEAD_BYTES - 1]).is_err());
        encoded[LENGTH_BYTES.start] = 1;
        assert!(check_head(&encoded).is_err());
        let mut endless = write([(3, 5)].into_iter(), u64::MAX);
        assert!(check_head(&endless).is_err());
        endless[0] ^= 1;
        assert!(check_head(&endless).is_err());
    }
}
