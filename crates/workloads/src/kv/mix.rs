//! The mix of operations: weights, and presets that also choose the keys.

use triphammer_core::SpecError;

use super::keys::KeyChoice;

/// Number of operations.
pub const OPERATION_COUNT: usize = 6;
/// Names of the operations in a mix, by index.
pub const OPERATIONS: [&str; OPERATION_COUNT] =
    ["read", "update", "insert", "delete", "scan", "read-modify-write"];
/// Largest sum of the weights.
const SUM_MAX: u64 = 10_000;

/// Mixes with a name: weights by index, and how keys are chosen. Those of YCSB are its core workloads
/// A to F (<https://github.com/brianfrankcooper/YCSB/wiki/Core-Workloads>).
const PRESETS: [(&str, [u32; OPERATION_COUNT], KeyChoice); 7] = [
    // Database Hammer, as the article on it describes its load.
    ("hammer", [50, 50, 0, 0, 0, 0], KeyChoice::Uniform),
    ("ycsb-a", [50, 50, 0, 0, 0, 0], KeyChoice::ZIPF),
    ("ycsb-b", [95, 5, 0, 0, 0, 0], KeyChoice::ZIPF),
    ("ycsb-c", [100, 0, 0, 0, 0, 0], KeyChoice::ZIPF),
    ("ycsb-d", [95, 0, 5, 0, 0, 0], KeyChoice::Latest),
    ("ycsb-e", [0, 0, 5, 0, 95, 0], KeyChoice::ZIPF),
    ("ycsb-f", [50, 0, 0, 0, 0, 50], KeyChoice::ZIPF),
];

/// Weights of the operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Weights by index in [`OPERATIONS`].
    pub weights: [u32; OPERATION_COUNT],
    /// How keys are chosen unless an option says otherwise.
    pub keys: KeyChoice,
}

impl Mix {
    /// Reads a mix: `ycsb-b`, `hammer`, `hammer:75/25`, or `read=90,insert=5,delete=5`.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        if let Some((_, weights, keys)) = PRESETS.iter().find(|(name, ..)| *name == text) {
            return Ok(Self { weights: *weights, keys: *keys });
        }
        let weights = match text.strip_prefix("hammer:") {
            Some(shares) => hammer(shares),
            None => weights(text),
        };
        let weights = weights.map_err(|why| refuse(text, &why))?;
        match weights.iter().map(|weight| u64::from(*weight)).sum() {
            0 => Err(refuse(text, "contains only zeros")),
            1..=SUM_MAX => Ok(Self { weights, keys: KeyChoice::Uniform }),
            sum => Err(refuse(text, &format!("sums up to {sum}, more than {SUM_MAX}"))),
        }
    }
}

fn refuse(text: &str, why: &str) -> SpecError {
    let message = format!(
        "--mix `{text}` {why}: expected hammer, hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as \
         read=90,update=10 of {}",
        OPERATIONS.join(", ")
    );
    SpecError::new(message).about("mix")
}

/// Reads `75/25`: reads and updates.
fn hammer(shares: &str) -> Result<[u32; OPERATION_COUNT], String> {
    let (reads, updates) = shares.split_once('/').ok_or("has no two shares")?;
    let share = |text: &str| text.trim().parse().map_err(|_| format!("has no share `{text}`"));
    Ok([share(reads)?, share(updates)?, 0, 0, 0, 0])
}

/// Reads `read=90,update=10`.
fn weights(text: &str) -> Result<[u32; OPERATION_COUNT], String> {
    let mut weights = [0; OPERATION_COUNT];
    let mut seen = [false; OPERATION_COUNT];
    for part in text.split(',').map(str::trim) {
        let (name, weight) =
            part.split_once('=').ok_or(format!("has `{part}` without a weight"))?;
        let place = OPERATIONS.iter().position(|operation| *operation == name.trim());
        let place = place.ok_or(format!("names an unknown operation `{name}`"))?;
        if std::mem::replace(&mut seen[place], true) {
            return Err(format!("names `{name}` twice"));
        }
        let given = weight.trim().parse();
        weights[place] = given.map_err(|_| format!("has no weight `{weight}`"))?;
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_a_preset_or_weights() {
        for (text, weights, keys) in [
            ("hammer", [50, 50, 0, 0, 0, 0], KeyChoice::Uniform),
            ("hammer:75/25", [75, 25, 0, 0, 0, 0], KeyChoice::Uniform),
            ("read=1, read-modify-write=2", [1, 0, 0, 0, 0, 2], KeyChoice::Uniform),
            ("scan=7,delete=1,insert=1", [0, 0, 1, 1, 7, 0], KeyChoice::Uniform),
            ("ycsb-d", [95, 0, 5, 0, 0, 0], KeyChoice::Latest),
            ("ycsb-f", [50, 0, 0, 0, 0, 50], KeyChoice::ZIPF),
        ] {
            assert_eq!(Mix::parse(text).unwrap(), Mix { weights, keys }, "{text}");
        }
        for (_, weights, _) in PRESETS {
            assert_eq!(weights.iter().sum::<u32>(), 100);
        }
    }

    #[test]
    fn an_invalid_mix_is_rejected_with_the_reason() {
        for (text, why) in [
            ("", "has `` without a weight"),
            ("ycsb-g", "without a weight"),
            ("hammer:75", "has no two shares"),
            ("hammer:x/1", "has no share `x`"),
            ("hammer:0/0", "contains only zeros"),
            ("reads=1", "unknown operation `reads`"),
            ("read=1,read=2", "names `read` twice"),
            ("read=-1", "has no weight `-1`"),
            ("read=9999,update=2", "sums up to 10001"),
        ] {
            let error = Mix::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
