//! Keys that change the load of the run in progress. What was changed is an event of the run, which
//! appears among the messages as any other; why it was not, too.

use triphammer_core::pace::{Changed, LoadChange, LoadChangeError, LoadNow};
use triphammer_settings::handle::Handle;

use super::keys::Direction;
use crate::{signals, terminal};

/// Share of the rate that a key adds or removes.
const SHARE: f64 = 0.1;
/// Decimal digits to which a changed rate is rounded.
const DIGITS: i32 = 3;
/// The rate after a pause: 10 % of nothing is nothing.
const FIRST_RATE: f64 = 1.0;

/// Changes the load, or says why it cannot.
pub(super) fn change(to: Direction) {
    let Some(handle) = signals::job() else {
        return terminal::note("the run has not started yet, so its load cannot change");
    };
    if let Err(why) = of_job(&handle, to) {
        terminal::note(&format!("the load was not changed: {why}"));
    }
}

fn of_job(handle: &Handle, to: Direction) -> Result<(), LoadChangeError> {
    handle.change_load(next(&handle.load_now()?, to)).map(drop)
}

/// The change of a key.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of users")]
fn next(now: &LoadNow, to: Direction) -> LoadChange {
    match now.what {
        Changed::Users | Changed::Mix => {
            let users = now.value as u32;
            LoadChange::Users(match to {
                Direction::More => users.saturating_add(1),
                Direction::Less => users.saturating_sub(1),
            })
        }
        Changed::Rate => LoadChange::Rate(match to {
            Direction::More if now.value <= 0.0 => FIRST_RATE,
            Direction::More => rounded(now.value * (1.0 + SHARE)).min(now.max),
            Direction::Less => rounded(now.value * (1.0 - SHARE)),
        }),
    }
}

/// Rounds to a few digits, so that a rate remains readable.
#[expect(clippy::cast_possible_truncation, reason = "the number of digits of a rate")]
fn rounded(rate: f64) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    let unit = 10f64.powi(rate.log10().floor() as i32 + 1 - DIGITS);
    let rounded = (rate / unit).round() * unit;
    // A product with a power of ten below 1 has digits of its own.
    format!("{rounded:.6}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_a_tenth_of_the_rate_or_one_user() {
        let now = |what, value| LoadNow { what, value, max: 1e7, mix: None };
        for (value, more, less) in [
            (100.0, 110.0, 90.0),
            (110.0, 121.0, 99.0),
            (0.5, 0.55, 0.45),
            (12_345.0, 13_600.0, 11_100.0),
            (0.0, 1.0, 0.0),
            (1e7, 1e7, 9e6),
        ] {
            let rate = now(Changed::Rate, value);
            assert_eq!(next(&rate, Direction::More), LoadChange::Rate(more), "{value}");
            assert_eq!(next(&rate, Direction::Less), LoadChange::Rate(less), "{value}");
        }
        let users = now(Changed::Users, 8.0);
        assert_eq!(next(&users, Direction::More), LoadChange::Users(9));
        assert_eq!(next(&users, Direction::Less), LoadChange::Users(7));
    }
}
