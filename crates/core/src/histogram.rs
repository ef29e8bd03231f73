//! Encodes a histogram of microseconds for another process: HdrHistogram's V2 encoding, deflated,
//! in base64, as in its interval logs. Text and binary formats carry the same string, and a type
//! without events in a second costs a null.

use std::cell::RefCell;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, CompressError, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// The recorded values in µs with their counts, ascending: only a few of a histogram's thousands of buckets.
#[must_use]
pub fn recorded(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded.map(|seen| (seen.value_iterated_to(), seen.count_at_value())).collect()
}

/// Sorts the recorded values of several histograms, and adds up the counts of equal ones.
pub fn merge_recorded(values: &mut Vec<(u64, u64)>) {
    // Stable, because that is fast where parts are in order.
    values.sort();
    values.dedup_by(|later, first| {
        let is_same = later.0 == first.0;
        first.1 += u64::from(is_same) * later.1;
        is_same
    });
}

/// For `#[serde(with = "…")]` on an optional histogram.
pub mod optional {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Serialize};

    use super::{Histogram, decode, encode};

    /// Writes the histogram as text.
    ///
    /// # Errors
    /// When it counts more than the encoding can express.
    pub fn serialize<S: serde::Serializer>(
        histogram: &Option<Histogram<u64>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let encoded = histogram.as_ref().map(encode).transpose();
        encoded.map_err(S::Error::custom)?.serialize(to)
    }

    /// Reads what [`serialize`] wrote.
    ///
    /// # Errors
    /// When it is not a histogram.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Histogram<u64>>, D::Error> {
        let encoded = Option::<String>::deserialize(from)?;
        encoded.as_deref().map(decode).transpose().map_err(D::Error::custom)
    }
}

/// For `#[serde(with = "…")]` on a histogram that is always there.
pub mod required {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Serialize};

    use super::{Histogram, decode, encode};

    /// Writes the histogram as text.
    ///
    /// # Errors
    /// When it counts more than the encoding can express.
    pub fn serialize<S: serde::Serializer>(
        histogram: &Histogram<u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        encode(histogram).map_err(S::Error::custom)?.serialize(to)
    }

    /// Reads what [`serialize`] wrote.
    ///
    /// # Errors
    /// When it is not a histogram.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Histogram<u64>, D::Error> {
        decode(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Greatest number of values in a histogram of another process: more than any second has, and so few
/// that the sums of a year stay below 2^63, which the encoding can express.
const VALUES_MAX: u64 = 1 << 36;

/// Bytes that a zlib stream has beside what it compresses, more or less.
const ROOM: usize = 64;

/// The first four bytes of a deflated histogram, big-endian (HdrHistogram, `V2CompressedEncodingCookieBase` and
/// the bit that V2 sets).
const COOKIE: u32 = 0x1c84_9304 | 0x10;

thread_local! {
    /// The state of the compressor is larger than a histogram: kept, it costs a third.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::default(), true));
}

fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let failed = |error: String| format!("encoding a histogram: {error}");
    let mut counts = Vec::new();
    let encoded = V2Serializer::new().serialize(histogram, &mut counts);
    encoded.map_err(|error| failed(error.to_string()))?;
    let deflated = DEFLATE.with_borrow_mut(|deflate| deflated(deflate, &counts));
    Ok(STANDARD.encode(deflated.map_err(|error| failed(error.to_string()))?))
}

/// Deflates an encoded histogram as `V2DeflateSerializer` does: cookie, length, zlib stream.
fn deflated(deflate: &mut Compress, counts: &[u8]) -> Result<Vec<u8>, CompressError> {
    deflate.reset();
    let mut stream = Vec::new();
    let mut taken = 0;
    loop {
        stream.reserve(counts.len() - taken + ROOM);
        let status = deflate.compress_vec(&counts[taken..], &mut stream, FlushCompress::Finish)?;
        taken = usize::try_from(deflate.total_in()).expect("no more than was given");
        if status == Status::StreamEnd {
            break;
        }
    }
    let length = u32::try_from(stream.len()).expect("a histogram has at most some megabytes");
    Ok([&COOKIE.to_be_bytes()[..], &length.to_be_bytes(), &stream].concat())
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("invalid histogram: {error}"))?;
    let decoded = Deserializer::new().deserialize(&mut &*bytes);
    let mut histogram: Histogram<u64> =
        decoded.map_err(|error| format!("invalid histogram: {error}"))?;
    if histogram.len() > VALUES_MAX {
        return Err(format!("invalid histogram: {} values", histogram.len()));
    }
    histogram.auto(true);
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::V2DeflateSerializer;

    use super::*;
    use crate::recorder::histogram;

    #[test]
    fn the_encoding_is_that_of_hdrhistogram_and_is_read_back() {
        let mut seen = histogram();
        for us in [0, 1, 900, 1_000_000, 3_599_000_000] {
            for round in 1..40 {
                seen.record_n(us / round, round).unwrap();
                let mut expected = Vec::new();
                V2DeflateSerializer::new().serialize(&seen, &mut expected).unwrap();
                let text = encode(&seen).unwrap();
                assert_eq!(text, STANDARD.encode(expected));
                assert_eq!(decode(&text).unwrap(), seen);
            }
        }
    }
}
