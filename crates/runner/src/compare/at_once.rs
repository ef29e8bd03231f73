//! The settings of pairs whose runs take place at once.

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::pace::Load;
use triphammer_core::session::Database as _;
use triphammer_core::workload::{Description, MeasureDef};
use triphammer_drivers::target::TargetUrl;
use triphammer_settings::target::Target;
use triphammer_settings::{Settings, Source};
use triphammer_statistics::compare::BLOCKS_MIN;

use super::pairs;
use crate::run::{AtOnceWay, SLICE_MAX_S};

/// Length of a slice unless it is given, in seconds: shorter ones have more of what the other side
/// left behind, longer ones meet more of the changes of the host.
const SLICE_S: u64 = 10;
/// Settings that only pairs of runs one after the other have.
const OF_PAIRS: [&str; 5] = ["pairs", "cluster", "transactions", "change", "pause"];

/// Reads how the runs of a pair take place at once; `None` for one after the other.
///
/// # Errors
/// When a value is invalid, or both ways were asked for.
pub(super) fn way(settings: &mut Settings) -> Result<Option<AtOnceWay>, SpecError> {
    let is_duet = settings.switch("duet")?;
    let show = |slice_s: &u64| format_duration(Duration::from_secs(*slice_s));
    let absent = "runs one after the other";
    let slice_s = settings.optional("interleave", parse_slice, show, absent)?;
    match (is_duet, slice_s) {
        (true, Some(_)) => {
            let message = "--duet lets both sides work at every moment, and --interleave one at a time: \
                           give one of them";
            Err(SpecError::new(message).about("interleave"))
        }
        (true, None) => Ok(Some(AtOnceWay::Duet)),
        (false, slice_s) => Ok(slice_s.map(AtOnceWay::Interleaved)),
    }
}

/// Chooses how two databases are compared if no way is given: the better one that their load and
/// their hosts allow. At once, a disturbance of the host is part of both sides, and in a third of the
/// interval's width (`bench/duet.py`). Servers on hosts of their own work at every moment. On one
/// host they, or one of them and this program, would compete, and take turns.
///
/// # Errors
/// When a value is invalid.
pub(crate) fn choose(
    settings: &mut Settings,
    workload: &Description,
    targets: &[Target],
) -> Result<(), SpecError> {
    let is_given = |name| settings.get(name).is_some();
    if ["duet", "interleave", "prove", "replay"].into_iter().any(is_given) {
        return Ok(());
    }
    let load: Load = settings.parse("load")?;
    if needs_pairs(settings, workload, &load)? {
        return Ok(());
    }
    let is_by_clock = load == Load::Keyed || load.changes();
    let least_s = 2 * BLOCKS_MIN as u64;
    let window_s = match settings.source("duration") {
        Source::Default => u64::MAX,
        _ => settings.duration("duration")?.as_secs(),
    };
    if window_s < least_s {
        return Ok(());
    }
    let url = |side: usize| TargetUrl::parse(&targets[side].database.target());
    if url(0)?.is_apart_from(&url(1)?) {
        settings.set("duet", "true", Source::Default);
    } else if !is_by_clock {
        let slice = Duration::from_secs((window_s / least_s).min(SLICE_S));
        settings.set("interleave", format_duration(slice), Source::Default);
    }
    Ok(())
}

/// Whether only runs one after the other can do what is asked for.
fn needs_pairs(
    settings: &Settings,
    workload: &Description,
    load: &Load,
) -> Result<bool, SpecError> {
    let of_queries = workload.primary_metric.measure == MeasureDef::Queries;
    let has_levels = settings.get("vus").is_some_and(pairs::is_list);
    let own = |side| pairs::own(settings, side, &workload.options);
    let own = [own("a")?, own("b")?].concat();
    let is_of_pairs = |name: &str| OF_PAIRS.contains(&name);
    let differs = own.iter().any(|(name, _)| is_of_pairs(name) || OF_BOTH.contains(&&**name));
    let is_given = OF_PAIRS.iter().any(|name| settings.get(name).is_some());
    let is_replay = matches!(load, Load::Replay(_));
    Ok(of_queries || workload.has_streams || has_levels || is_given || differs || is_replay)
}

fn parse_slice(text: &str) -> Result<u64, String> {
    let slice = parse_duration(text)?;
    let seconds = slice.as_secs();
    if slice.subsec_nanos() != 0 || !(1..=SLICE_MAX_S).contains(&seconds) {
        let most = format_duration(Duration::from_secs(SLICE_MAX_S));
        return Err(format!("slices last whole seconds, from 1s to {most}, such as 10s"));
    }
    Ok(seconds)
}

/// Rejects what cannot be combined with runs at once.
///
/// # Errors
/// With the setting and what to do.
pub(super) fn refuse(
    way: Option<AtOnceWay>,
    settings: &Settings,
    has_levels: bool,
    pairs: u32,
) -> Result<(), SpecError> {
    let Some(way) = way else { return Ok(()) };
    let name = way.setting();
    let refused =
        |about: &str, why: &str| Err(SpecError::new(format!("--{name} and {why}")).about(about));
    if has_levels {
        return refused(
            "vus",
            "several levels exclude each other: give one number of virtual users",
        );
    }
    if settings.get("cluster").is_some() {
        return refused("cluster", "--cluster exclude each other: one process drives both sides");
    }
    if settings.get("until-ci").is_some() && pairs > 1 {
        return refused("until-ci", "--until-ci end a single pair: omit --pairs");
    }
    Ok(())
}

/// Settings that both runs of a pair at once share.
const OF_BOTH: [&str; 5] = ["duration", "rampup", "load", "seed", "until-ci"];

/// Rejects settings of one side that both runs of a pair at once share.
///
/// # Errors
/// With the setting.
pub(super) fn refuse_own(
    way: Option<AtOnceWay>,
    own: &[Vec<(String, String)>; 2],
) -> Result<(), SpecError> {
    let mut names = own.iter().flatten().map(|(name, _)| name.as_str());
    match (way, names.find(|name| OF_BOTH.contains(name))) {
        (Some(way), Some(name)) => Err(SpecError::new(format!(
            "--{}: both sides have the same {name}: give --{name} instead of --a or --b",
            way.setting()
        ))
        .about(name)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use triphammer_settings::command::JobKind;
    use triphammer_settings::target::{self, NoSecrets};
    use triphammer_workloads::describe;

    use super::*;

    /// The way that is chosen for two targets with these settings.
    fn chosen(urls: [&str; 2], workload: &str, given: &[(&str, &str)]) -> Option<AtOnceWay> {
        let workload = describe(workload).unwrap();
        let mut settings = Settings::new(JobKind::Compare);
        given.iter().for_each(|(name, value)| settings.set(name, *value, Source::Flag));
        let targets = urls.map(|url| {
            let mut of_side = Settings::new(JobKind::Run);
            of_side.set("target", url, Source::Flag);
            target::open(&mut of_side, Some(&workload), &NoSecrets).unwrap()
        });
        choose(&mut settings, &workload, &targets).unwrap();
        way(&mut settings).unwrap()
    }

    #[test]
    fn the_way_follows_from_the_load_and_the_hosts() {
        use AtOnceWay::{Duet, Interleaved};
        let apart = ["postgres://u@db1/d", "postgres://u@db2/d"];
        let together = ["postgres://u@db1/d", "postgres://u@db1:5433/d"];
        let here = ["null:", "null:?service=1ms"];
        for (urls, given, way) in [
            (apart, &[][..], Some(Duet)),
            (together, &[], Some(Interleaved(10))),
            (here, &[], Some(Interleaved(10))),
            (here, &[("duration", "100s")], Some(Interleaved(5))),
            (here, &[("duration", "19s")], None),
            (apart, &[("load", "rate:100/s")], Some(Duet)),
            (apart, &[("load", "ramp:1..9/10s")], Some(Duet)),
            (together, &[("load", "ramp:1..9/10s")], None),
            (together, &[("duet", "true")], Some(Duet)),
            (apart, &[("interleave", "7s")], Some(Interleaved(7))),
            (apart, &[("pairs", "7")], None),
            (apart, &[("vus", "1,2,4")], None),
            (apart, &[("transactions", "1000")], None),
            (apart, &[("a", "vus=8")], Some(Duet)),
            (apart, &[("a", "rampup=9s")], None),
            (apart, &[("cluster", "local")], None),
        ] {
            assert_eq!(chosen(urls, "tpc-b", given), way, "{urls:?} {given:?}");
        }
        assert_eq!(chosen(apart, "tproc-h", &[]), None);
        assert_eq!(chosen(apart, "ch", &[]), None);
        assert_eq!(chosen(apart, "tproc-c", &[("load", "keyed")]), Some(Duet));
    }

    #[test]
    fn slices_are_whole_seconds() {
        assert_eq!(parse_slice("10s"), Ok(10));
        assert_eq!(parse_slice("1h"), Ok(3_600));
        for bad in ["0s", "500ms", "1.5s", "2h", "10", "ten"] {
            assert!(parse_slice(bad).is_err(), "{bad}");
        }
    }
}
