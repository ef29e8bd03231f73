//! Requirements of a run in progress: what the values of the timed window so far say about them. The
//! seconds are added up, and their sum is judged as the result is at the end.

use std::sync::Arc;

use triphammer_core::event::Phase;
use triphammer_core::workload::Description;

use super::Requirement;
use crate::judgement::Judgement;
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
    /// end of the run is `None`. Nothing outside the window, and without requirements.
    pub fn second(&mut self, second: &Second) -> Vec<Judgement> {
        if self.requirements.is_empty() {
            return Vec::new();
        }
        add(&mut self.run, second);
        if second.phase != Phase::Window {
            return Vec::new();
        }
        add(&mut self.window, second);
        self.requirements.iter().map(|required| required.judged(self.value(required))).collect()
    }

    fn value(&self, required: &Requirement) -> Option<f64> {
        let metric = &required.metric;
        let part = if metric.is_of_whole_run() { &self.run } else { &self.window };
        metric.read_second(part.as_ref()?, &self.workload)
    }
}

/// Adds a second to a sum.
fn add(sum: &mut Option<Second>, second: &Second) {
    match sum {
        Some(sum) => sum.add_later(second),
        None => *sum = Some(second.clone()),
    }
}
