//! Encodes a histogram of microseconds as text: HdrHistogram's V2 encoding in base64, which its libraries read. Text
//! and binary formats carry the same string, and a type without events in a second costs a null. It is not deflated:
//! what has many of them is compressed as a whole, or read at once on the same network.

pub mod bounds;
pub mod layout;
mod time_counts;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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

fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut counts = Vec::new();
    let encoded = V2Serializer::new().serialize(histogram, &mut counts);
    encoded.map_err(|error| format!("encoding a histogram: {error}"))?;
    Ok(STANDARD.encode(counts))
}

/// The encoded histogram of a text. It may be a stranger's: its head asks for no more than there is.
fn encoded(text: &str) -> Result<Vec<u8>, String> {
    let encoded = STANDARD.decode(text).map_err(|error| error.to_string())?;
    layout::check_head(&encoded).map_err(|why| format!("it {why}"))?;
    Ok(encoded)
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let failed = |error: String| format!("invalid histogram: {error}");
    let mut histogram = encoded(text).and_then(|encoded| read(&encoded)).map_err(failed)?;
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
    use super::bounds::histogram;
    use super::*;

    #[test]
    fn a_histogram_is_read_back() {
        let mut seen = histogram();
        for us in [0, 1, 900, 1_000_000, 3_599_000_000] {
            for round in 1..40 {
                seen.record_n(us / round, round).unwrap();
                assert_eq!(decode(&encode(&seen).unwrap()).unwrap(), seen);
            }
        }
    }

    #[test]
    fn a_head_that_asks_for_gigabytes_is_rejected_before_anything_is_read() {
        let mut encoded = Vec::new();
        V2Serializer::new().serialize(&histogram(), &mut encoded).unwrap();
        for (at, why) in
            [(4, "another length"), (24, "upper bound"), (15, "not a histogram of times")]
        {
            let mut other = encoded.clone();
            other[at] = 0x7f;
            let error = decode(&STANDARD.encode(other)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
