//! The options of the load.

use triphammer_core::SpecError;
use triphammer_core::isolation::Isolation;
use triphammer_core::workload::{OptionCommand, OptionDef, WorkloadSettings};

/// The transactions of the mix, in the order of their indexes.
pub(super) const TRANSACTIONS: [&str; 5] = ["append", "read", "counter", "pair", "predicate"];
/// Their weights if none are given.
pub const WEIGHTS_DEFAULT: &str = "append=4,read=3,counter=2,pair=2,predicate=2";
/// Rows of each kind if no number is given: few, so that users meet.
pub const ROWS_DEFAULT: &str = "24";
/// Most rows of each kind: an epoch's are inserted in one transaction.
const ROWS_MAX: u32 = 10_000;

const WEIGHTS: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "weights",
    "TYPE=N,…",
    WEIGHTS_DEFAULT,
    "weights of the transactions append, read, counter, pair and predicate; others have none",
);

const ROWS: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "rows",
    "N",
    ROWS_DEFAULT,
    "rows of each kind on which users meet: fewer rows, more conflicts",
);

const LEVEL: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "level",
    "LEVEL",
    "",
    "isolation level that each transaction asks for when it begins; without one, its session's",
);

/// All options of the workload.
pub static OPTIONS: &[OptionDef] = &[WEIGHTS, ROWS, LEVEL];

/// The options, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// By [`TRANSACTIONS`].
    pub(super) weights: [u32; TRANSACTIONS.len()],
    /// Lists, and registers of counters; there are half as many pairs.
    pub(super) rows: u32,
    /// `None` for that of the session.
    pub(super) level: Option<Isolation>,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// When a value is invalid.
    pub(super) fn new(given: &WorkloadSettings, name: &str) -> Result<Self, SpecError> {
        given.refuse_unknown(name, OPTIONS)?;
        let (of_rows, of_weights, of_level) = (ROWS, WEIGHTS, LEVEL);
        let rows =
            given.option(&of_rows).trim().parse().ok().filter(|rows| (2..=ROWS_MAX).contains(rows));
        let rows = rows.ok_or_else(|| {
            SpecError::new(format!("--rows must be from 2 to {ROWS_MAX}")).about("rows")
        })?;
        let level = match given.option(&of_level) {
            "" => None,
            level => Some(level.parse().map_err(|why: String| SpecError::new(why).about("level"))?),
        };
        Ok(Self { weights: weights(given.option(&of_weights))?, rows, level })
    }
}

/// Reads weights such as `append=4,read=1`.
pub(super) fn weights(text: &str) -> Result<[u32; TRANSACTIONS.len()], SpecError> {
    let refuse = |why: String| SpecError::new(format!("--weights: {why}")).about("weights");
    let mut weights = [0; TRANSACTIONS.len()];
    for part in text.split(',').map(str::trim) {
        let (name, weight) =
            part.split_once('=').ok_or_else(|| refuse(format!("expected TYPE=N, got `{part}`")))?;
        let place = TRANSACTIONS.iter().position(|known| *known == name.trim());
        let place = place.ok_or_else(|| {
            let known = TRANSACTIONS.join(", ");
            refuse(format!("unknown transaction `{name}`: expected one of {known}"))
        })?;
        weights[place] = weight
            .trim()
            .parse()
            .ok()
            .filter(|weight| *weight <= 1_000)
            .ok_or_else(|| refuse(format!("the weight of {name} must be from 0 to 1000")))?;
    }
    match weights.iter().any(|weight| *weight > 0) {
        true => Ok(weights),
        false => Err(refuse("no transaction has a weight".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_of_known_transactions_and_not_all_zero() {
        assert_eq!(weights(WEIGHTS_DEFAULT).unwrap(), [4, 3, 2, 2, 2]);
        assert_eq!(weights("counter=1, read=0").unwrap(), [0, 0, 1, 0, 0]);
        for wrong in ["counter", "counter=-1", "count=1", "counter=0", "counter=1001", ""] {
            let error = weights(wrong).unwrap_err().to_string();
            assert!(error.starts_with("--weights: "), "{error}");
        }
    }
}
