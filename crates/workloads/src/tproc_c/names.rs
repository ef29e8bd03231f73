//! Last names (clause 4.3.2.3): three syllables, one for each digit of a number from 0 to 999.

/// Number of last names.
pub const NAMES: usize = 1000;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// All last names, created once so that none is assembled during a run.
#[derive(Debug)]
pub struct LastNames(Vec<String>);

impl LastNames {
    /// Creates all last names.
    #[must_use]
    pub fn new() -> Self {
        Self((0..NAMES).map(assembled).collect())
    }

    /// The last name of a number from 0 to 999.
    ///
    /// # Panics
    /// When the number is larger.
    #[must_use]
    pub fn get(&self, number: u16) -> &str {
        &self.0[usize::from(number)]
    }
}

/// The last name of a number, for people to read.
pub(super) fn last_name(number: u16) -> String {
    assembled(usize::from(number))
}

fn assembled(number: usize) -> String {
    [number / 100, number / 10, number].map(|digit| SYLLABLES[digit % 10]).concat()
}

impl Default for LastNames {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_number_reads_as_three_syllables() {
        let names = LastNames::new();
        for (number, expected) in [(0, "BARBARBAR"), (371, "PRICALLYOUGHT"), (999, "EINGEINGEING")]
        {
            assert_eq!(names.get(number), expected);
        }
    }

    #[test]
    fn no_two_numbers_share_a_name() {
        let names = LastNames::new();
        let different: HashSet<_> = names.0.iter().collect();
        assert_eq!(different.len(), NAMES);
    }
}
