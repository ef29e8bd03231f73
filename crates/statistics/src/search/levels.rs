//! Which numbers of virtual users to measure for a profile.

use serde::{Deserialize, Serialize};

/// Bounds of a search for levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelsPlan {
    /// First level.
    pub first: u32,
    /// Highest level that may be tried.
    pub highest: u32,
    /// Most levels that are tried.
    pub levels_max: usize,
}

impl Default for LevelsPlan {
    fn default() -> Self {
        Self { first: 1, highest: 1_024, levels_max: 12 }
    }
}

/// Chooses levels: doubles until throughput gains little or falls, then fills in around the peak, around
/// the knee, and beyond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    plan: LevelsPlan,
}

impl Levels {
    /// A search with nothing told. A `first` of 0 counts as 1, a `highest` below `first` as `first`.
    #[must_use]
    pub fn new(plan: LevelsPlan) -> Self {
        todo!()
    }

    /// The level to measure next; `None` when the profile is done. Asking does not change it.
    #[must_use]
    pub fn next(&self) -> Option<u32> {
        todo!()
    }

    /// Takes the throughput of a level, in any unit. Repeats of a level are averaged. What is not finite
    /// counts as 0.
    pub fn tell(&mut self, level: u32, throughput: f64) {
        todo!()
    }

    /// The levels told, ascending, with their mean throughput.
    pub fn told(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        std::iter::empty()
    }
}
