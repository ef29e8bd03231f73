//! Values of declared metrics over an interval of seconds.

use triphammer_core::recorder::TypeInterval;

use super::{Merge, Metric, OF_SECOND, OF_TYPE, ValueSource};
use crate::second::Second;

/// A value, or none, for each metric of a list.
#[derive(Clone, Debug)]
pub struct Values {
    of: &'static [Metric],
    values: Vec<Option<f64>>,
}

impl Values {
    /// Creates empty values of all threads.
    #[must_use]
    pub fn of_nothing() -> Self {
        Self::none(OF_SECOND)
    }

    /// Creates empty values of a transaction type.
    #[must_use]
    pub fn of_no_type() -> Self {
        Self::none(OF_TYPE)
    }

    fn none(of: &'static [Metric]) -> Self {
        Self { of, values: vec![None; of.len()] }
    }

    /// Reads the values of a second of all threads.
    #[must_use]
    pub fn of_second(second: &Second) -> Self {
        let mut values = Self::none(OF_SECOND);
        for (value, metric) in values.values.iter_mut().zip(OF_SECOND) {
            if let Some(ValueSource::Second(read)) = metric.source {
                *value = read(second);
            }
        }
        values.derive(float(second.seconds()));
        values
    }

    /// Reads the values of a transaction type over a number of seconds.
    #[must_use]
    pub fn of_type(seen: &TypeInterval, seconds: f64) -> Self {
        let mut values = Self::none(OF_TYPE);
        for (value, metric) in values.values.iter_mut().zip(OF_TYPE) {
            if let Some(ValueSource::Type(read)) = metric.source {
                *value = read(seen);
            }
        }
        values.derive(seconds);
        values
    }

    /// Computes the values of all types together from those of each type: only counts and metrics
    /// derived from them.
    #[must_use]
    pub fn over_types<'a>(types: impl Iterator<Item = &'a Self>, seconds: f64) -> Self {
        let mut all = Self::none(OF_TYPE);
        for values in types {
            for (place, metric) in OF_TYPE.iter().enumerate() {
                if metric.merge == Merge::Sum {
                    let both = [all.values[place], values.values[place]];
                    all.values[place] = Merge::Sum.of(both, [seconds; 2]);
                }
            }
        }
        all.derive(seconds);
        all
    }

    /// Merges a later interval; both have a length in seconds.
    pub fn merge(&mut self, later: &Self, seconds: [f64; 2]) {
        for (place, metric) in self.of.iter().enumerate() {
            let both = [self.values[place], later.values[place]];
            self.values[place] = metric.merge.of(both, seconds);
        }
        let of_parts = |metric: &Metric| metric.merge == Merge::Parts;
        self.derive_where(seconds[0] + seconds[1], of_parts);
    }

    /// Computes the derived metrics.
    pub fn derive(&mut self, seconds: f64) {
        self.derive_where(seconds, |_| true);
    }

    fn derive_where(&mut self, seconds: f64, is_wanted: impl Fn(&Metric) -> bool) {
        for (place, metric) in self.of.iter().enumerate() {
            if let Some(ValueSource::Derived(make)) = metric.source
                && is_wanted(metric)
            {
                self.values[place] = make(self, seconds);
            }
        }
    }

    /// Value of a declared metric; `None` if it was not measured.
    ///
    /// # Panics
    /// When no metric has that name, which is a defect.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values[self.place(name)]
    }

    /// A count; 0 if it was not measured.
    ///
    /// # Panics
    /// As [`Values::get`].
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count")]
    pub fn count(&self, name: &str) -> u64 {
        self.get(name).unwrap_or_default() as u64
    }

    /// Value of the metric at a place in the list that these are of.
    ///
    /// # Panics
    /// When the list is shorter.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<f64> {
        self.values[place]
    }

    /// Sets the value of the metric at a place in the list that these are of.
    ///
    /// # Panics
    /// When the list is shorter.
    pub fn set_at(&mut self, place: usize, value: Option<f64>) {
        self.values[place] = value;
    }

    /// Sets the value of a declared metric.
    ///
    /// # Panics
    /// As [`Values::get`].
    pub fn set(&mut self, name: &str, value: Option<f64>) {
        let place = self.place(name);
        self.values[place] = value;
    }

    /// All metrics with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Metric, Option<f64>)> {
        self.of.iter().zip(self.values.iter().copied())
    }

    /// `factor` times the ratio of two metrics; `None` if the denominator is 0 or missing.
    pub(super) fn ratio(&self, of: &str, per: &str, factor: f64) -> Option<f64> {
        let per = self.get(per).filter(|per| *per > 0.0)?;
        Some(self.get(of)? / per * factor)
    }

    fn place(&self, name: &str) -> usize {
        place_of(self.of, name)
    }
}

/// The place of a metric in a list.
///
/// # Panics
/// When no metric has that name, which is a defect.
#[must_use]
pub fn place_of(metrics: &[Metric], name: &str) -> usize {
    let place = metrics.iter().position(|metric| metric.name == name);
    place.unwrap_or_else(|| panic!("no figure is declared as `{name}`"))
}

#[expect(clippy::cast_precision_loss, reason = "a figure to show, or exact below 2^53")]
pub(super) const fn float(count: u64) -> f64 {
    count as f64
}
