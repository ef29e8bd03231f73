//! Scale and options of the workload.

use triphammer_core::SpecError;
use triphammer_core::workload::{OptionCommand, OptionDef, WorkloadSettings};

use super::transactions::{SCRIPTS, TRANSACTION_COUNT};

/// Largest scale: above it, pgbench's accounts have 64-bit ids.
pub const SCALE_MAX: u32 = 19_999;

/// Weights of the scripts in the mix.
const MIX: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "mix",
    "N,N,N",
    "1,0,0",
    "a script (tpcb-like, simple-update or select-only), or the weights of the three",
);

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[MIX];

/// The scale and the options, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Scale: the number of branches.
    pub scale: i32,
    /// Weights of the scripts in the mix.
    pub mix: [u32; TRANSACTION_COUNT],
}

impl Settings {
    /// Resolves and checks the given settings.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown("tpc-b", OPTIONS)?;
        let scale = given.scale.whole().filter(|scale| (1..=SCALE_MAX).contains(scale));
        let scale = scale.and_then(|scale| i32::try_from(scale).ok()).ok_or_else(|| {
            let scale = given.scale;
            SpecError::new(format!(
                "the scale of tpc-b must be from 1 to {SCALE_MAX} branches, got {scale}"
            ))
        })?;
        Ok(Self { scale, mix: mix(given.option(&MIX))? })
    }
}

/// Reads a mix such as `simple-update` or `1,0,2`.
fn mix(text: &str) -> Result<[u32; TRANSACTION_COUNT], SpecError> {
    if let Some(script) = SCRIPTS.iter().position(|script| *script == text.trim()) {
        return Ok(std::array::from_fn(|place| u32::from(place == script)));
    }
    let refuse = |why: &str| {
        let scripts = SCRIPTS.join(", ");
        SpecError::new(format!(
            "--mix must be a script or three whole numbers ({scripts}): `{text}` {why}"
        ))
    };
    let shares: Vec<u32> = text
        .split(',')
        .map(|n| n.trim().parse().map_err(|_| refuse("is neither")))
        .collect::<Result<_, _>>()?;
    let shares = <[u32; TRANSACTION_COUNT]>::try_from(shares)
        .map_err(|_| refuse("does not have three numbers"))?;
    if shares.iter().all(|share| *share == 0) {
        return Err(refuse("contains only zeros"));
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(scale: u32, options: &[(&str, &str)]) -> Result<Settings, SpecError> {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Settings::new(&WorkloadSettings {
            scale: scale.into(),
            options,
            ..WorkloadSettings::default()
        })
    }

    #[test]
    fn a_mix_is_a_script_or_three_shares() {
        for (text, mix) in
            [("simple-update", [0, 1, 0]), ("select-only", [0, 0, 1]), ("5, 0,2", [5, 0, 2])]
        {
            assert_eq!(settings(1, &[("mix", text)]).unwrap().mix, mix);
        }
        assert_eq!(settings(1, &[]).unwrap().mix, [1, 0, 0]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        for (scale, options, message) in [
            (0, vec![], "from 1 to 19999 branches, got 0"),
            (20_000, vec![], "got 20000"),
            (1, vec![("mix", "1,2")], "`1,2` does not have three numbers"),
            (1, vec![("mix", "0,0,0")], "contains only zeros"),
            (1, vec![("mix", "tpcb")], "`tpcb` is neither"),
            (1, vec![("scirpt", "x")], "unknown option `scirpt`"),
        ] {
            let error = settings(scale, &options).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
