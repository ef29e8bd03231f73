//! The document of a check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::command::JobKind;

use crate::document::{Head, JobDocument, own_ending};
use crate::ending::{Ending, Flaw};
use crate::parts::Status;

/// Report of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    /// Whether all conditions hold that are expected to hold.
    pub ending: Ending,
    /// Title of the workload: `TPROC-C`.
    pub workload: String,
    /// Unit of the range: `warehouses`.
    pub scale_unit: String,
    /// URL of the target, without secrets.
    pub target: String,
    /// Results by condition, in order.
    pub checks: Vec<CheckResult>,
    /// Whether every condition of the workload was checked: after a run, the rules of the initial
    /// population are not.
    pub untouched: bool,
    /// The program that created the tables, if not triphammer; the rules of the initial population
    /// do not apply then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// First and last warehouse or branch that was checked.
    pub range: (i64, i64),
    /// How much data that is, `0.01 SF`, where the unit has fractions and the range counts thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Who computed the answers that were compared, from the same queries on the same data: `DuckDB 1.5.5`. `None` if
    /// the workload knows the answers, or nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<String>,
    /// The program whose texts the tables have, if they are not those of the specification's generator: answers that
    /// depend on them were compared with those that belong to these texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_texts: Option<String>,
    /// Why answers were not compared, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// Result of one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// Identifier of the condition: `3.3.2.1`, `13`.
    pub id: String,
    /// The condition in words or as an equation.
    pub title: String,
    /// Number of violations; 0 if it holds.
    pub violations: u64,
    /// Key of the first violation; `None` if the condition holds.
    pub first_key: Option<String>,
    /// The program that created the tables, if its rules do not satisfy the condition: violations
    /// are reported then, but are not a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rules_of: Option<String>,
}

impl CheckResult {
    /// Whether the condition holds or is not expected to hold.
    #[must_use]
    pub const fn passes(&self) -> bool {
        self.violations == 0 || self.by_rules_of.is_some()
    }
}

impl JobDocument for CheckReport {
    fn head(&self) -> Head<'_> {
        let status = if self.holds() { Status::Complete } else { Status::Failed };
        Head { status, ..Head::of(JobKind::Check) }
    }

    own_ending!();

    /// All conditions must hold that are expected to hold.
    fn flaw(&self) -> Option<Flaw> {
        (!self.holds()).then_some(Flaw::ConditionsViolated)
    }

    fn outcome(&self) -> String {
        let (all, violated) = (self.checks.len(), |check: &&CheckResult| check.violations > 0);
        match self.checks.iter().filter(violated).count() {
            0 => format!("all {all} conditions hold"),
            some => format!("{some} of {all} conditions violated"),
        }
    }
}

impl CheckReport {
    /// Whether all conditions hold that are expected to hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(CheckResult::passes)
    }
}
