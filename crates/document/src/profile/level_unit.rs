//! What the levels of a profile are.

use triphammer_core::query_plan::QueryTest;
use triphammer_core::workload::{Description, MeasureDef};
use triphammer_settings::GivenValue;

/// Name of the option that chooses what is measured with queries.
pub const TEST: &str = "test";

/// What the levels of a profile count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelUnit {
    /// Virtual users of a load of transactions.
    Users,
    /// Streams of a set of queries.
    Streams,
}

impl LevelUnit {
    /// The unit for runs of a workload.
    #[must_use]
    pub fn of(workload: &Description) -> Self {
        match workload.primary_metric.measure {
            MeasureDef::Queries => Self::Streams,
            MeasureDef::Rate { .. } => Self::Users,
        }
    }

    /// In the plural, for people and documents.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Users => "virtual users",
            Self::Streams => "streams",
        }
    }

    /// The setting that has the levels.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Users => "vus",
            Self::Streams => "streams",
        }
    }

    /// Settings of a run at a level, the level first.
    pub fn settings(self, level: u32) -> Vec<(String, GivenValue)> {
        let mut settings = vec![(self.setting().to_owned(), level.into())];
        if self == Self::Streams {
            settings.push((TEST.to_owned(), QueryTest::Throughput.name().into()));
        }
        settings
    }
}
