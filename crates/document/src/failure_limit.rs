//! `--abort-on-failures`: ends a run early if too many transactions fail.

use std::collections::VecDeque;
use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::stats::share;
use triphammer_settings::format::percent;
use triphammer_settings::{Settings, parse_share};

/// Kind of the note with the reason why the run ended.
pub const NOTE: &str = "abort_on_failures";

/// The maximum share of failed transactions within a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureLimit {
    share: f64,
    seconds: u64,
}

impl FailureLimit {
    /// Reads the setting; `None` if it is not given.
    ///
    /// # Errors
    /// When the value cannot be read.
    pub fn from_settings(settings: &mut Settings) -> Result<Option<Self>, SpecError> {
        settings.optional("abort-on-failures", Self::parse, Self::text, "never")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}`: expected a share and a time, such as 50%/10s");
        let (of, time) = text.split_once('/').ok_or_else(form)?;
        let (share, time) = (parse_share(of)?, parse_duration(time.trim())?);
        if share <= 0.0 {
            return Err(format!("`{text}`: the share must be more than 0 %"));
        }
        if time.is_zero() || time.subsec_nanos() != 0 {
            return Err(format!("`{text}`: the time must be whole seconds, such as 10s"));
        }
        Ok(Self { share, seconds: time.as_secs() })
    }

    fn text(&self) -> String {
        format!("{}%/{}", self.share * 100.0, format_duration(Duration::from_secs(self.seconds)))
    }
}

/// Monitors the seconds of a run.
#[derive(Debug)]
pub struct FailureWatch {
    limit: Option<FailureLimit>,
    /// The last seconds: second, transactions ended, and transactions failed.
    recent: VecDeque<(u64, u64, u64)>,
}

impl FailureWatch {
    /// Creates a monitor for this limit.
    pub const fn new(limit: Option<FailureLimit>) -> Self {
        Self { limit, recent: VecDeque::new() }
    }

    /// Adds a second of all threads; returns the reason once when the run should end.
    pub fn second(&mut self, interval: &RecordedInterval) -> Option<String> {
        let limit = self.limit?;
        let counts = interval.types.iter().map(|seen| &seen.counts);
        let (ended, failed) = counts.fold((0, 0), |(ended, failed), counts| {
            (ended + counts.ended(), failed + counts.failures() + counts.indeterminate)
        });
        self.recent.push_back((interval.first, ended, failed));
        let from = (interval.last + 1).checked_sub(limit.seconds)?;
        while self.recent.front().is_some_and(|(second, ..)| *second < from) {
            self.recent.pop_front();
        }
        let sum = |read: fn(&(u64, u64, u64)) -> u64| self.recent.iter().map(read).sum::<u64>();
        let failed = share(sum(|second| second.2), sum(|second| second.1));
        if failed < limit.share {
            return None;
        }
        self.limit = None;
        Some(format!(
            "{} of the transactions within {} failed (--abort-on-failures {})",
            percent(failed),
            format_duration(Duration::from_secs(limit.seconds)),
            limit.text()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64, committed: u64, failed: u64) -> RecordedInterval {
        let mut interval = RecordedInterval::new(number, 1);
        interval.types[0].counts.committed = committed;
        interval.types[0].counts.failed[0] = failed;
        interval
    }

    #[test]
    fn the_share_is_that_of_the_last_seconds() {
        let limit = FailureLimit::parse("50%/3s").unwrap();
        assert_eq!(limit.text(), "50%/3s");
        let mut watch = FailureWatch::new(Some(limit));
        // Nothing is judged before three seconds have passed, and older seconds are forgotten.
        for (number, committed, failed) in
            [(0, 0, 9), (1, 0, 9), (2, 90, 9), (3, 0, 30), (4, 0, 30)]
        {
            assert_eq!(watch.second(&second(number, committed, failed)), None, "{number}");
        }
        let reason = watch.second(&second(5, 0, 30)).unwrap();
        assert!(reason.starts_with("100 % of the transactions within 3s failed"), "{reason}");
        assert_eq!(watch.second(&second(6, 0, 30)), None, "it is reported once");
    }

    #[test]
    fn seconds_in_which_nothing_ended_are_no_failures() {
        let mut watch = FailureWatch::new(FailureLimit::parse("1%/1s").ok());
        assert_eq!(watch.second(&second(0, 0, 0)), None);
        assert_eq!(watch.second(&second(1, 1000, 1)), None);
        assert!(watch.second(&second(2, 99, 1)).is_some());
    }

    #[test]
    fn what_is_no_limit_is_rejected_with_the_form() {
        for (text, words) in [
            ("50%", "such as 50%/10s"),
            ("0%/10s", "more than 0 %"),
            ("50%/0s", "whole seconds"),
            ("50%/1500ms", "whole seconds"),
            ("2/10s", "`2`"),
        ] {
            let error = FailureLimit::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
