//! The share of a run that one of several processes drives. Users, sessions, terminals and arrivals
//! keep the numbers that they have in the whole run, and what they do depends only on (seed,
//! number): together the shares do exactly what one process would do alone.

use std::ops::Range;

use triphammer_core::error::SpecError;
use triphammer_core::spec::RunSpec;

/// One of several equal shares of a run. A [`RunSpec`] always describes the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    index: u32,
    of: u32,
}

impl Share {
    /// The whole run, driven by one process.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Share `index`, from 0, out of `of` shares.
    ///
    /// # Errors
    /// When there is no such share, or more shares than sessions.
    pub fn new(index: u32, of: u32, spec: &RunSpec) -> Result<Self, SpecError> {
        let sessions = spec.sessions();
        if of == 0 || index >= of {
            return Err(SpecError::new(format!(
                "no share {index} of {of}: the index must be below the number of shares"
            )));
        }
        if of > sessions {
            let message = format!(
                "cannot share {sessions} sessions between {of} processes: use at most one process \
                 per session"
            );
            return Err(SpecError::new(message));
        }
        Ok(Self { index, of })
    }

    /// Which of `all` users, terminals or sessions are in this share.
    #[must_use]
    pub fn range(self, all: u32) -> Range<u32> {
        let edge = |index: u32| {
            let edge = u64::from(all) * u64::from(index) / u64::from(self.of);
            u32::try_from(edge).expect("at most `all`")
        };
        edge(self.index)..edge(self.index + 1)
    }

    /// Number in the whole run of the share's `nth` arrival, from 0.
    #[must_use]
    pub fn arrival(self, nth: u64) -> u64 {
        nth * u64::from(self.of) + u64::from(self.index)
    }

    /// The share's portion of a total for all shares, rounded up.
    #[must_use]
    pub fn part(self, all: u64) -> u64 {
        all.div_ceil(u64::from(self.of))
    }

    /// Number of shares in the run.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::WHOLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_leave_nobody_out_and_have_nobody_twice() {
        for (all, of) in [(10, 3), (7, 7), (100_000, 1), (u32::MAX, 5)] {
            let mut next = 0;
            for index in 0..of {
                let range = Share { index, of }.range(all);
                assert_eq!(range.start, next);
                assert!(range.len() as u64 >= u64::from(all / of), "{range:?}");
                next = range.end;
            }
            assert_eq!(next, all);
        }
        let mut arrivals: Vec<u64> = (0..3)
            .flat_map(|index| (0..4).map(move |nth| Share { index, of: 3 }.arrival(nth)))
            .collect();
        arrivals.sort_unstable();
        assert_eq!(arrivals, (0..12).collect::<Vec<_>>());
    }
}
