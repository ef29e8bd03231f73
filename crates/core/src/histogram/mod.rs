//! Encodes a histogram of microseconds for another process: HdrHistogram's V2 encoding, deflated,
//! in base64, as in its interval logs. Text and binary formats carry the same string, and a type
//! without events in a second costs a null.

pub mod layout;
mod time_counts;

use std::cell::RefCell;
use std::io::Read as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use flate2::{Compress, CompressError, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
pub use time_counts::{TimeCounts, merge};

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
    deflated_text(&counts).map_err(failed)
}

/// The text of an encoded histogram.
fn deflated_text(encoded: &[u8]) -> Result<String, String> {
    let deflated = DEFLATE.with_borrow_mut(|deflate| deflated(deflate, encoded));
    Ok(STANDARD.encode(deflated.map_err(|error| error.to_string())?))
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
    Ok([&COOKIE.to_be_bytes()[..], &length_of(&stream), &stream].concat())
}

/// The length that stands before a zlib stream.
fn length_of(stream: &[u8]) -> [u8; 4] {
    u32::try_from(stream.len()).unwrap_or(u32::MAX).to_be_bytes()
}

/// The encoded histogram of a text. It may be a stranger's: it is not unpacked further than a histogram is long.
fn inflated(text: &str) -> Result<Vec<u8>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let (head, stream) = bytes.split_at_checked(8).ok_or("it is too short")?;
    if head[..4] != COOKIE.to_be_bytes() || head[4..] != length_of(stream) {
        return Err("its head is that of no deflated histogram".to_owned());
    }
    let most = layout::bytes_max();
    let mut encoded = Vec::new();
    let limited = ZlibDecoder::new(stream).take(most as u64 + 1).read_to_end(&mut encoded);
    limited.map_err(|error| error.to_string())?;
    match encoded.len() > most {
        true => Err(format!("it has more than any histogram, {most} bytes")),
        false => Ok(encoded),
    }
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let failed = |error: String| format!("invalid histogram: {error}");
    let encoded = inflated(text).map_err(failed)?;
    layout::check_head(&encoded).map_err(|why| failed(format!("it {why}")))?;
    let mut histogram = read(&encoded).map_err(failed)?;
    if histogram.len() > VALUES_MAX {
        return Err(failed(format!("{} values", histogram.len())));
    }
    histogram.auto(true);
    Ok(histogram)
}

/// Decodes a histogram, or returns the reason why that fails. Without [`layout::check_head`], only what this program
/// wrote: a head can ask for gigabytes.
///
/// # Errors
/// Says why it cannot be read.
pub fn read(encoded: &[u8]) -> Result<Histogram<u64>, String> {
    Deserializer::new().deserialize(&mut &*encoded).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::V2DeflateSerializer;

    use super::*;
    use crate::recorder::histogram;

    #[test]
    fn a_head_that_asks_for_gigabytes_is_rejected_before_anything_is_read() {
        let mut encoded = Vec::new();
        V2Serializer::new().serialize(&histogram(), &mut encoded).unwrap();
        for (at, why) in [(4, "another length"), (24, "upper bound"), (15, "not a histogram of times")] {
            let mut other = encoded.clone();
            other[at] = 0x7f;
            let error = decode(&deflated_text(&other).unwrap()).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

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
