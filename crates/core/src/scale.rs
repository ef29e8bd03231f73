//! The scale of a workload's data, in the workload's unit.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number of steps in one unit.
const STEPS: u32 = 1_000;

/// Scale of a workload's data in its unit, with a resolution of a thousandth, so that 0.01 is exact.
/// In documents it is a number: `8` or `0.01`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scale {
    thousandths: u64,
}

impl Scale {
    /// One unit.
    pub const ONE: Self = Self { thousandths: STEPS as u64 };

    /// Makes a scale from thousandths of the unit.
    #[must_use]
    pub const fn from_thousandths(thousandths: u64) -> Self {
        Self { thousandths }
    }

    /// The scale in thousandths of the unit.
    #[must_use]
    pub const fn thousandths(self) -> u64 {
        self.thousandths
    }

    /// The number of units; `None` if it is not an integer or does not fit.
    #[must_use]
    pub fn whole(self) -> Option<u32> {
        let steps = u64::from(STEPS);
        let units = u32::try_from(self.thousandths / steps).ok();
        units.filter(|_| self.thousandths.is_multiple_of(steps))
    }

    /// The number of units, rounded up, for what is sized by the scale.
    #[must_use]
    pub fn rounded_up(self) -> u32 {
        u32::try_from(self.thousandths.div_ceil(STEPS.into())).unwrap_or(u32::MAX)
    }

    /// The scale as floating point.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the nearest to 0.01 is what 0.01 means")]
    pub fn as_f64(self) -> f64 {
        self.thousandths as f64 / f64::from(STEPS)
    }
}

impl From<u32> for Scale {
    fn from(units: u32) -> Self {
        Self { thousandths: u64::from(units) * u64::from(STEPS) }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

impl FromStr for Scale {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
            return Err("a scale must be a number, such as 1 or 0.01");
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 3 {
            return Err("a scale can have at most three fractional digits");
        }
        let thousandths = format!("{whole}{fraction:0<3}").parse();
        thousandths.map(Self::from_thousandths).map_err(|_| "this scale is too large")
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(units) => serializer.serialize_u32(units),
            None => serializer.serialize_f64(self.as_f64()),
        }
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Self::try_from(number).map_err(serde::de::Error::custom)
    }
}

impl TryFrom<f64> for Scale {
    type Error = &'static str;

    /// Rounds to the nearest thousandth.
    #[expect(clippy::cast_possible_truncation, reason = "checked to be small and not negative")]
    #[expect(clippy::cast_sign_loss, reason = "checked to be small and not negative")]
    fn try_from(number: f64) -> Result<Self, Self::Error> {
        let steps = (number * f64::from(STEPS)).round();
        if (0.0..1e15).contains(&steps) {
            return Ok(Self { thousandths: steps as u64 });
        }
        Err("a scale must be from 0 to 10^12")
    }
}

impl JsonSchema for Scale {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Scale".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_reads_what_it_writes_and_is_exact() {
        for (text, thousandths) in
            [("1", 1_000), ("0.01", 10), ("0.029", 29), ("1000000", 1_000_000_000), ("2.5", 2_500)]
        {
            let scale: Scale = text.parse().unwrap();
            assert_eq!((scale.thousandths(), &*scale.to_string()), (thousandths, text));
            let json = serde_json::to_string(&scale).unwrap();
            assert_eq!(json, text);
            assert_eq!(serde_json::from_str::<Scale>(&json).unwrap(), scale);
        }
        assert_eq!(" 1.50".parse(), Ok(Scale::from_thousandths(1_500)));
        assert_eq!(".5".parse(), Ok(Scale::from_thousandths(500)));
    }

    #[test]
    fn an_invalid_scale_is_rejected_with_the_reason() {
        for (text, why) in [
            ("", "be a number"),
            (".", "be a number"),
            ("-1", "be a number"),
            ("1e3", "be a number"),
            ("0.0001", "three fractional"),
            ("99999999999999999999", "too large"),
        ] {
            assert!(text.parse::<Scale>().unwrap_err().contains(why), "{text}");
        }
        assert!(serde_json::from_str::<Scale>("-1").is_err());
    }

    #[test]
    fn only_a_whole_scale_is_a_count() {
        assert_eq!((Scale::from(8).whole(), Scale::from(8).rounded_up()), (Some(8), 8));
        let half = Scale::from_thousandths(1_500);
        assert_eq!((half.whole(), half.rounded_up()), (None, 2));
    }
}
