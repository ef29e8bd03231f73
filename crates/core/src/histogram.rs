//! Encodes a histogram of microseconds for another process: HdrHistogram's V2 encoding, deflated,
//! in base64, as in its interval logs. Text and binary formats carry the same string, and a type
//! without events in a second costs a null.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

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
    let mut bytes = Vec::new();
    let encoded = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    encoded.map_err(|error| format!("encoding a histogram: {error}"))?;
    Ok(STANDARD.encode(bytes))
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
