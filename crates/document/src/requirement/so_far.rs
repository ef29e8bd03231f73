//! Requirements of a run in progress: what the values of the timed window so far say about them. The
//! seconds are added up, and their sum is judged as the result is at the end. What metrics are read
//! from these sums for the result itself is here, too.

use std::sync::Arc;

use triphammer_core::event::Phase;
use triphammer_core::workload::Description;

use super::Requirement;
use crate::judgement::Judgement;
use crate::metrics::{self, Part, RunSource};
use crate::result::DeclaredFigure;
use crate::second::Second;

/// Judges requirements after every second of the timed window.
#[derive(Debug)]
pub struct SoFar {
    requirements: Vec<Requirement>,
    workload: Arc<Description>,
    /// The sum of all seconds of the run, and of those of its timed window.
    run: Option<Second>,
    window: Option<Second>,
}

impl SoFar {
    /// Creates the judge of a run of this workload.
    #[must_use]
    pub fn new(requirements: Vec<Requirement>, workload: Arc<Description>) -> Self {
        Self { requirements, workload, run: None, window: None }
    }

    /// Adds a second, and judges the window so far. The value of a metric that is only known at the
    /// end of the run is `None`. Nothing outside the window.
    pub fn second(&mut self, second: &Second) -> Vec<Judgement> {
        add(&mut self.run, second);
        if second.phase != Phase::Window {
            return Vec::new();
        }
        add(&mut self.window, second);
        self.requirements.iter().map(|required| required.judged(self.value(required))).collect()
    }

    /// The figures of the run that are read from its seconds.
    #[must_use]
    pub fn figures(&self) -> Vec<DeclaredFigure> {
        let of_seconds = metrics::of_run()
            .filter(|(_, of_run)| matches!(of_run.source, RunSource::SumOfSeconds));
        let figure = |(metric, of_run): (&metrics::Metric, &metrics::OfRun)| DeclaredFigure {
            name: of_run.name.to_owned(),
            title: metric.title.to_owned(),
            unit: metric.unit.into(),
            value: self.part(of_run.part).and_then(|sum| metric.read_second(sum)),
        };
        of_seconds.map(figure).collect()
    }

    fn value(&self, required: &Requirement) -> Option<f64> {
        required.metric.read_second(self.part(required.metric.part())?, &self.workload)
    }

    fn part(&self, part: Part) -> Option<&Second> {
        match part {
            Part::Run => self.run.as_ref(),
            Part::Window => self.window.as_ref(),
        }
    }
}

/// Adds a second to a sum.
fn add(sum: &mut Option<Second>, second: &Second) {
    match sum {
        Some(sum) => sum.add_later(second),
        None => *sum = Some(second.clone()),
    }
}
