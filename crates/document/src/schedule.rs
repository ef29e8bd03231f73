//! Periodic work of a server, according to its settings. A window whose mean is claimed for the
//! level must contain it twice: a series that ends between two checkpoints shows none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::duration;

/// Longest default period of the supported databases: PostgreSQL's checkpoint. Used if the period
/// is unknown.
const USUAL_S: u64 = 300;

/// Minimum seconds of a window whose mean is claimed for the level, whatever the server does: an event
/// that takes a second in a hundred is missed by 5 % of such windows, and by 30 % of those of 2
/// minutes.
const RARE_S: u64 = 300;

/// Periodic work of PostgreSQL that takes seconds, if it is enabled. Its background writers run
/// several times per second and are part of every second.
const POSTGRES: [(&str, Option<&str>); 3] = [
    ("checkpoint_timeout", None),
    ("autovacuum_naptime", Some("autovacuum")),
    ("archive_timeout", None),
];

/// Periodic work of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Schedule {
    /// No periodic work that affects a run.
    Nothing,
    /// Work with this period, and none with a longer one.
    Every {
        /// Setting that defines the period: `checkpoint_timeout`.
        setting: String,
        /// Value of the setting, in seconds.
        seconds: u64,
    },
    /// The period is unknown.
    Unknown {
        /// Reason in words.
        why: String,
    },
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Unknown { why: "the server was not queried".to_owned() }
    }
}

impl Schedule {
    /// Determines it from a server's settings. A database that does not store data has no periodic
    /// work.
    #[must_use]
    pub fn of(stores: bool, settings: &[(String, String)]) -> Self {
        let value = |name: &str| {
            settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        let unknown = |why: &str| Self::Unknown { why: why.to_owned() };
        if !stores {
            Self::Nothing
        } else if value("checkpoint_timeout").is_some() {
            slowest(value).unwrap_or_else(|| unknown("checkpoint_timeout could not be read"))
        } else if value("wal_autocheckpoint").is_some() {
            // SQLite has no background thread: it works within the calls of its users, triggered by
            // the number of pages.
            Self::Nothing
        } else if value("innodb_buffer_pool_size").is_some() {
            unknown("InnoDB flushes as its redo log fills, not at fixed times")
        } else if settings.is_empty() {
            unknown("the server's settings could not be read")
        } else {
            unknown("its settings contain no schedule")
        }
    }

    /// Minimum seconds of a window whose mean is claimed for the level: it contains everything
    /// twice, and most of what happens rarely.
    #[must_use]
    pub const fn level_s(&self) -> u64 {
        let twice = match self {
            Self::Nothing => 0,
            Self::Every { seconds, .. } => seconds.saturating_mul(2),
            Self::Unknown { .. } => 2 * USUAL_S,
        };
        if twice > RARE_S { twice } else { RARE_S }
    }

    /// Number of periods in a window of this length; `None` if there is no known period.
    #[must_use]
    pub fn periods(&self, window_s: u64) -> Option<f64> {
        match self {
            Self::Every { seconds, .. } => Some(window_s as f64 / (*seconds).max(1) as f64),
            Self::Nothing | Self::Unknown { .. } => None,
        }
    }

    /// Why a window has its minimum length.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Every { setting, seconds } if seconds.saturating_mul(2) > RARE_S => {
                let period = duration(*seconds as f64);
                format!("it must contain two periods of {setting} ({period})")
            }
            Self::Nothing | Self::Every { .. } => {
                "a shorter one often misses what happens rarely".to_owned()
            }
            Self::Unknown { why } => format!(
                "the server's periodic work is not known ({why}), so it must contain two periods \
                 of {}",
                duration(USUAL_S as f64)
            ),
        }
    }
}

/// The PostgreSQL setting with the longest period.
fn slowest<'a>(value: impl Fn(&str) -> Option<&'a str>) -> Option<Schedule> {
    let is_on = |switch: Option<&str>| switch.is_none_or(|name| value(name) != Some("off"));
    let known = POSTGRES.into_iter().filter(|(_, switch)| is_on(*switch));
    known
        .filter_map(|(name, _)| Some((name, seconds(value(name)?)?)))
        .max_by_key(|(_, seconds)| *seconds)
        .map(|(name, seconds)| Schedule::Every { setting: name.to_owned(), seconds })
}

/// Parses PostgreSQL's notation of a time, `5min`, to seconds; `None` if it is off or not a time.
fn seconds(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    let each = match unit.trim() {
        "" | "s" => 1,
        "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "ms" => return Some(number.div_ceil(1_000)),
        _ => return None,
    };
    number.checked_mul(each).filter(|seconds| *seconds <= 10 * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(&str, &str)]) -> Schedule {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Schedule::of(true, &settings.iter().map(owned).collect::<Vec<_>>())
    }

    fn every(setting: &str, seconds: u64) -> Schedule {
        Schedule::Every { setting: setting.into(), seconds }
    }

    #[test]
    fn postgres_does_what_comes_round_most_slowly() {
        let naptime = ("autovacuum_naptime", "1min");
        let timeout = |text| ("checkpoint_timeout", text);
        assert_eq!(of(&[naptime, timeout("5min")]), every("checkpoint_timeout", 300));
        assert_eq!(of(&[naptime, timeout("30s")]), every("autovacuum_naptime", 60));
        let off = ("autovacuum", "off");
        assert_eq!(of(&[naptime, off, timeout("30s")]), every("checkpoint_timeout", 30));
        let archive = ("archive_timeout", "1h");
        assert_eq!(of(&[archive, timeout("5min")]), every("archive_timeout", 3_600));
        assert_eq!(of(&[("archive_timeout", "0"), timeout("1d")]).level_s(), 2 * 86_400);
        assert_eq!(of(&[timeout("5min")]).periods(450), Some(1.5));
        assert_eq!(of(&[timeout("30s"), off]).level_s(), RARE_S);
        for nonsense in
            ["", "soon", "5 moons", "0", "99999999999999999999min", "18446744073709551615d"]
        {
            assert!(matches!(of(&[timeout(nonsense)]), Schedule::Unknown { .. }), "{nonsense}");
        }
    }

    #[test]
    fn others_have_no_schedule_or_none_that_is_known() {
        assert_eq!(Schedule::of(false, &[]), Schedule::Nothing);
        assert_eq!(
            of(&[("journal_mode", "wal"), ("wal_autocheckpoint", "1000")]),
            Schedule::Nothing
        );
        for settings in [&[("innodb_buffer_pool_size", "1")][..], &[("sql_mode", "x")], &[]] {
            let schedule = of(settings);
            assert!(matches!(&schedule, Schedule::Unknown { .. }), "{schedule:?}");
            assert_eq!((schedule.level_s(), schedule.periods(600)), (600, None));
        }
    }
}
