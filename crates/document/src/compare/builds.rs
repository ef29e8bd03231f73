//! Compares two builds: rows per second, and the time and the CPU time of each phase.
//!
//! A build is measured once, and builds vary: the figures are side by side, and decide nothing.

use super::document::{ComparisonParameters, ComparisonResult, Side, SideMeasurements, SideRun};
use super::facts::Facts;
use super::figures::{Figure, FigureName};
use crate::build::BuildReport;
use crate::host::Host;
use crate::parts::{Tool, WorkloadFacts};
use crate::profile::PrimaryMetricName;
use crate::redacted::Redacted;
use crate::result::Bottleneck;
use crate::unit::FigureUnit;
use triphammer_core::session::ServerInfo;
use triphammer_statistics::compare::Better;

/// Why two builds are inconclusive.
const MEASURED_ONCE: &str =
    "each build was measured once, so a difference may be one of the day, the host or the data";

/// A build to compare.
#[derive(Clone, Debug)]
pub struct Built {
    /// Its document.
    pub report: BuildReport,
    /// Number of its job.
    pub job: i64,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    /// The workload and its data.
    pub workload: WorkloadFacts,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// The server.
    pub server: ServerInfo,
    /// The program.
    pub tool: Tool,
    /// The host of the client.
    pub host: Host,
}

impl Built {
    fn seconds(&self) -> f64 {
        self.report.phases.iter().map(|(_, seconds)| seconds).sum()
    }

    #[expect(clippy::cast_precision_loss, reason = "rows of a build")]
    fn rows_per_second(&self) -> f64 {
        self.report.rows as f64 / self.seconds().max(f64::MIN_POSITIVE)
    }

    fn phase(&self, name: &str) -> Option<f64> {
        let found = self.report.phases.iter().find(|(phase, _)| phase == name);
        found.map(|(_, seconds)| *seconds)
    }

    fn cpu_s(&self, name: &str) -> Option<f64> {
        Some(self.report.usage.iter().find(|of| of.phase == name)?.usage.cpu_s)
    }

    fn side(&self, name: &str) -> Side {
        let run = SideRun {
            job: Some(self.job),
            step: None,
            started_at: self.started_at.clone(),
            users: self.report.jobs,
            value: self.rows_per_second(),
            steady: None,
            failure_share: 0.0,
            good: self.report.ending.good,
            bottleneck: Bottleneck::Undecided,
        };
        Side {
            name: name.to_owned(),
            workload: self.workload.clone(),
            target: self.target.clone(),
            server: self.server.clone(),
            runs: vec![run],
        }
    }
}

fn metric() -> PrimaryMetricName {
    PrimaryMetricName {
        name: "rows/s".to_owned(),
        meaning: "rows loaded per second of the whole build".to_owned(),
        per: "second".to_owned(),
        better: Better::Higher,
    }
}

/// A figure in seconds that both builds have.
fn seconds(name: &str, title: String, a: Option<f64>, b: Option<f64>) -> Option<Figure> {
    let named = FigureName {
        name: format!("{}_s", name.replace(' ', "_")),
        title,
        unit: FigureUnit::Number,
        better: Better::Lower,
    };
    Some(named.alone(a?, b?, MEASURED_ONCE.to_owned()))
}

impl ComparisonResult {
    /// Compares two builds: a pure function.
    #[must_use]
    pub fn of_builds(names: [&str; 2], a: &Built, b: &Built, margin: f64) -> Self {
        let primary_metric = metric();
        let mut figures = vec![FigureName::primary_metric(&primary_metric).alone(
            a.rows_per_second(),
            b.rows_per_second(),
            MEASURED_ONCE.to_owned(),
        )];
        let whole = (Some(a.seconds()), Some(b.seconds()));
        figures.extend(seconds("build", "whole build, s".to_owned(), whole.0, whole.1));
        for (phase, _) in &a.report.phases {
            figures.extend(seconds(phase, format!("{phase}, s"), a.phase(phase), b.phase(phase)));
            let name = format!("{phase}_cpu");
            figures.extend(seconds(
                &name,
                format!("{phase}, CPU s"),
                a.cpu_s(phase),
                b.cpu_s(phase),
            ));
        }
        let facts = [a, b].map(|built| {
            Facts::of_build(
                &built.workload,
                (&built.target, &built.server),
                &built.tool,
                &built.host,
            )
        });
        let made = SideMeasurements {
            primary_metric,
            sides: [a.side(names[0]), b.side(names[1])],
            figures,
            profiles: None,
            facts,
            each_s: None,
        };
        Self::new(ComparisonParameters::stored(margin), made)
    }
}
