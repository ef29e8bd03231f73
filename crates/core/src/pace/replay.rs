//! The load of a recording: its file, and how fast it is replayed.

use std::fmt;

/// Fastest and slowest replay, in times of the recorded speed.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;

/// A recording, and the speed at which it is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayLoad {
    /// Name of the file.
    pub file: String,
    /// Recorded times are divided by this.
    pub speed: f64,
}

impl ReplayLoad {
    /// A recorded time at this speed, in nanoseconds.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "recorded times are less than centuries, and casts from floats saturate"
    )]
    pub fn nanoseconds(&self, recorded_us: u64) -> u64 {
        (recorded_us as f64 * 1_000.0 / self.speed) as u64
    }
}

impl fmt::Display for ReplayLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.speed == 1.0 { Ok(()) } else { write!(f, ",speed={}x", self.speed) }
    }
}

impl std::str::FromStr for ReplayLoad {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (file, speed) = match text.rsplit_once(",speed=") {
            Some((file, speed)) => (file, speed.strip_suffix('x').unwrap_or(speed)),
            None => (text, "1"),
        };
        let speed = speed.parse::<f64>().ok().filter(|speed| SPEEDS.contains(speed));
        match (file.is_empty(), speed) {
            (false, Some(speed)) => Ok(Self { file: file.to_owned(), speed }),
            _ => Err(format!(
                "invalid replay `{text}`: expected FILE or FILE,speed=2x, with a speed from 0.001x \
                 to 1000x"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_has_a_file_and_a_speed() {
        for (text, file, speed, shown) in [
            ("a.recording", "a.recording", 1.0, "a.recording"),
            ("a,b,speed=4x", "a,b", 4.0, "a,b,speed=4x"),
            ("a,speed=0.5", "a", 0.5, "a,speed=0.5x"),
        ] {
            let read: ReplayLoad = text.parse().unwrap();
            assert_eq!((read.file.as_str(), read.speed), (file, speed));
            assert_eq!(read.to_string(), shown);
        }
        for wrong in ["", ",speed=2x", "a,speed=0", "a,speed=-1x", "a,speed=fast", "a,speed=2000x"]
        {
            assert!(wrong.parse::<ReplayLoad>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_divided_by_the_speed() {
        let at = |speed: &str| format!("a,speed={speed}").parse::<ReplayLoad>().unwrap();
        assert_eq!(at("4x").nanoseconds(1_000), 250_000);
        assert_eq!(at("0.5x").nanoseconds(1_000), 2_000_000);
    }
}
