//! Scale and options of the workload.

use triphammer_core::workload::{OptionCommand, OptionDef, WorkloadSettings};
use triphammer_core::{Scale, SpecError};

use super::keys::KeyChoice;
use super::mix::Mix;

/// Largest scale, in million rows.
const SCALE_MAX: u32 = 100_000;
/// Largest payload in bytes: what a text of MySQL holds.
const PAYLOAD_MAX: u32 = 65_535;
/// Largest number of keys of an operation.
const BATCH_MAX: u32 = 1_000;
/// Largest number of rows of a scan.
const SCAN_MAX: u32 = 100_000;

const PAYLOAD_SIZE: OptionDef = OptionDef::value(
    OptionCommand::Build,
    "payload-size",
    "BYTES",
    "100",
    "size of the payload of each row, from 1 to 65535 bytes",
);

const MIX: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "mix",
    "MIX",
    "hammer:75/25",
    "hammer (half reads, half updates), hammer:READS/UPDATES, ycsb-a to ycsb-f, or weights such as read=90,insert=5,delete=5",
);

const KEYS: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "keys",
    "CHOICE",
    "of the mix",
    "which keys operations take: uniform, zipf[:THETA], latest, or hot:KEYS/OPERATIONS in percent; \
     zipf by default for ycsb-a, b, c, e and f, latest for ycsb-d, else uniform",
);

const BATCH: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "batch",
    "N",
    "1",
    "keys per operation: a read of several is one statement, a write of several one transaction",
);

const SCAN_ROWS: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "scan-rows",
    "N",
    "100",
    "largest number of rows of a scan; each scan reads from 1 to N",
);

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[PAYLOAD_SIZE, MIX, KEYS, BATCH, SCAN_ROWS];

/// The scale and the options, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Number of rows, in thousands.
    pub thousands: u32,
    /// Size of a payload in bytes.
    pub payload_size: usize,
    /// Weights of the operations.
    pub mix: Mix,
    /// How keys are chosen.
    pub keys: KeyChoice,
    /// Number of keys of an operation.
    pub batch: u32,
    /// Largest number of rows of a scan.
    pub scan_rows: u32,
}

impl Settings {
    /// Resolves and checks the given settings.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown("kv", OPTIONS)?;
        let scale = given.scale;
        if scale == Scale::default() || scale > Scale::from(SCALE_MAX) {
            let message = format!(
                "the scale of kv must be from 0.001 to {SCALE_MAX} million rows, got {scale}"
            );
            return Err(SpecError::new(message).about("scale"));
        }
        let mix = Mix::parse(given.option(&MIX))?;
        let of_keys = KEYS;
        let keys = given.option(&of_keys);
        let payload_size = number(given, &PAYLOAD_SIZE, PAYLOAD_MAX)?;
        Ok(Self {
            thousands: u32::try_from(scale.thousandths()).expect("checked"),
            payload_size: payload_size.try_into().expect("checked"),
            mix,
            keys: if keys == of_keys.default { mix.keys } else { KeyChoice::parse(keys)? },
            batch: number(given, &BATCH, BATCH_MAX)?,
            scan_rows: number(given, &SCAN_ROWS, SCAN_MAX)?,
        })
    }

    /// Number of rows that a build loads.
    pub fn rows(&self) -> i64 {
        i64::from(self.thousands) * 1_000
    }
}

/// Reads a number from 1 to `most`.
fn number(given: &WorkloadSettings, option: &OptionDef, most: u32) -> Result<u32, SpecError> {
    let text = given.option(option);
    let number = text.trim().parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| {
        let name = &option.name;
        SpecError::new(format!("--{name} must be from 1 to {most}, got `{text}`")).about(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(thousandths: u64, options: &[(&str, &str)]) -> Result<Settings, SpecError> {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Settings::new(&WorkloadSettings {
            scale: Scale::from_thousandths(thousandths),
            options,
            ..WorkloadSettings::default()
        })
    }

    #[test]
    fn keys_are_those_of_the_mix_unless_they_are_given() {
        let keys = |options: &[(&str, &str)]| settings(10, options).unwrap().keys;
        assert_eq!(keys(&[]), KeyChoice::Uniform);
        assert_eq!(keys(&[("mix", "ycsb-d")]), KeyChoice::Latest);
        assert_eq!(keys(&[("mix", "ycsb-d"), ("keys", "uniform")]), KeyChoice::Uniform);
        assert_eq!(settings(10, &[]).unwrap().rows(), 10_000);
    }

    #[test]
    fn what_is_out_of_range_is_rejected_with_the_range() {
        for (scale, options, message) in [
            (0, vec![], "from 0.001 to 100000 million rows, got 0"),
            (100_000_001, vec![], "got 100000.001"),
            (1, vec![("batch", "0")], "--batch must be from 1 to 1000, got `0`"),
            (1, vec![("payload-size", "65536")], "--payload-size must be from 1 to 65535"),
            (1, vec![("scan-rows", "x")], "got `x`"),
            (1, vec![("keys", "zipfian")], "unknown choice of keys `zipfian`"),
            (1, vec![("kesy", "x")], "unknown option `kesy`"),
        ] {
            let error = settings(scale, &options).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
