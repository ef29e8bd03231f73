//! Receives the values of all observers: stores them with the job, and sums up the timed window.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use triphammer_document::result::{CoreMap, CpuPlace};
use triphammer_document::samples::SampleSeries;
use triphammer_store::{SampleWriter, SampledSecond, StoreError};

use crate::cores::{CPU_NUMBER, CoreMaps};
pub use crate::window::{Bounds, Measured, OfWindow};

/// Seconds for which a value counts as the latest: longer than between two readings of any figure.
const LATEST_SECONDS: u64 = 10;

/// A series over the timed window.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesFigure {
    /// The series of the values.
    pub series: SampleSeries,
    /// Number of seconds in which it was measured.
    pub seconds: u64,
    /// Mean over these seconds.
    pub mean: f64,
    /// The highest value.
    pub max: f64,
    /// The last value.
    pub last: f64,
}

/// Receives the values of all observers of a run.
#[derive(Debug)]
pub struct Sink(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    writer: Option<SampleWriter>,
    window: OfWindow<Measured>,
    figures: BTreeMap<SampleSeries, SeriesFigure>,
    cores: CoreMaps,
    /// The last value of each series, with its second.
    latest: BTreeMap<Arc<SampleSeries>, (u64, f64)>,
}

impl Sink {
    /// Creates a sink that stores the values with `writer`, if there is one.
    #[must_use]
    pub fn new(writer: Option<SampleWriter>, bounds: Arc<Bounds>) -> Self {
        let window = OfWindow::new(Arc::clone(&bounds));
        let cores = CoreMaps::new(bounds);
        let (figures, latest) = (BTreeMap::new(), BTreeMap::new());
        Self(Mutex::new(Inner { writer, window, figures, cores, latest }))
    }

    /// Takes the values of a second, counted from the start of the run. Those of single CPUs are only
    /// stored, and mapped.
    pub fn put(&self, second: u64, values: Measured) {
        let mut inner = self.0.lock().expect("no observer panics with it");
        let Inner { writer, window, figures, cores, latest } = &mut *inner;
        if let Some(writer) = writer {
            writer.put(SampledSecond { second, values: values.clone() });
        }
        cores.put(second, &values);
        let mut of_window = values;
        of_window.retain(|(series, _)| !series.labels.contains_key(CPU_NUMBER));
        for (series, value) in &of_window {
            latest.insert(Arc::clone(series), (second, *value));
        }
        window.put(second, of_window, |values| sum_up(figures, values));
    }

    /// The last value of each figure that is still measured, without those of single CPUs.
    pub fn latest(&self) -> Measured {
        let inner = self.0.lock().expect("no observer panics with it");
        let newest = inner.latest.values().map(|(second, _)| *second).max().unwrap_or_default();
        let recent = inner.latest.iter().filter(|(_, of)| of.0 + LATEST_SECONDS > newest);
        recent.map(|(series, (_, value))| (Arc::clone(series), *value)).collect()
    }

    /// Ends the storing; returns the figures and core maps of the timed window, and how many values
    /// were lost on the way to the store, or why it could not be written to. `places` are those of
    /// this host's CPUs.
    pub fn finish(
        &self,
        places: &BTreeMap<u32, CpuPlace>,
    ) -> (Vec<SeriesFigure>, Vec<CoreMap>, Result<u64, StoreError>) {
        let mut inner = self.0.lock().expect("no observer panics with it");
        let Inner { writer, window, figures, cores, .. } = &mut *inner;
        window.finish(|values| sum_up(figures, values));
        let lost = writer.take().map_or(Ok(0), SampleWriter::finish);
        (std::mem::take(figures).into_values().collect(), cores.finish(places), lost)
    }
}

fn sum_up(figures: &mut BTreeMap<SampleSeries, SeriesFigure>, values: Measured) {
    for (series, value) in values {
        if !figures.contains_key(&*series) {
            let figure = SeriesFigure {
                series: (*series).clone(),
                seconds: 0,
                mean: 0.0,
                max: f64::NEG_INFINITY,
                last: value,
            };
            figures.insert((*series).clone(), figure);
        }
        let figure = figures.get_mut(&*series).expect("it is there or was just made");
        figure.seconds += 1;
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
        let seconds = figure.seconds as f64;
        figure.mean += (value - figure.mean) / seconds;
        figure.max = figure.max.max(value);
        figure.last = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_document::metrics::{Merge, Unit};

    #[test]
    fn figures_of_single_cpus_are_not_summed_up() {
        let sink = Sink::new(None, Arc::new(Bounds::whole()));
        let series = |labels: BTreeMap<String, String>| {
            Arc::new(SampleSeries {
                metric: "system.cpu.utilization".into(),
                labels,
                title: "CPU".into(),
                unit: Unit::Share,
                merge: Merge::Mean,
            })
        };
        let one = [(CPU_NUMBER, "1"), ("cpu.mode", "user")];
        let one = BTreeMap::from(one.map(|(name, value)| (name.to_owned(), value.to_owned())));
        sink.put(0, vec![(series(BTreeMap::new()), 0.5), (series(one), 0.9)]);
        let latest =
            |sink: &Sink| sink.latest().iter().map(|(_, value)| *value).collect::<Vec<_>>();
        assert_eq!(latest(&sink), [0.5]);
        let other = BTreeMap::from([("cpu.mode".to_owned(), "user".to_owned())]);
        sink.put(LATEST_SECONDS, vec![(series(other), 0.7)]);
        assert_eq!(latest(&sink), [0.7], "what is no longer measured is not the latest");
        let (figures, cores, _) = sink.finish(&BTreeMap::new());
        assert_eq!((cores.len(), cores[0].cpus[0].cpu), (1, 1), "they are mapped");
        let means: Vec<f64> = figures.iter().map(|figure| figure.mean).collect();
        assert_eq!(means, [0.5, 0.7]);
    }
}
