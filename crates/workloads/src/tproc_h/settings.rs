//! Scale and options.

use triphammer_core::workload::{BuildEffect, OptionCommand, OptionDef, WorkloadSettings};
use triphammer_core::{Scale, SpecError};

use super::runs::{ANALYZE, ONLY, REPEAT, Runs, STREAMS, TEST};

/// The smallest scale factor, 0.01: below it, `dbgen` does not follow its own rules.
pub const SCALE_MIN: Scale = Scale::from_thousandths(10);
/// The largest scale factor that the specification has (clause 4.1.3.1).
pub const SCALE_MAX: Scale = Scale::from_thousandths(100_000_000);

const FOREIGN_KEYS: OptionDef = OptionDef::switch(
    OptionCommand::Build,
    "foreign-keys",
    "add the foreign keys of clause 1.4.2.3 after the load",
)
.with_effect(BuildEffect::ForeignKeys);

const PARTITION: OptionDef = OptionDef::switch(
    OptionCommand::Build,
    "partition",
    "partition orders and lineitem by the month of their date (PostgreSQL, MySQL, MariaDB)",
)
.with_effect(BuildEffect::Layout);

const COLUMNAR: OptionDef = OptionDef::switch(
    OptionCommand::Build,
    "columnar",
    "columnar storage, where the server has it: an extension of PostgreSQL, ColumnStore of \
     MariaDB, columnstore indexes of SQL Server",
)
.with_effect(BuildEffect::Layout);

/// All options.
pub static OPTIONS: &[OptionDef] =
    &[FOREIGN_KEYS, PARTITION, COLUMNAR, TEST, STREAMS, ONLY, REPEAT, ANALYZE];

/// The scale and what a run does, when everything that was given can be.
///
/// # Errors
/// With what is wrong and what would be right.
pub fn read(given: &WorkloadSettings) -> Result<(Scale, Runs), SpecError> {
    given.refuse_unknown("tproc-h", OPTIONS)?;
    for switch in [&FOREIGN_KEYS, &PARTITION, &COLUMNAR] {
        given.switch(switch)?;
    }
    let scale = given.scale;
    if !(SCALE_MIN..=SCALE_MAX).contains(&scale) {
        let message =
            format!("the scale of tproc-h must be from {SCALE_MIN} to {SCALE_MAX} SF, got {scale}");
        return Err(SpecError::new(message));
    }
    if !has_distinct_suppliers(scale) {
        let message = format!(
            "at {scale} SF the rules of dbgen give some parts the same supplier twice, which violates \
             the primary key of partsupp: choose another scale"
        );
        return Err(SpecError::new(message));
    }
    if given.data_seed > 1 {
        let message = "the data of tproc-h has no seed, because it is identical to that of dbgen: omit --seed";
        return Err(SpecError::new(message).about("seed"));
    }
    Ok((scale, Runs::read(given, scale)?))
}

/// Whether the four suppliers of every part are different by the rule of clause 4.2.3, which some scales
/// below 0.022 do not keep: supplier i of part p is p + i(S/4 + (p - 1)/S) modulo their number S.
fn has_distinct_suppliers(scale: Scale) -> bool {
    let suppliers = scale.thousandths() * 10;
    // There are 20 times as many parts as suppliers.
    let mut steps = (0..20).map(|rest| suppliers / 4 + rest);
    steps.all(|step| (1..4).all(|nth| !(nth * step).is_multiple_of(suppliers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_scales_give_a_part_one_supplier_twice() {
        let is_bad = |n: &u64| !has_distinct_suppliers(Scale::from_thousandths(*n));
        assert_eq!((10..5_000).filter(is_bad).collect::<Vec<_>>(), [12, 15, 18, 21]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        for (thousandths, seed, options, message) in [
            (9, 1, vec![], "from 0.01 to 100000 SF, got 0.009"),
            (100_000_001, 1, vec![], "got 100000.001"),
            (12, 1, vec![], "choose another scale"),
            (1_000, 2, vec![], "has no seed"),
            (1_000, 1, vec![("foreign-keys", "yes")], "true or false"),
            (1_000, 1, vec![("mix", "1")], "unknown option `mix`"),
        ] {
            let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            let scale = Scale::from_thousandths(thousandths);
            let given = WorkloadSettings { scale, data_seed: seed, options, ..Default::default() };
            let error = read(&given).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let given = WorkloadSettings { scale: SCALE_MIN, ..WorkloadSettings::default() };
        assert_eq!(read(&given).unwrap().0, SCALE_MIN);
    }
}
