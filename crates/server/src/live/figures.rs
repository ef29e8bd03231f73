//! Declared metrics in live events: fields of the enclosing object, by their live names.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use triphammer_document::metrics::Values;

/// Metrics of a second, or of a transaction type in a second.
#[derive(Clone, Debug)]
pub struct Figures(pub Values);

/// Writes a JSON number; whole numbers without a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and smaller than 2^53")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl Figures {
    fn members(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        self.0.iter().filter_map(|(metric, value)| {
            Some((metric.live?, value.or(metric.zero.then_some(0.0))))
        })
    }
}

impl PartialEq for Figures {
    fn eq(&self, other: &Self) -> bool {
        self.members().eq(other.members())
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.members() {
            map.serialize_entry(name, &value.map(Number))?;
        }
        map.end()
    }
}
