//! Options, and what TPROC-C gets of them.

use triphammer_core::clock::parse_duration;
use triphammer_core::workload::{OptionCommand, OptionDef, WorkloadSettings};
use triphammer_core::{Scale, SpecError};

use crate::tproc_c::settings as tproc_c;
use crate::tproc_h::{ONLY, STREAMS_MAX, chosen};

/// The largest scale: beyond it the product of warehouse and item, by which the queries join, has more than 32 bits.
const SCALE_MAX: u32 = 20_000;
/// Default of `--baseline`.
const OFF: &str = "off";

/// Number of streams.
pub const STREAMS: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "streams",
    "S",
    "1",
    "number of streams of queries that run alongside the transactions; 0 for transactions alone",
);
/// Time for which queries and transactions run alone first.
pub const BASELINE: OptionDef = OptionDef::value(
    OptionCommand::Run,
    "baseline",
    "TIME",
    OFF,
    "before the timed window, run the queries alone and the transactions alone for this time each, and report what \
     each costs the other",
);

/// All options: those of TPROC-C, except for routines that another program created, and those of the streams.
pub fn options() -> Vec<OptionDef> {
    let shared = tproc_c::OPTIONS.iter().filter(|option| option.name != tproc_c::ROUTINES.name);
    shared.chain(&[STREAMS, ONLY, BASELINE]).cloned().collect()
}

/// Options of the streams, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    /// Number of streams.
    pub count: u32,
    /// Indexes of the queries that run, in ascending order.
    pub queries: Vec<usize>,
}

/// Splits what was given into the settings of TPROC-C and the streams.
///
/// # Errors
/// With what is wrong and what would be right.
pub fn read(given: &WorkloadSettings) -> Result<(WorkloadSettings, Streams), SpecError> {
    given.refuse_unknown("ch", &options())?;
    if given.scale > Scale::from(SCALE_MAX) {
        let scale = given.scale;
        let message =
            format!("the scale of ch must be from 1 to {SCALE_MAX} warehouses, got {scale}");
        return Err(SpecError::new(message).about("scale"));
    }
    let count = count(given.option(&STREAMS))?;
    let queries = chosen(given)?.into_iter().map(|number| usize::from(number) - 1).collect();
    refuse_baseline(given.option(&BASELINE), count)?;
    let mut inner = given.clone();
    inner.options.retain(|name, _| [STREAMS, ONLY, BASELINE].iter().all(|own| own.name != *name));
    Ok((inner, Streams { count, queries }))
}

fn count(text: &str) -> Result<u32, SpecError> {
    text.trim().parse().ok().filter(|count| *count <= STREAMS_MAX).ok_or_else(|| {
        let message = format!("--streams must be a number from 0 to {STREAMS_MAX}, got `{text}`");
        SpecError::new(message).about("streams")
    })
}

/// Rejects a baseline that cannot be counted in seconds, or has no queries.
fn refuse_baseline(text: &str, streams: u32) -> Result<(), SpecError> {
    if text == OFF {
        return Ok(());
    }
    let about = |why: String| SpecError::new(format!("--baseline: {why}")).about("baseline");
    let time = parse_duration(text).map_err(about)?;
    if time.is_zero() || time.subsec_nanos() > 0 {
        return Err(about(format!("`{text}` is not a number of whole seconds, such as 30s")));
    }
    if streams == 0 {
        return Err(about("needs at least one stream of queries (--streams)".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(scale: u32, options: &[(&str, &str)]) -> WorkloadSettings {
        let options = options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        WorkloadSettings { scale: scale.into(), options, ..WorkloadSettings::default() }
    }

    #[test]
    fn options_of_streams_are_read_and_the_others_are_those_of_tproc_c() {
        let all = [("streams", "3"), ("queries", "14,1, 6,1"), ("mix", "1,0,0,0,0")];
        let (inner, streams) = read(&given(2, &all)).unwrap();
        assert_eq!(streams, Streams { count: 3, queries: vec![0, 5, 13] });
        assert_eq!(inner.options.keys().collect::<Vec<_>>(), ["mix"]);
        let (_, streams) = read(&given(1, &[])).unwrap();
        assert_eq!((streams.count, streams.queries.len()), (1, 22));
    }

    #[test]
    fn what_cannot_be_is_rejected_with_the_reason() {
        for (scale, option, message) in [
            (1, ("streams", "-1"), "from 0 to 1000, got `-1`"),
            (1, ("queries", "1,23"), "invalid query `23`"),
            (1, ("baseline", "1500ms"), "`1500ms` is not a number of whole seconds"),
            (1, ("baseline", "30"), "invalid duration `30`"),
            (1, ("routines", "hammerdb"), "unknown option `routines` of ch"),
            (20_001, ("streams", "1"), "from 1 to 20000 warehouses, got 20001"),
        ] {
            let error = read(&given(scale, &[option])).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
