//! Turns the reports of a job into events.

use std::sync::Arc;

use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::workload::Description;
use triphammer_runner::live::LiveReports;
use triphammer_runner::outputs::RunMetrics;
use triphammer_runner::watch::{JobEvent, Watcher};

use super::queue::Activities;
use crate::live::{LiveEvent, SecondsOf};

/// Watches an activity's job.
#[derive(Debug)]
pub struct Watch<'a> {
    all: &'a Activities,
    id: u64,
    seconds: SecondsOf,
    reports: LiveReports,
    /// Target of the current run, by its index among the job's targets.
    target: usize,
}

impl<'a> Watch<'a> {
    /// Creates a watcher for an activity.
    pub fn new(all: &'a Activities, id: u64, workload: &Arc<Description>) -> Self {
        let seconds = SecondsOf { activity: id, workload: Arc::clone(workload) };
        Self { all, id, seconds, reports: LiveReports::default(), target: 0 }
    }

    fn resolved(&self, spec: &RunSpec) {
        self.all.resolved(self.id, serde_json::to_value(spec).unwrap_or_default());
        let window = match spec.length {
            Length::Time(window) => Some(window.as_secs_f64()),
            Length::Transactions(_) => None,
        };
        self.all.change(self.id, |activity| {
            activity.users = Some(spec.users);
            activity.rampup_s = Some(spec.rampup.as_secs_f64());
            activity.window_s = window;
            activity.primary_metric_name =
                Some(self.seconds.workload.primary_metric.name.to_string());
        });
    }

    /// Publishes the metrics of a starting run under the URL of its target, which no other activity
    /// uses at the same time.
    fn begin_metrics(&self, info: &[(&'static str, String)]) {
        let transactions = &self.seconds.workload.transactions;
        let url = self.all.url(self.id, self.target);
        let run = RunMetrics::new(transactions, info).labelled("target", url);
        self.all.run_metrics().begin(self.id, run);
    }
}

impl Watcher for Watch<'_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        let (all, id) = (self.all, self.id);
        all.run_metrics().on_event(id, event);
        match event {
            JobEvent::RunInfo(info) => self.begin_metrics(info),
            JobEvent::Resolved(spec) => self.resolved(spec),
            JobEvent::Began(Some(job)) => all.change(id, |activity| activity.job = Some(job.0)),
            JobEvent::Second(second) => {
                all.hub().publish(&LiveEvent::Second(self.seconds.second(second)));
            }
            JobEvent::Sequence(_) => {
                let name = self.seconds.workload.primary_metric.name.to_string();
                all.change(id, |activity| activity.primary_metric_name = Some(name));
            }
            JobEvent::Step { step, .. } => self.target = step.target,
            JobEvent::StepEnded { .. } | JobEvent::StepRejected { .. } => {
                all.run_metrics().end(id);
            }
            // The page reads what else there is from the store.
            _ => {}
        }
        self.reports.on_event(event, &mut |report| {
            LiveEvent::of(id, report).iter().for_each(|event| all.hub().publish(event));
        });
    }
}
