//! Options of the workload, and their resolved values.

use triphammer_core::SpecError;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{BuildEffect, OptionCommand, OptionDef, WorkloadSettings};

use super::transactions::{TRANSACTION_COUNT, transactions};

/// Adds foreign keys after the load.
pub const FOREIGN_KEYS: OptionDef =
    OptionDef::switch(OptionCommand::Build, "foreign-keys", "add foreign keys after the load")
        .with_effect(BuildEffect::ForeignKeys);

/// Omits the stored procedures.
pub const NO_PROCEDURES: OptionDef = OptionDef::switch(
    OptionCommand::Build,
    "no-procedures",
    "do not create stored procedures; runs then need --mode statements",
)
.with_effect(BuildEffect::NoProcedures);

/// Gives history a surrogate key.
pub const HISTORY_KEY: OptionDef = OptionDef::switch(
    OptionCommand::Build,
    "history-key",
    "give the history table a surrogate key, for databases that need one to replicate",
)
.with_effect(BuildEffect::Keys("history_key"));

/// Date of all rows before any run.
pub const POPULATION_TIME: OptionDef = OptionDef::value(
    OptionCommand::Build,
    "population-time",
    "DATETIME",
    "2026-01-01 00:00:00",
    "date and time of every row that the build loads",
);

/// Draws a warehouse for each transaction.
pub const ALL_WAREHOUSES: OptionDef = OptionDef::switch(
    OptionCommand::Run,
    "all-warehouses",
    "draw a home warehouse for each transaction, from the user's share of all",
);

/// Weights of the transaction types in the mix.
pub const MIX: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "mix",
    "N,N,N,N,N",
    "10,10,1,1,1",
    "cards in the deck: New-Order,Payment,Order-Status,Delivery,Stock-Level",
);

/// Which stored routines a run calls.
pub const ROUTINES: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "routines",
    "OWNER",
    Routines::Triphammer.name(),
    "the stored routines that a run calls: triphammer's, or hammerdb's with its rules for inputs (chosen automatically in a schema that HammerDB built)",
)
.choices(&[
    (Routines::Triphammer.name(), "those that triphammer's build creates"),
    (Routines::Hammerdb.name(), "those that HammerDB created, with its rules for inputs"),
]);

/// Which stored routines a run calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routines {
    /// Those created by our builds.
    Triphammer,
    /// Those created by HammerDB.
    Hammerdb,
}

impl Routines {
    /// Name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triphammer => "triphammer",
            Self::Hammerdb => "hammerdb",
        }
    }

    fn read(text: &str) -> Result<Self, SpecError> {
        let is_hammerdb = ROUTINES.chosen(text)? == Self::Hammerdb.name();
        Ok(if is_hammerdb { Self::Hammerdb } else { Self::Triphammer })
    }
}

/// All options of the workload.
pub static OPTIONS: &[OptionDef] =
    &[FOREIGN_KEYS, NO_PROCEDURES, HISTORY_KEY, POPULATION_TIME, ALL_WAREHOUSES, MIX, ROUTINES];

/// Largest scale: ids stay far below 32 bits, and larger databases are unknown.
const WAREHOUSES_MAX: u32 = 1_000_000;
/// Maximum number of cards in a deck: each user holds one, of a byte per card.
const DECK_MAX: u32 = 1_000;

/// The scale and the options, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Scale: the number of warehouses.
    pub warehouses: i32,
    /// Date of all rows before any run.
    pub population_time: Timestamp,
    /// Whether each transaction draws its warehouse.
    pub all_warehouses: bool,
    /// Number of cards of each transaction type.
    pub mix: [u32; TRANSACTION_COUNT],
    /// Which stored routines a run calls.
    pub routines: Routines,
}

impl Settings {
    /// Resolves and checks the given settings.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub fn new(given: &WorkloadSettings) -> Result<Self, SpecError> {
        given.refuse_unknown(super::NAME, OPTIONS)?;
        for switch in OPTIONS.iter().filter(|option| option.value.is_none()) {
            given.switch(switch)?;
        }
        let warehouses = given.scale.whole().filter(|n| (1..=WAREHOUSES_MAX).contains(n));
        let warehouses = warehouses.and_then(|n| i32::try_from(n).ok()).ok_or_else(|| {
            let scale = given.scale;
            SpecError::new(format!(
                "the scale of tproc-c must be from 1 to {WAREHOUSES_MAX} warehouses, got {scale}"
            ))
        })?;
        Ok(Self {
            warehouses,
            population_time: population_time(given.option(&POPULATION_TIME))?,
            all_warehouses: given.switch(&ALL_WAREHOUSES)?,
            mix: mix(given.option(&MIX))?,
            routines: Routines::read(given.option(&ROUTINES))?,
        })
    }
}

fn population_time(text: &str) -> Result<Timestamp, SpecError> {
    Timestamp::parse(text).filter(|time| time.0 % 1_000_000 == 0).ok_or_else(|| {
        let default = &POPULATION_TIME.default;
        SpecError::new(format!(
            "--population-time must be in whole seconds such as `{default}`, got `{text}`"
        ))
    })
}

fn mix(text: &str) -> Result<[u32; TRANSACTION_COUNT], SpecError> {
    let refuse = |why: String| {
        let titles = transactions().map(|t| t.title).join(", ");
        SpecError::new(format!("--mix must be five whole numbers ({titles}): {why}"))
    };
    let cards: Vec<u32> = text
        .split(',')
        .map(|n| n.trim().parse().map_err(|_| refuse(format!("`{n}` is not a whole number"))))
        .collect::<Result<_, _>>()?;
    let found = cards.len();
    let cards = <[u32; TRANSACTION_COUNT]>::try_from(cards)
        .map_err(|_| refuse(format!("`{text}` has {found}")))?;
    match cards.iter().try_fold(0u32, |sum, n| sum.checked_add(*n)) {
        Some(0) => Err(refuse("all are 0".into())),
        Some(1..=DECK_MAX) => Ok(cards),
        _ => Err(refuse(format!("their sum exceeds {DECK_MAX}"))),
    }
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
    fn defaults_are_the_specifications() {
        let found = settings(3, &[]).unwrap();
        assert_eq!((found.warehouses, found.all_warehouses), (3, false));
        assert_eq!(found.mix, [10, 10, 1, 1, 1]);
        assert_eq!(found.population_time.to_string(), "2026-01-01 00:00:00");
    }

    #[test]
    fn a_mix_may_be_of_one_type() {
        assert_eq!(settings(1, &[("mix", "0,0,0,1,0")]).unwrap().mix, [0, 0, 0, 1, 0]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        for (scale, options, message) in [
            (0, vec![], "from 1 to 1000000 warehouses, got 0"),
            (1, vec![("mix", "1,2,3")], "`1,2,3` has 3"),
            (1, vec![("mix", "1,1,1,1,1,1")], "has 6"),
            (1, vec![("mix", "0,0,0,0,0")], "all are 0"),
            (1, vec![("mix", "1,1,1,-1,1")], "`-1` is not a whole number"),
            (1, vec![("mix", "1000,1,0,0,0")], "exceeds 1000"),
            (1, vec![("mix", "4294967295,1,0,0,0")], "exceeds 1000"),
            (1, vec![("population-time", "yesterday")], "got `yesterday`"),
            (1, vec![("population-time", "2026-01-01 00:00:00.5")], "whole seconds"),
            (1, vec![("foreign-keys", "yes")], "true or false"),
            (
                1,
                vec![("routines", "oracle")],
                "unknown value `oracle`: expected triphammer or hammerdb",
            ),
            (1, vec![("foriegn-keys", "true")], "unknown option `foriegn-keys`"),
        ] {
            let error = settings(scale, &options).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let scale = triphammer_core::Scale::from_thousandths(500);
        let half = WorkloadSettings { scale, ..WorkloadSettings::default() };
        let error = Settings::new(&half).unwrap_err().to_string();
        assert!(error.contains("from 1 to 1000000 warehouses, got 0.5"), "{error}");
    }
}
