//! Declarations of checks, and the lines that they give.

use triphammer_document::doctor::{Group, Line, SetupVerdict};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The judgement.
    pub verdict: SetupVerdict,
    /// The value, for people.
    pub value: String,
}

impl Reading {
    /// A value that is as it should be if `is_fine`, else one to look at.
    pub(super) fn look_unless(is_fine: bool, value: impl Into<String>) -> Self {
        Self::of(if is_fine { SetupVerdict::Fine } else { SetupVerdict::Look }, value)
    }

    pub(super) fn of(verdict: SetupVerdict, value: impl Into<String>) -> Self {
        Self { verdict, value: value.into() }
    }
}

/// What is declared about a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckDeclaration {
    /// Name in reports and documents.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// Why it matters.
    pub why: &'static str,
    /// Command or setting that changes it.
    pub change: &'static str,
}

impl CheckDeclaration {
    pub(super) fn line(&self, reading: Reading) -> Line {
        Line {
            group: self.group,
            name: self.name.to_owned(),
            value: reading.value,
            verdict: reading.verdict,
            why: self.why.to_owned(),
            change: self.change.to_owned(),
        }
    }
}

/// A check of facts `F`.
pub(super) struct Check<F> {
    pub declared: CheckDeclaration,
    /// Reads its fact; `None` if that is not possible or does not apply.
    pub read: fn(&F) -> Option<Reading>,
    /// Whether the value varies from moment to moment, so that a run neither warns of it nor keeps it.
    pub is_momentary: bool,
}

impl<F> Check<F> {
    /// Marks a check whose value varies from moment to moment.
    pub const fn momentary(mut self) -> Self {
        self.is_momentary = true;
        self
    }
}
