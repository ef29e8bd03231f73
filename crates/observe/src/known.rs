//! Series of sightings: a second in which nothing was seen of a known series counts as 0, so that
//! means over several seconds are those of all seconds.

use std::collections::BTreeSet;
use std::sync::Arc;

use triphammer_document::samples::SampleSeries;

use super::sink::Measured;

/// Maximum number of series that are stored; those that appear later are left out.
const SERIES_MAX: usize = 500;

/// The series that were seen in a run.
#[derive(Debug, Default)]
pub struct KnownSeries(BTreeSet<Arc<SampleSeries>>);

impl KnownSeries {
    /// The values of a second, with a 0 for each series that was seen before and is not there.
    pub fn complete(&mut self, mut values: Measured) -> Measured {
        let mut missing = self.0.clone();
        values.retain(|(series, _)| {
            missing.remove(series);
            self.0.contains(series)
                || self.0.len() < SERIES_MAX && self.0.insert(Arc::clone(series))
        });
        values.extend(missing.into_iter().map(|series| (series, 0.0)));
        values
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use triphammer_document::metrics::{Merge, Unit};

    fn value(wait: &str, value: f64) -> (Arc<SampleSeries>, f64) {
        let series = SampleSeries {
            metric: "db.sessions.active".to_owned(),
            labels: BTreeMap::from([("wait".to_owned(), wait.to_owned())]),
            title: String::new(),
            unit: Unit::Average,
            merge: Merge::Mean,
        };
        (Arc::new(series), value)
    }

    #[test]
    fn what_was_seen_before_is_0_when_it_is_not_seen() {
        let mut known = KnownSeries::default();
        assert_eq!(known.complete(vec![value("a", 2.0)]), [value("a", 2.0)]);
        assert_eq!(known.complete(vec![value("b", 1.0)]), [value("b", 1.0), value("a", 0.0)]);
        assert_eq!(known.complete(Vec::new()), [value("a", 0.0), value("b", 0.0)]);
    }

    #[test]
    fn series_beyond_the_maximum_are_left_out() {
        let mut known = KnownSeries::default();
        let many = (0..SERIES_MAX + 5).map(|number| value(&number.to_string(), 1.0)).collect();
        assert_eq!(known.complete(many).len(), SERIES_MAX);
        assert_eq!(known.complete(vec![value("0", 3.0), value("new", 1.0)]).len(), SERIES_MAX);
    }
}
